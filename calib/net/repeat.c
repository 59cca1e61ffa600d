/* repeat.c - a trial again and again, until its mean is known well enough */
#include "measure.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { TAG_READY = 1, TAG_MORE, TAG_DATA };
/* Repetitions are decided on after so many more, not after each: saying so takes a message. */
enum { BATCH = 5 };

static int known(struct net_bench *b, int n)
{
    double mean, median, sd, max;

    mean = net_summary(b->times, n, &median, &sd, &max);
    return n > 1 && net_student(n - 1) * sd <= b->set.precision * mean * sqrt(n);
}

/* ---------------------------------------------------------------- one repetition */

static double lead_both(struct net_bench *b, const struct net_trial *t, double *call)
{
    double begin = net_now(), end;

    MPI_Sendrecv(b->out, t->bytes, MPI_CHAR, t->follow[0], TAG_DATA, b->in, t->bytes, MPI_CHAR, t->follow[0], TAG_DATA,
                 b->comm, MPI_STATUS_IGNORE);
    end = net_now();
    *call = end - begin;
    return end - begin;
}

static double lead(struct net_bench *b, const struct net_trial *t, double *call)
{
    double begin, sent;

    if (t->both)
        return lead_both(b, t, call);
    for (int i = 0; i < t->nfollow; i++)
        MPI_Irecv(b->in + (size_t)i * (size_t)t->back, t->back, MPI_CHAR, t->follow[i], TAG_DATA, b->comm,
                  &b->requests[i]);
    begin = sent = net_now();
    for (int i = 0; i < t->nfollow; i++) {
        MPI_Send(b->out, t->bytes, MPI_CHAR, t->follow[i], TAG_DATA, b->comm);
        if (!i)
            sent = net_now();
    }
    *call = sent - begin;
    if (t->nfollow == 1)
        MPI_Wait(b->requests, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(t->nfollow, b->requests, MPI_STATUSES_IGNORE);
    return net_now() - begin;
}

static void follow(struct net_bench *b, const struct net_trial *t)
{
    double call, begin, took;

    if (t->both) {
        struct net_trial back = *t;

        back.follow = &t->lead;
        lead_both(b, &back, &call);
        return;
    }
    if (t->delay_s > 0) {
        MPI_Send(NULL, 0, MPI_CHAR, t->lead, TAG_READY, b->comm);   /* from now on the delay is running */
        usleep((useconds_t)ceil(t->delay_s * 1e6));
    }
    begin = net_now();
    MPI_Recv(b->in, t->bytes, MPI_CHAR, t->lead, TAG_DATA, b->comm, MPI_STATUS_IGNORE);
    took = net_now() - begin;
    if (t->delay_s > 0)
        memcpy(b->out, &took, sizeof took);
    MPI_Send(b->out, t->back, MPI_CHAR, t->lead, TAG_DATA, b->comm);
}

/* ---------------------------------------------------------------- all repetitions */

static void ready(struct net_bench *b, const struct net_trial *t)
{
    if (b->rank != t->lead) {
        MPI_Send(NULL, 0, MPI_CHAR, t->lead, TAG_READY, b->comm);
        return;
    }
    for (int i = 0; i < t->nfollow; i++)
        MPI_Recv(NULL, 0, MPI_CHAR, t->follow[i], TAG_READY, b->comm, MPI_STATUS_IGNORE);
}

/* A time that is not above 0, of an interval in which messages went over a network, is that of a clock that jumps: it
 * is left out. */
static int lead_batch(struct net_bench *b, const struct net_trial *t, int batch, int n)
{
    ready(b, t);
    for (int i = 0; i < batch; i++) {
        double call, time;

        if (t->delay_s > 0)
            MPI_Recv(NULL, 0, MPI_CHAR, t->follow[0], TAG_READY, b->comm, MPI_STATUS_IGNORE);
        time = lead(b, t, &call);
        if (n < 0 || !(time > 0) || call < 0)
            continue;
        if (t->delay_s > 0)
            memcpy(&time, b->in, sizeof time);
        b->times[n] = time;
        b->calls[n++] = call;
    }
    return n;
}

static void lead_all(struct net_bench *b, const struct net_trial *t, int least, int most, int warm,
                     struct net_times *out)
{
    int tried = least, n, more;
    double begin = net_now();

    if (warm)
        lead_batch(b, t, warm, -1);
    n = lead_batch(b, t, least, 0);
    while (most > least) {
        int late = net_now() - begin > b->set.trial_s;

        more = tried < most && !late && !known(b, n) ? (most - tried < BATCH ? most - tried : BATCH) : 0;
        for (int i = 0; i < t->nfollow; i++)
            MPI_Send(&more, 1, MPI_INT, t->follow[i], TAG_MORE, b->comm);
        if (!more)
            break;
        n = lead_batch(b, t, more, n);
        tried += more;
    }
    memset(out, 0, sizeof *out);
    out->n = n;
    net_summary(b->times, n, &out->median_s, &out->sd_s, &out->max_s);
    net_summary(b->calls, n, &out->call_s, &out->call_sd_s, &out->call_max_s);
}

static void follow_batch(struct net_bench *b, const struct net_trial *t, int batch)
{
    ready(b, t);
    for (int i = 0; i < batch; i++)
        follow(b, t);
}

static void follow_all(struct net_bench *b, const struct net_trial *t, int least, int most, int warm)
{
    int more = 0;

    if (warm)
        follow_batch(b, t, warm);
    follow_batch(b, t, least);
    while (most > least) {
        MPI_Recv(&more, 1, MPI_INT, t->lead, TAG_MORE, b->comm, MPI_STATUS_IGNORE);
        if (!more)
            break;
        follow_batch(b, t, more);
    }
}

int net_try(struct net_bench *b, const struct net_trial *t, struct net_times *out)
{
    int most = t->fixed ? t->fixed : b->set.most, least = t->fixed ? t->fixed : t->least ? t->least : b->set.least;
    int warm = t->both && !b->set.warm ? 1 : b->set.warm;   /* of a row, the first did not begin at once */

    least = least > most ? most : least;
    if (b->rank != t->lead) {
        follow_all(b, t, least, most, warm);
        return 0;
    }
    lead_all(b, t, least, most, warm, out);
    return out->n > 0;
}
