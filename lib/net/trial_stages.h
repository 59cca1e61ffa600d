/* trial_stages.h - times of experiments by the stages of the model, for two types of numbers
 *
 * One source for trial.c, where a `num` is a double, and trial_slope.c, where a `num` has derivatives and is ten times
 * slower. trial_slope.c defines NET_TRIAL_NUM, num, struct trial and the num_ functions before it includes this file.
 */
#ifndef HRUN_NET_TRIAL_STAGES_H
#define HRUN_NET_TRIAL_STAGES_H

#include "net/fitting.h"

#ifndef NET_TRIAL_NUM
typedef double num;

struct trial {
    const struct net_columns *c;
    const struct net_given *given;
    const double *x;
};

static double num_value(num a)
{
    return a;
}

static num num_constant(double v)
{
    return v;
}

/* The value of x at a column; 0 for -1. */
static num num_parameter(struct trial *t, int column)
{
    return column >= 0 ? t->x[column] : 0;
}

/* f a + g b */
static num num_sum(double f, num a, double g, num b)
{
    return f * a + g * b;
}

static num num_product(num a, num b)
{
    return a * b;
}

static num num_quotient(num a, num b)
{
    return a / b;
}
#endif

static num plus(num a, num b)
{
    return num_sum(1, a, 1, b);
}

static num num_times(double f, num a)
{
    return num_sum(f, a, 0, a);
}

static num later(num a, num b)
{
    return num_value(a) >= num_value(b) ? a : b;
}

static num earlier(num a, num b)
{
    return num_value(a) <= num_value(b) ? a : b;
}

static int class_of(const struct trial *t, int host)
{
    return t->c->class_of[host];
}

static int pair_of(const struct trial *t, int from, int to)
{
    return class_of(t, from) * t->c->nclasses + class_of(t, to);
}

/* The processor stage of a host, C + t M. */
static num stage(struct trial *t, int host, double bytes)
{
    int k = class_of(t, host);

    return num_sum(1, num_parameter(t, t->c->C[k]), bytes, num_parameter(t, t->c->t[k]));
}

static num latency(struct trial *t, int from, int to, double bytes)
{
    return num_times(net_segment(t->given, bytes)->a, num_parameter(t, t->c->L[pair_of(t, from, to)]));
}

/* The factor b by which wires, ports and trunks multiply the bytes of a message. */
static double factor(const struct trial *t, double bytes)
{
    return net_segment(t->given, bytes)->b;
}

/* The trunk from one host's group to another's. */
static num trunk(const struct trial *t, int from, int to)
{
    const struct net_given *g = t->given;

    return num_constant(g->trunk_s_per_byte[g->group_of[from] * g->ngroups + g->group_of[to]]);
}

/* s/byte of the wire for a single message, which includes the limits of ports and trunk. */
static num wire(struct trial *t, int from, int to)
{
    return num_parameter(t, t->c->g[pair_of(t, from, to)]);
}

static num trial_one_way(struct trial *t, int from, int to, double bytes)
{
    num r = plus(stage(t, from, bytes), latency(t, from, to, bytes));

    return plus(plus(r, num_times(factor(t, bytes) * bytes, wire(t, from, to))), stage(t, to, bytes));
}

/* s/byte of the resource that messages i -> j and i -> k (or j -> i and k -> i) share: the port, or the trunk if both
 * use it and it is slower. */
static num shared(struct trial *t, int column, int i, int j, int k, int outward)
{
    const int *group = t->given->group_of;
    num port = num_parameter(t, column);

    if (group[j] == group[k] && group[j] != group[i])
        port = later(port, outward ? trunk(t, i, j) : trunk(t, j, i));
    return port;
}

struct flow {
    double bytes;                  /* bytes through the port */
    num start, alone, way, end;    /* s, but alone: s/byte; way: its length, 0: equal weights */
};

/* Replace the rates *r1 and *r2 of two flows, which exceed `all` together, by fair ones; weights are one over the ways
 * (net.h, bias_bytes). */
