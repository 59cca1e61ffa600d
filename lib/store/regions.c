/* regions.c - measurements as Extra-P sees them: regions that were all measured at the same points */
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exchange_number(double value, int plain, char out[EXCHANGE_NUMBER])
{
    /* 17 digits give every double back, fewer look better where they do too; 341 places hold 17 of the smallest. */
    for (int digits = 1; digits <= (plain ? 341 : 17); digits++) {
        if (plain)
            snprintf(out, EXCHANGE_NUMBER, "%.*f", digits, value);
        else
            snprintf(out, EXCHANGE_NUMBER, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

/* What Extra-P can hold: see store.h. */
static int fits(const struct hrun_sample *s)
{
    return s->ok && !s->mixed;
}

static int compare_points(const struct hrun_sample *a, const struct hrun_sample *b)
{
    if (a->N != b->N)
        return a->N < b->N ? -1 : 1;
    if (a->P != b->P)
        return a->P < b->P ? -1 : 1;
    return (a->M > b->M) - (a->M < b->M);
}

struct placed {
    const struct hrun_sample *s;
    size_t place;       /* in the log */
};

static int by_point(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int c = compare_points(x->s, y->s);

    return c ? c : (x->place > y->place) - (x->place < y->place);
}

/* "APP->SIGNATURE->CONSTANTS" */
static char *callpath(const struct hrun_exchange_set *set, const struct hrun_sample *s)
{
    int some = s->consts && *s->consts;

    return hrun_strf("%s->%s%s%s", set->app, set->signature, some ? "->" : "", some ? s->consts : "");
}

static int is_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            return 0;
    return 1;
}

static void release_region(struct exchange_region *r)
{
    free(r->callpath);
    free(r->v);
    free(r->points);
    memset(r, 0, sizeof *r);
}

static int make_region(const struct hrun_exchange_set *set, struct exchange_region *out, size_t *left_out,
                       struct hrun_error *err)
{
    struct placed *all = calloc(set->n + 1, sizeof *all);
    struct exchange_region r = { 0 };
    int rc = -1;

    r.v = calloc(set->n + 1, sizeof *r.v);
    r.points = calloc(set->n + 1, sizeof *r.points);
    if (!all || !r.v || !r.points)
        goto nomem;
    for (size_t i = 0; i < set->n; i++)
        if (fits(set->v[i]))
            all[r.n++] = (struct placed) { set->v[i], i };
        else
            ++*left_out;
    if (r.n)
        qsort(all, r.n, sizeof *all, by_point);
    for (size_t i = 0; i < r.n; i++) {
        const struct hrun_sample *s = r.v[i] = all[i].s;

        if (!i || compare_points(r.v[i - 1], s))
            r.points[r.npoints++] = (struct exchange_point) { s->N, s->P, s->M, i, 0 };
        r.points[r.npoints - 1].n++;
    }
    if (r.n && !(r.callpath = callpath(set, r.v[0])))
        goto nomem;
    if (r.n && !is_line(r.callpath)) {
        hrun_fail(err, HRUN_EINVAL, "the constants of %s on %s are no line of text", set->app, set->signature);
        goto out;
    }
    *out = r;
    memset(&r, 0, sizeof r);
    rc = 0;
    goto out;
nomem:
    hrun_fail_nomem(err);
out:
    free(all);
    release_region(&r);
    return rc;
}

static int same_points(const struct exchange_region *a, const struct exchange_region *b)
{
    for (size_t i = 0; i < a->npoints && a->npoints == b->npoints; i++)
        if (compare_points(a->v[a->points[i].first], b->v[b->points[i].first]))
            return 0;
    return a->npoints == b->npoints;
}

int exchange_regions_make(const struct hrun_exchange_set *sets, size_t nsets, struct exchange_regions *out,
                          size_t *left_out, struct hrun_error *err)
{
    struct exchange_regions r = { 0 };

    *left_out = 0;
    r.v = calloc(nsets + 1, sizeof *r.v);
    if (!r.v)
        return hrun_fail_nomem(err);
    for (size_t i = 0; i < nsets; i++) {
        struct exchange_region *one = &r.v[r.n];

        if (make_region(&sets[i], one, left_out, err))
            goto fail;
        if (!one->n) {
            release_region(one);
            continue;
        }
        r.n++;
        for (size_t k = 0; k < one->npoints; k++)
            r.has_M |= one->points[k].M != 1;
        if (same_points(&r.v[0], one))
            continue;
        hrun_fail(err, HRUN_EINVAL, "%s and %s were measured at different points, and Extra-P takes a file only when "
                  "all that is in it was measured at the same ones", r.v[0].callpath, one->callpath);
        goto fail;
    }
    if (!r.n) {
        hrun_fail(err, HRUN_ENODATA, "there is no good run of one sub-cluster alone, which is what Extra-P's formats "
                  "hold");
        goto fail;
    }
    *out = r;
    return 0;
fail:
    exchange_regions_release(&r);
    return -1;
}

void exchange_regions_release(struct exchange_regions *r)
{
    for (size_t i = 0; i < r->n; i++)
        release_region(&r->v[i]);
    free(r->v);
    memset(r, 0, sizeof *r);
}
