/* test_app_load.c - definitions: one with every key, the shipped ones, and each mistake with its place */
#include "fixture.h"

#include "app/app.h"
#include "app/clock.h"
#include "app/template.h"

#include <math.h>
#include <regex.h>

static void test_sample(void)
{
    char *path = hrun_strf("%s/app/sample.yaml", test_data());
    char *defines[] = { "x=7", "x=0.25", NULL };
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_app *app = NULL;
    double v[3] = { 10, 4, 2 }, y = 0, bytes = -1;

    ok(!hrun_app_load(path, NULL, &app, &err), "the sample loads: %s", err.text);
    if (!app)
        goto out;
    is_str(app->name, "sample", "name");
    is_str(app->title, "A sample", "title");
    is_str(app->file, path, "file");
    is_int(app->programs.n, 2, "programs");
    is_str(app->programs.names[1], "smp-static", "the second program");
    is_int(app->nprocs_per_pe, 3, "procs_per_pe");
    ok(app->procs_per_pe[0] == 1 && app->procs_per_pe[1] == 2 && app->procs_per_pe[2] == 4, "in ascending "
       "order");
    ok(app->sizes.n == 3 && app->sizes.v[0] == 500 && app->sizes.v[2] == 2000, "sizes in ascending order");
    ok(app->np.n == 3 && app->nt.n == 2 && app->pt.n == 2, "terms");
    is_str(app->np.v[0].text, "N^3/P", "a term's text");
    ok(!hrun_expr_eval(app->np.v[0].expr, v, &y, &err) && y == 250, "an np term takes N, P");
    ok(!hrun_expr_eval(app->np.v[1].expr, v, &y, &err) && y == 10, "a term sees constants");
    ok(!hrun_expr_eval(app->pt.v[0].expr, v, &y, &err) && y == 2.5, "a p term takes T, P, N");
    hrun_app_consts_text(app, &b);
    is_str(b.data, "nb=64,x=0.1", "constants in the order of their names");
    is_int(hrun_app_rule(app, 128, 2, &err), 1, "the rule accepts");
    is_int(hrun_app_rule(app, 129, 2, &err), 0, "the rule refuses");
    ok(!hrun_app_memory(app, 100, 4, &bytes, &err) && bytes == 20000, "memory");
    ok(app->run.nargs == 3 && !strcmp(app->run.args[2], "--x={x}"), "args");
    is_str(app->run.stdin_text, "{N} {P}\n", "stdin");
    is_str(app->time.match, "time: *([0-9.]+)", "time.match");
    is_str(app->time.file, "out.txt", "time.file");
    is_int(app->run.nfiles, 2, "files");

    hrun_buf_reset(&b);
    ok(!hrun_app_expand(app, app->run.files[0].content, &(struct hrun_app_values){ 9600, 8, NULL }, &b, &err),
       "a template expands");
    is_str(b.data, "9600 size\n8 processes, nb=64, x=0.1, {N} stays\n", "its text");
    ok(hrun_app_expand(app, "size {N}", &(struct hrun_app_values){ 0, 8, NULL }, &b, &err), "{N} when N is not known");
    is_int(err.code, HRUN_EINVAL, "code");
    is_str(err.text, "{N} is the problem size, which is not known: it needs -N SIZE", "message");
    ok(hrun_app_expand(app, "a {nB} b", &(struct hrun_app_values){ 1, 8, NULL }, &b, &err), "an unknown word");
    is_str(err.text, "unknown word {nB} (known: {N}, {P}, {shares}, {nb}, {x}); a plain brace is written '{{'",
                                         "message");
    ok(strlen(b.data) == strlen("9600 size\n8 processes, nb=64, x=0.1, {N} stays\n"), "the output is "
              "untouched");

    hrun_buf_reset(&b);
    ok(!hrun_app_expand_word(app, "./b-{N}-{P}-{nb}{{N}{{{y}{ {\"a\":{N}}", &(struct hrun_app_values){ 96, 8, NULL },
                             &b, &err), "a user's word");
    is_str(b.data, "./b-96-8-64{N}{{{y}{ {\"a\":96}", "only known words are replaced");
    hrun_buf_reset(&b);
    ok(!hrun_app_expand_word(NULL, "{P}{nb}", &(struct hrun_app_values){ 0, 8, NULL }, &b, &err),
       "a user's word without a definition");
    is_str(b.data, "8{nb}", "knows N and P");
    is_int(hrun_app_expand_word(NULL, "{N}", &(struct hrun_app_values){ 0, 8, NULL }, &b, &err), -1,
           "{N} in a user's word when N is not known");
    hrun_buf_reset(&b);
    ok(!hrun_app_expand(app, "x{shares}", &(struct hrun_app_values){ 96, 6, (double[]){ 2, 2, 2, 2, 1.5, 1.5 } }, &b,
                        &err) &&
       !hrun_app_expand_word(NULL, " {shares}", &(struct hrun_app_values){ 96, 6, NULL }, &b, &err), "shares");
    is_str(b.data, "x4*2,2*1.5 6*1", "as they are, and equal ones");
    hrun_app_destroy(app);

    app = NULL;
    ok(!hrun_app_load(path, defines, &app, &err) && app && app->consts[1].value == 0.25, "-D: the later "
                      "counts");
    ok(app && !hrun_expr_eval(app->np.v[1].expr, v, &y, &err) && y == 25, "terms see the defined value");
    hrun_app_destroy(app);
out:
    hrun_buf_release(&b);
    free(path);
}

