/* units.c - numbers as people type and read them; see units.h for the contracts
 *
 * strtod and snprintf follow the locale's decimal point. The programs never call setlocale(3), so it is the
 * dot of the C locale; the parsers refuse everything but digits and a dot before strtod sees it.
 */
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---------------------------------------------------------------- parsing */

size_t hrun_number_length(const char *s, int exponent)
{
    size_t whole = strspn(s, "0123456789"), len = whole, fraction = 0, digits, sign;

    if (s[len] == '.') {
        fraction = strspn(s + len + 1, "0123456789");
        len += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (exponent && (s[len] == 'e' || s[len] == 'E')) {
        sign = s[len + 1] == '+' || s[len + 1] == '-';
        digits = strspn(s + len + 1 + sign, "0123456789");
        if (digits)
            len += 1 + sign + digits;
    }
    return len;
}

int hrun_parse_count(const char *what, const char *text, int64_t min, int64_t max, int64_t *out,
                     struct hrun_error *err)
{
    static const char figures[] = "0123456789", units[] = "kmg";
    const char *digits = text + (*text == '-' || *text == '+'), *unit;
    size_t len = strspn(digits, figures), power = len && (digits[len] | 32) == 'e' ? len + 1 : 0;
    size_t end = power ? power + strspn(digits + power, figures) : len;
    int saved = errno, out_of_range;
    long long v, binary;
    long exponent = power ? strtol(digits + power, NULL, 10) : 0;

    errno = 0;
    binary = v = strtoll(text, NULL, 10);
    out_of_range = errno == ERANGE;
    errno = saved;
    unit = len && digits[len] && !digits[len + 1] ? strchr(units, digits[len] | 32) : NULL;
    if (unit && llabs(v) <= INT32_MAX) {    /* the user knows which of the two is meant */
        for (const char *u = units; u <= unit; u++) {
            v *= 1000;
            binary *= 1024;
        }
        return hrun_fail(err, HRUN_EINVAL, "%s needs a whole number, not '%s': write %lld or %lld", what, text, v,
                         binary);
    }
    if (len == 0 || digits[end] || end == power)
        return hrun_fail(err, HRUN_EINVAL, "%s needs a whole number such as %lld, not '%s'", what,
                         (long long)(min > 1 ? min : max < 1 ? max : 1), text);
    for (; exponent > 0 && v && !out_of_range; exponent--)
        out_of_range = __builtin_mul_overflow(v, 10, &v);
    if (out_of_range || v < min || v > max)
        return hrun_fail(err, HRUN_EINVAL, "%s needs a whole number in %lld..%lld, not '%s'", what,
                         (long long)min, (long long)max, text);
    *out = v;
    return 0;
}

int hrun_check_count(const char *what, int64_t count, int64_t min, int64_t max, struct hrun_error *err)
{
    if (count >= min && count <= max)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "%s needs a whole number in %lld..%lld, not '%lld'", what, (long long)min,
                     (long long)max, (long long)count);
}

int hrun_parse_number(const char *what, const char *text, double *out, struct hrun_error *err)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t len = hrun_number_length(digits, 1);
    int saved = errno;
    double v;

    if (len == 0 || digits[len])
        return hrun_fail(err, HRUN_EINVAL, "%s needs a number such as 0.5 or 1e-3, not '%s'", what, text);
    v = strtod(text, NULL);
    errno = saved;
    if (!isfinite(v))
        return hrun_fail(err, HRUN_EINVAL, "%s needs a finite number, '%s' is too large", what, text);
    *out = v;
    return 0;
}

int hrun_parse_positive(const char *what, const char *text, double *out, struct hrun_error *err)
{
    double v;

    if (hrun_parse_number(what, text, &v, err))
        return -1;
    if (!(v > 0))
        return hrun_fail(err, HRUN_EINVAL, "%s %s: it must be above 0", what, text);
    *out = v;
    return 0;
}

