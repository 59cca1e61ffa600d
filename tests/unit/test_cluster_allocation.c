/* test_cluster_allocation.c - what resource managers grant: their variables and files, and clusters inside of them */
#include "tap.h"

#include "base/file.h"
#include "base/list.h"
#include "cluster/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {
    "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_TASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_HET_SIZE", "SLURM_JOB_NODELIST_HET_GROUP_0",
    "SLURM_JOB_NODELIST_HET_GROUP_1", "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1",
    "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_HET_GROUP_0", "SLURM_NTASKS_HET_GROUP_1",
    "SLURM_TASKS_PER_NODE_HET_GROUP_0", "SLURM_TASKS_PER_NODE_HET_GROUP_1", "SLURM_CPUS_PER_TASK_HET_GROUP_0",
    "SLURM_CPUS_PER_TASK_HET_GROUP_1", "PBS_NODEFILE", "PBS_JOBID", "NCPUS", "PE_HOSTFILE", "JOB_ID",
    "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "LSB_JOBID", "OAR_NODEFILE", "OAR_JOB_ID", "COBALT_NODEFILE",
    "COBALT_JOBID", "NSLOTS", "LSB_DJOB_NUMPROC", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
};

/* Words "NAME=VALUE", up to NULL, are the whole of what the managers say. */
static void set(const char *const *words)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    setenv("OMPI_MCA_orte_default_hostfile", "none", 1);
    for (; *words; words++) {
        char *name = strdup(*words), *value = strchr(name, '=');

        *value++ = 0;
        setenv(name, value, 1);
        free(name);
    }
}

#define SET(...) set((const char *const[]){ __VA_ARGS__ NULL })

/* "Slurm job 12: h1*4/0 h2*4/1=2", the last where 2 processes are granted there; "none", or the error */
static char *found(void)
{
    struct hrun_allocation a;
    struct hrun_error err = { 0 };
    struct hrun_buf b = HRUN_BUF_INIT;
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    if (hrun_allocation_find(NULL, &a, &err)) {
        ok(a.manager == HRUN_MANAGER_NONE && !a.hosts.n && !a.name, "nothing on failure");
        hrun_buf_adds(&b, hrun_error_format(&err, text, sizeof text));
        return hrun_buf_detach(&b);
    }
    hrun_buf_adds(&b, a.manager == HRUN_MANAGER_NONE ? "none" : a.name);
    for (size_t i = 0; i < a.hosts.n; i++)
        hrun_buf_addf(&b, a.slots[i] ? "%s %s*%d/%d=%d" : "%s %s*%d/%d", i ? "" : ":", a.hosts.v[i], a.cpus[i],
                      a.group[i], a.slots[i]);
    if (a.cpus_each > 1)
        hrun_buf_addf(&b, " each %d", a.cpus_each);
    if (a.ngroups > 1)
        hrun_buf_addf(&b, " (%d)", a.ngroups);
    hrun_allocation_release(&a);
    return hrun_buf_detach(&b);
}

static void is_found(const char *want)
{
    char *got = found();

    is_str(got, want, "%s", want);
    free(got);
}

static void fails(const char *want)
{
    char *got = found();

    has_str(got, want, "%s", want);
    free(got);
}

