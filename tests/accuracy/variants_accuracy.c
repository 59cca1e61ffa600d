/* variants_accuracy.c - predictions of an application's variants beside what they took, for tests/accuracy/variants
 *
 * Usage: variants_accuracy --network FILE --definition FILE --times FILE --sub NAME:PES:FLOPS (twice)
 *                          --procs P[,...] [--json]
 * The times have lines "VARIANT N PES1 PES2 SECONDS", one process on each PE; FLOPS is the speed of a PE. Of the
 * configurations with one of these P processes: the mean and the largest error |predicted / simulated - 1| of each
 * variant's formula, and of its NP-T model fitted to the runs on each sub-cluster alone; how often the variant chosen
 * for a configuration, and variant and configuration chosen together for N and P, are the best; and the time lost where
 * they are not, over the time of the best. Ends with status 1 when the mean error of a formula is above 2 %, or the
 * mean loss by formulas above 1 %.
 */
#include "model/internal.h"
#include "model/speeds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBS = 2, MOST_VARIANTS = 8, MOST_PROCS = 64 };
static const double ERROR_MOST = 0.02, LOSS_MOST = 0.01;   /* DESIGN, section 10: "algorithm choice" */

/* NP-T terms for the fits: the product, its slices, the messages of the root and what is said to all. */
static const char *const terms_np[] = { "N^3/P", "N^2", "N^2/P", "N^2*sqrt(P)", "N^2*P", "P", "1" };

enum { FORMULA, FITTED, METHODS };
static const char *const method_names[METHODS] = { "formula", "fitted" };

struct run {
    int variant, pes[SUBS], P;
    int64_t N;
    double time_s, predicted[METHODS];
};

struct trial {
    const char *network, *definition, *times, *procs;
    int json;
    struct { char name[64]; int pes; double flops; } sub[SUBS];
    int nsubs;
    struct hrun_app *app;
    struct hrun_net *net;
    struct hrun_netview *view;
    struct hrun_models *speeds[SUBS];
    struct run *runs;
    int n, P[MOST_PROCS], nP;
};

static void fail(const char *what, const struct hrun_error *err)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    fprintf(stderr, "variants_accuracy: %s: %s\n", what, err ? hrun_error_format(err, text, sizeof text) : "");
    exit(2);
}

/* ---------------------------------------------------------------- what is given */

static int parse_arguments(int argc, char **argv, struct trial *t)
{
    for (int i = 1; i < argc; i++) {
        struct {
            const char *name, **value;
        } options[] = { { "--network", &t->network }, { "--definition", &t->definition }, { "--times", &t->times },
                        { "--procs", &t->procs } };
        size_t k = 0, n = sizeof options / sizeof *options;

        while (k < n && strcmp(argv[i], options[k].name))
            k++;
        if (k < n && i + 1 < argc)
            *options[k].value = argv[++i];
        else if (!strcmp(argv[i], "--json"))
            t->json = 1;
        else if (strcmp(argv[i], "--sub") || i + 1 == argc || t->nsubs == SUBS ||
                 sscanf(argv[++i], "%63[^:]:%d:%lf", t->sub[t->nsubs].name, &t->sub[t->nsubs].pes,
                        &t->sub[t->nsubs].flops) != 3)
            return -1;
        else
            t->nsubs++;
    }
    for (const char *p = t->procs; p && *p && t->nP < MOST_PROCS; p += strcspn(p, ","), p += *p == ',')
        t->P[t->nP++] = atoi(p);
    return t->network && t->definition && t->times && t->nsubs == SUBS && t->nP ? 0 : -1;
}

