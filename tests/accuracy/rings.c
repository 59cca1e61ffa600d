/* rings.c - rings of virtual processes: predicted beside played efficiencies, and paper 004's own tables; for
 * tests/accuracy/rings
 *
 * Usage: rings RUNS.csv DEFINITION [SEEDS]
 * RUNS.csv has near,kind,what,N,config,time_s. Runs of kind `alone` and `start` are measured three times, or until most
 * agree, with the noise and the glitches of truth.h, and fitted as hrun-calibrate fits; those of kind `row` are
 * predicted. Of those of kind
 * `around` with the same N, near and P the one that is predicted to be the quickest is compared with the quickest.
 * Ends with 1 when a target is missed: efficiencies within 3 % on average and 8 % at worst, 1 - gamma of Table 4 as
 * printed.
 */
#include "app/template.h"
#include "configs.h"
#include "model/predict.h"
#include "truth.h"
#include "ring_paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 7, RUNS = 2000, REPEATED = 3, MOST_REPEATED = 7, SAMPLES = 600 };

static const double MEAN = 0.03, WORST = 0.08;
static const double speeds[NODES] = { 1.00, 1.20, 1.30, 1.80, 2.07, 3.28, 3.59 };   /* Table 1 */
static char names[] = "a,b,c,d,e,f,g", name[NODES][2] = { "a", "b", "c", "d", "e", "f", "g" };

struct run {
    int near;
    char kind[16], what[32], config[64], date[MOST_REPEATED][24];
    struct truth_run t;
};

struct logs {
    struct hrun_sample v[NODES][SAMPLES];
    size_t n[NODES];
};

static int read_runs(const char *path, struct run *runs)
{
    FILE *f = fopen(path, "r");
    char line[256];
    int n = 0;

    if (!f)
        return -1;
    while (n < RUNS && fgets(line, sizeof line, f)) {
        struct run *r = &runs[n];
        struct hrun_config config;
        long long N;

        memset(r, 0, sizeof *r);
        if (sscanf(line, "%d,%15[^,],%31[^,],%lld,\"%63[^\"]\",%lf", &r->near, r->kind, r->what, &N, r->config,
                   &r->t.time_s) != 6 ||
            hrun_config_parse(r->config, NODES, &config, NULL))
            continue;
        r->t.N = N;
        for (int i = 0; i < NODES; i++) {
            r->t.pes[i] = config.pes[i];
            r->t.P += r->t.procs[i] = config.procs[i];
        }
        n++;
    }
    fclose(f);
    return n;
}

/* ------------------------------------------------------------------ fit and predict */

/* Do most of the first n runs agree within what they scatter? hrun-calibrate, too, makes points again that do not. */
static int agree(const struct run *r, const struct truth_noise *noise, int n)
{
    for (int i = 0; i < n; i++) {
        double t = truth_measure(&r->t, noise, i);
        int near = 0;

        for (int k = 0; k < n; k++)
            near += fabs(truth_measure(&r->t, noise, k) - t) < 3.5 * noise->sigma * t;
        if (2 * near > n)
            return 1;
    }
    return 0;
}

static void measure(struct run *r, int number, const struct truth_noise *noise, char *consts, struct logs *logs)
{
    int used = 0;

    for (int i = 0; i < NODES; i++)
        used += r->t.pes[i];
    for (int k = 0; k < REPEATED || (k < MOST_REPEATED && !agree(r, noise, k)); k++) {
        double t = truth_measure(&r->t, noise, k);

        snprintf(r->date[k], sizeof r->date[k], "2026-01-01T%02u:%02u:%02uZ", (unsigned)number / 60 % 24,
                 (unsigned)number % 60, (unsigned)k % 60);
        for (int i = 0; i < NODES; i++)
            if (r->t.pes[i] && logs->n[i] < SAMPLES)
                logs->v[i][logs->n[i]++] = (struct hrun_sample){
                    .N = r->t.N, .P = r->t.P, .M = r->t.procs[i], .pes = 1, .time_s = t, .wall_s = t, .ok = 1,
                    .mixed = used > 1, .config = r->config, .cluster = names, .signatures = used > 1 ? names : NULL,
                    .consts = consts, .date = r->date[k],
                };
    }
}

