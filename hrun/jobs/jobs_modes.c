/* jobs_modes.c - the modes of a job: hrun's choice on the whole cluster and on parts of it; see jobs.h */
#include "base/alloc.h"
#include "jobs.h"
#include "session/query.h"

#include <stdlib.h>
#include <string.h>

/* At most PARTS_MOST parts of the cluster are tried for a job: at 1 ms each, a third of a second. 8 sub-clusters have
 * 256 parts if each gives none or all of its PEs. More sub-clusters form groups; those of a group give the same
 * fraction of their PEs. */
enum { PARTS_MOST = 300, GROUPS_MOST = 8 };

/* ------------------------------------------------------------------ parts of the cluster */

struct parts {
    int groups, n;              /* sub-clusters i with i % groups = g are group g; number of parts */
    int most;                   /* largest number of choices of PEs that is tried for one sub-cluster */
    int choices[GROUPS_MOST];   /* of each group */
};

/* Set the parts with at most `most` choices for each sub-cluster. Result: 1 if there are at most PARTS_MOST. */
static int set_parts(const int *npes, int nsubs, int most, struct parts *p)
{
    *p = (struct parts){ .groups = nsubs < GROUPS_MOST ? nsubs : GROUPS_MOST, .n = 1, .most = most };
    for (int g = 0; g < p->groups; g++) {
        p->choices[g] = 1;
        for (int i = g; i < nsubs; i += p->groups)
            if (npes[i] + 1 > p->choices[g])
                p->choices[g] = npes[i] + 1 < most ? npes[i] + 1 : most;
        p->n = p->n <= PARTS_MOST ? p->n * p->choices[g] : p->n;
    }
    return p->n <= PARTS_MOST;
}

/* Append the value of --use for a part (0: all PEs): n, n - 1, ..., 0 of n PEs if these are at most p->most choices,
 * else n, n/2, n/4, ..., 0. Result: the number of PEs of the part. */
static int add_use(const struct parts *p, const struct hrun_cluster *cl, const int *npes, int part,
                   struct hrun_buf *out)
{
    int at[GROUPS_MOST], total = 0;

    for (int g = 0; g < p->groups; g++) {
        at[g] = part % p->choices[g];
        part /= p->choices[g];
    }
    for (int i = 0; i < cl->nsubs; i++) {
        int k = at[i % p->groups], n = npes[i] < p->most ? (k < npes[i] ? npes[i] - k : 0)
                                                         : k < p->most - 1 && k < 31 ? npes[i] >> k : 0;

        hrun_buf_addf(out, "%s%s:%d", i ? "," : "", cl->subs[i].name, n);
        total += n;
    }
    return total;
}

/* ------------------------------------------------------------------ modes */

/* Add a mode, unless another mode takes at most its time on at most its PEs. Remove the modes that take at least its
 * time on at least its PEs. */
static void add_mode(struct job_entry *e, const char *variant, const struct decision *d)
{
    int kept = 0;

    for (int i = 0; i < e->nmodes; i++) {
        struct job_mode *old = &e->modes[i];
        int fewer = 1, more = 1;

        for (int s = 0; s < d->nsubs; s++) {
            fewer &= old->config.pes[s] <= d->config.pes[s];
            more &= old->config.pes[s] >= d->config.pes[s];
        }
        if (fewer && old->time_s <= d->predicted.time.mid)
            return;
        if (more && old->time_s >= d->predicted.time.mid)
            free(old->variant);
        else
            e->modes[kept++] = *old;
    }
    e->modes = xrealloc(e->modes, ((size_t)kept + 1) * sizeof *e->modes);
    e->modes[kept] = (struct job_mode){ d->config, d->predicted.time.mid, variant ? xstrdup(variant) : NULL };
    e->nmodes = kept + 1;
}

/* Add the modes of c->app. Result: 0, also if there are none, with the reason in *why; -1 with *err. */
static int add_modes(const struct hrun_settings *s, struct context *c, const int *npes, struct job_entry *e,
                     struct hrun_error *why, struct hrun_error *err)
{
    int is_one_of = !s->common.variant && c->variants_of && c->variants_of->nvariants > 1;
    struct parts parts, more;
    struct question q = s->ask;
    autorelease(profiles_release) struct profiles known = { 0 };
    autorelease(at_size_release) struct at_size at = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf use = HRUN_BUF_INIT;

