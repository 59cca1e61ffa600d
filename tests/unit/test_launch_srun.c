/* test_launch_srun.c - engine srun without Slurm: srun's words, folded output, the command, what is refused */
#include "tap.h"

#include "launch/engines/engines.h"
#include "launch/launch.h"
#include "launch/slurm.h"
#include "launch/engines/srun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *line;
    enum hrun_srun_kind kind;
    int task, status, signal;
    const char *text;           /* or step */
} lines[] = {
    { "srun: launching StepId=5.3 on host h1, 2 tasks: [1,3]", HRUN_SRUN_STEP, 0, 0, 0, "5.3" },
    { "srun: launching StepId=4.0 on host h3, 1 tasks: 0", HRUN_SRUN_STEP, 0, 0, 0, "4.0" },
    { "srun: launch/slurm: _task_start: Node h1, 2 tasks started", HRUN_SRUN_STARTED, 2, 0, 0, NULL },
    { "srun: launch/slurm: _task_finish: Received task exit notification for 1 task of StepId=5.3 (status=0x0300).",
      HRUN_SRUN_NOTICE, 0, 0, 0, "5.3" },
    { "srun: error: h1: task 3: Exited with exit code 3", HRUN_SRUN_TASKS, 3, 3, 0, NULL },
    { "srun: error: h3: tasks 12,14-16: Killed", HRUN_SRUN_TASKS, 12, 137, 9, NULL },
    { "srun: error: h3: tasks [4-7]: Terminated", HRUN_SRUN_TASKS, 4, 143, 15, NULL },
    { "srun: error: h1: task 0: Segmentation fault (core dumped)", HRUN_SRUN_TASKS, 0, 139, 11, NULL },
    { "srun: error: h1: task 0: Aborted", HRUN_SRUN_TASKS, 0, 134, 6, NULL },
    { "srun: launch/slurm: _task_finish: h1: tasks 1,3: Completed", HRUN_SRUN_TASKS, 1, 0, 0, NULL },
    { "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.", HRUN_SRUN_ABORTED, 0, 0, 0, NULL },
    { "srun: error: Node failure on h3", HRUN_SRUN_LOST, 0, 0, 0, "h3" },
    { "srun: Job 5 step creation temporarily disabled, retrying (Requested nodes are busy)", HRUN_SRUN_WAITING, 0, 0, 0,
      "Job 5 step creation temporarily disabled, retrying (Requested nodes are busy)" },
    { "srun: error: Unable to create step for job 5: More processors requested than permitted", HRUN_SRUN_COMPLAINT, 0,
      0, 0, "Unable to create step for job 5: More processors requested than permitted" },
    { "srun: fatal: Duplicate het groups in single srun not supported", HRUN_SRUN_COMPLAINT, 0, 0, 0,
      "Duplicate het groups in single srun not supported" },
    { "srun: error: h1: task x: Killed", HRUN_SRUN_COMPLAINT, 0, 0, 0, "h1: task x: Killed" },
    { "srun: error: h1: task 3: Danced", HRUN_SRUN_COMPLAINT, 0, 0, 0, "h1: task 3: Danced" },
    { "srun: error: h1: task 0: Real-time signal 2", HRUN_SRUN_TASKS, 0, 164, 36, NULL },
    { "srun: error: h1: task 0: Real-time signal 2147483647", HRUN_SRUN_COMPLAINT, 0, 0, 0,
      "h1: task 0: Real-time signal 2147483647" },
    { "srun: error: h1: task 4294967299: Killed", HRUN_SRUN_COMPLAINT, 0, 0, 0, "h1: task 4294967299: Killed" },
    { "srun: jobid 5: nodes(4):`h[1-4]', cpu counts: 2(x2),1(x2)", HRUN_SRUN_NOTHING, 0, 0, 0, NULL },
    { "error: h1: task 3: Exited with exit code 3", HRUN_SRUN_NOTHING, 0, 0, 0, NULL },
    { "", HRUN_SRUN_NOTHING, 0, 0, 0, NULL },
};

