/* move.c - scatter and gather along trees, and in pieces; broadcast along trees, in segments; see coll.h */
#include "coll.h"

#include <stdlib.h>
#include <string.h>

/* Messages between two ranks are received in the order in which they were sent: one tag does. */
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
    /* Of a type that the program has made the bytes may stand in another order. */
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

/* Bytes of one part to or from memory. */
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

/* Part i of one to part k of the other, both of this rank. Where that is too long the message says so. */
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

/* Beyond the irregular region wait for a message before the next one is asked for; *first: as of wait_for_requests. */
static void in_turn(struct coll_comm *c, int64_t bytes, MPI_Request *request, int *first)
{
    int rc = coll_in_turn(c->tuning->net, (double)bytes) ? coll_mpi()->Wait(request, MPI_STATUS_IGNORE) : MPI_SUCCESS;

    *first = *first == MPI_SUCCESS ? rc : *first;
}

/* For all, whatever becomes of one of them. Result: the first error, which MPI_Waitall would not tell. */
static int wait_for_requests(int n, MPI_Request *requests)
{
    int first = MPI_SUCCESS;

    for (int i = 0; i < n; i++) {
        int rc = coll_mpi()->Wait(&requests[i], MPI_STATUS_IGNORE);

        first = first == MPI_SUCCESS ? rc : first;
    }
    return first;
}

/* Children of this rank, as a list. */
static const int *children(const struct coll_comm *c, const struct coll_tree *t, int *n)
{
    *n = t->first[c->rank + 1] - t->first[c->rank];
    return t->child + t->first[c->rank];
}

/* ---------------------------------------------------------------- along a tree */

/* Where in the memory of this rank the bytes of child k and those below it are. */
static char *below(const struct coll_comm *c, const struct coll_tree *t, int64_t bytes, int k)
{
    return c->scratch + (t->pos[k] - t->pos[c->rank]) * bytes;
}

static int needs_scratch(const struct coll_comm *c, const struct coll_tree *t)
{
    return t->size[c->rank] > t->first[c->rank + 1] - t->first[c->rank] + 1;
}

static int gather_at_root(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *own,
                          const struct coll_parts *all, int64_t bytes, MPI_Request *requests)
{
    int n, copied = MPI_SUCCESS, got = MPI_SUCCESS;
    const int *child = children(c, t, &n);

    if (needs_scratch(c, t) && !coll_scratch(c, (size_t)(t->n * bytes)))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        int k = child[i];

        TRY(t->size[k] > 1 ? get_bytes(c, below(c, t, bytes, k), t->size[k] * bytes, k, &requests[i])
            : coll_mpi()->Irecv(at(all, k), all->count, all->type, k, TAG, c->own, &requests[i]));
        in_turn(c, t->size[k] * bytes, &requests[i], &got);
    }
    if (!is_in_place(own))
        copied = copy(c, own, 0, all, c->rank);
    TRY(wait_for_requests(n, requests));
    TRY(got);
    TRY(copied);
    for (int i = 0; i < n; i++)
        for (int p = t->pos[child[i]]; t->size[child[i]] > 1 && p < t->pos[child[i]] + t->size[child[i]]; p++)
            TRY(unpack(c, below(c, t, bytes, t->order[p]), all, t->order[p]));
    return MPI_SUCCESS;
}

static int gather_between(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *own, int64_t bytes,
                          MPI_Request *requests)
{
    int n, got = MPI_SUCCESS;
    const int *child = children(c, t, &n);

    if (!n)
        return coll_mpi()->Send(own->buf, own->count, own->type, t->parent[c->rank], TAG, c->own);
    if (!coll_scratch(c, (size_t)(t->size[c->rank] * bytes)))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        TRY(get_bytes(c, below(c, t, bytes, child[i]), t->size[child[i]] * bytes, child[i], &requests[i]));
        in_turn(c, t->size[child[i]] * bytes, &requests[i], &got);
    }
    TRY(pack(c, own, 0, c->scratch));
    TRY(wait_for_requests(n, requests));
    TRY(got);
    return coll_mpi()->Send(c->scratch, (int)(t->size[c->rank] * bytes), coll_mpi()->packed, t->parent[c->rank], TAG,
                            c->own);
}

int coll_move_gather(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all, int64_t bytes)
{
    MPI_Request *requests = coll_need((size_t)tree->n, sizeof *requests);
    int rc = c->rank == tree->root ? gather_at_root(c, tree, own, all, bytes, requests)
             : gather_between(c, tree, own, bytes, requests);

    free(requests);
    coll_scratch_done(c);
    return rc;
}

