/* test_app_clock.c - reading times out of output: cut anywhere, long lines, odd bytes, files old and new */
#include "fixture.h"

#include "app/app.h"
#include "app/clock.h"
#include "app/template.h"
#include "app/time_match.h"

#include <regex.h>
#include <sys/resource.h>
#include <time.h>

static char *dir;
static const struct hrun_app_values at = { 100, 4, NULL };

static struct hrun_clock *create(const char *match, const char *file)
{
    static struct hrun_app app;         /* which outlives the clock */
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_clock *c;

    memset(&app, 0, sizeof app);
    app.name = "app";
    app.time.match = (char *)match;
    app.time.file = (char *)file;
    c = hrun_clock_create(&app, &at, dir, &err);
    if (!c)
        ok(0, "a clock for '%s': %s", match, err.text);
    return c;
}

/* The time in text, fed in pieces of `piece` bytes: -1 no match, -2 not a time. */
static double time_in(const char *match, const char *text, size_t len, size_t piece)
{
    struct hrun_clock *c = create(match, NULL);
    struct hrun_error err = { .code = HRUN_OK };
    double t = 12345;
    int rc;

    for (size_t i = 0; c && i < len; i += piece)
        hrun_clock_feed(c, text + i, len - i < piece ? len - i : piece);
    rc = c ? hrun_clock_result(c, &t, &err) : -1;
    hrun_clock_destroy(c);
    if (rc)
        return t != 12345 ? -9 : err.code == HRUN_ENODATA ? -1 : err.code == HRUN_ENONFINITE ? -2 : -8;
    return t;
}

static void test_lines(void)
{
    const char text[] = "start\ntime: 1.5 s\ntime: 2.25 s\r\nother\0time: 4 s\nrate 7";
    const size_t len = sizeof text - 1;
    int wrong = 0;

    for (size_t piece = 1; piece <= len; piece++)
        wrong += time_in("time: ([0-9.]+)", text, len, piece) != 4;
    is_int(wrong, 0, "the last match counts, however the output is cut");
    ok(time_in("^time: ([0-9.]+)", text, len, 5) == 2.25, "lines begin where they begin");
    ok(time_in("^time: ([0-9.]+) s$", text, len, 5) == 2.25, "and end before CR");
    ok(time_in("^([0-9.]*)$", "1.5\r\n", 5, 5) == 1.5, "CR and LF end one line");
    ok(time_in("^t ([0-9]+)$", " 1 %\rt 7\r 2 %\n", 15, 4) == 7, "a CR alone ends a line of progress");
    ok(time_in("^rate ([0-9.]+)", text, len, 5) == 7, "the last line may lack its end");
    ok(time_in("nothing ([0-9.]+)", text, len, 5) == -1, "no match");
    ok(time_in("(x)?time: [0-9.]+ s$", text, len, 5) == -1, "a group that took no part is no match");
    ok(time_in("time: ([0-9.]+)", "time: 1.5.2", 11, 3) == -2, "not a number");
    ok(time_in("time: ([0-9.]+)", "time: 0.00", 10, 3) == 0, "zero is a time that is too short to tell");
    ok(time_in("time: ([0-9.e-]+)", "time: -3", 8, 3) == -2, "nor is a negative one");
    ok(time_in("time: ([a-z]+)", "time: nan", 9, 3) == -2, "nor nan");
    ok(time_in("time: ([0-9.e]+)", "time: 1e999", 11, 3) == -2, "nor an overflow");
    ok(time_in("time: ([a-z]*)", "time: ", 6, 3) == -2, "nor an empty text");
    is_num(time_in("time: ([0-9.ED+-]+)", "time: 0.125D-01", 15, 3), 0.0125, 1e-15, "Fortran's exponent");
    is_num(time_in("WALL ([0-9.dhms ]+)", "WALL 1h 2m 3.5s", 15, 4), 3723.5, 1e-12, "with units");
    is_num(time_in("WALL ([0-9.dhms ]+)", "WALL 0.75s", 10, 4), 0.75, 1e-15, "or one");
    ok(time_in("WALL ([0-9.dhms ]+)", "WALL 3s 2m", 10, 4) == -2, "from large to small");
}

