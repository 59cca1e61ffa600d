/* net.h - the heterogeneous network model, and its predictions of messages and collective operations
 *
 * Purpose: predict the time of a message between two processes of a cluster, and of collective operations of any
 * processes: paper 002's model of heterogeneous hosts, extended for modern networks.
 * The model. A message of M bytes from a rank on host i to one on host j, i != j, goes through three stages:
 *   1. the sender's processor   C_i + t_i M, the messages of a rank one after the other;
 *   2. the wire                 a(M) L_ij of latency, then the bytes, at the lesser of the rate beta_ij / b(M) and the
 *                               message's max-min fair share, among all messages under way, of the ports out_i / b(M)
 *                               and in_j / b(M) and of the trunk between the groups of i and j;
 *   3. the receiver's processor C_j + t_j M, the messages of a rank one after the other, from the time when it
 *                               receives.
 * A single message takes  T_ij(M) = C_i + C_j + a(M) L_ij + M (t_i + t_j + b(M) / beta_ij). If a port or the trunk is
 * slower than beta_ij, the slowest one replaces beta_ij.
 * A byte of a message uses ports and trunk like b(M) bytes, also in fair shares. While its bytes flow, a message also
 * uses ports and trunk in the opposite direction, at `back_share` of its rate (acknowledgements).
 * Paper 002, section 3, is the case L = 0, a = b = 1 without ports and trunks: only the processor of a host serialises
 * messages. On a wire-limited switch the host's port serialises them. Bytes flow through the port while the next
 * message is sent, and the sum t_i + t_j + 1/beta_ij would count the port three times. a and b are piecewise constant
 * in M, as the protocols of an MPI library change with the message size, and common to all pairs.
 * From `sync_bytes` on (rendezvous) the wire stage begins only when the receiver waits for the message, and the sender
 * is busy until the bytes have gone; for smaller messages the sender continues after its own stage. Between two ranks
 * on one host a message takes fixed + M per_byte (`local`); all local messages share local_bytes_per_s, its memory.
 * Hosts of one class share all parameters; in the general case each host has its own class.
 * Invariants: all times, in s and s/byte, are finite and >= 0; rates, in bytes/s, are > 0, or 0 if no limit was found;
 * segments begin at 0 bytes and ascend; a half width is that of the 95 % interval, in the unit of its parameter, NAN if
 * not known. A network is constant once it is made, so several threads may predict. There are at most as many classes
 * as hosts, and as many groups.
 */
#ifndef HRUN_NET_NET_H
#define HRUN_NET_NET_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The largest number of kinds of PEs (core kinds) of a host. Processors have two or three; the bound keeps the tables
 * of nkinds^2 entries small. */
enum { HRUN_NET_KINDS_MAX = 256 };

struct hrun_net_value {
    double v, half;            /* value, half width of its 95 % interval */
};

struct hrun_net_class {        /* a kind of host */
    struct hrun_net_value C_s; /* fixed processing time of a message, at either end */
    struct hrun_net_value t_s_per_byte;
    struct hrun_net_value out_bytes_per_s, in_bytes_per_s; /* the ports */
    double local_bytes_per_s;  /* total rate of all messages inside a host */
    int nkinds;                /* of PEs (core kinds), 1..HRUN_NET_KINDS_MAX */
    struct hrun_net_value *local_fixed_s, *local_s_per_byte; /* nkinds by nkinds, sender's kind by receiver's; owned */
};

struct hrun_net_pair {         /* from a host of one class to another host of the same or another class */
    struct hrun_net_value L_s;
    struct hrun_net_value beta_bytes_per_s;  /* 0: no two such hosts exist */
};

struct hrun_net_segment {
    double from_bytes;
    double a, b;               /* factors of the latency and of the time per byte, > 0 */
};

/* Linear scatter and gather, directly between root and all others (paper 002, section 3, Fig. 1). Sizes in bytes per
 * rank; 0 if a threshold was not found (M2 = 0: no irregular region). */
