/* net_read.c - a network from YAML text; see internal.h and net_yaml.h for the contracts */
#include "net/internal.h"
#include "net/net_yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hrun_net_value from_file(const struct net_file_value *f)
{
    return (struct hrun_net_value){ f->v, f->half ? *f->half : NAN };
}

/* Entry i of a list is about `from` and `to`, two of n things: its place in the n by n table, or -1 with *err. */
static long long take_place(const char *list, unsigned i, const char *what, int from, int to, int n,
                            const struct hrun_yaml *marks, struct hrun_error *err)
{
    const struct { const char *key; int v; } ends[] = { { "from", from }, { "to", to } };
    char where[NET_WHERE];

    for (int j = 0; j < 2; j++) {
        snprintf(where, sizeof where, "%s[%u].%s", list, i, ends[j].key);
        if (ends[j].v < 0 || ends[j].v >= n)
            return hrun_yaml_fail(marks, where, 0, err, HRUN_EPARSE, "%s is %d: %s are numbered from 0 to %d", where,
                                  ends[j].v, what, n - 1);
    }
    return (long long)from * n + to;
}

/* A value of entry i of a list, unless the table has one: each may be given once. */
static int take_value(const char *list, unsigned i, const char *key, const struct net_file_value *f,
                      struct hrun_net_value *out, const struct hrun_yaml *marks, struct hrun_error *err)
{
    struct hrun_net_value v = from_file(f);
    struct hrun_error why = { 0 };
    char where[NET_WHERE];

    snprintf(where, sizeof where, "%s[%u].%s", list, i, key);
    if (net_is_known(out))
        return hrun_yaml_fail(marks, where, 0, err, HRUN_EPARSE, "%s was given before: keep one", where);
    if (net_check_value(&v, where, &why))
        return hrun_yaml_fail(marks, where, 0, err, HRUN_EPARSE, "%s", why.text);
    *out = v;
    return 0;
}

static int take_class(const struct net_file_class *f, int i, struct hrun_net_class *c, const struct hrun_yaml *marks,
                      struct hrun_error *err)
{
    static const struct hrun_net_value unknown = { 0, NAN };
    long long n = (long long)f->kinds * f->kinds, at;
    char list[NET_WHERE];

    if (f->kinds < 1 || f->kinds > HRUN_NET_KINDS_MAX) {
        snprintf(list, sizeof list, "classes[%d].kinds", i);
        return hrun_yaml_fail(marks, list, 0, err, HRUN_EPARSE, "%s is %d: it must be in 1..%d", list, f->kinds,
                              HRUN_NET_KINDS_MAX);
    }
    free(c->local_fixed_s);
    free(c->local_s_per_byte);
    c->C_s = from_file(&f->C_s);
    c->t_s_per_byte = from_file(&f->t_s_per_byte);
    c->out_bytes_per_s = from_file(&f->out_bytes_per_s);
    c->in_bytes_per_s = from_file(&f->in_bytes_per_s);
    c->local_bytes_per_s = f->local_bytes_per_s;
    c->nkinds = f->kinds;
    c->local_fixed_s = net_alloc(n, sizeof *c->local_fixed_s);
    c->local_s_per_byte = net_alloc(n, sizeof *c->local_s_per_byte);
    if (!c->local_fixed_s || !c->local_s_per_byte)
        return hrun_fail_nomem(err);
    for (long long k = 0; k < n; k++)
        c->local_fixed_s[k] = c->local_s_per_byte[k] = unknown;
    snprintf(list, sizeof list, "classes[%d].local", i);
    for (unsigned k = 0; k < f->nlocal; k++) {
        const struct net_file_local *l = &f->local[k];

        at = take_place(list, k, "kinds", l->from, l->to, f->kinds, marks, err);
        if (at < 0 || take_value(list, k, "fixed_s", &l->fixed_s, &c->local_fixed_s[at], marks, err) ||
            take_value(list, k, "s_per_byte", &l->s_per_byte, &c->local_s_per_byte[at], marks, err))
            return -1;
    }
    return 0;
}

static int take_links(const struct net_file *f, struct hrun_net *net, const struct hrun_yaml *marks,
                      struct hrun_error *err)
{
    long long at;

