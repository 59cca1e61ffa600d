/* judge.c - the table of checks; see doctor.h for the contracts */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The advice about slow messages if all ranks are on one host, where messages go through memory. */
#define INSIDE "look for what takes processor and memory from these PEs (top, numastat); all messages stay inside " \
               "this host, whatever its network is"

static const struct check checks[] = {
    { "others", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_PE, "", check_others,
      "end those processes, or use a scheduler that gives whole nodes (Slurm: --exclusive)", NULL },
    { "stolen", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_PE, "", check_stolen,
      "use instances whose processors are not shared, or fewer virtual processors on this host", NULL },
    { "kernel-spread", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_PE, "", check_kernel_spread,
      "look for other processes (top), a quota (cpu.max of the control group), heat (turbostat, sensors) "
      "and the governor", NULL },
    { "unequal-pes", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, "", check_unequal_pes,
      "compare BIOS settings, memory modules, cooling and quotas of the hosts; else name them apart in a cluster file "
      "(hrun-cluster(5))", NULL },
    { "noise", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_PE, "", check_noise,
      "stop services that are not needed (systemctl list-units, top -d 1), move interrupts away, leave a core "
      "free for the system", NULL },
    { "swapping", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_HOST, "pages", check_swapping,
      "end what takes the memory (ps aux --sort -rss), or swapoff -a", NULL },
    { "clock", DOCTOR_PROBLEM, CHECK_RANKS, ABOUT_HOST, "s", check_clocks,
      "synchronise the clocks: chronyd or systemd-timesyncd (timedatectl set-ntp true)", NULL },
    { "round-trip", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, "", check_trips,
      "update the driver of the network interface or use another one, and look for other traffic (ip -s link, "
      "ethtool -S)", INSIDE },
    { "message-size", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, "", check_anomalies,
      "try other buffer sizes of the MPI library (--mca btl_tcp_sndbuf, btl_tcp_eager_limit) and "
      "offloading off (ethtool -K)",
      "try other sizes at which the MPI library changes its protocol (--mca btl_vader_eager_limit)" },
    { "unequal-links", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, "", check_unequal_links,
      "check cable, port and switch of these hosts (ethtool, errors in ip -s link), and whether another "
      "switch lies between",
      "compare where these PEs lie (lstopo): PEs of other packages or caches are farther; a finer --level may tell "
      "them apart" },
    { "alltoall", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, "", check_alltoall,
      "connect all hosts to one switch of full speed, with MTU 1500 and the flow control of the switch (ethtool -a)",
      INSIDE },
    { "mtu", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_HOST, "bytes", check_mtu,
      "set the same MTU on all hosts and switches: ip link set dev INTERFACE mtu 1500", NULL },
    { "link-speed", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_HOST, "Mbit/s", check_link_speed,
      "check cable and port (ethtool INTERFACE); else name these hosts apart in a cluster file (hrun-cluster(5))",
      NULL },
    { "link-speed-subs", DOCTOR_WARNING, CHECK_ONCE, ABOUT_HOST, "Mbit/s", check_link_speed_subs,
      "nothing is wrong, but runs on several sub-clusters go at the speed of the slowest link", NULL },
    { "unequal-governors", DOCTOR_PROBLEM, CHECK_ONCE, ABOUT_PE, NULL, check_unequal_governors,
      "set one governor everywhere: cpupower frequency-set -g performance", NULL },
    { "governor", DOCTOR_WARNING, CHECK_RANKS, ABOUT_HOST, NULL, check_governor,
      "keep the frequency: cpupower frequency-set -g performance", NULL },
    { "turbo", DOCTOR_WARNING, CHECK_HOSTS, ABOUT_HOST, NULL, check_turbo,
      "turn it off where times must repeat: echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or else echo 0 "
      ">/sys/devices/system/cpu/cpufreq/boost", NULL },
    { "cpu-quota", DOCTOR_WARNING, CHECK_HOSTS, ABOUT_HOST, NULL, check_cpu_quota,
      "raise it (cpu.max or cpu.cfs_quota_us of the control group, the CPUs of the container), or use fewer PEs; hrun "
      "makes waiting processes yield there", NULL },
    { "blas-threads", DOCTOR_PROBLEM, CHECK_HOSTS, ABOUT_HOST, NULL, check_blas,
      "set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 (or MKL_NUM_THREADS=1) with -x, or `threads: fill` in the "
      "app definition", NULL },
    { "swap-used", DOCTOR_WARNING, CHECK_HOSTS, ABOUT_HOST, "bytes", check_swap_used,
      "free memory before measuring (ps aux --sort -rss)", NULL },
    { "huge-pages", DOCTOR_WARNING, CHECK_HOSTS, ABOUT_HOST, NULL, check_huge_pages,
      "let programs ask for them: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled", NULL },
};

void finding_add(const struct judging *j, int rank, double measured, double limit, const char *fmt, ...)
{
    const struct check *c = j->check;
    struct findings *f = j->out;
    struct hrun_buf text = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    hrun_grow(f->v, f->n + 1, f->cap);
    f->v[f->n++] = (struct finding) { .check = c, .what = hrun_buf_detach(&text), .advice = c->advice, .rank = rank,
                                      .measured = measured, .limit = limit };
    *(c->severity == DOCTOR_PROBLEM ? &f->problems : &f->warnings) += 1;
}

struct hrun_spread doctor_spread(const struct doctor_times *t)
{
    struct hrun_spread s = { 0 };

    hrun_spread_of(t->v, (size_t)t->n, &s, NULL);
    return s;
}

double doctor_width(const struct hrun_spread *s)
{
    return (s->high - s->low) / s->median;
}

struct doctor_place doctor_place(const struct doctor_data *d, int rank)
{
    const struct doctor_rank *r = &d->ranks[rank];
    struct doctor_place out;

    snprintf(out.s, sizeof out.s, "PE %d of %.150s (host %.150s)", r->pe, d->subs[r->sub].name, r->host_name);
    return out;
}

/* Order of the findings of one check: by measured figure over limit, the largest first. */
static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    double p = x->limit > 0 ? x->measured / x->limit : 0, q = y->limit > 0 ? y->measured / y->limit : 0;

    return p != q ? (p < q ? 1 : -1) : (x->rank > y->rank) - (x->rank < y->rank);
}

static int is_one_host(const struct doctor_data *d)
{
    for (int r = 0; r < d->nranks; r++)
        if (d->ranks[r].host != d->ranks[0].host)
            return 0;
    return 1;
}

void doctor_judge(const struct doctor_data *d, const struct doctor_limits *limits, struct findings *out)
{
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        int before = out->n;

        if (checks[i].each == CHECK_ONCE)
            checks[i].run(&(struct judging){ &checks[i], d, limits, out, -1, NULL });
        for (int r = 0; checks[i].each != CHECK_ONCE && r < d->nranks; r++)
            if (checks[i].each == CHECK_RANKS || doctor_leads(d, r))
                checks[i].run(&(struct judging){ &checks[i], d, limits, out, r, &d->ranks[r] });
        for (int k = before; checks[i].inside && is_one_host(d) && k < out->n; k++)
            out->v[k].advice = checks[i].inside;
        if (out->n > before)
            qsort(out->v + before, (size_t)(out->n - before), sizeof out->v[0], compare_findings);
    }
}

void findings_release(struct findings *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->v[i].what);
    free(f->v);
    memset(f, 0, sizeof *f);
}
