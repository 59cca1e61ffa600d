/* report.c - the dry run, as text; see report.h */
#include "report.h"

#include "base/units.h"
#include "session/core_kinds.h"
#include "session/decide_unmodelled.h"
#include "session/number.h"
#include "session/prediction.h"
#include "session/preparation.h"
#include "session/problem.h"

#include <math.h>
#include <string.h>

static int total_pes(const struct hrun_cluster *cl)
{
    int n = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += cl->subs[i].npes;
    return n;
}

static void add_family(struct hrun_buf *out, const struct context *c, const struct decision *d)
{
    const struct hrun_family *family = hrun_family_of(c->app);

    hrun_buf_adds(out, family->name);
    if (family->fit)
        hrun_buf_adds(out, d->basis.method == HRUN_METHOD_LS ? "/LS" : "/NNLS");
}

static void add_heading(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf left = HRUN_BUF_INIT, right = HRUN_BUF_INIT;
    int pes = total_pes(c->cluster);

    hrun_buf_adds(&left, c->app && problem_is_known(c) ? c->app->name : words[0]);
    if (c->number)
        hrun_buf_addf(&left, "  N = %lld (%s)", (long long)d->N, c->number->text);
    else if (d->N && !c->app->fixed)
        hrun_buf_addf(&left, "  N=%lld", (long long)d->N);
    hrun_buf_addf(&left, " on %s in %s", hrun_counted(pes, "PE").s, hrun_counted(d->nsubs, "sub-cluster").s);
    if (d->basis.formula && d->predicted.known) {
        add_family(&right, c, d);
    } else if (d->basis.nsamples) {
        add_family(&right, c, d);
        hrun_buf_addf(&right, ", %s", hrun_counted(d->basis.nsamples, "measurement").s);
        if (d->basis.newest_s >= 0)
            hrun_buf_addf(&right, ", newest %s old", hrun_age(d->basis.newest_s).s);
    } else {
        hrun_buf_adds(&right, !c->app || !problem_is_known(c) ? "never measured" : c->app->fixed ? "not calibrated"
                      : !d->N ? "no -N: no model is used" : "no profile");
    }
    hrun_buf_add(out, left.data, left.len);
    hrun_buf_addn(out, ' ', left.len < 49 ? 49 - left.len : 2);
    hrun_buf_add(out, right.data, right.len);
    hrun_buf_addc(out, '\n');
}

/* Append "2", or "2-3" if ranks differ. */
static void add_span(struct hrun_buf *out, int min, int max)
{
    hrun_buf_addf(out, min == max ? "%d" : "%d-%d", min, max);
}

/* The cells of a sub-cluster's ranks: the cores that each may use, and its threads. */
static void add_threads(const struct context *c, const struct decision *d, const struct hrun_layout *l, int sub,
                        struct hrun_table *t)
{
    const struct hrun_subcluster *s = &c->cluster->subs[sub];
    autorelease(hrun_buf_release) struct hrun_buf cores = HRUN_BUF_INIT, threads = HRUN_BUF_INIT;
    struct hrun_layout_share share;

    hrun_layout_share(l, sub, &share);
    if (share.cores_max) {
        add_span(&cores, share.cores_min, share.cores_max);
        if (d->has_config && d->config.procs[sub] > s->cores_per_pe)
            hrun_buf_adds(&cores, ", shared");
        if (c->app->run.threads)
            hrun_buf_addf(&threads, "%s (-x)", c->app->run.threads);
        else
            add_span(&threads, share.threads_min, share.threads_max);
    }
    hrun_table_cell(t, "%s", cores.len ? cores.data : "-");
    hrun_table_cell(t, "%s", threads.len ? threads.data : "-");
}

static void add_subcluster_table(const struct context *c, const struct decision *d, const struct hrun_layout *l,
                                 struct hrun_buf *out)
{
    int fill = c->app && c->app->run.threads_fill, dealt = d->shares.each && d->shares.could_deal;
    const char *predicted = d->predicted.known ? "predicted" : "";
    struct hrun_table *t = hrun_table_create(fill ? "lllllllrl" : dealt ? "lllllrrl" : "lllllrl");
    autorelease(hrun_buf_release) struct hrun_buf hosts = HRUN_BUF_INIT, ranks = HRUN_BUF_INIT;

