/* options.h - the option table of hrun */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "context.h"

struct hrun_settings {
    struct common_settings common;    /* first: shared rows of the table */
    const char *size;                 /* -N */
    const char *procs;                /* -n, -np */
    const char *config;               /* --config */
    const char *use;                  /* --use */
    const char *family;               /* --model */
    const char *objective;            /* NULL: time, or cost with --within */
    const char *within;               /* PERCENT or "interval" */
    const char *max_time, *max_cost, *max_energy, *max_pes;
    int finest;
    const char *top;
    const char *explore;              /* PERCENT */
    const char *placement;            /* "pattern" (as NULL), "plain" */
    const char *probe_size;           /* --probe-size */
    int dry_run, show_cluster, list_apps, tag_output, report_bindings, oversubscribe, no_record, trace,
        tune_collectives, probe;
};

extern const struct hrun_opt hrun_options[];
extern const char hrun_usage[], hrun_usage_after[];

#endif
