/* job.c - the life of a job's processes on this host; see job.h for the contracts */
#include "launch/job.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "launch/engines/reach.h"
#include "launch/env.h"
#include "launch/mpich.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Time between two looks for processes that outlive their ranks. */
enum { SWEEP_STEP_MS = 10 };

void hrun_run_say(struct hrun_run *r, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!r->job->on_message)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->job->on_message(r->job->ctx, text);
}

/* ---------------------------------------------------------------- begin and end */

static int begin_run(struct hrun_run *r, struct hrun_error *err)
{
    enum { SPARE_BITS = 2 };    /* far from RLIM_INFINITY */
    struct hrun_guard_spec *own = &r->own;
    struct rlimit locks;

    if (hrun_signals_block(&r->signals, 1, err))  /* first: an unblocked signal would leave the folders */
        return -1;
    own->rundir = hrun_rundir_create(NULL, err);
    if (!own->rundir)
        return -1;
    own->job_id = strrchr(own->rundir, '/') + 1;
    own->shmdir = hrun_rundir_create("/dev/shm", NULL);
    /* Without a mark the processes are found by their environment or group only. */
    if (getrlimit(RLIMIT_LOCKS, &locks) || locks.rlim_max != RLIM_INFINITY ||
        getrandom(&own->mark, sizeof own->mark, 0) != sizeof own->mark)
        own->mark = 0;
    own->mark >>= SPARE_BITS;
    if (prctl(PR_GET_CHILD_SUBREAPER, &r->family.old_subreaper) || prctl(PR_SET_CHILD_SUBREAPER, 1))
        return hrun_fail_errno(err, HRUN_EIO, "cannot adopt the processes of the job");
    hrun_procs_children(getpid(), &r->family.strangers);
    return (!r->driver->serves && hrun_guard_start(own, NULL, NULL, &r->guard, err)) ||
           (r->driver->on_line && hrun_words_open(&r->words, err)) ? -1 : 0;
}

static void end_run(struct hrun_run *r)
{
    enum { ROUNDS = 200 };
    int saved = errno;

    /* Kill all remaining processes, which exist only after an error. */
    for (int i = 0; i < r->nprocs; i++)
        if (r->procs[i].alive && r->procs[i].pid > 0) {
            if (r->procs[i].own_group)
                kill(-r->procs[i].pid, SIGKILL);
            kill(r->procs[i].pid, SIGKILL);
            while (waitpid(r->procs[i].pid, NULL, 0) < 0 && errno == EINTR)
                ;
        }
    for (int i = 0; i < ROUNDS && r->family.old_subreaper >= 0 && hrun_run_sweep(r, SIGKILL); i++)
        poll(NULL, 0, SWEEP_STEP_MS);
    hrun_output_destroy(r->output);
    hrun_words_close(&r->words);
    hrun_remove_tree(r->own.rundir);
    hrun_remove_tree(r->own.shmdir);
    if (r->own.mpich)
        hrun_mpich_remove_orphans(r->own.since);
    hrun_guard_stop(&r->guard);     /* last: if hrun is killed before, the guard removes the folders */
    if (r->family.old_subreaper >= 0)
        prctl(PR_SET_CHILD_SUBREAPER, r->family.old_subreaper);
    hrun_signals_restore(&r->signals);
    hrun_pids_release(&r->family.groups);
    hrun_pids_release(&r->family.strangers);
    free(r->procs);
    free(r->polled);
    free(r->own.rundir);
    free(r->own.shmdir);
    errno = saved;
}

int hrun_run_job(const struct hrun_driver *driver, void *state, struct hrun_reach *reach, const struct hrun_job *job,
                 struct hrun_outcome *out, struct hrun_error *err)
{
    struct hrun_run r = {
        .driver = driver, .state = state, .reach = reach, .job = job, .out = out, .err = err, .watch_fd = -1,
        .own = { .scratch = job->scratch, .grace_ms = driver->grace_ms, .mpich = driver->mpich, .since = time(NULL) },
        .guard = HRUN_GUARD_INIT, .signals = HRUN_SIGNALS_INIT, .words = HRUN_WORDS_INIT,
        .family = { .old_subreaper = -1 },
    };
    int rc;