static void words(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct hrun_srun_said s;
        char *text;

        hrun_srun_read(lines[i].line, &s);
        is_int((int)s.kind, (int)lines[i].kind, "kind of '%s'", lines[i].line);
        if (lines[i].kind == HRUN_SRUN_STARTED)
            is_int(s.ntasks, lines[i].task, "tasks");
        if (lines[i].kind == HRUN_SRUN_TASKS)
            ok(s.task == lines[i].task && s.status == lines[i].status && s.signal == lines[i].signal,
               "task %d, status %d, signal %d", s.task, s.status, s.signal);
        if (!lines[i].text)
            continue;
        text = hrun_strf("%.*s", (int)s.len, s.text ? s.text : "");
        is_str(s.text ? text : s.step, lines[i].text, "text");
        free(text);
    }
}

static void folds(void)
{
    static const char stream[] = "1: <a>.\n0: one \\\n0: line.\n1: </a>.\n00: .\nnoise\n7: nobody's.\n0: =0\n"
                                 "1: <!\\\n1: =3\n";
    struct hrun_buf outputs[2] = { HRUN_BUF_INIT, HRUN_BUF_INIT };

    for (size_t step = 1; step < sizeof stream; step++) {
        int status[2] = { -1, -1 };
        struct hrun_unfold u = { 2, outputs, status, HRUN_BUF_INIT };

        for (size_t at = 0; at < sizeof stream - 1; at += step)
            hrun_unfold(&u, stream + at, at + step < sizeof stream ? step : sizeof stream - 1 - at);
        if (strcmp(outputs[0].data, "one line\n\n") || strcmp(outputs[1].data, "<a>\n</a>\n<!") || status[0] != 0 ||
            status[1] != 3)
            ok(0, "in pieces of %zu: '%s', '%s', %d, %d", step, outputs[0].data, outputs[1].data, status[0], status[1]);
        hrun_buf_reset(&outputs[0]);
        hrun_buf_reset(&outputs[1]);
        hrun_buf_release(&u.line);
    }
    ok(1, "folded lines of two tasks, the stream cut anywhere");
    hrun_buf_release(&outputs[0]);
    hrun_buf_release(&outputs[1]);
}

/* What the shim folds is what comes out again. */
static void round_trip(void)
{
    struct hrun_buf output = HRUN_BUF_INIT, labelled = HRUN_BUF_INIT, expected = HRUN_BUF_INIT;
    int status = -1, c;
    struct hrun_unfold u = { 1, &output, &status, HRUN_BUF_INIT };
    const char *b = getenv("HRUN_BUILD");
    char *command = hrun_strf("%s/bin/hrun-shim", b ? b : "build");
    int fds[2];
    FILE *in;

    for (int n = 0; n < 2500; n += 399)
        hrun_buf_addn(&expected, 'a', (size_t)n), hrun_buf_addc(&expected, '\n');
    hrun_buf_adds(&expected, "end.");
    if (pipe(fds))
        return;
    if (fork() == 0) {
        dup2(fds[1], 1);
        close(fds[0]);
        execl(command, "hrun-shim", "fold", "printf", "%s", expected.data, (char *)NULL);
        _exit(99);
    }
    close(fds[1]);
    in = fdopen(fds[0], "r");
    for (int begin = 1, width = 0; (c = getc(in)) != EOF; begin = c == '\n') {
        if (begin)
            hrun_buf_adds(&labelled, "0: ");
        width = begin ? 1 : width + 1;
        if (width > 1000)
            ok(0, "a line of more than 1000 characters");
        hrun_buf_addc(&labelled, (char)c);
    }
    fclose(in);
    hrun_unfold(&u, labelled.data, labelled.len);
    is_str(output.data, expected.data, "hrun-shim fold and back");
    is_int(status, 0, "with the command's status");
    hrun_buf_release(&output);
    hrun_buf_release(&labelled);
    hrun_buf_release(&expected);
    hrun_buf_release(&u.line);
    free(command);
}

