/* perf.h - how quick PEs are, for formulas: seconds per floating-point operation
 *
 * Purpose: paper 003's Perf(p) (section 3.2: "processing performance"), as records of the family "speed" in a struct
 * hrun_models, so that they are stored and looked up as models are: term "perf", coefficient s per operation of one
 * process on a PE that has M of them, cov over s2 its variance from PE to PE and run to run.
 * Invariants: a measurement of a speed is a sample whose N is the order of the product that was timed, on all PEs of
 * the sub-cluster at once with M processes on each; time_s is what one product takes.
 */
#ifndef HRUN_MODEL_PERF_H
#define HRUN_MODEL_PERF_H

#include "store/store.h"

/* Under this name the store keeps speeds; no definition can have it. */
#define HRUN_PERF_APP "pe-Speeds"

/* Operations of a product of order n: 2 n^3. */
double hrun_perf_flops(double n);

/* Of samples[n], all that are good: of each M the newest date's. Errors: HRUN_ENODATA (there are none), HRUN_ENOMEM. */
int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err);

/* Of simulated hosts whose cores do so many operations a second, with M = procs[nprocs] processes on the cores of a PE.
 * Errors: HRUN_ENOMEM. */
int hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs, struct hrun_models **out,
                        struct hrun_error *err);

/* The record for M, or NULL. */
const struct hrun_fit_record *hrun_perf_find(const struct hrun_models *m, int M);

#endif
