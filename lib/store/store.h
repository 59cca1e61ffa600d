/* store.h - measurements and profiles on disk
 *
 * Purpose: below $HRUN_DATA (default ${XDG_DATA_HOME:-~/.local/share}/hrun) keep, for each application and
 * sub-cluster signature, these files (format: hrun-profile(5)):
 *     profiles/APP/SIGNATURE.log    append-only raw measurements, one checksummed JSON record per line
 *     profiles/APP/SIGNATURE.yaml   the models fitted from them, replaced as a whole
 *     profiles/APP/SIGNATURE.recent the part of the log that a decision needs; updated when the log has grown
 * Invariants:
 *   - a record is durable (fsync) when hrun_store_append returns 0;
 *   - a reader counts, reports and skips a torn, corrupted or unknown record, and reads the others; such a record is
 *     never removed or rewritten;
 *   - appending repairs a torn end (a last line without newline) by starting a new line;
 *   - a lock file keeps processes from writing at the same time; threads of one process, and two stores of one process
 *     on one folder, must take turns; models are replaced atomically;
 *   - models of a newer hrun are never replaced;
 *   - every good measurement has finite and positive times, when written and when read;
 *   - application and signature are names [a-z0-9][a-zA-Z0-9._-]*, so no path leaves the data folder; every record and
 *     every models file contains both names, so that a renamed file is detected.
 */
#ifndef HRUN_STORE_STORE_H
#define HRUN_STORE_STORE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* What launched a run. */
struct hrun_launcher {
    char *host;            /* host that ran hrun */
    char *mpi;             /* "ompi-4.1.4" */
    char *engine;
    char *version;         /* of hrun */
};

/* One timed run. The sample owns its strings; NULL counts as "". A byte that is not UTF-8 is stored as U+FFFD.
 * Invariants: N in 1..2^53; P, M, pes >= 1; P = M pes when not mixed, P > M pes when mixed; `date` is a date;
 * ok = 1: status "ok", both times finite and > 0; ok = 0: status neither "ok" nor empty, time_s = 0, wall_s
 * finite and >= 0; compute_s, mpi_s and work are finite and >= 0; `limits`, if any, is a name in `cluster`;
 * `signatures` and `shares`, if any, have one entry for each name in `cluster`. A share is in (0, 1] where `config` has
 * processes, else 0; the shares of all processes add up to about 1. */
struct hrun_sample {
    int64_t N;
    int P;                 /* processes in all */
    int M;                 /* processes per PE in this sub-cluster */
    int pes;               /* PEs used in this sub-cluster */
    double time_s;         /* the modelled time: the application's own, else wall_s; 0 if failed */
    double wall_s;         /* from start to end of the launch; simulated with engine smpi */
    int ok;                /* 1: a good run; 0: failed (see `status`), not used for fits */
    int mixed;             /* 1: other sub-clusters took part; `config` is the whole configuration */
    char *status;          /* "ok", "exit 3", "signal 9", "timeout", "no time in output", HRUN_STATUS_TOO_SHORT */
    char *origin;          /* "calibration", "run", "explored" or "import" */
    char *config;          /* "(4,1,0,0)" over the sub-clusters of `cluster` */
    char *cluster;         /* names of the sub-clusters, comma-separated */
    char *consts;          /* "nb=128": constants of the app definition */
    char *program;         /* absolute path */
    struct hrun_launcher launcher;
    char *date;            /* ISO 8601 UTC, "2026-11-20T10:36:00Z" */
    /* Older versions of hrun did not record the following; "" and 0 mean not known. */
    char *signatures;      /* of the sub-clusters of `cluster`, comma-separated; "" if there is one sub-cluster */
    char *limits;          /* mixed: the sub-cluster whose processes the others waited for */
    double compute_s;      /* the most time that a process of this sub-cluster spent outside MPI */
    double mpi_s;          /* the least time that a process of this sub-cluster spent inside MPI */
    double work;           /* the share of each process of this sub-cluster, in the unit of the definition's family
                              (weak: rows) or relative to the shares in other records; 0: equal shares */
    char *shares;          /* part of the whole work that one process of each sub-cluster of `cluster` had:
                              "0.0625,0,0.125"; "": equal */
    int copies;            /* 1: P runs of one process each, at the same time; time_s is of the slowest run (family
                              weak: a process on a loaded host); 0: one run of P processes */
    char *settings;        /* options that change times, as typed: "--mca pml ob1" */
    char *trace;           /* the MPI waits of this sub-cluster, as written by waits_encode (lib/session) */
};

