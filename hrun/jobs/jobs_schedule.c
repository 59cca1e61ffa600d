/* jobs_schedule.c - the search for a short schedule; see jobs.h */
#include "jobs.h"

#include "base/alloc.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All orders and modes are tried for at most this many jobs; 11 jobs have 40 million orders. */
enum { PROVE_MOST = 10 };
/* Number of time limits for choosing modes, and of steps that improve the bound. */
enum { LIMITS = 200, ROUNDS = 60 };
/* A smaller relative difference of a schedule from the bound is rounding. */
#define ROUNDING 1e-12

struct solution {
    int order[JOBS_MAX], mode[JOBS_MAX];
    double makespan_s;
};

struct finder {
    const struct jobs *jobs;
    struct solution best, now;
    int npes;                   /* of all sub-clusters */
    double *free_s;             /* for each depth of try_orders: when each PE becomes free, ascending per sub-cluster */
    double weights[HRUN_SUBS_MAX];      /* of a PE of each sub-cluster; find_bound leaves the best ones */
    double quickest_s[JOBS_MAX];
    double area_s[JOBS_MAX];    /* least weighted area of each job, as seconds of the whole cluster */
    double bound_s;
    long looks;
    int complete;               /* 1: all orders and modes were tried */
};

static const struct job_mode *mode_of(const struct finder *f, const struct solution *s, int job)
{
    return &f->jobs->v[job].entry->modes[s->mode[job]];
}

/* Start a job as soon as enough PEs are free, on the free PEs that became free last. Result: its start, s. */
static double place_job(const struct finder *f, double *free_s, const struct job_mode *w)
{
    double start_s = 0, end_s, *v = free_s;

    for (int s = 0; s < f->jobs->nsubs; v += f->jobs->npes[s++])
        if (w->config.pes[s])
            start_s = fmax(start_s, v[w->config.pes[s] - 1]);
    end_s = start_s + w->time_s;
    v = free_s;
    for (int s = 0; s < f->jobs->nsubs; v += f->jobs->npes[s++]) {
        int n = w->config.pes[s], i = n;

        while (i < f->jobs->npes[s] && v[i] <= start_s)
            i++;
        for (; i < f->jobs->npes[s] && v[i] < end_s; i++)
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
    for (int i = 0; i < f->jobs->n; i++) {
        const struct job_mode *w = mode_of(f, s, s->order[i]);

        end_s = fmax(end_s, place_job(f, f->free_s, w) + w->time_s);
    }
    return end_s;
}

/* Copy f->now, which ends at end_s, to f->best if it is shorter. */
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
 * A PE of sub-cluster s has the weight w[s] >= 0; w.pes is the sum of w[s] pes[s]. A schedule of length L has the area
 * L w.npes; a job in a mode uses the area time_s w.pes. So L is at least the sum of the jobs' least areas divided by
 * w.npes. Subgradient steps improve the weights: a weight grows if the cheapest modes use its sub-cluster more than
 * others.
 */

static double weigh_pes(const struct finder *f, const int *pes)
{
    double sum = 0;

    for (int s = 0; s < f->jobs->nsubs; s++)
        sum += f->weights[s] * pes[s];
    return sum;
}

/* The area of a mode, as seconds of the whole cluster. */
static double mode_area_s(const struct finder *f, const struct job_mode *w)
{
    return weigh_pes(f, w->config.pes) * w->time_s / weigh_pes(f, f->jobs->npes);
}

/* The mode of least area among those within limit_s; if there is none, the quickest. */
static int cheapest_mode(const struct finder *f, int j, double limit_s)
{
    const struct job_entry *e = f->jobs->v[j].entry;
    double least = INFINITY;
    int best = 0;

    for (int i = 0; i < e->nmodes; i++) {
        double area = weigh_pes(f, e->modes[i].config.pes) * e->modes[i].time_s;

        if (area < least && e->modes[i].time_s <= fmax(limit_s, f->quickest_s[j])) {
            least = area;
            best = i;
        }
    }
    return best;
}

static void find_bound(struct finder *f)
{
    const struct jobs *jobs = f->jobs;
    double used[HRUN_SUBS_MAX], best[HRUN_SUBS_MAX];

    for (int s = 0; s < jobs->nsubs; s++)
        f->weights[s] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double bound_s = 0;

        memset(used, 0, sizeof used);
        for (int j = 0; j < jobs->n; j++) {
            const struct job_mode *mode = &jobs->v[j].entry->modes[cheapest_mode(f, j, INFINITY)];

            bound_s += mode_area_s(f, mode);
            for (int s = 0; s < jobs->nsubs; s++)
                used[s] += mode->config.pes[s] * mode->time_s;
        }
        if (bound_s > f->bound_s || !r) {
            f->bound_s = bound_s;
            memcpy(best, f->weights, sizeof best);
        }
        for (int s = 0; s < jobs->nsubs; s++)
            if (jobs->npes[s] && bound_s > 0)
                f->weights[s] *= exp(0.5 / (1 + r / 4) * fmin(used[s] / (jobs->npes[s] * bound_s) - 1, 1));
    }
    memcpy(f->weights, best, sizeof best);
    for (int j = 0; j < jobs->n; j++) {
        f->area_s[j] = mode_area_s(f, &jobs->v[j].entry->modes[cheapest_mode(f, j, INFINITY)]);
        f->bound_s = fmax(f->bound_s, f->quickest_s[j]);
    }
}

