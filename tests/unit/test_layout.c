/* test_layout.c - invariants of layouts over all small configurations, the rankfile, errors */
#include "configs.h"
#include "layout/layout.h"
#include "tap.h"

#include <stdlib.h>

enum { NSUBS = 3, NPES0 = 2, NPES1 = 3, NPES2 = 1, NPES = NPES0 + NPES1 + NPES2 };

/* Two hosts; sub-cluster 0: two PEs of 2 cores on host 0; 1: one PE of 1 core on host 0, two on host 1;
 * 2: one whole host 1 known by numbers only. */
static struct hrun_pe pes[NPES] = {
    { .host = 0, .index = 0, .cpuset = (char *)"0-1", .cores = (char *)"0-1", .ncores = 2, .npus = 2 },
    { .host = 0, .index = 1, .cpuset = (char *)"2-3", .cores = (char *)"2-3", .ncores = 2, .npus = 2 },
    { .host = 0, .index = 2, .cpuset = (char *)"4", .cores = (char *)"4", .ncores = 1, .npus = 1 },
    { .host = 1, .index = 0, .cpuset = (char *)"0", .cores = (char *)"0", .ncores = 1, .npus = 1 },
    { .host = 1, .index = 1, .cpuset = (char *)"1", .cores = (char *)"1", .ncores = 1, .npus = 1 },
    { .host = 1, .index = 2, .cpuset = (char *)"", .cores = (char *)"", .ncores = 4, .npus = 4 },
};
static struct hrun_host hosts[] = { { .name = (char *)"a-1" }, { .name = (char *)"b.lan" } };
static struct hrun_subcluster subs[NSUBS] = {
    { .name = (char *)"two", .pes = pes, .npes = NPES0 },
    { .name = (char *)"one", .pes = pes + NPES0, .npes = NPES1 },
    { .name = (char *)"num", .pes = pes + NPES0 + NPES1, .npes = NPES2 },
};
static const struct hrun_cluster cluster = {
    .source = (char *)"test", .hosts = hosts, .nhosts = 2, .subs = subs, .nsubs = NSUBS
};

/* All that layout.h promises of a configuration's layout; 1 when it holds. */
static int holds(const struct hrun_layout *l, const struct hrun_config *config)
{
    int rank = 0, on_host[2] = { 0, 0 }, shared = 0;

    for (int s = 0; s < NSUBS; s++)
        for (int i = 0; i < config->pes[s]; i++)
            for (int k = 0; k < config->procs[s]; k++, rank++) {
                const struct hrun_pe *pe = &subs[s].pes[i];
                const struct hrun_rank *r = &l->ranks[rank];
                if (rank >= l->nranks || r->sub != s || r->pe != i || r->host != pe->host ||
                    r->local_rank != on_host[pe->host]++ || r->cpuset != pe->cpuset || r->cores != pe->cores)
                    return 0;
                shared |= config->procs[s] > pe->ncores;
            }
    return rank == l->nranks && l->nhosts_used == (on_host[0] > 0) + (on_host[1] > 0) &&
           l->shared_cores == shared && l->cluster == &cluster;
}

/* Ranks that wait yield where a cgroup grants a host fewer CPUs than it has ranks. */
static void test_quotas(void)
{
    const struct hrun_config config = { NSUBS, { 1, 2, 0 }, { 1, 1, 1 } };   /* two ranks on host 0, one on host 1 */
    const struct { double quota[2]; int limited; } cases[] = {
        { { 0, 0 }, -1 }, { { 2, 1 }, -1 }, { { 1.9, 0 }, 0 }, { { 0, 0.5 }, 1 }, { { 16, 0.999 }, 1 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_error err = { 0 };
        struct hrun_layout *l;

        hosts[0].cpu_quota = cases[i].quota[0];
        hosts[1].cpu_quota = cases[i].quota[1];
        l = hrun_layout_create(&cluster, &config, &err);
        ok(l && l->limited == (cases[i].limited < 0 ? NULL : &hosts[cases[i].limited]) && !l->shared_cores,
           "quotas of %g and %g CPUs: limited is host %d", cases[i].quota[0], cases[i].quota[1], cases[i].limited);
        is_int(l && hrun_layout_yields(l), cases[i].limited >= 0, "yields");
        hrun_layout_destroy(l);
    }
    hosts[0].cpu_quota = hosts[1].cpu_quota = 0;
}

static void all_configurations(void)
{
    int tried = 0, good = 0, refused = 0, empty = 0;
    struct hrun_config config = { .nsubs = NSUBS };
    int *p = config.pes, *m = config.procs;

    for (int code = 0; code < 3 * 4 * 2 * 4 * 4 * 4; code++) {
        int c = code, n = 0;
        struct hrun_error err;
        struct hrun_layout *l;
        p[0] = c % 3, c /= 3;
        p[1] = c % 4, c /= 4;
        p[2] = c % 2, c /= 2;
        for (int s = 0; s < NSUBS; s++, c /= 4)
            n += p[s] * (m[s] = c % 4);
        l = hrun_layout_create(&cluster, &config, &err);
        tried++;
        empty += n == 0;
        if (l)
            good += n > 0 && holds(l, &config);
        else
            refused += n == 0 && err.code == HRUN_EINVAL;
        hrun_layout_destroy(l);
    }
    is_int(good + refused, tried, "every configuration is laid out as promised, or refused because it is "
           "empty");
    is_int(refused, empty, "the empty ones, and only those, are refused");
    ok(empty > 0 && good > 1000, "both kinds were tried");
}

static void refusals(void)
{
    struct hrun_error err;
    int one[NSUBS] = { 1, 1, 1 }, many[NSUBS] = { 1, 4, 0 }, negative[NSUBS] = { 1, -1, 0 };
    int zero[NSUBS] = { 0, 0, 0 }, huge[NSUBS] = { 2147483647, 2147483647, 0 }, two[NSUBS] = { 2, 2, 0 };

    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, many, one), &err), "more PEs than there are");
    is_int(err.code, HRUN_EINVAL, "code");
    is_str(err.text, "one: 4 PEs asked for, and there are 3: use at most 3", "message");
    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, negative, one), &err), "a negative number of PEs");
    has_str(err.text, "one: -1 PEs with 1 processes each", "message");
    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, one, negative), &err), "a negative number of processes");
    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, one, zero), &err), "no process");
    is_str(err.text, "the configuration has 0 processes: use at least one PE with one process", "message");
    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, two, huge), &err), "more processes than an int holds");
    has_str(err.text, "8589934588 processes", "message");
    ok(!hrun_layout_create(&cluster, CONFIG(NSUBS, many, one), NULL), "an error object is not needed");
    ok(!hrun_layout_plain(&cluster, 0, NULL, NULL, &err), "a plain layout of no rank");
    has_str(err.text, "at least 1", "message");
    hrun_layout_destroy(NULL);
}

