/* copies.c - runs of one process each at the same time; see runs.h */
#include "runs.h"
#include "session/placement.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limit of simultaneous simulations. */
enum { SIMULATED = 8 };

/* A copy, in memory shared between its process and this one. */
struct copy {
    int pe;
    pid_t pid;                /* 0: it has ended */
    int reported;             /* 1: the members below are set */
    int rc;                   /* result of run_copy */
    struct work_result result;
    struct hrun_error err;
};

struct copies {
    struct copy *v;
    int n;
};

static int run_copy(struct runs *runs, const struct point *p, int pe, struct work_result *r, struct hrun_error *err)
{
    struct context *c = runs->c;
    struct hrun_config config = hrun_config_alone(c->cluster->nsubs, p->sub, 1, 1);
    autofree double *share = xcalloc((size_t)c->cluster->nsubs, sizeof *share);
    struct work w = { .c = c, .N = p->N, .words = runs->words, .scratch = runs->scratch, .quiet_run = 1,
                      .limit_s = campaign_limit(runs->g, (int)(p - runs->g->v)), .share = share };
    struct hrun_layout *l;
    int rc;

    memset(r, 0, sizeof *r);
    share[p->sub] = p->work;
    l = hrun_layout_create_placed(c->cluster, &config, &pe, err);
    if (!l)
        return -1;
    placement_fill_threads(c, l);
    rc = work_find_program(&w, 1, err) || runs_start(&w, l, r, err) ? -1 : 0;
    hrun_layout_destroy(l);
    return rc;
}

/* ------------------------------------------------------------------ processes */

static _Noreturn void be_copy(struct runs *runs, const struct point *p, int again, struct copy *copy, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(STATUS_FAILED);
    do {
        copy->rc = run_copy(runs, p, copy->pe, &copy->result, &copy->err);
    } while (again && !copy->rc && copy->result.ok);
    copy->reported = 1;
    _exit(0);
}

static void signal_all(const struct copies *c, int sig)
{
    for (int i = 0; i < c->n; i++)
        if (c->v[i].pid > 0)
            kill(c->v[i].pid, sig);
}

/* Reap the processes that have ended. options: those of waitpid. Result: the number of the remaining ones. */
static int reap(struct copies *c, int options)
{
    int left = 0;

    for (int i = 0; i < c->n; i++) {
        pid_t got = c->v[i].pid ? waitpid(c->v[i].pid, NULL, options) : 0;

        if (got > 0 || (got < 0 && errno != EINTR))
            c->v[i].pid = 0;
        left += c->v[i].pid != 0;
    }
    return left;
}

/* Wait until all copies have ended. A signal ends them. Result: its number, or 0. */
static int wait_all_copies(struct copies *c)
{
    static const int awaited[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
    sigset_t set, before;
    int sig = 0;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
        sigaddset(&set, awaited[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    for (int got = 0; got >= 0 || errno == EINTR; ) {
        /* Once all have ended, read the signals that are still pending. */
        got = reap(c, WNOHANG) ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &(struct timespec){ 0 });
        if (got > 0 && got != SIGCHLD) {
            sig = sig ? sig : got;
            signal_all(c, SIGTERM);
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return sig;
}

/* Start copies on pes[n]. again = 1: each copy repeats its run until it fails or is ended. */
static struct copies *create_copies(struct runs *runs, const struct point *p, const int *pes, int n, int again,
                                    struct hrun_error *err)
{
    struct copies *c = xcalloc(1, sizeof *c);
    pid_t parent = getpid();

    c->v = mmap(NULL, ((size_t)n + 1) * sizeof *c->v, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->v == MAP_FAILED)
        hrun_out_of_memory();
    for (int i = 0; i < n; i++) {
        struct copy *copy = &c->v[i];
        pid_t pid;

        copy->pe = pes[i];
        pid = fork();
        if (!pid)
            be_copy(runs, p, again, copy, parent);
        if (pid < 0) {
            hrun_fail_errno(err, HRUN_EIO, "cannot make a process");
            copies_end(c);
            return NULL;
        }
        copy->pid = pid;
        c->n++;
    }
    return c;
}

struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err)
{
    return create_copies(runs, p, pes, n, 1, err);
}

void copies_end(struct copies *c)
{
    if (!c)
        return;
    signal_all(c, SIGTERM);
    while (reap(c, 0))
        ;
    munmap(c->v, ((size_t)c->n + 1) * sizeof *c->v);
    free(c);
}

/* ------------------------------------------------------------------ a measurement */

/* 1 if a is worse than b, else 0. An interrupted run is worst, then a failed one, then a slow one. */
static int is_worse_result(const struct work_result *a, const struct work_result *b)
{
    int stopped_a = a->outcome.interrupted || a->outcome.signalled;
    int stopped_b = b->outcome.interrupted || b->outcome.signalled;

    if (stopped_a != stopped_b)
        return stopped_a;
    return a->ok != b->ok ? !a->ok : a->time_s > b->time_s;
}

/* Run a copy on pe in this process, and wait for the other copies. Result: as copies_run. */
static int run_with_copies(struct runs *runs, const struct point *p, int pe, struct copies *others,
                           struct copy_result *out, struct hrun_error *err)
{
    struct copy_result own = { .pe = pe };
    int sig;

    if (run_copy(runs, p, pe, &own.result, err))
        return -1;
    if (!own.result.ok)
        signal_all(others, SIGTERM);
    sig = wait_all_copies(others);
    if (sig) {
        own.result.outcome.interrupted = sig;
        own.result.ok = 0;
    }
    if (!out->result.status[0] || is_worse_result(&own.result, &out->result))
        *out = own;
    for (int i = 0; i < others->n && own.result.ok; i++) {
        const struct copy *copy = &others->v[i];

        if (!copy->reported)
            return hrun_fail(err, HRUN_EIO, "a process that made a copy of the run ended without a word");
        if (copy->rc) {
            *err = copy->err;
            return -1;
        }
        if (is_worse_result(&copy->result, &out->result))
            *out = (struct copy_result){ copy->result, copy->pe };
    }
    return 0;
}

int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct copy_result *out,
               struct hrun_error *err)
{
    int batch = runs->c->cluster->platform && n > SIMULATED ? SIMULATED : n, rc = 0;

    *out = (struct copy_result){ .pe = pes[0] };
    for (int from = 0; from < n && !rc; from += batch) {
        int here = n - from < batch ? n - from : batch;
        struct copies *others = create_copies(runs, p, pes + from + 1, here - 1, 0, err);

        rc = others ? run_with_copies(runs, p, pes[from], others, out, err) : -1;
        copies_end(others);
        if (!out->result.ok)
            break;
    }
    return rc;
}
