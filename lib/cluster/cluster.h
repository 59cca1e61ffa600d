/* cluster.h - discovery of hosts, and their division into sub-clusters
 *
 * Purpose: make the sub-clusters G1..G_Gamma (paper 000, section 4.1) with their PEs in a stable order, from a cluster
 * file, a host file, --host, else the allocation of a resource manager, else this host alone; or from a platform file
 * of SimGrid, whose hosts are simulated, so that no real host is asked.
 * Invariants:
 *   - all PEs of a sub-cluster have equal CPU model, core kind, level, and numbers of cores and PUs. Unless a cluster
 *     file put them together, they also have equal memory to two significant binary digits, and their hosts equal CPU
 *     quotas, as far as a quota is less than the host's cores;
 *   - the PEs of a sub-cluster follow each other host by host, those of a host in the order of their index;
 *   - sub-clusters have the order of the cluster file, else that of CPU model, core kind (the fastest of a host first),
 *     more cores first, more memory first, larger quota first, for every order of the hosts; names are unique, and
 *     contain the differences if one CPU model gives several sub-clusters;
 *   - no host is listed twice; a host that cannot be resolved is an error; a host that does not answer is an error,
 *     unless skip_unreachable is set;
 *   - inside an allocation PEs contain granted CPUs only, as whole cores. A host file or --host that names another host
 *     is an error; only the granted hosts of a cluster file are used;
 *   - nothing about a remote host is assumed from this one: its topology comes from the cluster file, or from
 *     that host;
 *   - no PE contains PUs that a host's cgroup or affinity mask forbids, on this host or others;
 *   - this host always has the topology that hwloc finds, not that of a file; a file that describes more cores than
 *     this host has is an error;
 *   - simulated hosts are in one sub-cluster if they have the same speed, cores, link and route to themselves, and no
 *     thin or long link is between them; the fastest sub-cluster comes first; a sub-cluster's name is the common
 *     beginning of its hosts' names.
 * The default level is `core` for one real host, else `node`. The formats of host files, --host and cluster files are
 * in hrun-cluster(5).
 */
#ifndef HRUN_CLUSTER_H
#define HRUN_CLUSTER_H

#include "base/buf.h"
#include "base/error.h"
#include "cluster/topo.h"

#include <stdint.h>

struct hrun_host_answer;        /* another host's description of itself */
struct hrun_cut;                /* a kind of host cut into PEs */

/* OPENMPI: Open MPI's default host file. OTHER: SGE, LSF, OAR, Cobalt, or Slurm on one host without its list of nodes;
 * their variables or files list hosts and slots. */
enum hrun_manager {
    HRUN_MANAGER_NONE, HRUN_MANAGER_SLURM, HRUN_MANAGER_PBS, HRUN_MANAGER_FLUX, HRUN_MANAGER_OPENMPI, HRUN_MANAGER_OTHER
};

struct hrun_host {
    char *name;
    int is_local;               /* 1: this host */
    int cores;                  /* upper limit of the cores in PEs, from host file or allocation; 0 = all */
    int slots;                  /* processes granted by host file or allocation; 0 = one for each core */
    struct hrun_topo *topo;     /* one of the cluster's topos, hosts may share it; NULL for a host that the cluster file
                                   describes by numbers only */
    struct hrun_host_answer *answer;     /* the answer of a host that was asked; else NULL */
    const char *fingerprint;    /* of a host that was asked, now or earlier (see hrun_topo_fingerprint); else "" */
    const char *mpi;            /* of a host that was asked: its version of Open MPI, "" none; else NULL */
    int remembered;             /* 1: its answer comes from the cache */
    int64_t asked_s;            /* when the host was asked, seconds since 1970; 0: it was not */
    double cpu_quota;           /* CPUs that the cgroup grants (hrun_topo_cpu_quota); 0: no limit, or not known */
    int group;                  /* its component in a heterogeneous job of the allocation, from 0 */
};

