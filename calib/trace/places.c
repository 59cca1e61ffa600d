/* places.c - where the ranks are, as hrun tells; see watch.h and lib/trace/wire.h */
#include "watch.h"

#include <stdio.h>

int watch_read_places(const char *text, int n, struct watch_place *place)
{
    int next = 0;

    while (*text) {
        int first, last, sub, pe, m, used = 0;

        if (sscanf(text, "%d-%d:%d:%d:%d%n", &first, &last, &sub, &pe, &m, &used) < 5 || !used || first != next ||
            last < first || last >= n || m < 1)
            return -1;
        for (int i = first; i <= last; i++)
            place[i] = (struct watch_place){ .sub = sub, .pe = pe + (i - first) / m };
        next = last + 1;
        text += used;
        text += *text == ';';
    }
    return next == n ? 0 : -1;
}

enum hrun_trace_distance watch_distance(const struct watch_place *a, const struct watch_place *b)
{
    if (a->sub == b->sub && a->pe == b->pe)
        return HRUN_TRACE_PE;
    return a->host == b->host ? HRUN_TRACE_HOST : a->sub == b->sub ? HRUN_TRACE_SUB : HRUN_TRACE_FAR;
}
