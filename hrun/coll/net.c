/* net.c - reading the network; see net.h and lib/net/collwire.h */
#include "net.h"

#include "net/collwire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const coll_op_names[COLL_OPS] = { "scatter", "gather", "bcast" };

/* More than any cluster has; keeps what a damaged text asks for small. Kinds of PEs: as lib/net/net.h has it. */
enum { RANKS_MAX = 1 << 20, CLASSES_MAX = 1 << 10, GROUPS_MAX = 1 << 10, KINDS_MAX = 256 };

void coll_net_free(struct coll_net *net)
{
    if (!net)
        return;
    for (int i = 0; net->classes && i < net->nclasses; i++) {
        free(net->classes[i].fixed_s);
        free(net->classes[i].per_byte);
    }
    free(net->segments);
    free(net->classes);
    free(net->pairs);
    free(net->trunks);
    free(net->class_of);
    free(net->group_of);
    free(net->host);
    free(net->kind);
    free(net->rules);
    free(net);
}

/* A record while it is read: the words left of it. */
struct words {
    const char *p;
    int bad;
};

static double number(struct words *w)
{
    char *end;
    double v;

    if (w->bad || *w->p != ',') {
        w->bad = 1;
        return 0;
    }
    v = strtod(w->p + 1, &end);
    w->bad = end == w->p + 1 || !isfinite(v) || v < 0;
    w->p = end;
    return v;
}

/* A whole number in least..most. */
static int whole(struct words *w, int least, int most)
{
    double v = number(w);

    if (v < least || v > most || v != floor(v))
        w->bad = 1;
    return w->bad ? least : (int)v;
}

static void name(struct words *w, char *out, size_t size)
{
    size_t len = w->bad || *w->p != ',' ? 0 : strcspn(w->p + 1, ",;");

    w->bad = !len || len >= size;
    if (w->bad)
        return;
    memcpy(out, w->p + 1, len);
    out[len] = 0;
    w->p += 1 + len;
}

static int operation(struct words *w)
{
    char text[16] = "";

    name(w, text, sizeof text);
    for (int op = 0; op < COLL_OPS; op++)
        if (!strcmp(text, coll_op_names[op]))
            return op;
    w->bad = 1;
    return 0;
}

/* ---------------------------------------------------------------- records, each by a function of its own */

static void read_begin(struct coll_net *n, struct words *w)
{
    if (n->nranks || whole(w, 0, 1000) != HRUN_COLL_VERSION) {
        w->bad = 1;
        return;
    }
    n->nranks = whole(w, 1, RANKS_MAX);
    n->nhosts = whole(w, 1, RANKS_MAX);
    n->nclasses = whole(w, 1, n->nhosts < CLASSES_MAX ? n->nhosts : CLASSES_MAX);
    n->ngroups = whole(w, 1, n->nhosts < GROUPS_MAX ? n->nhosts : GROUPS_MAX);
    n->sync = number(w);
    n->margin = number(w);
    n->cost_s = number(w);
    n->patience = whole(w, 0, 1000000);
    if (w->bad)
        return;
    n->classes = calloc((size_t)n->nclasses, sizeof *n->classes);
    n->pairs = calloc((size_t)n->nclasses * (size_t)n->nclasses, sizeof *n->pairs);
    n->trunks = calloc((size_t)n->ngroups * (size_t)n->ngroups, sizeof *n->trunks);
    n->class_of = calloc((size_t)n->nhosts, sizeof *n->class_of);
    n->group_of = calloc((size_t)n->nhosts, sizeof *n->group_of);
    n->host = calloc((size_t)n->nranks, sizeof *n->host);
    n->kind = calloc((size_t)n->nranks, sizeof *n->kind);
    w->bad = !n->classes || !n->pairs || !n->trunks || !n->class_of || !n->group_of || !n->host || !n->kind;
}

static void read_thresholds(struct coll_net *n, struct words *w)
{
    n->M1 = number(w);
    n->M2 = number(w);
    n->irregular_s = number(w);
}

static void read_segment(struct coll_net *n, struct words *w)
{
    struct coll_segment *more = realloc(n->segments, (size_t)(n->nsegments + 1) * sizeof *more), s;

    n->segments = more ? more : n->segments;
    s.from = number(w);
    s.a = number(w);
    s.b = number(w);
    w->bad |= !more || (n->nsegments ? s.from <= more[n->nsegments - 1].from : s.from != 0);
    if (!w->bad)
        n->segments[n->nsegments++] = s;
}

static void read_class(struct coll_net *n, struct words *w)
{
    struct coll_class *c = &n->classes[whole(w, 0, n->nclasses - 1)];
    int cells;

    if (w->bad || c->nkinds) {
        w->bad = 1;
        return;
    }
    c->C_s = number(w);
    c->t_s_per_byte = number(w);
    c->out = number(w);
    c->in = number(w);
    c->local = number(w);
    c->nkinds = whole(w, 1, KINDS_MAX);
    cells = c->nkinds * c->nkinds;
    c->fixed_s = calloc((size_t)cells, sizeof *c->fixed_s);
    c->per_byte = calloc((size_t)cells, sizeof *c->per_byte);
    w->bad |= !c->fixed_s || !c->per_byte;
    for (int i = 0; i < cells && !w->bad; i++) {
        c->fixed_s[i] = number(w);
        c->per_byte[i] = number(w);
    }
}

