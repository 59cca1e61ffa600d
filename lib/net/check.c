/* check.c - the invariants of a network; see net.h and net_parts.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int net_check_number(const char *where, double v, struct hrun_error *err)
{
    if (isfinite(v) && v >= 0)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "%s is %g: it must be finite and not negative", where, v);
}

int net_check_value(const struct hrun_net_value *value, char where[NET_WHERE], struct hrun_error *err)
{
    size_t len = strlen(where);

    snprintf(where + len, NET_WHERE - len, ".v");
    if (net_check_number(where, value->v, err))
        return -1;
    snprintf(where + len, NET_WHERE - len, ".half");
    if (!isnan(value->half) && net_check_number(where, value->half, err))
        return -1;
    where[len] = 0;
    return 0;
}

__attribute__((format(printf, 2, 3))) static void at(char where[NET_WHERE], const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(where, NET_WHERE, fmt, ap);
    va_end(ap);
}

static int check_name_order(const void *pa, const void *pb)
{
    return strcmp(**(char *const *const *)pa, **(char *const *const *)pb);
}

/* Is there a name, and each once? */
static int check_names(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    char *const **sorted;
    int rc = 0;

    for (int i = 0; i < net->nhosts; i++) {
        at(where, "hosts[%d].name", i);
        if (!net->hosts[i] || !*net->hosts[i])
            return hrun_fail(err, HRUN_EINVAL, "%s is empty", where);
    }
    sorted = xmalloc((size_t)net->nhosts * sizeof *sorted);
    for (int i = 0; i < net->nhosts; i++)
        sorted[i] = &net->hosts[i];
    qsort(sorted, (size_t)net->nhosts, sizeof *sorted, check_name_order);
    for (int i = 1; i < net->nhosts && !rc; i++)
        if (!strcmp(*sorted[i - 1], *sorted[i])) {
            char *const *later = sorted[i - 1] < sorted[i] ? sorted[i] : sorted[i - 1];

            at(where, "hosts[%d].name", (int)(later - net->hosts));
            rc = hrun_fail(err, HRUN_EINVAL, "host '%s' is listed twice: keep one", *later);
        }
    free(sorted);
    return rc;
}

static int check_host_names(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    for (int i = 0; i < net->nhosts; i++) {
        at(where, "hosts[%d].class", i);
        if (net->class_of[i] < 0 || net->class_of[i] >= net->nclasses)
            return hrun_fail(err, HRUN_EINVAL, "host '%s' is of class %d, and there are 0 to %d", net->hosts[i],
                             net->class_of[i], net->nclasses - 1);
        at(where, "hosts[%d].group", i);
        if (net->group_of[i] < 0 || net->group_of[i] >= net->ngroups)
            return hrun_fail(err, HRUN_EINVAL, "host '%s' is in group %d, and there are 0 to %d", net->hosts[i],
                             net->group_of[i], net->ngroups - 1);
    }
    return 0;
}

static int check_class(const struct hrun_net_class *c, int i, char where[NET_WHERE], struct hrun_error *err)
{
    const struct { const char *key; const struct hrun_net_value *v; } values[] = {
        { "C_s", &c->C_s }, { "t_s_per_byte", &c->t_s_per_byte }, { "out_bytes_per_s", &c->out_bytes_per_s },
        { "in_bytes_per_s", &c->in_bytes_per_s },
    };

    for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
        at(where, "classes[%d].%s", i, values[j].key);
        if (net_check_value(values[j].v, where, err))
            return -1;
    }
    at(where, "classes[%d].local_bytes_per_s", i);
    if (net_check_number(where, c->local_bytes_per_s, err))
        return -1;
    at(where, "classes[%d].kinds", i);
    if (c->nkinds < 1 || c->nkinds > HRUN_NET_KINDS_MAX)
        return hrun_fail(err, HRUN_EINVAL, "%s is %d: it must be in 1..%d", where, c->nkinds, HRUN_NET_KINDS_MAX);
    at(where, "classes[%d].local", i);
    if (!c->local_fixed_s || !c->local_s_per_byte)
        return hrun_fail(err, HRUN_EINVAL, "%s is missing", where);
    for (int a = 0; a < c->nkinds; a++)
        for (int b = 0; b < c->nkinds; b++) {
            size_t k = (size_t)a * (size_t)c->nkinds + (size_t)b;

            at(where, "classes[%d].local[%d to %d].fixed_s", i, a, b);
            if (net_check_value(&c->local_fixed_s[k], where, err))
                return -1;
            at(where, "classes[%d].local[%d to %d].s_per_byte", i, a, b);
            if (net_check_value(&c->local_s_per_byte[k], where, err))
                return -1;
        }
    return 0;
}

static int check_links(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    for (int i = 0; i < net->nclasses; i++)
        for (int j = 0; j < net->nclasses; j++) {
            const struct hrun_net_pair *p = &net->pairs[(size_t)i * (size_t)net->nclasses + (size_t)j];

            at(where, "pairs[%d to %d].L_s", i, j);
            if (net_check_value(&p->L_s, where, err))
                return -1;
            at(where, "pairs[%d to %d].beta_bytes_per_s", i, j);
            if (net_check_value(&p->beta_bytes_per_s, where, err))
                return -1;
        }
    for (int i = 0; i < net->ngroups; i++)
        for (int j = 0; j < net->ngroups; j++) {
            at(where, "trunks[%d to %d].bytes_per_s", i, j);
            if (net_check_value(&net->trunks[(size_t)i * (size_t)net->ngroups + (size_t)j], where, err))
                return -1;
        }
    return 0;
}

