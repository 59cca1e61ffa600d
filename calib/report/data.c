/* report_data.c - from the logs and models to a report; see report.h */
#include "report.h"

#include "base/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const char *s)
{
    return s ? s : "";
}

/* ------------------------------------------------------------------ which sub-clusters */

/* The samples of all profiles of the application. */
struct logs {
    struct hrun_strvec signatures;
    struct hrun_samples *v;
};

static void logs_release(struct logs *l)
{
    for (size_t i = 0; l->v && i < l->signatures.n; i++)
        hrun_samples_release(&l->v[i]);
    free(l->v);
    hrun_strvec_release(&l->signatures);
}

static int read_logs(struct report *r, struct logs *l, struct hrun_error *err)
{
    const char *app = r->c->app->name;

    if (hrun_store_signatures(r->c->store, app, &l->signatures, err))
        return -1;
    l->v = calloc(l->signatures.n + 1, sizeof *l->v);
    if (!l->v)
        return hrun_fail_nomem(err);
    for (size_t i = 0; i < l->signatures.n; i++) {
        if (hrun_store_samples(r->c->store, app, l->signatures.v[i], &l->v[i], err))
            return -1;
        r->bad += l->v[i].bad;
        r->old += hrun_samples_current(&l->v[i]);
    }
    return 0;
}

/* Later runs go before earlier ones, and calibration before all others, which may be made on a part of the cluster. */
static int is_newer(const struct hrun_sample *a, const struct hrun_sample *b)
{
    int x = !strcmp(text_of(a->origin), "calibration"), y = b ? !strcmp(text_of(b->origin), "calibration") : 0;

    return !b || (x != y ? x : strcmp(text_of(a->date), text_of(b->date)) >= 0);
}

/* The newest run; name: of those on the sub-cluster of this name alone, whose log *log is then. */
static const struct hrun_sample *newest(const struct logs *l, const char *name, size_t *log)
{
    const struct hrun_sample *found = NULL;

    for (size_t i = 0; i < l->signatures.n; i++)
        for (size_t k = 0; k < l->v[i].n; k++) {
            const struct hrun_sample *s = &l->v[i].v[k];
            int n = hrun_list_count(s->cluster), *config = calloc(2 * (size_t)n + 1, sizeof *config), right = n > 0;

            right = right && config && !hrun_config_parse(text_of(s->config), n, config, config + n, NULL);
            for (int j = 0; right && name && j < n; j++)
                if (config[j])
                    right = !s->mixed && hrun_list_is(s->cluster, j, name);
            free(config);
            if (right && is_newer(s, found)) {
                found = s;
                if (log)
                    *log = i;
            }
        }
    return found;
}

static int add_sub(struct report *r, const char *name, const char *signature)
{
    struct report_sub *s = &r->subs[r->nsubs];

    s->name = strdup(name);
    s->signature = strdup(signature);
    s->same = r->nsubs;
    for (int i = 0; i < r->nsubs && s->signature; i++)
        if (s->same == r->nsubs && !strcmp(r->subs[i].signature, s->signature))
            s->same = i;
    r->nsubs++;
    return s->name && s->signature ? 0 : -1;
}

static int is_stored(const struct logs *l, const char *signature)
{
    for (size_t i = 0; i < l->signatures.n; i++)
        if (!strcmp(l->signatures.v[i], signature))
            return 1;
    return 0;
}

/* The sub-clusters as the newest run names them; records of older hruns do not say whose profile is whose, then runs on
 * one sub-cluster tell. Where no run says anything every profile is a sub-cluster. */
static int find_subs(struct report *r, const struct logs *l, struct hrun_error *err)
{
    const struct hrun_sample *last = newest(l, NULL, NULL);
    int n = last ? hrun_list_count(last->cluster) : 0, rc = 0;

    r->subs = calloc((size_t)n + l->signatures.n + 1, sizeof *r->subs);
    if (!r->subs)
        return hrun_fail_nomem(err);
    for (int i = 0; i < n && !rc; i++) {
        int told = i < hrun_list_count(last->signatures);
        char *name = hrun_list_copy(last->cluster, i), *signature = hrun_list_copy(last->signatures, i);
        size_t log = 0;

        if (!name || (told && !signature))
            rc = -1;
        else if (told ? is_stored(l, signature) : newest(l, name, &log) != NULL)
            rc = add_sub(r, name, told ? signature : l->signatures.v[log]);
        free(name);
        free(signature);
    }
    for (size_t i = 0; !r->nsubs && i < l->signatures.n && !rc; i++)
        if (l->v[i].n)
            rc = add_sub(r, l->signatures.v[i], l->signatures.v[i]);
    return rc ? hrun_fail_nomem(err) : 0;
}

