/* fuzz_ranges.c - any text: no range, with the outputs untouched, or one that is written and read back the same */
#include "fuzz.h"

#include "base/list.h"

#include <limits.h>

const char *const fuzz_seeds[] = {
    "0-3,8", "0", "7-7", "3-1", "0-", "-1", "1048575-1048576", "9223372036854775807", "9223372036854775808-1",
    "0,64;2,65", NULL
};

static void check(const char *p, long max)
{
    struct hrun_buf shown = HRUN_BUF_INIT;
    long first = -4711, last = -4711, a, b;
    const char *rest = hrun_range_next(p, max, &first, &last), *end;

    if (!rest) {
        FUZZ_CHECK(first == -4711 && last == -4711);
        return;
    }
    FUZZ_CHECK(rest > p && 0 <= first && first <= last && last <= max);
    FUZZ_CHECK(*rest < '0' || *rest > '9');
    hrun_buf_adds(&shown, "x");
    hrun_range_add(&shown, 1, first, last);
    end = hrun_range_next(shown.data + 1, max, &a, &b);
    FUZZ_CHECK(end && !*end && a == first && b == last);
    hrun_buf_release(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long max[] = { 0, 9, HRUN_RANGES_MAX, LONG_MAX };
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_add(&text, data, size);
    for (size_t i = 0; i < sizeof max / sizeof *max; i++)
        check(text.data, max[i]);
    hrun_buf_release(&text);
    return 0;
}
