/* operation.c - the time of an operation (net.h) */
#include "base/alloc.h"
#include "net/algorithms.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- linear gather */

static int is_linear_gather(const struct hrun_net_call *call, const char *algorithm)
{
    return call->op == HRUN_NET_GATHER && !strcmp(algorithm, "linear");
}

int hrun_net_irregular(const struct hrun_net *net, const struct hrun_net_call *call, int n)
{
    const struct hrun_net_thresholds *th = &net->thresholds;
    const char *algorithm = call->algorithm ? call->algorithm : net_select(net->selector, call->op, n, call->bytes, 1);

    return n > 1 && algorithm && is_linear_gather(call, algorithm) && th->gather_M2 > 0 &&
           call->bytes >= th->gather_M1 && call->bytes <= th->gather_M2;
}

/* Apply the corrections of paper 002, section 3: of the slope, and in the irregular region. kappa2 was estimated at
 * sizes just above the region. If messages of these sizes do not wait for the root, kappa2 applies below sync_bytes. */
static void correct_gather(const struct hrun_net *net, const struct hrun_net_call *call, struct hrun_net_time *out)
{
    const struct hrun_net_thresholds *th = &net->thresholds;
    int other = net->sync_bytes > th->gather_M2 && call->bytes >= net->sync_bytes;
    double add_s = 0;

    if (!is_linear_gather(call, out->algorithm))
        return;
    if (th->gather_M1 > 0 && call->bytes < th->gather_M1)
        add_s = th->kappa1_s_per_byte * call->bytes;
    else if (th->gather_M2 > 0 && call->bytes > th->gather_M2)
        add_s = other ? 0 : th->kappa2_s_per_byte * call->bytes;
    else if (th->gather_M2 > 0) {
        out->irregular = 1;
        add_s = th->irregular_s;
    }
    out->time_s = fmax(out->time_s + add_s, 0);
}

/* ---------------------------------------------------------------- checks */

int net_check_ranks(const struct hrun_net *net, const struct hrun_net_ranks *ranks, struct hrun_error *err)
{
    if (ranks->n < 1)
        return hrun_fail(err, HRUN_EINVAL, "%d ranks: at least one is needed", ranks->n);
    for (int r = 0; r < ranks->n; r++) {
        int host = ranks->host[r];

        if (host < 0 || host >= net->nhosts)
            return hrun_fail(err, HRUN_EINVAL, "rank %d is on host %d, and the network has hosts 0 to %d", r, host,
                             net->nhosts - 1);
        if (ranks->kind && (ranks->kind[r] < 0 || ranks->kind[r] >= net->classes[net->class_of[host]].nkinds))
            return hrun_fail(err, HRUN_EINVAL, "rank %d is on a PE of kind %d, and host %s has kinds 0 to %d", r,
                             ranks->kind[r], net->hosts[host], net->classes[net->class_of[host]].nkinds - 1);
    }
    return 0;
}

int net_check_call(const struct hrun_net_call *call, int n, struct hrun_error *err)
{
    if ((int)call->op < 0 || call->op >= HRUN_NET_NOPS)
        return hrun_fail(err, HRUN_EINVAL, "operation %d is unknown", (int)call->op);
    if (!(call->bytes >= 0) || !isfinite(call->bytes))
        return hrun_fail(err, HRUN_EINVAL, "%s of %g bytes: a finite number that is not negative is needed",
                         hrun_net_op_name(call->op), call->bytes);
    if (call->root < 0 || call->root >= n)
        return hrun_fail(err, HRUN_EINVAL, "root %d of %d ranks: 0 to %d is needed", call->root, n, n - 1);
    return 0;
}

