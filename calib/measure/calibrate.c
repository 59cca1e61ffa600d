/* calibrate.c - hrun-calibrate PROGRAM: plan a campaign, make its runs, fit models */
#include "../common/alone.h"
#include "../profiles/profiles.h"
#include "base/units.h"
#include "budget.h"
#include "choices.h"
#include "progress.h"
#include "runs.h"
#include "session/conditions.h"
#include "session/context_network.h"
#include "session/decide_unmodelled.h"
#include "session/number.h"
#include "session/problem.h"
#include "session/work_passed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --again and --redo: append marks to the logs of the sub-clusters to be measured. With --again a log gets one mark: no
 * record before the mark counts. With --redo each point to be measured gets a mark: no record of the point before the
 * mark counts. */
static int mark_anew(struct context *c, const struct calib_settings *s, const struct campaign *g,
                     struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    struct hrun_sample mark = { .N = 1, .P = 1, .M = 1, .pes = 1, .status = (char *)HRUN_STATUS_ANEW,
                                .origin = (char *)"calibration", .launcher.version = (char *)HRUN_VERSION };
    char date[21];
    int rc = 0;

    hrun_app_consts_text(c->app, &consts);
    hrun_date_now(date);
    mark.consts = consts.data;
    mark.date = date;
    for (int i = 0; i < c->cluster->nsubs && s->again && !rc; i++)
        if (campaign_has(g, i))
            rc = hrun_store_append(c->store, c->app->name, c->signatures.v[i], &mark, err);
    mark.status = (char *)HRUN_STATUS_ANEW_POINT;
    for (int i = 0; i < g->n && s->redo && !s->again && !rc; i++) {
        const struct point *p = &g->v[i];

        mark.N = p->N;
        mark.P = p->P;
        mark.M = p->config.procs[p->sub];
        mark.pes = p->config.pes[p->sub];
        rc = hrun_store_append(c->store, c->app->name, c->signatures.v[p->sub], &mark, err);
    }
    return rc;
}

/* Print for which processes per PE measured sub-cluster i has no model, why, and the remedy. Print nothing if no run
 * worked: print_failures reports that case. */
static void print_gaps(const struct context *c, const struct campaign *g, int i, const struct hrun_models *models)
{
    const char *name = c->cluster->subs[i].name;
    int several = c->cluster->nsubs > 1;
    autorelease(hrun_buf_release) struct hrun_buf which = HRUN_BUF_INIT;
    int alone = 0, mixed = 0, failed = 0, any = 0;

    models_wanting(c->app, models, &which);
    for (int k = 0; k < g->n; k++) {
        const struct point *p = &g->v[k];

        alone += p->sub == i ? p->have : 0;
        mixed += p->sub < 0 && p->config.pes[i] ? p->have : 0;
        failed += p->sub == i && p->left_out;
        any |= p->have > 0;
    }
    if (which.len && any)
        fprintf(stderr, "hrun-calibrate: sub-cluster %s has no model for %s processes per PE, so hrun will not use it "
                "so: %d runs on it alone worked%s, %d points failed, %d runs combined it with others; the same "
                "command with %s%s measures more of it\n", name, which.data, alone,
                alone && !c->app->fixed ? " (a model needs two sizes)" : "", failed, mixed, several ? "--use " :
                c->app->fixed ? "a larger --budget" : "more --sizes or runs", several ? name : "");
}

/* Fit every sub-cluster and print the table. Sub-clusters outside the campaign with measurements are fitted, too, since
 * runs on several sub-clusters affect all. Result: the exit status. */
