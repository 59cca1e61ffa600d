/* Definitions with shares: units, memory, the forms in which programs take them, and each mistake with its place. */
#include "fixture.h"

#include "app/app.h"
#include "app/template.h"

#include <math.h>

#define HEAD "name: app\nterms: {np: [N^2*W, N, 1], n: [N^2, 1]}\n"

static void test_units(const char *dir)
{
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, HEAD "shares: {units: \"2*N\", min: 3, memory: \"8*N*W*N + P\"}\n", &err);
    int64_t units = 0, least = 0;
    double bytes = 0;

    ok(app, "units, min and memory %s", err.text);
    if (!app)
        return;
    ok(!hrun_app_units(app, 50, &units, &least, &err) && units == 100 && least == 3, "units at a size");
    ok(hrun_app_term_is_shared(app, app->np.v[0].expr) && !hrun_app_term_is_shared(app, app->np.v[1].expr),
       "which terms follow the share");
    ok(hrun_app_rule(app, 50, 33, &err) == 1 && hrun_app_rule(app, 50, 34, &err) == 0,
       "no more processes than have the least share each");
    ok(!hrun_app_share_memory(app, 50, 4, 0.5, &bytes, &err) && bytes == 8 * 50 * 0.5 * 50 + 4, "memory of a share");
    ok(!hrun_app_memory(app, 50, 4, &bytes, &err) && bytes == 5004, "and of equal ones");
    ok(hrun_app_units_fitting(app, 50, 4, 100, 2004, &err) == 10, "how many units fit");
    ok(hrun_app_uneven(app, 50, 3) == 34 * 3 / 100.0 && hrun_app_uneven(app, 50, 4) == 1, "34 units of 100 among 3");
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "memory: 7\nshares: {units: \"N/2\"}\n", &err);
    ok(app && hrun_app_units(app, 51, &units, &least, &err), "half a unit");
    has_str(err.text, "shares.units of app: 'N/2' is 25.5 at N=51", "is told");
    ok(app && hrun_app_rule(app, 51, 1, &err) < 0, "by the rule, too");
    ok(app && !hrun_app_share_memory(app, 50, 4, 0.5, &bytes, &err) && bytes == 7, "memory is the definition's");
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "shares: {units: 10, memory: \"1e9*W\"}\n", &err);
    ok(app && !hrun_app_memory(app, 50, 6, &bytes, &err) && fabs(bytes - 2e8) < 1,
       "memory of equal shares is that of the process with most: 2 units of 10");
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "shares: {units: N, memory: \"2^30 + W*N*(N - 500)\"}\n", &err);
    ok(app, "memory that grows where N is large %s", err.text);
    hrun_app_destroy(app);

    app = load_text(dir, HEAD, &err);
    ok(!app && strstr(err.text, "W"), "without `shares` W is unknown: %s", err.text);
}

