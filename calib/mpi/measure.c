/* measure.c - run the stages one after the other and gather the records; see hrun-mpi.h and measure.h */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const net_kind_names[NET_NKINDS] = {
    "trip", "fan", "join", "call", "both", "pairs", "local", "scatter", "gather", "sync",
};

/* optional: 1: skipped after set.limit_s, since an estimate is possible without it. */
static const struct { void (*run)(struct net_bench *b); int optional; } stages[] = {
    { net_find_eager, 0 }, { net_trips, 0 }, { net_fans, 0 }, { net_boths, 1 }, { net_pairs, 1 },
    { net_inside_hosts, 1 }, { net_sizes, 1 }, { net_scatters, 1 },
};

/* MPI_Barrier would keep a processor busy, and the host may have none to spare. */
void net_rest(struct net_bench *b)
{
#ifdef HRUN_SMPI
    MPI_Barrier(b->m.comm);
#else
    MPI_Request all;

    MPI_Ibarrier(b->m.comm, &all);
    mpi_await(&all, 1e-3);
#endif
}

int net_late(struct net_bench *b)
{
    int late = b->set.limit_s > 0 && mpi_now() - b->begin_s > b->set.limit_s;

    net_rest(b);
    MPI_Bcast(&late, 1, MPI_INT, 0, b->m.comm);
    return late;
}

void net_keep(struct net_bench *b, const struct net_record *r, const struct net_times *m)
{
    struct net_record *to;

    if (b->n == b->room) {
        int room = b->room ? 2 * b->room : 64;
        struct net_record *v = mpi_alloc((size_t)room, sizeof *v);

        if (b->n)
            memcpy(v, b->v, (size_t)b->n * sizeof *v);
        free(b->v);
        b->v = v;
        b->room = room;
    }
    to = &b->v[b->n++];
    *to = *r;
    to->repetitions = m->n;
    to->time_s = m->median_s;
    to->sd_s = m->sd_s;
    to->max_s = m->max_s;
}

void net_measure(struct net_bench *b, const struct net_trial *t, const struct net_record *r)
{
    struct net_times m;

    if (net_try(b, t, &m))
        net_keep(b, r, &m);
}

/* ---------------------------------------------------------------- preparation */

static void find_bench_hosts(struct net_bench *b)
{
    size_t n = (size_t)b->nranks;

    b->names = mpi_host_names(b->m.comm);
    b->host_of = mpi_alloc(4 * n, sizeof *b->host_of);
    b->kind_of = b->host_of + n;
    b->leader = b->kind_of + n;
    b->group_of = b->leader + n;
    MPI_Allgather(&b->set.kind, 1, MPI_INT, b->kind_of, 1, MPI_INT, b->m.comm);
    for (int r = 0; r < b->nranks; r++) {
        int h = 0;

        while (h < b->nhosts && strcmp(b->names[h], b->names[r]))
            h++;
        if (h == b->nhosts) {
            memmove(b->names[h], b->names[r], HOST_NAME);
            b->leader[b->nhosts++] = r;
        }
        b->host_of[r] = h;
    }
    b->host = b->host_of[b->m.rank];
    b->ngroups = 1;
}

static void allocate_buffers(struct net_bench *b)
{
    size_t n = (size_t)b->nhosts, most = (size_t)(b->set.most > NET_FIXED ? b->set.most : NET_FIXED);

    b->m.out = mpi_alloc(1, NET_BYTES_MAX);
    b->m.in = mpi_alloc(1, NET_IN_MAX);
    b->m.requests = mpi_alloc((size_t)b->nranks, sizeof(MPI_Request));
    b->times = mpi_alloc(2 * most, sizeof *b->times);
    b->calls = b->times + most;
    b->empty.s = mpi_alloc(4 * n * n, sizeof *b->empty.s);
    b->empty.error = b->empty.s + n * n;
    b->full.s = b->empty.error + n * n;
    b->full.error = b->full.s + n * n;
}

static void release_bench(struct net_bench *b)
{
    free(b->names);
    free(b->host_of);
    free(b->m.out);
    free(b->m.in);
    free(b->m.requests);
    free(b->times);
    free(b->empty.s);
    free(b->v);
}

/* ---------------------------------------------------------------- records */

/* The records as text: hosts, each with the number of its kinds of PE, then experiments. All hosts have class 0; the
 * caller replaces it by the kinds of hosts. The caller frees the text. */
