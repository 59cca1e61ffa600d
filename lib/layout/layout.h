/* layout.h - the ranks of a configuration and their PEs
 *
 * Purpose: map each rank to a host, a PE and a cpuset, and write the rankfile for mpirun.
 * Invariants: ranks are 0..P-1 without a gap. Ranks are ordered by component of a heterogeneous job, and within one by
 * sub-cluster, then by PE, except by hrun_layout_plain and hrun_layout_map. Unless the caller names PEs, a sub-cluster
 * is filled host by host, and the PEs used on its last host are spread evenly over packages, then memory nodes, then L3
 * and L2 caches, as far as its topology is known. The cpuset of a rank is empty only if the PUs of its host are not
 * known.
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
    int ncores;             /* cores that it may use, alone or with other ranks of its PE; 0: not known */
    int threads;            /* OMP_NUM_THREADS of the rank, which overrides the environment; 0: not set */
};

struct hrun_layout {
    const struct hrun_cluster *cluster;  /* not owned; must outlive the layout */
    struct hrun_rank *ranks;
    int nranks;
    int nhosts_used;
    int shared_cores;       /* 1: some PE has more ranks than cores (1 core if their number is not known) */
    const struct hrun_host *limited; /* a host whose cgroup grants fewer CPUs than it has ranks; NULL: none */
    int uneven_threads;     /* 1: ranks differ in threads */
    int mapped;             /* enum hrun_map: objects that the user maps ranks by; 0: not mapped by the user */
    int bound;              /* enum hrun_map: objects that the user binds ranks to; 0: each rank is bound to its PE */
    int other_binding;      /* 1: some rank is bound to other cores than those of its PE */
    int splits_cores;       /* 1: some rank is bound to a part of a core, which a rankfile cannot express */
    struct hrun_place { int sub, pe; } *more;   /* owned: PEs that ranks use in addition to their own (:PE=n) */
    int nmore;
    struct hrun_strvec texts; /* owned: lists of cores and PUs other than those of PEs */
};

/* Lay out a configuration. Errors: HRUN_EINVAL (more PEs than the cluster has, no process). */
struct hrun_layout *hrun_layout_create(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                       struct hrun_error *err);
/* Lay out a configuration on given PEs. order: P1 PEs of the first sub-cluster, then P2 of the next, and so on, each
 * once, in the order of their ranks. */
struct hrun_layout *hrun_layout_create_placed(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                              const int *order, struct hrun_error *err);
/* Make an order for hrun_layout_create_placed: pes[i] free PEs of each sub-cluster i, ascending, spread as the
 * invariants above say. busy[i][p] is not 0 if PE p of sub-cluster i must not be used; busy NULL: all PEs are free. The
 * caller frees the result. Errors: HRUN_EINVAL (fewer PEs are free). */
int *hrun_layout_order(const struct hrun_cluster *cluster, const int *pes, const char *const *busy,
                       struct hrun_error *err);
/* hrun_layout_create_placed with the order of hrun_layout_order. */
struct hrun_layout *hrun_layout_create_free(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                            const char *const *busy, struct hrun_error *err);
/* Lay out n ranks as mpirun does: one on each PE, in order, and again from the first PE if there are more ranks.
 * npes[i]: largest number of PEs of sub-cluster i to use; hrun_layout_order chooses them; NULL: no limits. Errors:
 * HRUN_EINVAL (n < 1, a negative entry, no PE to use). */
struct hrun_layout *hrun_layout_plain(const struct hrun_cluster *cluster, int n, const int *npes,
                                      const char *const *busy, struct hrun_error *err);
/* Divide the cores of each PE among its ranks (app definitions with `threads: fill`): of c cores and M ranks the first
 * c % M ranks get c / M + 1 cores and the others c / M. A rank's cores are neighbours in the PE's list; it gets a
 * thread for each core. If M > c the ranks share all cores, with one thread each. Sets cpuset, cores and threads of
 * each rank; cpuset stays empty if the PUs are not known. Ranks bound by the user keep their cores and get a thread for
 * each core. A second call changes nothing. */
void hrun_layout_fill_threads(struct hrun_layout *l);
void hrun_layout_destroy(struct hrun_layout *l);

/* 1 if waiting ranks must yield the processor, because ranks share cores or a cgroup grants too few CPUs; else 0. */
int hrun_layout_yields(const struct hrun_layout *l);

/* The smallest and largest numbers of cores and threads of a rank of sub-cluster sub; all 0 if it has no ranks. */
struct hrun_layout_share {
    int cores_min, cores_max, threads_min, threads_max;
};
void hrun_layout_share(const struct hrun_layout *l, int sub, struct hrun_layout_share *out);

/* Append the ranks of sub-cluster sub as "0-3,8" ("-" for none). */
void hrun_layout_ranks(const struct hrun_layout *l, int sub, struct hrun_buf *out);

/* Append the rankfile for Open MPI ("rank 0=host slot=0-3", logical cores). Errors: HRUN_EINVAL (a rank has no known
 * cores; its list of cores is longer than mpirun's limit of 63 characters; the name of its host has characters that a
 * rankfile cannot contain). */
int hrun_layout_rankfile(const struct hrun_layout *l, struct hrun_buf *out, struct hrun_error *err);
/* Append the host file for SimGrid's smpirun: line i is the host of rank i. */
void hrun_layout_hostfile(const struct hrun_layout *l, struct hrun_buf *out);

/* ---------------------------------------------------------------- mapping
 *
 * Mapping and binding that the user specifies with the options of mpirun
 *
 * Purpose: make a layout from --map-by, --rank-by, --bind-to and --rankfile as Open MPI 4.1 does: map ranks to hosts
 * and objects of their topology, then number them, then bind them.
 * Invariants: ranks are 0..P-1 without a gap. Two ranks have a core (with hwthreads, a hardware thread) in common only
 * if ranks may share them. The limit of ranks on a host is its slots, else its cores (with :PE=n divided by n), in
 * usable PEs. On a host with slots from the user, outside an allocation, ranks may also use cores outside PEs.
 */

