/* joint.c - fit all sub-clusters together; see model.h for the contract
 *
 * Each sub-cluster is fitted to its own rows and to shared rows, which are computed from runs on the others. Then each
 * mixed run becomes a row of the sub-clusters that limit it according to these models. At last each
 * sub-cluster is fitted again.
 */
#include "base/alloc.h"
#include "model/fit_job.h"
#include "model/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct hrun_app *app;
    const struct hrun_joint_sub *subs;
    int nsubs;
    const struct hrun_fit_options *options;
    struct hrun_mixed mixed;
    struct hrun_row **base;         /* of each sub-cluster: its own rows */
    size_t *nbase;
    struct hrun_row *rows;          /* scratch for the rows of one sub-cluster */
    struct hrun_models **models;    /* of each sub-cluster, or NULL */
    struct hrun_models **given;     /* the models by own rows alone */
    struct hrun_common *common;     /* or NULL */
    struct hrun_buf *skipped;       /* of each sub-cluster */
    struct hrun_buf *excluded;      /* of each: measurements that are glitches */
    char *counts;                   /* of each part: 1 if it is a row of its sub-cluster */
    double *predicted;              /* of each part; NaN without a model */
    double *t;                      /* of each option: scratch */
    double *share;                  /* nsubs: scratch */
    int *place;                     /* nsubs: index of each in the network, -1: none; NULL: no network */
};

/* ------------------------------------------------------------------ rows */

/* Rows of the mixed runs that count for sub-cluster `sub`. */
static size_t add_mixed_rows(const struct job *j, int sub, struct hrun_row *rows)
{
    size_t n = 0;

    for (size_t r = 0; r < j->mixed.nruns; r++) {
        const struct hrun_mixed_run *run = &j->mixed.runs[r];

        for (size_t p = run->first; p < run->first + run->nparts; p++) {
            const struct hrun_mixed_part *part = &j->mixed.parts[p];

            if ((j->counts[p] || part->busy_s > 0) && part->sub == sub)
                rows[n++] = (struct hrun_row) { run->N, run->P, part->M, part->busy_s > 0 ? part->busy_s : run->T,
                                                run->date, HRUN_ROW_MIXED, 1, run->sample, -1, part->share };
        }
    }
    return n;
}

/* ------------------------------------------------------------------ fitting */

/* 1 if the dependence on P of the model of M is from shared rows alone: own[nown] have fewer than two different P >
 * M. */
static int is_shared(const struct hrun_row *rows, size_t n, const struct hrun_row *own, size_t nown, int M)
{
    int shared = 0, P = 0;

    for (size_t i = 0; i < n; i++)
        shared |= rows[i].M == M && rows[i].kind == HRUN_ROW_SHARED;
    for (size_t i = 0; i < nown; i++) {
        if (own[i].M != M || own[i].kind != HRUN_ROW_OWN)
            continue;
        if (P && own[i].P != P)
            return 0;
        P = own[i].P;
    }
    return shared;
}

/* Fit one sub-cluster to rows[n]: *out, NULL when there is no model. */
static int fit_sub(struct job *j, int sub, struct hrun_row *rows, size_t n, struct hrun_models **out,
                   struct hrun_error *err)
{
    struct hrun_models *m = NULL;
    struct hrun_error why = { 0 };

    *out = NULL;
    if (!n)
        return 0;
    hrun_rows_sort(rows, n);
    hrun_buf_reset(&j->skipped[sub]);
    if (hrun_fit_rows(j->app, rows, n, j->options, &m, &j->skipped[sub], &why)) {
        if (why.code == HRUN_ENODATA) {
            hrun_buf_addf(&j->skipped[sub], "%s\n", why.text);
            return 0;
        }
        hrun_fail_as(err, &why);
        return hrun_fail_prefix(err, "%s", j->subs[sub].name);
    }
    for (int i = 0; i < m->n; i++)
        if (!strcmp(m->v[i].family, "npt") && is_shared(rows, n, j->base[sub], j->nbase[sub], m->v[i].M)) {
            char *note = hrun_strf("shared with others%s%s", *m->v[i].note ? "; " : "", m->v[i].note);

            free(m->v[i].note);
            m->v[i].note = note;
        }
    *out = m;
    return 0;
}

