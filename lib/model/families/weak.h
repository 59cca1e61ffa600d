/* weak.h - the family `weak`: constant work per process for every number of processes; private to lib/model/families
 *
 * Theory (paper 001): hrun-model(7), "weak".
 * Invariants: b >= 0 and d >= 0. The other coefficients may have either sign, because caches make the first rows
 * cheaper and messages may overlap with work. A record has the coefficients for one M and one N; for a size without a
 * record they are linear in N through those of the two nearest sizes.
 */
#ifndef HRUN_MODEL_FAMILIES_WEAK_H
#define HRUN_MODEL_FAMILIES_WEAK_H

#include "model/internal.h"

/* The coefficients, in the order of their terms. */
enum { HRUN_WEAK_WORK, HRUN_WEAK_FIXED, HRUN_WEAK_ALPHA, HRUN_WEAK_LOG, HRUN_WEAK_GAMMA, HRUN_WEAK_TERMS };
/* "W", "1", "[P>1]", "[P>1]*log2(P)", "[P>1]*W", as records name them. */
extern const char *const hrun_weak_terms[HRUN_WEAK_TERMS];

struct hrun_weak_run {
    int np;
    double work;            /* rows of each process, > 0 */
    double time_s;
};

struct hrun_weak_fit {
    double k[HRUN_WEAK_TERMS];
    double cov[HRUN_WEAK_TERMS * HRUN_WEAK_TERMS]; /* covariance of k, divided by s2; row-major */
    double s2;              /* variance of a weighted residual */
    int dof;                /* degrees of freedom; 0: s2 is 1, as the weights assume */
    double mean_error, max_error; /* mean and maximum of |fit - T| / T of the runs */
};

/* The values of the terms, x[HRUN_WEAK_TERMS]. */
void hrun_weak_values(int np, double work, double *x);
/* The time by the coefficients k. */
double hrun_weak_time(const double *k, int np, double work);

/* Steps 1 to 6 of paper 001, section IV, for exactly six runs in any order: on 1, p and q processes, 1 < p < q, each
 * with the same two amounts of work (in the paper p is 4, q is 8, and one amount is half of the other). gamma is
 * that with q processes. Errors: HRUN_EINVAL (other runs). */
int hrun_weak_paper(const struct hrun_weak_run *runs, size_t n, double *k, struct hrun_error *err);

/* Fit all runs by least squares with b >= 0 and d >= 0 on rows weighted by
 * 1/sqrt(sigma_abs_s^2 + (sigma_rel T)^2). For six runs without errors the result equals that of hrun_weak_paper.
 * Errors: HRUN_ENODATA (no run on one process, none on several, or one amount of work in all), HRUN_ENONFINITE,
 * HRUN_EINVAL (np or work below 1, a time that is not above 0), those of lib/fit. *out is untouched then. */
int hrun_weak_fit(const struct hrun_weak_run *runs, size_t n, double sigma_abs_s, double sigma_rel,
                  struct hrun_weak_fit *out, struct hrun_error *err);

/* Functions of struct hrun_family. */
size_t hrun_weak_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);
int hrun_weak_fit_rows(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);
int hrun_weak_points(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                     struct hrun_family_point *v, struct hrun_error *err);

#endif
