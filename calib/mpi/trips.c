/* trips.c - round trips of all pairs, in rounds of disjoint pairs; pairs that disturb each other run one at a time
 *
 * Paper 002, section 3: T_ij(0), and T_ij(M) with empty replies. Both directions are measured, since rates may differ.
 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If there are more hosts, each is measured with only FULL_MOST - 1 others, since hosts of one kind share
 * parameters. */
enum { FULL_MOST = 32 };
/* Simultaneous trips disturb each other if a trip alone is shorter by more than this fraction. */
static const double DISTURBED = 0.1;
/* Latencies of hosts behind different switches differ by more than this fraction of the median latency. It is more than
 * the noise of medians and less than one switch hop (a third of the latency of a path with three hops). */
static const double GROUP_SLACK = 0.25;
/* Messages between two parts share a bottleneck if their slowdown is more than this multiple of that inside the
 * parts. */
static const double SLOWED = 1.2;
/* The bytes of all simultaneous trips together take at least this multiple of an empty trip. Trips begin up to one
 * empty trip apart, so a shared rate has a relative error of at most 1 / SEEN_BESIDE. */
static const double SEEN_BESIDE = 64;
#ifdef HRUN_SMPI
enum { SIMULATED = 1 };
#else
enum { SIMULATED = 0 };
#endif

/* sqrt(pi / 2): the standard error of the median of n normal values is this times sd / sqrt(n). */
static const double MEDIAN_ERROR = 1.2533;

/* Measure the trip from host i to host j. */
static void measure_trip(struct net_bench *b, int i, int j, int bytes, struct trip_table into)
{
    struct net_trial t = { .lead = b->leader[i], .follow = &b->leader[j], .nfollow = 1, .bytes = bytes };
    struct net_record r = { .kind = NET_TRIP, .i = i, .j = j, .k = -1, .bytes = bytes };
    struct net_times m;

    if (!net_try(b, &t, &m))
        return;
    into.s[i * b->nhosts + j] = m.median_s;
    into.error[i * b->nhosts + j] = MEDIAN_ERROR * m.sd_s / sqrt(m.n);
    net_keep(b, &r, &m);
    if (bytes > b->eager)
        return;
    r.kind = NET_CALL;
    m.median_s = m.call_s;
    m.sd_s = m.call_sd_s;
    m.max_s = m.call_max_s;
    net_keep(b, &r, &m);
}

static void share_table(struct net_bench *b, struct trip_table t)
{
    net_rest(b);
    MPI_Allreduce(MPI_IN_PLACE, t.s, b->nhosts * b->nhosts, MPI_DOUBLE, MPI_SUM, b->m.comm);
    MPI_Allreduce(MPI_IN_PLACE, t.error, b->nhosts * b->nhosts, MPI_DOUBLE, MPI_SUM, b->m.comm);
}

static int full_rounds(int n)
{
    return n > FULL_MOST ? net_rounds(FULL_MOST) : net_rounds(n);
}

/* Measure a trip with bytes in each direction, but an empty trip in only one: each host leads about half of its empty
 * trips. */
static void trip_pair(struct net_bench *b, int i, int j, int bytes, struct trip_table into)
{
    int low = i < j ? i : j, high = i < j ? j : i;

    if (bytes || (low + high) % 2)
        measure_trip(b, low, high, bytes, into);
    if (bytes || (low + high) % 2 == 0)
        measure_trip(b, high, low, bytes, into);
}

/* Measure all rounds, without a barrier between them: a host continues as soon as its partner is ready. */
static void trips_in_rounds(struct net_bench *b, int bytes, struct trip_table into)
{
    for (int r = 0; r < full_rounds(b->nhosts); r++) {
        int other = net_partner(b->nhosts, r, b->host);

        if (other >= 0)
            trip_pair(b, b->host, other, bytes, into);
    }
    share_table(b, into);
}

/* 1 if no other trip runs during trips of i and j, else 0. */
static int is_alone(const struct net_bench *b, int i, int j)
{
    return b->apart || b->group_of[i] != b->group_of[j];
}

