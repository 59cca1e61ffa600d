/* families.h - what the families of models show to each other and to their tests */
#ifndef HRUN_MODEL_FAMILIES_FAMILIES_H
#define HRUN_MODEL_FAMILIES_FAMILIES_H

#include "model/fit_job.h"
#include "model/internal.h"

/* ---------------------------------------------------------------- npt
 *
 * The family npt: a predictor by formulas in N and P: N-T, P-T, NP-T; not for other rooms
 *
 * Invariants:
 *   - a *formula* option has a record of the predictor's family that is a function of P (npt, pt); it holds
 * for P > m. Its prediction is the sum of coef[j * noptions + o] times the value of term j, in order of j;
 *   - a *point* is a prediction that holds at one P: `single` at P = m, `nt` at its P; points are ordered by
 * P, then option, and each (P, option) stands once;
 *   - a network term stands in times and bounds with the least that its operation may take, and in the whole with
 *     what it takes;
 *   - terms are distinct: options share the values, so that one P costs each term once.
 */

struct hrun_popt {
    const struct hrun_models *models;
    const struct hrun_fit_record *single;  /* or NULL */
    const struct hrun_fit_record *formula; /* npt or pt, or NULL */
    double T;                              /* pt: the N-T model's value at N */
    int *term;      /* formula->nterms: index of its distinct term, -1 for coefficient 0 */
    double *factor; /* value of the record's term over that of the distinct one: 1 or T */
};

struct hrun_ppoint {
    int P, option;
    double time_s;
    const struct hrun_fit_record *record;
};

struct hrun_formulas {
    struct hrun_predictor base;            /* first */
    enum hrun_model_form form;
    double N;
    struct hrun_popt *opts;
    struct hrun_pterm *terms;
    int *least_m;                          /* of each term: the smallest m of the options that use it */
    int *checked;                          /* of each term: up to this P it has a value wherever the rule
                                              accepts P */
    int *has_negative;                     /* of each term: is some coefficient below 0? */
    int nterms, cap;
    double *coef, *unscaled;               /* nterms by noptions, with what is common, and the models' */
    double *value;                         /* nterms: scratch */
    struct hrun_ppoint *points;
    int npoints;
    struct hrun_netview *net;              /* borrowed; NULL: there is none, and no term needs one */
    int *place;                            /* nsubs: which sub-cluster of net each is */
    int *is_network;                       /* of each term: a network term? Its value is then the factor, and counts
                                              as 0 where no configuration is given */
    int *has_network;                      /* of each option: does it use one? */
    int same_subs;                         /* 1: net's sub-clusters are those of the predictor */
    double *parts;                         /* noptions: scratch */
    struct hrun_part_time *used;           /* noptions: scratch, of the options that a configuration uses */
    int *is_shared;                        /* of each term: is it in proportion to the share of a process? */
    struct hrun_shares *shares;            /* NULL: the definition has none, or they cannot be dealt out */
};

/* Unequal shares (npt_shares.c): what a process takes is a line in its share. */
struct hrun_shares {
    enum hrun_sharing how;
    int64_t units, least;                  /* in all, and of a process */
    struct hrun_pterm *whole;              /* nterms: of shared terms, with all work on one process */
    double *memory;                        /* nsubs: bytes of a PE, 0: not limited */
    double *fixed, *shared;                /* noptions: what does not depend on the share, and what does, of a P-th */
    struct hrun_line *lines, *parts;       /* noptions; nsubs: those of a configuration */
    int64_t *most;                         /* noptions: units that fit into the memory of a process; -1: P decides */
    struct hrun_oracle equal;              /* of equal shares, and whether times depend on the configuration then */
    int is_whole;
    int64_t *share;                        /* nsubs: units of each part */
    int *sub_of;                           /* nsubs: of each part */
};

/* Make and free p->shares, none where no term has W; the terms of p are there. Errors: those of a term. */
int hrun_shares_create(struct hrun_formulas *p, struct hrun_error *err);
void hrun_shares_destroy(struct hrun_formulas *p);

