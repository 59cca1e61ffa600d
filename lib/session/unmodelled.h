/* unmodelled.h - configurations that no model chooses: the user's, and what mpirun would do (internal)
 *
 * Purpose: decide.c asks these where a question names a configuration or a number of processes, and where there is no
 * profile.
 * Invariants: of *d the PEs that may be used (subs[].npes) and N are there; by, pes, procs, P and has_config are
 * filled.
 */
#ifndef HRUN_SERVICE_UNMODELLED_H
#define HRUN_SERVICE_UNMODELLED_H

#include "plan/plan.h"
#include "session/decide.h"

/* --config. Errors: HRUN_EPARSE, HRUN_EINVAL (more PEs than there are), HRUN_EINFEASIBLE (the rule). */
int decide_by_config(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* P processes: one on each of the first PEs, else as many on each of all PEs, else no configuration. Errors:
 * HRUN_EINFEASIBLE (the rule). */
int decide_by_count(struct context *c, int P, struct decision *d, struct hrun_error *err);

/* One process per PE, the largest number of them that the rule and the memory of subs accept. Errors: HRUN_EINFEASIBLE
 * (there is none; says which sizes have one), those of the rule. */
int decide_by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err);

/* Append the numbers of processes per PE of the definition's that models (NULL: none) of a sub-cluster do not predict,
 * or on one PE only: "4", "2 (but alone on one PE), 4". Nothing where all are, or of another family than npt. */
void models_wanting(const struct hrun_app *app, const struct hrun_models *models, struct hrun_buf *out);

/* Largest number of processes that the PEs take: one each, or as many as the definition allows. */
int64_t decide_capacity(const struct context *c, const struct decision *d);

#endif
