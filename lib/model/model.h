/* model.h - from measurements to Ti(N, P, Mi); the theory is in hrun-model(7)
 *
 * Purpose: fit models to the measurements of each sub-cluster, alone or together with those of others. How times follow
 * from measurements is the definition's family, a row of one table. Predictions are in predict.h.
 * Invariants: only good measurements (ok = 1) with the definition's constants are fitted; a prediction that is negative
 * or not finite is never given as a time; times of the network that are remembered change no answer.
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

/* Ranks are as lib/layout lays them: component by component of a heterogeneous job, in these sub-cluster by
 * sub-cluster, the first Pi PEs of sub-cluster i, the Mi ranks of a PE next to each other. A view is for one thread at
 * a time. */
struct hrun_netview;

/* The view of the sub-clusters of a cluster, in its order, on a network, which must outlive it. Errors: HRUN_ENODATA (a
 * host that the network has not got, named). */
struct hrun_netview *hrun_netview_create(const struct hrun_net *net, const struct hrun_cluster *cluster,
                                         struct hrun_error *err);
void hrun_netview_destroy(struct hrun_netview *v);

int hrun_netview_nsubs(const struct hrun_netview *v);
/* The sub-cluster with this name, -1. */
int hrun_netview_find(const struct hrun_netview *v, const char *name);
int hrun_netview_npes(const struct hrun_netview *v, int sub);

/* ------------------------------------------------------------------ families, forms and methods */

enum hrun_model_form { HRUN_FORM_NT, HRUN_FORM_PT, HRUN_FORM_NPT };
enum hrun_method { HRUN_METHOD_LS, HRUN_METHOD_NNLS };

const char *hrun_model_form_name(enum hrun_model_form f);  /* "nt", "pt", "npt" */
const char *hrun_method_name(enum hrun_method m);  /* "ls", "nnls" */
int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err);

/* How a program of whose definition `shares` are part gets its work: equal shares, those in proportion to the speeds,
 * or those by which the slowest process ends as early as can be, in whole units. */
enum hrun_sharing { HRUN_SHARES_EQUAL, HRUN_SHARES_PROPORTIONAL, HRUN_SHARES_BEST };

/* What a family wants to know of a sub-cluster to say what is measured there. */
struct hrun_family_place {
    int npes, M;               /* PEs to use, and processes on each */
    int64_t P;                 /* processes of the run that is prepared, on this sub-cluster or on others too */
    double memory_bytes;       /* of a process */
};
/* A run to measure: on so many PEs with M processes each. */
struct hrun_family_point {
    int pes;
    double work;               /* units of each process */
    int copies;                /* 1: as many runs of one process at the same time */
};
enum { HRUN_FAMILY_POINTS = 6 };
enum { HRUN_POINTS_MEMORY = -2, HRUN_POINTS_RULE = -3 };

struct hrun_fit_options;
struct hrun_fit_job;
struct hrun_row;
struct hrun_predictor_kind;

/* A family: in which way times follow from measurements. One row for each, in families/NAME.c. */
struct hrun_family {
    const char *name;          /* of predictions, for reports */
    int by_formula;            /* 1: nothing of the application is measured: a formula in speeds of PEs and network */
    int has_forms;             /* 1: models single, nt, pt and npt, of which one form predicts */
    int uses_network;          /* 1: also where no term of the definition names it */
    int deals_units;           /* 1: shares are whole units of a mesh (hrun_app_mesh), of which runs tell how many */
    int is_of_sizes;           /* 1: a model is of one N, and others follow from two */
    int is_joint;              /* 1: runs of other sub-clusters, and on several, help to fit those of one */
    int has_common;            /* 1: predictions on several sub-clusters are off in common (hrun_corrections_common) */
    /* The runs that its models are made of at size N, into v[HRUN_FAMILY_POINTS]: how many, or HRUN_POINTS_MEMORY or
     * HRUN_POINTS_RULE where there can be none, -1 with *err. NULL: sizes and PEs are chosen by others. */
    int (*points)(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                  struct hrun_family_point *v, struct hrun_error *err);
    /* lib/model's own (fit_job.h, rows.h, internal.h). */
    size_t (*keep)(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);   /* NULL: all rows */
    int nterms;                /* the most terms of a record, besides those of the definition */
    int (*fit)(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n,
               struct hrun_error *err);        /* NULL: nothing is fitted */
    const struct hrun_predictor_kind *predictor;
};
const struct hrun_family *hrun_family_of(const struct hrun_app *app);

