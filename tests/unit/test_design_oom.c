/* Each allocation fails once, in turn, while a design is made, told of runs, and asked for the next ones. */
#include "nomem.h"
#include "plan/next/design.h"
#include "model.h"

enum { SUBS = 2, NSIZES = 3, STEPS = 10 };

static const char *const np[] = { "N^2/P", "N", "1", NULL };
static const char *const nt[] = { "N^2", "N", "1", NULL };
static const int64_t sizes[NSIZES] = { 100, 200, 400 };
static const struct hrun_design_sub subs[SUBS] = { { "fast", "fast", 4, 0, 0 }, { "slow", "slow", 4, 0, 0 } };
static const struct hrun_design_settings settings = { .sizes = sizes, .nsizes = NSIZES, .seed = 1,
                                                      .fit = HRUN_FIT_OPTIONS_DEFAULT };

static double truth(const int *pes, int64_t N, int P)
{
    return (pes[1] ? 2e-6 : 1e-6) * (double)(N * N) / P + 1e-5 * (double)N + 0.01;
}

/* A design of `steps` runs; the last call into the design is the one in which allocations fail from `at` on. Result: of
 * that call. */
static int last_call(const struct ma *m, int steps, long at, int next, struct hrun_error *err)
{
    struct hrun_design *d;
    struct hrun_design_run run = { 0 };
    int pes[SUBS], procs[SUBS], rc = 0;
    double t;

    calls = 0;
    fail_at = steps ? 0 : at;
    d = hrun_design_create(&m->app, subs, SUBS, &settings, err);
    for (int i = 1; d && rc >= 0 && i <= steps; i++) {
        calls = 0;
        fail_at = i == steps && next ? at : 0;
        rc = hrun_design_next(d, &run, err);
        if (rc <= 0 || (i == steps && next))
            break;
        memcpy(pes, run.pes, sizeof pes);
        memcpy(procs, run.procs, sizeof procs);
        t = truth(pes, run.N, run.P);
        calls = 0;
        fail_at = i == steps ? at : 0;
        rc = hrun_design_add(d, pes, procs, NULL, run.N, t, t, 1, err);
    }
    fail_at = 0;
    rc = d ? rc : -1;
    at = calls;
    hrun_design_destroy(d);
    calls = at;
    return rc;
}

static void try_all(const struct ma *m, int steps, int next, const char *what)
{
    int failed = 0, bad = 0, leaked = 0;

    for (long at = 1;; at++) {
        struct hrun_error err = { 0 };
        long before = live;
        int rc = last_call(m, steps, at, next, &err);

        leaked += live != before;
        if (calls < at) {
            bad += rc < 0;
            break;
        }
        failed++;
        bad += rc != -1 || err.code != HRUN_ENOMEM;
    }
    is_int(bad, 0, "%s: each of %d failing allocations gives HRUN_ENOMEM", what, failed);
    is_int(leaked, 0, "%s: and nothing is lost", what);
}

int main(void)
{
    struct ma m;
    struct hrun_error err = { 0 };

    ma_init(&m, np, nt, NULL, 1);
    calls = 0;
    hrun_design_destroy(hrun_design_create(&m.app, subs, SUBS, &settings, &err));
    if (!REPLACED || calls == 0) {  /* under sanitizers and valgrind, which bring allocators of their own */
        printf("1..0 # SKIP allocations cannot be made to fail here\n");
        ma_release(&m);
        return 0;
    }
    last_call(&m, STEPS, 0, 0, &err);   /* what libraries allocate once and keep */
    try_all(&m, 0, 0, "create");
    try_all(&m, 1, 1, "the first run");
    try_all(&m, 1, 0, "add");
    try_all(&m, STEPS, 1, "a run with models");
    try_all(&m, STEPS, 0, "add with models");
    ma_release(&m);
    return tap_done();
}