struct hrun_net_thresholds {
    double scatter_S;          /* above this size messages are sent one after the other */
    double gather_M1, gather_M2; /* the irregular region M1..M2, in which some gathers take much longer; the measured
                                    sizes below and above it are regular */
    double kappa1_s_per_byte, kappa2_s_per_byte; /* corrections of the slope below M1 and above M2; of either sign */
    double irregular_s;        /* mean additional time over all gathers in the region */
    double irregular_share;    /* fraction of the gathers in the region that take longer, 0..1 */
};

struct hrun_net {
    char *engine, *mpi;        /* "mpirun", "ompi-4.1.4" */
    char *selector;            /* rules that choose algorithms: "openmpi" (4.1 and later, coll/tuned), "ompi" and
                                  "mpich" (SimGrid's coll-selector:ompi and :mpich) */
    char *date;                /* ISO 8601 UTC */
    int nhosts, nclasses, ngroups;
    char **hosts;              /* names */
    int *class_of;             /* nhosts */
    int *group_of;             /* nhosts: the switch of each host, 0..ngroups-1 */
    struct hrun_net_class *classes;
    struct hrun_net_pair *pairs;       /* nclasses by nclasses, sender's by receiver's */
    struct hrun_net_value *trunks;     /* ngroups by ngroups: bytes/s from one group to another, or (the diagonal) both
                                          ways among the hosts of a group; 0: no limit was found */
    struct hrun_net_segment *segments; /* nsegments >= 1 */
    int nsegments;
    double sync_bytes;         /* rendezvous from this size on; 0: never */
    int wire_waits;            /* 1: below sync_bytes, too, bytes flow only once the receiver receives, but the sender
                                  does not wait (SimGrid's SMPI); 0: they flow as soon as they are sent */
    int exchange_waits;        /* 1: if ranks of two hosts exchange messages of sync_bytes or more, the later one flows
                                  after the earlier one, since the reply that starts it is queued behind the earlier
                                  bytes on the same connection; 0: both flow at once */
    double bias_bytes;         /* bias of shared rates to short ways: the weight of a message is one over the sum of its
                                  latency and the time of these bytes on both hosts' ports (TCP's bias against long
                                  round trips; 8775 in SimGrid's SMPI). 0: equal weights */
    double back_share;         /* rate in the opposite direction relative to a message's rate, 0..1; 0.05 in SimGrid */
    int trunks_shared;         /* 1: the two directions of a trunk share one rate: from the lower group number */
    double reduce_s_per_byte;  /* time of combining two operands in reductions */
    struct hrun_net_thresholds thresholds;
};

/* Check the invariants, names and indices. Errors: HRUN_EINVAL naming the value. */
int hrun_net_check(const struct hrun_net *net, struct hrun_error *err);

/* `kind` if the network has this kind of PEs on the host, else 0. */
int hrun_net_kind(const struct hrun_net *net, int host, int kind);

/* T_ij(M) of a single message, s. from, to: indices of hosts; kinds are used only if both ranks are on one host. NAN if
 * this pair was not measured. */
double hrun_net_p2p(const struct hrun_net *net, int from, int from_kind, int to, int to_kind, double bytes);

/* The bandwidth of a single long message from one host to another, bytes/s, with the factor of the last segment. NAN if
 * this pair was not measured. */
double hrun_net_bandwidth(const struct hrun_net *net, int from, int to);
/* The total bandwidth of long messages from group `from` to group `to`, bytes/s, if none go back; 0: no limit was
 * found. */
double hrun_net_trunk_bandwidth(const struct hrun_net *net, int from, int to);

/* Find uncertain pairs of classes: the half width of the 95 % interval of a time is more than HRUN_NET_UNSURE of the
 * time, for an empty message or one of 64 KiB. The half width is the root of the sum of squares over the parameters.
 * Unknown half widths count as 0. */