static char *print_records(const struct net_bench *b, const struct net_record *v, size_t n)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    fprintf(out, "network 1 %d\n", b->nhosts);
    for (int h = 0; h < b->nhosts; h++) {
        int most = 0;

        for (int r = 0; r < b->nranks; r++)
            if (b->host_of[r] == h && b->kind_of[r] > most)
                most = b->kind_of[r];
        fprintf(out, "host %d %s 0 %d %d\n", h, b->names[h], most + 1, b->group_of[h]);
    }
    for (; n--; v++)
        fprintf(out, "%s %d %d %d %d %d %d %d %.17g %.17g %.17g %.17g\n", net_kind_names[v->kind], v->i, v->j, v->k,
                v->n, v->bytes, v->back, v->repetitions, v->time_s, v->sd_s, v->max_s, v->mean_s);
    fprintf(out, "spent %.17g\nend\n", mpi_now() - b->begin_s);
    fclose(out);
    return text;
}

/* ---------------------------------------------------------------- the measurement */

static int copy_reason(char *why, size_t size, const char *text)
{
    if (why && size)
        snprintf(why, size, "%s", text);
    return -1;
}

static const char *check_measure_options(const struct hrun_measure_options *o, int nranks)
{
    return !(o->precision > 0) || !isfinite(o->precision) ? "the precision is not above 0"
         : o->least < 1 || o->most < o->least ? "repetitions: 1 <= least <= most is wanted"
         : o->warm < 0 || !(o->trial_s >= 0) || !(o->limit_s >= 0) ? "an option is negative"
         : o->kind < 0 || o->kind > 255 ? "the number of a kind of PE is not 0 .. 255"
         : nranks < 2 ? "one process alone sends no messages: start one on each host, or several on one" : NULL;
}

/* The time of all stages is the same on all processes, except for the wake-up from the last one. Differences above
 * these limits (absolute, and relative to the time) are a fault of a clock. */
static const double CLOCKS_S = 0.5, CLOCKS_SHARE = 0.01;

/* If two clocks contradict each other, write that into b->odd on all processes. Collective. */
static void compare_clocks(struct net_bench *b)
{
    struct { double s; int rank; } mine = { mpi_now() - b->begin_s, b->m.rank }, most, least;

    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, b->m.comm);
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, b->m.comm);
    if (most.s - least.s <= CLOCKS_S + CLOCKS_SHARE * fabs(least.s))
        return;
    snprintf(b->odd, sizeof b->odd, "the clocks of two processes contradict each other: between the same two moments "
             "%.3g s went by on %s (rank %d), and %.3g s on %s (rank %d). One of them jumps, and no time is worth "
             "anything: see to the clocks (clock source of the kernel, suspended virtual machines), then measure again",
             most.s, b->names[b->host_of[most.rank]], most.rank, least.s, b->names[b->host_of[least.rank]], least.rank);
}

/* Result: on process 0 the text of all records, which the caller frees; else NULL. */
static char *run_stages(struct net_bench *b)
{
    char *all, *text = NULL;
    size_t bytes;

    net_rest(b);
    b->begin_s = mpi_now();
    find_bench_hosts(b);
    allocate_buffers(b);
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        if (!(net_late(b) && stages[s].optional))
            stages[s].run(b);
    net_rest(b);
    compare_clocks(b);
    if (b->odd[0])
        return NULL;
    all = mpi_gather_text(b->m.comm, b->v, (size_t)b->n * sizeof *b->v, &bytes);
    if (all)
        text = print_records(b, (const struct net_record *)(void *)all, bytes / sizeof *b->v);
    free(all);
    return text;
}

int hrun_measure_hosts(MPI_Comm comm, int *host_of)
{
    struct net_bench b = { .m.comm = comm };

    MPI_Comm_size(comm, &b.nranks);
    MPI_Comm_rank(comm, &b.m.rank);
    find_bench_hosts(&b);
    memcpy(host_of, b.host_of, (size_t)b.nranks * sizeof *host_of);
    release_bench(&b);
    return b.nhosts;
}

int hrun_measure_network(MPI_Comm comm, const struct hrun_measure_options *options, char **records, char *why,
                         size_t size)
{
    struct net_bench b = { .set = *options };
    const char *wrong;
    char *text;
    int bad, any;

    MPI_Comm_size(comm, &b.nranks);
    wrong = check_measure_options(options, b.nranks);
    bad = wrong != NULL;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any)
        return copy_reason(why, size, wrong ? wrong : "the options of another process are wrong");
    MPI_Comm_dup(comm, &b.m.comm);
    MPI_Comm_set_errhandler(b.m.comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(b.m.comm, &b.m.rank);
    text = run_stages(&b);
    MPI_Comm_free(&b.m.comm);
    release_bench(&b);
    *records = text;
    return b.odd[0] ? copy_reason(why, size, b.odd) : 0;
}
