/* trial.c - experiments by the stages of the model, in numbers that know their derivatives; see trial.h */
#include "net/trial.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- numbers with their derivatives */

/* Derivatives by the parameters that the trial at hand has asked for so far. */
struct dual {
    double v, d[NET_SLOTS];
};

struct trial {
    const struct net_columns *c;
    const struct net_given *given;
    const double *x;
    int n, column[NET_SLOTS];
};

static struct dual constant(double v)
{
    return (struct dual){ v, { 0 } };
}

static struct dual parameter(struct trial *t, int column)
{
    struct dual r = constant(column >= 0 ? t->x[column] : 0);
    int slot = 0;

    if (column < 0)
        return r;
    while (slot < t->n && t->column[slot] != column)
        slot++;
    t->column[slot] = column;
    t->n = slot == t->n ? t->n + 1 : t->n;
    r.d[slot] = 1;
    return r;
}

/* f a + g b */
static struct dual sum(double f, struct dual a, double g, struct dual b)
{
    struct dual r = { f * a.v + g * b.v, { 0 } };

    for (int i = 0; i < NET_SLOTS; i++)
        r.d[i] = f * a.d[i] + g * b.d[i];
    return r;
}

static struct dual plus(struct dual a, struct dual b)
{
    return sum(1, a, 1, b);
}

static struct dual times(double f, struct dual a)
{
    return sum(f, a, 0, a);
}

static struct dual product(struct dual a, struct dual b)
{
    struct dual r = sum(b.v, a, a.v, b);

    r.v = a.v * b.v;
    return r;
}

static struct dual quotient(struct dual a, struct dual b)
{
    struct dual r = sum(1 / b.v, a, -a.v / b.v / b.v, b);

    r.v = a.v / b.v;
    return r;
}

static struct dual later(struct dual a, struct dual b)
{
    return a.v >= b.v ? a : b;
}

static struct dual earlier(struct dual a, struct dual b)
{
    return a.v <= b.v ? a : b;
}

/* ---------------------------------------------------------------- parameters of hosts and pairs */

static int class_of(const struct trial *t, int host)
{
    return t->c->class_of[host];
}

static int pair_of(const struct trial *t, int from, int to)
{
    return class_of(t, from) * t->c->nclasses + class_of(t, to);
}

const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes)
{
    const struct hrun_net_segment *s = given->segments;

    for (int i = 1; i < given->nsegments && given->segments[i].from_bytes <= bytes; i++)
        s = &given->segments[i];
    return s;
}

/* A host's part in a message, C + t M. */
static struct dual stage(struct trial *t, int host, double bytes)
{
    int k = class_of(t, host);

    return sum(1, parameter(t, t->c->C[k]), bytes, parameter(t, t->c->t[k]));
}

static struct dual latency(struct trial *t, int from, int to, double bytes)
{
    return times(net_segment(t->given, bytes)->a, parameter(t, t->c->L[pair_of(t, from, to)]));
}

/* The trunk from one host's group to another's, s/byte. */
static struct dual trunk(const struct trial *t, int from, int to)
{
    const struct net_given *g = t->given;

    return constant(g->trunk_s_per_byte[g->group_of[from] * g->ngroups + g->group_of[to]]);
}

/* s/byte on the wire alone. Ports and trunks are no tighter than g is (system.h), but can be than b g: were they the
 * ones to count where all are equal, nothing would tell g. */
static struct dual wire(struct trial *t, int from, int to, double bytes)
{
    double b = net_segment(t->given, bytes)->b;
    struct dual r = times(b, parameter(t, t->c->g[pair_of(t, from, to)]));

    if (b >= 1)
        return r;
    r = later(r, parameter(t, t->c->out[class_of(t, from)]));
    r = later(r, parameter(t, t->c->in[class_of(t, to)]));
    return later(r, trunk(t, from, to));
}

static struct dual one_way(struct trial *t, int from, int to, double bytes)
{
    struct dual r = plus(stage(t, from, bytes), latency(t, from, to, bytes));

    return plus(plus(r, times(bytes, wire(t, from, to, bytes))), stage(t, to, bytes));
}

/* s/byte of what messages i -> j and i -> k (or j -> i and k -> i) share: the port, and the trunk if both go the same
 * way. */
static struct dual shared(struct trial *t, int column, int i, int j, int k, int outward)
{
    const int *group = t->given->group_of;
    struct dual port = parameter(t, column);

    if (group[j] == group[k] && group[j] != group[i])
        port = later(port, outward ? trunk(t, i, j) : trunk(t, j, i));
    return port;
}

/* ---------------------------------------------------------------- two messages that share a port */

struct flow {
    struct dual start, alone, way, end;    /* s, s/byte, s: how long its way is, s */
};