struct hrun_pe {
    int host;                   /* index into hosts */
    int index;                  /* PE number on its host and level, from 0 */
    const char *cpuset, *cores, *core_pus; /* as in struct hrun_topo_pe, owned by the cluster; equal PEs of equal hosts
                                              share them. For a host described by numbers cpuset and core_pus are "",
                                              and cores are numbered from 0 in the order of the cluster file */
    int ncores, npus;
    uint64_t memory_bytes;      /* 0 = unknown */
};

struct hrun_subcluster {
    char *name;                 /* from the cluster file, else made from model and kind */
    char *cpu_model, *core_kind; /* core_kind "" if the host has one kind */
    int kind;                   /* smallest number of this core kind on its hosts; 0 is the fastest */
    enum hrun_level level;
    int cores_per_pe, pus_per_pe;
    uint64_t memory_bytes;      /* per PE: the smallest of its PEs, 0 = unknown */
    int quota_permille;         /* CPU quota of each host's cgroup, in thousandths of a CPU; 0: at least as many CPUs as
                                   cores, unknown, or from a cluster file, whose hosts may differ */
    double cost_per_hour, power_w; /* per PE, from the cluster file; 0 = not given */
    char *program;              /* program to start here instead of the job's, from the cluster file; NULL: none */
    /* For simulated hosts; else NULL and 0. */
    char *network;              /* "link 125 MB/s 50 us, between two hosts 125 MB/s 100 us": part of the signature */
    double core_flops;          /* speed of a core, flop/s */
    double link_bw, link_lat;   /* of the host's own link, bytes/s and s; 0: it has no link */
    int island;                 /* of the network, from 0 */
    struct hrun_pe *pes;
    int npes;
};

struct hrun_cluster {
    char *ledger;               /* folder of the ledger, from the cluster file; NULL: none */
    char *source;               /* "this host", "host file F", "cluster file F", "--host", "Slurm job 12",
                                   "SGE job 7", "Open MPI's host file F",
                                   "platform F" */
    char *platform;             /* absolute path of the platform file, hosts are simulated; NULL: they are real */
    char *simgrid;              /* "3.32": version of SimGrid that has read platform; NULL: none */
    enum hrun_manager manager;  /* of the surrounding allocation; OPENMPI: the hosts are from its host file */
    char *allocation;           /* "Slurm job 12", "PBS job 7", "Flux instance"; NULL: none */
    int ngroups;                /* components of the allocation, 1 unless the job is heterogeneous */
    int granted;                /* processes that the allocation grants on these hosts; 0: unknown */
    int cpus_each;              /* CPUs of each process, in the allocation's units; 0: an equal part of the host's */
    struct hrun_strvec unreachable; /* hosts left out because they did not answer (skip_unreachable) */
    struct hrun_strvec why_not; /* for each unreachable host: name, reason and remedy */
    char *cache_note;           /* why the cache of answers could not be written; NULL: no error */
    struct hrun_strvec not_granted; /* hosts of the cluster file left out because the allocation does not have them */
    struct hrun_host *hosts;
    int nhosts;
    struct hrun_topo **topos;   /* owned; the hosts point to them */
    uint64_t *topo_keys;        /* owned: hrun_topology_key of topologies from answers; else 0 */
    int ntopos;
    struct hrun_cut **cuts;     /* owned, with the strings of PEs of hosts of known topology */
    int ncuts, cuts_cap;
    struct hrun_strvec texts;   /* strings of other PEs */
    struct hrun_subcluster *subs;
    int nsubs;
};

/* The user's request. NULL or -1: not given. A cluster file excludes host_file and hosts. With a host file, hosts
 * selects from it. level takes precedence over the levels of the cluster file. */
