/* judge_network.c - checks of messages and clocks; see doctor.h */
#include "doctor.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1 KiB" */
static const char *bytes_text(double bytes, char *out, size_t size)
{
    if (bytes >= 1 << 20)
        snprintf(out, size, "%g MiB", bytes / (1 << 20));
    else if (bytes >= 1 << 10)
        snprintf(out, size, "%g KiB", bytes / (1 << 10));
    else
        snprintf(out, size, "%g bytes", bytes);
    return out;
}

/* "PE 0 of a (host x) and PE 1 of a (host x)" */
enum { ENDS = 2 * DOCTOR_PLACE + 8 };
static const char *pair_text(const struct doctor_data *d, const struct doctor_messages *m, char *out)
{
    char a[DOCTOR_PLACE], b[DOCTOR_PLACE];

    snprintf(out, ENDS, "%s and %s", doctor_place(d, m->a, a), doctor_place(d, m->b, b));
    return out;
}

void check_clocks(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];

        if (k->has_clock && fabs(k->offset) - k->offset_error > j->limits->clock_s)
            finding_of_host(finding_add(j, r, "the clock of host %s is %.3g s %s that of host %s", k->host_name,
                                        fabs(k->offset), k->offset > 0 ? "before" : "behind", d->ranks[0].host_name),
                            fabs(k->offset), j->limits->clock_s, "s");
    }
}

void check_trips(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char pair[ENDS], bytes[32];

    for (int i = 0; i < d->ntrips; i++) {
        const struct doctor_messages *m = &d->trips[i];
        struct hrun_spread s = doctor_spread(&m->t);

        if (doctor_width(&s) <= j->limits->network)
            continue;
        finding_above(finding_add(j, m->a, "round trips of %s between %s vary by %.0f %%, from %.3g to %.3g us",
                                  bytes_text(m->bytes, bytes, sizeof bytes), pair_text(d, m, pair),
                                  100 * doctor_width(&s), 1e6 * s.low, 1e6 * s.high),
                      doctor_width(&s), j->limits->network);
    }
}

/* Find messages that take longer than larger ones. Medians within the spread of each other do not count. */
void check_anomalies(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char pair[ENDS], bytes[32], more[32];

    for (int i = 0; i + 1 < d->ntrips; i++) {
        const struct doctor_messages *m = &d->trips[i], *next = m + 1;
        struct hrun_spread s, t;

        if (m->a != next->a || m->b != next->b || next->bytes <= m->bytes)
            continue;
        s = doctor_spread(&m->t);
        t = doctor_spread(&next->t);
        if (s.median / t.median - 1 <= j->limits->network || s.low <= t.high)
            continue;
        finding_above(finding_add(j, m->a, "between %s messages of %s take %.0f %% longer than those of %s",
                                  pair_text(d, m, pair), bytes_text(m->bytes, bytes, sizeof bytes),
                                  100 * (s.median / t.median - 1), bytes_text(next->bytes, more, sizeof more)),
                      s.median / t.median - 1, j->limits->network);
    }
}

/* 1 if two pairs have the same sub-clusters at their ends and both or neither are on one host, else 0. */
static int are_like_pairs(const struct doctor_data *d, const struct doctor_messages *x, const struct doctor_messages *y)
{
    const struct doctor_rank *a = &d->ranks[x->a], *b = &d->ranks[x->b], *p = &d->ranks[y->a], *q = &d->ranks[y->b];

    return x->bytes == y->bytes && (a->host == b->host) == (p->host == q->host) &&
           ((a->sub == p->sub && b->sub == q->sub) || (a->sub == q->sub && b->sub == p->sub));
}

/* Compare like pairs, at least three of them: of two neither is the usual one. */
void check_unequal_links(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    double *median = xcalloc((size_t)d->ntrips + 1, sizeof *median), *of = xcalloc((size_t)d->ntrips + 1, sizeof *of);
    char pair[ENDS], bytes[32];

    for (int i = 0; i < d->ntrips; i++)
        median[i] = doctor_spread(&d->trips[i].t).median;
    for (int i = 0; i < d->ntrips; i++) {
        const struct doctor_messages *m = &d->trips[i];
        size_t n = 0;
        double off;

        for (int k = 0; k < d->ntrips; k++)
            if (are_like_pairs(d, m, &d->trips[k]))
                of[n++] = median[k];
        hrun_sort(of, n);
        off = median[i] / of[(n - 1) / 2] - 1;
        if (n < 3 || off <= j->limits->network)
            continue;
        finding_above(finding_add(j, m->a, "round trips of %s between %s take %.0f %% longer than between others of "
                                  "the same kind", bytes_text(m->bytes, bytes, sizeof bytes), pair_text(d, m, pair),
                                  100 * off),
                      off, j->limits->network);
    }
    free(median);
    free(of);
}

void check_alltoall(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char bytes[32];

    for (int i = 0; i < d->nalltoall; i++) {
        const struct doctor_messages *m = &d->alltoall[i];
        struct hrun_spread s = doctor_spread(&m->t);

        if (doctor_width(&s) <= j->limits->network)
            continue;
        finding_above(finding_add(j, -1, "all-to-all of %s from each of %d processes to each varies by %.0f %%, from "
                                  "%.3g to %.3g us", bytes_text(m->bytes, bytes, sizeof bytes), d->nranks,
                                  100 * doctor_width(&s), 1e6 * s.low, 1e6 * s.high),
                      doctor_width(&s), j->limits->network);
    }
}
