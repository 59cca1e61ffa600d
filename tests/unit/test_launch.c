/* test_launch.c - finding programs, telling their MPI, the engines, checks, commands; starts no job */
#include "launch.h"

#include "launch/env.h"
#include "launch/procs.h"
#include "launch/programs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void write_mode(const char *dir, const char *name, const void *data, size_t len, mode_t mode)
{
    char *path = hrun_strf("%s/%s", dir, name);

    hrun_file_replace(path, data, len, 0600, NULL);
    if (chmod(path, mode))
        ok(0, "chmod %s", path);
    free(path);
}

static void find(struct fixture *f)
{
    struct hrun_error err;
    char *p, *want, *old = strdup(getenv("PATH"));
    char cwd[4096];

    mkdir("bin1", 0700);
    mkdir("bin2", 0700);
    mkdir("bin2/folder", 0700);
    write_mode("bin1", "both", "#!/bin/sh\n", 10, 0644);
    write_mode("bin2", "both", "#!/bin/sh\n", 10, 0755);
    write_mode("bin1", "locked", "#!/bin/sh\n", 10, 0644);
    write_mode(".", "here", "#!/bin/sh\n", 10, 0755);
    ok(getcwd(cwd, sizeof cwd) != NULL, "the test's folder");
    want = hrun_strf("%s/bin1:%s/bin2", cwd, cwd);
    setenv("PATH", want, 1);
    free(want);

    p = hrun_program_find("both", NULL, &err);
    want = hrun_strf("%s/bin2/both", cwd);
    is_str(p, want, "the first that can be executed is taken");
    free(p);
    free(want);
    ok(!hrun_program_find("locked", NULL, &err), "found, but not executable");
    is_int(err.code, HRUN_ENOEXEC, "code");
    has_str(err.text, "/bin1/locked cannot be executed: set its permission with chmod +x", "message");
    ok(!hrun_program_find("nowhere", NULL, &err), "not found");
    is_int(err.code, HRUN_ENOPROG, "code");
    has_str(err.text, "nowhere: there is no program of this name in PATH, which is ", "message");
    ok(!strstr(err.text, "did you mean"), "no hint where none helps");
    ok(!hrun_program_find("here", NULL, &err), "the present folder is not searched");
    has_str(err.text, "did you mean ./here?", "and the message says what to type");
    ok(!hrun_program_find("", NULL, &err) && err.code == HRUN_ENOPROG, "an empty name");
    ok(!hrun_program_find("folder", NULL, &err), "a folder in PATH is no program");

    p = hrun_program_find("./here", NULL, &err);
    want = hrun_strf("%s/./here", cwd);
    is_str(p, want, "a path is taken from the present folder");
    free(p);
    free(want);
    p = hrun_program_find("./both", "bin2", &err);
    want = hrun_strf("%s/bin2/./both", cwd);
    is_str(p, want, "or from the working directory");
    free(p);
    free(want);
    ok(!hrun_program_find("./bin2", NULL, &err) && err.code == HRUN_ENOEXEC, "a folder");
    has_str(err.text, "is a folder", "message");
    ok(!hrun_program_find("./gone", NULL, &err) && err.code == HRUN_ENOPROG, "a path that is not there");
    has_str(err.text, "./gone: there is no such program (looked for ", "message");
    setenv("PATH", "bin2::", 1);
    p = hrun_program_find("here", NULL, &err);
    ok(p && access(p, X_OK) == 0, "an empty entry of PATH is the present folder");
    free(p);
    setenv("PATH", "both:../bin2", 1);
    p = hrun_program_find("both", "bin1", &err);
    ok(p && access(p, X_OK) == 0 && p[0] == '/', "a relative entry of PATH is taken from the working "
       "directory");
    free(p);
    setenv("PATH", old, 1);
    free(old);
    (void)f;
}

