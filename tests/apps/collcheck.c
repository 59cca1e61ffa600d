/* collcheck.c - are collective operations as they should be? Each through MPI_... and again straight through the MPI
 * library, over types, counts, roots, in place and not, on several communicators; results are compared byte by byte,
 * gaps of types included. Tells how many calls of each operation did not reach the library.
 *
 *     collcheck [threads] [errors] [slow=library|ours]
 *         threads    two threads call at once, each on a communicator of its own
 *         errors     wrong arguments give the same errors
 *         slow=WHO   instead of all that: 40 broadcasts while those of the library, or messages of anybody else, take
 *                    50 ms longer; tells how many were the library's
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GATHER, SCATTER, GATHERV, SCATTERV, BCAST, OPS };
static const char *const names[OPS] = { "gather", "scatter", "gatherv", "scatterv", "bcast" };

/* What reaches the library by its second names, which stand in front of the library's own here. */
static atomic_long reached[OPS];
static long calls[OPS];
static _Thread_local int counted;
static int slow;               /* 1: the library's broadcasts, 2: messages */

static void delay(int who)
{
    if (slow && slow == who)
        usleep(50000);
}

#define THROUGH(Name, op, params, names) \
    int PMPI_##Name params \
    { \
        static __typeof__(&PMPI_##Name) real; \
        if (!real) \
            real = (__typeof__(real))dlsym(RTLD_NEXT, "PMPI_" #Name); \
        reached[op] += counted; \
        delay(op == BCAST); \
        return real names; \
    }
THROUGH(Gather, GATHER, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g, MPI_Comm h),
        (a, b, c, d, e, f, g, h))
THROUGH(Scatter, SCATTER, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g, MPI_Comm h),
        (a, b, c, d, e, f, g, h))
THROUGH(Gatherv, GATHERV, (const void *a, int b, MPI_Datatype c, void *d, const int e[], const int p[], MPI_Datatype f,
                           int g, MPI_Comm h), (a, b, c, d, e, p, f, g, h))
THROUGH(Scatterv, SCATTERV, (const void *a, const int b[], const int p[], MPI_Datatype c, void *d, int e,
                             MPI_Datatype f, int g, MPI_Comm h), (a, b, p, c, d, e, f, g, h))
THROUGH(Bcast, BCAST, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))

int PMPI_Isend(const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g)
{
    static __typeof__(&PMPI_Isend) real;

    if (!real)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "PMPI_Isend");
    delay(2);
    return real(a, b, c, d, e, f, g);
}

/* Two types with one signature: what is sent, what is received. */
struct pair {
    MPI_Datatype out, in;
    int made;                  /* 1: both, 2: in alone is to be freed */
};
enum { PAIRS = 6 };

struct row { int32_t number; char letter; double value; };

static void make_pairs(struct pair *p)
{
    int lengths[3] = { 1, 1, 1 }, two[2] = { 1, 1 };
    MPI_Aint at[3] = { offsetof(struct row, number), offsetof(struct row, letter), offsetof(struct row, value) };
    MPI_Aint swapped[2] = { 4, 0 };
    MPI_Datatype of[3] = { MPI_INT32_T, MPI_CHAR, MPI_DOUBLE }, raw;

    p[0] = (struct pair){ MPI_CHAR, MPI_CHAR, 0 };
    p[1] = (struct pair){ MPI_DOUBLE, MPI_DOUBLE, 0 };
    p[2] = (struct pair){ MPI_DOUBLE_INT, MPI_DOUBLE_INT, 0 };
    MPI_Type_contiguous(6, MPI_INT, &p[3].out);
    MPI_Type_vector(3, 2, 4, MPI_INT, &p[3].in);
    MPI_Type_create_struct(3, lengths, at, of, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct row), &p[4].out);
    MPI_Type_dup(p[4].out, &p[4].in);
    MPI_Type_free(&raw);
    MPI_Type_contiguous(2, MPI_INT, &p[5].out);
    /* As long as two ints without a gap, and yet not in their order. */
    MPI_Type_create_hindexed(2, two, swapped, MPI_INT, &p[5].in);
    for (int i = 3; i < PAIRS; i++) {
        p[i].made = 1;
        MPI_Type_commit(&p[i].out);
        MPI_Type_commit(&p[i].in);
    }
}

static void free_pairs(struct pair *p)
{
    for (int i = 0; i < PAIRS; i++)
        if (p[i].made) {
            MPI_Type_free(&p[i].out);
            MPI_Type_free(&p[i].in);
        }
}

/* Memory for n elements and `more`, filled with numbers that differ from rank to rank. */
static unsigned char *fill(size_t n, MPI_Datatype type, unsigned seed, size_t *bytes)
{
    MPI_Aint lb, extent;
    unsigned char *p;

    MPI_Type_get_extent(type, &lb, &extent);
    *bytes = ((n + 1) * (size_t)extent + 67) / 4 * 4;
    p = malloc(*bytes);
    for (size_t i = 0; p && i + 4 <= *bytes; i += 4) {
        seed = seed * 1103515245u + 12345u;
        memcpy(p + i, &seed, 4);
    }
    return p;
}

