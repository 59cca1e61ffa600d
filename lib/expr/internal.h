/* internal.h - compiled code: made by the parser, run by the evaluation; private to lib/expr */
#ifndef HRUN_EXPR_INTERNAL_H
#define HRUN_EXPR_INTERNAL_H

#include "expr/expr.h"

/* A function of the language. Outside its domain the function raises a floating point exception flag. */
struct hrun_function {
    const char *name;
    double (*one)(double);               /* with exactly one argument, else NULL */
    double (*many)(const double *, int); /* with one or more arguments, else NULL */
};

extern const struct hrun_function hrun_functions[];
extern const int hrun_functions_n;

/* Operations on a stack of numbers. The target of a jump is the index of an operation. */
enum opcode {
    OP_NUMBER,       /* push number */
    OP_VALUE,        /* push values[arg]: variables, then constants */
    OP_CALLED,       /* push called[arg] */
    OP_ONE, OP_MANY, /* apply function arg to the top number, or to the `count` topmost */
    OP_NEGATE, OP_NOT, OP_TRUTH, OP_SQUARE, OP_CUBE,
    OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_REMAINDER, OP_POWER,
    OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_EQUAL, OP_NOT_EQUAL,
    OP_JUMP, OP_JUMP_IF_0    /* OP_JUMP_IF_0 pops the number that it tests */
};

struct op {
    short code;
    short count;
    int arg;
    double number;
};

/* A call of one of the caller's functions. */
struct expr_call {
    int function;               /* index into the caller's functions */
    int column;                 /* of its name, from 1 */
    struct hrun_expr *argument; /* NULL if the function has none */
};

struct hrun_expr {
    char *text;
    struct op *ops;
    int nops, depth;            /* depth: largest length of the stack */
    double *stack;
    double *values;             /* variables, constants */
    char **names;               /* in the order of values */
    unsigned char *used;        /* per variable */
    int nvars, nconsts;
    struct hrun_expr **derived; /* per constant: its compiled expression if there is one and text uses it; or NULL */
    int nderived;               /* number of entries of derived that are not NULL */
    struct expr_call calls[HRUN_EXPR_CALLS_MAX];
    int ncalls;
    int is_scaled_call;
};

/* Compile e->text into e, whose arrays must be large enough. inside: the caller's function that has this text as its
 * argument, or NULL. Result: 0, or -1 with *err (HRUN_EPARSE). */
int hrun_expr_parse(struct hrun_expr *e, const struct hrun_expr_scope *scope, const char *inside,
                    struct hrun_error *err);

/* hrun_expr_compile_in for the argument of a function. */
struct hrun_expr *hrun_expr_create(const char *text, const struct hrun_expr_scope *scope, const char *inside,
                                   struct hrun_error *err);

/* The value of code ops[n]. called: values of the calls, NULL: 1 for each; stack: room for the depth of the code. */
double hrun_expr_run(const struct op *ops, int n, const double *values, const double *called, double *stack);

/* Clear the floating point flags. Result: a text such as "divides by zero" for the flags that were set, or NULL. */
const char *hrun_expr_flags(void);

#endif