static void test_slurm(void)
{
    SET();
    is_found("none");
    SET("SLURM_JOB_ID=12",);
    is_found("none");
    SET("SLURM_JOB_NODELIST=h1",);
    is_found("none");
    SET("SLURM_JOB_ID=12", "SLURM_JOB_NODELIST=h[1-3,7]", "SLURM_JOB_CPUS_PER_NODE=4(x2),2,16",);
    is_found("Slurm job 12: h1*4/0 h2*4/0 h3*2/0 h7*16/0");
    SET("SLURM_JOBID=13", "SLURM_NODELIST=h[1-4,7],x[01-03]-ib,r[1-2]n[09-10]", "SLURM_JOB_CPUS_PER_NODE=8(x12)",);
    is_found("Slurm job 13: h1*8/0 h2*8/0 h3*8/0 h4*8/0 h7*8/0 x01-ib*8/0 x02-ib*8/0 x03-ib*8/0 r1n09*8/0 r1n10*8/0 "
             "r2n09*8/0 r2n10*8/0");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=2,1", "SLURM_CPUS_PER_TASK=4",);
    is_found("Slurm job 14: a*8/0 b*4/0 each 4");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=3(x2)",);
    is_found("Slurm job 14: a*3/0 b*3/0");
    /* SLURM_TASKS_PER_NODE is set without tasks, too; in a step it is of the step's hosts. */
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=1,4", "SLURM_JOB_CPUS_PER_NODE=4(x2)",);
    is_found("Slurm job 14: a*4/0 b*4/0");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=2,1", "SLURM_JOB_CPUS_PER_NODE=8(x2)",
        "SLURM_NTASKS=3", "SLURM_CPUS_PER_TASK=2",);
    is_found("Slurm job 14: a*8/0=2 b*8/0=1 each 2");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a", "SLURM_TASKS_PER_NODE=1", "SLURM_JOB_CPUS_PER_NODE=4",
        "SLURM_NPROCS=1",);
    is_found("Slurm job 14: a*4/0=1");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=1", "SLURM_JOB_CPUS_PER_NODE=4(x2)",
        "SLURM_NTASKS=1",);
    is_found("Slurm job 14: a*4/0 b*4/0");
    SET("SLURM_JOB_ID=15", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=a", "SLURM_JOB_NODELIST_HET_GROUP_1=b",
        "SLURM_TASKS_PER_NODE_HET_GROUP_0=4", "SLURM_TASKS_PER_NODE_HET_GROUP_1=1", "SLURM_NTASKS_HET_GROUP_0=4",
        "SLURM_NTASKS_HET_GROUP_1=1", "SLURM_CPUS_PER_TASK_HET_GROUP_0=2", "SLURM_CPUS_PER_TASK_HET_GROUP_1=8",);
    is_found("Slurm job 15: a*8/0=4 b*8/1=1 (2)");
    SET("SLURM_JOB_ID=14", "SLURM_JOB_NODELIST=a,b",);
    is_found("Slurm job 14: a*0/0 b*0/0");
    SET("SLURM_JOB_ID=15", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=a[1-2]",
        "SLURM_JOB_NODELIST_HET_GROUP_1=b1,a2", "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=4(x2)",
        "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=1,2", "SLURM_JOB_NODELIST=a[1-2]",);
    is_found("Slurm job 15: a1*4/0 a2*4/0 b1*1/1 (2)");
    SET("SLURM_JOB_ID=16", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=a",);
    fails("SLURM_HET_SIZE says that job 16 has 2 components, and SLURM_JOB_NODELIST_HET_GROUP_1 is not set");
    SET("SLURM_JOB_ID=16", "SLURM_HET_SIZE=x", "SLURM_JOB_NODELIST_HET_GROUP_0=a",);
    fails("SLURM_HET_SIZE");
}

