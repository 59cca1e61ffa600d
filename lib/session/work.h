/* work.h - one run of an application: its words, its input files, its launch, its time
 *
 * Purpose: hrun and hrun-calibrate run applications in exactly the same way, so that what was measured is what
 * will be run.
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
    const char *wdir;          /* its own working directory; NULL: that of the job */
    struct hrun_strvec hosts;  /* of its ranks in order, repeated as often as needed; empty: any */
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
    const struct scratch *scratch; /* the run has a folder of its own there; NULL: it runs in the working folder. The
                                  caller's */
    int quiet_run;             /* 1: output of the application is swallowed (calibration) */
    int tag_output, report_bindings, oversubscribe;
    struct tune *tune;         /* NULL: its collective operations are not tuned; else filled by work_run; the
                                  caller's */
    struct waits *waits;       /* NULL: the run is not watched; else filled by work_run and used by work_record; the
                                  caller's */
    const double *share;       /* of the work, of each process of a sub-cluster; NULL: all equal. The caller's */
    int copies;                /* 1: work_record is told of as many runs of one process each (family weak) */
    double limit_s;            /* end the run after it where the user gave no --timeout; 0: never */
    double slow_s;             /* end it after this in any case; 0: never */
    /* Called once nothing stands in the way of the start any more, just before it; NULL: nothing is called. Where it
     * does not return 0 nothing is started, and *err is its error. */
    int (*before_launch)(void *ctx, const struct hrun_job *job, struct hrun_error *err);
    void (*on_message)(void *ctx, const char *text);
    void *ctx;
};

struct work_result {
    struct hrun_outcome outcome;
    int ok;                    /* the run ended well and its time is known */
    double time_s;             /* application's own time, else the clock of the job's hosts (outcome.job_s);
                                  0 unless ok */
    int unprepared;            /* 1: a signal or the time limit has ended what prepares it: the rest is of that */
    int too_short;             /* it ended well, and the program says that it took 0 s: not ok */
    int no_time;               /* it ended well, and its output does not say its time: not ok */
    char status[96];           /* for the log: "ok", "exit 3", "signal 9", "timeout", "lost host h3",
                                  "no time in output", HRUN_STATUS_TOO_SHORT */
    char detail[512];          /* for people: the last words on standard error, or why no time was found; "" */
};

/* Find the program for P processes, of several each, and its MPI (into the context). Its name may hold {N} and {P};
 * P = 0 takes the first P for which it exists: enough to know its MPI before P is chosen. Errors: those of
 * context_find_program and context_find_other. */
int work_find_program(const struct work *w, int64_t P, struct hrun_error *err);

/* What a job points to. Zeroed: nothing. */
struct work_words {
    struct hrun_strvec *argvs, paths;   /* of each program */
    struct hrun_program *programs;
    int *which;                         /* of each rank */
    int n;
    struct hrun_strvec env;             /* -x with words in braces replaced */
};
void work_words_release(struct work_words *words);

/* In programs.c, for work_job: the words of the job, with a build of its own for a sub-cluster where the cluster file
 * or the definition names one. */
int work_fill_words(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    struct work_words *out, struct hrun_error *err);

/* Fill a job for layout without starting it. words and stdin_text stay the caller's to release afterwards, words also
 * where it fails. */
int work_job(const struct work *w, const struct hrun_layout *layout, struct work_words *words, char **stdin_text,
             struct hrun_job *job, struct hrun_error *err);

/* Would the run's inputs be written? 0, with *words why the run would have a folder of its own ("": it would have
 * none); -1: the run would be refused. */
int work_check_inputs(const struct work *w, const struct hrun_layout *layout, struct hrun_buf *words,
                      struct hrun_error *err);

/* Why a run failed, in a line, from what it wrote to standard error and to standard output. */
void work_last_line(const char *errors, const char *output, char *out, size_t size);

/* Write inputs, prepare, launch, time. 0: it was launched, *out tells how it went; -1: it was not. */
int work_run(const struct work *w, const struct hrun_layout *layout, struct work_result *out, struct hrun_error *err);

/* Append the run to the log of every sub-cluster that took part (as a homogeneous measurement when it is one
 * sub-cluster). origin: "run", WORK_EXPLORED or "calibration". Failed runs are recorded as failed. */
#define WORK_EXPLORED "explored"      /* the runs of the command chose the configuration (BY_RUNS) */
int work_record(const struct work *w, const struct hrun_config *config, const struct work_result *r,
                const char *origin, struct hrun_error *err);

#endif
