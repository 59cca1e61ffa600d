/* export.c - a host's answer, and the key of equal topologies; see cluster.h and internal.h for the contracts */
#include "cluster/internal.h"

#include "base/file.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the key of a topology */

/* 1 for a tag (without its '>') that differs between equal hosts, else 0. */
static int is_personal(const char *tag, size_t len)
{
    static const char *const starts[] = {
        "<page_type ", "<info name=\"HostName\"", "<info name=\"OSRelease\"", "<info name=\"OSVersion\"",
        "<info name=\"LinuxCgroup\"", "<info name=\"ProcessName\"", "<info name=\"DMI"
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (len >= strlen(starts[i]) && !strncmp(tag, starts[i], strlen(starts[i])))
            return 1;
    return 0;
}

/* The memory of nodes is rounded: each host gives its own total besides. */
uint64_t hrun_topology_key(const char *xml, size_t len)
{
    static const char memory[] = " local_memory=\"";
    const char *last = xml + len, *end, *at;
    uint64_t h = HRUN_HASH_INIT, rounded;
    char *after;

    for (const char *p = memchr(xml, '<', len); p; p = memchr(end, '<', (size_t)(last - end))) {
        end = memchr(p, '>', (size_t)(last - p));
        if (!end)
            end = last;
        if (is_personal(p, (size_t)(end - p)))
            continue;
        at = memmem(p, (size_t)(end - p), memory, strlen(memory));
        if (at) {
            at += strlen(memory);
            h = hrun_hash(h, p, (size_t)(at - p));
            rounded = hrun_round_memory(strtoull(at, &after, 10));
            h = hrun_hash(h, &rounded, sizeof rounded);
            p = after;
        }
        h = hrun_hash(h, p, (size_t)(end - p));
    }
    return h;
}

/* ---------------------------------------------------------------- telling */

int hrun_cluster_export(const char *mpi, const char *watched, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);
    struct hrun_topo_pe *pes = NULL;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT, boot = HRUN_BUF_INIT;
    char name[256] = "";
    uint64_t memory = 0, key;
    int n = 0, rc = -1;

    if (!t || hrun_topo_export(t, &b, err) || hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, err))
        goto done;
    key = hrun_topology_key(b.data, b.len);
    hrun_buf_addf(&b, "%susable ", HRUN_TOLD_MARK);
    for (int i = 0; i < n; i++) {       /* one PE for each kind of cores */
        hrun_buf_addf(&b, "%s%s", i ? "," : "", pes[i].cpuset);
        memory += pes[i].memory_bytes;
    }
    hrun_buf_addf(&b, "\nmemory %llu\n", (unsigned long long)memory);
    if (hrun_topo_cpu_quota(t) > 0)
        hrun_buf_addf(&b, "quota %.6f\n", hrun_topo_cpu_quota(t));
    if (!strstr(hrun_topo_cpu_model(t), HRUN_TOLD_END))
        hrun_buf_addf(&b, "cpu %s\n", hrun_topo_cpu_model(t));
    if (mpi)
        hrun_buf_addf(&b, "mpi %s\n", mpi);
    hrun_buf_adds(&b, "fingerprint ");
    hrun_topo_fingerprint(watched, &b);
    hrun_buf_addc(&b, '\n');
    /* The name distinguishes containers on one kernel. */
    if (!hrun_file_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL) && !gethostname(name, sizeof name - 1))
        hrun_buf_addf(&b, "machine %016llx %s\n",
                      (unsigned long long)hrun_hash(HRUN_HASH_INIT, boot.data, boot.len), name);
    hrun_buf_addf(&b, "topology %016llx\n%s\n", (unsigned long long)key, HRUN_TOLD_END);
    hrun_buf_add(out, b.data, b.len);
    rc = 0;
done:
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
    return rc;
}
