/* mg.c - V-cycles of a multigrid solver on N x N points in strips of rows: the skeleton of paper 001's kind of code
 *
 * On each grid two sweeps before and two after the correction from the next coarser grid, which has half as many rows
 * and columns; an exchange of one row with each neighbour before every sweep and transfer; the norm of the residual
 * over all processes once per cycle. The coarsest grid still gives each process a row; there more sweeps stand in for
 * a direct solution.
 *   computation    MG_CYCLES 4/3 N^2/P points      communication  10 exchanges per grid and cycle, log2(N/P) grids
 * Only a skeleton (tests/apps/play.h): it counts the operations and does none.
 */
#include "../apps/common.h"

#ifndef HRUN_SMPI
#error "mg.c is a skeleton: build it with smpicc -DHRUN_SMPI"
#endif

enum { MG_OPT_CYCLES };
enum { MG_SWEEPS = 2, MG_SWEEPS_COARSEST = 16, MG_COARSEST = 4 };
/* Operations per point: a sweep of the five-point stencil; residual and restriction; interpolation and correction. */
enum { MG_FLOPS_SWEEP = 7, MG_FLOPS_RESTRICT = 12, MG_FLOPS_PROLONG = 4, MG_FLOPS_NORM = 9 };

struct mg {
    double *row[4];         /* N numbers each: to and from the neighbours */
};

static int mg_allowed(const struct app *a)
{
    return a->N < 2 * a->size ? app_refuse(a, "N=%ld on %d processes: each needs two rows", a->N, a->size) : APP_OK;
}

static void mg_destroy(void *state)
{
    struct mg *s = state;

    for (int i = 0; i < 4; i++)
        app_free(s->row[i]);
    free(s);
}

static void *mg_create(const struct app *a)
{
    struct mg *s = calloc(1, sizeof *s);
    int missing = 0;

    if (!s)
        return NULL;
    for (int i = 0; i < 4; i++) {
        s->row[i] = app_alloc(a->arena, a->size, (size_t)a->N, sizeof *s->row[i]);
        missing |= !s->row[i];
    }
    if (!missing)
        return s;
    mg_destroy(s);
    return NULL;
}

static void exchange(const struct app *a, struct mg *s, long n)
{
    int below = a->rank > 0 ? a->rank - 1 : MPI_PROC_NULL, above = a->rank < a->size - 1 ? a->rank + 1 : MPI_PROC_NULL;

    if (a->size == 1)
        return;
    MPI_Sendrecv(s->row[0], (int)n, MPI_DOUBLE, below, 0, s->row[1], (int)n, MPI_DOUBLE, above, 0, a->comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(s->row[2], (int)n, MPI_DOUBLE, above, 1, s->row[3], (int)n, MPI_DOUBLE, below, 1, a->comm,
                 MPI_STATUS_IGNORE);
}

/* `times` passes over the own points of the grid with n rows. */
static void pass(const struct app *a, struct mg *s, long n, int times, double flops)
{
    long lo, hi;

    app_part(n, a->rank, a->size, &lo, &hi);
    for (int i = 0; i < times; i++) {
        exchange(a, s, n);
        app_play_flops(flops * (double)(hi - lo) * (double)n);
    }
}

static void cycle(const struct app *a, struct mg *s, long n)
{
    if (n / 2 < a->size || n / 2 < MG_COARSEST) {
        pass(a, s, n, MG_SWEEPS_COARSEST, MG_FLOPS_SWEEP);
        return;
    }
    pass(a, s, n, MG_SWEEPS, MG_FLOPS_SWEEP);
    pass(a, s, n, 1, MG_FLOPS_RESTRICT);
    cycle(a, s, n / 2);
    pass(a, s, n, 1, MG_FLOPS_PROLONG);
    pass(a, s, n, MG_SWEEPS, MG_FLOPS_SWEEP);
}

static void mg_solve(const struct app *a, void *state)
{
    long cycles = a->options[MG_OPT_CYCLES].value;
    struct app_pace pace = { 0 };
    struct mg *s = state;
    double norm = 0.0;

    for (long i = 0; i < cycles; i = app_next(&pace, i, cycles)) {
        cycle(a, s, a->N);
        pass(a, s, a->N, 1, MG_FLOPS_NORM);
        app_allreduce(a, &norm, 1, MPI_DOUBLE, MPI_SUM);
    }
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { "cycles", 'c', 1, 1000000, 10, "V-cycles" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    const struct app_kernel kernel = {
        "mg", "multigrid V-cycles on N x N points (skeleton)", 8, 100000,
        mg_allowed, mg_create, mg_destroy, NULL, mg_solve, NULL
    };

    return app_main(&kernel, options, argc, argv);
}
