/* tasking.h - how a program deals its work out to its processes, and what a configuration takes then; not for other
 * rooms
 *
 * Purpose: with equal shares all wait for the slowest: T = max Ti (paper 000, section 4.1). A program that hands out
 * many tasks to whoever is free (task farms, self-scheduling, work queues) adds up speeds instead: with n_i processes
 * that alone would take Ti, all P of them, T = P / sum(n_i / Ti), the harmonic mean.
 * Invariants: on one kind of processes both forms agree with the sub-cluster's own model; where a master only hands tasks
 * out, its divided terms stand for P - 1 workers (hrun_tasking_term).
 */
#ifndef HRUN_MODEL_TASKING_H
#define HRUN_MODEL_TASKING_H

#include "base/buf.h"
#include "store/store.h"

/* What a part of a configuration would take if all its processes were as those of this part. */
struct hrun_part_time {
    double t;
    int processes;
};

/* The time of a configuration of n parts, n >= 1; the master, where there is one, is a process of the first. NAN where a
 * t is. */
double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n);
/* A lower bound of it, where `rest` more processes take `quickest` at least. */
double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest);

/* Divided work of P processes: how much more than a P-th a worker has of it. 1 where all work. */
double hrun_tasking_excess(const struct hrun_tasking *f, int P);
/* The same as the text of a term: append `term`, times the excess. */
void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out);

#endif
