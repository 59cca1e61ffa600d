/* choices.c - hrun's choice at each size; see choices.h */
#include "choices.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err)
{
    const struct question as_hrun = { .use = s->use, .anew = 1 };

    out->fixed = c->app->fixed;
    out->v = xcalloc((size_t)nsizes + 1, sizeof *out->v);
    if (profiles_load(c, &out->known, err))
        return -1;
    for (out->n = 0; out->n < nsizes; out->n++) {
        struct choice *v = &out->v[out->n];
        struct hrun_error why = { 0 };

        v->N = sizes[out->n];
        v->made = !decision_make(c, &as_hrun, &out->known, v->N, &v->d, &why);
        if (!v->made && why.code != HRUN_EINFEASIBLE) {
            *err = why;
            choices_release(out);
            return -1;
        }
    }
    return 0;
}

void choices_release(struct choices *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->v[i].made)
            decision_release(&c->v[i].d);
    free(c->v);
    profiles_release(&c->known);
    *c = (struct choices){ .n = 0 };
}

/* ------------------------------------------------------------------ text */

static int is_predicted(const struct choice *v)
{
    return v->made && v->d.by == BY_MODEL && v->d.predicted.known;
}

/* The predicted time, else the time of the quickest run, s; 0: not known. */
static double choice_time_s(const struct choice *v)
{
    return is_predicted(v) ? v->d.predicted.time.mid : v->made && v->d.fallback.run_s > 0 ? v->d.fallback.run_s : 0;
}

/* Add "3 runs", "not run at this size, 2 runs at others", or the reason why nothing is predicted. */
static void add_runs_cell(struct hrun_table *t, const struct choice *v)
{
    if (!v->made)
        hrun_table_cell(t, "nothing is left to choose from: hrun --dry-run tells why");
    else if (!is_predicted(v))
        hrun_table_cell(t, v->d.fallback.run_s > 0 ? "its runs alone: the rule leaves the models nothing to choose"
                                                   : "nothing is known: no model could be made");
    else if (v->d.basis.runs_here)
        hrun_table_cell(t, "%s", hrun_counted(v->d.basis.runs_here, "run").s);
    else if (v->d.basis.runs_elsewhere)
        hrun_table_cell(t, "not run at this size, %s at others", hrun_counted(v->d.basis.runs_elsewhere, "run").s);
    else
        hrun_table_cell(t, "never run, the models alone");
}

/* Add the row of a size. Result: the number of its marks for uncertainty. */
static int add_choice_row(struct hrun_table *t, const struct choices *c, const struct choice *v)
{
    autorelease(hrun_buf_release) struct hrun_buf config = HRUN_BUF_INIT, next = HRUN_BUF_INIT, doubts = HRUN_BUF_INIT;
    const struct hrun_plan *plan = v->d.plan;
    double time_s = choice_time_s(v);
    int marks;

    if (time_s > 0)
        hrun_buf_adds(&config, hrun_config_text(&v->d.config).s);
    if (is_predicted(v) && plan->n > 1) {       /* "(3,1,0,0) +2.1 %" */
        hrun_buf_addf(&next, "%s ", hrun_config_text(&plan->v[1].config).s);
        hrun_plan_print_behind(plan->v[1].time_s, hrun_plan_is_doubted(plan, 1), plan->v[1].ranked_s,
                               v->d.predicted.time.mid, &next);
    }
    if (is_predicted(v) && !(c->exact && v->d.basis.runs_here))     /* one run is enough if times do not scatter */
        decision_doubts(&v->d, &doubts);
    marks = !doubts.len ? 0 : strchr(doubts.data, ',') ? 2 : 1;
    if (!c->fixed)
        hrun_table_cell(t, "%lld", (long long)v->N);
    hrun_table_cell(t, "%s", time_s > 0 ? config.data : "-");
    hrun_table_cell(t, "%s", time_s > 0 ? hrun_seconds(time_s).s : "");
    if (is_predicted(v))
        hrun_table_cell(t, "(%s)", hrun_seconds_range(v->d.predicted.time.low, v->d.predicted.time.high).s);
    else
        hrun_table_cell(t, "%s", "");
    hrun_table_cell(t, "%s", next.data);
    add_runs_cell(t, v);
    hrun_table_cell(t, "%.*s", marks, "**");
    return marks;
}

