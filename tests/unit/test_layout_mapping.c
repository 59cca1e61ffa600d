/* test_layout_mapping.c - --map-by, --rank-by, --bind-to and rankfiles: invariants over many topologies, mistakes */
#include "fixture.h"

#include "base/list.h"
#include "layout/layout.h"

#include <string.h>

static struct hrun_cluster *cluster_of(const char *topology, const char *more, int level)
{
    char *dir = temp_dir(), *path = hrun_strf("%s/cluster.yaml", dir);
    char *text = hrun_strf("subclusters:\n  - {name: a, hosts: '127.0.0.[11-13]', topology: '%s'}\n%s", topology, more);
    struct hrun_cluster_request req = { .cluster_file = path, .level = level };
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };

    write_text(path, text);
    if (hrun_cluster_discover(&req, &c, &err))
        bail(err.text);
    free(text);
    free(path);
    free(dir);
    return c;
}

/* Make the mapping of words "map-by core", ...; at most three. */
static int set(struct hrun_mapping *m, const char *const *words, struct hrun_error *err)
{
    *m = (struct hrun_mapping){ .per = 0 };
    for (int i = 0; i < 3 && words[i]; i++) {
        char key[32];
        const char *value = strchr(words[i], ' ');

        snprintf(key, sizeof key, "%.*s", (int)(value - words[i]), words[i]);
        if (hrun_mapping_set(m, key, value + 1, err))
            return -1;
    }
    return 0;
}

/* How often each core is in the list of a rank: into on[]. */
static int count_cores(const char *list, int *on)
{
    long first, last;
    int n = 0;

    for (const char *p = list; *p; p += *p == ',') {
        p = hrun_range_next(p, 1000, &first, &last);
        if (!p)
            return -1;
        for (long k = first; k <= last; k++, n++)
            on[k]++;
    }
    return n;
}

/* ---------------------------------------------------------------- invariants */

static const char *const topologies[] = {
    "[numa] core:1 pu:1", "[numa] core:4 pu:2", "package:2 [numa] core:4 pu:1", "package:2 [numa] l3:2 core:3 pu:2",
    "package:1 group:2 [numa] core:2 pu:1", "package:4 [numa] core:2 pu:4",
};
static const char *const maps[] = { "slot", "node", "core", "hwthread", "package", "socket:span", "numa:SPAN",
                                    "l3cache", "core:span", "ppr:1:node", "ppr:2:package", "ppr:1:core", "slot:pe=2",
                                    "node:PE=3", "numa:pe=2", "ppr:1:package:pe=2" };
static const char *const ranks[] = { NULL, "rank-by slot", "rank-by node", "rank-by core", "rank-by package:span",
                                     "rank-by fill", "rank-by span" };

/* What holds of every mapping whose ranks are bound to cores of their own. */
static const char *broken(const struct hrun_cluster *c, const struct hrun_layout *l, const struct hrun_mapping *m)
{
    int on[3][64] = { { 0 } }, local[3] = { 0 };
    int threads = m->by == HRUN_MAP_HWTHREAD;

    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];
        int before[64], n;

        if (k->host < 0 || k->host > 2 || c->subs[k->sub].pes[k->pe].host != k->host)
            return "a rank's PE is on its host";
        if (k->local_rank != local[k->host]++)
            return "ranks of a host are numbered";
        memcpy(before, on[k->host], sizeof before);
        n = count_cores(k->cores, on[k->host]);
        if (n != k->ncores || n < 1 || (!threads && n != (m->pes ? m->pes : 1)))
            return "a rank has the cores that are asked for";
        for (int u = 0; u < 64 && !threads; u++)
            if (on[k->host][u] > 1)
                return "no core is given twice";
        if (!*k->cpuset)
            return "PUs are known";
    }
    if (m->by == HRUN_MAP_NODE && !m->per && (local[0] - local[2] > 1 || local[2] > local[0]))
        return "by node: hosts have equally many";
    if (m->by == HRUN_MAP_SLOT && !m->rank_by)
        for (int r = 1; r < l->nranks; r++)
            if (l->ranks[r].host < l->ranks[r - 1].host)
                return "by slot: host by host";
    if (l->shared_cores && !threads)
        return "no core is shared";
    return NULL;
}

