/* job_schedule.c - the search for a short schedule; see schedule.h */
#include "schedule.h"
#include "base/alloc.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* With so many jobs orders and ways are enumerated; of 11 jobs there are 40 million orders. */
enum { PROVE_MOST = 10 };
/* Limits of the time by which ways are chosen, and steps of the bound. */
enum { LIMITS = 200, ROUNDS = 60 };
/* Schedules closer to the bound than rounding. */
#define ROUNDING 1e-12

/* So many PEs of a sub-cluster have ended all that they were given at this time. */
struct idle {
    double time_s;
    int pes;
};

/* What is searched: an order of jobs and a way for each. */
struct solution {
    int *order, *way;
    double makespan_s;
};

struct finder {
    const struct hrun_schedule_problem *p;
    struct solution best, now;
    struct idle *idle;          /* for each depth of the proof, each sub-cluster: njobs + 2, the earliest first */
    double *weights, *equal;    /* of a PE of each sub-cluster: of the largest bound; 1 */
    double *area_s, *quickest_s;/* of each job, at least; areas as seconds of the whole cluster */
    double bound_s;
    long looks;
    int complete;               /* 1: the proof tried everything */
};

static const struct hrun_schedule_way *way_of(const struct finder *f, const struct solution *s, int job)
{
    return &f->p->jobs[job].ways[s->way[job]];
}

/* ------------------------------------------------------------------ placing jobs in time */

static struct idle *idle_of(const struct finder *f, int depth, int sub)
{
    return f->idle + ((size_t)depth * (size_t)f->p->nsubs + (size_t)sub) * (size_t)(f->p->njobs + 2);
}

/* Lists end with an entry of no PEs. */
static void clear_idle(struct finder *f)
{
    for (int s = 0; s < f->p->nsubs; s++) {
        idle_of(f, 0, s)[0] = (struct idle){ 0, f->p->npes[s] };
        idle_of(f, 0, s)[1] = (struct idle){ INFINITY, 0 };
    }
}

/* Of the PEs in a list that are idle by start_s take those that have been so for the shortest time, until end_s. */
static void take_idle(struct idle *v, int pes, double start_s, double end_s)
{
    int n = 0, later = 0, i;

    while (v[n].pes)
        n++;
    while (later < n && v[later].time_s <= start_s)
        later++;
    i = later;
    for (int left = pes; left > 0;) {
        int taken = v[--i].pes < left ? v[i].pes : left;

        v[i].pes -= taken;
        left -= taken;
    }
    i += v[i].pes > 0;
    memmove(v + i + 1, v + later, (size_t)(n + 1 - later) * sizeof *v);
    for (; v[i + 1].pes && v[i + 1].time_s < end_s; i++)
        v[i] = v[i + 1];
    v[i] = (struct idle){ end_s, pes };
}

/* Start a job as soon as its PEs are idle; result: the start. */
static double place_job(struct finder *f, int depth, const struct hrun_schedule_way *w)
{
    double start_s = 0;

    for (int s = 0; s < f->p->nsubs; s++) {
        const struct idle *v = idle_of(f, depth, s);

        for (int left = w->pes[s]; left > 0; left -= v++->pes)
            start_s = fmax(start_s, v->time_s);
    }
    for (int s = 0; s < f->p->nsubs; s++)
        if (w->pes[s])
            take_idle(idle_of(f, depth, s), w->pes[s], start_s, start_s + w->time_s);
    return start_s;
}

/* Keep what is tried, if it is shorter than the best; end_s: its last end. */
static void keep_shorter(struct finder *f, double end_s)
{
    size_t n = (size_t)f->p->njobs;

    f->now.makespan_s = end_s;
    if (end_s >= f->best.makespan_s)
        return;
    memcpy(f->best.order, f->now.order, n * sizeof *f->now.order);
    memcpy(f->best.way, f->now.way, n * sizeof *f->now.way);
    f->best.makespan_s = end_s;
}

