/* report.c - what hrun says, as text; see report.h */
#include "report.h"

#include "base/table.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A profile is called stale when the actual time leaves the prediction interval by more than this part of the
 * prediction: the errors of paper 000, section 6.2, mostly stay within 20 %, so more is no longer the model's
 * scatter. */
static const double STALE = 0.2;

/* An extrapolation is mentioned from this ratio on: N^3 terms turn 25 % in N into a factor of two. */
static const double EXTRAPOLATION_WORTH_SAYING = 1.25;

static const char *plural(double n)
{
    return n == 1 ? "" : "s";
}

static int finish(struct hrun_buf *out, struct hrun_error *err)
{
    return out->failed ? hrun_fail_nomem(err) : 0;
}

static void add_percent(struct hrun_buf *out, double ratio)
{
    double p = 100 * (ratio - 1);

    hrun_buf_addf(out, fabs(p) < 9.95 ? "%+.1f %%" : "%+.0f %%", p);
}

static void add_option(struct hrun_buf *out, const char *option, const char *value)
{
    if (!value)
        return;
    hrun_buf_addf(out, " %s ", option);
    hrun_buf_add_shell(out, value);
}

static void add_options(struct hrun_buf *out, const char *option, const struct hrun_strvec *values)
{
    for (size_t i = 0; i < values->n; i++)
        add_option(out, option, values->v[i]);
}

/* The words with {N} where the size stands; without arguments when the size does not reach the program by them but
 * would by the definition's own. */
static void add_words(const struct context *c, int64_t N, char *const *words, struct hrun_buf *out)
{
    struct work w = { .c = (struct context *)c, .N = N, .words = words };
    char *program[] = { words[0], NULL };
    char number[32];

    if (c->app && !work_size_is_told(&w)) {
        w.words = program;
        if (work_size_is_told(&w))
            words = program;
    }
    snprintf(number, sizeof number, "%lld", (long long)N);
    for (char *const *word = words; *word; word++) {
        hrun_buf_addc(out, ' ');
        hrun_buf_add_shell(out, word > words && N && !strcmp(*word, number) ? "{N}" : *word);
    }
}

void report_calibrate_command(const struct context *c, int again, int64_t N, char *const *words, struct hrun_buf *out)
{
    const struct common_settings *s = c->set;

    hrun_buf_addf(out, "hrun-calibrate%s -app %s", again ? " --again" : "", "");
    hrun_buf_add_shell(out, s->app ? s->app : c->app ? c->app->name : "NAME");
    add_option(out, "--profile-path", s->profile_path);
    add_option(out, "--data", s->data);
    add_option(out, "--cluster", s->cluster_file);
    add_option(out, "--hostfile", s->host_file);
    add_option(out, "--host", s->hosts);
    hrun_buf_adds(out, s->skip_unreachable ? " --skip-unreachable" : "");
    add_option(out, "--platform", s->platform);
    add_option(out, "--level", s->level);
    add_option(out, "--engine", s->engine);
    add_options(out, "--smpi", &s->smpi);
    add_option(out, "--wdir", s->wdir);
    add_options(out, "-D", &s->defines);
    add_options(out, "-x", &s->env);
    for (size_t i = 0; i < s->mca.n; i++) {
        const char *eq = strchr(s->mca.v[i], '=');

        hrun_buf_addf(out, " --mca %.*s", eq ? (int)(eq - s->mca.v[i]) : 0, s->mca.v[i]);
        hrun_buf_addc(out, ' ');
        hrun_buf_add_shell(out, eq ? eq + 1 : "");
    }
    add_words(c, N, words, out);
}

static int total_pes(const struct hrun_cluster *cl)
{
    int n = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += cl->subs[i].npes;
    return n;
}

static void add_family(struct hrun_buf *out, const struct decision *d)
{
    static const char *const names[] = { "N-T", "P-T", "NP-T" };

    hrun_buf_addf(out, "%s/%s", names[d->family], d->method == HRUN_METHOD_LS ? "LS" : "NNLS");
}

