/* test_launch_local.c - real jobs of engine local: ends, surroundings, output, starts that fail */
#include "launch.h"

/* MPI_Abort(0) is no success: only here, mpirun 4 makes it one. */
static void abort_zero(struct fixture *f)
{
    const struct run r = { .what = "MPI_Abort(0)", .n = 2, .words = { "probe", "@1:abort=0", "@0:sleep=20" },
                           .status = 1, .failed_rank = 1, .says = "rank 1 aborted the job with status 0" };

    check_run(f, "local", &r);
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

/* Collected output: all of it, and the tail of standard error. */
static void collected(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "head -c 3000000 /dev/zero; head -c 200000 /dev/zero | "
                                         "tr '\\0' e >&2; "
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

    is_int(launch(f, "local", 1, words, NULL, &out, &err), 0, "a child in a session and an environment of "
           "its own");
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
    has_str(err.text, ".script cannot be executed: it, or the interpreter that it names, does not exist",
            "message");
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

    if (jobs_open(&f))
        return tap_done();
    all_ends(&f, "local");
    abort_zero(&f);
    surroundings(&f, "local");
    own_stdin(&f);
    outputs(&f, "local");
    collected(&f);
    stranger_holds_pipe(&f);
    refused(&f);
    foreign(&f, "local");
    nested(&f);
    many_jobs(&f);
    fixture_close(&f);
    return tap_done();
}