/* A static ELF file of this machine that holds text. */
static void write_static(const char *name, const char *text, size_t len)
{
    struct { ElfW(Ehdr) eh; char text[256]; } file;

    memset(&file, 0, sizeof file);
    memcpy(file.eh.e_ident, ELFMAG, SELFMAG);
    file.eh.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    file.eh.e_phentsize = sizeof(ElfW(Phdr));
    memcpy(file.text, text, len);
    write_mode(".", name, &file, sizeof file, 0755);
}

static void is_mpi(const char *path, enum hrun_mpi_kind kind, const char *id, const char *what)
{
    struct hrun_mpi m;
    struct hrun_error err;

    if (!ok(hrun_program_mpi(path, &m, &err) == 0, "%s can be read", what))
        return;
    is_int(m.kind, kind, "%s: its kind", what);
    is_str(m.id, id, "%s: its id", what);
}

static void mpi(void)
{
    static const char cut[] = "#";
    static const char ompi[] = "x\0v1.2\0Open MPI v%d.%d.%d\0005.0.2\0v4.1.4\0";
    static const char ompi_rc[] = "Open MPI v\0005.0.3rc2\0";
    struct hrun_mpi m = { .major = 77 };
    struct hrun_error err;
    char path[4096], *sh = hrun_program_find("sh", NULL, NULL);
    struct hrun_strvec libraries = HRUN_STRVEC_INIT;
    ElfW(Ehdr) broken;
    int found = 0;

    write_mode(".", "script", "#!/bin/sh\ntrue\n", 15, 0755);
    is_mpi("script", HRUN_MPI_UNKNOWN, "script", "a script");
    write_mode(".", "short", cut, 1, 0755);
    is_mpi("short", HRUN_MPI_UNKNOWN, "script", "a text of one character");
    write_mode(".", "empty", "", 0, 0755);
    is_mpi("empty", HRUN_MPI_UNKNOWN, "script", "an empty file");
    is_mpi(sh, HRUN_MPI_NONE, "none", "the shell");
    is_mpi("/proc/self/exe", HRUN_MPI_NONE, "none", "this test, which needs PMIx but no MPI");

    write_static("none", "nothing", 8);
    is_mpi("none", HRUN_MPI_NONE, "none", "a static program");
    write_static("ompi", ompi, sizeof ompi);
    is_mpi("ompi", HRUN_MPI_OPENMPI, "ompi-4.1.4", "a static program with Open MPI");
    is_int(hrun_program_mpi("ompi", &m, &err), 0, "and its");
    is_int(m.major, 4, "major version");
    write_static("ompi5", ompi_rc, sizeof ompi_rc);
    is_mpi("ompi5", HRUN_MPI_OPENMPI, "ompi-5.0.3rc2", "one with a release candidate of Open MPI 5");
    write_static("mpich", "MPICH Version:\t%s", 18);
    is_mpi("mpich", HRUN_MPI_MPICH, "mpich", "a static program with MPICH");
    write_static("intel", "Intel(R) MPI Library 2021", 26);
    is_mpi("intel", HRUN_MPI_MPICH, "impi", "one with Intel MPI");

    memset(&broken, 0xff, sizeof broken);
    memcpy(broken.e_ident, ELFMAG, SELFMAG);
    broken.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    broken.e_phentsize = sizeof(ElfW(Phdr));
    write_mode(".", "broken", &broken, sizeof broken, 0755);
    is_mpi("broken", HRUN_MPI_NONE, "none", "an ELF header full of nonsense");
    write_mode(".", "cut", &broken, 10, 0755);
    is_mpi("cut", HRUN_MPI_NONE, "none", "a cut ELF header");

    m.major = 77;
    is_int(hrun_program_mpi("gone", &m, &err), -1, "a file that is not there");
    is_int(err.code, HRUN_EIO, "code");
    has_str(err.text, "cannot read gone: No such file", "message");
    is_int(m.major, 77, "the output is untouched");
    free(sh);
    if (test_app("probe", path, sizeof path)) {
        is_int(hrun_program_mpi(path, &m, &err), 0, "the probe can be read");
        ok(m.kind == HRUN_MPI_OPENMPI && !strncmp(m.id, "ompi-", 5) && m.major >= 3 &&
           atoi(m.id + 5) == m.major,
           "the probe is linked with Open MPI (%s)", m.id);
        ok(!hrun_program_libraries(path, &libraries, &err), "its libraries");
        for (size_t i = 0; i < libraries.n; i++)
            found |= strstr(libraries.v[i], "/libmpi.so.") != NULL;
        ok(found && libraries.v[0][0] == '/', "... are paths, that of MPI's among them");
        hrun_strvec_release(&libraries);
    } else {
        ok(1, "# SKIP the probe is not built");
    }
}

