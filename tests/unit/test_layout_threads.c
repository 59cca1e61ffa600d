/* test_layout_threads.c - cores shared out among the ranks of a PE: invariants for all small PEs and numbers of ranks,
 * texts, and hosts known by numbers */
#include "layout/layout.h"
#include "tap.h"

#include <stdlib.h>

/* One sub-cluster of two PEs: cores 1, 3, 5, ... with the PUs i and i + 64, unless the second thread is off. */
enum { CORES_MAX = 9, RANKS_MAX = 12 };

struct machine {
    char cores[2][128], cpuset[2][256], core_pus[2][256];
    struct hrun_pe pes[2];
    struct hrun_host host;
    struct hrun_subcluster sub;
    struct hrun_cluster cluster;
};

static int core_number(int pe, int i)
{
    return 20 * pe + 2 * i + 1;
}

static void make_machine(struct machine *m, int ncores, int smt)
{
    memset(m, 0, sizeof *m);
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < ncores; i++) {
            int n = core_number(p, i);
            size_t c = strlen(m->cores[p]), s = strlen(m->cpuset[p]), u = strlen(m->core_pus[p]);

            snprintf(m->cores[p] + c, sizeof m->cores[p] - c, "%s%d", i ? "," : "", n);
            snprintf(m->core_pus[p] + u, sizeof m->core_pus[p] - u, smt ? "%s%d,%d" : "%s%d", i ? ";" : "", n, n + 64);
            snprintf(m->cpuset[p] + s, sizeof m->cpuset[p] - s, smt ? "%s%d,%d" : "%s%d", i ? "," : "", n, n + 64);
        }
        m->pes[p] = (struct hrun_pe){ .index = p, .cpuset = m->cpuset[p], .cores = m->cores[p],
                                      .core_pus = m->core_pus[p], .ncores = ncores, .npus = ncores * (1 + smt) };
    }
    m->host.name = (char *)"a";
    m->sub = (struct hrun_subcluster){ .name = (char *)"s", .pes = m->pes, .npes = 2, .cores_per_pe = ncores };
    m->cluster = (struct hrun_cluster){ .source = (char *)"test", .hosts = &m->host, .nhosts = 1, .subs = &m->sub,
                                        .nsubs = 1 };
}

/* Mark the numbers of a list. 0: it is none. */
static int mark(const char *list, char *marks, size_t size)
{
    char *end;

    for (const char *p = list; ; p = end + 1) {
        long first = strtol(p, &end, 10), last = first;

        if (end == p)
            return 0;
        if (*end == '-') {
            p = end + 1;
            last = strtol(p, &end, 10);
            if (end == p)
                return 0;
        }
        for (long i = first; i <= last && (size_t)i < size; i++)
            marks[i]++;
        if (!*end)
            return 1;
        if (*end != ',')
            return 0;
    }
}

/* All that is promised of rank k (of M on a PE of c cores), which gets cores first..first+n-1. */
static int holds(const struct hrun_rank *r, int pe, int c, int M, int first, int n, int smt)
{
    char cores[200] = { 0 }, pus[200] = { 0 };

    if (r->threads != (M > c ? 1 : n) || r->ncores != n || !mark(r->cores, cores, sizeof cores) ||
        !mark(r->cpuset, pus, sizeof pus))
        return 0;
    for (int x = 0; x < 200; x++) {
        int core = 0, pu = 0;

        for (int i = first; i < first + n; i++) {
            core |= core_number(pe, i) == x;
            pu |= core_number(pe, i) == x || (smt && core_number(pe, i) + 64 == x);
        }
        if (cores[x] != core || pus[x] != pu)
            return 0;
    }
    return 1;
}

static int check_layout(const struct hrun_layout *l, int c, int M, int smt, int stride)
{
    int good = l->shared_cores == (M > c) && l->uneven_threads == (M <= c && c % M != 0);

    for (int p = 0; p < 2; p++)
        for (int k = 0, first = 0; k < M; k++) {
            int n = M > c ? c : c / M + (k < c % M);
            /* stride 1: the ranks of a PE are neighbours; 2: they alternate */
            const struct hrun_rank *r = &l->ranks[stride == 1 ? p * M + k : 2 * k + p];

            good &= case_holds(r->pe == p && holds(r, p, c, M, M > c ? 0 : first, n, smt), p, k);
            first += n;
        }
    return good;
}

static void all_shares(void)
{
    struct machine m;
    struct hrun_error err;
    int good = 0, tried = 0, twice = 0;

    for (int c = 1; c <= CORES_MAX; c++)
        for (int M = 1; M <= RANKS_MAX; M++)
            for (int smt = 0; smt < 2; smt++)
                for (int plain = 0; plain < 2; plain++) {
                    const struct hrun_config config = { 1, { 2 }, { M } };
                    struct hrun_layout *l;

                    make_machine(&m, c, smt);
                    l = plain ? hrun_layout_plain(&m.cluster, 2 * M, NULL, NULL, &err)
                              : hrun_layout_create(&m.cluster, &config, &err);
                    tried++;
                    hrun_layout_fill_threads(l);
                    good += check_layout(l, c, M, smt, 1 + plain);
                    hrun_layout_fill_threads(l);
                    twice += check_layout(l, c, M, smt, 1 + plain);
                    hrun_layout_destroy(l);
                }
    is_int(good, tried, "cores are shared out as promised, for all PEs up to %d cores and %d ranks", CORES_MAX,
           RANKS_MAX);
    is_int(twice, tried, "and the second call changes nothing");
}

