/* cluster.h - hosts -> sub-clusters
 *
 * Purpose: from a cluster file, a host file, --host, else the allocation of a resource manager, else this host alone,
 * make the sub-clusters G1..G_Gamma (paper 000, section 4.1) with their PEs in a stable order; or from a platform file
 * of SimGrid, whose hosts are simulated and where nothing real is asked.
 * Invariants:
 *   - all PEs of a sub-cluster are equivalent: same CPU model, core kind, cores, PUs, level and, unless a
 *     cluster file put them together, the same memory to two significant binary digits and the same CPU quota of
 *     their hosts, where that is less than their cores;
 *   - the PEs of a sub-cluster follow each other host by host, those of a host in the order of their index;
 *   - sub-clusters are ordered as the cluster file lists them, else by what they are: CPU model, core kind (the
 *     fastest of a host first), more cores first, more memory first, larger quota first, whatever the order of the
 *     hosts; names are unique, and where one CPU model gives several sub-clusters they say in what these differ;
 *   - no host is listed twice; a host that cannot be resolved is an error; one that does not answer too, unless
 *     skip_unreachable is set;
 *   - inside an allocation nothing that it does not grant is in a PE: a host file or --host that names another host is
 *     an error, of a cluster file the granted hosts are taken; of a host at most the CPUs granted, whole cores only;
 *   - nothing about a remote host is assumed from this one: its topology comes from the cluster file, or from
 *     that host;
 *   - what a host's cgroup or affinity mask forbids is in no PE, be it this host or another;
 *   - the host we run on is always what hwloc finds here, whatever a file says of it; a file that describes
 *     more cores than it has is an error.
 *   - simulated hosts are in one sub-cluster when speed, cores and network are the same: their own link, their route to
 *     themselves, and no thin or long link between them; the fastest sub-cluster stands first, and it is called by
 *     what the names of its hosts begin with.
 * Without a level: `core` when there is one host, `node` when there are several or they are simulated. The formats of
 * host files, --host and cluster files are in hrun-cluster(5).
 */
#ifndef HRUN_CLUSTER_H
#define HRUN_CLUSTER_H

#include "base/buf.h"
#include "base/error.h"
#include "cluster/topo.h"

#include <stdint.h>

struct hrun_host_answer;        /* what another host said of itself */
struct hrun_cuts;               /* hosts cut into PEs */

/* OTHER: one that only lists the hosts. */
enum hrun_manager {
    HRUN_MANAGER_NONE, HRUN_MANAGER_SLURM, HRUN_MANAGER_PBS, HRUN_MANAGER_FLUX, HRUN_MANAGER_OPENMPI, HRUN_MANAGER_OTHER
};

struct hrun_host {
    char *name;
    int is_local;               /* the host we run on */
    int cores;                  /* that PEs are made of, granted by host file or allocation, an upper limit; 0 = all */
    int slots;                  /* processes that host file or allocation grant; 0 = one for each core */
    struct hrun_topo *topo;     /* one of the cluster's topos, hosts may share it; NULL for a host that the
                                   cluster file only describes by numbers */
    struct hrun_host_answer *answer;     /* of a host that was asked, beside its topology; else NULL */
    const char *fingerprint;    /* of a host that was asked, now or earlier (see hrun_topo_fingerprint); else "" */
    const char *mpi;            /* of a host that was asked: the version of Open MPI there, "" none; else NULL */
    int remembered;             /* 1: what we know of it comes from the cache */
    int64_t asked_s;            /* when it was asked, seconds since 1970; 0: it was not */
    double cpu_quota;           /* CPUs that the cgroup grants (hrun_topo_cpu_quota); 0: no limit, or not known */
    int group;                  /* its component in a heterogeneous job of the allocation, from 0 */
};

