/* test_cluster_file.c - cluster files: each case of tests/data/cluster, mistakes with their places, and what
 * a file may say of the host we run on
 */
#include "fixture.h"

#include "base/config.h"
#include "base/file.h"
#include "cluster/cluster.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static char *data_path(const char *name)
{
    const char *dir = getenv("HRUN_TEST_DATA");

    return hrun_strf("%s/cluster/%s", dir ? dir : "tests/data", name);
}

static struct hrun_cluster *load(const char *path, int level, struct hrun_error *err)
{
    struct hrun_cluster_request req = { .cluster_file = path, .level = level };
    struct hrun_cluster *c = NULL;

    return hrun_cluster_discover(&req, &c, err) ? NULL : c;
}

/* Prices of a file whose hosts nobody could ask. */
static void test_prices(void)
{
    static const char text[] = "subclusters:\n  - {name: old, hosts: 'no[1-4]', cost_per_hour: 0.5}\n"
                               "  - {name: old-p, hosts: 'none[1-4]', power_w: 80, cost_per_hour: 2}\n"
                               "  - {hosts: 'nowhere', cost_per_hour: 7}\n";
    static const struct { const char *name; int told; double cost, power; } cases[] = {
        { "old", 1, 0.5, 0 }, { "old-intelcore", 1, 0.5, 0 }, { "old-p", 1, 2, 80 }, { "old-p-2c", 1, 2, 80 },
        { "older", 0, 0, 0 }, { "nowhere", 0, 0, 0 }, { "", 0, 0, 0 },
    };
    char *dir = temp_dir(), *path = hrun_strf("%s/prices.yaml", dir);
    struct hrun_error err = { 0 };
    double cost, power;

    write_text(path, text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(hrun_clusterfile_price(path, cases[i].name, &cost, &power, &err) == cases[i].told &&
           cost == cases[i].cost && power == cases[i].power, "price and power of '%s'", cases[i].name);
    hrun_file_replace(path, "nonsense: 1\n", 12, 0600, &err);
    ok(hrun_clusterfile_price(path, "old", &cost, &power, &err) == -1 && err.line == 1, "a mistake in the file");
    free(path);
    free(dir);
}

/* A configuration has room for HRUN_SUBS_MAX sub-clusters. */
static void test_most_subs(void)
{
    char *dir = temp_dir(), *path = hrun_strf("%s/many.yaml", dir);

    for (int n = HRUN_SUBS_MAX; n <= HRUN_SUBS_MAX + 1; n++) {
        struct hrun_buf text = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        struct hrun_cluster *c;

        hrun_buf_adds(&text, "subclusters:\n");
        for (int i = 0; i < n; i++)
            hrun_buf_addf(&text, "  - {name: s%d, hosts: 127.0.1.%d, cores: 2, memory: %dGiB, cpu: CPU %d}\n", i, i + 1,
                          i + 1, i);
        write_text(path, text.data);
        c = load(path, HRUN_LEVEL_NODE, &err);
        if (n == HRUN_SUBS_MAX)
            ok(c && c->nsubs == n, "%d sub-clusters: %s", n, err.text);
        else
            ok(!c && err.code == HRUN_EINVAL && strstr(err.text, "65 kinds of PEs, and hrun handles 64"),
               "one more is refused: %s", err.text);
        hrun_cluster_destroy(c);
        hrun_buf_release(&text);
    }
    free(path);
    free(dir);
}

static void render(const struct hrun_cluster *c, struct hrun_buf *out)
{
    const struct hrun_subcluster *s;
    const struct hrun_pe *p;

    for (int i = 0; i < c->nsubs; i++) {
        s = &c->subs[i];
        hrun_buf_addf(out, "%s: '%s' '%s' %s, %d cores, %d PUs, %llu bytes, cost %g, power %g, %d PEs on ",
                      s->name, s->cpu_model, s->core_kind, hrun_level_name(s->level), s->cores_per_pe,
                      s->pus_per_pe, (unsigned long long)s->memory_bytes, s->cost_per_hour, s->power_w,
                      s->npes);
        hrun_subcluster_hosts(c, s, 0, s->npes, out);
        hrun_buf_adds(out, "\n");
        for (int k = 0; k < s->npes; k++) {
            p = &s->pes[k];
            hrun_buf_addf(out, "  %s %d: cores %s, PUs '%s', %d cores, %d PUs, %llu bytes\n",
                          c->hosts[p->host].name, p->index, p->cores, p->cpuset, p->ncores, p->npus,
                          (unsigned long long)p->memory_bytes);
        }
    }
}

/* What cluster.h promises of every cluster; NULL, or the promise that is broken. */
static const char *broken(const struct hrun_cluster *c)
{
    if (c->nsubs < 1 || c->nhosts < 1)
        return "there is something";
    for (int i = 0; i < c->nhosts; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(c->hosts[i].name, c->hosts[k].name) || (c->hosts[i].is_local && c->hosts[k].is_local))
                return "no host is listed twice";
    for (int i = 0; i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];
        if (s->npes < 1)
            return "no sub-cluster is empty";
        for (int k = 0; k < i; k++)
            if (!strcmp(s->name, c->subs[k].name))
                return "names are unique";
        for (int k = 0; k < s->npes; k++) {
            if (s->pes[k].ncores != s->cores_per_pe ||
                (s->pes[k].cpuset[0] && s->pes[k].npus != s->pus_per_pe))
                return "PEs of a sub-cluster are equivalent";
            if (s->pes[k].memory_bytes && s->pes[k].memory_bytes < s->memory_bytes)
                return "memory is that of the smallest PE";
            if (k && (s->pes[k].host < s->pes[k - 1].host ||
                      (s->pes[k].host == s->pes[k - 1].host && s->pes[k].index <= s->pes[k - 1].index)))
                return "PEs are ordered by host and number";
            if (s->pes[k].host < 0 || s->pes[k].host >= c->nhosts)
                return "hosts exist";
        }
    }
    return NULL;
}

