/* hybrid.c - the product C = A B of two N x N matrices, by processes and threads
 *
 * Each process has a slab of rows of A, B and C. The slabs of B go round the processes as in a ring; between two
 * moves every process multiplies, its threads sharing the rows of its slab of C.
 *   computation    2 N^3 / P operations over the threads      communication  P - 1 slabs of N^2 / P numbers
 * Memory of one process in bytes, a slab holding ceil(N/P) rows at most:
 *   32 ceil(N/P) N                                            A, C, and B twice, for the slab that comes
 *
 * Check: A and B hold whole numbers from -4 to 4, so C is exact as long as 16 N < 2^53, and for a vector x of whole
 * numbers C x must be A (B x) to the last bit. x has no zero, so a single wrong number of C never goes unnoticed.
 * With --check 1 each process also finds out to how many cores it is bound, and whether it has as many threads.
 */
#include "common.h"

#include <omp.h>
#include <sched.h>

enum { HYBRID_OPT_CHECK };

/* A tile of BLOCK rows of B (of 8 N bytes each) is used for all rows of C while it is in the cache. */
enum { BLOCK = 32, CPUS = 8192 };

struct hybrid {
    long n, lo, hi;         /* rows lo..hi-1 belong to this rank */
    double *a, *b, *coming, *c;
    int threads;            /* that the product really had */
};

static int hybrid_allowed(const struct app *a)
{
    if (a->N < a->size)
        return app_refuse(a, "N=%ld on %d processes: each process needs a row; use N >= %d or fewer processes", a->N,
                          a->size, a->size);
    return APP_OK;
}

static void hybrid_destroy(void *state)
{
    struct hybrid *s = state;

    free(s->a);
    free(s->b);
    free(s->coming);
    free(s->c);
    free(s);
}

/* Whole numbers from -4 to 4. */
static double entry(uint64_t stream, long i, long j)
{
    return floor((app_random(stream, (uint64_t)i << 32 | (uint64_t)j) + 0.5) * 9.0) - 4.0;
}

/* The vector of the check: whole numbers from 1 to 9. */
static double weight(long i)
{
    return 1.0 + floor((app_random(3, (uint64_t)i) + 0.5) * 9.0);
}

static void *hybrid_create(const struct app *a)
{
    struct hybrid *s = calloc(1, sizeof *s);
    size_t slab = (size_t)((a->N + a->size - 1) / a->size) * (size_t)a->N;

    if (!s)
        return NULL;
    s->n = a->N;
    app_part(s->n, a->rank, a->size, &s->lo, &s->hi);
    s->a = calloc(slab, sizeof *s->a);
    s->b = calloc(slab, sizeof *s->b);
    s->coming = calloc(slab, sizeof *s->coming);
    s->c = calloc(slab, sizeof *s->c);
    if (!s->a || !s->b || !s->coming || !s->c) {
        hybrid_destroy(s);
        return NULL;
    }
    return s;
}

static void hybrid_prepare(const struct app *a, void *state)
{
    struct hybrid *s = state;

    (void)a;
    for (long i = s->lo; i < s->hi; i++)
        for (long j = 0; j < s->n; j++) {
            size_t at = (size_t)(i - s->lo) * (size_t)s->n + (size_t)j;
            s->a[at] = entry(1, i, j);
            s->b[at] = entry(2, i, j);
            s->c[at] = 0.0;
        }
}

/* ---------------------------------------------------------------- computation */

/* Add to row i of C (from 0) what rows first..last-1 of B give; b holds B from row lo on. */
static void add_rows(struct hybrid *s, long i, const double *b, long lo, long first, long last)
{
    double *restrict c = s->c + (size_t)i * (size_t)s->n;
    const double *a = s->a + (size_t)i * (size_t)s->n;

    for (long k = first; k < last; k++) {
        const double *row = b + (size_t)(k - lo) * (size_t)s->n, f = a[k];
        for (long j = 0; j < s->n; j++)
            c[j] += f * row[j];
    }
}

/* C += A B for rows lo..hi-1 of B. */
static void multiply(struct hybrid *s, long lo, long hi)
{
    int threads = 1;

    #pragma omp parallel
    {
        #pragma omp single nowait
        threads = omp_get_num_threads();
        for (long first = lo; first < hi; first += BLOCK) {
            #pragma omp for schedule(static) nowait
            for (long i = 0; i < s->hi - s->lo; i++)
                add_rows(s, i, s->b, lo, first, first + BLOCK < hi ? first + BLOCK : hi);
        }
    }
    s->threads = threads;
}

/* ---------------------------------------------------------------- communication */