int hrun_parse_percent(const char *what, const char *text, double *out, struct hrun_error *err)
{
    size_t len = hrun_number_length(text, 1);
    int saved = errno;
    double v = strtod(text, NULL);

    errno = saved;
    if (!len || (strcmp(text + len, "") && strcmp(text + len, "%")) || !(v > 0) || v > 100)
        return hrun_fail(err, HRUN_EINVAL, "%s %s: a percentage above 0 and at most 100 is needed", what, text);
    *out = v / 100;
    return 0;
}

int hrun_parse_bytes(const char *what, const char *text, uint64_t *out, struct hrun_error *err)
{
    static const char prefixes[] = "kMGT";
    size_t len = hrun_number_length(text, 0);
    const char *rest = text + len, *prefix;
    double v, limit = ldexp(1.0, 53); /* beyond, a double no longer tells neighbouring bytes apart */

    if (len == 0)
        goto bad;
    v = strtod(text, NULL);
    if (*rest && (prefix = strchr(prefixes, *rest == 'K' || *rest == 'm' || *rest == 'g' || *rest == 't'
                                  ? *rest ^ 32 : *rest))) {
        v = ldexp(v, 10 * (int)(prefix - prefixes + 1));
        rest++;
        rest += *rest == 'i';
    }
    rest += *rest == 'B';
    if (*rest)
        goto bad;
    if (!(v <= limit))
        return hrun_fail(err, HRUN_EINVAL, "%s needs at most 8192T, not '%s'", what, text);
    *out = (uint64_t)v;
    return 0;
bad:
    return hrun_fail(err, HRUN_EINVAL, "%s needs a size such as 512, 64k, 4GiB or 1.5T, not '%s'", what,
                     text);
}

int hrun_parse_duration(const char *what, const char *text, double *seconds, struct hrun_error *err)
{
    static const struct { char unit; double s; } units[] = {
        { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 }
    };
    enum { NUNITS = sizeof units / sizeof *units };
    const char *p = text;
    double sum = 0;
    int next = 0; /* units go from large to small, each once */

    if (!*p)
        goto bad;
    while (*p) {
        size_t len = hrun_number_length(p, 0);
        int u = next;
        double v;
        if (!len)
            goto bad;
        v = strtod(p, NULL);
        p += len;
        if (!*p) {
            /* without a unit: seconds, and only alone, for "1h30" could be either */
            if (next)
                goto bad;
            sum = v;
            break;
        }
        while (u < NUNITS && units[u].unit != *p)
            u++;
        if (u == NUNITS)
            goto bad;
        sum += v * units[u].s;
        next = u + 1;
        p++;
    }
    if (!isfinite(sum))
        goto bad;
    if (!(sum > 0))
        return hrun_fail(err, HRUN_EINVAL, "%s needs a time above 0, not '%s'", what, text);
    *seconds = sum;
    return 0;
bad:
    return hrun_fail(err, HRUN_EINVAL, "%s needs a time such as 90, 90s, 1.5m, 2h or 1h30m, not '%s'", what,
                     text);
}

/* ---------------------------------------------------------------- printing */

/* v rounded to three significant digits, at least 0 decimals: "61.8", "417", "0.05" stays as %.3g has it. */
static void add_three(struct hrun_buf *out, double v)
{
    double a = fabs(v);
    int decimals = a < 9.995 ? 2 : a < 99.95 ? 1 : 0;

    hrun_buf_addf(out, "%.*f", decimals, v);
}

