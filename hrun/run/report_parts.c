/* report_parts.c - texts shared by the dry run and the lines around a run; see report.h */
#include "report.h"

#include "base/units.h"
#include "session/conditions.h"
#include "session/context_network.h"
#include "session/core_kinds.h"
#include "session/work_passed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An extrapolation is mentioned from this ratio on: N^3 terms turn 25 % in N into a factor of two. */
static const double EXTRAPOLATION_WORTH_SAYING = 1.25;

void report_option(const char *option, const char *value, struct hrun_buf *out)
{
    if (!value)
        return;
    hrun_buf_addf(out, " %s%s", option, *option ? " " : "");
    hrun_buf_add_shell(out, value);
}

static void add_options(struct hrun_buf *out, const char *option, const struct hrun_strvec *values)
{
    for (size_t i = 0; i < values->n; i++)
        report_option(option, values->v[i], out);
}

/* Append the words with {N} in place of the size; without arguments if only the definition's own arguments would pass
 * the size to the program. */
static void add_words(const struct context *c, int64_t N, char *const *words, struct hrun_buf *out)
{
    struct work w = { .c = (struct context *)c, .N = N, .words = words };
    char *program[] = { words[0], NULL };
    char number[32];

    if (c->app && !work_size_is_passed(&w)) {
        w.words = program;
        if (work_size_is_passed(&w))
            words = program;
    }
    snprintf(number, sizeof number, "%lld", (long long)N);
    for (char *const *word = words; *word; word++) {
        hrun_buf_addc(out, ' ');
        hrun_buf_add_shell(out, word > words && N && !strcmp(*word, number) ? "{N}" : *word);
    }
}

void report_where(const struct context *c, struct hrun_buf *out)
{
    const struct settings *s = c->set;

    report_option("--data", s->data, out);
    report_option("--cluster", s->machine.cluster_file, out);
    report_option("--hostfile", s->machine.host_file, out);
    report_option("--host", s->machine.hosts, out);
    hrun_buf_adds(out, s->machine.skip_unreachable ? " --skip-unreachable" : "");
    report_option("--platform", s->machine.platform, out);
    report_option("--level", s->machine.level, out);
    report_option("--engine", s->job.engine, out);
}

/* Append the command that measures speeds or a missing network. Speeds of simulated hosts are in the platform file. */
static void add_formula_command(const struct context *c, int again, const struct decision *d, struct hrun_buf *out)
{
    int network = c->cluster->platform != NULL;

    for (int i = 0; i < d->nsubs; i++)
        network |= d->subs[i].needs_network;
    if (network) {
        network_command(c, out);
        hrun_buf_adds(out, again ? " --redo" : "");
        return;
    }
    hrun_buf_adds(out, "hrun-calibrate speeds");
    report_where(c, out);
}

void report_calibrate_command(const struct context *c, enum calibrate_how how, const struct decision *d,
                              char *const *words, struct hrun_buf *out)
{
    const struct settings *s = c->set;
    int64_t N = d->N;
    int again = how == CALIBRATE_AGAIN;
    int bare = c->app && !*c->app->file && !c->problem;    /* 1: a definition must be written first */

    if (c->app && hrun_family_of(c->app)->by_formula) {
        add_formula_command(c, again, d, out);
        return;
    }
    hrun_buf_addf(out, "hrun-calibrate%s%s", bare ? " --new" : "", again ? " --again" : "");
    if (s->app || !c->problem)
        report_option("-app", s->app ? s->app : c->app ? c->app->name : "NAME", out);
    report_option("--profile-path", s->profile_path, out);
    report_where(c, out);
    add_options(out, "--smpi", &s->job.smpi);
    report_option("--wdir", s->job.wdir, out);
    add_options(out, "-D", &s->defines);
    add_options(out, "-x", &s->job.env);
    for (size_t i = 0; i < s->job.mca.n; i++) {
        const char *eq = strchr(s->job.mca.v[i], '=');

        hrun_buf_addf(out, " --mca %.*s ", eq ? (int)(eq - s->job.mca.v[i]) : 0, s->job.mca.v[i]);
        hrun_buf_add_shell(out, eq ? eq + 1 : "");
    }
    if (bare)
        hrun_buf_addf(out, " --sizes %lld,%lld,%lld --", (long long)(N / 4 ? N / 4 : 1), (long long)(N / 2 ? N / 2 : 1),
                      (long long)N);
    else if (c->app && c->app->fixed)
        ;
    else if (N && c->app && hrun_family_of(c->app)->is_of_sizes && !again)
        hrun_buf_addf(out, " -N %lld", (long long)N);
    else if (how == CALIBRATE_SIZE)
        hrun_buf_addf(out, " --sizes %lld", (long long)N);
    else if (N && c->app && !hrun_family_of(c->app)->is_of_sizes && !c->app->sizes.n)
        hrun_buf_addf(out, " -N %lld", (long long)N);
    add_words(c, c->app && c->app->fixed ? 0 : N, words, out);
}

