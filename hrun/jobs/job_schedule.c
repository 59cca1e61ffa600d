/* job_schedule.c - the search for a short schedule; see schedule.h */
#include "schedule.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* With so many jobs orders and ways are enumerated; of 11 jobs there are 40 million orders. */
enum { PROVE_MOST = 10 };

/* Thresholds of the times that are tried for choosing ways. */
enum { THRESHOLDS_MOST = 200 };

/* Schedules closer to the bound than rounding. */
#define ROUNDING 1e-12

struct finder {
    const struct hrun_schedule_problem *p;
    struct solution best, now;
    struct timeline *lines;     /* one to try whole schedules in; for proving one for each depth */
    int nlines;
    double *weights;            /* 2 nsubs */
    double *area_s, *quickest_s;/* of each job, at least */
    char *placed;               /* proving: of each job */
    int *by_length;             /* jobs, the longest first */
    double *length_s;           /* of each job, in the way that is tried */
    double bound_s;
    long looks;
    int complete;               /* 1: proving tried everything */
};

/* ------------------------------------------------------------------ whole schedules */

static const struct hrun_schedule_way *way_of(const struct finder *f, const struct solution *s, int job)
{
    return &f->p->jobs[job].ways[s->way[job]];
}

static double length_of(struct finder *f, const struct solution *s)
{
    double end = 0;

    timeline_clear(&f->lines[0]);
    for (int i = 0; i < f->p->njobs; i++) {
        const struct hrun_schedule_way *w = way_of(f, s, s->order[i]);

        end = fmax(end, timeline_place(&f->lines[0], f->p->npes, w) + w->time_s);
    }
    return end;
}

static void keep(struct finder *f, const struct solution *s)
{
    size_t n = (size_t)f->p->njobs;

    memcpy(f->best.order, s->order, n * sizeof *s->order);
    memcpy(f->best.way, s->way, n * sizeof *s->way);
    f->best.makespan_s = s->makespan_s;
}

/* Is the best one proven to be the shortest? */
static int is_shortest(const struct finder *f)
{
    return f->best.makespan_s <= f->bound_s * (1 + ROUNDING);
}

