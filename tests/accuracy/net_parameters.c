/* net_parameters.c - a network estimated from the benchmark's records beside the truth, for tests/accuracy/parameters
 *
 * Usage: net_parameters --truth FILE [--label TEXT] [--save FILE] <RECORDS
 * RECORDS are what hrun-netbench prints, FILE is the true network, as hrun_net_save writes one. Prints the mean and the
 * largest |estimated / true - 1| of each kind of parameter that the truth has, of messages alone, and what the
 * benchmark took. Ends with
 * status 1 when one is above 2.5 %, or the benchmark took more than 0.3 s.
 */
#include "net/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double bound = 0.025, spent_most_s = 0.3;

struct parameter {
    const char *name;
    int n, wrong;              /* wrong: 0 where the truth is not, or the other way round */
    double sum, worst, half;   /* half: mean relative half width */
    char at[64];
};

enum { C, T, OUT, IN, L, BETA, TRUNK, ALONE, NPARAMETERS };

static void compare(struct parameter *p, struct hrun_net_value got, double want, const char *from, const char *to)
{
    double off;

    if (want == 0)
        return;
    off = fabs(got.v / want - 1);
    p->n++;
    p->sum += off;
    p->half += isnan(got.half) ? 0 : got.half / want;
    if (off > p->worst) {
        p->worst = off;
        snprintf(p->at, sizeof p->at, "%s%s%s: %.4g, not %.4g", from, *to ? "-" : "", to, got.v, want);
    }
}

static void compare_all(const struct hrun_net *got, const struct hrun_net *want, struct parameter *p)
{
    for (int i = 0; i < want->nhosts; i++) {
        const char *name = want->hosts[i];
        const struct hrun_net_class *a = &got->classes[got->class_of[i]], *b = &want->classes[want->class_of[i]];

        compare(&p[C], a->C_s, b->C_s.v, name, "");
        compare(&p[T], a->t_s_per_byte, b->t_s_per_byte.v, name, "");
        compare(&p[OUT], a->out_bytes_per_s, b->out_bytes_per_s.v, name, "");
        compare(&p[IN], a->in_bytes_per_s, b->in_bytes_per_s.v, name, "");
        for (int j = 0; j < want->nhosts; j++) {
            const struct hrun_net_pair *c = &got->pairs[got->class_of[i] * got->nclasses + got->class_of[j]];
            const struct hrun_net_pair *d = &want->pairs[want->class_of[i] * want->nclasses + want->class_of[j]];

            if (i == j)
                continue;
            compare(&p[L], c->L_s, d->L_s.v, name, want->hosts[j]);
            compare(&p[BETA], c->beta_bytes_per_s, d->beta_bytes_per_s.v, name, want->hosts[j]);
            compare(&p[TRUNK], got->trunks[got->group_of[i] * got->ngroups + got->group_of[j]],
                    want->trunks[want->group_of[i] * want->ngroups + want->group_of[j]].v, name, want->hosts[j]);
        }
    }
}

/* Messages alone, of 1 B to 1 MB. */
static void compare_times(const struct hrun_net *got, const struct hrun_net *want, struct parameter *p)
{
    for (int i = 0; i < want->nhosts; i++)
        for (int j = 0; j < want->nhosts; j++)
            for (double m = 1; m <= 1 << 20 && i != j; m *= 2) {
                struct hrun_net_value v = { hrun_net_p2p(got, i, 0, j, 0, m), NAN };

                compare(p, v, hrun_net_p2p(want, i, 0, j, 0, m), want->hosts[i], want->hosts[j]);
            }
}

/* The record that fits worst. */
static const char *worst_of(const struct hrun_net_records *r, const struct hrun_net_quality *q, char word[128])
{
    static const char *const kinds[HRUN_NET_NKINDS] = { "trip", "fan", "join", "call", "both", "pairs", "local",
                                                        "scatter", "gather", "sync" };
    const struct hrun_net_record *v = &r->v[q->worst];

    snprintf(word, 128, "%s %d %d %d of %.0f B, %.3g us", kinds[v->kind], v->i, v->j, v->k, v->bytes, 1e6 * v->time_s);
    return word;
}

static char *read_all(FILE *in)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    char chunk[65536];
    size_t got;

    while ((got = fread(chunk, 1, sizeof chunk, in)) > 0)
        hrun_buf_add(&b, chunk, got);
    return hrun_buf_detach(&b);
}

int main(int argc, char **argv)
{
    struct parameter p[NPARAMETERS] = { { .name = "C" }, { .name = "t" }, { .name = "out" }, { .name = "in" },
                                        { .name = "L" }, { .name = "beta" }, { .name = "trunk" },
                                        { .name = "p2p" } };
    const char *truth = NULL, *label = "", *save = NULL;
    struct hrun_net_records r = { 0 };
    struct hrun_net *got = NULL, *want = NULL;
    struct hrun_net_quality q = { 0 };
    struct hrun_error err = { 0 };
    char *text = NULL, word[128];
    int rc = 2;

    for (int i = 1; i + 1 < argc; i += 2) {
        truth = strcmp(argv[i], "--truth") ? truth : argv[i + 1];
        label = strcmp(argv[i], "--label") ? label : argv[i + 1];
        save = strcmp(argv[i], "--save") ? save : argv[i + 1];
    }
    if (!truth) {
        fputs("usage: net_parameters --truth FILE [--label TEXT] [--save FILE] <RECORDS\n", stderr);
        return 2;
    }
    text = read_all(stdin);
    if (!text || hrun_net_load(truth, &want, &err) || hrun_net_records_parse(text, &r, &err) ||
        hrun_net_estimate(&r, &got, &q, &err) || (save && hrun_net_save(got, save, &err))) {
        fprintf(stderr, "net_parameters: %s\n", err.text);
        goto out;
    }
    /* With segments a and b have another scale, and so have L and beta: messages show whether they agree. */
    if (want->nsegments == 1)
        compare_all(got, want, p);
    compare_times(got, want, &p[ALONE]);
    rc = r.spent_s > spent_most_s;
    for (int k = 0; k < NPARAMETERS; k++) {
        if (p[k].n == 0)
            continue;
        printf("%-14s %-6s %4d  mean %6.2f %%  worst %6.2f %%  95 %% within %6.2f %%  %s%s%s\n", label, p[k].name,
               p[k].n,
               100 * p[k].sum / p[k].n, 100 * p[k].worst, 100 * p[k].half / p[k].n,
               p[k].worst > bound ? "MISSED " : "", p[k].worst > 1e-4 ? "worst " : "",
               p[k].worst > 1e-4 ? p[k].at : "");
        rc |= !(p[k].worst <= bound);
    }
    printf("%-14s %zu records, %.3f s of simulated time; residuals %.2g %%, worst %.2g %%; %d classes, "
           "%d groups, %d segments, back share %.3g, rendezvous from %.0f B\n",
           label, r.n, r.spent_s, 100 * q.residual_rel, 100 * q.worst_rel,
           got->nclasses, got->ngroups, got->nsegments, got->back_share, got->sync_bytes);
    if (q.worst_rel > 1e-3)
        printf("%-14s worst: %s\n", label, worst_of(&r, &q, word));
    for (size_t i = 0; i < q.notes.n; i++)
        printf("%-14s note: %s\n", label, q.notes.v[i]);
out:
    hrun_net_quality_release(&q);
    hrun_net_records_release(&r);
    hrun_net_destroy(got);
    hrun_net_destroy(want);
    free(text);
    return rc;
}
