/* sparse_qr.c - the triangular factor of a sparse matrix; see internal.h */
#include "fit/internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void hrun_sparse_qr_free(struct hrun_sparse_qr *q)
{
    free(q->position);
    free(q->first);
    free(q->value);
    free(q->row);
    free(q->column);
    free(q->r);
    free(q->in);
    *q = (struct hrun_sparse_qr){ 0 };
}

/* ---------------------------------------------------------------- order of columns */

/* Which columns meet: a bit for each pair. */
struct meet {
    size_t p, words;           /* words of a column's bits */
    uint64_t *bits;
    size_t *degree;            /* SIZE_MAX: eliminated */
};

static size_t count_bits(const uint64_t *v, size_t words)
{
    size_t n = 0;

    for (size_t i = 0; i < words; i++)
        n += (size_t)__builtin_popcountll(v[i]);
    return n;
}

static int has_bit(const uint64_t *v, size_t i)
{
    return v[i / 64] >> i % 64 & 1;
}

static void meet_rows(const struct hrun_sparse *problem, struct meet *m)
{
    for (size_t i = 0; i < problem->n; i++)
        for (size_t a = problem->first[i]; a < problem->first[i + 1]; a++)
            for (size_t b = problem->first[i]; b < problem->first[i + 1]; b++)
                m->bits[problem->column[a] * m->words + problem->column[b] / 64] |=
                    (uint64_t)1 << problem->column[b] % 64;
    for (size_t j = 0; j < m->p; j++) {
        m->bits[j * m->words + j / 64] |= (uint64_t)1 << j % 64;
        m->degree[j] = count_bits(m->bits + j * m->words, m->words);
    }
}

/* Column j is eliminated: those that it meets meet each other from now on, and it no more. Its own bits stay: they
 * are its row of R. */
