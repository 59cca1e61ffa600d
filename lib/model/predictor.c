/* predictor.c - the table of families, and the predictors that they make; see predict.h and internal.h */
#include "app/template.h"
#include "base/alloc.h"
#include "model/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the table, and names */

const struct hrun_family *hrun_family_of(const struct hrun_app *app)
{
    static const struct hrun_family *const families[HRUN_APP_FAMILIES] = {
        [HRUN_APP_NPT] = &hrun_family_npt,
        [HRUN_APP_WEAK] = &hrun_family_weak,
        [HRUN_APP_RING] = &hrun_family_ring,
        [HRUN_APP_ANALYTIC] = &hrun_family_analytic,
    };

    return families[app->family];
}

static const char *const forms[] = {
    [HRUN_FORM_NT] = "nt", [HRUN_FORM_PT] = "pt", [HRUN_FORM_NPT] = "npt"
};
static const char *const methods[] = { [HRUN_METHOD_LS] = "ls", [HRUN_METHOD_NNLS] = "nnls" };

const char *hrun_model_form_name(enum hrun_model_form f)
{
    return forms[f];
}

const char *hrun_method_name(enum hrun_method m)
{
    return methods[m];
}

int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err)
{
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        if (!strcmp(text, methods[i])) {
            *out = (enum hrun_method)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "'%s' is no fitting method; choose ls or nnls", text);
}

struct hrun_predictor *hrun_predictor_create(const struct hrun_app *app, struct hrun_models *const *models,
                                             int nsubs, enum hrun_model_form form, int64_t N,
                                             struct hrun_error *err)
{
    const struct hrun_predictor_source from = { app, models, nsubs, form, N, .net = NULL };

    return hrun_predictor_create_net(&from, err);
}

static int predictor_rule(void *ctx, int P, struct hrun_error *err)
{
    const struct hrun_predictor *p = ctx;

    return hrun_app_rule(p->app, p->N, P, err);
}

static int predictor_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct hrun_predictor *p = ctx;

    return hrun_app_memory(p->app, p->N, P, bytes, err);
}

int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m)
{
    for (int o = 0; o < p->noptions; o++)
        if (p->options[o].sub == sub && p->options[o].m == m)
            return o;
    return -1;
}

/* ------------------------------------------------------------------ create, destroy */

/* Set p->models to the models that count. Formulas use speeds of PEs, which have no constants. */
static void select_models(struct hrun_predictor *p, const struct hrun_predictor_source *from)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;

    hrun_app_consts_text(p->app, &consts);
    p->models = xcalloc((size_t)from->nsubs + 1, sizeof *p->models);
    for (int i = 0; i < from->nsubs; i++) {
        const struct hrun_models *m = from->models[i];

        if (m && m->consts && !hrun_family_of(p->app)->by_formula && strcmp(m->consts, consts.data))
            p->other = m->consts;
        else
            p->models[i] = m;
    }
}

/* Set the places of the sub-clusters in the network. */
static void place_subs(struct hrun_predictor *p, const struct hrun_predictor_source *from)
{
    int there = from->net ? hrun_netview_nsubs(from->net) : 0;

    p->net = from->net;
    p->place = xcalloc((size_t)from->nsubs + 1, sizeof *p->place);
    p->same_subs = from->net && there == from->nsubs;
    for (int i = 0; i < from->nsubs; i++) {
        int place = from->place ? from->place[i] : i;

        p->place[i] = place < there ? place : -1;
        p->same_subs &= place == i;
    }
}

struct hrun_predictor *hrun_predictor_create_net(const struct hrun_predictor_source *from, struct hrun_error *err)
{
    const struct hrun_predictor_kind *kind = hrun_family_of(from->app)->predictor;
    struct hrun_predictor *p = xcalloc(1, kind->size);

