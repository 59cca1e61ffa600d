/* test_cluster.c - discovery without a cluster file: this host, host files, grouping, names, signatures */
#include "tap.h"

#include "base/file.h"
#include "cluster/internal.h"

#include <stdlib.h>
#include <unistd.h>

static struct hrun_cluster *discover(const char *host_file, const char *hosts, int level,
                                     struct hrun_error *err)
{
    struct hrun_cluster_request req = { .host_file = host_file, .hosts = hosts, .level = level };
    struct hrun_cluster *c = NULL;

    err->text[0] = 0;
    return hrun_cluster_discover(&req, &c, err) ? NULL : c;
}

/* "name(kind) level PEs x cores/PUs: cores of each PE; ..." */
static char *show(const struct hrun_cluster *c)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    for (int i = 0; c && i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];
        hrun_buf_addf(&b, "%s%s(%s) %s %dx%d/%d:", i ? "; " : "", s->name, s->core_kind,
                      hrun_level_name(s->level), s->npes, s->cores_per_pe, s->pus_per_pe);
        for (int k = 0; k < s->npes; k++)
            hrun_buf_addf(&b, " %s", s->pes[k].cores);
    }
    return hrun_buf_detach(&b);
}

static void is_cluster(const char *host_file, const char *hosts, int level, const char *want)
{
    struct hrun_error err;
    struct hrun_cluster *c = discover(host_file, hosts, level, &err);
    char *got = show(c);

    is_str(c ? got : err.text, want, "%s", want);
    free(got);
    hrun_cluster_destroy(c);
}

static void test_grouping(void)
{
    const char *dir = getenv("HRUN_TEST_DATA");
    char *xml;

    setenv("HWLOC_SYNTHETIC", "package:2 [numa(memory=8GB)] l3:1 core:2 pu:2", 1);
    is_cluster(NULL, NULL, -1, "core() core 4x1/2: 0 1 2 3");
    is_cluster(NULL, NULL, HRUN_LEVEL_NODE, "node() node 1x4/8: 0-3");
    is_cluster(NULL, NULL, HRUN_LEVEL_L3, "l3() l3 2x2/4: 0-1 2-3");
    is_cluster(NULL, "localhost:3", -1, "core() core 3x1/2: 0 1 2");
    is_cluster(NULL, "localhost:3", HRUN_LEVEL_PACKAGE,
               "package-2c() package 1x2/4: 0-1; package-1c() package 1x1/2: 2");
    is_cluster(NULL, "localhost:30", HRUN_LEVEL_NODE, "node() node 1x4/8: 0-3");
    setenv("HWLOC_SYNTHETIC", "[numa] core:2 pu:1", 1);
    is_cluster(NULL, NULL, HRUN_LEVEL_L3, "this machine has no level 'l3'; it has node, numa, core");
    unsetenv("HWLOC_SYNTHETIC");
    xml = hrun_strf("%s/topo/made-2lpe8e6p.xml", dir ? dir : "tests/data");
    setenv("HWLOC_XMLFILE", xml, 1);
    free(xml);
    is_cluster(NULL, NULL, -1, "made-hybrid-6p-8e-2lpe-intelcore(IntelCore) core 6x1/2: 10 11 12 13 14 15; "
               "made-hybrid-6p-8e-2lpe-intelatom(IntelAtom) core 8x1/1: 2 3 4 5 6 7 8 9; "
               "made-hybrid-6p-8e-2lpe-intelatom-2(IntelAtom-2) core 2x1/1: 0 1");
    xml = hrun_strf("%s/topo/opteron-cgroup.xml", dir ? dir : "tests/data");
    setenv("HWLOC_XMLFILE", xml, 1);
    free(xml);
    /* Two nodes of 16 GB, with 4 and 2 usable cores: different shares of memory are different PEs. */
    is_cluster(NULL, NULL, -1, "opteron-6134-8g() core 2x1/1: 4 5; opteron-6134-4g() core 4x1/1: 0 1 2 3");
    unsetenv("HWLOC_XMLFILE");
}

