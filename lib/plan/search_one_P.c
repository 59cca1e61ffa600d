/* search_one_P.c - the best configurations with P processes; see search_one_P.h for the contract
 *
 * A level is a value of the objective. Levels whose capacity, the sum over i of the most processes that sub-cluster i
 * holds, is below P are skipped. Then configs_of_value.c decides whether a level can meet P; a level that cannot is
 * followed by later ones in growing steps and a bisection, since a later level can do all that an earlier one can.
 * Further levels follow while they may still enter the list of the best.
 */
#include "plan/search_one_P.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void plan_solver_init(struct plan_solver *S, struct plan_space *s, struct plan_best *best)
{
    size_t nopt = (size_t)s->nopt + 1;

    memset(S, 0, sizeof *S);
    S->space = s;
    S->best = best;
    S->levels = xmalloc(nopt * sizeof *S->levels);
    S->order = xmalloc(nopt * sizeof *S->order);
    S->held = xmalloc(((size_t)s->nsubs + 1) * sizeof *S->held);
    plan_level_init(&S->level, s);
}

void plan_solver_release(struct plan_solver *S)
{
    plan_level_release(&S->level);
    free(S->levels);
    free(S->order);
    free(S->held);
    memset(S, 0, sizeof *S);
}

/* Options of value <= limit that can take part at P, sorted by value, into S->order. Result: how many.
 * Heapsort: no extra memory, no comparison function with a context. */
static int sort_options(struct plan_solver *S, const struct plan_row *row, double limit)
{
    const double *v = row->v;
    int *a = S->order, n = 0;

    for (int o = 0; o < S->space->nopt; o++)
        if (v[o] <= limit && v[o] < INFINITY && S->space->full[o] > 0 &&
            S->space->oracle->options[o].m <= row->P)
            a[n++] = o;
    for (int start = n / 2, end = n; end > 1;) {
        int root, item;
        if (start > 0) {
            item = a[--start];
        } else {
            item = a[--end];
            a[end] = a[0];
        }
        for (root = start;;) {
            int child = 2 * root + 1;
            if (child >= end)
                break;
            if (child + 1 < end && v[a[child + 1]] > v[a[child]])
                child++;
            if (v[a[child]] <= v[item])
                break;
            a[root] = a[child];
            root = child;
        }
        a[root] = item;
    }
    return n;
}

static int gcd(int a, int b)
{
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Into S->levels the different values among order[0..n-1] from the least one that has the capacity for P on.
 * Result: how many; 0 when even all options cannot hold P, or not exactly. */
static int list_levels(struct plan_solver *S, const struct plan_row *row, int n)
{
    const struct plan_space *s = S->space;
    long total = 0;
    int nlevels = 0, divisor = 0;

    memset(S->held, 0, (size_t)s->nsubs * sizeof *S->held);
    for (int k = 0; k < n; k++) {
        int o = S->order[k], i = s->oracle->options[o].sub, m = s->oracle->options[o].m;
        long held = s->full[o] <= row->P ? s->full[o] : row->P - row->P % m;
        divisor = divisor == 1 ? 1 : gcd(m, divisor);
        if (held > S->held[i]) {
            total += held - S->held[i];
            S->held[i] = held;
        }
        if (total < row->P || (k + 1 < n && row->v[S->order[k + 1]] == row->v[o]))
            continue;
        S->levels[nlevels++] = row->v[o];
    }
    return divisor && row->P % divisor == 0 ? nlevels : 0;
}

/* Can P be met with options of value <= S->levels[level]? */
static int build_level(struct plan_solver *S, const struct plan_row *row, int level, int with_need)
{
    S->nbuilt++;
    return plan_level_build(&S->level, row->P, row->v, S->levels[level], with_need);
}

/* The first level of 1..n-1 that can do, when level 0 cannot; n when none can. */
static int first_level(struct plan_solver *S, const struct plan_row *row, int n)
{
    int below = 0, at, met = 0;

    for (int step = 1; !met; step *= 2) {
        at = below + step < n ? below + step : n - 1;
        if (at == below)
            return n;
        met = build_level(S, row, at, 0);
        if (!met)
            below = at;
    }
    while (at - below > 1) {
        int mid = below + (at - below) / 2;

        if (build_level(S, row, mid, 0))
            at = mid;
        else
            below = mid;
    }
    return at;
}

/* Is there the capacity for lo processes with options of value <= limit, when P <= hi? */
int plan_has_capacity(const struct plan_space *s, const double *v, double limit, int lo, int hi)
{
    long total = 0;

    for (int i = 0; i < s->nsubs && total < lo; i++) {
        for (int o = s->first[i + 1] - 1; o >= s->first[i]; o--) {
            if (v[o] <= limit && s->oracle->options[o].m <= hi) {
                total += s->full[o] < hi ? s->full[o] : hi;
                break;
            }
        }
    }
    return total >= lo;
}

/* The list is full: can P offer a value below its last, or as good a one with no more PEs? Where Ti hardly
 * depends on P, this saves most of the many P of equal value. */
static int offers_better(const struct plan_solver *S, const struct plan_row *row, const struct hrun_choice *last)
{
    const struct plan_space *s = S->space;
    int P = row->P, most = 0;

    if (!plan_has_capacity(s, row->v, last->value, P, P))
        return 0;
    if (plan_has_capacity(s, row->v, nextafter(last->value, -INFINITY), P, P))
        return 1;
    for (int o = 0; o < s->nopt; o++)
        if (row->v[o] <= last->value && s->full[o] > 0 && s->oracle->options[o].m > most)
            most = s->oracle->options[o].m;
    return (P - 1) / most + 1 <= last->npes;
}

int plan_solve(struct plan_solver *S, int P, struct hrun_error *err)
{
    const struct plan_row *row = plan_space_row(S->space, P, err);
    const struct plan_best *best = S->best;
    int n, first, met;

    if (!row)
        return -1;
    S->nrows++;
    if (!row->rule || (best->n == best->top && !offers_better(S, row, best->v[best->n - 1])))
        return 0;
    n = list_levels(S, row, sort_options(S, row, plan_best_worst(best)));
    if (n == 0)
        return 0;
    met = build_level(S, row, 0, 1);
    first = met ? 0 : first_level(S, row, n);
    for (int k = first; k < n && plan_best_wants(best, S->levels[k]); k++) {
        if (k > 0)
            build_level(S, row, k, 1);
        plan_level_add(&S->level, row, S->best);
    }
    return 0;
}
