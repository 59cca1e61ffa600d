/* discover.c - select the terms of an application; see discover.h for the contract
 *
 * Hundreds of lists of terms are tried on the same measurements, which are prepared once with the values of all terms
 * of the library. A list is judged by its errors at points left out and at the largest P, held back.
 */
#include "model/basis.h"
#include "model/discover.h"
#include "model/fit_job.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The selection ends after this many terms in a row that reduced no error. */
enum { PATIENCE = 2 };
/* If errors of candidates differ by less than 2 %, the first one of the library is taken. */
static const double TIE = 0.02;
/* Paper 000's Table V has at most ten terms for an application. */
enum { TERMS_MAX = 10, LIBRARY_MAX = 128 };

/* One series: its rows in order of P > M, P, N, and the values of the library's terms. */
struct series {
    const struct hrun_discover_point *at;
    size_t n, anchors;       /* the first `anchors` have P = M */
    double *x, *y, *w;       /* n by columns, row-major; n; n */
    int *point;              /* of each row: rows at one (N, P) have the same number */
    char *held;              /* of each row: 1 if held back: it is at the largest P, which smaller P predict */
    size_t loo, held_at;     /* index of its first loss: of points left out, of held points */
    size_t npoints, nheld;   /* number of points left out, of points held back */
};

struct selection {
    struct series *v;
    size_t nseries;
    struct hrun_basis basis[LIBRARY_MAX];
    size_t columns;
    double *memory;
    int *ints;
    char *chars;
    size_t nloo, nheld;
    double *sub, *suby, *subw, *k, *e;   /* scratch */
};

/* A list of terms, with the losses of all points: first of points left out, then of points held back. */
struct selected {
    int term[TERMS_MAX];
    int n;
    double *loss;
    double mean;             /* mean loss of points left out plus mean loss of points held back */
};

/* ---------------------------------------------------------------- points */

static int discover_point_order(const void *a, const void *b)
{
    const struct hrun_discover_point *x = a, *y = b;
    int single = (x->P > x->M) - (y->P > y->M);

    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (single)
        return single;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

static int check_points(const struct hrun_discover_point *p, size_t n, struct hrun_error *err)
{
    size_t different = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i].N < 1 || p[i].M < 1 || p[i].P < p[i].M || !(p[i].time_s > 0) || !isfinite(p[i].time_s))
            return hrun_fail(err, HRUN_EINVAL, "point %zu (N=%lld, P=%d, M=%d, %g s) is no measurement", i + 1,
                             (long long)p[i].N, p[i].P, p[i].M, p[i].time_s);
        different += p[i].N != p[0].N;
    }
    if (!different)
        return hrun_fail(err, HRUN_ENODATA, "terms need measurements at two or more sizes N");
    return 0;
}

/* ---------------------------------------------------------------- series */

/* Weight of a run on one PE among runs on several: caches and memory bandwidth change the divided work by about 10 %,
 * five times the default scatter of a run. */
static const double ANCHOR_WEIGHT = 0.2;

/* Choose the rows of a series: all with P > M, and before them the runs on one PE if there is only one P > M. only_n =
 * 1, for terms over N alone: the runs on one PE, else the runs with the smallest P. Result: number of rows. */
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

