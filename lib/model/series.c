/* series.c - the library of terms, and how well terms tell measurements that a fit has not seen; see selection.h */
#include "model/selection.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the library */

/* How N enters: the powers of paper 000's Table V (3, 2, 1, 1/3, 0), those of surfaces of what has N points in all
 * (2/3, 1/2), their products with a row of as many (3/2, 4/3), and sorting's and transforms' logarithm. */
#define FOR_EACH_N(b, m) \
    { 18, 0, b, m }, { 12, 1, b, m }, { 12, 0, b, m }, { 9, 0, b, m }, \
    { 6, 1, b, m }, { 6, 0, b, m }, { 3, 0, b, m }, { 2, 0, b, m }, { 0, 1, b, m }, { 0, 0, b, m }

/* N or sqrt(N) steps over N^3 points, and sqrt(N) over N^2. */
#define STEPS_OF_N3(b) { 24, 0, b, 0 }, { 21, 0, b, 0 }, { 15, 0, b, 0 }

static const struct hrun_basis library[] = {
    STEPS_OF_N3(-6), FOR_EACH_N(-6, 0),    /* divided work */
    STEPS_OF_N3(0), FOR_EACH_N(0, 0),      /* what every process does */
    FOR_EACH_N(0, 1),      /* trees */
    FOR_EACH_N(-3, 0),     /* sides of squares */
    FOR_EACH_N(6, 0),      /* rows of all processes */
};

const struct hrun_basis *hrun_library(size_t *n)
{
    *n = sizeof library / sizeof library[0];
    return library;
}

int hrun_basis_divided(const struct hrun_basis *t)
{
    return t->b6 == -6 && !t->m;
}

int hrun_basis_constant(const struct hrun_basis *t)
{
    return !t->b6 && !t->m;
}

static double add_power(double x, int sixths, int logs)
{
    return pow(x, sixths / 6.0) * pow(log(x), logs);
}

double hrun_basis_value(const struct hrun_basis *t, double N, double P)
{
    return add_power(N, t->a6, t->l) * add_power(P, t->b6, t->m);
}

/* Append |sixths| as a power of a variable, "" for 0. */
static void print_power(char name, int sixths, struct hrun_buf *out)
{
    int s = sixths < 0 ? -sixths : sixths;

    if (s == 2)
        hrun_buf_addf(out, "cbrt(%c)", name);
    else if (s == 3)
        hrun_buf_addf(out, "sqrt(%c)", name);
    else if (s == 6)
        hrun_buf_addc(out, name);
    else if (s % 6 == 0)
        hrun_buf_addf(out, "%c^%d", name, s / 6);
    else
        hrun_buf_addf(out, s % 3 == 0 ? "%c^(%d/2)" : "%c^(%d/3)", name, s % 3 == 0 ? s / 3 : s / 2);
}

void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out)
{
    const struct { char name; int sixths, log; } v[] = { { 'N', t->a6, 0 }, { 'N', 0, t->l }, { 'P', t->b6, 0 },
                                                         { 'P', 0, t->m } };
    int factors = 0;

    for (int i = 0; i < 4; i++) {
        if (v[i].sixths <= 0 && v[i].log <= 0)
            continue;
        hrun_buf_adds(out, factors++ ? "*" : "");
        if (v[i].log)
            hrun_buf_addf(out, "ln(%c)", v[i].name);
        else
            print_power(v[i].name, v[i].sixths, out);
    }
    if (!factors)
        hrun_buf_addc(out, '1');
    if (t->b6 < 0) {
        hrun_buf_addc(out, '/');
        print_power('P', t->b6, out);
    }
}

/* What a run on one PE counts for beside those on several, as in npt_fit.c. */
static const double ANCHOR_WEIGHT = 0.2;

/* The rows of one series that are looked at: all with P > M, with its runs on one PE before them where they are of one
 * P only; and for terms over N alone the runs on one PE, else those of the smallest P. Result: how many. */
