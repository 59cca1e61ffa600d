/* alloc.c - allocation that never fails; see alloc.h for the contracts */
#include "base/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void hrun_out_of_memory(void)
{
    static const char text[] = ": out of memory\n";
    const char *name = program_invocation_short_name;

    if (write(STDERR_FILENO, name, strlen(name)) >= 0 && write(STDERR_FILENO, text, sizeof text - 1) >= 0)
        _exit(125);
    _exit(125);
}

static void *not_null(void *p)
{
    if (!p)
        hrun_out_of_memory();
    return p;
}

void *xmalloc(size_t size)
{
    return not_null(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
    return not_null(calloc(n ? n : 1, size));
}

void *xrealloc(void *old, size_t size)
{
    return not_null(realloc(old, size ? size : 1));
}

char *xstrdup(const char *s)
{
    return not_null(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
    return not_null(strndup(s, len));
}

void *hrun_grown(void *v, size_t n, size_t *cap, size_t size)
{
    size_t more = *cap ? *cap : size == 1 ? 64 : 8;

    if (n <= *cap)
        return not_null(v);
    while (more < n && more <= SIZE_MAX / 2)
        more *= 2;
    v = not_null(more < n ? NULL : reallocarray(v, more, size));
    *cap = more;
    return v;
}

void hrun_free_pointer(void *pointer)
{
    free(*(void **)pointer);
}
