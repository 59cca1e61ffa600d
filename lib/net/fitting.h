/* fitting.h - from records to parameters: the steps behind net.h; not for other rooms
 *
 * Purpose: what an experiment takes by the stages of the model (trial.c), the least squares system of all experiments
 * and its solution (rows.c, system.c, least_squares.c, ports.c), what it takes as given and its solution finds
 * (segments.c, breaks.c, classes.c, limits.c), and the order of these steps (turns.c, estimate.c); then scatter, gather
 * and how well all is known (thresholds.c, quality.c).
 */
#ifndef HRUN_NET_FITTING_H
#define HRUN_NET_FITTING_H

#include "net/estimate.h"

#include <stddef.h>

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

/* The segment of messages of this size. */
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

/* n messages of `bytes` each that share one limit max-min fairly: the shorter its way, the more a message gets. */
struct net_flows {
    int n;
    double bytes, shared_s_per_byte;   /* the limit; 0: none */
    double *start_s;                   /* when each is under way */
    double *alone_s_per_byte;
    double *way_s;                     /* 0: as all others */
    double *end_s;                     /* the result */
    double *room;                      /* of net_flows_share */
};
/* Room for n; all times are 0. One block, which start_s begins. */
struct net_flows net_flows_make(int n);
void net_flows_release(struct net_flows *f);
/* Set end_s. */
void net_flows_share(const struct net_flows *f);

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
 * in use and 0 of the others. A column that depends on others in use is 0. */
void net_nnls(const struct net_rows *m, const double *start, double *k, size_t *rank, double *variance);

/* The x in 0..limit where misfit(ctx, x) is least: of a grid, refined by thirds. *none: the misfit at 0, *least: that
 * of the best on the grid. */
double net_search(double limit, double (*misfit)(void *ctx, double x), void *ctx, double *none, double *least);

/* Weighted squares of the records of one kind, with bytes, whose host i is of a class (-1: any). */
double net_misfit(const struct net_work *w, const struct net_solution *s, int class, enum hrun_net_kind kind);

/* Standard errors of all times. The scatter of few repetitions is a poor guess of a time's own, so it is drawn towards
 * that of all records of its kind, relative to their times, with the weight of 4 degrees of freedom (the
 * posterior mean under a conjugate prior); pi/2 is for the median. A tenth of noise_rel is added for what the model
 * leaves out, and as much of the shortest trip for times of 0. */
void net_weigh(struct net_work *w);

/* Is the record one of the rows, as far as it is sound? Beyond rendezvous only trips are. */
int net_in_use(const struct net_work *w, size_t record);

/* Is it a `both` record of messages that wait for the receiver? */
int net_is_exchange(const struct net_work *w, const struct hrun_net_record *v);

/* What the records tell, for hosts in these classes. */
struct net_separable {
    int L;                     /* 1: C and L can be told apart */
    int C;                     /* 1: C can be told at all */
    int calls;                 /* 1: calls determine t wherever fans or joins need it */
    int *call_t, *fan_t;       /* nclasses: calls determine t; fans or joins do; owned */
};
void net_find_separable(const struct net_work *w, const int *class_of, int nclasses, struct net_separable *out);
void net_separable_release(struct net_separable *t);

/* Solve for hosts in these classes, each pair of which must have been measured. bias_bytes, if it is not 0, is solved
 * for as well, beginning at its present value. from: a solution for the same classes to begin with, or NULL. Half
 * widths are computed if `intervals` is not 0. */
void net_solve(const struct net_work *w, const int *class_of, int nclasses, const struct net_solution *from,
               int intervals, struct net_solution *out);

/* Set one port of a class, out or in, to what explains its fans or joins best: the least of a grid, refined by
 * thirds. */
void net_port_begin(const struct net_work *w, struct net_solution *s, int class, int outward);

/* Bring ports within their limits, beyond which they show in no time: what a message alone takes. */
void net_ports_limit(struct net_solution *s);

/* The same; those that explain no more than chance does (chi-square of one parameter, 95 %) are
 * not there: their columns go. Did any? */
int net_ports_mend(const struct net_work *w, struct net_solution *s);

/* A parameter of the solution, 0 where it was not looked for; what a message takes a host's
 * processor. */
double net_x_at(const struct net_solution *s, int column);
double net_stage_s(const struct net_solution *s, int host, double bytes);

/* What a record would take by the solution, s. */
double net_fitted(const struct net_work *w, const struct net_solution *s, size_t record);

/* ---------------------------------------------------------------- which records are sound (rows.c) */

/* Leave out records that contradict others of the same hosts as no scatter does (factor 2): a trip longer than every
 * fan it is part of, a fan longer than its trips one after the other, and the same of joins; an empty trip that is
 * longer than one with bytes. So do times taken by a clock that jumped. One note for each. */
void net_leave_out(struct net_work *w, struct hrun_strvec *notes);

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
 * group_of[nhosts] receives numbers from 0 in order of hosts; result: how many. */
int net_groups_find(const struct net_work *w, const struct net_solution *s, int *group_of);

/* Every host its own class; hosts of one kind behind one switch one class. Result: how many. */
int net_classes_own(int nhosts, int *class_of);
int net_classes_alike(const struct hrun_net_records *r, const int *group_of, int *class_of);

/* Was each pair of classes that has two hosts measured? If not, hosts *i and *j were not. */
int net_classes_measured(const struct net_work *w, const int *class_of, int nclasses, int *i, int *j);

/* Classes of hosts that cannot be told apart: beginning with all that are alike, those are split into single hosts
 * whose own parameters lower the sum of squares by more than chance does (F test at share_level; s2 from the
 * solution with all hosts on their own, where there is one, which is `own`; else NULL). A class that cannot be
 * split for want of records stays; where several cannot be at once, there is a note. class_of[nhosts] receives
 * them. Result: how many. */
int net_classes_share(const struct net_work *w, const struct net_solution *own, int *class_of,
                      struct hrun_strvec *notes);

/* ---------------------------------------------------------------- trunks and local messages (limits.c) */

/* The trunks between groups that `pairs` records tell: s/byte, 0 where there is no limit. trunk[ngroups^2]; half: half
 * widths, NAN where nothing was measured. A way of which only the other direction was measured has its value. */
void net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half);

/* Messages inside hosts, into the classes of net. Errors: those of lib/fit. */
int net_fit_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err);

/* ---------------------------------------------------------------- scatter and gather (thresholds.c) */

/* Errors: those of hrun_breaks_find. */
int net_thresholds(const struct net_work *w, const struct net_solution *s, struct hrun_net_thresholds *out,
                   struct hrun_error *err);

/* ---------------------------------------------------------------- quality (quality.c) */

/* Residuals into *q, oddities into notes; q->notes is not touched. */
void net_assess(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
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

/* Solve for the present classes, from the last solution where that was for as many; with half widths if `intervals`. */
void net_state_solve(struct net_state *e, int intervals);

/* Solve, and find what goes with the solution, until neither changes. */
void net_converge(struct net_state *e);

#endif
