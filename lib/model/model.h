/* model.h - from measurements to Ti(N, P, Mi); the theory is in hrun-model(7)
 *
 * Purpose: fit models to the measurements of each sub-cluster, alone or together with those of others. The definition's
 * family, a row of one table, determines how times follow from measurements. Predictions are in predict.h.
 * Invariants: only good measurements (ok = 1) with the definition's constants are fitted; a prediction that is negative
 * or not finite is never given as a time; remembered times of the network do not change results.
 */
#ifndef HRUN_MODEL_MODEL_H
#define HRUN_MODEL_MODEL_H

#include "app/app.h"
#include "base/buf.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "model/oracle.h"
#include "net/net.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ the network of a cluster */

/* Ranks are in the order of lib/layout: by component of a heterogeneous job, then by sub-cluster; the first Pi PEs of
 * sub-cluster i are used, and the Mi ranks of a PE are next to each other. A view is for one thread at a time. */
struct hrun_netview;

/* Create the view of the sub-clusters of a cluster, in its order, on a network, which must outlive it. Errors:
 * HRUN_ENODATA (naming a host outside the network). */
struct hrun_netview *hrun_netview_create(const struct hrun_net *net, const struct hrun_cluster *cluster,
                                         struct hrun_error *err);
void hrun_netview_destroy(struct hrun_netview *v);

int hrun_netview_nsubs(const struct hrun_netview *v);
/* Returns the index of the sub-cluster with this name, or -1. */
int hrun_netview_find(const struct hrun_netview *v, const char *name);
int hrun_netview_npes(const struct hrun_netview *v, int sub);

/* ------------------------------------------------------------------ families, forms and methods */

enum hrun_model_form { HRUN_FORM_NT, HRUN_FORM_PT, HRUN_FORM_NPT };
enum hrun_method { HRUN_METHOD_LS, HRUN_METHOD_NNLS };

const char *hrun_model_form_name(enum hrun_model_form f);  /* "nt", "pt", "npt" */
const char *hrun_method_name(enum hrun_method m);  /* "ls", "nnls" */
int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err);

/* How a program whose definition has `shares` divides its work: equally, in proportion to the speeds, or in whole units
 * so that the slowest process ends as early as possible. */
enum hrun_sharing { HRUN_SHARES_EQUAL, HRUN_SHARES_PROPORTIONAL, HRUN_SHARES_BEST };

/* A sub-cluster for which a family lists runs to measure. */
struct hrun_family_place {
    int npes, M;               /* PEs to use, and processes on each */
    int64_t P;                 /* processes of the run that is prepared, on this sub-cluster or on others too */
    double memory_bytes;       /* memory of a process */
};
/* A run to measure, on `pes` PEs with M processes each. */
struct hrun_family_point {
    int pes;
    double work;               /* units of each process */
    int copies;                /* 1: instead, simultaneous runs of one process on these PEs */
};
enum { HRUN_FAMILY_POINTS = 6 };
enum { HRUN_POINTS_MEMORY = -2, HRUN_POINTS_RULE = -3 };

struct hrun_fit_options;
struct hrun_fit_job;
struct hrun_row;
struct hrun_predictor_kind;

/* A family: how times follow from measurements. One row for each, in families/NAME.c. */
struct hrun_family {
    const char *name;          /* of predictions, for reports */
    int by_formula;            /* 1: a formula in speeds of PEs and network gives the times; the application is not
                                  measured */
    int has_forms;             /* 1: models single, nt, pt and npt, of which one form predicts */
    int uses_network;          /* 1: uses the network even if no term names it */
    int deals_units;           /* 1: shares are whole units of a mesh (hrun_app_mesh) */
    int is_of_sizes;           /* 1: a model is for one N; two models predict other sizes */
    int is_joint;              /* 1: runs on other and on several sub-clusters help to fit the models of one */
    int has_common;            /* 1: hrun_corrections_common applies to predictions on several sub-clusters */
    /* Write the runs that a model at size N needs to v[HRUN_FAMILY_POINTS]. Returns their number; HRUN_POINTS_MEMORY
     * or HRUN_POINTS_RULE if memory or rule allow none; -1 with *err. NULL: the caller chooses sizes and PEs. */
    int (*points)(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                  struct hrun_family_point *v, struct hrun_error *err);
    /* lib/model's own (fit_job.h, rows.h, internal.h). */
    size_t (*keep)(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);   /* NULL: all rows */
    int nterms;                /* largest number of terms of a record besides the definition's terms */
    int (*fit)(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n,
               struct hrun_error *err);        /* NULL: nothing is fitted */
    const struct hrun_predictor_kind *predictor;
};
const struct hrun_family *hrun_family_of(const struct hrun_app *app);

