/* test_net_play.c - messages played through the network model: fair shares against brute force, paper 002's formulas,
 * cases worked by hand, laws that hold for every schedule */
#include "net/replay.h"

#include "fixture.h"
#include "net.h"

#include <stdint.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- fair shares */

/* By definition (net/replay.h): no limit and no capacity is exceeded, and each flow has reached its limit, or uses a full
 * resource on which no flow has more, as their shares weigh them. */
static int is_fair(const struct share_flow *f, int n, const struct share_resource *r, int nr)
{
    double used[16] = { 0 };

    for (int i = 0; i < n; i++)
        for (int u = 0; u < f[i].nuse; u++)
            used[f[i].use[u]] += f[i].rate * f[i].weight[u];
    for (int k = 0; k < nr; k++)
        if (used[k] > r[k].capacity * (1 + 1e-9))
            return 0;
    for (int i = 0; i < n; i++) {
        int stopped = f[i].rate >= f[i].limit * (1 - 1e-9);

        if (f[i].rate > f[i].limit * (1 + 1e-9))
            return 0;
        for (int u = 0; u < f[i].nuse && !stopped; u++) {
            int k = f[i].use[u], most = used[k] >= r[k].capacity * (1 - 1e-9);

            for (int j = 0; j < n; j++)
                for (int v = 0; v < f[j].nuse; v++)
                    most &= f[j].use[v] != k || f[j].rate / f[j].share <= f[i].rate / f[i].share * (1 + 1e-9);
            stopped = most;
        }
        if (!stopped)
            return 0;
    }
    return 1;
}

static void test_shares(void)
{
    uint64_t seed = 1;
    int good = 0;

    for (int run = 0; run < 2000; run++) {
        struct share_resource r[8] = { { 0 } };
        struct share_flow f[20] = { { 0 } };
        int open[20], n = 1 + (int)(20 * rnd(&seed)), nr = 1 + (int)(8 * rnd(&seed));

        for (int k = 0; k < nr; k++)
            r[k].capacity = 1 + (int)(4 * rnd(&seed));
        for (int i = 0; i < n; i++) {
            f[i].share = run % 2 ? 1 : 0.5 + rnd(&seed);
            f[i].limit = rnd(&seed) < 0.5 ? INFINITY : 0.1 + 2 * rnd(&seed);
            for (int k = 0; k < nr && f[i].nuse < SHARE_USES; k++)
                if (rnd(&seed) < 0.4 || (k == nr - 1 && !f[i].nuse)) {
                    f[i].use[f[i].nuse] = k;
                    f[i].weight[f[i].nuse++] = run % 3 ? 1 : 0.05 + rnd(&seed);
                }
        }
        share_rates(f, n, r, open);
        good += is_fair(f, n, r, nr);
    }
    is_int(good, 2000, "2000 random systems: rates are max-min fair by definition");
}

/* ---------------------------------------------------------------- paper 002 */

/* Times of linear scatter and gather with C, t and beta only (paper 002, section 3): n (C0 + t0 M) + max over i of
 * (C_i + t_i M + M / beta_0i) when the slowest of all is served last, and never more than that. */
