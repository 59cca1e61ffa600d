/* comm.c - initialization, finalization, and the data of communicators; see coll.h */
#include "coll.h"

#include "base/alloc.h"
#include "base/trace_lines.h"
#include "base/hash.h"
#include "base/preloaded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A variant with counts is tried after this number times options.patience calls, because its saving is unknown. */
enum { COUNTS_PATIENCE = 4 };

/* A preloaded library has no other place for its state, which is constant after MPI_Init. */
static struct {
    struct coll_mpi mpi;
    struct hrun_net_tuning *tuning;
    int key;
    int active;
} our;

void *coll_real(const char *name)
{
    void *real = hrun_preloaded_find(name);

    if (!real) {
        fprintf(stderr, "libhrun-coll: the program's MPI has no %s; run without --tune-collectives\n", name);
        abort();
    }
    return real;
}

const struct coll_mpi *coll_mpi(void)
{
    return &our.mpi;
}

static void find_mpi(void)
{
#define X(Name) our.mpi.Name = (__typeof__(our.mpi.Name))coll_real("PMPI_" #Name);
    COLL_USES(X)
#undef X
    our.mpi.world = coll_real("ompi_mpi_comm_world");
    our.mpi.no_comm = coll_real("ompi_mpi_comm_null");
    our.mpi.packed = coll_real("ompi_mpi_packed");
    our.mpi.int64 = coll_real("ompi_mpi_int64_t");
    our.mpi.number = coll_real("ompi_mpi_double");
    our.mpi.no_type = coll_real("ompi_mpi_datatype_null");
    our.mpi.min = coll_real("ompi_mpi_op_min");
    our.mpi.max = coll_real("ompi_mpi_op_max");
    our.mpi.errors_return = coll_real("ompi_mpi_errors_return");
}

/* ---------------------------------------------------------------- communicators */

static int no_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

/* Called when all ranks of the program's communicator free it, as MPI demands. */
static int on_comm_freed(MPI_Comm comm, int key, void *value, void *extra)
{
    struct coll_comm *c = value;

    (void)comm, (void)key, (void)extra;
    if (c->own != our.mpi.no_comm)
        our.mpi.Comm_free(&c->own);
    for (int i = 0; i < COLL_ENTRIES; i++)
        coll_choice_release(&c->entries[i].choice);
    free(c->places);
    free(c);
    return MPI_SUCCESS;
}

/* Find the places of the ranks of comm; c->places stays NULL if unknown. */
static void locate_ranks(struct coll_comm *c, MPI_Comm comm)
{
    int n = c->ranks.n, good;
    autofree int *numbers = xcalloc((size_t)n * 2, sizeof *numbers);
    int *ranks = numbers + n, *places = xcalloc((size_t)n * 2, sizeof *places);
    MPI_Group group, world;

    for (int i = 0; i < n; i++)
        numbers[i] = i;
    our.mpi.Comm_group(comm, &group);
    our.mpi.Comm_group(our.mpi.world, &world);
    good = our.mpi.Group_translate_ranks(group, n, numbers, world, ranks) == MPI_SUCCESS;
    our.mpi.Group_free(&group);
    our.mpi.Group_free(&world);
    for (int i = 0; good && i < n; i++) {
        good = ranks[i] >= 0 && ranks[i] < our.tuning->world.n;
        places[i] = good ? our.tuning->world.host[ranks[i]] : 0;
        places[n + i] = good ? our.tuning->world.kind[ranks[i]] : 0;
    }
    if (!good) {
        free(places);
        return;
    }
    c->places = places;
    c->ranks.host = places;
    c->ranks.kind = places + n;
}

/* The predicted cost of making a communicator, s: exchanges among all ranks (4 in Open MPI 4.1: two rounds for its
 * number, one for its modules, one barrier), each of 2 log2 n messages at the longest distance. */
static double cost_of_own(const struct coll_comm *c)
{
    double most = 0;
    int rounds = 1;

    for (int i = 1; i < c->ranks.n; i++) {
        double time_s = hrun_net_p2p(c->tuning->net, c->ranks.host[0], c->ranks.kind[0], c->ranks.host[i],
                                     c->ranks.kind[i], 0);

        most = time_s > most ? time_s : most;  /* false if time_s is NAN (unknown) */
    }
    while (1 << rounds < c->ranks.n)
        rounds++;
    return 4 * 2 * rounds * most;
}

