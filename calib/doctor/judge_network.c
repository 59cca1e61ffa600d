/* judge_network.c - checks of messages and clocks; see doctor.h */
#include "doctor.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1 KiB" */
static struct hrun_text bytes_text(double bytes)
{
    struct hrun_text out;

    if (bytes >= 1 << 20)
        snprintf(out.s, sizeof out.s, "%g MiB", bytes / (1 << 20));
    else if (bytes >= 1 << 10)
        snprintf(out.s, sizeof out.s, "%g KiB", bytes / (1 << 10));
    else
        snprintf(out.s, sizeof out.s, "%g bytes", bytes);
    return out;
}

void check_clocks(const struct judging *j)
{
    double offset = j->r->clock_offset;

    if (fabs(offset) - j->r->clock_error > j->limits->clock_s)
        finding_add(j, j->rank, fabs(offset), j->limits->clock_s, "the clock of host %s is %.3g s %s that of host %s",
                    j->r->host_name, fabs(offset), offset > 0 ? "ahead of" : "behind", j->d->ranks[0].host_name);
}

void check_trips(const struct judging *j)
{
    const struct doctor_data *d = j->d;

    for (int i = 0; i < d->ntrips; i++) {
        const struct doctor_messages *m = &d->trips[i];
        struct hrun_spread s = doctor_spread(&m->t);

        if (doctor_width(&s) > j->limits->network)
            finding_add(j, m->a, doctor_width(&s), j->limits->network, "round trips of %s between %s and %s vary by "
                        "%.0f %%, from %.3g to %.3g us", bytes_text(m->bytes).s, doctor_place(d, m->a).s,
                        doctor_place(d, m->b).s, 100 * doctor_width(&s), 1e6 * s.low, 1e6 * s.high);
    }
}

/* Find messages that take longer than those of the next larger size. They do not count if their deciles overlap. */
void check_anomalies(const struct judging *j)
{
    const struct doctor_data *d = j->d;

    for (int i = 0; i + 1 < d->ntrips; i++) {
        const struct doctor_messages *m = &d->trips[i], *next = m + 1;
        struct hrun_spread s, t;

        if (m->a != next->a || m->b != next->b || next->bytes <= m->bytes)
            continue;
        s = doctor_spread(&m->t);
        t = doctor_spread(&next->t);
        if (s.median / t.median - 1 <= j->limits->network || s.low <= t.high)
            continue;
        finding_add(j, m->a, s.median / t.median - 1, j->limits->network, "between %s and %s messages of %s take %.0f "
                    "%% longer than those of %s", doctor_place(d, m->a).s, doctor_place(d, m->b).s,
                    bytes_text(m->bytes).s, 100 * (s.median / t.median - 1), bytes_text(next->bytes).s);
    }
}

/* 1 if x and y have equal bytes and the same sub-clusters at their ends, and both or neither lie inside a host, else
 * 0. */
static int are_like_pairs(const struct doctor_data *d, const struct doctor_messages *x, const struct doctor_messages *y)
{
    const struct doctor_rank *a = &d->ranks[x->a], *b = &d->ranks[x->b], *p = &d->ranks[y->a], *q = &d->ranks[y->b];

    return x->bytes == y->bytes && (a->host == b->host) == (p->host == q->host) &&
           ((a->sub == p->sub && b->sub == q->sub) || (a->sub == q->sub && b->sub == p->sub));
}

/* Find pairs that take longer than the median of at least three like pairs. Two pairs do not tell which of them is
 * unusual. */
void check_unequal_links(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    autofree double *median = xcalloc((size_t)d->ntrips + 1, sizeof *median);
    autofree double *of = xcalloc((size_t)d->ntrips + 1, sizeof *of);

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
        finding_add(j, m->a, off, j->limits->network, "round trips of %s between %s and %s take %.0f %% longer than "
                    "between others of the same kind", bytes_text(m->bytes).s, doctor_place(d, m->a).s,
                    doctor_place(d, m->b).s, 100 * off);
    }
}

void check_alltoall(const struct judging *j)
{
    for (int i = 0; i < j->d->nalltoall; i++) {
        const struct doctor_messages *m = &j->d->alltoall[i];
        struct hrun_spread s = doctor_spread(&m->t);

        if (doctor_width(&s) > j->limits->network)
            finding_add(j, -1, doctor_width(&s), j->limits->network, "all-to-all of %s from each of %d processes to "
                        "each varies by %.0f %%, from %.3g to %.3g us", bytes_text(m->bytes).s, j->d->nranks,
                        100 * doctor_width(&s), 1e6 * s.low, 1e6 * s.high);
    }
}
