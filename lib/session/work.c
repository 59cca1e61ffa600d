/* work.c - one run of an application; see work.h */
#include "session/work.h"

#include "app/clock.h"
#include "base/file.h"
#include "base/list.h"
#include "session/conditions.h"
#include "session/mpi_waits.h"
#include "session/preparation.h"
#include "session/work_passed.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Bytes at the end of a hidden standard output that are kept; for standard error see launch.h. */
enum { OUTPUT_KEPT = 64 << 10 };

/* Number of last lines of the output that are searched for a line about an error. */
enum { ERROR_LINES = 8 };

static int fill_stdin(const struct hrun_app *app, const struct hrun_app_values *values, char **stdin_text,
                      struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (!app || !app->run.stdin_text)
        return 0;
    if (hrun_app_expand(app, app->run.stdin_text, values, &text, err))
        return hrun_fail_prefix(err, "stdin of %s", app->name);
    *stdin_text = hrun_buf_detach(&text);
    return 0;
}

/* Append the variables of -x for all programs, with words in braces replaced. */
static int fill_env(const struct work *w, const struct hrun_app_values *values, struct hrun_strvec *out,
                    struct hrun_error *err)
{
    const size_t *first = w->c->set->job.env_first;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (size_t i = 0; i < w->c->set->job.env.n; i++) {
        if (i >= first[0] && i < first[1])
            continue;
        hrun_buf_reset(&b);
        if (hrun_app_expand_variable(w->c->app, w->c->set->job.env.v[i], values, &b, err))
            return -1;
        hrun_strvec_push(out, b.data);
    }
    return 0;
}

int work_job(const struct work *w, const struct hrun_layout *layout, struct work_words *words, char **stdin_text,
             struct hrun_job *job, struct hrun_error *err)
{
    const struct settings *set = w->c->set;
    struct hrun_app_values values;
    autofree double *share = NULL;

    *stdin_text = NULL;
    if (work_values(w, layout, &share, &values, err) || work_fill_words(w, layout, &values, words, err) ||
        fill_env(w, &values, &words->env, err) || fill_stdin(w->c->app, &values, stdin_text, err))
        return -1;
    memset(job, 0, sizeof *job);
    job->layout = layout;
    job->argv = words->programs[0].argv;
    job->program = words->programs[0].path;
    job->programs = words->which ? words->programs : NULL;
    job->which = words->which;
    job->mpi = &w->c->mpi;
    job->openmpi = &w->c->openmpi;
    job->env = words->env;
    job->mca = set->job.mca;
    job->smpi = set->job.smpi;
    job->wdir = set->job.wdir;
    job->stdin_text = *stdin_text;
    job->no_stdin = w->quiet_run;
    job->output.tagged = w->tag_output;
    job->report_bindings = w->report_bindings;
    job->oversubscribe = w->oversubscribe;
    job->busy = w->c->busy;
    job->timeout_s = w->c->timeout_s > 0 ? w->c->timeout_s : w->limit_s;
    if (w->slow_s > 0 && (job->timeout_s <= 0 || w->slow_s < job->timeout_s))
        job->timeout_s = w->slow_s;
    job->output.swallow = w->quiet_run;
    job->on_message = w->on_message;
    job->ctx = w->ctx;
    return 0;
}

/* One run, from its words to the removal of its folder. */
struct run {
    const struct work *w;
    const struct hrun_layout *layout;
    struct work_words words;
    char *stdin_text;
    double *share;
    struct hrun_app_values values;     /* points to share */
    struct hrun_job job;
    struct hrun_clock *clock;          /* NULL: the program does not print its time */
    struct hrun_buf output, errors;    /* the ends of standard output (if w->scratch is set) and of standard error */
    struct hrun_strvec inputs;         /* paths of the user's files that the run must not overwrite */
    struct scratch aside;              /* makes a folder without these files; home is NULL if there are none */
    const struct scratch *place;       /* makes the run's own folder: aside or w->scratch; NULL: none */
    char *own;                         /* the run's own folder; NULL: the run uses the working directory */
    struct preparation prepared;
};

static void run_release(struct run *r)
{
    hrun_unlock(r->prepared.lock);
    hrun_clock_destroy(r->clock);
    hrun_remove_tree(r->own);
    free(r->own);
    scratch_release(&r->aside);
    hrun_strvec_release(&r->inputs);
    hrun_buf_release(&r->output);
    hrun_buf_release(&r->errors);
    work_words_release(&r->words);
    free(r->stdin_text);
    free(r->share);
}

