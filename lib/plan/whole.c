/* whole.c - the search of a model that is not separable; see plan.h and search.h for the contracts
 *
 * Branch and bound over the order of the separable lower bound: what the fast search lists first is looked at first;
 * behind one whose bound is above the last value in the full list none can enter it. Lists are asked for
 * four times as long each time: together they cost hardly more than the last.
 * Where the looks do not suffice, the rest of them goes to the neighbours of the best one found, and of theirs: other
 * numbers of PEs and processes on one sub-cluster, or on two that make up for each other, so that P stays what the
 * rule accepts.
 */
#include "plan/search.h"
#include "plan/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    struct plan_space space;
    struct plan_best best;
    struct hrun_choice c;       /* the one that is looked at */
    struct hrun_choice from;    /* where the walk is */
    const struct plan_looks *looks;
    long n;                     /* looks taken */
    long most;                  /* looks by the order of the bound */
    int moved;
};

static void copy_config(const struct hrun_choice *from, struct hrun_choice *to, int nsubs)
{
    memcpy(to->pes, from->pes, (size_t)nsubs * sizeof *to->pes);
    memcpy(to->procs, from->procs, (size_t)nsubs * sizeof *to->procs);
    to->P = from->P;
    to->npes = from->npes;
}

static int make_room(struct hrun_choice *c, int nsubs)
{
    c->pes = calloc((size_t)nsubs + 1, sizeof *c->pes);
    c->procs = calloc((size_t)nsubs + 1, sizeof *c->procs);
    return c->pes && c->procs ? 0 : -1;
}

/* Look at w->c, whose row this is. */
static int look(struct walk *w, const struct plan_row *row, struct hrun_error *err)
{
    if (plan_choice_look(&w->space, row->t, &w->c, err))
        return -1;
    w->n++;
    return isfinite(w->c.value) ? plan_best_add(&w->best, &w->c, err) : 0;
}

/* ------------------------------------------------------------------ by the order of the bound */

/* Look at v[from..n-1], in order of their bounds. *done: 1 when none behind the last one looked at can enter
 * the list. *bound: the least value that one of those not looked at may have. */
static int look_at_list(struct walk *w, const struct hrun_choice *v, int from, int n, int *done, double *bound,
                        struct hrun_error *err)
{
    *done = 0;
    for (int k = from; k < n; k++) {
        const struct plan_row *row;

        *bound = v[k].value;
        if (!plan_best_wants(&w->best, v[k].value)) {
            *done = 1;
            return 0;
        }
        if (w->n >= w->most)
            return 0;
        row = plan_space_row(&w->space, v[k].P, err);
        if (!row)
            return -1;
        copy_config(&v[k], &w->c, w->space.nsubs);
        if (look(w, row, err))
            return -1;
    }
    return 0;
}

static int by_bound(struct walk *w, const struct hrun_plan_problem *problem, struct hrun_plan_counts *counts,
                    int *exact, double *bound, struct hrun_error *err)
{
    static const struct plan_tuning tuning = PLAN_TUNING_DEFAULT;
    struct hrun_oracle separable = *problem->oracle;
    struct hrun_plan_problem lower = *problem;
    int seen = 0, all = 0, top = w->looks->first > w->best.top ? w->looks->first : w->best.top;

    separable.whole = NULL;
    lower.oracle = &separable;
    for (*exact = 0; !*exact && !all && w->n < w->most; top *= 4) {
        struct hrun_plan *p;

        if (plan_search_tuned(&lower, top, &tuning, NULL, &p, err))
            return -1;
        *counts = p->counts;
        if (look_at_list(w, p->v, seen, p->n, exact, bound, err)) {
            hrun_plan_destroy(p);
            return -1;
        }
        all = p->n < top && w->n == p->n;
        seen = p->n;
        hrun_plan_destroy(p);
    }
    *exact |= all;
    return 0;
}

/* ------------------------------------------------------------------ from neighbour to neighbour */

/* Is w->c, whose numbers are set but for P and npes, a valid configuration that might be better than where the walk is?
 * Then it is looked at. */
static int try(struct walk *w, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    const struct plan_row *row;
    struct hrun_choice *c = &w->c;
    double value = 0;

    if (w->n >= w->most + w->looks->local)
        return 0;
    c->P = c->npes = 0;
    for (int i = 0; i < s->nsubs; i++) {
        c->P += c->pes[i] * c->procs[i];
        c->npes += c->pes[i];
    }
    if (c->P < 1 || (s->problem->P && c->P != s->problem->P))
        return 0;
    row = plan_space_row(&w->space, c->P, err);
    if (!row)
        return -1;
    if (!row->rule)
        return 0;
    for (int i = 0; i < s->nsubs; i++)
        for (int o = s->first[i]; c->pes[i] && o < s->first[i + 1]; o++)
            if (s->oracle->options[o].m == c->procs[i])
                value = fmax(value, row->v[o]);   /* infinite when it cannot be used */
    if (!(value < w->from.value))
        return 0;
    for (int k = 0; k < w->best.n; k++)
        if (!memcmp(c->pes, w->best.v[k].pes, (size_t)s->nsubs * sizeof *c->pes) &&
            !memcmp(c->procs, w->best.v[k].procs, (size_t)s->nsubs * sizeof *c->procs))
            return 0;
    if (look(w, row, err))
        return -1;
    w->moved |= c->value < w->from.value;
    return 0;
}

