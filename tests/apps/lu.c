/* lu.c - dense linear system by LU with partial pivoting, columns in one-dimensional block-cyclic order
 *
 * The right-looking method of HPL on a 1 x P grid (paper 000, section 5.3): the owner of a block of columns
 * factors it alone, sends it to all, and each rank updates its own columns to the right. The right side is
 * column N of the matrix, so forward substitution happens on the way. The ranks have the ceil(N / b) panels in turn,
 * or as --owners says.
 *   computation    2/3 N^3 / P in dgemm, N^2 b in the panels (not shared out)
 *   communication  N^2 / 2 numbers broadcast in N / b pieces, N / b small reductions in the back substitution
 * Memory of one process in bytes, b the block size, whole blocks being dealt out:
 *   8 N ((N+1)/P + b)    its columns
 *   8 N b                the panel
 *   8 (5 N + 2 b)        vectors
 * Check: ||Ax-b|| / (eps ||A|| ||x|| N) < 16 in the infinity norm, with A made again from its random numbers.
 */
#include "common.h"

#include <cblas.h>

enum { LU_OPT_BLOCK, LU_OPT_SEED };

struct lu {
    MPI_Comm comm;
    int n, b;               /* order, columns per block */
    int rank, size;
    int *owner;             /* of each block; behind the last stands no rank */
    int *before;            /* how many blocks of this rank come before each block, and before the end */
    int *mine;              /* the blocks of this rank */
    uint64_t seed;
    int ncols;              /* columns held here, of N + 1 */
    double *a;              /* n by ncols, column-major */
    double *panel;          /* n by b at most, column-major, packed */
    int *pivots;            /* b; row that was swapped with row i of the panel */
    double *x;              /* n, on all ranks after the back substitution */
    double *y, *sum;        /* n: U x = y; what x_j already known take from y */
    double *r, *row;        /* n: Ax - b; row sums of |A| */
    double *piece;          /* b */
};

/* ---------------------------------------------------------------- distribution */

static int owner_of(const struct lu *s, int col)
{
    return s->owner[col / s->b];
}

/* How many columns before `col` this rank holds: where column `col` stands, or would stand. */
static int local_of(const struct lu *s, int col)
{
    int block = col / s->b;

    return s->before[block] * s->b + (s->owner[block] == s->rank ? col % s->b : 0);
}

static int global_of(const struct lu *s, int local)
{
    return s->mine[local / s->b] * s->b + local % s->b;
}

static int panels_of(const struct app *a)
{
    long b = a->options[LU_OPT_BLOCK].value;

    return (int)((a->N + b - 1) / b);
}

/* The rank of each panel, by --owners. APP_OK, or what app_refuse gave. */
static int read_owners(const struct app *a, int panels, int *owner)
{
    double *rank = malloc((size_t)panels * sizeof *rank);
    int status = rank ? app_list(a, "owners", a->owners, 0, panels, "panels", rank) : app_refuse(a, "not enough memory");

    for (int k = 0; k < panels && status == APP_OK; k++) {
        owner[k] = (int)fmin(rank[k], a->size);
        if (rank[k] != owner[k] || owner[k] == a->size)
            status = app_refuse(a, "--owners=%s: owners are ranks from 0 to %d, not %.10g", a->owners, a->size - 1,
                                rank[k]);
    }
    free(rank);
    return status;
}

/* Who has which blocks: the panels, and where b divides N, a block with the right side alone. APP_OK, what app_refuse
 * gave, or APP_NO_MEMORY. */
