/* speeds.h - predictions without a profile from the speeds of PEs, and records of speeds
 *
 * Purpose: the search's table of functions for an application of which nothing is known but the speeds of the PEs under
 * it (paper 004, section 5.2: a small instance with one process per node tells them; then processes are given out by
 * speed). Where a run of P0 processes at another size had a process of sub-cluster i compute Ci seconds,
 *
 *     Ti(P, Mi) = Ci (P0/P) max(1, Mi/ci) (1 + s (Mi - 1)/ci) + K max(1, P/P0)
 *
 * for work that P processes share evenly; ci is how many processes a PE holds before they slow each other down (its
 * cores), and K what the process spent in MPI that spent least there: messages become as many more as there are
 * processes, and no fewer. Processes of a PE share its memory and its network all the same: s = 0.001 is no measure of
 * that, and lets what else is equal go to more PEs. The times are those of the small run's size: their ratios are what
 * counts. At a larger size the part of the messages is rarely larger, so a gain that is predicted from them is rarely
 * too large.
 * Invariants: each time is finite and > 0 or NAN (a sub-cluster whose speed is not known); bounds hold exactly.
 */
#ifndef HRUN_MODEL_SPEEDS_H
#define HRUN_MODEL_SPEEDS_H

#include "app/app.h"
#include "model/oracle.h"
#include "store/store.h"

struct hrun_speed {            /* of one sub-cluster */
    double compute_s;          /* Ci; not > 0: not known, and the sub-cluster is not used */
    double unsure;             /* 0.05: the true one lies within 5 % of it; >= 0 */
    int cores;                 /* ci, at least 1 */
    const int *procs;          /* Mi that are allowed, nprocs of them, ascending, distinct */
    int nprocs;
};

struct hrun_speeds;

/* Predictions for size N of app, whose rule and memory count there. v[nsubs], copied; P0 >= 1; comm_s: K, >= 0.
 * NULL with HRUN_EINVAL (a value). The application must outlive the result. */
struct hrun_speeds *hrun_speeds_create(const struct hrun_app *app, int64_t N, const struct hrun_speed *v, int nsubs,
                                       int P0, double comm_s, struct hrun_error *err);
void hrun_speeds_destroy(struct hrun_speeds *s);
const struct hrun_oracle *hrun_speeds_oracle(const struct hrun_speeds *s);

/* From now on no more than P processes; 0: any number. */
void hrun_speeds_limit(struct hrun_speeds *s, int P);

struct hrun_speeds_range {
    double compute_s;          /* the largest Ti of the sub-clusters used without K */
    double low_s, high_s;      /* between which that lies, for speeds as unsure as they are */
    double comm_s;             /* K max(1, P/P0) */
};

/* The parts of the time of a configuration, whatever rule and memory say. Errors: HRUN_EINVAL (a
 * sub-cluster without a speed, no process); *out is as before. */
int hrun_speeds_range(const struct hrun_speeds *s, const struct hrun_config *config, struct hrun_speeds_range *out,
                      struct hrun_error *err);

/* How much longer than an even share the largest of P shares of N rows is: ceil(N/P) P/N - 1. What is measured at one
 * size with shares that are uneven there says so much less about another. */
double hrun_speeds_uneven(int64_t N, int P);

/* ------------------------------------------------------------------ how quick PEs are */

/* Paper 003's Perf(p) (section 3.2: "processing performance"), as records of the family "speed" in a struct
 * hrun_models, so that they are stored and looked up as models are: term "perf", coefficient s per operation of one
 * process on a PE that has M of them, cov over s2 its variance from PE to PE and run to run. A measurement of a speed
 * is a sample whose N is the order of the product that was timed, on all PEs of the sub-cluster at once with M
 * processes on each; time_s is what one product takes. */

/* Under this name the store keeps speeds; no definition can have it. */
#define HRUN_PERF_APP "pe-Speeds"
/* And under this one the speeds of kinds of cores by hrun_topo_benchmark: time_s is that of one round on one core. */
#define HRUN_KINDS_APP "pe-Kinds"

/* Operations of a product of order n: 2 n^3. */
double hrun_perf_flops(double n);

/* Of samples[n], all that are good: of each M the newest date's. Errors: HRUN_ENODATA (there are none). */
int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err);

/* Of simulated hosts whose cores do so many operations a second, with M = procs[nprocs] processes on the cores of a PE.
 * */
struct hrun_models *hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs);

/* The record for M, or NULL. */
const struct hrun_fit_record *hrun_perf_find(const struct hrun_models *m, int M);

#endif
