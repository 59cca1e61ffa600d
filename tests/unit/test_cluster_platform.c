/* test_cluster_platform.c - what hrun-smpi prints of a platform file -> sub-clusters: grouping, order, names, choice of
 * hosts, and everything that can be wrong */
#include "tap.h"

#include "cluster/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The path has to exist, and is only named. */
#define PLATFORM "/dev/null"
#define LINK "1.25e8 5e-5"
#define MATE "1.25e8 1e-4"

/* Out of order and of two kinds; the loops come after the end, and one is missing. */
static const char two_kinds[] =
    "asking b-0\ta-0\n"
    "simgrid 3.32\n"
    "host 5.5e8 1 " LINK " 0 " MATE " slow-0\n"
    "host 5.5e8 1 " LINK " 0 " MATE " slow-1\n"
    "host 1.6e9 4 " LINK " 0 " MATE " fast-0.site\n"
    "asking fast-2\tfast-10\n"
    "host 1.6e9 4 " LINK " 0 " MATE " fast-2.site\n"
    "host 1.6e9 4 " LINK " 0 " MATE " fast-10.site\n"
    "end\n"
    "loop 0 1e10 0\nloop 1 1e10 0\nloop 99 1 1\nloop 4 x\nBacktrace\n";

static int give_text(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                     struct hrun_error *err)
{
    (void)path;
    (void)hosts;
    if (!ctx)
        return hrun_fail(err, HRUN_EENGINE, "no helper");
    hrun_buf_adds(text, ctx);
    return 0;
}

static struct hrun_cluster *find(struct hrun_cluster_request req, const char *text, struct hrun_error *err)
{
    struct hrun_cluster *c = NULL;

    req.platform = PLATFORM;
    req.read_platform = give_text;
    req.ctx = (void *)(uintptr_t)text;
    memset(err, 0, sizeof *err);
    return hrun_cluster_discover(&req, &c, err) ? NULL : c;
}

static const struct hrun_cluster_request any = { .level = -1 };

static void test_kinds(void)
{
    struct hrun_error err;
    struct hrun_cluster *c = find(any, two_kinds, &err);
    struct hrun_buf b = HRUN_BUF_INIT;

    ok(c, "two kinds of hosts: %s", err.text);
    if (!c)
        return;
    is_int(c->nsubs, 2, "make two sub-clusters");
    is_str(c->subs[0].name, "fast", "the fastest first, called by what their names begin with");
    is_str(c->subs[1].name, "slow", "then the slow ones");
    is_int(c->subs[0].npes, 3, "three PEs");
    is_int(c->subs[0].cores_per_pe, 4, "of four cores");
    is_int(c->subs[0].level, HRUN_LEVEL_NODE, "a PE is a node, also where there is one kind");
    is_num(c->subs[0].core_flops, 1.6e9, 0, "their speed");
    is_str(c->subs[0].cpu_model, "simulated 1.6 Gflop/s", "which stands for the CPU model");
    is_str(c->subs[0].network, "link 125 MB/s 50 us, between two hosts 125 MB/s 100 us", "their network");
    is_str(c->subs[1].network, "link 125 MB/s 50 us, loopback 10000 MB/s 0 us, between two hosts 125 MB/s 100 us",
           "with the route to themselves, where it is known");
    is_str(c->simgrid, "3.32", "SimGrid's version");
    is_str(c->platform, PLATFORM, "the platform");
    is_str(c->source, "platform " PLATFORM, "is the source");
    ok(!c->hosts[0].is_local && !c->hosts[0].topo, "no host is this one");
    hrun_subcluster_hosts(c, &c->subs[0], 0, 3, &b);
    is_str(b.data, "fast-[0,2,10].site", "their order is that of the lines");
    is_str(c->subs[0].pes[1].cores, "0-3", "cores of a PE");
    hrun_buf_release(&b);
    hrun_cluster_destroy(c);
}

static void test_cores(void)
{
    struct hrun_cluster_request req = { .level = HRUN_LEVEL_CORE, .hosts = "slow-1,fast-2.site:3" };
    struct hrun_error err;
    struct hrun_cluster *c = find(req, two_kinds, &err);

    ok(c, "level core, of two hosts: %s", err.text);
    if (!c)
        return;
    is_int(c->nhosts, 2, "only the hosts that are named");
    is_int(c->subs[0].npes, 3, "as many cores as their slots");
    is_int(c->subs[0].cores_per_pe, 1, "of one core each");
    is_str(c->subs[0].pes[2].cores, "2", "the third");
    is_int(c->subs[1].npes, 1, "all cores where no slots are given");
    hrun_cluster_destroy(c);
}

