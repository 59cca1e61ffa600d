/* check.c - the invariants of a network; see net.h and net_parts.h for the contracts */
#include "base/alloc.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state of a check: the path of the present value, and the error. */
struct check {
    char *where;               /* NET_WHERE */
    struct hrun_error *err;
};

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

/* Set the path of the value to check. Result: 0. */
__attribute__((format(printf, 2, 3))) static int check_at(const struct check *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->where, NET_WHERE, fmt, ap);
    va_end(ap);
    return 0;
}

#define NUMBER(c, v, ...) (check_at(c, __VA_ARGS__) || net_check_number((c)->where, v, (c)->err))
#define VALUE(c, v, ...) (check_at(c, __VA_ARGS__) || net_check_value(v, (c)->where, (c)->err))

static int check_name_order(const void *pa, const void *pb)
{
    return strcmp(**(char *const *const *)pa, **(char *const *const *)pb);
}

static int check_hosts(const struct hrun_net *net, const struct check *c)
{
    autofree char *const **sorted = xmalloc((size_t)net->nhosts * sizeof *sorted);

    for (int i = 0; i < net->nhosts; i++)
        sorted[i] = &net->hosts[i];
    qsort(sorted, (size_t)net->nhosts, sizeof *sorted, check_name_order);
    for (int i = 1; i < net->nhosts; i++)
        if (!strcmp(*sorted[i - 1], *sorted[i])) {
            char *const *later = sorted[i - 1] < sorted[i] ? sorted[i] : sorted[i - 1];

            check_at(c, "hosts[%d].name", (int)(later - net->hosts));
            return hrun_fail(c->err, HRUN_EINVAL, "host '%s' is listed twice: keep one", *later);
        }
    for (int i = 0; i < net->nhosts; i++) {
        check_at(c, "hosts[%d].class", i);
        if (net->class_of[i] < 0 || net->class_of[i] >= net->nclasses)
            return hrun_fail(c->err, HRUN_EINVAL, "host '%s' is of class %d: classes are numbered from 0 to %d",
                             net->hosts[i], net->class_of[i], net->nclasses - 1);
        check_at(c, "hosts[%d].group", i);
        if (net->group_of[i] < 0 || net->group_of[i] >= net->ngroups)
            return hrun_fail(c->err, HRUN_EINVAL, "host '%s' is in group %d: groups are numbered from 0 to %d",
                             net->hosts[i], net->group_of[i], net->ngroups - 1);
    }
    return 0;
}

static int check_class(const struct hrun_net_class *class, int i, const struct check *c)
{
    if (VALUE(c, &class->C_s, "classes[%d].C_s", i) || VALUE(c, &class->t_s_per_byte, "classes[%d].t_s_per_byte", i) ||
        VALUE(c, &class->out_bytes_per_s, "classes[%d].out_bytes_per_s", i) ||
        VALUE(c, &class->in_bytes_per_s, "classes[%d].in_bytes_per_s", i) ||
        NUMBER(c, class->local_bytes_per_s, "classes[%d].local_bytes_per_s", i))
        return -1;
    for (int k = 0; k < class->nkinds * class->nkinds; k++) {
        int a = k / class->nkinds, b = k % class->nkinds;

        if (VALUE(c, &class->local_fixed_s[k], "classes[%d].local[%d to %d].fixed_s", i, a, b) ||
            VALUE(c, &class->local_s_per_byte[k], "classes[%d].local[%d to %d].s_per_byte", i, a, b))
            return -1;
    }
    return 0;
}

static int check_links(const struct hrun_net *net, const struct check *c)
{
    for (int k = 0, n = net->nclasses; k < n * n; k++)
        if (VALUE(c, &net->pairs[k].L_s, "pairs[%d to %d].L_s", k / n, k % n) ||
            VALUE(c, &net->pairs[k].beta_bytes_per_s, "pairs[%d to %d].beta_bytes_per_s", k / n, k % n))
            return -1;
    for (int k = 0, n = net->ngroups; k < n * n; k++)
        if (VALUE(c, &net->trunks[k], "trunks[%d to %d].bytes_per_s", k / n, k % n))
            return -1;
    return 0;
}