void choices_table(const struct choices *c, struct hrun_buf *out)
{
    static const char *const heads[] = { "N", "best", "time", "", "next best", "rests on", "" };
    struct hrun_table *t = hrun_table_create(c->fixed ? "lrllll" : "rlrllll");
    int most = 0;

    for (int i = c->fixed; i < 7; i++)
        hrun_table_cell(t, "%s", heads[i]);
    for (int i = 0; i < c->n; i++) {
        int marks = add_choice_row(t, c, &c->v[i]);

        most = marks > most ? marks : most;
    }
    if (c->n)
        hrun_table_render(t, 0, out);
    if (most)
        hrun_buf_addf(out, "\n*  fewer than two runs at this size; more time (--budget) runs it again%s\n", most > 1 ?
                      "\n** and the models extrapolate N or the number of processes by more than a factor of 1.5" : "");
    hrun_table_destroy(t);
}

void choices_gain(const struct choices *c, double spent_s, struct hrun_buf *out)
{
    static const double MATTERS = 0.03;     /* a smaller gain is within the scatter of runs */
    autorelease(hrun_buf_release) struct hrun_buf config = HRUN_BUF_INIT;
    const struct choice *v = NULL;
    const struct decision *d;
    double plain_s, saved_s;
    int measured;           /* 1: both times come from two runs, or from one if times do not scatter */

    for (int i = 0; i < c->n; i++)
        v = choice_time_s(&c->v[i]) > 0 ? &c->v[i] : v;
    if (!v)
        return;
    d = &v->d;
    plain_s = is_predicted(v) && d->plain.known && d->plain.valid ? d->plain.time_s : 0;
    saved_s = plain_s - choice_time_s(v);
    hrun_buf_adds(&config, hrun_config_text(&d->config).s);
    hrun_buf_adds(out, "from now on hrun starts ");
    if (c->fixed)
        hrun_buf_adds(out, "this command");
    else
        hrun_buf_addf(out, "N = %lld", (long long)v->N);
    hrun_buf_addf(out, " with %s, %s: %s", hrun_counted(d->P, "process").s, config.data,
                  hrun_seconds(choice_time_s(v)).s);
    if (plain_s > 0 && saved_s > MATTERS * plain_s) {
        measured = d->basis.runs_here > !c->exact && d->plain.runs > !c->exact;
        hrun_buf_addf(out, measured ? " in place of %s with %d as mpirun starts it"
                                    : "; a guess is %s with %d as mpirun starts it: one of the two has fewer than two "
                                      "runs at this size", hrun_seconds(plain_s).s,
                      hrun_config_processes(&d->plain.config));
        if (measured && c->fixed && ceil(spent_s / saved_s) > 1)
            hrun_buf_addf(out, "; %.0f runs save what this took", ceil(spent_s / saved_s));
    } else if (plain_s > 0) {
        hrun_buf_adds(out, hrun_config_equal(&d->config, &d->plain.config) ? ", as mpirun starts it"
                                                                           : ", no quicker than as mpirun starts it");
    }
}

void choices_words(const struct choices *c, struct hrun_buf *out)
{
    double half = 0;
    int unrun = 0, known = 0, none = 0;

    for (int i = 0; i < c->n; i++) {
        const struct choice *v = &c->v[i];
        const struct hrun_interval *t = &v->d.predicted.time;

        none += choice_time_s(v) <= 0;
        if (!is_predicted(v))
            continue;
        known++;
        half = fmax(half, fmax(t->high / t->mid - 1, 1 - t->low / t->mid));
        unrun += !v->d.basis.runs_here;
    }
    if (known && half < 1)
        hrun_buf_addf(out, "; the times that hrun predicts are known to +- %.*f %% or better", half < 0.1, 100 * half);
    else if (known)
        hrun_buf_adds(out, "; the times that hrun predicts are hardly known");
    if (unrun && c->fixed)
        hrun_buf_adds(out, ", but the choice was never run: it rests on models");
    else if (unrun)
        hrun_buf_addf(out, ", but at %d of %d sizes its choice was not run at this size: there they rest on models and "
                      "on runs at other sizes", unrun, c->n);
    if (none)
        hrun_buf_addf(out, "; at %d of %d sizes nothing is known", none, c->n);
}
