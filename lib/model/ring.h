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

/* A node of paper 004, and what a process does there in seconds of the reference node. */
struct hrun_ring_node {
    int procs;              /* q_i */
    double speed;           /* s_i > 0 */
    double switch1_s, switch2_s;  /* t_cs1, t_cs2: lost in switching between processes, local phase and one step */
    double wire_s;          /* as above */
};
struct hrun_ring_costs {
    double local_s, step_s; /* t1_cp, t2_cp: computation (eq. 4) */
    double inner_s;         /* t0_tm: a message between processes of one node */
    double pack_s, unpack_s;
};

/* Eq. 7: what node i does. */
struct hrun_ring_stage hrun_ring_stage_of(const struct hrun_ring_node *node, const struct hrun_ring_costs *costs);

/* The efficiency of eq. 1, sum s_i eta_i / S with eta_i = CPU time over T_par, of n nodes whose processes compute cpu_s
 * seconds of the reference node each; S is over all nodes, those without processes too. */
double hrun_ring_efficiency(const struct hrun_ring_node *nodes, int n, double cpu_s, double elapsed_s);

/* gamma of eq. 11, 1 - s_io q / (q_io S): what the system loses by imbalance. procs[n] >= 0, one of them above 0;
 * speed[n] > 0. In [0, 1), but for rounding. */
double hrun_ring_gamma(const double *speed, const int *procs, int n);

/* The allocation of q processes that minimises max q_i/s_i, and so gamma and all U of eq. 9: dynamic programming over
 * the number of processes (paper 004's reference 5): an optimal allocation of q - 1 and one more process where
 * (q_i + 1)/s_i is least, on the first of several. Each node gets at least `least`, 0 or 1. O(n q).
 * Errors: HRUN_EINVAL (q < 1 or q < n least, a speed that is not above 0 and finite); procs[n] is as before. */
int hrun_ring_allocate(const double *speed, int n, int q, int least, int *procs, struct hrun_error *err);

/* The simpler, sub-optimal one of section 4: q_i = s_i q / S to the nearest whole number, at least `least`. Where the
 * sum is not q, it is mended one process at a time where the rounding went furthest the wrong way, on the first of
 * several. Errors: as above. */
int hrun_ring_allocate_round(const double *speed, int n, int q, int least, int *procs, struct hrun_error *err);

/* One kind of nodes that are alike, of which `pes` may be used with the same number of processes on each. */
struct hrun_ring_group {
    int pes;                /* >= 0 */
    const double *rate;     /* rate[noptions]: seconds per unit of work when procs[k] processes share a node: q_i/s_i of
                               eq. 9; not finite: not to be used */
    const int *procs;       /* procs[noptions] >= 1 */
    int noptions;
};

/* The same for what a configuration (P1,M1,...) can say: one number of processes in a group, on some of its nodes;
 * minimises the largest rate used, so that sum pes procs = q. Of equal ones the first by group has the fewest nodes.
 * O(q sum of pes noptions). *rate: the largest rate. Errors: HRUN_EINVAL (q < 1), HRUN_EINFEASIBLE (no such
 * configuration), HRUN_ENOMEM; pes[n] and procs[n] are as before. */
int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err);

/* S of the groups: the units of work per second that all nodes do, each with the number of processes that it is
 * fastest with. gamma of eq. 11 is then 1 - q / (rate S). */
double hrun_ring_total(const struct hrun_ring_group *groups, int n);

/* The smallest q of 1..most whose allocation by hrun_ring_allocate has gamma <= loss; 0: none has. The procedure's
 * second step (section 5.2). Errors: as of hrun_ring_allocate, and HRUN_ENOMEM; -1. */
int hrun_ring_fewest(const double *speed, int n, double loss, int least, int most, struct hrun_error *err);

#endif
