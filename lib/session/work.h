/* work.h - one run of an application: its words, its input files, its launch, its time
 *
 * Purpose: hrun and hrun-calibrate run applications in exactly the same way, so that what was measured is what
 * will be run.
 */
#ifndef HRUN_SESSION_WORK_H
#define HRUN_SESSION_WORK_H

#include "app/template.h"
#include "layout/layout.h"
#include "cluster/ledger.h"
#include "session/context.h"

#include <jansson.h>

struct waits;    /* mpi_waits.h */

/* ---------------------------------------------------------------- scratch
 *
 * Folders of their own for runs
 *
 * Purpose: what a run writes that only measures is removed with its folder, and the user's folder stays as it was. A
 * run of the user's has a folder where hrun would write an input over a file of the user's: what else the run writes
 * there is moved to the user's folder.
 * Invariants: the folder of a run that measures stands beside the working folder (so that "../x" leads to the same
 * file), or, where none can be made there, in it; both are on one file system. One whose process is gone is removed
 * when the next one is made, where others cannot rename it, and by the launch's guard when hrun is killed while the job
 * runs. The folder of a user's run stands in the working folder, so hosts, groups and file systems are the same. Only
 * scratch_return empties it: whatever happens, what the run wrote is there or in the working folder.
 */

struct scratch {
    char *home;                /* absolute path of the working folder; NULL: runs are made in it */
    char *base;                /* folder that holds the scratch folders */
    char *kept;                /* where the folder of the last failed run is kept; NULL: none is kept */
    int copy;                  /* 1: every file is copied; 0: see scratch_create */
    char *users;               /* of a user's run: the template of its name; nothing is copied. NULL: measures */
};

/* Decide where runs of c->app have their folders, once for many runs; needs cluster and engine. keep = 1: that of the
 * last failed run stays as hrun-failed-APP in the working folder. home stays NULL, and *why (the caller frees it; else
 * NULL) says the reason, where no folder can be made that all hosts see. Errors: HRUN_EIO. */
int scratch_find(struct scratch *s, const struct context *c, int keep, char **why, struct hrun_error *err);
/* The same for one run of the user's beside inputs of the user's. */
int scratch_for_user(struct scratch *s, const struct context *c, struct hrun_error *err);
void scratch_release(struct scratch *s);

/* Make an empty folder. Result: its absolute path, which the caller frees, or NULL. Errors: HRUN_EIO. */
char *scratch_create(const struct scratch *s, struct hrun_error *err);
/* Put into it what the working folder has, but for names that it has already. Symbolic links stand for files that are
 * large (above a MiB, or beyond 32 MiB in all) and cannot be cloned by the file system, for hidden folders, and for
 * folders beyond the first thousand names; the rest is copied. With copy only what is no file or folder is linked.
 * Errors: HRUN_EIO. */
int scratch_fill(const struct scratch *s, const char *folder, struct hrun_error *err);
/* Move what a user's run has made to the working folder: all but the links and the inputs, names in the folder. Then
 * the folder is removed. Errors: HRUN_EIO; the rest is still in the folder, which stays. */
int scratch_return(const struct scratch *s, const char *folder, const struct hrun_strvec *inputs,
                   struct hrun_error *err);
/* Keep the folder of a failed run, with the end of its output, in place of the one kept before. Result: 1; 0 when it
 * cannot be kept, or none is to be. */
int scratch_keep(const struct scratch *s, const char *folder, const struct hrun_buf *output,
                 const struct hrun_buf *errors);

/* ---------------------------------------------------------------- coll_tuning
 *
 * Hrun --tune-collectives: libhrun-coll.so for a run, as far as it can be
 *
 * Purpose: the one place that knows when collective operations can be tuned, and what is said where they cannot. The
 * library chooses in silence: coll_report.c makes the same choice (hrun/preloaded/coll_choice.h) for all sizes before a run,
 * by the text that the library reads, and puts into words what the library reports after it (net/tune.h).
 * Invariants: a run that cannot be tuned is made all the same, untuned; `why` then says why.
 */

struct tune {
    int tell;                      /* 1: the processes are to report what was tuned; for the caller to set */
    char why[HRUN_ERROR_TEXT];     /* why nothing is tuned, and what to do; "" */
    struct hrun_buf lines;         /* what they have reported (net/tune.h) */
    /* While the run is made. */
    char *library;
    struct hrun_buf text;
};

void tune_init(struct tune *t);
void tune_release(struct tune *t);

