/* test_plan_whole.c - the search of models that are not separable against a brute force, on small random instances;
 * and, where it may not look at all, that it says how far off it may be */
#include "configs.h"
#include "plan/plan.h"
#include "plan/search_nonseparable.h"
#include "plan_brute.h"

enum { INSTANCES = 6000 };

/* ------------------------------------------------- a made-up network */

static struct table x;
static uint64_t seed;
static int steps, zero, fail_look;   /* steps of the extra time; share of configurations without any; look that fails */
static long looks, beyond;   /* beyond: what must be 0 and is not */

/* What the whole takes beyond the slowest part: by chance, but always the same. */
static double extra(const struct hrun_config *config)
{
    uint64_t h = seed;

    for (int i = 0; i < x.oracle.nsubs; i++)
        h = h * 1000003u + (uint64_t)(config->pes[i] * 64 + config->procs[i]);
    if (below(&h, 4) < zero)
        return 0;
    return steps ? below(&h, steps) : rnd(&h);
}

static int whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                 struct hrun_error *err)
{
    double least = 0;

    (void)ctx;
    if (++looks == fail_look)
        return hrun_fail(err, HRUN_ENODATA, "look %d", fail_look);
    *limiting = -1;
    for (int o = 0; o < x.oracle.noptions; o++) {
        const struct hrun_option *option = &x.options[o];

        if (config->pes[option->sub] && config->procs[option->sub] == option->m &&
            (*limiting < 0 || x.t[P][o] > least)) {
            least = x.t[P][o];
            *limiting = option->sub;
        }
    }
    *time_s = least + extra(config);
    return 0;
}

/* Of sub-clusters before `known` the largest time. Once the last is known, now and then the whole. */
static int part(void *ctx, const struct hrun_config *config, int known, int P, double *time_s, struct hrun_error *err)
{
    double least = 0;

    (void)ctx;
    (void)err;
    for (int i = known; i < x.oracle.nsubs; i++)
        beyond += config->pes[i] || config->procs[i];
    for (int o = 0; o < x.oracle.noptions; o++)
        if (config->pes[x.options[o].sub] && config->procs[x.options[o].sub] == x.options[o].m)
            least = fmax(least, x.t[P][o]);
    *time_s = least + (known == x.oracle.nsubs && seed % 2 ? extra(config) : 0);
    return 0;
}

/* ------------------------------------------------- brute force, sharing only structs with lib/plan */

static void add_found(const struct hrun_plan_problem *problem, struct found f)
{
    const struct hrun_config config = config_of(x.oracle.nsubs, f.pes, f.procs);
    double least = 0;
    int P = 0;

    f.npes = 0;
    for (int i = 0; i < x.oracle.nsubs; i++) {
        P += f.pes[i] * f.procs[i];
        f.npes += f.pes[i];
    }
    if (!P || (problem->P && P != problem->P) || !x.rule[P])
        return;
    for (int o = 0; o < x.oracle.noptions; o++) {
        int i = x.options[o].sub;

        if (!f.pes[i] || f.procs[i] != x.options[o].m)
            continue;
        if (!(x.t[P][o] > 0 && isfinite(x.t[P][o])))
            return;
        if (x.oracle.memory && x.subs[i].memory_bytes > 0 && !(f.procs[i] * x.bytes[P] <= x.subs[i].memory_bytes))
            return;
        least = fmax(least, x.t[P][o]);
    }
    f.value = least + extra(&config);
    if (problem->objective)
        f.value = problem->objective->value(f.value, &config, x.subs);
    keep_found(f);
}

/* ------------------------------------------------- random instances */

static double value_cost(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    double sum = 0;

    for (int i = 0; i < config->nsubs; i++)
        sum += config->pes[i] * subs[i].cost_per_hour;
    return sum * time_s;
}

static const struct hrun_objective cost = { .name = "cost", .unit = "", .value = value_cost };