/* 1 if i and j are partners in one of the rounds, else 0. */
static int is_tried(int n, int i, int j)
{
    int r = 0;

    while (r < full_rounds(n) && net_partner(n, r, i) != j)
        r++;
    return r < full_rounds(n);
}

/* Measure the trips of trips_in_rounds one pair at a time, with a barrier before each pair; pairs inside a group only
 * if b->apart. Trips of two pairs with a common host never overlap, so a simulation needs no barrier between them.
 * Every second host takes its partners in descending order, so consecutive pairs often have a common host. */
static void trips_one_by_one(struct net_bench *b, int bytes, struct trip_table into)
{
    int n = b->nhosts, last[2] = { -1, -1 };

    for (int i = 0; i < n; i++)
        for (int m = i + 1; m < n; m++) {
            int j = i % 2 ? n + i - m : m;

            if (!is_alone(b, i, j) || !is_tried(n, i, j))
                continue;
            if (!SIMULATED || (i != last[0] && j != last[1]))
                net_rest(b);
            trip_pair(b, i, j, bytes, into);
            last[0] = i;
            last[1] = j;
        }
    share_table(b, into);
}

/* ---------------------------------------------------------------- many at once */

/* The time of an empty trip, s, and its standard error. The entry of the host that did not lead it is 0. */
static double empty_trip(const struct net_bench *b, int i, int j, double *error)
{
    int there = i * b->nhosts + j, back = j * b->nhosts + i;

    *error = hypot(b->empty.error[there], b->empty.error[back]);
    return b->empty.s[there] + b->empty.s[back];
}

double net_bytes_take(const struct net_bench *b, int i, int j)
{
    double error, all = b->full.s[i * b->nhosts + j], empty = i == j ? 0 : empty_trip(b, i, j, &error);

    return all > empty && empty > 0 ? all - empty : 0;
}

/* b->bytes, doubled (up to `most`) until n simultaneous trips from[k] to to[k] satisfy SEEN_BESIDE. */
static int bytes_beside(const struct net_bench *b, const int *from, const int *to, int n, int most)
{
    int bytes = b->bytes;

    for (int k = 0; k < n; k++) {
        double error, take = net_bytes_take(b, from[k], to[k]), empty = empty_trip(b, from[k], to[k], &error);

        while (take > 0 && 2 * bytes <= most && n * take / b->bytes * bytes < SEEN_BESIDE * empty)
            bytes *= 2;
    }
    return bytes;
}

/* Measure n simultaneous trips of `bytes` from host from[k] to to[k]. took[n]: their times, on all processes.
 * Collective. */
static void trips_at_once(struct net_bench *b, const int *from, const int *to, int n, int bytes, struct net_times *took)
{
    struct net_times m;

    memset(took, 0, (size_t)n * sizeof *took);
    net_rest(b);
    for (int k = 0; k < n; k++) {
        struct net_trial t = { .lead = b->leader[from[k]], .follow = &b->leader[to[k]], .nfollow = 1,
                               .bytes = bytes, .fixed = b->set.most > b->set.least ? NET_FIXED : 1 };

        if (net_try(b, &t, &m))
            took[k] = m;
    }
    net_rest(b);
    MPI_Allreduce(MPI_IN_PLACE, took, n * (int)sizeof *took, MPI_BYTE, MPI_BOR, b->m.comm);     /* other processes
                                                                                                   have 0 */
}

/* The m-th host of a group; -1: there is none. */
static int host_of_group(const struct net_bench *b, int group, int m)
{
    for (int h = 0; h < b->nhosts; h++)
        if (b->group_of[h] == group && !m--)
            return h;
    return -1;
}

static int group_size(const struct net_bench *b, int group)
{
    int n = 0;

    while (host_of_group(b, group, n) >= 0)
        n++;
    return n;
}

