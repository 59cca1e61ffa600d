/* preparation.c - run the commands of a definition before the application; see preparation.h */
#include "session/preparation.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/units.h"
#include "session/placement.h"
#include "session/work_passed.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_MAX = 64 << 20, OUTPUT_KEPT = 4 << 10 };

/* Append the words of a step, with words in braces replaced. */
static int expand_step(const struct hrun_app *app, const struct hrun_app_step *step,
                       const struct hrun_app_values *values, struct hrun_strvec *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf word = HRUN_BUF_INIT;

    for (int k = 0; k < step->nwords; k++) {
        hrun_buf_reset(&word);
        if (hrun_app_expand(app, step->words[k], values, &word, err))
            return hrun_fail_prefix(err, "prepare of %s", app->name);
        hrun_strvec_push(out, word.data);
    }
    return 0;
}

/* ------------------------------------------------------------------ the record of the last preparation */

/* The path of the record of the working folder; the caller frees it. NULL: there is no store. The record consists of a
 * line {"took_s", "config", "shares": [of a process of each sub-cluster]} and the key. */
static char *record_path(const struct context *c)
{
    autofree char *folder = c->store ? hrun_strf("%s/prepared", hrun_store_dir(c->store)) : NULL;
    autofree char *real = folder ? realpath(settings_folder(c->set), NULL) : NULL;

    return real ? hrun_strf("%s/%016llx", folder,
                            (unsigned long long)hrun_hash(HRUN_HASH_INIT, real, strlen(real))) : NULL;
}

/* Append device, inode and time of birth of a folder, so that a new folder at the same path differs. The number of a
 * device that is not a disk (NFS) changes with each mount and is left out. */
static void add_folder(const char *path, struct hrun_buf *out)
{
    struct statx s;

    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &s))
        return;
    if (s.stx_dev_major)
        hrun_buf_addf(out, " %u:%u", s.stx_dev_major, s.stx_dev_minor);
    hrun_buf_addf(out, " %llu", (unsigned long long)s.stx_ino);
    if (s.stx_mask & STATX_BTIME)
        hrun_buf_addf(out, " %lld.%09u", (long long)s.stx_btime.tv_sec, s.stx_btime.tv_nsec);
}

/* If word k of a step names a file, append its size and the time of its last change. */
static void add_file_state(const char *word, int k, const char *dir, struct hrun_buf *out)
{
    autofree char *path = k ? hrun_strf("%s/%s", *word == '/' ? "" : dir, word) : hrun_program_find(word, dir, NULL);
    struct stat s;

    if (path && !stat(path, &s) && S_ISREG(s.st_mode))
        hrun_buf_addf(out, " (%lld bytes, %lld.%09ld)", (long long)s.st_size, (long long)s.st_mtim.tv_sec,
                      s.st_mtim.tv_nsec);
}

/* Set *out to the key: all that a preparation depends on. These are definition, folder, size, shares, environment,
 * commands, the state of files that they name, input files, and the hosts of the ranks. */
static int preparation_key(const struct work *w, const struct hrun_layout *l, const struct hrun_app_values *values,
                           struct hrun_buf *out, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    const struct hrun_strvec *env = &w->c->set->job.env;
    const char *dir = settings_folder(w->c->set);
    autofree char *real = realpath(dir, NULL);

    hrun_buf_reset(out);
    hrun_buf_addf(out, "%s\n%s", app->name, real ? real : "");
    add_folder(dir, out);
    hrun_buf_addf(out, "\nN %lld\n", (long long)w->N);
    hrun_app_consts_text(app, out);
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%c%.17g", r ? ' ' : '\n', values->share ? values->share[r] : 1);
    for (size_t i = 0; i < env->n; i++) {
        const char *value = strchr(env->v[i], '=') ? NULL : getenv(env->v[i]);

        hrun_buf_addc(out, '\n');
        if (hrun_app_expand_variable(app, env->v[i], values, out, err))
            return -1;
        if (value)
            hrun_buf_addf(out, "=%s", value);
    }
    for (int i = 0; i < app->run.nprepare; i++) {
        autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;

        if (expand_step(app, &app->run.prepare[i], values, &words, err))
            return -1;
        hrun_buf_adds(out, app->run.prepare[i].mpi ? "\nmpi" : "\nrun");
        for (size_t k = 0; k < words.n; k++) {
            hrun_buf_addf(out, " %s", words.v[k]);
            add_file_state(words.v[k], (int)k, dir, out);
        }
    }
    for (int i = 0; i < app->run.nfiles; i++) {
        hrun_buf_addc(out, '\n');
        if (hrun_app_expand(app, app->run.files[i].content, values, out, err))
            return hrun_fail_prefix(err, "%s", app->run.files[i].path);
    }
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%c%s", r ? ' ' : '\n', w->c->cluster->hosts[l->ranks[r].host].name);
    return 0;
}

