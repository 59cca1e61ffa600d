/* decide_unmodelled.c - configurations that no model chooses; see decide_unmodelled.h */
#include "session/decide_unmodelled.h"

#include "base/units.h"
#include "session/decide_by_runs.h"
#include "session/nearest.h"

#include <string.h>

int decide_check_units(const struct context *c, const struct decision *d, int P, const char *hint,
                       struct hrun_error *err)
{
    int64_t units, least;

    if (!c->app || !c->app->shares.units || !d->N)
        return 0;
    if (hrun_app_units(c->app, d->N, &units, &least, err))
        return -1;
    if (P <= units / least)
        return 0;
    return hrun_fail(err, HRUN_EINFEASIBLE, "%s of work %s too few for P = %s of %s at N = %lld, which %s %lld%s at "
                     "least%s", hrun_counted(units, "unit").s, units == 1 ? "is" : "are", hrun_counted(P, "process").s,
                     c->app->name, (long long)d->N, P == 1 ? "has" : "have", (long long)least, P == 1 ? "" : " each",
                     hint);
}

/* Refuse a P that the rule does not accept. */
static int check_rule(struct context *c, const struct decision *d, int P, struct hrun_error *err)
{
    int valid;

    if (!c->app || !d->N || c->set->force)
        return 0;
    valid = hrun_app_rule(c->app, d->N, P, err);
    if (valid < 0)
        return -1;
    if (!valid && decide_check_units(c, d, P, " (--force runs it all the same)", err))
        return -1;
    if (!valid && c->app->fixed)
        return hrun_fail(err, HRUN_EINFEASIBLE, "%s does not accept %d processes: its rule is '%s' (--force runs it "
                         "all the same; hrun-calibrate --again forgets a rule learnt from failed runs)",
                         c->app->name, P, hrun_expr_text(c->app->rule));
    if (!valid)
        return hrun_fail(err, HRUN_EINFEASIBLE,
                         "the rule of %s, '%s', does not accept P = %d for N = %lld (--force runs it all the same)",
                         c->app->name, hrun_expr_text(c->app->rule), P, (long long)d->N);
    return 0;
}

int decide_check_memory(const struct context *c, const struct decision *d, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    int dealt = d->predicted.known && d->shares.each;
    int64_t units = 1, least;
    double bytes;

    if (!app || !d->N || !d->has_config || c->set->force)
        return 0;
    if (app->shares.units && hrun_app_units(app, d->N, &units, &least, err))
        return -1;
    for (int i = 0; i < d->nsubs; i++) {
        double memory = (double)c->cluster->subs[i].memory_bytes;

        if (!d->config.pes[i])
            continue;
        if (!dealt ? hrun_app_memory(app, d->N, d->P, &bytes, err)
            : hrun_app_share_memory(app, d->N, d->P, app->shares.units ? d->shares.each[i] / (double)units
                                    : d->shares.each[i], &bytes,
                                    err))
            return -1;
        if (memory > 0 && !(d->config.procs[i] * bytes <= memory))
            return hrun_fail(err, HRUN_EINFEASIBLE, "%s at N = %lld: %s of %s%s on a PE of %s do%s not fit into its "
                             "memory, %s; give more processes in all, other PEs, or a smaller N (--force runs it all "
                             "the same)", app->name, (long long)d->N, hrun_counted(d->config.procs[i], "process").s,
                             hrun_bytes(bytes).s, d->config.procs[i] == 1 ? "" : " each", c->cluster->subs[i].name,
                             d->config.procs[i] == 1 ? "es" : "", hrun_bytes(memory).s);
    }
    return 0;
}

int decide_by_config(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err)
{
    const struct hrun_cluster *cl = c->cluster;

    d->by = BY_USER;
    if (hrun_config_parse(q->config, d->nsubs, &d->config, err))
        return hrun_fail_prefix(err, "--config");
    for (int i = 0; i < d->nsubs; i++)
        if (d->config.pes[i] > d->subs[i].npes)
            return hrun_fail(err, HRUN_EINVAL, "--config: sub-cluster %s has %d PEs%s, not %d", cl->subs[i].name,
                             d->subs[i].npes, d->subs[i].npes < cl->subs[i].npes ? " to use" : "", d->config.pes[i]);
    d->has_config = 1;
    d->P = hrun_config_processes(&d->config);
    return check_rule(c, d, d->P, err);
}

int decide_by_layout(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err)
{
    d->by = BY_USER;
    d->P = q->mapped->nranks;
    d->has_config = hrun_layout_config(q->mapped, &d->config);
    return check_rule(c, d, d->P, err);
}

void models_wanting(const struct hrun_app *app, const struct hrun_models *models, struct hrun_buf *out)
{
    for (int k = 0; k < app->nprocs_per_pe && hrun_family_of(app)->has_forms; k++) {
        int alone = 0, several = 0;

        for (int i = 0; models && i < models->n; i++) {
            alone |= models->v[i].M == app->procs_per_pe[k] && !strcmp(models->v[i].family, "single");
            several |= models->v[i].M == app->procs_per_pe[k] && !strcmp(models->v[i].family, "npt");
        }
        if (!several)
            hrun_buf_addf(out, "%s%d%s", out->len ? ", " : "", app->procs_per_pe[k],
                          alone ? " (but alone on one PE)" : "");
    }
}

