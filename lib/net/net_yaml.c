/* net_yaml.c - a network as YAML text, and back; see net_parts.h for the contracts, hrun-profile(5) for the format
 *
 * A file has only known pairs, trunks and local values. Empty texts and unknown half widths (NAN) are left out.
 */
#include "net/net_parts.h"

#include "base/alloc.h"
#include "base/units.h"
#include "base/yaml.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct net_file_host {
    char *name;
    int class_of, group;
};

struct net_file_local {
    int from, to;
    struct hrun_net_value fixed_s, s_per_byte;
};

struct net_file_class {
    struct hrun_net_class c;    /* without local values */
    struct net_file_local *local;
    unsigned nlocal;
};

struct net_file_pair {
    int from, to;
    struct hrun_net_pair p;
};

struct net_file_trunk {
    int from, to;
    struct hrun_net_value bytes_per_s;
};

struct net_file {
    int version;
    struct hrun_net net;        /* without its arrays */
    struct net_file_host *hosts;
    struct net_file_class *classes;
    struct net_file_pair *pairs;
    struct net_file_trunk *trunks;
    struct hrun_net_segment *segments;
    unsigned nhosts, nclasses, npairs, ntrunks, nsegments;
};

static const struct hrun_key value_keys[] = {
    { HRUN_KEY("v", struct hrun_net_value, v) },
    { HRUN_KEY("half", struct hrun_net_value, half), .sparse = 1 },
    { NULL }
};

#define VALUE(key, s, m) { HRUN_KEY(key, s, m), .keys = value_keys, .flow = 1 }

static const struct hrun_key host_keys[] = {
    { HRUN_KEY("name", struct net_file_host, name) },
    { HRUN_KEY("class", struct net_file_host, class_of) },
    { HRUN_KEY("group", struct net_file_host, group) },
    { NULL }
};

static const struct hrun_key local_keys[] = {
    { HRUN_KEY("from", struct net_file_local, from) },
    { HRUN_KEY("to", struct net_file_local, to) },
    VALUE("fixed_s", struct net_file_local, fixed_s),
    VALUE("s_per_byte", struct net_file_local, s_per_byte),
    { NULL }
};

static const struct hrun_key pair_keys[] = {
    { HRUN_KEY("from", struct net_file_pair, from) },
    { HRUN_KEY("to", struct net_file_pair, to) },
    VALUE("L_s", struct net_file_pair, p.L_s),
    VALUE("beta_bytes_per_s", struct net_file_pair, p.beta_bytes_per_s),
    { NULL }
};

static const struct hrun_key trunk_keys[] = {
    { HRUN_KEY("from", struct net_file_trunk, from) },
    { HRUN_KEY("to", struct net_file_trunk, to) },
    VALUE("bytes_per_s", struct net_file_trunk, bytes_per_s),
    { NULL }
};

static const struct hrun_key segment_keys[] = {
    { HRUN_KEY("from_bytes", struct hrun_net_segment, from_bytes) },
    { HRUN_KEY("a", struct hrun_net_segment, a) },
    { HRUN_KEY("b", struct hrun_net_segment, b) },
    { NULL }
};

static const struct hrun_key threshold_keys[] = {
    { HRUN_KEY("scatter_S", struct hrun_net_thresholds, scatter_S) },
    { HRUN_KEY("gather_M1", struct hrun_net_thresholds, gather_M1) },
    { HRUN_KEY("gather_M2", struct hrun_net_thresholds, gather_M2) },
    { HRUN_KEY("kappa1_s_per_byte", struct hrun_net_thresholds, kappa1_s_per_byte) },
    { HRUN_KEY("kappa2_s_per_byte", struct hrun_net_thresholds, kappa2_s_per_byte) },
    { HRUN_KEY("irregular_s", struct hrun_net_thresholds, irregular_s) },
    { HRUN_KEY("irregular_share", struct hrun_net_thresholds, irregular_share) },
    { NULL }
};

