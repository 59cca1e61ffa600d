/* series.c - how well terms tell measurements that a fit has not seen; see series.h for the contracts */
#include "model/series.h"

#include "fit/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one series that are looked at: all with P > M; for terms over N alone the runs on one PE, else those of
 * the smallest P. Result: how many. */
static size_t take(const struct hrun_discover_point *p, size_t n, int only_n, size_t *first)
{
    size_t single = 0, one;

    while (single < n && p[single].P == p[single].M)
        single++;
    for (one = single; one < n && p[one].P == p[single].P; one++)
        ;
    *first = only_n ? 0 : single;
    return !only_n ? n - single : single ? single : one;
}

/* Fill s from n sorted points. */
static void fill(struct hrun_selection *d, struct hrun_series *s, const struct hrun_fit_options *o)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct hrun_discover_point *p = &s->at[i];

        s->npoints += i == 0 || p->N != p[-1].N || p->P != p[-1].P;
        s->point[i] = (int)s->npoints;
        s->y[i] = p->time_s;
        s->w[i] = 1 / hypot(o->sigma_abs_s, o->sigma_rel * p->time_s);
        for (size_t j = 0; j < d->columns; j++)
            s->x[i * d->columns + j] = hrun_basis_value(&d->basis[j], (double)p->N, p->P);
    }
}

void hrun_series_release(struct hrun_selection *d)
{
    free(d->v);
    free(d->memory);
    free(d->ints);
}

/* Series of sorted points[n] into *d. A series of one size tells nothing and is left out. */
int hrun_series_init(struct hrun_selection *d, const struct hrun_discover_point *points, size_t n, int only_n,
                         const struct hrun_fit_options *o, struct hrun_error *err)
{
    const struct hrun_basis *all;
    size_t nall, end, at = 0;

    memset(d, 0, sizeof *d);
    all = hrun_library(&nall);
    for (size_t j = 0; j < nall && d->columns < HRUN_LIBRARY_MAX; j++)
        if (!only_n || hrun_basis_constant(&all[j]))
            d->basis[d->columns++] = all[j];
    d->v = calloc(n + 1, sizeof *d->v);
    d->memory = calloc(n * (d->columns + 3 + HRUN_TERMS_MAX) + HRUN_TERMS_MAX, sizeof *d->memory);
    d->ints = calloc(n + 1, sizeof *d->ints);
    if (!d->v || !d->memory || !d->ints) {
        hrun_series_release(d);
        return hrun_fail_nomem(err);
    }
    d->sub = d->memory + n * (d->columns + 2);
    d->e = d->sub + n * HRUN_TERMS_MAX;
    d->k = d->e + n;
    for (size_t i = 0; i < n; i = end) {
        struct hrun_series *s = &d->v[d->nseries];
        size_t first, different = 0;

        for (end = i; end < n && points[end].series == points[i].series; end++)
            ;
        s->n = take(points + i, end - i, only_n, &first);
        s->at = points + i + first;
        for (size_t r = 0; r < s->n; r++)
            different += s->at[r].N != s->at[0].N;
        if (!different) {
            memset(s, 0, sizeof *s);
            continue;
        }
        s->x = d->memory + at * (d->columns + 2);
        s->y = s->x + s->n * d->columns;
        s->w = s->y + s->n;
        s->point = d->ints + at;
        fill(d, s, o);
        s->loo = d->nloo;
        d->nloo += s->npoints;
        at += s->n;
        d->nseries++;
    }
    return 0;
}

/* ---------------------------------------------------------------- one choice of terms */

/* The rows of s with these columns. */
static struct hrun_lsq gather(struct hrun_selection *d, const struct hrun_series *s, const int *term, size_t n)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < n; j++)
            d->sub[i * n + j] = s->x[i * d->columns + (size_t)term[j]];
    return (struct hrun_lsq){ d->sub, s->y, s->w, s->n, n };
}

/* Fit, then e[row]: what each row is missed by when its point is left out, INFINITY where it cannot be. */
static int leave_out(struct hrun_selection *d, const struct hrun_series *s, const struct hrun_selected *c,
                     struct hrun_error *err)
{
    struct hrun_lsq_result result = { d->k, NULL, 0, 0, 0 };
    struct hrun_lsq all = gather(d, s, c->term, (size_t)c->n);
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
    all = gather(d, s, used, n);
    if (hrun_fit_leave_out(&all, s->point, d->e, &why) && why.code != HRUN_ERANK && why.code != HRUN_ENODATA) {
        if (err)
            *err = why;
        return -1;
    }
    return 0;
}

/* The losses of c. Of a series that cannot tell, for a point that is needed to know the terms, those of `before`. */
int hrun_series_judge(struct hrun_selection *d, const struct hrun_selected *before, struct hrun_selected *c,
                      struct hrun_error *err)
{
    c->mean = 0;
    for (size_t i = 0; i < d->nseries; i++) {
        const struct hrun_series *s = &d->v[i];
        double *loss = c->loss + s->loo;
        int known = 1;
        size_t end, at = 0;

        if (leave_out(d, s, c, err))
            return -1;
        for (size_t r = 0; r < s->n; r = end, at++) {      /* the mean of a point's rows */
            loss[at] = 0;
            for (end = r; end < s->n && s->point[end] == s->point[r]; end++)
                loss[at] += fabs(d->e[end]);
            loss[at] /= (double)(end - r);
            known &= isfinite(loss[at]) != 0;
        }
        if (!known && before->n)
            memcpy(loss, before->loss + s->loo, s->npoints * sizeof *loss);
    }
    for (size_t i = 0; i < d->nloo; i++)
        c->mean += c->loss[i] / (double)d->nloo;
    return 0;
}
