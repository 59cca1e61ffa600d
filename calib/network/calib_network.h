/* calib_network.h - hrun-calibrate network: measure, estimate, keep and show the network of a cluster
 *
 * Purpose: hrun-netbench (calib/mpi) is started through the engines with some processes on each host; its records
 * become a network model (lib/net/net.h), which is kept beside the profiles and shown.
 * Invariants: what is kept is complete: a measurement that failed or was stopped leaves what there was; hosts have the
 * names by which hrun knows them.
 */
#ifndef CALIB_NETWORK_NETWORK_H
#define CALIB_NETWORK_NETWORK_H

#include "../common/calib_options.h"
#include "net/estimate.h"
#include "session/context.h"

#include <jansson.h>

/* Cluster, benchmark and engine of what is to be measured: PEs are whole nodes where there are several hosts. Errors:
 * those of the context. */
int network_context(struct context *c, struct calib_settings *s, struct hrun_error *err);

/* Do the options name hosts? 1 or 0. */
int network_named(const struct settings *s);
/* For commands that need no hosts: where c->app has network terms, set c->net and c->view to the network of the hosts
 * that the options name, unless they are set. stderr says with --verbose which network is used, and unless --quiet
 * that none is; without: what lacks these terms then (" of these models"). Errors: those of the context and of
 * network_use. */
int network_of_options(struct context *c, const char *without, struct hrun_error *err);

/* How it will be started. */
struct network_plan {
    struct hrun_layout *layout;
    struct hrun_strvec words;      /* program and arguments */
};
/* Errors: those of hrun_layout_create; *out is then to be released as well. */
int network_plan(const struct context *c, const struct calib_settings *s, struct network_plan *out,
                 struct hrun_error *err);
void network_plan_release(struct network_plan *p);

/* Start it. *interrupted: the signal that ended it, else untouched. Errors: HRUN_EENGINE (it failed, lost a host, was
 * interrupted or took too long), HRUN_EINVAL (hosts that call themselves the same), those of the engine. */
int network_measure(struct context *c, const struct network_plan *p, struct hrun_net_records *out, int *interrupted,
                    struct hrun_error *err);

/* The records that the network in `file` was estimated from; none where they are not kept. Errors: HRUN_EPARSE. */
int network_read_records(const char *file, struct hrun_net_records *out, struct hrun_error *err);

/* ---------------------------------------------------------------- network_text.c, network_json.c */

/* Text tells latencies of empty messages and the bandwidth of long ones, JSON the parameters of the model as well. */

/* What ports carry of long messages, as a part of what the model says of them. */
double network_long_share(const struct hrun_net *net);
/* What is said of a measurement beside its network; NULL or 0 where nothing is known. */
struct network_about {
    const struct hrun_net_quality *quality;
    double spent_s;
    size_t records;
    const char *file;              /* where it is kept */
};

/* Append the network as tables; all = 1: every pair of classes, else folded where they are many. */
void network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out);
/* The same as one JSON document. Errors: those of hrun_json_print. */
void network_json(const struct hrun_net *net, const struct network_about *about, struct hrun_buf *out);

#endif