/* Each expression finds in each line what regexec alone finds. */
static void test_expressions(void)
{
    static const char *const expressions[] = {
        "t ([0-9]+)|s ([0-9]+)", "(a)|b", "b|(a)", "^(a)|^b", "x|^t ([0-9])|y$", "(^t|x) ", "([0-9]+)$",
        "x(^a)?", "(a$|b)",
        "1) t ([0-9]+)", ") t ([0-9]+)", "([0-9])) t", "1){1,2} t ([0-9]+)", "1)* ?t ([0-9]+)", "x|) t ([0-9])",
        "[)] t ([0-9])", "\\) t ([0-9])", "(x|)t", "(|x)t", "()", "(a)||b", "|(a)", "a*(b*)", "(((t)))", "t{1}( )",
        "^.*([0-9])", "(\\<t)", "a\\\\d|t ([0-9])"
    };
    static const char *const lines[] = {
        "", "t 3", "1) t 45 s", ") t 7", "1)) t 8", "xa", "ab", "b a", "s 3 t 4", "xt 1y"
    };

    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct hrun_time_match *p = hrun_time_match_create(expressions[i], NULL);
        regmatch_t m[2];
        regex_t re;
        int same = p && !regcomp(&re, expressions[i], REG_EXTENDED);

        for (size_t k = 0; same && k < sizeof lines / sizeof *lines; k++) {
            const char *group = NULL;
            size_t len = 0;
            int matches = !regexec(&re, lines[k], 2, m, 0);

            same = hrun_time_match_test(p, lines[k]) == matches;
            if (matches && m[1].rm_so >= 0)
                same &= case_holds(hrun_time_match_find(p, lines[k], &group, &len) == 1 &&
                                   group == lines[k] + m[1].rm_so &&
                                   (regoff_t)len == m[1].rm_eo - m[1].rm_so, i, k);
            else
                same &= case_holds(hrun_time_match_find(p, lines[k], &group, &len) == 0, i, k);
        }
        ok(same, "'%s' finds what regexec finds", expressions[i]);
        if (p)
            regfree(&re);
        hrun_time_match_destroy(p);
    }
}

static void test_long_lines(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct rusage usage;
    clock_t begin;

    hrun_buf_adds(&b, "t=3 ");
    hrun_buf_addn(&b, 'x', 3 * HRUN_CLOCK_LINE);
    hrun_buf_adds(&b, " t=4\n");
    ok(time_in("t=([0-9]+)", b.data, b.len, 1000) == 3, "a long line is matched by its beginning");
    ok(time_in("(t=4)", b.data, b.len, 1000) == -1, "and not by its end");
    hrun_buf_adds(&b, "t=5\n");
    ok(time_in("t=([0-9]+)", b.data, b.len, 70000) == 5, "the next line begins anew");
    hrun_buf_reset(&b);
    hrun_buf_addn(&b, 'x', HRUN_CLOCK_LINE - 3);
    hrun_buf_adds(&b, "t=6\n");
    ok(time_in("x(t=6)$", b.data, b.len, 4096) == -2, "a line of exactly the limit is whole");
    hrun_buf_reset(&b);
    for (int i = 0; i < 256; i++) {
        hrun_buf_addn(&b, 'x', HRUN_CLOCK_LINE);
        hrun_buf_addc(&b, '\n');
    }
    begin = clock();
    ok(time_in(".*x.*t=([0-9]+)", b.data, b.len, 1 << 16) == -1, "16 MiB of long lines without a time");
    ok(clock() - begin < 2 * CLOCKS_PER_SEC, "are searched in less than 2 s");
    hrun_buf_reset(&b);
    for (int i = 0; i < 40; i++) {
        hrun_buf_addn(&b, 'x', HRUN_CLOCK_LINE / 4);
        hrun_buf_addf(&b, " xt=%d\n", i + 1);
    }
    begin = clock();
    ok(time_in("x+t=([0-9]+)", b.data, b.len, 1 << 16) == 40, "the time at the end of long lines");
    ok(clock() - begin < 2 * CLOCKS_PER_SEC, "is searched for in the last of them only");
    hrun_buf_adds(&b, "t=5\n");
    ok(time_in(".*t=([0-9]+)", b.data, b.len, 1 << 16) == 5, "a short line behind long ones counts");
    hrun_buf_reset(&b);
    for (unsigned i = 0, r = 1; i < 1 << 16; i++, r = r * 1103515245 + 12345)
        hrun_buf_addc(&b, i % 4096 == 0 ? '\n' : "ab"[r >> 30 & 1]);
    ok(time_in("a.{240}([0-9])", b.data, b.len, 1 << 16) == -1, "text of which no piece is like another");
    getrusage(RUSAGE_SELF, &usage);
#ifdef __SANITIZE_ADDRESS__
    usage.ru_maxrss = 0;        /* which keeps what is freed */
#endif
    ok(usage.ru_maxrss < 200 << 10, "is searched in less than 200 MB (%ld KiB)", usage.ru_maxrss);
    hrun_buf_release(&b);
}

