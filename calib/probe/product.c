/* product.c - how quick PEs multiply matrices: the time of a product of order PRODUCT_ORDER, all PEs loaded alike
 *
 * The processing performance of paper 003, section 3.2, from the dgemm of the BLAS library that the host has (OpenBLAS,
 * else the one that stands for libblas.so.3), with one thread; where there is none, from loops of our own.
 */
#include "probe.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

/* 6 MiB of matrices, which no cache of a core holds, and 2.7e8 operations: some 10 ms. */
enum { PRODUCT_ORDER = 512 };
/* Rows and columns of the blocks of the own loops: three of 32 KiB. */
enum { BLOCK = 64 };

typedef void dgemm_fn(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
                      const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
                      const int *ldc);

static dgemm_fn *find_dgemm(const char **name)
{
    static const char *const libraries[] = { "libopenblas.so.0", "libblas.so.3" };

    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        union { void *object; dgemm_fn *function; } dgemm = { library ? dlsym(library, "dgemm_") : NULL };

        *name = libraries[i];
        if (dgemm.object)
            return dgemm.function;
    }
    *name = "own";
    return NULL;
}

/* c += a b, of order n, by blocks. */
static void multiply(const double *a, const double *b, double *c, int n)
{
    for (int i0 = 0; i0 < n; i0 += BLOCK)
        for (int k0 = 0; k0 < n; k0 += BLOCK)
            for (int j0 = 0; j0 < n; j0 += BLOCK)
                for (int i = i0; i < i0 + BLOCK; i++)
                    for (int k = k0; k < k0 + BLOCK; k++)
                        for (int j = j0; j < j0 + BLOCK; j++)
                            c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static double product(dgemm_fn *dgemm, const double *a, const double *b, double *c)
{
    const int n = PRODUCT_ORDER;
    const double one = 1, zero = 0;
    double begin = probe_now();

    if (dgemm)
        dgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    else
        multiply(a, b, c, n);
    return probe_now() - begin;
}

void probe_product(struct probe *p)
{
    size_t count = (size_t)PRODUCT_ORDER * PRODUCT_ORDER;
    double *a = calloc(3 * count, sizeof *a), *b = a + count, *c = b + count;
    const char *name;
    dgemm_fn *dgemm = find_dgemm(&name);

    if (!a) {
        fputs("hrun-probe: memory ran out\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < count; i++) {
        a[i] = (double)(i % 7) - 3;
        b[i] = (double)(i % 5) - 2;
    }
    fprintf(p->out, "product %d %d %s", p->rank, PRODUCT_ORDER, name);
    product(dgemm, a, b, c);       /* not counted: libraries set themselves up, clocks rise */
    for (int i = 0; i < p->repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(p->out, " %.9f", product(dgemm, a, b, c));
    }
    fputc('\n', p->out);
    free(a);
}
