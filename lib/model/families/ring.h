/* ring.h - the family `ring`: virtual processes on unequal nodes, side by side in a ring; private to lib/model/families
 *
 * Theory, with the equations of paper 004: hrun-model(7), "ring".
 * Invariants: nodes without processes are not in the ring and need no time. An option whose M was not measured is
 * interpolated linearly between two measured ones.
 */
#ifndef HRUN_MODEL_FAMILIES_RING_H
#define HRUN_MODEL_FAMILIES_RING_H

#include "model/internal.h"

/* ------------------------------------------------------------------ a ring, without measurements */

/* Number of steps L of q >= 1 processes, without the additional step of an even q (paper 004, section 3). */
int hrun_ring_steps(int q);

/* The times of a node, of all its processes together, in seconds. */
struct hrun_ring_stage {
    int procs;              /* q_i >= 0 */
    double local_s;         /* t_i^1 of eq. 7: the phase before the steps */
    double step_s;          /* W_i: computation, switches, messages inside, packing */
    double unpack_s;        /* unpacking of the message from the previous node */
    double wire_s;          /* t_tm of eq. 5: transfer of a message from the previous node */
};

enum hrun_ring_wait { HRUN_RING_BEFORE, HRUN_RING_PRINTED };

/* Set elapsed_s[n] to T_{i,L} of n nodes, with the additional step of an even q: eqs. 6 to 8. idle_s[n] (may be NULL)
 * receives the part spent waiting. O(n L). Result: the largest, T_par; -1 on failure, with nothing written. Errors:
 * HRUN_EINVAL (no process, a negative number), HRUN_ENONFINITE (a time that is not finite or negative). */
double hrun_ring_play(const struct hrun_ring_stage *stages, int n, enum hrun_ring_wait wait, double *elapsed_s,
                      double *idle_s, struct hrun_error *err);

/* Equal nodes. Up to `pes` of them may be used, each with the same number of processes. */
struct hrun_ring_group {
    int pes;                /* >= 0 */
    const double *rate;     /* rate[noptions]: seconds per unit of work if procs[k] processes share a node: q_i/s_i of
                               eq. 9; not finite: the option is not usable */
    const int *procs;       /* procs[noptions] >= 1 */
    int noptions;
};

/* Find the configuration of q processes that minimises the largest q_i/s_i, and thus gamma of eq. 11 and U of eq. 9, by
 * dynamic programming over groups and numbers of processes (paper 004's reference 5), O(q sum of pes noptions). Of
 * equal configurations it returns the one with the fewest nodes in the first groups. *rate: the largest rate. Errors,
 * which leave pes[n] and procs[n] unchanged: HRUN_EINVAL (q < 1), HRUN_EINFEASIBLE (no such configuration). */
int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err);

/* S: the total speed of all nodes in units of work per second, each with its fastest number of processes. gamma of
 * eq. 11 is 1 - q / (rate S). */
double hrun_ring_total(const struct hrun_ring_group *groups, int n);

/* ------------------------------------------------------------------ terms and records */

enum { HRUN_RING_TERMS = 7 };

/* Values of the terms: for the operations done once, and for the operations of each step. */
struct hrun_ring_terms {
    double once[HRUN_RING_TERMS], step[HRUN_RING_TERMS];
};
void hrun_ring_terms_at(const struct hrun_ring_work *w, int P, int M, struct hrun_ring_terms *out);

/* Number of steps of a run with P processes on equal PEs, M on each. */
double hrun_ring_run_steps(int P, int M);

/* The index of the term with this text, or -1. */
int hrun_ring_term(const char *text);
/* 1 for terms of messages between PEs, else 0. */
int hrun_ring_is_far(int term);

/* Seconds of a PE per unit of work, by coefficients k[HRUN_RING_TERMS], if each of its processes has n points. */
double hrun_ring_rate(const double *k, double n);

/* Remove mixed runs with even P, whose steps are not known, from sorted rows[n]. With options->robust, also remove runs
 * that differ by more than HRUN_SUSPICIOUS times the expected scatter from the median of three or more at one point:
 * Huber's weights are not enough, because one PE has few points, and two disturbed runs could agree. Result: number of
 * rows left. */
size_t hrun_ring_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);

/* Fit rows[n], n >= 1, of one M, and append the record to job->models. It has the term work*ln(n) if this is
 * significant. Errors: those of hrun_fit_family and hrun_app_ring_work. */
int hrun_ring_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* ------------------------------------------------------------------ predictor */

struct hrun_ring_option {
    const struct hrun_fit_record *r[2];   /* of the nearest measured M <= and >= this one; may be equal */
    double part;                          /* weight of r[1] in the interpolation */
    double k[HRUN_RING_TERMS];
    int far;                              /* 1: messages between PEs were measured, and k contains their terms */
    double wire[HRUN_RING_TERMS];         /* far = 0: terms of messages between PEs from other options */
    int asks;                             /* 1: no option has terms of messages; the network gives their times */
};

struct hrun_ring {
    struct hrun_predictor base;           /* first */
    int nsubs;
    struct hrun_ring_option *opts;
    int even_q;                           /* the number of processes with which the loss is limited; 0: none */
    double slowest;                       /* with even_q processes: the largest q_i/s_i, in seconds per unit of work */
    double *speed;                        /* with even_q processes: s_i[nsubs], in units per second */
    double *own;                          /* nsubs: scratch */
    struct hrun_ring_stage *stages;       /* scratch */
    double *elapsed;                      /* 2 nstages: scratch */
    int nstages;
};

/* Set own[nsubs] to the busy time of the PEs of each used sub-cluster, in seconds. Result: the time of the whole
 * configuration, or -1. Errors: HRUN_ENODATA (no model), those of hrun_ring_play and hrun_app_ring_work. */
double hrun_ring_play_config(struct hrun_ring *r, const struct hrun_config *config, int P, double *own,
                             struct hrun_error *err);

/* See hrun_predictor_balance and hrun_predictor_fewest. */
int hrun_ring_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                      struct hrun_balance *out, struct hrun_error *err);
int hrun_ring_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                     struct hrun_error *err);

#endif
