/* spawn.h - starting processes bound to their PEs
 *
 * Invariants: nothing but async-signal-safe calls between fork and exec; the calling thread's binding is as
 * before afterwards; on failure no started process remains.
 */
#ifndef HRUN_LAUNCH_SPAWN_H
#define HRUN_LAUNCH_SPAWN_H

#include "base/error.h"
#include "cluster/topo.h"

#include <signal.h>
#include <sys/types.h>

struct hrun_spawn {
    sigset_t mask;               /* signal mask of the process */
    struct sigaction sigchld;    /* its disposition of SIGCHLD */
    int death_signal;            /* sent to the process by the kernel when hrun dies */
    unsigned long mark;          /* of the job, 0: none */
    int sessions;                /* 1: a process that leads a group leads a session, too */
    int ignore_ttou;             /* 1: a process in a group of its own may write to a tostop terminal */
    const struct hrun_topo *topo; /* NULL: nothing is bound */
};

struct hrun_spawn_one {
    const char *program;         /* path, absolute if wdir is set */
    char *const *argv;
    char *const *env;
    const char *wdir;            /* NULL: the present folder */
    const char *cpuset;          /* OS numbers; NULL or "": unbound */
    int fds[3];                  /* standard input, output, error; -1: inherited */
    int keep_fd;                 /* one more descriptor that it inherits under its number; 0: none */
    int own_group;               /* 1: it leads a process group, so one signal reaches all it starts */
};

/* Start n processes; pids[n] is filled. Errors: HRUN_ENOPROG, HRUN_ENOEXEC (exec refused), HRUN_EIO, those of
 * hrun_topo_bind. */
int hrun_spawn(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int n, pid_t *pids,
               struct hrun_error *err);

/* A descriptor from which text can be read, close-on-exec. -1 with HRUN_EIO. */
int hrun_text_fd(const char *text, struct hrun_error *err);

#endif