void hrun_sample_release(struct hrun_sample *s);

struct hrun_samples {
    struct hrun_sample *v;
    size_t n;
    size_t bad;            /* pieces skipped: damaged, unfinished, or of a newer hrun */
    char *first_bad;       /* "FILE:LINE: why" of the first one, or NULL */
    int64_t read;          /* bytes of the log that were read */
};

void hrun_samples_release(struct hrun_samples *s);

/* Statuses of marks in the log. ANEW (hrun-calibrate --again) makes all earlier measurements with the mark's constants
 * obsolete; ANEW_POINT (--redo) only those that are not mixed and have the mark's N, P and M. A mark is written like a
 * failed run (ok = 0); nothing is removed from the log. */
#define HRUN_STATUS_ANEW "anew"
#define HRUN_STATUS_ANEW_POINT "anew here"
/* Status of a run that ended well and printed a time of 0 s. */
#define HRUN_STATUS_TOO_SHORT "too short to tell"
/* Status of a run that a calibration ended because others are much quicker. The program works. */
#define HRUN_STATUS_TOO_SLOW "too slow"

/* The part of the work that each process of the sub-cluster at this index of `cluster` had; 0 if `shares` is empty. */
double hrun_sample_share(const struct hrun_sample *s, int place);

/* 1 if the run had unequal shares, else 0. */
int hrun_sample_dealt(const struct hrun_sample *s);

/* 1 if two texts are equal, else 0. NULL counts as "". */
int hrun_text_same(const char *a, const char *b);

/* 1 if the program failed; 0 if it worked, or if the engine, a host or the clock failed. */
int hrun_sample_failed(const struct hrun_sample *s);
/* 1 if the program failed in v[k] and no run with the same N, configuration, constants and cluster worked, else 0. Runs
 * with equal shares and runs with unequal ones are not compared. */
int hrun_samples_failed(const struct hrun_samples *s, size_t k);

/* Drop obsolete measurements and the marks. Result: the number of measurements dropped. */
size_t hrun_samples_current(struct hrun_samples *s);

/* One fitted model of (sub-cluster, M), or of (sub-cluster, M, P) for family "nt". */
struct hrun_fit_record {
    char *family;          /* "single" (one PE runs all processes: P = M), "nt", "pt", "npt" */
    char *method;          /* "ls" or "nnls" */
    int M;
    int P;                 /* nt: its P; pt: the P of the N-T model that gives T; else 0 */
    int nterms;
    char **terms;          /* nterms expressions as in the app definition */
    double *k;             /* nterms coefficients, s per unit of the term; a dropped term has 0 */
    double *cov;           /* nterms x nterms, row-major, symmetric: covariance of k over variance `s2`; the file has
                              the lower triangle */
    double s2;             /* variance of the weighted residuals */
    int dof;               /* degrees of freedom of s2 */
    double sigma_abs_s, sigma_rel; /* row weights were 1/sqrt(sigma_abs^2 + (sigma_rel T)^2) */
    int npoints;           /* measurements used */
    int64_t nmin, nmax;    /* measured range of N */
    int pmin, pmax;        /* measured range of P */
    double train_mean, train_max; /* training error: mean and largest |fit - T| / T; meaningless with dof = 0 */
    char *note;            /* "" or what was dropped and why */
};

/* How a program divides its work (hrun-model(7)). */
struct hrun_tasking {
    int dynamic;    /* 0: equal shares from the start; 1: many tasks, each goes to the process that is free first */
    int master;     /* 1: dynamic, and one process only hands out tasks */
    int ignores;    /* 1: not dynamic, and unequal shares do not change its times */
};

