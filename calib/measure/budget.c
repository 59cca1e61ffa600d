/* budget.c - a campaign of chosen runs; see budget.h */
#include "budget.h"

#include "../profiles/profiles.h"
#include "base/alloc.h"
#include "base/units.h"
#include "session/context_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int budget_wanted(const struct calib_settings *s, struct hrun_error *err)
{
    if (s->full_grid)
        return 0;
    if (s->repetitions)
        return hrun_fail(err, HRUN_EINVAL, "--repetitions belongs to --full-grid; chosen runs are repeated where their "
                         "spread asks for it");
    if (s->redo)
        return hrun_fail(err, HRUN_EINVAL, "--redo belongs to --full-grid; --again measures all anew");
    return 1;
}

/* The state of reading the log of one sub-cluster. */
struct log_reading {
    struct campaign *g;
    int sub;
    const struct hrun_sample *v;
    const char *cluster;            /* names of the sub-clusters, as in records */
};

/* Read the configuration of the mixed run v[k]. Result: 1 if the run counts here, else 0. The log of each of its
 * sub-clusters has the run; only the log of the first one counts. Sub-clusters of one kind share a log, which has a
 * record for each of them, all with one date; only the first record counts. */
static int read_mixed(const struct log_reading *r, size_t k, struct hrun_config *config)
{
    const struct hrun_design_sub *subs = r->g->budget->subs;
    const struct hrun_sample *s = &r->v[k];
    int first = -1, alike = 0, before = 0;
    double P = 0;

    if (!hrun_text_same(s->cluster, r->cluster) ||
        hrun_config_parse(s->config ? s->config : "", r->g->nsubs, config, NULL))
        return 0;
    for (int i = 0; i < config->nsubs; i++) {
        P += (double)config->pes[i] * config->procs[i];
        first = first < 0 && config->pes[i] ? i : first;
        alike += config->pes[i] && !strcmp(subs[i].signature, subs[r->sub].signature);
    }
    for (size_t i = k; i-- > 0 && hrun_text_same(r->v[i].date, s->date);)
        before += r->v[i].mixed && r->v[i].N == s->N && r->v[i].time_s == s->time_s && r->v[i].wall_s == s->wall_s &&
                  hrun_text_same(r->v[i].config, s->config);
    return P == s->P && first >= 0 && !strcmp(subs[first].signature, subs[r->sub].signature) && before % alike == 0;
}

/* The shares of a run on several sub-clusters if they are unequal, else NULL; valid until the next call. */
static const double *shares_of(const struct campaign *g, const struct hrun_sample *s)
{
    if (!s->mixed || !s->shares || !*s->shares)
        return NULL;
    for (int i = 0; i < g->nsubs; i++)
        g->budget->share[i] = hrun_sample_share(s, i);
    return g->budget->share;
}

/* Add the good run v[k] to design and campaign. */
static int add_good(const struct log_reading *r, size_t k, struct hrun_error *err)
{
    struct campaign *g = r->g;
    const struct hrun_sample *s = &r->v[k];
    const double *share = shares_of(g, s);
    struct hrun_config config;
    int i;

    if (!s->mixed)
        config = hrun_config_alone(g->nsubs, r->sub, s->pes, s->M);
    else if (!read_mixed(r, k, &config))
        return 0;
    i = campaign_point(g, &config, share, s->N);
    if (hrun_design_add(g->budget->design, &(struct hrun_design_result){ config, share, s->N, s->time_s, s->wall_s, 0 },
                        err))
        return -1;
    campaign_count(g, &g->v[i], s->time_s, s->wall_s);
    g->budget->known++;
    return 0;
}

/* Add a failure to the design, since hrun does not choose a configuration at a size where it failed
 * (lib/session/log_corrections.c). */
static int add_failure(const struct log_reading *r, const struct hrun_sample *s, struct hrun_error *err)
{
    struct hrun_design_result failed = { .N = s->N };

    if (!hrun_text_same(s->origin, "calibration") || !hrun_text_same(s->cluster, r->cluster) || !s->config ||
        hrun_config_parse(s->config, r->g->nsubs, &failed.config, NULL))
        return 0;
    failed.share = shares_of(r->g, s);
    return hrun_design_add(r->g->budget->design, &failed, err);
}

/* 1 if a --timeout ended a run of a command before it counted as too slow, and the present --timeout is longer or not
 * given, else 0. */
static int had_no_time(const struct context *c, const struct hrun_sample *s, double least_s)
{
    return c->app->fixed && hrun_text_same(s->status, "timeout") && s->wall_s < hrun_design_slow_s(least_s) &&
           !(c->timeout_s > 0 && c->timeout_s <= s->wall_s);
}

