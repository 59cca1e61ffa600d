/* net.h - networks at random, predictions on them, made-up networks and what experiments on them take */
#ifndef HRUN_TESTS_NET_H
#define HRUN_TESTS_NET_H

#include "fixture.h"

#include "net/estimate.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A network of n hosts to fill in, each its own class. */
static inline struct hrun_net *net_blank(const char *const *hosts, int n)
{
    struct hrun_net *net = net_make(hosts, n, n, 1, 1);

    for (int i = 0; i < n; i++)
        net->class_of[i] = i;
    return net;
}

/* Any number that is finite and not negative: zero often, very small and very large ones too. */
static inline double net_number(uint64_t *rng)
{
    double x;

    if (draw(rng) % 4 == 0)
        return 0;
    do {
        uint64_t bits = draw(rng);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return fabs(x);
}

static inline struct hrun_net_value net_value(uint64_t *rng)
{
    struct hrun_net_value v = { net_number(rng), NAN };

    if (draw(rng) % 3)
        v.half = net_number(rng);
    return v;
}

static inline void net_text(char **text, const char *to)
{
    free(*text);
    *text = strdup(to);
}

/* Up to nmax hosts, whatever the invariants allow. NULL when memory ran out. */
static inline struct hrun_net *net_random(uint64_t *rng, int nmax)
{
    /* What YAML could take for something else. */
    static const char *const words[] = { "", "null", "~", "1", "a: b", "# c", "- x", "{y}", "'", "two\nlines",
                                         "caf\xc3\xa9" };
    enum { NWORDS = sizeof words / sizeof *words };
    int n = 1 + (int)(draw(rng) % (unsigned)nmax);
    char names[64][32];
    const char *hosts[64];
    struct hrun_net *net;

    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "%s%d", words[1 + draw(rng) % (NWORDS - 1)], i);
        hosts[i] = names[i];
    }
    net = net_blank(hosts, n);
    if (!net)
        return NULL;
    net_text(&net->engine, words[draw(rng) % NWORDS]);
    net_text(&net->mpi, words[draw(rng) % NWORDS]);
    net_text(&net->date, words[draw(rng) % NWORDS]);
    net_text(&net->selector, words[1 + draw(rng) % (NWORDS - 1)]);
    net->ngroups = 1 + (int)(draw(rng) % (unsigned)n);
    free(net->trunks);
    net->trunks = calloc((size_t)net->ngroups * (size_t)net->ngroups, sizeof *net->trunks);
    net->nsegments = 1 + (int)(draw(rng) % 4);
    free(net->segments);
    net->segments = calloc((size_t)net->nsegments, sizeof *net->segments);
    for (int i = 0; i < net->ngroups * net->ngroups; i++)
        net->trunks[i] = draw(rng) % 2 ? net_value(rng) : (struct hrun_net_value){ 0, NAN };
    for (int i = 0; i < net->nsegments; i++)
        net->segments[i] = (struct hrun_net_segment){ i * (1 + 1 / 3.0), 1e-300 + net_number(rng),
                                                      1e-300 + net_number(rng) };
    for (int i = 0; i < n; i++) {
        struct hrun_net_class *c = &net->classes[i];
        int k = 1 + (int)(draw(rng) % 3);

        net->class_of[i] = (int)(draw(rng) % (unsigned)n);
        net->group_of[i] = (int)(draw(rng) % (unsigned)net->ngroups);
        c->C_s = net_value(rng);
        c->t_s_per_byte = net_value(rng);
        c->out_bytes_per_s = net_value(rng);
        c->in_bytes_per_s = net_value(rng);
        c->local_bytes_per_s = net_number(rng);
        c->nkinds = k;
        free(c->local_fixed_s);
        free(c->local_s_per_byte);
        c->local_fixed_s = calloc((size_t)k * (size_t)k, sizeof *c->local_fixed_s);
        c->local_s_per_byte = calloc((size_t)k * (size_t)k, sizeof *c->local_s_per_byte);
        for (int j = 0; j < k * k; j++) {
            c->local_fixed_s[j] = net_value(rng);
            c->local_s_per_byte[j] = net_value(rng);
        }
    }
    for (int i = 0; i < n * n; i++)
        net->pairs[i] = draw(rng) % 3 ? (struct hrun_net_pair){ net_value(rng), net_value(rng) }
                                          : (struct hrun_net_pair){ { 0, NAN }, { 0, NAN } };
    net->sync_bytes = net_number(rng);
    net->wire_waits = (int)(draw(rng) % 2);
    net->trunks_shared = (int)(draw(rng) % 2);
    net->bias_bytes = (double)(draw(rng) % 20000);
    net->back_share = (double)(draw(rng) % 1000) / 999;
    net->reduce_s_per_byte = net_number(rng);
    net->thresholds = (struct hrun_net_thresholds){ net_number(rng), 10, 10 + (double)(draw(rng) % 5),
                                                    -net_number(rng), net_number(rng), net_number(rng), 0.25 };
    return net;
}