static void test_invariants(void)
{
    int tried = 0, good = 0, refused = 0, full = 0;

    for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++)
        for (int level = HRUN_LEVEL_NODE; level <= HRUN_LEVEL_CORE; level += HRUN_LEVEL_CORE) {
            struct hrun_cluster *c = cluster_of(topologies[t], "", level);

            for (size_t k = 0; k < sizeof maps / sizeof *maps * (sizeof ranks / sizeof *ranks); k++)
                for (int n = 0; n <= 26; n++) {
                    char *map = hrun_strf("map-by %s", maps[k % (sizeof maps / sizeof *maps)]);
                    const char *rank = ranks[k / (sizeof maps / sizeof *maps)];
                    const char *words[] = { map, n % 2 ? "bind-to core" : rank, n % 2 ? rank : NULL };
                    struct hrun_error err = { 0 };
                    struct hrun_mapping m;
                    struct hrun_layout *l;
                    const char *why;

                    if (set(&m, words, &err))
                        bail(err.text);
                    m.bind_to = m.by == HRUN_MAP_HWTHREAD ? HRUN_MAP_HWTHREAD : HRUN_MAP_CORE;
                    l = hrun_layout_map(c, &m, n, NULL, NULL, &err);
                    tried++;
                    why = l ? broken(c, l, &m) : NULL;
                    if (l && (n ? l->nranks != n : l->nranks < 1))
                        why = "as many ranks as are asked for";
                    if (!l && (err.code != HRUN_EINVAL || !err.text[0]))
                        why = "what cannot be is refused with words";
                    good += l && !why;
                    refused += !l;
                    full += !l && strstr(err.text, "there is room for") != NULL;
                    if (why)
                        ok(0, "%s: %s, %s, -n %d, level %d: %s", why, topologies[t], map, n, level, err.text);
                    hrun_layout_destroy(l);
                    free(map);
                }
            hrun_cluster_destroy(c);
        }
    is_int(good + refused, tried, "every mapping is laid out as promised, or refused");
    ok(good > 5000 && full > 1000 && refused > full, "all of these were tried: %d good, %d refused, %d of them full",
       good, refused, full);
}

/* Oversubscribed hosts share what is too much, and nothing is bound. */
static void test_oversubscribed(void)
{
    struct hrun_cluster *c = cluster_of("package:2 [numa] core:2 pu:1", "", HRUN_LEVEL_CORE);
    static const char *const by[] = { "map-by slot", "map-by node", "map-by core", "map-by numa",
                                      "map-by slot:OVERSUBSCRIBE" };

    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        const char *words[] = { by[i], NULL };
        struct hrun_error err = { 0 };
        struct hrun_mapping m;
        struct hrun_layout *l;
        int on[3] = { 0 };

        set(&m, words, &err);
        ok(m.oversubscribes ||
           (!hrun_layout_map(c, &m, 13, NULL, NULL, &err) && strstr(err.text, "--oversubscribe")),
           "%s: 13 processes on 12 cores are refused", by[i]);
        m.oversubscribes = 1;
        l = hrun_layout_map(c, &m, 21, NULL, NULL, &err);
        for (int r = 0; l && r < l->nranks; r++)
            on[l->ranks[r].host]++;
        ok(l && on[0] == 7 && on[1] == 7 && on[2] == 7 && l->shared_cores && l->bound == HRUN_MAP_NONE &&
           !strcmp(l->ranks[0].cpuset, "0-3"), "or shared out evenly, not bound");
        hrun_layout_destroy(l);
    }
    hrun_cluster_destroy(c);
}

/* ---------------------------------------------------------------- cases */

static void render(const struct hrun_layout *l, int pus, struct hrun_buf *out)
{
    for (int r = 0; l && r < l->nranks; r++)
        hrun_buf_addf(out, "%s%d:%s", r ? " " : "", l->ranks[r].host, pus ? l->ranks[r].cpuset : l->ranks[r].cores);
}

