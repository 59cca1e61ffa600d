/* probe_run.c - make small runs and compute speeds from them; see probe.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"
#include "probe.h"
#include "session/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of processes per core without a definition: in paper 004 the fastest of 7 nodes has a quarter of their total
 * speed and gets 8 of 35 processes. */
enum { PROCS_PER_CORE = 8 };
/* Time that a process may lose to other processes by chance, s: a tick of Linux at 250 Hz. */
static const double TICK_S = 0.004;
/* Fraction of a time that counts as chance if it is not measured: speeds of six emulated hosts varied by up to 5 %. */
static const double CHANCE = 0.05;
/* Limit of the time of all probes, relative to that of the real run. */
static const double PART = 0.1;

/* Fail for a run that did not succeed. Result: -1. */
static int fail_run(struct probe *p, int64_t N, int P, const struct work_result *r, struct hrun_error *err)
{
    int sig = r->outcome.interrupted ? r->outcome.interrupted : r->outcome.signalled;

    if (sig || r->outcome.timed_out)
        p->status = sig && !r->outcome.status ? 128 + sig : r->outcome.status;
    if (sig)
        return hrun_fail(err, HRUN_EENGINE, "interrupted in the probe; the real run was not begun");
    return hrun_fail(err, HRUN_EENGINE, "the probe with N = %lld on %s failed: %s%s%s; name a size that works with "
                     "--probe=SIZE, or leave --probe out", (long long)N, hrun_counted(P, "process").s, r->status,
                     r->detail[0] ? ": " : "", r->detail);
}

/* The time of a run, s: by the application's own clock; without such a clock by the trace, without the launch; else
 * that of the whole run. */
static double probe_time(const struct context *c, const struct work_result *r, const struct waits *w)
{
    double elapsed_s = 0;

    for (int i = 0; w && w->subs && i < w->nsubs; i++)
        elapsed_s = fmax(elapsed_s, w->subs[i].elapsed_s);
    return elapsed_s > 0 && !c->app->time.match ? elapsed_s : r->time_s;
}

int probe_run(struct probing *g, struct small_run *run, struct hrun_error *err)
{
    struct work w = *g->w;
    struct work_result r = { 0 };
    struct hrun_error why = { 0 };
    struct hrun_layout *l = hrun_layout_create_free(g->c->cluster, &run->config, g->c->busy, err);
    int rc = -1;

    w.N = run->N;
    w.quiet_run = 1;
    w.tune = NULL;
    w.before_launch = NULL;
    w.on_message = NULL;
    w.waits = run->waits;
    if (l)
        placement_fill_threads(g->c, l);
    if (!l || work_find_program(&w, l->nranks, err) || work_run(&w, l, &r, err))
        goto done;
    g->p->runs++;
    g->p->cost_s += r.outcome.job_s;
    if (!r.ok) {
        fail_run(g->p, run->N, l->nranks, &r, err);
        goto done;
    }
    if (context_is_real(g->c) && !g->s->ask.unrecorded && work_record(&w, &run->config, &r, "run", &why) &&
        !g->s->common.quiet)
        context_complain("hrun: the probe was not recorded", &why);
    run->time_s = probe_time(g->c, &r, run->waits);
    run->launch_s = fmax(0, r.outcome.job_s - run->time_s);
    rc = 0;
done:
    hrun_layout_destroy(l);
    return rc;
}

/* The number of processes of a PE that do not slow each other down: its cores over the threads of a process. */
static int free_cores(const struct context *c, int sub)
{
    const char *word = settings_exported(c->set, "OMP_NUM_THREADS");
    int cores = c->cluster->subs[sub].cores_per_pe;
    int64_t threads = 1;

    if (c->app->run.threads_fill && !c->app->run.threads)
        return 1;
    if (word && hrun_parse_count("OMP_NUM_THREADS", word, 1, HRUN_PROCS_PER_PE_MAX, &threads, NULL))
        threads = 1;
    return cores > threads ? (int)(cores / threads) : 1;
}

void probe_options(struct probing *g)
{
    const struct hrun_app *app = g->c->app;

    g->v = xcalloc((size_t)g->d->nsubs, sizeof *g->v);
    g->procs = xcalloc((size_t)g->d->nsubs, sizeof *g->procs);
    for (int i = 0; i < g->d->nsubs; i++) {
        struct hrun_speed *v = &g->v[i];
        int most;

        v->cores = free_cores(g->c, i);
        v->procs = app->procs_per_pe;
        v->nprocs = app->nprocs_per_pe;
        if (*app->file)   /* a definition lists them */
            continue;
        most = v->cores < HRUN_PROCS_PER_PE_MAX / PROCS_PER_CORE ? v->cores * PROCS_PER_CORE : HRUN_PROCS_PER_PE_MAX;
        v->procs = g->procs[i] = xcalloc((size_t)most, sizeof *g->procs[i]);
        v->nprocs = most;
        for (int m = 0; m < most; m++)
            g->procs[i][m] = m + 1;
    }
}