    if (profiles_load(c, &known, err))
        return -1;
    if (!known.have && hrun_family_of(c->app)->by_formula)
        profiles_none(c, &known, why);
    else if (!known.have)
        hrun_fail(why, HRUN_ENODATA, "there is no profile of %s for this cluster; hrun-calibrate -app %s makes one",
                  c->app->name, c->app->name);
    if (!known.have)
        return 0;
    if (at_size_make(c, &known, e->N, &at, err))
        return -1;
    set_parts(npes, c->cluster->nsubs, 2, &parts);
    for (int most = 3; most <= PARTS_MOST && set_parts(npes, c->cluster->nsubs, most, &more); most++)
        parts = more;
    for (int part = 0; part < parts.n; part++) {
        struct decision d;

        hrun_buf_reset(&use);
        if (!add_use(&parts, c->cluster, npes, part, &use))
            continue;
        q.use = use.data;
        if (!decision_make_at(c, &q, &known, &at, &d, why)) {
            if (d.by == BY_MODEL && d.predicted.known)
                add_mode(e, is_one_of ? c->app->variant : NULL, &d);
            decision_release(&d);
        } else if (why->code != HRUN_EINFEASIBLE) {
            *err = *why;
            return -1;
        }
    }
    return 0;
}

/* Find the modes of an entry, with all variants unless --variant names one. c: context of this entry; &j->c for the
 * entry of the first job. */
static int find_entry_modes(const struct hrun_settings *s, struct jobs *j, struct job_entry *e, struct context *c,
                            struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    const struct hrun_app *all;
    int same;

    if (context_app(c, NULL, err) || context_cluster(c, c->set, err) ||
        (e->program && context_find_program(c, e->program, err)) || context_choose_engine(c, 1, err))
        return -1;
    same = j->c.cluster->nsubs == c->cluster->nsubs;
    for (int i = 0; same && i < c->cluster->nsubs; i++) {
        const struct hrun_subcluster *first = &j->c.cluster->subs[i], *own = &c->cluster->subs[i];

        same = first->npes == own->npes && first->level == own->level && !strcmp(first->name, own->name);
    }
    if (!same)
        return hrun_fail(err, HRUN_EINVAL, "its PEs differ from those of the jobs before, because not all definitions "
                         "have `threads: fill`: give one --level for all jobs");
    if (!j->npes) {
        j->nsubs = c->cluster->nsubs;
        j->npes = xcalloc((size_t)j->nsubs, sizeof *j->npes);
        if (context_use(c->cluster, s->ask.use, j->npes, err))
            return -1;
    }
    all = s->common.variant ? NULL : c->variants_of;
    for (int v = 0; v < (all ? all->nvariants : 1); v++) {
        c->app = all ? all->variants[v] : c->app;
        if (add_modes(s, c, j->npes, e, &why, err))
            return -1;
    }
    if (e->nmodes)
        return 0;
    if (!why.text[0])
        hrun_fail(&why, HRUN_EINFEASIBLE, "no configuration has a predicted time");
    *err = why;
    return -1;
}

int jobs_find_modes(const struct hrun_settings *s, struct jobs *j, struct hrun_error *err)
{
    for (int i = 0; i < j->n; i++) {
        struct job_entry *e = j->v[i].entry;
        struct settings set = s->common;
        autorelease(context_release) struct context own = { .set = &set };
        autorelease(hrun_strvec_release) struct hrun_strvec defines = HRUN_STRVEC_INIT;
        struct context *c = i ? &own : &j->c;
        int rc;

        if (e->nmodes)
            continue;
        hrun_strvec_add_all(&defines, s->common.defines.v);
        for (unsigned k = 0; k < e->defines_count; k++)
            hrun_strvec_push(&defines, e->defines[k]);
        set.app = e->app;
        set.defines = defines;
        c->set = &set;
        rc = find_entry_modes(s, j, e, c, err);
        c->set = &s->common;
        if (rc)
            return hrun_fail_prefix(err, "job %s", j->v[i].name);
    }
    return 0;
}