static void test_slurm_errors(void)
{
    static const struct { const char *nodes, *cpus, *want; } bad[] = {
        { "h[1-", "1", "SLURM_JOB_NODELIST:1:5: host list 'h[1-': the bracket is not closed" },
        { "h[4-1]", "1", "SLURM_JOB_NODELIST:1:3: host list 'h[4-1]': the range runs backwards" },
        { "a b", "1", "SLURM_JOB_NODELIST:1:2: " },
        { "a,b", "1", "SLURM_JOB_CPUS_PER_NODE: '1' counts fewer than the 2 hosts of the allocation" },
        { "a,b", "1(x3)", "SLURM_JOB_CPUS_PER_NODE: '1(x3)' counts more than the 2 hosts of the allocation" },
        { "a,b", "1(x)", "SLURM_JOB_CPUS_PER_NODE:1:1: '1(x)': write a repetition as in 4(x2),2" },
        { "a,b", "1(x2", "SLURM_JOB_CPUS_PER_NODE:1:1: '1(x2': write a repetition" },
        { "a,b", "1(x0),1", "write a repetition" },
        { "a,b", "1(x99999999999999999999)", "write a repetition" },
        { "a,b", "1,", "SLURM_JOB_CPUS_PER_NODE:1:3: '1,': a number of 1 to 65536 is needed here" },
        { "a,b", "0,1", "SLURM_JOB_CPUS_PER_NODE:1:1: '0,1': a number of 1 to 65536 is needed here" },
        { "a,b", "-1,1", "a number of 1 to" },
        { "a,b", "99999999999999999999,1", "a number of 1 to" },
        { "a,b", "1 1", "SLURM_JOB_CPUS_PER_NODE:1:2: '1 1': a comma is needed here" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *nodes = hrun_strf("SLURM_JOB_NODELIST=%s", bad[i].nodes);
        char *cpus = hrun_strf("SLURM_JOB_CPUS_PER_NODE=%s", bad[i].cpus);

        SET("SLURM_JOB_ID=1", nodes, cpus,);
        fails(bad[i].want);
        free(nodes);
        free(cpus);
    }
}

static void test_files(void)
{
    static const struct {
        const char *words[4], *job;
        int cores, slots;
    } alone[] = {
        { { "JOB_ID=5", "NSLOTS=1" }, "SGE job 5", 1, 1 }, { { "JOB_ID=5", "NSLOTS=3" }, "SGE job 5", 3, 3 },
        { { "JOB_ID=5" }, NULL, 0, 0 }, { { "NSLOTS=1" }, NULL, 0, 0 },
        { { "PBS_JOBID=6" }, "PBS job 6", 1, 1 }, { { "PBS_JOBID=6", "NCPUS=4" }, "PBS job 6", 4, 1 },
        { { "NCPUS=4" }, NULL, 0, 0 }, { { "LSB_JOBID=7", "LSB_DJOB_NUMPROC=2" }, "LSF job 7", 2, 2 },
        { { "SLURM_JOB_ID=8", "SLURM_NTASKS=2" }, "Slurm job 8", 2, 2 },
        { { "OAR_JOB_ID=9" }, "OAR job 9", 1, 1 },
    };
    char own[256] = "";
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/nodes", dir), *want;
    char *pbs = hrun_strf("PBS_NODEFILE=%s", path), *ompi = hrun_strf("OMPI_MCA_orte_default_hostfile=%s", path);
    char *sge = hrun_strf("PE_HOSTFILE=%s", path), *lsf = hrun_strf("LSB_DJOB_HOSTFILE=%s", path);
    char *oar = hrun_strf("OAR_NODEFILE=%s", path), *cobalt = hrun_strf("COBALT_NODEFILE=%s", path);
    char *hydra = hrun_strf("HYDRA_HOST_FILE=%s", path);

    gethostname(own, sizeof own - 1);

#define WRITE(text) hrun_file_replace(path, text, strlen(text), 0600, &err)
    WRITE("n1\nn1\nn2.domain\n\nn2.domain\nn1\nn3");
    SET(pbs, "PBS_JOBID=7.server",);
    is_found("PBS job 7.server: n1*3/0=3 n2.domain*2/0=2 n3*1/0=1");
    WRITE("n1\nn2\nn3\r\nn1\nn2\nn3\n");
    is_found("PBS job 7.server: n1*2/0=2 n2*2/0=2 n3*2/0=2");
    SET(pbs, "PBS_JOBID=7.server", "NCPUS=8",);
    is_found("PBS job 7.server: n1*8/0=2 n2*8/0=2 n3*8/0=2");
    SET(pbs, "NCPUS=x",);
    fails("NCPUS needs a whole number");
    WRITE("n1\nn 2\n!x\n");
    SET(pbs,);
    want = hrun_strf("%s:3: '!x' is no host name", path);
    fails(want);
    free(want);
    WRITE("\n\n");
    fails("PBS_NODEFILE names no host");
    hrun_file_replace(path, "n1\n\0\nn2\n", 8, 0600, &err);
    fails("PBS_NODEFILE is no text: it holds a zero byte");
    SET("PBS_NODEFILE=/no/such",);
    fails("PBS_NODEFILE: ");
    /* Slurm goes before PBS. */
    SET(pbs, "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=a",);
    is_found("Slurm job 1: a*0/0");

    WRITE("n1 2 all.q@n1 UNDEFINED\nn2 1 all.q@n2 <NULL>\n\nn1 3 long.q@n1 UNDEFINED\n");
    SET(sge, "JOB_ID=3",);
    is_found("SGE job 3: n1*5/0=5 n2*1/0=1");
    WRITE("n1 2\nn2\n");
    want = hrun_strf("%s:2: host 'n2' has no number of slots", path);
    fails(want);
    free(want);
    WRITE("n1 0\n");
    fails("host 'n1': slots needs a whole number");
    WRITE("n1 2x\n");
    fails("host 'n1': slots needs a whole number");
    SET("PE_HOSTFILE=/no/such",);
    fails("PE_HOSTFILE: cannot read '/no/such'");
    WRITE("n1\nn2\nn2\n");
    SET(lsf, "LSB_JOBID=4", "LSB_MCPU_HOSTS=n9 7",);
    is_found("LSF job 4: n1*1/0=1 n2*2/0=2");
    SET("LSB_DJOB_HOSTFILE=/no/such", "LSB_MCPU_HOSTS=n1 1 n2 20",);
    is_found("LSF job: n1*1/0=1 n2*20/0=20");
    SET("LSB_DJOB_HOSTFILE=/no/such",);
    fails("LSB_DJOB_HOSTFILE: cannot read '/no/such'");
    SET("LSB_MCPU_HOSTS=n1 1 n2",);
    fails("LSB_MCPU_HOSTS: host 'n2' has no number of slots");
    SET(oar, "OAR_JOB_ID=5",);
    is_found("OAR job 5: n1*1/0=1 n2*2/0=2");
    SET(cobalt,);
    is_found("Cobalt job: n1*0/0 n2*0/0");
    WRITE("\n");
    SET(lsf,);
    fails("LSB_DJOB_HOSTFILE names no host");

    /* A job that lists no hosts has slots of this one. */
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        set(alone[i].words);
        want = alone[i].slots ? hrun_strf("%s: %s*%d/0=%d", alone[i].job, own, alone[i].cores, alone[i].slots)
                              : hrun_strf("none");
        is_found(want);
        free(want);
    }

    WRITE("# hosts\nn1 slots=4\nn2\n");
    SET(hydra, "OMPI_MCA_orte_default_hostfile=",);
    want = hrun_strf("hydra's host file %s: n1*4/0=4 n2*0/0", path);
    is_found(want);
    free(want);
    SET(ompi,);
    want = hrun_strf("Open MPI's host file %s: n1*4/0=4 n2*0/0", path);
    is_found(want);
    free(want);
    WRITE("# no host\n");
    is_found("none");
    SET("OMPI_MCA_orte_default_hostfile=/no/such",);
    fails("Open MPI's default host file: ");
    WRITE("n1 slots=x\n");
    SET(ompi,);
    want = hrun_strf("%s:1:", path);
    fails(want);
    free(want);
#undef WRITE
    hrun_remove_tree(dir);
    free(dir);
    free(path);
    free(pbs);
    free(ompi);
    free(sge);
    free(lsf);
    free(oar);
    free(cobalt);
    free(hydra);
}

