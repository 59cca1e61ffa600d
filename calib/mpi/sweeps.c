/* sweeps.c - sweeps over message sizes: the rendezvous threshold, changes of MPI's protocols, and scatter and gather
 * (paper 002, section 3, Fig. 1)
 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- rendezvous, and M */

enum { FIRST = 1 << 10, STEP = 4 };    /* sizes FIRST, STEP FIRST, ... bracket the threshold, then bisection */
enum { PROBES = 3 };                   /* repetitions; their median counts */
/* A receiver is late by LATER trips plus SLEEP_S. A sleeping process wakes up late by less than SLEEP_S. */
static const double LATER = 2, SLEEP_S = 1e-3;
/* A send call longer than this fraction of the delay has waited for the receiver. A call that waits only until the
 * bytes have left takes at most half of the delay. */
static const double WAITED = 2.0 / 3;
/* The threshold is found within 1 / FINE of it. A message shows the rate if it takes SEEN times as long as an empty
 * one. Simulated times have no scatter, so less is enough. */
#ifdef HRUN_SMPI
enum { FINE = 16 };
static const double SEEN = 2;
#else
enum { FINE = 64 };
static const double SEEN = 4;
#endif

/* The time of a trip between the first two hosts, s, on all processes. Collective. */
static double first_trip(struct net_bench *b, int bytes)
{
    int other = b->leader[1];
    struct net_trial t = { .lead = 0, .follow = &other, .nfollow = 1, .bytes = bytes,
                           .fixed = b->set.most > 1 ? PROBES : 1 };
    struct net_times m = { 0 };

    net_try(b, &t, &m);
    MPI_Bcast(&m.median_s, 1, MPI_DOUBLE, 0, b->m.comm);
    return m.median_s;
}

/* 1 if a send of `bytes` waits for its receiver, else 0, on all processes. trip_s: upper limit of the time of a trip.
 * Collective. */
static int send_waits(struct net_bench *b, int bytes, double trip_s)
{
    int other = b->leader[1], answer;
    struct net_trial t = { .lead = 0, .follow = &other, .nfollow = 1, .bytes = bytes,
                           .back = sizeof(double), .delay_s = LATER * trip_s + (b->set.most > 1 ? SLEEP_S : 0),
                           .fixed = b->set.most > 1 ? PROBES : 1 };
    struct net_record r = { .kind = NET_SYNC, .i = 0, .j = 1, .k = -1, .bytes = bytes };
    struct net_times m = { 0 };

    net_try(b, &t, &m);
    answer = m.call_s > WAITED * t.delay_s;
    MPI_Bcast(&answer, 1, MPI_INT, 0, b->m.comm);
    r.n = answer;
    if (!b->m.rank)
        net_keep(b, &r, &m);
    return answer;
}

void net_find_eager(struct net_bench *b)
{
    int good = 0, bad = FIRST;
    double empty_s, trip_s = 0;

    if (b->nhosts < 2)
        return;
    first_trip(b, 0);
    while (bad <= NET_BYTES_MAX && (trip_s = first_trip(b, bad), !send_waits(b, bad, trip_s))) {
        good = bad;
        bad = bad < NET_BYTES_MAX && bad * STEP > NET_BYTES_MAX ? NET_BYTES_MAX : bad * STEP;
    }
    while (bad <= NET_BYTES_MAX && bad - good > 1 + good / FINE) {
        int middle = good + (bad - good) / 2;

        if (send_waits(b, middle, trip_s))
            bad = middle;
        else
            good = middle;
    }
    b->eager = good;
    empty_s = first_trip(b, 0);
    b->bytes = FIRST;
    while (2 * b->bytes <= b->eager && first_trip(b, b->bytes) < SEEN * empty_s)
        b->bytes *= 2;
}

/* ---------------------------------------------------------------- sizes */

enum { PAIRS = 3 };                    /* number of simultaneous pairs, of different hosts */
/* Sizes per doubling: FINE_STEPS from LEAST to LAST (beyond all changes of protocol), COARSE_STEPS above. The narrowest
 * segment of SimGrid's default factors spans 0.6 of a doubling, and a line through it needs three sizes. */
