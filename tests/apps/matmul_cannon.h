/* matmul_cannon.h - Cannon's method over blocks, one recursion of Strassen's below (paper 003, section 4, Str_Cannon)
 *
 * C is cut into q by q blocks of order b, q = ceil(side sqrt(P)), b even; what lies beyond N is 0. Their positions, row
 * by row, are dealt out in runs, each as long as its rank's share. In step k position (i, j) holds A(i, i+j+k) and
 * B(i+j+k, j), indices modulo q, and adds their product to C(i, j); then the blocks of A move to the left and those of
 * B up. Blocks that stay in a run are not touched; those that leave it go in one message to each neighbour.
 *   computation    q products of a rank's n blocks: 7 of order b/2 and 22 additions of (b/2)^2 numbers
 *   communication  A, B and C once between the root and the others; q-1 times about min(n, q) + 2 blocks of each rank
 */
#ifndef HRUN_TESTS_APPS_MATMUL_CANNON_H
#define HRUN_TESTS_APPS_MATMUL_CANNON_H

#include "matmul.h"

struct mm_list {            /* blocks that leave or arrive: by peer, then as the sender holds them */
    int n;
    int *peer, *at;         /* n: the other rank, index into the own blocks */
};

struct mm_shift {           /* of A or of B */
    double **block, **next; /* of each own position: where its block is, and will be */
    double *pool, *out, *in;
    struct mm_list leave, arrive;
    int tag;
};

struct mm_cannon {
    int q, b;
    long *first;            /* size + 1: the position with which the run of each rank begins */
    int count;              /* of own positions */
    struct mm_shift a, b_;
    double *c;              /* count blocks */
    double *piece;          /* the root's: blocks of another rank */
    double *half;           /* 3 (b/2)^2: two sums and a product */
    MPI_Request *requests;
};

static size_t mm_numbers(const struct mm_cannon *k)
{
    return (size_t)k->b * (size_t)k->b;
}

/* Where the block at position p goes after a step: to the left (A), or up (B). */
static long mm_goes_to(const struct mm_cannon *k, long p, int up)
{
    long q = k->q, i = p / q, j = p % q;

    return up ? (i + q - 1) % q * q + j : i * q + (j + q - 1) % q;
}

/* The blocks that go from rank `from` to rank `to`, as indices of the own side's blocks, appended to list. */
static void mm_list_add(const struct matmul *s, int from, int to, int up, struct mm_list *list)
{
    const struct mm_cannon *k = s->cannon;
    int leaves = from == s->rank;

    for (long p = k->first[from]; p < k->first[from + 1]; p++) {
        long d = mm_goes_to(k, p, up);

        if (d < k->first[to] || d >= k->first[to + 1])
            continue;
        list->peer[list->n] = leaves ? to : from;
        list->at[list->n++] = (int)(leaves ? p - k->first[from] : d - k->first[to]);
    }
}

static int mm_list_alloc(struct mm_list *list, int count)
{
    list->peer = calloc((size_t)count + 1, sizeof *list->peer);
    list->at = calloc((size_t)count + 1, sizeof *list->at);
    return list->peer && list->at ? 0 : -1;
}

static int mm_shift_create(struct matmul *s, struct mm_shift *x, int up)
{
    struct mm_cannon *k = s->cannon;
    size_t all = (size_t)k->count * mm_numbers(k);

    x->tag = up ? MM_TAG_B : MM_TAG_A;
    x->block = calloc((size_t)k->count + 1, sizeof *x->block);
    x->next = calloc((size_t)k->count + 1, sizeof *x->next);
    x->pool = mm_alloc(s, (double)all);
    if (!x->block || !x->next || !x->pool || mm_list_alloc(&x->leave, k->count) || mm_list_alloc(&x->arrive, k->count))
        return -1;
    for (int r = 0; r < s->size; r++)
        if (r != s->rank) {
            mm_list_add(s, s->rank, r, up, &x->leave);
            mm_list_add(s, r, s->rank, up, &x->arrive);
        }
    x->out = mm_alloc(s, (double)x->leave.n * (double)mm_numbers(k));
    x->in = mm_alloc(s, (double)x->arrive.n * (double)mm_numbers(k));
    return x->out && x->in ? 0 : -1;
}