static int check_segments(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    for (int i = 0; i < net->nsegments; i++) {
        const struct hrun_net_segment *s = &net->segments[i];
        const struct { const char *key; double v; } factors[] = { { "a", s->a }, { "b", s->b } };

        at(where, "segments[%d].from_bytes", i);
        if (net_check_number(where, s->from_bytes, err))
            return -1;
        if (!i && s->from_bytes > 0)
            return hrun_fail(err, HRUN_EINVAL, "%s is %g: the first segment begins at 0 bytes", where, s->from_bytes);
        if (i && s->from_bytes <= s[-1].from_bytes)
            return hrun_fail(err, HRUN_EINVAL, "%s is %g: segments must ascend, and the one before begins at %g", where,
                             s->from_bytes, s[-1].from_bytes);
        for (int j = 0; j < 2; j++) {
            at(where, "segments[%d].%s", i, factors[j].key);
            if (!isfinite(factors[j].v) || factors[j].v <= 0)
                return hrun_fail(err, HRUN_EINVAL, "%s is %g: a factor must be finite and above 0", where,
                                 factors[j].v);
        }
    }
    return 0;
}

static int check_thresholds(const struct hrun_net_thresholds *t, char where[NET_WHERE], struct hrun_error *err)
{
    const struct { const char *key; double v; int any_sign; } numbers[] = {
        { "scatter_S", t->scatter_S, 0 }, { "gather_M1", t->gather_M1, 0 }, { "gather_M2", t->gather_M2, 0 },
        { "kappa1_s_per_byte", t->kappa1_s_per_byte, 1 }, { "kappa2_s_per_byte", t->kappa2_s_per_byte, 1 },
        { "irregular_s", t->irregular_s, 0 }, { "irregular_share", t->irregular_share, 0 },
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        at(where, "thresholds.%s", numbers[i].key);
        if (numbers[i].any_sign && !isfinite(numbers[i].v))
            return hrun_fail(err, HRUN_EINVAL, "%s is %g: it must be finite", where, numbers[i].v);
        if (!numbers[i].any_sign && net_check_number(where, numbers[i].v, err))
            return -1;
    }
    if (t->irregular_share > 1)
        return hrun_fail(err, HRUN_EINVAL, "%s is %g: a share is at most 1", where, t->irregular_share);
    at(where, "thresholds.gather_M2");
    if (t->gather_M2 > 0 && t->gather_M2 < t->gather_M1)
        return hrun_fail(err, HRUN_EINVAL, "%s is %g: it cannot be below gather_M1, %g", where, t->gather_M2,
                         t->gather_M1);
    return 0;
}

static int check_lists(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    const struct { const char *key; int n, has; } lists[] = {
        { "hosts", net->nhosts, net->hosts && net->class_of && net->group_of },
        { "classes", net->nclasses, net->classes && net->pairs }, { "groups", net->ngroups, net->trunks != NULL },
        { "segments", net->nsegments, net->segments != NULL },
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        at(where, "%s", lists[i].key);
        if (lists[i].n < 1 || !lists[i].has)
            return hrun_fail(err, HRUN_EINVAL, "%s are missing: there must be at least one", where);
        if (i < 3 && lists[i].n > net->nhosts)
            return hrun_fail(err, HRUN_EINVAL, "%s are %d for %s: there cannot be more", where, lists[i].n,
                             hrun_counted(net->nhosts, "host").s);
    }
    at(where, "selector");
    if (!net->selector || !*net->selector)
        return hrun_fail(err, HRUN_EINVAL, "selector is empty: write whose rules choose the algorithms (openmpi, ...)");
    return 0;
}

int net_check(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    const struct { const char *key; double v; } numbers[] = {
        { "sync_bytes", net->sync_bytes }, { "reduce_s_per_byte", net->reduce_s_per_byte },
        { "bias_bytes", net->bias_bytes },
        { "back_share", net->back_share },
    };
    const struct { const char *key; int v; } flags[] = {
        { "wire_waits", net->wire_waits }, { "exchange_waits", net->exchange_waits },
        { "trunks_shared", net->trunks_shared },
    };

    if (check_lists(net, where, err) || check_names(net, where, err) || check_host_names(net, where, err))
        return -1;
    for (int i = 0; i < net->nclasses; i++)
        if (check_class(&net->classes[i], i, where, err))
            return -1;
    if (check_links(net, where, err) || check_segments(net, where, err))
        return -1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        at(where, "%s", numbers[i].key);
        if (net_check_number(where, numbers[i].v, err))
            return -1;
    }
    at(where, "back_share");
    if (net->back_share > 1)
        return hrun_fail(err, HRUN_EINVAL, "%s is %g: a share is at most 1", where, net->back_share);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        at(where, "%s", flags[i].key);
        if (flags[i].v != 0 && flags[i].v != 1)
            return hrun_fail(err, HRUN_EINVAL, "%s is %d: it is 0 or 1", where, flags[i].v);
    }
    return check_thresholds(&net->thresholds, where, err);
}

int hrun_net_check(const struct hrun_net *net, struct hrun_error *err)
{
    char where[NET_WHERE];

    return net_check(net, where, err);
}
