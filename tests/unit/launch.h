/* launch.h - a job on this host for the tests of lib/launch, how jobs end, and what must be gone after them */
#ifndef HRUN_TESTS_LAUNCH_H
#define HRUN_TESTS_LAUNCH_H

#include "fixture.h"

#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    struct hrun_topo *topo;
    struct hrun_topo_pe *tpes;
    struct hrun_pe *pes;
    int npes;
    char host_name[256];
    struct hrun_host host;
    struct hrun_subcluster sub;
    struct hrun_cluster cluster;
    char *tmp;                   /* TMPDIR of the test: must be empty after each job */
    struct hrun_buf messages, output, errors;
};

/* One sub-cluster: the cores of this host. 0, or -1 with a failed check. */
static inline int fixture_open(struct fixture *f)
{
    struct hrun_error err;

    memset(f, 0, sizeof *f);
    hrun_buf_init(&f->messages);
    hrun_buf_init(&f->output);
    hrun_buf_init(&f->errors);
    f->tmp = temp_dir();
    if (setenv("TMPDIR", f->tmp, 1) || gethostname(f->host_name, sizeof f->host_name - 1))
        return ok(0, "a folder for the test") - 1;
    f->topo = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    if (!f->topo || hrun_topo_pes(f->topo, HRUN_LEVEL_CORE, 0, &f->tpes, &f->npes, &err))
        return ok(0, "the topology: %s", err.text) - 1;
    f->pes = calloc((size_t)f->npes, sizeof *f->pes);
    for (int i = 0; i < f->npes; i++)
        f->pes[i] = (struct hrun_pe){ .index = i, .cpuset = f->tpes[i].cpuset, .cores = f->tpes[i].cores,
                                      .ncores = f->tpes[i].ncores, .npus = f->tpes[i].npus };
    f->host = (struct hrun_host){ .name = f->host_name, .is_local = 1, .topo = f->topo };
    f->sub = (struct hrun_subcluster){ .name = (char *)"here", .level = HRUN_LEVEL_CORE, .pes = f->pes,
                                       .npes = f->npes };
    f->cluster = (struct hrun_cluster){ .source = (char *)"this host", .hosts = &f->host, .nhosts = 1,
                                        .subs = &f->sub, .nsubs = 1 };
    return 0;
}

static inline void fixture_close(struct fixture *f)
{
    hrun_buf_release(&f->messages);
    hrun_buf_release(&f->output);
    hrun_buf_release(&f->errors);
    free(f->pes);
    hrun_topo_pes_free(f->tpes, f->npes);
    hrun_topo_destroy(f->topo);
    free(f->tmp);
}

static inline void fixture_message(void *ctx, const char *text)
{
    struct fixture *f = ctx;

    hrun_buf_addf(&f->messages, "%s\n", text);
}

static inline void fixture_output(void *ctx, const char *data, size_t len)
{
    struct fixture *f = ctx;

    hrun_buf_add(&f->output, data, len);
}

/* A job of argv on layout, whose output is collected. program: what hrun_program_find gave. */
static inline struct hrun_job fixture_job(struct fixture *f, const struct hrun_layout *layout,
                                          char *const *argv, const char *program)
{
    struct hrun_job job;

    memset(&job, 0, sizeof job);
    job.layout = layout;
    job.argv = argv;
    job.program = program;
    job.no_stdin = 1;
    job.output.on_stdout = fixture_output;
    job.on_message = fixture_message;
    job.ctx = f;
    job.output.swallow = 1;
    job.output.stderr_text = &f->errors;
    hrun_buf_reset(&f->messages);
    hrun_buf_reset(&f->output);
    hrun_buf_reset(&f->errors);
    return job;
}

/* Path of a test application in buf, or NULL when it has not been built. */
static inline const char *test_app(const char *name, char *buf, size_t size)
{
    const char *dir = getenv("HRUN_TEST_APPS");

    snprintf(buf, size, "%s/%s", dir ? dir : "build/tests/apps", name);
    return access(buf, X_OK) ? NULL : buf;
}

/* ---------------------------------------------------------------- jobs of both engines */

