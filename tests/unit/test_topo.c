/* test_topo.c - lib/cluster: PEs of captured and made machines, levels, bad sources
 *
 * Each machine is data: tests/data/topo/NAME.xml with NAME.expected, the PEs at every level. A new machine
 * means two new files.
 */
#include "tap.h"

#include "base/file.h"
#include "cluster/topo.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

static char *data_path(const char *name)
{
    const char *dir = getenv("HRUN_TEST_DATA");

    return hrun_strf("%s/topo/%s", dir ? dir : "tests/data", name);
}

/* Set the bits of "0-3,8" in map[size]; the number of bits, or -1 when one is set already or out of range. */
static int spread(const char *list, char *map, int size)
{
    int n = 0;
    long a, b;
    char *end;

    while (*list) {
        a = b = strtol(list, &end, 10);
        if (end == list)
            return -1;
        if (*end == '-')
            b = strtol(end + 1, &end, 10);
        for (long i = a; i <= b; i++, n++) {
            if (i < 0 || i >= size || map[i])
                return -1;
            map[i] = 1;
        }
        list = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return -1;
    }
    return n;
}

enum { MAP = 4096 };

/* Kind of every core by logical number, from the core level; -1 where there is none. */
static void core_kinds(const struct hrun_topo *t, int *kind)
{
    struct hrun_topo_pe *pes;
    int n;

    for (int i = 0; i < MAP; i++)
        kind[i] = -1;
    if (hrun_topo_pes(t, HRUN_LEVEL_CORE, 0, &pes, &n, NULL))
        return;
    for (int i = 0; i < n; i++)
        kind[atoi(pes[i].cores)] = pes[i].kind;
    hrun_topo_pes_free(pes, n);
}

/* Is core_pus a list of the PUs of each core, and of no other? */
static int core_by_core(const struct hrun_topo_pe *pe)
{
    char all[MAP] = { 0 }, mine[MAP] = { 0 }, *copy = strdup(pe->core_pus), *next = copy, *one;
    int ncores = 0, npus = 0;

    spread(pe->cpuset, all, MAP);
    while ((one = strsep(&next, ";"))) {
        int n = spread(one, mine, MAP);

        ncores += n > 0;
        npus += n;
    }
    free(copy);
    return ncores == pe->ncores && npus == pe->npus && !memcmp(all, mine, MAP);
}

/* What topo.h promises of the PEs of one level; NULL, or the promise that is broken. */
static const char *broken(const struct hrun_topo *t, const int *kind, const struct hrun_topo_pe *pes, int n,
                          int want_cores)
{
    char cores[MAP] = { 0 }, pus[MAP] = { 0 };
    int ncores = 0, here, first, last_kind = 0, last_first = -1;

    if (n < 1)
        return "at least one PE";
    for (int i = 0; i < n; i++) {
        char mine[MAP] = { 0 };
        here = spread(pes[i].cores, cores, MAP);
        if (here < 1 || here != pes[i].ncores)
            return "cores do not overlap and are counted";
        if (spread(pes[i].cpuset, pus, MAP) != pes[i].npus || pes[i].npus < here)
            return "PUs do not overlap and are counted";
        if (!core_by_core(&pes[i]))
            return "core_pus tells the PUs of the PE core by core";
        spread(pes[i].cores, mine, MAP);
        for (int c = 0; c < MAP; c++)
            if (mine[c] && kind[c] != pes[i].kind)
                return "one kind in a PE";
        first = atoi(pes[i].cores);
        if (pes[i].kind < last_kind || pes[i].kind >= hrun_topo_nkinds(t))
            return "fastest kind first";
        if (pes[i].kind == last_kind && first <= last_first)
            return "by position within a kind";
        last_kind = pes[i].kind;
        last_first = first;
        ncores += here;
    }
    return ncores == want_cores ? NULL : "every usable core is in a PE";
}

static void render(const struct hrun_topo *t, struct hrun_buf *out)
{
    struct hrun_topo_pe *pes;
    struct hrun_error err;
    int n;

    hrun_buf_addf(out, "model %s\n", hrun_topo_cpu_model(t));
    for (int k = 0; k < hrun_topo_nkinds(t); k++)
        hrun_buf_addf(out, "kind '%s' %d cores\n", hrun_topo_kind_name(t, k), hrun_topo_ncores(t, k));
    for (int l = HRUN_LEVEL_NODE; l <= HRUN_LEVEL_CORE; l++) {
        hrun_buf_addf(out, "%s\n", hrun_level_name((enum hrun_level)l));
        if (hrun_topo_pes(t, (enum hrun_level)l, 0, &pes, &n, &err)) {
            hrun_buf_addf(out, "  %s\n", err.text);
            continue;
        }
        for (int i = 0; i < n; i++)
            hrun_buf_addf(out, "  %d: kind %d, %d cores %s, %d PUs %s, %llu bytes\n", i, pes[i].kind,
                          pes[i].ncores, pes[i].cores, pes[i].npus, pes[i].cpuset,
                          (unsigned long long)pes[i].memory_bytes);
        hrun_topo_pes_free(pes, n);
    }
}

