/* trial.c - trying a description of a machine in a child process, which may crash; see topo_parts.h for the contract */
#include "cluster/topo_parts.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A machine with 2048 PUs takes 0.1 s and 20 MiB. */
enum { CPU_MAX_S = 1, MEMORY_MAX_MIB = 192 };

static void limit(int resource, rlim_t most)
{
    struct rlimit r;

    if (getrlimit(resource, &r) || r.rlim_cur <= most)
        return;
    r.rlim_cur = r.rlim_max = most;
    setrlimit(resource, &r);
}

/* Limit the address space to its present size plus MEMORY_MAX_MIB. Sanitizers reserve terabytes. */
static void limit_memory(void)
{
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    struct hrun_buf statm = HRUN_BUF_INIT;

    if (!hrun_file_read("/proc/self/statm", 4096, &statm, NULL))
        limit(RLIMIT_AS, (rlim_t)strtoull(statm.data, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) +
                         ((rlim_t)MEMORY_MAX_MIB << 20));
    hrun_buf_release(&statm);
#endif
}

/* The child: every signal is blocked, so that no handler of the program runs here. A crash ends it all the same. */
static void run_trial_child(int fd, int (*work)(void *ctx, struct hrun_error *err), void *ctx)
{
    struct hrun_error why;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    memset(&why, 0, sizeof why);
    signal(SIGABRT, SIG_DFL);
    /* hwloc's warnings come when the parent loads the description. */
    fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_MAX_S);
    limit_memory();
    work(ctx, &why);
    _exit(hrun_write_all(fd, &why, sizeof why) != 0);
}

/* Read the child's answer, and wait for its end. Result: 1, or 0 if it ended before the answer was complete. */
static int read_trial_answer(int fd, pid_t pid, struct hrun_error *why, int *status)
{
    size_t got = 0;
    ssize_t n;

    do {
        n = read(fd, (char *)why + got, sizeof *why - got);
        got += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
    return got == sizeof *why;
}

int hrun_topo_try(int (*work)(void *ctx, struct hrun_error *err), void *ctx, const char *what, struct hrun_error *err)
{
    struct hrun_error why;
    int ends[2], status = 0, is_whole;
    sigset_t all, before;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot create a pipe");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        run_trial_child(ends[1], work, ctx);
    if (pid < 0)
        hrun_fail_errno(err, HRUN_EIO, "cannot create a process");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    is_whole = pid > 0 && read_trial_answer(ends[0], pid, &why, &status);
    close(ends[0]);
    if (pid < 0)
        return -1;
    if (is_whole && why.code)
        return hrun_fail(err, why.code, "%s", why.text);
    if (is_whole)
        return 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return hrun_fail(err, HRUN_EINVAL, "%s takes hwloc longer than %d s", what, CPU_MAX_S);
    return hrun_fail(err, HRUN_EINVAL, "%s is broken: it crashes hwloc; 'lstopo --of xml FILE' writes a topology",
                     what);
}
