/* fuzz_units.c - any text: refused with words and the output untouched, or a value within its limits */
#include "fuzz.h"

#include "base/units.h"

#include <math.h>

const char *const fuzz_seeds[] = {
    "9600", "-5", "0.5", "1e-3", "4GiB", "1.5T", "64k", "90", "1h30m", "1d2h3m4.5s", "9007199254740992",
    "8192T", "1e308",
    "nan", "inf", "0x10", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT, shown = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    double number = 4711, seconds = 4711;
    int64_t count = 4711;
    uint64_t bytes = 4711;

    hrun_buf_add(&text, data, size);
    if (hrun_parse_count("-N", text.data, -1000, HRUN_COUNT_MAX, &count, &err) == 0)
        FUZZ_CHECK(count >= -1000 && count <= HRUN_COUNT_MAX);
    else
        FUZZ_CHECK(count == 4711 && err.code == HRUN_EINVAL && err.text[0]);
    if (hrun_parse_number("-x", text.data, &number, &err) == 0)
        FUZZ_CHECK(isfinite(number));
    else
        FUZZ_CHECK(number == 4711 && err.code == HRUN_EINVAL);
    if (hrun_parse_bytes("-m", text.data, &bytes, &err) == 0)
        FUZZ_CHECK(bytes <= UINT64_C(1) << 53);
    else
        FUZZ_CHECK(bytes == 4711 && err.code == HRUN_EINVAL);
    if (hrun_parse_duration("-t", text.data, &seconds, &err) == 0)
        FUZZ_CHECK(isfinite(seconds) && seconds > 0);
    else
        FUZZ_CHECK(seconds == 4711 && err.code == HRUN_EINVAL);
    hrun_buf_addf(&shown, "%s%s%s%s%s", hrun_seconds(number).s, hrun_bytes(number).s, hrun_count(number).s,
                  hrun_age(number).s, hrun_seconds(seconds).s);
    FUZZ_CHECK(shown.len > 0);
    hrun_buf_release(&text);
    hrun_buf_release(&shown);
    return 0;
}
