/* jobs_ways.c - the ways to run a job: hrun's own choice on the whole cluster and on parts of it; see jobs.h */
#include "jobs.h"

#include "session/decide.h"
#include "session/query.h"

#include <stdlib.h>
#include <string.h>

/* So many parts of the cluster are looked at for a job: at a millisecond for a choice, a third of a second. With none
 * or all PEs of each, 8 sub-clusters have 256 parts; of more, some are in a part together. */
enum { PARTS_MOST = 300, GROUPS_MOST = 8 };

/* Parts of a cluster: so many PEs of each sub-cluster, as value[first[i] .. first[i + 1] - 1] say: the number that its
 * group, i % groups, is at, or the last one there. */
struct parts {
    int *first, *value, *at;
    int nsubs, groups;
};

/* At most `most` numbers of 0 .. n, both among them: all, else spread evenly by ratio. Result: how many. */
static int spread(int n, int most, int *out)
{
    int count = 0;
    double ratio = 1;

    if (n < most) {
        for (int i = 0; i <= n; i++)
            out[i] = i;
        return n + 1;
    }
    for (int i = 2; i < most; i++)
        ratio *= 2;
    out[count++] = 0;
    /* n, n/2, n/4, ...: of a job that gains by PEs at all, each is worth a look */
    for (double v = ratio; v >= 1; v /= 2)
        if ((int)(n / v) > out[count - 1])
            out[count++] = (int)(n / v);
    return count;
}

static int make_parts(const int *npes, int nsubs, struct parts *p, struct hrun_error *err)
{
    int most = 2, total = 0;
    double product;

    /* As many numbers for each sub-cluster as keep the product below PARTS_MOST. */
    do {
        product = 1;
        most++;
        for (int i = 0; i < nsubs; i++)
            product *= npes[i] + 1 < most ? npes[i] + 1 : most;
    } while (product <= PARTS_MOST && most <= PARTS_MOST);
    most--;
    for (int i = 0; i < nsubs; i++)
        total += npes[i] + 1 < most ? npes[i] + 1 : most;
    p->nsubs = nsubs;
    p->groups = nsubs < GROUPS_MOST ? nsubs : GROUPS_MOST;
    p->first = calloc((size_t)nsubs + 1, sizeof *p->first);
    p->value = calloc((size_t)total + 1, sizeof *p->value);
    p->at = calloc((size_t)nsubs, sizeof *p->at);
    if (!p->first || !p->value || !p->at)
        return hrun_fail_nomem(err);
    for (int i = 0; i < nsubs; i++)
        p->first[i + 1] = p->first[i] + spread(npes[i], most, p->value + p->first[i]);
    return 0;
}

static void release_parts(struct parts *p)
{
    free(p->first);
    free(p->value);
    free(p->at);
}

/* How many numbers of PEs a group goes through. */
static int numbers(const struct parts *p, int group)
{
    int most = 0;

    for (int i = group; i < p->nsubs; i += p->groups)
        if (p->first[i + 1] - p->first[i] > most)
            most = p->first[i + 1] - p->first[i];
    return most;
}

/* The next part; 0: there is none. */
static int next_part(struct parts *p)
{
    for (int g = 0; g < p->groups; g++) {
        if (++p->at[g] < numbers(p, g))
            return 1;
        p->at[g] = 0;
    }
    return 0;
}

/* PEs of sub-cluster i in the part at which they stand. */
static int pes_of(const struct parts *p, int i)
{
    int at = p->first[i] + p->at[i % p->groups];

    return p->value[at < p->first[i + 1] ? at : p->first[i + 1] - 1];
}

/* ------------------------------------------------------------------ ways */

