/* netview.c - operations of the network in configurations of a cluster; see netview.h */
#include "model/netview.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/list.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Size of the table of remembered times, and number of entries tried for a time. A search evaluates some 2000
 * configurations. */
enum { REMEMBERED = 1 << 14, TRIED = 16 };

struct sub {
    char *name;
    int npes;
    struct hrun_netview_pe *pes;
    int beside;                /* number of its other PEs on its first PE's host; -1: so has another sub-cluster */
    int sharing;               /* the last other sub-cluster with PEs on a host of this one; -1: none */
};

/* The time of an operation in a configuration. */
struct entry {
    struct hrun_config *config;     /* NULL: the entry is free; owned */
    double bytes, time_s;
    int op;                         /* -1: the entry has no time */
};

struct hrun_netview {
    struct hrun_netview_source source;
    struct sub *subs;
    int nsubs, ngroups;
    int *host, *kind;          /* room for the ranks of a configuration */
    int cap;
    struct entry *table;       /* REMEMBERED */
};

/* The entry of a time: the first match or free entry of TRIED entries from its hash on; else the first one, emptied. */
static struct entry *time_entry(const struct hrun_netview *v, int op, double bytes, const struct hrun_config *config)
{
    size_t len = (size_t)v->nsubs * sizeof *config->pes;
    uint64_t h = hrun_hash(hrun_hash(HRUN_HASH_INIT, &op, sizeof op), &bytes, sizeof bytes);

    h = hrun_hash(hrun_hash(h, config->pes, len), config->procs, len);
    h ^= h >> 32;
    for (uint64_t k = 0; k < TRIED; k++) {
        struct entry *e = &v->table[(h + k) % REMEMBERED];

        if (!e->config || (e->op == op && e->bytes == bytes && hrun_config_equal(e->config, config)))
            return e;
    }
    v->table[h % REMEMBERED].op = -1;
    return &v->table[h % REMEMBERED];
}

/* ------------------------------------------------------------------ ranks */

static int count_view_ranks(const struct hrun_netview *v, const struct hrun_config *config, int *n,
                            struct hrun_error *err)
{
    int64_t sum = 0;

    for (int i = 0; i < v->nsubs; i++) {
        if (config->pes[i] < 0 || config->pes[i] > v->subs[i].npes || config->procs[i] < 0)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %s has %d PEs, not %d", v->subs[i].name, v->subs[i].npes,
                             config->pes[i]);
        sum += (int64_t)config->pes[i] * config->procs[i];
    }
    if (sum < 1 || sum > INT_MAX / 2)
        return hrun_fail(err, HRUN_EINVAL, "a configuration has at least 1 process and at most %d", INT_MAX / 2);
    *n = (int)sum;
    return 0;
}

static void make_rank_room(struct hrun_netview *v, int n)
{
    if (n <= v->cap)
        return;
    v->host = xrealloc(v->host, (size_t)n * sizeof *v->host);
    v->kind = xrealloc(v->kind, (size_t)n * sizeof *v->kind);
    v->cap = n;
}

static void list_ranks(struct hrun_netview *v, const struct hrun_config *config, int n)
{
    int at = 0;

    make_rank_room(v, n);
    for (int g = 0; g < v->ngroups; g++)
        for (int i = 0; i < v->nsubs; i++)
            for (int p = 0; p < config->pes[i]; p++)
                for (int m = 0; m < config->procs[i] && v->subs[i].pes[p].group == g; m++, at++) {
                    v->host[at] = v->subs[i].pes[p].host;
                    v->kind[at] = v->subs[i].pes[p].kind;
                }
}

int hrun_netview_time(struct hrun_netview *v, enum hrun_net_op op, double bytes, const struct hrun_config *config,
                      double *time_s, struct hrun_error *err)
{
    struct hrun_net_call call = { .op = op, .bytes = bytes };
    struct hrun_net_ranks ranks;
    struct entry *e;
    double t;
    int n = 0;

    if (count_view_ranks(v, config, &n, err))
        return -1;
    if (n == 1) {
        *time_s = 0;
        return 0;
    }
    e = time_entry(v, (int)op, bytes, config);
    if (e->config && e->op >= 0) {
        *time_s = e->time_s;
        return 0;
    }
    list_ranks(v, config, n);
    ranks = (struct hrun_net_ranks){ n, v->host, v->kind };
    if (v->source.predict(v->source.ctx, &call, &ranks, &t, err))
        return -1;
    if (!(isfinite(t) && t >= 0))
        return hrun_fail(err, HRUN_ENONFINITE, "the network gives %g s for an operation", t);
    if (!e->config)
        e->config = xmalloc(sizeof *e->config);
    *e->config = *config;
    *e = (struct entry){ e->config, bytes, t, (int)op };
    *time_s = t;
    return 0;
}

