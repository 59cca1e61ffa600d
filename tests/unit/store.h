/* store.h - data folders for the tests of lib/store and lib/session: made-up samples, clusters, profiles */
#ifndef HRUN_TESTS_STORE_H
#define HRUN_TESTS_STORE_H

#include "fixture.h"

#include "hrun.h"
#include "model/model.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define APP "lu"
#define SIG "cpu-a.4c-1f2e3d4c"

static inline struct hrun_store *open_store(const char *dir)
{
    struct hrun_error err = { 0 };
    struct hrun_store *s = hrun_store_open(dir, &err);

    if (!s)
        bail(err.text);
    return s;
}

static inline char *file_of(const char *dir, const char *suffix)
{
    return hrun_strf("%s/profiles/" APP "/" SIG "%s", dir, suffix);
}

/* JSON text as a line of the log: what a writer with other ideas would have written. */
static inline void add_line(struct hrun_buf *b, const char *json)
{
    hrun_buf_addf(b, "%s\t%08lx\n", json,
                  crc32(0, (const unsigned char *)json, (unsigned)strlen(json)));
}

/* A good sample; `id` in N tells it from others. Nothing in it is to be released. */
static inline struct hrun_sample plain_sample(int64_t id)
{
    return (struct hrun_sample){
        .N = id, .P = 8, .M = 2, .pes = 4, .time_s = 12.5, .wall_s = 13.25, .ok = 1, .mixed = 0,
        .status = "ok", .origin = "calibration", .config = "(4,2,0,0)", .cluster = "a,b",
        .consts = "nb=128", .program = "/opt/app/xlu", .host = "head", .mpi = "ompi-4.1.4",
        .engine = "local", .version = "0.1.0", .date = "2026-11-20T10:36:00Z"
    };
}

static inline int same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* Equal to the last bit; NULL counts as "". */
static inline int same_sample(const struct hrun_sample *a, const struct hrun_sample *b)
{
    return a->N == b->N && a->P == b->P && a->M == b->M && a->pes == b->pes
        && !memcmp(&a->time_s, &b->time_s, sizeof a->time_s)
        && !memcmp(&a->wall_s, &b->wall_s, sizeof a->wall_s)
        && a->ok == b->ok && a->mixed == b->mixed && same_text(a->status, b->status)
        && same_text(a->origin, b->origin) && same_text(a->config, b->config)
        && same_text(a->cluster, b->cluster) && same_text(a->consts, b->consts)
        && same_text(a->program, b->program) && same_text(a->host, b->host) && same_text(a->mpi, b->mpi)
        && same_text(a->engine, b->engine) && same_text(a->version, b->version)
        && same_text(a->date, b->date) && same_text(a->signatures, b->signatures)
        && same_text(a->limits, b->limits) && !memcmp(&a->compute_s, &b->compute_s, sizeof a->compute_s)
        && !memcmp(&a->mpi_s, &b->mpi_s, sizeof a->mpi_s)
        && !memcmp(&a->work, &b->work, sizeof a->work) && a->copies == b->copies && same_text(a->trace, b->trace)
        && same_text(a->settings, b->settings) && same_text(a->shares, b->shares);
}

/* ---------------------------------------------------------------- described clusters, and a service on them */

enum { NEW = 2, OLD = 4 };      /* hosts */

struct place {
    char dir[512], cluster[600], unpriced[600], data[600];
};

static inline void make_files(struct place *p)
{
    static const char *const form =
        "subclusters:\n"
        "  - {name: new, hosts: '127.0.0.[2-3]', topology: '[numa] package:1 core:4 pu:1'%s}\n"
        "  - {name: old, hosts: '127.0.1.[1-4]', topology: '[numa] package:1 core:2 pu:1'%s}\n";
    char text[1024];

    char *dir = temp_dir();

    snprintf(p->dir, sizeof p->dir, "%s", dir);
    free(dir);
    snprintf(p->cluster, sizeof p->cluster, "%s/cluster.yaml", p->dir);
    snprintf(p->unpriced, sizeof p->unpriced, "%s/unpriced.yaml", p->dir);
    snprintf(p->data, sizeof p->data, "%s/data", p->dir);
    snprintf(text, sizeof text, form, ", cost_per_hour: 9.5, power_w: 200", ", cost_per_hour: 1.25, power_w: 150");
    write_text(p->cluster, text);
    snprintf(text, sizeof text, form, "", "");
    write_text(p->unpriced, text);
}

/* A service that is not open yet. */
static inline struct hrun_service *set_up(const struct place *p, const char *cluster, const char *app)
{
    struct hrun_error err = { 0 };
    struct hrun_service *s = hrun_service_create(&err);
    const char *const given[][2] = {
        { "cluster", cluster }, { "app", app }, { "profile-path", "tests/apps" }, { "data", p->data },
        { "engine", "mpirun" }, { "mpi", "ompi-4.1.4" },
    };

    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (!s || hrun_service_set(s, given[i][0], given[i][1], &err))
            bail(err.text);
    return s;
}

static inline struct hrun_service *set_up_open(const struct place *p, const char *cluster)
{
    struct hrun_error err = { 0 };
    struct hrun_service *s = set_up(p, cluster, "lu");

    if (hrun_service_open(s, &err))
        bail(err.text);
    return s;
}

/* Seconds of lu on a sub-cluster alone. */
static inline double seconds(double N, int P, int M, double speed)
{
    return 2e-9 * N * N * N / P * M / speed + (P > M ? 1e-8 * N * N + 1e-3 * P : 0) + 0.01;
}

static inline void make_profile(const struct place *p, const char *signature, int npes, double speed)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_error err = { 0 };
    struct hrun_store *store = hrun_store_open(p->data, &err);
    struct hrun_samples log = { 0 };
    struct hrun_models *m = NULL;
    struct hrun_app *app = NULL;

    if (!store || hrun_app_load("tests/apps/lu.yaml", NULL, 0, &app, &err))
        bail(err.text);
    for (int N = 400; N <= 3200; N += 400)
        for (int pes = 1; pes <= npes; pes++) {
            double t = seconds(N, pes, 1, speed) * (1 + 0.01 * (pes % 2 ? 1 : -1));
            struct hrun_sample s = { .N = N, .P = pes, .M = 1, .pes = pes, .time_s = t, .wall_s = t, .ok = 1,
                                     .status = "ok", .origin = "calibration", .mpi = "ompi-4.1.4",
                                     .engine = "mpirun", .date = "2026-11-20T10:36:00Z" };

            if (hrun_store_append(store, "lu", signature, &s, &err))
                bail(err.text);
        }
    if (hrun_store_samples(store, "lu", signature, &log, &err) ||
        hrun_model_fit(app, log.v, log.n, &options, &m, NULL, &err))
        bail(err.text);
    free(m->signature);
    m->signature = strdup(signature);
    if (hrun_store_put_models(store, m, &err))
        bail(err.text);
    hrun_models_destroy(m);
    hrun_samples_release(&log);
    hrun_app_destroy(app);
    hrun_store_close(store);
}

/* A folder with clusters, and a data folder with profiles of lu on them; */
static inline void make_place(struct place *p)
{
    struct hrun_error err = { 0 };
    struct hrun_service *s;

    make_files(p);
    s = set_up(p, p->cluster, "lu");
    if (hrun_service_open(s, &err))
        bail(err.text);
    for (int i = 0; i < 2; i++)
        make_profile(p, hrun_service_sub_signature(s, i), i ? OLD : NEW, i ? 1 : 4);
    hrun_service_destroy(s);
}

#endif
