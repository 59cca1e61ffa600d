/* decide_by_runs.c - choose the configuration of a command by its earlier runs; see decide_by_runs.h */
#include "session/decide_by_runs.h"

#include "base/alloc.h"
#include "model/speeds.h"
#include "session/decide_unmodelled.h"
#include "session/preparation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The earlier runs of the command, by date. */
struct history {
    struct earlier_run {
        struct hrun_learn_run run;
        char date[24];
        int place;          /* index in the logs, for runs of the same second */
    } *v;
    int n, cap;
};

static void release_history(struct history *h)
{
    free(h->v);
}

static int by_date(const void *a, const void *b)
{
    const struct earlier_run *x = a, *y = b;
    int order = strcmp(x->date, y->date);

    return order ? order : x->place - y->place;
}

/* Add a run from the log of sub-cluster `sub`. A run on several sub-clusters is in the log of each, and twice in a log
 * that two of them share; only its first entry is added. */
static void add_earlier_run(struct history *h, const struct decision *d, int sub, const struct hrun_sample *s)
{
    struct earlier_run *last = h->n ? &h->v[h->n - 1] : NULL;
    struct hrun_learn_run run = { .time_s = s->ok ? s->time_s : 0,
                                  .learnt = hrun_text_same(s->origin, WORK_EXPLORED) };

    if (hrun_config_parse(s->config, d->nsubs, &run.config, NULL) ||
        (last && s->mixed && hrun_config_equal(&last->run.config, &run.config) && !strcmp(last->date, s->date) &&
         last->run.time_s == run.time_s))
        return;
    for (int i = 0; i < d->nsubs; i++)
        if (run.config.pes[i] > d->subs[i].npes || (i <= sub && (run.config.pes[i] > 0) != (i == sub)))
            return;
    hrun_grow(h->v, h->n + 1, h->cap);
    h->v[h->n] = (struct earlier_run){ .run = run, .place = h->n };
    snprintf(h->v[h->n++].date, sizeof h->v->date, "%s", s->date);
}

/* Load the successful runs, and those in which the program failed. */
static int load_history(const struct context *c, const struct decision *d, struct history *h, struct hrun_error *err)
{
    autorelease(log_filter_release) struct log_filter filter;

    log_filter_make(c, &filter);
    for (int i = 0; i < d->nsubs; i++) {
        autorelease(hrun_samples_release) struct hrun_samples log = { 0 };

        if (hrun_store_recent(c->store, c->app->name, c->signatures.v[i], &log, err))
            return -1;
        for (size_t k = 0; k < log.n; k++)
            if (log_filter_accepts(&filter, &log.v[k], d->N) &&
                (log.v[k].ok || (hrun_sample_failed(&log.v[k]) && strcmp(log.v[k].status, HRUN_STATUS_TOO_SLOW))))
                add_earlier_run(h, d, i, &log.v[k]);
    }
    if (h->n)
        qsort(h->v, (size_t)h->n, sizeof *h->v, by_date);
    return 0;
}

/* ---------------------------------------------------------------- speeds */

/* Relative speed of a single process on a PE of sub-cluster k; 0: not known. */
static double speed_of(const struct context *c, int k)
{
    const struct hrun_subcluster *sub = &c->cluster->subs[k];
    autorelease(hrun_buf_release) struct hrun_buf signature = HRUN_BUF_INIT;
    const struct hrun_fit_record *r = NULL;
    struct hrun_models *m = NULL;
    double speed;

    if (c->kinds.speed || c->cluster->platform)
        return c->kinds.speed ? c->kinds.speed[k] : sub->core_flops;
    profiles_speed_signature(sub, &signature);
    if (!hrun_store_get_models(c->store, HRUN_PERF_APP, signature.data, &m, NULL))
        r = hrun_perf_find(m, 1);
    speed = r ? 1 / r->k[0] : 0;
    hrun_models_destroy(m);
    return speed;
}

