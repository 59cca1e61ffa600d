/* rows.c - weights and selection of records, and the parameters that they determine; see fitting.h */
#include "base/alloc.h"
#include "base/units.h"
#include "net/fitting.h"

#include <math.h>
#include <stdlib.h>

/* Degrees of freedom of the prior: with 4, the shrunk variance of one repetition has a finite variance for any
 * number of repetitions. */
enum { NET_PRIOR = 4 };

/* The number of a group of records that scatter alike: one kind, all empty or none. */
static int scatter_group(const struct hrun_net_record *v)
{
    return 2 * (int)v->kind + (v->bytes > 0);
}

void net_weigh(struct net_work *w)
{
    const struct hrun_net_records *r = w->r;
    double sum[2 * HRUN_NET_NKINDS] = { 0 }, dof[2 * HRUN_NET_NKINDS] = { 0 };
    double noise = NET_NOISE_REL, shortest = INFINITY, median = acos(-1) / 2;
    size_t known = 0, rows = 0;

    w->se = xcalloc(r->n + 1, sizeof *w->se);
    w->out = xcalloc(r->n + 1, sizeof *w->out);
    for (size_t l = 0; l < r->n; l++) {
        const struct hrun_net_record *v = &r->v[l];

        if (v->kind == HRUN_NET_TRIP)
            shortest = fmin(shortest, v->time_s);
        if (v->sd_s > 0 && v->repetitions > 1 && v->time_s > 0) {
            sum[scatter_group(v)] += (v->repetitions - 1) * (v->sd_s / v->time_s) * (v->sd_s / v->time_s);
            dof[scatter_group(v)] += v->repetitions - 1;
        }
    }
    for (size_t l = 0; l < r->n; l++) {
        const struct hrun_net_record *v = &r->v[l];
        int g = scatter_group(v), seen = dof[g] > 0, own = seen && v->sd_s > 0 ? v->repetitions - 1 : 0;
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

/* ---------------------------------------------------------------- separable parameters */

void net_separable_release(struct net_separable *t)
{
    free(t->call_t);
    free(t->fan_t);
    *t = (struct net_separable){ 0 };
}

void net_find_separable(const struct net_work *w, const int *class_of, int nclasses, struct net_separable *out)
{
    struct net_separable t = { 1, 1, 1, NULL, NULL };
    autofree double *least = xmalloc((size_t)nclasses * 2 * sizeof *least);
    double *most = least + nclasses;
    autofree int *empty = xcalloc((size_t)nclasses, sizeof *empty);

    t.call_t = xcalloc((size_t)nclasses, sizeof *t.call_t);
    t.fan_t = xcalloc((size_t)nclasses, sizeof *t.fan_t);
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
    *out = t;
}

/* ---------------------------------------------------------------- records that contradict others */

/* The least factor of a contradiction; scatter of valid records stays below it. */
static const double absurd = 2;

/* The measured time of a trip, in either order of the hosts; 0 if there is none. *record: its index. */
static double trip_time(const struct net_work *w, int i, int j, double there, double back, size_t *record)
{
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];

        if (v->kind != HRUN_NET_TRIP || w->out[l])
            continue;
        if ((v->i == i && v->j == j && v->bytes == there && v->back_bytes == back) ||
            (v->i == j && v->j == i && v->bytes == back && v->back_bytes == there)) {
            *record = l;
            return v->time_s;
        }
    }
    return 0;
}

/* Count contradictions between trips and fans or joins, by trips with the longer message. Such a trip takes at least as
 * long as one with the shorter message. against, with: number of contradictions and of comparisons of each record. */
static void compare_parts(const struct net_work *w, int *against, int *with)
{
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        int in = v->kind == HRUN_NET_JOIN;
        double part[2], most = fmax(v->bytes, v->back_bytes);
        size_t record[2];

        if (w->out[l] || (v->kind != HRUN_NET_FAN && v->kind != HRUN_NET_JOIN))
            continue;
        for (int p = 0; p < 2; p++) {
            double m = p ? net_second_bytes(v) : v->bytes;

            part[p] = trip_time(w, v->i, p ? v->k : v->j, in ? 0 : most, in ? most : 0, &record[p]);
            if (part[p] == 0 || m < most)
                continue;
            with[record[p]]++;
            against[record[p]] += part[p] > absurd * v->time_s;
        }
        if (part[0] == 0 || part[1] == 0)
            continue;
        with[l]++;
        against[l] += v->time_s > absurd * (part[0] + part[1]);
    }
}

/* Count contradictions between trips of one pair of hosts: more bytes take less time. */
static void compare_trip_sizes(const struct net_work *w, int *against, int *with)
{
    for (size_t l = 0; l < w->r->n; l++)
        for (size_t m = 0; m < w->r->n; m++) {
            const struct hrun_net_record *a = &w->r->v[l], *b = &w->r->v[m];

            if (a->kind != HRUN_NET_TRIP || w->out[l])
                break;
            if (l == m || b->kind != HRUN_NET_TRIP || w->out[m] || a->i != b->i || a->j != b->j ||
                a->bytes > b->bytes || a->back_bytes > b->back_bytes)
                continue;
            with[l]++;
            against[l] += a->time_s > absurd * b->time_s;
        }
}

static void add_left_out_note(const struct net_work *w, size_t l, struct hrun_strvec *notes)
{
    const struct hrun_net_record *v = &w->r->v[l];
    const char *what = v->kind == HRUN_NET_TRIP ? "trip" : v->kind == HRUN_NET_FAN ? "one-to-two" : "two-to-one";
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_addf(&b, "a %s of %s between %s and %s took %s: other times between these hosts contradict this "
                  "one, so it is left out (did a clock jump?)", what, hrun_bytes(v->bytes).s, w->r->hosts[v->i],
                  w->r->hosts[v->j], hrun_seconds(v->time_s).s);
    hrun_strvec_push(notes, b.data);
}

void net_leave_out(struct net_work *w, struct hrun_strvec *notes)
{
    size_t n = w->r->n;
    autofree int *against = xcalloc(2 * n + 1, sizeof *against);
    int *with = against + n;

    /* Check trips first: a bad trip contradicts all fans and joins with it. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t l = 0; l < 2 * n; l++)
            against[l] = 0;
        compare_parts(w, against, with);
        if (pass == 0)
            compare_trip_sizes(w, against, with);
        for (size_t l = 0; l < n; l++) {
            int is_trip = w->r->v[l].kind == HRUN_NET_TRIP;

            if (is_trip != (pass == 0) || against[l] == 0 || 2 * against[l] < with[l])
                continue;
            w->out[l] = 1;
            add_left_out_note(w, l, notes);
        }
    }
}
