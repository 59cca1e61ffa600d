/* limits.c - rendezvous, the trunks between groups, and messages inside hosts; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

enum { GRID = 32, REFINEMENTS = 40 };

static const double normal_95 = 1.959964, chance_95 = 3.841459;  /* of the normal distribution; its square */

/* ---------------------------------------------------------------- rendezvous */

double net_sync(const struct hrun_net_records *r)
{
    double best = 0;
    size_t least = 0;

    for (size_t l = 0; l < r->n; l++)      /* as if none waited */
        least += r->v[l].kind == HRUN_NET_SYNC && r->v[l].n == 1;
    for (size_t m = 0; m < r->n; m++) {
        double from = r->v[m].bytes;
        size_t wrong = 0;

        if (r->v[m].kind != HRUN_NET_SYNC || r->v[m].n != 1)
            continue;
        for (size_t l = 0; l < r->n; l++)
            wrong += r->v[l].kind == HRUN_NET_SYNC && (r->v[l].bytes >= from) != (r->v[l].n == 1);
        if (wrong < least || (wrong == least && best > 0 && from < best)) {
            least = wrong;
            best = from;
        }
    }
    return best;
}

/* ---------------------------------------------------------------- trunks */

int net_wire_waits(const struct net_work *w, const struct net_solution *s)
{
    int waits = 0, not = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        const struct hrun_net_segment *seg = net_segment(&w->given, v->bytes);
        int pair;

        if (v->kind != HRUN_NET_SYNC || v->n == 1 || v->bytes == 0)
            continue;
        pair = s->c.class_of[v->i] * s->c.nclasses + s->c.class_of[v->j];
        if (v->time_s - net_stage_s(s, v->j, v->bytes) > 0.5 * v->bytes * seg->b * net_x_at(s, s->c.g[pair]))
            waits++;
        else
            not++;
    }
    return waits > not;
}

static double one_way(const struct net_work *w, const struct net_solution *s, int i, int j, double bytes)
{
    const struct hrun_net_segment *seg = net_segment(&w->given, bytes);
    int pair = s->c.class_of[i] * s->c.nclasses + s->c.class_of[j];

    return net_stage_s(s, i, bytes) + seg->a * net_x_at(s, s->c.L[pair]) + bytes * seg->b * net_x_at(s, s->c.g[pair]) +
           net_stage_s(s, j, bytes);
}

int net_exchange_waits(const struct net_work *w, const struct net_solution *s)
{
    int waits = 0, not = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double there, back;

        if (!net_is_exchange(w, v))
            continue;
        there = one_way(w, s, v->i, v->j, v->bytes);
        back = one_way(w, s, v->j, v->i, v->bytes);
        if (v->time_s > (fmax(there, back) + there + back) / 2)
            waits++;
        else
            not++;
    }
    return waits > not;
}

/* The m-th host of a group, from 0; -1. */
static int group_member(const struct net_work *w, int group, int m)
{
    for (int i = 0; i < w->r->nhosts; i++)
        if (w->given.group_of[i] == group && m-- == 0)
            return i;
    return -1;
}

/* What a `pairs` record takes when the trunk lets a byte through in `trunk` seconds; -1 when there are no such hosts.
 * work[8 n] */
static double pairs_time(const struct net_work *w, const struct net_solution *s, const struct hrun_net_record *v,
                         double trunk, double *work)
{
    const struct hrun_net_segment *seg = net_segment(&w->given, v->bytes), *none = net_segment(&w->given, 0);
    double *start = work, *alone = work + v->n, *end = work + 2 * v->n, *way = work + 3 * v->n;
    double bias = w->given.bias_bytes, sum = 0;

    for (int m = 0; m < v->n; m++) {
        int i = group_member(w, v->i, m), j = group_member(w, v->j, v->i == v->j ? v->n + m : m), pair;

        if (i < 0 || j < 0 || i == j)
            return -1;
        pair = s->c.class_of[i] * s->c.nclasses + s->c.class_of[j];
        start[m] = net_stage_s(s, i, v->bytes) + seg->a * net_x_at(s, s->c.L[pair]);
        alone[m] = seg->b * net_x_at(s, s->c.g[pair]);
        way[m] = bias > 0 ? net_x_at(s, s->c.L[pair]) + bias * (net_x_at(s, s->c.out[s->c.class_of[i]]) +
                                                                net_x_at(s, s->c.in[s->c.class_of[j]])) : 0;
        sum += net_stage_s(s, j, v->bytes) + net_stage_s(s, j, 0) + none->a * net_x_at(s, s->c.L[pair]) +
               net_stage_s(s, i, 0);
    }
    net_share(v->n, start, alone, way, v->bytes, seg->b * trunk, end, work + 4 * v->n);
    for (int m = 0; m < v->n; m++)
        sum += end[m];
    return sum / v->n;
}

