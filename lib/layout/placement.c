/* placement.c - the search for the placement that costs least; see layout.h for the contract
 *
 * Over where the slots are (layout.h): on places, a place being what a host has of a sub-cluster. Hosts that are alike
 * and hold nothing yet are one choice, so that two switches of eight equal hosts give 12,870 placements of a ring, not
 * 16 factorial. What is too much to try out is improved from good beginnings, move by move.
 */
#include "layout/layout.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct place {
    int sub, host;             /* host of the cluster */
    int capacity;              /* PEs of the sub-cluster on it that may be used */
};

struct search {
    const struct hrun_placement_request *req;
    int *net_host;             /* of each host of the cluster: host of the network, -1 */
    int *alike;                /* of each host of the cluster: the first that is like it */
    struct place *places;      /* sub-cluster by sub-cluster, in the order of their PEs */
    int nplaces;
    int *first_place;          /* nsubs + 1 */
    int nslots;
    int *sub, *procs, *kind;   /* nslots */
    struct traffic traffic;
    double steps_left;
    /* where one looks at present, and the best so far: place of each slot */
    int *at, *best;
    int *used;                 /* nplaces: slots there */
    int *on_host;              /* hosts of the cluster: slots there */
    int *hosts;                /* nslots: hosts of the network */
    struct hrun_placement_cost best_cost;
};

/* Less by more than rounding. */
static int is_less(double a, double b)
{
    return a < b - 1e-12 * fabs(b);
}

static int is_better(const struct hrun_placement_cost *a, const struct hrun_placement_cost *b)
{
    if (isnan(a->slowest_s))
        return 0;
    return is_less(a->slowest_s, b->slowest_s) || (!is_less(b->slowest_s, a->slowest_s) && is_less(a->sum_s, b->sum_s));
}

/* What the placement at[] costs. */
static struct hrun_placement_cost placement_cost(struct search *s)
{
    s->steps_left -= (double)s->traffic.n + 1;
    for (int k = 0; k < s->nslots; k++)
        s->hosts[k] = s->net_host[s->places[s->at[k]].host];
    return traffic_cost(&s->traffic, s->hosts, NULL, NULL);
}

/* Keep the present placement if it is better. */
static int keep(struct search *s)
{
    struct hrun_placement_cost cost = placement_cost(s);

    if (!is_better(&cost, &s->best_cost))
        return 0;
    s->best_cost = cost;
    memcpy(s->best, s->at, (size_t)s->nslots * sizeof *s->best);
    return 1;
}

/* ---------------------------------------------------------------- the places */

/* The PEs of each sub-cluster on host h are as many as on host g, and the network tells them not apart. */
static int are_alike(const struct search *s, int g, int h)
{
    const struct hrun_net *net = s->req->net;
    int a = s->net_host[g], b = s->net_host[h], count[2];

    if (a < 0 || b < 0 || net->class_of[a] != net->class_of[b] || net->group_of[a] != net->group_of[b])
        return 0;
    for (int i = 0; i < s->req->cluster->nsubs; i++) {
        count[0] = count[1] = 0;
        for (int p = s->first_place[i]; p < s->first_place[i + 1]; p++) {
            count[0] += s->places[p].host == g ? s->places[p].capacity : 0;
            count[1] += s->places[p].host == h ? s->places[p].capacity : 0;
        }
        if (count[0] != count[1])
            return 0;
    }
    return 1;
}

static int is_busy(const struct search *s, int sub, int pe)
{
    return s->req->busy && s->req->busy[sub][pe];
}

static void find_places(struct search *s)
{
    const struct hrun_cluster *c = s->req->cluster;

    for (int i = 0; i < c->nsubs; i++) {
        s->first_place[i] = s->nplaces;
        for (int p = 0; p < c->subs[i].npes; p++) {
            int k = s->first_place[i];

            while (k < s->nplaces && s->places[k].host != c->subs[i].pes[p].host)
                k++;
            if (k == s->nplaces)
                s->places[s->nplaces++] = (struct place){ i, c->subs[i].pes[p].host, 0 };
            s->places[k].capacity += !is_busy(s, i, p);
        }
    }
    s->first_place[c->nsubs] = s->nplaces;
    for (int h = 0; h < c->nhosts; h++) {
        s->alike[h] = h;
        for (int g = 0; g < h; g++)
            if (s->alike[g] == g && are_alike(s, g, h)) {
                s->alike[h] = g;
                break;
            }
    }
}

