/* terms.c - terms as functions of P; see terms.h for the contracts */
#include "base/alloc.h"
#include "model/terms.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_term_eval(struct hrun_expr *e, enum hrun_term_kind kind, double N, double P, double T, double *out,
                   struct hrun_error *err)
{
    double n[1] = { N }, np[3] = { N, P, kind == HRUN_TERM_WHOLE ? 1 : 1 / P }, tpn[3] = { T, P, N };

    return hrun_expr_eval(e, kind == HRUN_TERM_N ? n : kind == HRUN_TERM_TPN ? tpn : np, out, err);
}

struct hrun_expr *hrun_term_find(const struct hrun_app *app, enum hrun_term_kind kind, const char *text,
                                 int *owned, struct hrun_error *err)
{
    static const char *const names[3][3] = { { "N" }, { "N", "P", "W" }, { "T", "P", "N" } };
    const int counts[3] = { 1, app->shares.units ? 3 : 2, 3 };
    const struct hrun_terms *known = kind == HRUN_TERM_N    ? &app->nt
                                     : kind == HRUN_TERM_NP ? &app->np
                                                            : &app->pt;
    struct hrun_expr *e;

    *owned = 0;
    for (int i = 0; i < known->n; i++)
        if (!strcmp(known->v[i].text, text))
            return known->v[i].expr;
    e = hrun_expr_compile_in(&(struct hrun_expr_scope){
        names[kind], counts[kind], app->consts, app->nconsts, hrun_app_functions,
        kind == HRUN_TERM_NP ? hrun_app_nfunctions : 0
    }, text, err);
    if (e)
        *owned = 1;
    else
        hrun_fail_prefix(err, "stored term '%s' of %s", text, app->name);
    return e;
}

int hrun_term_network_call(struct hrun_expr *e, double N, double P, double *factor, struct hrun_net_call *out,
                           struct hrun_error *err)
{
    double np[3] = { N, P, 1 / P }, k, bytes;

    if (hrun_expr_eval(e, np, &k, err) || hrun_expr_eval_argument(e, 0, np, &bytes, err))
        return -1;
    if (k < 0 || bytes < 0)
        return hrun_fail(err, HRUN_EINVAL, "'%s' %s %g at N=%.15g, P=%.15g: below 0", hrun_expr_text(e),
                         bytes < 0 ? "sends bytes of" : "has a factor of", bytes < 0 ? bytes : k, N, P);
    *factor = k;
    /* enum hrun_net_op is in the order of lib/app's functions. */
    *out = (struct hrun_net_call){ .op = (enum hrun_net_op)hrun_expr_call_function(e, 0), .bytes = bytes };
    return 0;
}

/* 1 if the text has no jumps: no remainder, comparison or choice, and no functions but roots and logarithms. */
static int analytic(const char *text)
{
    static const char *const smooth[] = { "ln", "log", "log2", "log10", "sqrt", "cbrt" };

    for (const char *s = text; *s;) {
        const char *begin = s;
        int known = 0;

        if (!isalpha((unsigned char)*s) && *s != '_') {
            if (strchr("%<>=!&|?:", *s))
                return 0;
            s++;
            continue;
        }
        while (isalnum((unsigned char)*s) || *s == '_')
            s++;
        for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++)
            known |=
                strlen(smooth[i]) == (size_t)(s - begin) && !strncmp(smooth[i], begin, (size_t)(s - begin));
        begin = s;
        while (isspace((unsigned char)*begin))
            begin++;
        if (*begin == '(' && !known)
            return 0;
    }
    return 1;
}

/* Largest ratio of the work with twice the processes, to count as divided: N^3/P is divided, N^3/P^(2/3) is not. */
static const double DIVIDED = 0.6;