    p->kind = kind;
    p->pace = from->pace;
    p->scale = 1;
    p->app = from->app;
    p->N = from->N;
    p->most = from->nsubs * from->app->nprocs_per_pe;
    p->options = xcalloc((size_t)p->most + 1, sizeof *p->options);
    p->parts = xcalloc((size_t)p->most + 1, sizeof *p->parts);
    p->used = xcalloc((size_t)p->most + 1, sizeof *p->used);
    p->oracle = (struct hrun_oracle){ .ctx = p, .nsubs = from->nsubs, .options = p->options, .rule = predictor_rule };
    if (from->app->memory || from->app->shares.memory)
        p->oracle.memory = predictor_memory;
    select_models(p, from);
    place_subs(p, from);
    if (kind->init(p, from->form, err)) {
        hrun_predictor_destroy(p);
        return NULL;
    }
    if (kind->deal && from->sharing != HRUN_SHARES_EQUAL)
        kind->deal(p, from->sharing);
    if (hrun_family_of(from->app)->has_common)
        kind->scale(p, p->scale = hrun_corrections_common(from->common, from->N));
    if (p->dealer && (from->memory || p->deals) && hrun_dealer_limit_memory(p, from->memory, err)) {
        hrun_predictor_destroy(p);
        return NULL;
    }
    return p;
}

void hrun_predictor_destroy(struct hrun_predictor *p)
{
    if (!p)
        return;
    p->kind->release(p);
    hrun_dealer_destroy(p->dealer);
    free(p->options);
    free(p->parts);
    free(p->used);
    free(p->models);
    free(p->place);
    free(p);
}

void hrun_predictor_release(struct hrun_predictor **p)
{
    hrun_predictor_destroy(*p);
}

int hrun_predictor_bind(struct hrun_predictor *p,
                        int (*bind)(struct hrun_predictor *p, int o, const struct hrun_models *m,
                                    struct hrun_error *err), struct hrun_error *err)
{
    for (int i = 0; i < p->oracle.nsubs; i++)
        for (int k = 0; p->models[i] && k < p->app->nprocs_per_pe; k++) {
            int found;

            p->options[p->noptions] = (struct hrun_option){ i, p->app->procs_per_pe[k] };
            found = bind(p, p->noptions, p->models[i], err);
            if (found < 0)
                return -1;
            p->noptions += found;
        }
    p->oracle.noptions = p->noptions;
    return 0;
}

int hrun_predictor_fail_constants(const struct hrun_predictor *p, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;

    hrun_app_consts_text(p->app, &consts);
    return hrun_fail(err, HRUN_ENODATA, "no sub-cluster has models of %s with constants '%s'; there are some with '%s'",
                     p->app->name, consts.data, p->other);
}

/* ------------------------------------------------------------------ times */

const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p)
{
    return &p->oracle;
}

int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, struct hrun_interval *time,
                        struct hrun_error *err)
{
    struct hrun_config alone = hrun_config_alone(p->oracle.nsubs, sub, P / m, m);

    if (p->is_whole && (P % m || (p->net && p->place[sub] >= 0 && P / m > hrun_netview_npes(p->net, p->place[sub]))))
        return hrun_fail(err, HRUN_ENODATA, "sub-cluster %d alone has no configuration with P=%d, M=%d", sub + 1, P, m);
    return p->kind->time_in(p, sub, &alone, P, time, err);
}

int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    return p->kind->measured(p, sub, m, P, sizes, counts);
}

int hrun_predictor_has_network(const struct hrun_predictor *p)
{
    return p->has_network;
}

int hrun_predictor_options(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                           double *t, struct hrun_error *err)
{
    if (!p->is_whole && !share)
        return p->oracle.times(p->oracle.ctx, P, t, err);
    if (!p->is_whole || config)
        return p->kind->options ? p->kind->options(p, P, config, share, t, err)
                                : hrun_dealer_options(p, config, t, err);
    for (int k = 0; k < p->noptions; k++)
        t[k] = NAN;
    return 0;
}

