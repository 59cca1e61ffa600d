/* net_play.h - networks and predictions for tests of lib/net */
#ifndef HRUN_TESTS_NET_PLAY_H
#define HRUN_TESTS_NET_PLAY_H

#include "net/net.h"

#include "fit_random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* n hosts "h0", ... as hrun_net_create makes them. */
__attribute__((unused)) static struct hrun_net *net_of(int n)
{
    const char *names[64];
    char text[64][8];

    for (int i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "h%d", i);
        names[i] = text[i];
    }
    return hrun_net_create(names, n, NULL);
}

/* Everything at random, on n hosts behind one or two switches. */
__attribute__((unused)) static struct hrun_net *net_at_random(int n, uint64_t *seed)
{
    struct hrun_net *net = net_of(n);

    for (int i = 0; i < n; i++) {
        struct hrun_net_class *c = &net->classes[i];

        c->C_s.v = 1e-5 * rnd(seed);
        c->t_s_per_byte.v = rnd(seed) < 0.5 ? 0 : 1e-9 * rnd(seed);
        c->out_bytes_per_s.v = rnd(seed) < 0.3 ? 0 : 1e8 * (0.5 + rnd(seed));
        c->in_bytes_per_s.v = rnd(seed) < 0.3 ? 0 : 1e8 * (0.5 + rnd(seed));
        c->local_fixed_s[0].v = 1e-6 * rnd(seed);
        c->local_s_per_byte[0].v = 1e-9 * rnd(seed);
        c->local_bytes_per_s = rnd(seed) < 0.5 ? 0 : 1e9 * (1 + rnd(seed));
    }
    for (int i = 0; i < n * n; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-4 * rnd(seed), NAN },
                                                { 1e8 * (0.2 + rnd(seed)), NAN } };
    net->segments[0] = (struct hrun_net_segment){ 0, 0.5 + rnd(seed), 0.5 + rnd(seed) };
    net->sync_bytes = rnd(seed) < 0.3 ? 0 : 65536 * rnd(seed) + 1;
    net->wire_waits = rnd(seed) < 0.5;
    net->back_share = rnd(seed) < 0.5 ? 0 : 0.05;
    net->bias_bytes = rnd(seed) < 0.5 ? 0 : 8775;
    net->reduce_s_per_byte = 1e-9 * rnd(seed);
    if (rnd(seed) < 0.5) {
        net->ngroups = rnd_int(seed, 2, 3);
        free(net->trunks);
        net->trunks = calloc((size_t)net->ngroups * (size_t)net->ngroups, sizeof *net->trunks);
        for (int i = 0; i < n; i++)
            net->group_of[i] = i % net->ngroups;
        for (int i = 0; i < net->ngroups * net->ngroups; i++)
            net->trunks[i] = (struct hrun_net_value){ rnd(seed) < 0.2 ? 0 : 1e8 * (0.1 + rnd(seed)), NAN };
        net->trunks_shared = rnd(seed) < 0.5;
    }
    return net;
}

/* The time on hosts host[n]; fails the test's sums with -1 and a note. */
__attribute__((unused)) static double net_on(const struct hrun_net *net, enum hrun_net_op op, const char *algorithm,
                                             double bytes, const int *host, int n, int root)
{
    struct hrun_net_call call = { .op = op, .bytes = bytes, .root = root, .algorithm = algorithm, .quick = 1 };
    struct hrun_net_ranks ranks = { n, host, NULL };
    struct hrun_net_time t;
    struct hrun_error err = { 0 };

    if (!hrun_net_predict(net, &call, &ranks, &t, &err))
        return t.time_s;
    printf("# %s %s, %d ranks, root %d: %s\n", hrun_net_op_name(op), algorithm ? algorithm : "", n, root, err.text);
    return -1;
}

__attribute__((unused)) static double net_time_at(const struct hrun_net *net, enum hrun_net_op op,
                                                  const char *algorithm, double bytes, const int *host, int n)
{
    return net_on(net, op, algorithm, bytes, host, n, 0);
}

/* One rank on each of the first n hosts. */
__attribute__((unused)) static double net_at_root(const struct hrun_net *net, enum hrun_net_op op,
                                                  const char *algorithm, double bytes, int n, int root)
{
    int host[64];

    for (int i = 0; i < n; i++)
        host[i] = i;
    return net_on(net, op, algorithm, bytes, host, n, root);
}

__attribute__((unused)) static double net_time(const struct hrun_net *net, enum hrun_net_op op, const char *algorithm,
                                               double bytes, int n)
{
    return net_at_root(net, op, algorithm, bytes, n, 0);
}

#endif
