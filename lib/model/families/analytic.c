/* analytic.c - the family analytic: times by a formula in the speeds of the PEs and the network; see internal.h */
#include "base/alloc.h"
#include "model/internal.h"
#include "model/speeds.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the value of a formula */

/* One evaluation: a row of variables for each rank, and the sum of the shares of earlier ranks. */
struct rows {
    const struct hrun_formula *f;
    const struct hrun_formula_ranks *ranks;
    int width;                  /* of a row */
    double *v;                  /* P rows */
    double *before;             /* P + 1 */
};

static double *row_of(const struct rows *r, int rank)
{
    return r->v + (size_t)rank * (size_t)r->width;
}

static double upto(const struct rows *r, double x)
{
    int P = r->ranks->P, at;

    if (!(x > 0))
        return 0;
    if (x >= P)
        return r->before[P];
    at = (int)x;
    return r->before[at] + (x - at) * (r->before[at + 1] - r->before[at]);
}

static double every(const struct rows *r, int rank, double k)
{
    double sum = 0;

    if (k >= r->ranks->P)
        return r->ranks->share[rank];
    for (int i = rank % (int)k; i < r->ranks->P; i += (int)k)
        sum += r->ranks->share[i];
    return sum;
}

/* Set *out to the value of call c: for total() the sum of its argument over all ranks, for most() the maximum, for
 * before() the sum over the ranks before `end`. */
static int aggregate_argument(const struct rows *r, struct hrun_expr *e, int c, int end, double *out,
                              struct hrun_error *err)
{
    int own = hrun_expr_call_function(e, c) - hrun_app_nfunctions;
    int n = own == HRUN_FORMULA_BEFORE ? end : r->ranks->P;
    double sum = 0, max = -INFINITY, x;

    for (int rank = 0; rank < n; rank++) {
        if (hrun_expr_eval_argument(e, c, row_of(r, rank), &x, err))
            return -1;
        sum += x;
        max = fmax(max, x);
    }
    *out = own == HRUN_FORMULA_MOST ? max : sum;
    return 0;
}

/* Set *out to the value of call c for one rank. */
static int call(const struct rows *r, struct hrun_expr *e, int c, int rank, double *out, struct hrun_error *err)
{
    int which = hrun_expr_call_function(e, c), own = which - hrun_app_nfunctions;
    double x;

    if (own == HRUN_FORMULA_TOTAL || own == HRUN_FORMULA_MOST || own == HRUN_FORMULA_BEFORE)
        return aggregate_argument(r, e, c, rank, out, err);
    if (hrun_expr_eval_argument(e, c, row_of(r, rank), &x, err))
        return -1;
    *out = 0;
    switch (own) {
    case HRUN_FORMULA_UPTO:
        *out = upto(r, x);
        return 0;
    case HRUN_FORMULA_EVERY:
        if (!(x >= 1 && x == floor(x)))
            return hrun_fail(err, HRUN_ENONFINITE, "'every' takes a whole number from 1 on, not %.10g", x);
        *out = every(r, rank, x);
        return 0;
    default:
        if (!(x >= 0))
            return hrun_fail(err, HRUN_ENONFINITE, "'%s' is called with %g bytes; bytes must be at least 0",
                             hrun_app_functions[which].name, x);
        return r->ranks->network ? r->ranks->network(r->ranks->ctx, which, x, out, err) : 0;
    }
}

/* 1 if the value of a call is the same for all ranks, else 0. */
static int call_is_common(const struct hrun_formula_step *s, int c)
{
    int own = hrun_expr_call_function(s->expr, c) - hrun_app_nfunctions;

    return !s->varies || own == HRUN_FORMULA_TOTAL || own == HRUN_FORMULA_MOST;
}

/* Set column HRUN_FORMULA_VARIABLES + k to step k for all ranks. */
static int evaluate_step(const struct rows *r, int k, struct hrun_error *err)
{
    const struct hrun_formula_step *s = &r->f->steps[k];
    int calls = hrun_expr_calls(s->expr), last = s->varies ? r->ranks->P : 1;
    double called[HRUN_EXPR_CALLS_MAX], value = 0;

    for (int rank = 0; rank < last; rank++) {
        for (int c = 0; c < calls; c++)
            if ((rank == 0 || !call_is_common(s, c)) && call(r, s->expr, c, rank, &called[c], err))
                return -1;
        if (hrun_expr_eval_called(s->expr, row_of(r, rank), called, &value, err))
            return -1;
        row_of(r, rank)[HRUN_FORMULA_VARIABLES + k] = value;
    }
    for (int rank = last; rank < r->ranks->P; rank++)
        row_of(r, rank)[HRUN_FORMULA_VARIABLES + k] = value;
    return 0;
}

