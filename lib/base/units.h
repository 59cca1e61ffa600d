/* units.h - numbers as people type and read them
 *
 * Invariants: parsers accept the whole text or nothing (no blanks, no trailing characters), never NaN
 * or infinity, and use the dot as decimal point (the process must not have called setlocale for LC_NUMERIC).
 * Errors: HRUN_EINVAL; the text contains the input and the right form.
 * `what` names the value in the message ("-N", "--timeout").
 */
#ifndef HRUN_BASE_UNITS_H
#define HRUN_BASE_UNITS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* The largest whole number up to which a double represents all whole numbers exactly. */
#define HRUN_COUNT_MAX ((int64_t)1 << 53)

/* The length of the decimal number at the beginning of s, 0 if there is none: digits [. digits] and, if
 * exponent is not 0, [e [+-] digits]. No sign. */
size_t hrun_number_length(const char *s, int exponent);

/* A whole number in min..max; a decimal integer, also with an exponent ("9600", "1e4"). */
int hrun_parse_count(const char *what, const char *text, int64_t min, int64_t max, int64_t *out,
                     struct hrun_error *err);
/* Check that a number is in min..max. 0, or -1 with *err. */
int hrun_check_count(const char *what, int64_t count, int64_t min, int64_t max, struct hrun_error *err);
/* A finite number ("0.5", "1e-3"). */
int hrun_parse_number(const char *what, const char *text, double *out, struct hrun_error *err);
/* A finite number above 0. */
int hrun_parse_positive(const char *what, const char *text, double *out, struct hrun_error *err);
/* A percentage above 0 and at most 100, as a fraction: "5%", "5" and "0.5%" are 0.05, 0.05 and 0.005. */
int hrun_parse_percent(const char *what, const char *text, double *out, struct hrun_error *err);
/* Bytes: "512", "64k", "4GiB", "4GB", "1.5T"; k, M, G, T are powers of 1024 with or without i and B; lower case is
 * allowed. At most 8192T. Fractions of a byte are dropped. */
int hrun_parse_bytes(const char *what, const char *text, uint64_t *out, struct hrun_error *err);
/* Seconds: "90", "90s", "1.5m", "2h", "1d", "1h30m": units from large to small. Positive. */
int hrun_parse_duration(const char *what, const char *text, double *seconds, struct hrun_error *err);

/* Texts by value, for printf and its kin: hrun_buf_addf(out, "it took %s", hrun_seconds(t).s). The text lives until
 * the end of the statement. Values that are not finite give "unknown" (NaN) or "infinite". */
struct hrun_text {
    char s[64];
};

/* "61.8 s", "417 ms", "93.1 us", "2 min 5 s", "3 h 12 min", "3 days 4 h": three significant digits below two minutes */
struct hrun_text hrun_seconds(double seconds);
/* "1.07 s .. 1.46 s" */
struct hrun_text hrun_seconds_range(double low, double high);
/* "11.7 GiB" */
struct hrun_text hrun_bytes(double bytes);
/* "2,754"; above 1e15 as "5.3e41" */
struct hrun_text hrun_count(double count);
/* "+1.2 %", "-15 %": ratio - 1 */
struct hrun_text hrun_percent(double ratio);
/* "3 days", "2 hours", "5 minutes", "12 seconds": the age of something, rounded down */
struct hrun_text hrun_age(double seconds);
/* "1 process", "2 processes", "3 PEs" */
struct hrun_text hrun_counted(int64_t n, const char *noun);
/* "" for one, else the ending: hrun_plural(n, "es") */
const char *hrun_plural(int64_t n, const char *ending);

/* Ascending order of ints, for qsort. */
int hrun_compare_ints(const void *a, const void *b);

/* Seconds of the monotonic clock. */
double hrun_monotonic_s(void);
/* Processor time of this thread in seconds. */
double hrun_thread_cpu_s(void);

/* ---------------------------------------------------------------- table
 *
 * Text tables for people
 *
 * Purpose: columns aligned by their widest cell (counted in UTF-8 characters), two blanks between them,
 * no trailing blanks. A cell is never cut.
 */

struct hrun_table;

/* spec: one character per column, 'l' left or 'r' right. */
struct hrun_table *hrun_table_create(const char *spec);
void hrun_table_destroy(struct hrun_table *t);
/* One row: ncol strings (const char *), NULL meaning "". */
void hrun_table_row(struct hrun_table *t, ...);
/* One cell, printf style; cells fill rows from left to right. */
void hrun_table_cell(struct hrun_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append the table, each line indented by `indent` blanks. */
void hrun_table_render(const struct hrun_table *t, int indent, struct hrun_buf *out);

/* Width of s[len] in columns: the number of its UTF-8 characters. */
size_t hrun_text_width(const char *s, size_t len);
/* The position after the first n UTF-8 characters of s. */
const char *hrun_skip_characters(const char *s, size_t n);
/* Append s. If s is wider than `columns` (at least 4), append its beginning, ".." and its end. */
void hrun_add_shortened(struct hrun_buf *out, const char *s, size_t columns);
/* Width of a line on this descriptor in columns, 40 to 1000: that of its terminal, else $COLUMNS, else 80. */
int hrun_terminal_width(int fd);

#endif
