/* mapping.h - the state of mapping, numbering and binding ranks; private to lib/layout
 *
 * Purpose: data that mapping.c, mapping_rooms.c and mapping_file.c share. A room is the usable part of a host. A
 * unit is a core, or a hardware thread if the user maps or binds to hardware threads.
 * Invariants: the processes of a host are consecutive, in the order in which they are mapped.
 */
#ifndef HRUN_LAYOUT_MAPPING_H
#define HRUN_LAYOUT_MAPPING_H

#include "layout/layout.h"

struct proc;

struct unit {
    const struct hrun_core *core;
    int pu;                     /* OS number of a hardware thread; -1: the unit is a whole core */
    int where;                  /* its PE, numbered over all sub-clusters; -1: in no PE */
    int load;                   /* number of processes that use it */
    const struct proc *mine;    /* the last process that got it */
};

struct room {
    struct hrun_core *cores;    /* of the host; owned */
    int ncores;
    struct unit *units;         /* n usable units */
    int n;
    int home;                   /* the PE of processes whose unit is in no PE */
    int slots, most, limit;     /* limits of processes: usual; if the slots of all hosts are too few; of this run */
    int first, count;           /* index of its first process, number of its processes */
    int *group, *load_of;       /* n: the first unit of each unit's object; processes of an object, at its first unit */
};

/* Value of proc.what if the place of a process is its PE; other values are of enum hrun_map. */
enum { OWN_PE = -1 };

struct proc {
    int host;
    int what, number;           /* its place: kind and number of an object of its host */
    int at;                     /* the first unit of its place */
    int ranked;                 /* 1: it has a rank */
    int *units;                 /* its units; owned */
    int nunits;
};

struct mapping {
    struct hrun_cluster *cluster;
    struct hrun_mapping m;
    int pes;                    /* units of a process, at least 1 */
    int threads;                /* 1: units are hardware threads */
    int over;                   /* 1: there are more processes than slots */
    int bind;                   /* one of enum hrun_map */
    int exact;                  /* 1: processes are bound to exactly their units, by a rankfile */
    int shared;                 /* 1: some unit has two or more processes */
    struct room *rooms;         /* of each host */
    size_t *first;              /* nsubs + 1: the first PE of each sub-cluster */
    struct proc *procs;
    int nprocs;
    int *listed;                /* the host of each rank, if there is a list of hosts; else NULL */
    int *ranks;                 /* the process of each rank; NULL: process k has rank k */
    int nranked;                /* number of entries set in ranks */
};

/* Set *w to the rooms of the hosts. mapping_release is needed after success and failure. Errors: those of
 * hrun_host_cores. */
int mapping_begin(struct mapping *w, struct hrun_cluster *c, const struct hrun_mapping *m, const int *npes,
                  const char *const *busy, struct hrun_error *err);
void mapping_release(struct mapping *w);
/* Choose the units of each process. */
int mapping_bind(struct mapping *w, struct hrun_error *err);
/* Put the processes into the layout. */
void mapping_assign(const struct mapping *w, struct hrun_layout *l);
/* The index of the host with this name, with or without its domain; -1: none. */
int mapping_find_host(const struct hrun_cluster *c, const char *name, size_t len);
/* Make the processes and their units from a rankfile. n: number of its ranks to start, 0: all. */
int mapping_read(struct mapping *w, int n, struct hrun_error *err);

#endif
