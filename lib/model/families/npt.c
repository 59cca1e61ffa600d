/* npt.c - the family npt: create the predictor by formulas in N and P; see npt.h */
#include "model/families/npt.h"

#include "base/alloc.h"
#include "model/terms.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_formulas_nt_value(const struct hrun_app *app, const struct hrun_fit_record *r, double N, double *x,
                            double *value, struct hrun_error *err)
{
    double sum = 0;

    for (int j = 0; j < r->nterms; j++) {
        double v = 0;

        if (r->k[j] != 0) {
            int owned, rc;
            struct hrun_expr *e = hrun_term_find(app, HRUN_TERM_N, r->terms[j], &owned, err);

            if (!e)
                return -1;
            rc = hrun_term_eval(e, HRUN_TERM_N, N, 0, 0, &v, err);
            if (owned)
                hrun_expr_destroy(e);
            if (rc)
                return hrun_fail_prefix(err, "term '%s' of %s at N=%.0f", r->terms[j], app->name, N);
        }
        sum += r->k[j] * v;
        if (x)
            x[j] = v;
    }
    *value = sum;
    return 0;
}

/* ------------------------------------------------------------------ distinct terms */

/* The index of the distinct term with this text (and T, for a P-T term), which is added if missing; -1 on failure. */
static int find_or_add_term(struct hrun_formulas *p, enum hrun_term_kind kind, const char *text, double T,
                            struct hrun_error *err)
{
    struct hrun_pterm *t;

    for (int i = 0; i < p->nterms; i++)
        if (!strcmp(hrun_expr_text(p->terms[i].expr), text) && (kind != HRUN_TERM_TPN || p->terms[i].T == T))
            return i;
    hrun_grow(p->terms, p->nterms + 1, p->cap);
    t = &p->terms[p->nterms];
    *t = (struct hrun_pterm){ .kind = kind, .N = p->N, .T = T };
    t->expr = hrun_term_find(p->base.app, kind, text, &t->owned, err);
    if (!t->expr)
        return -1;
    p->nterms++;        /* from here on the predictor releases it */
    if (hrun_pterm_init(t, err))
        return hrun_fail_prefix(err, "term '%s' of %s", text, p->base.app->name);
    return p->nterms - 1;
}

/* ------------------------------------------------------------------ options */

static const struct hrun_fit_record *find_record(const struct hrun_models *m, const char *family, int M,
                                                 int P)
{
    for (int i = 0; i < m->n; i++)
        if (m->v[i].M == M && (P == 0 || m->v[i].P == P) && !strcmp(m->v[i].family, family))
            return &m->v[i];
    return NULL;
}

static int point_order(const void *a, const void *b)
{
    const struct hrun_ppoint *x = a, *y = b;

    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    return x->option < y->option ? -1 : x->option > y->option;
}

static int add_npt_point(struct hrun_formulas *p, int option, int P, const struct hrun_fit_record *r,
                         struct hrun_error *err)
{
    struct hrun_ppoint *point = &p->points[p->npoints];

    for (int i = p->npoints; i-- > 0 && p->points[i].option == option;)
        if (p->points[i].P == P)
            return 0;   /* of two records for one point the first is used */
    if (hrun_formulas_nt_value(p->base.app, r, p->N, NULL, &point->time_s, err))
        return -1;
    point->P = P;
    point->option = option;
    point->record = r;
    p->npoints++;
    return 0;
}