static void random_instance(uint64_t *r)
{
    static const int lists[][4] = { { 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 }, { 1, 2, 3, 0 }, { 1, 4, 0 }, { 3, 0 } };
    int nsubs = 1 + below(r, 4), npes[4], kind = below(r, 3), rule = below(r, 3), gaps = below(r, 3);
    const int *mlists[4];

    for (int i = 0; i < nsubs; i++) {
        npes[i] = 1 + below(r, 4);
        mlists[i] = lists[below(r, 6)];
    }
    table_init(&x, nsubs, npes, mlists);
    x.oracle.whole = whole;
    x.oracle.part = below(r, 2) ? part : NULL;
    seed = rnd_u64(r);
    steps = kind == 2 ? 0 : 1 + below(r, 4);
    zero = below(r, 4);
    for (int i = 0; i < nsubs; i++) {
        x.subs[i].cost_per_hour = 1 + below(r, 3);
        x.subs[i].memory_bytes = below(r, 3) ? 0 : 8 + below(r, 20);
    }
    for (int P = 1; P <= x.max_P; P++) {
        x.bytes[P] = 1 + below(r, 8);
        x.rule[P] = rule == 0 ? (P & (P - 1)) == 0 : rule == 1 ? below(r, 3) > 0 : 1;
        for (int o = 0; o < x.oracle.noptions; o++) {
            x.t[P][o] = kind == 0 ? 1 + below(r, 3) : kind == 1 ? 1 + below(r, 20) : 0.1 + 3 * rnd(r);
            if (gaps == 0 && below(r, 8) == 0)
                x.t[P][o] = NAN;
        }
    }
}

/* Is the list that of the brute force? */
static int same_list(const struct hrun_plan *p, int top)
{
    if (p->n != (nfound < top ? nfound : top))
        return 0;
    for (int k = 0; k < p->n; k++) {
        size_t bytes = (size_t)x.oracle.nsubs * sizeof(int);

        if (p->v[k].value != found[k].value || p->v[k].npes != found[k].npes ||
            memcmp(p->v[k].config.pes, found[k].pes, bytes) || memcmp(p->v[k].config.procs, found[k].procs, bytes))
            return 0;
    }
    return 1;
}

/* What must hold of a list that is not proven: in order, each once, each what the brute force says it is, and the best
 * of all no better than the gap allows. */
static int sound_list(const struct hrun_plan *p, int top)
{
    if (p->n < 1 || p->n > top || p->v[0].value < found[0].value ||
        p->v[0].value / (1 + p->gap) > found[0].value * (1 + 1e-12))
        return 0;
    for (int k = 0; k < p->n; k++) {
        struct found f = { .npes = p->v[k].npes, .value = p->v[k].value };

        for (int i = 0; i < x.oracle.nsubs; i++) {
            f.pes[i] = p->v[k].config.pes[i];
            f.procs[i] = p->v[k].config.procs[i];
        }
        if (!bsearch(&f, found, (size_t)nfound, sizeof f, better))
            return 0;
        if (k && !(p->v[k - 1].value < f.value ||
                   (p->v[k - 1].value == f.value && (p->v[k - 1].npes < f.npes ||
                    (p->v[k - 1].npes == f.npes && !hrun_config_equal(&p->v[k - 1].config, &p->v[k].config))))))
            return 0;
    }
    return 1;
}

static struct tally {
    int differ, unsound, feasible, inexact, best, saved, unequal, known;
} tally;

/* The same with few looks: exact only where it is the brute force's list. */
static void few_looks(const struct hrun_plan_problem *problem, int top, uint64_t *r)
{
    struct plan_looks few = { 1 + below(r, 8), below(r, 12), below(r, 30), below(r, 60), NULL, 0 };
    struct hrun_plan *p = NULL;
    struct hrun_error err;

    looks = 0;
    if (plan_search_whole(problem, top, &few, &p, &err)) {
        tally.unsound++;
        return;
    }
    tally.unsound += p->exact ? !same_list(p, top) || p->gap != 0 : !sound_list(p, top);
    tally.unsound += p->evaluated != looks || looks > few.local + (few.bounded > top ? few.bounded : top);
    tally.inexact += !p->exact;
    tally.best += !p->exact && p->v[0].value == found[0].value;
    hrun_plan_destroy(p);
}

