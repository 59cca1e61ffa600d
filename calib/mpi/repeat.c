/* repeat.c - repeat a trial until its mean is precise enough; see measure.h */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Number of repetitions between two decisions to continue. Each decision costs a message. */
enum { BATCH = 5 };

/* ---------------------------------------------------------------- statistics of times */

/* With fewer times the standard deviation is used instead of the quartiles. */
enum { QUARTILES_LEAST = 8 };
static const double QUARTILE_RANGE_SD = 1.349;   /* interquartile range of a normal distribution, in sd */

double net_student(int df)
{
    static const double few[] = { 12.7062, 4.3027, 3.1824, 2.7764 };
    const double z = 1.959964, v = df;

    if (df <= (int)(sizeof few / sizeof few[0]))
        return few[df < 1 ? 0 : df - 1];
    /* Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5), three terms; the error is at most 0.2 % from 5
     * degrees of freedom on. */
    return z + (pow(z, 3) + z) / (4 * v) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * v * v * v);
}

double net_summary(double *v, int n, double *median, double *sd, double *max)
{
    double mean = 0, ss = 0;

    *median = *sd = *max = 0;
    if (!n)
        return 0;
    qsort(v, (size_t)n, sizeof *v, mpi_compare_doubles);
    for (int i = 0; i < n; i++)
        mean += v[i] / n;
    for (int i = 0; i < n; i++)
        ss += (v[i] - mean) * (v[i] - mean);
    *sd = n >= QUARTILES_LEAST ? (v[n - 1 - n / 4] - v[n / 4]) / QUARTILE_RANGE_SD : n > 1 ? sqrt(ss / (n - 1)) : 0;
    *median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    *max = v[n - 1];
    return mean;
}

/* ---------------------------------------------------------------- repetitions */

static int is_precise(struct net_bench *b, int n)
{
    double mean, median, sd, max;

    mean = net_summary(b->times, n, &median, &sd, &max);
    return n > 1 && net_student(n - 1) * sd <= b->set.precision * mean * sqrt(n);
}

/* A processor quota (containers) suspends a process after a busy wait, which would distort the next times. So only
 * timed code waits busily. All processes sleep before each batch, for longer than a batch of small messages takes, and
 * while they wait for untimed messages. A simulation needs no sleep. */
static const double NAP_S = 1e-4;

static void pause_before_batch(void)
{
#ifndef HRUN_SMPI
    nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
#endif
}

static void await_message(struct net_bench *b, int *value, int n, int from, int tag)
{
    MPI_Request r;

    MPI_Irecv(value, n, MPI_INT, from, tag, b->m.comm, &r);
    mpi_await(&r, NAP_S);
}

static void say_ready(struct net_bench *b, const struct net_trial *t)
{
    if (b->m.rank != t->lead) {
        MPI_Send(NULL, 0, MPI_INT, t->lead, MESSAGES_READY, b->m.comm);
        return;
    }
    for (int i = 0; i < t->nfollow; i++)
        await_message(b, NULL, 0, t->follow[i], MESSAGES_READY);
}

/* Run `skip` uncounted repetitions, then `count`, whose times are stored from b->times[n] on. A time that is not above
 * 0 comes from a clock that jumped and is left out. Result: the new number of times. */
static int lead_batch(struct net_bench *b, const struct net_trial *t, int skip, int count, int n)
{
    pause_before_batch();
    say_ready(b, t);
    for (int i = 0; i < skip + count; i++) {
        double call, time;

        if (t->delay_s > 0)
            await_message(b, NULL, 0, t->follow[0], MESSAGES_READY);
        time = messages_lead(&b->m, t, &call);
        if (t->delay_s > 0)
            memcpy(&time, b->m.in, sizeof time);
        if (i < skip || !(time > 0) || call < 0)
            continue;
        b->times[n] = time;
        b->calls[n++] = call;
    }
    return n;
}

static void follow_batch(struct net_bench *b, const struct net_trial *t, int count)
{
    pause_before_batch();
    say_ready(b, t);
    for (int i = 0; i < count; i++)
        messages_follow(&b->m, t);
}

/* 1 if followers wait for a message that continues or ends the trial, else 0. Followers that send bytes wait, since the
 * bytes may still be under way after the send call and would disturb the follower's next trial. */
static int is_continued(const struct net_trial *t, int least, int most)
{
    return most > least || t->back > 0;
}

static void lead_trial(struct net_bench *b, const struct net_trial *t, int least, int most, int warm,
                       struct net_times *out)
{
    int tried = least, n, more;
    double begin = mpi_now();

    n = lead_batch(b, t, warm, least, 0);
    while (is_continued(t, least, most)) {
        int late = mpi_now() - begin > b->set.trial_s;

        more = tried < most && !late && !is_precise(b, n) ? (most - tried < BATCH ? most - tried : BATCH) : 0;
        for (int i = 0; i < t->nfollow; i++)
            MPI_Send(&more, 1, MPI_INT, t->follow[i], MESSAGES_MORE, b->m.comm);
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

static void follow_trial(struct net_bench *b, const struct net_trial *t, int least, int most, int warm)
{
    int more;

    follow_batch(b, t, warm + least);
    while (is_continued(t, least, most)) {
        await_message(b, &more, 1, t->lead, MESSAGES_MORE);
        if (!more)
            break;
        follow_batch(b, t, (warm > 0) + more);
    }
}

int net_try(struct net_bench *b, const struct net_trial *t, struct net_times *out)
{
    int most = t->fixed ? t->fixed : b->set.most, least = t->fixed ? t->fixed : t->least ? t->least : b->set.least;
    int warm = t->both && !b->set.warm ? 1 : b->set.warm;   /* both: the two begin the first one apart */

    least = least > most ? most : least;
    if (b->m.rank == t->lead) {
        lead_trial(b, t, least, most, warm, out);
        return out->n > 0;
    }
    for (int i = 0; i < t->nfollow; i++)
        if (t->follow[i] == b->m.rank)
            follow_trial(b, t, least, most, warm);
    return 0;
}
