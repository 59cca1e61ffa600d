/* rows.h - which measurements are fitted; for lib/model alone
 *
 * Invariants: rows are in order of M, kind, P, N, time, whatever the order of the measurements; times are finite and
 * above 0; P >= M >= 1, but for shared rows, which may stand for fewer processes than M. Rows are shared by runs alone,
 * never by shared rows. Runs on several sub-clusters are in order of N; the parts of a run stand together.
 */
#ifndef HRUN_MODEL_ROWS_H
#define HRUN_MODEL_ROWS_H

#include "model/model.h"

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
    struct hrun_config config;
    double *share;          /* nsubs: of the work of each process, over a P-th; NULL: shares are equal */
    double r, now;          /* this and what follows: the caller's */
    int limiting, other;
};

/* All good runs of the cluster's configurations with the definition's constants into runs[], in order of N, each once:
 * of records in several logs the first. runs[] has room for every sample of subs[nsubs], shares[] for nsubs times as
 * many. */
void hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                 double *shares, size_t *count);

#endif
