/* nearest.h - the known word that was meant
 *
 * Purpose: "did you mean" in messages about keys, options, names.
 */
#ifndef HRUN_BASE_NEAREST_H
#define HRUN_BASE_NEAREST_H

#include <stddef.h>

/* Of n known words the one nearest to word, or NULL. Distance: insertions, deletions, replacements and
 * swaps of neighbours, letters compared without case, at most a third of word's length. The first one wins
 * a tie. */
const char *hrun_nearest(const char *word, const char *const *known, size_t n);

#endif