static void fill_variables(const struct rows *r, double N)
{
    for (int rank = 0; rank < r->ranks->P; rank++) {
        double *v = row_of(r, rank);

        v[HRUN_FORMULA_N] = N;
        v[HRUN_FORMULA_P] = r->ranks->P;
        v[HRUN_FORMULA_SHARE] = r->ranks->share[rank];
        v[HRUN_FORMULA_PERF] = r->ranks->perf[rank];
        v[HRUN_FORMULA_LATENCY] = r->ranks->latency_s;
        v[HRUN_FORMULA_BANDWIDTH] = r->ranks->bandwidth_bytes_per_s;
        v[HRUN_FORMULA_ROOT] = rank == 0;
        v[HRUN_FORMULA_RANK] = rank;
        r->before[rank] = rank ? r->before[rank - 1] + r->ranks->share[rank - 1] : 0;
    }
    r->before[r->ranks->P] = 1;
}

int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err)
{
    struct rows r = { f, ranks, HRUN_FORMULA_VARIABLES + f->n, room, NULL };

    r.before = room + (size_t)ranks->P * (size_t)r.width;
    fill_variables(&r, N);
    for (int k = 0; k < f->n; k++)
        if (evaluate_step(&r, k, err))
            return hrun_fail_prefix(err, "%s%s at N=%.0f, P=%d", f->steps[k].name ? "where " : "formula",
                                    f->steps[k].name ? f->steps[k].name : "", N, ranks->P);
    for (int rank = 0; rank < ranks->P; rank++)
        time_s[rank] = row_of(&r, rank)[r.width - 1];
    return 0;
}

/* ------------------------------------------------------------------ the predictor */

/* The bandwidth is that between messages of 1 and 2 MiB, far beyond the sizes at which protocols change. */
static const double LARGE_BYTES = 1 << 20;
/* 95 % of a normal distribution lie within this many standard deviations. */
static const double NORMAL_95 = 1.959963984540054;

struct analytic {
    struct hrun_predictor base;
    double *perf, *deviation;   /* of each option: s per operation, and its standard deviation, relative */
    struct hrun_netview *net;   /* NULL: none, or its sub-clusters differ from the predictor's */
    int cap;                    /* ranks that the arrays have room for */
    double *share, *rank_perf, *time, *room;
    double *least;              /* nleast: lower bound at each P; 0: not computed yet */
    int nleast;
};

/* The context of the network's functions. */
struct where {
    struct hrun_netview *net;
    const struct hrun_config *config;
};

static int network_time(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err)
{
    const struct where *w = ctx;
    int op = hrun_net_op_find(hrun_app_functions[function].name);

    return hrun_netview_time(w->net, (enum hrun_net_op)op, bytes, w->config, time_s, err);
}

static void analytic_make_room(struct analytic *a, int P)
{
    size_t width = HRUN_FORMULA_VARIABLES + (size_t)a->base.app->law.formula->n + 1;
    double *room;

    if (P <= a->cap)
        return;
    room = xcalloc(((size_t)P + 1) * (width + 3), sizeof *room);
    free(a->share);
    a->share = room;
    a->rank_perf = room + P;
    a->time = a->rank_perf + P;
    a->room = a->time + P;
    a->cap = P;
}

/* Set latency and bandwidth if the formula uses them. */
static int find_rates(const struct analytic *a, struct where *w, struct hrun_formula_ranks *r, struct hrun_error *err)
{
    double once, twice;

    r->bandwidth_bytes_per_s = DBL_MAX;
    if (!a->base.app->law.formula->has_rate || r->P < 2)
        return 0;
    if (hrun_netview_time(w->net, HRUN_NET_P2P, 0, w->config, &r->latency_s, err) ||
        hrun_netview_time(w->net, HRUN_NET_P2P, LARGE_BYTES, w->config, &once, err) ||
        hrun_netview_time(w->net, HRUN_NET_P2P, 2 * LARGE_BYTES, w->config, &twice, err))
        return -1;
    if (twice > once)
        r->bandwidth_bytes_per_s = LARGE_BYTES / (twice - once);
    return 0;
}

static int prefix(const struct analytic *a, struct hrun_error *err)
{
    return hrun_fail_prefix(err, "%s", a->base.app->name);
}

