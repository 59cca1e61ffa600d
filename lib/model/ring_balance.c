/* ring_balance.c - how well a ring uses its PEs, and how many processes that takes; see model.h for the contracts */
#include "model/ring_predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of allocations beyond some tens of ms the least loss is not looked for only to be told. */
static const double ALLOCATIONS_MOST = 3e7;

/* The sub-clusters as groups of ring.h. */
struct shape {
    struct hrun_ring_group *groups;   /* nsubs */
    double *speed;                    /* nsubs: units of work per second of a PE; 0: not known */
    double *rate;                     /* noptions */
    int *procs;                       /* noptions */
    int *config;                      /* 2 nsubs: scratch */
};

static void release(struct shape *s)
{
    free(s->groups);
    free(s->speed);
    free(s->rate);
    free(s->procs);
    free(s->config);
}

static int make_room(const struct hrun_ring *r, struct shape *s, struct hrun_error *err)
{
    size_t n = (size_t)r->nsubs, options = (size_t)r->base.noptions;

    s->groups = calloc(n, sizeof *s->groups);
    s->speed = calloc(n, sizeof *s->speed);
    s->rate = calloc(options, sizeof *s->rate);
    s->procs = calloc(options, sizeof *s->procs);
    s->config = calloc(2 * n, sizeof *s->config);
    return s->groups && s->speed && s->rate && s->procs && s->config ? 0 : hrun_fail_nomem(err);
}

/* Where processes have n points each: a PE has one speed, whatever the number of its processes, so that q_i of them
 * take q_i/s_i. A sub-cluster whose models have no speed is none here. */
static void make(const struct hrun_ring *r, const int *npes, double n, struct shape *s)
{
    for (int i = 0; i < r->nsubs; i++) {
        s->groups[i] = (struct hrun_ring_group){ .pes = npes[i] };
        s->speed[i] = 0;
    }
    for (int o = 0; o < r->base.noptions; o++) {
        double rate = hrun_ring_rate(r->opts[o].k, n), *speed = &s->speed[r->base.options[o].sub];

        if (rate > 0)
            *speed = fmax(*speed, r->base.options[o].m / rate);
    }
    for (int o = r->base.noptions; o-- > 0;) {
        struct hrun_ring_group *g = &s->groups[r->base.options[o].sub];

        s->procs[o] = r->base.options[o].m;
        s->rate[o] = s->procs[o] / s->speed[r->base.options[o].sub];   /* infinite without a speed */
        g->rate = s->rate + o;
        g->procs = s->procs + o;
        g->noptions++;
    }
}

/* gamma of eq. 11, where the slowest PE takes so long for a unit of work; NAN where no speeds are known. */
static double loss_of(int q, double rate, double total)
{
    return rate > 0 && isfinite(rate) && total > 0 ? fmax(1 - q / (rate * total), 0) : NAN;
}

/* The loss when the PEs of each sub-cluster get their share of q, as near as their numbers of processes come to it; NAN
 * where these are not q in all. */
static double rounded_loss(const struct hrun_ring *r, const struct shape *s, int q)
{
    double total = hrun_ring_total(s->groups, r->nsubs), most = 0, sum = 0;

    for (int i = 0; i < r->nsubs; i++) {
        const struct hrun_ring_group *g = &s->groups[i];
        double share = s->speed[i] * q / total, rate = 0;
        int procs = 0;

        for (int o = 0; o < g->noptions; o++)
            if (isfinite(g->rate[o]) && fabs(g->procs[o] - share) <= fabs(procs - share)) {
                procs = g->procs[o];
                rate = g->rate[o];
            }
        if (g->pes > 0)
            most = fmax(most, rate);
        sum += (double)g->pes * procs;
    }
    return sum == q ? loss_of(q, most, total) : NAN;
}

/* Work of hrun_ring_allocate_groups. */
static double allocations(const struct hrun_ring *r, const int *npes, int q)
{
    double sum = 0;

    for (int o = 0; o < r->base.noptions; o++)
        sum += npes[r->base.options[o].sub];
    return sum * q;
}

int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const int *pes, const int *procs,
                           struct hrun_balance *out, struct hrun_error *err)
{
    struct hrun_ring *r = (struct hrun_ring *)p;
    const struct hrun_ring_work *w;
    struct shape s = { NULL, NULL, NULL, NULL, NULL };
    struct hrun_balance b = { 0 };
    double most = 0, total, t, least;
    int rc = -1;