static int is_record_of(const struct hrun_net_record *v, int g, int h)
{
    return v->kind == HRUN_NET_PAIRS && v->i == g && v->j == h && v->bytes > 0;
}

/* Weighted squares of what the records of a trunk say, and how much they tell of it (their slopes' squares). */
static double trunk_misfit(const struct net_work *w, const struct net_solution *s, int g, int h, double trunk,
                           double *slopes, double *work)
{
    double sum = 0;

    if (slopes)
        *slopes = 0;
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double time, e, nearby = trunk * (1 - 1e-4);

        if (!is_record_of(v, g, h) || w->out[l] || (time = pairs_time(w, s, v, trunk, work)) < 0)
            continue;
        e = (v->time_s - time) / w->se[l];
        sum += e * e;
        if (slopes && trunk > 0) {
            e = (time - pairs_time(w, s, v, nearby, work)) / (trunk - nearby) / w->se[l];
            *slopes += e * e;
        }
    }
    return sum;
}

/* The least time per byte of a message alone between two groups: the trunk's is no more. */
static double trunk_limit(const struct net_work *w, const struct net_solution *s, int g, int h)
{
    double limit = INFINITY;

    for (int i = 0; i < w->r->nhosts; i++)
        for (int j = 0; j < w->r->nhosts; j++) {
            int column = s->c.g[s->c.class_of[i] * s->c.nclasses + s->c.class_of[j]];

            if (i != j && w->given.group_of[i] == g && w->given.group_of[j] == h && column >= 0)
                limit = fmin(limit, s->x[column]);
        }
    return isfinite(limit) ? limit : 0;
}

static double search_trunk(const struct net_work *w, const struct net_solution *s, int g, int h, double limit,
                           double *work)
{
    double best = 0, least = trunk_misfit(w, s, g, h, 0, NULL, work), none = least, low, high;

    for (int i = 1; i <= GRID; i++) {
        double f = trunk_misfit(w, s, g, h, limit * i / GRID, NULL, work);

        if (f < least) {
            least = f;
            best = limit * i / GRID;
        }
    }
    low = fmax(0, best - limit / GRID);
    high = fmin(limit, best + limit / GRID);
    for (int i = 0; i < REFINEMENTS && best > 0; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (trunk_misfit(w, s, g, h, a, NULL, work) < trunk_misfit(w, s, g, h, b, NULL, work))
            high = b;
        else
            low = a;
        best = (low + high) / 2;
    }
    /* What chance explains as well is no limit. */
    return none - least > chance_95 * fmax(1, s->s2) ? best : 0;
}

void net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half)
{
    int n = w->given.ngroups;
    autofree double *work = xmalloc(8 * ((size_t)w->r->nhosts + 1) * sizeof *work);

    for (int g = 0; g < n; g++)
        for (int h = 0; h < n; h++) {
            double slopes;
            size_t seen = 0;

            trunk[g * n + h] = 0;
            half[g * n + h] = NAN;
            for (size_t l = 0; l < w->r->n; l++)
                seen += is_record_of(&w->r->v[l], g, h) && w->r->v[l].n <= w->r->nhosts && !w->out[l];
            if (seen == 0)
                continue;
            trunk[g * n + h] = search_trunk(w, s, g, h, trunk_limit(w, s, g, h), work);
            trunk_misfit(w, s, g, h, trunk[g * n + h], &slopes, work);
            half[g * n + h] = slopes > 0 ? normal_95 * sqrt(fmax(s->s2, w->scatter_known) / slopes) : NAN;
        }
    for (int g = 0; g < n; g++)
        for (int h = 0; h < n; h++)
            if (trunk[g * n + h] == 0 && isnan(half[g * n + h]) && trunk[h * n + g] > 0) {
                int seen = 0;

                for (size_t l = 0; l < w->r->n; l++)
                    seen |= is_record_of(&w->r->v[l], g, h) && !w->out[l];
                trunk[g * n + h] = seen ? 0 : trunk[h * n + g];
                half[g * n + h] = seen ? NAN : half[h * n + g];
            }
}

