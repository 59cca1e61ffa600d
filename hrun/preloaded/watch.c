/* watch.c - counting: calls, bytes, time, and the two ends of the watch; see watch.h */
#include "watch.h"

#include "base/hash.h"
#include "base/preloaded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The cost of a call is the median of so many batches, which one that is interrupted does not change; some 20 us in
 * all. */
enum { COST_BATCHES = 9, COST_CALLS = 25 };

/* Requests that send when they are started, by their handle; a chained hash table. */
enum { BUCKETS = 256 };
struct prepared {
    struct prepared *next;
    MPI_Request request;
    int dest;                 /* in the world; -1: none */
    uint64_t bytes;
};

/* A preloaded library has no other place for its state. */
static struct {
    struct watch_mpi mpi;
    atomic_int active;        /* calls are counted */
    int ready, threads, rank, size, key;
    MPI_Comm comm;            /* of our own */
    unsigned char *distance;  /* size: enum hrun_trace_distance */
    atomic_uchar *met;        /* size: 1 when a message was sent there */
    uint64_t since_ns, elapsed_ns, cost_ns, own_ns;
    atomic_ullong mpi_ns, sent[HRUN_TRACE_DISTANCES], sent_bytes[HRUN_TRACE_DISTANCES];
    struct { atomic_ullong count, bytes, ns; } calls[WATCH_CALLS];
    pthread_mutex_t lock;     /* of the table */
    struct prepared *table[BUCKETS];
    pthread_mutex_t keeping;  /* of what is kept with communicators */
} our = { .lock = PTHREAD_MUTEX_INITIALIZER, .keeping = PTHREAD_MUTEX_INITIALIZER };

static __thread int depth, is_first;

#define ADD(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)

/* Zeroed memory for n things. Where a rank had none it would leave the others waiting for it. */
static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p) {
        fputs("libhrun-trace: no memory left\n", stderr);
        abort();
    }
    return p;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *watch_real(const char *name)
{
    char behind[96];
    void *real;

    /* libhrun-coll.so, where it is preloaded too, stands between us and MPI. */
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
    if (!w->outermost)
        return;
    w->begin_ns = now_ns();
}

void watch_end(struct watch *w)
{
    uint64_t ns;

    depth--;
    if (!w->outermost)
        return;
    ns = now_ns() - w->begin_ns;
    ADD(our.calls[w->call].count, 1);
    ADD(our.calls[w->call].ns, ns);
    /* Is the time of this thread's calls that of the process? */
    if (our.threads != MPI_THREAD_MULTIPLE || is_first)
        ADD(our.mpi_ns, ns);
}