/* ------------------------------------------------------------------ fitting */

/* Row weights 1/sqrt(sigma_abs^2 + (sigma_rel T)^2), where sigma_abs includes the rounding of the times
 * (hrun_times_rounding). Both 0: no weights, as in paper 000. */
struct hrun_fit_options {
    enum hrun_method method;
    double sigma_abs_s;
    double sigma_rel;
    int robust;        /* 1: rows that the others contradict count less (Huber, fit/fit.h) */
    double glitches;   /* k of the glitch rule (hrun-model(7)), 0: off */
    struct hrun_netview *net;  /* the network of the sub-clusters, for network terms (lib/app); NULL: without them.
                                  Must outlive models and predictors made with it */
    int own;           /* index in net of the measured sub-cluster, for records that do not name it; -1: not known */
    struct hrun_tasking tasking;  /* for NP-T models: how the program divides its work; hrun_model_fit_joint
                                     estimates it */
};
/* NNLS, 1 ms (least jitter of starting and timing a run), 2 % (run-to-run variation of a quiet node). */
#define HRUN_FIT_OPTIONS_DEFAULT { HRUN_METHOD_NNLS, 1e-3, 0.02, 1, 0, NULL, -1, { 0, 0, 0 } }

/* sigma_abs_s for simulated hosts, whose times do not jitter. */
#define HRUN_FIT_SIMULATED_ABS_S 1e-6

/* Fit the models of one sub-cluster for every M that has measurements; repetitions are rows of their own. Terms that
 * the measurements do not distinguish from others are dropped, and the record's note names them (hrun-model(7),
 * "Fitting"). Models with too few measurements are left out; *skipped (may be NULL) gets a line with the reason for
 * each, and one with the number of runs on hosts outside the network. The result does not depend on the order of
 * samples; *out has app, signature "", subcluster "", consts and dates.
 * Errors: HRUN_ENODATA if no model can be made (with the reasons), HRUN_ENONFINITE (a time that is not finite and
 * positive; a term that is not finite at a measured point, naming term, N and P), HRUN_EINVAL (bad options, P < M),
 * those of lib/fit. */
int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err);

/* One sub-cluster, or several equal ones with one signature. */
struct hrun_joint_sub {
    const char *name;                   /* for the models and for messages */
    const char *signature;
    const struct hrun_sample *samples;  /* all valid ones of its log, homogeneous and mixed */
    size_t n;
    double memory_bytes;                /* of a PE; limits the shares in corrections; 0: not limited */
};

/* Fit the models of subs[nsubs] into out[nsubs], with name and signature; NULL if a sub-cluster has none. *skipped (may
 * be NULL) gets a line with the sub-cluster's name and the reason for each model left out. Records of a mixed run in
 * several logs are recognised by date, configuration, N and times; if one of its sub-clusters is not in subs, the run
 * only bounds the others' times from above. A model whose dependence on P comes from other sub-clusters alone has the
 * note "shared with others" in its record, and wider intervals. With LS, the reference of paper 000, each sub-cluster
 * is fitted alone. Errors: HRUN_ENODATA if no model can be made, and those of hrun_model_fit; then out is untouched. */
int hrun_model_fit_joint(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                         const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                         struct hrun_error *err);

/* Mean relative error beyond which a model is useless: twice as many PEs at best halve the time, so such a model cannot
 * compare numbers of PEs. */
#define HRUN_MODELS_MISS 0.5
/* Append to *which, separated by "; ", the models of models[n] (NULL: none) with a mean error above HRUN_MODELS_MISS at
 * their own measurements: "npt of slow with 2 processes per PE". N-T models of single P are left out, because no choice
 * depends on them. */
void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which);

/* Append a warning if the times of samples[n], of one sub-cluster, hardly follow N; else nothing. */
void hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out);

#endif
