/* test_plan_search.c - the fast search against the exhaustive one and against a brute force of its own, on
 * many small random instances: values, choices, their order, counts */
#include "base/buf.h"
#include "configs.h"
#include "plan/plan.h"
#include "plan/search.h"
#include "plan_table.h"

enum { INSTANCES = 16000 };

/* ------------------------------------------------- brute force, sharing only structs with lib/plan */

struct found {
    int pes[TABLE_SUBS], procs[TABLE_SUBS], P, npes, limiting;
    double time_s, value;
};

struct brute {
    struct found *v;
    int n, cap;
    struct hrun_plan_counts counts;
    double per_P[TABLE_P + 1];
};

static int found_compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->npes != y->npes)
        return x->npes - y->npes;
    for (int i = 0; i < TABLE_SUBS; i++) {
        if (x->pes[i] != y->pes[i])
            return x->pes[i] - y->pes[i];
        if (x->procs[i] != y->procs[i])
            return x->procs[i] - y->procs[i];
    }
    return 0;
}

static void brute_one(const struct table *x, const struct hrun_plan_problem *problem, struct found f,
                      struct brute *out)
{
    int no_memory = 0, no_model = 0;

    f.P = f.npes = 0;
    f.time_s = 0;
    f.limiting = -1;
    for (int i = 0; i < x->oracle.nsubs; i++) {
        f.P += f.pes[i] * f.procs[i];
        f.npes += f.pes[i];
    }
    if (f.P == 0 || (problem->P && f.P != problem->P))
        return;
    out->counts.total++;
    if (!x->rule[f.P]) {
        out->counts.excluded_rule++;
        return;
    }
    for (int o = 0; o < x->oracle.noptions; o++) {
        int i = x->options[o].sub;
        double t = x->t[f.P][o], memory = x->subs[i].memory_bytes;
        if (f.pes[i] == 0 || f.procs[i] != x->options[o].m)
            continue;
        if (memory > 0 && !(f.procs[i] * x->bytes[f.P] <= memory))
            no_memory = 1;
        if (!isfinite(t) || t <= 0)
            no_model = 1;
        else if (t > f.time_s) {
            f.time_s = t;
            f.limiting = i;
        }
    }
    if (no_memory || no_model) {
        *(no_memory ? &out->counts.excluded_memory : &out->counts.excluded_model) += 1;
        return;
    }
    out->counts.valid++;
    f.value = problem->objective
        ? problem->objective->value(f.time_s, CONFIG(x->oracle.nsubs, f.pes, f.procs), x->subs) : f.time_s;
    if (out->n == out->cap) {
        out->cap = out->cap ? 2 * out->cap : 1024;
        out->v = realloc(out->v, (size_t)out->cap * sizeof *out->v);
        if (!out->v)
            abort();
    }
    out->v[out->n++] = f;
}

static void brute_from(const struct table *x, const struct hrun_plan_problem *problem, int i, struct found *f,
                       struct brute *out)
{
    if (i == x->oracle.nsubs) {
        brute_one(x, problem, *f, out);
        return;
    }
    f->pes[i] = f->procs[i] = 0;
    brute_from(x, problem, i + 1, f, out);
    for (int o = 0; o < x->oracle.noptions; o++) {
        if (x->options[o].sub != i)
            continue;
        for (int p = 1; p <= x->subs[i].npes; p++) {
            f->pes[i] = p;
            f->procs[i] = x->options[o].m;
            brute_from(x, problem, i + 1, f, out);
        }
    }
    f->pes[i] = f->procs[i] = 0;
}

static void brute_force(const struct table *x, const struct hrun_plan_problem *problem, struct brute *out)
{
    struct found f;

    memset(&f, 0, sizeof f);
    out->n = 0;
    memset(&out->counts, 0, sizeof out->counts);
    brute_from(x, problem, 0, &f, out);
    if (out->n)
        qsort(out->v, (size_t)out->n, sizeof *out->v, found_compare);
}

/* ------------------------------------------------- random instances */

static double value_steps(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    (void)config;
    (void)subs;
    return floor(time_s / 2);   /* grows with the time, in steps: many times of one value */
}