static void add_heading(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    struct hrun_buf left = HRUN_BUF_INIT, right = HRUN_BUF_INIT;
    int pes = total_pes(c->cluster);

    hrun_buf_adds(&left, c->app ? c->app->name : words[0]);
    if (d->N)
        hrun_buf_addf(&left, "  N=%lld", (long long)d->N);
    hrun_buf_addf(&left, " on %d PE%s in %d sub-cluster%s", pes, plural(pes), d->nsubs, plural(d->nsubs));
    if (d->nsamples) {
        add_family(&right, d);
        hrun_buf_addf(&right, ", %d measurement%s", d->nsamples, plural(d->nsamples));
        if (d->newest_s >= 0) {
            hrun_buf_adds(&right, ", newest ");
            hrun_add_age(&right, d->newest_s);
            hrun_buf_adds(&right, " old");
        }
    } else {
        hrun_buf_adds(&right, !c->app ? "no app definition" : !d->N ? "no -N: no model is used" : "no profile");
    }
    hrun_buf_add(out, left.data, left.len);
    hrun_buf_addn(out, ' ', left.len < 49 ? 49 - left.len : 2);
    hrun_buf_add(out, right.data, right.len);
    hrun_buf_addc(out, '\n');
    hrun_buf_release(&left);
    hrun_buf_release(&right);
}

/* "2", or "2-3" where ranks differ. */
static void add_range(struct hrun_buf *out, int min, int max)
{
    hrun_buf_addf(out, min == max ? "%d" : "%d-%d", min, max);
}

/* The cells of a sub-cluster's ranks: the cores that each may use, and its threads. */
static void add_threads(const struct context *c, const struct decision *d, const struct hrun_layout *l, int sub,
                        struct hrun_table *t)
{
    const struct hrun_subcluster *s = &c->cluster->subs[sub];
    struct hrun_buf cores = HRUN_BUF_INIT, threads = HRUN_BUF_INIT;
    struct hrun_layout_share share;

    hrun_layout_share(l, sub, &share);
    if (share.cores_max) {
        add_range(&cores, share.cores_min, share.cores_max);
        if (d->has_config && d->procs[sub] > s->cores_per_pe)
            hrun_buf_adds(&cores, ", shared");
        if (c->app->threads)
            hrun_buf_addf(&threads, "%s (-x)", c->app->threads);
        else
            add_range(&threads, share.threads_min, share.threads_max);
    }
    hrun_table_cell(t, "%s", cores.len ? cores.data : "-");
    hrun_table_cell(t, "%s", threads.len ? threads.data : "-");
    hrun_buf_release(&cores);
    hrun_buf_release(&threads);
}

static int add_subclusters(const struct context *c, const struct decision *d, const struct hrun_layout *l,
                           struct hrun_buf *out, struct hrun_error *err)
{
    int fill = c->app && c->app->threads_fill;
    const char *predicted = d->predicted ? "predicted" : "";
    struct hrun_table *t = hrun_table_create(fill ? "lllllllrl" : "lllllrl");
    struct hrun_buf hosts = HRUN_BUF_INIT, ranks = HRUN_BUF_INIT, time = HRUN_BUF_INIT;
    int rc = -1;

    if (!t)
        return hrun_fail_nomem(err);
    if (fill)
        hrun_table_row(t, "sub-cluster", "hosts", "PEs used", "procs/PE", "cores/proc", "threads", "ranks", predicted,
                       "");
    else
        hrun_table_row(t, "sub-cluster", "hosts", "PEs used", "procs/PE", "ranks", predicted, "");
    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_subcluster *s = &c->cluster->subs[i];
        int used = d->has_config ? d->pes[i] : d->subs[i].npes;

        hrun_buf_reset(&hosts);
        hrun_buf_reset(&ranks);
        hrun_buf_reset(&time);
        if (used)
            report_hosts(c->cluster, s, used, &hosts);
        hrun_layout_ranks(l, i, &ranks);
        if (d->predicted && d->sub_time_s[i] > 0)
            hrun_add_seconds(&time, d->sub_time_s[i]);
        hrun_table_cell(t, "%s", s->name);
        hrun_table_cell(t, "%s", used ? hosts.data : "-");
        hrun_table_cell(t, "%d of %d", used, s->npes);
        if (!d->has_config)
            hrun_table_cell(t, "mixed");
        else if (used)
            hrun_table_cell(t, "%d", d->procs[i]);
        else
            hrun_table_cell(t, "-");
        if (fill)
            add_threads(c, d, l, i, t);
        hrun_table_cell(t, "%s", ranks.data);
        hrun_table_cell(t, "%s", time.len ? time.data : d->predicted ? "-" : "");
        hrun_table_cell(t, "%s", d->predicted && used && i == d->limiting ? "<- limits" : "");
    }
    hrun_buf_addc(out, '\n');
    rc = hrun_table_render(t, 2, out) ? hrun_fail_nomem(err) : 0;
    hrun_buf_addc(out, '\n');
    hrun_table_destroy(t);
    hrun_buf_release(&hosts);
    hrun_buf_release(&ranks);
    hrun_buf_release(&time);
    return rc;
}

