/* context_network.h - find and load the network of the cluster's hosts
 *
 * Purpose: `hrun-calibrate network` stores and shows networks; hrun and the rest of hrun-calibrate find them.
 * Invariants: all engines with real processes share one network per set of hosts, as their MPI uses the same links.
 * Open MPI parameters that choose other links, another platform, and parameters of SimGrid each make another network.
 * A network is loaded once, into the context. With --network, predictions use the file of this option; the models of
 * runs use the measured network.
 */
#ifndef HRUN_SESSION_CONTEXT_NETWORK_H
#define HRUN_SESSION_CONTEXT_NETWORK_H

#include "session/context.h"

/* The key under which a network is stored (hrun_net_file, hrun_net_choose). */
struct network_key {
    struct hrun_buf engine, mpi;
    const char **hosts;            /* nhosts names in the order of the cluster, which owns them; the array is owned */
    int nhosts;
};
/* Fill *out; needs cluster, program and engine. Errors: HRUN_EIO (the platform file). Release *out in any case. */
int network_key(const struct context *c, struct network_key *out, struct hrun_error *err);
void network_key_release(struct network_key *k);

/* Find the network of the cluster's hosts; *out = NULL: none was measured. *file (may be NULL): its path. A damaged
 * file is skipped with a text in *note (may be NULL). Errors: those of network_key and hrun_net_choose. */
int network_find(const struct context *c, struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note,
                 struct hrun_error *err);

/* Load the network for predictions into c->net unless it is loaded: set->network, else as network_find. Errors: those
 * of network_find and hrun_net_load; HRUN_ENODATA (the file lacks a host of the cluster). */
int network_load(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* If the definition has network terms, load the network that runs were measured on into c->net and c->view (NULL: none
 * measured or given). note: as in network_find. Errors: those of network_load. */
int network_use(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* Call after network_use, when models are fitted: with set->network, move c->net and c->view to c->measured_net and
 * c->measured, and load the file in their place. Errors: as network_use; then nothing changes. */
int network_suppose(struct context *c, struct hrun_error *err);

/* Append the command that measures the network of this cluster. */
void network_command(const struct context *c, struct hrun_buf *out);

#endif