/* A program of MPICH, compiled if there is its compiler. */
static void mpich(struct fixture *f)
{
    struct hrun_layout *l = hrun_layout_plain(&f->cluster, 1, NULL, NULL, NULL);
    char *cc = hrun_program_find("mpicc.mpich", NULL, NULL), *argv[] = { (char *)"./other", NULL };
    struct hrun_job job = fixture_job(f, l, argv, "./other");
    struct hrun_outcome out = { .status = 77 };
    struct hrun_mpi mpi;
    struct hrun_error err;

    write_mode(".", "other.c", "int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n",
               73, 0644);
    /* mpich is a package for tests alone. */
    if (!cc || system("mpicc.mpich -o other other.c 2>/dev/null")) {
        ok(1, "# SKIP there is no mpicc.mpich");
    } else {
        is_int(hrun_program_mpi("./other", &mpi, &err), 0, "a program of MPICH");
        ok(mpi.kind == HRUN_MPI_MPICH && !strncmp(mpi.id, "mpich-", 6) && mpi.id[6] >= '3' && mpi.id[6] <= '9',
           "and its version: %s", mpi.id);
        write_mode(".", "starts-it", "#!/bin/sh\n# sh\ntrue; exec \"./other\" $@\n", 37, 0755);
        is_int(hrun_program_mpi("./starts-it", &mpi, &err), 0, "a script that names it");
        ok(mpi.kind == HRUN_MPI_MPICH && mpi.behind_script, "is found to start it");
        for (const struct hrun_engine *const *row = hrun_engines(); *row; row++) {
            const struct hrun_engine *e = *row;

            if (e->mpich)
                continue;
            is_int(hrun_launch(e, &job, &out, &err), -1, "engine %s refuses it", e->name);
            is_int(err.code, HRUN_EMPI, "code");
            has_str(err.text, "./other is linked with MPICH, and engine ", "message");
            has_str(err.text, strcmp(e->name, "smpi") ? "leave --engine out, or rebuild it with mpicc of Open MPI"
                    : "rebuild it with smpicc (package libsimgrid-dev)", "what to do");
            is_int(out.status, 77, "the outcome is untouched");
        }
    }
    free(cc);
    hrun_layout_destroy(l);
}

