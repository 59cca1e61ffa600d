/* load_weak.c - family weak: the mesh of a size, and the memory of a process; see app.h and internal.h */
#include "app/internal.h"

#include "base/units.h"

#include <math.h>

static const char *const vars_n[] = { "N" };
static const char *const vars_memory[] = { "N", "P", "W" };

/* Compile, without functions of the network. */
static struct hrun_expr *compile(const struct hrun_app *app, const char *text, const char *const *vars, int nvars,
                                 struct hrun_error *err)
{
    return hrun_expr_compile(text, vars, nvars, app->consts, app->nconsts, err);
}

int hrun_app_compile_weak(const struct raw_weak *raw, struct hrun_app *app, const char **key, struct hrun_error *err)
{
    *key = "rows";
    app->weak.rows = compile(app, raw && raw->rows ? raw->rows : "N", vars_n, 1, err);
    if (!app->weak.rows)
        return -1;
    *key = "unit";
    app->weak.unit = compile(app, raw && raw->unit ? raw->unit : "1", vars_n, 1, err);
    if (!app->weak.unit)
        return -1;
    *key = "memory";
    if (!raw || !raw->memory)
        return 0;
    app->weak.memory = compile(app, raw->memory, vars_memory, 3, err);
    return app->weak.memory ? 0 : -1;
}

/* A whole number above 0. */
static int count(const struct hrun_app *app, struct hrun_expr *e, const char *key, int64_t N, int64_t *out,
                 struct hrun_error *err)
{
    const double v[1] = { (double)N };
    double y;

    if (hrun_expr_eval(e, v, &y, err))
        return hrun_fail_prefix(err, "weak.%s of %s", key, app->name);
    if (!(y >= 1 && y <= (double)HRUN_COUNT_MAX && y == floor(y)))
        return hrun_fail(err, HRUN_EINVAL, "weak.%s of %s: '%s' is %g at N=%lld; it must be a whole number "
                         "from 1 to %lld", key, app->name, hrun_expr_text(e), y, (long long)N,
                         (long long)HRUN_COUNT_MAX);
    *out = (int64_t)y;
    return 0;
}

int hrun_app_mesh(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *unit, struct hrun_error *err)
{
    int64_t rows, each;

    if (count(app, app->weak.rows, "rows", N, &rows, err) || count(app, app->weak.unit, "unit", N, &each, err))
        return -1;
    *unit = each;
    *units = (rows + each - 1) / each;
    return 0;
}

int hrun_app_rows_memory(const struct hrun_app *app, int64_t N, int64_t P, double rows, double *bytes,
                         struct hrun_error *err)
{
    const double v[3] = { (double)N, (double)P, rows };
    double y = 0;

    if (!app->weak.memory)
        return hrun_app_memory(app, N, P, bytes, err);
    if (hrun_expr_eval(app->weak.memory, v, &y, err))
        return hrun_fail_prefix(err, "weak.memory of %s", app->name);
    if (y < 0)
        return hrun_fail(err, HRUN_EINVAL, "weak.memory of %s: '%s' is negative at N=%lld, P=%lld, W=%.10g", app->name,
                         hrun_expr_text(app->weak.memory), (long long)N, (long long)P, rows);
    *bytes = y;
    return 0;
}

int hrun_app_units_fitting(const struct hrun_app *app, int64_t N, int64_t P, int64_t units, int64_t unit,
                           double room_bytes, int64_t *most, struct hrun_error *err)
{
    int64_t lo = room_bytes > 0 ? 0 : units, hi = units + 1;
    double bytes;

    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;

        if (hrun_app_rows_memory(app, N, P, (double)mid * (double)unit, &bytes, err))
            return -1;
        if (bytes <= room_bytes)
            lo = mid;
        else
            hi = mid;
    }
    *most = lo;
    return 0;
}