    *out = (struct hrun_outcome){ .failed_rank = -1 };
    rc = begin_run(&r, err) || driver->start(&r, err) || hrun_run_loop(&r) ||
         (driver->check_end && driver->check_end(&r, err)) ? -1 : 0;
    if (rc == 0 && out->lost_host[0] && (out->status == 125 || out->interrupted))   /* after its messages */
        hrun_run_say(&r, "host '%s' was lost during the run", out->lost_host);
    if (driver->release)
        driver->release(&r);
    end_run(&r);
    return rc;
}

/* ---------------------------------------------------------------- start */

/* A program in the background must not read the terminal; it gets /dev/null, as with mpirun. */
int hrun_run_stdin(const struct hrun_job *job, int *fd, struct hrun_error *err)
{
    if (job->stdin_text)
        return (*fd = hrun_text_fd(job->stdin_text, err)) < 0 ? -1 : 0;
    *fd = job->no_stdin || (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp()) ? HRUN_SPAWN_NULL
                                                                                         : HRUN_SPAWN_INHERIT;
    return 0;
}

/* 1 if process i gets its own process group, else 0. A process that reads the terminal stays in hrun's group, because
 * only the foreground group may read it: rank 0 or srun with the terminal as input, and mpirun, whose ssh may ask for a
 * password. The terminal signals a process in hrun's group directly; see bring_signal in loop.c. */
static int gets_own_group(const struct hrun_run *r, int i)
{
    const struct hrun_job *job = r->job;
    int fd, foreground;

    if (!r->driver->passes_signals)
        return i > 0 || job->stdin_text || job->no_stdin || !isatty(STDIN_FILENO) ||
               tcgetpgrp(STDIN_FILENO) != getpgrp();
    fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 1;
    foreground = tcgetpgrp(fd) == getpgrp();
    close(fd);
    return !foreground;
}

/* Start the n processes added last. in: standard input of process 0. */
static int start_last(struct hrun_run *r, const struct hrun_topo *topo, int in, struct hrun_spawn_one *one, int n,
                      struct hrun_error *err)
{
    autofree pid_t *pids = xcalloc((size_t)n, sizeof *pids);
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    const struct hrun_driver *driver = r->driver;
    int first = r->nprocs - n;
    struct hrun_spawn s = {
        .topo = topo, .mark = r->own.mark, .mask = r->signals.old_mask, .sigchld = r->signals.old_sigchld,
        .ignore_ttou = isatty(STDOUT_FILENO) || isatty(STDERR_FILENO), 
        .death_signal = driver->is_launcher ? SIGTERM : SIGKILL,  /* a launcher has to end its ranks */
    };

    /* With the kernel's autogroups each session gets one share of a busy processor: beside 28 other processes, two
     * ranks took 7.5 s in one session and 4.0 s in two sessions. But a waiting rank cannot yield to a rank in another
     * session (4 ms instead of 4 us per barrier), and resource managers track jobs by session. */
    s.sessions = !first && driver->serves && !hrun_layout_yields(r->job->layout) && !hrun_in_resource_manager() &&
                 hrun_file_read("/proc/sys/kernel/sched_autogroup_enabled", 16, &b, NULL) == 0 && b.len &&
                 *b.data == '1';
    for (int i = 0; i < n; i++) {
        one[i].fds[0] = first + i == 0 ? in : HRUN_SPAWN_NULL;
        one[i].fds[1] = hrun_output_child_fd(r->output, first + i, 0);
        one[i].fds[2] = hrun_output_child_fd(r->output, first + i, 1);
        one[i].own_group = gets_own_group(r, first + i);
        if (!one[i].wdir && !driver->is_launcher)
            one[i].wdir = r->job->wdir;
    }
    if (driver->on_line && driver->is_launcher) {
        one[0].keep_fd = one[0].fds[2];
        one[0].fds[2] = r->words.child_fd;
    } else if (driver->on_line) {
        one[0].keep_fd = r->words.child_fd;
    }
    if (hrun_spawn(&s, one, n, pids, err))
        return -1;
    for (int i = 0; i < n; i++) {
        r->procs[first + i] = (struct hrun_proc){ .pid = pids[i], .alive = 1, .own_group = one[i].own_group };
        if (one[i].own_group)
            hrun_pids_push(&r->family.groups, pids[i]);
    }
    r->nalive += n;
    hrun_guard_tell(&r->guard, first, pids, n);
    hrun_output_started(r->output);
    return 0;
}

