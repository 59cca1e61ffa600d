/* test_launch_smpi.c - engine smpi without SimGrid: SimGrid's words, what is refused, what tells times apart */
#include "tap.h"

#include "launch/engines/engines.h"
#include "launch/engines/smpi.h"

#include <string.h>

static const struct {
    const char *line;
    enum hrun_smpi_kind kind;
    int rank;
    double value;
    const char *text;
} lines[] = {
    { "clock 0.028943805052569899", HRUN_SMPI_CLOCK, -1, 0.028943805052569899, NULL },
    { "clock 0", HRUN_SMPI_CLOCK, -1, 0, NULL },
    { "clock -1", HRUN_SMPI_NOTHING, -1, -1, NULL },
    { "clock x", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "WARNING smpi_kernel 12 SMPI process did not return 0. Return value : 3", HRUN_SMPI_STATUS, 12, 3, NULL },
    { "WARNING smpi_kernel 1 SMPI process did not return 0. Return value : 1e300", HRUN_SMPI_STATUS, 1, 1, NULL },
    { "clock inf", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "WARNING smpi_pmpi 1 MPI_Abort was called, something went probably wrong in this simulation ! Killing all",
      HRUN_SMPI_ABORT, 1, 0, NULL },
    { "CRITICAL ker_engine maestro Oops! Deadlock detected, some activities are still around but will never complete.",
      HRUN_SMPI_DEADLOCK, -1, 0, NULL },
    { "INFO smpi maestro Stalling SMPI instance: smpirun. Do all your MPI ranks call MPI_Finalize()?",
      HRUN_SMPI_STALLED, -1, 0, NULL },
    { "CRITICAL root 0 Process exited without calling MPI_Finalize - Killing simulation", HRUN_SMPI_NOTHING, 0, 0,
      NULL },
    { "CRITICAL xbt_exception maestro Uncaught exception std::out_of_range: Bad config key: smpi/nonsense",
      HRUN_SMPI_FAILURE, -1, 0, "Bad config key: smpi/nonsense" },
    { "ERROR xbt_exception maestro Parse error at smpi/host-speed:1: cannot parse number:x", HRUN_SMPI_FAILURE, -1, 0,
      "Parse error at smpi/host-speed:1: cannot parse number:x" },
    { "ERROR xbt_exception maestro Exiting now.", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "CRITICAL root 0 Actor pid=-1 is gone??", HRUN_SMPI_FAILURE, 0, 0, "Actor pid=-1 is gone??" },
    { "WARNING smpi_mpi 2 something odd", HRUN_SMPI_WARNING, 2, 0, "something odd" },
    { "INFO smpi_coll maestro Switch to algorithm ompi for collective gather", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "Error: Did you compile the program with a SMPI-specific compiler?", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "  ->  0# main in ./x", HRUN_SMPI_NOTHING, -1, 0, NULL },
    { "", HRUN_SMPI_NOTHING, -1, 0, NULL },
};

static void test_words(void)
{
    struct hrun_smpi_said said;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        hrun_smpi_read(lines[i].line, &said);
        is_int(said.kind, lines[i].kind, "kind of: %s", lines[i].line);
        if (said.kind == HRUN_SMPI_NOTHING)
            continue;
        is_int(said.rank, lines[i].rank, "its rank");
        is_num(said.value, lines[i].value, 0, "its value");
        if (lines[i].text)
            is_str(said.text, lines[i].text, "its text");
    }
}

/* A layout of two ranks on two simulated hosts. */
static struct hrun_pe pes[] = { { .host = 0, .cores = "0", .cpuset = "", .core_pus = "", .ncores = 1 },
                                { .host = 1, .cores = "0", .cpuset = "", .core_pus = "", .ncores = 1 } };
static struct hrun_subcluster sub = { .name = (char *)"a", .cpu_model = (char *)"simulated", .core_kind = (char *)"",
                                      .core_flops = 2.5e9, .pes = pes, .npes = 2, .cores_per_pe = 1 };
static struct hrun_host hosts[] = { { .name = (char *)"h one" }, { .name = (char *)"h2" } };
static struct hrun_cluster cluster = { .platform = (char *)"/p.xml", .simgrid = (char *)"3.32", .hosts = hosts,
                                       .nhosts = 2, .subs = &sub, .nsubs = 1, .ngroups = 1 };
static const struct hrun_mpi smpi = { .kind = HRUN_MPI_SMPI, .name = "SimGrid", .id = "smpi-3.32", .counts_flops = 1 };
static const struct hrun_mpi timed = { .kind = HRUN_MPI_SMPI, .name = "SimGrid", .id = "smpi-3.32" };
static char *const argv[] = { (char *)"./a b", (char *)"1", NULL };

static struct hrun_job job_of(const struct hrun_layout *l, const struct hrun_mpi *mpi)
{
    return (struct hrun_job){ .layout = l, .argv = argv, .program = "/bin/a b", .mpi = mpi };
}

static void refused(const struct hrun_job *job, const char *want)
{
    struct hrun_error err = { 0 };

    ok(hrun_engine_smpi.check(job, &err), "refused: %s", want);
    has_str(err.text, want, "and says so");
}

