/* intervals.c - which P are looked at, and in which order; see search.h for the contract */
#include "plan/search.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

struct plan_node {
    double bound;
    int lo, hi;    /* an interval of P */
    int scanned;   /* 1: the rule's answers for it are in `accepted`, and lo and hi are accepted */
};

static int node_before(const struct plan_node *a, const struct plan_node *b)
{
    return a->bound != b->bound ? a->bound < b->bound : a->lo < b->lo;
}

int plan_intervals_accept(const struct plan_intervals *v, int P)
{
    return (int)(v->accepted[P >> 6] >> (P & 63) & 1);
}

/* Put lo..hi into the heap unless its bound excludes it. */
static int push_interval(struct plan_intervals *v, int lo, int hi, int scanned, struct hrun_error *err)
{
    struct plan_node node = { 0, lo, hi, scanned };
    int at;

    if (v->bound(v->ctx, lo, hi, scanned, &node.bound, err))
        return -1;
    if (node.bound == INFINITY)
        return 0;
    hrun_grow(v->heap, v->nheap + 1, v->heap_cap);
    for (at = v->nheap++; at > 0 && node_before(&node, &v->heap[(at - 1) / 2]); at = (at - 1) / 2)
        v->heap[at] = v->heap[(at - 1) / 2];
    v->heap[at] = node;
    return 0;
}

static struct plan_node pop_interval(struct plan_intervals *v)
{
    struct plan_node first = v->heap[0], item = v->heap[--v->nheap];
    int at = 0;

    for (;;) {
        int child = 2 * at + 1;
        if (child >= v->nheap)
            break;
        if (child + 1 < v->nheap && node_before(&v->heap[child + 1], &v->heap[child]))
            child++;
        if (!node_before(&v->heap[child], &item))
            break;
        v->heap[at] = v->heap[child];
        at = child;
    }
    v->heap[at] = item;
    return first;
}

/* Split a node of which the rule's answers are known into two of equally many accepted P, or look at
 * each P. */
static int split_scanned(struct plan_intervals *v, int lo, int hi, struct hrun_error *err)
{
    int count = 0, seen = 0, last = 0, P;

    for (P = lo; P <= hi; P++)
        count += plan_intervals_accept(v, P);
    if (count <= v->tuning.leaf) {
        for (P = lo; P <= hi; P++)
            if (plan_intervals_accept(v, P) && v->look(v->ctx, P, err))
                return -1;
        return 0;
    }
    for (P = lo; seen <= count / 2; P++) {
        if (!plan_intervals_accept(v, P))
            continue;
        if (seen == 0)
            lo = P;
        if (seen < count / 2)
            last = P;
        seen++;
    }
    while (!plan_intervals_accept(v, hi))
        hi--;
    return push_interval(v, lo, last, 1, err) || push_interval(v, P - 1, hi, 1, err) ? -1 : 0;
}

static int split_interval(struct plan_intervals *v, const struct plan_node *node, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = v->space->oracle;
    int lo = node->lo, hi = node->hi, mid = lo + (hi - lo) / 2;

    if (node->scanned)
        return split_scanned(v, lo, hi, err);
    if (hi - lo >= v->tuning.rule_block)
        return push_interval(v, lo, mid, 0, err) || push_interval(v, mid + 1, hi, 0, err) ? -1 : 0;
    for (int P = lo; P <= hi; P++) {
        int rule = oracle->rule(oracle->ctx, P, err);

        if (rule < 0)
            return -1;
        if (rule)
            v->accepted[P >> 6] |= (uint64_t)1 << (P & 63);
    }
    while (lo <= hi && !plan_intervals_accept(v, lo))
        lo++;
    while (lo <= hi && !plan_intervals_accept(v, hi))
        hi--;
    if (lo > hi)
        return 0;
    return v->again ? push_interval(v, lo, hi, 1, err) : split_scanned(v, lo, hi, err);
}

int plan_intervals_run(struct plan_intervals *v, struct hrun_error *err)
{
    int only = v->space->problem->P, max_P = v->space->max_P;

    v->least = -INFINITY;
    v->nheap = 0;
    if (only || !v->bound) {
        for (int P = only ? only : 1; P <= (only && only < max_P ? only : max_P); P++)
            if (v->look(v->ctx, P, err))
                return -1;
        return 0;
    }
    free(v->accepted);
    v->accepted = xcalloc((size_t)max_P / 64 + 1, sizeof *v->accepted);
    if (max_P > 0 && push_interval(v, 1, max_P, 0, err))
        return -1;
    while (v->nheap > 0 && v->wants(v->ctx, v->heap[0].bound)) {
        struct plan_node node = pop_interval(v);
        v->least = node.bound;
        if (split_interval(v, &node, err))
            return -1;
    }
    return 0;
}

void plan_intervals_release(struct plan_intervals *v)
{
    free(v->accepted);
    free(v->heap);
    v->accepted = NULL;
    v->heap = NULL;
}
