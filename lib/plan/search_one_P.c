/* search_one_P.c - the best configurations with P processes; see search.h for the contract
 *
 * A level is a value of the objective. It is feasible if options of value <= level can have exactly P processes; its
 * capacity is the sum over i of the largest number of processes on sub-cluster i. Levels with a capacity below P are
 * skipped. Dynamic programming decides whether a level is feasible. All levels above a feasible one are feasible, so
 * the least one is found by growing steps and a bisection. Further levels follow while they may enter the list.
 *
 * Configurations of value exactly `level` are paths through the sub-clusters with at least one option of that value;
 * they are produced by number of PEs, then lexicographically. cells(k, 0)[s] and cells(k, 1)[s] are the fewest PEs for
 * s processes on sub-clusters k.., the latter with at least one option of value = level. Only a window of the sums s
 * matters: at least P minus the capacity before k, at most the capacity from k on. So a window is no wider than the
 * excess of the capacity over P, which is small near the least feasible level.
 */
#include "plan/search.h"

#include "base/alloc.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No configuration. PEs <= P <= PLAN_MAX_P = 2^30, so NEVER plus any number of PEs does not overflow. */
#define NEVER ((uint32_t)INT_MAX)

/* Up to this many possible numbers of PEs of an option, each takes one plain pass over the window. More take one pass
 * with a queue, which costs about as much as ten plain passes. */
enum { PLAIN_PASSES = 10 };

/* The sums lo..lo+width-1 of processes on sub-clusters k.. that matter. */
struct window {
    int lo, width;
    size_t at;                  /* index of the first sum in the pool */
};

/* The order of pairs on one sub-cluster: fewest PEs from here on, then Pi, then Mi. */
struct pair_key {
    uint32_t cost;
    int p, m;
};

struct plan_solver {
    struct plan_space *space;   /* borrowed */
    struct plan_best *best;     /* borrowed */
    const struct plan_row *row;
    double *levels;             /* nopt: different values at P, ascending */
    double level;               /* the level of the present cells */
    struct window *windows;     /* nsubs + 1 */
    uint32_t *pool;             /* the cells of all windows, twice */
    size_t cells;               /* number of cells of all windows */
    int *queue;                 /* positions of a sliding minimum */
    size_t pool_cap, queue_cap;
    struct plan_best paths;     /* best configurations of the remaining sets; see add_best_path */
};

struct plan_solver *plan_solver_create(struct plan_space *s, struct plan_best *best)
{
    struct plan_solver *S = xcalloc(1, sizeof *S);

    S->space = s;
    S->best = best;
    S->levels = xcalloc((size_t)s->nopt + 1, sizeof *S->levels);
    S->windows = xcalloc((size_t)s->nsubs + 1, sizeof *S->windows);
    return S;
}

void plan_solver_destroy(struct plan_solver *S)
{
    if (!S)
        return;
    free(S->levels);
    free(S->windows);
    free(S->pool);
    free(S->queue);
    plan_best_release(&S->paths);
    free(S);
}

/* ------------------------------------------------------------------ the fewest PEs of each sum */

static uint32_t *cells(const struct plan_solver *S, int k, int need)
{
    return S->pool + (need ? S->cells : 0) + S->windows[k].at;
}

/* The largest number of processes on sub-cluster i with options of value <= level, for each option at most P. */
static long level_capacity(const struct plan_solver *S, int i)
{
    const struct plan_space *s = S->space;
    long most = 0;

    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        long held = s->full[o] > S->row->P ? S->row->P - S->row->P % s->oracle->options[o].m : s->full[o];

        if (S->row->v[o] <= S->level && held > most)
            most = held;
    }
    return most;
}

/* Add option o of sub-cluster k: dst[x] = min(dst[x], min over p = 1..G of src[x - p M] + p), where dst is of window k
 * and src of window k + 1. Positions are sums: dst[0] stands for dlo. */