/* Measure n simultaneous trips from group g to group h, and keep one record with the means over the trips. */
static void measure_pairs(struct net_bench *b, int g, int h, int n)
{
    struct net_record r = { .kind = NET_PAIRS, .i = g, .j = h, .k = -1, .n = n };
    struct net_times *took = mpi_alloc((size_t)n, sizeof *took), mean = { 0 };
    int *from = mpi_alloc(2 * (size_t)n, sizeof *from), *to = from + n, known = 0;

    for (int k = 0; k < n; k++) {
        from[k] = host_of_group(b, g, k);
        to[k] = host_of_group(b, h, g == h ? n + k : k);
    }
    r.bytes = bytes_beside(b, from, to, n, NET_BYTES_MAX);
    trips_at_once(b, from, to, n, r.bytes, took);
    for (int k = 0; k < n; k++) {
        mean.n = took[k].n;
        mean.median_s += took[k].median_s / n;
        mean.sd_s += took[k].sd_s / n;
        mean.max_s += took[k].max_s / n;
        known += took[k].median_s > 0;
    }
    if (!b->m.rank && known == n)
        net_keep(b, &r, &mean);
    free(took);
    free(from);
}

void net_pairs(struct net_bench *b)
{
    for (int g = 0; g < b->ngroups; g++)
        for (int h = 0; h < b->ngroups; h++) {
            int ng = group_size(b, g), nh = group_size(b, h), n = g == h ? ng / 2 : ng < nh ? ng : nh;

            if (n > 1)
                measure_pairs(b, g, h, n);
        }
}

/* ---------------------------------------------------------------- groups */

struct load {
    struct net_bench *b;
    double *byte_s, *out, *in;         /* byte_s: nhosts by nhosts */
    int *from, *to;                    /* nhosts each */
    struct net_times *took;            /* nhosts */
};

/* Mean, over n simultaneous trips, of the time of the bytes over the best time of the two hosts. */
static double mean_slowdown(const struct load *l, int n, int bytes)
{
    double sum = 0, error;

    trips_at_once(l->b, l->from, l->to, n, bytes, l->took);
    for (int k = 0; k < n; k++)
        sum += (l->took[k].median_s - empty_trip(l->b, l->from[k], l->to[k], &error)) /
               fmax(l->out[l->from[k]], l->in[l->to[k]]) / n;
    return sum;
}

/* Store pairs of neighbours in v[n] in l->from and l->to, from index k up to `most`. Result: the next index. */
static int pair_neighbours(const struct load *l, const int *v, int n, int k, int most)
{
    for (int m = 0; m + 1 < n && k < most; m += 2, k++) {
        l->from[k] = v[m];
        l->to[k] = v[m + 1];
    }
    return k;
}

static int parts_slow_each_other(void *ctx, const int *a, int na, const int *b, int nb)
{
    const struct load *l = ctx;
    int n = na < nb ? na : nb, inside, bytes;
    double across;

    for (int k = 0; k < n; k++) {
        l->from[k] = a[k];
        l->to[k] = b[k];
    }
    /* Above the eager limit latencies differ from those of empty messages. */
    bytes = bytes_beside(l->b, l->from, l->to, n, l->b->eager);
    across = mean_slowdown(l, n, bytes);
    inside = pair_neighbours(l, a, na, 0, n);
    inside = pair_neighbours(l, b, nb, inside, n);
    return across > SLOWED * mean_slowdown(l, inside, bytes);
}

static void find_groups(struct net_bench *b)
{
    size_t n = (size_t)b->nhosts, nn = n * n;
    double *s = mpi_alloc(2 * nn + 2 * n, sizeof *s), *error = s + nn;
    int *hosts = mpi_alloc(2 * n, sizeof *hosts);
    struct net_times *took = mpi_alloc(n, sizeof *took);
    struct load l = { b, s, s + 2 * nn, s + 2 * nn + n, hosts, hosts + n, took };

    for (int i = 0; i < b->nhosts; i++)
        for (int j = 0; j < b->nhosts; j++)
            s[i * b->nhosts + j] = i == j ? 0 : empty_trip(b, i, j, &error[i * b->nhosts + j]);
    b->ngroups = net_groups(s, error, b->nhosts, GROUP_SLACK, b->group_of);
    for (int i = 0; i < b->nhosts; i++)
        for (int j = 0; j < b->nhosts; j++)
            s[i * b->nhosts + j] = net_bytes_take(b, i, j);
    net_own_rates(s, b->nhosts, l.out, l.in);
    b->ngroups = net_groups_loaded(s, b->nhosts, &(struct net_load){ parts_slow_each_other, &l }, b->group_of);
    free(s);
    free(hosts);
    free(took);
}

