/* internal.h - the inside of lib/model: rows, terms, fits, predictors; not for other rooms
 *
 * Invariants:
 *   - rows are in order of M, kind, P, N, time, whatever the order of the measurements; times are finite and above 0;
 *     P >= M >= 1, but for shared rows, which may stand for fewer processes than M: they tell the shape; rows are
 *     shared by runs alone, never by shared rows;
 *   - runs on several sub-clusters are in order of N; the parts of a run stand together;
 *   - a record is in job->models as a whole or not at all; a model that cannot be made for want of measurements is no
 *     error but a line in job->skipped;
 *   - the first member of a family's predictor is a struct hrun_predictor; a function of its kind that is NULL stands
 *     for what is said beside it.
 */
#ifndef HRUN_MODEL_INTERNAL_H
#define HRUN_MODEL_INTERNAL_H

#include "fit/fit.h"
#include "model/model.h"

/* ---------------------------------------------------------------- series
 *
 * How well terms tell measurements that a fit has not seen; not for other rooms
 *
 * Purpose: discover.c tries hundreds of lists of terms on the same measurements. Here these are laid out once, with the
 * values of all terms of the library, and a list is judged by the points left out and by the largest P, held back.
 */

/* Products of a power and a logarithm of N with a power and a logarithm of P. Powers of both signs stand for work that
 * is divided (1/P) or for messages, more or larger ones (ln(P), P). Order: by how P enters, the likeliest first, and
 * in it by falling powers of N: where two terms explain the same, the earlier one is meant. */

/* N^a ln(N)^l P^b ln(P)^m. Powers are in sixths, so that halves and thirds are exact. */
struct hrun_basis {
    signed char a6, l, b6, m;
};

/* All of them, and how many. */
const struct hrun_basis *hrun_library(size_t *n);

/* Is it in proportion to 1/P: work shared out among the processes? */
int hrun_basis_divided(const struct hrun_basis *t);
/* Does it not depend on P at all? */
int hrun_basis_constant(const struct hrun_basis *t);

/* Its value at N, P >= 1. */
double hrun_basis_value(const struct hrun_basis *t, double N, double P);

/* Append it as an expression of lib/expr: "N^2*ln(N)/P", "sqrt(N)", "1". */
void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out);

/* Paper 000's Table V has ten terms for the richest of its applications. */
enum { HRUN_TERMS_MAX = 10, HRUN_LIBRARY_MAX = 128 };

/* One series: its rows in the order of P = M or not, P, N, and what the library's terms are there. */
struct hrun_series {
    const struct hrun_discover_point *at;
    size_t n, anchors;       /* the first `anchors` have P = M */
    double *x, *y, *w;       /* n by columns, row-major; n; n */
    int *point;              /* of each row: rows at one (N, P) have the same number */
    char *held;              /* 1: at the largest P, told by the others */
    size_t loo, held_at;     /* where its losses begin: points left out, and held points */
    size_t npoints, nheld;   /* how many */
};

struct hrun_selection {
    struct hrun_series *v;
    size_t nseries;
    struct hrun_basis basis[HRUN_LIBRARY_MAX];
    size_t columns;
    double *memory;
    int *ints;
    char *chars;
    size_t nloo, nheld;
    double *sub, *suby, *subw, *k, *e;   /* scratch */
};

/* Terms, and the losses of all points, those left out first. */
struct hrun_selected {
    int term[HRUN_TERMS_MAX];
    int n;
    double *loss;
    double mean;
};

/* Lay out points[n], in order of series, P = M or not, P, N. only_n: for terms over N alone. A series of one size tells
 * nothing and is left out. */
void hrun_series_init(struct hrun_selection *d, const struct hrun_discover_point *points, size_t n, int only_n,
                     const struct hrun_fit_options *o);
void hrun_series_release(struct hrun_selection *d);

/* Fit the terms of c to s; then d->e[row] is what each row is missed by when its point is left out, in units of its
 * scatter, INFINITY where it cannot be. Errors: those of hrun_fit_nnls. */
int hrun_series_leave_out(struct hrun_selection *d, const struct hrun_series *s, const struct hrun_selected *c,
                          struct hrun_error *err);

/* The losses of c and their mean. Of a series that cannot tell, for a point that is needed to know the terms, those of
 * `before`. Errors: those of hrun_fit_nnls. */
