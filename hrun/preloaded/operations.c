/* operations.c - the operations: is it one that we do, and which way; see coll.h */
#include "coll.h"

#include <limits.h>
#include <string.h>

/* All that a rank may have to send at once is counted by an int. */
enum { BYTES_MAX = INT_MAX / 2 };

/* Known and right as far as this rank sees; else the library, which has the words for it, is to say what is wrong. */
static int is_good(const void *buf, int count, MPI_Datatype type)
{
    return type != coll_mpi()->no_type && count >= 0 && buf != MPI_IN_PLACE;
}

static struct coll_comm *tunable_comm(MPI_Comm comm, int root)
{
    struct coll_comm *c = coll_comm(comm);

    return c && root >= 0 && root < c->ranks.n ? c : NULL;
}

/* The turn of messages that all ranks know the size of. */
static int begin(struct coll_comm *c, MPI_Comm comm, enum hrun_net_op op, int root, int64_t bytes,
                 struct coll_turn *turn)
{
    return bytes > 0 && bytes <= BYTES_MAX / c->ranks.n && coll_turn_begin(c, comm, op, root, (double)bytes, turn);
}

/* The operation has been done. Errors of the library's are raised already, those of messages of ours where the program
 * expects them. */
static int end(struct coll_turn *turn, MPI_Comm comm, const int *rc)
{
    coll_turn_end(turn);
    if (turn->choice && *rc != MPI_SUCCESS)
        coll_mpi()->Comm_call_errhandler(comm, *rc);
    return 1;
}

/* The library's call in a turn that is timed. */
#define LIBRARY(Name, ...) COLL_REAL(PMPI_##Name)(__VA_ARGS__)

/* What the root has of all, and its own part, which may be in place. 0: something is wrong. */
static int root_parts(const void *own_buf, int own_count, MPI_Datatype own_type, const void *buf, int count,
                      MPI_Datatype type, struct coll_parts *own, struct coll_parts *all)
{
    if (!is_good(buf, count, type))
        return 0;
    coll_parts(all, buf, count, type);
    if (own_buf == MPI_IN_PLACE) {
        *own = (struct coll_parts){ .buf = MPI_IN_PLACE };
        return 1;
    }
    if (!is_good(own_buf, own_count, own_type))
        return 0;
    coll_parts(own, own_buf, own_count, own_type);
    return 1;
}

int coll_do_gather(const void *send, int count, MPI_Datatype type, void *in, int in_count, MPI_Datatype in_type,
                     int root, MPI_Comm comm, int *rc)
{
    struct coll_comm *c = tunable_comm(comm, root);
    struct coll_turn turn;
    struct coll_parts own, all = { 0 };
    int64_t bytes;

    if (!c || (c->rank == root ? !root_parts(send, count, type, in, in_count, in_type, &own, &all)
               : !is_good(send, count, type)))
        return 0;
    if (c->rank != root)
        coll_parts(&own, send, count, type);
    bytes = c->rank == root ? all.count * all.size : own.count * own.size;
    if (!begin(c, comm, HRUN_NET_GATHER, root, bytes, &turn))
        return 0;
    *rc = !turn.choice ? LIBRARY(Gather, send, count, type, in, in_count, in_type, root, comm)
          : strcmp(turn.choice->way, "pieces") ? coll_move_gather(c, turn.choice->tree, &own, &all, bytes)
          : coll_move_pieces(c, turn.choice->tree, &own, &all);
    return end(&turn, comm, rc);
}

