/* conditions.c - options of the user that change times; see conditions.h */
#include "session/conditions.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#define IN_ENVIRONMENT "OMPI_MCA_"

/* Parameters of Open MPI that choose transports, algorithms and the waiting of processes begin with these. */
static const char *const time_prefixes[] = { "btl", "coll", "mpi_", "mtl", "opal_", "osc", "pml", "ucx", NULL };

/* Variables of threads, libraries and transports begin with these. Other variables are not recorded: they may be
 * secrets, or differ from job to job. */
static const char *const thread_prefixes[] = { "OMP_", "KMP_", "GOMP_", "OPENBLAS_", "MKL_", "BLIS_", "UCX_",
                                          IN_ENVIRONMENT, NULL };

static void add_option(struct hrun_strvec *v, const char *option, const char *word)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_adds(&text, option);
    hrun_buf_add_shell(&text, word);
    hrun_strvec_push(v, text.data);
}

/* Add "--mca KEY VALUE" for "KEY=VALUE", if it changes times and none of later[n] has the same key. */
static void add_parameter(struct hrun_strvec *v, const char *word, char *const *later, size_t n)
{
    int known = hrun_begins_with(word, time_prefixes);
    size_t key = strcspn(word, "=");
    autofree char *option = NULL;

    for (size_t i = 0; i < n; i++)
        known &= strncmp(word, later[i], key + 1) != 0;
    if (!known || !word[key])
        return;
    option = hrun_strf("--mca %.*s ", (int)key, word);
    add_option(v, option, word + key + 1);
}

/* Add "-x NAME=VALUE" for "NAME=VALUE", or for "NAME" with the value in the environment, if it changes times. */
static void add_variable(struct hrun_strvec *v, const char *word)
{
    const char *value = strchr(word, '=') ? NULL : getenv(word);
    autofree char *text = value ? hrun_strf("%s=%s", word, value) : xstrdup(word);

    if (hrun_begins_with(word, thread_prefixes) && strchr(text, '='))
        add_option(v, "-x ", text);
}

void conditions_settings(const struct context *c, struct hrun_buf *out)
{
    const struct hrun_strvec *mca = &c->set->job.mca, *env = &c->set->job.env, *smpi = &c->set->job.smpi;
    int simulated = c->engine->simulated, mca_counts = !simulated && c->mpi.kind != HRUN_MPI_MPICH;
    size_t prefix = sizeof IN_ENVIRONMENT - 1;
    autorelease(hrun_strvec_release) struct hrun_strvec v = { 0 };

    /* An outer hrun sets ..._backing_directory, the folder for shared memory, which does not change times. */
    for (char **e = environ; *e && mca_counts; e++)
        if (!strncmp(*e, IN_ENVIRONMENT, prefix) && !strstr(*e, "_backing_directory="))
            add_parameter(&v, *e + prefix, mca->v, mca->n);
    for (size_t i = 0; i < mca->n && mca_counts; i++)
        add_parameter(&v, mca->v[i], mca->v + i + 1, mca->n - i - 1);
    for (size_t i = 0; i < env->n; i++)
        add_variable(&v, env->v[i]);
    for (size_t i = 0; i < smpi->n && simulated; i++)
        add_option(&v, "--smpi ", smpi->v[i]);
    hrun_strvec_sort(&v, 0);
    for (size_t i = 0; i < v.n; i++)
        hrun_buf_addf(out, "%s%s", i ? " " : "", v.v[i]);
}

int conditions_differ(const struct context *c, char **out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf own = HRUN_BUF_INIT;
    autofree char *newest = NULL;
    char date[24] = "";

    *out = NULL;
    conditions_settings(c, &own);
    for (int i = 0; i < c->cluster->nsubs; i++) {
        autorelease(hrun_samples_release) struct hrun_samples log = { 0 };

        if (hrun_store_recent(c->store, c->app->name, c->signatures.v[i], &log, err))
            return -1;
        for (size_t k = 0; k < log.n; k++) {
            const struct hrun_sample *s = &log.v[k];
            const char *settings = s->settings ? s->settings : "";

            if (!s->ok || !hrun_text_same(s->origin, "calibration"))
                continue;
            if (!strcmp(settings, own.data))
                return 0;
            if (newest && strcmp(s->date, date) <= 0)
                continue;
            free(newest);
            newest = xstrdup(settings);
            snprintf(date, sizeof date, "%s", s->date);
        }
    }
    *out = newest;
    newest = NULL;
    return 0;
}
