/* show_plot.c - times over N of one profile as a plot of text; see profiles.h */
#include "profiles.h"

#include "base/alloc.h"
#include "base/units.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits: more than CURVES curves overlap in HEIGHT lines; wide lines of text are hard to read. */
enum { CURVES = 4, HEIGHT = 12, WIDTH_MAX = 100 };

int show_plot_wanted(const struct calib_settings *s)
{
    return !s->common.json && (s->show.plot || isatty(STDOUT_FILENO));
}

/* 1 if the user's locale has UTF-8, else 0. The process's locale stays "C", which the format of numbers requires. */
static int shows_utf8(void)
{
    locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    int utf8 = l != (locale_t)0 && !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");

    if (l != (locale_t)0)
        freelocale(l);
    return utf8;
}

static int is_plotted(const struct hrun_sample *s, int M)
{
    return s->ok && !s->mixed && s->M == M;
}

/* Fill v[samples->n], ascending. M > 0: with the P of runs with this M, at most CURVES of them, spread over the range.
 * M = 0: with the M of runs. Result: the number of values. */
static int distinct(const struct hrun_samples *samples, int M, int *v)
{
    int n = 0, d = 0;

    for (size_t i = 0; i < samples->n; i++)
        if (is_plotted(&samples->v[i], M ? M : samples->v[i].M))
            v[n++] = M ? samples->v[i].P : samples->v[i].M;
    qsort(v, (size_t)n, sizeof *v, hrun_compare_ints);
    for (int i = 0; i < n; i++)
        if (!d || v[d - 1] != v[i])
            v[d++] = v[i];
    if (!M || d <= CURVES)
        return d;
    for (int i = 0; i < CURVES; i++)
        v[i] = v[i * (d - 1) / (CURVES - 1)];
    return CURVES;
}

static int compare_x(const void *a, const void *b)
{
    const struct textplot_point *x = a, *y = b;

    return (x->x > y->x) - (x->x < y->x);
}

/* Copy the runs with this M and P to points[samples->n]. Result: their number. */
static int copy_points(const struct hrun_samples *samples, int M, int P, struct textplot_point *points)
{
    int n = 0;

    for (size_t i = 0; i < samples->n; i++)
        if (is_plotted(&samples->v[i], M) && samples->v[i].P == P)
            points[n++] = (struct textplot_point){ (double)samples->v[i].N, samples->v[i].time_s };
    qsort(points, (size_t)n, sizeof *points, compare_x);
    return n;
}

struct plotted {
    const struct hrun_app *app;     /* NULL: no curves */
    const struct hrun_samples *samples;
    struct hrun_models *m;
    const char *fitted;             /* name of the curves in the legend */
};

/* Fill points with the models' times at the sizes of runs. Result: their number. */
static int predict_points(const struct plotted *w, int M, int P, const struct textplot_series *runs,
                          struct textplot_point *points)
{
    struct hrun_models *m = w->m;
    int found = 0;

    for (int i = 0; w->app && m && i < runs->n; i++) {
        struct hrun_predictor *p;
        struct hrun_interval t;

        if (i && runs->v[i].x == runs->v[i - 1].x)
            continue;
        p = hrun_predictor_create(w->app, &m, 1, HRUN_FORM_NPT, (int64_t)runs->v[i].x, NULL);
        if (p && !hrun_predictor_time(p, 0, M, P, &t, NULL))
            points[found++] = (struct textplot_point){ runs->v[i].x, t.mid };
        hrun_predictor_destroy(p);
    }
    return found;
}

static void plot_one(const struct plotted *w, int M, const int *P, int n, struct hrun_buf *out)
{
    const struct hrun_samples *samples = w->samples;
    int width = hrun_terminal_width(STDOUT_FILENO);
    struct textplot t = { "N", width > WIDTH_MAX ? WIDTH_MAX : width, HEIGHT, shows_utf8() };
    struct textplot_series v[2 * CURVES] = { { 0, NULL, 0 } };
    struct textplot_point *points = xcalloc(2 * (size_t)n * samples->n + 1, sizeof *points), *at = points;
    int curves = 0;

    hrun_buf_addf(out, "\n  time over N, %s per PE\n", hrun_counted(M, "process").s);
    for (int i = 0; i < n; i++) {
        v[i] = (struct textplot_series){ (char)('a' + i), at, copy_points(samples, M, P[i], at) };
        at += samples->n;
        v[n + i] = (struct textplot_series){ 0, at, predict_points(w, M, P[i], &v[i], at) };
        at += samples->n;
        curves += v[n + i].n > 0;
    }
    textplot_draw(&t, v, 2 * n, out);
    hrun_buf_adds(out, " ");
    for (int i = 0; i < n; i++)
        hrun_buf_addf(out, " %c P=%d ", 'a' + i, P[i]);
    if (curves)
        hrun_buf_addf(out, " %s %s", t.unicode ? "\xc2\xb7" : ".", w->fitted);
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    hrun_buf_addc(out, '\n');
    free(points);
}

/* Fit models with network terms again without these terms, as `show` has no hosts. NULL: no model has them, or the fit
 * fails. */
static struct hrun_models *without_network(const struct hrun_app *app, const struct hrun_samples *samples,
                                           struct hrun_models *m)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_models *fresh = NULL;

    if (!app || !m || !m->n || !hrun_models_have_network(app, &m, 1, 1))
        return NULL;
    options.sigma_abs_s = m->v[0].sigma_abs_s;
    return hrun_model_fit(app, samples->v, samples->n, &options, &fresh, NULL, NULL) ? NULL : fresh;
}

void show_plot(const struct hrun_app *app, const struct hrun_samples *samples, struct hrun_models *m,
               struct hrun_buf *out)
{
    int *M = xcalloc(samples->n + 1, sizeof *M), *P = xcalloc(samples->n + 1, sizeof *P), n = distinct(samples, 0, M);
    struct hrun_models *fresh = without_network(app, samples, m);
    const struct plotted w = { app, samples, fresh ? fresh : m, fresh ? "fitted without the network" : "fitted" };

    for (int i = 0; i < n; i++)
        plot_one(&w, M[i], P, distinct(samples, M[i], P), out);
    hrun_models_destroy(fresh);
    free(M);
    free(P);
}
