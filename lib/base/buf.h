/* buf.h - a growing string, and a growing list of strings
 *
 * Invariant of struct hrun_buf: data is never NULL and data[len] == 0, also in an empty or a released buffer.
 * Invariants of struct hrun_strvec: v is NULL or v[n] == NULL, so v serves as argv; the list owns its strings.
 */
#ifndef HRUN_BASE_BUF_H
#define HRUN_BASE_BUF_H

#include "base/alloc.h"

#include <stdarg.h>

struct hrun_buf {
    char *data;
    size_t len, cap;
};

extern char hrun_buf_empty[1];
#define HRUN_BUF_INIT { hrun_buf_empty, 0, 0 }

void hrun_buf_init(struct hrun_buf *b);
void hrun_buf_release(struct hrun_buf *b);             /* frees and leaves an empty buffer */
void hrun_buf_reset(struct hrun_buf *b);               /* len = 0, memory kept */
void hrun_buf_add(struct hrun_buf *b, const void *data, size_t len);
/* Append data[len], and keep only the last max bytes of the string. */
void hrun_buf_add_tail(struct hrun_buf *b, const void *data, size_t len, size_t max);
void hrun_buf_adds(struct hrun_buf *b, const char *s);
void hrun_buf_addc(struct hrun_buf *b, char c);
void hrun_buf_addn(struct hrun_buf *b, char c, size_t count);  /* c, count times */
void hrun_buf_addf(struct hrun_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hrun_buf_vaddf(struct hrun_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Append word as one word of a shell command line: unquoted if every character is a letter, a digit or one of
 * "_-+=./:@%", else in single quotes ('it'\''s', ''). The first word of a command must not contain '=' unless it is an
 * assignment. */
void hrun_buf_add_shell(struct hrun_buf *b, const char *word);
/* Append all words (NULL-terminated), separated by blanks, as a command line. */
void hrun_buf_add_command(struct hrun_buf *b, char *const *words);

/* Append text[len] safely for a terminal: control characters except newlines and tabs become \uNNNN, bytes that are not
 * UTF-8 \xNN. text[len] must be 0 or the beginning of a character. */
void hrun_buf_add_printable(struct hrun_buf *b, const char *text, size_t len);

/* Length of the UTF-8 character at s (RFC 3629: no overlong forms, surrogates, or values over U+10FFFF), 0 if there is
 * none. */
int hrun_utf8_length(const unsigned char *s);

/* Return the string, which the caller frees, and leave the buffer empty. */
char *hrun_buf_detach(struct hrun_buf *b) HRUN_NEVER_NULL;

struct hrun_strvec {
    char **v;
    size_t n, cap;
};

#define HRUN_STRVEC_INIT { NULL, 0, 0 }

/* Append a copy of s. */
void hrun_strvec_push(struct hrun_strvec *sv, const char *s);
void hrun_strvec_pushf(struct hrun_strvec *sv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append copies of the arguments before NULL; of a NULL-terminated list (words may be NULL). */
void hrun_strvec_add(struct hrun_strvec *sv, ...) __attribute__((sentinel));
void hrun_strvec_add_all(struct hrun_strvec *sv, char *const *words);
/* Sort the strings from index `first` on by their bytes, and drop duplicates among them. */
void hrun_strvec_sort(struct hrun_strvec *sv, size_t first);
void hrun_strvec_release(struct hrun_strvec *sv);

/* printf into fresh memory that the caller frees. */
char *hrun_strf(const char *fmt, ...) __attribute__((format(printf, 1, 2))) HRUN_NEVER_NULL;

#endif
