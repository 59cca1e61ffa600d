/* runs.c - make the runs of a campaign; see runs.h */
#include "runs.h"

#include "../common/alone.h"
#include "app/rules.h"
#include "base/alloc.h"
#include "base/units.h"
#include "budget.h"
#include "session/mpi_waits.h"
#include "session/placement.h"
#include "session/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sub-cluster is given up if the engine or hosts failed at this number of points in a row, or if this number of
 * points failed and none has worked. */
enum { HOPELESS = 3 };

struct tally {
    int good;
    int now;                  /* good points of this call */
    int failed_points;        /* points left out after their retries */
    int hosts_failed;         /* points in a row, up to the last one, where the engine or a host failed */
    int given_up;
};

static void pass_event(struct runs *r, const struct event *e)
{
    campaign_note(r->g, e);
    r->on_event(r->ctx, e);
}

static void pass_words(void *ctx, const char *text)
{
    struct event e = { .kind = EVENT_WORDS };

    snprintf(e.text, sizeof e.text, "%s", text);
    pass_event(ctx, &e);
}

/* on_message of struct work. */
static void pass_engine_message(void *ctx, const char *text)
{
    struct runs *r = ctx;

    if (r->verbose)
        pass_words(r, text);
}

static const char ENGINE[] = "engine: ";

int runs_start(const struct work *w, struct hrun_layout *l, struct work_result *r, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    if (!work_run(w, l, r, &why))
        return 0;
    if (why.code != HRUN_EENGINE) {
        *err = why;
        return -1;
    }
    memset(r, 0, sizeof *r);
    r->outcome.status = STATUS_FAILED;
    r->outcome.failed_rank = -1;
    snprintf(r->status, sizeof r->status, "%s%.80s", ENGINE, why.text);
    snprintf(r->detail, sizeof r->detail, "%.500s", why.text);
    return 0;
}

/* Mark a run as too slow if it exceeded the design's limit, which ends real runs but not simulated ones. If times are
 * rounded to steps, a program that prints 0 took at most one step; its time becomes half a step (hrun_times_step). */
static void settle_result(struct runs *runs, const struct work *w, struct work_result *r)
{
    double limit_s = runs->limit_s, other_s = w->c->timeout_s > 0 ? w->c->timeout_s : w->limit_s;
    double step_s = campaign_step(runs->g);

    runs->spent.too_slow = limit_s > 0 && !r->unprepared &&
                           (w->c->engine->simulated ? r->ok && r->outcome.job_s > limit_s
                                                    : r->outcome.timed_out && (other_s <= 0 || limit_s < other_s));
    if (runs->spent.too_slow) {
        r->ok = 0;
        r->time_s = 0;
        r->outcome.job_s = fmin(r->outcome.job_s, limit_s);
        snprintf(r->status, sizeof r->status, "%s", HRUN_STATUS_TOO_SLOW);
        r->detail[0] = 0;
    } else if (r->outcome.timed_out && w->c->timeout_s <= 0) {
        snprintf(r->detail, sizeof r->detail, "no end within %s, far more than was to be expected; --timeout sets "
                 "another limit", hrun_seconds(w->limit_s).s);
    } else if (r->too_short && step_s > 0) {
        r->ok = 1;
        r->too_short = 0;
        r->time_s = step_s / 2;
        snprintf(r->status, sizeof r->status, "ok");
        r->detail[0] = 0;
    }
}

/* *out: units of work of a process of each sub-cluster, which the caller frees; untouched if shares are equal. */
static int share_units(const struct hrun_app *app, const struct point *p, int nsubs, double **out,
                       struct hrun_error *err)
{
    int64_t units = 0, least;

    if (!p->share && p->work <= 0)
        return 0;
    *out = xcalloc((size_t)nsubs + 1, sizeof **out);
    if (p->share && hrun_app_units(app, p->N, &units, &least, err))
        return -1;
    for (int i = 0; i < nsubs; i++)
        (*out)[i] = p->share ? round(p->share[i] * (double)units) : i == p->sub ? p->work : 0;
    return 0;
}

/* Find the program, wait for the hosts of point i, run it once and record it. A point with `work` keeps other PEs of
 * its sub-cluster busy, so all hosts of the sub-cluster are locked. Result: 0 if it ran or could not be started (see
 * *r); -1 with *err. */