/* Fill one of the job's preloads for a layout, if it can be tuned; else t->why. */
void tune_prepare(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job);

/* After the run: move what was reported of tuning from the job's trace_text to t->lines. */
void tune_collect_report(struct tune *t, struct hrun_buf *trace_text);

/* ---------------------------------------------------------------- in words (coll_report.c) */

/* Append which operations and sizes would be tuned, and how, of a communicator of all processes with root 0: some lines
 * for a dry run. */
void tuned_plan(const struct tune *t, struct hrun_buf *out);

/* The same: {"why_not": why nothing can be tuned, or null; "operations": [{"operation", "from_bytes", "to_bytes" (null
 * where counts differ), "way", "segment_bytes" (or null), "speedup_least", "speedup_most"}]}. */
json_t *tuned_plan_json(const struct tune *t);

/* Append what was tuned in a run, by what the library reported. Lines that are damaged are passed over. */
void tuned_report(const struct tune *t, struct hrun_buf *out);

/* ---------------------------------------------------------------- ledger
 *
 * Which PEs of the cluster others use, and that this run uses some (cluster/ledger.h)
 *
 * Purpose: the one place that knows where the ledger is, which PEs a lock means, and what is said of them; both
 * commands go by it.
 * Invariants: where there is no ledger nothing is in use and nothing is locked; locks that cannot be had are said once,
 * and the run goes on without. Only a ledger that the user has named and that is none is an error.
 */

struct ledger {
    struct hrun_ledger *l;        /* NULL: there is none */
    struct hrun_ledger_list seen; /* at the last look */
    const struct hrun_cluster *cluster;
    struct hrun_strvec names;     /* of each host: what it calls itself */
    char **mask;                  /* [sub][pe]: 1: in use by others, or kept for an earlier one that waits */
    int **who;                    /* [sub][pe]: the holder that has it, -1: none */
    int nbusy;                    /* PEs in the mask */
    unsigned long version;        /* changes with who has what */
    int waits;                    /* 1: nothing can be chosen of what is free: the run waits, or would */
    int64_t queued_s;             /* since when this run waits, 0: it does not */
};

/* Where the ledger is: $HRUN_LEDGER, the cluster file, /etc/hrun/ledger, /run/lock. *dir: fresh memory, NULL
 * where there is none, and then *why too. named: 1 where the user has named it. from_file: what the cluster file says,
 * or NULL. */
void ledger_find(const char *from_file, char **dir, int *named, char **why);

/* Open the ledger of the context's cluster, if there is one for it: none inside an allocation, of simulated or
 * described hosts, and of a run inside another. Errors: those of hrun_ledger_open where the user has named it. */
int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err);
/* Ends the locks. NULL members and a zeroed object are fine. */
void ledger_release(struct ledger *g);

/* Read it, into the mask. */
void ledger_look(struct ledger *g, const struct context *c);
/* The busy PEs for lib/layout; NULL: none. */
const char *const *ledger_busy(const struct ledger *g);
/* Seconds until all that run have ended, as predicted; NAN: not known of one of them. */
double ledger_free_in(const struct ledger *g);

