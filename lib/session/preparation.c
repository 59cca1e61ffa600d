/* preparation.c - what a definition runs before the application; see work.h */
#include "session/work.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/units.h"
#include "plan/plan.h"
#include "session/context.h"
#include "session/decide.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY_MAX = 64 << 20, OUTPUT_KEPT = 4 << 10 };

static const char FORMAT[] = "hrun prepared 2";

/* The words of a step with everything replaced. */
static int expand_step(const struct hrun_app *app, const struct hrun_app_step *step,
                       const struct hrun_app_values *values, struct hrun_strvec *out, struct hrun_error *err)
{
    struct hrun_buf word = HRUN_BUF_INIT;
    int rc = 0;

    for (int k = 0; k < step->nwords && !rc; k++) {
        hrun_buf_reset(&word);
        rc = hrun_app_expand(app, step->words[k], values, &word, err);
        if (rc)
            hrun_fail_prefix(err, "prepare of %s", app->name);
        else
            hrun_strvec_push(out, word.data);
    }
    hrun_buf_release(&word);
    return rc;
}

/* ------------------------------------------------------------------ what was prepared last */

/* The file that remembers it for a folder, whoever has prepared there; NULL: there is no place for one. */
static char *memory_path(const struct context *c)
{
    char *folder = c->store ? hrun_store_prepared(c->store) : NULL;
    char *real = folder ? realpath(c->set->wdir ? c->set->wdir : ".", NULL) : NULL;
    char *path = real ? hrun_strf("%s/%016llx", folder,
                                  (unsigned long long)hrun_hash(HRUN_HASH_INIT, real, strlen(real))) : NULL;

    free(folder);
    free(real);
    return path;
}

/* Append which folder this is: one that is made anew at the same path is another one. File systems without a device of
 * their own, such as NFS, get another number with each mount, which says nothing. */
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

/* Append size and time of last change of the file that word k of a step names, if it names one. */
static void add_file(const char *word, int k, const char *dir, struct hrun_buf *out)
{
    char *path = k ? hrun_strf("%s/%s", *word == '/' ? "" : dir, word) : hrun_program_find(word, dir, NULL);
    struct stat s;

    if (path && !stat(path, &s) && S_ISREG(s.st_mode))
        hrun_buf_addf(out, " (%lld bytes, %lld.%09ld)", (long long)s.st_size, (long long)s.st_mtim.tv_sec,
                      s.st_mtim.tv_nsec);
    free(path);
}

/* Append all that a preparation depends on: definition, folder, size, shares, environment, commands, the files that
 * these name, files, and where the ranks are. */
static int add_key(const struct work *w, const struct hrun_layout *l, const struct hrun_app_values *values,
                   struct hrun_buf *out, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    const struct hrun_strvec *env = &w->c->set->env;
    const char *dir = w->c->set->wdir ? w->c->set->wdir : ".";
    char *real = realpath(dir, NULL);
    int rc = 0;

    hrun_buf_addf(out, "%s\n%s", app->name, real ? real : "");
    add_folder(dir, out);
    hrun_buf_addf(out, "\nN %lld\n", (long long)w->N);
    free(real);
    hrun_app_consts_text(app, out);
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%c%.17g", r ? ' ' : '\n', values->share ? values->share[r] : 1);
    for (size_t i = 0; i < env->n && !rc; i++) {
        const char *value = strchr(env->v[i], '=') ? NULL : getenv(env->v[i]);

        hrun_buf_addc(out, '\n');
        rc = hrun_app_expand_variable(app, env->v[i], values, out, err);
        if (value)
            hrun_buf_addf(out, "=%s", value);
    }
    for (int i = 0; i < app->nprepare && !rc; i++) {
        struct hrun_strvec words = HRUN_STRVEC_INIT;

        rc = expand_step(app, &app->prepare[i], values, &words, err);
        hrun_buf_adds(out, app->prepare[i].mpi ? "\nmpi" : "\nrun");
        for (size_t k = 0; k < words.n; k++) {
            hrun_buf_addf(out, " %s", words.v[k]);
            add_file(words.v[k], (int)k, dir, out);
        }
        hrun_strvec_release(&words);
    }
    for (int i = 0; i < app->nfiles && !rc; i++) {
        hrun_buf_addc(out, '\n');
        rc = hrun_app_expand(app, app->files[i].content, values, out, err);
        if (rc)
            hrun_fail_prefix(err, "%s", app->files[i].path);
    }
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%c%s", r ? ' ' : '\n', w->c->cluster->hosts[l->ranks[r].host].name);
    return rc;
}

/* A file, read: its lines are FORMAT, these, an empty one, and the key. */
struct memory {
    struct hrun_buf text;
    char *took_s, *config, *cluster, *shares, *key;
};

