/* test_launch_mpirun.c - real jobs of engine mpirun, with what there is of Open MPI's mpirun */
#include "launch_ends.h"

int main(void)
{
    struct fixture f;

    if (jobs_open(&f))
        return tap_done();
    if (hrun_engine_find("mpirun")->usable(&f.cluster, NULL)) {
        ok(1, "# SKIP there is no mpirun of Open MPI");
    } else {
        all_ends(&f, "mpirun");
        surroundings(&f, "mpirun");
        outputs(&f, "mpirun");
        killed(&f, "mpirun");
    }
    fixture_close(&f);
    return tap_done();
}
