/* net.h - the heterogeneous network model, and what it predicts of messages and collective operations
 *
 * Purpose: what a message between two processes of a cluster takes, and from that any collective operation of any
 * processes on it: paper 002's model of unlike hosts, with what modern networks need besides.
 * The model. A message of M bytes from a rank on host i to one on host j, i != j, goes through three stages:
 *   1. the sender's processor   C_i + t_i M, the messages of a rank one after the other;
 *   2. the wire                 a(M) L_ij of latency, then the bytes, at the rate beta_ij / b(M) or, if that is less,
 *                               the fair share (max-min) of what all messages under way at the time leave of the
 *                               ports out_i / b(M) and in_j / b(M) and of the trunk between the groups of i and j;
 *   3. the receiver's processor C_j + t_j M, the messages of a rank one after the other, from the time when it
 *                               receives.
 * Alone it takes  T_ij(M) = C_i + C_j + a(M) L_ij + M (t_i + t_j + b(M) / beta_ij), where 1 / beta_ij stands for
 * 1 / out_i, 1 / in_j or that of the trunk if that is more.
 * A byte of a message takes as much of ports and trunk as b(M) bytes, and counts as much in a fair share. While its
 * bytes flow a message also takes `back_share` of what it takes of the ports and the trunk, on its way back
 * (acknowledgements); that slows others.
 * Paper 002, section 3, is the case L = 0, a = b = 1 and no ports and trunks. There all that serialises the messages of
 * a host is its processor; on a switch that is wire-limited it is the host's port, through which bytes flow while
 * others are still being sent, so that the sum t_i + t_j + 1/beta_ij would count the port three times. a and b are
 * piecewise constant, as the protocols of an MPI library change with the size of a message, and common to all pairs.
 * From `sync_bytes` on (rendezvous) the wire begins only when the receiver waits for the message, and the sender is
 * busy until the bytes have gone; below, it goes on after its own stage. Two ranks on one host: `local`, the same
 * stages in one: fixed + M per_byte, as long as the memory's share allows (a port of the host, local_bytes_per_s).
 * Hosts of one class share all parameters; a class of its own for each host is the general case.
 * Invariants: all times, in s and s/byte, are finite and >= 0; rates, in bytes/s, are > 0, and 0 stands for "no limit
 * was seen"; segments begin at 0 bytes and ascend; a half width is that of the 95 % interval, in the unit of its
 * parameter, NAN where it is not known. A network is not changed once it is made: predictions may run in several
 * threads. There are no more classes than hosts, and no more groups.
 */
#ifndef HRUN_NET_NET_H
#define HRUN_NET_NET_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The most kinds of PEs of a host: processors have two or three kinds of cores, a byte numbers them amply, and the
 * table of what a message takes between each two stays small. */
enum { HRUN_NET_KINDS_MAX = 256 };

struct hrun_net_value {
    double v, half;            /* value, half width of its 95 % interval */
};

struct hrun_net_class {        /* a kind of host */
    struct hrun_net_value C_s; /* fixed processing of a message, at either end */
    struct hrun_net_value t_s_per_byte;
    struct hrun_net_value out_bytes_per_s, in_bytes_per_s; /* the ports */
    double local_bytes_per_s;  /* of all messages inside a host at a time, together */
    int nkinds;                /* of PEs (core kinds), 1..HRUN_NET_KINDS_MAX */
    struct hrun_net_value *local_fixed_s, *local_s_per_byte; /* nkinds by nkinds, sender's kind by receiver's; owned */
};

struct hrun_net_pair {         /* from a host of one class to another host of one */
    struct hrun_net_value L_s;
    struct hrun_net_value beta_bytes_per_s;  /* 0 where no two such hosts exist */
};

struct hrun_net_segment {
    double from_bytes;
    double a, b;               /* factors of the latency and of the bytes' time, > 0 */
};

/* Scatter and gather by one root straight to all others (paper 002, section 3, Fig. 1). Sizes in bytes per rank; where
 * a threshold was not found it is 0 (M2: and there is no irregular region). */
