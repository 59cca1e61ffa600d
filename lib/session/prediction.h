/* prediction.h - the prediction of the chosen configuration */
#ifndef HRUN_SESSION_PREDICTION_H
#define HRUN_SESSION_PREDICTION_H

#include "session/decide.h"

/* Set d->predicted, basis and shares for the configuration of d with shares as in d->shares.how, corrected by its runs.
 * Also set d->plain, with equal shares. problem: the search of d. If the models cannot predict, `known` is 0. */
void predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem);

/* The corrections of *at for shares as in d->shares.how. */
const struct corrected *predicted_corrections(const struct decision *d, const struct at_size *at);

/* The factor that a predicted time is multiplied by before configurations are compared: exp of the standard deviation
 * of the time's logarithm. */
double predicted_doubt(const struct corrected *k, const struct hrun_config *config);

/* Append the network terms of d's configuration whose operations have irregular times (hrun_models_irregular). */
void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
