/* coll_wrap_c.c - the MPI functions as C programs call them; see coll.h
 *
 * Each has a second name, hrun_coll_PMPI_..., by which libhrun-trace.so finds it behind its own (watch.h).
 */
#include "coll.h"

#define SECOND(Name, params) \
    extern __attribute__((alias("MPI_" #Name), visibility("default"))) int hrun_coll_PMPI_##Name params;

#define P_GATHER (const void *send, int count, MPI_Datatype type, void *in, int in_count, MPI_Datatype in_type, \
                  int root, MPI_Comm comm)
#define N_GATHER send, count, type, in, in_count, in_type, root, comm
#define P_GATHERV (const void *send, int count, MPI_Datatype type, void *in, const int in_counts[], \
                   const int places[], MPI_Datatype in_type, int root, MPI_Comm comm)
#define N_GATHERV send, count, type, in, in_counts, places, in_type, root, comm
#define P_SCATTERV (const void *send, const int counts[], const int places[], MPI_Datatype type, void *in, \
                    int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)
#define N_SCATTERV send, counts, places, type, in, in_count, in_type, root, comm
#define P_BCAST (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
#define N_BCAST buf, count, type, root, comm

#define CALL(Name, ours, params, ...) \
    int MPI_##Name params \
    { \
        static __typeof__(&PMPI_##Name) real; \
        int rc; \
        if (ours(__VA_ARGS__, &rc)) \
            return rc; \
        if (!real) \
            real = (__typeof__(real))coll_real("PMPI_" #Name); \
        return real(__VA_ARGS__); \
    } \
    SECOND(Name, params)

CALL(Gather, coll_do_gather, P_GATHER, N_GATHER)
CALL(Scatter, coll_do_scatter, P_GATHER, N_GATHER)
CALL(Gatherv, coll_do_gatherv, P_GATHERV, N_GATHERV)
CALL(Scatterv, coll_do_scatterv, P_SCATTERV, N_SCATTERV)
CALL(Bcast, coll_do_bcast, P_BCAST, N_BCAST)

int MPI_Init(int *argc, char ***argv)
{
    int rc = COLL_REAL(PMPI_Init)(argc, argv);

    if (rc == MPI_SUCCESS)
        coll_init();
    return rc;
}
SECOND(Init, (int *argc, char ***argv))

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = COLL_REAL(PMPI_Init_thread)(argc, argv, required, provided);

    if (rc == MPI_SUCCESS)
        coll_init();
    return rc;
}
SECOND(Init_thread, (int *argc, char ***argv, int required, int *provided))

int MPI_Finalize(void)
{
    coll_finalize();
    return COLL_REAL(PMPI_Finalize)();
}
SECOND(Finalize, (void))
