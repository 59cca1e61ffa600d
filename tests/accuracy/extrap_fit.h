/* extrap_fit.h - models by Extra-P's published approach, for comparisons */
#ifndef HRUN_TESTS_EXTRAP_FIT_H
#define HRUN_TESTS_EXTRAP_FIT_H

#include "app/app.h"
#include "store/store.h"

/* Models of one sub-cluster from its good homogeneous measurements, which count all: for each M those of one PE and of
 * several. negative = 1: with negative exponents, too, which the tool allows on request. */
struct hrun_models *extrap_fit(const struct hrun_app *app, const struct hrun_samples *s, int negative);

#endif
