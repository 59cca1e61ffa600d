/* ring.c - the family ring: predictions; see ring.h */
#include "model/families/ring.h"

#include "base/alloc.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ records */

/* Set r to the records with the nearest M below or equal, and above or equal; NULL: none. */
static void nearest_ring_record(const struct hrun_models *m, int M, const struct hrun_fit_record *r[2])
{
    r[0] = r[1] = NULL;
    for (int i = 0; i < m->n; i++) {
        const struct hrun_fit_record *f = &m->v[i];

        if (strcmp(f->family, "ring"))
            continue;
        if (f->M <= M && (!r[0] || f->M > r[0]->M))
            r[0] = f;
        if (f->M >= M && (!r[1] || f->M < r[1]->M))
            r[1] = f;
    }
}

static int bind_records(struct hrun_ring *r, int o, const struct hrun_fit_record *const from[2], struct hrun_error *err)
{
    struct hrun_ring_option *opt = &r->opts[o];
    int m = r->base.options[o].m;

    *opt = (struct hrun_ring_option){ .r = { from[0], from[1] } };
    opt->far = from[0]->pmax > from[0]->M && from[1]->pmax > from[1]->M;
    if (from[0]->M < from[1]->M)
        opt->part = (double)(m - from[0]->M) / (from[1]->M - from[0]->M);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < from[i]->nterms; j++) {
            int term = hrun_ring_term(from[i]->terms[j]);

            if (term < 0 || from[i]->nterms > HRUN_RING_TERMS)
                return hrun_fail(err, HRUN_ENODATA, "the ring model of %s has the term '%s', which this hrun does not "
                                 "know: hrun-calibrate fit makes it anew", r->base.app->name, from[i]->terms[j]);
            if (!isfinite(from[i]->k[j]))
                return hrun_fail(err, HRUN_ENONFINITE, "the coefficient of '%s' in the ring model of %s (M=%d) is %g",
                                 from[i]->terms[j], r->base.app->name, m, from[i]->k[j]);
            if (opt->far || !hrun_ring_is_far(term))
                opt->k[term] += from[i]->k[j] * (i ? opt->part : 1 - opt->part);
        }
    return 0;
}

/* Set wire of options without measured messages between PEs to the mean terms of the measured options with the smallest
 * m. With these, the work of other processes hides the smallest part of a message. */
static void borrow_wires(struct hrun_ring *r)
{
    double sum[HRUN_RING_TERMS] = { 0 };
    int count = 0, fewest = INT_MAX;

    for (int o = 0; o < r->base.noptions; o++)
        if (r->opts[o].far && r->base.options[o].m < fewest)
            fewest = r->base.options[o].m;
    for (int o = 0; o < r->base.noptions; o++) {
        if (!r->opts[o].far || r->base.options[o].m != fewest)
            continue;
        for (int j = 0; j < HRUN_RING_TERMS; j++)
            sum[j] += r->opts[o].k[j];
        count++;
    }
    for (int o = 0; o < r->base.noptions; o++)
        r->opts[o].asks = !count && r->base.net;
    for (int o = 0; o < r->base.noptions; o++)
        for (int j = 0; count && !r->opts[o].far && j < HRUN_RING_TERMS; j++)
            if (hrun_ring_is_far(j))
                r->opts[o].wire[j] = sum[j] / count;
}

static int bind_ring_option(struct hrun_predictor *p, int o, const struct hrun_models *m, struct hrun_error *err)
{
    const struct hrun_fit_record *near[2];

    nearest_ring_record(m, p->options[o].m, near);
    if (!near[0] || !near[1])
        return 0;
    return bind_records((struct hrun_ring *)p, o, near, err) ? -1 : 1;
}

/* ------------------------------------------------------------------ the network */

/* Set *time_s to the time of a message between two PEs of sub-clusters a and b of the network, which may be equal. */
static int between(struct hrun_ring *r, int a, int b, double bytes, double *time_s, struct hrun_error *err)
{
    struct hrun_config pair = hrun_config_alone(hrun_netview_nsubs(r->base.net), a, 1, 1);

    pair.pes[b]++;
    pair.procs[b] = 1;
    return hrun_netview_time(r->base.net, HRUN_NET_P2P, bytes, &pair, time_s, err);
}

