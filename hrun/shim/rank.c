/* rank.c - in front of a rank: bind, report, execute the program; see shim.h */
#include "shim.h"

#include "base/alloc.h"
#include "base/list.h"
#include "launch/env.h"
#include "launch/notes.h"
#include "launch/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* CPUs of the largest affinity mask; Linux is built for 8192 at most. */
enum { CPUS_MAX = 16384 };

/* This process's rank, from the launchers' variables. */
static int own_rank(void)
{
    static const char *const names[] = { "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID" };
    const char *value;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((value = getenv(names[i])) && *value)
            return (int)strtol(value, NULL, 10);
    return -1;
}

/* "0-3,8" -> a set; it may be empty, and may end with a comma. -1: not a list. */
static int parse_set(const char *list, cpu_set_t *set, size_t size)
{
    long first, last;

    CPU_ZERO_S(size, set);
    for (const char *p = list; *p; p += *p == ',') {
        p = hrun_range_next(p, CPUS_MAX - 1, &first, &last);
        if (!p || (*p && *p != ','))
            return -1;
        for (long i = first; i <= last; i++)
            CPU_SET_S((size_t)i, size, set);
    }
    return 0;
}

/* Bind, if bind = 1; then compare the affinity with the plan. 0, or -1 after a message. */
static int bind_rank(int rank, const char *list, int bind, int report)
{
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *wanted = CPU_ALLOC(CPUS_MAX), *real = CPU_ALLOC(CPUS_MAX);
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = -1;

    if (!wanted || !real || parse_set(list, wanted, size)) {
        shim_say("rank %d: %s is no list of CPUs", rank, list);
        goto done;
    }
    if (bind && sched_setaffinity(0, size, wanted)) {
        shim_say("rank %d cannot be bound to PUs %s: %s", rank, list, strerror(errno));
        goto done;
    }
    CPU_ZERO_S(size, real);
    if (sched_getaffinity(0, size, real)) {
        shim_say("rank %d: its affinity cannot be read: %s", rank, strerror(errno));
        goto done;
    }
    for (int i = 0; i < CPUS_MAX; i++) {
        int first = i;

        while (i < CPUS_MAX && CPU_ISSET_S(i, size, real))
            i++;
        if (i > first)
            hrun_range_add(&text, 0, first, i - 1);
    }
    if (!CPU_EQUAL_S(size, wanted, real)) {
        shim_say("rank %d is bound to PUs %s and not, as planned, to %s", rank, text.data, list);
        goto done;
    }
    if (report)
        shim_say("rank %d is bound to PUs %s, as planned", rank, text.data);
    rc = 0;
done:
    CPU_FREE(wanted);
    CPU_FREE(real);
    hrun_buf_release(&text);
    return rc;
}

/* Remove hrun's shims and rankfile from the settings that mpirun passes on to the processes, so that an mpirun or hrun
 * started by the program uses the remote shell itself. */
static void restore_settings(void)
{
    static const char *const names[][2] = { { "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_launch_agent" },
                                            { "PRTE_MCA_plm_ssh_agent", "PRTE_MCA_prte_launch_agent" } };

    unsetenv("OMPI_MCA_orte_rankfile");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *agent = getenv(names[i][0]), *daemon = getenv(names[i][1]);
        const char *shim = agent ? strstr(agent, "/hrun-shim agent ") : NULL;
        int behind = 0;

        if (daemon && strstr(daemon, "/hrun-shim host "))
            unsetenv(names[i][1]);
        if (shim && !sscanf(shim, "/hrun-shim agent %*s %*s %*d %n", &behind) && behind) {
            autofree char *own = xstrdup(shim + behind);    /* copied, as setenv replaces the text */

            setenv(names[i][0], own, 1);
        }
    }
}

/* Put hrun's libraries into LD_PRELOAD for the program. -1 if one is missing: other ranks would wait for this rank. */
static int preload(int rank)
{
    const char *libraries = getenv(HRUN_ENV_PRELOAD), *before = getenv("LD_PRELOAD");
    autofree char *list = NULL;
    size_t len;

    for (const char *p = libraries; p && *p; p += len + (p[len] == ':')) {
        autofree char *one = xstrndup(p, len = strcspn(p, ":"));

        if (access(one, R_OK)) {
            shim_say("rank %d: this host has no %s: install hrun anew here (make install), or run without --trace and "
                     "--tune-collectives", rank, one);
            return -1;
        }
    }
    if (libraries) {
        list = hrun_strf("%s%s%s", libraries, before && *before ? ":" : "", before ? before : "");
        setenv("LD_PRELOAD", list, 1);
    }
    return 0;
}

