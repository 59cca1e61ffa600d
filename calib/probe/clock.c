/* clock.c - how far the clocks of hosts are apart
 *
 * F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989: the host's clock is read by a
 * round trip; half of the shortest one bounds the error.
 */
#include "probe.h"

#include <mpi.h>
#include <time.h>

enum { EXCHANGES = 50, TAG = 1 };

static double calendar(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ask(struct probe *p, int other)
{
    double best = 0, offset = 0, theirs = 0;

    for (int i = 0; i < EXCHANGES; i++) {
        double begin = probe_now(), here = calendar(), trip;

        MPI_Send(&here, 1, MPI_DOUBLE, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        trip = probe_now() - begin;
        if (!i || trip < best) {
            best = trip;
            offset = theirs - (here + trip / 2);
        }
    }
    fprintf(p->out, "clock %d %.9f %.9f\n", other, offset, best / 2);
}

static void answer(void)
{
    double t;

    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Recv(&t, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t = calendar();
        MPI_Send(&t, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    }
}

void probe_clocks(struct probe *p)
{
    for (int r = 1; r < p->nranks; r++) {
        if (p->leader[r] != r)
            continue;
        if (!p->rank)
            ask(p, r);
        else if (p->rank == r)
            answer();
    }
}