int hrun_series_judge(struct hrun_selection *d, const struct hrun_selected *before, struct hrun_selected *c,
                      struct hrun_error *err);

/* ------------------------------------------------------------------ the network of a cluster */

/* Where times come from. */
struct hrun_netview_source {
    const void *ctx;           /* must outlive the view */
    int nhosts;                /* hosts are 0..nhosts-1 */
    /* Time of an operation among ranks, n >= 2. 0, or -1 with *err. */
    int (*predict)(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err);
    /* A lower bound of it among n ranks, of which `some` take part, for others anywhere, no more than `beside` of them
     * on a host of `some`. NULL: 0. */
    int (*bound)(const void *ctx, const struct hrun_net_call *call, int n, const struct hrun_net_ranks *some,
                 int beside, double *time_s, struct hrun_error *err);
};

struct hrun_netview_pe {
    int host;                  /* of the source */
    int kind;                  /* of PE on it */
    int group;                 /* component of the job */
};

struct hrun_netview_sub {
    const char *name;
    int npes;
    const struct hrun_netview_pe *pes;   /* in the order in which they are used */
};

/* The source that predicts from a network, which must outlive the view; hosts are the network's. */
struct hrun_netview_source hrun_netview_source_of(const struct hrun_net *net);

/* The view of any source and subs[nsubs]; all is copied but the source's ctx. Errors: HRUN_EINVAL (a host that the
 * source has not got). */
struct hrun_netview *hrun_netview_of(const struct hrun_netview_source *source, const struct hrun_netview_sub *subs,
                                     int nsubs, struct hrun_error *err);
/* Time in s of one operation with so many bytes, among the ranks of the configuration pes[nsubs], procs[nsubs]; with
 * one rank 0. Errors: HRUN_EINVAL (more PEs than there are, no rank), those of the source. */
int hrun_netview_time(struct hrun_netview *v, enum hrun_net_op op, double bytes, const int *pes, const int *procs,
                      double *time_s, struct hrun_error *err);

/* A lower bound in s of the same in every configuration with P processes in all, of which sub-cluster sub has m on each
 * PE that it uses. Errors: as above. */
int hrun_netview_bound(struct hrun_netview *v, enum hrun_net_op op, double bytes, int sub, int m, int P, double *time_s,
                       struct hrun_error *err);

/* A lower bound in s of the same in every configuration with P processes in all, of which pes and procs are those of
 * sub-clusters 0..known-1; from there on they are 0 and anything may be. Errors: as above. */
int hrun_netview_part(struct hrun_netview *v, enum hrun_net_op op, double bytes, const int *pes, const int *procs,
                      int known, int P, double *time_s, struct hrun_error *err);

/* The configuration of a run: pes[nsubs], procs[nsubs]. By the names in its record; own: the sub-cluster in whose log
 * it is, where the record does not tell it of a run on one alone (-1: not known). 1, or 0 when the view has no such
 * sub-clusters or PEs. */
int hrun_netview_config(const struct hrun_netview *v, const struct hrun_sample *s, int own, int *pes, int *procs);

/* ------------------------------------------------------------------ rows */

enum hrun_row_kind {
    HRUN_ROW_SHARED_SINGLE, /* as HRUN_ROW_SHARED, of a run on one PE */
    HRUN_ROW_SINGLE,    /* a run on one PE: P = M */
    HRUN_ROW_SHARED,    /* no run: what one would have taken, from another option's runs (hrun_common_rows) */
    HRUN_ROW_OWN,       /* a run on this sub-cluster alone, P > M */
    HRUN_ROW_MIXED      /* a run on several sub-clusters that this one limited (hrun_model_fit_joint) */
};

struct hrun_row {
    int64_t N;
    int P, M;
    double T;
    const char *date;   /* the sample's; "" when it has none */
    enum hrun_row_kind kind;
    double weight;      /* times what the options give a row of this T */
    const struct hrun_sample *sample;  /* the run; of a shared row the one that is shared; NULL: none */
    int own;            /* the network's sub-cluster in whose log the run is, -1: not known */
    double share;       /* of the work of the process that has most, over a P-th: hrun_app_uneven with equal shares */
};