static void test_paper(void)
{
    enum { N = 6 };
    struct hrun_net *net = net_of(N);
    const double bytes = 10000;
    double root = 0, worst = 0, sum = 0, t;

    for (int i = 0; i < N; i++) {
        net->classes[i].C_s.v = 1e-5 * (1 + i);
        net->classes[i].t_s_per_byte.v = 1e-9 * (2 + i);
    }
    for (int i = 0; i < N * N; i++)
        net->pairs[i].beta_bytes_per_s.v = 1e8 / (1 + i % N);
    root = net->classes[0].C_s.v + net->classes[0].t_s_per_byte.v * bytes;
    for (int i = 1; i < N; i++) {
        double one = net->classes[i].C_s.v + net->classes[i].t_s_per_byte.v * bytes
                     + bytes / net->pairs[i].beta_bytes_per_s.v;

        worst = fmax(worst, one);
        sum += one;
    }
    t = net_time(net, HRUN_NET_SCATTER, "linear", bytes, N);
    is_num(t * 1e3, ((N - 1) * root + worst) * 1e3, 1e-12,
           "scatter: n (C0 + t0 M) + max of the others, the slowest last");
    net->thresholds.scatter_S = 5000;
    t = net_time(net, HRUN_NET_SCATTER, "linear", bytes, N);
    is_num(t * 1e3, ((N - 1) * root + sum) * 1e3, 1e-12, "beyond S: n (C0 + t0 M) + the sum of the others");
    net->thresholds.scatter_S = 0;

    /* All others send at once; the root takes the messages as they come. */
    for (int i = 0; i < N * N; i++)
        net->pairs[i].beta_bytes_per_s.v = 1e8;
    net->classes[0].t_s_per_byte.v = 0.5e-9;
    root = net->classes[0].C_s.v + net->classes[0].t_s_per_byte.v * bytes;
    t = net_time(net, HRUN_NET_GATHER, "linear", 1e7, N);
    is_num(t, net->classes[5].C_s.v + net->classes[5].t_s_per_byte.v * 1e7 + 0.1 + net->classes[0].C_s.v
           + net->classes[0].t_s_per_byte.v * 1e7, 1e-12,
           "gather on unlike hosts: the last one's stages, for the root is through with the others by then");
    for (int i = 1; i < N; i++)
        net->classes[i] = (struct hrun_net_class){ .nkinds = 1, .C_s = net->classes[1].C_s,
                                                   .t_s_per_byte = net->classes[1].t_s_per_byte,
                                                   .local_fixed_s = net->classes[i].local_fixed_s,
                                                   .local_s_per_byte = net->classes[i].local_s_per_byte };
    t = net_time(net, HRUN_NET_GATHER, "linear", bytes, N);
    is_num(t * 1e3, (5 * root + net->classes[1].C_s.v + net->classes[1].t_s_per_byte.v * bytes + bytes / 1e8) * 1e3,
           1e-12, "gather on like hosts: n (C0 + t0 M) + one of the others");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- by hand */

static void test_by_hand(void)
{
    struct hrun_net *net = net_of(4);
    const int two_hosts[] = { 0, 0, 1, 1 };

    for (int i = 0; i < 16; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-4, NAN }, { 1e8, NAN } };
    is_num(net_time(net, HRUN_NET_P2P, NULL, 1e6, 2) * 1e3, 10.1, 1e-12, "one message: latency, then its bytes");
    net->classes[0].out_bytes_per_s.v = 1e8;
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 4) * 1e3, 30.1, 1e-12,
           "three that leave a port at once: each a third of it");
    net->classes[0].out_bytes_per_s.v = 2.5e8;
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 4) * 1e3, 12.1, 1e-12, "a wider port");
    net->pairs[1].beta_bytes_per_s.v = 5e7;
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 4) * 1e3, 20.1, 1e-12,
           "one that is slow by itself leaves the others its share");
    net->pairs[1].beta_bytes_per_s.v = 1e8;
    net->classes[0].out_bytes_per_s.v = 0;
    net->classes[3].in_bytes_per_s.v = 1e8;
    is_num(net_at_root(net, HRUN_NET_GATHER, "linear", 1e6, 4, 3) * 1e3, 30.1, 1e-12, "into one port");
    net->classes[3].in_bytes_per_s.v = 0;

    /* While its bytes flow a message takes of the way back. */
    for (int i = 0; i < 4; i++)
        net->classes[i].out_bytes_per_s.v = net->classes[i].in_bytes_per_s.v = 1e8;
    net->back_share = 0.25;
    is_num(net_time(net, HRUN_NET_P2P, NULL, 1e6, 2) * 1e3, 10.1, 1e-12, "acknowledgements do not slow one alone");
    is_num(net_time(net, HRUN_NET_RING, NULL, 1e6, 2) * 1e3, 12.6, 1e-12, "but two that cross: 1.25 times as long");
    net->back_share = 0;

    /* Two hosts behind one switch, two behind another. */
    net->ngroups = 2;
    free(net->trunks);
    net->trunks = calloc(4, sizeof *net->trunks);
    net->trunks[1].v = net->trunks[2].v = 5e7;
    net->group_of[1] = net->group_of[3] = 1;
    is_num(net_time(net, HRUN_NET_P2P, NULL, 1e6, 2) * 1e3, 20.1, 1e-12, "over a trunk");
    is_num(net_time(net, HRUN_NET_RING, NULL, 1e6, 4) * 1e3, 40.1, 1e-12, "two each way over the trunk");
    net->trunks_shared = 1;
    is_num(net_time(net, HRUN_NET_RING, NULL, 1e6, 4) * 1e3, 80.1, 1e-12, "and when both ways share it");
    net->segments[0] = (struct hrun_net_segment){ 0, 3, 2 };
    is_num(net_time(net, HRUN_NET_RING, NULL, 1e6, 4) * 1e3, 160.3, 1e-12, "factors: 3 of the latency, 2 of the bytes");
    net->segments[0] = (struct hrun_net_segment){ 0, 1, 1 };

    /* What the switch of a group passes in all, both ways together. */
    net->trunks[0].v = 5e7;
    net->back_share = 0.25;
    is_num(net_time_at(net, HRUN_NET_P2P, NULL, 1e6, (const int[]){ 0, 2 }, 2) * 1e3, 25.1, 1e-12,
           "behind one switch, which limits");
    is_num(hrun_net_p2p(net, 0, 0, 2, 0, 1e6) * 1e3, 25.1, 1e-12, "the same of a message alone");
    is_num(net_time_at(net, HRUN_NET_RING, NULL, 1e6, (const int[]){ 0, 2 }, 2) * 1e3, 50.1, 1e-12, "and two at once");
    net->trunks[0].v = net->back_share = 0;

    /* Inside hosts. */
    net->classes[0].local_fixed_s[0].v = 1e-5;
    net->classes[0].local_s_per_byte[0].v = 1e-9;
    net->classes[0].local_bytes_per_s = 1e9;
    is_num(net_time_at(net, HRUN_NET_P2P, NULL, 1e6, two_hosts, 2) * 1e3, 1.01, 1e-12, "between two ranks of a host");
    is_num(net_time_at(net, HRUN_NET_RING, NULL, 1e6, two_hosts, 2) * 1e3, 2.01, 1e-12, "two of them share its memory");
    hrun_net_destroy(net);
}

