/* test_launch_signals.c - signals to hrun, as a process of its own, and what becomes of the job */
#include "launch.h"

/* While it is set SIGTERM comes right after a folder has been made. */
static int term_at_folder;

/* In place of the C library's. */
char *mkdtemp(char *pattern)
{
    static unsigned n;

    snprintf(strstr(pattern, "XXXXXX"), 7, "%03u%03u", (unsigned)getpid() % 1000, n++ % 1000);
    if (mkdir(pattern, 0700))
        return NULL;
    if (term_at_folder)
        raise(SIGTERM);
    return pattern;
}

static void signals(struct fixture *f)
{
    static const struct { const char *what, *script; int sig, twice, status; const char *says; } cases[] = {
        { "SIGINT ends", "echo ready; " LOOP, SIGINT, 0, 130, NULL },
        { "SIGTERM ends", "echo ready; " LOOP, SIGTERM, 0, 143, NULL },
        { "SIGHUP ends", "echo ready; " LOOP, SIGHUP, 0, 129, NULL },
        /* bash ignores SIGQUIT until it has become another program */
        { "SIGQUIT ends", "ulimit -c 0; exec perl -e '$| = 1; print qq(ready\\n); sleep 60'", SIGQUIT, 0, 131, NULL },
        { "a handler that exits with 0", "trap 'echo caught; exit 0' TERM; echo ready; " LOOP, SIGTERM, 0, 0,
          "caught\n" },
        { "a handler that exits with 5", "trap 'echo caught; exit 5' TERM; echo ready; " LOOP, SIGTERM, 0,
          143, "caught\n" },
        { "SIGUSR1 is passed on", "trap 'echo caught; exit 0' USR1; echo ready; " LOOP, SIGUSR1, 0, 0,
          "caught\n" },
        { "SIGUSR2 is passed on", "trap 'echo caught; exit 0' USR2; echo ready; " LOOP, SIGUSR2, 0, 0,
          "caught\n" },
        { "a second SIGINT kills", "trap 'echo caught' INT; echo ready; " LOOP, SIGINT, 1, 130, "caught\n" },
    };

    alarm(300);  /* a job that does not end must not keep the test */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[] = { "bash", "-c", cases[i].script, NULL };
        struct hrun_buf b = HRUN_BUF_INIT;
        struct victim v = start_victim(f, "local", 2, words);
        double begin;
        ok(wait_text(&v, &b, "ready\n", 2), "%s: both ranks run", cases[i].what);
        begin = now_s();
        kill(v.pid, cases[i].sig);
        if (cases[i].twice) {
            wait_text(&v, &b, "caught\n", 2);
            kill(v.pid, cases[i].sig);
        }
        if (cases[i].says)
            ok(wait_text(&v, &b, cases[i].says, 2), "both ranks got it");
        is_int(status_of(v.pid), cases[i].status, "status");
        is_int(v.outcome->signalled, strstr(cases[i].what, "passed on") ? 0 : cases[i].sig, "the signal is told");
        is_int(v.outcome->interrupted, cases[i].status ? cases[i].sig : 0, "and whether it ended the job");
        ok(!v.outcome->stopped && !v.outcome->killed_by && v.outcome->failed_rank == -1, "and nothing else");
        ok(now_s() - begin < 30, "in time (%.2f s)", now_s() - begin);
        if (cases[i].says)
            is_int(count(b.data, cases[i].says), 2, "each got it once");
        is_int(entries(f->tmp, ""), 0, "nothing is left");
        close(v.out);
        hrun_buf_release(&b);
    }
}

/* SIGHUP that the caller ignores (nohup) does not reach the job. */
static void ignored_signal(struct fixture *f)
{
    static const char *const words[] = { "bash", "-c", "echo ready; sleep 0.5; echo done", NULL };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct victim v;

    signal(SIGHUP, SIG_IGN);
    v = start_victim(f, "local", 2, words);
    wait_text(&v, &b, "ready\n", 2);
    kill(v.pid, SIGHUP);
    ok(wait_text(&v, &b, "done\n", 2), "a signal that is ignored does no harm");
    is_int(status_of(v.pid), 0, "status");
    signal(SIGHUP, SIG_DFL);
    close(v.out);
    hrun_buf_release(&b);
}

/* The rank starts no process: a shell that is stopped between vfork and exec shows as waiting (D), not as stopped. It
 * ends when it is told to. */
static void stop_and_go(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "echo pid=$$; until [ -e \"$TMPDIR/go\" ]; do :; done; echo done",
                                         NULL };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct victim v = start_victim(f, "local", 1, words);
    char *go = hrun_strf("%s/go", f->tmp);
    pid_t rank;

    ok(wait_text(&v, &b, "\n", 1), "a job to be stopped");
    rank = (pid_t)atol(b.data + 4);
    kill(v.pid, SIGTSTP);
    ok(reaches(rank, "T") && reaches(v.pid, "T"), "SIGTSTP stops the rank and hrun");
    kill(v.pid, SIGCONT);
    ok(reaches(rank, "SR") && reaches(v.pid, "SR"), "SIGCONT wakes them up");
    close(open(go, O_WRONLY | O_CREAT, 0600));
    ok(wait_text(&v, &b, "done\n", 1), "the job ends as if nothing had been");
    is_int(status_of(v.pid), 0, "status");
    ok(v.outcome->stopped && !v.outcome->signalled, "and tells that it was stopped");
    unlink(go);
    free(go);
    close(v.out);
    hrun_buf_release(&b);
}

/* A signal between the first folder and the job. */
static void early_signal(struct fixture *f)
{
    static const char *const words[] = { "sleep", "20", NULL };
    char shm_prefix[64];
    struct victim v;

    term_at_folder = 1;
    v = start_victim(f, "local", 2, words);
    term_at_folder = 0;
    is_int(status_of(v.pid), 143, "SIGTERM while the job is being prepared");
    snprintf(shm_prefix, sizeof shm_prefix, "hrun.%lu.%ld.", (unsigned long)getuid(), (long)v.pid);
    is_int(entries(f->tmp, "") + entries("/dev/shm", shm_prefix), 0, "leaves no folder");
    is_int(v.outcome->signalled, SIGTERM, "it ends the job as later");
    close(v.out);
}

int main(void)
{
    struct fixture f;

    if (jobs_open(&f))
        return tap_done();
    signal(SIGINT, SIG_DFL);   /* ignored where a shell has started the tests in the background */
    signal(SIGQUIT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);   /* by nohup */
    signals(&f);
    ignored_signal(&f);
    stop_and_go(&f);
    early_signal(&f);
    killed(&f, "local");
    fixture_close(&f);
    return tap_done();
}