static struct coll_comm *make_coll_comm(MPI_Comm comm)
{
    struct coll_comm *c = xcalloc(1, sizeof *c);
    int inter = 1;

    c->tuning = our.tuning;
    c->own = our.mpi.no_comm;
    our.mpi.Comm_test_inter(comm, &inter);
    our.mpi.Comm_size(comm, &c->ranks.n);
    our.mpi.Comm_rank(comm, &c->rank);
    if (!inter && c->ranks.n > 1)
        locate_ranks(c, comm);
    if (c->places)
        c->own_cost_s = cost_of_own(c);
    if (our.mpi.Comm_set_attr(comm, our.key, c) != MPI_SUCCESS) {
        on_comm_freed(comm, our.key, c, NULL);
        return NULL;
    }
    return c;
}

struct coll_comm *coll_comm(MPI_Comm comm)
{
    struct coll_comm *c = NULL;
    int found = 0;

    if (!our.active || comm == our.mpi.no_comm || our.mpi.Comm_get_attr(comm, our.key, &c, &found) != MPI_SUCCESS)
        return NULL;
    /* MPI forbids simultaneous operations of two threads on one communicator. */
    c = found ? c : make_coll_comm(comm);
    return c && c->places ? c : NULL;
}

/* ---------------------------------------------------------------- decisions */

static struct coll_entry *entry_of(struct coll_comm *c, enum hrun_net_op op, int root, double bytes)
{
    uint64_t bits, h;
    struct coll_entry *e;

    memcpy(&bits, &bytes, sizeof bits);
    /* The high half of a product with 2^64 / golden ratio (Knuth, The Art of Computer Programming 3, 6.4). */
    h = (bits ^ (uint64_t)root << 2 ^ (uint64_t)op) * UINT64_C(11400714819323198485);
    e = &c->entries[h >> 58];
    if (e->op != op || e->root != root || e->bytes != bytes) {
        coll_choice_release(&e->choice);
        *e = (struct coll_entry){ .op = op, .root = root, .bytes = bytes };
    }
    return e;
}