static void test_cases(void)
{
    static const struct { const char *words[3]; int n, pus; const char *want; } cases[] = {
        { { "map-by slot" }, 2, 0, "0:0 0:1" },
        { { "map-by slot" }, 3, 0, "0:0-3 0:4-7 0:0-3" },
        { { "map-by node" }, 4, 0, "0:0-3 1:0-3 2:0-3 0:4-7" },
        { { "map-by node", "bind-to core" }, 5, 0, "0:0 1:0 2:0 0:1 1:1" },
        { { "map-by package", "bind-to core" }, 4, 0, "0:0 0:4 0:1 0:5" },
        { { "map-by package", "bind-to hwthread" }, 3, 1, "0:0 0:8 0:1" },
        { { "map-by ppr:1:package" }, 0, 0, "0:0-3 0:4-7 1:0-3 1:4-7 2:0-3 2:4-7" },
        { { "map-by ppr:2:node", "bind-to none" }, 3, 0, "0:0-7 0:0-7 1:0-7" },
        { { "map-by ppr:2:package", "rank-by package", "bind-to package" }, 4, 0, "0:0-3 0:4-7 0:0-3 0:4-7" },
        { { "per-host 1" }, 4, 0, "0:0-3 1:0-3 2:0-3 0:4-7" },
        { { "pe 3" }, 3, 0, "0:0-2 0:4-6 1:0-2" }, { { "pe 5" }, 2, 0, "0:0-4 1:0-4" },
        { { "bind-to core:3" }, 2, 0, "0:0-2 0:3-5" }, { { "hwthreads 1", "bind-to package" }, 2, 0, "0:0-3 0:0-3" },
        { { "map-by package:PE=2" }, 5, 0, "0:0-1 0:4-5 0:2-3 0:6-7 1:0-1" },
        { { "map-by hwthread" }, 3, 1, "0:0 0:1 0:2" },
        { { "map-by slot:pe=2", "hwthreads 1" }, 3, 1, "0:0-1 0:2-3 0:4-5" },
        { { "map-by core", "bind-to package" }, 5, 0, "0:0-3 0:0-3 0:0-3 0:0-3 0:4-7" },
        { { "cpus 1,3-5" }, 0, 0, "0:1,3 0:4-5 0:1,3 0:4-5 1:1,3 1:4-5 1:1,3 1:4-5 2:1,3 2:4-5 2:1,3 2:4-5" },
        { { "cpus 6", "map-by core" }, 2, 0, "0:6 1:6" },
        { { "map-by pe-list=1,3-5:inherit" }, 3, 0, "0:1,3 0:4-5 0:1,3" },
        { { "map-by slot:NOINHERIT:nolocal", "bind-to core:REPORT" }, 2, 0, "0:0 0:1" },
        { { "map-by core:1", "bind-to core" }, 2, 0, "0:0 0:1" },
        { { "map-by seq", "bind-to core" }, 0, 0, "1:0 0:0 1:1" }, { { "map-by seq" }, 2, 0, "1:0 0:0" },
        { { "map-by seq" }, 4, 0, "-n 4: the list of hosts has only 3 entries: name more hosts, or start "
          "fewer processes" },
        { { "rank-by core", "bind-to core" }, 4, 0, "0:0 0:1 0:4 0:5" }, { { "rank-by core" }, 2, 0, "0:0 0:1" },
        { { "map-by slot:span", "rank-by slot:span", "bind-to core" }, 3, 0, "0:0 0:1 0:2" },
        { { "map-by core", "rank-by l2cache" }, 3, 0,
          "host 127.0.0.11 has no l2cache: choose one of node, package, numa, core" },
        { { "rank-by slot" }, 4, 0, "0:0-3 0:4-7 0:0-3 0:4-7" },
        { { "map-by package:span", "rank-by span", "bind-to core" }, 7, 0, "0:0 0:4 1:0 1:4 2:0 2:4 0:1" },
    };
    struct hrun_cluster *c = cluster_of("package:2 [numa] core:4 pu:2", "", HRUN_LEVEL_CORE);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_buf got = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        struct hrun_mapping m;
        struct hrun_layout *l = NULL;

        if (!set(&m, cases[i].words, &err)) {
            m.hosts = m.seq ? "127.0.0.12,127.0.0.11,127.0.0.12" : NULL;
            l = hrun_layout_map(c, &m, cases[i].n, NULL, NULL, &err);
        }
        render(l, cases[i].pus, &got);
        is_str(l ? got.data : err.text, cases[i].want, cases[i].words[0]);
        hrun_layout_destroy(l);
        hrun_buf_release(&got);
    }
    hrun_cluster_destroy(c);
}