    if (fill)
        hrun_table_row(t, "sub-cluster", "hosts", "PEs used", "procs/PE", "cores/proc", "threads", "ranks", predicted,
                       "");
    else if (dealt)
        hrun_table_row(t, "sub-cluster", "hosts", "PEs used", "procs/PE", "ranks", "units/proc", predicted, "");
    else
        hrun_table_row(t, "sub-cluster", "hosts", "PEs used", "procs/PE", "ranks", predicted, "");
    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_subcluster *s = &c->cluster->subs[i];
        int used = d->has_config || l->bound ? d->config.pes[i] : d->subs[i].npes;

        hrun_buf_reset(&hosts);
        hrun_buf_reset(&ranks);
        report_rank_hosts(l, i, &hosts);
        hrun_layout_ranks(l, i, &ranks);
        hrun_table_cell(t, "%s", s->name);
        hrun_table_cell(t, "%s", used ? hosts.data : "-");
        hrun_table_cell(t, "%d of %d", used, s->npes);
        if (!d->has_config)
            hrun_table_cell(t, "mixed");
        else if (used)
            hrun_table_cell(t, "%d", d->config.procs[i]);
        else
            hrun_table_cell(t, "-");
        if (fill)
            add_threads(c, d, l, i, t);
        hrun_table_cell(t, "%s", ranks.data);
        if (dealt && !fill && used)
            hrun_table_cell(t, "%.0f", d->shares.each[i]);
        else if (dealt && !fill)
            hrun_table_cell(t, "-");
        hrun_table_cell(t, "%s", !d->predicted.known ? "" : d->predicted.sub_time_s[i] > 0
                        ? hrun_seconds(d->predicted.sub_time_s[i]).s : "-");
        hrun_table_cell(t, "%s", d->predicted.known && used && i == d->predicted.limiting &&
                        !d->shares.tasking.dynamic ? "<- limits" : "");
    }
    hrun_buf_addc(out, '\n');
    hrun_table_render(t, 2, out);
    hrun_buf_addc(out, '\n');
    hrun_table_destroy(t);
}

/* Append how the program divides its work, concluded from runs. If the speeds of sub-clusters add up, no sub-cluster
 * limits the run; the time shown for a sub-cluster is the time of a run whose processes all have its speed. */
static void add_tasking(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    if (d->predicted.known && c->app->shares.units && !d->shares.could_deal && !d->shares.tasking.ignores &&
        !d->shares.tasking.dynamic)
        hrun_buf_addf(out, "  shares of the work stay equal, as no model has a term with W: hrun-calibrate fit %s\n",
                      c->app->name);
    if (d->predicted.known && d->shares.tasking.ignores)
        hrun_buf_adds(out,
                      "  unequal shares of the work make no difference to the program, as runs with them show: they "
                      "stay equal (where it has been told them wrongly: hrun-calibrate --again)\n");
    if (d->predicted.known && d->shares.tasking.dynamic)
        hrun_buf_addf(out, "  a process gets new work%s when it is free, as runs on several sub-clusters show, so "
                      "speeds add up; the times of sub-clusters are those that all %d processes would take there\n",
                      d->shares.tasking.master ? " from one process" : "", d->P);
}

/* Append lines on models whose dependence on P is shared with another sub-cluster. */
static void add_shared(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    static const char shared[] = "shared with ";

    for (int i = 0; d->nsubs > 1 && i < d->nsubs; i++) {
        const struct hrun_models *m = d->subs[i].models;

        for (int k = 0; m && d->config.pes[i] && k < m->n; k++)
            if (m->v[k].M == d->config.procs[i] && d->P > d->config.procs[i] && !strcmp(m->v[k].family, "npt") &&
                m->v[k].note &&
                !strncmp(m->v[k].note, shared, sizeof shared - 1))
                hrun_buf_addf(out, "  sub-cluster %s shows too few P alone: how its time follows P is %.*s\n",
                              c->cluster->subs[i].name, (int)strcspn(m->v[k].note, ";"), m->v[k].note);
    }
}

