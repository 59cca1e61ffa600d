/* ask.c - what a short command prints; see internal.h */
#include "launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 10000 };

static void become(char *const *argv, int errors, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, STDIN_FILENO);
    dup2(errors ? out : null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

/* 0: it has said all, -1: it does not answer. */
static int listen_to(int fd, struct hrun_buf *out)
{
    struct pollfd p = { fd, POLLIN, 0 };
    char chunk[4096];

    for (;;) {
        int ready = poll(&p, 1, WAIT_MS);
        ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;

        if (n == 0)
            return 0;
        if (n > 0)
            hrun_buf_add(out, chunk, (size_t)n);
        else if (ready == 0 || errno != EINTR)
            return -1;
    }
}

int hrun_ask(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err)
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
    rc = listen_to(fds[0], out);
    close(fds[0]);
    if (rc)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (rc)
        return hrun_fail(err, HRUN_EIO, "%s %s does not answer", argv[0], argv[1]);
    return out->failed ? hrun_fail_nomem(err) : 0;
}
