/* launch_ends.h - how jobs end, what they get and what their output becomes: the same for both engines */
#ifndef HRUN_TESTS_LAUNCH_ENDS_H
#define HRUN_TESTS_LAUNCH_ENDS_H

#include "launch_jobs.h"

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

__attribute__((unused))
static void set_timeout(struct hrun_job *job)
{
    job->timeout_s = timeout_for_change;
}

__attribute__((unused))
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

__attribute__((unused))
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

/* ---------------------------------------------------------------- what a process gets */

static char *input_text;
static char *env_words[] = { (char *)"MINE=a b", (char *)"OMPI_MCA_btl=self,vader" };
static char *mca_words[] = { (char *)"coll_base_verbose=0" };

__attribute__((unused))
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
__attribute__((unused))
static void surroundings(struct fixture *f, const char *engine)
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
    has_str(f->output.data, "some text\nwithout an end", "rank 0 reads the text");
    sched_getaffinity(0, sizeof after, &after);
    ok(CPU_EQUAL(&before, &after), "the caller's own binding is as before");
    is_clean(f, fds, "all settings");
}

/* ---------------------------------------------------------------- another MPI */

/* Compile a program of MPICH: main's body. 0, or -1 when there is no compiler. */
static int compile_mpich(const char *exe, const char *body)
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
__attribute__((unused))
static void foreign(struct fixture *f, const char *engine)
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

__attribute__((unused))
static void tagged(struct hrun_job *job)
{
    job->tag_output = 1;
    job->on_stdout = NULL;
    job->swallow = 0;
    job->stderr_text = NULL;
}

/* Standard output and error of one launch in files out and err of the test's folder. */
__attribute__((unused))
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

__attribute__((unused))
static void outputs(struct fixture *f, const char *engine)
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
