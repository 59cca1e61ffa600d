/* store.h - measurements and profiles on disk
 *
 * Purpose: below $HRUN_DATA (default ${XDG_DATA_HOME:-~/.local/share}/hrun) keep, for each application and
 * sub-cluster signature, one pair of files (format: hrun-profile(5)):
 *     profiles/APP/SIGNATURE.log    append-only raw measurements, one checksummed JSON record per line
 *     profiles/APP/SIGNATURE.yaml   the models fitted from them, replaced as a whole
 *     profiles/APP/SIGNATURE.recent what a decision needs of the log, made from it when it has grown
 * Invariants:
 *   - a record is durable (fsync) when hrun_store_append returns 0; a reader never sees half of one as whole:
 *     a torn, corrupted or unknown record is counted, reported and skipped, never trusted, never fatal to
 *     the others, and never removed or rewritten;
 *   - appending repairs a torn end (a last line without newline) by starting a new line;
 *   - writers exclude each other by a lock file (between processes; threads of one process, and two stores
 *     that it opened on one folder, must take turns); models are replaced atomically;
 *   - models of a newer hrun are never replaced;
 *   - times that are not finite and positive never become a measurement, neither when written nor when read;
 *   - application and signature are names [a-z0-9][a-zA-Z0-9._-]*, so no path leaves the data folder; every
 *     record and every models file says whose it is, so that a renamed file is never taken for another's.
 */
#ifndef HRUN_STORE_STORE_H
#define HRUN_STORE_STORE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* One timed run. Strings are owned by the sample; NULL counts as "". Text that is not UTF-8 (a path may be
 * any bytes) is kept with U+FFFD for each odd byte.
 * Invariants: N in 1..2^53; P, M, pes >= 1; P = M pes when not mixed, P > M pes when mixed; `date` is a date;
 * ok = 1: status "ok", both times finite and > 0; ok = 0: status neither "ok" nor empty, time_s = 0, wall_s
 * finite and >= 0; `signatures`, if any, are as many as the names in `cluster`, and `limits`, if any, is one of
 * these names; compute_s, mpi_s and work are finite and >= 0; `shares`, if any, are as many as these names, above 0 and
 * at most 1 where `config` has processes and else 0, and those of all processes add up to about 1. */
struct hrun_sample {
    int64_t N;
    int P;                 /* processes in all */
    int M;                 /* processes per PE in this sub-cluster */
    int pes;               /* PEs used in this sub-cluster */
    double time_s;         /* what the model is about: the application's own time, else wall_s; 0 if failed */
    double wall_s;         /* from start to end of the launch; simulated with engine smpi */
    int ok;                /* 1: a good run; 0: failed, `status` says how; never used for a fit */
    int mixed;             /* 1: other sub-clusters took part; `config` is the whole configuration */
    char *status;          /* "ok", "exit 3", "signal 9", "timeout", "no time in output", HRUN_STATUS_TOO_SHORT */
    char *origin;          /* "calibration", "run", "explored" or "import" */
    char *config;          /* "(4,1,0,0)" over the sub-clusters of `cluster` */
    char *cluster;         /* names of the sub-clusters, comma-separated */
    char *consts;          /* "nb=128": constants of the app definition */
    char *program;         /* absolute path */
    char *host;            /* host that ran hrun */
    char *mpi;             /* "ompi-4.1.4" */
    char *engine;
    char *version;         /* hrun's */
    char *date;            /* ISO 8601 UTC, "2026-11-20T10:36:00Z" */
    /* What older hruns did not record; "" and 0 mean not known. */
    char *signatures;      /* of the sub-clusters of `cluster`, comma-separated: models that belong together; "" for
                              one */
    char *limits;          /* mixed: the sub-cluster of `cluster` for whose processes the others were seen to wait */
    double compute_s;      /* the most time that a process of this sub-cluster spent outside MPI */
    double mpi_s;          /* the least time that a process of this sub-cluster spent inside MPI */
    double work;           /* the share of each process of this sub-cluster, in the unit of the definition's family
                              (weak: rows) or relative to those of others (not in one record); 0: equal shares */
    char *shares;          /* of a definition with `shares` that dealt out unequal ones: the part of the whole of a
                              process of each sub-cluster of `cluster`, "0.0625,0,0.125"; "": equal */
    int copies;            /* 1: not one run of P processes but P runs of one process each, at the same time; time_s is
                              that of the slowest (family weak: a process on a loaded host) */
    char *settings;        /* options that change times, as they would be typed: "--mca pml ob1"; "" also of older
                              hruns */
    char *trace;           /* what its processes did in MPI, as waits_encode writes it (session) */
};