static void on_run_output(void *ctx, const char *data, size_t len)
{
    struct run *r = ctx;

    if (r->clock)
        hrun_clock_feed(r->clock, data, len);
    if (r->w->scratch)
        hrun_buf_add_tail(&r->output, data, len, OUTPUT_KEPT);
}

static void on_run_message(void *ctx, const char *text)
{
    const struct run *r = ctx;

    if (r->w->on_message)
        r->w->on_message(r->w->ctx, text);
}

/* Length of text[len] up to its last letter or digit. */
static size_t length_of_words(const char *text, size_t len)
{
    while (len && !isalnum((unsigned char)text[len - 1]))
        len--;
    return len;
}

/* 1 if Open MPI prints this line about an MPI_Abort or its own messages, else 0. The line does not name the cause. */
static int is_of_openmpi(const char *line)
{
    static const char *const begin[] = {
        "MPI_ABORT was invoked", "with errorcode ", "NOTE: invoking MPI_ABORT", "You may or may not see output",
        "exactly when Open MPI kills them.", "Primary job  terminated normally",
        "a non-zero exit code. Per user-direction",
        "mpirun detected that one or more processes", "the job to be terminated. The first process",
        "  Process name: [[", "  Exit code:  ", NULL
    }, *const within[] = { "ORTE_ERROR_LOG", "help message", "orte_base_help_aggregate" };

    if (hrun_begins_with(line, begin))
        return 1;
    for (size_t i = 0; i < sizeof within / sizeof *within && *line == '['; i++) {
        const char *at = strstr(line, within[i]);

        if (at && at < line + strcspn(line, "\n"))
            return 1;
    }
    return 0;
}

/* Find the last line of text[len] with letters or digits (mpirun prints lines of dashes) that Open MPI did not print.
 * Result: its length without the newline; 0: none. */
static size_t find_line(const char *text, size_t len, const char **line)
{
    size_t end = length_of_words(text, len), start;

    for (; end; end = length_of_words(text, start)) {
        for (start = end; start && text[start - 1] != '\n'; start--)
            ;
        *line = text + start;
        if (!is_of_openmpi(*line))
            return end - start + strcspn(text + end, "\r\n");
    }
    return 0;
}

/* Find the last line about an error among the last lines of an output, else the last line. Result: as find_line. */
static size_t find_error(const char *text, const char **line)
{
    size_t end = strlen(text), len, last = find_line(text, end, line);
    const char *at = *line;

    for (int i = 0; i < ERROR_LINES && end; i++, end = (size_t)(at - text)) {
        len = find_line(text, end, &at);
        if (!len)
            break;
        if (memmem(at, len, "ERROR", 5) || memmem(at, len, "rror: ", 6)) {
            *line = at;
            return len;
        }
    }
    return last;
}

/* The last line on standard error before Open MPI's report of an MPI_Abort, else the last line there, else a line of
 * the output. */
void work_last_line(const char *errors, const char *output, char *out, size_t size)
{
    const char *banner = strstr(errors, "MPI_ABORT was invoked"), *line = errors;
    size_t len = banner ? find_line(errors, (size_t)(banner - errors), &line) : 0;

    if (!len)
        len = find_line(errors, strlen(errors), &line);
    if (!len)
        len = find_error(output, &line);
    snprintf(out, size, "%.*s", (int)len, line);
}

