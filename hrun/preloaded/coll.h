/* coll.h - inside libhrun-coll.so: collective operations tuned to the network
 *
 * Purpose: the library is preloaded into any user program, and performs scatter, gather, their variants with counts,
 * and broadcast as coll_choice.h chooses. The program's results are the same, bit by bit. Reductions are not changed,
 * because another tree would add in another order.
 * Invariants:
 *   - it is not linked with MPI (base/preloaded.h);
 *   - the MPI library performs every call if HRUN_COLL is missing, invalid, made for another number of ranks, or
 *     differs between ranks;
 *   - decisions use only data that all ranks of the call have: communicator, root, bytes, and number of earlier calls
 *     of this kind. The model proposes a way; then both ways are timed in alternate calls, and the ranks compare the
 *     times (one reduction). Our way replaces the library's only if it was faster, because the model may be wrong. For
 *     scatterv and gatherv only the root has all counts, so communicator and root alone decide, and each pair of ranks
 *     decides whether its message is sent in pieces;
 *   - the MPI library performs calls on one rank, on intercommunicators, with ranks outside of MPI_COMM_WORLD, without
 *     bytes, and with wrong arguments, so that it reports the errors;
 *   - messages go through a duplicate communicator, made (MPI_Comm_create) once the expected saving exceeds its cost,
 *     and freed with the program's. Calls on it return errors; operations.c raises them on the program's communicator.
 */
#ifndef HRUN_PRELOADED_COLL_H
#define HRUN_PRELOADED_COLL_H

#include "coll_choice.h"

#include <mpi.h>
#include <stdint.h>

/* MPI's functions that the library itself needs. */
#define COLL_USES(X) \
    X(Allreduce) X(Comm_call_errhandler) X(Comm_create) X(Comm_create_keyval) X(Comm_delete_attr) X(Comm_free) \
    X(Comm_f2c) X(Comm_get_attr) X(Comm_group) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) \
    X(Comm_test_inter) X(Group_free) X(Group_translate_ranks) X(Irecv) X(Isend) X(Pack) X(Pack_size) X(Recv) X(Send) \
    X(Sendrecv) X(Type_f2c) X(Type_get_envelope) X(Type_get_extent) X(Type_size) X(Unpack) X(Wait) X(Waitall)
struct coll_mpi {
#define X(Name) __typeof__(&PMPI_##Name) Name;
    COLL_USES(X)
#undef X
    /* The macros of mpi.h would link the library with MPI. */
    MPI_Comm world, no_comm;
    MPI_Datatype packed, int64, number, no_type;
    MPI_Op min, max;
    MPI_Errhandler errors_return;
};
const struct coll_mpi *coll_mpi(void);

/* MPI's own function of that name. If there is none the program ends. */
void *coll_real(const char *name);
#define COLL_REAL(name) ((__typeof__(name) *)coll_real(#name))

/* Called after MPI_Init and before MPI_Finalize. */
void coll_init(void);
void coll_finalize(void);

/* ---------------------------------------------------------------- communicators (comm.c) */

enum { COLL_ENTRIES = 64 };

/* Timed calls of each way. The median of five is valid with up to two disturbed ones. */
enum { COLL_TRIALS = 5 };

struct coll_entry {            /* a kind of call that has occurred */
    enum hrun_net_op op;
    int root, calls, chosen;
    int tried, kept;           /* timed calls; 1: our way is kept */
    int recorded;              /* 1: record is set */
    struct coll_record *record;    /* NULL: none is kept */
    double times[2][COLL_TRIALS];  /* s, of the library's way and of ours */
    double bytes;              /* from coll_round; -1: a variant with counts; 0: unused */
    struct coll_choice choice;
};

/* A call of the program. */
struct coll_call {
    enum hrun_net_op op;
    int with_counts;           /* a variant with counts */
    const void *own;           /* data that each rank sends to the root, receives, or broadcasts */
    int own_count;
    MPI_Datatype own_type;
    const void *all;           /* on the root: data received from all ranks, or sent */
    int all_count;             /* of each rank, if not a variant with counts */
    const int *counts, *places;
    MPI_Datatype all_type;
    int root;
    MPI_Comm comm;
};

/* How one call is performed. */
struct coll_turn {
    struct coll_comm *comm;    /* NULL: nothing is timed */
    struct coll_entry *entry;
    const struct coll_choice *choice;  /* NULL: the library */
    int timed;
    double begin_s;
};

