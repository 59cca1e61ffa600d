/* spread.c - the middle and the scatter of repeated times */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

/* Fewer than this have no quartiles worth the name. */
enum { QUARTILES_LEAST = 8 };
static const double QUARTILE_RANGE_SD = 1.349;   /* of a normal distribution, in standard deviations */

double net_student(int df)
{
    static const double few[] = { 12.7062, 4.3027, 3.1824, 2.7764 };
    const double z = 1.959964, v = df;

    if (df <= (int)(sizeof few / sizeof few[0]))
        return few[df < 1 ? 0 : df - 1];
    /* Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5), three terms: within 0.2 % from 5 on. */
    return z + (pow(z, 3) + z) / (4 * v) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * v * v * v);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double net_summary(double *v, int n, double *median, double *sd, double *max)
{
    double mean = 0, ss = 0;

    *median = *sd = *max = 0;
    if (!n)
        return 0;
    qsort(v, (size_t)n, sizeof *v, ascending);
    for (int i = 0; i < n; i++)
        mean += v[i] / n;
    for (int i = 0; i < n; i++)
        ss += (v[i] - mean) * (v[i] - mean);
    *sd = n >= QUARTILES_LEAST ? (v[n - 1 - n / 4] - v[n / 4]) / QUARTILE_RANGE_SD : n > 1 ? sqrt(ss / (n - 1)) : 0;
    *median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    *max = v[n - 1];
    return mean;
}
