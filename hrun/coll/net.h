/* net.h - the network as libhrun-coll.so knows it: reading lib/net/collwire.h, and what a message takes
 *
 * Purpose: the parameters of lib/net/net.h without anything of ours to link with, and the stages of a message one after
 * the other (play.h).
 * Invariants: read once, then unchanged; all indices are in range, all times finite and >= 0, rates >= 0 (0: no limit).
 * What is computed from it is the same on all ranks: additions, multiplications and comparisons in one order, compiled
 * without contraction (-ffp-contract=off).
 */
#ifndef HRUN_COLL_NET_H
#define HRUN_COLL_NET_H

#include <stdint.h>

enum coll_op { COLL_SCATTER, COLL_GATHER, COLL_BCAST, COLL_OPS };
extern const char *const coll_op_names[COLL_OPS];

struct coll_class {
    double C_s, t_s_per_byte, out, in, local;
    int nkinds;
    double *fixed_s, *per_byte;   /* nkinds by nkinds */
};

struct coll_pair {
    double L_s, beta;             /* beta 0: not measured */
};

struct coll_segment {
    double from, a, b;
};

struct coll_rule {                /* what the MPI library takes */
    enum coll_op op;
    int n;
    double bytes;
    char algorithm[32];
};

struct coll_net {
    int nranks, nhosts, nclasses, ngroups, nsegments, nrules, patience, tell;
    double sync, margin, cost_s, M1, M2, irregular_s;
    struct coll_segment *segments;
    struct coll_class *classes;
    struct coll_pair *pairs;      /* nclasses by nclasses */
    double *trunks;               /* ngroups by ngroups */
    int *class_of, *group_of;     /* nhosts */
    int *host, *kind;             /* nranks */
    struct coll_rule *rules;      /* as they stand in the text */
    char forced[COLL_OPS][16];    /* a way, or "" */
};

/* NULL: the text is damaged or of another version, or there is no memory. */
struct coll_net *coll_net_read(const char *text);
void coll_net_free(struct coll_net *net);

/* Factors of a size. */
const struct coll_segment *coll_segment(const struct coll_net *net, double bytes);
/* A message alone, from a rank on a host and kind to another one; -1: it is not known what that takes. */
double coll_p2p(const struct coll_net *net, int from, int from_kind, int to, int to_kind, double bytes);
/* What the MPI library takes for n ranks; NULL: it is not known. */
const struct coll_rule *coll_rule(const struct coll_net *net, enum coll_op op, int n, double bytes);

#endif
