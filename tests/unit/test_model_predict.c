/* From models to predictions: values, intervals, bounds against brute force, mistakes. */
#include "fixture.h"
#include "model.h"

#include <time.h>

/* The value of a record by itself, compiled afresh: an independent oracle. */
static double direct(const struct hrun_fit_record *r, int kind, double N, double P, double T)
{
    static const char *const names[3][3] = { { "N" }, { "N", "P" }, { "T", "P", "N" } };
    const double values[3][3] = { { N }, { N, P }, { T, P, N } };
    double sum = 0;

    for (int j = 0; j < r->nterms; j++) {
        struct hrun_expr *e;
        double v;

        if (r->k[j] == 0)
            continue;
        e = hrun_expr_compile(r->terms[j], names[kind], kind + 1, NULL, 0, NULL);
        sum += hrun_expr_eval(e, values[kind], &v, NULL) ? NAN : r->k[j] * v;
        hrun_expr_destroy(e);
    }
    return sum;
}

/* ------------------------------------------------------------------ values */

static void test_values(void)
{
    static const char *const one[] = { "N", NULL }, *const np_other[] = { "N^3/P", "sqrt(N)*P", NULL };
    struct ma a;
    struct hrun_models *m[3] = { ma_models(), NULL, ma_models() };
    struct hrun_predictor *p;
    const struct hrun_oracle *o;
    struct hrun_error err;
    struct hrun_interval time;
    double t[4], bytes;
    int64_t sizes[2], counts[2];
    static const double k10[10] = { 1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 0, 0.01 }, k1[1] = { 1e-3 },
                        k2[2] = { 2e-9, 1e-3 };
    int same = 1;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 2);
    ma_record(m[0], "npt", 2, 0, hpl_np, k10);
    ma_record(m[0], "single", 2, 0, one, k1);
    ma_record(m[0], "single", 1, 0, one, k1);
    ma_record(m[0], "npt", 3, 0, hpl_np, k10);          /* M = 3 is not allowed */
    ma_record(m[2], "npt", 1, 0, np_other, k2);         /* no single */
    ma_record(m[2], "nt", 1, 4, one, k1);               /* of another family */
    p = hrun_predictor_create(&a.app, m, 3, HRUN_FORM_NPT, 1000, &err);
    ok(p != NULL, "created with a sub-cluster that has no profile");
    o = hrun_predictor_oracle(p);
    is_int(o->nsubs, 3, "three sub-clusters");
    is_int(o->noptions, 3, "three options");
    ok(o->options[0].sub == 0 && o->options[0].m == 1 && o->options[1].sub == 0 && o->options[1].m == 2 &&
       o->options[2].sub == 2 && o->options[2].m == 1, "by sub-cluster, then by M");
    is_int(o->times(o->ctx, 1, t, &err), 0, "P = 1");
    is_num(t[0], 1, 1e-15, "one PE with one process: single");
    ok(isnan(t[1]), "two processes per PE need P >= 2");
    ok(isnan(t[2]), "no single model, no P = 1");
    o->times(o->ctx, 2, t, &err);
    ok(isnan(t[0]), "single only on this PE: no model of several");
    is_num(t[1], 1, 1e-15, "P = M = 2: single");
    is_num(t[2], 1 + 2e-3 * sqrt(1000), 1e-14, "P > M: NP-T");
    for (int P = 3; P < 100; P++) {
        o->times(o->ctx, P, t, &err);
        same &= case_holds(isnan(t[0]) && fabs(t[1] - direct(&m[0]->v[0], 1, 1000, P, 0)) < 1e-14 &&
                           fabs(t[2] - direct(&m[2]->v[0], 1, 1000, P, 0)) < 1e-14, P);
        same &= case_holds(!hrun_predictor_time(p, 0, 2, P, &time, &err) && time.mid == t[1] &&
                           time.low <= t[1] && time.high >= t[1], P);
        same &= case_holds(!hrun_predictor_time(p, 2, 1, P, &time, &err) && time.mid == t[2], P);
    }
    ok(same, "all P: values, and the same to the last bit one by one");
    is_int(o->rule(o->ctx, 4, &err), 1, "the rule is asked");
    is_int(o->rule(o->ctx, 5, &err), 0, "... both ways");
    ok(o->memory == NULL, "no memory expression, no limit");
    time = (struct hrun_interval){ 9, 9, 9 };
    is_int(hrun_predictor_time(p, 1, 1, 4, &time, &err), -1, "no profile, no prediction");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    is_str(err.text, "demo has no npt model for P=4 with M=1 on sub-cluster 2", "... said");
    is_int(hrun_predictor_time(p, 2, 1, 1, &time, &err), -1, "no model of one PE");
    is_str(err.text, "demo has no single model for P=1 with M=1 on sub-cluster 3", "... said");
    ok(time.mid == 9 && time.low == 9 && time.high == 9, "outputs are untouched");
    m[0]->v[0].nmin = 2000;
    m[0]->v[0].nmax = 4000;
    m[0]->v[0].pmin = 4;
    m[0]->v[0].pmax = 8;
    is_int(hrun_predictor_measured(p, 0, 2, 5, sizes, counts), 0, "what a model was measured at is known");
    is_num(hrun_beyond(1000, sizes[0], sizes[1]), 2, 0, "extrapolation in N: 2000 / 1000");
    is_num(hrun_beyond(40, counts[0], counts[1]), 5, 0, "in P: 40 / 8");
    is_num(hrun_beyond(counts[0], counts[0], counts[1]), 1, 0, "inside: 1");
    is_num(hrun_beyond(2, 8, 10), 4, 0, "below: 8 / 2");
    is_int(hrun_predictor_measured(p, 1, 1, 4, sizes, counts), -1, "without a model nothing is");
    hrun_predictor_destroy(p);
    hrun_predictor_destroy(NULL);

    a.app.memory = ma_compile(&a.app, "8*N^2/P", (const char *const[]) { "N", "P" }, 2);
    p = hrun_predictor_create(&a.app, m, 3, HRUN_FORM_NPT, 1000, &err);
    o = hrun_predictor_oracle(p);
    is_int(o->memory(o->ctx, 4, &bytes, &err), 0, "memory is asked");
    is_num(bytes, 2e6, 0, "8 N^2 / P");
    hrun_predictor_destroy(p);

    p = hrun_predictor_create(&a.app, m, 3, HRUN_FORM_NT, 1000, &err);
    o = hrun_predictor_oracle(p);
    is_int(o->noptions, 3, "nt: an option with nt, or with single alone");
    o->times(o->ctx, 4, t, &err);
    ok(isnan(t[0]) && isnan(t[1]) && fabs(t[2] - 1) < 1e-15, "nt: usable at its measured P");
    o->times(o->ctx, 5, t, &err);
    ok(isnan(t[2]), "and at no other");
    is_int(hrun_predictor_time(p, 2, 1, 4, &time, &err), 0, "nt: one by one");
    is_num(time.mid, 1, 1e-15, "the same value");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m[0]);
    hrun_models_destroy(m[2]);
    ma_release(&a);
}

