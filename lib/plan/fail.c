/* fail.c - messages for problems without a solution; see space.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"
#include "plan/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the additions for the counts of an error message: about 0.1 s. */
#define ERROR_COUNT_LIMIT 1e8

int plan_fail_infeasible(struct plan_space *s, const struct hrun_plan_counts *known, struct hrun_error *err)
{
    struct hrun_plan_counts c = *known;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    int only = s->problem->P, accepted = 0;

    if (!c.counted && plan_count(s, ERROR_COUNT_LIMIT, &c, err))
        return -1;
    if (only > s->max_P) {
        hrun_buf_addf(&text, "no configuration has %s: at most %d are possible", hrun_counted(only, "process").s,
                      s->max_P);
        return hrun_fail(err, HRUN_EINFEASIBLE, "%s", text.data);
    }
    hrun_buf_adds(&text, "no configuration");
    if (only)
        hrun_buf_addf(&text, " with %s", hrun_counted(only, "process").s);
    hrun_buf_adds(&text, " is valid: ");
    if (c.counted && c.total == 0) {
        hrun_buf_adds(&text, only ? "no choice of PEs and processes per PE gives this number of processes"
                                  : "there are no PEs with a model");
    } else if (c.counted) {
        hrun_buf_addf(&text, "%s%s (rule %s, memory %s, no usable time %s)", hrun_count(c.total).s,
                      c.total == 1 ? " configuration, excluded" : " configurations, all excluded",
                      hrun_count(c.excluded_rule).s, hrun_count(c.excluded_memory).s, hrun_count(c.excluded_model).s);
        if (c.excluded_rule >= c.excluded_memory && c.excluded_rule >= c.excluded_model)
            hrun_buf_adds(&text, "; choose a size or a number of processes that the rule accepts");
        else if (c.excluded_memory >= c.excluded_model && s->oracle->lines)
            hrun_buf_addf(&text, "; however the work is dealt out, it does not fit into the memory: choose a smaller "
                          "size%s", only ? " or more processes" : "");
        else if (c.excluded_memory >= c.excluded_model)
            hrun_buf_adds(&text, "; choose a smaller size or fewer processes per PE");
        else
            hrun_buf_adds(&text, "; the models give no usable time, calibrate nearer to this size");
    } else {
        int from = only ? only : 1, to = only ? only : s->max_P;
        for (int P = from; P <= to; P++) {
            int rule = s->oracle->rule(s->oracle->ctx, P, err);
            if (rule < 0)
                return -1;
            accepted += rule > 0;
        }
        hrun_buf_addf(&text, "%s configurations%s, too many to count by reason; the rule accepts %d of %d numbers of "
                      "processes%s", hrun_count(c.total).s, only ? " of any number of processes" : "", accepted,
                      to - from + 1, accepted ? ", but for these no configuration fits into memory and has a usable "
                      "time" : "");
    }
    return hrun_fail(err, HRUN_EINFEASIBLE, "%s", text.data);
}

/* ------------------------------------------------------------------ the least excess over the limits */

enum { TIME, COST, ENERGY, PES, NKINDS };

/* The least value of each kind. all: over all configurations. others: over those within all limits of other kinds. */
struct least {
    const struct hrun_known *known;
    int nknown;
    double limit[NKINDS];      /* INFINITY: none */
    double all[NKINDS], others[NKINDS];
    double excess;             /* least over configurations of their largest value / limit */
};

static const struct {
    const char *limit, *figure;
} words[NKINDS] = {
    { "at most ", "the quickest takes " },
    { "a cost of at most ", "the cheapest costs " },
    { "at most ", "the thriftiest takes " },
    { "at most ", "the smallest uses " },
};

static void set_kind_values(const struct plan_space *s, const struct hrun_choice *c, double time_s, double *v)
{
    v[TIME] = time_s;
    v[COST] = hrun_plan_cost(time_s, &c->config, s->subs);
    v[ENERGY] = hrun_plan_energy(time_s, &c->config, s->subs);
    v[PES] = c->npes;
}

/* Include the values v in the least ones. Result: 1 if a least value changed, else 0. */
static int update_least(struct least *l, const double *v)
{
    const struct least before = *l;
    double worst = 0;
    int over = 0, at = 0;

    for (int k = 0; k < NKINDS; k++) {
        worst = isfinite(l->limit[k]) ? fmax(worst, v[k] / l->limit[k]) : worst;
        if (v[k] > l->limit[k]) {
            over++;
            at = k;
        }
        l->all[k] = fmin(l->all[k], v[k]);
    }
    for (int k = 0; k < NKINDS; k++)
        if (!over || (over == 1 && at == k))
            l->others[k] = fmin(l->others[k], v[k]);
    l->excess = fmin(l->excess, worst);
    return l->excess < before.excess || memcmp(before.all, l->all, sizeof before.all) ||
           memcmp(before.others, l->others, sizeof before.others);
}

/* Include c in the least values. c is looked at only if time_s, a lower bound of its time, would change any. */
static int lower_least(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                       struct hrun_error *err)
{
    struct least *l = ctx, bound = *l;
    const struct hrun_known *known = plan_known_find(l->known, l->nknown, &c->config);
    double factor = known ? known->factor : 1, v[NKINDS];

    if (known && known->excluded)
        return 0;
    set_kind_values(s, c, time_s * factor, v);
    if (!update_least(&bound, v))
        return 0;
    if (plan_choice_look(s, t, c, err))
        return -1;
    if (isfinite(c->time_s)) {
        set_kind_values(s, c, c->time_s * factor, v);
        update_least(l, v);
    }
    return 0;
}