/* Fair shares of one rate between two that alone would have r1 and r2 and together more than all: the shorter the way,
 * the more (net.h, bias_bytes). */
static void fair(struct dual all, struct dual way1, struct dual way2, struct dual *r1, struct dual *r2)
{
    struct dual ways = plus(way1, way2), half = times(0.5, all), s1 = half, s2 = half;

    if (ways.v > 0) {
        s1 = product(all, quotient(way2, ways));
        s2 = product(all, quotient(way1, ways));
    }
    if (r1->v <= s1.v)
        *r2 = sum(1, all, -1, *r1);
    else if (r2->v <= s2.v)
        *r1 = sum(1, all, -1, *r2);
    else {
        *r1 = s1;
        *r2 = s2;
    }
}

/* The ends of both, max-min fair. The port is no tighter than what one takes alone. */
static void share_two(struct flow *f, struct flow *g, double bytes, struct dual port)
{
    struct flow *first = f->start.v <= g->start.v ? f : g, *second = first == f ? g : f;
    struct dual one = constant(1), r1, r2, all, left, t1, t2;

    port = earlier(port, earlier(first->alone, second->alone));
    first->end = plus(first->start, times(bytes, first->alone));
    second->end = plus(second->start, times(bytes, second->alone));
    if (!(port.v > 0) || second->start.v >= first->end.v)
        return;
    r1 = quotient(one, first->alone);
    r2 = quotient(one, second->alone);
    all = quotient(one, port);
    if (r1.v + r2.v <= all.v)
        return;
    left = sum(1, constant(bytes), -1, product(r1, sum(1, second->start, -1, first->start)));
    fair(all, first->way, second->way, &r1, &r2);
    t1 = quotient(left, r1);
    t2 = quotient(constant(bytes), r2);
    if (t1.v <= t2.v) {
        first->end = plus(second->start, t1);
        left = sum(1, constant(bytes), -1, product(r2, t1));
        second->end = plus(first->end, product(left, second->alone));
    } else {
        second->end = plus(second->start, t2);
        left = sum(1, left, -1, product(r1, t2));
        first->end = plus(second->end, product(left, first->alone));
    }
}

/* The receiver, busy until `free`, takes in two messages that come at a and b: `each` for each. */
static struct dual take_in(struct dual free, struct dual a, struct dual b, struct dual each)
{
    struct dual one = plus(later(free, earlier(a, b)), each);

    return plus(later(one, later(a, b)), each);
}

/* ---------------------------------------------------------------- experiments */

static struct dual trip(struct trial *t, const struct hrun_net_record *r)
{
    return plus(one_way(t, r->i, r->j, r->bytes), one_way(t, r->j, r->i, r->back_bytes));
}

/* When j's empty reply to a message that is there at `arrival` reaches i. */
static struct dual reply(struct trial *t, int i, int j, struct dual arrival, double bytes)
{
    return plus(plus(arrival, stage(t, j, bytes)), plus(stage(t, j, 0), latency(t, j, i, 0)));
}

/* A message from one host to another, on the wire from `sent` on. */
static struct flow flow(struct trial *t, int from, int to, struct dual sent, double bytes)
{
    struct dual delay = latency(t, from, to, bytes), ports = constant(0), way = constant(0);
    double bias = t->given->bias_bytes;

    if (bias > 0) {
        ports = plus(parameter(t, t->c->out[class_of(t, from)]), parameter(t, t->c->in[class_of(t, to)]));
        way = sum(1, delay, bias, ports);
    }
    return (struct flow){ plus(sent, delay), wire(t, from, to, bytes), way, constant(0) };
}

static struct dual fan(struct trial *t, const struct hrun_net_record *r)
{
    double m = r->bytes;
    struct dual send = stage(t, r->i, m), sent = times(2, send);
    struct flow a = flow(t, r->i, r->j, send, m), b = flow(t, r->i, r->k, sent, m);

    share_two(&a, &b, m, shared(t, t->c->out[class_of(t, r->i)], r->i, r->j, r->k, 1));
    return take_in(sent, reply(t, r->i, r->j, a.end, m), reply(t, r->i, r->k, b.end, m), stage(t, r->i, 0));
}

/* j's message, told by an empty one that i has sent by `told`, on the wire to i */
static struct flow answer(struct trial *t, int i, int j, struct dual told, double bytes)
{
    struct dual there = plus(plus(told, latency(t, i, j, 0)), stage(t, j, 0));

    return flow(t, j, i, plus(there, stage(t, j, bytes)), bytes);
}

static struct dual join(struct trial *t, const struct hrun_net_record *r)
{
    double m = r->bytes;
    struct dual send = stage(t, r->i, 0), sent = times(2, send);
    struct flow a = answer(t, r->i, r->j, send, m), b = answer(t, r->i, r->k, sent, m);

