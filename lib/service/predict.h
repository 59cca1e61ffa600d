/* predict.h - a decision that is asked for its prediction alone
 *
 * Purpose: hrun --predict and service.h; where hrun would start something all the same, as mpirun would, these fail.
 */
#ifndef HRUN_SERVICE_PREDICT_H
#define HRUN_SERVICE_PREDICT_H

#include "service/decide.h"

/* decision_make for N >= 1 of which the time is predicted. Errors: also HRUN_ENODATA (no profile, or none for what is
 * asked; says of which sub-cluster and why), HRUN_ENOENT (no application is known). */
int predict_make(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                 int64_t N, struct decision *out, struct hrun_error *err);

/* Append the document of such a decision (document.h), whose ranks are placed as `how` says (placement_choose) and
 * which has no command. Errors: those of placement_choose and lib/layout. */
int predict_document(struct context *c, const struct decision *d, const char *how, struct hrun_buf *out,
                     struct hrun_error *err);

#endif
