/* From few measurements to models: too few, one P alone, fewer points than terms. */
#include "model.h"
#include "fixture.h"

/* ------------------------------------------------------------------ too little, too much alike */

static void test_too_few(void)
{
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = NULL;
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err;
    size_t n = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 3);
    s[n++] = sample(800, 1, 1, 1);
    s[n++] = sample(800, 2, 1, 0.5);
    s[n++] = sample(800, 3, 1, 0.4);
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, &skipped, &err), -1, "one size is no model");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    is_str(err.text,
           "no model of demo can be made from 3 measurements: M=1, single: measured at N=800 only, at least "
           "2 "
           "sizes are needed",
           "... saying why");
    is_str(skipped.data, "", "outputs are untouched");
    s[n++] = sample(1600, 2, 1, 4);
    s[n++] = sample(800, 2, 2, 0.5);
    s[n++] = sample(1600, 2, 2, 4);
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, &skipped, &err), 0, "two sizes at one P");
    is_str(skipped.data,
           "M=1, single: measured at N=800 only, at least 2 sizes are needed\n"
           "M=1, nt at P=3: measured at N=800 only, at least 2 sizes are needed\n"
           "M=2, nt, pt and npt: nothing measured with P > 2\n", "what is left out and why");
    ok(find(m, "nt", 1, 2) && find(m, "npt", 1, 0) && find(m, "pt", 1, 0) && find(m, "single", 2, 0) &&
           m->n == 4,
       "the rest is there");
    is_int(m->nsamples, 5, "measurements without a model are not counted");
    is_int(find(m, "nt", 1, 2)->dof, 1, "2 points, one coefficient (N^3 alone): 1 degree of freedom");
    is_str(find(m, "nt", 1, 2)->note, "", "NNLS drops no term for being beyond the points");
    ok(find(m, "nt", 1, 2)->k[0] > 0 && find(m, "nt", 1, 2)->k[1] == 0 && find(m, "nt", 1, 2)->k[2] == 0 &&
           find(m, "nt", 1, 2)->k[3] == 0,
       "... and needs none of the others");
    hrun_models_destroy(m);
    m = NULL;
    hrun_model_fit(&a.app, s, n,
                   &(struct hrun_fit_options) { .method = HRUN_METHOD_LS, .sigma_abs_s = 1e-3, .sigma_rel = 0.02 }, &m,
                   NULL, &err);
    is_str(find(m, "nt", 1, 2)->note, "dropped N, 1: these measurements cannot tell it from the other terms",
           "LS drops terms beyond the points");
    is_int(find(m, "nt", 1, 2)->dof, 0, "... and uses two coefficients for 2 points");
    hrun_models_destroy(m);
    m = NULL;

    /* no degrees of freedom: two points, two coefficients */
    s[0] = sample(100, 2, 2, 1e6 * 1e-6 + 1e4 * 1e-6);
    s[1] = sample(200, 2, 2, 8e6 * 1e-6 + 4e4 * 1e-6);
    hrun_model_fit(&a.app, s, 2, &nnls, &m, NULL, &err);
    is_int(m->v[0].dof, 0, "as many coefficients as points");
    is_num(m->v[0].s2, 1, 0, "weighted: the variance that the weights assume");
    hrun_models_destroy(m);
    m = NULL;
    hrun_model_fit(&a.app, s, 2, &(struct hrun_fit_options) { .method = HRUN_METHOD_LS }, &m, NULL, &err);
    is_int(m->v[0].dof, 0, "LS likewise");
    is_num(m->v[0].s2, 1e-6 + pow(0.02 * (1.01 + 8.04) / 2, 2), 1e-12,
           "unweighted: that of the default options");
    hrun_models_destroy(m);
    m = NULL;
    s[2] = sample(800, 2, 1, 0.5);
    s[3] = sample(1600, 2, 1, 4);
    hrun_buf_reset(&skipped);
    a.app.pt.n = 0;
    is_int(hrun_model_fit(&a.app, s, 4, &nnls, &m, &skipped, &err), 0, "a definition without P-T terms");
    is_str(skipped.data,
           "M=1, single: nothing measured with P=1\n"
           "M=1, pt: the definition has no terms under 'p'\n"
           "M=2, nt, pt and npt: nothing measured with P > 2\n", "what is left out and why");
    a.app.pt.n = 3;
    hrun_models_destroy(m);
    hrun_buf_release(&skipped);
    ma_release(&a);
}

