/* extrap_fit.c - models by Extra-P's published approach; see extrap_fit.h
 *
 * Calotoiu, Hoefler, Poke, Wolf, "Using automated performance modeling to find scalability bugs in complex codes"
 * (SC'13), and for two parameters Calotoiu et al., "Fast multi-parameter performance modeling" (CLUSTER'16): along each
 * parameter, the other at its least value, the hypothesis c0 + c1 x^i log^j(x) with the least SMAPE of leave-one-out
 * cross-validation; then all sums of the two terms and their product, by the same measure. Plain least squares,
 * coefficients of either sign. Where runs are no grid, the value of the other parameter with the most runs is held.
 */
#include "extrap_fit.h"

#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* N^a ln(N)^l P^b ln(P)^m; another base of the logarithm is another coefficient. */
struct term {
    double a, b;
    int l, m;
};
enum { TERMS_MAX = 4, ROWS_MAX = 4096, LOGS = 2 };
static const double exponents[] = { 0, 1 / 4., 1 / 3., 1 / 2., 2 / 3., 3 / 4., 1, 5 / 4., 4 / 3., 3 / 2., 5 / 3.,
                                    7 / 4., 2, 9 / 4., 7 / 3., 5 / 2., 8 / 3., 11 / 4., 3 };
enum { EXPONENTS = sizeof exponents / sizeof exponents[0] };

struct rows {
    double N[ROWS_MAX], P[ROWS_MAX], y[ROWS_MAX], x[ROWS_MAX * TERMS_MAX], e[ROWS_MAX];
    int group[ROWS_MAX];
    size_t n;
};

static double value(const struct term *t, double N, double P)
{
    return pow(N, t->a) * pow(log(N), t->l) * pow(P, t->b) * pow(log(P), t->m);
}

static struct hrun_lsq problem(struct rows *r, const struct term *t, size_t p)
{
    for (size_t i = 0; i < r->n; i++) {
        r->group[i] = (int)i;
        for (size_t j = 0; j < p; j++)
            r->x[i * p + j] = value(&t[j], r->N[i], r->P[i]);
    }
    return (struct hrun_lsq){ r->x, r->y, NULL, r->n, p };
}

/* Symmetric mean absolute percentage error of rows left out, as a part of 2; INFINITY where it cannot be known. */
static double smape(struct rows *r, const struct term *t, size_t p)
{
    struct hrun_lsq all = problem(r, t, p);
    double sum = 0;

    if (r->n <= p || hrun_fit_leave_out(&all, r->group, r->e, NULL))
        return INFINITY;
    for (size_t i = 0; i < r->n; i++)
        sum += 2 * fabs(r->e[i]) / (fabs(r->y[i]) + fabs(r->y[i] - r->e[i]));
    return isfinite(sum) ? sum / (double)r->n : INFINITY;
}

/* The best term along N (along_p = 0) or P in rows where the other stands still. Constant: what no term beats. */
static struct term along(struct rows *r, int along_p, int negative)
{
    struct term t[2] = { { 0 } }, best = { 0 };
    double least = smape(r, t, 1), now;

    for (int sign = 1; sign >= (negative ? -1 : 1); sign -= 2)
        for (int i = 0; i < EXPONENTS; i++)
            for (int l = 0; l <= LOGS; l++) {
                double to = sign * exponents[i];

                t[1] = along_p ? (struct term){ 0, to, 0, l } : (struct term){ to, 0, l, 0 };
                if ((i || l) && (now = smape(r, t, 2)) < least) {
                    least = now;
                    best = t[1];
                }
            }
    return best;
}

/* The rows of all at that P (or N, when along_p) which has the most of them, the least such one. */
static void line(const struct rows *all, int along_p, struct rows *out)
{
    const double *held = along_p ? all->N : all->P;
    double best = 0;
    size_t most = 0;

    for (size_t i = 0; i < all->n; i++) {
        size_t n = 0;

        for (size_t k = 0; k < all->n; k++)
            n += held[k] == held[i];
        if (n > most || (n == most && held[i] < best)) {
            most = n;
            best = held[i];
        }
    }
    out->n = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (held[i] != best)
            continue;
        out->N[out->n] = all->N[i];
        out->P[out->n] = all->P[i];
        out->y[out->n++] = all->y[i];
    }
}

