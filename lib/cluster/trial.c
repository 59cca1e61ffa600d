/* trial.c - trial of a description of a machine in a child process, which may crash; see topo_parts.h */
#include "cluster/topo_parts.h"

#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A machine with 2048 PUs takes 0.1 s and 20 MiB. A child that waits for a lock that another thread had during the fork
 * uses no processor time, so the limit of wall time ends this child. */
enum { CPU_MAX_S = 1, MEMORY_MAX_MIB = 192, WALL_MAX_S = 10 };

_Static_assert(sizeof(struct hrun_error) <= PIPE_BUF, "the child's answer is written and read in one piece");

static void limit(int resource, rlim_t most)
{
    struct rlimit r;

    if (getrlimit(resource, &r) || r.rlim_cur <= most)
        return;
    r.rlim_cur = r.rlim_max = most;
    setrlimit(resource, &r);
}

/* Run the child. Every signal is blocked, so that no handler of the program runs here. A crash still ends the child. */
static void run_trial_child(int fd, int (*work)(void *ctx, struct hrun_error *err), void *ctx)
{
    struct hrun_buf statm = HRUN_BUF_INIT;
    struct hrun_error why;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    memset(&why, 0, sizeof why);
    signal(SIGABRT, SIG_DFL);
    /* No output here: hwloc prints its warnings again when the parent loads the description. */
    fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_MAX_S);
    /* Limit the address space to its present size plus MEMORY_MAX_MIB. Sanitizers reserve terabytes. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    if (!hrun_file_read("/proc/self/statm", 4096, &statm, NULL))
        limit(RLIMIT_AS, (rlim_t)strtoull(statm.data, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) +
                         ((rlim_t)MEMORY_MAX_MIB << 20));
#endif
    hrun_buf_release(&statm);
    work(ctx, &why);
    _exit(hrun_write_all(fd, &why, sizeof why) != 0);
}

int hrun_topo_try(int (*work)(void *ctx, struct hrun_error *err), void *ctx, const char *what, struct hrun_error *err)
{
    struct hrun_error why;
    struct pollfd answer = { .events = POLLIN };
    int ends[2], status = 0, is_whole = 0;
    sigset_t all, before;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot create a pipe");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);    /* no call here is interrupted */
    pid = fork();
    if (pid == 0)
        run_trial_child(ends[1], work, ctx);
    if (pid < 0)
        hrun_fail_errno(err, HRUN_EIO, "cannot create a process");
    close(ends[1]);
    answer.fd = ends[0];
    if (pid > 0) {
        if (poll(&answer, 1, 1000 * WALL_MAX_S) > 0)
            is_whole = read(ends[0], &why, sizeof why) == (ssize_t)sizeof why;
        else
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    close(ends[0]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return -1;
    if (is_whole)
        return why.code ? hrun_fail(err, why.code, "%s", why.text) : 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return hrun_fail(err, HRUN_EINVAL, "%s takes hwloc longer than %d s", what, CPU_MAX_S);
    return hrun_fail(err, HRUN_EINVAL, "%s is broken: it crashes hwloc; 'lstopo --of xml FILE' writes a topology",
                     what);
}
