/* design.c - create a design, add results, give the next run; see design.h for the contract */
#include "app/template.h"
#include "plan/design/internal.h"

#include "base/alloc.h"
#include "base/list.h"
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hrun_design_stage_name(enum hrun_design_stage s)
{
    static const char *const names[] = { "screen", "choice", "repeat" };

    return names[s];
}

double design_median(double *v, int n)
{
    hrun_sort(v, (size_t)n);
    return n ? v[n / 2] : 0;
}

int design_deals(const struct hrun_design *d)
{
    int ignores = 0;

    for (int i = 0; d->fit.models && i < d->nsubs; i++)
        ignores |= d->fit.models[i] && d->fit.models[i]->tasking.ignores;
    return d->app->shares.units != NULL && d->nsubs > 1 && !ignores;
}

int same_dealt_config(const struct dealt_config *a, const struct dealt_config *b)
{
    return a->dealt == b->dealt && hrun_config_equal(&a->c, &b->c);
}

struct dealt_config make_dealt_config(const struct hrun_config *config, int dealt)
{
    int used = 0;

    for (int i = 0; i < config->nsubs; i++)
        used += config->pes[i] > 0;
    return (struct dealt_config){ *config, dealt && used > 1 };
}

int design_is_known(const struct hrun_design *d, const struct dealt_config *config, int64_t N)
{
    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].N == N && same_dealt_config(&d->runs.v[i].config, config))
            return 1;
    for (int i = d->queue.next; i < d->queue.n; i++)
        if (d->queue.v[i].N == N && same_dealt_config(&d->queue.v[i].config, config))
            return 1;
    return 0;
}

/* Assumed pace of the sub-cluster whose time a run is to show, relative to its models; below 1 it gets more work. */
static const double TILT = 0.88;

/* Set d->procs to the numbers of processes per PE of the settings, which the definition must allow; if there are none,
 * to those of the definition. */
static int copy_procs(struct hrun_design *d, struct hrun_error *err)
{
    d->procs = xcalloc((size_t)d->app->nprocs_per_pe + (size_t)d->set.nprocs + 1, sizeof *d->procs);
    for (int j = 0; j < d->set.nprocs; j++) {
        int allowed = 0;

        for (int i = 0; i < d->app->nprocs_per_pe; i++)
            allowed |= d->set.procs[j] == d->app->procs_per_pe[i];
        if (!allowed)
            return hrun_fail(err, HRUN_EINVAL, "the definition of %s does not allow %lld processes per PE "
                             "(procs_per_pe)", d->app->name, (long long)d->set.procs[j]);
        d->procs[d->nprocs++] = (int)d->set.procs[j];
    }
    for (int i = 0; i < d->app->nprocs_per_pe && !d->set.procs; i++)
        d->procs[d->nprocs++] = d->app->procs_per_pe[i];
    return 0;
}

struct hrun_design *hrun_design_create(const struct hrun_app *app, const struct hrun_design_sub *subs, int nsubs,
                                       const struct hrun_design_settings *settings, struct hrun_error *err)
{
    struct hrun_design *d = xcalloc(1, sizeof *d);

    d->app = app;
    d->subs = subs;
    d->nsubs = nsubs;
    d->set = *settings;
    d->rng = settings->seed;
    d->budget.round_s = nsubs > 1 ? DESIGN_RESERVE_MOST * settings->budget_s / DESIGN_ROUNDS : 0;
    hrun_buf_init(&d->runs.names);
    hrun_buf_init(&d->runs.signatures);
    hrun_buf_init(&d->runs.consts);
    for (int i = 0; i < d->nsubs; i++) {
        hrun_list_add(&d->runs.names, subs[i].name);
        hrun_list_add(&d->runs.signatures, subs[i].signature);
    }
    hrun_app_consts_text(app, &d->runs.consts);
    d->fit.noise = settings->fit.sigma_rel;
    d->fit.noise_s = settings->fit.sigma_abs_s;
    d->state.loss = d->state.interval = NAN;
    d->sizes = xcalloc((size_t)settings->nsizes, sizeof *d->sizes);
    d->share = xcalloc((size_t)nsubs + 1, sizeof *d->share);
    d->nsizes = settings->nsizes;
    for (int i = 0; i < d->nsizes; i++) {
        d->sizes[i].N = settings->sizes[i];
        d->sizes[i].choice = -1;
        d->sizes[i].sd_factor = 1;
    }
    if (!copy_procs(d, err) && !design_points(d, err))
        return d;
    hrun_design_destroy(d);
    return NULL;
}

