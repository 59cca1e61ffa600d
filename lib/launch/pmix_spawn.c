/* pmix_spawn.c - spawn requests of PMIx, which hrun serves; see pmix.h
 *
 * In MPI_Comm_spawn of Open MPI 4.1 one rank requests the processes, and then sends their names to the waiting ranks.
 * After a failed request it sends nothing, and the others hang, under mpirun as well. So a refused request is answered
 * with the name of a namespace that does not exist. This name is also published under the port at which the ranks wait.
 * So all waiting ranks try to connect with that namespace, and pmix_connect refuses each.
 */
#include "base/alloc.h"
#include "launch/frames.h"
#include "launch/pmix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct request *next;
    struct hrun_buf words;           /* for hrun, see pmix_spawn */
    char *port;                      /* port at which Open MPI waits for the new processes, or NULL */
    const struct pmix_client *client;
    pmix_proc_t proc;
    pmix_spawn_cbfunc_t answer;
    void *cbdata;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *requests;     /* a queue; the first one has been sent to hrun */
static struct pmix_job *served;      /* the new job of the first request, or NULL */

/* Open MPI's MPI_ERR_SPAWN. Open MPI passes it on to the program unchanged, because it is no status of PMIx. */
static const pmix_status_t REFUSED = 50;

/* Requests that mpirun serves and hrun does not: PMIx's key, and its name in an MPI_Info. */
static const struct { const char *key, *name; } unserved[] = {
    { PMIX_HOSTFILE, "hostfile" }, { PMIX_ADD_HOST, "add-host" }, { PMIX_ADD_HOSTFILE, "add-hostfile" },
    { PMIX_MAPPER, "mapper" }, { PMIX_PPR, "ppr, npernode or pernode" }, { PMIX_MAPBY, "map_by" },
    { PMIX_RANKBY, "rank_by" }, { PMIX_BINDTO, "bind_to" }, { PMIX_DISPLAY_MAP, "display_map" },
    { PMIX_PRELOAD_BIN, "ompi_preload_binary" }, { PMIX_PRELOAD_FILES, "ompi_preload_files" },
    { PMIX_STDIN_TGT, "ompi_stdin_target" }, { PMIX_CPUS_PER_PROC, "cpus per process" },
};

static const char *find_unserved(const pmix_info_t info[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof unserved / sizeof *unserved; k++)
            if (PMIX_CHECK_KEY(&info[i], unserved[k].key))
                return unserved[k].name;
    return NULL;
}

static const char *string_of(const pmix_info_t info[], size_t n, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key) && info[i].value.type == PMIX_STRING)
            return info[i].value.data.string;
    return otherwise;
}

static void send_request(const struct request *q)
{
    pmix_report_text(q->client, HRUN_GUARD_SPAWN, q->words.data, q->words.len);
    pmix_report(q->client, HRUN_GUARD_SPAWN, 0, "", 0);
}

pmix_status_t pmix_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[],
                         size_t napps, pmix_spawn_cbfunc_t answer, void *cbdata)
{
    static const char port[] = "OMPI_PARENT_PORT=";
    const struct pmix_job *job = pmix_find_job(proc->nspace);
    struct request *q = xcalloc(1, sizeof *q), **end = &requests;
    const char *refused = find_unserved(job_info, ninfo);

    if (!job || !napps || proc->rank >= (pmix_rank_t)job->nranks) {
        free(q);
        return PMIX_ERR_BAD_PARAM;
    }
    q->client = &job->clients[proc->rank];
    q->proc = *proc;
    q->answer = answer;
    q->cbdata = cbdata;
    hrun_buf_init(&q->words);
    for (size_t i = 0; i < napps; i++) {
        refused = refused ? refused : find_unserved(apps[i].info, apps[i].ninfo);
        for (char **e = apps[i].env; e && *e && !q->port; e++)
            if (!strncmp(*e, port, sizeof port - 1) && (*e)[sizeof port - 1])
                q->port = xstrdup(*e + sizeof port - 1);
    }
    hrun_frame_add_word(&q->words, refused ? refused : "");
    hrun_frame_add_word(&q->words, q->port ? q->port : "");
    for (size_t i = 0; i < napps; i++) {
        const pmix_app_t *a = &apps[i];
        const char *cmd = a->cmd ? a->cmd : a->argv && a->argv[0] ? a->argv[0] : "";

        hrun_frame_add_word(&q->words, string_of(a->info, a->ninfo, PMIX_HOST, ""));
        hrun_frame_add_word(&q->words, cmd);
        hrun_frame_add_word(&q->words, string_of(a->info, a->ninfo, PMIX_WDIR, a->cwd ? a->cwd : ""));
        hrun_frame_add_number(&q->words, a->maxprocs);
        hrun_frame_add_words(&q->words, a->argv);
        hrun_frame_add_words(&q->words, a->env);
    }
    pthread_mutex_lock(&lock);
    while (*end)
        end = &(*end)->next;
    *end = q;
    if (q == requests)
        send_request(q);
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}

