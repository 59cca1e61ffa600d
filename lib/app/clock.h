/* clock.h - the running time that an application prints */
#ifndef HRUN_APP_CLOCK_H
#define HRUN_APP_CLOCK_H

#include "app/template.h"

/* Reads the running time that the application prints. Feed standard output in pieces of any length. Each line, without
 * its end (LF, CR or both) and cut to HRUN_CLOCK_LINE bytes, is matched alone; the last match counts. */
enum { HRUN_CLOCK_LINE = 65536 };

struct hrun_clock;
/* NULL with *err unset if the definition has no time.match. values: of the run, for time.value. dir: working directory,
 * for time.file. Length and checksum of the files that match time.file are noted at creation; the clock later reads the
 * file that the run wrote: the part appended, or the whole file if it was rewritten. app must outlive the clock.
 * Errors: HRUN_EINVAL (the expression), HRUN_EIO. */
struct hrun_clock *hrun_clock_create(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                                     struct hrun_error *err);
void hrun_clock_feed(struct hrun_clock *c, const char *data, size_t len);
/* *time_s: the time of the last match; 0 if the program printed 0. Errors: HRUN_ENODATA (no line matched, or the run
 * wrote no such file or several; the message has the expression and the place), HRUN_ENONFINITE (the time is negative
 * or not finite, or time.value is not positive), HRUN_EIO. */
int hrun_clock_result(struct hrun_clock *c, double *time_s, struct hrun_error *err);
void hrun_clock_destroy(struct hrun_clock *c);

#endif