/* Add a sub-cluster's log to design and campaign. A failure counts only after a good run. A failure of a command counts
 * only between two good runs or if it was too slow: a failure without a later good run may come from a wrong start or
 * input. */
static int read_budget_log(struct context *c, struct campaign *g, int sub, struct hrun_error *err)
{
    autorelease(hrun_samples_release) struct hrun_samples samples = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT, cluster = HRUN_BUF_INIT;
    struct log_reading reading;
    double least_s = INFINITY;
    size_t good;              /* index after the last good run of a calibration */
    int rc = 0;

    if (hrun_store_samples(c->store, c->app->name, c->signatures.v[sub], &samples, err))
        return -1;
    hrun_samples_current(&samples);
    for (good = samples.n; good; good--)
        if (samples.v[good - 1].ok && hrun_text_same(samples.v[good - 1].origin, "calibration"))
            break;
    hrun_app_consts_text(c->app, &consts);
    hrun_cluster_names(c->cluster, &cluster);
    reading = (struct log_reading){ g, sub, samples.v, cluster.data };
    for (size_t k = 0; k < samples.n && !rc; k++) {
        const struct hrun_sample *s = &samples.v[k];

        if (!hrun_text_same(s->consts, consts.data))
            continue;
        if (s->ok)
            rc = add_good(&reading, k, err);
        else if (isfinite(least_s) && hrun_samples_failed(&samples, k) && !had_no_time(c, s, least_s) &&
                 (k + 1 < good || !c->app->fixed || hrun_text_same(s->status, HRUN_STATUS_TOO_SLOW)))
            rc = add_failure(&reading, s, err);
        least_s = s->ok ? fmin(least_s, s->wall_s) : least_s;
    }
    return rc;
}

int budget_build(struct context *c, const struct calib_settings *s, struct campaign *g, struct hrun_error *err)
{
    struct budget *b = xcalloc(1, sizeof *b);
    int n = c->cluster->nsubs, rc = 0;
    struct hrun_design_settings set = { 0 };

    *g = (struct campaign){ .nsubs = n, .budget = b };
    b->limit_s = s->budget.part * s->budget.limit_s;
    b->runs = (int)s->budget.runs;
    b->seed = (uint64_t)s->budget.seed;
    b->target = s->budget.target;
    b->subs = xcalloc((size_t)n, sizeof *b->subs);
    b->share = xcalloc((size_t)n, sizeof *b->share);
    if (lists_read(c, s, &b->lists, err) || fit_options(c->set, &set.fit, err) || network_use(c, NULL, err))
        return -1;
    set.fit.net = c->view;
    for (int i = 0; i < n; i++) {
        const struct hrun_subcluster *sub = &c->cluster->subs[i];

        b->subs[i] = (struct hrun_design_sub){ .name = sub->name, .signature = c->signatures.v[i],
                                               .npes = b->lists.most[i], .memory_bytes = (double)sub->memory_bytes };
    }
    set.sizes = b->lists.sizes.v;
    set.nsizes = b->lists.sizes.n;
    set.pes = b->lists.pes.n ? b->lists.pes.v : NULL;
    set.npes = b->lists.pes.n;
    set.procs = b->lists.procs.v;
    set.nprocs = b->lists.procs.n;
    set.budget_s = b->limit_s > 0 ? fmax(b->limit_s - s->budget.spent_s, 1e-3) : 0;
    set.own_budget = b->limit_s > 0 || b->runs || b->target > 0 ? 0 : s->budget.until;
    set.own_sizes = b->lists.own;
    b->finds = set.own_budget > 0;
    set.runs = b->runs ? b->runs - s->budget.made > 0 ? b->runs - s->budget.made : 1 : 0;
    set.target = b->target;
    set.seed = b->seed;
    b->design = hrun_design_create(c->app, b->subs, n, &set, err);
    if (!b->design)
        return -1;
    for (int i = 0; i < n && !rc; i++) {
        int k = 0;              /* the first measured sub-cluster with this log, which is read once */

        while (k < i && !(b->subs[k].npes && !strcmp(c->signatures.v[k], c->signatures.v[i])))
            k++;
        if (b->subs[i].npes && !s->again && k == i)
            rc = read_budget_log(c, g, i, err);
    }
    return rc;
}

void budget_destroy(struct budget *b)
{
    if (!b)
        return;
    hrun_design_destroy(b->design);
    lists_release(&b->lists);
    free(b->subs);
    free(b->share);
    free(b);
}

/* ------------------------------------------------------------------ text */

