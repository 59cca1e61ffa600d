/* guard.h - the helper process of a job: PMIx server, and cleaner should hrun be killed
 *
 * Purpose: PMIx 4 cannot be initialised a second time in one process (it aborts), its threads have no place
 * in a library, and SIGKILL of hrun must leave nothing. So each job has a process of its own, forked before
 * the ranks, in its own session, that
 *   - is the job's PMIx server, or PMI-1 server (engine local), and reports what the ranks do;
 *   - waits for hrun's end: if the socket closes without a farewell hrun was killed, and it ends all
 *     processes of the job (procs.h) and removes its folders.
 * Invariants: no thread is started in the calling process; hrun_guard_stop leaves no process.
 */
#ifndef HRUN_LAUNCH_GUARD_H
#define HRUN_LAUNCH_GUARD_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>
#include <time.h>

struct hrun_guard {
    pid_t pid;
    int sock;                    /* SOCK_SEQPACKET; poll it for events */
};

#define HRUN_GUARD_INIT { -1, -1 }

struct hrun_guard_spec {
    const char *job_id;          /* value of HRUN_JOB in the processes' environment */
    unsigned long mark;          /* that they inherit, 0: none */
    char *rundir, *shmdir;       /* folders of the job; either may be NULL */
    const char *scratch;         /* a folder of the caller's, or NULL */
    int grace_ms;                /* after hrun's death: how long the processes may take to end */
    int mpich;                   /* 1: the programs are of MPICH's family, whose shared memory is removed, too */
    time_t since;                /* when the job began */
    int nranks;                  /* 0: no ranks are served */
    const struct hrun_layout *layout;   /* for PMI-1, which MPICH gets; the rest is for PMIx */
    const char *const *cpusets;  /* per rank, OS numbers, "" for unbound */
    const char *topology;        /* file with the host's topology as hwloc XML; NULL: cpusets are not used */
    const char *wdir;
    const int *apps;             /* per rank, MPI's number of its program (MPI_APPNUM); NULL: all 0 */
    int universe;                /* how many processes the job may have with those that it spawns */
};

/* What a rank did. An abort carries the status that the rank gave, a refusal what is wrong: "rank 3 TEXT"; _OUT and
 * _ERR what is to be written for it, status bytes of text. */
enum hrun_guard_kind {
    HRUN_GUARD_CONNECTED = 1, HRUN_GUARD_FINALIZED, HRUN_GUARD_ABORT, HRUN_GUARD_REFUSED,
    HRUN_GUARD_OUT, HRUN_GUARD_ERR,
    /* Of further processes (MPI_Comm_spawn). Text comes in pieces of status bytes; one without text ends it. */
    HRUN_GUARD_SPAWN,            /* rank asks for them: words */
    HRUN_GUARD_ENV,              /* rank, one of them, needs these variables "NAME=VALUE": words */
    HRUN_GUARD_READY,            /* they are served */
    HRUN_GUARD_UNREADY           /* they are not; text: why */
};
struct hrun_guard_event {
    int kind, rank, status;
    char text[200];
};

/* What keeps the server from starting, for messages. */
#define HRUN_GUARD_HINT "is too little memory allowed (ulimit -v), or too few processes (ulimit -u)?"

/* Start. With nranks > 0 waits until the server is ready, and sets, for PMIx, env[r] (nranks empty lists) to the
 * variables "NAME=VALUE" that rank r needs; for PMI fds[r] to its connection, which the caller closes. What is not
 * served may be NULL. Errors: HRUN_EENGINE, HRUN_EIO; no process is left. */
int hrun_guard_start(const struct hrun_guard_spec *spec, struct hrun_strvec *env, int *fds, struct hrun_guard *g,
                     struct hrun_error *err);
/* Tell it the processes first, first + 1, ... Should hrun be killed it ends their groups. */
void hrun_guard_tell(struct hrun_guard *g, int first, const pid_t *pids, int n);
/* Answer the request for further processes by words (frames.h): number of the first one, how many, working folder or
 * "", and of each its cpuset and the number of its program. HRUN_GUARD_ENV of each and _READY follow, or _UNREADY.
 * No words: the request is refused. The number of the first one alone: processes of an earlier request have ended, and
 * none has called MPI_Init. Errors: HRUN_EINVAL (too many words). */
int hrun_guard_serve(struct hrun_guard *g, const struct hrun_buf *words, struct hrun_error *err);
/* Take the next event without waiting. 1: *ev holds one, 0: none now, -1: the guard is gone. */
int hrun_guard_event(struct hrun_guard *g, struct hrun_guard_event *ev);
/* End it, without cleaning. Harmless when it was never started. */
void hrun_guard_stop(struct hrun_guard *g);

/* pmix.c, in the guard's process: serve the job; sock gets a packet of environment text per rank (each entry
 * ended by NUL), then events. Result 0, or -1 with *err. */
int hrun_pmix_serve(const struct hrun_guard_spec *spec, int sock, struct hrun_error *err);

#endif
