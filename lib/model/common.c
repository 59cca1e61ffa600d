/* common.c - one model for all sub-clusters; see fit_job.h for the contract
 *
 * All sub-clusters have the same coefficients, each option (a sub-cluster with M processes per PE) has its own speeds.
 * Both are fitted in turn by NNLS, with the other fixed. The time of a mixed run is a weighted sum of the times
 * of its parts. Weights are from the last turn: 1 for the part that limits the run; with dynamic tasking by the speeds
 * of the parts.
 */
#include "model/fit_job.h"
#include "model/internal.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Speeds and limiting parts settle in about five turns, later ones polish. The first PLAIN_TURNS weigh all runs
 * alike. */
enum { TURNS = 25, PLAIN_TURNS = 3 };
/* Relative standard deviations: SPEED_SD of the prior of w about other M of the sub-cluster, and of v about 1; RUN_SD
 * of a run. */
static const double SPEED_SD = 0.5, RUN_SD = 0.01;
/* Prior standard deviation of undivided work on one PE, relative to the shortest time there. */
static const double ONE_PE_SD = 0.3;
/* The w of an option that limits no run is NEARLY the largest that its runs permit; runs count if their part of divided
 * work is above MOSTLY of the largest. */
static const double NEARLY = 0.99, MOSTLY = 0.9;
/* Lower bound of that w, relative to the least w known from runs. */
static const double QUICKER = 0.2;
/* Times of parts, w, v and spans are between this and its inverse. Without the bounds, a part with little work could
 * become ever slower in dynamic tasking. */
static const double LEAST = 1e-6;
/* Residuals beyond HUBER scales count less; no scale is below SCALE_LEAST. */
static const double HUBER = 2, SCALE_LEAST = 0.02;
/* All shared rows together weigh at most as much as this many rows, because an option has few runs of its own. */
static const double ROWS_MOST = 25;
/* The weight, in runs, of the prior that messages between two sub-clusters take as long as inside them. */
static const double ALIKE = 0.5;
/* Dynamic tasking is tried if equal shares miss runs of CONFIGS_LEAST configurations by more than OFF in the mean. It
 * is chosen if it reduces the error at runs left out to BETTER of that with equal shares. */
static const double OFF = 0.05, BETTER = 0.6;
enum { CONFIGS_LEAST = 8, FOLDS = 2 };
/* Upper limit of the error of a run (logarithm). */
static const double GLITCH = 0.2;

enum { BY_RUNS = 2 };

struct option {
    int known;              /* 1: a run used it */
    int known_by;           /* source of the speeds. BY_RUNS: runs that it limited; 1: another M of its sub-cluster, or
                               other runs; 0: none */
    double w, v;            /* factors on divided work, and on all else */
    double u;               /* s: undivided work on one PE */
};

struct part {               /* of a run */
    int option, pes;
    double weight;          /* factor on its time in the time of the run */
    double share;           /* of the divided work, relative to an equal share */
};

struct point {              /* a run */
    const struct hrun_sample *sample;
    int own;                /* as in struct hrun_row */
    int64_t N;
    int P, one_pe;
    double T, weight;       /* weight: 1, less if the residual is large */
    size_t first, nparts;   /* its parts */
    double span;            /* factor on messages between its sub-clusters */
    int config;             /* index of its configuration; -1: one PE */
    int held;               /* 1: left out of the fit */
};

struct hrun_common {
    const struct hrun_app *app;
    int nsubs, nprocs;
    struct option *options; /* nsubs by nprocs */
    int *most;              /* nsubs: the most PEs of a run on the sub-cluster alone */
    struct point *points;
    size_t n, p;            /* points, terms */
    struct hrun_expr **terms;   /* p, the definition's */
    double *x;              /* n by p */
    int *divided;           /* p */
    double *k;              /* p */
    double *span;           /* nsubs by nsubs: factor on messages between two sub-clusters */
    struct part *parts;     /* of all points */
    size_t nparts;
    struct hrun_tasking tasking;
    struct hrun_part_time *times;   /* of the parts of one point: scratch */
};

/* Index of an option; -1 if the definition does not have this M. */
static int option_of(const struct hrun_common *c, int sub, int M)
{
    for (int k = 0; k < c->nprocs; k++)
        if (c->app->procs_per_pe[k] == M)
            return sub * c->nprocs + k;
    return -1;
}

/* ------------------------------------------------------------------ runs */

