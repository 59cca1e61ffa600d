/* mpirun_words.h - options of mpirun and mpiexec that hrun itself does not have
 *
 * Purpose: a script still runs after `mpirun` in it is replaced by `hrun`. Each word is replaced by an option of hrun,
 * obeyed by the layout (layout.h, mapping), ignored with a note on what hrun does instead, or refused with advice.
 * hrun-mpirun(7) lists all words.
 */
#ifndef HRUN_MPIRUN_WORDS_H
#define HRUN_MPIRUN_WORDS_H

#include "options.h"

/* Replace mpirun's words among the options in argv (up to "--" or the program) by hrun's. *out, empty before, gets
 * argv[0] and all further words. s->notes gets a line for each ignored word, s->mapping the placement of processes, and
 * s->common.env the variables for all programs. --allow-run-as-root sets the environment of mpirun. The caller releases
 * *out after the last use of the command line. Errors: HRUN_EINVAL, HRUN_EIO. */
int mpirun_words_replace(char **argv, struct hrun_settings *s, struct hrun_strvec *out, struct hrun_error *err);
/* Obey the MCA parameters that place processes (--mca, environment, parameter files) like the equivalent options,
 * unless the command line sets these. The parameters are hidden from mpirun, also if they are not obeyed. s->notes gets
 * a line for a parameter that overrides a model, and for each that is not understood. */
void mpirun_parameters_obey(struct hrun_settings *s);

#endif