static int ends_yaml(const struct dirent *e)
{
    size_t len = strlen(e->d_name);

    return len > 5 && !strcmp(e->d_name + len - 5, ".yaml");
}

static void test_cases(void)
{
    struct dirent **list = NULL;
    char *dir = data_path("");
    int n = scandir(dir, &list, ends_yaml, alphasort);

    ok(n >= 4, "%d cases in %s", n, dir);
    for (int i = 0; i < n; i++) {
        struct hrun_buf got = HRUN_BUF_INIT, want = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        char *file = list[i]->d_name, *path = data_path(file);
        char *name = hrun_strf("%.*s.expected", (int)strlen(file) - 5, file), *expected = data_path(name);
        struct hrun_cluster *c = load(path, -1, &err);
        const char *bad = c ? broken(c) : "it loads";

        ok(!bad, "%s: invariants%s%s %s", file, bad ? ": " : "", bad ? bad : "", err.text);
        if (c)
            render(c, &got);
        if (hrun_file_read(expected, 1 << 20, &want, &err))
            hrun_buf_adds(&want, "(no file)");
        if (!ok(!strcmp(got.data, want.data), "%s: as in %s", file, name))
            printf("# got:\n%s# end\n", got.data);
        hrun_cluster_destroy(c);
        hrun_buf_release(&got);
        hrun_buf_release(&want);
        free(path);
        free(name);
        free(expected);
        free(list[i]);
    }
    free(list);
    free(dir);
}

