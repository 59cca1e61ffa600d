/* watch_wrap_fortran.c - the MPI functions as Fortran programs call them; see watch.h and calls.def
 *
 * Open MPI's Fortran functions call PMPI functions, so that the wrappers in C never see them. mpif.h and `use mpi` call
 * mpi_send_, `use mpi_f08` calls mpi_send_f08_; arguments are the same, all by reference, the status at the end (which
 * mpi_f08 may leave out). Names are those of gfortran and of most other compilers under Linux.
 */
#include "watch.h"

#include <dlfcn.h>
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

static const MPI_Fint zero = 0;

#define ZERO (&zero)
#define NOTHING (void)0
#define SENT(dest, count, type, comm) watch_sent(&watch, *(dest), bytes(*(count), type), comm_of(comm))
#define GAVE(count, type) watch_gave(&watch, bytes(*(count), type))
#define GAVE_IN(send, count, type, other_count, other_type) \
    watch_gave(&watch, in_place(send) ? bytes(*(other_count), other_type) : bytes(*(count), type))
#define GAVE_EACH(send, count, type, comm, other_count, other_type) \
    watch_gave(&watch, (uint64_t)watch_size(comm_of(comm)) * \
                       (in_place(send) ? bytes(*(other_count), other_type) : bytes(*(count), type)))
#define GAVE_N(send, counts, type, comm, other_counts, other_type) \
    watch_gave(&watch, in_place(send) ? bytes(sum(other_counts, comm), other_type) : bytes(sum(counts, comm), type))
#define PREPARED(request, dest, count, type, comm) \
    watch_prepared(request_of(request), *(dest), bytes(*(count), type), comm_of(comm))
#define PREPARED_NONE(request) watch_prepared_none(request_of(request))
#define STARTED(request) watch_started(&watch, request_of(request))
#define STARTED_ALL(count, requests) \
    for (int k_ = 0; k_ < *(count); k_++) watch_started(&watch, request_of(&(requests)[k_]))

static MPI_Comm comm_of(const MPI_Fint *comm)
{
    return watch_mpi()->Comm_f2c(*comm);
}

static MPI_Request request_of(const MPI_Fint *request)
{
    return watch_mpi()->Request_f2c(*request);
}

static uint64_t bytes(int64_t count, const MPI_Fint *type)
{
    return watch_bytes(count, watch_mpi()->Type_f2c(*type));
}

static int64_t sum(const MPI_Fint *counts, const MPI_Fint *comm)
{
    int64_t all = 0;

    for (int i = 0, n = watch_size(comm_of(comm)); i < n; i++)
        all += counts[i];
    return all;
}

/* MPI_IN_PLACE is a variable of Open MPI there. */
static int in_place(const void *buf)
{
    static const void *variable;

    if (!variable)
        variable = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    return buf && buf == variable;
}

#define SEEN __attribute__((visibility("default")))
#define WRAPPER(Name, symbol, params, names, note) \
    SEEN void symbol params; \
    void symbol params \
    { \
        static void (*real) params; \
        struct watch watch; \
        if (!real) \
            real = (__typeof__(real))watch_real("p" #symbol); \
        watch_begin(&watch, WATCH_##Name); \
        real names; \
        if (watch.outermost && (!ierror || *ierror == MPI_SUCCESS)) { \
            note; \
        } \
        watch_end(&watch); \
    }
#define CALL(Name, fortran, params, names, note) \
    WRAPPER(Name, mpi_##fortran##_, PARAMS_AND_STATUS params, NAMES_AND_STATUS names, note) \
    WRAPPER(Name, mpi_##fortran##_f08_, PARAMS_AND_STATUS params, NAMES_AND_STATUS names, note)
#define CALL_C(Name, params, names)
#include "calls.def"

typedef void status_only(MPI_Fint *ierror);
typedef void thread_init(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);

/* The functions that begin and end, in both worlds. */
#define BOUNDARIES(suffix) \
    SEEN void mpi_init_##suffix(MPI_Fint *ierror); \
    void mpi_init_##suffix(MPI_Fint *ierror) \
    { \
        ((status_only *)watch_real("pmpi_init_" #suffix))(ierror); \
        if (!ierror || *ierror == MPI_SUCCESS) \
            watch_init(MPI_THREAD_SINGLE); \
    } \
    SEEN void mpi_init_thread_##suffix(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror); \
    void mpi_init_thread_##suffix(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) \
    { \
        ((thread_init *)watch_real("pmpi_init_thread_" #suffix))(required, provided, ierror); \
        if (!ierror || *ierror == MPI_SUCCESS) \
            watch_init(*provided); \
    } \
    SEEN void mpi_finalize_##suffix(MPI_Fint *ierror); \
    void mpi_finalize_##suffix(MPI_Fint *ierror) \
    { \
        watch_finalize(); \
        ((status_only *)watch_real("pmpi_finalize_" #suffix))(ierror); \
    } \
    SEEN void mpi_pcontrol_##suffix(const MPI_Fint *level); \
    void mpi_pcontrol_##suffix(const MPI_Fint *level) \
    { \
        watch_control(*level); \
    }
BOUNDARIES()
BOUNDARIES(f08_)
