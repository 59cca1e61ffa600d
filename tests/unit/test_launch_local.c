/* test_launch_local.c - real jobs of both engines: how they end, what they get, what they leave behind */
#include "launch_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { MAX_WORDS = 16 };

/* How one job is to be run and what must come of it. */
struct run {
    const char *what;
    int n;                         /* ranks, one per core and round again */
    const char *words[MAX_WORDS];  /* program and arguments; "probe" is the test application */
    int status, failed_rank, interrupted, timed_out;
    const char *says;              /* in the messages; NULL: there must be none */
    double timeout_s;
};

static char shm_prefix[64];        /* of this user's and process's folders in /dev/shm */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int open_fds(void)
{
    return entries("/proc/self/fd", "");
}

/* Nothing remains: no folder, no child, no descriptor; signals as before. */
static void is_clean(const struct fixture *f, int fds, const char *what)
{
    sigset_t mask;
    int blocked = 0;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int s = 1; s < 32; s++)
        blocked += sigismember(&mask, s) == 1;
    snprintf(shm_prefix, sizeof shm_prefix, "hrun.%lu.%ld.", (unsigned long)getuid(), (long)getpid());
    ok(entries(f->tmp, "") == 0 && entries("/dev/shm", shm_prefix) == 0 && waitpid(-1, NULL, WNOHANG) == -1 &&
       errno == ECHILD && open_fds() == fds && blocked == 0, "%s: nothing is left (folders %d, /dev/shm %d, files %d of "
       "%d, signals %d)", what, entries(f->tmp, ""), entries("/dev/shm", shm_prefix), open_fds(), fds, blocked);
}

/* Run words with n ranks on engine; change, if not NULL, adjusts the job. */
static int launch(struct fixture *f, const char *engine, int n, const char *const *words,
                  void (*change)(struct hrun_job *job), struct hrun_outcome *out, struct hrun_error *err)
{
    struct hrun_layout *l = hrun_layout_plain(&f->cluster, n, NULL);
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

static double timeout_for_change;

static void set_timeout(struct hrun_job *job)
{
    job->timeout_s = timeout_for_change;
}

static void check_run(struct fixture *f, const char *engine, const struct run *r)
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
    { .what = "MPI_Abort(7)", .n = 2, .words = { "probe", "@1:abort=7", "@0:sleep=20" }, .status = 7, .failed_rank = 1,
      .says = "rank 1 aborted the job with status 7" },
    { .what = "a rank exits with 3", .n = 2, .words = { "probe", "@1:exit=3", "@0:sleep=20" }, .status = 3,
      .failed_rank = 1, .says = "rank 1 exited with status 3" },
    { .what = "a rank is killed", .n = 2, .words = { "probe", "@1:kill=9", "@0:spin" }, .status = 137, .failed_rank = 1,
      .says = "rank 1 was killed by signal 9 (Killed)" },
    { .what = "a rank crashes", .n = 2, .words = { "probe", "@0:kill=11", "@1:sleep=20" }, .status = 139,
      .failed_rank = 0, .says = "rank 0 was killed by signal 11 (Segmentation fault)" },
    { .what = "a rank leaves without MPI_Finalize", .n = 2, .words = { "probe", "@0:nofinalize", "@1:sleep=20" },
      .status = 1, .failed_rank = 0, .says = "rank 0 exited without calling MPI_Finalize" },
    { .what = "a rank that ignores SIGTERM", .n = 2, .words = { "probe", "@0:term-ignore", "ring", "@0:sleep=20",
      "@1:exit=4" }, .status = 4, .failed_rank = 1, .says = "rank 1 exited with status 4" },
    { .what = "the time limit", .n = 2, .words = { "sleep", "20" }, .status = 124, .timed_out = 1, .failed_rank = -1,
      .timeout_s = 0.3, .says = "the job did not end within 0.3 s: ending it" },
    { .what = "a shell that starts MPI programs in turn", .n = 2, .words = { "sh", "-c", "\"$0\" ring && \"$0\" ring",
      NULL }, .failed_rank = -1 },
    { .what = "children that outlive their rank", .n = 2, .words = { "sh", "-c", "sleep 30 & setsid sleep 30 & exit 0" },
      .failed_rank = -1 },
};

static void all_ends(struct fixture *f, const char *engine)
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

/* MPI_Abort(0) is no success: only here, mpirun 4 makes it one. */
static void abort_zero(struct fixture *f)
{
    const struct run r = { .what = "MPI_Abort(0)", .n = 2, .words = { "probe", "@1:abort=0", "@0:sleep=20" },
                           .status = 1, .failed_rank = 1, .says = "rank 1 aborted the job with status 0" };

    check_run(f, "local", &r);
}

