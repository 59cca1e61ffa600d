/* store.h - data folders for the tests of lib/store: made-up samples */
#ifndef HRUN_TESTS_STORE_H
#define HRUN_TESTS_STORE_H

#include "fixture.h"

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
        .consts = "nb=128", .program = "/opt/app/xlu", .launcher.host = "head", .launcher.mpi = "ompi-4.1.4",
        .launcher.engine = "local", .launcher.version = "0.1.0", .date = "2026-11-20T10:36:00Z"
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
        && same_text(a->program, b->program) && same_text(a->launcher.host, b->launcher.host)
        && same_text(a->launcher.mpi, b->launcher.mpi)
        && same_text(a->launcher.engine, b->launcher.engine) && same_text(a->launcher.version, b->launcher.version)
        && same_text(a->date, b->date) && same_text(a->signatures, b->signatures)
        && same_text(a->limits, b->limits) && !memcmp(&a->compute_s, &b->compute_s, sizeof a->compute_s)
        && !memcmp(&a->mpi_s, &b->mpi_s, sizeof a->mpi_s)
        && !memcmp(&a->work, &b->work, sizeof a->work) && a->copies == b->copies && same_text(a->trace, b->trace)
        && same_text(a->settings, b->settings) && same_text(a->shares, b->shares);
}

#endif