void hrun_add_seconds(struct hrun_buf *out, double seconds)
{
    /* each limit is where rounding to three digits reaches the next unit */
    static const struct { double below, scale; const char *unit; } small[] = {
        { 999.5e-9, 1e9, "ns" }, { 999.5e-6, 1e6, "us" }, { 999.5e-3, 1e3, "ms" }, { 119.5, 1, "s" }
    };
    double a = fabs(seconds), minutes;

    if (!isfinite(seconds)) {
        hrun_buf_adds(out, isnan(seconds) ? "unknown" : seconds > 0 ? "infinite" : "-infinite");
        return;
    }
    if (seconds < 0)
        hrun_buf_addc(out, '-');
    if (a == 0) {
        hrun_buf_adds(out, "0 s");
        return;
    }
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (a < small[i].below) {
            add_three(out, a * small[i].scale);
            hrun_buf_addf(out, " %s", small[i].unit);
            return;
        }
    if (a < 3599.5) {
        a = round(a);
        minutes = floor(a / 60);
        hrun_buf_addf(out, "%.0f min", minutes);
        if (a > minutes * 60)
            hrun_buf_addf(out, " %.0f s", a - minutes * 60);
        return;
    }
    minutes = round(a / 60);
    if (minutes < 48 * 60)
        hrun_buf_addf(out, "%.0f h", floor(minutes / 60));
    else {
        /* above two days hours are enough */
        double hours = round(a / 3600);
        hrun_buf_addf(out, "%.0f days", floor(hours / 24));
        if (fmod(hours, 24) > 0)
            hrun_buf_addf(out, " %.0f h", fmod(hours, 24));
        return;
    }
    if (fmod(minutes, 60) > 0)
        hrun_buf_addf(out, " %.0f min", fmod(minutes, 60));
}

void hrun_add_seconds_range(struct hrun_buf *out, double low, double high)
{
    hrun_add_seconds(out, low);
    hrun_buf_adds(out, " .. ");
    hrun_add_seconds(out, high);
}

void hrun_add_bytes(struct hrun_buf *out, double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    enum { LAST = sizeof units / sizeof *units - 1 };
    double v = fabs(bytes);
    int u = 0;

    if (!isfinite(bytes)) {
        hrun_buf_adds(out, isnan(bytes) ? "unknown" : bytes > 0 ? "infinite" : "-infinite");
        return;
    }
    /* 1023.5 would be shown as 1024 */
    for (; u < LAST && v >= 1023.5; u++)
        v /= 1024;
    if (bytes < 0)
        hrun_buf_addc(out, '-');
    if (u == 0)
        hrun_buf_addf(out, "%.0f", v);
    else
        add_three(out, v);
    hrun_buf_addf(out, " %s", units[u]);
}

void hrun_add_count(struct hrun_buf *out, double count)
{
    char digits[32];
    size_t len;

    if (!isfinite(count)) {
        hrun_buf_adds(out, isnan(count) ? "unknown" : count > 0 ? "infinite" : "-infinite");
        return;
    }
    if (fabs(count) > 1e15) {
        /* "5.3e41": without the + and the leading zero that printf gives the exponent */
        int exponent = (int)floor(log10(fabs(count)));
        double mantissa = count / pow(10, exponent);
        if (fabs(mantissa) >= 9.95) {
            mantissa /= 10;
            exponent++;
        }
        hrun_buf_addf(out, "%.1fe%d", mantissa, exponent);
        return;
    }
    count = round(count);
    if (count < 0)
        hrun_buf_addc(out, '-');
    len = (size_t)snprintf(digits, sizeof digits, "%.0f", fabs(count));
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            hrun_buf_addc(out, ',');
        hrun_buf_addc(out, digits[i]);
    }
}

void hrun_add_percent(struct hrun_buf *out, double ratio)
{
    double p = 100 * (ratio - 1);

    hrun_buf_addf(out, fabs(p) < 9.95 ? "%+.1f %%" : "%+.0f %%", p);
}

void hrun_add_age(struct hrun_buf *out, double seconds)
{
    static const struct { double s; const char *name; } units[] = {
        { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" }
    };
    enum { LAST = sizeof units / sizeof *units - 1 };
    size_t u = 0;
    double n;

    if (!isfinite(seconds)) {
        hrun_buf_adds(out, "unknown");
        return;
    }
    if (seconds < 0)
        seconds = 0; /* clocks of two hosts differ a little */
    while (u < LAST && seconds < units[u].s)
        u++;
    n = floor(seconds / units[u].s);
    hrun_buf_addf(out, "%.0f %s%s", n, units[u].name, n == 1 ? "" : "s");
}

double hrun_monotonic_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
