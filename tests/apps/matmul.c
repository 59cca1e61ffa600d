/* matmul.c - C = A B of order N, dealt out by a master over unlike processes, by one of three methods
 *
 * The application of paper 003, section 4: rank 0 holds A and B, deals them out, all compute, rank 0 gathers C. Every
 * process gets a part of the work in proportion to its share (--shares 4*2.0,2*1.0: four ranks with 2, two with 1).
 *   columns    the square is cut into round(sqrt(P)) columns, these into a slice for each rank (Std_Col_Based; the
 *              partition of O. Beaumont and others, "Matrix multiplication on heterogeneous platforms", IEEE TPDS 12,
 *              2001): all slices are of the right size, and rank 0 sends each its rows of A and columns of B
 *   cartesian  the slices make up rows and columns, as many rows as the greatest divisor of P below its root
 *              (Std_Cart_Based; A. Lastovetsky, ISPDC 2007): sizes fit less well, but rows of A and columns of B go
 *              from neighbour to neighbour
 *   cannon     Cannon's method over blocks, Strassen's below (Str_Cannon; matmul_cannon.h)
 * Operations: 2 N^3 for the slices; for each number that is moved within a process one. Memory of rank 0: 24 N^2 bytes,
 * and about as much as others; these: their slices.
 * Check: C x = A (B x) for a random x, the difference over eps ||A|| ||B|| max|x| in the infinity norm below 16.
 */
#include "matmul_cannon.h"
#include "matmul_slices.h"

enum { MM_OPT_SIDE, MM_OPT_SEED, MM_OPT_END, MM_VARIANTS = 3 };

/* Numbers stand in the table, of which struct app has the address. */
struct mm_options {
    struct app_option table[MM_OPT_END + 1];
    const char *variant;
};

static const struct mm_options *options_of(const struct app *a)
{
    return (const struct mm_options *)(const void *)a->options;
}

/* ---------------------------------------------------------------- the kernel */

static const struct mm_method methods[MM_VARIANTS] = {
    { "columns", slices_create, columns_solve, slices_destroy },
    { "cartesian", slices_create, cartesian_solve, slices_destroy },
    { "cannon", mm_cannon_create, mm_cannon_solve, mm_cannon_destroy },
};

static const struct mm_method *find_method(const char *name)
{
    for (int i = 0; i < MM_VARIANTS; i++)
        if (!strcmp(name, methods[i].name))
            return &methods[i];
    return NULL;
}

/* The part of each rank, by its share among those of all processes that were started. APP_OK, or what app_refuse gave;
 * APP_NO_MEMORY. */
static int read_shares(const struct app *a, double *upto)
{
    struct app world = *a;
    int *ranks = calloc(2 * (size_t)a->size, sizeof *ranks), status = APP_NO_MEMORY;
    double *shares;
    MPI_Group here, all;

    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    shares = calloc((size_t)world.size, sizeof *shares);
    for (int r = 0; shares && r < world.size; r++)
        shares[r] = 1;
    if (ranks && shares)
        status = a->shares ? app_shares(&world, shares) : APP_OK;
    for (int r = 0; ranks && r < a->size; r++)
        ranks[r] = r;
    if (status == APP_OK) {
        MPI_Comm_group(a->comm, &here);
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_translate_ranks(here, a->size, ranks, all, ranks + a->size);
        MPI_Group_free(&here);
        MPI_Group_free(&all);
        for (int r = 0; r < a->size; r++)
            upto[r + 1] = upto[r] + shares[ranks[a->size + r]];
        for (int r = 0; r < a->size; r++)
            upto[r] /= upto[a->size];
        upto[a->size] = 1;
    }
    free(ranks);
    free(shares);
    return status;
}

static int matmul_allowed(const struct app *a)
{
    double *upto = calloc((size_t)a->size + 1, sizeof *upto);
    int status = upto ? APP_OK : APP_NO_MEMORY;

    if (!find_method(options_of(a)->variant))
        status = app_refuse(a, "--variant '%s' is not known: columns, cartesian or cannon", options_of(a)->variant);
    else if (upto)
        status = read_shares(a, upto);
    free(upto);
    return status;
}

static void matmul_destroy(void *state)
{
    struct matmul *s = state;

    s->method->destroy(s);
    app_free(s->a);
    app_free(s->b);
    app_free(s->c);
    free(s->upto);
    free(s);
}

