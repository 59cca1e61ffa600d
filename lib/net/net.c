/* net.c - the network model: making, finding, a message alone; see net.h for the contracts */
#include "net/internal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct hrun_net_value unknown = { 0, NAN };

void *net_alloc(long long n, size_t size)
{
    return n < 0 || (unsigned long long)n >= SIZE_MAX / size ? NULL : calloc((size_t)n + 1, size);
}

static int blank_class(struct hrun_net_class *c)
{
    c->C_s = c->t_s_per_byte = c->out_bytes_per_s = c->in_bytes_per_s = unknown;
    c->nkinds = 1;
    c->local_fixed_s = net_alloc(1, sizeof *c->local_fixed_s);
    c->local_s_per_byte = net_alloc(1, sizeof *c->local_s_per_byte);
    if (!c->local_fixed_s || !c->local_s_per_byte)
        return -1;
    c->local_fixed_s[0] = c->local_s_per_byte[0] = unknown;
    return 0;
}

struct hrun_net *net_make(const char *const *hosts, int n, int nclasses, int ngroups, int nsegments)
{
    struct hrun_net *net = calloc(1, sizeof *net);
    long long npairs = (long long)nclasses * nclasses, ntrunks = (long long)ngroups * ngroups;

    if (!net)
        return NULL;
    net->engine = strdup("");
    net->mpi = strdup("");
    net->selector = strdup("openmpi");
    net->date = strdup("");
    net->hosts = net_alloc(n, sizeof *net->hosts);
    net->class_of = net_alloc(n, sizeof *net->class_of);
    net->group_of = net_alloc(n, sizeof *net->group_of);
    net->classes = net_alloc(nclasses, sizeof *net->classes);
    net->pairs = net_alloc(npairs, sizeof *net->pairs);
    net->trunks = net_alloc(ntrunks, sizeof *net->trunks);
    net->segments = net_alloc(nsegments, sizeof *net->segments);
    if (!net->engine || !net->mpi || !net->selector || !net->date || !net->hosts || !net->class_of || !net->group_of ||
        !net->classes || !net->pairs || !net->trunks || !net->segments)
        goto nomem;
    while (net->nhosts < n) {
        net->hosts[net->nhosts] = strdup(hosts[net->nhosts]);
        if (!net->hosts[net->nhosts++])
            goto nomem;
    }
    while (net->nclasses < nclasses)
        if (blank_class(&net->classes[net->nclasses++]))
            goto nomem;
    for (long long i = 0; i < npairs; i++)
        net->pairs[i] = (struct hrun_net_pair){ unknown, unknown };
    for (long long i = 0; i < ntrunks; i++)
        net->trunks[i] = unknown;
    for (int i = 0; i < nsegments; i++)
        net->segments[i] = (struct hrun_net_segment){ 0, 1, 1 };
    net->ngroups = ngroups;
    net->nsegments = nsegments;
    return net;
nomem:
    hrun_net_destroy(net);
    return NULL;
}

struct hrun_net *hrun_net_create(const char *const *hosts, int n, struct hrun_error *err)
{
    struct hrun_net *net;

    if (n < 1) {
        hrun_fail(err, HRUN_EINVAL, "a network of %d hosts: it needs at least one", n);
        return NULL;
    }
    net = net_make(hosts, n, n, 1, 1);
    if (!net) {
        hrun_fail_nomem(err);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        net->class_of[i] = i;
    return net;
}

void hrun_net_destroy(struct hrun_net *net)
{
    int saved = errno;

    if (!net)
        return;
    for (int i = 0; net->hosts && i < net->nhosts; i++)
        free(net->hosts[i]);
    for (int i = 0; net->classes && i < net->nclasses; i++) {
        free(net->classes[i].local_fixed_s);
        free(net->classes[i].local_s_per_byte);
    }
    free(net->engine);
    free(net->mpi);
    free(net->selector);
    free(net->date);
    free(net->hosts);
    free(net->class_of);
    free(net->group_of);
    free(net->classes);
    free(net->pairs);
    free(net->trunks);
    free(net->segments);
    free(net);
    errno = saved;
}

int hrun_net_find(const struct hrun_net *net, const char *host)
{
    for (int i = 0; i < net->nhosts; i++)
        if (!strcmp(net->hosts[i], host))
            return i;
    return -1;
}

int hrun_net_kind(const struct hrun_net *net, int host, int kind)
{
    return kind > 0 && kind < net->classes[net->class_of[host]].nkinds ? kind : 0;
}

/* ---------------------------------------------------------------- a message alone */

/* The smaller of two rates, of which 0 is no limit. */
static double tighter(double a, double b)
{
    return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}

static double local_time(const struct hrun_net_class *c, int from_kind, int to_kind, double bytes)
{
    size_t at = (size_t)from_kind * (size_t)c->nkinds + (size_t)to_kind;
    double per_byte;

    if (from_kind < 0 || from_kind >= c->nkinds || to_kind < 0 || to_kind >= c->nkinds)
        return NAN;
    per_byte = c->local_s_per_byte[at].v;
    if (c->local_bytes_per_s > 0)
        per_byte = fmax(per_byte, 1 / c->local_bytes_per_s);
    return c->local_fixed_s[at].v + bytes * per_byte;
}

/* What a trunk carries one way: where its directions are shared, as those inside a group are, its
 * acknowledgements take some of it. */
static double trunk_alone(const struct hrun_net *net, int g, int h)
{
    int swap = net->trunks_shared && g > h;
    double rate = net->trunks[(size_t)(swap ? h : g) * (size_t)net->ngroups + (size_t)(swap ? g : h)].v;

    return net->trunks_shared || g == h ? rate / (1 + net->back_share) : rate;
}

double hrun_net_p2p(const struct hrun_net *net, int from, int from_kind, int to, int to_kind, double bytes)
{
    const struct hrun_net_segment *s = net->segments;
    const struct hrun_net_class *ci, *cj;
    const struct hrun_net_pair *pair;
    double port, trunk, rate;

    if (from < 0 || from >= net->nhosts || to < 0 || to >= net->nhosts || !(bytes >= 0))
        return NAN;
    ci = &net->classes[net->class_of[from]];
    cj = &net->classes[net->class_of[to]];
    if (from == to)
        return local_time(ci, from_kind, to_kind, bytes);
    pair = &net->pairs[(size_t)net->class_of[from] * (size_t)net->nclasses + (size_t)net->class_of[to]];
    if (!(pair->beta_bytes_per_s.v > 0))
        return NAN;
    while (s + 1 < net->segments + net->nsegments && s[1].from_bytes <= bytes)
        s++;
    port = tighter(ci->out_bytes_per_s.v, cj->in_bytes_per_s.v);
    trunk = trunk_alone(net, net->group_of[from], net->group_of[to]);
    rate = tighter(tighter(pair->beta_bytes_per_s.v, port), trunk) / s->b;
    return ci->C_s.v + cj->C_s.v + s->a * pair->L_s.v + bytes * (ci->t_s_per_byte.v + cj->t_s_per_byte.v + 1 / rate);
}

double hrun_net_bandwidth(const struct hrun_net *net, int from, int to)
{
    double longer = fmax(1e9, net->segments[net->nsegments - 1].from_bytes);   /* in the last segment, whatever it is */

    return longer / (hrun_net_p2p(net, from, 0, to, 0, 2 * longer) - hrun_net_p2p(net, from, 0, to, 0, longer));
}

double hrun_net_trunk_bandwidth(const struct hrun_net *net, int from, int to)
{
    return trunk_alone(net, from, to) / net->segments[net->nsegments - 1].b;
}
