/* current.c - measurements that still count; see store.h */
#include "store/store.h"

#include <string.h>

/* 1 if s is a mark with this status, else 0. */
static int is_mark_of(const struct hrun_sample *s, const char *status)
{
    return !s->ok && hrun_text_same(s->status, status);
}

static int is_mark(const struct hrun_sample *s)
{
    return is_mark_of(s, HRUN_STATUS_ANEW) || is_mark_of(s, HRUN_STATUS_ANEW_POINT);
}

/* 1 if the mark, which is behind s in the log, makes s obsolete, else 0. */
static int outdates(const struct hrun_sample *mark, const struct hrun_sample *s)
{
    return hrun_text_same(mark->consts, s->consts) &&
           (is_mark_of(mark, HRUN_STATUS_ANEW) ||
            (!s->mixed && mark->N == s->N && mark->P == s->P && mark->M == s->M));
}

size_t hrun_samples_current(struct hrun_samples *s)
{
    size_t kept = 0, old = 0;

    /* Logs are long and marks are few: the inner loop runs only for marks. */
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i && is_mark(&s->v[i]); k++)
            if (s->v[k].N && !is_mark(&s->v[k]) && outdates(&s->v[i], &s->v[k])) {
                hrun_sample_release(&s->v[k]);   /* sets N to 0 */
                old++;
            }
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
