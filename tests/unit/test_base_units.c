/* numbers as people type and read them; tables */
#include "tap.h"

#include "base/units.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void test_count(void)
{
    static const struct { const char *text; int good; long long want; } t[] = {
        { "9600", 1, 9600 }, { "+5", 1, 5 }, { "-5", 1, -5 }, { "007", 1, 7 }, { "0", 1, 0 }, { "", 0, 0 },
        { " 1", 0, 0 }, { "1 ", 0, 0 }, { "1.0", 0, 0 }, { "1e3", 0, 0 }, { "0x10", 0, 0 }, { "12a", 0, 0 },
        { "-", 0, 0 }, { "+-1", 0, 0 }, { "1000", 0, 0 }, { "-1001", 0, 0 }, { "10001", 0, 0 },
        { "9223372036854775808", 0, 0 }, { "99999999999999999999999", 0, 0 }, { "1,000", 0, 0 },
        { "5e2", 1, 500 }, { "-5E1", 1, -50 }, { "0e9", 1, 0 }, { "1e", 0, 0 }, { "e3", 0, 0 }, { "1e-1", 0, 0 },
        { "1.5e2", 0, 0 }, { "1e2e", 0, 0 }, { "1e400", 0, 0 }, { "1e99999999999999999999", 0, 0 }, { "4kB", 0, 0 },
    };
    struct hrun_error err = { 0 };
    int64_t v;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int64_t max = t[i].want == 9600 ? 10000 : 999;
        v = 4711;
        ok(hrun_parse_count("-N", t[i].text, -1000, max, &v, &err) == (t[i].good ? 0 : -1)
           && v == (t[i].good ? t[i].want : 4711), "count '%s' %s", t[i].text,
           t[i].good ? "reads" : "is refused");
    }
    ok(hrun_parse_count("-N", "two", 1, 10, &v, &err) == -1 && err.code == HRUN_EINVAL, "no number");
    is_str(err.text, "-N needs a whole number such as 1, not 'two'", "is answered with what would be right");
    ok(hrun_parse_count("-N", "4k", 1, 10, &v, &err) == -1, "a unit");
    is_str(err.text, "-N needs a whole number, not '4k': write 4000 or 4096", "is answered with the numbers it may mean");
    ok(hrun_parse_count("-N", "3M", 1, 10, &v, &err) == -1 && strstr(err.text, "write 3000000 or 3145728"), "so is M");
    ok(hrun_parse_count("-N", "11", 1, 10, &v, &err) == -1, "too large");
    is_str(err.text, "-N needs a whole number in 1..10, not '11'", "is answered with the range");
    ok(hrun_parse_count("-N", "9223372036854775807", INT64_MIN, INT64_MAX, &v, NULL) == 0 && v == INT64_MAX,
       "the largest number");
    ok(hrun_parse_count("-N", "-9223372036854775808", INT64_MIN, INT64_MAX, &v, NULL) == 0 && v == INT64_MIN,
       "the smallest number");
}

static void test_number(void)
{
    static const char *const bad[] = { "", "nan", "inf", "-inf", "1e999", "-1e999", "0x1p3", "1e", "1e+",
                                       ".", "-",
                                       "1.5x", " 1", "1 ", "1,5", "--1", "infinity", "e5" };
    struct hrun_error err = { 0 };
    double v;

    ok(hrun_parse_number("-x", "0.5", &v, &err) == 0 && v == 0.5, "0.5");
    ok(hrun_parse_number("-x", "-1e-3", &v, &err) == 0 && v == -1e-3, "-1e-3");
    ok(hrun_parse_number("-x", "+.5E+1", &v, &err) == 0 && v == 5, "+.5E+1");
    ok(hrun_parse_number("-x", "5.", &v, &err) == 0 && v == 5, "5.");
    ok(hrun_parse_number("-x", "1e-999", &v, &err) == 0 && v == 0, "1e-999 is 0");
    v = 4711;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(hrun_parse_number("-x", bad[i], &v, &err) == -1 && err.code == HRUN_EINVAL && v == 4711,
           "number '%s' is refused", bad[i]);
    is_str(err.text, "-x needs a number such as 0.5 or 1e-3, not 'e5'", "with what would be right");
}

