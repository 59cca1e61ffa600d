/* test_launch_guard.c - a guard whose PMIx server hangs in its start ends with hrun */
#include "tap.h"

#include "launch/guard.h"
#include "launch/procs.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* In place of PMIx's own. */
int PMIx_server_init(void *module, void *info, size_t n);
int PMIx_server_init(void *module, void *info, size_t n)
{
    (void)module, (void)info, (void)n;
    for (;;)
        pause();
}

int main(void)
{
    enum { ROUNDS = 6000, STEP_MS = 10 };
    char folder[] = "/tmp/hrun-guard.XXXXXX";
    struct hrun_pids tree = HRUN_PIDS_INIT;
    int ended = 0, status;
    pid_t hrun, guard;

    ok(mkdtemp(folder) && !prctl(PR_SET_CHILD_SUBREAPER, 1), "a folder");
    hrun = fork();
    if (hrun == 0) {
        const struct hrun_guard_spec spec = { .job_id = "test", .rundir = folder, .nranks = 1 };
        struct hrun_guard g = HRUN_GUARD_INIT;
        struct hrun_strvec env = HRUN_STRVEC_INIT;
        struct hrun_error err;

        _exit(hrun_guard_start(&spec, &env, NULL, &g, &err) ? 1 : 0);
    }
    for (int i = 0; i < ROUNDS && tree.n < 2; i++) {
        poll(NULL, 0, STEP_MS);
        hrun_pids_release(&tree);
        hrun_procs_tree(hrun, &tree);
    }
    guard = tree.n == 2 ? tree.v[1] : -1;
    ok(guard > 0, "a guard starts");
    kill(hrun, SIGKILL);
    ok(waitpid(hrun, &status, 0) == hrun && WIFSIGNALED(status), "its hrun is killed");
    for (int i = 0; i < ROUNDS && guard > 0 && !ended; i++) {
        poll(NULL, 0, STEP_MS);
        ended = waitpid(guard, &status, WNOHANG) == guard;
    }
    ok(ended, "the guard ends");
    rmdir(folder);
    if (guard > 0 && !ended)
        kill(guard, SIGKILL);
    hrun_pids_release(&tree);
    return tap_done();
}
