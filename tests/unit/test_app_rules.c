/* Which rule runs leave, for every rule of the library; and definitions that are written and read back. */
#include "app/app.h"
#include "app/draft.h"
#include "app/rules.h"
#include "app/template.h"
#include "base/file.h"
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST = 16, RUNS_MAX = 12 };

/* Ask until nothing is left to ask, the truth being rule `truth`. Result: how many runs. */
static int find(const struct hrun_rules *all, int truth, const int64_t *sizes, int n, struct hrun_rules *left)
{
    int64_t N;
    int P, asked = 0;

    hrun_rules_init(left, 0);
    for (; hrun_rules_ask(left, sizes, n, MOST, &N, &P); asked++)
        hrun_rules_learn(left, N, P, hrun_rules_accept(all, truth, N, P));
    return asked;
}

static void test_each(void)
{
    static const int64_t sizes[][3] = { { 1000, 2000, 4000 }, { 256, 4096, 65536 }, { 360, 900, 2520 } };
    struct hrun_rules all, left;
    int wrong = 0, most = 0;

    hrun_rules_init(&all, 0);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < all.n; i++) {
            int asked = find(&all, i, sizes[s], 3, &left), first = hrun_rules_first(&left);

            most = asked > most ? asked : most;
            for (int k = 0; k < 3; k++)
                for (int P = 1; P <= MOST; P++)
                    wrong += first < 0 || hrun_rules_accept(&left, first, sizes[s][k], P) !=
                                          hrun_rules_accept(&all, i, sizes[s][k], P);
            hrun_rules_release(&left);
        }
    ok(all.n > 20 && wrong == 0, "each of %d rules is found, or one that agrees with it at all sizes", all.n);
    ok(most <= RUNS_MAX, "by %d runs at most", most);
    hrun_rules_release(&all);
}

static void test_forms(void)
{
    struct hrun_rules r;

    hrun_rules_init(&r, 0);
    is_str(hrun_expr_text(r.rule[0]), "P >= 1", "the first rule accepts all");
    hrun_rules_release(&r);
    hrun_rules_init(&r, 1);
    is_str(hrun_expr_text(r.rule[0]), "P <= N", "but more processes than there are units");
    ok(hrun_rules_accept(&r, 0, 4, 4) && !hrun_rules_accept(&r, 0, 4, 5), "of which it accepts none");
    hrun_rules_release(&r);
}

static void test_contradiction(void)
{
    struct hrun_rules r;
    int64_t N, size = 100;
    int P;

    hrun_rules_init(&r, 0);
    hrun_rules_learn(&r, 100, 3, 1);
    is_int(hrun_rules_first(&r), 0, "a run that works at P=3 keeps the first rule");
    hrun_rules_learn(&r, 100, 1, 0);
    hrun_rules_learn(&r, 100, 5, 0);
    is_int(hrun_rules_first(&r), -1, "runs that no rule explains leave none");
    is_int(hrun_rules_ask(&r, &size, 1, MOST, &N, &P), 0, "and nothing to ask");
    hrun_rules_release(&r);
}

/* Write a draft to DIR/NAME.yaml and load it. */
static int reload(const struct hrun_app_draft *d, struct hrun_app **app, struct hrun_error *err)
{
    char *folder = temp_dir();
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = -1;

    if (!hrun_app_draft_print(d, &text, err))
        rc = (*app = load_named(folder, d->name, text.data, err)) ? 0 : -1;
    free(folder);
    hrun_buf_release(&text);
    return rc;
}

