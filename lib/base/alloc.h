/* alloc.h - allocation that never fails, and release at the end of a scope
 *
 * Purpose: no caller checks for missing memory. If malloc fails, the process prints one line and exits with status 125;
 * the guard process ends the processes of its job.
 * Invariants: no function here returns NULL; the caller frees the results with free.
 */
#ifndef HRUN_BASE_ALLOC_H
#define HRUN_BASE_ALLOC_H

#include <stddef.h>
#include <stdlib.h>

#define HRUN_NEVER_NULL __attribute__((returns_nonnull, warn_unused_result))

void *xmalloc(size_t size) HRUN_NEVER_NULL;
void *xcalloc(size_t n, size_t size) HRUN_NEVER_NULL;
void *xrealloc(void *old, size_t size) HRUN_NEVER_NULL;
char *xstrdup(const char *s) HRUN_NEVER_NULL;
char *xstrndup(const char *s, size_t len) HRUN_NEVER_NULL;

/* Print "PROGRAM: out of memory" and end the process with status 125. */
_Noreturn void hrun_out_of_memory(void);

/* Grow array v of cap elements to at least n elements, by doubling. */
#define hrun_grow(v, n, cap)                                                     \
    do {                                                                         \
        size_t grown_ = (size_t)(cap);                                           \
        (v) = hrun_grown((v), (size_t)(n), &grown_, sizeof *(v));                \
        (cap) = (__typeof__(cap))grown_;                                         \
    } while (0)
void *hrun_grown(void *v, size_t n, size_t *cap, size_t size) HRUN_NEVER_NULL;

/* A pointer from malloc that is freed at the end of its scope: `autofree char *path = hrun_strf(...)`. */
#define autofree __attribute__((cleanup(hrun_free_pointer)))
void hrun_free_pointer(void *pointer);

/* An object that release(&object) releases at the end of its scope: `autorelease(hrun_buf_release) struct hrun_buf b =
 * HRUN_BUF_INIT`. */
#define autorelease(release) __attribute__((cleanup(release)))

#endif