void hrun_design_destroy(struct hrun_design *d)
{
    if (!d)
        return;
    design_drop_models(d);
    design_drop_sizes(d);
    for (int i = 0; i < d->runs.n; i++) {
        free(d->runs.v[i].text);
        free(d->runs.v[i].shares);
        free(d->runs.v[i].share);
    }
    free(d->sizes);
    free(d->runs.v);
    free(d->queue.v);
    free(d->points);
    free(d->procs);
    hrun_buf_release(&d->runs.names);
    hrun_buf_release(&d->runs.signatures);
    hrun_buf_release(&d->runs.consts);
    free(d->share);
    free(d);
}

/* Set config, P and sub of a run. P is 0 if config is not valid. */
static void set_run_config(const struct hrun_config *config, int dealt, struct design_run *r)
{
    r->sub = -1;
    for (int i = 0; i < config->nsubs; i++) {
        if (config->pes[i] < 0 || config->procs[i] < 0 || !config->pes[i] != !config->procs[i]) {
            r->P = 0;
            return;
        }
        if (config->pes[i])
            r->sub = r->P ? -1 : i;
        r->P += config->pes[i] * config->procs[i];
    }
    r->config = make_dealt_config(config, dealt);
}

/* Set share and shares of a run. */
static void copy_shares(const struct hrun_design *d, const double *share, struct design_run *r)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    size_t n = (size_t)d->nsubs;

    r->share = xmalloc(n * sizeof *share);
    for (int i = 0; i < d->nsubs; i++) {
        r->share[i] = r->config.c.pes[i] ? share[i] : 0;
        hrun_buf_addf(&text, "%s%.9g", i ? "," : "", r->share[i]);
    }
    r->shares = hrun_buf_detach(&text);
}

/* Store the error of the prediction that was made when run r was planned. */
static void note_prediction_error(struct hrun_design *d, const struct design_run *r)
{
    for (int i = 0; i < d->queue.next; i++) {
        struct design_plan *q = &d->queue.v[i];

        if (q->N != r->N || !same_dealt_config(&q->config, &r->config) || !(q->model_s > 0))
            continue;
        if (d->runs.nerrors < DESIGN_ERRORS)
            d->runs.error[d->runs.nerrors++] = log(r->time_s / q->model_s);
        q->model_s = 0;
        return;
    }
}

int hrun_design_add(struct hrun_design *d, const struct hrun_design_result *result, struct hrun_error *err)
{
    double time_s = result->time_s, wall_s = result->wall_s;
    struct design_run *r;

    hrun_grow(d->runs.v, d->runs.n + 1, d->runs.cap);
    r = &d->runs.v[d->runs.n];
    memset(r, 0, sizeof *r);
    set_run_config(&result->config, result->share != NULL, r);
    r->N = result->N;
    r->time_s = time_s;
    r->wall_s = wall_s;
    if (!r->P || r->N < 1 || !(time_s >= 0) || !isfinite(time_s) || !(wall_s >= 0) || !isfinite(wall_s))
        return hrun_fail(err, HRUN_EINVAL, "this is no run: %d processes, N = %lld, time %g s, wall time %g s",
                         r->P, (long long)r->N, time_s, wall_s);
    snprintf(r->date, sizeof r->date, "%010d", d->runs.n);
    r->text = xstrdup(hrun_config_text(&result->config).s);
    if (r->config.dealt)
        copy_shares(d, result->share, r);
    d->runs.n++;
    if (time_s > 0)
        note_prediction_error(d, r);
    if (!result->counts) {
        d->budget.before_s += wall_s;
        return 0;
    }
    d->state.runs++;
    d->state.failed += time_s <= 0;
    d->state.spent_s += wall_s;
    return 0;
}