/* ---------------------------------------------------------------- inside a host */

/* Rows 2 f + M p of the trips between kinds a and b of hosts of a class, p_ab where a sent, p_ba where b did;
 * those of n trips at once are not among them. x[3] a row; how many. */
static size_t local_rows(const struct net_work *w, const int *class_of, int class, int a, int b, double *x, double *y,
                         double *weight)
{
    size_t n = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        int back = v->j == b && a != b;

        if (v->kind != HRUN_NET_LOCAL || w->out[l] || class_of[v->i] != class || v->n > 1 ||
            !((v->j == a && v->k == b) || (v->j == b && v->k == a)))
            continue;
        x[3 * n] = 2;
        x[3 * n + 1] = back ? 0 : v->bytes;
        x[3 * n + 2] = back ? v->bytes : 0;
        y[n] = v->time_s;
        weight[n++] = 1 / w->se[l];
    }
    return n;
}

/* One pair of kinds; of a direction that was not measured the other's value is taken. */
static int local_pair(const struct net_work *w, const int *class_of, int class, struct hrun_net_class *c, int a, int b,
                      double *room, struct hrun_error *err)
{
    double *x = room, *y = room + 3 * w->r->n, *weight = y + w->r->n, k[3], cov[9];
    size_t n = local_rows(w, class_of, class, a, b, x, y, weight);
    struct hrun_lsq_result result = { k, cov, 0, 0, 0 };
    struct hrun_net_value f, p[2];
    double s2, times;
    int used[2] = { 0, 0 };

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 2; d++)
            used[d] |= x[3 * i + 1 + (size_t)d] > 0;
    if (hrun_fit_nnls(&(struct hrun_lsq){ x, y, weight, n, 3 }, &result, err))
        return -1;
    s2 = n > result.rank ? result.rss / (double)(n - result.rank) : 1;
    s2 = w->scatter_known || n <= result.rank ? fmax(1, s2) : s2;
    times = hrun_fit_t_quantile(0.975, n > result.rank ? (double)(n - result.rank) : 1e9);
    f = (struct hrun_net_value){ k[0], times * sqrt(s2 * cov[0]) };
    for (int d = 0; d < 2; d++) {
        int from = used[d] ? d : !d;

        p[d] = (struct hrun_net_value){ k[1 + from], used[from] ? times * sqrt(s2 * cov[4 * (1 + from)]) : NAN };
    }
    c->local_fixed_s[a * c->nkinds + b] = c->local_fixed_s[b * c->nkinds + a] = f;
    c->local_s_per_byte[b * c->nkinds + a] = p[1];
    c->local_s_per_byte[a * c->nkinds + b] = p[0];
    return 0;
}

/* What all messages inside a host of the class share, from trips at once that take longer than one alone does. */
static double local_shared(const struct net_work *w, const int *class_of, int class, const struct hrun_net_class *c)
{
    double sum = 0, weights = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double fixed, alone, slope, weight;

        if (v->kind != HRUN_NET_LOCAL || w->out[l] || class_of[v->i] != class || v->n < 2 || v->bytes == 0)
            continue;
        fixed = 2 * c->local_fixed_s[v->j * c->nkinds + v->k].v;
        alone = c->local_s_per_byte[v->j * c->nkinds + v->k].v;
        if (v->time_s - fixed - v->bytes * alone <= normal_95 * w->se[l])
            continue;
        slope = v->n * v->bytes;
        weight = slope * slope / w->se[l] / w->se[l];
        sum += weight * (v->time_s - fixed) / slope;
        weights += weight;
    }
    return sum > 0 ? weights / sum : 0;
}

int net_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err)
{
    autofree double *room = xmalloc((5 * w->r->n + 1) * sizeof *room);

    for (int i = 0; i < net->nclasses; i++) {
        struct hrun_net_class *c = &net->classes[i];

        for (int a = 0; a < c->nkinds; a++)
            for (int b = a; b < c->nkinds; b++)
                if (local_pair(w, net->class_of, i, c, a, b, room, err))
                    return -1;
        c->local_bytes_per_s = local_shared(w, net->class_of, i, c);
    }
    return 0;
}
