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

/* Does what stands after s in the log make it count no longer? */
static int outdates(const struct hrun_sample *later, const struct hrun_sample *s)
{
    enum scope scope = scope_of(later);

    if (scope == NO_MARK || !hrun_text_same(later->consts, s->consts))
        return 0;
    return scope == ALL || (!s->mixed && later->N == s->N && later->P == s->P && later->M == s->M);
}

/* Release what a mark that stands at `mark` outdates; such samples have N = 0 then. Result: how many. */
static size_t outdate(struct hrun_samples *s, size_t mark)
{
    size_t old = 0;

    for (size_t i = 0; i < mark; i++) {
        if (s->v[i].N == 0 || is_mark(&s->v[i]) || !outdates(&s->v[mark], &s->v[i]))
            continue;
        hrun_sample_release(&s->v[i]);   /* all of it is 0 then */
        old++;
    }
    return old;
}

size_t hrun_samples_current(struct hrun_samples *s)
{
    size_t kept = 0, old = 0;

    /* Once for each mark, of which there are few, not for each pair: logs grow by every run. */
    for (size_t i = 0; i < s->n; i++)
        if (is_mark(&s->v[i]))
            old += outdate(s, i);
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].N == 0 || is_mark(&s->v[i])) {
            hrun_sample_release(&s->v[i]);
        } else {
            if (kept != i)
                s->v[kept] = s->v[i];
            kept++;
        }
    }
    if (s->n > kept)
        memset(s->v + kept, 0, (s->n - kept) * sizeof *s->v);
    s->n = kept;
    return old;
}
