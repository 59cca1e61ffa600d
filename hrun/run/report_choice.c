/* report_choice.c - lines of a dry run on the choice among configurations; see report.h */
#include "report.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* Append the correction of the prediction by runs:
 * "  corrected    +4.0 %, by 3 runs of this configuration and 2 at other N" */
static void add_correction(const struct decision *d, struct hrun_buf *out)
{
    const char *mark = d->basis.formula || d->basis.runs_here > 1 ? "" : "   <- fewer than two runs at this size";

    if (!d->basis.runs_here && !d->basis.runs_elsewhere) {
        hrun_buf_addf(out, "  rests on     models alone: this configuration was never run%s\n", mark);
        return;
    }
    hrun_buf_addf(out, "  corrected    %s, by %d run%s of this configuration", hrun_percent(d->basis.factor).s,
                  d->basis.runs_here ? d->basis.runs_here : d->basis.runs_elsewhere,
                  hrun_plural(d->basis.runs_here ? d->basis.runs_here : d->basis.runs_elsewhere, "s"));
    if (!d->basis.runs_here)
        hrun_buf_adds(out, " at other N; not run at this one");
    else if (d->basis.runs_elsewhere)
        hrun_buf_addf(out, " and %d at other N", d->basis.runs_elsewhere);
    hrun_buf_addf(out, "%s\n", mark);
}

static int is_chosen(const struct decision *d, const struct hrun_choice *v)
{
    return hrun_config_equal(&d->config, &v->config);
}

/* 1 if the mpirun-style configuration is predicted to be faster but its time is too uncertain to choose it, else 0. */
static int plain_is_doubted(const struct decision *d)
{
    return d->plan && !d->explores.on && d->goal.objective && !d->goal.objective->rate && d->plain.valid &&
           d->plain.time_s < d->predicted.time.mid && d->plain.ranked_s >= d->predicted.time.mid;
}

void report_kept(const struct decision *d, struct hrun_buf *out)
{
    hrun_buf_addf(out, "as in the last run here, which takes %s: the best would take %s, and %s to prepare it; --force "
                  "does\n", hrun_seconds(d->predicted.time.mid).s, hrun_seconds(d->kept.best_s).s,
                      hrun_seconds(d->kept.prepare_s).s);
}

static void add_prepared(const struct decision *d, struct hrun_buf *out)
{
    if (d->kept.on) {
        hrun_buf_adds(out, "  prepared     ");
        report_kept(d, out);
    } else if (d->kept.prepare_s > 0) {
        hrun_buf_addf(out, "  prepare      took %s last time, and is done anew\n", hrun_seconds(d->kept.prepare_s).s);
    }
}

/* Append "  waits        of the last run with --trace change units per process: a +4.0 %, b -9.1 %". */
static void add_waits(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    const char *lead = "  waits        of the last run with --trace change units per process: ";

    for (int i = 0; d->shares.unwatched && !d->kept.on && i < d->nsubs; i++)
        if (d->config.pes[i] && d->shares.each[i] != d->shares.unwatched[i]) {
            hrun_buf_addf(out, "%s%s %s", lead, c->cluster->subs[i].name,
                          hrun_percent(d->shares.each[i] / d->shares.unwatched[i]).s);
            lead = ", ";
        }
    if (*lead == ',')
        hrun_buf_addc(out, '\n');
}

/* Append "  equal shares (4,2,4,1,0,0) 11 min 35 s  +7.2 %", or why equal shares are chosen. */
static void add_equal(const struct decision *d, struct hrun_buf *out)
{
    if (!d->shares.equal.P || d->kept.on || (d->shares.how == HRUN_SHARES_EQUAL && !(d->shares.unequal_s > 0)))
        return;
    hrun_buf_adds(out, "  equal shares ");
    if (d->shares.how == HRUN_SHARES_EQUAL) {
        hrun_buf_addf(out, "are chosen: unequal ones promise %s, and less is known of them\n",
                      hrun_seconds(d->shares.unequal_s).s);
        return;
    }
    hrun_buf_addf(out, "%s %s  %s\n", hrun_config_text(&d->shares.equal.config).s,
                  hrun_seconds(d->shares.equal.time_s).s,
                  hrun_percent(d->shares.equal.time_s / d->predicted.time.mid).s);
}