static int fit(const struct hrun_app *app, struct run *runs, int n, int near, uint64_t seed, char *consts,
               struct hrun_models **models)
{
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct truth_noise noise = TRUTH_NOISE_DEFAULT;
    struct hrun_joint_sub subs[NODES];
    struct hrun_error err = { 0 };
    struct logs *logs = calloc(1, sizeof *logs);
    int rc;

    noise.seed = seed;
    for (int i = 0; i < n; i++)
        if (runs[i].near == near && (!strcmp(runs[i].kind, "alone") || !strcmp(runs[i].kind, "start")))
            measure(&runs[i], i, &noise, consts, logs);
    for (int i = 0; i < NODES; i++)
        subs[i] = (struct hrun_joint_sub){ name[i], name[i], logs->v[i], logs->n[i], 0 };
    rc = hrun_model_fit_joint(app, subs, NODES, &options, models, NULL, &err);
    if (rc)
        fprintf(stderr, "rings: %s\n", err.text);
    free(logs);
    return rc;
}

static double predict(const struct hrun_app *app, struct hrun_models *const *models, const struct run *r)
{
    struct hrun_error err = { 0 };
    struct hrun_predictor *p = hrun_predictor_create(app, models, NODES, HRUN_FORM_NPT, r->t.N, &err);
    const struct hrun_oracle *o = p ? hrun_predictor_oracle(p) : NULL;
    double t = NAN;
    int limiting;

    if (!p || o->whole(o->ctx, CONFIG(NODES, r->t.pes, r->t.procs), r->t.P, &t, &limiting, &err))
        fprintf(stderr, "rings: %s\n", err.text);
    hrun_predictor_destroy(p);
    return t;
}

/* Sequential time on the reference node, as played; 0: not played. */
static double sequential(const struct run *runs, int n, const struct run *of)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(runs[i].kind, "reference") && runs[i].near == of->near && runs[i].t.N == of->t.N)
            return runs[i].t.time_s;
    return 0;
}

/* S of the nodes that a table's row is of. */
static double total(const struct run *r)
{
    double s = 0;

    for (int i = 0; i < NODES; i++)
        s += r->t.pes[i] ? speeds[i] : 0;
    return s;
}

struct sums {
    double error, worst, loss, worst_loss, dp_loss, rounded_loss;
    int n, choices;
};

/* The quickest by prediction of those around, beside the quickest, those of dynamic programming and of rounding. */
static void compare_choices(const struct hrun_app *app, struct hrun_models *const *models, const struct run *runs,
                            int n, int near, int P, struct sums *sums)
{
    double best = INFINITY, predicted = INFINITY, chosen = NAN, dp = NAN, rounded = NAN;

    for (int i = 0; i < n; i++) {
        const struct run *r = &runs[i];
        double t;

        if (r->near != near || r->t.P != P)
            continue;
        if (!strcmp(r->kind, "best"))
            dp = r->t.time_s;
        if (!strcmp(r->kind, "rounded"))
            rounded = r->t.time_s;
        if (strcmp(r->kind, "around"))
            continue;
        best = fmin(best, r->t.time_s);
        t = predict(app, models, r);
        if (t < predicted) {
            predicted = t;
            chosen = r->t.time_s;
        }
    }
    if (!isfinite(best))
        return;
    sums->choices++;
    sums->loss += chosen / best - 1;
    sums->worst_loss = fmax(sums->worst_loss, chosen / best - 1);
    sums->dp_loss += dp / best - 1;
    sums->rounded_loss += rounded / best - 1;
}

