/* turns.h - what estimate.h's steps know so far, and how they take turns; not for other rooms
 *
 * Purpose: the least squares system (system.h) takes segments, trunks and factors as given, which are found by its
 * solution (stages.h): estimate.c decides on classes and on what is left out, turns.c lets the steps follow each other
 * until nothing changes, result.c makes a network of it.
 */
#ifndef HRUN_NET_TURNS_H
#define HRUN_NET_TURNS_H

#include "net/stages.h"

struct net_state {
    struct net_work w;                 /* `given` points into the rest */
    struct net_sweep sweep;
    struct net_solution s;             /* the last; x NULL: none yet */
    struct hrun_net_segment *segments;
    int *class_of, *group_of;          /* of each host */
    double *trunk, *trunk_half;        /* ngroups by ngroups */
    int nclasses;
    int unbiased;                      /* 1: bias_bytes was tried, and explains nothing */
    struct hrun_strvec notes;
};

/* Solve for the present classes, from the last solution where that was for as many; with half widths if `intervals`.
 * Errors: those of net_solve. */
int net_state_solve(struct net_state *e, int intervals, struct hrun_error *err);

/* Solve, and find what goes with the solution, until neither changes. Errors: those of net_solve and net_trunks. */
int net_settle(struct net_state *e, struct hrun_error *err);

/* Fill a network that has room for the present classes, groups and segments. Errors: those of the steps of stages.h,
 * and of hrun_net_check. */
int net_fill(const struct net_state *e, struct hrun_net *net, struct hrun_error *err);

#endif
