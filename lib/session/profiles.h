/* profiles.h - the models of a cluster's sub-clusters, as they are stored or, where that is needed, fitted anew
 *
 * Invariants: once loaded they are not changed; decisions of any size N may borrow them.
 */
#ifndef HRUN_SESSION_PROFILES_H
#define HRUN_SESSION_PROFILES_H

#include "session/context.h"

struct sub_profile {
    struct hrun_models *models;   /* owned; NULL: no profile that can be used */
    char *why_not;                /* owned; why it cannot, or NULL */
    int needs_network;            /* 1: it cannot because its formula needs the network, which was not measured */
    enum hrun_code unreadable;    /* why the stored profile cannot be read; 0: it can, or there is none */
    const char *other_engine;     /* no profile for this engine, but for that one; or NULL */
};

struct profiles {
    int nsubs;                    /* 0: nothing is loaded */
    struct sub_profile *subs;
    int have;                     /* number of sub-clusters with models */
    enum hrun_method method;      /* of the models */
    int nsamples;                 /* measurements behind the models */
    double newest_s;              /* age of the newest, -1 unknown */
    double network_s;             /* of the network, -1 unknown */
    char *measured_with;          /* settings of the calibration, where c has others (context.h), or NULL; owned */
    char *network_note;           /* a note for the user about the network, or NULL; owned */
};

/* Load the models of all sub-clusters for c->app, and say why one has none that can be used. For a definition with
 * network terms find the network (network_use), and where the models were fitted without it, or with one that is not
 * there any more, fit them anew; c->view is then that of the network that is supposed, if one is (network_suppose).
 * Errors: those of the store, of network_use, network_suppose and lib/model; nothing is kept then. A profile that
 * cannot be read is none of them. */
int profiles_load(struct context *c, struct profiles *out, struct hrun_error *err);
void profiles_release(struct profiles *p);

/* Append the name by which the store knows the speed of a sub-cluster's PEs (HRUN_PERF_APP): that of the kind of PE
 * alone, as neither engine nor MPI change how quick it is. */
void profiles_speed_signature(const struct hrun_subcluster *sub, struct hrun_buf *out);

#endif
