/* basis.h - the library of terms from which discover.c selects; for lib/model alone */
#ifndef HRUN_MODEL_BASIS_H
#define HRUN_MODEL_BASIS_H

#include "base/buf.h"

#include <stddef.h>

/* Products of a power and a logarithm of N with a power and a logarithm of P. Powers of both signs stand for work that
 * is divided (1/P) or for messages, more or larger ones (ln(P), P). Order: by how P enters, the likeliest first, and
 * in it by falling powers of N: where two terms explain the same, the earlier one is meant. */

/* N^a ln(N)^l P^b ln(P)^m. Powers are in sixths, so that halves and thirds are exact. */
struct hrun_basis {
    signed char a6, l, b6, m;
};

/* All of them, and how many. */
const struct hrun_basis *hrun_library(size_t *n);

/* Is it in proportion to 1/P: work shared out among the processes? */
int hrun_basis_divided(const struct hrun_basis *t);
/* Does it not depend on P at all? */
int hrun_basis_constant(const struct hrun_basis *t);

/* Its value at N, P >= 1. */
double hrun_basis_value(const struct hrun_basis *t, double N, double P);

/* Append it as an expression of lib/expr: "N^2*ln(N)/P", "sqrt(N)", "1". */
void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out);

#endif
