/* cluster.h - hosts -> sub-clusters
 *
 * Purpose: from this host alone, a host file, --host or a cluster file make the sub-clusters G1..G_Gamma
 * (paper 000, section 4.1) with their PEs in a stable order.
 * Invariants:
 *   - all PEs of a sub-cluster are equivalent: same CPU model, core kind, cores, PUs, level and, unless a
 *     cluster file put them together, the same memory to two significant binary digits;
 *   - sub-clusters are ordered as the cluster file lists them, else by first appearance of a PE (hosts in the
 *     order given, PEs as lib/topo orders them); names are unique;
 *   - no host is listed twice; a host that cannot be resolved is an error, never skipped;
 *   - nothing about a remote host is assumed from this one: its topology comes from the cluster file, or from
 *     that host;
 *   - what a host's cgroup or affinity mask forbids is in no PE, be it this host or another;
 *   - the host we run on is always what hwloc finds here, whatever a file says of it; a file that describes
 *     more cores than it has is an error.
 * Without a level: `core` when there is one host, `node` when there are several. The formats of host files,
 * --host and cluster files are in hrun-cluster(5).
 */
#ifndef HRUN_CLUSTER_H
#define HRUN_CLUSTER_H

#include "base/buf.h"
#include "base/error.h"
#include "topo/topo.h"

#include <stdint.h>

struct hrun_told;               /* what another host said of itself */

struct hrun_host {
    char *name;
    int is_local;               /* the host we run on */
    int slots;                  /* cores granted by the host file, an upper limit; 0 = all */
    struct hrun_topo *topo;     /* one of the cluster's topos, hosts may share it; NULL for a host that the
                                   cluster file only describes by numbers */
    struct hrun_told *told;     /* of a host that was asked, beside its topology; else NULL */
};

struct hrun_pe {
    int host;                   /* index into hosts */
    int index;                  /* PE number on its host and level, from 0 */
    char *cpuset, *cores;       /* as in struct hrun_topo_pe; of a host described by numbers the cpuset is ""
                                   and the cores are counted from 0 in the order of the cluster file */
    int ncores, npus;
    uint64_t memory_bytes;      /* 0 = unknown */
};

struct hrun_subcluster {
    char *name;                 /* from the cluster file, else made from model and kind */
    char *cpu_model, *core_kind; /* core_kind "" where a host has one kind */
    enum hrun_level level;
    int cores_per_pe, pus_per_pe;
    uint64_t memory_bytes;      /* per PE: the smallest of its PEs, 0 = unknown */
    double cost_per_hour, power_w; /* per PE, from the cluster file; 0 = not given */
    struct hrun_pe *pes;
    int npes;
};

struct hrun_cluster {
    char *source;               /* "this host", "host file F", "cluster file F", "--host" */
    struct hrun_host *hosts;
    int nhosts;
    struct hrun_topo **topos;   /* owned: what the hosts point to */
    int ntopos;
    struct hrun_subcluster *subs;
    int nsubs;
};

/* What the user asked for; NULL or -1 where nothing. At most one of the three sources. A level given here
 * goes before those of the cluster file. */
struct hrun_cluster_request {
    const char *cluster_file;
    const char *host_file;
    const char *hosts;          /* "a:2,b,p4-[0-3]" */
    int level;                  /* enum hrun_level, or -1 */
    /* Ask n other hosts what they are made of: called once, with those that no cluster file describes. Each of
     * texts[n], initialised, is to get what hrun_cluster_export gives there; lines that the shell there prints
     * before it do no harm. Result 0; or -1 with *err, which names the host and what to do, and the host's
     * index (or -1) in *bad. NULL: no host is asked, and one that is not described is an error. */
    int (*topologies)(void *ctx, char *const *hosts, int n, struct hrun_buf *texts, int *bad,
                      struct hrun_error *err);
    void *ctx;
};

/* Discover. Errors: HRUN_EINVAL / HRUN_EPARSE with file, line and column for host and cluster files and
 * for --host, which counts as a file of one line (empty, duplicate host, unknown host, bad range, a remote
 * host that no cluster file describes and that cannot be asked, ...), HRUN_ENOENT, those of hrun_topo_load,
 * hrun_topo_pes and req->topologies (with the place of the host). */
int hrun_cluster_discover(const struct hrun_cluster_request *req, struct hrun_cluster **out,
                          struct hrun_error *err);
void hrun_cluster_destroy(struct hrun_cluster *c);

/* Append this host's topology for a discovery on another one: hwloc XML, as hrun_topo_export gives it, and
 * behind that a processing instruction with what XML does not carry: the PUs that this process may use, the
 * memory of the PEs (limits of cgroups applied), the CPU model:
 *     <?hrun
 *     usable 0-3,8
 *     memory 16000000000
 *     cpu AMD EPYC
 *     ?>
 * Errors: those of hrun_topo_load and hrun_topo_export. */
int hrun_cluster_export(struct hrun_buf *out, struct hrun_error *err);

/* Append the signature of a kind of PE: CPU model, core kind, cores, memory, level, MPI (for instance
 * "ompi-4.1.4") and engine, as a file name: a readable part of [a-z0-9.-] and 8 hex digits (CRC-32) of the
 * exact fields, memory rounded to two significant binary digits: a few MB more or less of memory, as kernels
 * differ in what they keep, are the same kind of PE. Not part of it: how many PEs there are, their names,
 * cost and power. mpi and engine may be NULL. */
void hrun_cluster_signature(const struct hrun_subcluster *s, const char *mpi, const char *engine,
                            struct hrun_buf *out);

/* Append the hosts used by PEs first..first+n-1 of a sub-cluster, folded ("p4-[0-3]"). */
void hrun_subcluster_hosts(const struct hrun_cluster *c, const struct hrun_subcluster *s, int first, int n,
                           struct hrun_buf *out);

#endif
