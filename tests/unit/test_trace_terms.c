/* test_trace_terms.c - shapes of quantities over N and P, and the terms that made-up runs propose */
#include "tap.h"

#include "expr/expr.h"
#include "trace/trace.h"

#include <stdlib.h>

static const double sizes[] = { 400, 800, 1600, 3200 }, procs[] = { 2, 3, 4, 6, 8 };
enum { NS = 4, PS = 5, POINTS = NS * PS };

/* A number in -1..1 that depends on i only. */
static double noise(int i)
{
    return (double)((unsigned)(i + 1) * 2654435761u % 2001) / 1000 - 1;
}

/* Each form of the library comes out of its own values, also with 1 % noise, and reads as an expression. */
static void test_forms(void)
{
    static const struct { double a, b; enum hrun_form_factor g; const char *text; } cases[] = {
        { 0, 0, HRUN_FORM_ONE, "1" }, { 1, 0, HRUN_FORM_ONE, "N" }, { 3, -1, HRUN_FORM_ONE, "N^3/P" },
        { 2, -0.5, HRUN_FORM_ONE, "N^2/sqrt(P)" }, { 0, 0, HRUN_FORM_LOG, "log(P)" },
        { 1, 0, HRUN_FORM_LOG, "N*log(P)" }, { 0, 0, HRUN_FORM_OTHERS, "(P-1)" },
        { 2, -1, HRUN_FORM_OTHERS, "N^2*(P-1)/P" },
        { 0.5, 1, HRUN_FORM_ONE, "sqrt(N)*P" }, { 1.5, -2, HRUN_FORM_ONE, "N^1.5/P^2" },
    };
    static const char *const vars[] = { "N", "P" };
    double N[POINTS], P[POINTS], q[POINTS];
    struct hrun_form f;
    struct hrun_error err;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int noisy = 0; noisy < 2; noisy++) {
            struct hrun_buf b = HRUN_BUF_INIT;

            for (int i = 0; i < POINTS; i++) {
                N[i] = sizes[i % NS];
                P[i] = procs[i / NS];
                q[i] = 7e-4 * pow(N[i], cases[c].a) * pow(P[i], cases[c].b) *
                       (cases[c].g == HRUN_FORM_LOG ? log(P[i]) : cases[c].g == HRUN_FORM_OTHERS ? P[i] - 1 : 1) *
                       (1 + 0.01 * noisy * noise(i));
            }
            ok(!hrun_form_choose(N, P, q, POINTS, 0, &f, &err), "a form is found");
            hrun_form_print(&f, &b);
            is_str(b.data, cases[c].text, "it is %s%s", cases[c].text, noisy ? " under noise" : "");
            ok(f.spread <= 0.011, "and fits (spread %g)", f.spread);
            if (!noisy) {
                struct hrun_expr *e = hrun_expr_compile(b.data, vars, 2, NULL, 0, &err);
                double at[] = { N[7], P[7] }, first[] = { N[0], P[0] }, v = 0, v0 = 1;

                ok(e && !hrun_expr_eval(e, at, &v, &err) && !hrun_expr_eval(e, first, &v0, &err), "its text is an "
                   "expression");
                is_num(v / v0, q[7] / q[0], 1e-9, "of the same shape");
                hrun_expr_destroy(e);
            }
            hrun_buf_release(&b);
        }
    ok(hrun_form_choose(N, P, q, 1, 0, &f, &err) && err.code == HRUN_ENODATA, "one point tells nothing");
    for (int i = 0; i < POINTS; i++)
        P[i] = 4;
    ok(!hrun_form_choose(N, P, q, POINTS, 0, &f, &err) && f.b == 0 && f.g == HRUN_FORM_ONE,
       "what did not vary has no power");
}

/* An LU-like code (panels are broadcast) and one with a halo and a reduction. */
static void test_propose(void)
{
    struct hrun_trace_call lu[POINTS][3], halo[POINTS][3];
    struct hrun_trace_sub seen[POINTS];
    struct hrun_trace_point points[POINTS];
    struct hrun_trace_terms t;
    struct hrun_error err;

    memset(seen, 0, sizeof seen);
    for (int i = 0; i < POINTS; i++) {
        double N = sizes[i % NS], P = procs[i / NS];

        lu[i][0] = (struct hrun_trace_call){ .name = "Ibcast", .count_max = N / 32, .bytes_max = 8 * N * N,
                                             .time_s = 0.2 };
        lu[i][1] = (struct hrun_trace_call){ .name = "Wait", .count_max = N / 32, .time_s = 0.1 };
        halo[i][0] = (struct hrun_trace_call){ .name = "Isend", .count_max = 200, .bytes_max = 200 * 8 * N / sqrt(P),
                                               .time_s = 0.1 };
        halo[i][1] = (struct hrun_trace_call){ .name = "Allreduce", .count_max = 100, .bytes_max = 800, .time_s = 0.3 };
        seen[i] = (struct hrun_trace_sub){ .nranks = 1, .elapsed_s = 1, .compute_s = 1e-9 * N * N * N / P,
                                           .compute_mean_s = 0.5, .calls = lu[i], .ncalls = 2 };
        points[i] = (struct hrun_trace_point){ .N = N, .P = P, .M = 1, .seen = &seen[i] };
    }
    if (!ok(!hrun_trace_propose(points, POINTS, &t, &err), "terms of an LU-like code are proposed (%s)", err.text))
        return;
    is_int(t.n, 2, "from computing and Ibcast; Wait moves nothing");
    is_str(t.v[0].name, "", "computing is first");
    is_num(t.v[1].share, 0.2, 1e-12, "with the part of the time");
    is_int(t.np.n, 5, "five terms");
    is_str(t.np.v[0], "N^3/P", "computing");
    is_str(t.np.v[1], "N*log(P)", "messages of a tree");
    is_str(t.np.v[2], "N^2", "bytes");
    is_str(t.np.v[3], "N^2*log(P)", "bytes along the tree");
    is_str(t.np.v[4], "1", "and what is always there");
    is_int(t.only_n.n, 4, "with P fixed: N^3, N, N^2, 1");
    ok(t.varied_n && t.varied_p, "N and P varied");
    hrun_trace_terms_release(&t);

    for (int i = 0; i < POINTS; i++)
        seen[i].calls = halo[i];
    ok(!hrun_trace_propose(points, POINTS, &t, &err), "terms of a halo code");
    is_str(t.v[1].name, "Allreduce", "what takes longest comes first");
    is_str(t.v[1].terms.v[0], "log(P)", "a reduction of one number");
    is_str(t.v[2].terms.v[0], "1", "as many messages as there are neighbours");
    is_str(t.v[2].terms.v[1], "N/sqrt(P)", "sides of a block");
    hrun_trace_terms_release(&t);

    for (int i = 0; i < POINTS; i++)
        points[i].P = 1;
    ok(hrun_trace_propose(points, POINTS, &t, &err) && err.code == HRUN_ENODATA, "runs of one process tell nothing");
}

int main(void)
{
    test_forms();
    test_propose();
    return tap_done();
}
