/* least_squares.c - non-negative least squares of the experiments (fitting.h)
 *
 * A row has few entries, so the normal equations X'X k = X'y are cheap. Columns are scaled to norm 1. The solution is
 * refined by the residuals of the rows, which makes it as accurate as that of a QR (Bjorck, "Stability analysis of the
 * method of seminormal equations", Linear Algebra Appl. 88/89, 1987). Columns with few rows in common with others come
 * first (number_columns), so that the Cholesky factor R is sparse.
 */
#include "base/alloc.h"
#include "net/fitting.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column depends on the columns before it if the part of it outside their span has a squared relative length below
 * this, which is within the rounding error of X'X. */
static const double DEPENDENT = 1e-12;
/* Number of solutions of one subproblem: one by the factor, and two refinements. */
enum { REFINED = 3 };

struct normal {
    const struct net_rows *m;
    double *a, *r;             /* p by p, row-major: upper triangles of X'X and of its factor R */
    size_t *list;              /* p: the entries of a row that are not 0 */
    double *scale;             /* p: norms of the columns */
    double *x, *z;             /* p: accepted solution; solution of the columns in use; both of scaled columns */
    double *g, *step;          /* p: gradient, change */
    char *in;                  /* p: 1: the column is in use */
};

static double normal_scaled(const struct normal *s, size_t row, size_t entry)
{
    return s->m->value[entry] * s->m->w[row] / s->scale[s->m->column[entry]];
}

static void normal_make(const struct net_rows *m, struct normal *s)
{
    size_t p = m->p;

    *s = (struct normal){ .m = m };
    s->a = xcalloc(2 * p * p + 5 * p + 1, sizeof *s->a);
    s->list = xmalloc((p + 1) * sizeof *s->list);
    s->in = xcalloc(p + 1, 1);
    s->r = s->a + p * p;
    s->scale = s->r + p * p;
    s->x = s->scale + p;
    s->z = s->x + p;
    s->g = s->z + p;
    s->step = s->g + p;
    for (size_t i = 0; i < m->n; i++)
        for (size_t e = m->first[i]; e < m->first[i + 1]; e++)
            s->scale[m->column[e]] += m->value[e] * m->w[i] * m->value[e] * m->w[i];
    for (size_t j = 0; j < p; j++)
        s->scale[j] = sqrt(s->scale[j]);
    for (size_t i = 0; i < m->n; i++)
        for (size_t e = m->first[i]; e < m->first[i + 1]; e++)
            for (size_t f = m->first[i]; f < m->first[i + 1]; f++)
                if (m->column[e] <= m->column[f])
                    s->a[m->column[e] * p + m->column[f]] += normal_scaled(s, i, e) * normal_scaled(s, i, f);
}

/* Factorise the columns in use, without those that depend on columns before them. */
static void normal_factor(struct normal *s)
{
    size_t p = s->m->p;

    memcpy(s->r, s->a, p * p * sizeof *s->r);
    for (size_t k = 0; k < p; k++) {
        double *row = s->r + k * p, root;
        size_t n = 0;

        s->in[k] &= row[k] > DEPENDENT;
        if (!s->in[k])
            continue;
        root = sqrt(row[k]);
        for (size_t j = k; j < p; j++)
            if (s->in[j] && row[j] != 0) {
                row[j] /= root;
                s->list[n++] = j;
            }
        for (size_t i = 1; i < n; i++)
            for (size_t j = i; j < n; j++)
                s->r[s->list[i] * p + s->list[j]] -= row[s->list[i]] * row[s->list[j]];
    }
}

/* Replace v[p] by the solution of R'u = v, 0 for columns out of use. v is 0 before index `first`. */
static void normal_solve_lower(const struct normal *s, double *v, size_t first)
{
    size_t p = s->m->p;

    for (size_t i = first; i < p; i++) {
        v[i] = s->in[i] ? v[i] / s->r[i * p + i] : 0;
        for (size_t j = i + 1; j < p && v[i] != 0; j++)
            v[j] -= s->r[i * p + j] * v[i];
    }
}

/* Replace v[p], 0 for columns out of use, by the solution of R u = v. */
static void normal_solve_upper(const struct normal *s, double *v)
{
    size_t p = s->m->p;

    for (size_t i = p; i-- > 0;) {
        if (!s->in[i])
            continue;
        for (size_t j = i + 1; j < p; j++)
            v[i] -= s->r[i * p + j] * v[j];
        v[i] /= s->r[i * p + i];
    }
}

