/* profiles.c - the models of a cluster's sub-clusters; see profiles.h */
#include "session/profiles.h"

#include "base/alloc.h"
#include "model/speeds.h"
#include "session/at_size.h"
#include "session/conditions.h"
#include "session/context_network.h"

#include <stdlib.h>
#include <string.h>

void profiles_speed_signature(const struct hrun_subcluster *sub, struct hrun_buf *out)
{
    hrun_cluster_signature(sub, NULL, "speed", out);
}

/* Load the speed of the PEs of sub-cluster i, for a formula. The platform file gives the speed of simulated hosts. */
static void load_speeds(struct context *c, int i, struct sub_profile *v)
{
    const struct hrun_subcluster *sub = &c->cluster->subs[i];
    autorelease(hrun_buf_release) struct hrun_buf signature = HRUN_BUF_INIT;
    struct hrun_error why = { 0 };

    if (c->cluster->platform) {
        v->models = hrun_perf_simulated(sub->core_flops, sub->cores_per_pe, c->app->procs_per_pe,
                                        c->app->nprocs_per_pe);
        return;
    }
    profiles_speed_signature(sub, &signature);
    if (hrun_store_get_models(c->store, HRUN_PERF_APP, signature.data, &v->models, &why))
        v->why_not = hrun_strf("the speed of its PEs cannot be read: %s", why.text);
    else if (!v->models)
        v->why_not = xstrdup("the speed of its PEs is not known; hrun-calibrate speeds measures it");
}

/* Append the constants of a list that the other list lacks, each after a blank. as_options = 1: as the options that set
 * them. */
static void add_unlike(const char *list, const char *other, int as_options, struct hrun_buf *out)
{
    static const char threads[] = "threads:", fill[] = "threads:fill";

    for (size_t len; *list; list += len + (list[len] == ',')) {
        const char *at = other;
        int n = (int)(len = strcspn(list, ","));

        while (*at && (strcspn(at, ",") != len || strncmp(at, list, len)))
            at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
        if (*at)
            continue;
        if (!as_options)
            hrun_buf_addf(out, " %.*s", n, list);
        else if (!strncmp(list, fill, sizeof fill - 1))
            hrun_buf_adds(out, " no OMP_NUM_THREADS");
        else if (!strncmp(list, threads, sizeof threads - 1))
            hrun_buf_addf(out, " -x OMP_NUM_THREADS=%.*s", n - (int)sizeof threads + 1, list + sizeof threads - 1);
        else
            hrun_buf_addf(out, " -D %.*s", n, list);
    }
}

/* Why a profile measured with other constants is not used, and the options to use it; the caller frees it. */
static char *other_consts(const char *measured, const char *wanted)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_adds(&text, "its profile was measured with other constants, this run has");
    add_unlike(wanted, measured, 0, &text);
    hrun_buf_adds(&text, "; to use the profile:");
    add_unlike(measured, wanted, 1, &text);
    return hrun_buf_detach(&text);
}

/* Load the stored models of sub-cluster i, or set the reason why they are not usable. */
static void load_models(struct context *c, int i, struct sub_profile *v)
{
    const char *app = c->app->name, *sig = c->signatures.v[i];
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    struct hrun_error why = { 0 };
    struct hrun_models *m = NULL;

    if (hrun_store_get_models(c->store, app, sig, &m, &why)) {
        char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

        hrun_error_format(&why, text, sizeof text);
        v->unreadable = why.code;
        v->why_not = xstrdup(text);
        return;
    }
    if (!m)
        return;
    hrun_app_consts_text(c->app, &consts);
    if (strcmp(consts.data, m->consts ? m->consts : "")) {
        v->why_not = other_consts(m->consts ? m->consts : "", consts.data);
        hrun_models_destroy(m);
        m = NULL;
    }
    v->models = m;
}

/* Another engine that has a profile of sub-cluster i; NULL: none, or the store cannot be read. */
static const char *other_engine(struct context *c, int i)
{
    const struct hrun_strvec *smpi = &c->set->job.smpi;
    autorelease(hrun_strvec_release) struct hrun_strvec there = HRUN_STRVEC_INIT;
    const char *found = NULL;

    if (hrun_store_signatures(c->store, c->app->name, &there, NULL))
        return NULL;
    for (const struct hrun_engine *const *e = hrun_engines(); *e && there.n && !found; e++) {
        autorelease(hrun_buf_release) struct hrun_buf sig = HRUN_BUF_INIT, kind = HRUN_BUF_INIT;

        hrun_engine_kind(*e, c->cluster, &c->mpi, smpi, &kind);
        hrun_cluster_signature(&c->cluster->subs[i], c->mpi.id, kind.data, &sig);
        for (size_t k = 0; k < there.n && *e != c->engine && !found; k++)
            found = strcmp(there.v[k], sig.data) ? NULL : (*e)->name;
    }
    return found;
}

