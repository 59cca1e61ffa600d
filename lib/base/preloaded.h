/* preloaded.h - for hrun's preloaded libraries: finding MPI, restoring the environment, writing to standard error
 *
 * Purpose: common code of libhrun-trace.so and libhrun-coll.so. All code is in this header, because these libraries
 * are not linked with other code of hrun.
 */
#ifndef HRUN_BASE_PRELOADED_H
#define HRUN_BASE_PRELOADED_H

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A function or variable of the program's MPI, also if the program has loaded MPI with local symbols (dlopen, as
 * Python does). NULL: there is none. */
static inline void *hrun_preloaded_find(const char *name)
{
    static const char *const libraries[] = { "libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40" };
    void *found = dlsym(RTLD_DEFAULT, name);

    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++)
        if (dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL))
            found = dlsym(RTLD_DEFAULT, name);
    return found;
}

/* Remove the library that contains address `own` from LD_PRELOAD, so that the program's children do not load it. */
static inline void hrun_preloaded_leave(const void *own)
{
    const char *list = getenv("LD_PRELOAD"), *end;
    Dl_info self;
    char *rest;
    size_t len = 0;

    if (!list || !dladdr(own, &self) || !(rest = (char *)calloc(1, strlen(list) + 1)))
        return;
    for (const char *p = list; *p; p = end) {
        p += strspn(p, ": ");
        end = p + strcspn(p, ": ");
        if (end == p || (strlen(self.dli_fname) == (size_t)(end - p) && !strncmp(p, self.dli_fname, (size_t)(end - p))))
            continue;
        if (len)
            rest[len++] = ':';
        memcpy(rest + len, p, (size_t)(end - p));
        len += (size_t)(end - p);
    }
    if (len)
        setenv("LD_PRELOAD", rest, 1);
    else
        unsetenv("LD_PRELOAD");
    free(rest);
}

/* Write text[len] to fd, standard error. If fd has no reader any more, the program gets no SIGPIPE. */
static inline void hrun_preloaded_write(int fd, const char *text, size_t len)
{
    struct timespec now = { 0, 0 };
    sigset_t pipe, before, pending;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    for (size_t at = 0; at < len; ) {
        ssize_t n = write(fd, text + at, len - at);
        struct pollfd p = { fd, POLLOUT, 0 };

        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            poll(&p, 1, -1);
        else if (n < 0 && errno != EINTR)
            break;      /* no reader */
    }
    while (!sigismember(&pending, SIGPIPE) && sigtimedwait(&pipe, NULL, &now) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif
