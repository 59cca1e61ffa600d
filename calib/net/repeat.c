/* repeat.c - a trial again and again, until its mean is known well enough */
#include "measure.h"

#include <math.h>
#include <string.h>
#include <time.h>
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

/* To, or from, follower i. */
static int bytes_there(const struct net_trial *t, int i)
{
    return t->bytes && t->second && i == 1 ? t->second : t->bytes;
}

static int bytes_back(const struct net_trial *t, int i)
{
    return t->back && t->second && i == 1 ? t->second : t->back;
}

static double lead(struct net_bench *b, const struct net_trial *t, double *call)
{
    double begin, sent;

    if (t->both)
        return lead_both(b, t, call);
    for (int i = 0; i < t->nfollow && !t->in_turn; i++)
        MPI_Irecv(b->in + (size_t)i * (size_t)t->back, bytes_back(t, i), MPI_CHAR, t->follow[i], TAG_DATA, b->comm,
                  &b->requests[i]);
    begin = sent = net_now();
    for (int i = 0; i < t->nfollow; i++) {
        MPI_Send(b->out, bytes_there(t, i), MPI_CHAR, t->follow[i], TAG_DATA, b->comm);
        if (!i)
            sent = net_now();
    }
    *call = sent - begin;
    for (int i = 0; i < t->nfollow && t->in_turn; i++)
        MPI_Recv(b->in + (size_t)i * (size_t)t->back, bytes_back(t, i), MPI_CHAR, t->follow[i], TAG_DATA, b->comm,
                 MPI_STATUS_IGNORE);
    if (t->in_turn)
        return net_now() - begin;
    if (t->nfollow == 1)
        MPI_Wait(b->requests, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(t->nfollow, b->requests, MPI_STATUSES_IGNORE);
    return net_now() - begin;
}

static void follow(struct net_bench *b, const struct net_trial *t)
{
    int me = t->nfollow > 1 && b->rank == t->follow[1];
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
    MPI_Recv(b->in, bytes_there(t, me), MPI_CHAR, t->lead, TAG_DATA, b->comm, MPI_STATUS_IGNORE);
    took = net_now() - begin;
    if (t->delay_s > 0)
        memcpy(b->out, &took, sizeof took);
    MPI_Send(b->out, bytes_back(t, me), MPI_CHAR, t->lead, TAG_DATA, b->comm);
}

/* ---------------------------------------------------------------- all repetitions */

/* Where processors are granted in part (quotas of containers), one that has waited busily stands still for a while, and
 * what is timed then tells of that. So only what is timed waits busily: before each batch all sleep, for longer than a
 * batch of small messages takes, and what is not timed is waited for asleep. Simulated time is not to be wasted. */
#ifndef HRUN_SMPI
static const struct timespec PAUSE = { 0, 2000000 }, NAP = { 0, 100000 };
#endif

static void pause_before(void)
{
#ifndef HRUN_SMPI
    nanosleep(&PAUSE, NULL);
#endif
}

static void await(struct net_bench *b, int *value, int n, int from, int tag)
{
#ifdef HRUN_SMPI
    MPI_Recv(value, n, MPI_INT, from, tag, b->comm, MPI_STATUS_IGNORE);
#else
    MPI_Request r;
    int here;

    MPI_Irecv(value, n, MPI_INT, from, tag, b->comm, &r);
    for (MPI_Test(&r, &here, MPI_STATUS_IGNORE); !here; MPI_Test(&r, &here, MPI_STATUS_IGNORE))
        nanosleep(&NAP, NULL);
#endif
}

static void ready(struct net_bench *b, const struct net_trial *t)
{
    if (b->rank != t->lead) {
        MPI_Send(NULL, 0, MPI_INT, t->lead, TAG_READY, b->comm);
        return;
    }
    for (int i = 0; i < t->nfollow; i++)
        await(b, NULL, 0, t->follow[i], TAG_READY);
}

/* After `skip` repetitions `count` that are noted from times[n] on. A time that is not above 0, of an interval in which
 * messages went over a network, is that of a clock that jumps: it is left out. Result: how many times there are. */
static int lead_batch(struct net_bench *b, const struct net_trial *t, int skip, int count, int n)
{
    pause_before();
    ready(b, t);
    for (int i = 0; i < skip + count; i++) {
        double call, time;

        if (t->delay_s > 0)
            await(b, NULL, 0, t->follow[0], TAG_READY);
        time = lead(b, t, &call);
        if (t->delay_s > 0)
            memcpy(&time, b->in, sizeof time);
        if (i < skip || !(time > 0) || call < 0)
            continue;
        b->times[n] = time;
        b->calls[n++] = call;
    }
    return n;
}

static void follow_batch(struct net_bench *b, const struct net_trial *t, int count)
{
    pause_before();
    ready(b, t);
    for (int i = 0; i < count; i++)
        follow(b, t);
}

/* Do followers wait to be told that the trial goes on, or has ended? Those who send bytes wait anyway: these are on
 * their way when the call that sends them returns, and would disturb, and be disturbed by, what the follower did next.
 */
static int is_told(const struct net_trial *t, int least, int most)
{
    return most > least || t->back > 0;
}

static void lead_all(struct net_bench *b, const struct net_trial *t, int least, int most, int warm,
                     struct net_times *out)
{
    int tried = least, n, more;
    double begin = net_now();

    n = lead_batch(b, t, warm, least, 0);
    while (is_told(t, least, most)) {
        int late = net_now() - begin > b->set.trial_s;

        more = tried < most && !late && !known(b, n) ? (most - tried < BATCH ? most - tried : BATCH) : 0;
        for (int i = 0; i < t->nfollow; i++)
            MPI_Send(&more, 1, MPI_INT, t->follow[i], TAG_MORE, b->comm);
        if (!more)
            break;
        n = lead_batch(b, t, warm > 0, more, n);
        tried += more;
    }
    memset(out, 0, sizeof *out);
    out->n = n;
    out->mean_s = net_summary(b->times, n, &out->median_s, &out->sd_s, &out->max_s);
    net_summary(b->calls, n, &out->call_s, &out->call_sd_s, &out->call_max_s);
}

static void follow_all(struct net_bench *b, const struct net_trial *t, int least, int most, int warm)
{
    int more;

    follow_batch(b, t, warm + least);
    while (is_told(t, least, most)) {
        await(b, &more, 1, t->lead, TAG_MORE);
        if (!more)
            break;
        follow_batch(b, t, (warm > 0) + more);
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
