/* basis.h - the library of terms from which discover.c selects; for lib/model alone */
#ifndef HRUN_MODEL_BASIS_H
#define HRUN_MODEL_BASIS_H

#include "base/buf.h"

#include <stddef.h>

/* Products of a power and a logarithm of N with a power and a logarithm of P. Negative powers of P stand for divided
 * work (1/P), ln(P) and positive powers for more or larger messages. Terms are in order of their dependence on P, the
 * likeliest first, then of falling powers of N: of two terms that fit equally well, the earlier is chosen. */

/* N^a ln(N)^l P^b ln(P)^m. Powers are in sixths, so that halves and thirds are exact. */
struct hrun_basis {
    signed char a6, l, b6, m;
};

/* Returns all terms; *n: their number. */
const struct hrun_basis *hrun_library(size_t *n);

/* 1 if the term is proportional to 1/P (divided work), else 0. */
int hrun_basis_divided(const struct hrun_basis *t);
/* 1 if the term does not depend on P, else 0. */
int hrun_basis_constant(const struct hrun_basis *t);

/* Value of the term at N, P >= 1. */
double hrun_basis_value(const struct hrun_basis *t, double N, double P);

/* Append the term as an expression of lib/expr: "N^2*ln(N)/P", "sqrt(N)", "1". */
void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out);

#endif
