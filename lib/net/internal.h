/* internal.h - what the files of lib/net share; not for other rooms */
#ifndef HRUN_NET_INTERNAL_H
#define HRUN_NET_INTERNAL_H

#include "net/net.h"

#include <stddef.h>

/* The version of files that this hrun writes; what a higher number means is only known to a newer hrun. */
enum { NET_VERSION = 1 };

/* The path of a value in a file: "classes[4294967295].local[4294967295].s_per_byte.half" and some. */
enum { NET_WHERE = 96 };

/* hrun_net_check, which on failure leaves in `where` the path of the value in the file. Of pairs, trunks and what is
 * local to a host the file has not all, and in any order: who reads them checks them as they come. */
int net_check(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err);

/* Is the number finite and not negative; is the value, and its half width the same or NAN? On failure HRUN_EINVAL, and
 * where, which holds the path of the value, has ".v" or ".half" behind it. */
int net_check_number(const char *where, double v, struct hrun_error *err);
int net_check_value(const struct hrun_net_value *value, char where[NET_WHERE], struct hrun_error *err);

/* Append a network that passes net_check as YAML (net_yaml.h). Errors: HRUN_EINVAL (text that is not UTF-8),
 * HRUN_ENOMEM. */
int net_print(const struct hrun_net *net, struct hrun_buf *out, struct hrun_error *err);

/* The network of text[len]; name stands for the file in messages. Errors: HRUN_EPARSE with the place, HRUN_ENOMEM. */
int net_parse(const char *name, const char *text, size_t len, struct hrun_net **out, struct hrun_error *err);

/* The whole file, with version and checksum. Errors: those of net_parse, and HRUN_ECORRUPT. */
int net_parse_file(const char *name, const struct hrun_buf *text, struct hrun_net **out, struct hrun_error *err);

/* What hrun_net_create makes, with so many classes, groups and segments, all hosts of class 0; the numbers are >= 1.
 * NULL when memory ran out. */
struct hrun_net *net_make(const char *const *hosts, int n, int nclasses, int ngroups, int nsegments);

/* Is there something in a value that its absence from a file would not tell? */
int net_is_known(const struct hrun_net_value *v);

/* The segment of messages of so many bytes; the parameters from one host to another; where in net->trunks the trunk
 * from group g to group h is, which both directions may share. */
const struct hrun_net_segment *net_segment_of(const struct hrun_net_segment *segments, int n, double bytes);
const struct hrun_net_pair *net_pair(const struct hrun_net *net, int from, int to);
int net_trunk(const struct hrun_net *net, int g, int h);

/* Room for n things of size bytes each, zeroed, never of none; NULL also when n is negative. */
void *net_alloc(long long n, size_t size);

/* ---------------------------------------------------------------- replay
 *
 * Messages played through the network model; for lib/net and hrun/preloaded
 *
 * Purpose: what ranks do that send each other messages - who sends how much to whom, and waits for what - as a
 * schedule, and the time it takes on a network (net.h): each rank has its clock and its processor, each message its
 * latency, and the bytes of all messages under way share ports, trunks and memory (max-min fair, weights those of
 * net.h). Events are the beginnings and ends of the flows of bytes; only there rates are computed anew, and all that
 * happens at one time is one event, so that a round of equal messages costs as much as one of them.
 * Invariants of a schedule: the steps of rank 0, then those of rank 1, ...; the k-th message that a rank sends to
 * another is the k-th that the other receives from it. A schedule is not changed by playing it.
 */

/* ---------------------------------------------------------------- schedules (message_schedule.c), played (replay.c) */

enum play_kind {
    PLAY_SEND,                 /* begin to send: returns after the sender's own stage */
    PLAY_SSEND,                /* the same, complete only when the receiver has processed the message */
    PLAY_RECV,                 /* begin to receive */
    PLAY_WAIT_ONE,             /* for one earlier step of this rank */
    PLAY_WAIT,                 /* for all earlier steps of this rank */
    PLAY_WORK,                 /* combine two operands of so many bytes */
    PLAY_COPY                  /* copy so many bytes within the host */
};

struct play_step {
    enum play_kind kind;
    int peer;                  /* the other rank */
    size_t other;              /* of PLAY_WAIT_ONE: index of the step waited for */
    double bytes;
};