static int check_segments(const struct hrun_net *net, const struct check *c)
{
    for (int i = 0; i < net->nsegments; i++) {
        const struct hrun_net_segment *s = &net->segments[i];

        if (NUMBER(c, s->from_bytes, "segments[%d].from_bytes", i))
            return -1;
        if (!i && s->from_bytes > 0)
            return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: the first segment begins at 0 bytes", c->where,
                             s->from_bytes);
        if (i && s->from_bytes <= s[-1].from_bytes)
            return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: segments must ascend, and the one before begins at %g",
                             c->where, s->from_bytes, s[-1].from_bytes);
        for (int j = 0; j < 2; j++) {
            double factor = j ? s->b : s->a;

            check_at(c, "segments[%d].%c", i, "ab"[j]);
            if (!isfinite(factor) || factor <= 0)
                return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: a factor must be finite and above 0", c->where,
                                 factor);
        }
    }
    return 0;
}

/* Check the numbers and flags that are no lists. */
static int check_scalars(const struct hrun_net *net, const struct check *c)
{
    const struct hrun_net_thresholds *t = &net->thresholds;
    static const char share[] = "a share is at most 1", flag[] = "it is 0 or 1";
    const struct { const char *path; double v, least, most; const char *range; } scalars[] = {
        { "sync_bytes", net->sync_bytes, 0, INFINITY, "" },
        { "reduce_s_per_byte", net->reduce_s_per_byte, 0, INFINITY, "" },
        { "bias_bytes", net->bias_bytes, 0, INFINITY, "" },
        { "back_share", net->back_share, 0, 1, share },
        { "wire_waits", net->wire_waits, 0, 1, flag },
        { "exchange_waits", net->exchange_waits, 0, 1, flag },
        { "trunks_shared", net->trunks_shared, 0, 1, flag },
        { "thresholds.kappa1_s_per_byte", t->kappa1_s_per_byte, -INFINITY, INFINITY, "" },
        { "thresholds.kappa2_s_per_byte", t->kappa2_s_per_byte, -INFINITY, INFINITY, "" },
        { "thresholds.scatter_S", t->scatter_S, 0, INFINITY, "" },
        { "thresholds.gather_M1", t->gather_M1, 0, INFINITY, "" },
        { "thresholds.gather_M2", t->gather_M2, 0, INFINITY, "" },
        { "thresholds.irregular_s", t->irregular_s, 0, INFINITY, "" },
        { "thresholds.irregular_share", t->irregular_share, 0, 1, share },
    };

    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        double v = scalars[i].v;

        check_at(c, "%s", scalars[i].path);
        if (!isfinite(v) || v < scalars[i].least)
            return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: it must be finite%s", c->where, v,
                             scalars[i].least < 0 ? "" : " and not negative");
        if (v > scalars[i].most)
            return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: %s", c->where, v, scalars[i].range);
    }
    check_at(c, "thresholds.gather_M2");
    if (t->gather_M2 > 0 && t->gather_M2 < t->gather_M1)
        return hrun_fail(c->err, HRUN_EINVAL, "%s is %g: it cannot be below gather_M1, %g", c->where, t->gather_M2,
                         t->gather_M1);
    return 0;
}

int net_check(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err)
{
    const struct check c = { where, err };

    if (check_hosts(net, &c))
        return -1;
    for (int i = 0; i < net->nclasses; i++)
        if (check_class(&net->classes[i], i, &c))
            return -1;
    return check_links(net, &c) || check_segments(net, &c) || check_scalars(net, &c) ? -1 : 0;
}

int hrun_net_check(const struct hrun_net *net, struct hrun_error *err)
{
    char where[NET_WHERE];

    return net_check(net, where, err);
}
