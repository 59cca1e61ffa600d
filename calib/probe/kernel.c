/* kernel.c - fixed amounts of work: run-to-run spread, and noise
 *
 * The kernel stays in the first-level cache and waits for nothing, so that its time is that of the PE alone. Every PE
 * does the same work, so that those of one sub-cluster can be compared.
 * The noise is measured by fixed work quanta: M. Sottile, R. Minnich, "Analysis of microbenchmarks for performance
 * tuning of clusters", IEEE Cluster 2004; what they take beyond the least is the noise (T. Hoefler, T. Schneider,
 * A. Lumsdaine, "Characterizing the influence of system noise on large-scale applications by simulation", SC'10).
 */
#include "probe.h"

#include <mpi.h>
#include <stdlib.h>

enum { WORDS = 512 };              /* 4 KiB: in every first-level cache */
static const double REPETITION_S = 0.05; /* on the fastest PE: many ticks of the system's timer (1 to 10 ms) */
enum { QUANTA_PER_REPETITION = 50, QUANTA = 1000 }; /* quanta of 1 ms there, as Sottile and Minnich */
/* A PE that is as slow as this has told enough by then; the least number still has a hundredth part. */
static const double NOISE_MOST_S = 5;
enum { QUANTA_LEAST = 100 };

/* Values approach 1: no denormal, no overflow. */
static double work(double *v, long passes)
{
    for (long k = 0; k < passes; k++) {
        for (int i = 0; i < WORDS; i++)
            v[i] = v[i] * 0.999 + 0.001;
        __asm__ volatile("" : : "r"(v) : "memory"); /* the passes stay apart */
    }
    return v[0];
}

static double time_of(double *v, long passes)
{
    double begin = probe_now();

    work(v, passes);
    return probe_now() - begin;
}

/* Passes that take REPETITION_S on the fastest PE. */
static long find_passes(double *v)
{
    long passes = 1, most;
    double t, best;

    while ((t = time_of(v, passes)) < REPETITION_S / 10)
        passes *= 2;
    best = t;
    for (int i = 0; i < 4; i++) {
        t = time_of(v, passes);
        best = t < best ? t : best;
    }
    passes = (long)((double)passes * REPETITION_S / best);
    MPI_Allreduce(&passes, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void probe_kernel(struct probe *p)
{
    double v[WORDS];

    for (int i = 0; i < WORDS; i++)
        v[i] = 1;
    p->passes = find_passes(v);
    fprintf(p->out, "kernel %d", p->rank);
    time_of(v, p->passes);         /* not counted: the clock of a processor takes a while to rise */
    for (int i = 0; i < p->repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(p->out, " %.9f", time_of(v, p->passes));
    }
    fputc('\n', p->out);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void probe_noise(struct probe *p)
{
    static double t[QUANTA];
    double v[WORDS], sum = 0;
    long passes;
    int n = 0;

    for (int i = 0; i < WORDS; i++)
        v[i] = 1;
    if (!p->passes)
        p->passes = find_passes(v);
    passes = p->passes / QUANTA_PER_REPETITION;
    passes = passes ? passes : 1;
    while (n < QUANTA && (n < QUANTA_LEAST || sum < NOISE_MOST_S)) {
        t[n] = time_of(v, passes);
        sum += t[n++];
    }
    qsort(t, (size_t)n, sizeof t[0], ascending);
    fprintf(p->out, "noise %d %d %.9f %.9f %.9f %.9f %.9f\n", p->rank, n, t[0], sum / n, t[n / 2], t[n - n / 100 - 1],
            t[n - 1]);
}
