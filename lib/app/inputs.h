/* inputs.h - the input files of a definition: written for a run, and what the user's own say */
#ifndef HRUN_APP_INPUTS_H
#define HRUN_APP_INPUTS_H

#include "app/template.h"

/* Write the definition's files for these values under dir; check = 1: write nothing, 0 where it would succeed. A file
 * that has the right content is not touched. One with another content is replaced where hrun wrote it and nobody
 * changed it since, which its mark says (inputs.c), else only with force. Anything that is not a regular file (a
 * folder, a pipe) is in the way in any case. Errors: HRUN_EEXISTS (nothing is written then, of several files none),
 * HRUN_EINVAL (a template), HRUN_EIO; files replaced before the failure stay. */
int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir, int force,
                         int check, struct hrun_error *err);

/* Read the constants of `presets` from the user's own files in dir; files with hrun's mark are skipped. Append to
 * *defines, as NAME=VALUE, those whose line begins with one number that differs from the definition's value, and to
 * *missed, with the definition's value, those whose line does not begin with exactly one number. */
void hrun_app_presets(const struct hrun_app *app, const char *dir, struct hrun_strvec *defines,
                      struct hrun_strvec *missed);

/* Has the input file that hrun writes for these values the number `said` at a preset's place? Where it has another one,
 * *written gets that. */
int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written);

#endif