static void read_runs(struct trial *t)
{
    FILE *f = fopen(t->times, "r");
    char name[64];
    struct run r;
    struct hrun_error err = { 0 };

    if (!f)
        fail(t->times, NULL);
    while (fscanf(f, "%63s %ld %d %d %lf", name, (long *)&r.N, &r.pes[0], &r.pes[1], &r.time_s) == 5) {
        r.variant = hrun_app_find_variant(t->app, name, &err);
        if (r.variant < 0 || r.variant >= MOST_VARIANTS)
            fail(name, &err);
        r.P = r.pes[0] + r.pes[1];
        r.predicted[FORMULA] = r.predicted[FITTED] = NAN;
        t->runs = realloc(t->runs, ((size_t)t->n + 1) * sizeof *t->runs);
        t->runs[t->n++] = r;
    }
    fclose(f);
}

static int predict(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err)
{
    struct hrun_net_time time;

    if (hrun_net_predict(ctx, call, ranks, &time, err))
        return -1;
    *time_s = time.time_s;
    return 0;
}

static void make_view(struct trial *t)
{
    struct hrun_netview_source source = { t->net, t->net->nhosts, predict, NULL };
    struct hrun_netview_sub subs[SUBS];
    struct hrun_netview_pe *pes = calloc((size_t)(t->sub[0].pes + t->sub[1].pes), sizeof *pes), *at = pes;
    struct hrun_error err = { 0 };
    const int one = 1;

    for (int i = 0; i < SUBS; i++) {
        subs[i] = (struct hrun_netview_sub){ t->sub[i].name, t->sub[i].pes, at };
        for (int h = 0; h < t->sub[i].pes; h++, at++) {
            char name[80];

            snprintf(name, sizeof name, "%s-%d", t->sub[i].name, h);
            at->host = hrun_net_find(t->net, name);
        }
        t->speeds[i] = hrun_perf_simulated(t->sub[i].flops, 1, &one, 1);
    }
    t->view = hrun_netview_of(&source, subs, SUBS, &err);
    if (!t->view)
        fail("view", &err);
    free(pes);
}

/* ---------------------------------------------------------------- predictions */

static struct hrun_config run_config(const struct run *r)
{
    return (struct hrun_config){ SUBS, { r->pes[0], r->pes[1] }, { r->pes[0] > 0, r->pes[1] > 0 } };
}

static void by_formula(struct trial *t, int variant)
{
    struct hrun_error err = { 0 };

    for (int i = 0; i < t->n; i++) {
        struct run *r = &t->runs[i];
        struct hrun_predictor *p;
        const struct hrun_oracle *o;
        const struct hrun_config config = run_config(r);
        int limiting;

        if (r->variant != variant)
            continue;
        p = hrun_predictor_create_net(&(struct hrun_predictor_source){ t->app->variants[variant], t->speeds, SUBS,
                                                                       HRUN_FORM_NPT, r->N, .net = t->view }, &err);
        o = p ? hrun_predictor_oracle(p) : NULL;
        if (!p || o->whole(o->ctx, &config, r->P, &r->predicted[FORMULA], &limiting, &err))
            fail(t->app->variants[variant]->name, &err);
        hrun_predictor_destroy(p);
    }
}

/* The variant as a definition with terms, in place of its formula. */
static struct hrun_app *with_terms(const struct hrun_app *variant)
{
    struct hrun_app *app = NULL;
    static const char *const vars[] = { "N", "P" };
    int n = sizeof terms_np / sizeof *terms_np;

    if (hrun_app_create_bare(variant->name, &app, NULL))
        exit(1);
    app->np.v = calloc((size_t)n, sizeof *app->np.v);
    app->nt.v = calloc(2, sizeof *app->nt.v);
    for (app->np.n = 0; app->np.n < n; app->np.n++) {
        app->np.v[app->np.n].text = (char *)(uintptr_t)terms_np[app->np.n];
        app->np.v[app->np.n].expr = hrun_expr_compile(terms_np[app->np.n], vars, 2, NULL, 0, NULL);
    }
    for (app->nt.n = 0; app->nt.n < 2; app->nt.n++) {
        app->nt.v[app->nt.n].text = (char *)(uintptr_t)(app->nt.n ? "N^2" : "N^3");
        app->nt.v[app->nt.n].expr = hrun_expr_compile(app->nt.n ? "N^2" : "N^3", vars, 1, NULL, 0, NULL);
    }
    return app;
}

