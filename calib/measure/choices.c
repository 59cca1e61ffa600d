/* choices.c - what hrun would choose at each size; see choices.h */
#include "choices.h"

#include "base/alloc.h"
#include "base/units.h"
#include "plan/plan.h"
#include "session/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_choice(const struct decision *d, int64_t N, const char *why, struct choices *out)
{
    struct choice *v = &out->v[out->n++];
    struct hrun_buf config = HRUN_BUF_INIT;
    int known = d && d->by == BY_MODEL && d->predicted.known, ran = d && d->fallback.run_s > 0;

    if (known || ran)
        hrun_config_print(&d->config, &config);
    else
        hrun_buf_adds(&config, "-");
    *v = (struct choice){ .N = N, .config = hrun_buf_detach(&config) };
    if (!known) {
        v->why = ran ? "its runs alone: the rule leaves the models nothing to choose" : why;
        v->time_s = ran ? d->fallback.run_s : 0;
        v->P = ran ? d->P : 0;
        return;
    }
    v->time_s = d->predicted.time.mid;
    v->low_s = d->predicted.time.low;
    v->high_s = d->predicted.time.high;
    v->P = d->P;
    v->plain_P = hrun_config_processes(&d->plain.config);
    v->is_plain = hrun_config_equal(&d->config, &d->plain.config);
    v->plain_s = d->plain.known && d->plain.valid ? d->plain.time_s : 0;
    v->runs_here = d->basis.runs_here;
    v->runs_elsewhere = d->basis.runs_elsewhere;
    hrun_buf_reset(&config);
    if (d->plan->n > 1) {
        hrun_config_print(&d->plan->v[1].config, &config);
        hrun_buf_addc(&config, ' ');
        hrun_plan_print_behind(d->plan->v[1].time_s, hrun_plan_is_doubted(d->plan, 1), d->plan->v[1].ranked_s,
                               d->predicted.time.mid, &config);
    }
    v->next = hrun_buf_detach(&config);
    hrun_buf_init(&config);
    decision_doubts(d, &config);
    v->doubts = hrun_buf_detach(&config);
}

int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err)
{
    struct question as_hrun = { .use = s->use, .anew = 1 };
    struct profiles known = { 0 };
    struct choices found = { .v = xcalloc((size_t)nsizes + 1, sizeof *found.v), .fixed = c->app->fixed };
    int rc = profiles_load(c, &known, err);

    for (int i = 0; i < nsizes && !rc; i++) {
        struct hrun_error why = { 0 };
        struct decision d;

        if (decision_make(c, &as_hrun, &known, NULL, sizes[i], &d, &why)) {
            if (why.code != HRUN_EINFEASIBLE) {
                rc = -1;
                *err = why;
            } else {
                add_choice(NULL, sizes[i], "nothing is left to choose from: hrun --dry-run tells why", &found);
            }
            continue;
        }
        add_choice(&d, sizes[i], "nothing is known: no model could be made", &found);
        decision_release(&d);
    }
    profiles_release(&known);
    if (rc)
        choices_release(&found);
    else
        *out = found;
    return rc;
}

void choices_release(struct choices *c)
{
    for (int i = 0; i < c->n; i++) {
        free(c->v[i].config);
        free(c->v[i].doubts);
        free(c->v[i].next);
    }
    free(c->v);
    *c = (struct choices){ 0 };
}

/* ------------------------------------------------------------------ words */

/* "3 runs", "no run at this size, 2 at others" */
static void add_runs_cell(struct hrun_table *t, const struct choice *v)
{
    if (v->why)
        hrun_table_cell(t, "%s", v->why);
    else if (v->runs_here)
        hrun_table_cell(t, "%s", hrun_counted(v->runs_here, "run").s);
    else if (v->runs_elsewhere)
        hrun_table_cell(t, "not run at this size, %s at others", hrun_counted(v->runs_elsewhere, "run").s);
    else
        hrun_table_cell(t, "never run, the models alone");
}

