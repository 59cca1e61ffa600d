/* list.c - comma-separated lists of names, ranges of numbers, the nearest name; see list.h for the contracts */
#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void hrun_list_add(struct hrun_buf *out, const char *name)
{
    if (out->len)
        hrun_buf_addc(out, ',');
    hrun_buf_adds(out, name);
}

int hrun_list_count(const char *list)
{
    int n = list && *list;

    for (; n && *list; list++)
        n += *list == ',';
    return n;
}

const char *hrun_list_item(const char *list, int place, size_t *len)
{
    if (!list || !*list || place < 0)
        return NULL;
    for (; place > 0; place--) {
        list = strchr(list, ',');
        if (!list)
            return NULL;
        list++;
    }
    *len = strcspn(list, ",");
    return list;
}

char *hrun_list_copy(const char *list, int place)
{
    size_t len;
    const char *item = hrun_list_item(list, place, &len);

    return item ? xstrndup(item, len) : NULL;
}

int hrun_list_is(const char *list, int place, const char *name)
{
    size_t len;
    const char *item = hrun_list_item(list, place, &len);

    return item && name && strlen(name) == len && !strncmp(item, name, len);
}

int hrun_list_find(const char *list, const char *name)
{
    for (int i = 0, n = hrun_list_count(list); i < n; i++)
        if (hrun_list_is(list, i, name))
            return i;
    return -1;
}

/* ---------------------------------------------------------------- lists of numbers such as "0-3,8" */

/* Read a number of decimal digits. Result: the text behind it; NULL: no number, or a number above max. */
static const char *read_range_end(const char *p, long max, long *out)
{
    const char *start = p;
    long n = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        int digit = *p - '0';

        if (n > (max - digit) / 10)
            return NULL;
        n = 10 * n + digit;
    }
    if (p == start || n > max)
        return NULL;
    *out = n;
    return p;
}

const char *hrun_range_next(const char *p, long max, long *first, long *last)
{
    long a = 0, b;

    p = read_range_end(p, max, &a);
    b = a;
    if (p && *p == '-')
        p = read_range_end(p + 1, max, &b);
    if (!p || b < a)
        return NULL;
    *first = a;
    *last = b;
    return p;
}

void hrun_range_add(struct hrun_buf *out, size_t start, long first, long last)
{
    hrun_buf_addf(out, last > first ? "%s%ld-%ld" : "%s%ld", out->len > start ? "," : "", first, last);
}

/* ---------------------------------------------------------------- the nearest known word */

/* Optimal string alignment distance (insertions, deletions, replacements, swaps of neighbours), letters compared
 * without case; above `limit`: `limit` + 1 or more. */
static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 64 }; /* users type no longer words */
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
        int d = edit_distance(word, known[i], limit);
        if (d < best) {
            best = d;
            found = known[i];
        }
    }
    return found;
}

int hrun_begins_with(const char *text, const char *const *starts)
{
    while (*starts && strncmp(text, *starts, strlen(*starts)))
        starts++;
    return *starts != NULL;
}
