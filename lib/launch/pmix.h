/* pmix.h - the PMIx server of a job, in the guard's process; private to pmix*.c
 *
 * Invariants: PMIx calls its callbacks (query, log, publish, lookup, unpublish, spawn, connect) on its own thread, one
 * at a time. A callback may answer before it returns, unless stated otherwise.
 */
#ifndef HRUN_LAUNCH_PMIX_H
#define HRUN_LAUNCH_PMIX_H

#include "launch/guard.h"

#include <pmix_server.h>

#include <pthread.h>
#include <sys/types.h>

/* ---- pmix.c */

/* A process that PMIx serves: the object that PMIx passes to each callback. */
struct pmix_client {
    int sock, rank;                 /* rank: number among all processes that hrun has started */
    _Atomic pid_t pid;              /* 0: not started */
    int is_connected;
};

/* A namespace. */
struct pmix_job {
    struct pmix_job *next;
    char nspace[PMIX_MAX_NSLEN + 1];
    struct pmix_client *clients;
    int nranks;
    char *port;                     /* port where the parents wait for its processes (Open MPI 4); NULL: none waits */
    pmix_proc_t parent;             /* the process that has spawned it */
};

extern struct pmix_job *_Atomic pmix_jobs;  /* list; the guard's own thread prepends */
extern char pmix_host[];                /* name of this host within the job */

/* The namespace with that name, or NULL. */
struct pmix_job *pmix_find_job(const char *nspace);

/* Add a namespace of processes. first: number of the first one among all processes that hrun starts. Sends each one's
 * environment as a packet, or, for spawned processes (first > 0), as HRUN_GUARD_ENV. */
struct pmix_job *pmix_add_job(const struct hrun_guard_spec *spec, int sock, int first, struct hrun_error *err);
/* Set the pids of processes first, first + 1, ... */
void pmix_started(int first, const pid_t *pids, size_t n);

/* Send an event to hrun. text must fit into struct hrun_guard_event. */
void pmix_report(const struct pmix_client *c, int kind, int status, const char *text, size_t len);

/* As pmix_report, for text of any length: in events whose status is the length of their piece. */
void pmix_report_text(const struct pmix_client *c, int kind, const char *text, size_t len);

/* Queue an answer for the guard's own thread. It calls pmix_answer_now when descriptor pmix_answers() is readable. */
void pmix_answer_later(pmix_op_cbfunc_t answer, pmix_status_t status, void *cbdata);
int pmix_answers(void);
void pmix_answer_now(void);

/* A list of infos that grows; PMIx needs arrays. */
struct pmix_infos {
    pmix_info_t *v;
    size_t n, cap;
};
void pmix_add_info(struct pmix_infos *f, const char *key, const void *value, pmix_data_type_t type);
void pmix_infos_release(struct pmix_infos *f);

/* ---- pmix_query.c: queries about the job, and output for the user */

/* Answers at once: PMIX_ERR_NOT_FOUND if no key is known, PMIX_ERR_PARTIAL_SUCCESS if some are. */
pmix_status_t pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t answer, void *cbdata);
/* Writes PMIX_LOG_STDOUT and _STDERR as output of the process. Answers later, because the answer needs a lock that PMIx
 * keeps during the call. */
void pmix_log(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
              size_t ndirectives, pmix_op_cbfunc_t answer, void *cbdata);

/* ---- pmix_names.c: publish, lookup and unpublish */

/* A key may be published again, as with mpirun; the first one counts. */
pmix_status_t pmix_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t answer,
                           void *cbdata);
/* With PMIX_WAIT, answers when all keys, or the number that the user requests, are published. */
pmix_status_t pmix_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                          pmix_lookup_cbfunc_t answer, void *cbdata);
/* Removes keys that the process itself has published. An unknown key is no error, as with mpirun. */
pmix_status_t pmix_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t answer, void *cbdata);
/* Remove what an ended process has published with the persistence of a process. */
void pmix_names_forget(const pmix_proc_t *proc);
/* A descriptor that is readable when lookups have timed out; pmix_names_tick, on any thread, ends these. */
int pmix_names_timer(void);
void pmix_names_tick(void);

/* ---- pmix_spawn.c: further processes of the job */

/* Queues the request and sends requests to hrun one at a time. If Open MPI 4 waits at a port for new processes that are
 * not started, or that end before they connect, the ranks that wait there get a member that does not exist, so that
 * pmix_connect fails on all of them. */
pmix_status_t pmix_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[],
                         size_t napps, pmix_spawn_cbfunc_t answer, void *cbdata);
/* Succeeds if all processes are in namespaces of the job: PMIx itself connects them. Else refuses. */
pmix_status_t pmix_connect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t answer, void *cbdata);
/* Handle hrun's answer, words from local_spawn.c as hrun_guard_serve describes them. On the guard's thread. */
void pmix_spawn_serve(const struct hrun_guard_spec *spec, int sock, const char *words, size_t len);
/* Answer the request whose processes have been started. */
void pmix_spawn_started(void);

#endif
