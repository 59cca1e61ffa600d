/* doctor.h - records, checks and report of hrun-calibrate doctor */
#ifndef CALIB_DOCTOR_DOCTOR_H
#define CALIB_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/error.h"
#include "fit/fit.h"

/* ---------------------------------------------------------------- data
 *
 * Facts about a cluster: its processes, and the measurements of hrun-probe
 *
 * Purpose: the records that `doctor` checks, in memory and as text. --keep writes the text, --from reads it:
 *     sub INDEX PUS NAME             a sub-cluster, and the processing units of one of its PEs
 *     rank INDEX SUB PE HOST         a process, on PE number PE of sub-cluster SUB
 *     library PATH                   a library of the program that the user named
 *     fact RANK KEY VALUE            a setting; KEY is a word, VALUE the rest of the line
 *     hrun-probe 1                   the lines below, some of them facts, come from hrun-probe; times in seconds
 *     kernel RANK T...               times of the same work
 *     noise RANK QUANTA LEAST MEAN MEDIAN P99 MOST    number and times of equal pieces of work
 *     clock RANK OFFSET ERROR        offset of the clock of its host from that of process 0
 *     pairs MEASURED ALL             numbers of pairs of neighbours
 *     trip A B BYTES T...            round trips between processes A and B
 *     alltoall BYTES T...            BYTES from each process to each other one
 *     busy RANK OTHERS STOLEN        processors used by others and taken by the hypervisor during the experiments
 *     swapped RANK PAGES             pages swapped on its host during the experiments
 *     process RANK PID SHARE NAME    another process on its host, with its share of a processor
 *     end
 * Other lines before `hrun-probe 1` are skipped (output of shells). A text without `end` is incomplete.
 * Invariants: all indices are within their lists; times are finite and above 0; a process without a line of times has
 * an empty list.
 */

struct doctor_sub { char *name; int pus; };

struct doctor_times { double *v; int n; };
struct doctor_fact { char *key, *value; };

struct doctor_rank {
    int sub, pe, host;             /* host: the first rank on the same host */
    char *host_name;
    struct doctor_times kernel;
    int quanta;                    /* pieces of work in the noise experiment; 0: noise is not known */
    double least, mean, median, p99, most;
    double busy, stolen;           /* NAN: not known */
    double swapped;                /* pages swapped on its host; set for one rank of each host, else 0 */
    double clock_offset, clock_error;      /* NAN: not known */
    struct doctor_fact *facts;     /* its settings, in the order of lines */
    int nfacts;
};

struct doctor_process {
    int rank, pid;
    double share;
    char *name;
};
struct doctor_messages { int a, b; double bytes; struct doctor_times t; };  /* all-to-all: a and b are -1 */

struct doctor_data {
    struct doctor_sub *subs;
    struct doctor_rank *ranks;
    struct doctor_process *processes;
    struct doctor_messages *trips, *alltoall;
    int nsubs, nranks, nprocesses, ntrips, nalltoall;
    int pairs, pairs_all;
    struct hrun_strvec libraries;
};

/* Read the text. name: for messages. Errors: HRUN_EPARSE (with the line); *out is then empty. */
int doctor_read(const char *name, const char *text, struct doctor_data *out, struct hrun_error *err);
void doctor_release(struct doctor_data *d);

/* The value of a setting of a process, else of its host; NULL if neither is known. */
const char *doctor_fact(const struct doctor_data *d, int rank, const char *key);

/* 1 if rank is the first of its host, else 0. */
int doctor_leads(const struct doctor_data *d, int rank);

/* The spread of times; t->n >= 1. */
struct hrun_spread doctor_spread(const struct doctor_times *t);
/* The distance from the first to the ninth decile, as a fraction of the median. */
double doctor_width(const struct hrun_spread *s);

/* ---------------------------------------------------------------- judge
 *
 * Findings on what makes a cluster unpredictable
 *
 * Purpose: derive findings from records. Each check is a row of the table in judge.c and a function in judge_compute.c,
 * judge_network.c or judge_settings.c. Nothing is measured here.
 * Invariants: a finding of severity PROBLEM is a measured figure beyond its limit, or a setting that lets equal PEs or
 * hosts behave differently; WARNINGs are settings that may change times though they did not here. Findings are in the
 * order of the checks; those of one check begin with the worst.
 * The checks and the sources of the limits are in hrun-calibrate(1), "The doctor".
 */

struct doctor_limits {
    double spread;                 /* for times of equal work: first to ninth decile over the median; --threshold */
    double network;                /* as spread, for times of equal messages */
    double clock_s;                /* difference between clocks of hosts */
};

/* If messages take a fifth of the time of a run and vary by five times the threshold, the run varies by the threshold.
 * 128 ms: beyond it NTP no longer slews a clock but sets it (RFC 5905, appendix A.1.1, STEPT). */
#define DOCTOR_NETWORK_FACTOR 5.0
#define DOCTOR_CLOCK_S 0.128
/* Width from the first to the ninth decile of normal times with a standard deviation of 2 %, the least noise in the
 * tests of hrun's accuracy: 2 * 1.2816 * 2 %. */
#define DOCTOR_SPREAD 0.05
/* Samples of each time. With 20, two are outside each decile. */
enum { DOCTOR_REPETITIONS = 20 };

enum doctor_severity { DOCTOR_PROBLEM, DOCTOR_WARNING };

struct finding {
    const struct check *check;
    char *what;                    /* a sentence without its full stop, with the place; owned */
    const char *advice;            /* what to do */
    int rank;                      /* a rank on the PE or host of the finding; -1: no single one */
    double measured, limit;        /* in the check's unit; limit 0: none */
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
    int rank;                      /* the process to check; -1: the check covers all processes */
    const struct doctor_rank *r;   /* that process */
};

typedef void check_fn(const struct judging *j);

struct check {
    const char *name;              /* "kernel-spread", ...: a name for machines */
    enum doctor_severity severity;
    enum { CHECK_ONCE, CHECK_RANKS, CHECK_HOSTS } each;     /* run once, for each process, for the first of each host */
    enum { ABOUT_PE, ABOUT_HOST } about;                    /* the place that its findings name */
    const char *unit;              /* "" (a fraction), "s", "bytes", "pages", "Mbit/s"; NULL: nothing is measured */
    check_fn *run;
    const char *advice;
    const char *inside;            /* advice if all processes are on one host; NULL: as advice */
};

/* Add a finding of j->check with the rank (-1: none), the measured figure, its limit (0: none) and the sentence. */
void finding_add(const struct judging *j, int rank, double measured, double limit, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* "PE 3 of xeon (host h2)", by value as struct hrun_text. */
struct doctor_place {
    char s[400];
};
struct doctor_place doctor_place(const struct doctor_data *d, int rank);

check_fn check_kernel_spread, check_unequal_pes, check_noise, check_others, check_stolen;
check_fn check_clocks, check_trips, check_anomalies, check_unequal_links, check_alltoall;
check_fn check_governor, check_unequal_governors, check_turbo, check_mtu, check_link_speed, check_link_speed_subs,
         check_blas, check_swapping, check_swap_used, check_huge_pages, check_cpu_quota;

/* ---- report: figures and findings as text and as JSON */

/* Append the figures and the findings. all = 1: every PE and every finding; 0: the PEs only if they are few, and of
 * each check a few findings and the number of the others. */
void doctor_text(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f, int all,
                 struct hrun_buf *out);
/* Append figures and findings as one JSON document, always complete. */
void doctor_json(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f,
                 struct hrun_buf *out);

#endif