/* "LINE:COLUMN text" of each mistake; "..." at the end stands for words of lib/base. */
static const struct {
    const char *text, *want;
} mistakes[] = {
    { "subclusters:\n  - hosts: 127.0.0.11\n",
      "2:5 the hardware of host '127.0.0.11' is unknown; add 'cores: 16' and 'memory: 64GiB', or "
      "'topology: FILE.xml'" },
    { "subclusters:\n  - hosts: no-such-host.invalid\n    cores: 1\n",
      "2:12 unknown host 'no-such-host.invalid': ..." },
    { "subclusters:\n  - hosts: \"127.0.0.[11-\"\n    cores: 1\n", "2:25 host list '127.0.0.[11-': ..." },
    { "subclusters:\n  - hosts: 127.0.0.11,127.0.0.12,127.0.0.11\n    cores: 1\n",
      "2:12 host '127.0.0.11' is listed twice in this sub-cluster" },
    { "subclusters:\n  - {name: a, hosts: 127.0.0.11, cores: 1}\n  - {hosts: 127.0.0.11, cores: 1}\n",
      "3:13 host '127.0.0.11' stands already in sub-cluster 'a'; a host can be in two sub-clusters only by "
      "its core kinds, each with its own 'kind'" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 1, kind: x}\n  - {hosts: 127.0.0.11, cores: 1}\n",
      "3:13 host '127.0.0.11' stands already in sub-cluster 1; a host..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 1, kind: x}\n"
      "  - {hosts: 127.0.0.11, cores: 1, kind: x}\n",
      "3:13 host '127.0.0.11' stands already in sub-cluster 1; a host..." },
    { "subclusters:\n  - {name: a, hosts: 127.0.0.11, cores: 1}\n"
      "  - {name: a, hosts: 127.0.0.12, cores: 1}\n",
      "3:12 two sub-clusters have the name 'a'" },
    { "subclusters:\n  - {name: a b, hosts: 127.0.0.11, cores: 1}\n",
      "2:13 the name 'a b' may hold letters, digits, '.', '_' and '-' only" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 0}\n", "2:32 a host has 1 to 65536 cores, found 0" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2000000000}\n",
      "2:32 a host has 1 to 65536 cores, found 2000000000" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: many}\n", "2:32 ..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, memory: much}\n", "2:43 memory..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, memory: 0GiB}\n",
      "2:43 a host has some memory, found 0GiB" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, power_w: -1}\n",
      "2:44 a power cannot be negative, found -1" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, cost_per_hour: -0.5}\n",
      "2:50 a cost cannot be negative, found -0.5" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, cost_per_hour: .nan}\n", "2:50 ..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 2, level: l3}\n",
      "2:42 level 'l3' of host '127.0.0.11' needs its topology; add 'topology: FILE.xml' or take level node "
      "or core" },
    { "level: socket\nsubclusters:\n  - {hosts: 127.0.0.11, cores: 2}\n", "1:8 ..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: \"package:2 [numa] core:2 pu:1\", level: l3}\n",
      "2:74 host '127.0.0.11': this machine has no level 'l3'; it has node, package, numa, core" },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: \"[numa] core:2 pu:1\", cores: 3}\n",
      "2:64 host '127.0.0.11' is described with 3 cores, it has 2 that can be used" },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: \"[numa] core:2 pu:1\", kind: IntelAtom}\n",
      "2:63 host '127.0.0.11' has no core kind 'IntelAtom': all its cores are alike, so leave 'kind' out" },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: foo}\n",
      "2:35 'foo' is no synthetic hwloc topology; for exam..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: missing.xml}\n", "2:35 ..." },
    { "subclusters:\n  - {hosts: 127.0.0.11, topology: \"[numa] core:2 pu:1\", kind: a}\n", "2:63 host..." },
    { "exclude: 127.0.0.1[12]\nsubclusters:\n  - {hosts: 127.0.0.11, cores: 1}\n",
      "1:10 host '127.0.0.112' is excluded, but no sub-cluster lists it; is it misspelt?" },
    { "subclusters:\n  - {hosts: 127.0.0.11, cores: 1, exclude: x}\n",
      "2:44 host 'x' is excluded, but no sub-cluster lists it; is it misspelt?" },
    { "exclude: 127.0.0.11\nsubclusters:\n  - {hosts: 127.0.0.11, cores: 1}\n",
      "3:3 no host is left: all of them are excluded" },
    { "subclusters:\n  - {hosts: 127.0.0.11, core: 1}\n", "2:25 unknown key 'core'..." },
    { "subclusters:\n  - {cores: 1}\n", "2:5 ..." },
    { "subclusters: []\n", "1:14 ..." },
    { "level: core\n", "1:1 ..." },
    { "", "..." },
};

static void test_mistakes(void)
{
    struct hrun_error err = { 0 };
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir), *got;

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *want = mistakes[i].want;
        size_t len = strlen(want);
        int open = len >= 3 && !strcmp(want + len - 3, "...");
        struct hrun_cluster *c;

        hrun_file_replace(path, mistakes[i].text, strlen(mistakes[i].text), 0600, &err);
        c = load(path, -1, &err);
        got = hrun_strf("%d:%d %s", err.line, err.column, err.text);
        if (!ok(!c && !strcmp(err.file, path) && (open ? !strncmp(got, want, len - 3) : !strcmp(got, want)),
                "mistake %zu", i))
            printf("#   got  '%s'\n#   want '%s'\n", c ? "(no error)" : got, want);
        hrun_cluster_destroy(c);
        free(got);
    }
    ok(!load("/no/such.yaml", -1, &err) && err.code == HRUN_ENOENT, "no such file");
    hrun_remove_tree(dir);
    free(path);
    free(dir);
}

