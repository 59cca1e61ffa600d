/* test_calib_plot.c - figures as data: what reaches gnuplot of texts and numbers */
#include "tap.h"

#include "../../calib/report/plot.h"

#include <stdlib.h>

static const char *ticks(enum plot_axis axis, double low, double high, struct hrun_buf *out)
{
    struct plot_range r = { axis, "", low, high };

    hrun_buf_reset(out);
    plot_ticks(&r, out);
    return out->data;
}

static void test_ticks(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int least = 100, most = 0;

    is_str(ticks(PLOT_PROCESSES, 1, 16, &b), "'1' 1, '2' 2, '4' 4, '8' 8, '16' 16", "processes: powers of two");
    is_str(ticks(PLOT_SIZES, 400, 4000, &b), "'500' 500, '1000' 1000, '2000' 2000", "sizes: 1, 2, 5");
    is_str(ticks(PLOT_SIZES, 1, 1e6, &b), "'1' 1, '100' 100, '10000' 10000, '1000000' 1000000",
           "as many as have room for their labels");
    is_str(ticks(PLOT_SIZES, 1e6, 1.2e6, &b),
           "'1000000' 1000000, '1100000' 1100000, '1200000' 1200000, '1300000' 1300000",
           "of large ones that differ little, too");
    is_str(ticks(PLOT_BYTES, 1, 1 << 20, &b), "'1 B' 1, '16 B' 16, '256 B' 256, '4 KiB' 4096, '64 KiB' 65536, "
           "'1 MiB' 1048576", "bytes: powers of two, with units");
    is_str(ticks(PLOT_SIZES, 500, 500, &b), "'460' 460, '480' 480, '500' 500, '520' 520, '540' 540",
           "one size: some numbers about it");
    is_str(ticks(PLOT_SECONDS, 1e-5, 10, &b),
           "'10 us' 1e-05, '100 us' 0.0001, '1 ms' 0.001, '10 ms' 0.01, '100 ms' 0.1, '1 s' 1, '10 s' 10",
           "times have units");
    is_str(ticks(PLOT_PERCENT, -10, 20, &b), "'-10 %%' -10, '0 %%' 0, '+10 %%' 10, '+20 %%' 20",
           "percentages have signs");
    for (double high = 1.001; high < 1e12; high *= 3) {
        int n = 0;

        for (const char *at = ticks(PLOT_SECONDS, 1, high, &b); (at = strstr(at, "' ")); at++)
            n++;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    ok(least >= 2 && most <= 7, "between two and seven ticks, whatever the range: %d to %d", least, most);
    hrun_buf_release(&b);
}

static void test_quote(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    plot_quote("plain text", 80, &b);
    is_str(b.data, "'plain text'", "a word is quoted");
    hrun_buf_reset(&b);
    plot_quote("a'; system(\"id\") `id` \\ @x\n$d", 80, &b);
    ok(!strchr(b.data + 1, '\n') && !strchr(b.data, '`') && !strchr(b.data, '\\') && !strchr(b.data, '"') &&
       strchr(b.data + 1, '\'') == b.data + b.len - 1, "nothing in it ends the word or means something: %s", b.data);
    hrun_buf_reset(&b);
    plot_quote("\xc3\xa4\xc3\xb6\xc3\xbc", 2, &b);
    is_str(b.data, "'\xc3\xa4\xc3\xb6\xe2\x80\xa6'", "long text is cut between characters");
    hrun_buf_release(&b);
}

static void test_data(void)
{
    struct plot *p = plot_create(PLOT_SIZES, "N", PLOT_SECONDS, "time");
    struct hrun_buf b = HRUN_BUF_INIT;
    int points, bars;

    if (!p)
        exit(1);
    ok(plot_is_empty(p), "a figure is empty");
    points = plot_series(p, PLOT_POINTS, PLOT_FIRST_SERIES, 0, "points");
    bars = plot_series(p, PLOT_INTERVALS, PLOT_FIRST_SERIES + 1, 1, NULL);
    plot_add(p, points, 0, 1, 0, 0);
    plot_add(p, points, 10, NAN, 0, 0);
    plot_add(p, points, 10, -1, 0, 0);
    plot_add(p, points, INFINITY, 1, 0, 0);
    ok(plot_is_empty(p), "what has no place on its axes is left out");
    plot_add(p, points, 10, 2, 0, 0);
    plot_add(p, bars, 20, 4, 0, 8);
    is_str(p->v[points].data.data, "10 2 0 0\n", "a point");
    ok(p->y.low == 2 && p->y.high == 8 && p->x.low == 10 && p->x.high == 20, "intervals count for the axis");
    is_str(p->v[bars].data.data, "20 4 0.004 8\n", "one that reaches to 0 leaves a logarithmic axis at its edge");
    plot_set_title(p, "%s", "it's");
    plot_script(p, 1, &b);
    has_str(b.data, "set title 'it\xe2\x80\x99s'", "the title is quoted");
    has_str(b.data, "$d0 << EOD\n10 2 0 0\nEOD\n", "data stand in the script");
    has_str(b.data, "title 'points'", "a series with a title is in the legend");
    has_str(b.data, "notitle", "one without is not");
    hrun_buf_release(&b);
    plot_destroy(p);
}

/* Colours are found again by their light values. */
static void test_colours(void)
{
    for (int i = 0; i < PLOT_COLOURS; i++)
        for (int k = 0; k < i; k++)
            if (plot_colour(i)->light == plot_colour(k)->light || !strcmp(plot_colour(i)->name, plot_colour(k)->name)) {
                ok(0, "%s and %s differ", plot_colour(i)->name, plot_colour(k)->name);
                return;
            }
    ok(plot_colour(PLOT_COLOURS - 1)->name != NULL, "all colours differ");
}

int main(void)
{
    test_ticks();
    test_quote();
    test_data();
    test_colours();
    return tap_done();
}
