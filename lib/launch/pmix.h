/* pmix.h - what the PMIx server of a job answers beside fences, in the guard's process; private to pmix*.c
 *
 * Invariants: PMIx calls these functions on its own thread, one at a time. Unless said otherwise an answer may be given
 * before the function returns.
 */
#ifndef HRUN_LAUNCH_PMIX_H
#define HRUN_LAUNCH_PMIX_H

#include <pmix_server.h>

#include <pthread.h>
#include <sys/types.h>

/* ---- pmix.c */

/* A process that PMIx serves, as it hands it back with each callback. */
struct pmix_client {
    int sock, rank;                 /* rank: of all that hrun has started */
    pid_t pid;                      /* 0: not started */
    int is_connected;
};

/* A namespace. */
struct pmix_job {
    struct pmix_job *next;
    char nspace[PMIX_MAX_NSLEN + 1];
    struct pmix_client *clients;
    int nranks;
};

extern struct pmix_job *pmix_jobs;
extern pthread_mutex_t pmix_jobs_lock;  /* of pids and the list, which the guard's own thread writes */
extern char pmix_host[];                /* by what name the job knows its host */

/* NULL: there is none of that name. */
struct pmix_job *pmix_find_job(const char *nspace);

/* Processes of these numbers have been started. */
void pmix_started(int first, const pid_t *pids, size_t n);

/* Tell hrun. text: as much as fits, with its length as status where kind is about a text. */
void pmix_report(const struct pmix_client *c, int kind, int status, const char *text, size_t len);

/* Answer by the guard's own thread, which calls pmix_answer_now when pmix_answers() can be read. */
void pmix_answer_later(pmix_op_cbfunc_t answer, pmix_status_t status, void *cbdata);
int pmix_answers(void);
void pmix_answer_now(void);

/* A list of infos that grows; PMIx wants arrays. */
struct pmix_infos {
    pmix_info_t *v;
    size_t n, cap;
    int failed;
};
void pmix_add_info(struct pmix_infos *f, const char *key, const void *value, pmix_data_type_t type);
void pmix_infos_release(struct pmix_infos *f);

/* ---- pmix_query.c: questions about the job, and words for the user */

/* Answers at once: PMIX_ERR_NOT_FOUND where nothing is known, PMIX_ERR_PARTIAL_SUCCESS where some keys are not. */
pmix_status_t pmix_query(pmix_proc_t *proc, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t answer, void *cbdata);
/* PMIX_LOG_STDOUT and _STDERR are written as if the process did it. PMIx holds a lock that the answer takes, and calls it
 * for itself as well. */
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

#endif