/* Hand the samples over, and read the models. Profiles of no sub-cluster are named. */
static int fill_subs(struct report *r, struct logs *l, struct hrun_error *err)
{
    for (size_t k = 0; k < l->signatures.n; k++) {
        int taken = 0;

        for (int i = 0; i < r->nsubs; i++) {
            struct report_sub *s = &r->subs[i];

            if (strcmp(s->signature, l->signatures.v[k]))
                continue;
            if (!taken++) {
                s->samples = l->v[k];
                memset(&l->v[k], 0, sizeof l->v[k]);
                if (hrun_store_get_models(r->c->store, r->c->app->name, s->signature, &s->models, err))
                    return -1;
            }
        }
        if (!taken && l->v[k].n && hrun_strvec_push(&r->others, l->signatures.v[k]))
            return hrun_fail_nomem(err);
    }
    return 0;
}

/* ------------------------------------------------------------------ which runs */

static int sub_of(const struct report *r, const struct hrun_sample *s, int i)
{
    int told = i < hrun_list_count(s->signatures);

    for (int k = 0; k < r->nsubs; k++)
        if (hrun_list_is(s->cluster, i, r->subs[k].name) &&
            (!told || hrun_list_is(s->signatures, i, r->subs[k].signature)))
            return k;
    return -1;
}