/* What else tells hosts apart, each time against "1e9 2 LINK 0 MATE". */
static void test_apart(void)
{
    static const struct { const char *host, *name; int nsubs; } cases[] = {
        { "1e9 2 " LINK " 0 " MATE, "nothing", 1 },
        { "1.0000001e9 2 " LINK " 0 " MATE, "speed", 2 },
        { "1e9 1 " LINK " 0 " MATE, "cores", 2 },
        { "1e9 2 1.25e7 5e-5 0 " MATE, "bandwidth of its link", 2 },
        { "1e9 2 1.25e8 6e-5 0 " MATE, "latency of its link", 2 },
        { "1e9 2 " LINK " 1 " MATE, "island", 2 },
        { "1e9 2 " LINK " 0 1 1", "the way to the next host of its kind: a matter of the whole sub-cluster", 1 },
    };
    struct hrun_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = hrun_strf("simgrid 3.32\nhost 1e9 2 " LINK " 0 " MATE " x0\nhost %s x1\nend\n", cases[i].host);
        struct hrun_cluster *c = find(any, text, &err);

        ok(c && c->nsubs == cases[i].nsubs, "hosts are told apart by: %s", cases[i].name);
        if (c && c->nsubs == 2)
            ok(strcmp(c->subs[0].name, c->subs[1].name), "and their names differ: %s, %s", c->subs[0].name,
               c->subs[1].name);
        hrun_cluster_destroy(c);
        free(text);
    }
}

static void signature(const char *host, struct hrun_buf *out)
{
    struct hrun_error err;
    char *text = hrun_strf("simgrid 3.32\nhost %s 7up\nhost %s y\nend\n", host, host);
    struct hrun_cluster *c = find(any, text, &err);

    hrun_buf_reset(out);
    if (c) {
        is_str(c->subs[0].name, "1gf", "hosts whose names have nothing in common are called by their speed");
        hrun_cluster_signature(&c->subs[0], "smpi-3.32", "smpi", out);
    }
    hrun_cluster_destroy(c);
    free(text);
}

static void test_signature(void)
{
    struct hrun_buf a = HRUN_BUF_INIT, b = HRUN_BUF_INIT;

    signature("1e9 2 " LINK " 0 " MATE, &a);
    has_str(a.data, "simulated-1-gflop-s-2c-0b-node-smpi-3.32-smpi-", "the signature says that it is simulated");
    signature("1e9 2 " LINK " 3 " MATE, &b);
    is_str(b.data, a.data, "where the hosts are is not part of it");
    signature("1e9 2 " LINK " 0 1.25e7 1e-4", &b);
    ok(strcmp(a.data, b.data), "the network between them is");
    signature("1e9 2 1.25e7 5e-5 0 " MATE, &b);
    ok(strcmp(a.data, b.data), "and so is their own link");
    hrun_buf_release(&a);
    hrun_buf_release(&b);
}