static void plain(void)
{
    struct hrun_error err;
    static const struct { int npes[NSUBS], n; } limits[] = {
        { { 1, 2, 0 }, 3 }, { { 0, 1, 0 }, 1 }, { { 9, 9, 9 }, NPES }, { { 0, 0, 1 }, 1 }
    };
    static const int nothing[NSUBS] = { 0, 0, 0 }, negative[NSUBS] = { 1, -1, 0 };
    struct hrun_cluster none = { .hosts = hosts, .nhosts = 2, .subs = subs, .nsubs = 0 };
    int good = 1;

    for (int n = 1; n <= 3 * NPES; n++) {
        struct hrun_layout *l = hrun_layout_plain(&cluster, n, NULL, NULL, &err);
        int on_host[2] = { 0, 0 };
        good &= case_holds(l && l->nranks == n, n);
        for (int r = 0; l && r < n; r++) {
            const struct hrun_rank *k = &l->ranks[r];
            good &= case_holds(&subs[k->sub].pes[k->pe] == &pes[r % NPES] && k->host == pes[r % NPES].host, n, r);
            good &= case_holds(k->local_rank == on_host[k->host]++, n, r);
        }
        /* PE 2, the first with one core, gets its second rank */
        good &= case_holds(l && l->shared_cores == (n > NPES + 2), n);
        hrun_layout_destroy(l);
    }
    ok(good, "plain layouts go round the PEs in order");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct hrun_layout *l = hrun_layout_plain(&cluster, 12, limits[i].npes, NULL, &err);
        int allowed[NPES], n = 0;
        for (int s = 0; s < NSUBS; s++)
            for (int p = 0; p < subs[s].npes && p < limits[i].npes[s]; p++)
                allowed[n++] = (int)(&subs[s].pes[p] - pes);
        is_int(n, limits[i].n, "PEs that may be used, case %zu", i);
        good = l != NULL;
        for (int r = 0; l && r < 12; r++)
            good &= case_holds(&subs[l->ranks[r].sub].pes[l->ranks[r].pe] == &pes[allowed[r % n]], i, r);
        ok(good, "are the only ones, also when ranks go round again");
        hrun_layout_destroy(l);
    }
    ok(!hrun_layout_plain(&cluster, 1, nothing, NULL, &err) && err.code == HRUN_EINVAL, "no PE may be used");
    has_str(err.text, "no PE to put them on", "message");
    ok(!hrun_layout_plain(&cluster, 1, negative, NULL, &err) && err.code == HRUN_EINVAL, "a negative number of PEs");
    has_str(err.text, "one: the number of PEs to use is -1", "message");
    ok(!hrun_layout_plain(&none, 1, NULL, NULL, &err) && err.code == HRUN_EINVAL, "no PE at all");
    has_str(err.text, "a cluster without PEs", "message");
}