static int fit_campaign(struct context *c, const struct campaign *g)
{
    int n = c->cluster->nsubs, count = 0, k = 0, status;
    struct hrun_models **models = xcalloc((size_t)n, sizeof *models);
    autofree struct fit_one *v = xcalloc((size_t)n, sizeof *v);
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    for (int i = 0; i < n; i++) {
        int again = 0, measured = 0;

        for (int j = 0; j < count; j++)
            again |= !strcmp(v[j].signature, c->signatures.v[i]);
        for (int j = 0; j < g->n; j++)
            measured |= g->v[j].sub == i && g->v[j].have;
        if (!again)
            v[count++] = (struct fit_one) { .signature = c->signatures.v[i], .label = c->cluster->subs[i].name,
                                            .quiet = !measured };
    }
    status = fit_together(c, v, count);
    for (int i = 0; i < n && !c->set->quiet; i++)
        for (int j = 0; j < count; j++)
            if (campaign_has(g, i) && c->cluster->subs[i].npes && !strcmp(v[j].signature, c->signatures.v[i]))
                print_gaps(c, g, i, v[j].models);
    /* Models of a command rest on a few runs at one size; only --verbose and `show` print them. */
    for (int i = 0; i < count; i++)
        if (v[i].models && !v[i].quiet && (!c->app->fixed || !g->budget || c->set->verbose))
            models[k++] = v[i].models;
    if (k) {
        models_table(models, k, c->set->verbose, &out);
        fputs(out.data, stdout);
        if (!c->set->quiet)
            models_warn(models, k);
    }
    for (int i = 0; i < count; i++)
        hrun_models_destroy(v[i].models);
    free(models);
    return status;
}

/* Fail if a term has no value at size N and the smallest P that the rule accepts, since the fit would fail later, after
 * all measurements. */
static int check_terms(const struct hrun_app *app, int64_t N, struct hrun_error *err)
{
    enum { MOST = 1000 };
    double np[3] = { (double)N }, value;
    struct hrun_error why;
    int P = 1;

    while (P <= MOST && hrun_app_rule(app, N, P, NULL) <= 0)
        P++;
    np[1] = P;
    np[2] = 1.0 / P;
    for (int i = 0; i < app->np.n && P <= MOST; i++) {
        const struct hrun_expr *term = app->np.v[i].expr;

        if (!hrun_term_is_network(term) && hrun_expr_eval(app->np.v[i].expr, np, &value, &why))
            return hrun_fail_at(err, HRUN_EINVAL, app->file, 0, 0, "terms: %s, which the rule accepts: a term needs a "
                                "value wherever the program runs", why.text);
    }
    return 0;
}

/* Check the options that only some families of models need or accept. */
static int check_family_options(const struct context *c, const struct calib_settings *s, struct hrun_error *err)
{
    const struct hrun_family *family = hrun_family_of(c->app);

    if (!family->points && s->P)
        return hrun_fail(err, HRUN_EINVAL, "-n says how many processes a run of family weak is to have, and %s is of "
                         "another family; --pes and --procs say what is measured", c->app->name);
    if (family->points && (s->budget.limit_s || s->budget.runs || s->budget.target || s->full_grid || s->pes.n))
        return hrun_fail(err, HRUN_EINVAL, "%s is of family weak, whose models are made of six runs for each sub-"
                         "cluster and size: --budget, --full-grid and --pes choose nothing",
                         c->app->name);
    return 0;
}

/* Measure the network if there are several hosts, the definition has network terms and the network is not known. If the
 * measurement fails, calib_network reports that, and the terms are left out. Result: 0, the number of the signal that
 * ended the measurement, or -1 with *err. */
static int measure_network(struct context *c, const struct calib_settings *s, struct hrun_error *err)
{
    struct calib_settings own = *s;
    struct hrun_net *net = NULL;
    int status;

    if (c->cluster->nhosts < 2 || !hrun_app_has_network(c->app))
        return 0;
    if (network_find(c, &net, NULL, NULL, err))
        return -1;
    hrun_net_destroy(net);
    if (net)
        return 0;
    if (!s->common.quiet)
        fprintf(stderr, "hrun-calibrate: %s has terms that ask for the network, which is measured first\n",
                c->app->name);
    own.common.quiet = 1;
    own.common.job.timeout_s = 0;   /* --timeout applies to runs of the application */
    own.again = 0;
    status = calib_network(&own, NULL);
    return status > 128 ? status - 128 : 0;
}

/* Add the number in the command to the sizes. */
static int add_size(const struct context *c, struct calib_settings *s, struct hrun_error *err)
{
    int full = 0;

    for (int i = 0; i < c->app->sizes.n; i++)
        full |= number_list_add(&s->sizes, c->app->sizes.v[i]);
    if (full || number_list_add(&s->sizes, c->number->N))
        return hrun_fail(err, HRUN_EINVAL, "%s has more than %d sizes: name those to measure with --sizes, and write "
                         "{N} in place of the number", c->app->name, LIST_MAX);
    settings_say(c->set, "N = %lld (%s) of %s", (long long)c->number->N, c->number->text, c->app->name);
    return 0;
}

