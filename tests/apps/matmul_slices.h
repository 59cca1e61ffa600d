/* matmul_slices.h - the standard product by slices of the square: in columns, or in columns and rows (paper 003,
 * section 4, Std_Col_Based and Std_Cart_Based)
 *
 * A rank computes its slice of C from whole rows of A and whole columns of B.
 */
#ifndef HRUN_TESTS_APPS_MATMUL_SLICES_H
#define HRUN_TESTS_APPS_MATMUL_SLICES_H

#include "matmul.h"

static double share_between(const struct matmul *s, int from, int to)
{
    return s->upto[to] - s->upto[from];
}

/* The column of rank r are the ranks first..next-1; above it in the column stand first..r-1. */
static struct mm_slice columns_slice(const struct matmul *s, int r)
{
    int columns = (int)fmax(1, round(sqrt(s->size))), j = ((r + 1) * columns + s->size - 1) / s->size - 1;
    int first = j * s->size / columns, next = (j + 1) * s->size / columns;
    double width = share_between(s, first, next);
    long col = mm_cut(s->n, s->upto[first]), row = mm_cut(s->n, share_between(s, first, r) / width);

    return (struct mm_slice){ (int)row, (int)(mm_cut(s->n, share_between(s, first, r + 1) / width) - row), (int)col,
                              (int)(mm_cut(s->n, s->upto[next]) - col) };
}

/* Rows of the squarest grid of P. */
static int grid_rows(int P)
{
    int rows = (int)sqrt(P);

    while (P % rows)
        rows--;
    return rows;
}

/* The share of the first so many columns of a grid. */
static double share_of_columns(const struct matmul *s, int columns, int many)
{
    double sum = 0;

    for (int first = 0; first < s->size; first += columns)
        sum += share_between(s, first, first + many);
    return sum;
}

static struct mm_slice cartesian_slice(const struct matmul *s, int r)
{
    int columns = s->size / grid_rows(s->size), first = r / columns * columns, j = r % columns;
    long row = mm_cut(s->n, s->upto[first]), col = mm_cut(s->n, share_of_columns(s, columns, j));

    return (struct mm_slice){ (int)row, (int)(mm_cut(s->n, s->upto[first + columns]) - row), (int)col,
                              (int)(mm_cut(s->n, share_of_columns(s, columns, j + 1)) - col) };
}

static struct mm_slice slice_of(const struct matmul *s, int r)
{
    return strcmp(s->method->name, "columns") ? cartesian_slice(s, r) : columns_slice(s, r);
}

static double *rows_of_a(const struct matmul *s, int r)
{
    return s->a + (size_t)slice_of(s, r).row * (size_t)s->n;
}

static double *columns_of_b(const struct matmul *s, int r)
{
    return s->b + (size_t)slice_of(s, r).col * (size_t)s->n;
}

static int slices_create(struct matmul *s)
{
    struct mm_slice mine = slice_of(s, s->rank);

    if (s->rank == 0) {
        double most = 0;

        for (int r = 1; r < s->size; r++)
            most = fmax(most, (double)slice_of(s, r).rows * slice_of(s, r).cols);
        s->as = rows_of_a(s, 0);
        s->bs = columns_of_b(s, 0);
        s->cs = mm_alloc(s, most);
        return s->cs ? 0 : -1;
    }
    s->as = mm_alloc(s, (double)mine.rows * s->n);
    s->bs = mm_alloc(s, (double)mine.cols * s->n);
    s->cs = mm_alloc(s, (double)mine.rows * mine.cols);
    return s->as && s->bs && s->cs ? 0 : -1;
}

static void slices_destroy(struct matmul *s)
{
    if (s->rank) {
        app_free(s->as);
        app_free(s->bs);
    }
    app_free(s->cs);
}

/* The slice of C: the root's straight into the whole. */
static void multiply(struct matmul *s)
{
    struct mm_slice mine = slice_of(s, s->rank);
    double *c = s->rank ? s->cs : s->c + (size_t)mine.row * (size_t)s->n + (size_t)mine.col;

    if (mine.rows > 0 && mine.cols > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, mine.rows, mine.cols, s->n, 1.0, s->as, s->n, s->bs, s->n,
                    0.0, c, s->rank ? mine.cols : s->n);
}

static void place(struct matmul *s, int r)
{
    struct mm_slice p = slice_of(s, r);

    for (int i = 0; i < p.rows; i++)
        memcpy(s->c + (size_t)(p.row + i) * (size_t)s->n + (size_t)p.col, s->cs + (size_t)i * (size_t)p.cols,
               (size_t)p.cols * sizeof *s->c);
}

static void multiply_and_gather(struct matmul *s)
{
    struct mm_slice p = slice_of(s, s->rank);

    APP_WORK(2.0 * p.rows * p.cols * s->n, multiply(s));
    if (s->rank) {
        mm_send(s, s->cs, (double)p.rows * p.cols, 0, MM_TAG_C);
        return;
    }
    for (int r = 1; r < s->size; r++) {
        p = slice_of(s, r);
        mm_receive(s, s->cs, (double)p.rows * p.cols, r, MM_TAG_C);
        APP_WORK((double)p.rows * p.cols, place(s, r));
    }
}

/* ---------------------------------------------------------------- solve */

static void columns_solve(struct matmul *s)
{
    struct mm_slice p = slice_of(s, s->rank);

    for (int r = 1; s->rank == 0 && r < s->size; r++) {
        p = slice_of(s, r);
        mm_send(s, rows_of_a(s, r), (double)p.rows * s->n, r, MM_TAG_A);
        mm_send(s, columns_of_b(s, r), (double)p.cols * s->n, r, MM_TAG_B);
    }
    if (s->rank) {
        mm_receive(s, s->as, (double)p.rows * s->n, 0, MM_TAG_A);
        mm_receive(s, s->bs, (double)p.cols * s->n, 0, MM_TAG_B);
    }
    multiply_and_gather(s);
}

/* Rows of A go from rank 0 to the first of each row of processes, and along the row. */
static void pass_rows(struct matmul *s, int columns)
{
    double count = (double)slice_of(s, s->rank).rows * s->n;
    int j = s->rank % columns;

    for (int r = columns; s->rank == 0 && r < s->size; r += columns)
        mm_send(s, rows_of_a(s, r), (double)slice_of(s, r).rows * s->n, r, MM_TAG_A);
    if (s->rank)
        mm_receive(s, s->as, count, j ? s->rank - 1 : 0, MM_TAG_A);
    if (j < columns - 1)
        mm_send(s, s->as, count, s->rank + 1, MM_TAG_A);
}

/* Columns of B go from rank 0 to the first of each column of processes, and down. */
static void pass_columns(struct matmul *s, int columns)
{
    double count = (double)slice_of(s, s->rank).cols * s->n;

    for (int r = 1; s->rank == 0 && r < columns; r++)
        mm_send(s, columns_of_b(s, r), (double)slice_of(s, r).cols * s->n, r, MM_TAG_B);
    if (s->rank)
        mm_receive(s, s->bs, count, s->rank < columns ? 0 : s->rank - columns, MM_TAG_B);
    if (s->rank + columns < s->size)
        mm_send(s, s->bs, count, s->rank + columns, MM_TAG_B);
}

static void cartesian_solve(struct matmul *s)
{
    int columns = s->size / grid_rows(s->size);

    pass_rows(s, columns);
    if (s->size > 1)
        MPI_Barrier(s->comm);   /* else the two waves get into each other's way */
    pass_columns(s, columns);
    multiply_and_gather(s);
}

#endif
