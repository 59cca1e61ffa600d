/* shim.c - hrun-shim: modes and messages; see shim.h */
#include "shim.h"

#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct { const char *name; int (*run)(char **words); } modes[] = {
    { "rank", shim_rank },
    { "fold", shim_fold },
    { "agent", shim_agent },
    { "host", shim_host },
    { "proxy", shim_proxy },
};

double shim_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int shim_signal_fd(int broken_pipes, sigset_t *old)
{
    static const int handled[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCHLD };
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        sigaddset(&set, handled[i]);
    if (broken_pipes)
        sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, old);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int shim_exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

_Noreturn void shim_become(char **words)
{
    execvp(words[0], words);
    shim_say("cannot start %s: %s", words[0], strerror(errno));
    _exit(SHIM_NOPROG);
}

void shim_say(const char *fmt, ...)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf line = HRUN_BUF_INIT;
    char host[256] = "";
    va_list ap;

    gethostname(host, sizeof host - 1);
    hrun_buf_addf(&text, "hrun: %s: ", host);
    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    hrun_buf_addc(&text, '\n');
    hrun_buf_add_printable(&line, text.data, text.len);
    (void)!write(STDERR_FILENO, line.data, line.len);   /* there may be no reader */
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0] && argc > 2; i++)
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(argv + 2);
    fputs("hrun-shim is started by hrun, not by hand; see hrun(1)\n", stderr);
    return SHIM_FAILED;
}
