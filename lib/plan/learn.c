/* learn.c - choose the configuration to run next; see learn.h */
#include "base/alloc.h"
#include "plan/learn_belief.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SEARCHED particles give BEST_OF_EACH candidates each. Up to EACH_UP_TO, every number of processes is searched. */
enum { SEARCHED = 32, BEST_OF_EACH = 2, CANDIDATES_MAX = 512, EACH_UP_TO = 64 };

/* Assumed number of further runs, in which a trial must pay; the number of runs so far if that is larger. */
static const double HORIZON = 20;
/* The least expected gain for which a trial is made. */
static const double MATTERS = 0.003;

struct learning_state {
    const struct hrun_learn_question *q;
    struct learn_point *points;   /* first the usual configuration, then others with a successful run */
    int *of_run;                  /* the point of each run, -1 if it failed */
    int npoints, nfailed;
    int best;                     /* index of the quickest of `points`; -1: no successful run */
    struct learn_belief *belief;
    struct hrun_config *candidates;
    int ncandidates;
};

/* ---------------------------------------------------------------- runs and their points */

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower median of the last runs of a point, because disturbed runs take longer. */
static double median_of_last(const struct learning_state *s, int point)
{
    enum { LAST = 9 };
    double v[LAST];
    int n = 0;

    for (int i = s->q->nruns - 1; i >= 0 && n < LAST; i--)
        if (s->of_run[i] == point)
            v[n++] = s->q->runs[i].time_s;
    qsort(v, (size_t)n, sizeof *v, compare_times);
    return n ? v[(n - 1) / 2] : 0;
}

/* The index of the point of a configuration, which is added if missing. */
static int find_learn_point(struct learning_state *s, const struct hrun_config *config)
{
    int k = 0;

    while (k < s->npoints && !hrun_config_equal(&s->points[k].config, config))
        k++;
    if (k == s->npoints)
        s->points[s->npoints++] = (struct learn_point) { .config = *config, .P = hrun_config_processes(config) };
    return k;
}

static void sort_runs_by_point(struct learning_state *s)
{
    const struct hrun_learn_question *q = s->q;

    find_learn_point(s, &q->config);
    for (int i = 0; i < q->nruns; i++) {
        int ok = q->runs[i].time_s > 0;

        s->nfailed += !ok;
        s->of_run[i] = ok ? find_learn_point(s, &q->runs[i].config) : -1;
        if (ok)
            s->points[s->of_run[i]].runs++;
    }
    for (int k = 0; k < s->npoints; k++) {
        s->points[k].log_s = log(median_of_last(s, k));
        if (s->points[k].runs && (s->best < 0 || s->points[k].log_s < s->points[s->best].log_s))
            s->best = k;
    }
}

/* The balance of the account (learn.h). Medians exclude the scatter of the usual configuration and disturbed runs of a
 * better one. */
static double learning_account(const struct learning_state *s, double usual_s)
{
    double sum = 0;

    for (int i = 0; i < s->q->nruns; i++) {
        sum += s->q->loss * usual_s;
        if (s->q->runs[i].learnt)
            sum -= s->of_run[i] < 0 ? usual_s : exp(s->points[s->of_run[i]].log_s) - usual_s;
    }
    return sum;
}

static int compare_point_times(const void *a, const void *b)
{
    const struct learn_point *x = a, *y = b;

    return (x->log_s > y->log_s) - (x->log_s < y->log_s);
}

/* ---------------------------------------------------------------- candidates */

/* 0 if a run with P processes succeeded. 1 if P is not accepted, or a run with it failed. Also 1 if P is no power of
 * two, several numbers failed, and runs succeeded exactly with powers of two. Else 0. */
static int is_refused_count(const struct learning_state *s, int P)
{
    int failed = 0, first = 0, several = 0, powers = 1;

    for (int i = 0; i < s->q->nruns && s->nfailed; i++) {
        const struct hrun_learn_run *r = &s->q->runs[i];
        int Pr = hrun_config_processes(&r->config), works = r->time_s > 0;

        if (works && Pr == P)
            return 0;
        powers &= works == !(Pr & (Pr - 1));
        if (works)
            continue;
        failed |= Pr == P;
        several |= first && first != Pr;
        first = Pr;
    }
    if (s->q->accepts && !s->q->accepts(s->q->ctx, P))
        return 1;
    return failed || (powers && several && (P & (P - 1)));
}

static void add_candidate(struct learning_state *s, const struct hrun_config *config)
{
    int P = hrun_config_processes(config);

    if (P < 1 || s->ncandidates == CANDIDATES_MAX || is_refused_count(s, P))
        return;
    for (int i = 0; i < config->nsubs; i++)
        if (config->pes[i] > s->q->subs[i].npes)
            return;
    for (int k = 0; k < s->ncandidates; k++)
        if (hrun_config_equal(config, &s->candidates[k]))
            return;
    s->candidates[s->ncandidates++] = *config;
}

