/* spawn.h - starting processes bound to their PEs
 *
 * The calling thread binds itself before each fork, so that the child inherits the binding.
 * Invariants: only async-signal-safe calls between fork and exec; the calling thread gets its earlier binding back; on
 * failure no started process remains.
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
    unsigned long mark;          /* the job's mark (procs.h), 0: none */
    int sessions;                /* 1: a process that leads a group leads a session, too */
    int ignore_ttou;             /* 1: a process in its own group may write to a tostop terminal */
    const struct hrun_topo *topo; /* NULL: nothing is bound */
};

enum hrun_spawn_fd { HRUN_SPAWN_INHERIT = -1, HRUN_SPAWN_NULL = -2 /* /dev/null */ };

struct hrun_spawn_one {
    const char *program;         /* path, absolute if wdir is set */
    char *const *argv;
    char *const *env;
    const char *wdir;            /* NULL: the current folder */
    const char *cpuset;          /* OS numbers; NULL or "": unbound */
    int fds[3];                  /* standard input, output, error: above 2, or a value of enum hrun_spawn_fd */
    int keep_fd;                 /* one more descriptor that it inherits with this number; 0: none */
    int own_group;               /* 1: it leads a process group, so one signal reaches all its children */
};

/* Start n processes; pids[n] is filled. Errors: HRUN_ENOPROG, HRUN_ENOEXEC (exec refused), HRUN_EIO, those of
 * hrun_topo_bind. */
int hrun_spawn(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int n, pid_t *pids,
               struct hrun_error *err);

/* A close-on-exec descriptor from which the text can be read; the caller closes it. -1 with HRUN_EIO. */
int hrun_text_fd(const char *text, struct hrun_error *err);

#endif