static void fair(num all, num way1, num way2, num *r1, num *r2)
{
    num ways = plus(way1, way2), half = num_times(0.5, all), s1 = half, s2 = half;

    if (num_value(ways) > 0) {
        s1 = num_product(all, num_quotient(way2, ways));
        s2 = num_product(all, num_quotient(way1, ways));
    }
    if (num_value(*r1) <= num_value(s1))
        *r2 = num_sum(1, all, -1, *r1);
    else if (num_value(*r2) <= num_value(s2))
        *r1 = num_sum(1, all, -1, *r2);
    else {
        *r1 = s1;
        *r2 = s2;
    }
}

/* Set the ends of two flows that share a port max-min fairly. The port's time per byte is limited to that of each flow
 * alone. */
static void share_two(struct flow *f, struct flow *g, num port)
{
    struct flow *first = num_value(f->start) <= num_value(g->start) ? f : g, *second = first == f ? g : f;
    num one = num_constant(1), r1, r2, all, left, t1, t2;

    port = earlier(port, earlier(first->alone, second->alone));
    first->end = plus(first->start, num_times(first->bytes, first->alone));
    second->end = plus(second->start, num_times(second->bytes, second->alone));
    if (!(num_value(port) > 0) || num_value(second->start) >= num_value(first->end))
        return;
    r1 = num_quotient(one, first->alone);
    r2 = num_quotient(one, second->alone);
    all = num_quotient(one, port);
    if (num_value(r1) + num_value(r2) <= num_value(all))
        return;
    left = num_sum(1, num_constant(first->bytes), -1, num_product(r1, num_sum(1, second->start, -1, first->start)));
    fair(all, first->way, second->way, &r1, &r2);
    t1 = num_quotient(left, r1);
    t2 = num_quotient(num_constant(second->bytes), r2);
    if (num_value(t1) <= num_value(t2)) {
        first->end = plus(second->start, t1);
        left = num_sum(1, num_constant(second->bytes), -1, num_product(r2, t1));
        second->end = plus(first->end, num_product(left, second->alone));
    } else {
        second->end = plus(second->start, t2);
        left = num_sum(1, left, -1, num_product(r1, t2));
        first->end = plus(second->end, num_product(left, first->alone));
    }
}

/* A message at its receiver: arrival and processor stage, s. */
struct arrival {
    num at, takes;
};

/* The time when the receiver, busy until `free`, has processed two messages, the earlier one first. */
static num serve_two(num free, struct arrival a, struct arrival b)
{
    int in_order = num_value(a.at) <= num_value(b.at);
    struct arrival first = in_order ? a : b, second = in_order ? b : a;

    return plus(later(plus(later(free, first.at), first.takes), second.at), second.takes);
}

static num trial_trip(struct trial *t, const struct hrun_net_record *r)
{
    return plus(trial_one_way(t, r->i, r->j, r->bytes), trial_one_way(t, r->j, r->i, r->back_bytes));
}

/* The time when j's empty reply to a message that arrived at `arrival` reaches i. */
static num reply(struct trial *t, int i, int j, num arrival, double bytes)
{
    return plus(plus(arrival, stage(t, j, bytes)), plus(stage(t, j, 0), latency(t, j, i, 0)));
}

/* The length of a way, which does not depend on the message. Only the bias has a derivative: otherwise ports that
 * affect nothing else would fit the scatter. */
static num trial_way(struct trial *t, int from, int to)
{
    double out = num_value(num_parameter(t, t->c->out[class_of(t, from)]));
    double ports = out + num_value(num_parameter(t, t->c->in[class_of(t, to)]));
    double delay = num_value(num_parameter(t, t->c->L[pair_of(t, from, to)]));

    if (t->c->bias >= 0)
        return num_sum(1, num_constant(delay), ports, num_parameter(t, t->c->bias));
    return num_constant(t->given->bias_bytes > 0 ? delay + t->given->bias_bytes * ports : 0);
}