/* Rows of struct hrun_predictor_kind. */
int hrun_shares_deal(struct hrun_predictor *base, enum hrun_sharing how, struct hrun_error *err);
int hrun_shares_of(struct hrun_predictor *base, const struct hrun_config *config, double *share,
                   struct hrun_error *err);
int hrun_shares_options(struct hrun_predictor *base, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err);
int hrun_shares_limit_memory(struct hrun_predictor *base, const double *bytes, struct hrun_error *err);

/* With equal shares in whole units: the most that a process has, over a P-th. */
double hrun_shares_uneven(const struct hrun_formulas *p, int P);

/* Ti of the options that a configuration uses, with the shares that it is dealt; else NAN. */
int hrun_shares_dealt(struct hrun_formulas *p, const struct hrun_config *config, double *t, struct hrun_error *err);

/* What a process of `sub` has in a configuration, over an equal share; -1 with *err where there is no such time. */
double hrun_shares_share(struct hrun_formulas *p, int sub, const struct hrun_config *config, struct hrun_error *err);

/* Ti of all options at P, t[noptions], in a configuration of net's sub-clusters (not looked at without network terms);
 * NAN where an option cannot be used at P. 0, or -1 with *err. */
int hrun_formulas_options(struct hrun_predictor *base, int P, const struct hrun_config *config, double *t,
                           struct hrun_error *err);

/* The value of distinct term j, network terms in the configuration. Errors: those of hrun_formulas_term and
 * hrun_term_network, naming term, N and P. */
int hrun_formulas_value(struct hrun_formulas *p, int j, int P, const struct hrun_config *config, double *value,
                         struct hrun_error *err);

/* The intervals: rows of struct hrun_predictor_kind. */
int hrun_formulas_time(struct hrun_predictor *base, int sub, int m, int P, struct hrun_interval *time,
                       struct hrun_error *err);
int hrun_formulas_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config,
                          struct hrun_interval *time, struct hrun_error *err);
int hrun_formulas_measured(const struct hrun_predictor *base, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* The oracle's functions (ctx: the predictor). */
int hrun_formulas_times(void *ctx, int P, double *t, struct hrun_error *err);
int hrun_formulas_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err);
int hrun_formulas_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                         struct hrun_error *err);
int hrun_formulas_part(void *ctx, const struct hrun_config *config, int known, int P, double *time_s,
                       struct hrun_error *err);

/* Add to t[noptions], times at P, the least of what network terms take. */
int hrun_formulas_add_network(struct hrun_formulas *p, int P, double *t, struct hrun_error *err);

/* The value of distinct term j at P. Errors: HRUN_ENONFINITE naming term, N and P. */
int hrun_formulas_term(struct hrun_formulas *p, int j, int P, double *value, struct hrun_error *err);

/* The first point with this P or more (npoints when there is none). */
int hrun_formulas_point(const struct hrun_formulas *p, int P);

/* The value at N of an N-T record: sum of its terms; terms with coefficient 0 are not evaluated. x[nterms],
 * may be NULL, receives the terms' values, 0 where not evaluated. */
int hrun_formulas_nt_value(const struct hrun_app *app, const struct hrun_fit_record *r, double N, double *x,
                            double *value, struct hrun_error *err);

/* Of the family's row. */
int hrun_formulas_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* ---------------------------------------------------------------- ring
 *
 * The family `ring`: virtual processes on unlike nodes, side by side in a ring (paper 004; theory and how its
 * equations are read: hrun-model(7), "ring"); not for other rooms
 *
 * Invariants: nodes without processes (0) are not in the ring and take no time. Options are in order of sub-cluster and
 * M; M that were not measured stand between two that were, by linear interpolation.
 */

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

/* What the definition says at one P. */
struct hrun_ring_known {
    struct hrun_ring_work w;
    int known;
};

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
    struct hrun_netview *net;             /* borrowed; NULL: there is none */
    int *place;                           /* nsubs: which sub-cluster of net each is, -1: none; NULL without net */
    int nsubs;
    struct hrun_ring_option *opts;
    struct hrun_ring_known *works;             /* of P = 0 .. nworks-1 */
    int nworks;
    int even_q;                           /* with so many processes only options that keep max_loss; 0: no limit */
    double slowest;                       /* the most q_i/s_i of these, in seconds per unit of work */
    double *speed;                        /* nsubs: s_i of these, in units per second */
    double *own;                          /* nsubs: scratch */
    struct hrun_ring_stage *stages;       /* scratch */
    double *elapsed;                      /* 2 nstages: scratch */
    int nstages;
};

