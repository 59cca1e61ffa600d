/* service_place.h - what the tests of lib/session share: described clusters, and profiles of made-up times */
#ifndef HRUN_TESTS_SERVICE_PLACE_H
#define HRUN_TESTS_SERVICE_PLACE_H

#include "app/app.h"
#include "base/file.h"
#include "model/model.h"
#include "hrun.h"
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { NEW = 2, OLD = 4 };      /* hosts */

static void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

struct place {
    char dir[512], cluster[600], unpriced[600], data[600];
};

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f))
        bail(path);
}

static void make_files(struct place *p)
{
    static const char *const form =
        "subclusters:\n"
        "  - {name: new, hosts: '127.0.0.[2-3]', topology: '[numa] package:1 core:4 pu:1'%s}\n"
        "  - {name: old, hosts: '127.0.1.[1-4]', topology: '[numa] package:1 core:2 pu:1'%s}\n";
    const char *base = getenv("TMPDIR");
    char text[1024];

    snprintf(p->dir, sizeof p->dir, "%s/hrun-service.XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(p->dir))
        bail("no temporary folder");
    snprintf(p->cluster, sizeof p->cluster, "%s/cluster.yaml", p->dir);
    snprintf(p->unpriced, sizeof p->unpriced, "%s/unpriced.yaml", p->dir);
    snprintf(p->data, sizeof p->data, "%s/data", p->dir);
    snprintf(text, sizeof text, form, ", cost_per_hour: 9.5, power_w: 200", ", cost_per_hour: 1.25, power_w: 150");
    write_text(p->cluster, text);
    snprintf(text, sizeof text, form, "", "");
    write_text(p->unpriced, text);
}

/* A service that is not open yet. */
static struct hrun_service *set_up(const struct place *p, const char *cluster, const char *app)
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

__attribute__((unused)) static struct hrun_service *set_up_open(const struct place *p, const char *cluster)
{
    struct hrun_error err = { 0 };
    struct hrun_service *s = set_up(p, cluster, "lu");

    if (hrun_service_open(s, &err))
        bail(err.text);
    return s;
}

/* Seconds of lu on a sub-cluster alone. */
static double seconds(double N, int P, int M, double speed)
{
    return 2e-9 * N * N * N / P * M / speed + (P > M ? 1e-8 * N * N + 1e-3 * P : 0) + 0.01;
}

static void make_profile(const struct place *p, const char *signature, int npes, double speed)
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

/* A folder with clusters, and a data folder with profiles of lu on them; the caller removes it (hrun_remove_tree). */
static void make_place(struct place *p)
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
