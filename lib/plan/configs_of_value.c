/* configs_of_value.c - the configurations with P processes and a given value of the objective, by dynamic programming;
 * see configs_of_value.h for the method and the contracts */
#include "plan/configs_of_value.h"

#include "base/alloc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* No configuration. PEs <= P <= PLAN_MAX_P = 2^30, so NEVER plus any number of PEs does not wrap around. */
#define NEVER ((uint32_t)INT_MAX)

/* Sums that a window shares with at most this many numbers of PEs of one option are served by plain passes
 * over the window, one for each; more, by one pass with a queue, which costs about as much as ten plain
 * ones. */
enum { PLAIN_PASSES = 10 };

/* A configuration found but not yet given out, and which others it stands for: those with the same pairs
 * before `turn` and at `turn` a pair that comes no earlier than its own (Lawler's partition). */
struct plan_path {
    int turn;
    int npes;
};

/* The order of pairs at one sub-cluster: fewest PEs from here on, then Pi, then Mi. */
struct pair_key {
    uint32_t cost;
    int p, m;
};

void plan_level_init(struct plan_level *l, const struct plan_space *s)
{
    size_t n = (size_t)s->nsubs + 1;

    memset(l, 0, sizeof *l);
    l->s = s;
    l->lo = xcalloc(n, sizeof *l->lo);
    l->width = xcalloc(n, sizeof *l->width);
    l->free = xcalloc(n, sizeof *l->free);
    l->need = xcalloc(n, sizeof *l->need);
}

void plan_level_release(struct plan_level *l)
{
    free(l->lo);
    free(l->width);
    free(l->free);
    free(l->need);
    free(l->pool);
    free(l->queue);
    free(l->paths);
    free(l->pairs);
    memset(l, 0, sizeof *l);
}

/* The most processes that sub-cluster i holds with options of the level, none of which may exceed P alone. */
static long level_capacity(const struct plan_level *l, int i)
{
    const struct plan_space *s = l->s;
    long most = 0;

    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        long held = s->full[o];
        if (l->v[o] > l->level)
            continue;
        if (held > l->P)
            held = l->P - l->P % s->oracle->options[o].m;
        if (held > most)
            most = held;
    }
    return most;
}

/* Add option o of sub-cluster k: dst[x] = min(dst[x], min over p = 1..G of src[x - p M] + p), where dst is a layer k
 * and src a layer k + 1. Positions are sums: dst[0] stands for dlo. */
static void slide_minimum(struct plan_level *l, int k, int o, uint32_t *dst, const uint32_t *src)
{
    int M = l->s->oracle->options[o].m, G = l->s->subs[k].npes;
    int dlo = l->lo[k], dwidth = l->width[k], slo = l->lo[k + 1];
    long dhi = (long)dlo + dwidth - 1, shi = (long)slo + l->width[k + 1] - 1;
    long pmin = dlo > shi ? (dlo - shi + M - 1) / M : 1, pmax = dhi >= slo ? (dhi - slo) / M : 0;

    if (pmin < 1)
        pmin = 1;
    if (pmax > G)
        pmax = G;
    if (pmax - pmin < PLAIN_PASSES) {
        for (long p = pmin; p <= pmax; p++) {
            long from = slo + p * M > dlo ? slo + p * M : dlo, to = shi + p * M < dhi ? shi + p * M : dhi;
            const uint32_t *in = src + (from - p * M - slo);
            uint32_t *to_cell = dst + (from - dlo), held = (uint32_t)p;
            for (long x = 0; x <= to - from; x++) {
                uint32_t found = in[x] + held;
                if (found < to_cell[x])
                    to_cell[x] = found;
            }
        }
        return;
    }
    /* Each class of sums modulo M is a sequence of its own. A source at position q costs src[q] + (x - q)/M
     * at x, so the queue holds positions by ascending src[q] - q/M, and drops those more than G steps
     * back. */
    for (int r = 0; r < M && r < dwidth; r++) {
        long x = (long)dlo + r, q = slo + ((x - slo) % M + M) % M, back = (long)G * M;
        size_t head = 0, tail = 0;
        for (; x <= dhi; x += M) {
            for (; q <= x - M && q <= shi; q += M) {
                long key = (long)src[q - slo] * M - q;
                if (src[q - slo] == NEVER)
                    continue;
                while (tail > head && (long)src[l->queue[tail - 1]] * M - (l->queue[tail - 1] + slo) >= key)
                    tail--;
                l->queue[tail++] = (int)(q - slo);
            }
            while (head < tail && l->queue[head] + slo < x - back)
                head++;
            if (head < tail) {
                uint32_t found = src[l->queue[head]] + (uint32_t)((x - slo - l->queue[head]) / M);
                if (found < dst[x - dlo])
                    dst[x - dlo] = found;
            }
        }
    }
}

