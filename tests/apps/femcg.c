/* femcg.c - finite elements with conjugate gradients on the unit square, N x N bilinear elements
 *
 * Solves -div(a grad u) = f with a = 1 + x y, u = 0 at x = 0 and y = 0, a du/dn = 0 at x = 1 and y = 1: N x N
 * unknown nodes, each rank holding N/P whole rows (paper 000, section 5.2: N must be a multiple of P), or as many
 * as its share (--shares), which come to N in all. The number of iterations grows as N, whence
 *   computation    O(N^3) / P
 *   communication  per iteration two rows of N numbers and two reductions
 * The preconditioner is the diagonal, so that the iterations do not depend on P.
 * Memory of one process in bytes:
 *   72 N^2/P + 48 (N+2) (N/P+2)                nine coefficients per node, six vectors with halo rows
 * and during the check as much again for the N/2 x N/2 elements of a second solution: at most
 *   72 n ceil(n/P) + 48 (n+2) (ceil(n/P)+2)    with n = ceil(N/2)
 *
 * Check: the exact solution is u = (2x - x^2) sin(pi y / 2). (1) The true residual ||b - K u|| / ||b|| must
 * be below twice the tolerance of the iteration plus the rounding errors, which the condition number O(N^2)
 * amplifies; (2) the error in the nodes must fall with the square of the element size from N/2 to N: order
 * 1.8 to 2.2.
 */
#include "common.h"

#define FEM_TOLERANCE 1e-10     /* of CG, relative to ||b||: far below the discretisation error, ~1/N^2 */
#define FEM_ORDER_SLACK 0.2     /* the order is 2 only as N grows; it is 2.06 at N = 16 */

enum { FEM_N_MIN = 16 };        /* below it the error does not fall regularly yet */
enum { FEM_STENCIL = 9 };

/* Operations of the functions below: per node; per element 200 for each of four Gauss points and 20 to add it up. */
enum {
    FEM_FLOPS_START = 2, FEM_FLOPS_PRODUCTS = 5, FEM_FLOPS_TURN = 3, FEM_FLOPS_MULTIPLY = 19, FEM_FLOPS_STEP = 4,
    FEM_FLOPS_ELEMENT = 820
};
/* What the iterations come to, within 1 % from N = 16 to 504, for who plays them and has no residual. */
#define FEM_ITERATIONS(n) ((long)(3.36 * (double)(n)) - 2)

struct fem {
    MPI_Comm comm;
    long n, w;                  /* elements and unknown nodes per edge; row length n + 2 */
    long lo, hi;                /* node rows lo+1 .. hi of 1..n belong to this rank */
    int below, above;           /* the neighbours' ranks, or MPI_PROC_NULL */
    double *k;                  /* nine coefficients per own node, row by row; 4 is the diagonal */
    double *u, *r, *p, *q, *b, *dinv;   /* (hi - lo + 2) rows of w; rows 0 and last are halo */
    long iterations;
};

static size_t row_count(const struct fem *s)
{
    return (size_t)(s->hi - s->lo + 2);
}

static double *row_of(const struct fem *s, double *v, long row)
{
    return v + (size_t)row * (size_t)s->w;
}

static double *coefficients(const struct fem *s, long row, long i)
{
    return s->k + ((size_t)(row - 1) * (size_t)s->n + (size_t)(i - 1)) * FEM_STENCIL;
}

/* ---------------------------------------------------------------- the problem */

static double exact(double x, double y)
{
    return (2.0 * x - x * x) * sin(0.5 * M_PI * y);
}

static double conductivity(double x, double y)
{
    return 1.0 + x * y;
}

/* f = -(a_x u_x + a_y u_y + a (u_xx + u_yy)) for the exact solution */
static double source(double x, double y)
{
    double c = 0.5 * M_PI, sy = sin(c * y), cy = cos(c * y), g = 2.0 * x - x * x;

    return -(y * (2.0 - 2.0 * x) * sy + x * g * c * cy + conductivity(x, y) * (-2.0 * sy - c * c * g * sy));
}

/* Matrix and load of the element whose lower left node is (ex, ey), by 2 x 2 Gauss points. Nodes in the order
 * (0,0) (1,0) (0,1) (1,1). */
