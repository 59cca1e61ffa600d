/* speeds.h - predictions without a profile from the speeds of PEs, and records of speeds
 *
 * Purpose: the oracle of an application for which only the speeds of the PEs are known (paper 004, section 5.2: a small
 * instance with one process per node measures them). If a process of sub-cluster i computed Ci seconds in a run of P0
 * processes at another size,
 *
 *     Ti(P, Mi) = Ci (P0/P) max(1, Mi/ci) (1 + s (Mi - 1)/ci) + K max(1, P/P0)
 *
 * for work that P processes share evenly. ci is the number of cores of a PE. K is the least time in MPI of a process of
 * that run; the number of messages grows with P above P0, and is constant below P0. s = 0.001 is not measured: it
 * prefers more PEs if all else is equal, because processes of a PE share its memory and network. The times are for the
 * size of the small run; only their ratios count. At a larger size the part of the messages is rarely larger, so a
 * predicted gain is rarely too large.
 * Invariants: each time is finite and > 0 or NAN (a sub-cluster whose speed is not known); bounds hold exactly.
 */
#ifndef HRUN_MODEL_SPEEDS_H
#define HRUN_MODEL_SPEEDS_H

#include "app/app.h"
#include "model/oracle.h"
#include "store/store.h"

struct hrun_speed {            /* of one sub-cluster */
    double compute_s;          /* Ci; not > 0: not known, and the sub-cluster is not used */
    double unsure;             /* relative, >= 0; 0.05: the true value is within 5 % */
    int cores;                 /* ci, at least 1 */
    const int *procs;          /* Mi that are allowed, nprocs of them, ascending, distinct */
    int nprocs;
};

struct hrun_speeds;

/* Predictions for size N of app, with its rule and memory. v[nsubs], copied; P0 >= 1; comm_s: K, >= 0. NULL with
 * HRUN_EINVAL (a value). The application must outlive the result. */
struct hrun_speeds *hrun_speeds_create(const struct hrun_app *app, int64_t N, const struct hrun_speed *v, int nsubs,
                                       int P0, double comm_s, struct hrun_error *err);
void hrun_speeds_destroy(struct hrun_speeds *s);
const struct hrun_oracle *hrun_speeds_oracle(const struct hrun_speeds *s);

/* Limit later predictions to at most P processes; 0: no limit. */
void hrun_speeds_limit(struct hrun_speeds *s, int P);

struct hrun_speeds_range {
    double compute_s;          /* the largest Ti of the sub-clusters used without K */
    double low_s, high_s;      /* range of compute_s by the uncertainty of the speeds */
    double comm_s;             /* K max(1, P/P0) */
};

/* Set *out to the parts of the time of a configuration, without regard to rule and memory. Errors: HRUN_EINVAL (a
 * sub-cluster without a speed, no process); *out is unchanged. */
int hrun_speeds_range(const struct hrun_speeds *s, const struct hrun_config *config, struct hrun_speeds_range *out,
                      struct hrun_error *err);

/* How much longer than an even share the largest of P shares of N rows is: ceil(N/P) P/N - 1. A measurement at such a
 * size has this uncertainty at other sizes. */
double hrun_speeds_uneven(int64_t N, int P);

/* ------------------------------------------------------------------ speeds of PEs */

/* Paper 003's Perf(p) (section 3.2: "processing performance"), as records of the family "speed" in a struct
 * hrun_models, stored and looked up like models: term "perf", coefficient in s per operation of one process on a PE
 * with M of them; cov times s2 is its variance between PEs and runs. A measurement of a speed is a sample whose N is
 * the order of the product that was timed, on all PEs of the sub-cluster at once with M processes on each; time_s is
 * the time of one product. */

/* Name of speeds in the store; no definition can have it. */
#define HRUN_PERF_APP "pe-Speeds"
/* Name of the speeds of kinds of cores by hrun_topo_benchmark; time_s is the time of one round on one core. */
#define HRUN_KINDS_APP "pe-Kinds"

/* Operations of a product of order n: 2 n^3. */
double hrun_perf_flops(double n);

/* Make the records from the good samples: for each M, from its samples of the newest date. Errors: HRUN_ENODATA (no
 * good sample). */
int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err);

/* Make the records of simulated hosts with core_flops operations a second on a core, and M = procs[nprocs] processes on
 * the `cores` cores of a PE. */
struct hrun_models *hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs);

/* Returns the record for M, or NULL. */
const struct hrun_fit_record *hrun_perf_find(const struct hrun_models *m, int M);

#endif
