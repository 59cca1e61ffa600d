/* sysinfo.c - data of this system that hwloc does not provide: limits of cgroups, the CPU model, the fingerprint; see
 * topo.h for the contracts */
#include "cluster/topo.h"

#include "base/file.h"
#include "base/hash.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* CPUs of the largest affinity mask; Linux is built for 8192 at most. */
enum { CPUS_MAX = 16384 };

/* mountinfo writes blank, tab, newline and backslash as \ooo (proc(5)). */
static void unescape(char *s)
{
    char *to = s;

    while (*s) {
        if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
            *to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 4;
        } else {
            *to++ = *s++;
        }
    }
    *to = 0;
}

/* 1 if word is one of the comma-separated words of list, else 0. */
static int has_listed_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = list; p; p = strchr(p, ',')) {
        if (*p == ',')
            p++;
        if (!strncmp(p, word, len) && (p[len] == 0 || p[len] == ','))
            return 1;
    }
    return 0;
}

/* Version 1 writes "no limit" as LONG_MAX rounded down to a page; no memory is near 2^62 bytes. */
static const uint64_t NO_LIMIT = (uint64_t)1 << 62;

enum resource { MEMORY, CPU };

/* Read the first two numbers of a file, decimal or with 0x. Result: how many there are, at most 2. */
static int read_numbers(const char *dir, const char *file, long long *first, long long *second)
{
    autofree char *path = hrun_strf("%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%lli %lli", first, second) : 0;

    if (f)
        fclose(f);
    return n;
}

/* The own limit of one cgroup (a folder): bytes, or millionths of a CPU. UINT64_MAX: no limit, or unreadable. */
static uint64_t folder_limit(const char *dir, enum resource what, int version)
{
    long long first, second, more;
    int n;

    if (what == MEMORY) {
        n = read_numbers(dir, version == 2 ? "memory.max" : "memory.limit_in_bytes", &first, &more);
        return n > 0 && first >= 0 && (uint64_t)first < NO_LIMIT ? (uint64_t)first : UINT64_MAX;
    }
    if (version == 2)
        n = read_numbers(dir, "cpu.max", &first, &second);
    else
        n = (read_numbers(dir, "cpu.cfs_quota_us", &first, &more) > 0) +
            (read_numbers(dir, "cpu.cfs_period_us", &second, &more) > 0);
    return n == 2 && first > 0 && second > 0 ? (uint64_t)(1e6 * (double)first / (double)second) : UINT64_MAX;
}

/* The process's folder in one hierarchy; controller NULL: version 2. NULL: the process is in none. */
static char *cgroup_path(const char *root, const char *controller)
{
    autofree char *name = hrun_strf("%s/proc/self/cgroup", root);
    autofree char *line = NULL;
    char *path = NULL, *list, *rest;
    FILE *f = fopen(name, "re");
    size_t cap = 0;

    while (f && !path && getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\n")] = 0;
        list = strchr(line, ':');                     /* "4:memory:/a/b", "0::/a/b" */
        rest = list ? strchr(list + 1, ':') : NULL;
        if (!rest || rest[1] != '/')
            continue;
        *rest++ = 0;
        if (controller ? has_listed_word(list + 1, controller) : list[1] == 0)
            path = xstrdup(rest);
    }
    if (f)
        fclose(f);
    return path;
}

/* The smallest limit of the process's cgroup and its ancestors. */
static uint64_t hierarchy_limit(const char *root, enum resource what, int version)
{
    const char *fstype = version == 2 ? "cgroup2" : "cgroup";
    const char *controller = version == 2 ? NULL : what == MEMORY ? "memory" : "cpu";
    autofree char *name = hrun_strf("%s/proc/self/mountinfo", root);
    autofree char *path = cgroup_path(root, controller);
    autofree char *line = NULL;
    char from[4096], at[4096], type[64], super[4096], *dash;
    uint64_t limit = UINT64_MAX, here;
    FILE *f = path ? fopen(name, "re") : NULL;
    size_t cap = 0, len, top = strlen(root);

    while (f && getline(&line, &cap, f) > 0) {
        autofree char *dir = NULL;

        /* "32 31 0:29 ROOT MOUNTPOINT options [tags] - TYPE SOURCE SUPEROPTIONS" (proc(5)) */
        dash = strstr(line, " - ");
        if (!dash || sscanf(line, "%*s %*s %*s %4095s %4095s", from, at) != 2 ||
            sscanf(dash, " - %63s %*s %4095s", type, super) != 2)
            continue;
        if (strcmp(type, fstype) || (controller && !has_listed_word(super, controller)))
            continue;
        unescape(from);
        unescape(at);
        /* The mount may show only the part of the hierarchy below `from`. */
        len = strcmp(from, "/") ? strlen(from) : 0;
        dir = hrun_strf("%s%s%s", root, at, !strncmp(path, from, len) && path[len] == '/' ? path + len : "");
        for (char *end = strchr(dir, 0); end && end >= dir + top + strlen(at); end = strrchr(dir, '/')) {
            *end = 0;
            here = folder_limit(dir, what, version);
            limit = here < limit ? here : limit;
        }
    }
    if (f)
        fclose(f);
    return limit;
}