static void names(void)
{
    static const char *const foreign[] = { "libmpich.so.12", "libmpich.so.12.2.2", "libmpi.so.12",
                                           "libmpi.so.12.0.0",
                                           "libmpi_intel.so.4", "libmvapich.so.1" };
    static const char *const good[] = { "libmpi.so.40", "libmpi.so.40.30.4", "libmpi.so.20", "libmpi.so.120",
                                        "libmpi.so", "libopen-pal.so.40", "libc.so.6", "" };
    int bad = 0;

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        bad += !hrun_soname_is_mpich(foreign[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        bad += hrun_soname_is_mpich(good[i]);
    is_int(bad, 0, "libraries of other MPIs are told by name");
}

static void table(struct fixture *f)
{
    struct hrun_error err;
    struct hrun_host two[2] = { f->host, { .name = (char *)"elsewhere" } };
    struct hrun_cluster both = f->cluster;
    const struct hrun_engine *e;
    char *path = strdup(getenv("PATH"));
    int n = 0, complete = 1;

    for (const struct hrun_engine *const *row = hrun_engines(); *row; row++, n++) {
        e = *row;
        complete &= e->name && e->what && e->suits && e->usable && e->check && e->run && hrun_engine_find(e->name) == e;
    }
    ok(n >= 2 && complete, "each row is complete and found by its name");
    ok(!hrun_engine_find("nonesuch") && !hrun_engine_find(NULL), "an unknown engine");
    e = hrun_engine_auto(&f->cluster, NULL, NULL, &err);
    is_str(e ? e->name : NULL, "local", "the engine for this host alone");
    both.hosts = two;
    both.nhosts = 2;
    is_int(hrun_engine_find("local")->usable(&both, NULL, &err), -1, "local cannot do several hosts");
    is_str(err.text, "engine local runs on this host only, and elsewhere is another: use --engine mpirun",
           "message");
    setenv("PATH", f->tmp, 1);
    ok(!hrun_engine_auto(&both, NULL, NULL, &err), "several hosts need mpirun");
    is_int(err.code, HRUN_EENGINE, "code");
    is_str(err.text, "there is no mpirun in PATH: install openmpi-bin", "message");
    write_mode(f->tmp, "mpirun", "#!/bin/sh\necho 'HYDRA build details:'\n", 39, 0755);
    is_int(hrun_engine_find("mpirun")->usable(&f->cluster, NULL, &err), -1, "an mpirun that is not Open MPI's");
    has_str(err.text, "/mpirun is not Open MPI's, and there is no mpirun.openmpi: install openmpi-bin",
            "message");
    write_mode(f->tmp, "mpirun.openmpi", "#!/bin/sh\necho 'mpirun.openmpi (OpenRTE) 4.1.4'\n", 47, 0755);
    is_int(hrun_engine_find("mpirun")->usable(&f->cluster, NULL, &err), 0, "mpirun.openmpi is found beside it");
    is_int(hrun_engine_find("mpirun")->usable(&both, NULL, &err), -1, "but for other hosts ssh is missing");
    has_str(err.text, "install openssh-client", "message");
    unlink("mpirun.openmpi");
    setenv("PATH", path, 1);
    free(path);
}

/* What the caller of a job knows is not looked for again: what is said here is not so. */
static void known(struct fixture *f)
{
    static const struct hrun_openmpi there = { .path = "/nonexistent/mpirun.other", .major = 5, .version = "5.0.3" };
    static const struct hrun_mpi other = { .kind = HRUN_MPI_MPICH, .name = "Some MPI", .id = "some" };
    struct hrun_layout *l = hrun_layout_plain(&f->cluster, 1, NULL, NULL, NULL);
    char *argv[] = { (char *)"sh", NULL }, *sh = hrun_program_find("sh", NULL, NULL);
    struct hrun_job job = fixture_job(f, l, argv, sh);
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;

    job.mpi = &other;
    for (const struct hrun_engine *const *row = hrun_engines(); *row; row++) {
        const struct hrun_engine *e = *row;

        is_int(e->check(&job, &err), !strcmp(e->name, "local") || !strcmp(e->name, "ssh") ? 0 : -1,
               "%s: the program's MPI is taken as told", e->name);
        if (!e->mpich)
            has_str(err.text, "linked with Some MPI", "message");
    }
    job.mpi = NULL;
    job.openmpi = &there;
    is_int(hrun_engine_find("mpirun")->command(&job, &b, &err), 0, "so is mpirun");
    ok(!strncmp(b.data, "mpirun.other --map-by rankfile:", 31), "name and version: %.40s", b.data);
    hrun_buf_release(&b);
    hrun_layout_destroy(l);
    free(sh);
}

static void checks(struct fixture *f)
{
    static const struct { const char *env, *mca, *wdir, *says; } bad[] = {
        { "=5", NULL, NULL, "-x =5: a variable's name is missing: write -x NAME or -x NAME=VALUE" },
        { "", NULL, NULL, "-x : a variable's name is missing" },
        { NULL, "btl", NULL, "--mca btl: a parameter needs a name and a value: write --mca KEY VALUE" },
        { NULL, "=x", NULL, "--mca =x: a parameter needs" },
        { NULL, NULL, "gone", "the working directory gone cannot be used: No such file" },
        { NULL, NULL, "script", "the working directory script is not a folder" },
    };
    struct hrun_layout *l = hrun_layout_plain(&f->cluster, 1, NULL, NULL, NULL);
    char *argv[] = { (char *)"sh", NULL }, *sh = hrun_program_find("sh", NULL, NULL);
    struct hrun_error err;
    struct hrun_outcome out;

    for (const struct hrun_engine *const *row = hrun_engines(); *row; row++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            struct hrun_job job = fixture_job(f, l, argv, sh);
            char *env[] = { (char *)(uintptr_t)bad[i].env }, *mca[] = { (char *)(uintptr_t)bad[i].mca };
            job.env = (struct hrun_strvec){ (char **)(uintptr_t)env, bad[i].env != NULL, 0 };
            job.mca = (struct hrun_strvec){ (char **)(uintptr_t)mca, bad[i].mca != NULL, 0 };
            job.wdir = bad[i].wdir;
            is_int(hrun_launch(*row, &job, &out, &err), -1, "%s refuses case %zu", (*row)->name, i);
            is_int(err.code, HRUN_EINVAL, "code");
            has_str(err.text, bad[i].says, "message");
        }
    f->host.is_local = 0;
    {
        struct hrun_job job = fixture_job(f, l, argv, sh);
        is_int(hrun_launch(hrun_engine_find("local"), &job, &out, &err), -1,
               "local refuses a rank elsewhere");
        has_str(err.text, "is another: use --engine mpirun", "message");
    }
    f->host.is_local = 1;
    hrun_layout_destroy(l);
    free(sh);
}

/* The command for an mpirun of the given words. */
static void command(struct fixture *f, const char *version, const char *want, const char *what)
{
    const int procs = f->sub.pes[0].ncores + 1;
    const struct hrun_config config = { 1, { 1 }, { procs } };
    struct hrun_layout *l = hrun_layout_create(&f->cluster, &config, NULL);
    char *argv[] = { (char *)"./a b", (char *)"it's", (char *)"", NULL };
    char *env[] = { (char *)"A=1 2", (char *)"B" }, *mca[] = { (char *)"btl=self" };
    char *other[] = { (char *)"./other", (char *)"x", NULL };
    const struct hrun_program programs[] = { { argv, "/nowhere/a b" }, { other, "/nowhere/other" } };
    struct hrun_job job = fixture_job(f, l, argv, "/nowhere/a b");
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;
    int *which = calloc((size_t)procs, sizeof *which);
    char *script = hrun_strf("#!/bin/sh\necho '%s'\n", version), *path = strdup(getenv("PATH")), *full;

    write_mode(f->tmp, "mpirun", script, strlen(script), 0755);
    setenv("PATH", f->tmp, 1);
    job.env = (struct hrun_strvec){ (char **)(uintptr_t)env, 2, 0 };
    job.mca = (struct hrun_strvec){ (char **)(uintptr_t)mca, 1, 0 };
    job.output.tagged = 1;
    job.wdir = "/";
    for (int r = 1; r < procs; r++)
        which[r] = 1;
    full = hrun_strf(want, procs);
    for (const struct hrun_engine *const *row = hrun_engines(); *row; row++) {
        if (!strcmp((*row)->name, "srun") || (*row)->simulated)
            continue;           /* commands of their own: test_launch_srun.c, tests/cli/smpi.t */
        hrun_buf_reset(&b);
        is_int(hrun_engine_command(*row, &job, &b, &err), 0, "%s: a command for %s", (*row)->name, what);
        is_str(b.data, full, "its text");
        job.programs = programs;
        job.which = which;
        hrun_buf_reset(&b);
        is_int(hrun_engine_command(*row, &job, &b, &err), 0, "%s: of two programs", (*row)->name);
        has_str(b.data, " -np 1 --", "the first has its own number");
        has_str(b.data, " './a b' 'it'\\''s' '' : -np ", "and its words end before the second");
        has_str(b.data, strstr(want, " -- ") ? " -x 'A=1 2' -x B --wdir / -- ./other x < /dev/null"
                                             : " -x 'A=1 2' -x B --wdir / ./other x < /dev/null",
                "which has variables and folder as well");
        job.which = NULL;
    }
    setenv("PATH", path, 1);
    hrun_buf_release(&b);
    hrun_layout_destroy(l);
    free(which);
    free(script);
    free(path);
    free(full);
}

static void commands(struct fixture *f)
{
    const char *tail = "--mca mpi_yield_when_idle 1 --mca btl self --tag-output -x 'A=1 2' -x B --wdir / "
        "'./a b' "
                       "'it'\\''s' '' < /dev/null";
    char *v4 = hrun_strf("mpirun --rankfile hrun.rankfile -np %%d %s", tail);
    char *slurm = hrun_strf("mpirun --rankfile hrun.rankfile -np %%d --oversubscribe %s", tail);
    char *v5 = hrun_strf("mpirun --map-by rankfile:file=hrun.rankfile:oversubscribe --bind-to "
                         "core:overload-allowed "
                         "-np %%d --mca mpi_yield_when_idle 1 --mca btl self --output tag -x 'A=1 2' -x B --wdir / "
                         "-- './a b' 'it'\\''s' '' < /dev/null");

    command(f, "mpirun (Open MPI) 4.1.4", v4, "Open MPI 4");
    command(f, "mpirun.openmpi (OpenRTE) 4.0.3", v4, "Debian's Open MPI 4");
    command(f, "mpirun (Open MPI) 5.0.3rc1", v5, "Open MPI 5");
    command(f, "HYDRA", v4, "no Open MPI at all");
    setenv("SLURM_JOB_ID", "1", 1);
    command(f, "mpirun (Open MPI) 4.1.4", slurm, "Open MPI 4 inside Slurm");
    unsetenv("SLURM_JOB_ID");
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    memmove(strstr(v4, "--mca mpi_yield"), strstr(v4, "--mca btl"), strlen(strstr(v4, "--mca btl")) + 1);
    command(f, "mpirun (Open MPI) 4.1.4", v4, "a user who sets yielding");
    unsetenv("OMPI_MCA_mpi_yield_when_idle");
    free(v4);
    free(v5);
    free(slurm);
}

/* A host whose cgroup grants less than its ranks would use up: engines, and words for the user. */
static void quotas(struct fixture *f)
{
    const struct hrun_config config = { 1, { 1 }, { 1 } };
    char *argv[] = { (char *)"prog", NULL }, *mca[] = { (char *)"mpi_yield_when_idle=0" };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_layout *l;
    struct hrun_job job;

    f->cluster.hosts[0].cpu_quota = 0.25;
    l = hrun_layout_create(&f->cluster, &config, NULL);
    job = fixture_job(f, l, argv, "/bin/prog");
    hrun_job_yielding(&job, &b);
    has_str(b.data, "waiting processes yield the processor, as the control group of host ", "why ranks yield is told");
    has_str(b.data, " grants 0.25 CPUs to 1 of them", "with figures");
    hrun_buf_reset(&b);
    hrun_engine_find("mpirun")->command(&job, &b, NULL);
    has_str(b.data, " --mca mpi_yield_when_idle 1 ", "mpirun is told to");
    hrun_buf_reset(&b);
    job.mca = (struct hrun_strvec){ (char **)(uintptr_t)mca, 1, 0 };
    hrun_job_yielding(&job, &b);
    is_str(b.data, "", "the user's setting goes before");
    hrun_layout_destroy(l);
    hrun_buf_reset(&b);
    f->cluster.hosts[0].cpu_quota = 0;
    l = hrun_layout_create(&f->cluster, &config, NULL);
    job = fixture_job(f, l, argv, "/bin/prog");
    hrun_job_yielding(&job, &b);
    is_str(b.data, "", "without a quota nothing is told");
    hrun_layout_destroy(l);
    hrun_buf_release(&b);
}

/* Every word comes back from the shell as it was; what needs no quotes has none. */
static void quoting(void)
{
    static const char *const words[] = { "", " ", "a b", "it's", "'", "\"$HOME\" `x` \\", "~", "*", "a;b&c|d", "a\nb",
                                         "{a,b}", "{N}", "a,b", "!x", "#", "(1,2)", "\xc3\xa9", "<>", "[a]", "^" };
    static const char *const plain[] = { "word", "./a-b_c", "--x=y", "host:2", "50%", "a@b", "1+1" };
    struct hrun_buf b = HRUN_BUF_INIT, got = HRUN_BUF_INIT;
    int bad = 0;

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        hrun_buf_reset(&b);
        hrun_buf_add_shell(&b, plain[i]);
        is_str(b.data, plain[i], "no quotes: %s", plain[i]);
    }
    hrun_buf_reset(&b);
    hrun_buf_adds(&b, "printf '%s|'");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t at = b.len + 1;
        hrun_buf_addc(&b, ' ');
        hrun_buf_add_shell(&b, words[i]);
        bad += b.data[at] != '\'';
        hrun_buf_adds(&got, words[i]);
        hrun_buf_addc(&got, '|');
    }
    is_int(bad, 0, "quotes for the rest");
    hrun_file_replace("quoting", b.data, b.len, 0600, NULL);
    hrun_buf_reset(&b);
    ok(system("bash quoting > quoted") == 0 && hrun_file_read("quoted", 1 << 16, &b, NULL) == 0, "a shell reads it");
    is_str(b.data, got.data, "as it was");
    hrun_buf_release(&b);
    hrun_buf_release(&got);
}