/* Copy the usable ones of samples[n] (good, homogeneous, with the definition's constants) into rows[n];
 * *nrows says how many. own: the network's sub-cluster in whose log they are, -1: not known, or no network.
 * Errors: HRUN_ENODATA when none is usable, counting why; HRUN_ENONFINITE and HRUN_EINVAL for a usable one that breaks
 * an invariant, naming it. */
int hrun_rows_select(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                     int own, struct hrun_row *rows, size_t *nrows, struct hrun_error *err);

/* Put rows[n] in their order. */
void hrun_rows_sort(struct hrun_row *rows, size_t n);

/* Take out of rows[*n], which are in their order, those of sizes that are glitches for k; k = 0: none. Each is told in
 * a line of *skipped (may be NULL). Errors: HRUN_EINVAL (k < 0 or not finite, or the definition has no N-T terms),
 * HRUN_ENONFINITE (the term at a measured N); rows are as before then. */
int hrun_glitches_exclude(const struct hrun_app *app, double k, struct hrun_row *rows, size_t *n,
                          struct hrun_buf *skipped, struct hrun_error *err);

/* ------------------------------------------------------------------ runs on several sub-clusters */

struct hrun_mixed_part {
    int sub;            /* index into subs */
    int M;
    int pes;
    double share;       /* of the work of the process that has most, over a P-th: hrun_app_uneven with equal shares */
    double busy_s;      /* of a watched run with unequal shares: its time less what this part waited longer than the one
                           that waited least; 0: not known */
};

struct hrun_mixed_run {
    int64_t N;
    int P;
    double T;
    const char *date;   /* of a sample; "" when it has none */
    size_t first, nparts;
    int whole;          /* 1: all that took part are in subs */
    const struct hrun_sample *sample;
};

struct hrun_mixed {
    struct hrun_mixed_run *runs;
    struct hrun_mixed_part *parts;
    size_t nruns, nparts;
};

/* The good mixed runs with the definition's constants. The samples must outlive *out. Errors:
 * HRUN_ENONFINITE and HRUN_EINVAL for a run that breaks an invariant, naming it. */
int hrun_mixed_list(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_mixed *out,
                    struct hrun_error *err);
void hrun_mixed_release(struct hrun_mixed *m);

/* An order of records by N and then by run: 0 when two are of one run, in logs of different sub-clusters. Times are
 * kept to the last bit, so that two runs of one configuration in one second differ in them. */
int hrun_mixed_order(const struct hrun_sample *a, const struct hrun_sample *b);

struct hrun_recalled {
    const struct hrun_sample *s;
    int nsubs;
    int *pes, *procs;       /* nsubs each */
    double *share;          /* nsubs: of the work of each process, over a P-th; NULL: shares are equal */
    double r, now;          /* this and what follows: the caller's */
    int limiting, other;
};

/* All good runs of the cluster's configurations with the definition's constants into runs[], in order of N, each once:
 * of records in several logs the first. runs[] has room for every sample of subs[nsubs], numbers[] for 2 nsubs times as
 * many, shares[] for nsubs times. */
void hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                int *numbers, double *shares, size_t *count);

/* ------------------------------------------------------------------ terms */

/* Which variables a term has, in the order in which lib/app compiles them. */
enum hrun_term_kind {
    HRUN_TERM_N,     /* N */
    HRUN_TERM_NP,    /* N, P, and W = 1/P where the definition has shares */
    HRUN_TERM_TPN,   /* T, P, N */
    HRUN_TERM_WHOLE  /* of an NP-T term, with W = 1: if one process had all the work; texts are not compiled for it */
};

/* Evaluate a compiled term. P and T are ignored where the kind has none. Of a network term this is the factor. */
int hrun_term_eval(struct hrun_expr *e, enum hrun_term_kind kind, double N, double P, double T, double *out,
                   struct hrun_error *err);

/* A network term (lib/app) for a configuration with P processes: the factor times what the operation takes. Errors:
 * HRUN_ENONFINITE, HRUN_EINVAL (a factor or bytes below 0), those of hrun_netview_time. */
int hrun_term_network(struct hrun_expr *e, double N, double P, struct hrun_netview *view, const int *pes,
                      const int *procs, double *out, struct hrun_error *err);

/* The operation of a network term among P processes. Errors: as above but those of hrun_netview_time. */
int hrun_term_network_call(struct hrun_expr *e, double N, double P, struct hrun_net_call *out, struct hrun_error *err);

