/* ring.c - the time of a ring of processes, step by step; see ring.h for the contracts */
#include "model/ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_ring_steps(int q)
{
    return (q - 1) / 2;
}

static int check(const struct hrun_ring_stage *stages, int n, int *q, struct hrun_error *err)
{
    *q = 0;
    for (int i = 0; i < n; i++) {
        const struct hrun_ring_stage *s = &stages[i];

        if (s->procs < 0)
            return hrun_fail(err, HRUN_EINVAL, "node %d of a ring has %d processes", i + 1, s->procs);
        if (s->procs > 0 && !(s->local_s >= 0 && s->step_s >= 0 && s->unpack_s >= 0 && s->wire_s >= 0 &&
                              isfinite(s->local_s + s->step_s + s->unpack_s + s->wire_s)))
            return hrun_fail(err, HRUN_ENONFINITE, "a time of node %d of a ring is negative or not finite", i + 1);
        *q += s->procs;
    }
    return *q > 0 ? 0 : hrun_fail(err, HRUN_EINVAL, "a ring has no processes");
}

/* The node of process `rank`, whose first process is *first. */
static int node_of(const struct hrun_ring_stage *used, int rank, int *first)
{
    int i = 0;

    for (*first = 0; *first + used[i].procs <= rank; i++)
        *first += used[i].procs;
    return i;
}

/* When the data of the opposites on node j are on node i. */
static double opposite_ready(const struct hrun_ring_stage *used, const double *done, int i, int j)
{
    return fmax(done[i], done[j] + (i != j ? used[i].wire_s + used[i].unpack_s : 0));
}

/* When node i has done the further step of its processes first .. last-1 with the data of those half ahead of them. It
 * works on whatever has come, so that it is done at the latest of: data come, and then all work on these and on what
 * comes later still (the busy period of a server that never rests while there is work). *idle: what of this it rests.
 */
static double opposites_done(const struct hrun_ring_stage *used, const double *done, int i, int first, int last,
                             int half, double *idle)
{
    const double one = used[i].step_s / used[i].procs;
    double latest = done[i];
    int at, begin, end;

    for (int j = node_of(used, first + half, &at), from = at; from < last + half; from += used[j].procs, j++) {
        const double ready = opposite_ready(used, done, i, j);
        int behind = 0, l = node_of(used, first + half, &begin);

        for (; begin < last + half; begin = end, l++) {
            end = begin + used[l].procs;
            if (opposite_ready(used, done, i, l) >= ready)
                behind += (end < last + half ? end : last + half) - (begin > first + half ? begin : first + half);
        }
        latest = fmax(latest, ready + behind * one);
    }
    *idle = latest - done[i] - (last - first) * one;
    return latest;
}

/* The further step of an even q: the processes 0 .. half-1 get the data of those half ahead of them. done[m]: when the
 * steps were over; t[m] moves on, wait[m] grows. */
static void opposite_step(const struct hrun_ring_stage *used, int m, int half, const double *done, double *t,
                          double *wait)
{
    int first = 0;

    for (int i = 0; i < m && first < half; first += used[i].procs, i++) {
        int last = first + used[i].procs < half ? first + used[i].procs : half;
        double idle;

        t[i] = opposites_done(used, done, i, first, last, half, &idle);
        wait[i] += idle;
    }
}

/* Eqs. 6 to 8 for the m nodes that are used; t[m], before[m] and wait[m] are scratch and results. */
static void steps(const struct hrun_ring_stage *used, int m, int q, enum hrun_ring_wait how, double *t, double *before,
                  double *wait)
{
    for (int i = 0; i < m; i++) {
        t[i] = used[i].local_s + (how == HRUN_RING_PRINTED ? used[i].step_s : 0);
        wait[i] = 0;
    }
    for (int l = 1; l <= hrun_ring_steps(q); l++) {
        memcpy(before, t, (size_t)m * sizeof *t);
        for (int i = 0; i < m; i++) {
            const double come = before[(i + m - 1) % m] + used[i].wire_s;

            if (come > before[i])
                wait[i] += come - before[i];
            t[i] = fmax(before[i], come) + used[i].unpack_s + used[i].step_s;
        }
    }
    for (int i = 0; i < m && how == HRUN_RING_PRINTED; i++)
        t[i] -= used[i].step_s;
    if (q % 2 == 0) {
        memcpy(before, t, (size_t)m * sizeof *t);
        opposite_step(used, m, q / 2, before, t, wait);
    }
}

double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err)
{
    struct hrun_ring_stage *used;
    double *t, most = 0;
    int q, m = 0;

    if (check(stages, n, &q, err))
        return -1;
    used = calloc((size_t)n, sizeof *used);
    t = calloc((size_t)n * 3, sizeof *t);
    if (!used || !t) {
        free(used);
        free(t);
        return hrun_fail_nomem(err);
    }
    for (int i = 0; i < n; i++)
        if (stages[i].procs > 0)
            used[m++] = stages[i];
    steps(used, m, q, wait, t, t + m, t + 2 * m);
    for (int i = 0, k = 0; i < n; i++) {
        elapsed_s[i] = stages[i].procs > 0 ? t[k] : 0;
        if (idle_s)
            idle_s[i] = stages[i].procs > 0 ? t[2 * m + k] : 0;
        k += stages[i].procs > 0;
        most = fmax(most, elapsed_s[i]);
    }
    free(used);
    free(t);
    return most;
}
