/* placement.h - which of the PEs that a configuration leaves equal hold the ranks, and in which order
 *
 * Purpose: a configuration says how many PEs of each sub-cluster are used; between which hosts a pattern of messages
 * then goes is left open. Here they are chosen so that these messages take least on the network (lib/net).
 * What is searched: ranks stay as layout.h has them, sub-cluster by sub-cluster, the Mi ranks of a PE next to each
 * other; which Pi of the |Gi| PEs of a sub-cluster are used and in which order is searched, over all sub-clusters at
 * once. PEs of a sub-cluster on one host are alike, and taken in their order.
 * What is minimised: the time of the slowest message of the pattern; of equals the sum over all messages. All of them
 * are under way at once: a message takes what hrun_net_p2p says, but of ports, trunks and memory, their way back with
 * them, it gets the share that it has when all that go through them get the same.
 * Invariants: the same request gives the same placement; it is never worse than the plain order, which has the first Pi
 * PEs that are not busy in their order, and it is the plain order itself unless it is better by `worth`.
 */
#ifndef HRUN_LAYOUT_PLACEMENT_H
#define HRUN_LAYOUT_PLACEMENT_H

#include "base/error.h"
#include "cluster/cluster.h"
#include "net/net.h"

enum hrun_pattern {
    HRUN_PATTERN_RING,         /* r to r + 1, the last to 0 */
    HRUN_PATTERN_GRID,         /* neighbours in rows and columns of the most nearly square grid that P fills, not fewer
                                  rows than columns (as MPI_Dims_create), without wrapping; ranks run along rows */
    HRUN_PATTERN_ALLTOALL,     /* each to each other */
    HRUN_NPATTERNS
};
int hrun_pattern_find(const char *name);   /* "ring", "grid", "alltoall"; -1 when there is none */

struct hrun_placement_request {
    const struct hrun_cluster *cluster;
    const int *pes, *procs;    /* cluster->nsubs: the configuration, as in hrun_layout_create */
    enum hrun_pattern pattern;
    const struct hrun_net *net; /* has all hosts that hold PEs of the sub-clusters used */
    double bytes;              /* of each message */
    double worth;              /* the slowest message or the sum must be better by this share */
    double steps;              /* looks at a message that the search may take; exhaustive while they last */
    const char *const *busy;   /* PEs that are not to be used, as in hrun_layout_order; NULL: none */
};
/* 64 KiB is where Open MPI over TCP (btl_tcp_eager_limit) and SMPI (smpi/send-is-detached-thresh) end to send without
 * waiting: both latencies and rates count there. 1 % is what timing can tell. 2e7 looks take some 0.1 s. */
#define HRUN_PLACEMENT_BYTES 65536
#define HRUN_PLACEMENT_WORTH 0.01
#define HRUN_PLACEMENT_STEPS 2e7

struct hrun_placement_cost {
    double slowest_s, sum_s;
    long long crossings;       /* messages from one group of the network to another */
};

struct hrun_placement {
    int *order;                /* n: PEs used, sub-cluster by sub-cluster, in the order of their ranks; owned */
    int n;
    int changed;               /* 1: it is not the plain order */
    int exact;                 /* 1: no other that is searched is better */
    int nhosts, ngroups;       /* hosts of the plain order, and groups of the network that they are in, at least 1 */
    long long messages;        /* of the pattern */
    struct hrun_placement_cost cost, plain;
};

/* Errors: HRUN_EINVAL (the configuration, as hrun_layout_create has it), HRUN_ENOENT (a host that the network has not
 * got), HRUN_ENODATA (two hosts of which nothing was measured), HRUN_ENOMEM. *out is untouched on failure. */
int hrun_placement_find(const struct hrun_placement_request *req, struct hrun_placement *out, struct hrun_error *err);
void hrun_placement_release(struct hrun_placement *p);

#endif
