/* columns.c - weights of rows, and which parameters the records can tell; see system.h */
#include "net/system.h"

#include <math.h>
#include <stdlib.h>

/* With 4 degrees of freedom more the variance of one repetition that is drawn towards the common one has itself a
 * variance, however few repetitions there are. */
enum { NET_PRIOR = 4 };

/* Records that scatter alike: of one kind, empty or not. */
static int group_of(const struct hrun_net_record *v)
{
    return 2 * (int)v->kind + (v->bytes > 0);
}

int net_weigh(struct net_work *w, struct hrun_error *err)
{
    const struct hrun_net_records *r = w->r;
    double sum[2 * HRUN_NET_NKINDS] = { 0 }, dof[2 * HRUN_NET_NKINDS] = { 0 };
    double noise = w->options->noise_rel, shortest = INFINITY, median = acos(-1) / 2;
    size_t known = 0, rows = 0;

    w->se = calloc(r->n + 1, sizeof *w->se);
    w->out = calloc(r->n + 1, sizeof *w->out);
    if (!w->se || !w->out)
        return hrun_fail_nomem(err);
    for (size_t l = 0; l < r->n; l++) {
        const struct hrun_net_record *v = &r->v[l];

        if (v->kind == HRUN_NET_TRIP)
            shortest = fmin(shortest, v->time_s);
        if (v->sd_s > 0 && v->repetitions > 1 && v->time_s > 0) {
            sum[group_of(v)] += (v->repetitions - 1) * (v->sd_s / v->time_s) * (v->sd_s / v->time_s);
            dof[group_of(v)] += v->repetitions - 1;
        }
    }
    for (size_t l = 0; l < r->n; l++) {
        const struct hrun_net_record *v = &r->v[l];
        int g = group_of(v), seen = dof[g] > 0, own = seen && v->sd_s > 0 ? v->repetitions - 1 : 0;
        double t2 = v->time_s * v->time_s, least = 0.1 * noise * (isfinite(shortest) ? shortest : v->time_s), var;

        if (seen)
            var = median / v->repetitions * (NET_PRIOR * sum[g] / dof[g] * t2 + own * v->sd_s * v->sd_s) /
                  (NET_PRIOR + own);
        else
            var = noise * noise * t2;
        w->se[l] = sqrt(var + 0.01 * noise * noise * t2 + least * least);
        rows += (size_t)net_trial_is_row(v);
        known += (size_t)(seen && net_trial_is_row(v));
    }
    w->scatter_known = 2 * known > rows;
    return 0;
}

int net_in_use(const struct net_work *w, size_t record)
{
    const struct hrun_net_record *v = &w->r->v[record];

    return !w->out[record] && net_trial_is_row(v) &&
           (v->kind == HRUN_NET_TRIP || w->sync_bytes == 0 || fmax(v->bytes, v->back_bytes) < w->sync_bytes);
}

int net_is_exchange(const struct net_work *w, const struct hrun_net_record *v)
{
    return v->kind == HRUN_NET_BOTH && w->sync_bytes > 0 && v->bytes >= w->sync_bytes;
}

/* ---------------------------------------------------------------- what the records tell */

void net_told_release(struct net_told *t)
{
    free(t->call_t);
    free(t->fan_t);
    *t = (struct net_told){ 0 };
}

int net_told(const struct net_work *w, const int *class_of, int nclasses, struct net_told *out, struct hrun_error *err)
{
    struct net_told t = { 1, 1, 1, NULL, NULL };
    double *least = malloc((size_t)nclasses * 2 * sizeof *least), *most = least ? least + nclasses : NULL;
    int *empty = calloc((size_t)nclasses, sizeof *empty);

    t.call_t = calloc((size_t)nclasses, sizeof *t.call_t);
    t.fan_t = calloc((size_t)nclasses, sizeof *t.fan_t);
    if (!least || !empty || !t.call_t || !t.fan_t) {
        free(least);
        free(empty);
        net_told_release(&t);
        return hrun_fail_nomem(err);
    }
    for (int c = 0; c < nclasses; c++) {
        least[c] = INFINITY;
        most[c] = -INFINITY;
    }
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        int c = v->kind == HRUN_NET_PAIRS ? -1 : class_of[v->i];

        if (!net_in_use(w, l))
            continue;
        if (v->kind == HRUN_NET_CALL) {
            least[c] = fmin(least[c], v->bytes);
            most[c] = fmax(most[c], v->bytes);
        } else if (v->kind == HRUN_NET_FAN || v->kind == HRUN_NET_JOIN) {
            empty[c] |= v->bytes == 0;
            t.fan_t[c] |= v->bytes > 0;
        }
    }
    for (int c = 0; c < nclasses; c++) {
        t.call_t[c] = most[c] > least[c];
        t.L &= empty[c] || t.call_t[c] || least[c] == 0;
        t.calls &= t.call_t[c] || !t.fan_t[c];
    }
    t.C = t.L || w->r->nhosts > 2;
    free(least);
    free(empty);
    *out = t;
    return 0;
}
