/* The glitch rule of paper 000, and which measurements are suspicious. */
#include "fit_random.h"
#include "model/glitch.h"
#include "model/joint.h"
#include "model/suspect.h"
#include "model_app.h"
#include "tap.h"

static const struct hrun_fit_options robust = HRUN_FIT_OPTIONS_DEFAULT;

static struct hrun_sample sample(int64_t N, int P, double T)
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

        rows[i] = (struct hrun_row){ (int64_t)N, 1, 1, N * N * N / p[i], "", HRUN_ROW_SINGLE, 1, NULL, -1 };
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
        rows[5 + i] = (struct hrun_row){ 100, 2, 1, 1e6 * (i ? 1 : 0.5), "", HRUN_ROW_OWN, 1, NULL, -1 };
        rows[8 + i] = (struct hrun_row){ 200, 2, 1, 8e6 * (i ? 4 : 1), "", HRUN_ROW_OWN, 1, NULL, -1 };
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
    struct hrun_joint_sub sub = { "a", "sig-a", s, 8 };
    struct ma a;

    ma_init(&a, NULL, hpl_nt, NULL, 1);
    for (int i = 0; i < 8; i++) {
        double N = 32 * (i + 1);

        s[i] = sample((int64_t)N, 1, 1e-8 * N * N * N * (i == 5 ? 1.6 : 1) + 1e-3);
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

/* ------------------------------------------------------------------ suspicious points */

enum { SIZES = 8, PES = 5, MAX = SIZES * PES * 5 };

static size_t campaign(uint64_t seed, int reps, struct hrun_sample *s)
{
    size_t n = 0;

    for (int P = 1; P <= PES; P++)
        for (int i = 0; i < SIZES; i++)
            for (int k = 0; k < reps; k++) {
                double N = 100 * (i + 1), T = 1e-8 * N * N * N / P + 2e-6 * N * N + 0.01;

                s[n++] = sample((int64_t)N, P, T * exp(0.02 * rnd_normal(&seed)));
            }
    return n;
}

static size_t suspects(const struct ma *a, struct hrun_sample *s, size_t n, struct hrun_suspect **out)
{
    struct hrun_models *m = NULL;
    size_t count = 99;

    hrun_model_fit(&a->app, s, n, &robust, &m, NULL, NULL);
    is_int(hrun_model_suspects(&a->app, m, s, n, &robust, out, &count, NULL), 0, "asked");
    hrun_models_destroy(m);
    return count;
}

static void test_suspects(void)
{
    struct hrun_sample s[MAX];
    struct hrun_suspect *found;
    struct ma a;

    ma_init(&a, hpl_np, hpl_nt, NULL, 1);
    for (int reps = 1; reps <= 4; reps++) {
        size_t n, place[3], count, clean = 0;
        int right = 0;

        for (uint64_t seed = 1; seed <= 10; seed++) {
            n = campaign(seed, reps, s);
            clean += suspects(&a, s, n, &found);
            free(found);
            place[0] = (size_t)(2 * reps);                      /* P = 1 */
            place[1] = (size_t)((2 * SIZES + 5) * reps);        /* P = 3 */
            place[2] = (size_t)((4 * SIZES + 1) * reps);        /* P = 5 */
            s[place[0]].time_s *= 1.5;
            s[place[1]].time_s *= 2;
            s[place[2]].time_s *= 0.5;
            count = suspects(&a, s, n, &found);
            for (size_t i = 0; i < count; i++)
                for (int k = 0; k < 3; k++) {
                    const struct hrun_sample *x = &s[place[k]];

                    right += found[i].N == x->N && found[i].P == x->P && found[i].runs == reps &&
                             (reps == 2 || found[i].time_s == x->time_s) &&
                             (reps == 2 || (found[i].deviation > 0) == (k < 2));
                }
            if (count)
                right += fabs(found[0].deviation) >= fabs(found[count - 1].deviation);
            free(found);
        }
        is_int(right, 40, "%d run%s of each point: the three that are off are found, the farthest off first", reps,
               reps == 1 ? "" : "s");
        ok(clean <= 10 * SIZES * PES * 2 / 100, "of good points at most 2 %% are suspected (%zu of %d)", clean,
           10 * SIZES * PES);
    }
    ma_release(&a);
}

/* What runs agree on is no accident. */
static void test_agreed(void)
{
    struct hrun_sample s[MAX];
    struct hrun_suspect *found;
    struct ma a;
    size_t n = campaign(3, 3, s), count;
    int there = 0;

    ma_init(&a, hpl_np, hpl_nt, NULL, 1);
    for (size_t i = 0; i < n; i++)
        if (s[i].P == 3 && s[i].N == 500)
            s[i].time_s *= 2;
    count = suspects(&a, s, n, &found);
    for (size_t i = 0; i < count; i++)
        there += found[i].P == 3 && found[i].N == 500;
    is_int(there, 0, "a point whose runs agree is believed, however far off the model");
    free(found);
    ma_release(&a);
}

/* A simulation that counts operations: however odd a time is, its run would give the same again. */
static void test_exact(void)
{
    struct hrun_sample s[MAX];
    struct hrun_suspect *found;
    struct ma a;
    size_t n = campaign(3, 1, s);

    ma_init(&a, hpl_np, hpl_nt, NULL, 1);
    s[2].time_s *= 1.5;
    is_int((int)suspects(&a, s, n, &found), 1, "a single run that is off is suspicious");
    free(found);
    s[n] = s[5];
    n++;
    is_int((int)suspects(&a, s, n, &found), 0, "not where another point's two runs agree to all digits");
    free(found);
    s[n - 1].time_s *= 1 + 1e-6;
    is_int((int)suspects(&a, s, n, &found), 1, "but where they differ in the seventh");
    free(found);
    ma_release(&a);
}

int main(void)
{
    test_rule();
    test_fit();
    test_suspects();
    test_agreed();
    test_exact();
    return tap_done();
}
