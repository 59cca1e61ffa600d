/* options.h - the option table of hrun-calibrate */
#ifndef CALIB_OPTIONS_H
#define CALIB_OPTIONS_H

#include "../hrun/context.h"

struct calib_settings {
    struct common_settings common;    /* first: shared rows of the table */
    const char *sizes, *pes, *procs;  /* lists: what to measure */
    const char *procs_wanted;         /* family weak: processes of the target */
    const char *use;                  /* sub-clusters */
    const char *repetitions, *retries, *remeasure;
    int again, redo, parallel, dry_run, no_fit, full_grid;
    int trace, no_trace;              /* watch all runs; none; neither: those of several sub-clusters */
    int make_new;                     /* write a definition, with this rule and time, each NULL when not given */
    const char *rule, *time;
    int terms, plot;                  /* show: propose terms; draw times also where no terminal is */
    const char *output, *size;        /* report, export: the file to write; report: N of the landscape */
    const char *format, *signature;   /* export, import */
    const char *budget, *runs, *target, *seed;  /* chosen runs */
    const char *threshold, *from, *keep;        /* doctor, network */
    const char *precision;            /* network */
    int network, speeds;              /* show: the network, or how quick PEs are */
    double spent_s;                   /* of the budget, and runs made, before all hosts were asked anew */
    int made;
};

extern const struct hrun_opt calib_options[];
extern const char calib_usage[], calib_usage_after[];

/* Refuse an option that does nothing for "show", "show --network", "network" or "network --from". Errors: HRUN_EINVAL,
 * naming the first. */
int calib_refuse_useless(const char *command, const struct calib_settings *s, struct hrun_error *err);

#endif