int hrun_term_is_divided(struct hrun_expr *e)
{
    double here, twice;

    return !hrun_term_is_network(e) && !hrun_term_eval(e, HRUN_TERM_NP, 1024, 8, 0, &here, NULL) &&
           !hrun_term_eval(e, HRUN_TERM_NP, 1024, 16, 0, &twice, NULL) && twice <= DIVIDED * here;
}

int hrun_pterm_value(struct hrun_pterm *t, int P, double *out, struct hrun_error *err)
{
    if (t->shape == HRUN_SHAPE_CONST) {
        *out = t->value;
        return 0;
    }
    return hrun_term_eval(t->expr, t->kind, t->N, P, t->T, out, err);
}

/* ------------------------------------------------------------------ shape */

/* Largest relative difference of values that count as equal; slack of bounds from a shape. */
static const double same = 1e-10;

/* 1 if the term is c P^a ln(P)^b at all P that are tried. *peak: its extremum, exp(-b/a) for a < 0 < b, else 0. */
static int power_shape(struct hrun_pterm *t, double *peak)
{
    static const int ps[] = {
        2, 3, 5, 7, 11, 16, 29, 64, 101, 333, 1000, 4099, 20011, 100003, 640000, 1000000
    };
    enum { COUNT = sizeof ps / sizeof *ps };
    double f[COUNT], one;

    if (!analytic(hrun_expr_text(t->expr)))
        return 0;
    if (hrun_term_eval(t->expr, t->kind, t->N, 1, t->T, &one, NULL))
        return 0;
    for (int i = 0; i < COUNT; i++)
        if (hrun_term_eval(t->expr, t->kind, t->N, ps[i], t->T, &f[i], NULL))
            return 0;
    for (int b = 0; b <= 2; b++) {
        double first = f[0] / pow(log(ps[0]), b), last = f[COUNT - 1] / pow(log(ps[COUNT - 1]), b);
        double a = log(last / first) / log((double)ps[COUNT - 1] / ps[0]), c = first / pow(ps[0], a);
        int good = isfinite(a) && isfinite(c) && c != 0 && fabs(one - (b ? 0 : c)) <= same * fabs(c);

        for (int i = 0; good && i < COUNT; i++) {
            double want = c * pow(ps[i], a) * pow(log(ps[i]), b);
            good = fabs(f[i] - want) <= same * fabs(want);
        }
        if (good) {
            *peak = b > 0 && a < 0 ? exp(-b / a) : 0;
            return 1;
        }
    }
    return 0;
}

int hrun_pterm_init(struct hrun_pterm *t, struct hrun_error *err)
{
    int has_P = t->kind != HRUN_TERM_N &&
                (hrun_expr_uses(t->expr, 1) || (t->kind == HRUN_TERM_NP && hrun_expr_uses(t->expr, 2)));

    if (!has_P) {
        t->shape = HRUN_SHAPE_CONST;
        return hrun_term_eval(t->expr, t->kind, t->N, 1, t->T, &t->value, err);
    }
    t->shape = power_shape(t, &t->peak) ? HRUN_SHAPE_POWER : HRUN_SHAPE_TABLE;
    return 0;
}

void hrun_pterm_release(struct hrun_pterm *t)
{
    if (t->owned)
        hrun_expr_destroy(t->expr);
    free(t->table);
    for (int l = 0; l < HRUN_RANGE_LEVELS; l++) {
        free(t->min[l]);
        free(t->max[l]);
    }
}

/* ------------------------------------------------------------------ least and greatest value */

enum { BLOCK = 64 };  /* scanning a block costs about as much as evaluating one expression */

static void widen(double value, double *min, double *max)
{
    if (value < *min)
        *min = value;
    if (value > *max)
        *max = value;
}

