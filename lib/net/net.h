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
                                  latency and what so many bytes take on both hosts' ports (TCP's bias against long
                                  round trips; 8775 in SimGrid's SMPI). 0: all get the same */
    double back_share;         /* of a message's rate, on its way back; 0..1, 0.05 in SimGrid */
    int trunks_shared;         /* 1: the two directions of a trunk share its rate (that of the lower group's) */
    double reduce_s_per_byte;  /* what combining two operands costs a processor, for reductions */
    struct hrun_net_thresholds thresholds;
};

/* A network of n hosts (names are copied), each a class of its own with one kind of PEs, one group, one segment with
 * factors 1, selector "openmpi", the other texts "", no limits, all times 0, beta 0, half widths NAN: to be filled in
 * (arrays may be replaced by others from malloc). Errors: HRUN_EINVAL (n < 1), HRUN_ENOMEM. */
struct hrun_net *hrun_net_create(const char *const *hosts, int n, struct hrun_error *err);

/* Do the invariants hold, and do names and indices make sense? Errors: HRUN_EINVAL, naming what does not;
 * HRUN_ENOMEM. */
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
    int pairs, of;             /* so many, of so many that were measured */
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
 * has not got), HRUN_ENODATA (a pair of hosts of which nothing was measured, named), HRUN_ENOMEM. */
int hrun_net_predict(const struct hrun_net *net, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                     struct hrun_net_time *out, struct hrun_error *err);

/* 1: among n ranks the call is one whose times jump: a gather straight to the root of bytes
 * in the irregular region. What is predicted for it is a mean, from which single calls differ by far. */
int hrun_net_irregular(const struct hrun_net *net, const struct hrun_net_call *call, int n);

/* A lower bound of hrun_net_predict, cheap, for searches: the time of call (its root does not count) among n ranks
 * of which some->n, where they say, take part, and the others are anywhere in the network: on each host of `some` no
 * more than `beside` of them. It holds in whatever order the ranks are. What counts are the bytes that must pass each
 * host's ports and each group's trunks, what its processors must do, and the way to the nearest other host. Errors:
 * HRUN_EINVAL (as hrun_net_predict; fewer ranks than `some`), HRUN_ENOMEM. */
int hrun_net_bound(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                   const struct hrun_net_ranks *some, int beside, double *time_s, struct hrun_error *err);

/* ---------------------------------------------------------------- on disk */

/* The file in data folder `data` of the network of these hosts, as one kind of engine and MPI see it: networks/ and a
 * readable part and a checksum of the names in order of the alphabet, engine and mpi. */
void hrun_net_file(const char *data, const char *const *hosts, int n, const char *engine, const char *mpi,
                   struct hrun_buf *out);

/* The network that best fits hosts[n] on engine and mpi: that of exactly these hosts, else the one with the fewest
 * others that has them all (of equals the newest), else (of simulated and real ones alike) none: *out = NULL and 0.
 * *file (may be NULL), initialised, receives where it was. A damaged file is skipped and told in *note (may be NULL).
 * Errors: HRUN_ENOMEM. */
int hrun_net_choose(const char *data, const char *const *hosts, int n, const char *engine, const char *mpi,
                    struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note, struct hrun_error *err);

/* ---------------------------------------------------------------- estimate
 *
 * From timed exchanges of messages to the network model
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
 * sync), HRUN_ENODATA (no `network` line; no `end`, after the line: the benchmark was interrupted), HRUN_ENOMEM. */
int hrun_net_records_parse(const char *text, struct hrun_net_records *out, struct hrun_error *err);
int hrun_net_records_print(const struct hrun_net_records *r, struct hrun_buf *out);

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

