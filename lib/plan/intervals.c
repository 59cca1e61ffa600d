/* intervals.c - the order in which P are searched; see search.h for the contract */
#include "plan/search.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

struct plan_node {
    double bound;
    int lo, hi;    /* an interval of P */
    int scanned;   /* 1: `accepted` has the rule's results for the interval, and the rule accepts lo and hi */
};

static int node_before(const struct plan_node *a, const struct plan_node *b)
{
    return a->bound != b->bound ? a->bound < b->bound : a->lo < b->lo;
}

int plan_intervals_accept(const struct plan_intervals *v, int P)
{
    return (int)(v->accepted[P >> 6] >> (P & 63) & 1);
}

/* Insert lo..hi into the open intervals unless its bound is infinite. The insertion is short: the interval that was
 * split had the least bound, so its parts belong near the end. */
static int push_interval(struct plan_intervals *v, int lo, int hi, int scanned, struct hrun_error *err)
{
    struct plan_node node = { 0, lo, hi, scanned };
    int at;

    if (v->bound(v->ctx, lo, hi, scanned, &node.bound, err))
        return -1;
    if (node.bound == INFINITY)
        return 0;
    hrun_grow(v->open, v->nopen + 1, v->open_cap);
    for (at = v->nopen++; at > 0 && node_before(&v->open[at - 1], &node); at--)
        v->open[at] = v->open[at - 1];
    v->open[at] = node;
    return 0;
}

/* Split a scanned interval into two with equal numbers of accepted P, or call look() for each accepted P if they are
 * few. */
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
    v->nopen = 0;
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
    while (v->nopen > 0 && v->wants(v->ctx, v->open[v->nopen - 1].bound)) {
        struct plan_node node = v->open[--v->nopen];

        v->least = node.bound;
        if (split_interval(v, &node, err))
            return -1;
    }
    return 0;
}

void plan_intervals_release(struct plan_intervals *v)
{
    free(v->accepted);
    free(v->open);
    v->accepted = NULL;
    v->open = NULL;
}