/* Bind the models of option o. Result: 1; 0 if it has no model; -1 on errors. */
static int bind_npt_option(struct hrun_predictor *base, int o, const struct hrun_models *models,
                           struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    struct hrun_popt *opt = &p->opts[o];
    enum hrun_term_kind kind = p->form == HRUN_FORM_PT ? HRUN_TERM_TPN : HRUN_TERM_NP;
    const struct hrun_fit_record *r, *ref;
    int M = base->options[o].m;

    opt->single = find_record(models, "single", M, 0);
    r = find_record(models, hrun_model_form_name(p->form), M, 0);
    if (!opt->single && !r)
        return 0;
    if (opt->single && add_npt_point(p, o, M, opt->single, err))
        return -1;
    if (p->form == HRUN_FORM_NT) {
        for (int i = 0; i < models->n; i++)
            if (models->v[i].M == M && models->v[i].P > M && !strcmp(models->v[i].family, "nt") &&
                add_npt_point(p, o, models->v[i].P, &models->v[i], err))
                return -1;
        return 1;
    }
    if (!r)
        return 1;
    if (p->form == HRUN_FORM_PT) {
        ref = find_record(models, "nt", M, r->P);
        if (!ref)
            return 1;
        if (hrun_formulas_nt_value(base->app, ref, p->N, NULL, &opt->T, err))
            return -1;
        if (!isfinite(opt->T) || opt->T <= 0)   /* an unusable N-T model */
            return 1;
    }
    opt->term = xcalloc((size_t)r->nterms + 1, sizeof *opt->term);
    for (int j = 0; j < r->nterms; j++) {
        opt->term[j] = -1;
        if (!isfinite(r->k[j]))
            return hrun_fail(err, HRUN_ENONFINITE,
                             "the coefficient of '%s' in the %s model of %s (M=%d) is %g", r->terms[j],
                             r->family, base->app->name, M, r->k[j]);
        if (r->k[j] == 0)
            continue;
        opt->term[j] = find_or_add_term(p, kind, r->terms[j], opt->T, err);
        if (opt->term[j] < 0)
            return -1;
        if (hrun_term_is_network(p->terms[opt->term[j]].expr) && !base->net)
            return hrun_fail(err, HRUN_ENODATA, "the model of %s has the term '%s', which needs the network of these "
                             "hosts: hrun-calibrate network measures it", base->app->name, r->terms[j]);
    }
    opt->formula = r;
    return 1;
}

/* Set the matrix of coefficients, and the properties of each term. */
static void spread_npt_points(struct hrun_formulas *p)
{
    size_t n = (size_t)p->base.noptions, terms = (size_t)p->nterms;

    p->coef = xcalloc(terms * n + 1, sizeof *p->coef);
    p->value = xcalloc(terms + 1, sizeof *p->value);
    p->least_m = xcalloc(terms + 1, sizeof *p->least_m);
    p->has_negative = xcalloc(terms + 1, sizeof *p->has_negative);
    p->checked = xcalloc(terms + 1, sizeof *p->checked);
    p->is_network = xcalloc(terms + 1, sizeof *p->is_network);
    p->is_shared = xcalloc(terms + 1, sizeof *p->is_shared);
    p->has_network = xcalloc(n + 1, sizeof *p->has_network);
    for (size_t j = 0; j < terms; j++)
        p->base.has_network |= p->is_network[j] = hrun_term_is_network(p->terms[j].expr);
    p->base.is_whole = p->base.has_network || p->base.tasking.dynamic;
    for (size_t j = 0; j < terms; j++)
        p->is_shared[j] = p->form == HRUN_FORM_NPT && hrun_app_term_is_shared(p->base.app, p->terms[j].expr);
    for (size_t j = 0; j < terms; j++)
        p->least_m[j] = INT_MAX;
    for (size_t o = 0; o < n; o++) {
        const struct hrun_popt *opt = &p->opts[o];

        for (int l = 0; opt->formula && l < opt->formula->nterms; l++) {
            int j = opt->term[l];
            double *c;

            if (j < 0)
                continue;
            c = &p->coef[(size_t)j * n + o];
            *c += opt->formula->k[l];
            p->has_network[o] |= p->is_network[j];
            if (p->base.options[o].m < p->least_m[j])
                p->least_m[j] = p->base.options[o].m;
        }
    }
    for (size_t j = 0; j < terms; j++)
        p->checked[j] = p->least_m[j];   /* it is not evaluated at P <= m */
    for (size_t j = 0; j < terms; j++)
        for (size_t o = 0; o < n; o++)
            p->has_negative[j] |= p->coef[j * n + o] < 0;
}

static void scale_formulas(struct hrun_predictor *base, double factor)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;

    for (size_t k = 0; k < (size_t)p->nterms * (size_t)base->noptions; k++)
        p->coef[k] *= factor;
}

/* ------------------------------------------------------------------ create, destroy */

/* Fail if no sub-cluster has a model of the form. Models of runs on one PE suffice if there are no others. */
static int check_npt_form(const struct hrun_formulas *p, struct hrun_error *err)
{
    const char *name = hrun_model_form_name(p->form);
    int wanted = 0, several = 0;

    for (int s = 0; s < p->base.oracle.nsubs; s++)
        for (int i = 0; p->base.models[s] && i < p->base.models[s]->n; i++)
            several += strcmp(p->base.models[s]->v[i].family, "single") != 0;
    for (int o = 0; o < p->base.noptions; o++)
        wanted += find_record(p->base.models[p->base.options[o].sub], name, p->base.options[o].m, 0) != NULL;
    if (wanted || (!several && p->base.noptions))
        return 0;
    if (p->base.other)
        return hrun_predictor_fail_constants(&p->base, err);
    return hrun_fail(err, HRUN_ENODATA, "no sub-cluster has a model of family %s for %s%s", name,
                     p->base.app->name, p->form != HRUN_FORM_PT ? "" :
                     ": it needs measurements at two different P > Mi; without them choose npt");
}