/* Find the definition, or make one for the command. A command with a size needs a definition. */
static int find_calibrated_app(struct context *c, struct calib_settings *s, char **words, struct hrun_error *err)
{
    const char *name = s->common.app;
    struct hrun_error why = { 0 };
    int sized = s->N || s->sizes.n;

    if (context_app(c, words[0], &why) && (why.code != HRUN_ENOENT || sized || (name && !hrun_app_is_name(name)))) {
        *err = why;
        return -1;
    }
    if (((!c->app || c->app->sizes.of_command) && !sized && problem_check_input(err)) ||
        problem_find(c, words, -sized, err))
        return -1;
    if (c->app && c->app->fixed && !c->problem && problem_is_app(c)) {      /* the definition was found by its name */
        context_drop_app(c);
        if (problem_begin(c, words, err))
            return -1;
    }
    if (!c->app && why.code) {
        *err = why;
        return -1;
    }
    if (!c->app && !sized && !number_is_open(words))
        return hrun_fail(err, HRUN_EINVAL, "the measurements of this command cannot be stored: name a folder with "
                         "--data DIR, or name the command with -app NAME");
    if (!c->app)
        return hrun_fail(err, HRUN_ENOENT, "no app definition knows the program %s; name one with -app (hrun "
                         "--list-apps), let --new write one, or leave size and {N} out, and the command is measured as "
                         "it stands", words[0]);
    if (c->app->fixed && (s->N > 1 || s->sizes.n))
        return hrun_fail(err, HRUN_EINVAL, "the work of %s is the same in each run (size: fixed): leave -N and --sizes "
                         "out", c->app->name);
    return c->number ? add_size(c, s, err) : 0;
}

struct calibration {
    struct context c;
    struct campaign g;
    struct exclusive profiles;      /* the locks on the profiles; unlocked if nothing is measured */
    int sig;                        /* the signal that ended the wait for the locks or the measurement of the network */
};

static void calibration_release(struct calibration *k)
{
    exclusive_end(&k->profiles);
    campaign_release(&k->g);
    context_release(&k->c);
}