char *hrun_run_write(const struct hrun_run *r, const char *name, const struct hrun_buf *text, struct hrun_error *err)
{
    char *path = hrun_strf("%s/%s", r->own.rundir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0 || hrun_write_all(fd, text->data, text->len)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot write %s (set TMPDIR to another folder)", path);
        free(path);
        path = NULL;
    }
    hrun_close_fd(&fd);
    return path;
}

int hrun_run_prepare(struct hrun_run *r, int nprocs, struct hrun_error *err)
{
    r->procs = xcalloc((size_t)nprocs, sizeof *r->procs);
    r->nprocs = nprocs;
    r->output = hrun_output_create(r->job, nprocs, r->style.tagging, r->style.hold, err);
    return r->output ? 0 : -1;
}

int hrun_run_start(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int nprocs,
                   struct hrun_error *err)
{
    int in, rc;

    if ((!r->output && hrun_run_prepare(r, nprocs, err)) || hrun_run_stdin(r->job, &in, err))
        return -1;
    r->start_s = hrun_monotonic_s();
    rc = start_last(r, topo, in, one, nprocs, err);
    hrun_close_fd(&in);
    if (rc)
        return -1;
    hrun_close_fd(&r->words.child_fd);
    if (r->job->on_start)
        r->job->on_start(r->job->ctx);
    return 0;
}

int hrun_run_start_one(struct hrun_run *r, const char *program, char *const *argv, struct hrun_strvec *env,
                       struct hrun_error *err)
{
    struct hrun_spawn_one one = { .program = program, .argv = argv };

    hrun_env_set(env, HRUN_JOB_VARIABLE "=%s", r->own.job_id);
    one.env = env->v;
    return hrun_run_start(r, NULL, &one, 1, err);
}

int hrun_run_add(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int n,
                 struct hrun_error *err)
{
    int first = r->nprocs;

    r->procs = xrealloc(r->procs, (size_t)(first + n) * sizeof *r->procs);
    memset(r->procs + first, 0, (size_t)n * sizeof *r->procs);
    if (hrun_output_grow(r->output, first, n, err))
        return -1;
    r->nprocs += n;         /* processes that do not start keep pid 0 */
    return start_last(r, topo, -1, one, n, err);
}

/* ---------------------------------------------------------------- processes that outlive their ranks
 *
 * hrun is the subreaper of the job: orphaned processes become its children. So an empty list of children, the common
 * case, shows that no process is left; otherwise hrun searches all processes. */

int hrun_run_sweep(struct hrun_run *r, int sig)
{
    autorelease(hrun_pids_release) struct hrun_pids children = HRUN_PIDS_INIT;
    autorelease(hrun_pids_release) struct hrun_pids left = HRUN_PIDS_INIT;
    autorelease(hrun_pids_release) struct hrun_pids except = HRUN_PIDS_INIT;
    int unknown = hrun_procs_children(getpid(), &children);

    /* Reap the adopted children that have ended. */
    for (size_t i = 0; i < children.n; i++)
        if (children.v[i] != r->guard.pid && !hrun_pids_has(&r->family.strangers, children.v[i]) &&
            waitpid(children.v[i], NULL, WNOHANG) == 0)
            hrun_pids_push(&left, children.v[i]);
    if (unknown || left.n) {
        /* Add the other processes of the job, except the guard. */
        hrun_pids_push(&except, r->guard.pid);
        for (size_t i = 0; i < left.n; i++)
            hrun_pids_push(&except, left.v[i]);
        hrun_procs_of_job(r->own.job_id, r->own.mark, &r->family.groups, &except, &left);
    }
    for (size_t i = 0; i < left.n && sig; i++) {
        kill(left.v[i], sig);
        kill(left.v[i], SIGCONT);  /* a stopped process handles SIGTERM only after SIGCONT */
    }
    return (int)left.n;
}
