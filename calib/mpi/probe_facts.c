/* probe_facts.c - system settings that affect speeds, read from files below /sys and /proc (Linux) */
#include "hrun_probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first line of a file below root, without its end. Result: 1, or 0 when there is none. */
static int first_line(const char *root, const char *path, char *out, size_t size)
{
    char name[1024];
    FILE *f;
    int good;

    snprintf(name, sizeof name, "%s%s", root, path);
    f = fopen(name, "re");
    good = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (good)
        out[strcspn(out, "\n")] = 0;
    return good && out[0];
}

static void add_fact(const char *root, const char *path, int rank, const char *key, FILE *out)
{
    char value[256];

    if (first_line(root, path, value, sizeof value))
        fprintf(out, "fact %d %s %s\n", rank, key, value);
}

static void add_processor_facts(const char *root, int rank, int processor, FILE *out)
{
    static const struct { const char *key, *file; } files[] = {
        { "governor", "scaling_governor" }, { "frequency_min_khz", "scaling_min_freq" },
        { "frequency_max_khz", "scaling_max_freq" },
    };
    char path[256];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", processor, files[i].file);
        add_fact(root, path, rank, files[i].key, out);
    }
}

/* The word in brackets: "always [madvise] never". */
static void add_bracketed_fact(const char *root, const char *path, int rank, const char *key, FILE *out)
{
    char value[256], *begin, *end;

    if (!first_line(root, path, value, sizeof value) || !(begin = strchr(value, '[')) || !(end = strchr(begin, ']')))
        return;
    fprintf(out, "fact %d %s %.*s\n", rank, key, (int)(end - begin - 1), begin + 1);
}

/* intel_pstate has the file no_turbo, other drivers have boost. */
static void add_turbo(const char *root, int rank, FILE *out)
{
    char value[64];

    if (first_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", value, sizeof value))
        fprintf(out, "fact %d turbo_intel %s\n", rank, value[0] == '0' ? "on" : "off");
    else if (first_line(root, "/sys/devices/system/cpu/cpufreq/boost", value, sizeof value))
        fprintf(out, "fact %d turbo %s\n", rank, value[0] == '1' ? "on" : "off");
}

static void add_swap_used(const char *root, int rank, FILE *out)
{
    char name[1024], line[256];
    unsigned long long total = 0, left = 0;
    FILE *f;

    snprintf(name, sizeof name, "%s/proc/meminfo", root);
    f = fopen(name, "re");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "SwapTotal: %llu", &total);
        sscanf(line, "SwapFree: %llu", &left);
    }
    if (f)
        fclose(f);
    if (total)
        fprintf(out, "fact %d swap_used_kib %llu\n", rank, total > left ? total - left : 0);
}

/* The first interface by name, except loopback, that is up. Result: 1, or 0 if there is none. */
static int any_interface(const char *root, char *out, size_t size)
{
    char path[1024], state[64];
    DIR *dir;
    struct dirent *e;

    out[0] = 0;
    snprintf(path, sizeof path, "%s/sys/class/net", root);
    dir = opendir(path);
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "lo"))
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%.200s/operstate", e->d_name);
        if (first_line(root, path, state, sizeof state) && strcmp(state, "up"))
            continue;
        if (!out[0] || strcmp(e->d_name, out) < 0)
            snprintf(out, size, "%.*s", (int)size - 1, e->d_name);
    }
    if (dir)
        closedir(dir);
    return out[0] != 0;
}

/* interface: the one that reaches the other hosts; "": any. */
static void add_host_facts(const char *root, int rank, const char *interface, FILE *out)
{
    char path[512], name[128];

    add_turbo(root, rank, out);
    add_bracketed_fact(root, "/sys/kernel/mm/transparent_hugepage/enabled", rank, "huge_pages", out);
    add_swap_used(root, rank, out);
    add_fact(root, "/proc/loadavg", rank, "load", out);
    snprintf(name, sizeof name, "%s", interface);
    if (!name[0] && !any_interface(root, name, sizeof name))
        return;
    fprintf(out, "fact %d interface %s\n", rank, name);
    snprintf(path, sizeof path, "/sys/class/net/%s/mtu", name);
    add_fact(root, path, rank, "mtu", out);
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    add_fact(root, path, rank, "link_mbit", out);
    snprintf(path, sizeof path, "/sys/class/net/%s/duplex", name);
    add_fact(root, path, rank, "duplex", out);
}

/* The interface through which this host reaches `peer`; "": not known. A connected datagram socket sends nothing, but
 * has the address of that interface. */
static void find_interface_to(const char *peer, char *out, size_t size)
{
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_family = AF_INET }, *found = NULL;
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    struct ifaddrs *all = NULL;
    int fd = -1;

    out[0] = 0;
    if (getaddrinfo(peer, "9", &hints, &found))
        return;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !connect(fd, found->ai_addr, found->ai_addrlen) && !getsockname(fd, (struct sockaddr *)&own, &len) &&
        !getifaddrs(&all))
        for (struct ifaddrs *i = all; i && !out[0]; i = i->ifa_next)
            if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK) &&
                ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr.s_addr == own.sin_addr.s_addr)
                snprintf(out, size, "%.*s", (int)strcspn(i->ifa_name, ":"), i->ifa_name);
    freeifaddrs(all);
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
}

/* Environment variables that set the number of threads of BLAS libraries. */
static void add_thread_variables(int rank, FILE *out)
{
    static const char *const names[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
                                         "MKL_NUM_THREADS", "BLIS_NUM_THREADS" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);

        if (value && value[0])
            fprintf(out, "fact %d %s %.*s\n", rank, names[i], (int)strcspn(value, "\n"), value);
    }
}

void probe_facts(struct probe *p)
{
    char interface[128] = "";
    cpu_set_t mine;
    int processor = 0, other = 0;

    if (!sched_getaffinity(0, sizeof mine, &mine))
        while (processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &mine))
            processor++;
    add_processor_facts(p->root, p->rank, processor, p->out);
    if (p->leader[p->rank] != p->rank)
        return;
    while (other < p->nranks && p->leader[other] == p->rank)
        other++;
    if (other < p->nranks && !p->root[0])
        find_interface_to(p->names[other], interface, sizeof interface);
    add_host_facts(p->root, p->rank, interface, p->out);
    add_thread_variables(p->rank, p->out);
}