static void test_this_host(void)
{
    struct hrun_error err;
    struct hrun_cluster *c = discover(NULL, NULL, -1, &err), *d;
    struct hrun_buf b = HRUN_BUF_INIT;
    char own[256] = "", *a, *z;

    gethostname(own, sizeof own - 1);
    if (!ok(c != NULL, "this host %s", err.text))
        return;
    is_str(c->source, "this host", "source");
    is_int(c->nhosts, 1, "one host");
    is_str(c->hosts[0].name, own, "its name");
    ok(c->hosts[0].is_local && c->hosts[0].topo == c->topos[0], "it is local and has a topology");
    is_int(c->subs[0].level, HRUN_LEVEL_CORE, "core level");
    hrun_subcluster_hosts(c, &c->subs[0], 0, c->subs[0].npes, &b);
    is_str(b.data, own, "hosts of its sub-cluster");
    hrun_buf_reset(&b);
    hrun_subcluster_hosts(c, &c->subs[0], 0, 0, &b);
    is_str(b.data, "", "no PEs, no hosts");
    /* Its own name, an address and localhost are the same host. */
    a = show(c);
    for (int i = 0; i < 3; i++) {
        const char *names[] = { own, "127.0.0.1", "localhost" };
        d = discover(NULL, names[i], -1, &err);
        z = show(d);
        is_str(z, a, "--host %s", names[i]);
        ok(d && d->hosts[0].is_local, "is local");
        free(z);
        hrun_cluster_destroy(d);
    }
    free(a);
    hrun_buf_release(&b);
    hrun_cluster_destroy(c);
    hrun_cluster_destroy(NULL);
}

static void test_errors(void)
{
    struct hrun_cluster_request both = { .cluster_file = "a", .hosts = "b", .level = -1 };
    struct hrun_cluster *c = NULL;
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/hosts", dir), *want;
    static const char text[] = "localhost\n\n 127.0.0.11 slots=2\n";

    is_int(hrun_cluster_discover(&both, &c, &err), -1, "two sources");
    ok(err.code == HRUN_EINVAL && !c, "its code; the output is untouched");
    is_str(err.text, "a cluster file cannot be combined with a host file or a list of hosts",
           "its message");

    hrun_file_replace(path, text, sizeof text - 1, 0600, &err);
    ok(!discover(path, NULL, -1, &err), "a remote host in a host file");
    ok(!strcmp(err.file, path) && err.line == 3 && err.column == 2, "its place");
    is_int(err.code, HRUN_EINVAL, "its code");
    is_str(err.text, "the hardware of host '127.0.0.11' is unknown here; describe "
           "the host in a cluster file (see hrun-cluster(5)), for instance: subclusters: [{name: big, "
           "hosts: \"127.0.0.11\", cores: 16, memory: 64GiB, cpu: \"its CPU model\"}]", "its message");
    /* What the message recommends is right. */
    want = strstr(err.text, "subclusters:");
    hrun_file_replace(path, want, strlen(want), 0600, NULL);
    {
        struct hrun_cluster_request req = { .cluster_file = path, .level = -1 };
        is_int(hrun_cluster_discover(&req, &c, &err), 0, "the entry that it recommends works");
        if (c)
            ok(c->nsubs == 1 && c->subs[0].npes == 16 && !strcmp(c->subs[0].name, "big"),
               "and describes the host");
        hrun_cluster_destroy(c);
    }
    ok(!discover(NULL, "localhost,no-such-host.invalid:2", -1, &err), "an unknown host");
    ok(!strcmp(err.file, "--host") && err.line == 1 && err.column == 11, "its place");
    is_int(err.code, HRUN_EPARSE, "its code");
    has_str(err.text, "unknown host 'no-such-host.invalid': ", "its message");
    ok(!discover(NULL, "localhost,127.0.0.1", -1, &err), "this host under two names");
    is_str(err.text, "host '127.0.0.1' is the same machine as 'localhost' (line 1, column 1); name it once",
           "its message");
    ok(!discover(NULL, "[::1],localhost", -1, &err), "and by IPv6");
    ok(!discover("/no/such", NULL, -1, &err) && err.code == HRUN_ENOENT, "no such host file");
    setenv("HWLOC_SYNTHETIC", "nonsense", 1);
    ok(!discover(NULL, NULL, -1, &err), "a bad topology");
    has_str(err.text, "HWLOC_SYNTHETIC='nonsense'", "its message");
    unsetenv("HWLOC_SYNTHETIC");
    hrun_remove_tree(dir);
    free(dir);
    free(path);
}

