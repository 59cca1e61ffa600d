/* nomem.h - allocations that fail, for tests in which each one fails once, in turn
 *
 * malloc and its relatives are replaced for the whole program that includes this. Sanitizers and valgrind bring their
 * own; under them nothing fails, and the test says so.
 */
#ifndef HRUN_TESTS_NOMEM_H
#define HRUN_TESTS_NOMEM_H

#include <errno.h>
#include <stdlib.h>

static long calls, fail_at, live;  /* fail_at: which call from now on fails, 0: none */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define REPLACED 0
#define REPLACEABLE 0
#else
/* 1: an allocation has come here. Under valgrind none does, while the first line of TAP needs one. */
static int replaced;
#define REPLACED replaced
#define REPLACEABLE 1   /* for #if: the allocator of the C library has other names, too */

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void __libc_free(void *p);

static int out_of_memory(void)
{
    replaced = 1;
    if (++calls != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    void *p = out_of_memory() ? NULL : __libc_malloc(size);

    live += p != NULL;
    return p;
}

void *calloc(size_t n, size_t size)
{
    void *p = out_of_memory() ? NULL : __libc_calloc(n, size);

    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t size)
{
    void *p = out_of_memory() ? NULL : __libc_realloc(old, size);

    live += p && !old;
    return p;
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}
#endif

#endif
