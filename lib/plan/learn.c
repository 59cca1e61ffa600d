/* learn.c - which configuration to run next; see learn.h */
#include "base/alloc.h"
#include "plan/learn_belief.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Particles that each say what would be the best if they were right. */
enum { ASKED = 32, BEST_OF_EACH = 2, CANDIDATES_MAX = 512, EACH_UP_TO = 64 };

/* A trial must pay within this many more runs, or as many as there have been: how many follow is not known. */
static const double HORIZON = 20;
/* An expected gain below is not worth a trial. */
static const double MATTERS = 0.003;

struct state {
    const struct hrun_learn_question *q;
    struct learn_point *points;   /* the usual configuration, and others that were run well */
    int *of_run;                  /* of each run its point, -1: it failed */
    int npoints, nfailed, best;
    struct learn_belief *belief;
    struct hrun_config *candidates;
    int ncandidates;
};

/* ---------------------------------------------------------------- what was run */

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower median of the last runs of a point: a disturbed run takes longer. */
static double median_of_last(const struct state *s, int point)
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

static void add_learn_point(struct state *s, const struct hrun_config *config)
{
    s->points[s->npoints++] = (struct learn_point) { .config = *config, .P = hrun_config_processes(config) };
}

static void sort_runs_by_point(struct state *s)
{
    const struct hrun_learn_question *q = s->q;

    add_learn_point(s, &q->config);
    for (int i = 0; i < q->nruns; i++) {
        const struct hrun_learn_run *r = &q->runs[i];
        int k = 0;

        s->of_run[i] = -1;
        if (!(r->time_s > 0)) {
            s->nfailed++;
            continue;
        }
        while (k < s->npoints && !hrun_config_equal(&s->points[k].config, &r->config))
            k++;
        if (k == s->npoints)
            add_learn_point(s, &r->config);
        s->points[k].runs++;
        s->of_run[i] = k;
    }
    for (int k = 0; k < s->npoints; k++) {
        s->points[k].log_s = log(median_of_last(s, k));
        if (s->points[k].runs && (s->best < 0 || s->points[k].log_s < s->points[s->best].log_s))
            s->best = k;
    }
}

/* What learning lost or won is told by medians: neither does the usual configuration's own scatter lose anything, nor
 * one disturbed run of what is better. */
static double account(const struct state *s, double usual_s)
{
    double sum = 0;

    for (int i = 0; i < s->q->nruns; i++) {
        sum += s->q->loss * usual_s;
        if (s->q->runs[i].learnt)
            sum -= s->of_run[i] < 0 ? usual_s : exp(s->points[s->of_run[i]].log_s) - usual_s;
    }
    return sum;
}

/* Configurations that a belief is computed for: the usual one, and the quickest. */
static int compare_point_times(const void *a, const void *b)
{
    const struct learn_point *x = a, *y = b;

    return (x->log_s > y->log_s) - (x->log_s < y->log_s);
}

/* ---------------------------------------------------------------- what may be run */

static int is_power_of_two(int P)
{
    return !(P & (P - 1));
}

/* Is the number not accepted, or did runs with it fail, and none work? Where two counts failed, and all that worked are
 * powers of two, others are refused, too. */
static int is_refused_count(const struct state *s, int P)
{
    int failed = 0, first = 0, several = 0, powers = 1;

    for (int i = 0; i < s->q->nruns && s->nfailed; i++) {
        const struct hrun_learn_run *r = &s->q->runs[i];
        int Pr = hrun_config_processes(&r->config);

        if (r->time_s > 0) {
            if (Pr == P)
                return 0;
            powers &= is_power_of_two(Pr);
        } else {
            failed |= Pr == P;
            powers &= !is_power_of_two(Pr);
            several |= first && first != Pr;
            first = Pr;
        }
    }
    if (s->q->accepts && !s->q->accepts(s->q->ctx, P))
        return 1;
    return failed || (powers && several && !is_power_of_two(P));
}

static void add_candidate(struct state *s, const struct hrun_config *config)
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

/* Of each set of kinds all PEs, a half, a quarter and one, with the n-th number of processes that a PE may hold, or as
 * many as it has cores. */
static void add_wholes(struct state *s)
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

/* One PE more or less of a kind, none of it, or another number of processes on each. */
static void add_neighbours(struct state *s, const struct learn_point *x)
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

struct asked {
    const struct state *s;
    int particle;
    const struct hrun_option *options;
    int noptions;
};

static int particle_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct asked *a = ctx;

    (void)err;
    for (int o = 0; o < a->noptions; o++)
        t[o] = a->options[o].m > P ? NAN
               : learn_option_time(a->s->belief, a->particle, a->options[o].sub, a->options[o].m, P);
    return 0;
}

/* Beyond EACH_UP_TO processes each second, third, ... number is searched: a decision is to take no time that a run of a
 * second would notice. */