/* ---------------------------------------------------------------- commands */

static char cpus[] = "0";
static struct hrun_host hosts[] = { { .name = (char *)"h2" }, { .name = (char *)"h1.example.org" },
                                   { .name = (char *)"x7" } };
static struct hrun_cluster cluster = { .hosts = hosts, .nhosts = 3 };
static char *argv[] = { (char *)"./app", (char *)"a b", NULL };

static void check(const char *what, int nranks, const int *on, struct hrun_job *job, const char *want, const char *why)
{
    struct hrun_rank ranks[8];
    struct hrun_layout l = { .cluster = &cluster, .ranks = ranks, .nranks = nranks };
    struct hrun_error err = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    int rc;

    for (int i = 0; i < nranks; i++)
        ranks[i] = (struct hrun_rank){ .host = on[i], .cpuset = cpus };
    job->layout = &l;
    job->argv = argv;
    job->program = "/bin/true";
    rc = hrun_engine_srun.command(job, &out, &err);
    if (want)
        is_str(rc ? err.text : out.data, want, "%s", what);
    else
        ok(rc && strstr(err.text, why), "%s: %s", what, err.text);
    hrun_buf_release(&out);
}

/* For a heterogeneous job: only where the names of its nodes rise from component to component. */
static void suits(void)
{
    struct hrun_cluster c = cluster;

    c.manager = HRUN_MANAGER_SLURM;
    c.ngroups = 2;
    hosts[2].group = 1;
    ok(hrun_engine_srun.suits(&c, NULL), "components in the order of their nodes");
    hosts[1].group = 1;
    ok(!hrun_engine_srun.suits(&c, NULL), "and not in it");
    c.ngroups = 1;
    ok(hrun_engine_srun.suits(&c, NULL), "one component");
    hosts[1].group = hosts[2].group = 0;
}