struct hrun_net_unsure {
    int pairs, of;             /* numbers of uncertain and of all measured pairs of classes */
    int from, to;              /* hosts of the worst pair; undefined if pairs is 0 */
    double half_rel;           /* relative half width of the worst pair */
};
/* With intervals of +- 1/3 a link can just be distinguished from one that is twice as fast. */
#define HRUN_NET_UNSURE (1.0 / 3)
void hrun_net_find_unsure(const struct hrun_net *net, struct hrun_net_unsure *out);
/* Append a sentence on uncertain pairs, with a remedy; nothing if there are none. */
void hrun_net_add_unsure(const struct hrun_net *net, struct hrun_buf *out);

/* ---------------------------------------------------------------- predictions of operations */

struct hrun_net_ranks {        /* the hosts of the ranks of a communicator */
    int n;
    const int *host;           /* n: index into hosts */
    const int *kind;           /* n: kind of PE on it, or NULL: 0 */
};

enum hrun_net_op {
    HRUN_NET_P2P,              /* the slowest single message from a rank r to r+1 */
    HRUN_NET_RING,             /* each rank r sends to r+1 and receives from r-1 at the same time */
    HRUN_NET_SCATTER, HRUN_NET_GATHER,                       /* bytes: of each rank */
    HRUN_NET_BCAST, HRUN_NET_REDUCE, HRUN_NET_ALLREDUCE,     /* bytes: the whole message */
    HRUN_NET_ALLGATHER, HRUN_NET_ALLTOALL,                   /* bytes: of each rank, for each pair */
    HRUN_NET_BARRIER,                                        /* bytes do not matter */
    HRUN_NET_NOPS
};
const char *hrun_net_op_name(enum hrun_net_op op);           /* "p2p", "alltoall", ... */
int hrun_net_op_find(const char *name);                      /* -1 when there is none */

struct hrun_net_call {
    enum hrun_net_op op;
    double bytes;
    int root;                  /* rank, for operations with a root */
    const char *algorithm;     /* NULL: the choice of net->selector */
};

struct hrun_net_time {
    double time_s;             /* from the common begin of all ranks to the end of the last one */
    const char *algorithm;
    int irregular;             /* 1: a linear gather in its irregular region */
};

/* Predict the time of one operation by simulating its messages. With one rank it is 0.
 * Errors: HRUN_EINVAL (a host or kind out of range, root, bytes negative or not finite, an algorithm of another
 * operation), HRUN_ENODATA (naming a pair of hosts that was not measured). */
int hrun_net_predict(const struct hrun_net *net, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                     struct hrun_net_time *out, struct hrun_error *err);

/* 1 if the call among n ranks is a linear gather in the irregular region, else 0. Its prediction is a mean; single
 * calls differ much from it. */
int hrun_net_irregular(const struct hrun_net *net, const struct hrun_net_call *call, int n);

/* A cheap lower bound, for searches, of hrun_net_predict for `call` (with any root) among n ranks in any order. The
 * ranks of `some` are on the given hosts; the others are anywhere in the network, at most `beside` of them on each host
 * of `some`. The bound uses the bytes through each host's ports and each group's trunks, the work of processors, and
 * the way to the nearest other host. NAN with HRUN_EINVAL as hrun_net_predict, and if n is less than some->n. */
double hrun_net_bound(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                      const struct hrun_net_ranks *some, int beside, struct hrun_error *err);

/* ---------------------------------------------------------------- on disk */

/* The hosts and software of a network. */
struct hrun_net_origin {
    const char *const *hosts;
    int n;
    const char *engine, *mpi;  /* as in struct hrun_net */
};

/* Append the path of a network's file in data folder `data`: networks/, a readable part, and a checksum of the sorted
 * names, engine and mpi. */
void hrun_net_file(const char *data, const struct hrun_net_origin *of, struct hrun_buf *out);

/* The best network on disk: that of exactly these hosts, else the one that has all of them and the fewest others (the
 * newest on a tie); NULL if there is none. Appends its path to *file, and a note on skipped damaged files to *note;
 * both may be NULL. */
struct hrun_net *hrun_net_choose(const char *data, const struct hrun_net_origin *of, struct hrun_buf *file,
                                 struct hrun_buf *note);

#endif
