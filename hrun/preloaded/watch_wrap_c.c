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

#define CALL(Name, fortran, params, names) \
    int MPI_##Name params \
    { \
        static __typeof__(&PMPI_##Name) real; \
        struct watch watch; \
        int rc; \
        if (!real) \
            real = (__typeof__(real))watch_real("PMPI_" #Name); \
        watch_begin(&watch, WATCH_##Name); \
        rc = real names; \
        watch_end(&watch); \
        return rc; \
    }
#define CALL_C(Name, params, names) CALL(Name, , params, names)
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

/* Open MPI's function has no effect (MPI 3.1, section 14.2.4, leaves it to tools). */
int MPI_Pcontrol(const int level, ...)
{
    watch_control(level);
    return MPI_SUCCESS;
}