/* Load definition, program, cluster and engine, choose the runs, and lock the profiles. */
static int plan_campaign(struct calibration *k, const struct calib_settings *settings, char **words,
                         struct hrun_error *err)
{
    struct calib_settings sized = *settings, *s = &sized;
    struct context *c = &k->c;
    int (*build)(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
    struct work w = { .c = c };
    int64_t N;
    int chosen, ended;

    c->set = &settings->common;
    if (find_calibrated_app(c, s, words, err) || (s->again && c->problem && problem_forget_rule(c, err)))
        return -1;
    w.words = words = (char **)number_words(c, words);
    if (hrun_family_of(c->app)->by_formula)
        return hrun_fail(err, HRUN_EINVAL, "%s is predicted by its formula: there is nothing to measure of it; "
                         "hrun-calibrate speeds and hrun-calibrate network measure what that needs", c->app->name);
    /* The MPI must be known before the grid is built. A program built for each size exists for some size. */
    N = s->sizes.n ? s->sizes.v[0] : s->N ? s->N : c->app->sizes.n ? c->app->sizes.v[0] : 0;
    w.N = N ? N : 1;
    if (work_find_program(&w, 0, err) || context_cluster(c, c->set, err) || context_choose_engine(c, 1, err) ||
        alone_check_real(c, err))
        return -1;
    w.N = 0; /* sizes differ between runs; only {N} passes a size to the program */
    if (!work_size_is_passed(&w))
        return hrun_fail(err, HRUN_EINVAL, "the size N does not reach the program: write {N} where it stands, for "
                         "instance %s '{N}'", words[0]);
    if ((N && check_terms(c->app, N, err)) || check_family_options(c, s, err) || work_check_words(&w, err) ||
        work_check_shares(&w, err) ||
        (chosen = hrun_family_of(c->app)->points ? 0 : budget_wanted(s, err)) < 0)
        return -1;
    ended = s->dry_run || !chosen ? 0 : measure_network(c, s, err);
    if (ended < 0)
        return -1;
    if (ended) {
        k->sig = ended;
        return hrun_fail(err, HRUN_EBUSY, "measuring the network was interrupted by signal %d; nothing was measured",
                         ended);
    }
    build = chosen ? budget_build : campaign_build;
    if (build(c, s, &k->g, err))
        return -1;
    if (s->dry_run)
        return 0;
    if (problem_keep(c, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++)
        if (campaign_has(&k->g, i) && exclusive_add(&k->profiles, c, c->app->name, c->signatures.v[i], err))
            return -1;
    /* Build the campaign again once the profiles are locked, since other calibrations may have added runs. */
    if (exclusive_begin(&k->profiles, c, c->app->name, &k->sig, err))
        return -1;
    campaign_release(&k->g);
    return build(c, s, &k->g, err);
}

/* Warn of sub-clusters with one PE. Their models take the dependence on P from a sub-cluster measured at two P > Mi
 * (hrun_common_rows, lib/model), thus with three PEs. If no sub-cluster has three PEs, hrun chooses several
 * sub-clusters only if they ran together. The grid has no runs on several sub-clusters; chosen runs have. */
static void warn_single_pes(const struct context *c, const struct campaign *g, FILE *to, const char *prefix)
{
    enum { TELLS = 3 };

    if (hrun_family_of(c->app)->points || g->budget)
        return;
    for (int i = 0; i < c->cluster->nsubs; i++)
        if (c->cluster->subs[i].npes >= TELLS)
            return;
    for (int i = 0; i < c->cluster->nsubs && c->cluster->nsubs > 1; i++)
        if (campaign_has(g, i) && c->cluster->subs[i].npes == 1)
            fprintf(to, "%ssub-cluster %s has one PE and no other has %d or more: from runs on it alone hrun cannot "
                    "predict it together with others, and uses it alone or not at all (a finer --level gives more "
                    "PEs)\n", prefix, c->cluster->subs[i].name, TELLS);
}

static int print_plan(const struct context *c, const struct campaign *g, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    if (!g->budget)
        campaign_table(c, g, &out);
    else if (budget_plan(c, g, &out, err))
        return -1;
    fputs(out.data, stdout);
    warn_single_pes(c, g, stdout, "");
    return 0;
}

/* Warn if earlier measurements, made with other options, will count together with new ones; --again discards the
 * earlier ones. */
static int warn_other_settings(const struct context *c, const struct calib_settings *s, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf own = HRUN_BUF_INIT;
    autofree char *before = NULL;

    if (s->common.quiet || s->again)
        return 0;
    if (conditions_differ(c, &before, err))
        return -1;
    conditions_settings(c, &own);
    if (before)
        fprintf(stderr, "hrun-calibrate: earlier runs had other options that change times (then: %s; now: %s) and "
                "count together with new ones: give the same, or --again to measure all anew\n",
                *before ? before : "none", own.len ? own.data : "none");
    return 0;
}

/* Print how runs are chosen, or the number of runs already measured. */
static void print_start(const struct context *c, const struct calib_settings *s, const struct campaign *g)
{
    int all = g->n * g->wanted, left = campaign_left(g, -1);

    if (s->common.quiet)
        return;
    if (g->budget) {
        fprintf(stderr, "hrun-calibrate: runs are chosen one by one");
        if (s->common.verbose)
            fprintf(stderr, ", in random order within a stage (--seed %llu)", (unsigned long long)g->budget->seed);
        if (g->budget->limit_s > 0)
            fprintf(stderr, "; they may take %s", hrun_seconds(g->budget->limit_s).s);
        else if (g->budget->finds)
            fputs("; the first ones tell how long it takes (--budget TIME sets a limit)", stderr);
        if (g->budget->known)
            fprintf(stderr, "; %d measurement%s there already", g->budget->known,
                    g->budget->known == 1 ? " is" : "s are");
        fputc('\n', stderr);
        return;
    }
    if (left < all)
        fprintf(stderr, "hrun-calibrate: %d of %d runs are measured already (--again measures them anew)\n",
                all - left, all);
    warn_single_pes(c, g, stderr, "hrun-calibrate: ");
}

/* Print the failures. Result: the exit status. */
#define KEPT "; what was measured is kept, and the same command makes the runs that "
static int print_failures(const struct context *c, const struct calib_settings *s, const struct campaign *g)
{
    int worked = 0, explained = 0;

    for (int i = 0; i < g->n; i++) {
        worked |= g->v[i].have > 0;
        explained += g->v[i].refused && g->v[i].left_out && !hrun_app_rule(c->app, g->v[i].N, g->v[i].P, NULL);
    }
    if (!worked && g->too_short && !g->failed_points) {
        fprintf(stderr, "hrun-calibrate: every run ended with a time of 0 s: these sizes are too short for the clock "
                "of the program; measure larger ones (--sizes), or leave %s%s out, and the wall clock counts\n",
                s->define.time ? "--time" : "'time' in ", s->define.time ? "" : c->app->file);
        return STATUS_FAILED;
    }
    if (g->failed_points <= explained)
        return 0;
    if (!worked && g->no_time)
        fprintf(stderr, "hrun-calibrate: the program runs, but its time is not found (%s); mend %s%s, or leave it out, "
                "and the wall clock counts\n", g->last_failure, s->define.time ? "--time" : "'time' in ",
                s->define.time ? "" : c->app->file);
    else if (!worked && !g->hosts_failed)
        fprintf(stderr, "hrun-calibrate: the first %d points all failed (%s); is this how the program is started?%s\n",
                g->failed_points, g->last_failure,
                c->app->fixed ? "" : " Every run needs the size, for instance '{N}' among its arguments");
    else
        fprintf(stderr, "hrun-calibrate: %s failed and %s left out (last: %s)%s\n",
                hrun_counted(g->failed_points, "point").s, g->failed_points == 1 ? "is" : "are", g->last_failure,
                !g->hosts_failed ? "" : c->app->run.nprepare ? KEPT "a step of 'prepare' or a host has prevented"
                : KEPT "a host has prevented");
    return STATUS_FAILED;
}

/* Print the end of a campaign of chosen runs and, if models were fitted, hrun's choices. Result: the exit status. */
static int print_verdict(struct context *c, const struct calib_settings *s, const struct campaign *g)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT, table = HRUN_BUF_INIT, gain = HRUN_BUF_INIT;
    autorelease(choices_release) struct choices found = { 0 };
    struct hrun_error err = { 0 };
    const struct number_list *sizes = &g->budget->lists.sizes;
    int dropped = hrun_design_state(g->budget->design)->dropped;
    int rc = s->no_fit ? 0 : choices_ask(c, s, sizes->v + dropped, sizes->n - dropped, &found, &err);

    found.exact = hrun_design_state(g->budget->design)->exact;
    budget_verdict(g, &words);
    choices_words(&found, &words);
    if (!rc)
        choices_table(&found, &table);
    fflush(stdout);
    fprintf(stderr, "hrun-calibrate: %s\n", words.data);
    if (table.len)
        printf("%s%s", c->app->fixed ? "" : "\n", table.data);
    choices_gain(&found, hrun_design_state(g->budget->design)->spent_s, &gain);
    fflush(stdout);
    if (gain.len)
        fprintf(stderr, "hrun-calibrate: %s\n", gain.data);
    return rc ? context_complain("hrun-calibrate", &err) : 0;
}

/* Make the runs, in separate folders, and fit. Result: the exit status; -1 with *err. */
static int make_campaign(struct context *c, const struct calib_settings *s, struct campaign *g, char **words,
                         struct hrun_error *err)
{
    autorelease(scratch_release) struct scratch scratch = { 0 };
    autofree char *why = NULL;
    struct progress p;
    struct runs r = { .c = c, .words = (char **)number_words(c, words), .scratch = &scratch,
                      .verbose = s->common.verbose, .g = g, .retries = (int)s->retries, .trace = s->trace,
                      .on_event = progress_show, .ctx = &p };
    int rc = scratch_find(&scratch, c, 1, &why, err), status;

