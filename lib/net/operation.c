/* operation.c - the time of an operation (net.h)
 *
 * Intervals: for each kind of parameter (C, t, L, beta, ports, trunks, what is local) the operation is played again
 * with all of that kind worse by their half widths at once; the differences of the kinds, which are estimated from
 * different experiments, add as the root of the sum of squares. Within a kind the errors of hosts are taken to go
 * together, which makes the interval wide rather than narrow.
 */
#include "net/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one play */

struct prediction {
    const struct hrun_net_call *call;
    const struct hrun_net_ranks *ranks;
    struct play_schedule schedule;
};

static int plan(const struct hrun_net *net, const struct hrun_net_call *call, const struct net_hosts *hosts, int n,
                net_program *program, struct play_schedule *out, struct hrun_error *err)
{
    struct net_task task = { .n = n, .root = call->root, .bytes = call->bytes, .selector = net->selector,
                             .scatter_S = net->thresholds.scatter_S, .gather_M2 = net->thresholds.gather_M2,
                             .hosts = hosts };

    play_begin(out, n);
    for (int r = 0; r < n && !out->failed; r++) {
        play_rank(out, r);
        program(out, &task, r);
    }
    if (out->failed) {
        play_release(out);
        return hrun_fail_nomem(err);
    }
    return 0;
}

/* Of neighbours each pair is played alone. */
static int play(const struct hrun_net *net, const struct prediction *p, double *time_s, struct hrun_error *err)
{
    double slowest_s = 0, t_s;

    if (p->call->op != HRUN_NET_P2P)
        return play_run(&p->schedule, net, p->ranks, time_s, err);
    for (int r = 0; r + 1 < p->ranks->n; r++) {
        struct hrun_net_ranks two = { 2, p->ranks->host + r, p->ranks->kind ? p->ranks->kind + r : NULL };

        if (play_run(&p->schedule, net, &two, &t_s, err))
            return -1;
        slowest_s = fmax(slowest_s, t_s);
    }
    *time_s = slowest_s;
    return 0;
}

/* ---------------------------------------------------------------- worse by half an interval */

static int worse_time(struct hrun_net_value *x)
{
    if (!(x->half > 0))
        return 0;
    x->v += x->half;
    return 1;
}

/* As much slower in relation as it is uncertain; never 0, which is no limit. */
static int worse_rate(struct hrun_net_value *x)
{
    if (!(x->half > 0) || x->v <= 0)
        return 0;
    x->v *= x->v / (x->v + x->half);
    return 1;
}

enum worse_kind { WORSE_C, WORSE_T, WORSE_PORTS, WORSE_LOCAL, WORSE_L, WORSE_BETA, WORSE_TRUNKS, WORSE_KINDS };

static int worse_classes(struct hrun_net_class *classes, int n, enum worse_kind kind, struct hrun_net_value *locals)
{
    int changed = 0;

    for (struct hrun_net_class *c = classes; c < classes + n; c++) {
        size_t size = (size_t)c->nkinds * (size_t)c->nkinds;

        if (kind == WORSE_C)
            changed += worse_time(&c->C_s);
        if (kind == WORSE_T)
            changed += worse_time(&c->t_s_per_byte);
        if (kind == WORSE_PORTS)
            changed += worse_rate(&c->out_bytes_per_s) + worse_rate(&c->in_bytes_per_s);
        if (kind != WORSE_LOCAL)
            continue;
        memcpy(locals, c->local_fixed_s, size * sizeof *locals);
        memcpy(locals + size, c->local_s_per_byte, size * sizeof *locals);
        c->local_fixed_s = locals;
        c->local_s_per_byte = locals + size;
        locals += 2 * size;
        for (size_t i = 0; i < 2 * size; i++)
            changed += worse_time(&c->local_fixed_s[i]);
    }
    return changed;
}

static int worse_wires(struct hrun_net_pair *pairs, size_t npairs, struct hrun_net_value *trunks, size_t ntrunks,
                       enum worse_kind kind)
{
    int changed = 0;