int64_t decide_capacity(const struct context *c, const struct decision *d)
{
    int64_t pes = 0;

    for (int i = 0; i < d->nsubs; i++)
        pes += d->subs[i].npes * (int64_t)d->subs[i].each;
    return pes * (c->app && !c->app->suits_pes ? c->app->procs_per_pe[c->app->nprocs_per_pe - 1] : 1);
}

/* Configure P processes, one on each PE with `bytes` of memory, in the order of sub-clusters. Result: 1, or 0 if there
 * are too few such PEs. */
static int one_per_pe(const struct context *c, struct decision *d, int P, double bytes)
{
    int left = P;

    for (int i = 0; i < d->nsubs; i++) {
        double memory = (double)c->cluster->subs[i].memory_bytes;
        int npes = memory > 0 && !(bytes <= memory) ? 0 : d->subs[i].npes;

        d->config.pes[i] = left < npes ? left : npes;
        d->config.procs[i] = d->config.pes[i] > 0;
        left -= d->config.pes[i];
    }
    d->P = P;
    d->has_config = left == 0;
    return d->has_config;
}

/* Configure P processes, the same number on each PE, if the definition allows this number. */
static void all_alike(const struct hrun_app *app, struct decision *d, int P)
{
    int npes = 0;

    for (int i = 0; i < d->nsubs; i++)
        npes += d->subs[i].npes;
    for (int k = 0; k < app->nprocs_per_pe && !d->has_config; k++)
        d->has_config = npes * app->procs_per_pe[k] == P;
    for (int i = 0; i < d->nsubs && d->has_config; i++) {
        d->config.pes[i] = d->subs[i].npes;
        d->config.procs[i] = d->config.pes[i] ? P / npes : 0;
    }
}

int decide_by_count(struct context *c, int P, struct decision *d, struct hrun_error *err)
{
    double bytes = 0;

    d->by = BY_USER;
    if (check_rule(c, d, P, err) || (c->app && d->N && hrun_app_memory(c->app, d->N, P, &bytes, err)))
        return -1;
    if (!one_per_pe(c, d, P, bytes) && !one_per_pe(c, d, P, 0) && c->app)
        all_alike(c->app, d, P);
    return 0;
}

/* Configure one process on each of P PEs. Result: 1 if rule and memory allow it, else 0; -1 with *err. */
static int plain_is_valid(struct context *c, struct decision *d, int P, struct hrun_error *err)
{
    double bytes = 0;
    int valid = 1;

    if (c->app && d->N)
        valid = hrun_app_rule(c->app, d->N, P, err);
    if (valid > 0 && c->app && d->N && hrun_app_memory(c->app, d->N, P, &bytes, err))
        return -1;
    return valid > 0 ? one_per_pe(c, d, P, bytes) : valid;
}

int decide_by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err)
{
    const struct hrun_plan_problem problem = { .subs = subs };
    int npes = 0, best = 0, most = 0, fits = 0;

    d->by = BY_DEFAULT;
    for (int i = 0; i < d->nsubs; i++) {
        npes += d->subs[i].npes;
        most = d->subs[i].each > most ? d->subs[i].each : most;
    }
    for (; c->app && c->app->suits_pes && most > 0 && !fits; most--) {
        /* One process on each core, on up to `most` cores of each PE. */
        for (int i = 0; i < d->nsubs; i++) {
            d->config.pes[i] = d->subs[i].npes;
            d->config.procs[i] = !d->config.pes[i] ? 0 : d->subs[i].each < most ? d->subs[i].each : most;
        }
        d->P = hrun_config_processes(&d->config);
        d->has_config = 1;
        fits = d->N ? hrun_app_rule(c->app, d->N, d->P, err) : 1;
    }
    if (fits)
        return fits < 0 ? -1 : 0;
    /* Try all P, so that an error in evaluating the rule for some P is always reported. */
    for (int P = 1; P <= npes; P++) {
        int valid = plain_is_valid(c, d, P, err);

        if (valid < 0)
            return -1;
        if (valid)
            best = P;
    }
    if (best)
        return plain_is_valid(c, d, best, err) < 0 ? -1 : 0;
    if (c->app->fixed && (fits = learn_quickest(c, d, err)) <= 0)
        return fits;
    hrun_fail(err, HRUN_EINFEASIBLE,
              "no number of processes up to %d is valid for %s at N = %lld with one process per PE (rule '%s'%s)", npes,
              c->app->name, (long long)d->N, hrun_expr_text(c->app->rule),
              c->app->memory || c->app->shares.memory ? ", memory" : "");
    nearest_sizes(c, &problem, d->N, err);
    return -1;
}