/* Hand on to the children what is in memory. */
static int send_below(struct coll_comm *c, const struct coll_tree *t, int64_t bytes, MPI_Request *requests)
{
    int n;
    const int *child = children(c, t, &n);

    for (int i = 0; i < n; i++)
        TRY(send_bytes(c, below(c, t, bytes, child[i]), t->size[child[i]] * bytes, child[i], &requests[i]));
    return MPI_SUCCESS;
}

static int scatter_at_root(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *all,
                           const struct coll_parts *own, int64_t bytes, MPI_Request *requests)
{
    int n;
    const int *child = children(c, t, &n);

    if (needs_scratch(c, t) && !coll_scratch(c, (size_t)(t->n * bytes)))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        int k = child[i];

        for (int p = t->pos[k]; t->size[k] > 1 && p < t->pos[k] + t->size[k]; p++)
            TRY(pack(c, all, t->order[p], below(c, t, bytes, t->order[p])));
        TRY(t->size[k] > 1 ? send_bytes(c, below(c, t, bytes, k), t->size[k] * bytes, k, &requests[i])
            : coll_mpi()->Isend(at(all, k), all->count, all->type, k, TAG, c->own, &requests[i]));
    }
    if (!is_in_place(own))
        TRY(copy(c, all, c->rank, own, 0));
    return wait_for_requests(n, requests);
}

static int scatter_between(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *own, int64_t bytes,
                           MPI_Request *requests)
{
    int n = t->first[c->rank + 1] - t->first[c->rank], parent = t->parent[c->rank];
    int64_t mine = t->size[c->rank] * bytes;

    if (!n)
        return coll_mpi()->Recv(own->buf, own->count, own->type, parent, TAG, c->own, MPI_STATUS_IGNORE);
    if (!coll_scratch(c, (size_t)mine))
        return MPI_ERR_NO_MEM;
    TRY(coll_mpi()->Recv(c->scratch, (int)mine, coll_mpi()->packed, parent, TAG, c->own, MPI_STATUS_IGNORE));
    TRY(send_below(c, t, bytes, requests));
    TRY(unpack(c, c->scratch, own, 0));
    return wait_for_requests(n, requests);
}

int coll_move_scatter(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *all,
                      const struct coll_parts *own, int64_t bytes)
{
    MPI_Request *requests = coll_need((size_t)tree->n, sizeof *requests);
    int rc = c->rank == tree->root ? scatter_at_root(c, tree, all, own, bytes, requests)
             : scatter_between(c, tree, own, bytes, requests);

    free(requests);
    coll_scratch_done(c);
    return rc;
}

/* ---------------------------------------------------------------- straight, with counts */

int coll_move_parts(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *all,
                    const struct coll_parts *own)
{
    MPI_Request *requests;
    int n, sent = 0, rc = MPI_SUCCESS;
    const int *child = children(c, tree, &n);

    if (c->rank != tree->root)
        return bytes_of(own, 0) ? coll_mpi()->Recv(own->buf, own->count, own->type, tree->root, TAG, c->own,
                                                   MPI_STATUS_IGNORE) : MPI_SUCCESS;
    requests = coll_need((size_t)n, sizeof *requests);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        if (bytes_of(all, child[i]))
            rc = coll_mpi()->Isend(at(all, child[i]), count_of(all, child[i]), all->type, child[i], TAG, c->own,
                                   &requests[sent++]);
    if (rc == MPI_SUCCESS && !is_in_place(own))
        rc = copy(c, all, c->rank, own, 0);
    if (rc == MPI_SUCCESS)
        rc = wait_for_requests(sent, requests);
    free(requests);
    return rc;
}