/* Set the least time by the search, without enumerating the configurations. *valid: their number; 0: not counted. */
static int find_quickest(const struct hrun_plan_problem *problem, struct least *l, double *valid,
                         struct hrun_error *err)
{
    struct hrun_plan_problem quick = *problem;
    autofree struct hrun_known *sure = xcalloc((size_t)l->nknown + 1, sizeof *sure);
    struct hrun_plan *p = NULL;

    for (int i = 0; i < l->nknown; i++) {
        sure[i] = l->known[i];
        sure[i].rank_factor = 0;
    }
    quick.objective = NULL;
    quick.limits = NULL;
    if (hrun_plan_search_known(&quick, sure, l->nknown, 1, &p, err))
        return -1;
    *valid = p->counts.counted ? p->counts.valid : 0;
    l->all[TIME] = l->others[TIME] = p->v[0].time_s;
    l->excess = p->v[0].time_s / l->limit[TIME];
    hrun_plan_destroy(p);
    return 0;
}

static int find_least(const struct hrun_plan_problem *problem, struct least *l, double *valid, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { .counted = 1 };
    autorelease(plan_space_release) struct plan_space s;

    if (plan_few_enough(problem, err))
        return -1;
    if (plan_space_init(&s, problem, 1, err) || plan_each(&s, &counts, lower_least, l, err))
        return -1;
    *valid = counts.valid;
    if (!isinf(l->all[TIME]))
        return 0;
    counts.excluded_memory += counts.valid;     /* as a whole, no configuration is usable */
    counts.valid = 0;
    return plan_fail_infeasible(&s, &counts, err);
}

/* Append a value of a kind. digits: its significant digits, 0: the usual format of its kind. */
static void add_figure(struct hrun_buf *out, int kind, double v, int digits)
{
    if (kind == PES)
        hrun_buf_adds(out, hrun_counted((int64_t)v, "PE").s);
    else if (kind == TIME && !digits)
        hrun_buf_adds(out, hrun_seconds(v).s);
    else
        hrun_buf_addf(out, "%.*g%s", digits ? digits : 4, v, kind == TIME ? " s" : kind == ENERGY ? " J" : "");
}

/* The number of significant digits that distinguish a limit from the needed value; 0: the usual format does. */
static int digits_apart(int kind, double limit, double need)
{
    enum { MOST = 17 };
    int digits = 0, alike = kind != PES && isfinite(need) && isfinite(limit) && limit != need;

    while (alike && digits < MOST) {
        autorelease(hrun_buf_release) struct hrun_buf a = HRUN_BUF_INIT, b = HRUN_BUF_INIT;

        add_figure(&a, kind, limit, digits);
        add_figure(&b, kind, need, digits);
        alike = !strcmp(a.data, b.data);
        if (alike)
            digits = digits ? digits + 1 : 4;
    }
    return digits;
}

static void add_figures(struct hrun_buf *out, const struct least *l, const double *need, const int *digits,
                        const char *intro)
{
    const char *sep = intro;

    for (int k = 0; k < NKINDS; k++) {
        if (isinf(l->limit[k]) || isinf(need[k]))
            continue;
        hrun_buf_addf(out, "%s%s", sep, words[k].figure);
        add_figure(out, k, need[k], digits[k]);
        sep = ", ";
    }
}

static int fail_limits(const struct least *l, double valid, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *sep = " keeps the limits: ";
    int digits[NKINDS], n = 0;

    hrun_buf_adds(&text, "no configuration");
    if (valid > 0)
        hrun_buf_addf(&text, " of %s valid ones", hrun_count(valid).s);
    for (int k = 0; k < NKINDS; k++) {
        int all = digits_apart(k, l->limit[k], l->all[k]), others = digits_apart(k, l->limit[k], l->others[k]);

        digits[k] = all > others ? all : others;
        if (isinf(l->limit[k]))
            continue;
        hrun_buf_addf(&text, "%s%s", sep, words[k].limit);
        add_figure(&text, k, l->limit[k], digits[k]);
        sep = ", ";
        n++;
    }
    add_figures(&text, l, l->all, digits, "; ");
    if (n > 1)
        add_figures(&text, l, l->others, digits, n > 2 ? "; of those that keep the other limits "
                                                       : "; of those that keep the other limit ");
    hrun_fail(err, HRUN_EINFEASIBLE, "%s", text.data);
    if (err)
        err->excess = l->excess;
    return -1;
}

int plan_fail_none(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                   struct hrun_error *err)
{
    const struct hrun_plan_limits *limits = problem->limits;
    const double given[NKINDS] = { limits->time_s, limits->cost, limits->energy_j, limits->pes };
    struct least l = { .known = known, .nknown = n, .excess = INFINITY };
    double valid = 0;

    for (int k = 0; k < NKINDS; k++) {
        l.limit[k] = given[k] > 0 ? given[k] : INFINITY;
        l.all[k] = l.others[k] = INFINITY;
    }
    if (isinf(l.limit[COST]) && isinf(l.limit[ENERGY]) && isinf(l.limit[PES]) ? find_quickest(problem, &l, &valid, err)
                                                                              : find_least(problem, &l, &valid, err))
        return -1;
    return fail_limits(&l, valid, err);
}
