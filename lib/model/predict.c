/* predict.c - predictors of whatever family a definition names; see model.h and predictor.h */
#include "model/analytic.h"
#include "model/predictor.h"
#include "model/ring_family.h"
#include "model/tasking.h"
#include "model/weak_family.h"

#include <math.h>
#include <stdlib.h>

static struct hrun_predictor *(*const makers[HRUN_APP_FAMILIES])(const struct hrun_predictor_source *from,
                                                                struct hrun_error *err) = {
    [HRUN_APP_NPT] = hrun_formulas_create,
    [HRUN_APP_RING] = hrun_ring_create,
    [HRUN_APP_ANALYTIC] = hrun_analytic_create,
    [HRUN_APP_WEAK] = hrun_weak_create,
};

struct hrun_predictor *hrun_predictor_create(const struct hrun_app *app, struct hrun_models *const *models,
                                             int nsubs, enum hrun_family family, int64_t N,
                                             struct hrun_error *err)
{
    return hrun_predictor_create_net(app, models, nsubs, family, N, NULL, NULL, err);
}

struct hrun_predictor *hrun_predictor_create_net(const struct hrun_app *app, struct hrun_models *const *models,
                                                 int nsubs, enum hrun_family family, int64_t N,
                                                 struct hrun_netview *net, const int *place, struct hrun_error *err)
{
    const struct hrun_predictor_source from = { app, models, nsubs, family, N, net, place };

    return makers[app->family](&from, err);
}

static int rule(void *ctx, int P, struct hrun_error *err)
{
    const struct hrun_predictor *p = ctx;

    return hrun_app_rule(p->app, p->N, P, err);
}

static int memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct hrun_predictor *p = ctx;

    return hrun_app_memory(p->app, p->N, P, bytes, err);
}

void hrun_predictor_start(struct hrun_predictor *p, const struct hrun_predictor_kind *kind,
                          const struct hrun_predictor_source *from)
{
    p->kind = kind;
    p->app = from->app;
    p->N = from->N;
    p->oracle = (struct hrun_oracle){ .ctx = p, .nsubs = from->nsubs, .rule = rule,
                                      .memory = from->app->memory ? memory : NULL };
}

int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m)
{
    for (int o = 0; o < p->noptions; o++)
        if (p->options[o].sub == sub && p->options[o].m == m)
            return o;
    return -1;
}

int hrun_predictor_count(const struct hrun_predictor *p, const int *pes, const int *procs)
{
    int P = 0;

    for (int i = 0; i < p->oracle.nsubs; i++)
        P += pes[i] * procs[i];
    return P;
}

void hrun_predictor_destroy(struct hrun_predictor *p)
{
    if (p)
        p->kind->destroy(p);
}

const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p)
{
    return &p->oracle;
}

int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low,
                        double *high, struct hrun_error *err)
{
    return p->kind->time(p, sub, m, P, time_s, low, high, err);
}

int hrun_predictor_time_in(struct hrun_predictor *p, int sub, const int *pes, const int *procs, double *time_s,
                           double *low, double *high, struct hrun_error *err)
{
    return p->kind->time_in(p, sub, pes, procs, time_s, low, high, err);
}

int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    return p->kind->measured(p, sub, m, P, sizes, counts);
}

int hrun_predictor_has_network(const struct hrun_predictor *p)
{
    return p->has_network;
}

int hrun_predictor_options(struct hrun_predictor *p, int P, const int *pes, const int *procs, double *t,
                           struct hrun_error *err)
{
    const struct hrun_oracle *o = hrun_predictor_oracle(p);

    if (!p->is_whole || !p->kind->options)
        return o->times(o->ctx, P, t, err);
    if (pes)
        return p->kind->options(p, P, pes, procs, t, err);
    for (int k = 0; k < o->noptions; k++)
        t[k] = NAN;
    return 0;
}

int hrun_predictor_time_whole(struct hrun_predictor *p, int nsubs, const int *pes, const int *procs, double *time_s,
                              double *low, double *high, double *sub_time_s, int *limiting, struct hrun_error *err)
{
    struct hrun_part_time *parts = calloc(3 * (size_t)nsubs + 1, sizeof *parts), *least = parts + nsubs,
                          *most = least + nsubs;
    int *sub = calloc((size_t)nsubs + 1, sizeof *sub), n = 0, slowest = 0, rc = 0;

    if (!parts || !sub)
        rc = hrun_fail_nomem(err);
    for (int i = 0; i < nsubs && !rc; i++) {
        if (!pes[i])
            continue;
        parts[n].processes = least[n].processes = most[n].processes = pes[i] * procs[i];
        rc = hrun_predictor_time_in(p, i, pes, procs, &parts[n].t, &least[n].t, &most[n].t, err);
        slowest = parts[n].t > parts[slowest].t ? n : slowest;
        sub[n++] = i;
    }
    for (int k = 0; k < n && !rc && sub_time_s; k++)
        sub_time_s[sub[k]] = parts[k].t;
    if (!rc && n) {
        *time_s = hrun_tasking_time(&p->tasking, parts, n);
        *low = hrun_tasking_time(&p->tasking, least, n);
        *high = hrun_tasking_time(&p->tasking, most, n);
        if (limiting)
            *limiting = sub[slowest];
    }
    free(parts);
    free(sub);
    return rc;
}

const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p)
{
    return &p->tasking;
}

int hrun_predictor_deals(const struct hrun_predictor *p)
{
    return p->kind->shares != NULL;
}

int hrun_predictor_shares(struct hrun_predictor *p, const int *pes, const int *procs, double *share,
                          struct hrun_error *err)
{
    int n = hrun_predictor_oracle(p)->nsubs;

    if (p->kind->shares)
        return p->kind->shares(p, pes, procs, share, err);
    for (int i = 0; i < n; i++)
        share[i] = pes[i] > 0;
    return 0;
}

int hrun_predictor_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err)
{
    return p->kind->limit_memory ? p->kind->limit_memory(p, bytes, err) : 0;
}

double hrun_beyond(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? (double)lo / (double)v : v > hi ? (double)v / (double)hi : 1;
}
