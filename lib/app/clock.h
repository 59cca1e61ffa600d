/* clock.h - the time that an application reports of itself */
#ifndef HRUN_APP_CLOCK_H
#define HRUN_APP_CLOCK_H

#include "app/template.h"

/* Reading the application's own time. Feed standard output in pieces, cut anywhere; each line is matched
 * apart (only its first HRUN_CLOCK_LINE bytes, without its end: LF, CR or both); the last match counts. */
enum { HRUN_CLOCK_LINE = 65536 };

struct hrun_clock;
/* NULL with *err unset when the definition has no time_match. values: of the run, for time_value. dir: working
 * directory, for time_file. The content at creation of the files that match is remembered (length and checksum): read
 * is the one that the run writes, of it what the run appends, or all where it writes the file anew. app outlives the
 * clock. Errors: HRUN_EINVAL (the expression), HRUN_EIO. */
struct hrun_clock *hrun_clock_create(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                                     struct hrun_error *err);
void hrun_clock_feed(struct hrun_clock *c, const char *data, size_t len);
/* *time_s of the last match; 0 where the program says 0: the run was shorter than it can tell. Errors: HRUN_ENODATA (no
 * line matched, the run wrote no such file, or several; says which expression and where it was looked for),
 * HRUN_ENONFINITE (negative, not finite, or by time_value not positive), HRUN_EIO. */
int hrun_clock_result(struct hrun_clock *c, double *time_s, struct hrun_error *err);
void hrun_clock_destroy(struct hrun_clock *c);

#endif
