/* report_run.c - lines before a run and after it; see report.h */
#include "report.h"

#include "base/units.h"
#include "session/core_kinds.h"
#include "session/number.h"
#include "session/problem.h"

#include <math.h>
#include <unistd.h>

/* A profile is reported as stale if the actual time is outside the prediction interval by more than this part of the
 * prediction. The errors of paper 000, section 6.2, are mostly within 20 %. */
static const double STALE = 0.2;

/* Append the sub-clusters without a profile, so that the user notices fast hosts that are not used. */
static void add_unmeasured(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out)
{
    int missing = 0;

    for (int i = 0; d->by == BY_MODEL && i < d->nsubs; i++) {
        if (d->subs[i].models || d->subs[i].why_not)
            continue;
        hrun_buf_addf(out, "hrun: sub-cluster %s has no profile yet and is not used\n", c->cluster->subs[i].name);
        if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "hrun: ");
            report_other_engine(c, d, i, out);
        }
        missing = 1;
    }
    if (missing) {
        hrun_buf_adds(out, "hrun: to measure it: ");
        report_calibrate_command(c, CALIBRATE_MEASURE, d, words, out);
        hrun_buf_addc(out, '\n');
    }
}

/* Append "8 processes, one per core of kind0". */
static void add_started(const struct context *c, const struct decision *d, const char *lead, struct hrun_buf *out)
{
    hrun_buf_addf(out, "%s%s, ", lead, hrun_counted(d->P, "process").s);
    report_places(c, d, out);
}

void report_threads(const struct hrun_layout *l, const char *lead, struct hrun_buf *out)
{
    int least = l->ranks[0].threads, most = least;

    for (int r = 1; r < l->nranks; r++) {
        least = l->ranks[r].threads < least ? l->ranks[r].threads : least;
        most = l->ranks[r].threads > most ? l->ranks[r].threads : most;
    }
    if (!most)
        return;
    hrun_buf_addf(out, "%sOMP_NUM_THREADS is set to %d", lead, least);
    if (most > least)
        hrun_buf_addf(out, " to %d", most);
    hrun_buf_adds(out, ", the cores of a process (-x OMP_NUM_THREADS=K sets another number)\n");
}

/* Append the expected time of a command that was run before but not calibrated. */
static void add_expected(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    int runs;
    double time_s = problem_median_s(c, &d->config, &runs);

    add_started(c, d, "hrun: ", out);
    if (runs)
        hrun_buf_addf(out, ", expected to take %s as %s before\n", hrun_seconds(time_s).s, hrun_counted(runs, "run").s);
    else
        hrun_buf_adds(out, "; the command is not calibrated\n");
}

/* Append one line on why a trial or the best of earlier runs is started. */
static void add_learning(const struct decision *d, struct hrun_buf *out)
{
    int tries = d->by != BY_RUNS || d->learning.why == HRUN_LEARN_TRIES;

    hrun_buf_addf(out, "%s%s%s", tries ? "hrun: explores " : "hrun: ", hrun_config_text(&d->config).s,
                  tries ? ", which " : ", ");
    if (d->by == BY_RUNS) {
        report_learning(d, out);
        hrun_buf_addc(out, '\n');
    } else {
        report_exploring(d, out);
    }
}

