/* formula.c - the value of a formula for each process of a configuration; see analytic.h for the contract */
#include "model/analytic.h"

#include <math.h>
#include <string.h>

/* One evaluation: a row of variables for each rank, and the sums of shares before each. */
struct rows {
    const struct hrun_formula *f;
    const struct hrun_formula_ranks *ranks;
    int width;                  /* of a row */
    double *v;                  /* P rows */
    double *before;             /* P + 1 */
};

static double *row_of(const struct rows *r, int rank)
{
    return r->v + (size_t)rank * (size_t)r->width;
}

static double upto(const struct rows *r, double x)
{
    int P = r->ranks->P, at;

    if (!(x > 0))
        return 0;
    if (x >= P)
        return r->before[P];
    at = (int)x;
    return r->before[at] + (x - at) * (r->before[at + 1] - r->before[at]);
}

static double every(const struct rows *r, int rank, double k)
{
    double sum = 0;

    if (k >= r->ranks->P)
        return r->ranks->share[rank];
    for (int i = rank % (int)k; i < r->ranks->P; i += (int)k)
        sum += r->ranks->share[i];
    return sum;
}

/* Sum or maximum of a call's argument over the first n processes. */
static int over(const struct rows *r, struct hrun_expr *e, int c, int n, int most, double *out, struct hrun_error *err)
{
    double sum = 0, max = -INFINITY, x;

    for (int rank = 0; rank < n; rank++) {
        if (hrun_expr_eval_argument(e, c, row_of(r, rank), &x, err))
            return -1;
        sum += x;
        max = fmax(max, x);
    }
    *out = most ? max : sum;
    return 0;
}

/* The value of call c for one rank. */
static int call(const struct rows *r, struct hrun_expr *e, int c, int rank, double *out, struct hrun_error *err)
{
    int which = hrun_expr_call_function(e, c), own = which - hrun_app_nfunctions;
    double x;

    if (own == HRUN_FORMULA_TOTAL || own == HRUN_FORMULA_MOST || own == HRUN_FORMULA_BEFORE)
        return over(r, e, c, own == HRUN_FORMULA_BEFORE ? rank : r->ranks->P, own == HRUN_FORMULA_MOST, out, err);
    if (hrun_expr_eval_argument(e, c, row_of(r, rank), &x, err))
        return -1;
    *out = 0;
    switch (own) {
    case HRUN_FORMULA_UPTO:
        *out = upto(r, x);
        return 0;
    case HRUN_FORMULA_EVERY:
        if (!(x >= 1 && x == floor(x)))
            return hrun_fail(err, HRUN_ENONFINITE, "'every' takes a whole number from 1 on, not %.10g", x);
        *out = every(r, rank, x);
        return 0;
    default:
        if (!(x >= 0))
            return hrun_fail(err, HRUN_ENONFINITE, "'%s' of %g bytes", hrun_app_functions[which].name, x);
        return r->ranks->network ? r->ranks->network(r->ranks->ctx, which, x, out, err) : 0;
    }
}

/* Does the value of a call change from rank to rank? */
static int call_is_common(const struct hrun_formula_step *s, int c)
{
    int own = hrun_expr_call_function(s->expr, c) - hrun_app_nfunctions;

    return !s->varies || own == HRUN_FORMULA_TOTAL || own == HRUN_FORMULA_MOST;
}

/* Step k for all ranks, into column HRUN_FORMULA_VARIABLES + k. */
static int step(const struct rows *r, int k, struct hrun_error *err)
{
    const struct hrun_formula_step *s = &r->f->steps[k];
    int calls = hrun_expr_calls(s->expr), last = s->varies ? r->ranks->P : 1;
    double called[HRUN_EXPR_CALLS_MAX], value = 0;

    for (int rank = 0; rank < last; rank++) {
        for (int c = 0; c < calls; c++)
            if ((rank == 0 || !call_is_common(s, c)) && call(r, s->expr, c, rank, &called[c], err))
                return -1;
        if (hrun_expr_eval_called(s->expr, row_of(r, rank), called, &value, err))
            return -1;
        row_of(r, rank)[HRUN_FORMULA_VARIABLES + k] = value;
    }
    for (int rank = last; rank < r->ranks->P; rank++)
        row_of(r, rank)[HRUN_FORMULA_VARIABLES + k] = value;
    return 0;
}

static void fill(const struct rows *r, double N)
{
    for (int rank = 0; rank < r->ranks->P; rank++) {
        double *v = row_of(r, rank);

        v[HRUN_FORMULA_N] = N;
        v[HRUN_FORMULA_P] = r->ranks->P;
        v[HRUN_FORMULA_SHARE] = r->ranks->share[rank];
        v[HRUN_FORMULA_PERF] = r->ranks->perf[rank];
        v[HRUN_FORMULA_LATENCY] = r->ranks->latency_s;
        v[HRUN_FORMULA_BANDWIDTH] = r->ranks->bandwidth_bytes_per_s;
        v[HRUN_FORMULA_ROOT] = rank == 0;
        v[HRUN_FORMULA_RANK] = rank;
        r->before[rank] = rank ? r->before[rank - 1] + r->ranks->share[rank - 1] : 0;
    }
    r->before[r->ranks->P] = 1;
}

int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err)
{
    struct rows r = { f, ranks, HRUN_FORMULA_VARIABLES + f->n, room, NULL };

    r.before = room + (size_t)ranks->P * (size_t)r.width;
    fill(&r, N);
    for (int k = 0; k < f->n; k++)
        if (step(&r, k, err))
            return hrun_fail_prefix(err, "%s%s at N=%.0f, P=%d", f->steps[k].name ? "where " : "formula",
                                    f->steps[k].name ? f->steps[k].name : "", N, ranks->P);
    for (int rank = 0; rank < ranks->P; rank++)
        time_s[rank] = row_of(&r, rank)[r.width - 1];
    return 0;
}
