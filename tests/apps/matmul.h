/* matmul.h - what the three methods of matmul.c share: shares of the work, messages, the product of slices
 *
 * Invariants: shares[r] is the part of rank r, all > 0, with sum 1; upto[r] the sum of those before it. Places where a
 * square of n is cut are round(n upto): so cuts of neighbours meet, and every number belongs to one rank.
 */
#ifndef HRUN_TESTS_APPS_MATMUL_H
#define HRUN_TESTS_APPS_MATMUL_H

#include "common.h"

#include <cblas.h>

enum { MM_TAG_A = 1, MM_TAG_B, MM_TAG_C };

struct matmul;

struct mm_method {
    const char *name;
    /* Allocate what a rank holds. 0, or -1 when memory ran out. */
    int (*create)(struct matmul *s);
    void (*solve)(struct matmul *s);
    void (*destroy)(struct matmul *s);
};

struct mm_slice {           /* rows and columns of C */
    int row, rows, col, cols;
};

struct mm_cannon;

struct matmul {
    const struct app *app;
    MPI_Comm comm;
    const struct mm_method *method;
    int n, rank, size;
    double *upto;           /* size + 1 */
    double *a, *b, *c;      /* the root's: n by n; a and c row-major, b column-major */
    double *as, *bs, *cs;   /* the slices of A, B and C that this rank holds; the root's are parts of a, b and c */
    int side;               /* blocks in a line of C for each root of P, of method cannon */
    struct mm_cannon *cannon;
};

__attribute__((unused)) static long mm_cut(double n, double part)
{
    return lround(n * part);
}

__attribute__((unused)) static void mm_send(const struct matmul *s, double *v, double count, int to, int tag)
{
    MPI_Send(v, (int)count, MPI_DOUBLE, to, tag, s->comm);
}

__attribute__((unused)) static void mm_receive(const struct matmul *s, double *v, double count, int from, int tag)
{
    MPI_Recv(v, (int)count, MPI_DOUBLE, from, tag, s->comm, MPI_STATUS_IGNORE);
}

/* How many numbers go in messages are of this kind. */
__attribute__((unused)) static double *mm_alloc(const struct matmul *s, double count)
{
    return app_alloc(s->app->arena, s->size, (size_t)count + 1, sizeof(double));
}

#endif