/* Is this choice to be marked? Of times that do not scatter one run is enough. */
static int is_unsure(const struct choices *c, const struct choice *v)
{
    return !v->why && *v->doubts && !(c->exact && v->runs_here);
}

void choices_table(const struct choices *c, struct hrun_buf *out)
{
    static const char *const heads[] = { "N", "best", "time", "", "next best", "rests on", "" };
    struct hrun_table *t = hrun_table_create(c->fixed ? "lrllll" : "rlrllll");
    int unsure = 0;

    for (int i = c->fixed; i < 7; i++)
        hrun_table_cell(t, "%s", heads[i]);
    for (int i = 0; i < c->n; i++) {
        const struct choice *v = &c->v[i];
        struct hrun_buf range = HRUN_BUF_INIT;

        if (!v->why)
            hrun_buf_addf(&range, "(%s)", hrun_seconds_range(v->low_s, v->high_s).s);
        if (!c->fixed)
            hrun_table_cell(t, "%lld", (long long)v->N);
        hrun_table_cell(t, "%s", v->config);
        hrun_table_cell(t, "%s", v->P ? hrun_seconds(v->time_s).s : "");
        hrun_table_cell(t, "%s", range.data);
        hrun_table_cell(t, "%s", v->why ? "" : v->next);
        add_runs_cell(t, v);
        hrun_table_cell(t, "%s", !is_unsure(c, v) ? "" : strchr(v->doubts, ',') ? "**" : "*");
        unsure |= !is_unsure(c, v) ? 0 : strchr(v->doubts, ',') ? 3 : 1;
        hrun_buf_release(&range);
    }
    if (c->n)
        hrun_table_render(t, 0, out);
    if (unsure)
        hrun_buf_addf(out, "\n*  fewer than two runs at this size; more time (--budget) runs it again%s\n", unsure & 2 ?
                      "\n** and the models that say so are asked for more than 1.5 times what was measured" : "");
    hrun_table_destroy(t);
}

void choices_gain(const struct choices *c, double spent_s, struct hrun_buf *out)
{
    static const double MATTERS = 0.03;     /* a smaller gain is within what runs scatter by */
    const struct choice *v = NULL;
    double saved_s;

    for (int i = 0; i < c->n; i++)
        v = c->v[i].P ? &c->v[i] : v;
    if (!v)
        return;
    saved_s = v->plain_s - v->time_s;
    hrun_buf_adds(out, "from now on hrun starts ");
    if (c->fixed)
        hrun_buf_adds(out, "this command");
    else
        hrun_buf_addf(out, "N = %lld", (long long)v->N);
    hrun_buf_addf(out, " with %s, %s: %s", hrun_counted(v->P, "process").s, v->config, hrun_seconds(v->time_s).s);
    if (v->plain_s > 0 && saved_s > MATTERS * v->plain_s) {
        hrun_buf_addf(out, " in place of %s with %d as mpirun starts it", hrun_seconds(v->plain_s).s, v->plain_P);
        if (c->fixed && ceil(spent_s / saved_s) > 1)
            hrun_buf_addf(out, "; %.0f runs save what this took", ceil(spent_s / saved_s));
    } else if (v->plain_s > 0) {
        hrun_buf_adds(out, v->is_plain ? ", as mpirun starts it" : ", no quicker than as mpirun starts it");
    }
}

void choices_words(const struct choices *c, struct hrun_buf *out)
{
    double half = 0;
    int unrun = 0, known = 0, none = 0;

    for (int i = 0; i < c->n; i++) {
        none += !c->v[i].P;
        if (c->v[i].why)
            continue;
        known++;
        half = fmax(half, fmax(c->v[i].high_s / c->v[i].time_s - 1, 1 - c->v[i].low_s / c->v[i].time_s));
        unrun += !c->v[i].runs_here;
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