struct hrun_pe {
    int host;                   /* index into hosts */
    int index;                  /* PE number on its host and level, from 0 */
    const char *cpuset, *cores, *core_pus; /* as in struct hrun_topo_pe, owned by the cluster, equal PEs of equal
                                   hosts share them; of a host described by numbers cpuset and core_pus are ""
                                   and the cores are counted from 0 in the order of the cluster file */
    int ncores, npus;
    uint64_t memory_bytes;      /* 0 = unknown */
};

struct hrun_subcluster {
    char *name;                 /* from the cluster file, else made from model and kind */
    char *cpu_model, *core_kind; /* core_kind "" where a host has one kind */
    int kind;                   /* the smallest number that this core kind has on its hosts: 0 is the fastest */
    enum hrun_level level;
    int cores_per_pe, pus_per_pe;
    uint64_t memory_bytes;      /* per PE: the smallest of its PEs, 0 = unknown */
    int quota_permille;         /* thousandths of a CPU that the control group of each of its hosts grants; 0: no fewer
                                   than the cores there, not known, or of a cluster file, where hosts may differ */
    double cost_per_hour, power_w; /* per PE, from the cluster file; 0 = not given */
    char *program;              /* what starts here in place of the program, from the cluster file; NULL: not given */
    /* Of simulated hosts; else NULL and 0. */
    char *network;              /* "link 125 MB/s 50 us, between two hosts 125 MB/s 100 us": part of the signature */
    double core_flops;          /* speed of a core, flop/s */
    double link_bw, link_lat;   /* of the host's own link, bytes/s and s; 0: it has none */
    int island;                 /* of the network, from 0 */
    struct hrun_pe *pes;
    int npes;
};

struct hrun_cluster {
    char *ledger;               /* folder of the ledger, as the cluster file names it; NULL: it names none */
    char *source;               /* "this host", "host file F", "cluster file F", "--host", "Slurm job 12",
                                   "SGE job 7", "Open MPI's host file F",
                                   "platform F" */
    char *platform;             /* absolute path of the platform file, hosts are simulated; NULL: they are real */
    char *simgrid;              /* "3.32": the version of SimGrid that has read it; NULL */
    enum hrun_manager manager;  /* whose allocation we are in; OPENMPI where the hosts are those of its host file */
    char *allocation;           /* "Slurm job 12", "PBS job 7", "Flux instance"; NULL in none */
    int ngroups;                /* components of the allocation, 1 unless it is a heterogeneous job */
    int granted;                /* processes that the allocation grants on these hosts; 0: it does not say */
    int cpus_each;              /* CPUs of each, as the allocation counts them; 0: an equal part of the host's */
    struct hrun_strvec unreachable; /* hosts left out because they did not answer (skip_unreachable) */
    struct hrun_strvec why_not; /* why each of them did not, with the name and what to do */
    char *cache_note;           /* why what hosts said could not be kept; NULL: it could */
    struct hrun_strvec not_granted; /* hosts of the cluster file left out because the allocation has not got them */
    struct hrun_host *hosts;
    int nhosts;
    struct hrun_topo **topos;   /* owned: what the hosts point to */
    int ntopos;
    struct hrun_cuts *cuts;     /* owned: the strings of the PEs */
    struct hrun_subcluster *subs;
    int nsubs;
};

/* What the user asked for; NULL or -1 where nothing. With a cluster file there is neither a host file nor a list of
 * hosts; of a host file a list chooses hosts. A level given here goes before those of the cluster file. */
