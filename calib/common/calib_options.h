/* calib_options.h - the option table of hrun-calibrate, and what it can be asked for */
#ifndef CALIB_COMMON_OPTIONS_H
#define CALIB_COMMON_OPTIONS_H

#include "../../hrun/command/command.h"

enum { LIST_MAX = 1000 };

/* Numbers as "1,2,4-8:2" says them: ascending, distinct. */
struct number_list {
    int64_t v[LIST_MAX + 1];
    int n;                            /* 0: not given */
};

/* Limits of chosen runs; 0 when not given. */
struct calib_budget {
    double limit_s, target;
    int64_t runs, seed;
    double part;                      /* of limit_s: --new measures several times */
    double until;                     /* the part of a budget that is found by which to end */
    double spent_s;                   /* of the budget, before all hosts were asked anew */
    int made;                         /* runs before that */
};

/* --new and --vary. */
struct calib_definition {
    int make;                         /* --new was given */
    int written;                      /* 1: the definition is there already */
    const char *rule, *time;          /* NULL: to be found */
    const char *vary;                 /* NAME or NAME=LIST of --vary; the list is in sizes */
};

/* show. */
struct calib_show {
    int plot;                         /* draw times also where no terminal is */
    int network, speeds;              /* show the network, or how quick PEs are */
};

struct calib_settings {
    struct settings common;           /* first: shared rows of the table */
    struct number_list sizes, pes, procs;  /* what to measure */
    int64_t P;                        /* family weak: processes of the target; 0: all PEs' */
    int64_t N;                        /* this size alone; report: the size that is shown; 0: not given */
    const char *use;                  /* sub-clusters */
    int64_t repetitions;              /* 0: not given */
    int64_t retries;
    int again, redo, dry_run, no_fit, full_grid;
    int trace;                        /* watch the runs */
    struct calib_budget budget;
    struct calib_definition define;
    struct calib_show show;
    const char *output;               /* report, export: the file to write */
    const char *format, *signature;   /* export, import */
    double threshold;                 /* doctor: 0: not given */
    const char *from, *keep;          /* doctor, network */
    double precision;                 /* network; 0: not given */
};

/* What options that are not given stand for. */
#define CALIB_SETTINGS_DEFAULTS .retries = 1, .budget.part = 1, .budget.until = 1, .budget.seed = 1

/* What hrun-calibrate can be asked for, in the order of calib_modes. */
enum calib_mode {
    CALIB_SHOW_NETWORK, CALIB_SHOW_SPEEDS, CALIB_SHOW, CALIB_FIT, CALIB_REPORT, CALIB_EXPORT, CALIB_IMPORT,
    CALIB_DOCTOR_FROM, CALIB_DOCTOR, CALIB_NETWORK_FROM, CALIB_NETWORK, CALIB_SPEEDS, CALIB_NEW, CALIB_VARY,
    CALIB_MEASURE
};

extern const struct hrun_opt calib_options[];
extern const struct hrun_opt_mode calib_modes[];
extern const char calib_usage[], calib_usage_after[];

/* ---- errands: what hrun-calibrate can be asked for: the functions of main.c's table */

/* Each returns the exit status and has said on stderr what went wrong. */
int calib_measure(const struct calib_settings *s, char **words);          /* words: program and arguments */
/* The same of each variant that has terms, where the definition has variants and none is named. */
int calib_variants(const struct calib_settings *s, char **words);
/* The same for a program without a definition, or a number in its command, and write one (calib/measure/measure.h). */
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

/* ---- lists: what the options say is to be measured: sizes, numbers of PEs, processes per PE, sub-clusters */

struct lists {
    struct number_list sizes, pes, procs; /* pes.n = 0: no --pes, each sub-cluster its own numbers */
    int own;                  /* 1: the sizes are ours, up to the one that -N names */
    int *most;                /* of each sub-cluster: PEs that may be used, 0 none; owned */
};

/* Sizes and processes per PE that the options do not give are the definition's; of chosen runs -N stands for sizes up
 * to it, down to an eighth, which the rule accepts for many P. Release *out in any case. Errors: HRUN_EINVAL (no sizes
 * known, no sub-cluster has that many PEs), those of context_use. */
int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err);
/* Result: -1 where the list is full. */
int number_list_add(struct number_list *l, int64_t x);
/* For the option table: a list as "1,2,4-8:2" with numbers in min..max of the row, into a struct number_list. */
int lists_add(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
void lists_release(struct lists *l);

#endif
