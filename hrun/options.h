/* options.h - the option table of hrun */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "context.h"
#include "service/decide.h"

struct hrun_settings {
    struct common_settings common;    /* first: shared rows of the table */
    const char *size;                 /* -N */
    struct question ask;              /* what is to be chosen */
    struct hrun_strvec configs;       /* each --config; ask.config is the last one */
    const char *placement;            /* "pattern" (as NULL), "plain" */
    const char *probe_size;           /* --probe-size */
    const char *wait_at_most;         /* TIME */
    int wait, who;
    int dry_run, predict, show_cluster, list_apps, tag_output, report_bindings, trace, tune_collectives, finest, probe;
};

extern const struct hrun_opt hrun_options[];
extern const char hrun_usage[], hrun_usage_after[];

#endif
