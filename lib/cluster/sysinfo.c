/* sysinfo.c - data of this system that hwloc does not have: limits of cgroups, and a CPU model where hwloc has none;
 * see topo.h for the contracts */
#include "base/alloc.h"
#include "cluster/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Is word one of the comma-separated words of list? */
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

/* Version 1 writes "no limit" as LONG_MAX rounded down to a page; no memory comes near a quarter of the range. */
static const uint64_t NO_LIMIT = (uint64_t)1 << 62;

enum resource { MEMORY, CPU };

/* The number at the beginning of a file and the one behind it. Result: how many there are. */
static int read_numbers(const char *dir, const char *file, long long *first, long long *second)
{
    autofree char *path = hrun_strf("%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%lld %lld", first, second) : 0;

    if (f)
        fclose(f);
    return n;
}

/* The limit that one cgroup (a folder) sets itself: bytes, or millionths of a CPU. UINT64_MAX: no limit, or it cannot
 * be read. */
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

/* Smallest limit in the folders from base/path up to base. path begins with '/'. */
static uint64_t smallest_limit(const char *base, const char *path, enum resource what, int version)
{
    uint64_t limit = UINT64_MAX, here;
    autofree char *dir = xstrdup(path);
    char *end;

    for (;;) {
        autofree char *name = hrun_strf("%s%s", base, strcmp(dir, "/") ? dir : "");

        here = folder_limit(name, what, version);
        if (here < limit)
            limit = here;
        end = strrchr(dir, '/');
        if (!end || !dir[1])
            return limit;
        end[end == dir] = 0;  /* the parent; "/" stays for the last round */
    }
}

/* The process's folder in one hierarchy: version 2 for controller NULL. NULL when it is in none. */
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
    size_t cap = 0, len;

    while (f && getline(&line, &cap, f) > 0) {
        autofree char *base = NULL;
        const char *below;

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
        below = !strncmp(path, from, len) && path[len] == '/' ? path + len : "/";
        base = hrun_strf("%s%s", root, at);
        here = smallest_limit(base, below, what, version);
        if (here < limit)
            limit = here;
    }
    if (f)
        fclose(f);
    return limit;
}

/* The smaller limit of both versions' hierarchies. */
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
    /* x86 and others, POWER, MIPS, older ARM; the first that the file has, in this order */
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
    autofree char *name = hrun_strf("%s/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", root, cpu);
    FILE *f = fopen(name, "re");
    unsigned long long midr = 0;

    if (!f || fscanf(f, "%llx", &midr) != 1)
        midr = 0;
    if (f)
        fclose(f);
    return (unsigned)(midr >> 4 & 0xfff);
}

uint64_t hrun_round_memory(uint64_t bytes)
{
    /* leave two binary digits in front of the unit */
    int shift = bytes < 4 ? 0 : 62 - __builtin_clzll(bytes);
    uint64_t unit = (uint64_t)1 << shift;

    return ((bytes >> shift) + (shift && (bytes & (unit - 1)) * 2 >= unit)) << shift;
}
