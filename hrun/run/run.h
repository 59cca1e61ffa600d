/* run.h - hrun's errands: one function per thing that the command line can ask for */
#ifndef HRUN_RUN_H
#define HRUN_RUN_H

#include "options.h"
#include "probe.h"
#include "session/decide.h"
#include "session/pes_in_use.h"
#include "session/variants.h"
#include "session/work.h"

/* Each returns hrun's exit status and has said on stderr what went wrong. words: program and its arguments,
 * NULL-terminated, possibly empty. */
int run_show_cluster(const struct hrun_settings *s, char **words);
int run_list_apps(const struct hrun_settings *s, char **words);
int run_who(const struct hrun_settings *s, char **words);
int run_export_topology(const struct hrun_settings *s, char **words);
int run_predict(const struct hrun_settings *s, char **words);
int run_program(const struct hrun_settings *s, char **words);

/* ---------------------------------------------------------------- plan_launch
 *
 * From the command line to a layout whose PEs are this run's
 *
 * Purpose: context, decision, probe and layout, and the locks on the PEs, which are waited for.
 * Invariants: what is laid out is locked (but for a dry run, and where there is no ledger), before anything of the
 * application is started; where others were quicker it is chosen anew among what remains.
 */

/* Everything up to the point where something could be started. */
struct launch_plan {
    struct context c;
    const struct hrun_settings *set;
    struct question ask;          /* as given, but for what does not count in this run */
    int64_t N;                    /* as given, 0: it was not */
    struct hrun_mapping mapping;  /* as given, with -N where that is mpirun's */
    struct hrun_mapping granted;  /* where nothing else says where processes go: as the allocation grants them */
    struct ledger ledger;
    struct profiles known;
    struct decision d;
    struct variants variants;
    struct work w;
    char *named[2];               /* the words, where the user gave none: a program of the definition */
    struct probe probe;
    struct hrun_layout *layout;
    int sig;                      /* the signal that has ended the waiting, else 0 */
};

/* 0, or -1 with *err, which says nothing where sig is set. To be released in any case. Errors: those of the rooms;
 * HRUN_EBUSY where others use what is needed. */
int plan_launch(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err);
void launch_plan_release(struct launch_plan *p);

/* Lay out the decision without the busy PEs (layout.h). */
int plan_layout(struct launch_plan *p, const char *const *busy, struct hrun_error *err);

#endif
