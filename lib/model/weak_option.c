/* weak_option.c - coefficients at a size; see weak_option.h */
#include "model/weak_option.h"

#include <math.h>
#include <string.h>

enum { K = HRUN_WEAK_TERMS };

static int concerns(const struct hrun_app *app, const struct hrun_fit_record *r, int M)
{
    for (int i = 0; i < app->nprocs_per_pe; i++)
        if (app->procs_per_pe[i] == M)
            return r->M == M && !strcmp(r->family, "weak") && r->nterms == K;
    return 0;
}

static double distance(int64_t a, int64_t b)
{
    return fabs((double)a - (double)b);
}

/* The two records for M that are nearest to N, at different sizes; the first one alone when it is of N. */
static void nearest(const struct hrun_app *app, const struct hrun_models *m, int M, int64_t N,
                    const struct hrun_fit_record **first, const struct hrun_fit_record **second)
{
    *first = *second = NULL;
    for (int i = 0; i < m->n; i++)
        if (concerns(app, &m->v[i], M) && (!*first || distance(m->v[i].nmin, N) < distance((*first)->nmin, N)))
            *first = &m->v[i];
    for (int i = 0; i < m->n && *first && (*first)->nmin != N; i++)
        if (concerns(app, &m->v[i], M) && m->v[i].nmin != (*first)->nmin &&
            (!*second || distance(m->v[i].nmin, N) < distance((*second)->nmin, N)))
            *second = &m->v[i];
}

static void add_part(struct hrun_weak_option *o, const struct hrun_fit_record *r, double part)
{
    for (int i = 0; i < K; i++)
        o->k[i] += part * r->k[i];
    for (int i = 0; i < K * K; i++)
        o->cov[i] += part * part * r->s2 * r->cov[i];
    o->nmin = o->nmax ? (r->nmin < o->nmin ? r->nmin : o->nmin) : r->nmin;
    o->nmax = r->nmax > o->nmax ? r->nmax : o->nmax;
}

int hrun_weak_option_at(const struct hrun_app *app, const struct hrun_models *m, int M, int64_t N,
                        struct hrun_weak_option *out)
{
    const struct hrun_fit_record *a, *b;
    double part;

    nearest(app, m, M, N, &a, &b);
    if (!a || (a->nmin != N && !b))
        return 0;
    *out = (struct hrun_weak_option) { .s2 = a->s2, .sigma_abs_s = a->sigma_abs_s, .sigma_rel = a->sigma_rel,
                                       .dof = a->dof, .most = INT64_MAX };
    part = b ? (double)(N - b->nmin) / (double)(a->nmin - b->nmin) : 1;
    add_part(out, a, part);
    if (b)
        add_part(out, b, 1 - part);
    out->k[HRUN_WEAK_WORK] = fmax(out->k[HRUN_WEAK_WORK], 0);
    out->k[HRUN_WEAK_LOG] = fmax(out->k[HRUN_WEAK_LOG], 0);
    for (int i = 0; i < K; i++)
        if (!isfinite(out->k[i]))
            return 0;
    return 1;
}

int hrun_weak_fail_size(const struct hrun_predictor_source *from, struct hrun_error *err)
{
    struct hrun_buf sizes = HRUN_BUF_INIT;
    int64_t last = 0;

    for (;;) {
        int64_t next = INT64_MAX;

        for (int s = 0; s < from->nsubs; s++)
            for (int i = 0; from->models[s] && i < from->models[s]->n; i++)
                if (!strcmp(from->models[s]->v[i].family, "weak") && from->models[s]->v[i].nmin > last &&
                    from->models[s]->v[i].nmin < next)
                    next = from->models[s]->v[i].nmin;
        if (next == INT64_MAX)
            break;
        hrun_buf_addf(&sizes, "%s%lld", sizes.len ? ", " : "", (long long)next);
        last = next;
    }
    hrun_fail(err, HRUN_ENODATA, "no model of %s for N=%lld%s%s%s: hrun-calibrate -app %s -N %lld makes one",
              from->app->name, (long long)from->N, sizes.len ? "; there is one for N=" : "", sizes.data,
              sizes.len ? ", and others follow from two" : "", from->app->name, (long long)from->N);
    hrun_buf_release(&sizes);
    return -1;
}