static void slide_minimum(struct plan_solver *S, int k, int o, uint32_t *dst, const uint32_t *src)
{
    const struct window *to = &S->windows[k], *from = to + 1;
    int M = S->space->oracle->options[o].m, G = S->space->subs[k].npes, dlo = to->lo, slo = from->lo;
    long dhi = (long)dlo + to->width - 1, shi = (long)slo + from->width - 1;
    long pmin = dlo > shi ? (dlo - shi + M - 1) / M : 1, pmax = dhi >= slo ? (dhi - slo) / M : 0;

    if (pmin < 1)
        pmin = 1;
    if (pmax > G)
        pmax = G;
    if (pmax - pmin < PLAIN_PASSES) {
        for (long p = pmin; p <= pmax; p++) {
            long first = slo + p * M > dlo ? slo + p * M : dlo, last = shi + p * M < dhi ? shi + p * M : dhi;
            const uint32_t *in = src + (first - p * M - slo);
            uint32_t *out = dst + (first - dlo), held = (uint32_t)p;

            for (long x = 0; x <= last - first; x++)
                out[x] = in[x] + held < out[x] ? in[x] + held : out[x];
        }
        return;
    }
    /* Sums of one class modulo M form a separate sequence. A source at position q costs src[q] + (x - q)/M at x, so the
     * queue contains positions by ascending src[q] - q/M, without those more than G steps back. */
    for (int r = 0; r < M && r < to->width; r++) {
        long x = (long)dlo + r, q = slo + ((x - slo) % M + M) % M, back = (long)G * M;
        size_t head = 0, tail = 0;

        for (; x <= dhi; x += M) {
            for (; q <= x - M && q <= shi; q += M) {
                long key = (long)src[q - slo] * M - q;

                if (src[q - slo] == NEVER)
                    continue;
                while (tail > head && (long)src[S->queue[tail - 1]] * M - (S->queue[tail - 1] + slo) >= key)
                    tail--;
                S->queue[tail++] = (int)(q - slo);
            }
            while (head < tail && S->queue[head] + slo < x - back)
                head++;
            if (head < tail) {
                uint32_t found = src[S->queue[head]] + (uint32_t)((x - slo - S->queue[head]) / M);

                if (found < dst[x - dlo])
                    dst[x - dlo] = found;
            }
        }
    }
}

/* The fewest PEs for `sum` processes on sub-clusters k..; NEVER: not possible. */
static uint32_t fewest_pes(const struct plan_solver *S, int k, int need, long sum)
{
    long x = sum - S->windows[k].lo;

    return x < 0 || x >= S->windows[k].width ? NEVER : cells(S, k, need)[x];
}

/* Set the windows of all sub-clusters and allocate their cells. Result: 0 if the capacity is below P, else 1. */
static int lay_out_windows(struct plan_solver *S)
{
    int n = S->space->nsubs, P = S->row->P;
    long before = 0, after = 0;
    size_t widest = 0;

    for (int k = n; k >= 0; k--) { /* width is the upper end until lo is known */
        if (k < n)
            after += level_capacity(S, k);
        S->windows[k].width = (int)(after < P ? after : P);
    }
    if (after < P)
        return 0;
    S->cells = 0;
    for (int k = 0; k <= n; k++) {
        struct window *w = &S->windows[k];

        w->lo = before < P ? (int)(P - before) : 0;
        w->width -= w->lo - 1;
        w->at = S->cells;
        S->cells += (size_t)w->width;
        if ((size_t)w->width > widest)
            widest = (size_t)w->width;
        if (k < n)
            before += level_capacity(S, k);
    }
    hrun_grow(S->pool, 2 * S->cells, S->pool_cap);
    hrun_grow(S->queue, widest, S->queue_cap);
    return 1;
}

/* Set cells(k, 0) of a level; with_need: also cells(k, 1), which add_configs uses. Result: 1 if the level is feasible,
 * else 0. */
static int build_level(struct plan_solver *S, double level, int with_need)
{
    const struct plan_space *s = S->space;
    const double *v = S->row->v;
    int n = s->nsubs;

    S->level = level;
    if (!lay_out_windows(S))
        return 0;
    cells(S, n, 0)[0] = 0;
    cells(S, n, 1)[0] = NEVER;
    for (int k = n - 1; k >= 0; k--)
        for (int need = 0; need <= with_need; need++) {
            uint32_t *to = cells(S, k, need);

            for (int x = 0; x < S->windows[k].width; x++)   /* without sub-cluster k */
                to[x] = fewest_pes(S, k + 1, need, S->windows[k].lo + x);
            for (int o = s->first[k]; o < s->first[k + 1]; o++)
                if (v[o] <= level)
                    slide_minimum(S, k, o, to, cells(S, k + 1, need && v[o] != level));
        }
    return cells(S, 0, 0)[0] != NEVER;
}

