/* campaign.c - which runs a calibration makes; see campaign.h and campaign_left.c */
#include "campaign.h"

#include "base/units.h"
#include "groups.h"

#include <stdlib.h>
#include <string.h>

enum {
    REPETITIONS = 3,       /* three tell an outlier from a trend, at the least cost */
    LIST_MAX = 1000,
    PROCS_MAX = 4096,      /* processes per PE: as in app definitions */
    ALL_PES_UP_TO = 4      /* paper 000, Table VI measures P = 1..4 of each sub-cluster */
};

/* A size is moved by at most this part of itself to satisfy the rule: half of the step between sizes that grow by
 * a factor of 1.5, so that moved sizes stay apart. */
static const double SIZE_SHIFT = 0.25;

/* "1,2,4-8:2" -> ascending distinct numbers. */
static int parse_list(const char *what, const char *text, int64_t max, int64_t *v, int *n, struct hrun_error *err)
{
    char *copy = strdup(text), *save = NULL, *word;
    int k = 0, rc = -1;

    if (!copy)
        return hrun_fail_nomem(err);
    for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *dash = strchr(word, '-'), *colon = strchr(word, ':');
        int64_t lo, hi, step = 1;

        if (dash == word)
            dash = NULL;
        if (dash)
            *dash = 0;
        if (colon)
            *colon = 0;
        if (colon && !dash) {
            hrun_fail(err, HRUN_EINVAL, "%s: '%s:%s' is no range; say FIRST-LAST:STEP", what, word, colon + 1);
            goto done;
        }
        if (hrun_parse_count(what, word, 1, max, &lo, err) ||
            (dash && hrun_parse_count(what, dash + 1, lo, max, &hi, err)) ||
            (colon && hrun_parse_count(what, colon + 1, 1, max, &step, err)))
            goto done;
        if (!dash)
            hi = lo;
        for (int64_t x = lo; x <= hi; x += step) {
            int i;

            for (i = k; i > 0 && v[i - 1] > x; i--)
                ;
            if (i > 0 && v[i - 1] == x)
                continue;
            if (k == LIST_MAX) {
                hrun_fail(err, HRUN_EINVAL, "%s: more than %d numbers", what, LIST_MAX);
                goto done;
            }
            memmove(v + i + 1, v + i, (size_t)(k - i) * sizeof *v);
            v[i] = x;
            k++;
        }
    }
    if (!k) {
        hrun_fail(err, HRUN_EINVAL, "%s: the list is empty", what);
        goto done;
    }
    *n = k;
    rc = 0;
done:
    free(copy);
    return rc;
}

/* All up to 4, then 6, 8, 12, 16, 24, ... and the whole sub-cluster. */
static int default_pes(int npes, int64_t *v)
{
    int n = 0;

    for (int p = 1; p <= npes && p <= ALL_PES_UP_TO; p++)
        v[n++] = p;
    for (int p = ALL_PES_UP_TO; p < npes; p *= 2) {
        if (p + p / 2 < npes)
            v[n++] = p + p / 2;
        v[n++] = 2 * p < npes ? 2 * p : npes;
    }
    return n;
}

/* The size nearest to N that the rule accepts for P, within SIZE_SHIFT of N; 0 if there is none, -1 on error. */
static int64_t fit_size(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err)
{
    int64_t reach = (int64_t)(SIZE_SHIFT * (double)N);

    for (int64_t d = 0; d <= reach; d++) {
        for (int side = -1; side <= 1; side += 2) {
            int64_t x = N + side * d;
            int good = x < 1 ? 0 : hrun_app_rule(app, x, P, err);

            if (good < 0)
                return -1;
            if (good)
                return x;
        }
        /* Rules repeat with P or P^2; past a million steps no multiple is left to find. */
        if (d > 1000000)
            break;
    }
    return 0;
}

static int add_point(struct campaign *g, size_t *cap, struct point p, struct hrun_error *err)
{
    for (int i = 0; i < g->n; i++)
        if (g->v[i].sub == p.sub && g->v[i].N == p.N && g->v[i].pes == p.pes && g->v[i].m == p.m)
            return 0;
    if ((size_t)g->n == *cap) {
        size_t more = *cap ? *cap * 2 : 64;
        struct point *v = realloc(g->v, more * sizeof *v);

        if (!v)
            return hrun_fail_nomem(err);
        g->v = v;
        *cap = more;
    }
    g->v[g->n++] = p;
    return 0;
}