/* Release the models of a sub-cluster, except those in `given`. */
static void drop_models(struct job *j, int sub)
{
    if (j->models[sub] != j->given[sub])
        hrun_models_destroy(j->models[sub]);
    j->models[sub] = NULL;
}

/* Fit each sub-cluster to its own rows. */
static int fit_each_sub(struct job *j, struct hrun_error *err)
{
    for (int i = 0; i < j->nsubs; i++) {
        if (fit_sub(j, i, j->base[i], j->nbase[i], &j->given[i], err))
            return -1;
        j->models[i] = j->given[i];
    }
    return 0;
}

/* Fit all sub-clusters to their own, mixed and shared rows. One without mixed and shared rows keeps its model. */
static int fit_all_subs(struct job *j, struct hrun_error *err)
{
    for (int i = 0; i < j->nsubs; i++) {
        struct hrun_models *m;
        size_t n = j->nbase[i];

        if (n)
            memcpy(j->rows, j->base[i], n * sizeof *j->rows);
        n += add_mixed_rows(j, i, j->rows + n);
        for (int k = 0; k < j->app->nprocs_per_pe; k++)
            hrun_common_rows(j->common, i, j->app->procs_per_pe[k], j->rows, &n);
        m = j->given[i];
        if (n > j->nbase[i] && fit_sub(j, i, j->rows, n, &m, err))
            return -1;
        drop_models(j, i);
        j->models[i] = m;
    }
    return 0;
}

/* ------------------------------------------------------------------ assigning mixed runs */

/* Ti of the options in the configuration of a run, with the share of one of its parts, into j->t; all NaN if its hosts
 * are not in the network. */
static int predict_run(struct job *j, struct hrun_predictor *p, const struct hrun_mixed_run *r,
                       const struct hrun_mixed_part *part, struct hrun_error *err)
{
    struct hrun_config config = { .nsubs = j->nsubs };
    int known = p->is_whole && !p->has_network && r->whole;

    for (int i = 0; i < j->nsubs; i++)
        j->share[i] = part->share;
    for (size_t i = r->first; known && i < r->first + r->nparts; i++) {
        config.pes[j->mixed.parts[i].sub] = j->mixed.parts[i].pes;
        config.procs[j->mixed.parts[i].sub] = j->mixed.parts[i].M;
    }
    if (p->is_whole && !known)
        known = j->options->net && hrun_netview_config(j->options->net, r->sample, -1, &config);
    return hrun_predictor_options(p, r->P, known ? &config : NULL,
                                  !p->is_whole && j->app->shares.units ? j->share : NULL, j->t, err);
}

/* Predict all parts of runs[n], all of one size N. */
static int predict_size(struct job *j, const struct hrun_mixed_run *runs, size_t n, struct hrun_error *err)
{
    enum hrun_model_form form = j->app->np.n ? HRUN_FORM_NPT : HRUN_FORM_PT;
    const struct hrun_predictor_source from = { j->app, j->models, j->nsubs, form, runs[0].N, j->options->net,
                                                .place = j->place };
    struct hrun_error why = { 0 };
    autorelease(hrun_predictor_release) struct hrun_predictor *p = hrun_predictor_create_net(&from, &why);

    if (!p && why.code != HRUN_ENODATA)
        return hrun_fail_as(err, &why);
    for (size_t r = 0; r < n; r++)
        for (size_t i = runs[r].first; i < runs[r].first + runs[r].nparts; i++) {
            const struct hrun_mixed_part *part = &j->mixed.parts[i];
            int k = p ? hrun_predictor_find(p, part->sub, part->M) : -1;

            if (p && (i == runs[r].first || part->share != part[-1].share) && predict_run(j, p, &runs[r], part, err))
                return -1;
            j->predicted[i] = k >= 0 && isfinite(j->t[k]) && j->t[k] > 0 ? j->t[k] : NAN;
        }
    return 0;
}

static int predict_all(struct job *j, struct hrun_error *err)
{
    const struct hrun_mixed_run *runs = j->mixed.runs;
    size_t end;

    for (size_t begin = 0; begin < j->mixed.nruns; begin = end) {
        for (end = begin; end < j->mixed.nruns && runs[end].N == runs[begin].N;)
            end++;
        if (predict_size(j, runs + begin, end - begin, err))
            return -1;
    }
    return 0;
}