/* ------------------------------------------------------------------ the configurations of a level, in order */

static int key_less(const struct pair_key *a, const struct pair_key *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    return a->p != b->p ? a->p < b->p : a->m < b->m;
}

/* Set *out to the first pair of sub-cluster k after *after (NULL: of all) with which sub-clusters k.. can have `sum`
 * processes. need: 1 if k.. must have an option of value = level. Result: 0 if there is none, else 1. */
static int next_pair(const struct plan_solver *S, int k, int need, long sum, const struct pair_key *after,
                     struct pair_key *out)
{
    const struct plan_space *s = S->space;
    long lo = S->windows[k + 1].lo, hi = lo + S->windows[k + 1].width - 1;
    struct pair_key best = { NEVER, 0, 0 }, key = { fewest_pes(S, k + 1, need, sum), 0, 0 };

    if (key.cost != NEVER && (!after || key_less(after, &key)))
        best = key;
    for (int o = s->first[k]; o < s->first[k + 1]; o++) {
        long M = s->oracle->options[o].m, p = sum > hi ? (sum - hi + M - 1) / M : 1;
        long pmax = sum >= lo ? (sum - lo) / M : 0;
        int still = need && S->row->v[o] != S->level;

        if (S->row->v[o] > S->level)
            continue;
        if (p < 1)
            p = 1;
        if (pmax > s->subs[k].npes)
            pmax = s->subs[k].npes;
        for (; p <= pmax; p++) {
            uint32_t rest = fewest_pes(S, k + 1, still, sum - p * M);

            if (rest == NEVER)
                continue;
            key = (struct pair_key){ rest + (uint32_t)p, (int)p, (int)M };
            if (key_less(&key, &best) && (!after || key_less(after, &key)))
                best = key;
        }
    }
    *out = best;
    return best.cost != NEVER;
}

static int pair_is_level(const struct plan_solver *S, int k, int m)
{
    const struct plan_space *s = S->space;

    for (int o = s->first[k]; m && o < s->first[k + 1]; o++)
        if (s->oracle->options[o].m == m)
            return S->row->v[o] == S->level;
    return 0;
}

/* Add to S->paths the best path, if any, with the pairs of `start` before sub-cluster `turn` and a pair after *after
 * (NULL: any) on `turn`. It represents the set of all these paths (Lawler's partition); its `limiting` is `turn`. */
static void add_best_path(struct plan_solver *S, const struct hrun_config *start, int turn,
                          const struct pair_key *after)
{
    struct hrun_choice path = { .config = *start, .P = S->row->P, .value = S->level, .limiting = turn };
    long sum = S->row->P;
    int need = 1;

    for (int k = 0; k < start->nsubs; k++) {
        struct pair_key key;

        if (k >= turn) {
            if (!next_pair(S, k, need, sum, k == turn ? after : NULL, &key))
                return;
            path.config.pes[k] = key.p;
            path.config.procs[k] = key.m;
        }
        path.npes += path.config.pes[k];
        sum -= (long)path.config.pes[k] * path.config.procs[k];
        need = need && !pair_is_level(S, k, path.config.procs[k]);
    }
    plan_best_add(&S->paths, &path);
}

/* Add the configurations of the level to the list of the best, in their order, until one does not enter. */
static void add_configs(struct plan_solver *S)
{
    const struct hrun_config none = { .nsubs = S->space->nsubs };

    S->paths.top = S->best->top;
    add_best_path(S, &none, 0, NULL);
    while (S->paths.n > 0) {
        struct hrun_choice c = *S->paths.v[0];
        int turn = c.limiting, used = 0;

        if (!plan_best_takes(S->best, &c))
            break;
        plan_choice_time(S->space, S->row->t, &c);
        plan_best_add(S->best, &c);
        if (S->best->top == 1)
            break;
        free(S->paths.v[0]);
        memmove(S->paths.v, S->paths.v + 1, (size_t)--S->paths.n * sizeof *S->paths.v);
        /* Split the rest of the set that the path represents: for each sub-cluster from its turn on, paths with the
         * same pairs before it and a later pair on it. */
        for (int k = 0; k < none.nsubs; k++) {
            struct pair_key own = { (uint32_t)(c.npes - used), c.config.pes[k], c.config.procs[k] };

            if (k >= turn)
                add_best_path(S, &c.config, k, &own);
            used += own.p;
        }
    }
    plan_best_release(&S->paths);
}