static double length_of(struct finder *f, const struct solution *s)
{
    double end_s = 0;

    clear_idle(f);
    for (int i = 0; i < f->p->njobs; i++) {
        const struct hrun_schedule_way *w = way_of(f, s, s->order[i]);

        end_s = fmax(end_s, place_job(f, 0, w) + w->time_s);
    }
    return end_s;
}

/* Is the best one proven to be the shortest? */
static int is_shortest(const struct finder *f)
{
    return f->best.makespan_s <= f->bound_s * (1 + ROUNDING);
}

/* ------------------------------------------------------------------ the bound
 *
 * For weights w >= 0 of the sub-clusters' PEs a schedule of length L offers the area L w.npes, and each job takes
 * w.pes time of it in one of its ways; so L is at least the sum of the least areas over w.npes. Weights are improved by
 * subgradients: those of sub-clusters that the jobs' cheapest ways use more than others grow.
 */

static double weigh(const struct finder *f, const double *w, const int *pes)
{
    double sum = 0;

    for (int s = 0; s < f->p->nsubs; s++)
        sum += w[s] * pes[s];
    return sum;
}

/* The way of least area by these weights, of those that take no longer than limit_s, or the quickest. */
static int cheapest(const struct finder *f, int j, const double *w, double limit_s)
{
    const struct hrun_schedule_job *job = &f->p->jobs[j];
    double least = INFINITY;
    int best = 0;

    for (int i = 0; i < job->nways; i++) {
        double area = weigh(f, w, job->ways[i].pes) * job->ways[i].time_s;

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
    double *w = xcalloc(2 * (size_t)p->nsubs, sizeof *w), *used = w + p->nsubs;

    for (int s = 0; s < p->nsubs; s++)
        w[s] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double area = 0, bound_s;

        memset(used, 0, (size_t)p->nsubs * sizeof *used);
        for (int j = 0; j < p->njobs; j++) {
            const struct hrun_schedule_way *way = &p->jobs[j].ways[cheapest(f, j, w, INFINITY)];

            area += weigh(f, w, way->pes) * way->time_s;
            for (int s = 0; s < p->nsubs; s++)
                used[s] += way->pes[s] * way->time_s;
        }
        bound_s = area / weigh(f, w, p->npes);
        if (bound_s > f->bound_s) {
            f->bound_s = bound_s;
            memcpy(f->weights, w, (size_t)p->nsubs * sizeof *w);
        }
        for (int s = 0; s < p->nsubs; s++)
            if (p->npes[s] && bound_s > 0)
                w[s] *= exp(0.5 / (1 + r / 4) * fmin(used[s] / (p->npes[s] * bound_s) - 1, 1));
    }
    free(w);
    for (int j = 0; j < p->njobs; j++) {
        const struct hrun_schedule_way *way = &p->jobs[j].ways[cheapest(f, j, f->weights, INFINITY)];

        f->area_s[j] = weigh(f, f->weights, way->pes) * way->time_s / weigh(f, f->weights, p->npes);
        f->bound_s = fmax(f->bound_s, f->quickest_s[j]);
    }
}

/* ------------------------------------------------------------------ the search */

