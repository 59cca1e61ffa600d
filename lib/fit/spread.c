/* spread.c - scatter and comparison of samples, by GSL; see fit.h for the contracts */
#include "base/alloc.h"
#include "fit/fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int spread_check(const double *v, size_t n, struct hrun_error *err)
{
    if (!n)
        return hrun_fail(err, HRUN_ENODATA, "there is no sample");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return hrun_fail(err, HRUN_ENONFINITE, "sample %zu is not finite", i + 1);
    return 0;
}

void hrun_sort(double *v, size_t n)
{
    gsl_sort(v, 1, n);
}

int hrun_spread_of(const double *v, size_t n, struct hrun_spread *out, struct hrun_error *err)
{
    autofree double *work = xmalloc(2 * n * sizeof *work);

    if (spread_check(v, n, err))
        return -1;
    memcpy(work, v, n * sizeof *work);
    out->mad = gsl_stats_mad(work, 1, n, work + n);
    memcpy(work, v, n * sizeof *work);
    gsl_sort(work, 1, n);
    out->median = gsl_stats_quantile_from_sorted_data(work, 1, n, 0.5);
    out->low = gsl_stats_quantile_from_sorted_data(work, 1, n, 0.1);
    out->high = gsl_stats_quantile_from_sorted_data(work, 1, n, 0.9);
    out->least = work[0];
    out->most = work[n - 1];
    return 0;
}

/* The last decimal place of a number in its shortest form: -2 for 0.25. */
static int last_place(double v)
{
    char text[40];
    int digits = 1;

    do
        snprintf(text, sizeof text, "%.*e", digits - 1, v);
    while (strtod(text, NULL) != v && digits++ < 17);
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10) - digits + 1;
}

static int is_multiple(double v, double step)
{
    static const double same = 1e-9;

    return isfinite(step) && fabs(v / step - round(v / step)) <= same * v / step;
}

/* The step of all times that differ from `without`. */
static double time_step_of(const double *time_s, size_t n, double without)
{
    double step = INFINITY;

    for (size_t i = 0; i < n; i++)
        if (time_s[i] != without && !is_multiple(time_s[i], step))
            step = fmin(step, pow(10, last_place(time_s[i])));
    return step;
}

double hrun_times_step(const double *time_s, size_t n)
{
    static const double same = 1e-9;
    double least = INFINITY, others;

    for (size_t i = 0; i < n; i++)
        least = fmin(least, time_s[i]);
    others = time_step_of(time_s, n, least);
    return isfinite(others) && fabs(2 * least - others) <= same * others ? others : time_step_of(time_s, n, 0);
}

double hrun_times_rounding(const double *time_s, size_t n)
{
    enum { FEWEST = 5 };

    return n < FEWEST ? 0 : hrun_times_step(time_s, n) / sqrt(12);
}

/* Two consecutive runs of one thing. */
struct pair {
    double time_s, apart_s;     /* the mean; the standard deviation estimated from the difference */
};