struct hrun_cluster_request {
    const char *cluster_file;
    const char *host_file;
    const char *hosts;          /* "a:2,b,p4-[0-3]" */
    int level;                  /* enum hrun_level, or -1 */
    const char *openmpi_hostfile; /* Open MPI's default host file from its parameters, "none" for none; NULL: that of
                                   the environment, else that of Open MPI's installation */
    /* Get the topologies of n other hosts: called once, for hosts that neither a cluster file nor the cache describes.
     * texts[n], initialised, get the output of hrun_cluster_export there, perhaps after lines of the shell. errors[n],
     * zeroed, get each failure (the text names host and remedy). skip: 1: go on after a failure, 0: may stop at the
     * first. Result 0, also when hosts failed; -1 with *err if none could be asked (no remote shell, interrupted).
     * NULL: no host is asked, and a host that is not described is an error. */
    int (*topologies)(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts,
                      struct hrun_error *errors, struct hrun_error *err);
    void *ctx;
    const char *cache_dir;      /* folder that caches the hosts' answers, created if missing; NULL: no cache. A cache
                                   that cannot be written is not an error, a torn entry is ignored */
    const char *via;            /* how hosts are reached (for instance the remote shell and its options); answers cached
                                   with another text are ignored. NULL: "" */
    int refresh;                /* 1: ask all hosts, ignore the cache */
    int skip_unreachable;       /* 1: a host that does not answer is left out, else it is an error */
    const char *platform;       /* platform file of SimGrid, or NULL. With one, host_file or hosts select from its hosts
                                   (their slots limit the PEs of level core), cluster_file must be NULL, and of the
                                   other members only level and read_platform have an effect */
    /* Append the output of `hrun-smpi hosts PATH HOST...` (see hrun/smpi.c); hosts: ended by NULL, or NULL for all.
     * Result 0, also when hrun-smpi has failed; -1 with *err if there is no hrun-smpi. */
    int (*read_platform)(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                         struct hrun_error *err);
    /* Append the resource set R of the surrounding Flux instance, for hrun_allocation_flux; nothing outside of an
     * instance. NULL: there is no instance. */
    int (*flux_resources)(void *ctx, struct hrun_buf *text, struct hrun_error *err);
};

/* Discover. Errors: HRUN_EINVAL or HRUN_EPARSE with file, line and column for host and cluster files and for --host,
 * which counts as a file of one line (empty, duplicate host, unknown host, bad range, a remote host that no cluster
 * file describes and that cannot be asked, ...), HRUN_ENOENT, those of hrun_topo_load, hrun_topo_pes and
 * req->topologies (with the place of the host); for a platform file HRUN_ENOENT, HRUN_EPARSE (with SimGrid's line),
 * HRUN_EINVAL (no host, no route between two, an unknown level or host), those of req->read_platform. */
int hrun_cluster_discover(const struct hrun_cluster_request *req, struct hrun_cluster **out,
                          struct hrun_error *err);
void hrun_cluster_destroy(struct hrun_cluster *c);

/* Append this host's topology for a discovery on another host: the XML of hrun_topo_export, and after it an instruction
 * "<?hrun ... ?>" with lines "key value" of data that the XML does not contain: usable (PUs of this process, "0-3,8"),
 * memory (bytes of all PEs, limits of cgroups applied), quota, cpu (model), mpi (version of Open MPI, "" for none; left
 * out if mpi is NULL), fingerprint (hrun_topo_fingerprint(watched)), machine (a hash of the boot, and the host's own
 * name: equal for two names of one host), topology (hrun_topology_key of the XML: equal for equal hardware).
 * Errors: those of hrun_topo_load and hrun_topo_export. */
int hrun_cluster_export(const char *mpi, const char *watched, struct hrun_buf *out, struct hrun_error *err);

/* A core of a host, and the objects around it. */
struct hrun_core {
    int number;                 /* as in hrun_pe.cores */
    const char *pus;            /* "0,8"; owned by the cluster; "" if unknown */
    int at[HRUN_NOBJECTS];      /* number of the object of each type (hrun_topo_object), -1: none, or unknown */
};
/* All usable cores of a host in the order of their numbers, also those in no PE; for a host without topology the
 * cores of its PEs. *cores gets *n entries, and the caller frees it. */