/* The smaller limit of the hierarchies of both versions. */
static uint64_t cgroup_limit(const char *root, enum resource what)
{
    uint64_t v2 = hierarchy_limit(root, what, 2), v1 = hierarchy_limit(root, what, 1);

    return v2 < v1 ? v2 : v1;
}

uint64_t hrun_cgroup_memory_limit(const char *root)
{
    return cgroup_limit(root, MEMORY);
}

double hrun_cgroup_cpu_quota(const char *root)
{
    uint64_t millionths = cgroup_limit(root, CPU);

    return millionths == UINT64_MAX ? 0 : 1e-6 * (double)millionths;
}

void hrun_add_squeezed(struct hrun_buf *out, const char *text)
{
    const char *end;

    while (*text) {
        text += strspn(text, " \t\r\n\v\f");
        end = text + strcspn(text, " \t\r\n\v\f");
        if (end == text)
            return;
        hrun_buf_add(out, text, (size_t)(end - text));
        text = end + strspn(end, " \t\r\n\v\f");
        if (*text)
            hrun_buf_addc(out, ' ');
    }
}

void hrun_cpuinfo_model(const char *root, struct hrun_buf *out)
{
    /* for x86 and others, POWER, MIPS, older ARM; the first of these that the file has counts */
    static const char *const keys[] = { "model name", "cpu", "cpu model", "Hardware" };
    autofree char *name = hrun_strf("%s/proc/cpuinfo", root);
    autofree char *line = NULL;
    FILE *f = fopen(name, "re");
    size_t cap = 0, before = out->len;

    for (size_t k = 0; f && out->len == before && k < sizeof keys / sizeof keys[0]; k++) {
        rewind(f);
        while (out->len == before && getline(&line, &cap, f) > 0) {
            size_t len = strlen(keys[k]), blanks = strncmp(line, keys[k], len) ? 0 : strspn(line + len, " \t");

            if (!strncmp(line, keys[k], len) && line[len + blanks] == ':')
                hrun_add_squeezed(out, line + len + blanks + 1);
        }
    }
    if (f)
        fclose(f);
}

unsigned hrun_cpu_part(const char *root, int cpu)
{
    autofree char *dir = hrun_strf("%s/sys/devices/system/cpu/cpu%d/regs/identification", root, cpu);
    long long midr, more;

    return read_numbers(dir, "midr_el1", &midr, &more) > 0 ? (unsigned)(midr >> 4 & 0xfff) : 0;
}

uint64_t hrun_round_memory(uint64_t bytes)
{
    /* keep two binary digits */
    int shift = bytes < 4 ? 0 : 62 - __builtin_clzll(bytes);
    uint64_t unit = (uint64_t)1 << shift;

    return ((bytes >> shift) + (shift && (bytes & (unit - 1)) * 2 >= unit)) << shift;
}

void hrun_topo_fingerprint(const char *extra, struct hrun_buf *out)
{
    /* hwloc's variables that replace the real topology */
    static const struct { const char *name; int is_path; } variables[] = {
        { "HWLOC_SYNTHETIC", 0 }, { "HWLOC_XMLFILE", 1 }, { "HWLOC_FSROOT", 1 }, { "HWLOC_CPUID_PATH", 1 },
        { "HWLOC_COMPONENTS", 0 }, { "HWLOC_THISSYSTEM", 0 },
    };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t limit = hrun_cgroup_memory_limit(""), hash;
    cpu_set_t mask[CPUS_MAX / CPU_SETSIZE];
    char name[256] = "";
    struct stat st;

    gethostname(name, sizeof name - 1);
    hrun_buf_addf(&b, "%s\n", name);
    hrun_file_read("/sys/devices/system/cpu/online", 1 << 16, &b, NULL);
    if (!sched_getaffinity(0, sizeof mask, mask))
        hrun_buf_add(&b, mask, sizeof mask);
    hrun_cpuinfo_model("", &b);
    hrun_buf_addf(&b, "\n%u %.6f %llu %llu\n", hrun_cpu_part("", 0), hrun_cgroup_cpu_quota(""),
                  (unsigned long long)(pages > 0 && page > 0 ? hrun_round_memory((uint64_t)pages * (uint64_t)page) : 0),
                  (unsigned long long)(limit == UINT64_MAX ? 0 : hrun_round_memory(limit)));
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);

        if (!value || !*value)
            continue;
        hrun_buf_addf(&b, "%s=%s", variables[i].name, value);
        if (variables[i].is_path && stat(value, &st) == 0)
            hrun_buf_addf(&b, " %lld %lld.%ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                          st.st_mtim.tv_nsec);
        hrun_buf_addc(&b, '\n');
    }
    hrun_buf_adds(&b, extra ? extra : "");
    hash = hrun_hash(HRUN_HASH_INIT, b.data, b.len);
    hrun_buf_addf(out, "%08lx", (unsigned long)(uint32_t)(hash ^ hash >> 32));
}
