/* mpirun_words.h - the options of mpirun and mpiexec that hrun does not have itself
 *
 * Purpose: a script in which `mpirun` was replaced by `hrun` runs. Each word is served, by an option of hrun or by the
 * layout (layout.h, mapping), or passed over with a line that says what hrun does instead, or refused with what to
 * write. hrun-mpirun(7) lists all.
 */
#ifndef HRUN_MPIRUN_WORDS_H
#define HRUN_MPIRUN_WORDS_H

#include "options.h"

/* Replace such words among the options in argv (up to "--" or the program) by hrun's: *out, empty before, gets argv[0]
 * and all further words. s->notes gets a line for each word that is passed over, s->mapping where processes go, and
 * s->common.env variables for all programs. --allow-run-as-root sets the environment of mpirun.
 * The caller releases *out after the last use of the command line. Errors: HRUN_EINVAL, HRUN_EIO. */
int mpirun_words_replace(char **argv, struct hrun_settings *s, struct hrun_strvec *out, struct hrun_error *err);
/* Obey the MCA parameters for where processes go (--mca, the environment, files of parameters) as the options that they
 * stand for, where the command line says nothing else; mpirun does not see them any more. *s->notes gets a line where
 * one decides in place of a model, and for each that is not understood. */
void mpirun_parameters_obey(struct hrun_settings *s);

#endif
