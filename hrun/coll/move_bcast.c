/* move_bcast.c - broadcast along a tree, in segments; see coll.h */
#include "coll.h"
#include "need.h"

enum { TAG = 2 };
/* Segments that are under way at a time: while one is received the last one is handed on. */
enum { BUFFERED = 2 };

/* Receive each segment and hand it on. sends: BUFFERED times the children. */
static int hand_on(struct coll_comm *c, const struct coll_tree *t, char *data, int64_t bytes, int64_t segment,
                   MPI_Request *sends)
{
    int n = t->first[c->rank + 1] - t->first[c->rank], parent = t->parent[c->rank], slot = 0;
    const int *child = t->child + t->first[c->rank];
    int64_t from = 0;
    int used[BUFFERED] = { 0 };

    for (; from < bytes; from += segment, slot = (slot + 1) % BUFFERED) {
        int len = (int)(bytes - from < segment ? bytes - from : segment);

        if (parent >= 0)
            TRY(coll_mpi()->Recv(data + from, len, coll_mpi()->packed, parent, TAG, c->own, MPI_STATUS_IGNORE));
        if (used[slot])
            TRY(coll_mpi()->Waitall(n, sends + slot * n, MPI_STATUSES_IGNORE));
        used[slot] = n > 0;
        for (int i = 0; i < n; i++)
            TRY(coll_mpi()->Isend(data + from, len, coll_mpi()->packed, child[i], TAG, c->own, &sends[slot * n + i]));
    }
    for (slot = 0; slot < BUFFERED; slot++)
        if (used[slot])
            TRY(coll_mpi()->Waitall(n, sends + slot * n, MPI_STATUSES_IGNORE));
    return MPI_SUCCESS;
}

static int move(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *d, int64_t bytes,
                int64_t segment, MPI_Request *sends)
{
    char *data = d->buf;
    int at_byte = 0;

    if (!d->plain && !(data = coll_scratch(c, (size_t)bytes)))
        return MPI_ERR_NO_MEM;
    if (!d->plain && c->rank == t->root)
        TRY(coll_mpi()->Pack(d->buf, d->count, d->type, data, (int)bytes, &at_byte, c->own));
    TRY(hand_on(c, t, data, bytes, segment, sends));
    if (!d->plain && c->rank != t->root)
        TRY(coll_mpi()->Unpack(data, (int)bytes, &at_byte, d->buf, d->count, d->type, c->own));
    return MPI_SUCCESS;
}

int coll_move_bcast(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *data, int64_t bytes,
                    int64_t segment)
{
    size_t n = (size_t)(tree->first[c->rank + 1] - tree->first[c->rank]);
    MPI_Request *sends = coll_need(BUFFERED * n, sizeof *sends);
    int rc = move(c, tree, data, bytes, segment > 0 && segment < bytes ? segment : bytes, sends);

    free(sends);
    coll_scratch_done(c);
    return rc;
}
