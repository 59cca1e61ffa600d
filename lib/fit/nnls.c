/* nnls.c - non-negative least squares; see fit.h for the contract
 *
 * Lawson and Hanson's active set method (Solving Least Squares Problems, ch. 23) in the form that keeps all columns
 * transformed by the orthogonal matrix Q of the k passive columns (those in use). The upper k rows of the passive
 * columns are the triangle R. Rows k..n-1 of any column, its lower part, are outside the span of the passive columns.
 * The gradient of column j is the product of the lower parts of column j and of the right side, so no residual is
 * formed from coefficients. A column enters by one Householder reflection and leaves by rotations.
 */
#include "base/alloc.h"
#include "fit/internal.h"

#include <math.h>
#include <stdlib.h>

enum { OUT, IN, ASIDE };

struct nnls {
    size_t n, p, k;        /* k: passive columns */
    double *q;             /* n by p, column-major */
    double *d;             /* n: the right side, transformed by Q' */
    double *x, *z;         /* coefficients by passive position: accepted ones, and those of the present subproblem */
    double *e;             /* p: work memory of nnls_choose */
    double *v;             /* n: reflection */
    size_t *cols;          /* column at each passive position */
    int *state;            /* of each column */
};

/* The next column to enter, or p if there is none. Candidates are the columns OUT whose gradient exceeds its rounding
 * error. The first step takes the first candidate, later steps the one with the largest gradient (of those equal up to
 * rounding, the first). Any candidate leads to an optimum; if there are several optima, this order selects the one that
 * uses the caller's first column most. The error of a gradient is c (|d| + |column|), with the norms of the lower
 * parts: entries of unit columns and of the unit right side have errors up to c. A column that depends on the passive
 * ones has a lower part of about c, so by Cauchy and Schwarz it is never a candidate. */
static size_t nnls_choose(const struct nnls *s, double c)
{
    size_t low = s->n - s->k, best = s->p;
    double dnorm = hrun_fit_norm(s->d + s->k, low), gbest = 0;
    double *g = s->z, *error = s->e;

    for (size_t j = 0; j < s->p; j++) {
        const double *col = s->q + j * s->n + s->k;

        g[j] = 0;
        if (s->state[j] != OUT)
            continue;
        for (size_t i = 0; i < low; i++)
            g[j] += col[i] * s->d[s->k + i];
        error[j] = c * (dnorm + hrun_fit_norm(col, low));
        if (!(g[j] > error[j]))
            g[j] = 0;
        else if (g[j] > gbest) {
            best = j;
            gbest = g[j];
        }
    }
    for (size_t j = 0; j < best && best < s->p; j++)
        if (g[j] > 0 && (s->k == 0 || g[j] + error[j] >= gbest - error[best]))
            return j;
    return best;
}

static void nnls_enter(struct nnls *s, size_t j)
{
    size_t low = s->n - s->k;
    double *col = s->q + j * s->n + s->k, diag, beta;

    hrun_fit_householder(col, low, s->v, &diag, &beta);
    for (size_t l = 0; l < s->p; l++)
        if (l != j && s->state[l] != IN)
            hrun_fit_reflect(s->v, beta, s->q + l * s->n + s->k, low);
    hrun_fit_reflect(s->v, beta, s->d + s->k, low);
    col[0] = diag;
    for (size_t i = 1; i < low; i++)
        col[i] = 0;
    s->cols[s->k] = j;
    s->x[s->k] = 0;
    s->state[j] = IN;
    s->k++;
}

static void rotate(double *col, size_t i, double cs, double sn)
{
    double a = col[i], b = col[i + 1];

    col[i] = cs * a + sn * b;
    col[i + 1] = cs * b - sn * a;
}

/* Take out the column at a passive position and make R triangular again. */
static void nnls_leave(struct nnls *s, size_t pos, int state)
{
    s->state[s->cols[pos]] = state;
    s->k--;
    for (size_t l = pos; l < s->k; l++) {
        s->cols[l] = s->cols[l + 1];
        s->x[l] = s->x[l + 1];
    }
    for (size_t l = pos; l < s->k; l++) {
        double *col = s->q + s->cols[l] * s->n;
        double r = hypot(col[l], col[l + 1]), cs = col[l] / r, sn = col[l + 1] / r;

        /* Passive columns further left have zeros in both rows. */
        for (size_t m = l + 1; m < s->k; m++)
            rotate(s->q + s->cols[m] * s->n, l, cs, sn);
        for (size_t j = 0; j < s->p; j++)
            if (s->state[j] != IN)
                rotate(s->q + j * s->n, l, cs, sn);
        rotate(s->d, l, cs, sn);
        col[l] = r;
        col[l + 1] = 0;
    }
}

/* Lawson and Hanson's inner loop: walk from x towards the solution z of the subproblem, dropping each column whose
 * coefficient reaches 0 first, until z > 0. Each turn but the last drops at least one column. */
static void nnls_solve_inner(struct nnls *s)
{
    for (;;) {
        double alpha = 2;
        size_t first = s->k;

        for (size_t l = 0; l < s->k; l++)
            s->z[l] = s->d[l];
        for (size_t l = s->k; l-- > 0;) {
            const double *col = s->q + s->cols[l] * s->n;

            s->z[l] /= col[l];
            for (size_t i = 0; i < l; i++)
                s->z[i] -= s->z[l] * col[i];
        }
        for (size_t l = 0; l < s->k; l++) {
            double step = s->x[l] / (s->x[l] - s->z[l]);

            if (s->z[l] <= 0 && step < alpha) {
                alpha = step;
                first = l;
            }
        }
        if (first == s->k) {
            for (size_t l = 0; l < s->k; l++)
                s->x[l] = s->z[l];
            return;
        }
        for (size_t l = 0; l < s->k; l++)
            s->x[l] += alpha * (s->z[l] - s->x[l]);
        s->x[first] = 0;
        for (size_t l = s->k; l-- > 0;)
            if (s->x[l] <= 0)
                nnls_leave(s, l, OUT);
    }
}

