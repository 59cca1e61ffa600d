/* speeds.c - predictions from the speeds of PEs, and records of these; see speeds.h */
#include "base/alloc.h"
#include "model/speeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hrun_speeds {
    struct hrun_oracle oracle;
    struct hrun_option *options;
    struct hrun_speed *v;      /* nsubs; without procs */
    const struct hrun_app *app;
    int64_t N;
    int P0, most_P;
    double comm_s;
};

static int is_speed_known(const struct hrun_speed *v)
{
    return isfinite(v->compute_s) && v->compute_s > 0;
}

/* s of speeds.h. */
static const double SHARED = 1e-3;

/* The computing part of Ti. */
static double compute_time(const struct hrun_speeds *s, const struct hrun_speed *v, int m, int P)
{
    double cores = v->cores, full = fmax(m, cores);

    return v->compute_s * s->P0 * (full / (cores * P)) * (1 + SHARED * (m - 1) / cores);
}

static double comm_time(const struct hrun_speeds *s, int P)
{
    return P > s->P0 ? s->comm_s * P / s->P0 : s->comm_s;
}

static int speed_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct hrun_speeds *s = ctx;

    (void)err;
    for (int o = 0; o < s->oracle.noptions; o++) {
        const struct hrun_speed *v = &s->v[s->options[o].sub];

        t[o] = is_speed_known(v) && s->options[o].m <= P ? compute_time(s, v, s->options[o].m, P) + comm_time(s, P)
            : NAN;
    }
    return 0;
}

/* The time of computing falls with P, the time of messages grows. */
static int speed_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    const struct hrun_speeds *s = ctx;

    (void)err;
    for (int o = 0; o < s->oracle.noptions; o++) {
        const struct hrun_speed *v = &s->v[s->options[o].sub];

        b[o] = is_speed_known(v) && s->options[o].m <= hi ? compute_time(s, v, s->options[o].m, hi) + comm_time(s, lo)
                                                    : INFINITY;
    }
    return 0;
}

static int speed_rule(void *ctx, int P, struct hrun_error *err)
{
    const struct hrun_speeds *s = ctx;

    return s->most_P && P > s->most_P ? 0 : hrun_app_rule(s->app, s->N, P, err);
}

static int speed_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct hrun_speeds *s = ctx;

    return hrun_app_memory(s->app, s->N, P, bytes, err);
}

static int check_speeds(const struct hrun_speed *v, int nsubs, int P0, double comm_s, struct hrun_error *err)
{
    if (P0 < 1 || !(isfinite(comm_s) && comm_s >= 0))
        return hrun_fail(err, HRUN_EINVAL, "speeds from %d processes and %g s of messages: at least 1 and 0 are needed",
                         P0, comm_s);
    for (int i = 0; i < nsubs; i++)
        if (v[i].cores < 1 || !(v[i].unsure >= 0) || v[i].nprocs < 0)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %d cores, unsure by %g: at least 1 and 0 are needed",
                             i + 1, v[i].cores, v[i].unsure);
    return 0;
}

struct hrun_speeds *hrun_speeds_create(const struct hrun_app *app, int64_t N, const struct hrun_speed *v, int nsubs,
                                       int P0, double comm_s, struct hrun_error *err)
{
    struct hrun_speeds *s;
    int n = 0, o = 0;

    if (check_speeds(v, nsubs, P0, comm_s, err))
        return NULL;
    for (int i = 0; i < nsubs; i++)
        n += v[i].nprocs;
    s = xcalloc(1, sizeof *s);
    s->v = xcalloc((size_t)nsubs + 1, sizeof *s->v);
    s->options = xcalloc((size_t)n + 1, sizeof *s->options);
    for (int i = 0; i < nsubs; i++) {
        s->v[i] = v[i];
        s->v[i].procs = NULL;
        for (int k = 0; k < v[i].nprocs; k++)
            s->options[o++] = (struct hrun_option){ i, v[i].procs[k] };
    }
    s->app = app;
    s->N = N;
    s->P0 = P0;
    s->comm_s = comm_s;
    s->oracle = (struct hrun_oracle){ .ctx = s, .nsubs = nsubs, .noptions = n, .options = s->options,
                                      .times = speed_times, .bounds = speed_bounds, .rule = speed_rule };
    if (app->memory || app->shares.memory || app->law.weak.memory)
        s->oracle.memory = speed_memory;
    return s;
}

void hrun_speeds_destroy(struct hrun_speeds *s)
{
    if (!s)
        return;
    free(s->v);
    free(s->options);
    free(s);
}

const struct hrun_oracle *hrun_speeds_oracle(const struct hrun_speeds *s)
{
    return &s->oracle;
}

void hrun_speeds_limit(struct hrun_speeds *s, int P)
{
    s->most_P = P;
}

int hrun_speeds_range(const struct hrun_speeds *s, const struct hrun_config *config, struct hrun_speeds_range *out,
                      struct hrun_error *err)
{
    struct hrun_speeds_range r = { 0 };
    int P = 0;

