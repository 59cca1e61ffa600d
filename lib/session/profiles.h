/* profiles.h - the models of a cluster's sub-clusters, as stored or fitted again
 *
 * Invariants: loaded models do not change; decisions of any size N may borrow them.
 */
#ifndef HRUN_SESSION_PROFILES_H
#define HRUN_SESSION_PROFILES_H

#include "session/context.h"

struct sub_profile {
    struct hrun_models *models;   /* owned; NULL: no usable profile */
    char *why_not;                /* owned; why the profile is not usable; or NULL */
    int needs_network;            /* 1: not usable, as the formula needs a network, and none was measured */
    enum hrun_code unreadable;    /* error of reading the stored profile; 0: it was read, or there is none */
    const char *other_engine;     /* an engine that has a profile, if c->engine has none; else NULL */
};

struct profiles {
    int nsubs;                    /* 0: nothing is loaded */
    struct sub_profile *subs;
    int have;                     /* number of sub-clusters with models */
    enum hrun_method method;      /* of the models */
    int nsamples;                 /* measurements that the models were fitted to */
    double newest_s;              /* age of the newest measurement; -1: not known */
    double network_s;             /* age of the network; -1: not known */
    char *measured_with;          /* settings of the calibration if they differ (conditions.h); else NULL; owned */
    char *network_note;           /* a note for the user about the network, or NULL; owned */
};

/* Load the models of all sub-clusters for c->app, or the reasons why they are not usable. For a definition with network
 * terms load the network (network_use), and fit the models again if they were fitted without the network, or with one
 * that is gone. With --network, c->view is then the network of the given file (network_suppose).
 * Errors: those of the store, network_use, network_suppose and lib/model; *out is not changed then. A profile that
 * cannot be read is no error, but sets `unreadable`. */
int profiles_load(struct context *c, struct profiles *out, struct hrun_error *err);
void profiles_release(struct profiles *p);

/* Append the signature under which the store has the speed of a sub-cluster's PEs (HRUN_PERF_APP). It contains the kind
 * of PE alone, as engine and MPI do not change the speed. */
void profiles_speed_signature(const struct hrun_subcluster *sub, struct hrun_buf *out);

#endif