static void add_alternatives(const struct decision *d, struct hrun_buf *out)
{
    int shown = 0;

    for (int k = 1; d->plan && !d->kept.on && k < d->plan->n; k++) {
        const struct hrun_choice *v = &d->plan->v[k];

        if (d->explores.on && is_chosen(d, v))
            continue;
        hrun_buf_addf(out, "%s%s %s  ", !shown ? "  next best    " : shown % 3 ? "     " : "\n               ",
                      hrun_config_text(&v->config).s, hrun_seconds(v->time_s).s);
        hrun_plan_print_behind(v->time_s, hrun_plan_is_doubted(d->plan, k), v->ranked_s, d->predicted.time.mid, out);
        if (d->goal.objective && d->goal.objective->rate)
            hrun_buf_addf(out, ", %s %.4g", d->goal.objective->name, v->value);
        shown++;
    }
    if (shown)
        hrun_buf_addc(out, '\n');
    add_equal(d, out);
    add_prepared(d, out);
    if (d->plain.known) {
        hrun_buf_addf(out, "  mpirun-style %s %s  ", hrun_config_text(&d->plain.config).s,
                      hrun_seconds(d->plain.time_s).s);
        hrun_plan_print_behind(d->plain.time_s, plain_is_doubted(d), d->plain.ranked_s, d->predicted.time.mid, out);
        if (d->plain.excluded_P)
            hrun_buf_addf(out, "  (it is not of %s)", hrun_counted(d->plain.excluded_P, "process").s);
        else if (!d->plain.valid)
            hrun_buf_adds(out, "  (not possible here: the rule, the memory or the units of work do not allow it)");
        hrun_buf_addc(out, '\n');
    }
}

/* Append cost and energy, and at most ROWS points of the front of time against cost, including its ends. */
static void add_costs(const struct decision *d, struct hrun_buf *out)
{
    enum { ROWS = 8 };
    int n = d->goal.pareto ? d->goal.pareto->n : 0, rows = n < ROWS ? n : ROWS;

    if (isfinite(d->predicted.cost))
        hrun_buf_addf(out, "  cost         %.4g%s\n", d->predicted.cost,
                      d->goal.objective == &hrun_objectives[HRUN_OBJECTIVE_COST] ? "   <- minimised" : "");
    if (isfinite(d->predicted.energy_j))
        hrun_buf_addf(out, "  energy       %.4g J%s\n", d->predicted.energy_j,
                      d->goal.objective == &hrun_objectives[HRUN_OBJECTIVE_ENERGY] ? "   <- minimised" : "");
    if (n < 2)
        return;
    hrun_buf_addf(out, "  time against %s%s\n", d->goal.pareto_of->name,
                  n > rows ? " (some of those that nothing beats in both):" : " (nothing beats these in both):");
    for (int k = 0; k < rows; k++) {
        const struct hrun_choice *v = &d->goal.pareto->v[(long)k * (n - 1) / (rows - 1)];

        hrun_buf_addf(out, "               %s %s  %.4g%s%s%s\n", hrun_config_text(&v->config).s,
                      hrun_seconds(v->time_s).s, v->value, *d->goal.pareto_of->unit ? " " : "", d->goal.pareto_of->unit,
                      is_chosen(d, v) ? "   <- chosen" : "");
    }
}

