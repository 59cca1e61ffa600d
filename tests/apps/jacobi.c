/* jacobi.c - Jacobi sweeps for the Poisson equation on a box of N x N x N inner points, in slabs of planes
 *
 * What the Himeno benchmark does (paper 000, section 5.1): sweeps over a regular grid, exchange of the planes
 * between neighbours, and a sum of squared changes over all ranks in each sweep.
 *   computation    i N^3 / P points          communication  2 i planes of (N+2)^2 numbers, i reductions
 * Each process has as many planes as its share (--shares), which come to N in all, or all have nearly as many.
 * Memory of one process in bytes, a rank holding ceil(N/P) planes at most:
 *   24 (N/P + 3) (N+2)^2                     old and new values and the right side, halo planes included
 *
 * Check: both the solution after i sweeps and the sum of squared changes are known. With h = 1, zero boundary
 * and the sine modes s_abc(x,y,z) = sin(a t x) sin(b t y) sin(c t z), t = pi/(N+1), the seven-point operator
 * has
 *   A s_abc = (6 - 2 cos at - 2 cos bt - 2 cos ct) s_abc
 * The right side is A s_213 and the start is s_213 + s_111; one sweep leaves s_213 as it is and multiplies
 * s_111 by (cos t + cos t + cos t) / 3 = cos t. So after m sweeps
 *   u = s_213 + cos(t)^m s_111
 *   sum of squares of the last change = ((1 - cos t) cos(t)^(m-1))^2 ((N+1)/2)^3
 * A sweep averages, so it does not enlarge errors in the maximum norm; each adds a few roundings of numbers
 * of size 1. The scaled residual is the larger of the two deviations (the second as a root mean square per
 * point) divided by eps (m + 1).
 */
#include "common.h"

enum { JACOBI_OPT_SWEEPS };
enum { JACOBI_FLOPS = 10 };  /* per point and sweep: see sweep_row */

struct jacobi {
    MPI_Comm comm;
    long n, w;              /* inner points per edge; with the boundary: n + 2 */
    long lo, hi;            /* planes lo..hi-1 of n belong to this rank */
    int below, above;       /* the neighbours' ranks, or MPI_PROC_NULL */
    long sweeps;
    double *u, *next, *f;   /* (hi - lo + 2) planes of w x w; plane 0 and the last one are halo or boundary */
    double *sine[3];        /* sine[a-1][i] = sin(a pi i / (n+1)), i from 0 to n+1, exactly 0 at both ends */
    double change;          /* sum of squares of the last change, on all ranks */
};

static size_t plane_size(const struct jacobi *s)
{
    return (size_t)s->w * (size_t)s->w;
}

static double *row_of(const struct jacobi *s, double *field, long plane, long j)
{
    return field + (size_t)plane * plane_size(s) + (size_t)j * (size_t)s->w;
}

/* ---------------------------------------------------------------- computation */

/* One row of a sweep. Result: its sum of squared changes. */
static double sweep_row(long n, double *restrict out, const double *u, const double *south,
                        const double *north, const double *down, const double *up, const double *f)
{
    double sum = 0.0;

    for (long i = 1; i <= n; i++) {
        double v = (u[i - 1] + u[i + 1] + south[i] + north[i] + down[i] + up[i] + f[i]) * (1.0 / 6.0);
        double d = v - u[i];
        out[i] = v;
        sum += d * d;
    }
    return sum;
}

/* Sweep this rank's planes from u to next. Result: the sum of squared changes. */
static double sweep(struct jacobi *s)
{
    double sum = 0.0;

    for (long k = 1; k <= s->hi - s->lo; k++)
        for (long j = 1; j <= s->n; j++)
            sum += sweep_row(s->n, row_of(s, s->next, k, j), row_of(s, s->u, k, j), row_of(s, s->u, k, j - 1),
                             row_of(s, s->u, k, j + 1), row_of(s, s->u, k - 1, j), row_of(s, s->u, k + 1, j),
                             row_of(s, s->f, k, j));
    return sum;
}

/* ---------------------------------------------------------------- communication */

static void exchange(struct jacobi *s)
{
    int count = (int)plane_size(s);
    long last = s->hi - s->lo;

    MPI_Sendrecv(row_of(s, s->u, 1, 0), count, MPI_DOUBLE, s->below, 0,
                 row_of(s, s->u, last + 1, 0), count, MPI_DOUBLE, s->above, 0,
                 s->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row_of(s, s->u, last, 0), count, MPI_DOUBLE, s->above, 1,
                 row_of(s, s->u, 0, 0), count, MPI_DOUBLE, s->below, 1,
                 s->comm, MPI_STATUS_IGNORE);
}

/* ---------------------------------------------------------------- the kernel */

static int jacobi_allowed(const struct app *a)
{
    long lo, hi;

    if (a->N < a->size)
        return app_refuse(a, "N=%ld on %d processes: each process needs a plane; use N >= %d or fewer "
                          "processes", a->N, a->size, a->size);
    return app_divide(a, a->N, "planes", &lo, &hi);
}

static void jacobi_destroy(void *state)
{
    struct jacobi *s = state;

    app_free(s->u);
    app_free(s->next);
    free(s->f);
    for (int m = 0; m < 3; m++)
        free(s->sine[m]);
    free(s);
}

