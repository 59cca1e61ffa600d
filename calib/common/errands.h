/* errands.h - what hrun-calibrate can be asked for: the functions of main.c's table */
#ifndef CALIB_COMMON_ERRANDS_H
#define CALIB_COMMON_ERRANDS_H

#include "options.h"

/* Each returns the exit status and has said on stderr what went wrong. */
int calib_measure(const struct calib_settings *s, char **words);          /* words: program and arguments */
/* The same of each variant that has terms, where the definition has variants and none is named. */
int calib_variants(const struct calib_settings *s, char **words);
/* The same for a program without a definition, and write one (new.h). */
int calib_new(const struct calib_settings *s, char **words);
int calib_show(const struct calib_settings *s, char **apps);              /* apps: names, possibly none = all */
int calib_fit(const struct calib_settings *s, char **apps);
int calib_report(const struct calib_settings *s, char **apps);            /* apps: one name, or none */
int calib_export(const struct calib_settings *s, char **apps);
int calib_import(const struct calib_settings *s, char **files);           /* names, "-" for standard input */
/* words: a program whose libraries are looked at, possibly none. The status is 1 when something is not predictable. */
int calib_doctor(const struct calib_settings *s, char **words);

/* Measure how quick PEs are, and keep it; words: none. And show what is kept. */
int calib_speeds(const struct calib_settings *s, char **words);
int calib_show_speeds(const struct calib_settings *s, char **apps);

/* Measure the network of the cluster, estimate its model and keep it; words: none. */
int calib_network(const struct calib_settings *s, char **words);
/* Show the one that is kept, as calib_show does profiles. */
int calib_show_network(const struct calib_settings *s, char **apps);

#endif