/* Fill the rows of s from its sorted points. */
static void fill_series_rows(struct selection *d, struct series *s, int only_n,
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

static void release_selection(struct selection *d)
{
    free(d->v);
    free(d->memory);
    free(d->ints);
    free(d->chars);
}

/* Make *d from sorted points[n]. A series with one size is left out. */
static void init_selection(struct selection *d, const struct hrun_discover_point *points, size_t n, int only_n,
                         const struct hrun_fit_options *o)
{
    const struct hrun_basis *all;
    size_t nall, end, at = 0, loo = 0, held = 0;

    memset(d, 0, sizeof *d);
    all = hrun_library(&nall);
    for (size_t j = 0; j < nall && d->columns < LIBRARY_MAX; j++)
        if (!only_n || hrun_basis_constant(&all[j]))
            d->basis[d->columns++] = all[j];
    d->v = xcalloc(n + 1, sizeof *d->v);
    d->memory = xcalloc(n * (d->columns + 5 + TERMS_MAX) + TERMS_MAX, sizeof *d->memory);
    d->ints = xcalloc(n + 1, sizeof *d->ints);
    d->chars = xcalloc(n + 1, 1);
    d->sub = d->memory + n * (d->columns + 2);
    d->suby = d->sub + n * TERMS_MAX;
    d->subw = d->suby + n;
    d->e = d->subw + n;
    d->k = d->e + n;
    for (size_t i = 0; i < n; i = end) {
        struct series *s = &d->v[d->nseries];
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

/* ---------------------------------------------------------------- one list of terms */

/* The rows of s with these columns; held = 1: without the rows held back. */
static struct hrun_lsq gather_series_columns(struct selection *d, const struct series *s, const int *term,
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

/* Fit the terms of c to s. Set d->e[row] to the weighted residual of the row in a fit without its point; INFINITY if
 * this fit is impossible. */
static int leave_out(struct selection *d, const struct series *s, const struct selected *c,
                          struct hrun_error *err)
{
    struct hrun_lsq_result result = { d->k, NULL, 0, 0, 0 };
    struct hrun_lsq all = gather_series_columns(d, s, c->term, (size_t)c->n, 0);
    struct hrun_error why = { 0 };
    int used[TERMS_MAX];
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

/* Set loss to the mean of |e[row]| over the rows of each point; held = 1: only for points held back. */
static void sum_points(const struct series *s, const double *e, int held, double *loss)
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

/* Set the losses of c and their mean. A series in which a point cannot be left out keeps the losses of `before`. */
static int find_losses(struct selection *d, const struct selected *before, struct selected *c,
                      struct hrun_error *err)
{
    double loo = 0, held = 0;

    for (size_t i = 0; i < d->nseries; i++) {
        const struct series *s = &d->v[i];
        int known = 1;

        if (leave_out(d, s, c, err))
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

/* ---------------------------------------------------------------- selection */

/* Squared standard error of the mean difference of n losses. */
static double difference_variance(const double *a, const double *b, size_t n)
{
    double mean = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        mean += (a[i] - b[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += pow(a[i] - b[i] - mean, 2);
    return n > 1 ? sum / ((double)(n - 1) * (double)n) : 0;
}

/* Set *to to *from and the term that reduces the losses most. *found = 0: no term is left. */
static int extend_list(struct selection *d, const struct selected *from, struct selected *to, double *means,
                       int *found, struct hrun_error *err)
{
    double least = INFINITY;

    *found = 0;
    for (size_t j = 0; j < d->columns; j++) {
        int taken = !from->n && !hrun_basis_divided(&d->basis[j]) && !hrun_basis_constant(&d->basis[0]);

        for (int k = 0; k < from->n; k++)
            taken |= from->term[k] == (int)j;
        means[j] = INFINITY;
        if (taken)
            continue;
        memcpy(to->term, from->term, sizeof to->term);
        to->term[from->n] = (int)j;
        to->n = from->n + 1;
        if (find_losses(d, from, to, err))
            return -1;
        means[j] = to->mean;
        least = fmin(least, to->mean);
    }
    for (size_t j = 0; j < d->columns && isfinite(least) && !*found; j++) {
        if (!(means[j] <= least * (1 + TIE)))
            continue;
        *found = 1;
        to->term[from->n] = (int)j;
        if (find_losses(d, from, to, err))
            return -1;
    }
    return 0;
}

/* Forward selection: steps[n] has n + 1 terms. *chosen: the step to use. */
static int select_terms(struct selection *d, struct selected *steps, double *means, int *chosen,
                        struct hrun_error *err)
{
    struct selected none = { .mean = INFINITY, .loss = steps[0].loss };
    int best = 0, found;

    for (int n = 0; n < TERMS_MAX && n <= best + PATIENCE; n++) {
        if (extend_list(d, n ? &steps[n - 1] : &none, &steps[n], means, &found, err))
            return -1;
        if (!found)
            break;
        if (steps[n].mean < steps[best].mean)
            best = n;
    }
    for (*chosen = 0; *chosen < best; ++*chosen) {
        const double *a = steps[*chosen].loss, *b = steps[best].loss;
        double se2 = difference_variance(a, b, d->nloo) + difference_variance(a + d->nloo, b + d->nloo, d->nheld);

        if (steps[*chosen].mean - steps[best].mean <= sqrt(se2))
            break;
    }
    return 0;
}

/* Reduce the weights of rows that are far from the fit without them. */
static int reweigh_contradicted(struct selection *d, const struct selected *c, struct hrun_error *err)
{
    const struct hrun_huber huber = HRUN_HUBER_DEFAULT;

    for (size_t i = 0; i < d->nseries; i++) {
        struct series *s = &d->v[i];
        double scale;

        if (leave_out(d, s, c, err))
            return -1;
        memcpy(d->suby, d->e, s->n * sizeof *d->e);
        scale = fmax(huber.least_scale, hrun_fit_scale(d->suby, s->n, (size_t)c->n));
        for (size_t r = 0; r < s->n; r++)
            if (isfinite(d->e[r]) && fabs(d->e[r]) > huber.k * scale)
                s->w[r] *= huber.k * scale / fabs(d->e[r]);
    }
    return 0;
}

/* The mean relative errors of points left out, and of those held back. */
static void find_errors(struct selection *d, const struct selected *c, const struct hrun_fit_options *o,
                        struct hrun_discovery *out)
{
    double sum = 0, beyond = 0;

    /* Losses are in units of the expected scatter of a run. */
    for (size_t i = 0; i < d->nseries; i++) {
        const struct series *s = &d->v[i];
        size_t loo = s->loo, held = s->held_at;

        for (size_t r = s->anchors; r < s->n; r++) {
            double unit = hypot(o->sigma_abs_s, o->sigma_rel * s->y[r]) / s->y[r];

            if (r > s->anchors && s->point[r] == s->point[r - 1])
                continue;
            sum += c->loss[loo++] * unit;
            beyond += s->held[r] ? c->loss[held++] * unit : 0;
        }
    }
    out->points = (int)d->nloo;
    out->error = sum / (double)d->nloo;
    out->beyond = d->nheld ? beyond / (double)d->nheld : NAN;
}

static void push_term(struct hrun_strvec *v, const struct hrun_basis *t)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int there = 0;

    hrun_basis_print(t, &b);
    for (size_t i = 0; i < v->n; i++)
        there |= !strcmp(v->v[i], b.data);
    if (!there)
        hrun_strvec_push(v, b.data);
}

/* LIST_NP: terms over N and P, by runs with P > M. LIST_N: over N, by runs on one PE. LIST_ALONE: over N and P, by runs
 * on one PE, if there are no others; all work counts as divided. */
enum list { LIST_NP, LIST_N, LIST_ALONE };

/* The list for terms over N and P by sorted points: LIST_NP if a series has two sizes at P > M. */
static enum list which_np(const struct hrun_discover_point *p, size_t n)
{
    size_t first = n;

    for (size_t i = 0; i < n; i++) {
        if (p[i].P == p[i].M)
            continue;
        if (first < n && p[first].series == p[i].series && p[first].N != p[i].N)
            return LIST_NP;
        if (first == n || p[first].series != p[i].series)
            first = i;
    }
    return LIST_ALONE;
}

/* Select terms by sorted points into out: LIST_N into out->n, the others into out->np, with their errors. */
static int discover_list(const struct hrun_discover_point *points, size_t n, enum list which,
                         const struct hrun_fit_options *o, struct hrun_discovery *out, struct hrun_error *err)
{
    static const struct hrun_basis one = { 0, 0, 0, 0 };
    autorelease(release_selection) struct selection d;
    struct selected steps[TERMS_MAX];
    struct hrun_strvec *terms = which == LIST_N ? &out->n : &out->np;
    autofree double *losses = NULL;
    double *means;
    int chosen = 0;

    init_selection(&d, points, n, which != LIST_NP, o);
    if (!d.nseries)
        return hrun_fail(err, HRUN_ENODATA, "terms need measurements at two or more sizes N with the same number of "
                         "processes");
    losses = xcalloc(TERMS_MAX * (d.nloo + d.nheld) + LIBRARY_MAX, sizeof *losses);
    means = losses + TERMS_MAX * (d.nloo + d.nheld);
    for (int i = 0; i < TERMS_MAX; i++)
        steps[i] = (struct selected){ .mean = INFINITY, .loss = losses + (size_t)i * (d.nloo + d.nheld) };
    if (select_terms(&d, steps, means, &chosen, err) || reweigh_contradicted(&d, &steps[chosen], err) ||
        select_terms(&d, steps, means, &chosen, err))
        return -1;
    for (int divided = 1; divided >= 0; divided--)
        for (int j = 0; j < steps[chosen].n; j++) {
            struct hrun_basis t = d.basis[steps[chosen].term[j]];

            if (hrun_basis_divided(&t) != divided)
                continue;
            t.b6 = which == LIST_ALONE ? -6 : t.b6;
            push_term(terms, &t);
        }
    /* The start of a program always takes time. */
    push_term(terms, &one);
    if (which != LIST_N)
        find_errors(&d, &steps[chosen], o, out);
    return 0;
}

int hrun_discover(const struct hrun_discover_point *points, size_t n, const struct hrun_fit_options *options,
                  struct hrun_discovery *out, struct hrun_error *err)
{
    /* The factors from T at one P to T at another: work is divided, the rest is constant or grows with the height of a
     * tree (paper 000, eq. 3 and Table V). */
    static const char *const scaled[] = { "T/P", "1", "ln(P)" };
    struct hrun_discovery d = { .beyond = NAN };
    autofree struct hrun_discover_point *sorted = NULL;
    struct hrun_fit_options rounded = *options;
    autofree double *time_s = NULL;

    if (n == 0)
        return hrun_fail(err, HRUN_ENODATA, "there are no measurements: terms cannot be found");
    if (hrun_fit_check_options(options, err) || check_points(points, n, err))
        return -1;
    sorted = xmalloc(n * sizeof *sorted);
    time_s = xmalloc(n * sizeof *time_s);
    memcpy(sorted, points, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, discover_point_order);
    for (size_t i = 0; i < n; i++)
        time_s[i] = points[i].time_s;
    rounded.sigma_abs_s = hypot(rounded.sigma_abs_s, hrun_times_rounding(time_s, n));
    if (discover_list(sorted, n, which_np(sorted, n), &rounded, &d, err) ||
        discover_list(sorted, n, LIST_N, &rounded, &d, err)) {
        hrun_discovery_release(&d);
        return -1;
    }
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++)
        hrun_strvec_push(&d.p, scaled[i]);
    *out = d;
    return 0;
}

void hrun_discovery_release(struct hrun_discovery *d)
{
    int saved = errno;

    hrun_strvec_release(&d->np);
    hrun_strvec_release(&d->n);
    hrun_strvec_release(&d->p);
    errno = saved;
}