/* 1, or 0: there is none. */
static int memory_read(const char *path, struct memory *m)
{
    char *line, **lines[] = { &line, &m->took_s, &m->config, &m->cluster, &m->shares }, *at;

    *m = (struct memory){ .text = HRUN_BUF_INIT };
    if (!path || hrun_file_read(path, MEMORY_MAX, &m->text, NULL))
        return 0;
    at = m->text.data;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        *lines[i] = at;
        at = strchr(at, '\n');
        if (!at)
            return 0;
        *at++ = 0;
    }
    m->key = at + 1;
    return *at == '\n' && !strcmp(line, FORMAT);
}

/* Does it say the same? Then *took_s is what that took, and *age_s how long ago that was. */
static int is_known(const char *path, const struct hrun_buf *key, double *took_s, double *age_s)
{
    struct memory m;
    struct stat s;
    int same = memory_read(path, &m) && !strcmp(m.key, key->data);

    if (same) {
        *took_s = strtod(m.took_s, NULL);
        *age_s = stat(path, &s) ? NAN : difftime(time(NULL), s.st_mtime);
    }
    hrun_buf_release(&m.text);
    return same;
}

/* What cannot be kept is prepared again. */
static void remember(const struct work *w, const struct hrun_layout *l, const char *path, const struct hrun_buf *key,
                     double took_s)
{
    const struct context *c = w->c;
    int n = c->cluster->nsubs, *pes = xcalloc(2 * (size_t)n + 1, sizeof *pes);
    struct hrun_buf b = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    char *folder = hrun_store_prepared(c->store);

    for (int r = 0; r < l->nranks; r++)
        pes[n + l->ranks[r].sub]++;
    for (int i = 0; i < n; i++) {
        for (int r = 0; r < l->nranks; r++)
            pes[i] += l->ranks[r].sub == i && (!r || l->ranks[r - 1].sub != i || l->ranks[r - 1].pe != l->ranks[r].pe);
        pes[n + i] = pes[i] ? pes[n + i] / pes[i] : 0;
    }
    hrun_buf_addf(&b, "%s\n%.3f\n", FORMAT, took_s);
    hrun_config_print(pes, pes + n, n, &b);
    hrun_cluster_names(c->cluster, &cluster);
    hrun_buf_addf(&b, "\n%s", cluster.data);
    for (int i = 0; i < n; i++)
        hrun_buf_addf(&b, "%c%.0f", i ? ',' : '\n', w->share && c->app->shares.units ? w->share[i] : 0);
    hrun_buf_addf(&b, "\n\n%s", key->data);
    if (!hrun_store_make_folder(c->store, hrun_base_name(folder), NULL))
        hrun_file_replace(path, b.data, b.len, 0666, NULL);
    hrun_buf_release(&b);
    hrun_buf_release(&cluster);
    free(folder);
    free(pes);
}

/* The units of a process of each sub-cluster, from a list. Result: 1: a model has dealt them out; 0: all are equal; -1:
 * that is no such list, or it has more or less than there is. */
static int read_shares(const struct context *c, int64_t N, const char *list, const int *pes, const int *procs,
                       double *share)
{
    int64_t units = 0, least = 0, count;
    double sum = 0, P = 0;

    if (hrun_list_count(list) != c->cluster->nsubs ||
        (c->app->shares.units && hrun_app_units(c->app, N, &units, &least, NULL)))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++) {
        char *item = hrun_list_copy(list, i);
        int bad = !item || hrun_parse_count("share", item, 0, units, &count, NULL);

        free(item);
        if (bad)
            return -1;
        share[i] = (double)count;
        P += (double)pes[i] * procs[i];
        sum += share[i] * pes[i] * procs[i];
    }
    for (int i = 0; i < c->cluster->nsubs && sum > 0; i++)
        if (pes[i] ? share[i] < (double)least : share[i] > 0)
            return -1;
    return sum > 0 ? (sum < (double)units || sum > (double)units + P ? -1 : 1) : 0;
}

/* Where the ranks of a configuration would be. */
static struct hrun_layout *lay_out(const struct context *c, int *pes, int *procs)
{
    const struct decision as = { .nsubs = c->cluster->nsubs, .pes = pes, .procs = procs, .has_config = 1 };
    struct hrun_layout *l = NULL;

    placement_layout(c, &as, &l, NULL);
    return l;
}

