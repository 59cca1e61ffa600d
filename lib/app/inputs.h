/* inputs.h - the input files of a definition: write them for a run; read constants from the user's own */
#ifndef HRUN_APP_INPUTS_H
#define HRUN_APP_INPUTS_H

#include "app/template.h"

/* Write the definition's files for these values under dir; check = 1: only check whether that would succeed. A file
 * with the right content is not touched. A file with other content is replaced if its mark (inputs.c) shows that hrun
 * wrote it and it was not changed since, else only with force. Anything but a regular file is never replaced. Errors:
 * HRUN_EEXISTS (no file is written then), HRUN_EINVAL (a template), HRUN_EIO (files replaced before stay). */
int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir, int force,
                         int check, struct hrun_error *err);

/* Read the constants of `presets` from the user's own files in dir; files with hrun's mark are skipped. Append to
 * *defines, as NAME=VALUE, those whose line begins with one number that differs from the definition's value, and to
 * *missed, with the definition's value, those whose line does not begin with exactly one number. */
void hrun_app_presets(const struct hrun_app *app, const char *dir, struct hrun_strvec *defines,
                      struct hrun_strvec *missed);

/* 0 if the input file that hrun writes for these values has another number than `said` at a preset's place, which
 * *written receives; else 1. */
int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written);

#endif