/* Two messages of unlike sizes that leave a port: as many of the bytes that count of each. */
static void test_unlike(void)
{
    struct hrun_net *net = net_of(3);
    const struct hrun_net_ranks ranks = { 3, (const int[]){ 0, 1, 2 }, NULL };
    struct share_resource *r = calloc(wire_resources(net), sizeof *r);
    int open[2];
    struct share_flow f[2];

    free(net->segments);
    net->segments = calloc(2, sizeof *net->segments);
    net->nsegments = 2;
    net->segments[0] = (struct hrun_net_segment){ 0, 1, 3 };
    net->segments[1] = (struct hrun_net_segment){ 1e5, 1, 1 };
    for (int i = 0; i < 9; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-4, NAN }, { 1e8, NAN } };
    net->classes[0].out_bytes_per_s.v = 1e8;
    f[0] = wire_flow(net, &ranks, 0, 1, 1e4, r);
    f[1] = wire_flow(net, &ranks, 0, 2, 1e6, r);
    share_rates(f, 2, r, open);
    is_num(f[0].rate / 5e7, 1.0 / 3, 1e-12, "a message whose bytes count three times flows at a third of the rate");
    is_num(f[1].rate / 5e7, 1, 1e-12, "of the other one");
    free(r);
    hrun_net_destroy(net);
}

/* Eager, rendezvous, and wires that wait. */
static void test_waiting(void)
{
    struct hrun_net *net = net_of(2);
    const struct hrun_net_ranks ranks = { 2, (const int[]){ 0, 1 }, NULL };
    const struct { double sync; int waits; double want_ms; const char *text; } cases[] = {
        { 0, 0, 5, "eager: the bytes are there when the receiver comes" },
        { 0, 1, 6.1, "a wire that waits: from when the receiver comes" },
        { 1e5, 0, 6.1, "rendezvous: the same" },
        { 1e5, 1, 6.1, "and both" } };

    net->pairs[1] = (struct hrun_net_pair){ { 1e-4, NAN }, { 1e8, NAN } };
    net->reduce_s_per_byte = 1e-9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct play_schedule s;
        struct hrun_error err = { 0 };
        double t = -1;

        net->sync_bytes = cases[i].sync;
        net->wire_waits = cases[i].waits;
        play_begin(&s, 2);
        play_rank(&s, 0);
        play_send_wait(&s, 1, 1e5);
        play_rank(&s, 1);
        play_work(&s, 5e6);
        play_recv_wait(&s, 0);
        if (play_run(&s, net, &ranks, &t, &err))
            puts(err.text);
        is_num(t * 1e3, cases[i].want_ms, 1e-12, "%s", cases[i].text);
        play_release(&s);
    }
    hrun_net_destroy(net);
}