/* "  corrected    +4.0 %, by 3 runs of this configuration and 2 at other N" */
static void add_correction(const struct decision *d, struct hrun_buf *out)
{
    if (!d->runs_here && !d->runs_elsewhere)
        return;
    hrun_buf_adds(out, "  corrected    ");
    add_percent(out, d->factor);
    hrun_buf_addf(out, ", by %d run%s of this configuration", d->runs_here ? d->runs_here : d->runs_elsewhere,
                  (d->runs_here ? d->runs_here : d->runs_elsewhere) == 1 ? "" : "s");
    if (!d->runs_here)
        hrun_buf_adds(out, " at other N");
    else if (d->runs_elsewhere)
        hrun_buf_addf(out, " and %d at other N", d->runs_elsewhere);
    hrun_buf_addc(out, '\n');
}

/* "  sub-cluster fast with 2 processes per PE: shared with slow" */
static void add_shared(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    static const char shared[] = "shared with ";

    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_models *m = d->subs[i].models;

        for (int k = 0; m && d->pes[i] && k < m->n; k++)
            if (m->v[k].M == d->procs[i] && d->P > d->procs[i] && !strcmp(m->v[k].family, "npt") && m->v[k].note &&
                !strncmp(m->v[k].note, shared, sizeof shared - 1))
                hrun_buf_addf(out, "  sub-cluster %s shows too few P alone: how its time follows P is %.*s\n",
                              c->cluster->subs[i].name, (int)strcspn(m->v[k].note, ";"), m->v[k].note);
    }
}

static int is_chosen(const struct decision *d, const struct hrun_choice *v)
{
    size_t len = (size_t)d->nsubs * sizeof *v->pes;

    return !memcmp(d->pes, v->pes, len) && !memcmp(d->procs, v->procs, len);
}

/* "  explores     may be as quick as the best known, (4,1,0,0) 61.8 s; predicted loss 1.4 %; 3 such are left" */
static void add_exploring(const struct decision *d, struct hrun_buf *out)
{
    const struct hrun_choice *best = &d->plan->v[0];

    hrun_buf_adds(out, "may be as quick as the best known, ");
    hrun_config_print(best->pes, best->procs, d->nsubs, out);
    hrun_buf_addc(out, ' ');
    hrun_add_seconds(out, best->time_s);
    hrun_buf_addf(out, "; predicted loss %.1f %%; ", 100 * d->explores.loss);
    if (d->explores.open > 1)
        hrun_buf_addf(out, "%d such are left\n", d->explores.open);
    else
        hrun_buf_adds(out, "the last such one\n");
}

int report_drift(const struct decision *d)
{
    int found = -1;

    for (int i = 0; i < d->nsubs; i++)
        if (d->drift[i].runs && (found < 0 || d->drift[i].runs > d->drift[found].runs))
            found = i;
    return found;
}

/* What has changed, and the command that measures it anew, a line each that begins with `lead`. */
static void add_drift(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                      struct hrun_buf *out)
{
    int i = report_drift(d);
    double factor;

    if (i < 0)
        return;
    factor = d->drift[i].factor;
    hrun_buf_addf(out, "%sthe machine has changed: the last %d runs that sub-cluster %s limits took %.0f %% %s than "
                  "those before and the profile say, since %.10s\n", lead, d->drift[i].runs, c->cluster->subs[i].name,
                  100 * fabs(factor - 1), factor > 1 ? "longer" : "less time", d->drift[i].since);
    hrun_buf_addf(out, "%sto measure it again: ", lead);
    report_calibrate_command(c, 1, d->N, words, out);
    hrun_buf_addc(out, '\n');
}

