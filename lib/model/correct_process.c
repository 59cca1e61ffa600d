/* correct_process.c - r(N) as a process over ln N, of which points are known; see correct.h for the contract */
#include "model/correct.h"

#include <math.h>

/* Solve A z = b for a symmetric positive definite A[n by HRUN_CORRECTION_SIZES], by Cholesky's A = L L'; A becomes L,
 * b z. The noise on the diagonal keeps it well conditioned: 1e-8 at least, of a variance below 1. */
static void factorise(double A[][HRUN_CORRECTION_SIZES], size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = A[i][j];

            for (size_t k = 0; k < j; k++)
                sum -= A[i][k] * A[j][k];
            A[i][j] = i == j ? sqrt(sum) : sum / A[j][j];
        }
}

/* b becomes the solution of L b' = b. */
static void forward(double L[][HRUN_CORRECTION_SIZES], size_t n, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= L[i][k] * b[k];
        b[i] /= L[i][i];
    }
}

static double size_covariance(double var, double a, double b)
{
    return var * exp(-fabs(a - b) / HRUN_CORRECT_LENGTH);
}

double hrun_correct_condition(const struct hrun_correct_point *v, size_t npoints, double prior, double x, size_t skip,
                              double *var)
{
    double A[HRUN_CORRECTION_SIZES][HRUN_CORRECTION_SIZES], k[HRUN_CORRECTION_SIZES], r[HRUN_CORRECTION_SIZES];
    double mean = 0;
    size_t first = 0, last = npoints, use[HRUN_CORRECTION_SIZES], n = 0;

    while (last - first > HRUN_CORRECTION_SIZES) {   /* drop the farther end */
        if (fabs(v[first].x - x) > fabs(v[last - 1].x - x))
            first++;
        else
            last--;
    }
    for (size_t i = first; i < last; i++)
        if (i != skip)
            use[n++] = i;
    for (size_t a = 0; a < n; a++) {
        const struct hrun_correct_point *p = &v[use[a]];

        for (size_t b = 0; b < n; b++)
            A[a][b] = size_covariance(prior, p->x, v[use[b]].x);
        A[a][a] += p->var / (p->agree * fmax(p->trust, 1e-6)) + p->rounding;
        k[a] = size_covariance(prior, p->x, x);
        r[a] = p->own;
    }
    factorise(A, n);
    forward(A, n, k);
    forward(A, n, r);
    *var = prior;
    for (size_t a = 0; a < n; a++) {
        mean += k[a] * r[a];            /* k' A^-1 r = (L^-1 k)' (L^-1 r) */
        *var -= k[a] * k[a];
    }
    *var = fmax(*var, 0);
    return mean;
}