/* ---------------------------------------------------------------- other hosts */

/* A made-up network: what each host answers, and what was asked. */
struct network {
    struct { const char *host; char *text; } v[8];
    const char *fails;          /* the host that does not answer */
    int names_it;               /* the failure says which one it is */
    int calls, asked, skip;
};

static int ask(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts, struct hrun_error *errors,
               struct hrun_error *err)
{
    struct network *w = ctx;

    w->calls++;
    w->skip = skip;
    w->asked += n;
    for (int i = 0; i < n; i++) {
        if (w->fails && !strcmp(w->fails, hosts[i])) {
            hrun_fail(w->names_it ? &errors[i] : err, HRUN_EENGINE, "no answer from %s", hosts[i]);
            if (!w->names_it)
                return -1;
            continue;
        }
        for (size_t k = 0; k < sizeof w->v / sizeof w->v[0]; k++)
            if (w->v[k].host && !strcmp(w->v[k].host, hosts[i]))
                hrun_buf_adds(&texts[i], w->v[k].text);
    }
    return 0;
}

/* What a host of that synthetic topology would print. */
static char *exported(const char *synthetic)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;

    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    ok(!hrun_cluster_export("4.1.4", NULL, &b, &err), "export of %s", synthetic);
    unsetenv("HWLOC_SYNTHETIC");
    return hrun_buf_detach(&b);
}