/* Add the operations of the choice with irregular times, for which the model has only the mean. */
static void add_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf which = HRUN_BUF_INIT;

    predicted_irregular(c, d, &which);
    if (which.len)
        hrun_buf_addf(out, "  irregular: %s is of a size at which gathers lose messages and wait, now and then: the "
                      "interval does not hold that; --tune-collectives splits such gathers\n", which.data);
}

static void add_network_line(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    if (!d->basis.network)
        return;
    hrun_buf_addf(out, "  network of %s", hrun_counted(c->net->nhosts, "host").s);
    if (c->set->network)
        hrun_buf_addf(out, " as %s has it", c->set->network);
    else if (d->basis.network_age_s >= 0) {
        hrun_buf_addf(out, ", measured %s ago", hrun_age(d->basis.network_age_s).s);
    }
    if (d->plan && d->plan->evaluated > 0)
        hrun_buf_addf(out, "; %s looked at as a whole", hrun_counted(d->plan->evaluated, "configuration").s);
    hrun_buf_addc(out, '\n');
    add_irregular(c, d, out);
}

/* 1 if every PE is one core of a host with several cores, else 0. */
static int one_core_each(const struct hrun_cluster *cl)
{
    int several = 0;

    for (int i = 0; i < cl->nsubs; i++) {
        if (cl->subs[i].level != HRUN_LEVEL_CORE)
            return 0;
        several |= cl->subs[i].npes > 1;
    }
    return several;
}

/* Append hrun-calibrate's warning about models that miss their own measurements. */
static void add_misses_note(const struct decision *d, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf which = HRUN_BUF_INIT;

    report_misses(d, &which);
    if (which.len)
        hrun_buf_addf(out, "  these models miss their own measurements by more than %.0f %% on average: %s; measure "
                      "larger sizes, or more often\n", 100 * HRUN_MODELS_MISS, which.data);
}

/* Append a line on the numbers of processes per PE for which sub-cluster i has no model. Result: 1 if any, else 0. */
static int add_wanting(const struct context *c, const struct decision *d, int i, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf which = HRUN_BUF_INIT;

    if (c->app && d->plan && d->subs[i].models)
        models_wanting(c->app, d->subs[i].models, &which);
    if (which.len)
        hrun_buf_addf(out, "  sub-cluster %s has no model for %s process%s per PE and is not used so\n",
                      c->cluster->subs[i].name, which.data, strcmp(which.data, "1") ? "es" : "");
    return which.len > 0;
}

static void add_notes(const struct context *c, const struct decision *d, const struct ledger *ledger,
                      char *const *words, struct hrun_buf *out)
{
    int missing = 0, wanting = 0;

    if (c->app && c->app->run.threads_fill && one_core_each(c->cluster))
        hrun_buf_addf(out, "  %s fills cores with threads, and each PE is one core: choose larger PEs, for instance "
                      "--level node\n", c->app->name);
    for (int i = 0; i < d->nsubs; i++) {
        if (d->subs[i].why_not) {
            hrun_buf_addf(out, "  sub-cluster %s is not used by the model: %s\n", c->cluster->subs[i].name,
                          d->subs[i].why_not);
        } else if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "  ");
            report_other_engine(c, d, i, out);
        } else if (c->app && d->N && d->basis.nsamples && !d->subs[i].models) {
            hrun_buf_addf(out, "  sub-cluster %s has no profile yet and is not used\n", c->cluster->subs[i].name);
        }
        wanting += add_wanting(c, d, i, out);
        missing += !d->subs[i].models;
    }
    if (c->cluster->granted)
        hrun_buf_addf(out, "  %s grants %s: -n, --config or --map-by may start more\n", c->cluster->allocation,
                      hrun_counted(c->cluster->granted, "process").s);
    if (ledger_busy(ledger)) {
        hrun_buf_adds(out, ledger->waits ? "  it would wait: " : "  ");
        ledger_print_users(ledger, out);
        hrun_buf_addc(out, '\n');
    }
    for (const char *line = d->basis.network_note, *end; line && *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        hrun_buf_addf(out, "  %.*s\n", (int)(end - line), line);
    }
    add_tasking(c, d, out);
    report_settings(c, d, "  ", words, out);
    if (d->predicted.known && d->has_config)
        add_shared(c, d, out);
    add_misses_note(d, out);
    report_changed(c, d, "  ", words, out);
    if (c->app && d->N && missing + wanting) {
        hrun_buf_adds(out, d->basis.nsamples ? "  to measure the rest: " : "  to make a profile: ");
        report_calibrate_command(c, CALIBRATE_MEASURE, d, words, out);
        hrun_buf_addc(out, '\n');
    }
}