struct hrun_cluster_request {
    const char *cluster_file;
    const char *host_file;
    const char *hosts;          /* "a:2,b,p4-[0-3]" */
    int level;                  /* enum hrun_level, or -1 */
    const char *openmpi_hostfile; /* Open MPI's default host file as its parameters name it, "none" for none; NULL: as
                                   the environment says, else where Open MPI is installed */
    /* Ask n other hosts what they are made of: called once, with those that no cluster file describes and the
     * cache does not know. Each of texts[n], initialised, is to get what hrun_cluster_export gives there; lines
     * that the shell there prints before it do no harm. errors[n], zeroed, get for each host why it did not
     * answer (the text names the host and what to do). Result 0, also when hosts failed; -1 with *err when none
     * could be asked (no remote shell, interrupted). skip: 1 when the others are wanted although one fails; else
     * it may stop at the first. NULL: no host is asked, and one that is not described is an error. */
    int (*topologies)(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts,
                      struct hrun_error *errors, struct hrun_error *err);
    void *ctx;
    const char *cache_dir;      /* what hosts said is kept here, made when missing; NULL: nothing is kept. A cache
                                   that cannot be written is no error, a torn entry counts as none */
    const char *via;            /* what reaches the hosts (the remote shell and its options, say): what was said
                                   through another way is not trusted. NULL as "" */
    int refresh;                /* 1: ask all hosts, whatever the cache knows */
    int skip_unreachable;       /* 1: a host that does not answer is left out, else it is an error */
    const char *platform;       /* platform file of SimGrid, or NULL. With one, host_file or hosts choose from its hosts
                                   (their slots limit the PEs of level core), a cluster file cannot be given, and of
                                   the rest only level and read_platform count */
    /* Append what `hrun-smpi hosts PATH HOST...` prints (see hrun/smpi.c); hosts: ended by NULL, or NULL for all.
     * Result 0, also when it has failed; -1 with *err when there is no hrun-smpi. */
    int (*read_platform)(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                         struct hrun_error *err);
    /* Append the resource set R of the Flux instance that we are in, for hrun_allocation_flux; nothing where we are in
     * none. NULL: as in none. */
    int (*flux_resources)(void *ctx, struct hrun_buf *text, struct hrun_error *err);
};

/* Discover. Errors: HRUN_EINVAL / HRUN_EPARSE with file, line and column for host and cluster files and
 * for --host, which counts as a file of one line (empty, duplicate host, unknown host, bad range, a remote
 * host that no cluster file describes and that cannot be asked, ...), HRUN_ENOENT, those of hrun_topo_load,
 * hrun_topo_pes and req->topologies (with the place of the host); of a platform file HRUN_ENOENT, HRUN_EPARSE (with the
 * line that SimGrid names), HRUN_EINVAL (no host, no route between two, a level or a host of the list that it has not
 * got), those of req->read_platform. */
int hrun_cluster_discover(const struct hrun_cluster_request *req, struct hrun_cluster **out,
                          struct hrun_error *err);
void hrun_cluster_destroy(struct hrun_cluster *c);

/* Append this host's topology for a discovery on another one: hwloc XML, as hrun_topo_export gives it, and
 * behind that a processing instruction with what XML does not carry: the PUs that this process may use, the
 * memory of the PEs (limits of cgroups applied), the CPU model, the version of Open MPI (mpi, "" for none; NULL: left
 * out), and the fingerprint of hrun_topo_fingerprint(watched):
 *     <?hrun
 *     usable 0-3,8
 *     memory 16000000000
 *     cpu AMD EPYC
 *     mpi 4.1.4
 *     fingerprint 1a2b3c4d
 *     machine 5d41402abc4b2a76 node17
 *     topology 0123456789abcdef
 *     ?>
 * machine (boot and own name) is equal for two names of one host; topology, a hash of what counts in the XML, is equal
 * for hosts that are alike.
 * Errors: those of hrun_topo_load and hrun_topo_export. */
int hrun_cluster_export(const char *mpi, const char *watched, struct hrun_buf *out, struct hrun_error *err);

/* A core of a host, and the objects around it. */
struct hrun_core {
    int number;                 /* as in hrun_pe.cores */
    const char *pus;            /* "0,8"; owned by the cluster; "" where they are not known */
    int at[HRUN_NOBJECTS];      /* number of the object of each type (hrun_topo_object), -1: none, or not known */
};
/* All cores of a host that may be used there, in no PE, too, in the order of their numbers; of a host without topology
 * those of its PEs. *cores, with *n entries, is the caller's to free. */
