/* test_app_variants.c - definitions with formulas and variants: what they make, and each mistake with its place */
#include "fixture.h"

#include "app/app.h"
#include "app/template.h"

static const char whole[] =
    "name: two\n"
    "rule: \"P > 1\"\n"
    "constants:\n- {name: q, value: 3}\n"
    "args: [\"{N}\"]\n"
    "time: {match: \"^t ([0-9.]+)\"}\n"
    "variants:\n"
    "- name: sums\n"
    "  terms: {np: [\"N^3/P\", \"q*N\"], n: [\"N^3\"]}\n"
    "- name: waves\n"
    "  title: In waves\n"
    "  rule: \"N % P == 0\"\n"
    "  args: [\"{N}\", waves, \"{shares}\"]\n"
    "  where:\n"
    "  - {name: all, is: \"total(share)\"}\n"
    "  - {name: mine, is: \"all*share + q\"}\n"
    "  - {name: even, is: \"N/P\"}\n"
    "  formula: \"mine*perf*N^3 + ring(8*even)\"\n";

static void test_whole(const char *dir)
{
    char *file = hrun_strf("%s/two.yaml", dir), *defines[] = { "q=5", NULL };
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;
    struct hrun_buf b = HRUN_BUF_INIT;

    put(dir, "two.yaml", whole);
    ok(!hrun_app_load(file, defines, &app, &err), "a definition with two variants loads: %s", err.text);
    if (!app || app->nvariants != 2)
        goto out;
    is_str(app->variants[0]->name, "two.sums", "a variant's name is that of both");
    is_str(app->variants[1]->variant, "waves", "and its own");
    is_str(app->variants[1]->title, "In waves", "its keys count");
    is_str(hrun_expr_text(app->variants[1]->rule), "N % P == 0", "in place of the definition's");
    is_str(hrun_expr_text(app->variants[0]->rule), "P > 1", "which count where it has none");
    ok(app->variants[0]->run.nargs == 1 && app->variants[1]->run.nargs == 3, "arguments, too");
    is_str(app->variants[0]->time.match, "^t ([0-9.]+)", "what only the definition says holds for all");
    ok(app->variants[0]->family == HRUN_APP_NPT && app->variants[0]->np.n == 2 && !app->variants[0]->law.formula,
       "one has terms");
    ok(app->variants[1]->family == HRUN_APP_ANALYTIC && app->variants[1]->law.formula, "one a formula");
    ok(hrun_app_has_network(app->variants[1]) && !hrun_app_has_network(app->variants[0]), "that asks for the network");
    is_int(app->variants[1]->law.formula->n, 4, "three values and the formula");
    ok(app->variants[1]->law.formula->steps[1].varies && !app->variants[1]->law.formula->steps[2].varies,
       "what all processes share is known to be so");
    hrun_app_consts_text(app->variants[1], &b);
    is_str(b.data, "q=5,variant:waves", "measurements are kept apart by the variant; -D counts");
    is_int(hrun_app_find_variant(app, "waves", &err), 1, "found by name");
    is_int(hrun_app_find_variant(app, "wave", &err), -1, "unknown");
    is_str(err.text, "two has no variant 'wave' (it has: sums, waves); did you mean 'waves'?", "with the nearest");
out:
    hrun_buf_release(&b);
    hrun_app_destroy(app);
    free(file);
}

/* Variants that differ by values: those that one has of its own count before -D, also of what is derived. */
static void test_values(const char *dir)
{
    static const char text[] =
        "name: blocks\nconstants: [{name: nb, value: 64}]\nderived: [{name: q, is: \"P/2\"}]\n"
        "terms: {np: [\"nb*N\"], n: [N]}\nargs: [\"{nb}\", \"{q}\"]\n"
        "variants:\n- {name: usual}\n- {name: large, constants: [{name: nb, value: 256}, {name: q, value: 1}]}\n";
    static const char *const want[][2] = {
        { "nb=64,variant:usual", "nb=256,q=1,variant:large" }, { "nb=32,variant:usual", "nb=256,q=1,variant:large" },
    };
    char *file = hrun_strf("%s/blocks.yaml", dir), *defines[] = { "nb=32", NULL };

    put(dir, "blocks.yaml", text);
    for (int d = 0; d < 2; d++) {
        struct hrun_error err = { 0 };
        struct hrun_app *app = NULL;

        ok(!hrun_app_load(file, d ? defines : NULL, &app, &err), "variants with values of their own load: %s",
           err.text);
        for (int v = 0; app && v < app->nvariants; v++) {
            struct hrun_buf b = HRUN_BUF_INIT;

            hrun_app_consts_text(app->variants[v], &b);
            is_str(b.data, want[d][v], "what %s is measured with, %s -D", app->variants[v]->name, d ? "with" : "without");
            hrun_buf_release(&b);
        }
        hrun_app_destroy(app);
    }
    free(file);
}

