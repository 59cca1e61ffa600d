/* run.h - one function for each mode of hrun's command line */
#ifndef HRUN_RUN_H
#define HRUN_RUN_H

#include "options.h"
#include "probe.h"
#include "session/decide.h"
#include "session/pes_in_use.h"
#include "session/variants.h"
#include "session/work.h"

/* Each returns hrun's exit status, after messages about errors on stderr. words: program and its arguments,
 * NULL-terminated, possibly empty. */
int run_show_cluster(const struct hrun_settings *s, char **words);
int run_list_apps(const struct hrun_settings *s, char **words);
int run_who(const struct hrun_settings *s, char **words);
int run_export_topology(const struct hrun_settings *s, char **words);
int run_predict(const struct hrun_settings *s, char **words);
int run_program(const struct hrun_settings *s, char **words);

/* ---------------------------------------------------------------- plan_launch
 *
 * From the command line to a layout with locked PEs
 *
 * Purpose: context, decision, probe and layout, and the wait for locks on the PEs.
 * Invariants: the PEs of the layout are locked before any process of the application starts (except in a dry run, or
 * without a ledger). If other runs lock them first, the choice is repeated among the remaining PEs.
 */

/* A run, ready to be started. */
struct launch_plan {
    struct context c;
    const struct hrun_settings *set;
    struct question ask;          /* as given, without options that do not apply to this run */
    int64_t N;                    /* as given; 0: not given */
    struct hrun_mapping mapping;  /* as given, including a -N with mpirun's meaning */
    struct hrun_mapping granted;  /* placement by the allocation, used if no other placement is given */
    struct ledger ledger;
    struct profiles known;
    struct decision d;
    struct variants variants;
    struct work w;
    char *named[2];               /* the definition's program as words, if the user gave none */
    struct probe probe;
    struct hrun_layout *layout;
    int sig;                      /* the signal that ended the wait, else 0 */
};

/* Fill *p; release it in any case. Result: 0, or -1 with *err, which is empty if p->sig is set. Errors: those of
 * lib/session; HRUN_EBUSY if other runs use the PEs. */
int plan_launch(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err);
void launch_plan_release(struct launch_plan *p);

/* Lay out the decision without the busy PEs (layout.h). */
int plan_layout(struct launch_plan *p, const char *const *busy, struct hrun_error *err);

#endif