/* Expressions in templates, and values that follow from N, P and constants. */
static void test_derived(const char *dir)
{
    static const char text[] = "name: app\nterms: {np: [\"N/(P/q)\"], n: [\"N\"]}\n"
        "rule: \"P % q == 0\"\nmemory: \"8*cols\"\n"
        "constants: [{name: nb, value: 64}]\n"
        "derived: [{name: q, is: squarest(P)}, {name: cols, is: \"ceil(N/nb)*q\"}]\n"
        "files: [{path: 'in.{q}', content: \"{q} {P/q} {ceil(N / nb)}\\n{cols} {{q} { N } {q - q}\\n\"}]\n"
        "args: ['{N/2}', '{P > 1 ? -P : 7}']\n";
    const struct hrun_app_values at = { 640, 12, NULL };
    char *path = hrun_strf("%s/app.yaml", dir), *define[] = { "q=2", NULL };
    double v[2] = { 640, 12 }, y = 0;
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, text, &err);
    int size = 0, shares = 1;

    ok(app != NULL, "derived values: %s", err.text);
    if (!app)
        goto out;
    ok(!hrun_app_expand(app, app->run.files[0].content, &at, &b, &err), "in a template: %s", err.text);
    is_str(b.data, "3 4 10\n30 {q} 640 0\n", "with expressions");
    hrun_buf_reset(&b);
    ok(!hrun_app_expand(app, app->run.args[1], &(struct hrun_app_values){ 0, 12, NULL }, &b, &err) &&
       !hrun_app_expand_word(app, "{q}x{P/q}", &at, &b, &err), "N need not be known where it is not used");
    is_str(b.data, "-123x{P/q}", "a user's word has words replaced alone");
    is_int(hrun_app_rule(app, 640, 12, &err), 1, "in the rule");
    ok(!hrun_app_memory(app, 640, 12, &y, &err) && y == 240, "in the memory");
    ok(!hrun_expr_eval(app->np.v[0].expr, v, &y, &err) && y == 160, "in terms");
    hrun_buf_reset(&b);
    hrun_app_consts_text(app, &b);
    is_str(b.data, "nb=64", "which are no constants of a measurement");
    ok(hrun_app_expand(app, "grid {P/q}\nsize {N/9}\n", &at, &b, &err), "a value that is not whole");
    is_int(err.code, HRUN_EINVAL, "code");
    is_str(err.text, "line 2: {N/9} is 71.11111111 at N=640, P=12, and a computed value in a template is a whole "
           "number: write round(), floor() or ceil()", "message");
    ok(hrun_app_expand(app, "{N/(P-12)}", &at, &b, &err) && err.code == HRUN_ENONFINITE, "one that there is not");
    is_str(err.text, "'N/(P-12)' divides by zero at N=640, P=12", "message");
    ok(hrun_app_expand(app, "{2*cols}", &(struct hrun_app_values){ 0, 12, NULL }, &b, &err), "N, by a derived value");
    is_str(err.text, "{2*cols} needs the problem size N, which is not known: say -N SIZE", "when it is not known");
    is_str(b.data, "nb=64", "the output is untouched");
    hrun_app_inputs_use(app, 0, &size, &shares);
    ok(size == 1 && shares == 0, "the size reaches the program by expressions");
    hrun_app_destroy(app);

    app = NULL;
    ok(!hrun_app_load(path, define, &app, &err), "-D of a derived value: %s", err.text);
    hrun_buf_reset(&b);
    if (app)
        hrun_app_consts_text(app, &b);
    is_str(b.data, "nb=64,q=2", "makes it a constant of measurements");
    ok(app && hrun_app_rule(app, 640, 3, &err) == 0 && hrun_app_rule(app, 640, 4, &err) == 1, "which the rule sees");
out:
    hrun_app_destroy(app);
    hrun_buf_release(&b);
    free(path);
}

/* `family`: one of those there are; only npt needs terms. */
static void test_family(const char *dir)
{
    char *path = hrun_strf("%s/app.yaml", dir), text[128];
    struct hrun_error err = { 0 };
    struct hrun_app *app;

    for (int i = 0; i < HRUN_APP_FAMILIES; i++) {
        snprintf(text, sizeof text, "name: app\nterms:\n  np: [\"N/P\"]\n  n: [\"N\"]\nfamily: %s\n",
                 hrun_app_family_name((enum hrun_app_family)i));
        put(dir, "app.yaml", text);
        app = NULL;
        if (i == HRUN_APP_NPT)
            ok(!hrun_app_load(path, NULL, &app, &err) && app->family == HRUN_APP_NPT, "family: npt (%s)", err.text);
        hrun_app_destroy(app);
    }
    put(dir, "app.yaml", "name: app\nterms:\n  np: [\"N/P\"]\n  n: [\"N\"]\nfamily: nptt\n");
    app = NULL;
    ok(hrun_app_load(path, NULL, &app, &err) == -1 && !app && err.code == HRUN_EPARSE, "family: nptt is refused");
    ok(err.line == 5 && err.column == 9, "at 5:9 (%d:%d)", err.line, err.column);
    has_str(err.text, "must be one of npt, weak, ring, analytic, found 'nptt'", "with those there are");
    has_str(err.text, "did you mean 'npt'?", "and the nearest");
    put(dir, "app.yaml", "name: app\nfamily: npt\n");
    ok(hrun_app_load(path, NULL, &app, &err) == -1 && !app && err.code == HRUN_EPARSE, "npt without terms");
    is_str(err.text, "'terms' is missing", "says so");
    free(path);
}

/* `threads: fill`, and how measurements tell it apart. */
static void test_threads(const char *dir)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *app = NULL;
    char *path = hrun_strf("%s/app.yaml", dir);
    struct hrun_buf b = HRUN_BUF_INIT;

    put(dir, "app.yaml", "name: app\nterms:\n  np: [\"N/P\"]\n  n: [\"N\"]\nthreads: fill\n");
    ok(!hrun_app_load(path, NULL, &app, &err) && app->run.threads_fill == 1, "threads: fill: %s", err.text);
    hrun_app_consts_text(app, &b);
    is_str(b.data, "threads:fill", "measurements carry it");
    hrun_buf_reset(&b);
    hrun_app_fix_threads(app, "4");
    hrun_app_fix_threads(app, "2");
    hrun_app_consts_text(app, &b);
    is_str(b.data, "threads:2", "is another measurement");
    hrun_app_destroy(app);

    app = NULL;
    put(dir, "app.yaml", "name: app\nterms:\n  np: [\"N/P\"]\n  n: [\"N\"]\n"
        "constants: [{name: threads, value: 2}]\nthreads: fill\n");
    ok(!hrun_app_load(path, NULL, &app, &err), "with a constant of the same name: %s", err.text);
    hrun_buf_reset(&b);
    hrun_app_consts_text(app, &b);
    is_str(b.data, "threads=2,threads:fill", "both are told apart");
    hrun_app_destroy(app);
    hrun_buf_release(&b);
    free(path);
}

static void test_defines(void)
{
    static const struct {
        char *define;
        const char *message;
    } bad[] = {
        { "x", "-D x has no value: write -D x=VALUE" },
        { "y=1", "-D y: sample has no constant of this name (it has: nb, x)" },
        { "nbx=1", "-D nbx: sample has no constant of this name (it has: nb, x)" },
        { "x=abc", "-D x" },
        { "x=nan", "-D x" },
        { "x=", "-D x" },
    };
    char *path = hrun_strf("%s/app/sample.yaml", test_data());

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hrun_error err = { .code = HRUN_OK };
        struct hrun_app *app = (struct hrun_app *)&err;
        char *define[] = { bad[i].define, NULL };

        ok(hrun_app_load(path, define, &app, &err) && app == (struct hrun_app *)&err, "-D %s is "
                         "refused", define[0]);
        is_int(err.code, HRUN_EINVAL, "-D %s: code", define[0]);
        has_str(err.text, bad[i].message, "-D %s: message", define[0]);
    }
    free(path);
}

/* The least definition, and one change each: a line of it replaced or lines added at its end. */
static const char *const least[] = {
    "name: app",
    "terms:",
    "  np: [\"N/P\"]",
    "  n: [\"N\"]",
};

enum { LEAST = sizeof least / sizeof *least };

static void test_least(const char *dir)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *app = NULL;
    char *path = hrun_strf("%s/app.yaml", dir);
    double bytes = -1;
    struct hrun_buf b = HRUN_BUF_INIT;

    put(dir, "app.yaml", "name: app\nterms:\n  np: [\"N/P\"]\n  n: [\"N\"]\n");
    ok(!hrun_app_load(path, NULL, &app, &err), "the least definition: %s", err.text);
    if (app) {
        is_str(hrun_expr_text(app->rule), "1", "its rule is 1");
        is_int(hrun_app_rule(app, 1, 1, &err), 1, "which accepts");
        ok(app->nprocs_per_pe == 1 && app->procs_per_pe[0] == 1, "one process per PE");
        ok(!hrun_app_memory(app, 10, 1, &bytes, &err) && bytes == 0, "no memory limit");
        ok(app->pt.n == 0 && app->run.nfiles == 0 && app->run.nargs == 0 && app->sizes.n == 0 && app->programs.n == 0 &&
           app->nconsts == 0 && !app->run.threads_fill && !app->title && !app->run.stdin_text && !app->time.match,
           "all else is empty");
        hrun_app_consts_text(app, &b);
        is_str(b.data, "", "no constants");
    }
    hrun_app_destroy(app);
    hrun_app_destroy(NULL);
    hrun_buf_release(&b);
    free(path);
}

struct mistake {
    int line;               /* line of `least` that is replaced, from 1; 0: text is added at the end */
    const char *text;
    int at_line, at_column;
    const char *message;    /* a part of it */
};

/* Terms of the network are told from others. */
/* Of the wall clock a start-up is a part. */
static void test_start(const char *dir)
{
    static const struct { const char *terms; int np, n; } cases[] = {
        { "np: [\"N/P\"]\n  n: [\"N\"]\n", 2, 2 },
        { "np: [\"N/P\", \"2*3\"]\n  n: [\"1\", \"N\"]\n", 2, 2 },
        { "np: [\"N/P\", \"N^2-624*P\"]\n  n: [\"N\"]\n", 3, 2 },
        { "np: [\"N/P\"]\n  n: [\"N\"]\ntime: {match: '([0-9]+)'}\n", 1, 1 },
    };
    char text[256];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_error err = { .code = HRUN_OK };
        struct hrun_app *app;

        snprintf(text, sizeof text, "name: app\nterms:\n  %s", cases[i].terms);
        app = load_text(dir, text, &err);
        ok(app && app->np.n == cases[i].np && app->nt.n == cases[i].n, "case %zu: a constant where one is wanting", i);
        hrun_app_destroy(app);
    }
}

static void test_network(const char *dir)
{
    char *path = hrun_strf("%s/app.yaml", dir);
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *app = NULL;
    double v[2] = { 12, 3 }, bytes = 0, factor = 0;

    put(dir, "app.yaml", "name: app\nconstants: [{name: nb, value: 4}]\nterms:\n"
        "  np: [\"N/P\", \"N*alltoall(nb*N/P^2)/2\", \"barrier()\"]\n  n: [\"N\"]\n");
    ok(!hrun_app_load(path, NULL, &app, &err), "terms of the network: %s", err.text);
    if (app) {
        struct hrun_expr *e = app->np.v[1].expr;

        ok(hrun_app_has_network(app), "the definition has some");
        ok(!hrun_term_is_network(app->np.v[0].expr) && hrun_term_is_network(e) &&
           hrun_term_is_network(app->np.v[2].expr), "which they are");
        ok(!hrun_expr_eval(e, v, &factor, &err) && factor == 6 && !hrun_expr_eval_argument(e, 0, v, &bytes, &err) &&
           bytes == 4 * 12 / 9.0, "factor and bytes");
        is_str(hrun_app_functions[hrun_expr_call_function(e, 0)].name, "alltoall", "the operation");
    }
    hrun_app_destroy(app);
    free(path);
}

static const struct mistake mistakes[] = {
    { 1, "name: App", 1, 7, "'App' cannot be a name: lower-case letters" },
    { 1, "name: -app", 1, 7, "'-app' cannot be a name" },
    { 1, "name: other", 1, 7,
      "the name 'other' is not that of the file: call the file other.yaml, or write name: app" },
    { 1, "title: x", 1, 1, "name" },
    { 3, "  np: [\"N/P\", \"N / (P+)\"]", 3, 23, "unexpected ')'" },
    { 3, "  np: [\"N/P\", N*T]", 3, 17, "unknown variable 'T' (known: N, P)" },
    { 3, "  np: [\"N/P\", \"N /P\"]", 3, 16, "the term 'N /P' is listed twice" },
    { 3, "  np: []", 3, 7, "at least 1" },
    { 3, "  np: [\"\"]", 3, 9, "an expression is empty" },
    { 3, "  np: [\"N/P\"]\n  q: [\"1\"]", 4, 3, "q" },
    { 4, "  n: [\"N*P\"]", 4, 10, "unknown variable 'P' (known: N)" },
    { 4, "  m: [\"N\"]", 4, 3, "m" },
    { 4, "  n: []", 4, 6, "at least 1" },
    { 4, "  n: [\"N\"]\n  p: [\"Q\"]", 5, 8, "unknown variable 'Q' (known: T, P, N)" },
    { 0, "rule: \"N % P = 0\"\n", 5, 14, "'=' cannot assign here; write '==' to compare" },
    { 0, "rule: \"1/0\"\n", 5, 9, "'1/0' divides by zero, whatever the variables are" },
    { 0, "memory: 8*M\n", 5, 11, "unknown variable 'M' (known: N, P)" },
    { 3, "  np: [\"N/P\", \"N + ring(8)\"]", 3, 20,
      "a term with 'ring' may only multiply or divide it, as N*ring(8*N)/P does" },
    { 3, "  np: [\"N/P\", \"ring(8*M)\"]", 3, 23, "unknown variable 'M' (known: N, P)" },
    { 4, "  n: [\"N*bcast(8)\"]", 4, 10, "'bcast' is a time of the network: use it only in terms under 'np'" },
    { 4, "  n: [\"N\"]\n  p: [\"T/P\", \"barrier()\"]", 5, 15, "'barrier' is a time of the network" },
    { 0, "rule: \"P < p2p(8)\"\n", 5, 12, "'p2p' is a time of the network" },
    { 0, "memory: \"gather(N)\"\n", 5, 10, "'gather' is a time of the network" },
    { 0, "rul: 1\n", 5, 1, "rule" },
    { 0, "procs_per_pe: [1, 0]\n", 5, 19, "0 processes on a PE: at least 1 is needed" },
    { 0, "procs_per_pe: [1, 8193]\n", 5, 19, "8193 processes on a PE: at most 8192 are possible" },
    { 0, "procs_per_pe: [2000000000]\n", 5, 16, "2000000000 processes on a PE: at most 8192 are possible" },
    { 0, "procs_per_pe: [1, 2, 1]\n", 5, 22, "1 is listed twice" },
    { 0, "procs_per_pe: []\n", 5, 15, "at least 1" },
    { 0, "procs_per_pe: [one]\n", 5, 16, "one" },
    { 0, "threads: 4\n", 5, 10, "'threads' must be one of fill, found '4'" },
    { 0, "threads: [fill]\n", 5, 10, "threads" },
    { 0, "sizes: [10, 0]\n", 5, 13, "a size is a whole number from 1 to 9007199254740992" },
    { 0, "sizes: [10, -5]\n", 5, 13, "a size is a whole number from 1" },
    { 0, "sizes: [10, 20, 10]\n", 5, 17, "the size 10 is listed twice" },
    { 0, "programs: [a, b, a]\n", 5, 18, "'a' is listed twice" },
    { 0, "programs: [bin/a]\n", 5, 12, "'bin/a' is not the name of a program" },
    { 0, "programs: ['']\n", 5, 13, "'' is not the name of a program" },
    { 0, "constants: [{name: N, value: 1}]\n", 5, 20, "'N' cannot be the name of a constant" },
    { 0, "constants: [{name: max, value: 1}]\n", 5, 20, "'max' cannot be the name of a constant" },
    { 0, "constants: [{name: n123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
      "1234567890, value: 1}]\n", 5, 20, "cannot be the name of a constant: up to 100 letters" },
    { 0, "constants: [{name: 2x, value: 1}]\n", 5, 20, "'2x' cannot be the name of a constant" },
    { 0, "constants: [{name: a, value: 1}, {name: a, value: 2}]\n", 5, 41, "'a' is defined twice" },
    { 0, "constants: [{name: a, value: .inf}]\n", 5, 30, "inf" },
    { 0, "constants: [{name: a, value: 1, file: x}]\n", 5, 39, "give both 'file' and 'line' (from 1)" },
    { 0, "constants: [{name: a, value: 1, line: 3}]\n", 5, 39, "give both 'file' and 'line' (from 1)" },
    { 0, "files: [{path: y, content: a}]\nconstants: [{name: a, value: 1, file: x, line: 1}]\n", 6, 39,
      "there is no 'x' under 'files'" },
    { 0, "derived: [{name: P, is: N}]\n", 5, 18, "'P' cannot be the name of a constant" },
    { 0, "derived: [{name: M, is: N}]\n", 5, 18, "'M' cannot be the name of a value" },
    { 0, "constants: [{name: a, value: 1}]\nderived: [{name: a, is: N}]\n", 6, 18, "'a' is defined twice" },
    { 0, "derived: [{name: a, is: N}, {name: a, is: P}]\n", 5, 36, "'a' is defined twice" },
    { 0, "derived: [{name: a, is: N*T}]\n", 5, 27, "unknown variable 'T' (known: N, P)" },
    { 0, "derived: [{name: a, is: N/b}, {name: b, is: P+a}]\n", 5, 25,
      "'a' uses 'b', which is not above it: a value may use those that stand before it" },
    { 0, "derived: [{name: a, is: a+1}]\n", 5, 25, "'a' uses 'a', which is not above it" },
    { 0, "derived: [{name: a, is: ring(8)}]\n", 5, 25, "unknown function 'ring'" },
    { 4, "  n: [\"N + a\"]\nderived: [{name: a, is: P}]\n", 4, 12,
      "'a' is 'P', which has no value here: unknown variable 'P' (known: N)" },
    { 0, "args: ['-g', 'x{P/b}']\n", 5, 16,
      "{P/b}: unknown variable 'b' (known: N, P); a plain brace is written '{{'" },
    { 0, "files:\n  - path: a\n    content: |\n      {N}\n      {P P}\n", 9, 7, "{P P}: an operator is missing" },
    { 0, "stdin: '{}'\n", 5, 9, "'{' does not begin a word" },
    { 0, "files: [{path: /etc/x, content: a}]\n", 5, 16, "the path '/etc/x' is absolute" },
    { 0, "files: [{path: ../x, content: a}]\n", 5, 16, "the path '../x' leaves the working directory" },
    { 0, "files: [{path: a/../x, content: a}]\n", 5, 16, "the path 'a/../x' leaves the working directory" },
    { 0, "files: [{path: a/.., content: a}]\n", 5, 16, "the path 'a/..' leaves the working directory" },
    { 0, "files: [{path: a/, content: a}]\n", 5, 16, "the path 'a/' is a folder" },
    { 0, "files: [{path: '', content: a}]\n", 5, 17, "the path '' is empty" },
    { 0, "files: [{path: a, content: a}, {path: a, content: b}]\n", 5, 39, "there are two files 'a'" },
    { 0, "files: [{path: 'a{M}', content: a}]\n", 5, 18, "unknown word {M} (known: {N}, {P}, {shares})" },
    { 0, "files:\n  - path: a\n    content: |\n      {N} size\n      and {nb\n", 9, 11,
      "'{' does not begin a word in braces; a plain brace is written '{{'" },
    { 0, "files: [{path: a}]\n", 5, 9, "content" },
    { 0, "args: ['{n}']\n", 5, 9, "unknown word {n} (known: {N}, {P}, {shares})" },
    { 0, "stdin: 'a{b'\n", 5, 10, "'{' does not begin a word" },
    { 0, "time: {match: 'a(b'}\n", 5, 16, "'a(b' is not a POSIX extended regular expression: " },
    { 0, "time: {match: '(\\d+)'}\n", 5, 16, "the regular expression '(\\d+)' cannot be used: '\\d' is no digit" },
    { 0, "time: {match: 'a ([\\d.]+)'}\n", 5, 16,
      "the regular expression 'a ([\\d.]+)' cannot be used: '\\d' is no digit" },
    { 0, "time: {match: 'ab'}\n", 5, 16,
      "'ab' has no group: put the part that is the time in seconds in parentheses" },
    { 0, "time: {match: '(a)', file: /x}\n", 5, 28, "the path '/x' is absolute" },
    { 0, "time: {match: '(a)', value: 'N/(x*M)'}\n", 5, 35, "unknown variable 'M' (known: x, N, P)" },
    { 0, "constants: [{name: x, value: 1}]\ntime: {match: '(a)', value: 'x'}\n", 6, 30,
      "a constant cannot be named 'x': it is a variable" },
    { 0, "time: {file: x}\n", 5, 7, "match" },
};

static void test_mistakes(const char *dir)
{
    char *path = hrun_strf("%s/app.yaml", dir);

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        const int by_flags = strstr(m->message, "divides by zero") != NULL;
        struct hrun_error err = { .code = HRUN_OK };
        struct hrun_app *app = NULL;
        struct hrun_buf text = HRUN_BUF_INIT;

        if (by_flags && !fp_flags_work())
            continue;
        for (int k = 0; k < LEAST; k++)
            hrun_buf_addf(&text, "%s\n", k + 1 == m->line ? m->text : least[k]);
        hrun_buf_adds(&text, m->line ? "" : m->text);
        put(dir, "app.yaml", text.data);
        ok(hrun_app_load(path, NULL, &app, &err) == -1 && !app, "mistake %zu is refused", i);
        is_int(err.code, HRUN_EPARSE, "mistake %zu: code", i);
        is_str(err.file, path, "mistake %zu: file", i);
        is_int(err.line, m->at_line, "mistake %zu: line (%s)", i, err.text);
        is_int(err.column, m->at_column, "mistake %zu: column (%s)", i, err.text);
        has_str(err.text, m->message, "mistake %zu: message", i);
        hrun_app_destroy(app);
        hrun_buf_release(&text);
    }
    free(path);
}

static void test_questions(const char *dir)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *app = NULL;
    char *path = hrun_strf("%s/app.yaml", dir);
    double bytes = -7;

    put(dir, "app.yaml", "name: app\nrule: N % (P-4) == 0\nmemory: N - P*P\n"
        "terms: {np: [\"1\"], n: [\"1\"]}\n");
    ok(!hrun_app_load(path, NULL, &app, &err), "loads: %s", err.text);
    if (app) {
        if (fp_flags_work()) {
            is_int(hrun_app_rule(app, 100, 4, &err), -1, "a rule without a value");
            is_int(err.code, HRUN_ENONFINITE, "code");
            is_str(err.text, "rule of app: 'N % (P-4) == 0' divides by zero at N=100, P=4", "message");
        }
        is_int(hrun_app_memory(app, 10, 4, &bytes, &err), -1, "negative memory");
        is_int(err.code, HRUN_EINVAL, "code");
        is_str(err.text, "memory of app: 'N - P*P' is negative at N=10, P=4", "message");
        ok(bytes == -7, "the output is untouched");
    }
    hrun_app_destroy(app);
    app = NULL;
    is_int(hrun_app_load("/nonexistent/app.yaml", NULL, &app, &err), -1, "a file that does not exist");
    is_int(err.code, HRUN_ENOENT, "code");
    free(path);
}

