/* ring.c - all pairs of N points round a ring of processes: the skeleton of paper 004's application
 *
 * Each process holds N/P points of RING_DIM numbers and sends them round; between two moves it counts the distances
 * between its own points and those that visit it (paper 004, section 3 and Fig. 2). After floor((P-1)/2) moves all
 * pairs are done when P is odd; when it is even, half of the processes get the points of their opposites. The
 * histograms are summed at the end.
 *   computation    N (N-1) / 2 pairs over the processes      communication  (P-1)/2 messages of 8 m N/P bytes each
 * Only a skeleton (tests/apps/play.h): it counts the operations and does none.
 */
#include "../apps/common.h"

#ifndef HRUN_SMPI
#error "ring.c is a skeleton: build it with smpicc -DHRUN_SMPI"
#endif

/* Numbers of a point; operations of a pair: difference, square and sum for each number, the root and the class. */
enum { RING_DIM = 16, RING_FLOPS = 3 * RING_DIM + 2, RING_CLASSES = 256 };

struct ring {
    double *own, *visiting, *coming;
    double classes[RING_CLASSES];
};

static long points_of(const struct app *a, int rank)
{
    long lo, hi;

    app_part(a->N, rank, a->size, &lo, &hi);
    return hi - lo;
}

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
    free(s);
}

static void *ring_create(const struct app *a)
{
    struct ring *s = calloc(1, sizeof *s);
    size_t count = (size_t)RING_DIM * (size_t)(a->N / a->size + 1);

    if (!s)
        return NULL;
    s->own = app_alloc(a->arena, a->size, count, sizeof *s->own);
    s->visiting = app_alloc(a->arena, a->size, count, sizeof *s->visiting);
    s->coming = app_alloc(a->arena, a->size, count, sizeof *s->coming);
    if (!s->own || !s->visiting || !s->coming) {
        ring_destroy(s);
        return NULL;
    }
    return s;
}

static void ring_solve(const struct app *a, void *state)
{
    struct ring *s = state;
    int next = (a->rank + 1) % a->size, previous = (a->rank + a->size - 1) % a->size, half = a->size / 2, from;
    double own = (double)points_of(a, a->rank), *swap;

    app_play_flops(RING_FLOPS * own * (own - 1.0) / 2.0 + 1.0);
    for (int l = 1; l <= (a->size - 1) / 2; l++) {
        from = (a->rank + a->size - l) % a->size;
        MPI_Sendrecv(l == 1 ? s->own : s->visiting,
                     RING_DIM * (int)points_of(a, (from + 1) % a->size), MPI_DOUBLE, next, l,
                     s->coming, RING_DIM * (int)points_of(a, from), MPI_DOUBLE, previous, l, a->comm,
                     MPI_STATUS_IGNORE);
        swap = s->visiting;
        s->visiting = s->coming;
        s->coming = swap;
        app_play_flops(RING_FLOPS * own * (double)points_of(a, from));
    }
    if (a->size % 2 == 0 && a->rank >= half)
        MPI_Send(s->own, RING_DIM * (int)points_of(a, a->rank), MPI_DOUBLE, a->rank - half, 0, a->comm);
    if (a->size % 2 == 0 && a->rank < half) {
        MPI_Recv(s->coming, RING_DIM * (int)points_of(a, a->rank + half), MPI_DOUBLE, a->rank + half, 0, a->comm,
                 MPI_STATUS_IGNORE);
        app_play_flops(RING_FLOPS * own * (double)points_of(a, a->rank + half));
    }
    app_allreduce(a, s->classes, RING_CLASSES, MPI_DOUBLE, MPI_SUM);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { NULL, 0, 0, 0, 0, NULL }
    };
    const struct app_kernel kernel = {
        "ring", "all pairs of N points round a ring (skeleton)", 1, 1000000,
        ring_allowed, ring_create, ring_destroy, NULL, ring_solve, NULL
    };

    return app_main(&kernel, options, argc, argv);
}