static int run_point(struct runs *runs, int i, struct work_result *r, struct hrun_error *err)
{
    struct context *c = runs->c;
    const struct hrun_cluster *cl = c->cluster;
    const struct point *p = &runs->g->v[i];
    int loads = p->work > 0, rc;
    struct hrun_config hosts = loads ? hrun_config_alone(cl->nsubs, p->sub, cl->subs[p->sub].npes, 1) : p->config;
    struct hrun_layout *l = hrun_layout_create(cl, &hosts, err);
    const struct ledger_run lock = { .layout = l, .whole_hosts = 1, .N = p->N, .time_s = p->wall_s };
    autofree double *share = NULL;
    autofree char *why = NULL;
    autorelease(waits_release) struct waits waits = WAITS_INIT;
    struct work w = { .c = c, .N = p->N, .words = runs->words, .scratch = runs->scratch, .quiet_run = 1,
                      .on_message = pass_engine_message, .ctx = runs, .copies = p->copies,
                      .limit_s = c->engine->simulated && !loads ? 0 : campaign_limit(runs->g, i),
                      .slow_s = c->engine->simulated ? 0 : runs->limit_s,
                      .waits = runs->trace && !loads ? &waits : NULL };
    double begin_s;

    memset(r, 0, sizeof *r);
    rc = !l || share_units(c->app, p, cl->nsubs, &share, err) || work_find_program(&w, p->copies ? 1 : p->P, err) ? -1
         : 0;
    w.share = share;
    if (!rc) {
        placement_fill_threads(c, l);
        begin_s = hrun_monotonic_s();
        r->outcome.interrupted = alone_begin(runs->ledger, c, &lock, pass_words, runs);
        runs->spent.waited_s += hrun_monotonic_s() - begin_s;
        if (!r->outcome.interrupted)
            rc = loads ? loaded_run(runs, p, &w, r, err) : runs_start(&w, l, r, err);
        if (!rc && !r->outcome.interrupted)
            settle_result(runs, &w, r);
        if (!rc && !r->outcome.interrupted && !r->outcome.signalled)
            rc = work_record(&w, &p->config, r, "calibration", err);
        alone_end(runs->ledger);
    }
    if (!rc && !runs->said_unwatched && waits.why[0]) {
        why = hrun_strf("the time in MPI cannot be measured: %s", waits.why);
        pass_words(runs, why);
        runs->said_unwatched = 1;
    }
    hrun_layout_destroy(l);
    return rc;
}

static enum run_end find_end(const struct runs *r, const struct work_result *result)
{
    const struct hrun_outcome *o = &result->outcome;

    if (result->ok || result->too_short)
        return result->ok ? RUN_GOOD : RUN_TOO_SHORT;
    if (r->spent.too_slow)
        return RUN_TOO_SLOW;
    if (!strncmp(result->status, ENGINE, strlen(ENGINE)) || o->lost_host[0])
        return RUN_HOST_FAILED;
    return !o->status ? RUN_NO_TIME : o->timed_out || o->killed_by ? RUN_FAILED : RUN_REFUSED;
}

static void pass_run(struct runs *r, int i, const struct work_result *result, enum run_end end, int last)
{
    struct event e = { .kind = EVENT_RUN, .point = i, .end = end, .left_out = end != RUN_GOOD && last,
                       .time_s = result->time_s, .wall_s = result->outcome.job_s };

    if (end != RUN_GOOD && !strncmp(result->status, ENGINE, strlen(ENGINE)))
        snprintf(e.text, sizeof e.text, "%s", result->detail);
    else if (end != RUN_GOOD && result->outcome.status)
        snprintf(e.text, sizeof e.text, "%s%s%s", result->status, result->detail[0] ? ": " : "", result->detail);
    else if (end != RUN_GOOD)    /* it ended well, and the detail explains the fault of its time */
        snprintf(e.text, sizeof e.text, "%s", result->detail[0] ? result->detail : result->status);
    r->spent.time_s = end == RUN_GOOD ? result->time_s : 0;
    r->spent.too_short = end == RUN_TOO_SHORT;
    r->spent.wall_s += result->outcome.job_s;
    pass_event(r, &e);
}

