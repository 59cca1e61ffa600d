/* current.c - measurements that still count; see store.h */
#include "store/store.h"

#include <string.h>

static int is_mark(const struct hrun_sample *s)
{
    return !s->ok && s->status && !strcmp(s->status, HRUN_STATUS_ANEW);
}

static int same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

size_t hrun_samples_current(struct hrun_samples *s)
{
    size_t kept = 0, end = s->n, old = 0;

    while (end > 0 && !is_mark(&s->v[end - 1]))
        end--;                      /* no mark stands at end or behind it */
    for (size_t i = 0; i < s->n; i++) {
        int counts = !is_mark(&s->v[i]);

        for (size_t j = i + 1; counts && j < end; j++)
            counts = !is_mark(&s->v[j]) || !same_text(s->v[j].consts, s->v[i].consts);
        if (counts) {
            if (kept != i) {
                s->v[kept] = s->v[i];
                memset(&s->v[i], 0, sizeof s->v[i]);
            }
            kept++;
        } else {
            old += !is_mark(&s->v[i]);
            hrun_sample_release(&s->v[i]);
            memset(&s->v[i], 0, sizeof s->v[i]);
        }
    }
    s->n = kept;
    return old;
}
