/* bench_fit.c - fitting all models of an application: 3 sub-clusters, Mi <= 2, 63 points each with P > Mi
 * (9 sizes, 2 to 8 PEs) and 9 with one PE; the terms are those of HPL (paper 000, Table V). */
#include "bench.h"

#include "app/app.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

enum { SUBS = 3, PROCS = 2, SIZES = 9, PES = 8, POINTS = SIZES * PES * PROCS, REPS = 101 };

/* Times of a plausible LU on PEs of the given speed, with 2 % of reproducible scatter. */
static void make_samples(double speed, struct hrun_sample *s)
{
    unsigned state = 12345;
    int k = 0;

    for (int m = 1; m <= PROCS; m++)
        for (int pes = 1; pes <= PES; pes++)
            for (int i = 0; i < SIZES; i++) {
                double N = 400 + 750 * i, P = pes * m, noise;

                state = state * 1103515245u + 12345u;
                noise = 1 + 0.02 * ((state >> 16 & 0x7fff) / 16384.0 - 1);
                s[k] = (struct hrun_sample){ 0 };
                s[k].N = (int64_t)N;
                s[k].P = (int)P;
                s[k].M = m;
                s[k].pes = pes;
                s[k].ok = 1;
                s[k].time_s = noise * m * (6.7e-10 * N * N * N / P / speed + 2e-9 * N * N * P + 1e-5 * N + 0.01);
                s[k].wall_s = s[k].time_s;
                s[k].consts = (char *)"";
                s[k].date = (char *)"2026-01-01T00:00:00Z";
                k++;
            }
}

int main(void)
{
    static const struct hrun_fit_options methods[] = {
        HRUN_FIT_OPTIONS_DEFAULT, { .method = HRUN_METHOD_LS, .sigma_abs_s = 1e-3, .sigma_rel = 0.02 },
    };
    static const double speeds[SUBS] = { 1.6, 1.1, 0.55 }; /* paper 000, Table IV, in kind */
    static struct hrun_sample samples[SUBS][POINTS];
    struct hrun_error err;
    struct hrun_app *app;
    double t[REPS];

    if (hrun_app_load("tests/apps/lu.yaml", NULL, &app, &err)) {
        fprintf(stderr, "bench_fit: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < SUBS; i++)
        make_samples(speeds[i], samples[i]);
    for (size_t j = 0; j < sizeof methods / sizeof methods[0]; j++) {
        for (int r = 0; r < REPS; r++) {
            double start = bench_now();

            for (int i = 0; i < SUBS; i++) {
                struct hrun_models *m;

                if (hrun_model_fit(app, samples[i], POINTS, &methods[j], &m, NULL, &err)) {
                    fprintf(stderr, "bench_fit: %s\n", err.text);
                    return 1;
                }
                hrun_models_destroy(m);
            }
            t[r] = bench_now() - start;
        }
        bench_sort(t, REPS);
        printf("  single, N-T, P-T and NP-T by %-4s %8.2f ms   (quartiles %.2f .. %.2f, %d repetitions)\n",
               hrun_method_name(methods[j].method), 1e3 * t[REPS / 2], 1e3 * t[REPS / 4], 1e3 * t[3 * REPS / 4], REPS);
    }
    hrun_app_destroy(app);
    return 0;
}