/* The proposed way, for which c->own then exists; NULL: none so far. */
static const struct coll_choice *propose(struct coll_comm *c, MPI_Comm comm, struct coll_entry *e, double bytes)
{
    int forced = c->tuning->forced[e->op][0] != 0, patience = forced ? 0 : c->tuning->options.patience;

    if (e->calls < COUNTS_PATIENCE * patience)
        e->calls++;
    if (!e->chosen && e->calls >= (bytes < 0 ? COUNTS_PATIENCE : 1) * patience) {
        e->chosen = 1;
        if (bytes < 0)
            coll_choose_v(c->tuning, &c->ranks, e->op, e->root, &e->choice);
        else
            coll_choose(c->tuning, &c->ranks, e->op, e->root, e->bytes, &e->choice);
    }
    if (!e->choice.way)
        return NULL;
    if (c->own == our.mpi.no_comm) {
        MPI_Group group;
        int rc;

        if (bytes >= 0)
            c->saved_s += e->choice.library_s - e->choice.time_s;
        if (!forced && bytes >= 0 && c->saved_s < c->own_cost_s)
            return NULL;
        our.mpi.Comm_group(comm, &group);
        rc = our.mpi.Comm_create(comm, group, &c->own);
        our.mpi.Group_free(&group);
        if (rc != MPI_SUCCESS || our.mpi.Comm_set_errhandler(c->own, our.mpi.errors_return) != MPI_SUCCESS)
            return NULL;
    }
    return &e->choice;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int coll_turn_begin(struct coll_comm *c, const struct coll_call *call, double bytes, struct coll_turn *turn)
{
    int forced = c->tuning->forced[call->op][0] != 0;
    struct coll_entry *e = entry_of(c, call->op, call->root, bytes < 0 ? -1 : coll_round(c->tuning->net, bytes));
    const struct coll_choice *choice = propose(c, call->comm, e, bytes);

    if (!choice)
        return 0;
    *turn = (struct coll_turn){ .comm = c, .entry = e, .choice = choice };
    turn->timed = !forced && e->tried < 2 * COLL_TRIALS;
    if (!e->recorded)
        e->record = coll_record_begin(c, e, forced ? COLL_FORCED : COLL_UNDECIDED);
    e->recorded = 1;
    /* The order ours, library, library, ours, ours, ... makes a drift affect both ways equally. */
    if (turn->timed && (e->tried + 1) / 2 % 2)
        turn->choice = NULL;
    else if (!forced && !turn->timed && !e->kept)
        return 0;
    if (turn->choice && e->record)
        e->record->calls++;
    turn->begin_s = turn->timed ? now_s() : 0;
    return 1;
}

static int compare_trials(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The typical time of a way's calls: their median, or their mean for sizes of irregular gathers, whose outliers
 * count. */
static double typical(const struct hrun_net *net, const struct coll_entry *e, double *times)
{
    double sum = 0;

    for (int i = 0; i < COLL_TRIALS; i++)
        sum += times[i];
    /* Some parts of a variant with counts may be irregular. */
    if (e->op == HRUN_NET_GATHER && coll_piece(net, e->bytes < 0 ? net->thresholds.gather_M2 : e->bytes) > 0)
        return sum / COLL_TRIALS;
    qsort(times, COLL_TRIALS, sizeof *times, compare_trials);
    return times[COLL_TRIALS / 2];
}

void coll_turn_end(struct coll_turn *turn)
{
    double own[2], slowest[2] = { 0, 0 };
    struct coll_entry *e;

    if (!turn->comm || !turn->timed)
        return;
    e = turn->entry;
    e->times[turn->choice != NULL][e->tried / 2] = now_s() - turn->begin_s;
    if (++e->tried < 2 * COLL_TRIALS)
        return;
    for (int i = 0; i < 2; i++)
        own[i] = typical(turn->comm->tuning->net, e, e->times[i]);
    e->kept = our.mpi.Allreduce(own, slowest, 2, our.mpi.number, our.mpi.max, turn->comm->own) == MPI_SUCCESS &&
              slowest[1] < slowest[0];
    if (e->record) {
        e->record->kept = e->kept;
        memcpy(e->record->time_s, slowest, sizeof slowest);
    }
}

/* ---------------------------------------------------------------- begin and end */

/* 1 if all ranks have read the same text and packed data (MPI 3.1, section 4.2) is the data itself, else 0. */
static int agreed(const char *text, const struct hrun_net_tuning *tuning)
{
    /* Without the highest bit, so that it can be negated. */
    int64_t check = (int64_t)(hrun_hash(HRUN_HASH_INIT, text, strlen(text)) >> 1);
    int64_t own[3] = { 0, check, -check }, least[3] = { 0, 0, 0 };
    int size = 0, packed = 0;

    our.mpi.Comm_size(our.mpi.world, &size);
    our.mpi.Pack_size(1, our.mpi.int64, our.mpi.world, &packed);
    own[0] = tuning && tuning->world.n == size && packed == sizeof check;
    if (our.mpi.Allreduce(own, least, 3, our.mpi.int64, our.mpi.min, our.mpi.world) != MPI_SUCCESS)
        return 0;
    return least[0] == 1 && least[1] == -least[2];
}

void coll_init(void)
{
    const char *text = getenv(HRUN_COLL_VARIABLE);

    if (!text || our.tuning)
        return;
    find_mpi();
    our.tuning = hrun_net_tuning_read(text);
    if (agreed(text, our.tuning) && our.mpi.Comm_create_keyval(no_copy, on_comm_freed, &our.key, NULL) == MPI_SUCCESS)
        our.active = 1;
    unsetenv(HRUN_COLL_VARIABLE);
    hrun_preloaded_leave(&our);
}

void coll_finalize(void)
{
    void *c;
    int found = 0;

    if (!our.active)
        return;
    /* Before MPI_Finalize, while communicators can be freed. */
    if (our.mpi.Comm_get_attr(our.mpi.world, our.key, &c, &found) == MPI_SUCCESS && found)
        our.mpi.Comm_delete_attr(our.mpi.world, our.key);
    our.active = 0;
    coll_records_print();
}
