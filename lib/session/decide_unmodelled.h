/* decide_unmodelled.h - configurations that no model chooses: the user's, and those of mpirun
 *
 * Purpose: decide.c uses these if a question names a configuration or a number of processes, or if there is no
 * profile.
 * Invariants: the caller has set d->N and d->subs[].npes; the functions set d->by, d->config, d->P and d->has_config.
 */
#ifndef HRUN_SESSION_DECIDE_UNMODELLED_H
#define HRUN_SESSION_DECIDE_UNMODELLED_H

#include "session/decide.h"

/* Refuse P processes if there are fewer units of work than P times the least of one process. hint: end of the message.
 * Errors: HRUN_EINFEASIBLE, those of hrun_app_units. */
int decide_check_units(const struct context *c, const struct decision *d, int P, const char *hint,
                       struct hrun_error *err);

/* Use q->config. Errors: HRUN_EPARSE, HRUN_EINVAL (more PEs than usable), HRUN_EINFEASIBLE (the rule). */
int decide_by_config(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* Refuse a configuration whose processes do not fit into the memory of the PEs: with d->shares if predicted, else with
 * equal shares. Errors: HRUN_EINFEASIBLE (names the sub-cluster), those of hrun_app_memory. */
int decide_check_memory(const struct context *c, const struct decision *d, struct hrun_error *err);

/* Use the user's layout q->mapped. d->has_config is 1 if a configuration describes the layout. Errors:
 * HRUN_EINFEASIBLE (the rule). */
int decide_by_layout(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* Place P processes: one on each of the first P PEs with enough memory; else on each of the first P PEs; else the same
 * number on each PE; else set d->has_config to 0. Errors: HRUN_EINFEASIBLE (the rule), those of hrun_app_memory. */
int decide_by_count(struct context *c, int P, struct decision *d, struct hrun_error *err);

/* Place one process per PE with enough memory (per core if the application adapts to the PEs): the largest number that
 * the rule accepts. Errors: HRUN_EINFEASIBLE (no number; names the nearest sizes with one), those of the rule. */
int decide_by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err);

/* Append the numbers of processes per PE in the definition for which the models (NULL: none) of a sub-cluster do not
 * predict several PEs: "4", "2 (but alone on one PE), 4". Nothing if all are predicted, or the family has no forms. */
void models_wanting(const struct hrun_app *app, const struct hrun_models *models, struct hrun_buf *out);

/* The largest number of processes on the usable PEs: one each, one per core, or as many as the definition allows. */
int64_t decide_capacity(const struct context *c, const struct decision *d);

#endif