static struct hrun_models *fit_alone(struct trial *t, const struct hrun_app *app, int variant, int sub)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_sample *v = calloc((size_t)t->n, sizeof *v);
    static char date[] = "2026-01-01T00:00:00Z", empty[] = "", good[] = "ok";
    struct hrun_models *out = NULL;
    struct hrun_error err = { 0 };
    size_t n = 0;

    options.sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S;
    for (int i = 0; i < t->n; i++)
        if (t->runs[i].variant == variant && t->runs[i].pes[sub] == t->runs[i].P)
            v[n++] = (struct hrun_sample){ .N = t->runs[i].N, .P = t->runs[i].P, .M = 1, .pes = t->runs[i].P,
                                           .time_s = t->runs[i].time_s, .wall_s = t->runs[i].time_s, .ok = 1,
                                           .status = good, .date = date, .consts = empty };
    if (hrun_model_fit(app, v, n, &options, &out, NULL, &err))
        fail("fit", &err);
    free(v);
    return out;
}

static void by_fit(struct trial *t, int variant)
{
    struct hrun_app *app = with_terms(t->app->variants[variant]);
    struct hrun_models *models[SUBS];
    struct hrun_error err = { 0 };

    for (int s = 0; s < SUBS; s++)
        models[s] = fit_alone(t, app, variant, s);
    for (int i = 0; i < t->n; i++) {
        struct run *r = &t->runs[i];
        struct hrun_predictor *p;
        const struct hrun_config config = run_config(r);
        struct hrun_interval time;

        if (r->variant != variant)
            continue;
        p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, r->N, &err);
        if (!p || hrun_predictor_time_whole(p, &config, &time, NULL, NULL, &err))
            fail(app->name, &err);
        r->predicted[FITTED] = time.mid;
        hrun_predictor_destroy(p);
    }
    for (int s = 0; s < SUBS; s++)
        hrun_models_destroy(models[s]);
    hrun_app_destroy(app);
}

/* ---------------------------------------------------------------- figures */

struct errors {
    int n;
    double sum, worst;
    const struct run *at;
};

struct choices {
    int n, right;
    double lost, best, worst;   /* s in all; the largest loss over its best */
};

static int is_asked(const struct trial *t, const struct run *r)
{
    for (int i = 0; i < t->nP; i++)
        if (t->P[i] == r->P)
            return 1;
    return 0;
}

static struct errors errors_of(const struct trial *t, int variant, int method)
{
    struct errors e = { 0 };

    for (int i = 0; i < t->n; i++) {
        const struct run *r = &t->runs[i];
        double error = fabs(r->predicted[method] / r->time_s - 1);

        if (r->variant != variant || !is_asked(t, r))
            continue;
        e.n++;
        e.sum += error;
        if (error > e.worst) {
            e.worst = error;
            e.at = r;
        }
    }
    return e;
}

/* Of all runs like `like`: with its N and P, and its configuration unless any will do. */
static void choose(const struct trial *t, const struct run *like, int any, int method, struct choices *c)
{
    const struct run *chosen = NULL, *best = NULL;

    for (int i = 0; i < t->n; i++) {
        const struct run *r = &t->runs[i];

        if (r->N != like->N || r->P != like->P || (!any && r->pes[0] != like->pes[0]))
            continue;
        if (!chosen || r->predicted[method] < chosen->predicted[method])
            chosen = r;
        if (!best || r->time_s < best->time_s)
            best = r;
    }
    c->n++;
    c->right += chosen->time_s == best->time_s;
    c->lost += chosen->time_s - best->time_s;
    c->best += best->time_s;
    c->worst = fmax(c->worst, chosen->time_s / best->time_s - 1);
}

static struct choices choices_of(const struct trial *t, int any, int method)
{
    struct choices c = { 0 };

    for (int i = 0; i < t->n; i++) {
        const struct run *r = &t->runs[i];
        int first = is_asked(t, r);

        for (int k = 0; k < i && first; k++)
            first = t->runs[k].N != r->N || t->runs[k].P != r->P || (!any && t->runs[k].pes[0] != r->pes[0]);
        if (first)
            choose(t, r, any, method, &c);
    }
    return c;
}