static void test_wrong(void)
{
    static const struct { const char *text; enum hrun_code code; int line; const char *want; } cases[] = {
        { NULL, HRUN_EENGINE, 0, "no helper" },
        { "", HRUN_EINVAL, 0, PLATFORM ": SimGrid cannot read this platform file" },
        { "simgrid 3.32\nend\n", HRUN_EINVAL, 0, PLATFORM ": the platform has no host" },
        { "host 1 1 1 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "cannot read" },
        { "Parse error at " PLATFORM ":17: cannot parse number:x\nExiting now.\n", HRUN_EPARSE, 17,
          "cannot parse number:x" },
        { "Parse error at " PLATFORM ":2: Invalid XML (XML input line 2, state 2): Bad declaration <!DOCTYPE p>.\n",
          HRUN_EPARSE, 2, "reads 4 and 4.1: convert it with 'simgrid_update_xml " PLATFORM "'" },
        { "Parse error at " PLATFORM ":3: ******* THIS FILE IS TOO OLD (v:3.0) *********\n",
          HRUN_EPARSE, 3, "of version 3 or less" },
        { "Parse error at " PLATFORM ":3: ******* THIS FILE COMES FROM THE FUTURE (v:5.0) *********\n",
          HRUN_EPARSE, 3, "of a newer version than 4.1" },
        { "Parse error at " PLATFORM ":2: Invalid XML (XML input line 2, state 2): Unexpected character `<' in prolog.\n",
          HRUN_EPARSE, 2, "must come before <platform>" },
        { "Parse error at " PLATFORM ":17: \n", HRUN_EINVAL, 0, "cannot read this platform file: Parse error" },
        { "Uncaught exception simgrid::AssertionError by maestro/0: Refusing a second NetZone called 'A'.\nBacktrace\n",
          HRUN_EINVAL, 0, "cannot read this platform file: Refusing a second NetZone called 'A'." },
        { "simgrid 3.32\nasking a\tb\nasking a b\tc\nSegmentation fault.\n", HRUN_EINVAL, 0,
          "no route from host 'a b' to host 'c'" },
        { "simgrid 3.32\nhost 1e9 2\nend\n", HRUN_EPARSE, 0, "is not understood: 1e9 2" },
        { "simgrid 3.32\nhost 1e9 2 1 1 0 1 1 \nend\n", HRUN_EPARSE, 0, "is not understood" },
        { "simgrid 3.32\nhost 0 2 1 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "host 'a' has a speed of 0 flop/s" },
        { "simgrid 3.32\nhost nan 2 1 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "host 'a' has a speed of" },
        { "simgrid 3.32\nhost 1e9 0 1 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "0 cores" },
        { "simgrid 3.32\nhost 1e9 99999999 1 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "99999999 cores" },
        { "simgrid 3.32\nhost 1e9 1 inf 1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "no finite bandwidth" },
        { "simgrid 3.32\nhost 1e9 1 1 -1 0 1 1 a\nend\n", HRUN_EINVAL, 0, "no finite bandwidth" },
    };
    struct hrun_cluster_request req = any;
    struct hrun_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ok(!find(any, cases[i].text, &err), "refused: %s", cases[i].want);
        is_int(err.code, cases[i].code, "with its code");
        is_int(err.line, cases[i].line, "and its line");
        has_str(err.text, cases[i].want, "and its words");
    }
    req.hosts = "fast-0.site,nosuch";
    ok(!find(req, two_kinds, &err), "a host that the platform has not got");
    has_str(err.text, "host 'nosuch' is not in the platform", "is named");
    is_int(err.column, 13, "with its place");
    req = any;
    req.level = HRUN_LEVEL_NUMA;
    ok(!find(req, two_kinds, &err), "level numa");
    has_str(err.text, "levels node and core", "is refused");
    req = any;
    req.cluster_file = "c.yaml";
    ok(!find(req, two_kinds, &err), "a cluster file beside the platform");
    has_str(err.text, "cannot be given together", "is refused");
}

/* What SimGrid has no words for. */
static void test_properties(void)
{
    static const char told[] =
        "simgrid 3.32\n"
        "host 1.6e9 4 " LINK " 0 " MATE " fast-0\n"
        "host 1.6e9 4 " LINK " 0 " MATE " fast-1\n"
        "host 1.6e9 4 " LINK " 0 " MATE " large-0\n"
        "property 0 memory_bytes 8e9\nproperty 0 cost_per_hour 2\nproperty 0 power_w 200\nproperty 0 colour red\n"
        "property 1 memory_bytes 8e9\nproperty 7 power_w 1\nproperty 2 memory_bytes 32000000000\n"
        "end\nproperty 1 power_w x\n";
    struct hrun_cluster_request cores = { .level = HRUN_LEVEL_CORE };
    struct hrun_error err;
    struct hrun_cluster *c = find(any, told, &err);

    ok(c && c->nsubs == 2, "another memory makes another sub-cluster: %s", err.text);
    if (!c || c->nsubs != 2)
        return;
    ok(c->subs[0].memory_bytes == 32000000000u && c->subs[1].memory_bytes == 8000000000u, "the larger stands first");
    ok(c->subs[1].cost_per_hour == 2 && c->subs[1].power_w == 200 && c->subs[0].power_w == 0, "cost and power of a PE");
    hrun_cluster_destroy(c);
    c = find(cores, told, &err);
    ok(c && c->subs[1].memory_bytes == 2000000000u && c->subs[1].cost_per_hour == 0.5 && c->subs[1].power_w == 50,
       "a core has its part of them");
    hrun_cluster_destroy(c);
    c = find(any, "simgrid 3.32\nhost 1e9 1 0 0 0 0 0 a\nproperty 0 power_w much\nend\n", &err);
    ok(!c && err.code == HRUN_EINVAL, "no number");
    has_str(err.text, "property power_w of host 'a' is 'much': it must be a number above 0", "is told");
}

int main(void)
{
    test_properties();
    test_kinds();
    test_cores();
    test_apart();
    test_signature();
    test_wrong();
    return tap_done();
}