int preparation_last(struct context *c, int64_t N, int *pes, int *procs, double *share, double *took_s)
{
    struct work w = { .c = c, .N = N };
    char *path = memory_path(c);
    struct hrun_buf key = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    struct hrun_app_values values;
    struct hrun_layout *l = NULL;
    double *of_ranks = NULL;
    struct memory m;
    int known = memory_read(path, &m) && !hrun_family_of(c->app)->deals_units &&
                !hrun_config_parse(m.config, c->cluster->nsubs, pes, procs, NULL), dealt;

    hrun_cluster_names(c->cluster, &cluster);
    known = known && !strcmp(m.cluster, cluster.data);
    dealt = known ? read_shares(c, N, m.shares, pes, procs, share) : -1;
    w.share = dealt > 0 ? share : NULL;
    known = dealt >= 0 && (l = lay_out(c, pes, procs)) && !work_values(&w, l, &of_ranks, &values, NULL) &&
            !add_key(&w, l, &values, &key, NULL) && !strcmp(m.key, key.data);
    if (known)
        *took_s = strtod(m.took_s, NULL);
    free(of_ranks);
    hrun_layout_destroy(l);
    hrun_buf_release(&key);
    hrun_buf_release(&cluster);
    hrun_buf_release(&m.text);
    free(path);
    return known;
}

int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    struct hrun_buf key = HRUN_BUF_INIT, aside = HRUN_BUF_INIT, line = HRUN_BUF_INIT;
    char *path = memory_path(w->c);
    struct hrun_app_values values;
    double *share = NULL;
    int rc = work_values(w, layout, &share, &values, err) || add_key(w, layout, &values, &key, err) ? -1 : 0;

    *took_s = *age_s = 0;
    if (!rc && !w->c->set->force && !work_check_inputs(w, layout, &aside, NULL) && !aside.len &&
        is_known(path, &key, took_s, age_s))
        goto done;
    for (int i = 0; i < app->nprepare && !rc; i++) {
        struct hrun_strvec words = HRUN_STRVEC_INIT;

        hrun_buf_reset(&line);
        rc = expand_step(app, &app->prepare[i], &values, &words, err);
        hrun_buf_add_command(&line, words.v);
        if (!rc)
            hrun_strvec_push(out, line.data);
        hrun_strvec_release(&words);
    }
done:
    free(share);
    free(path);
    hrun_buf_release(&line);
    hrun_buf_release(&aside);
    hrun_buf_release(&key);
    return rc;
}

/* ------------------------------------------------------------------ runs in one folder at the same time */

/* Lock the file at path (NULL: none), or change the lock. Where the file system has no locks, every run goes on. */
static int hold(const struct work *w, const char *path, int alone, int *lock, struct hrun_error *err)
{
    char *folder = path ? hrun_store_prepared(w->c->store) : NULL, *file = folder ? hrun_strf("%s.lock", path) : NULL;
    struct hrun_error why = { 0 };
    int rc = 0;

    if (file && !hrun_store_make_folder(w->c->store, hrun_base_name(folder), NULL) &&
        hrun_lock_share(file, alone, lock, &why) && why.code == HRUN_EBUSY) {
        char *real = realpath(w->c->set->wdir ? w->c->set->wdir : ".", NULL);

        rc = hrun_fail(err, HRUN_EBUSY, "another run uses what was prepared in '%s': wait for its end, or run in a "
                       "folder of your own (--wdir)", real ? real : ".");
        free(real);
    }
    free(folder);
    free(file);
    return rc;
}

int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err)
{
    struct hrun_buf key = HRUN_BUF_INIT;
    char *path = w->c->app && w->c->app->nprepare ? memory_path(w->c) : NULL;
    double took_s, age_s;
    int known = path && !w->c->set->force && !add_key(w, layout, values, &key, NULL) &&
                is_known(path, &key, &took_s, &age_s);
    int rc = hold(w, path, !known, lock, err);

    hrun_buf_release(&key);
    free(path);
    return rc;
}

/* ------------------------------------------------------------------ steps */

/* What a step prints, and who hears the engine meanwhile. */
struct listener {
    const struct hrun_job *like;
    struct hrun_buf output, errors;
};

static void hear_output(void *ctx, const char *data, size_t len)
{
    struct listener *l = ctx;

    hrun_buf_add_tail(&l->output, data, len, OUTPUT_KEPT);
}

static void hear_message(void *ctx, const char *text)
{
    const struct listener *l = ctx;

    l->like->on_message(l->like->ctx, text);
}

/* The beginning of a command, for messages. */
static void name_step(const struct hrun_strvec *argv, char *out, size_t size)
{
    struct hrun_buf all = HRUN_BUF_INIT;
    size_t len;

    hrun_buf_add_command(&all, argv->v);
    len = strcspn(all.data, "\n");
    len = len < size - 8 ? len : size - 8;
    snprintf(out, size, "%.*s%s", (int)len, all.data, len < all.len ? " ..." : "");
    hrun_buf_release(&all);
}

