/* multigrid.c - V-cycles for the Poisson equation on N columns and R rows of cells, partitioned by rows
 *
 * What paper 001 is about: the meshes of a multigrid solver, each with half as many rows and columns as the one before,
 * all divided by the rows of the coarsest, so that the length of the messages depends on N alone, and the work of a
 * process on its rows. Rows come in whole multiples of the unit U = 2^(levels-1). Each process has as many as its share
 * (--shares), or all have nearly as many. With shares the mesh has as many rows as these in all, but not more than N
 * (--rows says otherwise): what is too much is taken from the last processes, a unit each. A model by which shares are
 * chosen need not find whole units that add up to N.
 *   computation    i 4/3 N R_p cells of process p, and the sweeps on the coarsest mesh
 *   communication  per cycle 2 (pre + post + 3) rows on each mesh, `coarse` on the coarsest, and a reduction
 * Memory of a process in bytes: three fields on all meshes, 32 N (R_p + 2 levels).
 *
 * The operator on mesh l (l = 0 the finest) is A = (4 u - the four neighbours) / 4^l; on the boundary u is 0, so that
 * the cell beyond it holds -u. Smoothed by damped Jacobi sweeps, restricted by the mean of four cells, prolongated
 * bilinearly.
 *
 * Check: for sine modes s_a(i) = sin(a pi (i + 1/2) / n) all this is known exactly. A has s_a s_b as eigenvectors with
 * (4 sin^2(x) + 4 sin^2(y)) / 4^l, x = a pi / 2n, y = b pi / 2m; restriction makes cos(x) s_a of s_a and sin(x) s_a of
 * its alias s_(n-a), prolongation makes cos^3(x) s_a + sin^3(x) s_(n-a) of s_a. So what a V-cycle makes of mode 1 of
 * the coarsest mesh and all its aliases follows from a V-cycle over their 4^(levels-1) coefficients. The right side is
 * A s_3 s_2, the start s_3 s_2 and an error of all these modes. The residual is the largest deviation from the field so
 * foretold, divided by eps U (i + 1): each cycle adds roundings, of which the meanest mesh makes U times as much.
 */
#include "common.h"

enum { MG_OPT_LEVELS, MG_OPT_CYCLES, MG_OPT_SWEEPS, MG_OPT_COARSE, MG_OPT_ROWS };
enum { MG_LEVELS_MAX = 12 };
/* Operations per cell: see sweep, restrict_residual (and the mean of four), prolong and norm. */
enum { MG_FLOPS_SWEEP = 9, MG_FLOPS_RESTRICT = 8, MG_FLOPS_PROLONG = 8, MG_FLOPS_NORM = 9 };
static const double MG_OMEGA = 0.8;     /* the best damping of Jacobi sweeps for the five-point operator */

struct mesh {
    long n, m, rows, lo;    /* columns and rows in all; those of this rank, and the first of them */
    long kept;              /* of the rows, how many are in memory: all, or of a skeleton the outermost */
    double quad;            /* 4^l */
    double *u, *next, *f;   /* (kept + 2) rows of n + 2; the outermost are ghosts */
};

struct mg {
    MPI_Comm comm;
    int below, above;       /* the neighbours' ranks, or MPI_PROC_NULL */
    int levels;
    long cycles, sweeps, coarse;
    struct mesh mesh[MG_LEVELS_MAX];
    double norm;            /* of the residual, on all ranks */
};

static double *row_of(const struct mesh *q, double *field, long i)
{
    if (i > 1)
        i -= q->rows - q->kept;
    return field + (size_t)i * (size_t)(q->n + 2);
}

/* ---------------------------------------------------------------- computation */

static void sweep(struct mesh *q)
{
    for (long i = 1; i <= q->rows; i++) {
        const double *u = row_of(q, q->u, i), *south = row_of(q, q->u, i - 1), *north = row_of(q, q->u, i + 1);
        const double *f = row_of(q, q->f, i);
        double *restrict out = row_of(q, q->next, i);

        for (long j = 1; j <= q->n; j++)
            out[j] = u[j] + MG_OMEGA * (0.25 * (q->quad * f[j] + (u[j - 1] + u[j + 1] + south[j] + north[j])) - u[j]);
    }
}