static void test_mistakes(const char *dir)
{
    static const struct { const char *text, *said; int line, column; } bad[] = {
        { HEAD "shares: {min: 2}\n", "units", 3, 0 },
        { HEAD "shares: {units: P}\n", "P", 3, 17 },
        { HEAD "shares: {units: N, parts: 2}\n", "parts", 3, 0 },
        { HEAD "shares: {units: N, memory: \"2^30 - W*2^18\"}\n", "must not fall as its share W grows", 3, 29 },
        { "name: app\nterms: {np: [N^2/P, 1], n: [N]}\nshares: {units: N}\n", "write W for it", 3, 9 },
        { "name: app\nterms: {np: [N^2*W, \"N*W+1\"], n: [N]}\nshares: {units: N}\n", "in proportion to it", 2, 22 },
        { "name: app\nterms: {np: [N^2*W, \"N*sqrt(W)\"], n: [N]}\nshares: {units: N}\n", "in proportion to it", 2,
          22 },
        { "name: app\nterms: {np: [N^2*W, \"W*p2p(8)\"], n: [N]}\nshares: {units: N}\n", "does not depend on W", 2,
          22 },
        { "name: app\nfamily: weak\nshares: {units: N}\n", "'shares' is for definitions with terms", 3, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:some}\"]\n", "units, owners, fractions, cuts or a number", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares\"]\n", "brace", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:units:}\"]\n", "nothing stands behind the colon", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:9:}\"]\n", "nothing stands behind the colon", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:cuts:*}\"]\n", "'*' puts equal shares together", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:fractions:*}\"]\n", "not fractions", 4, 9 },
        { HEAD "shares: {units: N}\nargs: [\"{shares:}\"]\n", "no form behind its colon", 4, 9 },
        { HEAD "shares: {units: N, deal: laps}\n", "one of block, cyclic, found 'laps'", 3, 26 },
        { HEAD "shares: {units: N}\nargs: [\"{N}\"]\n", "does not reach the program: write {shares}", 3, 9 },
        { "name: app\nsize: command\nshares: {units: 4}\n", "has no 'shares'", 3, 9 },
        { "name: app\nsize: command\nprepare: [{run: [a]}]\n", "has no 'prepare'", 3, 10 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hrun_error err;
        struct hrun_app *app = load_text(dir, bad[i].text, &err);

        ok(!app && err.code == HRUN_EPARSE && strstr(err.text, bad[i].said), "mistake %zu: %s", i + 1, err.text);
        ok(err.line == bad[i].line && (!bad[i].column || err.column == bad[i].column), "its place (%d:%d)", err.line,
           err.column);
        hrun_app_destroy(app);
    }
}

/* What a form makes of four ranks with 3, 3, 1 and 1 of 8 units. */
static void test_forms(const char *dir)
{
    static const double share[] = { 3, 3, 1, 1 };
    static const struct { const char *form, *weighed, *equal; } forms[] = {
        { "{shares}", "2*3,2*1", "4*1" },
        { "{shares:units}", "3 3 1 1", "1 1 1 1" },
        { "{shares:units:,}", "3,3,1,1", "1,1,1,1" },
        { "{shares:fractions}", "0.375 0.375 0.125 0.125", "0.25 0.25 0.25 0.25" },
        { "({shares:cuts})", "(0.375 0.75 0.875)", "(0.25 0.5 0.75)" },
        { "{shares:cuts:; }", "0.375; 0.75; 0.875", "0.25; 0.5; 0.75" },
        { "{shares:100}", "38 38 12 12", "25 25 25 25" },
        { "{shares:10:,}", "4,4,1,1", "3,3,2,2" },
        { "{shares:units:\\n}", "3\n3\n1\n1", "1\n1\n1\n1" },
        { "{shares:units:*}", "2*3,2*1", "4*1" },
        { "{shares:100:*}", "2*38,2*12", "4*25" },
        { "{shares:owners}", "0 0 0 1 1 1 2 3", "0 1 2 3" },
        { "{shares:owners:*}", "3*0,3*1,1*2,1*3", "1*0,1*1,1*2,1*3" },
    };
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, HEAD "shares: {units: N}\n", &err);
    struct hrun_buf b = HRUN_BUF_INIT;
    int size = 0, shares = 0;

    for (size_t i = 0; app && i < sizeof forms / sizeof *forms; i++) {
        ok(!hrun_app_expand(app, forms[i].form, &(struct hrun_app_values){ 8, 4, share }, &b, &err), "%s",
           forms[i].form);
        is_str(b.data, forms[i].weighed, "of unequal shares");
        hrun_buf_reset(&b);
        ok(!hrun_app_expand_word(app, forms[i].form, &(struct hrun_app_values){ 8, 4, NULL }, &b, &err), "in a word");
        is_str(b.data, forms[i].equal, "of equal ones");
        hrun_buf_reset(&b);
    }
    ok(!hrun_app_expand(app, "x{shares:cuts}y", &(struct hrun_app_values){ 8, 1, NULL }, &b, &err), "one rank");
    is_str(b.data, "xy", "has no cuts");
    ok(hrun_app_expand(app, "{shares:owners}", &(struct hrun_app_values){ 8, 2, (const double[]){ 1e9, 1 } }, &b, &err),
       "owners of a thousand million units");
    has_str(err.text, "at most 1000000 are written", "are refused");
    ok(hrun_app_expand(app, "{shares:owners}", &(struct hrun_app_values){ 8, 2, (const double[]){ 1.5, 1 } }, &b, &err),
       "owners of half a unit");
    has_str(err.text, "rank 0 has a share of 1.5", "are refused");
    ok(hrun_app_expand(app, "{shares:3}", &(struct hrun_app_values){ 8, 4, share }, &b, &err), "a sum below P");
    has_str(err.text, "shares of 4 processes do not add up to 3", "is told");
    hrun_buf_release(&b);
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "shares: {units: N}\nfiles: [{path: in, content: 'balance x {shares:cuts}'}]\n", &err);
    ok(app, "a file with shares %s", err.text);
    if (app)
        hrun_app_inputs_use(app, 1, &size, &shares);
    ok(shares == 1 && size == 0, "is known to use them");
    hrun_app_destroy(app);
}