/* P-T terms: those in proportion to T share a term, others keep their T. */
static void test_pt(void)
{
    static const char *const pt[] = { "P*T", "T/P", "1", "T^2/P", "max(T, 2)*P", "sqrt(T)", "T*N/P^2", NULL };
    static const double k[7] = { 1e-3, 0.5, 0.01, 1e-3, 1e-4, 0.1, 1e-3 };
    struct ma a;
    struct hrun_models *m[1] = { ma_models() };
    struct hrun_predictor *p;
    struct hrun_interval time;
    const struct hrun_oracle *o;
    struct hrun_error err;
    double t[5], b[5], worst = 0;
    int bad = 0;

    ma_init(&a, hpl_np, hpl_nt, pt, 5);
    for (int M = 1; M <= 4; M++) {
        double nt[4] = { 1e-9 * M, 0, 1e-4, 0.1 * M };
        ma_record(m[0], "nt", M, 2 * M, hpl_nt, nt);
        ma_record(m[0], "pt", M, 2 * M, pt, k);
    }
    ma_record(m[0], "nt", 5, 10, hpl_nt, (double[]) { -1e-9, 0, 0, 0 });
    ma_record(m[0], "pt", 5, 10, pt, k);
    p = hrun_predictor_create(&a.app, m, 1, HRUN_FORM_PT, 1500, &err);
    o = hrun_predictor_oracle(p);
    is_int(o->noptions, 5, "five options");
    for (int P = 1; P < 300; P++) {
        o->times(o->ctx, P, t, &err);
        o->bounds(o->ctx, P, 300, b, &err);
        for (int M = 1; M <= 4; M++) {
            double T = direct(&m[0]->v[2 * (M - 1)], 0, 1500, 0, 0);
            double want = direct(&m[0]->v[2 * (M - 1) + 1], 2, 1500, P, T);

            if (P <= M)
                bad += !isnan(t[M - 1]);
            else
                worst = fmax(worst, fabs(t[M - 1] / want - 1));
            bad += t[M - 1] < b[M - 1];
        }
        bad += !isnan(t[4]);
    }
    ok(worst < 1e-13, "P-T values follow the N-T model of each M (%.1e)", worst);
    ok(!bad, "P <= M is not usable, nor is a model built on a negative time");
    is_int(hrun_predictor_time(p, 0, 5, 20, &time, &err), -1, "... nor one by one");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m[0]);
    ma_release(&a);
}

