/* test_plan.c - configurations as text, evaluation, published counts, errors and their messages */
#include "base/buf.h"
#include "plan/plan.h"
#include "plan/search.h"
#include "plan_table.h"

#include <errno.h>

static const int m1[] = { 1, 0 }, m12[] = { 1, 2, 0 }, m24[] = { 2, 4, 0 }, none[] = { 0 };
static struct table x;

/* Table VI of paper 000: 0 <= Pi <= 4; M1, M2 <= 2, M3 <= 1. */
static void table_six(void)
{
    static const int npes[] = { 4, 4, 4 };
    const int *const lists[] = { m12, m12, m1 };

    table_init(&x, 3, npes, lists);
}

static void test_text(void)
{
    static const struct {
        const char *text;
        int column;
        const char *message;
    } bad[] = {
        { "", 1, "expected a whole number, found the end" },
        { "(4,1,0", 7, "expected ',' or a digit, found the end" },
        { "(4,1,0,0", 9, "expected ')', found the end" },
        { "4,1,0,0)", 8, "expected the end, found ')'" },
        { "(4,1,0,0,2,1)", 9, "expected ')', found ','" },
        { "(4,1,-1,0)", 6, "expected a whole number, found '-'" },
        { "(4;1,0,0)", 3, "expected ',', found ';'" },
        { "(4,1,,0)", 6, "expected a whole number, found ','" },
        { "(4,1,0,0) x", 11, "expected the end, found 'x'" },
        { "(4,1,0,99999999999999999999)", 8, "expected a number of at most 2147483647, found '9'" },
        { "(4,1.5,0,0)", 5, "expected ',', found '.'" },
    };
    static const char *const good[] = { "(4,1,0,0)", "4,1,0,0", "  ( 4 , 1,0 ,0 )  ", "(04,1,0,00)" };
    struct hrun_config c;
    struct hrun_error err;
    struct hrun_buf text = HRUN_BUF_INIT;

    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        is_int(hrun_config_parse(good[k], 2, &c, &err), 0, "\"%s\" parses", good[k]);
        hrun_buf_reset(&text);
        hrun_buf_adds(&text, hrun_config_text(&c).s);
        is_str(text.data, "(4,1,0,0)", "and prints as it should");
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        is_int(hrun_config_parse(bad[k].text, 2, &c, &err), -1, "\"%s\" does not parse", bad[k].text);
        ok(err.code == HRUN_EPARSE && err.column == bad[k].column, "at column %d (got %d)", bad[k].column,
           err.column);
        has_str(err.text, bad[k].message, "saying what was expected");
        has_str(err.text, "needs 4 numbers", "and how many numbers there are");
    }
    is_int(hrun_config_parse("(1,2147483647)", 1, &c, &err), 0, "the largest int parses");
    is_int(c.procs[0], 2147483647, "as itself");
    is_int(hrun_config_parse("(1,2147483648)", 1, &c, &err), -1, "one more does not");
    errno = 77;
    is_int(hrun_config_parse("x", 1, &c, NULL), -1, "no error object is needed");
    is_int(errno, 77, "errno is kept");
    hrun_buf_release(&text);
}

/* Evaluate "text" on table x. */
static int evaluate(const struct hrun_plan_problem *problem, const char *text, int check,
                    struct hrun_choice *out, struct hrun_error *err)
{
    struct hrun_config config;

    if (hrun_config_parse(text, problem->oracle->nsubs, &config, err))
        return -1;
    return hrun_plan_evaluate(problem, &config, check, out, err);
}

