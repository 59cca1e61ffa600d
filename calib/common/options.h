/* options.h - the option table of hrun-calibrate, and what it can be asked for */
#ifndef CALIB_OPTIONS_H
#define CALIB_OPTIONS_H

#include "../../hrun/command.h"

enum { LIST_MAX = 1000 };

/* Numbers as "1,2,4-8:2" says them: ascending, distinct. */
struct number_list {
    int64_t v[LIST_MAX + 1];
    int n;                            /* 0: not given */
};

struct calib_settings {
    struct settings common;    /* first: shared rows of the table */
    struct number_list sizes, pes, procs;  /* what to measure */
    int64_t P;                        /* family weak: processes of the target; 0: all PEs' */
    const char *use;                  /* sub-clusters */
    int64_t repetitions;              /* 0: not given */
    int64_t retries;
    int again, redo, dry_run, no_fit, full_grid;
    int trace;                        /* watch the runs */
    int make_new;                     /* write a definition, with this rule and time, each NULL when not given; */
    int written;                      /* which is there already */
    const char *rule, *time;
    int terms, plot;                  /* show: propose terms; draw times also where no terminal is */
    const char *output;               /* report, export: the file to write */
    int64_t N;                        /* this size alone; report: of the landscape; 0: not given */
    const char *format, *signature;   /* export, import */
    double budget_s, target;          /* chosen runs: limits, 0 when not given */
    int64_t runs, seed;
    double threshold;                 /* doctor: 0: not given */
    const char *from, *keep;          /* doctor, network */
    double precision;                 /* network; 0: not given */
    int network, speeds;              /* show: the network, or how quick PEs are */
    double part;                      /* of the budget: --new measures twice */
    double until;                     /* the part of a budget that is found by which to end */
    double spent_s;                   /* of the budget, and runs made, before all hosts were asked anew */
    int made;
};

/* What options that are not given stand for. */
#define CALIB_SETTINGS_DEFAULTS .part = 1, .until = 1, .retries = 1, .seed = 1

/* What hrun-calibrate can be asked for, in the order of calib_modes. */
enum calib_mode {
    CALIB_SHOW_NETWORK, CALIB_SHOW_SPEEDS, CALIB_SHOW, CALIB_FIT, CALIB_REPORT, CALIB_EXPORT, CALIB_IMPORT,
    CALIB_DOCTOR_FROM, CALIB_DOCTOR, CALIB_NETWORK_FROM, CALIB_NETWORK, CALIB_SPEEDS, CALIB_NEW, CALIB_MEASURE
};

extern const struct hrun_opt calib_options[];
extern const struct hrun_opt_mode calib_modes[];
extern const char calib_usage[], calib_usage_after[];

#endif