static void *jacobi_create(const struct app *a)
{
    struct jacobi *s = calloc(1, sizeof *s);
    size_t size;

    if (!s)
        return NULL;
    s->comm = a->comm;
    s->n = a->N;
    s->w = a->N + 2;
    s->sweeps = a->options[JACOBI_OPT_SWEEPS].value;
    if (app_divide(a, s->n, "planes", &s->lo, &s->hi)) {
        free(s);
        return NULL;
    }
    s->below = a->rank > 0 ? a->rank - 1 : MPI_PROC_NULL;
    s->above = a->rank < a->size - 1 ? a->rank + 1 : MPI_PROC_NULL;
    size = (size_t)(s->hi - s->lo + 2) * plane_size(s);
    /* Both copies keep the zeros of the boundary for ever; sweeps write inner points only. */
    s->u = app_alloc(a->arena, a->size, size, sizeof *s->u);
    s->next = app_alloc(a->arena, a->size, size, sizeof *s->next);
    s->f = calloc(size, sizeof *s->f);
    for (int m = 0; m < 3; m++)
        s->sine[m] = calloc((size_t)s->w, sizeof *s->sine[m]);
    if (!s->u || !s->next || !s->f || !s->sine[0] || !s->sine[1] || !s->sine[2]) {
        jacobi_destroy(s);
        return NULL;
    }
    for (int m = 0; m < 3; m++)
        for (long i = 1; i <= s->n; i++)
            s->sine[m][i] = sin((m + 1) * M_PI * (double)i / (double)(s->n + 1));
    return s;
}

static double mode_213(const struct jacobi *s, long i, long j, long k)
{
    return s->sine[1][i] * s->sine[0][j] * s->sine[2][k];
}

static double mode_111(const struct jacobi *s, long i, long j, long k)
{
    return s->sine[0][i] * s->sine[0][j] * s->sine[0][k];
}

static double angle(const struct jacobi *s)
{
    return M_PI / (double)(s->n + 1);
}

static void jacobi_prepare(const struct app *a, void *state)
{
    struct jacobi *s = state;
    double t = angle(s), lambda = 6.0 - 2.0 * (cos(2.0 * t) + cos(t) + cos(3.0 * t));

    (void)a;
    /* Fresh memory costs time when it is first touched: do it here, so that every run is timed alike. */
    memset(s->next, 0, (size_t)(s->hi - s->lo + 2) * plane_size(s) * sizeof *s->next);
    /* The halos too, so that the first sweep needs no exchange before it. */
    for (long k = 0; k <= s->hi - s->lo + 1; k++)
        for (long j = 1; j <= s->n; j++)
            for (long i = 1; i <= s->n; i++) {
                double m = mode_213(s, i, j, k + s->lo);
                row_of(s, s->u, k, j)[i] = m + mode_111(s, i, j, k + s->lo);
                row_of(s, s->f, k, j)[i] = lambda * m;
            }
}

static void jacobi_solve(const struct app *a, void *state)
{
    struct jacobi *s = state;
    struct app_pace pace = { 0 };
    double *swap;

    for (long m = 0; m < s->sweeps; m = app_next(&pace, m, s->sweeps)) {
        APP_WORK(JACOBI_FLOPS * (double)(s->hi - s->lo) * (double)s->n * (double)s->n, s->change = sweep(s));
        swap = s->u;
        s->u = s->next;
        s->next = swap;
        if (a->size > 1)
            exchange(s);
        app_allreduce(a, &s->change, 1, MPI_DOUBLE, MPI_SUM);
    }
}

static void jacobi_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct jacobi *s = state;
    double t = angle(s), decay = pow(cos(t), (double)s->sweeps), points = pow((double)s->n, 3.0);
    double rms = (1.0 - cos(t)) * pow(cos(t), (double)s->sweeps - 1.0) *
                 sqrt(pow(0.5 * (double)(s->n + 1), 3.0) / points);
    double worst = 0.0, scale = DBL_EPSILON * (double)(s->sweeps + 1);
    uint64_t sum = 0;

    if (a->spoil && a->rank == a->size - 1)
        row_of(s, s->u, 1, (s->n + 1) / 2)[(s->n + 1) / 2] += 1e-6;
    for (long k = 1; k <= s->hi - s->lo; k++)
        for (long j = 1; j <= s->n; j++)
            for (long i = 1; i <= s->n; i++) {
                double u = row_of(s, s->u, k, j)[i];
                long z = k + s->lo;
                worst = app_max_abs(worst, u - mode_213(s, i, j, z) - decay * mode_111(s, i, j, z));
                sum += app_hash((uint64_t)((z * s->w + j) * s->w + i), u);
            }
    app_allreduce(a, &worst, 1, MPI_DOUBLE, MPI_MAX);
    app_allreduce(a, &sum, 1, MPI_UINT64_T, MPI_SUM);
    worst = app_max_abs(worst, sqrt(s->change / points) - rms);
    v->residual = worst / scale;
    v->ok = v->residual < APP_RESIDUAL_MAX;
    snprintf(v->result, sizeof v->result, "checksum %016llx change %.9e", (unsigned long long)sum, s->change);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { "sweeps", 'i', 1, 1000000, 100, "Jacobi sweeps" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    /* A plane is one message: (N+2)^2 numbers must stay below 2^31. */
    const struct app_kernel kernel = {
        "jacobi", "Jacobi sweeps for the Poisson equation on N x N x N points", 1, 40000,
        jacobi_allowed, jacobi_create, jacobi_destroy, jacobi_prepare, jacobi_solve, jacobi_check
    };

    return app_main(&kernel, options, argc, argv);
}
