/* ring.h - the family `ring`: virtual processes on unlike nodes, side by side in a ring; not for other rooms
 *
 * Theory, with the equations of paper 004: hrun-model(7), "ring".
 * Invariants: nodes without processes are not in the ring and take no time. An option whose M was not measured is
 * interpolated linearly between two that were.
 */
#ifndef HRUN_MODEL_FAMILIES_RING_H
#define HRUN_MODEL_FAMILIES_RING_H

#include "model/internal.h"

/* ------------------------------------------------------------------ a ring, without measurements */

/* Steps L of q >= 1 processes, without the further one of an even q (paper 004, section 3). */
int hrun_ring_steps(int q);

/* The times of a node, of all its processes together, in seconds. */
struct hrun_ring_stage {
    int procs;              /* q_i >= 0 */
    double local_s;         /* t_i^1 of eq. 7: the phase before the steps */
    double step_s;          /* W_i: computation, switches, messages inside, packing */
    double unpack_s;        /* of the message from the node before */
    double wire_s;          /* t_tm of eq. 5: a message from the node before until it is here */
};

enum hrun_ring_wait { HRUN_RING_BEFORE, HRUN_RING_PRINTED };

/* T_{i,L} of n nodes into elapsed_s[n], with the further step of an even q: eqs. 6 to 8. idle_s[n] (may be NULL): the
 * part of it that each waited. O(n L). Result: the largest, T_par; -1 on failure, and nothing is written. Errors:
 * HRUN_EINVAL (no process, a negative number), HRUN_ENONFINITE (a time that is not finite or negative). */
double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err);

/* Equal nodes, of which up to `pes` may be used with the same number of processes on each. */
struct hrun_ring_group {
    int pes;                /* >= 0 */
    const double *rate;     /* rate[noptions]: seconds per unit of work when procs[k] processes share a node: q_i/s_i of
                               eq. 9; not finite: not to be used */
    const int *procs;       /* procs[noptions] >= 1 */
    int noptions;
};

/* The configuration of q processes with the least largest q_i/s_i, and so the least gamma of eq. 11 and U of eq. 9. By
 * dynamic programming over groups and numbers of processes (paper 004's reference 5), O(q sum of pes noptions). Of
 * equal ones the first groups have the fewest nodes. *rate: the largest rate. Errors, which leave pes[n] and procs[n]
 * as they are: HRUN_EINVAL (q < 1), HRUN_EINFEASIBLE (no such configuration). */
int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err);

/* S: the units of work per second of all nodes, each with its fastest number of processes. gamma of eq. 11 is
 * 1 - q / (rate S). */
double hrun_ring_total(const struct hrun_ring_group *groups, int n);

/* ------------------------------------------------------------------ its terms and records */

enum { HRUN_RING_TERMS = 7 };

/* Values of the terms, of what is done once and in each step. */
struct hrun_ring_terms {
    double once[HRUN_RING_TERMS], step[HRUN_RING_TERMS];
};
void hrun_ring_terms_at(const struct hrun_ring_work *w, int P, int M, struct hrun_ring_terms *out);

/* S for a run with P processes on equal PEs, M on each. */
double hrun_ring_run_steps(int P, int M);

/* The index of the term with this text, -1: none. */
int hrun_ring_term(const char *text);
/* 1 for terms of messages between PEs, else 0. */
int hrun_ring_is_far(int term);

/* Seconds of a PE per unit of work, with k[HRUN_RING_TERMS], when its processes have n points each. */
double hrun_ring_rate(const double *k, double n);

/* Remove rows whose S is not known from sorted rows[n]. With options->robust, remove also runs that differ by more than
 * HRUN_SUSPICIOUS times the expected scatter from the middle one of three or more at one point: Huber's weights are not
 * enough, because one PE has few points, and two glitches could agree. Result: how many are left. */
size_t hrun_ring_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);

/* Fit rows[n], n >= 1, of one M, and append the record to job->models. It has the term work*ln(n) if that is
 * significant. Errors: those of hrun_fit_family and hrun_app_ring_work. */
int hrun_ring_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* ------------------------------------------------------------------ its predictor */

struct hrun_ring_option {
    const struct hrun_fit_record *r[2];   /* of the nearest M measured: not above this one, not below; may be equal */
    double part;                          /* of the second in the interpolation */
    double k[HRUN_RING_TERMS];
    int far;                              /* 1: messages between PEs were measured: their terms are in k */
    double wire[HRUN_RING_TERMS];         /* far = 0: their terms by other options */
    int asks;                             /* 1: no option has them: the network gives their time */
};

struct hrun_ring {
    struct hrun_predictor base;           /* first */
    int nsubs;
    struct hrun_ring_option *opts;
    int even_q;                           /* with this many processes the loss is limited; 0: never */
    double slowest;                       /* then: the most q_i/s_i, in seconds per unit of work */
    double *speed;                        /* then: nsubs: s_i, in units per second */
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