/* Set a->time to the times of all ranks, ordered by sub-cluster. deviations: change of perf in standard deviations. */
static int analytic_evaluate(struct analytic *a, const struct hrun_config *config, int P, double deviations,
                             struct hrun_error *err)
{
    struct where w = { a->net, config };
    struct hrun_formula_ranks ranks = { .P = P, .network = a->net ? network_time : NULL, .ctx = &w };
    double speeds = 0;
    int at = 0;

    analytic_make_room(a, P);
    for (int i = 0; i < a->base.oracle.nsubs; i++) {
        int o = config->pes[i] ? hrun_predictor_find(&a->base, i, config->procs[i]) : -1;

        if (config->pes[i] && o < 0)
            return hrun_fail(err, HRUN_ENODATA, "the speed of sub-cluster %d with %d processes on a PE is not known",
                             i + 1, config->procs[i]);
        for (int k = 0; k < config->pes[i] * config->procs[i]; k++, at++) {
            a->rank_perf[at] = a->perf[o] * fmax(1 + deviations * a->deviation[o], 0);
            a->share[at] = 1 / a->perf[o];   /* by the fitted speeds, without deviations */
            speeds += a->share[at];
        }
    }
    for (int r = 0; r < P; r++)
        a->share[r] /= speeds;
    ranks.share = a->share;
    ranks.perf = a->rank_perf;
    if (find_rates(a, &w, &ranks, err))
        return -1;
    if (!hrun_formula_eval(a->base.app->law.formula, (double)a->base.N, &ranks, a->room, a->time, err))
        return 0;
    return prefix(a, err);
}

/* ------------------------------------------------------------------ the lower bound */

/* Set *least to the time of P processes with equal shares on PEs of the quickest kind, with messages of no time. */
static int ideal(struct analytic *a, int P, double *least, struct hrun_error *err)
{
    struct hrun_formula_ranks ranks = { .P = P, .bandwidth_bytes_per_s = DBL_MAX };
    double quickest = INFINITY, most = 0;

    analytic_make_room(a, P);
    for (int o = 0; o < a->base.noptions; o++)
        quickest = fmin(quickest, a->perf[o]);
    for (int r = 0; r < P; r++) {
        a->share[r] = 1.0 / P;
        a->rank_perf[r] = quickest;
    }
    ranks.share = a->share;
    ranks.perf = a->rank_perf;
    if (hrun_formula_eval(a->base.app->law.formula, (double)a->base.N, &ranks, a->room, a->time, err))
        return prefix(a, err);
    for (int r = 0; r < P; r++)
        most = fmax(most, a->time[r]);
    *least = fmax(most, DBL_MIN);
    return 0;
}

static int least_at(struct analytic *a, int P, double *least, struct hrun_error *err)
{
    if (P >= a->nleast) {
        int n = 2 * P + 64;

        a->least = xrealloc(a->least, (size_t)n * sizeof *a->least);
        memset(a->least + a->nleast, 0, (size_t)(n - a->nleast) * sizeof *a->least);
        a->nleast = n;
    }
    if (!a->least[P] && ideal(a, P, &a->least[P], err)) {
        a->least[P] = 0;
        return -1;
    }
    *least = a->least[P];
    return 0;
}

static int analytic_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct analytic *a = ctx;
    double least;

    if (least_at(a, P, &least, err))
        return -1;
    for (int o = 0; o < a->base.noptions; o++)
        t[o] = a->base.options[o].m <= P ? least : NAN;
    return 0;
}

/* The longest time of the ranks of a sub-cluster, at least the bound `least`. */
static double longest(const struct analytic *a, const struct hrun_config *config, int sub, double least)
{
    double most = least;
    int at = 0;

    for (int i = 0; i < sub; i++)
        at += config->pes[i] * config->procs[i];
    for (int r = at; r < at + config->pes[sub] * config->procs[sub]; r++)
        most = fmax(most, a->time[r]);
    return most;
}

/* ------------------------------------------------------------------ the predictor's functions */

static int analytic_time_in(struct hrun_predictor *p, int sub, const struct hrun_config *config, int P,
                            struct hrun_interval *time, struct hrun_error *err)
{
    struct analytic *a = (struct analytic *)p;
    double least, t[3];

