/* space.c - options, rows and the list of the best; see space.h for the contracts */
#include "plan/space.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int plan_space_init(struct plan_space *s, const struct hrun_plan_problem *problem, int keep_rows,
                    struct hrun_error *err)
{
    const struct hrun_oracle *oracle = problem->oracle;
    double max_P = 0;
    int o = 0;

    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->oracle = oracle;
    s->objective = problem->objective ? problem->objective : &hrun_objectives[HRUN_OBJECTIVE_TIME];
    s->subs = problem->subs;
    s->nsubs = oracle->nsubs;
    s->nopt = oracle->noptions;
    s->first = xcalloc((size_t)s->nsubs + 1, sizeof *s->first);
    s->full = xcalloc((size_t)s->nopt + 1, sizeof *s->full);
    for (int i = 0; i < s->nsubs; i++) {
        s->first[i] = o;
        for (; o < s->nopt && oracle->options[o].sub == i; o++)
            s->full[o] = (long)s->subs[i].npes * oracle->options[o].m;
        if (o > s->first[i])
            max_P += (double)s->full[o - 1];
    }
    s->first[s->nsubs] = o;
    if (max_P > PLAN_MAX_P)
        return hrun_fail(err, HRUN_EINVAL, "up to %.0f processes are possible; at most %d can be searched: "
                         "allow fewer processes per PE or fewer PEs", max_P, PLAN_MAX_P);
    s->max_P = (int)max_P;
    if (keep_rows)
        s->rows = xcalloc((size_t)s->max_P + 1, sizeof *s->rows);
    return 0;
}

void plan_space_release(struct plan_space *s)
{
    for (int P = 0; s->rows && P <= s->max_P; P++)
        free(s->rows[P]);
    free(s->rows);
    free(s->last);
    free(s->first);
    free(s->full);
    memset(s, 0, sizeof *s);
}

double plan_space_cells(const struct plan_space *s)
{
    return (double)s->max_P * s->nopt;
}

double plan_space_total(const struct plan_space *s)
{
    double total = 1;

    for (int i = 0; i < s->nsubs; i++)
        total *= 1 + (double)s->subs[i].npes * (s->first[i + 1] - s->first[i]);
    return total - 1;
}

double plan_value(const struct plan_space *s, double time_s)
{
    static const struct hrun_config none = { 0 };

    return s->objective->value(time_s, &none, s->subs);
}

static int row_fill(const struct plan_space *s, struct plan_row *row, int P, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = s->oracle;
    int is_time = s->objective == &hrun_objectives[HRUN_OBJECTIVE_TIME], rule;
    double bytes = 0;

    row->P = 0;
    rule = oracle->rule(oracle->ctx, P, err);
    if (rule < 0)
        return -1;
    row->rule = rule > 0;
    row->P = P;
    if (!row->rule)
        return 0;
    if ((oracle->memory && oracle->memory(oracle->ctx, P, &bytes, err)) ||
        oracle->times(oracle->ctx, P, row->t, err)) {
        row->P = 0;
        return -1;
    }
    for (int o = 0; o < s->nopt; o++) {
        const struct hrun_option *option = &oracle->options[o];
        double memory = s->subs[option->sub].memory_bytes, t = row->t[o], v;

        row->v[o] = INFINITY;
        /* NaN bytes fit nowhere. */
        if (memory > 0 && !(option->m * bytes <= memory)) {
            row->state[o] = PLAN_MEMORY;
            continue;
        }
        row->state[o] = PLAN_MODEL;
        if (!(isfinite(t) && t > 0))
            continue;
        v = is_time || !s->objective->separable ? t : plan_value(s, t);
        if (!isfinite(v))
            continue;
        row->state[o] = PLAN_USABLE;
        row->v[o] = v;
    }
    return 0;
}

const struct plan_row *plan_space_row(struct plan_space *s, int P, struct hrun_error *err)
{
    struct plan_row **slot = s->rows ? &s->rows[P] : &s->last;

    if (!*slot) {       /* one block: the struct, t, v, state */
        *slot = xcalloc(1, sizeof **slot + (size_t)s->nopt * (2 * sizeof(double) + 1));
        (*slot)->t = (double *)(*slot + 1);
        (*slot)->v = (*slot)->t + s->nopt;
        (*slot)->state = (unsigned char *)((*slot)->v + s->nopt);
    }
    if ((*slot)->P != P && row_fill(s, *slot, P, err))
        return NULL;
    return *slot;
}

