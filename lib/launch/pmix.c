/* pmix.c - the PMIx server of a one-host job, inside the guard's process (see guard.h)
 *
 * Properties of PMIx 4.2 that this file depends on:
 *   - PMIx_server_init discovers the host's topology itself, which takes 11 of its 12 ms. hrun has the topology
 *     already, so in this process hwloc reads it from a file. Without a file hwloc gets a trivial topology, and the
 *     ranks only learn that they share a host.
 *   - PMIx calls callbacks on its own thread. Callbacks in this file only send a packet through the socket, which is
 *     atomic. Callbacks for publish, lookup and spawn (pmix_names.c, pmix_spawn.c) keep lists, which they lock.
 *   - A fence of a one-host job is complete when PMIx calls fence_nb: all ranks are local.
 *   - Any process that knows the namespace may join the job and abort it, because PMIx checks only a credential that
 *     the client chooses. So the namespace is a secret that only the ranks' environment contains.
 *   - PMIx_server_init succeeds even if the thread that accepts connections cannot start.
 */
#include "launch/pmix.h"

#include "base/alloc.h"

#include <pmix.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The server answers in less than a millisecond, but more slowly on a swapping machine. */
enum { ANSWER_TIMEOUT_MS = 20000 };   /* below START_TIMEOUT_S of guard.c */

struct pmix_job *_Atomic pmix_jobs;
/* PMIx_generate_regex of PMIx 4.2 ends the process for a longer name. */
char pmix_host[51] = "localhost";

struct pmix_job *pmix_find_job(const char *nspace)
{
    struct pmix_job *job = pmix_jobs;

    while (job && !PMIX_CHECK_NSPACE(job->nspace, nspace))
        job = job->next;
    return job;
}

