/* log_corrections.h - corrections of predicted times by earlier runs; see model/corrections.h */
#ifndef HRUN_SESSION_LOG_CORRECTIONS_H
#define HRUN_SESSION_LOG_CORRECTIONS_H

#include "session/context.h"

/* Selects the runs of a log that have the cluster and the constants of a context. */
struct log_filter {
    struct hrun_buf cluster, consts;
};

void log_filter_make(const struct context *c, struct log_filter *out);
/* 1 if a run has this cluster, these constants, size N and a recorded configuration, else 0. */
int log_filter_accepts(const struct log_filter *f, const struct hrun_sample *s, int64_t N);
void log_filter_release(struct log_filter *f);

/* The corrections from the logs of the sub-clusters that have models, at a size N. */
struct corrected {
    int n;
    struct hrun_known *known;             /* n configurations and their factors; a configuration that failed in
                                             calibrations at this N, and never succeeded there, is excluded */
    struct hrun_correction *details;      /* n: corrections of the configurations in `known` */
    struct hrun_corrections *all;
    struct hrun_strvec failed;            /* the excluded configurations, as "(4,1,0,0)" */
    struct hrun_strvec tried;             /* configurations that failed only in other runs, perhaps by accident: they
                                             may be chosen, but --explore does not try them again */
    char *why;                            /* the logged status of the last of `failed`; NULL: none */
    double *pace;                         /* nsubs (hrun_waits_pace), for unequal shares; NULL: no run was traced */
};

/* Read the logs of the sub-clusters that have models, compute the corrections for from->N and from->sharing, set
 * from->common to out->all, and create *predictor from `from`. On failure nothing needs release. Errors: those of the
 * store, hrun_corrections_create, hrun_predictor_create_net and hrun_waits_pace. */
int corrected_load(struct context *c, struct hrun_predictor_source *from, struct corrected *out,
                   struct hrun_predictor **predictor, struct hrun_error *err);
void corrected_release(struct corrected *k);

/* The correction of a configuration; NULL: none. */
const struct hrun_correction *corrected_find(const struct corrected *k, const struct hrun_config *config);

/* 1 if a configuration is one of `tried`, else 0. */
int corrected_tried(const struct corrected *k, const struct hrun_config *config);

#endif
