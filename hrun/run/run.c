/* run.c - the modes of hrun; see run.h */
#include "run.h"

#include "base/units.h"
#include "report.h"
#include "session/problem.h"
#include "session/query.h"
#include "session/work_passed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int run_show_cluster(const struct hrun_settings *s, char **words)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (context_app(&c, words[0], &err) || context_check_app(&c, words[0], &err) ||
        context_cluster(&c, &s->common, &err) || (words[0] && context_find_program(&c, words[0], &err)) ||
        ((words[0] || (!c.cluster->platform && context_has_openmpi())) && context_choose_engine(&c, 1, &err)))
        return context_complain("hrun", &err);
    (s->common.json ? document_cluster : report_cluster)(&c, &out);
    fputs(out.data, stdout);
    return 0;
}

/* Print this host's topology for an hrun on another host. */
int run_export_topology(const struct hrun_settings *s, char **words)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_openmpi mpi = { .path = "" };
    char watched[2048];

    (void)s;
    (void)words;
    hrun_openmpi_find(&mpi, NULL);
    hrun_openmpi_watched(watched, sizeof watched);
    if (hrun_cluster_export(mpi.version, watched, &out, &err))
        return context_complain("hrun", &err);
    fputs(out.data, stdout);
    return 0;
}

int run_list_apps(const struct hrun_settings *s, char **words)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_table *t = hrun_table_create("llll");
    int status = 0;

    (void)words;
    if (context_app(&c, NULL, &err) || hrun_app_list(&c.app_dirs, &names, &err))
        status = context_complain("hrun", &err);
    context_drop_app(&c);
    for (size_t i = 0; i < names.n; i++) {
        struct hrun_app *app = NULL;

        if (hrun_app_find(&c.app_dirs, names.v[i], NULL, &app, &err)) {
            status = context_complain("hrun", &err);
            continue;
        }
        hrun_table_row(t, app->name, app->title, hrun_expr_text(app->rule), app->file);
        hrun_app_destroy(app);
    }
    hrun_table_render(t, 0, &out);
    fputs(out.data, stdout);
    hrun_table_destroy(t);
    return status;
}

int run_predict(const struct hrun_settings *s, char **words)
{
    struct query q = { &s->common, s->ask, s->N, &s->configs, words, s->programs };
    autorelease(context_release) struct context c = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (hrun_mapping_places(&s->mapping))
        hrun_fail(&err, HRUN_EINVAL, "--dry-run=time predicts configurations: give --config in place of --map-by and "
                  "its like, or --dry-run alone");
    if (err.code || query_find(&c, &q, &err) || context_cluster(&c, &s->common, &err) ||
        query_answer(&c, &q, &out, &err))
        return context_complain("hrun", &err);
    fputs(out.data, stdout);
    return 0;
}

/* Print the values that the run takes from the user's own input files, if hrun writes these files. */
static void say_presets(const struct launch_plan *p)
{
    if (p->w.N)
        presets_say(&p->c, &(struct hrun_app_values){ p->w.N, p->layout->nranks, NULL });
}

/* Print the job that would be started, and the reasons for the choice. */
static int print_dry_run(const struct launch_plan *p, const struct hrun_job *job, FILE *to, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf mpirun = HRUN_BUF_INIT, out = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf yielding = HRUN_BUF_INIT;
    struct command cmd = { .layout = p->layout, .argv = job->argv,
                           .mapping = p->d.fallback.granted ? &p->granted : &p->mapping,
                           .job = job, .variants = &p->variants };
    int rc = hrun_engine_command(p->c.engine, job, &mpirun, err);

    if (!p->c.cluster->platform)
        hrun_job_yielding(job, &yielding);
    cmd.mpirun = mpirun.data;
    cmd.yielding = yielding.data;
    cmd.more = json_pack("{s:o, s:o, s:o, s:o, s:b}", "probe", probe_json(&p->probe, p->d.nsubs), "variants",
                         variants_json(&p->variants), "tuning", p->w.tune ? tuned_plan_json(p->w.tune) : json_null(),
                         "in_use", ledger_json(&p->ledger), "would_wait", p->ledger.waits);
    if (!rc && p->c.set->json)
        document_plan(&p->c, &p->d, &cmd, &out);
    else if (!rc)
        rc = report_plan(p, &cmd, &out, err);
    if (!rc)
        fputs(out.data, to);
    json_decref(cmd.more);
    return rc;
}