struct play_schedule {
    int nranks, rank;          /* rank: whose steps are being added */
    size_t *first;             /* nranks + 1: a rank's first step */
    struct play_step *steps;
    size_t nsteps, cap;
    int failed;                /* memory ran out: what was added since is lost */
};

/* An empty schedule; failed is set when memory runs out. */
void play_begin(struct play_schedule *s, int nranks);
void play_release(struct play_schedule *s);

/* Steps of rank r follow; ranks in ascending order, each once. */
void play_rank(struct play_schedule *s, int r);
/* One step each; those that begin something return its index for play_wait_for. A blocking send is play_send and
 * play_wait_for. */
size_t play_send(struct play_schedule *s, int to, double bytes);
size_t play_ssend(struct play_schedule *s, int to, double bytes);
size_t play_recv(struct play_schedule *s, int from);
void play_wait_for(struct play_schedule *s, size_t step);
void play_wait(struct play_schedule *s);
void play_work(struct play_schedule *s, double bytes);
void play_copy(struct play_schedule *s, double bytes);
/* Shorthands: blocking, and MPI_Sendrecv. */
void play_send_wait(struct play_schedule *s, int to, double bytes);
void play_recv_wait(struct play_schedule *s, int from);
void play_exchange(struct play_schedule *s, int to, double bytes, int from);

/* Does this step begin to send? */
int play_sends(const struct play_step *step);
/* Number the messages in the order of the steps that send them: message_of[nsteps] receives the number of each step
 * that begins to send or receive. Errors: HRUN_EINVAL (a message that nobody sends or receives), HRUN_ENOMEM. */
int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err);

/* Play s, whose ranks are where `ranks` says, on net; *time_s receives the clock of the last rank that ends, all having
 * begun at 0. Unknown pairs (beta 0) have been ruled out by the caller. Errors: HRUN_ENOMEM (also when
 * s->failed), HRUN_EINVAL (a message that nobody sends or receives, ranks that wait for each other forever: bugs of who
 * made s). */
int play_run(const struct play_schedule *s, const struct hrun_net *net, const struct hrun_net_ranks *ranks,
             double *time_s, struct hrun_error *err);

/* ---------------------------------------------------------------- what flows of bytes share (share.c) */

/* Max-min fair rates (Bertsekas and Gallager, Data Networks, section 6.5.2): no flow's rate can be raised but at the
 * cost of a flow that has no more than it, as their shares weigh them. A flow has a limit of its own, and takes of each
 * resource that it uses its rate times a weight.
 * Weights, shares and capacities are > 0; limits are > 0, INFINITY stands for none; a flow without a limit uses at
 * least one resource. */

/* Ports of sender and receiver, the trunk, and the three on the way back. */
enum { SHARE_USES = 6 };

struct share_flow {
    int nuse;
    int use[SHARE_USES];       /* resources, each once */
    double weight[SHARE_USES];
    double share;              /* what its rate rises by when that of a flow of share 1 rises by 1 */
    double limit, rate;        /* bytes/s; rate is the result */
    int message;               /* the caller's */
    double left;               /* the caller's */
};

struct share_resource {
    double capacity;           /* bytes/s; the rest is scratch */
    double left, weight;
};

/* Rates of flows[n]. open[n]: scratch. */
void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *open);

/* ---------------------------------------------------------------- one message by the stages of net.h (wire.c) */

/* Ranks of one host have no processor's stage; limits are INFINITY where none is known. */

/* The stage of a message of so many bytes at `rank`, sent to or received from `other`. */
double wire_processor_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, int other,
                        double bytes);

/* From the sender's stage to the first byte. */
double wire_latency_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes);

/* Copying so many bytes on a rank's host takes at most what a message between two such ranks does. */
double wire_copy_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, double bytes);

/* How many resources a network has: of each host what goes out, what comes in, its memory; then the trunks. */
size_t wire_resources(const struct hrun_net *net);

/* The flow of the bytes: limit, and resources with their weights; capacities of those are written to resources[]. */
void wire_flow(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes,
               struct share_resource *resources, struct share_flow *out);