/* One call, made twice, into memory that is the same before. */
struct call {
    int op, n, rank, root, in_place;
    MPI_Comm comm;
    const struct pair *types;
    int count, *counts, *places;
    int expected;              /* it can be taken */
};

static int do_call(const struct call *c, int through, void *out, void *in)
{
    int me = c->rank == c->root, rc = 0, own = c->counts ? c->counts[c->rank] : c->count;
    const void *from = c->in_place && me ? MPI_IN_PLACE : out;
    void *to = c->in_place && me ? MPI_IN_PLACE : in;
    MPI_Datatype a = c->types->out, b = c->types->in;

    counted = through && c->expected;
    switch (c->op) {
    case GATHER:
        rc = (through ? MPI_Gather : PMPI_Gather)(from, c->count, a, in, c->count, b, c->root, c->comm);
        break;
    case SCATTER:
        rc = (through ? MPI_Scatter : PMPI_Scatter)(out, c->count, a, to, c->count, b, c->root, c->comm);
        break;
    case GATHERV:
        rc = (through ? MPI_Gatherv : PMPI_Gatherv)(from, own, a, in, c->counts, c->places, b, c->root, c->comm);
        break;
    case SCATTERV:
        rc = (through ? MPI_Scatterv : PMPI_Scatterv)(out, c->counts, c->places, a, to, own, b, c->root, c->comm);
        break;
    default:
        rc = (through ? MPI_Bcast : PMPI_Bcast)(in, c->count, me ? a : b, c->root, c->comm);
    }
    counted = 0;
    return rc;
}

/* 1: both results are the same. */
static int compare(const struct call *c)
{
    size_t all = (size_t)c->n * (size_t)(c->counts ? 3 * c->count + 4 : c->count), bytes, other;
    unsigned seed = (unsigned)(c->rank * 31 + c->op * 7 + c->count);
    unsigned char *out = fill(all, c->types->out, seed, &bytes), *in, *in2;
    int same;

    in = fill(all, c->types->in, seed + 5, &other);
    if (c->op == BCAST && c->rank == c->root) {
        free(in);
        in = fill(all, c->types->out, seed + 5, &other);
    }
    in2 = malloc(other);
    memcpy(in2, in, other);
    same = do_call(c, 1, out, in) == MPI_SUCCESS;
    same = do_call(c, 0, out, in2) == MPI_SUCCESS && same && !memcmp(in, in2, other);
    free(out);
    free(in);
    free(in2);
    return same;
}

static long bad;

static void check(struct call *c)
{
    int size;

    MPI_Type_size(c->types->out, &size);
    c->expected = c->n > 1 && (c->counts || c->count * size > 0);
    calls[c->op] += c->expected;
    if (!compare(c)) {
        bad++;
        printf("differs: %s rank %d of %d root %d count %d in place %d\n", names[c->op], c->rank, c->n, c->root,
               c->count, c->in_place);
    }
}

/* All operations on a communicator. */
static void check_comm(MPI_Comm comm)
{
    static const int counts[] = { 0, 1, 200, 1500 };
    struct pair types[PAIRS];
    struct call c = { .comm = comm };
    int list[256], places[256];

    MPI_Comm_size(comm, &c.n);
    MPI_Comm_rank(comm, &c.rank);
    make_pairs(types);
    for (int t = 0; t < PAIRS; t++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int root = t % c.n; root < c.n; root += c.n > 1 ? c.n - 1 : 1)
                for (int op = 0; op < OPS; op++)
                    for (int in_place = 0; in_place < (op == BCAST ? 1 : 2); in_place++) {
                        int at = 0;

                        for (int r = 0; r < c.n; r++) {
                            list[r] = r % 3 == 1 ? 0 : counts[k] + r % 4;
                            places[r] = at + r % 2;
                            at = places[r] + list[r];
                        }
                        c.op = op;
                        c.types = &types[t];
                        c.count = counts[k];
                        c.root = root;
                        c.in_place = in_place;
                        c.counts = op == GATHERV || op == SCATTERV ? list : NULL;
                        c.places = places;
                        check(&c);
                    }
    free_pairs(types);
}

/* Between the two halves of the world. */
static void check_inter(MPI_Comm half, int upper, int other_leader)
{
    MPI_Comm inter;
    int rank, size, got[64] = { 0 }, mine, root;

    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other_leader, 9, &inter);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_remote_size(inter, &size);
    mine = 100 + rank;
    root = upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Gather(&mine, 1, MPI_INT, got, 1, MPI_INT, root, inter);
    for (int i = 0; root == MPI_ROOT && i < size; i++)
        bad += got[i] != 100 + i;
    MPI_Bcast(&mine, 1, MPI_INT, root, inter);
    bad += upper && mine != 100;
    MPI_Comm_free(&inter);
}

