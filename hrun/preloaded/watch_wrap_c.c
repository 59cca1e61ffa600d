/* watch_wrap_c.c - the MPI functions as C programs call them; see watch.h and calls.def */
#include "watch.h"

#include <stdarg.h>
#include <stddef.h>

#define CB(x) const void *x
#define B(x) void *x
#define I(x) int x
#define IP(x) int *x
#define IA(x) const int x[]
#define T(x) MPI_Datatype x
#define TA(x) const MPI_Datatype x[]
#define O(x) MPI_Op x
#define C(x) MPI_Comm x
#define CP(x) MPI_Comm *x
#define R(x) MPI_Request *x
#define RA(x) MPI_Request x[]
#define S(x) MPI_Status *x
#define SA(x) MPI_Status x[]
#define M(x) MPI_Message *x

#define ZERO 0
#define NOTHING (void)0
#define SENT(dest, count, type, comm) watch_sent(&watch, dest, watch_bytes(count, type), comm)
#define GAVE(count, type) watch_gave(&watch, watch_bytes(count, type))
#define GAVE_IN(send, count, type, other_count, other_type) \
    watch_gave(&watch, (const void *)(send) == MPI_IN_PLACE ? watch_bytes(other_count, other_type) \
                                                            : watch_bytes(count, type))
#define GAVE_EACH(send, count, type, comm, other_count, other_type) \
    watch_gave(&watch, (uint64_t)watch_size(comm) * ((const void *)(send) == MPI_IN_PLACE \
                                                     ? watch_bytes(other_count, other_type) : watch_bytes(count, type)))
#define GAVE_N(send, counts, type, comm, other_counts, other_type) \
    watch_gave(&watch, (const void *)(send) == MPI_IN_PLACE ? watch_bytes(sum(other_counts, comm), other_type) \
                                                            : watch_bytes(sum(counts, comm), type))
#define PREPARED(request, dest, count, type, comm) \
    watch_prepared(*(request), dest, watch_bytes(count, type), comm)
#define PREPARED_NONE(request) watch_prepared_none(*(request))
#define STARTED(request) watch_started(&watch, *(request))
#define STARTED_ALL(count, requests) \
    for (int k_ = 0; k_ < (count); k_++) watch_started(&watch, (requests)[k_])

static int64_t sum(const int *counts, MPI_Comm comm)
{
    int64_t all = 0;

    for (int i = 0, n = watch_size(comm); i < n; i++)
        all += counts[i];
    return all;
}

#define CALL(Name, fortran, params, names, note) \
    int MPI_##Name params \
    { \
        static __typeof__(&PMPI_##Name) real; \
        struct watch watch; \
        int rc; \
        if (!real) \
            real = (__typeof__(real))watch_real("PMPI_" #Name); \
        watch_begin(&watch, WATCH_##Name); \
        rc = real names; \
        if (watch.outermost && rc == MPI_SUCCESS) { \
            note; \
        } \
        watch_end(&watch); \
        return rc; \
    }
#define CALL_C(Name, params, names) CALL(Name, , params, names, NOTHING)
#include "calls.def"

int MPI_Init(int *argc, char ***argv)
{
    int rc = WATCH_REAL(PMPI_Init)(argc, argv);

    if (rc == MPI_SUCCESS)
        watch_init(MPI_THREAD_SINGLE);
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = WATCH_REAL(PMPI_Init_thread)(argc, argv, required, provided);

    if (rc == MPI_SUCCESS)
        watch_init(*provided);
    return rc;
}

int MPI_Finalize(void)
{
    watch_finalize();
    return WATCH_REAL(PMPI_Finalize)();
}

/* Open MPI's own does nothing (MPI 3.1, section 14.2.4, leaves it to tools). */
int MPI_Pcontrol(const int level, ...)
{
    watch_control(level);
    return MPI_SUCCESS;
}