/* ---------------------------------------------------------------- algorithms
 *
 * What each rank does in a collective operation, by algorithm; for lib/net
 *
 * Purpose: the algorithms that MPI libraries take, as steps of the ranks (internal.h). They are written as one rank's
 * program, among the members of a task, so that one operation can be made of others among some of its ranks.
 * Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19, 2005; Bruck et al., IEEE Trans. on Parallel and Distributed Systems 8,
 * 1997; and the behaviour of Open MPI 4.1 and SimGrid 3.32, which tests/accuracy/net checks.
 * Invariants: elements of reductions are neither counted nor kept whole: a part of a message may have any size.
 */

struct net_task {
    int n, root;               /* members, and the root's index among them */
    const int *ranks;          /* n: their ranks; NULL: index and rank are the same */
    double bytes;              /* as of struct hrun_net_call */
    double scatter_S, gather_M2; /* of struct hrun_net_thresholds; 0: none */
    const char *selector;      /* whose parts "reduce-bcast" takes */
    const struct net_hosts *hosts; /* of the ranks of the whole communicator */
};

/* Which ranks share a host: those of the h-th host (in order of their first ranks) are rank[first[h]..first[h + 1] -
 * 1], ascending. */
struct net_hosts {
    int nhosts;
    int *first, *rank, *leader; /* leader[h]: its first rank */
    int *host, *index;         /* of each rank: h, and its place among its host's */
    int uniform;               /* 1: as many ranks on each */
};
int net_hosts_find(const struct hrun_net_ranks *ranks, struct net_hosts *out, struct hrun_error *err);
void net_hosts_release(struct net_hosts *h);

/* Add the steps of member `me`. */
typedef void net_program(struct play_schedule *s, const struct net_task *t, int me);

/* Those of each operation; unused rows have no program. */
enum { NET_ALGORITHMS_MAX = 10 };
extern const struct net_algorithm {
    const char *name;
    net_program *program;
} net_algorithms[HRUN_NET_NOPS][NET_ALGORITHMS_MAX];

/* NULL: the operation has none of that name. *kept receives the table's own name. */
net_program *net_algorithm_find(enum hrun_net_op op, const char *name, const char **kept);

/* The algorithm that a selector takes among n members; uniform: as many on each host. NULL: no such selector. */
const char *net_select(const char *selector, enum hrun_net_op op, int n, double bytes, int uniform);

/* Are the ranks on hosts of the network, and does the operation make sense among n of them? Errors: HRUN_EINVAL. */
int net_check_ranks(const struct hrun_net *net, const struct hrun_net_ranks *ranks, struct hrun_error *err);
int net_check_call(const struct hrun_net_call *call, int n, struct hrun_error *err);
/* The program of an operation among n ranks: that of call->algorithm, or what the network's selector takes; NULL of
 * p2p, which needs none. *name receives its name. Errors: HRUN_EINVAL. */
int net_choose_program(const struct hrun_net *net, const struct hrun_net_call *call, int n, int uniform,
                       const char **name, net_program **program, struct hrun_error *err);

/* For programs. Rank of member i; a member's place counted from the root, and the rank at a place. */
int net_rank(const struct net_task *t, int i);
int net_place(const struct net_task *t, int me);
int net_at(const struct net_task *t, int place);
/* Bytes of blocks from .. to - 1, where `total` bytes are cut into blocks, the last ones shorter or empty. */
double net_span(double block, double total, int from, int to);
/* The largest power of two <= n; Open MPI's binary tree, counted from the root: level by level, v's children are as
 * many places after it as v's level has members, and twice as many. */
int net_pow2_below(int n);
int net_binary_parent(int v);
int net_binary_child(int v, int which);
/* Run what t->selector takes for op as a part of a program. */
void net_part(struct play_schedule *s, const struct net_task *t, int me, enum hrun_net_op op, double bytes, int root);

/* algo_root.c; net_from_root: straight to all at once, blocks (scatter) or the whole (bcast) */
net_program net_scatter_linear, net_from_root, net_scatter_binomial, net_scatter_rising;
net_program net_gather_linear, net_gather_sync, net_gather_binomial;
/* algo_bcast.c */
net_program net_bcast_binomial, net_bcast_mpich, net_bcast_knomial, net_bcast_chain, net_bcast_binary,
    net_bcast_split, net_bcast_doubling, net_bcast_ring, net_bcast_hosts;
/* algo_reduce.c */
net_program net_reduce_linear, net_reduce_chain, net_reduce_binary, net_reduce_binomial,
    net_reduce_rabenseifner, net_reduce_hosts;