static double value_cost(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    double sum = 0;

    for (int i = 0; i < config->nsubs; i++)
        sum += config->pes[i] * subs[i].cost_per_hour;
    return sum * time_s / 3600;
}

static const struct hrun_objective steps = { .name = "steps", .unit = "", .value = value_steps, .separable = 1 };
static const struct hrun_objective cost = { .name = "cost", .unit = "", .value = value_cost };

static void random_instance(struct table *x, uint64_t *r)
{
    static const int lists[][5] = {
        { 1, 0 }, { 1, 2, 0 }, { 1, 2, 3, 0 }, { 2, 3, 0 }, { 2, 0 }, { 3, 0 }, { 1, 4, 0 }, { 2, 4, 0 },
        { 1, 2, 3, 4, 0 }, { 5, 7, 0 }, { 3, 6, 0 }, { 0 }
    };
    int nsubs = 1 + below(r, 4), npes[4], kind = below(r, 5), gaps = below(r, 3), rule = below(r, 6);
    int memory = below(r, 3), special = below(r, 2), size = 24 << below(r, 4);
    const int *mlists[4];
    double speed[TABLE_SUBS], scale = 1 + 8 * rnd(r);

    for (int i = 0; i < nsubs; i++) {
        npes[i] = below(r, 20) ? 1 + below(r, nsubs == 4 ? 4 : 5) : 0;
        mlists[i] = lists[below(r, (int)(sizeof lists / sizeof *lists))];
        speed[i] = 1 + below(r, 4);
    }
    table_init(x, nsubs, npes, mlists);
    for (int i = 0; i < nsubs; i++) {
        x->subs[i].cost_per_hour = 1 + below(r, 3);
        x->subs[i].memory_bytes = memory && below(r, 4) ? 8 + below(r, 40) : 0;
    }
    x->slack = below(r, 2) ? 1 + 1e-13 : 0.5 + 0.5 * rnd(r);
    for (int P = 1; P <= x->max_P; P++) {
        x->bytes[P] = below(r, 40) ? (memory == 1 ? 64.0 / P : 1 + below(r, 20)) : NAN;
        switch (rule) {
        case 0: x->rule[P] = below(r, 2) == 1; break;
        case 1: x->rule[P] = size % P == 0; break;
        case 2: x->rule[P] = (P & (P - 1)) == 0; break;
        case 3: x->rule[P] = below(r, 8) == 0; break;
        default: break;
        }
        for (int o = 0; o < x->oracle.noptions; o++) {
            int m = x->options[o].m, sub = x->options[o].sub;
            double t;
            switch (kind) {
            case 0: t = 1 + below(r, 3); break;                                 /* ties everywhere */
            case 1: t = 1 + below(r, 12); break;
            case 2: t = rnd(r); break;
            case 3: t = floor(100.0 * m / speed[sub] / P) + P / 4 + 1; break;   /* a model, in steps */
            default: t = scale * m / speed[sub] / P + 0.01 * P + 0.02 * m; break;
            }
            if (special && P == m)
                t = 0.5 + below(r, 4);
            if (gaps && below(r, gaps == 1 ? 12 : 3) == 0)
                t = (const double[]){ NAN, INFINITY, -1, 0, -INFINITY }[below(r, 5)];
            x->t[P][o] = t;
        }
    }
}

static int same_counts(const struct hrun_plan_counts *a, const struct hrun_plan_counts *b)
{
    return a->counted && a->total == b->total && a->valid == b->valid &&
           a->excluded_rule == b->excluded_rule && a->excluded_memory == b->excluded_memory &&
           a->excluded_model == b->excluded_model;
}

/* 1 when the plan holds exactly the first of the brute force's configurations. */
static int same_plan(const struct hrun_plan *p, const struct brute *b, int top)
{
    if (p->n != (b->n < top ? b->n : top) || !p->exact)
        return 0;
    for (int k = 0; k < p->n; k++) {
        const struct hrun_choice *c = &p->v[k];
        const struct found *f = &b->v[k];
        if (c->value != f->value || c->time_s != f->time_s || c->P != f->P || c->npes != f->npes ||
            c->limiting != f->limiting)
            return 0;
        for (int i = 0; i < c->config.nsubs; i++)
            if (c->config.pes[i] != f->pes[i] || c->config.procs[i] != f->procs[i])
                return 0;
    }
    return 1;
}

