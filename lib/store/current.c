/* current.c - measurements that still count; see store.h */
#include "store/store.h"

#include <string.h>

enum scope { NO_MARK, ALL, POINT };

static enum scope scope_of(const struct hrun_sample *s)
{
    if (s->ok || !s->status)
        return NO_MARK;
    return !strcmp(s->status, HRUN_STATUS_ANEW) ? ALL : !strcmp(s->status, HRUN_STATUS_ANEW_POINT) ? POINT : NO_MARK;
}

static int is_mark(const struct hrun_sample *s)
{
    return scope_of(s) != NO_MARK;
}

static int same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* Does what stands after s in the log make it count no longer? */
static int outdates(const struct hrun_sample *later, const struct hrun_sample *s)
{
    enum scope scope = scope_of(later);

    if (scope == NO_MARK || !same_text(later->consts, s->consts))
        return 0;
    return scope == ALL || (!s->mixed && later->N == s->N && later->P == s->P && later->M == s->M);
}

size_t hrun_samples_current(struct hrun_samples *s)
{
    size_t kept = 0, end = s->n, old = 0;

    while (end > 0 && !is_mark(&s->v[end - 1]))
        end--;                      /* no mark stands at end or behind it */
    for (size_t i = 0; i < s->n; i++) {
        int counts = !is_mark(&s->v[i]);

        for (size_t j = i + 1; counts && j < end; j++)
            counts = !outdates(&s->v[j], &s->v[i]);
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
