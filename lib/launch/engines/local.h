/* local.h - shared by the files of engine local: a job whose ranks may spawn processes */
#ifndef HRUN_LAUNCH_LOCAL_H
#define HRUN_LAUNCH_LOCAL_H

#include "launch/job.h"

/* The run's state. */
struct local {
    const struct hrun_topo *topo;   /* to bind with; NULL: nothing is bound */
    char *topology;                 /* path of the file with the topology, or NULL */
    int mpich;
    struct hrun_strvec common;      /* environment that all ranks have */
    /* For local_spawn.c. */
    struct hrun_buf request;        /* words of HRUN_GUARD_SPAWN, until the processes are started */
    struct hrun_buf refusal;        /* text of HRUN_GUARD_UNREADY */
    struct further *further;        /* the request in preparation */
    int *places;                    /* PE of each spawned process, counted over all sub-clusters */
    int nalive;                     /* living processes when a request began its wait, which lasts until due.spawn_s */
    struct group { int first, end; } *groups;   /* processes that must connect because ranks wait for them */
    int ngroups;
};

/* The largest number of processes on the host: its slots if given, else the number of cores of its PEs. */
int local_slots(const struct hrun_layout *l);
/* The spawn of struct hrun_driver: start the processes that a rank of Open MPI requests on free PEs, or refuse. */
void local_on_spawn(struct hrun_run *r, const struct hrun_guard_event *ev);
void local_release(struct local *x);

#endif
