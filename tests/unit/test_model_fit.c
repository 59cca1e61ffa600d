/* From measurements to models: recovery, selection, dropping, mistakes; test_model_few.c has few measurements. */
#include "model.h"
#include "fixture.h"

#include <errno.h>

/* ------------------------------------------------------------------ recovery */

struct bench {
    const char *name;
    const char *const *np, *const *nt, *const *pt;
    double k[10];       /* NP-T, per term; contributions are of the same order somewhere in the range */
    double single[4];   /* N-T on one PE */
    double scale;       /* of hpl_sizes */
};

static const struct bench benches[] = {
    { "HPL",
      hpl_np,
      hpl_nt,
      hpl_pt,
      { 2e-10, 0, 3e-5, 0.01, 2e-10, 0, 2e-3, 4e-9, 0, 0.02 },
      { 2.5e-10, 1e-9, 0, 0.01 },
      1 },
    { "Himeno, FEM",
      himeno_np,
      hpl_nt,
      himeno_pt,
      { 4e-8, 0, 0, 0.02, 3e-7, 0, 0.01, 0.004 },
      { 5e-8, 0, 1e-5, 0.001 },
      0.02 },
    { "FFTE", ffte_np, ffte_nt, ffte_pt, { 3e-9, 2e-8, 0, 1e-4, 0, 1e-5, 1e-3 }, { 4e-9, 0, 0, 1e-4 }, 64 },
};

static void test_recovery(const struct bench *b, enum hrun_method method)
{
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = NULL;
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err = { .text = "" };
    struct hrun_fit_options options = nnls;
    const struct hrun_fit_record *r;
    double worst = 0, coef = 0, single = 0, nt = 0, train = 0;
    size_t n = 0;

    options.method = method;
    ma_init(&a, b->np, b->nt, b->pt, 2);
    for (int M = 1; M <= 2; M++)
        for (int pes = 1; pes <= 8; pes++)
            for (int i = 0; i < 9; i++) {
                int64_t N = (int64_t)((double)hpl_sizes[i] * b->scale);
                double v[1] = { (double)N };
                s[n++] = sample(N, pes * M, M, M * (pes == 1 ? eval(&a.app.nt, b->single, v) :
                                                    np_value(&a.app, b->k, N, pes * M)));
            }
    is_int(hrun_model_fit(&a.app, s, n, &options, &m, &skipped, &err), 0, "%s, %s: fitted %s", b->name,
           hrun_method_name(method), err.text);
    is_str(skipped.data, "", "nothing is skipped");
    is_int(m->n, 2 * (1 + 7 + 1 + 1), "single, 7 nt, pt, npt for each M");
    for (int M = 1; M <= 2; M++) {
        r = find(m, "npt", M, 0);
        for (size_t i = 0; i < n; i++) {
            double v[1] = { (double)s[i].N };

            if (s[i].M != M)
                continue;
            if (s[i].P == M) {
                single = fmax(single, fabs(eval(&a.app.nt, find(m, "single", M, 0)->k, v) / s[i].time_s - 1));
                continue;
            }
            worst = fmax(worst, fabs(np_value(&a.app, r->k, s[i].N, s[i].P) / s[i].time_s - 1));
            nt = fmax(nt, fabs(eval(&a.app.nt, find(m, "nt", M, s[i].P)->k, v) / s[i].time_s - 1));
            for (int j = 0; j < a.app.np.n; j++) {
                double unit[10] = { 0 };
                unit[j] = r->k[j] - M * b->k[j];
                coef = fmax(coef, fabs(np_value(&a.app, unit, s[i].N, s[i].P)) / s[i].time_s);
            }
        }
        train = fmax(train, r->train_max);
        is_int(r->npoints, 63, "M=%d: 63 measurements with P > M", M);
        is_int(r->nmin, (int64_t)(400 * b->scale), "smallest N");
        is_int(r->nmax, (int64_t)(9600 * b->scale), "largest N");
        is_int(r->pmin, 2 * M, "smallest P");
        is_int(r->pmax, 8 * M, "largest P");
        is_str(r->method, hrun_method_name(method), "method");
        is_str(r->note, "", "no term is dropped");
        ok(r->s2 >= 0 && r->s2 < 1e-10, "the variance of exact data is small (%.1e)", r->s2);
        is_int(find(m, "pt", M, 0)->P, 2 * M, "P-T refers to the smallest P > M");
    }
    ok(worst < 1e-9, "NP-T goes through its points (%.1e)", worst);
    ok(coef < 1e-8, "each term's contribution is recovered (%.1e of T)", coef);
    ok(single < 1e-9, "so does the model of one PE (%.1e)", single);
    ok(nt < 1e-9, "and N-T at each P (%.1e)", nt);
    ok(fabs(train - worst) < 1e-12, "the training error is recorded");
    is_str(m->app, "demo", "application");
    is_str(m->signature, "", "no signature");
    is_str(m->consts, "", "no constants");
    is_int(m->nsamples, (long long)n, "all measurements are used");
    ok(strlen(m->fitted) == 20, "a date: %s", m->fitted);
    hrun_models_destroy(m);
    hrun_buf_release(&skipped);
    ma_release(&a);
}

