/* ring_paper.h - nodes as paper 004 gives them: its eqs. 1, 7 and 11, its allocation, for tests by its figures */
#ifndef RING_PAPER_H
#define RING_PAPER_H

#include "model/families/ring.h"

#include <math.h>

enum { RP_NODES = 8, RP_PROCS = 64 };

/* A node, and what a process does there in seconds of the reference node. */
struct ring_node {
    int procs;              /* q_i */
    double speed;           /* s_i > 0 */
    double switch1_s, switch2_s;  /* t_cs1, t_cs2: lost in switching between processes, local phase and one step */
    double wire_s;
};
struct ring_costs {
    double local_s, step_s; /* t1_cp, t2_cp: computation (eq. 4) */
    double inner_s;         /* t0_tm: a message between processes of one node */
    double pack_s, unpack_s;
};

/* Eq. 7: what node i does. */
static inline struct hrun_ring_stage rp_stage(const struct ring_node *node, const struct ring_costs *costs)
{
    const double q = node->procs, s = node->speed;
    struct hrun_ring_stage stage = { .procs = node->procs };

    if (node->procs == 0)
        return stage;
    stage.local_s = q / s * costs->local_s + node->switch1_s;
    stage.step_s = q / s * (costs->step_s + costs->pack_s) + (q - 1) / s * (costs->inner_s + costs->unpack_s) +
                   node->switch2_s;
    stage.unpack_s = costs->unpack_s / s;
    stage.wire_s = node->wire_s;
    return stage;
}

/* The least largest q_i/s_i of q <= RP_PROCS processes on n nodes, and who has how many: each node is a group. */
static inline int rp_allocate(const double *speed, int n, int q, int *procs, double *rate)
{
    struct hrun_ring_group g[RP_NODES];
    double rates[RP_NODES][RP_PROCS];
    int counts[RP_PROCS], pes[RP_NODES];

    for (int k = 0; k < q; k++)
        counts[k] = k + 1;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < q; k++)
            rates[i][k] = (k + 1) / speed[i];
        g[i] = (struct hrun_ring_group){ 1, rates[i], counts, q };
    }
    return hrun_ring_allocate_groups(g, n, q, pes, procs, rate, 0);
}

/* 1 - gamma of eq. 11, where the slowest node takes so long for a unit of work. */
static inline double rp_kept(const double *speed, int n, int q, double rate)
{
    double total = 0;

    for (int i = 0; i < n; i++)
        total += speed[i];
    return q / (rate * total);
}

#endif
