/* system.h - the least squares system of estimate.h: its rows' weights, its columns, its solution
 *
 * Purpose: from the records in use to the vector x of trial.h. Not for other rooms.
 * Method: rows are weighted by 1 over the standard error of their times, so that small times count as large ones do.
 * A time is linear in x while its branches stay (who is last, what serialises); so the system of the branches at the
 * present x is solved by NNLS (lib/fit), and again at its solution, a step being halved until the sum of squares falls,
 * until nothing changes: Gauss and Newton's method. It begins at the solution of the rows without branches; each port
 * at the rate that alone explains its fans or joins best, for at rates that bind nobody they would show no slope.
 * Which of processor and port serialises: where `call` tells t, fans and joins tell the ports. Where it does not, t
 * alone and ports alone are both tried, and what leaves less is taken, t when they leave the same: where a port is what
 * serialises, t_i + t_j would be more than a message alone takes per byte, which g >= 0 does not allow, and residuals
 * stay. C is told from L by an empty call, fan or join; without one L stays 0, as in paper 002.
 */
#ifndef HRUN_NET_SYSTEM_H
#define HRUN_NET_SYSTEM_H

#include "net/trial.h"

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
struct net_told {
    int L;                     /* 1: C and L can be told apart */
    int C;                     /* 1: C can be told at all */
    int calls;                 /* 1: t is told by calls wherever fans or joins need it */
    int *call_t, *fan_t;       /* nclasses: t is told by calls; by fans or joins; owned */
};
int net_told(const struct net_work *w, const int *class_of, int nclasses, struct net_told *out, struct hrun_error *err);
void net_told_release(struct net_told *t);

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

#endif