/* A model of least squares that a bad measurement wrecked: negative for large N, hence not usable (paper
 * 000, 5.8). */
static void test_wrecked(void)
{
    struct ma a;
    struct hrun_sample s[100];
    struct hrun_models *m[2] = { NULL, NULL };
    struct hrun_fit_options ls = { .method = HRUN_METHOD_LS };
    struct hrun_predictor *p;
    struct hrun_error err;
    struct hrun_interval time;
    double t[1];
    size_t n = 0;

    ma_init(&a, himeno_np, hpl_nt, himeno_pt, 1);
    for (int P = 2; P <= 4; P++)
        for (int N = 32; N <= 192; N += 20)
            s[n++] = sample(N, P, 1, (1e-6 * N * N * N / P + 0.01) * (N == 192 ? 0.5 : 1));
    hrun_model_fit(&a.app, s, n, &ls, &m[0], NULL, &err);
    hrun_model_fit(&a.app, s, n, &nnls, &m[1], NULL, &err);
    p = hrun_predictor_create(&a.app, m, 1, HRUN_FORM_NPT, 400, &err);
    hrun_predictor_oracle(p)->times(p, 4, t, &err);
    ok(isnan(t[0]), "least squares predicts a negative time for N = 400: not usable");
    is_int(hrun_predictor_time(p, 0, 1, 4, &time, &err), -1, "nor given one by one");
    is_int(err.code, HRUN_ENONFINITE, "... HRUN_ENONFINITE");
    has_str(err.text, "the npt model of demo predicts -", "... saying what it predicts");
    has_str(err.text, "at N=400, P=4, M=1: not a time", "... and where");
    hrun_predictor_destroy(p);
    p = hrun_predictor_create(&a.app, m + 1, 1, HRUN_FORM_NPT, 400, &err);
    hrun_predictor_oracle(p)->times(p, 4, t, &err);
    ok(t[0] > 4 && t[0] < 30, "NNLS predicts %.1f s (16 s without the glitch)", t[0]);
    hrun_predictor_destroy(p);
    hrun_models_destroy(m[0]);
    hrun_models_destroy(m[1]);
    ma_release(&a);
}

/* ------------------------------------------------------------------ intervals */

