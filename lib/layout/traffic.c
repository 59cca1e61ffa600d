/* traffic.c - messages of patterns and what they take; see layout.h for the contracts */
#include "layout/layout.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[HRUN_NPATTERNS] = { "ring", "grid", "alltoall" };

int hrun_pattern_find(const char *name)
{
    for (int i = 0; i < HRUN_NPATTERNS; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

/* ---------------------------------------------------------------- messages */

/* A list of messages that grows. */
struct list {
    struct traffic_message *v;
    size_t n, cap;
};

static int add_message(struct list *l, int from, int to, long long count)
{
    struct traffic_message *last = l->n ? &l->v[l->n - 1] : NULL;

    if (count < 1)
        return 0;
    if (last && last->from == from && last->to == to) {
        last->count += count;
        return 0;
    }
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct traffic_message *more = cap < SIZE_MAX / sizeof *more ? realloc(l->v, cap * sizeof *more) : NULL;

        if (!more)
            return -1;
        l->v = more;
        l->cap = cap;
    }
    l->v[l->n++] = (struct traffic_message){ from, to, count };
    return 0;
}

static int add_ring(struct list *l, const int *procs, int nslots)
{
    long long nranks = 0;

    for (int s = 0; s < nslots; s++)
        nranks += procs[s];
    if (nranks < 2)
        return 0;
    for (int s = 0; s < nslots; s++)
        if (add_message(l, s, s, procs[s] - 1) || add_message(l, s, (s + 1) % nslots, 1))
            return -1;
    return 0;
}

static int add_alltoall(struct list *l, const int *procs, int nslots)
{
    for (int s = 0; s < nslots; s++)
        for (int t = 0; t < nslots; t++)
            if (add_message(l, s, t, s == t ? (long long)procs[s] * (procs[s] - 1) : (long long)procs[s] * procs[t]))
                return -1;
    return 0;
}

static int by_ends(const void *pa, const void *pb)
{
    const struct traffic_message *a = pa, *b = pb;

    return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

/* The largest divisor of n that is not above its root: columns of the most nearly square grid. */
static long long columns_of(long long n)
{
    long long best = 1;

    for (long long d = 1; d * d <= n; d++)
        if (n % d == 0)
            best = d;
    return best;
}

/* Messages of ranks whose slots are slot[nranks]. */
static int add_grid_ranks(struct list *l, const int *slot, long long nranks)
{
    long long columns = columns_of(nranks);

    for (long long r = 0; r < nranks; r++) {
        long long c = r % columns;

        if ((c > 0 && add_message(l, slot[r], slot[r - 1], 1)) ||
            (c + 1 < columns && add_message(l, slot[r], slot[r + 1], 1)) ||
            (r >= columns && add_message(l, slot[r], slot[r - columns], 1)) ||
            (r + columns < nranks && add_message(l, slot[r], slot[r + columns], 1)))
            return -1;
    }
    return 0;
}

static int add_grid(struct list *l, const int *procs, int nslots)
{
    long long nranks = 0, r = 0;
    int *slot, rc;

    for (int s = 0; s < nslots; s++)
        nranks += procs[s];
    slot = calloc((size_t)nranks + 1, sizeof *slot);
    if (!slot)
        return -1;
    for (int s = 0; s < nslots; s++)
        for (int m = 0; m < procs[s]; m++)
            slot[r++] = s;
    rc = add_grid_ranks(l, slot, nranks);
    free(slot);
    return rc;
}

/* Those between the same slots become one. */
static void merge(struct list *l)
{
    size_t n = 0;

    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_ends);
    for (size_t i = 0; i < l->n; i++)
        if (n && !by_ends(&l->v[n - 1], &l->v[i]))
            l->v[n - 1].count += l->v[i].count;
        else
            l->v[n++] = l->v[i];
    l->n = n;
}

int traffic_create(const struct hrun_net *net, enum hrun_pattern pattern, double bytes, const int *procs,
                   const int *kind, int nslots, struct traffic *t, struct hrun_error *err)
{
    static int (*const adders[HRUN_NPATTERNS])(struct list *, const int *, int) = { add_ring, add_grid, add_alltoall };
    const struct hrun_net_segment *s = net->segments;
    size_t nhosts = (size_t)net->nhosts, ngroups = (size_t)net->ngroups;
    struct list l = { NULL, 0, 0 };
    int rc = adders[pattern](&l, procs, nslots);

    merge(&l);
    while (s + 1 < net->segments + net->nsegments && s[1].from_bytes <= bytes)
        s++;
    *t = (struct traffic){
        .net = net, .bytes = bytes, .nslots = nslots, .kind = kind, .v = l.v, .n = l.n, .factor_b = s->b,
        .out = calloc(nhosts, sizeof *t->out), .in = calloc(nhosts, sizeof *t->in),
        .local = calloc(nhosts, sizeof *t->local), .trunk = calloc(ngroups * ngroups, sizeof *t->trunk)
    };
    for (size_t i = 0; i < l.n; i++)
        t->total += l.v[i].count;
    if (!rc && t->out && t->in && t->local && t->trunk)
        return 0;
    traffic_release(t);
    return hrun_fail_nomem(err);
}

void traffic_release(struct traffic *t)
{
    free(t->v);
    free(t->out);
    free(t->in);
    free(t->local);
    free(t->trunk);
    *t = (struct traffic){ 0 };
}

/* ---------------------------------------------------------------- what they take */

static size_t trunk_of(const struct hrun_net *net, int from, int to)
{
    size_t g = (size_t)net->group_of[from], h = (size_t)net->group_of[to];

    /* The rate of a shared trunk is that of the lower group's. */
    return net->trunks_shared && h < g ? h * (size_t)net->ngroups + g : g * (size_t)net->ngroups + h;
}

static void count_all(struct traffic *t, const int *hosts)
{
    const struct hrun_net *net = t->net;

    memset(t->out, 0, (size_t)net->nhosts * sizeof *t->out);
    memset(t->in, 0, (size_t)net->nhosts * sizeof *t->in);
    memset(t->local, 0, (size_t)net->nhosts * sizeof *t->local);
    memset(t->trunk, 0, (size_t)net->ngroups * (size_t)net->ngroups * sizeof *t->trunk);
    for (size_t i = 0; i < t->n; i++) {
        int a = hosts[t->v[i].from], b = hosts[t->v[i].to];
        double n = (double)t->v[i].count;

        if (a == b) {
            t->local[a] += n;
        } else {
            t->out[a] += n;
            t->in[b] += n;
            t->trunk[trunk_of(net, a, b)] += n;
        }
    }
}

/* Seconds per byte of one of n messages over a wire of a rate; 0 is no limit. */
static double shared(double n, double bytes_per_s)
{
    return bytes_per_s > 0 ? n / bytes_per_s : 0;
}

/* Messages in one direction of a wire, what those in the other take on their way back with them. */
static double load(const struct hrun_net *net, double there, double back)
{
    return there + net->back_share * back;
}

/* The same of a trunk, whose directions may share one wire. */
static double trunk_load(const struct traffic *t, int a, int b)
{
    const struct hrun_net *net = t->net;
    double there = t->trunk[trunk_of(net, a, b)];

    if (net->group_of[a] == net->group_of[b])
        return load(net, there, there);
    return net->trunks_shared ? (1 + net->back_share) * there : load(net, there, t->trunk[trunk_of(net, b, a)]);
}

static double message_time(const struct traffic *t, const struct traffic_message *m, int a, int b)
{
    const struct hrun_net *net = t->net;
    const struct hrun_net_class *ca = &net->classes[net->class_of[a]], *cb = &net->classes[net->class_of[b]];
    int from = hrun_net_kind(net, a, t->kind[m->from]), to = hrun_net_kind(net, b, t->kind[m->to]);
    double alone = hrun_net_p2p(net, a, from, b, to, t->bytes), trunk, beta, one, all;

    if (a == b) {
        size_t at = (size_t)from * (size_t)ca->nkinds + (size_t)to;

        one = fmax(ca->local_s_per_byte[at].v, shared(1, ca->local_bytes_per_s));
        return alone + t->bytes * fmax(0, shared(t->local[a], ca->local_bytes_per_s) - one);
    }
    beta = net->pairs[(size_t)net->class_of[a] * (size_t)net->nclasses + (size_t)net->class_of[b]].beta_bytes_per_s.v;
    trunk = net->trunks[trunk_of(net, a, b)].v;
    one = net->trunks_shared || net->group_of[a] == net->group_of[b] ? 1 + net->back_share : 1;
    one = fmax(fmax(1 / beta, shared(one, trunk)),
               fmax(shared(1, ca->out_bytes_per_s.v), shared(1, cb->in_bytes_per_s.v)));
    all = fmax(shared(trunk_load(t, a, b), trunk),
               fmax(shared(load(net, t->out[a], t->in[a]), ca->out_bytes_per_s.v),
                    shared(load(net, t->in[b], t->out[b]), cb->in_bytes_per_s.v)));
    return alone + t->bytes * t->factor_b * fmax(0, all - one);
}

struct hrun_placement_cost traffic_cost(struct traffic *t, const int *hosts, int *from, int *to)
{
    struct hrun_placement_cost cost = { 0, 0, 0 };

    count_all(t, hosts);
    for (size_t i = 0; i < t->n; i++) {
        const struct traffic_message *m = &t->v[i];
        int a = hosts[m->from], b = hosts[m->to];
        double time_s = message_time(t, m, a, b);

        if (isnan(time_s)) {
            if (from)
                *from = a;
            if (to)
                *to = b;
            cost.slowest_s = time_s;
            return cost;
        }
        cost.slowest_s = fmax(cost.slowest_s, time_s);
        cost.sum_s += (double)m->count * time_s;
        if (t->net->group_of[a] != t->net->group_of[b])
            cost.crossings += m->count;
    }
    return cost;
}