static void check_invariants(const struct hrun_topo *t, const char *name)
{
    static int kind[MAP];
    struct hrun_topo_pe *pes;
    const char *bad = NULL;
    uint64_t whole = 0, sum;
    int n, total = hrun_topo_ncores(t, -1), slots[] = { 0, 1, 2, 3, 7, 1000000 };

    core_kinds(t, kind);
    for (int l = HRUN_LEVEL_NODE; l <= HRUN_LEVEL_CORE && !bad; l++) {
        for (size_t s = 0; s < sizeof slots / sizeof slots[0] && !bad; s++) {
            if (hrun_topo_pes(t, (enum hrun_level)l, slots[s], &pes, &n, NULL))
                continue;
            bad = broken(t, kind, pes, n, slots[s] && slots[s] < total ? slots[s] : total);
            sum = 0;
            for (int i = 0; i < n; i++)
                sum += pes[i].memory_bytes;
            if (l == HRUN_LEVEL_NODE && s == 0)
                whole = sum;
            /* Shares are rounded down: at most one byte less per PE and memory node. */
            if (slots[s] == 0 && !bad && (sum > whole + 64 || sum + (uint64_t)n * 64 < whole))
                bad = "shares of memory sum up to the whole";
            hrun_topo_pes_free(pes, n);
        }
    }
    ok(!bad, "%s: invariants at every level%s%s", name, bad ? ": " : "", bad ? bad : "");
}

static void test_machine(const char *file)
{
    struct hrun_buf got = HRUN_BUF_INIT, want = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    char *path = data_path(file), *expected;
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_XML_FILE, path, &err);

    free(path);
    if (!ok(t != NULL, "%s loads%s%s", file, t ? "" : ": ", err.text))
        return;
    check_invariants(t, file);
    ok(!hrun_topo_is_this_system(t), "%s: not this system", file);
    render(t, &got);
    expected = hrun_strf("%.*s.expected", (int)strlen(file) - 4, file);
    path = data_path(expected);
    if (hrun_file_read(path, 1 << 20, &want, &err))
        hrun_buf_adds(&want, "(no file)");
    if (!ok(!strcmp(got.data, want.data), "%s: PEs as in %s", file, expected))
        printf("# got:\n%s# end\n", got.data);
    free(expected);
    free(path);
    hrun_buf_release(&got);
    hrun_buf_release(&want);
    hrun_topo_destroy(t);
}

static int ends_xml(const struct dirent *e)
{
    size_t len = strlen(e->d_name);

    return len > 4 && !strcmp(e->d_name + len - 4, ".xml");
}

static void test_machines(void)
{
    struct dirent **list = NULL;
    char *dir = data_path("");
    int n = scandir(dir, &list, ends_xml, alphasort);

    ok(n >= 10, "%d machines in %s", n, dir);
    for (int i = 0; i < n; i++) {
        test_machine(list[i]->d_name);
        free(list[i]);
    }
    free(list);
    free(dir);
}

