/* tune.c - writing and reading the text for libhrun-coll.so; see tune.h for the contracts */
#include "base/alloc.h"
#include "net/net_parts.h"
#include "net/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- writing */

/* New numbers from 0 of the hosts, classes and groups with ranks; -1: not used. */
struct numbers {
    int *host, *class, *group; /* for each of the network's hosts, classes, groups */
    int nhosts, nclasses, ngroups;
};

struct text {
    struct hrun_buf *out;
    int records;
};

#define RECORD(t, ...) (hrun_buf_addf((t)->out, __VA_ARGS__), hrun_buf_addc((t)->out, ';'), (t)->records++)

static int kind_of(const struct hrun_net_ranks *r, int rank)
{
    return r->kind ? r->kind[rank] : 0;
}

static int renumber_used(int *numbers, int i, int *count)
{
    if (numbers[i] < 0)
        numbers[i] = (*count)++;
    return numbers[i];
}

/* Number them. Errors: HRUN_EINVAL. The caller frees n->host in any case. */
static int find_numbers(const struct hrun_net *net, const struct hrun_net_ranks *r, struct numbers *n,
                        struct hrun_error *err)
{
    size_t all = (size_t)net->nhosts + (size_t)net->nclasses + (size_t)net->ngroups;

    memset(n, 0, sizeof *n);
    n->host = xmalloc((all + 1) * sizeof *n->host);
    for (size_t i = 0; i < all; i++)
        n->host[i] = -1;
    n->class = n->host + net->nhosts;
    n->group = n->class + net->nclasses;
    if (r->n < 1)
        return hrun_fail(err, HRUN_EINVAL, "there is no rank whose messages could be tuned");
    for (int i = 0; i < r->n; i++) {
        int host = r->host[i];

        if (host < 0 || host >= net->nhosts)
            return hrun_fail(err, HRUN_EINVAL, "rank %d is on host %d of a network of %d", i, host, net->nhosts);
        if (kind_of(r, i) < 0 || kind_of(r, i) >= net->classes[net->class_of[host]].nkinds)
            return hrun_fail(err, HRUN_EINVAL, "rank %d is on a PE of kind %d, which host %s has not got", i,
                             kind_of(r, i), net->hosts[host]);
        renumber_used(n->host, host, &n->nhosts);
        renumber_used(n->class, net->class_of[host], &n->nclasses);
        renumber_used(n->group, net->group_of[host], &n->ngroups);
    }
    return 0;
}

static void add_class(const struct hrun_net_class *c, int number, struct text *t)
{
    hrun_buf_addf(t->out, "c,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%d", number, c->C_s.v, c->t_s_per_byte.v,
                  c->out_bytes_per_s.v, c->in_bytes_per_s.v, c->local_bytes_per_s, c->nkinds);
    for (int i = 0; i < c->nkinds * c->nkinds; i++)
        hrun_buf_addf(t->out, ",%.6g,%.6g", c->local_fixed_s[i].v, c->local_s_per_byte[i].v);
    hrun_buf_addc(t->out, ';');
    t->records++;
}

static void add_parameters(const struct hrun_net *net, const struct numbers *n, struct text *t)
{
    for (int i = 0; i < net->nsegments; i++)
        RECORD(t, "s,%.17g,%.6g,%.6g", net->segments[i].from_bytes, net->segments[i].a, net->segments[i].b);
    for (int i = 0; i < net->nclasses; i++)
        if (n->class[i] >= 0)
            add_class(&net->classes[i], n->class[i], t);
    for (int i = 0; i < net->nclasses; i++)
        for (int j = 0; j < net->nclasses; j++) {
            const struct hrun_net_pair *p = &net->pairs[i * net->nclasses + j];

            if (n->class[i] >= 0 && n->class[j] >= 0 && p->beta_bytes_per_s.v > 0)
                RECORD(t, "p,%d,%d,%.6g,%.6g", n->class[i], n->class[j], p->L_s.v, p->beta_bytes_per_s.v);
        }
    for (int i = 0; i < net->ngroups; i++)
        for (int j = 0; j < net->ngroups; j++) {
            double rate = net->trunks[net_trunk(net, i, j)].v;   /* both ways, as groups are renumbered */

            if (n->group[i] >= 0 && n->group[j] >= 0 && rate > 0)
                RECORD(t, "g,%d,%d,%.6g", n->group[i], n->group[j], rate);
        }
}

