/* test_topo_system.c - lib/cluster on the machine at hand: environment, affinity, binding, cgroups, cpuinfo */
#include "tap.h"

#include "base/file.h"
#include "cluster/topo_parts.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *data_path(const char *name)
{
    const char *dir = getenv("HRUN_TEST_DATA");

    return hrun_strf("%s/topo/%s", dir ? dir : "tests/data", name);
}

/* The binding of a process (0: this one) as a list of OS numbers. 0, or -1: it is gone. */
static int binding_of(int pid, struct hrun_buf *out)
{
    cpu_set_t set;
    const char *sep = "";

    if (sched_getaffinity(pid, sizeof set, &set))
        return -1;
    for (int i = 0, last; i < CPU_SETSIZE; i = last + 1) {
        for (last = i; CPU_ISSET((size_t)last, &set) && last + 1 < CPU_SETSIZE &&
             CPU_ISSET((size_t)last + 1, &set); last++)
            ;
        if (CPU_ISSET((size_t)i, &set)) {
            hrun_buf_addf(out, last > i ? "%s%d-%d" : "%s%d", sep, i, last);
            sep = ",";
        }
    }
    return 0;
}

/* hwloc would take the real machine without a word in each of these. */
static void test_environment(void)
{
    struct hrun_error err;
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_topo *t;
    char *xml = data_path("opteron-6272.xml"), *readme = data_path("README");

    setenv("HWLOC_SYNTHETIC", "package:3 [numa] core:5 pu:1", 1);
    t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    ok(t && hrun_topo_ncores(t, -1) == 15, "HWLOC_SYNTHETIC is honoured");
    ok(t && !hrun_topo_is_this_system(t), "and is not this system");
    is_int(hrun_topo_bind(t, "0", &err), -1, "binding is refused");
    has_str(err.text, "not this system's", "and says why");
    hrun_topo_destroy(t);
    setenv("HWLOC_XMLFILE", xml, 1);
    t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    ok(t && hrun_topo_ncores(t, -1) == 15, "HWLOC_SYNTHETIC goes before HWLOC_XMLFILE, as in hwloc");
    hrun_topo_destroy(t);
    setenv("HWLOC_SYNTHETIC", "", 1);
    t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    ok(t && hrun_topo_ncores(t, -1) == 64, "an empty one is none; HWLOC_XMLFILE is honoured");
    hrun_topo_destroy(t);
    setenv("HWLOC_SYNTHETIC", "garbage:x", 1);
    ok(!hrun_topo_load(HRUN_TOPO_THIS, NULL, &err), "bad HWLOC_SYNTHETIC");
    is_int(err.code, HRUN_EINVAL, "its code");
    has_str(err.text, "HWLOC_SYNTHETIC='garbage:x' is no synthetic hwloc topology", "its message");
    unsetenv("HWLOC_SYNTHETIC");
    setenv("HWLOC_XMLFILE", readme, 1);
    ok(!hrun_topo_load(HRUN_TOPO_THIS, NULL, &err), "bad HWLOC_XMLFILE");
    is_int(err.code, HRUN_EINVAL, "its code");
    has_str(err.text, "HWLOC_XMLFILE='", "its message");
    setenv("HWLOC_XMLFILE", "/no/such.xml", 1);
    ok(!hrun_topo_load(HRUN_TOPO_THIS, NULL, &err) && err.code == HRUN_ENOENT, "missing HWLOC_XMLFILE");
    ok(!strncmp(err.text, "HWLOC_XMLFILE", 13), "its message names the variable");
    unsetenv("HWLOC_XMLFILE");
    setenv("HWLOC_FSROOT", "/no/such", 1);
    ok(!hrun_topo_load(HRUN_TOPO_THIS, NULL, &err) && err.code == HRUN_ENOENT, "missing HWLOC_FSROOT");
    unsetenv("HWLOC_FSROOT");
    setenv("HWLOC_COMPONENTS", "stop", 1);
    ok(!hrun_topo_load(HRUN_TOPO_THIS, NULL, &err), "no topology at all");
    is_int(err.code, HRUN_EIO, "its code");
    has_str(err.text, "hwloc finds no topology of this host", "its message");
    unsetenv("HWLOC_COMPONENTS");
    hrun_buf_release(&b);
    free(xml);
    free(readme);
}