struct tally {
    int differ, feasible, infeasible, fixed, long_lists, evaluated;
    char first[256];
};

static void blame(struct tally *tally, const char *what, int instance)
{
    if (!tally->differ++)
        snprintf(tally->first, sizeof tally->first, "%s, instance %d", what, instance);
}

static void check_instance(struct table *x, uint64_t *r, int instance, struct brute *b, struct tally *tally)
{
    static const struct plan_tuning tunings[] = {
        { 200000, 1024, 8 }, { 0, 1, 1 }, { 0, 4, 2 }, { 0, 64, 1 }, { 0, 7, 3 }
    };
    struct hrun_plan_problem problem = { &x->oracle, x->subs, below(r, 4) ? NULL : &steps, 0, NULL };
    struct hrun_plan_counts counts;
    struct hrun_plan *plan;
    struct hrun_error err;
    int top = 1 + (below(r, 2) ? below(r, 12) : 0), with_bounds = below(r, 8) > 0;

    if (below(r, 5) == 0)
        problem.P = 1 + below(r, x->max_P + 2);
    if (!with_bounds)
        x->oracle.bounds = NULL;
    if (below(r, 10) == 0)
        x->oracle.memory = NULL;
    if (!x->oracle.memory)
        memset(x->bytes, 0, sizeof x->bytes);
    brute_force(x, &problem, b);
    tally->feasible += b->n > 0;
    tally->infeasible += b->n == 0;
    tally->fixed += problem.P > 0;
    tally->long_lists += b->n > 12 && top > 6;

    if (hrun_plan_count(&problem, 1e9, &counts, &err) || !same_counts(&counts, &b->counts))
        blame(tally, "count", instance);
    for (size_t k = 0; k < sizeof tunings / sizeof *tunings + 2; k++) {
        size_t n = sizeof tunings / sizeof *tunings;
        int rc;
        plan = NULL;
        if (k < n)
            rc = plan_search_tuned(&problem, top, &tunings[k], &plan, &err);
        else if (k == n)
            rc = hrun_plan_search(&problem, top, &plan, &err);
        else
            rc = hrun_plan_exhaustive(&problem, top, &plan, &err);
        if (b->n == 0) {
            if (rc != -1 || err.code != HRUN_EINFEASIBLE || plan)
                blame(tally, "infeasible", instance);
            continue;
        }
        if (rc || !same_plan(plan, b, top))
            blame(tally, k < n ? "tuned search" : k == n ? "search" : "exhaustive", instance);
        else if ((k == 0 || k >= n) && !same_counts(&plan->counts, &b->counts))
            blame(tally, "counts of the plan", instance);
        hrun_plan_destroy(plan);
    }
    /* Every configuration of the list is what hrun_plan_evaluate says it is. */
    for (int k = 0; k < b->n && k < 3; k++) {
        struct hrun_choice c;
        if (hrun_plan_evaluate(&problem, CONFIG(x->oracle.nsubs, b->v[k].pes, b->v[k].procs), 1, &c, &err)) {
            blame(tally, "evaluate", instance);
            continue;
        }
        if (c.value != b->v[k].value || c.limiting != b->v[k].limiting || c.npes != b->v[k].npes)
            blame(tally, "evaluated value", instance);
        tally->evaluated++;
    }
}

static void test_random(void)
{
    uint64_t r = 20070113;
    struct table *x = malloc(sizeof *x);
    struct brute b = { 0 };
    struct tally tally = { 0 };

    if (!x)
        abort();
    for (int k = 0; k < INSTANCES; k++) {
        random_instance(x, &r);
        check_instance(x, &r, k, &b, &tally);
    }
    is_int(tally.differ, 0, "%d random instances: fast, exhaustive and brute force agree", INSTANCES);
    if (tally.differ)
        printf("#   first difference: %s\n", tally.first);
    printf("# %d feasible, %d infeasible, %d with a fixed P, %d with long lists\n", tally.feasible,
           tally.infeasible, tally.fixed, tally.long_lists);
    ok(tally.feasible >= 10000, "at least 10,000 of them feasible");
    ok(tally.infeasible >= 100 && tally.fixed >= 1000 && tally.long_lists >= 1000 && tally.evaluated > 20000,
       "and enough of every kind");
    free(b.v);
    free(x);
}