/* ------------------------------------------------------------------ selection */

/* 9 sizes on P = 1, 2, 3 with M = 1. */
static size_t plain(struct hrun_sample *s)
{
    size_t n = 0;

    for (int P = 1; P <= 3; P++)
        for (int i = 0; i < 9; i++)
            s[n++] = sample(hpl_sizes[i], P, 1, 1e-9 * pow((double)hpl_sizes[i], 3) / P + 0.01);
    return n;
}

static void test_selection(void)
{
    struct ma a;
    struct hrun_sample s[MAX], shuffled[MAX];
    struct hrun_models *m = NULL, *again = NULL;
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err;
    size_t n = plain(s);
    static char old[] = "2026-01-01T00:00:00Z", new[] = "2026-11-20T10:36:00Z",
                future[] = "2027-01-01T00:00:00Z";
    static char nb[] = "nb=128", nb64[] = "nb=64", name[] = "nb";
    struct hrun_const c = { name, 128, NULL };
    int same = 1;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    s[0].date = old;
    s[5].date = new;
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, &skipped, &err), 0, "plain measurements");
    is_str(m->newest, new, "the newest date is found");

    /* bad runs and mixed runs change nothing, whatever stands in them */
    for (size_t i = 0; i < n; i++)
        shuffled[(i * 7) % n] = s[i];
    shuffled[n] = sample(400, 2, 1, 1e9);
    shuffled[n].mixed = 1;
    shuffled[n].date = future;
    shuffled[n + 1] = sample(400, 2, 1, NAN);
    shuffled[n + 1].ok = 0;
    shuffled[n + 2] = sample(400, 2, 1, 1e9);
    shuffled[n + 2].consts = nb;
    is_int(hrun_model_fit(&a.app, shuffled, n + 3, &nnls, &again, NULL, &err), 0,
           "in another order, with bad and mixed runs");
    is_int(again->nsamples, m->nsamples, "as many are used");
    is_str(again->newest, new, "their dates do not count");
    is_int(again->n, m->n, "as many models");
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->v[i].nterms; j++)
            same &= case_holds(m->v[i].k[j] == again->v[i].k[j] && m->v[i].s2 == again->v[i].s2, i, j);
    ok(same, "all coefficients are the same to the last bit");
    hrun_models_destroy(again);
    again = NULL;

    /* repetitions are rows */
    for (size_t i = 0; i < n; i++) {
        shuffled[2 * i] = shuffled[2 * i + 1] = s[i];
        shuffled[2 * i].time_s *= 1.01;
        shuffled[2 * i + 1].time_s *= 0.99;
    }
    hrun_model_fit(&a.app, shuffled, 2 * n, &nnls, &again, NULL, &err);
    is_int(find(again, "npt", 1, 0)->npoints, 36, "repetitions are rows of their own");
    is_num(find(again, "npt", 1, 0)->s2, 0.25, 0.05, "+-1 %% where 2 %% were expected: variance near 1/4");
    hrun_models_destroy(again);
    again = NULL;

    /* constants */
    a.app.consts = &c;
    a.app.nconsts = 1;
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &again, NULL, &err), -1,
           "other constants are another application");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    is_str(err.text,
           "no measurement of demo can be used: of 27, 0 failed, 0 ran on several sub-clusters, 27 had "
           "constants other than 'nb=128'",
           "... said");
    for (size_t i = 0; i < n; i++)
        s[i].consts = i < 18 ? nb : nb64;
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &again, NULL, &err), 0, "the same constants are fitted");
    is_int(again->nsamples, 18, "... only they");
    is_str(again->consts, nb, "... and recorded");
    a.app.consts = NULL;
    a.app.nconsts = 0;
    hrun_models_destroy(again);
    hrun_models_destroy(m);
    hrun_buf_release(&skipped);
    ma_release(&a);
}

static void test_refused(void)
{
    static const double bad[] = { 0, -1, NAN, INFINITY };
    static const char *const shown[] = { "0", "-1", "nan", "inf" };
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = (struct hrun_models *)&a;
    struct hrun_fit_options o = nnls;
    struct hrun_error err;
    size_t n = plain(s);
    char want[200];

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int i = 0; i < 4; i++) {
        s[4].time_s = bad[i];
        errno = 7;
        is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, &err), -1, "a time of %s is refused", shown[i]);
        is_int(err.code, HRUN_ENONFINITE, "... HRUN_ENONFINITE");
        snprintf(want, sizeof want,
                 "measurement 5 of demo (N=3200, P=1, M=1) has a time of %s s; a time is finite and "
                 "above 0",
                 shown[i]);
        is_str(err.text, want, "... naming the measurement");
    }
    ok(m == (struct hrun_models *)&a && errno == 7, "output and errno are untouched");
    s[4].time_s = 1;
    s[4].M = 2;
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, &err), -1, "P below M is refused");
    is_str(err.text, "measurement 5 of demo (N=3200) has P=1 processes with M=2 on each PE",
           "... naming the measurement");
    o.sigma_rel = NAN;
    is_int(hrun_model_fit(&a.app, s, n, &o, &m, NULL, &err), -1, "bad options are refused");
    is_int(err.code, HRUN_EINVAL, "... HRUN_EINVAL");
    is_int(hrun_model_fit(&a.app, s, 0, &nnls, &m, NULL, &err), -1, "nothing measured");
    is_int(err.code, HRUN_ENODATA, "... HRUN_ENODATA");
    ma_release(&a);
}