int hrun_predictor_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    struct hrun_predictor *p = ctx;

    for (int o = 0; o < p->noptions; o++)
        b[o] = INFINITY;
    for (int P = lo; P <= hi; P++) {
        int allowed = p->oracle.rule(p, P, err);

        if (allowed < 0 || (allowed && p->oracle.times(p, P, p->parts, err)))
            return -1;
        for (int o = 0; o < p->noptions && allowed; o++)
            if (p->parts[o] > 0 && p->parts[o] < b[o])
                b[o] = p->parts[o];
    }
    return 0;
}

int hrun_predictor_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                         struct hrun_error *err)
{
    struct hrun_predictor *p = ctx;
    double most = -INFINITY;
    int n = 0;

    *time_s = INFINITY;
    *limiting = 0;
    if (hrun_predictor_options(p, P, config, NULL, p->parts, err))
        return -1;
    for (int o = 0; o < p->noptions; o++) {
        const struct hrun_option *option = &p->options[o];

        if (!config->pes[option->sub] || config->procs[option->sub] != option->m)
            continue;
        if (isnan(p->parts[o]))
            return 0;
        if (p->parts[o] > most)
            *limiting = option->sub;
        most = fmax(most, p->parts[o]);
        p->used[n++] = (struct hrun_part_time){ p->parts[o], config->pes[option->sub] * option->m };
    }
    if (n)
        *time_s = hrun_tasking_time(&p->tasking, p->used, n);
    return 0;
}

int hrun_predictor_time_shared(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                               double *time_s, struct hrun_error *err)
{
    int nsubs = p->oracle.nsubs, P = hrun_config_processes(config);
    autofree double *t = xcalloc((size_t)(p->noptions + nsubs) + 1, sizeof *t);
    double *more = t + p->noptions;

    for (int i = 0; i < nsubs; i++)
        more[i] = share ? share[i] * P : 1;
    if (hrun_predictor_options(p, P, config, share ? more : NULL, t, err))
        return -1;
    *time_s = 0;
    for (int i = 0; i < nsubs; i++) {
        int o = config->pes[i] ? hrun_predictor_find(p, i, config->procs[i]) : -1;

        if (config->pes[i])
            *time_s = o >= 0 && t[o] > 0 ? fmax(*time_s, t[o]) : NAN;
        if (isnan(*time_s))
            return hrun_fail(err, HRUN_ENODATA, "no model for this configuration");
    }
    return 0;
}

/* Largest relative change of a share from then[] to now[], both in units, beyond one unit, which rounding may move. */
static double units_moved(const struct hrun_predictor *p, const struct hrun_config *config, const double *then,
                          const double *now)
{
    double units = 0, most = 0;

    for (int i = 0; i < p->oracle.nsubs; i++)
        units += config->pes[i] * config->procs[i] * now[i];
    for (int i = 0; i < p->oracle.nsubs; i++)
        if (config->pes[i] && now[i] > 0)
            most = fmax(most, (fabs(then[i] * units - now[i]) - 1) / now[i]);
    return most;
}

void hrun_predictor_share_change(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                                double *out)
{
    int nsubs = p->oracle.nsubs, P = hrun_config_processes(config);
    autofree double *then = xcalloc(2 * (size_t)p->noptions + 2 * (size_t)nsubs + 1, sizeof *then);
    double *now = then + p->noptions, *more = now + p->noptions, *units = more + nsubs;
    double most = 0, longest = 0;

    for (int i = 0; i < nsubs; i++)
        more[i] = share[i] * P;
    *out = INFINITY;
    if (!hrun_predictor_options(p, P, config, more, then, NULL) &&
        !hrun_predictor_options(p, P, config, NULL, now, NULL) && !hrun_predictor_shares(p, config, units, NULL)) {
        for (int i = 0; i < nsubs; i++) {
            int o = config->pes[i] ? hrun_predictor_find(p, i, config->procs[i]) : -1;

            if (config->pes[i] && o >= 0 && now[o] > 0) {
                most = fmax(most, fabs(then[o] - now[o]));
                longest = fmax(longest, now[o]);
            }
        }
        *out = longest > 0 ? fmax(most / longest, units_moved(p, config, share, units)) : INFINITY;
    }
}