/* Set which parts of mixed runs are rows of their sub-clusters: the longest part by the models, and all parts that the
 * models predict to be longer than the run. */
static int assign_mixed_runs(struct job *j, struct hrun_error *err)
{
    if (predict_all(j, err))
        return -1;
    for (size_t r = 0; r < j->mixed.nruns; r++) {
        const struct hrun_mixed_run *run = &j->mixed.runs[r];
        double most = 0;

        for (size_t i = run->first; i < run->first + run->nparts; i++)
            most = fmax(most, j->predicted[i]);     /* NaN does not count */
        for (size_t i = run->first; i < run->first + run->nparts; i++)
            j->counts[i] = (run->whole && j->predicted[i] == most) || j->predicted[i] > run->T;
    }
    return 0;
}

/* ------------------------------------------------------------------ the joint fit */

static void release_joint_job(struct job *j)
{
    for (int i = 0; i < j->nsubs; i++) {
        free(j->base[i]);
        drop_models(j, i);
        hrun_models_destroy(j->given[i]);
    }
    for (int i = 0; i < 2 * j->nsubs; i++)
        hrun_buf_release(&j->skipped[i]);
    hrun_common_destroy(j->common);
    hrun_mixed_release(&j->mixed);
    free(j->base);
    free(j->nbase);
    free(j->models);
    free(j->given);
    free(j->skipped);
    free(j->rows);
    free(j->counts);
    free(j->predicted);
    free(j->t);
    free(j->share);
    free(j->place);
}

/* Allocate, and find the sub-clusters in the network. */
static void begin_joint_job(struct job *j)
{
    size_t n = (size_t)j->nsubs;

    j->base = xcalloc(n + 1, sizeof *j->base);
    j->nbase = xcalloc(n + 1, sizeof *j->nbase);
    j->models = xcalloc(n + 1, sizeof *j->models);
    j->given = xcalloc(n + 1, sizeof *j->given);
    j->skipped = xcalloc(2 * n + 1, sizeof *j->skipped);
    j->excluded = j->skipped + n;
    for (size_t i = 0; i < 2 * n; i++)
        j->skipped[i] = (struct hrun_buf)HRUN_BUF_INIT;
    if (j->options->net)
        j->place = xcalloc(n + 1, sizeof *j->place);
    for (int i = 0; j->place && i < j->nsubs; i++)
        j->place[i] = hrun_netview_find(j->options->net, j->subs[i].name);
}

static int prepare_joint_job(struct job *j, struct hrun_error *err)
{
    size_t n = 0, ms = (size_t)j->app->nprocs_per_pe + 1;

    for (int i = 0; i < j->nsubs; i++) {
        struct hrun_error why = { 0 };

        n += j->subs[i].n;
        j->base[i] = xcalloc(j->subs[i].n + 1, sizeof *j->base[i]);
        if (!hrun_rows_select(j->app, j->subs[i].samples, j->subs[i].n, j->place ? j->place[i] : -1, j->base[i],
                              &j->nbase[i], &why) &&
            !hrun_glitches_exclude(j->app, j->options->glitches, j->base[i], &j->nbase[i], &j->excluded[i], &why))
            continue;
        if (why.code != HRUN_ENODATA) {
            hrun_fail_as(err, &why);
            return hrun_fail_prefix(err, "%s", j->subs[i].name);
        }
        hrun_buf_addf(&j->skipped[i], "%s\n", why.text);
    }
    if (j->options->method == HRUN_METHOD_NNLS && hrun_mixed_list(j->app, j->subs, j->nsubs, &j->mixed, err))
        return -1;
    j->rows = xcalloc(n * (2 * ms + 1) + 1, sizeof *j->rows);
    j->counts = xcalloc(j->mixed.nparts + 1, 1);
    j->predicted = xcalloc(j->mixed.nparts + 1, sizeof *j->predicted);
    j->t = xcalloc((size_t)j->nsubs * ms, sizeof *j->t);
    j->share = xcalloc((size_t)j->nsubs + 1, sizeof *j->share);
    return 0;
}

/* Append lines, each after the name of the sub-cluster; out may be NULL. */
static void add_named_lines(const struct job *j, int sub, const struct hrun_buf *lines, struct hrun_buf *out)
{
    for (const char *line = lines->data, *end; out && line && *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        hrun_buf_addf(out, "%s: %.*s", j->subs[sub].name, (int)(end - line), line);
    }
}

