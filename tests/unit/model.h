/* model.h - definitions and models made in memory, made-up measurements, and whether a fit is optimal */
#ifndef HRUN_TESTS_MODEL_H
#define HRUN_TESTS_MODEL_H

#include "configs.h"
#include "fixture.h"

#include "fit/fit.h"
#include "fit/internal.h"
#include "model/corrections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MA_TERMS = 32 };

struct ma {
    struct hrun_app app;
    struct hrun_term np[MA_TERMS], nt[MA_TERMS], pt[MA_TERMS];
    int procs[64];
};

static inline struct hrun_expr *ma_compile(const struct hrun_app *app, const char *text,
                                           const char *const *vars, int nvars)
{
    struct hrun_error err;
    struct hrun_expr_scope scope = { vars, nvars, app->consts, app->nconsts, hrun_app_functions, hrun_app_nfunctions };
    struct hrun_expr *e = hrun_expr_compile_in(&scope, text, &err);

    if (!e) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return e;
}

static inline void ma_terms(struct hrun_app *app, struct hrun_terms *out,
                            struct hrun_term *v, const char *const *texts,
                            const char *const *vars, int nvars)
{
    out->v = v;
    for (out->n = 0; texts && texts[out->n]; out->n++) {
        v[out->n].text = strdup(texts[out->n]);
        v[out->n].expr = ma_compile(app, texts[out->n], vars, nvars);
    }
}

/* Term lists end with NULL; each may be NULL. */
static inline void ma_init(struct ma *m, const char *const *np, const char *const *nt,
                           const char *const *pt, int max_m)
{
    static const char *const vars_np[] = { "N", "P" }, *const vars_pt[] = { "T", "P", "N" };
    static char name[] = "demo";

    memset(m, 0, sizeof *m);
    m->app.name = name;
    ma_terms(&m->app, &m->app.np, m->np, np, vars_np, 2);
    ma_terms(&m->app, &m->app.nt, m->nt, nt, vars_np, 1);
    ma_terms(&m->app, &m->app.pt, m->pt, pt, vars_pt, 3);
    m->app.rule = ma_compile(&m->app, "P % 3 != 2", vars_np, 2);
    m->app.procs_per_pe = m->procs;
    m->app.nprocs_per_pe = max_m;
    for (int i = 0; i < max_m; i++)
        m->procs[i] = i + 1;
}

static inline void ma_release(struct ma *m)
{
    struct hrun_terms *lists[] = { &m->app.np, &m->app.nt, &m->app.pt };

    for (int l = 0; l < 3; l++) {
        for (int i = 0; i < lists[l]->n; i++) {
            free(lists[l]->v[i].text);
            hrun_expr_destroy(lists[l]->v[i].expr);
        }
    }
    hrun_expr_destroy(m->app.rule);
    hrun_expr_destroy(m->app.memory);
}

/* An empty set of models, and records in it with given terms and coefficients (terms end with NULL). */
static inline struct hrun_models *ma_models(void)
{
    struct hrun_models *m = calloc(1, sizeof *m);

    m->v = calloc(4096, sizeof *m->v);
    m->consts = strdup("");
    return m;
}

static inline struct hrun_fit_record *
ma_record(struct hrun_models *m, const char *family, int M, int P, const char *const *terms, const double *k)
{
    struct hrun_fit_record *r = &m->v[m->n++];

    r->family = strdup(family);
    r->method = strdup("nnls");
    r->note = strdup("");
    r->M = M;
    r->P = P;
    while (terms[r->nterms])
        r->nterms++;
    r->terms = calloc((size_t)r->nterms, sizeof *r->terms);
    r->k = calloc((size_t)r->nterms, sizeof *r->k);
    r->cov = calloc((size_t)(r->nterms * r->nterms), sizeof *r->cov);
    for (int j = 0; j < r->nterms; j++) {
        r->terms[j] = strdup(terms[j]);
        r->k[j] = k[j];
    }
    r->nmin = 1;
    r->nmax = 1000000;
    r->pmin = 1;
    r->pmax = 1000000;
    return r;
}

