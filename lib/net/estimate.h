/* estimate.h - from timed exchanges of messages to the network model
 *
 * Purpose: hrun-netbench (calib/mpi) times the experiments of paper 002, section 3, and some more; here their records
 * become the parameters of net.h, by one non-negative least squares system over all of them, where the paper averages
 * the solutions of triplets.
 * The experiments, and what is known after each (times by the stages of net.h). The host i whose clock measures is
 * named first. Receives are posted before anything is sent.
 *   trip  i j M1 M2   round trip: T_ij(M1) + T_ji(M2). Empty both ways: 2 C_i + 2 C_j + L_ij + L_ji
 *   fan   i j k M M2  i sends M to j, then M2 (0: M as well) to k, and receives an empty reply from each, in the order
 *                     in which they come: the time until both are there. With what a trip takes it tells what
 *                     serialises messages at i: its processor or its port, which shows only where it makes the one
 *                     wait that ends last: where j and k take in at unlike rates, with sizes of which each takes as
 *                     long. Empty, it tells C_i from L
 *   join  i j k M M2  j, then k, are told by an empty message of i and send M and M2 to i: the same of the receiving
 *                     side
 *   call  i j M       what the call that sends M (below rendezvous) takes the sender alone: C_i + t_i M. It may be 0
 *   both  i j M       one of a row of MPI_Sendrecv of M both ways, between i and j alone. Where ports are what limits
 *                     it, it tells back_share; from rendezvous on, exchange_waits
 *   pairs g h n M     n trips at once, M there and empty back, the m-th of them from the m-th host of group g to the
 *                     m-th host of group h (g = h: to the (n + m)-th), hosts in order of index: the mean of their
 *                     times. With a trip alone it tells the trunk; `both` between two groups, whether both ways share
 *                     it
 *   local i a b n M   n round trips at once (0: one) between PEs of kinds a and b on host i, M there and empty back:
 *                     the mean of their times
 *   scatter r n M, gather r n M   by root r (i) straight to (from) n others, those that follow r in order of index,
 *                     from 0 again after the last, without any algorithm of the library; a gather's root takes them in
 *                     this order, one after the other
 *   sync  i j M n     n = 1: a send of M waits for the receiver, n = 0: it does not. Its time is what the receive takes
 *                     that begins long after the send: next to nothing where bytes flow as soon as they are sent
 * Invariants: estimates do not depend on the order of the records; nothing is estimated that the records cannot tell:
 * what is left is at its neutral value (0, no limit, factor 1) with half width NAN.
 */
#ifndef HRUN_NET_ESTIMATE_H
#define HRUN_NET_ESTIMATE_H

#include "base/list.h"
#include "net/net.h"

#include <stddef.h>

enum hrun_net_kind {
    HRUN_NET_TRIP, HRUN_NET_FAN, HRUN_NET_JOIN, HRUN_NET_CALL, HRUN_NET_BOTH, HRUN_NET_PAIRS, HRUN_NET_LOCAL,
    HRUN_NET_SCATTERED, HRUN_NET_GATHERED, HRUN_NET_SYNC, HRUN_NET_NKINDS
};

struct hrun_net_record {
    enum hrun_net_kind kind;
    int i, j, k;               /* hosts (or groups, kinds) as above, from 0; -1 where there is none */
    int n;                     /* of pairs, local, scatter, gather: how many; of sync: does it wait; else 0 */
    double bytes, back_bytes;  /* M or M1; M2 */
    int repetitions;           /* >= 1 */
    double time_s;             /* their median */
    double sd_s;               /* of one repetition, 0: unknown or none */
    double max_s;              /* the longest */
    double mean_s;             /* 0: unknown */
};

struct hrun_net_records {
    char **hosts;              /* names; owned */
    int nhosts;
    int *kind_of;              /* nhosts: what hwloc and the caller say of a host: those with the same number may be
                                  alike (sub-cluster); owned */
    int *nkinds;               /* nhosts: kinds of PEs on it; owned */
    int *group_of;             /* nhosts: behind which switch, from 0 without a gap, as far as the benchmark could see;
                                  owned */
    struct hrun_net_record *v;
    size_t n;
    double spent_s;            /* what all experiments took */
};
void hrun_net_records_release(struct hrun_net_records *r);

/* Records as hrun-netbench prints them, one a line, numbers with 17 digits:
 *     network 1 HOSTS
 *     host INDEX NAME KIND NKINDS GROUP
 *     KIND I J K N BYTES BACK REPETITIONS TIME SD MAX [MEAN]
 *     spent SECONDS
 *     end
 * Other lines are not ours and are passed over. KIND is a word of the list at the top. Errors: HRUN_EPARSE with the
 * line (a record that does not make sense: a host out of range, a time that is not finite and > 0, or >= 0 of call and
 * sync), HRUN_ENODATA (no `network` line; no `end`, after the line: the benchmark was interrupted). */
int hrun_net_records_parse(const char *text, struct hrun_net_records *out, struct hrun_error *err);
void hrun_net_records_print(const struct hrun_net_records *r, struct hrun_buf *out);

struct hrun_net_estimate_options {
    int share;                 /* 1: hosts with the same kind_of whose parameters cannot be told apart share them */
    double share_level;        /* of the test that they may, 0.05 */
    double noise_rel;          /* of a time whose scatter is not known, 0.01 */
};
#define HRUN_NET_ESTIMATE_DEFAULT { 1, 0.05, 0.01 }

/* What was estimated how well, for people. */
struct hrun_net_quality {
    double residual_rel;       /* root mean square of (measured - fitted) / measured of trips, fans, joins */
    double worst_rel;
    size_t worst;              /* record */
    int asymmetric;            /* pairs whose two directions differ by more than their intervals */
    struct hrun_strvec notes;  /* sentences: a link 1,000 times slower, clocks that jump, what could not be told */
};
void hrun_net_quality_release(struct hrun_net_quality *q);

/* Estimate all parameters. Errors: HRUN_ENODATA (one host and no local records; a pair of hosts without a trip, named),
 * HRUN_EINVAL (options), those of lib/fit. *quality may be NULL. */
int hrun_net_estimate(const struct hrun_net_records *r, const struct hrun_net_estimate_options *options,
                      struct hrun_net **out, struct hrun_net_quality *quality, struct hrun_error *err);

#endif
