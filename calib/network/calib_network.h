/* calib_network.h - hrun-calibrate network: measure, estimate, keep and show the network of a cluster
 *
 * Purpose: an engine starts hrun-netbench (calib/mpi) with some processes on each host. A network model (lib/net/net.h)
 * is estimated from its records, stored beside the profiles and shown.
 * Invariants: a stored network is complete; a measurement that fails or is stopped leaves the old one in place. Hosts
 * have the names that hrun uses, not those that they report.
 */
#ifndef CALIB_NETWORK_NETWORK_H
#define CALIB_NETWORK_NETWORK_H

#include "../common/calib_options.h"
#include "net/estimate.h"
#include "session/context.h"

#include <jansson.h>

/* Find the cluster, hrun-netbench and the engine for a measurement. PEs are whole nodes if there are several hosts.
 * Errors: those of the context. */
int network_context(struct context *c, struct calib_settings *s, struct hrun_error *err);

/* 1 if the options name hosts, else 0. */
int network_named(const struct settings *s);
/* For commands that need no hosts: if c->app has network terms, set c->net and c->view to the network of the hosts that
 * the options name, unless they are set. With --verbose a message names the network. Without a network, and without
 * --quiet, a message says that the terms are left out; `without` is appended to that: " of these models". Errors: those
 * of the context and of network_use. */
int network_of_options(struct context *c, const char *without, struct hrun_error *err);

/* How hrun-netbench will be started. */
struct network_plan {
    struct hrun_layout *layout;
    struct hrun_strvec words;      /* program and arguments */
};
/* Fill *out; release it also after a failure. Errors: those of hrun_layout_create. */
int network_plan(const struct context *c, const struct calib_settings *s, struct network_plan *out,
                 struct hrun_error *err);
void network_plan_release(struct network_plan *p);

/* Run hrun-netbench and read its records. *interrupted: the signal that ended it, else untouched. Errors: HRUN_EENGINE
 * (it failed, lost a host, was interrupted or took too long), HRUN_EINVAL (two hosts report the same name), those of
 * the engine. */
int network_measure(struct context *c, const struct network_plan *p, struct hrun_net_records *out, int *interrupted,
                    struct hrun_error *err);

/* Read the records that the network in `file` was estimated from. *out stays empty if they are not stored. Errors:
 * HRUN_EPARSE. */
int network_read_records(const char *file, struct hrun_net_records *out, struct hrun_error *err);

/* ---------------------------------------------------------------- network_text.c, network_json.c */

/* Text shows latencies of empty messages and bandwidths of long ones; JSON also the parameters of the model. */

/* Rate of long messages through ports, as a fraction of the ports' rates in the model. */
double network_long_share(const struct hrun_net *net);
/* Facts about a measurement that are shown beside its network; NULL or 0 if unknown. */
struct network_about {
    const struct hrun_net_quality *quality;
    double spent_s;
    size_t records;
    const char *file;              /* file of the stored network */
};

/* Append the network as tables. all = 1: every pair of classes; 0: many classes are folded into groups. */
void network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out);
/* Append the network as one JSON document. */
void network_json(const struct hrun_net *net, const struct network_about *about, struct hrun_buf *out);

#endif