/* Brute force: on regular machines every figure is known beforehand. */
static void test_synthetic(void)
{
    static const struct {
        int packages, numas, l3s, cores, pus;
    } shape[] = {
        { 1, 1, 1, 1, 1 }, { 1, 1, 1, 4, 2 }, { 2, 1, 2, 3, 1 }, { 2, 2, 2, 2, 2 }, { 3, 2, 1, 5, 4 }
    };
    struct hrun_topo_pe *pes;
    struct hrun_error err;

    for (size_t s = 0; s < sizeof shape / sizeof shape[0]; s++) {
        int count[] = { 1, shape[s].packages, shape[s].packages * shape[s].numas,
                        shape[s].packages * shape[s].numas * shape[s].l3s, 0 };
        char *text = hrun_strf("package:%d group:%d [numa(memory=6GB)] l3:%d core:%d pu:%d",
                               shape[s].packages, shape[s].numas, shape[s].l3s, shape[s].cores, shape[s].pus);
        struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_SYNTHETIC, text, &err);
        int total = count[3] * shape[s].cores, n, good = 1;
        uint64_t memory = (uint64_t)count[2] * 6000000000u;

        count[4] = total;
        if (!ok(t != NULL, "synthetic %s", text)) {
            free(text);
            continue;
        }
        check_invariants(t, text);
        for (int l = HRUN_LEVEL_NODE; l <= HRUN_LEVEL_CORE; l++) {
            good = good && hrun_topo_pes(t, (enum hrun_level)l, 0, &pes, &n, &err) == 0 && n == count[l];
            for (int i = 0; good && i < n; i++) {
                int first = i * (total / n), last = first + total / n - 1;
                char *cores = first == last ? hrun_strf("%d", first) : hrun_strf("%d-%d", first, last);
                good = !strcmp(pes[i].cores, cores) && pes[i].npus == total / n * shape[s].pus &&
                       llabs((long long)pes[i].memory_bytes - (long long)memory / n) <= 64;
                free(cores);
            }
            if (good)
                hrun_topo_pes_free(pes, n);
        }
        ok(good, "synthetic %s: PEs as counted by hand", text);
        free(text);
        hrun_topo_destroy(t);
    }
}

static void test_levels(void)
{
    struct hrun_error err;
    enum hrun_level level = HRUN_LEVEL_CORE;
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_SYNTHETIC, "package:2 [numa] core:2 pu:1", &err);
    struct hrun_topo_pe *pes = NULL;
    int n = -7, good = 1;

    for (int l = HRUN_LEVEL_NODE; l <= HRUN_LEVEL_CORE; l++)
        good = good && !hrun_level_parse(hrun_level_name((enum hrun_level)l), &level, &err) &&
               (int)level == l;
    ok(good, "level names parse back");
    level = HRUN_LEVEL_L3;
    is_int(hrun_level_parse("socket", &level, &err), -1, "unknown level");
    is_int(level, HRUN_LEVEL_L3, "output untouched");
    is_str(err.text, "'socket' is no PE level; the levels are node, package, numa, l3, core", "its message");
    is_int(hrun_topo_pes(t, HRUN_LEVEL_L3, 0, &pes, &n, &err), -1, "a level that the machine has not");
    is_int(err.code, HRUN_EINVAL, "its code");
    is_str(err.text, "this machine has no level 'l3'; it has node, package, numa, core", "its message");
    ok(pes == NULL && n == -7, "outputs untouched");
    is_str(hrun_topo_kind_name(t, 0), "", "a single kind has no name");
    is_str(hrun_topo_kind_name(t, 5), "", "nor has one that does not exist");
    is_str(hrun_topo_cpu_model(t), "unknown", "no CPU model");
    is_int(hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, &err), 0, "a synthetic node");
    is_int(pes[0].memory_bytes, 0, "its memory is unknown when the description names none");
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
    hrun_topo_destroy(NULL);
    hrun_topo_pes_free(NULL, 0);
}

/* A machine of four cores with one PU each. infos[c]: what stands in core c; l2: KiB of its L2 cache. */
static struct hrun_topo *load_cores(const char *const infos[4], const int l2[4], const char *kinds)
{
#define SETS(bits) "cpuset=\"%#x\" complete_cpuset=\"%#x\" nodeset=\"0x1\" complete_nodeset=\"0x1\" " \
                   "gp_index=\"%d\"", bits, bits
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_topo *t;

    hrun_buf_adds(&b, "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\"><object type=\"Machine\" "
                  "os_index=\"0\" allowed_cpuset=\"0xf\" allowed_nodeset=\"0x1\" ");
    hrun_buf_addf(&b, SETS(15u), 1);
    hrun_buf_adds(&b, "><object type=\"NUMANode\" os_index=\"0\" ");
    hrun_buf_addf(&b, SETS(15u), 2);
    hrun_buf_adds(&b, "/>");
    for (int c = 0; c < 4; c++) {
        if (l2[c]) {
            hrun_buf_addf(&b, "<object type=\"L2Cache\" cache_size=\"%d\" depth=\"2\" cache_linesize=\"64\" "
                          "cache_associativity=\"8\" cache_type=\"0\" ", l2[c] << 10);
            hrun_buf_addf(&b, SETS(1u << c), 20 + c);
            hrun_buf_addc(&b, '>');
        }
        hrun_buf_addf(&b, "<object type=\"Core\" os_index=\"%d\" ", c);
        hrun_buf_addf(&b, SETS(1u << c), 30 + c);
        hrun_buf_addf(&b, ">%s<object type=\"PU\" os_index=\"%d\" ", infos[c], c);
        hrun_buf_addf(&b, SETS(1u << c), 40 + c);
        hrun_buf_addf(&b, "/></object>%s", l2[c] ? "</object>" : "");
    }
    hrun_buf_addf(&b, "</object>%s</topology>", kinds);
    t = hrun_topo_load(HRUN_TOPO_XML, b.data, &err);
    if (!t)
        printf("# %s\n", err.text);
    hrun_buf_release(&b);
    return t;
#undef SETS
}