    for (unsigned i = 0; i < f->npairs; i++) {
        const struct net_file_pair *p = &f->pairs[i];

        at = take_place("pairs", i, "classes", p->from, p->to, net->nclasses, marks, err);
        if (at < 0 || take_value("pairs", i, "L_s", &p->L_s, &net->pairs[at].L_s, marks, err) ||
            take_value("pairs", i, "beta_bytes_per_s", &p->beta_bytes_per_s, &net->pairs[at].beta_bytes_per_s, marks,
                       err))
            return -1;
    }
    for (unsigned i = 0; i < f->ntrunks; i++) {
        const struct net_file_trunk *t = &f->trunks[i];

        at = take_place("trunks", i, "groups", t->from, t->to, net->ngroups, marks, err);
        if (at < 0 || take_value("trunks", i, "bytes_per_s", &t->bytes_per_s, &net->trunks[at], marks, err))
            return -1;
    }
    return 0;
}

/* A text of the file in place of the one that was. */
static int take_text(const char *text, char **out)
{
    char *copy = strdup(text ? text : "");

    if (!copy)
        return -1;
    free(*out);
    *out = copy;
    return 0;
}

/* More classes or groups than hosts would be more than anything in the file is about. */
static int check_counts(const struct net_file *f, const struct hrun_yaml *marks, struct hrun_error *err)
{
    if (f->version != NET_VERSION)
        return hrun_yaml_fail(marks, "version", 0, err, HRUN_EPARSE, "there never was a version %d", f->version);
    if (f->groups < 1 || (unsigned)f->groups > f->nhosts)
        return hrun_yaml_fail(marks, "groups", 0, err, HRUN_EPARSE, "groups is %d: it must be at least 1, and at most "
                              "the number of hosts, %u", f->groups, f->nhosts);
    if (f->nclasses > f->nhosts)
        return hrun_yaml_fail(marks, "classes", 0, err, HRUN_EPARSE, "there are %u classes for %u host%s: there cannot "
                              "be more", f->nclasses, f->nhosts, f->nhosts == 1 ? "" : "s");
    return 0;
}

/* A network with room for what the file holds, and its hosts; NULL when memory ran out. */
static struct hrun_net *make_room(const struct net_file *f)
{
    const char **names = net_alloc(f->nhosts, sizeof *names);
    struct hrun_net *net = NULL;

    if (!names)
        return NULL;
    for (unsigned i = 0; i < f->nhosts; i++)
        names[i] = f->hosts[i].name;
    net = net_make(names, (int)f->nhosts, (int)f->nclasses, f->groups, (int)f->nsegments);
    free(names);
    if (!net)
        return NULL;
    for (unsigned i = 0; i < f->nhosts; i++) {
        net->class_of[i] = f->hosts[i].class_of;
        net->group_of[i] = f->hosts[i].group;
    }
    memcpy(net->segments, f->segments, f->nsegments * sizeof *f->segments);
    return net;
}

/* The network that a loaded file describes; NULL with *err. */
static struct hrun_net *take_net(const struct net_file *f, const struct hrun_yaml *marks, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    struct hrun_net *net = NULL;
    char where[NET_WHERE];

    if (check_counts(f, marks, err))
        return NULL;
    net = make_room(f);
    if (!net || take_text(f->engine, &net->engine) || take_text(f->mpi, &net->mpi) ||
        take_text(f->selector, &net->selector) || take_text(f->date, &net->date)) {
        hrun_fail_nomem(err);
        goto fail;
    }
    for (int i = 0; i < net->nclasses; i++)
        if (take_class(&f->classes[i], i, &net->classes[i], marks, err))
            goto fail;
    if (take_links(f, net, marks, err))
        goto fail;
    net->sync_bytes = f->sync_bytes;
    net->wire_waits = f->wire_waits;
    net->exchange_waits = f->exchange_waits;
    net->bias_bytes = f->bias_bytes;
    net->back_share = f->back_share;
    net->trunks_shared = f->trunks_shared;
    net->reduce_s_per_byte = f->reduce_s_per_byte;
    net->thresholds = f->thresholds;
    if (net_check(net, where, &why)) {
        if (why.code == HRUN_ENOMEM)
            hrun_fail_nomem(err);
        else
            hrun_yaml_fail(marks, where, 0, err, HRUN_EPARSE, "%s", why.text);
        goto fail;
    }
    return net;
fail:
    hrun_net_destroy(net);
    return NULL;
}

int net_parse(const char *name, const char *text, size_t len, struct hrun_net **out, struct hrun_error *err)
{
    struct hrun_net *net = NULL;
    struct hrun_yaml *marks = NULL;
    void *f = NULL;
    locale_t old = (locale_t)0, c = net_enter_c_locale(&old);

    if (!c)
        return hrun_fail_nomem(err);
    if (!hrun_yaml_parse(name, text, len, &net_schema, &f, &marks, err))
        net = take_net(f, marks, err);
    hrun_yaml_free(&net_schema, f, marks);
    net_leave_c_locale(c, old);
    if (!net)
        return -1;
    *out = net;
    return 0;
}
