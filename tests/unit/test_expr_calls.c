/* test_expr_calls.c - expressions that call functions of the caller: values, and places of mistakes */
#include "tap.h"

#include "expr/expr.h"

#include <math.h>

static const char *const NP[] = { "N", "P" };
static const struct hrun_expr_function FUNCTIONS[] = {
    { "p2p", 1 }, { "ring", 1 }, { "alltoall", 1 }, { "barrier", 0 }
};

static struct hrun_expr *compile(const char *text, struct hrun_error *err)
{
    char name[] = "nb";
    struct hrun_const nb = { name, 4, NULL };

    return hrun_expr_compile_in(&(struct hrun_expr_scope){ NP, 2, &nb, 1, FUNCTIONS, 4 }, text, err);
}

/* The value with calls of (index + 2) times the argument, barrier of 100, beside what plain C makes of it. */
static void gives(const char *text, double N, double P, int ncalls, double want)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_expr *e = compile(text, &err);
    double v[2] = { N, P }, called[HRUN_EXPR_CALLS_MAX], y = NAN, a;

    if (!e) {
        ok(0, "%s: %s", text, err.text);
        return;
    }
    is_int(hrun_expr_calls(e), ncalls, "%s: calls", text);
    for (int c = 0; c < hrun_expr_calls(e); c++) {
        int f = hrun_expr_call_function(e, c);

        called[c] = hrun_expr_eval_argument(e, c, v, &a, &err) ? NAN : f == 3 ? 100 + a : (f + 2) * a;
    }
    ok(!hrun_expr_eval_called(e, v, called, &y, &err) && y == want, "%s at N=%g P=%g: %.17g, want %.17g", text, N, P, y,
       want);
    is_str(hrun_expr_text(e), text, "%s: its text", text);
    hrun_expr_destroy(e);
}

static void test_values(void)
{
    struct hrun_error err;
    struct hrun_expr *e;
    double v[2] = { 10, 2 }, y = 0;

    gives("alltoall(16*N/P^2)", 100, 10, 1, 4 * 16.0);
    gives("3*p2p(8) + N*ring( nb*max(N, P) )/P", 6, 3, 2, 3 * 16 + 6.0 * (3 * 24) / 3);
    gives("barrier()*N", 7, 3, 1, 700);
    gives("barrier ( ) + p2p (N)", 7, 3, 2, 114);
    gives("P > 1 && ring(N) > 2 ? p2p(1) : 5", 7, 3, 2, 2);
    gives("P > 1 && !ring(N) ? p2p(1) : 5", 7, 3, 2, 5);
    gives("2^p2p(1)^2", 7, 3, 1, 16);
    gives("N*(P + 1)", 7, 3, 0, 28);
    gives("ring(1)+ring(2)+ring(3)+ring(4)+ring(5)+ring(6)+ring(7)+ring(8)+ring(9)+ring(10)+ring(11)+ring(12)", 1, 1,
          12, 3 * 78);
    e = compile("N*ring(P)/2", &err);
    ok(e && !hrun_expr_eval(e, v, &y, &err) && y == 5, "without values calls are 1");
    ok(e && hrun_expr_uses(e, 1) && hrun_expr_uses(e, 0), "variables of arguments are used");
    is_int(e ? hrun_expr_call_column(e, 0) : 0, 3, "where the call stands");
    hrun_expr_destroy(e);
    e = compile("ring(P)", &err);
    ok(e && !hrun_expr_uses(e, 0), "others are not");
    hrun_expr_destroy(e);
}