/* ------------------------------------------------------------------ levels */

static int compare_levels(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
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

/* Set S->levels to the different values <= limit of options that are usable at P, from the first one with a capacity of
 * P on. Result: their number; 0 if the capacity of all options is below P or no sum of their m gives P. */
static int list_levels(struct plan_solver *S, double limit)
{
    const struct plan_space *s = S->space;
    const double *v = S->row->v;
    int n = 0, kept = 0, divisor = 0, P = S->row->P, lo = 0, hi;

    for (int o = 0; o < s->nopt; o++)
        if (v[o] <= limit && v[o] < INFINITY && s->full[o] > 0 && s->oracle->options[o].m <= P) {
            S->levels[n++] = v[o];
            divisor = gcd(s->oracle->options[o].m, divisor);
        }
    if (!n || P % divisor)
        return 0;
    qsort(S->levels, (size_t)n, sizeof *S->levels, compare_levels);
    for (int k = 0; k < n; k++)
        if (!kept || S->levels[k] != S->levels[kept - 1])
            S->levels[kept++] = S->levels[k];
    for (hi = kept; lo < hi;) {
        int mid = (lo + hi) / 2;

        if (plan_has_capacity(s, v, S->levels[mid], P, P))
            hi = mid;
        else
            lo = mid + 1;
    }
    memmove(S->levels, S->levels + lo, (size_t)(kept - lo) * sizeof *S->levels);
    return kept - lo;
}

/* The index of the first feasible level of 1..n-1, if level 0 is not feasible; n if there is none. */
static int first_level(struct plan_solver *S, int n)
{
    int below = 0, at, met = 0;

    for (int step = 1; !met; step *= 2) {
        at = below + step < n ? below + step : n - 1;
        if (at == below)
            return n;
        met = build_level(S, S->levels[at], 0);
        if (!met)
            below = at;
    }
    while (at - below > 1) {
        int mid = below + (at - below) / 2;

        if (build_level(S, S->levels[mid], 0))
            at = mid;
        else
            below = mid;
    }
    return at;
}

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

/* For a full list: 1 if P may have a value below the last one, or an equal value with no more PEs; else 0. If Ti hardly
 * depends on P, this excludes most P of equal value. */
static int offers_better(const struct plan_solver *S, const struct hrun_choice *last)
{
    const struct plan_space *s = S->space;
    const double *v = S->row->v;
    int P = S->row->P, most = 0;

    if (!plan_has_capacity(s, v, last->value, P, P))
        return 0;
    if (plan_has_capacity(s, v, nextafter(last->value, -INFINITY), P, P))
        return 1;
    for (int o = 0; o < s->nopt; o++)
        if (v[o] <= last->value && s->full[o] > 0 && s->oracle->options[o].m > most)
            most = s->oracle->options[o].m;
    return (P - 1) / most + 1 <= last->npes;
}

int plan_solve(struct plan_solver *S, int P, struct hrun_error *err)
{
    const struct plan_best *best = S->best;
    int n;

    S->row = plan_space_row(S->space, P, err);
    if (!S->row)
        return -1;
    if (!S->row->rule || (best->n == best->top && !offers_better(S, best->v[best->n - 1])))
        return 0;
    n = list_levels(S, plan_best_worst(best));
    if (n == 0)
        return 0;
    for (int k = build_level(S, S->levels[0], 1) ? 0 : first_level(S, n);
         k < n && S->levels[k] <= plan_best_worst(best); k++) {
        if (k > 0)
            build_level(S, S->levels[k], 1);
        add_configs(S);
    }
    return 0;
}