void plan_best_release(struct plan_best *b)
{
    for (int i = 0; i < b->n; i++)
        free(b->v[i]);
    free(b->v);
    b->v = NULL;
    b->n = b->cap = 0;
}

double plan_best_worst(const struct plan_best *b)
{
    return b->n < b->top ? INFINITY : b->v[b->n - 1]->value;
}

int plan_best_takes(const struct plan_best *b, const struct hrun_choice *c)
{
    return b->n < b->top || plan_choice_compare(c, b->v[b->n - 1]) < 0;
}

const struct hrun_known *plan_known_find(const struct hrun_known *known, int n, const struct hrun_config *config)
{
    for (int i = 0; i < n; i++)
        if (hrun_config_equal(&known[i].config, config))
            return &known[i];
    return NULL;
}

void plan_best_add(struct plan_best *b, const struct hrun_choice *c)
{
    struct hrun_choice *copy;
    int lo = 0, hi;

    if (!plan_best_takes(b, c))
        return;
    copy = b->n == b->top ? b->v[--b->n] : xmalloc(sizeof *copy);
    *copy = *c;
    hrun_grow(b->v, b->n + 1, b->cap);
    hi = b->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (plan_choice_compare(c, b->v[mid]) < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    memmove(b->v + lo + 1, b->v + lo, (size_t)(b->n - lo) * sizeof *b->v);
    b->v[lo] = copy;
    b->n++;
}

int plan_choice_compare(const struct hrun_choice *a, const struct hrun_choice *b)
{
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->npes != b->npes)
        return a->npes < b->npes ? -1 : 1;
    return hrun_config_order(&a->config, &b->config);
}

void plan_choice_time(const struct plan_space *s, const double *t, struct hrun_choice *c)
{
    int o = 0;

    c->time_s = 0;
    c->limiting = -1;
    for (int i = 0; i < s->nsubs; i++) {
        if (c->config.pes[i] == 0)
            continue;
        for (o = s->first[i]; s->oracle->options[o].m != c->config.procs[i]; o++)
            ;
        if (c->limiting < 0 || t[o] > c->time_s) {
            c->time_s = t[o];
            c->limiting = i;
        }
    }
}

int plan_choice_look(const struct plan_space *s, const double *t, struct hrun_choice *c, struct hrun_error *err)
{
    const struct hrun_oracle *o = s->oracle;

    plan_choice_time(s, t, c);
    if (o->whole) {
        if (o->whole(o->ctx, &c->config, c->P, &c->time_s, &c->limiting, err))
            return -1;
        if (!(c->time_s > 0))
            return hrun_fail(err, HRUN_ENONFINITE, "the model gives no usable time at %d processes as a whole", c->P);
    }
    c->value = isfinite(c->time_s) ? s->objective->value(c->time_s, &c->config, s->subs) : INFINITY;
    return 0;
}

double plan_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void plan_best_move(struct plan_best *b, struct hrun_plan *p)
{
    p->n = b->n;
    p->v = xcalloc((size_t)b->n + 1, sizeof *p->v);
    for (int i = 0; i < b->n; i++)
        p->v[i] = *b->v[i];
    plan_best_release(b);
}

int plan_finish(struct plan_space *s, struct plan_best *best, const struct hrun_plan_counts *counts,
                double started_s, struct hrun_plan **out, struct hrun_error *err)
{
    if (best->n == 0)
        return plan_fail_infeasible(s, counts, err);
    *out = xcalloc(1, sizeof **out);
    **out = (struct hrun_plan){ .counts = *counts, .exact = 1, .search_s = plan_clock() - started_s };
    plan_best_move(best, *out);
    return 0;
}

void hrun_plan_destroy(struct hrun_plan *p)
{
    if (!p)
        return;
    free(p->v);
    free(p);
}