static void add_places(const struct hrun_net *net, const struct hrun_net_ranks *r, const struct numbers *n,
                       struct text *t)
{
    for (int i = 0; i < net->nhosts; i++)
        if (n->host[i] >= 0)
            RECORD(t, "h,%d,%d,%d", n->host[i], n->class[net->class_of[i]], n->group[net->group_of[i]]);
    for (int first = 0, last; first < r->n; first = last + 1) {
        for (last = first; last + 1 < r->n && r->host[last + 1] == r->host[first] &&
                           kind_of(r, last + 1) == kind_of(r, first); last++)
            ;
        RECORD(t, "r,%d,%d,%d,%d", first, last, n->host[r->host[first]], kind_of(r, first));
    }
}

int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err)
{
    static const struct hrun_net_tune_options standard = HRUN_NET_TUNE_DEFAULT;
    const struct hrun_net_tune_options *o = options ? options : &standard;
    const struct hrun_net_thresholds *limits = &net->thresholds;
    struct hrun_buf b = HRUN_BUF_INIT;
    struct text t = { .out = &b };
    struct numbers n;
    int rc = find_numbers(net, world, &n, err);

    if (rc)
        goto out;
    RECORD(&t, "b,%d,%d,%d,%d,%d,%d,%s", HRUN_COLL_VERSION, world->n, n.nhosts, n.nclasses, n.ngroups, net->nsegments,
           net->selector);
    RECORD(&t, "o,%.6g,%.6g,%d,%d", o->margin, o->cost_s, o->patience, o->tell);
    RECORD(&t, "w,%.17g,%d,%d,%.6g,%.6g,%d", net->sync_bytes, net->wire_waits, net->exchange_waits, net->bias_bytes,
           net->back_share, net->trunks_shared);
    RECORD(&t, "t,%.17g,%.17g,%.6g", limits->gather_M1, limits->gather_M2, limits->irregular_s);
    add_parameters(net, &n, &t);
    add_places(net, world, &n, &t);
    hrun_buf_addf(&b, "e,%d", t.records);
    if (b.len > HRUN_COLL_TEXT)
        rc = hrun_fail(err, HRUN_ENODATA, "the parameters of %d hosts of %d kinds do not fit into a variable of the "
                       "processes' environment", n.nhosts, n.nclasses);
    else
        hrun_buf_add(out, b.data, b.len);
out:
    free(n.host);
    hrun_buf_release(&b);
    return rc;
}

/* ---------------------------------------------------------------- reading */

/* Limits beyond any cluster; they bound the memory that a damaged text can request. */
enum { RANKS_MAX = 1 << 20, CLASSES_MAX = 1 << 10, GROUPS_MAX = 1 << 10, SEGMENTS_MAX = 1 << 10 };

/* State of reading a text. */
struct reader {
    struct hrun_net_tuning *t;
    const char *p;             /* the remaining words */
    int bad;
    int nsegments, nranks;     /* read so far */
};

static double read_tuned_number(struct reader *r)
{
    char *end;
    double v;

    if (r->bad || *r->p != ',') {
        r->bad = 1;
        return 0;
    }
    v = strtod(r->p + 1, &end);
    r->bad = end == r->p + 1 || !isfinite(v) || v < 0;
    r->p = end;
    return v;
}

/* A whole number in least..most. */
static int read_tuned_whole(struct reader *r, int least, int most)
{
    double v = read_tuned_number(r);

    if (v < least || v > most || v != floor(v))
        r->bad = 1;
    return r->bad ? least : (int)v;
}

static void read_name(struct reader *r, char *out, size_t size)
{
    size_t len = r->bad || *r->p != ',' ? 0 : strcspn(r->p + 1, ",;");

    r->bad = !len || len >= size;
    if (r->bad)
        return;
    memcpy(out, r->p + 1, len);
    out[len] = 0;
    r->p += 1 + len;
}

