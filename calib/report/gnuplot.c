/* gnuplot.c - running gnuplot over pipes; see plot.h for the contract */
#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of a child that could not become gnuplot, as env(1). */
enum { NO_EXEC = 126, NO_PROGRAM = 127 };

struct pipes {
    int in[2], out[2], words[2];    /* standard input, output and error of gnuplot */
};

static void close_all(struct pipes *p)
{
    int *fds[] = { p->in, p->out, p->words };

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            if (fds[i][k] >= 0)
                close(fds[i][k]);
            fds[i][k] = -1;
        }
}

static void close_one(int *fd)
{
    close(*fd);
    *fd = -1;
}

static void become(const struct pipes *p)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(p->in[0], STDIN_FILENO);
    dup2(p->out[1], STDOUT_FILENO);
    dup2(p->words[1], STDERR_FILENO);
    execlp("gnuplot", "gnuplot", "--default-settings", "-", (char *)NULL);
    _exit(errno == ENOENT ? NO_PROGRAM : NO_EXEC);
}

/* Read what there is. 0, or -1 at the end, when the descriptor is closed. */
static void read_pipe(int *fd, struct hrun_buf *out)
{
    char chunk[65536];
    ssize_t n = read(*fd, chunk, sizeof chunk);

    if (n > 0)
        hrun_buf_add(out, chunk, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        close_one(fd);
}

/* Write what is left of the script from *done on. What gnuplot does not want to read it does not need. */
static void write_script(int *fd, const struct hrun_buf *script, size_t *done)
{
    ssize_t n = write(*fd, script->data + *done, script->len - *done);

    if (n > 0)
        *done += (size_t)n;
    else if (n < 0 && errno != EINTR && errno != EAGAIN)
        *done = script->len;
    if (*done == script->len)
        close_one(fd);
}

/* Feed and listen until gnuplot has closed its ends. */
static int talk(struct pipes *p, const struct hrun_buf *script, struct hrun_buf *out, struct hrun_buf *words,
                struct hrun_error *err)
{
    size_t done = 0;

    fcntl(p->in[1], F_SETFL, O_NONBLOCK);
    while (p->out[0] >= 0 || p->words[0] >= 0) {
        struct pollfd v[3] = { { p->in[1], POLLOUT, 0 }, { p->out[0], POLLIN, 0 }, { p->words[0], POLLIN, 0 } };

        if (poll(v, 3, -1) < 0) {
            if (errno == EINTR)
                continue;
            return hrun_fail_errno(err, HRUN_EIO, "cannot wait for gnuplot");
        }
        if (v[0].revents)
            write_script(&p->in[1], script, &done);
        if (v[1].revents)
            read_pipe(&p->out[0], out);
        if (v[2].revents)
            read_pipe(&p->words[0], words);
    }
    return 0;
}

/* The first line of gnuplot's words that says something. */
static const char *first_words(struct hrun_buf *words)
{
    char *save = NULL, *line = strtok_r(words->data, "\n", &save);

    while (line && !line[strspn(line, " \t^\r")])
        line = strtok_r(NULL, "\n", &save);
    return line ? line + strspn(line, " \t") : "it says nothing";
}

static int check_end(int status, size_t made, struct hrun_buf *words, struct hrun_error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
        return hrun_fail(err, HRUN_ENOENT, "gnuplot, which draws the plots, is not installed; on Debian and Ubuntu: "
                         "apt-get install gnuplot-nox (without it: hrun-calibrate show --plot)");
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
        return hrun_fail(err, HRUN_EIO, "gnuplot cannot be executed");
    if (WIFSIGNALED(status))
        return hrun_fail(err, HRUN_EIO, "gnuplot ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) || !made)
        return hrun_fail(err, HRUN_EIO, "gnuplot made no plot: %s", first_words(words));
    return 0;
}

int gnuplot_run(const struct hrun_buf *script, struct hrun_buf *out, struct hrun_error *err)
{
    struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
    struct hrun_buf words = HRUN_BUF_INIT;
    size_t before = out->len;
    int status = 0, rc = -1;
    pid_t pid;

    if (script->failed)
        return hrun_fail_nomem(err);
    if (pipe2(p.in, O_CLOEXEC) || pipe2(p.out, O_CLOEXEC) || pipe2(p.words, O_CLOEXEC)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
        goto done;
    }
    pid = fork();
    if (pid < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot start gnuplot");
        goto done;
    }
    if (pid == 0)
        become(&p);
    close_one(&p.in[0]);
    close_one(&p.out[1]);
    close_one(&p.words[1]);
    rc = talk(&p, script, out, &words, err);
    if (rc)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!rc)
        rc = out->failed || words.failed ? hrun_fail_nomem(err) : check_end(status, out->len - before, &words, err);
done:
    close_all(&p);
    hrun_buf_release(&words);
    return rc;
}