/* Sub-cluster j makes up for what sub-cluster i has more or less than before, each way there is. */
static int make_up(struct walk *w, int i, int j, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    int left = w->from.P - w->c.pes[i] * w->c.procs[i];

    for (int k = 0; k < s->nsubs; k++)
        left -= k == i || k == j ? 0 : w->from.pes[k] * w->from.procs[k];
    if (left < 0)
        return 0;
    if (left == 0) {
        w->c.pes[j] = w->c.procs[j] = 0;
        return try(w, err);
    }
    for (int o = s->first[j]; o < s->first[j + 1]; o++) {
        int m = s->oracle->options[o].m;

        if (left % m || left / m > s->subs[j].npes)
            continue;
        w->c.pes[j] = left / m;
        w->c.procs[j] = m;
        if (try(w, err))
            return -1;
    }
    return 0;
}

/* Sub-cluster i with `pes` PEs of m processes: alone, and with each other one making up for it. */
static int change(struct walk *w, int i, int pes, int m, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;

    if (pes < 0 || pes > s->subs[i].npes || (pes == w->from.pes[i] && m == w->from.procs[i]))
        return 0;
    for (int j = -1; j < s->nsubs; j++) {
        copy_config(&w->from, &w->c, s->nsubs);
        w->c.pes[i] = pes;
        w->c.procs[i] = pes ? m : 0;
        if (j != i && (j < 0 ? try(w, err) : make_up(w, i, j, err)))
            return -1;
    }
    return 0;
}

/* All changes of sub-cluster i: by steps of powers of two, to none and to all of its PEs. */
static int change_sub(struct walk *w, int i, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    int have = w->from.pes[i], most = s->subs[i].npes;

    if (have && change(w, i, 0, 0, err))
        return -1;
    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        int m = s->oracle->options[o].m;

        if ((have && change(w, i, have, m, err)) || (have != most && change(w, i, most, m, err)))
            return -1;
        for (int step = 1; step < most; step *= 2)
            if ((have + step < most && change(w, i, have + step, m, err)) ||
                (have - step > 0 && change(w, i, have - step, m, err)))
                return -1;
    }
    return 0;
}

/* From the best configuration to a better neighbour, until there is none or no look is left. */
static int by_neighbours(struct walk *w, struct hrun_error *err)
{
    do {
        const struct hrun_choice *first = &w->best.v[0];

        if (!w->best.n)
            return 0;
        copy_config(first, &w->from, w->space.nsubs);
        w->from.value = first->value;
        w->moved = 0;
        for (int i = 0; i < w->space.nsubs; i++)
            if (change_sub(w, i, err))
                return -1;
    } while (w->moved && w->n < w->most + w->looks->local);
    return 0;
}

/* ------------------------------------------------------------------ */

int plan_search_whole(const struct hrun_plan_problem *problem, int top, const struct plan_looks *looks,
                      struct hrun_plan **out, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { 0 };
    struct walk w = { .looks = looks, .most = top > looks->bounded ? top : looks->bounded };
    double started = plan_clock(), bound = 0;
    int rc = -1, exact;

    plan_best_init(&w.best, top, problem->oracle->nsubs);
    if (top < 1) {
        hrun_fail(err, HRUN_EINVAL, "the number of best configurations must be at least 1, not %d", top);
        goto out;
    }
    if (plan_space_init(&w.space, problem, 0, err))
        goto out;
    if (make_room(&w.c, w.space.nsubs) || make_room(&w.from, w.space.nsubs)) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (by_bound(&w, problem, &counts, &exact, &bound, err) || (!exact && by_neighbours(&w, err)))
        goto out;
    if (!w.best.n) {            /* none of what was looked at can be used */
        counts.excluded_memory += counts.valid;
        counts.valid = 0;
    }
    if (plan_finish(&w.space, &w.best, &counts, started, out, err))
        goto out;
    (*out)->exact = exact;
    (*out)->evaluated = w.n;
    if (!exact)
        (*out)->gap = bound > 0 ? fmax((*out)->v[0].value / bound - 1, 0) : INFINITY;
    rc = 0;
out:
    hrun_choice_release(&w.c);
    hrun_choice_release(&w.from);
    plan_best_release(&w.best);
    plan_space_release(&w.space);
    return rc;
}
