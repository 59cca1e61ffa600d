/* hostlist.h - host ranges: "p4-[0-7,9],xe-[00-15],head" <-> names
 *
 * Purpose: the one place where host ranges are parsed and printed (cluster files, --host, Slurm's
 * node lists, reports).
 * Invariants: names keep their order; leading zeros are kept; parse(print(x)) == x for every list.
 * A list expands to at most HRUN_HOSTLIST_MAX names. Several brackets in one name are allowed
 * ("r[1-2]n[0-3]": the last varies fastest).
 */
#ifndef HRUN_BASE_HOSTLIST_H
#define HRUN_BASE_HOSTLIST_H

#include "base/buf.h"
#include "base/error.h"

/* What follows compares each name with the others, in time by the square of their number. The largest machines have
 * more nodes (Fugaku 158,976): a job on all of them is refused. */
enum { HRUN_HOSTLIST_MAX = 16384 };

/* Append the names of text to *out. Errors: HRUN_EPARSE with column (from 1) in text; *out as before.
 * Names are letters, digits, '-', '_' and '.'; IPv6 addresses stand in [::1] form only when the
 * bracket begins the name and holds a ':'. */
int hrun_hostlist_parse(const char *text, struct hrun_strvec *out, struct hrun_error *err);

/* Append names[n] in their order, folded: neighbours that differ in one number become a range. */
void hrun_hostlist_print(char *const *names, size_t n, struct hrun_buf *out);

#endif
