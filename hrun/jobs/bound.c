/* bound.c - how soon jobs can end at best; see internal.h
 *
 * For weights w >= 0 of the sub-clusters' PEs a schedule of length L offers the area L w.npes, and each job takes
 * w.pes time of it in one of its ways; so L is at least the sum of the least areas over w.npes. Weights are improved by
 * subgradients: those of sub-clusters that the jobs' cheapest ways use more than others grow.
 */
#include "schedule.h"

#include <math.h>

enum { ROUNDS = 60 };

static double area_of(const struct hrun_schedule_problem *p, const struct hrun_schedule_way *way, const double *w)
{
    double sum = 0;

    for (int s = 0; s < p->nsubs; s++)
        sum += w[s] * way->pes[s];
    return sum * way->time_s;
}

static const struct hrun_schedule_way *cheapest(const struct hrun_schedule_problem *p, int job, const double *w)
{
    const struct hrun_schedule_job *j = &p->jobs[job];
    const struct hrun_schedule_way *best = j->ways;

    for (int i = 1; i < j->nways; i++)
        if (area_of(p, &j->ways[i], w) < area_of(p, best, w))
            best = &j->ways[i];
    return best;
}

static double offered(const struct hrun_schedule_problem *p, const double *w)
{
    double sum = 0;

    for (int s = 0; s < p->nsubs; s++)
        sum += w[s] * p->npes[s];
    return sum;
}

void schedule_areas(const struct hrun_schedule_problem *p, const double *weights, double *area_s)
{
    double all = offered(p, weights);

    for (int j = 0; j < p->njobs; j++)
        area_s[j] = area_of(p, cheapest(p, j, weights), weights) / all;
}

/* The bound of these weights. */
static double bound_of(const struct hrun_schedule_problem *p, const double *w)
{
    double sum = 0;

    for (int j = 0; j < p->njobs; j++)
        sum += area_of(p, cheapest(p, j, w), w);
    return sum / offered(p, w);
}

/* One step: weights of sub-clusters that are asked for more than on average grow, others shrink. */
static void turn(const struct hrun_schedule_problem *p, double step, double *w)
{
    double bound = bound_of(p, w);

    for (int s = 0; s < p->nsubs; s++) {
        double used = 0;

        for (int j = 0; j < p->njobs; j++) {
            const struct hrun_schedule_way *way = cheapest(p, j, w);

            used += way->pes[s] * way->time_s;
        }
        w[s] *= p->npes[s] > 0 && bound > 0 ? exp(step * fmin(fmax(used / (p->npes[s] * bound) - 1, -1), 1)) : 1;
    }
}

double schedule_bound(const struct hrun_schedule_problem *p, double *weights)
{
    double best = 0, longest = 0, *w = weights + p->nsubs;

    for (int s = 0; s < p->nsubs; s++)
        weights[s] = w[s] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double b = bound_of(p, w);

        if (b > best) {
            best = b;
            for (int s = 0; s < p->nsubs; s++)
                weights[s] = w[s];
        }
        turn(p, 0.5 / (1 + r / 4), w);
    }
    for (int j = 0; j < p->njobs; j++) {
        double quickest = INFINITY;

        for (int i = 0; i < p->jobs[j].nways; i++)
            quickest = fmin(quickest, p->jobs[j].ways[i].time_s);
        longest = fmax(longest, quickest);
    }
    return fmax(best, longest);
}
