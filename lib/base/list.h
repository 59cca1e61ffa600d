/* list.h - comma-separated lists of names, such as "fast,slow"
 *
 * Purpose: one reader and one writer for the lists that measurements carry: names and signatures of sub-clusters.
 * Invariants: places count from 0; NULL and "" are the list of nothing; what was written is read back where the names
 * are not empty and hold no comma.
 */
#ifndef HRUN_BASE_LIST_H
#define HRUN_BASE_LIST_H

#include "base/buf.h"

/* Append name to the list that is all of out. */
void hrun_list_add(struct hrun_buf *out, const char *name);

/* How many names there are. */
int hrun_list_count(const char *list);

/* The name at `place`, a part of the list: its length is *len. NULL, and *len untouched, when there are fewer. */
const char *hrun_list_item(const char *list, int place, size_t *len);

/* The same in fresh memory, which the caller frees. NULL also when memory ran out. */
char *hrun_list_copy(const char *list, int place);

/* Is this the name at `place`? NULL never is. */
int hrun_list_is(const char *list, int place, const char *name);

/* The first place where the name stands, -1: it stands nowhere. */
int hrun_list_find(const char *list, const char *name);

#endif
