/* model_app.h - app definitions and models made in memory, for the tests of lib/model */
#ifndef HRUN_TESTS_MODEL_APP_H
#define HRUN_TESTS_MODEL_APP_H

#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MA_TERMS = 32 };

struct ma {
    struct hrun_app app;
    struct hrun_term np[MA_TERMS], nt[MA_TERMS], pt[MA_TERMS];
    int procs[64];
};

__attribute__((unused)) static struct hrun_expr *ma_compile(const struct hrun_app *app, const char *text,
                                                            const char *const *vars, int nvars)
{
    struct hrun_error err;
    struct hrun_expr *e = hrun_expr_compile_calls(text, vars, nvars, app->consts, app->nconsts, hrun_app_functions,
                                                  hrun_app_nfunctions, &err);

    if (!e) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return e;
}

__attribute__((unused)) static void ma_terms(struct hrun_app *app, struct hrun_terms *out,
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
__attribute__((unused)) static void ma_init(struct ma *m, const char *const *np, const char *const *nt,
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

__attribute__((unused)) static void ma_release(struct ma *m)
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
__attribute__((unused)) static struct hrun_models *ma_models(void)
{
    struct hrun_models *m = calloc(1, sizeof *m);

    m->v = calloc(4096, sizeof *m->v);
    m->consts = strdup("");
    return m;
}

__attribute__((unused)) static struct hrun_fit_record *
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

#endif
