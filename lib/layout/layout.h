/* layout.h - a configuration becomes ranks on PEs
 *
 * Purpose: rank -> host, PE, cpuset; and the rankfile that tells mpirun the same.
 * Invariants: ranks are 0..P-1 without a gap. They are ordered by component of a heterogeneous job, then by
 * sub-cluster, then by PE; only hrun_layout_plain and hrun_layout_map order them otherwise. Unless the caller names
 * PEs, a sub-cluster is filled host by host, and the PEs used of its last host are spread evenly over packages, in
 * these over memory nodes, then L3 and L2 caches, as far as its topology is known. Each rank has a non-empty cpuset
 * unless its host is known by numbers only.
 */
#ifndef HRUN_LAYOUT_LAYOUT_H
#define HRUN_LAYOUT_LAYOUT_H

#include "base/buf.h"
#include "base/config.h"
#include "base/error.h"
#include "cluster/cluster.h"

struct hrun_rank {
    int sub, pe;            /* sub-cluster and PE in it */
    int host;               /* index into the cluster's hosts */
    int local_rank;         /* among the ranks of its host, from 0 */
    const char *cpuset;     /* OS PU numbers; belongs to the cluster or to the layout */
    const char *cores;      /* logical cores; belongs to the cluster or to the layout */
    int ncores;             /* cores that it may use, alone or with other ranks of its PE; 0 = unknown */
    int threads;            /* OMP_NUM_THREADS of the rank, whatever the environment says; 0: not set */
};

struct hrun_layout {
    const struct hrun_cluster *cluster;  /* not owned; must outlive the layout */
    struct hrun_rank *ranks;
    int nranks;
    int nhosts_used;
    int shared_cores;       /* 1: some PE has more ranks than cores (1 if unknown) */
    const struct hrun_host *limited; /* one whose cgroup grants fewer CPUs than it has ranks; NULL: there is none */
    int uneven_threads;     /* 1: ranks differ in threads */
    int mapped;             /* enum hrun_map: what they are mapped by, where the user says where ranks go */
    int bound;              /* enum hrun_map: what the user has the ranks bound to; 0: each to its PE */
    int other_binding;      /* 1: some rank is not bound to all of its PE, and to that alone */
    int splits_cores;       /* 1: some rank is bound to a part of a core, which a rankfile cannot say */
    struct hrun_place { int sub, pe; } *more;   /* owned: PEs that ranks fill beside their own (:PE=n) */
    int nmore;
    struct hrun_strvec texts; /* owned: lists of cores and PUs that are not those of a PE */
};

/* Lay out a configuration.
 * Errors: HRUN_EINVAL (more PEs than there are, no process at all). */
struct hrun_layout *hrun_layout_create(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                       struct hrun_error *err);
/* The same on given PEs: order holds P1 PEs of the first sub-cluster, then P2 of the next, and so on, each once, in the
 * order of their ranks. */
struct hrun_layout *hrun_layout_create_placed(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                              const int *order, struct hrun_error *err);
/* An order for hrun_layout_create_placed: pes[i] free PEs of each sub-cluster i, chosen as described above, in order of
 * their numbers; the caller frees it. busy[i][p] is not 0 if PE p of sub-cluster i must not be used; busy NULL: all
 * PEs are free. Errors: HRUN_EINVAL (fewer PEs are free). */
int *hrun_layout_order(const struct hrun_cluster *cluster, const int *pes, const char *const *busy,
                       struct hrun_error *err);
/* hrun_layout_create_placed with the order of hrun_layout_order. */
struct hrun_layout *hrun_layout_create_free(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                            const char *const *busy, struct hrun_error *err);
/* Lay out n ranks as mpirun would: one on each PE, in order, and again from the first PE if there are more ranks.
 * Sub-cluster i is limited to npes[i] PEs, those of hrun_layout_order (NULL: no limits). Errors: HRUN_EINVAL (n < 1,
 * a negative entry, no PE to use). */
