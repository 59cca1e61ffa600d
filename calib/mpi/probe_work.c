/* probe_work.c - fixed amounts of work: run-to-run spread, noise, and products of matrices
 *
 * The kernel stays in the first-level cache and waits for nothing, so its time depends only on the PE. Every PE does
 * the same work, so PEs of one sub-cluster can be compared.
 * The noise is measured by fixed work quanta: M. Sottile, R. Minnich, "Analysis of microbenchmarks for performance
 * tuning of clusters", IEEE Cluster 2004; noise is the excess over the least quantum (T. Hoefler, T. Schneider,
 * A. Lumsdaine, "Characterizing the influence of system noise on large-scale applications by simulation", SC'10).
 */
#include "hrun_probe.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

enum { WORDS = 512 };              /* 4 KiB: in every first-level cache */
static const double REPETITION_S = 0.05; /* on the fastest PE: several ticks of the system's timer (1 to 10 ms) */
enum { QUANTA_PER_REPETITION = 50, QUANTA = 1000 }; /* 1 ms each on that PE, as in Sottile and Minnich */
/* Time limit for slow PEs. QUANTA_LEAST quanta still have a 99th percentile. */
static const double NOISE_MOST_S = 5;
enum { QUANTA_LEAST = 100 };

/* Values start at 0 and approach 1, without denormals or overflow. */
static double time_passes(double *v, long passes)
{
    double begin = mpi_now();

    for (long k = 0; k < passes; k++) {
        for (int i = 0; i < WORDS; i++)
            v[i] = v[i] * 0.999 + 0.001;
        __asm__ volatile("" : : "r"(v) : "memory"); /* prevents the compiler from merging passes */
    }
    return mpi_now() - begin;
}

/* The number of passes that take REPETITION_S on the fastest PE. Collective. */
static long find_passes(double *v)
{
    long passes = 1, most;
    double t, best;

    while ((t = time_passes(v, passes)) < REPETITION_S / 10)
        passes *= 2;
    best = t;
    for (int i = 0; i < 4; i++) {
        t = time_passes(v, passes);
        best = t < best ? t : best;
    }
    passes = (long)((double)passes * REPETITION_S / best);
    MPI_Allreduce(&passes, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void probe_kernel(struct probe *p)
{
    double v[WORDS] = { 0 };

    p->passes = find_passes(v);
    fprintf(p->out, "kernel %d", p->rank);
    time_passes(v, p->passes);         /* not counted: a processor's frequency takes a while to rise */
    for (int i = 0; i < p->repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(p->out, " %.9f", time_passes(v, p->passes));
    }
    fputc('\n', p->out);
}

void probe_noise(struct probe *p)
{
    static double t[QUANTA];
    double v[WORDS] = { 0 }, sum = 0;
    long passes;
    int n = 0;

    if (!p->passes)
        p->passes = find_passes(v);
    passes = p->passes / QUANTA_PER_REPETITION;
    passes = passes ? passes : 1;
    while (n < QUANTA && (n < QUANTA_LEAST || sum < NOISE_MOST_S)) {
        t[n] = time_passes(v, passes);
        sum += t[n++];
    }
    qsort(t, (size_t)n, sizeof t[0], mpi_compare_doubles);
    fprintf(p->out, "noise %d %d %.9f %.9f %.9f %.9f %.9f\n", p->rank, n, t[0], sum / n, t[n / 2], t[n - n / 100 - 1],
            t[n - 1]);
}

/* ---------------------------------------------------------------- products of matrices */

/* The processing performance of paper 003, section 3.2, from dgemm of the host's BLAS library (OpenBLAS, else
 * libblas.so.3) with one thread; without a BLAS library, from multiply_blocks. All PEs are loaded equally. */

/* 6 MiB of matrices, more than the cache of a core, and 2.7e8 operations: some 10 ms. */
enum { PRODUCT_ORDER = 512 };
/* Rows and columns of the blocks of multiply_blocks, which needs three blocks of 32 KiB at a time. */
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

/* c += a b for matrices of order n, row-major; BLOCK divides n. */
static void multiply_blocks(const double *a, const double *b, double *c, int n)
{
    for (int i0 = 0; i0 < n; i0 += BLOCK)
        for (int k0 = 0; k0 < n; k0 += BLOCK)
            for (int j0 = 0; j0 < n; j0 += BLOCK)
                for (int i = i0; i < i0 + BLOCK; i++)
                    for (int k = k0; k < k0 + BLOCK; k++)
                        for (int j = j0; j < j0 + BLOCK; j++)
                            c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static double time_product(dgemm_fn *dgemm, const double *a, const double *b, double *c)
{
    const int n = PRODUCT_ORDER;
    const double one = 1, zero = 0;
    double begin = mpi_now();

    if (dgemm)
        dgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    else
        multiply_blocks(a, b, c, n);
    return mpi_now() - begin;
}

void probe_product(struct probe *p)
{
    size_t count = (size_t)PRODUCT_ORDER * PRODUCT_ORDER;
    double *a = mpi_alloc(3 * count, sizeof *a), *b = a + count, *c = b + count;
    const char *name;
    dgemm_fn *dgemm = find_dgemm(&name);

    for (size_t i = 0; i < count; i++) {
        a[i] = (double)(i % 7) - 3;
        b[i] = (double)(i % 5) - 2;
    }
    fprintf(p->out, "product %d %d %s", p->rank, PRODUCT_ORDER, name);
    time_product(dgemm, a, b, c);       /* not counted: libraries initialise, frequencies rise */
    for (int i = 0; i < p->repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(p->out, " %.9f", time_product(dgemm, a, b, c));
    }
    fputc('\n', p->out);
    free(a);
}