/* Add the first line of each command that would prepare the run, or a line that the preparation is done already. */
static int add_preparation(const struct context *c, const struct decision *d, const struct hrun_layout *layout,
                           struct hrun_buf *out, struct hrun_error *err)
{
    struct work w = { .c = (struct context *)c, .N = d->N, .share = d->shares.each };
    autorelease(hrun_strvec_release) struct hrun_strvec due = HRUN_STRVEC_INIT;
    double took_s, age_s;

    if (!c->app || !c->app->run.nprepare)
        return 0;
    if (preparation_due(&w, layout, &due, &took_s, &age_s, err))
        return -1;
    for (size_t i = 0; i < due.n; i++) {
        size_t len = strcspn(due.v[i], "\n");

        hrun_buf_addf(out, "  would prepare: %.*s%s%s\n", (int)len, due.v[i], due.v[i][len] ? " ..." : "",
                      c->app->run.prepare[i].mpi ? " as all processes" : "");
    }
    if (!due.n && !d->kept.on)
        hrun_buf_addf(out, "  prepare      done already, %s ago; --force prepares anew\n", hrun_age(age_s).s);
    return 0;
}

/* Append the command that would be started. */
static void add_command(const struct context *c, const struct command *cmd, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf rankfile = HRUN_BUF_INIT;
    struct hrun_error why = { 0 };

    hrun_buf_adds(out, "  would run: ");
    if (!c->engine->command) {
        for (int r = 0; r < cmd->layout->nranks; r += hrun_job_run_length(cmd->job, r)) {
            hrun_buf_adds(out, r ? " : " : "");
            if (cmd->job->which)
                hrun_buf_addf(out, "-n %d ", hrun_job_run_length(cmd->job, r));
            hrun_buf_add_command(out, hrun_job_program(cmd->job, r).argv);
        }
        hrun_buf_addf(out, " as %s of hrun itself\n  the same by %s: ", hrun_counted(cmd->layout->nranks, "process").s,
                      c->mpi.kind == HRUN_MPI_MPICH ? "mpiexec" : "mpirun");
    }
    hrun_buf_addf(out, "%s\n", cmd->mpirun);
    if (*cmd->yielding)
        hrun_buf_addf(out, "  %s\n", cmd->yielding);
    report_threads(cmd->layout, "  ", out);
    if (cmd->layout->uneven_threads)
        hrun_buf_addf(out, "  %s OMP_NUM_THREADS, which differs from process to process\n",
                      c->engine->command ? "and by hrun-shim" : "but for");
    if (c->set->verbose && c->cluster->platform) {
        hrun_buf_adds(out, "\n  hrun.hostfile:\n");
        hrun_layout_hostfile(cmd->layout, out);
    } else if (c->set->verbose) {
        if (!hrun_layout_rankfile(cmd->layout, &rankfile, &why))
            hrun_buf_addf(out, "\n  hrun.rankfile:\n%s", rankfile.data);
        else
            hrun_buf_addf(out, "\n  there is no rankfile for it: %s\n", why.text);
    }
}

/* Append "  rows         896 for each process on b, 576 on a". */
static void add_rows(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    const char *lead = "  rows         ";

    for (int i = 0; i < d->nsubs; i++)
        if (d->config.pes[i]) {
            hrun_buf_addf(out, "%s%.10g %son %s", lead, d->shares.each[i], *lead == ' ' ? "for each process " : "",
                          c->cluster->subs[i].name);
            lead = ", ";
        }
    hrun_buf_addc(out, '\n');
}

/* Up to this ratio of extrapolation, models are off by some percent (tests/trials, "beyond"). */
static const double FAR = 1.5;