/* A clock on a file whose content is `before`; meanwhile it is opened by mode and `after` is written. */
static double file_time(const char *before, const char *mode, const char *after, struct hrun_error *err)
{
    char *path = hrun_strf("%s/out.txt", dir);
    struct hrun_clock *c;
    double t = -1;
    FILE *f;

    unlink(path);
    if (before)
        put(dir, "out.txt", before);
    c = create("time: *([0-9.]+)", "out.txt");
    hrun_clock_feed(c, "time: 99\n", 9);
    usleep(20000);      /* so that the file's date differs */
    f = mode ? fopen(path, mode) : NULL;
    if (f) {
        fputs(after, f);
        fclose(f);
    }
    err->code = HRUN_OK;
    if (hrun_clock_result(c, &t, err))
        t = -1;
    else if (hrun_clock_result(c, &t, err))
        t = -2;
    hrun_clock_destroy(c);
    free(path);
    return t;
}

static void test_files(void)
{
    struct hrun_error err;

    ok(file_time(NULL, "w", "time: 3\n", &err) == 3, "a file that the run made");
    ok(file_time("time: 1\n", "a", "time: 4\n", &err) == 4, "a file to which it added");
    ok(file_time("time: 1\n", NULL, NULL, &err) == -1 && err.code == HRUN_ENODATA, "an old file is not read");
    ok(file_time("time: 1\n", "a", "nothing\n", &err) == -1 && err.code == HRUN_ENODATA, "nor the old part");
    ok(file_time("time: 1 and so on\n", "w", "time: 5\n", &err) == 5, "a shorter file, written anew");
    ok(file_time("time: 1\n", "w", "time: 6 and so on\n", &err) == 6, "a longer one");
    ok(file_time("time: 1\n", "w", "time: 1\n", &err) == 1, "the very same, written anew");
    ok(file_time("", "a", "time: 7", &err) == 7, "an empty file, no end of line");
    ok(file_time(NULL, NULL, NULL, &err) == -1, "no file at all");
    is_int(err.code, HRUN_ENODATA, "code");
    is_str(err.text, "the program reported no time: the run wrote no file 'out.txt'", "message");
    file_time(NULL, "w", "nothing\n", &err);
    is_str(err.text, "the program reported no time: no line of out.txt matches 'time: *([0-9.]+)'",
           "of one that says nothing; it names file and expression");
    file_time("time: 1\n", NULL, NULL, &err);
    is_str(err.text, "the program reported no time: the run wrote no file 'out.txt', only an older one is there",
           "of an old one");
}

/* The time in what a run writes into files of these names, where there was an old one; -1 and *err. */
static double pattern_time(const char *pattern, const char *const *names, struct hrun_error *err)
{
    struct hrun_clock *c;
    double t = -1;
    char text[32];
    int n = 0;

    put(dir, "result.0.yaml", "time: 99\n");
    c = create("time: *([0-9.]+)", pattern);
    for (; names[n]; n++) {
        snprintf(text, sizeof text, "time: %d\n", n + 1);
        put(dir, names[n], text);
    }
    err->code = HRUN_OK;
    if (hrun_clock_result(c, &t, err))
        t = -1;
    hrun_clock_destroy(c);
    while (n--) {
        char *path = hrun_strf("%s/%s", dir, names[n]);

        unlink(path);
        free(path);
    }
    return t;
}