struct hrun_models {
    char *app, *signature;
    char *subcluster;      /* name, CPU model etc., for users */
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

/* hrun_store_samples, _recent, _get_models and _signatures accept a NULL store, and find nothing there. */
struct hrun_store;

/* data: the data folder, NULL for $HRUN_DATA or the default. Nothing is created before the first write.
 * Errors: HRUN_ENOENT if there is no default (the user has no home folder); HRUN_EINVAL. */
struct hrun_store *hrun_store_open(const char *data, struct hrun_error *err);
void hrun_store_close(struct hrun_store *s);
const char *hrun_store_dir(const struct hrun_store *s);

/* Make a folder `name` in the data folder, with the mode of all folders there. Errors: HRUN_EIO. */
int hrun_store_make_folder(const struct hrun_store *s, const char *name, struct hrun_error *err);

/* Lock one profile until hrun_store_end: other processes cannot append to its log or replace its models, so models that
 * are fitted in between use all measurements. A store holds one lock at a time; the calls below work under this lock.
 * Creates the application's folder.
 * Errors: HRUN_EINVAL (a name, a profile is locked already), HRUN_EIO (locking failed; the message has the path and the
 * remedy); nothing is locked then. */
int hrun_store_begin(struct hrun_store *s, const char *app, const char *signature, struct hrun_error *err);
void hrun_store_end(struct hrun_store *s);   /* no effect if nothing is locked; hrun_store_close calls it */

/* The path of SIGNATURE.calibrate.lock. A calibration locks it (hrun_lock_try) while it measures this profile.
 * Recording and fitting ignore this lock. Creates the folder; the caller frees the path. Errors: HRUN_EINVAL (a name),
 * HRUN_EIO. */
char *hrun_store_calibration_lock(const struct hrun_store *s, const char *app, const char *signature,
                                  struct hrun_error *err);

/* Append one record, durably. Errors: HRUN_EINVAL (a name, or the sample breaks an invariant), HRUN_EIO (read-only,
 * full disk, ...; the message has the path and the remedy; earlier records stay intact). If RLIMIT_FSIZE limits the
 * size of files, the caller must ignore SIGXFSZ to get the error. */
int hrun_store_append(struct hrun_store *s, const char *app, const char *signature,
                      const struct hrun_sample *sample, struct hrun_error *err);

/* Read all good records. Without a log the result is 0 and n = 0. Errors: HRUN_EIO. */
int hrun_store_samples(struct hrun_store *s, const char *app, const char *signature,
                       struct hrun_samples *out, struct hrun_error *err);

/* 1 if the log has changed since hrun_store_samples read *old, else 0. */
int hrun_store_has_more(struct hrun_store *s, const char *app, const char *signature, const struct hrun_samples *old);

/* Read the records that a decision needs, in the order of the log: the first 8 and the last 24 good records of each
 * kind that are not obsolete. A kind has the same N, M, status, origin, config, cluster, consts, signatures and shares.
 * Of these, at most the last 512 with origin "run" are read. Only N, P, M, pes, time_s, ok, mixed, status, origin,
 * config, cluster, consts, date, signatures, shares and settings are set; bad is 0. SIGNATURE.recent caches the result,
 * so that each record of the log is parsed once; deleting this file is harmless. Errors: those of
 * hrun_store_samples. */
int hrun_store_recent(struct hrun_store *s, const char *app, const char *signature, struct hrun_samples *out,
                      struct hrun_error *err);

/* Replace the models. Errors: HRUN_EIO, HRUN_EEXISTS (a newer hrun wrote the old models; the message has the remedy),
 * HRUN_EINVAL (a name, a number that is not finite, a negative count or variance, a missing array, or text that is not
 * UTF-8, each named; or the present file is not a models file). After an error the old models remain. */
int hrun_store_put_models(struct hrun_store *s, const struct hrun_models *m, struct hrun_error *err);

/* Read the models. *out = NULL and 0 if there are none. Errors: HRUN_ECORRUPT (checksum, newer version, the file of
 * another application or signature, invalid values), HRUN_EPARSE (the checksum is right and the format is wrong; with
 * line and column), HRUN_EINVAL (a name, or a folder in place of the file), HRUN_EIO. The messages of the first two
 * recommend `hrun-calibrate fit`, unless a newer hrun wrote the file. */
int hrun_store_get_models(struct hrun_store *s, const char *app, const char *signature,
                          struct hrun_models **out, struct hrun_error *err);

/* Append the names of all applications, or of the signatures of one application, sorted. Without a data folder append
 * nothing. */
int hrun_store_apps(struct hrun_store *s, struct hrun_strvec *out, struct hrun_error *err);
int hrun_store_signatures(struct hrun_store *s, const char *app, struct hrun_strvec *out,
                          struct hrun_error *err);

/* hrun_date_now: write the present time to out[21] as "2026-11-20T10:36:00Z". hrun_date_age: set *seconds to the time
 * since such a date, negative in the future. Result: 0, or -1 if `date` is not a date. */
void hrun_date_now(char out[21]);
int hrun_date_age(const char *date, double *seconds);

/* ---------------------------------------------------------------- exchange
 *
 * Purpose: write stored measurements as CSV, or as input of Extra-P, and read CSV back into logs. Formats, as users see
 * them: hrun-profile(5), "Exchange".
 *     csv     RFC 4180 with a header line; columns "app", "signature", and the keys of hrun-profile(5), in any order
 *     extrap  Extra-P, docs/file-formats.md, "Text file format": PARAMETER, POINTS, METRIC, REGION, DATA
 * Invariants:
 *   - a measurement that is written as CSV and read back is the same to the last bit, except that origin is "import";
 *   - Extra-P models one time as a function of the parameters: a file for Extra-P has one region (an application, a
 *     signature, a set of constants), without failed runs and runs of several sub-clusters;
 *   - the first record that breaks an invariant of store.h is reported with file and line, and nothing of that file is
 *     read.
 */

enum hrun_exchange_format { HRUN_EXCHANGE_CSV, HRUN_EXCHANGE_EXTRAP };

/* The format by its name ("csv", "extrap") or, if word is NULL, by the suffix of the path (".csv", ".txt"). Errors:
 * HRUN_EINVAL. */
int hrun_exchange_find_format(const char *word, const char *path, enum hrun_exchange_format *out,
                              struct hrun_error *err);

/* Measurements v[n] of one profile and, for Extra-P, of one set of constants. Nothing is owned. */
struct hrun_exchange_set {
    const char *app, *signature;
    const struct hrun_sample *const *v;
    size_t n;
};

/* Append the sets as text. *left_out: number of measurements that the format cannot represent.
 * Errors: HRUN_EINVAL (Extra-P: several sets, or constants with a line break), HRUN_ENODATA (Extra-P: no measurement is
 * left). After an error the content of out is undefined. */
int hrun_exchange_write(enum hrun_exchange_format format, const struct hrun_exchange_set *sets, size_t nsets,
                        struct hrun_buf *out, size_t *left_out, struct hrun_error *err);

/* A measurement read from a file. */
struct hrun_exchanged {
    char *app, *signature;      /* NULL: not in the file */
    struct hrun_sample sample;  /* origin is "import"; defaults of missing fields: M = 1, pes = P/M, wall_s = time_s, a
                                   good run, the present date */
    unsigned given;             /* bit i: the file has field i of a record */
    int line;
};

struct hrun_exchange {
    struct hrun_exchanged *v;
    size_t n, cap;
    char *app, *signature;      /* after hrun_exchange_claim: the first ones in the file, or NULL */
};

#define HRUN_EXCHANGE_INIT { NULL, 0, 0, NULL, NULL }

/* Append the measurements of the CSV text[len], which was read from the file `name`. Errors: HRUN_EPARSE with the line
 * (the format or an invariant of store.h is broken); out is unchanged then. */
int hrun_exchange_read(const char *name, const char *text, size_t len, struct hrun_exchange *out,
                       struct hrun_error *err);
void hrun_exchange_release(struct hrun_exchange *x);

/* Set the application and the signature of all measurements of a file; NULL keeps those of the file.
 * Errors: HRUN_EINVAL (a measurement has no application or signature then, a name is invalid, or several names in the
 * file would become one). */
int hrun_exchange_claim(struct hrun_exchange *x, const char *file, const char *app, const char *signature,
                        struct hrun_error *err);

/* After hrun_exchange_claim: append the measurements that belong to the profile of x->v[first] to its log, in one
 * write. A measurement that equals one in the log in all fields of the file is skipped. Each measurement in the log
 * matches at most one of the file, so a file can be imported twice and equal runs of one file are all kept. *added,
 * *known: numbers of measurements added and skipped. Errors: those of hrun_store_append; the log is unchanged then. */
int hrun_exchange_store(struct hrun_store *s, const struct hrun_exchange *x, size_t first, size_t *added,
                        size_t *known, struct hrun_error *err);

#endif