int coll_do_scatter(const void *send, int count, MPI_Datatype type, void *in, int in_count, MPI_Datatype in_type,
                      int root, MPI_Comm comm, int *rc)
{
    struct coll_comm *c = tunable_comm(comm, root);
    struct coll_turn turn;
    struct coll_parts own, all = { 0 };
    int64_t bytes;

    if (!c || (c->rank == root ? !root_parts(in, in_count, in_type, send, count, type, &own, &all)
               : !is_good(in, in_count, in_type)))
        return 0;
    if (c->rank != root)
        coll_parts(&own, in, in_count, in_type);
    bytes = c->rank == root ? all.count * all.size : own.count * own.size;
    if (!begin(c, comm, HRUN_NET_SCATTER, root, bytes, &turn))
        return 0;
    *rc = !turn.choice ? LIBRARY(Scatter, send, count, type, in, in_count, in_type, root, comm)
          : coll_move_scatter(c, turn.choice->tree, &all, &own, bytes);
    return end(&turn, comm, rc);
}

/* The same with counts; *own is of this rank, *all (buf, type set) gets them. */
static int parts_with_counts(const struct coll_comm *c, int root, const void *own_buf, int own_count,
                             MPI_Datatype own_type, const void *buf, const int *counts, const int *places,
                             MPI_Datatype type, struct coll_parts *own, struct coll_parts *all)
{
    *all = (struct coll_parts){ 0 };
    if (c->rank != root || own_buf != MPI_IN_PLACE) {
        if (!is_good(own_buf, own_count, own_type))
            return 0;
        coll_parts(own, own_buf, own_count, own_type);
    } else {
        *own = (struct coll_parts){ .buf = MPI_IN_PLACE };
    }
    if (c->rank != root)
        return 1;
    if (!counts || !places || !is_good(buf, 0, type))
        return 0;
    for (int i = 0; i < c->ranks.n; i++)
        if (counts[i] < 0)
            return 0;
    coll_parts(all, buf, 0, type);
    all->counts = counts;
    all->places = places;
    return 1;
}

int coll_do_gatherv(const void *send, int count, MPI_Datatype type, void *in, const int *in_counts,
                      const int *places, MPI_Datatype in_type, int root, MPI_Comm comm, int *rc)
{
    struct coll_comm *c = tunable_comm(comm, root);
    struct coll_turn turn;
    struct coll_parts own, all;

    if (!c || !parts_with_counts(c, root, send, count, type, in, in_counts, places, in_type, &own, &all) ||
        !coll_turn_begin(c, comm, HRUN_NET_GATHER, root, -1, &turn))
        return 0;
    *rc = !turn.choice ? LIBRARY(Gatherv, send, count, type, in, in_counts, places, in_type, root, comm)
          : coll_move_pieces(c, turn.choice->tree, &own, &all);
    return end(&turn, comm, rc);
}

int coll_do_scatterv(const void *send, const int *counts, const int *places, MPI_Datatype type, void *in,
                       int in_count, MPI_Datatype in_type, int root, MPI_Comm comm, int *rc)
{
    struct coll_comm *c = tunable_comm(comm, root);
    struct coll_turn turn;
    struct coll_parts own, all;

    if (!c || !parts_with_counts(c, root, in, in_count, in_type, send, counts, places, type, &own, &all) ||
        !coll_turn_begin(c, comm, HRUN_NET_SCATTER, root, -1, &turn))
        return 0;
    *rc = !turn.choice ? LIBRARY(Scatterv, send, counts, places, type, in, in_count, in_type, root, comm)
          : coll_move_parts(c, turn.choice->tree, &all, &own);
    return end(&turn, comm, rc);
}

int coll_do_bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, int *rc)
{
    struct coll_comm *c = tunable_comm(comm, root);
    struct coll_turn turn;
    struct coll_parts data;

    if (!c || !is_good(buf, count, type))
        return 0;
    coll_parts(&data, buf, count, type);
    if (!begin(c, comm, HRUN_NET_BCAST, root, data.count * data.size, &turn))
        return 0;
    *rc = !turn.choice ? LIBRARY(Bcast, buf, count, type, root, comm)
          : coll_move_bcast(c, turn.choice->tree, &data, data.count * data.size, (int64_t)turn.choice->segment);
    return end(&turn, comm, rc);
}