/* Set subs[nsubs]. If one speed is not known, all are equal. Only PEs of one core may get more processes than cores. */
static void describe_subclusters(const struct context *c, const struct decision *d, struct hrun_learn_sub *subs)
{
    int known = 1;

    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_subcluster *sub = &c->cluster->subs[i];
        int cores = sub->npes && sub->pes[0].ncores > 1 ? sub->pes[0].ncores : 1, n = 0;

        while (n < c->app->nprocs_per_pe && c->app->procs_per_pe[n] <= (cores > 1 ? cores : 2))
            n++;
        subs[i] = (struct hrun_learn_sub) { .npes = d->subs[i].npes, .cores = cores, .speed = speed_of(c, i),
                                            .procs = c->app->procs_per_pe, .nprocs = n };
        known &= subs[i].speed > 0;
    }
    for (int i = 0; i < d->nsubs; i++) {
        subs[i].speed = known ? subs[i].speed : 1;
        subs[i].known = known;
    }
}

/* ---------------------------------------------------------------- the decision */

static void adopt_answer(struct decision *d, const struct history *h, const struct hrun_learn_answer *a)
{
    const struct hrun_learn_run *last = h->n ? &h->v[h->n - 1].run : NULL;

    d->learning = (struct learning) { .on = 1, .why = a->why, .best_runs = a->best_runs, .best_s = a->best_s,
                                      .usual_s = a->usual_s, .account_s = a->account_s, .expected_s = a->expected_s,
                                      .low_s = a->low_s, .high_s = a->high_s };
    if (a->best >= 0) {
        const struct hrun_config *config = &h->v[a->best].run.config;

        d->learning.after_trial = last->learnt && !hrun_config_equal(&last->config, config);
        d->learning.best = xstrdup(hrun_config_text(config).s);
    }
    if (a->why == HRUN_LEARN_USUAL)
        return;
    d->by = BY_RUNS;
    d->config = a->config;
    d->P = hrun_config_processes(&a->config);
}

static int rule_accepts(void *ctx, int P)
{
    const struct context *c = ctx;

    return hrun_app_rule(c->app, 1, P, NULL) > 0;
}

int learn_quickest(struct context *c, struct decision *d, struct hrun_error *err)
{
    autorelease(release_history) struct history h = { 0 };

    if (c->store && load_history(c, d, &h, err))
        return -1;
    for (int k = 0; k < h.n; k++) {
        const struct hrun_learn_run *r = &h.v[k].run;
        int P = hrun_config_processes(&r->config);

        if (r->time_s <= 0 || (d->fallback.run_s > 0 && r->time_s >= d->fallback.run_s) || !rule_accepts(c, P))
            continue;
        d->fallback.run_s = r->time_s;
        d->by = BY_DEFAULT;
        d->P = P;
        d->has_config = 1;
        d->config = r->config;
    }
    return d->fallback.run_s <= 0;
}

/* ---------------------------------------------------------------- default numbers of processes that fail */

/* Rules that programs often have for their number of processes. */
enum common_rule { POWER_OF_TWO, SQUARE, CUBE, DIVISOR, ONE, COMMON_RULES };

static int follows_rule(enum common_rule rule, int P, int of)
{
    int root = (int)(rule == SQUARE ? sqrt(P) + 0.5 : cbrt(P) + 0.5);

    return rule == POWER_OF_TWO ? (P & (P - 1)) == 0 : rule == SQUARE ? root * root == P
         : rule == CUBE ? root * root * root == P : rule == DIVISOR ? P < of && of % P == 0 : P == 1;
}

/* The runs since the default number of processes last worked. */
struct attempts {
    int usual;          /* the default number */
    char *state;        /* [usual + 1]: 'w' if P processes worked, 'f' if they failed, else 0 */
    int failures;       /* of the default number */
    int best;           /* the largest P that worked; 0: none */
    int since;          /* failures of the default number after another number worked */
};

static void count_attempts(struct context *c, const struct history *h, struct attempts *a)
{
    struct stat st;
    double built_s = c->program && !stat(c->program, &st) ? difftime(time(NULL), st.st_mtime) : INFINITY, age_s;

    for (int i = 0; i < h->n; i++) {
        const struct hrun_learn_run *r = &h->v[i].run;
        int P = hrun_config_processes(&r->config);

        /* Runs of an older build of the program do not count. */
        if (P > a->usual || !rule_accepts(c, P) || (!hrun_date_age(h->v[i].date, &age_s) && built_s < age_s))
            continue;
        if (P == a->usual && r->time_s > 0) {
            memset(a->state, 0, (size_t)a->usual + 1);
            a->failures = a->best = a->since = 0;
            continue;
        }
        a->state[P] = r->time_s > 0 ? 'w' : 'f';
        if (P == a->usual) {
            a->failures++;
            a->since += a->best > 0;
        } else if (r->time_s > 0 && a->failures) {
            a->best = P > a->best ? P : a->best;
        }
    }
}

