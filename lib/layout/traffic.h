/* traffic.h - what the messages of a pattern take when its slots are on certain hosts; private to lib/layout
 *
 * Purpose: the cost function of placement.h. A slot is a PE that is used: slots follow each other as their ranks do.
 * Invariants: evaluating allocates nothing and depends on nothing but the hosts given.
 */
#ifndef HRUN_LAYOUT_TRAFFIC_H
#define HRUN_LAYOUT_TRAFFIC_H

#include "layout/placement.h"

struct traffic_message {
    int from, to;              /* slots */
    long long count;           /* such messages */
};

struct traffic {
    const struct hrun_net *net;
    double bytes;
    int nslots;
    const int *kind;           /* nslots: kind of PE of each, as the cluster counts them; the caller's */
    struct traffic_message *v;
    size_t n;
    long long total;           /* messages */
    double factor_b;           /* of the bytes' time, of messages of that size */
    double *out, *in, *local;  /* net->nhosts: messages through each port */
    double *trunk;             /* ngroups by ngroups */
};

/* procs[nslots]: ranks of each slot. Errors: HRUN_ENOMEM. */
int traffic_create(const struct hrun_net *net, enum hrun_pattern pattern, double bytes, const int *procs,
                   const int *kind, int nslots, struct traffic *t, struct hrun_error *err);
void traffic_release(struct traffic *t);

/* hosts[nslots]: the network's host of each slot. slowest_s is NAN where two hosts send of which nothing was measured:
 * *from and *to (may be NULL) then tell which. */
struct hrun_placement_cost traffic_cost(struct traffic *t, const int *hosts, int *from, int *to);

#endif