static int deal(const struct app *a, struct lu *s)
{
    int blocks = s->n / s->b + 1, panels = panels_of(a), status = APP_OK;

    s->owner = malloc(3 * ((size_t)blocks + 1) * sizeof *s->owner);
    if (!s->owner)
        return APP_NO_MEMORY;
    s->before = s->owner + blocks + 1;
    s->mine = s->before + blocks + 1;
    for (int k = 0; k < blocks; k++)
        s->owner[k] = k % s->size;
    s->owner[blocks] = -1;
    if (a->owners && (status = read_owners(a, panels, s->owner)) == APP_OK && blocks > panels)
        s->owner[panels] = s->owner[0];
    s->before[0] = 0;
    for (int k = 0; k < blocks; k++) {
        s->before[k + 1] = s->before[k] + (s->owner[k] == s->rank);
        if (s->owner[k] == s->rank)
            s->mine[s->before[k]] = k;
    }
    return status;
}

static double element(const struct lu *s, int row, int col)
{
    return app_random(s->seed, (uint64_t)col << 32 | (uint64_t)row);
}

static double *at(const struct lu *s, int row, int local)
{
    return s->a + (size_t)local * (size_t)s->n + row;
}

/* ---------------------------------------------------------------- computation */

/* Apply npiv row swaps to ncols columns of `a`, column by column, which is the order of the memory. */
static void swap_rows(double *a, int ld, int ncols, const int *pivots, int npiv)
{
    for (int j = 0; j < ncols; j++) {
        double *c = a + (size_t)j * (size_t)ld;
        for (int i = 0; i < npiv; i++) {
            double t = c[i];
            c[i] = c[pivots[i]];
            c[pivots[i]] = t;
        }
    }
}

/* B := L^-1 B for the top nb rows, then C := C - L2 B: what a factored panel does to columns right of it. */
static void update(const double *l, int ldl, int m, int nb, double *b, int ldb, int ncols)
{
    if (ncols == 0)
        return;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, nb, ncols, 1.0, l, ldl,
                b, ldb);
    if (m > nb)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m - nb, ncols, nb, -1.0, l + nb, ldl, b, ldb,
                    1.0, b + nb, ldb);
}

/* Factor the m by nb panel in place, m >= nb, by halves, so that most of the work is dgemm. A column of zeros
 * is left as it is; the solution is not finite then and the check fails. */
static void factor_panel(double *a, int ld, int m, int nb, int *pivots)
{
    int n1 = nb / 2;
    double *right = a + (size_t)n1 * (size_t)ld;

    if (nb == 1) {
        int p = (int)cblas_idamax(m, a, 1);
        double t = a[p];
        a[p] = a[0];
        a[0] = t;
        pivots[0] = p;
        if (t != 0.0)
            cblas_dscal(m - 1, 1.0 / t, a + 1, 1);
        return;
    }
    factor_panel(a, ld, m, n1, pivots);
    swap_rows(right, ld, nb - n1, pivots, n1);
    update(a, ld, m, n1, right, ld, nb - n1);
    factor_panel(right + n1, ld, m - n1, nb - n1, pivots + n1);
    swap_rows(a + n1, ld, n1, pivots + n1, nb - n1);
    for (int i = n1; i < nb; i++)
        pivots[i] += n1;
}

/* The panel's owner: factor and pack it. */
static void make_panel(struct lu *s, int k, int nb)
{
    double *top = at(s, k, local_of(s, k));
    int m = s->n - k;

    factor_panel(top, s->n, m, nb, s->pivots);
    for (int j = 0; j < nb; j++)
        memcpy(s->panel + (size_t)j * (size_t)m, top + (size_t)j * (size_t)s->n, (size_t)m * sizeof *top);
}

/* Operations of make_panel with m rows: the factorisation, and two moves of the panel, to swap and to pack it. */
static double panel_flops(double m, double nb)
{
    return nb * nb * (m - nb / 3.0) + 2.0 * m * nb;
}

/* All ranks: bring the columns right of the panel up to date. */
static void apply_panel(struct lu *s, int k, int nb)
{
    int first = local_of(s, k + nb), ncols = s->ncols - first, m = s->n - k;

    if (ncols == 0)
        return;
    swap_rows(at(s, k, first), s->n, ncols, s->pivots, nb);
    update(s->panel, m, m, nb, at(s, k, first), s->n, ncols);
}

