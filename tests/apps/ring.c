/* ring.c - distances between N points, counted by classes, by a ring of processes: paper 004's application
 *
 * The points are RING_DIM successive values of the Henon series each, normalised to the unit cube. Every process holds
 * N/P of them and sends what it has round the ring; between two moves it counts the distances between its own points
 * and those that visit it (paper 004, section 3 and Fig. 2). After floor((P-1)/2) moves all pairs are done when P is
 * odd; when it is even, half of the processes get the points of their opposites. The histograms are summed at the end.
 * With --near k only pairs nearer than 2^-k (of the cube's edge) count: own points then stand in linked lists, one for
 * each box of a mesh of 2^k boxes along two dimensions, and a visitor meets those of the nine boxes around it alone.
 *   computation    f N (N-1) / 2 pairs over the processes, f being the share of the pairs in neighbouring boxes
 *   communication  (P-1)/2 messages of 8 m N/P bytes each, m being the numbers of a point
 * Memory of one process in bytes, n = N/P:
 *   3 * 8 m n        own points, visiting ones, coming ones
 *   4 n + 4 * 4^k    lists and their heads
 * Check: the histogram of up to RING_CHECKED points is that of all pairs, one after the other; of more points, where
 * all pairs count, there are N (N-1) / 2 of them.
 */
#include "common.h"

enum { RING_OPT_DIM, RING_OPT_NEAR };
enum { RING_CLASSES = 256, RING_CHECKED = 4000, RING_SAMPLE = 1024 };

struct ring {
    int dim, boxes;             /* numbers of a point; boxes along each of two dimensions */
    double limit;               /* the distances that count are below it */
    double share;               /* of skeletons: f */
    double *own, *visiting, *coming;
    int *head, *next;           /* lists of own points: boxes * boxes, and a number of points; -1 ends one */
    double classes[RING_CLASSES];
};

static long points_of(const struct app *a, int rank)
{
    long lo, hi;

    app_part(a->N, rank, a->size, &lo, &hi);
    return hi - lo;
}

/* ---------------------------------------------------------------- points */

/* Points first .. first+count-1 into out: the series stays within 1.3 of 0, and begins behind its first steps. */
static void make_points(int dim, long first, long count, double *out)
{
    double x = 0.1, before = 0.0;

    for (long t = -100; t < first + count + dim; t++) {
        double next = 1.0 - 1.4 * x * x + 0.3 * before;

        for (int d = 0; d < dim && t - first - d >= 0; d++)
            if (t - first - d < count)
                out[(t - first - d) * dim + d] = (x + 1.3) / 2.6;
        before = x;
        x = next;
    }
}

/* ---------------------------------------------------------------- computation */

static int box_along(const struct ring *s, double x)
{
    int b = (int)(x * s->boxes);

    return b < s->boxes ? b : s->boxes - 1;
}

static void count_pair(struct ring *s, const double *p, const double *q)
{
    double sum = 0.0, d;

    for (int k = 0; k < s->dim; k++)
        sum += (p[k] - q[k]) * (p[k] - q[k]);
    d = sqrt(sum);
    if (d < s->limit)
        s->classes[(int)(d / s->limit * RING_CLASSES)] += 1.0;
}

/* Count the pairs of point p with the listed ones of the boxes around it. Result: how many pairs that were. */
static long visit(struct ring *s, const double *p)
{
    int i = box_along(s, p[0]), j = box_along(s, p[1]);
    long met = 0;

    for (int u = i > 0 ? i - 1 : 0; u <= i + 1 && u < s->boxes; u++)
        for (int v = j > 0 ? j - 1 : 0; v <= j + 1 && v < s->boxes; v++)
            for (int o = s->head[u * s->boxes + v]; o >= 0; o = s->next[o], met++)
                count_pair(s, p, s->own + (size_t)o * (size_t)s->dim);
    return met;
}

/* Phase one: list own points one by one, each behind the pairs with those before it. */
static long count_own(struct ring *s, long n)
{
    long met = 0;

    for (long b = 0; b < (long)s->boxes * s->boxes; b++)
        s->head[b] = -1;
    for (long o = 0; o < n; o++) {
        const double *p = s->own + o * s->dim;
        int *head = &s->head[box_along(s, p[0]) * s->boxes + box_along(s, p[1])];

        met += visit(s, p);
        s->next[o] = *head;
        *head = (int)o;
    }
    return met;
}

static void count_visitors(struct ring *s, const double *points, long n)
{
    for (long o = 0; o < n; o++)
        visit(s, points + o * s->dim);
}

/* Operations of so many pairs: difference, square and sum for each number, the root and the class. */
static double pair_flops(const struct ring *s, double pairs)
{
    return (3 * s->dim + 2) * s->share * pairs;
}

/* ---------------------------------------------------------------- set up */

static int ring_allowed(const struct app *a)
{
    return a->N < a->size ? app_refuse(a, "N=%ld on %d processes: each needs a point", a->N, a->size) : APP_OK;
}

static void ring_destroy(void *state)
{
    struct ring *s = state;

    app_free(s->own);
    app_free(s->visiting);
    app_free(s->coming);
    free(s->head);
    free(s->next);
    free(s);
}

/* f of a skeleton: of a sample of the points, counted. 0, or -1 without memory. */
static int measure_share(struct ring *s)
{
    double *points = calloc((size_t)RING_SAMPLE * (size_t)s->dim, sizeof *points), *own = s->own;

    s->share = 1.0;
    if (!points || s->boxes == 1) {
        free(points);
        return s->boxes == 1 ? 0 : -1;
    }
    make_points(s->dim, 0, RING_SAMPLE, points);
    s->own = points;
    s->share = (double)count_own(s, RING_SAMPLE) / (0.5 * RING_SAMPLE * (RING_SAMPLE - 1));
    s->own = own;
    free(points);
    return 0;
}

