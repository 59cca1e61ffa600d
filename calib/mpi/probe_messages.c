/* probe_messages.c - clocks, round trips between two processes, and all-to-all among all */
#include "hrun_probe.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* A sample is the mean of the trips, or calls, that fit into this time, at most TRIPS or CALLS. A single short trip
 * would rather measure the clock. */
static const double SAMPLE_S = 0.5e-3;

/* ---------------------------------------------------------------- clocks */

/* F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989: a round trip reads the host's
 * clock, and half of the shortest trip bounds the error. */

enum { EXCHANGES = 50, CLOCK_TAG = 1 };

static double calendar(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_clock(struct probe *p, int other)
{
    double best = 0, offset = 0, theirs = 0;

    for (int i = 0; i < EXCHANGES; i++) {
        double begin = mpi_now(), here = calendar(), trip;

        MPI_Send(&here, 1, MPI_DOUBLE, other, CLOCK_TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, other, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        trip = mpi_now() - begin;
        if (!i || trip < best) {
            best = trip;
            offset = theirs - (here + trip / 2);
        }
    }
    fprintf(p->out, "clock %d %.9f %.9f\n", other, offset, best / 2);
}

static void answer_clock(void)
{
    double t;

    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Recv(&t, 1, MPI_DOUBLE, 0, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t = calendar();
        MPI_Send(&t, 1, MPI_DOUBLE, 0, CLOCK_TAG, MPI_COMM_WORLD);
    }
}

void probe_clocks(struct probe *p)
{
    for (int r = 1; r < p->nranks; r++) {
        if (p->leader[r] != r)
            continue;
        if (!p->rank)
            read_clock(p, r);
        else if (p->rank == r)
            answer_clock();
    }
}

/* ---------------------------------------------------------------- round trips */

/* One pair runs after the other. With several hosts each host is paired with the next one; on one host each process is.
 * The last is paired with the first. */

enum { PAIRS_MAX = 32, TRIPS = 10, TAG = 2 };
/* Bytes: around the sizes with anomalies in paper 000 (section 7.4: 4, 16 and 64 KB), and up to sizes limited by the
 * rate. */
static const int trip_sizes[] = { 8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20 };
enum { NSIZES = sizeof trip_sizes / sizeof trip_sizes[0] };

/* Make n round trips with `bytes` both ways. Result: the mean time of one, s, on the leader; 0 on the other. */
static double mean_trip(const struct message_buffers *m, struct net_trial *t, int bytes, int n)
{
    double sum = 0, call;

    t->bytes = t->back = bytes;
    for (int i = 0; i < n; i++)
        if (m->rank == t->lead)
            sum += messages_lead(m, t, &call);
        else
            messages_follow(m, t);
    return sum / n;
}

static void probe_pair(struct probe *p, const struct message_buffers *m, int a, int b)
{
    /* Messages are sent from the memory that they arrived in, as programs send data that they have just written. */
    struct net_trial trial = { .lead = a, .nfollow = 1, .follow = &b, .in_turn = 1 };
    int first = p->rank == a, other = first ? b : a;

    for (int s = 0; s < NSIZES; s++) {
        double t = mean_trip(m, &trial, trip_sizes[s], 3);  /* sets up connections, touches buffers */
        int n = t > 0 ? (int)(SAMPLE_S / t) : TRIPS;

        n = n < 1 ? 1 : n > TRIPS ? TRIPS : n;
        if (first)
            MPI_Send(&n, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(&n, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (first)
            fprintf(p->out, "trip %d %d %d", a, b, trip_sizes[s]);
        for (int i = 0; i < p->repetitions; i++) {
            t = mean_trip(m, &trial, trip_sizes[s], n);
            if (first)
                fprintf(p->out, " %.9f", t);
        }
        if (first)
            fputc('\n', p->out);
    }
}

void probe_trips(struct probe *p)
{
    char *data = mpi_alloc(1, 1 << 20);
    int *ends = mpi_alloc((size_t)p->nranks, sizeof *ends), n = 0, several = 0, pairs, step;
    struct message_buffers m = { MPI_COMM_WORLD, p->rank, data, data, NULL };

    for (int r = 0; r < p->nranks; r++)
        several |= p->leader[r] > 0;
    for (int r = 0; r < p->nranks; r++)
        if (!several || p->leader[r] == r)
            ends[n++] = r;
    pairs = n > 2 ? n : n - 1;      /* two processes make one pair */
    step = (pairs + PAIRS_MAX - 1) / PAIRS_MAX;
    if (!p->rank && pairs > 0)
        fprintf(p->out, "pairs %d %d\n", (pairs + step - 1) / step, pairs);
    for (int i = 0; i < pairs; i += step) {
        int a = ends[i], b = ends[(i + 1) % n];

        MPI_Barrier(MPI_COMM_WORLD);
        if (p->rank == a || p->rank == b)
            probe_pair(p, &m, a, b);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(ends);
    free(data);
}

/* ---------------------------------------------------------------- all-to-all */

/* All-to-all reveals faults of networks first (paper 000, sections 7.2 and 7.3, figures 22 and 25). */

static const int alltoall_sizes[] = { 8, 1 << 10, 16 << 10, 128 << 10 };   /* bytes from each process to each other */
enum { CALLS = 10 };
static const size_t MEMORY_MAX = (size_t)32 << 20;                /* of each buffer of a process */

/* Result: the mean time of n calls on the slowest process, s, on rank 0. Collective. */
static double mean_alltoall(char *from, char *to, int bytes, int n)
{
    double t, most = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    t = mpi_now();
    for (int i = 0; i < n; i++)
        MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
    t = (mpi_now() - t) / n;
    MPI_Reduce(&t, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

void probe_alltoall(struct probe *p)
{
    for (size_t s = 0; s < sizeof alltoall_sizes / sizeof alltoall_sizes[0] && p->nranks > 1; s++) {
        size_t bytes = (size_t)alltoall_sizes[s] * (size_t)p->nranks;
        char *from, *to;
        double t;
        int n;

        if (bytes > MEMORY_MAX)
            break;
        from = mpi_alloc(1, bytes);
        to = mpi_alloc(1, bytes);
        if (!p->rank)
            fprintf(p->out, "alltoall %d", alltoall_sizes[s]);
        mean_alltoall(from, to, alltoall_sizes[s], 1);       /* sets up connections, touches buffers */
        t = mean_alltoall(from, to, alltoall_sizes[s], 1);
        n = t > 0 && t < SAMPLE_S ? (int)(SAMPLE_S / t) : 1;
        n = n > CALLS ? CALLS : n;
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < p->repetitions; i++) {
            t = mean_alltoall(from, to, alltoall_sizes[s], n);
            if (!p->rank)
                fprintf(p->out, " %.9f", t);
        }
        if (!p->rank)
            fputc('\n', p->out);
        free(from);
        free(to);
    }
}