struct hrun_layout *hrun_layout_plain(const struct hrun_cluster *cluster, int n, const int *npes,
                                      const char *const *busy, struct hrun_error *err);
/* Divide the cores of each PE among its ranks (app definitions with `threads: fill`): of c cores and M ranks the first
 * c % M ranks get c / M + 1 cores and the others c / M, neighbours in the PE's list, and as many threads. If M > c the
 * ranks share all cores, with one thread each. Sets cpuset, cores and threads of each rank; cpuset stays empty where
 * PUs are not known. Ranks bound by the user keep their cores and get a thread for each. A second call changes
 * nothing. */
void hrun_layout_fill_threads(struct hrun_layout *l);
void hrun_layout_destroy(struct hrun_layout *l);

/* 1 if ranks that wait must yield the processor, because they share cores or a cgroup grants fewer CPUs than ranks. */
int hrun_layout_yields(const struct hrun_layout *l);

/* The least and the most cores and threads of a rank of sub-cluster sub; all 0 when it has none. */
struct hrun_layout_share {
    int cores_min, cores_max, threads_min, threads_max;
};
void hrun_layout_share(const struct hrun_layout *l, int sub, struct hrun_layout_share *out);

/* Append the ranks of sub-cluster sub as "0-3,8" ("-" for none). */
void hrun_layout_ranks(const struct hrun_layout *l, int sub, struct hrun_buf *out);

/* Append the rankfile for Open MPI ("rank 0=host slot=0-3", logical cores). Errors: HRUN_EINVAL when a rank
 * has no cores (the message names host and what to add), when its list of cores has more than the 63
 * characters that mpirun can hold, or when the host's name cannot stand in a rankfile. */
int hrun_layout_rankfile(const struct hrun_layout *l, struct hrun_buf *out, struct hrun_error *err);
/* Append the host file for SimGrid's smpirun: line i is the host of rank i. */
void hrun_layout_hostfile(const struct hrun_layout *l, struct hrun_buf *out);

/* ---------------------------------------------------------------- mapping
 *
 * The user says where ranks go, and to what they are bound, in the words of mpirun
 *
 * Purpose: --map-by, --rank-by, --bind-to and --rankfile become a layout, as Open MPI 4.1 makes it: ranks are mapped to
 * hosts and objects of their topology, then numbered, then bound.
 * Invariants: ranks are 0..P-1 without a gap. No core (hardware thread, where these are what is counted) is given to
 * two ranks unless ranks may share them. A host takes as many ranks as it has slots, else cores (for :PE=n a share of n
 * of them), in PEs that may be used; with slots of its own, outside of an allocation, ranks may use its other cores.
 */

/* HRUN_MAP_NODE + k is the object k of enum hrun_object. */
enum hrun_map { HRUN_MAP_UNSET, HRUN_MAP_NONE, HRUN_MAP_SLOT, HRUN_MAP_NODE, HRUN_MAP_CORE = HRUN_MAP_NODE +
                HRUN_OBJECT_CORE, HRUN_MAP_HWTHREAD };

enum { HRUN_RANKFILE_MAX = 1 << 26 };   /* bytes */

/* All zero: nothing is said. */
struct hrun_mapping {
    enum hrun_map by, rank_by, bind_to;
    int per;                /* ppr:N:OBJECT: N for each object; 0: not given */
    int wraps;              /* mpiexec's -ppn: goes round again where there are more ranks */
    int span;               /* map over the objects of all hosts as if they were one */
    int rank_span, rank_fill;
    int pes;                /* :PE=n; 0: not given */
    int hwthreads;          /* hardware threads are counted, not cores */
    int oversubscribes;     /* :OVERSUBSCRIBE, as hrun's option */
    int shares;             /* ranks may share cores: overload-allowed */
    int if_supported;       /* a host without such an object leaves its ranks unbound */
    int displays, reports;  /* :DISPLAY; --bind-to's :REPORT */
    int inherits;           /* :INHERIT, of jobs that the processes start: nothing here */
    int nolocal;            /* not on the host that we run on */
    int seq;                /* by the list of hosts: the caller fills in hosts */
    const char *hosts;      /* the host of each rank, with commas; NULL: not said */
    const char *cpus;       /* the cores that may be used of each host, "0-3,8"; NULL: all */
    const char *rankfile;   /* its path; NULL: none */
    const char *rankfile_text; /* what stands in it, where the caller has read it; NULL: it is read when it is needed */
};