struct coll_comm {
    const struct hrun_net_tuning *tuning;
    struct hrun_net_ranks ranks;
    int rank;
    int *places;               /* owned memory of `ranks`; NULL: the MPI library performs all calls */
    MPI_Comm own;              /* the duplicate communicator, or no_comm */
    double saved_s, own_cost_s;
    struct coll_entry entries[COLL_ENTRIES];
};

/* The data of a communicator. NULL: the MPI library performs all its calls. */
struct coll_comm *coll_comm(MPI_Comm comm);
/* Decide how a call is performed, and create c->own if needed. bytes -1: a variant with counts. Result: 0: the MPI
 * library performs the call, untimed; 1: as *turn says, and the caller calls coll_turn_end afterwards. */
int coll_turn_begin(struct coll_comm *c, const struct coll_call *call, double bytes, struct coll_turn *turn);
void coll_turn_end(struct coll_turn *turn);

/* ---------------------------------------------------------------- records of choices, for the report (records.c) */

enum coll_fate { COLL_UNDECIDED = -1, COLL_LEFT, COLL_KEPT, COLL_FORCED };

struct coll_record {
    enum hrun_net_op op;
    int ranks, root;
    int kept;                  /* enum coll_fate */
    long calls;                /* performed by this choice */
    double bytes, segment;
    double time_s[2];          /* of a call in the trial: the library's way, and ours */
    char way[16];
};

/* Create the record of a choice that will be tried or used. The caller updates it. NULL: it is not reported. */
struct coll_record *coll_record_begin(const struct coll_comm *c, const struct coll_entry *e, enum coll_fate fate);
/* Rank 0 of the world prints and drops all records. */
void coll_records_print(void);

/* ---------------------------------------------------------------- messages (move.c) */

/* Return the result of an MPI function unless it is MPI_SUCCESS. */
#define TRY(call) \
    do { \
        int rc_ = (call); \
        if (rc_ != MPI_SUCCESS) \
            return rc_; \
    } while (0)

/* Parts of a buffer, one for each rank. */
struct coll_parts {
    char *buf;
    const int *counts, *places;  /* in elements; NULL: `count` each, contiguous */
    int count;
    MPI_Datatype type;
    MPI_Aint extent;
    int64_t size;              /* bytes of an element */
    int plain;                 /* 1: a basic type without gaps, which is sent without packing */
};
/* Fill *p, including the properties of the type. */
void coll_parts(struct coll_parts *p, const void *buf, int count, MPI_Datatype type);

/* Perform an operation along a tree. Only the root uses `all`. own->buf MPI_IN_PLACE: the root's part is in place.
 * bytes: of each rank; not used for variants with counts, whose tree is linear. Result: an MPI error code. */
int coll_move_gather(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all, int64_t bytes);
int coll_move_scatter(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *all,
                      const struct coll_parts *own, int64_t bytes);
/* Gather directly to the root; parts of irregular sizes are sent in pieces. */
int coll_move_pieces(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all);
int coll_move_bcast(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *data, int64_t bytes,
                    int64_t segment);

/* ---------------------------------------------------------------- operations (operations.c)
 *
 * coll_do performs a call. 1: done, *rc is the MPI error code; 0: the caller calls the MPI library, then
 * coll_turn_end. */
int coll_do(const struct coll_call *call, struct coll_turn *turn, int *rc);

/* Initialisers of struct coll_call for the wrapped functions, from the arguments of MPI's function. */
#define COLL_GATHER(op, send, count, type, in, in_count, in_type, root, comm) \
    { op, 0, send, count, type, in, in_count, NULL, NULL, in_type, root, comm }
#define COLL_SCATTER(op, send, count, type, in, in_count, in_type, root, comm) \
    { op, 0, in, in_count, in_type, send, count, NULL, NULL, type, root, comm }
#define COLL_GATHERV(op, send, count, type, in, in_counts, places, in_type, root, comm) \
    { op, 1, send, count, type, in, 0, in_counts, places, in_type, root, comm }
#define COLL_SCATTERV(op, send, counts, places, type, in, in_count, in_type, root, comm) \
    { op, 1, in, in_count, in_type, send, 0, counts, places, type, root, comm }
#define COLL_BCAST(op, buf, count, type, root, comm) { op, 0, buf, count, type, NULL, 0, NULL, NULL, NULL, root, comm }

#endif
