/* run.h - hrun's errands: one function per thing that the command line can ask for */
#ifndef HRUN_RUN_H
#define HRUN_RUN_H

#include "options.h"

/* Each returns hrun's exit status and has said on stderr what went wrong. words: program and its arguments,
 * NULL-terminated, possibly empty. */
int run_show_cluster(const struct hrun_settings *s, char **words);
int run_list_apps(const struct hrun_settings *s, char **words);
int run_who(const struct hrun_settings *s, char **words);
int run_export_topology(const struct hrun_settings *s, char **words);
int run_plan(const struct hrun_settings *s, char **words);         /* words: a file of jobs */
int run_predict(const struct hrun_settings *s, char **words);
int run_program(const struct hrun_settings *s, char **words);

#endif