static void test_draft(void)
{
    static char *np[] = { "N^3/P", "1", NULL }, *n[] = { "N^3", NULL }, *p[] = { "T/P", NULL };
    static char *words[] = { "-n", "{N}", "--grid={P}x1", "it's", "{other}", "a: #b", "", "{{N}", "{sharesX}",
                             "{{sharesX}", "{shares:4:,}", "{{shares}", NULL };
    static const char *const want[] = { "-n", "500", "--grid=4x1", "it's", "{other}", "a: #b", "", "{N}", "{sharesX}",
                                      "{{sharesX}", "1,1,1,1", "{shares}" };
    struct hrun_strvec terms[] = { { np, 2, 0 }, { n, 1, 0 }, { p, 1, 0 } };
    static const int procs[] = { 1, 3 };
    static const int64_t sizes[] = { 100, 200 };
    struct hrun_app_draft d = { .name = "mycode", .comment = "One\n\nTwo: 'x'", .program = "my code's",
                                .rule = "N % P == 0",
                                .procs_per_pe = procs, .nprocs = 2, .np = &terms[0], .n = &terms[1], .p = &terms[2],
                                .args = words, .time_match = "^it's \"([0-9.]+)\" \\(s\\)$", .sizes = sizes,
                                .nsizes = 2 };
    struct hrun_app *app = NULL;
    struct hrun_error err = { 0 };
    int wrong = 0;

    if (!ok(!reload(&d, &app, &err), "a draft is a definition"))
        printf("# %s\n", err.text);
    if (!app)
        return;
    is_str(hrun_expr_text(app->rule), "N % P == 0", "with its rule");
    is_str(app->programs.names[0], "my code's", "its program");
    is_str(app->time.match, d.time_match, "its time");
    ok(app->np.n == 2 && !strcmp(app->np.v[0].text, "N^3/P") && app->nt.n == 1 && app->pt.n == 1, "its terms");
    ok(app->nprocs_per_pe == 2 && app->procs_per_pe[1] == 3 && app->sizes.n == 2 && app->sizes.v[1] == 200, "its numbers");
    is_int(app->run.nargs, 12, "and its words");
    for (int i = 0; i < app->run.nargs && i < 12; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;

        if (hrun_app_expand(app, app->run.args[i], &(struct hrun_app_values){ 500, 4, NULL }, &b, &err) ||
            strcmp(b.data, want[i])) {
            printf("# '%s' became '%s'\n", words[i], b.data);
            wrong++;
        }
        hrun_buf_release(&b);
    }
    ok(wrong == 0, "which expand as on the command line");
    hrun_app_destroy(app);
    app = NULL;
    d.title = "./a 'b' {N}";
    d.nprocs = 0;
    d.in_command = 1;
    ok(!reload(&d, &app, &err) && app->sizes.in_command && app->suits_pes && app->run.scratch == HRUN_APP_SCRATCH_COPY &&
       !strcmp(app->title, d.title), "one of a command: %s", err.text);
    hrun_app_destroy(app);
    d.time_match = "a\nb";
    ok(reload(&d, &app, &err) && err.code == HRUN_EINVAL, "a line's end in a text is refused");
}

/* Of one size: numbers of processes that worked and that were refused. */
static void test_of_runs(void)
{
    static const int powers[] = { 1, 2, 4, 6, 12, 3 }, works[] = { 1, 1, 1, 0, 0, 0 };
    static const int squares[] = { 4, 9, 8, 2 }, odd[] = { 1, 2, 3, 5, 7 }, odd_works[] = { 1, 0, 1, 1, 0 };
    static const int square_works[] = { 1, 1, 0, 0 };
    static const int one[] = { 7, 14, 6, 2 }, alone[] = { 1, 2, 3, 6 }, one_works[] = { 1, 0, 0, 0 };
    static const int two[] = { 6, 3, 14, 7, 2, 4, 1 }, two_works[] = { 1, 1, 0, 0, 0, 0, 0 };
    const char text[] = "name: x\nsize: fixed\nterms: {np: [\"1/P\"], n: [\"1\"]}\n";
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;

    hrun_app_parse("x.yaml", text, strlen(text), NULL, &app, &err);
    ok(app && hrun_app_rule_of_runs(app, powers, works, 3, &err) == 0 && hrun_app_rule(app, 1, 6, &err) == 1,
       "what worked tells no rule");
    ok(hrun_app_rule_of_runs(app, powers, works, 4, &err) == 1 && !strcmp(hrun_expr_text(app->rule), "P != 6"),
       "one number that is refused tells of itself");
    ok(hrun_app_rule_of_runs(app, powers, works, 6, &err) == 1 && !strcmp(hrun_expr_text(app->rule), "ispow2(P)"),
       "several tell the simplest rule that agrees");
    ok(hrun_app_rule_of_runs(app, powers, works, 6, &err) == 0, "which is told once");
    ok(hrun_app_rule_of_runs(app, squares, square_works, 4, &err) == 1 && hrun_app_rule(app, 1, 16, &err) == 1 &&
       hrun_app_rule(app, 1, 12, &err) == 0, "squares");
    ok(hrun_app_rule_of_runs(app, odd, odd_works, 5, &err) == 1 && hrun_app_rule(app, 1, 7, &err) == 0 &&
       hrun_app_rule(app, 1, 5, &err) == 1, "where none agrees these numbers alone are refused");
    ok(hrun_app_rule_of_runs(app, one, one_works, 3, &err) == 1 &&
       !strcmp(hrun_expr_text(app->rule), "P != 14 && P != 6"), "two are not many");
    ok(hrun_app_rule_of_runs(app, one, one_works, 4, &err) == 1 && !strcmp(hrun_expr_text(app->rule), "P == 7"),
       "where far more are refused what worked is all that is accepted");
    ok(hrun_app_rule_of_runs(app, one + 1, one_works + 1, 3, &err) == 1 && hrun_app_rule(app, 1, 7, &err) == 1,
       "unless nothing worked");
    ok(hrun_app_rule_of_runs(app, two, two_works, 7, &err) == 1 &&
       !strcmp(hrun_expr_text(app->rule), "P == 6 || P == 3"), "or several");
    ok(hrun_app_rule_of_runs(app, alone, one_works, 4, &err) == 1 && !strcmp(hrun_expr_text(app->rule), "P == 1"),
       "one process is a number like others");
    hrun_app_destroy(app);
}

int main(void)
{
    test_of_runs();
    test_each();
    test_forms();
    test_contradiction();
    test_draft();
    return tap_done();
}