/* ---------------------------------------------------------------- what a process gets */

static char *input_text;
static char *env_words[] = { (char *)"MINE=a b", (char *)"OMPI_MCA_btl=self,vader" };
static char *mca_words[] = { (char *)"coll_base_verbose=0" };

static void with_everything(struct hrun_job *job)
{
    job->stdin_text = input_text;
    job->no_stdin = 0;
    job->env = env_words;
    job->n_env = 2;
    job->mca = mca_words;
    job->n_mca = 1;
    job->wdir = "/usr";
}

/* Each rank is where the layout says, in the right folder, with the right environment, after MPI_Init. */
static void surroundings(struct fixture *f, const char *engine)
{
    const char *const words[] = { "probe", "info", "env=MINE", "env=OMPI_MCA_btl", "env=OMPI_MCA_coll_base_verbose",
                                  "env=OMPI_MCA_mpi_yield_when_idle", "env=OMPI_COMM_WORLD_RANK",
                                  "env=OMPI_COMM_WORLD_LOCAL_SIZE", "env=TMPDIR", "stdin", NULL };
    struct hrun_outcome out;
    struct hrun_error err;
    int n = f->npes * 2, fds = open_fds(), bad = 0;
    char line[256];
    cpu_set_t before, after;

    sched_getaffinity(0, sizeof before, &before);
    input_text = (char *)"some text\nwithout an end";
    is_int(launch(f, engine, n, words, with_everything, &out, &err), 0, "%s: %d ranks with all settings", engine, n);
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
    has_str(f->output.data, "some text\nwithout an end", "rank 0 reads the text");
    sched_getaffinity(0, sizeof after, &after);
    ok(CPU_EQUAL(&before, &after), "the caller's own binding is as before");
    is_clean(f, fds, "all settings");
}

static void from_descriptor(struct hrun_job *job)
{
    job->no_stdin = 0;
}

/* Rank 0 reads hrun's own standard input, and takes no more of it than it reads. */
static void own_stdin(struct fixture *f)
{
    const char *const words[] = { "sh", "-c", "read a && echo \"got $a\"; echo $OMPI_COMM_WORLD_RANK", NULL };
    struct hrun_outcome out;
    struct hrun_error err;
    int p[2], old = dup(STDIN_FILENO);
    char rest[32] = "";

    if (pipe(p) || write(p[1], "line 1\nline 2\n", 14) != 14)
        return;
    close(p[1]);
    dup2(p[0], STDIN_FILENO);
    close(p[0]);
    is_int(launch(f, "local", 2, words, from_descriptor, &out, &err), 0, "standard input is passed on");
    has_str(f->output.data, "got line 1\n", "to rank 0");
    ok(!strstr(f->output.data, "got line 2"), "and to no other");
    ok(read(STDIN_FILENO, rest, sizeof rest - 1) == 7, "the rest is left for the shell");
    is_str(rest, "line 2\n", "all of it");
    dup2(old, STDIN_FILENO);
    close(old);
}

/* ---------------------------------------------------------------- output */

static struct fixture *tag_fixture;

static void tagged(struct hrun_job *job)
{
    job->tag_output = 1;
    job->on_stdout = NULL;
    job->swallow = 0;
    job->stderr_text = NULL;
    (void)tag_fixture;
}

static void untouched(struct hrun_job *job)
{
    job->on_stdout = NULL;
    job->swallow = 0;
    job->stderr_text = NULL;
}

/* Standard output and error of one launch in files out and err of the test's folder. */
static void captured(struct fixture *f, const char *engine, const char *const *words,
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

static int count(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what))) {
        n++;
        text += strlen(what);
    }
    return n;
}

static void outputs(struct fixture *f, const char *engine)
{
    static const char *const words[] = { "sh", "-c", "echo out; echo err >&2; printf unfinished", NULL };
    static const char *const many[] = { "sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done", NULL };
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

/* Collected output: all of it, and the tail of standard error. */
static void collected(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "head -c 3000000 /dev/zero; head -c 200000 /dev/zero | tr '\\0' e >&2; "
                                         "printf end >&2", NULL };
    struct hrun_outcome out;
    struct hrun_error err;

    is_int(launch(f, "local", 1, words, NULL, &out, &err), 0, "much output is collected");
    is_int(f->output.len, 3000000, "all of standard output");
    is_int(f->errors.len, 65536, "the last 64 KiB of standard error");
    ok(f->errors.len > 4 && !strcmp(f->errors.data + f->errors.len - 4, "eend"), "which are really the last");
}

