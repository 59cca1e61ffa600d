/* npt.h - the family npt: a predictor by formulas in N and P: N-T, P-T, NP-T; not for other rooms
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
#ifndef HRUN_MODEL_FAMILIES_NPT_H
#define HRUN_MODEL_FAMILIES_NPT_H

#include "model/internal.h"

struct hrun_popt {
    const struct hrun_fit_record *single;  /* or NULL */
    const struct hrun_fit_record *formula; /* npt or pt, or NULL */
    double T;                              /* pt: the N-T model's value at N */
    int *term;      /* formula->nterms: index of its distinct term, -1 for coefficient 0 */
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
    double *coef;                          /* nterms by noptions */
    double *value;                         /* nterms: scratch */
    struct hrun_ppoint *points;
    int npoints;
    int *is_network;                       /* of each term: a network term? Its value is then the factor, and counts
                                              as 0 where no configuration is given */
    int *has_network;                      /* of each option: does it use one? */
    int *is_shared;                        /* of each term: is it in proportion to the share of a process? */
    struct hrun_shares *shares;            /* NULL: the definition has none, or they cannot be dealt out */
};

/* Unequal shares (npt_shares.c): what a process takes is a line in its share. */
struct hrun_shares {
    struct hrun_pterm *whole;              /* nterms: of shared terms, with all work on one process */
    double *fixed, *shared;                /* noptions: what does not depend on the share, and what does, of a P-th */
};

/* Make and free p->shares and the dealer, none where no term has W; the terms of p are there. Errors: those of a
 * term. */
int hrun_shares_create(struct hrun_formulas *p, struct hrun_error *err);
void hrun_shares_destroy(struct hrun_formulas *p);

/* Rows of struct hrun_predictor_kind. */
void hrun_shares_deal(struct hrun_predictor *base, enum hrun_sharing how);
int hrun_shares_lines(struct hrun_predictor *base, int P, const struct hrun_config *config, struct hrun_line *v,
                      struct hrun_error *err);

/* hrun_predictor_options with share[] (not NULL), for p->shares. */
int hrun_shares_options(struct hrun_formulas *p, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err);

/* With equal shares in whole units: the most that a process has, over a P-th. */
double hrun_shares_uneven(const struct hrun_formulas *p, int P);

/* A row of struct hrun_predictor_kind; config counts only with network terms or dealt shares. */
int hrun_formulas_options(struct hrun_predictor *base, int P, const struct hrun_config *config, const double *share,
                          double *t, struct hrun_error *err);

/* The value of distinct term j, network terms in the configuration. Errors: those of hrun_formulas_term,
 * hrun_term_network_call and hrun_netview_time, naming term, N and P. */
int hrun_formulas_value(struct hrun_formulas *p, int j, int P, const struct hrun_config *config, double *value,
                         struct hrun_error *err);

/* The intervals: rows of struct hrun_predictor_kind. */
int hrun_formulas_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config, int P,
                          struct hrun_interval *time, struct hrun_error *err);
int hrun_formulas_measured(const struct hrun_predictor *base, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* The oracle's functions (ctx: the predictor). */
int hrun_formulas_times(void *ctx, int P, double *t, struct hrun_error *err);
int hrun_formulas_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err);
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

#endif