/* The definition's work at P, asked once; NULL with *err as of hrun_app_ring_work. */
const struct hrun_ring_work *hrun_ring_work_at(struct hrun_ring *r, int P, struct hrun_error *err);

/* Seconds that the PEs of each used sub-cluster are busy, own[nsubs], and the time of the whole, or -1. Errors:
 * HRUN_ENODATA (no model), those of hrun_ring_play and hrun_app_ring_work. */
double hrun_ring_play_config(struct hrun_ring *r, const struct hrun_config *config, int P, double *own,
                             struct hrun_error *err);

/* See hrun_predictor_balance and hrun_predictor_fewest. */
int hrun_ring_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                      struct hrun_balance *out, struct hrun_error *err);
int hrun_ring_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                     struct hrun_error *err);

/* ---------------------------------------------------------------- weak
 *
 * The family `weak`: codes whose work per process is kept while processes are added (paper 001; theory:
 * hrun-model(7), "weak"); not for other rooms
 *
 * Invariants: b >= 0 and d >= 0; the others may have either sign: caches make the first rows cheaper, messages may
 * overlap with work. A record has the coefficients of one M and one N; a size without a record of its own takes
 * coefficients on the line between those of the two nearest sizes. Shares are exact: no configuration of whole units is
 * quicker; of two that are, the one with fewer units in all.
 */

/* The coefficients by the order of their terms. */
enum { HRUN_WEAK_WORK, HRUN_WEAK_FIXED, HRUN_WEAK_ALPHA, HRUN_WEAK_LOG, HRUN_WEAK_GAMMA, HRUN_WEAK_TERMS };
/* "W", "1", "[P>1]", "[P>1]*log2(P)", "[P>1]*W", as records name them. */
extern const char *const hrun_weak_terms[HRUN_WEAK_TERMS];

struct hrun_weak_run {
    int np;
    double work;            /* rows of each process, > 0 */
    double time_s;
};

struct hrun_weak_fit {
    double k[HRUN_WEAK_TERMS];
    double cov[HRUN_WEAK_TERMS * HRUN_WEAK_TERMS]; /* of k over s2, row-major */
    double s2;              /* variance of a weighted residual */
    int dof;                /* 0: s2 is 1, what the weights assume */
    double mean_error, max_error; /* |fit - T| / T of the runs */
};

/* The values of the terms, x[HRUN_WEAK_TERMS]. */
void hrun_weak_values(int np, double work, double *x);
/* The time by the coefficients k. */
double hrun_weak_time(const double *k, int np, double work);

/* Steps 1 to 6 of paper 001, section IV, of exactly six runs: on 1, p and q processes, 1 < p < q, each with two amounts
 * of work, the same ones (the paper's p and q are 4 and 8, and the amounts a full and half of it). gamma is that of q.
 * In any order. Errors: HRUN_EINVAL when they are other runs. */
int hrun_weak_paper(const struct hrun_weak_run *runs, size_t n, double *k, struct hrun_error *err);

/* All runs that there are, by least squares with b >= 0 and d >= 0 on rows weighted by
 * 1/sqrt(sigma_abs_s^2 + (sigma_rel T)^2); of six runs without errors the coefficients are those of hrun_weak_paper.
 * Errors: HRUN_ENODATA (no run on one process, none on several, or one amount of work in all), HRUN_ENONFINITE,
 * HRUN_EINVAL (np or work below 1, a time that is not above 0), those of lib/fit. *out is untouched then. */
int hrun_weak_fit(const struct hrun_weak_run *runs, size_t n, double sigma_abs_s, double sigma_rel,
                  struct hrun_weak_fit *out, struct hrun_error *err);

/* The family's row. */
size_t hrun_weak_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);
int hrun_weak_fit_rows(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);
int hrun_weak_points(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                     struct hrun_family_point *v, struct hrun_error *err);

#endif
