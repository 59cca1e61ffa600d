/* trips.c - round trips between two processes, one pair after the other
 *
 * With several hosts each is paired with the next one, and the last with the first; on one host each process with the
 * next. A sample is the mean of as many round trips as take SAMPLE_S, TRIPS at most: single ones of a microsecond tell
 * more of the clock than of the network.
 */
#include "probe.h"

#include <mpi.h>
#include <stdlib.h>

enum { PAIRS_MAX = 32, TRIPS = 10, TAG = 2 };
static const double SAMPLE_S = 0.5e-3;
/* Around the sizes where paper 000 saw anomalies (section 7.4: 4, 16 and 64 KB), up to what is limited by the rate. */
static const int sizes[] = { 8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20 };
enum { NSIZES = sizeof sizes / sizeof sizes[0] };

/* Whole round trips, begun by `first`. Result: seconds of one, there. */
static double trips(char *data, int bytes, int n, int first, int other)
{
    double begin = probe_now();

    for (int i = 0; i < n; i++) {
        if (first)
            MPI_Send(data, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(data, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
    }
    return (probe_now() - begin) / n;
}

static void pair(struct probe *p, char *data, int a, int b)
{
    int first = p->rank == a, other = first ? b : a;

    for (int s = 0; s < NSIZES; s++) {
        double t = trips(data, sizes[s], 3, first, other);  /* connections are made, buffers touched */
        int n = t > 0 ? (int)(SAMPLE_S / t) : TRIPS;

        n = n < 1 ? 1 : n > TRIPS ? TRIPS : n;
        if (first)
            MPI_Send(&n, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(&n, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (first)
            fprintf(p->out, "trip %d %d %d", a, b, sizes[s]);
        for (int i = 0; i < p->repetitions; i++) {
            t = trips(data, sizes[s], n, first, other);
            if (first)
                fprintf(p->out, " %.9f", t);
        }
        if (first)
            fputc('\n', p->out);
    }
}

void probe_trips(struct probe *p)
{
    char *data = calloc(1, 1 << 20);
    int *ends = calloc((size_t)p->nranks, sizeof *ends), n = 0, several = 0, pairs, step;

    if (!data || !ends) {
        fputs("hrun-probe: memory ran out\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int r = 0; r < p->nranks; r++)
        several |= p->leader[r] > 0;
    for (int r = 0; r < p->nranks; r++)
        if (!several || p->leader[r] == r)
            ends[n++] = r;
    pairs = n > 2 ? n : n - 1;      /* two make one pair */
    step = (pairs + PAIRS_MAX - 1) / PAIRS_MAX;
    if (!p->rank && pairs > 0)
        fprintf(p->out, "pairs %d %d\n", (pairs + step - 1) / step, pairs);
    for (int i = 0; i < pairs; i += step) {
        int a = ends[i], b = ends[(i + 1) % n];

        MPI_Barrier(MPI_COMM_WORLD);
        if (p->rank == a || p->rank == b)
            pair(p, data, a, b);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(ends);
    free(data);
}