net_program net_allreduce_doubling, net_allreduce_ring, net_allreduce_rabenseifner, net_allreduce_parts,
    net_allreduce_linear, net_allreduce_hosts;
/* algo_all.c */
net_program net_ring;
net_program net_allgather_bruck, net_allgather_doubling, net_allgather_doubling_mpich, net_allgather_ring,
    net_allgather_pairwise, net_allgather_neighbor;
net_program net_alltoall_linear, net_alltoall_pairwise, net_alltoall_bruck, net_alltoall_throttled;
net_program net_barrier_linear, net_barrier_doubling, net_barrier_bruck, net_barrier_tree;

/* Recursive doubling of blocks cut from `total` bytes at multiples of `block`, of virtual ranks counted from the root;
 * members that have no partner are served by their neighbours. Shared by allgather and broadcast. */
void net_doubling(struct play_schedule *s, const struct net_task *t, int me, double block, double total);

/* ---------------------------------------------------------------- fitting
 *
 * From records to parameters: the steps behind net.h; not for other rooms
 *
 * Purpose: what an experiment takes by the stages of the model (trial.c), the least squares system of all experiments
 * and its solution (rows.c, system.c, least_squares.c, ports.c), what it takes as given and its solution finds
 * (segments.c, breaks.c, classes.c, limits.c), and the order of these steps (turns.c, estimate.c); then scatter, gather
 * and how well all is known (thresholds.c, quality.c).
 */

/* ---------------------------------------------------------------- what an experiment takes (trial.c, trial_slope.c) */

/* The parameters are columns of a vector x, all >= 0, in s or s/byte (rates by their inverses): C, t, out and in of
 * each class, L of each pair of classes, g = 1/beta of each ordered pair, and bias_bytes. A parameter that is not
 * looked for has column -1 and is 0. A time is homogeneous of degree 1 in x and what is given besides (factors of
 * segments and the bias apart): twice all parameters take twice the time, so that the gradient's product with x is the
 * time itself but for what trunks and the bias add.
 * Where a time is the longest or the first of several, or messages share a port, the gradient is that of the branch
 * that holds at x. */

struct net_columns {
    int nclasses;
    const int *class_of;       /* of each host; the caller's */
    int *C, *t, *out, *in;     /* nclasses: columns, or -1 */
    int *L, *g;                /* nclasses by nclasses, sender's by receiver's; L is the same both ways */
    int bias;                  /* bias_bytes of net.h; -1: as given */
    size_t p;
};

/* What is known beside the columns. */
struct net_given {
    const int *group_of;       /* of each host */
    int ngroups;
    const double *trunk_s_per_byte;    /* ngroups by ngroups, as messages one way see it; 0: no limit */
    int trunks_shared;                 /* do both ways share it? */
    const struct hrun_net_segment *segments;
    int nsegments;
    double back_share, bias_bytes;     /* of net.h */
};

enum { NET_SLOTS = 14 };       /* of a fan: C and t of three hosts, three ports, L and g of two pairs, the bias */

struct net_gradient {
    int n;
    int column[NET_SLOTS];
    double d[NET_SLOTS];
};

/* The segment in which messages of so many bytes are. */
const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes);

/* The bytes of the second message of a fan or join. */
double net_second_bytes(const struct hrun_net_record *r);

/* Does the experiment tell of columns? Trips, fans, joins and calls do. What `both` takes depends on how two
 * unlike hosts fell into step; it tells back_share alone. */
int net_trial_is_row(const struct hrun_net_record *r);

/* What it takes at x, of one of these or `both`; the same, and how that follows x. */
double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r);
double net_trial_slope(const struct net_columns *c, const struct net_given *given, const double *x,
                       const struct hrun_net_record *r, struct net_gradient *gradient);

/* When do n messages of `bytes` each, under way from start_s[n] on, end that alone take alone_s_per_byte[n] and
 * together share shared_s_per_byte (0: no limit) max-min fairly? The shorter the way, way_s[n] (NULL or 0: all the
 * same), the more. end_s[n]. work[4 n]: scratch. */
void net_share(int n, const double *start_s, const double *alone_s_per_byte, const double *way_s, double bytes,
               double shared_s_per_byte, double *end_s, double *work);

/* ---------------------------------------------------------------- least squares */

