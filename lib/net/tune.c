/* tune.c - writing and reading the text for libhrun-coll.so; see tune.h for the contracts
 *
 * code_record both writes and reads a record.
 */
#include "base/alloc.h"
#include "net/algorithms.h"
#include "net/net_parts.h"
#include "net/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits beyond any cluster; they bound the memory that a damaged text can request. */
enum { RANKS_MAX = 1 << 20, CLASSES_MAX = 1 << 10, GROUPS_MAX = 1 << 10, SEGMENTS_MAX = 1 << 10 };

struct codec {
    struct hrun_net_tuning *t;
    struct hrun_buf *out;      /* written to; NULL: reading */
    const char *p;             /* reading: the rest of the text */
    int bad;                   /* reading: 1: the text is damaged */
    int nsegments, nranks;     /* numbers read or written so far */
};

/* ---------------------------------------------------------------- words */

static void code_number(struct codec *c, double *v, int digits)
{
    char *end;

    if (c->out) {
        hrun_buf_addf(c->out, ",%.*g", digits, *v);
        return;
    }
    *v = 0;
    c->bad |= *c->p != ',';
    if (c->bad)
        return;
    *v = strtod(c->p + 1, &end);
    c->bad = end == c->p + 1 || !isfinite(*v) || *v < 0;
    c->p = end;
}

static void code_numbers(struct codec *c, int digits, double *const *v)
{
    for (; *v; v++)
        code_number(c, *v, digits);
}

/* Code several numbers, given by their addresses. */
#define NUMBERS(c, digits, ...) code_numbers(c, digits, (double *const[]){ __VA_ARGS__, NULL })

/* Code a whole number in least..most, which becomes `least` if the text is damaged. */
static void code_whole(struct codec *c, int *v, int least, int most)
{
    double number = *v;

    code_number(c, &number, 10);
    if (c->out)
        return;
    c->bad |= number < least || number > most || number != floor(number);
    *v = c->bad ? least : (int)number;
}

static void code_name(struct codec *c, char *text, size_t size)
{
    size_t len;

    if (c->out) {
        hrun_buf_addf(c->out, ",%s", text);
        return;
    }
    len = c->bad || *c->p != ',' ? 0 : strcspn(c->p + 1, ",;");
    c->bad = !len || len >= size;
    if (c->bad)
        return;
    memcpy(text, c->p + 1, len);
    text[len] = 0;
    c->p += 1 + len;
}

/* ---------------------------------------------------------------- records */

static void make_network(struct hrun_net_tuning *t, int nhosts, int nclasses, int ngroups, int nsegments,
                         const char *selector)
{
    autofree const char **names = xmalloc((size_t)nhosts * sizeof *names);

    for (int i = 0; i < nhosts; i++)
        names[i] = "";
    t->net = net_make(names, nhosts, nclasses, ngroups, nsegments);
    free(t->net->selector);
    t->net->selector = xstrdup(selector);
    for (int i = 0; i < nclasses; i++)
        t->net->classes[i].nkinds = 0; /* until its record is read */
    t->places = xcalloc(2 * (size_t)t->world.n, sizeof *t->places);
    t->world.host = t->places;
    t->world.kind = t->places + t->world.n;
}

static void code_begin(struct codec *c)
{
    struct hrun_net_tuning *t = c->t;
    struct hrun_net sizes = c->out ? *t->net : (struct hrun_net){ 0 };
    int version = HRUN_COLL_VERSION;
    char selector[32];

    snprintf(selector, sizeof selector, "%s", c->out ? sizes.selector : "");
    c->bad = !c->out && t->net;
    code_whole(c, &version, 0, 1000);
    c->bad |= version != HRUN_COLL_VERSION;
    code_whole(c, &t->world.n, 1, RANKS_MAX);
    code_whole(c, &sizes.nhosts, 1, RANKS_MAX);
    code_whole(c, &sizes.nclasses, 1, sizes.nhosts < CLASSES_MAX ? sizes.nhosts : CLASSES_MAX);
    code_whole(c, &sizes.ngroups, 1, sizes.nhosts < GROUPS_MAX ? sizes.nhosts : GROUPS_MAX);
    code_whole(c, &sizes.nsegments, 1, SEGMENTS_MAX);
    code_name(c, selector, sizeof selector);
    if (!c->out && !c->bad)
        make_network(t, sizes.nhosts, sizes.nclasses, sizes.ngroups, sizes.nsegments, selector);
}