static void check_errors(void)
{
    int x = 1, all[256], rc[2], class[2];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define SAME(name, args) \
    rc[0] = MPI_##name args; \
    rc[1] = PMPI_##name args; \
    MPI_Error_class(rc[0], &class[0]); \
    MPI_Error_class(rc[1], &class[1]); \
    if (class[0] != class[1] || rc[0] == MPI_SUCCESS) { \
        bad++; \
        printf("errors of " #name #args " differ: %d %d\n", class[0], class[1]); \
    }
    SAME(Gather, (&x, 1, MPI_INT, all, 1, MPI_INT, 1000, MPI_COMM_WORLD))
    SAME(Gather, (&x, -1, MPI_INT, all, -1, MPI_INT, 0, MPI_COMM_WORLD))
    SAME(Scatter, (all, 1, MPI_DATATYPE_NULL, &x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD))
    SAME(Bcast, (&x, 1, MPI_INT, -5, MPI_COMM_WORLD))
    SAME(Bcast, (&x, 1, MPI_INT, 0, MPI_COMM_NULL))
    SAME(Gatherv, (&x, 1, MPI_INT, all, NULL, NULL, MPI_INT, -7, MPI_COMM_WORLD))
    SAME(Scatterv, (all, NULL, NULL, MPI_INT, &x, -2, MPI_INT, 0, MPI_COMM_WORLD))
}

static MPI_Comm heard_on = MPI_COMM_NULL;
static int heard;

static void hear(MPI_Comm *comm, int *code, ...)
{
    heard_on = *comm;
    MPI_Error_class(*code, &heard);
}

/* What goes wrong on the way is told to the program's handler, of the program's communicator, also when that was set
 * after operations have been done. */
static void check_handler(int rank, int size)
{
    int x[2] = { 1, 2 }, all[256], class;
    MPI_Errhandler handler;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Gather(x, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Error_class(MPI_Gather(x, rank ? 2 : 1, MPI_INT, all, 1, MPI_INT, 0, comm), &class);
    if (!rank && size > 1 && (class != MPI_ERR_TRUNCATE || heard != class || heard_on != comm)) {
        bad++;
        printf("a gather of too much: error %d, the handler heard %d on %s communicator\n", class, heard,
               heard_on == comm ? "the" : "another");
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* Which of the two ways stays when one of them is slow? */
static void check_slow(int who, int rank)
{
    static char data[100000];

    slow = who;
    counted = 1;
    for (int i = 0; i < 40; i++) {
        memset(data, rank ? 0 : i + 1, sizeof data);
        MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
        bad += data[0] != i + 1 || data[sizeof data - 1] != i + 1;
    }
    slow = counted = 0;
    if (rank == 0)
        printf("slow: %ld of 40 were the library's\ndiffering: %ld\n", (long)reached[BCAST], bad);
}

static void *in_thread(void *comm)
{
    double data[3000];
    int rank;

    MPI_Comm_rank(*(MPI_Comm *)comm, &rank);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 3000; i++)
            data[i] = rank == 0 ? round + i : -1;
        MPI_Bcast(data, 3000, MPI_DOUBLE, 0, *(MPI_Comm *)comm);
        if (data[0] != round || data[2999] != round + 2999)
            return comm;
    }
    return NULL;
}

static void check_threads(void)
{
    MPI_Comm comms[2];
    pthread_t other;
    void *wrong;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    if (pthread_create(&other, NULL, in_thread, &comms[0]))
        return;
    bad += in_thread(&comms[1]) != NULL;
    pthread_join(other, &wrong);
    bad += wrong != NULL;
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    int rank, size, level, threads = 0, errors = 0, who = 0;
    MPI_Comm comm;
    long all;

    for (int i = 1; i < argc; i++) {
        threads |= !strcmp(argv[i], "threads");
        errors |= !strcmp(argv[i], "errors");
        who = !strcmp(argv[i], "slow=library") ? 1 : !strcmp(argv[i], "slow=ours") ? 2 : who;
    }
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (who) {
        check_slow(who, rank);
        MPI_Finalize();
        return bad != 0;
    }
    check_comm(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    check_comm(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    check_comm(comm);
    MPI_Comm_free(&comm);
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &comm);
        check_inter(comm, rank >= size / 2, rank >= size / 2 ? 0 : size / 2);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < 3; i++) {       /* handles are used again */
        int x = rank + i;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Bcast(&x, 1, MPI_INT, i % size, comm);
        bad += x != i % size + i;
        MPI_Comm_free(&comm);
    }
    if (threads && level == MPI_THREAD_MULTIPLE)
        check_threads();
    if (errors) {
        check_errors();
        check_handler(rank, size);
    }
    MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int op = 0; op < OPS; op++)
            printf("%s: %ld calls, %ld reached the library\n", names[op], calls[op], (long)reached[op]);
        printf("differing: %ld\n", all);
    }
    MPI_Finalize();
    return all != 0 && rank == 0;
}