uint64_t watch_bytes(int64_t count, MPI_Datatype type)
{
    int size = 0;

    if (count <= 0 || our.mpi.Type_size(type, &size) != MPI_SUCCESS || size <= 0)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

int watch_size(MPI_Comm comm)
{
    int inter = 0, n = 0;

    our.mpi.Comm_test_inter(comm, &inter);
    (inter ? our.mpi.Comm_remote_size : our.mpi.Comm_size)(comm, &n);
    return n;
}

void watch_gave(const struct watch *w, uint64_t bytes)
{
    ADD(our.calls[w->call].bytes, bytes);
}

/* ---------------------------------------------------------------- messages */

static int no_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int drop_ranks(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

/* The ranks in the world of those that messages on comm go to, kept with comm. NULL: they cannot be told. */
static const int *world_ranks(MPI_Comm comm)
{
    MPI_Group group, world;
    int *ranks = NULL, *own = NULL, found = 0, inter = 0, n = 0;

    if (our.mpi.Comm_get_attr(comm, our.key, &ranks, &found) == MPI_SUCCESS && found)
        return ranks;
    our.mpi.Comm_test_inter(comm, &inter);
    if ((inter ? our.mpi.Comm_remote_group : our.mpi.Comm_group)(comm, &group) != MPI_SUCCESS)
        return NULL;
    our.mpi.Comm_group(our.mpi.world, &world);
    our.mpi.Group_size(group, &n);
    ranks = malloc((size_t)n * sizeof *ranks);
    own = malloc((size_t)n * sizeof *own);
    for (int i = 0; own && i < n; i++)
        own[i] = i;
    if (ranks && own && our.mpi.Group_translate_ranks(group, n, own, world, ranks) == MPI_SUCCESS &&
        our.mpi.Comm_set_attr(comm, our.key, ranks) == MPI_SUCCESS) {
        found = 1;
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    our.mpi.Group_free(&group);
    our.mpi.Group_free(&world);
    return ranks;
}

/* -1: not a rank of the world (MPI_PROC_NULL, a spawned process). */
static int in_world(int dest, MPI_Comm comm)
{
    const int *ranks;

    if (dest < 0)
        return -1;
    if (comm != our.mpi.world) {
        /* Two threads that kept theirs at the same time would free each other's. */
        pthread_mutex_lock(&our.keeping);
        ranks = world_ranks(comm);
        dest = ranks ? ranks[dest] : -1;
        pthread_mutex_unlock(&our.keeping);
    }
    return dest >= 0 && dest < our.size ? dest : -1;
}

static void count_message(const struct watch *w, int dest, uint64_t bytes)
{
    if (dest < 0)
        return;
    ADD(our.calls[w->call].bytes, bytes);
    ADD(our.sent[our.distance[dest]], 1);
    ADD(our.sent_bytes[our.distance[dest]], bytes);
    if (!atomic_load_explicit(&our.met[dest], memory_order_relaxed))
        atomic_store_explicit(&our.met[dest], 1, memory_order_relaxed);
}

void watch_sent(const struct watch *w, int dest, uint64_t bytes, MPI_Comm comm)
{
    count_message(w, in_world(dest, comm), bytes);
}

static struct prepared **place_of(MPI_Request request)
{
    struct prepared **p = &our.table[((uintptr_t)request >> 6) % BUCKETS];

    while (*p && (*p)->request != request)
        p = &(*p)->next;
    return p;
}

static void prepare(MPI_Request request, int dest, uint64_t bytes)
{
    struct prepared **p;

    pthread_mutex_lock(&our.lock);
    p = place_of(request);
    if (!*p && (*p = calloc(1, sizeof **p)))
        (*p)->request = request;
    if (*p) {
        (*p)->dest = dest;
        (*p)->bytes = bytes;
    }
    pthread_mutex_unlock(&our.lock);
}

void watch_prepared(MPI_Request request, int dest, uint64_t bytes, MPI_Comm comm)
{
    prepare(request, in_world(dest, comm), bytes);
}

void watch_prepared_none(MPI_Request request)
{
    prepare(request, -1, 0);
}

void watch_started(const struct watch *w, MPI_Request request)
{
    struct prepared found = { .dest = -1 }, *p;

    pthread_mutex_lock(&our.lock);
    p = *place_of(request);
    if (p)
        found = *p;
    pthread_mutex_unlock(&our.lock);
    count_message(w, found.dest, found.bytes);
}

/* ---------------------------------------------------------------- begin and end */

const struct watch_mpi *watch_mpi(void)
{
    return &our.mpi;
}

static void find_mpi(void)
{
#define X(Name) our.mpi.Name = (__typeof__(our.mpi.Name))watch_real("PMPI_" #Name);
    WATCH_USES(X)
#undef X
#ifdef OPEN_MPI
    our.mpi.world = watch_real("ompi_mpi_comm_world");
    our.mpi.byte = watch_real("ompi_mpi_byte");
#else
    our.mpi.world = MPI_COMM_WORLD;
    our.mpi.byte = MPI_BYTE;
#endif
}

/* How far each rank is from this one: sub-cluster and PE as hrun says, the host by its name. */
static void find_distances(struct watch_place *place)
{
    char name[256] = "";
    uint64_t *hosts = need((size_t)our.size, sizeof *hosts), own;

    gethostname(name, sizeof name - 1);
    own = hrun_hash(HRUN_HASH_INIT, name, strlen(name));     /* two names rarely share it */
    our.mpi.Allgather(&own, sizeof own, our.mpi.byte, hosts, sizeof own, our.mpi.byte, our.comm);
    for (int i = 0; i < our.size; i++)
        place[i].host = hosts[i];
    for (int i = 0; i < our.size; i++)
        our.distance[i] = (unsigned char)watch_distance(&place[our.rank], &place[i]);
    free(hosts);
}

/* What watching a call that sends a message costs, on this machine and now. */
static uint64_t measure_cost(void)
{
    uint64_t batches[COST_BATCHES];

    for (int b = 0; b < COST_BATCHES; b++) {
        uint64_t begin = now_ns();
        int at = b;

        for (int i = 0; i < COST_CALLS; i++) {
            struct watch w;

            watch_begin(&w, WATCH_Send);
            watch_sent(&w, our.rank, watch_bytes(1, our.mpi.byte), our.comm);
            watch_end(&w);
        }
        begin = (now_ns() - begin) / COST_CALLS;
        for (; at > 0 && batches[at - 1] > begin; at--)     /* sorted as they come */
            batches[at] = batches[at - 1];
        batches[at] = begin;
    }
    return batches[COST_BATCHES / 2];
}

static void reset_counts(void)
{
    memset(our.calls, 0, sizeof our.calls);
    memset(our.sent, 0, sizeof our.sent);
    memset(our.sent_bytes, 0, sizeof our.sent_bytes);
    our.met[our.rank] = 0;
    our.mpi_ns = 0;
}

void watch_init(int threads)
{
    const char *text = getenv(HRUN_TRACE_VARIABLE);
    uint64_t begin = now_ns();
    struct watch_place *place = NULL;

    if (!text || our.ready)
        return;
    find_mpi();
    our.mpi.Comm_rank(our.mpi.world, &our.rank);
    our.mpi.Comm_size(our.mpi.world, &our.size);
    our.threads = threads;
    is_first = 1;
    place = need((size_t)our.size, sizeof *place);
    our.distance = need((size_t)our.size, 1);
    our.met = need((size_t)our.size, sizeof *our.met);
    /* The text is the same in all ranks, and so is what they do next. */
    if (!watch_read_places(text, our.size, place) &&
        our.mpi.Comm_dup(our.mpi.world, &our.comm) == MPI_SUCCESS &&
        our.mpi.Comm_create_keyval(no_copy, drop_ranks, &our.key, NULL) == MPI_SUCCESS) {
        find_distances(place);
        watch_report_open();
        our.active = 1;
        our.cost_ns = measure_cost();
        reset_counts();
        our.ready = 1;
    }
    unsetenv(HRUN_TRACE_VARIABLE);
    hrun_preloaded_leave(&our);
    free(place);
    our.since_ns = now_ns();
    our.own_ns = our.since_ns - begin;
}

void watch_control(int level)
{
    int on = level > 0;

    if (!our.ready || on == our.active)
        return;
    if (on)
        our.since_ns = now_ns();
    else
        our.elapsed_ns += now_ns() - our.since_ns;
    our.active = on;
}

void watch_finalize(void)
{
    struct watch_counts *mine, *all = NULL;

    if (!our.ready)
        return;
    watch_control(0);
    our.ready = 0;
    mine = need(1, sizeof *mine);
    if (our.rank == 0)
        all = need((size_t)our.size, sizeof *all);
    *mine = (struct watch_counts){ .elapsed_ns = our.elapsed_ns, .mpi_ns = our.mpi_ns, .cost_ns = our.cost_ns,
                                   .own_ns = our.own_ns };
    for (int i = 0; i < our.size; i++)
        mine->peers += our.met[i];
    for (int i = 0; i < HRUN_TRACE_DISTANCES; i++) {
        mine->sent[i] = our.sent[i];
        mine->sent_bytes[i] = our.sent_bytes[i];
    }
    for (int i = 0; i < WATCH_CALLS; i++) {
        mine->calls[i].count = our.calls[i].count;
        mine->calls[i].bytes = our.calls[i].bytes;
        mine->calls[i].ns = our.calls[i].ns;
    }
    our.mpi.Gather(mine, sizeof *mine, our.mpi.byte, all, sizeof *mine, our.mpi.byte, 0, our.comm);
    our.mpi.Comm_free(&our.comm);
    if (all)
        watch_report(all, our.size);
    free(mine);
    free(all);
}
