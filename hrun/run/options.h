/* options.h - the option table of hrun, and what hrun can be asked for */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "../command/command.h"
#include "session/decide.h"

struct hrun_settings {
    struct settings common;    /* first: shared rows of the table */
    int64_t N;                        /* -N; 0: not given */
    struct question ask;              /* what is to be chosen */
    struct hrun_strvec configs;       /* each --config; ask.config is the last one */
    int64_t probe_N;                  /* --probe: size of its run, -1: found; 0: not given */
    double wait_s;                    /* --wait: at most, INFINITY: without end; 0: not given */
    const char *dry_run;              /* NULL: not given */
    const char *show_cluster;         /* as given: NULL also where no value was */
    int list_apps;
    int tag_output, report_bindings, trace, tune_collectives, finest;
    struct hrun_mapping mapping;      /* mpirun's words for where processes go (mpirun_words.h) */
    struct hrun_strvec mapping_words; /* what it points to */
    int short_N;                      /* 1: the size was given as -N, which is mpirun's word for something else */
};

/* What hrun can be asked for, in the order of hrun_modes. */
enum hrun_mode {
    HRUN_WHO, HRUN_EXPORT_TOPOLOGY, HRUN_LIST_APPS, HRUN_SHOW_CLUSTER, HRUN_PLAN, HRUN_PREDICT, HRUN_DRY_RUN,
    HRUN_RUN
};

extern const struct hrun_opt hrun_options[];
extern const struct hrun_opt_mode hrun_modes[];
extern const char hrun_usage[], hrun_usage_after[];

#endif
