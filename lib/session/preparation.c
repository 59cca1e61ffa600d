/* preparation.c - what a definition runs before the application; see work.h */
#include "session/work.h"

#include "base/file.h"
#include "base/list.h"
#include "plan/plan.h"
#include "session/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MEMORY_MAX = 64 << 20 };

/* ------------------------------------------------------------------ what was prepared last */

/* The file that remembers it for a folder; NULL: there is no place for one. */
static char *memory_path(const struct context *c, const char *dir)
{
    char *folder = c->store ? hrun_store_prepared(c->store) : NULL, *real = folder ? realpath(dir, NULL) : NULL, *path;
    unsigned long sum = real ? crc32(0, (const unsigned char *)real, (unsigned)strlen(real)) : 0;

    path = real && c->app ? hrun_strf("%s/%s-%08lx", folder, c->app->name, sum) : NULL;
    free(folder);
    free(real);
    return path;
}

/* Append all that a preparation depends on: its words, the files of the definition, and where the ranks are. */
static int add_key(const struct work *w, const struct hrun_layout *l, const struct hrun_app_values *values,
                   struct hrun_buf *out, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    char *real = realpath(w->c->set->wdir ? w->c->set->wdir : ".", NULL);

    hrun_buf_addf(out, "%s\n", real ? real : "");
    free(real);
    hrun_app_consts_text(app, out);
    for (int i = 0; i < app->nprepare; i++)
        for (int k = 0; k < app->prepare[i].nwords; k++) {
            hrun_buf_adds(out, k ? " " : "\n");
            if (hrun_app_expand(app, app->prepare[i].words[k], values, out, err))
                return hrun_fail_prefix(err, "prepare of %s", app->name);
        }
    for (int i = 0; i < app->nfiles; i++) {
        hrun_buf_addc(out, '\n');
        if (hrun_app_expand(app, app->files[i].content, values, out, err))
            return hrun_fail_prefix(err, "%s", app->files[i].path);
    }
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%c%s", r ? ' ' : '\n', w->c->cluster->hosts[l->ranks[r].host].name);
    return out->failed ? hrun_fail_nomem(err) : 0;
}

static int is_known(const char *path, const struct hrun_buf *key)
{
    struct hrun_buf old = HRUN_BUF_INIT;
    const char *at;
    int same;

    if (!path || hrun_file_read(path, MEMORY_MAX, &old, NULL))
        return 0;
    at = strstr(old.data, "\n\n");
    same = at && !strcmp(at + 2, key->data);
    hrun_buf_release(&old);
    return same;
}

/* Configuration, size, cluster, shares and time; then the key. What cannot be kept is prepared again. */
static void remember(const struct work *w, const struct hrun_layout *l, const char *path, const struct hrun_buf *key,
                     double took_s)
{
    const struct context *c = w->c;
    int n = c->cluster->nsubs, *pes = calloc(2 * (size_t)n + 1, sizeof *pes);
    struct hrun_buf b = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    int64_t units = 1, least;
    char *folder = hrun_store_prepared(c->store);

    if (w->share && c->app->shares.units && hrun_app_units(c->app, w->N, &units, &least, NULL))
        units = 1;
    for (int r = 0; pes && r < l->nranks; r++)
        pes[n + l->ranks[r].sub]++;
    for (int i = 0; pes && i < n; i++) {
        for (int r = 0; r < l->nranks; r++)
            pes[i] += l->ranks[r].sub == i && (!r || l->ranks[r - 1].sub != i || l->ranks[r - 1].pe != l->ranks[r].pe);
        pes[n + i] = pes[i] ? pes[n + i] / pes[i] : 0;
    }
    hrun_buf_addf(&b, "hrun prepared 1\n%.3f\n%lld\n", took_s, (long long)w->N);
    if (pes)
        hrun_config_print(pes, pes + n, n, &b);
    hrun_cluster_names(c->cluster, &cluster);
    hrun_buf_addf(&b, "\n%s", cluster.data);
    for (int i = 0; i < n; i++)
        hrun_buf_addf(&b, "%c%.9g", i ? ',' : '\n', w->share && c->app->shares.units ? w->share[i] / (double)units : 0);
    hrun_buf_addf(&b, "\n\n%s", key->data);
    if (path && folder && pes && !b.failed && !cluster.failed) {
        mkdir(folder, 0777);
        hrun_file_replace(path, b.data, b.len, 0666, NULL);
    }
    hrun_buf_release(&b);
    hrun_buf_release(&cluster);
    free(folder);
    free(pes);
}

int preparation_last(const struct context *c, int64_t N, int *pes, int *procs, double *share, double *took_s)
{
    char *path = memory_path(c, c->set->wdir ? c->set->wdir : "."), *line[6] = { NULL };
    struct hrun_buf b = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    int known = path && !hrun_file_read(path, MEMORY_MAX, &b, NULL);
    char *at = b.data;

    for (int i = 0; known && i < 6; i++) {
        line[i] = at;
        at = strchr(at, '\n');
        known = at != NULL;
        if (at)
            *at++ = 0;
    }
    hrun_cluster_names(c->cluster, &cluster);
    known = known && !strcmp(line[0], "hrun prepared 1") && strtoll(line[2], NULL, 10) == N &&
            !hrun_config_parse(line[3], c->cluster->nsubs, pes, procs, NULL) && !cluster.failed &&
            !strcmp(line[4], cluster.data) && hrun_list_count(line[5]) == c->cluster->nsubs;
    for (int i = 0; known && i < c->cluster->nsubs; i++) {
        size_t len;

        share[i] = strtod(hrun_list_item(line[5], i, &len), NULL);
    }
    if (known)
        *took_s = strtod(line[1], NULL);
    hrun_buf_release(&cluster);
    hrun_buf_release(&b);
    free(path);
    return known;
}