static void test_find(const char *dir)
{
    struct hrun_strvec dirs = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;

    hrun_strvec_push(&dirs, dir);
    ok(!hrun_app_find(&dirs, "two.waves", NULL, &app, &err), "NAME.VARIANT names a variant: %s", err.text);
    is_str(app ? app->name : NULL, "two.waves", "alone");
    hrun_app_destroy(app);
    app = NULL;
    ok(hrun_app_find(&dirs, "two.wares", NULL, &app, &err), "an unknown variant");
    has_str(err.text, "did you mean 'waves'?", "message");
    ok(hrun_app_find(&dirs, "tow.waves", NULL, &app, &err), "an unknown definition");
    has_str(err.text, "there is no definition of 'tow.waves'", "message");
    put(dir, "two.waves.yaml", "name: two.waves\nterms: {np: [N], n: [N]}\n");
    ok(!hrun_app_find(&dirs, "two.waves", NULL, &app, &err) && app && !app->variant,
       "a file of this name goes first");
    hrun_app_destroy(app);
    hrun_strvec_release(&dirs);
}

static void test_mistakes(const char *dir)
{
    static const struct { const char *text, *where, *message; } v[] = {
        { "name: bad\nterms: {np: [N], n: [N]}\nformula: \"N\"\n", ":3:11:",
          "a definition has 'formula' or 'terms', not both" },
        { "name: bad\nwhere:\n- {name: x, is: N}\nterms: {np: [N], n: [N]}\n", ":3:1:", "there is none" },
        { "name: bad\nfamily: npt\nformula: \"N\"\n", ":2:9:", "the family is analytic" },
        { "name: bad\nfamily: analytic\nterms: {np: [N], n: [N]}\n", ":2:9:", "'formula' is missing" },
        { "name: bad\nformula: \"N*pref\"\n", ":2:13:", "pref" },
        { "name: bad\nwhere:\n- {name: share, is: N}\nformula: \"N\"\n", ":3:10:",
          "is a variable of formulas already" },
        { "name: bad\nwhere:\n- {name: upto, is: N}\nformula: \"N\"\n", ":3:10:", "is a function of formulas" },
        { "name: bad\nwhere:\n- {name: x, is: N}\n- {name: x, is: P}\nformula: \"N\"\n", ":4:10:", "is there twice" },
        { "name: bad\nwhere:\n- {name: x, is: y}\n- {name: y, is: P}\nformula: \"N\"\n", ":3:17:", "y" },
        { "name: bad\nconstants:\n- {name: x, value: 1}\nwhere:\n- {name: x, is: P}\nformula: \"N\"\n", ":5:10:",
          "is a constant already" },
        { "name: bad\nformula: \"total(upto(1))\"\n", ":2:", "upto" },
        { "name: bad\nvariants:\n- {name: A, formula: N}\n", ":3:10:", "cannot be the name of a variant" },
        { "name: bad\nvariants:\n- {name: a, formula: N}\n- {name: a, formula: N}\n", ":4:10:", "two variants 'a'" },
        { "name: bad\nvariants:\n- {name: a}\n", ":3:10:", "variant 'a' has neither terms nor a formula" },
        { "name: bad\nvariants:\n- {name: a, formula: N}\n- {name: b, formula: \"N + x\"}\n", ":4:27:", "x" },
        { "name: bad\nvariants:\n- {name: a, formula: N, args: [\"{M}\"]}\n", ":3:33:", "unknown word {M}" },
        { "name: bad\nvariants:\n- {name: a, formula: N, colour: red}\n", ":3:", "colour" },
        { "name: bad\nconstants:\n- {name: q, value: 1}\nvariants:\n- {name: a, formula: N, constants: [{name: r, value: "
          "2}]}\n", ":5:44:", "there is no 'r' under 'constants' or 'derived'" },
        { "name: bad\nconstants:\n- {name: q, value: 1}\nvariants:\n- {name: a, formula: N, constants: [{name: q, value: "
          "2}, {name: q, value: 3}]}\n", ":5:65:", "'q' is defined twice" },
        { "name: bad\nvariants: []\n", ":2:", "" },
    };

    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        char *file = hrun_strf("%s/bad.yaml", dir), text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];
        struct hrun_error err = { 0 };
        struct hrun_app *app = NULL;

        put(dir, "bad.yaml", v[i].text);
        ok(hrun_app_load(file, NULL, &app, &err) && !app, "mistake %zu", i + 1);
        hrun_error_format(&err, text, sizeof text);
        has_str(text, v[i].where, "its place");
        has_str(text, v[i].message, "its message");
        free(file);
    }
}

int main(void)
{
    char *dir = temp_dir();

    test_whole(dir);
    test_values(dir);
    test_find(dir);
    test_mistakes(dir);
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