/* Method: rows are weighted by 1 over the standard error of their times, so that small times count as large ones do.
 * A time is linear in x while its branches stay (who is last, what serialises); so the system of the branches at the
 * present x is solved by net_nnls, and again at its solution, a step being halved until the sum of squares falls, until
 * nothing changes: Gauss and Newton's method. It begins at the solution of the rows without branches; each port
 * at the rate that alone explains its fans or joins best, for at rates that bind nobody they would show no slope.
 * Which of processor and port serialises: where `call` tells t, fans and joins tell the ports. Where it does not, t
 * alone and ports alone are both tried, and what leaves less is taken, t when they leave the same: where a port is what
 * serialises, t_i + t_j would be more than a message alone takes per byte, which g >= 0 does not allow, and residuals
 * stay. C is told from L by an empty call, fan or join; without one L stays 0, as in paper 002. */

struct net_work {
    const struct hrun_net_records *r;
    const struct hrun_net_estimate_options *options;
    struct net_given given;
    double sync_bytes;
    double *se;                /* of each record: standard error of its time, s, > 0; owned */
    char *out;                 /* of each record: 1 when it is left out; owned */
    int scatter_known;         /* 1: most of the rows' weights are from scatter that was seen */
};

struct net_solution {
    struct net_columns c;      /* owned, but for class_of */
    double *x;                 /* c.p */
    double *half;              /* c.p: half widths of 95 % intervals */
    double rss;                /* weighted */
    double s2;                 /* variance of a weighted residual */
    size_t rows, rank;
};
void net_solution_release(struct net_solution *s);

/* Rows of a linear system: the entries of row i are first[i] .. first[i + 1] - 1 of column and value. */
struct net_rows {
    size_t n, p;               /* rows, columns */
    size_t *first, *column;    /* n + 1; within a row each column once */
    double *value;
    double *y, *w;             /* n: right side; weights > 0, by which rows and right side are multiplied */
};

/* Non-negative least squares. start[p]: columns above 0 are in use first; NULL: all are. k[p] receives the solution
 * (NULL: is not wanted), *rank how many columns are in use, variance[p] (or NULL) the diagonal of (X'W^2X)^-1 on those
 * in use and 0 of the others. A column that depends on others in use is 0. Errors: HRUN_ENOMEM. */
int net_nnls(const struct net_rows *m, const double *start, double *k, size_t *rank, double *variance,
             struct hrun_error *err);

/* Weighted squares of the records of one kind, with bytes, whose host i is of a class (-1: any). */
double net_misfit(const struct net_work *w, const struct net_solution *s, int class, enum hrun_net_kind kind);

/* Standard errors of all times. The scatter of few repetitions is a poor guess of a time's own, so it is drawn towards
 * that of all records of its kind, relative to their times, with the weight of 4 degrees of freedom (the
 * posterior mean under a conjugate prior); pi/2 is for the median. A tenth of noise_rel is added for what the model
 * leaves out, and as much of the shortest trip for times of 0. Errors: HRUN_ENOMEM. */
int net_weigh(struct net_work *w, struct hrun_error *err);

/* Is the record one of the rows, as far as it is sound? Beyond rendezvous only trips are. */
int net_in_use(const struct net_work *w, size_t record);

/* Is it a `both` record of messages that wait for the receiver? */
int net_is_exchange(const struct net_work *w, const struct hrun_net_record *v);

/* What the records tell, for hosts in these classes. */
struct net_separable {
    int L;                     /* 1: C and L can be told apart */
    int C;                     /* 1: C can be told at all */
    int calls;                 /* 1: t is told by calls wherever fans or joins need it */
    int *call_t, *fan_t;       /* nclasses: t is told by calls; by fans or joins; owned */
};
int net_find_separable(const struct net_work *w, const int *class_of, int nclasses, struct net_separable *out,
                       struct hrun_error *err);
void net_separable_release(struct net_separable *t);

/* Solve for hosts in these classes, and for bias_bytes from what is given on, if that is not 0. The pair of two classes
 * must have been measured. from: a solution for the same classes to begin with, or NULL. *out is filled; halves are
 * computed when `intervals` is not 0. Errors: those of lib/fit, HRUN_ENOMEM. */
int net_solve(const struct net_work *w, const int *class_of, int nclasses, const struct net_solution *from,
              int intervals, struct net_solution *out, struct hrun_error *err);

/* Set one port of a class, out or in, to what explains its fans or joins best: the least of a grid, refined by
 * thirds. */
