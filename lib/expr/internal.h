/* internal.h - compiled code, which the parser makes and the evaluation runs (internal to lib/expr) */
#ifndef HRUN_EXPR_INTERNAL_H
#define HRUN_EXPR_INTERNAL_H

#include "expr/expr.h"

/* A function of the language. Outside of its domain it raises a floating point exception flag. */
struct hrun_function {
    const char *name;
    double (*one)(double);               /* of one argument, or */
    double (*many)(const double *, int); /* of one or more */
};

extern const struct hrun_function hrun_functions[];
extern const int hrun_functions_n;

/* Code for a stack of numbers. A jump's target is the index of an operation. */
enum opcode {
    OP_NUMBER,       /* push number */
    OP_VALUE,        /* push values[arg]: variables, then constants */
    OP_CALLED,       /* push called[arg] */
    OP_ONE, OP_MANY, /* apply function arg to the top number, or to the `count` topmost */
    OP_NEGATE, OP_NOT, OP_TRUTH, OP_SQUARE, OP_CUBE,
    OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_REMAINDER, OP_POWER,
    OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_EQUAL, OP_NOT_EQUAL,
    OP_JUMP, OP_JUMP_IF_0    /* the latter pops */
};

struct op {
    short code;
    short count;
    int arg;
    double number;
};

/* A call of a function of the caller. */
struct expr_call {
    int function;               /* index into the caller's functions */
    int column;                 /* of its name, from 1 */
    struct hrun_expr *argument; /* NULL of a function without one */
};

struct hrun_expr {
    char *text;
    struct op *ops;
    int nops, depth;            /* depth: largest number of numbers on the stack */
    double *stack;
    double *values;             /* variables, constants */
    char **names;               /* in the same order */
    unsigned char *used;        /* per variable */
    int nvars, nconsts;
    struct hrun_expr **derived; /* per constant: its expression if it is one and is used, else NULL */
    int nderived;               /* number of those that are not NULL */
    struct expr_call calls[HRUN_EXPR_CALLS_MAX];
    int ncalls;
    int is_scaled_call;
};

/* Compile e->text into e, whose arrays are large enough. inside: the caller's function whose argument this is, or NULL.
 * Result: 0, or -1 with *err (HRUN_EPARSE). */
int hrun_expr_parse(struct hrun_expr *e, const struct hrun_expr_scope *scope, const char *inside,
                    struct hrun_error *err);

/* hrun_expr_compile_in for the argument of a function. */
struct hrun_expr *hrun_expr_create(const char *text, const struct hrun_expr_scope *scope, const char *inside,
                                   struct hrun_error *err);

/* The value of code ops[n]. called: values of the calls, NULL: 1; stack: room for the depth of the code. */
double hrun_expr_run(const struct op *ops, int n, const double *values, const double *called, double *stack);

/* Clear the floating point flags. Result: a text such as "divides by zero" for the flags that were set, or NULL. */
const char *hrun_expr_flags(void);

#endif
