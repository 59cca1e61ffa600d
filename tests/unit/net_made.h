/* net_made.h - made-up networks for tests of the estimate, their records, and how far off an estimate is */
#ifndef HRUN_TESTS_NET_MADE_H
#define HRUN_TESTS_NET_MADE_H

#include "tap.h"
#include "unit/net_truth.h"

#define UNUSED __attribute__((unused))

UNUSED static const struct hrun_net_estimate_options plain = { 0, 0.05, 0.01 }, sharing = HRUN_NET_ESTIMATE_DEFAULT;
static const double M = 16384;

/* ---------------------------------------------------------------- made-up networks */

/* Paper 002's model: C, t and beta, the same both ways. */
UNUSED static void paper_network(struct truth *u, int n, uint64_t seed)
{
    truth_state = seed;
    *u = (struct truth){ .n = n };
    for (int i = 0; i < n; i++) {
        u->C[i] = truth_between(20e-6, 80e-6);
        u->t[i] = truth_between(1e-9, 8e-9);
        u->kind[i] = i;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            u->beta[i][j] = u->beta[j][i] = truth_between(5e7, 1.2e8);
}

/* A switch whose ports limit what goes on. */
UNUSED static void wired_network(struct truth *u, int n, uint64_t seed)
{
    truth_state = seed;
    *u = (struct truth){ .n = n };
    for (int i = 0; i < n; i++) {
        u->C[i] = truth_between(2e-6, 8e-6);
        u->t[i] = truth_between(1e-10, 4e-10);
        u->out[i] = truth_between(8e7, 1.3e8);
        u->in[i] = truth_between(8e7, 1.3e8);
        u->kind[i] = i;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (i == j)
                continue;
            u->L[i][j] = u->L[j][i] = truth_between(20e-6, 30e-6);
            u->beta[i][j] = fmin(u->out[i], u->in[j]);
        }
}

/* The same, hosts of two kinds, and the second half behind another switch with a thin trunk. */
UNUSED static void two_switches(struct truth *u, int n)
{
    *u = (struct truth){ .n = n, .trunk = 1.2e8 };
    for (int i = 0; i < n; i++) {
        u->kind[i] = i % 2;
        u->group[i] = i >= n / 2;
        u->C[i] = u->kind[i] ? 6e-6 : 3e-6;
        u->t[i] = u->kind[i] ? 3e-10 : 1e-10;
        u->out[i] = u->in[i] = u->kind[i] ? 8e7 : 1.1e8;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (i == j)
                continue;
            u->L[i][j] = u->group[i] == u->group[j] ? 20e-6 : 50e-6;
            u->beta[i][j] = fmin(u->out[i], u->in[j]);
        }
}

UNUSED static void log_sweep(struct log *l, const struct truth *u, int i, int j)
{
    for (double m = 0; m <= 1 << 20; m = m < 32 ? m + 32 : floor(m * 1.2))
        log_add(l, HRUN_NET_TRIP, i, j, -1, 0, m, 0, truth_one_way(u, i, j, m) + truth_one_way(u, j, i, 0));
}

/* ---------------------------------------------------------------- how far off */

UNUSED static double off(double got, double want)
{
    return want > 0 ? fabs(got / want - 1) : got;
}

struct offs {
    double C, t, L, beta, out, in;     /* the largest of each kind, relative */
};

UNUSED static struct offs compare(const struct hrun_net *net, const struct truth *u)
{
    struct offs o = { 0 };

    for (int i = 0; i < u->n; i++) {
        const struct hrun_net_class *c = &net->classes[net->class_of[i]];

        o.C = fmax(o.C, off(c->C_s.v, u->C[i]));
        o.t = fmax(o.t, off(c->t_s_per_byte.v, u->t[i]));
        o.out = fmax(o.out, off(c->out_bytes_per_s.v, u->out[i]));
        o.in = fmax(o.in, off(c->in_bytes_per_s.v, u->in[i]));
        for (int j = 0; j < u->n; j++) {
            const struct hrun_net_pair *p = &net->pairs[net->class_of[i] * net->nclasses + net->class_of[j]];

            if (i == j)
                continue;
            o.L = fmax(o.L, off(p->L_s.v, u->L[i][j]));
            o.beta = fmax(o.beta, off(p->beta_bytes_per_s.v, u->beta[i][j]));
        }
    }
    return o;
}

UNUSED static double largest(struct offs o)
{
    return fmax(fmax(fmax(o.C, o.t), fmax(o.L, o.beta)), fmax(o.out, o.in));
}

UNUSED static struct hrun_net *estimate(const struct log *l, const struct hrun_net_estimate_options *options,
                                 struct hrun_net_quality *q)
{
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;

    if (hrun_net_estimate(&l->r, options, &net, q, &err))
        printf("# estimating failed: %s\n", err.text);
    return net;
}

UNUSED static void log_end(struct log *l)
{
    hrun_net_records_release(&l->r);
}

#endif
