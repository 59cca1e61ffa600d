/* plain.c - a process on this host that is no rank of a job; see hrun_launch_plain
 *
 * It gets no place in an MPI world, so that it may start mpirun, or be a program of MPI that works alone.
 */
#include "launch/env.h"
#include "launch/job.h"

static int start_plain(struct hrun_run *r, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;

    hrun_env_base(&env);
    hrun_env_user(r->job, &env);
    return hrun_run_start_one(r, r->job->program, r->job->argv, &env, err);
}

int hrun_launch_plain(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = { .is_plain = 1, .grace_ms = 3000, .start = start_plain };

    return hrun_run_job(&driver, NULL, NULL, job, out, err);
}
