/* select.c - terms that do not earn their place; see select.h for the contract */
#include "model/select.h"

#include "fit/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_PER_TERM = 2 };

/* One choice of terms, and what it tells of each point that it has not seen. */
struct fit {
    int *in_use;           /* p */
    double *loss;          /* npoints: mean square of the residuals of a point left out; INFINITY for a point without
                              which the terms are not known */
    double mean;           /* over points; INFINITY where one is so */
    size_t used;
};

struct select {
    const struct hrun_lsq *all;
    const int *group;
    size_t npoints;
    double *sub, *k, *e;
};

static size_t gather(const struct select *s, const int *chosen)
{
    size_t to = 0;

    for (size_t i = 0; i < s->all->n; i++)
        for (size_t j = 0; j < s->all->p; j++)
            if (chosen[j])
                s->sub[to++] = s->all->x[i * s->all->p + j];
    return to / s->all->n;
}

static void swap(struct fit *a, struct fit *b)
{
    struct fit c = *a;

    *a = *b;
    *b = c;
}

/* Leave out one point after the other, with the terms that out->in_use marks. */
static int leave_out(struct select *s, struct fit *out, struct hrun_error *err)
{
    struct hrun_error why;
    struct hrun_lsq sub = { s->sub, s->all->y, s->all->w, s->all->n, gather(s, out->in_use) };
    size_t n = s->all->n, point = 0, end;

    out->used = sub.p;
    out->mean = INFINITY;
    for (size_t i = 0; i < s->npoints; i++)
        out->loss[i] = INFINITY;
    if (sub.p == 0 || sub.p > s->npoints)
        return 0;
    if (hrun_fit_leave_out(&sub, s->group, s->e, &why)) {
        if (why.code == HRUN_ERANK)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    out->mean = 0;
    for (size_t first = 0; first < n; first = end, point++) {
        double sum = 0;

        for (end = first; end < n && s->group[end] == s->group[first]; end++)
            sum += s->e[end] * s->e[end];
        out->loss[point] = sum / (double)(end - first);
        out->mean += out->loss[point] / (double)s->npoints;
    }
    return 0;
}

/* Fit the terms that are kept, and leave out one point after the other. */
static int fit_terms(struct select *s, const int *keep, struct fit *out, struct hrun_error *err)
{
    struct hrun_lsq sub = { s->sub, s->all->y, s->all->w, s->all->n, gather(s, keep) };
    struct hrun_lsq_result result = { s->k, NULL, 0, 0, 0 };

    if (hrun_fit_nnls(&sub, &result, err))
        return -1;
    for (size_t j = 0, at = 0; j < s->all->p; j++)
        out->in_use[j] = keep[j] && s->k[at++] > 0;
    return leave_out(s, out, err);
}

/* The term without which unseen points are told best, the coefficients of the others being free, into *found; p where
 * none may be dropped. *out: what is told without it. */
static int weakest(struct select *s, const int *may, const struct fit *full, struct fit *out, struct fit *scratch,
                   size_t *found, struct hrun_error *err)
{
    size_t p = s->all->p;

    *found = p;
    out->mean = INFINITY;
    for (size_t j = 0; j < p; j++) {
        if (!full->in_use[j] || !may[j])
            continue;
        memcpy(scratch->in_use, full->in_use, p * sizeof *full->in_use);
        scratch->in_use[j] = 0;
        if (leave_out(s, scratch, err))
            return -1;
        if (scratch->mean < out->mean) {
            swap(out, scratch);
            *found = j;
        }
    }
    return 0;
}

/* Does the smaller model tell unseen points better, by more than a standard error of the difference? Of the points that
 * both can tell without having seen them: what one point alone tells of a term is no reason to drop it. */
static int better(const struct select *s, const struct fit *full, const struct fit *fewer)
{
    double mean = 0, var = 0, n = 0;

    if (!isfinite(fewer->mean))
        return 0;
    for (size_t i = 0; i < s->npoints; i++)
        if (isfinite(full->loss[i])) {
            mean += fewer->loss[i] - full->loss[i];
            n++;
        }
    if (n == 0)
        return 1;
    mean /= n;
    for (size_t i = 0; i < s->npoints; i++)
        if (isfinite(full->loss[i]))
            var += pow(fewer->loss[i] - full->loss[i] - mean, 2) / (n - 1);
    return mean < 0 && mean * mean > var / n;
}

/* How many terms may go? */
static size_t count_droppable(const int *may, const int *keep, size_t p)
{
    size_t count = 0;

    for (size_t j = 0; j < p; j++)
        count += may[j] && keep[j];
    return count;
}

int hrun_select_terms(const struct hrun_lsq *problem, const int *group, const int *may, int *keep, int *dropped,
                      struct hrun_error *err)
{
    size_t n = problem->n, p = problem->p, points = 0;
    struct select s = { .all = problem, .group = group };
    struct fit fit[3];
    double *memory;
    int *marks = NULL, rc = -1;

    for (size_t i = 0; i < n; i++)
        points += i == 0 || group[i] != group[i - 1];
    memset(dropped, 0, p * sizeof *dropped);
    if (points < 2 * POINTS_PER_TERM || !count_droppable(may, keep, p))
        return 0;   /* not even of two terms one can be dropped */
    s.npoints = points;
    memory = calloc(n * p + p + n + 3 * points, sizeof *memory);
    marks = calloc(3 * p, sizeof *marks);
    if (!memory || !marks) {
        hrun_fail_nomem(err);
        goto out;
    }
    s.sub = memory;
    s.k = s.sub + n * p;
    s.e = s.k + p;
    for (size_t i = 0; i < 3; i++)
        fit[i] = (struct fit){ marks + i * p, s.e + n + i * points, INFINITY, 0 };
    if (fit_terms(&s, keep, &fit[0], err))
        goto out;
    while (fit[0].used > 1 && points >= POINTS_PER_TERM * fit[0].used) {
        size_t j;

        if (weakest(&s, may, &fit[0], &fit[1], &fit[2], &j, err))
            goto out;
        if (j == p || !better(&s, &fit[0], &fit[1]))
            break;
        keep[j] = 0;
        if (fit_terms(&s, keep, &fit[1], err))
            goto out;
        if (!better(&s, &fit[0], &fit[1])) {
            keep[j] = 1;
            break;
        }
        dropped[j] = 1;
        swap(&fit[0], &fit[1]);
    }
    rc = 0;
out:
    free(marks);
    free(memory);
    return rc;
}