static void texts(void)
{
    struct hrun_error err;
    struct hrun_buf b = HRUN_BUF_INIT;
    const struct hrun_config config = { NSUBS, { 2, 2, 0 }, { 1, 2, 0 } };
    const struct hrun_config by_numbers = { NSUBS, { 0, 0, 1 }, { 1, 1, 1 } };
    struct hrun_layout *l = hrun_layout_create(&cluster, &config, &err), *bare;
    char longlist[80];

    hrun_layout_ranks(l, 0, &b);
    hrun_buf_addc(&b, ' ');
    hrun_layout_ranks(l, 1, &b);
    hrun_buf_addc(&b, ' ');
    hrun_layout_ranks(l, 2, &b);
    is_str(b.data, "0-1 2-5 -", "ranks of each sub-cluster");
    hrun_buf_reset(&b);
    is_int(hrun_layout_rankfile(l, &b, &err), 0, "rankfile");
    is_str(b.data, "rank 0=a-1 slot=0-1\nrank 1=a-1 slot=2-3\nrank 2=a-1 slot=4\nrank 3=a-1 slot=4\n"
           "rank 4=b.lan slot=0\nrank 5=b.lan slot=0\n", "its text");
    hrun_layout_destroy(l);

    l = hrun_layout_plain(&cluster, 8, NULL, NULL, &err);
    hrun_buf_reset(&b);
    hrun_layout_ranks(l, 0, &b);
    is_str(b.data, "0-1,6-7", "ranks with a gap");
    hrun_layout_destroy(l);

    hrun_buf_reset(&b);
    hrun_buf_adds(&b, "kept");
    bare = hrun_layout_create(&cluster, &by_numbers, &err);
    is_int(hrun_layout_rankfile(bare, &b, &err), -1, "a host without cores");
    is_int(err.code, HRUN_EINVAL, "code");
    is_str(err.text, "host b.lan: its cores are not known, so rank 0 cannot be placed: add its topology to "
           "the "
           "cluster file", "message");
    memset(longlist, '1', sizeof longlist);
    longlist[63] = 0;
    pes[5].cores = longlist;
    hrun_layout_destroy(bare);
    bare = hrun_layout_create(&cluster, &by_numbers, &err);
    is_str(b.data, "kept", "the output is as before after a failure");
    is_int(hrun_layout_rankfile(bare, &b, &err), 0, "63 characters of cores are taken");
    hrun_layout_destroy(bare);
    longlist[63] = '1';
    longlist[64] = 0;
    bare = hrun_layout_create(&cluster, &by_numbers, &err);
    is_int(hrun_layout_rankfile(bare, &b, &err), -1, "64 are not");
    has_str(err.text, "host b.lan: the core list of rank 0 (11111111111111111111...) has 64 characters, and "
            "mpirun "
            "takes 63", "message");
    hrun_layout_destroy(bare);
    pes[5].cores = (char *)"0";
    hosts[1].name = (char *)"b c";
    bare = hrun_layout_create(&cluster, &by_numbers, &err);
    is_int(hrun_layout_rankfile(bare, &b, &err), -1, "a host name with a blank");
    has_str(err.text, "host b c: a rankfile takes names", "message");
    hosts[1].name = (char *)"b.lan";
    pes[5].cores = (char *)"";
    hrun_layout_destroy(bare);
    hrun_buf_release(&b);
}

/* Over all sets of busy PEs: the first that are left, in their order; and the plain layout goes round them. */
static void busy_pes(void)
{
    struct hrun_error err;
    int good = 1, refused = 0, tried = 0;

    for (int set = 0; set < 1 << NPES; set++) {
        char mask[NPES];
        const char *const busy[NSUBS] = { mask, mask + NPES0, mask + NPES0 + NPES1 };
        int left[NSUBS] = { 0 }, all[NPES], n = 0, k = 0;
        struct hrun_layout *l;
        int *order;

        for (int p = 0; p < NPES; p++) {
            mask[p] = (char)(set >> p & 1);
            if (!mask[p]) {
                left[p < NPES0 ? 0 : p < NPES0 + NPES1 ? 1 : 2]++;
                all[n++] = p;
            }
        }
        order = hrun_layout_order(&cluster, left, busy, &err);
        for (int s = 0; s < NSUBS && order; s++)
            for (int i = 0; i < left[s]; i++, k++)
                good &= case_holds(&subs[s].pes[order[k]] == &pes[all[k]], set, s, i);
        good &= case_holds(order && k == n, set);
        free(order);
        left[1]++;
        order = hrun_layout_order(&cluster, left, busy, &err);
        refused += !order && err.code == HRUN_EINVAL && strstr(err.text, " PEs asked for, and ");
        free(order);
        tried++;
        l = hrun_layout_plain(&cluster, 2 * NPES, NULL, busy, &err);
        good &= case_holds(!l == !n, set);
        for (int r = 0; l && r < l->nranks; r++)
            good &= case_holds(&subs[l->ranks[r].sub].pes[l->ranks[r].pe] == &pes[all[r % n]], set, r);
        hrun_layout_destroy(l);
    }
    ok(good, "busy PEs are left out, whichever they are");
    is_int(refused, tried, "more than are left is refused");
}

int main(void)
{
    all_configurations();
    test_quotas();
    refusals();
    plain();
    busy_pes();
    texts();
    return tap_done();
}