static void add_part(struct hrun_common *c, int option, int pes, double share)
{
    c->parts[c->nparts++] = (struct part){ option, pes, 1, share };
    c->options[option].known = 1;
}

/* A run on one sub-cluster; it is left out if the definition does not have its M. */
static void add_row_point(struct hrun_common *c, const struct hrun_row *row, int sub)
{
    int o = option_of(c, sub, row->M), pes = row->P / row->M;

    if (o < 0)
        return;
    c->points[c->n++] = (struct point){ .sample = row->sample, .own = row->own, .N = row->N, .P = row->P, .T = row->T,
                                        .first = c->nparts, .nparts = 1, .one_pe = row->kind == HRUN_ROW_SINGLE };
    add_part(c, o, pes, row->share);
    c->most[sub] = pes > c->most[sub] ? pes : c->most[sub];
}

/* A run on several sub-clusters, left out if the definition does not have all its M, or not all its parts are known. */
static void add_mixed_point(struct hrun_common *c, const struct hrun_mixed *mixed, const struct hrun_mixed_run *m)
{
    const struct hrun_mixed_part *from = mixed->parts + m->first;
    size_t first = c->nparts;

    for (size_t i = 0; i < m->nparts; i++)
        if (option_of(c, from[i].sub, from[i].M) < 0)
            return;
    for (size_t i = 0; i < m->nparts; i++)
        add_part(c, option_of(c, from[i].sub, from[i].M), from[i].pes, from[i].share);
    if (m->whole && m->nparts > 1)
        c->points[c->n++] = (struct point){ .sample = m->sample, .own = -1, .N = m->N, .P = m->P, .T = m->T,
                                            .first = first, .nparts = m->nparts };
}

/* The option of a run on one sub-cluster, else -1. */
static int only_option(const struct hrun_common *c, const struct point *q)
{
    return q->nparts == 1 ? c->parts[q->first].option : -1;
}

static int sub_of(const struct hrun_common *c, size_t part)
{
    return c->parts[part].option / c->nprocs;
}

/* Evaluate the terms at all points. Points on hosts outside the network are dropped. */
static int evaluate_common(struct hrun_common *c, const struct hrun_fit_job *job, struct hrun_error *err)
{
    size_t kept = 0;

    c->p = (size_t)job->np.n;
    c->x = xcalloc(c->n * c->p + 1, sizeof *c->x);
    c->divided = xcalloc(c->p + 1, sizeof *c->divided);
    c->k = xcalloc(c->p + 1, sizeof *c->k);
    c->terms = xcalloc(c->p + 1, sizeof *c->terms);
    for (size_t j = 0; j < c->p; j++)
        c->terms[j] = job->np.v[j].expr;
    for (size_t i = 0; i < c->n; i++) {
        const struct point *q = &c->points[i];
        const struct hrun_row row = { .N = q->N, .P = q->P, .sample = q->sample, .own = q->own, .share = 1 };
        struct hrun_config config;

        if (job->net && (!row.sample || !hrun_netview_config(job->net, row.sample, row.own, &config)))
            continue;
        for (size_t j = 0; j < c->p; j++)
            if (hrun_fit_term(job, job->np.v[j].expr, &row, &c->x[kept * c->p + j], err))
                return hrun_fail_prefix(err, "term '%s' of %s at a measured point (N=%lld, P=%d)", job->np.v[j].text,
                                        c->app->name, (long long)q->N, q->P);
        c->points[kept++] = *q;
    }
    c->n = kept;
    for (size_t j = 0; j < c->p; j++)
        c->divided[j] = c->app->shares.units ? hrun_app_term_is_shared(c->app, job->np.v[j].expr)
                                             : hrun_term_is_divided(job->np.v[j].expr);
    return 0;
}

/* ------------------------------------------------------------------ one turn of the fit */

/* Divided work and all else at a point, by the coefficients, with speeds of 1. */
static void work_and_rest(const struct hrun_common *c, size_t i, double *work, double *rest)
{
    *work = *rest = 0;
    for (size_t j = 0; j < c->p; j++)
        *(c->divided[j] ? work : rest) += c->k[j] * c->x[i * c->p + j];
    *work *= hrun_tasking_excess(&c->tasking, c->points[i].P);
}

static double option_time(const struct option *o, const struct point *q, double work, double rest)
{
    return o->w * work + (q->one_pe ? o->u : o->v * q->span * rest);
}

