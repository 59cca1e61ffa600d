/* search_nonseparable.c - the search of a model that is not separable; see search_nonseparable.h for the contracts
 *
 * Parts. If the oracle bounds parts of configurations (oracle->part), a few configurations of several P are looked at
 * first, for a good list. Then, for each P in the order of its least separable bound, branch and bound visits the
 * configurations that may still enter the list, sub-cluster by sub-cluster.
 * Bounds. Otherwise configurations are looked at in the order of their separable lower bound, which the fast search
 * lists. If a bound is above the last value in the full list, no later configuration can enter that list. Each list of
 * the fast search is four times as long as the one before, so all together cost little more than the last.
 * Shares. If the oracle has unequal shares of work, search_shares.c finds the least time first, then the rest of the
 * list. Parts and bounds are used only if search_shares.c finds nothing.
 * Neighbours. If none of these proves the list, the remaining looks go to neighbours of the best configuration found:
 * other numbers of PEs and processes on one sub-cluster, or on two whose sum of processes is constant.
 *
 * Proof. A proof that V is the best value needs a look at each configuration whose bound is below V, or a better bound
 * of it. With separable bounds alone these are too many if V is a few per cent above the least bound: all numbers of
 * PEs that give P, for each choice of M. A bound of a part excludes all configurations that begin with the part. The
 * reported gap is the relative distance of V from the least bound of the configurations neither looked at nor excluded.
 */
#include "plan/search_nonseparable.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The P of the first looks grow by the fraction 1/STEPS. */
enum { STEPS = 8 };

int plan_walk_look(struct plan_walk *w, const struct plan_row *row, struct hrun_error *err)
{
    if (plan_known_find(w->looks->known, w->looks->nknown, &w->c.config)) {
        w->c.value = INFINITY;
        return 0;
    }
    if (plan_choice_look(&w->space, row->t, &w->c, err))
        return -1;
    w->n++;
    if (isfinite(w->c.value))
        plan_best_add(&w->best, &w->c);
    return 0;
}

int plan_walk_is_listed(const struct plan_walk *w)
{
    for (int k = 0; k < w->best.n; k++)
        if (hrun_config_equal(&w->c.config, &w->best.v[k]->config))
            return 1;
    return 0;
}

int plan_walk_may_enter(const struct plan_walk *w, int known, long rest, int most_m, double value)
{
    const struct plan_best *best = &w->best;
    const struct hrun_choice *c = &w->c, *last;
    long npes = c->npes + (rest + most_m - 1) / most_m;

    if (best->n < best->top || value != plan_best_worst(best))
        return value <= plan_best_worst(best);
    last = best->v[best->n - 1];
    if (npes != last->npes)
        return npes < last->npes;
    for (int i = 0; i < known; i++) {
        if (c->config.pes[i] != last->config.pes[i])
            return c->config.pes[i] < last->config.pes[i];
        if (c->config.procs[i] != last->config.procs[i])
            return c->config.procs[i] < last->config.procs[i];
    }
    return 1;
}

/* ------------------------------------------------------------------ in the order of the bounds */

/* Look at the configurations of `listed` from index *seen on, in the order of their bounds. *done: 1 if no later one
 * can enter the list of the best. *bound: lower bound of the values of those not looked at. */
static int look_at_list(struct plan_walk *w, const struct hrun_plan *listed, int *seen, int *done, double *bound,
                        struct hrun_error *err)
{
    const struct hrun_choice *v = listed->v;

    *done = 0;
    for (int k = *seen; k < listed->n; *seen = ++k) {
        const struct plan_row *row;

        *bound = fmax(*bound, v[k].value);
        if (v[k].value > plan_best_worst(&w->best)) {
            *done = 1;
            return 0;
        }
        if (w->n >= w->most)
            return 0;
        row = plan_space_row(&w->space, v[k].P, err);
        if (!row)
            return -1;
        w->c = v[k];
        if (plan_walk_look(w, row, err))
            return -1;
    }
    return 0;
}

/* List the `top` best configurations by their separable bound, and as many more as are known, with P processes (0:
 * any). */
static int list_by_lower_bound(const struct plan_walk *w, int P, int top, struct hrun_plan **out,
                               struct hrun_error *err)
{
    struct hrun_oracle separable = *w->space.oracle;
    struct hrun_plan_problem lower = *w->space.problem;

    separable.whole = NULL;
    lower.oracle = &separable;
    lower.P = P;
    return plan_search_tuned(&lower, top + w->looks->nknown, &plan_tuning_default, out, err);
}

/* Length of the first list. */
static int first_top(const struct plan_walk *w)
{
    return w->looks->first > w->best.top ? w->looks->first : w->best.top;
}