/* The shipped definitions follow paper 000, Table V. */
static void test_shipped(void)
{
    static const struct {
        const char *name;
        int np, nt, pt;
        int64_t N, P, bad_N, bad_P;
        const char *line;       /* a line that the program prints */
        const char *time;       /* what stands in its first group */
    } shipped[] = {
        { "hpl", 10, 4, 3, 1000, 3, 1000, 0,
          "WR11C2R4        1000    80     1     2               0.17              7.747e+01", "7.747e+01" },
        { "hpcc", 9, 4, 3, 1000, 3, 1000, 0, NULL, NULL },
        { "himeno", 8, 4, 3, 128, 3, 128, 0, " MFLOPS: 1041.339 time(s): 0.047232 1.6e-03", "0.047232" },
        { "fem", 8, 4, 3, 72, 8, 72, 7, NULL, NULL },
        { "ffte", 8, 4, 3, 4096, 8, 4096, 3,
          "  N =                 4096  TIME =   1.2345678E-004   1990.2 MFLOPS", "1.2345678E-004" },
    };

    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        struct hrun_error err = { .code = HRUN_OK };
        struct hrun_app *app = NULL;
        char *path = hrun_strf("%s/../../share/profiles/%s.yaml", test_data(), shipped[i].name);
        double bytes = 0, v[2], y;
        regmatch_t m[2];
        regex_t re;
        int bad = 0;

        ok(!hrun_app_load(path, NULL, &app, &err), "%s loads: %s", path, err.text);
        free(path);
        if (!app)
            continue;
        is_int(app->np.n, shipped[i].np, "%s: NP-T terms", app->name);
        is_int(app->nt.n, shipped[i].nt, "%s: N-T terms", app->name);
        is_int(app->pt.n, shipped[i].pt, "%s: P-T terms", app->name);
        is_int(hrun_app_rule(app, shipped[i].N, shipped[i].P, &err), 1, "%s: the rule accepts", app->name);
        is_int(hrun_app_rule(app, shipped[i].bad_N, shipped[i].bad_P, NULL) == 1, 0, "%s: and refuses",
               app->name);
        ok(!hrun_app_memory(app, 10000, 4, &bytes, &err), "%s: memory", app->name);
        for (int P = 1; P <= 64; P++)
            for (int k = 0; k < app->sizes.n; k++)
                for (int t = 0; t < app->np.n; t++) {
                    v[0] = (double)app->sizes.v[k];
                    v[1] = P;
                    bad += hrun_expr_eval(app->np.v[t].expr, v, &y, &err) || y < 0;
                }
        is_int(bad, 0, "%s: its terms have values that are not negative", app->name);
        if (shipped[i].line) {
            ok(!regcomp(&re, app->time.match, REG_EXTENDED) && !regexec(&re, shipped[i].line, 2, m, 0) &&
               (size_t)(m[1].rm_eo - m[1].rm_so) == strlen(shipped[i].time) &&
               !strncmp(shipped[i].line + m[1].rm_so, shipped[i].time, strlen(shipped[i].time)),
               "%s: its result line is understood", app->name);
            regfree(&re);
        }
        hrun_app_destroy(app);
    }
}

