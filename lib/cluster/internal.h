/* internal.h - declarations shared by the files of lib/cluster */
#ifndef HRUN_CLUSTER_INTERNAL_H
#define HRUN_CLUSTER_INTERNAL_H

#include "cluster/cluster.h"
#include "cluster/topo.h"

/* ---------------------------------------------------------------- hostfile.c */

/* Limit of the cores of one host (Linux on x86-64 supports at most 8192 CPUs). */
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

/* Read a host file, or the text of --host. The list names no host twice: slots of all mentions of a host add up. The
 * list is not empty, unless may_be_empty = 1 and the file names no host.
 * Errors: HRUN_EPARSE with the place, HRUN_ENOENT, HRUN_EIO, HRUN_EINVAL; *list is unchanged. */
int hrun_hostfile_read(const char *path, int may_be_empty, struct hrun_host_list *list, struct hrun_error *err);
int hrun_hosts_parse(const char *text, struct hrun_host_list *list, struct hrun_error *err);
/* The hosts of req->host_file or req->hosts; with both, the hosts of the file that req->hosts selects, with the
 * smaller number of slots. *place: the file that lines and columns belong to. *list is empty at first; the caller
 * releases it also on failure. */
int hrun_hosts_asked(const struct hrun_cluster_request *req, struct hrun_host_list *list, const char **place,
                     struct hrun_error *err);
void hrun_host_list_release(struct hrun_host_list *list);

/* ---------------------------------------------------------------- resolve.c */

struct hrun_resolver;

struct hrun_resolver *hrun_resolver_create(struct hrun_error *err);
void hrun_resolver_destroy(struct hrun_resolver *r);
/* The own name of this host. */
const char *hrun_resolver_own_name(const struct hrun_resolver *r);
/* Check that `name` is a host. *is_local: 1 for this host, else 0. Names of this host: its own with or without domain,
 * localhost, 127.0.0.1, ::1, and names that resolve to one of these or to an address of an interface. Other addresses
 * in 127/8 are other hosts. A name server that does not answer delays the call by a few seconds only. Errors:
 * HRUN_EINVAL, with the reason. */
int hrun_resolver_look(struct hrun_resolver *r, const char *name, int *is_local, struct hrun_error *err);

/* Register the name of another host, which hrun_resolver_look then need not resolve. */
void hrun_resolver_know(struct hrun_resolver *r, const char *name);

/* ---------------------------------------------------------------- host_answer.c: asking other hosts */

/* 2^60 bytes: more than any host has. Arithmetic with parts of this number does not overflow. */
#define HRUN_MEMORY_MAX ((uint64_t)1 << 60)

struct hrun_host_answer {
    struct hrun_topo *topo;     /* owned by the cluster; equal hosts share it */
    uint64_t key;               /* hrun_topology_key of its XML */
    char *usable;               /* the usable PUs, "0-3,8"; NULL: all of topo */
    uint64_t memory_bytes;      /* of all PEs together; 0 = unknown. Meaningful only with usable */
    double cpu_quota;           /* CPUs, 0: no limit */
    char *cpu_model;            /* NULL: that of topo */
    char *mpi, *fingerprint, *machine;  /* see hrun_cluster_export; NULL: not given */
    int64_t asked_s;            /* seconds since 1970 */
    int remembered;             /* 1: from the cache */
};

struct hrun_cache;
struct hrun_discovery;

/* Get the answers of n hosts from d->cache, or by d->req->topologies (not NULL) if there is no cached answer or
 * d->req->refresh is set; new answers are cached. The caller destroys each of answers[n]; topologies belong to d->c.
 * Hosts left out get NULL and are added to d->c->unreachable. *bad: index of the host at fault, or -1. Errors: those of
 * req->topologies; HRUN_EINVAL for an unusable answer, with the host's name, and for two names of one machine. */
int hrun_ask_hosts(const struct hrun_discovery *d, char *const *hosts, int n, struct hrun_host_answer **answers,
                   int *bad, struct hrun_error *err);
void hrun_host_answer_destroy(struct hrun_host_answer *t);
/* A hash of the relevant part of a topology's XML: equal for hosts that may share the topology. */
uint64_t hrun_topology_key(const char *xml, size_t len);
/* Parse a CPU quota in a host's answer; 0 (no limit) if the text is not a quota. */
double hrun_cpu_quota_of(const char *text);

/* ---------------------------------------------------------------- cache.c: earlier answers of hosts */

/* NULL is an empty cache that stores nothing. _open reads a cache, _close writes it. Files in req->cache_dir:
 * "hosts-XXXXXXXX" with a line for each host, one file for each asking host and way (req->via); "topology-KEY.xml".
 * Entries older than a month are ignored, and removed at the next write. */
struct hrun_cache *hrun_cache_open(const struct hrun_cluster_request *req, const char *own_name);
/* The cached answer of a host without its topology; the caller destroys it. NULL: none. */
struct hrun_host_answer *hrun_cache_find(const struct hrun_cache *cache, const char *host);
/* Append the topology XML with this key. 0; -1: there is none. */
int hrun_cache_topology(const struct hrun_cache *cache, uint64_t key, struct hrun_buf *xml);
/* Store an answer, or XML; strings are copied. */
void hrun_cache_put(struct hrun_cache *cache, const char *host, const struct hrun_host_answer *t);
void hrun_cache_keep(struct hrun_cache *cache, uint64_t key, const char *xml, size_t len);
/* Register the names of all cached hosts with r. */
void hrun_cache_tell(const struct hrun_cache *cache, struct hrun_resolver *r);
/* Write the new entries and free the cache. Result: NULL, or the reason of a failure, which the caller frees. */
char *hrun_cache_close(struct hrun_cache *cache);