/* In a child that may run on the last CPU only: PEs keep the logical numbers of the whole machine. */
static int child_affinity(void)
{
    struct hrun_error err;
    struct hrun_topo *whole = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err), *t;
    struct hrun_topo_pe *all, *pes;
    struct hrun_buf b = HRUN_BUF_INIT;
    cpu_set_t mask;
    int n, m, last, bad = 0;

    if (!whole || hrun_topo_pes(whole, HRUN_LEVEL_CORE, 0, &all, &n, &err))
        return 100;
    last = atoi(strrchr(all[n - 1].cpuset, ',') ? strrchr(all[n - 1].cpuset, ',') + 1 : all[n - 1].cpuset);
    CPU_ZERO(&mask);
    CPU_SET(last, &mask);
    if (sched_setaffinity(0, sizeof mask, &mask))
        return 101;
    t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    if (!t || hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &m, &err))
        return 102;
    bad |= m != 1 || pes[0].ncores != 1 || pes[0].npus != 1 ? 1 : 0;
    bad |= strcmp(pes[0].cores, all[n - 1].cores) ? 2 : 0;
    bad |= binding_of(0, &b) || strcmp(b.data, pes[0].cpuset) ? 4 : 0;
    /* A CPU of another core is not usable here, though the kernel would allow it. */
    bad |= n > 1 && (hrun_topo_bind(t, all[0].cpuset, &err) != -1 || err.code != HRUN_EINVAL) ? 8 : 0;
    hrun_buf_reset(&b);
    /* `whole` was loaded before: by it the first core is usable. */
    bad |= hrun_topo_bind(whole, all[0].cpuset, &err) || binding_of(0, &b) ||
           strcmp(b.data, all[0].cpuset) ? 16 : 0;
    hrun_buf_release(&b);
    hrun_topo_pes_free(pes, m);
    hrun_topo_pes_free(all, n);
    hrun_topo_destroy(t);
    hrun_topo_destroy(whole);
    return bad;
}

static void test_affinity(void)
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(child_affinity());
    is_int(waitpid(pid, &status, 0), pid, "a child with an affinity mask");
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "sees its core under its number and binds (%d)",
       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void test_this_system(void)
{
    struct hrun_error err;
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    struct hrun_topo_pe *pes;
    struct hrun_buf before = HRUN_BUF_INIT, after = HRUN_BUF_INIT;
    int n, status = -1;
    pid_t pid;

    if (!ok(t && hrun_topo_is_this_system(t), "this host loads"))
        return;
    ok(*hrun_topo_cpu_model(t) && !strstr(hrun_topo_cpu_model(t), "  "), "it has a CPU model");
    is_int(hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, &err), 0, "its PEs");
    ok(pes[0].memory_bytes > 0, "it has memory");
    is_int(binding_of(0, &before), 0, "its binding is read");
    hrun_topo_pes_free(pes, n);

    is_int(hrun_topo_bind(t, "", &err), -1, "bind to nothing");
    is_str(err.text, "cannot bind to '': it is no list of PUs, such as '0-3,8'", "its message");
    is_int(hrun_topo_bind(t, "zero", &err), -1, "bind to no list");
    is_int(hrun_topo_bind(t, "4000", &err), -1, "bind to a PU that does not exist");
    has_str(err.text, "cannot bind to PUs '4000': usable here are '", "its message");
    binding_of(0, &after);
    is_str(after.data, before.data, "after all these the binding is as before");

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    hrun_buf_reset(&after);
    is_int(binding_of(pid, &after), 0, "the binding of another process");
    is_str(after.data, before.data, "is inherited");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    is_int(binding_of(pid, &after), -1, "of one that is gone");
    hrun_buf_release(&before);
    hrun_buf_release(&after);
    hrun_topo_destroy(t);
}

/* A folder that stands for "/", made from a list of files. */
static char *make_root(const char *const (*files)[2])
{
    struct hrun_error err;
    char *root = hrun_rundir_create(NULL, &err), *path, *slash;

    for (; root && (*files)[0]; files++) {
        path = hrun_strf("%s/%s", root, (*files)[0]);
        slash = strrchr(path, '/');
        *slash = 0;
        hrun_mkdirs(path, 0700, &err);
        *slash = '/';
        if (hrun_file_replace(path, (*files)[1], strlen((*files)[1]), 0600, &err))
            printf("# %s\n", err.text);
        free(path);
    }
    return root;
}

