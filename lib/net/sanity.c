/* sanity.c - records that contradict the others of the same hosts; see stages.h */
#include "net/stages.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

/* By so much no scatter makes sound records contradict each other. */
static const double absurd = 2;

/* Of the trips that an experiment is made of, what one takes there and back; 0 when it was not timed. */
static double trip_time(const struct net_work *w, int i, int j, double there, double back, size_t *record)
{
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];

        if (v->kind != HRUN_NET_TRIP || w->out[l])
            continue;
        if ((v->i == i && v->j == j && v->bytes == there && v->back_bytes == back) ||
            (v->i == j && v->j == i && v->bytes == back && v->back_bytes == there)) {
            *record = l;
            return v->time_s;
        }
    }
    return 0;
}

/* Count what fans and joins say against trips, and trips against them; the trips are those of the longer message, which
 * take no less than those of a shorter one. against, with: of each record. */
static void compare_parts(const struct net_work *w, int *against, int *with)
{
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        int in = v->kind == HRUN_NET_JOIN;
        double part[2], most = fmax(v->bytes, v->back_bytes);
        size_t record[2];

        if (w->out[l] || (v->kind != HRUN_NET_FAN && v->kind != HRUN_NET_JOIN))
            continue;
        for (int p = 0; p < 2; p++) {
            double m = p ? net_second_bytes(v) : v->bytes;

            part[p] = trip_time(w, v->i, p ? v->k : v->j, in ? 0 : most, in ? most : 0, &record[p]);
            if (part[p] == 0 || m < most)
                continue;
            with[record[p]]++;
            against[record[p]] += part[p] > absurd * v->time_s;
        }
        if (part[0] == 0 || part[1] == 0)
            continue;
        with[l]++;
        against[l] += v->time_s > absurd * (part[0] + part[1]);
    }
}

/* Trips of one pair of hosts: more bytes do not take less time. */
static void compare_sizes(const struct net_work *w, int *against, int *with)
{
    for (size_t l = 0; l < w->r->n; l++)
        for (size_t m = 0; m < w->r->n; m++) {
            const struct hrun_net_record *a = &w->r->v[l], *b = &w->r->v[m];

            if (a->kind != HRUN_NET_TRIP || w->out[l])
                break;
            if (l == m || b->kind != HRUN_NET_TRIP || w->out[m] || a->i != b->i || a->j != b->j ||
                a->bytes > b->bytes || a->back_bytes > b->back_bytes)
                continue;
            with[l]++;
            against[l] += a->time_s > absurd * b->time_s;
        }
}

static int tell(const struct net_work *w, size_t l, struct hrun_strvec *notes)
{
    const struct hrun_net_record *v = &w->r->v[l];
    const char *what = v->kind == HRUN_NET_TRIP ? "trip" : v->kind == HRUN_NET_FAN ? "one-to-two" : "two-to-one";
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc;

    hrun_buf_addf(&b, "a %s of ", what);
    hrun_add_bytes(&b, v->bytes);
    hrun_buf_addf(&b, " between %s and %s took ", w->r->hosts[v->i], w->r->hosts[v->j]);
    hrun_add_seconds(&b, v->time_s);
    hrun_buf_adds(&b, ", which what else was timed between these hosts contradicts: it was left out "
                      "(did a clock jump?)");
    rc = b.failed ? -1 : hrun_strvec_push(notes, b.data);
    hrun_buf_release(&b);
    return rc;
}

int net_leave_out(struct net_work *w, struct hrun_strvec *notes, struct hrun_error *err)
{
    size_t n = w->r->n;
    int *against = calloc(2 * n + 1, sizeof *against), *with = against ? against + n : NULL, rc = -1;

    if (!against)
        return hrun_fail_nomem(err);
    /* The trips first: a bad one speaks against all fans that it is part of. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t l = 0; l < 2 * n; l++)
            against[l] = 0;
        compare_parts(w, against, with);
        if (pass == 0)
            compare_sizes(w, against, with);
        for (size_t l = 0; l < n; l++) {
            int is_trip = w->r->v[l].kind == HRUN_NET_TRIP;

            if (is_trip != (pass == 0) || against[l] == 0 || 2 * against[l] < with[l])
                continue;
            w->out[l] = 1;
            if (tell(w, l, notes)) {
                hrun_fail_nomem(err);
                goto out;
            }
        }
    }
    rc = 0;
out:
    free(against);
    return rc;
}