static void code_segment(struct codec *c)
{
    struct hrun_net_segment *s;

    c->bad |= c->nsegments >= c->t->net->nsegments;
    if (c->bad)
        return;
    s = &c->t->net->segments[c->nsegments];
    code_number(c, &s->from_bytes, 17);
    NUMBERS(c, 6, &s->a, &s->b);
    c->bad |= s->a <= 0 || s->b <= 0 || (c->nsegments ? s->from_bytes <= s[-1].from_bytes : s->from_bytes > 0);
    c->nsegments++;
}

static void code_class(struct codec *c, int i)
{
    struct hrun_net_class *class;
    int kinds;

    code_whole(c, &i, 0, c->t->net->nclasses - 1);
    class = &c->t->net->classes[i];
    kinds = class->nkinds;
    c->bad |= !c->out && kinds;
    NUMBERS(c, 6, &class->C_s.v, &class->t_s_per_byte.v, &class->out_bytes_per_s.v, &class->in_bytes_per_s.v,
            &class->local_bytes_per_s);
    code_whole(c, &kinds, 1, HRUN_NET_KINDS_MAX);
    if (!c->out && !c->bad)
        net_class_set_kinds(class, kinds);
    for (int k = 0; k < kinds * kinds && !c->bad; k++)
        NUMBERS(c, 6, &class->local_fixed_s[k].v, &class->local_s_per_byte[k].v);
}

/* Code the row and column of entry i of an n by n table. Result: the number of the entry. */
static int code_entry(struct codec *c, int i, int n)
{
    int from = i / n, to = i % n;

    code_whole(c, &from, 0, n - 1);
    code_whole(c, &to, 0, n - 1);
    return from * n + to;
}

static void code_host(struct codec *c, int i)
{
    struct hrun_net *net = c->t->net;

    c->bad |= c->nranks > 0;   /* hosts precede ranks, whose kinds are checked against the hosts' classes */
    code_whole(c, &i, 0, net->nhosts - 1);
    code_whole(c, &net->class_of[i], 0, net->nclasses - 1);
    code_whole(c, &net->group_of[i], 0, net->ngroups - 1);
    c->bad |= !net->classes[net->class_of[i]].nkinds;
}

static int kind_of(const struct hrun_net_ranks *r, int rank)
{
    return r->kind ? r->kind[rank] : 0;
}

/* Code a run of ranks on one kind of PEs of one host. first: its first rank. */
static void code_ranks(struct codec *c, int first)
{
    struct hrun_net_tuning *t = c->t;
    const struct hrun_net_ranks *w = &t->world;
    int last = first, host = c->out ? w->host[first] : 0, kind = c->out ? kind_of(w, first) : 0;

    while (c->out && last + 1 < w->n && w->host[last + 1] == host && kind_of(w, last + 1) == kind)
        last++;
    code_whole(c, &first, 0, w->n - 1);
    code_whole(c, &last, first, w->n - 1);
    code_whole(c, &host, 0, t->net->nhosts - 1);
    code_whole(c, &kind, 0, HRUN_NET_KINDS_MAX);
    c->bad |= first != c->nranks || kind >= t->net->classes[t->net->class_of[host]].nkinds;
    for (; c->nranks <= last && !c->bad; c->nranks++)
        if (!c->out) {
            t->places[c->nranks] = host;
            t->places[w->n + c->nranks] = kind;
        }
}

static void code_forced(struct codec *c)
{
    char name[16] = "";
    int op;

    code_name(c, name, sizeof name);
    op = c->bad ? -1 : hrun_net_op_find(name);
    c->bad |= op < 0;
    if (!c->bad)
        code_name(c, c->t->forced[op], sizeof c->t->forced[op]);
}

