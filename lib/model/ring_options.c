/* ring_options.c - what a predictor of rings takes from records; see ring_predictor.h for the contract */
#include "model/ring_predictor.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The records nearest to M from below and from above; NULL where there is none. */
static void nearest(const struct hrun_models *m, int M, const struct hrun_fit_record *r[2])
{
    r[0] = r[1] = NULL;
    for (int i = 0; m && i < m->n; i++) {
        const struct hrun_fit_record *f = &m->v[i];

        if (strcmp(f->family, "ring"))
            continue;
        if (f->M <= M && (!r[0] || f->M > r[0]->M))
            r[0] = f;
        if (f->M >= M && (!r[1] || f->M < r[1]->M))
            r[1] = f;
    }
}

static int bind(struct hrun_ring *r, int o, const struct hrun_fit_record *const from[2], struct hrun_error *err)
{
    struct hrun_ring_option *opt = &r->opts[o];
    int m = r->base.options[o].m;

    *opt = (struct hrun_ring_option){ .r = { from[0], from[1] } };
    opt->far = from[0]->pmax > from[0]->M && from[1]->pmax > from[1]->M;
    if (from[0]->M < from[1]->M)
        opt->part = (double)(m - from[0]->M) / (from[1]->M - from[0]->M);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < from[i]->nterms; j++) {
            int term = hrun_ring_term(from[i]->terms[j]);

            if (term < 0 || from[i]->nterms > HRUN_RING_TERMS)
                return hrun_fail(err, HRUN_ENODATA, "the ring model of %s has the term '%s', which this hrun does not "
                                 "know: hrun-calibrate fit makes it anew", r->base.app->name, from[i]->terms[j]);
            if (!isfinite(from[i]->k[j]))
                return hrun_fail(err, HRUN_ENONFINITE, "the coefficient of '%s' in the ring model of %s (M=%d) is %g",
                                 from[i]->terms[j], r->base.app->name, m, from[i]->k[j]);
            if (opt->far || !hrun_ring_is_far(term))
                opt->k[term] += from[i]->k[j] * (i ? opt->part : 1 - opt->part);
        }
    return 0;
}

/* What messages between PEs take, where it was never measured, from where it was: with the fewest processes on a PE, so
 * that least of it was hidden behind the work of others there. */
static void borrow_wires(struct hrun_ring *r)
{
    double sum[HRUN_RING_TERMS] = { 0 };
    int count = 0, fewest = INT_MAX;

    for (int o = 0; o < r->base.noptions; o++)
        if (r->opts[o].far && r->base.options[o].m < fewest)
            fewest = r->base.options[o].m;
    for (int o = 0; o < r->base.noptions; o++) {
        if (!r->opts[o].far || r->base.options[o].m != fewest)
            continue;
        for (int j = 0; j < HRUN_RING_TERMS; j++)
            sum[j] += r->opts[o].k[j];
        count++;
    }
    for (int o = 0; o < r->base.noptions; o++)
        r->opts[o].asks = !count && r->net;
    for (int o = 0; o < r->base.noptions; o++)
        for (int j = 0; count && !r->opts[o].far && j < HRUN_RING_TERMS; j++)
            if (hrun_ring_is_far(j))
                r->opts[o].wire[j] = sum[j] / count;
}

int hrun_ring_list_options(struct hrun_ring *r, const struct hrun_predictor_source *from, const char *consts,
                           const char **other, struct hrun_error *err)
{
    const struct hrun_app *app = from->app;
    size_t most = (size_t)from->nsubs * (size_t)app->nprocs_per_pe + 1;

    r->base.options = calloc(most, sizeof *r->base.options);
    r->opts = calloc(most, sizeof *r->opts);
    if (!r->base.options || !r->opts)
        return hrun_fail_nomem(err);
    for (int s = 0; s < from->nsubs; s++)
        for (int k = 0; k < app->nprocs_per_pe; k++) {
            const struct hrun_models *m = from->models[s];
            const struct hrun_fit_record *near[2];

            if (m && m->consts && strcmp(m->consts, consts)) {
                *other = m->consts;
                continue;
            }
            nearest(m, app->procs_per_pe[k], near);
            if (!near[0] || !near[1])
                continue;
            r->base.options[r->base.noptions] = (struct hrun_option){ s, app->procs_per_pe[k] };
            if (bind(r, r->base.noptions++, near, err))
                return -1;
        }
    borrow_wires(r);
    return 0;
}

/* ------------------------------------------------------------------ the network */

int hrun_ring_place(struct hrun_ring *r, const struct hrun_predictor_source *from, struct hrun_error *err)
{
    int there = from->net ? hrun_netview_nsubs(from->net) : 0;

    if (!from->net)
        return 0;
    r->place = calloc((size_t)r->nsubs + 1, sizeof *r->place);
    r->pair = calloc(2 * (size_t)there + 1, sizeof *r->pair);
    if (!r->place || !r->pair)
        return hrun_fail_nomem(err);
    r->net = from->net;
    for (int i = 0; i < r->nsubs; i++) {
        r->place[i] = from->place ? from->place[i] : i;
        if (r->place[i] >= there)
            r->place[i] = -1;
    }
    return 0;
}

/* Between a PE of one sub-cluster of the network and one of another, or of the same. */
static int between(struct hrun_ring *r, int a, int b, double bytes, double *time_s, struct hrun_error *err)
{
    int n = hrun_netview_nsubs(r->net);

    memset(r->pair, 0, 2 * (size_t)n * sizeof *r->pair);
    r->pair[a]++;
    r->pair[b]++;
    r->pair[n + a] = r->pair[n + b] = 1;
    return hrun_netview_time(r->net, HRUN_NET_P2P, bytes, r->pair, r->pair + n, time_s, err);
}

int hrun_ring_wire(struct hrun_ring *r, int sub, double bytes, double *wire_s, struct hrun_error *err)
{
    double sum = 0, t;
    int own = r->place[sub], count = 0;

    *wire_s = 0;
    if (own < 0)
        return 0;
    if (hrun_netview_npes(r->net, own) > 1)
        return between(r, own, own, bytes, wire_s, err);
    for (int i = 0; i < r->nsubs; i++) {
        if (r->place[i] < 0 || r->place[i] == own)
            continue;
        if (between(r, own, r->place[i], bytes, &t, err))
            return -1;
        sum += t;
        count++;
    }
    *wire_s = count ? sum / count : 0;
    return 0;
}
