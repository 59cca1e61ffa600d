/* core_kinds.c - choose the kinds of cores of one host for a program without a profile; see core_kinds.h */
#include "session/core_kinds.h"

#include "base/alloc.h"
#include "base/units.h"
#include "model/speeds.h"
#include "session/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* EQUAL: kinds with a smaller ratio of speeds count as one. A benchmark is disturbed if its process got less than ALONE
 * of the time of a core, or if the ratio of speeds within a kind exceeds ALIKE (1.1 is usual: a package favours some of
 * its cores). A disturbed benchmark is repeated after AGAIN_S seconds. Two processes per core are preferred only if one
 * per core takes more than MARGIN times as long (tests/trials/hybrid, seeds 1 to 800). */
static const double EQUAL = 1.1, ALONE = 0.9, ALIKE = 1.25, MARGIN = 1.3, AGAIN_S = 3600;

int kinds_matter(const struct context *c, const struct question *q, const struct decision *d)
{
    const struct hrun_cluster *cl = c->cluster;
    int first = -1, several = 0;

    if (d->by != BY_DEFAULT || q->use || cl->platform || cl->nhosts != 1 || !cl->hosts[0].is_local ||
        !cl->hosts[0].topo || !context_is_real(c) || cl->hosts[0].cpu_quota > 0 || !c->store ||
        (c->app && c->app->run.threads_fill))
        return 0;
    for (int i = 0; i < cl->nsubs; i++) {
        if (cl->subs[i].level != HRUN_LEVEL_CORE)
            return 0;
        first = first < 0 && d->subs[i].npes ? i : first;
        several |= d->subs[i].npes && cl->subs[i].kind != cl->subs[first].kind;
    }
    return several;
}

/* ---------------------------------------------------------------- speeds */

/* The largest speed below a limit; 0: none. */
static double next_speed(const double *speed, int nsubs, double below)
{
    double top = 0;

    for (int i = 0; i < nsubs; i++)
        top = speed[i] < below ? fmax(top, speed[i]) : top;
    return top;
}

/* Set the speeds of kinds that count as one to their mean. */
static void merge_equal_speeds(const struct hrun_cluster *cl, double *speed)
{
    double below = INFINITY, top;

    while ((top = next_speed(speed, cl->nsubs, below)) > 0) {
        double sum = 0;
        int cores = 0;

        for (int i = 0; i < cl->nsubs; i++)
            if (speed[i] < below && speed[i] * EQUAL > top) {
                sum += speed[i] * cl->subs[i].npes;
                cores += cl->subs[i].npes;
            }
        for (int i = 0; i < cl->nsubs; i++)
            if (speed[i] < below && speed[i] * EQUAL > top)
                speed[i] = sum / cores;
        below = sum / cores;
    }
}

int kinds_average_rates(const struct hrun_cluster *cl, const struct hrun_topo_rate *rates, double *speed, char *why,
                size_t size)
{
    for (int i = 0; i < cl->nsubs; i++) {
        const struct hrun_subcluster *sub = &cl->subs[i];
        double least = INFINITY, most = 0, sum = 0;

        for (int k = 0; k < sub->npes; k++, rates++) {
            if (rates->share < ALONE) {
                snprintf(why, size, "other programs had core %s for %.0f %% of the time", sub->pes[k].cores,
                         100 * (1 - rates->share));
                return 0;
            }
            least = fmin(least, rates->rate);
            most = fmax(most, rates->rate);
            sum += rates->rate;
        }
        if (most > least * ALIKE) {
            snprintf(why, size, "one core of %s was %.1f times as quick as another", sub->core_kind, most / least);
            return 0;
        }
        speed[i] = sum / sub->npes;
    }
    return 1;
}

/* Read the speeds of the newest benchmark. Result: 1: speeds are set; -1: this benchmark was disturbed, less than
 * AGAIN_S ago; 0: there is none, a disturbed one is older, or the log cannot be read. */
static int recall_speeds(const struct context *c, double *speed)
{
    double age_s;

    for (int i = 0; i < c->cluster->nsubs; i++) {
        autorelease(hrun_buf_release) struct hrun_buf sig = HRUN_BUF_INIT;
        autorelease(hrun_samples_release) struct hrun_samples s = { 0 };
        const struct hrun_sample *last;

        profiles_speed_signature(&c->cluster->subs[i], &sig);
        if (hrun_store_samples(c->store, HRUN_KINDS_APP, sig.data, &s, NULL) || !s.n)
            return 0;
        last = &s.v[s.n - 1];
        if (!last->ok || last->time_s <= 0)
            return !hrun_date_age(last->date, &age_s) && age_s < AGAIN_S ? -1 : 0;
        speed[i] = 1 / last->time_s;
    }
    return 1;
}