static void check_instance(uint64_t *r)
{
    struct hrun_plan_problem problem = { &x.oracle, x.subs, below(r, 4) ? NULL : &in_steps, 0, NULL };
    int top = 1 + (below(r, 2) ? below(r, 12) : 0);

    if (below(r, 5) == 0)
        problem.P = 1 + below(r, x.max_P);
    if (below(r, 4) == 0)
        x.oracle.memory = NULL;
    if (below(r, 8) == 0)
        problem.objective = &cost;
    brute_force(&x, &problem, add_found);
    for (int k = 0; k < 2; k++) {
        static const struct plan_looks enough = { 64, LISTED, 0, 4 * LISTED, NULL, 0 };
        struct hrun_plan *p = NULL;
        struct hrun_error err;
        int rc;

        looks = 0;
        rc = k ? hrun_plan_exhaustive(&problem, top, &p, &err)
             : problem.objective == &cost ? hrun_plan_search(&problem, top, &p, &err)
             : plan_search_whole(&problem, top, &enough, &p, &err);
        if (!nfound)
            tally.differ += rc != -1 || err.code != HRUN_EINFEASIBLE;
        else if (rc || !same_list(p, top) || !p->exact)
            tally.differ++;
        else if (!k)
            tally.saved += looks < nfound;
        hrun_plan_destroy(p);
    }
    if (!nfound)
        return;
    tally.feasible++;
    if (problem.objective != &cost) {
        struct hrun_plan *p = NULL;

        tally.unsound += hrun_plan_search(&problem, top, &p, NULL) ||
                         !(p->exact ? same_list(p, top) : sound_list(p, top));
        hrun_plan_destroy(p);
    }
    for (int k = 0; k < nfound && k < 3; k++) {
        struct hrun_choice c;

        if (hrun_plan_evaluate(&problem, CONFIG(x.oracle.nsubs, found[k].pes, found[k].procs), 1, &c, NULL)) {
            tally.unequal++;
            continue;
        }
        tally.unequal += c.value != found[k].value;
    }
    if (problem.objective != &cost)
        few_looks(&problem, top, r);
}

static void test_random(void)
{
    uint64_t r = 20021126;

    for (int i = 0; i < INSTANCES; i++) {
        random_instance(&r);
        check_instance(&r);
    }
    is_int(tally.differ, 0, "%d of %d instances have configurations: search and exhaustive search agree with a brute "
           "force on all", tally.feasible, INSTANCES);
    is_int(tally.unequal, 0, "and so do configurations by themselves");
    is_int(beyond, 0, "what is not known of a part is 0");
    is_int(tally.unsound, 0, "with few looks too, or the list is sound and the gap is true (%d)", tally.inexact);
    ok(tally.inexact > 500, "which happens");
    ok(tally.best > tally.inexact / 2, "the best is found all the same in %d of these", tally.best);
    ok(tally.saved > tally.feasible / 4, "in %d the bound saves looks", tally.saved);
}

/* One known better than by the model takes its place. */
static void test_known(void)
{
    uint64_t r = 7;
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    int bad = 0, n = 0;

    for (int i = 0; i < 300; i++) {
        struct hrun_known known = { .factor = 0.5 + rnd(&r) };
        struct hrun_plan *p = NULL;
        int at;

        random_instance(&r);
        brute_force(&x, &problem, add_found);
        if (!nfound)
            continue;
        at = below(&r, nfound);
        known.config = config_of(x.oracle.nsubs, found[at].pes, found[at].procs);
        if (hrun_plan_search_known(&problem, &known, 1, 3, &p, NULL)) {
            bad++;
            continue;
        }
        found[at].value *= known.factor;
        qsort(found, (size_t)nfound, sizeof *found, better);
        bad += !same_list(p, 3) || !p->exact;
        n++;
        hrun_plan_destroy(p);
    }
    is_int(bad, 0, "a configuration that is known better takes its place, %d times", n);
}

static void test_errors(void)
{
    static const int npes[] = { 3, 3 }, ones[] = { 1, 2, 0 };
    const int *const lists[] = { ones, ones };
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_plan *p = NULL;
    struct hrun_error err;

    table_init(&x, 2, npes, lists);
    x.oracle.whole = whole;
    steps = 3;
    looks = 0;
    fail_look = 1;
    is_int(hrun_plan_search(&problem, 1, &p, &err), -1, "a look that fails fails the search");
    is_str(err.text, "look 1", "with its error");
    fail_look = 0;
    x.fail_times = 2;
    is_int(hrun_plan_search(&problem, 1, &p, &err), -1, "times that fail do, too");
    is_str(err.text, "times at 2", "with their error");
    ok(!p, "there is no plan then");
}

int main(void)
{
    test_random();
    test_known();
    test_errors();
    return tap_done();
}
