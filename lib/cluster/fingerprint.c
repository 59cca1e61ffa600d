/* fingerprint.c - a checksum of a host's usable resources; see topo.h for the contract. It does not use hwloc, because
 * hrun-shim links it with lib/cluster/sysinfo.c and lib/base/buf.c only. */
#include "cluster/topo.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* CPUs of the largest affinity mask; Linux is built for 8192 at most. */
enum { CPUS_MAX = 16384 };

/* CRC-32 (ISO 3309, reflected polynomial 0xedb88320), bit by bit: a few kilobytes are not worth a table or zlib. */
static uint32_t crc_of(const char *data, size_t len)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* The beginning of a file, as much as one page of /proc or /sys holds; "" when there is none. */
static void read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

static void add_affinity(struct hrun_buf *b)
{
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);

    if (!set)
        return;
    CPU_ZERO_S(size, set);
    if (sched_getaffinity(0, size, set) == 0)
        for (int i = 0; i < CPUS_MAX; i++)
            if (CPU_ISSET_S(i, size, set))
                hrun_buf_addf(b, "%d,", i);
    CPU_FREE(set);
    hrun_buf_addc(b, '\n');
}

/* The lines of the first processor that name its model; on ARM numbers stand in for it. */
static void add_cpu_model(struct hrun_buf *b)
{
    static const char *const keys[] = { "model name\t", "cpu\t", "cpu model\t", "Hardware\t", "CPU implementer\t",
                                        "CPU part\t" };
    char text[4096];

    read_start("/proc/cpuinfo", text, sizeof text);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        for (const char *line = text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (strncmp(line, keys[k], strlen(keys[k])))
                continue;
            hrun_buf_add(b, line, strcspn(line, "\n"));
            break;
        }
    hrun_buf_addc(b, '\n');
}

static void add_limits(struct hrun_buf *b)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t limit = hrun_cgroup_memory_limit("");
    double quota = hrun_cgroup_cpu_quota("");

    if (quota > 0)
        hrun_buf_addf(b, "%.6f\n", quota);
    hrun_buf_addf(b, "%llu %llu\n",
                  (unsigned long long)(pages > 0 && page > 0 ? hrun_round_memory((uint64_t)pages * (uint64_t)page) : 0),
                  (unsigned long long)(limit == UINT64_MAX ? 0 : hrun_round_memory(limit)));
}

/* Append hwloc's variables that replace the real topology. */
static void add_variables(struct hrun_buf *b)
{
    static const struct { const char *name; int is_path; } variables[] = {
        { "HWLOC_SYNTHETIC", 0 }, { "HWLOC_XMLFILE", 1 }, { "HWLOC_FSROOT", 1 }, { "HWLOC_CPUID_PATH", 1 },
        { "HWLOC_COMPONENTS", 0 }, { "HWLOC_THISSYSTEM", 0 },
    };
    struct stat st;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);

        if (!value || !*value)
            continue;
        hrun_buf_addf(b, "%s=%s", variables[i].name, value);
        if (variables[i].is_path && stat(value, &st) == 0)
            hrun_buf_addf(b, " %lld %lld.%ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        hrun_buf_addc(b, '\n');
    }
}

void hrun_topo_fingerprint(const char *extra, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char name[256] = "", online[4096];

    gethostname(name, sizeof name - 1);
    read_start("/sys/devices/system/cpu/online", online, sizeof online);
    hrun_buf_addf(&b, "%s\n%s\n", name, online);
    add_affinity(&b);
    add_cpu_model(&b);
    add_limits(&b);
    add_variables(&b);
    hrun_buf_adds(&b, extra ? extra : "");
    hrun_buf_addf(out, "%08lx", (unsigned long)crc_of(b.data, b.len));
}
