/* fuzz_expr.c - any text as an expression: refused with a column in it, or compiled; then every evaluation gives a
 * finite value or says that there is none. && and || built from it mean what its values say, evaluating the right
 * side only when it matters. */
#include "fuzz.h"

#include "base/buf.h"
#include "expr/expr.h"

#include <math.h>
#include <string.h>

enum { VALUES = 6 };

static const char *const vars[] = { "N", "P" };
static struct hrun_const consts[] = { { "nb", 128, NULL } };

const char *const fuzz_seeds[] = {
    "N % (P*P) == 0 && ispow2(P)", "P > 1 && N % (P-1) == 0", "P == 1 || N/(P-1) > 2", "N^3/P", "8*N^2/P + nb",
    "!N == 0", "-2^2^0.5", "N > 100 ? log(N/P) : sqrt(P)", "min(N,P,3) + max(abs(-N), cbrt(P))", "log2(P)*log10(N)",
    "floor(N/3)*ceil(P/2)-round(1e-3*N)", "1/0", "ln(0)", "exp(N)", "((N))", "N%P!=0||P<=1&&!(N>=2)",
    "P >= 1 ? N ? 1 : 2 : 3", "1.5e3*.5", NULL
};

/* The state of a generator from the input: the same input always sees the same values. */
static uint64_t hash(const uint8_t *data, size_t size)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * UINT64_C(1099511628211);
    return h | 1;
}

/* Sizes and processes as they come, large ones, and what a variable should never be. */
static double value(uint64_t *state)
{
    static const double odd[] = { 0, 1, -1, 0.5, 9007199254740992.0, -1e300, 1e-300, 1e308 };

    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    if ((*state >> 60) < 4)
        return odd[*state >> 32 & 7];
    return (double)((*state >> 20) % (*state >> 59 & 1 ? 64 : 100000));
}

/* 0 and *out finite, or -1. */
static int eval(struct hrun_expr *e, const double *v, double *out)
{
    struct hrun_error err = { 0 };
    double y = 4711;

    if (hrun_expr_eval(e, v, &y, &err)) {
        FUZZ_CHECK(y == 4711 && err.code == HRUN_ENONFINITE && err.text[0]);
        return -1;
    }
    FUZZ_CHECK(isfinite(y));
    *out = y;
    return 0;
}

static struct hrun_expr *compile(const char *text)
{
    struct hrun_error err = { 0 };
    struct hrun_expr *e = hrun_expr_compile(text, vars, 2, consts, 1, &err);

    if (!e) {
        FUZZ_CHECK((err.code == HRUN_EPARSE || err.code == HRUN_EINVAL) && err.text[0]);
        FUZZ_CHECK(err.code != HRUN_EPARSE || (err.column >= 1 && (size_t)err.column <= strlen(text) + 1));
    } else {
        FUZZ_CHECK(strcmp(hrun_expr_text(e), text) == 0);
    }
    return e;
}

/* "(A) op (B)" against A and B. B is A for some values and has none or another one elsewhere. */
static void check_logic(const char *text, struct hrun_expr *a, const double *v, char op)
{
    struct hrun_buf both = HRUN_BUF_INIT, other = HRUN_BUF_INIT;
    struct hrun_expr *e, *b;
    double x, y, z;

    hrun_buf_addf(&other, "N %% 2 == 0 ? (%s) : 1/(P-2)", text);
    hrun_buf_addf(&both, "(%s) %c%c (%s)", text, op, op, other.data);
    b = compile(other.data);
    e = b ? compile(both.data) : NULL; /* not when it has become too long or too deep */
    if (e && eval(a, v, &x)) {
        FUZZ_CHECK(eval(e, v, &z));
    } else if (e && (x != 0) == (op == '|')) {
        FUZZ_CHECK(!eval(e, v, &z) && z == (x != 0));
    } else if (e) {
        int none = eval(b, v, &y), failed = eval(e, v, &z);
        FUZZ_CHECK(none == failed);
        FUZZ_CHECK(none || z == (y != 0));
    }
    hrun_expr_destroy(b);
    hrun_expr_destroy(e);
    hrun_buf_release(&both);
    hrun_buf_release(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_expr *e;
    uint64_t state = hash(data, size);

    hrun_buf_add(&text, data, size);
    e = compile(text.data);
    for (int i = 0; e && i < VALUES; i++) {
        double v[2] = { value(&state), value(&state) }, y;

        if (!eval(e, v, &y) && (i & 1)) {
            double again;
            FUZZ_CHECK(!eval(e, v, &again) && again == y);
        }
        if (i < 2)
            check_logic(text.data, e, v, i ? '|' : '&');
    }
    hrun_expr_destroy(e);
    hrun_buf_release(&text);
    return 0;
}