static int search_by_bound(struct plan_walk *w, struct hrun_plan_counts *counts, int *exact, double *bound,
                           struct hrun_error *err)
{
    int seen = 0, all = 0, top = first_top(w);

    for (*exact = 0; !*exact && !all && w->n < w->most; top *= 4) {
        struct hrun_plan *p;
        int rc;

        if (list_by_lower_bound(w, w->space.problem->P, top, &p, err))
            return -1;
        *counts = p->counts;
        rc = look_at_list(w, p, &seen, exact, bound, err);
        all = p->n < top + w->looks->nknown && seen == p->n;
        hrun_plan_destroy(p);
        if (rc)
            return -1;
    }
    *exact |= all;
    return 0;
}

/* For some P in ascending order, because few processes are quick to look at, look at the best configurations by their
 * bound. */
static int search_by_processes(struct plan_walk *w, long most, struct hrun_error *err)
{
    int only = w->space.problem->P, done, seen, next = only ? only : 1, each = first_top(w);
    double bound = 0;

    for (int P = next; P <= (only ? only : w->space.max_P); P = P < next ? next : P + 1) {
        const struct plan_row *row = plan_space_row(&w->space, P, err);
        struct hrun_error none;
        struct hrun_plan *p;
        int rc;

        if (!row)
            return -1;
        if (!row->rule || list_by_lower_bound(w, P, each, &p, &none))
            continue;          /* later searches report errors */
        seen = 0;
        w->most = w->n + each < most ? w->n + each : most;
        rc = look_at_list(w, p, &seen, &done, &bound, err);
        hrun_plan_destroy(p);
        if (rc)
            return -1;
        next = P + 1 + P / STEPS;
    }
    return 0;
}

/* ------------------------------------------------------------------ neighbours */

/* Look at w->c, whose P and npes are not set yet, if it is valid, not listed, and its bound is below the value of
 * w->from. */
static int look_at_neighbour(struct plan_walk *w, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    const struct plan_row *row;
    struct hrun_choice *c = &w->c;
    double value = 0;

    if (w->n >= w->most)
        return 0;
    c->P = hrun_config_processes(&c->config);
    c->npes = hrun_config_all_pes(&c->config);
    if (c->P < 1 || (s->problem->P && c->P != s->problem->P))
        return 0;
    row = plan_space_row(&w->space, c->P, err);
    if (!row)
        return -1;
    if (!row->rule)
        return 0;
    for (int i = 0; i < s->nsubs; i++)
        for (int o = s->first[i]; c->config.pes[i] && o < s->first[i + 1]; o++)
            if (s->oracle->options[o].m == c->config.procs[i])
                value = fmax(value, row->v[o]);   /* infinite if not usable */
    if (!(value < w->from.value))
        return 0;
    if (plan_walk_is_listed(w))
        return 0;
    if (plan_walk_look(w, row, err))
        return -1;
    w->moved |= c->value < w->from.value;
    return 0;
}

/* Look at the variants of w->c in which sub-cluster j compensates the change of processes on sub-cluster i. */
static int look_at_compensated(struct plan_walk *w, int i, int j, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    int left = w->from.P - w->c.config.pes[i] * w->c.config.procs[i];

    for (int k = 0; k < s->nsubs; k++)
        left -= k == i || k == j ? 0 : w->from.config.pes[k] * w->from.config.procs[k];
    if (left < 0)
        return 0;
    if (left == 0) {
        w->c.config.pes[j] = w->c.config.procs[j] = 0;
        return look_at_neighbour(w, err);
    }
    for (int o = s->first[j]; o < s->first[j + 1]; o++) {
        int m = s->oracle->options[o].m;

        if (left % m || left / m > s->subs[j].npes)
            continue;
        w->c.config.pes[j] = left / m;
        w->c.config.procs[j] = m;
        if (look_at_neighbour(w, err))
            return -1;
    }
    return 0;
}

/* Look at w->from with `pes` PEs of m processes on sub-cluster i: alone, and with compensation by each other one. */
static int look_at_pes(struct plan_walk *w, int i, int pes, int m, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;

    if (pes < 0 || pes > s->subs[i].npes || (pes == w->from.config.pes[i] && m == w->from.config.procs[i]))
        return 0;
    for (int j = -1; j < s->nsubs; j++) {
        w->c = w->from;
        w->c.config.pes[i] = pes;
        w->c.config.procs[i] = pes ? m : 0;
        if (j != i && (j < 0 ? look_at_neighbour(w, err) : look_at_compensated(w, i, j, err)))
            return -1;
    }
    return 0;
}

