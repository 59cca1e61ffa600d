/* alone.h - runs that measure have their hosts for themselves
 *
 * Purpose: what hrun-calibrate starts waits until none of its hosts is in use by other runs of the ledger
 * (../hrun/ledger.h), and keeps them for itself while it lasts: a time beside other runs says little.
 */
#ifndef CALIB_ALONE_H
#define CALIB_ALONE_H

#include "../hrun/ledger.h"

/* Claim the hosts of a layout, for about time_s (0: not known), and wait for them. *sig: the signal that has ended the
 * waiting, else 0. say: told once for whom it waits. Errors: HRUN_ENOMEM. */
int alone_begin(struct ledger *g, const struct context *c, const struct hrun_layout *l, int64_t N, double time_s,
                void (*say)(void *ctx, const char *text), void *ctx, int *sig, struct hrun_error *err);
void alone_end(struct ledger *g);

/* For say: a line on standard error. ctx: struct context. */
void alone_say(void *ctx, const char *text);

#endif