/* Set *wire_s to the network's time of a message to a PE of a sub-cluster from another PE of the sub-cluster. If there
 * is only one PE, it is the mean time from the other sub-clusters. 0: not known. */
static int wire_time(struct hrun_ring *r, int sub, double bytes, double *wire_s, struct hrun_error *err)
{
    double sum = 0, t;
    int own = r->base.place[sub], count = 0;

    *wire_s = 0;
    if (own < 0)
        return 0;
    if (hrun_netview_npes(r->base.net, own) > 1)
        return between(r, own, own, bytes, wire_s, err);
    for (int i = 0; i < r->nsubs; i++) {
        if (r->base.place[i] < 0 || r->base.place[i] == own)
            continue;
        if (between(r, own, r->base.place[i], bytes, &t, err))
            return -1;
        sum += t;
        count++;
    }
    *wire_s = count ? sum / count : 0;
    return 0;
}

/* ------------------------------------------------------------------ times of a PE */

/* Limit of nodes times steps of a simulated ring (a few ms). In larger rings waits are negligible, and the time is
 * that of the slowest node. */
static const double PLAY_MOST = 1e6;

static struct hrun_ring *of(struct hrun_predictor *p)
{
    return (struct hrun_ring *)p;
}

/* Set *out to the times of a PE of option o among P processes with the work w each. */
static int stage_at(struct hrun_ring *r, int o, int P, const struct hrun_ring_work *w, struct hrun_ring_stage *out,
                    struct hrun_error *err)
{
    const struct hrun_ring_option *opt = &r->opts[o];
    double wire = 0, others;
    int m = r->base.options[o].m;
    struct hrun_ring_terms t;

    hrun_ring_terms_at(w, P, m, &t);
    *out = (struct hrun_ring_stage){ .procs = m };
    for (int j = 0; j < HRUN_RING_TERMS; j++) {
        out->local_s += opt->k[j] * t.once[j];
        out->step_s += opt->k[j] * t.step[j];
        wire += opt->wire[j] * t.step[j];
    }
    if (opt->asks && P > m && wire_time(r, r->base.options[o].sub, w->bytes, &wire, err))
        return -1;
    others = (m - 1) * out->step_s / m;   /* work of the other processes during the message */
    out->step_s += fmax(wire - others, 0);
    return 0;
}

static int fail_no_ring_model(const struct hrun_ring *r, int sub, int m, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_ENODATA, "%s has no ring model with M=%d on sub-cluster %d", r->base.app->name, m,
                     sub + 1);
}

/* ------------------------------------------------------------------ the oracle */

/* Lower bounds of the times: without the additional step of an even ring, in which not all PEs take part. NAN for
 * options with more processes on a PE than the allowed loss permits. */
static int ring_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct hrun_ring *r = ctx;
    struct hrun_ring_work w;

    if (hrun_app_ring_work(r->base.app, r->base.N, P, &w, err))
        return -1;
    for (int o = 0; o < r->base.noptions; o++) {
        struct hrun_ring_stage s;

        t[o] = NAN;
        if (P < r->base.options[o].m ||
            (P == r->even_q && r->base.options[o].m / r->speed[r->base.options[o].sub] > r->slowest))
            continue;
        if (stage_at(r, o, P, &w, &s, err))
            return -1;
        t[o] = s.local_s + hrun_ring_steps(P) * s.step_s;
    }
    return 0;
}

/* ------------------------------------------------------------------ a configuration */

static void ring_make_room(struct hrun_ring *r, int n)
{
    if (n <= r->nstages)
        return;
    r->stages = xrealloc(r->stages, (size_t)n * sizeof *r->stages);
    r->elapsed = xrealloc(r->elapsed, 2 * (size_t)n * sizeof *r->elapsed);
    r->nstages = n;
}

/* Set r->stages to the PEs of a configuration, in the order of their ranks. *most: the longest step. Result: number of
 * PEs, or -1. */
static int list_stages(struct hrun_ring *r, const struct hrun_config *config, int P, double *most,
                       struct hrun_error *err)
{
    struct hrun_ring_work w;
    int n = 0;

