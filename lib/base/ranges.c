/* ranges.c - lists of numbers such as "0-3,8"; see list.h for the contracts */
#include "base/list.h"

/* A number of decimal digits alone. NULL: there is none, or it is above max. */
static const char *read_number(const char *p, long max, long *out)
{
    const char *start = p;
    long n = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        int digit = *p - '0';

        if (n > (max - digit) / 10)
            return NULL;
        n = 10 * n + digit;
    }
    if (p == start || n > max)
        return NULL;
    *out = n;
    return p;
}

const char *hrun_range_next(const char *p, long max, long *first, long *last)
{
    long a = 0, b;

    p = read_number(p, max, &a);
    b = a;
    if (p && *p == '-')
        p = read_number(p + 1, max, &b);
    if (!p || b < a)
        return NULL;
    *first = a;
    *last = b;
    return p;
}

void hrun_range_add(struct hrun_buf *out, size_t start, long first, long last)
{
    hrun_buf_addf(out, last > first ? "%s%ld-%ld" : "%s%ld", out->len > start ? "," : "", first, last);
}
