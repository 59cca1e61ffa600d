/* net_accuracy.c - predictions of operations beside what they took, for tests/accuracy/net
 *
 * Usage: net_accuracy --network FILE --ranks HOST[,...] [--label TEXT] [--selector NAME] [--algorithm NAME]
 *                     [--all] <TIMES
 * TIMES has lines "OP BYTES SECONDS" of the ranks on these hosts, in order. Prints a line for each operation: the mean
 * and the largest error |predicted / simulated - 1|, where the largest is, and whether the mean is within 5 %; with
 * --all each size. Ends with status 1 when a mean is not.
 */
#include "net/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1024 };

struct sums {
    int n, irregular;
    double error, worst, worst_bytes;
};

struct arguments {
    const char *network, *ranks, *label, *selector, *algorithm;
    int all;
};

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
    *a = (struct arguments){ .label = "" };
    for (int i = 1; i < argc; i++) {
        struct {
            const char *name, **value;
        } options[] = { { "--network", &a->network }, { "--ranks", &a->ranks }, { "--label", &a->label },
                        { "--selector", &a->selector }, { "--algorithm", &a->algorithm } };
        size_t k = 0;

        while (k < 5 && strcmp(argv[i], options[k].name))
            k++;
        if (k < 5 && i + 1 < argc)
            *options[k].value = argv[++i];
        else if (!strcmp(argv[i], "--all"))
            a->all = 1;
        else
            return -1;
    }
    return a->network && a->ranks ? 0 : -1;
}

static int find_hosts(const struct hrun_net *net, const char *list, int *host)
{
    char name[256];
    int n = 0;

    for (const char *p = list; *p && n < MOST_RANKS; p += *p == ',') {
        size_t len = strcspn(p, ",");

        snprintf(name, sizeof name, "%.*s", (int)len, p);
        if ((host[n++] = hrun_net_find(net, name)) < 0) {
            fprintf(stderr, "net_accuracy: the network has no host %s\n", name);
            return -1;
        }
        p += len;
    }
    return n;
}

static int compare(const struct hrun_net *net, const struct arguments *a, const struct hrun_net_ranks *ranks,
                   struct sums *sums)
{
    struct hrun_error err = { 0 };
    struct hrun_net_time t;
    char name[32];
    double bytes, time_s;

    while (scanf("%31s %lf %lf", name, &bytes, &time_s) == 3) {
        int op = hrun_net_op_find(name);
        struct hrun_net_call call = { .op = (enum hrun_net_op)op, .bytes = bytes, .algorithm = a->algorithm };
        double error;

        if (op < 0 || hrun_net_predict(net, &call, ranks, &t, &err)) {
            fprintf(stderr, "net_accuracy: %s: %s\n", name, op < 0 ? "no such operation" : err.text);
            return -1;
        }
        error = fabs(t.time_s / time_s - 1);
        if (a->all)
            printf("%s %s %.0f: %.3f us simulated, %.3f us predicted (%s), %+.2f %%%s\n", a->label, name, bytes,
                   time_s * 1e6, t.time_s * 1e6, t.algorithm, 100 * (t.time_s / time_s - 1),
                   t.irregular ? ", irregular" : "");
        if (t.irregular) {
            sums[op].irregular++;
            continue;
        }
        sums[op].n++;
        sums[op].error += error;
        if (error > sums[op].worst) {
            sums[op].worst = error;
            sums[op].worst_bytes = bytes;
        }
    }
    return 0;
}

static int print_sums(const struct sums *sums, const char *label)
{
    const double TARGET = 0.05; /* the mean error of an operation over the sizes */
    int missed = 0;

    for (int op = 0; op < HRUN_NET_NOPS; op++) {
        const struct sums *s = &sums[op];

        if (!s->n)
            continue;
        printf("%-24s %-10s %3d sizes  mean %6.2f %%  worst %6.2f %% at %.0f B%s", label,
               hrun_net_op_name((enum hrun_net_op)op), s->n, 100 * s->error / s->n, 100 * s->worst, s->worst_bytes,
               s->error / s->n > TARGET ? "  MISSED" : "");
        if (s->irregular)
            printf("  (%d in the irregular region left out)", s->irregular);
        putchar('\n');
        missed += s->error / s->n > TARGET;
    }
    return missed;
}

int main(int argc, char **argv)
{
    struct sums sums[HRUN_NET_NOPS] = { { 0 } };
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;
    struct arguments a;
    int host[MOST_RANKS], n, rc = 2;

    if (parse_arguments(argc, argv, &a)) {
        fprintf(stderr, "usage: net_accuracy --network FILE --ranks HOST[,...] [--label TEXT] [--selector NAME] "
                "[--algorithm NAME] [--all] <TIMES\n");
        return 2;
    }
    if (hrun_net_load(a.network, &net, &err)) {
        fprintf(stderr, "net_accuracy: %s: %s\n", a.network, err.text);
        return 2;
    }
    if (a.selector) {
        free(net->selector);
        net->selector = strdup(a.selector);
    }
    n = net->selector ? find_hosts(net, a.ranks, host) : 0;
    if (n > 0 && !compare(net, &a, &(struct hrun_net_ranks){ n, host, NULL }, sums))
        rc = print_sums(sums, a.label) > 0;
    hrun_net_destroy(net);
    return rc;
}