static void test_check(struct hrun_layout *l)
{
    static const struct hrun_mpi open = { .kind = HRUN_MPI_OPENMPI, .name = "Open MPI", .id = "ompi-4.1.4" };
    static const struct hrun_mpi none = { .kind = HRUN_MPI_NONE, .id = "none" };
    static const struct hrun_mpi script = { .kind = HRUN_MPI_UNKNOWN, .id = "script" };
    static const struct hrun_mpi other = { .kind = HRUN_MPI_SMPI, .id = "smpi-3.31" };
    static const struct { char *word; const char *want; } bad[] = {
        { (char *)"x", "is NAME:VALUE" }, { (char *)":x", "is NAME:VALUE" }, { (char *)"x:", "is NAME:VALUE" },
        { (char *)"x:1 --log=y", "is NAME:VALUE" }, { (char *)"smpi/np:3", "hrun itself sets smpi/np" },
    };
    char *mca[] = { (char *)"btl=tcp" };
    struct hrun_job job = job_of(l, &smpi);
    struct hrun_error err = { 0 };

    ok(!hrun_engine_smpi.check(&job, &err), "a program of smpicc will do: %s", err.text);
    job.mpi = &open;
    refused(&job, "./a b is linked with Open MPI, and engine smpi simulates programs that SimGrid's smpicc has built");
    job.mpi = &none;
    refused(&job, "is linked with no MPI");
    job.mpi = &script;
    refused(&job, "is a script");
    job.mpi = &other;
    refused(&job, "is built for SimGrid 3.31, and hrun for SimGrid 3.32");
    job.mpi = &smpi;
    job.output.tagged = 1;
    refused(&job, "--tag-output");
    job.output.tagged = 0;
    job.mca = (struct hrun_strvec){ (char **)(uintptr_t)mca, 1, 0 };
    refused(&job, "use --smpi");
    job.mca.n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        job.smpi = (struct hrun_strvec){ (char **)(uintptr_t)&bad[i].word, 1, 0 };
        refused(&job, bad[i].want);
    }
    job.smpi.n = 0;
    l->ranks[1].threads = 2;
    refused(&job, "threads of its own");
    l->ranks[1].threads = 0;
    ok(hrun_engine_mpirun.check(&job, &err) && strstr(err.text, "can only be simulated"),
       "engine mpirun refuses a program of smpicc: %s", err.text);
    job.mpi = &open;
    ok(hrun_engine_mpirun.check(&job, &err) && strstr(err.text, "are simulated"), "and simulated hosts: %s", err.text);
}

static void test_command(const struct hrun_layout *l)
{
    char *word[] = { (char *)"smpi/coll-selector:mpich" };
    struct hrun_job job = job_of(l, &smpi);
    struct hrun_buf b = HRUN_BUF_INIT;

    ok(!hrun_engine_smpi.command(&job, &b, NULL), "a command to type");
    is_str(b.data, "smpirun -platform /p.xml -hostfile hrun.hostfile -np 2 --cfg=smpi/coll-selector:ompi "
           "--cfg=smpi/simulate-computation:no './a b' 1", "of a program that counts its operations");
    hrun_buf_reset(&b);
    job = job_of(l, &timed);
    job.smpi = (struct hrun_strvec){ (char **)(uintptr_t)word, 1, 0 };
    hrun_engine_smpi.command(&job, &b, NULL);
    is_str(b.data, "smpirun -platform /p.xml -hostfile hrun.hostfile -np 2 --cfg=smpi/host-speed:2.5Gf "
           "--cfg=smpi/coll-selector:mpich './a b' 1", "of one whose computation is timed, with a user's parameter");
    hrun_buf_reset(&b);
    hrun_layout_hostfile(l, &b);
    is_str(b.data, "h one\nh2\n", "the host file");
    hrun_buf_release(&b);
}

static void kind(const struct hrun_mpi *mpi, char *const *words, int n, const char *want)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    const struct hrun_strvec smpi_words = { (char **)(uintptr_t)words, (size_t)n, 0 };

    hrun_engine_kind(hrun_engine_find("smpi"), &cluster, mpi, &smpi_words, &b);
    is_str(b.data, want, "times of their own: %s", want);
    hrun_buf_release(&b);
}

static void test_kind(void)
{
    char *words[] = { (char *)"smpi/host-speed:1Gf" };
    struct hrun_buf b = HRUN_BUF_INIT;

    kind(&smpi, NULL, 0, "smpi");
    kind(&smpi, words, 1, "smpi smpi/host-speed:1Gf");
    kind(&timed, NULL, 0, "smpi timed 2.5Gf");
    kind(&timed, words, 1, "smpi timed smpi/host-speed:1Gf");
    hrun_engine_kind(hrun_engine_find("mpirun"), &cluster, &timed, NULL, &b);
    is_str(b.data, "mpirun", "real engines have their name");
    hrun_buf_release(&b);
}

int main(void)
{
    const struct hrun_config config = { 1, { 2 }, { 1 } };
    struct hrun_layout *l = hrun_layout_create(&cluster, &config, NULL);
    struct hrun_cluster real = { .platform = NULL };
    struct hrun_error err = { 0 };

    test_words();
    ok(hrun_engine_smpi.usable(&real, NULL, &err), "smpi without a platform");
    has_str(err.text, "--platform FILE", "asks for one");
    ok(hrun_engine_local.usable(&cluster, NULL, &err) && strstr(err.text, "are simulated"), "local does not: %s", err.text);
    ok(l, "a layout");
    test_check(l);
    test_command(l);
    test_kind();
    hrun_layout_destroy(l);
    return tap_done();
}