/* Append "  P = 6  (4,1,2,1)      predicted 61.2 s (58.1 s .. 64.9 s)". */
static void add_choice_line(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf line = HRUN_BUF_INIT;

    hrun_buf_addf(&line, "  P = %d", d->P);
    if (d->has_config)
        hrun_buf_addf(&line, "  %s", hrun_config_text(&d->config).s);
    if (d->predicted.known) {
        hrun_buf_addn(&line, ' ', line.len < 47 ? 47 - line.len : 2);
        hrun_buf_addf(&line, "predicted %s (%s)", hrun_seconds(d->predicted.time.mid).s,
                      hrun_seconds_range(d->predicted.time.low, d->predicted.time.high).s);
        if (fmax(d->basis.beyond_n.factor, d->basis.beyond_p.factor) > FAR)
            hrun_buf_adds(&line, ", extrapolated");
    } else if (d->fallback.run_s > 0) {
        hrun_buf_adds(&line, "  the quickest of its runs");
    } else if (d->fallback.granted) {
        hrun_buf_addf(&line, "  as %s grants", c->cluster->allocation);
    } else if (d->by == BY_DEFAULT) {
        hrun_buf_addf(&line, "  one process per %s", report_unit(c, d));
        if (c->app && d->N && !c->app->suits_pes)
            hrun_buf_addf(&line, ", the largest P that the rule%s", c->app->memory || c->app->shares.memory ?
                          " and the memory accept" : " accepts");
    } else if (d->by == BY_RUNS) {
        hrun_buf_adds(&line, d->learning.why == HRUN_LEARN_TRIES ? "  explored: " : "  ");
        report_learning(d, &line);
    } else if (d->by == BY_PROBE) {
        hrun_buf_adds(&line, "  by the speeds that the probe told");
    } else if (d->by == BY_KINDS) {
        hrun_buf_adds(&line, "  ");
        report_places(c, d, &line);
    } else {
        hrun_buf_adds(&line, d->basis.nsamples ? "  as requested; the model has no prediction for it"
                                         : "  as requested; no prediction");
    }
    hrun_buf_addc(&line, '\n');
    hrun_buf_add(out, line.data, line.len);
}

/* Append "  mapping      by node, bound to core
 *                0 h1:0  1 h2:0  2 h1:1 ..." */
static void add_rank_places(const struct command *cmd, struct hrun_buf *out)
{
    enum { SHOWN = 16 };
    const struct hrun_layout *l = cmd->layout;

    hrun_buf_adds(out, "  mapping      ");
    hrun_mapping_print(cmd->mapping, l, out);
    hrun_buf_adds(out, "; rank host:cores\n              ");
    for (int r = 0; r < l->nranks && r < SHOWN; r++)
        hrun_buf_addf(out, " %d %s:%s%s", r, l->cluster->hosts[l->ranks[r].host].name, l->ranks[r].cores,
                      r + 1 < l->nranks ? " " : "");
    hrun_buf_adds(out, l->nranks > SHOWN ? "...\n" : "\n");
}

int report_plan(const struct launch_plan *p, const struct command *cmd, struct hrun_buf *out, struct hrun_error *err)
{
    const struct context *c = &p->c;
    const struct decision *d = &p->d;
    char *const *words = p->w.words;

    add_heading(c, d, words, out);
    add_subcluster_table(c, d, cmd->layout, out);
    add_choice_line(c, d, out);
    if (c->kinds.looked) {
        hrun_buf_adds(out, "  ");
        kinds_print(c, out);
        hrun_buf_addc(out, '\n');
    }
    if (cmd->variants && cmd->variants->n) {
        hrun_buf_adds(out, "  variant      ");
        variants_print(cmd->variants, out);
        hrun_buf_addc(out, '\n');
    }
    if (d->shares.each && hrun_family_of(c->app)->deals_units)
        add_rows(c, d, out);
    if (cmd->layout->bound)
        add_rank_places(cmd, out);
    report_choice(c, d, words, out);
    add_network_line(c, d, out);
    probe_print(&p->probe, out);
    add_notes(c, d, &p->ledger, words, out);
    if (p->w.tune)
        tuned_plan(p->w.tune, out);
    if (add_preparation(c, d, cmd->layout, out, err))
        return -1;
    add_command(c, cmd, out);
    return 0;
}