/* ------------------------------------------------------------------ terms too much alike */

static void test_bad_term(void)
{
    static const char *const np[] = { "N^3/P", "1/(P-4)", NULL };
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = NULL;
    struct hrun_error err;
    size_t n = plain(s);

    ma_init(&a, np, hpl_nt, hpl_pt, 1);
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, &err), 0,
           "a term that is infinite elsewhere does no harm");
    hrun_models_destroy(m);
    m = NULL;
    s[n++] = sample(800, 4, 1, 1);
    is_int(hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, &err), -1, "at a measured point it does");
    is_int(err.code, HRUN_ENONFINITE, "... HRUN_ENONFINITE");
    has_str(err.text,
            "term '1/(P-4)' of demo at a measured point (N=800, P=4): ", "... naming term, N and P");
    ok(m == NULL, "... output untouched");
    ma_release(&a);
}

/* Terms that differ in the twelfth digit are the same to any measurement. */
static void test_nearly_alike(void)
{
    static const char *const np[] = { "N^3/P", "N", "N*(1 + 1e-12*P)", NULL };
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *m = NULL;
    size_t n = plain(s);

    ma_init(&a, np, hpl_nt, hpl_pt, 1);
    hrun_model_fit(&a.app, s, n, &nnls, &m, NULL, NULL);
    is_str(find(m, "npt", 1, 0)->note,
           "dropped N*(1 + 1e-12*P): these measurements cannot tell it from the other terms",
           "a term that differs in the twelfth digit is dropped");
    hrun_models_destroy(m);
    ma_release(&a);
}

/* ------------------------------------------------------------------ why rows are weighted */

/* Ten HPL terms over three decades of time, 2 % noise: unweighted fits serve the long runs and miss the short
 * ones; weights of 1/T bring the error of every point near the noise. */
static void test_weights(void)
{
    struct ma a;
    struct hrun_sample s[MAX];
    struct hrun_models *raw = NULL, *weighted = NULL;
    struct hrun_fit_options none = { .method = HRUN_METHOD_NNLS };
    double worst_raw = 0, worst_weighted = 0;
    uint64_t seed = 3;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 1);
    for (int trial = 0; trial < 20; trial++) {
        size_t n = 0;
        for (int P = 2; P <= 4; P++)
            for (int i = 0; i < 9; i++) {
                double N = (double)hpl_sizes[i],
                       T = 4e-10 * N * N * N / P + 2e-9 * P * N * N + 3e-8 * N * N + 0.02 * P;
                s[n++] = sample(hpl_sizes[i], P, 1, T * (1 + 0.02 * rnd_normal(&seed)));
            }
        hrun_model_fit(&a.app, s, n, &none, &raw, NULL, NULL);
        hrun_model_fit(&a.app, s, n, &nnls, &weighted, NULL, NULL);
        worst_raw = fmax(worst_raw, find(raw, "npt", 1, 0)->train_max);
        worst_weighted = fmax(worst_weighted, find(weighted, "npt", 1, 0)->train_max);
        hrun_models_destroy(raw);
        hrun_models_destroy(weighted);
    }
    ok(worst_raw > 0.3, "unweighted NNLS misses its own training points by up to %.1f %%", 100 * worst_raw);
    ok(worst_weighted < 0.1, "weighted it misses them by at most %.1f %%", 100 * worst_weighted);
    ma_release(&a);
}

/* ------------------------------------------------------------------ names */

static void test_names(void)
{
    enum hrun_method m = HRUN_METHOD_LS;
    struct hrun_error err;
    int good = !strcmp(hrun_model_form_name(HRUN_FORM_PT), "pt");

    for (int i = 0; i < 2; i++)
        good &= case_holds(!hrun_method_parse(hrun_method_name((enum hrun_method)i), &m, NULL) && (int)m == i, i);
    ok(good, "names are parsed back");
    is_int(hrun_method_parse("", &m, &err), -1, "an unknown method");
    is_str(err.text, "'' is no fitting method; choose ls or nnls", "... is told what there is");
    ok(m == HRUN_METHOD_NNLS, "... the output is untouched");
}

int main(void)
{
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        test_recovery(&benches[i], HRUN_METHOD_NNLS);
        test_recovery(&benches[i], HRUN_METHOD_LS);
    }
    test_selection();
    test_refused();
    test_bad_term();
    test_nearly_alike();
    test_weights();
    test_names();
    return tap_done();
}