void hrun_sample_release(struct hrun_sample *s);

struct hrun_samples {
    struct hrun_sample *v;
    size_t n;
    size_t bad;            /* pieces skipped: damaged, unfinished, or of a newer hrun */
    char *first_bad;       /* "FILE:LINE: why" of the first one, or NULL */
};

void hrun_samples_release(struct hrun_samples *s);

/* Status of a mark in the log: measurements before it with the same constants no longer count, all of them
 * (hrun-calibrate --again), or those with its N, P and M where no other sub-cluster took part (--redo). A mark is
 * written like a failed run (ok = 0); nothing is ever removed from the log. */
#define HRUN_STATUS_ANEW "anew"
#define HRUN_STATUS_ANEW_POINT "anew here"
/* Status of a run that ended well and said that it took 0 s. */
#define HRUN_STATUS_TOO_SHORT "too short to tell"
/* Status of a run that a calibration ended, as others are far quicker: no candidate, but the program works. */
#define HRUN_STATUS_TOO_SLOW "too slow"

/* The part of the work that each process of the record's sub-cluster at this place had; 0 where `shares` is empty. */
double hrun_sample_share(const struct hrun_sample *s, int place);

/* Was it a run with unequal shares? */
int hrun_sample_dealt(const struct hrun_sample *s);

/* Are two texts of records the same? NULL is "". */
int hrun_text_same(const char *a, const char *b);

/* Did the program fail, and not the engine, a host or the clock? */
int hrun_sample_failed(const struct hrun_sample *s);
/* Did v[k] fail so, and no other of its N, configuration, constants and cluster work, with equal or unequal shares as
 * it? */
int hrun_samples_failed(const struct hrun_samples *s, size_t k);

/* Drop the measurements that no longer count, and the marks. Result: how many measurements were dropped. */
size_t hrun_samples_current(struct hrun_samples *s);

/* One fitted model of (sub-cluster, M), or of (sub-cluster, M, P) for family "nt". */
struct hrun_fit_record {
    char *family;          /* "single" (one PE holds all: P = M), "nt", "pt", "npt" */
    char *method;          /* "ls" or "nnls" */
    int M;
    int P;                 /* nt: its P; pt: the P of the N-T model that gives T; else 0 */
    int nterms;
    char **terms;          /* nterms expressions as in the app definition */
    double *k;             /* nterms coefficients, s per unit of the term; a dropped term has 0 */
    double *cov;           /* nterms x nterms, row-major: covariance of k over variance `s2`, symmetric: the lower
                              triangle is what is stored */
    double s2;             /* variance of the weighted residuals */
    int dof;               /* degrees of freedom of s2 */
    double sigma_abs_s, sigma_rel; /* row weights were 1/sqrt(sigma_abs^2 + (sigma_rel T)^2) */
    int npoints;           /* measurements used */
    int64_t nmin, nmax;    /* measured range of N */
    int pmin, pmax;        /* measured range of P */
    double train_mean, train_max; /* training error: mean and largest |fit - T| / T; meaningless with dof = 0 */
    char *note;            /* "" or what was dropped and why */
};

/* How a program deals its work out (hrun-model(7)). */
struct hrun_tasking {
    int dynamic;    /* 0: equal shares, at once; 1: many tasks, each to the process that is free first */
    int master;     /* 1: dynamic, and a process only hands tasks out */
    int ignores;    /* 1: not dynamic, and unequal shares make no difference to it */
};

struct hrun_models {
    char *app, *signature;
    char *subcluster;      /* name, CPU model etc. for people */
    char *consts;
    char *fitted;          /* date */
    char *newest;          /* date of the newest measurement used */
    int nsamples;          /* measurements used in all */
    struct hrun_tasking tasking;
    struct hrun_fit_record *v;
    int n;
};

void hrun_fit_record_release(struct hrun_fit_record *r);
void hrun_models_destroy(struct hrun_models *m);

/* Where there is no store (NULL), hrun_store_samples, _recent, _get_models and _signatures find nothing. */
struct hrun_store;