/* Extend the table to P = 0..hi. */
static int tabulate(struct hrun_pterm *t, int hi, struct hrun_error *err)
{
    int large = BLOCK * BLOCK, want;

    if (hi < t->tabulated)
        return 0;
    if (hi > INT_MAX - large)
        return hrun_fail(err, HRUN_EINVAL, "a term cannot be tabulated for %d processes", hi);
    want = (hi / large + 1) * large;
    t->table = xrealloc(t->table, (size_t)want * sizeof *t->table);
    for (int l = 0, size = BLOCK; l < HRUN_RANGE_LEVELS; l++, size *= BLOCK) {
        t->min[l] = xrealloc(t->min[l], (size_t)(want / size) * sizeof *t->min[l]);
        t->max[l] = xrealloc(t->max[l], (size_t)(want / size) * sizeof *t->max[l]);
        for (int i = t->tabulated / size; i < want / size; i++) {
            t->min[l][i] = INFINITY;
            t->max[l][i] = -INFINITY;
        }
    }
    for (int P = t->tabulated; P < want; P++) {
        double *v = &t->table[P];

        if (P == 0 || hrun_term_eval(t->expr, t->kind, t->N, P, t->T, v, NULL)) {
            *v = NAN;
            continue;
        }
        for (int l = 0, size = BLOCK; l < HRUN_RANGE_LEVELS; l++, size *= BLOCK)
            widen(*v, &t->min[l][P / size], &t->max[l][P / size]);
    }
    t->tabulated = want;
    return 0;
}

static void scan_table(const struct hrun_pterm *t, int lo, int hi, double *min, double *max)
{
    const int large = BLOCK * BLOCK;

    for (int P = lo; P <= hi;) {
        int level = P % large == 0 && hi - P >= large - 1   ? 1
                    : P % BLOCK == 0 && hi - P >= BLOCK - 1 ? 0
                                                            : -1;
        int size = level == 1 ? large : BLOCK;

        if (level < 0) {
            widen(t->table[P++], min, max);   /* NaN compares false */
            continue;
        }
        /* not by widen: a block without values has min = +infinity and max = -infinity */
        if (t->min[level][P / size] < *min)
            *min = t->min[level][P / size];
        if (t->max[level][P / size] > *max)
            *max = t->max[level][P / size];
        P += size;
    }
}

int hrun_pterm_missing(struct hrun_pterm *t, int lo, int hi, int *P, struct hrun_error *err)
{
    double value;
    int at = lo;

    *P = 0;
    if (t->shape != HRUN_SHAPE_TABLE)
        return 0;
    if (lo == hi) {
        *P = hrun_term_eval(t->expr, t->kind, t->N, lo, t->T, &value, NULL) ? lo : 0;
        return 0;
    }
    if (tabulate(t, hi, err))
        return -1;
    while (at <= hi && !isnan(t->table[at]))
        at++;
    *P = at <= hi ? at : 0;
    return 0;
}

int hrun_pterm_range(struct hrun_pterm *t, int lo, int hi, double *min, double *max, struct hrun_error *err)
{
    double least = INFINITY, most = -INFINITY, value;
    int inner = (int)fmin(fmax(t->peak, lo), hi);
    int at[4] = { lo, hi, inner, inner < hi ? inner + 1 : hi };

    if (t->shape == HRUN_SHAPE_CONST) {
        *min = *max = t->value;
        return 0;
    }
    if (t->shape == HRUN_SHAPE_TABLE && lo < hi) {
        if (tabulate(t, hi, err))
            return -1;
        scan_table(t, lo, hi, &least, &most);
    } else {
        for (int i = 0; i < (lo == hi ? 1 : t->peak > 0 ? 4 : 2); i++)
            if (!hrun_term_eval(t->expr, t->kind, t->N, at[i], t->T, &value, NULL)) {
                widen(value, &least, &most);
            } else if (t->shape == HRUN_SHAPE_POWER) {
                /* the term overflows beyond the P of power_shape */
                least = -INFINITY;
                most = INFINITY;
            }
        if (lo < hi) {
            least -= same * fabs(least);
            most += same * fabs(most);
        }
    }
    *min = least;
    *max = most;
    return 0;
}