    for (size_t i = 0; i < npairs; i++) {
        if (kind == WORSE_L)
            changed += worse_time(&pairs[i].L_s);
        if (kind == WORSE_BETA)
            changed += worse_rate(&pairs[i].beta_bytes_per_s);
    }
    for (size_t i = 0; kind == WORSE_TRUNKS && i < ntrunks; i++)
        changed += worse_rate(&trunks[i]);
    return changed;
}

/* How much longer it takes with one kind of parameter worse; 0 when nothing is known of that kind's errors. */
static int difference(const struct hrun_net *net, const struct prediction *p, double time_s, enum worse_kind kind,
                      double *diff_s, struct hrun_error *err)
{
    struct hrun_net worse = *net;
    size_t nclasses = (size_t)net->nclasses, npairs = nclasses * nclasses, nlocals = 1;
    size_t ntrunks = (size_t)net->ngroups * (size_t)net->ngroups;
    struct hrun_net_value *locals = NULL;
    int rc = -1;

    for (size_t i = 0; i < nclasses; i++)
        nlocals += 2 * (size_t)net->classes[i].nkinds * (size_t)net->classes[i].nkinds;
    worse.classes = malloc(nclasses * sizeof *worse.classes);
    worse.pairs = malloc(npairs * sizeof *worse.pairs);
    worse.trunks = malloc(ntrunks * sizeof *worse.trunks);
    locals = malloc(nlocals * sizeof *locals);
    if (!worse.classes || !worse.pairs || !worse.trunks || !locals) {
        hrun_fail_nomem(err);
        goto out;
    }
    memcpy(worse.classes, net->classes, nclasses * sizeof *worse.classes);
    memcpy(worse.pairs, net->pairs, npairs * sizeof *worse.pairs);
    memcpy(worse.trunks, net->trunks, ntrunks * sizeof *worse.trunks);
    *diff_s = 0;
    if (worse_classes(worse.classes, net->nclasses, kind, locals)
        + worse_wires(worse.pairs, npairs, worse.trunks, ntrunks, kind)) {
        double t_s;

        if (play(&worse, p, &t_s, err))
            goto out;
        *diff_s = t_s - time_s;
    }
    rc = 0;
out:
    free(worse.classes);
    free(worse.pairs);
    free(worse.trunks);
    free(locals);
    return rc;
}

static int half_width(const struct hrun_net *net, const struct prediction *p, double time_s, double *half_s,
                      struct hrun_error *err)
{
    double squares = 0, diff_s;

    for (int kind = 0; kind < WORSE_KINDS; kind++) {
        if (difference(net, p, time_s, (enum worse_kind)kind, &diff_s, err))
            return -1;
        squares += diff_s * diff_s;
    }
    *half_s = sqrt(squares);
    return 0;
}

/* ---------------------------------------------------------------- gather straight to the root */

/* Does it gather straight to the root? */
static int is_straight(const struct hrun_net_call *call, const char *algorithm)
{
    return (call->op == HRUN_NET_GATHER || call->op == HRUN_NET_ALLGATHER) &&
           (!strcmp(algorithm, "linear") || !strcmp(algorithm, "linear-posted"));
}

int hrun_net_irregular(const struct hrun_net *net, const struct hrun_net_call *call, int n)
{
    const struct hrun_net_thresholds *th = &net->thresholds;
    const char *algorithm = call->algorithm ? call->algorithm : net_select(net->selector, call->op, n, call->bytes, 1);

    return n > 1 && algorithm && is_straight(call, algorithm) && th->gather_M2 > 0 && call->bytes >= th->gather_M1 &&
           call->bytes <= th->gather_M2;
}

/* Paper 002, section 3: the slope's corrections, and the region where times jump. kappa2 is of the sizes next to the
 * region: where these do not wait for the root, those that do have none. */