static void say_untuned(const struct launch_plan *p)
{
    if (p->w.tune && p->w.tune->why[0])
        settings_say(p->c.set, "collective operations are not tuned: %s", p->w.tune->why);
}

/* Print the shares for a script that decomposes by itself. */
static int print_shares(const struct launch_plan *p, const char *form, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    autofree double *share = NULL;
    struct hrun_app_values values;
    struct hrun_app_dealt dealt;

    if (work_check_dealt(&p->w, err) || work_values(&p->w, p->layout, &share, &values, err))
        return hrun_fail_prefix(err, "--print-shares %s", form);
    if (hrun_app_form_counts(form) && !share && !(p->c.app && hrun_family_of(p->c.app)->by_formula)) {
        hrun_fail(err, HRUN_EINVAL, "this form needs the number of units: give -N and use a definition with "
                  "`shares`");
        return hrun_fail_prefix(err, "--print-shares %s", form);
    }
    dealt = (struct hrun_app_dealt){ share, p->layout->nranks, p->c.app && p->c.app->shares.cyclic };
    if (hrun_app_add_shares(form, strlen(form), &dealt, &out, err))
        return hrun_fail_prefix(err, "--print-shares %s", form);
    printf("%s\n", out.data);
    return 0;
}

static int dry_run(struct launch_plan *p, struct hrun_error *err)
{
    autorelease(work_words_release) struct work_words words = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf inputs = HRUN_BUF_INIT;
    autofree char *stdin_text = NULL;
    struct hrun_job job;

    if (work_job(&p->w, p->layout, &words, &stdin_text, &job, err) ||
        work_check_inputs(&p->w, p->layout, &inputs, err))
        return -1;
    if (p->w.tune)
        tune_add_preload(p->w.tune, &p->c, p->layout, &job);
    if ((p->c.program && p->c.engine->check(&job, err)) || print_dry_run(p, &job, stdout, err))
        return -1;
    say_untuned(p);
    say_presets(p);
    if (inputs.len)
        settings_say(p->c.set, "%s", inputs.data);
    return 0;
}

/* Print the lines before a run. ctx: struct launch_plan. */
static int print_before_run(void *ctx, const struct hrun_job *job, struct hrun_error *err)
{
    const struct launch_plan *p = ctx;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (p->c.set->verbose && print_dry_run(p, job, stderr, err))
        return -1;
    if (p->w.report_bindings && !p->c.set->verbose) {
        hrun_job_yielding(job, &text);
        if (text.len)
            fprintf(stderr, "hrun: %s\n", text.data);
        hrun_buf_reset(&text);
    }
    if (p->layout->shared_cores && !p->set->ask.oversubscribe && !p->mapping.oversubscribes &&
        !p->ask.config && (p->d.by == BY_USER || p->d.by == BY_DEFAULT))
        hrun_buf_addf(&text, "hrun: %d processes share cores\n", p->layout->nranks);
    if (!p->c.set->verbose)
        report_threads(p->layout, "hrun: ", &text);
    report_before(p, &text);
    if (!p->c.set->quiet)
        fputs(text.data, stderr);
    say_untuned(p);
    say_presets(p);
    return 0;
}

/* 1 for successful runs, and for failed trials, so that they are not repeated; else 0. */
static int is_worth_recording(const struct decision *d, const struct work_result *r)
{
    return r->ok || (decision_is_trial(d) && !r->unprepared &&
                     (r->outcome.killed_by || r->outcome.timed_out || r->outcome.status) && !r->outcome.interrupted &&
                     !r->outcome.signalled && !r->outcome.lost_host[0]);
}

/* 1 if an MPI program failed at once with the default number of processes, probably refusing this number, else 0. */
static int is_refused(const struct launch_plan *p, const struct work_result *r)
{
    static const double AT_ONCE_S = 10;
    const struct hrun_outcome *o = &r->outcome;

    return p->c.problem && !p->c.problem->reads && p->d.by == BY_DEFAULT && !p->d.fallback.granted &&
           (p->d.P > 1 || p->d.fallback.failures) &&
           (p->c.mpi.kind == HRUN_MPI_OPENMPI || p->c.mpi.kind == HRUN_MPI_MPICH) && !r->unprepared &&
           o->status && o->wall_s < AT_ONCE_S && !o->killed_by && !o->timed_out && !o->interrupted && !o->signalled &&
           !o->lost_host[0];
}