static void test_scaled(void)
{
    static const struct { const char *text; int is; } v[] = {
        { "ring(8)", 1 }, { " ring(N) ", 1 }, { "3*ring(8)", 1 }, { "ring(8)*3", 1 }, { "N^2/P * ring(8) / (P+1)", 1 },
        { "1e-3*ring(8)", 1 }, { "N % P * ring(8)", 1 }, { "(P - 1)*ring(8)", 1 }, { "sqrt(N - 1)*barrier()", 1 },
        { "N", 0 }, { "ring(8) + 1", 0 }, { "1 - ring(8)", 0 }, { "-ring(8)", 0 }, { "1/ring(8)", 0 },
        { "ring(8)^2", 0 }, { "2^ring(8)", 0 }, { "(ring(8))", 1 }, { "N*(ring(8)/P)", 1 }, { "-N*ring(8)", 0 },
        { "ring(8)*-N", 0 }, { "+N*ring(8)", 1 }, { "sqrt(ring(8))", 0 }, { "ring(8) % 2", 0 },
        { "ring(8)*N % 2", 0 }, { "ring(8)*p2p(8)", 0 }, { "P > 1 ? ring(8) : 0", 0 }, { "N*ring(8) > 1", 0 },
        { "N && ring(8)", 0 }, { "N/ring(8)", 0 }, { "N*ring(8)^P", 0 }, { "!ring(8)", 0 },
    };

    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct hrun_error err = { .code = HRUN_OK };
        struct hrun_expr *e = compile(v[i].text, &err);

        ok(e && hrun_expr_is_scaled_call(e) == v[i].is, "'%s' is %sa call times and over other things %s", v[i].text,
           v[i].is ? "" : "not ", err.text);
        hrun_expr_destroy(e);
    }
}

static void refused(const char *text, int column, const char *message)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_expr *e = compile(text, &err);

    ok(!e && err.code == HRUN_EPARSE, "'%s' is refused", text);
    is_int(err.column, column, "'%s': column", text);
    is_str(err.text, message, "'%s': message", text);
    hrun_expr_destroy(e);
}

static void test_messages(void)
{
    refused("N*ring()", 3, "too few arguments for 'ring'");
    refused("N*ring( )", 3, "too few arguments for 'ring'");
    refused("ring(N, P)", 1, "too many arguments for 'ring'");
    refused("barrier(8)", 1, "too many arguments for 'barrier': write barrier()");
    refused("ring(8*p2p(N))", 8, "'p2p' cannot stand in the argument of 'ring'");
    refused("ring(max(1,barrier()))", 12, "'barrier' cannot stand in the argument of 'ring'");
    refused("ring(N + Q)", 10, "unknown variable 'Q' (known: N, P, nb)");
    refused("2*ring(N +)", 11, "the expression ends where a value is expected");
    refused("ring(N) + Q", 11, "unknown variable 'Q' (known: N, P, nb)");
    refused("ring(N) p2p(8)", 9, "an operator is missing before 'p2p'");
    refused("N*ring", 3, "function 'ring' needs its arguments in parentheses");
    refused("N*rings(8)", 3, "unknown function 'rings', did you mean 'ring'? (known: min, max, abs, sqrt, cbrt, exp, "
            "floor, ceil, round, ln, log, log2, log10, ispow2, squarest, p2p, ring, alltoall, barrier)");
    refused("__c0*ring(8)", 1, "unknown variable '__c0' (known: N, P, nb)");
    refused("ring(__c0)", 6, "unknown variable '__c0' (known: N, P, nb)");
    refused("ring(8", 5, "'(' without a ')' after it");
    refused("ring(1/0)", 7, "'1/0' divides by zero, whatever the variables are");
    refused("ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)+ring(1)"
            "+ring(1)+ring(1)+ring(1)+ring(1)", 129, "more than 16 calls of functions such as ring");
}

/* A constant may have the name of a function: the parenthesis tells them apart. */
static void test_constant(void)
{
    char name[] = "ring";
    struct hrun_const c = { name, 3, NULL };
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_expr *e = hrun_expr_compile_in(&(struct hrun_expr_scope){ NP, 2, &c, 1, FUNCTIONS, 4 }, "N*ring + ring(P)", &err);
    double v[2] = { 7, 2 }, called = 100, y = 0;

    ok(e && !hrun_expr_eval_called(e, v, &called, &y, &err) && y == 121, "a constant beside a function: %s", err.text);
    hrun_expr_destroy(e);
}

static void test_no_value(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_expr *e = compile("N*ring(8/(P-4))", &err);
    double v[2] = { 100, 4 }, y = 5;

    is_int(hrun_expr_eval_argument(e, 0, v, &y, &err), -1, "an argument without a value");
    is_str(err.text, "'8/(P-4)' divides by zero at P=4", "says so");
    ok(y == 5, "the output is untouched");
    hrun_expr_destroy(e);
}

int main(void)
{
    test_values();
    test_scaled();
    test_messages();
    test_constant();
    test_no_value();
    return tap_done();
}