/* text with the first `from` in it replaced. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    if (!ok(at != NULL, "'%s' is in the export", from))
        return strdup(text);
    return hrun_strf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static struct hrun_cluster *visit(struct network *w, const char *cluster_file, const char *hosts, int level,
                                  struct hrun_error *err)
{
    struct hrun_cluster_request req = { .cluster_file = cluster_file, .hosts = hosts, .level = level,
                                        .topologies = ask, .ctx = w };
    struct hrun_cluster *c = NULL;

    memset(err, 0, sizeof *err);
    w->calls = w->asked = 0;
    return hrun_cluster_discover(&req, &c, err) ? NULL : c;
}

static void is_visit(struct network *w, const char *hosts, int level, const char *want)
{
    struct hrun_error err;
    struct hrun_cluster *c = visit(w, NULL, hosts, level, &err);
    char *got = show(c);

    is_str(c ? got : err.text, want, "%s: %s", hosts, want);
    free(got);
    hrun_cluster_destroy(c);
}

static void test_remote(void)
{
    char *small = exported("package:1 [numa(memory=8GB)] core:4 pu:2");
    char *big = exported("package:2 [numa(memory=32GB)] core:4 pu:1"), *plain = strdup(small), *other;
    struct network w = { .v = { { "127.0.0.11", small }, { "127.0.0.12", NULL }, { "127.0.0.13", big },
                                { "127.0.0.14", NULL }, { "127.0.0.15", NULL }, { "127.0.0.16", NULL },
                                { "127.0.0.17", NULL }, { "127.0.0.18", NULL } } };
    struct hrun_error err;
    struct hrun_cluster *c;

    /* Another host of the same make: a little less memory, another name. */
    other = changed(small, "<info name=\"Backend\"", "<info name=\"HostName\" value=\"x\"/><info name=\"Backend\"");
    w.v[1].text = changed(other, "memory 8000000000", "memory 7900000000");
    free(other);
    /* The key is made here when a host does not tell it, or another one. */
    memcpy(strstr(w.v[1].text, "\ntopology ") + 1, "apology ", 8);
    w.v[3].text = changed(big, "usable 0-7", "usable 1,3-5");
    w.v[4].text = changed(small, "usable 0-7", "usable 0-2,7");
    *strstr(plain, "<?hrun") = 0;
    w.v[5].text = plain;
    w.v[6].text = changed(small, "\nmemory 8", "\nquota 0.3\nmemory 8");
    w.v[7].text = changed(small, "\nmemory 8", "\nquota 1.5\nmemory 8");

    setenv("HWLOC_SYNTHETIC", "core:1 pu:1", 1);
    c = visit(&w, NULL, "127.0.0.[11-13],localhost", -1, &err);
    unsetenv("HWLOC_SYNTHETIC");
    if (ok(c != NULL, "three other hosts and this one %s", err.text)) {
        is_int(w.calls, 1, "they are asked in one call");
        is_int(w.asked, 3, "but for this one");
        is_int(c->ntopos, 3, "hosts that are alike share a topology");
        ok(c->hosts[0].topo == c->hosts[1].topo && c->hosts[0].topo != c->hosts[2].topo, "those do");
        ok(!c->hosts[0].is_local && c->hosts[3].is_local, "only the last is local");
        ok(c->nsubs == 3 && c->subs[1].npes == 2 && c->subs[1].level == HRUN_LEVEL_NODE, "level node, two alike");
        is_int(c->subs[1].pes[0].memory_bytes, 8000000000, "its own memory");
        is_int(c->subs[1].pes[1].memory_bytes, 7900000000, "and the other one's");
        is_int(c->subs[0].pes[0].memory_bytes, 64000000000, "and the big one's");
        is_int(c->subs[1].memory_bytes, 7900000000, "the smallest counts");
        ok(c->subs[1].pes[0].cpuset == c->subs[1].pes[1].cpuset, "equal PEs share their strings");
        is_str(c->subs[1].pes[0].core_pus, "0-1;2-3;4-5;6-7", "PUs core by core");
        is_str(c->hosts[0].mpi, "4.1.4", "the Open MPI there");
        is_int(strlen(c->hosts[0].fingerprint), 8, "the fingerprint there");
        ok(!c->hosts[0].remembered && c->hosts[0].asked_s > 0, "it was asked now");
        ok(!c->hosts[3].asked_s && !c->hosts[3].mpi && !*c->hosts[3].fingerprint, "this host is not asked");
    }
    hrun_cluster_destroy(c);
    c = visit(&w, NULL, "127.0.0.[11,17]", -1, &err);
    if (ok(c != NULL, "a host of two has a quota %s", err.text)) {
        ok(c->hosts[0].cpu_quota == 0 && fabs(c->hosts[1].cpu_quota - 0.3) < 1e-9, "what a cgroup grants there");
        is_int(c->subs[1].quota_permille, 300, "and to the PEs of its sub-cluster");
    }
    hrun_cluster_destroy(c);
    is_visit(&w, "127.0.0.[11,17-18]", HRUN_LEVEL_NODE,
            "node-noquota() node 1x4/8: 0-3; node-1.5cpu() node 1x4/8: 0-3; node-0.3cpu() node 1x4/8: 0-3");
    is_visit(&w, "127.0.0.11,127.0.0.18:1", HRUN_LEVEL_CORE, "core() core 5x1/2: 0 1 2 3 0");
    is_visit(&w, "127.0.0.11", -1, "core() core 4x1/2: 0 1 2 3");
    is_visit(&w, "127.0.0.11:3,127.0.0.12:2", HRUN_LEVEL_CORE, "core() core 5x1/2: 0 1 2 0 1");
    is_visit(&w, "127.0.0.13,127.0.0.11", HRUN_LEVEL_PACKAGE,
            "package-8t() package 1x4/8: 0-3; package-4t() package 2x4/4: 0-3 4-7");
    is_visit(&w, "127.0.0.16:3", HRUN_LEVEL_NODE, "node() node 1x3/6: 0-2");
    /* What may not be used there is left out, and the numbers of the rest are those of the whole. */
    is_visit(&w, "127.0.0.14", HRUN_LEVEL_CORE, "core() core 4x1/1: 1 3 4 5");
    is_visit(&w, "127.0.0.14", HRUN_LEVEL_PACKAGE, "package() package 2x2/2: 1,3 4-5");
    is_visit(&w, "127.0.0.14:3", HRUN_LEVEL_PACKAGE,
            "package-2c() package 1x2/2: 1,3; package-1c() package 1x1/1: 4");
    is_visit(&w, "127.0.0.14", HRUN_LEVEL_L3,
            "host '127.0.0.14': this machine has no level 'l3'; it has node, package, numa, core");
    is_visit(&w, "127.0.0.15", HRUN_LEVEL_CORE, "core-2t() core 1x1/2: 0; core-1t() core 2x1/1: 1 3");
    is_visit(&w, "127.0.0.15", HRUN_LEVEL_NODE, "node() node 1x3/4: 0-1,3");
    c = visit(&w, NULL, "127.0.0.14", HRUN_LEVEL_CORE, &err);
    if (ok(c != NULL, "%s", err.text)) {
        is_int(c->subs[0].pes[3].memory_bytes, 16000000000, "the memory that it tells is shared out");
        is_str(c->subs[0].pes[3].cpuset, "5", "its PU");
        is_str(c->subs[0].pes[3].core_pus, "5", "its PUs core by core");
    }
    hrun_cluster_destroy(c);
    for (size_t i = 0; i < sizeof w.v / sizeof w.v[0]; i++)
        free(w.v[i].text);
}