/* Add candidates: for each set of sub-clusters all PEs, a half, a quarter and one, with each allowed number of
 * processes on a PE, and with one process per core. */
static void add_regular_candidates(struct learning_state *s)
{
    const struct hrun_learn_question *q = s->q;
    struct hrun_config c = { .nsubs = q->nsubs };
    int most = 1, sets = 1 << (q->nsubs < 4 ? q->nsubs : 4);

    for (int i = 0; i < q->nsubs; i++)
        most = q->subs[i].nprocs > most ? q->subs[i].nprocs : most;
    for (int turn = 0; turn < 4 * (most + 1); turn++)
        for (int set = 1; set < sets; set++) {
            int part = turn / (most + 1), n = turn % (most + 1);

            for (int i = 0; i < q->nsubs; i++) {
                const struct hrun_learn_sub *sub = &q->subs[i];
                int used = (set >> i % 4 & 1) && sub->npes && sub->nprocs;

                c.pes[i] = !used ? 0 : part == 3 || sub->npes >> part < 1 ? 1 : sub->npes >> part;
                c.procs[i] = !used ? 0 : n == most ? sub->cores : sub->procs[n < sub->nprocs ? n : sub->nprocs - 1];
            }
            add_candidate(s, &c);
        }
}

/* Add the candidates that differ from x on one sub-cluster: by one PE, without PEs, or in processes per PE. */
static void add_neighbours(struct learning_state *s, const struct learn_point *x)
{
    const struct hrun_learn_question *q = s->q;

    for (int i = 0; i < q->nsubs; i++)
        for (int k = -3; k < q->subs[i].nprocs; k++) {
            struct hrun_config c = x->config;

            if (k >= 0) {
                c.procs[i] = q->subs[i].procs[k];
                c.pes[i] = c.pes[i] ? c.pes[i] : q->subs[i].npes;
            } else {
                c.pes[i] = k == -3 ? 0 : c.pes[i] + 2 * k + 3;
            }
            if (c.pes[i] < 1 || !c.procs[i])
                c.pes[i] = c.procs[i] = 0;
            add_candidate(s, &c);
        }
}

/* ---------------------------------------------------------------- the best of a particle */

struct particle_model {
    const struct learning_state *s;
    int particle;
    const struct hrun_option *options;
    int noptions;
};

static int particle_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct particle_model *a = ctx;

    (void)err;
    for (int o = 0; o < a->noptions; o++)
        t[o] = a->options[o].m > P ? NAN
               : learn_option_time(a->s->belief, a->particle, a->options[o].sub, a->options[o].m, P);
    return 0;
}

/* A rule that accepts only every second, third, ... number of processes above EACH_UP_TO, so that a decision takes much
 * less than a second. */
static int accepts_searched(void *ctx, int P, struct hrun_error *err)
{
    const struct particle_model *a = ctx;

    (void)err;
    return P % (1 + P / EACH_UP_TO) == 0 && !is_refused_count(a->s, P);
}

static int add_best_of(struct learning_state *s, struct particle_model *a, const struct hrun_plan_sub *subs,
                       struct hrun_error *err)
{
    struct hrun_oracle oracle = { .ctx = a, .nsubs = s->q->nsubs, .noptions = a->noptions, .options = a->options,
                                  .times = particle_times, .rule = accepts_searched };
    struct hrun_plan_problem problem = { .oracle = &oracle, .subs = subs };
    struct hrun_error why = { 0 };
    struct hrun_plan *plan;

    if (!learn_is_separable(s->belief, a->particle))
        return 0;
    if (hrun_plan_search(&problem, BEST_OF_EACH, &plan, &why))
        return why.code == HRUN_EINFEASIBLE ? 0 : hrun_fail_as(err, &why);
    for (int i = 0; i < plan->n; i++)
        add_candidate(s, &plan->v[i].config);
    hrun_plan_destroy(plan);
    return 0;
}

