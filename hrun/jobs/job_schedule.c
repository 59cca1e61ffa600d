/* job_schedule.c - the search for a short schedule; see schedule.h */
#include "schedule.h"
#include "base/alloc.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All orders and ways of at most this many jobs are tried; of 11 jobs there are 40 million orders. */
enum { PROVE_MOST = 10 };
/* Number of time limits for choosing ways, and of steps that improve the bound. */
enum { LIMITS = 200, ROUNDS = 60 };
/* Schedules closer than this to the bound differ from it by rounding. */
#define ROUNDING 1e-12

struct solution {
    int order[HRUN_SCHEDULE_JOBS_MAX], way[HRUN_SCHEDULE_JOBS_MAX];
    double makespan_s;
};

struct finder {
    const struct hrun_schedule_problem *p;
    struct solution best, now;
    int npes;                   /* of all sub-clusters */
    double *free_s;             /* for each depth of try_orders: when each PE becomes free, ascending per sub-cluster */
    double *weights;            /* weights of a PE of each sub-cluster that gave the largest bound */
    double quickest_s[HRUN_SCHEDULE_JOBS_MAX];
    double area_s[HRUN_SCHEDULE_JOBS_MAX];      /* least weighted area of each job, as seconds of the whole cluster */
    double bound_s;
    long looks;
    int complete;               /* 1: all orders and ways were tried */
};

static const struct hrun_schedule_way *way_of(const struct finder *f, const struct solution *s, int job)
{
    return &f->p->jobs[job].ways[s->way[job]];
}

/* Start a job as soon as enough PEs are free, on those that became free last. Result: its start. */
static double place_job(const struct finder *f, double *free_s, const struct hrun_schedule_way *w)
{
    double start_s = 0, end_s, *v = free_s;

    for (int s = 0; s < f->p->nsubs; v += f->p->npes[s++])
        if (w->config.pes[s])
            start_s = fmax(start_s, v[w->config.pes[s] - 1]);
    end_s = start_s + w->time_s;
    v = free_s;
    for (int s = 0; s < f->p->nsubs; v += f->p->npes[s++]) {
        int n = w->config.pes[s], i = n;

        while (i < f->p->npes[s] && v[i] <= start_s)
            i++;
        for (; i < f->p->npes[s] && v[i] < end_s; i++)
            v[i - n] = v[i];
        while (n > 0)
            v[i - n--] = end_s;
    }
    return start_s;
}

static double makespan_of(const struct finder *f, const struct solution *s)
{
    double end_s = 0;

    memset(f->free_s, 0, (size_t)f->npes * sizeof *f->free_s);
    for (int i = 0; i < f->p->njobs; i++) {
        const struct hrun_schedule_way *w = way_of(f, s, s->order[i]);

        end_s = fmax(end_s, place_job(f, f->free_s, w) + w->time_s);
    }
    return end_s;
}

/* Keep f->now, which ends at end_s, if it is shorter than the best schedule. */
static void keep_if_shorter(struct finder *f, double end_s)
{
    f->now.makespan_s = end_s;
    if (end_s < f->best.makespan_s)
        f->best = f->now;
}

static int is_proven_shortest(const struct finder *f)
{
    return f->best.makespan_s <= f->bound_s * (1 + ROUNDING);
}

/* ------------------------------------------------------------------ the bound
 *
 * For weights w >= 0 of the sub-clusters' PEs a schedule of length L offers the area L w.npes, and each job takes
 * w.pes time of it in one of its ways; so L is at least the sum of the least areas over w.npes. Weights are improved by
 * subgradients: those of sub-clusters that the jobs' cheapest ways use more than others grow.
 */

static double weigh_pes(const struct finder *f, const int *pes)
{
    double sum = 0;

    for (int s = 0; s < f->p->nsubs; s++)
        sum += f->weights[s] * pes[s];
    return sum;
}