static void test_bytes(void)
{
    static const struct { const char *text; double want; } t[] = {
        { "512", 512 }, { "0", 0 }, { "64k", 65536 }, { "64K", 65536 }, { "64KiB", 65536 },
        { "4GiB", 4294967296 },
        { "4GB", 4294967296 }, { "4g", 4294967296 }, { "1.5T", 1.5 * 1099511627776 }, { "7B", 7 },
        { "1m", 1048576 },
        { "8192T", 9007199254740992 }, { ".5k", 512 }
    };
    static const char *const bad[] = { "", "k", "-1", "+1", "1x", "1kk", "1kiBB", "1iB", "1 k", "1kb", "1e3",
                                       "8193T",
                                       "nan", "inf", "0x10", "1e999", "99999999999999999999999999T" };
    struct hrun_error err = { 0 };
    uint64_t v;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ok(hrun_parse_bytes("mem", t[i].text, &v, &err) == 0 && (double)v == t[i].want, "%s are %.0f bytes",
           t[i].text, t[i].want);
    v = 4711;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(hrun_parse_bytes("mem", bad[i], &v, &err) == -1 && err.code == HRUN_EINVAL && v == 4711,
           "bytes '%s' are refused", bad[i]);
    hrun_parse_bytes("mem", "1x", &v, &err);
    is_str(err.text, "mem needs a size such as 512, 64k, 4GiB or 1.5T, not '1x'", "with what would be right");
    hrun_parse_bytes("mem", "8193T", &v, &err);
    is_str(err.text, "mem needs at most 8192T, not '8193T'", "or with the limit");
}

static void test_duration(void)
{
    static const struct { const char *text; double want; } t[] = {
        { "90", 90 }, { "90s", 90 }, { "1.5m", 90 }, { "2h", 7200 }, { "1d", 86400 }, { "1h30m", 5400 },
        { "1d2h3m4.5s", 93784.5 }, { "0.25", 0.25 }, { "1m0s", 60 }
    };
    static const char *const bad[] = { "", "s", "-1", "0", "0s", "1h30", "30m1h", "1h1h", "1x", "1 h", "1e3",
                                       "1H",
                                       "nan", "inf", "h1" };
    struct hrun_error err = { 0 };
    double v;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ok(hrun_parse_duration("-t", t[i].text, &v, &err) == 0 && v == t[i].want, "%s are %g s", t[i].text,
           t[i].want);
    v = 4711;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(hrun_parse_duration("-t", bad[i], &v, &err) == -1 && err.code == HRUN_EINVAL && v == 4711,
           "duration '%s' is refused", bad[i]);
    hrun_parse_duration("-t", "0", &v, &err);
    is_str(err.text, "-t needs a time above 0, not '0'", "a time of 0 has its own words");
}

static void test_percent(void)
{
    static const struct { const char *text; double want; } t[] = {
        { "5%", 0.05 }, { "5", 0.05 }, { "0.5%", 0.005 }, { "1e1", 0.1 }, { "100%", 1 }
    };
    static const char *const bad[] = { "", "%", "0", "0%", "-5", "100.5%", "5%%", "5 %", "5x", "nan", "1e999" };
    struct hrun_error err = { 0 };
    double v;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        v = 0;
        ok(!hrun_parse_percent("-e", t[i].text, &v, &err) && fabs(v - t[i].want) < 1e-15, "%s", t[i].text);
    }
    v = 4711;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(hrun_parse_percent("-e", bad[i], &v, &err) == -1 && err.code == HRUN_EINVAL && v == 4711,
           "percentage '%s' is refused", bad[i]);
}

typedef struct hrun_text text_fn(double);

