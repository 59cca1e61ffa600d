/* sysinfo.c - what hwloc does not tell of this system: limits of cgroups, and the CPU model where hwloc has none; see
 * topo.h for the contracts */
#include "base/alloc.h"
#include "topo/topo.h"

#include <ctype.h>
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

/* What a cgroup, a folder, sets itself; UINT64_MAX for no limit and for what cannot be read. */
typedef uint64_t limit_fn(const char *dir);

/* The number at the beginning of a file and the one behind it. Result: how many there are. */
static int read_numbers(const char *dir, const char *file, long long *first, long long *second)
{
    char *path = hrun_strf("%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%lld %lld", first, second) : 0;

    if (f)
        fclose(f);
    free(path);
    return n;
}

static uint64_t memory_limit(const char *dir, const char *file)
{
    long long bytes, more;

    return read_numbers(dir, file, &bytes, &more) > 0 && bytes >= 0 && (uint64_t)bytes < NO_LIMIT ? (uint64_t)bytes
                                                                                                : UINT64_MAX;
}

static uint64_t memory_v2(const char *dir)
{
    return memory_limit(dir, "memory.max");
}

static uint64_t memory_v1(const char *dir)
{
    return memory_limit(dir, "memory.limit_in_bytes");
}

/* Of quota_us in each period_us, in millionths of a CPU. */
static uint64_t cpus_of(long long quota_us, long long period_us)
{
    return quota_us > 0 && period_us > 0 ? (uint64_t)(1e6 * (double)quota_us / (double)period_us) : UINT64_MAX;
}

static uint64_t cpus_v2(const char *dir)
{
    long long quota_us, period_us;

    return read_numbers(dir, "cpu.max", &quota_us, &period_us) == 2 ? cpus_of(quota_us, period_us) : UINT64_MAX;
}

static uint64_t cpus_v1(const char *dir)
{
    long long quota_us, period_us, more;

    return read_numbers(dir, "cpu.cfs_quota_us", &quota_us, &more) > 0 &&
           read_numbers(dir, "cpu.cfs_period_us", &period_us, &more) > 0 ? cpus_of(quota_us, period_us) : UINT64_MAX;
}

/* Smallest limit in the folders from base/path up to base. path begins with '/'. */
static uint64_t climb(const char *base, const char *path, limit_fn *read_limit)
{
    uint64_t limit = UINT64_MAX, here;
    char *dir = xstrdup(path), *end, *name;

    while (dir) {
        name = hrun_strf("%s%s", base, strcmp(dir, "/") ? dir : "");
        here = read_limit(name);
        if (here < limit)
            limit = here;
        free(name);
        end = strrchr(dir, '/');
        if (!end || !dir[1])
            break;
        end[end == dir] = 0;  /* the parent; "/" stays for the last round */
    }
    free(dir);
    return limit;
}

/* The process's folder in one hierarchy: version 2 for controller NULL. NULL when it is in none. */
static char *cgroup_path(const char *root, const char *controller)
{
    char *name = hrun_strf("%s/proc/self/cgroup", root), *line = NULL, *path = NULL, *list, *rest;
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
    free(line);
    free(name);
    return path;
}

static uint64_t hierarchy_limit(const char *root, const char *fstype, const char *controller, limit_fn *read_limit)
{
    char *name = hrun_strf("%s/proc/self/mountinfo", root), *path = cgroup_path(root, controller);
    char *line = NULL, *base;
    const char *below;
    char from[4096], at[4096], type[64], super[4096], *dash;
    uint64_t limit = UINT64_MAX, here;
    FILE *f = path ? fopen(name, "re") : NULL;
    size_t cap = 0, len;

    while (f && getline(&line, &cap, f) > 0) {
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
        below = strncmp(path, from, len) ? "" : path + len;
        if (*below && *below != '/')
            below = "";
        base = hrun_strf("%s%s", root, at);
        here = climb(base, *below ? below : "/", read_limit);
        if (here < limit)
            limit = here;
        free(base);
    }
    if (f)
        fclose(f);
    free(line);
    free(path);
    free(name);
    return limit;
}

/* The smaller limit of both versions' hierarchies. */
static uint64_t cgroup_limit(const char *root, const char *controller, limit_fn *of_v2, limit_fn *of_v1)
{
    uint64_t v2 = hierarchy_limit(root, "cgroup2", NULL, of_v2);
    uint64_t v1 = hierarchy_limit(root, "cgroup", controller, of_v1);

    return v2 < v1 ? v2 : v1;
}

uint64_t hrun_cgroup_memory_limit(const char *root)
{
    return cgroup_limit(root, "memory", memory_v2, memory_v1);
}

double hrun_cgroup_cpu_quota(const char *root)
{
    uint64_t millionths = cgroup_limit(root, "cpu", cpus_v2, cpus_v1);

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
    int found = 0;
    char *name = hrun_strf("%s/proc/cpuinfo", root), *line = NULL, *value;
    FILE *f = fopen(name, "re");
    size_t cap = 0, len;

    for (size_t k = 0; f && !found && k < sizeof keys / sizeof keys[0]; k++) {
        rewind(f);
        while (!found && getline(&line, &cap, f) > 0) {
            value = strchr(line, ':');
            if (!value)
                continue;
            for (len = (size_t)(value - line); len && isspace((unsigned char)line[len - 1]); len--)
                continue;
            if (len != strlen(keys[k]) || strncmp(line, keys[k], len))
                continue;
            hrun_add_squeezed(out, value + 1);
            found = 1;
        }
    }
    if (f)
        fclose(f);
    free(line);
    free(name);
}

unsigned hrun_cpu_part(const char *root, int cpu)
{
    char *name = hrun_strf("%s/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", root, cpu);
    FILE *f = fopen(name, "re");
    unsigned long long midr = 0;

    if (!f || fscanf(f, "%llx", &midr) != 1)
        midr = 0;
    if (f)
        fclose(f);
    free(name);
    return (unsigned)(midr >> 4 & 0xfff);
}

uint64_t hrun_round_memory(uint64_t bytes)
{
    /* leave two binary digits in front of the unit */
    int shift = bytes < 4 ? 0 : 62 - __builtin_clzll(bytes);
    uint64_t unit = (uint64_t)1 << shift;

    return ((bytes >> shift) + (shift && (bytes & (unit - 1)) * 2 >= unit)) << shift;
}