/* Read the record into text. Result: the first line, which the caller releases; NULL: no record. *key is in text. */
static json_t *read_record_file(const char *path, struct hrun_buf *text, const char **key)
{
    char *end;

    if (!path || hrun_file_read(path, RECORD_MAX, text, NULL) || !(end = strchr(text->data, '\n')))
        return NULL;
    *key = end + 1;
    return json_loadb(text->data, (size_t)(end - text->data), 0, NULL);
}

/* 1 if the record has this key; then *took_s is the time of the recorded steps and *age_s the record's age. Else 0. */
static int is_prepared(const char *path, const struct hrun_buf *key, double *took_s, double *age_s)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *last;
    json_t *record = read_record_file(path, &text, &last);
    struct stat s;
    double time_s;
    int same = !json_unpack(record, "{s:F}", "took_s", &time_s) && !strcmp(last, key->data);

    if (same) {
        *took_s = time_s;
        *age_s = stat(path, &s) ? NAN : difftime(time(NULL), s.st_mtime);
    }
    json_decref(record);
    return same;
}

/* Write the record. If this fails, the next run prepares again. */
static void write_record_file(const struct work *w, const struct hrun_layout *l, const char *path,
                              const struct hrun_buf *key, double took_s)
{
    const struct context *c = w->c;
    struct hrun_config config;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree char *folder = hrun_strf("%s/prepared", hrun_store_dir(c->store));
    json_t *shares = json_array(), *record;
    autofree char *line = NULL;

    hrun_layout_config(l, &config);
    for (int i = 0; i < config.nsubs; i++)
        json_array_append_new(shares, json_integer(w->share && c->app->shares.units ? (json_int_t)w->share[i] : 0));
    record = json_pack("{s:f, s:s, s:o}", "took_s", took_s, "config", hrun_config_text(&config).s, "shares", shares);
    line = json_dumps(record, 0);
    json_decref(record);
    hrun_buf_addf(&b, "%s\n%s", line, key->data);
    if (!hrun_store_make_folder(c->store, hrun_base_name(folder), NULL))
        hrun_file_replace(path, b.data, b.len, 0666, NULL);
}

int preparation_last(struct context *c, int64_t N, struct hrun_config *config, double *share, double *took_s)
{
    struct work w = { .c = c, .N = N };
    autofree char *path = record_path(c);
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT, key = HRUN_BUF_INIT;
    const char *config_text, *last;
    json_t *record = read_record_file(path, &text, &last), *shares;
    struct decision d = { .nsubs = c->cluster->nsubs, .has_config = 1 };
    struct hrun_app_values values;
    struct hrun_layout *l = NULL;
    autofree double *of_ranks = NULL;
    int known = !json_unpack(record, "{s:F, s:s, s:o}", "took_s", took_s, "config", &config_text, "shares", &shares) &&
                !hrun_family_of(c->app)->deals_units && !hrun_config_parse(config_text, d.nsubs, config, NULL);

    for (int i = 0; i < d.nsubs && known; i++) {
        share[i] = json_number_value(json_array_get(shares, (size_t)i));
        known = share[i] >= 0 && share[i] <= (double)HRUN_COUNT_MAX;
        w.share = share[i] > 0 ? share : w.share;
    }
    d.config = *config;
    known = known && !placement_layout(c, &d, &l, NULL) && !work_values(&w, l, &of_ranks, &values, NULL) &&
            !preparation_key(&w, l, &values, &key, NULL) && !strcmp(last, key.data);
    hrun_layout_destroy(l);
    json_decref(record);
    return known;
}

