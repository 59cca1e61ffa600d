/* fans.c - messages between one host and two others, which show what serialises its messages; messages inside hosts
 *
 * Paper 002, section 3: T_i(M), in which host i sends M bytes each to j and k and gets empty replies. Triples that
 * share no host are measured at the same time. The reverse, in which j and k send, is measured, too, since a port may
 * receive more slowly than it sends. A triple is inside one group, where triples do not disturb each other. The slower
 * one of j and k gets fewer bytes; with equal bytes its own time would hide that of i's port.
 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

/* The size for the slower follower is a multiple of 1 / PARTS of the message. Smaller differences count as scatter. */
enum { PARTS = 8 };

/* Measure hosts i, j, k. bytes[2]: sent to j and to k (NET_FAN), or by them (NET_JOIN). */
static void measure_fan(struct net_bench *b, enum net_kind kind, int i, int j, int k, const int *bytes)
{
    const int others[] = { b->leader[j], b->leader[k] };
    struct net_trial t = { .lead = b->leader[i], .nfollow = 2, .follow = others,
                           .bytes = kind == NET_FAN ? bytes[0] : 0, .back = kind == NET_FAN ? 0 : bytes[0],
                           .second = bytes[1] };
    struct net_record r = { .kind = kind, .i = i, .j = j, .k = k, .bytes = bytes[0],
                            .back = bytes[1] == bytes[0] ? 0 : bytes[1] };

    net_measure(b, &t, &r);
}

/* The time of a trip of b->bytes between host i and another one, and the part due to the bytes, s. */
struct port_time {
    double trip_s, bytes_s;
};

static struct port_time port_time(const struct net_bench *b, int i, int other, int from)
{
    int there = i * b->nhosts + other, back = other * b->nhosts + i;

    return (struct port_time){ b->full.s[from ? back : there],
                         from ? net_bytes_take(b, other, i) : net_bytes_take(b, i, other) };
}

/* Set bytes[2] for j and k. The slower one gets so few bytes that its trip takes no longer than that of the faster one,
 * if each is made alone. Then i's port determines the time of both trips at once. */
static void balance_bytes(const struct net_bench *b, int i, int j, int k, int from, int *bytes)
{
    struct port_time one = port_time(b, i, j, from), two = port_time(b, i, k, from), fast, slow;
    int few;

    bytes[0] = bytes[1] = b->bytes;
    fast = one.bytes_s < two.bytes_s ? one : two;
    slow = one.bytes_s < two.bytes_s ? two : one;
    if (!(fast.bytes_s > 0) || lround(PARTS * fast.bytes_s / slow.bytes_s) == PARTS)
        return;
    few = (int)floor(PARTS * fmin(1, (fast.trip_s - (slow.trip_s - slow.bytes_s)) / slow.bytes_s));
    bytes[two.bytes_s > one.bytes_s] = b->bytes / PARTS * (few > 1 ? few : 1);
}

static void measure_fans_from(struct net_bench *b, int i, int j, int k)
{
    int bytes[2] = { 0, 0 };

    measure_fan(b, NET_FAN, i, j, k, bytes);
    balance_bytes(b, i, j, k, 0, bytes);
    measure_fan(b, NET_FAN, i, j, k, bytes);
    balance_bytes(b, i, j, k, 1, bytes);
    measure_fan(b, NET_JOIN, i, j, k, bytes);
}

/* Measure the fans and joins of a group with the hosts member[n]. triples: scratch. */
static void measure_fans_of(struct net_bench *b, const int *member, int n, int *triples)
{
    for (int r = 0; r < net_triple_rounds(n); r++) {
        int count = net_triples(n, r, triples);

        for (int q = 0; q < count; q++) {
            int i = member[triples[3 * q]], j = member[triples[3 * q + 1]], k = member[triples[3 * q + 2]];

            if (b->apart)
                net_rest(b);
            measure_fans_from(b, i, j, k);
            measure_fans_from(b, j, k, i);
            measure_fans_from(b, k, i, j);
        }
    }
}

/* The least time of b->bytes from or to a host, s, which is an upper limit of the time on its port. */
static double best_bytes(const struct net_bench *b, int host)
{
    double least = INFINITY;

    for (int other = 0; other < b->nhosts; other++)
        for (int in = 0; in < 2; in++) {
            double s = in ? net_bytes_take(b, other, host) : net_bytes_take(b, host, other);

            least = s > 0 ? fmin(least, s) : least;
        }
    return least;
}

/* Sort by the port's time, slowest first, since the first hosts rest in round 0. The triples of round 0 are neighbours
 * in this order. So in one of these triples two hosts together are faster than the port of the third, if any triple
 * allows that. */
static void sort_by_port(const struct net_bench *b, int *member, int n)
{
    for (int m = 1; m < n; m++)
        for (int k = m; k > 0 && best_bytes(b, member[k]) > best_bytes(b, member[k - 1]); k--) {
            int swap = member[k];

            member[k] = member[k - 1];
            member[k - 1] = swap;
        }
}