/* A level of the command line goes before those of the file; hosts of a sub-cluster fold. */
static void test_request(void)
{
    struct hrun_error err = { 0 };
    struct hrun_buf b = HRUN_BUF_INIT;
    char *path = data_path("numbers.yaml");
    struct hrun_cluster *c = load(path, HRUN_LEVEL_CORE, &err);
    char *source = hrun_strf("cluster file %s", path);

    ok(c && c->nsubs == 2 && c->subs[1].level == HRUN_LEVEL_CORE && c->subs[1].npes == 12 &&
       c->subs[1].cores_per_pe == 1, "level core for all %s", err.text);
    if (c) {
        is_str(c->source, source, "source");
        is_str(c->subs[1].pes[5].cores, "1", "second core of the second host");
        hrun_subcluster_hosts(c, &c->subs[1], 3, 6, &b);
        is_str(b.data, "127.0.0.[21-22,30]", "hosts of PEs 3 to 8");
        hrun_buf_reset(&b);
        hrun_subcluster_hosts(c, &c->subs[1], 4, 1000, &b);
        is_str(b.data, "127.0.0.[22,30]", "hosts of PEs 4 and on");
    }
    hrun_cluster_destroy(c);
    ok(!load(path, HRUN_LEVEL_NUMA, &err), "level numa by numbers");
    ok(err.line == 3 && !strcmp(err.file, path), "its place");
    has_str(err.text, "level 'numa' of host '127.0.0.11' needs its topology", "its message");
    hrun_buf_release(&b);
    free(source);
    free(path);
}

/* Entries that are equal in all numbers have profiles of their own, unless the file says that they are of one CPU. */
static void test_equal_numbers(void)
{
#define HOST "hosts: 127.0.0.1%d, cores: 4, memory: 8GiB"
    static const struct { const char *entries[2], *model, *other; } cases[] = {
        { { "name: fast, " HOST, "name: slow, " HOST }, "fast (unknown)", "slow (unknown)" },
        { { HOST, HOST }, "unknown", "node-2 (unknown)" },
        { { "name: fast, cpu: Same 1, " HOST, "name: slow, cpu: Same 1, " HOST }, "Same 1", "Same 1" },
        { { "name: old, cpu: unknown, " HOST, "name: slow, " HOST }, "unknown", "slow (unknown)" },
        { { "name: fast, hosts: 127.0.0.1%d, topology: 'core:4 pu:1'",
            "name: slow, hosts: 127.0.0.1%d, topology: 'core:4 pu:1'" }, "fast (unknown)", "slow (unknown)" },
    };
#undef HOST
    struct hrun_error err = { 0 };
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_buf text = HRUN_BUF_INIT, names[2] = { HRUN_BUF_INIT, HRUN_BUF_INIT };
        struct hrun_cluster *c;

        hrun_buf_adds(&text, "subclusters:\n");
        for (int e = 0; e < 2; e++) {
            hrun_buf_adds(&text, "  - {");
            hrun_buf_addf(&text, cases[i].entries[e], e + 1);
            hrun_buf_adds(&text, "}\n");
        }
        hrun_file_replace(path, text.data, text.len, 0600, &err);
        c = load(path, HRUN_LEVEL_NODE, &err);
        if (ok(c && c->nsubs == 2, "equal numbers %zu: two sub-clusters (%s)", i, err.text)) {
            for (int s = 0; s < 2; s++)
                hrun_cluster_signature(&c->subs[s], "ompi", "mpirun", &names[s]);
            is_str(c->subs[0].cpu_model, cases[i].model, "equal numbers %zu: the CPU of the first", i);
            is_str(c->subs[1].cpu_model, cases[i].other, "equal numbers %zu: and of the second", i);
            ok(!strcmp(names[0].data, names[1].data) == !strcmp(cases[i].model, cases[i].other),
               "equal numbers %zu: signatures %s and %s", i, names[0].data, names[1].data);
        }
        hrun_cluster_destroy(c);
        hrun_buf_release(&text);
        hrun_buf_release(&names[0]);
        hrun_buf_release(&names[1]);
    }
    hrun_remove_tree(dir);
    free(path);
    free(dir);
}

