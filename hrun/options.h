/* options.h - the option table of hrun, and what hrun can be asked for */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "context.h"
#include "service/decide.h"

struct hrun_settings {
    struct common_settings common;    /* first: shared rows of the table */
    int64_t N;                        /* -N; 0: not given */
    struct question ask;              /* what is to be chosen */
    struct hrun_strvec configs;       /* each --config; ask.config is the last one */
    const char *placement;            /* "pattern" (as NULL), "plain" */
    int64_t probe_N;                  /* --probe-size; 0: not given */
    double wait_at_most_s;            /* 0: not given */
    int wait;
    int dry_run, predict, show_cluster, list_apps, who, export_topology;   /* what is asked for, unless a run */
    int tag_output, report_bindings, trace, tune_collectives, finest, probe;
};

/* What hrun can be asked for, in the order of hrun_modes. */
enum hrun_mode {
    HRUN_SHOW_CLUSTER, HRUN_LIST_APPS, HRUN_WHO, HRUN_EXPORT_TOPOLOGY, HRUN_PLAN, HRUN_PREDICT, HRUN_DRY_RUN,
    HRUN_RUN
};

extern const struct hrun_opt hrun_options[];
extern const struct hrun_opt_mode hrun_modes[];
extern const char hrun_usage[], hrun_usage_after[];

#endif
