/* coll.h - inside libhrun-coll.so: collective operations done as suits the network
 *
 * Purpose: the library is preloaded into programs of users, whatever they are, and does scatter, gather, their variants
 * with counts, and broadcast as coll_choice.h chooses; the program's results are the same, bit by bit. Reductions are
 * left alone: another tree would add in another order.
 * Invariants:
 *   - it is not linked with MPI (base/preloaded.h);
 *   - without HRUN_COLL, or when that cannot be read, speaks of another number of ranks or is not the same on all
 *     ranks, every call is the MPI library's;
 *   - what goes another way is decided by what all ranks of the call know: communicator, root, bytes, and how often
 *     that came before. The model proposes; then both ways are timed, call by call in turn, the ranks compare what that
 *     took (one reduction), and only a way that was quicker stays: parameters may be wrong, or of another day. Of
 *     scatterv and gatherv only the root knows all counts, so that there communicator and root alone decide, and each
 *     pair of ranks knows of its own message whether it goes in pieces;
 *   - left to the MPI library are: one rank, intercommunicators, ranks that are not of the world, no bytes, and
 *     arguments that are wrong, so that errors are its own;
 *   - messages go through a communicator of our own, made (MPI_Comm_create) once enough would have been saved to pay
 *     for it, and freed with the program's. It returns errors; they are raised on the program's (operations.c).
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

/* MPI's own function of that name. Where there is none the program ends: it has called what does not exist. */
void *coll_real(const char *name);
#define COLL_REAL(name) ((__typeof__(name) *)coll_real(#name))

/* After MPI_Init and before MPI_Finalize. */
void coll_init(void);
void coll_finalize(void);

/* ---------------------------------------------------------------- communicators (comm.c) */

enum { COLL_ENTRIES = 64 };

/* Calls of each way that are timed. The median of five bears two that were disturbed. */
enum { COLL_TRIALS = 5 };

struct coll_entry {            /* of a call that has come before */
    enum hrun_net_op op;
    int root, calls, chosen;
    int tried, kept;           /* calls that were timed; 1: ours stays */
    int record;                /* number of its record, from 1; 0: not known yet, -1: none */
    double times[2][COLL_TRIALS];  /* s, of the library and of ours */
    double bytes;              /* as coll_round gives; -1: a variant with counts; 0: nothing here */
    struct coll_choice choice;
};

/* What a program has called. */
struct coll_call {
    enum hrun_net_op op;
    int with_counts;           /* a variant with counts */
    const void *own;           /* what each rank sends to the root, gets from it, or broadcasts */
    int own_count;
    MPI_Datatype own_type;
    const void *all;           /* of the root: what it gets from all, or sends to them */
    int all_count;             /* of each rank, without counts */
    const int *counts, *places;
    MPI_Datatype all_type;
    int root;
    MPI_Comm comm;
};

/* One call: who does it, and is it timed. */
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
    int *places;               /* owned: what ranks points to; NULL: the communicator is left alone */
    MPI_Comm own;              /* or no_comm */
    double saved_s, own_cost_s;
    struct coll_entry entries[COLL_ENTRIES];
    char *scratch;
    size_t scratch_size;
};

/* What is known of a communicator. NULL: it is left alone. */
struct coll_comm *coll_comm(MPI_Comm comm);
/* How a call is done, with c->own made. 0: by the library, which is not timed; else, when it has been done,
 * coll_turn_end follows. bytes -1: a variant with counts. */
int coll_turn_begin(struct coll_comm *c, const struct coll_call *call, double bytes, struct coll_turn *turn);
void coll_turn_end(struct coll_turn *turn);
/* Memory until the next call or coll_scratch_done; NULL: there is none. */
char *coll_scratch(struct coll_comm *c, size_t size);
void coll_scratch_done(struct coll_comm *c);

/* ---------------------------------------------------------------- records of choices, for the report (records.c) */

enum coll_fate { COLL_UNDECIDED = -1, COLL_LEFT, COLL_KEPT, COLL_FORCED };

/* A choice that is about to be tried, or taken. Result: the number of its record, from 1; -1: none. */
int coll_record_begin(const struct coll_comm *c, const struct coll_entry *e, enum coll_fate fate);
/* What became of it, and what a call took the library and ours. */
void coll_record_end(int record, int kept, const double time_s[2]);
/* A call went this way. */
void coll_record_call(int record);
/* Rank 0 of the world prints and drops all records. */
void coll_records_print(void);

/* ---------------------------------------------------------------- messages (move.c) */

/* Return what an MPI function returns, unless it is MPI_SUCCESS. */
#define TRY(call) \
    do { \
        int rc_ = (call); \
        if (rc_ != MPI_SUCCESS) \
            return rc_; \
    } while (0)

/* Parts of a buffer, one for each rank. */
struct coll_parts {
    char *buf;
    const int *counts, *places;  /* in elements; NULL: count each, one after the other */
    int count;
    MPI_Datatype type;
    MPI_Aint extent;
    int64_t size;              /* bytes of an element */
    int plain;                 /* an element is its bytes as they stand in memory */
};
/* Fill in what is known of the type. */
void coll_parts(struct coll_parts *p, const void *buf, int count, MPI_Datatype type);

/* `all` is used by the root; own->buf MPI_IN_PLACE: the root's part is where it belongs. bytes: of each rank. Result:
 * MPI's. */
int coll_move_gather(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all, int64_t bytes);
int coll_move_scatter(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *all,
                      const struct coll_parts *own, int64_t bytes);
/* Straight to the root, what is irregular in pieces. */
int coll_move_pieces(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all);
/* Straight from the root. */
int coll_move_parts(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *all,
                    const struct coll_parts *own);
int coll_move_bcast(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *data, int64_t bytes,
                    int64_t segment);

/* ---------------------------------------------------------------- operations (operations.c)
 *
 * coll_do: 1: the call is done, and *rc is MPI's; 0: it is left to the MPI library, and coll_turn_end follows it. */
int coll_do(const struct coll_call *call, struct coll_turn *turn, int *rc);

/* The calls of the functions that are wrapped. Arguments are those of MPI's function. */
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