/* The host we run on, made by HWLOC_SYNTHETIC, with what cluster files say of it. */
static void test_local(void)
{
    static const struct {
        const char *text;
        int level;
        const char *want;       /* the error, or the sub-clusters */
    } cases[] = {
        { "subclusters: [{name: me, hosts: localhost}]", -1,
          "me: 'me (unknown)' '' core, 1 cores, 2 PUs, 2000000000 bytes, cost 0, power 0, 4 PEs on localhost\n" },
        { "subclusters: [{name: me, hosts: localhost, cores: 3, memory: 3000000000, cpu: Mine}]",
          HRUN_LEVEL_NODE,
          "me: 'Mine' '' node, 3 cores, 6 PUs, 3000000000 bytes, cost 0, power 0, 1 PEs on localhost\n" },
        { "subclusters: [{name: me, hosts: localhost, cores: 3, memory: 60GiB}]", HRUN_LEVEL_NODE,
          "me: 'me (unknown)' '' node, 3 cores, 6 PUs, 6000000000 bytes, cost 0, power 0, 1 PEs on localhost\n" },
        { "subclusters: [{name: me, hosts: localhost, cores: 5}]", -1,
          "host 'localhost' is described with 5 cores, it has 4 that can be used" },
        { "subclusters: [{name: me, hosts: localhost, topology: \"[numa] core:5 pu:1\"}]", -1,
          "host 'localhost' is described with 5 cores, it has 4 that can be used" },
        { "subclusters: [{name: me, hosts: localhost, topology: \"[numa] core:2 pu:1\"}]", -1,
          "me: 'me (unknown)' '' core, 1 cores, 2 PUs, 2000000000 bytes, cost 0, power 0, 2 PEs on localhost\n" },
        { "subclusters: [{name: me, hosts: \"localhost,127.0.0.1\"}]", -1,
          "host '127.0.0.1' is listed twice in this sub-cluster (it is the same machine as 'localhost')" },
        { "subclusters: [{name: me, hosts: localhost, kind: x}]", -1,
          "host 'localhost' has no core kind 'x': all its cores are alike, so leave 'kind' out" },
        /* Together with a host of the same make that is described by numbers. */
        { "subclusters: [{name: two, hosts: \"127.0.0.11,localhost\", cores: 4, memory: 4000000000}]", -1,
          "two: 'two (unknown)' '' node, 4 cores, 8 PUs, 4000000000 bytes, cost 0, power 0, 2 PEs on "
          "127.0.0.11,localhost\n" },
    };
    struct hrun_error err = { 0 };
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir), *line;

    setenv("HWLOC_SYNTHETIC", "[numa(memory=8GB)] core:4 pu:2", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_buf got = HRUN_BUF_INIT;
        struct hrun_cluster *c;

        hrun_file_replace(path, cases[i].text, strlen(cases[i].text), 0600, &err);
        c = load(path, cases[i].level, &err);
        if (c) {
            render(c, &got);
            line = strchr(got.data, '\n');
            if (line)
                line[1] = 0;
            ok(!broken(c), "local %zu: invariants", i);
            ok(c->hosts[c->nhosts - 1].is_local && c->hosts[c->nhosts - 1].topo, "local %zu: is here", i);
        }
        is_str(c ? got.data : err.text, cases[i].want, "local %zu", i);
        hrun_buf_release(&got);
        hrun_cluster_destroy(c);
    }
    unsetenv("HWLOC_SYNTHETIC");
    hrun_remove_tree(dir);
    free(path);
    free(dir);
}

/* ledger: as it stands, or relative to the file's folder; also without loading all. */
static void test_ledger(void)
{
    static const struct { const char *said, *want; } cases[] = {
        { "ledger: /shared/hrun", "/shared/hrun" }, { "ledger: in-use", "%s/in-use" }, { "ledger: none", "none" },
        { "", NULL },
    };
    struct hrun_error err = { 0 };
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = hrun_strf("%s\nsubclusters:\n  - {hosts: 127.0.0.11, cores: 1}\n", cases[i].said), *got = NULL;
        char *want = !cases[i].want ? NULL : i == 1 ? hrun_strf("%s/in-use", dir) : strdup(cases[i].want);
        struct hrun_cluster *c;
        struct hrun_buf name = HRUN_BUF_INIT;

        hrun_file_replace(path, text, strlen(text), 0600, &err);
        c = load(path, -1, &err);
        ok(c && !hrun_clusterfile_ledger(path, &got, &err), "'%s'", cases[i].said);
        if (want) {
            is_str(got, want, "is found alone");
            is_str(c ? c->ledger : NULL, want, "and with the cluster");
        } else {
            ok(!got && c && !c->ledger, "is none");
        }
        if (c)
            hrun_host_own_name(&c->hosts[0], &name);
        is_str(name.data, "127.0.0.11", "one host of tests is not another");
        hrun_buf_release(&name);
        hrun_cluster_destroy(c);
        free(got);
        free(want);
        free(text);
    }
    ok(hrun_clusterfile_ledger("/nowhere", &path, &err) == -1 && err.code == HRUN_ENOENT, "no such file");
    hrun_remove_tree(dir);
    free(path);
    free(dir);
}

int main(void)
{
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    test_cases();
    test_mistakes();
    test_request();
    test_equal_numbers();
    test_local();
    test_ledger();
    test_prices();
    test_most_subs();
    return tap_done();
}