/* Measure one point, with retries. Result: 0, -1 with *err, or the number of the signal that interrupted it. */
static int measure_point(struct runs *r, int i, struct tally *tally, struct hrun_error *err)
{
    struct work_result result;

    for (int attempt = r->g->v[i].failed; ; attempt++) {
        enum run_end end;
        int last, uninformative;

        pass_event(r, &(struct event){ .kind = EVENT_BEGIN, .point = i });
        r->spent.too_slow = 0;
        if (run_point(r, i, &result, err))
            return -1;
        if (result.outcome.interrupted || result.outcome.signalled)
            return result.outcome.interrupted ? result.outcome.interrupted : result.outcome.signalled;
        end = find_end(r, &result);
        uninformative = end == RUN_TOO_SHORT || end == RUN_TOO_SLOW;
        last = attempt >= r->retries || uninformative;
        pass_run(r, i, &result, end, last);
        if (end != RUN_GOOD && !last)
            continue;
        tally->good += end == RUN_GOOD;
        tally->now += end == RUN_GOOD;
        tally->failed_points += end != RUN_GOOD && !uninformative;
        tally->hosts_failed = end == RUN_HOST_FAILED ? tally->hosts_failed + 1 : 0;
        return 0;
    }
}

/* Give up a sub-cluster, or runs on several (sub = nsubs), if HOPELESS applies. */
static void give_up(struct runs *r, int sub, struct tally *tally)
{
    struct event e = { .kind = EVENT_GIVEN_UP, .sub = sub };

    if (tally->given_up || (tally->hosts_failed < HOPELESS && (tally->good || tally->failed_points < HOPELESS)))
        return;
    tally->given_up = 1;
    snprintf(e.text, sizeof e.text, tally->hosts_failed >= HOPELESS ? "%d points in a row could not be run"
                                                                   : "its first %d points all failed", HOPELESS);
    pass_event(r, &e);
}

/* Find the rule of a command from the numbers of processes that it refused. Before the first good run of this call,
 * refusals may have other reasons and do not count. */
static int learn_rule(struct runs *r, struct tally *tally, struct hrun_error *err)
{
    struct campaign *g = r->g;
    int *P = xcalloc(2 * (size_t)g->n + 2, sizeof *P), *worked = P + g->n + 1, n = 0, good = 0, rc;
    autofree char *text = NULL;

    for (int i = 0; i < g->n; i++) {
        int at = 0;

        if (!g->v[i].have && !g->v[i].refused)
            continue;
        while (at < n && P[at] != g->v[i].P)
            at++;
        P[at] = g->v[i].P;
        worked[at] |= g->v[i].have > 0;
        n += at == n;
    }
    for (int i = 0; i <= g->nsubs; i++)
        good += tally[i].now;
    rc = good ? hrun_app_rule_of_runs(r->c->app, P, worked, n, err) : 0;
    free(P);
    if (rc <= 0)
        return rc;
    tally[g->nsubs].failed_points = 0;
    text = hrun_strf("the program refuses some numbers of processes; from now on: %s",
                     hrun_expr_text(r->c->app->rule));
    pass_words(r, text);
    return problem_keep_rule(r->c, err);
}

/* After a refusal without a good run in this call, find a point that worked in earlier runs and has not failed since.
 * -1: there is none, or it is not needed. */
static int find_earlier_good(const struct campaign *g, const struct tally *tally, int refused)
{
    int found = -1;

    for (int i = 0; i <= g->nsubs; i++)
        if (tally[i].now)
            return -1;
    for (int i = 0; i < g->n; i++)
        if (g->v[i].have && !g->v[i].failed && !g->v[i].left_out && g->v[i].P != g->v[refused].P)
            found = found < 0 ? i : found;
    return g->v[refused].have || !g->v[refused].refused ? -1 : found;
}

/* Count the time since the last call, without runs and waits for other users' runs, towards a time limit. */
static void count_pause(struct runs *r)
{
    double begun_s = r->spent.begun_s, now_s = hrun_monotonic_s() - r->spent.wall_s - r->spent.waited_s;

    r->spent.begun_s = now_s;
    if (r->g->budget->limit_s > 0 && !r->c->engine->simulated)
        hrun_design_add_pause(r->g->budget->design, fmax(now_s - begun_s, 0));
}