static void *matmul_create(const struct app *a)
{
    struct matmul *s = calloc(1, sizeof *s);
    double all = (double)a->N * (double)a->N;

    if (!s)
        return NULL;
    /* One thread: hrun decides how many processes share a PE, not the BLAS. */
    openblas_set_num_threads(1);
    s->app = a;
    s->comm = a->comm;
    s->method = find_method(options_of(a)->variant);
    s->n = (int)a->N;
    s->rank = a->rank;
    s->size = a->size;
    s->side = (int)a->options[MM_OPT_SIDE].value;
    s->upto = calloc((size_t)a->size + 1, sizeof *s->upto);
    if (s->rank == 0) {
        s->a = mm_alloc(s, all);
        s->b = mm_alloc(s, all);
        s->c = mm_alloc(s, all);
    }
    if (!s->upto || read_shares(a, s->upto) || (s->rank == 0 && (!s->a || !s->b || !s->c)) || s->method->create(s)) {
        matmul_destroy(s);
        return NULL;
    }
    return s;
}

static void matmul_prepare(const struct app *a, void *state)
{
    struct matmul *s = state;
    uint64_t seed = (uint64_t)a->options[MM_OPT_SEED].value;
    size_t all = (size_t)s->n * (size_t)s->n;

    for (size_t i = 0; s->rank == 0 && i < all; i++) {
        s->a[i] = app_random(seed, i);
        s->b[i] = app_random(seed, all + i);
        s->c[i] = 0;
    }
}

static void matmul_solve(const struct app *a, void *state)
{
    struct matmul *s = state;

    (void)a;
    s->method->solve(s);
}

/* The infinity norm of a matrix, row-major, or of its transpose. */
static double norm(const struct matmul *s, const double *m, int transposed)
{
    double most = 0;

    for (int i = 0; i < s->n; i++) {
        double sum = 0;

        for (int j = 0; j < s->n; j++)
            sum += fabs(transposed ? m[(size_t)j * (size_t)s->n + (size_t)i] : m[(size_t)i * (size_t)s->n + (size_t)j]);
        most = fmax(most, sum);
    }
    return most;
}

/* The root alone has the matrices. */
static double check_product(const struct matmul *s, char *result, size_t size)
{
    double *x = calloc(4 * (size_t)s->n, sizeof *x), *y = x + s->n, *z = y + s->n, *c = z + s->n, most = 0, sum = 0;
    int n = s->n;

    if (!x)
        return HUGE_VAL;
    for (int i = 0; i < n; i++)
        x[i] = 1 + app_random(7, (uint64_t)i);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, n, 1.0, s->b, n, x, 1, 0.0, y, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, s->a, n, y, 1, 0.0, z, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, s->c, n, x, 1, 0.0, c, 1);
    for (int i = 0; i < n; i++) {
        most = app_max_abs(most, c[i] - z[i]);
        sum += fabs(c[i]);
    }
    free(x);
    snprintf(result, size, "sum|Cx| %.9e", sum);
    return most / (DBL_EPSILON * norm(s, s->a, 0) * norm(s, s->b, 1) * 1.5);
}

static void matmul_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct matmul *s = state;

    v->ok = 1;
    if (s->rank)
        return;
    if (a->spoil)
        s->c[s->n / 2] += 1e-6 * (1.0 + fabs(s->c[s->n / 2]));
    v->residual = check_product(s, v->result, sizeof v->result);
    v->ok = v->residual < APP_RESIDUAL_MAX;
}

/* Take "--name VALUE" or "--name=VALUE" out of the words; where there is no value, it is "". */
static void take_word(int *argc, char **argv, const char *name, const char **value)
{
    size_t len = strlen(name);
    int n = 1;

    for (int i = 1; i < *argc; i++) {
        if (strncmp(argv[i], name, len) || (argv[i][len] && argv[i][len] != '='))
            argv[n++] = argv[i];
        else if (argv[i][len])
            *value = argv[i] + len + 1;
        else
            *value = i + 1 < *argc ? argv[++i] : "";
    }
    *argc = n;
    argv[n] = NULL;
}

int main(int argc, char **argv)
{
    struct mm_options options = {
        .table = {
            { "side", 'q', 1, 64, 6, "blocks in a line for each root of P, of variant cannon" },
            { "seed", 's', 0, 1000000, 1, "number of the random matrices" },
            { NULL, 0, 0, 0, 0, NULL }
        },
        .variant = "columns"
    };
    const struct app_kernel kernel = {
        "matmul", "C = A B dealt out by a master (--variant columns|cartesian|cannon)", 1, 20000,
        matmul_allowed, matmul_create, matmul_destroy, matmul_prepare, matmul_solve, matmul_check
    };

    take_word(&argc, argv, "--variant", &options.variant);
    return app_main(&kernel, options.table, argc, argv);
}