enum { MAX_WORDS = 16 };

static inline double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int open_fds(void)
{
    return entries("/proc/self/fd", "");
}

/* Nothing remains: no folder, no child, no descriptor; signals as before. */
static inline void is_clean(const struct fixture *f, int fds, const char *what)
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
static inline int launch(struct fixture *f, const char *engine, int n, const char *const *words,
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

static inline int count(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what))) {
        n++;
        text += strlen(what);
    }
    return n;
}

static inline void untouched(struct hrun_job *job)
{
    job->output.on_stdout = NULL;
    job->output.swallow = 0;
    job->output.stderr_text = NULL;
}

/* ---------------------------------------------------------------- signals: hrun as a process of its own */

struct victim {
    pid_t pid;
    int out;                       /* what the job writes */
    struct hrun_outcome *outcome;  /* its copy, when the process has ended */
};

/* A process that launches words and exits with the outcome's status, 99 when the launch failed. */
static inline struct victim start_victim_with(struct fixture *f, const char *engine, int n, const char *const *words,
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

static inline struct victim start_victim(struct fixture *f, const char *engine, int n, const char *const *words)
{
    return start_victim_with(f, engine, n, words, untouched);
}

/* Read until the text holds `times` times `what`, at most 20 s. */
static inline int wait_text(const struct victim *v, struct hrun_buf *b, const char *what, int times)
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

static inline int status_of(pid_t pid)
{
    int status;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define LOOP "while :; do sleep 0.02; done"

static inline char state_of(pid_t pid)
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
static inline int reaches(pid_t pid, const char *states)
{
    double end = now_s() + 10;

    while (!strchr(states, state_of(pid)) && now_s() < end)
        usleep(5000);
    return strchr(states, state_of(pid)) != NULL;
}

/* SIGKILL of hrun: the ranks, what they started and the folders go. */
static inline void killed(struct fixture *f, const char *engine)
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
static inline int jobs_open(struct fixture *f)
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

/* ---------------------------------------------------------------- ends, surroundings and output */

/* How one job is to be run and what must come of it. */
struct run {
    const char *what;
    int n;                         /* ranks, one per core and round again */
    const char *words[MAX_WORDS];  /* program and arguments; "probe" is the test application */
    int status, failed_rank, interrupted, timed_out;
    const char *says;              /* in the messages; NULL: there must be none */
    double timeout_s;
};

static double timeout_for_change;

static inline void set_timeout(struct hrun_job *job)
{
    job->timeout_s = timeout_for_change;
}

static inline void check_run(struct fixture *f, const char *engine, const struct run *r)
{
    struct hrun_outcome out = { 0 };
    struct hrun_error err;
    int fds = open_fds(), local = !strcmp(engine, "local");

    timeout_for_change = r->timeout_s;
    if (!ok(launch(f, engine, r->n, r->words, set_timeout, &out, &err) == 0, "%s: %s", engine, r->what))
        printf("#   %s\n", err.text);
    is_int(out.status, r->status, "status");
    is_int(out.timed_out, r->timed_out, "timed out");
    is_int(out.failed_rank, local ? r->failed_rank : -1, "the rank that failed first");
    is_int(out.interrupted, 0, "not interrupted");
    is_int(out.killed_by, local && r->says && strstr(r->says, "was killed") ? r->status - 128 : 0,
           "what killed it");
    ok(!out.signalled && !out.stopped, "nobody disturbed it");
    ok(out.wall_s > 0 && out.wall_s < 60, "wall time");
    if (local && r->says)
        has_str(f->messages.data, r->says, "message");
    else if (local)
        is_str(f->messages.data, "", "no message");
    is_clean(f, fds, r->what);
}

static const struct run ends[] = {
    { .what = "true", .n = 2, .words = { "true" }, .failed_rank = -1 },
    { .what = "false", .n = 1, .words = { "false" }, .status = 1, .says = "rank 0 exited with status 1" },
    { .what = "a good run", .n = 2, .words = { "probe", "ring", "big", "barriers=10" }, .failed_rank = -1 },
    { .what = "one rank", .n = 1, .words = { "probe", "ring" }, .failed_rank = -1 },
    { .what = "MPI_Abort(7)", .n = 2, .words = { "probe", "@1:abort=7", "@0:sleep=20" }, .status = 7,
      .failed_rank = 1,
      .says = "rank 1 aborted the job with status 7" },
    { .what = "a rank exits with 3", .n = 2, .words = { "probe", "@1:exit=3", "@0:sleep=20" }, .status = 3,
      .failed_rank = 1, .says = "rank 1 exited with status 3" },
    { .what = "a rank exits with 200", .n = 2, .words = { "probe", "@1:exit=200", "@0:sleep=20" }, .status = 200,
      .failed_rank = 1, .says = "rank 1 exited with status 200" },
    { .what = "a rank is killed", .n = 2, .words = { "probe", "@1:kill=9", "@0:spin" }, .status = 137,
      .failed_rank = 1,
      .says = "rank 1 was killed by signal 9 (Killed)" },
    { .what = "a rank crashes", .n = 2, .words = { "probe", "@0:kill=11", "@1:sleep=20" }, .status = 139,
      .failed_rank = 0, .says = "rank 0 was killed by signal 11 (Segmentation fault)" },
    { .what = "a rank leaves without MPI_Finalize", .n = 2, .words = { "probe", "@0:nofinalize",
                                                                       "@1:sleep=20" },
      .status = 1, .failed_rank = 0, .says = "rank 0 exited without calling MPI_Finalize" },
    { .what = "a rank that ignores SIGTERM", .n = 2, .words = { "probe", "@0:term-ignore", "ring",
                                                                "@0:sleep=20",
      "@1:exit=4" }, .status = 4, .failed_rank = 1, .says = "rank 1 exited with status 4" },
    { .what = "the time limit", .n = 2, .words = { "sleep", "20" }, .status = 124, .timed_out = 1,
      .failed_rank = -1,
      .timeout_s = 0.3, .says = "the job did not end within 0.3 s: ending it" },
    { .what = "a shell that starts MPI programs in turn", .n = 2, .words = { "sh", "-c",
                                                                             "\"$0\" ring && \"$0\" ring",
      NULL }, .failed_rank = -1 },
    { .what = "children that outlive their rank", .n = 2, .words = { "sh", "-c",
                                                                     "sleep 8 & setsid sleep 8 & exit 0" },
      .failed_rank = -1 },
};

static inline void all_ends(struct fixture *f, const char *engine)
{
    char path[4096];

    test_app("probe", path, sizeof path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct run r = ends[i];
        if (!strcmp(r.words[0], "sh") && strstr(r.words[2], "$0")) {
            r.words[3] = path;
            if (strcmp(engine, "local"))
                continue;  /* mpirun allows one MPI program per rank */
        }
        check_run(f, engine, &r);
    }
}

/* ---------------------------------------------------------------- what a process gets */

static char *input_text;
static char *env_words[] = { (char *)"MINE=a b", (char *)"OMPI_MCA_btl=self,vader" };
static char *mca_words[] = { (char *)"coll_base_verbose=0" };

static inline void with_everything(struct hrun_job *job)
{
    job->stdin_text = input_text;
    job->no_stdin = 0;
    job->env = (struct hrun_strvec){ (char **)(uintptr_t)env_words, 2, 0 };
    job->mca = (struct hrun_strvec){ (char **)(uintptr_t)mca_words, 1, 0 };
    job->wdir = "/usr";
}

/* Each rank is where the layout says, in the right folder, with the right environment, after MPI_Init. */
static inline void surroundings(struct fixture *f, const char *engine)
{
    const char *const words[] = { "probe", "info", "env=MINE", "env=OMPI_MCA_btl",
                                  "env=OMPI_MCA_coll_base_verbose",
                                  "env=OMPI_MCA_mpi_yield_when_idle", "env=OMPI_COMM_WORLD_RANK",
                                  "env=OMPI_COMM_WORLD_LOCAL_SIZE", "env=TMPDIR", "stdin", NULL };
    struct hrun_outcome out;
    struct hrun_error err;
    int n = f->npes * 2, fds = open_fds(), bad = 0;
    char line[256];
    cpu_set_t before, after;

    sched_getaffinity(0, sizeof before, &before);
    input_text = (char *)"some text\nwithout an end";
    is_int(launch(f, engine, n, words, with_everything, &out, &err), 0, "%s: %d ranks with all settings",
           engine, n);
    is_int(out.status, 0, "status");
    for (int r = 0; r < n; r++) {
        const char *cpu = f->pes[r % f->npes].cpuset;
        if (f->pes[r % f->npes].npus > 1)
            continue;  /* written as a range there, one by one here */
        snprintf(line, sizeof line, "rank %d of %d cpus %s cwd /usr\n", r, n, cpu);
        bad += !strstr(f->output.data, line);
        snprintf(line, sizeof line, "rank %d MINE=a b\n", r);
        bad += !strstr(f->output.data, line);
        snprintf(line, sizeof line, "rank %d OMPI_COMM_WORLD_RANK=%d\n", r, r);
        bad += !strstr(f->output.data, line);
        snprintf(line, sizeof line, "rank %d OMPI_COMM_WORLD_LOCAL_SIZE=%d\n", r, n);
        bad += !strstr(f->output.data, line);
        snprintf(line, sizeof line, "rank %d TMPDIR=%s\n", r, f->tmp);
        bad += !strstr(f->output.data, line);
    }
    if (!ok(bad == 0, "binding, folder and environment of each rank"))
        printf("#   %d lines are missing in:\n%s\n", bad, f->output.data);
    has_str(f->output.data, "rank 0 OMPI_MCA_btl=self,vader\n", "-x sets MCA parameters too");
    has_str(f->output.data, "rank 0 OMPI_MCA_coll_base_verbose=0\n", "--mca");
    has_str(f->output.data, "rank 0 OMPI_MCA_mpi_yield_when_idle=1\n", "ranks that share a core yield");
    /* Between its pieces mpirun may put those of other ranks. */
    if (strcmp(engine, "local"))
        ok(strstr(f->output.data, "some text\n") && strstr(f->output.data, "without an end"), "rank 0 reads the text");
    else
        has_str(f->output.data, "some text\nwithout an end", "rank 0 reads the text");
    sched_getaffinity(0, sizeof after, &after);
    ok(CPU_EQUAL(&before, &after), "the caller's own binding is as before");
    is_clean(f, fds, "all settings");
}

/* ---------------------------------------------------------------- another MPI */

/* Compile a program of MPICH: main's body. 0, or -1 when there is no compiler. */
static inline int compile_mpich(const char *exe, const char *body)
{
    char *source = hrun_strf("%s.c", exe), *cmd = hrun_strf("mpicc.mpich -w -o %s %s.c 2>/dev/null", exe, exe);
    char *text = hrun_strf("int main(void) { %s }\n", body);
    int rc;

    hrun_file_replace(source, text, strlen(text), 0600, NULL);
    rc = system(cmd) ? -1 : 0;
    unlink(source);
    free(source);
    free(cmd);
    free(text);
    return rc;
}

/* A script that starts a program of another MPI, at once or late, is found out; one too short to be seen does
 * not run as worlds of one process each. */
static inline void foreign(struct fixture *f, const char *engine)
{
    static const char *const scripts[] = { "exec \"$0\"", "\"$0\"; true", "sleep 3.3; \"$0\"; true" };
    char *exe = hrun_strf("%s.other", f->tmp);
    struct hrun_outcome out;
    struct hrun_error err;
    int fds = open_fds();

    /* mpich is a package for tests alone: its programs are refused, and nothing else here needs it. */
    if (compile_mpich(exe, "pause(); return MPI_Init(0, 0);")) {
        ok(1, "# SKIP there is no mpicc.mpich");
        free(exe);
        return;
    }
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const char *words[] = { "sh", "-c", scripts[i], exe, NULL };
        alarm(120);               /* it is not noticed: the program waits for ever, and the test fails */
        is_int(launch(f, engine, 2, words, NULL, &out, &err), -1, "%s: a script that runs a program of MPICH: %s",
               engine, scripts[i]);
        is_int(err.code, HRUN_EMPI, "code");
        has_str(err.text, "sh runs a program linked with libmpich.so", "message");
        alarm(0);
        is_clean(f, fds, "after it");
    }
    compile_mpich(exe, "int n; MPI_Init(0, 0); puts(\"worked alone\"); return MPI_Finalize();");
    for (int i = 0; i < 2; i++) {
        const char *words[] = { "sh", "-c", scripts[i], exe, NULL };
        launch(f, engine, 2, words, NULL, &out, &err);  /* seen, or ended by its own failure */
        ok(!strstr(f->output.data, "worked alone"), "%s: a short program of MPICH does no work: %s", engine,
           scripts[i]);
        is_clean(f, fds, "after a short one");
    }
    unlink(exe);
    free(exe);
}

/* ---------------------------------------------------------------- output */

static inline void tagged(struct hrun_job *job)
{
    job->output.tagged = 1;
    job->output.on_stdout = NULL;
    job->output.swallow = 0;
    job->output.stderr_text = NULL;
}

/* Standard output and error of one launch in files out and err of the test's folder. */
static inline void captured(struct fixture *f, const char *engine, const char *const *words,
                            void (*change)(struct hrun_job *), struct hrun_buf *out, struct hrun_buf *errors)
{
    int old[2] = { dup(1), dup(2) }, fds[2];
    struct hrun_outcome outcome;
    char *path[2] = { hrun_strf("%s.out", f->tmp), hrun_strf("%s.err", f->tmp) };

    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        fds[i] = open(path[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
        dup2(fds[i], i + 1);
        close(fds[i]);
    }
    launch(f, engine, 2, words, change, &outcome, NULL);
    for (int i = 0; i < 2; i++) {
        dup2(old[i], i + 1);
        close(old[i]);
        hrun_file_read(path[i], 64 << 20, i ? errors : out, NULL);
        unlink(path[i]);
        free(path[i]);
    }
}

static inline void outputs(struct fixture *f, const char *engine)
{
    static const char *const words[] = { "sh", "-c", "echo out; echo err >&2; printf unfinished", NULL };
    static const char *const many[] = { "sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; "
                                        "i=$((i+1)); done", NULL };
    struct hrun_buf out = HRUN_BUF_INIT, errors = HRUN_BUF_INIT;
    const char *p;
    int in_order = 1;

    captured(f, engine, words, tagged, &out, &errors);
    has_str(out.data, "[0]<stdout>: out\n", "%s: tags", engine);
    has_str(out.data, "[1]<stdout>: unfinished", "a line without an end is not lost");
    has_str(errors.data, "[1]<stderr>: err\n", "standard error has tags of its own");
    ok(!strstr(out.data, "err\n") && !strstr(out.data, "[1,"), "and does not mix with standard output");
    hrun_buf_reset(&out);
    hrun_buf_reset(&errors);
    if (strcmp(engine, "local"))
        goto untagged;  /* mpirun 4 loses and mixes what comes so fast */
    captured(f, engine, many, tagged, &out, &errors);
    is_int(count(out.data, "[0]<stdout>: line "), 5000, "all lines of rank 0");
    is_int(count(out.data, "[1]<stdout>: line "), 5000, "all lines of rank 1");
    p = out.data;
    for (int i = 0; i < 5000 && in_order; i++) {
        char line[64];
        snprintf(line, sizeof line, "[1]<stdout>: line %d\n", i);
        p = strstr(p, line);
        in_order = p != NULL;
        p = p ? p : out.data;
    }
    ok(in_order, "in their order");
untagged:
    hrun_buf_reset(&out);
    hrun_buf_reset(&errors);
    captured(f, engine, words, untouched, &out, &errors);
    ok(count(out.data, "out\n") == 2 && count(out.data, "unfinished") == 2 && !strstr(out.data, "<stdout>"),
       "%s: without tags the output is untouched", engine);
    hrun_buf_release(&out);
    hrun_buf_release(&errors);
}

#endif