/* A lower bound of it in every configuration with P processes, of which sub-cluster sub has m on each PE it uses.
 * Errors: the same. */
int hrun_term_network_bound(struct hrun_expr *e, double N, int P, struct hrun_netview *view, int sub, int m,
                            double *out, struct hrun_error *err);

/* The same where pes and procs of sub-clusters 0..known-1 are known . Errors: the same. */
int hrun_term_network_part(struct hrun_expr *e, double N, int P, struct hrun_netview *view, const int *pes,
                           const int *procs, int known, double *out, struct hrun_error *err);

/* The compiled term of the definition with this text, or one compiled afresh; then *owned = 1 and the caller
 * destroys it. Errors: those of hrun_expr_compile, naming the text. */
struct hrun_expr *hrun_term_find(const struct hrun_app *app, enum hrun_term_kind kind, const char *text,
                                 int *owned, struct hrun_error *err);

/* Is an NP-T term divided work: does it shrink nearly as P grows? */
int hrun_term_is_divided(struct hrun_expr *e);

/* How a P-T term depends on T: 0 not at all, 1 in proportion, -1 otherwise. */
int hrun_term_degree(struct hrun_expr *e, double N);

enum { HRUN_RANGE_LEVELS = 2 };

struct hrun_pterm {
    struct hrun_expr *expr;
    int owned;
    enum hrun_term_kind kind;
    double N, T;
    int degree;              /* of a P-T term, as hrun_term_degree says; the owner sets it */
    enum { HRUN_SHAPE_CONST, HRUN_SHAPE_POWER, HRUN_SHAPE_TABLE } shape;
    double value;            /* CONST */
    double peak;             /* POWER: P of the inner extremum, 0 when there is none */
    int tabulated;           /* TABLE: P = 0..tabulated-1 are known; a multiple of the largest block */
    double *table;           /* NaN where the term has no value */
    double *min[HRUN_RANGE_LEVELS],
        *max[HRUN_RANGE_LEVELS]; /* over blocks of 64 and 64^2; min > max: no value */
};

/* Start a term and find its shape. expr (and owned) become the term's. Errors: HRUN_ENONFINITE when a term
 * without P has no value at N; nothing is to be released then, the caller still owns expr. */
int hrun_pterm_init(struct hrun_pterm *t, struct hrun_expr *expr, int owned, enum hrun_term_kind kind,
                    double N, double T, struct hrun_error *err);
void hrun_pterm_release(struct hrun_pterm *t);

/* Errors: HRUN_ENONFINITE naming term and values. */
int hrun_pterm_value(struct hrun_pterm *t, int P, double *out, struct hrun_error *err);

/* The first P of lo..hi (1 <= lo <= hi) where the term has no value into *P, 0 when there is none. A term of
 * a known shape has one wherever its shape was looked at, and is not looked at again. */
int hrun_pterm_missing(struct hrun_pterm *t, int lo, int hi, int *P, struct hrun_error *err);

/* *min <= every value over lo..hi <= *max (1 <= lo <= hi), as tight as rounding allows; P without a value do
 * not count, and when there is no other *min is +infinity and *max -infinity. */
int hrun_pterm_range(struct hrun_pterm *t, int lo, int hi, double *min, double *max, struct hrun_error *err);

/* ------------------------------------------------------------------ how work is dealt out */

/* What a part of a configuration would take if all its processes were as those of this part. */
struct hrun_part_time {
    double t;
    int processes;
};

/* The time of a configuration of n parts, n >= 1; the master, where there is one, is a process of the first. NAN where
 * a t is. */
double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n);
/* A lower bound of it, where `rest` more processes take `quickest` at least. */
double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest);

/* Divided work of P processes: how much more than a P-th a worker has of it. 1 where all work. */
double hrun_tasking_excess(const struct hrun_tasking *f, int P);
/* The same as the text of a term: append `term`, times the excess. */
void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out);

/* ------------------------------------------------------------------ fitting one model */

/* Residuals beyond this many scales are suspicious: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993),
 * for distances in units of the median one. */
#define HRUN_SUSPICIOUS 3.5

