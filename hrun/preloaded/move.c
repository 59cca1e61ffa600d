/* move.c - scatter and gather along trees, and in pieces; broadcast along trees, in segments; see coll.h */
#include "coll.h"

#include "base/alloc.h"

#include <string.h>

/* Messages between two ranks are received in the order in which they were sent, so one tag is enough. */
enum { TAG = 1 };

void coll_parts(struct coll_parts *p, const void *buf, int count, MPI_Datatype type)
{
    int n, addresses, types, combiner = -1, size = 0;
    MPI_Aint lb = 0;

    *p = (struct coll_parts){ .buf = (char *)buf, .count = count, .type = type };
    coll_mpi()->Type_size(type, &size);
    coll_mpi()->Type_get_extent(type, &lb, &p->extent);
    coll_mpi()->Type_get_envelope(type, &n, &addresses, &types, &combiner);
    p->size = size;
    /* A derived type may have another order of bytes. */
    p->plain = combiner == MPI_COMBINER_NAMED && lb == 0 && p->extent == size;
}

static char *at(const struct coll_parts *p, int i)
{
    return p->buf + (MPI_Aint)(p->places ? p->places[i] : (MPI_Aint)i * p->count) * p->extent;
}

static int count_of(const struct coll_parts *p, int i)
{
    return p->counts ? p->counts[i] : p->count;
}

static int64_t bytes_of(const struct coll_parts *p, int i)
{
    return count_of(p, i) * p->size;
}

static int is_in_place(const struct coll_parts *own)
{
    return own->buf == MPI_IN_PLACE;
}

/* Copy the bytes of part i to or from memory. */
static int pack(struct coll_comm *c, const struct coll_parts *p, int i, char *to)
{
    int at_byte = 0;

    if (!p->plain)
        return coll_mpi()->Pack(at(p, i), count_of(p, i), p->type, to, (int)bytes_of(p, i), &at_byte, c->own);
    memcpy(to, at(p, i), (size_t)bytes_of(p, i));
    return MPI_SUCCESS;
}

static int unpack(struct coll_comm *c, const char *from, const struct coll_parts *p, int i)
{
    int at_byte = 0;

    if (!p->plain)
        return coll_mpi()->Unpack(from, (int)bytes_of(p, i), &at_byte, at(p, i), count_of(p, i), p->type, c->own);
    memcpy(at(p, i), from, (size_t)bytes_of(p, i));
    return MPI_SUCCESS;
}

/* Copy part i to part k, both of this rank. If part k is too small, MPI_Sendrecv reports the error. */
static int copy(struct coll_comm *c, const struct coll_parts *from, int i, const struct coll_parts *to, int k)
{
    if (!bytes_of(from, i))
        return MPI_SUCCESS;
    if (from->plain && to->plain && bytes_of(from, i) <= bytes_of(to, k)) {
        memmove(at(to, k), at(from, i), (size_t)bytes_of(from, i));
        return MPI_SUCCESS;
    }
    return coll_mpi()->Sendrecv(at(from, i), count_of(from, i), from->type, c->rank, TAG, at(to, k), count_of(to, k),
                                to->type, c->rank, TAG, c->own, MPI_STATUS_IGNORE);
}

static int send_bytes(struct coll_comm *c, const char *data, int64_t bytes, int to, MPI_Request *request)
{
    return coll_mpi()->Isend(data, (int)bytes, coll_mpi()->packed, to, TAG, c->own, request);
}

static int get_bytes(struct coll_comm *c, char *data, int64_t bytes, int from, MPI_Request *request)
{
    return coll_mpi()->Irecv(data, (int)bytes, coll_mpi()->packed, from, TAG, c->own, request);
}

static void keep_first_error(int *first, int rc)
{
    *first = *first == MPI_SUCCESS ? rc : *first;
}

/* If messages of this size are received one after the other (coll_in_turn), wait for this one. */
static void in_turn(struct coll_comm *c, int64_t bytes, MPI_Request *request, int *first)
{
    if (coll_in_turn(c->tuning->net, (double)bytes))
        keep_first_error(first, coll_mpi()->Wait(request, MPI_STATUS_IGNORE));
}

/* Wait for all requests, also after an error. Result: *first, which keeps the first error; MPI_Waitall would not return
 * it. */
static int wait_for_requests(int n, MPI_Request *requests, int *first)
{
    for (int i = 0; i < n; i++)
        keep_first_error(first, coll_mpi()->Wait(&requests[i], MPI_STATUS_IGNORE));
    return *first;
}

static const int *children(const struct coll_comm *c, const struct coll_tree *t, int *n)
{
    *n = t->first[c->rank + 1] - t->first[c->rank];
    return t->child + t->first[c->rank];
}

/* ---------------------------------------------------------------- along a tree */

/* The data of this rank's subtree, in the order of the tree. */
struct subtree {
    const struct coll_comm *c;
    const struct coll_tree *t;
    int64_t bytes;             /* of each rank */
    char *data;
};

static char *data_of(const struct subtree *s, int k)
{
    return s->data + (s->t->pos[k] - s->t->pos[s->c->rank]) * s->bytes;
}

