/* bench_cluster.c - 1,000 hosts of 128 cores, three kinds of them: how long hrun_cluster_discover takes when the hosts
 * have answered, and when it remembers them. The answers are made here, of the size that hwloc gives such hosts.
 *   asked       from the moment when the last answer is there to the finished cluster: reading 1,000 answers, loading
 *               three topologies, grouping; with and without writing the cache
 *   remembered  the whole discovery, names and cache files included
 */
#include "bench.h"
#include "cluster/cluster.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { HOSTS = 1000, KINDS = 3, ROUNDS = 5 };

struct network {
    struct hrun_buf answers[KINDS];
    double answered;            /* when */
};

static int answer(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts, struct hrun_error *errors,
                  struct hrun_error *err)
{
    struct network *w = ctx;

    (void)hosts, (void)skip, (void)errors, (void)err;
    for (int i = 0; i < n; i++)
        hrun_buf_add(&texts[i], w->answers[i % KINDS].data, w->answers[i % KINDS].len);
    w->answered = bench_now();
    return 0;
}

static int make_answers(struct network *w)
{
    static const char *const kinds[KINDS] = {
        "package:2 [numa(memory=128GB)] l3:8 l2:8 l1:1 core:1 pu:2",
        "package:2 [numa(memory=256GB)] l3:8 l2:8 l1:1 core:1 pu:2",
        "package:2 [numa(memory=256GB)] l3:4 l2:16 l1:1 core:1 pu:1",
    };
    struct hrun_error err;

    for (int k = 0; k < KINDS; k++) {
        hrun_buf_init(&w->answers[k]);
        setenv("HWLOC_SYNTHETIC", kinds[k], 1);
        if (hrun_cluster_export("4.1.4", NULL, &w->answers[k], &err)) {
            fprintf(stderr, "bench_cluster: %s\n", err.text);
            return -1;
        }
    }
    unsetenv("HWLOC_SYNTHETIC");
    return 0;
}

/* Median milliseconds of ROUNDS discoveries; from_answer: counted from the last answer. -1: it failed. */
static double measure(struct network *w, const char *cache, int refresh, int level, int from_answer, int *npes)
{
    struct hrun_cluster_request req = { .hosts = "127.1.[0-3].[1-250]", .level = level, .topologies = answer, .ctx = w,
                                        .cache_dir = cache, .refresh = refresh };
    double t[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        struct hrun_cluster *c = NULL;
        struct hrun_error err;
        double start = bench_now();

        if (hrun_cluster_discover(&req, &c, &err)) {
            fprintf(stderr, "bench_cluster: %s\n", err.text);
            return -1;
        }
        t[i] = bench_now() - (from_answer ? w->answered : start);
        *npes = 0;
        for (int s = 0; s < c->nsubs; s++)
            *npes += c->subs[s].npes;
        hrun_cluster_destroy(c);
    }
    bench_sort(t, ROUNDS);
    return 1e3 * t[ROUNDS / 2];
}

/* bench_cluster            the table
 * bench_cluster FOLDER     fill a cache, as hrun without settings for a remote shell looks for it */
int main(int argc, char **argv)
{
    static const struct { const char *what; int cached, refresh, from_answer; } cases[] = {
        { "asked, nothing kept", 0, 0, 1 }, { "asked, answers kept", 1, 1, 1 }, { "remembered", 1, 0, 0 },
    };
    struct network w;
    struct hrun_error err;
    char *cache = argc > 1 ? NULL : hrun_rundir_create(NULL, &err);
    double t;
    int npes, rc = 1;

    if ((argc < 2 && !cache) || make_answers(&w))
        goto done;
    if (argc > 1) {
        rc = measure(&w, argv[1], 1, -1, 1, &npes) < 0;
        goto done;
    }
    printf("    %d hosts of 128 cores, %d kinds; answers of %zu kB\n", HOSTS, KINDS, w.answers[0].len / 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int level = HRUN_LEVEL_NODE; level <= HRUN_LEVEL_CORE; level += HRUN_LEVEL_CORE - HRUN_LEVEL_NODE) {
            t = measure(&w, cases[i].cached ? cache : NULL, cases[i].refresh, level, cases[i].from_answer, &npes);
            if (t < 0)
                goto done;
            printf("    %-20s level %-5s %8d PEs %8.1f ms\n", cases[i].what, hrun_level_name((enum hrun_level)level),
                   npes, t);
        }
    rc = 0;
done:
    hrun_remove_tree(cache);
    free(cache);
    return rc;
}
