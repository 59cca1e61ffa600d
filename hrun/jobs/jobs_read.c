/* jobs_read.c - read a file of jobs; see jobs.h */
#include "jobs.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_file {
    struct job_entry *jobs;
    unsigned jobs_count;
};

static const struct hrun_key entry_keys[] = {
    { HRUN_KEY("name", struct job_entry, name), .optional = 1, .max = 64 },
    { HRUN_KEY("app", struct job_entry, app) },
    { HRUN_KEY("N", struct job_entry, N) },
    { HRUN_KEY("count", struct job_entry, count), .optional = 1 },
    { HRUN_KEY_LIST("define", struct job_entry, defines, defines_count), .optional = 1, .empty = 1 },
    { HRUN_KEY("program", struct job_entry, program), .optional = 1 },
    { HRUN_KEY_LIST("args", struct job_entry, args, args_count), .optional = 1, .empty = 1 },
    { NULL }
};

static const struct hrun_key file_keys[] = {
    { HRUN_KEY_LIST("jobs", struct job_file, jobs, jobs_count), .keys = entry_keys, .min = 1 }, { NULL }
};

static const struct hrun_schema job_schema = { file_keys, sizeof(struct job_file) };

/* The name of job i of the `count` jobs of an entry; the caller frees it. */
static char *make_name(const struct job_entry *e, int i, int count)
{
    autofree char *name = e->name ? xstrdup(e->name) : hrun_strf("%s-%lld", hrun_base_name(e->app), (long long)e->N);

    return hrun_strf(count > 1 ? "%s.%d" : "%s", name, i + 1);
}

int jobs_read(const char *path, struct jobs *j, struct hrun_error *err)
{
    if (hrun_yaml_load(path, &job_schema, (void **)&j->file, &j->marks, err))
        return -1;
    j->v = xcalloc(JOBS_MAX, sizeof *j->v);
    for (unsigned i = 0; i < j->file->jobs_count; i++) {
        struct job_entry *e = &j->file->jobs[i];
        int count = e->count ? *e->count : 1, is_size = e->N >= 1 && e->N <= HRUN_COUNT_MAX;
        char at[64];

        snprintf(at, sizeof at, "jobs[%u].%s", i, !is_size ? "N" : e->count ? "count" : "app");
        if (!is_size)
            return hrun_yaml_fail(j->marks, at, 0, err, HRUN_EPARSE, "a size is a whole number from 1 to %lld",
                                  (long long)HRUN_COUNT_MAX);
        if (count < 1)
            return hrun_yaml_fail(j->marks, at, 0, err, HRUN_EPARSE, "%d jobs: a count is at least 1; leave the "
                                  "entry out", count);
        if (count > JOBS_MAX - j->n)
            return hrun_yaml_fail(j->marks, at, 0, err, HRUN_EPARSE, "these would be %lld jobs: no more than %d can "
                                  "be planned at once", (long long)j->n + count, JOBS_MAX);
        for (int k = 0; k < count; k++)
            j->v[j->n++] = (struct job){ .name = make_name(e, k, count), .entry = e };
    }
    return 0;
}

void jobs_release(struct jobs *j)
{
    for (unsigned i = 0; j->file && i < j->file->jobs_count; i++) {
        struct job_entry *e = &j->file->jobs[i];

        for (int k = 0; k < e->nmodes; k++)
            free(e->modes[k].variant);
        free(e->modes);
    }
    for (int i = 0; i < j->n; i++) {
        free(j->v[i].name);
        free(j->v[i].pe);
    }
    free(j->v);
    free(j->npes);
    context_release(&j->c);
    hrun_yaml_free(&job_schema, j->file, j->marks);
}
