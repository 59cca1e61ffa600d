/* ring.h - the family `ring`: virtual processes on unlike nodes, side by side in a ring; not for other rooms
 *
 * Theory, and how the equations of paper 004 are read: hrun-model(7), "ring".
 * Invariants: nodes without processes (0) are not in the ring and take no time. Options are in order of sub-cluster and
 * M; M that were not measured stand between two that were, by linear interpolation.
 */
#ifndef HRUN_MODEL_FAMILIES_RING_H
#define HRUN_MODEL_FAMILIES_RING_H

#include "model/internal.h"

/* ------------------------------------------------------------------ a ring, without measurements */

/* Steps L of q >= 1 processes, without the further one of an even q (paper 004, section 3). */
int hrun_ring_steps(int q);

/* What a node does: all its processes together, in seconds. */
struct hrun_ring_stage {
    int procs;              /* q_i >= 0 */
    double local_s;         /* t_i^1 of eq. 7: the phase before the steps */
    double step_s;          /* W_i: computation, switches, messages inside, packing */
    double unpack_s;        /* of the message from the node before */
    double wire_s;          /* t_tm of eq. 5: a message from the node before until it is here */
};

enum hrun_ring_wait { HRUN_RING_BEFORE, HRUN_RING_PRINTED };

/* T_{i,L} of n nodes into elapsed_s[n], with the further step of an even q: eqs. 6 to 8. idle_s[n] (may be NULL): how
 * much of it each waited. Work: n L. Result: the largest, T_par. Errors: HRUN_EINVAL (no process at all, a negative
 * number), HRUN_ENONFINITE (a time that is not finite or negative); -1 and nothing is written then. */
double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err);

/* One kind of nodes that are alike, of which `pes` may be used with the same number of processes on each. */
struct hrun_ring_group {
    int pes;                /* >= 0 */
    const double *rate;     /* rate[noptions]: seconds per unit of work when procs[k] processes share a node: q_i/s_i of
                               eq. 9; not finite: not to be used */
    const int *procs;       /* procs[noptions] >= 1 */
    int noptions;
};

/* The allocation of q processes that minimises the largest q_i/s_i, and so gamma of eq. 11 and all U of eq. 9, among
 * those that a configuration (P1,M1,...) can say: one number of processes in a group, on some of its nodes. Dynamic
 * programming over groups and numbers of processes (paper 004's reference 5). Of equal ones the first by group has the
 * fewest nodes. O(q sum of pes noptions). *rate: the largest rate. Errors: HRUN_EINVAL (q < 1), HRUN_EINFEASIBLE (no
 * such configuration); pes[n] and procs[n] are as before. */
int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err);

/* S of the groups: the units of work per second that all nodes do, each with the number of processes that it is
 * fastest with. gamma of eq. 11 is then 1 - q / (rate S). */
double hrun_ring_total(const struct hrun_ring_group *groups, int n);

/* ------------------------------------------------------------------ its terms and records */

enum { HRUN_RING_TERMS = 7 };

/* Values of the terms: what is done once, and in each step. */
struct hrun_ring_terms {
    double once[HRUN_RING_TERMS], step[HRUN_RING_TERMS];
};
void hrun_ring_terms_at(const struct hrun_ring_work *w, int P, int M, struct hrun_ring_terms *out);

/* S for a run with P processes on equal PEs, M on each. */
double hrun_ring_run_steps(int P, int M);

/* The number of the term with this text, -1: none. */
int hrun_ring_term(const char *text);
/* Is it one of messages between PEs? */
int hrun_ring_is_far(int term);

/* Seconds of a PE per unit of work, with k[HRUN_RING_TERMS], when its processes have n points each. */
double hrun_ring_rate(const double *k, double n);

/* Take out of rows[n], which are in their order, those of which S is not known, and with options->robust of three and
 * more runs of one point those that differ from the middle one by more than HRUN_SUSPICIOUS times the scatter that the
 * options expect: a PE that is alone has few points, and two glitches at different ones could agree. Result: how many
 * are left. */
size_t hrun_ring_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);

/* The record of rows[n], n >= 1, of one M into job->models; work*ln(n) is in it where it explains much more. Errors:
 * those of hrun_fit_family and hrun_app_ring_work. */
int hrun_ring_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* ------------------------------------------------------------------ its predictor */

struct hrun_ring_option {
    const struct hrun_fit_record *r[2];   /* measured with as many processes or fewer, with more; the same */
    double part;                          /* of the second in the interpolation */
    double k[HRUN_RING_TERMS];
    int far;                              /* 1: messages between PEs were measured, and are part of k */
    double wire[HRUN_RING_TERMS];         /* else: their terms, as others have them with one process on a PE */
    int asks;                             /* 1: nobody has them, and the network is asked */
};

struct hrun_ring {
    struct hrun_predictor base;           /* first */
    int nsubs;
    struct hrun_ring_option *opts;
    int even_q;                           /* with so many processes only options that keep max_loss; 0: no limit */
    double slowest;                       /* the most q_i/s_i of these, in seconds per unit of work */
    double *speed;                        /* nsubs: s_i of these, in units per second */
    double *own;                          /* nsubs: scratch */
    struct hrun_ring_stage *stages;       /* scratch */
    double *elapsed;                      /* 2 nstages: scratch */
    int nstages;
};

/* Seconds that the PEs of each used sub-cluster are busy, own[nsubs], and the time of the whole, or -1. Errors:
 * HRUN_ENODATA (no model), those of hrun_ring_play and hrun_app_ring_work. */
double hrun_ring_play_config(struct hrun_ring *r, const struct hrun_config *config, int P, double *own,
                             struct hrun_error *err);

/* See hrun_predictor_balance and hrun_predictor_fewest. */
int hrun_ring_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                      struct hrun_balance *out, struct hrun_error *err);
int hrun_ring_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                     struct hrun_error *err);

#endif