static void add_alternatives(const struct decision *d, struct hrun_buf *out)
{
    if (d->plan && d->plan->n > 1) {
        hrun_buf_adds(out, "  next best   ");
        for (int k = 1; k < d->plan->n; k++) {
            const struct hrun_choice *v = &d->plan->v[k];

            if (d->explores.on && is_chosen(d, v))
                continue;
            hrun_buf_adds(out, k == 1 ? " " : (k - 1) % 3 ? "     " : "\n               ");
            hrun_config_print(v->pes, v->procs, d->nsubs, out);
            hrun_buf_addc(out, ' ');
            hrun_add_seconds(out, v->time_s);
            hrun_buf_adds(out, "  ");
            add_percent(out, v->time_s / d->time_s);
        }
        hrun_buf_addc(out, '\n');
    }
    if (d->plain_known) {
        hrun_buf_adds(out, "  mpirun-style ");
        hrun_config_print(d->plain_pes, d->plain_procs, d->nsubs, out);
        hrun_buf_addc(out, ' ');
        hrun_add_seconds(out, d->plain_time_s);
        hrun_buf_adds(out, "  ");
        add_percent(out, d->plain_time_s / d->time_s);
        if (!d->plain_valid)
            hrun_buf_adds(out, "  (the rule excludes it)");
        hrun_buf_addc(out, '\n');
    }
}

static void add_counts(const struct decision *d, struct hrun_buf *out)
{
    const struct hrun_plan_counts *n = &d->plan->counts;

    hrun_buf_adds(out, "  ");
    hrun_add_count(out, n->total);
    hrun_buf_addf(out, " configuration%s", plural(n->total));
    if (n->counted) {
        double excluded = n->excluded_rule + n->excluded_memory + n->excluded_model;

        hrun_buf_adds(out, ": ");
        hrun_add_count(out, n->valid);
        hrun_buf_adds(out, " valid, ");
        hrun_add_count(out, excluded);
        hrun_buf_adds(out, " excluded (rule ");
        hrun_add_count(out, n->excluded_rule);
        hrun_buf_adds(out, ", memory ");
        hrun_add_count(out, n->excluded_memory);
        if (n->excluded_model > 0) {
            hrun_buf_adds(out, ", no model ");
            hrun_add_count(out, n->excluded_model);
        }
        hrun_buf_addc(out, ')');
    }
    hrun_buf_adds(out, "   ");
    hrun_add_seconds(out, d->plan->search_s);
    hrun_buf_adds(out, d->plan->exact ? "\n" : "  (search not exact)\n");
}

/* Is every PE a core of a host that has several? */
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

/* The engine is a part of what a profile is about, and may have been chosen by where hrun was started. */
static void add_other_engine(const struct context *c, const struct decision *d, int i, struct hrun_buf *out)
{
    const char *other = d->subs[i].other_engine;

    hrun_buf_addf(out, "sub-cluster %s has a profile for engine %s and none for engine %s, which starts this run: "
                  "--engine %s uses it\n", c->cluster->subs[i].name, other, c->engine->name, other);
}

static int extrapolates(const struct decision *d)
{
    return d->predicted && fmax(d->beyond_n.factor, d->beyond_p.factor) > EXTRAPOLATION_WORTH_SAYING;
}

static void add_beyond(const struct context *c, const struct beyond *b, const char *what, int64_t v, const char **sep,
                       struct hrun_buf *out)
{
    if (b->factor <= EXTRAPOLATION_WORTH_SAYING)
        return;
    hrun_buf_addf(out, "%s%s = %lld is %.1f times %s what sub-cluster %s was measured at (", *sep, what, (long long)v,
                  b->factor, v > b->measured[1] ? "beyond" : "below", c->cluster->subs[b->sub].name);
    hrun_buf_addf(out, b->measured[0] == b->measured[1] ? "%lld)" : "%lld .. %lld)", (long long)b->measured[0],
                  (long long)b->measured[1]);
    *sep = ", ";
}

/* In which of N and P, how far, and where. */
static void add_extrapolation(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    const char *sep = "";

    add_beyond(c, &d->beyond_n, "N", d->N, &sep, out);
    add_beyond(c, &d->beyond_p, "P", d->P, &sep, out);
}

