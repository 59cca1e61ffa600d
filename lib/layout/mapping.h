/* mapping.h - ranks while they are mapped, numbered and bound; private to lib/layout
 *
 * Purpose: what mapping.c and mapping_file.c share. A room is what a host has for ranks, cut into units: its cores, or
 * its hardware threads where these are what is asked for.
 * Invariants: the processes of a host follow each other, in the order in which they are mapped.
 */
#ifndef HRUN_LAYOUT_MAPPING_H
#define HRUN_LAYOUT_MAPPING_H

#include "layout/layout.h"

struct proc;

struct unit {
    const struct hrun_core *core;
    int pu;                     /* of a hardware thread; -1: it is the whole core */
    int where;                  /* its PE, counted over all sub-clusters; -1: in none */
    int load;                   /* processes that it is given to */
    const struct proc *mine;    /* the last one */
};

struct room {
    struct hrun_core *cores;    /* of the host; owned */
    int ncores;
    struct unit *units;         /* that may be used */
    int n;
    int home;                   /* the PE of processes whose unit is in none */
    int slots, most, limit;     /* processes that it takes, takes where the user asks for more than a resource manager
                                   grants, and takes now */
    int first, count;           /* processes */
    int *group, *load_of;       /* n: the first unit of each one's object, and the processes of that object */
};

/* The place of a process of which the PE alone is known; else it is one of enum hrun_map. */
enum { OWN_PE = -1 };

struct proc {
    int host;
    int what, number;           /* its place: an object of its host */
    int at;                     /* the first unit there */
    int ranked;
    int *units;                 /* that it is given; owned */
    int nunits;
};

struct mapping {
    struct hrun_cluster *cluster;
    struct hrun_mapping m;
    int pes;                    /* units of a process, at least 1 */
    int threads;                /* units are hardware threads */
    int over;                   /* there are more processes than slots */
    int bind;                   /* one of enum hrun_map */
    int exact;                  /* processes are bound to their units alone: a rankfile */
    int shared;                 /* some unit is given to two */
    struct room *rooms;         /* of each host */
    size_t *first;              /* nsubs + 1: the first PE of each sub-cluster */
    struct proc *procs;
    int nprocs;
    int *listed;                /* the host of each rank, where a list says it; else NULL */
    int *ranks;                 /* the process of each rank; NULL: in their order */
    int nranked;
};

/* w is to be released in any case. Errors: those of hrun_host_cores. */
int mapping_begin(struct mapping *w, struct hrun_cluster *c, const struct hrun_mapping *m, const int *npes,
                  const char *const *busy, struct hrun_error *err);
void mapping_release(struct mapping *w);
/* Give each process its units. */
int mapping_bind(struct mapping *w, struct hrun_error *err);
/* Put the processes into the layout. */
void mapping_assign(const struct mapping *w, struct hrun_layout *l);
/* The host of that name, with or without its domain; -1: none. */
int mapping_find_host(const struct hrun_cluster *c, const char *name, size_t len);
/* Processes and their units from a rankfile; n: 0, or how many of its ranks are started. */
int mapping_read(struct mapping *w, int n, struct hrun_error *err);

#endif
