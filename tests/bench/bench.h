/* bench.h - what the bench programs share: the clock and the order of doubles for medians */
#ifndef HRUN_TESTS_BENCH_H
#define HRUN_TESTS_BENCH_H

#include <stdlib.h>
#include <time.h>

/* Seconds of the monotonic clock. */
static inline double bench_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline void bench_sort(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, bench_compare);
}

#endif