static void commands(void)
{
    static const int order[] = { 0, 1, 0, 1, 1 }, foreign[] = { 0, 2 }, back[] = { 2, 0 };
    static char *env[] = { (char *)"A=b c", (char *)"HOME" }, *mca[] = { (char *)"btl=self,tcp" };
    static char *b[] = { (char *)"./b", NULL };
    static const struct hrun_program programs[] = { { argv, "/bin/true" }, { b, "/bin/b" } };
    static const int which[] = { 0, 1, 1, 1, 0 };
    struct hrun_job plain = { 0 }, several = { .programs = programs, .which = which };
    struct hrun_job full = { .env = { env, 2, 0 }, .mca = { mca, 1, 0 }, .wdir = "/tmp", .no_stdin = 1 };

    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_NODELIST", "h[1-3]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "2(x3)", 1);
    check("interleaved ranks", 5, order, &plain,
          "env 'SLURM_JOB_NODELIST=h[1-2]' srun --mpi=pmix --nodes=2 --ntasks=5 --distribution=arbitrary "
          "'--nodelist=h[2,1-2,1,1]' --overcommit --overlap --whole --cpu-bind=none ./app 'a b'", NULL);
    check("all settings", 1, order, &full,
          "env SLURM_JOB_NODELIST=h2 'OMPI_MCA_btl=self,tcp' 'A=b c' srun --mpi=pmix --nodes=1 --ntasks=1 "
          "--distribution=arbitrary --nodelist=h2 --overcommit --overlap --whole --cpu-bind=none --chdir=/tmp ./app "
          "'a b' < /dev/null", NULL);
    setenv("SLURM_JOB_NODELIST", "h[1-2]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "2(x2)", 1);
    check("all nodes of the job: the list stays as it is", 2, order, &plain,
          "srun --mpi=pmix --nodes=2 --ntasks=2 --distribution=arbitrary '--nodelist=h[2,1]' --overcommit --overlap "
          "--whole --cpu-bind=none ./app 'a b'", NULL);
    check("two programs", 5, order, &several,
          "srun --mpi=pmix --nodes=2 --ntasks=5 --distribution=arbitrary '--nodelist=h[2,1-2,1,1]' --overcommit "
          "--overlap --whole --cpu-bind=none /bin/sh -c '[ $SLURM_PROCID -lt 1 ] && exec ./app '\\''a b'\\''; "
          "[ $SLURM_PROCID -lt 4 ] && exec ./b; exec ./app '\\''a b'\\'''", NULL);
    check("a host of another job", 2, foreign, &plain, NULL, "host 'x7' is not part of Slurm job 12");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    setenv("SLURM_HET_SIZE", "2", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "h[1-2]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "2(x2)", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "x7", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1", "1", 1);
    check("two components", 2, foreign, &plain,
          "srun --het-group=0 --mpi=pmix --nodes=1 --ntasks=1 --distribution=arbitrary --nodelist=h2 --overcommit "
          "--overlap --whole --cpu-bind=none ./app 'a b' : --het-group=1 --mpi=pmix --nodes=1 --ntasks=1 "
          "--distribution=arbitrary --nodelist=x7 --overcommit --overlap --whole --cpu-bind=none ./app 'a b'", NULL);
    check("of two programs each component has its own", 2, foreign, &several,
          "srun --het-group=0 --mpi=pmix --nodes=1 --ntasks=1 --distribution=arbitrary --nodelist=h2 --overcommit "
          "--overlap --whole --cpu-bind=none ./app 'a b' : --het-group=1 --mpi=pmix --nodes=1 --ntasks=1 "
          "--distribution=arbitrary --nodelist=x7 --overcommit --overlap --whole --cpu-bind=none ./b", NULL);
    check("components out of order", 2, back, &plain, NULL, "Slurm numbers processes component by component");
    unsetenv("SLURM_HET_SIZE");
    unsetenv("SLURM_JOB_ID");
}

/* ---------------------------------------------------------------- which engine */

static void engines(void)
{
    struct hrun_error err = { 0 };

    ok(hrun_engine_find("srun") != NULL, "srun is in the table");
    ok(hrun_engine_find("srun")->usable(&cluster, NULL, &err) && strstr(err.text, "salloc or sbatch"),
       "outside of an allocation: %s", err.text);
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_NODELIST", "h[1-3]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "2(x3)", 1);
    setenv("PATH", "/nonexistent", 1);
    cluster.nhosts = 2;
    ok(hrun_engine_find("srun")->usable(&cluster, NULL, &err) && strstr(err.text, "install slurm-client"),
       "no srun: %s", err.text);
    cluster.nhosts = 1;
    hosts[0].is_local = 1;
    ok(hrun_engine_auto(&cluster, NULL, NULL, &err) == hrun_engine_find("local"),
       "then one host, this one, has engine local");
}

static void environment(void)
{
    struct hrun_strvec env = HRUN_STRVEC_INIT;
    int bad = 0, kept = 0;

    setenv("SLURM_NTASKS_PER_NODE", "1", 1);
    setenv("SLURM_EXPORT_ENV", "NONE", 1);
    setenv("SLURM_CONF", "/etc/slurm.conf", 1);
    hrun_srun_clean_env(&env);
    for (size_t i = 0; i < env.n; i++) {
        bad += !strncmp(env.v[i], "SLURM_NTASKS", 12) || !strncmp(env.v[i], "SLURM_EXPORT_ENV", 16);
        kept += !strncmp(env.v[i], "SLURM_CONF=", 11);
    }
    is_int(bad, 0, "has no variables that act as options");
    is_int(kept, 1, "has the others");
    hrun_strvec_release(&env);
}

int main(void)
{
    words();
    folds();
    round_trip();
    suits();
    commands();
    engines();
    environment();
    return tap_done();
}