static void load_subclusters(struct context *c, struct profiles *p)
{
    double age;

    for (int i = 0; i < p->nsubs; i++) {
        struct sub_profile *v = &p->subs[i];

        if (hrun_family_of(c->app)->by_formula)
            load_speeds(c, i, v);
        else
            load_models(c, i, v);
        if (!v->models && !v->why_not)
            v->other_engine = other_engine(c, i);
        if (!v->models)
            continue;
        p->have++;
        p->nsamples += v->models->nsamples;
        if (v->models->n)
            hrun_method_parse(v->models->v[0].method, &p->method, NULL);
        if (v->models->newest && !hrun_date_age(v->models->newest, &age) && (p->newest_s < 0 || age < p->newest_s))
            p->newest_s = age;
    }
}

/* ------------------------------------------------------------------ the network */

/* Fit the models of all sub-clusters again from their logs, with the network that the runs were measured on. */
static int fit_again(struct context *c, struct profiles *p, struct hrun_error *err)
{
    size_t n = (size_t)p->nsubs;
    autofree struct hrun_samples *logs = xcalloc(n, sizeof *logs);
    autofree struct hrun_joint_sub *subs = xcalloc(n, sizeof *subs);
    autofree struct hrun_models **fresh = xcalloc(n, sizeof *fresh);
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    int rc = 0;

    options.method = p->method;
    options.net = c->measured ? c->measured : c->view;
    if (c->cluster->platform)
        options.sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S;
    for (int i = 0; i < p->nsubs && !rc; i++) {
        if (p->subs[i].models)
            rc = hrun_store_samples(c->store, c->app->name, c->signatures.v[i], &logs[i], err);
        if (!rc)
            hrun_samples_current(&logs[i]);
        subs[i] = (struct hrun_joint_sub) { c->cluster->subs[i].name, c->signatures.v[i], logs[i].v, logs[i].n, 0 };
    }
    if (!rc)
        rc = hrun_model_fit_joint(c->app, subs, p->nsubs, &options, fresh, NULL, err);
    for (int i = 0; i < p->nsubs && !rc; i++) {
        hrun_models_destroy(p->subs[i].models);
        p->subs[i].models = fresh[i];
    }
    for (int i = 0; i < p->nsubs; i++)
        hrun_samples_release(&logs[i]);
    return rc;
}

/* Append a line on the uncertain values of the network, if there are any. */
static void add_unsure(const struct hrun_net *net, struct hrun_buf *note)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;

    hrun_net_add_unsure(net, &words);
    if (words.len)
        hrun_buf_addf(note, "%sof the network: %s", note->len ? "\n" : "", words.data);
}

/* If there is no network, remove all models, as a formula needs a network, and set the reason. */
static void need_network(const struct context *c, struct profiles *p)
{
    autorelease(hrun_buf_release) struct hrun_buf why = HRUN_BUF_INIT;

    if (c->view)
        return;
    hrun_buf_adds(&why, "its formula needs the network, which was not measured; to measure it: ");
    network_command(c, &why);
    for (int i = 0; i < p->nsubs; i++) {
        hrun_models_destroy(p->subs[i].models);
        p->subs[i].models = NULL;
        if (!p->subs[i].why_not) {
            p->subs[i].why_not = xstrdup(why.data);
            p->subs[i].needs_network = 1;
        }
    }
    p->have = p->nsamples = 0;
}

/* Fit the models again if they were fitted with a network that is gone, or without a network that now exists. */
static int refit_for_network(struct context *c, struct profiles *p, struct hrun_error *err)
{
    autofree struct hrun_models **models = xcalloc((size_t)p->nsubs, sizeof *models);
    int used, listed;

    for (int i = 0; i < p->nsubs; i++)
        models[i] = p->subs[i].models;
    used = hrun_models_have_network(c->app, models, p->nsubs, 1);
    listed = hrun_models_have_network(c->app, models, p->nsubs, 0);
    return (c->view ? !listed && p->method == HRUN_METHOD_NNLS : used) ? fit_again(c, p, err) : 0;
}