/* Memory for the data of this rank's subtree; NULL at a root whose children are leaves, which needs none. */
static char *subtree_memory(const struct coll_comm *c, const struct coll_tree *t, int nchildren, int64_t bytes)
{
    return c->rank == t->root && t->size[c->rank] == nchildren + 1 ? NULL : xmalloc((size_t)(t->size[c->rank] * bytes));
}

int coll_move_gather(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *own,
                     const struct coll_parts *all, int64_t bytes)
{
    int n, first = MPI_SUCCESS, at_root = c->rank == t->root;
    const int *child = children(c, t, &n);
    autofree char *data = n ? subtree_memory(c, t, n, bytes) : NULL;
    autofree MPI_Request *requests = xcalloc((size_t)n, sizeof *requests);
    const struct subtree s = { c, t, bytes, data };

    if (!at_root && !n)
        return coll_mpi()->Send(own->buf, own->count, own->type, t->parent[c->rank], TAG, c->own);
    for (int i = 0; i < n; i++) {
        int k = child[i];

        TRY(at_root && t->size[k] == 1
            ? coll_mpi()->Irecv(at(all, k), all->count, all->type, k, TAG, c->own, &requests[i])
            : get_bytes(c, data_of(&s, k), t->size[k] * bytes, k, &requests[i]));
        in_turn(c, t->size[k] * bytes, &requests[i], &first);
    }
    if (!at_root)
        keep_first_error(&first, pack(c, own, 0, data));
    else if (!is_in_place(own))
        keep_first_error(&first, copy(c, own, 0, all, c->rank));
    TRY(wait_for_requests(n, requests, &first));
    if (!at_root)
        return coll_mpi()->Send(data, (int)(t->size[c->rank] * bytes), coll_mpi()->packed, t->parent[c->rank], TAG,
                                c->own);
    for (int i = 0; i < n; i++)
        for (int p = t->pos[child[i]]; t->size[child[i]] > 1 && p < t->pos[child[i]] + t->size[child[i]]; p++)
            TRY(unpack(c, data_of(&s, t->order[p]), all, t->order[p]));
    return MPI_SUCCESS;
}