void net_port_begin(const struct net_work *w, struct net_solution *s, int class, int outward);

/* Bring ports within their limits, beyond which they show in no time: what a message alone takes. */
void net_ports_limit(struct net_solution *s);

/* The same; those that explain no more than chance does (chi-square of one parameter, 95 %) are
 * not there: their columns go. Did any? */
int net_ports_mend(const struct net_work *w, struct net_solution *s);

/* What a record would take by the solution, s. */
double net_fitted(const struct net_work *w, const struct net_solution *s, size_t record);

/* ---------------------------------------------------------------- which records are sound (rows.c) */

/* Leave out records that contradict others of the same hosts as no scatter does (factor 2): a trip longer than every
 * fan it is part of, a fan longer than its trips one after the other, and the same of joins; an empty trip that is
 * longer than one with bytes. So do times taken by a clock that jumped. One note for each. Errors: HRUN_ENOMEM. */
int net_leave_out(struct net_work *w, struct hrun_strvec *notes, struct hrun_error *err);

/* Rendezvous begins at the size from which on sends wait, of all sizes the one that contradicts the fewest records; 0
 * when none waits. */
double net_sync(const struct hrun_net_records *r);

/* Do the bytes of a message whose sender does not wait for the receiver wait for it themselves? So they do when a late
 * receive takes more than half of what the wire does, in most of the records. */
int net_wire_waits(const struct net_work *w, const struct net_solution *s);

/* Do messages from sync_bytes on flow one after the other where two ranks send to each other at once? So they do when
 * most of the `both` records of such sizes take nearer to the sum of both ways than to the longer of them. */
int net_exchange_waits(const struct net_work *w, const struct net_solution *s);

/* ---------------------------------------------------------------- segments (segments.c) */

/* The mean round trip of the pairs of which many sizes are known, over the sizes that all of them have. */
struct net_sweep {
    double *bytes, *mean_s, *weight;   /* n each; owned by bytes */
    size_t n;
    int *from, *to;                    /* npairs: hosts; owned by from */
    size_t npairs;
    int *piece;                        /* n: segment; owned */
    double *c0, *c1;                   /* nsegments: its line; owned by c0 */
};
void net_sweep_release(struct net_sweep *s);

/* Where protocols change, by structural breaks in the sweep: the segments' sizes, and factors 1. *segments is for the
 * caller to free; one, from 0, where no pair was swept. Errors: those of hrun_breaks_find. */
int net_segments_find(const struct net_work *w, struct net_sweep *sweep, struct hrun_net_segment **segments,
                      int *nsegments, struct hrun_error *err);

/* The factors by the solution: a of the first segment and b of the one in which most trips with bytes are stay 1.
 * *change: by how much a factor changed at most, relative. */
void net_segments_fit(const struct net_work *w, const struct net_sweep *sweep, const struct net_solution *s,
                      struct hrun_net_segment *segments, int nsegments, double *change);

/* The segment of most trips with bytes. */
int net_segments_main(const struct net_work *w, const struct hrun_net_segment *segments, int nsegments);

/* ---------------------------------------------------------------- groups and classes (classes.c) */

/* Groups of hosts by the solution of a class for each host: a latency or a time per byte, as parts of what is the two
 * hosts' own (unlike hosts on one switch are no groups), that splits the pairs into near and far ones such that near
 * is an equivalence, with the widest gap (a factor 1.5 at least) between. What only many messages at once show the
 * benchmark has seen (`pairs`, calib/mpi).
 * group_of[nhosts] receives numbers from 0 in order of hosts; result: how many. Errors: HRUN_ENOMEM (-1). */
int net_groups_find(const struct net_work *w, const struct net_solution *s, int *group_of, struct hrun_error *err);

/* Every host its own class; hosts of one kind behind one switch one class. Result: how many. */
int net_classes_own(int nhosts, int *class_of);
int net_classes_alike(const struct hrun_net_records *r, const int *group_of, int *class_of);

/* Was each pair of classes that has two hosts measured? If not, hosts *i and *j were not. 1, 0, or -1:
 * HRUN_ENOMEM. */
int net_classes_measured(const struct net_work *w, const int *class_of, int nclasses, int *i, int *j,
                         struct hrun_error *err);