/* The area of a way, as seconds of the whole cluster. */
static double way_area_s(const struct finder *f, const struct hrun_schedule_way *w)
{
    return weigh_pes(f, w->config.pes) * w->time_s / weigh_pes(f, f->p->npes);
}

/* The way of least area among those within limit_s; if there is none, the quickest. */
static int cheapest_way(const struct finder *f, int j, double limit_s)
{
    const struct hrun_schedule_job *job = &f->p->jobs[j];
    double least = INFINITY;
    int best = 0;

    for (int i = 0; i < job->nways; i++) {
        double area = weigh_pes(f, job->ways[i].config.pes) * job->ways[i].time_s;

        if (area < least && job->ways[i].time_s <= fmax(limit_s, f->quickest_s[j])) {
            least = area;
            best = i;
        }
    }
    return best;
}

static void find_bound(struct finder *f)
{
    const struct hrun_schedule_problem *p = f->p;
    size_t bytes = (size_t)p->nsubs * sizeof *f->weights;
    autofree double *used = xmalloc(bytes), *best = xmalloc(bytes);

    for (int s = 0; s < p->nsubs; s++)
        f->weights[s] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double bound_s = 0;

        memset(used, 0, bytes);
        for (int j = 0; j < p->njobs; j++) {
            const struct hrun_schedule_way *way = &p->jobs[j].ways[cheapest_way(f, j, INFINITY)];

            bound_s += way_area_s(f, way);
            for (int s = 0; s < p->nsubs; s++)
                used[s] += way->config.pes[s] * way->time_s;
        }
        if (bound_s > f->bound_s || !r) {
            f->bound_s = bound_s;
            memcpy(best, f->weights, bytes);
        }
        for (int s = 0; s < p->nsubs; s++)
            if (p->npes[s] && bound_s > 0)
                f->weights[s] *= exp(0.5 / (1 + r / 4) * fmin(used[s] / (p->npes[s] * bound_s) - 1, 1));
    }
    memcpy(f->weights, best, bytes);
    for (int j = 0; j < p->njobs; j++) {
        f->area_s[j] = way_area_s(f, &p->jobs[j].ways[cheapest_way(f, j, INFINITY)]);
        f->bound_s = fmax(f->bound_s, f->quickest_s[j]);
    }
}

/* ------------------------------------------------------------------ the search */