static void add_notes(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    int missing = 0;

    if (c->app && c->app->threads_fill && one_core_each(c->cluster))
        hrun_buf_addf(out, "  %s fills cores with threads, and each PE is one core: choose larger PEs, for instance "
                      "--level node\n", c->app->name);
    for (int i = 0; i < d->nsubs; i++) {
        if (d->subs[i].why_not) {
            hrun_buf_addf(out, "  sub-cluster %s is not used by the model: %s\n", c->cluster->subs[i].name,
                          d->subs[i].why_not);
        } else if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "  ");
            add_other_engine(c, d, i, out);
        } else if (c->app && d->N && d->nsamples && !d->subs[i].models) {
            hrun_buf_addf(out, "  sub-cluster %s has no profile yet and is not used\n", c->cluster->subs[i].name);
        }
        missing += !d->subs[i].models;
    }
    if (d->predicted && d->has_config)
        add_shared(c, d, out);
    add_drift(c, d, "  ", words, out);
    if (extrapolates(d)) {
        hrun_buf_adds(out, "  the prediction extrapolates: ");
        add_extrapolation(c, d, out);
        hrun_buf_addc(out, '\n');
    }
    if (c->app && d->N && missing) {
        hrun_buf_adds(out, d->nsamples ? "  to measure the rest: " : "  to make a profile: ");
        report_calibrate_command(c, 0, d->N, words, out);
        hrun_buf_addc(out, '\n');
    }
}

/* What would be started, and how. */
static void add_command(const struct context *c, const struct command *cmd, struct hrun_buf *out)
{
    struct hrun_buf rankfile = HRUN_BUF_INIT;
    struct hrun_error why = { 0 };

    hrun_buf_adds(out, "  would run: ");
    if (!strcmp(c->engine->name, "local")) {
        for (char *const *word = cmd->argv; *word; word++) {
            hrun_buf_add_shell(out, *word);
            hrun_buf_addc(out, ' ');
        }
        hrun_buf_addf(out, " as %d process%s of hrun itself\n  the same by mpirun: ", cmd->layout->nranks,
                      cmd->layout->nranks == 1 ? "" : "es");
    }
    hrun_buf_addf(out, "%s\n", cmd->mpirun);
    if (cmd->layout->uneven_threads)
        hrun_buf_addf(out, "  %s OMP_NUM_THREADS, which differs from process to process\n",
                      strcmp(c->engine->name, "local") ? "and by hrun-shim" : "but for");
    if (c->set->verbose && c->cluster->platform) {
        hrun_buf_adds(out, "\n  hrun.hostfile:\n");
        hrun_layout_hostfile(cmd->layout, out, NULL);
    } else if (c->set->verbose) {
        if (!hrun_layout_rankfile(cmd->layout, &rankfile, &why))
            hrun_buf_addf(out, "\n  hrun.rankfile:\n%s", rankfile.data);
        else
            hrun_buf_addf(out, "\n  there is no rankfile for it: %s\n", why.text);
    }
    hrun_buf_release(&rankfile);
}

int report_plan(const struct context *c, const struct decision *d, const struct command *cmd, char *const *words,
                struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf line = HRUN_BUF_INIT;

    add_heading(c, d, words, out);
    if (add_subclusters(c, d, cmd->layout, out, err))
        return -1;
    hrun_buf_addf(&line, "  P = %d", d->P);
    if (d->has_config) {
        hrun_buf_adds(&line, "  ");
        hrun_config_print(d->pes, d->procs, d->nsubs, &line);
    }
    if (d->predicted) {
        hrun_buf_addn(&line, ' ', line.len < 47 ? 47 - line.len : 2);
        hrun_buf_adds(&line, "predicted ");
        hrun_add_seconds(&line, d->time_s);
        hrun_buf_adds(&line, " (");
        hrun_add_seconds(&line, d->low_s);
        hrun_buf_adds(&line, " .. ");
        hrun_add_seconds(&line, d->high_s);
        hrun_buf_addc(&line, ')');
    } else if (d->by == BY_DEFAULT) {
        hrun_buf_adds(&line, "  one process per PE");
        if (c->app && d->N)
            hrun_buf_adds(&line, ", the largest P that the rule accepts");
    } else {
        hrun_buf_adds(&line, d->nsamples ? "  as requested; the model has no prediction for it"
                                         : "  as requested; no prediction");
    }
    hrun_buf_add(out, line.data, line.len);
    hrun_buf_addc(out, '\n');
    hrun_buf_release(&line);
    if (d->predicted) {
        add_correction(d, out);
        if (d->explores.on) {
            hrun_buf_adds(out, "  explores     ");
            add_exploring(d, out);
        }
        add_alternatives(d, out);
    }
    if (d->plan)
        add_counts(d, out);
    add_notes(c, d, words, out);
    add_command(c, cmd, out);
    return finish(out, err);
}