static int accepts_searched(void *ctx, int P, struct hrun_error *err)
{
    const struct asked *a = ctx;

    (void)err;
    return P % (1 + P / EACH_UP_TO) == 0 && !is_refused_count(a->s, P);
}

static int add_best_of(struct state *s, struct asked *a, const struct hrun_plan_sub *subs, struct hrun_error *err)
{
    struct hrun_oracle oracle = { .ctx = a, .nsubs = s->q->nsubs, .noptions = a->noptions, .options = a->options,
                                  .times = particle_times, .rule = accepts_searched };
    struct hrun_plan_problem problem = { .oracle = &oracle, .subs = subs };
    struct hrun_error why = { 0 };
    struct hrun_plan *plan;

    if (!learn_is_separable(s->belief, a->particle))
        return 0;
    if (hrun_plan_search(&problem, BEST_OF_EACH, &plan, &why)) {
        if (why.code == HRUN_EINFEASIBLE)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    for (int i = 0; i < plan->n; i++)
        add_candidate(s, &plan->v[i].config);
    hrun_plan_destroy(plan);
    return 0;
}

static int add_bests(struct state *s, struct hrun_error *err)
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
    for (int k = 0; k < ASKED; k++) {
        struct asked a = { s, k * (LEARN_PARTICLES / ASKED), options, n };

        if (add_best_of(s, &a, subs, err))
            return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------- which one */

/* The candidate whose trial pays most, or NULL; and why. */
static const struct hrun_config *choose_trial(const struct state *s, struct hrun_learn_answer *out)
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

/* Look for a trial. */
static int find_trial(struct state *s, struct hrun_learn_answer *out, struct hrun_error *err)
{
    const struct hrun_learn_question *q = s->q;
    struct learn_point points[LEARN_POINTS], best = s->points[s->best];
    int n = s->npoints < LEARN_POINTS ? s->npoints : LEARN_POINTS;
    const struct hrun_config *c;

    qsort(s->points + 1, (size_t)s->npoints - 1, sizeof *s->points, compare_point_times);
    memcpy(points, s->points, (size_t)n * sizeof *points);
    s->belief = learn_belief_create(q->subs, q->nsubs, points, n);
    s->candidates = xcalloc(CANDIDATES_MAX, sizeof *s->candidates);
    if (add_bests(s, err))
        return -1;
    s->best = hrun_config_equal(&best.config, &s->points[0].config) ? 0 : 1;
    add_wholes(s);
    for (int i = 0; i < n; i++)
        add_neighbours(s, &points[i]);
    c = choose_trial(s, out);
    if (c)
        out->config = *c;
    return 0;
}

static int fill_answer(struct state *s, struct hrun_learn_answer *out, struct hrun_error *err)
{
    const struct learn_point *usual = &s->points[0], *best = s->best < 0 ? usual : &s->points[s->best];

    out->best = -1;
    for (int i = 0; s->best >= 0 && i < s->q->nruns; i++)
        if (s->of_run[i] == s->best)
            out->best = i;
    out->best_runs = best->runs;
    out->best_s = best->runs ? exp(best->log_s) : 0;
    out->usual_s = usual->runs ? exp(usual->log_s) : 0;
    out->account_s = account(s, out->usual_s);
    out->why = usual->runs < 2 ? HRUN_LEARN_USUAL : HRUN_LEARN_DEBT;
    if (usual->runs < 2)
        best = usual;
    out->config = best->config;
    return usual->runs < 2 || out->account_s < 0 ? 0 : find_trial(s, out, err);
}

static int check_learn_question(const struct hrun_learn_question *q, struct hrun_error *err)
{
    if (q->nsubs < 1 || q->nsubs > HRUN_LEARN_SUBS)
        return hrun_fail(err, HRUN_EINVAL, "%d sub-clusters: --explore knows at most %d", q->nsubs, HRUN_LEARN_SUBS);
    for (int i = 0; i < q->nsubs; i++)
        if (!(isfinite(q->subs[i].speed) && q->subs[i].speed > 0) || q->subs[i].cores < 1)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has a speed of %g and %d cores", i + 1,
                             q->subs[i].speed, q->subs[i].cores);
    return hrun_config_processes(&q->config) > 0 ? 0
           : hrun_fail(err, HRUN_EINVAL, "the usual configuration has no process");
}

int hrun_learn_next(const struct hrun_learn_question *q, struct hrun_learn_answer *out, struct hrun_error *err)
{
    struct state s = { .q = q, .best = -1 };
    struct hrun_learn_answer a = { 0 };
    int rc;

    if (check_learn_question(q, err))
        return -1;
    s.points = xcalloc((size_t)q->nruns + 1, sizeof *s.points);
    s.of_run = xcalloc((size_t)q->nruns + 1, sizeof *s.of_run);
    sort_runs_by_point(&s);
    rc = fill_answer(&s, &a, err);
    learn_belief_destroy(s.belief);
    free(s.candidates);
    free(s.points);
    free(s.of_run);
    if (!rc)
        *out = a;
    return rc;
}
