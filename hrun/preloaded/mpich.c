/* mpich.c - libhrun-mpich.so: processes of MPICH that wait let others work
 *
 * Purpose: MPICH 4 with UCX (Debian's) polls without ever giving the processor up, and no setting of it changes that.
 * Four ranks on one core need 29 ms for a barrier; with this library some 10 us. It costs a microsecond where ranks
 * have cores of their own, so hrun preloads it only where they share cores.
 * Method: ucp_worker_progress of UCX, which MPICH calls in all its loops that wait, is wrapped: when it has found
 * nothing to do, sched_yield(2) follows.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

unsigned ucp_worker_progress(void *worker);

typedef unsigned progress_fn(void *worker);

/* Looked up before main(), by one thread. */
static progress_fn *progress;

__attribute__((constructor))
static void find(void)
{
    union { void *object; progress_fn *function; } found = { dlsym(RTLD_NEXT, "ucp_worker_progress") };

    progress = found.function;
}

__attribute__((visibility("default")))
unsigned ucp_worker_progress(void *worker)
{
    unsigned n;

    if (!progress)
        find();
    if (!progress) {
        fputs("libhrun-mpich: the program's MPI has no ucp_worker_progress\n", stderr);
        abort();
    }
    n = progress(worker);
    if (!n)
        sched_yield();
    return n;
}
