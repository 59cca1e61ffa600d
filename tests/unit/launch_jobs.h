/* launch_jobs.h - what the tests of both engines run: table of ends, surroundings, output, death of hrun */
#ifndef HRUN_TESTS_LAUNCH_JOBS_H
#define HRUN_TESTS_LAUNCH_JOBS_H

#include "launch_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { MAX_WORDS = 16 };

__attribute__((unused))
static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((unused))
static int open_fds(void)
{
    return entries("/proc/self/fd", "");
}

/* Nothing remains: no folder, no child, no descriptor; signals as before. */
__attribute__((unused))
static void is_clean(const struct fixture *f, int fds, const char *what)
{
    sigset_t mask;
    char shm_prefix[64];         /* of this process's folders in /dev/shm */
    int blocked = 0;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int s = 1; s < 32; s++)
        blocked += sigismember(&mask, s) == 1;
    snprintf(shm_prefix, sizeof shm_prefix, "hrun.%lu.%ld.", (unsigned long)getuid(), (long)getpid());
    ok(entries(f->tmp, "") == 0 && entries("/dev/shm", shm_prefix) == 0 && waitpid(-1, NULL, WNOHANG) == -1 &&
       errno == ECHILD && open_fds() == fds && blocked == 0,
       "%s: nothing is left (folders %d, /dev/shm %d, files %d of %d, signals %d)", what, entries(f->tmp, ""),
       entries("/dev/shm", shm_prefix), open_fds(), fds, blocked);
}

/* Run words with n ranks on engine; change, if not NULL, adjusts the job. */
__attribute__((unused))
static int launch(struct fixture *f, const char *engine, int n, const char *const *words,
                  void (*change)(struct hrun_job *job), struct hrun_outcome *out, struct hrun_error *err)
{
    struct hrun_layout *l = hrun_layout_plain(&f->cluster, n, NULL, NULL, NULL);
    char *argv[MAX_WORDS + 1], path[4096], *program;
    struct hrun_job job;
    int rc = -1, i;

    for (i = 0; i < MAX_WORDS && words[i]; i++)
        argv[i] = (char *)(uintptr_t)words[i];
    argv[i] = NULL;
    if (!strcmp(words[0], "probe"))
        argv[0] = (char *)(uintptr_t)test_app("probe", path, sizeof path);
    program = hrun_program_find(argv[0], NULL, err);
    if (program) {
        job = fixture_job(f, l, argv, program);
        if (change)
            change(&job);
        rc = hrun_launch(hrun_engine_find(engine), &job, out, err);
    }
    free(program);
    hrun_layout_destroy(l);
    return rc;
}

__attribute__((unused))
static int count(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what))) {
        n++;
        text += strlen(what);
    }
    return n;
}

__attribute__((unused))
static void untouched(struct hrun_job *job)
{
    job->on_stdout = NULL;
    job->swallow = 0;
    job->stderr_text = NULL;
}

/* ---------------------------------------------------------------- signals: hrun as a process of its own */

struct victim {
    pid_t pid;
    int out;                       /* what the job writes */
    struct hrun_outcome *outcome;  /* its copy, when the process has ended */
};

/* A process that launches words and exits with the outcome's status, 99 when the launch failed. */
__attribute__((unused))
static struct victim start_victim_with(struct fixture *f, const char *engine, int n, const char *const *words,
                                       void (*change)(struct hrun_job *job))
{
    struct victim v = { -1, -1, mmap(NULL, sizeof *v.outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                     -1, 0) };
    int p[2];

    fflush(stdout);
    if (pipe2(p, O_CLOEXEC))
        return v;
    v.pid = fork();
    if (v.pid == 0) {
        struct hrun_error err;
        setpgid(0, 0);
        close(p[0]);
        dup2(p[1], STDOUT_FILENO);
        _exit(launch(f, engine, n, words, change, v.outcome, &err) ? 99 : v.outcome->status);
    }
    close(p[1]);
    v.out = p[0];
    return v;
}

