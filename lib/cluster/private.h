/* private.h - what the files of lib/cluster share; nobody else includes it */
#ifndef HRUN_CLUSTER_PRIVATE_H
#define HRUN_CLUSTER_PRIVATE_H

#include "cluster/cluster.h"

/* ---------------------------------------------------------------- hostfile.c */

/* Cores of one host: more than any machine has (Linux on x86-64 is built for 8192 CPUs at most). */
enum { HRUN_CORES_MAX = 1 << 16 };

struct hrun_host_entry {
    char *name;
    int slots;              /* 0 = not given */
    int line, column;       /* of the name, from 1 */
};

struct hrun_host_list {
    struct hrun_host_entry *v;
    size_t n, cap;
};

#define HRUN_HOST_LIST_INIT { NULL, 0, 0 }

/* Read a host file, or the text of --host. The list is not empty and names no host twice.
 * Errors: HRUN_EPARSE with the place, HRUN_ENOENT, HRUN_EIO, HRUN_EINVAL; *list as before. */
int hrun_hostfile_read(const char *path, struct hrun_host_list *list, struct hrun_error *err);
int hrun_hosts_parse(const char *text, struct hrun_host_list *list, struct hrun_error *err);
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

/* ---------------------------------------------------------------- resolve.c: asking other hosts */

struct hrun_told {
    struct hrun_topo *topo;     /* of the cluster; hosts that are alike share it */
    char *usable;               /* the PUs that may be used there, "0-3,8"; NULL: all of topo */
    uint64_t memory_bytes;      /* of the PEs, together; 0 = unknown. Counts with usable only */
    char *cpu_model;            /* NULL: what topo says */
};

/* Ask n hosts through req->topologies, which is not NULL. told[n] get what they said, each to be given to
 * hrun_told_destroy; topologies go to c. *bad: index of the host at fault, or -1. Errors: those of
 * req->topologies; HRUN_EINVAL for an answer that is none, with the host's name. */
int hrun_told_ask(const struct hrun_cluster_request *req, struct hrun_cluster *c, char *const *hosts, int n,
                  struct hrun_told **told, int *bad, struct hrun_error *err);
void hrun_told_destroy(struct hrun_told *t);

/* ---------------------------------------------------------------- described.c: hosts whose topology is known */

/* As hrun_topo_pes and hrun_topo_ncores, without what a host that was asked may not use. */
int hrun_host_pes(const struct hrun_host *h, enum hrun_level level, int max_cores, struct hrun_topo_pe **pes,
                  int *n, struct hrun_error *err);
/* 0, or -1 with *err. */
int hrun_host_ncores(const struct hrun_host *h, int kind, int *n, struct hrun_error *err);
const char *hrun_host_cpu_model(const struct hrun_host *h);

/* ---------------------------------------------------------------- cluster.c: putting a cluster together */

/* What makes PEs one sub-cluster. */
struct hrun_pe_key {
    const char *cpu_model, *core_kind;
    enum hrun_level level;
    int ncores, npus;               /* npus 0: unknown, equal to every number */
    uint64_t memory_bytes;          /* as hrun_round_memory gives it; 0 for a cluster file's sub-cluster */
};

/* Each returns the index of the new (or found) element, or -1 (HRUN_ENOMEM). */
int hrun_cluster_add_host(struct hrun_cluster *c, const char *name, int is_local, int slots,
                          struct hrun_topo *topo, struct hrun_error *err);
/* Takes t over, also on failure. */
int hrun_cluster_add_topo(struct hrun_cluster *c, struct hrun_topo *t, struct hrun_error *err);
/* The sub-cluster of that key among subs first.., made when there is none. It has no name yet. */
int hrun_cluster_find_sub(struct hrun_cluster *c, int first, const struct hrun_pe_key *key,
                          struct hrun_error *err);
/* Copies pe with its strings. */
int hrun_cluster_add_pe(struct hrun_cluster *c, int sub, const struct hrun_pe *pe, struct hrun_error *err);
/* Name sub-cluster sub `base`, "base-KIND" when with_kind, and with a number when that is taken. */
int hrun_cluster_name_sub(struct hrun_cluster *c, int sub, const char *base, int with_kind,
                          struct hrun_error *err);

/* ---------------------------------------------------------------- clusterfile.c */

/* Fill c from req's cluster file. c may be half filled on failure. */
int hrun_clusterfile_load(const struct hrun_cluster_request *req, struct hrun_cluster *c, struct hrun_error *err);

/* ---------------------------------------------------------------- signature.c */

/* Append a CPU model as a short word of [a-z0-9.-] ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz" gives
 * "xeon-e5-2680-v3"); nothing when no such character is left. */
void hrun_add_slug(struct hrun_buf *out, const char *model);
/* To two significant binary digits (1, 1.5, 2, 3, 4, 6, ... times a power of two). Memory comes in such
 * sizes; what firmware and kernel keep of it, a few percent, stays far from the limits at 1.25 and 1.75. */
uint64_t hrun_round_memory(uint64_t bytes);

#endif