static int find_hosts(struct search *s, struct hrun_error *err)
{
    const struct hrun_cluster *c = s->req->cluster;

    for (int h = 0; h < c->nhosts; h++)
        s->net_host[h] = hrun_net_find(s->req->net, c->hosts[h].name);
    for (int i = 0; i < c->nsubs; i++)
        for (int p = 0; p < c->subs[i].npes && s->req->pes[i]; p++)
            if (s->net_host[c->subs[i].pes[p].host] < 0)
                return hrun_fail(err, HRUN_ENOENT, "host %s is not in the network that was measured",
                                 c->hosts[c->subs[i].pes[p].host].name);
    return 0;
}

static void fill_slots(struct search *s)
{
    int k = 0;

    for (int i = 0; i < s->req->cluster->nsubs; i++)
        for (int p = 0; p < s->req->pes[i]; p++, k++) {
            s->sub[k] = i;
            s->procs[k] = s->req->procs[i];
            s->kind[k] = s->req->cluster->subs[i].kind;
        }
}

/* ---------------------------------------------------------------- beginnings */

static void clear(struct search *s)
{
    memset(s->used, 0, (size_t)s->nplaces * sizeof *s->used);
    memset(s->on_host, 0, (size_t)s->req->cluster->nhosts * sizeof *s->on_host);
}

static void occupy(struct search *s, int slot, int place)
{
    s->at[slot] = place;
    s->used[place]++;
    s->on_host[s->places[place].host]++;
}

static void vacate(struct search *s, int slot)
{
    int place = s->at[slot];

    s->used[place]--;
    s->on_host[s->places[place].host]--;
}

/* The first Pi PEs of each sub-cluster. */
static void put_plain(struct search *s)
{
    const struct hrun_cluster *c = s->req->cluster;
    int k = 0;

    clear(s);
    for (int i = 0; i < c->nsubs; i++)
        for (int p = 0, left = s->req->pes[i]; left; p++) {
            int place = s->first_place[i];

            if (is_busy(s, i, p))
                continue;
            while (s->places[place].host != c->subs[i].pes[p].host)
                place++;
            occupy(s, k++, place);
            left--;
        }
}

static int group_of(const struct search *s, int place)
{
    return s->req->net->group_of[s->net_host[s->places[place].host]];
}

/* PEs of a sub-cluster that are free in a group. */
static int room_in(const struct search *s, int sub, int group)
{
    int room = 0;

    for (int p = s->first_place[sub]; p < s->first_place[sub + 1]; p++)
        if (group_of(s, p) == group)
            room += s->places[p].capacity - s->used[p];
    return room;
}

/* Group after group: the first is `group`, then where there is most room; the next sub-cluster goes on where the one
 * before has ended, if it has PEs there. */
static void put_grouped(struct search *s, int group)
{
    clear(s);
    s->steps_left -= (double)s->nslots * s->nplaces;
    for (int k = 0; k < s->nslots; k++) {
        int sub = s->sub[k], place = s->first_place[sub], most = 0;

        if (!room_in(s, sub, group))
            for (int g = 0; g < s->req->net->ngroups; g++)
                if (room_in(s, sub, g) > most) {
                    most = room_in(s, sub, g);
                    group = g;
                }
        while (group_of(s, place) != group || s->used[place] == s->places[place].capacity)
            place++;
        occupy(s, k, place);
    }
}

/* ---------------------------------------------------------------- everything, and step by step */

/* Is this place another choice than those before it? Of hosts that are alike and empty only the first is. */
static int is_choice(struct search *s, int place)
{
    int host = s->places[place].host;

    if (s->used[place] == s->places[place].capacity)
        return 0;
    for (int p = s->first_place[s->places[place].sub]; p < place && !s->on_host[host]; p++, s->steps_left--)
        if (s->alike[s->places[p].host] == s->alike[host] && !s->on_host[s->places[p].host])
            return 0;
    return 1;
}

/* All placements of slots k.. behind those that are put. 0, or -1 when the steps are used up. */
static int try_all(struct search *s, int k)
{
    if (s->steps_left <= 0)
        return -1;
    if (k == s->nslots) {
        keep(s);
        return 0;
    }
    s->steps_left--;
    for (int p = s->first_place[s->sub[k]]; p < s->first_place[s->sub[k] + 1]; p++) {
        int rc;

        if (!is_choice(s, p))
            continue;
        occupy(s, k, p);
        rc = try_all(s, k + 1);
        vacate(s, k);
        if (rc)
            return rc;
    }
    return 0;
}