/* ---------------------------------------------------------------- one at a time if trips disturb each other */

/* 1 if a trip inside a group is shorter alone than beside others, else 0. Measures one pair of round 0 again. */
static int are_disturbed(struct net_bench *b)
{
    int n = b->nhosts, i = 0, j, before = b->n, differ = 0;
    size_t size = (size_t)n * (size_t)n;
    struct trip_table alone = { mpi_alloc(size, sizeof *alone.s), mpi_alloc(size, sizeof *alone.error) };

    while (i < n - 1 && (net_partner(n, 0, i) < 0 || b->group_of[net_partner(n, 0, i)] != b->group_of[i]))
        i++;
    j = net_partner(n, 0, i);
    net_rest(b);
    if (j >= 0)
        measure_trip(b, i, j, b->bytes, alone);
    share_table(b, alone);
    b->n = before;
    differ = j >= 0 && alone.s[i * n + j] > 0 && alone.s[i * n + j] < (1 - DISTURBED) * b->full.s[i * n + j];
    free(alone.s);
    free(alone.error);
    return differ;
}

/* From record `first` on, drop the records and times of pairs that will be measured again. The other times stay on
 * process 0 only, since share_table adds up. */
static void drop_records(struct net_bench *b, int first)
{
    int n = b->nhosts, kept = first;

    for (int k = first; k < b->n; k++)
        if (!b->apart && b->group_of[b->v[k].i] == b->group_of[b->v[k].j])
            b->v[kept++] = b->v[k];
    b->n = kept;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (b->apart || b->group_of[i] != b->group_of[j] || b->m.rank)
                b->full.s[i * n + j] = b->full.error[i * n + j] = 0;
}

void net_trips(struct net_bench *b)
{
    int first;

    if (b->nhosts < 2)
        return;
    trips_in_rounds(b, 0, b->empty);
    first = b->n;
    trips_in_rounds(b, b->bytes, b->full);
    find_groups(b);
    b->apart = b->nhosts > 3 && are_disturbed(b);
    if (b->ngroups == 1 && !b->apart)
        return;
    drop_records(b, first);
    trips_one_by_one(b, b->bytes, b->full);
}

/* ---------------------------------------------------------------- both ways at once */

/* The number of partners of each host inside its group, and of pairs between any two groups. Pairs between groups show
 * whether both directions share the trunk. */
enum { BOTHS = 3 };

static void measure_both(struct net_bench *b, int i, int j, int bytes)
{
    struct net_record rec = { .kind = NET_BOTH, .i = i, .j = j, .k = -1, .bytes = bytes, .back = bytes };
    struct net_trial t = { .lead = b->leader[i], .nfollow = 1, .follow = &b->leader[j], .bytes = bytes,
                           .back = bytes, .both = 1 };

    if (is_alone(b, i, j))
        net_rest(b);
    net_measure(b, &t, &rec);
}

void net_boths(struct net_bench *b)
{
    int n = b->ngroups, waiting = 0, *tried = mpi_alloc((size_t)n * (size_t)n, sizeof *tried);

    for (int r = 0; r < net_rounds(b->nhosts) && r < BOTHS; r++)
        for (int i = 0; i < b->nhosts; i++) {
            int j = net_partner(b->nhosts, r, i), g, h;

            if (j < i)
                continue;
            g = b->group_of[i] < b->group_of[j] ? b->group_of[i] : b->group_of[j];
            h = b->group_of[i] + b->group_of[j] - g;
            if (g == h || tried[g * n + h]++ < BOTHS)
                measure_both(b, i, j, b->bytes);
            /* A few pairs are enough for a size whose sends wait for the receiver. */
            if (r == 0 && b->eager && 2 * b->eager < NET_BYTES_MAX && waiting++ < BOTHS)
                measure_both(b, i, j, 2 * b->eager);
        }
    free(tried);
}