/* The largest untried P that follows a common rule, and the rule's name; 0: none. A failure that follows a rule
 * excludes this rule, except DIVISOR. */
static int find_plausible(struct context *c, const struct attempts *a, const char **name)
{
    static const char *const names[COMMON_RULES] = { "the largest power of two", "the largest square",
                                                     "the largest cube", "the largest divisor", "always possible" };

    for (int rule = 0; rule < COMMON_RULES; rule++) {
        int refuted = 0;

        *name = names[rule];
        for (int P = 1; P <= a->usual; P++)
            refuted |= a->state[P] == 'f' && follows_rule(rule, P, a->usual);
        for (int P = a->usual; P > 0 && (!refuted || rule == DIVISOR); P--)
            if (follows_rule(rule, P, a->usual) && !a->state[P] && rule_accepts(c, P))
                return P;
    }
    return 0;
}

int learn_refused(struct context *c, struct decision *d, struct hrun_error *err)
{
    enum { ENOUGH = 2 };    /* failures of the default; one alone may have another cause, such as a missing licence */
    autorelease(release_history) struct history h = { 0 };
    struct attempts a = { .usual = d->P };
    autofree char *state = NULL;
    const char *name = "";
    int rc, P;

    if (!c->problem || !c->app->fixed || !c->store || d->by != BY_DEFAULT || d->fallback.run_s > 0 || c->set->quiet)
        return 0;
    a.state = state = xcalloc((size_t)a.usual + 1, 1);
    if (load_history(c, d, &h, err))
        return -1;
    count_attempts(c, &h, &a);
    P = a.best ? a.best : a.failures >= ENOUGH ? find_plausible(c, &a, &name) : 0;
    d->fallback.failures = a.failures;
    d->fallback.usual = a.usual;
    if (a.best && !a.since) {
        settings_say(c->set, "%d processes failed in earlier runs of this command, and %d worked: %d are started once "
                     "more, to see whether their number was the reason (-n gives another)", a.usual, a.best, a.usual);
        return 0;
    }
    if (a.failures < ENOUGH || !P)
        return 0;
    rc = decide_by_count(c, P, d, err);
    d->by = BY_DEFAULT;
    settings_say(c->set, "%d processes failed in %d earlier runs of this command: %d %s, %s (-n gives another "
                 "number)", a.usual, a.failures, P, P == 1 ? "is started" : "are started",
                 a.best ? "which worked" : name);
    return rc;
}

int learn_applies(const struct context *c, const struct question *q, const struct decision *d)
{
    return q->explore > 0 && c->app && c->app->fixed && c->store && (d->by == BY_DEFAULT || d->by == BY_KINDS);
}

int learn_decide(struct context *c, double loss, struct decision *d, struct hrun_error *err)
{
    autofree struct hrun_learn_sub *subs = xcalloc((size_t)d->nsubs, sizeof *subs);
    autofree struct hrun_learn_run *runs = NULL;
    struct hrun_learn_question q = { .subs = subs, .nsubs = d->nsubs, .config = d->config, .loss = loss,
                                     .accepts = rule_accepts, .ctx = c };
    struct hrun_learn_answer a;
    autorelease(release_history) struct history h = { 0 };

    if (load_history(c, d, &h, err))
        return -1;
    describe_subclusters(c, d, subs);
    q.runs = runs = xcalloc((size_t)h.n + 1, sizeof *runs);
    for (q.nruns = 0; q.nruns < h.n; q.nruns++)
        runs[q.nruns] = h.v[q.nruns].run;
    if (hrun_learn_next(&q, &a, err))
        return -1;
    adopt_answer(d, &h, &a);
    return 0;
}