static void texts(void)
{
    struct machine m;
    struct hrun_error err;
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_layout_share share;
    struct hrun_config config = { 1, { 1 }, { 3 } };
    struct hrun_layout *l;

    make_machine(&m, 8, 1);
    m.pes[0].cores = "0-7";
    m.pes[0].cpuset = "0-15";
    m.pes[0].core_pus = "0-1;2-3;4-5;6-7;8-9;10-11;12-13;14-15";
    l = hrun_layout_create(&m.cluster, &config, &err);
    hrun_layout_share(l, 0, &share);
    ok(share.cores_min == 8 && share.cores_max == 8 && share.threads_max == 0 && !l->uneven_threads,
       "before, the ranks have all cores and no number of threads");
    hrun_layout_fill_threads(l);
    is_str(l->ranks[0].cores, "0-2", "cores of the first");
    is_str(l->ranks[1].cores, "3-5", "of the second");
    is_str(l->ranks[2].cores, "6-7", "of the third");
    is_str(l->ranks[1].cpuset, "6-11", "its hardware threads are those of its cores");
    is_str(l->ranks[2].cpuset, "12-15", "the last ones too");
    ok(l->ranks[0].threads == 3 && l->ranks[1].threads == 3 && l->ranks[2].threads == 2, "3, 3 and 2 threads");
    is_int(l->uneven_threads, 1, "which differ");
    hrun_layout_share(l, 0, &share);
    ok(share.cores_min == 2 && share.cores_max == 3 && share.threads_min == 2 && share.threads_max == 3, "from 2 to 3");
    ok(!hrun_layout_rankfile(l, &b, &err), "rankfile");
    is_str(b.data, "rank 0=a slot=0-2\nrank 1=a slot=3-5\nrank 2=a slot=6-7\n", "its slots are the narrowed cores");
    hrun_layout_destroy(l);

    config.procs[0] = 2;
    m.pes[0].cores = "0,2-3,9";
    m.pes[0].cpuset = "0,2-3,9,64-67";
    m.pes[0].core_pus = "0,64;2,65;3,66;9,67";
    m.pes[0].ncores = 4;
    l = hrun_layout_create(&m.cluster, &config, &err);
    hrun_layout_fill_threads(l);
    is_str(l->ranks[0].cores, "0,2", "first");
    is_str(l->ranks[0].cpuset, "0,2,64-65", "sorted and folded");
    is_str(l->ranks[1].cores, "3,9", "second");
    is_str(l->ranks[1].cpuset, "3,9,66-67", "sorted and folded");
    hrun_layout_destroy(l);
    hrun_buf_release(&b);
}

/* What is not known is not made up. */
static void unknown(void)
{
    struct machine m;
    struct hrun_error err;
    const struct hrun_config config = { 1, { 1 }, { 2 } };
    struct hrun_layout_share share;
    struct hrun_layout *l;

    make_machine(&m, 4, 0);
    m.pes[0].cores = "0-3";
    m.pes[0].cpuset = m.pes[0].core_pus = "";
    l = hrun_layout_create(&m.cluster, &config, &err);
    hrun_layout_fill_threads(l);
    is_str(l->ranks[1].cores, "2-3", "has cores");
    is_str(l->ranks[1].cpuset, "", "and no hardware threads");
    is_int(l->ranks[1].threads, 2, "threads");
    hrun_layout_share(l, 0, &share);
    is_int(share.cores_min, 2, "and its share");
    hrun_layout_destroy(l);

    m.pes[0].cores = "";
    m.pes[0].ncores = 0;
    l = hrun_layout_create(&m.cluster, &config, &err);
    hrun_layout_fill_threads(l);
    ok(l->ranks[0].threads == 0 && l->ranks[0].ncores == 0 && !l->ranks[0].cores[0], "is left alone");
    is_int(l->shared_cores, 1, "its ranks may share a core");
    hrun_layout_destroy(l);

    /* Lists that do not fit the number of cores: none is cut in the wrong place. */
    m.pes[0].cores = "0-2";
    m.pes[0].cpuset = "0-3";
    m.pes[0].core_pus = "0;1;2";
    m.pes[0].ncores = 4;
    l = hrun_layout_create(&m.cluster, &config, &err);
    hrun_layout_fill_threads(l);
    ok(!strcmp(l->ranks[1].cores, "0-2") && !strcmp(l->ranks[1].cpuset, "0-3"), "stay whole");
    hrun_layout_destroy(l);
}

int main(void)
{
    all_shares();
    texts();
    unknown();
    return tap_done();
}
