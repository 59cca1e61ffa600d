/* timeline.c - PEs in use over time; see internal.h */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

int timeline_init(struct timeline *t, int nsubs, int njobs, struct hrun_error *err)
{
    *t = (struct timeline){ .nsubs = nsubs, .cap = 2 * njobs + 2 };
    t->time_s = calloc((size_t)t->cap, sizeof *t->time_s);
    t->used = calloc((size_t)t->cap * (size_t)nsubs, sizeof *t->used);
    if (!t->time_s || !t->used) {
        timeline_release(t);
        return hrun_fail_nomem(err);
    }
    timeline_clear(t);
    return 0;
}

void timeline_release(struct timeline *t)
{
    free(t->time_s);
    free(t->used);
    memset(t, 0, sizeof *t);
}

void timeline_clear(struct timeline *t)
{
    t->n = 1;
    t->time_s[0] = 0;
    memset(t->used, 0, (size_t)t->nsubs * sizeof *t->used);
}

void timeline_copy(struct timeline *to, const struct timeline *from)
{
    to->n = from->n;
    memcpy(to->time_s, from->time_s, (size_t)from->n * sizeof *to->time_s);
    memcpy(to->used, from->used, (size_t)from->n * (size_t)from->nsubs * sizeof *to->used);
}

static int fits(const struct timeline *t, int step, const int *npes, const int *pes)
{
    const int *used = t->used + (size_t)step * (size_t)t->nsubs;

    for (int s = 0; s < t->nsubs; s++)
        if (used[s] + pes[s] > npes[s])
            return 0;
    return 1;
}

/* Make a step begin at time_s, at or after step `from`. Result: its number. */
static int cut(struct timeline *t, int from, double time_s)
{
    size_t n = (size_t)t->nsubs;
    int i = from;

    while (i < t->n && t->time_s[i] < time_s)
        i++;
    if (i < t->n && t->time_s[i] == time_s)
        return i;
    memmove(t->time_s + i + 1, t->time_s + i, (size_t)(t->n - i) * sizeof *t->time_s);
    memmove(t->used + (size_t)(i + 1) * n, t->used + (size_t)i * n, (size_t)(t->n - i) * n * sizeof *t->used);
    t->time_s[i] = time_s;
    memcpy(t->used + (size_t)i * n, t->used + (size_t)(i - 1) * n, n * sizeof *t->used);
    t->n++;
    return i;
}

double timeline_place(struct timeline *t, const int *npes, const struct hrun_schedule_way *way)
{
    int first = 0, last;
    double start, end;

    /* The last step is one in which nothing is used, so that there is always a place. */
    for (int i = 0; i < t->n && t->time_s[i] < t->time_s[first] + way->time_s; i++)
        if (!fits(t, i, npes, way->pes))
            first = i + 1;
    start = t->time_s[first];
    end = start + way->time_s;
    last = cut(t, first, end);
    for (int i = first; i < last; i++)
        for (int s = 0; s < t->nsubs; s++)
            t->used[(size_t)i * (size_t)t->nsubs + (size_t)s] += way->pes[s];
    return start;
}
