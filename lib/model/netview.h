/* netview.h - create views of networks, and get times and bounds from them; for lib/model alone */
#ifndef HRUN_MODEL_NETVIEW_H
#define HRUN_MODEL_NETVIEW_H

#include "model/model.h"

/* The source of times of operations. */
struct hrun_netview_source {
    const void *ctx;           /* must outlive the view */
    int nhosts;                /* hosts are 0..nhosts-1 */
    /* Time of an operation among ranks, n >= 2. 0, or -1 with *err. */
    int (*predict)(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err);
    /* Lower bound of the time among n ranks, of which only `some` are known; at most `beside` of the others are on a
     * host of `some`. NAN with *err. NULL: all bounds are 0. */
    double (*bound)(const void *ctx, const struct hrun_net_call *call, int n, const struct hrun_net_ranks *some,
                    int beside, struct hrun_error *err);
};

struct hrun_netview_pe {
    int host;                  /* of the source */
    int kind;                  /* kind of PE on the host */
    int group;                 /* component of the job */
};

struct hrun_netview_sub {
    const char *name;
    int npes;
    const struct hrun_netview_pe *pes;   /* in the order in which they are used */
};

/* Returns the source that predicts from a network, which must outlive the view. Hosts are those of the network. */
struct hrun_netview_source hrun_netview_source_of(const struct hrun_net *net);

/* Create the view of subs[nsubs] on a source; all but the source's ctx is copied. Errors: HRUN_EINVAL (a host outside
 * the source). */
struct hrun_netview *hrun_netview_of(const struct hrun_netview_source *source, const struct hrun_netview_sub *subs,
                                     int nsubs, struct hrun_error *err);
/* Set *time_s to the time of one operation among the ranks of a configuration; 0 with one rank. Errors: HRUN_EINVAL
 * (more PEs than the view has, no rank), those of the source. */
int hrun_netview_time(struct hrun_netview *v, enum hrun_net_op op, double bytes, const struct hrun_config *config,
                      double *time_s, struct hrun_error *err);

/* A lower bound in s of the time of call in every configuration that has P processes and uses the option. NAN with
 * *err; errors: as above. */
double hrun_netview_bound(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_option *option,
                          int P, struct hrun_error *err);

/* A lower bound in s of the time of call in every configuration that has P processes and is equal to *config on
 * sub-clusters 0..known-1; *config uses no others. NAN with *err; errors: as above. */
double hrun_netview_part(struct hrun_netview *v, const struct hrun_net_call *call, const struct hrun_config *config,
                         int known, int P, struct hrun_error *err);

/* Get the next sub-cluster used in a record's `config`, like "(4,1,0,0,2,2)": its place in the text, PEs and processes
 * per PE. Before the first call *at is the text and *place is -1. Returns 1; 0 after the last; -1 if the text is
 * invalid. */
int hrun_config_next(const char **at, int *place, int *pes, int *procs);

/* Set *out to the configuration of a run, by the names in its record. own: the sub-cluster of its log, for runs on one
 * sub-cluster whose record does not name it (-1: not known). Returns 1, or 0 if the view has no such sub-clusters or
 * PEs. */
int hrun_netview_config(const struct hrun_netview *v, const struct hrun_sample *s, int own, struct hrun_config *out);

#endif