static uint64_t limit_of(const char *const (*files)[2])
{
    char *root = make_root(files);
    uint64_t limit = hrun_cgroup_memory_limit(root);

    hrun_remove_tree(root);
    free(root);
    return limit;
}

/* The quota and the period of version 2, and of version 1. */
static void test_cpu_quota(void)
{
    static const char *const v2[][2] = {
        { "proc/self/cgroup", "0::/user/job\n" },
        { "proc/self/mountinfo", "30 23 0:26 / /cg rw shared:4 - cgroup2 cgroup2 rw\n" },
        { "cg/user/job/cpu.max", "max 100000\n" },
        { "cg/user/cpu.max", "150000 100000\n" },
        { "cg/cpu.max", "400000 100000\n" },
        { NULL, NULL } };
    static const char *const v1[][2] = {
        { "proc/self/cgroup", "9:cpu,cpuacct:/lab/h1\n4:memory:/\n0::/\n" },
        { "proc/self/mountinfo", "36 31 0:33 / /cg/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" },
        { "cg/cpu/lab/h1/cpu.cfs_quota_us", "3000\n" }, { "cg/cpu/lab/h1/cpu.cfs_period_us", "10000\n" },
        { "cg/cpu/lab/cpu.cfs_quota_us", "-1\n" }, { "cg/cpu/lab/cpu.cfs_period_us", "100000\n" },
        { NULL, NULL } };
    static const char *const none[][2] = {
        { "proc/self/cgroup", "9:cpu:/\n0::/\n" },
        { "proc/self/mountinfo", "36 31 0:33 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
                                 "30 23 0:26 / /cg2 rw - cgroup2 cgroup2 rw\n" },
        { "cg/cpu/cpu.cfs_quota_us", "-1\n" }, { "cg/cpu/cpu.cfs_period_us", "100000\n" },
        { "cg2/cpu.max", "100000 0\n" },
        { NULL, NULL } };
    const struct { const char *const (*files)[2]; double want; const char *what; } cases[] = {
        { v2, 1.5, "cgroup v2: the smallest quota on the way up" }, { v1, 0.3, "cgroup v1" },
        { none, 0, "no quota, and one that makes no sense" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *root = make_root(cases[i].files);

        is_num(hrun_cgroup_cpu_quota(root), cases[i].want, 1e-9, "%s", cases[i].what);
        hrun_remove_tree(root);
        free(root);
    }
    ok(hrun_cgroup_cpu_quota("/no/such") == 0, "no files");
}

static void test_cgroup(void)
{
    static const char *const v2[][2] = {
        { "proc/self/cgroup", "0::/user/job 7/step\n" },
        { "proc/self/mountinfo", "24 1 0:1 / / rw - ext4 /dev/a rw\n"
                                 "30 23 0:26 / /sys/fs/cg\\040two rw shared:4 - cgroup2 cgroup2 rw\n" },
        { "sys/fs/cg two/user/job 7/step/memory.max", "max\n" },
        { "sys/fs/cg two/user/job 7/memory.max", "2147483648\n" },
        { "sys/fs/cg two/user/memory.max", "4294967296\n" },
        { NULL, NULL } };
    static const char *const v1[][2] = {
        { "proc/self/cgroup", "9:cpu,cpuacct:/elsewhere\n4:memory:/docker/abc/in\n0::/\n" },
        { "proc/self/mountinfo", "35 31 0:32 /docker/abc /cg/mem rw,relatime - cgroup cgroup rw,memory\n"
                                 "36 31 0:33 / /cg/mem2 rw,relatime - cgroup cgroup rw,cpu\n" },
        { "cg/mem/in/memory.limit_in_bytes", "3000000\n" },
        { "cg/mem/memory.limit_in_bytes", "1000000\n" },
        { "cg/mem2/docker/abc/in/memory.limit_in_bytes", "5\n" },
        { NULL, NULL } };
    static const char *const foreign[][2] = {   /* the mount shows another part: its root counts */
        { "proc/self/cgroup", "0::/a/bc\n" },
        { "proc/self/mountinfo", "35 31 0:32 /a/b /cg rw - cgroup2 none rw\n" },
        { "cg/memory.max", "700\n" }, { "cg/c/memory.max", "5\n" },
        { NULL, NULL } };
    static const char *const v1_none[][2] = {   /* how version 1 writes that there is no limit */
        { "proc/self/cgroup", "4:memory:/in\n" },
        { "proc/self/mountinfo", "35 31 0:32 / /cg/mem rw,relatime - cgroup cgroup rw,memory\n" },
        { "cg/mem/in/memory.limit_in_bytes", "9223372036854771712\n" },
        { NULL, NULL } };
    static const char *const none[][2] = { { "proc/self/cgroup", "0::/\n" }, { NULL, NULL } };
    static const char *const junk[][2] = {
        { "proc/self/cgroup", "nonsense\n::\n0::relative\n\n" },
        { "proc/self/mountinfo", "short\n1 2 3 - \n" },
        { NULL, NULL } };

    ok(limit_of(v2) == 2147483648u, "cgroup v2: the smallest limit on the way up");
    ok(limit_of(v1) == 1000000, "cgroup v1, seen from inside a container");
    ok(limit_of(foreign) == 700, "a mount that does not show our cgroup");
    ok(limit_of(v1_none) == UINT64_MAX, "cgroup v1 without a limit");
    ok(limit_of(none) == UINT64_MAX, "no limit");
    ok(limit_of(junk) == UINT64_MAX, "files that make no sense");
    ok(hrun_cgroup_memory_limit("/no/such") == UINT64_MAX, "no files");
}

static void test_cpuinfo(void)
{
    static const char *const x86[][2] = {
        { "proc/cpuinfo", "processor\t: 0\ncpu family\t: 6\nmodel name\t:  Fine  CPU \t 3000 \n" },
        { NULL, NULL } };
    static const char *const power[][2] = {
        { "proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nmodel\t: x\n" },
        { NULL, NULL } };
    static const char *const empty[][2] = { { "proc/cpuinfo", "processor\t: 0\n" }, { NULL, NULL } };
    const char *const (*files[])[2] = { x86, power, empty };
    const char *want[] = { "Fine CPU 3000", "POWER9, altivec supported", "" };

    for (int i = 0; i < 3; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        char *root = make_root(files[i]);
        hrun_cpuinfo_model(root, &b);
        is_str(b.data, want[i], "cpuinfo %d", i);
        hrun_buf_release(&b);
        hrun_remove_tree(root);
        free(root);
    }
}

/* The PEs share all the memory of the system, also what was plugged in later and is missing from the NUMA nodes. */
static void test_plugged_memory(void)
{
    double system = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), sum = 0;
    uint64_t limit = hrun_cgroup_memory_limit("");
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, NULL);
    struct hrun_topo_pe *pes;
    int n;

    if (!ok(t && !hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, NULL), "PEs of this system"))
        return;
    for (int i = 0; i < n; i++)
        sum += (double)pes[i].memory_bytes;
    if ((double)limit < system)
        system = (double)limit;
    ok(sum <= 1.01 * system, "not more memory than there is (%.0f of %.0f)", sum, system);
    if (hrun_topo_ncores(t, -1) == sysconf(_SC_NPROCESSORS_CONF))
        ok(sum >= 0.9 * system, "nor much less (%.0f of %.0f)", sum, system);
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
}

static void test_cpu_part(void)
{
    static const char *const files[][2] = {
        { "sys/devices/system/cpu/cpu3/regs/identification/midr_el1", "0x00000000410fd851\n" },
        { "sys/devices/system/cpu/cpu4/regs/identification/midr_el1", "garbage\n" }, { NULL, NULL }
    };
    char *root = make_root(files);

    is_int(hrun_cpu_part(root, 3), 0xd85, "the part of an Arm core");
    is_int(hrun_cpu_part(root, 4), 0, "a file that tells none");
    is_int(hrun_cpu_part(root, 0), 0, "a core without one");
    hrun_remove_tree(root);
    free(root);
}

int main(void)
{
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    test_environment();
    test_affinity();
    test_this_system();
    test_cgroup();
    test_cpu_quota();
    test_cpuinfo();
    test_cpu_part();
    test_plugged_memory();
    return tap_done();
}