static void *ring_create(const struct app *a)
{
    struct ring *s = calloc(1, sizeof *s);
    size_t points = (size_t)(a->N / a->size + 1), listed = points > RING_SAMPLE ? points : RING_SAMPLE, count;

    if (!s)
        return NULL;
    s->dim = (int)a->options[RING_OPT_DIM].value;
    s->boxes = 1 << a->options[RING_OPT_NEAR].value;
    s->limit = s->boxes > 1 ? 1.0 / s->boxes : sqrt(s->dim);
    count = points * (size_t)s->dim;
    s->own = app_alloc(a->arena, a->size, count, sizeof *s->own);
    s->visiting = app_alloc(a->arena, a->size, count, sizeof *s->visiting);
    s->coming = app_alloc(a->arena, a->size, count, sizeof *s->coming);
    s->head = calloc((size_t)s->boxes * (size_t)s->boxes, sizeof *s->head);
    s->next = calloc(listed, sizeof *s->next);
    if (!s->own || !s->visiting || !s->coming || !s->head || !s->next || (APP_PLAYED && measure_share(s))) {
        ring_destroy(s);
        return NULL;
    }
    return s;
}

static void ring_prepare(const struct app *a, void *state)
{
    struct ring *s = state;
    long lo, hi;

    app_part(a->N, a->rank, a->size, &lo, &hi);
    make_points(s->dim, lo, hi - lo, s->own);
    memset(s->classes, 0, sizeof s->classes);
}

/* ---------------------------------------------------------------- the ring */

/* Send what has come before (at first the own points) to the next process, and take what the one before has. */
static void move_points(const struct app *a, struct ring *s, int step)
{
    int next = (a->rank + 1) % a->size, previous = (a->rank + a->size - 1) % a->size;
    int from = (a->rank + a->size - step) % a->size;
    double *swap;

    MPI_Sendrecv(step == 1 ? s->own : s->visiting, s->dim * (int)points_of(a, (from + 1) % a->size), MPI_DOUBLE, next,
                 step, s->coming, s->dim * (int)points_of(a, from), MPI_DOUBLE, previous, step, a->comm,
                 MPI_STATUS_IGNORE);
    swap = s->visiting;
    s->visiting = s->coming;
    s->coming = swap;
}

static void ring_solve(const struct app *a, void *state)
{
    struct ring *s = state;
    int half = a->size / 2, mine = (int)points_of(a, a->rank), from;
    double own = (double)mine;

    APP_WORK(pair_flops(s, own * (own - 1.0) / 2.0) + 1.0, count_own(s, mine));
    for (int l = 1; l <= (a->size - 1) / 2; l++) {
        from = (a->rank + a->size - l) % a->size;
        move_points(a, s, l);
        APP_WORK(pair_flops(s, own * (double)points_of(a, from)), count_visitors(s, s->visiting, points_of(a, from)));
    }
    if (a->size % 2 == 0 && a->rank >= half)
        MPI_Send(s->own, s->dim * mine, MPI_DOUBLE, a->rank - half, 0, a->comm);
    if (a->size % 2 == 0 && a->rank < half) {
        from = a->rank + half;
        MPI_Recv(s->coming, s->dim * (int)points_of(a, from), MPI_DOUBLE, from, 0, a->comm, MPI_STATUS_IGNORE);
        APP_WORK(pair_flops(s, own * (double)points_of(a, from)), count_visitors(s, s->coming, points_of(a, from)));
    }
    app_allreduce(a, s->classes, RING_CLASSES, MPI_DOUBLE, MPI_SUM);
}

/* ---------------------------------------------------------------- check */

/* How far the histogram is from that of all pairs, one after the other: the sum of the differences; -1 without
 * memory. */
static double differences(const struct app *a, const struct ring *s)
{
    struct ring all = *s;
    double sum = 0.0, *points = calloc((size_t)a->N * (size_t)s->dim, sizeof *points);

    if (!points)
        return -1.0;
    make_points(s->dim, 0, a->N, points);
    memset(all.classes, 0, sizeof all.classes);
    for (long i = 0; i < a->N; i++)
        for (long j = 0; j < i; j++)
            count_pair(&all, points + i * s->dim, points + j * s->dim);
    for (int c = 0; c < RING_CLASSES; c++)
        sum += fabs(all.classes[c] - s->classes[c]);
    free(points);
    return sum;
}

static void ring_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct ring *s = state;
    double pairs = 0.0;
    uint64_t hash = 0;

    s->classes[0] += a->spoil;
    for (int c = 0; c < RING_CLASSES; c++) {
        pairs += s->classes[c];
        hash += app_hash((uint64_t)c, s->classes[c]);
    }
    if (a->N <= RING_CHECKED)
        v->residual = differences(a, s);
    else if (s->boxes == 1)
        v->residual = fabs(pairs - 0.5 * (double)a->N * (double)(a->N - 1));
    v->ok = v->residual == 0.0;
    snprintf(v->result, sizeof v->result, "pairs %.0f hash %016llx", pairs, (unsigned long long)hash);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        [RING_OPT_DIM] = { "dim", 'm', 2, 64, 10, "numbers of a point" },
        [RING_OPT_NEAR] = { "near", 'e', 0, 9, 0, "only pairs nearer than 2^-K of the cube's edge; 0: all" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    const struct app_kernel kernel = {
        "ring", "distances between N points, counted by a ring of processes", 1, 1000000,
        ring_allowed, ring_create, ring_destroy, ring_prepare, ring_solve, ring_check
    };

    return app_main(&kernel, options, argc, argv);
}
