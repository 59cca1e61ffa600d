/* rows.h - the measurements that are fitted; for lib/model alone
 *
 * Invariants: rows are in order of M, kind, P, N, time, for any order of the measurements. Times are finite and above
 * 0. P >= M >= 1, except in shared rows. Runs on several sub-clusters are in order of N, the parts of a run next to
 * each other.
 */
#ifndef HRUN_MODEL_ROWS_H
#define HRUN_MODEL_ROWS_H

#include "model/model.h"

/* ------------------------------------------------------------------ rows */

enum hrun_row_kind {
    HRUN_ROW_SHARED_SINGLE, /* as HRUN_ROW_SHARED, of a run on one PE */
    HRUN_ROW_SINGLE,    /* a run on one PE: P = M */
    HRUN_ROW_SHARED,    /* a run on another option, with the time computed for this one (hrun_common_rows) */
    HRUN_ROW_OWN,       /* a run on this sub-cluster alone, P > M */
    HRUN_ROW_MIXED      /* a run on several sub-clusters that this one limited (hrun_model_fit_joint) */
};

struct hrun_row {
    int64_t N;
    int P, M;
    double T;
    const char *date;   /* the sample's; "" when it has none */
    enum hrun_row_kind kind;
    double weight;      /* factor on the weight that the options give to T */
    const struct hrun_sample *sample;  /* the run; of a shared row: the run elsewhere; NULL: none */
    int own;            /* index in the network of the sub-cluster with the log; -1: not known */
    double share;       /* largest share of a process, relative to 1/P; with equal shares hrun_app_uneven */
};

/* Copy the usable samples (good, homogeneous, with the definition's constants) to rows[n]; *nrows: their number. own:
 * as in struct hrun_row. Errors: HRUN_ENODATA if none is usable, with the reasons; HRUN_ENONFINITE and HRUN_EINVAL if a
 * usable sample breaks an invariant. */
int hrun_rows_select(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                     int own, struct hrun_row *rows, size_t *nrows, struct hrun_error *err);

/* Put rows[n] in their order. */
void hrun_rows_sort(struct hrun_row *rows, size_t n);

/* Remove sizes that are glitches by factor k from sorted rows[*n]; k = 0: none. *skipped (may be NULL) gets a line for
 * each. Errors, which leave rows as they are: HRUN_EINVAL (k < 0 or not finite; the definition has no N-T terms),
 * HRUN_ENONFINITE (the term at a measured N). */
int hrun_glitches_exclude(const struct hrun_app *app, double k, struct hrun_row *rows, size_t *n,
                          struct hrun_buf *skipped, struct hrun_error *err);

/* ------------------------------------------------------------------ runs on several sub-clusters */

struct hrun_mixed_part {
    int sub;            /* index into subs */
    int M;
    int pes;
    double share;       /* as in struct hrun_row */
    double busy_s;      /* traced runs with unequal shares: T - (MPI wait of this part - least MPI wait of a part);
                           0: not known */
};

struct hrun_mixed_run {
    int64_t N;
    int P;
    double T;
    const char *date;   /* of a sample; "" when it has none */
    size_t first, nparts;
    int whole;          /* 1: all sub-clusters of the run are in subs */
    const struct hrun_sample *sample;
};

struct hrun_mixed {
    struct hrun_mixed_run *runs;
    struct hrun_mixed_part *parts;
    size_t nruns, nparts;
};

/* List the good mixed runs with the definition's constants in *out. The samples must outlive it. Errors:
 * HRUN_ENONFINITE and HRUN_EINVAL for a run that breaks an invariant, naming it. */
int hrun_mixed_list(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_mixed *out,
                    struct hrun_error *err);
void hrun_mixed_release(struct hrun_mixed *m);

/* Compare records by N, then by run. 0: both are of one run, in logs of different sub-clusters. (Logs keep times to the
 * last bit, so two runs of one configuration in one second differ.) */
int hrun_mixed_order(const struct hrun_sample *a, const struct hrun_sample *b);

struct hrun_recalled {
    const struct hrun_sample *s;
    struct hrun_config config;
    double *share;          /* nsubs: share of each process, relative to 1/P; NULL: equal shares */
    double r, now;          /* for the caller */
    int limiting, other;    /* for the caller */
};

/* List all good runs with the definition's constants that are configurations of the cluster in runs[*count], in order
 * of N; a run with records in several logs once. Sizes: runs[] one entry for each sample of subs[nsubs], shares[] nsubs
 * numbers for each sample. */
void hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                 double *shares, size_t *count);

#endif
