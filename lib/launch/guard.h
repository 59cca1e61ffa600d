/* guard.h - the helper process of a job: PMIx server, and cleaner if hrun is killed
 *
 * Purpose: PMIx 4 aborts if it is initialised twice in one process, and it starts threads, which a library must not do
 * in its caller. A SIGKILL of hrun must leave nothing behind. So hrun forks one guard process for each job, before the
 * ranks and in its own session. The guard
 *   - is the job's PMIx server, or PMI-1 server (engine local), and reports events of the ranks;
 *   - detects hrun's death: if the socket closes without a farewell, it ends all processes of the job (procs.h) and
 *     removes the job's folders.
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
    unsigned long mark;          /* the mark that the processes inherit (procs.h); 0: none */
    char *rundir, *shmdir;       /* folders of the job; either may be NULL */
    const char *scratch;         /* a further folder to remove, or NULL */
    int grace_ms;                /* after hrun's death: time from SIGTERM to SIGKILL */
    int mpich;                   /* 1: serve PMI-1, and remove MPICH's shared memory, too */
    time_t since;                /* when the job began */
    int nranks;                  /* 0: no ranks are served */
    const struct hrun_layout *layout;   /* for PMI-1; the members below, except apps, are for PMIx */
    const char *const *cpusets;  /* per rank, OS numbers, "" for unbound */
    const char *topology;        /* file with the host's topology as hwloc XML; NULL: cpusets are not used */
    const char *wdir;
    const int *apps;             /* per rank, MPI's number of its program (MPI_APPNUM); NULL: all 0 */
    int universe;                /* largest number of processes of the job, spawned ones included */
};

/* Events of a rank. _ABORT: status is the exit status. _REFUSED: text is the fault, as in "rank 3 TEXT". _OUT and _ERR:
 * text is status bytes to write to standard output or error as if the rank wrote it. */
enum hrun_guard_kind {
    HRUN_GUARD_CONNECTED = 1, HRUN_GUARD_FINALIZED, HRUN_GUARD_ABORT, HRUN_GUARD_REFUSED,
    HRUN_GUARD_OUT, HRUN_GUARD_ERR,
    /* Spawned processes (MPI_Comm_spawn). Words come in several events with status bytes each; status 0 is the end. */
    HRUN_GUARD_SPAWN,            /* rank requests new processes: words */
    HRUN_GUARD_ENV,              /* variables "NAME=VALUE" for the new process `rank`: words */
    HRUN_GUARD_READY,            /* the server accepts the new processes */
    HRUN_GUARD_UNREADY           /* the server does not accept them; text: why */
};
struct hrun_guard_event {
    int kind, rank, status;
    char text[200];
};

/* The likely reasons why the server does not start, for messages. */
#define HRUN_GUARD_HINT "is too little memory allowed (ulimit -v), or too few processes (ulimit -u)?"

/* Start the guard; call hrun_guard_stop also on failure. PMIx: waits until the server is ready, and appends the
 * variables "NAME=VALUE" of rank r to env[r] (nranks empty lists). PMI-1: sets fds[r] to the connection of rank r,
 * which the caller closes. The array of the other server may be NULL. Errors: HRUN_EENGINE, HRUN_EIO. */
int hrun_guard_start(const struct hrun_guard_spec *spec, struct hrun_strvec *env, int *fds, struct hrun_guard *g,
                     struct hrun_error *err);
/* Register processes number first, first + 1, ... with the guard. If hrun is killed, the guard ends their groups. */
void hrun_guard_tell(struct hrun_guard *g, int first, const pid_t *pids, int n);
/* Answer a request to spawn processes. words (frames.h): number of the first process, their count, working folder or
 * "", and for each process its cpuset and the number of its program. Events HRUN_GUARD_ENV for each process and _READY
 * follow, or _UNREADY. No words: refuses the request. The first number alone: the processes of an earlier request have
 * ended without calling MPI_Init. Errors: HRUN_EINVAL (too many words). */
int hrun_guard_serve(struct hrun_guard *g, const struct hrun_buf *words, struct hrun_error *err);
/* Take the next event without waiting. 1: *ev is set; 0: there is none now; -1: the guard is gone. */
int hrun_guard_event(struct hrun_guard *g, struct hrun_guard_event *ev);
/* End the guard without cleaning. Harmless if it was never started. */
void hrun_guard_stop(struct hrun_guard *g);

/* In pmix.c, for the guard's process: serve the job. Sends one packet per rank through sock with its environment (each
 * entry ended by NUL), then events. 0, or -1 with *err. */
int hrun_pmix_serve(const struct hrun_guard_spec *spec, int sock, struct hrun_error *err);

#endif
