/* watch_wrap_fortran.c - the MPI functions as Fortran programs call them; see watch.h and calls.def
 *
 * Open MPI's Fortran functions call PMPI functions, so that the wrappers in C are not called. mpif.h and `use mpi` call
 * mpi_send_, `use mpi_f08` calls mpi_send_f08_; arguments are the same, all by reference, with the status at the end
 * (optional in mpi_f08). Names are those of gfortran and of most other compilers under Linux.
 */
#include "watch.h"

#include <stddef.h>

#define CB(x) const void *x
#define B(x) void *x
#define I(x) const MPI_Fint *x
#define IP(x) MPI_Fint *x
#define IA(x) const MPI_Fint *x
#define T(x) const MPI_Fint *x
#define TA(x) const MPI_Fint *x
#define O(x) const MPI_Fint *x
#define C(x) const MPI_Fint *x
#define CP(x) MPI_Fint *x
#define R(x) MPI_Fint *x
#define RA(x) MPI_Fint *x
#define S(x) MPI_Fint *x
#define SA(x) MPI_Fint *x
#define M(x) MPI_Fint *x
#define PARAMS_AND_STATUS(...) (__VA_ARGS__, MPI_Fint *ierror)
#define NAMES_AND_STATUS(...) (__VA_ARGS__, ierror)

#define SEEN __attribute__((visibility("default")))
#define WRAPPER(Name, symbol, params, names) \
    SEEN void symbol params; \
    void symbol params \
    { \
        static void (*real) params; \
        struct watch watch; \
        if (!real) \
            real = (__typeof__(real))watch_real("p" #symbol); \
        watch_begin(&watch, WATCH_##Name); \
        real names; \
        watch_end(&watch); \
    }
#define CALL(Name, fortran, params, names) \
    WRAPPER(Name, mpi_##fortran##_, PARAMS_AND_STATUS params, NAMES_AND_STATUS names) \
    WRAPPER(Name, mpi_##fortran##_f08_, PARAMS_AND_STATUS params, NAMES_AND_STATUS names)
#define CALL_C(Name, params, names)
#include "calls.def"

/* Wrappers of MPI_Init, MPI_Finalize and the like. before and after: code around the call of MPI's function. */
#define BOUNDARY(symbol, params, names, before, after) \
    SEEN void symbol params; \
    void symbol params \
    { \
        before; \
        ((void (*) params)watch_real("p" #symbol)) names; \
        after; \
    }
#define INIT_IF_GOOD(level) if (!ierror || *ierror == MPI_SUCCESS) watch_init(level)
#define BOUNDARIES(suffix) \
    BOUNDARY(mpi_init_##suffix, (MPI_Fint *ierror), (ierror), , INIT_IF_GOOD(MPI_THREAD_SINGLE)) \
    BOUNDARY(mpi_init_thread_##suffix, (const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror), \
             (required, provided, ierror), , INIT_IF_GOOD(*provided)) \
    BOUNDARY(mpi_finalize_##suffix, (MPI_Fint *ierror), (ierror), watch_finalize(), ) \
    SEEN void mpi_pcontrol_##suffix(const MPI_Fint *level); \
    void mpi_pcontrol_##suffix(const MPI_Fint *level) \
    { \
        watch_control(*level); \
    }
BOUNDARIES()
BOUNDARIES(f08_)
