/* fuzz_allocation.c - any words of a resource manager: refused with a reason, or hosts that are each listed once, with
 * CPUs and components that make sense. The input is "SLURM_JOB_NODELIST|SLURM_JOB_CPUS_PER_NODE|SLURM_TASKS_PER_NODE|
 * SLURM_CPUS_PER_TASK|SLURM_HET_SIZE"; one that begins with "P|" or "G|" is a node file of PBS or a host
 * file of SGE instead. */
#include "fuzz.h"

#include "cluster/cluster.h"

#include <strings.h>

const char *const fuzz_seeds[] = {
    "h[1-4,7],x[01-03]-ib|4(x2),2(x6)|2(x8)|3|1", "a,b|16(x2)", "a||2,1|4", "r[1-2]n[0-3]|8(x8)|||2",
    "n[098-101]|1(x4)",
    "P|n1\nn1\nn2\n\nn2.domain\r\n", "P|a\nb\na\nb\n", "G|a 2 q UNDEFINED\nb 1\na 3\n", NULL
};

/* good: it may be understood */
static void check(int good)
{
    struct hrun_allocation a;
    struct hrun_error err = { 0 };

    if (hrun_allocation_find(NULL, &a, &err)) {
        FUZZ_CHECK(err.code && err.text[0]);
        FUZZ_CHECK(a.manager == HRUN_MANAGER_NONE && !a.hosts.n && !a.name && !a.cpus && !a.group);
        return;
    }
    FUZZ_CHECK(good && (a.manager == HRUN_MANAGER_NONE) == !a.hosts.n);
    FUZZ_CHECK((a.manager == HRUN_MANAGER_NONE) == !a.name);
    for (size_t i = 0; i < a.hosts.n; i++) {
        FUZZ_CHECK(a.hosts.v[i][0] && a.cpus[i] >= 0 && a.cpus[i] <= 1 << 16 && a.slots[i] >= 0 && a.slots[i] <= 1 << 16);
        FUZZ_CHECK(a.group[i] >= 0 && a.group[i] < a.ngroups);
        for (size_t k = i > 8 ? i - 8 : 0; k < i; k++)
            FUZZ_CHECK(strcasecmp(a.hosts.v[i], a.hosts.v[k]));
    }
    hrun_allocation_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE",
                                         "SLURM_CPUS_PER_TASK", "SLURM_HET_SIZE" };
    char *text = strndup((const char *)data, size), *next = text, *field;

    if (!text)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    unsetenv("PBS_NODEFILE");
    unsetenv("PE_HOSTFILE");
    setenv("OMPI_MCA_orte_default_hostfile", "none", 1);
    setenv("SLURM_JOB_ID", "1", 1);
    if (!strncmp(text, "P|", 2) || !strncmp(text, "G|", 2)) {
        unsetenv("SLURM_JOB_ID");
        setenv(*text == 'P' ? "PBS_NODEFILE" : "PE_HOSTFILE", fuzz_file(data + 2, size - 2), 1);
        check(memchr(data + 2, 0, size - 2) == NULL);
    } else {
        for (size_t i = 0; i < sizeof names / sizeof names[0] && (field = strsep(&next, "|")); i++) {
            setenv(names[i], field, 1);
            if (i == 4 && *field)       /* a job of one component, or one whose others are missing */
                setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "c[0-1]", 1);
        }
        check(1);
        unsetenv("SLURM_JOB_NODELIST_HET_GROUP_0");
    }
    free(text);
    return 0;
}