static size_t next_series(const struct hrun_discover_point *p, size_t n, int only_n, size_t *first, size_t *anchors)
{
    size_t single = 0, one;

    while (single < n && p[single].P == p[single].M)
        single++;
    for (one = single; one < n && p[one].P == p[single].P; one++)
        ;
    *anchors = 0;
    *first = 0;
    if (only_n)
        return single ? single : one;
    *anchors = one == n && single < n ? single : 0;
    *first = *anchors ? 0 : single;
    return n - *first;
}

/* Fill s from n sorted points. *loo, *held: numbers of losses so far. */
static void fill_series_rows(struct hrun_selection *d, struct hrun_series *s, int only_n,
                             const struct hrun_fit_options *o)
{
    size_t counts = 0;
    int last = s->at[s->n - 1].P;

    for (size_t i = 0; i < s->n; i++) {
        const struct hrun_discover_point *p = &s->at[i];
        int fresh = i == 0 || p->N != p[-1].N || p->P != p[-1].P;

        s->point[i] = i ? s->point[i - 1] + fresh : 0;
        s->y[i] = p->time_s;
        s->w[i] = (i < s->anchors ? ANCHOR_WEIGHT : 1) / hypot(o->sigma_abs_s, o->sigma_rel * p->time_s);
        for (size_t j = 0; j < d->columns; j++)
            s->x[i * d->columns + j] = i < s->anchors && !hrun_basis_divided(&d->basis[j]) ? 0
                                     : hrun_basis_value(&d->basis[j], (double)p->N, p->P);
        if (i >= s->anchors && fresh) {
            s->npoints++;
            counts += i == s->anchors || p->P != p[-1].P;
        }
    }
    if (only_n || counts < 3)
        return;
    for (size_t i = s->anchors; i < s->n; i++) {
        s->held[i] = s->at[i].P == last;
        s->nheld += s->held[i] && s->point[i] != s->point[i - 1];
    }
}

void hrun_series_release(struct hrun_selection *d)
{
    free(d->v);
    free(d->memory);
    free(d->ints);
    free(d->chars);
}

/* Series of sorted points[n] into *d. A series of one size tells nothing and is left out. */
void hrun_series_init(struct hrun_selection *d, const struct hrun_discover_point *points, size_t n, int only_n,
                         const struct hrun_fit_options *o)
{
    const struct hrun_basis *all;
    size_t nall, end, at = 0, loo = 0, held = 0;

    memset(d, 0, sizeof *d);
    all = hrun_library(&nall);
    for (size_t j = 0; j < nall && d->columns < HRUN_LIBRARY_MAX; j++)
        if (!only_n || hrun_basis_constant(&all[j]))
            d->basis[d->columns++] = all[j];
    d->v = xcalloc(n + 1, sizeof *d->v);
    d->memory = xcalloc(n * (d->columns + 5 + HRUN_TERMS_MAX) + HRUN_TERMS_MAX, sizeof *d->memory);
    d->ints = xcalloc(n + 1, sizeof *d->ints);
    d->chars = xcalloc(n + 1, 1);
    d->sub = d->memory + n * (d->columns + 2);
    d->suby = d->sub + n * HRUN_TERMS_MAX;
    d->subw = d->suby + n;
    d->e = d->subw + n;
    d->k = d->e + n;
    for (size_t i = 0; i < n; i = end) {
        struct hrun_series *s = &d->v[d->nseries];
        size_t first, different = 0;

        for (end = i; end < n && points[end].series == points[i].series; end++)
            ;
        s->n = next_series(points + i, end - i, only_n, &first, &s->anchors);
        s->at = points + i + first;
        for (size_t r = s->anchors; r < s->n; r++)
            different += s->at[r].N != s->at[s->anchors].N;
        if (!different) {
            memset(s, 0, sizeof *s);
            continue;
        }
        s->x = d->memory + at * (d->columns + 2);
        s->y = s->x + s->n * d->columns;
        s->w = s->y + s->n;
        s->point = d->ints + at;
        s->held = d->chars + at;
        fill_series_rows(d, s, only_n, o);
        s->loo = loo;
        s->held_at = held;
        loo += s->npoints;
        held += s->nheld;
        at += s->n;
        d->nseries++;
    }
    d->nloo = loo;
    d->nheld = held;
    for (size_t i = 0; i < d->nseries; i++)
        d->v[i].held_at += loo;
}