/* A part that is gathered in pieces: of how many bytes each, all if it goes at once. */
static int64_t piece_of(const struct coll_comm *c, int64_t bytes)
{
    double piece = coll_piece(c->tuning->net, (double)bytes);

    return piece > 0 ? (int64_t)piece : bytes;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The sending side: the first piece at once, each further one when the root asks for it. */
static int send_pieces(struct coll_comm *c, int root, const struct coll_parts *own)
{
    int64_t bytes = bytes_of(own, 0), piece = piece_of(c, bytes);
    const char *data = own->buf;

    if (!bytes || piece == bytes)
        return bytes ? coll_mpi()->Send(own->buf, own->count, own->type, root, TAG, c->own) : MPI_SUCCESS;
    if (!own->plain) {
        if (!(data = coll_scratch(c, (size_t)bytes)))
            return MPI_ERR_NO_MEM;
        TRY(pack(c, own, 0, c->scratch));
    }
    for (int64_t from = 0; from < bytes; from += piece) {
        if (from)
            TRY(coll_mpi()->Recv(NULL, 0, coll_mpi()->packed, root, TAG, c->own, MPI_STATUS_IGNORE));
        TRY(coll_mpi()->Send(data + from, (int)lesser(piece, bytes - from), coll_mpi()->packed, root, TAG, c->own));
    }
    return MPI_SUCCESS;
}

/* What the root gathers in pieces. */
struct piecewise {
    const struct coll_parts *all;
    const int *child;
    int n;
    char **waiting;             /* where the part of child i is while it comes in pieces; NULL: it comes at once */
    MPI_Request *requests;      /* 2 n */
};

/* Get the pieces of one round. Result: MPI's; *more: some parts have further ones. */
static int get_round(struct coll_comm *c, const struct piecewise *p, int64_t round, int *more)
{
    const struct coll_parts *all = p->all;
    int asked = 0, got = MPI_SUCCESS, rc;

    *more = 0;
    for (int i = 0; i < p->n; i++) {
        int child = p->child[i];
        int64_t bytes = bytes_of(all, child), piece = piece_of(c, bytes), from = round * piece;

        if (from >= bytes)
            continue;
        TRY(p->waiting[i]
            ? get_bytes(c, p->waiting[i] + from, lesser(piece, bytes - from), child, &p->requests[asked])
            : coll_mpi()->Irecv(at(all, child), count_of(all, child), all->type, child, TAG, c->own,
                                &p->requests[asked]));
        in_turn(c, p->waiting[i] ? 0 : bytes, &p->requests[asked++], &got);
        if (round)
            TRY(send_bytes(c, NULL, 0, child, &p->requests[asked++]));
        *more |= from + piece < bytes;
    }
    rc = wait_for_requests(asked, p->requests);
    return got == MPI_SUCCESS ? rc : got;
}

/* The receiving side. */
static int get_pieces(struct coll_comm *c, const struct piecewise *p)
{
    const struct coll_parts *all = p->all;
    int64_t room = 0;
    int more = 1;

    for (int i = 0; i < p->n; i++)
        if (!all->plain && piece_of(c, bytes_of(all, p->child[i])) < bytes_of(all, p->child[i]))
            room += bytes_of(all, p->child[i]);
    if (room && !coll_scratch(c, (size_t)room))
        return MPI_ERR_NO_MEM;
    room = 0;
    for (int i = 0; i < p->n; i++) {
        int64_t bytes = bytes_of(all, p->child[i]);

        if (piece_of(c, bytes) == bytes)
            continue;
        p->waiting[i] = all->plain ? at(all, p->child[i]) : c->scratch + room;
        room += all->plain ? 0 : bytes;
    }
    for (int64_t round = 0; more; round++)
        TRY(get_round(c, p, round, &more));
    for (int i = 0; i < p->n; i++)
        if (p->waiting[i] && !all->plain)
            TRY(unpack(c, p->waiting[i], all, p->child[i]));
    return MPI_SUCCESS;
}

int coll_move_pieces(struct coll_comm *c, const struct coll_tree *tree, const struct coll_parts *own,
                     const struct coll_parts *all)
{
    struct piecewise p = { .all = all };
    int rc = MPI_SUCCESS;

    p.child = children(c, tree, &p.n);
    if (c->rank != tree->root) {
        rc = send_pieces(c, tree->root, own);
        coll_scratch_done(c);
        return rc;
    }
    p.waiting = coll_need((size_t)p.n, sizeof *p.waiting);
    p.requests = coll_need(2 * (size_t)p.n, sizeof *p.requests);
    if (!is_in_place(own))
        rc = copy(c, own, 0, all, c->rank);
    if (rc == MPI_SUCCESS)
        rc = get_pieces(c, &p);
    free(p.waiting);
    free(p.requests);
    coll_scratch_done(c);
    return rc;
}

/* ---------------------------------------------------------------- broadcast, in segments */

enum { TAG_BCAST = 2 };
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

static int broadcast(struct coll_comm *c, const struct coll_tree *t, const struct coll_parts *d, int64_t bytes,
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
    int rc = broadcast(c, tree, data, bytes, segment > 0 && segment < bytes ? segment : bytes, sends);

    free(sends);
    coll_scratch_done(c);
    return rc;
}
