/* groups.h - which sub-clusters may be measured at the same time */
#ifndef CALIB_GROUPS_H
#define CALIB_GROUPS_H

#include "campaign.h"

/* Fill group, ngroups, nsubs and together of a campaign whose points are there (see campaign.h). Without parallel all
 * are in one group. Errors: HRUN_ENOMEM. */
int groups_make(const struct context *c, int parallel, struct campaign *g, struct hrun_error *err);

/* Append the names of the sub-clusters: "fast; p-core, e-core", of one group with commas between them. */
void groups_text(const struct context *c, const struct campaign *g, struct hrun_buf *out);

#endif
