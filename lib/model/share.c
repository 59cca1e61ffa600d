/* share.c - what a small sub-cluster takes over from others; see share.h for the contract */
#include "model/share.h"

#include "model/formulas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_share_needed(const struct hrun_row *rows, size_t n, int M)
{
    int P = 0;

    for (size_t i = 0; i < n; i++) {
        if (rows[i].M != M || rows[i].kind != HRUN_ROW_OWN)
            continue;
        if (P && rows[i].P != P)
            return 0;
        P = rows[i].P;
    }
    return 1;
}

static const struct hrun_fit_record *single(const struct hrun_models *m, int M)
{
    for (int i = 0; m && i < m->n; i++)
        if (m->v[i].M == M && !strcmp(m->v[i].family, "single"))
            return &m->v[i];
    return NULL;
}

/* The M nearest to M, of those with which both have run on one PE; 0 when there is none. */
static int common(const struct hrun_models *from, const struct hrun_models *to, int M)
{
    int best = 0;

    for (int i = 0; to && i < to->n; i++) {
        int m = to->v[i].M;

        if (strcmp(to->v[i].family, "single") || !single(from, m))
            continue;
        if (!best || abs(m - M) < abs(best - M))
            best = m;
    }
    return best;
}

/* S(N) of the taker with M: its own model's, or another M's in proportion to the giver's. *s = 0: not known. */
static int speed(const struct hrun_app *app, const struct hrun_models *from, const struct hrun_models *to, int given,
                 int M, double N, double *s, struct hrun_error *err)
{
    const struct hrun_fit_record *own = single(to, M);
    int m = common(from, to, M);
    double there, here;

    *s = 0;
    if (own)
        return hrun_formulas_nt_value(app, own, N, NULL, s, err);
    if (given != M || !m)
        return 0;
    if (hrun_formulas_nt_value(app, single(from, M), N, NULL, s, err) ||
        hrun_formulas_nt_value(app, single(from, m), N, NULL, &there, err) ||
        hrun_formulas_nt_value(app, single(to, m), N, NULL, &here, err))
        return -1;
    *s = there > 0 && here > 0 ? *s * here / there : 0;
    return 0;
}

int hrun_share(const struct hrun_app *app, const struct hrun_models *from, const struct hrun_row *rows, size_t n,
               int given, const struct hrun_models *to, int M, struct hrun_row *out, size_t *count,
               struct hrun_error *err)
{
    const struct hrun_fit_record *theirs = single(from, given);

    for (size_t i = 0; i < n && theirs; i++) {
        const struct hrun_row *r = &rows[i];
        double own, base, work, T;

        if (r->M != given || (r->kind != HRUN_ROW_OWN && r->kind != HRUN_ROW_MIXED))
            continue;
        if (hrun_formulas_nt_value(app, theirs, (double)r->N, NULL, &base, err) ||
            speed(app, from, to, given, M, (double)r->N, &own, err))
            return -1;
        if (!(base > 0 && own > 0))
            continue;
        work = base * given / r->P;
        /* Work beyond the whole time: caches or a lucky run. All of it is work then. */
        T = fmax(r->T - work, 0) + fmin(1, r->T / work) * own * M / r->P;
        if (isfinite(T) && T > 0)
            out[(*count)++] = (struct hrun_row) { r->N, r->P, M, T, "", HRUN_ROW_SHARED, 1, r->sample,
                                                     r->own };
    }
    return 0;
}
