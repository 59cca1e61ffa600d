/* netbench.c - hrun-netbench: measure the network of MPI_COMM_WORLD and print the records
 *
 * hrun-netbench [--precision FRACTION] [--most K] [--limit SECONDS] [--kinds K0,K1,...]
 * --kinds: for each rank, the number of the kind of its PE on its host. hrun-calibrate network starts it and reads the
 * output of rank 0 (format: lib/net/estimate.h).
 */
#include "hrun-mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HRUN_SMPI
void smpi_execute_flops(double flops);      /* declared in SimGrid's smpi/smpi.h */
#endif

/* The number at index `rank` of a list; 0 if there is none. */
static int list_number(const char *list, int rank)
{
    while (rank-- > 0 && list)
        list = (list = strchr(list, ',')) ? list + 1 : NULL;
    return list ? (int)strtol(list, NULL, 10) : 0;
}

static void read_netbench_options(int argc, char **argv, int rank, struct hrun_measure_options *o)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];

        if (!strcmp(argv[i], "--precision"))
            o->precision = strtod(value, NULL);
        else if (!strcmp(argv[i], "--most"))
            o->most = (int)strtol(value, NULL, 10);
        else if (!strcmp(argv[i], "--limit"))
            o->limit_s = strtod(value, NULL);
        else if (!strcmp(argv[i], "--kinds"))
            o->kind = list_number(value, rank);
    }
    o->most = o->most < o->least ? o->least : o->most;
}

int main(int argc, char **argv)
{
    struct hrun_measure_options o = HRUN_MEASURE_DEFAULT;
    char *text = NULL, why[1024];
    int rank, rc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef HRUN_SMPI
    smpi_execute_flops(1);      /* with this call SimGrid and hrun time no code on this machine */
#endif
    read_netbench_options(argc, argv, rank, &o);
    rc = hrun_measure_network(MPI_COMM_WORLD, &o, &text, why, sizeof why);
    if (rc && !rank)
        fprintf(stderr, "hrun-netbench: %s\n", why);
    if (text)
        fputs(text, stdout);
    if (fflush(stdout)) {
        perror("hrun-netbench: standard output");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(text);
    MPI_Finalize();
    return rc ? 1 : 0;
}