/* ------------------------------------------------------------------ the search */

/* Sort jobs by key, the largest first, equal ones by number. Insertion sort suffices for 1000 jobs. */
static void sort_jobs(const double *key, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;

        for (; k > 0 && key[order[k - 1]] < key[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* For several time limits give each job its mode of least area within the limit; start the longest jobs first. */
static void try_limits(struct finder *f, double serial_s)
{
    int n = f->jobs->n;
    double low_s = serial_s, length_s[JOBS_MAX];

    for (int j = 0; j < n; j++)
        low_s = fmin(low_s, f->quickest_s[j]);
    for (int i = 0; i <= LIMITS; i++) {
        for (int j = 0; j < n; j++) {
            f->now.mode[j] = cheapest_mode(f, j, low_s * pow(serial_s / low_s, (double)i / LIMITS));
            length_s[j] = mode_of(f, &f->now, j)->time_s;
        }
        sort_jobs(length_s, n, f->now.order);
        keep_if_shorter(f, makespan_of(f, &f->now));
    }
}

static void move_job(int *v, int from, int to)
{
    int x = v[from];

    for (; from < to; from++)
        v[from] = v[from + 1];
    for (; from > to; from--)
        v[from] = v[from - 1];
    v[to] = x;
}

/* The cost of one look: 1 with few PEs, more with many. */
static long look_cost(const struct finder *f)
{
    return 1 + f->npes / 1000;
}

/* Branch and bound: try every order and mode after the first `depth` jobs of f->now, which end at end_s. area_s: area
 * of these jobs plus the least area of the others. */
static void try_orders(struct finder *f, int depth, double end_s, double area_s)
{
    const struct job *jobs = f->jobs->v;
    int *order = f->now.order;
    double *free_s = f->free_s + (size_t)depth * (size_t)f->npes, *next_s = free_s + f->npes;

    if (depth == f->jobs->n)
        keep_if_shorter(f, end_s);
    for (int k = depth; k < f->jobs->n && !is_proven_shortest(f); k++) {
        int j = order[k], twin = 0;

        for (int l = depth; l < k && !twin; l++)
            twin = jobs[order[l]].entry == jobs[j].entry;
        for (int i = 0; i < jobs[j].entry->nmodes && !twin; i++) {
            const struct job_mode *w = &jobs[j].entry->modes[i];
            double area = area_s - f->area_s[j] + mode_area_s(f, w), end;

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
            f->now.mode[j] = i;
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

/* Change the best schedule step by step: move a job in the order, change its mode, or both. A change is kept if the
 * schedule does not become longer. After many changes without gain the search restarts from the best schedule. */
static void improve_schedule(struct finder *f, long tries)
{
    int n = f->jobs->n, idle = INT32_MAX - 1;
    uint64_t state = 88172645463325252ULL;

    for (long t = 0; t < tries && !is_proven_shortest(f); t++) {
        int a = draw_number(&state, n), b = draw_number(&state, n), what = draw_number(&state, 3), x, mode;
        double before_s, best_s = f->best.makespan_s;

        if (idle++ > 20 * n) {
            f->now = f->best;
            idle = 0;
        }
        before_s = f->now.makespan_s;
        x = f->now.order[a];
        mode = f->now.mode[x];
        if (what != 1)
            move_job(f->now.order, a, b);
        if (what != 0)
            f->now.mode[x] = draw_number(&state, f->jobs->v[x].entry->nmodes);
        keep_if_shorter(f, makespan_of(f, &f->now));
        idle = f->best.makespan_s < best_s ? 0 : idle;
        if (f->now.makespan_s <= before_s)
            continue;
        f->now.makespan_s = before_s;
        f->now.mode[x] = mode;
        if (what != 1)
            move_job(f->now.order, b, a);
    }
}

/* ------------------------------------------------------------------ the result */

/* Give each job, in the order of the starts, the first PEs that are free at its start. */
static void number_pes(const struct finder *f, struct job *v)
{
    memset(f->free_s, 0, (size_t)f->npes * sizeof *f->free_s);
    for (int k = 0; k < f->jobs->n; k++) {
        const struct hrun_config *config = &v[k].mode->config;
        double *free_s = f->free_s;
        int n = 0;

        v[k].pe = xcalloc((size_t)hrun_config_all_pes(config), sizeof *v[k].pe);
        for (int i = 0; i < f->jobs->nsubs; free_s += f->jobs->npes[i++])
            for (int e = 0, left = config->pes[i]; left > 0; e++)
                if (free_s[e] <= v[k].start_s) {
                    free_s[e] = v[k].end_s;
                    v[k].pe[n++] = e;
                    left--;
                }
    }
}

static void set_schedule(const struct finder *f, struct jobs *jobs)
{
    memset(f->free_s, 0, (size_t)f->npes * sizeof *f->free_s);
    for (int i = 0; i < jobs->n; i++) {
        struct job *job = &jobs->v[f->best.order[i]];

        job->mode = mode_of(f, &f->best, f->best.order[i]);
        job->start_s = place_job(f, f->free_s, job->mode);
        job->end_s = job->start_s + job->mode->time_s;
        jobs->makespan_s = fmax(jobs->makespan_s, job->end_s);
    }
    for (int i = 1; i < jobs->n; i++) {         /* sort by start, equal ones in the order of the file */
        struct job job = jobs->v[i];
        int k = i;

        for (; k > 0 && jobs->v[k - 1].start_s > job.start_s; k--)
            jobs->v[k] = jobs->v[k - 1];
        jobs->v[k] = job;
    }
    jobs->exact = f->complete || is_proven_shortest(f);
    jobs->bound_s = jobs->exact ? jobs->makespan_s : f->bound_s;
    number_pes(f, jobs->v);
}

/* Find the quickest mode of each job, and the sum of their times. Refuse a job whose time is below the rounding of the
 * sum of the others: its start and end would be equal. */
static int find_quickest_modes(struct finder *f, double *serial_s, struct hrun_error *err)
{
    double sum = 0, least = INFINITY;

    *serial_s = 0;
    for (int j = 0; j < f->jobs->n; j++) {
        const struct job_entry *e = f->jobs->v[j].entry;
        double longest = 0;

        for (int i = 0; i < e->nmodes; i++) {
            longest = fmax(longest, e->modes[i].time_s);
            if (e->modes[i].time_s < e->modes[f->best.mode[j]].time_s)
                f->best.mode[j] = i;
        }
        sum += longest;
        f->best.order[j] = j;
        f->quickest_s[j] = e->modes[f->best.mode[j]].time_s;
        least = fmin(least, f->quickest_s[j]);
        *serial_s += f->quickest_s[j];
    }
    if (isfinite(sum) && least > sum * DBL_EPSILON)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "a job of %g s is too short to be planned with jobs of %g s in all: "
                     "leave it out", least, sum);
}

int jobs_schedule(struct jobs *jobs, long looks, struct hrun_error *err)
{
    int proves = jobs->n <= PROVE_MOST;
    struct finder f = { .jobs = jobs, .looks = looks };
    autofree double *free_s = NULL;
    double area_s = 0;

    if (find_quickest_modes(&f, &jobs->serial_s, err))
        return -1;
    for (int s = 0; s < jobs->nsubs; s++)
        f.npes += jobs->npes[s];
    f.free_s = free_s = xcalloc((proves ? (size_t)jobs->n + 1 : 1) * (size_t)f.npes, sizeof *free_s);
    find_bound(&f);
    f.best.makespan_s = makespan_of(&f, &f.best);
    try_limits(&f, jobs->serial_s);
    if (proves && !is_proven_shortest(&f)) {
        for (int j = 0; j < jobs->n; j++)
            area_s += f.area_s[j];
        sort_jobs(f.quickest_s, jobs->n, f.now.order);
        memset(free_s, 0, (size_t)f.npes * sizeof *free_s);
        f.complete = 1;
        try_orders(&f, 0, 0, area_s);
    }
    /* The time of one try grows with the number of jobs: keep the total time about that of 20 jobs. */
    if (!f.complete)
        improve_schedule(&f, 4 * looks / (1 + jobs->n / 20) / look_cost(&f) + 50);
    set_schedule(&f, jobs);
    return 0;
}