/* The slab goes to the rank below, that of the rank above comes. owner: whose slab we have; becomes whose came. */
static void move_slab(const struct app *a, struct hybrid *s, int *owner)
{
    int below = (a->rank + a->size - 1) % a->size, above = (a->rank + 1) % a->size, next = (*owner + 1) % a->size;
    long lo, hi, next_lo, next_hi;
    double *swap = s->b;

    app_part(s->n, *owner, a->size, &lo, &hi);
    app_part(s->n, next, a->size, &next_lo, &next_hi);
    MPI_Sendrecv(s->b, (int)((hi - lo) * s->n), MPI_DOUBLE, below, 0, s->coming, (int)((next_hi - next_lo) * s->n),
                 MPI_DOUBLE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s->b = s->coming;
    s->coming = swap;
    *owner = next;
}

static void hybrid_solve(const struct app *a, void *state)
{
    struct hybrid *s = state;
    int owner = a->rank;

    for (int step = 0; step < a->size; step++) {
        long lo, hi;

        app_part(s->n, owner, a->size, &lo, &hi);
        multiply(s, lo, hi);
        if (step + 1 < a->size)
            move_slab(a, s, &owner);
    }
}

/* ---------------------------------------------------------------- check */

/* The first hardware thread of a CPU's core; the CPU itself where the system does not say. */
static int core_of(int cpu)
{
    char path[128];
    FILE *f;
    int first;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    f = fopen(path, "r");
    if (!f || fscanf(f, "%d", &first) != 1 || first < 0 || first >= CPUS)
        first = cpu;
    if (f)
        fclose(f);
    return first;
}

/* How many cores the process is bound to. -1: unknown. */
static int own_cores(void)
{
    cpu_set_t *set = CPU_ALLOC(CPUS);
    size_t size = CPU_ALLOC_SIZE(CPUS);
    char counted[CPUS] = { 0 };
    int cores = 0;

    if (!set || sched_getaffinity(0, size, set))
        cores = -1;
    for (int cpu = 0; cpu < CPUS && cores >= 0; cpu++)
        if (CPU_ISSET_S(cpu, size, set) && !counted[core_of(cpu)]++)
            cores++;
    CPU_FREE(set);
    return cores;
}

/* As many threads as cores, on every rank? Those that have not say so. */
static int check_threads(const struct app *a, const struct hybrid *s)
{
    int cores = own_cores(), good = cores == omp_get_max_threads() && cores == s->threads;

    if (!good)
        fprintf(stderr, "hybrid: rank %d is bound to %d cores and has %d threads (%d in the product)\n", a->rank, cores,
                omp_get_max_threads(), s->threads);
    app_allreduce(a, &good, 1, MPI_INT, MPI_MIN);
    return good;
}

static void hybrid_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct hybrid *s = state;
    double *bx = calloc((size_t)s->n, sizeof *bx), worst = bx ? 0.0 : NAN;
    int threads = s->threads;
    uint64_t sum = 0;

    if (a->spoil && a->rank == a->size - 1)
        s->c[0] += 1.0;
    for (long i = 0; bx && i < s->n; i++)
        for (long j = 0; j < s->n; j++)
            bx[i] += entry(2, i, j) * weight(j);
    for (long i = s->lo; bx && i < s->hi; i++) {
        double abx = 0.0, cx = 0.0;

        for (long j = 0; j < s->n; j++) {
            size_t at = (size_t)(i - s->lo) * (size_t)s->n + (size_t)j;
            abx += s->a[at] * bx[j];
            cx += s->c[at] * weight(j);
            sum += app_hash((uint64_t)(i * s->n + j), s->c[at]);
        }
        worst = app_max_abs(worst, cx - abx);
    }
    free(bx);
    app_allreduce(a, &worst, 1, MPI_DOUBLE, MPI_MAX);
    app_allreduce(a, &sum, 1, MPI_UINT64_T, MPI_SUM);
    app_allreduce(a, &threads, 1, MPI_INT, MPI_SUM);
    v->residual = worst;
    v->ok = worst == 0.0;
    if (a->options[HYBRID_OPT_CHECK].value && !check_threads(a, s))
        v->ok = 0;
    snprintf(v->result, sizeof v->result, "checksum %016llx threads %d", (unsigned long long)sum, threads);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { "check", 'c', 0, 1, 0, "1: each process must have as many threads as cores" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    /* A slab is one message: N^2 / P numbers must stay below 2^31. */
    const struct app_kernel kernel = {
        "hybrid", "product of two N x N matrices by processes and threads", 1, 40000,
        hybrid_allowed, hybrid_create, hybrid_destroy, hybrid_prepare, hybrid_solve, hybrid_check
    };

    return app_main_as(MPI_THREAD_FUNNELED, &kernel, options, argc, argv);
}
