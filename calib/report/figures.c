/* report_figures.c - the figures of a report; see report.h */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points of a fitted curve: one for every dozen dots of a figure's width. */
enum { CURVE = 33 };

struct figures {
    struct report *r;
    struct plot **v;
    int n, failed;
};

/* Keep a figure that shows something. NULL: memory ran out. */
static void keep(struct figures *f, struct plot *p, int section)
{
    struct plot **v;

    f->failed |= !p || p->failed;
    if (f->failed || plot_is_empty(p)) {
        plot_destroy(p);
        return;
    }
    v = realloc(f->v, ((size_t)f->n + 1) * sizeof *v);
    if (!v) {
        plot_destroy(p);
        f->failed = 1;
        return;
    }
    p->section = section;
    f->v = v;
    v[f->n++] = p;
}

/* What people call the sub-clusters whose runs are in one profile. */
static void add_names(const struct report *r, int sub, struct hrun_buf *out)
{
    int n = 0;

    for (int i = 0; i < r->nsubs; i++)
        if (r->subs[i].same == r->subs[sub].same)
            hrun_buf_addf(out, "%s%s", n++ ? ", " : "", r->subs[i].name);
}

/* Several sub-clusters take the colour behind those of each. */
static int colour_of(const struct report *r, int sub)
{
    return PLOT_FIRST_SERIES + (sub < 0 ? r->nsubs : sub) % PLOT_SERIES;
}

/* One series for each sub-cluster alone and one for several, into series[nsubs + 1]: the last for several. */
static void series_by_sub(const struct report *r, struct plot *p, enum plot_style style, int *series)
{
    for (int i = 0; i <= r->nsubs; i++)
        series[i] = plot_series(p, style, colour_of(r, i < r->nsubs ? i : -1), i,
                                i < r->nsubs ? r->subs[i].name : "several");
}

static int series_of(const struct report *r, const int *series, const struct report_run *run)
{
    return series[run->sub < 0 ? r->nsubs : run->sub];
}

/* ------------------------------------------------------------------ all runs */

/* What is drawn of a run: its place, 0 when it is left out. */
typedef int place_fn(const struct report_run *run, double v[4]);

static int as_parity(const struct report_run *run, double v[4])
{
    v[0] = run->s->time_s;
    v[1] = run->fit;
    v[2] = run->low;
    v[3] = run->high;
    return run->counts && run->fit > 0;
}

static int as_residual_n(const struct report_run *run, double v[4])
{
    v[0] = (double)run->s->N;
    v[1] = 100 * (run->fit / run->s->time_s - 1);
    return run->counts && run->fit > 0;
}

static int as_residual_p(const struct report_run *run, double v[4])
{
    int known = as_residual_n(run, v);

    v[0] = run->s->P;
    return known;
}

static int as_run(const struct report_run *run, double v[4])
{
    v[0] = (double)run->s->N;
    v[1] = run->s->P;
    return 1;
}

static int as_cost(const struct report_run *run, double v[4])
{
    v[0] = (double)run->s->N;
    v[1] = run->s->wall_s;
    return 1;
}

/* What else is drawn: a line; or, where marks would hide each other, those of each series are set aside a little. */
enum extra { NOTHING, DIAGONAL, ZERO, ASIDE };
static const double SET_ASIDE = 1.03;   /* the ratio of N between two of them */

static const char MEASURED[] = "measured time", FITTED[] = "fitted time", TOO_LONG[] = "fitted against measured";
static const char SIZE[] = "size N", PROCESSES[] = "processes P";