static void element(long ex, long ey, double h, double ke[4][4], double be[4])
{
    /* (1 -+ 1/sqrt 3) / 2 */
    static const double gauss[2] = { 0.5 - 0.28867513459481288, 0.5 + 0.28867513459481288 };

    memset(ke, 0, 16 * sizeof ke[0][0]);
    memset(be, 0, 4 * sizeof be[0]);
    for (int g = 0; g < 4; g++) {
        double s = gauss[g % 2], t = gauss[g / 2];
        double x = h * ((double)ex + s), y = h * ((double)ey + t);
        double value[4] = { (1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t };
        double ds[4] = { t - 1, 1 - t, -t, t }, dt[4] = { s - 1, -s, 1 - s, s };
        double a = conductivity(x, y), f = source(x, y);
        for (int i = 0; i < 4; i++) {
            /* Weight 1/4, area h^2; each derivative brings 1/h, so the matrix has no h. */
            for (int j = 0; j < 4; j++)
                ke[i][j] += 0.25 * a * (ds[i] * ds[j] + dt[i] * dt[j]);
            be[i] += 0.25 * h * h * f * value[i];
        }
    }
}

/* ---------------------------------------------------------------- computation */

/* Add element (ex, ey) to the rows of this rank. Elements on the edge between two ranks are made by both, so
 * assembly needs no communication. */
static void add_element(struct fem *s, long ex, long ey)
{
    double ke[4][4], be[4];

    element(ex, ey, 1.0 / (double)s->n, ke, be);
    for (int i = 0; i < 4; i++) {
        long col = ex + i % 2, row = ey + i / 2;
        double *k;
        if (col == 0 || row <= s->lo || row > s->hi)
            continue;
        k = coefficients(s, row - s->lo, col);
        row_of(s, s->b, row - s->lo)[col] += be[i];
        for (int j = 0; j < 4; j++)
            k[4 + (j % 2 - i % 2) + 3 * (j / 2 - i / 2)] += ke[i][j];
    }
}

static void assemble(struct fem *s)
{
    size_t nodes = (size_t)(s->hi - s->lo) * (size_t)s->n;
    long top = s->hi < s->n ? s->hi : s->n - 1;

    memset(s->k, 0, nodes * FEM_STENCIL * sizeof *s->k);
    memset(s->b, 0, row_count(s) * (size_t)s->w * sizeof *s->b);
    for (long ey = s->lo; ey <= top; ey++)
        for (long ex = 0; ex < s->n; ex++)
            add_element(s, ex, ey);
    for (long row = 1; row <= s->hi - s->lo; row++)
        for (long i = 1; i <= s->n; i++)
            row_of(s, s->dinv, row)[i] = 1.0 / coefficients(s, row, i)[4];
}

/* out := K v on own rows; halo rows of v are up to date. Boundary nodes hold 0 and nodes beyond an edge have
 * coefficient 0, so no case is special. Result: this rank's share of v . out. */
static double multiply(const struct fem *s, double *v, double *out)
{
    double dot = 0.0;

    for (long row = 1; row <= s->hi - s->lo; row++) {
        const double *d = row_of(s, v, row - 1), *c = row_of(s, v, row), *u = row_of(s, v, row + 1);
        const double *k = coefficients(s, row, 1);
        double *o = row_of(s, out, row);
        for (long i = 1; i <= s->n; i++, k += FEM_STENCIL) {
            o[i] = k[0] * d[i - 1] + k[1] * d[i] + k[2] * d[i + 1] + k[3] * c[i - 1] + k[4] * c[i] +
                   k[5] * c[i + 1] + k[6] * u[i - 1] + k[7] * u[i] + k[8] * u[i + 1];
            dot += c[i] * o[i];
        }
    }
    return dot;
}

/* sums[0] += r . D^-1 r, sums[1] += r . r on own rows */
static void products(const struct fem *s, double sums[2])
{
    sums[0] = sums[1] = 0.0;
    for (long row = 1; row <= s->hi - s->lo; row++) {
        const double *r = row_of(s, s->r, row), *d = row_of(s, s->dinv, row);
        for (long i = 1; i <= s->n; i++) {
            sums[0] += r[i] * d[i] * r[i];
            sums[1] += r[i] * r[i];
        }
    }
}

/* u += alpha p, r -= alpha q, and the products of the new r */
static void step(struct fem *s, double alpha, double sums[2])
{
    for (long row = 1; row <= s->hi - s->lo; row++) {
        double *u = row_of(s, s->u, row), *r = row_of(s, s->r, row);
        const double *p = row_of(s, s->p, row), *q = row_of(s, s->q, row);
        for (long i = 1; i <= s->n; i++) {
            u[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
    }
    products(s, sums);
}

/* p := D^-1 r + beta p */
static void turn(struct fem *s, double beta)
{
    for (long row = 1; row <= s->hi - s->lo; row++) {
        const double *r = row_of(s, s->r, row), *d = row_of(s, s->dinv, row);
        double *p = row_of(s, s->p, row);
        for (long i = 1; i <= s->n; i++)
            p[i] = d[i] * r[i] + beta * p[i];
    }
}

/* ---------------------------------------------------------------- communication */

static void exchange(const struct app *a, struct fem *s, double *v)
{
    long last = s->hi - s->lo;
    int count = (int)s->w;

    if (a->size == 1)
        return;
    MPI_Sendrecv(row_of(s, v, 1), count, MPI_DOUBLE, s->below, 0,
                 row_of(s, v, last + 1), count, MPI_DOUBLE, s->above, 0, s->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row_of(s, v, last), count, MPI_DOUBLE, s->above, 1,
                 row_of(s, v, 0), count, MPI_DOUBLE, s->below, 1, s->comm, MPI_STATUS_IGNORE);
}

/* ---------------------------------------------------------------- conjugate gradients */

static void start(struct fem *s)
{
    size_t size = row_count(s) * (size_t)s->w;

    memset(s->u, 0, size * sizeof *s->u);
    memset(s->p, 0, size * sizeof *s->p);
    memcpy(s->r, s->b, size * sizeof *s->r);
}

/* From u = 0. The limit on iterations is several times what the condition number O(N^2) asks for; who reaches
 * it has a residual that the check refuses. */
static void conjugate_gradients(const struct app *a, struct fem *s)
{
    double sums[2] = { 1.0, 1.0 }, stop, rz, pq = 1.0, nodes = (double)(s->hi - s->lo) * (double)s->n;
    long limit = APP_PLAYED ? FEM_ITERATIONS(s->n) : 20 * s->n;
    struct app_pace pace = { 0 };

    APP_WORK((FEM_FLOPS_START + FEM_FLOPS_PRODUCTS) * nodes, start(s); products(s, sums));
    app_allreduce(a, sums, 2, MPI_DOUBLE, MPI_SUM);
    stop = APP_PLAYED ? 0.0 : FEM_TOLERANCE * FEM_TOLERANCE * sums[1];
    APP_WORK(FEM_FLOPS_TURN * nodes, turn(s, 0.0));
    for (s->iterations = 0; sums[1] > stop && s->iterations < limit;
         s->iterations = app_next(&pace, s->iterations, limit)) {
        rz = sums[0];
        exchange(a, s, s->p);
        APP_WORK(FEM_FLOPS_MULTIPLY * nodes, pq = multiply(s, s->p, s->q));
        app_allreduce(a, &pq, 1, MPI_DOUBLE, MPI_SUM);
        APP_WORK((FEM_FLOPS_STEP + FEM_FLOPS_PRODUCTS) * nodes, step(s, rz / pq, sums));
        app_allreduce(a, sums, 2, MPI_DOUBLE, MPI_SUM);
        APP_WORK(FEM_FLOPS_TURN * nodes, turn(s, sums[0] / rz));
    }
}

/* ---------------------------------------------------------------- the kernel */

static int fem_allowed(const struct app *a)
{
    long p = a->size, rows = a->N / p, lo, hi;

    while (rows < 2 || rows * p < FEM_N_MIN)
        rows++;
    if (a->shares && a->N >= 2 * p)
        return app_divide(a, a->N, "rows", &lo, &hi);
    if (a->N % p || a->N < 2 * p)
        return app_refuse(a, "N=%ld on %ld processes: N must be a multiple of the number of processes, two "
                          "rows each at least; use %ld or %ld", a->N, p, rows * p, (rows + 1) * p);
    return APP_OK;
}

static void fem_destroy(void *state)
{
    struct fem *s = state;

    free(s->k);
    free(s->u);
    free(s->r);
    app_free(s->p);
    free(s->q);
    free(s->b);
    free(s->dinv);
    free(s);
}

/* n elements per edge, with node rows lo+1 .. hi here. */
static struct fem *create(const struct app *a, long n, long lo, long hi)
{
    struct fem *s = calloc(1, sizeof *s);
    size_t size;

    if (!s)
        return NULL;
    s->comm = a->comm;
    s->n = n;
    s->w = n + 2;
    s->lo = lo;
    s->hi = hi;
    s->below = a->rank > 0 ? a->rank - 1 : MPI_PROC_NULL;
    s->above = a->rank < a->size - 1 ? a->rank + 1 : MPI_PROC_NULL;
    size = row_count(s) * (size_t)s->w;
    s->k = malloc((size_t)(s->hi - s->lo) * (size_t)n * FEM_STENCIL * sizeof *s->k);
    s->u = calloc(size, sizeof *s->u);
    s->r = calloc(size, sizeof *s->r);
    s->p = app_alloc(a->arena, a->size, size, sizeof *s->p);
    s->q = calloc(size, sizeof *s->q);
    s->b = calloc(size, sizeof *s->b);
    s->dinv = calloc(size, sizeof *s->dinv);
    if (!s->k || !s->u || !s->r || !s->p || !s->q || !s->b || !s->dinv) {
        fem_destroy(s);
        return NULL;
    }
    return s;
}

static void *fem_create(const struct app *a)
{
    long lo, hi;

    return app_divide(a, a->N, "rows", &lo, &hi) == APP_OK ? create(a, a->N, lo, hi) : NULL;
}

/* Fresh memory costs time when it is first touched: do it here, so that every run is timed alike. */
static void fem_prepare(const struct app *a, void *state)
{
    struct fem *s = state;
    double *v[] = { s->u, s->r, s->p, s->q, s->b, s->dinv };

    (void)a;
    memset(s->k, 0, (size_t)(s->hi - s->lo) * (size_t)s->n * FEM_STENCIL * sizeof *s->k);
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        memset(v[i], 0, row_count(s) * (size_t)s->w * sizeof *v[i]);
}

static void fem_solve(const struct app *a, void *state)
{
    struct fem *s = state;

    APP_WORK(FEM_FLOPS_ELEMENT * (double)(s->hi - s->lo + 1) * (double)s->n, assemble(s));
    conjugate_gradients(a, s);
}

/* Root mean square over the nodes of u - exact. */
static double node_error(const struct app *a, struct fem *s)
{
    double h = 1.0 / (double)s->n, sum = 0.0, e;

    for (long row = 1; row <= s->hi - s->lo; row++)
        for (long i = 1; i <= s->n; i++) {
            e = row_of(s, s->u, row)[i] - exact(h * (double)i, h * (double)(row + s->lo));
            sum += e * e;
        }
    app_allreduce(a, &sum, 1, MPI_DOUBLE, MPI_SUM);
    return h * sqrt(sum);
}

/* ||b - K u|| / ||b||; r and q are overwritten. */
static double true_residual(const struct app *a, struct fem *s)
{
    double sums[2] = { 0.0, 0.0 }, r;

    exchange(a, s, s->u);
    multiply(s, s->u, s->q);
    for (long row = 1; row <= s->hi - s->lo; row++)
        for (long i = 1; i <= s->n; i++) {
            r = row_of(s, s->b, row)[i] - row_of(s, s->q, row)[i];
            sums[0] += r * r;
            sums[1] += row_of(s, s->b, row)[i] * row_of(s, s->b, row)[i];
        }
    app_allreduce(a, sums, 2, MPI_DOUBLE, MPI_SUM);
    return sqrt(sums[0] / sums[1]);
}

/* Error of the same problem on n elements per edge, in equal shares; NAN when memory ran out on any rank. */
static double coarse_error(const struct app *a, long n)
{
    struct fem *s;
    double e = NAN;
    long lo, hi;
    int have;

    app_part(n, a->rank, a->size, &lo, &hi);
    s = create(a, n, lo, hi);
    have = s != NULL;
    app_allreduce(a, &have, 1, MPI_INT, MPI_MIN);
    if (have) {
        assemble(s);
        conjugate_gradients(a, s);
        e = node_error(a, s);
    }
    if (s)
        fem_destroy(s);
    return e;
}

static void fem_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct fem *s = state;
    long half = (s->n + 1) / 2;
    double fine, coarse, order, limit;

    if (a->spoil && a->rank == a->size - 1)
        row_of(s, s->u, 1)[s->n / 2] += 1e-6;
    fine = node_error(a, s);
    coarse = coarse_error(a, half);
    order = log(coarse / fine) / log((double)s->n / (double)half);
    v->residual = true_residual(a, s);
    limit = 2.0 * FEM_TOLERANCE + APP_RESIDUAL_MAX * DBL_EPSILON * (double)s->n * (double)s->n;
    v->ok = v->residual < limit && fabs(order - 2.0) < FEM_ORDER_SLACK;
    snprintf(v->result, sizeof v->result, "error %.4e order %.3f iterations %ld", fine, order, s->iterations);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { NULL, 0, 0, 0, 0, NULL }
    };
    const struct app_kernel kernel = {
        "femcg", "finite elements on N x N quads, conjugate gradients", FEM_N_MIN, 40000,
        fem_allowed, fem_create, fem_destroy, fem_prepare, fem_solve, fem_check
    };

    return app_main(&kernel, options, argc, argv);
}