static void test_hpl_format(void)
{
    char *path = hrun_strf("%s/../../share/profiles/hpl.yaml", test_data());
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_buf b = HRUN_BUF_INIT;
    const char *line = "WR11C2R4         960   128     2     3               0.02             3.9153e+01\n";
    struct hrun_app *app = NULL;
    struct hrun_clock *clock;
    double t = 0;
    int lines = 0;

    if (!hrun_app_load(path, NULL, &app, &err) &&
        !hrun_app_expand(app, app->run.files[0].content, &(struct hrun_app_values){ 960, 6, NULL }, &b, &err))
        for (const char *s = b.data; *s; s++)
            lines += *s == '\n';
    is_int(lines, 31, "HPL.dat has the 31 lines that HPL reads");
    has_str(b.data, "\n960          problem size\n", "N");
    has_str(b.data, "\n2          process rows\n3        process columns\n", "the squarest grid of P");
    clock = app ? hrun_clock_create(app, &(struct hrun_app_values){ 960, 6, NULL }, ".", &err) : NULL;
    hrun_clock_feed(clock, line, strlen(line));
    ok(clock && !hrun_clock_result(clock, &t, &err) && fabs(t - 0.0151) < 1e-6,
       "the time has the digits of the Gflops: %.7f %s", t, err.text);
    hrun_clock_destroy(clock);
    hrun_app_destroy(app);
    hrun_buf_release(&b);
    free(path);
}

int main(void)
{
    char *dir = temp_dir();

    test_sample();
    test_defines();
    test_least(dir);
    test_derived(dir);
    test_family(dir);
    test_threads(dir);
    test_start(dir);
    test_network(dir);
    test_mistakes(dir);
    test_questions(dir);
    test_shipped();
    test_hpl_format();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
