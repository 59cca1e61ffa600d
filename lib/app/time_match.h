/* time_match.h - the regular expression that finds the time in what a program prints
 *
 * Purpose: POSIX extended regular expressions, compiled and tested with bounded effort; the only place with regex.h.
 * Invariants: an expression has a group; compiling it takes milliseconds and megabytes, whatever its text. Searching
 * takes memory, up to 5 KB for each character searched, which only hrun_time_match_destroy frees.
 */
#ifndef HRUN_APP_TIME_MATCH_H
#define HRUN_APP_TIME_MATCH_H

#include "base/error.h"

#include <stddef.h>

struct hrun_time_match;

/* Compile text. Errors: HRUN_EINVAL (the message quotes text and says what is wrong). */
struct hrun_time_match *hrun_time_match_create(const char *text, struct hrun_error *err);
/* Does line match? Each character of the line is read once. */
int hrun_time_match_test(const struct hrun_time_match *p, const char *line);
/* Find the first match in a line that matches: where its first group begins, and its length. It takes time by the
 * square of the line's length. Result: 1, or 0 if the group took no part in the match. */
int hrun_time_match_find(const struct hrun_time_match *p, const char *line, const char **group, size_t *len);
void hrun_time_match_destroy(struct hrun_time_match *p);

#endif
