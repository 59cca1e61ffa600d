/* placement.c - make the layout of a decision; see placement.h */
#include "session/placement.h"

#include <stdlib.h>

void placement_fill_threads(const struct context *c, struct hrun_layout *layout)
{
    int least = INT_MAX;

    if (!c->app || !c->app->run.threads_fill)
        return;
    hrun_layout_fill_threads(layout);
    for (int r = 0; r < layout->nranks; r++)
        least = layout->ranks[r].threads < least ? layout->ranks[r].threads : least;
    /* Without a definition, all ranks get the least number of threads of a rank. */
    if (c->app->run.threads || c->problem || !*c->app->file) {
        for (int r = 0; r < layout->nranks; r++)
            layout->ranks[r].threads = c->app->run.threads ? 0 : least;
        layout->uneven_threads = 0;
    }
}

int placement_layout(const struct context *c, const struct decision *d, struct hrun_layout **out,
                     struct hrun_error *err)
{
    *out = d->has_config ? hrun_layout_create_free(c->cluster, &d->config, c->busy, err)
                         : hrun_layout_plain(c->cluster, d->P, d->config.pes, c->busy, err);
    if (!*out)
        return -1;
    placement_fill_threads(c, *out);
    return 0;
}

int placement_map(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout **out,
                  struct hrun_error *err)
{
    struct hrun_mapping mapping = *m;
    int npes[HRUN_SUBS_MAX];

    mapping.oversubscribes |= q->oversubscribe;
    *out = context_use(c->cluster, q->use, npes, err) ? NULL
           : hrun_layout_map(c->cluster, &mapping, (int)q->procs, npes, c->busy, err);
    if (!*out)
        return -1;
    placement_fill_threads(c, *out);
    return 0;
}

int placement_bind(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout *l,
                   struct hrun_error *err)
{
    int npes[HRUN_SUBS_MAX];

    if (context_use(c->cluster, q->use, npes, err) || hrun_layout_bind(l, c->cluster, m, npes, c->busy, err))
        return -1;
    placement_fill_threads(c, l);
    return 0;
}
