/* perf.c - records of speeds; see perf.h for the contracts */
#include "model/perf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A record of perf, its relative standard deviation and so many measurements at order n. */
static int add(struct hrun_models *m, int M, int P, double perf, double deviation, int points, int64_t n)
{
    struct hrun_fit_record *r = &m->v[m->n++];

    r->family = strdup("speed");
    r->method = strdup("nnls");
    r->terms = calloc(1, sizeof *r->terms);
    r->k = calloc(1, sizeof *r->k);
    r->cov = calloc(1, sizeof *r->cov);
    r->note = strdup("");
    if (!r->family || !r->method || !r->terms || !r->k || !r->cov || !r->note)
        return -1;
    r->nterms = 1;
    r->terms[0] = strdup("perf");
    r->k[0] = perf;
    r->cov[0] = 1;
    r->s2 = deviation * perf * deviation * perf;
    r->dof = points > 1 ? points - 1 : 0;
    r->M = M;
    r->npoints = points;
    r->nmin = r->nmax = n;
    r->pmin = r->pmax = P;
    return r->terms[0] ? 0 : -1;
}

static struct hrun_models *start(const char *signature, const char *subcluster, const char *date, size_t records)
{
    struct hrun_models *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->app = strdup(HRUN_PERF_APP);
    m->signature = strdup(signature);
    m->subcluster = strdup(subcluster);
    m->consts = strdup("");
    m->fitted = strdup(date);
    m->newest = strdup(date);
    m->v = calloc(records + 1, sizeof *m->v);
    if (m->app && m->signature && m->subcluster && m->consts && m->fitted && m->newest && m->v)
        return m;
    hrun_models_destroy(m);
    return NULL;
}

static const char *newest_of(const struct hrun_sample *samples, size_t n, int M)
{
    const char *newest = NULL;

    for (size_t i = 0; i < n; i++)
        if (samples[i].ok && samples[i].M == M && (!newest || strcmp(samples[i].date, newest) > 0))
            newest = samples[i].date;
    return newest;
}

/* The samples of one M of the newest date. */
static int add_newest(struct hrun_models *m, const struct hrun_sample *samples, size_t n, int M)
{
    const char *newest = newest_of(samples, n, M);
    double sum = 0, squares = 0, mean;
    const struct hrun_sample *last = NULL;
    int points = 0;

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
    if (add(m, M, last->P, mean, points > 1 ? sqrt(fmax(squares / points - mean * mean, 0)) / mean : 0, points,
            last->N))
        return -1;
    free(m->v[m->n - 1].note);
    m->v[m->n - 1].note = strdup(last->program ? last->program : "");
    return m->v[m->n - 1].note ? 0 : -1;
}

int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_models *m = NULL;
    const char *newest = NULL;
    int most = 0, failed = 0;

    for (size_t i = 0; i < n; i++)
        if (samples[i].ok) {
            most = samples[i].M > most ? samples[i].M : most;
            newest = !newest || strcmp(samples[i].date, newest) > 0 ? samples[i].date : newest;
        }
    if (!most)
        return hrun_fail(err, HRUN_ENODATA, "no speed of %s was measured", subcluster);
    m = start(signature, subcluster, newest, (size_t)most);
    if (!m)
        return hrun_fail_nomem(err);
    for (int M = 1; M <= most && !failed; M++)
        failed = newest_of(samples, n, M) && add_newest(m, samples, n, M);
    if (failed) {
        hrun_models_destroy(m);
        return hrun_fail_nomem(err);
    }
    *out = m;
    return 0;
}

int hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs, struct hrun_models **out,
                        struct hrun_error *err)
{
    struct hrun_models *m;
    char date[21];
    int failed = 0;

    hrun_date_now(date);
    m = start("", "simulated", date, (size_t)nprocs);
    if (!m)
        return hrun_fail_nomem(err);
    for (int i = 0; i < nprocs && !failed; i++)
        failed = add(m, procs[i], procs[i], fmax(1, (double)procs[i] / cores) / core_flops, 0, 1, 1);
    if (failed) {
        hrun_models_destroy(m);
        return hrun_fail_nomem(err);
    }
    *out = m;
    return 0;
}