/* The bound for P ranks, of which n are known, in v->host and v->kind. */
static double bound_with_ranks(struct hrun_netview *v, const struct hrun_net_call *call, int n, int beside, int P,
                               struct hrun_error *err)
{
    struct hrun_net_ranks some = { n, v->host, v->kind };
    double t = v->source.bound(v->source.ctx, call, P, &some, beside, err);

    return isnan(t) ? NAN : isfinite(t) && t > 0 ? t : 0;
}

double hrun_netview_bound(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_option *option,
                          int P, struct hrun_error *err)
{
    const struct sub *sub = &v->subs[option->sub];
    int m = option->m;
    int64_t beside = sub->beside < 0 ? P : (int64_t)sub->beside * m;

    if (!v->source.bound || P < 2 || m > P || sub->npes < 1)
        return 0;
    make_rank_room(v, m);
    for (int r = 0; r < m; r++) {
        v->host[r] = sub->pes[0].host;   /* the first PE is used in any case */
        v->kind[r] = sub->pes[0].kind;
    }
    return bound_with_ranks(v, call, m, beside < P ? (int)beside : P, P, err);
}

double hrun_netview_part(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_config *config,
                         int known, int P, struct hrun_error *err)
{
    int n = 0, beside = 0;

    if (count_view_ranks(v, config, &n, err))
        return NAN;
    list_ranks(v, config, n);
    for (int i = 0; i < known; i++)
        if (config->pes[i] && v->subs[i].sharing >= known)
            beside = P;
    return v->source.bound && P >= 2 && n <= P ? bound_with_ranks(v, call, n, beside, P, err) : 0;
}

/* ------------------------------------------------------------------ runs */

int hrun_config_next(const char **at, int *place, int *pes, int *procs)
{
    while (*at && **at == (*place < 0 ? '(' : ',')) {
        char *end;
        long p = strtol(*at + 1, &end, 10), m = *end == ',' ? strtol(end + 1, &end, 10) : 0;

        *at = end;
        ++*place;
        if (p <= 0 || m <= 0)
            continue;
        *pes = (int)p;
        *procs = (int)m;
        return p <= INT_MAX && m <= INT_MAX / p ? 1 : -1;
    }
    return *at && **at == ')' ? 0 : -1;
}

int hrun_netview_config(const struct hrun_netview *v, const struct hrun_sample *s, int own,
                        struct hrun_config *out)
{
    const char *at = s->config;
    int64_t P = 0;
    int place = -1, p, m, found;

    *out = (struct hrun_config){ .nsubs = v->nsubs };
    while ((found = hrun_config_next(&at, &place, &p, &m)) > 0) {
        int sub = s->mixed ? -1 : own;

        for (int i = 0; i < v->nsubs; i++)
            if (hrun_list_is(s->cluster, place, v->subs[i].name))
                sub = i;
        if (sub < 0 || out->pes[sub] || p > v->subs[sub].npes)
            return 0;
        out->pes[sub] = p;
        out->procs[sub] = m;
        P += (int64_t)p * m;
    }
    if (s->config && *s->config)
        return !found && P == s->P;
    if (s->mixed || own < 0 || s->M < 1 || s->P % s->M || s->P / s->M > v->subs[own].npes)
        return 0;
    *out = hrun_config_alone(v->nsubs, own, s->P / s->M, s->M);
    return 1;
}

/* ------------------------------------------------------------------ the view itself */

int hrun_netview_nsubs(const struct hrun_netview *v)
{
    return v->nsubs;
}

int hrun_netview_npes(const struct hrun_netview *v, int sub)
{
    return v->subs[sub].npes;
}

int hrun_netview_find(const struct hrun_netview *v, const char *name)
{
    for (int i = 0; name && i < v->nsubs; i++)
        if (!strcmp(v->subs[i].name, name))
            return i;
    return -1;
}