static void nnls_iterate(struct nnls *s, double *tol, size_t *entered)
{
    double c = *tol;
    size_t j, count = *entered;

    while (s->k < s->n && (j = nnls_choose(s, c)) < s->p) {
        /* In exact arithmetic no passive set occurs twice, but rounding can make the method cycle. The tolerance grows
         * tenfold every 3p entries (the bound of Lawson and Hanson's own program). When it reaches 1 no column can
         * enter, so the method always ends. */
        if (++count % (3 * s->p) == 0)
            c *= 10;
        nnls_enter(s, j);
        /* The new coefficient has the sign of the gradient, except by rounding. If the sign differs, the column is
         * ASIDE until the passive set has changed. */
        if (s->d[s->k - 1] / s->q[j * s->n + s->k - 1] <= 0) {
            nnls_leave(s, s->k - 1, ASIDE);
            continue;
        }
        nnls_solve_inner(s);
        for (size_t l = 0; l < s->p; l++)
            if (s->state[l] == ASIDE)
                s->state[l] = OUT;
    }
    *tol = c;
    *entered = count;
}

/* QR of the passive columns, in their order, from the original data, into the first k columns of q; x receives the
 * solution. Result: -1, or the passive position of a column that depends on those before it. */
static long nnls_solve_afresh(struct nnls *s, const struct hrun_fit_work *w)
{
    s->k = 0;
    for (size_t j = 0; j < s->p; j++)
        if (s->state[j] == IN)
            s->cols[s->k++] = j;
    for (size_t l = 0; l < s->k; l++)
        for (size_t i = 0; i < s->n; i++)
            s->q[l * s->n + i] = w->a[s->cols[l] * s->n + i];
    for (size_t i = 0; i < s->n; i++)
        s->d[i] = w->b[i];
    for (size_t l = 0; l < s->k; l++) {
        double diag, beta, *col = s->q + l * s->n + l;

        if (hrun_fit_norm(col, s->n - l) == 0)
            return (long)l;
        hrun_fit_householder(col, s->n - l, s->v, &diag, &beta);
        for (size_t m = l + 1; m < s->k; m++)
            hrun_fit_reflect(s->v, beta, s->q + m * s->n + l, s->n - l);
        hrun_fit_reflect(s->v, beta, s->d + l, s->n - l);
        *col = diag;
    }
    hrun_fit_backsolve(s->q, s->n, s->k, s->d, s->x);
    return -1;
}

/* Solve once more from the original data, so that the result depends only on the passive set. While a coefficient is
 * not positive (it was 0 up to rounding), drop the column of the most negative one. Result: number of columns
 * dropped. */
static size_t nnls_polish(struct nnls *s, const struct hrun_fit_work *w)
{
    for (size_t dropped = 0;; dropped++) {
        long drop = nnls_solve_afresh(s, w);

        if (drop < 0) {
            double least = 0;

            for (size_t l = 0; l < s->k; l++) {
                if (s->x[l] > least || (drop >= 0 && s->x[l] == least))
                    continue;
                drop = (long)l;
                least = s->x[l];
            }
        }
        if (drop < 0)
            return dropped;
        s->state[s->cols[drop]] = OUT;
    }
}

/* Restart from the original data with the columns in use, cols[k] with x[k]. */
static void nnls_begin(struct nnls *s, const struct hrun_fit_work *w)
{
    size_t k = s->k;

    for (size_t i = 0; i < s->n * s->p; i++)
        s->q[i] = w->a[i];
    for (size_t i = 0; i < s->n; i++)
        s->d[i] = w->b[i];
    for (size_t j = 0; j < s->p; j++)
        s->state[j] = OUT;
    s->k = 0;
    for (size_t l = 0; l < k; l++) {
        double x = s->x[l];

        nnls_enter(s, s->cols[l]);
        s->x[l] = x;
    }
}

/* Nearly dependent passive columns amplify rounding errors: a dependent column may enter and drive out another one.
 * After polishing has dropped the dependent column, the iteration continues from the remaining columns. The growing
 * tolerance ends the iteration. */
static void nnls_solve(struct nnls *s, const struct hrun_fit_work *w, size_t *entered)
{
    double tol = hrun_fit_roundoff(s->n, s->p);

    *entered = 0;
    do {
        nnls_begin(s, w);
        nnls_iterate(s, &tol, entered);
        tol *= 10;
    } while (nnls_polish(s, w) > 0 && tol < 1);
}

int hrun_fit_nnls(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err)
{
    size_t n = problem->n, p = problem->p, entered;
    autorelease(hrun_fit_work_free) struct hrun_fit_work w = { 0 };
    autofree size_t *cols = NULL;
    autofree int *state = NULL;
    struct nnls s = { .n = n, .p = p };

    if (hrun_fit_work_alloc(problem, n * p + 2 * n + 3 * p, &w, err))
        return -1;
    s.q = w.extra;
    s.d = s.q + n * p;
    s.v = s.d + n;
    s.x = s.v + n;
    s.z = s.x + p;
    s.e = s.z + p;
    s.cols = cols = xcalloc(p, sizeof *cols);
    s.state = state = xcalloc(p, sizeof *state);
    nnls_solve(&s, &w, &entered);
    return hrun_fit_deliver(&w, &(struct hrun_fit_solution){ s.cols, s.k, s.x, s.q, n, entered }, out, err);
}