/* Move slot k to place p, or exchange it with slot `other` (-1: none). 1: that is better, and is kept. */
static int try_move(struct search *s, int k, int p, int other)
{
    int from = s->at[k];

    s->at[k] = p;
    if (other >= 0)
        s->at[other] = from;
    if (keep(s)) {
        if (other < 0) {
            s->used[from]--;
            s->used[p]++;
        }
        return 1;
    }
    s->at[k] = from;
    if (other >= 0)
        s->at[other] = p;
    return 0;
}

/* One round of all moves; how many were kept. */
static int improve_once(struct search *s)
{
    int moved = 0;

    for (int k = 0; k < s->nslots; k++) {
        for (int p = s->first_place[s->sub[k]]; p < s->first_place[s->sub[k] + 1] && s->steps_left > 0; p++)
            if (s->used[p] < s->places[p].capacity && p != s->at[k])
                moved += try_move(s, k, p, -1);
        for (int l = k + 1; l < s->nslots && s->sub[l] == s->sub[k] && s->steps_left > 0; l++)
            if (s->at[l] != s->at[k])
                moved += try_move(s, k, s->at[l], l);
    }
    return moved;
}

static void improve(struct search *s)
{
    memcpy(s->at, s->best, (size_t)s->nslots * sizeof *s->at);
    clear(s);
    for (int k = 0; k < s->nslots; k++)
        s->used[s->at[k]]++;
    while (s->steps_left > 0 && improve_once(s))
        continue;
}

/* ---------------------------------------------------------------- the whole */

static void search_release(struct search *s)
{
    traffic_release(&s->traffic);
    free(s->net_host);
    free(s->alike);
    free(s->places);
    free(s->first_place);
    free(s->sub);
    free(s->procs);
    free(s->kind);
    free(s->at);
    free(s->best);
    free(s->used);
    free(s->on_host);
    free(s->hosts);
}

static int check_request(const struct hrun_placement_request *req, long long *nslots, struct hrun_error *err)
{
    long long nranks = 0;

    *nslots = 0;
    for (int i = 0; i < req->cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &req->cluster->subs[i];
        int npes = 0;

        for (int p = 0; p < s->npes; p++)
            npes += !req->busy || !req->busy[i][p];
        if (req->pes[i] < 0 || req->pes[i] > npes || req->procs[i] < 0)
            return hrun_fail(err, HRUN_EINVAL, "%s: %d PEs of %d with %d processes each cannot be placed", s->name,
                             req->pes[i], npes, req->procs[i]);
        *nslots += req->pes[i];
        nranks += (long long)req->pes[i] * req->procs[i];
    }
    if (nranks < 1 || nranks > INT_MAX)
        return hrun_fail(err, HRUN_EINVAL, "a configuration of %lld processes cannot be placed", nranks);
    return 0;
}

static int search_create(struct search *s, const struct hrun_placement_request *req, struct hrun_error *err)
{
    const struct hrun_cluster *c = req->cluster;
    size_t npes = 1, nslots, nhosts = (size_t)c->nhosts + 1;
    long long n;

    if (check_request(req, &n, err))
        return -1;
    nslots = (size_t)n + 1;
    for (int i = 0; i < c->nsubs; i++)
        npes += (size_t)c->subs[i].npes;
    s->req = req;
    s->nslots = (int)n;
    s->net_host = calloc(nhosts, sizeof *s->net_host);
    s->alike = calloc(nhosts, sizeof *s->alike);
    s->on_host = calloc(nhosts, sizeof *s->on_host);
    s->places = calloc(npes, sizeof *s->places);
    s->used = calloc(npes, sizeof *s->used);
    s->first_place = calloc((size_t)c->nsubs + 1, sizeof *s->first_place);
    s->sub = calloc(nslots, sizeof *s->sub);
    s->procs = calloc(nslots, sizeof *s->procs);
    s->kind = calloc(nslots, sizeof *s->kind);
    s->at = calloc(nslots, sizeof *s->at);
    s->best = calloc(nslots, sizeof *s->best);
    s->hosts = calloc(nslots, sizeof *s->hosts);
    if (!s->net_host || !s->alike || !s->on_host || !s->places || !s->used || !s->first_place || !s->sub ||
        !s->procs || !s->kind || !s->at || !s->best || !s->hosts)
        return hrun_fail_nomem(err);
    if (find_hosts(s, err))
        return -1;
    find_places(s);
    fill_slots(s);
    s->steps_left = req->steps;
    return traffic_create(req->net, req->pattern, req->bytes, s->procs, s->kind, s->nslots, &s->traffic, err);
}