static int copy_sub(struct hrun_netview *v, int i, const struct hrun_netview_sub *from, struct hrun_error *err)
{
    struct sub *s = &v->subs[i];

    s->name = xstrdup(from->name ? from->name : "");
    s->pes = xcalloc((size_t)from->npes + 1, sizeof *s->pes);
    for (int p = 0; p < from->npes; p++) {
        const struct hrun_netview_pe *pe = &from->pes[p];

        if (pe->host < 0 || pe->host >= v->source.nhosts || pe->kind < 0 || pe->group < 0)
            return hrun_fail(err, HRUN_EINVAL, "PE %d of sub-cluster %s is on no host of the network", p + 1, s->name);
        s->pes[s->npes++] = *pe;
        v->ngroups = pe->group >= v->ngroups ? pe->group + 1 : v->ngroups;
    }
    return 0;
}

/* Set `beside` and `sharing` of a sub-cluster. */
static void find_sharing(const struct hrun_netview *v, struct sub *s)
{
    s->beside = s->sharing = -1;               /* the first PE is not beside itself */
    for (int p = 0; p < s->npes; p++)
        s->beside += s->pes[p].host == s->pes[0].host;
    for (int i = 0; i < v->nsubs; i++)
        for (int p = 0; p < v->subs[i].npes && &v->subs[i] != s; p++)
            for (int k = 0; k < s->npes; k++)
                if (v->subs[i].pes[p].host == s->pes[k].host) {
                    s->sharing = i;
                    s->beside = s->pes[k].host == s->pes[0].host ? -1 : s->beside;
                }
}

struct hrun_netview *hrun_netview_of(const struct hrun_netview_source *source, const struct hrun_netview_sub *subs,
                                     int nsubs, struct hrun_error *err)
{
    struct hrun_netview *v = xcalloc(1, sizeof *v);

    v->source = *source;
    v->table = xcalloc(REMEMBERED, sizeof *v->table);
    v->subs = xcalloc((size_t)nsubs + 1, sizeof *v->subs);
    while (v->nsubs < nsubs) {
        int i = v->nsubs++;

        if (copy_sub(v, i, &subs[i], err)) {
            hrun_netview_destroy(v);
            return NULL;
        }
    }
    for (int i = 0; i < nsubs; i++)
        find_sharing(v, &v->subs[i]);
    return v;
}

void hrun_netview_destroy(struct hrun_netview *v)
{
    if (!v)
        return;
    for (int i = 0; i < REMEMBERED; i++)
        free(v->table[i].config);
    free(v->table);
    for (int i = 0; i < v->nsubs; i++) {
        free(v->subs[i].name);
        free(v->subs[i].pes);
    }
    free(v->subs);
    free(v->host);
    free(v->kind);
    free(v);
}

/* ------------------------------------------------------------------ from a network's description */

static int predict_by_network(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                              double *time_s, struct hrun_error *err)
{
    struct hrun_net_time t;

    if (hrun_net_predict(ctx, call, ranks, &t, err))
        return -1;
    *time_s = t.time_s;
    return 0;
}

static double bound_by_network(const void *ctx, const struct hrun_net_call *call, int n,
                               const struct hrun_net_ranks *some, int beside, struct hrun_error *err)
{
    return hrun_net_bound(ctx, call, n, some, beside, err);
}

struct hrun_netview_source hrun_netview_source_of(const struct hrun_net *net)
{
    return (struct hrun_netview_source){ net, net->nhosts, predict_by_network, bound_by_network };
}

struct hrun_netview *hrun_netview_create(const struct hrun_net *net, const struct hrun_cluster *cluster,
                                         struct hrun_error *err)
{
    struct hrun_netview_source source = hrun_netview_source_of(net);
    autofree struct hrun_netview_sub *subs = xcalloc((size_t)cluster->nsubs + 1, sizeof *subs);
    autofree struct hrun_netview_pe *pes = NULL;
    struct hrun_netview_pe *at;
    size_t npes = 0;

    for (int i = 0; i < cluster->nsubs; i++)
        npes += (size_t)cluster->subs[i].npes;
    at = pes = xcalloc(npes + 1, sizeof *pes);
    for (int i = 0; i < cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &cluster->subs[i];

        subs[i] = (struct hrun_netview_sub){ s->name, s->npes, at };
        for (int p = 0; p < s->npes; p++, at++) {
            const struct hrun_host *h = &cluster->hosts[s->pes[p].host];
            int host = hrun_net_find(net, h->name);

            if (host < 0) {
                hrun_fail(err, HRUN_ENODATA, "the network of %s does not know host %s", net->date, h->name);
                return NULL;
            }
            *at = (struct hrun_netview_pe){ host, hrun_net_kind(net, host, s->kind), h->group };
        }
    }
    return hrun_netview_of(&source, subs, cluster->nsubs, err);
}