struct hrun_net_thresholds {
    double scatter_S;          /* beyond it messages are sent one after the other */
    double gather_M1, gather_M2; /* from M1 to M2 times jump, now and then: the sizes below and above that were measured
                                    are regular */
    double kappa1_s_per_byte, kappa2_s_per_byte; /* corrections of the slope below M1 and above M2; of either sign */
    double irregular_s;        /* how much longer a gather in the region takes in the mean over all of them */
    double irregular_share;    /* of the gathers there that take longer, 0..1 */
};

struct hrun_net {
    char *engine, *mpi;        /* "mpirun", "ompi-4.1.4" */
    char *selector;            /* whose rules choose algorithms: "openmpi" (4.1 and later, coll/tuned), "ompi" and
                                  "mpich" (SimGrid's coll-selector:ompi and :mpich) */
    char *date;                /* ISO 8601 UTC */
    int nhosts, nclasses, ngroups;
    char **hosts;              /* names */
    int *class_of;             /* nhosts */
    int *group_of;             /* nhosts: behind which switch, 0..ngroups-1 */
    struct hrun_net_class *classes;
    struct hrun_net_pair *pairs;       /* nclasses by nclasses, sender's by receiver's */
    struct hrun_net_value *trunks;     /* ngroups by ngroups: bytes/s from one to the other, or (the diagonal) among
                                          the hosts of a group, both ways together; 0: no limit was seen */
    struct hrun_net_segment *segments; /* nsegments >= 1 */
    int nsegments;
    double sync_bytes;         /* rendezvous from here on; 0: never */
    int wire_waits;            /* 1: also below, bytes flow only from when the receiver receives, while the sender goes
                                  on (SimGrid's SMPI); 0: they flow as soon as they are sent */
    int exchange_waits;        /* 1: from sync_bytes on, of two messages between ranks of two hosts, one each way,
                                  the later flows when the earlier has: the answer on which it begins is behind the
                                  bytes of the earlier, on one connection; 0: both at once */
    double bias_bytes;         /* how much more the shorter way gets of what messages share: rates go with one over the
                                  latency and what these bytes take on both hosts' ports (TCP's bias against long
                                  round trips; 8775 in SimGrid's SMPI). 0: all get the same */
    double back_share;         /* of a message's rate, on its way back; 0..1, 0.05 in SimGrid */
    int trunks_shared;         /* 1: the two directions of a trunk share its rate (that of the lower group's) */
    double reduce_s_per_byte;  /* what combining two operands costs a processor, for reductions */
    struct hrun_net_thresholds thresholds;
};

/* A network of n hosts (names are copied), each a class of its own with one kind of PEs, one group, one segment with
 * factors 1, selector "openmpi", the other texts "", no limits, all times 0, beta 0, half widths NAN: to be filled in
 * (arrays may be replaced by others from malloc). Errors: HRUN_EINVAL (n < 1). */
struct hrun_net *hrun_net_create(const char *const *hosts, int n, struct hrun_error *err);

/* Do the invariants hold, and do names and indices make sense? Errors: HRUN_EINVAL, naming what does not. */
int hrun_net_check(const struct hrun_net *net, struct hrun_error *err);

/* The kind of a PE as the network numbers kinds on a host: `kind` itself, or 0 where that was not told apart from
 * others when the network was measured. */
int hrun_net_kind(const struct hrun_net *net, int host, int kind);

/* T_ij(M) of a message alone, s; hosts are indices, kinds those of the PEs, used when both ranks are on one host. NAN
 * when of this pair nothing was measured. */
double hrun_net_p2p(const struct hrun_net *net, int from, int from_kind, int to, int to_kind, double bytes);

/* What a long message alone carries from one host to another, bytes/s, by the factor of the last segment: what a user
 * calls bandwidth. NAN as above. */
double hrun_net_bandwidth(const struct hrun_net *net, int from, int to);
/* What long messages from group `from` to group `to` carry together, while none go back; 0: no limit was seen. */
double hrun_net_trunk_bandwidth(const struct hrun_net *net, int from, int to);