static void environment(struct fixture *f)
{
    static const char *const outer[] = { "PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                         "HRUN_JOB",
                                         "OMPI_MCA_orte_ess_num_procs", "OMPI_MCA_ess" };
    struct hrun_strvec env = HRUN_STRVEC_INIT;
    char *words[] = { (char *)"A=1", (char *)"A=2", (char *)"NOT_SET_AT_ALL" }, *mca[] = { (char *)"k=v=w" };
    struct hrun_job job = fixture_job(f, NULL, NULL, NULL);
    int left = 0;

    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        setenv(outer[i], "x", 1);
    setenv("PMIX_MCA_mine", "1", 1);
    hrun_env_base(&env);
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) {
        left += hrun_env_get(&env, outer[i]) != NULL;
        unsetenv(outer[i]);
    }
    is_int(left, 0, "the environment of an outer launcher is not passed on");
    is_str(hrun_env_get(&env, "PMIX_MCA_mine"), "1", "settings of PMIx are");
    hrun_strvec_release(&env);
    setenv("OMPI_MCA_ess", "mine", 1);
    hrun_env_base(&env);
    is_str(hrun_env_get(&env, "OMPI_MCA_ess"), "mine", "and so are the user's when there is no outer "
           "launcher");
    unsetenv("OMPI_MCA_ess");
    job.env = (struct hrun_strvec){ (char **)(uintptr_t)words, 3, 0 };
    job.mca = (struct hrun_strvec){ (char **)(uintptr_t)mca, 1, 0 };
    hrun_env_user(&job, &env);
    is_str(hrun_env_get(&env, "A"), "2", "the last value counts");
    is_str(hrun_env_get(&env, "OMPI_MCA_k"), "v=w", "a value may hold '='");
    is_str(f->messages.data, "-x NOT_SET_AT_ALL: it is not set, so there is nothing to pass on\n", "message");
    ok(hrun_env_user_mca(&job, "k") && !hrun_env_user_mca(&job, "kk") && !hrun_env_user_mca(&job, ""),
       "what the user sets is known");
    hrun_env_mca(&job, &env, "k", "ours");
    is_str(hrun_env_get(&env, "OMPI_MCA_k"), "v=w", "a setting of ours does not replace the user's");
    hrun_env_mca(&job, &env, "other", "ours");
    is_str(hrun_env_get(&env, "OMPI_MCA_other"), "ours", "another is set");
    hrun_strvec_release(&env);
}