void report_before(const struct launch_plan *p, struct hrun_buf *out)
{
    const struct context *c = &p->c;
    const struct decision *d = &p->d;
    char *const *words = p->w.words;

    if (ledger_busy(&p->ledger)) {
        hrun_buf_adds(out, "hrun: ");
        ledger_print_users(&p->ledger, out);
        hrun_buf_addc(out, '\n');
    }
    if (c->number) {
        hrun_buf_addf(out, "hrun: N = %lld (%s) of %s", (long long)d->N, c->number->text, c->app->name);
        if (d->predicted.known)
            hrun_buf_addf(out, ", predicted %s", hrun_seconds(d->predicted.time.mid).s);
        hrun_buf_addc(out, '\n');
    }
    report_settings(c, d, "hrun: ", words, out);
    if (d->kept.on && d->kept.best_s < d->predicted.time.mid && !c->set->verbose) {
        hrun_buf_adds(out, "hrun: prepared ");
        report_kept(d, out);
    }
    if (c->kinds.took_s > 0) {
        hrun_buf_adds(out, "hrun: ");
        kinds_print(c, out);
        hrun_buf_addc(out, '\n');
    }
    if (d->by != BY_DEFAULT && d->by != BY_KINDS) {
        add_unmeasured(c, d, words, out);
        if (decision_is_outside(d))
            report_outside(c, d, "hrun: ", words, out);
        if (d->by == BY_RUNS || d->explores.on)
            add_learning(d, out);
        else if (d->explores.nothing && c->set->verbose)
            hrun_buf_addf(out, "hrun: --explore tries nothing: %s\n", d->explores.nothing);
        return;
    }
    if (!c->app || (c->problem && !problem_is_known(c))) {
        hrun_buf_addf(out, "hrun: nothing is known of %s yet", words[0]);
        add_started(c, d, ": ", out);
        hrun_buf_addc(out, '\n');
        return;
    }
    if (c->app->fixed) {
        add_expected(c, d, out);
        return;
    }
    if (!d->N) {
        hrun_buf_adds(out, "hrun: no -N given");
        for (int i = 0; i < c->app->run.nargs && words[1]; i++) {
            hrun_buf_adds(out, i ? " " : ", and the arguments do not match the definition's args: ");
            hrun_buf_add_shell(out, c->app->run.args[i]);
        }
        add_started(c, d, ", so no model is used: ", out);
        hrun_buf_addc(out, '\n');
        return;
    }
    hrun_buf_addf(out, "hrun: no %s of %s on %s", *c->app->file ? "profile" : "definition and no profile", c->app->name,
                  c->cluster->platform ? "this platform" : "this machine");
    add_started(c, d, ": ", out);
    hrun_buf_addc(out, '\n');
    for (int i = 0; i < d->nsubs; i++) {
        if (d->subs[i].why_not) {
            hrun_buf_addf(out, "hrun: sub-cluster %s: %s\n", c->cluster->subs[i].name, d->subs[i].why_not);
        } else if (d->subs[i].other_engine) {
            hrun_buf_adds(out, "hrun: ");
            report_other_engine(c, d, i, out);
        }
    }
    hrun_buf_adds(out, "hrun: to make one: ");
    report_calibrate_command(c, CALIBRATE_MEASURE, d, words, out);
    hrun_buf_addc(out, '\n');
}

/* Estimate the time of the calibration of a command whose default takes time_s: runs of each sub-cluster, and of all
 * together, with each number of processes per PE, then runs of the best candidates; or two runs of each configuration
 * if there are few. In trials (tests/trials --command, seeds 60 to 75) calibrations took 0.25 to 3 times this estimate,
 * 0.9 in the median. */
static double calibration_s(const struct context *c, const struct decision *d, double time_s)
{
    enum { BEST = 20, LOOKS = 2, EACH = 2 };
    double all = 1;
    int used = 0;

    for (int i = 0; i < d->nsubs; i++) {
        used += d->subs[i].npes > 0;
        all *= 1 + (double)d->subs[i].npes * c->app->nprocs_per_pe;
    }
    return time_s * fmin(BEST + LOOKS * (2 * used + (used > 1)) * c->app->nprocs_per_pe, EACH * (all - 1));
}

static void add_took(const struct decision *d, double time_s, struct hrun_buf *out)
{
    hrun_buf_addf(out, "hrun: it took %s with %s", hrun_seconds(time_s).s, hrun_counted(d->P, "process").s);
}

/* Append advice for a trial that failed, since the program might not have failed with the best known configuration. */
static void add_failed_trial(const struct decision *d, int recorded, struct hrun_buf *out)
{
    hrun_buf_addf(out, "hrun: this was a trial of --explore, with %s, %s: %sstart the command anew for its result\n",
                  hrun_config_text(&d->config).s, hrun_counted(d->P, "process").s,
                  recorded ? "it is not made again; " : "");
}

