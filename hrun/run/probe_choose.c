/* probe_choose.c - find the fastest configuration by the measured speeds, and test it; see probe.h */
#include "probe.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of configurations that are tried, each with fewer processes than the one before. */
enum { TRIES = 3 };
/* A smaller gain at the small size does not count, since latency and bandwidth have other weights at the real one. */
static const double LEAST = 0.05;
/* Shares that differ by less count as equal and need no further run. */
static const double EVEN = 0.02;

/* Predictions of a configuration and of the default. */
struct both {
    struct hrun_speeds_range it, base;
};

/* 1 if the real run may gain more than a trial at size N costs, 0 if not, or -1 with *err. The times of the default at
 * size N are scaled to the real size: work by its terms, additional messages in proportion to the size. */
static int is_worth_it(const struct probing *g, const struct both *b, int64_t N, struct hrun_error *err)
{
    double base_s = b->base.compute_s + b->base.comm_s, growth, gain;

    if (probe_growth(g->c->app, N, g->d->N, &growth, err))
        return -1;
    gain = (b->base.compute_s - b->it.compute_s) * growth +
           (b->base.comm_s - b->it.comm_s) * ((double)g->d->N / (double)N);
    return gain / base_s > g->p->predicted + (g->base.N != N);
}

/* Find a size at which the default and P processes can be compared: the size of the default's earlier run if both
 * numbers of processes divide it evenly enough, else another size. 1 with *N, 0 if there is none, or -1 with *err. */
static int find_size(const struct probing *g, int P, int64_t *N, struct hrun_error *err)
{
    int valid = 0;

    if (g->base.N && hrun_speeds_uneven(g->base.N, g->d->P) < EVEN && hrun_speeds_uneven(g->base.N, P) < EVEN)
        valid = probe_size_accepts(g->c, g->d, g->base.N, P, err);
    if (!valid)
        return probe_size_find(&(struct size_search){ g->c, g->d, g->p->N, g->d->N, g->d->P, P }, N, err);
    *N = g->base.N;
    return valid;
}

/* The time with compute_s in place of the predicted computing time, over the predicted time. */
static double part_of_time(const struct hrun_speeds_range *r, double compute_s)
{
    return (compute_s + r->comm_s) / (r->compute_s + r->comm_s);
}

/* Make a small run of v. *shows: 1 if it is faster than the default, else 0. */
static int try_choice(struct probing *g, const struct hrun_choice *v, const struct both *both, int *shows,
                      struct hrun_error *err)
{
    struct probe *p = g->p;
    struct decision *d = g->d;
    struct waits waits = WAITS_INIT;
    struct small_run run = { .config = v->config, .waits = p->apart ? NULL : &waits };
    double gain_s;
    int64_t N;
    int found = find_size(g, v->P, &N, err), rc = 0;
    int worth = found > 0 ? is_worth_it(g, both, N, err) : 0;

    *shows = 0;
    if (found < 0 || worth < 0)
        return -1;
    if (!worth) {
        snprintf(p->kept, sizeof p->kept, found ? "to try %d processes would cost more than they may gain"
                 : "no small size takes %d processes, to try them", v->P);
        return 0;
    }
    run.N = N;
    if (g->base.N != N)
        rc = probe_run_default(g, N, run.waits, err);
    if (!rc)
        rc = probe_run(g, &run, err);
    waits_release(&waits);
    if (rc)
        return -1;
    p->shown = run.time_s / g->base.time_s;
    p->shown_N = N;
    gain_s = g->base.time_s * part_of_time(&both->base, both->base.low_s) / (1 + hrun_speeds_uneven(N, d->P)) -
             run.time_s * part_of_time(&both->it, both->it.high_s) * (1 + hrun_speeds_uneven(d->N, v->P));
    /* The time of the launch does not depend on the size. */
    *shows = gain_s > LEAST * g->base.time_s && gain_s * ((double)d->N / (double)N) > run.launch_s - g->base.launch_s;
    if (!*shows)
        snprintf(p->kept, sizeof p->kept, "a small run does not show the gain");
    return 0;
}

/* 1 if the predicted gain of v exceeds the uncertainty of the speeds, both at this size and without messages, else 0.
 * A larger size lies between these two cases. */
static int predicts_gain(struct probing *g, const struct hrun_speeds *s, const struct hrun_choice *v, struct both *both)
{
    double uneven = 1 + hrun_speeds_uneven(g->d->N, v->P);
    struct hrun_speeds_range a, b;
    struct hrun_error why = { 0 };

    if (hrun_speeds_range(s, &v->config, &a, &why) ||
        hrun_speeds_range(s, &g->d->config, &b, &why)) {
        snprintf(g->p->kept, sizeof g->p->kept, "%.200s", why.text);
        return 0;
    }
    *both = (struct both){ a, b };
    g->p->predicted = (a.compute_s + a.comm_s) / (b.compute_s + b.comm_s);
    if (a.high_s * uneven < b.low_s && a.high_s * uneven + a.comm_s < b.low_s + b.comm_s)
        return 1;
    snprintf(g->p->kept, sizeof g->p->kept, "no gain is predicted that the probe can resolve");
    return 0;
}

