/* net_truth.h - made-up networks, and what experiments on them take
 *
 * The formulas of net/net.h's experiments are written down here anew, in numbers without derivatives and with a simple
 * simulation of messages that share a port, as an oracle for lib/net's.
 */
#ifndef HRUN_TESTS_NET_TRUTH_H
#define HRUN_TESTS_NET_TRUTH_H

#include "net/net.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOSTS = 40 };

struct truth {
    int n;
    double C[MOST_HOSTS], t[MOST_HOSTS], out[MOST_HOSTS], in[MOST_HOSTS];  /* s, s/byte; bytes/s, 0: no limit */
    double L[MOST_HOSTS][MOST_HOSTS], beta[MOST_HOSTS][MOST_HOSTS];
    int kind[MOST_HOSTS], group[MOST_HOSTS];
    double trunk;              /* between groups, bytes/s, 0: no limit */
    double from[4], a[4], b[4];
    int nsegments;
    double back_share;
    double bias;               /* bytes: what shares a port gets by one over L and what so many take on both ports; 0:
                                  all get the same */
};

/* ---------------------------------------------------------------- chance */

static uint64_t truth_state;

static double truth_uniform(void)  /* 0..1 */
{
    truth_state += 0x9e3779b97f4a7c15u;          /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t z = truth_state;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double truth_between(double low, double high)
{
    return low + (high - low) * truth_uniform();
}

static double truth_normal(void)
{
    return sqrt(-2 * log(1 - truth_uniform())) * cos(2 * acos(-1) * truth_uniform());
}

/* ---------------------------------------------------------------- the model */

static int truth_segment(const struct truth *u, double m)
{
    int s = 0;

    while (s + 1 < u->nsegments && u->from[s + 1] <= m)
        s++;
    return s;
}

static double truth_a(const struct truth *u, double m)
{
    return u->nsegments ? u->a[truth_segment(u, m)] : 1;
}

static double truth_b(const struct truth *u, double m)
{
    return u->nsegments ? u->b[truth_segment(u, m)] : 1;
}

static double truth_stage(const struct truth *u, int i, double m)
{
    return u->C[i] + u->t[i] * m;
}

static double truth_least(double a, double b)   /* of rates, 0: no limit */
{
    return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}

/* What a message alone moves a second, in bytes that count. */
static double truth_rate(const struct truth *u, int i, int j)
{
    double r = truth_least(u->beta[i][j], truth_least(u->out[i], u->in[j]));

    return u->group[i] != u->group[j] ? truth_least(r, u->trunk) : r;
}

static double truth_weight(const struct truth *u, int i, int j)
{
    return u->bias > 0 ? 1 / (u->L[i][j] + u->bias * (1 / u->out[i] + 1 / u->in[j])) : 1;
}

static double truth_one_way(const struct truth *u, int i, int j, double m)
{
    double bytes_s = truth_b(u, m) * m / truth_rate(u, i, j);

    return truth_stage(u, i, m) + truth_a(u, m) * u->L[i][j] + bytes_s + truth_stage(u, j, m);
}

/* Ends of n messages of m[] bytes, of which each counts b[] times, that begin at start[], alone have rate[], in bytes
 * that count, and share `all` (0: no limit) by weight[]: at each instant the least demands are met first. */
static void truth_flows(int n, const double *start, const double *rate, const double *weight, const double *m,
                        const double *b, double all, double *end)
{
    double left[MOST_HOSTS], now = INFINITY;
    int open = 0;

    for (int i = 0; i < n; i++) {
        left[i] = m[i] * b[i];
        open += left[i] > 0;
        end[i] = start[i];
        now = fmin(now, start[i]);
    }
    while (open) {
        double r[MOST_HOSTS] = { 0 }, rest = all > 0 ? all : INFINITY, next = INFINITY, weights = 0;
        int active = 0, order[MOST_HOSTS];

        for (int i = 0; i < n; i++)
            if (left[i] > 0 && start[i] <= now) {
                int at = active++;

                for (; at > 0 && rate[order[at - 1]] * weight[i] > rate[i] * weight[order[at - 1]]; at--)
                    order[at] = order[at - 1];
                order[at] = i;
                weights += weight[i];
            }
        for (int k = 0; k < active; k++) {
            double w = weight[order[k]];

            r[order[k]] = fmin(rate[order[k]], k + 1 < active ? rest * w / weights : rest);
            rest -= r[order[k]];
            weights -= w;
        }
        for (int i = 0; i < n; i++) {
            if (left[i] > 0 && start[i] > now)
                next = fmin(next, start[i]);
            if (r[i] > 0)
                next = fmin(next, now + left[i] / r[i]);
        }
        for (int i = 0; i < n; i++)
            if (r[i] > 0 && (left[i] -= r[i] * (next - now)) <= 1e-9 * m[i]) {
                left[i] = 0;
                end[i] = next;
                open--;
            }
        now = next;
    }
}

/* The processor of i, busy until `from`, takes in messages that come at at[2] and take each[2]. */
static double truth_take_in(double from, const double *at, const double *each)
{
    int first = at[1] < at[0];

    return fmax(fmax(from, at[first]) + each[first], at[!first]) + each[!first];
}

static double truth_port(const struct truth *u, int i, int j, int k, double port)
{
    return u->group[j] == u->group[k] && u->group[j] != u->group[i] ? truth_least(port, u->trunk) : port;
}

/* m2: of the second message. */
static double truth_fan(const struct truth *u, int i, int j, int k, double m, double m2)
{
    double s = truth_stage(u, i, m), sent = s + truth_stage(u, i, m2), each[2] = { u->C[i], u->C[i] }, at[2];
    double start[2] = { s + truth_a(u, m) * u->L[i][j], sent + truth_a(u, m2) * u->L[i][k] };
    double rate[2] = { truth_rate(u, i, j), truth_rate(u, i, k) };
    double weight[2] = { truth_weight(u, i, j), truth_weight(u, i, k) };

    truth_flows(2, start, rate, weight, (double[]){ m, m2 }, (double[]){ truth_b(u, m), truth_b(u, m2) },
                truth_port(u, i, j, k, u->out[i]), at);
    at[0] += truth_stage(u, j, m) + u->C[j] + truth_a(u, 0) * u->L[j][i];
    at[1] += truth_stage(u, k, m2) + u->C[k] + truth_a(u, 0) * u->L[k][i];
    return truth_take_in(sent, at, each);
}

static double truth_join(const struct truth *u, int i, int j, int k, double m, double m2)
{
    double start[2] = { u->C[i] + truth_a(u, 0) * u->L[i][j] + u->C[j] + truth_stage(u, j, m) +
                            truth_a(u, m) * u->L[j][i],
                        2 * u->C[i] + truth_a(u, 0) * u->L[i][k] + u->C[k] + truth_stage(u, k, m2) +
                            truth_a(u, m2) * u->L[k][i] };
    double rate[2] = { truth_rate(u, j, i), truth_rate(u, k, i) }, at[2];
    double each[2] = { truth_stage(u, i, m), truth_stage(u, i, m2) };
    double weight[2] = { truth_weight(u, j, i), truth_weight(u, k, i) };

    truth_flows(2, start, rate, weight, (double[]){ m, m2 }, (double[]){ truth_b(u, m), truth_b(u, m2) },
                truth_port(u, i, j, k, u->in[i]), at);
    return truth_take_in(2 * u->C[i], at, each);
}

static double truth_crossing(const struct truth *u, int i, int j, double m)
{
    double port = truth_least(truth_least(u->out[i], u->in[j]), truth_least(u->in[i], u->out[j])) / (1 + u->back_share);
    double rate = truth_least(truth_rate(u, i, j), port);

    return truth_stage(u, i, m) + truth_a(u, m) * u->L[i][j] + truth_b(u, m) * m / rate + truth_stage(u, j, m);
}

static double truth_both(const struct truth *u, int i, int j, double m)
{
    return fmax(2 * fmax(truth_stage(u, i, m), truth_stage(u, j, m)),
                (truth_crossing(u, i, j, m) + truth_crossing(u, j, i, m)) / 2);
}

static int truth_member(const struct truth *u, int g, int m)
{
    for (int i = 0; i < u->n; i++)
        if (u->group[i] == g && m-- == 0)
            return i;
    return -1;
}

static double truth_pairs(const struct truth *u, int g, int h, int n, double m)
{
    double start[MOST_HOSTS], rate[MOST_HOSTS], end[MOST_HOSTS], bytes[MOST_HOSTS], b[MOST_HOSTS];
    double weight[MOST_HOSTS], sum = 0;

    for (int k = 0; k < n; k++) {
        int i = truth_member(u, g, k), j = truth_member(u, h, g == h ? n + k : k);

        start[k] = truth_stage(u, i, m) + truth_a(u, m) * u->L[i][j];
        rate[k] = truth_rate(u, i, j);
        weight[k] = truth_weight(u, i, j);
        bytes[k] = m;
        b[k] = truth_b(u, m);
        sum += truth_stage(u, j, m) + truth_one_way(u, j, i, 0);
    }
    truth_flows(n, start, rate, weight, bytes, b, g == h ? 0 : u->trunk, end);
    for (int k = 0; k < n; k++)
        sum += end[k];
    return sum / n;
}

/* ---------------------------------------------------------------- records */

struct log {
    struct hrun_net_records r;
    size_t cap;
    double noise;              /* relative, of one repetition */
    int repetitions;
};

static void log_begin(struct log *l, const struct truth *u, double noise, int repetitions)
{
    *l = (struct log){ .noise = noise, .repetitions = repetitions };
    l->r.nhosts = u->n;
    l->r.hosts = calloc((size_t)u->n, sizeof *l->r.hosts);
    l->r.kind_of = calloc((size_t)u->n, sizeof *l->r.kind_of);
    l->r.nkinds = calloc((size_t)u->n, sizeof *l->r.nkinds);
    l->r.group_of = calloc((size_t)u->n, sizeof *l->r.group_of);
    for (int i = 0; i < u->n; i++) {
        char name[16];

        snprintf(name, sizeof name, "h%d", i);
        l->r.hosts[i] = strdup(name);
        l->r.kind_of[i] = u->kind[i];
        l->r.nkinds[i] = 1;
        l->r.group_of[i] = u->group[i];
    }
}

static int log_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A record whose median, scatter and longest are those of repetitions with noise. */
static void log_add(struct log *l, enum hrun_net_kind kind, int i, int j, int k, int n, double m, double back,
                    double time_s)
{
    struct hrun_net_record v = { kind, i, j, k, n, m, back, l->repetitions, time_s, 0, time_s, 0 };
    double t[64], mean = 0, ss = 0;

    if (l->noise > 0) {
        for (int r = 0; r < l->repetitions; r++) {
            t[r] = time_s * fmax(0.1, 1 + l->noise * truth_normal());
            mean += t[r] / l->repetitions;
        }
        for (int r = 0; r < l->repetitions; r++)
            ss += (t[r] - mean) * (t[r] - mean);
        qsort(t, (size_t)l->repetitions, sizeof *t, log_ascending);
        v.time_s = (t[l->repetitions / 2] + t[(l->repetitions - 1) / 2]) / 2;
        v.sd_s = l->repetitions > 1 ? sqrt(ss / (l->repetitions - 1)) : 0;
        v.max_s = t[l->repetitions - 1];
        v.mean_s = mean;
    }
    if (l->r.n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->r.v = realloc(l->r.v, l->cap * sizeof *l->r.v);
    }
    l->r.v[l->r.n++] = v;
}

/* What experiments are made. */
enum { EMPTY = 1, THERE = 2, BACK = 4, CALLS = 8, FANS = 16, FANS0 = 32, JOINS = 64, BOTHS = 128, TRUNKS = 256,
       ALL = 511, BALANCED = 512 };

static void log_trips(struct log *l, const struct truth *u, int what, double m)
{
    for (int i = 0; i < u->n; i++)
        for (int j = i + 1; j < u->n; j++) {
            if (what & EMPTY)
                log_add(l, HRUN_NET_TRIP, i, j, -1, 0, 0, 0, truth_one_way(u, i, j, 0) + truth_one_way(u, j, i, 0));
            if (what & THERE)
                log_add(l, HRUN_NET_TRIP, i, j, -1, 0, m, 0, truth_one_way(u, i, j, m) + truth_one_way(u, j, i, 0));
            if (what & BACK)
                log_add(l, HRUN_NET_TRIP, j, i, -1, 0, m, 0, truth_one_way(u, j, i, m) + truth_one_way(u, i, j, 0));
            if ((what & BOTHS) && (j == i + 1))
                log_add(l, HRUN_NET_BOTH, i, j, -1, 0, m, m, truth_both(u, i, j, m));
        }
    for (int i = 0; i < u->n && (what & CALLS); i++) {
        log_add(l, HRUN_NET_CALL, i, (i + 1) % u->n, -1, 0, 0, 0, truth_stage(u, i, 0));
        log_add(l, HRUN_NET_CALL, i, (i + 1) % u->n, -1, 0, m, 0, truth_stage(u, i, m));
    }
}

/* Bytes to j and k (in: from them), at most m, that take both as long. bytes[2] */
static void truth_balance(const struct truth *u, int i, int j, int k, int in, double m, double *bytes)
{
    double one = in ? truth_rate(u, j, i) : truth_rate(u, i, j), two = in ? truth_rate(u, k, i) : truth_rate(u, i, k);

    bytes[0] = floor(m * fmin(1, one / two));
    bytes[1] = floor(m * fmin(1, two / one));
}

/* Of all triples, those whose hosts add to a multiple of `every`. */
static void log_fans(struct log *l, const struct truth *u, int what, double m, int every)
{
    for (int i = 0; i < u->n; i++)
        for (int j = 0; j < u->n; j++)
            for (int k = j + 1; k < u->n; k++) {
                double out[2] = { m, m }, in[2] = { m, m };

                if (i == j || i == k || (i + j + k) % every)
                    continue;
                if (what & BALANCED) {
                    truth_balance(u, i, j, k, 0, m, out);
                    truth_balance(u, i, j, k, 1, m, in);
                }
                if (what & FANS)
                    log_add(l, HRUN_NET_FAN, i, j, k, 0, out[0], out[1], truth_fan(u, i, j, k, out[0], out[1]));
                if (what & FANS0)
                    log_add(l, HRUN_NET_FAN, i, j, k, 0, 0, 0, truth_fan(u, i, j, k, 0, 0));
                if (what & JOINS)
                    log_add(l, HRUN_NET_JOIN, i, j, k, 0, in[0], in[1], truth_join(u, i, j, k, in[0], in[1]));
            }
}

/* Both, and trunks between groups 0 and 1. */
static void log_all(struct log *l, const struct truth *u, int what, double m, int every)
{
    log_trips(l, u, what, m);
    log_fans(l, u, what, m, every);
    if (what & TRUNKS) {
        int n = 0;

        while (truth_member(u, 0, n) >= 0 && truth_member(u, 1, n) >= 0)
            n++;
        for (int k = 2; k <= n; k++) {
            log_add(l, HRUN_NET_PAIRS, 0, 1, -1, k, m, 0, truth_pairs(u, 0, 1, k, m));
            log_add(l, HRUN_NET_PAIRS, 1, 0, -1, k, m, 0, truth_pairs(u, 1, 0, k, m));
        }
    }
}

#endif