static void test_evaluate(void)
{
    static const struct {
        const char *text;
        int check;
        const char *message;
    } bad[] = {
        { "(5,1,0,0,0,0)", 0, "sub-cluster 1 has 4 PEs, not 5" },
        { "(0,0,0,1,1,1)", 0, "sub-cluster 2: Pi = 0 with Mi = 1: either both are 0 or neither" },
        { "(0,0,2,0,1,1)", 0, "sub-cluster 2: Pi = 2 with Mi = 0" },
        { "(0,0,0,0,0,0)", 0, "uses no PE at all" },
        { "(1,1,1,3,0,0)", 0, "sub-cluster 2 has no model for 3 processes per PE (it has: 1, 2)" },
        { "(2,1,1,1,0,0)", 1, "the application's rule refuses 3 processes" },
        { "(1,2,2,2,0,0)", 1, "sub-cluster 2: 2 processes of 100 B each do not fit into the 150 B of a PE; use more "
                              "processes in all, fewer on each PE, or a smaller N" },
        { "(1,1,0,0,4,1)", 0, "sub-cluster 1: the model for Mi = 1 gives no usable time at 5 processes" },
    };
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_choice c;
    struct hrun_error err;

    table_six();
    x.rule[3] = 0;
    for (int P = 1; P <= x.max_P; P++)
        x.bytes[P] = 100;
    x.subs[1].memory_bytes = 150;
    x.t[5][0] = -1;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        memset(&c, 0x55, sizeof c);
        is_int(evaluate(&problem, bad[k].text, bad[k].check, &c, &err), -1, "%s cannot be evaluated",
               bad[k].text);
        is_int(err.code, HRUN_EINVAL, "invalid");
        has_str(err.text, bad[k].message, "saying why");
        ok(c.P == 0x55555555 && c.npes == 0x55555555, "output untouched");
    }
    is_int(evaluate(&problem, "(2,1,1,1,0,0)", 0, &c, &err), 0, "unchecked, the rule is not asked");
    is_int(evaluate(&problem, "(1,2,2,2,0,0)", 0, &c, &err), 0, "nor the memory");
    is_int(evaluate(&problem, "(1,2,2,1,1,1)", 1, &c, &err), 0, "an unusable option that is not used does "
           "not matter");
    is_int(evaluate(&problem, "(1,2,3,1,1,1)", 1, &c, &err), 0, "a good one is evaluated");
    ok(c.P == 6 && c.npes == 5 && c.limiting == 2, "P, PEs, the limiting sub-cluster");
    is_num(c.time_s, 64.0 * 3 / 6 + 6 / 16.0, 1e-15, "its time is the largest Ti");
    ok(c.config.pes[1] == 3 && c.config.procs[0] == 2 && c.value == c.time_s, "and the configuration is in the result");
    problem.P = 4;
    is_int(evaluate(&problem, "(1,2,3,1,1,1)", 1, &c, &err), -1, "not with another number of processes");
    has_str(err.text, "has 6 processes, not 4", "says so");
    x.fail_times = 4;
    is_int(evaluate(&problem, "(4,1,0,0,0,0)", 1, &c, &err), -1, "an error of the oracle comes through");
    is_str(err.text, "times at 4", "with its text");
}

static void test_published(void)
{
    static const int eights[] = { 8, 8, 8 };
    const int *const lists[] = { m12, m12, m1 };
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_plan_counts n;
    struct hrun_plan *plan = NULL;
    struct hrun_error err;
    double sum = 0;

    table_six();
    is_int(hrun_plan_count(&problem, 1e9, &n, &err), 0, "Table VI is counted");
    ok(n.counted && n.total == 404, "404 configurations (paper 000, Table VI)");
    /* Ti is not usable for P < M only, which no configuration can have. */
    is_num(n.valid, 404, 0, "all valid");
    is_int(hrun_plan_exhaustive(&problem, 1000, &plan, &err), 0, "and looked at one by one");
    ok(plan->n == 404 && plan->counts.total == 404, "404 again, all different and in order:");
    for (int k = 1; k < plan->n; k++) {
        const struct hrun_choice *a = &plan->v[k - 1], *b = &plan->v[k];
        int order = a->value != b->value ? a->value < b->value : a->npes != b->npes ? a->npes < b->npes : -1;
        for (int i = 0; i < 3 && order < 0; i++) {
            if (a->config.pes[i] != b->config.pes[i])
                order = a->config.pes[i] < b->config.pes[i];
            else if (a->config.procs[i] != b->config.procs[i])
                order = a->config.procs[i] < b->config.procs[i];
        }
        sum += order == 1;
    }
    is_num(sum, 403, 0, "403 pairs are");
    hrun_plan_destroy(plan);
    plan = NULL;
    is_int(hrun_plan_search(&problem, 1000, &plan, &err), 0, "the fast search lists them all, too");
    is_int(plan->n, 404, "404");
    hrun_plan_destroy(plan);
    for (problem.P = 1, sum = 0; problem.P <= 21; problem.P++)
        if (!hrun_plan_count(&problem, 1e9, &n, &err) && n.counted)
            sum += n.total;
    is_num(sum, 404, 0, "counts by fixed P add up");
    problem.P = 0;

    table_init(&x, 3, eights, lists);
    for (int P = 1; P <= x.max_P; P++)
        x.rule[P] = (P & (P - 1)) == 0;
    is_int(hrun_plan_count(&problem, 1e9, &n, &err), 0, "Table VII is counted");
    ok(n.valid == 285 && n.total == 17 * 17 * 9 - 1 && n.excluded_rule == n.total - 285,
       "285 configurations with P a power of 2 (paper 000, Table VII)");
    is_int(hrun_plan_count(&problem, 100, &n, &err), 0, "with a small limit");
    ok(!n.counted && n.total == 2600 && n.valid == 0 && n.excluded_rule == 0, "only the total is known");
}

