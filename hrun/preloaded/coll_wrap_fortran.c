/* coll_wrap_fortran.c - the MPI functions as Fortran programs call them; see coll.h
 *
 * Open MPI's Fortran functions call PMPI functions, so that the wrappers in C are not called. mpif.h and `use mpi` call
 * mpi_bcast_, `use mpi_f08` calls mpi_bcast_f08_; arguments are the same, all by reference, with the status at the end
 * (optional in mpi_f08). Names are those of gfortran and of most other compilers under Linux.
 */
#include "coll.h"

#include <dlfcn.h>
#include <stddef.h>

/* In Fortran, MPI_IN_PLACE and MPI_BOTTOM are variables of Open MPI. */
static void *buffer(const void *buf)
{
    static const void *in_place, *bottom;

    if (!in_place)
        in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    if (!bottom)
        bottom = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
    return buf && buf == in_place ? MPI_IN_PLACE : buf && buf == bottom ? MPI_BOTTOM : (void *)buf;
}

static MPI_Datatype type_of(const MPI_Fint *type)
{
    return coll_mpi()->Type_f2c(*type);
}

static MPI_Comm comm_of(const MPI_Fint *comm)
{
    return coll_mpi()->Comm_f2c(*comm);
}

/* Declare a wrapper, and its second name (coll_wrap_c.c). */
#define SEEN __attribute__((visibility("default")))
#define DECLARE(symbol, params) \
    SEEN void symbol params; \
    extern SEEN __attribute__((alias(#symbol))) void hrun_coll_p##symbol params;
#define WRAPPER(symbol, make_call, op, params, names, ...) \
    DECLARE(symbol, params) \
    void symbol params \
    { \
        static void (*real) params; \
        struct coll_turn turn = { .comm = NULL }; \
        int rc; \
        if (coll_mpi()->Comm_f2c) { \
            const struct coll_call call = make_call(op, __VA_ARGS__); \
            if (coll_do(&call, &turn, &rc)) { \
                if (ierror) \
                    *ierror = rc; \
                return; \
            } \
        } \
        if (!real) \
            real = (__typeof__(real))coll_real("p" #symbol); \
        real names; \
        coll_turn_end(&turn); \
    }
#define CALL(fortran, make_call, op, params, names, ...) \
    WRAPPER(mpi_##fortran##_, make_call, op, params, names, __VA_ARGS__) \
    WRAPPER(mpi_##fortran##_f08_, make_call, op, params, names, __VA_ARGS__)

#define P_GATHER (const void *send, const MPI_Fint *count, const MPI_Fint *type, void *in, const MPI_Fint *in_count, \
                  const MPI_Fint *in_type, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *ierror)
#define N_GATHER (send, count, type, in, in_count, in_type, root, comm, ierror)
#define P_GATHERV (const void *send, const MPI_Fint *count, const MPI_Fint *type, void *in, \
                   const MPI_Fint *in_counts, const MPI_Fint *places, const MPI_Fint *in_type, const MPI_Fint *root, \
                   const MPI_Fint *comm, MPI_Fint *ierror)
#define N_GATHERV (send, count, type, in, in_counts, places, in_type, root, comm, ierror)
#define P_SCATTERV (const void *send, const MPI_Fint *counts, const MPI_Fint *places, const MPI_Fint *type, void *in, \
                    const MPI_Fint *in_count, const MPI_Fint *in_type, const MPI_Fint *root, const MPI_Fint *comm, \
                    MPI_Fint *ierror)
#define N_SCATTERV (send, counts, places, type, in, in_count, in_type, root, comm, ierror)
#define P_BCAST (void *buf, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *root, const MPI_Fint *comm, \
                 MPI_Fint *ierror)
#define N_BCAST (buf, count, type, root, comm, ierror)

CALL(gather, COLL_GATHER, HRUN_NET_GATHER, P_GATHER, N_GATHER, buffer(send), *count, type_of(type), buffer(in),
     *in_count, type_of(in_type), *root, comm_of(comm))
CALL(scatter, COLL_SCATTER, HRUN_NET_SCATTER, P_GATHER, N_GATHER, buffer(send), *count, type_of(type), buffer(in),
     *in_count, type_of(in_type), *root, comm_of(comm))
CALL(gatherv, COLL_GATHERV, HRUN_NET_GATHER, P_GATHERV, N_GATHERV, buffer(send), *count, type_of(type), buffer(in),
     in_counts, places, type_of(in_type), *root, comm_of(comm))
CALL(scatterv, COLL_SCATTERV, HRUN_NET_SCATTER, P_SCATTERV, N_SCATTERV, buffer(send), counts, places, type_of(type),
     buffer(in), *in_count, type_of(in_type), *root, comm_of(comm))
CALL(bcast, COLL_BCAST, HRUN_NET_BCAST, P_BCAST, N_BCAST, buffer(buf), *count, type_of(type), *root, comm_of(comm))

/* Wrappers of MPI_Init, MPI_Finalize and the like. before and after: code around the call of MPI's function. */
#define BOUNDARY(symbol, params, names, before, after) \
    DECLARE(symbol, params) \
    void symbol params \
    { \
        before; \
        ((void (*) params)coll_real("p" #symbol)) names; \
        after; \
    }
#define INIT_IF_GOOD if (!ierror || *ierror == MPI_SUCCESS) coll_init()
#define BOUNDARIES(suffix) \
    BOUNDARY(mpi_init_##suffix, (MPI_Fint *ierror), (ierror), , INIT_IF_GOOD) \
    BOUNDARY(mpi_init_thread_##suffix, (const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror), \
             (required, provided, ierror), , INIT_IF_GOOD) \
    BOUNDARY(mpi_finalize_##suffix, (MPI_Fint *ierror), (ierror), coll_finalize(), )
BOUNDARIES()
BOUNDARIES(f08_)