static const struct hrun_key class_keys[] = {
    VALUE("C_s", struct net_file_class, c.C_s),
    VALUE("t_s_per_byte", struct net_file_class, c.t_s_per_byte),
    VALUE("out_bytes_per_s", struct net_file_class, c.out_bytes_per_s),
    VALUE("in_bytes_per_s", struct net_file_class, c.in_bytes_per_s),
    { HRUN_KEY("local_bytes_per_s", struct net_file_class, c.local_bytes_per_s) },
    { HRUN_KEY("kinds", struct net_file_class, c.nkinds) },
    { HRUN_KEY_LIST("local", struct net_file_class, local, nlocal), .keys = local_keys, .optional = 1, .flow = 1 },
    { NULL }
};

static const struct hrun_key file_keys[] = {
    { HRUN_KEY("version", struct net_file, version) },
    { HRUN_KEY("engine", struct net_file, net.engine), .optional = 1, .empty = 1 },
    { HRUN_KEY("mpi", struct net_file, net.mpi), .optional = 1, .empty = 1 },
    { HRUN_KEY("selector", struct net_file, net.selector) },
    { HRUN_KEY("date", struct net_file, net.date), .optional = 1, .empty = 1 },
    { HRUN_KEY("groups", struct net_file, net.ngroups) },
    { HRUN_KEY_LIST("hosts", struct net_file, hosts, nhosts), .keys = host_keys, .min = 1, .flow = 1 },
    { HRUN_KEY_LIST("classes", struct net_file, classes, nclasses), .keys = class_keys, .min = 1 },
    { HRUN_KEY_LIST("pairs", struct net_file, pairs, npairs), .keys = pair_keys, .optional = 1, .flow = 1 },
    { HRUN_KEY_LIST("trunks", struct net_file, trunks, ntrunks), .keys = trunk_keys, .optional = 1, .flow = 1 },
    { HRUN_KEY_LIST("segments", struct net_file, segments, nsegments), .keys = segment_keys, .min = 1, .flow = 1 },
    { HRUN_KEY("sync_bytes", struct net_file, net.sync_bytes) },
    { HRUN_KEY("wire_waits", struct net_file, net.wire_waits) },
    { HRUN_KEY("exchange_waits", struct net_file, net.exchange_waits), .optional = 1 },
    { HRUN_KEY("bias_bytes", struct net_file, net.bias_bytes) },
    { HRUN_KEY("back_share", struct net_file, net.back_share) },
    { HRUN_KEY("trunks_shared", struct net_file, net.trunks_shared) },
    { HRUN_KEY("reduce_s_per_byte", struct net_file, net.reduce_s_per_byte) },
    { HRUN_KEY("thresholds", struct net_file, net.thresholds), .keys = threshold_keys },
    { NULL }
};

static const struct hrun_schema net_schema = { file_keys, sizeof(struct net_file) };

/* ---------------------------------------------------------------- to text */

int net_is_known(const struct hrun_net_value *v)
{
    return v->v != 0 || signbit(v->v) || !isnan(v->half);
}

static void fill_file_class(const struct hrun_net_class *c, struct net_file_class *f)
{
    *f = (struct net_file_class){ .c = *c, .local = xcalloc((size_t)c->nkinds * (size_t)c->nkinds, sizeof *f->local) };
    for (int a = 0, k = 0; a < c->nkinds; a++)
        for (int b = 0; b < c->nkinds; b++, k++)
            if (net_is_known(&c->local_fixed_s[k]) || net_is_known(&c->local_s_per_byte[k]))
                f->local[f->nlocal++] = (struct net_file_local){ a, b, c->local_fixed_s[k], c->local_s_per_byte[k] };
}

static void fill_links(const struct hrun_net *net, struct net_file *f)
{
    for (int i = 0; i < net->nclasses; i++)
        for (int j = 0; j < net->nclasses; j++) {
            const struct hrun_net_pair *p = &net->pairs[(size_t)i * (size_t)net->nclasses + (size_t)j];

            if (net_is_known(&p->L_s) || net_is_known(&p->beta_bytes_per_s))
                f->pairs[f->npairs++] = (struct net_file_pair){ i, j, *p };
        }
    for (int i = 0; i < net->ngroups; i++)
        for (int j = 0; j < net->ngroups; j++) {
            const struct hrun_net_value *t = &net->trunks[(size_t)i * (size_t)net->ngroups + (size_t)j];

            if (net_is_known(t))
                f->trunks[f->ntrunks++] = (struct net_file_trunk){ i, j, *t };
        }
}