/* Look at the changes of sub-cluster i: its PEs by steps of powers of two, to none and to all, with each m. */
static int look_at_sub_changes(struct plan_walk *w, int i, struct hrun_error *err)
{
    const struct plan_space *s = &w->space;
    int have = w->from.config.pes[i], most = s->subs[i].npes;

    if (have && look_at_pes(w, i, 0, 0, err))
        return -1;
    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        int m = s->oracle->options[o].m;

        if ((have && look_at_pes(w, i, have, m, err)) || (have != most && look_at_pes(w, i, most, m, err)))
            return -1;
        for (int step = 1; step < most; step *= 2)
            if ((have + step < most && look_at_pes(w, i, have + step, m, err)) ||
                (have - step > 0 && look_at_pes(w, i, have - step, m, err)))
                return -1;
    }
    return 0;
}

/* Look at the neighbours of the best configuration, repeatedly while this finds a better one and looks are left. */
static int search_neighbours(struct plan_walk *w, struct hrun_error *err)
{
    do {
        if (!w->best.n)
            return 0;
        w->from = *w->best.v[0];
        w->moved = 0;
        for (int i = 0; i < w->space.nsubs; i++)
            if (look_at_sub_changes(w, i, err))
                return -1;
    } while (w->moved && w->n < w->most);
    return 0;
}

/* ------------------------------------------------------------------ by parts of configurations */

struct parts {
    struct plan_walk *w;
    const struct plan_row *row;
    long *held;            /* nsubs + 1: largest number of processes on sub-clusters k.. with options that may enter */
    int most_m;            /* the largest m of these options */
    long left;             /* remaining bounds of parts */
};

/* A P whose bound allows entries into the list. */
struct entrance {
    double bound;
    int P;
};

static int compare_entrances(const void *a, const void *b)
{
    const struct entrance *x = a, *y = b;

    return x->bound != y->bound ? (x->bound > y->bound) - (x->bound < y->bound) : x->P - y->P;
}

static int list_by_parts(struct parts *s, int k, long rest, double value, struct hrun_error *err);

/* If the bound of the pairs of w->c up to sub-cluster k allows, list the configurations that begin with these pairs and
 * have `rest` processes on later sub-clusters. value: a lower bound of their values. */
static int list_by_bound(struct parts *s, int k, long rest, double value, struct hrun_error *err)
{
    struct plan_walk *w = s->w;
    const struct hrun_oracle *oracle = w->space.oracle;
    double time_s;

    if (s->left-- <= 0)
        return 0;
    if (oracle->part(oracle->ctx, &w->c.config, k + 1, s->row->P, &time_s, err))
        return -1;
    value = fmax(value, plan_value(&w->space, time_s));
    return plan_walk_may_enter(w, k + 1, rest, s->most_m, value) ? list_by_parts(s, k + 1, rest, value, err) : 0;
}

/* List the configurations that have the pairs of w->c before sub-cluster k and `rest` processes from k on. value: a
 * lower bound of their values. */
static int list_by_parts(struct parts *s, int k, long rest, double value, struct hrun_error *err)
{
    struct plan_walk *w = s->w;
    const struct plan_space *space = &w->space;

    if (rest == 0) {
        int npes = w->c.npes, rc;

        w->c.P = s->row->P;
        s->left -= w->n >= w->most ? s->left : 0;
        rc = s->left > 0 && !plan_walk_is_listed(w) ? plan_walk_look(w, s->row, err) : 0;
        w->c.npes = npes;
        return rc;
    }
    if (k == space->nsubs || rest > s->held[k])
        return 0;
    for (int o = space->first[k]; o < space->first[k + 1]; o++) {
        long m = space->oracle->options[o].m, least = rest > s->held[k + 1] ? (rest - s->held[k + 1] + m - 1) / m : 1;

        for (long p = rest / m < space->subs[k].npes ? rest / m : space->subs[k].npes; p >= least; p--) {
            if (s->row->v[o] > plan_best_worst(&w->best) || s->row->v[o] == INFINITY)
                continue;
            w->c.config.pes[k] = (int)p;
            w->c.config.procs[k] = (int)m;
            w->c.npes += (int)p;
            if (list_by_bound(s, k, rest - p * m, fmax(value, s->row->v[o]), err))
                return -1;
            w->c.npes -= (int)p;
        }
    }
    w->c.config.pes[k] = w->c.config.procs[k] = 0;
    return list_by_parts(s, k + 1, rest, value, err);
}