/* The plain order and what it costs; -1 with *err where that is not known. */
static int begin(struct search *s, struct hrun_placement_cost *plain, struct hrun_error *err)
{
    int from = 0, to = 0;

    put_plain(s);
    for (int k = 0; k < s->nslots; k++)
        s->hosts[k] = s->net_host[s->places[s->at[k]].host];
    *plain = traffic_cost(&s->traffic, s->hosts, &from, &to);
    if (isnan(plain->slowest_s))
        return hrun_fail(err, HRUN_ENODATA, "the network knows nothing of messages from %s to %s",
                         s->req->net->hosts[from], s->req->net->hosts[to]);
    s->best_cost = *plain;
    memcpy(s->best, s->at, (size_t)s->nslots * sizeof *s->best);
    return 0;
}

/* Places become PEs: as many of each as it has slots, in their order. */
static int take_order(struct search *s, int *order, struct hrun_error *err)
{
    const struct hrun_cluster *c = s->req->cluster;
    int *pes = calloc((size_t)s->nslots + 1, sizeof *pes), rc = pes ? 0 : hrun_fail_nomem(err);

    for (int i = 0; i < s->nplaces && !rc; i++) {
        const struct place *p = &s->places[i];
        int want = 0, first = 0, n = 0;

        for (int k = 0; k < s->nslots; k++)
            want += s->best[k] == i;
        while (c->subs[p->sub].pes[first].host != p->host)
            first++;
        rc = want && layout_spread(c, p->sub, first, s->req->busy ? s->req->busy[p->sub] : NULL, want, pes, err) < 0;
        for (int k = 0; k < s->nslots && !rc; k++)
            if (s->best[k] == i)
                order[k] = pes[n++];
    }
    free(pes);
    return rc ? -1 : 0;
}

/* Hosts and groups that hold slots of a placement. */
static int count_used(struct search *s, const int *where, struct hrun_placement *p, struct hrun_error *err)
{
    char *seen = calloc((size_t)s->req->net->ngroups, 1);

    if (!seen)
        return hrun_fail_nomem(err);
    clear(s);
    for (int k = 0; k < s->nslots; k++) {
        p->nhosts += !s->on_host[s->places[where[k]].host]++;
        p->ngroups += !seen[group_of(s, where[k])];
        seen[group_of(s, where[k])] = 1;
    }
    free(seen);
    return 0;
}

int hrun_placement_find(const struct hrun_placement_request *req, struct hrun_placement *out, struct hrun_error *err)
{
    struct hrun_placement p = { .changed = 1 };
    struct search s = { NULL };
    int rc = -1, *plain = NULL;

    if (search_create(&s, req, err) || begin(&s, &p.plain, err))
        goto out;
    plain = calloc((size_t)s.nslots + 1, sizeof *plain);
    p.order = calloc((size_t)s.nslots + 1, sizeof *p.order);
    if (!plain || !p.order) {
        hrun_fail_nomem(err);
        goto out;
    }
    memcpy(plain, s.best, (size_t)s.nslots * sizeof *plain);
    if (count_used(&s, plain, &p, err))
        goto out;
    for (int g = 0; g < req->net->ngroups && s.steps_left > 0; g++) {
        put_grouped(&s, g);
        keep(&s);
    }
    clear(&s);
    p.exact = !try_all(&s, 0);
    if (!p.exact) {
        s.steps_left = req->steps;
        improve(&s);
    }
    p.cost = s.best_cost;
    if (p.cost.slowest_s >= p.plain.slowest_s * (1 - req->worth) && p.cost.sum_s >= p.plain.sum_s * (1 - req->worth)) {
        memcpy(s.best, plain, (size_t)s.nslots * sizeof *plain);
        p.cost = p.plain;
        p.changed = 0;
    }
    p.n = s.nslots;
    p.messages = s.traffic.total;
    if (take_order(&s, p.order, err))
        goto out;
    *out = p;
    p.order = NULL;
    rc = 0;
out:
    free(plain);
    free(p.order);
    search_release(&s);
    return rc;
}

void hrun_placement_release(struct hrun_placement *p)
{
    if (!p)
        return;
    free(p->order);
    *p = (struct hrun_placement){ .order = NULL };
}
