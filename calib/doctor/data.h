/* data.h - what is known of a cluster: who is where, and what hrun-probe measured
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
 * Invariants: settings stand in the order of ranks, those of a rank as they were told; all indices are within their
 * lists; times are finite and above 0; the list of times of a process that told none is empty.
 */
#ifndef CALIB_DOCTOR_DATA_H
#define CALIB_DOCTOR_DATA_H

#include "base/buf.h"
#include "base/error.h"

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
    double swapped;                /* of a host, on its rank that told; else 0 */
    int has_clock;
    double offset, offset_error;
    int first_fact, nfacts;        /* its settings in the list of all */
};

struct doctor_fact { int rank, order; char *key, *value; };
struct doctor_process { int rank, pid; double share; char *name; };
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

/* Read the text. name: for messages. Errors: HRUN_EPARSE (with the line), HRUN_ENOMEM; *out is then empty. */
int doctor_read(const char *name, const char *text, struct doctor_data *out, struct hrun_error *err);
void doctor_release(struct doctor_data *d);

/* The value of a setting as that process told it, or the host's, when it did not; NULL: neither. */
const char *doctor_fact(const struct doctor_data *d, int rank, const char *key);

/* 1 when rank is the first of its host. */
int doctor_leads(const struct doctor_data *d, int rank);

#endif