/* Add a way, unless another one is as quick with no more PEs; those that the new one outdoes go. */
static int add_way(struct job_kind *k, const char *variant, const struct decision *d, struct hrun_error *err)
{
    size_t n = (size_t)d->nsubs, len = n * sizeof *d->pes;
    int kept = 0;
    char *copy;

    for (int w = 0; w < k->nways; w++) {
        int fewer = 1, more = 1;

        for (size_t i = 0; i < n; i++) {
            fewer &= k->pes[(size_t)w * n + i] <= d->pes[i];
            more &= k->pes[(size_t)w * n + i] >= d->pes[i];
        }
        if (fewer && k->ways[w].time_s <= d->time_s)
            return 0;
        if (more && k->ways[w].time_s >= d->time_s) {
            free(k->variant[w]);
            continue;
        }
        k->variant[kept] = k->variant[w];
        k->ways[kept].time_s = k->ways[w].time_s;
        memmove(k->pes + (size_t)kept * n, k->pes + (size_t)w * n, len);
        memmove(k->procs + (size_t)kept * n, k->procs + (size_t)w * n, len);
        kept++;
    }
    k->nways = kept;
    copy = variant ? strdup(variant) : NULL;
    if (variant && !copy)
        return hrun_fail_nomem(err);
    k->variant[k->nways] = copy;
    k->ways[k->nways].time_s = d->time_s;
    memcpy(k->pes + (size_t)k->nways * n, d->pes, len);
    memcpy(k->procs + (size_t)k->nways * n, d->procs, len);
    k->nways++;
    return 0;
}

/* Room for a way of each part for each variant. */
static int make_room(struct job_kind *k, int nsubs, int nvariants, struct hrun_error *err)
{
    size_t n = PARTS_MOST * (size_t)nvariants;

    k->ways = calloc(n, sizeof *k->ways);
    k->pes = calloc(n * (size_t)nsubs, sizeof *k->pes);
    k->procs = calloc(n * (size_t)nsubs, sizeof *k->procs);
    k->variant = calloc(n, sizeof *k->variant);
    return k->ways && k->pes && k->procs && k->variant ? 0 : hrun_fail_nomem(err);
}

/* --use of the part at which parts stand. */
static void add_use(const struct hrun_cluster *cl, const struct parts *p, struct hrun_buf *out)
{
    for (int i = 0; i < cl->nsubs; i++)
        hrun_buf_addf(out, "%s%s:%d", i ? "," : "", cl->subs[i].name, pes_of(p, i));
}

/* hrun's choice on one part, if it has one. */
static int predict_part(struct context *c, const struct question *q, const struct profiles *known,
                        const struct at_size *at, struct job_kind *k, const char *variant, struct hrun_error *why,
                        struct hrun_error *err)
{
    struct decision d;
    int rc = 0;

    if (decision_make(c, q, known, at, k->N, &d, why)) {
        if (why->code == HRUN_EINFEASIBLE)
            return 0;
        *err = *why;
        return -1;
    }
    if (d.by == BY_MODEL && d.predicted)
        rc = add_way(k, variant, &d, err);
    decision_release(&d);
    return rc;
}

/* Those of c->app; none is no error, but told in *why. */
static int find_variant_ways(const struct hrun_settings *s, struct context *c, const int *npes, struct job_kind *k,
                             const char *variant, struct hrun_error *why, struct hrun_error *err)
{
    struct question q = s->ask;
    struct profiles known = { 0 };
    struct at_size at = { 0 };
    struct parts parts = { 0 };
    struct hrun_buf use = HRUN_BUF_INIT;
    int rc = -1;

    if (profiles_load(c, &known, err))
        goto done;
    if (!known.have) {
        rc = 0;
        if (hrun_family_of(c->app)->by_formula)
            profiles_none(c, &known, why);
        else
            hrun_fail(why, HRUN_ENODATA, "there is no profile of %s for this cluster; hrun-calibrate -app %s makes one",
                      c->app->name, c->app->name);
        goto done;
    }
    if (at_size_make(c, &known, k->N, &at, err) || make_parts(npes, c->cluster->nsubs, &parts, err))
        goto done;
    while (next_part(&parts)) {
        hrun_buf_reset(&use);
        add_use(c->cluster, &parts, &use);
        if (use.failed) {
            hrun_fail_nomem(err);
            goto done;
        }
        q.use = use.data;
        if (predict_part(c, &q, &known, &at, k, variant, why, err))
            goto done;
    }
    rc = 0;
done:
    hrun_buf_release(&use);
    release_parts(&parts);
    at_size_release(&at);
    profiles_release(&known);
    return rc;
}