static inline int net_same_doubles(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i])))
            return 0;
    return 1;
}

#define NET_SAME(a, b, n) net_same_doubles((const double *)(a), (const double *)(b), (size_t)(n) * sizeof *(a) / 8)

static inline int net_same_class(const struct hrun_net_class *a, const struct hrun_net_class *b)
{
    return a->nkinds == b->nkinds && NET_SAME(&a->C_s, &b->C_s, 1) && NET_SAME(&a->t_s_per_byte, &b->t_s_per_byte, 1) &&
           NET_SAME(&a->out_bytes_per_s, &b->out_bytes_per_s, 1) && NET_SAME(&a->in_bytes_per_s, &b->in_bytes_per_s, 1)
           && NET_SAME(&a->local_bytes_per_s, &b->local_bytes_per_s, 1) &&
           NET_SAME(a->local_fixed_s, b->local_fixed_s, a->nkinds * a->nkinds) &&
           NET_SAME(a->local_s_per_byte, b->local_s_per_byte, a->nkinds * a->nkinds);
}

/* Equal to the last bit. */
static inline int net_same(const struct hrun_net *a, const struct hrun_net *b)
{
    if (strcmp(a->engine, b->engine) || strcmp(a->mpi, b->mpi) || strcmp(a->selector, b->selector) ||
        strcmp(a->date, b->date) || a->nhosts != b->nhosts || a->nclasses != b->nclasses || a->ngroups != b->ngroups ||
        a->nsegments != b->nsegments)
        return 0;
    for (int i = 0; i < a->nhosts; i++)
        if (strcmp(a->hosts[i], b->hosts[i]) || a->class_of[i] != b->class_of[i] || a->group_of[i] != b->group_of[i])
            return 0;
    for (int i = 0; i < a->nclasses; i++)
        if (!net_same_class(&a->classes[i], &b->classes[i]))
            return 0;
    return NET_SAME(a->pairs, b->pairs, a->nclasses * a->nclasses) &&
           NET_SAME(a->trunks, b->trunks, a->ngroups * a->ngroups) &&
           NET_SAME(a->segments, b->segments, a->nsegments) && a->wire_waits == b->wire_waits &&
           a->trunks_shared == b->trunks_shared && NET_SAME(&a->back_share, &b->back_share, 1) &&
           NET_SAME(&a->bias_bytes, &b->bias_bytes, 1) &&
           NET_SAME(&a->sync_bytes, &b->sync_bytes, 1) &&
           NET_SAME(&a->reduce_s_per_byte, &b->reduce_s_per_byte, 1) && NET_SAME(&a->thresholds, &b->thresholds, 1);
}

/* ---------------------------------------------------------------- networks of plain hosts, and predictions */

/* n hosts "h0", ... */
static inline struct hrun_net *net_of(int n)
{
    const char *names[64];
    char text[64][8];

    for (int i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "h%d", i);
        names[i] = text[i];
    }
    return net_blank(names, n);
}

/* Everything at random, on n hosts behind one or two switches. */
static inline struct hrun_net *net_at_random(int n, uint64_t *seed)
{
    struct hrun_net *net = net_of(n);

    for (int i = 0; i < n; i++) {
        struct hrun_net_class *c = &net->classes[i];

        c->C_s.v = 1e-5 * rnd(seed);
        c->t_s_per_byte.v = rnd(seed) < 0.5 ? 0 : 1e-9 * rnd(seed);
        c->out_bytes_per_s.v = rnd(seed) < 0.3 ? 0 : 1e8 * (0.5 + rnd(seed));
        c->in_bytes_per_s.v = rnd(seed) < 0.3 ? 0 : 1e8 * (0.5 + rnd(seed));
        c->local_fixed_s[0].v = 1e-6 * rnd(seed);
        c->local_s_per_byte[0].v = 1e-9 * rnd(seed);
        c->local_bytes_per_s = rnd(seed) < 0.5 ? 0 : 1e9 * (1 + rnd(seed));
    }
    for (int i = 0; i < n * n; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-4 * rnd(seed), NAN },
                                                { 1e8 * (0.2 + rnd(seed)), NAN } };
    net->segments[0] = (struct hrun_net_segment){ 0, 0.5 + rnd(seed), 0.5 + rnd(seed) };
    net->sync_bytes = rnd(seed) < 0.3 ? 0 : 65536 * rnd(seed) + 1;
    net->wire_waits = rnd(seed) < 0.5;
    net->back_share = rnd(seed) < 0.5 ? 0 : 0.05;
    net->bias_bytes = rnd(seed) < 0.5 ? 0 : 8775;
    net->reduce_s_per_byte = 1e-9 * rnd(seed);
    if (rnd(seed) < 0.5) {
        net->ngroups = rnd_int(seed, 2, 3);
        free(net->trunks);
        net->trunks = calloc((size_t)net->ngroups * (size_t)net->ngroups, sizeof *net->trunks);
        for (int i = 0; i < n; i++)
            net->group_of[i] = i % net->ngroups;
        for (int i = 0; i < net->ngroups * net->ngroups; i++)
            net->trunks[i] = (struct hrun_net_value){ rnd(seed) < 0.2 ? 0 : 1e8 * (0.1 + rnd(seed)), NAN };
        net->trunks_shared = rnd(seed) < 0.5;
    }
    return net;
}