/* Processes are found by mark, by group and by descent. */
static void processes(void)
{
    struct hrun_pids found = HRUN_PIDS_INIT, groups = HRUN_PIDS_INIT, except = HRUN_PIDS_INIT;
    int go[2];
    pid_t pid;
    char c;

    is_int(hrun_procs_children(getpid(), &found), 0, "the kernel lists the children of this test");
    hrun_pids_release(&found);
    if (pipe(go))
        return;
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        setenv("HRUN_JOB", "test-job-1", 1);
        execl("/bin/sh", "sh", "-c", "echo; sleep 30 & wait", (char *)NULL);
        _exit(1);
    }
    setpgid(pid, pid);
    /* While the child executes sleep its environment is empty. */
    for (int i = 0; i < 500 && (found.n < 2 || !hrun_procs_marked(found.v[1], "test-job-1", 0)); i++) {
        found.n = 0;
        hrun_procs_tree(pid, &found);
        usleep(10000);
    }
    is_int(found.n, 2, "a process and its child");
    ok(hrun_procs_marked(found.v[0], "test-job-1", 0) && hrun_procs_marked(found.v[1], "test-job-1", 0),
       "are marked");
    ok(!hrun_procs_marked(pid, "test-job-10", 0) && !hrun_procs_marked(pid, "test-job-", 0) &&
       !hrun_procs_marked(1, "x", 0), "with this mark only");
    found.n = 0;
    is_int(hrun_procs_of_job("test-job-1", 0, NULL, NULL, &found), 0, "all processes are looked at");
    is_int(found.n, 2, "both are found by mark");
    found.n = 0;
    hrun_pids_push(&groups, pid);
    hrun_procs_of_job("nobody", 0, &groups, NULL, &found);
    is_int(found.n, 2, "both are found by group");
    found.n = 0;
    hrun_pids_push(&except, pid);
    hrun_procs_of_job("test-job-1", 0, &groups, &except, &found);
    is_int(found.n, 1, "but for the one that is not wanted");
    kill(-pid, SIGKILL);
    usleep(50000);
    found.n = 0;
    hrun_procs_of_job("test-job-1", 0, &groups, NULL, &found);
    is_int(found.n, 0, "a zombie is not alive");
    found.n = 0;
    hrun_procs_children(getpid(), &found);
    ok(hrun_pids_has(&found, pid), "though still a child");
    waitpid(pid, NULL, 0);
    close(go[1]);
    ok(read(go[0], &c, 1) == 0, "its files too");
    close(go[0]);
    hrun_pids_release(&found);
    hrun_pids_release(&groups);
    hrun_pids_release(&except);
}

