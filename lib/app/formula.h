/* formula.h - the seconds of one process as an expression: `where` and `formula` of a definition
 *
 * Purpose: an application whose computation and messages are known needs no measurements of its own: the speeds of the
 * PEs and the network give its time (paper 003, section 3.3). A formula is a list of steps: the named values of
 * `where`, each of which may use those before it, and the formula itself. It is evaluated for each process of a
 * configuration, in order of ranks; the application takes as long as the longest (lib/model).
 * Invariants: names are distinct, and no variables, constants or functions; the last step is the formula.
 */
#ifndef HRUN_APP_FORMULA_H
#define HRUN_APP_FORMULA_H

#include "base/error.h"
#include "expr/expr.h"

/* The variables of each step; behind them stand the steps before it. */
enum hrun_formula_variable {
    HRUN_FORMULA_N,
    HRUN_FORMULA_P,
    HRUN_FORMULA_SHARE,         /* the part of the work of this process; their sum is 1 */
    HRUN_FORMULA_PERF,          /* s per floating-point operation (Perf(p) of paper 003, eqs. 2 and 3) */
    HRUN_FORMULA_LATENCY,       /* s of an empty message */
    HRUN_FORMULA_BANDWIDTH,     /* bytes/s of large ones */
    HRUN_FORMULA_ROOT,          /* 1 for rank 0, else 0 */
    HRUN_FORMULA_RANK,
    HRUN_FORMULA_VARIABLES
};

/* The functions. Those of the network (hrun_app_functions) have their numbers there, behind them stand these. */
enum hrun_formula_function {
    HRUN_FORMULA_UPTO,          /* upto(r): the sum of the shares of ranks below r; between ranks it is linear */
    HRUN_FORMULA_EVERY,         /* every(k): of all ranks that leave this one's remainder when divided by k */
    HRUN_FORMULA_BEFORE,        /* before(x): the sum of x over the ranks below this one */
    HRUN_FORMULA_TOTAL,         /* total(x): the sum of x over all processes */
    HRUN_FORMULA_MOST,          /* most(x): the greatest x of all processes */
    HRUN_FORMULA_FUNCTIONS
};

struct hrun_formula_step {
    const char *name;           /* NULL of the formula */
    struct hrun_expr *expr;
    int varies;                 /* 0: it has one value for all processes of a configuration */
};

struct hrun_formula {
    struct hrun_formula_step *steps;
    int n;
    int has_network;            /* 1: some step asks for the network */
    int has_rate;               /* 1: for latency or bandwidth */
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
/* Compile. Errors (NULL): HRUN_EPARSE or HRUN_EINVAL with err->column in the text at *place: "where[2].name",
 * "where[2].is" or "formula". */
struct hrun_formula *hrun_formula_compile(const struct hrun_formula_source *source, char place[HRUN_FORMULA_PLACE],
                                          struct hrun_error *err);
void hrun_formula_destroy(struct hrun_formula *f);

/* Functions for what the network takes, by the names of lib/net's operations; the argument is bytes. */
extern const struct hrun_expr_function hrun_app_functions[];
extern const int hrun_app_nfunctions;

#endif