int net_print(const struct hrun_net *net, struct hrun_buf *out, struct hrun_error *err)
{
    struct net_file f = {
        .version = NET_VERSION, .net = *net, .segments = net->segments, .nsegments = (unsigned)net->nsegments,
        .hosts = xcalloc((size_t)net->nhosts, sizeof *f.hosts),
        .classes = xcalloc((size_t)net->nclasses, sizeof *f.classes),
        .pairs = xcalloc((size_t)net->nclasses * (size_t)net->nclasses, sizeof *f.pairs),
        .trunks = xcalloc((size_t)net->ngroups * (size_t)net->ngroups, sizeof *f.trunks)
    };
    int rc;

    for (int i = 0; i < net->nhosts; i++)
        f.hosts[f.nhosts++] = (struct net_file_host){ net->hosts[i], net->class_of[i], net->group_of[i] };
    for (int i = 0; i < net->nclasses; i++)
        fill_file_class(&net->classes[i], &f.classes[f.nclasses++]);
    fill_links(net, &f);
    rc = hrun_yaml_print(&net_schema, &f, out, err);
    for (unsigned i = 0; i < f.nclasses; i++)
        free(f.classes[i].local);
    free(f.hosts);
    free(f.classes);
    free(f.pairs);
    free(f.trunks);
    return rc;
}

/* ---------------------------------------------------------------- from text */

/* Entry i of a list in the file, for the messages. */
struct entry {
    const struct hrun_yaml *marks;
    struct hrun_error *err;
    const char *list;
    unsigned i;
};

/* The index in an n by n table of an entry with `from` and `to`, or -1. */
static long long entry_index(const struct entry *entry, const char *what, int from, int to, int n)
{
    char where[NET_WHERE];

    for (int j = 0; j < 2; j++) {
        int v = j ? to : from;

        snprintf(where, sizeof where, "%s[%u].%s", entry->list, entry->i, j ? "to" : "from");
        if (v < 0 || v >= n)
            return hrun_yaml_fail(entry->marks, where, 0, entry->err, HRUN_EPARSE, "%s is %d: %s are numbered from 0 "
                                  "to %d", where, v, what, n - 1);
    }
    return (long long)from * n + to;
}

/* Store a value of the entry in *out. Error: *out is known already. */
static int set_entry_value(const struct entry *entry, const char *key, const struct hrun_net_value *v,
                           struct hrun_net_value *out)
{
    struct hrun_error why;
    char where[NET_WHERE];

    snprintf(where, sizeof where, "%s[%u].%s", entry->list, entry->i, key);
    if (net_is_known(out))
        return hrun_yaml_fail(entry->marks, where, 0, entry->err, HRUN_EPARSE, "%s was given before: keep one", where);
    if (net_check_value(v, where, &why))
        return hrun_yaml_fail(entry->marks, where, 0, entry->err, HRUN_EPARSE, "%s", why.text);
    *out = *v;
    return 0;
}

static int read_file_class(const struct net_file_class *f, int i, struct hrun_net_class *c,
                           const struct hrun_yaml *marks, struct hrun_error *err)
{
    int kinds = f->c.nkinds;
    char list[NET_WHERE];
    struct entry entry = { marks, err, list, 0 };

    if (kinds < 1 || kinds > HRUN_NET_KINDS_MAX) {
        snprintf(list, sizeof list, "classes[%d].kinds", i);
        return hrun_yaml_fail(marks, list, 0, err, HRUN_EPARSE, "%s is %d: it must be in 1..%d", list, kinds,
                              HRUN_NET_KINDS_MAX);
    }
    net_class_set_kinds(c, kinds);
    *c = (struct hrun_net_class){ f->c.C_s, f->c.t_s_per_byte, f->c.out_bytes_per_s, f->c.in_bytes_per_s,
                                  f->c.local_bytes_per_s, kinds, c->local_fixed_s, c->local_s_per_byte };
    snprintf(list, sizeof list, "classes[%d].local", i);
    for (; entry.i < f->nlocal; entry.i++) {
        const struct net_file_local *l = &f->local[entry.i];
        long long at = entry_index(&entry, "kinds", l->from, l->to, kinds);

        if (at < 0 || set_entry_value(&entry, "fixed_s", &l->fixed_s, &c->local_fixed_s[at]) ||
            set_entry_value(&entry, "s_per_byte", &l->s_per_byte, &c->local_s_per_byte[at]))
            return -1;
    }
    return 0;
}

