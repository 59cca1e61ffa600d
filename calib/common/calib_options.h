/* calib_options.h - the option table of hrun-calibrate, its settings, and the functions that main.c calls */
#ifndef CALIB_COMMON_OPTIONS_H
#define CALIB_COMMON_OPTIONS_H

#include "../../hrun/command/command.h"

enum { LIST_MAX = 1000 };

/* The numbers of a list such as "1,2,4-8:2", ascending and distinct. */
struct number_list {
    int64_t v[LIST_MAX + 1];
    int n;                            /* 0: not given */
};

/* Limits of chosen runs. limit_s, target and runs are 0 if not given. */
struct calib_budget {
    double limit_s, target;
    int64_t runs, seed;
    double part;                      /* the part of limit_s for this measurement: --new makes several measurements */
    double until;                     /* the measurement ends when this part of an automatic budget is spent */
    double spent_s;                   /* seconds spent before a changed host made the campaign begin again */
    int made;                         /* runs made before that */
};

/* --new and --vary. */
struct calib_definition {
    int make;                         /* --new was given */
    int written;                      /* 1: the definition has been written */
    const char *rule, *time;          /* NULL: a rule is found by runs, and the time is the wall clock's */
    const char *vary;                 /* argument of --vary, NAME or NAME=LIST; the list is in `sizes` */
};

/* show. */
struct calib_show {
    int plot;                         /* draw times even if standard output is no terminal */
    int network, speeds;              /* show the network, or the speeds of PEs */
};

struct calib_settings {
    struct settings common;           /* the first member: option rows shared with hrun have offsets in it */
    struct number_list sizes, pes, procs;  /* sizes, PEs and processes per PE to measure */
    int64_t P;                        /* family weak: processes of the target run; 0: those of all PEs */
    int64_t N;                        /* the size to calibrate for (lists_read); report: the size shown; 0: not given */
    const char *use;                  /* names of the sub-clusters to use; NULL: all */
    int64_t repetitions;              /* 0: not given */
    int64_t retries;
    int again, redo, dry_run, no_fit, full_grid;
    int trace;                        /* 1: watch the MPI calls of the runs */
    struct calib_budget budget;
    struct calib_definition define;
    struct calib_show show;
    const char *output;               /* report, export: the file to write */
    const char *format, *signature;   /* export, import */
    double threshold;                 /* doctor; 0: not given */
    const char *from, *keep;          /* doctor, network */
    double precision;                 /* network; 0: not given */
};

/* Defaults of options. */
#define CALIB_SETTINGS_DEFAULTS .retries = 1, .budget.part = 1, .budget.until = 1, .budget.seed = 1

/* The modes of hrun-calibrate, in the order of calib_modes. */
enum calib_mode {
    CALIB_SHOW_NETWORK, CALIB_SHOW_SPEEDS, CALIB_SHOW, CALIB_FIT, CALIB_REPORT, CALIB_EXPORT, CALIB_IMPORT,
    CALIB_DOCTOR_FROM, CALIB_DOCTOR, CALIB_NETWORK_FROM, CALIB_NETWORK, CALIB_SPEEDS, CALIB_NEW, CALIB_VARY,
    CALIB_MEASURE
};

extern const struct hrun_opt calib_options[];
extern const struct hrun_opt_mode calib_modes[];
extern const char calib_usage[], calib_usage_after[];

/* ---- functions of main.c's table, one for each mode */

/* Each returns the exit status, after messages about errors on stderr. */
int calib_measure(const struct calib_settings *s, char **words);          /* words: program and arguments */
/* Call calib_measure once for each variant that has terms; only once if the user names a variant or the definition has
 * no variants. */
int calib_variants(const struct calib_settings *s, char **words);
/* --new and --vary: also write the definition (calib/measure/new_definition.h). */
int calib_new(const struct calib_settings *s, char **words);
int calib_show(const struct calib_settings *s, char **apps);              /* apps: names, possibly none = all */
int calib_fit(const struct calib_settings *s, char **apps);
int calib_report(const struct calib_settings *s, char **apps);            /* apps: one name, or none */
int calib_export(const struct calib_settings *s, char **apps);
int calib_import(const struct calib_settings *s, char **files);           /* names, "-" for standard input */
/* words: a program whose libraries are checked, possibly none. The status is 1 if the cluster is not predictable. */
int calib_doctor(const struct calib_settings *s, char **words);

/* Measure the speeds of PEs and store them; words: none. calib_show_speeds shows the stored ones. */
int calib_speeds(const struct calib_settings *s, char **words);
int calib_show_speeds(const struct calib_settings *s, char **apps);

/* Measure the network of the cluster, estimate its model and store it; words: none. */
int calib_network(const struct calib_settings *s, char **words);
/* Show the stored network. */
int calib_show_network(const struct calib_settings *s, char **apps);

/* ---- lists: sizes, numbers of PEs, processes per PE and sub-clusters that the options select */

struct lists {
    struct number_list sizes, pes, procs; /* pes.n = 0: no --pes, so each sub-cluster has its own numbers */
    int own;                  /* 1: sizes were chosen automatically, up to -N */
    int *most;                /* for each sub-cluster: PEs that may be used, possibly 0; owned */
};

/* Fill *out from the options. Missing sizes and processes per PE come from the definition. With --full-grid, or a
 * family with points of its own, -N gives one size. Else -N gives sizes from about N/8 to N that the rule accepts for
 * many P. Release *out in any case. Errors: HRUN_EINVAL (no sizes known, no sub-cluster has that many PEs), those of
 * context_use. */
int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err);
/* Add x. Result: 0, or -1 if the list is full. */
int number_list_add(struct number_list *l, int64_t x);
/* For the option table: parse a list such as "1,2,4-8:2", with numbers in the row's min..max, into a number_list. */
int lists_add(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
void lists_release(struct lists *l);

#endif
