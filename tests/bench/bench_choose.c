/* bench_choose.c - choosing by real models: predictor, rule and memory of an app definition, not made-up functions
 *
 * Table VI of paper 000 (3 sub-clusters of 4 PEs, 404 configurations), and 16 sub-clusters with 10,000 PEs in all and
 * up to 64 processes on each. The models are fitted from made-up measurements of an LU with HPL's terms (Table V).
 */
#include "bench.h"

#include "app/app.h"
#include "base/units.h"
#include "model/predict.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPS = 31, SUBS_MAX = 16, PROCS_MAX = 64, SIZES = 5, PES = 4 };

static int die(const struct hrun_error *err)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    fprintf(stderr, "bench_choose: %s\n", hrun_error_format(err, text, sizeof text));
    return 1;
}

/* Models of a PE of the given speed for M = 1..procs. */
static int fit(const struct hrun_app *app, double speed, int procs, struct hrun_models **out, struct hrun_error *err)
{
    static struct hrun_sample s[PROCS_MAX * SIZES * PES];
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    size_t k = 0;

    for (int m = 1; m <= procs; m++)
        for (int pes = 1; pes <= PES; pes++)
            for (int i = 0; i < SIZES; i++) {
                double N = 1000 * (1 + i), P = pes * m;

                s[k] = (struct hrun_sample){ .N = (int64_t)N, .P = (int)P, .M = m, .pes = pes, .ok = 1 };
                s[k].time_s = m * (1 + 0.01 * m) * 6.7e-10 * N * N * N / P / speed + 2e-14 * N * N * P + 1e-6 * N +
                              0.01;
                s[k].wall_s = s[k].time_s;
                s[k].consts = (char *)"";
                s[k].date = (char *)"2026-01-01T00:00:00Z";
                k++;
            }
    return hrun_model_fit(app, s, k, &options, out, NULL, err);
}

/* last: processes per PE of the last sub-cluster. */
static int bench(const char *what, int nsubs, int npes, int procs, int last, int64_t N, const char *rule)
{
    char dir[] = "/tmp/bench_choose.XXXXXX", path[64];
    struct hrun_models *models[SUBS_MAX];
    struct hrun_plan_sub subs[SUBS_MAX];
    struct hrun_error err = { 0 };
    struct hrun_app *app;
    double t[REPS], create[REPS], configurations = 0;
    int P = 0, rc;
    FILE *f;

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/bench.yaml", dir);
    f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "name: bench\nrule: \"%s\"\nmemory: \"8*N^2/P\"\nprocs_per_pe: [1", rule);
    for (int m = 2; m <= procs; m++)
        fprintf(f, ", %d", m);
    fprintf(f, "]\nterms:\n"
               "  np: [\"N^3/P\", \"N^2/P\", \"N/P\", \"1/P\", \"P*N^2\", \"P*N\", \"P\", \"N^2\", \"N\", \"1\"]\n"
               "  n: [\"N^3\", \"N^2\", \"N\", \"1\"]\n");
    fclose(f);
    rc = hrun_app_load(path, NULL, &app, &err);
    unlink(path);
    rmdir(dir);
    if (rc)
        return die(&err);
    for (int i = 0; i < nsubs; i++) {
        subs[i] = (struct hrun_plan_sub){ .npes = npes, .memory_bytes = 64e9 };
        if (fit(app, 1.6 / (1 + 0.4 * i), i == nsubs - 1 ? last : procs, &models[i], &err))
            return die(&err);
    }
    for (int r = 0; r < REPS; r++) {
        struct hrun_plan_problem problem = { .subs = subs };
        double start = bench_now();
        struct hrun_predictor *p = hrun_predictor_create(app, models, nsubs, HRUN_FORM_NPT, N, &err);
        struct hrun_plan *plan;

        if (!p)
            return die(&err);
        create[r] = bench_now() - start;
        problem.oracle = hrun_predictor_oracle(p);
        start = bench_now();
        if (hrun_plan_search(&problem, 3, &plan, &err))
            return die(&err);
        t[r] = bench_now() - start;
        P = plan->v[0].P;
        configurations = plan->counts.total;
        hrun_plan_destroy(plan);
        hrun_predictor_destroy(p);
    }
    bench_sort(t, REPS);
    bench_sort(create, REPS);
    printf("  %-42s %10s configurations  P = %-7d search %8.3f ms  predictor %6.3f ms\n", what, hrun_count(configurations).s, P,
           1e3 * t[REPS / 2], 1e3 * create[REPS / 2]);
    for (int i = 0; i < nsubs; i++)
        hrun_models_destroy(models[i]);
    hrun_app_destroy(app);
    return 0;
}

int main(void)
{
    return bench("Table VI", 3, 4, 2, 1, 9600, "P >= 1") ||
           bench("Table VI, N % P == 0", 3, 4, 2, 1, 9600, "N % P == 0") ||
           bench("16 x 625 PEs, Mi <= 64", 16, 625, 64, 64, 400000, "P >= 1") ||
           bench("16 x 625 PEs, Mi <= 64, N % P == 0", 16, 625, 64, 64, 400000, "N % P == 0") ||
           bench("16 x 625 PEs, N % (P*P) == 0 && ispow2(P)", 16, 625, 64, 64, 1 << 20, "N % (P*P) == 0 && ispow2(P)");
}