static void correct(const struct hrun_net *net, const struct hrun_net_call *call, struct hrun_net_time *out)
{
    const struct hrun_net_thresholds *th = &net->thresholds;
    int other = net->sync_bytes > th->gather_M2 && call->bytes >= net->sync_bytes;
    double add_s = 0;

    if (!is_straight(call, out->algorithm))
        return;
    if (th->gather_M1 > 0 && call->bytes < th->gather_M1)
        add_s = th->kappa1_s_per_byte * call->bytes;
    else if (th->gather_M2 > 0 && call->bytes > th->gather_M2)
        add_s = other ? 0 : th->kappa2_s_per_byte * call->bytes;
    else if (th->gather_M2 > 0) {
        out->irregular = 1;
        out->high_s += th->irregular_share > 0 ? th->irregular_s / th->irregular_share : th->irregular_s;
        add_s = th->irregular_s;
    }
    out->time_s = fmax(out->time_s + add_s, 0);
    out->low_s = fmax(out->low_s + fmin(add_s, 0), 0);
    out->high_s = fmax(out->high_s, out->time_s);
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

int net_choose_program(const struct hrun_net *net, const struct hrun_net_call *call, int n, int uniform,
                       const char **name, net_program **program, struct hrun_error *err)
{
    const char *selected = net_select(net->selector, call->op, n, call->bytes, uniform);
    const char *wanted = call->algorithm ? call->algorithm : selected;

    /* An algorithm that is given may be made of parts that are not (net_part). */
    if (!selected)
        return hrun_fail(err, HRUN_EINVAL, "the network's selector '%s' is unknown", net->selector);
    if (!(*program = net_algorithm_find(call->op, wanted, name)))
        return hrun_fail(err, HRUN_EINVAL, "%s has no algorithm '%s'", hrun_net_op_name(call->op), wanted);
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int predict(const struct hrun_net *net, struct prediction *p, const struct net_hosts *hosts,
                   struct hrun_net_time *out, struct hrun_error *err)
{
    struct hrun_net_time t = { 0 };
    net_program *program;
    double half_s = 0;
    int rc = -1;

    if (check_pairs(net, p->ranks, hosts, err)
        || net_choose_program(net, p->call, p->ranks->n, hosts->uniform, &t.algorithm, &program, err)
        || plan(net, p->call, hosts, p->call->op == HRUN_NET_P2P ? 2 : p->ranks->n, program, &p->schedule, err))
        return -1;
    if (play(net, p, &t.time_s, err) || (!p->call->quick && half_width(net, p, t.time_s, &half_s, err)))
        goto out;
    t.low_s = fmax(t.time_s - half_s, 0);
    t.high_s = t.time_s + half_s;
    correct(net, p->call, &t);
    if (p->call->quick)
        t.low_s = t.high_s = t.time_s;
    *out = t;
    rc = 0;
out:
    play_release(&p->schedule);
    return rc;
}

int hrun_net_predict(const struct hrun_net *net, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                     struct hrun_net_time *out, struct hrun_error *err)
{
    struct prediction p = { .call = call, .ranks = ranks };
    struct net_hosts hosts;
    int rc;

    if (net_check_ranks(net, ranks, err) || net_check_call(call, ranks->n, err))
        return -1;
    if (net_hosts_find(ranks, &hosts, err))
        return -1;
    if (ranks->n > 1) {
        rc = predict(net, &p, &hosts, out, err);
    } else {
        struct hrun_net_time none = { 0 };
        net_program *program;

        rc = net_choose_program(net, call, 1, hosts.uniform, &none.algorithm, &program, err);
        if (!rc)
            *out = none;
    }
    net_hosts_release(&hosts);
    return rc;
}

double hrun_net_time(const struct hrun_net *net, const char *operation, double bytes, int root, const char *algorithm,
                     const int *host, int n, const char **used, struct hrun_error *err)
{
    struct hrun_net_ranks ranks = { .n = n, .host = host };
    struct hrun_net_call call = { .bytes = bytes, .root = root, .algorithm = algorithm, .quick = 1 };
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
