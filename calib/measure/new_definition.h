/* new_definition.h - hrun-calibrate --new and --vary: an app definition for a program without a known cost model
 *
 * Purpose: find the rule by trial runs (find_rule.c), measure with a provisional definition, choose terms from the
 * measurements (lib/model/discover.h), write the definition, and fit with it (new_definition.c). With --vary a number
 * in the command is the size, and the definition belongs to the command (session/context.h, "problem"); with --new it
 * belongs to the user.
 * Invariants: the definition is written in one step, before the last part of the runs, which measures with it. A
 * definition of the user is replaced only with --force. That of a command is always replaced, but keeps its sizes and
 * rule. All measurements are recorded, so the same command continues after a stop.
 */
#ifndef CALIB_MEASURE_NEW_DEFINITION_H
#define CALIB_MEASURE_NEW_DEFINITION_H

#include "../common/calib_options.h"
#include "session/context.h"

/* The definition so far. */
struct new_app {
    const char *name;
    char *const *words;            /* program and arguments */
    struct context *command;       /* --vary: context of the command, with its problem; NULL: --new */
    const char *time_match, *time_file, *time_value;   /* keys of a definition, or NULL */
    int suits;                     /* 1: processes per PE follow the cluster (hrun_app_suit) */
    struct lists lists;            /* sizes, processes per PE */
    struct hrun_buf rule, rule_from;  /* expression; description of the runs behind it */
};

/* Find the rule by runs on c's cluster, smallest size first, with several processes per PE if needed. c has program,
 * cluster and engine. Result: 0; the number of the signal that stopped the search; -1 with *err (HRUN_ENODATA: no rule
 * accepts a good run and no failed one). */
int new_find_rule(struct context *c, struct new_app *a, struct hrun_error *err);

/* For --vary: replace the number in the words by {N}, and copy processes per PE, rule and time from the stored
 * definition of the command or its program. Errors: HRUN_EINVAL (no such number, a definition for the command exists,
 * {N} among the words), those of problem_begin. */
int vary_begin(struct calib_settings *s, struct new_app *a, struct hrun_error *err);

#endif