static double apply_flops(const struct lu *s, int k, double nb)
{
    double ncols = s->ncols - local_of(s, k + (int)nb), m = s->n - k;

    return ncols * (2.0 * nb + nb * nb + 2.0 * (m - nb) * nb);
}

/* The owner of block k: x_k from y_k and the sums, and what x_k takes from the rows above. */
static void solve_block(struct lu *s, int k, int nb)
{
    int local = local_of(s, k);

    for (int i = 0; i < nb; i++)
        s->x[k + i] = s->y[k + i] - s->piece[i];
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, nb, at(s, k, local), s->n,
                s->x + k, 1);
    if (k > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, k, nb, 1.0, at(s, 0, local), s->n, s->x + k, 1, 1.0,
                    s->sum, 1);
}

/* ---------------------------------------------------------------- communication */

static void send_panel(struct lu *s, int k, int nb)
{
    if (s->size == 1)
        return;
    MPI_Bcast(s->pivots, nb, MPI_INT, owner_of(s, k), s->comm);
    MPI_Bcast(s->panel, (s->n - k) * nb, MPI_DOUBLE, owner_of(s, k), s->comm);
}

static void send_right_side(struct lu *s)
{
    if (owner_of(s, s->n) == s->rank)
        APP_WORK(s->n, memcpy(s->y, at(s, 0, local_of(s, s->n)), (size_t)s->n * sizeof *s->y));
    if (s->size > 1)
        MPI_Bcast(s->y, s->n, MPI_DOUBLE, owner_of(s, s->n), s->comm);
}

static void gather_sums(struct lu *s, int k, int nb)
{
    if (s->size > 1)
        MPI_Reduce(s->sum + k, s->piece, nb, MPI_DOUBLE, MPI_SUM, owner_of(s, k), s->comm);
    else
        memcpy(s->piece, s->sum + k, (size_t)nb * sizeof *s->piece);
}

/* ---------------------------------------------------------------- the kernel */

static int lu_allowed(const struct app *a)
{
    int panels = panels_of(a), status = APP_OK, *owner = a->owners ? malloc((size_t)panels * sizeof *owner) : NULL;

    if (a->owners)
        status = owner ? read_owners(a, panels, owner) : app_refuse(a, "not enough memory");
    free(owner);
    return status;
}

static void lu_destroy(void *state)
{
    struct lu *s = state;

    free(s->owner);
    free(s->a);
    app_free(s->panel);
    free(s->pivots);
    free(s->x);
    free(s->piece);
    free(s);
}

static void *lu_create(const struct app *a)
{
    struct lu *s = calloc(1, sizeof *s);
    size_t n = (size_t)a->N;

    if (!s)
        return NULL;
    /* One thread: hrun decides how many processes share a PE, not the BLAS. */
    openblas_set_num_threads(1);
    s->comm = a->comm;
    s->n = (int)n;
    s->b = (int)a->options[LU_OPT_BLOCK].value;
    s->seed = (uint64_t)a->options[LU_OPT_SEED].value;
    s->rank = a->rank;
    s->size = a->size;
    if (deal(a, s)) {
        lu_destroy(s);
        return NULL;
    }
    s->ncols = local_of(s, s->n + 1);
    s->a = malloc((size_t)(s->ncols + 1) * n * sizeof *s->a);
    s->panel = app_alloc(a->arena, a->size, n * (size_t)s->b, sizeof *s->panel);
    s->pivots = malloc((size_t)s->b * sizeof *s->pivots);
    s->x = malloc(5 * n * sizeof *s->x);
    s->piece = malloc((size_t)s->b * sizeof *s->piece);
    if (!s->a || !s->panel || !s->pivots || !s->x || !s->piece) {
        lu_destroy(s);
        return NULL;
    }
    s->y = s->x + n;
    s->sum = s->y + n;
    s->r = s->sum + n;
    s->row = s->r + n;
    return s;
}