double hrun_predictor_pace_of(const struct hrun_predictor *p, int sub)
{
    return p->deals && p->pace ? p->pace[sub] : 1;
}

int hrun_predictor_time_whole(struct hrun_predictor *p, const struct hrun_config *config, struct hrun_interval *time,
                              double *sub_time_s, int *limiting, struct hrun_error *err)
{
    struct hrun_part_time mid[HRUN_SUBS_MAX], low[HRUN_SUBS_MAX], high[HRUN_SUBS_MAX];
    double longest = -INFINITY;
    int n = 0, P = hrun_config_processes(config);

    for (int i = 0; i < config->nsubs; i++) {
        int processes = config->pes[i] * config->procs[i];
        struct hrun_interval own;

        if (!config->pes[i])
            continue;
        if (p->kind->time_in(p, i, config, P, &own, err))
            return -1;
        mid[n] = (struct hrun_part_time){ own.mid, processes };
        low[n] = (struct hrun_part_time){ own.low, processes };
        high[n++] = (struct hrun_part_time){ own.high, processes };
        if (sub_time_s)
            sub_time_s[i] = own.mid;
        if (limiting && own.mid > longest)
            *limiting = i;
        longest = fmax(longest, own.mid);
    }
    if (n)
        *time = (struct hrun_interval){ hrun_tasking_time(&p->tasking, mid, n), hrun_tasking_time(&p->tasking, low, n),
                                        hrun_tasking_time(&p->tasking, high, n) };
    return 0;
}

const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p)
{
    return &p->tasking;
}

int hrun_predictor_deals(const struct hrun_predictor *p)
{
    return p->deals;
}

int hrun_predictor_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                          struct hrun_error *err)
{
    if (p->deals)
        return p->kind->shares ? p->kind->shares(p, config, share, err) : hrun_dealer_shares(p, config, share, err);
    for (int i = 0; i < p->oracle.nsubs; i++)
        share[i] = config->pes[i] > 0;
    return 0;
}

int hrun_predictor_has_balance(const struct hrun_predictor *p)
{
    return p->kind->balance != NULL;
}

static int no_balance(const struct hrun_predictor *p, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EINVAL, "family %s does not predict the loss by imbalance",
                     hrun_app_family_name(p->app->family));
}

int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                           struct hrun_balance *out, struct hrun_error *err)
{
    return p->kind->balance ? p->kind->balance(p, npes, config, out, err) : no_balance(p, err);
}

int hrun_predictor_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                          struct hrun_error *err)
{
    return p->kind->fewest ? p->kind->fewest(p, npes, loss, out, err) : no_balance(p, err);
}

double hrun_beyond(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? (double)lo / (double)v : v > hi ? (double)v / (double)hi : 1;
}

/* ------------------------------------------------------------------ tasking */

double hrun_tasking_excess(const struct hrun_tasking *f, int P)
{
    return f->master && P > 1 ? P / (P - 1.0) : 1;
}

void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out)
{
    hrun_buf_addf(out, f->master ? "(%s)*P/(P-1)" : "%s", term);
}

double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n)
{
    double most = parts[0].t, rate = 0;
    int P = 0;

    for (int i = 0; i < n; i++) {
        int workers = parts[i].processes - (i == 0 && (n > 1 || parts[i].processes > 1) ? f->master : 0);

        most = isnan(parts[i].t) || parts[i].t > most ? parts[i].t : most;
        rate += workers / parts[i].t;
        P += workers;
    }
    return f->dynamic && most > 0 ? P / rate : most;
}

double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest)
{
    double most = 0, rate = rest > 0 ? rest / quickest : 0;
    int P = rest;

    for (int i = 0; i < n; i++) {
        most = fmax(most, parts[i].t);
        rate += parts[i].processes / parts[i].t;
        P += parts[i].processes;
    }
    return f->dynamic ? P / rate / hrun_tasking_excess(f, P) : most;
}