/* In each trial 27 measurements with 3 % noise are fitted and new runs drawn from the same law. */
static void test_coverage(void)
{
    struct ma a;
    uint64_t seed = 2026;
    int inside = 0, count = 0, below = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int trial = 0; trial < 2000; trial++) {
        struct hrun_sample s[27];
        struct hrun_models *m = NULL;
        struct hrun_predictor *p;
        struct hrun_interval time = { 0 };
        size_t n = 0;
        int64_t N = 500 + 1000 * (trial % 9);

        for (int P = 2; P <= 4; P++)
            for (int i = 0; i < 9; i++) {
                double size = 400 + 1100 * i, T = 4e-10 * pow(size, 3) / P + 3e-8 * size * size + 0.02 * P;
                s[n++] = sample((int64_t)size, P, 1, T * (1 + 0.03 * rnd_normal(&seed)));
            }
        hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, NULL);
        p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, N, NULL);
        for (int P = 2; P <= 4; P++) {
            double T = 4e-10 * pow((double)N, 3) / P + 3e-8 * (double)(N * N) + 0.02 * P;
            double run = T * (1 + 0.03 * rnd_normal(&seed));

            hrun_predictor_time(p, 0, 1, P, &time, NULL);
            inside += run >= time.low && run <= time.high;
            below += time.low < 0;
            count++;
        }
        hrun_predictor_destroy(p);
        hrun_models_destroy(m);
    }
    ok(inside > 0.93 * count && inside < 0.99 * count, "95 %% intervals hold %.1f %% of new runs",
       100.0 * inside / count);
    ok(!below, "no interval reaches below 0");
    ma_release(&a);
}

static void test_interval_by_hand(void)
{
    static const char *const line[] = { "N", "1", NULL };
    struct ma a;
    struct hrun_models *m = ma_models();
    struct hrun_fit_record *r = ma_record(m, "single", 1, 0, line, (double[]) { 0.5, 2 });
    struct hrun_predictor *p;
    struct hrun_interval time = { 0 };
    double half;

    ma_init(&a, hpl_np, line, hpl_pt, 1);
    r->cov[0] = 0.25;
    r->cov[1] = r->cov[2] = -0.5;
    r->cov[3] = 4;
    r->s2 = 9;
    r->dof = 2;
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 4, NULL);
    ok(p != NULL, "single alone will do when nothing else was fitted");
    hrun_predictor_time(p, 0, 1, 1, &time, NULL);
    /* x = (4,1): x'Cx = 4 - 4 + 4 = 4; unweighted: 9 (4 + 1); t(2, 0.975) = 4.3027 */
    half = 0.95 / sqrt(2 * 0.975 * 0.025) * sqrt(45);
    is_num(time.mid, 4, 1e-15, "0.5 * 4 + 2");
    is_num(time.high, 4 + half, 1e-9, "upper end by hand");
    is_num(time.low, 0, 0, "the lower end is cut at 0");
    r->dof = 0;
    r->s2 = 1;
    r->sigma_abs_s = 0.3;
    r->sigma_rel = 0.1;
    memset(r->cov, 0, 4 * sizeof *r->cov);
    hrun_predictor_time(p, 0, 1, 1, &time, NULL);
    is_num(time.high, 4 + 1.959964 * 0.5, 1e-6, "no degrees of freedom: normal, root of 0.3^2 + 0.4^2");
    is_num(time.low, 4 - 1.959964 * 0.5, 1e-6, "and below");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m);
    ma_release(&a);
}

