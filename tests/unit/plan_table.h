/* plan_table.h - made-up models for the tests of lib/plan: the oracle answers from tables */
#ifndef HRUN_TESTS_PLAN_TABLE_H
#define HRUN_TESTS_PLAN_TABLE_H

#include "fixture.h"

#include "plan/plan.h"

enum { TABLE_SUBS = 6, TABLE_OPTIONS = 32, TABLE_P = 640 };

struct table {
    struct hrun_oracle oracle;
    struct hrun_option options[TABLE_OPTIONS];
    struct hrun_plan_sub subs[TABLE_SUBS];
    int max_P;
    double t[TABLE_P + 1][TABLE_OPTIONS];
    double bytes[TABLE_P + 1];
    char rule[TABLE_P + 1];
    double slack;                       /* bounds are the true minima times this */
    int fail_rule, fail_memory, fail_times, fail_bounds;  /* P at which that function fails; 0: never */
    long calls_times, calls_rule;
};

static inline int below(uint64_t *state, int n)
{
    return (int)(rnd_u64(state) % (uint64_t)n);
}

static inline int table_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct table *x = ctx;

    x->calls_times++;
    if (P == x->fail_times)
        return hrun_fail(err, HRUN_ENONFINITE, "times at %d", P);
    memcpy(t, x->t[P], (size_t)x->oracle.noptions * sizeof *t);
    return 0;
}

static inline int table_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    struct table *x = ctx;

    if (lo <= x->fail_bounds && x->fail_bounds <= hi)
        return hrun_fail(err, HRUN_ENONFINITE, "bounds at %d", x->fail_bounds);
    for (int o = 0; o < x->oracle.noptions; o++) {
        b[o] = INFINITY;
        for (int P = lo; P <= hi; P++)
            if (isfinite(x->t[P][o]) && x->t[P][o] > 0 && x->t[P][o] * x->slack < b[o])
                b[o] = x->t[P][o] * x->slack;
    }
    return 0;
}

static inline int table_rule(void *ctx, int P, struct hrun_error *err)
{
    struct table *x = ctx;

    x->calls_rule++;
    return P == x->fail_rule ? hrun_fail(err, HRUN_EPARSE, "rule at %d", P) : x->rule[P];
}

static inline int table_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    struct table *x = ctx;

    if (P == x->fail_memory)
        return hrun_fail(err, HRUN_ENONFINITE, "memory at %d", P);
    *bytes = x->bytes[P];
    return 0;
}

/* Sub-clusters of npes[i] PEs with M in mlists[i], a list ending with 0. Every P is allowed, bytes are 0, and
 * Ti = 64 (i + 1) M / P + P / 16 for P > M. */
static inline void table_init(struct table *x, int nsubs, const int *npes, const int *const *mlists)
{
    memset(x, 0, sizeof *x);
    x->slack = 1;
    for (int i = 0; i < nsubs; i++) {
        int largest = 0;
        x->subs[i].npes = npes[i];
        for (const int *m = mlists[i]; *m; m++) {
            x->options[x->oracle.noptions++] = (struct hrun_option){ i, *m };
            largest = *m;
        }
        x->max_P += npes[i] * largest;
    }
    x->oracle.ctx = x;
    x->oracle.nsubs = nsubs;
    x->oracle.options = x->options;
    x->oracle.times = table_times;
    x->oracle.bounds = table_bounds;
    x->oracle.rule = table_rule;
    x->oracle.memory = table_memory;
    for (int P = 1; P <= x->max_P; P++) {
        x->rule[P] = 1;
        for (int o = 0; o < x->oracle.noptions; o++) {
            const struct hrun_option *option = &x->options[o];
            x->t[P][o] = option->m > P ? NAN : 64.0 * (option->sub + 1) * option->m / P + P / 16.0;
        }
    }
}

#endif
