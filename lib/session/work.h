/* work.h - one run of an application: its words, its input files, its launch, its time
 *
 * Purpose: hrun and hrun-calibrate run applications in exactly the same way, so that what was measured is what
 * will be run.
 */
#ifndef HRUN_WORK_H
#define HRUN_WORK_H

#include "session/context.h"
#include "session/scratch.h"
#include "session/coll_tuning.h"
#include "session/mpi_waits.h"

struct work {
    struct context *c;
    int64_t N;                 /* 0: not known */
    char *const *words;        /* program and arguments as the user wrote them, NULL-terminated */
    const struct scratch *scratch; /* the run has a folder of its own there; NULL: it runs in the working folder. The
                                  caller's */
    int quiet_run;             /* 1: output of the application is swallowed (calibration) */
    int tag_output, report_bindings;
    struct tune *tune;         /* NULL: its collective operations are not tuned; else filled by work_run; the
                                  caller's */
    struct waits *waits;       /* NULL: the run is not watched; else filled by work_run and used by work_record; the
                                  caller's */
    const double *share;       /* of the work, of each process of a sub-cluster; NULL: all equal. The caller's */
    int copies;                /* 1: work_record is told of as many runs of one process each (family weak) */
    double limit_s;            /* end the run after it where the user gave no --timeout; 0: never */
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
    int too_short;             /* it ended well, and the program says that it took 0 s: not ok */
    char status[96];           /* for the log: "ok", "exit 3", "signal 9", "timeout", "lost host h3", "no time in
                                  output", HRUN_STATUS_TOO_SHORT */
    char detail[512];          /* for people: the last words on standard error, or why no time was found; "" */
};

/* Does the size reach the program? 1 when {N} stands in the words, in the definition's arguments (if the user gave
 * none), files or standard input, or when N itself is one of the user's words; else the run says nothing about N. */
int work_size_is_told(const struct work *w);

/* Find the program for P processes and its MPI (into the context). Its name may hold {N} and {P}; P = 0 takes the first
 * P for which it exists: enough to know its MPI before P is chosen. Errors: those of context_find_program. */
int work_find_program(const struct work *w, int64_t P, struct hrun_error *err);

/* Fill a job for layout without starting it. words and stdin_text stay the caller's to release afterwards. */
int work_job(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *words, char **stdin_text,
             struct hrun_job *job, struct hrun_error *err);

/* Would the run's inputs be written? 0, with *words why the run would have a folder of its own ("": it would have
 * none); -1: the run would be refused. */
int work_check_inputs(const struct work *w, const struct hrun_layout *layout, struct hrun_buf *words,
                      struct hrun_error *err);

/* Write inputs, launch, time. 0: it was launched, *out tells how it went; -1: it was not. */
int work_run(const struct work *w, const struct hrun_layout *layout, struct work_result *out, struct hrun_error *err);

/* Append the run to the log of every sub-cluster that took part (as a homogeneous measurement when it is one
 * sub-cluster). origin: "run" or "calibration". Failed runs are recorded as failed. */
int work_record(const struct work *w, const int *pes, const int *procs, const struct work_result *r,
                const char *origin, struct hrun_error *err);

#endif