static int thing_time_order(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* The scatter of pairs v[n], sorted by time, that does not grow with the time: a standard deviation, s; 0: none found.
 * Uses the medians of both halves, because some runs are disturbed. room[n]: work memory. */
static double absolute_scatter(const struct pair *v, size_t n, double *room)
{
    enum { FEWEST = 6 };
    static const double normal = 1.4826;   /* standard deviation over the median of absolute values */
    size_t half = n / 2;
    double own, in_proportion, time_s = n ? v[half / 2].time_s : 0;

    if (n < FEWEST)
        return 0;
    for (size_t i = 0; i < n; i++)
        room[i] = i < half ? v[i].apart_s : v[i].apart_s / v[i].time_s;
    gsl_sort(room, 1, half);
    gsl_sort(room + half, 1, n - half);
    own = normal * room[half / 2];
    in_proportion = normal * room[half + (n - half) / 2] * time_s;
    return own > 2 * in_proportion ? sqrt(own * own - in_proportion * in_proportion) : 0;
}

double hrun_times_least(const double *time_s, const int *thing, size_t n)
{
    enum { STEPS = 50, SCATTERS = 20 };
    autofree struct pair *v = xcalloc(n + 1, sizeof *v);
    autofree double *room = xcalloc(n + 1, sizeof *room);
    autofree const double **last = NULL;    /* for each thing: its last time so far */
    size_t pairs = 0;
    int things = 0;

    for (size_t i = 0; i < n; i++)
        things = thing[i] >= things ? thing[i] + 1 : things;
    last = xcalloc((size_t)things, sizeof *last);
    for (size_t i = 0; i < n; i++) {
        const double *t = last[thing[i]];

        if (t)
            v[pairs++] = (struct pair){ (*t + time_s[i]) / 2, fabs(*t - time_s[i]) / M_SQRT2 };
        last[thing[i]] = &time_s[i];
    }
    qsort(v, pairs, sizeof *v, thing_time_order);
    return fmax(STEPS * sqrt(12) * hrun_times_rounding(time_s, n), SCATTERS * absolute_scatter(v, pairs, room));
}

int hrun_times_repeat(const double *time_s, const int *thing, size_t n)
{
    static const double same = 1e-9, seen = 1e-4;
    double longest = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            if (thing[j] != thing[i])
                continue;
            if (fabs(time_s[j] - time_s[i]) > same * time_s[i])
                return 0;
            longest = fmax(longest, time_s[i]);
        }
    return longest > 0 && hrun_times_step(time_s, n) <= seen * longest;
}

/* Replace sorted samples by their ranks; ties get their mean rank. Result: the sum of t^3 - t over the ties. */
static double kruskal_rank(double *sorted, size_t n)
{
    double ties = 0;

    for (size_t i = 0, j; i < n; i = j) {
        double t, value = sorted[i];

        for (j = i; j < n && sorted[j] == value; j++)
            ;
        t = (double)(j - i);
        ties += t * t * t - t;
        for (size_t k = i; k < j; k++)
            sorted[k] = ((double)i + 1 + (double)j) / 2;
    }
    return ties;
}

int hrun_kruskal_wallis(const double *const *v, const size_t *n, size_t k, double *h, double *p,
                        struct hrun_error *err)
{
    size_t total = 0, at = 0;
    autofree size_t *order = NULL;
    autofree double *all = NULL;
    double *sorted, N, sum = 0, ties, correction, H;

    if (k < 2)
        return hrun_fail(err, HRUN_EINVAL, "comparing needs two groups of samples");
    for (size_t g = 0; g < k; g++) {
        if (spread_check(v[g], n[g], err))
            return -1;
        total += n[g];
    }
    all = xmalloc(2 * total * sizeof *all);
    order = xmalloc(total * sizeof *order);
    sorted = all + total;
    for (size_t g = 0; g < k; at += n[g++])
        memcpy(all + at, v[g], n[g] * sizeof *all);
    gsl_sort_index(order, all, 1, total);
    for (size_t i = 0; i < total; i++)
        sorted[i] = all[order[i]];
    ties = kruskal_rank(sorted, total);
    for (size_t i = 0; i < total; i++)
        all[order[i]] = sorted[i];
    N = (double)total;
    at = 0;
    for (size_t g = 0; g < k; at += n[g++]) {
        double ranks = 0;

        for (size_t i = 0; i < n[g]; i++)
            ranks += all[at + i];
        sum += ranks * ranks / (double)n[g];
    }
    correction = 1 - ties / (N * N * N - N);
    H = total > 1 && correction > 0 ? (12 / (N * (N + 1)) * sum - 3 * (N + 1)) / correction : 0;
    *h = H > 0 ? H : 0;
    *p = H > 0 ? gsl_cdf_chisq_Q(H, (double)(k - 1)) : 1;
    return 0;
}