static void test_told(const char *dir)
{
    static const char *const told[] = {
        "args: [\"--cuts={shares:cuts}\"]\n", "args: [a]\nstdin: \"{shares}\"\n",
        "args: [a]\nprepare: [{run: [cut, \"{shares:7}\"]}]\n",
        "args: [a]\nfiles: [{path: in, content: \"{shares}\"}]\n", "",
        "args: [a]\nvariants: [{name: x, args: [\"{shares}\"], terms: {np: [W], n: [1]}}]\n"
    };
    struct hrun_error err;

    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char *text = hrun_strf(HEAD "shares: {units: N}\n%s", told[i]);
        struct hrun_app *app = load_text(dir, text, &err);

        ok(app != NULL, "shares reach the program, way %zu %s", i + 1, app ? "" : err.text);
        hrun_app_destroy(app);
        free(text);
    }
}

/* Values of -x: braces mean something to other programs as well. */
static void test_variables(const char *dir)
{
    static const char text[] = "A={N} {P} {shares} {shares:8:,} {{P} {{N} {c} {shares:foo} {shares:} {sharesX} {shares";
    struct hrun_error err;
    struct hrun_app *fixed = load_text(dir, "name: app\nsize: fixed\nterms: {np: [1/P], n: [1]}\n"
                                            "constants: [{name: c, value: 7}]\n", &err);
    struct hrun_buf b = HRUN_BUF_INIT;
    const char *form;
    size_t len;

    ok(!hrun_app_expand_variable(NULL, text, &(struct hrun_app_values){ 96, 2, NULL }, &b, &err), "a variable");
    is_str(b.data, "A=96 2 2*1 4,4 {P} {N} {c} {shares:foo} {shares:} {sharesX} {shares", "of a known size");
    hrun_buf_reset(&b);
    ok(!hrun_app_expand_variable(NULL, text, &(struct hrun_app_values){ 0, 2, NULL }, &b, &err), "without a size");
    is_str(b.data, "A={N} 2 2*1 4,4 {P} {{N} {c} {shares:foo} {shares:} {sharesX} {shares", "{N} stays");
    hrun_buf_reset(&b);
    ok(fixed && !hrun_app_expand_variable(fixed, "{N}{c}", &(struct hrun_app_values){ 1, 2, NULL }, &b, &err),
       "where the work is always the same");
    is_str(b.data, "{N}{c}", "it stays as well");
    hrun_buf_release(&b);
    hrun_app_destroy(fixed);

    ok(!hrun_app_find_shares("{{shares} {shares:} {shares:x} {sharesX} {shares:4", &form, &len), "no shares in a word");
    ok(hrun_app_find_shares("{{shares:9}{shares:4:,}", &form, &len) && len == 3 && !strncmp(form, "4:,", len) &&
       hrun_app_find_shares("a{shares}", &form, &len) && !len && !*form, "and with their form");
}

