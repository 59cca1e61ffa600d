/* ranges.h - lists of numbers such as "0-3,8"
 *
 * Purpose: one reader and one writer for the lists of PUs and cores that hwloc and Linux use. What stands between two
 * ranges is the caller's: lists differ in that (",", ";", one left over at the end).
 * Invariants: numbers are 0 or more; what was written is read back.
 */
#ifndef HRUN_BASE_RANGES_H
#define HRUN_BASE_RANGES_H

#include "base/buf.h"

/* PUs and cores are counted by the kernel and hwloc; no machine has so many. */
enum { HRUN_RANGES_MAX = (1 << 20) - 1 };

/* Read "3" or "0-3" at p. Result: what stands behind it, with *first <= *last <= max (max >= 0). NULL: p does not begin
 * with such a range; outputs untouched. */
const char *hrun_range_next(const char *p, long max, long *first, long *last);

/* Append a range to the list that begins at out->data[start], after "," where one is there already. */
void hrun_range_add(struct hrun_buf *out, size_t start, long first, long last);

#endif
