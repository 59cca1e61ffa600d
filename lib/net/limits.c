/* limits.c - rendezvous, the trunks between groups, and messages inside hosts; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

static const double normal_95 = 1.959964, chance_95 = 3.841459;  /* 95 % limit of the normal distribution; its square */

/* ---------------------------------------------------------------- rendezvous */

double net_sync(const struct hrun_net_records *r)
{
    double best = 0;
    size_t least = 0;

    for (size_t l = 0; l < r->n; l++)      /* the number of errors if no send waits */
        least += r->v[l].kind == HRUN_NET_SYNC && r->v[l].n == 1;
    for (size_t m = 0; m < r->n; m++) {
        double from = r->v[m].bytes;
        size_t wrong = 0;

        if (r->v[m].kind != HRUN_NET_SYNC || r->v[m].n != 1)
            continue;
        for (size_t l = 0; l < r->n; l++)
            wrong += r->v[l].kind == HRUN_NET_SYNC && (r->v[l].bytes >= from) != (r->v[l].n == 1);
        if (wrong < least || (wrong == least && best > 0 && from < best)) {
            least = wrong;
            best = from;
        }
    }
    return best;
}

/* ---------------------------------------------------------------- trunks */

int net_wire_waits(const struct net_work *w, const struct net_solution *s)
{
    int waits = 0;                 /* number of records in which the wire waits, minus that of the others */

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];

        if (v->kind == HRUN_NET_SYNC && v->n != 1 && v->bytes > 0)
            waits += v->time_s - net_stage_s(s, v->j, v->bytes) >
                     0.5 * v->bytes * net_wire(w, s, v->i, v->j, v->bytes).s_per_byte ? 1 : -1;
    }
    return waits > 0;
}

static double fitted_one_way(const struct net_work *w, const struct net_solution *s, int i, int j, double bytes)
{
    struct net_wire wire = net_wire(w, s, i, j, bytes);

    return net_stage_s(s, i, bytes) + wire.latency_s + bytes * wire.s_per_byte + net_stage_s(s, j, bytes);
}

int net_exchange_waits(const struct net_work *w, const struct net_solution *s)
{
    int waits = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double there, back;

        if (!net_is_exchange(w, v))
            continue;
        there = fitted_one_way(w, s, v->i, v->j, v->bytes);
        back = fitted_one_way(w, s, v->j, v->i, v->bytes);
        waits += v->time_s > (fmax(there, back) + there + back) / 2 ? 1 : -1;
    }
    return waits > 0;
}

/* The m-th host of a group, from 0; -1 if there is none. */
static int group_member(const struct net_work *w, int group, int m)
{
    for (int i = 0; i < w->r->nhosts; i++)
        if (w->given.group_of[i] == group && m-- == 0)
            return i;
    return -1;
}

/* The time of a `pairs` record if the trunk takes `trunk` s/byte; -1 if a host of the record is missing. */
static double pairs_time(const struct net_work *w, const struct net_solution *s, const struct hrun_net_record *v,
                         double trunk)
{
    autorelease(net_flows_release) struct net_flows f = net_flows_make(v->n);
    double bias = w->given.bias_bytes, sum = 0;

    f.bytes = v->bytes;
    f.shared_s_per_byte = net_segment(&w->given, v->bytes)->b * trunk;
    for (int m = 0; m < v->n; m++) {
        int i = group_member(w, v->i, m), j = group_member(w, v->j, v->i == v->j ? v->n + m : m), a, b;
        struct net_wire wire;

        if (i < 0 || j < 0 || i == j)
            return -1;
        a = s->c.class_of[i];
        b = s->c.class_of[j];
        wire = net_wire(w, s, i, j, v->bytes);
        f.start_s[m] = net_stage_s(s, i, v->bytes) + wire.latency_s;
        f.alone_s_per_byte[m] = wire.s_per_byte;
        if (bias > 0)
            f.way_s[m] = net_x_at(s, s->c.L[a * s->c.nclasses + b]) +
                         bias * (net_x_at(s, s->c.out[a]) + net_x_at(s, s->c.in[b]));
        sum += net_stage_s(s, j, v->bytes) + net_stage_s(s, j, 0) + net_wire(w, s, i, j, 0).latency_s +
               net_stage_s(s, i, 0);
    }
    net_flows_share(&f);
    for (int m = 0; m < v->n; m++)
        sum += f.end_s[m];
    return sum / v->n;
}

