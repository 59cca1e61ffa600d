/* collectives.c - what each collective operation takes under SimGrid's SMPI, for tests/accuracy/net
 *
 * Usage: collectives OP[,...] LEAST MOST
 * For sizes LEAST, 2 LEAST, ... MOST bytes (as struct hrun_net_call counts them) all ranks begin an operation at one
 * time of the simulation; printed is "OP BYTES SECONDS", the time until the last rank has ended (p2p: the longest of
 * all r to r + 1). There is no noise: once is enough.
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct buffers {
    char *out, *in;            /* of all ranks' messages; shared by all ranks, their contents are worth nothing */
    int rank, n;
};

/* Reductions are of doubles where the size allows. */

/* From rank `turn` to the next. */
static void p2p(const struct buffers *b, int bytes, int turn)
{
    if (b->rank == turn)
        MPI_Send(b->out, bytes, MPI_BYTE, turn + 1, 0, MPI_COMM_WORLD);
    if (b->rank == turn + 1)
        MPI_Recv(b->in, bytes, MPI_BYTE, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Sendrecv(b->out, bytes, MPI_BYTE, (b->rank + 1) % b->n, 0, b->in, bytes, MPI_BYTE,
                 (b->rank + b->n - 1) % b->n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void scatter(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Scatter(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Gather(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void bcast(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Bcast(b->out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    if (bytes % 8)
        MPI_Reduce(b->out, b->in, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(b->out, b->in, bytes / 8, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

static void allreduce(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    if (bytes % 8)
        MPI_Allreduce(b->out, b->in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    else
        MPI_Allreduce(b->out, b->in, bytes / 8, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void allgather(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Allgather(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(const struct buffers *b, int bytes, int turn)
{
    (void)turn;
    MPI_Alltoall(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(const struct buffers *b, int bytes, int turn)
{
    (void)b;
    (void)bytes;
    (void)turn;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*play)(const struct buffers *b, int bytes, int turn);
} OPS[] = { { "p2p", p2p }, { "ring", ring }, { "scatter", scatter }, { "gather", gather }, { "bcast", bcast },
            { "reduce", reduce }, { "allreduce", allreduce }, { "allgather", allgather }, { "alltoall", alltoall },
            { "barrier", barrier } };

/* All ranks go on at one time, some whole seconds of the simulation later. Result: that time. */
static double begin_together(void)
{
    double now = MPI_Wtime(), start, rest;
    struct timespec pause;

    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start = (double)(long)start + 2;
    rest = start - MPI_Wtime();
    pause.tv_sec = (time_t)rest;
    pause.tv_nsec = (long)((rest - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
    return start;
}

/* Is name one of the words of a list with commas? */
static int listed(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = list; (p = strstr(p, name)); p += len)
        if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct buffers b;
    size_t size;
    int most = argc == 4 ? atoi(argv[3]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.n);
    if (most < 1 || b.n < 2) {
        fprintf(stderr, "usage: collectives OP[,...] LEAST MOST, with 2 ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size = (size_t)most * (size_t)b.n;
    b.out = SMPI_SHARED_MALLOC(size);
    b.in = SMPI_SHARED_MALLOC(size);
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++) {
        if (!listed(argv[1], OPS[i].name))
            continue;
        for (int bytes = atoi(argv[2]); bytes <= most; bytes *= 2) {
            double mine = 0, last;

            for (int turn = 0; turn < (OPS[i].play == p2p ? b.n - 1 : 1); turn++) {
                double start = begin_together(), end;

                OPS[i].play(&b, bytes, turn);
                end = MPI_Wtime() - start;
                mine = end > mine ? end : mine;
            }
            MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (b.rank == 0)
                printf("%s %d %.12g\n", OPS[i].name, bytes, last);
        }
    }
    SMPI_SHARED_FREE(b.out);
    SMPI_SHARED_FREE(b.in);
    MPI_Finalize();
    return 0;
}