/* The flow of a message from one host to another whose latency begins at `sent`. */
static struct flow flow(struct trial *t, int from, int to, num sent, double bytes)
{
    return (struct flow){ factor(t, bytes) * bytes, plus(sent, latency(t, from, to, bytes)), wire(t, from, to),
                          trial_way(t, from, to), num_constant(0) };
}

static num trial_fan(struct trial *t, const struct hrun_net_record *r)
{
    double m = r->bytes, m2 = net_second_bytes(r);
    num one = stage(t, r->i, m), sent = plus(one, stage(t, r->i, m2)), empty = stage(t, r->i, 0);
    struct flow a = flow(t, r->i, r->j, one, m), b = flow(t, r->i, r->k, sent, m2);

    share_two(&a, &b, shared(t, t->c->out[class_of(t, r->i)], r->i, r->j, r->k, 1));
    return serve_two(sent, (struct arrival){ reply(t, r->i, r->j, a.end, m), empty },
                     (struct arrival){ reply(t, r->i, r->k, b.end, m2), empty });
}

/* The flow of j's message to i, which an empty message sent by i at `asked` starts. */
static struct flow trial_answer(struct trial *t, int i, int j, num asked, double bytes)
{
    num there = plus(plus(asked, latency(t, i, j, 0)), stage(t, j, 0));

    return flow(t, j, i, plus(there, stage(t, j, bytes)), bytes);
}

static num trial_join(struct trial *t, const struct hrun_net_record *r)
{
    double m = r->bytes, m2 = net_second_bytes(r);
    num send = stage(t, r->i, 0), sent = num_times(2, send);
    struct flow a = trial_answer(t, r->i, r->j, send, m), b = trial_answer(t, r->i, r->k, sent, m2);

    share_two(&a, &b, shared(t, t->c->in[class_of(t, r->i)], r->i, r->j, r->k, 0));
    return serve_two(sent, (struct arrival){ a.end, stage(t, r->i, m) }, (struct arrival){ b.end, stage(t, r->i, m2) });
}

static num trial_call(struct trial *t, const struct hrun_net_record *r)
{
    return stage(t, r->i, r->bytes);
}

/* The time of a message while an equal one flows back: each port also carries `back_share` of its bytes. The rate of a
 * shared trunk already includes the acknowledgements of one message. */
static num one_way_of_two(struct trial *t, int from, int to, double bytes)
{
    int a = class_of(t, from), b = class_of(t, to);
    double back = 1 + t->given->back_share;
    num ends = plus(stage(t, from, bytes), stage(t, to, bytes));
    num out = later(num_parameter(t, t->c->out[a]), num_parameter(t, t->c->in[a]));
    num in = later(num_parameter(t, t->c->in[b]), num_parameter(t, t->c->out[b]));
    num flow = later(wire(t, from, to), num_times(back, later(out, in)));

    if (t->given->group_of[from] != t->given->group_of[to])
        flow = later(flow, num_times(t->given->trunks_shared ? 2 : back, trunk(t, from, to)));
    return plus(plus(ends, latency(t, from, to, bytes)), num_times(factor(t, bytes) * bytes, flow));
}

static num trial_both(struct trial *t, const struct hrun_net_record *r)
{
    num busy = later(stage(t, r->i, r->bytes), stage(t, r->j, r->bytes));
    num ways = plus(one_way_of_two(t, r->i, r->j, r->bytes), one_way_of_two(t, r->j, r->i, r->bytes));

    return later(num_times(2, busy), num_times(0.5, ways));
}

static num (*const trials[HRUN_NET_NKINDS])(struct trial *t, const struct hrun_net_record *r) = {
    [HRUN_NET_TRIP] = trial_trip, [HRUN_NET_FAN] = trial_fan, [HRUN_NET_JOIN] = trial_join,
    [HRUN_NET_CALL] = trial_call, [HRUN_NET_BOTH] = trial_both,
};

#endif
