/* hrun_probe.c - hrun-probe: run the experiments one after the other and print their results; see hrun_probe.h */
#include "hrun_probe.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they run: kernel sets the passes that noise uses. */
static const struct { const char *name; void (*run)(struct probe *p); int only_named; } experiments[] = {
    { "facts", probe_facts, 0 }, { "kernel", probe_kernel, 0 }, { "noise", probe_noise, 0 },
    { "clocks", probe_clocks, 0 }, { "trips", probe_trips, 0 }, { "alltoall", probe_alltoall, 0 },
    { "product", probe_product, 1 },
};

/* Rank 0 prints the texts of all ranks in the order of ranks. Collective. */
static void print_findings(const struct probe *p, const char *text, size_t len)
{
    size_t total;
    char *all = mpi_gather_text(MPI_COMM_WORLD, text, len, &total);

    if (!p->rank)
        printf("hrun-probe 1\n%send\n", all);
    if (fflush(stdout)) {
        perror("hrun-probe: standard output");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(all);
}

/* hrun-probe [--root DIR] [--repetitions K] [EXPERIMENT]...: without EXPERIMENT, all that are not only_named. */
int main(int argc, char **argv)
{
    struct probe p = { .root = "", .repetitions = 20 };
    char *text = NULL;
    size_t len = 0;
    int first = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.nranks);
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        if (!strcmp(argv[first], "--root"))
            p.root = argv[first + 1];
        else if (!strcmp(argv[first], "--repetitions"))
            p.repetitions = (int)strtol(argv[first + 1], NULL, 10);
    }
    if (p.repetitions < 3)
        p.repetitions = 3;
    p.names = mpi_host_names(MPI_COMM_WORLD);
    p.leader = mpi_alloc((size_t)p.nranks, sizeof *p.leader);
    for (int r = 0; r < p.nranks; r++)
        while (strcmp(p.names[p.leader[r]], p.names[r]))
            p.leader[r]++;
    p.out = open_memstream(&text, &len);
    probe_usage_begin(&p);
    for (size_t i = 0; i < sizeof experiments / sizeof experiments[0]; i++) {
        int wanted = first >= argc && !experiments[i].only_named;

        for (int k = first; k < argc && !wanted; k++)
            wanted = !strcmp(argv[k], experiments[i].name);
        if (!wanted)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        experiments[i].run(&p);
    }
    probe_usage_end(&p);
    if (fclose(p.out))
        MPI_Abort(MPI_COMM_WORLD, 1);
    print_findings(&p, text, len);
    free(text);
    free(p.names);
    free(p.leader);
    MPI_Finalize();
    return 0;
}