static const struct overall {
    int section;
    enum plot_axis x, y;
    const char *xlabel, *ylabel, *title, *caption;
    enum plot_style style;
    enum extra extra;
    place_fn *place;
} overall[] = {
    { REPORT_FIT, PLOT_SECONDS, PLOT_SECONDS, MEASURED, FITTED, "Measured against fitted",
      "Each mark is a run; the bar is the 95 % interval of its prediction. On the line the fit is exact.",
      PLOT_INTERVALS, DIAGONAL, as_parity },
    { REPORT_FIT, PLOT_SIZES, PLOT_PERCENT, SIZE, TOO_LONG, "Residuals over N",
      "How much longer the fitted time is than the measured one. A pattern means that a term is missing.", PLOT_POINTS,
      ZERO, as_residual_n },
    { REPORT_FIT, PLOT_PROCESSES, PLOT_PERCENT, PROCESSES, TOO_LONG, "Residuals over P",
      "The same over the number of processes.", PLOT_POINTS, ZERO, as_residual_p },
    { REPORT_RUNS, PLOT_SIZES, PLOT_PROCESSES, SIZE, PROCESSES, "Runs that were made",
      "Each mark is one run or several; marks of different sub-clusters stand beside each other.", PLOT_POINTS,
      ASIDE, as_run },
    { REPORT_RUNS, PLOT_SIZES, PLOT_SECONDS, SIZE, "time of the launch", "What the runs cost",
      "Each mark is a run, with the time from its start to its end, failed ones included.", PLOT_POINTS, NOTHING,
      as_cost },
};

/* By what factor a mark is set aside, so that those of all series stand about the right place. */
static double aside(const struct report *r, const struct overall *o, const struct report_run *run)
{
    int at = run->sub < 0 ? r->nsubs : run->sub;

    return o->extra == ASIDE ? pow(SET_ASIDE, at - r->nsubs / 2.0) : 1;
}

static void add_overall(struct figures *f, const struct overall *o)
{
    struct report *r = f->r;
    struct plot *p = plot_create(o->x, o->xlabel, o->y, o->ylabel);
    int *series = calloc((size_t)r->nsubs + 1, sizeof *series), line;
    double v[4] = { 0 };

    if (!p || !series) {
        free(series);
        plot_destroy(p);
        f->failed = 1;
        return;
    }
    plot_set_title(p, "%s", o->title);
    plot_set_caption(p, "%s", o->caption);
    line = plot_series(p, PLOT_LINE, PLOT_MUTED, 0, "");
    series_by_sub(r, p, o->style, series);
    for (int i = 0; i < r->nruns; i++)
        if (o->place(&r->runs[i], v))
            plot_add(p, series_of(r, series, &r->runs[i]), v[0] * aside(r, o, &r->runs[i]), v[1], v[2], v[3]);
    if ((o->extra == DIAGONAL || o->extra == ZERO) && !plot_is_empty(p)) {
        double low = p->x.low, high = p->x.high;

        plot_add(p, line, low, o->extra == ZERO ? 0 : low, 0, 0);
        plot_add(p, line, high, o->extra == ZERO ? 0 : high, 0, 0);
    }
    free(series);
    keep(f, p, o->section);
}

/* ------------------------------------------------------------------ over N and over P */

