/* fitting.h - the steps from records to parameters; for lib/net alone
 *
 * Purpose: the time of an experiment by the stages of the model (trial.c, trial_slope.c); the least squares system of
 * all experiments and its solution (rows.c, system.c, least_squares.c); segments, groups, classes and trunks,
 * which this system takes as given (segments.c, breaks.c, classes.c, limits.c); the order of these steps
 * (estimate.c); scatter and gather (thresholds.c); residuals and notes (quality.c).
 */
#ifndef HRUN_NET_FITTING_H
#define HRUN_NET_FITTING_H

#include "net/estimate.h"

#include <stddef.h>

/* The relative standard deviation of a time whose scatter is not known. */
#define NET_NOISE_REL 0.01

/* ---------------------------------------------------------------- time of an experiment (trial.c, trial_slope.c) */

/* The parameters are columns of a vector x, all >= 0, in s or s/byte (rates by their inverses): C, t, out and in of
 * each class, L of each pair of classes, g = 1/beta of each ordered pair, and bias_bytes. A parameter that is not
 * estimated has column -1 and is 0. Times are homogeneous of degree 1 in x and the given trunks (for fixed segments and
 * bias), so without trunks and bias the product of gradient and x is the time. A time is piecewise smooth, as it
 * contains maxima, minima and shared ports; the gradient is that of the branch at x. */

struct net_columns {
    int nclasses;
    const int *class_of;       /* class of each host; owned by the caller */
    int *C, *t, *out, *in;     /* nclasses: columns, or -1 */
    int *L, *g;                /* nclasses by nclasses, sender's by receiver's; L is the same both ways */
    int bias;                  /* bias_bytes of net.h; -1: as given */
    size_t p;
};

/* Parameters that are not columns. */
struct net_given {
    const int *group_of;       /* of each host */
    int ngroups;
    const double *trunk_s_per_byte;    /* ngroups by ngroups, for messages in one direction; 0: no limit */
    int trunks_shared;                 /* 1: both directions of a trunk share its rate */
    const struct hrun_net_segment *segments;
    int nsegments;
    double back_share, bias_bytes;     /* of net.h */
};

enum { NET_SLOTS = 14 };       /* columns of a fan: C and t of three hosts, three ports, L and g of two pairs, the
                                  bias */

struct net_gradient {
    int n;
    int column[NET_SLOTS];
    double d[NET_SLOTS];
};

/* The segment of messages of this size. */
const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes);

/* Size of the second message of a fan or join, bytes. */
double net_second_bytes(const struct hrun_net_record *r);

/* 1 for trips, fans, joins and calls, which determine columns; else 0. `both` determines only back_share, as its time
 * depends on the phase between two unlike hosts. */
int net_trial_is_row(const struct hrun_net_record *r);

/* The time of a row or of a `both` record at x, s; net_trial_slope also computes the gradient of the time. */
double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r);
double net_trial_slope(const struct net_columns *c, const struct net_given *given, const double *x,
                       const struct hrun_net_record *r, struct net_gradient *gradient);

/* n messages of `bytes` each that share one limit max-min fairly. The weight of a message is 1 / way_s. */
struct net_flows {
    int n;
    double bytes, shared_s_per_byte;   /* the limit; 0: none */
    double *start_s;                   /* begin of the flow of each */
    double *alone_s_per_byte;
    double *way_s;                     /* length of the way of each; all 0: equal weights */
    double *end_s;                     /* the result */
};
/* Allocate for n messages; all times are 0. The arrays are one block that begins at start_s. */
struct net_flows net_flows_make(int n);
void net_flows_release(struct net_flows *f);
/* Set end_s. */
void net_flows_share(const struct net_flows *f);

/* ---------------------------------------------------------------- least squares */

/* Method: Gauss-Newton iteration. The weight of a row is 1 over the standard error of its time. A time is linear in x
 * within a branch, so net_nnls solves the system of the branches at x; the step is halved until the sum of squares
 * falls. The iteration begins at the solution of the rows without branches, and ends when the sum hardly falls. Each
 * port begins at the rate that explains its fans or joins best, since a port that does not limit has gradient 0.
 * Processor or port: if `call` records determine t, fans and joins determine the ports. Otherwise t without ports and
 * ports without t are tried, and the smaller residual decides; t if both are equal. If a port serialises, t cannot
 * explain the times: t_i + t_j would exceed the time per byte of a single message, which g >= 0 does not allow. Empty
 * calls, fans or joins separate C from L; if there are none, L stays 0, as in paper 002. */