static inline double residual_at(const struct mesh *q, const double *f, const double *u, const double *south,
                                 const double *north, long j)
{
    return f[j] - (4.0 * u[j] - (u[j - 1] + u[j + 1] + south[j] + north[j])) / q->quad;
}

/* The residual of q, restricted, becomes the right side of the next mesh, whose u becomes 0. */
static void restrict_residual(struct mesh *q, struct mesh *next)
{
    for (long i = 1; i <= next->rows; i++) {
        const double *a = row_of(q, q->u, 2 * i - 2), *b = row_of(q, q->u, 2 * i - 1);
        const double *c = row_of(q, q->u, 2 * i), *d = row_of(q, q->u, 2 * i + 1);
        const double *fb = row_of(q, q->f, 2 * i - 1), *fc = row_of(q, q->f, 2 * i);
        double *f = row_of(next, next->f, i), *u = row_of(next, next->u, i);

        for (long j = 1; j <= next->n; j++) {
            long k = 2 * j;

            f[j] = 0.25 * (residual_at(q, fb, b, a, c, k - 1) + residual_at(q, fb, b, a, c, k) +
                           residual_at(q, fc, c, b, d, k - 1) + residual_at(q, fc, c, b, d, k));
            u[j] = 0;
        }
    }
}

/* Add the correction of the next mesh. */
static void prolong(struct mesh *q, struct mesh *next)
{
    for (long i = 1; i <= q->rows; i++) {
        long near_i = (i + 1) / 2, far_i = i % 2 ? near_i - 1 : near_i + 1;
        const double *e = row_of(next, next->u, near_i), *g = row_of(next, next->u, far_i);
        double *u = row_of(q, q->u, i);

        for (long j = 1; j <= q->n; j++) {
            long near_j = (j + 1) / 2, far_j = j % 2 ? near_j - 1 : near_j + 1;

            u[j] += 0.0625 * (9.0 * e[near_j] + 3.0 * (e[far_j] + g[near_j]) + g[far_j]);
        }
    }
}

static double norm(struct mesh *q)
{
    double sum = 0.0;

    for (long i = 1; i <= q->rows; i++)
        for (long j = 1; j <= q->n; j++) {
            double r = residual_at(q, row_of(q, q->f, i), row_of(q, q->u, i), row_of(q, q->u, i - 1),
                                   row_of(q, q->u, i + 1), j);
            sum += r * r;
        }
    return sum;
}

/* The ghosts at the ends of each row, and those beyond the first and the last row of all. */
static void reflect(const struct mg *s, struct mesh *q)
{
    for (long i = 1; i <= q->rows; i++) {
        double *u = row_of(q, q->u, i);

        u[0] = -u[1];
        u[q->n + 1] = -u[q->n];
    }
    for (long j = 0; j < q->n + 2; j++) {
        if (s->below == MPI_PROC_NULL)
            row_of(q, q->u, 0)[j] = -row_of(q, q->u, 1)[j];
        if (s->above == MPI_PROC_NULL)
            row_of(q, q->u, q->rows + 1)[j] = -row_of(q, q->u, q->rows)[j];
    }
}

/* ---------------------------------------------------------------- communication */