/* data: the data folder, NULL for $HRUN_DATA or the default. Nothing is created before the first write.
 * Errors: HRUN_ENOENT when there is no default (the user has no home folder); HRUN_EINVAL. */
struct hrun_store *hrun_store_open(const char *data, struct hrun_error *err);
void hrun_store_close(struct hrun_store *s);
const char *hrun_store_dir(const struct hrun_store *s);

/* Make a folder of another room's in the data folder, with the mode that all folders there have. Errors: HRUN_EIO. */
int hrun_store_make_folder(const struct hrun_store *s, const char *name, struct hrun_error *err);

/* Keep other processes from adding to a profile and from replacing its models, until hrun_store_end: models
 * fitted from the measurements read in between are of all that there are when hrun_store_put_models stores
 * them. One profile at a time; the calls below may be used in between. Creates the application's folder.
 * Errors: HRUN_EINVAL (a name, a profile is held already), HRUN_EIO (no lock to be had: says the path and what
 * to do); nothing is held then. */
int hrun_store_begin(struct hrun_store *s, const char *app, const char *signature, struct hrun_error *err);
void hrun_store_end(struct hrun_store *s);   /* nothing held: no effect; hrun_store_close does it too */

/* The file that a calibration locks (hrun_lock_try) while it measures this profile, SIGNATURE.calibrate.lock; recording
 * and fitting do not ask for it. Its folder is made, the caller frees it. Errors: HRUN_EINVAL (a name), HRUN_EIO. */
char *hrun_store_calibration_lock(const struct hrun_store *s, const char *app, const char *signature,
                                  struct hrun_error *err);

/* Append one record, durably. Errors: HRUN_EINVAL (a name, or the sample breaks an invariant), HRUN_EIO
 * (read-only, full disk, ...: says the path and what to do; the log holds all that it held before). Where the
 * size of files is limited (RLIMIT_FSIZE) the caller ignores SIGXFSZ to get the error, not the signal. */
int hrun_store_append(struct hrun_store *s, const char *app, const char *signature,
                      const struct hrun_sample *sample, struct hrun_error *err);

/* Read all good records. No log yet: 0 with n = 0. Errors: HRUN_EIO. */
int hrun_store_samples(struct hrun_store *s, const char *app, const char *signature,
                       struct hrun_samples *out, struct hrun_error *err);

/* What a decision needs of a log, however long it is: the good records that still count, in their order; of a
 * configuration at one N the first 8 and the last 24, and of users' runs ("run") the last 512 of these. Of each only
 * N, P, M, pes, time_s, ok, mixed, status, origin, config, cluster, consts, date, signatures and settings are known;
 * bad is 0. The part of the log that was read is remembered as such in SIGNATURE.recent beside it, so that each record
 * is read once; that file may be lost at any time. Errors: those of hrun_store_samples. */
int hrun_store_recent(struct hrun_store *s, const char *app, const char *signature, struct hrun_samples *out,
                      struct hrun_error *err);

/* Replace the models. Errors: HRUN_EIO, HRUN_EEXISTS (a newer hrun wrote those that are there; says what to
 * do), HRUN_EINVAL (names, numbers that are not finite, negative counts or variances, arrays missing, text
 * that is not UTF-8; says which value; or what is there is no file of models). The old models stand. */
int hrun_store_put_models(struct hrun_store *s, const struct hrun_models *m, struct hrun_error *err);

/* Read the models. *out = NULL and 0 when there are none. Errors: HRUN_ECORRUPT (checksum, newer version, the
 * file of another application or signature, values that cannot be), HRUN_EPARSE (checksum right, format not,
 * NaN included; with place): both say that `hrun-calibrate fit` makes the models anew from the log, except for
 * a newer version's, which it would not replace; HRUN_EINVAL (a name, a folder in place of the file), HRUN_EIO. */
int hrun_store_get_models(struct hrun_store *s, const char *app, const char *signature,
                          struct hrun_models **out, struct hrun_error *err);

/* Append names: applications, and signatures of one application, sorted. No data folder: no names. */
int hrun_store_apps(struct hrun_store *s, struct hrun_strvec *out, struct hrun_error *err);
int hrun_store_signatures(struct hrun_store *s, const char *app, struct hrun_strvec *out,
                          struct hrun_error *err);

