/* placement.h - make the layout of a decision */
#ifndef HRUN_SESSION_PLACEMENT_H
#define HRUN_SESSION_PLACEMENT_H

#include "session/decide.h"

/* Divide the cores of a layout among its ranks if the definition has `threads: fill`. If the user sets OMP_NUM_THREADS,
 * only the cores of the ranks are set, not their numbers of threads. */
void placement_fill_threads(const struct context *c, struct hrun_layout *layout);

/* Set *out to the layout of a decision, with threads; the caller destroys it. Errors: those of lib/layout. */
int placement_layout(const struct context *c, const struct decision *d, struct hrun_layout **out,
                     struct hrun_error *err);

/* Set *out to the layout of the user's mapping (hrun_layout_map), with threads; the caller destroys it. */
int placement_map(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout **out,
                  struct hrun_error *err);
/* Bind the ranks of a decision's layout by the user's mapping (hrun_layout_bind), with threads. */
int placement_bind(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout *l,
                   struct hrun_error *err);

#endif
