/* colltimes.c - what collective operations take, from when all ranks begin until the last has ended
 *
 *     colltimes ROUNDS MOST_S [OPERATION:BYTES]...
 * For ranks whose clocks are one (the emulated hosts of tests/lab, processes of one host): all begin at one time of
 * CLOCK_MONOTONIC, for which they wait asleep. Operations and bytes as in lib/net/net.h, without p2p and ring. After
 * one round that does not count, ROUNDS rounds of each or, where these would take more than MOST_S seconds, fewer, and
 * not fewer than 3. Rank 0 prints a line for each: operation, bytes, rounds, median, quartiles and the longest in
 * seconds.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* After all have come together, by when the last of them surely sleeps until the start. */
static const double LEAD_S = 3e-3;
enum { LEAST = 3 };

struct bufs {
    char *out, *in;
    int bytes, doubles;            /* doubles: so many, 0: bytes are no multiple of theirs */
};

static void scatter(const struct bufs *b)
{
    MPI_Scatter(b->out, b->bytes, MPI_BYTE, b->in, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(const struct bufs *b)
{
    MPI_Gather(b->out, b->bytes, MPI_BYTE, b->in, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void bcast(const struct bufs *b)
{
    MPI_Bcast(b->out, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(const struct bufs *b)
{
    if (b->doubles)
        MPI_Reduce(b->out, b->in, b->doubles, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(b->out, b->in, b->bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void allreduce(const struct bufs *b)
{
    if (b->doubles)
        MPI_Allreduce(b->out, b->in, b->doubles, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    else
        MPI_Allreduce(b->out, b->in, b->bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void allgather(const struct bufs *b)
{
    MPI_Allgather(b->out, b->bytes, MPI_BYTE, b->in, b->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(const struct bufs *b)
{
    MPI_Alltoall(b->out, b->bytes, MPI_BYTE, b->in, b->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(const struct bufs *b)
{
    (void)b;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct op {
    const char *name;
    void (*call)(const struct bufs *b);
} ops[] = {
    { "scatter", scatter }, { "gather", gather }, { "bcast", bcast }, { "reduce", reduce },
    { "allreduce", allreduce }, { "allgather", allgather }, { "alltoall", alltoall }, { "barrier", barrier },
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All sleep until one time. Result: that time. */
static double begin_together(void)
{
    double here = now() + LEAD_S, start;
    struct timespec until;

    MPI_Allreduce(&here, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    until.tv_sec = (time_t)start;
    until.tv_nsec = (long)((start - (double)until.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    return start;
}

static double timed(const struct op *op, const struct bufs *b)
{
    double start = begin_together(), mine, last;

    op->call(b);
    mine = now() - start;
    MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(const struct op *op, const struct bufs *b, int rounds, double most_s, double *times, int rank)
{
    double first = timed(op, b);
    int n = first * rounds <= most_s ? rounds : (int)(most_s / first);

    n = n < LEAST ? LEAST : n > rounds ? rounds : n;
    for (int r = 0; r < n; r++)
        times[r] = timed(op, b);
    qsort(times, (size_t)n, sizeof *times, ascending);
    if (!rank) {
        printf("%s %d %d %.6g %.6g %.6g %.6g\n", op->name, b->bytes, n, times[n / 2], times[n / 4], times[n * 3 / 4],
               times[n - 1]);
        fflush(stdout);
    }
}

/* Result: 0, or -1 when the word is no operation and bytes, or memory ran out. */
static int measure_word(const char *word, int rounds, double most_s, double *times, int rank, int n)
{
    const char *colon = strchr(word, ':');
    struct bufs b = { .bytes = colon ? (int)strtol(colon + 1, NULL, 10) : -1 };
    size_t k = 0, len = colon ? (size_t)(colon - word) : 0, size;

    while (k < sizeof ops / sizeof *ops && (strlen(ops[k].name) != len || memcmp(word, ops[k].name, len)))
        k++;
    if (b.bytes < 0 || k == sizeof ops / sizeof *ops)
        return -1;
    size = (size_t)n * (size_t)b.bytes + 1;
    b.doubles = b.bytes % (int)sizeof(double) ? 0 : b.bytes / (int)sizeof(double);
    b.out = calloc(1, size);
    b.in = calloc(1, size);
    if (!b.out || !b.in)
        return -1;
    measure(&ops[k], &b, rounds, most_s, times, rank);
    free(b.out);
    free(b.in);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, n, rounds = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    double most_s = argc > 2 ? strtod(argv[2], NULL) : 0, *times;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    times = calloc(rounds > LEAST ? (size_t)rounds : LEAST, sizeof *times);
    if (rounds < 1 || !(most_s > 0) || !times) {
        fprintf(stderr, "usage: colltimes ROUNDS MOST_S OPERATION:BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 3; i < argc; i++)
        if (measure_word(argv[i], rounds, most_s, times, rank, n)) {
            fprintf(stderr, "colltimes: '%s' is no operation and bytes, or memory ran out\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    free(times);
    MPI_Finalize();
    return 0;
}
