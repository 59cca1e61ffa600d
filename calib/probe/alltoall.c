/* alltoall.c - all-to-all among all processes: where networks show first what they cannot bear (paper 000, sections 7.2
 * and 7.3, figures 22 and 25) */
#include "probe.h"

#include <mpi.h>
#include <stdlib.h>

static const int sizes[] = { 8, 1 << 10, 16 << 10, 128 << 10 };   /* bytes from each process to each */
enum { CALLS = 10 };
static const double SAMPLE_S = 0.5e-3;    /* a sample is the mean of as many calls as take this long, CALLS at most */
static const size_t MEMORY_MAX = (size_t)32 << 20;                /* of each buffer of a process */

/* Result: on rank 0 the mean time of n calls on the process where they took longest. */
static double calls(char *from, char *to, int bytes, int n)
{
    double t, most = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    t = probe_now();
    for (int i = 0; i < n; i++)
        MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
    t = (probe_now() - t) / n;
    MPI_Reduce(&t, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

void probe_alltoall(struct probe *p)
{
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && p->nranks > 1; s++) {
        size_t bytes = (size_t)sizes[s] * (size_t)p->nranks;
        char *from, *to;
        double t;
        int n;

        if (bytes > MEMORY_MAX)
            break;
        from = calloc(1, bytes);
        to = calloc(1, bytes);
        if (!from || !to) {
            fputs("hrun-probe: memory ran out\n", stderr);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (!p->rank)
            fprintf(p->out, "alltoall %d", sizes[s]);
        calls(from, to, sizes[s], 1);       /* connections are made, buffers touched */
        t = calls(from, to, sizes[s], 1);
        n = t > 0 && t < SAMPLE_S ? (int)(SAMPLE_S / t) : 1;
        n = n > CALLS ? CALLS : n;
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < p->repetitions; i++) {
            t = calls(from, to, sizes[s], n);
            if (!p->rank)
                fprintf(p->out, " %.9f", t);
        }
        if (!p->rank)
            fputc('\n', p->out);
        free(from);
        free(to);
    }
}
