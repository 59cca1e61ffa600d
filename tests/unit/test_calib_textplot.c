/* test_calib_textplot.c - plots of text: exact pictures of small cases, and what cannot be drawn */
#include "tap.h"

#include "../../calib/profiles/profiles.h"

static const struct textplot_point line[] = { { 100, 1 }, { 1000, 10 } };
static const struct textplot_point dots[] = { { 100, 1 }, { 1000, 10 }, { 1000, 1 } };

/* 19 columns for a decade of N, 5 rows for one of time: column c lies in row 4 c/18, rounded. */
static void test_pictures(void)
{
    struct textplot t = { "N", 29, 5, 0 };
    struct textplot_series v[] = { { 'a', dots, 3 }, { 0, line, 2 } };
    struct hrun_buf out = HRUN_BUF_INIT;

    textplot_draw(&t, v, 2, &out);
    is_str(out.data,
           "  10.0 s +                ..a\n"
           "         |            ....\n"
           "  3.16 s +       .....\n"
           "         |   ....\n"
           "  1.00 s +a..               a\n"
           "         +-------------------\n"
           "          100     N      1000\n", "a curve and marks in ASCII");
    hrun_buf_reset(&out);
    t.unicode = 1;
    t.height = 3;
    textplot_draw(&t, &v[1], 1, &out);
    has_str(out.data, "\xe2\x94\xa4", "a curve alone in UTF-8 with line drawing characters");
    has_str(out.data, "\xc2\xb7", "and points in the middle of the line");
    hrun_buf_release(&out);
}

/* No line but those of labels is longer than asked for. */
static void test_width(void)
{
    struct textplot_series v = { 'x', dots, 3 };
    struct hrun_buf out = HRUN_BUF_INIT;
    int longest = 0, lines = 0;

    for (int width = 30; width <= 100; width += 7) {
        struct textplot t = { "N", width, 12, 0 };

        hrun_buf_reset(&out);
        longest = lines = 0;
        textplot_draw(&t, &v, 1, &out);
        for (const char *at = out.data; *at; lines++) {
            const char *end = strchr(at, '\n');

            longest = end - at > longest ? (int)(end - at) : longest;
            if (end > at && end[-1] == ' ')
                lines = -1000;
            at = end + 1;
        }
        ok(longest == width && lines == 14, "width %d: %d columns, %d lines, no blanks at their ends", width, longest,
           lines);
    }
    hrun_buf_release(&out);
}

static void test_odd(void)
{
    static const struct textplot_point bad[] = { { NAN, 1 }, { 1, INFINITY }, { 0, 1 }, { 1, -1 } };
    static const struct textplot_point one[] = { { 5, 0.25 } };
    struct textplot t = { "N", 40, 10, 0 };
    struct textplot_series v[] = { { 'a', bad, 4 }, { 'b', NULL, 0 } };
    struct hrun_buf out = HRUN_BUF_INIT;

    textplot_draw(&t, v, 2, &out);
    is_str(out.data, "", "of what cannot be drawn nothing is drawn");
    v[1] = (struct textplot_series){ 'b', one, 1 };
    textplot_draw(&t, v, 2, &out);
    is_str(out.data,
           "         |\n"
           "  250 ms +              b\n"
           "         |\n"
           "         +------------------------------\n"
           "          5              N\n", "one point stands in the middle");
    hrun_buf_reset(&out);
    v[0] = (struct textplot_series){ 'a', one, 1 };
    textplot_draw(&t, v, 2, &out);
    ok(strchr(out.data, 'a') && !strchr(out.data, 'b'), "the first series stands over the others");
    hrun_buf_release(&out);
}

int main(void)
{
    test_pictures();
    test_width();
    test_odd();
    return tap_done();
}