/* One measured P: 1/P, 1 and P are the same there. Away from it the interval says so. */
static void test_one_measured_p(void)
{
    static const char *const np[] = { "N^3/P", "1/P", "P", "1", "1/(P-8)", "N/P", NULL };
    static const char *const only[] = { "N^3/P", NULL };
    struct ma a;
    struct hrun_sample s[6];
    struct hrun_models *m = NULL;
    struct hrun_predictor *p;
    struct hrun_error err;
    const double abs_s = hypot(1e-3, 1e-3 / sqrt(12));  /* the times have three decimals */
    struct hrun_interval time = { 0 };
    double width;
    size_t n = 0;

    ma_init(&a, np, hpl_nt, NULL, 1);
    for (int i = 0; i < 6; i++)
        s[n++] = sample(1000 + 500 * i, 2, 1, 2e-9 * pow(1000 + 500 * i, 3) / 2 + 0.5);
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, &err), 0, "exact data at P = 2 alone");
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 1000, &err);
    hrun_predictor_time(p, 0, 1, 2, &time, NULL);
    is_num(time.mid, 1.5, 1e-9, "the model is N^3/P + 1/P, 1 s and 0.5 s at P = 2");
    ok(time.high - time.low < 1e-6, "at P = 2 the interval is narrow (%.1e)", time.high - time.low);
    for (int P = 3; P <= 6; P++) {
        hrun_predictor_time(p, 0, 1, P, &time, NULL);
        width = 1.959964 * hypot(abs_s, 0.02 * time.mid);
        is_num(time.mid, 2.0 / P + 1.0 / P, 1e-9, "P = %d: N^3/P + 1/P", P);
        is_num(time.low, fmax(time.mid - width, 0), 1e-6, "... no term falls faster than 1/P");
        /* 1/(P-8) is -1/6 at P = 2 and -1/(8-P) at P: a multiple, too, which grows by 6/(8-P) */
        is_num(time.high, 2.0 / P + 0.5 * fmax(P / 2.0, 6.0 / (8 - P)) + width, 1e-6,
               "... 0.5 s may grow as P does, N^3/P is not in doubt");
    }
    is_int(hrun_predictor_time(p, 0, 1, 8, &time, &err), 0, "P = 8, where 1/(P-8) has no value");
    is_num(time.high, 2.0 / 8 + 0.5 * 4 + 1.959964 * hypot(abs_s, 0.02 * time.mid), 1e-6,
           "... it does not count there");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m);
    m = NULL;
    ma_release(&a);

    /* nothing in doubt: the scatter of one run remains */
    ma_init(&a, only, hpl_nt, NULL, 1);
    for (int i = 0; i < 2; i++) {
        struct hrun_fit_options o = { .method = HRUN_METHOD_NNLS, .sigma_abs_s = i * 1e-3, .sigma_rel = i * 0.02 };

        for (size_t l = 0; l < n; l++)
            s[l].time_s = 2e-9 * pow((double)s[l].N, 3) / 2;
        hrun_model_fit(&a.app, s, n, &o, &m, NULL, NULL);
        p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 1000, &err);
        hrun_predictor_time(p, 0, 1, 4, &time, NULL);
        is_num(time.high - time.low, 2 * 1.959964 * hypot(i ? abs_s : 1e-3, 0.02 * time.mid), 1e-6,
               "%s: never of width 0", i ? "weighted" : "unweighted");
        hrun_predictor_destroy(p);
        hrun_models_destroy(m);
        m = NULL;
    }
    ma_release(&a);
}

/* ------------------------------------------------------------------ bounds */

static const char *const zoo[] = { "N^3/P",
                                   "N/P",
                                   "P*N",
                                   "P",
                                   "1",
                                   "N^2",
                                   "ln(P)",
                                   "P*ln(P)",
                                   "ln(P)/P",
                                   "log2(P)^2/sqrt(P)",
                                   "N/sqrt(P)",
                                   "cbrt(P)*N",
                                   "N*P^(2/3)",
                                   "-N/P",
                                   "-ln(P)/P",
                                   "N*(P-1)/P",
                                   "1+1/P",
                                   "ceil(P/7)",
                                   "P % 5",
                                   "N/P + P",
                                   "1/(P-37)",
                                   "(P == 50 ? 0.1 : 1)*N/P",
                                   "ispow2(P) ? 1 : 3",
                                   "abs(P-60)",
                                   "max(N/P, P)",
                                   "exp(-P/50)",
                                   "sqrt(P-1)",
                                   "ln(P-1)",
                                   "P^P*0 + 1",
                                   "min(P, 33)",
                                   NULL };

