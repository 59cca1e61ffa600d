/* ring_play.c - the time of a ring of processes by simulation of its steps, and its balance; see ring.h */
#include "base/alloc.h"
#include "model/families/ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_ring_steps(int q)
{
    return (q - 1) / 2;
}

static int check_stages(const struct hrun_ring_stage *stages, int n, int *q, struct hrun_error *err)
{
    *q = 0;
    for (int i = 0; i < n; i++) {
        const struct hrun_ring_stage *s = &stages[i];

        if (s->procs < 0)
            return hrun_fail(err, HRUN_EINVAL, "node %d of a ring has %d processes", i + 1, s->procs);
        if (s->procs > 0 && !(s->local_s >= 0 && s->step_s >= 0 && s->unpack_s >= 0 && s->wire_s >= 0 &&
                              isfinite(s->local_s + s->step_s + s->unpack_s + s->wire_s)))
            return hrun_fail(err, HRUN_ENONFINITE, "a time of node %d of a ring is negative or not finite", i + 1);
        *q += s->procs;
    }
    return *q > 0 ? 0 : hrun_fail(err, HRUN_EINVAL, "a ring has no processes");
}

/* The node of process `rank`; *first: the first process of this node. */
static int node_of(const struct hrun_ring_stage *used, int rank, int *first)
{
    int i = 0;

    for (*first = 0; *first + used[i].procs <= rank; i++)
        *first += used[i].procs;
    return i;
}

/* The time at which node i has the data of node j for the additional step. */
static double opposite_ready(const struct hrun_ring_stage *used, const double *done, int i, int j)
{
    return fmax(done[i], done[j] + (i != j ? used[i].wire_s + used[i].unpack_s : 0));
}

/* The time at which node i completes the additional step of its processes first .. last-1 with the data of the
 * processes `half` ahead. The node works whenever it has data. It completes at the maximum over arrivals of the arrival
 * time plus the work on these and all later data (busy period of a work-conserving server). */
static double opposites_done(const struct hrun_ring_stage *used, const double *done, int i, int first, int last,
                             int half)
{
    const double one = used[i].step_s / used[i].procs;
    double latest = done[i];
    int at, begin, end;

    for (int j = node_of(used, first + half, &at), from = at; from < last + half; from += used[j].procs, j++) {
        const double ready = opposite_ready(used, done, i, j);
        int behind = 0, l = node_of(used, first + half, &begin);

        for (; begin < last + half; begin = end, l++) {
            end = begin + used[l].procs;
            if (opposite_ready(used, done, i, l) >= ready)
                behind += (end < last + half ? end : last + half) - (begin > first + half ? begin : first + half);
        }
        latest = fmax(latest, ready + behind * one);
    }
    return latest;
}

/* The additional step of an even q: processes 0 .. half-1 receive the data of the processes `half` ahead. done[m]:
 * times at the end of the other steps. Sets t[m] and adds to wait[m]. */
static void opposite_step(const struct hrun_ring_stage *used, int m, int half, const double *done, double *t,
                          double *wait)
{
    int first = 0;

    for (int i = 0; i < m && first < half; first += used[i].procs, i++) {
        int last = first + used[i].procs < half ? first + used[i].procs : half;

        t[i] = opposites_done(used, done, i, first, last, half);
        wait[i] += t[i] - done[i] - (last - first) * (used[i].step_s / used[i].procs);
    }
}

/* Eqs. 6 to 8 for the m nodes with processes: sets t[0..m-1] to their times and t[m..2m-1] to their waiting times; the
 * rest of t[3m] is scratch. */
static void play_steps(const struct hrun_ring_stage *used, int m, int q, enum hrun_ring_wait how, double *t)
{
    double *wait = t + m, *before = wait + m;

    for (int i = 0; i < m; i++) {
        t[i] = used[i].local_s + (how == HRUN_RING_PRINTED ? used[i].step_s : 0);
        wait[i] = 0;
    }
    for (int l = 1; l <= hrun_ring_steps(q); l++) {
        memcpy(before, t, (size_t)m * sizeof *t);
        for (int i = 0; i < m; i++) {
            const double come = before[(i + m - 1) % m] + used[i].wire_s;

            if (come > before[i])
                wait[i] += come - before[i];
            t[i] = fmax(before[i], come) + used[i].unpack_s + used[i].step_s;
        }
    }
    for (int i = 0; i < m && how == HRUN_RING_PRINTED; i++)
        t[i] -= used[i].step_s;
    if (q % 2 == 0) {
        memcpy(before, t, (size_t)m * sizeof *t);
        opposite_step(used, m, q / 2, before, t, wait);
    }
}

