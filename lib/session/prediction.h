/* prediction.h - what is predicted of a configuration that was decided on */
#ifndef HRUN_SERVICE_PREDICTION_H
#define HRUN_SERVICE_PREDICTION_H

#include "session/decide.h"

/* Fill d's predictions: of its configuration by p, corrected by runs of it, and by `problem` of the mpirun-style one.
 * What the models do not predict stays marked as not known. Errors: HRUN_ENOMEM. */
int predicted_fill(struct decision *d, struct hrun_predictor *p, const struct hrun_plan_problem *problem,
                   const struct corrected *k, struct hrun_error *err);

/* Append the network terms of the choice whose operations take irregular times (hrun_models_irregular). */
void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
