/* share.h - how flows of bytes share what they run through; for lib/net
 *
 * Purpose: max-min fair rates (Bertsekas and Gallager, Data Networks, section 6.5.2): no flow's rate can be raised but
 * at the cost of a flow that has no more than it, as their shares weigh them. A flow has a limit of its own, and takes
 * of each resource that it uses its rate times a weight.
 * Invariants: weights, shares and capacities are > 0; limits are > 0, INFINITY stands for none; a flow without a limit
 * uses at least one resource.
 */
#ifndef HRUN_NET_SHARE_H
#define HRUN_NET_SHARE_H

/* Ports of sender and receiver, the trunk, and the three on the way back. */
enum { SHARE_USES = 6 };

struct share_flow {
    int nuse;
    int use[SHARE_USES];       /* resources, each once */
    double weight[SHARE_USES];
    double share;              /* what its rate rises by when that of a flow of share 1 rises by 1 */
    double limit, rate;        /* bytes/s; rate is the result */
    int message;               /* the caller's */
    double left;               /* the caller's */
};

struct share_resource {
    double capacity;           /* bytes/s; the rest is scratch */
    double left;
    double weight;
    int unset;                 /* flows that use it and have no rate yet */
    int first, end;            /* of those that use it, in share_space.users */
    int listed;
};

/* Memory to work in: list of as many ints as there are resources, heap of as many as flows, users of SHARE_USES times
 * as many. */
struct share_space {
    int *list, *heap, *users;
};

/* Rates of flows[n]. In resources `listed` is 0 before and after. */
void share_rates(struct share_flow *flows, int n, struct share_resource *resources, const struct share_space *space);

#endif
