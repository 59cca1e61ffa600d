/* network.h - hrun-calibrate network: measure, estimate, keep and show the network of a cluster
 *
 * Purpose: hrun-netbench (calib/net) is started through the engines with some processes on each host; its records
 * become a network model (lib/net/estimate.h), which is kept beside the profiles and shown.
 * Invariants: what is kept is complete: a measurement that failed or was stopped leaves what there was; hosts have the
 * names by which hrun knows them.
 */
#ifndef CALIB_NETWORK_NETWORK_H
#define CALIB_NETWORK_NETWORK_H

#include "../../hrun/network.h"
#include "../options.h"

#include "net/estimate.h"

#include <jansson.h>

/* Cluster, benchmark and engine of what is to be measured: PEs are whole nodes where there are several hosts. Errors:
 * those of the context. */
int network_context(struct context *c, struct calib_settings *s, struct hrun_error *err);

/* How it will be started. */
struct network_plan {
    struct hrun_layout *layout;
    struct hrun_strvec words;      /* program and arguments */
};
/* Errors: HRUN_EINVAL, HRUN_ENOMEM; *out is then to be released as well. */
int network_plan(const struct context *c, const struct calib_settings *s, struct network_plan *out,
                 struct hrun_error *err);
void network_plan_release(struct network_plan *p);

/* Start it. *interrupted: the signal that ended it, else untouched. Errors: HRUN_EENGINE (it failed, lost a host, was
 * interrupted or took too long), HRUN_EINVAL (hosts that call themselves the same), those of the engine. */
int network_measure(struct context *c, const struct network_plan *p, struct hrun_net_records *out, int *interrupted,
                    struct hrun_error *err);

/* ---------------------------------------------------------------- show.c, json.c */

/* What is said of a measurement beside its network; NULL or 0 where nothing is known. */
struct network_about {
    const struct hrun_net_quality *quality;
    double spent_s;
    size_t records;
    const char *file;              /* where it is kept */
};

/* Append the network as tables; all = 1: every pair of classes, else folded where they are many. Errors:
 * HRUN_ENOMEM. */
int network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out,
                 struct hrun_error *err);
/* The same as one JSON document. */
int network_json(const struct hrun_net *net, const struct network_about *about, struct hrun_buf *out,
                 struct hrun_error *err);

#endif
