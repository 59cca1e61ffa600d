/* wire.h - what one message takes, by the stages of net.h; for lib/net
 *
 * Purpose: the parameters of a message between two ranks, wherever these are, and the resources that it shares.
 * Invariants: ranks of one host have no processor's stage; limits are INFINITY where none is known.
 */
#ifndef HRUN_NET_WIRE_H
#define HRUN_NET_WIRE_H

#include "net/net.h"
#include "net/share.h"

#include <stddef.h>

/* The stage of a message of so many bytes at `rank`, sent to or received from `other`. */
double wire_processor_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, int other,
                        double bytes);

/* From the sender's stage to the first byte. */
double wire_latency_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes);

/* How many resources a network has: of each host what goes out, what comes in, its memory; then the trunks. */
size_t wire_resources(const struct hrun_net *net);

/* The flow of the bytes: limit, and resources with their weights; capacities of those are written to resources[]. */
void wire_flow(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes,
               struct share_resource *resources, struct share_flow *out);

#endif