static void fails(const struct hrun_plan_problem *problem, enum hrun_code code, const char *message,
                  const char *what)
{
    static const struct plan_tuning intervals = { 0, 4, 2 };
    struct hrun_plan *const untouched = (struct hrun_plan *)&x;

    for (int k = 0; k < 3; k++) {
        struct hrun_plan *plan = untouched;
        struct hrun_error err = { 0 };
        int rc = k == 0 ? hrun_plan_search(problem, 2, &plan, &err)
               : k == 1 ? hrun_plan_exhaustive(problem, 2, &plan, &err)
                        : plan_search_tuned(problem, 2, &intervals, &plan, &err);
        ok(rc == -1 && err.code == code && plan == untouched, "%s (%s)", what,
           k == 0 ? "search" : k == 1 ? "exhaustive" : "intervals");
        has_str(err.text, message, "its message");
    }
}

static double value_pes(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    double sum = 0;

    (void)time_s;
    (void)subs;
    for (int i = 0; i < config->nsubs; i++)
        sum += config->pes[i];
    return sum;
}

static void test_infeasible(void)
{
    static const int two[] = { 2, 3 };
    const int *const even[] = { m24, m24 }, *const nothing[] = { none, none };
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_plan *plan = NULL;
    struct hrun_error err;
    static const struct plan_tuning intervals = { 0, 4, 2 };
    static const struct hrun_objective pes = { .name = "pes", .unit = "", .value = value_pes };

    table_six();
    memset(x.rule, 0, sizeof x.rule);
    fails(&problem, HRUN_EINFEASIBLE, "404 configurations, all excluded (rule 404, memory 0, no usable time "
          "0); choose a size or a number of processes that the rule accepts", "no P is accepted");
    table_six();
    for (int P = 1; P <= x.max_P; P++)
        x.bytes[P] = 10;
    for (int i = 0; i < 3; i++)
        x.subs[i].memory_bytes = 5;
    fails(&problem, HRUN_EINFEASIBLE, "all excluded (rule 0, memory 404, no usable time 0); choose a smaller "
          "size",
          "nothing fits");
    table_six();
    for (int P = 1; P <= x.max_P; P++)
        for (int o = 0; o < x.oracle.noptions; o++)
            x.t[P][o] = -1;
    x.rule[1] = 0;
    fails(&problem, HRUN_EINFEASIBLE, "all excluded (rule 3, memory 0, no usable time 401); the models give "
          "no usable time", "no usable time");
    table_six();
    x.rule[1] = 0;
    problem.P = 1;
    fails(&problem, HRUN_EINFEASIBLE, "no configuration with 1 process is valid: 3 configurations, all "
          "excluded (rule 3,", "a fixed P that the rule refuses");
    problem.P = 21;
    fails(&problem, HRUN_EINFEASIBLE, "no configuration has 21 processes: at most 20 are possible",
          "P is too large");
    table_init(&x, 2, two, even);
    problem.P = 5;
    fails(&problem, HRUN_EINFEASIBLE, "no configuration with 5 processes is valid: no choice of PEs and "
          "processes per PE gives this number of processes", "5 from twos and fours");
    table_init(&x, 2, two, nothing);
    problem.P = 0;
    fails(&problem, HRUN_EINFEASIBLE, "there are no PEs with a model", "no option at all");
    table_six();
    x.subs[0].npes = x.subs[1].npes = 1 << 29;
    fails(&problem, HRUN_EINVAL, "at most 1073741824 can be searched", "too many processes");
    table_six();

    /* At P = 12, which is that of the best and so never passed over. */
    x.fail_rule = 12;
    fails(&problem, HRUN_EPARSE, "rule at 12", "an error of the rule");
    x.fail_rule = 0;
    x.fail_memory = 12;
    fails(&problem, HRUN_ENONFINITE, "memory at 12", "an error of the memory");
    x.fail_memory = 0;
    x.fail_times = 12;
    fails(&problem, HRUN_ENONFINITE, "times at 12", "an error of the times");
    x.fail_times = 0;
    x.fail_bounds = 9;
    is_int(plan_search_tuned(&problem, 1, &intervals, &plan, &err), -1, "an error of the bounds");
    is_str(err.text, "bounds at 9", "its message");

    table_six();
    for (int i = 0; i < 3; i++)
        x.subs[i].npes = 100;
    problem.objective = &pes;
    is_int(hrun_plan_search(&problem, 1, &plan, &err), 0, "an objective that is not separable, 4,080,500 to "
           "look at");
    ok(plan->counts.total == 4080500 && plan->v[0].value == 1 && plan->v[0].config.pes[2] == 1 &&
       plan->v[0].config.procs[2] == 1,
       "the best is one PE, of the last sub-cluster: (0,0,0,0,1,1)");
    hrun_plan_destroy(plan);
    hrun_plan_destroy(NULL);
}