void design_queue(struct hrun_design *d, const struct dealt_config *config, int64_t N, enum hrun_design_stage stage,
                  double model_s, double expected_s)
{
    hrun_grow(d->queue.v, d->queue.n + 1, d->queue.cap);
    d->queue.v[d->queue.n++] = (struct design_plan){ .config = *config, .N = N, .stage = stage, .model_s = model_s,
                                                  .expected_s = expected_s, .rounds = DESIGN_ROUNDS };
}

void hrun_design_add_pause(struct hrun_design *d, double pause_s)
{
    d->state.spent_s += pause_s;
    d->budget.paused_s += pause_s;
}

int design_affords(const struct hrun_design *d, double expected_s, int rounds)
{
    double pause_s = d->state.runs ? d->budget.paused_s / d->state.runs : 0;

    return d->set.budget_s <= 0 ||
           d->state.spent_s + pause_s + expected_s + rounds * d->budget.round_s <= d->set.budget_s;
}

/* Set left_s, budget_s and queued of the state. */
static void update_queue_state(struct hrun_design *d)
{
    double left = 0, per_run = d->state.runs ? d->state.spent_s / d->state.runs : 0;

    for (int i = d->queue.next; i < d->queue.n; i++)
        left += d->queue.v[i].expected_s;
    if (d->set.budget_s > 0)
        left = fmax(d->set.budget_s - d->state.spent_s, 0);
    else if (d->set.runs > 0)
        left = fmax(left, per_run * (d->set.runs - d->state.runs));
    d->state.left_s = left;
    d->state.budget_s = d->set.budget_s;
    d->state.queued = d->queue.n - d->queue.next;
}

double hrun_design_slow_s(double least_s)
{
    static const double FLOOR_S = 2;    /* a shorter run costs little, and its start may be disturbed for as long */

    return fmax(DESIGN_SLOW * least_s, FLOOR_S);
}

double design_slow_s(const struct hrun_design *d)
{
    double least = INFINITY;

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].time_s > 0)
            least = fmin(least, d->runs.v[i].wall_s);
    return hrun_design_slow_s(least);
}

/* Set pace[nsubs]. If the configuration was run with unequal shares before, one of its sub-clusters, in turn, gets more
 * work than by its models, so that the run shows the time of this sub-cluster. */
static void tilt_shares(const struct hrun_design *d, const struct design_plan *q, double *pace)
{
    int seen = design_is_known(d, &q->config, q->N), used = 0, turn;

    for (int i = 0; i < d->nsubs; i++) {
        pace[i] = 1;
        used += q->config.c.pes[i] > 0;
    }
    turn = used ? d->runs.n % used : 0;
    for (int i = 0; i < d->nsubs && seen; i++)
        if (q->config.c.pes[i] > 0 && turn-- == 0)
            pace[i] = TILT;
}

/* Set d->share for a run with unequal shares by the present models; if there are none, fit them first. If the fit makes
 * none, the run gets equal shares. */
static int set_run_shares(struct hrun_design *d, struct design_plan *q, struct hrun_error *err)
{
    autofree double *pace = xcalloc((size_t)d->nsubs, sizeof *pace);
    struct hrun_error why = { 0 };

    if (d->fit.models || !design_fit(d, &why)) {
        tilt_shares(d, q, pace);
        if (!design_shares(d, &q->config, q->N, pace, d->share, &why))
            return 0;
        q->config.dealt = 0;
        if (why.code == HRUN_ENODATA)
            return 0;
    }
    return hrun_fail_as(err, &why);
}