struct net_work {
    const struct hrun_net_records *r;
    struct net_given given;
    double sync_bytes;
    double *se;                /* of each record: standard error of its time, s, > 0; owned */
    char *out;                 /* of each record: 1 if it is left out, 2 if set aside for now; owned */
    int scatter_known;         /* 1: the weights of most rows come from observed scatter */
};

struct net_solution {
    struct net_columns c;      /* owned, except class_of */
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
    double *y, *w;             /* n: right side; weights > 0 that multiply rows and right side */
};

/* Non-negative least squares. start[p]: begin with the columns whose entry is above 0; NULL: with all. k[p] (or NULL):
 * the solution. *rank: number of columns in use. variance[p] (or NULL): the diagonal of (X'W^2X)^-1 on those columns, 0
 * for others. The coefficient of a column that depends on others in use is 0. */
void net_nnls(const struct net_rows *m, const double *start, double *k, size_t *rank, double *variance);

/* The x in 0..limit with the least misfit(ctx, x), by a grid and then ternary search. *none: the misfit at 0. */
double net_search(double limit, double (*misfit)(void *ctx, double x), void *ctx, double *none);

/* Weighted sum of squared residuals of the records of one kind with bytes > 0 whose host i is of a class (-1: any). */
double net_misfit(const struct net_work *w, const struct net_solution *s, int class, enum hrun_net_kind kind);

/* Compute w->se. The variance of few repetitions is unreliable, so it is shrunk towards the relative variance of all
 * records of its kind, with a weight of 4 degrees of freedom (the posterior mean under a conjugate prior); pi/2
 * accounts for the median. For model errors, a tenth of NET_NOISE_REL of the time is added, and the same part of the
 * shortest trip, so that times of 0 have an error, too. */
void net_weigh(struct net_work *w);

/* 1 if the record is a row that is not left out, else 0. From rendezvous on only trips are rows. */
int net_in_use(const struct net_work *w, size_t record);

/* 1 if v is a `both` record of a size from rendezvous on, else 0. */
int net_is_exchange(const struct net_work *w, const struct hrun_net_record *v);

/* The parameters that the records determine, for hosts in these classes. */
struct net_separable {
    int L;                     /* 1: C and L can be separated */
    int C;                     /* 1: C can be determined */
    int calls;                 /* 1: calls determine t wherever fans or joins need it */
    int *call_t, *fan_t;       /* nclasses: 1: calls determine t; 1: fans or joins do; owned */
};
void net_find_separable(const struct net_work *w, const int *class_of, int nclasses, struct net_separable *out);
void net_separable_release(struct net_separable *t);

/* Solve for hosts in these classes, each pair of which must have been measured. A bias_bytes other than 0 is
 * estimated, too, beginning at its present value. from: an initial solution for the same classes, or NULL. Half widths
 * are computed if `intervals` is not 0. */
void net_solve(const struct net_work *w, const int *class_of, int nclasses, const struct net_solution *from,
               int intervals, struct net_solution *out);

/* net_x_at: a parameter; 0: not estimated. net_stage_s: the processor time of a message at a host, s. */
double net_x_at(const struct net_solution *s, int column);
double net_stage_s(const struct net_solution *s, int host, double bytes);

/* The wire from one host to another by the solution, with the factors for messages of this size. */
struct net_wire {
    double latency_s, s_per_byte;
};
struct net_wire net_wire(const struct net_work *w, const struct net_solution *s, int from, int to, double bytes);

/* The time of a record by the solution, s. */
double net_fitted(const struct net_work *w, const struct net_solution *s, size_t record);

/* ---------------------------------------------------------------- which records are sound (rows.c) */

/* Leave out records that contradict others of the same hosts by a factor of 2, as after a jump of the clock: a trip
 * longer than every fan or join with it, a fan or join longer than the sum of its trips, a trip longer than one with
 * more bytes. One note for each. */
void net_leave_out(struct net_work *w, struct hrun_strvec *notes);

/* The size from which on sends wait for the receiver: the one that contradicts the fewest `sync` records; 0 if none
 * waits. */
