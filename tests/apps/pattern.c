/* pattern.c - messages of known number and size, and an imbalance of known size, for tests of watching
 *
 *   pattern N [rounds=R] [slow=RANK] [ms=T] [off] [threads]
 * Each of R rounds (default 3): T ms outside MPI (default 0; rank `slow` twice as long), then
 *   N doubles to the next rank of a ring by MPI_Isend, MPI_Irecv, MPI_Waitall on a communicator whose ranks are in the
 *   opposite order, N bytes the other way by a persistent request, MPI_Allreduce of 2 doubles, MPI_Bcast of N ints,
 *   MPI_Alltoall of N chars for each rank, MPI_Allgatherv of rank + 1 ints (MPI_IN_PLACE), a message to MPI_PROC_NULL.
 * off: MPI_Pcontrol(0) after the first round. threads: MPI_THREAD_MULTIPLE, the ring in a second thread.
 * Rank 0 prints "sum: S", which depends on every number received, and "time: T s".
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pattern {
    int N, rank, size;
    MPI_Comm reversed;
    MPI_Request fixed[2];
    double *out, *in, sum;
    char *small_out, *small_in, *all_out, *all_in;
    int *word, *shares, *counts, *places;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Asleep, so that the time does not depend on what else the machine does. */
static void compute(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

static void *ring(void *arg)
{
    struct pattern *p = arg;
    MPI_Request r[2];
    int me = p->size - 1 - p->rank, next = (me + 1) % p->size, before = (me + p->size - 1) % p->size;

    MPI_Irecv(p->in, p->N, MPI_DOUBLE, before, 1, p->reversed, &r[0]);
    MPI_Isend(p->out, p->N, MPI_DOUBLE, next, 1, p->reversed, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return NULL;
}

static void one_round(struct pattern *p, int threads)
{
    double two[2] = { p->rank + 1, 1 };
    pthread_t t;

    for (int i = 0; i < p->N; i++)
        p->out[i] = p->rank + 1e-3 * i;
    if (threads && !pthread_create(&t, NULL, ring, p))
        pthread_join(t, NULL);
    else
        ring(p);
    MPI_Startall(2, p->fixed);
    MPI_Waitall(2, p->fixed, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, two, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    p->word[0] = p->rank == 0 ? 42 : 0;
    MPI_Bcast(p->word, p->N, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(p->all_out, p->N, MPI_CHAR, p->all_in, p->N, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i <= p->rank; i++)
        p->shares[p->places[p->rank] + i] = p->rank + 1;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p->shares, p->counts, p->places, MPI_INT, MPI_COMM_WORLD);
    MPI_Send(p->out, p->N, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    p->sum += p->in[0] + p->in[p->N - 1] + p->small_in[0] + two[0] + two[1] + p->word[0] +
              p->all_in[(p->size - 1) * p->N] + p->shares[p->places[p->size - 1]];
}

static void *need(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);

    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return p;
}

static void set_up(struct pattern *p)
{
    size_t n = (size_t)p->N, size = (size_t)p->size;

    p->out = need(n, sizeof *p->out);
    p->in = need(n, sizeof *p->in);
    p->small_out = need(n, 1);
    p->small_in = need(n, 1);
    p->all_out = need(n * size, 1);
    p->all_in = need(n * size, 1);
    p->word = need(n, sizeof *p->word);
    p->shares = need(size * (size + 1) / 2, sizeof *p->shares);
    p->counts = need(size, sizeof *p->counts);
    p->places = need(size + 1, sizeof *p->places);
    memset(p->small_out, p->rank + 1, n);
    memset(p->all_out, p->rank + 7, n * size);
    for (int i = 0; i < p->size; i++) {
        p->counts[i] = i + 1;
        p->places[i + 1] = p->places[i] + i + 1;
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -p->rank, &p->reversed);
    MPI_Recv_init(p->small_in, p->N, MPI_CHAR, (p->rank + p->size - 1) % p->size, 2, MPI_COMM_WORLD,
                  &p->fixed[0]);
    MPI_Send_init(p->small_out, p->N, MPI_CHAR, (p->rank + 1) % p->size, 2, MPI_COMM_WORLD, &p->fixed[1]);
}

static int value_of(const char *word, const char *name, int *out)
{
    size_t n = strlen(name);

    if (strncmp(word, name, n) || word[n] != '=')
        return 0;
    *out = (int)strtol(word + n + 1, NULL, 10);
    return 1;
}

int main(int argc, char **argv)
{
    struct pattern p = { .N = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0 };
    int rounds = 3, slow = -1, ms = 0, off = 0, threads = 0, provided = MPI_THREAD_MULTIPLE;
    double begin;

    for (int i = 2; i < argc; i++) {
        off |= !strcmp(argv[i], "off");
        threads |= !strcmp(argv[i], "threads");
        if (!value_of(argv[i], "rounds", &rounds) && !value_of(argv[i], "slow", &slow))
            value_of(argv[i], "ms", &ms);
    }
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.size);
    if (p.N < 1 || provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    set_up(&p);
    begin = now();
    for (int i = 0; i < rounds; i++) {
        compute(p.rank == slow ? 2 * ms : ms);
        one_round(&p, threads);
        if (off)
            MPI_Pcontrol(0);
    }
    if (p.rank == 0)
        printf("sum: %.6f\ntime: %.6f s\n", p.sum, now() - begin);
    MPI_Request_free(&p.fixed[0]);
    MPI_Request_free(&p.fixed[1]);
    MPI_Comm_free(&p.reversed);
    MPI_Finalize();
    free(p.out), free(p.in), free(p.small_out), free(p.small_in), free(p.all_out), free(p.all_in);
    free(p.word), free(p.shares), free(p.counts), free(p.places);
    return 0;
}
