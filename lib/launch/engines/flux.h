/* flux.h - what the files of engine flux share (internal) */
#ifndef HRUN_LAUNCH_FLUX_H
#define HRUN_LAUNCH_FLUX_H

#include "launch/internal.h"

/* ---- flux_words.c: lines in the standard error of `flux job attach --show-events --show-exec` */

enum hrun_flux_kind {
    HRUN_FLUX_PROGRAM,          /* none of Flux's: the program has written it */
    HRUN_FLUX_NOTHING,          /* of no interest */
    HRUN_FLUX_QUEUED,           /* the job waits for its hosts */
    HRUN_FLUX_STARTED,          /* its processes are being started */
    HRUN_FLUX_ENDED,            /* rank has ended with status, a wait status; said by hrun-shim */
    HRUN_FLUX_LOST,             /* text: a host that went away */
    HRUN_FLUX_COMPLAINT         /* text: an error of Flux */
};

struct hrun_flux_said {
    enum hrun_flux_kind kind;
    int rank, status;
    const char *text;           /* in the line */
    size_t len;                 /* of text */
};

/* Understand one line, without its end. */
void hrun_flux_read(const char *line, struct hrun_flux_said *out);

/* The program's standard error and Flux's lines, taken apart. What cannot be a line of Flux is passed on at once. */
struct hrun_flux_sieve {
    struct hrun_buf held;       /* what may be a line of Flux, so far */
    int in_line;                /* the line before held has not ended */
};

/* Pass the program's data to put, and whole lines of Flux, without their ends, to hear. labels = 1: each line of the
 * program begins with "3: ". */
struct hrun_flux_ears {
    void (*put)(void *ctx, const char *data, size_t len);
    void (*hear)(void *ctx, const struct hrun_flux_said *said);
    void *ctx;
    int labels;
};
void hrun_flux_sieve(struct hrun_flux_sieve *s, const struct hrun_flux_ears *e, const char *data, size_t len);
/* The stream has ended. */
void hrun_flux_sieve_end(struct hrun_flux_sieve *s, const struct hrun_flux_ears *e);

/* ---- flux_watch.c: a running job */

struct hrun_flux_watch {
    char *flux;                 /* path */
    char *id;                   /* of the job; NULL: it has not been submitted */
    int fd;                     /* standard error of flux job attach; -1: at its end */
    struct hrun_flux_sieve sieve;
    int queued, started;
    int nended;                 /* ranks whose end is known */
    int suspect;                /* a rank that SIGTERM has killed, perhaps Flux's, as another has failed; -1: none */
    char complaint[256];        /* of Flux, the last one; "" */
};

extern const struct hrun_launcher hrun_flux_launcher;   /* r->state is a struct hrun_flux_watch */

/* For hrun_run's watch. */
int hrun_flux_listen(struct hrun_run *r);

/* ---- flux_job.c: the job as Flux is told it */

/* The hosts that ranks are on, as Flux numbers them in a job: by the ranks of their brokers. */
struct hrun_flux_place {
    struct hrun_strvec hosts;
    char *taskmap;              /* "[[0,1,3,1],[1,1,2,1]]" (Flux RFC 34) */
};

/* Errors: HRUN_EINVAL (a host is not of the instance), HRUN_ENOMEM; *p is empty then. */
int hrun_flux_place(const struct hrun_allocation *a, const struct hrun_layout *l, struct hrun_flux_place *p,
                    struct hrun_error *err);
void hrun_flux_place_release(struct hrun_flux_place *p);

/* Append the jobspec (Flux RFC 25): whole hosts, all ranks through shim, with this environment. Errors: HRUN_EINVAL (a
 * word of the command is not UTF-8), HRUN_ENOMEM. */
int hrun_flux_jobspec(const struct hrun_job *job, const struct hrun_flux_place *p, const char *shim,
                      const struct hrun_strvec *env, struct hrun_buf *out, struct hrun_error *err);

#endif
