/* operations.c - performing or declining operations; see coll.h */
#include "coll.h"

#include <limits.h>
#include <string.h>

/* Limit of the bytes that a rank sends at once, because MPI counts them by an int. */
enum { BYTES_MAX = INT_MAX / 2 };

/* 1 if the arguments are valid as far as this rank sees, else 0; the MPI library then reports the error. */
static int is_good(const void *buf, int count, MPI_Datatype type)
{
    return type != coll_mpi()->no_type && count >= 0 && buf != MPI_IN_PLACE;
}

/* Describe the root's data of all ranks. 0: an argument is invalid. */
static int describe_all(const struct coll_call *call, int n, struct coll_parts *all)
{
    if ((call->with_counts && (!call->counts || !call->places)) || !is_good(call->all, call->all_count, call->all_type))
        return 0;
    for (int i = 0; i < n && call->with_counts; i++)
        if (call->counts[i] < 0)
            return 0;
    coll_parts(all, call->all, call->all_count, call->all_type);
    all->counts = call->counts;
    all->places = call->places;
    return 1;
}

/* Describe this rank's own part (MPI_IN_PLACE: part of the root's data) and the root's data of all ranks. 0: an
 * argument is invalid. */
static int describe_parts(const struct coll_call *call, const struct coll_comm *c, struct coll_parts *own,
                          struct coll_parts *all)
{
    int has_all = c->rank == call->root && call->op != HRUN_NET_BCAST;

    *all = (struct coll_parts){ 0 };
    *own = (struct coll_parts){ .buf = MPI_IN_PLACE };
    if (has_all && !describe_all(call, c->ranks.n, all))
        return 0;
    if (has_all && call->own == MPI_IN_PLACE)
        return 1;
    if (!is_good(call->own, call->own_count, call->own_type))
        return 0;
    coll_parts(own, call->own, call->own_count, call->own_type);
    return 1;
}

int coll_do(const struct coll_call *call, struct coll_turn *turn, int *rc)
{
    struct coll_comm *c = coll_comm(call->comm);
    const struct coll_choice *choice;
    struct coll_parts own, all;
    int64_t bytes;

    turn->comm = NULL;
    if (!c || call->root < 0 || call->root >= c->ranks.n || !describe_parts(call, c, &own, &all))
        return 0;
    bytes = call->with_counts ? -1 : all.type ? all.count * all.size : own.count * own.size;
    if (!bytes || bytes > BYTES_MAX / c->ranks.n || !coll_turn_begin(c, call, (double)bytes, turn))
        return 0;
    choice = turn->choice;
    if (!choice)
        return 0;
    if (call->op == HRUN_NET_BCAST)
        *rc = coll_move_bcast(c, choice->tree, &own, bytes, (int64_t)choice->segment);
    else if (call->op == HRUN_NET_SCATTER)
        *rc = coll_move_scatter(c, choice->tree, &all, &own, bytes);
    else
        *rc = call->with_counts || !strcmp(choice->way, "pieces") ? coll_move_pieces(c, choice->tree, &own, &all)
              : coll_move_gather(c, choice->tree, &own, &all, bytes);
    coll_turn_end(turn);
    /* Errors of our messages are raised on the program's communicator. */
    if (*rc != MPI_SUCCESS)
        coll_mpi()->Comm_call_errhandler(call->comm, *rc);
    return 1;
}