static int add_bests(struct learning_state *s, struct hrun_error *err)
{
    const struct hrun_learn_question *q = s->q;
    struct hrun_plan_sub subs[HRUN_LEARN_SUBS] = { { 0 } };
    autofree struct hrun_option *options = NULL;
    int n = 0;

    for (int i = 0; i < q->nsubs; i++)
        n += q->subs[i].nprocs;
    options = xcalloc((size_t)n + 1, sizeof *options);
    n = 0;
    for (int i = 0; i < q->nsubs; i++) {
        subs[i].npes = q->subs[i].npes;
        for (int k = 0; k < q->subs[i].nprocs; k++)
            options[n++] = (struct hrun_option) { i, q->subs[i].procs[k] };
    }
    for (int k = 0; k < SEARCHED; k++) {
        struct particle_model a = { s, k * (LEARN_PARTICLES / SEARCHED), options, n };

        if (add_best_of(s, &a, subs, err))
            return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------- the choice of a trial */

/* Find the candidate whose trial pays most, or NULL. Sets out->why, and the prediction of a trial. */
static const struct hrun_config *find_paying_trial(const struct learning_state *s, struct hrun_learn_answer *out)
{
    double horizon = fmax(HORIZON, s->q->nruns), most = 0;
    const struct hrun_config *chosen = NULL;

    out->why = HRUN_LEARN_DONE;
    for (int k = 0; k < s->ncandidates; k++) {
        const struct hrun_config *c = &s->candidates[k];
        struct learn_point x = { .config = *c, .P = hrun_config_processes(c) };
        struct learn_outlook o;
        double pays;

        if (hrun_config_equal(c, &s->points[s->best].config))
            continue;
        learn_predict(s->belief, &x, out->best_s, &o);
        pays = horizon * o.gain - fmax(o.expected - 1, 0);
        if (o.gain < MATTERS || pays <= 0)
            continue;
        if (out->why == HRUN_LEARN_DONE)
            out->why = HRUN_LEARN_SAVES;
        if (pays <= most || (o.expected - 1) * out->best_s > out->account_s)
            continue;
        most = pays;
        chosen = c;
        out->why = HRUN_LEARN_TRIES;
        out->expected_s = exp(o.mean);
        out->low_s = exp(o.mean - 1.96 * o.sd);
        out->high_s = exp(o.mean + 1.96 * o.sd);
    }
    return chosen;
}

/* Set out->config to the candidate whose trial pays most, if any. */
static int find_trial(struct learning_state *s, struct hrun_learn_answer *out, struct hrun_error *err)
{
    const struct hrun_learn_question *q = s->q;
    int n = s->npoints < LEARN_POINTS ? s->npoints : LEARN_POINTS;
    const struct hrun_config *c;

    /* The belief is computed for the usual configuration and the quickest ones. */
    qsort(s->points + 1, (size_t)s->npoints - 1, sizeof *s->points, compare_point_times);
    s->best = s->best > 0;
    s->belief = learn_belief_create(q->subs, q->nsubs, s->points, n);
    s->candidates = xcalloc(CANDIDATES_MAX, sizeof *s->candidates);
    if (add_bests(s, err))
        return -1;
    add_regular_candidates(s);
    for (int i = 0; i < n; i++)
        add_neighbours(s, &s->points[i]);
    c = find_paying_trial(s, out);
    if (c)
        out->config = *c;
    return 0;
}

static int fill_answer(struct learning_state *s, struct hrun_learn_answer *out, struct hrun_error *err)
{
    const struct learn_point *usual = &s->points[0], *best = s->best < 0 ? usual : &s->points[s->best];

    out->best = -1;
    for (int i = 0; s->best >= 0 && i < s->q->nruns; i++)
        if (s->of_run[i] == s->best)
            out->best = i;
    out->best_runs = best->runs;
    out->best_s = best->runs ? exp(best->log_s) : 0;
    out->usual_s = usual->runs ? exp(usual->log_s) : 0;
    out->account_s = learning_account(s, out->usual_s);
    out->why = usual->runs < 2 ? HRUN_LEARN_USUAL : HRUN_LEARN_DEBT;
    if (usual->runs < 2)
        best = usual;
    out->config = best->config;
    return usual->runs < 2 || out->account_s < 0 ? 0 : find_trial(s, out, err);
}

static void release_learning(struct learning_state *s)
{
    free(s->belief);
    free(s->candidates);
    free(s->points);
    free(s->of_run);
}

int hrun_learn_next(const struct hrun_learn_question *q, struct hrun_learn_answer *out, struct hrun_error *err)
{
    autorelease(release_learning) struct learning_state s = { .q = q, .best = -1 };
    struct hrun_learn_answer a = { 0 };

    if (q->nsubs > HRUN_LEARN_SUBS)
        return hrun_fail(err, HRUN_EINVAL, "%d sub-clusters: --explore knows at most %d", q->nsubs, HRUN_LEARN_SUBS);
    s.points = xcalloc((size_t)q->nruns + 1, sizeof *s.points);
    s.of_run = xcalloc((size_t)q->nruns + 1, sizeof *s.of_run);
    sort_runs_by_point(&s);
    if (fill_answer(&s, &a, err))
        return -1;
    *out = a;
    return 0;
}
