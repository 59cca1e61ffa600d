/* guard.h - the helper process of a job: PMIx server, and cleaner should hrun be killed (internal)
 *
 * Purpose: PMIx 4 cannot be initialised a second time in one process (it aborts), its threads have no place
 * in a library, and SIGKILL of hrun must leave nothing. So each job has a process of its own, forked before
 * the ranks, in its own session, that
 *   - is the job's PMIx server (engine local), and reports what the ranks do;
 *   - waits for hrun's end: if the socket closes without a farewell hrun was killed, and it ends all
 *     processes of the job (see procs.h) and removes the job's
 *     folders.
 * Invariants: no thread is started in the calling process; hrun_guard_stop leaves no process.
 */
#ifndef HRUN_LAUNCH_GUARD_H
#define HRUN_LAUNCH_GUARD_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>

struct hrun_guard {
    pid_t pid;
    int sock;                    /* SOCK_SEQPACKET; poll it for events */
};

#define HRUN_GUARD_INIT { -1, -1 }

struct hrun_guard_spec {
    const char *job_id;          /* value of HRUN_JOB in the processes' environment */
    int mark;                    /* descriptor of the memory file that they inherit, above 2; 0: none */
    const char *rundir, *shmdir; /* folders of the job, either may be NULL */
    const char *scratch;         /* that of the caller's, or NULL */
    int grace_ms;                /* after hrun's death: how long the processes may take to end */
    /* PMIx: */
    int nranks;                  /* 0: no PMIx server */
    const char *const *cpusets;  /* per rank, OS numbers, "" for unbound */
    const char *topology;        /* file with the host's topology as hwloc XML; NULL: cpusets are not used */
    const char *wdir;
};

/* What a rank did. An abort carries the status that the rank gave. */
enum hrun_guard_kind { HRUN_GUARD_CONNECTED = 1, HRUN_GUARD_FINALIZED, HRUN_GUARD_ABORT };
struct hrun_guard_event {
    int kind, rank, status;
};

/* What keeps the server from starting, for messages. */
#define HRUN_GUARD_HINT "is too little memory allowed (ulimit -v), or too few processes (ulimit -u)?"

/* Start. With nranks > 0 waits until the server is ready, and sets env[r] (nranks empty lists) to the
 * variables "NAME=VALUE" that rank r needs. Errors: HRUN_EENGINE, HRUN_EIO, HRUN_ENOMEM; no process is
 * left. */
int hrun_guard_start(const struct hrun_guard_spec *spec, struct hrun_strvec *env, struct hrun_guard *g,
                     struct hrun_error *err);
/* Tell it the process groups that it ends should hrun be killed. */
void hrun_guard_tell(struct hrun_guard *g, const pid_t *groups, int n);
/* Take the next event without waiting. 1: *ev holds one, 0: none now, -1: the guard is gone. */
int hrun_guard_event(struct hrun_guard *g, struct hrun_guard_event *ev);
/* End it, without cleaning. Harmless when it was never started. */
void hrun_guard_stop(struct hrun_guard *g);

/* pmix.c, in the guard's process: serve the job; sock gets a packet of environment text per rank (each entry
 * ended by NUL), then events. Result 0, or -1 with *err. */
int hrun_pmix_serve(const struct hrun_guard_spec *spec, int sock, struct hrun_error *err);

#endif