static struct hrun_net *make_network(int nhosts, int nclasses, int ngroups, int nsegments, const char *selector)
{
    autofree const char **names = xmalloc((size_t)nhosts * sizeof *names);
    struct hrun_net *net;

    for (int i = 0; i < nhosts; i++)
        names[i] = "";
    net = net_make(names, nhosts, nclasses, ngroups, nsegments);
    free(net->selector);
    net->selector = xstrdup(selector);
    return net;
}

static void read_begin(struct reader *r)
{
    struct hrun_net_tuning *t = r->t;
    int nhosts, nclasses, ngroups, nsegments;
    char selector[32];

    r->bad = t->net || read_tuned_whole(r, 0, 1000) != HRUN_COLL_VERSION;
    t->world.n = read_tuned_whole(r, 1, RANKS_MAX);
    nhosts = read_tuned_whole(r, 1, RANKS_MAX);
    nclasses = read_tuned_whole(r, 1, nhosts < CLASSES_MAX ? nhosts : CLASSES_MAX);
    ngroups = read_tuned_whole(r, 1, nhosts < GROUPS_MAX ? nhosts : GROUPS_MAX);
    nsegments = read_tuned_whole(r, 1, SEGMENTS_MAX);
    read_name(r, selector, sizeof selector);
    if (r->bad)
        return;
    t->net = make_network(nhosts, nclasses, ngroups, nsegments, selector);
    t->places = xcalloc(2 * (size_t)t->world.n, sizeof *t->places);
    t->world.host = t->places;
    t->world.kind = t->places + t->world.n;
    for (int i = 0; i < nclasses; i++)
        t->net->classes[i].nkinds = 0; /* until its record is read */
}

static void read_options(struct reader *r)
{
    struct hrun_net_tune_options *o = &r->t->options;

    o->margin = read_tuned_number(r);
    o->cost_s = read_tuned_number(r);
    o->patience = read_tuned_whole(r, 0, 1000000);
    o->tell = read_tuned_whole(r, 0, 1);
}

static void read_wires(struct reader *r)
{
    struct hrun_net *net = r->t->net;

    net->sync_bytes = read_tuned_number(r);
    net->wire_waits = read_tuned_whole(r, 0, 1);
    net->exchange_waits = read_tuned_whole(r, 0, 1);
    net->bias_bytes = read_tuned_number(r);
    net->back_share = read_tuned_number(r);
    net->trunks_shared = read_tuned_whole(r, 0, 1);
}

static void read_thresholds(struct reader *r)
{
    struct hrun_net_thresholds *limits = &r->t->net->thresholds;

    limits->gather_M1 = read_tuned_number(r);
    limits->gather_M2 = read_tuned_number(r);
    limits->irregular_s = read_tuned_number(r);
}

static void read_segment(struct reader *r)
{
    struct hrun_net_segment *all = r->t->net->segments, s;

    s.from_bytes = read_tuned_number(r);
    s.a = read_tuned_number(r);
    s.b = read_tuned_number(r);
    r->bad |= r->nsegments >= r->t->net->nsegments || s.a <= 0 || s.b <= 0 ||
              (r->nsegments ? s.from_bytes <= all[r->nsegments - 1].from_bytes : s.from_bytes > 0);
    if (!r->bad)
        all[r->nsegments++] = s;
}

static void read_class(struct reader *r)
{
    struct hrun_net_class *c = &r->t->net->classes[read_tuned_whole(r, 0, r->t->net->nclasses - 1)];

    r->bad |= c->nkinds != 0;
    c->C_s.v = read_tuned_number(r);
    c->t_s_per_byte.v = read_tuned_number(r);
    c->out_bytes_per_s.v = read_tuned_number(r);
    c->in_bytes_per_s.v = read_tuned_number(r);
    c->local_bytes_per_s = read_tuned_number(r);
    if (r->bad)
        return;
    net_class_set_kinds(c, read_tuned_whole(r, 1, HRUN_NET_KINDS_MAX));
    for (int i = 0; i < c->nkinds * c->nkinds && !r->bad; i++) {
        c->local_fixed_s[i].v = read_tuned_number(r);
        c->local_s_per_byte[i].v = read_tuned_number(r);
    }
}

