/* jobs_ways.c - the ways to run a job: hrun's own choice on the whole cluster and on parts of it; see jobs.h */
#include "base/alloc.h"
#include "jobs.h"
#include "session/query.h"

#include <stdlib.h>
#include <string.h>

/* Limit of the parts of the cluster that are tried for a job: at 1 ms for each they take a third of a second. With none
 * or all PEs of each, 8 sub-clusters have 256 parts. More sub-clusters form groups with a common part. */
enum { PARTS_MOST = 300, GROUPS_MOST = 8 };

/* ------------------------------------------------------------------ parts of the cluster */

struct parts {
    const int *npes;
    int nsubs, groups;
    int most;               /* largest number of choices of PEs that is tried for one sub-cluster */
};

/* The k-th number of PEs of n: of n, n - 1, ..., 0 if these are at most p->most, else of n, n/2, n/4, ..., 0. */
static int pes_at(const struct parts *p, int n, int k)
{
    if (n < p->most)
        return k < n ? n - k : 0;
    return k < p->most - 1 && k < 31 ? n >> k : 0;
}

/* The number of values of pes_at for a group. */
static int count_numbers(const struct parts *p, int group)
{
    int most = 1;

    for (int i = group; i < p->nsubs; i += p->groups)
        if (p->npes[i] + 1 > most)
            most = p->npes[i] + 1 < p->most ? p->npes[i] + 1 : p->most;
    return most;
}

static int count_parts(const struct parts *p)
{
    int product = 1;

    for (int g = 0; g < p->groups && product <= PARTS_MOST; g++)
        product *= count_numbers(p, g);
    return product;
}

static struct parts choose_parts(const int *npes, int nsubs)
{
    struct parts p = { npes, nsubs, nsubs < GROUPS_MOST ? nsubs : GROUPS_MOST, 2 };

    while (p.most++ < PARTS_MOST && count_parts(&p) <= PARTS_MOST)
        ;
    p.most--;
    return p;
}

/* Append the value of --use for a part (0: all PEs). Result: the number of its PEs. */
static int add_use(const struct parts *p, const struct hrun_cluster *cl, int part, struct hrun_buf *out)
{
    int at[GROUPS_MOST], total = 0;

    for (int g = 0; g < p->groups; g++) {
        at[g] = part % count_numbers(p, g);
        part /= count_numbers(p, g);
    }
    for (int i = 0; i < p->nsubs; i++) {
        int n = pes_at(p, p->npes[i], at[i % p->groups]);

        hrun_buf_addf(out, "%s%s:%d", i ? "," : "", cl->subs[i].name, n);
        total += n;
    }
    return total;
}

/* ------------------------------------------------------------------ ways */

/* Add a way, unless another one is as quick with no more PEs, and remove ways that the new one dominates. */
static void add_job_way(struct job_entry *e, const char *variant, const struct decision *d)
{
    int kept = 0;

    for (int w = 0; w < e->nways; w++) {
        struct hrun_schedule_way *old = &e->ways[w];
        int fewer = 1, more = 1;

        for (int i = 0; i < d->nsubs; i++) {
            fewer &= old->config.pes[i] <= d->config.pes[i];
            more &= old->config.pes[i] >= d->config.pes[i];
        }
        if (fewer && old->time_s <= d->predicted.time.mid)
            return;
        if (more && old->time_s >= d->predicted.time.mid) {
            free(old->variant);
        } else {
            e->ways[kept++] = *old;
        }
    }
    e->ways = xrealloc(e->ways, ((size_t)kept + 1) * sizeof *e->ways);
    e->ways[kept] = (struct hrun_schedule_way){ d->config, d->predicted.time.mid, variant ? xstrdup(variant) : NULL };
    e->nways = kept + 1;
}

/* Add the ways of c->app. If there are none it succeeds, with the reason in *why. */
static int find_variant_ways(const struct hrun_settings *s, struct context *c, const int *npes, struct job_entry *e,
                             struct hrun_error *why, struct hrun_error *err)
{
    int is_one_of = !s->common.variant && c->variants_of && c->variants_of->nvariants > 1;
    struct parts parts = choose_parts(npes, c->cluster->nsubs);
    struct question q = s->ask;
    autorelease(profiles_release) struct profiles known = { 0 };
    autorelease(at_size_release) struct at_size at = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf use = HRUN_BUF_INIT;
    int rc = profiles_load(c, &known, err);

