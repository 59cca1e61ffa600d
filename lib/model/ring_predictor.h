/* ring_predictor.h - what a predictor of rings holds; not for other rooms, nor other families
 *
 * Invariants: options are in order of sub-cluster and M, with opts beside them; what is scratch belongs to one call.
 */
#ifndef HRUN_MODEL_RING_PREDICTOR_H
#define HRUN_MODEL_RING_PREDICTOR_H

#include "model/ring_family.h"

/* What the definition says at one P. */
struct hrun_ring_known {
    struct hrun_ring_work w;
    int known;
};

struct hrun_ring_option {
    const struct hrun_fit_record *r[2];   /* measured with as many processes or fewer, with more; the same */
    double part;                          /* of the second in the interpolation */
    double k[HRUN_RING_TERMS];
    int far;                              /* 1: messages between PEs were measured, and are part of k */
    double wire[HRUN_RING_TERMS];         /* else: their terms, as others have them with one process on a PE */
    int asks;                             /* 1: nobody has them, and the network is asked */
};

struct hrun_ring {
    struct hrun_predictor base;           /* first */
    struct hrun_netview *net;             /* borrowed; NULL: there is none */
    int *place;                           /* nsubs: which sub-cluster of net each is, -1: none; NULL without net */
    int *pair;                            /* scratch: a configuration of net's sub-clusters */
    int nsubs;
    struct hrun_ring_option *opts;
    struct hrun_ring_known *works;             /* of P = 0 .. nworks-1 */
    int nworks;
    int even_q;                           /* with so many processes only options that keep max_loss; 0: no limit */
    double slowest;                       /* the most q_i/s_i of these, in seconds per unit of work */
    double *speed;                        /* nsubs: s_i of these, in units per second */
    double *own;                          /* nsubs: scratch */
    struct hrun_ring_stage *stages;       /* scratch */
    double *elapsed;                      /* 2 nstages: scratch */
    int nstages;
};

/* The options of all sub-clusters with models of these constants; *other: constants of models that have others. Errors:
 * HRUN_ENODATA (a term that is not known), HRUN_ENONFINITE, HRUN_ENOMEM; r is as far as it came. */
int hrun_ring_list_options(struct hrun_ring *r, const struct hrun_predictor_source *from, const char *consts,
                           const char **other, struct hrun_error *err);

/* Where sub-clusters are in the network, if there is one. Errors: HRUN_ENOMEM. */
int hrun_ring_place(struct hrun_ring *r, const struct hrun_predictor_source *from, struct hrun_error *err);

/* What a message takes to a PE of sub-cluster sub by the network: from another PE of it, or where it has no other from
 * those of others on average. 0 where the network does not know. Errors: those of hrun_netview_time. */
int hrun_ring_wire(struct hrun_ring *r, int sub, double bytes, double *wire_s, struct hrun_error *err);

/* The definition's work at P, asked once; NULL with *err as of hrun_app_ring_work. */
const struct hrun_ring_work *hrun_ring_work_at(struct hrun_ring *r, int P, struct hrun_error *err);

/* Seconds that the PEs of each used sub-cluster are busy, own[nsubs], and the time of the whole, or -1. Errors:
 * HRUN_ENODATA (no model), those of hrun_ring_play and hrun_app_ring_work. */
double hrun_ring_play_config(struct hrun_ring *r, const int *pes, const int *procs, int P, double *own,
                             struct hrun_error *err);

#endif
