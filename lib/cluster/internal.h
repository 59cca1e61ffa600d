/* internal.h - what the files of lib/cluster share */
#ifndef HRUN_CLUSTER_INTERNAL_H
#define HRUN_CLUSTER_INTERNAL_H

#include "cluster/cluster.h"
#include "cluster/topo.h"

/* ---------------------------------------------------------------- hostfile.c */

/* Cores of one host: more than any machine has (Linux on x86-64 is built for 8192 CPUs at most). */
enum { HRUN_CORES_MAX = 1 << 16 };

struct hrun_host_entry {
    char *name;
    int slots;              /* 0 = not given: all cores */
    int keyed;              /* 1: given by a key, as slots=N */
    int line, column;       /* of the name, from 1 */
};

struct hrun_host_list {
    struct hrun_host_entry *v;
    size_t n, cap;
};

#define HRUN_HOST_LIST_INIT { NULL, 0, 0 }

/* Read a host file, or the text of --host. The list is not empty and names no host twice: slots of all mentions of a
 * host add up.
 * Errors: HRUN_EPARSE with the place, HRUN_ENOENT, HRUN_EIO, HRUN_EINVAL; *list as before. */
int hrun_hostfile_read(const char *path, struct hrun_host_list *list, struct hrun_error *err);
/* The same where no host need be named; *list is empty then. */
int hrun_hostfile_read_any(const char *path, struct hrun_host_list *list, struct hrun_error *err);
int hrun_hosts_parse(const char *text, struct hrun_host_list *list, struct hrun_error *err);
/* The hosts of req->host_file, of req->hosts, or those of the file that req->hosts chooses, with the fewer slots of
 * both. *place: what lines and columns are of. *list, which is empty, is to be released in any case. */
int hrun_hosts_asked(const struct hrun_cluster_request *req, struct hrun_host_list *list, const char **place,
                     struct hrun_error *err);
void hrun_host_list_release(struct hrun_host_list *list);

/* ---------------------------------------------------------------- resolve.c */

struct hrun_resolver;

struct hrun_resolver *hrun_resolver_create(struct hrun_error *err);
void hrun_resolver_destroy(struct hrun_resolver *r);
/* The name of this host. */
const char *hrun_resolver_own_name(const struct hrun_resolver *r);
/* Is `name` a host, and is it this one (1) or another (0)? This one are its own name with or without domain,
 * localhost, 127.0.0.1, ::1, and what resolves to one of these or to an address of an interface. Other
 * addresses in 127/8 are other hosts. A name server that does not answer holds us up for few seconds only.
 * Errors: HRUN_EINVAL, the text says why. */
int hrun_resolver_look(struct hrun_resolver *r, const char *name, int *is_local, struct hrun_error *err);

/* This name is that of another host: hrun_resolver_look need not ask for it. */
void hrun_resolver_know(struct hrun_resolver *r, const char *name);

/* ---------------------------------------------------------------- allocation.c */

/* hrun_allocation_find with the default host file that Open MPI's parameters name; NULL: what the environment says. */
int hrun_allocation_look(const char *hostfile, struct hrun_allocation *out, struct hrun_error *err);

/* ---------------------------------------------------------------- host_answer.c: asking other hosts */

/* An exabyte: more than any host has. Parts of it do not overflow. */
#define HRUN_MEMORY_MAX ((uint64_t)1 << 60)

struct hrun_host_answer {
    struct hrun_topo *topo;     /* of the cluster; hosts that are alike share it */
    uint64_t key;               /* hrun_topology_key of its XML */
    char *usable;               /* the PUs that may be used there, "0-3,8"; NULL: all of topo */
    uint64_t memory_bytes;      /* of the PEs, together; 0 = unknown. Counts with usable only */
    double cpu_quota;           /* CPUs, 0: no limit */
    char *cpu_model;            /* NULL: what topo says */
    char *mpi, *fingerprint, *machine;  /* see hrun_cluster_export; NULL: not given */
    int64_t asked_s;            /* seconds since 1970 */
    int remembered;             /* 1: by the cache */
};

struct hrun_cache;
struct hrun_discovery;