/* What all fits of one call share. */
struct hrun_fit_job {
    const struct hrun_app *app;
    struct hrun_fit_options options;
    struct hrun_models *models;     /* records are appended */
    int cap;
    struct hrun_buf skipped;
    char *used;                     /* of each row: did a model use it? */
    const struct hrun_row *rows;
    size_t nrows;
    /* scratch for nrows rows and the longest list of terms */
    double *x, *sub, *y, *w, *k, *cov, *factor;
    double *wr, *r;                 /* weights in the end, residuals: nrows each */
    int64_t *sizes;
    int *keep;
    struct hrun_terms np;           /* the definition's NP-T terms, without network terms where there is no network */
    struct hrun_buf left_out;       /* the network terms that np has not got, and why */
    struct hrun_netview *net;       /* or NULL: np has no network terms */
    int *config;                    /* scratch: a configuration of net's sub-clusters */
};

/* Fit terms to rows[n], whose values x[n by terms->n] (row-major) are given, and append a record. P: that of an
 * N-T model, else 0. The first `anchors` rows help to find the coefficients with a fifth of their weight, see
 * hrun_common_rows; range, errors and variance are those of the other rows. Where no more than
 * shared rows is known, they make the range, and the record expects five times the scatter. 0 also when there are too
 * few measurements: then
 * a line goes to job->skipped and *record becomes NULL. Errors: those of lib/fit; the models are as
 * before. */
int hrun_fit_family(struct hrun_fit_job *job, const char *family, int P, const struct hrun_terms *terms,
                    const double *x, const struct hrun_row *rows, size_t n, size_t anchors,
                    struct hrun_fit_record **record, struct hrun_error *err);

/* Room for one more record in job->models, zeroed; it counts once job->models->n does. */
struct hrun_fit_record *hrun_fit_add_record(struct hrun_fit_job *job);

/* Set job->np, left_out, net and config by the definition and job->options, and keep of rows[*n] those whose places the
 * network tells, if it is asked; a line in job->skipped says how many others there were. */
int hrun_fit_network(struct hrun_fit_job *job, struct hrun_row *rows, size_t *n, struct hrun_error *err);
void hrun_fit_network_release(struct hrun_fit_job *job);

/* The value of NP-T term e at a row; of a network term in the row's configuration. Errors: those of hrun_term_eval and
 * hrun_term_network. */
int hrun_fit_term(const struct hrun_fit_job *job, struct hrun_expr *e, const struct hrun_row *row, double *out,
                  struct hrun_error *err);

/* hrun_model_fit on rows[n], n >= 1, in their order, with options that hrun_fit_check_options accepts. Rows whose
 * places the network does not tell, where it is asked, are taken out of rows. */
int hrun_fit_rows(const struct hrun_app *app, struct hrun_row *rows, size_t n,
                  const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                  struct hrun_error *err);

/* Errors: HRUN_EINVAL (a scatter that is negative or not finite). */
int hrun_fit_check_options(const struct hrun_fit_options *options, struct hrun_error *err);

/* Solve for rows x[n by p] (row-major), job->y and job->w; job->options say how. (LS, the reference of paper 000, is
 * never robust.) Results: job->keep for each of the p terms, job->wr (the weights that counted in the end), *result
 * with coefficients and covariances of the *count terms with keep = 1, and *bound: weighted residuals beyond it counted
 * less; INFINITY where all counted in full.
 * Errors: those of lib/fit; HRUN_ERANK says that these measurements make no model. */
int hrun_fit_coefs(struct hrun_fit_job *job, const double *x, size_t n, size_t p, size_t *count, double *bound,
                   struct hrun_lsq_result *result, struct hrun_error *err);

/* ------------------------------------------------------------------ what sub-clusters have in common */

/* Does rows[n] of one sub-cluster, in their order, tell too little of how time with M processes per PE follows P: less
 * than two different P > M on the sub-cluster alone? */
int hrun_common_needed(const struct hrun_row *rows, size_t n, int M);

struct hrun_common;

/* Fit to rows[i][nrows[i]] of sub-clusters i < nsubs and to the mixed runs. *out = NULL where there is nothing to
 * share: another family than NP-T, or runs of one number of processes per PE of one sub-cluster alone. rows and
 * samples must outlive it. Errors: HRUN_ENONFINITE (a term without a value at a run), those of lib/fit. */
int hrun_common_create(const struct hrun_app *app, struct hrun_row *const *rows, const size_t *nrows, int nsubs,
                       const struct hrun_mixed *mixed, const struct hrun_fit_options *options,
                       struct hrun_common **out, struct hrun_error *err);
