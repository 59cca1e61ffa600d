/* sieve.h - taking the lines of libhrun-trace.so out of the standard error of a job (internal)
 *
 * Purpose: a line begins with HRUN_TRACE_MARK (trace/wire.h), wherever in the stream that stands, and ends with its
 * newline; all else is passed on as it came, in order and at once, but for a beginning of a mark, which is held until
 * it is known to be one.
 * Invariants: what begins like a mark and is none, and a line longer than HRUN_TRACE_LINE, is passed on whole.
 */
#ifndef HRUN_LAUNCH_SIEVE_H
#define HRUN_LAUNCH_SIEVE_H

#include "base/buf.h"

struct hrun_sieve {
    struct hrun_buf held;      /* mark and line so far */
};
#define HRUN_SIEVE_INIT { HRUN_BUF_INIT }

/* Append to *rest what is passed on, to *lines the lines without their marks. */
void hrun_sieve_feed(struct hrun_sieve *s, const char *data, size_t len, struct hrun_buf *rest, struct hrun_buf *lines);
/* The stream has ended. */
void hrun_sieve_end(struct hrun_sieve *s, struct hrun_buf *rest);
void hrun_sieve_release(struct hrun_sieve *s);

#endif
