/* context_network.h - the network of the cluster's hosts: under which words it is kept, and which one there is
 *
 * Purpose: hrun-calibrate network stores networks and shows them; hrun and the rest of hrun-calibrate find them.
 * Invariants: the same hosts have one network for all engines that start real processes, as these talk by the same MPI
 * over the same wires; parameters of Open MPI that choose other wires make another network, and so do another platform
 * and parameters of SimGrid, whose hosts may have the names of those of any other. A network is loaded once: it is the
 * context's. One that is supposed (set->network) is what predictions ask; runs were made on the measured one.
 */
#ifndef HRUN_SESSION_CONTEXT_NETWORK_H
#define HRUN_SESSION_CONTEXT_NETWORK_H

#include "session/context.h"

/* What a network is kept by (net.h: hrun_net_file, hrun_net_choose). */
struct network_key {
    struct hrun_buf engine, mpi;
    const char **hosts;            /* of the cluster, in its order; the array is owned, the names are the cluster's */
    int nhosts;
};
/* Needs cluster, program and engine. Errors: HRUN_EIO (the platform); *out is then to be released as well. */
int network_key(const struct context *c, struct network_key *out, struct hrun_error *err);
void network_key_release(struct network_key *k);

/* The network for the hosts of the cluster; *out = NULL: none was measured. *file (may be NULL): where it is kept. A
 * damaged one is told in *note (may be NULL) and passed over. Errors: those of network_key and hrun_net_choose. */
int network_find(const struct context *c, struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note,
                 struct hrun_error *err);

/* The network that is asked into c->net, unless it is there: set->network, else as network_find. Errors: those of
 * network_find and hrun_net_load; HRUN_ENODATA (set->network has not got a host of the cluster). */
int network_load(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* For a definition with network terms (lib/app): the network on which runs were made into c->net and c->view; NULL
 * where none was measured, and none is given. For other definitions nothing happens. note: as network_find. Errors:
 * those of network_load. */
int network_use(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* After network_use, and once models are fitted: set->network, if any, becomes c->net and c->view, and what they were
 * c->measured_net and c->measured. Errors: as above; then nothing changes. */
int network_suppose(struct context *c, struct hrun_error *err);

/* Append the command that measures the network of this cluster, as it was given. */
void network_command(const struct context *c, struct hrun_buf *out);

#endif