static void classify_end(const struct run *run, struct work_result *r)
{
    struct hrun_error err = { 0 };

    r->ok = r->too_short = r->no_time = 0;
    r->time_s = 0;
    r->detail[0] = 0;
    if (r->outcome.timed_out)
        snprintf(r->status, sizeof r->status, "timeout");
    else if (r->outcome.interrupted || r->outcome.signalled)
        snprintf(r->status, sizeof r->status, "interrupted");
    else if (r->outcome.lost_host[0])
        snprintf(r->status, sizeof r->status, "lost host %.80s", r->outcome.lost_host);
    else if (r->outcome.killed_by)
        snprintf(r->status, sizeof r->status, "signal %d", r->outcome.killed_by);
    else if (r->outcome.status)
        snprintf(r->status, sizeof r->status, "exit %d", r->outcome.status);
    else if (r->outcome.stopped)
        snprintf(r->status, sizeof r->status, "stopped for a while");
    else if (!run->clock) {
        r->ok = 1;
        r->time_s = r->outcome.job_s;
    } else if (hrun_clock_result(run->clock, &r->time_s, &err)) {
        r->time_s = 0;
        r->no_time = 1;
        snprintf(r->status, sizeof r->status, "no time in output");
        snprintf(r->detail, sizeof r->detail, "%.500s", err.text);
    } else if (r->time_s <= 0) {
        r->too_short = 1;
        snprintf(r->status, sizeof r->status, "%s", HRUN_STATUS_TOO_SHORT);
        snprintf(r->detail, sizeof r->detail, "the program says that it took 0 s, which is shorter than it can tell: "
                 "a larger size takes longer");
    } else {
        r->ok = 1;
    }
    if (r->ok)
        snprintf(r->status, sizeof r->status, "ok");
    else if (!r->detail[0] && run->w->quiet_run)
        work_last_line(run->errors.data, run->output.data, r->detail, sizeof r->detail);
}

/* 1 if hrun writes input files for the run, else 0. */
static int has_inputs(const struct work *w)
{
    return w->c->app && w->c->app->run.nfiles && w->N;
}

static int list_inputs(const struct work *w, const struct hrun_app_values *values, struct hrun_strvec *paths,
                       struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf path = HRUN_BUF_INIT;

    for (int i = 0; i < w->c->app->run.nfiles; i++) {
        hrun_buf_reset(&path);
        if (hrun_app_expand(w->c->app, w->c->app->run.files[i].path, values, &path, err))
            return -1;
        hrun_strvec_push(paths, path.data);
    }
    return 0;
}

/* 1 if the definition has presets for each input, so hrun's inputs contain the values of the user's files; else 0. */
static int are_all_presets(const struct hrun_app *app, const struct hrun_strvec *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        int found = 0;

        for (int k = 0; k < app->run.npresets; k++)
            found |= !strcmp(app->run.presets[k].file, inputs->v[i]);
        if (!found)
            return 0;
    }
    return 1;
}

/* If the user has files with the names of inputs, and presets read them, the run needs its own folder: then set *aside
 * (home is not NULL) and *inputs. The caller releases both. */
static int find_aside(const struct work *w, const struct hrun_app_values *values, struct scratch *aside,
                      struct hrun_strvec *inputs, struct hrun_error *err)
{
    const struct settings *set = w->c->set;
    struct hrun_error why = { 0 };

    if (!has_inputs(w) ||
        !hrun_app_write_files(w->c->app, values, settings_folder(set), set->force, 1, &why))
        return 0;
    if (list_inputs(w, values, inputs, err))
        return -1;
    if (why.code == HRUN_EEXISTS && are_all_presets(w->c->app, inputs))
        return scratch_for_user(aside, w->c, err);
    if (err)
        *err = why;
    return -1;
}

static void describe_aside(const struct hrun_strvec *inputs, struct hrun_buf *out)
{
    for (size_t i = 0; i < inputs->n; i++)
        hrun_buf_addf(out, "%s%s", i ? ", " : "your ", inputs->v[i]);
    hrun_buf_adds(out, " stays as it is: the program runs in a folder of its own, and what else it writes comes back "
                  "here");
}

int work_check_inputs(const struct work *w, const struct hrun_layout *layout, struct hrun_buf *words,
                      struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec inputs = HRUN_STRVEC_INIT;
    autorelease(scratch_release) struct scratch aside = { 0 };
    struct hrun_app_values values;
    autofree double *share = NULL;

    if (work_values(w, layout, &share, &values, err) || find_aside(w, &values, &aside, &inputs, err))
        return -1;
    if (aside.home)
        describe_aside(&inputs, words);
    return 0;
}

/* Remove the record of the preparation if the run failed by itself, as the prepared input may be the cause. */
static void forget_prepared(const struct work *w, const struct hrun_outcome *o)
{
    if ((!o->status && !o->killed_by) || o->interrupted || o->signalled || o->timed_out || o->lost_host[0])
        return;
    preparation_forget(w);
    if (w->on_message && !w->quiet_run && !w->c->set->quiet)
        w->on_message(w->ctx, "the run failed with what an earlier one had prepared: the next one prepares anew");
}