/* ---------------------------------------------------------------- clusters in an allocation */

static int ask(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts, struct hrun_error *errors,
               struct hrun_error *err)
{
    (void)hosts, (void)skip, (void)errors, (void)err;
    for (int i = 0; i < n; i++)
        hrun_buf_adds(&texts[i], ctx);
    return 0;
}

/* "name PEs x cores: host[cores] ..." */
static char *cluster_text(struct hrun_cluster_request *req, struct hrun_cluster **keep)
{
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };
    struct hrun_buf b = HRUN_BUF_INIT;
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    if (hrun_cluster_discover(req, &c, &err))
        return strdup(hrun_error_format(&err, text, sizeof text));
    hrun_buf_addf(&b, "%s:", c->source);
    for (int s = 0; s < c->nsubs; s++)
        for (int k = 0; k < c->subs[s].npes; k++) {
            const struct hrun_pe *p = &c->subs[s].pes[k];
            hrun_buf_addf(&b, " %s[%s]", c->hosts[p->host].name, p->cores);
        }
    if (keep)
        *keep = c;
    else
        hrun_cluster_destroy(c);
    return hrun_buf_detach(&b);
}

static void test_granted(void)
{
    static const char yaml[] = "subclusters:\n  - {name: a, hosts: \"127.0.0.[11-14]\"}\n"
                               "  - {name: b, hosts: 127.0.0.15, cores: 8, memory: 1GiB}\n";
    struct hrun_buf told = HRUN_BUF_INIT;
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/cluster.yaml", dir), *got, *want;
    struct hrun_cluster *c = NULL;

    setenv("HWLOC_SYNTHETIC", "[numa(memory=8GB)] core:4 pu:2", 1);
    hrun_cluster_export("", NULL, &told, &err);
    unsetenv("HWLOC_SYNTHETIC");
    struct hrun_cluster_request req = { .level = HRUN_LEVEL_NODE, .topologies = ask, .ctx = told.data };

#define IS(want_text, what) do { \
        got = cluster_text(&req, NULL); \
        is_str(got, want_text, what); \
        free(got); \
    } while (0)
    SET("SLURM_JOB_ID=9", "SLURM_JOB_NODELIST=127.0.0.[11-15]", "SLURM_JOB_CPUS_PER_NODE=8,4,5,1,3",);
    IS("Slurm job 9: 127.0.0.11[0-3] 127.0.0.12[0-1] 127.0.0.13[0-1] 127.0.0.14[0] 127.0.0.15[0]",
       "whole cores within the hardware threads granted, at least one");
    req.hosts = "127.0.0.12,127.0.0.11:3";
    got = cluster_text(&req, &c);
    is_str(got, "--host: 127.0.0.11[0-2] 127.0.0.12[0-1]", "hosts of the user are limited as well");
    free(got);
    if (c) {
        is_str(c->allocation, "Slurm job 9", "in that job");
        is_int(c->manager, HRUN_MANAGER_SLURM, "of Slurm");
        is_int(c->ngroups, 1, "of one component");
    }
    hrun_cluster_destroy(c);
    c = NULL;
    req.hosts = "127.0.0.11,127.0.0.16";
    IS("--host:1:12: host '127.0.0.16' is not in Slurm job 9, which grants 127.0.0.[11-15]; leave it out, or ask for "
       "it when you submit the job", "a host that is not granted");
    req.hosts = NULL;
    SET("SLURM_JOB_ID=9", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=127.0.0.11",
        "SLURM_JOB_NODELIST_HET_GROUP_1=127.0.0.12",);
    got = cluster_text(&req, &c);
    is_str(got, "Slurm job 9: 127.0.0.11[0-3] 127.0.0.12[0-3]", "a heterogeneous job");
    free(got);
    if (c) {
        is_int(c->hosts[1].group, 1, "the host's component");
        is_int(c->ngroups, 2, "of two");
    }
    hrun_cluster_destroy(c);
    c = NULL;

    hrun_file_replace(path, yaml, sizeof yaml - 1, 0600, &err);
    req.cluster_file = path;
    SET("SLURM_JOB_ID=9", "SLURM_JOB_NODELIST=127.0.0.[12,15]", "SLURM_JOB_CPUS_PER_NODE=6,2",);
    got = cluster_text(&req, &c);
    want = hrun_strf("cluster file %s: 127.0.0.12[0-2] 127.0.0.15[0-1]", path);
    is_str(got, want, "of a cluster file what is granted");
    free(got);
    free(want);
    got = NULL;
    if (c && c->not_granted.n == 3)
        is_str(c->not_granted.v[2], "127.0.0.14", "the others are told");
    else
        ok(0, "three are not granted");
    hrun_cluster_destroy(c);
    SET("SLURM_JOB_ID=9", "SLURM_JOB_NODELIST=127.0.0.99",);
    got = cluster_text(&req, NULL);
    has_str(got, "no host is left: Slurm job 9 grants none of these", "nothing of the cluster file is granted");
    free(got);
    req.cluster_file = NULL;

    hrun_file_replace(path, "127.0.0.11\n127.0.0.11\n127.0.0.12\n", 33, 0600, &err);
    want = hrun_strf("PBS_NODEFILE=%s", path);
    SET(want, "PBS_JOBID=4",);
    IS("PBS job 4: 127.0.0.11[0-1] 127.0.0.12[0]", "a core for each process of PBS");
    SET(want, "PBS_JOBID=4", "NCPUS=3",);
    got = cluster_text(&req, &c);
    is_str(got, "PBS job 4: 127.0.0.11[0-2] 127.0.0.12[0-2]", "cores are NCPUS");
    free(got);
    if (c)
        ok(c->granted == 3 && c->hosts[0].slots == 2 && c->hosts[1].slots == 1, "lines are processes");
    hrun_cluster_destroy(c);
    c = NULL;
    req.hosts = "127.0.0.11:1";
    got = cluster_text(&req, &c);
    is_str(got, "--host: 127.0.0.11[0-2]", "slots of the user count processes, too");
    free(got);
    if (c)
        ok(c->granted == 1 && c->hosts[0].slots == 1, "the fewer count");
    hrun_cluster_destroy(c);
    c = NULL;
    req.hosts = NULL;
    free(want);
    hrun_file_replace(path, "127.0.0.11 slots=3\n", 19, 0600, &err);
    want = hrun_strf("OMPI_MCA_orte_default_hostfile=%s", path);
    SET(want,);
    free(want);
    want = hrun_strf("Open MPI's host file %s: 127.0.0.11[0-2]", path);
    IS(want, "Open MPI's default host file");
    req.hosts = "127.0.0.12";
    IS("--host: 127.0.0.12[0-3]", "which the user's hosts replace");
    free(want);
    req.hosts = NULL;
    SET("OMPI_MCA_orte_default_hostfile=/no/such",);
    req.openmpi_hostfile = path;
    want = hrun_strf("Open MPI's host file %s: 127.0.0.11[0-2]", path);
    IS(want, "one that a parameter names goes before the environment");
    free(want);
#undef IS
    SET();
    hrun_buf_release(&told);
    hrun_remove_tree(dir);
    free(dir);
    free(path);
}

int main(void)
{
    test_slurm();
    test_slurm_errors();
    test_files();
    test_granted();
    return tap_done();
}