/* The time on hosts host[n]; fails the test's sums with -1 and a note. */
static inline double net_on(const struct hrun_net *net, enum hrun_net_op op, const char *algorithm,
                            double bytes, const int *host, int n, int root)
{
    struct hrun_net_call call = { .op = op, .bytes = bytes, .root = root, .algorithm = algorithm };
    struct hrun_net_ranks ranks = { n, host, NULL };
    struct hrun_net_time t;
    struct hrun_error err = { 0 };

    if (!hrun_net_predict(net, &call, &ranks, &t, &err))
        return t.time_s;
    printf("# %s %s, %d ranks, root %d: %s\n", hrun_net_op_name(op), algorithm ? algorithm : "", n, root, err.text);
    return -1;
}

static inline double net_time_at(const struct hrun_net *net, enum hrun_net_op op,
                                 const char *algorithm, double bytes, const int *host, int n)
{
    return net_on(net, op, algorithm, bytes, host, n, 0);
}

/* One rank on each of the first n hosts. */
static inline double net_at_root(const struct hrun_net *net, enum hrun_net_op op,
                                 const char *algorithm, double bytes, int n, int root)
{
    int host[64];

    for (int i = 0; i < n; i++)
        host[i] = i;
    return net_on(net, op, algorithm, bytes, host, n, root);
}

static inline double net_time(const struct hrun_net *net, enum hrun_net_op op, const char *algorithm,
                              double bytes, int n)
{
    return net_at_root(net, op, algorithm, bytes, n, 0);
}

/* ---------------------------------------------------------------- what experiments take
 *
 * The formulas of net/estimate.h's experiments are written down here anew, in numbers without derivatives and with a simple
 * simulation of messages that share a port, as an oracle for lib/net's.
 */

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

static inline double truth_uniform(void)  /* 0..1 */
{
    return rnd(&truth_state);
}

static inline double truth_between(double low, double high)
{
    return low + (high - low) * truth_uniform();
}

static inline double truth_normal(void)
{
    return rnd_normal(&truth_state);
}

/* ---------------------------------------------------------------- the model */

static inline int truth_segment(const struct truth *u, double m)
{
    int s = 0;

    while (s + 1 < u->nsegments && u->from[s + 1] <= m)
        s++;
    return s;
}

static inline double truth_a(const struct truth *u, double m)
{
    return u->nsegments ? u->a[truth_segment(u, m)] : 1;
}

static inline double truth_b(const struct truth *u, double m)
{
    return u->nsegments ? u->b[truth_segment(u, m)] : 1;
}

static inline double truth_stage(const struct truth *u, int i, double m)
{
    return u->C[i] + u->t[i] * m;
}

static inline double truth_least(double a, double b)   /* of rates, 0: no limit */
{
    return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}

/* What a message alone moves a second, in bytes that count. */
static inline double truth_rate(const struct truth *u, int i, int j)
{
    double r = truth_least(u->beta[i][j], truth_least(u->out[i], u->in[j]));

    return u->group[i] != u->group[j] ? truth_least(r, u->trunk) : r;
}

static inline double truth_weight(const struct truth *u, int i, int j)
{
    return u->bias > 0 ? 1 / (u->L[i][j] + u->bias * (1 / u->out[i] + 1 / u->in[j])) : 1;
}

static inline double truth_one_way(const struct truth *u, int i, int j, double m)
{
    double bytes_s = truth_b(u, m) * m / truth_rate(u, i, j);

    return truth_stage(u, i, m) + truth_a(u, m) * u->L[i][j] + bytes_s + truth_stage(u, j, m);
}

