/* profiles.h - the models of a cluster's sub-clusters, for a decision */
#ifndef HRUN_PROFILES_H
#define HRUN_PROFILES_H

#include "decide.h"

/* Load the models of all sub-clusters into d->subs, and say why one has none that can be used: d->method (that of the
 * models, where --fit says nothing), d->nsamples and d->newest_s tell of them all. Result: how many sub-clusters have
 * models; -1 on errors: those of the store, also that a profile cannot be read which the decision needs. */
int profiles_load(struct context *c, const struct hrun_settings *s, struct decision *d, struct hrun_error *err);

/* For a definition with network terms and models of some sub-cluster: find the network (network_use), and where the
 * models were fitted without it, or with one that is not there any more, fit them anew. d->network_s and network_note
 * tell. Errors: those of network_use, of the store and of lib/model. */
int profiles_network(struct context *c, struct decision *d, struct hrun_error *err);

#endif
