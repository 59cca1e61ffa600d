/* options.h - the option table of hrun, and what hrun can be asked for */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "../command/command.h"
#include "session/decide.h"
#include "session/work.h"

struct hrun_settings {
    struct settings common;    /* first: shared rows of the table */
    int64_t N;                        /* -N; 0: not given */
    struct question ask;              /* what is to be chosen */
    int explore_if_it_fits;           /* 1: ask.explore is of the user's file, and gives way to other options */
    struct hrun_strvec configs;       /* each --config; ask.config is the last one */
    int probe;                        /* --probe */
    int64_t probe_N;                  /* its SIZE, 0: not given */
    double wait_s;                    /* --wait: at most, INFINITY: without end; 0: not given */
    int no_wait;
    const char *dry_run;              /* NULL: not given */
    const char *print_shares;         /* --print-shares, a dry run, too: the form; NULL: not given */
    const char *show_cluster;         /* as given: NULL also where no value was */
    int list_apps;
    int tag_output, report_bindings, trace, tune_collectives, finest;
    struct hrun_mapping mapping;      /* mpirun's words for where processes go (mpirun_words.h) */
    struct hrun_strvec mapping_words; /* what it points to */
    int hydra;                        /* 1: called by words that only mpiexec of MPICH has, or by its name */
    int short_N;                      /* 1: the size was given as -N, which is mpirun's word for something else */
    struct work_program *programs;    /* nprograms, where ':' stands between several; ask.procs is their sum */
    int nprograms;                    /* 0: there is one */
    const char *gwdir;                /* the folder of all programs, where one was given; NULL: none was */
    struct hrun_strvec *lines;        /* nprograms: what the words of all but the first point into */
    struct hrun_strvec notes;         /* options of mpirun's that are passed over, and what hrun does instead */
};

/* What hrun can be asked for, in the order of hrun_modes. */
enum hrun_mode {
    HRUN_WHO, HRUN_EXPORT_TOPOLOGY, HRUN_LIST_APPS, HRUN_SHOW_CLUSTER, HRUN_PLAN, HRUN_PREDICT, HRUN_DRY_RUN,
    HRUN_PRINT_SHARES, HRUN_RUN
};

extern const struct hrun_opt hrun_options[];
extern const struct hrun_opt_mode hrun_modes[];
extern const char hrun_usage[], hrun_usage_after[];

/* Fill what the command line left open from HRUN_OVERSUBSCRIBE and MPIEXEC_TIMEOUT, then from the user's file
 * $XDG_CONFIG_HOME/hrun/options.yaml, where there is one. Errors, with the place: HRUN_EPARSE, HRUN_EINVAL (a value),
 * HRUN_EIO. */
int options_of_user(struct hrun_settings *s, struct hrun_error *err);

/* For struct context_command: the programs of `-n P PROGRAM... : -n P PROGRAM...` into s->programs. Errors: HRUN_EINVAL
 * (no program or no -n before or behind a ':', another option behind one), those of mpirun_words_replace. */
int programs_read(struct settings *s, char **words, struct hrun_error *err);
/* The hosts of all ranks into s->mapping: of --map-by seq, and of programs with hosts of their own. Errors: HRUN_EINVAL
 * (no list of hosts, two ways to say where processes go), those of reading a host file. */
int programs_hosts(struct hrun_settings *s, struct hrun_error *err);
void programs_release(struct hrun_settings *s);

#endif
