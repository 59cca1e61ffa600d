/* pmix_query.c - PMIx queries about the job, and PMIx logging; see pmix.h */
#include "base/alloc.h"
#include "launch/pmix.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Append the answer to a key about a job. */
typedef void answer_fn(struct pmix_infos *out, const char *key, const struct pmix_job *job);

static void on_namespaces(struct pmix_infos *out, const char *key, const struct pmix_job *asked)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    (void)asked;
    for (const struct pmix_job *job = pmix_jobs; job; job = job->next)
        hrun_buf_addf(&b, "%s%s", b.len ? "," : "", job->nspace);
    pmix_add_info(out, key, b.data, PMIX_STRING);
}

/* A running job has not failed, because the first failure ends it. */
static void on_status(struct pmix_infos *out, const char *key, const struct pmix_job *job)
{
    pmix_status_t status = PMIX_SUCCESS;

    (void)job;
    pmix_add_info(out, key, &status, PMIX_STATUS);
}

static void on_table(struct pmix_infos *out, const char *key, const struct pmix_job *job)
{
    pmix_data_array_t array;
    pmix_proc_info_t *v;

    PMIX_DATA_ARRAY_CONSTRUCT(&array, (size_t)job->nranks, PMIX_PROC_INFO);
    v = array.array;
    for (int r = 0; v && r < job->nranks; r++) {
        const struct pmix_client *c = &job->clients[r];
        char link[32], path[PATH_MAX] = "";
        pid_t pid = c->pid;

        snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
        if (!pid || readlink(link, path, sizeof path - 1) < 0)
            *path = 0;
        v[r].executable_name = xstrdup(path);      /* never NULL: clients of PMIx 4 compare it with their own */
        PMIX_LOAD_PROCID(&v[r].proc, job->nspace, (pmix_rank_t)r);
        v[r].hostname = xstrdup(pmix_host);
        v[r].pid = pid;
        v[r].state = c->is_connected ? PMIX_PROC_STATE_CONNECTED : !pid ? PMIX_PROC_STATE_LAUNCH_UNDERWAY
                     : kill(pid, 0) && errno == ESRCH ? PMIX_PROC_STATE_TERMINATED : PMIX_PROC_STATE_RUNNING;
    }
    pmix_add_info(out, key, &array, PMIX_DATA_ARRAY);   /* PMIx copies the array */
    PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static answer_fn on_keys;

static const struct { const char *key; answer_fn *add; } answers[] = {
    { PMIX_QUERY_SUPPORTED_KEYS, on_keys }, { PMIX_QUERY_NAMESPACES, on_namespaces },
    { PMIX_QUERY_JOB_STATUS, on_status }, { PMIX_QUERY_PROC_TABLE, on_table },
    { PMIX_QUERY_LOCAL_PROC_TABLE, on_table },
};

static void on_keys(struct pmix_infos *out, const char *key, const struct pmix_job *job)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    (void)job;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        hrun_buf_addf(&b, "%s%s", i ? "," : "", answers[i].key);
    pmix_add_info(out, key, b.data, PMIX_STRING);
}

static void release_infos(void *results)
{
    pmix_infos_release(results);
    free(results);
}

pmix_status_t pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t answer, void *cbdata)
{
    struct pmix_infos *out = xcalloc(1, sizeof *out);
    int asked = 0;

    (void)proc;
    for (size_t q = 0; q < n; q++) {
        const char *nspace = NULL;
        const struct pmix_job *job = pmix_jobs;

        for (size_t i = 0; i < queries[q].nqual; i++) {
            const pmix_info_t *x = &queries[q].qualifiers[i];

            if (PMIX_CHECK_KEY(x, PMIX_NSPACE) && x->value.type == PMIX_STRING)
                nspace = x->value.data.string;
            else if (PMIX_CHECK_KEY(x, PMIX_PROCID) && x->value.type == PMIX_PROC)
                nspace = x->value.data.proc->nspace;
        }
        /* PMIx 4.2 does not pass the asking process, so without a qualifier the answer is about the first job. */
        while (!nspace && job && job->next)
            job = job->next;
        job = nspace ? pmix_find_job(nspace) : job;
        for (char **key = queries[q].keys; key && *key; key++, asked++)
            for (size_t i = 0; job && i < sizeof answers / sizeof *answers; i++)
                if (!strcmp(*key, answers[i].key))
                    answers[i].add(out, *key, job);
    }
    answer(!out->n ? PMIX_ERR_NOT_FOUND
           : (int)out->n < asked ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS, out->v, out->n, cbdata, release_infos, out);
    return PMIX_SUCCESS;
}

void pmix_log(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
              size_t ndirectives, pmix_op_cbfunc_t answer, void *cbdata)
{
    const struct pmix_job *job = proc ? pmix_find_job(proc->nspace) : NULL;
    const struct pmix_client *c = job && proc->rank < (pmix_rank_t)job->nranks ? &job->clients[proc->rank] : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    (void)directives, (void)ndirectives;
    for (size_t i = 0; i < ndata; i++) {
        int kind = PMIX_CHECK_KEY(&data[i], PMIX_LOG_STDERR) ? HRUN_GUARD_ERR
                   : PMIX_CHECK_KEY(&data[i], PMIX_LOG_STDOUT) ? HRUN_GUARD_OUT : 0;

        if (kind && c && data[i].value.type == PMIX_STRING && data[i].value.data.string) {
            pmix_report_text(c, kind, data[i].value.data.string, strlen(data[i].value.data.string));
        } else if (!strstr(data[i].key, "syslog")) {    /* PMIx itself writes to the syslog */
            rc = PMIX_ERR_NOT_SUPPORTED;
        }
    }
    pmix_answer_later(answer, rc, cbdata);
}
