/* pe_speeds.c - hrun-calibrate speeds: measure the speeds of the PEs of each sub-cluster, for definitions with formulas
 *
 * hrun-probe multiplies matrices on all PEs at once, with each of the given numbers of processes per PE. The times of
 * the products are stored as samples (model/model.h).
 */
#include "../common/alone.h"
#include "base/json.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "model/speeds.h"
#include "session/profiles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of timed products for each M. */
enum { REPETITIONS = 10 };

/* Samples of one launch: the mean over the ranks, for each sub-cluster and repetition. */
struct products {
    int repetitions, nsubs;
    int64_t order;
    char library[64];
    double *time_s;             /* nsubs by repetitions */
    int *ranks;                 /* nsubs */
};

/* Read a line "product RANK ORDER LIBRARY SECONDS...". */
static int read_product(const char *line, const struct hrun_layout *l, struct products *m)
{
    long long order;
    int rank, used, at = 0;

    if (sscanf(line, "product %d %lld %63s%n", &rank, &order, m->library, &used) != 3 || rank < 0 ||
        rank >= l->nranks || order < 1)
        return -1;
    m->order = order;
    for (const char *s = line + used; at < m->repetitions; at++) {
        char *end;
        double t = strtod(s, &end);

        if (end == s || !(t > 0) || !isfinite(t))
            return -1;
        m->time_s[l->ranks[rank].sub * m->repetitions + at] += t;
        s = end;
    }
    m->ranks[l->ranks[rank].sub]++;
    return 0;
}

static int read_products(char *text, const struct hrun_layout *l, struct products *m, struct hrun_error *err)
{
    int lines = 0, ended = 0;
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        ended |= !strcmp(line, "end");
        if (strncmp(line, "product ", 8))
            continue;
        if (read_product(line, l, m))
            return hrun_fail(err, HRUN_EENGINE, "hrun-probe printed an invalid line: '%.200s'", line);
        lines++;
    }
    if (!ended || lines != l->nranks)
        return hrun_fail(err, HRUN_EENGINE, "hrun-probe reported %d of %d processes", lines, l->nranks);
    for (int i = 0; i < m->nsubs; i++)
        for (int r = 0; r < m->repetitions && m->ranks[i]; r++)
            m->time_s[i * m->repetitions + r] /= m->ranks[i];
    return 0;
}

/* Append the samples to the log of the sub-cluster, and compute its speeds from the whole log. */
static int store_speeds(struct context *c, int sub, int pes, int M, const struct products *m, struct hrun_error *err)
{
    const char *name = c->cluster->subs[sub].name;
    autorelease(hrun_buf_release) struct hrun_buf sig = HRUN_BUF_INIT;
    char date[21], status[] = "ok", origin[] = "calibration";
    autorelease(hrun_samples_release) struct hrun_samples samples = { 0 };
    struct hrun_models *models = NULL;
    int rc = 0;

    profiles_speed_signature(&c->cluster->subs[sub], &sig);
    hrun_date_now(date);
    for (int r = 0; r < m->repetitions && !rc; r++) {
        double t = m->time_s[sub * m->repetitions + r];
        struct hrun_sample s = { .N = m->order, .P = M * pes, .M = M, .pes = pes, .time_s = t, .wall_s = t, .ok = 1,
                                 .status = status, .origin = origin, .program = (char *)(uintptr_t)m->library,
                                 .cluster = (char *)(uintptr_t)name, .launcher.mpi = c->mpi.id,
                                 .launcher.engine = (char *)(uintptr_t)c->engine->name,
                                 .launcher.version = (char *)(uintptr_t)HRUN_VERSION, .date = date };

        rc = hrun_store_append(c->store, HRUN_PERF_APP, sig.data, &s, err);
    }
    if (rc || hrun_store_begin(c->store, HRUN_PERF_APP, sig.data, err))
        return -1;
    rc = hrun_store_samples(c->store, HRUN_PERF_APP, sig.data, &samples, err) ||
         hrun_perf_of(samples.v, samples.n, sig.data, name, &models, err) ||
         hrun_store_put_models(c->store, models, err) ? -1 : 0;
    hrun_store_end(c->store);
    hrun_models_destroy(models);
    return rc;
}

/* Measure all PEs with M processes on each. */
static int measure_pe_speeds(struct context *c, const int *pes, int M, int repetitions, int *interrupted,
                          struct hrun_error *err)
{
    size_t n = (size_t)c->cluster->nsubs;
    autofree double *time_s = xcalloc(n * (size_t)repetitions, sizeof *time_s);
    autofree int *ranks = xcalloc(n, sizeof *ranks);
    struct hrun_config config = { .nsubs = (int)n };
    struct products m = { .repetitions = repetitions, .nsubs = (int)n, .time_s = time_s, .ranks = ranks };
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_layout *l;
    int rc;

    hrun_strvec_add(&words, c->program, "--repetitions", NULL);
    hrun_strvec_pushf(&words, "%d", repetitions);
    hrun_strvec_push(&words, "product");
    for (size_t i = 0; i < n; i++) {
        config.pes[i] = pes[i];
        config.procs[i] = pes[i] ? M : 0;
    }
    l = hrun_layout_create(c->cluster, &config, err);
    rc = !l || alone_run(c, &(struct alone_tool){ l, words.v, "speeds" }, &out, interrupted, err) ||
         read_products(out.data, l, &m, err) ? -1 : 0;
    for (int i = 0; i < (int)n && !rc; i++)
        rc = pes[i] ? store_speeds(c, i, pes[i], M, &m, err) : 0;
    hrun_layout_destroy(l);
    return rc;
}

