/* share.c - max-min fair rates by filling up (internal.h)
 *
 * A level rises, and with it all rates, each as its share says; a flow stops at its limit, or with all others of a
 * resource when that is full. What stops within a rounding error of the same level stops in the same step. Of limits
 * the next is on top of a heap; of resources the next is looked for among those that are left, which are few.
 */
#include "net/internal.h"

#include <math.h>

/* Levels that differ by less are the same: rates are sums and quotients of some hundred terms. */
static const double SAME = 1e-12;

struct filling {
    struct share_flow *flows;
    struct share_resource *resources;
    const struct share_space *space;
    int nlist, nheap, left;    /* left: flows without a rate */
};

static void list_resources(struct filling *s, int n)
{
    int used = 0;

    for (int f = 0; f < n; f++) {
        s->flows[f].rate = -1;
        for (int u = 0; u < s->flows[f].nuse; u++) {
            struct share_resource *r = &s->resources[s->flows[f].use[u]];

            if (!r->listed) {
                *r = (struct share_resource){ .capacity = r->capacity, .left = r->capacity, .listed = 1 };
                s->space->list[s->nlist++] = s->flows[f].use[u];
            }
            r->weight += s->flows[f].weight[u] * s->flows[f].share;
            r->unset++;
        }
    }
    for (int i = 0; i < s->nlist; i++) {
        struct share_resource *r = &s->resources[s->space->list[i]];

        r->first = r->end = used;
        used += r->unset;
    }
    for (int f = 0; f < n; f++)
        for (int u = 0; u < s->flows[f].nuse; u++)
            s->space->users[s->resources[s->flows[f].use[u]].end++] = f;
}

/* ---------------------------------------------------------------- the heap of limits */

static double level_of(const struct filling *s, int f)
{
    return s->flows[f].limit / s->flows[f].share;
}

static void sink(const struct filling *s, int i)
{
    int *heap = s->space->heap, f = heap[i];

    for (int kid = 2 * i + 1; kid < s->nheap; kid = 2 * i + 1) {
        kid += kid + 1 < s->nheap && level_of(s, heap[kid + 1]) < level_of(s, heap[kid]);
        if (level_of(s, f) <= level_of(s, heap[kid]))
            break;
        heap[i] = heap[kid];
        i = kid;
    }
    heap[i] = f;
}

static void heap_limits(struct filling *s, int n)
{
    for (int f = 0; f < n; f++)
        if (s->flows[f].limit < INFINITY)
            s->space->heap[s->nheap++] = f;
    for (int i = s->nheap / 2 - 1; i >= 0; i--)
        sink(s, i);
}

static void drop_top(struct filling *s)
{
    s->space->heap[0] = s->space->heap[--s->nheap];
    if (s->nheap)
        sink(s, 0);
}

/* ---------------------------------------------------------------- stopping */

static void set_rate(struct filling *s, int f, double rate)
{
    struct share_flow *flow = &s->flows[f];

    flow->rate = rate;
    s->left--;
    for (int u = 0; u < flow->nuse; u++) {
        struct share_resource *r = &s->resources[flow->use[u]];

        r->left = fmax(r->left - rate * flow->weight[u], 0);
        r->weight -= flow->weight[u] * flow->share;
        r->unset--;
    }
}

/* The level at which the next resource is full. */
static double next_full(const struct filling *s)
{
    double level = INFINITY;

    for (int i = 0; i < s->nlist; i++) {
        const struct share_resource *r = &s->resources[s->space->list[i]];

        if (r->unset)
            level = fmin(level, r->left / r->weight);
    }
    return level;
}

/* Limits below leave more to the others, so that the level at which a resource is full only rises. */
static int stop_at_limits(struct filling *s, double level)
{
    int before = s->left;

    while (s->nheap > 0) {
        int f = s->space->heap[0];

        if (s->flows[f].rate < 0) {
            if (level_of(s, f) > level * (1 + SAME))
                break;
            set_rate(s, f, s->flows[f].limit);
        }
        drop_top(s);
    }
    return before - s->left;
}

/* In two passes, for to stop a flow changes what its other resources have left. */
static void stop_at_full(struct filling *s, double level)
{
    for (int i = 0; i < s->nlist; i++) {
        struct share_resource *r = &s->resources[s->space->list[i]];

        if (r->unset && r->left / r->weight <= level * (1 + SAME))
            r->listed = 2;
    }
    for (int i = 0; i < s->nlist; i++) {
        struct share_resource *r = &s->resources[s->space->list[i]];

        for (int k = r->first; r->listed == 2 && k < r->end; k++)
            if (s->flows[s->space->users[k]].rate < 0)
                set_rate(s, s->space->users[k], level * s->flows[s->space->users[k]].share);
        r->listed = 1;
    }
}

/* Resources that all users have stopped at need not be looked at again. */
static void shorten_list(struct filling *s)
{
    int kept = 0;

    for (int i = 0; i < s->nlist; i++) {
        struct share_resource *r = &s->resources[s->space->list[i]];

        if (r->unset)
            s->space->list[kept++] = s->space->list[i];
        else
            r->listed = 0;
    }
    s->nlist = kept;
}

void share_rates(struct share_flow *flows, int n, struct share_resource *resources, const struct share_space *space)
{
    struct filling s = { .flows = flows, .resources = resources, .space = space, .left = n };

    list_resources(&s, n);
    heap_limits(&s, n);
    while (s.left > 0) {
        double level = next_full(&s);

        if (!stop_at_limits(&s, level))
            stop_at_full(&s, level);
        shorten_list(&s);
    }
}
