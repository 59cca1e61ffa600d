/* The glitch rule of paper 000. */
#include "model/rows.h"
#include "model.h"

static struct hrun_sample run_of(int64_t N, int P, double T)
{
    return (struct hrun_sample){ .N = N, .P = P, .M = 1, .pes = P, .time_s = T, .wall_s = T, .ok = 1 };
}

/* ------------------------------------------------------------------ the rule */

/* Sizes 100, 200, ... on one PE, with performances, N^3 over the time, that are exact. */
static size_t performances(struct hrun_row *rows)
{
    static const double p[] = { 1, 0.5, 0.375, 0.5, 0.25 };

    for (int i = 0; i < 5; i++) {
        double N = 100 * (i + 1);

        rows[i] = (struct hrun_row){ (int64_t)N, 1, 1, N * N * N / p[i], "", HRUN_ROW_SINGLE, 1, NULL, -1, 1 };
    }
    return 5;
}

static void test_rule(void)
{
    struct hrun_row rows[16];
    struct hrun_buf said = HRUN_BUF_INIT;
    struct hrun_error err;
    struct ma a;
    size_t n = performances(rows);

    ma_init(&a, NULL, hpl_nt, NULL, 1);
    is_int(hrun_glitches_exclude(&a.app, 0.5, rows, &n, &said, &err), 0, "k = 0.5");
    /* 0.5 <= k 1, 0.375 > k 0.5 although 0.375 <= k 1, 0.5 > k 0.375, 0.25 <= k 0.5 */
    ok(n == 3 && rows[0].N == 100 && rows[1].N == 300 && rows[2].N == 400,
       "each size is compared with the next smaller one, be that a glitch or not");
    is_str(said.data,
           "M=1, P=1, N=200 is excluded as a glitch: 0.50 of the performance at N=100, at most 0.50\n"
           "M=1, P=1, N=500 is excluded as a glitch: 0.50 of the performance at N=400, at most 0.50\n",
           "each is told; equality counts, as printed");
    hrun_buf_reset(&said);
    n = performances(rows);
    is_int(hrun_glitches_exclude(&a.app, 0.4, rows, &n, &said, &err), 0, "k = 0.4");
    is_int(n, 5, "excludes none of them");
    is_int(hrun_glitches_exclude(&a.app, 0, rows, &n, &said, &err), 0, "k = 0");
    is_int(n, 5, "turns it off");
    is_str(said.data, "", "and nothing is said");

    /* Repetitions: the median counts, and all go; other PEs are a series of their own. */
    n = performances(rows);
    for (int i = 0; i < 3; i++) {
        rows[5 + i] = (struct hrun_row){ 100, 2, 1, 1e6 * (i ? 1 : 0.5), "", HRUN_ROW_OWN, 1, NULL, -1, 1 };
        rows[8 + i] = (struct hrun_row){ 200, 2, 1, 8e6 * (i ? 4 : 1), "", HRUN_ROW_OWN, 1, NULL, -1, 1 };
    }
    n = 11;
    hrun_glitches_exclude(&a.app, 0.5, rows, &n, NULL, &err);
    ok(n == 6 && rows[3].P == 2 && rows[5].P == 2 && rows[5].N == 100,
       "the median of the repetitions decides over all of them");
    n = 5;
    is_int(hrun_glitches_exclude(&a.app, -1, rows, &n, NULL, &err), -1, "k < 0");
    is_int(hrun_glitches_exclude(&a.app, NAN, rows, &n, NULL, &err), -1, "and no number");
    is_int(err.code, HRUN_EINVAL, "are refused: %s", err.text);
    ma_release(&a);
    ma_init(&a, hpl_np, NULL, NULL, 1);
    is_int(hrun_glitches_exclude(&a.app, 0.9, rows, &n, NULL, &err), -1, "a definition without terms under 'n'");
    is_int(err.code, HRUN_EINVAL, "is refused: %s", err.text);
    ma_release(&a);
    hrun_buf_release(&said);
}

/* The example of figures 8 and 9: without the glitch the model of the other sizes is right. */
static void test_fit(void)
{
    struct hrun_fit_options plain = { .method = HRUN_METHOD_LS };
    struct hrun_sample s[9];
    struct hrun_buf said = HRUN_BUF_INIT, joint_said = HRUN_BUF_INIT;
    struct hrun_models *m = NULL;
    double worst[2] = { 0 };
    struct hrun_joint_sub sub = { "a", "sig-a", s, 8, 0 };
    struct ma a;

    ma_init(&a, NULL, hpl_nt, NULL, 1);
    for (int i = 0; i < 8; i++) {
        double N = 32 * (i + 1);

        s[i] = run_of((int64_t)N, 1, 1e-8 * N * N * N * (i == 5 ? 1.6 : 1) + 1e-3);
    }
    for (int way = 0; way < 2; way++) {
        plain.glitches = way ? 0.9 : 0;
        hrun_model_fit(&a.app, s, 8, &plain, &m, &said, NULL);
        for (int i = 0; i < 8; i++) {
            double t = 0, N = (double)s[i].N;

            for (int j = 0; j < 4; j++)
                t += m->v[0].k[j] * pow(N, 3 - j);
            if (i != 5)
                worst[way] = fmax(worst[way], fabs(t / s[i].time_s - 1));
        }
        is_int(m->nsamples, way ? 7 : 8, "measurements used");
        hrun_models_destroy(m);
        m = NULL;
    }
    ok(worst[1] < 1e-6 && worst[0] > 0.1, "the glitch spoils the model (%.2f), without it all is well (%.1e)", worst[0],
       worst[1]);
    has_str(said.data, "M=1, P=1, N=192 is excluded as a glitch", "it is told");
    hrun_model_fit_joint(&a.app, &sub, 1, &plain, &m, &joint_said, NULL);
    has_str(joint_said.data, "a: M=1, P=1, N=192 is excluded as a glitch", "and by the fit of several sub-clusters");
    hrun_models_destroy(m);
    hrun_buf_release(&said);
    hrun_buf_release(&joint_said);
    ma_release(&a);
}

int main(void)
{
    test_rule();
    test_fit();
    return tap_done();
}
