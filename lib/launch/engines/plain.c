/* plain.c - a process on this host that is no rank of a job; see hrun_launch_plain
 *
 * It gets no place in an MPI world, so that it may start mpirun, or be a program of MPI that works alone.
 */
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/job.h"

static int start_plain(struct hrun_run *r, struct hrun_strvec *env, struct hrun_error *err)
{
    const struct hrun_guard_spec spec = { .job_id = r->job_id, .mark = r->mark, .rundir = r->rundir,
                                          .shmdir = r->shmdir, .scratch = r->job->scratch, .grace_ms = 3000 };
    struct hrun_spawn_one one = { .own_group = 0 };

    r->is_plain = 1;
    hrun_env_base(env);
    hrun_env_set(env, HRUN_JOB_VARIABLE, r->job_id);
    hrun_env_user(r->job, env);
    if (hrun_guard_start(&spec, NULL, NULL, &r->guard, err))
        return -1;
    one.env = env->v;
    return hrun_run_start(r, r->job->program, r->job->argv, NULL, &one, 1, err);
}

static int plain_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;
    struct hrun_run r;
    int rc = hrun_run_begin(&r, job, out, err);

    if (rc == 0)
        rc = start_plain(&r, &env, err);
    if (rc == 0)
        rc = hrun_run_loop(&r);
    hrun_run_end(&r);
    return rc;
}

const struct hrun_engine hrun_engine_plain = {
    .name = "plain", .what = "one process that is no rank", .run = plain_run,
};