void report_exploring(const struct decision *d, struct hrun_buf *out)
{
    const struct hrun_choice *best = &d->plan->v[0];

    hrun_buf_addf(out, "may be as quick as the best known, %s %s; predicted loss %.1f %%; ",
                  hrun_config_text(&best->config).s, hrun_seconds(best->time_s).s, 100 * d->explores.loss);
    if (d->explores.open > 1)
        hrun_buf_addf(out, "%d such are left\n", d->explores.open);
    else
        hrun_buf_adds(out, "the last such one\n");
}

void report_learning(const struct decision *d, struct hrun_buf *out)
{
    const struct learning *l = &d->learning;

    if (l->why == HRUN_LEARN_TRIES) {
        hrun_buf_addf(out, "may be quicker than the best known, %s %s: expected to take %s (%s)", l->best,
                      hrun_seconds(l->best_s).s, hrun_seconds(l->expected_s).s,
                      hrun_seconds_range(l->low_s, l->high_s).s);
        return;
    }
    hrun_buf_addf(out, "the best known, expected to take %s as %s before", hrun_seconds(l->best_s).s,
                  hrun_counted(l->best_runs, "run").s);
    if (l->why == HRUN_LEARN_DONE && l->after_trial)
        hrun_buf_adds(out, "; nothing better is likely");
    if (l->why == HRUN_LEARN_DEBT && l->after_trial)
        hrun_buf_adds(out, "; no further trial until faster runs have saved what trials lost");
}

void report_tried(const struct decision *d, double time_s, struct hrun_buf *out)
{
    const struct learning *l = &d->learning;

    hrun_buf_addf(out, "it took %s", hrun_seconds(time_s).s);
    if (time_s < l->best_s)
        hrun_buf_addf(out, ", %.1f %% less than the best known", 100 * (1 - time_s / l->best_s));
    else
        hrun_buf_addf(out, ", no better than the best known, %s", l->best);
}

const char *report_unit(const struct context *c, const struct decision *d)
{
    static const char *const names[] = {
        [HRUN_LEVEL_NODE] = "node", [HRUN_LEVEL_PACKAGE] = "package", [HRUN_LEVEL_NUMA] = "NUMA node",
        [HRUN_LEVEL_L3] = "L3 cache", [HRUN_LEVEL_CORE] = "core",
    };
    const char *name = NULL;

    for (int i = 0; i < d->nsubs; i++) {
        if (d->has_config && d->config.procs[i] > 1)
            return "core";
        if (name && name != names[c->cluster->subs[i].level])
            return "PE";
        name = names[c->cluster->subs[i].level];
    }
    return name;
}

void report_places(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    if (d->by == BY_KINDS)
        kinds_print_config(c, d, out);
    else if (d->fallback.granted)
        hrun_buf_addf(out, "as %s grants", c->cluster->allocation);
    else
        hrun_buf_addf(out, "one per %s", report_unit(c, d));
    if (d->fallback.kinds_run)
        hrun_buf_addf(out, ", the quickest of %d configurations that were run", d->fallback.kinds_run);
}

void report_misses(const struct decision *d, struct hrun_buf *out)
{
    for (int i = 0; i < d->nsubs; i++)
        hrun_models_misses(&d->subs[i].models, 1, out);
}