static int check_pairs(const struct hrun_net *net, const struct hrun_net_ranks *ranks, const struct net_hosts *hosts,
                       struct hrun_error *err)
{
    for (int a = 0; a < hosts->nhosts; a++)
        for (int b = 0; b < hosts->nhosts; b++) {
            int i = ranks->host[hosts->leader[a]], j = ranks->host[hosts->leader[b]];

            if (i != j && net_pair(net, i, j)->beta_bytes_per_s.v <= 0)
                return hrun_fail(err, HRUN_ENODATA, "nothing was measured between hosts %s and %s: measure the network "
                                 "with both", net->hosts[i], net->hosts[j]);
        }
    return 0;
}

const struct net_algorithm *net_algorithm_of_call(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                                                  int uniform, struct hrun_error *err)
{
    const char *selected = net_select(net->selector, call->op, n, call->bytes, uniform);
    const char *wanted = call->algorithm ? call->algorithm : selected;
    const struct net_algorithm *found;

    /* The selector must be known: it may choose parts of the caller's algorithm (reduce-bcast). */
    if (!selected) {
        hrun_fail(err, HRUN_EINVAL, "the network's selector '%s' is unknown", net->selector);
        return NULL;
    }
    found = net_algorithm_find(call->op, wanted);
    if (!found)
        hrun_fail(err, HRUN_EINVAL, "%s has no algorithm '%s'", hrun_net_op_name(call->op), wanted);
    return found;
}

/* ---------------------------------------------------------------- the whole */

int hrun_net_predict(const struct hrun_net *net, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                     struct hrun_net_time *out, struct hrun_error *err)
{
    struct net_task task = { .n = ranks->n, .stride = 1, .root = call->root, .bytes = call->bytes,
                             .selector = net->selector, .scatter_S = net->thresholds.scatter_S,
                             .gather_M2 = net->thresholds.gather_M2 };
    const struct net_algorithm *algorithm;
    autorelease(net_hosts_release) struct net_hosts hosts = { 0 };
    autorelease(play_release) struct play_schedule schedule = { 0 };
    struct hrun_net_time t = { 0 };

    if (net_check_ranks(net, ranks, err) || net_check_call(call, ranks->n, err))
        return -1;
    net_hosts_find(ranks, &hosts);
    task.hosts = &hosts;
    algorithm = net_algorithm_of_call(net, call, ranks->n, hosts.uniform, err);
    if (!algorithm || check_pairs(net, ranks, &hosts, err))
        return -1;
    t.algorithm = algorithm->name;
    if (!algorithm->program) {
        for (int r = 0; r + 1 < ranks->n; r++)
            t.time_s = fmax(t.time_s, hrun_net_p2p(net, ranks->host[r], ranks->kind ? ranks->kind[r] : 0,
                                                   ranks->host[r + 1], ranks->kind ? ranks->kind[r + 1] : 0,
                                                   call->bytes));
    } else if (ranks->n > 1) {
        play_begin(&schedule, ranks->n);
        for (int r = 0; r < ranks->n; r++) {
            play_rank(&schedule, r);
            net_add_steps(&schedule, &task, r, algorithm);
        }
        if (play_run(&schedule, net, ranks, &t.time_s, err))
            return -1;
    }
    if (ranks->n > 1)
        correct_gather(net, call, &t);
    *out = t;
    return 0;
}

double hrun_net_time(const struct hrun_net *net, const char *operation, double bytes, int root, const char *algorithm,
                     const int *host, int n, const char **used, struct hrun_error *err)
{
    struct hrun_net_ranks ranks = { .n = n, .host = host };
    struct hrun_net_call call = { .bytes = bytes, .root = root, .algorithm = algorithm };
    struct hrun_net_time time;
    int op = hrun_net_op_find(operation);

    if (op < 0) {
        hrun_fail(err, HRUN_EINVAL, "there is no operation '%s'", operation);
        return NAN;
    }
    call.op = (enum hrun_net_op)op;
    if (hrun_net_predict(net, &call, &ranks, &time, err))
        return NAN;
    if (used)
        *used = time.algorithm;
    return time.time_s;
}