int hrun_models_have_network(const struct hrun_app *app, struct hrun_models *const *models, int nsubs, int used)
{
    for (int s = 0; s < nsubs; s++)
        for (int i = 0; models[s] && i < models[s]->n; i++) {
            const struct hrun_fit_record *r = &models[s]->v[i];

            for (int j = 0; !strcmp(r->family, "npt") && j < r->nterms; j++) {
                int owned, found;
                struct hrun_expr *e = NULL;

                if (!used || r->k[j] != 0)
                    e = hrun_term_find(app, HRUN_TERM_NP, r->terms[j], &owned, NULL);
                found = e && hrun_term_is_network(e);
                if (e && owned)
                    hrun_expr_destroy(e);
                if (found)
                    return 1;
            }
        }
    return 0;
}

static void npt_release(struct hrun_predictor *base)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;

    for (int o = 0; o <= base->most; o++)
        free(p->opts[o].term);
    hrun_shares_destroy(p);
    for (int j = 0; j < p->nterms; j++)
        hrun_pterm_release(&p->terms[j]);
    free(p->opts);
    free(p->terms);
    free(p->least_m);
    free(p->has_negative);
    free(p->checked);
    free(p->coef);
    free(p->value);
    free(p->is_network);
    free(p->is_shared);
    free(p->has_network);
    free(p->points);
}

/* Largest number of calls of hrun_oracle.part with dynamic tasking, which gives many configurations similar times: some
 * 0.01 s. */
enum { ADDED_PARTS = 30000 };

/* Largest number of calls of hrun_oracle.part, about a second: a call takes 4 us with 64 ranks, and grows with the
 * square of the ranks. */
static long parts_most(const struct hrun_formulas *p)
{
    const double most = 250000, measured = 64;
    double ranks = 0;

    for (int o = 0; o < p->base.noptions; o++)      /* the last option of each sub-cluster has the largest m */
        if (o + 1 == p->base.noptions || p->base.options[o + 1].sub != p->base.options[o].sub)
            ranks += (double)p->base.options[o].m * hrun_netview_npes(p->base.net, p->base.options[o].sub);
    return ranks > measured ? (long)(most * measured * measured / ranks / ranks) + 1 : (long)most;
}

static int npt_init(struct hrun_predictor *base, enum hrun_model_form form, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    size_t records = 0;

    p->form = form;
    p->N = (double)base->N;
    p->opts = xcalloc((size_t)base->most + 1, sizeof *p->opts);
    for (int s = 0; s < base->oracle.nsubs; s++) {
        const struct hrun_models *m = base->models[s];

        records += m ? (size_t)m->n : 0;
        if (m && form == HRUN_FORM_NPT && (m->tasking.dynamic || m->tasking.ignores))
            base->tasking = m->tasking;
    }
    p->points = xcalloc(records + 1, sizeof *p->points);
    if (hrun_predictor_bind(base, bind_npt_option, err) || check_npt_form(p, err))
        return -1;
    spread_npt_points(p);
    if (base->app->shares.units && form == HRUN_FORM_NPT && !base->tasking.dynamic && hrun_shares_create(p, err))
        return -1;
    qsort(p->points, (size_t)p->npoints, sizeof *p->points, point_order);
    base->oracle.times = hrun_formulas_times;
    base->oracle.bounds = hrun_formulas_bounds;
    if (base->has_network ? base->same_subs : base->tasking.dynamic) {
        base->oracle.whole = hrun_predictor_whole;
        base->oracle.part = hrun_formulas_part;
        base->oracle.parts = base->has_network ? parts_most(p) : ADDED_PARTS;
    }
    return 0;
}

static const struct hrun_predictor_kind kind = {
    .size = sizeof(struct hrun_formulas), .init = npt_init, .release = npt_release, .time_in = hrun_formulas_time_in,
    .measured = hrun_formulas_measured, .options = hrun_formulas_options, .deal = hrun_shares_deal,
    .lines = hrun_shares_lines, .scale = scale_formulas,
};

const struct hrun_family hrun_family_npt = {
    .name = "NP-T", .has_forms = 1, .is_joint = 1, .has_common = 1, .fit = hrun_formulas_fit, .predictor = &kind,
};