void hrun_common_destroy(struct hrun_common *c);

/* The form that won; equal shares where c is NULL. */
struct hrun_tasking hrun_common_tasking(const struct hrun_common *c);

/* Append to out what the runs of others would have taken on sub-cluster sub with M processes per PE, and what one PE
 * would have taken at each size; *count grows by at most two for each run. Nothing where c is NULL, or nothing was run
 * there. */
void hrun_common_rows(const struct hrun_common *c, int sub, int M, struct hrun_row *out, size_t *count);

/* ---------------------------------------------------------------- corrections by runs
 *
 * What correct.c learns r = ln(measured / predicted) of configurations with; not for other rooms
 *
 * Purpose: at a size all configurations on several sub-clusters may be off alike, which tells of those that were never
 * run (correct_common.c), and a configuration that is off at one size is so at those near (correct_process.c).
 * Invariant: points are in order of N, one for each.
 */

/* What r is expected to be before there are runs, 5 %: the mean error that predictions are to have (DESIGN, section
 * 10); it counts as much as this many measured values. */
#define HRUN_CORRECT_SD 0.05
#define HRUN_CORRECT_WEIGHT 4.0

/* r(N) at sizes whose ratio is e^HRUN_CORRECT_LENGTH are correlated by 1/e: what a model misses (blocks that do not
 * divide, caches) changes when the size doubles. */
#define HRUN_CORRECT_LENGTH 0.6931471805599453

struct hrun_correct_point { /* runs of one configuration at one N */
    double x;               /* ln N */
    int64_t N;
    double r;               /* mean of ln(measured / predicted) of the runs that agree */
    double now;             /* the same where the prediction is that for the shares of now */
    double own;             /* of it what is not common to all at this N */
    double var;             /* of one run's, by the scatter of runs */
    double rounding;        /* the variance of what rounding does to the time, alike in all runs */
    int agree;              /* how many agree */
    int runs;
    double trust;           /* probability that they were not slowed down */
};

struct hrun_correct_config {
    int *pes, *procs;
    struct hrun_correct_point *points;
    size_t npoints;
    int runs;
    int mixed;              /* 1: on several sub-clusters */
};

/* What the own parts of points v[npoints] but `skip` (npoints: none) tell of that at x: its mean and variance, when it
 * varies by `prior` before they are known. Of more than HRUN_CORRECTION_SIZES points the nearest count. */
void hrun_correct_condition(const struct hrun_correct_point *v, size_t npoints, double prior, double x, size_t skip,
                            double *mean, double *var);

struct hrun_correct_common {
    struct hrun_correct_point *points;  /* `own` is what is common there, with its own variance; freed by the owner */
    size_t npoints;
    double var;                         /* prior variance of that */
};

/* The sizes at which enough of v[nconfigs], of nsubs, on several sub-clusters were run, with whatever shares, into *c,
 * which is zeroed. */
void hrun_correct_common_find(struct hrun_correct_common *c, const struct hrun_correct_config *v, int nconfigs,
                             int nsubs);

/* Learn what is common at each of them: the mean of r there, as far as runs can be trusted, of which each of
 * v[nconfigs] has a part of its own, which varies by own_var. What remains becomes `own` of all points of v. */
void hrun_correct_common_learn(struct hrun_correct_common *c, struct hrun_correct_config *v, int nconfigs,
                               double own_var);

/* What is common at N, ln, and its variance; 0 and 0 where there are no such sizes. */
double hrun_correct_common_at(const struct hrun_correct_common *c, int64_t N, double *var);

/* ------------------------------------------------------------------ predictors */

/* What a family makes a predictor from; the arguments of hrun_predictor_create_net. */
struct hrun_predictor_source {
    const struct hrun_app *app;
    struct hrun_models *const *models;
    int nsubs;
    enum hrun_model_form form;
    int64_t N;
    struct hrun_netview *net;
    const int *place;
};