/* Known configurations: the brute force with their factors is what the search has to find. */
static void test_known(void)
{
    enum { ROUNDS = 3000, KNOWN = 8 };
    uint64_t r = 20261121;
    struct table *x = malloc(sizeof *x);
    struct brute b = { 0 };
    int differ = 0, moved = 0, invalid = 0, marked = 0;

    if (!x)
        abort();
    for (int round = 0; round < ROUNDS; round++) {
        struct hrun_plan_problem problem = { &x->oracle, x->subs,
                                             below(&r, 4) ? NULL : below(&r, 2) ? &steps : &cost, 0, NULL };
        struct hrun_known known[KNOWN];
        struct found was[KNOWN];
        struct hrun_plan *plan = NULL;
        struct hrun_error err;
        int n = 0, top = 1 + below(&r, 6), excluded = 0, rc;

        random_instance(x, &r);
        if (below(&r, 5) == 0)
            problem.P = 1 + below(&r, x->max_P + 2);
        brute_force(x, &problem, &b);
        for (int k = below(&r, KNOWN); k > 0 && b.n; k--) {
            int i = below(&r, 2) ? below(&r, b.n) : below(&r, b.n < 10 ? b.n : 10), twice = 0;

            was[n] = b.v[i];
            for (int j = 0; j < n; j++)
                twice |= case_breaks(!memcmp(was[j].pes, was[n].pes, sizeof was[n].pes) &&
                                     !memcmp(was[j].procs, was[n].procs, sizeof was[n].procs), round, k, j);
            if (twice)
                continue;
            if (below(&r, 6) == 0) {             /* none of the problem's */
                was[n].pes[0] = 1000;
                was[n].procs[0] = 1;
                invalid++;
                i = -1;
            }
            known[n] = (struct hrun_known) { config_of(x->oracle.nsubs, was[n].pes, was[n].procs), 0.25 + rnd(&r),
                                             below(&r, 3) ? 0.5 + rnd(&r) : 0, below(&r, 5) == 0 };
            if (i >= 0) {
                const struct hrun_objective *o = problem.objective;

                b.v[i].time_s *= known[n].factor;
                b.v[i].value = b.v[i].time_s * (known[n].rank_factor > 0 ? known[n].rank_factor : 1);
                b.v[i].value = o ? o->value(b.v[i].value, &known[n].config, x->subs) : b.v[i].value;
                b.v[i].value = known[n].excluded ? INFINITY : b.v[i].value;
                excluded += known[n].excluded;
            }
            n++;
            if (i < 0)
                break;
        }
        if (b.n) {
            struct found first = b.v[0];

            qsort(b.v, (size_t)b.n, sizeof *b.v, found_compare);
            moved += memcmp(&first, &b.v[0], sizeof first) != 0;
            b.n -= excluded;
            for (int i = 0; i < b.n; i++) {      /* the order is that with rank factors, the values are without */
                const struct hrun_objective *o = problem.objective;
                struct found *f = &b.v[i];

                f->value = o ? o->value(f->time_s, CONFIG(x->oracle.nsubs, f->pes, f->procs), x->subs) : f->time_s;
            }
        }
        rc = hrun_plan_search_known(&problem, known, n, top, &plan, &err);
        differ += b.n ? rc || !same_plan(plan, &b, top) || !same_counts(&plan->counts, &b.counts)
                      : rc != -1 || err.code != HRUN_EINFEASIBLE;
        for (int i = 1; !rc && !problem.objective && i < plan->n; i++) {
            int doubted = hrun_plan_is_doubted(plan, i);

            differ += plan->v[i].ranked_s < plan->v[i - 1].ranked_s * (1 - 1e-12) ||
                      (plan->v[i].time_s < plan->v[0].time_s && !doubted);
            marked += doubted;
        }
        if (!rc)
            hrun_plan_destroy(plan);
    }
    is_int(differ, 0, "%d random instances with known configurations agree with brute force", ROUNDS);
    ok(moved > ROUNDS / 10 && invalid > ROUNDS / 20, "%d times the best is another one, %d known ones do not exist",
       moved, invalid);
    ok(marked > ROUNDS / 20, "what stands behind something slower, %d times, is told, with the time that ranks it", marked);
    free(b.v);
    free(x);
}