/* ------------------------------------------------------------------ steps */

static int fail_step(const struct work *w, const char *command, const struct hrun_outcome *o,
                     const struct hrun_buf *words, struct hrun_error *err)
{
    if (!w->quiet_run && words->len)
        fprintf(stderr, "%s", words->data);
    if (o->killed_by)
        return hrun_fail(err, HRUN_EENGINE, "the preparation '%.200s' was killed by signal %d", command, o->killed_by);
    if (o->timed_out)
        return hrun_fail(err, HRUN_EENGINE, "the preparation '%.200s' did not end in time (--timeout)", command);
    return hrun_fail(err, HRUN_EENGINE, "the preparation '%.200s' ended with status %d%s%.200s", command, o->status,
                     w->quiet_run && words->len ? ": " : w->quiet_run ? "" : "; its words are above",
                     w->quiet_run && words->len ? words->data : "");
}

/* Run one step: on `here`, a layout of one process on this host, or as the application. As preparation_run. */
static int run_step(const struct work *w, const struct hrun_app_step *step, const struct hrun_app_values *values,
                    const struct hrun_job *like, const struct hrun_layout *here, const char *dir,
                    struct preparation *out, struct hrun_error *err)
{
    const struct hrun_engine *engine = step->mpi ? w->c->engine : hrun_engine_find("local");
    struct hrun_strvec argv = HRUN_STRVEC_INIT;
    struct hrun_buf word = HRUN_BUF_INIT, words = HRUN_BUF_INIT, command = HRUN_BUF_INIT;
    struct hrun_job job = *like;
    struct hrun_outcome o = { 0 };
    char *program = NULL;
    int rc = 0;

    for (int k = 0; k < step->nwords && !rc; k++) {
        hrun_buf_reset(&word);
        rc = hrun_app_expand(w->c->app, step->words[k], values, &word, err);
        if (!rc && (word.failed || hrun_strvec_push(&argv, word.data)))
            rc = hrun_fail_nomem(err);
        hrun_buf_addf(&command, "%s%s", k ? " " : "", word.data);
    }
    if (!rc && !(program = hrun_program_find(argv.v[0], dir, err)))
        rc = hrun_fail_prefix(err, "prepare of %s", w->c->app->name);
    if (!rc) {
        job.layout = step->mpi ? like->layout : here;
        job.argv = argv.v;
        job.program = program;
        job.programs = NULL;
        job.which = NULL;
        job.mpi = NULL;
        job.stdin_text = NULL;
        job.no_stdin = job.swallow = 1;
        job.report_bindings = job.tag_output = job.npreloads = 0;
        job.on_stdout = NULL;
        job.trace_text = NULL;
        job.look = NULL;
        job.on_start = NULL;
        job.stderr_text = &words;
        rc = engine->check(&job, err) || hrun_launch_checked(engine, &job, &o, err) ? -1 : 1;
    }
    if (rc > 0) {
        out->took_s += o.wall_s;
        out->outcome = o;
        rc = o.interrupted || o.signalled ? 0 : o.status || o.killed_by || o.timed_out
             ? fail_step(w, command.data, &o, &words, err) : 1;
    }
    free(program);
    hrun_strvec_release(&argv);
    hrun_buf_release(&word);
    hrun_buf_release(&words);
    hrun_buf_release(&command);
    return rc;
}

/* One process on this host, which has all of it. */
static int layout_here(struct hrun_cluster **cluster, struct hrun_layout **out, struct hrun_error *err)
{
    const struct hrun_cluster_request request = { .hosts = "localhost", .level = HRUN_LEVEL_NODE };
    int *config, rc = -1;

    if (hrun_cluster_discover(&request, cluster, err))
        return -1;
    config = calloc(2 * (size_t)(*cluster)->nsubs, sizeof *config);
    if (config) {
        config[0] = config[(*cluster)->nsubs] = 1;
        *out = hrun_layout_create(*cluster, config, config + (*cluster)->nsubs, err);
        rc = *out ? 0 : -1;
    } else
        hrun_fail_nomem(err);
    free(config);
    return rc;
}

int preparation_run(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    const struct hrun_job *like, const char *dir, int own, struct preparation *out,
                    struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    struct hrun_buf key = HRUN_BUF_INIT;
    struct hrun_cluster *cluster = NULL;
    struct hrun_layout *here = NULL;
    char *path = NULL;
    int rc = 1;

    memset(out, 0, sizeof *out);
    if (!app || !app->nprepare)
        return 1;
    path = own ? NULL : memory_path(w->c, dir);
    if (add_key(w, layout, values, &key, err))
        rc = -1;
    if (rc > 0 && !w->c->set->force && is_known(path, &key))
        goto done;
    if (path)
        unlink(path);
    for (int i = 0; i < app->nprepare && rc > 0; i++) {
        if (!app->prepare[i].mpi && !here && layout_here(&cluster, &here, err))
            rc = -1;
        rc = rc > 0 ? run_step(w, &app->prepare[i], values, like, here, dir, out, err) : rc;
    }
    if (rc > 0 && path)
        remember(w, layout, path, &key, out->took_s);
done:
    hrun_layout_destroy(here);
    hrun_cluster_destroy(cluster);
    hrun_buf_release(&key);
    free(path);
    return rc;
}
