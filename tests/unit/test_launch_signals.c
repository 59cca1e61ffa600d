/* test_launch_signals.c - signals to hrun, as a process of its own, and what becomes of the job */
#include "launch_jobs.h"

static void signals(struct fixture *f)
{
    static const struct { const char *what, *script; int sig, twice, status; const char *says; } cases[] = {
        { "SIGINT ends", "echo ready; " LOOP, SIGINT, 0, 130, NULL },
        { "SIGTERM ends", "echo ready; " LOOP, SIGTERM, 0, 143, NULL },
        { "SIGHUP ends", "echo ready; " LOOP, SIGHUP, 0, 129, NULL },
        { "SIGQUIT ends", "ulimit -c 0; echo ready; exec sleep 20", SIGQUIT, 0, 131, NULL },
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

    alarm(120);  /* a job that does not end must not keep the test */
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
        ok(now_s() - begin < 10, "in time (%.2f s)", now_s() - begin);
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

static void stop_and_go(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "echo pid=$$; sleep 1; echo done", NULL };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct victim v = start_victim(f, "local", 1, words);
    pid_t rank;

    ok(wait_text(&v, &b, "\n", 1), "a job to be stopped");
    rank = (pid_t)atol(b.data + 4);
    kill(v.pid, SIGTSTP);
    ok(reaches(rank, "T") && reaches(v.pid, "T"), "SIGTSTP stops the rank and hrun");
    kill(v.pid, SIGCONT);
    ok(reaches(rank, "SR") && reaches(v.pid, "SR"), "SIGCONT wakes them up");
    ok(wait_text(&v, &b, "done\n", 1), "the job ends as if nothing had been");
    is_int(status_of(v.pid), 0, "status");
    close(v.out);
    hrun_buf_release(&b);
}

int main(void)
{
    struct fixture f;

    if (jobs_open(&f))
        return tap_done();
    signals(&f);
    ignored_signal(&f);
    stop_and_go(&f);
    killed(&f, "local");
    fixture_close(&f);
    return tap_done();
}
