/* shim.c - hrun-shim: modes and messages; see shim.h */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

void shim_say(const char *fmt, ...)
{
    char host[256] = "", line[2048];
    va_list ap;
    int n;

    gethostname(host, sizeof host - 1);
    n = snprintf(line, sizeof line, "hrun: %s: ", host);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    n = (int)strlen(line);
    line[n] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
        return;     /* nobody is there to be told */
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0] && argc > 2; i++)
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(argv + 2);
    fputs("hrun-shim is started by hrun, not by hand; see hrun(1)\n", stderr);
    return SHIM_FAILED;
}