int hrun_host_cores(struct hrun_cluster *c, int host, struct hrun_core **cores, int *n, struct hrun_error *err);

/* The hosts that a resource manager, or Open MPI's default host file, grants this process, in their order, from the
 * environment: Slurm, PBS, SGE, LSF, OAR, Cobalt (hrun-cluster(5) has the variables), Open MPI's default host file
 * (where it names a host). */
struct hrun_allocation {
    enum hrun_manager manager;  /* NONE: no allocation, all else is empty */
    char *name;                 /* "Slurm job 12", ... */
    struct hrun_strvec hosts;
    int *cpus;                  /* of each host: how many may be used, 0 = all */
    int cpus_are_cores;         /* 1: cpus counts cores, 0: hardware threads (Slurm) */
    int *slots;                 /* of each host: processes granted, 0 = it is not said */
    int cpus_each;              /* of each process, 0: it is not said */
    int *group;                 /* of each host: component of a heterogeneous job, else 0 */
    int ngroups;                /* 1 unless the job is heterogeneous */
};
/* Errors: HRUN_EPARSE naming variable (or file and line) and what is wrong with it, HRUN_ENOENT, HRUN_EIO. *out is
 * empty on failure. */
int hrun_allocation_find(struct hrun_allocation *out, struct hrun_error *err);
/* The same from the resource set R of a Flux instance (Flux RFC 20, version 1), which no variable holds: all of its
 * hosts, in the order of their ranks. Errors: HRUN_EPARSE. */
int hrun_allocation_flux(const char *resources, struct hrun_allocation *out, struct hrun_error *err);
void hrun_allocation_release(struct hrun_allocation *a);

/* Append the signature of a kind of PE: CPU model, core kind, cores, memory, level, MPI (for instance "ompi-4.1.4") and
 * engine, as a file name: a readable part of [a-z0-9.-] and 8 hex digits (CRC-32) of the exact fields (of simulated
 * hosts with their network, of hosts with a CPU quota with it), memory rounded to two significant binary digits: a few
 * MB more or less of memory, as kernels differ in what they keep, are the same kind of PE. Not part of it: how many PEs
 * there are, their names, cost and power. mpi and engine may be NULL. */
void hrun_cluster_signature(const struct hrun_subcluster *s, const char *mpi, const char *engine,
                            struct hrun_buf *out);

/* Append what a host calls itself, as far as it was asked, else its name here (also of an address in 127/8, which tests
 * make several hosts of). */
void hrun_host_own_name(const struct hrun_host *h, struct hrun_buf *out);

/* The folder that `ledger:` of a cluster file names, in fresh memory that the caller frees, NULL: it names none.
 * Errors: those of a cluster file that cannot be read. */
int hrun_clusterfile_ledger(const char *path, char **out, struct hrun_error *err);

/* Cost and power of the PEs of a sub-cluster by a cluster file; no host is asked. The entry has this name, or the name
 * is the entry's, '-' and more, as where an entry gives several sub-clusters. Result: 1; 0: the file has no such entry,
 * or it gives neither; -1 with the errors of hrun_cluster_discover about the file's form. What is not given is 0. */
int hrun_clusterfile_price(const char *path, const char *subcluster, double *cost_per_hour, double *power_w,
                           struct hrun_error *err);

/* The names of the sub-clusters as measurements carry them, "fast,slow", into the empty buffer out. */
void hrun_cluster_names(const struct hrun_cluster *c, struct hrun_buf *out);

/* Append the hosts used by PEs first..first+n-1 of a sub-cluster, folded ("p4-[0-3]"). */
void hrun_subcluster_hosts(const struct hrun_cluster *c, const struct hrun_subcluster *s, int first, int n,
                           struct hrun_buf *out);

#endif