/* A stranger that keeps the output open does not keep hrun. */
static void stranger_holds_pipe(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "echo hello; env -i setsid sleep 30 & exit 0", NULL };
    struct hrun_outcome out;
    struct hrun_error err;
    double begin = now_s();

    is_int(launch(f, "local", 1, words, NULL, &out, &err), 0, "a child in a session and an environment of its own");
    ok(now_s() - begin < 10, "is not waited for (%.1f s)", now_s() - begin);
    is_str(f->output.data, "hello\n", "the output is complete");
}

/* ---------------------------------------------------------------- failures to start */

static void bad_wdir(struct hrun_job *job)
{
    job->program = "/bin/true";
    job->wdir = "/";
}

static void refused(struct fixture *f)
{
    char *script = hrun_strf("%s.script", f->tmp), *plain = hrun_strf("%s.plain", f->tmp);
    const char *words[] = { script, NULL }, *plain_words[] = { plain, "x y", NULL };
    const char *const fine[] = { "true", NULL };
    struct hrun_outcome out = { .status = 77 };
    struct hrun_error err;
    int fds = open_fds();

    hrun_file_replace(script, "#!/no/such/interpreter\n", 23, 0700, NULL);
    is_int(launch(f, "local", 2, words, NULL, &out, &err), -1, "a script without its interpreter");
    is_int(err.code, HRUN_ENOPROG, "code");
    has_str(err.text, ".script cannot be executed: it, or the interpreter that it names, does not exist", "message");
    is_int(out.status, 77, "the outcome is untouched");
    is_clean(f, fds, "after a failed start");
    hrun_file_replace(script, "\177ELF nonsense", 13, 0700, NULL);
    is_int(launch(f, "local", 2, words, NULL, &out, &err), -1, "a file that is no program");
    is_int(err.code, HRUN_ENOEXEC, "code");
    has_str(err.text, ".script cannot be executed: Exec format error", "message");
    is_clean(f, fds, "after a second failed start");
    hrun_file_replace(plain, "echo \"plain $1\"\n", 16, 0700, NULL);
    is_int(launch(f, "local", 1, plain_words, NULL, &out, &err), 0, "a script without #!");
    is_str(f->output.data, "plain x y\n", "is run by the shell, as execvp does");
    is_int(launch(f, "local", 2, fine, bad_wdir, &out, &err), 0, "and a good one still runs");
    unlink(script);
    unlink(plain);
    free(script);
    free(plain);
}

/* A script that starts a program of another MPI is found out. */
static void foreign(struct fixture *f)
{
    char *cc = hrun_program_find("mpicc.mpich", NULL, NULL), *exe = hrun_strf("%s.other", f->tmp);
    char *cmd = hrun_strf("printf 'int MPI_Init(int *, char ***); int sleep(int); int main(void) "
                          "{ sleep(20); return MPI_Init(0, 0); }' > %s.c && mpicc.mpich -w -o %s %s.c 2>/dev/null",
                          exe, exe, exe);
    const char *const words[] = { "sh", "-c", "\"$0\"; true", exe, NULL };
    struct hrun_outcome out;
    struct hrun_error err;
    int fds = open_fds();

    if (!cc || system(cmd)) {
        ok(1, "# SKIP there is no mpicc.mpich");
    } else {
        is_int(launch(f, "local", 2, words, NULL, &out, &err), -1, "a script that runs a program of MPICH");
        is_int(err.code, HRUN_EMPI, "code");
        has_str(err.text, "sh runs a program linked with libmpich.so", "message");
        is_clean(f, fds, "after it");
    }
    unlink(exe);
    free(cmd);
    cmd = hrun_strf("%s.c", exe);
    unlink(cmd);
    free(cmd);
    free(exe);
    free(cc);
}

/* ---------------------------------------------------------------- signals: hrun as a process of its own */

struct victim {
    pid_t pid;
    int out;                       /* what the job writes */
};

/* A process that launches words and exits with the outcome's status, 99 when the launch failed. */
static struct victim start_victim(struct fixture *f, const char *engine, int n, const char *const *words)
{
    struct victim v = { -1, -1 };
    int p[2];

    fflush(stdout);
    if (pipe2(p, O_CLOEXEC))
        return v;
    v.pid = fork();
    if (v.pid == 0) {
        struct hrun_outcome out;
        struct hrun_error err;
        setpgid(0, 0);
        dup2(p[1], STDOUT_FILENO);
        _exit(launch(f, engine, n, words, untouched, &out, &err) ? 99 : out.status);
    }
    close(p[1]);
    v.out = p[0];
    return v;
}

/* Read until the text holds `times` times `what`, at most 20 s. */
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

