/* Fitting when measurements lie: glitches, terms that follow noise, and whether intervals keep their word. */
#include "fixture.h"
#include "model.h"

enum { SIZES = 9, PES = 8, REPS = 3, RUNS = SIZES * PES * REPS };

static const struct hrun_fit_options robust = HRUN_FIT_OPTIONS_DEFAULT;
static const int64_t sizes[SIZES] = { 32, 48, 64, 80, 96, 112, 128, 160, 192 };

/* Table V's terms for Himeno, in proportions of a stencil code on a slow network. */
static double stencil(int64_t N, int P)
{
    double n = (double)N;

    return P == 1 ? 4e-7 * n * n * n + 2e-3 : 4e-7 * n * n * n / P + 3e-6 * n * n + 2e-3 + 4e-3 * log(P);
}

/* Runs of every size on 1 to PES PEs, REPS times. `glitches` of a hundred take 1.2 to 3 times as long. */
static size_t campaign(uint64_t *seed, double noise, int glitches, struct hrun_sample *s)
{
    size_t n = 0;

    for (int P = 1; P <= PES; P++)
        for (int i = 0; i < SIZES; i++)
            for (int rep = 0; rep < REPS; rep++) {
                double T = stencil(sizes[i], P) * exp(noise * rnd_normal(seed));

                if (rnd_int(seed, 1, 100) <= glitches)
                    T *= 1.2 + 1.8 * rnd(seed);
                s[n++] = (struct hrun_sample){ .N = sizes[i], .P = P, .M = 1, .pes = P, .time_s = T, .wall_s = T,
                                               .ok = 1 };
            }
    return n;
}

struct seen {
    double error;              /* mean |prediction / true time - 1| */
    double fresh, truth;       /* part of new runs, and of true times, inside the interval */
    double width;              /* mean half width over prediction */
    int count;
};

/* What the models of one campaign say of sizes in between and of P = lo..hi. */
static void look(struct ma *a, struct hrun_models *m, int lo, int hi, double noise, uint64_t *seed, struct seen *out)
{
    for (int64_t N = 40; N <= 180; N += 20) {
        struct hrun_predictor *p = hrun_predictor_create(&a->app, &m, 1, HRUN_FORM_NPT, N, NULL);

        for (int P = lo; P <= hi; P++) {
            double T = stencil(N, P), fresh = T * exp(noise * rnd_normal(seed));
            struct hrun_interval time;

            if (hrun_predictor_time(p, 0, 1, P, &time, NULL))
                continue;
            out->error += fabs(time.mid / T - 1);
            out->fresh += fresh >= time.low && fresh <= time.high;
            out->truth += T >= time.low && T <= time.high;
            out->width += (time.high - time.low) / 2 / time.mid;
            out->count++;
        }
        hrun_predictor_destroy(p);
    }
}

static struct seen survey(const struct hrun_fit_options *options, double noise, int glitches, int lo, int hi)
{
    struct hrun_sample s[RUNS];
    struct seen out = { 0 };
    struct ma a;

    ma_init(&a, himeno_np, hpl_nt, NULL, 1);
    for (uint64_t seed = 1; seed <= 25; seed++) {
        uint64_t state = seed * 1000003;
        struct hrun_models *m = NULL;
        size_t n = campaign(&state, noise, glitches, s);

        if (!hrun_model_fit(&a.app, s, n, options, &m, NULL, NULL))
            look(&a, m, lo, hi, noise, &state, &out);
        hrun_models_destroy(m);
    }
    ma_release(&a);
    out.error /= out.count;
    out.fresh /= out.count;
    out.truth /= out.count;
    out.width /= out.count;
    return out;
}

static void test_glitches(void)
{
    struct hrun_fit_options plain = robust;
    struct seen with, without, clean;

    plain.robust = 0;
    with = survey(&robust, 0.02, 5, 2, PES);
    without = survey(&plain, 0.02, 5, 2, PES);
    clean = survey(&robust, 0.02, 0, 2, PES);
    is_int(with.count, 25 * 8 * 7, "every prediction is there");
    ok(with.error < 1.5 * clean.error, "5 %% glitches cost little: %.2f %% instead of %.2f %%", 100 * with.error,
       100 * clean.error);
    ok(without.error > 2 * with.error, "where the plain fit is off by %.2f %%", 100 * without.error);
    ok(without.width > 3 * with.width, "and its intervals are %.1f times as wide", without.width / with.width);
}

static void test_coverage(void)
{
    static const struct { double noise; int glitches; } cases[] = {
        { 0.02, 0 }, { 0.02, 5 }, { 0.005, 0 }, { 0.06, 5 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen one = survey(&robust, cases[i].noise, cases[i].glitches, 1, PES);
        struct seen far = survey(&robust, cases[i].noise, cases[i].glitches, PES + 1, 20);

        ok(one.fresh >= 0.90 && one.fresh <= 0.99,
           "noise of %.1f %%, %d %% glitches: 95 %% intervals hold %.1f %% of new runs", 100 * cases[i].noise,
           cases[i].glitches, 100 * one.fresh);
        ok(one.truth >= 0.90, "and %.1f %% of true times", 100 * one.truth);
        ok(far.fresh >= 0.90, "%.1f %% of new runs up to P = 20", 100 * far.fresh);
    }
}

int main(void)
{
    test_glitches();
    test_coverage();
    return tap_done();
}
