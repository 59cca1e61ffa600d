/* terms.h - the terms of an application whose pattern nobody wrote down, from its watched runs
 *
 * Purpose: how often each MPI function is called and how many bytes it moves, as functions of N and P, told from runs
 * at several N and P; and what that means for the terms of a model (latency goes with messages,
 * transfer with bytes).
 * How: a form N^a P^b g(P), g one of 1, log(P), P-1, is chosen for each quantity among a small library: the one with
 * the least spread of ln(quantity / form) over the runs, and of those that are about as good the simplest. Only the
 * shape is found, factors are left to the fit. What did not vary in the runs cannot be told: then the form has no
 * power of it.
 */
#ifndef HRUN_TRACE_TERMS_H
#define HRUN_TRACE_TERMS_H

#include "trace/trace.h"

enum hrun_form_factor { HRUN_FORM_ONE, HRUN_FORM_LOG, HRUN_FORM_OTHERS /* P-1 */ };
struct hrun_form {
    double a, b;                 /* powers of N and P */
    enum hrun_form_factor g;
    double spread;               /* standard deviation of ln(quantity / form): 0.02 is about 2 % */
};

/* Choose the form of q[i] > 0 at N[i] >= 1, P[i] >= 1, for n points. powers_only = 0: P[i] >= 2, and the form may have
 * a g(P) that is not 1. Errors: HRUN_ENODATA (fewer than two points). */
int hrun_form_choose(const double *N, const double *P, const double *q, int n, int powers_only, struct hrun_form *out,
                     struct hrun_error *err);
/* Append it as an expression of lib/expr: "N^2/sqrt(P)", "N*log(P)", "1". */
void hrun_form_print(const struct hrun_form *f, struct hrun_buf *out);

/* One watched run of a sub-cluster. */
struct hrun_trace_point {
    double N, P;
    int M;                       /* processes on each PE */
    int mixed;                   /* its time outside MPI is not used */
    const struct hrun_trace_sub *seen;
};

/* What one function tells. */
struct hrun_trace_proposal {
    char name[HRUN_TRACE_NAME];  /* "" for the time outside MPI, of which bytes is empty */
    double share;                /* mean part of the runs' time that was spent in it */
    int points;                  /* runs that called it */
    struct hrun_form count, bytes;
    int has_bytes;
    struct hrun_strvec terms;    /* in the order of their weight: what it adds to the model */
};

struct hrun_trace_terms {
    struct hrun_trace_proposal *v;   /* computing first, then by share */
    int n;
    struct hrun_strvec np, only_n;   /* the definition's terms: of N and P, and with P fixed */
    int varied_n, varied_p;          /* 0: the runs had but one */
};

/* Propose from n runs. The time outside MPI is taken from the runs with the M that most of them have, P = 1 included.
 * Errors: HRUN_ENODATA (fewer than two runs on P >= 2), HRUN_ENOMEM. Release *out. */
int hrun_trace_propose(const struct hrun_trace_point *points, int n, struct hrun_trace_terms *out,
                       struct hrun_error *err);
void hrun_trace_terms_release(struct hrun_trace_terms *t);

#endif
