/* local.c - between the processes of a host, by the kinds of their PEs; all hosts at the same time */
#include "measure.h"

#include <stdlib.h>

enum { TAG_MEAN = 10 };
static const int sizes[] = { 0, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20 };
enum { NSIZES = sizeof sizes / sizeof sizes[0] };
/* Of as many kinds each is tried with each: processors have three kinds of cores at most, so these are ample, and 64
 * pairs are soon measured. The model has room for more (HRUN_NET_KINDS_MAX). */
enum { KINDS_MOST = 8 };
enum { SIMULATED = 3 };

/* The m-th process of this host whose PE is of a kind (-1: any), passing over `but`. -1: there is none. */
static int process(const struct net_bench *b, int kind, int m, int but)
{
    for (int r = 0; r < b->nranks; r++)
        if (b->host_of[r] == b->host && (kind < 0 || b->kind_of[r] == kind) && r != but && !m--)
            return r;
    return -1;
}

static int trip(struct net_bench *b, int from, int to, int bytes, int fixed, struct net_times *m)
{
    struct net_trial t = { .lead = from, .follow = &to, .nfollow = 1, .bytes = bytes, .fixed = fixed };

    return (b->rank == from || b->rank == to) && net_try(b, &t, m);
}

static void kinds(struct net_bench *b, int from_kind, int to_kind)
{
    int from = process(b, from_kind, 0, -1), to = process(b, to_kind, 0, from);

    for (int s = 0; s < NSIZES && from >= 0 && to >= 0; s++) {
        struct net_record r = { .kind = NET_LOCAL, .i = b->host, .j = from_kind, .k = to_kind, .bytes = sizes[s] };
        struct net_times m;

        if (trip(b, from, to, sizes[s], 0, &m))
            net_keep(b, &r, &m);
    }
}

/* All processes of one kind in pairs at once: what the memory of the host gives to all. The first one of the host is
 * told what the others found. */
static void at_once(struct net_bench *b, int kind, int bytes)
{
    int first = process(b, kind, 0, -1), n = 0, fixed = b->set.most > b->set.least ? NET_FIXED : SIMULATED;
    struct net_record r = { .kind = NET_LOCAL, .i = b->host, .j = kind, .k = kind, .bytes = bytes };
    struct net_times m = { 0 };
    double told[2] = { 0 }, sum = 0;    /* of one pair: the median, the longest */

    while (process(b, kind, 2 * n + 1, -1) >= 0)
        n++;
    for (int k = 0; k < n && n > 1; k++) {
        int from = process(b, kind, 2 * k, -1), to = process(b, kind, 2 * k + 1, -1);

        if (!trip(b, from, to, bytes, fixed, &m))
            continue;
        sum = told[0] = m.median_s;
        told[1] = m.max_s;
        if (from != first)
            MPI_Send(told, 2, MPI_DOUBLE, first, TAG_MEAN, b->comm);
    }
    for (int k = 1; k < n && b->rank == first; k++) {
        MPI_Recv(told, 2, MPI_DOUBLE, process(b, kind, 2 * k, -1), TAG_MEAN, b->comm, MPI_STATUS_IGNORE);
        sum += told[0];
        m.max_s = told[1] > m.max_s ? told[1] : m.max_s;
    }
    r.n = n;
    m.median_s = n ? sum / n : 0;
    if (n > 1 && b->rank == first && m.median_s > 0)
        net_keep(b, &r, &m);
}

void net_locals(struct net_bench *b)
{
    for (int a = 0; a < KINDS_MOST; a++)
        for (int c = 0; c < KINDS_MOST; c++)
            kinds(b, a, c);
    for (int a = 0; a < KINDS_MOST; a++)
        for (int s = NSIZES - 2; s < NSIZES; s++)
            at_once(b, a, sizes[s]);
}