/* Leave sub-cluster k out: what the later ones reach, as far as both windows go. */
static void skip_sub(const struct plan_level *l, int k, const uint32_t *src, uint32_t *dst)
{
    long dlo = l->lo[k], slo = l->lo[k + 1], hi = dlo + l->width[k];

    for (long x = dlo; x < hi; x++)
        dst[x - dlo] = x >= slo && x < slo + l->width[k + 1] ? src[x - slo] : NEVER;
}

/* Windows of all layers, and room for them. 0 when P is out of reach. */
static int lay_out_windows(struct plan_level *l, int with_need)
{
    int n = l->s->nsubs;
    long before = 0, after = 0;
    size_t cells = 0, widest = 0;

    for (int k = n; k >= 0; k--) { /* width holds the upper end until lo is known */
        if (k < n)
            after += level_capacity(l, k);
        l->width[k] = (int)(after < l->P ? after : l->P);
    }
    if (after < l->P)
        return 0;
    for (int k = 0; k <= n; k++) {
        l->lo[k] = before < l->P ? (int)(l->P - before) : 0;
        l->width[k] -= l->lo[k] - 1;
        cells += (size_t)l->width[k];
        if ((size_t)l->width[k] > widest)
            widest = (size_t)l->width[k];
        if (k < n)
            before += level_capacity(l, k);
    }
    if (with_need)
        cells *= 2;
    hrun_grow(l->pool, cells, l->pool_cap);
    hrun_grow(l->queue, widest, l->queue_cap);
    cells = 0;
    for (int k = 0; k <= n; k++) {
        l->free[k] = l->pool + cells;
        cells += (size_t)l->width[k];
        l->need[k] = NULL;
        if (with_need) {
            l->need[k] = l->pool + cells;
            cells += (size_t)l->width[k];
        }
    }
    return 1;
}

int plan_level_build(struct plan_level *l, int P, const double *v, double level, int with_need)
{
    const struct plan_space *s = l->s;
    int n = s->nsubs;

    l->P = P;
    l->v = v;
    l->level = level;
    if (!lay_out_windows(l, with_need))
        return 0;
    l->free[n][0] = 0;
    if (with_need)
        l->need[n][0] = NEVER;
    for (int k = n - 1; k >= 0; k--) {
        skip_sub(l, k, l->free[k + 1], l->free[k]);
        if (with_need)
            skip_sub(l, k, l->need[k + 1], l->need[k]);
        for (int o = s->first[k]; o < s->first[k + 1]; o++) {
            if (v[o] > level)
                continue;
            slide_minimum(l, k, o, l->free[k], l->free[k + 1]);
            if (with_need)
                slide_minimum(l, k, o, l->need[k], v[o] == level ? l->free[k + 1] : l->need[k + 1]);
        }
    }
    return l->free[0][0] != NEVER;
}

static uint32_t fewest_pes(const struct plan_level *l, int k, int need, long sum)
{
    long x = sum - l->lo[k];

    if (x < 0 || x >= l->width[k])
        return NEVER;
    return need ? l->need[k][x] : l->free[k][x];
}

static int key_less(const struct pair_key *a, const struct pair_key *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    if (a->p != b->p)
        return a->p < b->p;
    return a->m < b->m;
}

/* The first pair of sub-cluster k after *after (NULL: the first of all) with which sub-clusters k.. hold
 * `sum`. 0 when there is none. */
static int next_pair(const struct plan_level *l, int k, int need, long sum, const struct pair_key *after,
                     struct pair_key *out)
{
    const struct plan_space *s = l->s;
    long lo = l->lo[k + 1], hi = lo + l->width[k + 1] - 1;
    struct pair_key best = { NEVER, 0, 0 }, key = { fewest_pes(l, k + 1, need, sum), 0, 0 };

    if (key.cost != NEVER && (!after || key_less(after, &key)))
        best = key;
    for (int o = s->first[k]; o < s->first[k + 1]; o++) {
        long M = s->oracle->options[o].m, p = sum > hi ? (sum - hi + M - 1) / M : 1;
        long pmax = sum >= lo ? (sum - lo) / M : 0;
        int still = need && l->v[o] != l->level;
        if (l->v[o] > l->level)
            continue;
        if (p < 1)
            p = 1;
        if (pmax > s->subs[k].npes)
            pmax = s->subs[k].npes;
        for (; p <= pmax; p++) {
            uint32_t rest = fewest_pes(l, k + 1, still, sum - p * M);
            if (rest == NEVER)
                continue;
            key.cost = rest + (uint32_t)p;
            key.p = (int)p;
            key.m = (int)M;
            if (key_less(&key, &best) && (!after || key_less(after, &key)))
                best = key;
        }
    }
    *out = best;
    return best.cost != NEVER;
}