/* Make one chosen run, and pass its outcome to the design. */
static int make_chosen(struct runs *r, const struct hrun_design_run *run, struct tally *tally, struct hrun_error *err)
{
    struct campaign *g = r->g;
    int i = campaign_point(g, &run->config, run->share, run->N), earlier, rc = 0;
    struct point *p = &g->v[i];
    double wall_s = r->spent.wall_s;
    int slot = p->sub < 0 ? g->nsubs : p->sub, given_up = tally[slot].given_up;
    struct hrun_design_result result = { .config = p->config, .share = p->share, .N = p->N };

    for (int k = 0; k < g->nsubs; k++)
        given_up |= p->config.pes[k] && tally[k].given_up;
    if (given_up)
        return hrun_design_add(g->budget->design, &result, err);
    r->limit_s = run->limit_s;
    rc = measure_point(r, i, &tally[slot], err);
    r->limit_s = 0;
    if (rc)
        return rc;
    p = &g->v[i];
    result.time_s = r->spent.time_s;
    result.wall_s = r->spent.wall_s - wall_s;
    result.counts = 1;
    if (hrun_design_add(g->budget->design, &result, err))
        return -1;
    count_pause(r);
    if (r->spent.too_short)
        hrun_design_too_short(g->budget->design, p->N);
    earlier = r->finds_rule ? find_earlier_good(g, tally, i) : -1;
    if (earlier >= 0) {
        p = &g->v[earlier];
        rc = make_chosen(r, &(struct hrun_design_run){ .config = p->config, .share = p->share, .N = p->N }, tally, err);
    }
    if (rc)
        return rc;
    if (r->finds_rule && learn_rule(r, tally, err))
        return -1;
    give_up(r, slot, &tally[slot]);
    return 0;
}

/* Report each size given up since *dropped, and the automatic budget if it is new or much larger than *said_s. */
static void pass_plan_changes(struct runs *r, int *dropped, double *said_s)
{
    const double much = 1.3;
    const struct budget *b = r->g->budget;
    const struct hrun_design_state *st = hrun_design_state(b->design);
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;

    for (; *dropped < st->dropped; ++*dropped)
        hrun_buf_addf(&words, "%s%lld", words.len ? ", " : "N = ", (long long)b->lists.sizes.v[*dropped]);
    if (words.len) {
        hrun_buf_addf(&words, " %s left out, as times there are too short to tell anything",
                      strchr(words.data, ',') ? "are" : "is");
        pass_words(r, words.data);
    }
    if (b->finds && !st->end && st->budget_s > much * *said_s) {
        hrun_buf_reset(&words);
        hrun_buf_adds(&words, *said_s > 0 ? "what is best is less clear than it seemed: this takes up to "
                                          : "this takes up to ");
        *said_s = st->budget_s;
        hrun_buf_addf(&words, "%s in all, of which %s are left (--budget TIME sets another limit)",
                      hrun_seconds(st->budget_s).s, hrun_seconds(fmax(st->budget_s - st->spent_s, 0)).s);
        pass_words(r, words.data);
    }
}

static int make_all_chosen(struct runs *r, struct tally *tally, struct hrun_error *err)
{
    struct hrun_design_run run;
    double said_s = 0;
    int rc, dropped = 0;

    r->spent.begun_s = hrun_monotonic_s();
    while ((rc = hrun_design_next(r->g->budget->design, &run, err)) > 0) {
        if (!r->c->set->quiet)
            pass_plan_changes(r, &dropped, &said_s);
        if ((rc = make_chosen(r, &run, tally, err)))
            return rc;
    }
    if (!r->c->set->quiet)
        pass_plan_changes(r, &dropped, &said_s);
    return rc;
}

int runs_make(struct runs *r, struct hrun_error *err)
{
    struct campaign *g = r->g;
    autorelease(ledger_release) struct ledger ledger = { 0 };
    autofree struct tally *tally = xcalloc((size_t)g->nsubs + 1, sizeof *tally);
    autofree int *slow_host = xcalloc((size_t)g->nsubs + 1, sizeof *slow_host);
    int rc = ledger_open(&ledger, r->c, err);

    for (int i = 0; i < g->n; i++)
        tally[g->v[i].sub < 0 ? g->nsubs : g->v[i].sub].good += g->v[i].have;
    r->ledger = &ledger;
    r->slow_host = slow_host;
    r->finds_rule = r->c->problem && r->c->app->fixed && !strcmp(hrun_expr_text(r->c->app->rule), "1");
    if (!rc && g->budget)
        rc = make_all_chosen(r, tally, err);
    for (int rep = 0; rep < g->wanted && !rc; rep++)
        for (int i = 0; i < g->n && !rc; i++) {
            const struct point *p = &g->v[i];

            if (p->left_out || p->have > rep)
                continue;
            rc = measure_point(r, i, &tally[p->sub], err);
            if (!rc)
                give_up(r, p->sub, &tally[p->sub]);
        }
    return rc;
}
