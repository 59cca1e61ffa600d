/* new.h - hrun-calibrate --new: an app definition for a program that nobody knows the theory of
 *
 * Purpose: find the rule by trying (new_rule.c), measure with a definition that is good for that alone, choose terms
 * from the measurements (lib/model/discover.h), write the definition, and fit with it (new.c).
 * Invariants: the definition appears as a whole, when all is measured, or not at all; one that is there is replaced
 * only with --force. Measurements are kept from the first on, as of any calibration: after a stop the same command
 * goes on.
 */
#ifndef CALIB_NEW_H
#define CALIB_NEW_H

#include "../common/errands.h"
#include "../common/lists.h"

/* What is known so far. */
struct new_app {
    const char *name;
    char *const *words;            /* program and arguments */
    const char *time_match;        /* or NULL */
    struct lists lists;            /* sizes, processes per PE */
    struct hrun_buf rule, rule_from;  /* expression; what it rests on */
};

/* Find the rule by runs on c's cluster, which hold as many processes per PE as need be, the smallest size first.
 * c: with program, cluster and engine. 0; the number of the signal that stopped it; -1 with *err (HRUN_ENODATA: no run
 * worked, or no rule agrees with all). */
int new_find_rule(struct context *c, struct new_app *a, struct hrun_error *err);

#endif