/* A non-separable objective goes through the exhaustive search, and its optimum is not that of the time. */
static void test_cost(void)
{
    uint64_t r = 31;
    struct table *x = malloc(sizeof *x);
    struct brute b = { 0 };
    struct hrun_error err;
    int differ = 0, other = 0, n = 0;

    if (!x)
        abort();
    for (int k = 0; k < 300; k++) {
        struct hrun_plan_problem by_time = { &x->oracle, x->subs, NULL, 0, NULL };
        struct hrun_plan_problem problem = { &x->oracle, x->subs, &cost, 0, NULL };
        struct hrun_plan *plan = NULL, *fastest = NULL;
        int top = 1 + below(&r, 5);
        random_instance(x, &r);
        brute_force(x, &problem, &b);
        if (b.n == 0)
            continue;
        n++;
        if (hrun_plan_search(&problem, top, &plan, &err) || !same_plan(plan, &b, top) ||
            !same_counts(&plan->counts, &b.counts))
            differ++;
        if (!hrun_plan_search(&by_time, 1, &fastest, &err))
            other += fastest->v[0].time_s < plan->v[0].time_s;
        hrun_plan_destroy(plan);
        hrun_plan_destroy(fastest);
    }
    is_int(differ, 0, "%d instances by cost: as the brute force", n);
    ok(other > 30, "the cheapest is not the fastest in %d of them", other);
    free(b.v);
    free(x);
}

/* Larger instances than brute force can take: against a plain table over all sums, for every P and every
 * threshold. */
struct goal {
    double value;
    int npes;
};

static struct goal best_by_table(const struct table *x)
{
    struct goal best = { INFINITY, 0 };
    int now[TABLE_P + 1], next[TABLE_P + 1]; /* fewest PEs by sum, -1: not possible */

    for (int P = 1; P <= x->max_P; P++) {
        for (int level = 0; x->rule[P] && level < x->oracle.noptions; level++) {
            double limit = x->t[P][level];
            if (!(isfinite(limit) && limit > 0 && limit <= best.value))
                continue;
            memset(now, -1, sizeof now);
            now[0] = 0;
            for (int i = 0; i < x->oracle.nsubs; i++) {
                memcpy(next, now, sizeof now);
                for (int o = 0; o < x->oracle.noptions; o++) {
                    int m = x->options[o].m;
                    double t = x->t[P][o];
                    if (x->options[o].sub != i || !(isfinite(t) && t > 0 && t <= limit))
                        continue;
                    for (int s = 0; s <= P; s++)
                        for (int p = 1; now[s] >= 0 && p <= x->subs[i].npes && s + p * m <= P; p++)
                            if (next[s + p * m] < 0 || now[s] + p < next[s + p * m])
                                next[s + p * m] = now[s] + p;
                }
                memcpy(now, next, sizeof now);
            }
            if (now[P] >= 0 && (limit < best.value || now[P] < best.npes)) {
                best.value = limit;
                best.npes = now[P];
            }
        }
    }
    return best;
}

/* npes PEs of one of these lists, so that six sub-clusters stay within TABLE_P. */
static const int la[] = { 1, 2, 3, 0 }, lb[] = { 2, 4, 0 }, lc[] = { 3, 5, 7, 0 }, ld[] = { 6, 10, 0 },
                 le[] = { 15, 0 }, lf[] = { 4, 6, 8, 10, 12, 14, 16, 18, 0 }, lg[] = { 1, 0 };