/* Set one word: key is "map-by", "rank-by", "bind-to", "per-node", "per-host" (goes round), "pe", "hwthreads",
 * "nolocal", "oversubscribe", "cpus" or "rankfile". value must live as long as m. Errors: HRUN_EINVAL, whose text lists
 * the known words; m is half filled then. */
int hrun_mapping_set(struct hrun_mapping *m, const char *key, const char *value, struct hrun_error *err);
/* 1 if it says where ranks go; 0 if it says at most what they are bound to. */
int hrun_mapping_places(const struct hrun_mapping *m);
/* Append "by node, bound to core". l: the layout that was made of it. */
void hrun_mapping_print(const struct hrun_mapping *m, const struct hrun_layout *l, struct hrun_buf *out);

/* Lay out n ranks (0: as many as the mapping gives). npes, busy: as in hrun_layout_plain; a PE that may not be used has
 * no rank, and none is bound to its cores. m->oversubscribes: more ranks than slots are shared out evenly.
 * Errors: HRUN_EINVAL (no such object on a host, more ranks than there is room for, too few cores for one), those of a
 * rankfile with its line (HRUN_EPARSE, HRUN_ENOENT, HRUN_EIO). */
struct hrun_layout *hrun_layout_map(struct hrun_cluster *cluster, const struct hrun_mapping *m, int n,
                                    const int *npes, const char *const *busy, struct hrun_error *err);
/* Bind the ranks of a layout otherwise than to their PEs, as m->bind_to says: to less of them, or to more around them.
 * Errors: HRUN_EINVAL (no such object); the layout is as before. */
int hrun_layout_bind(struct hrun_layout *l, struct hrun_cluster *cluster, const struct hrun_mapping *m,
                     const int *npes, const char *const *busy, struct hrun_error *err);
/* 1 if all used PEs of each sub-cluster have equally many ranks, and *out is that configuration; else 0. */
int hrun_layout_config(const struct hrun_layout *l, struct hrun_config *out);

/* ---- private to lib/layout */

/* The word for one of enum hrun_map. */
const char *layout_map_name(int what);

/* The numbers of a list "0-3,8" behind those in v[*n], up to `end` or the end of the text. Result: where it ended, or
 * NULL: no list. */
const char *layout_read_list(const char *text, char end, int **v, size_t *n);
/* Add the numbers v[n], sorted on return, as a folded list to texts, which owns the result. */
const char *layout_keep_list(struct hrun_strvec *texts, int *v, size_t n);
/* Number the ranks of each host, count the hosts used, find out whether ranks share cores or what a cgroup grants. */
void layout_finish(struct hrun_layout *l);
/* Of the PEs of sub-cluster sub that share the host of PE `first`, its first one there, and are not busy (NULL: none
 * is), choose as many as are wanted, or all: evenly over packages, in these over memory nodes, then L3 and L2 caches.
 * out, which has room for them, gets their numbers in ascending order. Of a host without topology the first ones. Those
 * chosen for fewer are among those chosen for more. Result: how many. */
int layout_spread(const struct hrun_cluster *cluster, int sub, int first, const char *busy, int want, int *out);
/* How many PEs of each sub-cluster may be used: those that are not busy, at most npes[i] (NULL: all). Result: their
 * sum. */
int layout_usable(const struct hrun_cluster *cluster, const int *npes, const char *const *busy, int *usable);
/* A layout with room for n ranks, none placed. */
struct hrun_layout *layout_blank(const struct hrun_cluster *cluster, int n);

#endif