/* Factor on the time of option o in the time of a run; *work: factor on its divided work. */
static double option_weight(const struct hrun_common *c, const struct point *q, int o, double *work)
{
    double sum = 0;

    *work = 0;
    for (size_t a = q->first; a < q->first + q->nparts; a++)
        if (c->parts[a].option == o) {
            sum += c->parts[a].weight;
            *work += c->parts[a].weight * c->parts[a].share;
        }
    return sum;
}

/* The factors of a run as a whole: *w on its divided work, *v on all else. */
static void run_speeds(const struct hrun_common *c, const struct point *q, double *w, double *v)
{
    *w = *v = 0;
    for (size_t a = q->first; a < q->first + q->nparts; a++) {
        *w += c->parts[a].weight * c->parts[a].share * c->options[c->parts[a].option].w;
        *v += q->one_pe ? 0 : c->parts[a].weight * c->options[c->parts[a].option].v * q->span;
    }
}

/* Undivided work of a run on one PE in s; 0 for other runs. */
static double rest_on_one_pe(const struct hrun_common *c, const struct point *q)
{
    return q->one_pe ? c->options[only_option(c, q)].u : 0;
}

/* Predicted time of point i. */
static double predicted_time(const struct hrun_common *c, size_t i)
{
    const struct point *q = &c->points[i];
    double w, v, work, rest;

    work_and_rest(c, i, &work, &rest);
    run_speeds(c, q, &w, &v);
    return w * work + v * rest + rest_on_one_pe(c, q);
}

/* Set the weights of the parts of each mixed run, and its factor on messages. first = 1: there are no coefficients
 * yet. */
static void assign_common_runs(struct hrun_common *c, int first)
{
    for (size_t i = 0; i < c->n; i++) {
        struct point *q = &c->points[i];
        struct part *own = c->parts + q->first;
        double work, rest, speed = 0, whole;
        size_t slowest = 0;

        if (q->nparts == 1)
            continue;
        q->span = 1;
        for (size_t a = q->first; a < q->first + q->nparts; a++)
            for (size_t b = q->first; b < a; b++)
                q->span = fmax(q->span, c->span[sub_of(c, a) * c->nsubs + sub_of(c, b)]);
        work_and_rest(c, i, &work, &rest);
        for (size_t a = 0; a < q->nparts; a++) {
            const struct option *o = &c->options[own[a].option];
            double t = first ? own[a].share * o->w : fmax(option_time(o, q, own[a].share * work, rest), LEAST * q->T);

            c->times[a] = (struct hrun_part_time){ t, own[a].pes * c->app->procs_per_pe[own[a].option % c->nprocs] };
            slowest = t > c->times[slowest].t ? a : slowest;
            speed += c->times[a].processes / t;
        }
        whole = hrun_tasking_time(&c->tasking, c->times, (int)q->nparts);
        for (size_t a = 0; a < q->nparts; a++) {
            double share = c->times[a].processes / c->times[a].t / speed;     /* of the tasks */

            own[a].weight = c->tasking.dynamic ? share * whole / c->times[a].t : a == slowest;
        }
    }
}

/* Set the weight of each run, by its residual. */
static void set_weights(struct hrun_common *c, double *scratch)
{
    double scale;
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        c->points[i].weight = fabs(log(c->points[i].T / predicted_time(c, i)));
        if (!c->points[i].held)
            scratch[n++] = c->points[i].weight;
    }
    scale = fmax(hrun_fit_scale(scratch, n, 0), SCALE_LEAST);
    for (size_t i = 0; i < c->n; i++)
        c->points[i].weight = fmin(1, sqrt(HUBER * scale / fmax(c->points[i].weight, 1e-12)));
}

/* The coefficients, given the speeds. Scratch: a[n by p], b[n]. */
static int fit_terms(struct hrun_common *c, double *a, double *b, struct hrun_error *err)
{
    struct hrun_lsq problem = { a, b, NULL, 0, c->p };
    struct hrun_lsq_result result = { c->k, NULL, 0, 0, 0 };

    for (size_t i = 0; i < c->n; i++) {
        const struct point *q = &c->points[i];
        double w, v;

        if (q->held)
            continue;
        run_speeds(c, q, &w, &v);
        w *= hrun_tasking_excess(&c->tasking, q->P);
        b[problem.n] = q->weight * (q->one_pe ? fmax(1 - rest_on_one_pe(c, q) / q->T, 0) : 1);
        for (size_t j = 0; j < c->p; j++)
            a[problem.n * c->p + j] = q->weight / q->T * c->x[i * c->p + j] * (c->divided[j] ? w : v);
        problem.n++;
    }
    return hrun_fit_nnls(&problem, &result, err);
}