/* Set signature and name of the models, and append the lines about what was left out. */
static int finish_joint_models(struct job *j, struct hrun_buf *skipped, struct hrun_error *err)
{
    int have = 0;

    for (int i = 0; i < j->nsubs; i++) {
        struct hrun_models *m = j->models[i];

        add_named_lines(j, i, &j->excluded[i], skipped);
        add_named_lines(j, i, &j->skipped[i], skipped);
        if (!m)
            continue;
        have = 1;
        m->tasking = j->options->tasking;
        free(m->signature);
        free(m->subcluster);
        m->signature = xstrdup(j->subs[i].signature ? j->subs[i].signature : "");
        m->subcluster = xstrdup(j->subs[i].name ? j->subs[i].name : "");
    }
    if (have)
        return 0;
    for (int i = 0; i < j->nsubs; i++)
        if (j->skipped[i].len)
            return hrun_fail(err, HRUN_ENODATA, "%s: %.*s", j->subs[i].name,
                             (int)strcspn(j->skipped[i].data, "\n"), j->skipped[i].data);
    return hrun_fail(err, HRUN_ENODATA, "there are no measurements of %s", j->app->name);
}

/* Shares are compared if their predicted times differ by TELLING (logarithm). A run of a program that ignores them is
 * NEARER times nearer to the time with equal shares. */
static const double TELLING = 0.15, NEARER = 3;
/* Pairs of runs of one configuration are compared if their predictions differ by TELLING. A program ignores its shares
 * if in a fraction PAIRS of these pairs the times differ by less than ALIKE of the predictions. */
static const double ALIKE = 0.1, PAIRS = 0.7;

/* The time of a part without a model, in proportion to its share, from a run on its sub-cluster alone at this size.
 * NAN: there is no such run. */
static double time_by_alone(const struct job *j, const struct hrun_mixed_run *run, const struct hrun_mixed_part *part)
{
    const struct hrun_row *best = NULL;

    for (size_t i = 0; i < j->nbase[part->sub]; i++) {
        const struct hrun_row *r = &j->base[part->sub][i];

        if (r->N == run->N && r->M == part->M && (!best || r->P > best->P))
            best = r;
    }
    return best ? best->T * part->share * best->P / (best->share * run->P) : NAN;
}

/* Set of_run[] to the predicted time of each run, that of its longest part; NAN: not all parts are known. */
static int predict_runs(struct job *j, double *of_run, struct hrun_error *err)
{
    if (predict_all(j, err))
        return -1;
    for (size_t r = 0; r < j->mixed.nruns; r++) {
        const struct hrun_mixed_run *run = &j->mixed.runs[r];

        of_run[r] = run->whole ? 0 : NAN;
        for (size_t i = run->first; i < run->first + run->nparts; i++) {
            double own = isnan(j->predicted[i]) ? time_by_alone(j, run, &j->mixed.parts[i]) : j->predicted[i];

            of_run[r] = isnan(own) ? NAN : fmax(of_run[r], own);
        }
    }
    return 0;
}

static int same_mixed_config(const struct hrun_mixed *m, const struct hrun_mixed_run *x, const struct hrun_mixed_run *y)
{
    if (x->N != y->N || x->P != y->P || x->nparts != y->nparts || !x->whole || !y->whole)
        return 0;
    for (size_t i = 0; i < x->nparts; i++) {
        const struct hrun_mixed_part *a = &m->parts[x->first + i], *b = &m->parts[y->first + i];

        if (a->sub != b->sub || a->M != b->M || a->pes != b->pes)
            return 0;
    }
    return 1;
}

/* 1 if runs of one configuration with different predictions of_run[] take the same time, else 0; -1: too few pairs
 * (fewer than two sizes). */
static int compare_pairs(const struct hrun_mixed *m, const double *of_run)
{
    int pairs = 0, alike = 0, sizes = 0;
    int64_t N = 0;

    for (size_t r = 0; r < m->nruns; r++)
        for (size_t q = 0; q < r; q++) {
            double apart = fabs(log(of_run[r] / of_run[q]));

            if (!(apart > TELLING) || !same_mixed_config(m, &m->runs[r], &m->runs[q]))
                continue;
            pairs++;
            alike += fabs(log(m->runs[r].T / m->runs[q].T)) < ALIKE * apart;
            sizes += m->runs[r].N != N;
            N = m->runs[r].N;
        }
    return sizes < 2 ? -1 : alike >= PAIRS * pairs;
}