    for (int i = 0; i < s->oracle.nsubs; i++)
        P += config->pes[i] * config->procs[i];
    if (P < 1)
        return hrun_fail(err, HRUN_EINVAL, "a configuration without processes has no time");
    for (int i = 0; i < s->oracle.nsubs; i++) {
        const struct hrun_speed *v = &s->v[i];
        double t;

        if (!config->pes[i])
            continue;
        if (!is_speed_known(v))
            return hrun_fail(err, HRUN_EINVAL, "nothing is known of the speed of sub-cluster %d", i + 1);
        t = compute_time(s, v, config->procs[i], P);
        r.compute_s = fmax(r.compute_s, t);
        r.low_s = fmax(r.low_s, t * fmax(0, 1 - v->unsure));
        r.high_s = fmax(r.high_s, t * (1 + v->unsure));
    }
    r.comm_s = comm_time(s, P);
    *out = r;
    return 0;
}

double hrun_speeds_uneven(int64_t N, int P)
{
    int64_t largest = N / P + (N % P != 0);

    return (double)largest * P / (double)N - 1;
}

/* ------------------------------------------------------------------ records of speeds */

double hrun_perf_flops(double n)
{
    return 2 * n * n * n;
}

const struct hrun_fit_record *hrun_perf_find(const struct hrun_models *m, int M)
{
    for (int i = 0; m && i < m->n; i++)
        if (m->v[i].M == M && !strcmp(m->v[i].family, "speed") && m->v[i].nterms == 1 && m->v[i].k[0] > 0)
            return &m->v[i];
    return NULL;
}

/* A record of perf and its relative standard deviation, as of one measurement at order 1. */
static struct hrun_fit_record *add_speed_record(struct hrun_models *m, int M, int P, double perf, double deviation)
{
    struct hrun_fit_record *r = &m->v[m->n++];

    r->family = xstrdup("speed");
    r->method = xstrdup("nnls");
    r->terms = xcalloc(1, sizeof *r->terms);
    r->k = xcalloc(1, sizeof *r->k);
    r->cov = xcalloc(1, sizeof *r->cov);
    r->note = xstrdup("");
    r->nterms = r->npoints = 1;
    r->terms[0] = xstrdup("perf");
    r->k[0] = perf;
    r->cov[0] = 1;
    r->s2 = deviation * perf * deviation * perf;
    r->M = M;
    r->nmin = r->nmax = 1;
    r->pmin = r->pmax = P;
    return r;
}

static struct hrun_models *speed_models(const char *signature, const char *subcluster, const char *date, size_t records)
{
    struct hrun_models *m = xcalloc(1, sizeof *m);

    m->app = xstrdup(HRUN_PERF_APP);
    m->signature = xstrdup(signature);
    m->subcluster = xstrdup(subcluster);
    m->consts = xstrdup("");
    m->fitted = xstrdup(date);
    m->newest = xstrdup(date);
    m->v = xcalloc(records + 1, sizeof *m->v);
    return m;
}

static const char *newest_of(const struct hrun_sample *samples, size_t n, int M)
{
    const char *newest = NULL;

    for (size_t i = 0; i < n; i++)
        if (samples[i].ok && samples[i].M == M && (!newest || strcmp(samples[i].date, newest) > 0))
            newest = samples[i].date;
    return newest;
}

/* Add the record of one M from its samples of the newest date, if there are any. */
static void add_newest(struct hrun_models *m, const struct hrun_sample *samples, size_t n, int M)
{
    const char *newest = newest_of(samples, n, M);
    double sum = 0, squares = 0, mean;
    const struct hrun_sample *last = NULL;
    struct hrun_fit_record *r;
    int points = 0;

    if (!newest)
        return;
    for (size_t i = 0; i < n; i++) {
        double perf = samples[i].time_s / hrun_perf_flops((double)samples[i].N);

        if (!samples[i].ok || samples[i].M != M || strcmp(samples[i].date, newest))
            continue;
        sum += perf;
        squares += perf * perf;
        points++;
        last = &samples[i];
    }
    mean = sum / points;
    m->nsamples += points;
    r = add_speed_record(m, M, last->P, mean, points > 1 ? sqrt(fmax(squares / points - mean * mean, 0)) / mean : 0);
    r->npoints = points;
    r->dof = points - 1;
    r->nmin = r->nmax = last->N;
    free(r->note);
    r->note = xstrdup(last->program ? last->program : "");
}

int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_models *m;
    const char *newest = NULL;
    int most = 0;

    for (size_t i = 0; i < n; i++)
        if (samples[i].ok) {
            most = samples[i].M > most ? samples[i].M : most;
            newest = !newest || strcmp(samples[i].date, newest) > 0 ? samples[i].date : newest;
        }
    if (!most)
        return hrun_fail(err, HRUN_ENODATA, "no speed of %s was measured", subcluster);
    m = speed_models(signature, subcluster, newest, (size_t)most);
    for (int M = 1; M <= most; M++)
        add_newest(m, samples, n, M);
    *out = m;
    return 0;
}

struct hrun_models *hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs)
{
    struct hrun_models *m;
    char date[21];

    hrun_date_now(date);
    m = speed_models("", "simulated", date, (size_t)nprocs);
    for (int i = 0; i < nprocs; i++)
        add_speed_record(m, procs[i], procs[i], fmax(1, (double)procs[i] / cores) / core_flops, 0);
    return m;
}
