/* env.c - the environment of the processes; see env.h for the contracts */
#include "launch/env.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "base/trace_lines.h"
#include "launch/ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sets_name(const char *entry, const char *name, size_t len)
{
    return !strncmp(entry, name, len) && entry[len] == '=';
}

void hrun_env_set(struct hrun_strvec *env, const char *fmt, ...)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    char *word;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    word = hrun_buf_detach(&b);
    for (size_t i = 0; i < env->n; i++)
        if (sets_name(env->v[i], word, strcspn(word, "="))) {
            free(env->v[i]);
            env->v[i] = word;
            return;
        }
    hrun_strvec_push(env, word);
    free(word);
}

void hrun_env_set_all(struct hrun_strvec *env, const struct hrun_strvec *words)
{
    for (size_t i = 0; i < words->n; i++)
        hrun_env_set(env, "%s", words->v[i]);
}

const char *hrun_env_get(const struct hrun_strvec *env, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < env->n; i++)
        if (sets_name(env->v[i], name, len))
            return env->v[i] + len + 1;
    return NULL;
}

void hrun_env_base(struct hrun_strvec *out)
{
    /* Variables that an outer launcher sets for its processes: their identity, and settings of mpirun. */
    static const char *const identity[] = {
        "PMIX_", "PMI_", "MPI_LOCALRANKID=", "MPI_LOCALNRANKS=", "HYDI_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE=",
        "HRUN_JOB=", "HRUN_MPICH=", HRUN_TRACE_VARIABLE "=", HRUN_COLL_VARIABLE "=", HRUN_ENV_PRELOAD "=", NULL
    };
    static const char *const launched[] = {
        "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_APP_CTX", "OMPI_FIRST_RANKS",
        "OMPI_NUM_APP_CTX", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_MCA_initial_wdir", "OMPI_FILE_LOCATION",
        "OMPI_MCA_mpi_oversubscribe",
        "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory",
        "OMPI_MCA_osc_sm_backing_directory", "OMPI_MCA_osc_rdma_backing_directory",
        "OMPI_MCA_shmem_mmap_backing_file_base_dir", "JSM_JSRUN_PORT=", NULL
    };
    int nested = getenv("PMIX_RANK") || getenv("OMPI_COMM_WORLD_RANK");
    struct hrun_error why = { 0 };
    autofree char *home = getenv("HOME") ? NULL : hrun_user_path(NULL, "", "", &why);

    for (char **e = environ; e && *e; e++)
        if (!strncmp(*e, "PMIX_MCA_", 9) ||     /* a setting */
            !(hrun_begins_with(*e, identity) || (nested && hrun_begins_with(*e, launched))))
            hrun_strvec_push(out, *e);
    /* PMIx crashes without a home folder. The value is Debian's name for a missing one. */
    if (why.code == HRUN_ENOENT)
        hrun_strvec_push(out, "HOME=/nonexistent");
}

void hrun_env_user(const struct hrun_job *job, struct hrun_strvec *env)
{
    autofree char *wdir = job->wdir ? realpath(job->wdir, NULL) : NULL;

    if (wdir)
        hrun_env_set(env, "PWD=%s", wdir);
    for (size_t i = 0; i < job->mca.n; i++)
        hrun_env_set(env, "OMPI_MCA_%s", job->mca.v[i]);
    for (size_t i = 0; i < job->env.n; i++) {
        const char *word = job->env.v[i];

        if (strchr(word, '=')) {
            hrun_env_set(env, "%s", word);
        } else if (!hrun_env_get(env, word) && job->on_message) {
            autofree char *text = hrun_strf("-x %s: it is not set, so there is nothing to pass on", word);

            job->on_message(job->ctx, text);
        }
    }
}

int hrun_env_user_mca(const struct hrun_job *job, const char *key)
{
    size_t len = strlen(key);
    char name[128];

    for (size_t i = 0; i < job->mca.n; i++)
        if (sets_name(job->mca.v[i], key, len))
            return 1;
    snprintf(name, sizeof name, "OMPI_MCA_%s", key);
    for (size_t i = 0; i < job->env.n; i++)
        if (sets_name(job->env.v[i], name, strlen(name)))
            return 1;
    return getenv(name) != NULL;
}

const char hrun_env_yield[] = "mpi_yield_when_idle";

int hrun_env_yields(const struct hrun_job *job)
{
    return hrun_layout_yields(job->layout) && !hrun_env_user_mca(job, hrun_env_yield);
}

void hrun_job_yielding(const struct hrun_job *job, struct hrun_buf *out)
{
    const struct hrun_layout *l = job->layout;
    int n = 0;

    if (!hrun_env_yields(job))
        return;
    for (int r = 0; r < l->nranks; r++)
        n += &l->cluster->hosts[l->ranks[r].host] == l->limited;
    hrun_buf_adds(out, "waiting processes yield the processor, as ");
    if (l->limited)
        hrun_buf_addf(out, "the control group of host %s grants %.3g CPUs to %d of them", l->limited->name,
                      l->limited->cpu_quota, n);
    else
        hrun_buf_adds(out, "some share cores");
}

void hrun_env_mca(const struct hrun_job *job, struct hrun_strvec *env, const char *key, const char *value)
{
    if (!hrun_env_user_mca(job, key))
        hrun_env_set(env, "OMPI_MCA_%s=%s", key, value);
}

void hrun_env_shared_memory(const struct hrun_job *job, struct hrun_strvec *env, const char *folder)
{
    for (size_t i = 0; folder && hrun_shared_memory_keys[i]; i++)
        hrun_env_mca(job, env, hrun_shared_memory_keys[i], folder);
}

void hrun_env_preload(const struct hrun_job *job, int shim, struct hrun_strvec *env)
{
    const char *variable = shim ? HRUN_ENV_PRELOAD : "LD_PRELOAD", *users = shim ? NULL : hrun_env_get(env, variable);
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;

    for (int i = 0; i < job->preloads.n; i++) {
        const struct hrun_preload *one = &job->preloads.v[i];

        hrun_env_set(env, "%s=%s", one->variable, one->value);
        hrun_buf_addf(&list, "%s%s", i ? ":" : "", one->library);
    }
    if (list.len)
        hrun_env_set(env, "%s=%s%s%s", variable, list.data, users && *users ? ":" : "", users ? users : "");
}

int hrun_env_check(const struct hrun_job *job, struct hrun_error *err)
{
    for (size_t i = 0; i < job->env.n; i++)
        if (!job->env.v[i][0] || job->env.v[i][0] == '=')
            return hrun_fail(err, HRUN_EINVAL, "-x %s: a variable's name is missing: write -x NAME or "
                             "-x NAME=VALUE", job->env.v[i]);
    for (size_t i = 0; i < job->mca.n; i++) {
        const char *eq = strchr(job->mca.v[i], '=');
        if (!eq || eq == job->mca.v[i])
            return hrun_fail(err, HRUN_EINVAL, "--mca %s: a parameter needs a name and a value: write "
                             "--mca KEY VALUE", job->mca.v[i]);
    }
    return 0;
}