static int status_of(pid_t pid)
{
    int status;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define LOOP "while :; do sleep 0.02; done"

static void signals(struct fixture *f)
{
    static const struct { const char *what, *script; int sig, twice, status; const char *says; } cases[] = {
        { "SIGINT ends", "echo ready; " LOOP, SIGINT, 0, 130, NULL },
        { "SIGTERM ends", "echo ready; " LOOP, SIGTERM, 0, 143, NULL },
        { "SIGHUP ends", "echo ready; " LOOP, SIGHUP, 0, 129, NULL },
        { "SIGQUIT ends", "ulimit -c 0; echo ready; exec sleep 20", SIGQUIT, 0, 131, NULL },
        { "a handler that exits with 0", "trap 'echo caught; exit 0' TERM; echo ready; " LOOP, SIGTERM, 0, 0,
          "caught\n" },
        { "a handler that exits with 5", "trap 'echo caught; exit 5' TERM; echo ready; " LOOP, SIGTERM, 0, 143,
          "caught\n" },
        { "SIGUSR1 is passed on", "trap 'echo caught; exit 0' USR1; echo ready; " LOOP, SIGUSR1, 0, 0, "caught\n" },
        { "SIGUSR2 is passed on", "trap 'echo caught; exit 0' USR2; echo ready; " LOOP, SIGUSR2, 0, 0, "caught\n" },
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
static int reaches(pid_t pid, const char *states)
{
    double end = now_s() + 10;

    while (!strchr(states, state_of(pid)) && now_s() < end)
        usleep(5000);
    return strchr(states, state_of(pid)) != NULL;
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

/* SIGKILL of hrun: the ranks, what they started and the folders go. */
static void killed(struct fixture *f, const char *engine)
{
    static const char *const words[] = { "bash", "-c", "trap '' TERM; (trap '' TERM; echo child=$BASHPID; " LOOP ") & "
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

/* A job that runs inside another is a world of its own. */
static void nested(struct fixture *f)
{
    static const char *const words[] = { "probe", "ring", NULL };
    struct hrun_outcome out;
    struct hrun_error err;

    setenv("PMIX_RANK", "5", 1);
    setenv("PMIX_NAMESPACE", "outer", 1);
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    setenv("OMPI_MCA_ess", "^singleton", 1);
    is_int(launch(f, "local", 2, words, NULL, &out, &err), 0, "a job inside another");
    is_int(out.status, 0, "works");
    has_str(f->output.data, "ring good\n", "as a world of its own");
    unsetenv("PMIX_RANK");
    unsetenv("PMIX_NAMESPACE");
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_MCA_ess");
}

static int started;

static void on_start(void *ctx)
{
    (void)ctx;
    started++;
}

static void tell_start(struct hrun_job *job)
{
    job->on_start = on_start;
}

static void many_jobs(struct fixture *f)
{
    static const char *const words[] = { "true", NULL };
    struct hrun_outcome out;
    int good = 0, fds = open_fds();

    for (int i = 0; i < 20; i++)
        good += launch(f, "local", 2, words, tell_start, &out, NULL) == 0 && out.status == 0;
    is_int(good, 20, "twenty jobs in one process");
    is_int(started, 20, "on_start is called once for each");
    is_clean(f, fds, "twenty jobs");
}

int main(void)
{
    struct fixture f;
    char path[4096], cwd[4096];
    const char *apps = getenv("HRUN_TEST_APPS");
    char *absolute;

    if (!getcwd(cwd, sizeof cwd) || fixture_open(&f))
        return tap_done();
    absolute = apps && *apps == '/' ? strdup(apps) : hrun_strf("%s/%s", cwd, apps ? apps : "build/tests/apps");
    setenv("HRUN_TEST_APPS", absolute, 1);
    free(absolute);
    if (!test_app("probe", path, sizeof path)) {
        ok(0, "tests/apps/probe is built (make apps)");
        fixture_close(&f);
        return tap_done();
    }
    all_ends(&f, "local");
    abort_zero(&f);
    surroundings(&f, "local");
    own_stdin(&f);
    outputs(&f, "local");
    collected(&f);
    stranger_holds_pipe(&f);
    refused(&f);
    foreign(&f);
    signals(&f);
    ignored_signal(&f);
    stop_and_go(&f);
    killed(&f, "local");
    nested(&f);
    many_jobs(&f);
    if (hrun_engine_find("mpirun")->usable(&f.cluster, NULL)) {
        ok(1, "# SKIP there is no mpirun of Open MPI");
    } else {
        all_ends(&f, "mpirun");
        surroundings(&f, "mpirun");
        outputs(&f, "mpirun");
        killed(&f, "mpirun");
    }
    fixture_close(&f);
    return tap_done();
}