int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    autorelease(hrun_buf_release) struct hrun_buf key = HRUN_BUF_INIT, aside = HRUN_BUF_INIT, line = HRUN_BUF_INIT;
    autofree char *path = record_path(w->c);
    autofree double *share = NULL;
    struct hrun_app_values values;

    *took_s = *age_s = 0;
    if (work_values(w, layout, &share, &values, err) || preparation_key(w, layout, &values, &key, err))
        return -1;
    if (!w->c->set->force && !work_check_inputs(w, layout, &aside, NULL) && !aside.len &&
        is_prepared(path, &key, took_s, age_s))
        return 0;
    for (int i = 0; i < app->run.nprepare; i++) {
        autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;

        hrun_buf_reset(&line);
        if (expand_step(app, &app->run.prepare[i], &values, &words, err))
            return -1;
        hrun_buf_add_command(&line, words.v);
        hrun_strvec_push(out, line.data);
    }
    return 0;
}

/* ------------------------------------------------------------------ concurrent runs in one folder */

/* Set or change the lock on the record at path (NULL: none); alone = 1: exclusive. Without file locks this succeeds. */
static int lock_prepared(const struct work *w, const char *path, int alone, int *lock, struct hrun_error *err)
{
    autofree char *folder = path ? hrun_strf("%s/prepared", hrun_store_dir(w->c->store)) : NULL;
    autofree char *file = folder ? hrun_strf("%s.lock", path) : NULL;
    autofree char *real = NULL;
    struct hrun_error why = { 0 };

    if (!file || hrun_store_make_folder(w->c->store, hrun_base_name(folder), NULL) ||
        !hrun_lock_share(file, alone, lock, &why) || why.code != HRUN_EBUSY)
        return 0;
    real = realpath(settings_folder(w->c->set), NULL);
    return hrun_fail(err, HRUN_EBUSY, "another run uses what was prepared in '%s': wait for its end, or run in a "
                     "folder of your own (--wdir)", real ? real : ".");
}

int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err)
{
    autofree char *path = w->c->app && w->c->app->run.nprepare ? record_path(w->c) : NULL;
    autorelease(hrun_buf_release) struct hrun_buf key = HRUN_BUF_INIT;
    double took_s, age_s;
    int known = path && !w->c->set->force && !preparation_key(w, layout, values, &key, NULL) &&
                is_prepared(path, &key, &took_s, &age_s);

    return lock_prepared(w, path, !known, lock, err);
}

/* ------------------------------------------------------------------ steps */

/* The output of a step, and the job whose callback gets the engine's messages. */
struct step_listener {
    const struct hrun_job *like;
    struct hrun_buf output, errors;
};

static void on_step_output(void *ctx, const char *data, size_t len)
{
    struct step_listener *l = ctx;

    hrun_buf_add_tail(&l->output, data, len, OUTPUT_KEPT);
}

static void on_step_message(void *ctx, const char *text)
{
    const struct step_listener *l = ctx;

    l->like->on_message(l->like->ctx, text);
}

/* Set out to the beginning of the command, for messages. */
static void name_step(const struct hrun_strvec *argv, char *out, size_t size)
{
    autorelease(hrun_buf_release) struct hrun_buf all = HRUN_BUF_INIT;
    size_t len;

    hrun_buf_add_command(&all, argv->v);
    len = strcspn(all.data, "\n");
    len = len < size - 8 ? len : size - 8;
    snprintf(out, size, "%.*s%s", (int)len, all.data, len < all.len ? " ..." : "");
}

/* Fail. With quiet_run the message has the last line of the output; else on_message gets the end of the output. */
static int fail_step(const struct work *w, const char *command, const struct hrun_outcome *o,
                     const struct step_listener *l, struct hrun_error *err)
{
    int above = !w->quiet_run && w->on_message && (l->output.len || l->errors.len);
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    char last[256] = "";

    if (w->quiet_run)
        work_last_line(l->errors.data, l->output.data, last, sizeof last);
    hrun_buf_addf(&text, "the preparation %s printed:\n%s%s%s", command, l->output.data,
                  l->output.len && l->output.data[l->output.len - 1] != '\n' ? "\n" : "", l->errors.data);
    while (text.data[text.len - 1] == '\n')
        text.data[--text.len] = 0;
    if (above)
        w->on_message(w->ctx, text.data);
    return hrun_fail(err, HRUN_EENGINE, "the preparation %s %s %d%s%s", command,
                     o->killed_by ? "was killed by signal" : "ended with status",
                     o->killed_by ? o->killed_by : o->status, *last ? ": " : above ? "; its words are above" : "",
                     last);
}

