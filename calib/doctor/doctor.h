/* doctor.h - records, checks and report of hrun-calibrate doctor */
#ifndef CALIB_DOCTOR_DOCTOR_H
#define CALIB_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/error.h"
#include "fit/fit.h"

/* ---------------------------------------------------------------- data
 *
 * What is known of a cluster: who is where, and what hrun-probe measured
 *
 * Purpose: the records that `doctor` judges, in memory and as text. The text is what --keep writes and --from reads:
 *     sub INDEX PUS NAME             a sub-cluster, and the processing units of one of its PEs
 *     rank INDEX SUB PE HOST         a process, on PE number PE of sub-cluster SUB
 *     library PATH                   of the program that was named
 *     fact RANK KEY VALUE            a setting; KEY is a word, VALUE the rest of the line
 *     hrun-probe 1                   from here on by hrun-probe, facts as well; times are in seconds
 *     kernel RANK T...               times of the same work
 *     noise RANK QUANTA LEAST MEAN MEDIAN P99 MOST
 *     clock RANK OFFSET ERROR        of the host of that process against that of process 0
 *     pairs MEASURED ALL
 *     trip A B BYTES T...            round trips
 *     alltoall BYTES T...
 *     busy RANK OTHERS STOLEN        processors taken meanwhile by others, and by the hypervisor
 *     swapped RANK PAGES             meanwhile, on its host
 *     process RANK PID SHARE NAME    of others on its host, share of a processor
 *     end
 * Lines before the first of these words are skipped (shells that print something), a text without `end` is torn.
 * Invariants: settings stand in the order of ranks, then of their lines; all indices are within their lists; times are
 * finite and above 0; a process without a line of times has an empty list.
 */

struct doctor_sub { char *name; int pus; };

struct doctor_times { double *v; int n; };

struct doctor_rank {
    int sub, pe, host;             /* host: the first rank on the same host */
    char *host_name;
    struct doctor_times kernel;
    int quanta;                    /* 0: noise is not known */
    double least, mean, median, p99, most;
    int has_busy;
    double busy, stolen;
    double swapped;                /* pages of its host, at one rank of each host; else 0 */
    int has_clock;
    double offset, offset_error;
    int first_fact, nfacts;        /* its settings in the list of all */
};

struct doctor_fact { int rank, order; char *key, *value; };
struct doctor_process {
    int rank, pid;
    double share;
    char *name;
};
struct doctor_messages { int a, b; double bytes; struct doctor_times t; };  /* all-to-all: a and b are -1 */

struct doctor_data {
    struct doctor_sub *subs;
    struct doctor_rank *ranks;
    struct doctor_fact *facts;
    struct doctor_process *processes;
    struct doctor_messages *trips, *alltoall;
    int nsubs, nranks, nfacts, nprocesses, ntrips, nalltoall;
    int pairs, pairs_all;
    struct hrun_strvec libraries;
};

/* Read the text. name: for messages. Errors: HRUN_EPARSE (with the line); *out is then empty. */
int doctor_read(const char *name, const char *text, struct doctor_data *out, struct hrun_error *err);
void doctor_release(struct doctor_data *d);

/* The value of a setting of a process, else of its host; NULL: neither is known. */
const char *doctor_fact(const struct doctor_data *d, int rank, const char *key);

/* 1 when rank is the first of its host. */
int doctor_leads(const struct doctor_data *d, int rank);

/* Scatter of at least one time. */
struct hrun_spread doctor_spread(const struct doctor_times *t);
/* Width between first and ninth decile, as a fraction of the median. */
double doctor_width(const struct hrun_spread *s);

/* ---------------------------------------------------------------- judge
 *
 * What makes a cluster unpredictable, from what was measured
 *
 * Purpose: records -> findings. Each check is a row of the table in judge.c and a function in judge_compute.c,
 * judge_network.c or judge_settings.c. Nothing is measured here.
 * Invariants: a finding of severity PROBLEM is a measured figure beyond its limit, or a setting that lets equal PEs or
 * hosts behave differently; WARNINGs are settings that may change times though they did not here. Findings stand in the
 * order of the checks, of one check the worst first.
 * The checks and the sources of the limits are in hrun-calibrate(1), "The doctor".
 */

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
    int n, cap;
    int problems, warnings;
};

/* Append the findings to *out. */
void doctor_judge(const struct doctor_data *d, const struct doctor_limits *limits, struct findings *out);
void findings_release(struct findings *f);

/* ---- for the checks */
struct judging {
    const struct check *check;
    const struct doctor_data *d;
    const struct doctor_limits *limits;
    struct findings *out;
};

typedef void check_fn(const struct judging *j);

struct check {
    const char *name;
    enum doctor_severity severity;
    check_fn *run;
    const char *advice;
    const char *inside;            /* the same where all processes are on one host; NULL: as advice */
};

/* Add a finding of j->check with the rank (-1: none) and the sentence. The result is valid until the next one. */
struct finding *finding_add(const struct judging *j, int rank, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A finding is of a fraction that lies above its limit. */
void finding_above(struct finding *f, double measured, double limit);
/* A finding is of the rank's host; unit: of measured, NULL: nothing was measured; limit 0: none. */
void finding_of_host(struct finding *f, double measured, double limit, const char *unit);
/* "PE 3 of xeon (host h2)" in out[size]. */
enum { DOCTOR_PLACE = 400 };
const char *doctor_place(const struct doctor_data *d, int rank, char *out);

check_fn check_kernel_spread, check_unequal_pes, check_noise, check_others, check_stolen;
check_fn check_clocks, check_trips, check_anomalies, check_unequal_links, check_alltoall;
check_fn check_governor, check_unequal_governors, check_turbo, check_mtu, check_link_speed, check_link_speed_subs,
         check_blas, check_swapping, check_swap_used, check_huge_pages, check_cpu_quota;

/* ---- report: what `doctor` found, for people and for machines */

/* Append the figures and the findings; all = 1: every PE and every finding, else at most some of each kind, the others
 * counted. */
void doctor_text(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f, int all,
                 struct hrun_buf *out);
/* The same as one JSON document, always with all. Errors: those of hrun_json_print. */
void doctor_json(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f,
                 struct hrun_buf *out);

#endif
