/* discover.c - which terms an application has; see discover.h for the contract */
#include "model/discover.h"

#include "fit/robust.h"
#include "model/family.h"
#include "model/library.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Paper 000's Table V has ten terms for the richest of its applications. */
enum { TERMS_MAX = 10, LIBRARY_MAX = 128 };
/* The selection ends when so many terms in a row have made nothing better. */
enum { PATIENCE = 2 };
/* What a run on one PE counts for beside those on several, as in family.c. */
static const double ANCHOR_WEIGHT = 0.2;
/* Of candidates whose errors differ by less than two in a hundred the earlier one of the library is taken. */
static const double TIE = 0.02;

/* One series: its rows in the order of P = M or not, P, N, and what the library's terms are there. */
struct series {
    const struct hrun_discover_point *at;
    size_t n, anchors;       /* the first `anchors` have P = M */
    double *x, *y, *w;       /* n by columns, row-major; n; n */
    int *point;              /* of each row: rows at one (N, P) have the same number */
    char *held;              /* 1: at the largest P, told by the others */
    size_t loo, held_at;     /* where its losses begin: points left out, and held points */
    size_t npoints, nheld;   /* how many */
};

struct discover {
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

/* Terms, and the losses of all points, those left out first. */
struct choice {
    int term[TERMS_MAX];
    int n;
    double *loss;
    double mean;
};

/* ---------------------------------------------------------------- points to series */

static int by_place(const void *a, const void *b)
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

static int check(const struct hrun_discover_point *p, size_t n, struct hrun_error *err)
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

/* The rows of one series that are looked at: all with P > M, with its runs on one PE before them where they are of one
 * P only; and for terms over N alone the runs on one PE, else those of the smallest P. Result: how many. */
static size_t take(const struct hrun_discover_point *p, size_t n, int only_n, size_t *first, size_t *anchors)
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
static void fill(struct discover *d, struct series *s, int only_n, const struct hrun_fit_options *o)
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

static void discover_release(struct discover *d)
{
    free(d->v);
    free(d->memory);
    free(d->ints);
    free(d->chars);
}

/* Series of sorted points[n] into *d. A series of one size tells nothing and is left out. */
static int discover_init(struct discover *d, const struct hrun_discover_point *points, size_t n, int only_n,
                         const struct hrun_fit_options *o, struct hrun_error *err)
{
    const struct hrun_basis *all;
    size_t nall, end, at = 0, loo = 0, held = 0;

    memset(d, 0, sizeof *d);
    all = hrun_library(&nall);
    for (size_t j = 0; j < nall && d->columns < LIBRARY_MAX; j++)
        if (!only_n || hrun_basis_constant(&all[j]))
            d->basis[d->columns++] = all[j];
    d->v = calloc(n + 1, sizeof *d->v);
    d->memory = calloc(n * (d->columns + 5 + TERMS_MAX) + TERMS_MAX, sizeof *d->memory);
    d->ints = calloc(n + 1, sizeof *d->ints);
    d->chars = calloc(n + 1, 1);
    if (!d->v || !d->memory || !d->ints || !d->chars) {
        discover_release(d);
        return hrun_fail_nomem(err);
    }
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
        s->n = take(points + i, end - i, only_n, &first, &s->anchors);
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
        fill(d, s, only_n, o);
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
    return 0;
}

/* ---------------------------------------------------------------- one choice of terms */

/* The rows of s but for those held (all when held = 0) with these columns. */
static struct hrun_lsq gather(struct discover *d, const struct series *s, const int *term, size_t n, int held)
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
static int leave_out(struct discover *d, const struct series *s, const struct choice *c, struct hrun_error *err)
{
    struct hrun_lsq_result result = { d->k, NULL, 0, 0, 0 };
    struct hrun_lsq all = gather(d, s, c->term, (size_t)c->n, 0);
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
    all = gather(d, s, used, n, 0);
    if (hrun_fit_leave_out(&all, s->point, d->e, &why) && why.code != HRUN_ERANK && why.code != HRUN_ENODATA) {
        if (err)
            *err = why;
        return -1;
    }
    return 0;
}

/* Means over the rows of each point of |e[row]|, for points that are held or for all, into loss. */
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

/* The losses of c. Of a series that cannot tell, for a point that is needed to know the terms, those of `before`. */
static int judge(struct discover *d, const struct choice *before, struct choice *c, struct hrun_error *err)
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
            struct hrun_lsq some = gather(d, s, c->term, (size_t)c->n, 1);

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

/* Squared standard error of the mean difference of n losses. */
static double variance(const double *a, const double *b, size_t n)
{
    double mean = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        mean += (a[i] - b[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += pow(a[i] - b[i] - mean, 2);
    return n > 1 ? sum / ((double)(n - 1) * (double)n) : 0;
}

/* ---------------------------------------------------------------- selection */

/* Add to *from the term that helps most, into *to. *found = 0 where there is none left. */
static int extend(struct discover *d, const struct choice *from, struct choice *to, double *means, int *found,
                  struct hrun_error *err)
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
        if (judge(d, from, to, err))
            return -1;
        means[j] = to->mean;
        least = fmin(least, to->mean);
    }
    for (size_t j = 0; j < d->columns && isfinite(least) && !*found; j++) {
        if (!(means[j] <= least * (1 + TIE)))
            continue;
        *found = 1;
        to->term[from->n] = (int)j;
        if (judge(d, from, to, err))
            return -1;
    }
    return 0;
}

/* Forward selection into steps[0..*nsteps-1], which have one term more each, and the one to be taken of them. */
static int select_terms(struct discover *d, struct choice *steps, double *means, int *nsteps, int *chosen,
                        struct hrun_error *err)
{
    struct choice none = { .mean = INFINITY, .loss = steps[0].loss };
    int best = 0, found, n;

