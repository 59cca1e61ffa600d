/* new_definition.h - hrun-calibrate --new and --vary: an app definition for a program whose theory nobody knows
 *
 * Purpose: find the rule by trying (find_rule.c), measure with a provisional definition, choose terms from the
 * measurements (lib/model/discover.h), write the definition, and fit with it (new_definition.c). With --vary, where a
 * number in the command is the size, the definition is the command's (session/context.h, "problem"), else the user's.
 * Invariants: the definition appears as a whole, when all is measured, or not at all. One that is there is replaced
 * only with --force; that of a command always, and its sizes and rule are taken over. Measurements are kept from the
 * first on, as by any calibration: after a stop the same command goes on.
 */
#ifndef CALIB_MEASURE_NEW_DEFINITION_H
#define CALIB_MEASURE_NEW_DEFINITION_H

#include "../common/calib_options.h"
#include "session/context.h"

/* What is known so far. */
struct new_app {
    const char *name;
    char *const *words;            /* program and arguments */
    struct context *command;       /* of --vary: its problem, and what is known of it; NULL: --new */
    const char *time_match, *time_file, *time_value;   /* as a definition has them, or NULL */
    int suits;                     /* 1: processes per PE follow the cluster (hrun_app_suit) */
    struct lists lists;            /* sizes, processes per PE */
    struct hrun_buf rule, rule_from;  /* expression; what it rests on */
};

/* Find the rule by runs on c's cluster, the smallest size first, with as many processes per PE as needed.
 * c: with program, cluster and engine. 0; the number of the signal that stopped it; -1 with *err (HRUN_ENODATA: no run
 * worked, or no rule agrees with all). */
int new_find_rule(struct context *c, struct new_app *a, struct hrun_error *err);

/* For --vary: the words become those with {N} in place of the number, and what is known of the command or of its
 * program is taken over: processes per PE, rule and time. Errors: HRUN_EINVAL (no such number, a definition that knows
 * the command, {N} among the words), those of problem_begin. */
int vary_begin(struct calib_settings *s, struct new_app *a, struct hrun_error *err);

#endif
