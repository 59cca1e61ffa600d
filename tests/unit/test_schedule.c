/* test_schedule.c - schedules against every start time of every way, and what holds for any schedule */
#include "tap.h"

#include "../../hrun/jobs/jobs.h"

#include <stdint.h>
#include <stdlib.h>

enum { SUBS = 2, JOBS = 40, MODES = 4 };

struct instance {
    struct jobs p;
    int npes[SUBS];
    struct job jobs[JOBS];
    struct job_entry entries[JOBS];
    struct job_mode modes[JOBS][MODES];
};

static unsigned draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33);
}

/* Jobs with whole times up to `longest`; whole = 0: any times. */
static void make(struct instance *in, int njobs, int nmodes, int npes, int longest, int whole, uint64_t *state)
{
    in->p = (struct jobs){ .v = in->jobs, .n = njobs, .nsubs = SUBS, .npes = in->npes };
    for (int s = 0; s < SUBS; s++)
        in->npes[s] = 1 + (int)(draw(state) % (unsigned)npes);
    for (int j = 0; j < njobs; j++) {
        in->entries[j].modes = in->modes[j];
        in->entries[j].nmodes = 1 + (int)(draw(state) % (unsigned)nmodes);
        in->jobs[j] = (struct job){ .entry = &in->entries[j] };
        for (int i = 0; i < in->entries[j].nmodes; i++) {
            struct job_mode *w = &in->modes[j][i];
            int sum = 0;

            w->config.nsubs = SUBS;
            for (int s = 0; s < SUBS; s++)
                sum += w->config.pes[s] = (int)(draw(state) % (unsigned)(in->npes[s] + 1));
            w->config.pes[0] += sum == 0;
            w->time_s = 1 + (int)(draw(state) % (unsigned)longest) + (whole ? 0 : draw(state) * 1e-9);
        }
        if (j && draw(state) % 4 == 0)   /* the same job once more */
            in->jobs[j] = in->jobs[j - 1];
    }
}

/* The instance as it was, with its jobs in their first order, and another schedule of it. */
static int find_again(const struct instance *in, long looks, struct instance *out)
{
    struct hrun_error err = { 0 };

    *out = *in;
    out->p.v = out->jobs;
    return jobs_schedule(&out->p, looks, &err);
}

static void release(struct instance *in)
{
    for (int j = 0; j < in->p.n; j++)
        free(in->jobs[j].pe);
}

/* ------------------------------------------------------------------ every start time */

struct grid {
    int used[64][SUBS];
    int best;
};

/* Of whole times some shortest schedule starts at whole times: all of them, up to the best known. */
static void every(const struct instance *in, int job, int end, struct grid *g)
{
    if (end >= g->best)
        return;
    if (job == in->p.n) {
        g->best = end;
        return;
    }
    for (int i = 0; i < in->jobs[job].entry->nmodes; i++) {
        const struct job_mode *w = &in->jobs[job].entry->modes[i];
        int length = (int)w->time_s;

        for (int start = 0; start + length < g->best; start++) {
            int fits = 1;

            for (int t = start; t < start + length; t++)
                for (int s = 0; s < SUBS; s++)
                    fits &= case_holds(g->used[t][s] + w->config.pes[s] <= in->npes[s], i, start, t, s);
            if (!fits)
                continue;
            for (int t = start; t < start + length; t++)
                for (int s = 0; s < SUBS; s++)
                    g->used[t][s] += w->config.pes[s];
            every(in, job + 1, start + length > end ? start + length : end, g);
            for (int t = start; t < start + length; t++)
                for (int s = 0; s < SUBS; s++)
                    g->used[t][s] -= w->config.pes[s];
        }
    }
}

static int brute_force(const struct instance *in)
{
    struct grid g = { .best = 63 };

    every(in, 0, 0, &g);
    return g.best;
}

/* ------------------------------------------------------------------ what holds for any schedule */

/* Jobs that use one PE at one time; PEs that there are not; numbers out of order. */
static int clashes(const struct instance *in)
{
    const struct job *v = in->jobs;
    int bad = 0;

    for (int a = 0; a < in->p.n; a++) {
        const int *pes = v[a].mode->config.pes;
        int n = 0;

        for (int k = 0; k < SUBS; k++) {
            for (int e = 0; e < pes[k]; e++, n++)
                bad += v[a].pe[n] < 0 || v[a].pe[n] >= in->npes[k] || (e && v[a].pe[n] <= v[a].pe[n - 1]);
        }
        for (int b = 0; b < a; b++) {
            const int *other = v[b].mode->config.pes;
            int from = 0, from_b = 0;

            if (v[a].start_s >= v[b].end_s || v[b].start_s >= v[a].end_s)
                continue;
            for (int k = 0; k < SUBS; from += pes[k], from_b += other[k], k++)
                for (int e = 0; e < pes[k]; e++)
                    for (int f = 0; f < other[k]; f++)
                        bad += v[a].pe[from + e] == v[b].pe[from_b + f];
        }
    }
    return bad;
}

/* Is every figure of a schedule what its parts make it, and are the jobs sorted by start? */
static int is_sound(const struct instance *in)
{
    const struct jobs *p = &in->p;
    double end = 0, serial = 0;
    int good = 1;

    for (int j = 0; j < p->n && good; j++) {
        const struct job *job = &p->v[j];
        const struct job_entry *e = job->entry;
        double quickest = INFINITY;

        good &= case_holds(job->mode >= e->modes && job->mode < e->modes + e->nmodes && job->start_s >= 0 &&
                           (!j || job[-1].start_s <= job->start_s) &&
                           job->end_s == job->start_s + job->mode->time_s, j);
        end = fmax(end, job->end_s);
        for (int i = 0; i < e->nmodes; i++)
            quickest = fmin(quickest, e->modes[i].time_s);
        serial += quickest;
    }
    return good && end == p->makespan_s && fabs(serial - p->serial_s) <= 1e-12 * serial &&
           p->makespan_s <= p->serial_s * (1 + 1e-12) && p->bound_s <= p->makespan_s * (1 + 1e-12) && p->bound_s > 0 &&
           (!p->exact || p->bound_s == p->makespan_s) && !clashes(in);
}

