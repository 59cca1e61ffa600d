/* flops.c - a program for SimGrid alone that counts its operations in place of doing them: "flops N [hosts|bare]"
 *
 * Ten steps: N^3/(10 P) operations on each rank, then a broadcast of 8 N bytes. Rank 0 prints "time: X s", the time of
 * the steps (not with `bare`: then only the clock of the run tells). With `hosts` each rank tells where it is.
 */
#include <mpi.h>
#include <smpi/smpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10 };

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, size, len;
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    char *data = calloc((size_t)(n > 0 ? n : 1), 8);
    double begin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &len);
    if (!data || n < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    begin = MPI_Wtime();
    for (int i = 0; i < STEPS; i++) {
        smpi_execute_flops((double)n * (double)n * (double)n / (STEPS * (double)size));
        if (size > 1)
            MPI_Bcast(data, (int)(8 * n), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (size > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && !(argc > 2 && !strcmp(argv[2], "bare")))
        printf("time: %.17g s\n", MPI_Wtime() - begin);
    if (argc > 2 && !strcmp(argv[2], "hosts"))
        printf("rank %d on %s\n", rank, host);
    free(data);
    MPI_Finalize();
    return 0;
}
