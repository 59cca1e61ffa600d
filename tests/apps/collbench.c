/* collbench.c - collective operations as they are called and straight through the MPI library, in turn: how long each
 * takes, and how much that varies
 *
 *     collbench ROUNDS [OPERATION:BYTES]...
 * Operations are scatter, gather, bcast, scatterv and gatherv; bytes as in lib/net/net.h. After some rounds that do not
 * count, each round times each once one way and once the other, which one first in turns; of an operation the slowest
 * rank counts. Rank 0 prints a line for each: operation, bytes, median and quartiles as called, the same of the
 * library, in seconds, the median of the ratios library / as called within one round, and mean and longest as called
 * and of the library.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 40 };            /* enough for libhrun-coll.so to have chosen */

struct kind {
    const char *name;
    int op;
};
static const struct kind kinds[] = { { "scatter", 0 }, { "gather", 1 }, { "bcast", 2 }, { "scatterv", 3 },
                                     { "gatherv", 4 } };

struct bufs {
    char *all, *one;
    int *counts, *places, n;
};

static void call(int op, int through, int bytes, const struct bufs *b)
{
    MPI_Comm w = MPI_COMM_WORLD;

    if (op == 0)
        (through ? MPI_Scatter : PMPI_Scatter)(b->all, bytes, MPI_CHAR, b->one, bytes, MPI_CHAR, 0, w);
    else if (op == 1)
        (through ? MPI_Gather : PMPI_Gather)(b->one, bytes, MPI_CHAR, b->all, bytes, MPI_CHAR, 0, w);
    else if (op == 2)
        (through ? MPI_Bcast : PMPI_Bcast)(b->one, bytes, MPI_CHAR, 0, w);
    else if (op == 3)
        (through ? MPI_Scatterv : PMPI_Scatterv)(b->all, b->counts, b->places, MPI_CHAR, b->one, bytes, MPI_CHAR, 0, w);
    else
        (through ? MPI_Gatherv : PMPI_Gatherv)(b->one, bytes, MPI_CHAR, b->all, b->counts, b->places, MPI_CHAR, 0, w);
}

static double timed(int op, int through, int bytes, const struct bufs *b)
{
    double begin, mine, slowest;

    PMPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    call(op, through, bytes, b);
    mine = MPI_Wtime() - begin;
    PMPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double mean(const double *v, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum / n;
}

static void measure(const char *name, int op, int bytes, int rounds, int rank, struct bufs *b)
{
    double *t[3];

    for (int i = 0; i < b->n; i++) {
        b->counts[i] = bytes;
        b->places[i] = i * bytes;
    }
    for (int k = 0; k < 3; k++)
        t[k] = malloc((size_t)rounds * sizeof *t[k]);
    for (int r = -WARM; r < rounds; r++) {
        double s[2];

        for (int k = 0; k < 2; k++) {
            int through = (k + r) & 1;

            s[through] = timed(op, through, bytes, b);
        }
        if (r >= 0) {
            t[0][r] = s[1];
            t[1][r] = s[0];
            t[2][r] = s[0] / s[1];
        }
    }
    for (int k = 0; k < 3; k++)
        qsort(t[k], (size_t)rounds, sizeof *t[k], ascending);
    if (rank == 0)
        printf("%s %d %.4g %.4g %.4g %.4g %.4g %.4g %.3f %.4g %.4g %.4g %.4g\n", name, bytes, t[0][rounds / 2],
               t[0][rounds / 4], t[0][rounds * 3 / 4], t[1][rounds / 2], t[1][rounds / 4], t[1][rounds * 3 / 4],
               t[2][rounds / 2], mean(t[0], rounds), t[0][rounds - 1], mean(t[1], rounds), t[1][rounds - 1]);
    for (int k = 0; k < 3; k++)
        free(t[k]);
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    struct bufs b;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.n);
    b.counts = malloc((size_t)b.n * sizeof *b.counts);
    b.places = malloc((size_t)b.n * sizeof *b.places);
    for (int i = 2; i < argc && rounds > 0; i++) {
        const char *colon = strchr(argv[i], ':');
        int bytes = colon ? (int)strtol(colon + 1, NULL, 10) : 0;

        b.all = calloc((size_t)b.n, (size_t)bytes + 1);
        b.one = calloc(1, (size_t)bytes + 1);
        for (size_t k = 0; colon && k < sizeof kinds / sizeof *kinds; k++)
            if (!strncmp(argv[i], kinds[k].name, strlen(kinds[k].name)) && argv[i] + strlen(kinds[k].name) == colon)
                measure(kinds[k].name, kinds[k].op, bytes, rounds, rank, &b);
        free(b.all);
        free(b.one);
    }
    free(b.counts);
    free(b.places);
    MPI_Finalize();
    return 0;
}