/* Where it is remembered what was prepared in which folder: DATA/prepared, which may not exist. The caller frees it. */
char *hrun_store_prepared(const struct hrun_store *s);

/* Now as "2026-11-20T10:36:00Z" into out[21]; and seconds since such a date (negative if it lies ahead):
 * 0, or -1 when it is no date. */
void hrun_date_now(char out[21]);
int hrun_date_age(const char *date, double *seconds);

/* ---------------------------------------------------------------- exchange
 *
 * Measurements as text for other programs, and from them
 *
 * Purpose: write stored measurements as CSV, or as input of Extra-P, and read CSV back into logs. Formats, as users see
 * them: hrun-profile(5), "Exchange".
 *     csv     RFC 4180 with a header line; columns "app", "signature", and the keys of hrun-profile(5), in any order
 *     extrap  Extra-P, docs/file-formats.md, "Text file format": PARAMETER, POINTS, METRIC, REGION, DATA
 * Invariants:
 *   - what is written as CSV and read back is the same measurement to the last bit;
 *   - Extra-P models one time as a function of the parameters: a file for it has one region (an application, a
 *     signature, a set of constants), without failed runs and runs of several sub-clusters;
 *   - nothing is read that breaks an invariant of store.h; the first record that does is reported with file and line,
 *     and then nothing of the file is taken.
 */

enum hrun_exchange_format { HRUN_EXCHANGE_CSV, HRUN_EXCHANGE_EXTRAP };

/* The format that a word of --format names ("csv", "extrap"), or that the end of a file's name does (".csv", ".txt").
 * Errors: HRUN_EINVAL. */
int hrun_exchange_parse(const char *word, enum hrun_exchange_format *out, struct hrun_error *err);
int hrun_exchange_guess(const char *path, enum hrun_exchange_format *out, struct hrun_error *err);

/* Measurements v[n] of one profile and, for Extra-P, of one set of constants. Nothing is owned. */
struct hrun_exchange_set {
    const char *app, *signature;
    const struct hrun_sample *const *v;
    size_t n;
};

/* Append the sets as text. *left_out becomes the number of measurements that the format cannot hold.
 * Errors: HRUN_EINVAL (Extra-P: several sets, constants that are no line of text), HRUN_ENODATA (Extra-P: nothing is
 * left); out is to be thrown away then. */
int hrun_exchange_write(enum hrun_exchange_format format, const struct hrun_exchange_set *sets, size_t nsets,
                        struct hrun_buf *out, size_t *left_out, struct hrun_error *err);

/* A measurement that was read. */
struct hrun_exchanged {
    char *app, *signature;      /* NULL: the file does not say */
    struct hrun_sample sample;  /* origin is "import"; what the file does not say is as if it said nothing unusual:
                                   M = 1, pes = P/M, wall_s = time_s, a good run of now */
    unsigned given;             /* bit i: the file gives field i of a record */
    int line;
};

struct hrun_exchange {
    struct hrun_exchanged *v;
    size_t n, cap;
    char *app, *signature;      /* after hrun_exchange_claim: the first that the file says, or NULL */
};

#define HRUN_EXCHANGE_INIT { NULL, 0, 0, NULL, NULL }

/* Append the measurements of CSV in text[len], which was read from the file `name`. Errors: HRUN_EPARSE (with the
 * place: what the format or store.h forbids; out is unchanged). */
int hrun_exchange_read(const char *name, const char *text, size_t len, struct hrun_exchange *out,
                       struct hrun_error *err);
void hrun_exchange_release(struct hrun_exchange *x);

/* Say whose the measurements of a file are: app and signature replace what was read, NULL leaves it.
 * Errors: HRUN_EINVAL (some have no application or signature then, a name is none, or several that were read would
 * become one). */
int hrun_exchange_claim(struct hrun_exchange *x, const char *file, const char *app, const char *signature,
                        struct hrun_error *err);

/* Add the measurements of one profile, that of x->v[first] after hrun_exchange_claim, to its log, all in one write. A
 * measurement that equals one of the log in all fields of the file is not added; each one of the log counts once, so
 * that a file can be imported twice and equal runs are kept apart. *added and *known: how many were added, and how many
 * were not. Errors: as of hrun_store_append; the log is then unchanged. */
int hrun_exchange_store(struct hrun_store *s, const struct hrun_exchange *x, size_t first, size_t *added,
                        size_t *known, struct hrun_error *err);

#endif