#define KIND(set, infos) "<cpukind cpuset=\"" set "\">" infos "</cpukind>"
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"
#define MHZ(value) INFO("FrequencyMaxMHz", value)

/* What topo.h says of core kinds, rule by rule: kinds in order, "name cores speed". */
static void test_kinds(void)
{
    static const struct {
        const char *what, *infos[4];
        int l2[4];
        const char *kinds, *want;
    } cases[] = {
        { "nothing is told", { "", "", "", "" }, { 0, 0, 0, 0 }, "", "= 0,1,2,3" },
        { "frequencies within 10 %", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", MHZ("2000")) KIND("0xc", MHZ("2222")), "= 0,1,2,3" },
        { "beyond 10 %", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", MHZ("2000")) KIND("0xc", MHZ("2300")), "kind0 2,3;kind1 0,1" },
        { "of the base alone", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", MHZ("3900") INFO("FrequencyBaseMHz", "2100")) KIND("0xc", MHZ("3900") INFO("FrequencyBaseMHz",
          "2700")), "kind0 2,3;kind1 0,1" },
        { "step by step", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x1", MHZ("2000")) KIND("0x2", MHZ("2200")) KIND("0x4", MHZ("2400")) KIND("0x8", MHZ("2600")),
          "= 0,1,2,3" },
        { "capacity against frequency", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", MHZ("2000") INFO("LinuxCapacity", "1024")) KIND("0xc", MHZ("2100") INFO("LinuxCapacity", "512")),
          "kind0 0,1;kind1 2,3" },
        { "equal capacities order nothing", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", MHZ("2000") INFO("LinuxCapacity", "1024")) KIND("0xc", MHZ("4000") INFO("LinuxCapacity", "1024")),
          "kind0 2,3;kind1 0,1" },
        { "core types of one speed", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", INFO("CoreType", "IntelAtom")) KIND("0xc", INFO("CoreType", "IntelCore")),
          "IntelCore 2,3;IntelAtom 0,1" },
        { "a type with two speeds", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", INFO("CoreType", "IntelAtom") MHZ("2000")) KIND("0xc", INFO("CoreType", "IntelAtom") MHZ("3000")),
          "IntelAtom 2,3;IntelAtom-2 0,1" },
        { "L2 caches alone", { "", "", "", "" }, { 512, 512, 0, 256 }, KIND("0xf", MHZ("2000")),
          "kind0 0,1;kind1 2;kind2 3" },
        { "parts alone", { INFO("CPUPart", "0xd85"), INFO("CPUPart", "0xd87"), INFO("CPUPart", "0xd87"),
                           INFO("CPUPart", "0xd85") }, { 0, 0, 0, 0 }, "", "kind0 0,3;kind1 1,2" },
        { "parts as later hwlocs tell them", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x3", INFO("CPUPart", "0xd87") MHZ("2000")) KIND("0xc", INFO("CPUPart", "0xd85") MHZ("2100")),
          "kind0 2,3;kind1 0,1" },
        { "a frequency of some cores only", { "", "", "", "" }, { 0, 0, 0, 0 }, KIND("0x1", MHZ("2000")),
          "= 0,1,2,3" },
        { "which may be that of either", { "", "", "", "" }, { 0, 0, 0, 0 },
          KIND("0x1", MHZ("1000")) KIND("0x2", MHZ("2000")), "kind0 1;kind1 0;kind2 2,3" },
        { "or is told by the cache", { "", "", "", "" }, { 512, 256, 512, 256 },
          KIND("0x1", MHZ("1000")) KIND("0x2", MHZ("2000")), "kind0 1,3;kind1 0,2" },
        { "no number", { "", "", "", "" }, { 0, 0, 0, 0 }, KIND("0x1", MHZ("nan")) KIND("0x2", MHZ("-5"))
          KIND("0xc", MHZ("x")),
          "= 0,1,2,3" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_topo *t = load_cores(cases[i].infos, cases[i].l2, cases[i].kinds);
        struct hrun_buf got = HRUN_BUF_INIT;
        struct hrun_topo_pe *pes;
        int n;

        if (!ok(t && !hrun_topo_pes(t, HRUN_LEVEL_CORE, 0, &pes, &n, NULL), "kinds: %s", cases[i].what))
            continue;
        for (int p = 0; p < n; p++) {
            int last = p + 1 == n || pes[p + 1].kind != pes[p].kind, k = pes[p].kind;
            const char *name = hrun_topo_kind_name(t, k);

            if (!p || pes[p - 1].kind != k)
                hrun_buf_addf(&got, "%s%s ", p ? ";" : "", *name ? name : "=");
            hrun_buf_addf(&got, last ? "%s" : "%s,", pes[p].cores);
        }
        is_str(got.data, cases[i].want, "kinds: %s", cases[i].what);
        hrun_topo_pes_free(pes, n);
        hrun_topo_destroy(t);
        hrun_buf_release(&got);
    }
}

static void test_export(void)
{
    struct hrun_buf xml = HRUN_BUF_INIT, a = HRUN_BUF_INIT, b = HRUN_BUF_INIT;
    struct hrun_error err;
    char *path = data_path("lakefield.xml");
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_XML_FILE, path, &err), *u;

    is_int(hrun_topo_export(t, &xml, &err), 0, "export");
    is_int(strlen(xml.data), xml.len, "no NUL inside");
    u = hrun_topo_load(HRUN_TOPO_XML, xml.data, &err);
    ok(u != NULL, "the export loads");
    render(t, &a);
    render(u, &b);
    is_str(b.data, a.data, "and says the same");
    hrun_topo_destroy(t);
    hrun_topo_destroy(u);
    hrun_buf_release(&xml);
    hrun_buf_release(&a);
    hrun_buf_release(&b);
    free(path);
}