/* The model of rows: terms into t, how many is the result, 0: none. scratch: as large. */
static size_t model(struct rows *r, struct rows *scratch, int two, int negative, struct term *t)
{
    /* Which of N's term, P's, and their product stand beside the constant. */
    static const struct { int n, p, np; } forms[] = { { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 0, 0, 1 }, { 1, 0, 1 },
                                                      { 0, 1, 1 }, { 1, 1, 1 } };
    struct term n, p = { 0 }, now[TERMS_MAX];
    double least, got;
    size_t best = 1;

    line(r, 0, scratch);
    n = along(scratch, 0, negative);
    if (two) {
        line(r, 1, scratch);
        p = along(scratch, 1, negative);
    }
    memset(now, 0, sizeof now);
    t[0] = now[0];
    least = smape(r, now, 1);
    for (size_t f = 0; f < (two ? sizeof forms / sizeof forms[0] : 1); f++) {
        size_t k = 1;

        if (forms[f].n)
            now[k++] = n;
        if (forms[f].p)
            now[k++] = p;
        if (forms[f].np)
            now[k++] = (struct term){ n.a, p.b, n.l, p.m };
        got = smape(r, now, k);
        if (got < least) {
            least = got;
            best = k;
            memcpy(t, now, sizeof now);
        }
    }
    return isfinite(least) ? best : 0;
}

/* A record of the model of these rows, in the form that hrun predicts by; without one nterms = 0. */
static void record(struct rows *r, struct rows *scratch, int two, int M, int negative, struct hrun_fit_record *out)
{
    struct term t[TERMS_MAX];
    size_t p = model(r, scratch, two, negative, t);
    struct hrun_lsq all = problem(r, t, p);
    struct hrun_lsq_result result = { .k = xcalloc(TERMS_MAX, sizeof(double)) };

    memset(out, 0, sizeof *out);
    if (!p || hrun_fit_ls(&all, &result, NULL)) {
        free(result.k);
        return;
    }
    *out = (struct hrun_fit_record){ .family = xstrdup(two ? "npt" : "single"), .method = xstrdup("ls"), .M = M,
                                     .terms = xcalloc(p, sizeof(char *)), .k = result.k,
                                     .cov = xcalloc(p * p, sizeof(double)), .note = xstrdup(""),
                                     .npoints = (int)r->n, .dof = (int)(r->n - p),
                                     .s2 = result.rss / (double)(r->n - p),
                                     .nmin = (int64_t)r->N[0], .nmax = (int64_t)r->N[0], .pmin = (int)r->P[0],
                                     .pmax = (int)r->P[0] };
    for (size_t j = 0; out->terms && j < p; j++) {
        out->terms[j] = hrun_strf("N^(%.17g)*ln(N)^%d*P^(%.17g)*ln(P)^%d", t[j].a, t[j].l, t[j].b, t[j].m);
        if (!two) {
            free(out->terms[j]);
            out->terms[j] = hrun_strf("N^(%.17g)*ln(N)^%d", t[j].a, t[j].l);
        }
        out->nterms++;
    }
    for (size_t i = 0; i < r->n; i++) {
        out->nmin = (int64_t)fmin((double)out->nmin, r->N[i]);
        out->nmax = (int64_t)fmax((double)out->nmax, r->N[i]);
        out->pmin = (int)fmin(out->pmin, r->P[i]);
        out->pmax = (int)fmax(out->pmax, r->P[i]);
    }
}

struct hrun_models *extrap_fit(const struct hrun_app *app, const struct hrun_samples *s, int negative)
{
    struct hrun_models *m = xcalloc(1, sizeof *m);
    struct rows *r = xcalloc(2, sizeof *r);

    m->v = xcalloc(2 * (size_t)app->nprocs_per_pe, sizeof *m->v);
    m->app = xstrdup(app->name);
    m->signature = xstrdup("");
    m->subcluster = xstrdup("");
    m->consts = xstrdup("");
    m->fitted = xstrdup("");
    m->newest = xstrdup("");
    for (int i = 0; i < 2 * app->nprocs_per_pe; i++) {
        int M = app->procs_per_pe[i / 2], two = i % 2;

        r->n = 0;
        for (size_t k = 0; k < s->n && r->n < ROWS_MAX; k++) {
            if (s->v[k].M != M || (s->v[k].P > M) != two)
                continue;
            r->N[r->n] = (double)s->v[k].N;
            r->P[r->n] = s->v[k].P;
            r->y[r->n++] = s->v[k].time_s;
        }
        if (r->n)
            record(r, r + 1, two, M, negative, &m->v[m->n]);
        m->n += m->v[m->n].nterms > 0;
    }
    free(r);
    return m;
}
