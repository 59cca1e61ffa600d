/* conditions.c - what a user sets that changes times; see conditions.h */
#include "session/conditions.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

#define IN_ENVIRONMENT "OMPI_MCA_"

/* Parameters of Open MPI that begin with these choose transports and algorithms, and how processes wait. */
static const char *const of_times[] = { "btl", "coll", "mpi_", "mtl", "opal_", "osc", "pml", "ucx", NULL };

/* Variables that begin with these set threads, libraries and transports. Others are not recorded: they may be secrets,
 * and may differ in every job. */
static const char *const of_threads[] = { "OMP_", "KMP_", "GOMP_", "OPENBLAS_", "MKL_", "BLIS_", "UCX_",
                                          IN_ENVIRONMENT, NULL };

static void add_option(struct hrun_strvec *v, const char *option, const char *word)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_adds(&text, option);
    hrun_buf_add_shell(&text, word);
    hrun_strvec_push(v, text.data);
}

/* "--mca KEY VALUE" from "KEY=VALUE", if it is of times and none of later[n] is of the same key. */
static void add_parameter(struct hrun_strvec *v, const char *word, char *const *later, size_t n)
{
    int known = hrun_begins_with(word, of_times);
    size_t key = strcspn(word, "=");
    autofree char *option = NULL;

    for (size_t i = 0; i < n; i++)
        known &= strncmp(word, later[i], key + 1) != 0;
    if (!known || !word[key])
        return;
    option = hrun_strf("--mca %.*s ", (int)key, word);
    add_option(v, option, word + key + 1);
}

/* "-x NAME=VALUE" from "NAME=VALUE", or from "NAME" with the value that the environment has, if it changes times. */
static void add_variable(struct hrun_strvec *v, const char *word)
{
    size_t len = strlen(word);

    if (!hrun_begins_with(word, of_threads))
        return;
    for (char **e = environ; *e && !strchr(word, '='); e++)
        if (!strncmp(*e, word, len) && (*e)[len] == '=')
            word = *e;
    if (strchr(word, '='))
        add_option(v, "-x ", word);
}

static int by_option_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void conditions_settings(const struct context *c, struct hrun_buf *out)
{
    const struct hrun_strvec *mca = &c->set->job.mca, *env = &c->set->job.env, *smpi = &c->set->job.smpi;
    int simulated = c->engine->simulated, mca_counts = !simulated && c->mpi.kind != HRUN_MPI_MPICH;
    size_t prefix = sizeof IN_ENVIRONMENT - 1;
    autorelease(hrun_strvec_release) struct hrun_strvec v = { 0 };

    /* An outer hrun sets _backing_directory: where shared memory is kept. */
    for (char **e = environ; *e && mca_counts; e++)
        if (!strncmp(*e, IN_ENVIRONMENT, prefix) && !strstr(*e, "_backing_directory="))
            add_parameter(&v, *e + prefix, mca->v, mca->n);
    for (size_t i = 0; i < mca->n && mca_counts; i++)
        add_parameter(&v, mca->v[i], mca->v + i + 1, mca->n - i - 1);
    for (size_t i = 0; i < env->n; i++)
        add_variable(&v, env->v[i]);
    for (size_t i = 0; i < smpi->n && simulated; i++)
        add_option(&v, "--smpi ", smpi->v[i]);
    if (v.n)
        qsort(v.v, v.n, sizeof *v.v, by_option_text);
    for (size_t i = 0; i < v.n; i++)
        hrun_buf_addf(out, "%s%s", i ? " " : "", v.v[i]);
}

/* Look for a run with `settings` in a log, and for its newest one. Result: 1, it has one. */
static int find_run_with(const struct hrun_samples *log, const char *settings, const struct hrun_sample **newest)
{
    for (size_t k = 0; k < log->n; k++) {
        const struct hrun_sample *s = &log->v[k];

        if (!s->ok || !s->origin || strcmp(s->origin, "calibration"))
            continue;
        if (!strcmp(s->settings ? s->settings : "", settings))
            return 1;
        if (!*newest || strcmp(s->date, (*newest)->date) > 0)
            *newest = s;
    }
    return 0;
}

int conditions_differ(const struct context *c, char **out, struct hrun_error *err)
{
    int n = c->cluster->nsubs, same = 0, rc = 0;
    struct hrun_samples *logs = xcalloc((size_t)n, sizeof *logs);
    const struct hrun_sample *newest = NULL;
    autorelease(hrun_buf_release) struct hrun_buf own = HRUN_BUF_INIT;

    *out = NULL;
    conditions_settings(c, &own);
    for (int i = 0; i < n && !rc && !same; i++) {
        rc = hrun_store_recent(c->store, c->app->name, c->signatures.v[i], &logs[i], err);
        same = !rc && find_run_with(&logs[i], own.data, &newest);
    }
    if (!rc && !same && newest)
        *out = xstrdup(newest->settings ? newest->settings : "");
    for (int i = 0; i < n; i++)
        hrun_samples_release(&logs[i]);
    free(logs);
    return rc;
}