static void test_bounds(void)
{
    enum { HI = 120 };
    struct ma a;
    uint64_t seed = 4;
    int wrong = 0, loose = 0, point = 0, missed = 0, failures = 0;
    double tight = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 3);
    for (int trial = 0; trial < 600; trial++) {
        struct hrun_models *m = ma_models();
        struct hrun_predictor *p;
        static double t[HI + 1][3];
        double b[3];
        int signs = trial % 3 == 0, shapes = trial % 3 == 1 ? 13 : 30, failed[HI + 1];

        for (int M = 1; M <= 3; M++) {
            const char *terms[5] = { NULL };
            double k[4];

            if (M == 2 && trial % 5 == 0)
                continue;
            for (int j = 0; j < 4; j++) {
                terms[j] = zoo[rnd_int(&seed, 0, shapes - 1)];
                k[j] = rnd_int(&seed, 0, 3) ? pow(10, 3 * rnd(&seed) - 2) : 0;
                if (signs && rnd_int(&seed, 0, 2) == 0)
                    k[j] = -k[j] / 10;
            }
            ma_record(m, "npt", M, 0, terms, k);
            if (rnd_int(&seed, 0, 1))
                ma_record(m, "single", M, 0, (const char *const[]){ "N", NULL },
                          (double[]){ 1e-3 * rnd(&seed) });
        }
        p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 200, NULL);
        int n = p ? hrun_predictor_oracle(p)->noptions : 0;
        missed += !p;
        for (int P = 1; p && P <= HI; P++)
            failed[P] = hrun_predictor_oracle(p)->times(p, P, t[P], NULL);
        for (int i = 0; p && i < 20; i++) {
            int lo = rnd_int(&seed, 1, HI), hi = rnd_int(&seed, lo, i % 2 ? HI : lo + (HI - lo) / 10);
            double least[3] = { INFINITY, INFINITY, INFINITY };
            int must_fail = 0, fails;

            for (int P = lo; P <= hi; P++) {
                must_fail |= failed[P] && hrun_predictor_oracle(p)->rule(p, P, NULL);
                for (int o = 0; o < n && !failed[P]; o++)
                    if (isfinite(t[P][o]) && t[P][o] > 0)
                        least[o] = fmin(least[o], t[P][o]);
            }
            fails = hrun_predictor_oracle(p)->bounds(p, lo, hi, b, NULL) != 0;
            missed += fails != must_fail;
            failures += fails;
            if (fails)
                continue;
            for (int o = 0; o < n; o++) {
                wrong += !(b[o] <= least[o]);
                loose += b[o] < 0;
                if (lo == hi && !failed[lo] && isfinite(least[o]))
                    point += b[o] != least[o];
            }
            /* terms that all fall or all rise with P: the bound is the sum of the ends, not less */
            if (shapes == 13 && lo == hi - 1)
                for (int o = 0; o < n; o++)
                    if (isfinite(least[o]) && lo > 10)
                        tight = fmax(tight, 1 - b[o] / least[o]);
        }
        hrun_predictor_destroy(p);
        hrun_models_destroy(m);
    }
    ok(!wrong, "12000 intervals: no time lies below its bound");
    ok(!missed && failures > 100, "bounds fail in those %d where times does at a P that the rule accepts",
       failures);
    ok(!loose, "no bound is negative");
    ok(!point, "for one P the bound is the time, to the last bit");
    ok(tight > 0 && tight < 0.2, "between neighbours bounds are near (within %.1f %%)", 100 * tight);
    ma_release(&a);
}

/* Each term of the zoo alone: the bound is the minimum itself. */
static void test_bounds_exact(void)
{
    struct ma a;
    uint64_t seed = 6;
    double worst = 0, rounding = 0;
    int bad = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int z = 0; zoo[z]; z++) {
        for (int sign = 1; sign >= -1; sign -= 2) {
            struct hrun_models *m = ma_models();
            struct hrun_fit_record *r = ma_record(m, "npt", 1, 0, (const char *const[]) { zoo[z], "1", NULL },
                                                  (double[]) { sign, 1e5 });   /* keeps most sums positive */
            struct hrun_expr *e = ma_compile(&a.app, zoo[z], (const char *const[]) { "N", "P" }, 2);
            struct hrun_predictor *p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 20, NULL);

            for (int i = 0; i < 30; i++) {
                int lo = rnd_int(&seed, 1, 5000), hi = rnd_int(&seed, lo, 5000);
                double least = INFINITY, b;
                int must_fail = 0;

                if (strstr(zoo[z], "P^P")) {    /* overflows beyond P = 143 */
                    lo = 1 + lo % 50;
                    hi = lo + hi % 50;
                }
                if (i == 0) {
                    lo = 1;
                    hi = 140;
                }
                for (int P = lo > 1 ? lo : 2; P <= hi; P++) {
                    double v;
                    if (!hrun_expr_eval(e, (double[]) { 20, P }, &v, NULL))
                        least = fmin(least, r->k[0] * v + r->k[1]);
                    else
                        must_fail |= hrun_predictor_oracle(p)->rule(p, P, NULL);
                }
                bad += (hrun_predictor_oracle(p)->bounds(p, lo, hi, &b, NULL) != 0) != must_fail;
                if (must_fail)
                    continue;
                if (isinf(least)) {
                    bad += !isinf(b);
                    continue;
                }
                if (least <= 0) {
                    bad += b != 0;
                    continue;
                }
                rounding = fmax(rounding, (b - least) / 1e5);
                worst = fmax(worst, (least - b) / fmax(1e5, fabs(1e5 - least)));
            }
            hrun_expr_destroy(e);
            hrun_predictor_destroy(p);
            hrun_models_destroy(m);
        }
    }
    ok(!bad && rounding <= 1e-15, "bounds of single terms are never above the least value (%.1e)", rounding);
    ok(worst < 1e-9, "and no further below it than the slack for rounding (%.1e)", worst);
    ma_release(&a);
}