/* Load the network, and adapt the models to it. */
static int find_profiles_network(struct context *c, struct profiles *p, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf note = HRUN_BUF_INIT;

    if (network_use(c, &note, err))
        return -1;
    if (!hrun_app_has_network(c->app))
        return network_suppose(c, err);
    if (hrun_family_of(c->app)->by_formula) {
        need_network(c, p);
    } else {
        if (refit_for_network(c, p, err))
            return -1;
        if (!c->view) {
            hrun_buf_addf(&note, "%sthe network of these hosts was not measured, and terms that ask for it are left "
                          "out; to measure it: ", note.len ? "\n" : "");
            network_command(c, &note);
        }
    }
    if (network_suppose(c, err))
        return -1;
    if (c->net)
        add_unsure(c->net, &note);
    if (c->net && hrun_date_age(c->net->date, &p->network_s))
        p->network_s = -1;
    if (note.len)
        p->network_note = hrun_buf_detach(&note);
    return 0;
}

int profiles_load(struct context *c, struct profiles *out, struct hrun_error *err)
{
    struct profiles p = { .nsubs = c->cluster->nsubs, .method = HRUN_METHOD_NNLS, .newest_s = -1, .network_s = -1 };

    p.subs = xcalloc((size_t)p.nsubs, sizeof *p.subs);
    load_subclusters(c, &p);
    if (p.have && (find_profiles_network(c, &p, err) || conditions_differ(c, &p.measured_with, err))) {
        profiles_release(&p);
        return -1;
    }
    *out = p;
    return 0;
}

void profiles_release(struct profiles *p)
{
    for (int i = 0; p->subs && i < p->nsubs; i++) {
        hrun_models_destroy(p->subs[i].models);
        free(p->subs[i].why_not);
    }
    free(p->subs);
    free(p->network_note);
    free(p->measured_with);
    *p = (struct profiles) { 0 };
}

/* ---------------------------------------------------------------- predictors and corrections at one size */

double *size_memory(const struct context *c)
{
    double *bytes = xcalloc((size_t)c->cluster->nsubs + 1, sizeof *bytes);

    for (int i = 0; i < c->cluster->nsubs; i++)
        bytes[i] = (double)c->cluster->subs[i].memory_bytes;
    return bytes;
}

/* Add the predictors and corrections for unequal shares, if the models can predict them. */
static int add_dealt(struct context *c, struct hrun_predictor_source *from, struct at_size *a, struct hrun_error *err)
{
    struct hrun_predictor **p = &a->predictors[HRUN_SHARES_BEST];

    from->sharing = HRUN_SHARES_BEST;
    if (corrected_load(c, from, &a->dealt, p, err))
        return -1;
    if (!hrun_predictor_deals(*p)) {
        hrun_predictor_destroy(*p);
        *p = NULL;
        corrected_release(&a->dealt);
        return 0;
    }
    from->sharing = HRUN_SHARES_PROPORTIONAL;
    a->predictors[HRUN_SHARES_PROPORTIONAL] = hrun_predictor_create_net(from, err);
    from->pace = a->dealt.pace;
    for (int how = HRUN_SHARES_PROPORTIONAL; from->pace && how <= HRUN_SHARES_BEST; how++) {
        from->sharing = (enum hrun_sharing)how;
        a->unpaced[how] = a->predictors[how];
        a->predictors[how] = hrun_predictor_create_net(from, err);
    }
    return *p && a->predictors[HRUN_SHARES_PROPORTIONAL] ? 0 : -1;
}

int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err)
{
    struct at_size a = { .N = N, .models = xcalloc((size_t)p->nsubs, sizeof *a.models) };
    autofree double *memory = size_memory(c);
    struct hrun_predictor_source from = { c->app, a.models, p->nsubs, HRUN_FORM_NPT, N, c->view,
                                          .memory = memory };

    for (int i = 0; i < p->nsubs; i++)
        a.models[i] = p->subs[i].models;
    if (corrected_load(c, &from, &a.known, &a.predictors[HRUN_SHARES_EQUAL], err) ||
        (c->app->shares.units && add_dealt(c, &from, &a, err))) {
        at_size_release(&a);
        return -1;
    }
    *out = a;
    return 0;
}

void at_size_release(struct at_size *a)
{
    corrected_release(&a->known);
    corrected_release(&a->dealt);
    for (int i = 0; i < 3; i++) {
        hrun_predictor_destroy(a->predictors[i]);
        hrun_predictor_destroy(a->unpaced[i]);
    }
    free(a->models);
    memset(a, 0, sizeof *a);
}