    share_two(&a, &b, m, shared(t, t->c->in[class_of(t, r->i)], r->i, r->j, r->k, 0));
    return take_in(sent, a.end, b.end, stage(t, r->i, m));
}

static struct dual call(struct trial *t, const struct hrun_net_record *r)
{
    return stage(t, r->i, r->bytes);
}

/* One way while as many bytes come back: each port also lets through `back_share` of them. */
static struct dual one_way_of_two(struct trial *t, int from, int to, double bytes)
{
    int a = class_of(t, from), b = class_of(t, to);
    struct dual ends = plus(stage(t, from, bytes), stage(t, to, bytes));
    struct dual out = later(parameter(t, t->c->out[a]), parameter(t, t->c->in[a]));
    struct dual in = later(parameter(t, t->c->in[b]), parameter(t, t->c->out[b]));
    struct dual flow = later(wire(t, from, to, bytes), times(1 + t->given->back_share, later(out, in)));

    return plus(plus(ends, latency(t, from, to, bytes)), times(bytes, flow));
}

static struct dual both(struct trial *t, const struct hrun_net_record *r)
{
    struct dual busy = later(stage(t, r->i, r->bytes), stage(t, r->j, r->bytes));
    struct dual ways = plus(one_way_of_two(t, r->i, r->j, r->bytes), one_way_of_two(t, r->j, r->i, r->bytes));

    return later(times(2, busy), times(0.5, ways));
}

static struct dual (*const trials[HRUN_NET_NKINDS])(struct trial *t, const struct hrun_net_record *r) = {
    [HRUN_NET_TRIP] = trip, [HRUN_NET_FAN] = fan, [HRUN_NET_JOIN] = join, [HRUN_NET_CALL] = call,
    [HRUN_NET_BOTH] = both,
};

int net_trial_is_row(const struct hrun_net_record *r)
{
    return trials[r->kind] != NULL && r->kind != HRUN_NET_BOTH;
}

double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r, struct net_gradient *gradient)
{
    struct trial t = { c, given, x, 0, { 0 } };
    struct dual time = trials[r->kind](&t, r);

    if (gradient) {
        gradient->n = t.n;
        for (int i = 0; i < t.n; i++) {
            gradient->column[i] = t.column[i];
            gradient->d[i] = time.d[i];
        }
    }
    return time.v;
}

/* ---------------------------------------------------------------- many messages that share one limit */

/* Fair rates of the m messages that are under way (left > 0, started): those that alone are slower than the fair share
 * keep their own, the others share what is left. */
static void fair_rates(int n, const double *left, const double *start, double now, const double *alone,
                       double shared_by, double *rate)
{
    double rest = 1 / shared_by, share;
    int open = 0, again = 1;

    for (int i = 0; i < n; i++) {
        rate[i] = 0;
        open += left[i] > 0 && start[i] <= now;
    }
    while (again && open > 0) {
        again = 0;
        share = rest / open;
        for (int i = 0; i < n; i++)
            if (left[i] > 0 && start[i] <= now && rate[i] == 0 && alone[i] * share >= 1) {
                rate[i] = 1 / alone[i];
                rest -= rate[i];
                open--;
                again = 1;
            }
    }
    for (int i = 0; i < n && open > 0; i++)
        if (left[i] > 0 && start[i] <= now && rate[i] == 0)
            rate[i] = rest / open;
}

void net_share(int n, const double *start_s, const double *alone_s_per_byte, double bytes, double shared_s_per_byte,
               double *end_s, double *work)
{
    double *left = work, *rate = work + n, *alone = work + 2 * n, now = INFINITY;
    const double rounding = n * 16 * DBL_EPSILON;  /* of a sum over up to 2 n events */
    int busy = n;

    for (int i = 0; i < n; i++) {
        left[i] = bytes;
        alone[i] = fmax(alone_s_per_byte[i], shared_s_per_byte);
        end_s[i] = start_s[i] + bytes * alone[i];
        now = fmin(now, start_s[i]);
    }
    if (!(shared_s_per_byte > 0) || !(bytes > 0))
        return;
    while (busy > 0) {
        double next = INFINITY;

        fair_rates(n, left, start_s, now, alone, shared_s_per_byte, rate);
        for (int i = 0; i < n; i++) {
            if (left[i] > 0 && start_s[i] > now)
                next = fmin(next, start_s[i]);
            if (rate[i] > 0)
                next = fmin(next, now + left[i] / rate[i]);
        }
        for (int i = 0; i < n; i++) {
            if (!(rate[i] > 0))
                continue;
            left[i] -= rate[i] * (next - now);
            if (left[i] > rounding * bytes)
                continue;
            left[i] = 0;
            end_s[i] = next;
            busy--;
        }
        now = next;
    }
}
