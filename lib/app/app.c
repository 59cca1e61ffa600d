/* app.c - queries on a definition; see app.h for the contracts */
#include "app/app.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hrun_expr_function hrun_app_functions[] = {
    { "p2p", 1 }, { "ring", 1 }, { "scatter", 1 }, { "gather", 1 }, { "bcast", 1 }, { "reduce", 1 },
    { "allreduce", 1 }, { "allgather", 1 }, { "alltoall", 1 }, { "barrier", 0 },
};
const int hrun_app_nfunctions = sizeof hrun_app_functions / sizeof *hrun_app_functions;

int hrun_term_is_network(const struct hrun_expr *term)
{
    return hrun_expr_calls(term) > 0;
}

int hrun_app_has_network(const struct hrun_app *app)
{
    if (app->law.formula)
        return app->law.formula->has_network;
    for (int i = 0; i < app->np.n; i++)
        if (hrun_term_is_network(app->np.v[i].expr))
            return 1;
    return 0;
}

int hrun_app_find_variant(const struct hrun_app *app, const char *name, struct hrun_error *err)
{
    autofree const char **names = xcalloc((size_t)app->nvariants + 1, sizeof *names);
    autorelease(hrun_buf_release) struct hrun_buf all = HRUN_BUF_INIT;
    const char *near;

    for (int i = 0; i < app->nvariants; i++) {
        names[i] = app->variants[i]->variant;
        hrun_buf_addf(&all, "%s%s", i ? ", " : "", names[i]);
        if (!strcmp(names[i], name))
            return i;
    }
    near = hrun_nearest(name, names, (size_t)app->nvariants);
    if (!app->nvariants)
        return hrun_fail(err, HRUN_ENOENT, "%s has no variants, and no '%s'", app->name, name);
    return hrun_fail(err, HRUN_ENOENT, "%s has no variant '%s' (it has: %s)%s%s%s", app->name, name, all.data,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

void hrun_app_fix_threads(struct hrun_app *app, const char *value)
{
    for (int i = 0; i < app->nvariants; i++)
        hrun_app_fix_threads(app->variants[i], value);
    free(app->run.threads);
    app->run.threads = xstrdup(value);
}

void hrun_app_suit(struct hrun_app *app, const int *cores, int n)
{
    int *list = xcalloc(2 * (size_t)n + 2, sizeof *list), count = 0, kept = 0;

    list[count++] = 1;
    for (int i = 0; i < n; i++) {
        int c = cores[i] < HRUN_PROCS_PER_PE_MAX ? cores[i] : HRUN_PROCS_PER_PE_MAX;

        list[count++] = c < 2 ? 2 : c;
        if (c > 3)
            list[count++] = c / 2;
        app->run.threads_fill |= c > 1;
    }
    qsort(list, (size_t)count, sizeof *list, hrun_compare_ints);
    for (int i = 0; i < count; i++)
        if (!i || list[i] != list[i - 1])
            list[kept++] = list[i];
    free(app->procs_per_pe);
    app->procs_per_pe = list;
    app->nprocs_per_pe = kept;
}

int hrun_app_rule(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err)
{
    const double v[2] = { (double)N, (double)P };
    int64_t units, least;
    double y;

    if (app->most_procs && P > app->most_procs)
        return 0;
    if (hrun_expr_eval(app->rule, v, &y, err))
        return hrun_fail_prefix(err, "rule of %s", app->name);
    if (y != 0 && app->shares.units && hrun_app_units(app, N, &units, &least, err))
        return -1;
    return y != 0 && (!app->shares.units || P <= units / least);
}

int hrun_app_memory(const struct hrun_app *app, int64_t N, int64_t P, double *bytes, struct hrun_error *err)
{
    int64_t units, unit;

    if (app->law.weak.memory) {
        if (hrun_app_mesh(app, N, &units, &unit, err))
            return -1;
        return hrun_app_share_memory(app, N, P, (double)((units + P - 1) / P) * (double)unit, bytes, err);
    }
    return hrun_app_share_memory(app, N, P, app->shares.memory ? hrun_app_uneven(app, N, P) / (double)P : 0, bytes,
                                 err);
}

int hrun_app_share_memory(const struct hrun_app *app, int64_t N, int64_t P, double W, double *bytes,
                          struct hrun_error *err)
{
    struct hrun_expr *of_share = app->law.weak.memory ? app->law.weak.memory : app->shares.memory;
    struct hrun_expr *memory = of_share ? of_share : app->memory;
    const char *key = !of_share ? "memory" : app->law.weak.memory ? "weak.memory" : "shares.memory";
    const double v[] = { (double)N, (double)P, W };
    char share[32] = "";
    double y = 0;

    if (memory && hrun_expr_eval(memory, v, &y, err))
        return hrun_fail_prefix(err, "%s of %s", key, app->name);
    if (of_share)
        snprintf(share, sizeof share, ", W=%.10g", W);
    if (y < 0)
        return hrun_fail(err, HRUN_EINVAL, "%s of %s: '%s' is negative at N=%lld, P=%lld%s", key, app->name,
                         hrun_expr_text(memory), (long long)N, (long long)P, share);
    *bytes = y;
    return 0;
}

/* ---------------------------------------------------------------- shares in whole units */

/* Set *out to the value of e, which must be a whole number above 0. */
static int count_units(const struct hrun_app *app, struct hrun_expr *e, const char *key, int64_t N, int64_t *out,
                       struct hrun_error *err)
{
    const double v[1] = { (double)N };
    double y;

    if (hrun_expr_eval(e, v, &y, err))
        return hrun_fail_prefix(err, "%s of %s", key, app->name);
    if (!(y >= 1 && y <= (double)HRUN_COUNT_MAX && y == floor(y)))
        return hrun_fail(err, HRUN_EINVAL, "%s of %s: '%s' is %g at N=%lld; it must be a whole number "
                         "from 1 to %lld", key, app->name, hrun_expr_text(e), y, (long long)N,
                         (long long)HRUN_COUNT_MAX);
    *out = (int64_t)y;
    return 0;
}

int hrun_app_mesh(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *unit, struct hrun_error *err)
{
    int64_t rows;

    if (count_units(app, app->law.weak.rows, "weak.rows", N, &rows, err) ||
        count_units(app, app->law.weak.unit, "weak.unit", N, unit, err))
        return -1;
    *units = (rows + *unit - 1) / *unit;
    return 0;
}

int hrun_app_units(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *least, struct hrun_error *err)
{
    return count_units(app, app->shares.units, "shares.units", N, units, err) ||
           count_units(app, app->shares.min, "shares.min", N, least, err) ? -1 : 0;
}

double hrun_units_uneven(int64_t units, int64_t P)
{
    return (double)((units + P - 1) / P) * (double)P / (double)units;
}

double hrun_app_uneven(const struct hrun_app *app, int64_t N, int64_t P)
{
    int64_t units, least;

    if (!app->shares.units || hrun_app_units(app, N, &units, &least, NULL))
        return 1;
    return hrun_units_uneven(units, P);
}

int hrun_app_term_is_shared(const struct hrun_app *app, const struct hrun_expr *term)
{
    return app->shares.units && hrun_expr_uses(term, 2);
}

int64_t hrun_app_units_fitting(const struct hrun_app *app, int64_t N, int64_t P, int64_t units, double room_bytes,
                               struct hrun_error *err)
{
    int64_t lo = room_bytes > 0 ? 0 : units, hi = units + 1, all, unit = 1;
    double bytes;

    if (app->law.weak.rows && hrun_app_mesh(app, N, &all, &unit, err))
        return -1;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        double part = app->shares.units ? (double)mid / (double)units : (double)mid * (double)unit;

        if (hrun_app_share_memory(app, N, P, part, &bytes, err))
            return -1;
        if (bytes <= room_bytes)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* ---------------------------------------------------------------- family ring */

int hrun_app_ring_work(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_ring_work *out,
                       struct hrun_error *err)
{
    enum { LOCAL, STEP, BYTES, EXPRESSIONS };
    static const char *const keys[EXPRESSIONS] = { "local", "step", "bytes" };
    struct hrun_expr *const exprs[EXPRESSIONS] = { app->law.ring.local, app->law.ring.step, app->law.ring.bytes };
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
