/* model_fit.h - measurements made up of terms, and what a fit made of them, for the tests of lib/model */
#ifndef HRUN_TESTS_MODEL_FIT_H
#define HRUN_TESTS_MODEL_FIT_H

#include "model_app.h"

#include <math.h>

enum { MAX = 1024 };    /* measurements */
__attribute__((unused)) static const int64_t hpl_sizes[9] = { 400, 800, 1600, 2400, 3200, 4800, 6400, 8000, 9600 };
__attribute__((unused)) static const struct hrun_fit_options nnls = HRUN_FIT_OPTIONS_DEFAULT;

__attribute__((unused)) static struct hrun_sample sample(int64_t N, int P, int M, double T)
{
    return (struct hrun_sample) { .N = N, .P = P, .M = M, .pes = P / M, .time_s = T, .wall_s = T, .ok = 1 };
}

__attribute__((unused)) static const struct hrun_fit_record *find(const struct hrun_models *m,
                                                                  const char *family, int M, int P)
{
    for (int i = 0; m && i < m->n; i++)
        if (!strcmp(m->v[i].family, family) && m->v[i].M == M && (!P || m->v[i].P == P))
            return &m->v[i];
    return NULL;
}

__attribute__((unused)) static double eval(const struct hrun_terms *terms, const double *k, const double *values)
{
    double sum = 0, v;

    for (int j = 0; j < terms->n; j++) {
        if (k[j] == 0)
            continue;
        hrun_expr_eval(terms->v[j].expr, values, &v, NULL);
        sum += k[j] * v;
    }
    return sum;
}

__attribute__((unused)) static double np_value(const struct hrun_app *app, const double *k, int64_t N, int P)
{
    double values[2] = { (double)N, P };

    return eval(&app->np, k, values);
}

#endif
