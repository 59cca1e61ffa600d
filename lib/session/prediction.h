/* prediction.h - the prediction of the chosen configuration */
#ifndef HRUN_SESSION_PREDICTION_H
#define HRUN_SESSION_PREDICTION_H

#include "session/decide.h"

/* Fill d->predicted for the configuration of d with shares as in d->shares.how, corrected by its runs, and d->plain for
 * mpirun's default with equal shares. problem: of at->predictor. If the models have no prediction, known is 0. Errors:
 * those of hrun_predictor_deal. */
int predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem,
                   struct hrun_error *err);

/* The corrections for shares as in d->shares.how. */
const struct corrected *predicted_corrections(const struct decision *d, const struct at_size *at);

/* The factor by which an uncertain time is raised before configurations are compared: exp of the standard deviation of
 * its logarithm. */
double predicted_doubt(const struct corrected *k, const struct hrun_config *config);

/* Append the network terms of the choice whose operations take irregular times (hrun_models_irregular). */
void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
