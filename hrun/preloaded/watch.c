/* watch.c - counting calls and their time, initialization and finalization; see watch.h */
#include "watch.h"

#include "base/preloaded.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The cost of a call is the median of some batches, so that one interrupted batch does not change it; 20 us in all. */
enum { COST_BATCHES = 9, COST_CALLS = 25 };

/* MPI's functions that the library itself needs. */
#define USED(X) X(Comm_dup) X(Comm_free) X(Comm_rank) X(Comm_size) X(Gather)

/* A preloaded library has no other place for its state. */
static struct {
#define X(Name) __typeof__(&PMPI_##Name) Name;
    USED(X)
#undef X
    MPI_Comm world;           /* the macros of mpi.h would link the library with MPI */
    MPI_Datatype byte;
    atomic_int active;        /* 1: calls are counted */
    int ready, threads, rank, size;
    MPI_Comm comm;            /* the library's duplicate of MPI_COMM_WORLD */
    uint64_t since_ns, elapsed_ns, cost_ns, own_ns;
    atomic_ullong mpi_ns;
    struct { atomic_ullong count, ns; } calls[WATCH_CALLS];
} our;

static __thread int depth, is_first;

#define ADD(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)

static uint64_t watch_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *watch_real(const char *name)
{
    char behind[96];
    void *real;

    /* If libhrun-coll.so is preloaded, too, call its functions, which call MPI's. */
    snprintf(behind, sizeof behind, "hrun_coll_%s", name);
    real = dlsym(RTLD_DEFAULT, behind);
    if (!real)
        real = hrun_preloaded_find(name);
    if (!real) {
        fprintf(stderr, "libhrun-trace: the program's MPI has no %s; run without --trace\n", name);
        abort();
    }
    return real;
}

/* ---------------------------------------------------------------- calls */

void watch_begin(struct watch *w, enum watch_call call)
{
    w->call = call;
    w->outermost = depth++ == 0 && atomic_load_explicit(&our.active, memory_order_relaxed);
    if (w->outermost)
        w->begin_ns = watch_now_ns();
}

void watch_end(struct watch *w)
{
    uint64_t ns;

    depth--;
    if (!w->outermost)
        return;
    ns = watch_now_ns() - w->begin_ns;
    ADD(our.calls[w->call].count, 1);
    ADD(our.calls[w->call].ns, ns);
    /* With MPI_THREAD_MULTIPLE only the time of the thread that called MPI_Init counts. */
    if (our.threads != MPI_THREAD_MULTIPLE || is_first)
        ADD(our.mpi_ns, ns);
}

/* ---------------------------------------------------------------- begin and end */

static void watch_find_mpi(void)
{
#define X(Name) our.Name = (__typeof__(our.Name))watch_real("PMPI_" #Name);
    USED(X)
#undef X
#ifdef OPEN_MPI
    our.world = watch_real("ompi_mpi_comm_world");
    our.byte = watch_real("ompi_mpi_byte");
#else
    our.world = MPI_COMM_WORLD;
    our.byte = MPI_BYTE;
#endif
}

/* The measured cost of watching one call, ns. */
static uint64_t watch_measure_cost(void)
{
    uint64_t batches[COST_BATCHES];

    for (int b = 0; b < COST_BATCHES; b++) {
        uint64_t begin = watch_now_ns();
        int at = b;

        for (int i = 0; i < COST_CALLS; i++) {
            struct watch w;

            watch_begin(&w, WATCH_Send);
            watch_end(&w);
        }
        begin = (watch_now_ns() - begin) / COST_CALLS;
        for (; at > 0 && batches[at - 1] > begin; at--)     /* insertion sort */
            batches[at] = batches[at - 1];
        batches[at] = begin;
    }
    return batches[COST_BATCHES / 2];
}

void watch_init(int threads)
{
    const char *text = getenv(HRUN_TRACE_VARIABLE);
    uint64_t begin = watch_now_ns();

    if (!text || our.ready)
        return;
    watch_find_mpi();
    our.Comm_rank(our.world, &our.rank);
    our.Comm_size(our.world, &our.size);
    our.threads = threads;
    is_first = 1;
    /* The text, and so this decision, is the same in all ranks. */
    if (strtol(text, NULL, 10) == our.size && our.Comm_dup(our.world, &our.comm) == MPI_SUCCESS) {
        watch_report_open();
        our.active = 1;
        our.cost_ns = watch_measure_cost();
        memset(our.calls, 0, sizeof our.calls);
        our.mpi_ns = 0;
        our.ready = 1;
    }
    unsetenv(HRUN_TRACE_VARIABLE);
    hrun_preloaded_leave(&our);
    our.since_ns = watch_now_ns();
    our.own_ns = our.since_ns - begin;
}

void watch_control(int level)
{
    int on = level > 0;

    if (!our.ready || on == our.active)
        return;
    if (on)
        our.since_ns = watch_now_ns();
    else
        our.elapsed_ns += watch_now_ns() - our.since_ns;
    our.active = on;
}

void watch_finalize(void)
{
    struct watch_counts mine, *all = NULL;

    if (!our.ready)
        return;
    watch_control(0);
    our.ready = 0;
    if (our.rank == 0 && !(all = malloc((size_t)our.size * sizeof *all))) {
        fputs("libhrun-trace: out of memory\n", stderr);
        abort();               /* the other ranks would wait for this one */
    }
    mine = (struct watch_counts){ .elapsed_ns = our.elapsed_ns, .mpi_ns = our.mpi_ns, .cost_ns = our.cost_ns,
                                  .own_ns = our.own_ns };
    for (int i = 0; i < WATCH_CALLS; i++) {
        mine.calls[i].count = our.calls[i].count;
        mine.calls[i].ns = our.calls[i].ns;
    }
    our.Gather(&mine, sizeof mine, our.byte, all, sizeof mine, our.byte, 0, our.comm);
    our.Comm_free(&our.comm);
    if (all)
        watch_report(all, our.size);
    free(all);
}
