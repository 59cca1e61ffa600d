/* judge_settings.c - checks of settings of the system; see doctor.h */
#include "doctor.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* The setting `key` of a process, else of its host. NULL: it is missing, "0", "-1" or "unknown". Virtual interfaces
 * report the last two. */
static const char *known_fact(const struct doctor_data *d, int rank, const char *key)
{
    const char *v = doctor_fact(d, rank, key);

    return v && strcmp(v, "-1") && strcmp(v, "unknown") && strcmp(v, "0") ? v : NULL;
}

/* The first rank with the most common value in sub-cluster sub (< 0: in all); -1 if no value is known. hosts = 1: one
 * vote per host, else one per rank. */
static int find_most_common(const struct doctor_data *d, const char *key, int sub, int hosts)
{
    int best = -1, most = 0;

    for (int r = 0; r < d->nranks; r++) {
        const char *mine = known_fact(d, r, key), *other;
        int votes = 0;

        for (int k = 0; k < d->nranks && mine; k++) {
            other = (sub < 0 || d->ranks[k].sub == sub) && (!hosts || doctor_leads(d, k)) ? known_fact(d, k, key)
                                                      : NULL;
            votes += other && !strcmp(other, mine);
        }
        if (votes > most && (sub < 0 || d->ranks[r].sub == sub)) {
            best = r;
            most = votes;
        }
    }
    return best;
}

/* 1 if the value of a rank is known and differs from that of rank `other`, else 0. other = -1: no rank, thus 0. */
static int differs_from(const struct doctor_data *d, int rank, const char *key, int other)
{
    const char *mine = known_fact(d, rank, key);

    return mine && other >= 0 && strcmp(mine, known_fact(d, other, key));
}

void check_mtu(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    int most = find_most_common(d, "mtu", -1, 1);

    for (int r = 0; r < d->nranks; r++) {
        const char *interface = doctor_fact(d, r, "interface");

        if (doctor_leads(d, r) && differs_from(d, r, "mtu", most))
            finding_add(j, r, strtod(known_fact(d, r, "mtu"), NULL), 0, "the MTU of host %s (%s) is %s, that of host "
                        "%s %s", d->ranks[r].host_name, interface ? interface : "network", known_fact(d, r, "mtu"),
                        d->ranks[most].host_name, known_fact(d, most, "mtu"));
    }
}

static void add_link_finding(const struct judging *j, int rank, int other)
{
    const struct doctor_data *d = j->d;

    finding_add(j, rank, strtod(known_fact(d, rank, "link_mbit"), NULL), 0, "the link of host %s (%s) has %s Mbit/s, "
                "that of host %s (%s) %s", d->ranks[rank].host_name, d->subs[d->ranks[rank].sub].name,
                known_fact(d, rank, "link_mbit"), d->ranks[other].host_name, d->subs[d->ranks[other].sub].name,
                known_fact(d, other, "link_mbit"));
}

/* Find hosts that differ from most of their sub-cluster. */
void check_link_speed(const struct judging *j)
{
    const struct doctor_data *d = j->d;

    for (int sub = 0; sub < d->nsubs; sub++) {
        int most = find_most_common(d, "link_mbit", sub, 1);

        for (int r = 0; r < d->nranks; r++)
            if (d->ranks[r].sub == sub && doctor_leads(d, r) && differs_from(d, r, "link_mbit", most))
                add_link_finding(j, r, most);
    }
}

/* Find sub-clusters that differ from the first one. */
void check_link_speed_subs(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    int first = -1;

    for (int sub = 0; sub < d->nsubs; sub++) {
        int most = find_most_common(d, "link_mbit", sub, 1);

        first = first < 0 ? most : first;
        if (most >= 0 && differs_from(d, most, "link_mbit", first))
            add_link_finding(j, most, first);
    }
}

/* Find PEs that differ from most of their sub-cluster. */
void check_unequal_governors(const struct judging *j)
{
    const struct doctor_data *d = j->d;

    for (int sub = 0; sub < d->nsubs; sub++) {
        int most = find_most_common(d, "governor", sub, 0);

        for (int r = 0; r < d->nranks; r++)
            if (d->ranks[r].sub == sub && differs_from(d, r, "governor", most))
                finding_add(j, r, 0, 0, "the frequency governor of %s is %s, that of %s %s", doctor_place(d, r).s,
                            known_fact(d, r, "governor"), doctor_place(d, most).s, known_fact(d, most, "governor"));
    }
}