/* Whole numbers that add up: none is off what its share asks for by one or more, but for those that may not be 0. */
static void test_sums(void)
{
    unsigned seed = 7;
    int wrong = 0;

    for (int k = 0; k < 300; k++) {
        int P = 1 + rand_r(&seed) % 9, total = P + rand_r(&seed) % 60, left = total;
        double share[9], sum = 0;
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_error err;
        char form[16], *at;

        for (int r = 0; r < P; r++)
            sum += share[r] = 1 + rand_r(&seed) % 40;
        snprintf(form, sizeof form, "%d", total);
        wrong += hrun_app_add_shares(form, strlen(form), &(struct hrun_app_dealt){ share, P, 0 }, &b, &err) != 0;
        at = b.data;
        for (int r = 0; r < P; r++) {
            long own = strtol(at, &at, 10);
            double asked = total * share[r] / sum;

            wrong += own < 1 || (own > asked + 1 && own > 1) || (own < asked - 1 && asked * P / total <= 1);
            left -= (int)own;
        }
        wrong += left != 0;
        hrun_buf_release(&b);
    }
    is_int(wrong, 0, "300 cases: whole numbers add up and follow the shares");
}

/* Owners in laps, by hand; and that each rank has its units, and at any time no more than a lap off its part of what has
 * been dealt. */
static void test_laps(void)
{
    static const struct { double share[3]; const char *owners; } known[] = {
        { { 16, 8, 8 }, "0 0 1 2 0 0 1 2 0 0 1 2 0 0 1 2 0 0 1 2 0 0 1 2 0 0 1 2 0 0 1 2" },
        { { 2, 2, 2 }, "0 1 2 0 1 2" },
        { { 8, 1, 8 }, "0 2 0 2 0 2 0 1 2 0 2 0 2 0 2 0 2" },
        { { 16, 8, 1 }, "0 0 1 0 0 1 0 0 1 0 0 1 2 0 0 1 0 0 1 0 0 1 0 0 1" },
    };
    unsigned seed = 11;
    int wrong = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;

        ok(!hrun_app_add_shares("owners", 6, &(struct hrun_app_dealt){ known[i].share, 3, 1 }, &b, NULL), "owners %zu", i + 1);
        is_str(b.data, known[i].owners, "in laps");
        hrun_buf_release(&b);
    }
    for (int k = 0; k < 300; k++) {
        int P = 1 + rand_r(&seed) % 6;
        double share[6], sum = 0, least = 40, most = 1, dealt[6] = { 0 };
        struct hrun_buf b = HRUN_BUF_INIT;
        char *at;

        for (int r = 0; r < P; r++) {
            sum += share[r] = 1 + rand_r(&seed) % 40;
            least = fmin(least, share[r]);
            most = fmax(most, share[r]);
        }
        wrong += hrun_app_add_shares("owners", 6, &(struct hrun_app_dealt){ share, P, 1 }, &b, NULL) != 0;
        at = b.data;
        for (double unit = 1; unit <= sum; unit++) {
            double lap = ceil(most / fmax(least, fmin(8, most)));

            dealt[strtol(at, &at, 10)]++;
            for (int r = 0; r < P; r++)
                wrong += fabs(dealt[r] - share[r] * unit / sum) > lap + 1;
        }
        for (int r = 0; r < P; r++)
            wrong += dealt[r] != share[r];
        wrong += *at != 0;
        hrun_buf_release(&b);
    }
    is_int(wrong, 0, "300 cases: all units are dealt, and all the time in proportion");
}

int main(void)
{
    char *dir = temp_dir();

    test_units(dir);
    test_mistakes(dir);
    test_forms(dir);
    test_told(dir);
    test_variables(dir);
    test_sums();
    test_laps();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
