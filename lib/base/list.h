/* list.h - comma-separated lists of names, such as "fast,slow"
 *
 * Purpose: one reader and one writer for the lists in measurements: names and signatures of sub-clusters.
 * Invariants: places count from 0; NULL and "" are the empty list; non-empty names without a comma are read back as
 * written.
 */
#ifndef HRUN_BASE_LIST_H
#define HRUN_BASE_LIST_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

/* Append name to the list in out, which contains nothing else. */
void hrun_list_add(struct hrun_buf *out, const char *name);

/* Number of names. */
int hrun_list_count(const char *list);

/* The name at `place`, a part of the list: its length is *len. NULL if there are fewer; *len is then untouched. */
const char *hrun_list_item(const char *list, int place, size_t *len);

/* A copy of the name at `place`, which the caller frees; NULL if there are fewer names. */
char *hrun_list_copy(const char *list, int place);

/* 1 if name is the name at `place`, else 0. name NULL: 0. */
int hrun_list_is(const char *list, int place, const char *name);

/* The first place of the name; -1: the list does not have the name. */
int hrun_list_find(const char *list, const char *name);

/* ---------------------------------------------------------------- ranges
 *
 * Lists of numbers such as "0-3,8"
 *
 * Purpose: one reader and one writer for the lists of PUs and cores that hwloc and Linux use. Callers handle the
 * separators of ranges, because lists differ in them (",", ";", one at the end).
 * Invariants: numbers are 0 or more; ranges are read back as written.
 */

/* Largest number of a PU or core; no machine has more. */
enum { HRUN_RANGES_MAX = (1 << 20) - 1 };

/* Read "3" or "0-3" at p. Result: the text behind it, with *first <= *last <= max (max >= 0). NULL: there is
 * no such range at p; outputs untouched. */
const char *hrun_range_next(const char *p, long max, long *first, long *last);

/* Append a range to the list that begins at out->data[start], after "," if the list is not empty. */
void hrun_range_add(struct hrun_buf *out, size_t start, long first, long last);

/* ---------------------------------------------------------------- hostlist
 *
 * Host ranges: "p4-[0-7,9],xe-[00-15],head" <-> names
 *
 * Purpose: the one place where host ranges are parsed and printed (cluster files, --host, Slurm's
 * node lists, reports).
 * Invariants: names keep their order; leading zeros are kept; parse(print(x)) == x for every list.
 * A list expands to at most HRUN_HOSTLIST_MAX names. Several brackets in one name are allowed
 * ("r[1-2]n[0-3]": the last varies fastest).
 */

/* Users of these lists compare each name with all others, in quadratic time. The largest machines have more nodes
 * (Fugaku 158,976): a job on all of them is refused. */
enum { HRUN_HOSTLIST_MAX = 16384 };

/* Append the names of text to *out. Errors: HRUN_EPARSE with column (from 1) in text; *out is unchanged. Names are
 * letters, digits, '-', '_' and '.'. A bracket at the beginning of a name is an IPv6 address ("[::1]") if it contains a
 * ':'. */
int hrun_hostlist_parse(const char *text, struct hrun_strvec *out, struct hrun_error *err);

/* Append names[n] in their order, folded: neighbours that differ in one number become a range. */
void hrun_hostlist_print(char *const *names, size_t n, struct hrun_buf *out);

/* 1 if these are names of one host: equal, or one is the other without its domain, ignoring case; else 0. */
int hrun_same_host(const char *a, const char *b);

/* ---------------------------------------------------------------- nearest
 *
 * Suggestions for misspelt words
 *
 * Purpose: "did you mean" in messages about keys, options, names.
 */

/* The first of the known[n] that are nearest to word, or NULL. Distance: number of insertions, deletions, replacements
 * and swaps of neighbours, ignoring case, at most a third of word's length. */
const char *hrun_nearest(const char *word, const char *const *known, size_t n);

/* 1 if the text begins with one of the starts (NULL-terminated), else 0. */
int hrun_begins_with(const char *text, const char *const *starts);

#endif
