/* share.h - what a small sub-cluster takes over from others; not for other rooms
 *
 * Purpose: a sub-cluster of one or two PEs is measured alone at no or one P > M, and tells little or nothing of how
 * its time follows P; in the whole cluster P goes far beyond. Its runs on one PE tell its own speed, S(N) with P = M.
 * Of another sub-cluster with runs at several P the time is taken apart in the same way: T(N,P) = S'(N) M/P + C(N,P),
 * work divided among P processes and the rest, messages for the most part. The rest is what both have in common, so
 * that a run on enough PEs of the small one would take S(N) M/P + C(N,P). Such rows (HRUN_ROW_SHARED) are fitted
 * beside its own with a fifth of their weight: they give the shape, and real runs the scale, as soon as there are any.
 * What the network's part of it is (network terms of lib/app) the giver's configuration tells.
 * Invariants: shared rows never become rows to share.
 */
#ifndef HRUN_MODEL_SHARE_H
#define HRUN_MODEL_SHARE_H

#include "app/app.h"
#include "model/rows.h"

/* Does rows[n] of one sub-cluster, in their order, tell too little of how time with M processes per PE follows P: less
 * than two different P > M on the sub-cluster alone? */
int hrun_share_needed(const struct hrun_row *rows, size_t n, int M);

/* Append to out[] what rows[n] of the giver `from` with `given` processes per PE tell of `to` with M; *count grows by
 * at most n. Rows are made where the runs on one PE of both are known: models of family `single`. The rest C(N,P) is
 * taken not to depend on M, so given and M may differ; where they are the same and the taker has no runs on one PE with
 * M, its speed with another M that both have stands in. Errors: HRUN_ENONFINITE (a term without a value at a measured
 * N), HRUN_ENOMEM; *count is undefined then. */
int hrun_share(const struct hrun_app *app, const struct hrun_models *from, const struct hrun_row *rows, size_t n,
               int given, const struct hrun_models *to, int M, struct hrun_row *out, size_t *count,
               struct hrun_error *err);

#endif