static void test_patterns(void)
{
    const char *const one[] = { "result.17.yaml", "other", NULL }, *const none[] = { "other", NULL };
    const char *const several[] = { "result.1.yaml", "result.2.yaml", "result.3.yaml", "result.4.yaml", NULL };
    struct hrun_error err;

    ok(pattern_time("result.*.yaml", one, &err) == 1, "the file that the run wrote, beside an old one (%s)", err.text);
    ok(pattern_time("result.[0-9]?.yaml", one, &err) == 1, "any pattern of glob(7)");
    ok(pattern_time("result.*.yaml", none, &err) == -1 && err.code == HRUN_ENODATA, "none is no time");
    is_str(err.text, "the program reported no time: the run wrote no file 'result.*.yaml', only an older one is there",
           "with these words");
    ok(pattern_time("result.*.yaml", several, &err) == -1 && err.code == HRUN_ENODATA, "nor are several");
    is_str(err.text, "which file holds the time is not known: the run wrote 4 that match 'result.*.yaml' "
           "(result.1.yaml, result.2.yaml, result.3.yaml and more); write a pattern under time.file that one of them "
           "matches", "with these");
    ok(pattern_time("result.2*", several, &err) == 2, "which is the way out");
}

/* The time as an expression of what is matched, N and P. */
static void test_value(void)
{
    static const char *const xNP[] = { "x", "N", "P" };
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app app;
    struct hrun_clock *c;
    double t = 5;

    memset(&app, 0, sizeof app);
    app.name = "app";
    app.time.match = "rate ([0-9.]+)";
    app.time.value = hrun_expr_compile("N^2/(P*x) - 1", xNP, 3, NULL, 0, &err);
    c = hrun_clock_create(&app, &at, dir, &err);
    hrun_clock_feed(c, "rate 2.5\n", 9);
    ok(!hrun_clock_result(c, &t, &err) && t == 999, "a rate is a time: %s", err.text);
    hrun_clock_feed(c, "rate 0\n", 7);
    is_int(hrun_clock_result(c, &t, &err), -1, "a rate of 0");
    is_int(err.code, HRUN_ENONFINITE, "code");
    is_str(err.text, "time of app: 'N^2/(P*x) - 1' divides by zero at x=0, N=100, P=4", "message");
    hrun_clock_feed(c, "rate 2500\n", 10);
    is_int(hrun_clock_result(c, &t, &err), -1, "a time of 0");
    is_str(err.text, "time of app: 'N^2/(P*x) - 1' is 0 at x=2500, N=100, P=4: not a positive number of seconds",
           "message");
    ok(t == 999, "the output is untouched");
    hrun_clock_destroy(c);
    hrun_expr_destroy(app.time.value);
}

static void test_errors(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app app;
    struct hrun_clock *c = create("x([0-9]+)", NULL);
    double t = 5;

    is_int(hrun_clock_result(c, &t, &err), -1, "nothing was fed");
    is_int(err.code, HRUN_ENODATA, "code");
    is_str(err.text, "the program reported no time: no line of its standard output matches 'x([0-9]+)'",
                                                                                              "message");
    hrun_clock_destroy(c);
    c = create("x([-0-9]+)", NULL);
    hrun_clock_feed(c, "x-1\n", 4);
    is_int(hrun_clock_result(c, &t, &err), -1, "below zero");
    is_str(err.text, "the program reported a time of '-1' in its standard output: not a positive number of "
           "seconds", "message");
    ok(t == 5, "the output is untouched");
    hrun_clock_destroy(c);
    hrun_clock_destroy(NULL);

    memset(&app, 0, sizeof app);
    app.name = "app";
    err.code = HRUN_OK;
    ok(!hrun_clock_create(&app, &at, dir, &err) && err.code == HRUN_OK, "no expression, no clock, no error");
    app.time.match = "a(b";
    ok(!hrun_clock_create(&app, &at, dir, &err) && err.code == HRUN_EINVAL, "a bad expression");
    app.time.match = "ab";
    ok(!hrun_clock_create(&app, &at, dir, &err) && err.code == HRUN_EINVAL, "an expression without a group");
    app.time.match = "(a)";
    app.time.file = ".";
    ok(!hrun_clock_create(&app, &at, dir, &err) && err.code == HRUN_EIO, "a folder instead of a file");
}

int main(void)
{
    dir = temp_dir();
    test_lines();
    test_expressions();
    test_long_lines();
    test_files();
    test_value();
    test_patterns();
    test_errors();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
