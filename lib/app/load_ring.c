/* load_ring.c - what a definition of family ring says of its processes; see internal.h and app.h for the contracts */
#include "app/internal.h"

/* In the order in which values are given at evaluation. */
static const char *const vars_ring[] = { "n", "N", "P" };

enum { LOCAL, STEP, BYTES, EXPRESSIONS };
static const char *const keys[EXPRESSIONS] = { "local", "step", "bytes" };

int hrun_app_compile_ring(const struct raw_ring *raw, struct hrun_app *app, const char **key, struct hrun_error *err)
{
    const char *const texts[EXPRESSIONS] = { raw->local, raw->step, raw->bytes };
    struct hrun_expr **const out[EXPRESSIONS] = { &app->ring.local, &app->ring.step, &app->ring.bytes };

    for (int i = 0; i < EXPRESSIONS; i++) {
        *key = keys[i];
        *out[i] = hrun_expr_compile(texts[i], vars_ring, 3, app->consts, app->nconsts, err);
        if (!*out[i])
            return -1;
    }
    return 0;
}

int hrun_app_ring_work(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_ring_work *out,
                       struct hrun_error *err)
{
    struct hrun_expr *const exprs[EXPRESSIONS] = { app->ring.local, app->ring.step, app->ring.bytes };
    const double values[] = { (double)N / (double)P, (double)N, (double)P };
    double v[EXPRESSIONS];

    for (int i = 0; i < EXPRESSIONS; i++) {
        if (hrun_expr_eval(exprs[i], values, &v[i], err))
            return hrun_fail_prefix(err, "ring.%s of %s", keys[i], app->name);
        if (v[i] < 0)
            return hrun_fail(err, HRUN_EINVAL, "ring.%s of %s, '%s', is %g at n=%g, N=%lld, P=%lld; it must not be "
                             "negative", keys[i], app->name, hrun_expr_text(exprs[i]), v[i], values[0], (long long)N,
                             (long long)P);
    }
    *out = (struct hrun_ring_work){ values[0], v[LOCAL], v[STEP], v[BYTES] };
    return 0;
}