    for (n = 0; n < TERMS_MAX && n <= best + PATIENCE; n++) {
        if (extend(d, n ? &steps[n - 1] : &none, &steps[n], means, &found, err))
            return -1;
        if (!found)
            break;
        if (steps[n].mean < steps[best].mean)
            best = n;
    }
    *nsteps = n;
    for (*chosen = 0; *chosen < best; ++*chosen) {
        const double *a = steps[*chosen].loss, *b = steps[best].loss;
        double se2 = variance(a, b, d->nloo) + variance(a + d->nloo, b + d->nloo, d->nheld);

        if (steps[*chosen].mean - steps[best].mean <= sqrt(se2))
            break;
    }
    return 0;
}

/* Let rows count less that the choice misses by far, left out. */
static int doubt(struct discover *d, const struct choice *c, struct hrun_error *err)
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

/* Mean relative errors of the choice, left out and beyond. */
static int tell_errors(struct discover *d, const struct choice *c, const struct hrun_fit_options *o,
                       struct hrun_discovery *out)
{
    double sum = 0, beyond = 0;

    /* Losses are in units of what a run of this time is expected to scatter by; that of a long one is relative. */
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
    return 0;
}

static int push_term(struct hrun_strvec *v, const struct hrun_basis *t)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc = 0, there = 0;

    hrun_basis_print(t, &b);
    for (size_t i = 0; i < v->n && !b.failed; i++)
        there |= !strcmp(v->v[i], b.data);
    rc = b.failed || (!there && hrun_strvec_push(v, b.data));
    hrun_buf_release(&b);
    return rc ? -1 : 0;
}

/* Select from sorted points into one list. */
static int discover_list(const struct hrun_discover_point *points, size_t n, int only_n,
                         const struct hrun_fit_options *o, struct hrun_strvec *terms, struct hrun_discovery *out,
                         struct hrun_error *err)
{
    static const struct hrun_basis one = { 0, 0, 0, 0 };
    struct discover d;
    struct choice steps[TERMS_MAX];
    double *losses = NULL, *means;
    int nsteps, chosen = 0, rc = -1;

    if (discover_init(&d, points, n, only_n, o, err))
        return -1;
    losses = calloc(TERMS_MAX * (d.nloo + d.nheld) + LIBRARY_MAX, sizeof *losses);
    if (!losses) {
        hrun_fail_nomem(err);
        goto done;
    }
    means = losses + TERMS_MAX * (d.nloo + d.nheld);
    for (int i = 0; i < TERMS_MAX; i++)
        steps[i] = (struct choice){ .mean = INFINITY, .loss = losses + (size_t)i * (d.nloo + d.nheld) };
    if (select_terms(&d, steps, means, &nsteps, &chosen, err) || doubt(&d, &steps[chosen], err) ||
        select_terms(&d, steps, means, &nsteps, &chosen, err))
        goto done;
    rc = 0;
    for (int divided = 1; divided >= 0; divided--)
        for (int j = 0; j < steps[chosen].n && !rc; j++)
            if (hrun_basis_divided(&d.basis[steps[chosen].term[j]]) == divided)
                rc = push_term(terms, &d.basis[steps[chosen].term[j]]);
    /* Starting takes its time, however little of it was seen. */
    rc = rc || push_term(terms, &one);
    if (rc)
        rc = hrun_fail_nomem(err);
    else if (!only_n)
        rc = tell_errors(&d, &steps[chosen], o, out);
done:
    free(losses);
    discover_release(&d);
    return rc;
}

int hrun_discover(const struct hrun_discover_point *points, size_t n, const struct hrun_fit_options *options,
                  struct hrun_discovery *out, struct hrun_error *err)
{
    /* How T of one P becomes that of another: work is shared out, the rest stays, or grows with the height of a tree
     * (paper 000, eq. 3 and Table V). */
    static const char *const scaled[] = { "T/P", "1", "ln(P)" };
    struct hrun_discovery d = { .beyond = NAN };
    struct hrun_discover_point *sorted = NULL;
    int rc = -1;

    if (n == 0)
        return hrun_fail(err, HRUN_ENODATA, "there are no measurements to tell terms from");
    if (hrun_fit_check_options(options, err) || check(points, n, err))
        return -1;
    sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return hrun_fail_nomem(err);
    memcpy(sorted, points, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_place);
    if (discover_list(sorted, n, 0, options, &d.np, &d, err) || discover_list(sorted, n, 1, options, &d.n, &d, err))
        goto done;
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++)
        if (hrun_strvec_push(&d.p, scaled[i])) {
            hrun_fail_nomem(err);
            goto done;
        }
    *out = d;
    memset(&d, 0, sizeof d);
    rc = 0;
done:
    hrun_discovery_release(&d);
    free(sorted);
    return rc;
}

void hrun_discovery_release(struct hrun_discovery *d)
{
    int saved = errno;

    hrun_strvec_release(&d->np);
    hrun_strvec_release(&d->n);
    hrun_strvec_release(&d->p);
    errno = saved;
}