static void mm_shift_destroy(struct mm_shift *x)
{
    free(x->block);
    free(x->next);
    free(x->leave.peer);
    free(x->leave.at);
    free(x->arrive.peer);
    free(x->arrive.at);
    app_free(x->pool);
    app_free(x->out);
    app_free(x->in);
}

static void mm_cannon_destroy(struct matmul *s)
{
    struct mm_cannon *k = s->cannon;

    if (!k)
        return;
    mm_shift_destroy(&k->a);
    mm_shift_destroy(&k->b_);
    free(k->first);
    app_free(k->c);
    app_free(k->piece);
    free(k->half);
    free(k->requests);
    free(k);
    s->cannon = NULL;
}

static int mm_cannon_create(struct matmul *s)
{
    struct mm_cannon *k = calloc(1, sizeof *k);
    long most = 0;

    s->cannon = k;
    if (!k)
        return -1;
    k->q = (int)ceil(s->side * sqrt(s->size));
    k->b = 2 * ((s->n + 2 * k->q - 1) / (2 * k->q));
    k->first = calloc((size_t)s->size + 1, sizeof *k->first);
    k->half = calloc(3 * mm_numbers(k) / 4, sizeof *k->half);
    k->requests = calloc(4 * (size_t)s->size, sizeof(MPI_Request));
    if (!k->first || !k->half || !k->requests)
        return -1;
    for (int r = 0; r <= s->size; r++)
        k->first[r] = mm_cut((double)k->q * k->q, s->upto[r]);
    for (int r = 0; r < s->size; r++)
        most = k->first[r + 1] - k->first[r] > most ? k->first[r + 1] - k->first[r] : most;
    k->count = (int)(k->first[s->rank + 1] - k->first[s->rank]);
    k->c = mm_alloc(s, (double)k->count * (double)mm_numbers(k));
    k->piece = s->rank ? NULL : mm_alloc(s, (double)most * (double)mm_numbers(k));
    if (!k->c || (!s->rank && !k->piece))
        return -1;
    return mm_shift_create(s, &k->a, 0) || mm_shift_create(s, &k->b_, 1) ? -1 : 0;
}

/* ---------------------------------------------------------------- the root's blocks */

/* A block of A or of B from the root's matrix: rows of A, columns of B, zeros beyond N. */
static void mm_take(const struct matmul *s, const double *m, long line, long at, double *block)
{
    int b = s->cannon->b;

    for (long i = 0; i < b; i++)
        for (long j = 0; j < b; j++)
            block[i * b + j] = line * b + i < s->n && at * b + j < s->n
                             ? m[(size_t)(line * b + i) * (size_t)s->n + (size_t)(at * b + j)] : 0.0;
}

/* The blocks with which rank r begins: row-major blocks of A, column-major ones of B. */
static void mm_pack(const struct matmul *s, int r, int of_b, double *to)
{
    const struct mm_cannon *k = s->cannon;

    for (long p = k->first[r]; p < k->first[r + 1]; p++, to += mm_numbers(k)) {
        long i = p / k->q, j = p % k->q, l = (i + j) % k->q;

        mm_take(s, of_b ? s->b : s->a, of_b ? j : i, l, to);
    }
}

/* Blocks of C of rank r into the root's matrix. */
static void mm_unpack(const struct matmul *s, int r, const double *from)
{
    const struct mm_cannon *k = s->cannon;

    for (long p = k->first[r]; p < k->first[r + 1]; p++, from += mm_numbers(k))
        for (long i = 0; i < k->b; i++) {
            long row = p / k->q * k->b + i, col = p % k->q * k->b, cols = s->n - col < k->b ? s->n - col : k->b;

            if (row < s->n && cols > 0)
                memcpy(s->c + (size_t)row * (size_t)s->n + (size_t)col, from + i * k->b, (size_t)cols * sizeof *from);
        }
}

static double mm_held(const struct mm_cannon *k, int r)
{
    return (double)(k->first[r + 1] - k->first[r]) * (double)mm_numbers(k);
}