/* Code the rest of a record after its key. i: for writing, the number of the class, host, table entry or first rank. */
static void code_record(struct codec *c, char key, int i)
{
    struct hrun_net_tune_options *o = &c->t->options;
    struct hrun_net *net = c->t->net;

    switch (key) {
    case 'b':
        code_begin(c);
        break;
    case 'o':
        NUMBERS(c, 6, &o->margin, &o->cost_s);
        code_whole(c, &o->patience, 0, 1000000);
        code_whole(c, &o->tell, 0, 1);
        break;
    case 'w':
        code_number(c, &net->sync_bytes, 17);
        code_whole(c, &net->wire_waits, 0, 1);
        code_whole(c, &net->exchange_waits, 0, 1);
        NUMBERS(c, 6, &net->bias_bytes, &net->back_share);
        code_whole(c, &net->trunks_shared, 0, 1);
        break;
    case 't':
        NUMBERS(c, 17, &net->thresholds.gather_M1, &net->thresholds.gather_M2);
        code_number(c, &net->thresholds.irregular_s, 6);
        break;
    case 's':
        code_segment(c);
        break;
    case 'c':
        code_class(c, i);
        break;
    case 'p':
        i = code_entry(c, i, net->nclasses);
        NUMBERS(c, 6, &net->pairs[i].L_s.v, &net->pairs[i].beta_bytes_per_s.v);
        break;
    case 'g':
        i = code_entry(c, i, net->ngroups);
        code_number(c, &net->trunks[i].v, 6);
        break;
    case 'h':
        code_host(c, i);
        break;
    case 'r':
        code_ranks(c, i);
        break;
    case 'f':
        code_forced(c);
        break;
    default:
        c->bad = 1;
    }
}

/* ---------------------------------------------------------------- writing */

/* 1 if record i of a kind is written (it has a value and its hosts have ranks), else 0. */
static int is_written(const struct codec *c, const char *used, char key, int i)
{
    const struct hrun_net *net = c->t->net;
    const char *used_class = used + net->nhosts, *used_group = used_class + net->nclasses;

    switch (key) {
    case 'c':
        return used_class[i];
    case 'p':
        return used_class[i / net->nclasses] && used_class[i % net->nclasses] && net->pairs[i].beta_bytes_per_s.v > 0;
    case 'g':
        return used_group[i / net->ngroups] && used_group[i % net->ngroups] && net->trunks[i].v > 0;
    case 'h':
        return used[i];
    case 'r':
        return i == c->nranks;
    default:
        return 1;
    }
}

int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_net copy = *net;
    struct hrun_net_tuning t = { .net = &copy, .world = *world, .options = HRUN_NET_TUNE_DEFAULT };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree char *used = xcalloc((size_t)net->nhosts + (size_t)net->nclasses + (size_t)net->ngroups, 1);
    struct codec c = { .t = &t, .out = &b };
    const struct { char key; int n; } records[] = {
        { 'b', 1 }, { 'o', 1 }, { 'w', 1 }, { 't', 1 }, { 's', net->nsegments }, { 'c', net->nclasses },
        { 'p', net->nclasses * net->nclasses }, { 'g', net->ngroups * net->ngroups }, { 'h', net->nhosts },
        { 'r', world->n }
    };
    int nrecords = 0;

    if (options)
        t.options = *options;
    if (net_check_ranks(net, world, err))
        return -1;
    for (int r = 0; r < world->n; r++) {
        int h = world->host[r];

        used[h] = used[net->nhosts + net->class_of[h]] = used[net->nhosts + net->nclasses + net->group_of[h]] = 1;
    }
    for (size_t k = 0; k < sizeof records / sizeof *records; k++)
        for (int i = 0; i < records[k].n; i++) {
            if (!is_written(&c, used, records[k].key, i))
                continue;
            hrun_buf_addc(&b, records[k].key);
            code_record(&c, records[k].key, i);
            hrun_buf_addc(&b, ';');
            nrecords++;
        }
    hrun_buf_addf(&b, "e,%d", nrecords);
    if (b.len > HRUN_COLL_TEXT)
        return hrun_fail(err, HRUN_ENODATA, "the parameters of the network of %d hosts do not fit into a variable of "
                         "the processes' environment", net->nhosts);
    hrun_buf_add(out, b.data, b.len);
    return 0;
}

/* ---------------------------------------------------------------- reading */

struct hrun_net_tuning *hrun_net_tuning_read(const char *text)
{
    struct hrun_net_tuning *t = xcalloc(1, sizeof *t);
    struct codec c = { .t = t, .p = text };
    int count = 0, recorded = 0;

    for (; !c.bad && *c.p && *c.p != 'e'; count++) {
        char key = *c.p++;

        c.bad = key != 'b' && !t->net;
        if (!c.bad)
            code_record(&c, key, 0);
        c.bad |= *c.p++ != ';';
    }
    if (!c.bad && *c.p++ == 'e') {
        code_whole(&c, &recorded, 0, RANKS_MAX * 4);
        if (!c.bad && recorded == count && !*c.p && t->net && c.nsegments == t->net->nsegments &&
            c.nranks == t->world.n)
            return t;
    }
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