static void read_pair(struct reader *r)
{
    int n = r->t->net->nclasses, i = read_tuned_whole(r, 0, n - 1), j = read_tuned_whole(r, 0, n - 1);
    struct hrun_net_pair *p = &r->t->net->pairs[i * n + j];

    p->L_s.v = read_tuned_number(r);
    p->beta_bytes_per_s.v = read_tuned_number(r);
}

static void read_trunk(struct reader *r)
{
    int n = r->t->net->ngroups, i = read_tuned_whole(r, 0, n - 1), j = read_tuned_whole(r, 0, n - 1);

    r->t->net->trunks[i * n + j].v = read_tuned_number(r);
}

static void read_tuned_host(struct reader *r)
{
    struct hrun_net *net = r->t->net;
    int h = read_tuned_whole(r, 0, net->nhosts - 1);

    r->bad |= r->nranks > 0;   /* hosts come before ranks, whose kinds are checked against their classes */
    net->class_of[h] = read_tuned_whole(r, 0, net->nclasses - 1);
    net->group_of[h] = read_tuned_whole(r, 0, net->ngroups - 1);
    r->bad |= !net->classes[net->class_of[h]].nkinds;
}

static void read_ranks(struct reader *r)
{
    struct hrun_net_tuning *t = r->t;
    int first = read_tuned_whole(r, 0, t->world.n - 1), last = read_tuned_whole(r, first, t->world.n - 1);
    int host = read_tuned_whole(r, 0, t->net->nhosts - 1), kind = read_tuned_whole(r, 0, HRUN_NET_KINDS_MAX);

    r->bad |= first != r->nranks || kind >= t->net->classes[t->net->class_of[host]].nkinds;
    for (; r->nranks <= last && !r->bad; r->nranks++) {
        t->places[r->nranks] = host;
        t->places[t->world.n + r->nranks] = kind;
    }
}

static void read_forced(struct reader *r)
{
    char name[16] = "";
    int op;

    read_name(r, name, sizeof name);
    op = r->bad ? -1 : hrun_net_op_find(name);
    r->bad |= op < 0;
    if (!r->bad)
        read_name(r, r->t->forced[op], sizeof r->t->forced[op]);
}

static const struct {
    char key;
    void (*read)(struct reader *r);
} records[] = {
    { 'b', read_begin }, { 'o', read_options }, { 'w', read_wires }, { 't', read_thresholds }, { 's', read_segment },
    { 'c', read_class }, { 'p', read_pair }, { 'g', read_trunk }, { 'h', read_tuned_host }, { 'r', read_ranks },
    { 'f', read_forced },
};

/* Read one record at r->p, and advance r->p. */
static void read_tuned_record(struct reader *r)
{
    char key = *r->p++;

    r->bad = key != 'b' && !r->t->net;
    for (size_t i = 0; i < sizeof records / sizeof *records && !r->bad; i++)
        if (records[i].key == key) {
            records[i].read(r);
            r->bad |= *r->p != ';';
            r->p++;
            return;
        }
    r->bad = 1;
}

struct hrun_net_tuning *hrun_net_tuning_read(const char *text)
{
    struct hrun_net_tuning *t = xcalloc(1, sizeof *t);
    struct reader r = { .t = t, .p = text, .bad = 0 };
    int count = 0;

    for (; !r.bad && *r.p && *r.p != 'e'; count++)
        read_tuned_record(&r);
    if (!r.bad && *r.p++ == 'e' && read_tuned_whole(&r, 0, RANKS_MAX * 4) == count && !r.bad && !*r.p && t->net &&
        r.nsegments == t->net->nsegments && r.nranks == t->world.n)
        return t;
    hrun_net_tuning_destroy(t);
    return NULL;
}

void hrun_net_tuning_destroy(struct hrun_net_tuning *t)
{
    if (!t)
        return;
    hrun_net_destroy(t->net);
    free(t->places);
    free(t);
}