int probe_growth(const struct hrun_app *app, int64_t n, int64_t N, double *growth, struct hrun_error *err)
{
    double small = (double)n, large = (double)N, most = large / small;

    for (int i = 0; i < app->nt.n; i++) {
        double a, b;

        if (hrun_expr_eval(app->nt.v[i].expr, &small, &a, err) || hrun_expr_eval(app->nt.v[i].expr, &large, &b, err))
            return -1;
        most = a > 0 ? fmax(most, b / a) : most;
    }
    *growth = fmax(1, most);
    return 0;
}

/* Relative spread of the times of the PEs of sub-cluster i. If sub-cluster i has one PE: the largest spread of another
 * sub-cluster, limited so that it is no more seconds than there. */
static double relative_spread(const struct waits *w, int i)
{
    const struct waits_sub *s = &w->subs[i];
    double most = 0;

    for (int j = 0; j < w->nsubs; j++) {
        const struct waits_sub *o = &w->subs[j];
        double part = o->nranks > 1 && o->compute_s > 0 ? 1 - o->compute_mean_s / o->compute_s : 0;

        if (j == i && s->nranks > 1)
            return part;
        most = fmax(most, part * fmin(1, o->compute_s / s->compute_s));
    }
    return most;
}

/* Compute the speeds from a traced run. PEs of one sub-cluster are equal, so the spread of their times is due to chance
 * or uneven shares. */
static void speeds_from_trace(struct probing *g, const struct waits *w)
{
    double slowest = 0;

    g->P0 = g->p->P;
    g->comm_s = INFINITY;
    g->unsure = 0;
    for (int i = 0; i < w->nsubs; i++) {
        const struct waits_sub *s = &w->subs[i];
        struct hrun_speed *v = &g->v[i];

        if (!s->nranks)
            continue;
        g->comm_s = fmin(g->comm_s, s->mpi_s);
        v->compute_s = s->compute_s;
        if (!(v->compute_s > 0))
            continue;
        v->unsure = relative_spread(w, i) + TICK_S / v->compute_s;
        if (v->compute_s > slowest)
            g->unsure = v->unsure;
        slowest = fmax(slowest, v->compute_s);
    }
}

/* Fraction of a time that counts as chance in untraced programs; 0 if operations are counted. */
static double untraced_chance(const struct context *c)
{
    return c->engine->simulated && c->mpi.counts_flops ? 0 : CHANCE;
}

/* Set *P to one process (g->alone), else to the largest number, one per PE, that every used sub-cluster can run alone,
 * but fewer than the default, so that messages can be separated from work. 1 with *P, 0 if none, or -1 with *err. */
static int common_processes(struct probing *g, int *P, struct hrun_error *err)
{
    int valid = 0;

    *P = g->p->P;
    for (int i = 0; i < g->d->nsubs; i++)
        if (g->p->config.pes[i] && g->p->config.pes[i] < *P)
            *P = g->p->config.pes[i];
    *P = g->alone ? 1 : *P > 1 && *P == g->d->P ? *P / 2 : *P;
    while (*P > 0 && !(valid = probe_size_accepts(g->c, g->d, g->p->N, *P, err)))
        --*P;
    return valid;
}

int probe_run_default(struct probing *g, int64_t N, struct waits *waits, struct hrun_error *err)
{
    struct small_run run = { .N = N, .config = g->d->config, .waits = waits };

    g->base.N = 0;
    if (probe_run(g, &run, err))
        return -1;
    g->base = run;
    return 0;
}

/* Separate the time of messages, K, from that of computing, Ci, by runs with P and Pd processes. The slowest
 * sub-cluster i, alone with P processes, takes Ci + K. It limits the default, whose Pd processes take Ci P/Pd + K.
 * Other sub-clusters may have another K, so their Ci are less certain. A single process has K = 0. At the end Ci is
 * scaled to Pd processes. */
static void separate_messages(struct probing *g, int P)
{
    double slowest = 0, least = INFINITY, comm;

    g->P0 = P;
    g->comm_s = 0;
    for (int i = 0; i < g->d->nsubs; i++) {
        const struct hrun_speed *v = &g->v[i];

        if (v->compute_s > 0 && g->d->config.pes[i])
            slowest = fmax(slowest, v->compute_s);
        if (v->compute_s > 0)
            least = fmin(least, v->compute_s);
    }
    if (!g->base.N || g->d->P <= P || !(slowest > 0))
        return;
    comm = P == 1 ? g->base.time_s - slowest / g->d->P
                  : (g->base.time_s * g->d->P - slowest * P) / (g->d->P - P);
    /* Keeps every Ci above 0. */
    g->comm_s = fmin(fmax(0, comm), P == 1 ? INFINITY : 0.9 * least);
    g->P0 = g->d->P;
    for (int i = 0; i < g->d->nsubs; i++) {
        struct hrun_speed *v = &g->v[i];
        double work_s = v->compute_s - (P > 1 ? g->comm_s : 0);

        if (!(v->compute_s > 0))
            continue;
        v->unsure += P > 1 ? g->comm_s / work_s : 0;
        g->unsure = v->compute_s == slowest ? v->unsure : g->unsure;
        v->compute_s = work_s * P / g->P0;
    }
}