enum { LEAST = 32, LAST = 1 << 17, COARSE_STEPS = 2 };
/* The largest size. A simulation stops at LAST, since its times are linear beyond. */
#ifdef HRUN_SMPI
enum { MOST = LAST, FINE_STEPS = 6 };
#else
enum { MOST = NET_BYTES_MAX, FINE_STEPS = 4 };
#endif

/* 1 if this host is in a pair, whose hosts are *i and *j, else 0. Pairs are inside groups if any group has two
 * hosts. */
static int find_sweep_pair(const struct net_bench *b, int *i, int *j)
{
    int pairs = 0, free_host = -1, most = b->apart ? 1 : PAIRS;

    for (int h = 0; h < b->nhosts && pairs < most; h++) {
        if (free_host < 0 || b->group_of[free_host] != b->group_of[h]) {
            free_host = h;
            continue;
        }
        pairs++;
        *i = free_host;
        *j = h;
        if (b->host == *i || b->host == *j)
            return 1;
        free_host = -1;
    }
    *i = 0;
    *j = 1;
    return !pairs && b->host < 2;
}

void net_sizes(struct net_bench *b)
{
    int i, j, mine = b->nhosts > 1 && find_sweep_pair(b, &i, &j);

    for (int k = 0, bytes = LEAST; mine && bytes <= MOST; bytes = (int)(LEAST * exp2((double)k / FINE_STEPS) + 0.5)) {
        struct net_record r = { .kind = NET_TRIP, .i = i, .j = j, .k = -1, .bytes = bytes };
        struct net_trial t = { .lead = b->leader[i], .follow = &b->leader[j], .nfollow = 1, .bytes = bytes };

        net_measure(b, &t, &r);
        k += bytes < LAST ? 1 : FINE_STEPS / COARSE_STEPS;
    }
}

/* ---------------------------------------------------------------- scatter and gather */

/* Paper 002 found the thresholds M1, M2 and S (struct hrun_net_thresholds in lib/net/net.h) between some KB and 100 KB.
 * Each size is sqrt(2) times the one before. The region where some gathers take longer shows only with many repetitions
 * and hosts. A simulated network has no such region, and fewer sizes are enough for its slopes. */
enum { SPREAD_LEAST = 1 << 10, SPREAD_REPETITIONS = 20 };
#ifdef HRUN_SMPI
enum { SPREAD_MOST = 1 << 15, SPREAD_HOSTS = 3, SPREAD_STEPS = 1 };
#else
enum { SPREAD_MOST = 1 << 17, SPREAD_HOSTS = NET_IN_MAX / SPREAD_MOST - 1, SPREAD_STEPS = 2 };
#endif

static void measure_operation(struct net_bench *b, enum net_kind kind, int n, int bytes)
{
    int there = kind == NET_SCATTER;
    struct net_record r = { .kind = kind, .i = 0, .j = -1, .k = -1, .n = n, .bytes = bytes };
    struct net_trial t = { .lead = b->leader[0], .nfollow = n, .follow = b->leader + 1, .bytes = there ? bytes : 0,
                           .back = there ? 0 : bytes, .in_turn = !there, .least = SPREAD_REPETITIONS };
    struct net_times m;

    if (!net_try(b, &t, &m))
        return;
    r.mean_s = m.mean_s;
    net_keep(b, &r, &m);
}

void net_scatters(struct net_bench *b)
{
    int n = b->nhosts - 1 < SPREAD_HOSTS ? b->nhosts - 1 : SPREAD_HOSTS, wide = SPREAD_LEAST;

    if (n < 2)
        return;
    for (; wide <= SPREAD_MOST; wide *= 2) {
        const int sizes[] = { wide, (int)(wide * 1.414213562) };

        for (int s = 0; s < SPREAD_STEPS && sizes[s] <= SPREAD_MOST; s++) {
            measure_operation(b, NET_SCATTER, n, sizes[s]);
            measure_operation(b, NET_GATHER, n, sizes[s]);
        }
    }
}
