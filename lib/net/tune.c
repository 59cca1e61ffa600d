/* tune.c - the text for libhrun-coll.so; see tune.h and collwire.h */
#include "net/tune.h"

#include <stdlib.h>
#include <string.h>

/* Sizes up to 16 MiB, and beyond so many ranks only powers of two, are looked at for changes of algorithms: MPI
 * libraries' rules have no bound beyond 1 MiB, and go by powers of two where there are many ranks. */
enum { SIZE_BITS = 24, RANKS_EACH = 4096 };

static const struct {
    enum hrun_net_op op;
    const char *name;
} tuned[] = { { HRUN_NET_SCATTER, "scatter" }, { HRUN_NET_GATHER, "gather" }, { HRUN_NET_BCAST, "bcast" } };

/* Numbers of what is used, counted anew from 0; -1: not used. */
struct numbers {
    int *host, *class, *group; /* of the network's hosts, classes, groups */
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

static int number(int *numbers, int i, int *count)
{
    if (numbers[i] < 0)
        numbers[i] = (*count)++;
    return numbers[i];
}

/* Errors: HRUN_EINVAL, HRUN_ENOMEM. n->host is to be freed in any case. */
static int find_numbers(const struct hrun_net *net, const struct hrun_net_ranks *r, struct numbers *n,
                        struct hrun_error *err)
{
    size_t all = (size_t)net->nhosts + (size_t)net->nclasses + (size_t)net->ngroups;

    memset(n, 0, sizeof *n);
    n->host = malloc((all + 1) * sizeof *n->host);
    if (!n->host)
        return hrun_fail_nomem(err);
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
        number(n->host, host, &n->nhosts);
        number(n->class, net->class_of[host], &n->nclasses);
        number(n->group, net->group_of[host], &n->ngroups);
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
            int swap = net->trunks_shared && i > j;
            double rate = net->trunks[swap ? j * net->ngroups + i : i * net->ngroups + j].v;

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

/* Do they take the same for n and m ranks at all sizes? */
static int same_rules(const char *selector, enum hrun_net_op op, int n, int m)
{
    for (int k = 0; k <= SIZE_BITS; k++)
        if (strcmp(hrun_net_selected(selector, op, n, (double)(1 << k)),
                   hrun_net_selected(selector, op, m, (double)(1 << k))))
            return 0;
    return 1;
}

static void add_rules(const char *selector, int P, struct text *t)
{
    for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++)
        for (int n = 2, before = 0; n <= P; before = n, n = n < RANKS_EACH ? n + 1 : 2 * n) {
            const char *last = "";

            if (before && same_rules(selector, tuned[i].op, before, n))
                continue;
            for (int k = 0; k <= SIZE_BITS; k++) {
                const char *takes = hrun_net_selected(selector, tuned[i].op, n, (double)(1 << k));

                if (strcmp(takes, last))
                    RECORD(t, "u,%s,%d,%d,%s", tuned[i].name, n, k ? 1 << k : 0, takes);
                last = takes;
            }
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
    RECORD(&t, "b,%d,%d,%d,%d,%d,%.17g,%.6g,%.6g,%d", HRUN_COLL_VERSION, world->n, n.nhosts, n.nclasses, n.ngroups,
           net->sync_bytes, o->margin, o->cost_s, o->patience);
    RECORD(&t, "t,%.17g,%.17g,%.6g", limits->gather_M1, limits->gather_M2, limits->irregular_s);
    add_parameters(net, &n, &t);
    add_places(net, world, &n, &t);
    /* Without a selector that is known nothing is compared, and all is left to the library. */
    if (hrun_net_selected(net->selector, HRUN_NET_GATHER, 2, 1))
        add_rules(net->selector, world->n, &t);
    if (o->tell)
        RECORD(&t, "v,1");
    hrun_buf_addf(&b, "e,%d", t.records);
    if (b.failed)
        rc = hrun_fail_nomem(err);
    else if (b.len > HRUN_COLL_TEXT)
        rc = hrun_fail(err, HRUN_ENODATA, "the parameters of %d hosts of %d kinds do not fit into a variable of the "
                       "processes' environment", n.nhosts, n.nclasses);
    else
        hrun_buf_add(out, b.data, b.len);
    if (!rc && out->failed)
        rc = hrun_fail_nomem(err);
out:
    free(n.host);
    hrun_buf_release(&b);
    return rc;
}