static void add_counts(const struct decision *d, struct hrun_buf *out)
{
    const struct hrun_plan_counts *n = &d->plan->counts;

    hrun_buf_addf(out, "  %s configuration%s", hrun_count(n->total).s, n->total == 1 ? "" : "s");
    if (n->counted) {
        double excluded = n->excluded_rule + n->excluded_memory + n->excluded_model;

        hrun_buf_addf(out, ": %s valid, %s%s%s, memory %s", hrun_count(n->valid).s, hrun_count(excluded).s,
                      d->shares.could_deal ? " excluded (rule or units " : " excluded (rule ",
                          hrun_count(n->excluded_rule).s,
                      hrun_count(n->excluded_memory).s);
        if (n->excluded_model > 0)
            hrun_buf_addf(out, ", no model %s", hrun_count(n->excluded_model).s);
        hrun_buf_addc(out, ')');
    }
    hrun_buf_addf(out, "   %s\n", hrun_seconds(d->plan->search_s).s);
    if (d->plan->exact)
        return;
    hrun_buf_addf(out, "  the search was not exact: after %ld looks at a configuration as a whole, ",
                  d->plan->evaluated);
    if (isfinite(d->plan->gap))
        hrun_buf_addf(out, "another may be quicker by up to %.2g %%\n", 100 * (1 - 1 / (1 + d->plan->gap)));
    else
        hrun_buf_adds(out, "others may be quicker by any factor\n");
}

/* Append "  balance      33 processes lose 9.2 % by imbalance (8.1 % at least; 12.0 % where shares are rounded),
 * efficiency 0.86". */
static void add_balance(const struct decision *d, struct hrun_buf *out)
{
    const struct hrun_balance *b = &d->predicted.balance;

    hrun_buf_addf(out, "  balance      %d processes%s lose %.1f %% by imbalance", b->q,
                  d->goal.max_loss > 0 ? ", the fewest that keep --limit loss," : "", 100 * b->loss);
    if (isfinite(b->least)) {
        hrun_buf_addf(out, " (%.1f %% at least", 100 * b->least);
        if (isfinite(b->rounded))
            hrun_buf_addf(out, "; %.1f %% where shares are rounded", 100 * b->rounded);
        hrun_buf_addc(out, ')');
    }
    hrun_buf_addf(out, ", efficiency %.2f\n", b->efficiency);
}

/* Append "  finest       N = 1480 of sizes up to 4000 (-N); N = 1481: no configuration ...". */
static void add_finest(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    const struct finest *f = &d->finest;
    const struct decision larger = { .N = f->measure };

    hrun_buf_addf(out, "  finest       N = %lld of sizes up to %lld (%s)", (long long)f->N, (long long)f->limit,
                  f->given ? "-N" : "twice the largest measured");
    if (f->next)
        hrun_buf_addf(out, "; N = %lld: %s", (long long)f->next, f->why);
    if (f->next && f->measure) {
        hrun_buf_adds(out, "\n  to measure a larger one: ");
        report_calibrate_command(c, CALIBRATE_MEASURE, &larger, words, out);
    }
    hrun_buf_addc(out, '\n');
}

/* Append "  left out     2 configurations that failed at this size (last: exit 3): (2,2) (1,2); ...". */
static void add_failed(const struct decision *d, struct hrun_buf *out)
{
    enum { SHOWN = 60 };
    size_t len = strlen(d->failed.configs);
    int shown = (int)(len > SHOWN ? strcspn(d->failed.configs + SHOWN, " ") + SHOWN : len);

    hrun_buf_addf(out, "  left out     %s that failed at this size (%s%s): %.*s%s; --config runs one all the same\n",
                  hrun_counted(d->failed.n, "configuration").s, d->failed.n == 1 ? "" : "last: ", d->failed.why, shown,
                  d->failed.configs, (size_t)shown < len ? " ..." : "");
}

void report_choice(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    if (d->predicted.known) {
        add_correction(d, out);
        if (report_extrapolates(d))
            report_outside(c, d, "  ", words, out);
        if (d->explores.on) {
            hrun_buf_adds(out, "  explores     ");
            report_exploring(d, out);
        } else if (d->explores.nothing) {
            hrun_buf_addf(out, "  --explore    tries nothing: %s\n", d->explores.nothing);
        }
        add_waits(c, d, out);
        add_alternatives(d, out);
        add_costs(d, out);
    }
    if (d->predicted.known && d->predicted.balance.q)
        add_balance(d, out);
    if (d->plan)
        add_counts(d, out);
    if (d->failed.n)
        add_failed(d, out);
    if (d->finest.on)
        add_finest(c, d, words, out);
}
