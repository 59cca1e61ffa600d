/* basis.c - the library of terms; see basis.h */
#include "model/basis.h"

#include <math.h>

/* Dependence on N: the powers 3, 2, 1, 1/3 and 0 (paper 000, Table V), 1/2 (side of a square of N points), 3/2, and the
 * logarithms of sorting and transforms. */
#define FOR_EACH_N(b, m) \
    { 18, 0, b, m }, { 12, 1, b, m }, { 12, 0, b, m }, { 9, 0, b, m }, \
    { 6, 1, b, m }, { 6, 0, b, m }, { 3, 0, b, m }, { 2, 0, b, m }, { 0, 1, b, m }, { 0, 0, b, m }

/* N or sqrt(N) steps over N^3 points, sqrt(N) steps over N^2 points. */
#define STEPS_OF_N3(b) { 24, 0, b, 0 }, { 21, 0, b, 0 }, { 15, 0, b, 0 }

static const struct hrun_basis library[] = {
    STEPS_OF_N3(-6), FOR_EACH_N(-6, 0),    /* divided work */
    STEPS_OF_N3(0), FOR_EACH_N(0, 0),      /* work of every process */
    FOR_EACH_N(0, 1),      /* trees */
    FOR_EACH_N(-3, 0),     /* sides of squares */
    FOR_EACH_N(6, 0),      /* rows of all processes */
};

const struct hrun_basis *hrun_library(size_t *n)
{
    *n = sizeof library / sizeof library[0];
    return library;
}

int hrun_basis_divided(const struct hrun_basis *t)
{
    return t->b6 == -6 && !t->m;
}

int hrun_basis_constant(const struct hrun_basis *t)
{
    return !t->b6 && !t->m;
}

static double add_power(double x, int sixths, int logs)
{
    return pow(x, sixths / 6.0) * pow(log(x), logs);
}

double hrun_basis_value(const struct hrun_basis *t, double N, double P)
{
    return add_power(N, t->a6, t->l) * add_power(P, t->b6, t->m);
}

/* Append |sixths| as a power of a variable, "" for 0. */
static void print_power(char name, int sixths, struct hrun_buf *out)
{
    int s = sixths < 0 ? -sixths : sixths;

    if (s == 2)
        hrun_buf_addf(out, "cbrt(%c)", name);
    else if (s == 3)
        hrun_buf_addf(out, "sqrt(%c)", name);
    else if (s == 6)
        hrun_buf_addc(out, name);
    else if (s % 6 == 0)
        hrun_buf_addf(out, "%c^%d", name, s / 6);
    else
        hrun_buf_addf(out, s % 3 == 0 ? "%c^(%d/2)" : "%c^(%d/3)", name, s % 3 == 0 ? s / 3 : s / 2);
}

void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out)
{
    const struct { char name; int sixths, log; } v[] = { { 'N', t->a6, 0 }, { 'N', 0, t->l }, { 'P', t->b6, 0 },
                                                         { 'P', 0, t->m } };
    int factors = 0;

    for (int i = 0; i < 4; i++) {
        if (v[i].sixths <= 0 && v[i].log <= 0)
            continue;
        hrun_buf_adds(out, factors++ ? "*" : "");
        if (v[i].log)
            hrun_buf_addf(out, "ln(%c)", v[i].name);
        else
            print_power(v[i].name, v[i].sixths, out);
    }
    if (!factors)
        hrun_buf_addc(out, '1');
    if (t->b6 < 0) {
        hrun_buf_addc(out, '/');
        print_power('P', t->b6, out);
    }
}