/* A machine with two cores: P = 2 is all there is with M = 1. */
static void test_one_p(enum hrun_method method)
{
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = NULL;
    struct hrun_fit_options o = nnls;
    const struct hrun_fit_record *r;
    double worst = 0;
    size_t n = 0;

    o.method = method;
    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int i = 0; i < 9; i++)
        s[n++] = sample(hpl_sizes[i], 2, 1,
                        1e-9 * pow((double)hpl_sizes[i], 3) + 1e-8 * pow((double)hpl_sizes[i], 2) + 0.02);
    is_int(hrun_model_fit(&a.app, s, n, &o, &m, &skipped, NULL), 0, "one P, %s", hrun_method_name(method));
    r = find(m, "npt", 1, 0);
    is_str(r->note,
           "dropped P*N^2, P*N, P, N^2, N, 1: these measurements cannot tell it from the other terms",
           "what P = 2 alone cannot tell apart is dropped");
    for (int64_t N = 300; N < 15000; N += 333)
        worst = fmax(worst, fabs(np_value(&a.app, r->k, N, 2) /
                                     (1e-9 * pow((double)N, 3) + 1e-8 * (double)(N * N) + 0.02) -
                                 1));
    ok(worst < 1e-6, "NP-T predicts other sizes at that P (%.1e)", worst);
    ok(!find(m, "pt", 1, 0) && find(m, "nt", 1, 2), "N-T is there too, P-T is not");
    is_str(skipped.data,
           "M=1, single: nothing measured with P=1\n"
           "M=1, pt: measured at P=2 only of the P > 1, at least 2 are needed to see how time follows P\n",
           "... and why");
    hrun_models_destroy(m);
    m = NULL;
    for (int i = 0; i < 2; i++)
        s[n++] = sample(hpl_sizes[i], 4, 1, s[i].time_s / 2);
    hrun_buf_reset(&skipped);
    is_int(hrun_model_fit(&a.app, s, n, &o, &m, &skipped, NULL), 0, "a second P, two sizes");
    ok(find(m, "pt", 1, 0) && find(m, "pt", 1, 0)->P == 2, "P-T is there now");
    is_num(find(m, "pt", 1, 0)->k[1], 2, 1e-6, "... and has found T/P");
    is_str(skipped.data, "M=1, single: nothing measured with P=1\n", "nothing else is skipped");
    hrun_models_destroy(m);
    hrun_buf_release(&skipped);
    ma_release(&a);
}

/* ------------------------------------------------------------------ fewer points than terms */

static double pair_value(const struct hrun_app *app, const double *k, double N, double P)
{
    double v[2] = { N, P };

    return eval(&app->np, k, v);
}

/* Exact data of every sum of two HPL terms, on few sizes and few P: NNLS goes through all points, and
 * gives the sum back where no other goes through them. */
static void test_few_points(void)
{
    static const double sizes[4] = { 600, 2000, 5000, 9600 };
    struct ma a;
    double train = 0, main_and_start = 0;
    int recovered = 0, over_used = 0, bad_cov = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int nsizes = 2; nsizes <= 4; nsizes++)
        for (int np = 1; np <= 3; np++)
            for (int i = 0; i < 10; i++)
                for (int j = i + 1; j < 10; j++) {
                    struct hrun_sample s[12];
                    struct hrun_models *m = NULL;
                    const struct hrun_fit_record *r;
                    double want[10] = { 0 }, unit[10] = { 0 }, far, off = 0;
                    size_t n = 0;
                    int used = 0;

                    unit[i] = 1;
                    want[i] = 1 / pair_value(&a.app, unit, 3000, 3);
                    unit[i] = 0;
                    unit[j] = 1;
                    want[j] = 0.5 / pair_value(&a.app, unit, 3000, 3);
                    for (int P = 2; P < 2 + np; P++)
                        for (int l = 0; l < nsizes; l++)
                            s[n++] = sample((int64_t)sizes[l], P, 1, pair_value(&a.app, want, sizes[l], P));
                    hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, NULL);
                    r = find(m, "npt", 1, 0);
                    train = fmax(train, r ? r->train_max : INFINITY);
                    for (int l = 0; r && l < 10; l++) {
                        used += r->k[l] > 0;
                        bad_cov += !isfinite(r->cov[l * 10 + l]) || (r->k[l] > 0 && !(r->cov[l * 10 + l] > 0)) ||
                                   (np == 1 && r->k[l] == 0 && r->cov[l * 10 + l] != 0);
                    }
                    over_used += !r || used > (int)n || r->dof != (int)n - used;
                    far = pair_value(&a.app, want, 20000, 16);
                    off = r ? fabs(pair_value(&a.app, r->k, 20000, 16) / far - 1) : INFINITY;
                    recovered += nsizes == 3 && np == 3 && off < 1e-6;
                    if (i == 0 && j == 9 && np > 1)
                        main_and_start = fmax(main_and_start, off);
                    hrun_models_destroy(m);
                }
    ok(train < 1e-9, "2 to 4 sizes, 1 to 3 P, ten terms: through all points of two terms (%.1e)", train);
    ok(!over_used, "no more coefficients than points, and as many degrees of freedom as are left");
    ok(!bad_cov, "a finite variance for those in use; with one P, 0 for others");
    is_int(recovered, 43, "3 sizes at 3 P: 43 of 45 sums come back, and predict N=20000, P=16");
    ok(main_and_start < 1e-6, "N^3/P + 1 does with 2 sizes at 2 P (%.1e)", main_and_start);
    ma_release(&a);
}