static void exchange(const struct mg *s, const struct mesh *q)
{
    int count = (int)q->n + 2;
    MPI_Request r[4];

    MPI_Irecv(row_of(q, q->u, 0), count, MPI_DOUBLE, s->below, 1, s->comm, &r[0]);
    MPI_Irecv(row_of(q, q->u, q->rows + 1), count, MPI_DOUBLE, s->above, 0, s->comm, &r[1]);
    MPI_Isend(row_of(q, q->u, 1), count, MPI_DOUBLE, s->below, 0, s->comm, &r[2]);
    MPI_Isend(row_of(q, q->u, q->rows), count, MPI_DOUBLE, s->above, 1, s->comm, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

/* ---------------------------------------------------------------- the solver */

static double cells(const struct mesh *q)
{
    return (double)q->n * (double)q->rows;
}

static void fill_ghosts(const struct mg *s, struct mesh *q)
{
    APP_WORK(2 * (q->rows + (s->below == MPI_PROC_NULL || s->above == MPI_PROC_NULL ? q->n : 0)), reflect(s, q));
    if (s->below != MPI_PROC_NULL || s->above != MPI_PROC_NULL)
        exchange(s, q);
}

static void smooth(const struct mg *s, struct mesh *q, long times)
{
    for (long t = 0; t < times; t++) {
        double *swap = q->u;

        fill_ghosts(s, q);
        APP_WORK(MG_FLOPS_SWEEP * cells(q), sweep(q));
        q->u = q->next;
        q->next = swap;
    }
}

static void v_cycle(struct mg *s)
{
    int last = s->levels - 1;

    for (int l = 0; l < last; l++) {
        smooth(s, &s->mesh[l], s->sweeps);
        fill_ghosts(s, &s->mesh[l]);
        APP_WORK(MG_FLOPS_RESTRICT * cells(&s->mesh[l]), restrict_residual(&s->mesh[l], &s->mesh[l + 1]));
    }
    smooth(s, &s->mesh[last], s->coarse);
    for (int l = last; l-- > 0;) {
        fill_ghosts(s, &s->mesh[l + 1]);
        APP_WORK(MG_FLOPS_PROLONG * cells(&s->mesh[l]), prolong(&s->mesh[l], &s->mesh[l + 1]));
        smooth(s, &s->mesh[l], s->sweeps);
    }
}

static void mg_solve(const struct app *a, void *state)
{
    struct mg *s = state;
    struct app_pace pace = { 0 };

    for (long i = 0; i < s->cycles; i = app_next(&pace, i, s->cycles)) {
        v_cycle(s);
        fill_ghosts(s, &s->mesh[0]);
        APP_WORK(MG_FLOPS_NORM * cells(&s->mesh[0]), s->norm = norm(&s->mesh[0]));
        app_allreduce(a, &s->norm, 1, MPI_DOUBLE, MPI_SUM);
    }
}

/* ---------------------------------------------------------------- who has which rows */

static long unit_of(const struct app *a)
{
    return 1L << (a->options[MG_OPT_LEVELS].value - 1);
}

/* The rows of each rank, rows[size], in whole units, and in all *total. APP_OK, or what app_refuse gave. */
static int divide(const struct app *a, long *rows, long *total)
{
    long unit = unit_of(a), want = a->options[MG_OPT_ROWS].value, sum = 0, taken = 1;
    double *share = a->shares ? malloc((size_t)a->size * sizeof *share) : NULL;
    int status = APP_OK;

    if (a->shares && !share)
        return app_refuse(a, "not enough memory");
    if (a->shares)
        status = app_shares(a, share);
    for (int p = 0; p < a->size && status == APP_OK && a->shares; p++) {
        rows[p] = share[p] < 1e9 ? (long)share[p] : 0;
        sum += rows[p];
        if (rows[p] < unit || rows[p] % unit || (double)rows[p] != share[p])
            status = app_refuse(a, "--shares=%s: rows come in multiples of %ld (2 to the levels less one), not %.10g",
                                a->shares, unit, share[p]);
    }
    free(share);
    *total = want ? want : a->shares && sum < a->N ? sum : a->N;
    if (status != APP_OK)
        return status;
    if (*total % unit || *total < unit * a->size || *total < 2 * unit)
        return app_refuse(a, "%ld rows on %d process%s: each needs %ld or a multiple, and two of them in all", *total,
                          a->size, a->size == 1 ? "" : "es", unit);
    for (int p = 0; p < a->size && !a->shares; p++) {
        long lo, hi;

        app_part(*total / unit, p, a->size, &lo, &hi);
        rows[p] = (hi - lo) * unit;
        sum += rows[p];
    }
    if (sum < *total)
        return app_refuse(a, "--shares=%s: %ld rows in all, and the mesh has %ld", a->shares, sum, *total);
    while (sum > *total && taken) {
        taken = 0;
        for (int p = a->size; p-- > 0 && sum > *total;)
            if (rows[p] > unit) {
                rows[p] -= unit;
                sum -= unit;
                taken = 1;
            }
    }
    return APP_OK;
}

static int mg_allowed(const struct app *a)
{
    long unit = unit_of(a), total, *rows;
    int status;

    if (a->N % unit || a->N < 2 * unit)
        return app_refuse(a, "N=%ld with %ld levels: N must be %ld or a greater multiple of %ld", a->N,
                          a->options[MG_OPT_LEVELS].value, 2 * unit, unit);
    rows = malloc((size_t)a->size * sizeof *rows);
    if (!rows)
        return app_refuse(a, "not enough memory");
    status = divide(a, rows, &total);
    free(rows);
    return status;
}

/* ---------------------------------------------------------------- memory */

static void mg_destroy(void *state)
{
    struct mg *s = state;

    for (int l = 0; l < s->levels; l++) {
        app_free(s->mesh[l].u);
        app_free(s->mesh[l].next);
        free(s->mesh[l].f);
    }
    free(s);
}

static int create_mesh(const struct app *a, struct mesh *q, int l, long rows, long lo, long total)
{
    size_t size;

    q->n = a->N >> l;
    q->m = total >> l;
    q->rows = rows >> l;
    q->lo = lo >> l;
    q->kept = APP_PLAYED && q->rows > 2 ? 2 : q->rows;
    q->quad = (double)(1L << (2 * l));
    size = (size_t)(q->kept + 2) * (size_t)(q->n + 2);
    q->u = app_alloc(a->arena, a->size, size, sizeof *q->u);
    q->next = app_alloc(a->arena, a->size, size, sizeof *q->next);
    q->f = APP_PLAYED ? NULL : calloc(size, sizeof *q->f);
    return q->u && q->next && (q->f || APP_PLAYED);
}

static void *mg_create(const struct app *a)
{
    struct mg *s = calloc(1, sizeof *s);
    long *rows = malloc((size_t)a->size * sizeof *rows), total, lo = 0;
    int good = s && rows && divide(a, rows, &total) == APP_OK;

    for (int p = 0; p < a->rank && good; p++)
        lo += rows[p];
    if (good) {
        s->comm = a->comm;
        s->below = a->rank > 0 ? a->rank - 1 : MPI_PROC_NULL;
        s->above = a->rank < a->size - 1 ? a->rank + 1 : MPI_PROC_NULL;
        s->levels = (int)a->options[MG_OPT_LEVELS].value;
        s->cycles = a->options[MG_OPT_CYCLES].value;
        s->sweeps = a->options[MG_OPT_SWEEPS].value;
        s->coarse = a->options[MG_OPT_COARSE].value;
        for (int l = 0; l < s->levels; l++)
            good = create_mesh(a, &s->mesh[l], l, rows[a->rank], lo, total) && good;
    }
    free(rows);
    if (good)
        return s;
    if (s)
        mg_destroy(s);
    return NULL;
}

/* ---------------------------------------------------------------- what is known of the solution */

/* Mode k of those that mesh l knows: 1 on the coarsest, and on each finer one every mode a with its alias n - a. */
static double mode(const struct mg *s, int l, long k, int down)
{
    long n = down ? s->mesh[l].m : s->mesh[l].n;

    if (l == s->levels - 1)
        return 1;
    return k % 2 ? (double)n - mode(s, l + 1, k / 2, down) : mode(s, l + 1, k / 2, down);
}

/* cos(x) of a mode that is none but of its own mesh, sin(x) of an alias. */
static double symbol(const struct mg *s, int l, long k, int down)
{
    double x = mode(s, l, k / 2 * 2, down) * M_PI / (2.0 * (double)(down ? s->mesh[l].m : s->mesh[l].n));

    return k % 2 ? sin(x) : cos(x);
}

/* The coefficients of mesh l: error, right side, and what the operator does; v[K][K], rows by modes down. */
struct modes {
    long K;
    double *e, *f, *lambda, *across, *down;
};

static void smooth_modes(const struct mg *s, struct modes *v, int l, long times)
{
    for (long t = 0; t < times; t++)
        for (long i = 0; i < v->K * v->K; i++)
            v->e[i] += MG_OMEGA * (v->f[i] - v->lambda[i] * v->e[i]) * 0.25 * s->mesh[l].quad;
}

static void v_cycle_modes(const struct mg *s, struct modes *v, int l)
{
    struct modes *q = &v[l], *next = q + 1;

    if (l == s->levels - 1) {
        smooth_modes(s, q, l, s->coarse);
        return;
    }
    smooth_modes(s, q, l, s->sweeps);
    memset(next->f, 0, (size_t)(next->K * next->K) * sizeof *next->f);
    memset(next->e, 0, (size_t)(next->K * next->K) * sizeof *next->e);
    for (long b = 0; b < q->K; b++)
        for (long a = 0; a < q->K; a++) {
            long i = b * q->K + a;
            next->f[b / 2 * next->K + a / 2] += q->down[b] * q->across[a] * (q->f[i] - q->lambda[i] * q->e[i]);
        }
    v_cycle_modes(s, v, l + 1);
    for (long b = 0; b < q->K; b++)
        for (long a = 0; a < q->K; a++)
            q->e[b * q->K + a] += pow(q->down[b] * q->across[a], 3.0) * next->e[b / 2 * next->K + a / 2];
    smooth_modes(s, q, l, s->sweeps);
}

static double start_of(long a, long b)
{
    return 1.0 / (double)((1 + a) * (1 + b));
}

static void free_modes(const struct mg *s, struct modes *v)
{
    for (int l = 0; l < s->levels; l++) {
        free(v[l].e);
        free(v[l].across);
    }
}

static int create_modes(const struct mg *s, struct modes *v)
{
    for (int l = 0; l < s->levels; l++) {
        struct modes *q = &v[l];

        q->K = 1L << (s->levels - 1 - l);
        q->e = calloc((size_t)(3 * q->K * q->K), sizeof *q->e);
        q->across = calloc((size_t)(2 * q->K), sizeof *q->across);
        if (!q->e || !q->across)
            return 0;
        q->f = q->e + q->K * q->K;
        q->lambda = q->f + q->K * q->K;
        q->down = q->across + q->K;
        for (long k = 0; k < q->K; k++) {
            q->across[k] = symbol(s, l, k, 0);
            q->down[k] = symbol(s, l, k, 1);
        }
        for (long b = 0; b < q->K; b++)
            for (long a = 0; a < q->K; a++)
                q->lambda[b * q->K + a] = 4.0 / s->mesh[l].quad *
                    (pow(sin(mode(s, l, a, 0) * M_PI / (2.0 * (double)s->mesh[l].n)), 2.0) +
                     pow(sin(mode(s, l, b, 1) * M_PI / (2.0 * (double)s->mesh[l].m)), 2.0));
    }
    return 1;
}

/* sin(a pi (i - 1/2) / n), i from 1. */
static double sine(double a, long i, long n)
{
    return sin(a * M_PI * ((double)i - 0.5) / (double)n);
}

/* What the field is, into out[n+2] for row i (from 1) of this rank, when its error has the coefficients e[K][K]. */
static void foretell(const struct mg *s, const double *e, const double *sines, long i, double *out)
{
    const struct mesh *q = &s->mesh[0];
    long K = 1L << (s->levels - 1), y = i + q->lo;

    for (long j = 1; j <= q->n; j++)
        out[j] = sine(3, j, q->n) * sine(2, y, q->m);
    for (long a = 0; a < K; a++) {
        double sum = 0.0;

        for (long b = 0; b < K; b++)
            sum += e[b * K + a] * sine(mode(s, 0, b, 1), y, q->m);
        for (long j = 1; j <= q->n; j++)
            out[j] += sum * sines[(size_t)a * (size_t)(q->n + 2) + (size_t)j];
    }
}

/* s_a(j) of all modes across, K rows of n + 2. */
static double *all_sines(const struct mg *s)
{
    long K = 1L << (s->levels - 1), w = s->mesh[0].n + 2;
    double *sines = malloc((size_t)(K * w) * sizeof *sines);

    for (long a = 0; a < K && sines; a++)
        for (long j = 1; j < w - 1; j++)
            sines[a * w + j] = sine(mode(s, 0, a, 0), j, w - 2);
    return sines;
}

static void mg_prepare(const struct app *a, void *state)
{
    struct mg *s = state;
    struct mesh *q = &s->mesh[0];
    long K = 1L << (s->levels - 1);
    double lambda = 4.0 * (pow(sin(3.0 * M_PI / (2.0 * (double)q->n)), 2.0) + pow(sin(M_PI / (double)q->m), 2.0));
    double *sines = all_sines(s), *e = malloc((size_t)(K * K) * sizeof *e);

    /* Without memory for this the check fails. */
    for (long b = 0; b < K && e; b++)
        for (long c = 0; c < K; c++)
            e[b * K + c] = start_of(c, b);
    for (long i = 1; i <= q->rows && sines && e; i++) {
        foretell(s, e, sines, i, row_of(q, q->u, i));
        for (long j = 1; j <= q->n; j++)
            row_of(q, q->f, i)[j] = lambda * sine(3, j, q->n) * sine(2, i + q->lo, q->m);
    }
    (void)a;
    free(sines);
    free(e);
}

static void mg_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct mg *s = state;
    struct mesh *q = &s->mesh[0];
    struct modes modes[MG_LEVELS_MAX] = { { 0 } };
    double worst = INFINITY, *sines = all_sines(s), *row = malloc((size_t)(q->n + 2) * sizeof *row);
    uint64_t sum = 0;

    if (a->spoil && a->rank == a->size - 1)
        row_of(q, q->u, 1)[q->n / 2] += 1e-6;
    if (create_modes(s, modes) && sines && row) {
        for (long b = 0; b < modes->K; b++)
            for (long c = 0; c < modes->K; c++)
                modes->e[b * modes->K + c] = start_of(c, b);
        for (long i = 0; i < s->cycles; i++)
            v_cycle_modes(s, modes, 0);
        worst = 0.0;
        for (long i = 1; i <= q->rows; i++) {
            foretell(s, modes->e, sines, i, row);
            for (long j = 1; j <= q->n; j++) {
                double u = row_of(q, q->u, i)[j];
                worst = app_max_abs(worst, u - row[j]);
                sum += app_hash((uint64_t)((i + q->lo) * (q->n + 2) + j), u);
            }
        }
    }
    app_allreduce(a, &worst, 1, MPI_DOUBLE, MPI_MAX);
    app_allreduce(a, &sum, 1, MPI_UINT64_T, MPI_SUM);
    v->residual = worst / (DBL_EPSILON * (double)unit_of(a) * (double)(s->cycles + 1));
    v->ok = v->residual < APP_RESIDUAL_MAX;
    snprintf(v->result, sizeof v->result, "checksum %016llx norm %.9e rows %ld", (unsigned long long)sum,
             sqrt(s->norm), q->m);
    free_modes(s, modes);
    free(sines);
    free(row);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { "levels", 'l', 1, MG_LEVELS_MAX, 5, "meshes, each half as fine as the one before" },
        { "cycles", 'i', 1, 1000000, 10, "V-cycles" },
        { "sweeps", 's', 1, 1000, 2, "sweeps before and after each correction" },
        { "coarse", 'c', 1, 100000, 16, "sweeps on the coarsest mesh" },
        { "rows", 'R', 0, 10000000, 0, "rows of the mesh; 0: N, or those of --shares where these are fewer" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    /* A row is one message, and a mesh must be countable: N < 2^31 / 8. */
    const struct app_kernel kernel = {
        "multigrid", "V-cycles for the Poisson equation on N columns and as many rows", 2, 200000000,
        mg_allowed, mg_create, mg_destroy, mg_prepare, mg_solve, mg_check
    };

    return app_main(&kernel, options, argc, argv);
}