static void test_words(void)
{
    static const struct { const char *word, *text; } cases[] = {
        { "map-by sokcet", "unknown word 'sokcet'; there are slot, node, package (socket), numa" },
        { "map-by none", "unknown word 'none'" }, { "map-by slot:PE=0", "it is a number of at least 1" },
        { "map-by slot:PE=x", "'x' cores" }, { "map-by slot:PE=-1", "'-1' cores" }, { "map-by slot:PE=", "'' cores" },
        { "map-by slot:PE=99999999999999999999", "a number" }, { "map-by ppr", "as in ppr:2:node" },
        { "map-by ppr:2", "as in ppr:2:node" }, { "map-by ppr:0:node", "as in ppr:2:node" },
        { "map-by ppr:2:slot", "as in ppr:2:node" }, { "map-by ppr::node", "as in ppr:2:node" },
        { "map-by node:bogus", "unknown modifier 'bogus'; there are pe=N, span" },
        { "map-by rankfile", "as in rankfile:file=FILE" }, { "rank-by none:x", "unknown word 'none'" },
        { "rank-by node:pe=2", "unknown modifier 'pe=2'; there are span, fill" },
        { "bind-to slot", "unknown word 'slot'; there are none, node" }, { "bind-to user:0,1", "write a rankfile" },
        { "map-by core:2", "write pe=2" }, { "map-by pe-list=", "no list" }, { "map-by pe-list=1,:inherit", "no list" },
        { "bind-to core:x", "unknown modifier 'x'; there are N (cores), overload-allowed" }, { "pe 0", "'0' cores" },
        { "cpus 3-1", "no list of cores" }, { "cpus 1,", "no list" }, { "cpus x", "no list" }, { "cpus 1:2", "no list" },
        { "per-node 0", "'0' processes per host" }, { "per-node x", "'x' processes per host" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[] = { cases[i].word, NULL };
        struct hrun_error err = { 0 };
        struct hrun_mapping m;

        ok(set(&m, words, &err) == -1 && err.code == HRUN_EINVAL, "%s is refused", words[0]);
        has_str(err.text, cases[i].text, "with what there is");
    }
}

/* Hosts that a cluster file describes by numbers: they have cores, and nothing around them. */
static void test_numbers(void)
{
    struct hrun_cluster *c = cluster_of("[numa] core:1 pu:1", "  - {name: b, hosts: '127.0.0.14', cores: 4, "
                                        "memory: 1GiB}\n", HRUN_LEVEL_NODE);
    const char *node[] = { "map-by node", NULL }, *numa[] = { "map-by numa", NULL };
    struct hrun_error err = { 0 };
    struct hrun_buf got = HRUN_BUF_INIT;
    struct hrun_mapping m;
    struct hrun_layout *l;

    set(&m, node, &err);
    l = hrun_layout_map(c, &m, 6, NULL, NULL, &err);
    render(l, 0, &got);
    is_str(l ? got.data : err.text, "0:0 1:0 2:0 3:0 3:1 3:2", "by node over hosts of other sizes");
    ok(l && !l->ranks[3].cpuset[0], "whose PUs are not known");
    set(&m, numa, &err);
    ok(!hrun_layout_map(c, &m, 6, NULL, NULL, &err), "a host without topology has no memory nodes");
    has_str(err.text, "host 127.0.0.14 has no numa, as its topology is not known: choose one of node, core",
            "it is said");
    hrun_layout_destroy(l);
    hrun_buf_release(&got);
    hrun_cluster_destroy(c);
}

/* Busy PEs, PEs that --use leaves out, and a layout that is a configuration. */
static void test_parts(void)
{
    struct hrun_cluster *c = cluster_of("package:2 [numa] core:2 pu:1", "", HRUN_LEVEL_CORE);
    const char *words[] = { "map-by node", "bind-to package", NULL }, *two[] = { "map-by slot:PE=2", NULL };
    char taken[12] = { 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
    const char *const busy[] = { taken };
    int npes[] = { 5 };
    struct hrun_config config;
    struct hrun_error err = { 0 };
    struct hrun_buf got = HRUN_BUF_INIT;
    struct hrun_mapping m;
    struct hrun_layout *l;

    set(&m, words, &err);
    l = hrun_layout_map(c, &m, 4, npes, busy, &err);
    render(l, 0, &got);
    is_str(l ? got.data : err.text, "0:2-3 1:0-1 0:2-3 1:2", "PEs that are in use, or not to be used, hold no rank");
    is_int(l && hrun_layout_config(l, &config) && config.nsubs == 1 && config.pes[0] == 4 && config.procs[0] == 1, 1,
           "it is a configuration");
    hrun_layout_destroy(l);
    hrun_buf_reset(&got);
    set(&m, two, &err);
    l = hrun_layout_map(c, &m, 0, NULL, NULL, &err);
    ok(l && l->nranks == 6 && l->nmore == 6 && l->more[0].pe == 1, "ranks of two cores fill two PEs");
    hrun_layout_destroy(l);
    config = (struct hrun_config){ 1, { 3 }, { 2 } };
    l = hrun_layout_create(c, &config, &err);
    m = (struct hrun_mapping){ .bind_to = HRUN_MAP_NODE + HRUN_OBJECT_PACKAGE };
    is_int(hrun_layout_bind(l, c, &m, NULL, NULL, &err), 0, "a layout of the model is bound to more");
    render(l, 0, &got);
    is_str(got.data, "0:0-1 0:0-1 0:0-1 0:0-1 0:2-3 0:2-3", "to what is around its PEs");
    m.bind_to = HRUN_MAP_NODE + HRUN_OBJECT_L3;
    is_int(hrun_layout_bind(l, c, &m, NULL, NULL, &err), -1, "not to what is not there");
    has_str(err.text, "host 127.0.0.11 has no l3cache: choose one of node, package", "it is said");
    m.if_supported = 1;
    is_int(hrun_layout_bind(l, c, &m, NULL, NULL, &err) || l->bound != HRUN_MAP_NONE, 0, "if-supported: not at all");
    hrun_layout_destroy(l);
    hrun_buf_release(&got);
    hrun_cluster_destroy(c);
}

/* ---------------------------------------------------------------- rankfiles */

static void test_rankfiles(void)
{
    static const struct { const char *text; int n; const char *want; } cases[] = {
        { "rank 0=127.0.0.11 slot=1:0-1\nrank 1=127.0.0.12 slot=0:0,3 # words\n\nrank 2=+n2 slot=1-2\n", 0,
          "0:4-5 1:0,3 2:1-2" },
        { "rank 1 = +N0 slots = 7\r\n  rank 0=+n1 slot=0:*;1:0\n", 0, "1:0-4 0:7" },
        { "rank 0=+n0 slot=0\nrank 1=+n0 slot=1\nrank 2=+n9 slot=0\n", 2, "!:3: host '+n9': there are 3, +n0 to +n2" },
        { "rank 0=+n0 slot=0\nrank 1=+n0 slot=1\n", 1, "0:0" },
        { "rank 0=+n0 slot=0\nrank 2=+n0 slot=1\n", 0, "!the rankfile has no line for rank 1 of 3" },
        { "rank 0=+n0 slot=0\n", 4, "!the rankfile has no line for rank 1 of 4" },
        { "# nothing\n", 0, "!no line for rank 0 of 1" },
        { "rank 0=+n0 slot=0\nrank 0=+n0 slot=1\n", 0, "!:2: rank 0 is named a second time" },
        { "rank 0=nosuch slot=0\n", 0, "!:1: host 'nosuch' does not belong to this run (127.0.0.[11-13])" },
        { "rank 0=+n0 slot=8\n", 0, "!:1: host 127.0.0.11 has no slot 8: it has cores 0-7" },
        { "rank 0=+n0 slot=1:4\n", 0, "!host 127.0.0.11 has no slot 1:4: package 1 has cores 0-3" },
        { "rank 0=+n0 slot=2:0\n", 0, "!package 2 has no cores" },
        { "rank 0=+n0 slot=\n", 0, "!a slot list is like 0-3,8" }, { "rank 0=+n0 slot=a\n", 0, "!a slot list is like" },
        { "rank 0=+n0 slot=3-1\n", 0, "!a slot list is like" },
        { "rank x=+n0 slot=0\n", 0, "!rank 0=HOST slot=0-3, found" },
        { "rank 0 +n0 slot=0\n", 0, "!a line is like" }, { "rank 0=+n0\n", 0, "!a line is like" },
        { "rank -1=+n0 slot=0\n", 0, "!a line is like" }, { "rank 99999999999=+n0 slot=0\n", 0, "!a line is like" },
        { "0=+n0 slot=0\n", 0, "!a line is like" },
    };
    struct hrun_cluster *c = cluster_of("package:2 [numa] core:4 pu:2", "", HRUN_LEVEL_CORE);
    char *dir = temp_dir(), *path = hrun_strf("%s/ranks", dir), text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];
    struct hrun_mapping m = { .rankfile = path };
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_buf got = HRUN_BUF_INIT;
        struct hrun_layout *l;

        write_text(path, cases[i].text);
        l = hrun_layout_map(c, &m, cases[i].n, NULL, NULL, &err);
        render(l, 0, &got);
        if (*cases[i].want == '!')
            has_str(l ? got.data : hrun_error_format(&err, text, sizeof text), cases[i].want + 1, cases[i].text);
        else
            is_str(l ? got.data : err.text, cases[i].want, cases[i].text);
        hrun_layout_destroy(l);
        hrun_buf_release(&got);
    }
    m.rankfile = "/nosuch/ranks";
    ok(!hrun_layout_map(c, &m, 0, NULL, NULL, &err) && err.code == HRUN_ENOENT, "a file that is not there");
    hrun_cluster_destroy(c);
    free(path);
    free(dir);
}

int main(void)
{
    test_invariants();
    test_oversubscribed();
    test_cases();
    test_words();
    test_numbers();
    test_parts();
    test_rankfiles();
    return tap_done();
}
