/* tune.h - what libhrun-coll.so is told of the network of a run
 *
 * Purpose: the parameters of the hosts that ranks are on, and what the MPI library takes for as many ranks, as the text
 * that collwire.h describes.
 */
#ifndef HRUN_NET_TUNE_H
#define HRUN_NET_TUNE_H

#include "net/collwire.h"
#include "net/net.h"

struct hrun_net_tune_options {
    double margin;             /* part of the time that another way must save. 0.1: where predictions are right within
                                  5 %, on either side, it does */
    double cost_s;             /* and how long. 5e-6: what looking up, and memory for the requests, takes, some us */
    int patience;              /* calls of an operation before its way is chosen, so that choosing, some 100 us, is paid
                                  for by calls that are made often */
    int tell;                  /* 1: at the end the processes tell what was tuned */
};
#define HRUN_NET_TUNE_DEFAULT { 0.1, 5e-6, 4, 0 }

/* Append the text for a world of these ranks. Errors: HRUN_EINVAL (a host or kind out of range, no rank), HRUN_ENODATA
 * (the text would be longer than HRUN_COLL_TEXT: too many unlike hosts or too many runs of ranks), HRUN_ENOMEM. */
int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err);

#endif
