/* procs.h - finding and ending the processes of a job through /proc (internal)
 *
 * Purpose: ranks start other programs, and those may outlive them, leave the process group and the session,
 * or be adopted. A process belongs to the job when its environment holds HRUN_JOB=<job id>, when it has inherited the
 * job's memory file (hrun_spawn.mark), or when its process group was made for a rank. Nothing else is ever signalled.
 *
 * The memory file is known by its device and inode, never by its name, which anybody can use. hrun and its guard keep
 * it open, so that no other file gets the inode; there, and in a process that another thread of the caller forks, it is
 * close-on-exec, and so counts for nothing. Functions take the descriptor of this process as mark, 0: none.
 */
#ifndef HRUN_LAUNCH_PROCS_H
#define HRUN_LAUNCH_PROCS_H

#include <stddef.h>
#include <sys/types.h>

#define HRUN_JOB_VARIABLE "HRUN_JOB"

struct hrun_pids {
    pid_t *v;
    size_t n, cap;
};

#define HRUN_PIDS_INIT { NULL, 0, 0 }

/* 0, or -1 when memory ran out. */
int hrun_pids_push(struct hrun_pids *p, pid_t pid);
int hrun_pids_has(const struct hrun_pids *p, pid_t pid);
void hrun_pids_release(struct hrun_pids *p);

/* Append the living processes of the job (zombies are not), but for this process and those in except (may be
 * NULL). groups: the process groups made for ranks. -1 when memory ran out or there is no /proc. */
int hrun_procs_of_job(const char *job_id, int mark, const struct hrun_pids *groups, const struct hrun_pids *except,
                      struct hrun_pids *out);

/* Append the children of this process, of all its threads, zombies included. -1 when the kernel does not
 * tell. */
int hrun_procs_children(struct hrun_pids *out);

/* 1 when this process has one thread only. */
int hrun_procs_single_threaded(void);

/* Append root and all its descendants. -1 when memory ran out. */
int hrun_procs_tree(pid_t root, struct hrun_pids *out);

/* Process group of a process, also of a zombie; -1 when it is gone. */
pid_t hrun_procs_group(pid_t pid);

/* Does its environment hold HRUN_JOB=<job id>, or has it inherited the job's memory file? */
int hrun_procs_marked(pid_t pid, const char *job_id, int mark);

/* Which MPI library has the process mapped? For one that is not Open MPI's its file name goes to name[size]. */
enum hrun_procs_mpi { HRUN_PROCS_MPI_NONE, HRUN_PROCS_MPI_OPEN, HRUN_PROCS_MPI_FOREIGN };
enum hrun_procs_mpi hrun_procs_mpi(pid_t pid, char *name, size_t size);

#endif