/* Classes of hosts that cannot be told apart: beginning with all that are alike, those are split into single hosts
 * whose own parameters lower the sum of squares by more than chance does (F test at share_level; s2 from the
 * solution with all hosts on their own, where there is one, which is `own`; else NULL). A class that cannot be
 * split for want of records stays; where several cannot be at once, there is a note. class_of[nhosts] receives
 * them. Result: how many; -1 on errors: those of net_solve. */
int net_classes_share(const struct net_work *w, const struct net_solution *own, int *class_of,
                      struct hrun_strvec *notes, struct hrun_error *err);

/* ---------------------------------------------------------------- trunks and local messages (limits.c) */

/* The trunks between groups that `pairs` records tell: s/byte, 0 where there is no limit. trunk[ngroups^2]; half: half
 * widths, NAN where nothing was measured. A way of which only the other direction was measured has its value. Errors:
 * HRUN_ENOMEM. */
int net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half,
               struct hrun_error *err);

/* Messages inside hosts, into the classes of net. Errors: those of lib/fit. */
int net_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err);

/* ---------------------------------------------------------------- scatter and gather (thresholds.c) */

/* Errors: those of hrun_breaks_find. */
int net_thresholds(const struct net_work *w, const struct net_solution *s, struct hrun_net_thresholds *out,
                   struct hrun_error *err);

/* ---------------------------------------------------------------- quality (quality.c) */

/* Residuals and oddities; q->notes is not touched, notes are. Errors: -1 when memory ran out. */
int net_assess(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
               struct hrun_net_quality *q);

/* ---------------------------------------------------------------- the steps by turns (turns.c) */

struct net_state {
    struct net_work w;                 /* `given` points into the rest */
    struct net_sweep sweep;
    struct net_solution s;             /* the last; x NULL: none yet */
    struct hrun_net_segment *segments;
    int *class_of, *group_of;          /* of each host */
    double *trunk, *trunk_half;        /* ngroups by ngroups */
    int nclasses;
    int unbiased;                      /* 1: bias_bytes was tried, and explains nothing */
    struct hrun_strvec notes;
};

/* Solve for the present classes, from the last solution where that was for as many; with half widths if `intervals`.
 * Errors: those of net_solve. */
int net_state_solve(struct net_state *e, int intervals, struct hrun_error *err);

/* Solve, and find what goes with the solution, until neither changes. Errors: those of net_solve and net_trunks. */
int net_converge(struct net_state *e, struct hrun_error *err);

/* ---------------------------------------------------------------- structural breaks (breaks.c) */

/* Purpose: where do protocols change with the message size? Bai and Perron, "Computation and analysis of multiple
 * structural change models", J. of Applied Econometrics 18, 2003 (paper 002, section 3): of all partitions into 1..m
 * pieces of at least h points the one with the least sum of squares by dynamic programming, and of their numbers the
 * one with the least BIC. Exact: brute force over all partitions gives the same.
 * A larger message takes no less time within a piece: slopes are >= 0.
 * Invariants: a piece has at least h points and two different x; of equal sums the earliest breaks, of equal BIC the
 * fewest pieces. BIC = n ln(rss / n) + p ln n, where p = 3 npieces - 1 counts the coefficients of the lines and the
 * breaks; what rounding alone makes of exact lines counts as no residual. */

struct hrun_breaks {
    int npieces;
    size_t *first;             /* npieces: index of the first point of each; first[0] = 0; owned */
    double *c0, *c1;           /* npieces: the line c0 + c1 x of each; owned */
    double rss;                /* weighted sum of squared residuals */
    double bic;
};
void hrun_breaks_release(struct hrun_breaks *b);

enum { HRUN_BREAKS_POINTS_MAX = 4096 };

/* x[n] ascending (repetitions allowed: a break never separates equal x), y[n], weights w[n] > 0 (by which residuals are
 * multiplied before they are squared; NULL: 1). least: points of a piece, >= 2. most: pieces, >= 1. Time: n^2 most.
 * Errors: HRUN_EINVAL (an argument, entry i of x, y or w, or more than HRUN_BREAKS_POINTS_MAX points), HRUN_ENODATA
 * (fewer than `least` points or than two different x), HRUN_ENOMEM. */
int hrun_breaks_find(const double *x, const double *y, const double *w, size_t n, size_t least, int most,
                     struct hrun_breaks *out, struct hrun_error *err);

#endif
