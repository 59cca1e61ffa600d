/* builtins.h - the functions of the language (internal to lib/expr)
 *
 * Invariant: where a function has no value, a flag of the floating point unit says so.
 */
#ifndef HRUN_EXPR_BUILTINS_H
#define HRUN_EXPR_BUILTINS_H

struct hrun_builtin {
    const char *name;
    double (*one)(double);               /* of one argument, or */
    double (*many)(const double *, int); /* of several */
};

extern const struct hrun_builtin hrun_builtins[];
extern const int hrun_builtins_n;

/* a % b, and !x. */
double hrun_builtin_remainder(double a, double b);
double hrun_builtin_not(double x);

#endif