/* Paper 000, Table V. */
__attribute__((unused)) static const char *const hpl_np[] = { "N^3/P", "N^2/P", "N/P", "1/P", "P*N^2", "P*N",
                                                              "P",     "N^2",   "N",   "1",   NULL };
__attribute__((unused)) static const char *const hpl_nt[] = { "N^3", "N^2", "N", "1", NULL };
__attribute__((unused)) static const char *const hpl_pt[] = { "P*T", "T/P", "1", NULL };
__attribute__((unused)) static const char *const himeno_np[] = { "N^3/P", "N^2/P", "N/P",   "1/P", "N^2",
                                                                 "N",     "1",     "ln(P)", NULL };
__attribute__((unused)) static const char *const himeno_pt[] = { "T/P", "1", "ln(P)", NULL };
__attribute__((unused)) static const char *const ffte_np[] = { "N*ln(N)/P", "N/P",     "1/P", "P",
                                                               "N",         "cbrt(N)", "1",   NULL };
__attribute__((unused)) static const char *const ffte_nt[] = { "N*ln(N)", "N", "cbrt(N)", "1", NULL };
__attribute__((unused)) static const char *const ffte_pt[] = { "T/P", "P*T", "1", NULL };

/* ---------------------------------------------------------------- made-up measurements, and their fit */

enum { MAX = 1024 };    /* measurements */
__attribute__((unused)) static const int64_t hpl_sizes[9] = { 400, 800, 1600, 2400, 3200, 4800, 6400, 8000, 9600 };
__attribute__((unused)) static const struct hrun_fit_options nnls = HRUN_FIT_OPTIONS_DEFAULT;

static inline struct hrun_sample sample(int64_t N, int P, int M, double T)
{
    return (struct hrun_sample) { .N = N, .P = P, .M = M, .pes = P / M, .time_s = T, .wall_s = T, .ok = 1 };
}

static inline const struct hrun_fit_record *find(const struct hrun_models *m,
                                                 const char *family, int M, int P)
{
    for (int i = 0; m && i < m->n; i++)
        if (!strcmp(m->v[i].family, family) && m->v[i].M == M && (!P || m->v[i].P == P))
            return &m->v[i];
    return NULL;
}

static inline double eval(const struct hrun_terms *terms, const double *k, const double *values)
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

static inline double np_value(const struct hrun_app *app, const double *k, int64_t N, int P)
{
    double values[2] = { (double)N, P };

    return eval(&app->np, k, values);
}

/* ---------------------------------------------------------------- runs on several sub-clusters
 *
 * The true time of sub-cluster i is that of `time`; the time of a run is the largest of those that take part, or what
 * `whole` makes of them.
 */

enum { MR_SUBS = 3, MR_MAX = 2048 };

struct mr_log {
    struct hrun_sample v[MR_MAX];
    size_t n;
};

struct mr {
    double (*time)(int sub, double N, int P, int M);
    double (*whole)(double N, const struct hrun_config *config);    /* NULL: the largest */
    int nsubs;
    struct mr_log log[MR_SUBS];
    char texts[MR_MAX][32];
    int ntexts;
};

static char mr_name[MR_SUBS][2] = { "a", "b", "c" }, mr_signature[MR_SUBS][8] = { "sig-a", "sig-b", "sig-c" };
static char mr_cluster[] = "a,b,c", mr_signatures[] = "sig-a,sig-b,sig-c";