static void run_seed(const struct hrun_app *app, struct run *runs, int n, int near, uint64_t seed, struct sums *sums)
{
    struct hrun_models *models[NODES] = { NULL };
    struct hrun_buf consts = HRUN_BUF_INIT;

    hrun_app_consts_text(app, &consts);
    if (fit(app, runs, n, near, seed, consts.data, models))
        exit(2);
    for (int i = 0; i < n; i++) {
        const struct run *r = &runs[i];
        double t, seq, e;

        if (r->near != near || strcmp(r->kind, "row"))
            continue;
        t = predict(app, models, r);
        seq = sequential(runs, n, r);
        e = fabs(r->t.time_s / t - 1);
        sums->error += e;
        sums->worst = fmax(sums->worst, e);
        sums->n++;
        if (seed == 1)
            printf("%-16s %7lld  %d %3d  %9.1f %9.1f   %5.3f %5.3f  %5.1f %%  %s\n", r->what, (long long)r->t.N, near,
                   r->t.P, r->t.time_s, t, seq / (r->t.time_s * total(r)), seq / (t * total(r)),
                   100 * (r->t.time_s / t - 1), r->config);
    }
    for (int P = 1; P <= 64; P++)
        compare_choices(app, models, runs, n, near, P, sums);
    for (int i = 0; i < NODES; i++)
        hrun_models_destroy(models[i]);
    hrun_buf_release(&consts);
}

/* ------------------------------------------------------------------ the paper's own figures */

struct row {
    const char *nodes;
    double N;
    int near, q;
    double kept, measured, simulated;    /* 1 - gamma, 0 where the paper gives none; eta, eta_s */
};

static const struct row rows[] = {
    { "abcdefg", 42000, 0, 7, 0, 0.42, 0.46 }, { "abcdefg", 42000, 0, 35, 0, 0.85, 0.84 },
    { "abcdefg", 210000, 3, 7, 0, 0.58, 0.53 }, { "abcdefg", 210000, 3, 35, 0, 1.16, 0.96 },
    { "abcdefg", 420000, 3, 7, 0, 0.49, 0.48 }, { "abcdefg", 420000, 3, 35, 0, 1.05, 0.88 },
    { "abcdefg", 420000, 6, 7, 0, 0.49, 0.49 }, { "abcdefg", 420000, 6, 35, 0, 1.12, 0.89 },
    { "abcdefg", 420000, 9, 7, 0, 0.46, 0.44 }, { "abcdefg", 420000, 9, 35, 0, 0.76, 0.77 },
    { "abcdefg", 840000, 9, 7, 0, 0.45, 0.46 }, { "abcdefg", 840000, 9, 35, 0, 0.84, 0.82 },
    { "abcd", 105000, 3, 15, 0.92, 0.94, 0.92 }, { "aceg", 105000, 3, 25, 0.94, 1.06, 0.94 },
    { "aefg", 105000, 3, 35, 0.96, 0.99, 0.96 },
    { "abefg", 840000, 9, 5, 0, 0.40, 0.38 }, { "abefg", 840000, 9, 15, 0, 0.69, 0.75 },
    { "abefg", 840000, 9, 21, 0, 0.78, 0.80 }, { "abefg", 840000, 9, 25, 0, 0.80, 0.78 },
    { "abefg", 840000, 9, 35, 0, 0.71, 0.79 },
};

/* Eqs. 5 to 8 with section 5.2's parameters: f of 2^-i, 0.57 us per pair, m = 10; Table 2's MPICH2, the middles of its
 * ranges. Packing and switching are not given: 0. */
static double simulate(const struct row *r, double *kept)
{
    static const double f[] = { [0] = 1, [3] = 0.23, [6] = 0.023, [9] = 0.0051 };
    struct hrun_ring_stage stages[NODES];
    struct ring_node node;
    double speed[NODES], elapsed[NODES], bytes = 8 * 10 * r->N / r->q, np = r->N / r->q, T, cpu, rate, total = 0;
    const struct ring_costs costs = {
        .local_s = np * (np - 1) / 2 * f[r->near] * 0.57e-6, .step_s = np * np * f[r->near] * 0.57e-6,
        .inner_s = 27e-6 + 27e-9 * bytes,
    };
    int n = (int)strlen(r->nodes), procs[NODES];

    for (int i = 0; i < n; i++)
        speed[i] = speeds[r->nodes[i] - 'a'];
    *kept = NAN;
    if (rp_allocate(speed, n, r->q, procs, &rate))
        return NAN;
    for (int i = 0; i < n; i++) {
        node = (struct ring_node){ procs[i], speed[i], 0, 0, 75e-6 + 90e-9 * bytes };
        stages[i] = rp_stage(&node, &costs);
        total += speed[i];
    }
    *kept = rp_kept(speed, n, r->q, rate);
    T = hrun_ring_play(stages, n, HRUN_RING_PRINTED, elapsed, NULL, NULL);
    cpu = r->N * (r->N - 1) / 2 * f[r->near] * 0.57e-6 / r->q;
    return r->q * cpu / (T * total);     /* eq. 1: the sum of s_i eta_i over S */
}