static int read_file_links(const struct net_file *f, struct hrun_net *net, const struct hrun_yaml *marks,
                           struct hrun_error *err)
{
    for (struct entry entry = { marks, err, "pairs", 0 }; entry.i < f->npairs; entry.i++) {
        const struct net_file_pair *p = &f->pairs[entry.i];
        long long at = entry_index(&entry, "classes", p->from, p->to, net->nclasses);

        if (at < 0 || set_entry_value(&entry, "L_s", &p->p.L_s, &net->pairs[at].L_s) ||
            set_entry_value(&entry, "beta_bytes_per_s", &p->p.beta_bytes_per_s, &net->pairs[at].beta_bytes_per_s))
            return -1;
    }
    for (struct entry entry = { marks, err, "trunks", 0 }; entry.i < f->ntrunks; entry.i++) {
        const struct net_file_trunk *t = &f->trunks[entry.i];
        long long at = entry_index(&entry, "groups", t->from, t->to, net->ngroups);

        if (at < 0 || set_entry_value(&entry, "bytes_per_s", &t->bytes_per_s, &net->trunks[at]))
            return -1;
    }
    return 0;
}

/* Check the version, and that there are no more classes or groups than hosts. */
static int check_file_counts(const struct net_file *f, const struct hrun_yaml *marks, struct hrun_error *err)
{
    if (f->version != NET_VERSION)
        return hrun_yaml_fail(marks, "version", 0, err, HRUN_EPARSE, "version %d is unknown", f->version);
    if (f->net.ngroups < 1 || (unsigned)f->net.ngroups > f->nhosts)
        return hrun_yaml_fail(marks, "groups", 0, err, HRUN_EPARSE, "groups is %d: it must be at least 1, and at most "
                              "the number of hosts, %u", f->net.ngroups, f->nhosts);
    if (f->nclasses > f->nhosts)
        return hrun_yaml_fail(marks, "classes", 0, err, HRUN_EPARSE, "there are %u classes for %s: there cannot "
                              "be more", f->nclasses, hrun_counted(f->nhosts, "host").s);
    return 0;
}

/* A network with the hosts, segments, texts, numbers and flags of the file. */
static struct hrun_net *net_of_file(struct net_file *f)
{
    struct hrun_net *net = xmalloc(sizeof *net);
    autofree const char **names = xmalloc(f->nhosts * sizeof *names);

    for (unsigned i = 0; i < f->nhosts; i++)
        names[i] = f->hosts[i].name;
    *net = f->net;
    f->net = (struct hrun_net){ 0 };
    net_allocate(net, names, (int)f->nhosts, (int)f->nclasses, net->ngroups, (int)f->nsegments);
    for (unsigned i = 0; i < f->nhosts; i++) {
        net->class_of[i] = f->hosts[i].class_of;
        net->group_of[i] = f->hosts[i].group;
    }
    memcpy(net->segments, f->segments, f->nsegments * sizeof *f->segments);
    return net;
}

static int read_file_lists(const struct net_file *f, struct hrun_net *net, const struct hrun_yaml *marks,
                           struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    char where[NET_WHERE];

    for (int i = 0; i < net->nclasses; i++)
        if (read_file_class(&f->classes[i], i, &net->classes[i], marks, err))
            return -1;
    if (read_file_links(f, net, marks, err))
        return -1;
    if (net_check(net, where, &why))
        return hrun_yaml_fail(marks, where, 0, err, HRUN_EPARSE, "%s", why.text);
    return 0;
}

int net_parse(const char *name, const char *text, size_t len, struct hrun_net **out, struct hrun_error *err)
{
    struct hrun_net *net = NULL;
    struct hrun_yaml *marks = NULL;
    void *f = NULL;
    int rc;

    if (hrun_yaml_parse(name, text, len, &net_schema, &f, &marks, err))
        return -1;
    rc = check_file_counts(f, marks, err);
    if (!rc) {
        net = net_of_file(f);
        rc = read_file_lists(f, net, marks, err);
    }
    hrun_yaml_free(&net_schema, f, marks);
    if (rc)
        hrun_net_destroy(net);
    else
        *out = net;
    return rc;
}