__attribute__((unused))
static struct victim start_victim(struct fixture *f, const char *engine, int n, const char *const *words)
{
    return start_victim_with(f, engine, n, words, untouched);
}

/* Read until the text holds `times` times `what`, at most 20 s. */
__attribute__((unused))
static int wait_text(const struct victim *v, struct hrun_buf *b, const char *what, int times)
{
    double end = now_s() + 20;
    struct pollfd p = { v->out, POLLIN, 0 };
    char data[512];

    while (count(b->data, what) < times && now_s() < end) {
        ssize_t n = poll(&p, 1, 100) > 0 ? read(v->out, data, sizeof data) : -2;
        if (n == 0)
            break;
        if (n > 0)
            hrun_buf_add(b, data, (size_t)n);
    }
    return count(b->data, what) >= times;
}

__attribute__((unused))
static int status_of(pid_t pid)
{
    int status;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define LOOP "while :; do sleep 0.02; done"

__attribute__((unused))
static char state_of(pid_t pid)
{
    char path[64], state = '?';
    struct hrun_buf b = HRUN_BUF_INIT;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (hrun_file_read(path, 1 << 16, &b, NULL) == 0 && strrchr(b.data, ')'))
        state = strrchr(b.data, ')')[2];
    hrun_buf_release(&b);
    return state;
}

/* Wait until pid is in one of the states, at most 10 s; '?' is "gone". */
__attribute__((unused))
static int reaches(pid_t pid, const char *states)
{
    double end = now_s() + 10;

    while (!strchr(states, state_of(pid)) && now_s() < end)
        usleep(5000);
    return strchr(states, state_of(pid)) != NULL;
}

/* SIGKILL of hrun: the ranks, what they started and the folders go. */
__attribute__((unused))
static void killed(struct fixture *f, const char *engine)
{
    static const char *const words[] = { "bash", "-c", "trap '' TERM; (trap '' TERM; echo child=$BASHPID; "
                                         LOOP ") & "
                                         "echo rank=$$; " LOOP, NULL };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct victim v = start_victim(f, engine, 1, words);
    pid_t rank = 0, child = 0;
    double end;

    ok(wait_text(&v, &b, "\n", 2), "%s: a job whose launcher is killed", engine);
    if (strstr(b.data, "rank=") && strstr(b.data, "child=")) {
        rank = (pid_t)atol(strstr(b.data, "rank=") + 5);
        child = (pid_t)atol(strstr(b.data, "child=") + 6);
    }
    ok(entries(f->tmp, "") > 0, "it has a folder");
    kill(v.pid, SIGKILL);
    is_int(status_of(v.pid), 137, "status");
    ok(rank && reaches(rank, "?ZX"), "the rank is gone");
    ok(child && reaches(child, "?ZX"), "its child too");
    end = now_s() + 10;
    while (entries(f->tmp, "") && now_s() < end)
        usleep(10000);
    is_int(entries(f->tmp, ""), 0, "and the folder");
    close(v.out);
    hrun_buf_release(&b);
}

/* Open the fixture and make HRUN_TEST_APPS absolute. 0, or -1 with a failed check. */
__attribute__((unused))
static int jobs_open(struct fixture *f)
{
    const char *apps = getenv("HRUN_TEST_APPS");
    char path[4096], cwd[4096], *absolute;

    if (!getcwd(cwd, sizeof cwd) || fixture_open(f))
        return -1;
    if (!apps)
        apps = "build/tests/apps";
    absolute = *apps == '/' ? strdup(apps) : hrun_strf("%s/%s", cwd, apps);
    setenv("HRUN_TEST_APPS", absolute, 1);
    free(absolute);
    if (!test_app("probe", path, sizeof path)) {
        fixture_close(f);
        return ok(0, "tests/apps/probe is built (make apps)") - 1;
    }
    return 0;
}

#endif