static int describe_run(struct run *r, struct hrun_error *err)
{
    const struct work *w = r->w;

    if (work_job(w, r->layout, &r->words, &r->stdin_text, &r->job, err))
        return -1;
    if (w->waits)
        waits_add_preload(w->waits, w->c, r->layout, &r->job);
    if (w->tune)
        tune_add_preload(w->tune, w->c, r->layout, &r->job);
    return w->c->engine->check(&r->job, err) || work_values(w, r->layout, &r->share, &r->values, err) ? -1 : 0;
}

/* Choose the folder in which the run starts, lock its preparation, and write the inputs there. */
static int fill_folder(struct run *r, struct hrun_error *err)
{
    const struct work *w = r->w;
    const struct settings *set = w->c->set;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (w->scratch && w->scratch->home)
        r->place = w->scratch;
    else if (find_aside(w, &r->values, &r->aside, &r->inputs, err))
        return -1;
    else if (r->aside.home)
        r->place = &r->aside;
    if (r->place) {
        r->own = scratch_create(r->place, err);
        if (!r->own)
            return -1;
        r->job.wdir = r->own;
        r->job.scratch = r->place == &r->aside ? NULL : r->own;
    } else if (preparation_hold(w, r->layout, &r->values, &r->prepared.lock, err)) {
        return -1;
    }
    if ((has_inputs(w) && hrun_app_write_files(w->c->app, &r->values, r->own ? r->own : settings_folder(set),
                                               r->own || set->force, 0, err)) ||
        (r->own && scratch_fill(r->place, r->own, err)))
        return -1;
    if (r->aside.home && w->on_message && !set->quiet) {
        describe_aside(&r->inputs, &text);
        w->on_message(w->ctx, text.data);
    }
    return 0;
}

/* Set the callbacks for output and messages, and create the clock. */
static int listen_to_run(struct run *r, struct hrun_error *err)
{
    const struct work *w = r->w;
    const struct hrun_app *app = w->c->app;

    if (app && app->time.match && w->N) {
        r->clock = hrun_clock_create(app, &r->values, r->own ? r->own : settings_folder(w->c->set), err);
        if (!r->clock)
            return -1;
    }
    r->job.ctx = r;
    r->job.on_message = on_run_message;
    if (w->quiet_run || (r->clock && !app->time.file))
        r->job.output.on_stdout = on_run_output;
    if (w->quiet_run)
        r->job.output.stderr_text = &r->errors;
    return 0;
}

/* Prepare and launch. */
static int launch_run(struct run *r, struct work_result *out, struct hrun_error *err)
{
    const struct work *w = r->w;
    struct preparation *prepared = &r->prepared;
    int rc = preparation_run(w, &r->values, &r->job, r->own != NULL, prepared, err);

    out->outcome = prepared->outcome;
    out->unprepared = rc == 0;
    if (w->c->timeout_s > 0)
        r->job.timeout_s = fmax(fmin(r->job.timeout_s, w->c->timeout_s - prepared->took_s), 1e-3);
    if (rc > 0) {
        rc = hrun_launch_checked(w->c->engine, &r->job, &out->outcome, err);
        out->outcome.wall_s += prepared->took_s;
    }
    if (rc)
        return -1;
    classify_end(r, out);
    if (prepared->why[0]) {
        snprintf(out->detail, sizeof out->detail, "%s", prepared->why);
        if (!w->quiet_run)
            on_run_message(r, prepared->why);
    }
    if (prepared->known)
        forget_prepared(w, &out->outcome);
    return 0;
}

/* Keep the folder of a failed run if w->scratch->kept is set, and append its path to r->detail. */
static void keep_failed(const struct run *run, struct work_result *r)
{
    const struct scratch *place = run->w->scratch;
    size_t len = strlen(r->detail);

    if (!r->ok && !r->too_short && !r->outcome.interrupted && !r->outcome.signalled &&
        scratch_keep(place, run->own, &run->output, &run->errors))
        snprintf(r->detail + len, sizeof r->detail - len, "%swhat it left is in %s", len ? "; " : "", place->kept);
}

