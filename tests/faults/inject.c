/* inject.c - a preload by which the k-th call of one function fails, for tests/faults/faults
 *
 * FAULT_CALL: "NAME K ERRNO", counted over the process and all that it forks; what these execute is left alone.
 * FAULT_COUNT: a file that gets the number of calls, one line for each process that ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[16];
static long k;
static int number;
static const char *counts;
static long *calls;             /* shared by all processes; NULL: not yet */

__attribute__((constructor)) static void begin(void)
{
    const char *call = getenv("FAULT_CALL");
    void *page = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!call || page == MAP_FAILED || sscanf(call, "%15s %ld %d", name, &k, &number) != 3)
        return;
    counts = getenv("FAULT_COUNT");
    unsetenv("LD_PRELOAD");
    calls = page;
}

__attribute__((destructor)) static void end(void)
{
    char line[32];
    int fd, n;

    if (!calls || !counts)
        return;
    n = snprintf(line, sizeof line, "%ld\n", *calls);
    calls = NULL;
    fd = open(counts, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0 && write(fd, line, (size_t)n) == n)
        close(fd);
}

static int fails(const char *called)
{
    if (!calls || strcmp(called, name) || __atomic_add_fetch(calls, 1, __ATOMIC_SEQ_CST) != k)
        return 0;
    errno = number;
    return 1;
}

#define REAL(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))
#define WRAP(kind, result, f, args, words, failed) \
    result f args \
    { \
        static __typeof__(&f) real; \
        if (!real) \
            real = REAL(f); \
        return fails(kind) ? failed : real words; \
    }

WRAP("write", ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), -1)
WRAP("fsync", int, fsync, (int fd), (fd), -1)
WRAP("rename", int, rename, (const char *a, const char *b), (a, b), -1)
WRAP("rename", int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b), -1)
WRAP("fork", pid_t, fork, (void), (), -1)
WRAP("mkdir", int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
WRAP("mkdir", int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode), -1)
WRAP("mkdir", char *, mkdtemp, (char *path), (path), NULL)
WRAP("open", FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)

/* The descriptor is gone all the same, as in Linux. */
int close(int fd)
{
    int failed = fails("close"), rc = REAL(close)(fd);

    if (failed)
        errno = number;
    return failed ? -1 : rc;
}

#define WRAP_OPEN(f, args, words) \
    int f args \
    { \
        static __typeof__(&f) real; \
        va_list ap; \
        mode_t mode; \
        va_start(ap, flags); \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
        va_end(ap); \
        if (!real) \
            real = REAL(f); \
        return fails("open") ? -1 : real words; \
    }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