/* How often each variant is the best of a configuration. */
static void count_best(const struct trial *t, int *times)
{
    for (int i = 0; i < t->n; i++) {
        const struct run *r = &t->runs[i];
        int best = is_asked(t, r);

        for (int k = 0; k < t->n && best; k++)
            best = t->runs[k].N != r->N || t->runs[k].pes[0] != r->pes[0] || t->runs[k].pes[1] != r->pes[1] ||
                   t->runs[k].time_s >= r->time_s;
        times[r->variant] += best;
    }
}

static int tell(const struct trial *t)
{
    int missed = 0, best[MOST_VARIANTS] = { 0 };

    count_best(t, best);
    for (int m = 0; m < METHODS; m++)
        for (int v = 0; v < t->app->nvariants; v++) {
            struct errors e = errors_of(t, v, m);
            double mean = e.n ? e.sum / e.n : 0;
            int over = m == FORMULA && mean > ERROR_MOST;

            missed |= over;
            if (t->json)
                printf("{\"method\": \"%s\", \"variant\": \"%s\", \"runs\": %d, \"best\": %d, \"error_mean\": %.6g, "
                       "\"error_worst\": %.6g}\n", method_names[m], t->app->variants[v]->variant, e.n, best[v], mean,
                       e.worst);
            else if (e.at)
                printf("%-8s %-10s error mean %5.2f %%, worst %5.2f %% (N=%ld, %d+%d); best of %d of %d "
                       "configurations%s\n", method_names[m], t->app->variants[v]->variant, 100 * mean, 100 * e.worst,
                       (long)e.at->N, e.at->pes[0], e.at->pes[1], best[v], e.n,
                       m == FORMULA ? over ? "   target 2 %: missed" : "   target 2 %" : "");
        }
    for (int m = 0; m < METHODS; m++)
        for (int any = 0; any < 2; any++) {
            struct choices c = choices_of(t, any, m);
            double loss = c.best > 0 ? c.lost / c.best : 0;
            int over = m == FORMULA && loss > LOSS_MOST;

            missed |= over;
            if (t->json)
                printf("{\"method\": \"%s\", \"chosen\": \"%s\", \"choices\": %d, \"right\": %d, \"lost\": %.6g, "
                       "\"lost_worst\": %.6g}\n", method_names[m], any ? "variant and configuration" : "variant", c.n,
                       c.right, loss, c.worst);
            else
                printf("%-8s %-26s %3d of %3d right, lost %5.2f %% (worst %5.2f %%)%s\n", method_names[m],
                       any ? "variant and configuration:" : "variant:", c.right, c.n, 100 * loss, 100 * c.worst,
                       m == FORMULA ? over ? "   target 1 %: missed" : "   target 1 %" : "");
        }
    return missed;
}

int main(int argc, char **argv)
{
    struct trial t = { 0 };
    struct hrun_error err = { 0 };
    int missed;

    if (parse_arguments(argc, argv, &t)) {
        fputs("usage: variants_accuracy --network FILE --definition FILE --times FILE --sub NAME:PES:FLOPS "
              "--sub NAME:PES:FLOPS --procs P[,...] [--json]\n", stderr);
        return 2;
    }
    if (hrun_app_load(t.definition, NULL, &t.app, &err) || hrun_net_load(t.network, &t.net, &err))
        fail("input", &err);
    read_runs(&t);
    make_view(&t);
    for (int v = 0; v < t.app->nvariants; v++) {
        by_formula(&t, v);
        by_fit(&t, v);
    }
    missed = tell(&t);
    for (int s = 0; s < SUBS; s++)
        hrun_models_destroy(t.speeds[s]);
    hrun_netview_destroy(t.view);
    hrun_net_destroy(t.net);
    hrun_app_destroy(t.app);
    free(t.runs);
    return missed;
}
