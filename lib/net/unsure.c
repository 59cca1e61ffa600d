/* unsure.c - what of a network is badly known; see net.h */
#include "net/net.h"

#include <math.h>

/* Of a message: most programs send many that are empty or nearly so, and long ones show the rate. */
static const double SIZES[] = { 0, 65536 };

static double square(double factor, const struct hrun_net_value *v)
{
    return isfinite(v->half) ? factor * factor * v->half * v->half : 0;
}

/* Relative half width of what a message of so many bytes takes from a host to one of another. */
static double half_of(const struct hrun_net *net, int from, int to, double bytes)
{
    const struct hrun_net_class *a = &net->classes[net->class_of[from]], *b = &net->classes[net->class_of[to]];
    const struct hrun_net_pair *p = &net->pairs[net->class_of[from] * net->nclasses + net->class_of[to]];
    double time_s = hrun_net_p2p(net, from, 0, to, 0, bytes), rate = p->beta_bytes_per_s.v, sum;

    sum = square(1, &a->C_s) + square(1, &b->C_s) + square(1, &p->L_s) + square(bytes, &a->t_s_per_byte) +
          square(bytes, &b->t_s_per_byte) + (rate > 0 ? square(bytes / rate / rate, &p->beta_bytes_per_s) : 0);
    return time_s > 0 ? sqrt(sum) / time_s : 0;
}

/* The first host of a class, but for one (-1: none). */
static int host_of(const struct hrun_net *net, int class, int but)
{
    for (int h = 0; h < net->nhosts; h++)
        if (net->class_of[h] == class && h != but)
            return h;
    return -1;
}

void hrun_net_find_unsure(const struct hrun_net *net, struct hrun_net_unsure *out)
{
    *out = (struct hrun_net_unsure){ 0 };
    for (int k = 0; k < net->nclasses * net->nclasses; k++) {
        int from = host_of(net, k / net->nclasses, -1), to = host_of(net, k % net->nclasses, from);
        double half = 0;

        if (from < 0 || to < 0 || !(net->pairs[k].beta_bytes_per_s.v > 0))
            continue;
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
            half = fmax(half, half_of(net, from, to, SIZES[s]));
        out->of++;
        out->pairs += half > HRUN_NET_UNSURE;
        if (half > out->half_rel) {
            out->half_rel = half;
            out->from = from;
            out->to = to;
        }
    }
}

void hrun_net_add_unsure(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_net_unsure u;

    hrun_net_find_unsure(net, &u);
    if (u.pairs == 0)
        return;
    hrun_buf_addf(out, "what messages take is badly known of %d of %d pairs of hosts (%s -> %s: +-%.0f %%): was the "
                  "machine busy? measure again when it is quiet, with `hrun-calibrate network --redo`, and more often "
                  "with --precision 2%% and a larger -r", u.pairs, u.of, net->hosts[u.from], net->hosts[u.to],
                  100 * u.half_rel);
}