/* Mean v of the options with speeds known from runs; 1 if there are none. */
static double mean_known_v(const struct hrun_common *c)
{
    double sum = 0, n = 0;

    for (int o = 0; o < c->nsubs * c->nprocs; o++) {
        sum += c->options[o].known_by == BY_RUNS ? c->options[o].v : 0;
        n += c->options[o].known_by == BY_RUNS;
    }
    return n ? sum / n : 1;
}

/* Largest possible w of an option that limits no run, by the times of the runs that used it. Runs of mostly divided
 * work count; if undivided work fills all runs, the whole time of a run counts. INFINITY: no run used it. */
static double slowest_possible(const struct hrun_common *c, int o)
{
    double share = 0, least = INFINITY, whole = INFINITY, quickest = INFINITY;

    for (int k = 0; k < c->nsubs * c->nprocs; k++)
        quickest = c->options[k].known_by == BY_RUNS ? fmin(quickest, c->options[k].w) : quickest;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < c->n; i++) {
            const struct point *q = &c->points[i];
            double work, rest, part, there = 0;

            for (size_t a = q->first; a < q->first + q->nparts; a++)
                there = c->parts[a].option == o ? c->parts[a].share : there;
            work_and_rest(c, i, &work, &rest);
            work *= there;
            part = 1 - q->span * rest / q->T;
            if (q->held || !(work > 0))
                continue;
            whole = fmin(whole, q->T / work);
            if (turn && part > MOSTLY * share)
                least = fmin(least, NEARLY * part * q->T / work);
            share = turn ? share : fmax(share, part);
        }
    least = isfinite(least) ? least : whole;
    return isfinite(least) && isfinite(quickest) ? fmax(least, QUICKER * quickest) : least;
}

static double bounded(double x)
{
    return fmin(fmax(x, LEAST), 1 / LEAST);
}

/* Fit w, v and u of option o by NNLS, given the coefficients. Their priors are rows. */
static int fit_speeds(struct hrun_common *c, int o, double *a, double *b, struct hrun_error *err)
{
    enum { UNKNOWN = 3 };
    struct option *own = &c->options[o];
    double speeds[UNKNOWN], work, rest, others = 0, shortest = INFINITY;
    struct hrun_lsq problem = { a, b, NULL, 0, UNKNOWN };
    struct hrun_lsq_result result = { speeds, NULL, 0, 0, 0 };
    int sub = o / c->nprocs, count = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct point *q = &c->points[i];
        double row = q->weight / (q->T * RUN_SD), share, part = option_weight(c, q, o, &share), w, v;

        if (!(part > 0) || q->held)
            continue;
        work_and_rest(c, i, &work, &rest);
        run_speeds(c, q, &w, &v);
        a[n * UNKNOWN] = row * share * work;
        a[n * UNKNOWN + 1] = q->one_pe ? 0 : row * part * rest * q->span;
        a[n * UNKNOWN + 2] = q->one_pe ? row : 0;
        shortest = q->one_pe ? fmin(shortest, q->T) : shortest;
        /* The times of the other parts are known. */
        b[n++] = row * (q->T - (w - share * own->w) * work - (v - (q->one_pe ? 0 : part * own->v * q->span)) * rest);
    }
    for (int m = sub * c->nprocs; m < (sub + 1) * c->nprocs; m++)
        if (m != o && c->options[m].known_by == BY_RUNS) {
            others += c->options[m].w;
            count++;
        }
    if (!n) {
        double most = fmin(slowest_possible(c, o), count ? others / count : INFINITY);

        *own = (struct option){ own->known, isfinite(most), isfinite(most) ? bounded(most) : 1, mean_known_v(c), 0 };
        return 0;
    }
    own->known_by = BY_RUNS;
    memset(a + n * UNKNOWN, 0, UNKNOWN * UNKNOWN * sizeof *a);
    if (count) {
        a[n * UNKNOWN] = count / (others * SPEED_SD);
        b[n++] = 1 / SPEED_SD;
    }
    a[n * UNKNOWN + 1] = 1 / SPEED_SD;
    b[n++] = 1 / SPEED_SD;
    a[n * UNKNOWN + 2] = isfinite(shortest) ? 1 / (ONE_PE_SD * shortest) : 1;
    b[n++] = 0;
    problem.n = n;
    if (hrun_fit_nnls(&problem, &result, err))
        return -1;
    own->w = speeds[0] > 0 ? bounded(speeds[0]) : own->w;
    own->v = bounded(speeds[1]);
    own->u = speeds[2];
    return 0;
}

