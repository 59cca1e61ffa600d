/* ls.c - ordinary least squares and Student's quantiles by GSL; see fit.h for the contracts
 *
 * GSL reports errors through a global handler that aborts by default. A library must not replace the handler. So this
 * file calls only functions that fail on nothing but wrong shapes, and passes correct shapes and its own memory.
 */
#include "base/alloc.h"
#include "fit/internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_permutation.h>
#include <gsl/gsl_vector.h>
#include <math.h>
#include <stdlib.h>

int hrun_fit_ls(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err)
{
    size_t n = problem->n, p = problem->p;
    autorelease(hrun_fit_work_free) struct hrun_fit_work w = { 0 };
    gsl_matrix_view qr;
    gsl_vector_view tau, norm, b;
    autofree size_t *order = NULL;
    gsl_permutation perm = { p, NULL };
    double *r, *z, *d, tol;
    int sign;

    if (n && p && n < p)
        return hrun_fail(err, HRUN_ENODATA, "%zu rows cannot determine %zu coefficients", n, p);
    /* extra: row-major copy of the scaled problem, tau, norms, right side, triangle, solution */
    if (hrun_fit_work_alloc(problem, n * p + 2 * p + n + p * p + p, &w, err))
        return -1;
    perm.data = order = xmalloc(p * sizeof *order);
    qr = gsl_matrix_view_array(w.extra, n, p);
    tau = gsl_vector_view_array(w.extra + n * p, p);
    norm = gsl_vector_view_array(w.extra + n * p + p, p);
    d = w.extra + n * p + 2 * p;
    b = gsl_vector_view_array(d, n);
    r = d + n;
    z = r + p * p;
    for (size_t i = 0; i < n; i++) {
        d[i] = w.b[i];
        for (size_t j = 0; j < p; j++)
            w.extra[i * p + j] = w.a[j * n + i];
    }
    if (gsl_linalg_QRPT_decomp(&qr.matrix, &tau.vector, &perm, &sign, &norm.vector) ||
        gsl_linalg_QR_QTvec(&qr.matrix, &tau.vector, &b.vector))
        return hrun_fail(err, HRUN_EINVAL, "GSL refused a %zu by %zu least squares problem", n, p);
    tol = hrun_fit_roundoff(n, p) * fabs(w.extra[0]);
    for (size_t j = 0; j < p; j++) {
        if (!(fabs(w.extra[j * p + j]) > tol))
            return hrun_fail(err, HRUN_ERANK, w.scale[order[j]] == 0 ? "column %zu of %zu is zero" :
                             "column %zu of %zu depends on the others", order[j] + 1, p);
        for (size_t i = 0; i <= j; i++)
            r[j * p + i] = w.extra[i * p + j];
    }
    hrun_fit_backsolve(r, p, p, d, z);
    return hrun_fit_deliver(&w, &(struct hrun_fit_solution){ order, p, z, r, p, 0 }, out, err);
}

double hrun_fit_t_quantile(double prob, double dof)
{
    return gsl_cdf_tdist_Pinv(prob, dof);
}

double hrun_fit_f_tail(double f, double dof1, double dof2)
{
    return f > 0 ? gsl_cdf_fdist_Q(f, dof1, dof2) : 1;
}
