/* work.h - one run of an application: its words, its input files, its launch, its time
 *
 * Purpose: hrun and hrun-calibrate run applications in exactly the same way, so that measured times apply to later
 * runs.
 */
#ifndef HRUN_SESSION_WORK_H
#define HRUN_SESSION_WORK_H

#include "app/template.h"
#include "layout/layout.h"
#include "session/coll_tuning.h"
#include "session/context.h"
#include "session/scratch.h"

struct waits;    /* mpi_waits.h */

/* One of several programs that a job starts together. */
struct work_program {
    char *const *words;
    int procs;
    struct hrun_strvec env;    /* words for env(1): its own variables and working directory; empty: none */
    const char *wdir;          /* its own working directory; NULL: the job's */
    struct hrun_strvec hosts;  /* hosts of its ranks in order, repeated as often as needed; empty: any */
    struct hrun_strvec line;   /* owns words; empty for the first program, whose words are the caller's */
};

/* The ranks of a job are numbered one program after the other. */
struct work_programs {
    struct work_program *v;
    int n;                     /* 0: all ranks start the same program */
};

struct work {
    struct context *c;
    int64_t N;                 /* 0: not known */
    char *const *words;        /* program and arguments as the user wrote them, NULL-terminated */
    struct work_programs programs;   /* the caller's; v[0].words is words */
    const struct scratch *scratch; /* makes a folder for the run; NULL: the working directory. The caller's */
    int quiet_run;             /* 1: hide the application's output (calibration) */
    int tag_output, report_bindings, oversubscribe;
    struct tune *tune;         /* to tune collective operations: filled by work_run; or NULL. The caller's */
    struct waits *waits;       /* to trace MPI calls: filled by work_run, used by work_record; or NULL. The caller's */
    const double *share;       /* nsubs: share of one process of each sub-cluster; NULL: equal. The caller's */
    int copies;                /* 1: the ranks are independent runs of one process each (family weak) */
    double limit_s;            /* time limit if the user gave no --timeout; 0: none */
    double slow_s;             /* time limit in any case; 0: none */
    /* Called just before the start, after all checks; may be NULL. If the result is not 0, nothing starts, and *err is
     * the error of work_run. */
    int (*before_launch)(void *ctx, const struct hrun_job *job, struct hrun_error *err);
    void (*on_message)(void *ctx, const char *text);
    void *ctx;
};

struct work_result {
    struct hrun_outcome outcome;
    int ok;                    /* the run ended well and its time is known */
    double time_s;             /* application's own time, else the clock of the job's hosts (outcome.job_s);
                                  0 unless ok */
    int unprepared;            /* 1: a signal or the time limit ended the preparation; `outcome` is the preparation's */
    int too_short;             /* 1: status 0, but the program reports a time of 0 s; not ok */
    int no_time;               /* 1: status 0, but the output has no time; not ok */
    char status[96];           /* for the log: "ok", "exit 3", "signal 9", "timeout", "lost host h3",
                                  "no time in output", HRUN_STATUS_TOO_SHORT */
    char detail[512];          /* for the user: the last line of standard error, or why no time was found; "" */
};

/* Set the program or programs for P processes, and their MPI, in the context. Names may have {N} and {P}. P = 0: the
 * first P for which the program exists, so that the MPI is known before P is chosen. Errors: those of
 * context_find_program and context_find_other. */
int work_find_program(const struct work *w, int64_t P, struct hrun_error *err);

/* The texts that a job points to. Zeroed: none. */
struct work_words {
    struct hrun_strvec *argvs, paths;   /* n: words and path of each program */
    struct hrun_program *programs;      /* n */
    int *which;                         /* the program of each rank */
    int n;
    struct hrun_strvec env;             /* variables of -x with words in braces replaced */
};
void work_words_release(struct work_words *words);

/* Part of work_job, in programs.c: fill the words, with the build that the cluster file or the definition names for a
 * sub-cluster. */
int work_fill_words(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    struct work_words *out, struct hrun_error *err);

/* Fill a job for layout without starting it. The caller releases words, also on failure, and *stdin_text. */
int work_job(const struct work *w, const struct hrun_layout *layout, struct work_words *words, char **stdin_text,
             struct hrun_job *job, struct hrun_error *err);

/* Check whether the run may write its inputs. Result: 0, with the reason in *words if the run gets its own folder, else
 * ""; -1 with *err: the run would be refused. */
int work_check_inputs(const struct work *w, const struct hrun_layout *layout, struct hrun_buf *words,
                      struct hrun_error *err);

/* Find the line of standard error or standard output that most likely gives the reason why a run failed. */
void work_last_line(const char *errors, const char *output, char *out, size_t size);

/* Write inputs, prepare, launch, time. Result: 0 with *out; -1 with *err: not launched. */
int work_run(const struct work *w, const struct hrun_layout *layout, struct work_result *out, struct hrun_error *err);

/* Append the run, also a failed one, to the log of every sub-cluster that it used. origin: "run", WORK_EXPLORED or
 * "calibration". */
#define WORK_EXPLORED "explored"      /* BY_RUNS */
int work_record(const struct work *w, const struct hrun_config *config, const struct work_result *r,
                const char *origin, struct hrun_error *err);

#endif