/* How badly is known what messages between hosts take? Counted are the pairs of classes of which the time of an empty
 * message, or of one of 64 KiB, has a 95 % interval (the root of the sum of the squares of its parameters' shares) that
 * is wider than HRUN_NET_UNSURE of it; what is not known counts as sure. */
struct hrun_net_unsure {
    int pairs, of;             /* badly known pairs of classes; all that were measured */
    int from, to;              /* hosts of the worst; where pairs is 0 these do not count */
    double half_rel;           /* the worst's half width, relative */
};
/* With intervals of +- a third of the values, a link can just be told from one that is twice as fast. */
#define HRUN_NET_UNSURE (1.0 / 3)
void hrun_net_find_unsure(const struct hrun_net *net, struct hrun_net_unsure *out);
/* A sentence for people of it, with what to do, or nothing. */
void hrun_net_add_unsure(const struct hrun_net *net, struct hrun_buf *out);

/* ---------------------------------------------------------------- predictions of operations */

struct hrun_net_ranks {        /* where the ranks of a communicator are */
    int n;
    const int *host;           /* n: index into hosts */
    const int *kind;           /* n: kind of PE on it, or NULL: 0 */
};

enum hrun_net_op {
    HRUN_NET_P2P,              /* between ranks next to each other: the slowest of r -> r+1 */
    HRUN_NET_RING,             /* every rank sends to r+1 and receives from r-1, at once */
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
    int root;                  /* rank, of operations that have one */
    const char *algorithm;     /* NULL: what net->selector takes */
};

struct hrun_net_time {
    double time_s;             /* from when all ranks begin until the last one has ended */
    const char *algorithm;
    int irregular;             /* 1: bytes lie in gather's irregular region (and what is built on gather) */
};

/* Predict one operation by playing its messages through the model. With one rank it takes no time.
 * Errors: HRUN_EINVAL (a host or kind out of range, root, bytes negative or not finite, an algorithm that the operation
 * has not got), HRUN_ENODATA (a pair of hosts of which nothing was measured, named). */
int hrun_net_predict(const struct hrun_net *net, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                     struct hrun_net_time *out, struct hrun_error *err);

/* 1: among n ranks the call is one whose times jump: a gather straight to the root of bytes
 * in the irregular region. What is predicted for it is a mean, from which single calls differ by far. */
int hrun_net_irregular(const struct hrun_net *net, const struct hrun_net_call *call, int n);

/* A lower bound of hrun_net_predict, cheap, for searches: the time of call (its root does not count) among n ranks.
 * Those of `some` take part where they say; the others are anywhere in the network, at most `beside` of them on each
 * host of `some`. It holds in whatever order the ranks are. What counts are the bytes that must pass each host's ports
 * and each group's trunks, what its processors must do, and the way to the nearest other host. NAN with HRUN_EINVAL as
 * hrun_net_predict, and for fewer ranks than `some`. */
double hrun_net_bound(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                      const struct hrun_net_ranks *some, int beside, struct hrun_error *err);

/* ---------------------------------------------------------------- on disk */

/* What a network is of. */
struct hrun_net_origin {
    const char *const *hosts;
    int n;
    const char *engine, *mpi;  /* as of struct hrun_net */
};

/* The file of a network in data folder `data`: networks/ and a readable part and a checksum of the names in order of
 * the alphabet, engine and mpi. */
void hrun_net_file(const char *data, const struct hrun_net_origin *of, struct hrun_buf *out);

/* The network on disk that fits best: that of exactly these hosts, else the one with the fewest other hosts that has
 * them all (of equals the newest), else NULL. Its file is appended to *file (may be NULL). A damaged file is skipped,
 * and *note (may be NULL) says so. */
struct hrun_net *hrun_net_choose(const char *data, const struct hrun_net_origin *of, struct hrun_buf *file,
                                 struct hrun_buf *note);

#endif