/* Jobs of one list in ascending order of -length_s; equal ones by number. No more than 1000: insertion sort. */
static void longest_first(const double *length_s, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;

        for (; k > 0 && length_s[order[k - 1]] < length_s[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* Of each job the way of least area that takes no longer than limit_s, else the quickest. */
static void choose_ways(const struct finder *f, const double *weights, double limit_s, int *way)
{
    for (int j = 0; j < f->p->njobs; j++) {
        const struct hrun_schedule_job *job = &f->p->jobs[j];
        double least = INFINITY;

        for (int i = 0, slow; i < job->nways; i++) {
            double area = 0;

            slow = job->ways[i].time_s > fmax(limit_s, f->quickest_s[j]);
            for (int s = 0; s < f->p->nsubs; s++)
                area += weights[s] * job->ways[i].pes[s];
            if (!slow && area * job->ways[i].time_s < least) {
                least = area * job->ways[i].time_s;
                way[j] = i;
            }
        }
    }
}

static void try_now(struct finder *f)
{
    for (int j = 0; j < f->p->njobs; j++)
        f->length_s[j] = way_of(f, &f->now, j)->time_s;
    longest_first(f->length_s, f->p->njobs, f->now.order);
    f->now.makespan_s = length_of(f, &f->now);
    if (f->now.makespan_s < f->best.makespan_s)
        keep(f, &f->now);
}

/* Ways by thresholds of the time, longest jobs first. */
static void try_thresholds(struct finder *f, double serial_s)
{
    double low = serial_s;

    for (int j = 0; j < f->p->njobs; j++)
        low = fmin(low, f->quickest_s[j]);
    for (int i = 0; i <= THRESHOLDS_MOST; i++) {
        double limit_s = low * pow(serial_s / low, (double)i / THRESHOLDS_MOST);

        for (int half = 0; half < 2; half++) {
            for (int s = 0; s < f->p->nsubs && half; s++)
                f->weights[f->p->nsubs + s] = 1;
            choose_ways(f, f->weights + half * f->p->nsubs, limit_s, f->now.way);
            try_now(f);
        }
    }
}

/* ------------------------------------------------------------------ proving */

/* Every order and way behind the first `depth` jobs of `now`; end_s: their last end, area_s what they take and the
 * others need at least. */
static void prove(struct finder *f, int depth, double end_s, double area_s)
{
    const struct hrun_schedule_problem *p = f->p;

    if (depth == p->njobs) {
        f->now.makespan_s = end_s;
        if (end_s < f->best.makespan_s)
            keep(f, &f->now);
        return;
    }
    for (int k = 0; k < p->njobs && !is_shortest(f); k++) {
        int j = f->by_length[k], twin = 0;

        for (int l = 0; l < k && !twin; l++)
            twin = !f->placed[f->by_length[l]] && p->jobs[f->by_length[l]].ways == p->jobs[j].ways;
        if (f->placed[j] || twin)
            continue;
        for (int i = 0; i < p->jobs[j].nways; i++) {
            const struct hrun_schedule_way *w = &p->jobs[j].ways[i];
            double area = 0, all = 0, end;

            if (f->looks-- <= 0) {
                f->complete = 0;
                return;
            }
            for (int s = 0; s < p->nsubs; s++) {
                area += f->weights[s] * w->pes[s];
                all += f->weights[s] * p->npes[s];
            }
            area = area_s - f->area_s[j] + area * w->time_s / all;
            if (fmax(area, w->time_s) >= f->best.makespan_s * (1 - ROUNDING))
                continue;
            timeline_copy(&f->lines[depth + 1], &f->lines[depth]);
            end = fmax(end_s, timeline_place(&f->lines[depth + 1], p->npes, w) + w->time_s);
            if (end >= f->best.makespan_s)
                continue;
            f->now.order[depth] = j;
            f->now.way[j] = i;
            f->placed[j] = 1;
            prove(f, depth + 1, end, area);
            f->placed[j] = 0;
        }
    }
}

static void try_all(struct finder *f)
{
    double area_s = 0;

    if (f->p->njobs > PROVE_MOST || is_shortest(f))
        return;
    for (int j = 0; j < f->p->njobs; j++)
        area_s += f->area_s[j];
    longest_first(f->quickest_s, f->p->njobs, f->by_length);
    timeline_clear(&f->lines[0]);
    f->complete = 1;
    prove(f, 0, 0, area_s);
}

/* ------------------------------------------------------------------ small changes */

/* xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled, 2016). */
static int draw(uint64_t *state, int n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (int)((*state * 2685821657736338717ULL >> 33) % (uint64_t)n);
}

static void move(int *v, int from, int to)
{
    int x = v[from];

    if (from < to)
        memmove(v + from, v + from + 1, (size_t)(to - from) * sizeof *v);
    else
        memmove(v + to + 1, v + to, (size_t)(from - to) * sizeof *v);
    v[to] = x;
}

/* From the best one: another place in the order, another way, or both, kept where it is no longer; after a while
 * without gain again from the best. */
static void change(struct finder *f, long tries)
{
    int n = f->p->njobs, idle = 0;
    uint64_t state = 88172645463325252ULL;

    f->now.makespan_s = INFINITY;
    for (long t = 0; t < tries && !is_shortest(f); t++, idle++) {
        int from = draw(&state, n), to = draw(&state, n), job, way, what = draw(&state, 3);
        double before = f->now.makespan_s;

        if (!isfinite(before) || idle > 20 * n) {
            memcpy(f->now.order, f->best.order, (size_t)n * sizeof *f->now.order);
            memcpy(f->now.way, f->best.way, (size_t)n * sizeof *f->now.way);
            before = f->best.makespan_s;
            idle = 0;
        }
        job = f->now.order[from];
        way = f->now.way[job];
        if (what != 1)
            move(f->now.order, from, to);
        if (what != 0)
            f->now.way[job] = draw(&state, f->p->jobs[job].nways);
        f->now.makespan_s = length_of(f, &f->now);
        if (f->now.makespan_s < f->best.makespan_s) {
            keep(f, &f->now);
            idle = 0;
        }
        if (f->now.makespan_s > before) {
            f->now.way[job] = way;
            if (what != 1)
                move(f->now.order, to, from);
            f->now.makespan_s = before;
        }
    }
}

/* ------------------------------------------------------------------ the answer */

/* Which PEs each job has: the first that are free at its start. */
static int number_pes(const struct finder *f, struct hrun_schedule *s, struct hrun_error *err)
{
    const struct hrun_schedule_problem *p = f->p;
    double **free_s = calloc((size_t)p->nsubs, sizeof *free_s);
    int rc = free_s ? 0 : hrun_fail_nomem(err);

    for (int i = 0; i < p->nsubs && !rc; i++) {
        free_s[i] = calloc((size_t)p->npes[i] + 1, sizeof **free_s);
        rc = free_s[i] ? 0 : hrun_fail_nomem(err);
    }
    for (int j = 0; j < p->njobs && !rc; j++)
        f->length_s[j] = -s->v[j].start_s;
    longest_first(f->length_s, p->njobs, f->now.order);
    for (int k = 0; k < p->njobs && !rc; k++) {
        int j = f->now.order[k], n = 0;
        const int *pes = p->jobs[j].ways[s->v[j].way].pes;

        for (int i = 0; i < p->nsubs; i++)
            n += pes[i];
        s->v[j].pe = calloc((size_t)n, sizeof *s->v[j].pe);
        if (!s->v[j].pe) {
            rc = hrun_fail_nomem(err);
            break;
        }
        n = 0;
        for (int i = 0; i < p->nsubs; i++)
            for (int e = 0, left = pes[i]; left > 0; e++)
                if (free_s[i][e] <= s->v[j].start_s) {
                    free_s[i][e] = s->v[j].end_s;
                    s->v[j].pe[n++] = e;
                    left--;
                }
    }
    for (int i = 0; free_s && i < p->nsubs; i++)
        free(free_s[i]);
    free(free_s);
    return rc;
}

static int answer(struct finder *f, double serial_s, struct hrun_schedule **out, struct hrun_error *err)
{
    struct hrun_schedule *s = calloc(1, sizeof *s);

    if (s)
        s->v = calloc((size_t)f->p->njobs, sizeof *s->v);
    if (!s || !s->v) {
        hrun_schedule_destroy(s);
        return hrun_fail_nomem(err);
    }
    s->njobs = f->p->njobs;
    timeline_clear(&f->lines[0]);
    for (int i = 0; i < s->njobs; i++) {
        int j = f->best.order[i];
        const struct hrun_schedule_way *w = way_of(f, &f->best, j);
        double start = timeline_place(&f->lines[0], f->p->npes, w);

        s->v[j] = (struct hrun_scheduled){ f->best.way[j], start, start + w->time_s, NULL };
        s->makespan_s = fmax(s->makespan_s, start + w->time_s);
    }
    s->serial_s = serial_s;
    s->exact = f->complete || is_shortest(f);
    s->bound_s = s->exact ? s->makespan_s : f->bound_s;
    if (number_pes(f, s, err)) {
        hrun_schedule_destroy(s);
        return -1;
    }
    *out = s;
    return 0;
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

static int check_problem(const struct hrun_schedule_problem *p, struct hrun_error *err)
{
    if (p->njobs < 1 || p->njobs > HRUN_SCHEDULE_JOBS_MAX || p->nsubs < 1)
        return hrun_fail(err, HRUN_EINVAL, "a schedule is of 1 to %d jobs, not of %d", HRUN_SCHEDULE_JOBS_MAX,
                         p->njobs);
    for (int j = 0; j < p->njobs; j++) {
        if (p->jobs[j].nways < 1)
            return hrun_fail(err, HRUN_EINVAL, "job %d has no way to run", j + 1);
        for (int i = 0; i < p->jobs[j].nways; i++) {
            const struct hrun_schedule_way *w = &p->jobs[j].ways[i];
            long sum = 0;

            for (int s = 0; s < p->nsubs; s++) {
                if (w->pes[s] < 0 || w->pes[s] > p->npes[s])
                    return hrun_fail(err, HRUN_EINVAL, "job %d uses %d PEs of sub-cluster %d, which has %d", j + 1,
                                     w->pes[s], s + 1, p->npes[s]);
                sum += w->pes[s];
            }
            if (sum == 0 || !isfinite(w->time_s) || w->time_s <= 0)
                return hrun_fail(err, HRUN_EINVAL, "job %d has a way with %ld PEs that takes %g s", j + 1, sum,
                                 w->time_s);
        }
    }
    return check_times(p, err);
}

static int allocate(struct finder *f, struct hrun_error *err)
{
    size_t n = (size_t)f->p->njobs;
    int lines = f->p->njobs <= PROVE_MOST ? f->p->njobs + 1 : 1;

    f->best.order = calloc(n, sizeof *f->best.order);
    f->best.way = calloc(n, sizeof *f->best.way);
    f->now.order = calloc(n, sizeof *f->now.order);
    f->now.way = calloc(n, sizeof *f->now.way);
    f->weights = calloc(2 * (size_t)f->p->nsubs, sizeof *f->weights);
    f->area_s = calloc(n, sizeof *f->area_s);
    f->quickest_s = calloc(n, sizeof *f->quickest_s);
    f->length_s = calloc(n, sizeof *f->length_s);
    f->placed = calloc(n, 1);
    f->by_length = calloc(n, sizeof *f->by_length);
    f->lines = calloc((size_t)lines, sizeof *f->lines);
    if (!f->best.order || !f->best.way || !f->now.order || !f->now.way || !f->weights || !f->area_s ||
        !f->quickest_s || !f->length_s || !f->placed || !f->by_length || !f->lines)
        return hrun_fail_nomem(err);
    for (; f->nlines < lines; f->nlines++)
        if (timeline_init(&f->lines[f->nlines], f->p->nsubs, f->p->njobs, err))
            return -1;
    return 0;
}

static void release(struct finder *f)
{
    for (int i = 0; i < f->nlines; i++)
        timeline_release(&f->lines[i]);
    free(f->lines);
    free(f->by_length);
    free(f->placed);
    free(f->length_s);
    free(f->quickest_s);
    free(f->area_s);
    free(f->weights);
    free(f->now.way);
    free(f->now.order);
    free(f->best.way);
    free(f->best.order);
}

int hrun_schedule_find(const struct hrun_schedule_problem *problem, long looks, struct hrun_schedule **out,
                       struct hrun_error *err)
{
    struct finder f = { .p = problem, .looks = looks };
    double serial_s = 0;
    long n = problem->njobs;
    int rc = -1;

    if (check_problem(problem, err) || allocate(&f, err))
        goto done;
    for (int j = 0; j < n; j++) {
        f.quickest_s[j] = INFINITY;
        for (int i = 0; i < problem->jobs[j].nways; i++)
            if (problem->jobs[j].ways[i].time_s < f.quickest_s[j]) {
                f.quickest_s[j] = problem->jobs[j].ways[i].time_s;
                f.best.way[j] = i;
            }
        f.best.order[j] = j;
        serial_s += f.quickest_s[j];
    }
    f.bound_s = schedule_bound(problem, f.weights);
    schedule_areas(problem, f.weights, f.area_s);
    f.best.makespan_s = length_of(&f, &f.best);
    try_thresholds(&f, serial_s);
    try_all(&f);
    /* A schedule takes a time as n^2: as many looks as 20 jobs have, and some at any size. */
    if (!f.complete)
        change(&f, looks / (1 + n * n / 400) + 50);
    rc = answer(&f, serial_s, out, err);
done:
    release(&f);
    return rc;
}

void hrun_schedule_destroy(struct hrun_schedule *s)
{
    for (int i = 0; s && s->v && i < s->njobs; i++)
        free(s->v[i].pe);
    if (s)
        free(s->v);
    free(s);
}
