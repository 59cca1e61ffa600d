/* pmix.h - what the PMIx server of a job answers beside fences, in the guard's process; private to pmix*.c
 *
 * Invariants: PMIx calls these functions on its own thread, one at a time. Unless said otherwise an answer may be given
 * before the function returns.
 */
#ifndef HRUN_LAUNCH_PMIX_H
#define HRUN_LAUNCH_PMIX_H

#include "launch/guard.h"

#include <pmix_server.h>

#include <pthread.h>
#include <sys/types.h>

/* ---- pmix.c */

/* A process that PMIx serves, as it hands it back with each callback. */
struct pmix_client {
    int sock, rank;                 /* rank: of all that hrun has started */
    _Atomic pid_t pid;              /* 0: not started */
    int is_connected;
};

/* A namespace. */
struct pmix_job {
    struct pmix_job *next;
    char nspace[PMIX_MAX_NSLEN + 1];
    struct pmix_client *clients;
    int nranks;
    char *port;                     /* at which Open MPI waits for it; NULL: it does not */
    pmix_proc_t parent;             /* who has asked for it */
};

extern struct pmix_job *_Atomic pmix_jobs;  /* to which the guard's own thread adds in front */
extern char pmix_host[];                /* by what name the job knows its host */

/* NULL: there is none of that name. */
struct pmix_job *pmix_find_job(const char *nspace);

/* Make a namespace of processes, the first of which has that number of all that hrun starts. Each one's environment is
 * sent as a packet, or, of further ones (first > 0), as HRUN_GUARD_ENV. */
struct pmix_job *pmix_add_job(const struct hrun_guard_spec *spec, int sock, int first, struct hrun_error *err);
/* Processes of these numbers have been started. */
void pmix_started(int first, const pid_t *pids, size_t n);

/* Tell hrun. text: what fits into struct hrun_guard_event. */
void pmix_report(const struct pmix_client *c, int kind, int status, const char *text, size_t len);

/* The same of any length, in pieces with their lengths as status. */
void pmix_report_text(const struct pmix_client *c, int kind, const char *text, size_t len);

/* Answer by the guard's own thread, which calls pmix_answer_now when pmix_answers() can be read. */
void pmix_answer_later(pmix_op_cbfunc_t answer, pmix_status_t status, void *cbdata);
int pmix_answers(void);
void pmix_answer_now(void);

/* A list of infos that grows; PMIx wants arrays. */
struct pmix_infos {
    pmix_info_t *v;
    size_t n, cap;
};
void pmix_add_info(struct pmix_infos *f, const char *key, const void *value, pmix_data_type_t type);
void pmix_infos_release(struct pmix_infos *f);

/* ---- pmix_query.c: questions about the job, and words for the user */

/* Answers at once: PMIX_ERR_NOT_FOUND where nothing is known, PMIX_ERR_PARTIAL_SUCCESS where some keys are not. */
pmix_status_t pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t answer, void *cbdata);
/* PMIX_LOG_STDOUT and _STDERR are written as if the process did it. PMIx, which calls it for itself too, holds a lock
 * that the answer takes. */
void pmix_log(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
              size_t ndirectives, pmix_op_cbfunc_t answer, void *cbdata);

/* ---- pmix_names.c: what processes publish for each other */

/* As mpirun, a key may be published again: the first one counts. */
pmix_status_t pmix_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t answer,
                           void *cbdata);
/* With PMIX_WAIT it is answered when all keys (or as many as the user asks for) are published. */
pmix_status_t pmix_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                          pmix_lookup_cbfunc_t answer, void *cbdata);
/* A process removes what it has published itself; as with mpirun there need be no such key. */
pmix_status_t pmix_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t answer, void *cbdata);
/* The process has ended, and so does what was to be kept that long. */
void pmix_names_forget(const pmix_proc_t *proc);
/* Can be read when pmix_names_tick, which any thread may call, has lookups to end that have waited too long. */
int pmix_names_timer(void);
void pmix_names_tick(void);

/* ---- pmix_spawn.c: further processes, which hrun starts */

/* Ask hrun, one request after the other. Where Open MPI 4 waits for the new processes to connect, and they are not
 * started or end before they do, all ranks that take part are told, not only the one that asks: see pmix_connect. */
pmix_status_t pmix_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[],
                         size_t napps, pmix_spawn_cbfunc_t answer, void *cbdata);
/* Of processes that are all of the job: PMIx itself connects them. */
pmix_status_t pmix_connect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t answer, void *cbdata);
/* hrun has decided, by words of local_spawn.c: serve these processes; or, without any, none; or, with the number of the
 * first one alone: these have ended, and none has connected to PMIx. On the guard's thread. */
void pmix_spawn_serve(const struct hrun_guard_spec *spec, int sock, const char *words, size_t len);
/* The processes that were served last have been started. */
void pmix_spawn_started(void);

#endif