    if (make_room(r, &s, err))
        goto out;
    b.q = hrun_predictor_count(p, pes, procs);
    w = hrun_ring_work_at(r, b.q, err);
    t = w ? hrun_ring_play_config(r, pes, procs, b.q, r->own, err) : -1;
    if (t < 0)
        goto out;
    make(r, npes, w->n, &s);
    for (int o = 0; o < r->base.noptions; o++)
        if (pes[r->base.options[o].sub] > 0 && procs[r->base.options[o].sub] == s.procs[o])
            most = fmax(most, s.rate[o]);
    total = hrun_ring_total(s.groups, r->nsubs);
    b.loss = loss_of(b.q, most, total);
    b.efficiency = b.q * (w->local + (b.q - 1) / 2.0 * w->step) / (t * total);
    if (!isfinite(b.loss) || !isfinite(b.efficiency)) {
        hrun_fail(err, HRUN_ENODATA, "the models of %s know no speeds: no time of theirs follows the work",
                  r->base.app->name);
        goto out;
    }
    b.rounded = rounded_loss(r, &s, b.q);
    b.least = allocations(r, npes, b.q) > ALLOCATIONS_MOST ||
              hrun_ring_allocate_groups(s.groups, r->nsubs, b.q, s.config, s.config + r->nsubs, &least, NULL)
              ? NAN : loss_of(b.q, least, total);
    *out = b;
    rc = 0;
out:
    release(&s);
    return rc;
}

/* The most seconds per unit of work that the loss allows a PE. */
static double slowest_of(int q, double loss, double total)
{
    return q / ((1 - loss) * total) * (1 + 1e-12);
}

/* May q processes lose no more? A condition that is needed, and quickly asked: if each PE has the most with which it is
 * no slower than the loss allows, there are q. */
static int may_keep(const struct hrun_ring *r, const struct shape *s, int q, double loss)
{
    double slowest = slowest_of(q, loss, hrun_ring_total(s->groups, r->nsubs)), most = 0;

    for (int i = 0; i < r->nsubs; i++) {
        const struct hrun_ring_group *g = &s->groups[i];
        int largest = 0;

        for (int o = 0; o < g->noptions; o++)
            if (g->rate[o] <= slowest && g->procs[o] > largest)
                largest = g->procs[o];
        most += (double)g->pes * largest;
    }
    return most >= q;
}

/* The most processes that there may be. */
static int capacity(const struct hrun_ring *r, const int *npes)
{
    int most = 0;

    for (int i = 0; i < r->nsubs; i++) {
        int largest = 0;

        for (int o = 0; o < r->base.noptions; o++)
            largest = r->base.options[o].sub == i && r->base.options[o].m > largest ? r->base.options[o].m : largest;
        most += npes[i] * largest;
    }
    return most;
}

int hrun_predictor_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                          struct hrun_error *err)
{
    struct hrun_ring *r = (struct hrun_ring *)p;
    struct shape s = { NULL, NULL, NULL, NULL, NULL };
    double least, worst;
    int most = capacity(r, npes), rc = -1;

    if (make_room(r, &s, err))
        goto out;
    for (int q = 1; q <= most; q++) {
        struct hrun_error why = { 0 };
        int allowed = hrun_app_rule(r->base.app, r->base.N, q, err);

        if (allowed < 0)
            goto out;
        if (!allowed)
            continue;
        make(r, npes, (double)r->base.N / q, &s);
        if (!may_keep(r, &s, q, loss))
            continue;
        if (hrun_ring_allocate_groups(s.groups, r->nsubs, q, s.config, s.config + r->nsubs, &worst, &why)) {
            if (why.code == HRUN_EINFEASIBLE)
                continue;
            if (err)
                *err = why;
            goto out;
        }
        least = loss_of(q, worst, hrun_ring_total(s.groups, r->nsubs));
        if (least <= loss + 1e-12) {
            *out = (struct hrun_fewest){ q, least };
            r->even_q = q;
            r->slowest = slowest_of(q, loss, hrun_ring_total(s.groups, r->nsubs));
            memcpy(r->speed, s.speed, (size_t)r->nsubs * sizeof *r->speed);
            rc = 0;
            goto out;
        }
    }
    hrun_fail(err, HRUN_EINFEASIBLE, "no configuration of %s loses at most %.3g %% by imbalance: allow more, or more "
              "processes per PE (procs_per_pe)", r->base.app->name, 100 * loss);
out:
    release(&s);
    return rc;
}