/* ---------------------------------------------------------------- tune
 *
 * The network of a run as text: from hrun to libhrun-coll.so, and what comes back
 *
 * Purpose: the library that is preloaded into an application's ranks (hrun/preloaded) chooses how a collective
 * operation is done by the parameters of net.h. It finds them in a variable of its environment, as hosts need not
 * share a folder.
 * Invariants: the text is the same for all ranks, so that all of them choose the same.
 * Format: records with ';' between them, a record is words with ',' between them; times in s, sizes in bytes, rates in
 * bytes/s (0: no limit), numbers with 6 digits, as parameters are known to a percent or so. Hosts, classes and groups
 * are those that ranks are on, counted anew from 0. In this order:
 *     b,VERSION,P,HOSTS,CLASSES,GROUPS,SEGMENTS,SELECTOR  first: ranks in all; selector as in net.h
 *     o,MARGIN,COST,PATIENCE,TELL            struct hrun_net_tune_options
 *     w,SYNC,WAITS,EXCHANGE,BIAS,BACK,SHARED sync_bytes, wire_waits, exchange_waits, bias_bytes, back_share,
 *                                            trunks_shared of net.h
 *     t,M1,M2,IRREGULAR                      a linear gather of M1..M2 bytes per rank takes so much longer on average
 *     s,FROM,A,B                             segments of the sizes
 *     c,CLASS,C,T,OUT,IN,LOCAL,KINDS,F,B,... each class: fixed, per byte, ports, memory; KINDS by KINDS times what a
 *                                            message inside a host takes, fixed and per byte
 *     p,FROM,TO,L,BETA                       pairs of classes that were measured
 *     g,FROM,TO,RATE                         trunks between groups that limit
 *     h,HOST,CLASS,GROUP                     each host
 *     r,FIRST,LAST,HOST,KIND                 ranks FIRST..LAST of the world, ascending without a gap
 *     f,OP,WAY                               take WAY for OP whatever the model says (for tests and comparisons)
 *     e,RECORDS                              last: records before this one
 * The report goes to standard error of rank 0 in MPI_Finalize, in lines of base/trace_lines.h (mark, body, check) whose
 * body begins with HRUN_COLL_REPORT, so that hrun finds them among those of libhrun-trace.so. A body is one record, of one
 * choice for a communicator of rank 0, in the order in which they were first tried:
 *     k,OP,RANKS,ROOT,BYTES,WAY,SEGMENT,KEPT,CALLS,LIBRARY,OURS  BYTES as sizes are rounded for the choice (-1: a
 *                                            variant with counts); SEGMENT as of a piece, 0: none; KEPT 1: it was
 *                                            quicker and stays, 0: it was not, -1: the trial has not ended, 2: it was
 *                                            to be taken without a trial; how many calls went this way; what a call of
 *                                            either took, s, as they were compared (0: they were not)
 *     m,MORE                                 last, if need be: so many choices more, which are not reported
 */

#define HRUN_COLL_VARIABLE "HRUN_COLL"
#define HRUN_COLL_VERSION 2
#define HRUN_COLL_REPORT "coll "

/* One variable of the environment holds at most 128 KiB. */
enum { HRUN_COLL_TEXT = 100000 };

struct hrun_net_tune_options {
    double margin;             /* part of the time that another way must save. 0.1: where predictions are right within
                                  5 %, on either side, it does */
    double cost_s;             /* and how long. 5e-6: what looking up, and memory for the requests, takes, some us */
    int patience;              /* calls of an operation before its way is chosen, so that choosing, some 100 us among 32
                                  processes and 10 ms among 512, is paid for by calls that are made often */
    int tell;                  /* 1: at the end the processes report what was tuned */
};
#define HRUN_NET_TUNE_DEFAULT { 0.1, 5e-6, 4, 0 }

/* Append the text for a world of these ranks. Errors: HRUN_EINVAL (a host or kind out of range, no rank), HRUN_ENODATA
 * (the text would be longer than HRUN_COLL_TEXT: too many unlike hosts or too many runs of ranks), HRUN_ENOMEM. */
int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err);

/* What the text says. Hosts have no names; of the thresholds there are those of record `t`. */
struct hrun_net_tuning {
    struct hrun_net *net;      /* owned */
    struct hrun_net_ranks world;
    int *places;               /* owned: what world points to */
    struct hrun_net_tune_options options;
    char forced[HRUN_NET_NOPS][16]; /* a way, or "" */
};

/* NULL: the text is damaged or of another version, or there is no memory. */
struct hrun_net_tuning *hrun_net_tuning_read(const char *text);
void hrun_net_tuning_destroy(struct hrun_net_tuning *t);

#endif