/* The configuration of a run on the report's sub-clusters; it stays NULL where it used others. */
static int place_run(struct report *r, struct report_run *run, int log)
{
    const struct hrun_sample *s = run->s;
    int n = hrun_list_count(s->cluster), known = 1, used = 0;
    int *theirs = calloc(2 * (size_t)n + 1, sizeof *theirs), *ours = calloc(2 * (size_t)r->nsubs, sizeof *ours);

    run->sub = -1;
    run->npes = s->pes;
    if (!theirs || !ours) {
        free(theirs);
        free(ours);
        return -1;
    }
    if (n && !hrun_config_parse(text_of(s->config), n, theirs, theirs + n, NULL)) {
        run->npes = 0;
        for (int i = 0; i < n; i++) {
            int k = theirs[i] ? sub_of(r, s, i) : -1;

            run->npes += theirs[i];
            used += k >= 0;
            known = known && (!theirs[i] || k >= 0);
            if (k >= 0) {
                ours[k] = theirs[i];
                ours[r->nsubs + k] = theirs[n + i];
                run->sub = used == 1 ? k : -1;
            }
        }
    }
    /* A run on one sub-cluster is its log's, whatever the sub-cluster was called then. */
    if (!s->mixed && (!known || used != 1)) {
        memset(ours, 0, 2 * (size_t)r->nsubs * sizeof *ours);
        ours[log] = s->pes;
        ours[r->nsubs + log] = s->M;
        run->sub = log;
        known = used = 1;
    }
    free(theirs);
    if (known && used && report_processes(r, ours) == s->P) {
        run->config = ours;
        for (int k = 0; k < r->nsubs; k++)
            if (ours[k] > r->subs[k].npes)
                r->subs[k].npes = ours[k];
    } else {
        free(ours);
        run->sub = -1;
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const struct hrun_sample *x = ((const struct report_run *)a)->s, *y = ((const struct report_run *)b)->s;
    int c;

    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    if ((c = strcmp(text_of(x->date), text_of(y->date))) || (c = strcmp(text_of(x->config), text_of(y->config))))
        return c;
    if (x->wall_s != y->wall_s)
        return x->wall_s < y->wall_s ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* A run on several sub-clusters stands in the log of each; times are kept to the last bit. */
static int is_again(const struct hrun_sample *a, const struct hrun_sample *b)
{
    return a->mixed && b->mixed && a->N == b->N && a->P == b->P && a->time_s == b->time_s && a->wall_s == b->wall_s &&
           !strcmp(text_of(a->date), text_of(b->date)) && !strcmp(text_of(a->config), text_of(b->config));
}

static int take_runs(struct report *r, struct hrun_error *err)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    size_t n = 0;
    int kept = 0, rc = 0;

    hrun_app_consts_text(r->c->app, &consts);
    for (int i = 0; i < r->nsubs; i++)
        n += r->subs[i].samples.n;
    r->runs = calloc(n + 1, sizeof *r->runs);
    if (!r->runs || consts.failed)
        rc = -1;
    for (int i = 0; i < r->nsubs && !rc; i++)
        for (size_t k = 0; k < r->subs[i].samples.n && !rc; k++) {
            struct report_run *run = &r->runs[r->nruns++];
            const struct hrun_sample *s = run->s = &r->subs[i].samples.v[k];
            int other = strcmp(text_of(s->consts), consts.data) != 0;

            run->counts = s->ok && !other;
            r->other_consts += other;
            rc = place_run(r, run, i);
        }
    if (!rc)
        qsort(r->runs, (size_t)r->nruns, sizeof *r->runs, by_size);
    for (int i = 0; i < r->nruns && !rc; i++) {
        if (kept && is_again(r->runs[kept - 1].s, r->runs[i].s))
            free(r->runs[i].config);
        else
            r->runs[kept++] = r->runs[i];
    }
    if (!rc)
        r->nruns = kept;
    hrun_buf_release(&consts);
    return rc ? hrun_fail_nomem(err) : 0;
}

/* ------------------------------------------------------------------ */

/* What the models say of a run, with its shares. */
static int predict(struct report *r, struct report_run *run)
{
    double *share;
    int rc;

    if (!report_is_dealt(run))
        return report_predict(r, run->config, run->s->N, &run->fit, &run->low, &run->high, NULL);
    share = calloc((size_t)r->nsubs + 1, sizeof *share);
    for (int i = 0; share && i < r->nsubs; i++) {
        int place = hrun_list_find(run->s->cluster, r->subs[i].name);

        share[i] = place < 0 ? 0 : hrun_sample_share(run->s, place);
    }
    rc = !share || !report_predictor(r, run->s->N, NULL) ||
         hrun_predictor_time_shared(report_predictor(r, run->s->N, NULL), run->config, run->config + r->nsubs, share,
                                    &run->fit, NULL);
    run->low = run->high = run->fit;
    free(share);
    return rc;
}

int report_gather(struct context *c, int64_t N, struct report *out, struct hrun_error *err)
{
    struct logs logs = { 0 };
    struct report r = { .c = c, .N = N };
    int rc = -1;

    if (read_logs(&r, &logs, err) || find_subs(&r, &logs, err) || fill_subs(&r, &logs, err) || take_runs(&r, err))
        goto done;
    if (!r.nruns) {
        hrun_fail(err, HRUN_ENODATA, "there is no measurement of %s in %s; hrun-calibrate -app %s PROGRAM makes some",
                  c->app->name, hrun_store_dir(c->store), c->app->name);
        goto done;
    }
    for (int i = 0; i < r.nruns; i++) {
        struct report_run *run = &r.runs[i];

        if (!N && run->counts && run->s->N > r.N)
            r.N = run->s->N;
        if (run->counts && run->config &&
            predict(&r, run))
            run->fit = 0;
    }
    rc = report_choose(&r, err) || r.failed ? -1 : 0;
    if (r.failed)
        hrun_fail_nomem(err);
done:
    logs_release(&logs);
    if (rc)
        report_release(&r);
    else
        *out = r;
    return rc;
}

void report_release(struct report *r)
{
    report_predictors_destroy(r->predictors);
    hrun_corrections_destroy(r->corrections);
    hrun_net_destroy(r->net);
    hrun_net_records_release(&r->experiments);
    for (int i = 0; i < r->nsubs; i++) {
        free(r->subs[i].name);
        free(r->subs[i].signature);
        hrun_samples_release(&r->subs[i].samples);
        hrun_models_destroy(r->subs[i].models);
    }
    free(r->subs);
    for (int i = 0; i < r->nruns; i++)
        free(r->runs[i].config);
    free(r->runs);
    free(r->points);
    for (int i = 0; i < r->nsizes; i++)
        free(r->sizes[i].chosen);
    free(r->sizes);
    free(r->choice.chosen);
    hrun_plan_destroy(r->plan);
    report_tradeoffs_release(r);
    free(r->front);
    free(r->why_no_plan);
    hrun_strvec_release(&r->others);
    memset(r, 0, sizeof *r);
}