static int pair_is_level(const struct plan_level *l, int k, int m)
{
    const struct plan_space *s = l->s;

    for (int o = s->first[k]; m && o < s->first[k + 1]; o++)
        if (s->oracle->options[o].m == m)
            return l->v[o] == l->level;
    return 0;
}

static int *path_pairs(const struct plan_level *l, int path)
{
    return l->pairs + (size_t)path * 2 * (size_t)l->s->nsubs;
}

/* The first `turn` pairs of a path, and what they leave to the sub-clusters from there on. */
struct path_start {
    const int *pairs;
    int turn;
    int used;               /* PEs of these pairs */
    int need;               /* 1: none of them is of value `level` yet */
    long sum;               /* processes that are left */
};

/* Append the best path with this start that takes a pair after *after (NULL: any) next. Nothing if there is none. */
static void add_best_path(struct plan_level *l, struct path_start start, const struct pair_key *after)
{
    int n = l->s->nsubs, *pair;
    struct pair_key key;

    if (!next_pair(l, start.turn, start.need, start.sum, after, &key))
        return;
    hrun_grow(l->paths, l->npaths + 1, l->paths_cap);
    hrun_grow(l->pairs, ((size_t)l->npaths + 1) * 2 * (size_t)n, l->pairs_cap);
    pair = path_pairs(l, l->npaths);
    memcpy(pair, start.pairs, (size_t)start.turn * 2 * sizeof *pair);
    l->paths[l->npaths++] = (struct plan_path){ start.turn, start.used + (int)key.cost };
    for (int k = start.turn; k < n; k++) {
        if (k > start.turn)
            next_pair(l, k, start.need, start.sum, NULL, &key);
        pair[2 * k] = key.p;
        pair[2 * k + 1] = key.m;
        start.sum -= (long)key.p * key.m;
        start.need = start.need && !pair_is_level(l, k, key.m);
    }
}

/* Split the set that path[] stood for, without itself: for each sub-cluster from its turn on, the same pairs before
 * and a later pair there. */
static void add_rest_paths(struct plan_level *l, const int *path, int turn, int npes)
{
    struct path_start start = { .pairs = path, .need = 1, .sum = l->P };

    for (; start.turn < l->s->nsubs; start.turn++) {
        int k = start.turn;
        struct pair_key own = { (uint32_t)(npes - start.used), path[2 * k], path[2 * k + 1] };

        if (k >= turn)
            add_best_path(l, start, &own);
        start.used += own.p;
        start.sum -= (long)own.p * own.m;
        start.need = start.need && !pair_is_level(l, k, own.m);
    }
}

static int path_before(const struct plan_level *l, int a, int b)
{
    const int *x = path_pairs(l, a), *y = path_pairs(l, b);

    if (l->paths[a].npes != l->paths[b].npes)
        return l->paths[a].npes < l->paths[b].npes;
    for (int k = 0; k < 2 * l->s->nsubs; k++)
        if (x[k] != y[k])
            return x[k] < y[k];
    return 0;
}

void plan_level_add(struct plan_level *l, const struct plan_row *row, struct plan_best *best)
{
    int n = l->s->nsubs;
    autofree int *path = xcalloc(2 * (size_t)n + 1, sizeof *path);
    struct hrun_choice c = { .config.nsubs = n, .P = l->P, .value = l->level };

    l->npaths = 0;
    add_best_path(l, (struct path_start){ .pairs = path, .need = 1, .sum = l->P }, NULL);
    while (l->npaths > 0) {
        int first = 0, turn;
        for (int i = 1; i < l->npaths; i++)
            if (path_before(l, i, first))
                first = i;
        memcpy(path, path_pairs(l, first), (size_t)n * 2 * sizeof *path);
        turn = l->paths[first].turn;
        c.npes = l->paths[first].npes;
        for (int k = 0; k < n; k++) {
            c.config.pes[k] = path[2 * k];
            c.config.procs[k] = path[2 * k + 1];
        }
        if (!plan_best_takes(best, &c))
            break;
        plan_choice_time(l->s, row->t, &c);
        plan_best_add(best, &c);
        if (best->top == 1)
            break;
        l->npaths--;
        l->paths[first] = l->paths[l->npaths];
        memmove(path_pairs(l, first), path_pairs(l, l->npaths), (size_t)n * 2 * sizeof *path);
        add_rest_paths(l, path, turn, c.npes);
    }
}
