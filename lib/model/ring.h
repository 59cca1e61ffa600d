/* ring.h - rings of virtual processes on unlike nodes (paper 004): their time, their balance, who gets how many
 *
 * Purpose: mathematics of the model family `ring`, without definitions, measurements or searches. q processes stand in
 * a ring, those of one node side by side, node after node; data go round it: each process computes on its own data,
 * then in each step sends what it has to the next, receives from the one before, and computes on both (Fig. 2). The
 * processes of a node share it, so that q_i of them take q_i/s_i times as long for a step as one on the reference node.
 * Steps: all pairs have met after L = (q-1)/2 steps when q is odd. When it is even, L = q/2 - 1 of them leave the
 * opposite pairs, and in one more the first q/2 processes of the ring get the data of their opposites.
 * Invariants: nodes without processes (0) are not in the ring and take no time; nothing here depends on their place.
 * Where eqs. 6-8 are open, this is how they are read:
 *   - Node 1's predecessor is the last node that has processes. A node alone waits for itself, as eq. 8 says.
 *   - Eq. 8 waits at the end of a step, also for data that nobody uses (behind step L), and not for the first. The
 *     *wait before* a step, for what it computes on, is the same recursion from another beginning: let
 *     A_l = T_l + W, W being all of a step but the last unpacking; then eqs. 6-8 are
 *     A_{i,l} = max(A_{i,l-1}, A_{i-1,l-1} + t_tm) + t_upk + W_i, which begins at t_i^1 + W_i as printed, at t_i^1
 *     here. HRUN_RING_PRINTED gives the paper's, HRUN_RING_BEFORE this one, which ends at most one step's work earlier.
 *   - Both let a node wait with all its processes for its first one. In truth the others go on, as far as they have
 *     data: a ring of single processes takes exactly this time, one of several on a node at most this.
 *   - The further step of an even q takes of each node the share of its processes that are in the first half. They do
 *     it as the data of their opposites come, when both nodes have ended the steps.
 */
#ifndef HRUN_MODEL_RING_H
#define HRUN_MODEL_RING_H

#include "base/error.h"

/* Steps L of q >= 1 processes, without the further one of an even q (paper 004, section 3). */
int hrun_ring_steps(int q);

/* What a node does: all its processes together, in seconds. */
struct hrun_ring_stage {
    int procs;              /* q_i >= 0 */
    double local_s;         /* t_i^1 of eq. 7: the phase before the steps */
    double step_s;          /* W_i: computation, switches, messages inside, packing */
    double unpack_s;        /* of the message from the node before */
    double wire_s;          /* t_tm of eq. 5: a message from the node before until it is here */
};

enum hrun_ring_wait { HRUN_RING_BEFORE, HRUN_RING_PRINTED };

/* T_{i,L} of n nodes into elapsed_s[n], with the further step of an even q: eqs. 6 to 8. idle_s[n] (may be NULL): how
 * much of it each waited. Work: n L. Result: the largest, T_par. Errors: HRUN_EINVAL (no process at all, a negative
 * number), HRUN_ENONFINITE (a time that is not finite or negative), HRUN_ENOMEM; -1 and nothing is written then. */
double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err);

/* One kind of nodes that are alike, of which `pes` may be used with the same number of processes on each. */
struct hrun_ring_group {
    int pes;                /* >= 0 */
    const double *rate;     /* rate[noptions]: seconds per unit of work when procs[k] processes share a node: q_i/s_i of
                               eq. 9; not finite: not to be used */
    const int *procs;       /* procs[noptions] >= 1 */
    int noptions;
};

/* The allocation of q processes that minimises the largest q_i/s_i, and so gamma of eq. 11 and all U of eq. 9, among
 * those that a configuration (P1,M1,...) can say: one number of processes in a group, on some of its nodes. Dynamic
 * programming over groups and numbers of processes (paper 004's reference 5). Of equal ones the first by group has the
 * fewest nodes. O(q sum of pes noptions). *rate: the largest rate. Errors: HRUN_EINVAL (q < 1), HRUN_EINFEASIBLE (no
 * such configuration), HRUN_ENOMEM; pes[n] and procs[n] are as before. */
int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err);

/* S of the groups: the units of work per second that all nodes do, each with the number of processes that it is
 * fastest with. gamma of eq. 11 is then 1 - q / (rate S). */
double hrun_ring_total(const struct hrun_ring_group *groups, int n);

#endif