static void mm_deal_blocks(struct matmul *s)
{
    struct mm_cannon *k = s->cannon;
    struct mm_shift *both[2] = { &k->a, &k->b_ };

    for (int x = 0; x < 2; x++)
        for (int i = 0; i < k->count; i++)
            both[x]->block[i] = both[x]->pool + (size_t)i * mm_numbers(k);
    for (int r = s->size - 1; s->rank == 0 && r >= 0; r--)
        for (int x = 0; x < 2; x++) {
            APP_WORK(mm_held(k, r), mm_pack(s, r, x, r ? k->piece : both[x]->pool));
            if (r)
                mm_send(s, k->piece, mm_held(k, r), r, both[x]->tag);
        }
    for (int x = 0; s->rank && x < 2; x++)
        mm_receive(s, both[x]->pool, mm_held(k, s->rank), 0, both[x]->tag);
}

static void mm_gather_blocks(struct matmul *s)
{
    struct mm_cannon *k = s->cannon;

    if (s->rank) {
        mm_send(s, k->c, mm_held(k, s->rank), 0, MM_TAG_C);
        return;
    }
    for (int r = 0; r < s->size; r++) {
        if (r)
            mm_receive(s, k->piece, mm_held(k, r), r, MM_TAG_C);
        APP_WORK(mm_held(k, r), mm_unpack(s, r, r ? k->piece : k->c));
    }
}

/* ---------------------------------------------------------------- steps */

/* How many entries from entry i on have its peer. */
static int mm_same_peer(const struct mm_list *list, int i)
{
    int n = 1;

    while (i + n < list->n && list->peer[i + n] == list->peer[i])
        n++;
    return n;
}

static void mm_copy_out(const struct mm_cannon *k, struct mm_shift *x)
{
    for (int i = 0; i < x->leave.n; i++)
        memcpy(x->out + (size_t)i * mm_numbers(k), x->block[x->leave.at[i]], mm_numbers(k) * sizeof(double));
}

static void mm_copy_in(const struct mm_cannon *k, struct mm_shift *x)
{
    for (int i = 0; i < x->arrive.n; i++)
        memcpy(x->next[x->arrive.at[i]], x->in + (size_t)i * mm_numbers(k), mm_numbers(k) * sizeof(double));
}

/* Post the messages of one matrix; *n counts requests. */
static void mm_post(struct matmul *s, struct mm_shift *x, int *n)
{
    struct mm_cannon *k = s->cannon;
    int len;

    for (int i = 0; i < x->arrive.n; i += len) {
        len = mm_same_peer(&x->arrive, i);
        MPI_Irecv(x->in + (size_t)i * mm_numbers(k), len * k->b * k->b, MPI_DOUBLE, x->arrive.peer[i], x->tag, s->comm,
                  &k->requests[(*n)++]);
    }
    APP_WORK((double)x->leave.n * (double)mm_numbers(k), mm_copy_out(k, x));
    for (int i = 0; i < x->leave.n; i += len) {
        len = mm_same_peer(&x->leave, i);
        MPI_Isend(x->out + (size_t)i * mm_numbers(k), len * k->b * k->b, MPI_DOUBLE, x->leave.peer[i], x->tag, s->comm,
                  &k->requests[(*n)++]);
    }
}

/* Blocks that stay change positions; the memory of those that left is for those that arrive. */
static void mm_settle(const struct matmul *s, struct mm_shift *x, int up)
{
    const struct mm_cannon *k = s->cannon;
    double **swap;

    for (int i = 0; i < k->count; i++) {
        long d = mm_goes_to(k, k->first[s->rank] + i, up) - k->first[s->rank];

        if (d >= 0 && d < k->count)
            x->next[d] = x->block[i];
    }
    for (int i = 0; i < x->arrive.n; i++)
        x->next[x->arrive.at[i]] = x->block[x->leave.at[i]];
    APP_WORK((double)x->arrive.n * (double)mm_numbers(k), mm_copy_in(k, x));
    swap = x->block;
    x->block = x->next;
    x->next = swap;
}

static void mm_step(struct matmul *s)
{
    struct mm_cannon *k = s->cannon;
    int n = 0;

    mm_post(s, &k->a, &n);
    mm_post(s, &k->b_, &n);
    if (n)
        MPI_Waitall(n, k->requests, MPI_STATUSES_IGNORE);
    mm_settle(s, &k->a, 0);
    mm_settle(s, &k->b_, 1);
}

/* ---------------------------------------------------------------- Strassen */

