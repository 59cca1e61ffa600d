/* fuzz_output.c - "REGEX<newline>TEXT": any text as what a program prints, and any regular expression for its time: the
 * same time, or the same words, in whatever pieces the text comes. The whole input is a template, too, and a
 * word of a command line: refused, or expanded. */
#include "fuzz.h"

#include "app/app.h"
#include "app/clock.h"
#include "app/template.h"

#include <math.h>

const char *const fuzz_seeds[] = {
    "^time: ([0-9.]+)\nbegin\ntime: 1.5\r\ntime: 2\n", "N *= *[0-9]+ +TIME *= *([0-9.eEdD+-]+)\n N = 8 TIME = 1.5D+03",
    "(a|(b))*c(d)\nbcd\n", "(x)?y\ny\n", "([0-9]+)$\n1e999\n0\n-1\n99999999999999999999\n", "(.*)\n\n\n", "(\n",
    "{N} {P} {shares} {nb} {{N} {x",
    "{shares:9:,}{shares:units:\\n}{shares:cuts:*} {shares:}{sharesX} {shares:", "{other}", "{N", NULL
};

static double time_of(struct hrun_clock *c, const char *text, size_t len, size_t piece, struct hrun_error *err)
{
    double t = -1;

    memset(err, 0, sizeof *err);
    for (size_t at = 0; at < len; at += piece)
        hrun_clock_feed(c, text + at, len - at < piece ? len - at : piece);
    if (hrun_clock_result(c, &t, err))
        FUZZ_CHECK(t == -1 && (err->code == HRUN_ENODATA || err->code == HRUN_ENONFINITE) && err->text[0]);
    else
        FUZZ_CHECK(isfinite(t) && t >= 0);
    return t;
}

static void check_clock(char *text, size_t len)
{
    char *end = memchr(text, '\n', len), name[] = "a";
    struct hrun_app app = { .name = name, .time.match = text };
    struct hrun_error one, other;
    double t = 0;

    if (!end || len > 4096)
        return;
    *end = 0;
    for (size_t piece = 1; piece <= 4096; piece *= 64) {
        struct hrun_clock *c = hrun_clock_create(&app, &(struct hrun_app_values){ 1, 1, NULL }, ".", &one);
        double s;

        if (!c) {
            FUZZ_CHECK(one.code == HRUN_EINVAL && one.text[0]);
            return;
        }
        s = time_of(c, end + 1, len - (size_t)(end + 1 - text), piece, &one);
        FUZZ_CHECK(piece == 1 || (s == t && !strcmp(one.text, other.text)));
        t = s;
        other = one;
        hrun_clock_destroy(c);
    }
}

static void check_template(const char *text)
{
    char name[] = "nb", app_name[] = "a";
    struct hrun_const consts[] = { { name, 128, NULL } };
    const struct hrun_app app = { .name = app_name, .consts = consts, .nconsts = 1 };
    const struct hrun_app_values v = { 9600, 8, NULL };
    struct hrun_buf whole = HRUN_BUF_INIT, word = HRUN_BUF_INIT, variable = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    const char *form;
    size_t len;

    if (hrun_app_expand(&app, text, &v, &whole, &err))
        FUZZ_CHECK(err.code == HRUN_EINVAL && err.text[0] && !whole.len);
    if (hrun_app_expand_word(&app, text, &v, &word, &err))
        FUZZ_CHECK(strcasestr(text, "{share") && err.code == HRUN_EINVAL && err.text[0] && !word.len);
    if (hrun_app_expand_variable(&app, text, &v, &variable, &err))
        FUZZ_CHECK(hrun_app_find_shares(text, &form, &len) && err.code == HRUN_EINVAL && !variable.len);
    FUZZ_CHECK(strchr(text, '{') || (!strcmp(word.data, text) && !strcmp(whole.data, text) &&
                                     !strcmp(variable.data, text)));
    hrun_buf_release(&whole);
    hrun_buf_release(&word);
    hrun_buf_release(&variable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_add(&text, data, size);
    check_template(text.data);
    check_clock(text.data, text.len);
    hrun_buf_release(&text);
    return 0;
}