/* More cores in a PE than a byte counts. */
static void test_many_cores(void)
{
    char *text = exported("package:2 [numa(memory=8GB)] core:300 pu:1");
    struct network w = { .v = { { "127.0.0.11", text } } };

    is_visit(&w, "127.0.0.11", HRUN_LEVEL_NODE, "node() node 1x600/600: 0-599");
    is_visit(&w, "127.0.0.11", HRUN_LEVEL_PACKAGE, "package() package 2x300/300: 0-299 300-599");
    free(text);
}

/* Sub-clusters, their order and their names do not depend on the order of the hosts. */
static void test_order(void)
{
    char *small = exported("[numa(memory=8GB)] core:4 pu:2"), *large = exported("[numa(memory=16GB)] core:4 pu:2");
    char *unknown = exported("[numa] core:4 pu:2"), *narrow = exported("[numa(memory=8GB)] core:4 pu:1");
    char *other = changed(large, "cpu unknown", "cpu Xeon E5");
    struct network w = { .v = { { "127.0.0.11", small }, { "127.0.0.12", large }, { "127.0.0.13", unknown },
                                { "127.0.0.14", narrow }, { "127.0.0.15", other } } };
    static const char *const orders[] = {
        "127.0.0.[11-15]", "127.0.0.15,127.0.0.14,127.0.0.13,127.0.0.12,127.0.0.11",
        "127.0.0.13,127.0.0.11,127.0.0.15,127.0.0.12,127.0.0.14"
    };

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        is_visit(&w, orders[i], -1, "xeon-e5() node 1x4/8: 0-3; node-8t-16g() node 1x4/8: 0-3; "
                 "node-8t-8g() node 1x4/8: 0-3; node-8t-unknown() node 1x4/8: 0-3; node-4t() node 1x4/4: 0-3");
    free(small);
    free(large);
    free(unknown);
    free(narrow);
    free(other);
}