double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err)
{
    struct hrun_ring_stage *used;
    double *t, most = 0;
    int q, m = 0;

    if (check_stages(stages, n, &q, err))
        return -1;
    used = xcalloc((size_t)n, sizeof *used);
    t = xcalloc((size_t)n * 3, sizeof *t);
    for (int i = 0; i < n; i++)
        if (stages[i].procs > 0)
            used[m++] = stages[i];
    play_steps(used, m, q, wait, t);
    for (int i = 0, k = 0; i < n; i++) {
        elapsed_s[i] = stages[i].procs > 0 ? t[k] : 0;
        if (idle_s)
            idle_s[i] = stages[i].procs > 0 ? t[m + k] : 0;
        k += stages[i].procs > 0;
        most = fmax(most, elapsed_s[i]);
    }
    free(used);
    free(t);
    return most;
}

/* ------------------------------------------------------------------ allocation of processes to nodes */

double hrun_ring_total(const struct hrun_ring_group *groups, int n)
{
    double total = 0;

    for (int g = 0; g < n; g++) {
        double best = 0;

        for (int k = 0; k < groups[g].noptions; k++)
            if (isfinite(groups[g].rate[k]) && groups[g].rate[k] > 0)
                best = fmax(best, groups[g].procs[k] / groups[g].rate[k]);
        total += groups[g].pes * best;
    }
    return total;
}

/* The best allocation of k processes to the first g+1 groups: its largest rate; PEs and processes per PE of group g. */
struct cell {
    double rate;
    int pes, procs;
};

static void add_ring_group(const struct hrun_ring_group *group, int q, const struct cell *before, struct cell *row)
{
    for (int k = 0; k <= q; k++) {
        row[k] = (struct cell){ before ? before[k].rate : k == 0 ? 0 : INFINITY, 0, 0 };
        for (int p = 1; p <= group->pes; p++)
            for (int o = 0; o < group->noptions; o++) {
                int left = k - p * group->procs[o];
                double rest, rate;

                if (left < 0 || !isfinite(group->rate[o]))
                    continue;
                rest = before ? before[left].rate : left == 0 ? 0 : INFINITY;
                rate = fmax(rest, group->rate[o]);
                if (rate < row[k].rate)
                    row[k] = (struct cell){ rate, p, group->procs[o] };
            }
    }
}

int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err)
{
    autofree struct cell *rows = NULL;
    size_t width = (size_t)(q > 0 ? q : 0) + 1;
    int left = q;

    if (q < 1 || n < 1)
        return hrun_fail(err, HRUN_EINVAL, "%d processes cannot be shared out to %d groups of nodes", q, n);
    rows = xcalloc((size_t)n * width, sizeof *rows);
    for (int g = 0; g < n; g++)
        add_ring_group(&groups[g], q, g ? rows + (size_t)(g - 1) * width : NULL, rows + (size_t)g * width);
    if (!isfinite(rows[(size_t)(n - 1) * width + (size_t)q].rate))
        return hrun_fail(err, HRUN_EINFEASIBLE, "no configuration has %d processes", q);
    *rate = rows[(size_t)(n - 1) * width + (size_t)q].rate;
    for (int g = n - 1; g >= 0; g--) {
        const struct cell *c = &rows[(size_t)g * width + (size_t)left];

        pes[g] = c->pes;
        procs[g] = c->procs;
        left -= c->pes * c->procs;
    }
    return 0;
}

/* ------------------------------------------------------------------ balance of a ring */

/* Limit of the operations of an allocation for b.least, which is only reported: some tens of ms. */
static const double ALLOCATIONS_MOST = 3e7;

/* The sub-clusters as groups of ring.h. */
struct shape {
    struct hrun_ring_group *groups;   /* nsubs */
    double *speed;                    /* nsubs: units of work per second of a PE; 0: not known */
    double *rate;                     /* noptions */
    int *procs;                       /* noptions */
    int *config;                      /* 2 nsubs: scratch */
};

static void release_shape(struct shape *s)
{
    free(s->groups);
    free(s->speed);
    free(s->rate);
    free(s->procs);
    free(s->config);
}

static void make_shape(const struct hrun_ring *r, struct shape *s)
{
    size_t n = (size_t)r->nsubs, options = (size_t)r->base.noptions;

    s->groups = xcalloc(n, sizeof *s->groups);
    s->speed = xcalloc(n, sizeof *s->speed);
    s->rate = xcalloc(options, sizeof *s->rate);
    s->procs = xcalloc(options, sizeof *s->procs);
    s->config = xcalloc(2 * n, sizeof *s->config);
}