/* A process that has no environment is of the job by the limit that it inherits. */
static void marks(void)
{
    static const struct { unsigned long limit, mark; int is; const char *what; } t[] = {
        { 123456, 123456, 1, "the job's mark" }, { 123457, 123456, 0, "another one" }, { 0, 0, 0, "a job without a mark" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct rlimit l = { t[i].limit, RLIM_INFINITY };
        pid_t pid = fork();

        if (pid == 0) {
            pause();
            _exit(1);
        }
        ok(!prlimit(pid, RLIMIT_LOCKS, &l, NULL) && hrun_procs_marked(pid, "job", t[i].mark) == t[i].is, "%s", t[i].what);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

int main(void)
{
    struct fixture f;
    char cwd[4096], *apps = getenv("HRUN_TEST_APPS"), *absolute;

    if (fixture_open(&f) || !getcwd(cwd, sizeof cwd))
        return tap_done();
    if (!apps)
        apps = "build/tests/apps";
    absolute = *apps == '/' ? strdup(apps) : hrun_strf("%s/%s", cwd, apps);
    setenv("HRUN_TEST_APPS", absolute, 1);
    free(absolute);
    unsetenv("SLURM_JOBID");
    unsetenv("SLURM_JOB_ID");
    if (chdir(f.tmp))
        return tap_done();
    find(&f);
    mpi();
    names();
    known(&f);
    checks(&f);
    table(&f);
    commands(&f);
    quotas(&f);
    quoting();
    environment(&f);
    processes();
    marks();
    mpich(&f);
    if (chdir("/"))
        return 1;
    fixture_close(&f);
    return tap_done();
}
