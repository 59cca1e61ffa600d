/* test_cluster.c - discovery without a cluster file: this host, host files, grouping, names, signatures */
#include "tap.h"

#include "base/file.h"
#include "cluster/private.h"

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
               "package() package 1x2/4: 0-1; package-2() package 1x1/2: 2");
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
    is_cluster(NULL, NULL, -1, "opteron-6134() core 4x1/1: 0 1 2 3; opteron-6134-2() core 2x1/1: 4 5");
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
    struct hrun_cluster_request both = { .host_file = "a", .hosts = "b", .level = -1 };
    struct hrun_cluster *c = NULL;
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/hosts", dir), *want;
    static const char text[] = "localhost\n\n 127.0.0.11 slots=2\n";

    is_int(hrun_cluster_discover(&both, &c, &err), -1, "two sources");
    ok(err.code == HRUN_EINVAL && !c, "its code; the output is untouched");
    is_str(err.text, "of a cluster file, a host file and a list of hosts only one can be given",
           "its message");

    hrun_file_replace(path, text, sizeof text - 1, 0600, &err);
    ok(!discover(path, NULL, -1, &err), "a remote host in a host file");
    ok(!strcmp(err.file, path) && err.line == 3 && err.column == 2, "its place");
    is_int(err.code, HRUN_EINVAL, "its code");
    is_str(err.text, "host '127.0.0.11' is not this host, and what it is made of is unknown here; describe "
           "it in a cluster file (see hrun-cluster(5)), for instance: subclusters: [{name: big, "
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
    struct hrun_subcluster same = s, other[7];
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

    for (int i = 0; i < 7; i++)
        other[i] = s;
    other[0].cpu_model = (char *)"AMD EPYC 7763 32-Core Processor";     /* the same readable part */
    other[1].core_kind = (char *)"IntelCore";
    other[2].level = HRUN_LEVEL_NUMA;
    other[3].cores_per_pe = 4;
    other[4].pus_per_pe = 8;
    other[5].memory_bytes = (uint64_t)64 << 30;
    other[6].memory_bytes = 0;
    for (int i = 0; i < 7; i++) {
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
    test_slug();
    test_round_memory();
    test_signature();
    return tap_done();
}