/* ------------------------------------------------------------------ show */

static int show_speeds(struct context *c, int json, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec sigs = HRUN_STRVEC_INIT;
    struct hrun_table *t = hrun_table_create("lrrrrll");
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    json_t *root = json_array();
    int rc = hrun_store_signatures(c->store, HRUN_PERF_APP, &sigs, err);

    hrun_table_row(t, "sub-cluster", "procs/PE", "each", "+-", "order", "by", "measured");
    for (size_t i = 0; i < sigs.n && !rc; i++) {
        struct hrun_models *m = NULL;

        rc = hrun_store_get_models(c->store, HRUN_PERF_APP, sigs.v[i], &m, err);
        for (int k = 0; m && k < m->n; k++) {
            const struct hrun_fit_record *r = &m->v[k];
            const char *library = r->note ? r->note : "";
            double deviation = sqrt(fmax(r->s2 * r->cov[0], 0)) / r->k[0];

            hrun_table_cell(t, "%s", m->subcluster);
            hrun_table_cell(t, "%d", r->M);
            hrun_table_cell(t, "%.3g Gflop/s", 1e-9 / r->k[0]);
            hrun_table_cell(t, "%.1f %%", 100 * deviation);
            hrun_table_cell(t, "%lld", (long long)r->nmin);
            hrun_table_cell(t, "%s", library);
            hrun_table_cell(t, "%s", m->newest);
            json_array_append_new(root, json_pack("{s:s, s:s, s:i, s:f, s:f, s:I, s:i, s:s, s:s}", "subcluster",
                                                  m->subcluster, "signature", m->signature, "M", r->M,
                                                  "s_per_operation", r->k[0], "deviation", deviation, "order",
                                                  (json_int_t)r->nmin, "measurements", r->npoints, "library", library,
                                                  "date", m->newest));
        }
        hrun_models_destroy(m);
    }
    if (!rc && json)
        hrun_json_print(json_incref(root), &out);
    else if (!rc && sigs.n)
        hrun_table_render(t, 0, &out);
    else if (!rc)
        hrun_buf_adds(&out, "no speeds are stored; hrun-calibrate speeds measures them\n");
    if (!rc)
        fputs(out.data, stdout);
    json_decref(root);
    hrun_table_destroy(t);
    return rc;
}

int calib_show_speeds(const struct calib_settings *s, char **apps)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    struct hrun_error err = { 0 };
    int rc = context_open_store(&c, &err) || show_speeds(&c, s->common.json, &err);

    (void)apps;
    return rc ? context_complain("hrun-calibrate", &err) : 0;
}

/* ------------------------------------------------------------------ the command */

static int speeds_on(struct context *c, const struct calib_settings *s, int *interrupted, struct hrun_error *err)
{
    int64_t repetitions = s->repetitions ? s->repetitions : REPETITIONS;
    autofree int *pes = NULL;
    autorelease(exclusive_end) struct exclusive own = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf signature = HRUN_BUF_INIT;
    int n, rc = 0;

    c->set = &s->common;
    if (s->common.machine.platform)
        return hrun_fail(err, HRUN_EINVAL, "the speeds of simulated hosts stand in their platform file: nothing is to "
                         "be measured");
    if ((s->common.app && context_app(c, NULL, err)) || context_check_app(c, NULL, err) ||
        context_cluster(c, &s->common, err) || alone_find_tool(c, "hrun-probe", err))
        return -1;
    pes = xcalloc((size_t)c->cluster->nsubs, sizeof *pes);
    if (hrun_check_count("--repetitions", repetitions, 3, 10000, err) || context_use(c->cluster, s->use, pes, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++) {
        hrun_buf_reset(&signature);
        profiles_speed_signature(&c->cluster->subs[i], &signature);
        if (pes[i] && exclusive_add(&own, c, HRUN_PERF_APP, signature.data, err))
            return -1;
    }
    if (exclusive_begin(&own, c, "the speeds of PEs", interrupted, err))
        return -1;
    n = s->procs.n ? s->procs.n : c->app ? c->app->nprocs_per_pe : 1;
    for (int k = 0; k < n && !rc; k++) {
        int M = s->procs.n ? (int)s->procs.v[k] : c->app ? c->app->procs_per_pe[k] : 1;

        if (!s->common.quiet)
            fprintf(stderr, "hrun-calibrate: measuring the speed of PEs with %s on each; the machine should be as it "
                    "is when programs run\n", hrun_counted(M, "process").s);
        rc = measure_pe_speeds(c, pes, M, (int)repetitions, interrupted, err);
    }
    return rc;
}

int calib_speeds(const struct calib_settings *s, char **words)
{
    autorelease(context_release) struct context c = { 0 };
    struct hrun_error err = { 0 };
    int interrupted = 0, rc;

    (void)words;
    rc = speeds_on(&c, s, &interrupted, &err);
    if (!rc && !s->common.quiet)
        rc = show_speeds(&c, s->common.json, &err);
    rc = rc ? context_complain("hrun-calibrate", &err) : 0;
    return interrupted ? 128 + interrupted : rc;
}