/* ------------------------------------------------------------------ mistakes */

static void test_mistakes(void)
{
    static const char *const pole[] = { "N/P", "1/(P-4)", NULL }, *const broken[] = { "N/", NULL };
    static const char *const pole_n[] = { "1/(N-100)", NULL };
    struct ma a;
    struct hrun_models *m = ma_models(), *none[1] = { NULL };
    struct hrun_fit_record *r;
    struct hrun_predictor *p;
    struct hrun_error err;
    struct hrun_interval time;
    double t[2], b[2];

    ma_init(&a, pole, hpl_nt, hpl_pt, 2);
    r = ma_record(m, "npt", 1, 0, pole, (double[]) { 1, 0.1 });
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err);
    is_int(hrun_predictor_oracle(p)->times(p, 4, t, &err), -1, "a term that divides by zero is an error");
    is_int(err.code, HRUN_ENONFINITE, "... HRUN_ENONFINITE");
    has_str(err.text, "term '1/(P-4)' of demo at N=100, P=4: ", "... naming term, N and P");
    is_int(hrun_predictor_time(p, 0, 1, 4, &time, &err), -1, "also one by one");
    has_str(err.text, "term '1/(P-4)' of demo at N=100, P=4: ", "... in the same words");
    is_int(hrun_predictor_oracle(p)->times(p, 5, t, &err), 0, "elsewhere it is a term");
    is_num(t[0], 20.1, 1e-14, "... with a value");
    for (int i = 0; i < 4; i++) {
        static const int intervals[4][2] = { { 4, 4 }, { 3, 5 }, { 1, 5000 }, { 4, 5 } };

        err.text[0] = 0;
        is_int(hrun_predictor_oracle(p)->bounds(p, intervals[i][0], intervals[i][1], b, &err), -1,
               "bounds over %d..%d fail as times does at P = 4", intervals[i][0], intervals[i][1]);
        has_str(err.text, "term '1/(P-4)' of demo at N=100, P=4: ", "... in the same words");
    }
    is_int(hrun_predictor_oracle(p)->bounds(p, 5, 5000, b, &err), 0, "not over 5..5000");
    is_int(hrun_predictor_oracle(p)->bounds(p, 1, 3, b, &err), 0, "nor over 1..3");
    is_num(b[0], 100.0 / 3 - 0.1, 1e-7, "... each term's least value");
    is_int(hrun_predictor_oracle(p)->bounds(p, 2, 4, b, &err), -1, "a P seen before fails again");
    hrun_predictor_destroy(p);

    free(r->terms[1]);
    r->terms[1] = strdup("1/(P-5)");
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err);
    is_int(hrun_predictor_oracle(p)->bounds(p, 5, 5, b, &err), 0, "where the rule refuses P it is no error");
    ok(isinf(b[0]) && b[0] > 0, "... there is no usable P in 5..5");
    is_int(hrun_predictor_oracle(p)->bounds(p, 4, 6, b, &err), 0, "... nor in an interval");
    is_num(b[0], 100.0 / 6 - 0.1, 1e-7, "... of which the others have bounds");
    hrun_predictor_destroy(p);
    free(r->terms[1]);
    r->terms[1] = strdup(pole[1]);

    r->k[1] = 0;
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err);
    is_int(hrun_predictor_oracle(p)->times(p, 4, t, &err), 0, "with coefficient 0 it is never evaluated");
    is_num(t[0], 25, 1e-15, "N / P");
    hrun_predictor_destroy(p);

    ok(!hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_PT, 100, &err), "no model of the family");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    is_str(err.text,
           "no sub-cluster has a model of family pt for demo: it needs measurements at two different P > Mi; "
           "without them choose npt",
           "... said, and what it needs");
    ok(!hrun_predictor_create(&a.app, none, 1, HRUN_FORM_NPT, 100, &err), "no profile at all");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    m->consts[0] = 0;
    free(m->consts);
    m->consts = strdup("nb=64");
    ok(!hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err), "models with other constants do "
                                                                          "not count");
    is_str(err.text, "no sub-cluster has models of demo with constants ''; there are some with 'nb=64'",
           "... said");
    m->consts[0] = 0;
    r->k[0] = INFINITY;
    ok(!hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err), "an infinite coefficient is "
                                                                          "refused");
    is_str(err.text, "the coefficient of 'N/P' in the npt model of demo (M=1) is inf", "... named");
    r->k[0] = 1;
    ma_record(m, "npt", 2, 0, broken, (double[]) { 1 });
    ok(!hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err), "a stored term that does not "
                                                                          "compile");
    is_int(err.code, HRUN_EPARSE, "... HRUN_EPARSE");
    has_str(err.text, "stored term 'N/' of demo: ", "... named");
    m->v[1].k[0] = 0;
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err);
    ok(p != NULL, "with coefficient 0 it does not matter");
    hrun_predictor_destroy(p);
    ma_record(m, "single", 1, 0, pole_n, (double[]) { 1 });
    ok(!hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 100, &err), "a term over N alone without "
                                                                          "value");
    is_int(err.code, HRUN_ENONFINITE, "... HRUN_ENONFINITE");
    has_str(err.text, "term '1/(N-100)' of demo at N=100: ", "... named");
    p = hrun_predictor_create(&a.app, &m, 1, HRUN_FORM_NPT, 101, &err);
    ok(p != NULL, "at another N it has one");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m);
    ma_release(&a);
}