static int is_default(const struct decision *d, const struct hrun_choice *v)
{
    return hrun_config_equal(&v->config, &d->config);
}

static void adopt_choice(struct probing *g, const struct hrun_choice *v)
{
    g->d->config = v->config;
    g->d->P = v->P;
    g->d->has_config = 1;
    g->d->by = BY_PROBE;
    g->p->unlike = 1;
    g->p->kept[0] = 0;
}

/* Test v, the best configuration with a limited number of processes. is_first: no other was tested. *limit: the limit
 * for the next test; 0: no further test. */
static int consider_choice(struct probing *g, const struct hrun_speeds *s, const struct hrun_choice *v, int is_first,
                           int *limit, struct hrun_error *err)
{
    struct both both;
    int shows = 0;

    *limit = 0;
    if (is_default(g->d, v)) {
        if (is_first)
            snprintf(g->p->kept, sizeof g->p->kept, "nothing is predicted to be quicker");
        return 0;
    }
    if (!predicts_gain(g, s, v, &both))
        return 0;
    if (try_choice(g, v, &both, &shows, err))
        return -1;
    *limit = shows || v->P <= g->d->P ? 0 : (v->P + g->d->P) / 2;
    if (shows)
        adopt_choice(g, v);
    return 0;
}

/* The fastest configuration by the speeds with at most P processes (0: any number). NULL with *err; HRUN_EINFEASIBLE:
 * none is valid. */
static struct hrun_plan *search_quickest(const struct probing *g, struct hrun_speeds *s, int P, struct hrun_error *err)
{
    int n = g->d->nsubs;
    autofree struct hrun_plan_sub *subs = xcalloc((size_t)n, sizeof *subs);
    struct hrun_plan_problem problem = { .oracle = hrun_speeds_oracle(s), .subs = subs };
    struct hrun_plan *plan = NULL;

    for (int i = 0; i < n; i++)
        subs[i] = (struct hrun_plan_sub){ .npes = g->d->subs[i].npes,
                                          .memory_bytes = (double)g->c->cluster->subs[i].memory_bytes };
    hrun_speeds_limit(s, P);
    hrun_plan_search(&problem, 1, &plan, err);
    return plan;
}

int probe_is_open(struct probing *g, struct hrun_error *err)
{
    int n = g->d->nsubs, used = 0, rc = -1;
    struct hrun_plan *plan = NULL;
    struct hrun_speeds *s = NULL;

    for (int i = 0; i < n; i++) {
        used += g->d->subs[i].npes > 0;
        g->v[i].compute_s = g->d->subs[i].npes > 0;
    }
    if (used <= 1)
        s = hrun_speeds_create(g->c->app, g->d->N, g->v, n, 1, 0, err);
    if (s)
        plan = search_quickest(g, s, 0, err);
    if (used > 1)
        rc = 1;
    else if (plan)
        rc = !is_default(g->d, &plan->v[0]);
    else if (s && err->code == HRUN_EINFEASIBLE)
        rc = 0;
    for (int i = 0; i < n; i++)
        g->v[i].compute_s = 0;
    hrun_plan_destroy(plan);
    hrun_speeds_destroy(s);
    return rc;
}

/* Try the configuration that is predicted to be fastest. If a small run does not show the gain, the cause is an unknown
 * cost of messages. This cost grows with the number of processes, so the next configuration has fewer processes. */
int probe_choose(struct probing *g, struct hrun_error *err)
{
    struct hrun_speeds *s = hrun_speeds_create(g->c->app, g->d->N, g->v, g->d->nsubs, g->P0, g->comm_s, err);
    int rc = s ? 0 : -1, limit = 0;

    for (int k = 0; !rc && k < TRIES && (k == 0 || limit); k++) {
        struct hrun_error why = { 0 };
        struct hrun_plan *plan = search_quickest(g, s, limit, &why);

        if (plan) {
            rc = consider_choice(g, s, &plan->v[0], k == 0, &limit, err);
        } else if (why.code == HRUN_EINFEASIBLE) {
            if (k == 0)
                snprintf(g->p->kept, sizeof g->p->kept, "nothing else is possible");
            limit = 0;
        } else {
            *err = why;
            rc = -1;
        }
        hrun_plan_destroy(plan);
    }
    hrun_speeds_destroy(s);
    return rc;
}