static int keep_speeds(const struct context *c, const double *speed, int good, struct hrun_error *err)
{
    char date[21], origin[] = "calibration", status[] = "ok", bad[] = "disturbed";

    hrun_date_now(date);
    for (int i = 0; i < c->cluster->nsubs; i++) {
        const struct hrun_subcluster *sub = &c->cluster->subs[i];
        autorelease(hrun_buf_release) struct hrun_buf sig = HRUN_BUF_INIT;
        double t = good ? 1 / speed[i] : 0;
        struct hrun_sample s = { .N = 1, .P = sub->npes, .M = 1, .pes = sub->npes, .time_s = t,
                                 .wall_s = KINDS_SECONDS, .ok = good, .status = good ? status : bad, .origin = origin,
                                 .cluster = sub->name, .launcher.engine = (char *)(uintptr_t)c->engine->name,
                                 .launcher.version = (char *)(uintptr_t)HRUN_VERSION, .date = date };

        profiles_speed_signature(sub, &sig);
        if (hrun_store_append(c->store, HRUN_KINDS_APP, sig.data, &s, err))
            return -1;
    }
    return 0;
}

/* Run the benchmark on all cores at the same time, and store its result. Result: as kinds_average_rates. */
static int measure_speeds(const struct context *c, double *speed, char *why, size_t size)
{
    const struct hrun_cluster *cl = c->cluster;
    struct hrun_error err = { 0 };
    autofree struct hrun_topo_rate *rates = NULL;
    autofree const char **cpusets = NULL;
    int n = 0, good = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += cl->subs[i].npes;
    rates = xcalloc((size_t)n, sizeof *rates);
    cpusets = xcalloc((size_t)n, sizeof *cpusets);
    n = 0;
    for (int i = 0; i < cl->nsubs; i++)
        for (int k = 0; k < cl->subs[i].npes; k++)
            cpusets[n++] = cl->subs[i].pes[k].cpuset;
    if (hrun_topo_benchmark(cl->hosts[0].topo, cpusets, n, KINDS_SECONDS, rates, &err))
        snprintf(why, size, "%.200s", err.text);
    else
        good = kinds_average_rates(cl, rates, speed, why, size);
    if (keep_speeds(c, speed, good, &err))
        settings_say(c->set, "the speeds of the cores cannot be kept: %s", err.text);
    return good;
}

void kinds_load_speeds(struct context *c, const char *why_not)
{
    struct kinds *k = &c->kinds;
    double *speed = xcalloc((size_t)c->cluster->nsubs, sizeof *speed);
    int good = c->set->machine.refresh && !why_not ? 0 : recall_speeds(c, speed);

    k->looked = 1;
    if (good < 0) {
        snprintf(k->why_not, sizeof k->why_not, "they were measured less than an hour ago while other programs ran; "
                 "--refresh measures again");
    } else if (!good && why_not) {
        snprintf(k->why_not, sizeof k->why_not, "%s", why_not);
    } else if (!good) {
        good = measure_speeds(c, speed, k->why_not, sizeof k->why_not);
        k->took_s = KINDS_SECONDS;
    }
    if (good > 0) {
        merge_equal_speeds(c->cluster, speed);
        k->speed = speed;
    } else {
        free(speed);
    }
}

/* ---------------------------------------------------------------- the choice */

/* Find the fastest configuration by speeds with up to M processes per core; *plan stays NULL if none is valid. */
static int search_by_speeds(const struct context *c, const struct hrun_app *app, const struct decision *d, int M,
                            struct hrun_plan **plan, struct hrun_error *err)
{
    static const int procs[] = { 1, 2 };
    int n = d->nsubs, rc;
    autofree struct hrun_speed *v = xcalloc((size_t)n, sizeof *v);
    autofree struct hrun_plan_sub *subs = xcalloc((size_t)n, sizeof *subs);
    struct hrun_plan_problem problem = { .subs = subs };
    struct hrun_error why = { 0 };
    struct hrun_speeds *s;

    for (int i = 0; i < n; i++) {
        v[i] = (struct hrun_speed){ .compute_s = 1 / c->kinds.speed[i], .cores = 1, .procs = procs, .nprocs = M };
        subs[i] = (struct hrun_plan_sub){ .npes = d->subs[i].npes,
                                          .memory_bytes = (double)c->cluster->subs[i].memory_bytes };
    }
    s = hrun_speeds_create(app, d->N, v, n, 1, 0, err);
    if (!s)
        return -1;
    problem.oracle = hrun_speeds_oracle(s);
    rc = hrun_plan_search(&problem, 1, plan, &why);
    hrun_speeds_destroy(s);
    if (!rc || why.code == HRUN_EINFEASIBLE)
        return 0;
    if (err)
        *err = why;
    return -1;
}

static void adopt_config(struct decision *d, const struct hrun_config *config)
{
    d->config = *config;
    d->P = hrun_config_processes(config);
    d->has_config = 1;
    d->by = BY_KINDS;
}

/* If two or more candidates were run, adopt the one with the least median time. Candidates: the best of each plan
 * (NULL: none), and one process per core of the k fastest kinds for each k. */