double net_sync(const struct hrun_net_records *r);

/* wire_waits of net.h, by the `sync` records whose sender does not wait: 1 if in most of them the late receive takes
 * more than half of the wire's time, else 0. */
int net_wire_waits(const struct net_work *w, const struct net_solution *s);

/* exchange_waits of net.h: 1 if most `both` records from sync_bytes on take nearer to the sum of both ways than to the
 * longer one, else 0. */
int net_exchange_waits(const struct net_work *w, const struct net_solution *s);

/* ---------------------------------------------------------------- segments (segments.c) */

/* The mean round trip over the pairs with many sizes, for the sizes that all of them have. */
struct net_sweep {
    double *bytes, *mean_s, *weight;   /* n each; owned by bytes */
    size_t n;
    int *from, *to;                    /* npairs: hosts; owned by from */
    size_t npairs;
    int *piece;                        /* n: segment; owned */
    double *c0, *c1;                   /* nsegments: its line; owned by c0 */
};
void net_sweep_release(struct net_sweep *s);

/* Find the sizes at which protocols change, by structural breaks in the sweep. *segments, with factors 1, is freed by
 * the caller; without a sweep it is one segment from 0. Errors: those of hrun_breaks_find. */
int net_segments_find(const struct net_work *w, struct net_sweep *sweep, struct hrun_net_segment **segments,
                      int *nsegments, struct hrun_error *err);

/* Fit the factors to the solution; a of the first segment and b of net_segments_main stay 1. *change: the largest
 * relative change of a factor. */
void net_segments_fit(const struct net_work *w, const struct net_sweep *sweep, const struct net_solution *s,
                      struct hrun_net_segment *segments, int nsegments, double *change);

/* The segment with the most trips that are not empty. */
int net_segments_main(const struct net_work *w, const struct hrun_net_segment *segments, int nsegments);

/* ---------------------------------------------------------------- groups and classes (classes.c) */

/* Group hosts by a solution in which each host is a class. Used if the benchmark found no groups by simultaneous
 * messages (`pairs`, calib/mpi). Latencies and times per byte are taken relative to the two hosts' own parts, so unlike
 * hosts on one switch form no groups. The widest gap among them divides near from far pairs: a gap of a factor of at
 * least 1.5 for which `near` is an equivalence. group_of[nhosts]: numbers from 0 in order of hosts. Result: number of
 * groups; 1 if there is no gap. */
int net_groups_find(const struct net_work *w, const struct net_solution *s, int *group_of);

/* Put hosts of one kind and one group into one class. Result: number of classes. */
int net_classes_alike(const struct hrun_net_records *r, const int *group_of, int *class_of);

/* 1 if each pair of hosts has a trip between hosts of the same two classes; else 0, and *i, *j is a pair without
 * one. */
int net_classes_measured(const struct net_work *w, const int *class_of, int nclasses, int *i, int *j);

/* Make classes of hosts without significant differences, in class_of[nhosts]. Beginning with net_classes_alike, a class
 * is split into single hosts if the split lowers the sum of squares significantly (F test at 5 %; s2 from `own`, the
 * solution with a class for each host, or NULL). A class without enough records for a split stays. If the splits
 * together leave a pair of classes without a trip, no class is split, with a note. Result: number of classes. */
int net_classes_share(const struct net_work *w, const struct net_solution *own, int *class_of,
                      struct hrun_strvec *notes);

/* ---------------------------------------------------------------- trunks and local messages (limits.c) */

/* Estimate the trunks between groups from `pairs` records. trunk[ngroups^2]: s/byte, 0: no limit; half[ngroups^2]: half
 * widths, NAN if not measured. A direction that was not measured gets the value of the other one. */
void net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half);

/* Estimate the parameters of messages inside hosts for the classes of net. Errors: those of lib/fit. */
int net_fit_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err);

/* ---------------------------------------------------------------- scatter and gather (thresholds.c) */

/* Estimate *out. Errors: those of hrun_breaks_find. */
int net_thresholds(const struct net_work *w, const struct net_solution *s, struct hrun_net_thresholds *out,
                   struct hrun_error *err);

/* ---------------------------------------------------------------- quality (quality.c) */

/* Set the residuals in *q, and add notes on oddities to `notes`, not to q->notes. */
void net_assess(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
                struct hrun_net_quality *q);

#endif
