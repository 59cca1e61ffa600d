/* plan_brute.h - all configurations of a table, in their order: the oracle of searches; it shares only structs with
 * lib/plan */
#ifndef HRUN_TESTS_PLAN_BRUTE_H
#define HRUN_TESTS_PLAN_BRUTE_H

#include "plan_table.h"

#include <stdlib.h>

enum { LISTED = 60000 };

struct found {
    int pes[TABLE_SUBS], procs[TABLE_SUBS], npes;
    double value;
};

static struct found found[LISTED];
static int nfound;

static inline int better(const void *a, const void *b)
{
    const struct found *p = a, *q = b;

    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    if (p->npes != q->npes)
        return p->npes - q->npes;
    for (int i = 0; i < TABLE_SUBS; i++) {
        if (p->pes[i] != q->pes[i])
            return p->pes[i] - q->pes[i];
        if (p->procs[i] != q->procs[i])
            return p->procs[i] - q->procs[i];
    }
    return 0;
}

/* Give each configuration of x to add, which calls keep_found where it is valid; then found[nfound] is in order. */
typedef void add_found_fn(const struct hrun_plan_problem *problem, struct found f);

static inline void keep_found(struct found f)
{
    if (nfound == LISTED)
        abort();
    found[nfound++] = f;
}

static inline void find_from(const struct table *x, const struct hrun_plan_problem *problem, add_found_fn *add, int i,
                             struct found *f)
{
    if (i == x->oracle.nsubs) {
        add(problem, *f);
        return;
    }
    f->pes[i] = f->procs[i] = 0;
    find_from(x, problem, add, i + 1, f);
    for (int o = 0; o < x->oracle.noptions; o++)
        for (int p = 1; p <= x->subs[i].npes && x->options[o].sub == i; p++) {
            f->pes[i] = p;
            f->procs[i] = x->options[o].m;
            find_from(x, problem, add, i + 1, f);
        }
    f->pes[i] = f->procs[i] = 0;
}

static inline void brute_force(const struct table *x, const struct hrun_plan_problem *problem, add_found_fn *add)
{
    struct found f;

    memset(&f, 0, sizeof f);
    nfound = 0;
    find_from(x, problem, add, 0, &f);
    if (nfound)
        qsort(found, (size_t)nfound, sizeof *found, better);
}

/* An objective that grows in steps, so that many configurations are alike. */
static inline double value_steps(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    (void)config;
    (void)subs;
    return 1 + floor(time_s / 2);
}

static const struct hrun_objective in_steps = { .name = "steps", .unit = "", .value = value_steps, .separable = 1 };

#endif