static void test_remote_errors(void)
{
    char *good = exported("[numa(memory=8GB)] core:4 pu:1");
    static const struct { const char *from, *to, *want; } bad[] = {
        { "<?xml", "", "host '127.0.0.11' answers 'version=" },
        { "</topology>", "", "host '127.0.0.11' answers '<?xml version=" },
        { "<topology", "<topology><topology", "host '127.0.0.11': " },
        { "usable 0-3", "usable x", "host '127.0.0.11' reports 'x', which is no list of usable PUs; install the same" },
        { "usable 0-3", "usable 0-9999999999", "host '127.0.0.11' reports '0-9999999999', which is no list" },
        { "usable 0-3", "usable 3-0", "host '127.0.0.11' reports '3-0', which is no list" },
        { "usable 0-3", "usable 77", "host '127.0.0.11' may use none of its cores" },
        { "usable 0-3", "usable", "host '127.0.0.11' answers '<?hrun' in place of its topology" },
        { "memory 8", "memory -8", "host '127.0.0.11' answers '<?hrun' in place" },
    };
    struct network w = { .v = { { "127.0.0.11", NULL }, { "127.0.0.12", good } } };
    struct hrun_error err;
    struct hrun_cluster *c;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        w.v[0].text = changed(good, bad[i].from, bad[i].to);
        if (!strncmp(bad[i].from, "<topology", 9))      /* else it is known by its key and not read */
            memcpy(strstr(w.v[0].text, "\ntopology ") + 1, "apology ", 8);
        c = visit(&w, NULL, "127.0.0.12,127.0.0.11", -1, &err);
        ok(!c, "a bad answer, '%s'", bad[i].to);
        has_str(err.text, bad[i].want, "its message");
        ok(!strcmp(err.file, "--host") && err.line == 1 && err.column == 12, "its place");
        hrun_cluster_destroy(c);
        free(w.v[0].text);
    }
    w.v[0].text = strdup("\033[1mhello\nworld");
    c = visit(&w, NULL, "127.0.0.11", -1, &err);
    has_str(err.text, "host '127.0.0.11' answers '\033[1mhello' in place of its topology; install the same hrun there, "
            "or describe", "the first line is told");
    hrun_cluster_destroy(c);
    free(w.v[0].text);
    w.v[0].text = strdup("");
    c = visit(&w, NULL, "127.0.0.11", -1, &err);
    has_str(err.text, "host '127.0.0.11' answers nothing", "no answer");
    hrun_cluster_destroy(c);

    w.fails = "127.0.0.12";
    ok(!visit(&w, NULL, "127.0.0.11,127.0.0.12", -1, &err), "a host that fails");
    is_str(err.text, "no answer from 127.0.0.12", "what was said of it");
    is_str(err.file, "", "not knowing which one");
    w.names_it = 1;
    ok(!visit(&w, NULL, "127.0.0.11,127.0.0.12", -1, &err) && err.column == 12, "knowing it, with its place");
    is_int(err.code, HRUN_EENGINE, "its code");
    free(w.v[0].text);
    free(good);
}

static void test_remote_file(void)
{
    static const char text[] =
        "subclusters:\n"
        "  - {name: mine, hosts: \"127.0.0.11,localhost\", memory: 4GiB}\n"
        "  - {name: told, hosts: \"127.0.0.[12-13]\", exclude: 127.0.0.13, level: core}\n"
        "  - {name: numbers, hosts: 127.0.0.14, cores: 2, memory: 1GiB}\n"
        "  - {name: drawn, hosts: 127.0.0.15, topology: \"[numa] core:2 pu:1\"}\n";
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir), *got;
    char *small = exported("[numa(memory=8GB)] core:4 pu:1");
    struct network w = { .v = { { "127.0.0.11", NULL }, { "127.0.0.12", small } } };
    struct hrun_cluster *c;

    hrun_file_replace(path, text, sizeof text - 1, 0600, &err);
    w.v[0].text = changed(small, "cpu unknown", "cpu Other Model");
    setenv("HWLOC_SYNTHETIC", "[numa(memory=8GB)] core:2 pu:1", 1);
    c = visit(&w, path, NULL, -1, &err);
    got = show(c);
    is_str(c ? got : err.text, "mine() node 1x4/4: 0-3; mine-2() node 1x2/2: 0-1; told() core 4x1/1: 0 1 2 3; "
           "numbers() node 1x2/2: 0-1; drawn() node 1x2/2: 0-1", "a cluster file");
    is_int(w.calls, 1, "one call");
    is_int(w.asked, 2, "only those that it does not describe");
    if (c) {
        is_str(c->subs[0].cpu_model, "Other Model", "CPU model as told");
        is_int(c->subs[0].memory_bytes, (int64_t)4 << 30, "memory of the file");
    }
    hrun_cluster_destroy(c);
    free(got);
    w.fails = "127.0.0.12";
    w.names_it = 1;
    ok(!visit(&w, path, NULL, -1, &err), "a host that fails");
    ok(!strcmp(err.file, path) && err.line == 3, "its place");
    unsetenv("HWLOC_SYNTHETIC");
    free(w.v[0].text);
    free(small);
    hrun_remove_tree(dir);
    free(path);
    free(dir);
}

