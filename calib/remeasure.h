/* remeasure.h - suspicious points are measured again before they are believed or dropped
 *
 * Purpose: after the runs of a grid, points whose runs contradict each other or the model of the others get a few more
 * runs (lib/model/suspect.h); what they then still contradict counts less in the fit.
 */
#ifndef CALIB_REMEASURE_H
#define CALIB_REMEASURE_H

#include "campaign.h"

/* --remeasure K: how many more runs a suspicious point gets, 1 by default, 0 with LS or --no-fit. */
int remeasure_runs(const struct calib_settings *s);

/* Give `runs` more runs to suspicious points that had none yet, the farthest off first, to a tenth of the runs of the
 * grid in all, and append what is suspicious to *words, one line. Result: how many points there are, or -1. Where no
 * model can be made nothing is suspicious. */
int remeasure_mark(struct context *c, struct campaign *g, int runs, struct hrun_buf *words, struct hrun_error *err);

#endif
