/* result.c - a network from what was estimated; see turns.h */
#include "net/internal.h"
#include "net/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct hrun_net_value value_at(const struct net_solution *s, int column)
{
    return column >= 0 ? (struct hrun_net_value){ s->x[column], s->half[column] } : (struct hrun_net_value){ 0, NAN };
}

/* A rate from a time per byte; 0, no limit, where there is none. */
static struct hrun_net_value rate_of(struct hrun_net_value per_byte)
{
    if (!(per_byte.v > 0))
        return (struct hrun_net_value){ 0, NAN };
    return (struct hrun_net_value){ 1 / per_byte.v, per_byte.half / per_byte.v / per_byte.v };
}

/* That of a pair, which was measured: where its wire took no time that could be seen, the least that is within the
 * interval, or as fast as the longest message is in a nanosecond, less than a clock shows. */
static struct hrun_net_value beta_of(const struct net_state *e, int column)
{
    struct hrun_net_value g = value_at(&e->s, column), beta = rate_of(g);
    double longest = 1;

    if (column < 0 || beta.v > 0)
        return beta;
    for (size_t l = 0; l < e->w.r->n; l++)
        longest = fmax(longest, e->w.r->v[l].bytes);
    return (struct hrun_net_value){ g.half > 0 ? 1 / g.half : longest * 1e9, NAN };
}

static int fill_class(const struct net_state *e, int c, struct hrun_net_class *out)
{
    const struct net_columns *columns = &e->s.c;
    int kinds = 1;

    for (int i = 0; i < e->w.r->nhosts; i++)
        kinds = e->class_of[i] == c && e->w.r->nkinds[i] > kinds ? e->w.r->nkinds[i] : kinds;
    if (columns->C) {
        out->C_s = value_at(&e->s, columns->C[c]);
        out->t_s_per_byte = value_at(&e->s, columns->t[c]);
        out->out_bytes_per_s = rate_of(value_at(&e->s, columns->out[c]));
        out->in_bytes_per_s = rate_of(value_at(&e->s, columns->in[c]));
    }
    if (kinds == out->nkinds)
        return 0;
    free(out->local_fixed_s);
    free(out->local_s_per_byte);
    out->nkinds = kinds;
    out->local_fixed_s = net_alloc((long long)kinds * kinds, sizeof *out->local_fixed_s);
    out->local_s_per_byte = net_alloc((long long)kinds * kinds, sizeof *out->local_s_per_byte);
    if (!out->local_fixed_s || !out->local_s_per_byte)
        return -1;
    for (int i = 0; i < kinds * kinds; i++)
        out->local_fixed_s[i] = out->local_s_per_byte[i] = (struct hrun_net_value){ 0, NAN };
    return 0;
}

int net_fill(const struct net_state *e, struct hrun_net *net, struct hrun_error *err)
{
    const struct net_given *g = &e->w.given;
    int n = e->nclasses, groups = g->ngroups;

    memcpy(net->class_of, e->class_of, (size_t)net->nhosts * sizeof *net->class_of);
    memcpy(net->group_of, e->group_of, (size_t)net->nhosts * sizeof *net->group_of);
    for (int c = 0; c < n; c++)
        if (fill_class(e, c, &net->classes[c]))
            return hrun_fail_nomem(err);
    for (int i = 0; i < n * n && e->s.c.C; i++) {
        net->pairs[i].L_s = value_at(&e->s, e->s.c.L[i]);
        net->pairs[i].beta_bytes_per_s = beta_of(e, e->s.c.g[i]);
    }
    for (int i = 0; i < groups * groups; i++) {
        /* What comes back takes of a trunk that both ways share, as they do inside a group. */
        double all = g->trunks_shared || i / groups == i % groups ? 1 + g->back_share : 1;

        net->trunks[i] = rate_of((struct hrun_net_value){ e->trunk[i] / all, e->trunk_half[i] / all });
    }
    memcpy(net->segments, g->segments, (size_t)g->nsegments * sizeof *g->segments);
    net->sync_bytes = e->w.sync_bytes;
    net->back_share = g->back_share;
    net->trunks_shared = g->trunks_shared;
    net->wire_waits = e->s.c.C && net_wire_waits(&e->w, &e->s);
    net->exchange_waits = e->s.c.C && net_exchange_waits(&e->w, &e->s);
    net->bias_bytes = g->bias_bytes;
    if (net_locals(&e->w, net, err) || (e->s.c.C && net_thresholds(&e->w, &e->s, &net->thresholds, err)))
        return -1;
    return hrun_net_check(net, err);
}