static void test_print(void)
{
    static const struct { text_fn *text; double v; const char *want; } t[] = {
        { hrun_seconds, 61.8, "61.8 s" }, { hrun_seconds, 0.417, "417 ms" },
        { hrun_seconds, 93.1e-6, "93.1 us" }, { hrun_seconds, 125, "2 min 5 s" },
        { hrun_seconds, 11520, "3 h 12 min" }, { hrun_seconds, 0, "0 s" },
        { hrun_seconds, 1, "1.00 s" },
        { hrun_seconds, 9.994, "9.99 s" }, { hrun_seconds, 9.996, "10.0 s" },
        { hrun_seconds, 99.94, "99.9 s" }, { hrun_seconds, 99.96, "100 s" },
        { hrun_seconds, 119.4, "119 s" }, { hrun_seconds, 119.6, "2 min" },
        { hrun_seconds, 0.9994, "999 ms" }, { hrun_seconds, 0.9996, "1.00 s" },
        { hrun_seconds, 0.9996e-3, "1.00 ms" }, { hrun_seconds, 3.2e-9, "3.20 ns" },
        { hrun_seconds, 179.6, "3 min" }, { hrun_seconds, 3599.4, "59 min 59 s" },
        { hrun_seconds, 3599.6, "1 h" }, { hrun_seconds, 7199, "2 h" },
        { hrun_seconds, 4 * 86400 + 3 * 3600, "4 days 3 h" }, { hrun_seconds, 172800, "2 days" },
        { hrun_seconds, -0.5, "-500 ms" }, { hrun_seconds, NAN, "unknown" },
        { hrun_seconds, INFINITY, "infinite" },
        { hrun_bytes, 0, "0 B" }, { hrun_bytes, 1023, "1023 B" },
        { hrun_bytes, 1024, "1.00 KiB" },
        { hrun_bytes, 11.7 * 1073741824, "11.7 GiB" }, { hrun_bytes, 1048575, "1.00 MiB" },
        { hrun_bytes, 1e24, "867362 EiB" }, { hrun_bytes, -2048, "-2.00 KiB" },
        { hrun_bytes, NAN, "unknown" },
        { hrun_count, 2754, "2,754" }, { hrun_count, 0, "0" }, { hrun_count, 999, "999" },
        { hrun_count, 1000, "1,000" }, { hrun_count, 1e15, "1,000,000,000,000,000" },
        { hrun_count, -1234567, "-1,234,567" }, { hrun_count, 5.3e41, "5.3e41" },
        { hrun_count, 9.99e41, "1.0e42" }, { hrun_count, 2e15, "2.0e15" },
        { hrun_count, INFINITY, "infinite" },
        { hrun_age, 3.9 * 86400, "3 days" }, { hrun_age, 86400, "1 day" },
        { hrun_age, 86399, "23 hours" },
        { hrun_age, 7200, "2 hours" }, { hrun_age, 60, "1 minute" },
        { hrun_age, 12.9, "12 seconds" },
        { hrun_age, 1, "1 second" }, { hrun_age, 0.5, "0 seconds" }, { hrun_age, -3, "0 seconds" }
    };

    static const struct { int n; const char *noun, *want; } counted[] = {
        { 1, "process", "1 process" }, { 2, "process", "2 processes" }, { 0, "switch", "0 switches" },
        { 3, "PE", "3 PEs" }, { 2, "path", "2 paths" }
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ok(!strcmp(t[i].text(t[i].v).s, t[i].want), "%.17g reads %s", t[i].v, t[i].want);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        ok(!strcmp(hrun_counted(counted[i].n, counted[i].noun).s, counted[i].want), "%s", counted[i].want);
    ok(!strcmp(hrun_seconds_range(1.07, 1.46).s, "1.07 s .. 1.46 s"), "a range of times");
}

static void test_table(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_table *t = hrun_table_create("lrl");

    hrun_table_row(t, "host", "ranks", "note");
    hrun_table_row(t, "a", "1", NULL);
    hrun_table_row(t, "", NULL, "\xC3\xA4\xC3\xB6");
    hrun_table_cell(t, "%s", "long name");
    hrun_table_cell(t, "%d", 1234567);
    hrun_table_cell(t, "x");
    hrun_table_cell(t, "short");
    hrun_table_row(t, NULL, NULL, NULL);
    hrun_table_render(t, 2, &b);
    is_str(b.data,
           "  host         ranks  note\n"
           "  a                1\n"
           "                      \xC3\xA4\xC3\xB6\n"
           "  long name  1234567  x\n"
           "  short\n"
           "\n", "is aligned, without trailing blanks");
    hrun_table_destroy(t);
    hrun_buf_reset(&b);
    t = hrun_table_create("rl");
    hrun_table_row(t, "\xE2\x82\xAC", "one");
    hrun_table_row(t, "22", "two");
    hrun_table_render(t, 0, &b);
    is_str(b.data, " \xE2\x82\xAC  one\n22  two\n", "columns count characters, not bytes");
    hrun_table_destroy(t);
    hrun_table_destroy(NULL);
    hrun_buf_reset(&b);
    t = hrun_table_create("l");
    hrun_table_render(t, 5, &b);
    is_int((int)b.len, 0, "no rows, no text");
    hrun_table_destroy(t);
    hrun_buf_release(&b);
}

/* Names that are longer than their place, and how long a line may be. */
static void test_shortened(void)
{
    static const struct { const char *text; size_t columns; const char *want; } t[] = {
        { "turin", 5, "turin" }, { "turin", 4, "t..n" }, { "oxide-virtual-turin-like", 11, "oxide..like" },
        { "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC", 5, "\xC3\xA4\xC3\xB6..\xC3\xBC" }, { "", 4, "" },
    };
    struct winsize size = { .ws_col = 132 };
    int tty = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_RDONLY);

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;

        hrun_add_shortened(&b, t[i].text, t[i].columns);
        is_str(b.data, t[i].want, "'%s' in %zu columns", t[i].text, t[i].columns);
        hrun_buf_release(&b);
    }
    unsetenv("COLUMNS");
    is_int(hrun_terminal_width(null), 80, "a line that is no terminal's has 80 columns");
    setenv("COLUMNS", "100", 1);
    is_int(hrun_terminal_width(null), 100, "or what COLUMNS says");
    if (tty >= 0 && !ioctl(tty, TIOCSWINSZ, &size))
        is_int(hrun_terminal_width(tty), 132, "a terminal has those that it says");
    unsetenv("COLUMNS");
    close(tty);
    close(null);
}

int main(void)
{
    test_shortened();
    test_percent();
    test_count();
    test_number();
    test_bytes();
    test_duration();
    test_print();
    test_table();
    return tap_done();
}
