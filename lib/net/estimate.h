/* estimate.h - from timed exchanges of messages to the network model
 *
 * Purpose: estimate the parameters of net.h from the experiments of hrun-netbench (calib/mpi): those of paper 002,
 * section 3, and some more. Trips, fans, joins and calls enter one non-negative least squares system; the paper
 * averages the solutions of triplets.
 * The experiments, and the parameters that each determines (times by the stages of net.h). Host i measures with its
 * clock. Receives are posted before anything is sent.
 *   trip  i j M1 M2   round trip: T_ij(M1) + T_ji(M2). Empty both ways: 2 C_i + 2 C_j + L_ij + L_ji
 *   fan   i j k M M2  i sends M to j, then M2 (0: M) to k, and receives an empty reply from each, in order of arrival:
 *                     the time until both have arrived. Fans and trips show whether i's processor or its port
 *                     serialises messages. The port shows only if it delays the message that ends last; for unlike j
 *                     and k the sizes are chosen so that both take equally long. An empty fan separates C_i from L
 *   join  i j k M M2  an empty message of i makes j send M to i, and another makes k send M2: a fan in reverse
 *   call  i j M       duration of the call that sends M (below rendezvous) at the sender: C_i + t_i M; may be 0
 *   both  i j M       one of a series of MPI_Sendrecv of M both ways between i and j. Determines back_share if ports
 *                     limit it; from rendezvous on, exchange_waits
 *   pairs g h n M     n trips at once, M there and empty back, the m-th from the m-th host of group g to the m-th host
 *                     of group h (g = h: to the (n + m)-th), hosts in order of index: the mean of their times. Trips
 *                     and pairs determine the trunk; pairs and `both`, whether both ways share the trunk
 *   local i a b n M   n round trips at once (0: one) between PEs of kinds a and b on host i, M there and empty back:
 *                     the mean of their times
 *   scatter r n M, gather r n M   root r (i) directly to or from n others, which follow r in cyclic order of index,
 *                     without an algorithm of the library; a gather's root receives them in this order, one after the
 *                     other
 *   sync  i j M n     n = 1: a send of M waits for the receiver, n = 0: it does not. The time is that of a receive that
 *                     begins long after the send: almost 0 if bytes flow as soon as they are sent
 * Invariants: estimates do not depend on the order of the records. Parameters that the records do not determine keep
 * their neutral value (0, no limit, factor 1) with half width NAN.
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
    int i, j, k;               /* hosts (or groups, kinds) as above, from 0; -1: unused */
    int n;                     /* n of pairs, local, scatter, gather and sync; else 0 */
    double bytes, back_bytes;  /* M or M1; M2 */
    int repetitions;           /* >= 1 */
    double time_s;             /* median time of the repetitions */
    double sd_s;               /* standard deviation of one repetition; 0: unknown or none */
    double max_s;              /* longest time */
    double mean_s;             /* mean time */
};

struct hrun_net_records {
    char **hosts;              /* names; owned */
    int nhosts;
    int *kind_of;              /* nhosts: sub-cluster number, from hwloc and the caller; hosts with the same number may
                                  share parameters; owned */
    int *nkinds;               /* nhosts: number of kinds of PEs on it; owned */
    int *group_of;             /* nhosts: number of the switch of each host, found by the benchmark, from 0 without a
                                  gap; owned */
    struct hrun_net_record *v;
    size_t n;
    double spent_s;            /* time of all experiments */
};
void hrun_net_records_release(struct hrun_net_records *r);

/* Records as hrun-netbench prints them, one a line, numbers with 17 digits:
 *     network 1 HOSTS
 *     host INDEX NAME KIND NKINDS GROUP
 *     KIND I J K N BYTES BACK REPETITIONS TIME SD MAX [MEAN]
 *     spent SECONDS
 *     end
 * Other lines are ignored. KIND is a word of the list at the top. Errors: HRUN_EPARSE with the line (a host out of
 * range; a time that is not finite and > 0, or >= 0 for call and sync), HRUN_ENODATA (no `network` line, or no `end`:
 * the benchmark was interrupted). Without MEAN (older benchmarks) mean_s is the median. */
int hrun_net_records_parse(const char *text, struct hrun_net_records *out, struct hrun_error *err);
void hrun_net_records_print(const struct hrun_net_records *r, struct hrun_buf *out);

/* The quality of an estimate, for reports. */
struct hrun_net_quality {
    double residual_rel;       /* root mean square of (measured - fitted) / measured of trips, fans, joins */
    double worst_rel;
    size_t worst;              /* index of the record with it */
    int asymmetric;            /* number of pairs of classes whose directions differ by more than their intervals */
    struct hrun_strvec notes;  /* sentences on very slow links, clocks that jump, undetermined parameters */
};
void hrun_net_quality_release(struct hrun_net_quality *q);

/* Estimate all parameters. Hosts with the same kind_of and no significant differences share parameters. *quality may be
 * NULL. Errors: HRUN_ENODATA (one host without local records, or a pair of hosts without a trip, which is named), those
 * of lib/fit. */
int hrun_net_estimate(const struct hrun_net_records *r, struct hrun_net **out, struct hrun_net_quality *quality,
                      struct hrun_error *err);

#endif
