/* formula.h - the time of one process, s, as an expression: `where` and `formula` of a definition
 *
 * Purpose: predict the time of an application from the speeds of the PEs and the network, without measurements of the
 * application (paper 003, section 3.3). A formula is a list of steps: the named values of `where`, each of which may
 * use the ones before it, then the formula itself. It is evaluated for each process of a configuration, in order of
 * ranks; the application's time is the largest value (lib/model).
 * Invariants: names are distinct from each other and from variables, constants and functions; the last step is the
 * formula.
 */
#ifndef HRUN_APP_FORMULA_H
#define HRUN_APP_FORMULA_H

#include "base/error.h"
#include "expr/expr.h"

/* The variables of a step; the values of earlier steps follow them. */
enum hrun_formula_variable {
    HRUN_FORMULA_N,
    HRUN_FORMULA_P,
    HRUN_FORMULA_SHARE,         /* part of the work of this process; the sum over all processes is 1 */
    HRUN_FORMULA_PERF,          /* s per floating-point operation (Perf(p) of paper 003, eqs. 2 and 3) */
    HRUN_FORMULA_LATENCY,       /* s of an empty message */
    HRUN_FORMULA_BANDWIDTH,     /* bytes/s of large messages */
    HRUN_FORMULA_ROOT,          /* 1 for rank 0, else 0 */
    HRUN_FORMULA_RANK,
    HRUN_FORMULA_VARIABLES
};

/* The functions of formulas, numbered after those of the network (hrun_app_functions). */
enum hrun_formula_function {
    HRUN_FORMULA_UPTO,          /* upto(r): the sum of the shares of ranks below r; linear between ranks */
    HRUN_FORMULA_EVERY,         /* every(k): the sum of the shares of ranks that equal this one modulo k */
    HRUN_FORMULA_BEFORE,        /* before(x): the sum of x over the ranks below this one */
    HRUN_FORMULA_TOTAL,         /* total(x): the sum of x over all processes */
    HRUN_FORMULA_MOST,          /* most(x): the greatest x of all processes */
    HRUN_FORMULA_FUNCTIONS
};

struct hrun_formula_step {
    const char *name;           /* NULL for the formula */
    struct hrun_expr *expr;
    int varies;                 /* 0: all processes of a configuration have the same value */
};

struct hrun_formula {
    struct hrun_formula_step *steps;
    int n;
    int has_network;            /* 1: a step uses the network */
    int has_rate;               /* 1: a step uses latency or bandwidth */
};

struct hrun_named_expr {        /* entries of `where` and `derived` */
    char *name, *is;
};

struct hrun_formula_source {
    const struct hrun_named_expr *where;
    int n;
    const char *formula;
    const struct hrun_const *consts;
    int nconsts;
};

enum { HRUN_FORMULA_PLACE = 32 };
/* Compile. Errors (NULL): HRUN_EPARSE or HRUN_EINVAL; err->column is in the text whose path is written to place
 * ("where[2].name", "where[2].is" or "formula"). */
struct hrun_formula *hrun_formula_compile(const struct hrun_formula_source *source, char place[HRUN_FORMULA_PLACE],
                                          struct hrun_error *err);
void hrun_formula_destroy(struct hrun_formula *f);

/* Functions of the time of an operation, with the names of lib/net's operations; the argument is bytes. */
extern const struct hrun_expr_function hrun_app_functions[];
extern const int hrun_app_nfunctions;

#endif
