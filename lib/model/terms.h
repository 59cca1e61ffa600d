/* terms.h - terms of models as functions of N, P and T; for lib/model alone
 */
#ifndef HRUN_MODEL_TERMS_H
#define HRUN_MODEL_TERMS_H

#include "model/netview.h"

/* Which variables a term has, in the order in which lib/app compiles them. */
enum hrun_term_kind {
    HRUN_TERM_N,     /* N */
    HRUN_TERM_NP,    /* N, P, and W = 1/P if the definition has shares */
    HRUN_TERM_TPN,   /* T, P, N */
    HRUN_TERM_WHOLE  /* an NP-T term with W = 1, one process that has all work; only to evaluate compiled terms */
};

/* Evaluate a compiled term. P and T are ignored if the kind does not have them. For a network term *out is the
 * factor. */
int hrun_term_eval(struct hrun_expr *e, enum hrun_term_kind kind, double N, double P, double T, double *out,
                   struct hrun_error *err);

/* Set *factor and *out to factor and operation of a network term among P processes. The term's value is the factor
 * times the operation's time. Errors: HRUN_ENONFINITE, HRUN_EINVAL (a factor or bytes below 0). */
int hrun_term_network_call(struct hrun_expr *e, double N, double P, double *factor, struct hrun_net_call *out,
                           struct hrun_error *err);

/* The compiled term of the definition with this text, or one compiled afresh; then *owned = 1 and the caller
 * destroys it. Errors: those of hrun_expr_compile, naming the text. */
struct hrun_expr *hrun_term_find(const struct hrun_app *app, enum hrun_term_kind kind, const char *text,
                                 int *owned, struct hrun_error *err);

/* 1 if an NP-T term is divided work: it falls nearly in proportion to 1/P; else 0. */
int hrun_term_is_divided(struct hrun_expr *e);

enum { HRUN_RANGE_LEVELS = 2 };

struct hrun_pterm {
    struct hrun_expr *expr;
    int owned;
    enum hrun_term_kind kind;
    double N, T;
    enum { HRUN_SHAPE_CONST, HRUN_SHAPE_POWER, HRUN_SHAPE_TABLE } shape;
    double value;            /* CONST */
    double peak;             /* POWER: P of the inner extremum, 0: none */
    int tabulated;           /* TABLE: length of the table, P = 0..tabulated-1; a multiple of the largest block */
    double *table;           /* NaN: no value of the term */
    double *min[HRUN_RANGE_LEVELS],
        *max[HRUN_RANGE_LEVELS]; /* over blocks of 64 and 64^2; min > max: no value */
};

/* Find the shape of a term. The caller has set expr, owned, kind, N and T; the rest is zero. Errors: HRUN_ENONFINITE if
 * a term without P has no value at N. */
int hrun_pterm_init(struct hrun_pterm *t, struct hrun_error *err);
void hrun_pterm_release(struct hrun_pterm *t);

/* Errors: HRUN_ENONFINITE naming term and values. */
int hrun_pterm_value(struct hrun_pterm *t, int P, double *out, struct hrun_error *err);

/* Set *P to the first P of lo..hi (1 <= lo <= hi) without a value of the term; 0: there is none. Only tabulated terms
 * are searched; terms of other shapes always have a value. */
int hrun_pterm_missing(struct hrun_pterm *t, int lo, int hi, int *P, struct hrun_error *err);

/* *min <= every value over lo..hi <= *max (1 <= lo <= hi), as tight as rounding allows. P without a value do not count;
 * if there are no others, *min is +infinity and *max -infinity. */
int hrun_pterm_range(struct hrun_pterm *t, int lo, int hi, double *min, double *max, struct hrun_error *err);

#endif
