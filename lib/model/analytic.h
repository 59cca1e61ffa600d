/* analytic.h - predictions by a definition's formula, from the speeds of the PEs and the network; not for other rooms
 *
 * Purpose: the family `analytic` (paper 003, sections 3.3 and 4, eqs. 2 and 3). The seconds of each process are the
 * definition's formula (app/formula.h), evaluated in the configuration as a whole, ranks sub-cluster by sub-cluster;
 * the application takes as long as the longest. The work is dealt out in proportion to speed: the share of process i
 * is (1/perf_i) / sum_j (1/perf_j).
 * Speeds come as records of the family "speed" (hrun_perf_*), one for each M: perf, in s per operation, of a process
 * on a PE that has M of them.
 * What is assumed of formulas: no configuration of P processes takes less than P processes on PEs of the quickest kind,
 * sharing evenly, on a network that takes no time. That is the lower bound by which a search prunes; a formula that
 * gives less is taken to give just this.
 */
#ifndef HRUN_MODEL_ANALYTIC_H
#define HRUN_MODEL_ANALYTIC_H

#include "model/predictor.h"

/* A predictor of the family. from->models: those of hrun_perf_*. Errors: HRUN_ENODATA (no sub-cluster has speeds; the
 * formula asks for the network and there is none), HRUN_ENOMEM. */
struct hrun_predictor *hrun_analytic_create(const struct hrun_predictor_source *from, struct hrun_error *err);

/* What a formula is evaluated with. */
struct hrun_formula_ranks {
    int P;
    const double *share, *perf; /* P each */
    /* What an operation of the network takes, in s; NULL: nothing. 0, or -1 with *err. */
    int (*network)(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err);
    void *ctx;
    double latency_s, bandwidth_bytes_per_s;
};

/* The seconds of each process into time_s[P]. room: (P + 1) * (HRUN_FORMULA_VARIABLES + f->n + 1) numbers of scratch.
 * Errors: HRUN_ENONFINITE naming step, N and P (also a function's argument that has no sense), those of network. */
int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err);

#endif