struct ledger_run {
    const struct hrun_layout *layout; /* NULL: all PEs that are not busy */
    int whole_hosts;              /* 1: nobody else is to be on its hosts (measuring) */
    int64_t N;
    double time_s;                /* predicted, 0: not known */
};
/* Lock the PEs of a run: 1; 0: others have some of them, or were quicker. */
int ledger_lock(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Stand in the queue for them, and sleep for a moment. Result: the signal that has ended it, else 0. */
int ledger_wait(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Sleep. Result: the number of SIGINT, SIGTERM, SIGHUP or SIGQUIT when one of them has ended it, else 0. */
int ledger_sleep(double seconds);

/* Append who has busy PEs, in one line: "6 of 8 PEs of fast in use by alice since 13:10 until about 14:20; ...". */
void ledger_tell(const struct ledger *g, struct hrun_buf *out);
json_t *ledger_json(const struct ledger *g);
/* Append lead and a time of day, with the date where it is not today; nothing for 0. */
void ledger_add_time(struct hrun_buf *out, const char *lead, int64_t when_s);

/* One of several programs that a job starts together. */
struct work_program {
    char *const *words;
    int procs;
    struct hrun_strvec env;    /* words for env(1): its own variables and working folder; empty: none */
    const char *wdir;          /* that folder, NULL: the one of all */
    struct hrun_strvec hosts;  /* of its ranks, one after the other, round and round; empty: any */
};

struct work {
    struct context *c;
    int64_t N;                 /* 0: not known */
    char *const *words;        /* program and arguments as the user wrote them, NULL-terminated */
    const struct work_program *programs;   /* nprograms, the first of which has words; ranks are numbered one program
                                  after the other. The caller's */
    int nprograms;             /* 0: all ranks start words */
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

/* ---------------------------------------------------------------- work_passed
 *
 * What of the size and of the shares of processes reaches the program
 *
 * Purpose: both commands refuse alike a run whose program is not told what it must be, and give its ranks the same
 * shares. How the words are filled in is of programs.c and lib/app.
 */

/* Does the size reach the program? 1 when {N} stands in the words, in the definition's arguments (if the user gave
 * none), files or standard input, or when N itself is one of the user's words; else the run says nothing about N. */
int work_size_is_passed(const struct work *w);

/* Is there each form in which the user's words, and variables of -x, ask for shares, and does somebody know how many
 * units these are? Errors: HRUN_EINVAL. */
int work_check_words(const struct work *w, struct hrun_error *err);
/* Do the shares of a definition whose work is dealt out reach the program, by what the size may stand in or by a
 * variable of -x? Errors: HRUN_EINVAL: they do not. */
int work_check_shares(const struct work *w, struct hrun_error *err);
/* Has the work shares, by the definition or by the user's words? Errors: HRUN_EINVAL: it has none. */
int work_check_dealt(const struct work *w, struct hrun_error *err);

/* The shares of the work by rank, in units of the definition, into *out[nranks], the caller's; NULL: they are equal,
 * and their unit does not matter. Errors: those of the definition's expressions. */
int work_shares(const struct work *w, const struct hrun_layout *layout, double **out, struct hrun_error *err);

/* The same, and what stands for words in braces, which points to them. Errors: as above. */
int work_values(const struct work *w, const struct hrun_layout *layout, double **share, struct hrun_app_values *values,
                struct hrun_error *err);

/* The rows of each of P processes of family weak where no model has shared them out; of other families, and without a
 * size, 0. Errors: those of the definition's expressions. */
int work_equal_rows(const struct work *w, int P, double *rows, struct hrun_error *err);

/* ---------------------------------------------------------------- preparation
 *
 * The commands that a definition runs before the application (key `prepare`): a decomposition
 *
 * Invariants: what was prepared last in a working folder, by whatever definition, is remembered (a file in
 * DATA/prepared), and the same is not prepared again there; a step that fails or is killed leaves no such memory, and a
 * run that fails later ends it. A run holds a lock beside that file until it ends, shared with runs that use the same;
 * preparing needs it alone. Files that the words of steps name count as the steps have left them. Their output goes
 * nowhere; the end of what a failed one has printed goes to on_message.
 */

struct preparation {
    int lock;                  /* for hrun_unlock after the run; -1: none */
    int known;                 /* 1: nothing was to be done, as the last run here has prepared the same */
    double took_s;             /* of all steps; 0: nothing was to be done */
    struct hrun_outcome outcome; /* of the last step, as that of the run, where a signal to hrun or the time limit ended
                                  it */
    char why[320];             /* that the time limit did; "" */
};

/* Lock what is prepared in the working folder for a run of w, before anything is written there: *lock, which is -1, is
 * the lock; it stays -1 where there is nothing to prepare, or the file system has no locks. Errors: HRUN_EBUSY: another
 * run uses it. */
int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err);

/* Prepare a run of w in dir (own: a fresh folder), whose other conditions are those of `like`; of time limits that of
 * --timeout alone counts, for all steps together. Result: 1: the run may start; 0: a signal or the time limit has ended
 * it; -1 with *err (HRUN_EENGINE: a step failed; with quiet_run, with its last words; HRUN_EBUSY as above). */
int preparation_run(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    const struct hrun_job *like, const char *dir, int own, struct preparation *out,
                    struct hrun_error *err);

/* Prepare the next run in the working folder in any case. */
void preparation_forget(const struct work *w);

/* What was prepared last in the working folder, if that would not have to be prepared again for a run of size N: 1 and
 * the configuration, the units of a process of each sub-cluster in share[nsubs] (all 0: equal), and what it took;
 * 0: there is nothing such. */
int preparation_last(struct context *c, int64_t N, struct hrun_config *config, double *share, double *took_s);

/* Append the commands that would prepare a run of w, as a user would type them; none where what is prepared is the
 * same, and then *took_s is what that took and *age_s how long ago that was, else 0. Errors: those of templates. */
int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err);

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