/* All that is left of a failed step's output, for the user. Result: 0: there is none. */
static int tell_output(const struct work *w, const char *command, const struct listener *l)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int tells = (l->output.len || l->errors.len) && w->on_message;

    hrun_buf_addf(&text, "the preparation %s printed:\n%s%s%s", command, l->output.data,
                  l->output.len && l->output.data[l->output.len - 1] != '\n' ? "\n" : "", l->errors.data);
    while (text.len && text.data[text.len - 1] == '\n')
        text.data[--text.len] = 0;
    if (tells)
        w->on_message(w->ctx, text.data);
    hrun_buf_release(&text);
    return tells;
}

static int fail_step(const struct work *w, const char *command, const struct hrun_outcome *o,
                     const struct listener *l, struct hrun_error *err)
{
    char last[256] = "";
    int told = 0;

    if (w->quiet_run)
        work_last_line(l->errors.data, l->output.data, last, sizeof last);
    else
        told = tell_output(w, command, l);
    return hrun_fail(err, HRUN_EENGINE, "the preparation %s %s %d%s%s", command,
                     o->killed_by ? "was killed by signal" : "ended with status",
                     o->killed_by ? o->killed_by : o->status, *last ? ": " : told ? "; its words are above" : "", last);
}

/* Run one step: on this host, or as the application. As preparation_run. */
static int run_step(const struct work *w, const struct hrun_app_step *step, const struct hrun_app_values *values,
                    const struct hrun_job *like, const char *dir, struct preparation *out, struct hrun_error *err)
{
    struct listener l = { .like = like, .output = HRUN_BUF_INIT, .errors = HRUN_BUF_INIT };
    struct hrun_strvec argv = HRUN_STRVEC_INIT;
    struct hrun_job job = *like;
    struct hrun_outcome o = { 0 };
    char *program = NULL, command[240] = "";
    int rc = expand_step(w->c->app, step, values, &argv, err);

    if (!rc && !(program = hrun_program_find(argv.v[0], dir, err)))
        rc = hrun_fail_prefix(err, "prepare of %s", w->c->app->name);
    if (!rc) {
        name_step(&argv, command, sizeof command);
        job.argv = argv.v;
        job.program = program;
        job.programs = NULL;
        job.which = NULL;
        job.mpi = NULL;
        job.stdin_text = NULL;
        job.no_stdin = job.swallow = 1;
        job.report_bindings = job.tag_output = job.npreloads = 0;
        job.trace_text = NULL;
        job.on_start = NULL;
        job.on_stdout = hear_output;
        job.on_message = step->mpi && like->on_message ? hear_message : NULL;
        job.ctx = &l;
        job.stderr_text = &l.errors;
        job.timeout_s = w->c->timeout_s > 0 ? fmax(w->c->timeout_s - out->took_s, 1e-3) : 0;
        if (!step->mpi)
            job.n_mca = 0;
        rc = step->mpi ? w->c->engine->check(&job, err) || hrun_launch_checked(w->c->engine, &job, &o, err)
                       : hrun_launch_plain(&job, &o, err);
        rc = rc ? -1 : 1;
    }
    if (rc > 0) {
        out->took_s += o.wall_s;
        out->outcome = o;
        if (o.timed_out)
            snprintf(out->why, sizeof out->why, "the preparation %s did not end in time (--timeout)", command);
        if (o.signalled && !o.status)
            out->outcome.status = 128 + o.signalled;
        rc = o.interrupted || o.signalled || o.timed_out ? 0
             : o.status || o.killed_by ? fail_step(w, command, &o, &l, err) : 1;
    }
    free(program);
    hrun_strvec_release(&argv);
    hrun_buf_release(&l.output);
    hrun_buf_release(&l.errors);
    return rc;
}

void preparation_forget(const struct work *w)
{
    char *path = memory_path(w->c);

    if (path)
        unlink(path);
    free(path);
}

int preparation_run(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    const struct hrun_job *like, const char *dir, int own, struct preparation *out,
                    struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    struct hrun_buf key = HRUN_BUF_INIT;
    char *path = NULL;
    double before_s, age_s;
    int rc = 1;

    if (!app || !app->nprepare)
        return 1;
    path = own ? NULL : memory_path(w->c);
    if (add_key(w, layout, values, &key, err))
        rc = -1;
    out->known = rc > 0 && !w->c->set->force && is_known(path, &key, &before_s, &age_s);
    if (out->known)
        goto done;
    if (rc > 0 && hold(w, path, 1, &out->lock, err))
        rc = -1;
    if (rc > 0 && path)
        unlink(path);
    for (int i = 0; i < app->nprepare && rc > 0; i++)
        rc = run_step(w, &app->prepare[i], values, like, dir, out, err);
    hrun_buf_reset(&key);          /* what the steps have written is as they left it */
    if (rc > 0 && path && !add_key(w, layout, values, &key, NULL))
        remember(w, layout, path, &key, out->took_s);
done:
    hold(w, path, 0, &out->lock, NULL);
    hrun_buf_release(&key);
    free(path);
    return rc;
}