/* Add a run of a configuration of MR_SUBS that took `factor` times its true time. Result: the time. */
static inline double mr_run(struct mr *m, int64_t N, const struct hrun_config *config, double factor)
{
    const int *pes = config->pes, *procs = config->procs;
    int P = hrun_config_processes(config), used = 0;
    double T = 0;
    char *text = m->texts[m->ntexts++];

    for (int i = 0; i < MR_SUBS; i++) {
        if (!pes[i])
            continue;
        used++;
        T = fmax(T, factor * m->time(i, (double)N, P, procs[i]));
    }
    if (m->whole)
        T = factor * m->whole((double)N, config);
    snprintf(text, sizeof m->texts[0], "(%d,%d,%d,%d,%d,%d)", pes[0], procs[0], pes[1], procs[1], pes[2], procs[2]);
    for (int i = 0; i < MR_SUBS; i++)
        if (pes[i])
            m->log[i].v[m->log[i].n++] = (struct hrun_sample) {
                .N = N, .P = P, .M = procs[i], .pes = pes[i], .time_s = T, .wall_s = T, .ok = 1, .mixed = used > 1,
                .config = text, .cluster = mr_cluster, .signatures = used > 1 ? mr_signatures : NULL };
    return T;
}

/* Runs of sub-cluster i alone on 1 to npes PEs, at n sizes. */
static inline void mr_alone(struct mr *m, int i, int npes, int max_m, const int64_t *sizes, int n)
{
    for (int M = 1; M <= max_m; M++)
        for (int p = 1; p <= npes; p++) {
            struct hrun_config alone = hrun_config_alone(MR_SUBS, i, p, M);

            for (int k = 0; k < n; k++)
                mr_run(m, sizes[k], &alone, 1);
        }
}

static inline void mr_subs(const struct mr *m, struct hrun_joint_sub *subs)
{
    for (int i = 0; i < MR_SUBS; i++)
        subs[i] = (struct hrun_joint_sub) { mr_name[i], mr_signature[i], m->log[i].v, m->log[i].n, 0 };
}

/* The prediction of sub-cluster i, or 0. */
static inline double mr_predict(const struct hrun_app *app, struct hrun_models *const *models, int i,
                                int64_t N, int P, int M, double *low, double *high)
{
    struct hrun_predictor *p = hrun_predictor_create(app, models, MR_SUBS, HRUN_FORM_NPT, N, NULL);
    double t, lo, hi;

    if (!p || predictor_time(p, i, M, P, &t, &lo, &hi, NULL))
        t = lo = hi = 0;
    hrun_predictor_destroy(p);
    if (low)
        *low = lo;
    if (high)
        *high = hi;
    return t;
}

/* ---------------------------------------------------------------- non-negative least squares */

/* Largest violation of the Kuhn-Tucker conditions by k[p], relative: columns scaled to norm 1, divided by
 * ||W y||. 0 for an exact optimum; rounding leaves about max(n,p) 1e-16 (1 + sum k_j ||W x_j|| / ||W y||).
 * Infinity when it cannot be computed (bad input, no memory). */
static inline double fit_kkt(const struct hrun_lsq *problem, const double *k)
{
    struct hrun_fit_work w;
    double unit, *e, worst = 0;

    if (hrun_fit_work_alloc(problem, problem->n, &w, NULL))
        return INFINITY;
    unit = w.bnorm > 0 ? w.bnorm : 1;
    e = w.extra;
    for (size_t i = 0; i < w.n; i++)
        e[i] = w.b[i];
    for (size_t j = 0; j < w.p; j++)
        for (size_t i = 0; i < w.n && k[j] != 0; i++)
            e[i] -= w.a[j * w.n + i] * (k[j] * w.scale[j] / unit);
    for (size_t j = 0; j < w.p; j++) {
        double g = 0;

        for (size_t i = 0; i < w.n; i++)
            g += w.a[j * w.n + i] * e[i];
        /* a free coefficient needs g = 0, one at its bound g <= 0; a negative one is off by itself */
        worst = fmax(worst, k[j] != 0 ? fabs(g) : g);
        worst = fmax(worst, -k[j] * w.scale[j] / unit);
        if (!isfinite(g) || !isfinite(k[j]) || (k[j] < 0 && w.scale[j] == 0))
            worst = INFINITY;
    }
    hrun_fit_work_free(&w);
    return worst;
}

#endif
