/* anchor.h - NP-T terms where one P was measured beside P = M; not for other rooms
 *
 * Purpose: a sub-cluster of two PEs is measured at one P > M. There N^3/P and N^3 are the same, and a fit that takes
 * all for divided work lets communication shrink as P grows. The runs on one PE (P = M) tell the two apart: nothing
 * is sent between PEs there, so their time is work, and work is what terms in 1/P stand for. What is left of the time
 * at the measured P is taken not to change with P, unless only a term that does can make it: less than it is at a
 * larger P as a rule, but communication that shrinks is worse. More than one measured P needs none of this.
 */
#ifndef HRUN_MODEL_ANCHOR_H
#define HRUN_MODEL_ANCHOR_H

#include "app/app.h"
#include "model/rows.h"

/* Prepare x[n by terms->n] (row-major), the values of NP-T terms at rows, of which the first `anchors` have P = M
 * and the others one other P. At the anchors, terms that are not in proportion to 1/P become 0. A term that is neither
 * that nor constant in P, and at the other rows a multiple of one that is constant, becomes 0 everywhere: the fit
 * leaves it out. */
void hrun_anchor(const struct hrun_terms *terms, const struct hrun_row *rows, size_t n, size_t anchors, double *x);

#endif