int hrun_host_cores(struct hrun_cluster *c, int host, struct hrun_core **cores, int *n, struct hrun_error *err);

/* The hosts that the environment grants this process, in their order: by Slurm, PBS, SGE, LSF, OAR, Cobalt
 * (hrun-cluster(5) has the variables), or by Open MPI's default host file if it names a host. */
struct hrun_allocation {
    enum hrun_manager manager;  /* NONE: no allocation, all else is empty */
    char *name;                 /* "Slurm job 12", ... */
    struct hrun_strvec hosts;
    int *cpus;                  /* of each host: number that may be used, 0 = all */
    int cpus_are_cores;         /* 1: cpus counts cores, 0: hardware threads (Slurm) */
    int *slots;                 /* of each host: processes granted, 0 = unknown */
    int cpus_each;              /* CPUs of each process, 0: unknown */
    int *group;                 /* of each host: component of a heterogeneous job, else 0 */
    int ngroups;                /* 1 unless the job is heterogeneous */
};
/* hostfile: the default host file from Open MPI's parameters; NULL: that of the environment. Errors: HRUN_EPARSE with
 * the variable (or file and line) and the mistake, HRUN_ENOENT, HRUN_EIO. *out is empty on failure. */
int hrun_allocation_find(const char *hostfile, struct hrun_allocation *out, struct hrun_error *err);
/* *out gets the hosts in the resource set R of a Flux instance (Flux RFC 20, version 1), in the order of their ranks.
 * No variable contains R. Errors: HRUN_EPARSE. */
int hrun_allocation_flux(const char *resources, struct hrun_allocation *out, struct hrun_error *err);
void hrun_allocation_release(struct hrun_allocation *a);

/* Append the signature of a kind of PE as a file name: a readable part of [a-z0-9.-] and 8 hex digits, the CRC-32 of
 * the exact fields: CPU model, core kind, cores, PUs, memory, level, MPI (such as "ompi-4.1.4"), engine, network
 * of simulated hosts, CPU quota. Memory is rounded to two significant binary digits, because kernels reserve different
 * amounts. Number, names, cost and power of PEs are not part of it. mpi and engine may be NULL. */
void hrun_cluster_signature(const struct hrun_subcluster *s, const char *mpi, const char *engine,
                            struct hrun_buf *out);

/* Append the own name of this host or of a host that was asked, else the host's name in the cluster. A host in 127/8
 * keeps its name in the cluster, because tests use these addresses as several hosts. */
void hrun_host_own_name(const struct hrun_host *h, struct hrun_buf *out);

/* *out gets the folder in `ledger:` of a cluster file, which the caller frees; NULL: none. Errors: those of reading a
 * cluster file. */
int hrun_clusterfile_ledger(const char *path, char **out, struct hrun_error *err);

/* Cost and power per PE of a sub-cluster from a cluster file, 0 if not given; no host is asked. subcluster: NAME of
 * an entry, or NAME-SUFFIX if the entry gives several sub-clusters. Result: 1; 0: there is no such entry, or the entry
 * gives neither; -1 with the errors of hrun_cluster_discover about the file's form. */
int hrun_clusterfile_price(const char *path, const char *subcluster, double *cost_per_hour, double *power_w,
                           struct hrun_error *err);

/* Append the names of the sub-clusters, "fast,slow", to the empty buffer out. */
void hrun_cluster_names(const struct hrun_cluster *c, struct hrun_buf *out);

/* Append the hosts used by PEs first..first+n-1 of a sub-cluster, folded ("p4-[0-3]"). */
void hrun_subcluster_hosts(const struct hrun_cluster *c, const struct hrun_subcluster *s, int first, int n,
                           struct hrun_buf *out);

#endif
