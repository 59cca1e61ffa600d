/* options.h - the option table of hrun, its settings and modes */
#ifndef HRUN_OPTIONS_H
#define HRUN_OPTIONS_H

#include "../command/command.h"
#include "session/decide.h"
#include "session/work.h"

struct hrun_settings {
    struct settings common;    /* first: shared rows of the table */
    int64_t N;                        /* -N; 0: not given */
    struct question ask;              /* options that direct the choice */
    int explore_if_it_fits;           /* 1: ask.explore comes from the user's file, and other options override it */
    struct hrun_strvec configs;       /* values of --config; ask.config is the last one */
    int probe;                        /* --probe */
    int64_t probe_N;                  /* its SIZE; 0: not given */
    double wait_s;                    /* --wait: the longest wait; INFINITY: no limit; 0: not given */
    int no_wait;
    const char *dry_run;              /* NULL: not given */
    const char *print_shares;         /* --print-shares, also a dry run: the form; NULL: not given */
    const char *show_cluster;         /* value of --show-cluster; NULL: not given, or without a value */
    int list_apps;
    int tag_output, report_bindings, trace, tune_collectives, finest;
    struct hrun_mapping mapping;      /* placement of processes by mpirun's words (mpirun_words.h) */
    struct hrun_strvec mapping_words; /* texts that mapping points to */
    int hydra;                        /* 1: called by the name mpiexec, or with words that only MPICH's mpiexec has */
    int short_N;                      /* 1: the size was given as -N, which in mpirun means processes per node */
    struct work_programs programs;    /* separated by ':'; ask.procs is the sum of their processes */
    const char *gwdir;                /* the working folder of all programs; NULL: not given */
    struct hrun_strvec notes;         /* notes on ignored options of mpirun and what hrun does instead */
};

/* The modes of hrun, in the order of hrun_modes. */
enum hrun_mode {
    HRUN_WHO, HRUN_EXPORT_TOPOLOGY, HRUN_LIST_APPS, HRUN_SHOW_CLUSTER, HRUN_PLAN, HRUN_PREDICT, HRUN_DRY_RUN,
    HRUN_PRINT_SHARES, HRUN_RUN
};

extern const struct hrun_opt hrun_options[];
extern const struct hrun_opt_mode hrun_modes[];
extern const char hrun_usage[], hrun_usage_after[];

/* Set options missing on the command line from HRUN_OVERSUBSCRIBE and MPIEXEC_TIMEOUT, then from the user's file
 * $XDG_CONFIG_HOME/hrun/options.yaml, if it exists. Errors, with the place: HRUN_EPARSE, HRUN_EINVAL (a value),
 * HRUN_EIO. */
int options_of_user(struct hrun_settings *s, struct hrun_error *err);

/* read_programs of struct context_command: the programs of `-n P PROGRAM... : -n P PROGRAM...` into s->programs.
 * Errors: HRUN_EINVAL (a part without program or -n, an option that may not follow a ':'), those of
 * mpirun_words_replace. */
int programs_read(struct settings *s, char **words, struct hrun_error *err);
/* Put the hosts of all ranks into s->mapping, for --map-by seq and for programs with their own hosts. Errors:
 * HRUN_EINVAL (no list of hosts, two contradicting placements), those of reading a host file. */
int programs_hosts(struct hrun_settings *s, struct hrun_error *err);
void programs_release(struct hrun_settings *s);

#endif