/* Set v to the P with configurations that may enter the list, by ascending bound. Result: their number, or -1. */
static int list_entrances(struct plan_walk *w, struct entrance *v, struct hrun_error *err)
{
    struct plan_space *s = &w->space;
    int n = 0;

    for (int P = s->problem->P ? s->problem->P : 1; P <= (s->problem->P ? s->problem->P : s->max_P); P++) {
        const struct plan_row *row = plan_space_row(s, P, err);
        double least = INFINITY;

        if (!row)
            return -1;
        for (int o = 0; o < s->nopt && row->rule; o++)
            if (row->v[o] < least && plan_has_capacity(s, row->v, row->v[o], P, P))
                least = row->v[o];
        if (least < INFINITY && least <= plan_best_worst(&w->best))
            v[n++] = (struct entrance){ least, P };
    }
    if (n)
        qsort(v, (size_t)n, sizeof *v, compare_entrances);
    return n;
}

/* Search by parts. *exact: 1 if the list is proven; *bound: lower bound of the values that were left out. */
static int search_by_parts(struct plan_walk *w, int *exact, double *bound, struct hrun_error *err)
{
    struct plan_space *s = &w->space;
    autofree struct entrance *v = xmalloc(((size_t)s->max_P + 1) * sizeof *v);
    autofree long *held = xcalloc((size_t)s->nsubs + 1, sizeof *held);
    struct parts parts = { .w = w, .held = held, .left = w->looks->parts };
    int n = list_entrances(w, v, err);

    *exact = 0;
    for (int i = 0; i < n && parts.left > 0 && v[i].bound <= plan_best_worst(&w->best); i++) {
        parts.row = plan_space_row(s, v[i].P, err);
        *bound = fmax(*bound, v[i].bound);
        parts.most_m = 1;
        for (int k = s->nsubs - 1; k >= 0; k--) {
            long most = 0;

            for (int o = s->first[k]; o < s->first[k + 1]; o++)
                if (parts.row->v[o] <= plan_best_worst(&w->best) && parts.row->v[o] < INFINITY && s->full[o] > 0) {
                    most = s->full[o] > most ? s->full[o] : most;
                    parts.most_m = s->oracle->options[o].m > parts.most_m ? s->oracle->options[o].m : parts.most_m;
                }
            parts.held[k] = parts.held[k + 1] + most;
        }
        w->c = (struct hrun_choice){ .config.nsubs = s->nsubs };
        if (list_by_parts(&parts, 0, v[i].P, 0, err))
            return -1;
    }
    *exact = n >= 0 && parts.left > 0;
    return n < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------ the search */

/* The search by parts keeps all rows; limit of their (P, option) cells. */
static const double CELLS_MOST = 200000;

static void walk_release(struct plan_walk *w)
{
    plan_best_release(&w->best);
    plan_space_release(&w->space);
}

int plan_search_whole(const struct hrun_plan_problem *problem, int top, const struct plan_looks *looks,
                      struct hrun_plan **out, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { 0 };
    long bounded = top > looks->bounded ? top : looks->bounded, all = bounded + looks->local;
    autorelease(walk_release) struct plan_walk w = { .looks = looks, .most = bounded, .best = { .top = top } };
    double started = plan_clock(), bound = 0, least = 0;
    int done = 0, exact, shared;

    if (plan_space_init(&w.space, problem, 0, err))
        return -1;
    if ((problem->oracle->part || problem->oracle->lines) && plan_space_cells(&w.space) <= CELLS_MOST)
        w.space.rows = xcalloc((size_t)w.space.max_P + 1, sizeof *w.space.rows);
    if (problem->oracle->lines) {
        w.most = all;
        if (plan_search_shares(&w, &done, &least, err))
            return -1;
        bound = least > 0 ? plan_value(&w.space, least) : 0;
        w.most = bounded;
    }
    shared = w.best.n || done || least == INFINITY;
    if (!shared && problem->oracle->part && w.space.rows && search_by_processes(&w, all, err))
        return -1;
    if ((w.best.n || shared) && plan_count(&w.space, PLAN_COUNT_LIMIT, &counts, err))
        return -1;
    if (w.best.n)
        w.most = all;
    if (!shared && (w.best.n ? search_by_parts(&w, &done, &bound, err)
                             : search_by_bound(&w, &counts, &done, &bound, err)))
        return -1;
    exact = done || (shared && w.best.n && w.best.v[0]->value <= bound);
    w.most = all;
    if (!done && (!exact || w.best.n < top) && search_neighbours(&w, err))
        return -1;
    exact |= shared && w.best.n && w.best.v[0]->value <= bound;
    if (!w.best.n) {            /* no configuration that was looked at is usable */
        counts.excluded_memory += counts.valid;
        counts.valid = 0;
    }
    if (plan_finish(&w.space, &w.best, &counts, started, out, err))
        return -1;
    (*out)->exact = exact;
    (*out)->evaluated = w.n;
    if (!exact)
        (*out)->gap = bound > 0 ? fmax((*out)->v[0].value / bound - 1, 0) : INFINITY;
    return 0;
}