static const struct { const int *list; int npes; } kinds[] = {
    { la, 33 }, { lb, 25 }, { lc, 14 }, { ld, 10 }, { le, 6 }, { lf, 3 }, { lg, 9 }
};

static void medium_instance(struct table *x, int k, uint64_t *r)
{
    const int *mlists[6];
    int npes[6], nsubs = 2 + below(r, 5), gaps = k % 3 == 0;

    for (int i = 0; i < nsubs; i++) {
        /* With gaps: many options of even M, and few that can make an odd sum. */
        int kind = gaps ? (i == 0 ? 6 : 5) : below(r, 6);
        mlists[i] = kinds[kind].list;
        npes[i] = gaps && i == 0 ? 1 : 1 + below(r, kinds[kind].npes);
    }
    if (gaps && nsubs > 3)
        nsubs = 3;
    table_init(x, nsubs, npes, mlists);
    for (int P = 1; P <= x->max_P; P++) {
        x->rule[P] = gaps ? P % 2 == 1 && P > 8 : below(r, 3) > 0;
        for (int o = 0; o < x->oracle.noptions; o++) {
            switch (k % 3) {
            case 0: x->t[P][o] = rnd(r) + 2 * P * (below(r, 2) + 1); break;
            case 1: x->t[P][o] = 1 + below(r, k % 2 ? 3 : 40); break;  /* 3: wide windows */
            default: x->t[P][o] *= 0.9 + 0.2 * rnd(r);
            }
        }
    }
}

static void test_medium(void)
{
    static const struct plan_tuning intervals = { 0, 16, 2 };
    uint64_t r = 77;
    struct table *x = malloc(sizeof *x);
    int differ = 0, unequal = 0, n = 0;

    if (!x)
        abort();
    for (int k = 0; k < 240; k++) {
        struct hrun_plan_problem problem = { &x->oracle, x->subs, NULL, 0, NULL };
        struct hrun_plan *p = NULL, *q = NULL;
        struct hrun_error err;
        struct goal want;
        medium_instance(x, k, &r);
        want = best_by_table(x);
        if (plan_search_tuned(&problem, 5, &intervals, &p, &err) ||
            hrun_plan_search(&problem, 5, &q, &err)) {
            differ += isfinite(want.value);
        } else {
            n++;
            differ += p->v[0].value != want.value || p->v[0].npes != want.npes;
            unequal += p->n != q->n;
            for (int j = 0; j < p->n && j < q->n; j++)
                unequal += p->v[j].value != q->v[j].value || p->v[j].P != q->v[j].P ||
                           !hrun_config_equal(&p->v[j].config, &q->v[j].config);
        }
        hrun_plan_destroy(p);
        hrun_plan_destroy(q);
    }
    is_int(differ, 0, "%d medium instances: value and PEs are those of plain tables of sums", n);
    is_int(unequal, 0, "their five best are the same with and without intervals");
    ok(n >= 200, "enough of them");

    /* At every P by itself, which is where the first level that can do is often not the first with the
     * capacity. */
    differ = n = 0;
    for (int k = 0; k < 60; k++) {
        struct hrun_plan_problem problem = { &x->oracle, x->subs, NULL, 0, NULL };
        medium_instance(x, k, &r);
        memset(x->rule, 0, sizeof x->rule);
        for (problem.P = 1 + k % 4; problem.P <= x->max_P; problem.P += 4) {
            struct hrun_plan *p = NULL;
            struct hrun_error err;
            struct goal want;
            x->rule[problem.P] = 1;
            want = best_by_table(x);
            if (hrun_plan_search(&problem, 1, &p, &err))
                differ += isfinite(want.value) || err.code != HRUN_EINFEASIBLE;
            else
                differ += p->v[0].value != want.value || p->v[0].npes != want.npes;
            hrun_plan_destroy(p);
            x->rule[problem.P] = 0;
            n++;
        }
    }
    is_int(differ, 0, "%d searches at one P: the same", n);
    free(x);
}

int main(void)
{
    test_random();
    test_known();
    test_cost();
    test_medium();
    return tap_done();
}