static void read_pair(struct coll_net *n, struct words *w)
{
    int i = whole(w, 0, n->nclasses - 1), j = whole(w, 0, n->nclasses - 1);
    struct coll_pair *p = &n->pairs[i * n->nclasses + j];

    p->L_s = number(w);
    p->beta = number(w);
}

static void read_trunk(struct coll_net *n, struct words *w)
{
    int i = whole(w, 0, n->ngroups - 1), j = whole(w, 0, n->ngroups - 1);

    n->trunks[i * n->ngroups + j] = number(w);
}

static void read_host(struct coll_net *n, struct words *w)
{
    int h = whole(w, 0, n->nhosts - 1);

    w->bad |= n->host[0] != -1;     /* a rank is placed: its kind was checked against what its host is */
    n->class_of[h] = whole(w, 0, n->nclasses - 1);
    n->group_of[h] = whole(w, 0, n->ngroups - 1);
    w->bad |= !n->classes[n->class_of[h]].nkinds;
}

static void read_ranks(struct coll_net *n, struct words *w)
{
    int first = whole(w, 0, n->nranks - 1), last = whole(w, first, n->nranks - 1), host, kind;

    host = whole(w, 0, n->nhosts - 1);
    kind = whole(w, 0, KINDS_MAX);
    w->bad |= kind >= n->classes[n->class_of[host]].nkinds;
    for (int r = first; r <= last && !w->bad; r++) {
        w->bad = n->host[r] != -1 || (r && n->host[r - 1] == -1);
        n->host[r] = host;
        n->kind[r] = kind;
    }
}

static void read_rule(struct coll_net *n, struct words *w)
{
    struct coll_rule *more = realloc(n->rules, (size_t)(n->nrules + 1) * sizeof *more), r = { 0 };

    n->rules = more ? more : n->rules;
    r.op = (enum coll_op)operation(w);
    r.n = whole(w, 0, RANKS_MAX);
    r.bytes = number(w);
    name(w, r.algorithm, sizeof r.algorithm);
    w->bad |= !more;
    if (!w->bad)
        n->rules[n->nrules++] = r;
}

static void read_forced(struct coll_net *n, struct words *w)
{
    int op = operation(w);

    name(w, n->forced[op], sizeof n->forced[op]);
}

static void read_tell(struct coll_net *n, struct words *w)
{
    n->tell = whole(w, 0, 1);
}

static const struct {
    char key;
    void (*read)(struct coll_net *n, struct words *w);
} records[] = {
    { 'b', read_begin }, { 't', read_thresholds }, { 's', read_segment }, { 'c', read_class }, { 'p', read_pair },
    { 'g', read_trunk }, { 'h', read_host }, { 'r', read_ranks }, { 'u', read_rule }, { 'f', read_forced },
    { 'v', read_tell },
};

/* One record at w->p, which goes behind it. */
static void read_record(struct coll_net *n, struct words *w)
{
    char key = *w->p++;
    int begins = key == 'b';

    w->bad = !begins && !n->nranks;
    for (size_t i = 0; i < sizeof records / sizeof *records && !w->bad; i++)
        if (records[i].key == key) {
            records[i].read(n, w);
            if (begins)
                for (int r = 0; r < n->nranks && !w->bad; r++)
                    n->host[r] = -1;
            w->bad |= *w->p != ';';
            w->p++;
            return;
        }
    w->bad = 1;
}

struct coll_net *coll_net_read(const char *text)
{
    struct coll_net *n = calloc(1, sizeof *n);
    struct words w = { .p = text, .bad = !n };
    int count = 0;

    for (; !w.bad && *w.p && *w.p != 'e'; count++)
        read_record(n, &w);
    if (!w.bad && *w.p++ == 'e' && whole(&w, 0, RANKS_MAX * 4) == count && !w.bad && !*w.p && n->nranks &&
        n->nsegments && n->host[n->nranks - 1] >= 0)
        return n;
    coll_net_free(n);
    return NULL;
}

/* ---------------------------------------------------------------- what it says */

const struct coll_segment *coll_segment(const struct coll_net *net, double bytes)
{
    int i = net->nsegments - 1;

    while (i > 0 && net->segments[i].from > bytes)
        i--;
    return &net->segments[i];
}

double coll_p2p(const struct coll_net *net, int from, int from_kind, int to, int to_kind, double bytes)
{
    const struct coll_class *a = &net->classes[net->class_of[from]], *b = &net->classes[net->class_of[to]];
    const struct coll_pair *p = &net->pairs[net->class_of[from] * net->nclasses + net->class_of[to]];
    const struct coll_segment *s = coll_segment(net, bytes);

    if (from == to)
        return a->fixed_s[from_kind * a->nkinds + to_kind] + bytes * a->per_byte[from_kind * a->nkinds + to_kind];
    if (p->beta <= 0)
        return -1;
    return a->C_s + b->C_s + s->a * p->L_s + bytes * (a->t_s_per_byte + b->t_s_per_byte + s->b / p->beta);
}

const struct coll_rule *coll_rule(const struct coll_net *net, enum coll_op op, int n, double bytes)
{
    const struct coll_rule *best = NULL;

    for (int i = 0; i < net->nrules; i++) {
        const struct coll_rule *r = &net->rules[i];

        if (r->op == op && r->n <= n && r->bytes <= bytes && (!best || r->n > best->n ||
                                                             (r->n == best->n && r->bytes > best->bytes)))
            best = r;
    }
    return best;
}
