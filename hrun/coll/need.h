/* need.h - memory without which a rank would choose other than the others, and leave them waiting */
#ifndef HRUN_COLL_NEED_H
#define HRUN_COLL_NEED_H

#include <stdio.h>
#include <stdlib.h>

/* Zeroed memory for n things; the program ends where there is none. */
static inline void *coll_need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p) {
        fputs("libhrun-coll: no memory left\n", stderr);
        abort();
    }
    return p;
}

#endif
