/* units.c - numbers as people type and read them; see units.h for the contracts
 *
 * strtod and snprintf follow the locale's decimal point. The programs never call setlocale(3), so it is the C locale's
 * dot; the parsers pass only digits and a dot to strtod.
 */
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
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
    int out_of_range;
    long long v, binary;
    long exponent = power ? strtol(digits + power, NULL, 10) : 0;

    errno = 0;
    binary = v = strtoll(text, NULL, 10);
    out_of_range = errno == ERANGE;
    unit = len && digits[len] && !digits[len + 1] ? strchr(units, digits[len] | 32) : NULL;
    if (unit && llabs(v) <= INT32_MAX) {    /* the message offers both meanings of the unit */
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
    double v;

    if (len == 0 || digits[len])
        return hrun_fail(err, HRUN_EINVAL, "%s needs a number such as 0.5 or 1e-3, not '%s'", what, text);
    v = strtod(text, NULL);
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
    double v = strtod(text, NULL);

    if (!len || (strcmp(text + len, "") && strcmp(text + len, "%")) || !(v > 0) || v > 100)
        return hrun_fail(err, HRUN_EINVAL, "%s %s: a percentage above 0 and at most 100 is needed", what, text);
    *out = v / 100;
    return 0;
}

int hrun_parse_bytes(const char *what, const char *text, uint64_t *out, struct hrun_error *err)
{
    static const char prefixes[] = "kMGT", others[] = "Kmgt";
    size_t len = hrun_number_length(text, 0);
    const char *rest = text + len, *prefix = *rest ? strchr(prefixes, *rest) : NULL;
    double v = strtod(text, NULL);

    if (*rest && !prefix && (prefix = strchr(others, *rest)))
        prefix = prefixes + (prefix - others);
    if (prefix) {
        v = ldexp(v, 10 * (int)(prefix - prefixes + 1));
        rest += 1 + (rest[1] == 'i');
    }
    rest += *rest == 'B';
    if (!len || *rest)
        return hrun_fail(err, HRUN_EINVAL, "%s needs a size such as 512, 64k, 4GiB or 1.5T, not '%s'", what, text);
    if (!(v <= ldexp(1.0, 53)))     /* above, a double cannot represent every byte count */
        return hrun_fail(err, HRUN_EINVAL, "%s needs at most 8192T, not '%s'", what, text);
    *out = (uint64_t)v;
    return 0;
}

int hrun_parse_duration(const char *what, const char *text, double *seconds, struct hrun_error *err)
{
    static const struct { char unit; double s; } units[] = {
        { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 }
    };
    enum { NUNITS = sizeof units / sizeof *units };
    const char *p = text;
    double sum = 0;
    int next = 0, good = *text != 0; /* units from large to small, each at most once */

    while (*p && good) {
        size_t len = hrun_number_length(p, 0);
        double v = strtod(p, NULL);
        int u = next;

        p += len;
        while (*p && u < NUNITS && units[u].unit != *p)
            u++;
        /* a number without a unit means seconds, and must be alone: "1h30" is ambiguous */
        good = len && u < NUNITS && (*p || !next);
        sum += good ? v * (*p ? units[u].s : 1) : 0;
        next = u + 1;
        p += *p != 0;
    }
    if (!good || !isfinite(sum))
        return hrun_fail(err, HRUN_EINVAL, "%s needs a time such as 90, 90s, 1.5m, 2h or 1h30m, not '%s'", what,
                         text);
    if (!(sum > 0))
        return hrun_fail(err, HRUN_EINVAL, "%s needs a time above 0, not '%s'", what, text);
    *seconds = sum;
    return 0;
}

/* ---------------------------------------------------------------- printing */

static struct hrun_text __attribute__((format(printf, 1, 2))) text_of(const char *fmt, ...)
{
    struct hrun_text t;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(t.s, sizeof t.s, fmt, ap);
    va_end(ap);
    return t;
}

static struct hrun_text not_finite(double v)
{
    return text_of("%s", isnan(v) ? "unknown" : v > 0 ? "infinite" : "-infinite");
}

/* v in three significant digits, and its unit: "61.8 s", "417 ms", "0.05 B" */
static struct hrun_text three_digits(double v, const char *unit)
{
    double a = fabs(v);

