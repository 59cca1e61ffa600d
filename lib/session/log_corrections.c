/* log_corrections.c - corrections of predicted times by earlier runs; see log_corrections.h */
#include "session/log_corrections.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ samples at sizes near N */

struct item {
    struct hrun_sample *s;
    double far;           /* |ln(s->N / N)| */
    int rank;             /* place of s->N among the sizes of the configuration; 1: the nearest */
};

static int compare_configs(const struct hrun_sample *x, const struct hrun_sample *y)
{
    return strcmp(x->config ? x->config : "", y->config ? y->config : "");
}

static int by_distance(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = compare_configs(x->s, y->s);

    order = order ? order : (x->far > y->far) - (x->far < y->far);
    return order ? order : (x->s->N > y->s->N) - (x->s->N < y->s->N);
}

/* Of each configuration keep only the samples at the HRUN_CORRECTION_SIZES sizes nearest to N. The order stays. */
static void keep_near(struct hrun_samples *all, int64_t N)
{
    autofree struct item *v = xcalloc(all->n + 1, sizeof *v);
    size_t kept = 0;

    for (size_t i = 0; i < all->n; i++)
        v[i] = (struct item) { &all->v[i], fabs(log((double)all->v[i].N / (double)N)), 1 };
    if (all->n)
        qsort(v, all->n, sizeof *v, by_distance);
    for (size_t i = 1; i < all->n; i++)
        if (!compare_configs(v[i].s, v[i - 1].s))
            v[i].rank = v[i - 1].rank + (v[i].s->N != v[i - 1].s->N);
    for (size_t i = 0; i < all->n; i++)
        if (v[i].rank > HRUN_CORRECTION_SIZES)
            v[i].s->N = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (all->v[i].N)
            all->v[kept++] = all->v[i];
        else
            hrun_sample_release(&all->v[i]);
    }
    all->n = kept;
}

/* ------------------------------------------------------------------ */

static int is_listed(const struct hrun_strvec *list, const char *word)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->v[i], word))
            return 1;
    return 0;
}

void log_filter_make(const struct context *c, struct log_filter *out)
{
    *out = (struct log_filter) { HRUN_BUF_INIT, HRUN_BUF_INIT };
    hrun_cluster_names(c->cluster, &out->cluster);
    hrun_app_consts_text(c->app, &out->consts);
}

int log_filter_accepts(const struct log_filter *f, const struct hrun_sample *s, int64_t N)
{
    return s->N == N && s->config && hrun_text_same(s->cluster, f->cluster.data) &&
           hrun_text_same(s->consts, f->consts.data);
}

void log_filter_release(struct log_filter *f)
{
    hrun_buf_release(&f->cluster);
    hrun_buf_release(&f->consts);
}

/* Append the configurations that failed at N and never succeeded there, each once: to out->failed for calibrations,
 * else to out->tried. Of runs on several sub-clusters only those with unequal (dealt = 1) or equal shares (0) count. */
static void list_failed(const struct context *c, const struct hrun_samples *log, int64_t N, int dealt,
                        struct corrected *out)
{
    autorelease(log_filter_release) struct log_filter filter;

    log_filter_make(c, &filter);
    for (size_t i = 0; i < log->n; i++) {
        const struct hrun_sample *s = &log->v[i];
        int measured = s->origin && !strcmp(s->origin, "calibration");
        struct hrun_strvec *list = measured ? &out->failed : &out->tried;

        if (!log_filter_accepts(&filter, s, N) || (s->mixed && hrun_sample_dealt(s) != dealt) ||
            !hrun_samples_failed(log, i) || is_listed(list, s->config))
            continue;
        if (measured) {
            free(out->why);
            out->why = xstrdup(s->status);
        }
        hrun_strvec_push(list, s->config);
    }
}

/* Mark the configurations in k->failed as excluded. known[] and details[] have room for all of `failed`. */
static void exclude_failed(struct corrected *k, int nsubs)
{
    for (size_t i = 0; i < k->failed.n; i++) {
        struct hrun_config config;
        int at;

        if (hrun_config_parse(k->failed.v[i], nsubs, &config, NULL))
            continue;
        at = hrun_corrections_find(k->all, &config);
        if (at < 0)
            k->known[at = k->n++] = (struct hrun_known){ .config = config };
        k->known[at].excluded = 1;
    }
}

int corrected_load(struct context *c, struct hrun_predictor_source *from, struct corrected *out,
                   struct hrun_predictor **predictor, struct hrun_error *err)
{
    int nsubs = from->nsubs, found = 0;
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    autofree struct hrun_samples *logs = xcalloc((size_t)nsubs, sizeof *logs);
    autofree struct hrun_joint_sub *subs = xcalloc((size_t)nsubs, sizeof *subs);
    autofree double *pace = xcalloc((size_t)nsubs + 1, sizeof *pace);
    const struct hrun_correction_source source = { c->app, subs, from->models, nsubs, from->form, from->sharing };
    int rc = 0;

    options.net = c->measured ? c->measured : c->view;
    memset(out, 0, sizeof *out);
    *predictor = NULL;
    for (int i = 0; i < nsubs && !rc; i++) {
        if (from->models[i])
            rc = hrun_store_recent(c->store, c->app->name, c->signatures.v[i], &logs[i], err);
        list_failed(c, &logs[i], from->N, from->sharing != HRUN_SHARES_EQUAL, out);
        keep_near(&logs[i], from->N);
        subs[i] = (struct hrun_joint_sub) { c->cluster->subs[i].name, c->signatures.v[i], logs[i].v, logs[i].n,
                                           (double)c->cluster->subs[i].memory_bytes };
    }
    rc = rc || hrun_corrections_create(&source, &options, &out->all, err) ? -1 : 0;
    if (!rc) {
        out->n = hrun_corrections_count(out->all);
        out->known = xcalloc((size_t)out->n + out->failed.n + 1, sizeof *out->known);
        out->details = xcalloc((size_t)out->n + out->failed.n + 1, sizeof *out->details);
        hrun_corrections_known(out->all, from->N, out->known, out->details);
        exclude_failed(out, nsubs);
        from->common = out->all;
        *predictor = hrun_predictor_create_net(from, err);
    }
    if (*predictor && from->sharing != HRUN_SHARES_EQUAL && hrun_predictor_deals(*predictor))
        found = hrun_waits_pace(*predictor, subs, nsubs, out->all, pace, err);
    if (found > 0) {
        out->pace = pace;
        pace = NULL;
    }
    for (int i = 0; i < nsubs; i++)
        hrun_samples_release(&logs[i]);
    if (*predictor && found >= 0)
        return 0;
    corrected_release(out);
    hrun_predictor_destroy(*predictor);
    *predictor = NULL;
    return -1;
}

void corrected_release(struct corrected *k)
{
    free(k->known);
    free(k->details);
    hrun_corrections_destroy(k->all);
    hrun_strvec_release(&k->failed);
    hrun_strvec_release(&k->tried);
    free(k->why);
    free(k->pace);
    memset(k, 0, sizeof *k);
}

const struct hrun_correction *corrected_find(const struct corrected *k, const struct hrun_config *config)
{
    int i = hrun_corrections_find(k->all, config);

    return i < 0 ? NULL : &k->details[i];
}

int corrected_tried(const struct corrected *k, const struct hrun_config *config)
{
    return is_listed(&k->tried, hrun_config_text(config).s);
}