int work_run(const struct work *w, const struct hrun_layout *layout, struct work_result *out, struct hrun_error *err)
{
    autorelease(run_release) struct run r = { .w = w, .layout = layout, .output = HRUN_BUF_INIT,
                                              .errors = HRUN_BUF_INIT, .prepared.lock = -1 };
    int rc;

    if (describe_run(&r, err) || fill_folder(&r, err) || listen_to_run(&r, err) ||
        (w->before_launch && w->before_launch(w->ctx, &r.job, err)))
        return -1;
    rc = launch_run(&r, out, err);
    if (r.aside.home) {
        if (scratch_return(&r.aside, r.own, &r.inputs, rc ? NULL : err))
            rc = -1;
        free(r.own);               /* not removed: files left there are the user's */
        r.own = NULL;
    } else if (!rc && r.own) {
        keep_failed(&r, out);
    }
    if (!rc && w->tune && w->tune->tell)
        tune_collect_report(w->tune, r.job.output.trace_text);
    if (!rc && w->waits && out->ok)
        waits_read(w->waits, w->c, layout);
    return rc;
}

/* If the run used several sub-clusters with unequal shares, append for each the fraction of the work of one process. */
static int add_recorded_shares(const struct work *w, const struct hrun_config *config, int used, struct hrun_buf *out,
                               struct hrun_error *err)
{
    int64_t units, least;

    if (used < 2 || !w->share || !w->c->app->shares.units)
        return 0;
    if (hrun_app_units(w->c->app, w->N, &units, &least, err))
        return -1;
    for (int i = 0; i < w->c->cluster->nsubs; i++)
        hrun_buf_addf(out, "%s%.9g", i ? "," : "", config->pes[i] ? w->share[i] / (double)units : 0);
    return 0;
}

int work_record(const struct work *w, const struct hrun_config *config, const struct work_result *r,
                const char *origin, struct hrun_error *err)
{
    struct context *c = w->c;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT, signatures = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf trace = HRUN_BUF_INIT, settings = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf shares = HRUN_BUF_INIT;
    struct hrun_sample s = { 0 };
    struct utsname uts;
    char date[21], engine[32];
    double rows;
    int used = 0, P = 0;

    for (int i = 0; i < c->cluster->nsubs; i++) {
        used += config->pes[i] > 0;
        P += config->pes[i] * config->procs[i];
        hrun_list_add(&signatures, c->signatures.v[i]);
    }
    if (work_equal_rows(w, P, &rows, err) || add_recorded_shares(w, config, used, &shares, err))
        return -1;
    hrun_cluster_names(c->cluster, &cluster);
    hrun_buf_adds(&text, hrun_config_text(config).s);
    hrun_app_consts_text(c->app, &consts);
    conditions_settings(c, &settings);
    hrun_date_now(date);
    snprintf(engine, sizeof engine, "%s", c->engine->name);
    s.N = w->N;
    s.P = P;
    s.time_s = r->time_s;
    s.wall_s = r->outcome.job_s;
    s.ok = r->ok;
    s.mixed = used > 1;
    s.status = (char *)r->status;
    s.origin = (char *)origin;
    s.config = text.data;
    s.cluster = cluster.data;
    s.consts = consts.data;
    s.signatures = c->cluster->nsubs > 1 ? signatures.data : NULL;
    s.program = c->program;
    s.launcher.host = uname(&uts) ? (char *)"" : uts.nodename;
    s.launcher.mpi = c->mpi.id;
    s.launcher.engine = engine;
    s.launcher.version = (char *)HRUN_VERSION;
    s.date = date;
    s.settings = settings.data;
    s.shares = shares.data;
    if (used > 1 && r->ok && w->waits && w->waits->limits >= 0)
        s.limits = c->cluster->subs[w->waits->limits].name;
    for (int i = 0; i < c->cluster->nsubs; i++) {
        if (!config->pes[i])
            continue;
        s.M = config->procs[i];
        s.pes = config->pes[i];
        s.work = c->app->shares.units ? 0 : w->share ? w->share[i] : rows;
        s.copies = w->copies;
        if (r->ok && w->waits && w->waits->subs) {
            hrun_buf_reset(&trace);
            waits_encode(&w->waits->subs[i], &trace);
            s.trace = trace.data;
            s.compute_s = w->waits->subs[i].compute_s;
            s.mpi_s = w->waits->subs[i].mpi_s;
        }
        if (hrun_store_append(c->store, c->app->name, c->signatures.v[i], &s, err))
            return -1;
    }
    return 0;
}