/* An instance far beyond enumeration that has no valid configuration: the message says what is known. */
static int vast_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = ctx;

    (void)err;
    for (int o = 0; o < oracle->noptions; o++)
        t[o] = 1e6 / P;
    return 0;
}

static int vast_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    (void)lo;
    return vast_times(ctx, hi, b, err);
}

static int vast_rule(void *ctx, int P, struct hrun_error *err)
{
    (void)ctx;
    (void)err;
    return P % 1001 == 1000;
}

static int vast_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    (void)ctx;
    (void)P;
    (void)err;
    *bytes = 100;
    return 0;
}

static void test_vast(void)
{
    struct hrun_option options[64];
    struct hrun_plan_sub subs[8];
    struct hrun_oracle oracle = { .ctx = &oracle, .nsubs = 8, .noptions = 64, .options = options, .times = vast_times,
                                  .bounds = vast_bounds, .rule = vast_rule, .memory = vast_memory };
    struct hrun_plan_problem problem = { &oracle, subs, NULL, 0, NULL };
    static const struct hrun_objective pes = { .name = "pes", .unit = "", .value = value_pes };
    struct hrun_plan *plan = NULL;
    struct hrun_error err;

    memset(subs, 0, sizeof subs);
    for (int o = 0; o < 64; o++)
        options[o] = (struct hrun_option){ o / 8, o % 8 + 1 };
    for (int i = 0; i < 8; i++)
        subs[i].npes = 1000;
    is_int(hrun_plan_search(&problem, 2, &plan, &err), 0, "8 x 1000 PEs, Mi <= 8");
    /* The time falls with P. Of all 64000 processes 938 or 1939 are too many at the largest accepted P. What
     * can be left out is 8 b with full Mi, 1000 + 7 a + 8 b with one Mi = 7: not 938, but 1939 by a = 133,
     * b = 1, which saves the most PEs. */
    ok(plan->v[0].P == 62061 && plan->v[0].npes == 8000 - 134, "the largest P that can be made, on the "
       "fewest PEs (got %d on %d)", plan->v[0].P, plan->v[0].npes);
    ok(plan->v[0].value == plan->v[1].value && !plan->counts.counted && plan->exact,
       "an exact tie, not counted");
    is_num(plan->counts.total / pow(8001, 8), 1, 1e-12, "the total is known");
    hrun_plan_destroy(plan);
    plan = NULL;
    for (int i = 0; i < 8; i++)
        subs[i].memory_bytes = 50;
    is_int(hrun_plan_search(&problem, 1, &plan, &err), -1, "where nothing fits");
    has_str(err.text, "too many to count by reason; the rule accepts 63 of 64000 numbers of processes, but "
            "for these no configuration fits into memory and has a usable time", "the message says what is known");
    problem.objective = &pes;
    is_int(hrun_plan_search(&problem, 1, &plan, &err), -1, "an objective that is not separable");
    ok(err.code == HRUN_EINVAL, "is refused when there are too many configurations");
    has_str(err.text, "\"pes\" needs a look at each configuration, and 1.679e+31 are too many (at most "
            "5000000)",
            "and the message names it");
    ok(plan == NULL, "outputs untouched");
}

static void test_objectives(void)
{
    for (int i = 0; i < HRUN_OBJECTIVES; i++) {
        const struct hrun_objective *o = &hrun_objectives[i];

        ok(o->unit && o->value && hrun_objective_find(o->name) == o, "objective %s is found", o->name);
    }
    ok(hrun_objective_find("speed") == NULL, "an unknown one is not");
    is_num(hrun_objective_find("time")->value(2.5, NULL, NULL), 2.5, 0, "time is time");
    ok(hrun_objective_find("time")->separable, "and separable");
}

/* Rows are evaluated once: on the published size the oracle is asked once per P. */
static void test_effort(void)
{
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_plan *plan = NULL;
    struct hrun_error err;

    table_six();
    x.calls_times = x.calls_rule = 0;
    is_int(hrun_plan_search(&problem, 3, &plan, &err), 0, "404 configurations");
    is_int(x.calls_times, 20, "times are asked once per P");
    is_int(x.calls_rule, 20, "the rule as well");
    ok(plan->n == 3 && plan->search_s >= 0 && plan->search_s < 10, "in little time");
    hrun_plan_destroy(plan);
}

int main(void)
{
    test_text();
    test_evaluate();
    test_published();
    test_infeasible();
    test_vast();
    test_objectives();
    test_effort();
    return tap_done();
}