/* ------------------------------------------------------------------ size */

/* 16 sub-clusters with 64 M each: every option has the right value, at a few microseconds for all. */
static void test_large(void)
{
    enum { SUBS = 16, MS = 64 };
    struct ma a;
    struct hrun_models *m[SUBS];
    struct hrun_predictor *p;
    const struct hrun_oracle *o;
    struct timespec t0, t1;
    static double t[SUBS * MS], b[SUBS * MS];
    uint64_t seed = 8;
    double k[10], worst = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, MS);
    for (int s = 0; s < SUBS; s++) {
        m[s] = ma_models();
        for (int M = 1; M <= MS; M++) {
            for (int j = 0; j < 10; j++)
                k[j] = rnd(&seed) * 1e-9;
            ma_record(m[s], "npt", M, 0, hpl_np, k);
        }
    }
    p = hrun_predictor_create(&a.app, m, SUBS, HRUN_FORM_NPT, 20000, NULL);
    o = hrun_predictor_oracle(p);
    is_int(o->noptions, SUBS * MS, "1024 options");
    o->times(o->ctx, 640000, t, NULL);
    for (int i = 0; i < o->noptions; i++)
        worst = fmax(worst, fabs(t[i] / direct(&m[i / MS]->v[i % MS], 1, 20000, 640000, 0) - 1));
    ok(worst < 1e-14, "each has its own value (%.1e)", worst);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int P = 1000; P < 2000; P++)
        o->times(o->ctx, P, t, NULL);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    printf("# times of 1024 options: %.1f us\n",
           (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int P = 1000; P < 2000; P++)
        o->bounds(o->ctx, P, 320 * P, b, NULL);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    printf("# bounds of 1024 options: %.1f us\n",
           (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6);
    hrun_predictor_destroy(p);
    for (int s = 0; s < SUBS; s++)
        hrun_models_destroy(m[s]);
    ma_release(&a);
}

int main(void)
{
    test_values();
    test_pt();
    test_wrecked();
    test_coverage();
    test_interval_by_hand();
    test_one_measured_p();
    test_bounds();
    test_bounds_exact();
    test_mistakes();
    test_large();
    return tap_done();
}