/* Run one step: on this host, or with all processes like the application. Result and errors: as preparation_run. */
static int run_step(const struct work *w, const struct hrun_app_step *step, const struct hrun_app_values *values,
                    const struct hrun_job *like, struct preparation *out, struct hrun_error *err)
{
    struct step_listener l = { .like = like, .output = HRUN_BUF_INIT, .errors = HRUN_BUF_INIT };
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    struct hrun_job job = *like;
    struct hrun_outcome o = { 0 };
    autofree char *program = NULL;
    char command[240];
    int rc;

    if (expand_step(w->c->app, step, values, &argv, err))
        return -1;
    program = hrun_program_find(argv.v[0], like->wdir ? like->wdir : ".", err);
    if (!program)
        return hrun_fail_prefix(err, "prepare of %s", w->c->app->name);
    name_step(&argv, command, sizeof command);
    job.argv = argv.v;
    job.program = program;
    job.programs = NULL;
    job.which = NULL;
    job.mpi = NULL;
    job.stdin_text = NULL;
    job.no_stdin = job.output.swallow = 1;
    job.report_bindings = job.output.tagged = job.preloads.n = 0;
    job.output.trace_text = NULL;
    job.on_start = NULL;
    job.output.on_stdout = on_step_output;
    job.on_message = step->mpi && like->on_message ? on_step_message : NULL;
    job.ctx = &l;
    job.output.stderr_text = &l.errors;
    job.timeout_s = w->c->timeout_s > 0 ? fmax(w->c->timeout_s - out->took_s, 1e-3) : 0;
    if (!step->mpi)
        job.mca.n = 0;
    rc = step->mpi ? w->c->engine->check(&job, err) || hrun_launch_checked(w->c->engine, &job, &o, err)
                   : hrun_launch_plain(&job, &o, err);
    if (!rc) {
        out->took_s += o.wall_s;
        out->outcome = o;
        if (o.timed_out)
            snprintf(out->why, sizeof out->why, "the preparation %s did not end in time (--timeout)", command);
        if (o.signalled && !o.status)
            out->outcome.status = 128 + o.signalled;
        rc = o.interrupted || o.signalled || o.timed_out ? 0
             : o.status || o.killed_by ? fail_step(w, command, &o, &l, err) : 1;
    } else {
        rc = -1;
    }
    hrun_buf_release(&l.output);
    hrun_buf_release(&l.errors);
    return rc;
}

void preparation_forget(const struct work *w)
{
    autofree char *path = record_path(w->c);

    if (path)
        unlink(path);
}

int preparation_run(const struct work *w, const struct hrun_app_values *values, const struct hrun_job *like, int own,
                    struct preparation *out, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    autofree char *path = NULL;
    autorelease(hrun_buf_release) struct hrun_buf key = HRUN_BUF_INIT;
    double before_s, age_s;
    int rc = 1;

    if (!app || !app->run.nprepare)
        return 1;
    path = own ? NULL : record_path(w->c);
    if (preparation_key(w, like->layout, values, &key, err))
        return -1;
    out->known = !w->c->set->force && is_prepared(path, &key, &before_s, &age_s);
    if (!out->known) {
        if (lock_prepared(w, path, 1, &out->lock, err))
            return -1;
        if (path)
            unlink(path);
        for (int i = 0; i < app->run.nprepare && rc > 0; i++)
            rc = run_step(w, &app->run.prepare[i], values, like, out, err);
        /* Make the key again, as the steps may have written files that the key depends on. */
        if (rc > 0 && path && !preparation_key(w, like->layout, values, &key, NULL))
            write_record_file(w, like->layout, path, &key, out->took_s);
    }
    lock_prepared(w, path, 0, &out->lock, NULL);
    return rc;
}