/* What n hosts say of themselves: those that d->cache does not know, or all with d->req->refresh, are asked through
 * d->req->topologies, which is not NULL, and remembered. answers[n] get what they said, each to be given to
 * hrun_host_answer_destroy; topologies go to d->c. Hosts left out get NULL and stand in d->c->unreachable.
 * *bad: index of the host at fault, or -1. Errors: those of req->topologies; HRUN_EINVAL for an answer that is none,
 * with the host's name, and for two names of one machine. */
int hrun_ask_hosts(const struct hrun_discovery *d, char *const *hosts, int n, struct hrun_host_answer **answers,
                   int *bad, struct hrun_error *err);
void hrun_host_answer_destroy(struct hrun_host_answer *t);
/* A quota in a host's answer; 0, no limit, where the text is no quota. */
double hrun_cpu_quota_of(const char *text);

/* ---------------------------------------------------------------- export.c: what a host says */

/* Between these stands what XML does not carry. */
#define HRUN_TOLD_MARK "<?hrun\n"
#define HRUN_TOLD_END "?>"

/* A hash of what counts in a topology's XML: equal for hosts that may share it. */
uint64_t hrun_topology_key(const char *xml, size_t len);

/* ---------------------------------------------------------------- cache.c: what hosts said before */

/* A cache is NULL-safe: NULL knows nothing and keeps nothing. It is read at once and written by hrun_cache_close.
 * Files in req->cache_dir: "hosts-XXXXXXXX", a line for each host, for one asking host and one way (req->via);
 * "topology-KEY.xml". What is a month old counts as none, and is removed when something is written. */
struct hrun_cache *hrun_cache_open(const struct hrun_cluster_request *req, const char *own_name);
/* What is known of a host, for hrun_host_answer_destroy, without its topology. NULL: nothing. */
struct hrun_host_answer *hrun_cache_find(const struct hrun_cache *cache, const char *host);
/* Append the XML of that key. -1: there is none. */
int hrun_cache_topology(const struct hrun_cache *cache, uint64_t key, struct hrun_buf *xml);
/* Remember; strings are copied. */
void hrun_cache_put(struct hrun_cache *cache, const char *host, const struct hrun_host_answer *t);
void hrun_cache_keep(struct hrun_cache *cache, uint64_t key, const char *xml, size_t len);
/* Names of all hosts known, for r. */
void hrun_cache_tell(const struct hrun_cache *cache, struct hrun_resolver *r);
/* Write what is new. Result: NULL, or why it could not be written, in fresh memory. */
char *hrun_cache_close(struct hrun_cache *cache);

/* ---------------------------------------------------------------- cut.c: hosts whose topology is known */

/* A kind of host cut into PEs. The strings of its PEs live as long as the cluster. */
struct hrun_cut {
    const struct hrun_topo *topo;
    char *usable;               /* PUs, as the host answered, or NULL */
    enum hrun_level level;
    int max_cores;              /* 0: all */
    struct hrun_topo_pe *pes;   /* their memory is what topo says */
    int n;
    uint64_t memory;            /* of all cores that may be used, as topo says */
    int ncores;                 /* that may be used */
};

/* As hrun_topo_pes, without what a host that was asked may not use. Hosts that are alike get the same cut, owned by
 * c; NULL on failure. */
const struct hrun_cut *hrun_host_cut(struct hrun_cluster *c, const struct hrun_host *h, enum hrun_level level,
                                     int max_cores, struct hrun_error *err);
/* The memory of PE pe of its cut: its part of the total that the host answered. */
uint64_t hrun_host_memory(const struct hrun_host *h, const struct hrun_cut *cut, int pe);
/* As hrun_topo_ncores. 0, or -1 with *err. */
int hrun_host_ncores(struct hrun_cluster *c, const struct hrun_host *h, int kind, int *n, struct hrun_error *err);
/* The first cores that have at most npus PUs together, at least 1. 0, or -1 with *err. */
int hrun_host_granted(struct hrun_cluster *c, const struct hrun_host *h, int npus, int *ncores, struct hrun_error *err);
const char *hrun_host_cpu_model(const struct hrun_host *h);
/* Give a string to c, which frees it with the cuts. Result: it, or NULL (then it is freed). */
const char *hrun_cuts_keep(struct hrun_cluster *c, char *text);
void hrun_cuts_destroy(struct hrun_cuts *cuts);

