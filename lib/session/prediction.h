/* prediction.h - what is predicted of a configuration that was decided on */
#ifndef HRUN_SESSION_PREDICTION_H
#define HRUN_SESSION_PREDICTION_H

#include "session/decide.h"

/* Fill d's predictions: of its configuration, with shares as d->sharing has them and its predictor deals them,
 * corrected by runs of it, and of the mpirun-style one with equal shares. problem: of at->predictor. What the models
 * do not predict stays marked as not known. Errors: those of hrun_predictor_deal. */
int predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem,
                   struct hrun_error *err);

/* What runs tell of configurations with shares as d->sharing has them. */
const struct corrected *predicted_known(const struct decision *d, const struct at_size *at);

/* By how much longer a configuration counts than it is expected to take, as all are compared: exp of the standard
 * deviation of what is not known of it. */
double predicted_doubt(const struct corrected *k, const struct hrun_config *config);

/* Append the network terms of the choice whose operations take irregular times (hrun_models_irregular). */
void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