static int is_record_of(const struct hrun_net_record *v, int g, int h)
{
    return v->kind == HRUN_NET_PAIRS && v->i == g && v->j == h && v->bytes > 0;
}

struct trunk_search {
    const struct net_work *w;
    const struct net_solution *s;
    int g, h;                  /* from group g to group h */
    int with_slopes;
    double slopes;             /* if with_slopes, sum of the squared slopes of the records at the last trunk */
};

/* Weighted sum of squares over the records of a trunk. */
static double trunk_misfit(void *ctx, double trunk)
{
    struct trunk_search *t = ctx;
    double sum = 0, nearby = trunk * (1 - 1e-4);

    t->slopes = 0;
    for (size_t l = 0; l < t->w->r->n; l++) {
        const struct hrun_net_record *v = &t->w->r->v[l];
        double time, e;

        if (!is_record_of(v, t->g, t->h) || t->w->out[l] || (time = pairs_time(t->w, t->s, v, trunk)) < 0)
            continue;
        e = (v->time_s - time) / t->w->se[l];
        sum += e * e;
        if (t->with_slopes && trunk > 0) {
            e = (time - pairs_time(t->w, t->s, v, nearby)) / (trunk - nearby) / t->w->se[l];
            t->slopes += e * e;
        }
    }
    return sum;
}

/* The least time per byte of a single message between two groups. The trunk takes at most this. */
static double trunk_limit(const struct net_work *w, const struct net_solution *s, int g, int h)
{
    double limit = INFINITY;

    for (int i = 0; i < w->r->nhosts; i++)
        for (int j = 0; j < w->r->nhosts; j++) {
            int column = s->c.g[s->c.class_of[i] * s->c.nclasses + s->c.class_of[j]];

            if (i != j && w->given.group_of[i] == g && w->given.group_of[j] == h && column >= 0)
                limit = fmin(limit, s->x[column]);
        }
    return isfinite(limit) ? limit : 0;
}

static int has_records(const struct net_work *w, int g, int h)
{
    for (size_t l = 0; l < w->r->n; l++)
        if (is_record_of(&w->r->v[l], g, h) && !w->out[l])
            return 1;
    return 0;
}

void net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half)
{
    int n = w->given.ngroups;

    for (int g = 0; g < n; g++)
        for (int h = 0; h < n; h++) {
            struct trunk_search t = { w, s, g, h, 0, 0 };
            double none, best;

            trunk[g * n + h] = 0;
            half[g * n + h] = NAN;
            if (!has_records(w, g, h))
                continue;
            best = net_search(trunk_limit(w, s, g, h), trunk_misfit, &t, &none);
            /* A limit that is not significant is dropped. */
            if (!(none - trunk_misfit(&t, best) > chance_95 * fmax(1, s->s2)))
                best = 0;
            t.with_slopes = 1;
            trunk_misfit(&t, best);
            trunk[g * n + h] = best;
            half[g * n + h] = t.slopes > 0 ? normal_95 * sqrt(fmax(s->s2, w->scatter_known) / t.slopes) : NAN;
        }
    for (int g = 0; g < n; g++)
        for (int h = 0; h < n; h++)
            if (trunk[g * n + h] == 0 && isnan(half[g * n + h]) && trunk[h * n + g] > 0 && !has_records(w, g, h)) {
                trunk[g * n + h] = trunk[h * n + g];
                half[g * n + h] = half[h * n + g];
            }
}

/* ---------------------------------------------------------------- inside a host */

struct locals {
    const struct net_work *w;
    const int *class_of;       /* of each host */
    int number;
    struct hrun_net_class *class;
    double *x, *y, *weight;    /* the least squares problem: 3, 1 and 1 numbers for each record */
};