/* ---------------------------------------------------------------- one choice of terms */

/* The rows of s but for those held (all when held = 0) with these columns. */
static struct hrun_lsq gather_series_columns(struct hrun_selection *d, const struct hrun_series *s, const int *term,
                                             size_t n, int held)
{
    size_t rows = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (held && s->held[i])
            continue;
        for (size_t j = 0; j < n; j++)
            d->sub[rows * n + j] = s->x[i * d->columns + (size_t)term[j]];
        d->suby[rows] = s->y[i];
        d->subw[rows++] = s->w[i];
    }
    return (struct hrun_lsq){ d->sub, d->suby, d->subw, rows, n };
}

/* Fit, then e[row]: what each row is missed by when its point is left out, INFINITY where it cannot be. */
int hrun_series_leave_out(struct hrun_selection *d, const struct hrun_series *s, const struct hrun_selected *c,
                          struct hrun_error *err)
{
    struct hrun_lsq_result result = { d->k, NULL, 0, 0, 0 };
    struct hrun_lsq all = gather_series_columns(d, s, c->term, (size_t)c->n, 0);
    struct hrun_error why = { 0 };
    int used[HRUN_TERMS_MAX];
    size_t n = 0;

    if (hrun_fit_nnls(&all, &result, err))
        return -1;
    for (int j = 0; j < c->n; j++)
        if (d->k[j] > 0)
            used[n++] = c->term[j];
    for (size_t i = 0; i < s->n; i++)
        d->e[i] = INFINITY;
    if (n == 0)
        return 0;
    all = gather_series_columns(d, s, used, n, 0);
    if (hrun_fit_leave_out(&all, s->point, d->e, &why) && why.code != HRUN_ERANK && why.code != HRUN_ENODATA)
        return hrun_fail_as(err, &why);
    return 0;
}

/* Means over the rows of each point of |e[row]|, for points that are held or for all, into loss. */
static void sum_points(const struct hrun_series *s, const double *e, int held, double *loss)
{
    size_t end, at = 0;

    for (size_t i = s->anchors; i < s->n; i = end) {
        double sum = 0;

        for (end = i; end < s->n && s->point[end] == s->point[i]; end++)
            sum += fabs(e[end]);
        if (!held || s->held[i])
            loss[at++] = sum / (double)(end - i);
    }
}

/* The losses of c. Of a series that cannot tell, for a point that is needed to know the terms, those of `before`. */
int hrun_series_judge(struct hrun_selection *d, const struct hrun_selected *before, struct hrun_selected *c,
                      struct hrun_error *err)
{
    double loo = 0, held = 0;

    for (size_t i = 0; i < d->nseries; i++) {
        const struct hrun_series *s = &d->v[i];
        int known = 1;

        if (hrun_series_leave_out(d, s, c, err))
            return -1;
        sum_points(s, d->e, 0, c->loss + s->loo);
        for (size_t k = 0; k < s->npoints; k++)
            known &= isfinite(c->loss[s->loo + k]) != 0;
        if (!known && before->n)
            memcpy(c->loss + s->loo, before->loss + s->loo, s->npoints * sizeof *c->loss);
        if (s->nheld) {
            struct hrun_lsq_result result = { d->k, NULL, 0, 0, 0 };
            struct hrun_lsq some = gather_series_columns(d, s, c->term, (size_t)c->n, 1);

            if (hrun_fit_nnls(&some, &result, err))
                return -1;
            for (size_t r = 0; r < s->n; r++) {
                d->e[r] = s->y[r];
                for (int j = 0; j < c->n; j++)
                    d->e[r] -= s->x[r * d->columns + (size_t)c->term[j]] * d->k[j];
                d->e[r] *= s->w[r];
            }
            sum_points(s, d->e, 1, c->loss + s->held_at);
        }
    }
    for (size_t i = 0; i < d->nloo; i++)
        loo += c->loss[i] / (double)d->nloo;
    for (size_t i = 0; i < d->nheld; i++)
        held += c->loss[d->nloo + i] / (double)d->nheld;
    c->mean = loo + held;
    return 0;
}