static void adopt_quickest(const struct context *c, struct hrun_plan *const plans[2], struct decision *d)
{
    struct hrun_config config[2 + HRUN_SUBS_MAX];
    const double *speed = c->kinds.speed;
    double least_s = INFINITY;
    int n = 0, best = 0, runs;

    for (int k = 0; k < 2; k++)
        if (plans[k])
            config[n++] = plans[k]->v[0].config;
    for (double s = INFINITY; (s = next_speed(speed, d->nsubs, s)) > 0; n++) {
        config[n] = (struct hrun_config){ .nsubs = d->nsubs };
        for (int i = 0; i < d->nsubs; i++) {
            config[n].pes[i] = speed[i] >= s ? d->subs[i].npes : 0;
            config[n].procs[i] = config[n].pes[i] > 0;
        }
    }
    d->fallback.kinds_run = 0;
    for (int k = 0, first = 0; k < n; k++, first = 0) {
        double t;

        while (!hrun_config_equal(&config[first], &config[k]))
            first++;
        t = first == k ? problem_median_s(c, &config[k], &runs) : 0;
        d->fallback.kinds_run += t > 0;
        if (t > 0 && t < least_s) {
            least_s = t;
            best = k;
        }
    }
    if (d->fallback.kinds_run > 1)
        adopt_config(d, &config[best]);
    else
        d->fallback.kinds_run = 0;
}

int kinds_decide(const struct context *c, int by_runs, struct decision *d, struct hrun_error *err)
{
    struct hrun_plan *plans[2] = { NULL, NULL };    /* with one process per core, and with up to two */
    struct hrun_app *bare = NULL;
    const struct hrun_app *app;
    int rc, may_share = 0;

    if (!c->kinds.speed)
        return 0;
    if (!(c->app && d->N) && hrun_app_create_bare("program", &bare, err))
        return -1;
    app = bare ? bare : c->app;
    for (int k = 0; k < app->nprocs_per_pe; k++)
        may_share |= app->procs_per_pe[k] == 2;
    rc = search_by_speeds(c, app, d, 1, &plans[0], err) ||
         (may_share && search_by_speeds(c, app, d, 2, &plans[1], err)) ? -1 : 0;
    if (!rc && (plans[0] || plans[1])) {
        int shares = !plans[0] || (plans[1] && plans[1]->v[0].time_s * MARGIN < plans[0]->v[0].time_s);

        adopt_config(d, &plans[shares]->v[0].config);
        if (by_runs && app->fixed)
            adopt_quickest(c, plans, d);
    }
    hrun_plan_destroy(plans[0]);
    hrun_plan_destroy(plans[1]);
    hrun_app_destroy(bare);
    return rc;
}

/* ---------------------------------------------------------------- texts */

/* Append the kinds that have this speed, and their number of cores: "kind0 and kind1 (12)". */
static void add_kinds(const struct context *c, double speed, struct hrun_buf *out)
{
    const struct hrun_cluster *cl = c->cluster;
    int cores = 0;

    for (int i = 0; i < cl->nsubs; i++)
        if (c->kinds.speed[i] == speed) {
            hrun_buf_addf(out, "%s%s", cores ? " and " : "", cl->subs[i].core_kind);
            cores += cl->subs[i].npes;
        }
    hrun_buf_addf(out, " (%d)", cores);
}

void kinds_print(const struct context *c, struct hrun_buf *out)
{
    const double *speed = c->kinds.speed;
    double slowest = INFINITY;
    int n = 0;

    if (!speed) {
        hrun_buf_adds(out, "the speeds of the kinds of cores are not known");
        if (c->kinds.took_s > 0)
            hrun_buf_addf(out, ", though measured in %.1f s", c->kinds.took_s);
        hrun_buf_addf(out, ": %s", c->kinds.why_not);
        return;
    }
    for (int i = 0; i < c->cluster->nsubs; i++)
        slowest = fmin(slowest, speed[i]);
    hrun_buf_adds(out, "cores of ");
    for (double s = INFINITY; (s = next_speed(speed, c->cluster->nsubs, s)) > slowest;) {
        hrun_buf_adds(out, n++ ? ", of " : "");
        add_kinds(c, s, out);
        hrun_buf_addf(out, " are %.1f times", s / slowest);
    }
    hrun_buf_adds(out, n ? " as quick as those of " : "");
    add_kinds(c, slowest, out);
    hrun_buf_adds(out, n ? "" : " are equally quick");
    if (c->kinds.took_s > 0)
        hrun_buf_addf(out, ", measured in %.1f s", c->kinds.took_s);
}

void kinds_print_config(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    const char *join = "";
    int alike = 1;

    for (int i = 0; i < d->nsubs; i++)
        alike &= d->config.procs[i] == 1 && d->config.pes[i] == c->cluster->subs[i].npes;
    if (alike) {
        hrun_buf_adds(out, "one per core");
        return;
    }
    for (int M = 2; M > 0; M--)
        for (int i = 0, first = 1; i < d->nsubs; i++)
            if (d->config.pes[i] && d->config.procs[i] == M) {
                hrun_buf_adds(out, join);
                if (first)
                    hrun_buf_adds(out, M > 1 ? "2 per core of " : "one per core of ");
                hrun_buf_adds(out, c->cluster->subs[i].core_kind);
                join = i + 1 < d->nsubs && d->config.procs[i + 1] == M ? " and " : ", ";
                first = 0;
            }
}
