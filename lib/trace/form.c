/* form.c - the shape of one quantity over N and P; see trace.h */
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double powers_n[] = { 0, 1, 2, 3, 0.5, 1.5 };
static const double powers_p[] = { 0, -1, 1, -2, 2, -0.5, 0.5, -1.5 };

/* A form is about as good as the best one when its spread is larger by no more than this (1 % of the quantity). */
static const double ABOUT = 0.01;

static double factor(enum hrun_form_factor g, double P)
{
    return g == HRUN_FORM_LOG ? log(P) : g == HRUN_FORM_OTHERS ? P - 1 : 1;
}

static double ln_form(const struct hrun_form *f, double N, double P)
{
    return f->a * log(N) + f->b * log(P) + log(factor(f->g, P));
}

static double spread_of(const struct hrun_form *f, const double *N, const double *P, const double *q, int n)
{
    double mean = 0, squares = 0;

    for (int i = 0; i < n; i++)
        mean += (log(q[i]) - ln_form(f, N[i], P[i])) / n;
    for (int i = 0; i < n; i++) {
        double d = log(q[i]) - ln_form(f, N[i], P[i]) - mean;

        squares += d * d;
    }
    return sqrt(squares / n);
}

/* What a reader has to take in: whole powers are simpler than roots, small ones than large ones. */
static double complexity(const struct hrun_form *f)
{
    double roots = (f->a != floor(f->a)) + (f->b != floor(f->b));

    return fabs(f->a) + fabs(f->b) + 2 * roots + (f->g == HRUN_FORM_LOG ? 1.5 : f->g == HRUN_FORM_OTHERS ? 1.25 : 0);
}

static int varies(const double *v, int n)
{
    for (int i = 1; i < n; i++)
        if (v[i] != v[0])
            return 1;
    return 0;
}

int hrun_form_choose(const double *N, const double *P, const double *q, int n, int powers_only, struct hrun_form *out,
                     struct hrun_error *err)
{
    size_t na = varies(N, n) ? sizeof powers_n / sizeof *powers_n : 1;
    size_t nb = varies(P, n) ? sizeof powers_p / sizeof *powers_p : 1;
    int factors = nb > 1 && !powers_only ? HRUN_FORM_OTHERS : HRUN_FORM_ONE;
    struct hrun_form best = { .spread = INFINITY }, chosen = best;

    if (n < 2)
        return hrun_fail(err, HRUN_ENODATA, "one run tells no shape");
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < na; i++)
            for (size_t k = 0; k < nb; k++)
                for (int g = HRUN_FORM_ONE; g <= factors; g++) {
                    struct hrun_form f = { .a = powers_n[i], .b = powers_p[k], .g = (enum hrun_form_factor)g };

                    f.spread = spread_of(&f, N, P, q, n);
                    if (!pass && f.spread < best.spread)
                        best = f;
                    else if (pass && f.spread <= best.spread + ABOUT &&
                             (!isfinite(chosen.spread) || complexity(&f) < complexity(&chosen)))
                        chosen = f;
                }
    *out = chosen;
    return 0;
}

/* "N^2", "sqrt(P)", "P^1.5": a power that is not 0. */
static void print_power(const char *base, double power, struct hrun_buf *out)
{
    if (power == 1)
        hrun_buf_adds(out, base);
    else if (power == 0.5)
        hrun_buf_addf(out, "sqrt(%s)", base);
    else
        hrun_buf_addf(out, "%s^%g", base, power);
}

void hrun_form_print(const struct hrun_form *f, struct hrun_buf *out)
{
    size_t begin = out->len;

    if (f->a > 0)
        print_power("N", f->a, out);
    if (f->b > 0) {
        hrun_buf_adds(out, out->len > begin ? "*" : "");
        print_power("P", f->b, out);
    }
    if (f->g != HRUN_FORM_ONE)
        hrun_buf_addf(out, "%s%s", out->len > begin ? "*" : "", f->g == HRUN_FORM_LOG ? "log(P)" : "(P-1)");
    if (out->len == begin)
        hrun_buf_adds(out, "1");
    if (f->a < 0) {
        hrun_buf_addc(out, '/');
        print_power("N", -f->a, out);
    }
    if (f->b < 0) {
        hrun_buf_addc(out, '/');
        print_power("P", -f->b, out);
    }
}