/* Signs of the quadrants 11, 12, 21, 22 of A and B in the seven products, and of the products in those of C (V.
 * Strassen, "Gaussian elimination is not optimal", Numerische Mathematik 13, 1969). */
static const signed char mm_strassen[7][3][4] = {
    { { 1, 0, 0, 1 }, { 1, 0, 0, 1 }, { 1, 0, 0, 1 } },  { { 0, 0, 1, 1 }, { 1, 0, 0, 0 }, { 0, 0, 1, -1 } },
    { { 1, 0, 0, 0 }, { 0, 1, 0, -1 }, { 0, 1, 0, 1 } }, { { 0, 0, 0, 1 }, { -1, 0, 1, 0 }, { 1, 0, 1, 0 } },
    { { 1, 1, 0, 0 }, { 0, 0, 0, 1 }, { -1, 1, 0, 0 } }, { { -1, 0, 1, 0 }, { 1, 1, 0, 0 }, { 0, 0, 0, 1 } },
    { { 0, 1, 0, -1 }, { 0, 0, 1, 1 }, { 1, 0, 0, 0 } },
};

/* to += sign from, h by h. */
static void mm_add(double *to, int ld_to, const double *from, int ld, int h, double sign)
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++)
            to[i * ld_to + j] += sign * from[i * ld + j];
}

/* Quadrant q (11, 12, 21, 22) of a block of order b. */
static double *mm_quadrant(double *block, int b, int q)
{
    return block + (size_t)(q >> 1) * (size_t)(b / 2) * (size_t)b + (size_t)(q & 1) * (size_t)(b / 2);
}

/* The sum of quadrants of a block with these signs: the quadrant itself, or room[h h]. columns: the block is
 * column-major, so that its quadrants 12 and 21 stand in each other's place. */
static double *mm_sum(double *block, int b, const signed char *sign, int columns, double *room, int *ld)
{
    double *part = NULL;
    int h = b / 2, n = 0;

    memset(room, 0, (size_t)h * (size_t)h * sizeof *room);
    for (int q = 0; q < 4; q++)
        if (sign[q]) {
            part = mm_quadrant(block, b, columns ? (q & 1) << 1 | q >> 1 : q);
            mm_add(room, h, part, b, h, sign[q]);
            n++;
        }
    *ld = n == 1 ? b : h;
    return n == 1 ? part : room;
}

/* c += a b, of order b. */
static void mm_multiply_blocks(struct mm_cannon *k, double *a, double *b, double *c)
{
    int h = k->b / 2, lda, ldb;
    double *x = k->half, *y = x + (size_t)h * (size_t)h, *m = y + (size_t)h * (size_t)h;

    for (int p = 0; p < 7; p++) {
        const double *left = mm_sum(a, k->b, mm_strassen[p][0], 0, x, &lda);
        const double *right = mm_sum(b, k->b, mm_strassen[p][1], 1, y, &ldb);

        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, h, h, h, 1.0, left, lda, right, ldb, 0.0, m, h);
        for (int q = 0; q < 4; q++)
            if (mm_strassen[p][2][q])
                mm_add(mm_quadrant(c, k->b, q), k->b, m, h, h, mm_strassen[p][2][q]);
    }
}

static void mm_multiply_run(struct mm_cannon *k)
{
    for (int i = 0; i < k->count; i++)
        mm_multiply_blocks(k, k->a.block[i], k->b_.block[i], k->c + (size_t)i * mm_numbers(k));
}

/* Of a run: seven products of half the order, 10 additions of quadrants before them and 12 after. */
static double mm_run_flops(const struct mm_cannon *k)
{
    double h = k->b / 2;

    return k->count * (7 * 2 * h * h * h + 22 * h * h);
}

static void mm_cannon_solve(struct matmul *s)
{
    struct mm_cannon *k = s->cannon;

    if (!APP_PLAYED)
        memset(k->c, 0, (size_t)k->count * mm_numbers(k) * sizeof *k->c);
    mm_deal_blocks(s);
    for (int step = 0; step < k->q; step++) {
        APP_WORK(mm_run_flops(k), mm_multiply_run(k));
        if (step < k->q - 1)
            mm_step(s);
    }
    mm_gather_blocks(s);
}

#endif