/* The main computation and the time to start up, at two and three sizes. */
static void test_start_up(void)
{
    static const int64_t sizes[3] = { 1000, 3000, 9000 };
    static const char *const np[] = { "N^3/P", "N^2/P", "N/P", "1", NULL };
    struct ma a;

    ma_init(&a, np, hpl_nt, NULL, 1);
    for (size_t nsizes = 2; nsizes <= 3; nsizes++)
        for (int several = 0; several <= 1; several++) {
            struct hrun_sample s[9];
            struct hrun_models *m = NULL;
            size_t n = 0;
            const struct hrun_fit_record *r;

            for (int P = 2; P <= (several ? 4 : 2); P++)
                for (size_t i = 0; i < nsizes; i++)
                    s[n++] = sample(sizes[i], P, 1, 1e-10 * pow((double)sizes[i], 3) / P + 0.5);
            hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, NULL);
            r = find(m, "npt", 1, 0);
            ok(r->train_max < 1e-9, "npt, %zu sizes, %s: through all points (%.1e)", nsizes,
               several ? "3 P" : "1 P", r->train_max);
            is_num(r->k[0], 1e-10, 1e-18, "... N^3/P is found");
            is_num(r->k[3], 0.5, 1e-9, "... and the time to start up");
            is_str(r->note, "", "... and no term is dropped");
            is_int(r->dof, (int)n - 2, "... two coefficients are in use");
            r = find(m, "nt", 1, 2);
            ok(r->train_max < 1e-9 && fabs(r->k[3] - 0.5) < 1e-9, "nt likewise (%.1e)", r->train_max);
            hrun_models_destroy(m);
        }
    ma_release(&a);
}

/* 2 % of noise and 1 ms on three sizes at one P: between the sizes predictions are near. Offered the first
 * independent terms alone (N^3, N^2, N), they are off by 7 % on average. */
static void test_noisy_start_up(void)
{
    static const double sizes[3] = { 600, 2400, 9600 };
    struct ma a;
    uint64_t seed = 11;
    double sum = 0;
    int count = 0;

    ma_init(&a, hpl_np, hpl_nt, NULL, 1);
    for (int trial = 0; trial < 200; trial++) {
        struct hrun_sample s[3];
        struct hrun_models *m = NULL;
        double k[4] = { 2e-10 * (0.3 + 1.4 * rnd(&seed)), 0, 0, 0.5 * (0.3 + 1.4 * rnd(&seed)) };

        for (int i = 0; i < 3; i++)
            s[i] = sample((int64_t)sizes[i], 2, 1, eval(&a.app.nt, k, &sizes[i]) *
                          (1 + 0.02 * rnd_normal(&seed)) + 1e-3 * rnd_normal(&seed));
        hrun_model_fit(&a.app, s, 3, &nnls, &m, NULL, NULL);
        for (double N = 700; N < 9600; N *= 1.3, count++)
            sum += fabs(eval(&a.app.nt, find(m, "nt", 1, 2)->k, &N) / eval(&a.app.nt, k, &N) - 1);
        hrun_models_destroy(m);
    }
    ok(sum / count < 0.03, "noisy N^3 + 1 on three sizes: %.1f %% off between them", 100 * sum / count);
    ma_release(&a);
}

int main(void)
{
    test_too_few();
    test_one_p(HRUN_METHOD_NNLS);
    test_one_p(HRUN_METHOD_LS);
    test_few_points();
    test_start_up();
    test_noisy_start_up();
    return tap_done();
}