/* What a dry run would have told: fast hosts that nobody has measured must not lie idle unnoticed. */
static void tell_unmeasured(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    int missing = 0;

    for (int i = 0; d->by == BY_MODEL && i < d->nsubs; i++) {
        if (d->subs[i].models || d->subs[i].why_not)
            continue;
        hrun_buf_addf(out, "hrun: sub-cluster %s has no profile yet and is not used\n", c->cluster->subs[i].name);
        if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "hrun: ");
            add_other_engine(c, d, i, out);
        }
        missing = 1;
    }
    if (missing) {
        hrun_buf_adds(out, "hrun: to measure it: ");
        report_calibrate_command(c, 0, d->N, words, out);
        hrun_buf_addc(out, '\n');
    }
}

void report_before(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    if (d->by != BY_DEFAULT) {
        tell_unmeasured(c, d, words, out);
        if (d->explores.on) {
            hrun_buf_adds(out, "hrun: explores ");
            hrun_config_print(d->pes, d->procs, d->nsubs, out);
            hrun_buf_adds(out, ", which ");
            add_exploring(d, out);
        }
        return;
    }
    if (!c->app) {
        hrun_buf_addf(out, "hrun: no app definition knows %s: %d process%s, one per PE\n", words[0],
                      d->P, d->P == 1 ? "" : "es");
        return;
    }
    if (!d->N) {
        hrun_buf_addf(out, "hrun: no -N given, so no model is used: %d process%s, one per PE\n", d->P,
                      d->P == 1 ? "" : "es");
        return;
    }
    hrun_buf_addf(out, "hrun: no profile of %s on %s: %d process%s, one per PE\n",
                  c->app->name, c->cluster->platform ? "this platform" : "this machine", d->P,
                  d->P == 1 ? "" : "es");
    for (int i = 0; i < d->nsubs; i++) {
        if (d->subs[i].why_not) {
            hrun_buf_addf(out, "hrun: sub-cluster %s: %s\n", c->cluster->subs[i].name, d->subs[i].why_not);
        } else if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "hrun: ");
            add_other_engine(c, d, i, out);
        }
    }
    hrun_buf_adds(out, "hrun: to make one: ");
    report_calibrate_command(c, 0, d->N, words, out);
    hrun_buf_addc(out, '\n');
}

void report_after(const struct context *c, const struct decision *d, const struct work_result *r, int told,
                  int recorded, char *const *words, struct hrun_buf *out)
{
    double delta;

    if (!r->ok) {
        if (!strcmp(r->status, "no time in output"))
            hrun_buf_addf(out, "hrun: %s\n", r->detail);
        return;
    }
    if (!d->predicted) {
        if (c->app && d->N) {
            hrun_buf_adds(out, "hrun: actual ");
            hrun_add_seconds(out, r->time_s);
            hrun_buf_addf(out, " with %d process%s%s\n", d->P, d->P == 1 ? "" : "es", recorded ? ", recorded" : "");
            if (!told)
                hrun_buf_addf(out, "hrun: not recorded: N = %lld does not stand among the program's words; write {N} "
                              "where the size belongs\n", (long long)d->N);
            else if (!d->has_config)
                hrun_buf_adds(out, "hrun: not recorded: the PEs have different numbers of processes\n");
        }
        return;
    }
    /* delta = (predicted - actual) / actual: paper 000, section 6.2. */
    delta = (d->time_s - r->time_s) / r->time_s;
    hrun_buf_adds(out, "hrun: predicted ");
    hrun_add_seconds(out, d->time_s);
    hrun_buf_adds(out, ", actual ");
    hrun_add_seconds(out, r->time_s);
    hrun_buf_addf(out, ", prediction error %+.1f %%\n", 100 * delta);
    if (report_drift(d) >= 0) {
        add_drift(c, d, "hrun: ", words, out);
        return;
    }
    if (r->time_s <= d->high_s + STALE * d->time_s && r->time_s >= d->low_s - STALE * d->time_s)
        return;
    if (extrapolates(d)) {
        hrun_buf_adds(out, "hrun: that is far outside the interval; the prediction extrapolated: ");
        add_extrapolation(c, d, out);
        hrun_buf_adds(out, "; measure larger sizes (--sizes of hrun-calibrate), or more PEs where there are\n");
    } else {
        hrun_buf_adds(out, "hrun: that is far outside the interval: the machine was busy, or the profile is stale; to "
                           "measure again: ");
        report_calibrate_command(c, 1, d->N, words, out);
        hrun_buf_addc(out, '\n');
    }
}