/* ------------------------------------------------------------------ fitting */

/* Row weights 1/sqrt(sigma_abs^2 + (sigma_rel T)^2), where sigma_abs has the rounding of the times added
 * (hrun_times_rounding). Both 0: no weights, as in paper 000. */
struct hrun_fit_options {
    enum hrun_method method;
    double sigma_abs_s;
    double sigma_rel;
    int robust;        /* 1: rows that the others contradict count less (Huber, fit/fit.h) */
    double glitches;   /* k of the glitch rule (hrun-model(7)), 0: off */
    struct hrun_netview *net;  /* the network of the sub-clusters, for network terms (lib/app); NULL: these are left
                                  out. Must outlive what is made with it */
    int own;           /* the sub-cluster of net that the measurements of one sub-cluster are of, where their records do
                          not tell it, -1: not known */
    struct hrun_tasking tasking;  /* of NP-T models: how the work is dealt out; hrun_model_fit_joint finds it itself */
};
/* NNLS, 1 ms (what starting and timing a run jitters by at least), 2 % (run-to-run variation of a quiet
 * node). */
#define HRUN_FIT_OPTIONS_DEFAULT { HRUN_METHOD_NNLS, 1e-3, 0.02, 1, 0, NULL, -1, { 0, 0, 0 } }

/* In place of the 1 ms, for simulated hosts: nothing jitters there, and shorter times no program tells apart. */
#define HRUN_FIT_SIMULATED_ABS_S 1e-6

/* Fit the models of one sub-cluster for every M that has measurements; repetitions are rows of their own. Terms that
 * the measurements cannot tell from others are dropped, and the record's note says so (hrun-model(7), "Fitting").
 * Models for which there are too few measurements are left out; *skipped (may be NULL) says which and why, one line
 * each, and how many runs the network does not know the places of. The result does not depend on the order of samples;
 * *out has app, signature "", subcluster "", consts and dates.
 * Errors: HRUN_ENODATA when no model at all can be made (saying what became of the measurements), HRUN_ENONFINITE (a
 * time that is not finite and positive; a term that is not finite at a measured point, naming term, N and P),
 * HRUN_EINVAL (bad options, P < M), those of lib/fit. */
int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err);

/* One sub-cluster, or several alike: its signature stands once. */
struct hrun_joint_sub {
    const char *name;                   /* for the models and for messages */
    const char *signature;
    const struct hrun_sample *samples;  /* all of its log that still count, homogeneous and mixed ones */
    size_t n;
    double memory_bytes;                /* of a PE, to which the shares of corrections keep; 0: not limited */
};

/* Fit the models of subs[nsubs], out[i] those of subs[i] with name and signature, NULL where none can be made;
 * *skipped (may be NULL) tells then why, and what hrun_model_fit left out, each line with the sub-cluster's name.
 * A mixed run is found again in the logs of all that took part by its date, configuration, N and times; where one of
 * these is not in subs it counts only as a bound. A model that knows from others alone how time follows P says so in
 * its record's note, "shared with others", and has wider intervals. With LS, the reference of paper 000, each
 * sub-cluster is fitted alone.
 * Errors: HRUN_ENODATA when no model at all can be made, and those of hrun_model_fit; then out is untouched. */
int hrun_model_fit_joint(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                         const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                         struct hrun_error *err);

/* A model that is so far off, on average, cannot tell a number of PEs from twice as many, which halves the time at
 * best. */
#define HRUN_MODELS_MISS 0.5
/* Append to *which, separated by "; ", the models of models[n] (NULL: none) that miss their own measurements by more:
 * "npt of slow with 2 processes per PE". N-T models of single P are left out: they are not what choices are made by. */
void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which);

/* Append why samples[n] of one sub-cluster say too little for any model: their times hardly follow N. Nothing where all
 * is well. */
void hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out);

#endif
