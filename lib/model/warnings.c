/* warnings.c - warnings about measurements and models; see model.h */
#include "model/predict.h"
#include "model/terms.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ models that miss their own measurements */

void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; models[i] && j < models[i]->n; j++) {
            const struct hrun_fit_record *r = &models[i]->v[j];

            if (strcmp(r->family, "nt") && r->train_mean > HRUN_MODELS_MISS)
                hrun_buf_addf(which, "%s%s of %s with %s per PE", which->len ? "; " : "", r->family,
                              models[i]->subcluster && models[i]->subcluster[0] ? models[i]->subcluster
                                                                                : models[i]->signature,
                              hrun_counted(r->M, "process").s);
        }
}

/* ------------------------------------------------------------------ times that hardly follow N */

/* The shortest times of one P and M at the least and the largest N. */
struct ends {
    int P, M;
    int64_t n[2];
    double time_s[2];
};

static int is_usable(const struct hrun_sample *s)
{
    return s->ok && !s->mixed && !s->copies;
}

static void find_ends(const struct hrun_sample *samples, size_t n, struct ends *e)
{
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *s = &samples[i];

        for (int end = 0; end < 2 && is_usable(s) && s->P == e->P && s->M == e->M; end++) {
            if (!e->n[end] || (end ? s->N > e->n[end] : s->N < e->n[end])) {
                e->n[end] = s->N;
                e->time_s[end] = s->time_s;
            }
            if (s->N == e->n[end])
                e->time_s[end] = fmin(e->time_s[end], s->time_s);
        }
    }
}

/* 1 if the time follows N at no P and M, else 0. *widest: the P and M with the widest range of N. */
static int is_flat(const struct hrun_sample *samples, size_t n, struct ends *widest)
{
    static const double range = 2, power = 0.15;    /* a smaller power of N than any program's work has */
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        struct ends e = { .P = samples[i].P, .M = samples[i].M };

        if (!is_usable(&samples[i]))
            continue;
        find_ends(samples, n, &e);
        if ((double)e.n[1] < range * (double)e.n[0])
            continue;
        if (e.time_s[1] > e.time_s[0] * pow((double)e.n[1] / (double)e.n[0], power))
            return 0;
        if ((double)e.n[1] / (double)e.n[0] > most) {
            most = (double)e.n[1] / (double)e.n[0];
            *widest = e;
        }
    }
    return most > 0;
}

void hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out)
{
    struct ends e = { 0 };

    if (!is_flat(samples, n, &e))
        return;
    hrun_buf_addf(out, "the time hardly follows N, %s at N=%lld and %s at N=%lld on %s: does the size reach the "
                  "program, and is there work beside its start? ", hrun_seconds(e.time_s[0]).s, (long long)e.n[0],
                  hrun_seconds(e.time_s[1]).s, (long long)e.n[1], hrun_counted(e.P, "process").s);
}

/* ------------------------------------------------------------------ operations with irregular times */

static int is_named(const struct hrun_buf *which, const char *text)
{
    size_t len = strlen(text);

    for (const char *at = which->data; at && (at = strstr(at, text)); at++)
        if ((at == which->data || at[-1] == ' ') && (!at[len] || at[len] == ','))
            return 1;
    return 0;
}

static void add_irregular_term(const struct hrun_app *app, const char *text, const struct hrun_net *net, int64_t N,
                               int P, struct hrun_buf *which)
{
    struct hrun_net_call call;
    double factor;
    int owned = 0;
    struct hrun_expr *e = hrun_term_find(app, HRUN_TERM_NP, text, &owned, NULL);

    if (e && hrun_term_is_network(e) && !hrun_term_network_call(e, (double)N, P, &factor, &call, NULL) &&
        hrun_net_irregular(net, &call, P) && !is_named(which, text))
        hrun_buf_addf(which, "%s%s", which->len ? ", " : "", text);
    if (e && owned)
        hrun_expr_destroy(e);
}

void hrun_models_irregular(const struct hrun_app *app, struct hrun_models *const *models, int nsubs,
                           const struct hrun_net *net, int64_t N, int P, struct hrun_buf *which)
{
    for (int s = 0; s < nsubs; s++)
        for (int i = 0; models[s] && i < models[s]->n; i++) {
            const struct hrun_fit_record *r = &models[s]->v[i];

            for (int j = 0; !strcmp(r->family, "npt") && j < r->nterms; j++)
                if (r->k[j] != 0)
                    add_irregular_term(app, r->terms[j], net, N, P, which);
        }
}
