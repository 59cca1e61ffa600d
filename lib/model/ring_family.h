/* ring_family.h - measurements of rings -> models -> predictions (paper 004); not for other rooms
 *
 * Purpose: the family `ring` behind model.h. A record of family "ring", for each sub-cluster and M, has the seconds of
 * what a PE does with M processes: of a unit of work (M/s of paper 004, alike for all data or growing with the
 * logarithm of the n points of a process), of a step and of its bytes inside a PE and between PEs (far), and of what is
 * done once. All of them are linear in the time of a run on equal PEs, and so are fitted by non-negative least squares.
 *   T = k1 w + S (far (k2 + k3 b) + inner (k4 + k5 b)) + k6 + k7 w ln(n),  w = local + S step
 * with n = N/P and local, step, b those of the definition; far = 1 and inner = (M-1)/M when P > M, as one message of a
 * PE goes to the next one (eq. 7), else far = 0 and inner = 1. S is the number of steps: (P-1)/2 for
 * odd P, P/2 for even P (ring.h: the further step takes a PE of the first half as long as any other), but of one PE
 * alone (P-1)/2, as half of its processes work in the further step.
 * A configuration of several sub-clusters takes what hrun_ring_play says, its PEs in the order of lib/layout.
 * Runs on several sub-clusters count for the one that limits them (joint.h) as runs on it; of those with even P it is
 * not known which half of the ring it was in, and they are left out.
 * Invariants: M that the definition allows and that were not measured stand between two that were: their coefficients
 * are the linear interpolation between these (q_i/s_i is linear in q_i). Where PEs never ran with M and P > M, messages
 * between them take the mean of what they take others, with the fewest processes on a PE, or where nobody tells what
 * the network says of them, if it was measured; of this a PE is idle for what is longer than the step of its other
 * processes, which go on while one waits.
 */
#ifndef HRUN_MODEL_RING_FAMILY_H
#define HRUN_MODEL_RING_FAMILY_H

#include "model/family.h"
#include "model/predictor.h"
#include "model/ring.h"

enum { HRUN_RING_TERMS = 7 };

/* Values of the terms: what is done once, and in each step. */
struct hrun_ring_terms {
    double once[HRUN_RING_TERMS], step[HRUN_RING_TERMS];
};
void hrun_ring_terms_at(const struct hrun_ring_work *w, int P, int M, struct hrun_ring_terms *out);

/* S for a run with P processes on equal PEs, M on each. */
double hrun_ring_run_steps(int P, int M);

/* The number of the term with this text, -1: none. */
int hrun_ring_term(const char *text);
/* Is it one of messages between PEs? */
int hrun_ring_is_far(int term);

/* Seconds of a PE per unit of work, with k[HRUN_RING_TERMS], when its processes have n points each. */
double hrun_ring_rate(const double *k, double n);

/* Take out of rows[n], which are in their order, those of which S is not known, and with options->robust of three and
 * more runs of one point those that differ from the middle one by more than HRUN_SUSPICIOUS times the scatter that the
 * options expect: a PE that is alone has few points, and two glitches at different ones could agree. Result: how many
 * are left. */
size_t hrun_ring_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);

/* The record of rows[n], n >= 1, of one M into job->models; work*ln(n) is in it where it explains much more. Errors:
 * those of hrun_fit_family and hrun_app_ring_work. */
int hrun_fit_ring(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* A row of predictor.h. Errors: HRUN_ENODATA, HRUN_ENONFINITE (a coefficient), HRUN_ENOMEM. */
struct hrun_predictor *hrun_ring_create(const struct hrun_predictor_source *from, struct hrun_error *err);

#endif
