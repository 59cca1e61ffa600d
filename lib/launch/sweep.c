/* sweep.c - processes that outlive the ranks which started them; see internal.h
 *
 * hrun is the subreaper of the job: what loses its parent becomes hrun's child. So in the common case one
 * look at the list of children tells that nothing is left; only otherwise all processes are looked at.
 */
#include "launch/internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Is this child, which is no rank and no stranger, of the job? A process with several threads may start
 * children of its own at any time; those carry no mark of the job. */
static int is_ours(const struct hrun_run *r, pid_t pid, int single)
{
    return single || hrun_pids_has(&r->groups, hrun_procs_group(pid)) || hrun_procs_marked(pid, r->job_id, r->mark);
}

/* Reap what has ended among the adopted children, list those that live. -1: the kernel keeps no list. */
static int adopted(const struct hrun_run *r, struct hrun_pids *living)
{
    struct hrun_pids all = HRUN_PIDS_INIT;
    int single = hrun_procs_single_threaded(), rc = hrun_procs_children(&all);

    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        pid_t pid = all.v[i];
        if (pid == r->guard.pid || hrun_pids_has(&r->strangers, pid) || !is_ours(r, pid, single))
            continue;
        if (waitpid(pid, NULL, WNOHANG) == 0)
            rc = hrun_pids_push(living, pid);
    }
    hrun_pids_release(&all);
    return rc;
}

int hrun_run_sweep(struct hrun_run *r, int sig)
{
    struct hrun_pids left = HRUN_PIDS_INIT, except = HRUN_PIDS_INIT;
    size_t direct;
    int n, rc = adopted(r, &left);

    direct = left.n;
    if (rc || direct) {
        /* Their descendants too; a process is listed twice at most, and signalled once. */
        hrun_pids_push(&except, r->guard.pid);
        for (size_t i = 0; i < direct; i++)
            hrun_pids_push(&except, left.v[i]);
        hrun_procs_of_job(r->job_id, r->mark, &r->groups, &except, &left);
    }
    for (size_t i = 0; i < left.n && sig; i++) {
        kill(left.v[i], sig);
        kill(left.v[i], SIGCONT);  /* a stopped process hears SIGTERM only when it goes on */
    }
    n = (int)left.n;
    hrun_pids_release(&left);
    hrun_pids_release(&except);
    return n;
}