    if (!rc && !known.have && hrun_family_of(c->app)->by_formula)
        profiles_none(c, &known, why);
    else if (!rc && !known.have)
        hrun_fail(why, HRUN_ENODATA, "there is no profile of %s for this cluster; hrun-calibrate -app %s makes one",
                  c->app->name, c->app->name);
    else if (!rc)
        rc = at_size_make(c, &known, e->N, &at, err);
    for (int part = 0; !rc && known.have && part < count_parts(&parts); part++) {
        struct decision d;

        hrun_buf_reset(&use);
        if (!add_use(&parts, c->cluster, part, &use))
            continue;
        q.use = use.data;
        if (!decision_make_at(c, &q, &known, &at, &d, why)) {
            if (d.by == BY_MODEL && d.predicted.known)
                add_job_way(e, is_one_of ? c->app->variant : NULL, &d);
            decision_release(&d);
        } else if (why->code != HRUN_EINFEASIBLE) {
            *err = *why;
            rc = -1;
        }
    }
    return rc;
}

/* Add the ways of all variants; the quickest variant of each part stays. */
static int find_ways(const struct hrun_settings *s, struct context *c, const int *npes, struct job_entry *e,
                     struct hrun_error *err)
{
    const struct hrun_app *all = s->common.variant ? NULL : c->variants_of;
    struct hrun_error why = { 0 };

    for (int v = 0; v < (all ? all->nvariants : 1); v++) {
        if (all)
            c->app = all->variants[v];
        if (find_variant_ways(s, c, npes, e, &why, err))
            return -1;
    }
    if (e->nways)
        return 0;
    if (!why.text[0])
        hrun_fail(&why, HRUN_EINFEASIBLE, "no configuration has a predicted time");
    *err = why;
    return -1;
}

/* 1 if two clusters have the same PEs, else 0. */
static int has_same_pes(const struct hrun_cluster *a, const struct hrun_cluster *b)
{
    int same = a->nsubs == b->nsubs;

    for (int i = 0; same && i < a->nsubs; i++)
        same = a->subs[i].npes == b->subs[i].npes && a->subs[i].level == b->subs[i].level &&
               !strcmp(a->subs[i].name, b->subs[i].name);
    return same;
}

/* Find the ways of an entry. c: context of this entry; for the first entry, j->c. */
static int find_entry_ways(const struct hrun_settings *s, struct jobs *j, struct job_entry *e, struct context *c,
                           struct hrun_error *err)
{
    if (context_app(c, NULL, err) || context_cluster(c, c->set, err) ||
        (e->program && context_find_program(c, e->program, err)) || context_choose_engine(c, 1, err))
        return -1;
    if (!has_same_pes(j->c.cluster, c->cluster))
        return hrun_fail(err, HRUN_EINVAL, "its PEs are not those of the jobs before, as its processes fill a PE with "
                         "threads: say --level for all");
    if (!j->npes) {
        j->npes = xcalloc((size_t)c->cluster->nsubs, sizeof *j->npes);
        if (context_use(c->cluster, s->ask.use, j->npes, err))
            return -1;
    }
    return find_ways(s, c, j->npes, e, err);
}

int jobs_ways(const struct hrun_settings *s, struct jobs *j, struct hrun_error *err)
{
    for (int i = 0; i < j->n; i++) {
        struct job_entry *e = j->v[i].entry;
        struct settings set = s->common;
        autorelease(context_release) struct context own = { .set = &set };
        autorelease(hrun_strvec_release) struct hrun_strvec defines = HRUN_STRVEC_INIT;
        struct context *c = i ? &own : &j->c;
        int rc;

        if (e->nways)
            continue;
        hrun_strvec_add_all(&defines, s->common.defines.v);
        for (unsigned k = 0; k < e->defines_count; k++)
            hrun_strvec_push(&defines, e->defines[k]);
        set.app = e->app;
        set.defines = defines;
        c->set = &set;
        rc = find_entry_ways(s, j, e, c, err);
        c->set = &s->common;
        if (rc)
            return hrun_fail_prefix(err, "job %s", j->v[i].name);
    }
    return 0;
}