/* ------------------------------------------------------------------ */

static void test_brute_force(void)
{
    int same = 0, sound = 0, exact = 0, n = 400, low = 0, tight = 0;
    uint64_t state = 7;

    for (int i = 0; i < n; i++) {
        static struct instance in, s, quick;
        int best;

        make(&in, 1 + i % 4, 3, 4, 5, 1, &state);
        best = brute_force(&in);
        if (find_again(&in, JOBS_LOOKS, &s) || find_again(&in, 0, &quick))
            continue;
        exact += s.p.exact;
        same += s.p.makespan_s == best;
        sound += is_sound(&s) && is_sound(&quick) && quick.p.makespan_s >= best;
        low += quick.p.bound_s <= best * (1 + 1e-12);
        tight += quick.p.makespan_s == best;
        release(&s);
        release(&quick);
    }
    is_int(exact, n, "small ones are proven");
    is_int(same, n, "and as short as any with whole starts");
    is_int(sound, n, "and sound, with and without looks");
    is_int(low, n, "no bound is above what there is");
    ok(tight > n / 2, "most are found at once (%d of %d)", tight, n);
}

static void test_large(void)
{
    int sound = 0, again = 0, n = 30;
    uint64_t state = 11;

    for (int i = 0; i < n; i++) {
        static struct instance in, s, t;

        make(&in, i < 10 ? 10 : JOBS, MODES, 12, 50, 0, &state);
        if (find_again(&in, 2000, &s) || find_again(&in, 2000, &t))
            continue;
        sound += is_sound(&s);
        again += s.p.makespan_s == t.p.makespan_s && !memcmp(&s.jobs[0].start_s, &t.jobs[0].start_s, sizeof(double)) &&
                 s.jobs[0].entry == t.jobs[0].entry;
        release(&s);
        release(&t);
    }
    is_int(sound, n, "larger ones are sound");
    is_int(again, n, "and the same again");
}

/* Four jobs that each use half of the PEs take two thirds of the time that they take one after the other. */
static void test_known(void)
{
    struct job_mode modes[] = { { { 2, { 2, 0 }, { 1, 0 } }, 3, NULL }, { { 2, { 4, 0 }, { 1, 0 } }, 2.25, NULL } },
                    lone[] = { { { 2, { 0, 1 }, { 0, 1 } }, 5, NULL } };
    struct job_entry half = { .modes = modes, .nmodes = 2 }, other = { .modes = lone, .nmodes = 1 };
    struct instance in = { .npes = { 4, 1 }, .jobs = { { .entry = &half }, { .entry = &half }, { .entry = &half },
                                                       { .entry = &half }, { .entry = &other } } }, s;

    in.p = (struct jobs){ .n = 4, .nsubs = 2, .npes = in.npes };
    ok(!find_again(&in, JOBS_LOOKS, &s), "four equal jobs");
    is_num(s.p.makespan_s, 6, 0, "two at a time");
    is_num(s.p.serial_s, 9, 0, "rather than one after the other");
    ok(s.p.exact && s.p.bound_s == 6, "the shortest");
    release(&s);
    in.p.n = 5;
    ok(!find_again(&in, JOBS_LOOKS, &s), "and one on another sub-cluster");
    is_num(s.p.makespan_s, 6, 0, "which runs beside them");
    for (int j = 0; j < 5; j++)
        if (s.jobs[j].entry == &other)
            is_int(s.jobs[j].pe[0], 0, "on its PE");
    release(&s);
}

/* Times of very different length: what begins must also end later, or no PE is kept for it. */
static void test_unlike(void)
{
    static const struct hrun_config one = { 1, { 1 }, { 1 } };
    static const struct { double long_s, short_s; int fine; const char *what; } tries[] = {
        { 1e12, 1e-3, 1, "a millisecond beside 30,000 years" },
        { 1e20, 1, 0, "a second beside more than doubles tell" },
        { 1e308, 1e308, 0, "a sum that is no number" }, { 5e-324, 5e-324, 1, "the shortest times there are" },
    };
    struct hrun_error err = { 0 };

    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        struct job_mode large = { one, tries[k].long_s, NULL }, small = { one, tries[k].short_s, NULL };
        struct job_entry l = { .modes = &large, .nmodes = 1 }, s = { .modes = &small, .nmodes = 1 };
        struct job v[] = { { .entry = &l }, { .entry = &s }, { .entry = &l }, { .entry = &s } };
        int npes[] = { 1 }, good = 1;
        struct jobs p = { .v = v, .n = 4, .nsubs = 1, .npes = npes };
        int rc = jobs_schedule(&p, 1000, &err);

        if (!tries[k].fine) {
            ok(rc && !v[0].pe && err.code == HRUN_EINVAL && strstr(err.text, "is too short to"), "%s: refused",
               tries[k].what);
            continue;
        }
        for (int j = 0; j < 4; j++) {
            good &= case_holds(v[j].end_s > v[j].start_s && (!j || v[j - 1].end_s <= v[j].start_s), k, j);
            free(v[j].pe);
        }
        ok(!rc && good, "%s: one after the other", tries[k].what);
    }
}

int main(void)
{
    test_brute_force();
    test_large();
    test_known();
    test_unlike();
    return tap_done();
}
