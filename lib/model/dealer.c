/* dealer.c - divide work in whole units among the processes of a configuration; see internal.h */
#include "base/alloc.h"
#include "model/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ create, destroy */

void hrun_dealer_create(struct hrun_predictor *p)
{
    size_t options = (size_t)p->noptions + 1, subs = (size_t)p->oracle.nsubs + 1;
    struct hrun_dealer *d = p->dealer = xcalloc(1, sizeof *d);

    d->memory_bytes = xcalloc(subs, sizeof *d->memory_bytes);
    d->most = xcalloc(options, sizeof *d->most);
    d->lines = xcalloc(options, sizeof *d->lines);
    d->parts = xcalloc(subs, sizeof *d->parts);
    d->share = xcalloc(subs, sizeof *d->share);
    d->sub_of = xcalloc(subs, sizeof *d->sub_of);
}

void hrun_dealer_destroy(struct hrun_dealer *d)
{
    if (!d)
        return;
    free(d->memory_bytes);
    free(d->most);
    free(d->lines);
    free(d->parts);
    free(d->share);
    free(d->sub_of);
    free(d);
}

/* ------------------------------------------------------------------ memory */

int64_t hrun_dealer_most(const struct hrun_predictor *p, int o, int P, struct hrun_error *err)
{
    const struct hrun_dealer *d = p->dealer;
    double room = d->memory_bytes[p->options[o].sub] / p->options[o].m;

    return d->memory ? hrun_app_units_fitting(p->app, p->N, P, d->units, room, err) : d->units;
}

int hrun_dealer_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err)
{
    struct hrun_dealer *d = p->dealer;
    int depends_on_P = d->memory && hrun_expr_uses(d->memory, 1);

    for (int i = 0; bytes && i < p->oracle.nsubs; i++)
        d->memory_bytes[i] = bytes[i];
    for (int o = 0; o < p->noptions; o++) {
        d->most[o] = depends_on_P ? -1 : hrun_dealer_most(p, o, 1, err);
        if (d->most[o] < 0 && !depends_on_P)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------ lines */

/* Set the lines v[noptions] of all options at P, and the units to divide. base_s includes all but one unit of the least
 * share of a process. */
static int set_lines(struct hrun_predictor *p, int P, const struct hrun_config *config, struct hrun_line *v,
                     int64_t *units, struct hrun_error *err)
{
    struct hrun_dealer *d = p->dealer;

    memset(v, 0, (size_t)p->noptions * sizeof *v);
    *units = 0;
    if (P > d->units / d->least)
        return 0;
    *units = d->units - P * (d->least - 1);
    if (p->kind->lines(p, P, config, v, err))
        return -1;
    for (int o = 0; o < p->noptions; o++) {
        if (!v[o].n)
            continue;
        v[o].base_s += (double)(d->least - 1) * v[o].unit_s;
        v[o].most = d->most[o] < 0 ? hrun_dealer_most(p, o, P, err) : d->most[o];
        if (v[o].most < 0)
            return -1;
        v[o].most = v[o].most < d->least ? 0 : v[o].most - (d->least - 1);
    }
    return 0;
}

static double units_time(const struct hrun_line *v, int64_t u)
{
    return v->base_s + (double)u * v->unit_s;
}

/* ------------------------------------------------------------------ a configuration */

/* Divide the work of a configuration. d->share: units of each part; d->sub_of: its sub-cluster. Returns the number of
 * parts; 0 if the configuration cannot be used; -1 with *err. */
static int deal_out(struct hrun_predictor *p, const struct hrun_config *config, struct hrun_error *err)
{
    struct hrun_dealer *d = p->dealer;
    double longest = 0;
    int64_t units;
    int n = 0;

    if (set_lines(p, hrun_config_processes(config), config, d->lines, &units, err))
        return -1;
    for (int i = 0; i < p->oracle.nsubs; i++) {
        int o = config->pes[i] ? hrun_predictor_find(p, i, config->procs[i]) : -1;

        if (!config->pes[i])
            continue;
        if (o < 0 || !d->lines[o].n)
            return 0;
        d->parts[n] = d->lines[o];
        d->parts[n].n = (int64_t)config->pes[i] * config->procs[i];
        if (d->how == HRUN_SHARES_PROPORTIONAL)
            d->parts[n].base_s = 0;
        d->sub_of[n++] = i;
    }
    if (!n || !isfinite(hrun_balance(d->parts, n, units, d->share)))
        return 0;
    for (int k = 0; k < n; k++) {
        d->parts[k] = d->lines[hrun_predictor_find(p, d->sub_of[k], config->procs[d->sub_of[k]])];
        longest = fmax(longest, units_time(&d->parts[k], d->share[k]));
    }
    return longest > 0 && isfinite(longest) ? n : 0;
}

static int fail_no_shares(const struct hrun_predictor *p, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_ENODATA, "%s has no model for this configuration at N=%lld, or no room for its shares",
                     p->app->name, (long long)p->N);
}

int64_t hrun_dealer_units(struct hrun_predictor *p, int sub, const struct hrun_config *config, struct hrun_error *err)
{
    int n = deal_out(p, config, err);

    for (int k = 0; k < n; k++)
        if (p->dealer->sub_of[k] == sub)
            return p->dealer->share[k] + p->dealer->least - 1;
    return n < 0 ? -1 : fail_no_shares(p, err);
}

int hrun_dealer_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                       struct hrun_error *err)
{
    const struct hrun_dealer *d = p->dealer;
    int n = deal_out(p, config, err);

    if (n <= 0)
        return n < 0 ? -1 : fail_no_shares(p, err);
    for (int i = 0; i < p->oracle.nsubs; i++)
        share[i] = 0;
    for (int k = 0; k < n; k++)
        share[d->sub_of[k]] = (double)(d->share[k] + d->least - 1) * d->unit;
    return 0;
}

int hrun_dealer_options(struct hrun_predictor *p, const struct hrun_config *config, double *t, struct hrun_error *err)
{
    const struct hrun_dealer *d = p->dealer;
    int n = deal_out(p, config, err);

    for (int o = 0; o < p->noptions; o++)
        t[o] = NAN;
    for (int k = 0; k < n; k++)
        t[hrun_predictor_find(p, d->sub_of[k], config->procs[d->sub_of[k]])] = units_time(&d->parts[k], d->share[k]);
    return n < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------ the table for lib/plan */

static int dealt_lines(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    return set_lines(ctx, P, NULL, v, units, err);
}

/* Lower bounds of the times at P: some process has at least the mean share, and each process has a unit. */
static int dealt_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct hrun_predictor *p = ctx;
    const struct hrun_line *v = p->dealer->lines;
    double all = INFINITY;
    int64_t units, mean;

    if (dealt_lines(ctx, P, p->dealer->lines, &units, err))
        return -1;
    mean = (units + P - 1) / P;
    for (int o = 0; o < p->noptions; o++)
        if (v[o].n && v[o].most >= mean)
            all = fmin(all, units_time(&v[o], mean));
    for (int o = 0; o < p->noptions; o++)
        t[o] = !v[o].n || !v[o].most || !isfinite(all) ? NAN : fmax(all, units_time(&v[o], 1));
    return 0;
}

void hrun_dealer_use(struct hrun_predictor *p)
{
    p->oracle.times = dealt_times;
    p->oracle.bounds = NULL;
    p->oracle.whole = hrun_predictor_whole;
    p->oracle.part = NULL;
    p->oracle.lines = dealt_lines;
    p->deals = p->is_whole = 1;
}
