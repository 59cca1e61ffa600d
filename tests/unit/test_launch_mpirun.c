/* test_launch_mpirun.c - real jobs of engine mpirun, with what there is of Open MPI's mpirun */
#include "launch.h"

static char *no_ess[] = { (char *)"ess=nosuch" };

static void bad_mca(struct hrun_job *job)
{
    job->mca = (struct hrun_strvec){ (char **)(uintptr_t)no_ess, 1, 0 };
}

static void bad_mca_untouched(struct hrun_job *job)
{
    untouched(job);
    bad_mca(job);
}

/* mpirun's own failure is not the program's. */
static void own_failure(struct fixture *f)
{
    static const char *const words[] = { "true", NULL };
    struct hrun_outcome out = { .status = 77 };
    struct hrun_error err;
    int fds = open_fds(), old = dup(STDERR_FILENO), null;

    is_int(launch(f, "mpirun", 2, words, bad_mca, &out, &err), -1, "mpirun that cannot start itself");
    is_int(err.code, HRUN_EENGINE, "code");
    is_str(err.text, "mpirun failed with status 1 before it started a process: Returned value Not found (-13) "
           "instead of ORTE_SUCCESS", "message with its last words");
    is_int(out.status, 77, "the outcome is untouched");
    fflush(stderr);
    null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    launch(f, "mpirun", 2, words, bad_mca_untouched, &out, &err);
    dup2(old, STDERR_FILENO);
    close(null);
    close(old);
    is_str(err.text, "mpirun failed with status 1 before it started a process; it says why above",
           "message where standard error is the user's");
    is_clean(f, fds, "mpirun's own failure");
}

int main(void)
{
    struct fixture f;

    if (jobs_open(&f))
        return tap_done();
    if (hrun_engine_find("mpirun")->usable(&f.cluster, NULL, NULL)) {
        ok(1, "# SKIP there is no mpirun of Open MPI");
    } else {
        all_ends(&f, "mpirun");
        surroundings(&f, "mpirun");
        outputs(&f, "mpirun");
        own_failure(&f);
        foreign(&f, "mpirun");
        killed(&f, "mpirun");
    }
    fixture_close(&f);
    return tap_done();
}