/* Two ranks send 1e5 bytes (1 ms on the wire) to each other at once. */
static void test_exchange(void)
{
    const struct { int waits, one_host; double sync, want_ms; const char *text; } cases[] = {
        { 0, 0, 1e5, 1.1, "both ways at once" },
        { 1, 0, 1e5, 2.1, "an exchange that waits: one way after the other" },
        { 1, 0, 2e5, 1.1, "not below rendezvous" },
        { 1, 1, 1e5, 0, "not inside a host" } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_net *net = net_of(2);
        int hosts[2] = { 0, !cases[i].one_host };
        struct hrun_net_ranks ranks = { 2, hosts, NULL };
        struct play_schedule s;
        struct hrun_error err = { 0 };
        double t = -1;

        net->pairs[1] = net->pairs[2] = (struct hrun_net_pair){ { 1e-4, NAN }, { 1e8, NAN } };
        net->sync_bytes = cases[i].sync;
        net->exchange_waits = cases[i].waits;
        play_begin(&s, 2);
        for (int r = 0; r < 2; r++) {
            play_rank(&s, r);
            play_recv(&s, !r);
            play_send(&s, !r, 1e5);
            play_wait(&s);
        }
        if (play_run(&s, net, &ranks, &t, &err))
            puts(err.text);
        is_num(t * 1e3, cases[i].want_ms, 1e-12, "%s", cases[i].text);
        play_release(&s);
        hrun_net_destroy(net);
    }
}

/* The shorter way gets more of a port. */
static void test_bias(void)
{
    struct hrun_net *net = net_of(3);

    for (int i = 0; i < 9; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-4, NAN }, { 1e8, NAN } };
    net->pairs[2].L_s.v = 3e-4; /* 0 -> 2 */
    net->classes[0].out_bytes_per_s.v = 1e8;
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 3) * 1e3, 20.1, 1e-12,
           "without a bias: half and half");
    net->bias_bytes = 1e4;     /* ways of 2e-4 and 4e-4 s: 2/3 and 1/3 of the port; 0.2 ms alone, then 15 ms at 2/3 */
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 3) * 1e3, 20.1, 1e-12, "the port is as full with it");
    net->pairs[2].beta_bytes_per_s.v = 4e7;
    is_num(net_time(net, HRUN_NET_SCATTER, "linear-posted", 1e6, 3) * 1e3, 0.1 + 0.2 + 0.98 / (2.0 / 3) * 10
           + (1e6 - 1e8 / 3 * 0.0147) / 4e4, 1e-9, "and one that is slow alone ends later");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- laws */

static void test_mistakes(void)
{
    struct hrun_net *net = net_of(2);
    const struct hrun_net_ranks ranks = { 2, (const int[]){ 0, 1 }, NULL };
    struct hrun_error err = { 0 };
    struct play_schedule s;
    double t = -1;

    net->pairs[1].beta_bytes_per_s.v = net->pairs[2].beta_bytes_per_s.v = 1e8;
    play_begin(&s, 2);
    play_rank(&s, 0);
    play_recv_wait(&s, 1);
    play_rank(&s, 1);
    ok(play_run(&s, net, &ranks, &t, &err) == -1 && err.code == HRUN_EINVAL, "a message that nobody sends: %s",
       err.text);
    play_release(&s);

    play_begin(&s, 2);
    play_rank(&s, 0);
    play_send_wait(&s, 1, 1);
    play_rank(&s, 1);
    ok(play_run(&s, net, &ranks, &t, &err) == -1 && err.code == HRUN_EINVAL, "... or receives: %s", err.text);
    play_release(&s);

    net->sync_bytes = 1;
    play_begin(&s, 2);
    for (int r = 0; r < 2; r++) {
        play_rank(&s, r);
        play_send_wait(&s, 1 - r, 1);
        play_recv_wait(&s, 1 - r);
    }
    ok(play_run(&s, net, &ranks, &t, &err) == -1 && err.code == HRUN_EINVAL, "ranks that wait for each other: %s",
       err.text);
    is_num(t, -1, 0, "outputs are untouched");
    net->sync_bytes = 0;
    ok(!play_run(&s, net, &ranks, &t, &err) && t > 0, "which eager messages do not do");
    play_release(&s);
    hrun_net_destroy(net);
}

int main(void)
{
    test_shares();
    test_paper();
    test_by_hand();
    test_unlike();
    test_waiting();
    test_exchange();
    test_bias();
    test_mistakes();
    return tap_done();
}