static void eliminate(struct meet *m, size_t j)
{
    const uint64_t *mine = m->bits + j * m->words;

    m->degree[j] = SIZE_MAX;
    for (size_t l = 0; l < m->p; l++) {
        uint64_t *theirs = m->bits + l * m->words;

        if (l == j || !has_bit(mine, l))
            continue;
        for (size_t i = 0; i < m->words; i++)
            theirs[i] |= mine[i];
        theirs[j / 64] &= ~((uint64_t)1 << j % 64);
        m->degree[l] = count_bits(theirs, m->words);
    }
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Rows of R from what columns met when they were eliminated. order[p]: the columns by position. */
static int make_rows(const struct meet *m, const size_t *order, struct hrun_sparse_qr *q, struct hrun_error *err)
{
    size_t all = 0;

    for (size_t j = 0; j < m->p; j++)
        all += count_bits(m->bits + j * m->words, m->words);
    q->row = malloc((2 * m->p + 1) * sizeof *q->row);
    q->column = malloc(all * sizeof *q->column);
    q->r = malloc((all + 2 * m->p) * sizeof *q->r);
    q->in = calloc(2 * m->p, 1);
    if (!q->row || !q->column || !q->r || !q->in)
        return hrun_fail_nomem(err);
    q->parent = q->row + m->p + 1;
    q->d = q->r + all;
    q->work = q->d + m->p;
    q->filled = q->in + m->p;
    memset(q->work, 0, m->p * sizeof *q->work);
    q->row[0] = 0;
    for (size_t i = 0; i < m->p; i++) {
        const uint64_t *mine = m->bits + order[i] * m->words;
        size_t at = q->row[i];

        for (size_t l = 0; l < m->p; l++)
            if (has_bit(mine, l))
                q->column[at++] = q->position[l];
        qsort(q->column + q->row[i], at - q->row[i], sizeof *q->column, by_size);
        q->row[i + 1] = at;
        q->parent[i] = at - q->row[i] > 1 ? q->column[q->row[i] + 1] : m->p;
    }
    return 0;
}

/* Least degree first (Tinney and Walker 1967), of equal ones the first: little is filled in. */
static int make_order(const struct hrun_sparse *problem, struct hrun_sparse_qr *q, struct hrun_error *err)
{
    struct meet m = { problem->p, problem->p / 64 + 1, NULL, NULL };
    size_t *order;
    int rc;

    m.bits = calloc(m.p * m.words, sizeof *m.bits);
    m.degree = malloc(2 * m.p * sizeof *m.degree);
    q->position = malloc(m.p * sizeof *q->position);
    if (!m.bits || !m.degree || !q->position) {
        free(m.bits);
        free(m.degree);
        return hrun_fail_nomem(err);
    }
    order = m.degree + m.p;
    meet_rows(problem, &m);
    for (size_t i = 0; i < m.p; i++) {
        size_t best = 0;

        for (size_t j = 1; j < m.p; j++)
            best = m.degree[j] < m.degree[best] ? j : best;
        order[i] = best;
        q->position[best] = i;
        eliminate(&m, best);
    }
    rc = make_rows(&m, order, q, err);
    free(m.bits);
    free(m.degree);
    return rc;
}

/* ---------------------------------------------------------------- the matrix */

static int check_problem(const struct hrun_sparse *problem, struct hrun_error *err)
{
    if (problem->n == 0 || problem->p == 0)
        return hrun_fail(err, HRUN_ENODATA, "nothing to fit: %zu rows, %zu columns", problem->n, problem->p);
    for (size_t i = 0; i < problem->n; i++) {
        double w = problem->w[i];

        if (!(w > 0))
            return hrun_fail(err, isnan(w) ? HRUN_ENONFINITE : HRUN_EINVAL,
                             "weight of row %zu is %g; it must be above 0", i + 1, w);
        if (!isfinite(problem->y[i] * w))
            return hrun_fail(err, HRUN_ENONFINITE, "row %zu of the right side is %g with weight %g; finite numbers are "
                             "needed", i + 1, problem->y[i], w);
        for (size_t l = problem->first[i]; l < problem->first[i + 1]; l++)
            if (!isfinite(problem->value[l] * w))
                return hrun_fail(err, HRUN_ENONFINITE, "row %zu, column %zu is %g with weight %g; finite numbers are "
                                 "needed", i + 1, problem->column[l] + 1, problem->value[l], w);
    }
    return 0;
}

/* Norms without overflow: entries over the largest of their column. largest[p]: scratch */
static int scale(struct hrun_sparse_qr *q, double *largest, struct hrun_error *err)
{
    size_t all = q->first[q->n];

    for (size_t l = 0; l < all; l++)
        largest[q->at[l]] = fmax(largest[q->at[l]], fabs(q->value[l]));
    for (size_t l = 0; l < all; l++)
        if (q->value[l] != 0) {
            double e = q->value[l] / largest[q->at[l]];

            q->scale[q->at[l]] += e * e;
        }
    for (size_t j = 0; j < q->p; j++) {
        q->scale[j] = largest[j] * sqrt(q->scale[j]);
        largest[j] = 0;
        if (!isfinite(q->scale[j]))
            return hrun_fail(err, HRUN_ENONFINITE, "a column is too large: its norm overflows");
    }
    for (size_t l = 0; l < all; l++)
        q->value[l] = q->value[l] != 0 ? q->value[l] / q->scale[q->at[l]] : 0;
    q->bnorm = hrun_fit_norm(q->b, q->n);
    if (!isfinite(q->bnorm))
        return hrun_fail(err, HRUN_ENONFINITE, "the right side is too large: its norm overflows");
    for (size_t i = 0; i < q->n && q->bnorm > 0; i++)
        q->b[i] /= q->bnorm;
    return 0;
}

int hrun_sparse_qr_make(const struct hrun_sparse *problem, struct hrun_sparse_qr *out, struct hrun_error *err)
{
    struct hrun_sparse_qr *q = out;
    size_t n = problem->n, p = problem->p, all;

    *q = (struct hrun_sparse_qr){ .n = n, .p = p };
    if (check_problem(problem, err) || make_order(problem, q, err))
        return -1;
    all = problem->first[n];
    q->first = malloc((n + 1 + all) * sizeof *q->first);
    q->value = calloc(all + n + p, sizeof *q->value);
    if (!q->first || !q->value)
        return hrun_fail_nomem(err);
    q->at = q->first + n + 1;
    q->b = q->value + all;
    q->scale = q->b + n;
    memcpy(q->first, problem->first, (n + 1) * sizeof *q->first);
    for (size_t i = 0; i < n; i++) {
        q->b[i] = problem->y[i] * problem->w[i];
        for (size_t l = problem->first[i]; l < problem->first[i + 1]; l++) {
            q->at[l] = q->position[problem->column[l]];
            q->value[l] = problem->value[l] * problem->w[i];
        }
    }
    return scale(q, q->work, err);
}

/* ---------------------------------------------------------------- the factor */

/* Rotate the row in work, whose first entry is at `i`, and its right side into R. work is 0 again after it. */
static void insert(struct hrun_sparse_qr *q, size_t i, double rhs)
{
    double *work = q->work;

    for (; i < q->p; i = q->parent[i]) {
        size_t from = q->row[i], end = q->row[i + 1];
        double h, cs, sn, a;

        if (!q->in[i])
            work[i] = 0;
        if (work[i] == 0)
            continue;
        if (!q->filled[i]) {
            for (size_t l = from; l < end; l++) {
                q->r[l] = work[q->column[l]];
                work[q->column[l]] = 0;
            }
            q->d[i] = rhs;
            q->filled[i] = 1;
            return;
        }
        h = sqrt(q->r[from] * q->r[from] + work[i] * work[i]);
        if (h == 0) {          /* its square underflows: nothing beside columns of norm 1 */
            work[i] = 0;
            continue;
        }
        cs = q->r[from] / h;
        sn = work[i] / h;
        q->r[from] = h;
        work[i] = 0;
        for (size_t l = from + 1; l < end; l++) {
            double b = work[q->column[l]];

            a = q->r[l];
            q->r[l] = cs * a + sn * b;
            work[q->column[l]] = cs * b - sn * a;
        }
        a = q->d[i];
        q->d[i] = cs * a + sn * rhs;
        rhs = cs * rhs - sn * a;
    }
}

void hrun_sparse_qr_leave(struct hrun_sparse_qr *q, size_t position)
{
    q->in[position] = 0;
    if (!q->filled[position])
        return;
    q->filled[position] = 0;
    for (size_t l = q->row[position] + 1; l < q->row[position + 1]; l++)
        q->work[q->column[l]] = q->in[q->column[l]] ? q->r[l] : 0;
    insert(q, q->parent[position], q->d[position]);
}

void hrun_sparse_qr_factor(struct hrun_sparse_qr *q)
{
    double tol = hrun_fit_roundoff(q->n, q->p);

    memset(q->filled, 0, q->p);
    for (size_t i = 0; i < q->n; i++) {
        size_t least = q->p;

        for (size_t l = q->first[i]; l < q->first[i + 1]; l++)
            if (q->in[q->at[l]] && q->value[l] != 0) {
                q->work[q->at[l]] = q->value[l];
                least = q->at[l] < least ? q->at[l] : least;
            }
        insert(q, least, q->b[i]);
    }
    for (size_t i = 0; i < q->p; i++)
        if (q->in[i] && (!q->filled[i] || fabs(q->r[q->row[i]]) <= tol))
            hrun_sparse_qr_leave(q, i);
}

void hrun_sparse_qr_solve(const struct hrun_sparse_qr *q, const double *d, double *z)
{
    for (size_t i = q->p; i-- > 0;) {
        double sum = d[i];

        for (size_t l = q->row[i] + 1; l < q->row[i + 1] && q->in[i]; l++)
            sum -= q->in[q->column[l]] ? q->r[l] * z[q->column[l]] : 0;
        z[i] = q->in[i] ? sum / q->r[q->row[i]] : 0;
    }
}

void hrun_sparse_qr_solve_transposed(const struct hrun_sparse_qr *q, const double *d, double *z)
{
    if (z != d)
        memcpy(z, d, q->p * sizeof *z);
    for (size_t i = 0; i < q->p; i++) {
        z[i] = q->in[i] ? z[i] / q->r[q->row[i]] : 0;
        for (size_t l = q->row[i] + 1; l < q->row[i + 1] && z[i] != 0; l++)
            z[q->column[l]] -= q->r[l] * z[i];
    }
}

void hrun_sparse_qr_subtract(const struct hrun_sparse_qr *q, const double *z, double *rest)
{
    for (size_t i = 0; i < q->n; i++)
        for (size_t l = q->first[i]; l < q->first[i + 1]; l++)
            rest[i] -= q->value[l] * z[q->at[l]];
}

void hrun_sparse_qr_gradient(const struct hrun_sparse_qr *q, const double *rest, double *g)
{
    memset(g, 0, q->p * sizeof *g);
    for (size_t i = 0; i < q->n; i++)
        for (size_t l = q->first[i]; l < q->first[i + 1]; l++)
            g[q->at[l]] += q->value[l] * rest[i];
}