/* Remove the shim's own variables from the program's environment. */
static void unset_own_variables(void)
{
    static const char *const names[] = { HRUN_RANKS_VARIABLE, HRUN_RANKS_DO_VARIABLE, HRUN_RANKS_SHM_VARIABLE,
                                         HRUN_NOTES_VARIABLE, HRUN_NOTES_KILLER_VARIABLE, HRUN_ENV_PRELOAD };
    char name[32];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    for (int i = 1; snprintf(name, sizeof name, "%s_%d", HRUN_RANKS_VARIABLE, i), getenv(name); i++)
        unsetenv(name);
}

/* Fork: the rank continues in the child, in the same process group; the parent reports how it ended, and ends in the
 * same way. Of signals to the group, only SIGKILL and SIGSTOP affect both. Result: 0 in the child; -1: failure, nothing
 * was forked. */
static int stay_as_parent(int rank)
{
    const char *path = getenv(HRUN_NOTES_VARIABLE);
    int notes = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1, status;
    sigset_t all, before;
    char line[64];
    pid_t pid;

    if (notes < 0) {
        shim_say("rank %d: cannot open %s: %s", rank, path ? path : HRUN_NOTES_VARIABLE, strerror(errno));
        return -1;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid < 0)
        shim_say("rank %d: cannot start a process: %s", rank, strerror(errno));
    if (pid <= 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!pid)       /* now signals that are passed on reach the rank */
            hrun_note_write(notes, HRUN_NOTE_RANK_BEGUN, "", rank, "");
        return pid;
    }
    while (waitpid(pid, &status, 0) != pid)
        ;
    snprintf(line, sizeof line, "%d", status);
    hrun_note_write(notes, HRUN_NOTE_RANK_ENDED, "", rank, line);
    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0);      /* no core dump; a limit of 0 has no effect if cores are piped to a program */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        sigemptyset(&all);      /* other signals stay blocked, since the rank survived them */
        sigaddset(&all, WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &all, NULL);
    }
    _exit(shim_exit_status(status));
}

int shim_rank(char **words)
{
    const char *todo = getenv(HRUN_RANKS_DO_VARIABLE), *folder = getenv(HRUN_RANKS_SHM_VARIABLE);
    struct hrun_ranks_entry e;
    struct hrun_error err = { 0 };
    char number[16];
    int rank = own_rank(), bind, report, failed;

    if (rank < 0) {
        shim_say("%s is started without a rank", words[0]);
        return SHIM_FAILED;
    }
    if (hrun_ranks_find(getenv, rank, &e, &err)) {
        shim_say("rank %d: %s", rank, err.text);
        return SHIM_FAILED;
    }
    if (todo && strstr(todo, "tell") && stay_as_parent(rank))
        return SHIM_FAILED;
    bind = todo && strstr(todo, "bind");
    report = todo && strstr(todo, "report");
    if (report && !e.cpuset[0])
        shim_say("rank %d is not bound: the PUs of its host are not known", rank);
    failed = (bind || report) && e.cpuset[0] && bind_rank(rank, e.cpuset, bind, report);
    free(e.cpuset);
    if (failed || preload(rank))
        return SHIM_FAILED;
    if (e.threads) {
        snprintf(number, sizeof number, "%d", e.threads);
        setenv("OMP_NUM_THREADS", number, 1);
    }
    /* Open MPI's shared memory files go into a folder that hrun removes also if the ranks are killed. */
    for (size_t i = 0; folder && hrun_shared_memory_keys[i]; i++) {
        autofree char *name = hrun_strf("OMPI_MCA_%s", hrun_shared_memory_keys[i]);

        setenv(name, folder, 0);
    }
    restore_settings();
    unset_own_variables();
    execvp(words[0], words);
    shim_say("rank %d: cannot start %s: %s", rank, words[0], strerror(errno));
    return errno == ENOENT ? SHIM_NOPROG : SHIM_NOEXEC;
}
