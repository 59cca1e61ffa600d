/* coll_wrap_c.c - the MPI functions as C programs call them; see coll.h
 *
 * Each has a second name, hrun_coll_PMPI_..., by which the wrappers of libhrun-trace.so call it (watch.c).
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

#define CALL(Name, make_call, op, params, ...) \
    int MPI_##Name params \
    { \
        static __typeof__(&PMPI_##Name) real; \
        const struct coll_call call = make_call(op, __VA_ARGS__); \
        struct coll_turn turn; \
        int rc; \
        if (coll_do(&call, &turn, &rc)) \
            return rc; \
        if (!real) \
            real = (__typeof__(real))coll_real("PMPI_" #Name); \
        rc = real(__VA_ARGS__); \
        coll_turn_end(&turn); \
        return rc; \
    } \
    SECOND(Name, params)

CALL(Gather, COLL_GATHER, HRUN_NET_GATHER, P_GATHER, N_GATHER)
CALL(Scatter, COLL_SCATTER, HRUN_NET_SCATTER, P_GATHER, N_GATHER)
CALL(Gatherv, COLL_GATHERV, HRUN_NET_GATHER, P_GATHERV, N_GATHERV)
CALL(Scatterv, COLL_SCATTERV, HRUN_NET_SCATTER, P_SCATTERV, N_SCATTERV)
CALL(Bcast, COLL_BCAST, HRUN_NET_BCAST, P_BCAST, N_BCAST)

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