/* Set g to the gradient at v[p], X'(y - X v), *rss to the sum of squares. Result: the rounding error of g. */
static double normal_gradient(struct normal *s, const double *v, double *rss)
{
    const struct net_rows *m = s->m;
    double size = 0, sum = 0;

    *rss = 0;
    memset(s->g, 0, m->p * sizeof *s->g);
    for (size_t j = 0; j < m->p; j++)
        size += fabs(v[j]);
    for (size_t i = 0; i < m->n; i++) {
        double rest = m->y[i] * m->w[i];

        sum += rest * rest;
        for (size_t e = m->first[i]; e < m->first[i + 1]; e++)
            rest -= normal_scaled(s, i, e) * v[m->column[e]];
        *rss += rest * rest;
        for (size_t e = m->first[i]; e < m->first[i + 1]; e++)
            s->g[m->column[e]] += normal_scaled(s, i, e) * rest;
    }
    return 10 * (double)(m->n > m->p ? m->n : m->p) * DBL_EPSILON * (sqrt(sum) + size);
}

/* Set z to the least squares solution of the columns in use. */
static void normal_solve_in_use(struct normal *s)
{
    double rss;

    normal_factor(s);
    memset(s->z, 0, s->m->p * sizeof *s->z);
    for (int turn = 0; turn < REFINED; turn++) {
        normal_gradient(s, s->z, &rss);
        memcpy(s->step, s->g, s->m->p * sizeof *s->step);
        normal_solve_lower(s, s->step, 0);
        normal_solve_upper(s, s->step);
        for (size_t j = 0; j < s->m->p; j++)
            s->z[j] += s->step[j];
    }
}

/* ---------------------------------------------------------------- Lawson and Hanson's steps */

/* Drop columns in use whose z is not above 0, until all z are. Set x to the solution of the others. */
static void normal_begin(struct normal *s)
{
    size_t left;

    do {
        left = 0;
        normal_solve_in_use(s);
        for (size_t j = 0; j < s->m->p; j++)
            if (s->in[j] && s->z[j] <= 0) {
                s->in[j] = 0;
                left++;
            }
    } while (left > 0);
    memcpy(s->x, s->z, s->m->p * sizeof *s->x);
}

/* The fraction of the way from x to z at which coefficient j reaches 0. */
static double normal_part_to_zero(const struct normal *s, size_t j)
{
    return s->x[j] > 0 ? s->x[j] / (s->x[j] - s->z[j]) : 0;
}

/* Move from x towards the solution of the columns in use, dropping the columns whose coefficients reach 0 first, until
 * all are above 0. */
static void normal_walk(struct normal *s)
{
    size_t p = s->m->p;
    double part;

    do {
        part = 1;
        normal_solve_in_use(s);
        for (size_t j = 0; j < p; j++)
            if (s->in[j] && s->z[j] <= 0)
                part = fmin(part, normal_part_to_zero(s, j));
        for (size_t j = 0; j < p; j++) {
            s->in[j] &= s->z[j] > 0 || normal_part_to_zero(s, j) > part;
            s->x[j] = s->in[j] ? s->x[j] + part * (s->z[j] - s->x[j]) : 0;
        }
    } while (part < 1);
}

/* Use columns with a gradient above the tolerance: all, or only the one with the largest. Result: their number. */
static size_t normal_enter(struct normal *s, double tolerance, int all)
{
    size_t best = s->m->p, count = 0;

    for (size_t j = 0; j < s->m->p; j++)
        if (!s->in[j] && s->scale[j] > 0 && s->g[j] > tolerance) {
            best = count++ == 0 || s->g[j] > s->g[best] ? j : best;
            s->in[j] = (char)all;
        }
    if (count > 0)
        s->in[best] = 1;
    return count;
}

/* Add all columns of normal_enter at once while this lowers the sum of squares, then one by one. The gradient of a
 * column that does not lower the sum was a rounding error: the tolerance grows tenfold. */
static void normal_iterate(struct normal *s)
{
    double least, found, slack = 1;
    int all = 1;

    normal_begin(s);
    while (normal_enter(s, slack * normal_gradient(s, s->x, &least), all) > 0) {
        normal_walk(s);
        normal_gradient(s, s->x, &found);
        if (found < least * (1 - 1e-9))
            continue;
        slack *= all ? 1 : 10;
        all = 0;
    }
}

void net_nnls(const struct net_rows *m, const double *start, double *k, size_t *rank, double *variance)
{
    struct normal s;

    normal_make(m, &s);
    for (size_t j = 0; j < m->p; j++)
        s.in[j] = s.scale[j] > 0 && (!start || start[j] > 0);
    normal_iterate(&s);
    *rank = 0;
    for (size_t j = 0; j < m->p; j++) {
        if (k)
            k[j] = s.in[j] ? s.x[j] / s.scale[j] : 0;
        *rank += (size_t)s.in[j];
    }
    for (size_t j = 0; variance && j < m->p; j++) {
        variance[j] = 0;
        if (!s.in[j])
            continue;
        for (size_t i = 0; i < m->p; i++)
            s.step[i] = i == j;
        normal_solve_lower(&s, s.step, j);
        for (size_t i = j; i < m->p; i++)
            variance[j] += s.step[i] * s.step[i] / s.scale[j] / s.scale[j];
    }
    free(s.a);
    free(s.list);
    free(s.in);
}
