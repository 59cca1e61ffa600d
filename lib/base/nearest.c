/* nearest.c - the known word that was meant; see list.h for the contract */
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Optimal string alignment distance (insertions, deletions, replacements, swaps of neighbours), letters
 * compared without case; `limit` + 1 or more when it is over limit. */
static int distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 64 }; /* longer words are not typed */
    int row[3][LONGEST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);

    if (n > LONGEST || m > LONGEST || abs(n - m) > limit)
        return limit + 1;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *up = row[(i - 1) % 3], *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int d = up[j - 1] + ((a[i - 1] | 32) != (b[j - 1] | 32));
            if (up[j] + 1 < d)
                d = up[j] + 1;
            if (now[j - 1] + 1 < d)
                d = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < d)
                d = up2[j - 2] + 1;
            now[j] = d;
        }
    }
    return row[n % 3][m];
}

const char *hrun_nearest(const char *word, const char *const *known, size_t n)
{
    int limit = (int)(strnlen(word, 1000) / 3), best = limit + 1;
    const char *found = NULL;

    for (size_t i = 0; i < n; i++) {
        int d = distance(word, known[i], limit);
        if (d < best) {
            best = d;
            found = known[i];
        }
    }
    return found;
}