static void test_bad_sources(void)
{
    struct hrun_error err;
    char *readme = data_path("README"), *want;
    struct hrun_topo *t;

    ok(!hrun_topo_load(HRUN_TOPO_XML_FILE, "/no/such.xml", &err), "missing XML file");
    is_int(err.code, HRUN_ENOENT, "its code");
    has_str(err.text, "/no/such.xml", "its message");
    ok(!hrun_topo_load(HRUN_TOPO_XML_FILE, readme, &err), "a file that is no XML");
    is_int(err.code, HRUN_EINVAL, "its code");
    want = hrun_strf("'%s' is no hwloc XML topology; 'lstopo --of xml FILE' writes one", readme);
    is_str(err.text, want, "its message");
    free(want);
    ok(!hrun_topo_load(HRUN_TOPO_XML, "<a>", &err) && err.code == HRUN_EINVAL, "bad XML text");
    ok(!hrun_topo_load(HRUN_TOPO_XML, "<a/>", &err) && err.code == HRUN_EINVAL, "XML of something else");
    ok(!hrun_topo_load(HRUN_TOPO_XML, "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc9.dtd\">\n"
                       "<topology version=\"9.0\">\n</topology>\n", &err) && err.code == HRUN_EINVAL, "XML of hwloc 9");
    has_str(err.text, "the XML text is of hwloc 9, and hrun here has hwloc ", "which is named");
    has_str(err.text, ": write it with 'lstopo --export-xml-flags v", "with what to write");
    ok(!hrun_topo_load(HRUN_TOPO_XML, "", &err) && err.code == HRUN_EINVAL, "empty XML");
    ok(!hrun_topo_load(HRUN_TOPO_SYNTHETIC, "foo:3", &err) && err.code == HRUN_EINVAL, "bad synthetic text");
    is_str(err.text, "'foo:3' is no synthetic hwloc topology; for example "
           "'package:2 [numa(memory=8GB)] l3:1 core:4 pu:2'", "its message");
    t = hrun_topo_load(HRUN_TOPO_SYNTHETIC, "package:2 [numa(memory=8GB)] l3:1 core:4 pu:2", &err);
    ok(t != NULL, "what the message recommends loads");
    hrun_topo_destroy(t);
    ok(!hrun_topo_load((enum hrun_topo_source)9, "", &err) && err.code == HRUN_EINVAL, "no such source");
    errno = 77;
    ok(!hrun_topo_load(HRUN_TOPO_SYNTHETIC, "foo:3", NULL), "without an error object");
    free(readme);
}

static void test_this_host(void)
{
    struct hrun_error err = { 0 };
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);

    if (ok(t != NULL, "this host loads%s%s", *err.text ? ": " : "", err.text))
        check_invariants(t, "this host");
    hrun_topo_destroy(t);
}

int main(void)
{
    test_levels();
    test_synthetic();
    test_machines();
    test_kinds();
    test_export();
    test_bad_sources();
    test_this_host();
    return tap_done();
}