/* Sort jobs by key, the largest first, equal ones by number. Insertion sort: there are at most 1000. */
static void sort_jobs(const double *key, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;

        for (; k > 0 && key[order[k - 1]] < key[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* For several time limits give each job its way of least area within the limit; start the longest jobs first. */
static void try_limits(struct finder *f, double serial_s)
{
    int n = f->p->njobs;
    double low_s = serial_s, length_s[HRUN_SCHEDULE_JOBS_MAX];

    for (int j = 0; j < n; j++)
        low_s = fmin(low_s, f->quickest_s[j]);
    for (int i = 0; i <= LIMITS; i++) {
        for (int j = 0; j < n; j++) {
            f->now.way[j] = cheapest_way(f, j, low_s * pow(serial_s / low_s, (double)i / LIMITS));
            length_s[j] = way_of(f, &f->now, j)->time_s;
        }
        sort_jobs(length_s, n, f->now.order);
        keep_if_shorter(f, makespan_of(f, &f->now));
    }
}

/* Move an element to another place. */
static void move_job(int *v, int from, int to)
{
    int x = v[from];

    for (; from < to; from++)
        v[from] = v[from + 1];
    for (; from > to; from--)
        v[from] = v[from - 1];
    v[to] = x;
}

/* The time of one look grows with the PEs that it goes through; of few PEs it does not depend. */
static long look_cost(const struct finder *f)
{
    return 1 + f->npes / 1000;
}

/* Branch and bound: try every order and way after the first `depth` jobs of f->now, which end at end_s. area_s: area of
 * these jobs plus the least area of the others. */
static void try_orders(struct finder *f, int depth, double end_s, double area_s)
{
    const struct hrun_schedule_problem *p = f->p;
    int *order = f->now.order;
    double *free_s = f->free_s + (size_t)depth * (size_t)f->npes, *next_s = free_s + f->npes;

    if (depth == p->njobs)
        keep_if_shorter(f, end_s);
    for (int k = depth; k < p->njobs && !is_proven_shortest(f); k++) {
        int j = order[k], twin = 0;

        for (int l = depth; l < k && !twin; l++)
            twin = p->jobs[order[l]].ways == p->jobs[j].ways;
        for (int i = 0; i < p->jobs[j].nways && !twin; i++) {
            const struct hrun_schedule_way *w = &p->jobs[j].ways[i];
            double area = area_s - f->area_s[j] + way_area_s(f, w), end;

            f->looks -= look_cost(f);
            if (f->looks < 0) {
                f->complete = 0;
                return;
            }
            if (fmax(area, w->time_s) >= f->best.makespan_s * (1 - ROUNDING))
                continue;
            memcpy(next_s, free_s, (size_t)f->npes * sizeof *free_s);
            end = fmax(end_s, place_job(f, next_s, w) + w->time_s);
            if (end >= f->best.makespan_s)
                continue;
            f->now.way[j] = i;
            move_job(order, k, depth);
            try_orders(f, depth + 1, end, area);
            move_job(order, depth, k);
        }
    }
}

/* xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled, 2016). */
static int draw_number(uint64_t *state, int n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (int)((*state * 2685821657736338717ULL >> 33) % (uint64_t)n);
}

/* Change the best schedule step by step: a job moves in the order, takes another way, or both. A change stays if the
 * schedule gets no longer. After many changes without gain the search begins again from the best. */
static void improve_schedule(struct finder *f, long tries)
{
    int n = f->p->njobs, idle = INT32_MAX - 1;
    uint64_t state = 88172645463325252ULL;

    for (long t = 0; t < tries && !is_proven_shortest(f); t++) {
        int a = draw_number(&state, n), b = draw_number(&state, n), what = draw_number(&state, 3), x, way;
        double before_s, best_s = f->best.makespan_s;

        if (idle++ > 20 * n) {
            f->now = f->best;
            idle = 0;
        }
        before_s = f->now.makespan_s;
        x = f->now.order[a];
        way = f->now.way[x];
        if (what != 1)
            move_job(f->now.order, a, b);
        if (what != 0)
            f->now.way[x] = draw_number(&state, f->p->jobs[x].nways);
        keep_if_shorter(f, makespan_of(f, &f->now));
        idle = f->best.makespan_s < best_s ? 0 : idle;
        if (f->now.makespan_s <= before_s)
            continue;
        f->now.makespan_s = before_s;
        f->now.way[x] = way;
        if (what != 1)
            move_job(f->now.order, b, a);
    }
}

/* ------------------------------------------------------------------ the answer */

/* Give each job the first PEs that are free at its start, in the order of the starts. */
static void number_pes(const struct finder *f, struct hrun_schedule *s)
{
    memset(f->free_s, 0, (size_t)f->npes * sizeof *f->free_s);
    for (int k = 0; k < s->njobs; k++) {
        struct hrun_scheduled *job = &s->v[s->order[k]];
        const int *pes = f->p->jobs[s->order[k]].ways[job->way].config.pes;
        double *free_s = f->free_s;
        int n = 0, filled = 0;

        for (int i = 0; i < f->p->nsubs; i++)
            n += pes[i];
        job->pe = xcalloc((size_t)n, sizeof *job->pe);
        for (int i = 0; i < f->p->nsubs; free_s += f->p->npes[i++])
            for (int e = 0, left = pes[i]; left > 0; e++)
                if (free_s[e] <= job->start_s) {
                    free_s[e] = job->end_s;
                    job->pe[filled++] = e;
                    left--;
                }
    }
}

static struct hrun_schedule *make_schedule(struct finder *f, double serial_s)
{
    struct hrun_schedule *s = xcalloc(1, sizeof *s);
    double key[HRUN_SCHEDULE_JOBS_MAX];

    s->njobs = f->p->njobs;
    s->v = xcalloc((size_t)s->njobs, sizeof *s->v);
    s->order = xcalloc((size_t)s->njobs, sizeof *s->order);
    memset(f->free_s, 0, (size_t)f->npes * sizeof *f->free_s);
    for (int i = 0; i < s->njobs; i++) {
        int j = f->best.order[i];
        const struct hrun_schedule_way *w = way_of(f, &f->best, j);
        double start_s = place_job(f, f->free_s, w);

        s->v[j] = (struct hrun_scheduled){ f->best.way[j], start_s, start_s + w->time_s, NULL };
        s->makespan_s = fmax(s->makespan_s, start_s + w->time_s);
        key[j] = -start_s;
    }
    sort_jobs(key, s->njobs, s->order);
    s->serial_s = serial_s;
    s->exact = f->complete || is_proven_shortest(f);
    s->bound_s = s->exact ? s->makespan_s : f->bound_s;
    number_pes(f, s);
    return s;
}

/* Refuse a job whose time is below the rounding of the sum of the others: its start and end would be equal. */
static int check_times(const struct hrun_schedule_problem *p, struct hrun_error *err)
{
    double sum = 0, least = INFINITY;

    for (int j = 0; j < p->njobs; j++) {
        double longest = 0;

        for (int i = 0; i < p->jobs[j].nways; i++) {
            longest = fmax(longest, p->jobs[j].ways[i].time_s);
            least = fmin(least, p->jobs[j].ways[i].time_s);
        }
        sum += longest;
    }
    if (isfinite(sum) && least > sum * DBL_EPSILON)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "jobs of %g s and of %g s in all are too unlike to be planned together", least,
                     sum);
}

int hrun_schedule_find(const struct hrun_schedule_problem *p, long looks, struct hrun_schedule **out,
                       struct hrun_error *err)
{
    int proves = p->njobs <= PROVE_MOST;
    struct finder f = { .p = p, .looks = looks };
    autofree double *free_s = NULL, *weights = xcalloc((size_t)p->nsubs, sizeof *weights);
    double serial_s = 0, area_s = 0;

    if (check_times(p, err))
        return -1;
    for (int s = 0; s < p->nsubs; s++)
        f.npes += p->npes[s];
    f.free_s = free_s = xcalloc((proves ? (size_t)p->njobs + 1 : 1) * (size_t)f.npes, sizeof *free_s);
    f.weights = weights;
    for (int j = 0; j < p->njobs; j++) {
        const struct hrun_schedule_way *ways = p->jobs[j].ways;

        for (int i = 1; i < p->jobs[j].nways; i++)
            if (ways[i].time_s < ways[f.best.way[j]].time_s)
                f.best.way[j] = i;
        f.best.order[j] = j;
        f.quickest_s[j] = ways[f.best.way[j]].time_s;
        serial_s += f.quickest_s[j];
    }
    find_bound(&f);
    f.best.makespan_s = makespan_of(&f, &f.best);
    try_limits(&f, serial_s);
    if (proves && !is_proven_shortest(&f)) {
        for (int j = 0; j < p->njobs; j++)
            area_s += f.area_s[j];
        sort_jobs(f.quickest_s, p->njobs, f.now.order);
        memset(free_s, 0, (size_t)f.npes * sizeof *free_s);
        f.complete = 1;
        try_orders(&f, 0, 0, area_s);
    }
    /* The time of one try grows with the number of jobs: keep the total time about that of 20 jobs. */
    if (!f.complete)
        improve_schedule(&f, 4 * looks / (1 + p->njobs / 20) / look_cost(&f) + 50);
    *out = make_schedule(&f, serial_s);
    return 0;
}

void hrun_schedule_destroy(struct hrun_schedule *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->njobs; i++)
        free(s->v[i].pe);
    free(s->order);
    free(s->v);
    free(s);
}