int coll_move_scatter(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *all,
                      const struct coll_parts *own, int64_t bytes)
{
    int n, sent = 0, first = MPI_SUCCESS, at_root = c->rank == t->root, parent = t->parent[c->rank];
    const int *child = children(c, t, &n);
    autofree char *data = n ? subtree_memory(c, t, n, bytes) : NULL;
    autofree MPI_Request *requests = xcalloc((size_t)n, sizeof *requests);
    const struct subtree s = { c, t, bytes, data };

    if (!at_root && !n)
        return bytes_of(own, 0) ? coll_mpi()->Recv(own->buf, own->count, own->type, parent, TAG, c->own,
                                                   MPI_STATUS_IGNORE) : MPI_SUCCESS;
    if (!at_root)
        TRY(coll_mpi()->Recv(data, (int)(t->size[c->rank] * bytes), coll_mpi()->packed, parent, TAG, c->own,
                             MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) {
        int k = child[i];

        if (at_root && !bytes_of(all, k))
            continue;
        for (int p = t->pos[k]; at_root && t->size[k] > 1 && p < t->pos[k] + t->size[k]; p++)
            TRY(pack(c, all, t->order[p], data_of(&s, t->order[p])));
        TRY(at_root && t->size[k] == 1
            ? coll_mpi()->Isend(at(all, k), count_of(all, k), all->type, k, TAG, c->own, &requests[sent++])
            : send_bytes(c, data_of(&s, k), t->size[k] * bytes, k, &requests[sent++]));
    }
    if (!at_root)
        keep_first_error(&first, unpack(c, data, own, 0));
    else if (!is_in_place(own))
        keep_first_error(&first, copy(c, all, c->rank, own, 0));
    return wait_for_requests(sent, requests, &first);
}

/* ---------------------------------------------------------------- in pieces */

/* Bytes of each piece of a part; all of its bytes if it is not gathered in pieces. */
static int64_t piece_of(const struct coll_comm *c, int64_t bytes)
{
    double piece = coll_piece(c->tuning->net, (double)bytes);

    return piece > 0 ? (int64_t)piece : bytes;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Send the own part: the first piece at once, each further one when the root requests it. */
static int send_pieces(struct coll_comm *c, int root, const struct coll_parts *own)
{
    int64_t bytes = bytes_of(own, 0), piece = piece_of(c, bytes);
    autofree char *packed = !own->plain && piece < bytes ? xmalloc((size_t)bytes) : NULL;
    const char *data = packed ? packed : own->buf;

    if (!bytes || piece == bytes)
        return bytes ? coll_mpi()->Send(own->buf, own->count, own->type, root, TAG, c->own) : MPI_SUCCESS;
    if (packed)
        TRY(pack(c, own, 0, packed));
    for (int64_t from = 0; from < bytes; from += piece) {
        if (from)
            TRY(coll_mpi()->Recv(NULL, 0, coll_mpi()->packed, root, TAG, c->own, MPI_STATUS_IGNORE));
        TRY(coll_mpi()->Send(data + from, (int)lesser(piece, bytes - from), coll_mpi()->packed, root, TAG, c->own));
    }
    return MPI_SUCCESS;
}

/* At the root: receive piece `round` of the part of rank k into `data` (NULL: the whole part, into its place), and
 * request it unless it is the first. *n: number of requests; *more: 1 if further pieces follow. Result: MPI error
 * code. */
static int get_piece(struct coll_comm *c, const struct coll_parts *all, int k, char *data, int64_t round,
                     MPI_Request *requests, int *n, int *more, int *first)
{
    int64_t bytes = bytes_of(all, k), piece = piece_of(c, bytes), from = round * piece;

    if (from >= bytes)
        return MPI_SUCCESS;
    TRY(data ? get_bytes(c, data + from, lesser(piece, bytes - from), k, &requests[*n])
        : coll_mpi()->Irecv(at(all, k), count_of(all, k), all->type, k, TAG, c->own, &requests[*n]));
    in_turn(c, data ? 0 : bytes, &requests[(*n)++], first);
    if (round)
        TRY(send_bytes(c, NULL, 0, k, &requests[(*n)++]));
    *more |= from + piece < bytes;
    return MPI_SUCCESS;
}

int coll_move_pieces(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all)
{
    int n, more = 1;
    const int *child = children(c, tree, &n);
    autofree char **data = xcalloc((size_t)n, sizeof *data);   /* memory of parts that come in pieces */
    autofree MPI_Request *requests = xcalloc(2 * (size_t)n, sizeof *requests);
    autofree char *room = NULL;
    int64_t used = 0;

    if (c->rank != tree->root)
        return send_pieces(c, tree->root, own);
    if (!is_in_place(own))
        TRY(copy(c, own, 0, all, c->rank));
    for (int i = 0; i < n && !all->plain; i++)
        used += bytes_of(all, child[i]);
    room = xmalloc((size_t)used);
    used = 0;
    for (int i = 0; i < n; i++) {
        int64_t bytes = bytes_of(all, child[i]);

        if (piece_of(c, bytes) < bytes)
            data[i] = all->plain ? at(all, child[i]) : room + used;
        used += bytes;
    }
    for (int64_t round = 0; more; round++) {
        int asked = 0, first = MPI_SUCCESS;

        more = 0;
        for (int i = 0; i < n; i++)
            TRY(get_piece(c, all, child[i], data[i], round, requests, &asked, &more, &first));
        TRY(wait_for_requests(asked, requests, &first));
    }
    for (int i = 0; i < n; i++)
        if (data[i] && !all->plain)
            TRY(unpack(c, data[i], all, child[i]));
    return MPI_SUCCESS;
}

/* ---------------------------------------------------------------- broadcast, in segments */

enum { TAG_BCAST = 2 };
/* Number of segments in transfer at a time: while one is received, the previous one is sent on. */
enum { BUFFERED = 2 };

/* Receive each segment and send it on. sends: BUFFERED times the children. */
static int pass_segments(struct coll_comm *c, const struct coll_tree *t, char *data, int64_t bytes, int64_t segment,
                         MPI_Request *sends)
{
    int n, parent = t->parent[c->rank], slot = 0, used[BUFFERED] = { 0 };
    const int *child = children(c, t, &n);

    for (int64_t from = 0; from < bytes; from += segment, slot = (slot + 1) % BUFFERED) {
        int len = (int)lesser(segment, bytes - from);

        if (parent >= 0)
            TRY(coll_mpi()->Recv(data + from, len, coll_mpi()->packed, parent, TAG_BCAST, c->own, MPI_STATUS_IGNORE));
        if (used[slot])
            TRY(coll_mpi()->Waitall(n, sends + slot * n, MPI_STATUSES_IGNORE));
        used[slot] = n > 0;
        for (int i = 0; i < n; i++)
            TRY(coll_mpi()->Isend(data + from, len, coll_mpi()->packed, child[i], TAG_BCAST, c->own,
                                  &sends[slot * n + i]));
    }
    for (slot = 0; slot < BUFFERED; slot++)
        if (used[slot])
            TRY(coll_mpi()->Waitall(n, sends + slot * n, MPI_STATUSES_IGNORE));
    return MPI_SUCCESS;
}

int coll_move_bcast(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *data, int64_t bytes,
                    int64_t segment)
{
    int n = tree->first[c->rank + 1] - tree->first[c->rank];
    autofree MPI_Request *sends = xcalloc(BUFFERED * (size_t)n, sizeof *sends);
    autofree char *packed = data->plain ? NULL : xmalloc((size_t)bytes);

    if (packed && c->rank == tree->root)
        TRY(pack(c, data, 0, packed));
    TRY(pass_segments(c, tree, packed ? packed : data->buf, bytes, segment > 0 && segment < bytes ? segment : bytes,
                      sends));
    return packed && c->rank != tree->root ? unpack(c, packed, data, 0) : MPI_SUCCESS;
}
