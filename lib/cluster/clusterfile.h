/* clusterfile.h - a cluster file while it is loaded; shared by clusterfile.c and described.c */
#ifndef HRUN_CLUSTER_CLUSTERFILE_H
#define HRUN_CLUSTER_CLUSTERFILE_H

#include "base/yaml.h"
#include "cluster/internal.h"

/* The file's contents; pointers are NULL for keys that are not given. */
struct sub_entry {
    char *name, *hosts, *exclude, *memory, *cpu, *topology, *kind, *program;
    int *level, *cores;             /* level: enum hrun_level */
    double *cost_per_hour, *power_w;
};

struct cluster_file {
    int *level;
    char *exclude, *ledger;
    struct sub_entry *subclusters;
    unsigned subclusters_count;
};

struct names {
    struct hrun_strvec v;
    char *used;                     /* of an exclusion: 1 for each name that excluded a host */
};

/* Data of earlier entries about a host. */
struct host_note {
    unsigned entry;                 /* the first entry that names the host */
    unsigned last_entry;
    int next_core, next_pe;         /* of a host described by numbers */
};

struct load {
    const char *path;
    struct cluster_file *file;
    struct hrun_yaml *marks;
    const struct hrun_discovery *d;
    struct hrun_cluster *c;         /* d->c */
    struct hrun_resolver *resolver;
    struct names *hosts;            /* per entry: its hosts; excluded ones are "" */
    struct names exclude;           /* of the file */
    size_t nnames;                  /* in all lists of the file */
    struct hrun_topo **described;   /* per entry: its topology or NULL; equal texts share one */
    int npus;                       /* of all topologies that the file describes */
    struct host_note *notes;        /* per host of the cluster */
    int level;                      /* from the command line, or -1 */
    enum hrun_level default_level;
    int local;                      /* index of the local host, -1: not named so far */
    struct hrun_strvec asked;       /* hosts that the file does not describe, in its order */
    struct hrun_host_answer **answers;        /* their answers; NULL once a host of the cluster owns it */
    int next_asked;
};

struct wanted {                     /* requirements of an entry for each of its hosts */
    const char *cpu_model;
    enum hrun_level level;
    uint64_t memory;                /* of a host, 0: that of the topology */
    struct hrun_topo *described;
    int first_sub;                  /* sub-clusters of this entry begin here */
};

/* Fail at a key of entry e ("" for the entry itself), offset characters into its value. */
#define FAIL(l, e, key, offset, err, ...) \
    hrun_fail_at_entry((l), (e), (key), (offset), (err), hrun_strf(__VA_ARGS__))

/* Takes ownership of text. Result: -1. */
int hrun_fail_at_entry(const struct load *l, unsigned e, const char *key, int offset, struct hrun_error *err,
                       char *text);

/* Ask the hosts that the file does not describe, if hosts can be asked. Hosts that are left out because they do not
 * answer become "" in the lists. */
int hrun_described_ask(struct load *l, struct hrun_error *err);

/* Add a host that entry e lists, or find the host that an earlier entry has added with another core kind. described:
 * the entry's topology or NULL. Result: its index, or -1 with *err. */
int hrun_described_host(struct load *l, unsigned e, const char *name, struct hrun_topo *described,
                        struct hrun_error *err);

/* Add the PEs of a host that entry e uses. */
int hrun_described_pes(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err);

#endif
