/* test_schedule.c - schedules against every start time of every way, and what holds for any schedule */
#include "tap.h"

#include "../../hrun/jobs/schedule.h"

#include <stdint.h>
#include <stdlib.h>

enum { SUBS = 2, JOBS = 40, WAYS = 4 };

struct instance {
    struct hrun_schedule_problem p;
    int npes[SUBS];
    struct hrun_schedule_job jobs[JOBS];
    struct hrun_schedule_way ways[JOBS][WAYS];
};

static unsigned draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33);
}

/* Jobs with whole times up to `longest`; whole = 0: any times. */
static void make(struct instance *in, int njobs, int nways, int npes, int longest, int whole, uint64_t *state)
{
    in->p = (struct hrun_schedule_problem){ SUBS, in->npes, in->jobs, njobs };
    for (int s = 0; s < SUBS; s++)
        in->npes[s] = 1 + (int)(draw(state) % (unsigned)npes);
    for (int j = 0; j < njobs; j++) {
        in->jobs[j] = (struct hrun_schedule_job){ in->ways[j], 1 + (int)(draw(state) % (unsigned)nways) };
        for (int i = 0; i < in->jobs[j].nways; i++) {
            struct hrun_schedule_way *w = &in->ways[j][i];
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
    if (job == in->p.njobs) {
        g->best = end;
        return;
    }
    for (int i = 0; i < in->jobs[job].nways; i++) {
        const struct hrun_schedule_way *w = &in->jobs[job].ways[i];
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
static int clashes(const struct instance *in, const struct hrun_schedule *s)
{
    int bad = 0;

    for (int a = 0; a < s->njobs; a++) {
        const int *pes = in->jobs[a].ways[s->v[a].way].config.pes;
        int n = 0;

        for (int k = 0; k < SUBS; k++) {
            for (int e = 0; e < pes[k]; e++, n++)
                bad += s->v[a].pe[n] < 0 || s->v[a].pe[n] >= in->npes[k] ||
                       (e && s->v[a].pe[n] <= s->v[a].pe[n - 1]);
        }
        for (int b = 0; b < a; b++) {
            const int *other = in->jobs[b].ways[s->v[b].way].config.pes;
            int from = 0, from_b = 0;

            if (s->v[a].start_s >= s->v[b].end_s || s->v[b].start_s >= s->v[a].end_s)
                continue;
            for (int k = 0; k < SUBS; from += pes[k], from_b += other[k], k++)
                for (int e = 0; e < pes[k]; e++)
                    for (int f = 0; f < other[k]; f++)
                        bad += s->v[a].pe[from + e] == s->v[b].pe[from_b + f];
        }
    }
    return bad;
}

/* Is every figure of a schedule what its parts make it? */
static int is_sound(const struct instance *in, const struct hrun_schedule *s)
{
    double end = 0, serial = 0;
    int good = s->njobs == in->p.njobs;

    for (int j = 0; j < s->njobs && good; j++) {
        const struct hrun_schedule_job *job = &in->jobs[j];
        double quickest = INFINITY;

        good &= case_holds(s->v[j].way >= 0 && s->v[j].way < job->nways && s->v[j].start_s >= 0 &&
                           s->v[j].end_s == s->v[j].start_s + job->ways[s->v[j].way].time_s, j);
        end = fmax(end, s->v[j].end_s);
        for (int i = 0; i < job->nways; i++)
            quickest = fmin(quickest, job->ways[i].time_s);
        serial += quickest;
    }
    return good && end == s->makespan_s && fabs(serial - s->serial_s) <= 1e-12 * serial &&
           s->makespan_s <= s->serial_s * (1 + 1e-12) && s->bound_s <= s->makespan_s * (1 + 1e-12) && s->bound_s > 0 &&
           (!s->exact || s->bound_s == s->makespan_s) && !clashes(in, s);
}

/* ------------------------------------------------------------------ */

static void test_brute_force(void)
{
    struct hrun_error err = { 0 };
    int same = 0, sound = 0, exact = 0, n = 400, low = 0, tight = 0;
    uint64_t state = 7;

    for (int i = 0; i < n; i++) {
        static struct instance in;
        struct hrun_schedule *s = NULL, *quick = NULL;
        int best;

        make(&in, 1 + i % 4, 3, 4, 5, 1, &state);
        best = brute_force(&in);
        if (hrun_schedule_find(&in.p, HRUN_SCHEDULE_LOOKS, &s, &err) || hrun_schedule_find(&in.p, 0, &quick, &err))
            continue;
        exact += s->exact;
        same += s->makespan_s == best;
        sound += is_sound(&in, s) && is_sound(&in, quick) && quick->makespan_s >= best;
        low += quick->bound_s <= best * (1 + 1e-12);
        tight += quick->makespan_s == best;
        hrun_schedule_destroy(s);
        hrun_schedule_destroy(quick);
    }
    is_int(exact, n, "small ones are proven");
    is_int(same, n, "and as short as any with whole starts");
    is_int(sound, n, "and sound, with and without looks");
    is_int(low, n, "no bound is above what there is");
    ok(tight > n / 2, "most are found at once (%d of %d)", tight, n);
}

static void test_large(void)
{
    struct hrun_error err = { 0 };
    int sound = 0, again = 0, n = 30;
    uint64_t state = 11;

    for (int i = 0; i < n; i++) {
        static struct instance in;
        struct hrun_schedule *s = NULL, *t = NULL;

        make(&in, i < 10 ? 10 : JOBS, WAYS, 12, 50, 0, &state);
        if (hrun_schedule_find(&in.p, 2000, &s, &err) || hrun_schedule_find(&in.p, 2000, &t, &err))
            continue;
        sound += is_sound(&in, s);
        again += s->makespan_s == t->makespan_s && !memcmp(&s->v[0].start_s, &t->v[0].start_s, sizeof(double));
        hrun_schedule_destroy(s);
        hrun_schedule_destroy(t);
    }
    is_int(sound, n, "larger ones are sound");
    is_int(again, n, "and the same again");
}

/* Four jobs that each use half of the PEs take two thirds of the time that they take one after the other. */
static void test_known(void)
{
    const struct hrun_schedule_way ways[] = { { { 2, { 2, 0 }, { 1, 0 } }, 3, NULL },
                                               { { 2, { 4, 0 }, { 1, 0 } }, 2.25, NULL } },
                                   lone[] = { { { 2, { 0, 1 }, { 0, 1 } }, 5, NULL } };
    const struct hrun_schedule_job jobs[] = { { ways, 2 }, { ways, 2 }, { ways, 2 }, { ways, 2 }, { lone, 1 } };
    const int npes[] = { 4, 1 };
    struct hrun_schedule_problem p = { 2, npes, jobs, 4 };
    struct hrun_schedule *s = NULL;
    struct hrun_error err = { 0 };

    ok(!hrun_schedule_find(&p, HRUN_SCHEDULE_LOOKS, &s, &err), "four equal jobs: %s", err.text);
    is_num(s->makespan_s, 6, 0, "two at a time");
    is_num(s->serial_s, 9, 0, "rather than one after the other");
    ok(s->exact && s->bound_s == 6, "the shortest");
    hrun_schedule_destroy(s);
    p.njobs = 5;
    ok(!hrun_schedule_find(&p, HRUN_SCHEDULE_LOOKS, &s, &err), "and one on another sub-cluster: %s", err.text);
    is_num(s->makespan_s, 6, 0, "which runs beside them");
    is_int(s->v[4].pe[0], 0, "on its PE");
    hrun_schedule_destroy(s);
    hrun_schedule_destroy(NULL);
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
        const struct hrun_schedule_way large = { one, tries[k].long_s, NULL }, small = { one, tries[k].short_s, NULL };
        const struct hrun_schedule_job jobs[] = { { &large, 1 }, { &small, 1 }, { &large, 1 }, { &small, 1 } };
        struct hrun_schedule_problem p = { 1, one.pes, jobs, 4 };
        struct hrun_schedule *s = NULL;
        int rc = hrun_schedule_find(&p, 1000, &s, &err);

        if (!tries[k].fine) {
            ok(rc && !s && err.code == HRUN_EINVAL && strstr(err.text, "too unlike"), "%s: refused", tries[k].what);
            continue;
        }
        ok(!rc && s->v[0].end_s > s->v[0].start_s && s->v[1].end_s > s->v[1].start_s &&
           (s->v[0].end_s <= s->v[1].start_s || s->v[1].end_s <= s->v[0].start_s), "%s: one after the other",
           tries[k].what);
        hrun_schedule_destroy(s);
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