struct hrun_predictor_kind {
    void (*destroy)(struct hrun_predictor *p);
    int (*time)(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low, double *high,
                struct hrun_error *err);
    int (*time_in)(struct hrun_predictor *p, int sub, const int *pes, const int *procs, double *time_s, double *low,
                   double *high, struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Ti of all options at P, t[noptions], in a configuration (of the network's sub-clusters where has_network); NAN
     * where an option cannot be used there. NULL: those of the oracle. */
    int (*options)(struct hrun_predictor *p, int P, const int *pes, const int *procs, double *t,
                   struct hrun_error *err);
    /* Ti of all options at P with share[nsubs] of the work, over a P-th. NULL: as `options`. */
    int (*options_shared)(struct hrun_predictor *p, int P, const int *pes, const int *procs, const double *share,
                          double *t, struct hrun_error *err);
    /* See hrun_predictor_deal. NULL: there is one way. */
    int (*deal)(struct hrun_predictor *p, enum hrun_sharing how, struct hrun_error *err);
    /* See hrun_predictor_shares. NULL: all are equal. */
    int (*shares)(struct hrun_predictor *p, const int *pes, const int *procs, double *share, struct hrun_error *err);
    /* See hrun_predictor_limit_memory. NULL: times do not depend on it. */
    int (*limit_memory)(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
    /* Times are those of the models times p->scale, in a family that has_common. */
    void (*rescale)(struct hrun_predictor *p);
    /* See hrun_predictor_balance and hrun_predictor_fewest. NULL: nothing is known of it. */
    int (*balance)(struct hrun_predictor *p, const int *npes, const int *pes, const int *procs,
                   struct hrun_balance *out, struct hrun_error *err);
    int (*fewest)(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                  struct hrun_error *err);
};

struct hrun_predictor {
    const struct hrun_predictor_kind *kind;
    const struct hrun_app *app;
    int64_t N;
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions;
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    int deals;                      /* 1: shares are those of kind->shares; else equal */
    const double *pace;             /* see hrun_predictor_pace */
    double scales[2], scale;        /* see hrun_predictor_correct: of equal and of dealt shares; the one in use */
    struct hrun_tasking tasking;    /* families that deal out shares: equal ones */
    struct hrun_oracle oracle;
};

/* Begin p, which is zeroed: all but options, has_network and is_whole; of the oracle ctx, nsubs, rule and memory. */
void hrun_predictor_start(struct hrun_predictor *p, const struct hrun_predictor_kind *kind,
                          const struct hrun_predictor_source *from);
/* What times of a sub-cluster are multiplied by. */
double hrun_predictor_pace_of(const struct hrun_predictor *p, int sub);
/* The number of the option, -1: there is none. */
int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m);
/* How many processes a configuration of its sub-clusters has. */
int hrun_predictor_count(const struct hrun_predictor *p, const int *pes, const int *procs);

/* Ti of all options in a configuration of P processes; NaN where it depends on where they run, and pes is NULL. */
int hrun_predictor_options(struct hrun_predictor *p, int P, const int *pes, const int *procs, double *t,
                           struct hrun_error *err);
/* The same where each process of sub-cluster i has share[i] of the work, over a P-th; NULL: equal shares. */
int hrun_predictor_options_shared(struct hrun_predictor *p, int P, const int *pes, const int *procs,
                                  const double *share, double *t, struct hrun_error *err);

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus
 * that of one run, whose weighted variance is s2. dof 0: s2 was assumed and not estimated, so the normal
 * distribution. x[r->nterms]: the terms. */
double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t);

/* hrun_predictor_time for sub-cluster sub of the configuration pes[nsubs], procs[nsubs] (of net's sub-clusters, where
 * there is a network). */
int hrun_predictor_time_in(struct hrun_predictor *p, int sub, const int *pes, const int *procs, double *time_s,
                           double *low, double *high, struct hrun_error *err);

/* Are they for unequal shares? */
int hrun_corrections_deal(const struct hrun_corrections *c);

/* The correction of configuration i at N. */
void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out);

/* What a formula is evaluated with. */
struct hrun_formula_ranks {
    int P;
    const double *share, *perf; /* P each */
    /* What an operation of the network takes, in s; NULL: nothing. 0, or -1 with *err. */
    int (*network)(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err);
    void *ctx;
    double latency_s, bandwidth_bytes_per_s;
};

/* The seconds of each process into time_s[P]. room: (P + 1) * (HRUN_FORMULA_VARIABLES + f->n + 1) numbers of scratch.
 * Errors: HRUN_ENONFINITE naming step, N and P (also a function's argument that has no sense), those of network. */
int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err);

extern const struct hrun_family hrun_family_npt, hrun_family_weak, hrun_family_ring, hrun_family_analytic;

#endif
