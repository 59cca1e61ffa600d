/* netview.h - make views of networks, and ask them for times and bounds; for lib/model alone
 */
#ifndef HRUN_MODEL_NETVIEW_H
#define HRUN_MODEL_NETVIEW_H

#include "model/model.h"

/* Where times come from. */
struct hrun_netview_source {
    const void *ctx;           /* must outlive the view */
    int nhosts;                /* hosts are 0..nhosts-1 */
    /* Time of an operation among ranks, n >= 2. 0, or -1 with *err. */
    int (*predict)(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err);
    /* A lower bound of it among n ranks, of which `some` take part; the others are anywhere, at most `beside` of them
     * on each host of `some`. NAN with *err. NULL: all bounds are 0. */
    double (*bound)(const void *ctx, const struct hrun_net_call *call, int n, const struct hrun_net_ranks *some,
                    int beside, struct hrun_error *err);
};

struct hrun_netview_pe {
    int host;                  /* of the source */
    int kind;                  /* of PE on it */
    int group;                 /* component of the job */
};

struct hrun_netview_sub {
    const char *name;
    int npes;
    const struct hrun_netview_pe *pes;   /* in the order in which they are used */
};

/* The source that predicts from a network, which must outlive the view; hosts are the network's. */
struct hrun_netview_source hrun_netview_source_of(const struct hrun_net *net);

/* The view of any source and subs[nsubs]; all is copied but the source's ctx. Errors: HRUN_EINVAL (a host that the
 * source has not got). */
struct hrun_netview *hrun_netview_of(const struct hrun_netview_source *source, const struct hrun_netview_sub *subs,
                                     int nsubs, struct hrun_error *err);
/* Time in s of one operation with so many bytes, among the ranks of a configuration; with one rank 0. Errors:
 * HRUN_EINVAL (more PEs than there are, no rank), those of the source. */
int hrun_netview_time(struct hrun_netview *v, enum hrun_net_op op, double bytes, const struct hrun_config *config,
                      double *time_s, struct hrun_error *err);

/* A lower bound in s of the time of call in every configuration that has P processes and uses the option. NAN with
 * *err; errors: as above. */
double hrun_netview_bound(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_option *option,
                          int P, struct hrun_error *err);

/* A lower bound in s of the time of call in every configuration that has P processes and is equal to this one on
 * sub-clusters 0..known-1; this one uses no others. NAN with *err; errors: as above. */
double hrun_netview_part(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_config *config,
                         int known, int P, struct hrun_error *err);

/* The sub-clusters used in a record's text `config`, "(4,1,0,0,2,2)", one after the other: their place in the text, PEs
 * and processes per PE. Before the first call *at is the text, *place -1. Result: 1, 0: there are no more, -1: the text
 * is none. */
int hrun_config_next(const char **at, int *place, int *pes, int *procs);

/* The configuration of a run, by the names in its record; own: the sub-cluster in whose log
 * it is, where the record does not tell it of a run on one alone (-1: not known). 1, or 0 when the view has no such
 * sub-clusters or PEs. */
int hrun_netview_config(const struct hrun_netview *v, const struct hrun_sample *s, int own, struct hrun_config *out);

#endif