/* Find each governor other than "performance", once for each host. */
void check_governor(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    const char *mine = known_fact(d, j->rank, "governor"), *other;

    if (!mine || !strcmp(mine, "performance"))
        return;
    for (int k = j->r->host; k < j->rank; k++) {
        other = d->ranks[k].host == j->r->host ? known_fact(d, k, "governor") : NULL;
        if (other && !strcmp(other, mine))
            return;
    }
    finding_add(j, j->rank, 0, 0, "the frequency governor of host %s is %s: the frequency follows the load",
                j->r->host_name, mine);
}

/* Find hosts whose control group grants fewer CPUs than the number of their measured PEs. */
void check_cpu_quota(const struct judging *j)
{
    const char *quota = known_fact(j->d, j->rank, "cpu_quota");
    int n = 0;

    for (int k = j->rank; k < j->d->nranks; k++)
        n += j->d->ranks[k].host == j->rank;
    if (quota && strtod(quota, NULL) < n)
        finding_add(j, j->rank, 0, 0, "the control group of host %s grants %s CPUs to its %s: processes are "
                    "stopped when this processor time is used up", j->r->host_name, quota, hrun_counted(n, "PE").s);
}

static int is_fact(const struct judging *j, const char *key, const char *value)
{
    const char *v = doctor_fact(j->d, j->rank, key);

    return v && !strcmp(v, value);
}

void check_turbo(const struct judging *j)
{
    if (is_fact(j, "turbo", "on") || is_fact(j, "turbo_intel", "on"))
        finding_add(j, j->rank, 0, 0, "host %s: turbo is on: the frequency depends on how many cores work and on heat",
                    j->r->host_name);
}

void check_huge_pages(const struct judging *j)
{
    if (is_fact(j, "huge_pages", "always"))
        finding_add(j, j->rank, 0, 0, "host %s: transparent huge pages are always made: whether a run gets them "
                    "depends on free memory", j->r->host_name);
}

void check_swap_used(const struct judging *j)
{
    const char *v = known_fact(j->d, j->rank, "swap_used_kib");

    if (v)
        finding_add(j, j->rank, 1024 * strtod(v, NULL), 0, "host %s has %.0f MiB in swap", j->r->host_name,
                    strtod(v, NULL) / 1024);
}

void check_swapping(const struct judging *j)
{
    if (j->r->swapped > 0)
        finding_add(j, j->rank, j->r->swapped, 0, "host %s swapped %.0f pages during the measurement", j->r->host_name,
                    j->r->swapped);
}

/* Parts of the paths of libraries that start threads, and the variables that limit the number of threads. Serial builds
 * of OpenBLAS (Debian: openblas-serial) start none. */
static const struct { const char *in_path, *not_in_path, *variables[3]; } threaded[] = {
    { "openblas", "openblas-serial", { "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS" } },
    { "libmkl_intel_thread", NULL, { "MKL_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
    { "libmkl_gnu_thread", NULL, { "MKL_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
    { "libmkl_rt", NULL, { "MKL_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
    { "libblis-mt", NULL, { "BLIS_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
    { "blis-pthread", NULL, { "BLIS_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
    { "blis-openmp", NULL, { "BLIS_NUM_THREADS", "OMP_NUM_THREADS", NULL } },
};
enum { NTHREADED = sizeof threaded / sizeof threaded[0] };

static int has_thread_variable(const struct judging *j, size_t which)
{
    for (int i = 0; i < 3; i++)
        if (threaded[which].variables[i] && doctor_fact(j->d, j->rank, threaded[which].variables[i]))
            return 1;
    return 0;
}

/* PEs with one processing unit need no check: these libraries start one thread per unit of the process's affinity. */
void check_blas(const struct judging *j)
{
    int pus = j->d->subs[j->r->sub].pus;

    for (size_t l = 0; l < j->d->libraries.n && pus != 1; l++) {
        const char *path = j->d->libraries.v[l];
        size_t k = 0;

        while (k < NTHREADED && (!strstr(path, threaded[k].in_path) ||
                                 (threaded[k].not_in_path && strstr(path, threaded[k].not_in_path))))
            k++;
        if (k < NTHREADED && !has_thread_variable(j, k))
            finding_add(j, j->rank, 0, 0, "the program uses %s, which starts up to %d threads in each process on host "
                        "%s, as %s is not set", path, pus, j->r->host_name, threaded[k].variables[0]);
    }
}