/* Fit the factors on messages between sub-clusters: a mixed run counts for its slowest pair. */
static void fit_spans(struct hrun_common *c, double *sum, double *count)
{
    size_t n = (size_t)c->nsubs * (size_t)c->nsubs;

    memset(sum, 0, n * sizeof *sum);
    for (size_t k = 0; k < n; k++)
        count[k] = ALIKE;
    for (size_t i = 0; i < c->n; i++) {
        const struct point *q = &c->points[i];
        double work, rest, seen, w, v;

        if (q->nparts == 1 || q->held)
            continue;
        work_and_rest(c, i, &work, &rest);
        run_speeds(c, q, &w, &v);
        v /= q->span;
        if (!(v > 2 * LEAST) || !(rest > 0))
            continue;       /* the run has almost no messages */
        seen = log(bounded(fmax((q->T - w * work) / (v * rest), 1)));
        for (size_t a = q->first; a < q->first + q->nparts; a++)
            for (size_t b = q->first; b < q->first + q->nparts; b++) {
                size_t k = (size_t)(sub_of(c, a) * c->nsubs + sub_of(c, b));

                if (a != b && c->span[k] >= q->span) {
                    sum[k] += seen;
                    count[k]++;
                }
            }
    }
    for (size_t k = 0; k < n; k++)
        c->span[k] = exp(sum[k] / count[k]);
}

/* ------------------------------------------------------------------ the fit */

/* A run of one option; sorted by N, the first member. */
struct lone_run {
    int64_t N;
    int option;
    double log_work_s;              /* ln(time times processes) */
};

/* Compare sizes, or runs by their sizes. */
static int compare_sizes(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Guess speeds from sizes at which several options were run alone. Options never run alone limit no run at first. */
static void guess_speeds(struct hrun_common *c)
{
    autofree struct lone_run *runs = xcalloc(c->n, sizeof *runs);
    size_t count = 0;

    for (const struct point *q = c->points; q < c->points + c->n; q++)
        if (q->nparts == 1)
            runs[count++] = (struct lone_run){ q->N, only_option(c, q), log(q->T * q->P) };
    qsort(runs, count, sizeof *runs, compare_sizes);
    for (int o = 0; o < c->nsubs * c->nprocs; o++) {
        double sum = 0, pairs = 0, alone = 0;

        for (size_t i = 0, end; i < count; i = end) {
            double log_s[2] = { 0 }, n[2] = { 0 };      /* [0]: other options, [1]: this one */

            for (end = i; end < count && runs[end].N == runs[i].N; end++) {
                log_s[runs[end].option == o] += runs[end].log_work_s;
                n[runs[end].option == o]++;
            }
            sum += log_s[1] * n[0] - log_s[0] * n[1];
            pairs += n[0] * n[1];
            alone += n[1];
        }
        c->options[o] = (struct option){ c->options[o].known, pairs > 0,
                                         pairs > 0 ? bounded(exp(sum / pairs)) : alone > 0 ? 1 : LEAST, 1, 0 };
    }
}

void hrun_common_destroy(struct hrun_common *c)
{
    if (!c)
        return;
    free(c->options);
    free(c->most);
    free(c->points);
    free(c->terms);
    free(c->x);
    free(c->divided);
    free(c->k);
    free(c->span);
    free(c->parts);
    free(c->times);
    free(c);
}

static int iterate_common(struct hrun_common *c, struct hrun_error *err)
{
    size_t options = (size_t)c->nsubs * (size_t)c->nprocs, columns = c->p > 3 ? c->p : 3;
    size_t squares = (size_t)c->nsubs * (size_t)c->nsubs;
    double *a = xcalloc((c->n + 3) * (columns + 1) + 2 * squares, sizeof *a), *b = a + (c->n + 3) * columns;
    double *pairs = b + c->n + 3;
    int rc = 0;

    guess_speeds(c);
    for (size_t k = 0; k < squares; k++)
        c->span[k] = 1;
    for (size_t i = 0; i < c->n; i++)
        c->points[i].weight = c->points[i].span = 1;
    for (int turn = 0; turn < TURNS && !rc; turn++) {
        assign_common_runs(c, turn == 0);
        if (turn >= PLAIN_TURNS)
            set_weights(c, b);
        rc = fit_terms(c, a, b, err);
        for (size_t o = 0; o < options && !rc; o++)
            rc = fit_speeds(c, (int)o, a, b, err);
        if (!rc && turn >= PLAIN_TURNS)
            fit_spans(c, pairs, pairs + squares);
    }
    assign_common_runs(c, 0);
    free(a);
    return rc;
}

/* Mean error of runs on several PEs, each limited to GLITCH. held = 1: of the runs left out; 0: of the fitted runs. */
static double mean_common_error(const struct hrun_common *c, int held)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (!c->points[i].one_pe && c->points[i].held == held) {
            sum += fmin(fabs(log(c->points[i].T / predicted_time(c, i))), GLITCH);
            n++;
        }
    return n ? sum / n : 0;
}