/* A host tells what a discovery there finds: kinds of cores, memory, CPU model. */
static void test_round_trip(void)
{
    static const char *const files[] = { "made-2lpe8e6p.xml", "epyc-7451.xml", "knl-snc4.xml", "opteron-cgroup.xml",
                                         "xeon-offlines.xml", "lakefield.xml", "made-8p16e.xml" };
    const char *dir = getenv("HRUN_TEST_DATA");

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int level = HRUN_LEVEL_NODE; level <= HRUN_LEVEL_CORE; level++) {
            struct hrun_buf b = HRUN_BUF_INIT;
            struct network w = { .v = { { "127.0.0.11", NULL } } };
            struct hrun_cluster *here, *there;
            struct hrun_error err;
            char *path = hrun_strf("%s/topo/%s", dir ? dir : "tests/data", files[i]), *a, *z;
            int same = 1;

            setenv("HWLOC_XMLFILE", path, 1);
            here = discover(NULL, NULL, level, &err);
            hrun_cluster_export("4.1.4", NULL, &b, &err);
            unsetenv("HWLOC_XMLFILE");
            w.v[0].text = b.data;
            there = visit(&w, NULL, "127.0.0.11", level, &err);
            a = show(here);
            z = show(there);
            is_str(z, a, "%s, level %s", files[i], hrun_level_name((enum hrun_level)level));
            for (int s = 0; here && there && s < here->nsubs && s < there->nsubs; s++)
                for (int k = 0; k < here->subs[s].npes && k < there->subs[s].npes; k++) {
                    const struct hrun_pe *p = &here->subs[s].pes[k], *q = &there->subs[s].pes[k];
                    /* Division leaves a byte for each core or node. */
                    same = same && !strcmp(p->cpuset, q->cpuset) && p->npus == q->npus &&
                           p->memory_bytes - q->memory_bytes + 1024 <= 2048;
                }
            ok(same && !here == !there, "the same PUs and memory");
            hrun_cluster_destroy(here);
            hrun_cluster_destroy(there);
            hrun_buf_release(&b);
            free(path);
            free(a);
            free(z);
        }
}

static void test_slug(void)
{
    static const char *const models[][2] = {
        { "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", "xeon-e5-2680-v3" },
        { "Intel(R) Core(TM) i5-L16G7 CPU @ 1.40GHz", "core-i5-l16g7" },
        { "12th Gen Intel(R) Core(TM) i9-12900K", "12th-core-i9-12900k" },
        { "AMD EPYC 7763 64-Core Processor", "epyc-7763" },
        { "AMD Ryzen 9 7940HS w/ Radeon 780M Graphics", "ryzen-9-7940hs-w-radeon" },
        { "AMD Ryzen 5 2400G with Radeon Vega Graphics", "ryzen-5-2400g" },
        { "Intel(R) Xeon(TM) CPU 2.60GHz", "xeon" },
        { "Dual Core AMD Opteron(tm) Processor 865", "dual-core-opteron-865" },
        { "POWER7 (architected), altivec supported", "power7-altivec-supported" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaa" },
        { "../x/..", "x" }, { "---", "" }, { "", "" }, { "\xc3\xa9\xff", "" }, { "Intel", "" },
    };

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        hrun_add_slug(&b, models[i][0]);
        is_str(b.data, models[i][1], "slug of '%s'", models[i][0]);
        hrun_buf_release(&b);
    }
}