/* Ends of n messages of m[] bytes, of which each counts b[] times, that begin at start[], alone have rate[], in bytes
 * that count, and share `all` (0: no limit) by weight[]: at each instant the least demands are met first. */
static inline void truth_flows(int n, const double *start, const double *rate, const double *weight, const double *m,
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
static inline double truth_take_in(double from, const double *at, const double *each)
{
    int first = at[1] < at[0];

    return fmax(fmax(from, at[first]) + each[first], at[!first]) + each[!first];
}

static inline double truth_port(const struct truth *u, int i, int j, int k, double port)
{
    return u->group[j] == u->group[k] && u->group[j] != u->group[i] ? truth_least(port, u->trunk) : port;
}

/* m2: of the second message. */
static inline double truth_fan(const struct truth *u, int i, int j, int k, double m, double m2)
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

static inline double truth_join(const struct truth *u, int i, int j, int k, double m, double m2)
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

static inline double truth_crossing(const struct truth *u, int i, int j, double m)
{
    double port = truth_least(truth_least(u->out[i], u->in[j]), truth_least(u->in[i], u->out[j])) / (1 + u->back_share);
    double rate = truth_least(truth_rate(u, i, j), port);

    return truth_stage(u, i, m) + truth_a(u, m) * u->L[i][j] + truth_b(u, m) * m / rate + truth_stage(u, j, m);
}

static inline double truth_both(const struct truth *u, int i, int j, double m)
{
    return fmax(2 * fmax(truth_stage(u, i, m), truth_stage(u, j, m)),
                (truth_crossing(u, i, j, m) + truth_crossing(u, j, i, m)) / 2);
}

static inline int truth_member(const struct truth *u, int g, int m)
{
    for (int i = 0; i < u->n; i++)
        if (u->group[i] == g && m-- == 0)
            return i;
    return -1;
}

static inline double truth_pairs(const struct truth *u, int g, int h, int n, double m)
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

static inline void log_begin(struct log *l, const struct truth *u, double noise, int repetitions)
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

static inline int log_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A record whose median, scatter and longest are those of repetitions with noise. */
static inline void log_add(struct log *l, enum hrun_net_kind kind, int i, int j, int k, int n, double m, double back,
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

static inline void log_trips(struct log *l, const struct truth *u, int what, double m)
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
static inline void truth_balance(const struct truth *u, int i, int j, int k, int in, double m, double *bytes)
{
    double one = in ? truth_rate(u, j, i) : truth_rate(u, i, j), two = in ? truth_rate(u, k, i) : truth_rate(u, i, k);

    bytes[0] = floor(m * fmin(1, one / two));
    bytes[1] = floor(m * fmin(1, two / one));
}

/* Of all triples, those whose hosts add to a multiple of `every`. */
static inline void log_fans(struct log *l, const struct truth *u, int what, double m, int every)
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
static inline void log_all(struct log *l, const struct truth *u, int what, double m, int every)
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

/* ---------------------------------------------------------------- made-up networks */

/* Paper 002's model: C, t and beta, the same both ways. */
static inline void paper_network(struct truth *u, int n, uint64_t seed)
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
static inline void wired_network(struct truth *u, int n, uint64_t seed)
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
static inline void two_switches(struct truth *u, int n)
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

static inline void log_sweep(struct log *l, const struct truth *u, int i, int j)
{
    for (double m = 0; m <= 1 << 20; m = m < 32 ? m + 32 : floor(m * 1.2))
        log_add(l, HRUN_NET_TRIP, i, j, -1, 0, m, 0, truth_one_way(u, i, j, m) + truth_one_way(u, j, i, 0));
}

/* ---------------------------------------------------------------- how far off */

static inline double off(double got, double want)
{
    return want > 0 ? fabs(got / want - 1) : got;
}

struct offs {
    double C, t, L, beta, out, in;     /* the largest of each kind, relative */
};

static inline struct offs compare(const struct hrun_net *net, const struct truth *u)
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

static inline double largest(struct offs o)
{
    return fmax(fmax(fmax(o.C, o.t), fmax(o.L, o.beta)), fmax(o.out, o.in));
}

static inline struct hrun_net *estimate(const struct log *l, struct hrun_net_quality *q)
{
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;

    if (hrun_net_estimate(&l->r, &net, q, &err))
        printf("# estimating failed: %s\n", err.text);
    return net;
}

static inline void log_end(struct log *l)
{
    hrun_net_records_release(&l->r);
}

#endif
