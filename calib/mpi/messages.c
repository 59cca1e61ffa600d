/* messages.c - one repetition of a trial; see messages.h for the contracts */
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double mpi_now(void)
{
#ifdef HRUN_SMPI
    return MPI_Wtime();
#else
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

void *mpi_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p) {
        fputs("hrun: out of memory for the measurement\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 125);
        abort();
    }
    return p;
}

void mpi_await(MPI_Request *request, double nap_s)
{
#ifdef HRUN_SMPI
    (void)nap_s;
    MPI_Wait(request, MPI_STATUS_IGNORE);
#else
    int here;

    for (MPI_Test(request, &here, MPI_STATUS_IGNORE); !here; MPI_Test(request, &here, MPI_STATUS_IGNORE))
        nanosleep(&(struct timespec){ 0, (long)(1e9 * nap_s) }, NULL);
#endif
}

char *mpi_gather_text(MPI_Comm comm, const void *text, size_t len, size_t *total)
{
    int n, rank, bytes = (int)len, *sizes, *at;
    char *all;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &rank);
    sizes = mpi_alloc(2 * (size_t)n, sizeof *sizes);
    at = sizes + n;
    *total = 0;
    MPI_Gather(&bytes, 1, MPI_INT, sizes, 1, MPI_INT, 0, comm);
    for (int r = 0; r < n; *total += (size_t)sizes[r++])
        at[r] = (int)*total;
    all = rank ? NULL : mpi_alloc(*total + 1, 1);
    MPI_Gatherv(text, bytes, MPI_CHAR, all, sizes, at, MPI_CHAR, 0, comm);
    free(sizes);
    return all;
}

char (*mpi_host_names(MPI_Comm comm))[HOST_NAME]
{
    char mine[MPI_MAX_PROCESSOR_NAME > HOST_NAME ? MPI_MAX_PROCESSOR_NAME : HOST_NAME] = { 0 }, (*names)[HOST_NAME];
    int n, len;

    MPI_Comm_size(comm, &n);
    names = mpi_alloc((size_t)n, sizeof *names);
    MPI_Get_processor_name(mine, &len);
    mine[HOST_NAME - 1] = 0;
    MPI_Allgather(mine, HOST_NAME, MPI_CHAR, names, HOST_NAME, MPI_CHAR, comm);
    return names;
}

int mpi_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double lead_both(const struct message_buffers *m, const struct net_trial *t, double *call)
{
    double begin = mpi_now(), end;

    MPI_Sendrecv(m->out, t->bytes, MPI_CHAR, t->follow[0], MESSAGES_DATA, m->in, t->bytes, MPI_CHAR, t->follow[0],
                 MESSAGES_DATA, m->comm, MPI_STATUS_IGNORE);
    end = mpi_now();
    *call = end - begin;
    return end - begin;
}

/* Bytes to (bytes_there) or from (bytes_back) follower i. */
static int bytes_there(const struct net_trial *t, int i)
{
    return t->bytes && t->second && i == 1 ? t->second : t->bytes;
}

static int bytes_back(const struct net_trial *t, int i)
{
    return t->back && t->second && i == 1 ? t->second : t->back;
}

double messages_lead(const struct message_buffers *m, const struct net_trial *t, double *call)
{
    double begin, sent;

    if (t->both)
        return lead_both(m, t, call);
    for (int i = 0; i < t->nfollow && !t->in_turn; i++)
        MPI_Irecv(m->in + (size_t)i * (size_t)t->back, bytes_back(t, i), MPI_CHAR, t->follow[i], MESSAGES_DATA, m->comm,
                  &m->requests[i]);
    begin = sent = mpi_now();
    for (int i = 0; i < t->nfollow; i++) {
        MPI_Send(m->out, bytes_there(t, i), MPI_CHAR, t->follow[i], MESSAGES_DATA, m->comm);
        if (!i)
            sent = mpi_now();
    }
    *call = sent - begin;
    for (int i = 0; i < t->nfollow && t->in_turn; i++)
        MPI_Recv(m->in + (size_t)i * (size_t)t->back, bytes_back(t, i), MPI_CHAR, t->follow[i], MESSAGES_DATA, m->comm,
                 MPI_STATUS_IGNORE);
    if (t->in_turn)
        return mpi_now() - begin;
    if (t->nfollow == 1)
        MPI_Wait(m->requests, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(t->nfollow, m->requests, MPI_STATUSES_IGNORE);
    return mpi_now() - begin;
}

void messages_follow(const struct message_buffers *m, const struct net_trial *t)
{
    int me = t->nfollow > 1 && m->rank == t->follow[1];
    double call, begin, took;

    if (t->both) {
        struct net_trial back = *t;

        back.follow = &t->lead;
        lead_both(m, &back, &call);
        return;
    }
    if (t->delay_s > 0) {
        MPI_Send(NULL, 0, MPI_CHAR, t->lead, MESSAGES_READY, m->comm);   /* lead's send and the delay begin now */
        usleep((useconds_t)ceil(t->delay_s * 1e6));
    }
    begin = mpi_now();
    MPI_Recv(m->in, bytes_there(t, me), MPI_CHAR, t->lead, MESSAGES_DATA, m->comm, MPI_STATUS_IGNORE);
    took = mpi_now() - begin;
    if (t->delay_s > 0)
        memcpy(m->out, &took, sizeof took);
    MPI_Send(m->out, bytes_back(t, me), MPI_CHAR, t->lead, MESSAGES_DATA, m->comm);
}