static void test_round_memory(void)
{
    static const uint64_t pairs[][2] = {
        { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 6 }, { 6, 6 }, { 7, 8 }, { 9, 8 }, { 10, 12 },
        { 16500000000, 17179869184 }, { 5194854400, 4294967296 }
    };
    uint64_t last = 0, r;
    int good = 1;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        is_int(hrun_round_memory(pairs[i][0]), pairs[i][1], "%llu", (unsigned long long)pairs[i][0]);
    for (uint64_t b = 1; b < 100000; b++) {
        r = hrun_round_memory(b);
        while (r && r % 2 == 0)
            r /= 2;
        good = good && (r == 1 || r == 3);                  /* two significant binary digits */
        r = hrun_round_memory(b);
        good = good && r >= last && 4 * r >= 3 * b && 5 * r <= 6 * b + 6;  /* monotonic and near */
        good = good && hrun_round_memory(r) == r;
        last = r;
    }
    ok(good, "two digits, monotonic, near, and stable");
}

static char *sign(const struct hrun_subcluster *s, const char *mpi, const char *engine)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_cluster_signature(s, mpi, engine, &b);
    return hrun_buf_detach(&b);
}

static void test_signature(void)
{
    struct hrun_subcluster s = { .name = (char *)"x", .cpu_model = (char *)"AMD EPYC 7763 64-Core Processor",
                                 .core_kind = (char *)"", .level = HRUN_LEVEL_L3, .cores_per_pe = 8,
                                 .pus_per_pe = 16, .memory_bytes = (uint64_t)31 << 30 };
    struct hrun_subcluster same = s, other[8];
    char *base = sign(&s, "ompi-4.1.4", "local"), *got;

    /* The hash was computed apart, by Python's zlib.crc32 on the fields joined by \x1f. */
    is_str(base, "epyc-7763-8c16t-32g-l3-ompi-4.1.4-local-447043d2", "a signature");
    ok(strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789.-") == strlen(base), "is a file name");

    same.name = (char *)"y";
    same.npes = 9;
    same.cost_per_hour = same.power_w = 3;
    same.memory_bytes = (uint64_t)33 << 30;
    got = sign(&same, "ompi-4.1.4", "local");
    is_str(got, base, "name, number, cost, power and some memory are not part of it");
    free(got);

    for (int i = 0; i < 8; i++)
        other[i] = s;
    other[0].cpu_model = (char *)"AMD EPYC 7763 32-Core Processor";     /* the same readable part */
    other[1].core_kind = (char *)"IntelCore";
    other[2].level = HRUN_LEVEL_NUMA;
    other[3].cores_per_pe = 4;
    other[4].pus_per_pe = 8;
    other[5].memory_bytes = (uint64_t)64 << 30;
    other[6].memory_bytes = 0;
    other[7].quota_permille = 300;
    for (int i = 0; i < 8; i++) {
        got = sign(&other[i], "ompi-4.1.4", "local");
        ok(strcmp(got, base) && strcmp(got + strlen(got) - 8, base + strlen(base) - 8), "%s differs", got);
        free(got);
    }
    got = sign(&s, "ompi-4.1.5", "local");
    ok(strcmp(got, base), "the MPI is part of it");
    free(got);
    got = sign(&s, "ompi-4.1.4", "mpirun");
    ok(strcmp(got, base), "the engine is part of it");
    free(got);
    s.cpu_model = (char *)"unknown";
    s.memory_bytes = 0;
    s.pus_per_pe = 8;
    got = sign(&s, NULL, NULL);
    ok(!strncmp(got, "unknown-8c-0b-l3-", 17) && strlen(got) == 25, "%s: hardly anything is known", got);
    free(got);
    free(base);
}

int main(void)
{
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    test_grouping();
    test_this_host();
    test_errors();
    test_remote();
    test_many_cores();
    test_order();
    test_remote_errors();
    test_remote_file();
    test_round_trip();
    test_slug();
    test_round_memory();
    test_signature();
    return tap_done();
}
