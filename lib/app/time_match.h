/* time_match.h - the regular expression that finds the time in a program's output
 *
 * Purpose: POSIX extended regular expressions, compiled and tested with bounded effort; the only user of regex.h.
 * Invariants: an expression has a group; compiling any text takes at most milliseconds and megabytes. Searching
 * allocates up to 5 KB for each character searched, which only hrun_time_match_destroy frees.
 */
#ifndef HRUN_APP_TIME_MATCH_H
#define HRUN_APP_TIME_MATCH_H

#include "base/error.h"

#include <stddef.h>

struct hrun_time_match;

/* Compile text. Errors: HRUN_EINVAL (the message quotes text and the mistake). */
struct hrun_time_match *hrun_time_match_create(const char *text, struct hrun_error *err);
/* 1 if line matches, else 0. Each character of the line is read once. */
int hrun_time_match_test(const struct hrun_time_match *p, const char *line);
/* Find the first match in a line that matches; group[*len] is its first group. The time grows with the square of the
 * line's length. Result: 1, or 0 if the group took no part in the match. */
int hrun_time_match_find(const struct hrun_time_match *p, const char *line, const char **group, size_t *len);
void hrun_time_match_destroy(struct hrun_time_match *p);

#endif
