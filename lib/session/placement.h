/* placement.h - among the PEs that the decision leaves equal, where ranks go, and what is said of it
 *
 * Purpose: hrun places the ranks of applications whose definition declares a pattern (layout/placement.h), where the
 * network was measured.
 * hrun-calibrate does not: its runs are in plain order, so that they compare.
 */
#ifndef HRUN_SERVICE_PLACEMENT_H
#define HRUN_SERVICE_PLACEMENT_H

#include "layout/placement.h"
#include "session/decide.h"

#include <jansson.h>

struct placed {
    const char *pattern;       /* the definition's; NULL: none that counts, and nothing is said */
    int known;                 /* 1: p is filled */
    struct hrun_placement p;
    char *why_not;             /* why the order is the plain one although a pattern is declared; or NULL */
};

/* Place the ranks of a decision that has a configuration; else *out stays empty.
 * Errors: HRUN_ENOMEM, those of network_load. */
int placement_choose(struct context *c, const struct decision *d, struct placed *out, struct hrun_error *err);
void placement_release(struct placed *p);

/* After a layout is made: share its cores out where the definition says `threads: fill`. The user's own -x
 * OMP_NUM_THREADS stays: the cores are shared out all the same, the numbers of threads are left to it. */
int placement_fill_threads(const struct context *c, struct hrun_layout *layout, struct hrun_error *err);

/* The layout of a decision in that order, with its threads; the caller destroys it. Errors: those of lib/layout. */
int placement_layout(const struct context *c, const struct decision *d, const struct placed *p,
                     struct hrun_layout **out, struct hrun_error *err);

/* Append "ring over 2 switches: 2 crossings in place of 8; the slowest message takes 1.2 ms in place of 2.3 ms", or why
 * it is not so; nothing when no pattern counts. */
void placement_print(const struct placed *p, struct hrun_buf *out);
/* The same for machines: null where no pattern counts. */
json_t *placement_json(const struct placed *p);

#endif
