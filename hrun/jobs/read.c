/* jobs_read.c - a file of jobs; see jobs.h */
#include "jobs.h"

#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *name, *app, *program;
    int64_t N;
    int *count;
    char **defines, **args;
    unsigned defines_count, args_count;
};

struct file {
    struct entry *jobs;
    unsigned jobs_count;
};

static const struct hrun_key entry_keys[] = {
    { HRUN_KEY("name", struct entry, name), .optional = 1, .max = 64 },
    { HRUN_KEY("app", struct entry, app) },
    { HRUN_KEY("N", struct entry, N) },
    { HRUN_KEY("count", struct entry, count), .optional = 1 },
    { HRUN_KEY_LIST("define", struct entry, defines, defines_count), .optional = 1, .empty = 1 },
    { HRUN_KEY("program", struct entry, program), .optional = 1 },
    { HRUN_KEY_LIST("args", struct entry, args, args_count), .optional = 1, .empty = 1 },
    { NULL }
};

static const struct hrun_key file_keys[] = {
    { HRUN_KEY_LIST("jobs", struct file, jobs, jobs_count), .keys = entry_keys, .min = 1 }, { NULL }
};

static const struct hrun_schema schema = { file_keys, sizeof(struct file) };

__attribute__((format(printf, 5, 6)))
static int bad(const struct jobs *j, unsigned i, const char *key, struct hrun_error *err, const char *fmt, ...)
{
    char path[64], text[HRUN_ERROR_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(path, sizeof path, "jobs[%u].%s", i, key);
    return hrun_yaml_fail(j->marks, path, 0, err, HRUN_EPARSE, "%s", text);
}

static int same_words(char *const *a, unsigned na, char *const *b, unsigned nb)
{
    for (unsigned i = 0; na == nb && i < na; i++)
        if (strcmp(a[i], b[i]))
            return 0;
    return na == nb;
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* The kind of an entry, made where there is none yet. */
static int find_kind(struct jobs *j, const struct entry *e)
{
    struct job_kind *k = j->kinds;

    for (; k < j->kinds + j->nkinds; k++)
        if (!strcmp(k->app, e->app) && k->N == e->N && same_text(k->program, e->program) &&
            same_words(k->defines, k->ndefines, e->defines, e->defines_count) &&
            same_words(k->args, k->nargs, e->args, e->args_count))
            return (int)(k - j->kinds);
    *k = (struct job_kind){ .app = e->app, .N = e->N, .defines = e->defines, .ndefines = e->defines_count,
                            .program = e->program, .args = e->args, .nargs = e->args_count };
    return j->nkinds++;
}

/* The name of the i-th of an entry's `count` jobs; NULL: no memory. */
static char *make_name(const struct entry *e, int i, int count)
{
    char *own = e->name ? strdup(e->name) : hrun_strf("%s-%lld", hrun_base_name(e->app), (long long)e->N), *name;

    if (!own || count == 1)
        return own;
    name = hrun_strf("%s.%d", own, i + 1);
    free(own);
    return name;
}

static int copy_jobs(struct jobs *j, const struct file *f, struct hrun_error *err)
{
    j->kinds = calloc(f->jobs_count, sizeof *j->kinds);
    j->v = calloc(HRUN_SCHEDULE_JOBS_MAX, sizeof *j->v);
    if (!j->kinds || !j->v)
        return hrun_fail_nomem(err);
    for (unsigned i = 0; i < f->jobs_count; i++) {
        const struct entry *e = &f->jobs[i];
        int count = e->count ? *e->count : 1, kind;

        if (e->N < 1 || e->N > HRUN_COUNT_MAX)
            return bad(j, i, "N", err, "a size is a whole number from 1 to %lld", (long long)HRUN_COUNT_MAX);
        if (count < 1)
            return bad(j, i, "count", err, "%d jobs: a count is at least 1; leave the entry out", count);
        if (count > HRUN_SCHEDULE_JOBS_MAX - j->n)
            return bad(j, i, e->count ? "count" : "app", err, "these would be %lld jobs: no more than %d can be "
                       "planned at once", (long long)j->n + count, HRUN_SCHEDULE_JOBS_MAX);
        kind = find_kind(j, e);
        for (int k = 0; k < count; k++) {
            j->v[j->n] = (struct job){ make_name(e, k, count), kind };
            if (!j->v[j->n++].name)
                return hrun_fail_nomem(err);
        }
    }
    return 0;
}

int jobs_read(const char *path, struct jobs *out, struct hrun_error *err)
{
    return hrun_yaml_load(path, &schema, &out->data, &out->marks, err) || copy_jobs(out, out->data, err) ? -1 : 0;
}

void jobs_release(struct jobs *j)
{
    for (int k = 0; k < j->nkinds; k++) {
        free(j->kinds[k].ways);
        free(j->kinds[k].pes);
        free(j->kinds[k].procs);
        for (int w = 0; j->kinds[k].variant && w < j->kinds[k].nways; w++)
            free(j->kinds[k].variant[w]);
        free(j->kinds[k].variant);
    }
    for (int i = 0; i < j->n; i++)
        free(j->v[i].name);
    free(j->kinds);
    free(j->v);
    hrun_yaml_free(&schema, j->data, j->marks);
    memset(j, 0, sizeof *j);
}