/* ---------------------------------------------------------------- cut.c: hosts whose topology is known */

/* A kind of host cut into PEs. The strings of its PEs live as long as the cluster. */
struct hrun_cut {
    const struct hrun_topo *topo;
    char *usable;               /* usable PUs from the host's answer, or NULL */
    enum hrun_level level;
    int max_cores;              /* 0: all */
    struct hrun_topo_pe *pes;   /* with memory according to topo */
    int n;
    uint64_t memory;            /* of all usable cores, according to topo */
    int ncores;                 /* usable cores */
};

/* As hrun_topo_pes, but with the usable PUs of a host's answer only. Equal hosts get the same cut, owned by c; NULL on
 * failure. */
const struct hrun_cut *hrun_host_cut(struct hrun_cluster *c, const struct hrun_host *h, enum hrun_level level,
                                     int max_cores, struct hrun_error *err);
/* The memory of PE pe of its cut: its part of the total in the host's answer, if there is one. */
uint64_t hrun_host_memory(const struct hrun_host *h, const struct hrun_cut *cut, int pe);
/* As hrun_topo_ncores. 0, or -1 with *err. */
int hrun_host_ncores(struct hrun_cluster *c, const struct hrun_host *h, int kind, int *n, struct hrun_error *err);
/* *ncores gets the number of first cores that have at most npus PUs together, at least 1. 0, or -1 with *err. */
int hrun_host_granted(struct hrun_cluster *c, const struct hrun_host *h, int npus, int *ncores, struct hrun_error *err);
const char *hrun_host_cpu_model(const struct hrun_host *h);
void hrun_cuts_destroy(struct hrun_cluster *c);

/* ---------------------------------------------------------------- cluster.c: putting a cluster together */

/* PEs with equal keys form one sub-cluster. */
struct hrun_pe_key {
    const char *cpu_model, *core_kind;
    enum hrun_level level;
    int ncores, npus;               /* npus 0: unknown, equal to every number */
    uint64_t memory_bytes;          /* result of hrun_round_memory */
    int any_memory;                 /* 1: from a cluster file, whose sub-clusters may have PEs of different memory */
    const char *network;            /* of simulated hosts, else NULL */
    int island;
    int quota_permille;
};

/* Takes ownership of t, the answer of a host that was asked; else NULL. Result: the index of the new host. */
int hrun_cluster_add_host(struct hrun_cluster *c, const char *name, int is_local, int slots, struct hrun_topo *topo,
                          struct hrun_host_answer *t);
/* Takes ownership of t. key: hrun_topology_key if t is from a host's answer, which equal hosts share; else 0. */
void hrun_cluster_add_topo(struct hrun_cluster *c, struct hrun_topo *t, uint64_t key);
/* The index of the sub-cluster with this key among subs first, first + 1, ...; a new one without a name if there is
 * none. */
int hrun_cluster_find_sub(struct hrun_cluster *c, int first, const struct hrun_pe_key *key);
/* Copies *pe but not its strings, which must live as long as c. */
void hrun_cluster_add_pe(struct hrun_cluster *c, int sub, const struct hrun_pe *pe);
/* Name a sub-cluster `base`, or "base-KIND" (with_kind); a number is added if the name is taken. */
void hrun_cluster_name_sub(struct hrun_cluster *c, int sub, const char *base, int with_kind);
/* Without a cluster file: put the PEs of a host into sub-clusters, which have no names yet. */
int hrun_group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err);
/* Order and name the sub-clusters, after all hosts have been added. */
void hrun_group_finish(struct hrun_cluster *c, enum hrun_level level);

/* ---------------------------------------------------------------- discover.c */

struct hrun_discovery {
    const struct hrun_cluster_request *req;
    struct hrun_cluster *c;
    struct hrun_resolver *resolver;
    struct hrun_cache *cache;               /* or NULL */
    const struct hrun_allocation *granted;  /* by a resource manager; NULL: there is no allocation */
    size_t *looked;                         /* index of the host of granted found last: hosts come in order */
};

/* The index of a host in the allocation, found by its name with or without domain, or as this host; -1: it is not
 * granted, -2: there is no allocation. */
int hrun_granted_index(const struct hrun_discovery *d, const char *name);
/* Limit a host of known topology to the part of it that the allocation grants. name: the host's name in the allocation.
 * Earlier limits of the host remain. */
int hrun_grant(const struct hrun_discovery *d, int host, const char *name, struct hrun_error *err);
/* Set the error that no host is left. Result: -1. */
int hrun_fail_nothing_left(const struct hrun_cluster *c, struct hrun_error *err);

/* ---------------------------------------------------------------- platform.c: simulated hosts */

/* Fill the empty c from req->platform. On failure c may be half filled. */
int hrun_platform_discover(const struct hrun_cluster_request *req, struct hrun_cluster *c, struct hrun_error *err);

/* ---------------------------------------------------------------- clusterfile.c */

/* Fill d->c from the cluster file. On failure d->c may be half filled. */
int hrun_clusterfile_load(const struct hrun_discovery *d, struct hrun_error *err);

/* ---------------------------------------------------------------- signature.c */

/* Append a CPU model as a short word of [a-z0-9.-] ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz" gives
 * "xeon-e5-2680-v3"). May append nothing. */
void hrun_add_slug(struct hrun_buf *out, const char *model);
/* Append rounded memory as "1.5g" or "12g". */
void hrun_add_short_memory(struct hrun_buf *out, uint64_t bytes);

#endif