    if (why && !s->common.quiet)
        fprintf(stderr, "hrun-calibrate: %s\n", why);
    if (rc)
        return -1;
    print_start(c, s, g);
    rc = warn_other_settings(c, s, err);
    rc = rc ? rc : mark_anew(c, s, g, err);
    if (!rc) {
        progress_start(&p, c, g);
        rc = runs_make(&r, err);
        progress_clear(&p);
    }
    if (rc < 0)
        return -1;
    if (rc > 0 && s->define.written) {
        fprintf(stderr, "hrun-calibrate: stopped; the definition is written and what was measured is kept: "
                "hrun-calibrate -app %s %s goes on from here\n", c->app->name, words[0]);
        return 128 + rc;
    }
    if (rc > 0) {
        fprintf(stderr, "hrun-calibrate: stopped after %s; what was measured is kept, the same command%s goes on from "
                "here\n", hrun_counted(g->good, "measurement").s,
                s->again ? " without --again" : s->redo ? " without --redo" : "");
        return 128 + rc;
    }
    status = print_failures(c, s, g);
    if (!s->no_fit) {
        rc = fit_campaign(c, g);
        status = status ? status : rc;
    }
    if (g->budget && !s->common.quiet) {
        rc = print_verdict(c, s, g);
        status = status ? status : rc;
    }
    return status;
}

int calib_measure(const struct calib_settings *settings, char **words)
{
    struct calib_settings own = *settings, *s = &own;
    autorelease(calibration_release) struct calibration k = { .sig = 0 };
    struct hrun_error err = { 0 };
    int status;

    if (!words[0]) {
        fputs("hrun-calibrate: no program given; say hrun-calibrate [OPTION]... PROGRAM, or hrun-calibrate --help\n",
              stderr);
        return STATUS_FAILED;
    }
    for (int anew = 0; ; anew++) {
        status = plan_campaign(&k, s, words, &err) ? -1
                 : s->dry_run ? print_plan(&k.c, &k.g, &err) : make_campaign(&k.c, s, &k.g, words, &err);
        if (status >= 0 || anew || !alone_asks_anew(s, &err))
            break;
        /* A host differs from its remembered description. Continue with the present descriptions of all hosts. */
        if (k.g.budget && k.g.budget->design) {
            s->budget.spent_s += hrun_design_state(k.g.budget->design)->spent_s;
            s->budget.made += hrun_design_state(k.g.budget->design)->runs;
        }
        s->again = s->redo = 0;   /* the log already has the marks */
        calibration_release(&k);
        k = (struct calibration){ .sig = 0 };
    }
    if (status < 0 && err.code == HRUN_ECHANGED) {
        const struct hrun_error why = err;

        hrun_fail(&err, why.code, "%s; what was measured is kept, the same command goes on from here", why.text);
    }
    if (status < 0)
        status = context_complain("hrun-calibrate", &err);
    return k.sig ? 128 + k.sig : status;
}

/* ------------------------------------------------------------------ variants */

int calib_variants(const struct calib_settings *s, char **words)
{
    struct settings quiet = s->common;
    autorelease(context_release) struct context c = { .set = &quiet };
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct calib_settings one = *s;
    struct hrun_error err;
    int status = 0;

    quiet.quiet = 1;            /* calib_measure prints the notes */
    if (s->common.variant || !words[0] || context_app(&c, words[0], &err) || !c.variants_of)
        return calib_measure(s, words);
    for (int k = 0; k < c.variants_of->nvariants; k++)
        if (!hrun_family_of(c.variants_of->variants[k])->by_formula)
            hrun_strvec_push(&names, c.variants_of->variants[k]->variant);
    if (!names.n)
        fprintf(stderr, "hrun-calibrate: all variants are predicted by formulas: there is nothing to measure of the "
                "application; hrun-calibrate speeds and hrun-calibrate network measure what these need\n");
    for (size_t i = 0; i < names.n && !status; i++) {
        if (!s->common.quiet)
            fprintf(stderr, "hrun-calibrate: variant %s, %zu of %zu that have terms\n", names.v[i], i + 1, names.n);
        one.common.variant = names.v[i];
        status = calib_measure(&one, words);
        fflush(stdout);         /* the name then precedes its table if both go to one file */
    }
    return status;
}