    if (least_at(a, P, &least, err))
        return -1;
    for (int i = 0; i < 3; i++) {
        if (analytic_evaluate(a, config, P, (i - 1) * NORMAL_95, err))
            return -1;
        t[i] = longest(a, config, sub, i ? least : 0);
    }
    *time = (struct hrun_interval){ t[1], fmin(t[0], t[1]), fmax(t[2], t[1]) };
    return 0;
}

/* Formulas have no measured range and are valid everywhere. */
static int analytic_measured(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    (void)P;
    if (hrun_predictor_find(p, sub, m) < 0)
        return -1;
    sizes[0] = counts[0] = 1;
    sizes[1] = counts[1] = INT64_MAX;
    return 0;
}

static int analytic_options(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                            double *t, struct hrun_error *err)
{
    struct analytic *a = (struct analytic *)p;
    double least;

    (void)share;
    for (int o = 0; o < a->base.noptions; o++)
        t[o] = NAN;
    for (int i = 0; i < a->base.oracle.nsubs; i++)
        if (config->pes[i] && hrun_predictor_find(&a->base, i, config->procs[i]) < 0)
            return 0;
    if (least_at(a, P, &least, err) || analytic_evaluate(a, config, P, 0, err))
        return -1;
    for (int o = 0; o < a->base.noptions; o++)
        if (config->pes[a->base.options[o].sub] && config->procs[a->base.options[o].sub] == a->base.options[o].m)
            t[o] = longest(a, config, a->base.options[o].sub, least);
    return 0;
}

/* Set share to speeds relative to the slowest sub-cluster used. */
static int analytic_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                           struct hrun_error *err)
{
    const struct analytic *a = (const struct analytic *)p;
    double slowest = 0;

    for (int i = 0; i < a->base.oracle.nsubs; i++) {
        int o = config->pes[i] ? hrun_predictor_find(&a->base, i, config->procs[i]) : -1;

        if (config->pes[i] && o < 0)
            return hrun_fail(err, HRUN_ENODATA, "the speed of sub-cluster %d with %d processes on a PE is not known",
                             i + 1, config->procs[i]);
        share[i] = o < 0 ? 0 : a->perf[o];
        slowest = fmax(slowest, share[i]);
    }
    for (int i = 0; i < a->base.oracle.nsubs; i++)
        share[i] = share[i] > 0 ? slowest / share[i] : 0;
    return 0;
}

static void analytic_release(struct hrun_predictor *p)
{
    struct analytic *a = (struct analytic *)p;

    free(a->perf);
    free(a->deviation);
    free(a->share);
    free(a->least);
}

static int bind_speed(struct hrun_predictor *p, int o, const struct hrun_models *m, struct hrun_error *err)
{
    struct analytic *a = (struct analytic *)p;
    const struct hrun_fit_record *r = hrun_perf_find(m, p->options[o].m);

    (void)err;
    if (!r)
        return 0;
    a->perf[o] = r->k[0];
    a->deviation[o] = sqrt(fmax(r->s2 * r->cov[0], 0)) / r->k[0];
    return 1;
}

static int analytic_init(struct hrun_predictor *p, enum hrun_model_form form, struct hrun_error *err)
{
    struct analytic *a = (struct analytic *)p;

    (void)form;
    p->has_network = p->app->law.formula->has_network;
    p->is_whole = p->deals = 1;
    a->net = p->same_subs ? p->net : NULL;
    a->perf = xcalloc((size_t)p->most + 1, sizeof *a->perf);
    a->deviation = xcalloc((size_t)p->most + 1, sizeof *a->deviation);
    if (hrun_predictor_bind(p, bind_speed, err))
        return -1;
    if (!p->noptions)
        return hrun_fail(err, HRUN_ENODATA, "%s needs the speeds of the PEs, which were not measured: hrun-calibrate "
                         "speeds measures them", p->app->name);
    if (!a->net && p->has_network)
        return hrun_fail(err, HRUN_ENODATA, "the formula of %s asks for the network of these hosts, which was not "
                         "measured: hrun-calibrate network measures it", p->app->name);
    p->oracle.times = analytic_times;
    p->oracle.bounds = hrun_predictor_bounds;
    p->oracle.whole = hrun_predictor_whole;
    return 0;
}

static const struct hrun_predictor_kind kind = {
    .size = sizeof(struct analytic), .init = analytic_init, .release = analytic_release, .time_in = analytic_time_in,
    .measured = analytic_measured, .options = analytic_options, .shares = analytic_shares,
};

const struct hrun_family hrun_family_analytic = {
    .name = "formula over the speeds of PEs", .by_formula = 1, .predictor = &kind,
};