void pmix_report(const struct pmix_client *c, int kind, int status, const char *text, size_t len)
{
    struct hrun_guard_event ev = { .kind = kind, .rank = c->rank, .status = status };

    memcpy(ev.text, text, len);
    while (send(c->sock, &ev, sizeof ev, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void pmix_report_text(const struct pmix_client *c, int kind, const char *text, size_t len)
{
    enum { PIECE = sizeof ((struct hrun_guard_event *)0)->text };

    for (size_t at = 0, n; at < len; at += n) {
        n = len - at < PIECE ? len - at : PIECE;
        pmix_report(c, kind, (int)n, text + at, n);
    }
}

static int answer_pipe[2] = { -1, -1 };

struct answer {
    pmix_op_cbfunc_t call;
    void *cbdata;
    pmix_status_t status;
};

void pmix_answer_later(pmix_op_cbfunc_t call, pmix_status_t status, void *cbdata)
{
    struct answer a = { call, cbdata, status };

    while (write(answer_pipe[1], &a, sizeof a) < 0 && errno == EINTR)
        ;
}

int pmix_answers(void)
{
    return answer_pipe[0];
}

void pmix_answer_now(void)
{
    struct answer a;

    if (read(answer_pipe[0], &a, sizeof a) == (ssize_t)sizeof a)
        a.call(a.status, a.cbdata);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pmix_client *c = object;

    (void)proc, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    if (c) {
        c->is_connected = 1;
        pmix_report(c, HRUN_GUARD_CONNECTED, 0, "", 0);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    struct pmix_client *c = object;

    (void)cbfunc, (void)cbdata;
    pmix_names_forget(proc);
    if (c) {
        c->is_connected = 0;
        pmix_report(c, HRUN_GUARD_FINALIZED, 0, "", 0);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                              pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)msg, (void)procs, (void)nprocs, (void)cbfunc, (void)cbdata;
    if (object)
        pmix_report(object, HRUN_GUARD_ABORT, status, "", 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, data, ndata, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

void pmix_add_info(struct pmix_infos *f, const char *key, const void *value, pmix_data_type_t type)
{
    hrun_grow(f->v, f->n + 1, f->cap);
    PMIX_INFO_CONSTRUCT(&f->v[f->n]);
    PMIX_INFO_LOAD(&f->v[f->n], key, value, type);
    f->n++;
}

static void add_u32(struct pmix_infos *f, const char *key, uint32_t value)
{
    pmix_add_info(f, key, &value, PMIX_UINT32);
}

static void add_rank_info(struct pmix_infos *f, const char *key, int rank)
{
    pmix_rank_t value = (pmix_rank_t)rank;

    pmix_add_info(f, key, &value, PMIX_PROC_RANK);
}

void pmix_infos_release(struct pmix_infos *f)
{
    for (size_t i = 0; i < f->n; i++)
        PMIX_INFO_DESTRUCT(&f->v[i]);
    free(f->v);
    f->v = NULL;
    f->n = f->cap = 0;
}

/* Add the rank's processors and its locality string, "hwloc:NM0:SK0:...". From two locality strings Open MPI computes
 * what two ranks share (caches, package, ...). Version 4 writes the string without "hwloc:", and reads both forms. */
static void add_place(struct pmix_infos *f, const struct hrun_guard_spec *spec, int rank)
{
    autofree char *text = hrun_strf("hwloc:%s", spec->cpusets[rank]);
    autofree char *locality = NULL;
    pmix_cpuset_t set;

    PMIX_CPUSET_CONSTRUCT(&set);
    if (PMIx_Parse_cpuset_string(text, &set) == PMIX_SUCCESS &&
        PMIx_server_generate_locality_string(&set, &locality) == PMIX_SUCCESS && locality) {
        pmix_add_info(f, PMIX_CPUSET, spec->cpusets[rank], PMIX_STRING);
        pmix_add_info(f, PMIX_LOCALITY_STRING, locality, PMIX_STRING);
    }
    PMIx_Cpuset_destruct(&set);
}

/* Add the data of one rank as an info of type array. */
static void add_rank_data(struct pmix_infos *job, const struct hrun_guard_spec *spec, int rank, const char *nsdir)
{
    autorelease(pmix_infos_release) struct pmix_infos f = { NULL, 0, 0 };
    uint16_t local = (uint16_t)rank;
    uint32_t zero = 0, app = spec->apps ? (uint32_t)spec->apps[rank] : 0;
    pmix_data_array_t array;
    char dir[4096 + 16];

    add_rank_info(&f, PMIX_RANK, rank);
    add_rank_info(&f, PMIX_GLOBAL_RANK, rank);
    add_rank_info(&f, PMIX_APP_RANK, rank);
    pmix_add_info(&f, PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    pmix_add_info(&f, PMIX_NODE_RANK, &local, PMIX_UINT16);
    pmix_add_info(&f, PMIX_APPNUM, &app, PMIX_UINT32);
    pmix_add_info(&f, PMIX_NODEID, &zero, PMIX_UINT32);
    pmix_add_info(&f, PMIX_HOSTNAME, pmix_host, PMIX_STRING);
    pmix_add_info(&f, PMIX_REINCARNATION, &zero, PMIX_UINT32);
    if (spec->topology && spec->cpusets[rank][0])
        add_place(&f, spec, rank);
    snprintf(dir, sizeof dir, "%s/%d", nsdir, rank);
    if (mkdir(dir, 0700) == 0)
        pmix_add_info(&f, PMIX_PROCDIR, dir, PMIX_STRING);
    array.type = PMIX_INFO;
    array.size = f.n;
    array.array = f.v;
    pmix_add_info(job, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);  /* copies */
}

static int register_job(const struct hrun_guard_spec *spec, const char *nspace, int first, struct hrun_error *err)
{
    autorelease(pmix_infos_release) struct pmix_infos f = { NULL, 0, 0 };
    autorelease(hrun_buf_release) struct hrun_buf peers = HRUN_BUF_INIT;     /* "0,1,2,...,n-1" */
    autofree char *regex = NULL, *ppn = NULL;
    char nsdir[4096];
    uint32_t n = (uint32_t)spec->nranks, apps = 1;
    bool yes = true;
    pmix_status_t rc;

    snprintf(nsdir, sizeof nsdir, "%s/job", spec->rundir);
    if (first)
        snprintf(nsdir, sizeof nsdir, "%s/job-%d", spec->rundir, first);
    if (mkdir(nsdir, 0700))
        return hrun_fail_errno(err, HRUN_EIO, "cannot create %s", nsdir);
    for (int r = 0; r < spec->nranks; r++)
        hrun_buf_addf(&peers, r ? ",%d" : "%d", r);
    rc = PMIx_generate_regex(pmix_host, &regex);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn(peers.data, &ppn);
    if (rc != PMIX_SUCCESS)
        return hrun_fail(err, HRUN_EENGINE, "PMIx cannot describe the job's ranks: %s", PMIx_Error_string(rc));
    pmix_add_info(&f, PMIX_NODE_MAP, regex, PMIX_REGEX);
    pmix_add_info(&f, PMIX_PROC_MAP, ppn, PMIX_REGEX);
    pmix_add_info(&f, PMIX_JOBID, nspace, PMIX_STRING);
    add_u32(&f, PMIX_UNIV_SIZE, (uint32_t)spec->universe);
    add_u32(&f, PMIX_MAX_PROCS, n);
    add_u32(&f, PMIX_JOB_SIZE, n);
    add_u32(&f, PMIX_APP_SIZE, n);
    add_u32(&f, PMIX_LOCAL_SIZE, n);
    add_u32(&f, PMIX_NODE_SIZE, n);
    add_u32(&f, PMIX_NUM_NODES, 1);
    for (int r = 0; spec->apps && r < spec->nranks; r++)
        apps = (uint32_t)spec->apps[r] >= apps ? (uint32_t)spec->apps[r] + 1 : apps;
    add_u32(&f, PMIX_JOB_NUM_APPS, apps);
    pmix_add_info(&f, PMIX_LOCAL_PEERS, peers.data, PMIX_STRING);
    add_rank_info(&f, PMIX_LOCALLDR, 0);
    add_rank_info(&f, PMIX_NPROC_OFFSET, 0);
    pmix_add_info(&f, PMIX_TMPDIR, spec->rundir, PMIX_STRING);
    pmix_add_info(&f, PMIX_NSDIR, nsdir, PMIX_STRING);
    pmix_add_info(&f, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
    if (spec->wdir)
        pmix_add_info(&f, PMIX_WDIR, spec->wdir, PMIX_STRING);
    for (int r = 0; r < spec->nranks; r++)
        add_rank_data(&f, spec, r, nsdir);
    rc = PMIx_server_register_nspace(nspace, spec->nranks, f.v, f.n, NULL, NULL);
    if (rc != PMIX_OPERATION_SUCCEEDED)
        return hrun_fail(err, HRUN_EENGINE, "PMIx refuses the job: %s", PMIx_Error_string(rc));
    return 0;
}

/* Find the server's address in a client's variables: "PMIX_SERVER_URI...=NAME.RANK;tcp4://ADDRESS:PORT". */
static int server_address(char *const *env, struct sockaddr_in *out)
{
    static const char name[] = "PMIX_SERVER_URI", scheme[] = ";tcp4://";

    for (; env && *env; env++) {
        const char *at = strncmp(*env, name, sizeof name - 1) ? NULL : strstr(*env, scheme);
        char host[INET_ADDRSTRLEN];
        unsigned short port;

        memset(out, 0, sizeof *out);
        out->sin_family = AF_INET;
        if (at && sscanf(at + sizeof scheme - 1, "%15[0-9.]:%hu", host, &port) == 2 &&
            inet_pton(AF_INET, host, &out->sin_addr) == 1) {
            out->sin_port = htons(port);
            return 0;
        }
    }
    return -1;
}

/* Check that the server accepts connections: it closes a connection whose other end is shut down. A server whose
 * address server_address does not find is not checked. */
static int check_answers(char *const *env, struct hrun_error *err)
{
    struct sockaddr_in address;
    struct pollfd p = { -1, POLLIN, 0 };
    int answers;

    if (server_address(env, &address))
        return 0;
    p.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    answers = p.fd >= 0 && connect(p.fd, (struct sockaddr *)&address, sizeof address) == 0 &&
              shutdown(p.fd, SHUT_WR) == 0 && poll(&p, 1, ANSWER_TIMEOUT_MS) == 1;
    if (p.fd >= 0)
        close(p.fd);
    return answers ? 0 : hrun_fail(err, HRUN_EENGINE, "the PMIx server of the job does not serve its processes: "
                                   HRUN_GUARD_HINT);
}

/* Register the clients and send each one's environment, each entry ended by NUL. */
static int register_clients(const struct hrun_guard_spec *spec, const char *nspace, struct pmix_client *clients,
                            int is_further, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    pmix_proc_t proc;
    pmix_status_t rc;

    for (int r = 0; r < spec->nranks; r++) {
        char **env = NULL;
        int is_served;

        PMIX_LOAD_PROCID(&proc, nspace, (pmix_rank_t)r);
        rc = PMIx_server_register_client(&proc, getuid(), getgid(), &clients[r], NULL, NULL);
        if (rc == PMIX_OPERATION_SUCCEEDED)
            rc = PMIx_server_setup_fork(&proc, &env);
        if (rc != PMIX_SUCCESS)
            return hrun_fail(err, HRUN_EENGINE, "PMIx refuses rank %d: %s", r, PMIx_Error_string(rc));
        is_served = r > 0 || !check_answers(env, err);
        hrun_buf_reset(&b);
        for (char **e = env; e && *e; e++) {
            hrun_buf_add(&b, *e, strlen(*e) + 1);
            free(*e);
        }
        free(env);
        if (!is_served)
            return -1;
        if (is_further)
            pmix_report_text(&clients[r], HRUN_GUARD_ENV, b.data, b.len);
        else if (send(clients[r].sock, b.data, b.len, MSG_NOSIGNAL) < 0)
            return hrun_fail_errno(err, HRUN_EENGINE, "cannot send the environment of rank %d", r);
    }
    return 0;
}

/* Settings of PMIx and hwloc, in the environment of this process only. */
static void set_environment(const struct hrun_guard_spec *spec)
{
    setenv("PMIX_MCA_gds", "hash", 0);         /* so that no shared memory files are left behind */
    setenv("PMIX_MCA_pcompress", "^zlib", 0);  /* no data here is large */
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);  /* saves 2 ms: plugins are not needed */
    setenv("HOME", spec->rundir, 0);           /* PMIx crashes without a home folder */
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    if (spec->topology) {
        setenv("HWLOC_XMLFILE", spec->topology, 1);
        setenv("HWLOC_THISSYSTEM", "1", 1);
    } else {
        setenv("HWLOC_SYNTHETIC", "pu:1", 1);
    }
}

struct pmix_job *pmix_add_job(const struct hrun_guard_spec *spec, int sock, int first, struct hrun_error *err)
{
    struct pmix_job *job = xcalloc(1, sizeof *job);
    unsigned long long secret[2];

    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret) {
        hrun_fail_errno(err, HRUN_EIO, "cannot get random bits for the job's namespace");
        return NULL;
    }
    snprintf(job->nspace, sizeof job->nspace, "hrun-%016llx%016llx", secret[0], secret[1]);
    job->clients = xcalloc((size_t)spec->nranks, sizeof *job->clients);
    job->nranks = spec->nranks;
    for (int r = 0; r < spec->nranks; r++) {
        job->clients[r].sock = sock;
        job->clients[r].rank = first + r;
    }
    if (register_job(spec, job->nspace, first, err) ||
        register_clients(spec, job->nspace, job->clients, first > 0, err))
        return NULL;    /* PMIx may still use the clients */
    job->next = pmix_jobs;
    pmix_jobs = job;
    return job;
}

void pmix_started(int first, const pid_t *pids, size_t n)
{
    for (struct pmix_job *job = pmix_jobs; job; job = job->next)
        for (int r = 0; r < job->nranks; r++)
            if (job->clients[r].rank >= first && (size_t)(job->clients[r].rank - first) < n)
                job->clients[r].pid = pids[job->clients[r].rank - first];
    if (first)
        pmix_spawn_started();
}

int hrun_pmix_serve(const struct hrun_guard_spec *spec, int sock, struct hrun_error *err)
{
    pmix_server_module_t module;
    autorelease(pmix_infos_release) struct pmix_infos f = { NULL, 0, 0 };
    pmix_status_t rc;

    set_environment(spec);
    gethostname(pmix_host, sizeof pmix_host - 1);
    if (pmix_names_timer() < 0 || pipe2(answer_pipe, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    memset(&module, 0, sizeof module);
    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.publish = pmix_publish;
    module.lookup = pmix_lookup;
    module.unpublish = pmix_unpublish;
    module.query = pmix_query;
    module.log = pmix_log;
    module.spawn = pmix_spawn;
    module.connect = pmix_connect;
    pmix_add_info(&f, PMIX_SERVER_TMPDIR, spec->rundir, PMIX_STRING);
    pmix_add_info(&f, PMIX_SYSTEM_TMPDIR, spec->rundir, PMIX_STRING);
    rc = PMIx_server_init(&module, f.v, f.n);
    if (rc != PMIX_SUCCESS)
        return hrun_fail(err, HRUN_EENGINE, "the PMIx server of the job does not start (%s): " HRUN_GUARD_HINT,
                         PMIx_Error_string(rc));
    return pmix_add_job(spec, sock, 0, err) ? 0 : -1;
}
