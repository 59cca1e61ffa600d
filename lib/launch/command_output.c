/* command_output.c - what a short command prints; see programs.h */
#include "base/file.h"
#include "launch/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 10000, CPU_MAX_S = 60 };

static void become(char *const *argv, int errors, int out)
{
    struct rlimit cpu;
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, STDIN_FILENO);
    dup2(errors ? out : null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!getrlimit(RLIMIT_CPU, &cpu) && (cpu.rlim_cur == RLIM_INFINITY || cpu.rlim_cur > CPU_MAX_S)) {
        cpu.rlim_cur = CPU_MAX_S;
        setrlimit(RLIMIT_CPU, &cpu);
    }
    execv(argv[0], argv);
    _exit(127);
}

/* 1 if the process is runnable or has used processor time since the last call, else 0. *used: the processor time of the
 * process and its children at the last call; updated. */
static int works(pid_t pid, double *used)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    double before = *used, t[4];
    autofree char *path = hrun_strf("/proc/%d/stat", (int)pid);
    char state = 0;
    const char *at;

    if (!hrun_file_read(path, 4096, &text, NULL) && (at = strrchr(text.data, ')')) &&
        sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf %lf %lf", &state, t, t + 1, t + 2, t + 3) == 5)
        *used = t[0] + t[1] + t[2] + t[3];
    return state == 'R' || *used > before;
}

/* Read the command's output until its end. 0, or -1 if it does not answer. */
static int listen_to(int fd, pid_t pid, struct hrun_buf *out)
{
    struct pollfd p = { fd, POLLIN, 0 };
    char chunk[4096];
    double used = 0;

    for (;;) {
        int ready = poll(&p, 1, WAIT_MS);
        ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;

        if (n == 0)
            return 0;
        if (n > 0)
            hrun_buf_add(out, chunk, (size_t)n);
        else if (ready == 0 ? !works(pid, &used) : errno != EINTR)
            return -1;
    }
}

int hrun_command_output(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err)
{
    int fds[2], rc;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    pid = fork();
    if (pid == 0)
        become(argv, errors, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return hrun_fail_errno(err, HRUN_EIO, "cannot start %s", argv[0]);
    }
    rc = listen_to(fds[0], pid, out);
    close(fds[0]);
    if (rc)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc ? hrun_fail(err, HRUN_EIO, "%s %s does not answer", argv[0], argv[1]) : 0;
}