int hrun_design_next(struct hrun_design *d, struct hrun_design_run *run, struct hrun_error *err)
{
    int skipped = 0;

    for (;;) {
        struct design_plan *q;
        /* A budget by own_budget may grow by a fit of the last runs. */
        int may_grow = d->set.own_budget > 0 && d->fit.nruns < d->runs.n;

        d->state.end = d->set.runs > 0 && d->state.runs >= d->set.runs ? HRUN_DESIGN_RUNS
                     : d->set.budget_s > 0 && d->state.spent_s >= d->set.budget_s && !may_grow ? HRUN_DESIGN_BUDGET
                     : HRUN_DESIGN_GOES_ON;
        if (!d->state.end && d->queue.next == d->queue.n) {
            if (skipped && d->budget.closing && d->fit.nruns == d->runs.n)
                d->state.end = HRUN_DESIGN_BUDGET;
            d->budget.closing |= skipped;  /* the rest of a stage was too long for the rest of the budget */
            if (!d->state.end && design_stage(d, err))
                return -1;
        }
        if (d->state.end) {
            d->state.budget_s = d->set.budget_s;
            d->state.left_s = 0;
            d->state.queued = 0;
            if (d->fit.models && d->fit.nruns == d->runs.n)
                return 0;
            return design_fit(d, err) || design_believe(d, err) ? -1 : 0;
        }
        q = &d->queue.v[d->queue.next++];
        if (!design_affords(d, q->expected_s, q->rounds)) {
            skipped = d->queue.next == d->queue.n;
            q->model_s = 0;
            continue;
        }
        *run = (struct hrun_design_run){ .config = q->config.c, .P = hrun_config_processes(&q->config.c), .N = q->N,
                                         .stage = q->stage, .expected_s = q->expected_s };
        if (d->app->fixed && isfinite(design_slow_s(d)))
            run->limit_s = design_slow_s(d);
        if (q->config.dealt && set_run_shares(d, q, err))
            return -1;
        run->share = q->config.dealt ? d->share : NULL;
        /* The rule may have become narrower since the run was queued. */
        if (d->app->fixed && hrun_app_rule(d->app, q->N, run->P, NULL) == 0) {
            struct hrun_design_result refused = { .config = run->config, .share = run->share, .N = run->N };

            if (hrun_design_add(d, &refused, err))
                return -1;
            continue;
        }
        d->state.stage = q->stage;
        update_queue_state(d);
        return 1;
    }
}

const struct hrun_design_state *hrun_design_state(const struct hrun_design *d)
{
    return &d->state;
}

void hrun_design_too_short(struct hrun_design *d, int64_t N)
{
    d->runs.too_short = d->runs.too_short > N ? d->runs.too_short : N;
}

int hrun_design_stands(const struct hrun_design *d, int i, double *loss)
{
    *loss = d->sizes[i].choice < 0 ? NAN : d->sizes[i].loss;
    return d->sizes[i].choice >= 0 && d->sizes[i].settled;
}

/* ---------------------------------------------------------------- expected wall time of a run */

/* Exponent of time in N: assumed until two sizes were run, later a limit. Dense linear algebra has this exponent, the
 * largest of the shipped definitions, so predictions are upper bounds. */
static const double GROWTH = 3;

/* Wall time beyond the time of a run, for its start and end: the median of the runs so far. */
static double start_overhead(const struct hrun_design *d)
{
    double last[2 * DESIGN_ERRORS + 1];
    int n = 0;

    for (int i = d->runs.n; i-- > 0 && n < (int)(sizeof last / sizeof *last); )
        if (d->runs.v[i].time_s > 0)
            last[n++] = fmax(d->runs.v[i].wall_s - d->runs.v[i].time_s, 0);
    return design_median(last, n);
}

double design_cost(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N, double model_s)
{
    const struct design_run *near = NULL, *lo = NULL, *hi = NULL;
    double least = INFINITY, slope = GROWTH, wall = 0;
    int same = 0;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];
        double far;

        if (r->time_s <= 0)
            continue;
        if (r->N == N && same_dealt_config(&r->config, config)) {
            wall += r->wall_s;
            same++;
        }
        far = fabs(log((double)N / (double)r->N)) + fabs(log((double)P / r->P));
        for (int k = 0; k < d->nsubs; k++)
            far += !config->c.pes[k] != !r->config.c.pes[k];
        if (far < least) {
            least = far;
            near = r;
        }
        lo = !lo || r->N < lo->N ? r : lo;
        hi = !hi || r->N > hi->N ? r : hi;
    }
    if (same)
        return wall / same;
    if (model_s > 0 && isfinite(model_s))
        return model_s + start_overhead(d);
    if (!near)
        return 0;
    if (hi->N > lo->N)
        slope = fmin(fmax(log(hi->time_s / lo->time_s) / log((double)hi->N / (double)lo->N), 0), GROWTH);
    return near->time_s * pow(fmax((double)N / (double)near->N, 1), slope) + start_overhead(d);
}