/* Runs on one profile's sub-clusters alone with M processes on each PE. */
static int belongs(const struct report *r, const struct report_run *run, int sub, int M)
{
    return run->sub >= 0 && r->subs[run->sub].same == sub && run->s->M == M && run->s->ok && run->counts;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The distinct N, or P, of such runs, ascending: at most PLOT_STEPS of them, least and greatest among them. v[nruns].
 * Result: how many; range[2]: least and greatest. */
static int steps(const struct report *r, int sub, int M, int sizes, int64_t *v, int64_t *range)
{
    int n = 0, distinct = 0;

    for (int i = 0; i < r->nruns; i++)
        if (belongs(r, &r->runs[i], sub, M))
            v[n++] = sizes ? r->runs[i].s->N : r->runs[i].s->P;
    qsort(v, (size_t)n, sizeof *v, by_number);
    for (int i = 0; i < n; i++)
        if (!distinct || v[distinct - 1] != v[i])
            v[distinct++] = v[i];
    if (!distinct)
        return 0;
    range[0] = v[0];
    range[1] = v[distinct - 1];
    if (distinct <= PLOT_STEPS)
        return distinct;
    for (int i = 0; i < PLOT_STEPS; i++)
        v[i] = v[(size_t)i * ((size_t)distinct - 1) / (PLOT_STEPS - 1)];
    return PLOT_STEPS;
}

/* Few steps are spread over the colours, so that they differ as much as they can. */
static int step_colour(int i, int n)
{
    return PLOT_FIRST_STEP + (n > 1 ? i * (PLOT_STEPS - 1) / (n - 1) : PLOT_STEPS / 2);
}

/* A curve of the fit at one P over sizes, or at one N over processes. */
static void add_curve(struct figures *f, struct plot *p, int sub, int M, int over_sizes, int64_t fixed,
                      const int64_t *range, int colour)
{
    int band = plot_series(p, PLOT_BAND, colour, 0, ""), line = plot_series(p, PLOT_LINE, colour, 0, "");
    double ratio = (double)range[1] / (double)range[0], t, low, high;
    int64_t last = 0;

    for (int i = 0; i < CURVE; i++) {
        int64_t at = llround((double)range[0] * pow(ratio, (double)i / (CURVE - 1)));
        struct hrun_predictor *predictor;

        at = over_sizes ? at : (at + M - 1) / M * M;
        if (at == last || at > range[1])
            continue;
        last = at;
        predictor = report_predictor(f->r, over_sizes ? at : fixed, NULL);
        if (!predictor ||
            hrun_predictor_time(predictor, sub, M, (int)(over_sizes ? fixed : at), &t, &low, &high, NULL))
            continue;
        plot_add(p, band, (double)at, t, low, high);
        plot_add(p, line, (double)at, t, 0, 0);
    }
}

static void add_times(struct figures *f, int sub, int M, int over_sizes)
{
    struct report *r = f->r;
    struct plot *p = plot_create(over_sizes ? PLOT_SIZES : PLOT_PROCESSES, over_sizes ? SIZE : PROCESSES, PLOT_SECONDS,
                                 "time");
    int64_t *v = calloc((size_t)r->nruns + 1, sizeof *v), *other = calloc((size_t)r->nruns + 1, sizeof *other);
    int64_t range[2], ignored[2];
    struct hrun_buf names = HRUN_BUF_INIT;
    int n = 0;

    if (!p || !v || !other) {
        f->failed = 1;
        goto done;
    }
    n = steps(r, sub, M, !over_sizes, v, ignored);
    steps(r, sub, M, over_sizes, other, range);
    add_names(r, sub, &names);
    p->failed |= names.failed;
    plot_set_title(p, "Time over %c: %s, %d process%s per PE", over_sizes ? 'N' : 'P', names.data, M,
                   M == 1 ? "" : "es");
    plot_set_caption(p, "Marks are runs, lines the fitted model, bands its 95 %% interval.");
    for (int i = 0; i < n; i++)
        add_curve(f, p, sub, M, over_sizes, v[i], range, step_colour(i, n));
    for (int i = 0; i < n; i++) {
        char key[64];
        int series;

        snprintf(key, sizeof key, "%c = %lld", over_sizes ? 'P' : 'N', (long long)v[i]);
        series = plot_series(p, PLOT_POINTS, step_colour(i, n), i, key);
        for (int k = 0; k < r->nruns; k++) {
            const struct hrun_sample *s = r->runs[k].s;

            if (belongs(r, &r->runs[k], sub, M) && (over_sizes ? s->P : s->N) == v[i])
                plot_add(p, series, (double)(over_sizes ? s->N : s->P), s->time_s, 0, 0);
        }
    }
    keep(f, p, REPORT_TIMES);
    p = NULL;
done:
    plot_destroy(p);
    hrun_buf_release(&names);
    free(v);
    free(other);
}

/* ------------------------------------------------------------------ the landscape */

static void add_landscape(struct figures *f)
{
    struct report *r = f->r;
    const struct hrun_plan *plan = r->plan;
    struct plot *p;
    int dots, front, measured, chosen;
    struct hrun_buf config = HRUN_BUF_INIT;

    if (!plan)
        return;
    p = plot_create(PLOT_PROCESSES, PROCESSES, PLOT_SECONDS, "time");
    if (!p) {
        f->failed = 1;
        return;
    }
    dots = plot_series(p, PLOT_POINTS, PLOT_MUTED, 5, "configurations");
    front = plot_series(p, PLOT_LINE, PLOT_FIRST_SERIES, 0, "best for each P");
    measured = plot_series(p, PLOT_POINTS, PLOT_FIRST_SERIES + 2, 1, "measured");
    chosen = plot_series(p, PLOT_CHOSEN, PLOT_FIRST_SERIES + 5, 3, "chosen");
    for (int i = 0; i < plan->n; i++)
        plot_add(p, dots, plan->v[i].P, plan->v[i].time_s, 0, 0);
    for (int i = 0; i < r->nfront; i++)
        plot_add(p, front, r->front[i].P, r->front[i].time_s, 0, 0);
    for (int i = 0; i < r->npoints; i++)
        if (r->points[i].N == r->N)
            plot_add(p, measured, r->points[i].P, r->points[i].time_s, 0, 0);
    plot_add(p, chosen, r->choice.P, r->choice.predicted_s, r->choice.low_s, r->choice.high_s);
    hrun_config_print(plan->v[0].pes, plan->v[0].procs, r->nsubs, &config);
    p->failed |= config.failed;
    plot_set_title(p, "Configurations at N = %lld", (long long)r->N);
    plot_set_caption(p, plan->counts.counted && plan->n >= plan->counts.valid
                     ? "All %d valid configurations by their predicted times; the bar of the chosen %s is its 95 %% "
                       "interval."
                     : "The %d best configurations by their predicted times; the bar of the chosen %s is its 95 %% "
                       "interval.",
                     plan->n, config.data);
    hrun_buf_release(&config);
    keep(f, p, REPORT_CHOICE);
}

/* The least number of processes per PE above M that a run had; 0: there is none. */
static int next_procs(const struct report *r, int M)
{
    int next = 0;

    for (int i = 0; i < r->nruns; i++)
        if (r->runs[i].s->M > M && (!next || r->runs[i].s->M < next))
            next = r->runs[i].s->M;
    return next;
}

struct plot **report_figures(struct report *r, int *n, struct hrun_error *err)
{
    struct figures f = { .r = r };

    add_landscape(&f);
    for (int i = 0, failed = 0; i < REPORT_TRADEOFFS && !f.failed; i++) {
        struct plot *p = report_tradeoff_figure(r, i, &failed);

        f.failed |= failed;
        if (p)
            keep(&f, p, REPORT_CHOICE);
    }
    if (!f.failed) {
        int failed = 0;
        struct plot *p = report_shares_figure(r, &failed);

        f.failed |= failed;
        if (p)
            keep(&f, p, REPORT_CHOICE);
    }
    for (size_t i = 0; i < sizeof overall / sizeof *overall && !f.failed; i++)
        add_overall(&f, &overall[i]);
    for (int over_sizes = 1; over_sizes >= 0; over_sizes--)
        for (int i = 0; i < r->nsubs; i++)
            for (int M = next_procs(r, 0); r->subs[i].same == i && M && !f.failed; M = next_procs(r, M))
                add_times(&f, i, M, over_sizes);
    for (int i = 0, failed = 0; r->net && !f.failed; i++) {
        struct plot *p = report_network_figure(r, i, &failed);

        f.failed |= failed;
        if (!p)
            break;
        keep(&f, p, REPORT_NETWORK);
    }
    *n = f.n;
    f.failed |= r->failed;
    if (!f.failed && f.v)
        return f.v;
    for (int i = 0; i < f.n; i++)
        plot_destroy(f.v[i]);
    free(f.v);
    if (f.failed)
        hrun_fail_nomem(err);
    else
        hrun_fail(err, HRUN_ENODATA, "the measurements of %s hold nothing to draw", r->c->app->name);
    return NULL;
}