    return text_of("%.*f %s", a < 9.995 ? 2 : a < 99.95 ? 1 : 0, v, unit);
}

/* "2 h 5 min"; "2 h" without a rest */
static struct hrun_text two_units(double v, double per, const char *unit, const char *part)
{
    double whole = floor(v / per), rest = fmod(v, per);

    return rest > 0 ? text_of("%.0f %s %.0f %s", whole, unit, rest, part) : text_of("%.0f %s", whole, unit);
}

struct hrun_text hrun_seconds(double seconds)
{
    /* each limit is the value from which rounding to three digits gives the next unit */
    static const struct { double below, scale; const char *unit; } small[] = {
        { 999.5e-9, 1e9, "ns" }, { 999.5e-6, 1e6, "us" }, { 999.5e-3, 1e3, "ms" }, { 119.5, 1, "s" }
    };

    if (!isfinite(seconds))
        return not_finite(seconds);
    if (seconds < 0)
        return text_of("-%s", hrun_seconds(-seconds).s);
    if (seconds == 0)
        return text_of("0 s");
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (seconds < small[i].below)
            return three_digits(seconds * small[i].scale, small[i].unit);
    if (seconds < 3599.5)
        return two_units(round(seconds), 60, "min", "s");
    if (round(seconds / 60) < 48 * 60)
        return two_units(round(seconds / 60), 60, "h", "min");
    return two_units(round(seconds / 3600), 24, "days", "h");
}

struct hrun_text hrun_seconds_range(double low, double high)
{
    return text_of("%s .. %s", hrun_seconds(low).s, hrun_seconds(high).s);
}

struct hrun_text hrun_bytes(double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    enum { LAST = sizeof units / sizeof *units - 1 };
    double v = bytes;
    int u = 0;

    if (!isfinite(bytes))
        return not_finite(bytes);
    /* 1023.5 would be shown as 1024 */
    for (; u < LAST && fabs(v) >= 1023.5; u++)
        v /= 1024;
    return u ? three_digits(v, units[u]) : text_of("%.0f B", v);
}

struct hrun_text hrun_count(double count)
{
    char digits[32];
    struct hrun_text t = { "" };
    size_t len, k = 0;

    if (!isfinite(count))
        return not_finite(count);
    if (fabs(count) > 1e15) {
        /* "5.3e41": without the + and the leading zero that printf gives the exponent */
        int exponent = (int)floor(log10(fabs(count)));
        double mantissa = count / pow(10, exponent);

        if (fabs(mantissa) >= 9.95) {
            mantissa /= 10;
            exponent++;
        }
        return text_of("%.1fe%d", mantissa, exponent);
    }
    len = (size_t)snprintf(digits, sizeof digits, "%.0f", fabs(round(count)));
    if (round(count) < 0)
        t.s[k++] = '-';
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            t.s[k++] = ',';
        t.s[k++] = digits[i];
    }
    return t;
}

struct hrun_text hrun_percent(double ratio)
{
    double p = 100 * (ratio - 1);

    return text_of(fabs(p) < 9.95 ? "%+.1f %%" : "%+.0f %%", p);
}

struct hrun_text hrun_age(double seconds)
{
    static const struct { double s; const char *name; } units[] = {
        { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" }
    };
    enum { LAST = sizeof units / sizeof *units - 1 };
    size_t u = 0;

    if (!isfinite(seconds))
        return text_of("unknown");
    while (u < LAST && seconds < units[u].s)
        u++;
    /* seconds may be below 0 if clocks of two hosts differ */
    return hrun_counted((int64_t)fmax(seconds / units[u].s, 0), units[u].name);
}

struct hrun_text hrun_counted(int64_t n, const char *noun)
{
    size_t len = strlen(noun);
    int es = len > 1 && (strchr("sx", noun[len - 1]) || (noun[len - 1] == 'h' && strchr("sc", noun[len - 2])));

    return text_of("%lld %s%s", (long long)n, noun, hrun_plural(n, es ? "es" : "s"));
}

const char *hrun_plural(int64_t n, const char *ending)
{
    return n == 1 ? "" : ending;
}

static double clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int hrun_compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

double hrun_monotonic_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double hrun_thread_cpu_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}