static int is_local(const struct locals *in, size_t l)
{
    const struct hrun_net_record *v = &in->w->r->v[l];

    return v->kind == HRUN_NET_LOCAL && !in->w->out[l] && in->class_of[v->i] == in->number;
}

/* Fit one pair of kinds by rows 2 f + M p of trips that run alone; p is p_ab if a sent, p_ba if b sent. A direction
 * that was not measured gets the other's value. */
static int local_pair(const struct locals *in, int a, int b, struct hrun_error *err)
{
    double k[3], cov[9], s2, times;
    size_t n = 0;
    struct hrun_lsq_result result = { k, cov, 0, 0, 0 };
    struct hrun_net_class *c = in->class;
    struct hrun_net_value p[2];
    int used[2] = { 0, 0 };

    for (size_t l = 0; l < in->w->r->n; l++) {
        const struct hrun_net_record *v = &in->w->r->v[l];
        int back = v->j == b && a != b;

        if (!is_local(in, l) || v->n > 1 || !((v->j == a && v->k == b) || (v->j == b && v->k == a)))
            continue;
        in->x[3 * n] = 2;
        in->x[3 * n + 1] = back ? 0 : v->bytes;
        in->x[3 * n + 2] = back ? v->bytes : 0;
        in->y[n] = v->time_s;
        in->weight[n++] = 1 / in->w->se[l];
        used[back] |= v->bytes > 0;
    }
    if (n == 0)
        return 0;
    if (hrun_fit_nnls(&(struct hrun_lsq){ in->x, in->y, in->weight, n, 3 }, &result, err))
        return -1;
    s2 = n > result.rank ? result.rss / (double)(n - result.rank) : 1;
    s2 = in->w->scatter_known || n <= result.rank ? fmax(1, s2) : s2;
    times = hrun_fit_t_quantile(0.975, n > result.rank ? (double)(n - result.rank) : 1e9);
    for (int d = 0; d < 2; d++) {
        int from = used[d] ? d : !d;

        p[d] = (struct hrun_net_value){ k[1 + from], used[from] ? times * sqrt(s2 * cov[4 * (1 + from)]) : NAN };
    }
    c->local_fixed_s[a * c->nkinds + b] = (struct hrun_net_value){ k[0], times * sqrt(s2 * cov[0]) };
    c->local_fixed_s[b * c->nkinds + a] = c->local_fixed_s[a * c->nkinds + b];
    c->local_s_per_byte[b * c->nkinds + a] = p[1];
    c->local_s_per_byte[a * c->nkinds + b] = p[0];
    return 0;
}

/* The rate that all messages inside a host of the class share, from simultaneous trips that take longer than a single
 * one. */
static double local_shared(const struct locals *in)
{
    const struct hrun_net_class *c = in->class;
    double sum = 0, weights = 0;

    for (size_t l = 0; l < in->w->r->n; l++) {
        const struct hrun_net_record *v = &in->w->r->v[l];
        double se = in->w->se[l], fixed, alone, slope, weight;

        if (!is_local(in, l) || v->n < 2 || v->bytes == 0)
            continue;
        fixed = 2 * c->local_fixed_s[v->j * c->nkinds + v->k].v;
        alone = c->local_s_per_byte[v->j * c->nkinds + v->k].v;
        if (v->time_s - fixed - v->bytes * alone <= normal_95 * se)
            continue;
        slope = v->n * v->bytes;
        weight = slope * slope / se / se;
        sum += weight * (v->time_s - fixed) / slope;
        weights += weight;
    }
    return sum > 0 ? weights / sum : 0;
}

int net_fit_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err)
{
    autofree double *room = xmalloc((5 * w->r->n + 1) * sizeof *room);

    for (int i = 0; i < net->nclasses; i++) {
        struct hrun_net_class *c = &net->classes[i];
        struct locals in = { w, net->class_of, i, c, room, room + 3 * w->r->n, room + 4 * w->r->n };

        for (int a = 0; a < c->nkinds; a++)
            for (int b = a; b < c->nkinds; b++)
                if (local_pair(&in, a, b, err))
                    return -1;
        c->local_bytes_per_s = local_shared(&in);
    }
    return 0;
}