/* Count what the log already holds of each point of sub-cluster i. */
static int count_measured(struct context *c, int i, struct campaign *g, struct hrun_error *err)
{
    struct hrun_samples samples = { 0 };
    struct hrun_buf consts = HRUN_BUF_INIT;

    if (hrun_store_samples(c->store, c->app->name, c->signatures.v[i], &samples, err))
        return -1;
    hrun_samples_current(&samples);
    hrun_app_consts_text(c->app, &consts);
    for (size_t k = 0; k < samples.n; k++) {
        const struct hrun_sample *s = &samples.v[k];

        if (!s->ok || s->mixed || strcmp(s->consts ? s->consts : "", consts.data))
            continue;
        for (int j = 0; j < g->n; j++) {
            struct point *p = &g->v[j];

            if (p->sub != i || p->N != s->N || p->pes != s->pes || p->m != s->M)
                continue;
            p->wall_s = (p->wall_s * p->have + s->wall_s) / (p->have + 1);
            p->have++;
        }
    }
    hrun_buf_release(&consts);
    hrun_samples_release(&samples);
    return 0;
}

/* The points of one sub-cluster, `have` PEs of it, for one number of processes per PE. */
static int add_points(struct context *c, const struct calib_settings *s, int i, int have, int m, const int64_t *sizes,
                      int nsizes, struct campaign *g, size_t *cap, struct hrun_error *err)
{
    const struct hrun_subcluster *sub = &c->cluster->subs[i];
    int64_t pes[LIST_MAX + 1];
    int npes;

    if (!s->pes)
        npes = default_pes(have, pes);
    else if (parse_list("--pes", s->pes, 1000000, pes, &npes, err))
        return -1;
    for (int j = 0; j < npes; j++) {
        if (pes[j] > have) {
            g->skipped_pes++;
            continue;
        }
        for (int k = 0; k < nsizes; k++) {
            int64_t P = pes[j] * m, N = fit_size(c->app, sizes[k], P, err);
            double bytes;

            if (N < 0)
                return -1;
            if (!N) {
                g->skipped_rule++;
                continue;
            }
            if (hrun_app_memory(c->app, N, P, &bytes, err))
                return -1;
            if (sub->memory_bytes && bytes * m > (double)sub->memory_bytes) {
                g->skipped_memory++;
                continue;
            }
            if (add_point(g, cap, (struct point){ .sub = i, .N = N, .pes = (int)pes[j], .m = m }, err))
                return -1;
        }
    }
    return 0;
}

int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err)
{
    struct campaign g = { .wanted = REPETITIONS };
    int *npes = calloc((size_t)c->cluster->nsubs, sizeof *npes);
    int64_t sizes[LIST_MAX + 1], procs[LIST_MAX + 1], n64 = REPETITIONS;
    int nsizes = 0, nprocs = 0;
    size_t cap = 0;

    if (!npes) {
        hrun_fail_nomem(err);
        goto fail;
    }
    if (context_use(c->cluster, s->use, npes, err) ||
        (s->repetitions && hrun_parse_count("--repetitions", s->repetitions, 1, 1000, &n64, err)))
        goto fail;
    g.wanted = (int)n64;
    if (s->sizes) {
        if (parse_list("--sizes", s->sizes, HRUN_COUNT_MAX, sizes, &nsizes, err))
            goto fail;
    } else {
        for (int i = 0; i < c->app->nsizes && i < LIST_MAX; i++)
            sizes[nsizes++] = c->app->sizes[i];
    }
    if (!nsizes) {
        hrun_fail(err, HRUN_EINVAL, "the definition of %s (%s) suggests no sizes: give some with --sizes LIST",
                  c->app->name, c->app->file);
        goto fail;
    }
    if (s->procs) {
        if (parse_list("--procs", s->procs, PROCS_MAX, procs, &nprocs, err))
            goto fail;
    } else {
        for (int i = 0; i < c->app->nprocs_per_pe && i < LIST_MAX; i++)
            procs[nprocs++] = c->app->procs_per_pe[i];
    }
    for (int i = 0; i < c->cluster->nsubs; i++) {
        if (!npes[i])
            continue;
        for (int j = 0; j < nprocs; j++)
            if (add_points(c, s, i, npes[i], (int)procs[j], sizes, nsizes, &g, &cap, err))
                goto fail;
        if (!s->again && !s->redo && count_measured(c, i, &g, err))
            goto fail;
    }
    if (!g.n) {
        if (g.skipped_pes && !g.skipped_rule && !g.skipped_memory)
            hrun_fail(err, HRUN_EINVAL, "--pes %s: no sub-cluster has so many PEs (hrun --show-cluster)", s->pes);
        else
            hrun_fail(err, HRUN_EINVAL, "nothing to measure: the rule '%s' excludes %d points, memory %d; try other "
                      "--sizes", hrun_expr_text(c->app->rule), g.skipped_rule, g.skipped_memory);
        goto fail;
    }
    if (groups_make(c, s->parallel, &g, err))
        goto fail;
    free(npes);
    *out = g;
    return 0;
fail:
    free(npes);
    free(g.v);
    return -1;
}

void campaign_release(struct campaign *g)
{
    free(g->v);
    free(g->group);
    memset(g, 0, sizeof *g);
}