static void lu_prepare(const struct app *a, void *state)
{
    struct lu *s = state;

    (void)a;
    for (int j = 0; j < s->ncols; j++)
        for (int i = 0; i < s->n; i++)
            *at(s, i, j) = element(s, i, global_of(s, j));
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    memset(s->sum, 0, (size_t)s->n * sizeof *s->sum);
}

static void lu_solve(const struct app *a, void *state)
{
    struct lu *s = state;
    int nb;

    if (APP_PLAYED)     /* these take part in sums of all ranks */
        memset(s->x, 0, 3 * (size_t)s->n * sizeof *s->x);
    for (int k = 0; k < s->n; k += s->b) {
        nb = s->n - k < s->b ? s->n - k : s->b;
        if (owner_of(s, k) == s->rank)
            APP_WORK(panel_flops(s->n - k, nb), make_panel(s, k, nb));
        send_panel(s, k, nb);
        APP_WORK(apply_flops(s, k, nb), apply_panel(s, k, nb));
    }
    send_right_side(s);
    for (int k = (s->n - 1) / s->b * s->b; k >= 0; k -= s->b) {
        nb = s->n - k < s->b ? s->n - k : s->b;
        gather_sums(s, k, nb);
        if (owner_of(s, k) == s->rank)
            APP_WORK((double)nb * nb + 2.0 * k * nb, solve_block(s, k, nb));
    }
    /* Each x_j stands on one rank and is 0 on the others: the sum is exact. */
    app_allreduce(a, s->x, s->n, MPI_DOUBLE, MPI_SUM);
}

/* r := this rank's share of Ax - b, row := its share of the row sums of |A|. */
static void residual_share(struct lu *s)
{
    memset(s->r, 0, (size_t)s->n * sizeof *s->r);
    memset(s->row, 0, (size_t)s->n * sizeof *s->row);
    for (int j = 0; j < s->ncols; j++) {
        int col = global_of(s, j);
        for (int i = 0; i < s->n; i++) {
            double v = element(s, i, col);
            s->r[i] += col < s->n ? v * s->x[col] : -v;
            s->row[i] += col < s->n ? fabs(v) : 0.0;
        }
    }
}

static void lu_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct lu *s = state;
    double rmax = 0.0, amax = 0.0, xmax = 0.0, sum = 0.0;

    if (a->spoil)
        s->x[s->n / 2] += 1e-6 * (1.0 + fabs(s->x[s->n / 2]));
    residual_share(s);
    app_allreduce(a, s->r, s->n, MPI_DOUBLE, MPI_SUM);
    app_allreduce(a, s->row, s->n, MPI_DOUBLE, MPI_SUM);
    for (int i = 0; i < s->n; i++) {
        rmax = app_max_abs(rmax, s->r[i]);
        amax = app_max_abs(amax, s->row[i]);
        xmax = app_max_abs(xmax, s->x[i]);
        sum += fabs(s->x[i]);
    }
    v->residual = rmax / (DBL_EPSILON * amax * xmax * s->n);
    v->ok = v->residual < APP_RESIDUAL_MAX;
    snprintf(v->result, sizeof v->result, "sum|x| %.9e", sum);
}

int main(int argc, char **argv)
{
    /* A panel is one message: N b numbers must stay below 2^31. */
    struct app_option options[] = {
        { "block", 'b', 1, 512, 32, "columns per block" },
        { "seed", 's', 0, 1000000, 1, "number of the random matrix" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    const struct app_kernel kernel = {
        "lu", "solve a dense N x N system by LU with partial pivoting", 1, 1000000,
        lu_allowed, lu_create, lu_destroy, lu_prepare, lu_solve, lu_check
    };

    return app_main(&kernel, options, argc, argv);
}
