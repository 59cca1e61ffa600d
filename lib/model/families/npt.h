/* npt.h - the family npt: predictions by formulas in N and P (N-T, P-T, NP-T); private to lib/model/families
 *
 * Invariants:
 *   - a *formula* option has a record of the predictor's family that is a function of P (npt, pt) and valid for P > m.
 *     Its prediction is the sum of coef[j * noptions + o] times the value of term j, in order of j;
 *   - a *point* is a prediction for one P: `single` for P = m, `nt` for its P; points are ordered by P, then option,
 *     and each (P, option) occurs once;
 *   - times and bounds contain the least time of a network term's operation; the time of the whole contains its time in
 *     the configuration;
 *   - terms are distinct: options share their values, so each term is evaluated once for a P.
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
    int *checked;                          /* of each term: up to this P it has a value at each P that the rule
                                              accepts */
    int *has_negative;                     /* of each term: 1 if some coefficient is < 0 */
    int nterms, cap;
    double *coef;                          /* nterms by noptions */
    double *value;                         /* nterms: scratch */
    struct hrun_ppoint *points;
    int npoints;
    int *is_network;                       /* of each term: 1 for a network term. Its value is then the factor of the
                                              operation's time, and 0 if no configuration is given */
    int *has_network;                      /* of each option: 1 if it uses a network term */
    int *is_shared;                        /* of each term: 1 if it is proportional to the share of a process */
    struct hrun_shares *shares;            /* NULL: the definition has none, or work cannot be divided in shares */
};

/* Unequal shares (npt_shares.c): the time of a process is linear in its share. */
struct hrun_shares {
    struct hrun_pterm *whole;              /* nterms: shared terms with all work on one process */
    double *fixed, *shared;                /* noptions: time that is independent of the share; time of a share of 1/P */
};

/* Make p->shares and the dealer of p->base, or nothing if no term has W. The terms of p must be set. Errors: those of a
 * term and of hrun_app_units. hrun_shares_destroy frees p->shares only. */
int hrun_shares_create(struct hrun_formulas *p, struct hrun_error *err);
void hrun_shares_destroy(struct hrun_formulas *p);

/* Functions of struct hrun_predictor_kind. */
void hrun_shares_deal(struct hrun_predictor *base, enum hrun_sharing how);
int hrun_shares_lines(struct hrun_predictor *base, int P, const struct hrun_config *config, struct hrun_line *v,
                      struct hrun_error *err);

/* hrun_predictor_options with share[] (not NULL), for p->shares. */
int hrun_shares_options(struct hrun_formulas *p, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err);

/* Equal shares in whole units: the largest share of a process, divided by 1/P. */
double hrun_shares_uneven(const struct hrun_formulas *p, int P);

/* hrun_predictor_kind.options. config is used only with network terms or unequal shares. */
int hrun_formulas_options(struct hrun_predictor *base, int P, const struct hrun_config *config, const double *share,
                          double *t, struct hrun_error *err);

/* The value of distinct term j, with the time of a network operation in config. Errors: those of hrun_formulas_term,
 * hrun_term_network_call and hrun_netview_time, naming term, N and P. */
int hrun_formulas_value(struct hrun_formulas *p, int j, int P, const struct hrun_config *config, double *value,
                         struct hrun_error *err);

/* Functions of struct hrun_predictor_kind, for intervals. */
int hrun_formulas_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config, int P,
                          struct hrun_interval *time, struct hrun_error *err);
int hrun_formulas_measured(const struct hrun_predictor *base, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* The oracle's functions (ctx: the predictor). */
int hrun_formulas_times(void *ctx, int P, double *t, struct hrun_error *err);
int hrun_formulas_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err);
int hrun_formulas_part(void *ctx, const struct hrun_config *config, int known, int P, double *time_s,
                       struct hrun_error *err);

/* Add the least times of network terms to t[noptions], times at P. */
int hrun_formulas_add_network(struct hrun_formulas *p, int P, double *t, struct hrun_error *err);

/* The value of distinct term j at P. Errors: HRUN_ENONFINITE naming term, N and P. */
int hrun_formulas_term(struct hrun_formulas *p, int j, int P, double *value, struct hrun_error *err);

/* The index of the first point with at least this P; npoints if there is none. */
int hrun_formulas_point(const struct hrun_formulas *p, int P);

/* Set *value to the prediction of an N-T record at N. x[nterms] (may be NULL) receives the values of the terms; 0 for
 * terms with coefficient 0, which are not evaluated. */
int hrun_formulas_nt_value(const struct hrun_app *app, const struct hrun_fit_record *r, double N, double *x,
                            double *value, struct hrun_error *err);

/* hrun_family.fit. */
int hrun_formulas_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

#endif