    if (hrun_app_ring_work(r->base.app, r->base.N, P, &w, err))
        return -1;
    *most = 0;
    for (int i = 0; i < r->nsubs; i++)
        n += config->pes[i];
    ring_make_room(r, n);
    n = 0;
    for (int i = 0; i < r->nsubs; i++) {
        struct hrun_ring_stage s;
        int o = config->pes[i] > 0 ? hrun_predictor_find(&r->base, i, config->procs[i]) : 0;

        if (config->pes[i] == 0)
            continue;
        if (o < 0)
            return fail_no_ring_model(r, i, config->procs[i], err);
        if (stage_at(r, o, P, &w, &s, err))
            return -1;
        for (int k = 0; k < config->pes[i]; k++)
            r->stages[n++] = s;
        *most = fmax(*most, s.step_s);
    }
    return n;
}

double hrun_ring_play_config(struct hrun_ring *r, const struct hrun_config *config, int P, double *own,
                             struct hrun_error *err)
{
    double most, whole = 0;
    int n = list_stages(r, config, P, &most, err), at = 0;

    if (n < 0)
        return -1;
    if ((double)n * hrun_ring_steps(P) <= PLAY_MOST) {
        whole = hrun_ring_play(r->stages, n, HRUN_RING_BEFORE, r->elapsed, r->elapsed + n, err);
        if (whole < 0)
            return -1;
    } else {
        for (int k = 0; k < n; k++) {
            r->elapsed[k] = r->stages[k].local_s + hrun_ring_run_steps(P, 0) * r->stages[k].step_s;
            r->elapsed[n + k] = 0;
            whole = fmax(whole, r->elapsed[k]);
        }
    }
    for (int i = 0; i < r->nsubs; at += config->pes[i], i++) {
        own[i] = 0;
        for (int k = at; k < at + config->pes[i]; k++)
            own[i] = fmax(own[i], r->elapsed[k] - r->elapsed[n + k]);
    }
    return whole;
}

/* The sub-cluster whose PEs are busy for the longest time. */
static int busiest(const struct hrun_ring *r, const double *own)
{
    int best = 0;

    for (int i = 1; i < r->nsubs; i++)
        if (own[i] > own[best])
            best = i;
    return best;
}

/* Ti: the busy time of the PEs of a sub-cluster; for the busiest one the time of the whole, with waits. */
static int ring_options(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err)
{
    struct hrun_ring *r = of(p);
    double all;

    (void)share;
    for (int o = 0; o < r->base.noptions; o++)
        t[o] = NAN;
    for (int i = 0; i < r->nsubs; i++)
        if (config->pes[i] > 0 && hrun_predictor_find(&r->base, i, config->procs[i]) < 0)
            return 0;
    all = hrun_ring_play_config(r, config, P, r->own, err);
    if (all < 0)
        return -1;
    r->own[busiest(r, r->own)] = all;
    for (int i = 0; i < r->nsubs; i++)
        if (config->pes[i] > 0)
            t[hrun_predictor_find(&r->base, i, config->procs[i])] = r->own[i];
    return 0;
}

/* ------------------------------------------------------------------ intervals */

/* Half the width of the 95 % interval of a time t after these steps: the wider one of the two records. */
static double half_width(const struct hrun_ring *r, int o, const struct hrun_ring_terms *terms, double steps, double t)
{
    double half = 0;

    for (int i = 0; i < 2; i++) {
        const struct hrun_fit_record *record = r->opts[o].r[i];
        double x[HRUN_RING_TERMS] = { 0 };

        for (int j = 0; j < record->nterms && j < HRUN_RING_TERMS; j++) {
            int term = hrun_ring_term(record->terms[j]);

            if (term >= 0)
                x[j] = terms->once[term] + steps * terms->step[term];
        }
        half = fmax(half, hrun_record_half_width(record, x, t));
    }
    return half;
}

/* The interval about time->mid, the time after these steps. */
static int ring_time_interval(struct hrun_ring *r, int o, int P, double steps, struct hrun_interval *time,
                              struct hrun_error *err)
{
    struct hrun_ring_terms terms;
    struct hrun_ring_work w;
    double half, t = time->mid;

