/* lists of numbers such as "0-3,8", read and written */
#include "tap.h"

#include "base/list.h"

#include <errno.h>
#include <limits.h>

static void test_next(void)
{
    static const struct { const char *text; long max, first, last; const char *rest; } t[] = {
        { "0", 0, 0, 0, "" }, { "3,8", 9, 3, 3, ",8" }, { "0-3,8", 9, 0, 3, ",8" }, { "7-7;1", 9, 7, 7, ";1" },
        { "007", 9, 7, 7, "" }, { "1-2-3", 9, 1, 2, "-3" }, { "4x", 9, 4, 4, "x" },
        { "1048575", HRUN_RANGES_MAX, 1048575, 1048575, "" },
        { "0-9223372036854775807", LONG_MAX, 0, LONG_MAX, "" },
        { "", 9, -1, -1, NULL }, { ",1", 9, -1, -1, NULL }, { " 1", 9, -1, -1, NULL }, { "+1", 9, -1, -1, NULL },
        { "-1", 9, -1, -1, NULL }, { "x", 9, -1, -1, NULL }, { "1-", 9, -1, -1, NULL }, { "1-x", 9, -1, -1, NULL },
        { "1--2", 9, -1, -1, NULL }, { "3-1", 9, -1, -1, NULL }, { "10", 9, -1, -1, NULL }, { "1", 0, -1, -1, NULL },
        { "0-10", 9, -1, -1, NULL }, { "1048576", HRUN_RANGES_MAX, -1, -1, NULL },
        { "9223372036854775808", LONG_MAX, -1, -1, NULL }, { "99999999999999999999999", LONG_MAX, -1, -1, NULL },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        long first = -1, last = -1;
        const char *rest;

        errno = 77;
        rest = hrun_range_next(t[i].text, t[i].max, &first, &last);
        ok(!rest == !t[i].rest && first == t[i].first && last == t[i].last && errno == 77, "'%s' up to %ld %s",
           t[i].text, t[i].max, t[i].rest ? "reads" : "is refused");
        is_str(rest ? rest : "(none)", t[i].rest ? t[i].rest : "(none)", "... and what stands behind it is found");
    }
}

static void test_add(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_adds(&b, "cpus ");
    hrun_range_add(&b, 5, 0, 3);
    hrun_range_add(&b, 5, 8, 8);
    is_str(b.data, "cpus 0-3,8", "ranges are appended to a list that begins behind other text");
    hrun_buf_release(&b);
}

int main(void)
{
    test_next();
    test_add();
    return tap_done();
}
