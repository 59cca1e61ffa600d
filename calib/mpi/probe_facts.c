/* probe_facts.c - system settings that affect speeds, read from files below /sys and /proc (Linux) */
#include "hrun_probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Read the first line of a file below p->root, without its line feed. Result: 1, or 0 if there is none. */
static int first_line(const struct probe *p, const char *path, char *out, size_t size)
{
    char name[1024];
    FILE *f;
    int good;

    snprintf(name, sizeof name, "%s%s", p->root, path);
    f = fopen(name, "re");
    good = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (good)
        out[strcspn(out, "\n")] = 0;
    return good && out[0];
}

/* Print the first line of a file, if there is one, as a fact; path: printf style. */
__attribute__((format(printf, 3, 4)))
static void add_fact(const struct probe *p, const char *key, const char *path, ...)
{
    char name[512], value[256];
    va_list ap;

    va_start(ap, path);
    vsnprintf(name, sizeof name, path, ap);
    va_end(ap);
    if (first_line(p, name, value, sizeof value))
        fprintf(p->out, "fact %d %s %s\n", p->rank, key, value);
}

static void add_swap_used(const struct probe *p)
{
    char name[1024], line[256];
    unsigned long long total = 0, left = 0;
    FILE *f;

    snprintf(name, sizeof name, "%s/proc/meminfo", p->root);
    f = fopen(name, "re");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "SwapTotal: %llu", &total);
        sscanf(line, "SwapFree: %llu", &left);
    }
    if (f)
        fclose(f);
    if (total)
        fprintf(p->out, "fact %d swap_used_kib %llu\n", p->rank, total > left ? total - left : 0);
}

/* Find the first interface by name that is up, except loopback. Result: 1, or 0 if there is none. */
static int any_interface(const struct probe *p, char *out, size_t size)
{
    char path[1024], state[64];
    DIR *dir;
    struct dirent *e;

    out[0] = 0;
    snprintf(path, sizeof path, "%s/sys/class/net", p->root);
    dir = opendir(path);
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "lo"))
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%.200s/operstate", e->d_name);
        if (first_line(p, path, state, sizeof state) && strcmp(state, "up"))
            continue;
        if (!out[0] || strcmp(e->d_name, out) < 0)
            snprintf(out, size, "%.*s", (int)size - 1, e->d_name);
    }
    if (dir)
        closedir(dir);
    return out[0] != 0;
}

/* interface: the one that reaches the other hosts; "": any interface. */
static void add_host_facts(const struct probe *p, char *interface, size_t size)
{
    char value[256], *begin;

    /* intel_pstate has the file no_turbo, other drivers have boost. */
    if (first_line(p, "/sys/devices/system/cpu/intel_pstate/no_turbo", value, sizeof value))
        fprintf(p->out, "fact %d turbo_intel %s\n", p->rank, value[0] == '0' ? "on" : "off");
    else if (first_line(p, "/sys/devices/system/cpu/cpufreq/boost", value, sizeof value))
        fprintf(p->out, "fact %d turbo %s\n", p->rank, value[0] == '1' ? "on" : "off");
    /* The word in brackets: "always [madvise] never". */
    if (first_line(p, "/sys/kernel/mm/transparent_hugepage/enabled", value, sizeof value) &&
        (begin = strchr(value, '[')) && strchr(begin, ']'))
        fprintf(p->out, "fact %d huge_pages %.*s\n", p->rank, (int)strcspn(begin + 1, "]"), begin + 1);
    add_swap_used(p);
    add_fact(p, "load", "/proc/loadavg");
    if (!interface[0] && !any_interface(p, interface, size))
        return;
    fprintf(p->out, "fact %d interface %s\n", p->rank, interface);
    add_fact(p, "mtu", "/sys/class/net/%s/mtu", interface);
    add_fact(p, "link_mbit", "/sys/class/net/%s/speed", interface);
    add_fact(p, "duplex", "/sys/class/net/%s/duplex", interface);
}

/* Find the interface through which this host reaches `peer`; "": not known. A connected datagram socket sends nothing,
 * but has the address of that interface. */
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
static const char *const thread_variables[] = {
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
};

void probe_facts(struct probe *p)
{
    static const char cpu[] = "/sys/devices/system/cpu/cpu";
    char interface[128] = "";
    cpu_set_t mine;
    int processor = 0, other = 0;

    if (!sched_getaffinity(0, sizeof mine, &mine))
        while (processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &mine))
            processor++;
    add_fact(p, "governor", "%s%d/cpufreq/scaling_governor", cpu, processor);
    add_fact(p, "frequency_min_khz", "%s%d/cpufreq/scaling_min_freq", cpu, processor);
    add_fact(p, "frequency_max_khz", "%s%d/cpufreq/scaling_max_freq", cpu, processor);
    if (p->leader[p->rank] != p->rank)
        return;
    while (other < p->nranks && p->leader[other] == p->rank)
        other++;
    if (other < p->nranks && !p->root[0])
        find_interface_to(p->names[other], interface, sizeof interface);
    add_host_facts(p, interface, sizeof interface);
    for (size_t i = 0; i < sizeof thread_variables / sizeof *thread_variables; i++) {
        const char *value = getenv(thread_variables[i]);

        if (value && value[0])
            fprintf(p->out, "fact %d %s %.*s\n", p->rank, thread_variables[i], (int)strcspn(value, "\n"), value);
    }
}