int report_drift(const struct decision *d)
{
    int found = -1;

    for (int i = 0; i < d->nsubs; i++)
        if (d->basis.drift[i].runs && (found < 0 || d->basis.drift[i].runs > d->basis.drift[found].runs))
            found = i;
    return found;
}

void report_changed(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out)
{
    int i = report_drift(d);
    double factor;

    if (i < 0)
        return;
    factor = d->basis.drift[i].factor;
    hrun_buf_addf(out, "%sthe machine has changed: the last %d runs that sub-cluster %s limits took %.0f %% %s than "
                  "those before and the profile say, since %.10s\n%sto measure it again: ", lead,
                      d->basis.drift[i].runs,
                  c->cluster->subs[i].name, 100 * fabs(factor - 1), factor > 1 ? "longer" : "less time",
                  d->basis.drift[i].since, lead);
    report_calibrate_command(c, CALIBRATE_AGAIN, d, words, out);
    hrun_buf_addc(out, '\n');
}

void report_settings(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                     struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf own = HRUN_BUF_INIT;

    if (!d->predicted.known || !d->basis.measured_with)
        return;
    conditions_settings(c, &own);
    hrun_buf_addf(out, "%sthe profile was measured with other options that change times (it: %s; this run: %s): give "
                  "the same, or measure with these: ", lead, *d->basis.measured_with ? d->basis.measured_with : "none",
                  own.len ? own.data : "none");
    report_calibrate_command(c, CALIBRATE_AGAIN, d, words, out);
    hrun_buf_addc(out, '\n');
}

void report_other_engine(const struct context *c, const struct decision *d, int i, struct hrun_buf *out)
{
    const char *other = d->subs[i].other_engine;

    hrun_buf_addf(out, "sub-cluster %s has a profile for engine %s and none for engine %s, which starts this run: "
                  "--engine %s uses it\n", c->cluster->subs[i].name, other, c->engine->name, other);
}

/* 1 if the extrapolation in N or P is worth a line, else 0. decision_is_outside counts, too: after an interrupted
 * --again, models contain sizes without valid runs. */
static int is_far(const struct decision *d, const struct beyond *b)
{
    return b->factor > EXTRAPOLATION_WORTH_SAYING ||
           (b == &d->basis.beyond_n && b->measured[1] > 0 && decision_is_outside(d));
}

int report_extrapolates(const struct decision *d)
{
    return d->predicted.known && (is_far(d, &d->basis.beyond_n) || is_far(d, &d->basis.beyond_p));
}

static void add_beyond(const struct context *c, const struct decision *d, const struct beyond *b, const char *lead,
                       struct hrun_buf *out)
{
    int64_t v = b == &d->basis.beyond_n ? d->N : d->P;

    hrun_buf_addf(out, "%s = %lld is %.*f times %s what sub-cluster %s was measured at (", lead, (long long)v,
                  b->factor > EXTRAPOLATION_WORTH_SAYING ? 1 : 2, b->factor, v > b->measured[1] ? "beyond" : "below",
                  c->cluster->subs[b->sub].name);
    hrun_buf_addf(out, b->measured[0] == b->measured[1] ? "%lld)" : "%lld .. %lld)", (long long)b->measured[0],
                  (long long)b->measured[1]);
}

void report_extrapolation(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    int n_is_far = is_far(d, &d->basis.beyond_n);

    if (n_is_far)
        add_beyond(c, d, &d->basis.beyond_n, "N", out);
    if (is_far(d, &d->basis.beyond_p))
        add_beyond(c, d, &d->basis.beyond_p, n_is_far ? ", P" : "P", out);
}

void report_outside(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out)
{
    hrun_buf_addf(out, "%sthe prediction extrapolates: ", lead);
    report_extrapolation(c, d, out);
    if (decision_is_outside(d)) {
        hrun_buf_addf(out, "\n%sto measure this size, too: ", lead);
        report_calibrate_command(c, CALIBRATE_SIZE, d, words, out);
    }
    hrun_buf_addc(out, '\n');
}