void net_fans(struct net_bench *b)
{
    int *member = mpi_alloc((size_t)b->nhosts, sizeof *member), *triples = mpi_alloc((size_t)b->nhosts,
                                                                                     sizeof *triples);

    for (int g = 0; g < b->ngroups && b->nhosts > 2; g++) {
        int n = 0;

        for (int h = 0; h < b->nhosts; h++)
            if (b->group_of[h] == g)
                member[n++] = h;
        sort_by_port(b, member, n);
        measure_fans_of(b, member, n, triples);
        for (int m = 0; m < n && n < 3; m++) {      /* too few for a triple: use hosts of other groups, one at a time */
            int i = member[m];

            net_rest(b);
            measure_fans_from(b, i, (i + 1) % b->nhosts, (i + 2) % b->nhosts);
        }
    }
    free(member);
    free(triples);
}

/* ---------------------------------------------------------------- inside hosts */

/* Messages between the processes of a host, by the kinds of their PEs; on all hosts at the same time. */

enum { TAG_MEAN = 10 };
static const int sizes[] = { 0, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20 };
enum { NSIZES = sizeof sizes / sizeof sizes[0] };
/* Kinds 0 .. KINDS_MOST - 1 are measured with each other: processors have at most three kinds of cores, and 64 pairs
 * take little time. The model allows more (HRUN_NET_KINDS_MAX). */
enum { KINDS_MOST = 8 };
enum { SIMULATED = 3 };

/* Result: the rank of process m, counted from 0, on PEs of this kind (-1: of any kind) of this host, without rank
 * `but`; -1 if there is none. */
static int host_process(const struct net_bench *b, int kind, int m, int but)
{
    for (int r = 0; r < b->nranks; r++)
        if (b->host_of[r] == b->host && (kind < 0 || b->kind_of[r] == kind) && r != but && !m--)
            return r;
    return -1;
}

static void measure_kinds(struct net_bench *b, int from_kind, int to_kind)
{
    int from = host_process(b, from_kind, 0, -1), to = host_process(b, to_kind, 0, from);

    for (int s = 0; s < NSIZES && from >= 0 && to >= 0; s++) {
        struct net_record r = { .kind = NET_LOCAL, .i = b->host, .j = from_kind, .k = to_kind, .bytes = sizes[s] };
        struct net_trial t = { .lead = from, .follow = &to, .nfollow = 1, .bytes = sizes[s] };

        net_measure(b, &t, &r);
    }
}

/* Measure all processes of one kind in pairs at once; the pairs share the host's memory bandwidth. The first process of
 * the kind collects the times and keeps their mean. */
static void local_trips_at_once(struct net_bench *b, int kind, int bytes)
{
    int first = host_process(b, kind, 0, -1), n = 0, fixed = b->set.most > b->set.least ? NET_FIXED : SIMULATED;
    struct net_record r = { .kind = NET_LOCAL, .i = b->host, .j = kind, .k = kind, .bytes = bytes };
    struct net_times m = { 0 };
    double pair_times[2] = { 0 }, sum = 0;    /* pair_times: median and maximum of one pair */

    while (host_process(b, kind, 2 * n + 1, -1) >= 0)
        n++;
    for (int k = 0; k < n && n > 1; k++) {
        int from = host_process(b, kind, 2 * k, -1), to = host_process(b, kind, 2 * k + 1, -1);
        struct net_trial t = { .lead = from, .follow = &to, .nfollow = 1, .bytes = bytes, .fixed = fixed };

        if (!net_try(b, &t, &m))
            continue;
        sum = pair_times[0] = m.median_s;
        pair_times[1] = m.max_s;
        if (from != first)
            MPI_Send(pair_times, 2, MPI_DOUBLE, first, TAG_MEAN, b->m.comm);
    }
    for (int k = 1; k < n && b->m.rank == first; k++) {
        MPI_Recv(pair_times, 2, MPI_DOUBLE, host_process(b, kind, 2 * k, -1), TAG_MEAN, b->m.comm, MPI_STATUS_IGNORE);
        sum += pair_times[0];
        m.max_s = pair_times[1] > m.max_s ? pair_times[1] : m.max_s;
    }
    r.n = n;
    m.median_s = n ? sum / n : 0;
    if (n > 1 && b->m.rank == first && m.median_s > 0)
        net_keep(b, &r, &m);
}

void net_inside_hosts(struct net_bench *b)
{
    for (int a = 0; a < KINDS_MOST; a++)
        for (int c = 0; c < KINDS_MOST; c++)
            measure_kinds(b, a, c);
    for (int a = 0; a < KINDS_MOST; a++)
        for (int s = NSIZES - 2; s < NSIZES; s++)
            local_trips_at_once(b, a, sizes[s]);
}