/* Jobs by key_s, the largest first, equal ones by number. No more than 1000: insertion sort. */
static void sort_jobs(const double *key_s, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;

        for (; k > 0 && key_s[order[k - 1]] < key_s[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* Of each job the way of least area by these weights within a limit of the time, the longest jobs first. */
static void try_limits(struct finder *f, const double *weights, double serial_s)
{
    int n = f->p->njobs;
    double low_s = serial_s, *length_s = xcalloc((size_t)n, sizeof *length_s);

    for (int j = 0; j < n; j++)
        low_s = fmin(low_s, f->quickest_s[j]);
    for (int i = 0; i <= LIMITS; i++) {
        for (int j = 0; j < n; j++) {
            f->now.way[j] = cheapest(f, j, weights, low_s * pow(serial_s / low_s, (double)i / LIMITS));
            length_s[j] = way_of(f, &f->now, j)->time_s;
        }
        sort_jobs(length_s, n, f->now.order);
        keep_shorter(f, length_of(f, &f->now));
    }
    free(length_s);
}

/* Every order and way behind the first `depth` jobs of `now`, the others standing behind these in now.order; end_s:
 * their last end, area_s what they take and the others need at least. */
static void prove(struct finder *f, int depth, double end_s, double area_s)
{
    const struct hrun_schedule_problem *p = f->p;
    int *order = f->now.order;
    size_t list = (size_t)(p->njobs + 2) * (size_t)p->nsubs;

    if (depth == p->njobs)
        keep_shorter(f, end_s);
    for (int k = depth; k < p->njobs && !is_shortest(f); k++) {
        int j = order[k], twin = 0;

        for (int l = depth; l < k && !twin; l++)
            twin = p->jobs[order[l]].ways == p->jobs[j].ways;
        for (int i = 0; i < p->jobs[j].nways && !twin; i++) {
            const struct hrun_schedule_way *w = &p->jobs[j].ways[i];
            double area = area_s - f->area_s[j] +
                          weigh(f, f->weights, w->pes) * w->time_s / weigh(f, f->weights, p->npes), end;

            if (f->looks-- <= 0) {
                f->complete = 0;
                return;
            }
            if (fmax(area, w->time_s) >= f->best.makespan_s * (1 - ROUNDING))
                continue;
            memcpy(idle_of(f, depth + 1, 0), idle_of(f, depth, 0), list * sizeof *f->idle);
            end = fmax(end_s, place_job(f, depth + 1, w) + w->time_s);
            if (end >= f->best.makespan_s)
                continue;
            f->now.way[j] = i;
            memmove(order + depth + 1, order + depth, (size_t)(k - depth) * sizeof *order);
            order[depth] = j;
            prove(f, depth + 1, end, area);
            memmove(order + depth, order + depth + 1, (size_t)(k - depth) * sizeof *order);
            order[k] = j;
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

/* From the best one: two jobs change places, one takes another way, or both; kept where it is no longer, and after a
 * while without gain begun again from the best. */
static void improve_schedule(struct finder *f, long tries)
{
    int n = f->p->njobs, idle = INT32_MAX - 1;
    uint64_t state = 88172645463325252ULL;

    for (long t = 0; t < tries && !is_shortest(f); t++) {
        int a = draw_number(&state, n), b = draw_number(&state, n), what = draw_number(&state, 3);
        int *order = f->now.order, x, way;
        double before_s, best_s = f->best.makespan_s;

        if (idle++ > 20 * n) {
            memcpy(order, f->best.order, (size_t)n * sizeof *order);
            memcpy(f->now.way, f->best.way, (size_t)n * sizeof *f->now.way);
            f->now.makespan_s = best_s;
            idle = 0;
        }
        before_s = f->now.makespan_s;
        x = order[a];
        way = f->now.way[x];
        if (what != 1)
            move_job(order, a, b);
        if (what != 0)
            f->now.way[x] = draw_number(&state, f->p->jobs[x].nways);
        keep_shorter(f, length_of(f, &f->now));
        idle = f->best.makespan_s < best_s ? 0 : idle;
        if (f->now.makespan_s <= before_s)
            continue;
        f->now.makespan_s = before_s;
        f->now.way[x] = way;
        if (what != 1)
            move_job(order, b, a);
    }
}

/* ------------------------------------------------------------------ the answer */

/* The order of the starts, and which PEs each job has: the first that are free at its start. */
static void number_pes(const struct hrun_schedule_problem *p, struct hrun_schedule *s)
{
    double *key_s = xcalloc((size_t)p->njobs, sizeof *key_s), **free_s = xcalloc((size_t)p->nsubs, sizeof *free_s);

    s->order = xcalloc((size_t)p->njobs, sizeof *s->order);
    for (int i = 0; i < p->nsubs; i++)
        free_s[i] = xcalloc((size_t)p->npes[i] + 1, sizeof **free_s);
    for (int j = 0; j < p->njobs; j++)
        key_s[j] = -s->v[j].start_s;
    sort_jobs(key_s, p->njobs, s->order);
    for (int k = 0; k < p->njobs; k++) {
        struct hrun_scheduled *v = &s->v[s->order[k]];
        const int *pes = p->jobs[s->order[k]].ways[v->way].pes;
        int n = 0;

        for (int i = 0; i < p->nsubs; i++)
            n += pes[i];
        v->pe = xcalloc((size_t)n, sizeof *v->pe);
        n = 0;
        for (int i = 0; i < p->nsubs; i++)
            for (int e = 0, left = pes[i]; left > 0; e++)
                if (free_s[i][e] <= v->start_s) {
                    free_s[i][e] = v->end_s;
                    v->pe[n++] = e;
                    left--;
                }
    }
    for (int i = 0; i < p->nsubs; i++)
        free(free_s[i]);
    free(free_s);
    free(key_s);
}

static struct hrun_schedule *make_schedule(struct finder *f, double serial_s)
{
    struct hrun_schedule *s = xcalloc(1, sizeof *s);

    s->v = xcalloc((size_t)f->p->njobs, sizeof *s->v);
    s->njobs = f->p->njobs;
    clear_idle(f);
    for (int i = 0; i < s->njobs; i++) {
        int j = f->best.order[i];
        const struct hrun_schedule_way *w = way_of(f, &f->best, j);
        double start_s = place_job(f, 0, w);

        s->v[j] = (struct hrun_scheduled){ f->best.way[j], start_s, start_s + w->time_s, NULL };
        s->makespan_s = fmax(s->makespan_s, start_s + w->time_s);
    }
    s->serial_s = serial_s;
    s->exact = f->complete || is_shortest(f);
    s->bound_s = s->exact ? s->makespan_s : f->bound_s;
    number_pes(f->p, s);
    return s;
}

/* A job that takes less than the rounding of the others' times would begin and end at the same moment. */
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
    size_t n = (size_t)p->njobs, depths = p->njobs <= PROVE_MOST ? n + 1 : 1;
    struct finder f = { .p = p, .looks = looks };
    double serial_s = 0, area_s = 0, *all;
    int *orders;

    if (check_times(p, err))
        return -1;
    f.idle = xcalloc(depths * (size_t)p->nsubs * (n + 2), sizeof *f.idle);
    all = xcalloc(2 * n + 2 * (size_t)p->nsubs, sizeof *all);
    orders = xcalloc(4 * n, sizeof *orders);
    f.quickest_s = all;
    f.area_s = all + n;
    f.weights = all + 2 * n;
    f.equal = f.weights + p->nsubs;
    for (int s = 0; s < p->nsubs; s++)
        f.equal[s] = 1;
    f.best.order = orders;
    f.best.way = orders + n;
    f.now.order = orders + 2 * n;
    f.now.way = orders + 3 * n;
    for (int j = 0; j < p->njobs; j++) {
        f.quickest_s[j] = INFINITY;
        for (int i = 0; i < p->jobs[j].nways; i++)
            if (p->jobs[j].ways[i].time_s < f.quickest_s[j]) {
                f.quickest_s[j] = p->jobs[j].ways[i].time_s;
                f.best.way[j] = i;
            }
        f.best.order[j] = j;
        serial_s += f.quickest_s[j];
    }
    find_bound(&f);
    f.best.makespan_s = length_of(&f, &f.best);
    try_limits(&f, f.weights, serial_s);
    try_limits(&f, f.equal, serial_s);
    if (p->njobs <= PROVE_MOST && !is_shortest(&f)) {
        for (int j = 0; j < p->njobs; j++)
            area_s += f.area_s[j];
        sort_jobs(f.quickest_s, p->njobs, f.now.order);
        clear_idle(&f);
        f.complete = 1;
        prove(&f, 0, 0, area_s);
    }
    /* A schedule takes a time as n^2: as many looks as 20 jobs have, and some at any size. */
    if (!f.complete)
        improve_schedule(&f, 4 * looks / (1 + (long)n / 20) + 50);
    *out = make_schedule(&f, serial_s);
    free(f.idle);
    free(all);
    free(orders);
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
