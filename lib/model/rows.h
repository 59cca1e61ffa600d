/* rows.h - the measurements that a fit uses; not for other rooms
 *
 * Invariants: rows are in order of M, kind, P, N, time, whatever the order of the measurements; times are finite
 * and above 0; P >= M >= 1, but for shared rows, which may stand for fewer processes than M: they tell the shape.
 */
#ifndef HRUN_MODEL_ROWS_H
#define HRUN_MODEL_ROWS_H

#include "app/app.h"
#include "base/error.h"
#include "store/store.h"

enum hrun_row_kind {
    HRUN_ROW_SHARED_SINGLE, /* as HRUN_ROW_SHARED, of a run on one PE */
    HRUN_ROW_SINGLE,    /* a run on one PE: P = M */
    HRUN_ROW_SHARED,    /* no run: what one would have taken, from another option's runs (common.h) */
    HRUN_ROW_OWN,       /* a run on this sub-cluster alone, P > M */
    HRUN_ROW_MIXED      /* a run on several sub-clusters that this one limited (joint.h) */
};

struct hrun_row {
    int64_t N;
    int P, M;
    double T;
    const char *date;   /* the sample's; "" when it has none */
    enum hrun_row_kind kind;
    double weight;      /* times what the options give a row of this T */
    const struct hrun_sample *sample;  /* the run; of a shared row the one that is shared; NULL: none */
    int own;            /* the network's sub-cluster in whose log the run is, -1: not known */
};

/* Copy the usable ones of samples[n] (good, homogeneous, with the definition's constants) into rows[n];
 * *nrows says how many. own: the network's sub-cluster in whose log they are, -1: not known, or no network.
 * Errors: HRUN_ENODATA when none is usable, counting why; HRUN_ENONFINITE and HRUN_EINVAL for a usable one that breaks
 * an invariant, naming it. */
int hrun_rows_select(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                     int own, struct hrun_row *rows, size_t *nrows, struct hrun_error *err);

/* Put rows[n] in their order. */
void hrun_rows_sort(struct hrun_row *rows, size_t n);

#endif