/* Cross-validate a form. *out: mean error of predictions of each half of the configurations by the other half. */
static int cross_validate_tasking(struct hrun_common *c, struct hrun_tasking form, double *out, struct hrun_error *err)
{
    *out = 0;
    for (int fold = 0; fold < FOLDS; fold++) {
        for (size_t i = 0; i < c->n; i++)
            c->points[i].held = c->points[i].config % FOLDS == fold;
        c->tasking = form;
        if (iterate_common(c, err))
            return -1;
        *out += mean_common_error(c, 1) / FOLDS;
    }
    for (size_t i = 0; i < c->n; i++)
        c->points[i].held = 0;
    return 0;
}

static int same_common_config(const struct hrun_common *c, const struct point *x, const struct point *y)
{
    if (x->nparts != y->nparts)
        return 0;
    for (size_t i = 0; i < x->nparts; i++) {
        const struct part *a = &c->parts[x->first + i], *b = &c->parts[y->first + i];

        if (a->option != b->option || a->pes != b->pes)
            return 0;
    }
    return 1;
}

/* Number the different configurations of several PEs. Returns how many there are. */
static int number_configs(struct hrun_common *c)
{
    autofree const struct point **first = xcalloc(c->n, sizeof *first);     /* of each configuration */
    int n = 0;

    for (struct point *q = c->points; q < c->points + c->n; q++) {
        q->config = q->one_pe ? -1 : 0;
        while (!q->one_pe && q->config < n && !same_common_config(c, q, first[q->config]))
            q->config++;
        if (q->config == n)
            first[n++] = q;
    }
    return n;
}

/* Choose the form with the least error at runs left out: equal shares, or dynamic tasking without or with a master. */
static int choose_tasking(struct hrun_common *c, struct hrun_error *err)
{
    static const struct hrun_tasking forms[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 } };
    enum { FORMS = sizeof forms / sizeof *forms };
    double off[FORMS];
    int best = 0;

    if (iterate_common(c, err))
        return -1;
    if (c->app->shares.units || mean_common_error(c, 0) <= OFF || number_configs(c) < CONFIGS_LEAST)
        return 0;
    for (int f = 0; f < FORMS; f++) {
        if (cross_validate_tasking(c, forms[f], &off[f], err))
            return -1;
        best = off[f] < off[best] && off[f] < BETTER * off[0] ? f : best;
    }
    c->tasking = forms[best];
    return iterate_common(c, err);
}

static int fit_common(struct hrun_common *c, const struct hrun_fit_options *options, struct hrun_error *err)
{
    struct hrun_fit_job job = { .app = c->app, .options = *options, .skipped = HRUN_BUF_INIT };
    size_t none = 0;
    int rc = hrun_fit_network(&job, NULL, &none, err) || evaluate_common(c, &job, err) ? -1 : 0;

    hrun_buf_release(&job.skipped);
    hrun_fit_network_release(&job);
    return rc || !c->n || !c->p ? rc : choose_tasking(c, err);
}

struct hrun_tasking hrun_common_tasking(const struct hrun_common *c)
{
    return c ? c->tasking : (struct hrun_tasking){ 0 };
}