/* HRUN_MAP_NODE + k is the object k of enum hrun_object. */
enum hrun_map { HRUN_MAP_UNSET, HRUN_MAP_NONE, HRUN_MAP_SLOT, HRUN_MAP_NODE, HRUN_MAP_CORE = HRUN_MAP_NODE +
                HRUN_OBJECT_CORE, HRUN_MAP_HWTHREAD };

enum { HRUN_RANKFILE_MAX = 1 << 26 };   /* bytes */

/* Zeroed: nothing is specified. */
struct hrun_mapping {
    enum hrun_map by, rank_by, bind_to;
    int per;                /* ppr:N:OBJECT: N for each object; 0: not given */
    int wraps;              /* mpiexec's -ppn: further ranks start again on the first host */
    int span;               /* map over the objects of all hosts as if they were one */
    int rank_span, rank_fill;
    int pes;                /* :PE=n; 0: not given */
    int hwthreads;          /* 1: count hardware threads instead of cores */
    int oversubscribes;     /* :OVERSUBSCRIBE, or hrun's option --oversubscribe */
    int shares;             /* overload-allowed: ranks may share cores */
    int if_supported;       /* leave ranks unbound if their host lacks the object to bind to */
    int displays, reports;  /* :DISPLAY; --bind-to's :REPORT */
    int inherits;           /* :INHERIT, for jobs that the processes start: no effect here */
    int nolocal;            /* no rank on the host that hrun runs on */
    int seq;                /* map by the list of hosts: the caller sets hosts */
    const char *hosts;      /* the host of each rank, separated by commas; NULL: not given */
    const char *cpus;       /* cores of each host that may be used, "0-3,8"; NULL: all */
    const char *rankfile;   /* its path; NULL: none */
    const char *rankfile_text; /* its text if the caller has read it; NULL: it is read when needed */
};

/* Set one option: key is "map-by", "rank-by", "bind-to", "per-node", "per-host" (sets wraps), "pe", "hwthreads",
 * "nolocal", "oversubscribe", "cpus" or "rankfile". value must outlive m. Errors: HRUN_EINVAL, whose text lists the
 * known words; m may be partly set then. */
int hrun_mapping_set(struct hrun_mapping *m, const char *key, const char *value, struct hrun_error *err);
/* 1 if the mapping places or orders ranks; 0 if it specifies at most their binding. */
int hrun_mapping_places(const struct hrun_mapping *m);
/* Append "by node, bound to core". l: the layout made from m. */
void hrun_mapping_print(const struct hrun_mapping *m, const struct hrun_layout *l, struct hrun_buf *out);

/* Lay out n ranks (0: the number that the mapping gives). npes, busy: see hrun_layout_plain; no rank is placed on a PE
 * that may not be used, or bound to its cores. m->oversubscribes: ranks in excess of the slots are distributed evenly.
 * Errors: HRUN_EINVAL (no such object on a host, not enough room for the ranks, too few cores for a rank), those of a
 * rankfile with its line (HRUN_EPARSE, HRUN_ENOENT, HRUN_EIO). */
struct hrun_layout *hrun_layout_map(struct hrun_cluster *cluster, const struct hrun_mapping *m, int n,
                                    const int *npes, const char *const *busy, struct hrun_error *err);
/* Bind the ranks of a layout to the objects m->bind_to instead of their PEs: to a part of the PE, or to an object that
 * contains it. Errors: HRUN_EINVAL (no such object); the layout is unchanged then. */
int hrun_layout_bind(struct hrun_layout *l, struct hrun_cluster *cluster, const struct hrun_mapping *m,
                     const int *npes, const char *const *busy, struct hrun_error *err);
/* 1 if all used PEs of each sub-cluster have equally many ranks: *out gets the configuration. Else 0. */
int hrun_layout_config(const struct hrun_layout *l, struct hrun_config *out);

/* ---- private to lib/layout */

/* The word for one of enum hrun_map. */
const char *layout_map_name(int what);

/* Append the numbers of a list "0-3,8" to v[*n], up to `end` or the end of the text. Result: the end of the list, or
 * NULL if the text is not a list. */
const char *layout_read_list(const char *text, char end, int **v, size_t *n);
/* Add the numbers v[n], sorted on return, as a folded list to texts, which owns the result. */
const char *layout_keep_list(struct hrun_strvec *texts, int *v, size_t n);
/* Sort ranks by component of a heterogeneous job; set their local_rank, and nhosts_used, shared_cores and limited. */
void layout_finish(struct hrun_layout *l);
/* Choose `want` free PEs of sub-cluster sub on one host, or all if fewer are free. first: the sub-cluster's first PE on
 * the host. busy NULL: all are free. The choice is spread evenly over packages, then memory nodes, then L3 and L2
 * caches; without topology the first PEs are chosen. A smaller choice is a subset of a larger one. out gets the numbers
 * of the chosen PEs, ascending, and needs room for them. Result: how many are chosen. */
int layout_spread(const struct hrun_cluster *cluster, int sub, int first, const char *busy, int want, int *out);
/* Set usable[i] to the number of PEs of sub-cluster i that are not busy, at most npes[i] (NULL: no limit). Result: sum
 * of usable. */
int layout_usable(const struct hrun_cluster *cluster, const int *npes, const char *const *busy, int *usable);
/* Make a layout with n zeroed ranks. */
struct hrun_layout *layout_blank(const struct hrun_cluster *cluster, int n);

#endif