void report_after(const struct launch_plan *p, const struct work_result *r, int size_is_passed, int recorded,
                  struct hrun_buf *out)
{
    const struct context *c = &p->c;
    const struct decision *d = &p->d;
    char *const *words = p->w.words;
    int fixed = c->problem && c->app->fixed, runs;
    int silent = !d->predicted.known && size_is_passed && !c->set->verbose && !isatty(STDERR_FILENO);
    double delta;

    if (!r->ok) {
        if (r->too_short || r->no_time)
            hrun_buf_addf(out, "hrun: %s\n", r->detail);
        else if (decision_is_trial(d))
            add_failed_trial(d, recorded, out);
        return;
    }
    if (d->by == BY_RUNS) {
        if (d->learning.why == HRUN_LEARN_TRIES) {
            hrun_buf_adds(out, "hrun: ");
            report_tried(d, r->time_s, out);
            hrun_buf_adds(out, recorded ? "\n" : "; not recorded\n");
        }
        return;
    }
    if (silent)         /* as mpirun, since scripts treat output on stderr as errors */
        return;
    if (c->problem && c->problem->reads && r->time_s >= PROBLEM_WORTH_S) {
        add_took(d, r->time_s, out);
        hrun_buf_adds(out, "; nothing is recorded of a run that reads standard input: a script that redirects it can "
                      "be calibrated, and learns\n");
        return;
    }
    if (!d->predicted.known || !size_is_passed) {
        if (d->learning.on && recorded && !d->learning.best_runs) {
            add_took(d, r->time_s, out);
            hrun_buf_adds(out, ", recorded; --explore tries others once it has been run twice\n");
        } else if (fixed && recorded && problem_median_s(c, &d->config, &runs) > 0 && runs == 1) {
            add_took(d, r->time_s, out);
            hrun_buf_addf(out, "; to find what is best, in about %s: ", hrun_seconds(calibration_s(c, d, r->time_s)).s);
            report_calibrate_command(c, CALIBRATE_MEASURE, d, words, out);
            hrun_buf_addc(out, '\n');
        } else if (c->app && d->N && (!fixed || problem_is_known(c))) {
            hrun_buf_addf(out, "hrun: actual %s with %s%s\n", hrun_seconds(r->time_s).s,
                          hrun_counted(d->P, "process").s, recorded ? ", recorded" : "");
            if (!size_is_passed)
                hrun_buf_addf(out, "hrun: not %srecorded: N = %lld does not stand among the program's words; write {N} "
                              "where the size belongs\n", d->predicted.known ? "compared with the prediction, nor "
                                  : "",
                              (long long)d->N);
            else if (!d->has_config)
                hrun_buf_adds(out, "hrun: not recorded: the PEs have different numbers of processes\n");
        }
        return;
    }
    /* delta = (predicted - actual) / actual: paper 000, section 6.2. */
    delta = (d->predicted.time.mid - r->time_s) / r->time_s;
    hrun_buf_adds(out, "hrun: ");
    if (d->finest.on)
        hrun_buf_addf(out, "N = %lld, ", (long long)d->N);
    if (c->app->variant)
        hrun_buf_addf(out, "variant %s, ", c->app->variant);
    hrun_buf_addf(out, "predicted %s, actual %s, prediction error %+.1f %%\n", hrun_seconds(d->predicted.time.mid).s,
                  hrun_seconds(r->time_s).s, 100 * delta);
    if (report_drift(d) >= 0) {
        report_changed(c, d, "hrun: ", words, out);
        return;
    }
    if (r->time_s <= d->predicted.time.high + STALE * d->predicted.time.mid &&
        r->time_s >= d->predicted.time.low - STALE * d->predicted.time.mid)
        return;
    if (report_extrapolates(d)) {
        hrun_buf_adds(out, "hrun: that is far outside the interval; the prediction extrapolated: ");
        report_extrapolation(c, d, out);
        hrun_buf_adds(out, "; measure larger sizes (--sizes of hrun-calibrate), or more PEs where there are\n");
    } else {
        hrun_buf_adds(out, "hrun: that is far outside the interval: the machine was busy, or the profile is stale; to "
                           "measure again: ");
        report_calibrate_command(c, CALIBRATE_AGAIN, d, words, out);
        hrun_buf_addc(out, '\n');
    }
}