int hrun_common_create(const struct hrun_app *app, const struct hrun_common_data *data,
                       const struct hrun_fit_options *options, struct hrun_common **out, struct hrun_error *err)
{
    const struct hrun_mixed *mixed = data->mixed;
    struct hrun_common *c;
    int nsubs = data->nsubs, known = 0;
    size_t n = mixed->nruns, parts = mixed->nparts, subs = (size_t)nsubs;

    *out = NULL;
    for (int i = 0; i < nsubs; i++)
        parts += data->nrows[i];
    n += parts - mixed->nparts;
    if (!hrun_family_of(app)->has_forms || !app->np.n || !n)
        return 0;
    c = xcalloc(1, sizeof *c);
    *c = (struct hrun_common){ .app = app, .nsubs = nsubs, .nprocs = app->nprocs_per_pe };
    c->options = xcalloc(subs * (size_t)c->nprocs + 1, sizeof *c->options);
    c->most = xcalloc(subs + 1, sizeof *c->most);
    c->points = xcalloc(n, sizeof *c->points);
    c->span = xcalloc(subs * subs + 1, sizeof *c->span);
    c->parts = xcalloc(parts + 1, sizeof *c->parts);
    c->times = xcalloc(parts + 1, sizeof *c->times);
    for (int i = 0; i < nsubs; i++)
        for (size_t k = 0; k < data->nrows[i]; k++)
            add_row_point(c, &data->rows[i][k], i);
    for (size_t k = 0; k < mixed->nruns; k++)
        add_mixed_point(c, mixed, &mixed->runs[k]);
    for (int o = 0; o < nsubs * c->nprocs; o++)
        known += c->options[o].known;
    if (known < 2 || !c->n) {
        hrun_common_destroy(c);
        return 0;
    }
    if (fit_common(c, options, err)) {
        hrun_common_destroy(c);
        return -1;
    }
    *out = c;
    return 0;
}

static void weigh_rows(struct hrun_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i].weight = fmin(1, sqrt(ROWS_MOST / (double)n));
}

/* Append the predicted times of one PE of an option at the sizes of all runs. */
static void add_alone_rows(const struct hrun_common *c, int o, int M, struct hrun_row *out, size_t *count)
{
    autofree int64_t *sizes = xcalloc(c->n, sizeof *sizes);
    size_t first = *count;

    for (size_t i = 0; i < c->n; i++)
        sizes[i] = c->points[i].N;
    qsort(sizes, c->n, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < c->n; i++) {
        int64_t N = sizes[i];
        double T = c->options[o].u, value;

        if (i && N == sizes[i - 1])
            continue;
        for (size_t j = 0; j < c->p; j++)
            if (c->divided[j] && c->k[j] > 0)
                T += hrun_term_eval(c->terms[j], HRUN_TERM_NP, (double)N, M, 0, &value, NULL) ? NAN :
                     c->options[o].w * c->k[j] * value * hrun_app_uneven(c->app, N, M) *
                     hrun_tasking_excess(&c->tasking, M);
        if (isfinite(T) && T > 0)
            out[(*count)++] = (struct hrun_row){ N, M, M, T, "", HRUN_ROW_SHARED_SINGLE, 1, NULL, -1, 1 };
    }
    weigh_rows(out + first, *count - first);
}

void hrun_common_rows(const struct hrun_common *c, int sub, int M, struct hrun_row *out, size_t *count)
{
    int o = c ? option_of(c, sub, M) : -1;
    size_t first;
    double beyond = 0, share;

    if (o < 0 || !c->options[o].known || !c->options[o].known_by)
        return;
    add_alone_rows(c, o, M, out, count);
    first = *count;
    for (int i = 0; i < c->nsubs; i++)
        beyond += i == sub ? 0 : log(c->span[sub * c->nsubs + i]) / (c->nsubs - 1);
    for (size_t i = 0; i < c->n; i++) {
        struct point q = c->points[i];
        double work, rest, T;

        if (q.one_pe || (c->tasking.dynamic ? only_option(c, &q) == o : option_weight(c, &q, o, &share) > 0))
            continue;
        /* More processes than any run on the sub-cluster alone can have need other sub-clusters. */
        if (q.nparts == 1)
            q.span = q.P > c->most[sub] * M ? exp(beyond) : 1;
        work_and_rest(c, i, &work, &rest);
        share = hrun_app_uneven(c->app, q.N, q.P);
        T = option_time(&c->options[o], &q, share * work, rest);
        if (isfinite(T) && T > 0)
            out[(*count)++] = (struct hrun_row){ q.N, q.P, M, T, "", HRUN_ROW_SHARED, 1, q.sample, q.own, share };
    }
    weigh_rows(out + first, *count - first);
}