/* Of an application with variants each way is that of the quickest one. */
static int find_ways(const struct hrun_settings *s, struct context *c, const int *npes, struct job_kind *k,
                     struct hrun_error *err)
{
    const struct hrun_app *all = c->variants_of;
    int n = all && !s->common.variant ? all->nvariants : 1;
    struct hrun_error why = { 0 };

    if (make_room(k, c->cluster->nsubs, n, err))
        return -1;
    for (int v = 0; v < n; v++) {
        if (all && !s->common.variant)
            c->app = all->variants[v];
        if (find_variant_ways(s, c, npes, k, n > 1 ? all->variants[v]->variant : NULL, &why, err))
            return -1;
    }
    if (!k->nways && why.text[0])
        *err = why;
    else if (!k->nways)
        hrun_fail(err, HRUN_EINFEASIBLE, "no configuration has a predicted time");
    for (int w = 0; w < k->nways; w++)
        k->ways[w].pes = k->pes + (size_t)w * (size_t)c->cluster->nsubs;
    return k->nways ? 0 : -1;
}

/* ------------------------------------------------------------------ contexts */

/* Are these the PEs of the jobs before? */
static int same_cluster(const struct hrun_cluster *a, const struct hrun_cluster *b)
{
    int same = a->nsubs == b->nsubs;

    for (int i = 0; same && i < a->nsubs; i++)
        same = a->subs[i].npes == b->subs[i].npes && a->subs[i].level == b->subs[i].level &&
               !strcmp(a->subs[i].name, b->subs[i].name);
    return same;
}

static int job_ways(const struct hrun_settings *s, struct job_kind *k, struct context *c, const struct context *first,
                    int **npes, struct hrun_error *err)
{
    if (context_app(c, NULL, err) || context_cluster(c, c->set, err) ||
        (k->program && context_find_program(c, k->program, err)) || context_choose_engine(c, 1, err))
        return -1;
    if (first && !same_cluster(first->cluster, c->cluster))
        return hrun_fail(err, HRUN_EINVAL, "its PEs are not those of the jobs before, as its processes fill a PE with "
                         "threads: say --level for all");
    if (!*npes) {
        *npes = calloc((size_t)c->cluster->nsubs, sizeof **npes);
        if (!*npes)
            return hrun_fail_nomem(err);
        if (context_use(c->cluster, s->ask.use, *npes, err))
            return -1;
    }
    return find_ways(s, c, *npes, k, err);
}

int jobs_ways(const struct hrun_settings *s, struct jobs *j, struct context *c, int **npes, struct hrun_error *err)
{
    for (int k = 0; k < j->nkinds; k++) {
        struct job_kind *kind = &j->kinds[k];
        struct settings set = s->common;
        struct context own = { 0 }, *to = k ? &own : c;
        int rc;

        set.app = kind->app;
        set.defines = (struct hrun_strvec){ 0 };
        rc = 0;
        for (size_t i = 0; i < s->common.defines.n && !rc; i++)
            rc = hrun_strvec_push(&set.defines, s->common.defines.v[i]);
        for (unsigned i = 0; i < kind->ndefines && !rc; i++)
            rc = hrun_strvec_push(&set.defines, kind->defines[i]);
        to->set = &set;
        rc = rc ? hrun_fail_nomem(err) : job_ways(s, kind, to, k ? c : NULL, npes, err);
        if (k)
            context_release(&own);
        c->set = &s->common;
        hrun_strvec_release(&set.defines);
        if (rc) {
            int i = 0;

            while (j->v[i].kind != k)
                i++;
            return hrun_fail_prefix(err, "job %s", j->v[i].name);
        }
    }
    return 0;
}
