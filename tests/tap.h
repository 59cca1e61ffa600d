/* tap.h - Test Anything Protocol for C tests, run by prove(1)
 *
 * A test prints one "ok" or "not ok" line per check with the place of a failure; tap_done() prints the plan.
 */
#ifndef HRUN_TESTS_TAP_H
#define HRUN_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;
static char tap_cases[600];      /* what went wrong since the last check; shown when that fails */

__attribute__((format(printf, 4, 5), unused))
static int tap_check(int good, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    printf("%s %d - ", good ? "ok" : "not ok", ++tap_count);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    if (!good) {
        tap_failed++;
        fflush(stdout);
        fprintf(stderr, "#   failed at %s:%d: ", file, line);   /* where prove(1) shows it */
        va_start(ap, fmt);
        vfprintf(stderr, fmt, ap);
        va_end(ap);
        fprintf(stderr, "\n%s", tap_cases);
    }
    tap_cases[0] = 0;
    fflush(stdout);
    return good;
}

/* A case of many that one check sums up: the first that are wrong are kept, with the loops' variables. Result: good. */
__attribute__((unused))
static int tap_case(int good, int wanted, const char *what, const char *file, int line, const char *names, int n,
                    const double *v)
{
    size_t len = strlen(tap_cases);

    if (!good == !wanted || len > sizeof tap_cases - 200)
        return good;
    snprintf(tap_cases + len, 150, "#   %s:%d: %s(%.60s) at %s =", file, line, wanted ? "not " : "", what, names);
    len += strlen(tap_cases + len);
    for (int i = 0; i < n && i < 3; i++)
        len += (size_t)snprintf(tap_cases + len, 16, " %g", v[i]);
    snprintf(tap_cases + len, sizeof tap_cases - len, "\n");
    return good;
}
#define TAP_CASE(good, wanted, text, ...) tap_case(good, wanted, text, __FILE__, __LINE__, #__VA_ARGS__, \
    (int)(sizeof (double []){ __VA_ARGS__ } / sizeof (double)), (double []){ __VA_ARGS__ })
/* good &= case_holds(condition, variable, ...);   bad |= case_breaks(condition, variable, ...); */
#define case_holds(cond, ...) TAP_CASE(!!(cond), 1, #cond, __VA_ARGS__)
#define case_breaks(cond, ...) TAP_CASE(!!(cond), 0, #cond, __VA_ARGS__)

#define ok(cond, ...) tap_check(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/* Strings equal; both are shown when they are not. */
#define is_str(got, want, ...) do { \
    const char *tap_g = (got), *tap_w = (want); \
    if (!tap_check(tap_g && tap_w && !strcmp(tap_g, tap_w), __FILE__, __LINE__, __VA_ARGS__)) \
        fprintf(stderr, "#   got  '%s'\n#   want '%s'\n", tap_g ? tap_g : "(null)", tap_w ? tap_w : "(null)"); \
} while (0)

/* Substring present. */
#define has_str(got, want, ...) do { \
    const char *tap_g = (got), *tap_w = (want); \
    if (!tap_check(tap_g && tap_w && strstr(tap_g, tap_w), __FILE__, __LINE__, __VA_ARGS__)) \
        fprintf(stderr, "#   in '%s'\n#   no '%s'\n", tap_g ? tap_g : "(null)", tap_w ? tap_w : "(null)"); \
} while (0)

#define is_int(got, want, ...) do { \
    long long tap_g = (long long)(got), tap_w = (long long)(want); \
    if (!tap_check(tap_g == tap_w, __FILE__, __LINE__, __VA_ARGS__)) \
        fprintf(stderr, "#   got %lld, want %lld\n", tap_g, tap_w); \
} while (0)

/* |got - want| <= tol * max(1, |want|) */
#define is_num(got, want, tol, ...) do { \
    double tap_g = (got), tap_w = (want); \
    if (!tap_check(fabs(tap_g - tap_w) <= (tol) * fmax(1.0, fabs(tap_w)), __FILE__, __LINE__, __VA_ARGS__)) \
        fprintf(stderr, "#   got %.17g, want %.17g\n", tap_g, tap_w); \
} while (0)

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}

#endif