/* Make the ranks that wait at a port try to connect with a namespace that does not exist. nspace gets its name. */
static void publish_nobody(const pmix_proc_t *proc, const char *port, pmix_nspace_t nspace)
{
    static unsigned n;
    char key[PMIX_MAX_KEYLEN + 1], members[PMIX_MAX_NSLEN + 32];
    pmix_persistence_t once = PMIX_PERSIST_FIRST_READ;
    pmix_info_t info[2];

    snprintf(nspace, PMIX_MAX_NSLEN + 1, "hrun-none-%u", ++n);
    snprintf(key, sizeof key, "%s:connect", port);
    snprintf(members, sizeof members, "%u.0:%s", 1u << 30 | n, nspace);
    PMIX_INFO_LOAD(&info[0], key, (const char *)members, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_PERSISTENCE, &once, PMIX_PERSIST);
    pmix_publish(proc, info, 2, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info[0]);
}

/* Answer the first request with a started job or NULL (refused), and send the next one to hrun. */
static void finish_request(struct pmix_job *job)
{
    struct request *q = requests;
    pmix_nspace_t nspace;

    if (job) {
        job->parent = q->proc;
        job->port = q->port;
        q->port = NULL;
        q->answer(PMIX_SUCCESS, job->nspace, q->cbdata);
    } else if (q->port) {
        publish_nobody(&q->proc, q->port, nspace);
        q->answer(PMIX_SUCCESS, nspace, q->cbdata);
    } else {
        q->answer(PMIX_ERR_OUT_OF_RESOURCE, NULL, q->cbdata);
    }
    served = NULL;
    pthread_mutex_lock(&lock);
    requests = q->next;
    if (requests)
        send_request(requests);
    pthread_mutex_unlock(&lock);
    hrun_buf_release(&q->words);
    free(q->port);
    free(q);
}

void pmix_spawn_serve(const struct hrun_guard_spec *spec, int sock, const char *words, size_t len)
{
    const char *at = words, *end = words + len;
    struct hrun_guard_spec further = *spec;
    int first = hrun_frame_number(&at, end);
    struct hrun_error err = { 0 };
    autofree const char **cpusets = NULL;
    autofree int *apps = NULL;

    /* Only this thread removes the first request, so it reads the request without the lock, and PMIx's thread need not
     * wait. */
    further.nranks = hrun_frame_number(&at, end);
    if (!further.nranks) {
        struct pmix_job *job = pmix_jobs;
        pmix_nspace_t nspace;

        while (job && (!first || job->clients[0].rank != first))
            job = job->next;
        if (job && job->port)
            publish_nobody(&job->parent, job->port, nspace);
        else if (!job)
            finish_request(NULL);
        return;
    }
    further.wdir = hrun_frame_word(&at, end);
    further.cpusets = cpusets = xcalloc((size_t)further.nranks, sizeof *cpusets);
    further.apps = apps = xcalloc((size_t)further.nranks, sizeof *apps);
    for (int r = 0; r < further.nranks; r++) {
        cpusets[r] = hrun_frame_word(&at, end);
        apps[r] = hrun_frame_number(&at, end);
    }
    served = pmix_add_job(&further, sock, first, &err);
    if (!served)
        pmix_report_text(requests->client, HRUN_GUARD_UNREADY, err.text, strlen(err.text));
    pmix_report(requests->client, served ? HRUN_GUARD_READY : HRUN_GUARD_UNREADY, 0, "", 0);
}

void pmix_spawn_started(void)
{
    if (served)
        finish_request(served);
}

pmix_status_t pmix_connect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t answer, void *cbdata)
{
    (void)info, (void)ninfo, (void)answer, (void)cbdata;
    for (size_t i = 0; i < n; i++)
        if (!pmix_find_job(procs[i].nspace))
            return REFUSED;
    return PMIX_OPERATION_SUCCEEDED;
}