    if (hrun_app_ring_work(r->base.app, r->base.N, P, &w, err))
        return -1;
    hrun_ring_terms_at(&w, P, r->base.options[o].m, &terms);
    half = half_width(r, o, &terms, steps, t);
    if (!(t > 0) || !isfinite(t + half))
        return hrun_fail(err, HRUN_ENONFINITE, "the ring model of %s predicts %g s +- %g s at N=%lld, P=%d, M=%d: not "
                         "a time", r->base.app->name, t, half, (long long)r->base.N, P, r->base.options[o].m);
    *time = (struct hrun_interval){ t, fmax(t - half, 0), t + half };
    return 0;
}

static int ring_time_in(struct hrun_predictor *p, int sub, const struct hrun_config *config, int P,
                        struct hrun_interval *time, struct hrun_error *err)
{
    struct hrun_ring *r = of(p);
    int o = hrun_predictor_find(p, sub, config->procs[sub]);
    double all;

    if (o < 0)
        return fail_no_ring_model(r, sub, config->procs[sub], err);
    all = hrun_ring_play_config(r, config, P, r->own, err);
    if (all < 0)
        return -1;
    r->own[busiest(r, r->own)] = all;
    time->mid = r->own[sub];
    return ring_time_interval(r, o, P, hrun_ring_steps(P), time, err);
}

static int ring_measured(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    const struct hrun_ring *r = (const struct hrun_ring *)p;
    int o = hrun_predictor_find(&r->base, sub, m);

    if (o < 0)
        return -1;
    sizes[0] = counts[0] = INT64_MAX;
    sizes[1] = counts[1] = 0;
    for (int i = 0; i < 2; i++) {
        const struct hrun_fit_record *f = r->opts[o].r[i];

        sizes[0] = f->nmin < sizes[0] ? f->nmin : sizes[0];
        sizes[1] = f->nmax > sizes[1] ? f->nmax : sizes[1];
        counts[0] = f->pmin < counts[0] ? f->pmin : counts[0];
        counts[1] = f->pmax > counts[1] ? f->pmax : counts[1];
    }
    if (P > counts[1])   /* more steps are no extrapolation */
        counts[1] = P;
    return 0;
}

/* ------------------------------------------------------------------ create, destroy */

static void ring_release(struct hrun_predictor *p)
{
    struct hrun_ring *r = of(p);

    free(r->opts);
    free(r->speed);
    free(r->own);
    free(r->stages);
    free(r->elapsed);
}

static int ring_init(struct hrun_predictor *p, enum hrun_model_form form, struct hrun_error *err)
{
    struct hrun_ring *r = of(p);

    (void)form;
    p->is_whole = 1;
    r->nsubs = p->oracle.nsubs;
    r->opts = xcalloc((size_t)p->most + 1, sizeof *r->opts);
    r->own = xcalloc((size_t)r->nsubs + 1, sizeof *r->own);
    r->speed = xcalloc((size_t)r->nsubs + 1, sizeof *r->speed);
    if (hrun_predictor_bind(p, bind_ring_option, err))
        return -1;
    if (!p->noptions)
        return p->other ? hrun_predictor_fail_constants(p, err)
                        : hrun_fail(err, HRUN_ENODATA, "no sub-cluster has a model of family ring for %s",
                                    p->app->name);
    borrow_wires(r);
    p->oracle.times = ring_times;
    p->oracle.bounds = hrun_predictor_bounds;
    p->oracle.whole = hrun_predictor_whole;
    return 0;
}

static const struct hrun_predictor_kind kind = {
    .size = sizeof(struct hrun_ring), .init = ring_init, .release = ring_release, .time_in = ring_time_in,
    .measured = ring_measured, .options = ring_options, .balance = hrun_ring_balance, .fewest = hrun_ring_fewest,
};

const struct hrun_family hrun_family_ring = {
    .name = "ring", .uses_network = 1, .is_joint = 1, .keep = hrun_ring_keep,
    .nterms = HRUN_RING_TERMS, .fit = hrun_ring_fit, .predictor = &kind,
};
