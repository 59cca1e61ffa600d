/* procs.h - finding and ending the processes of a job through /proc
 *
 * Purpose: ranks start other programs, which may outlive them, leave the process group and the session, or be adopted.
 * A process belongs to the job if its environment contains HRUN_JOB=<job id>, if it has inherited the job's mark, or if
 * its process group was made for a rank. No other process is ever signalled.
 *
 * The mark is a random number in the soft limit RLIMIT_LOCKS, which Linux has not used since 2.4.25. A process that
 * clears its environment, closes all files and leaves its session still keeps its limits. A mark of 0 means that the
 * job has none.
 */
#ifndef HRUN_LAUNCH_PROCS_H
#define HRUN_LAUNCH_PROCS_H

#include "launch/launch.h"

#include <stddef.h>
#include <sys/types.h>

#define HRUN_JOB_VARIABLE "HRUN_JOB"

struct hrun_pids {
    pid_t *v;
    size_t n, cap;
};

#define HRUN_PIDS_INIT { NULL, 0, 0 }

void hrun_pids_push(struct hrun_pids *p, pid_t pid);
int hrun_pids_has(const struct hrun_pids *p, pid_t pid);
void hrun_pids_release(struct hrun_pids *p);

/* Append the processes of the job, except zombies, this process and those in `except` (may be NULL). groups: the
 * process groups made for ranks. 0, or -1 if there is no /proc. */
int hrun_procs_of_job(const char *job_id, unsigned long mark, const struct hrun_pids *groups,
                      const struct hrun_pids *except, struct hrun_pids *out);

/* Append the children of a process, also zombies and those that its other threads have started. 0; -1 if the kernel
 * keeps no list of children. */
int hrun_procs_children(pid_t pid, struct hrun_pids *out);

/* Append root and all its descendants. */
void hrun_procs_tree(pid_t root, struct hrun_pids *out);

/* 1 if the process has HRUN_JOB=<job id> in its environment or the job's mark, else 0. */
int hrun_procs_marked(pid_t pid, const char *job_id, unsigned long mark);

/* The MPI library that the process has mapped (HRUN_MPI_NONE, _OPENMPI or _MPICH). Its file name goes to name[size]. */
enum hrun_mpi_kind hrun_procs_mpi(pid_t pid, char *name, size_t size);

#endif