/* ---------------------------------------------------------------- cluster.c: putting a cluster together */

/* What makes PEs one sub-cluster. */
struct hrun_pe_key {
    const char *cpu_model, *core_kind;
    enum hrun_level level;
    int ncores, npus;               /* npus 0: unknown, equal to every number */
    uint64_t memory_bytes;          /* as hrun_round_memory gives it */
    int any_memory;                 /* 1: of a cluster file's sub-cluster, whose PEs may differ in it */
    const char *network;            /* of simulated hosts, else NULL */
    int island;
    int quota_permille;
};

/* Result: the index of the new host. */
int hrun_cluster_add_host(struct hrun_cluster *c, const char *name, int is_local, int slots, struct hrun_topo *topo);
/* A host was asked: it takes t over. */
void hrun_cluster_set_answer(struct hrun_cluster *c, int host, struct hrun_host_answer *t);
/* Takes t over. */
void hrun_cluster_add_topo(struct hrun_cluster *c, struct hrun_topo *t);
/* The index of the sub-cluster of that key among subs first.., made when there is none. It has no name yet. */
int hrun_cluster_find_sub(struct hrun_cluster *c, int first, const struct hrun_pe_key *key);
/* Copies pe without its strings, which have to live as long as c. */
void hrun_cluster_add_pe(struct hrun_cluster *c, int sub, const struct hrun_pe *pe);
/* Name sub-cluster sub `base`, "base-KIND" when with_kind, and with a number when that is taken. */
void hrun_cluster_name_sub(struct hrun_cluster *c, int sub, const char *base, int with_kind);

/* ---------------------------------------------------------------- discover.c */

/* A discovery at work. */
struct hrun_discovery {
    const struct hrun_cluster_request *req;
    struct hrun_cluster *c;
    struct hrun_resolver *resolver;
    struct hrun_cache *cache;               /* or NULL */
    const struct hrun_allocation *granted;  /* by a resource manager; NULL: we are in no allocation */
    size_t *looked;                         /* where the last search in granted ended: hosts come in order */
};

/* The index of a host among the granted ones, known by its name with or without domain, or as this host; -1: it is not
 * granted, -2: there is no allocation. */
int hrun_granted_index(const struct hrun_discovery *d, const char *name);
/* Set what the allocation grants of a host, which has this name there, once its topology is known, within the limits
 * that it has already. */
int hrun_grant(const struct hrun_discovery *d, int host, const char *name, struct hrun_error *err);
/* No host is left. Result: -1. */
int hrun_fail_nothing_left(const struct hrun_cluster *c, struct hrun_error *err);

/* ---------------------------------------------------------------- group.c: without a cluster file */

/* Put the PEs of a host into sub-clusters, which have no names yet. */
int hrun_group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err);
/* Order and name the sub-clusters when all hosts are in. */
void hrun_group_finish(struct hrun_cluster *c, enum hrun_level level);

/* ---------------------------------------------------------------- platform.c: simulated hosts */

/* Fill c, which is empty, from req->platform. It may be half filled on failure. */
int hrun_platform_discover(const struct hrun_cluster_request *req, struct hrun_cluster *c, struct hrun_error *err);

/* ---------------------------------------------------------------- clusterfile.c */

/* Fill d->c from its cluster file. It may be half filled on failure. */
int hrun_clusterfile_load(const struct hrun_discovery *d, struct hrun_error *err);

/* ---------------------------------------------------------------- signature.c */

/* Append a CPU model as a short word of [a-z0-9.-] ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz" gives
 * "xeon-e5-2680-v3"); nothing when no such character is left. */
void hrun_add_slug(struct hrun_buf *out, const char *model);
/* Append rounded memory as "1.5g" or "12g". */
void hrun_add_short_memory(struct hrun_buf *out, uint64_t bytes);

#endif
