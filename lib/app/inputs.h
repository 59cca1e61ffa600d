/* inputs.h - the input files of a definition: write them for a run; read constants from the user's own files */
#ifndef HRUN_APP_INPUTS_H
#define HRUN_APP_INPUTS_H

#include "app/template.h"

/* Write the definition's files for these values under dir; check = 1: only check whether that would succeed. A file
 * with the right content is not touched. A file with other content is replaced only with force, or if its mark
 * (inputs.c) shows that hrun wrote it and nothing changed it. Anything but a regular file is never replaced. Errors:
 * HRUN_EEXISTS (then no file is written), HRUN_EINVAL (a template), HRUN_EIO (files already replaced stay so). */
int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir, int force,
                         int check, struct hrun_error *err);

/* Read the constants of `presets` from the user's own files in dir; files with hrun's mark are skipped. A constant
 * whose line begins with exactly one number is appended to *defines as NAME=VALUE if that number differs from the
 * definition's value. A constant without such a line is appended to *missed, with the definition's value. */
void hrun_app_presets(const struct hrun_app *app, const char *dir, struct hrun_strvec *defines,
                      struct hrun_strvec *missed);

/* 0 if the input file that hrun writes for these values has a number other than `said` at the preset's place, and
 * *written is that number; else 1. */
int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written);

#endif