/* Measure the speeds by one run of each sub-cluster with the same number of processes, and one of the default. */
static int measure_apart(struct probing *g, struct hrun_error *err)
{
    int n = g->d->nsubs, P, valid = common_processes(g, &P, err);
    struct small_run run = { .N = g->p->N };

    g->P0 = 1;
    g->unsure = untraced_chance(g->c);
    if (valid <= 0)
        return valid;
    for (int i = 0; i < n; i++) {
        if (!g->p->config.pes[i])
            continue;
        run.config = hrun_config_alone(n, i, P, 1);
        g->v[i].unsure = g->unsure;
        if (probe_run(g, &run, err))
            return -1;
        g->v[i].compute_s = run.time_s;
    }
    valid = g->base.N ? 0 : probe_size_accepts(g->c, g->d, g->p->N, g->d->P, err);
    if (valid < 0 || (valid && probe_run_default(g, g->p->N, NULL, err)))
        return -1;
    separate_messages(g, P);
    return 0;
}

/* Make the first run, traced, and compute the speeds; p->apart = 1 if the trace failed. */
static int measure_together(struct probing *g, struct waits *waits, struct hrun_error *err)
{
    struct probe *p = g->p;
    struct small_run run = { .N = p->N, .config = p->config, .waits = waits };

    if (probe_run(g, &run, err))
        return -1;
    if (hrun_config_equal(&p->config, &g->d->config))
        g->base = run;
    if (!waits->subs) {
        memcpy(p->why, waits->why, sizeof p->why);
        p->apart = 1;
        return 0;
    }
    speeds_from_trace(g, waits);
    return 0;
}

/* 1 if chance or messages dominate the measured times, else 0. Messages may matter less at the real size. */
static int is_unreliable(const struct probing *g)
{
    double longest = 0;

    for (int i = 0; i < g->d->nsubs; i++)
        longest = fmax(longest, g->v[i].compute_s);
    return g->unsure > CHANCE || g->comm_s > longest;
}

/* 1 if the rule accepts one process on each sub-cluster alone at this size, 0 if not, or -1 with *err. */
static int may_be_alone(const struct probing *g, struct hrun_error *err)
{
    return g->p->apart && !g->alone && g->base.N == g->p->N ? probe_size_accepts(g->c, g->d, g->p->N, 1, err) : 0;
}

/* Decide whether to measure again, because chance or messages dominate the times. Sub-clusters that run apart then run
 * one process each, which sends no messages; in other cases a larger size is probed. All probes take at most PART of
 * the least time of the real run, estimated by the growth of its work. before_s: time of the probes before the last
 * runs. 1: measure again, 0: do not, or -1 with *err. */
static int refine(struct probing *g, double before_s, struct hrun_error *err)
{
    struct probe *p = g->p;
    double longest = 0, sum = 0, growth, last_s = p->cost_s - before_s, most_s;
    int64_t larger;
    int found;

    if (g->s->probe_N || !is_unreliable(g))
        return 0;
    for (int i = 0; i < g->d->nsubs; i++) {
        longest = fmax(longest, g->v[i].compute_s);
        sum += g->v[i].compute_s > 0 ? g->v[i].compute_s * g->P0 : 0;
    }
    if (probe_growth(g->c->app, p->N, g->d->N, &growth, err))
        return -1;
    most_s = PART * (longest * growth + g->comm_s);
    found = p->cost_s + sum <= most_s ? may_be_alone(g, err) : 0;
    if (found) {
        g->alone = 1;
        return found;
    }
    found = probe_size_find(&(struct size_search){ g->c, g->d, 2 * p->N, g->d->N / 4, p->P, 0 }, &larger, err);
    if (found <= 0 || p->cost_s + 2 * last_s > most_s)
        return found < 0 ? -1 : 0;
    p->N = larger;
    g->base.N = 0;
    return 1;
}

int probe_measure(struct probing *g, struct hrun_error *err)
{
    struct waits waits = WAITS_INIT;
    double before_s;
    int rc;

    do {
        before_s = g->p->cost_s;
        rc = g->p->apart ? 0 : measure_together(g, &waits, err);
        waits_release(&waits);
        rc = !rc && g->p->apart ? measure_apart(g, err) : rc;
        rc = rc ? rc : refine(g, before_s, err);
    } while (rc > 0);
    return rc;
}