/* 0, or 1 when a printed 1 - gamma differs. */
static int paper_tables(void)
{
    double off = 0;
    int missed = 0, n = sizeof rows / sizeof *rows;

    printf("\npaper 004, Tables 3 to 5 (MPICH2): efficiencies by eqs. 5-8 with the parameters it gives, as it prints\n"
           "them, and as it measured them\n"
           "PCs           N  i   q  1-gamma (printed)   ours  eta_s    eta\n");
    for (int k = 0; k < n; k++) {
        const struct row *r = &rows[k];
        char ours[16], printed[16] = "";
        double kept, eta = simulate(r, &kept);

        snprintf(ours, sizeof ours, "%.2f", kept);
        if (r->kept > 0) {
            snprintf(printed, sizeof printed, "%.2f", r->kept);
            missed += strcmp(ours, printed) != 0;
        }
        off += fabs(eta / r->simulated - 1) / n;
        printf("%-8s %6.0f  %d  %2d     %s  %-9s   %5.3f   %4.2f   %4.2f\n", r->nodes, r->N, r->near, r->q, ours,
               *printed ? printed : "", eta, r->simulated, r->measured);
    }
    printf("1 - gamma of Table 4: %s; eta_s: %.1f %% off on average. The paper's simulator knew speeds\n"
           "that follow N and the neighbourhood (\"the most relevant source of error\"), of which it prints\n"
           "averages; with these no efficiency is above 1 - gamma, as one of its own is.\n",
           missed ? "DIFFERS" : "as printed", 100 * off);
    return missed > 0;
}

int main(int argc, char **argv)
{
    static struct run runs[RUNS];
    int n = argc > 2 ? read_runs(argv[1], runs) : -1, seeds = argc > 3 ? atoi(argv[3]) : 1, missed;
    struct sums sums = { 0 };

    if (n <= 0 || seeds < 1) {
        fprintf(stderr, "usage: rings RUNS.csv DEFINITION [SEEDS]\n");
        return 2;
    }
    printf("PCs of               N  i   q   played s  predicted   eta  and so  error  configuration (first seed)\n");
    for (int near = 0; near <= 9; near++) {
        char define[16], *defines[] = { define, NULL };
        struct hrun_error err = { 0 };
        struct hrun_app *app;
        int any = 0;

        for (int i = 0; i < n; i++)
            any |= runs[i].near == near;
        if (!any)
            continue;
        snprintf(define, sizeof define, "near=%d", near);
        if (hrun_app_load(argv[2], defines, &app, &err)) {
            fprintf(stderr, "rings: %s\n", err.text);
            return 2;
        }
        for (int seed = 1; seed <= seeds; seed++)
            run_seed(app, runs, n, near, (uint64_t)seed, &sums);
        hrun_app_destroy(app);
    }
    missed = !(sums.error / sums.n <= MEAN) || !(sums.worst <= WORST);
    printf("\nefficiency, predicted against played, %d seeds: mean %.1f %% (target %.0f %%; paper 7.1 %%),\n"
           "worst %.1f %% (target %.0f %%; paper 20.5 %%)%s\n", seeds, 100 * sums.error / sums.n, 100 * MEAN,
           100 * sums.worst, 100 * WORST, missed ? "  MISSED" : "");
    if (sums.choices)
        printf("allocations of as many processes, slower than the quickest of those around the shares by:\n"
               "predicted to be quickest %.2f %% (worst %.2f %%), dynamic programming %.2f %%, rounding %.2f %%\n",
               100 * sums.loss / sums.choices, 100 * sums.worst_loss, 100 * sums.dp_loss / sums.choices,
               100 * sums.rounded_loss / sums.choices);
    return paper_tables() | missed;
}