/* The time of a run of the same configuration and size with equal shares; NAN: there is none. */
static double equal_time(const struct hrun_mixed *m, const struct hrun_mixed_run *like)
{
    for (size_t r = 0; r < m->nruns; r++)
        if (!hrun_sample_dealt(m->runs[r].sample) && same_mixed_config(m, &m->runs[r], like))
            return m->runs[r].T;
    return NAN;
}

/* Set *ignores to 1 if the program ignores unequal shares; then the shares of all parts become equal ones. Pairs of
 * runs of one configuration with different shares decide. If there are too few pairs, runs with unequal shares are
 * compared with a run with equal shares, or with the prediction of one. Runs at two sizes or three runs are needed:
 * shares matter little if messages take most of the time. */
static int find_ignored(struct job *j, int *ignores, struct hrun_error *err)
{
    size_t n = j->mixed.nruns, parts = j->mixed.nparts;
    autofree double *dealt = xcalloc(2 * n + 1, sizeof *dealt);
    autofree double *share = xcalloc(parts + 1, sizeof *share);
    double *equal = dealt + n;
    int pairs, nearer = 0, compared = 0, sizes = 0;
    int64_t N = 0;

    if (predict_runs(j, dealt, err))
        return -1;
    pairs = compare_pairs(&j->mixed, dealt);
    for (size_t r = 0; r < n; r++)
        for (size_t i = j->mixed.runs[r].first; i < j->mixed.runs[r].first + j->mixed.runs[r].nparts; i++) {
            share[i] = j->mixed.parts[i].share;
            j->mixed.parts[i].share = hrun_app_uneven(j->app, j->mixed.runs[r].N, j->mixed.runs[r].P);
        }
    if (predict_runs(j, equal, err))
        return -1;
    for (size_t r = 0; r < n; r++) {
        double T = j->mixed.runs[r].T, gain = log(equal[r] / dealt[r]);
        double from = log(T / equal_time(&j->mixed, &j->mixed.runs[r]));

        from = isnan(from) ? log(T / equal[r]) : from;
        if (!(fabs(gain) > TELLING))
            continue;
        compared++;
        sizes += j->mixed.runs[r].N != N;
        N = j->mixed.runs[r].N;
        nearer += NEARER * fabs(from) < fabs(from + gain);
    }
    *ignores = pairs >= 0 ? pairs : nearer == compared && (sizes >= 2 || compared >= 3);
    for (size_t i = 0; i < parts && !*ignores; i++)
        j->mixed.parts[i].share = share[i];
    return 0;
}

int hrun_model_fit_joint(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                         const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                         struct hrun_error *err)
{
    struct hrun_fit_options with_form = *options;
    autorelease(release_joint_job) struct job j = { .app = app, .subs = subs, .nsubs = nsubs, .options = options };
    int joint = options->method != HRUN_METHOD_LS && hrun_family_of(app)->is_joint, dealt = app->shares.units != NULL;

    begin_joint_job(&j);
    if (hrun_fit_check_options(options, err) || prepare_joint_job(&j, err))
        return -1;
    if (dealt && (fit_each_sub(&j, err) || find_ignored(&j, &with_form.tasking.ignores, err)))
        return -1;
    if (joint && hrun_common_create(app, &(struct hrun_common_data){ j.base, j.nbase, nsubs, &j.mixed }, options,
                                    &j.common, err))
        return -1;
    if (!dealt)
        with_form.tasking = hrun_common_tasking(j.common);
    j.options = &with_form;
    if (!dealt && fit_each_sub(&j, err))
        return -1;
    if (joint && (fit_all_subs(&j, err) || (j.mixed.nruns && !with_form.tasking.dynamic &&
                                            (assign_mixed_runs(&j, err) || fit_all_subs(&j, err)))))
        return -1;
    if (finish_joint_models(&j, skipped, err))
        return -1;
    for (int i = 0; i < nsubs; i++) {
        out[i] = j.models[i];
        if (j.given[i] == j.models[i])
            j.given[i] = NULL;
        j.models[i] = NULL;
    }
    return 0;
}
