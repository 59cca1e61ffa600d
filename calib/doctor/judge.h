/* judge.h - what makes a cluster unpredictable, from what was measured
 *
 * Purpose: records -> findings. Each check is a row of the table in judge.c and a function in judge_compute.c,
 * judge_network.c or judge_settings.c. Nothing is measured here.
 * Invariants: a finding of severity PROBLEM is a measured figure beyond its limit, or a setting that lets equal PEs or
 * hosts behave differently; WARNINGs are settings that may change times though they did not here. Findings stand in the
 * order of the checks, of one check the worst first.
 * The checks and the sources of the limits are in hrun-calibrate(1), "The doctor".
 */
#ifndef CALIB_DOCTOR_JUDGE_H
#define CALIB_DOCTOR_JUDGE_H

#include "data.h"

struct doctor_limits {
    double spread;                 /* of equal work, between first and ninth decile, by the median: --threshold */
    double network;                /* of equal messages, the same */
    double clock_s;                /* between clocks of hosts */
};

/* In a run that spends a fifth of its time in messages, messages that vary by five times the threshold change its time
 * by the threshold. 128 ms: beyond it NTP no longer slews a clock but sets it (RFC 5905, appendix A.1.1, STEPT). */
#define DOCTOR_NETWORK_FACTOR 5.0
#define DOCTOR_CLOCK_S 0.128
/* By how much runs of the least noise that hrun's own accuracy is measured with (2 % standard deviation, normal) lie
 * apart from the first to the ninth decile: 2 * 1.2816 * 2 %. */
#define DOCTOR_SPREAD 0.05
/* Samples of each time: with 20 two lie outside of each decile. */
enum { DOCTOR_REPETITIONS = 20 };

enum doctor_severity { DOCTOR_PROBLEM, DOCTOR_WARNING };

struct finding {
    enum doctor_severity severity;
    const char *check;             /* "kernel-spread", ...: a name for machines */
    char *what;                    /* a sentence, without its end, that says where */
    const char *advice;            /* what to do */
    int rank;                      /* whose PE or host; -1: none alone */
    int host_only;                 /* 1: it is of the rank's host */
    double measured, limit;        /* as fractions, or seconds where `unit` is "s"; limit 0: none */
    const char *unit;              /* "", "s", "bytes", "Mbit/s": of measured; NULL: nothing was measured */
};

struct findings {
    struct finding *v;
    int n;
    int problems, warnings;
};

/* Errors: HRUN_ENOMEM; *out, which is to be zeroed before, is empty then. */
int doctor_judge(const struct doctor_data *d, const struct doctor_limits *limits, struct findings *out,
                 struct hrun_error *err);
void findings_release(struct findings *f);

/* ---- for the checks: errors HRUN_ENOMEM */
struct check {
    const char *name;
    enum doctor_severity severity;
    int (*run)(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
               struct findings *out, struct hrun_error *err);
    const char *advice;
    const char *inside;            /* the same where all processes are on one host; NULL: as advice */
};

/* Add a finding of check c with the rank (-1: none) and the sentence. Result: it, or NULL. */
struct finding *finding_add(const struct check *c, struct findings *f, int rank, struct hrun_error *err,
                            const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A finding is of a fraction that lies above its limit. -1 where there is none, as it could not be added. */
int finding_above(struct finding *f, double measured, double limit);
/* "PE 3 of xeon (host h2)" in out[size]. */
enum { DOCTOR_PLACE = 400 };
const char *doctor_place(const struct doctor_data *d, int rank, char *out);

typedef int check_fn(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                     struct findings *out, struct hrun_error *err);
check_fn check_kernel_spread, check_unequal_pes, check_noise, check_others, check_stolen;
check_fn check_clocks, check_trips, check_anomalies, check_unequal_links, check_alltoall;
check_fn check_governor, check_unequal_governors, check_turbo, check_mtu, check_link_speed, check_link_speed_subs,
         check_blas, check_swapping, check_swap_used, check_huge_pages, check_cpu_quota;

#endif
