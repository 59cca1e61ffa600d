/* discover.c - which terms an application has; see discover.h for the contract */
#include "model/fit_job.h"
#include "model/selection.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The selection ends when so many terms in a row have made nothing better. */
enum { PATIENCE = 2 };
/* Of candidates whose errors differ by less than two in a hundred the earlier one of the library is taken. */
static const double TIE = 0.02;

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

/* Add to *from the term that helps most, into *to. *found = 0 where there is none left. */
static int extend(struct hrun_selection *d, const struct hrun_selected *from, struct hrun_selected *to, double *means,
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
        if (hrun_series_judge(d, from, to, err))
            return -1;
        means[j] = to->mean;
        least = fmin(least, to->mean);
    }
    for (size_t j = 0; j < d->columns && isfinite(least) && !*found; j++) {
        if (!(means[j] <= least * (1 + TIE)))
            continue;
        *found = 1;
        to->term[from->n] = (int)j;
        if (hrun_series_judge(d, from, to, err))
            return -1;
    }
    return 0;
}

/* Forward selection into steps, which have one term more each, and the one to be taken of them. */
static int select_terms(struct hrun_selection *d, struct hrun_selected *steps, double *means, int *chosen,
                        struct hrun_error *err)
{
    struct hrun_selected none = { .mean = INFINITY, .loss = steps[0].loss };
    int best = 0, found;

    for (int n = 0; n < HRUN_TERMS_MAX && n <= best + PATIENCE; n++) {
        if (extend(d, n ? &steps[n - 1] : &none, &steps[n], means, &found, err))
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

/* Let rows count less that the choice misses by far, left out. */
static int reweigh_contradicted(struct hrun_selection *d, const struct hrun_selected *c, struct hrun_error *err)
{
    const struct hrun_huber huber = HRUN_HUBER_DEFAULT;

    for (size_t i = 0; i < d->nseries; i++) {
        struct hrun_series *s = &d->v[i];
        double scale;

        if (hrun_series_leave_out(d, s, c, err))
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
static void find_errors(struct hrun_selection *d, const struct hrun_selected *c, const struct hrun_fit_options *o,
                        struct hrun_discovery *out)
{
    double sum = 0, beyond = 0;

    /* Losses are in units of what a run of this time is expected to scatter by; that of a long one is relative. */
    for (size_t i = 0; i < d->nseries; i++) {
        const struct hrun_series *s = &d->v[i];
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

/* Of N and P by runs with P > M; of N by those on one PE; or the latter with all work divided, where there are no
 * others. */
enum list { LIST_NP, LIST_N, LIST_ALONE };

/* Which of the two the sorted points allow for terms over N and P: is there a series with two sizes at P > M? */
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

/* Select from sorted points into one list of out: LIST_N into n, the others into np. The errors of the latter are those
 * of out. */
static int discover_list(const struct hrun_discover_point *points, size_t n, enum list which,
                         const struct hrun_fit_options *o, struct hrun_discovery *out, struct hrun_error *err)
{
    static const struct hrun_basis one = { 0, 0, 0, 0 };
    autorelease(hrun_series_release) struct hrun_selection d;
    struct hrun_selected steps[HRUN_TERMS_MAX];
    struct hrun_strvec *terms = which == LIST_N ? &out->n : &out->np;
    autofree double *losses = NULL;
    double *means;
    int chosen = 0;

    hrun_series_init(&d, points, n, which != LIST_NP, o);
    if (!d.nseries)
        return hrun_fail(err, HRUN_ENODATA, "terms need measurements at two or more sizes N with the same number of "
                         "processes");
    losses = xcalloc(HRUN_TERMS_MAX * (d.nloo + d.nheld) + HRUN_LIBRARY_MAX, sizeof *losses);
    means = losses + HRUN_TERMS_MAX * (d.nloo + d.nheld);
    for (int i = 0; i < HRUN_TERMS_MAX; i++)
        steps[i] = (struct hrun_selected){ .mean = INFINITY, .loss = losses + (size_t)i * (d.nloo + d.nheld) };
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
    /* Starting takes its time, however little of it was seen. */
    push_term(terms, &one);
    if (which != LIST_N)
        find_errors(&d, &steps[chosen], o, out);
    return 0;
}

int hrun_discover(const struct hrun_discover_point *points, size_t n, const struct hrun_fit_options *options,
                  struct hrun_discovery *out, struct hrun_error *err)
{
    /* How T of one P becomes that of another: work is shared out, the rest stays, or grows with the height of a tree
     * (paper 000, eq. 3 and Table V). */
    static const char *const scaled[] = { "T/P", "1", "ln(P)" };
    struct hrun_discovery d = { .beyond = NAN };
    autofree struct hrun_discover_point *sorted = NULL;
    struct hrun_fit_options rounded = *options;
    autofree double *time_s = NULL;

    if (n == 0)
        return hrun_fail(err, HRUN_ENODATA, "there are no measurements to tell terms from");
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
