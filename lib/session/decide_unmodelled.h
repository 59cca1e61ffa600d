/* decide_unmodelled.h - configurations that no model chooses: the user's, and what mpirun would do
 *
 * Purpose: decide.c uses these where a question names a configuration or a number of processes, and where there is no
 * profile.
 * Invariants: the caller has set d->N and d->subs[].npes; the functions set d->by, d->config, d->P and d->has_config.
 */
#ifndef HRUN_SESSION_DECIDE_UNMODELLED_H
#define HRUN_SESSION_DECIDE_UNMODELLED_H

#include "session/decide.h"

/* Refuse P processes where each would have less than its least units of work. hint: appended to the message. Errors:
 * HRUN_EINFEASIBLE, those of hrun_app_units. */
int decide_check_units(const struct context *c, const struct decision *d, int P, const char *hint,
                       struct hrun_error *err);

/* --config. Errors: HRUN_EPARSE, HRUN_EINVAL (more PEs than there are), HRUN_EINFEASIBLE (the rule). */
int decide_by_config(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* Refuse a configuration whose processes do not fit into the memory of the PEs: with the shares of d->shares where they
 * are predicted, else with equal ones. Errors: HRUN_EINFEASIBLE (names the sub-cluster), those of hrun_app_memory. */
int decide_check_memory(const struct context *c, const struct decision *d, struct hrun_error *err);

/* The user's layout, q->mapped. d->has_config is 1 where it equals a configuration. Errors: HRUN_EINFEASIBLE (the
 * rule). */
int decide_by_layout(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* P processes: one on each of the first PEs, of those with enough memory if they suffice, else as many on each of all
 * PEs, else no configuration. Errors: HRUN_EINFEASIBLE (the rule), those of hrun_app_memory. */
int decide_by_count(struct context *c, int P, struct decision *d, struct hrun_error *err);

/* One process per PE that has the memory for it, the largest number of them that the rule accepts. Errors:
 * HRUN_EINFEASIBLE (there is none; says which sizes have one), those of the rule. */
int decide_by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err);

/* Append the numbers of processes per PE of the definition's that models (NULL: none) of a sub-cluster do not predict,
 * or on one PE only: "4", "2 (but alone on one PE), 4". Nothing where all are, or of another family than npt. */
void models_wanting(const struct hrun_app *app, const struct hrun_models *models, struct hrun_buf *out);

/* Largest number of processes that the PEs take: one each, or as many as the definition allows. */
int64_t decide_capacity(const struct context *c, const struct decision *d);

#endif
