/* pmix.h - what the PMIx server of a job answers beside fences, in the guard's process; private to pmix*.c
 *
 * Invariants: PMIx calls these functions on its own thread, one at a time. An answer may be given before the function
 * returns.
 */
#ifndef HRUN_LAUNCH_PMIX_H
#define HRUN_LAUNCH_PMIX_H

#include <pmix_server.h>

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