/* Set *s for n points per process. The speed s_i of a PE does not depend on its number of processes: q_i processes
 * need q_i/s_i. A sub-cluster whose models have no speed is not usable. */
static void fill_shape(const struct hrun_ring *r, const int *npes, double n, struct shape *s)
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

/* gamma of eq. 11; rate: the largest q_i/s_i, in seconds per unit of work. NAN if no speeds are known. */
static double loss_of(int q, double rate, double total)
{
    return rate > 0 && isfinite(rate) && total > 0 ? fmax(1 - q / (rate * total), 0) : NAN;
}

/* The loss if each PE has the possible number of processes nearest to its share of q; NAN if their sum is not q. */
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

/* Number of operations of hrun_ring_allocate_groups. */
static double allocations(const struct hrun_ring *r, const int *npes, int q)
{
    double sum = 0;

    for (int o = 0; o < r->base.noptions; o++)
        sum += npes[r->base.options[o].sub];
    return sum * q;
}

int hrun_ring_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                      struct hrun_balance *out, struct hrun_error *err)
{
    struct hrun_ring *r = (struct hrun_ring *)p;
    struct hrun_ring_work w;
    autorelease(release_shape) struct shape s = { NULL, NULL, NULL, NULL, NULL };
    struct hrun_balance b = { 0 };
    double most = 0, total, t, least;

    make_shape(r, &s);
    b.q = hrun_config_processes(config);
    if (hrun_app_ring_work(r->base.app, r->base.N, b.q, &w, err))
        return -1;
    t = hrun_ring_play_config(r, config, b.q, r->own, err);
    if (t < 0)
        return -1;
    fill_shape(r, npes, w.n, &s);
    for (int o = 0; o < r->base.noptions; o++)
        if (config->pes[r->base.options[o].sub] > 0 && config->procs[r->base.options[o].sub] == s.procs[o])
            most = fmax(most, s.rate[o]);
    total = hrun_ring_total(s.groups, r->nsubs);
    b.loss = loss_of(b.q, most, total);
    b.efficiency = b.q * (w.local + (b.q - 1) / 2.0 * w.step) / (t * total);
    if (!isfinite(b.loss) || !isfinite(b.efficiency))
        return hrun_fail(err, HRUN_ENODATA, "the models of %s give no speeds: no predicted time grows with the work",
                         r->base.app->name);
    b.rounded = rounded_loss(r, &s, b.q);
    b.least = allocations(r, npes, b.q) > ALLOCATIONS_MOST ||
              hrun_ring_allocate_groups(s.groups, r->nsubs, b.q, s.config, s.config + r->nsubs, &least, NULL)
              ? NAN : loss_of(b.q, least, total);
    *out = b;
    return 0;
}

/* The largest q_i/s_i with at most this loss, in seconds per unit of work. */
static double slowest_of(int q, double loss, double total)
{
    return q / ((1 - loss) * total) * (1 + 1e-12);
}

/* A quick necessary condition for at most this loss with q processes: 1 if the PEs have room for q when each has the
 * largest number that keeps it within slowest_of, else 0. */
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

/* The largest possible number of processes. */
static int most_processes(const struct hrun_ring *r, const int *npes)
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

int hrun_ring_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                     struct hrun_error *err)
{
    struct hrun_ring *r = (struct hrun_ring *)p;
    autorelease(release_shape) struct shape s = { NULL, NULL, NULL, NULL, NULL };
    double least, worst;
    int most = most_processes(r, npes);

    make_shape(r, &s);
    for (int q = 1; q <= most; q++) {
        struct hrun_error why = { 0 };
        int allowed = hrun_app_rule(r->base.app, r->base.N, q, err);

        if (allowed < 0)
            return -1;
        if (!allowed)
            continue;
        fill_shape(r, npes, (double)r->base.N / q, &s);
        if (!may_keep(r, &s, q, loss))
            continue;
        if (hrun_ring_allocate_groups(s.groups, r->nsubs, q, s.config, s.config + r->nsubs, &worst, &why)) {
            if (why.code == HRUN_EINFEASIBLE)
                continue;
            return hrun_fail_as(err, &why);
        }
        least = loss_of(q, worst, hrun_ring_total(s.groups, r->nsubs));
        if (least <= loss + 1e-12) {
            *out = (struct hrun_fewest){ q, least };
            r->even_q = q;
            r->slowest = slowest_of(q, loss, hrun_ring_total(s.groups, r->nsubs));
            memcpy(r->speed, s.speed, (size_t)r->nsubs * sizeof *r->speed);
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINFEASIBLE, "no configuration of %s loses at most %.3g %% by imbalance: allow more, or "
                     "more processes per PE (procs_per_pe)", r->base.app->name, 100 * loss);
}