/* 1 if collective operations are tuned, else 0. The times of tuned runs are not comparable with measured ones. */
static int is_tuned(const struct work *w)
{
    return w->tune && !w->tune->why[0];
}

/* Record the run if it is worth recording. Result: 1 if it was recorded, else 0. */
static int record_run(struct launch_plan *p, const struct work_result *r, struct hrun_buf *out)
{
    struct hrun_error err = { 0 };
    int refused = is_refused(p, r);

    /* Profiles contain only runs with hrun's own binding and without tuning. */
    if (!context_is_real(&p->c) || !p->d.has_config || p->layout->other_binding || p->set->ask.unrecorded ||
        is_tuned(&p->w))
        return 0;
    if (!refused && !(is_worth_recording(&p->d, r) &&
                      (p->d.fallback.failures || problem_is_worth_recording(&p->c, r->time_s))))
        return 0;
    if (problem_keep(&p->c, &err) ||
        work_record(&p->w, &p->d.config, r, p->d.by == BY_RUNS ? WORK_EXPLORED : "run", &err)) {
        if (!p->set->common.quiet)
            context_complain("hrun: this run was not recorded", &err);
        return 0;
    }
    if (refused && p->d.fallback.failures && p->d.P == p->d.fallback.usual)
        hrun_buf_addf(out, "hrun: the program failed at once again: the next run of this command starts another number "
                      "of processes than %d, if a usual one is left (-n %d starts as many)\n", p->d.P, p->d.P);
    return 1;
}

static int launch(struct launch_plan *p, const struct hrun_settings *s, struct hrun_error *err)
{
    struct work_result r = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(waits_release) struct waits waits = WAITS_INIT;
    int size_is_passed = p->c.app && p->d.N && work_size_is_passed(&p->w), recorded;

    p->w.waits = s->trace ? &waits : NULL;
    p->w.before_launch = print_before_run;
    p->w.ctx = p;
    if (work_run(&p->w, p->layout, &r, err))
        return -1;
    recorded = size_is_passed && record_run(p, &r, &text);
    report_after(p, &r, size_is_passed, recorded, &text);
    if (p->probe.runs)
        probe_after(&p->probe, &p->d, r.ok ? r.outcome.job_s : 0, &text);
    if (s->trace && r.ok)
        waits_report(&waits, &p->c, &text);
    if (is_tuned(&p->w) && p->w.tune->tell)
        tuned_report(p->w.tune, &text);
    fflush(stdout);
    if (!s->common.quiet || (!r.ok && decision_is_trial(&p->d)))     /* --quiet does not hide why a run failed */
        fputs(text.data, stderr);
    p->w.waits = NULL;
    return r.outcome.status;
}

/* Decide, then launch or print. Result: the exit status; -1 with *err. */
static int attempt(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err)
{
    autorelease(tune_release) struct tune tune = TUNE_INIT;
    int status;

    if (plan_launch(p, s, words, err))
        return -1;
    tune.tell = s->common.verbose && !s->dry_run;
    p->w.tune = s->tune_collectives ? &tune : NULL;
    status = s->print_shares ? print_shares(p, s->print_shares, err) : s->dry_run ? dry_run(p, err) : launch(p, s, err);
    p->w.tune = NULL;
    return status;
}

int run_program(const struct hrun_settings *s, char **words)
{
    struct hrun_settings anew = *s;
    struct hrun_error err = { 0 };
    struct launch_plan p;
    int status, sig;

    if (!words[0] && !(s->dry_run && s->common.app)) {
        fputs("hrun: no program given; say hrun [OPTION]... PROGRAM [ARGUMENT]..., or hrun --help", stderr);
        if (s->common.app)
            fprintf(stderr, "; '%s' is no file of programs, so -app takes it for the name of a definition",
                    s->common.app);
        fputc('\n', stderr);
        return STATUS_FAILED;
    }
    status = attempt(&p, s, words, &err);
    if (status < 0 && err.code == HRUN_ECHANGED) {
        fprintf(stderr, "hrun: %s: asking all hosts anew\n", err.text);
        launch_plan_release(&p);
        anew.common.machine.refresh = 1;
        status = attempt(&p, &anew, words, &err);
    }
    sig = p.sig;
    if (status < 0 && !sig) {
        status = context_complain("hrun", &err);
        status = p.probe.status ? p.probe.status : status;
    }
    launch_plan_release(&p);
    if (sig) {
        signal(sig, SIG_DFL);
        raise(sig);
        status = 128 + sig;
    }
    return status;
}