int budget_plan(const struct context *c, const struct campaign *g, struct hrun_buf *out, struct hrun_error *err)
{
    const struct hrun_design_state *st = hrun_design_state(g->budget->design);
    struct hrun_table *t = hrun_table_create("lrrlr");
    autorelease(hrun_buf_release) struct hrun_buf cluster = HRUN_BUF_INIT;
    struct hrun_design_run run;
    int rc = 0, n = 0;

    hrun_table_row(t, "configuration", "N", "P", "stage", "time");
    while ((!g->budget->runs || n < g->budget->runs) && (rc = hrun_design_next(g->budget->design, &run, err)) > 0) {
        hrun_table_cell(t, "%s", hrun_config_text(&run.config).s);
        hrun_table_cell(t, "%lld", (long long)run.N);
        hrun_table_cell(t, "%d", run.P);
        hrun_table_cell(t, "%s", hrun_design_stage_name(run.stage));
        hrun_table_cell(t, "%s", run.expected_s > 0 ? hrun_seconds(run.expected_s).s : "not known yet");
        n++;
        if (!st->queued)
            break;
    }
    if (rc >= 0) {
        hrun_cluster_names(c->cluster, &cluster);
        rc = 0;
        if (n) {
            hrun_table_render(t, 0, out);
            hrun_buf_addf(out, "\n%s over the sub-clusters %s, in this order (--seed %llu)%s\n",
                          hrun_counted(n, "first run").s, cluster.data, (unsigned long long)g->budget->seed,
                          n == g->budget->runs ? "" : "; the later ones depend on the times of these");
        } else {
            hrun_buf_adds(out, "nothing is left to be run\n");
        }
    }
    hrun_table_destroy(t);
    return rc;
}

static const char *const reasons[] = {
    [HRUN_DESIGN_GOES_ON] = "not at its end",
    [HRUN_DESIGN_BUDGET] = "the budget is spent, or too little of it is left for any run that would tell more",
    [HRUN_DESIGN_RUNS] = "all runs of --budget are made",
    [HRUN_DESIGN_TARGET] = "the percentage of --budget is reached",
    [HRUN_DESIGN_STABLE] = "the choice is stable: no further run is expected to improve it by 0.03 %",
    [HRUN_DESIGN_EXHAUSTED] = "nothing is left that could be run",
};

/* Smaller losses are shown as this one, since models are never more precise. */
static const double LOSS_SHOWN = 1e-4;

/* Append the sizes at which the choice is not settled, with the expected loss. */
static void add_open(const struct campaign *g, struct hrun_buf *out)
{
    const struct number_list *sizes = &g->budget->lists.sizes;
    const char *sep = " (not yet at N = ";
    double loss;

    for (int i = hrun_design_state(g->budget->design)->dropped, k = 0; i < sizes->n; i++, k++)
        if (!hrun_design_stands(g->budget->design, k, &loss) && loss >= LOSS_SHOWN) {
            if (sizes->n > 1)
                hrun_buf_addf(out, "%s%lld: %.2g %%", sep, (long long)sizes->v[i], 100 * loss);
            else
                hrun_buf_addf(out, " (%.2g %% may be lost by it", 100 * loss);
            sep = ", ";
        }
    if (*sep == ',')
        hrun_buf_adds(out, "; --budget TIME, with more time, goes on there)");
}

void budget_verdict(const struct campaign *g, struct hrun_buf *out)
{
    const struct hrun_design_state *st = hrun_design_state(g->budget->design);
    int found = st->end == HRUN_DESIGN_BUDGET && g->budget->limit_s <= 0;

    if (!found)
        hrun_buf_addf(out, "%s; ", reasons[st->end]);
    hrun_buf_addf(out, "%s in %s", hrun_counted(st->runs, "run").s, hrun_seconds(st->spent_s).s);
    if (st->budget_s > 0)
        hrun_buf_addf(out, " of a budget of %s%s", hrun_seconds(st->budget_s).s,
                      g->budget->limit_s > 0 ? "" : " (--budget TIME sets another)");
    if (st->ignores)
        hrun_buf_adds(out, "; unequal shares of the work make no difference to the program, so they stay equal");
    if (!st->sizes || isnan(st->loss))
        return;
    if (st->sizes > 1)
        hrun_buf_addf(out, "; the choice stands at %d of %d sizes", st->settled, st->sizes);
    else if (!st->settled)
        hrun_buf_adds(out, "; more runs may change the choice");
    if (st->sizes > 1)      /* models of few runs at one size cannot predict a loss */
        hrun_buf_addf(out, ", its expected loss against the best is %s%.2g %%", st->loss < LOSS_SHOWN ? "below " : "",
                  100 * fmax(st->loss, LOSS_SHOWN));
    add_open(g, out);
}
