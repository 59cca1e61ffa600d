/* doctor.c - hrun-calibrate doctor: start hrun-probe on every PE, judge and print its records; see doctor.h */
#include "doctor.h"

#include "../common/alone.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit status if the cluster is not predictable enough. */
enum { STATUS_UNPREDICTABLE = 1 };
/* Limit of the output, bytes. A PE has a few KiB of records. */
static const size_t RECORDS_MAX = (size_t)1 << 30;

/* Append the first lines of the records: sub-clusters, ranks, limits of cgroups, and the libraries of the program
 * (NULL: none). */
static int describe_cluster(const struct context *c, const struct hrun_layout *l, const char *program,
                            struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec libraries = HRUN_STRVEC_INIT;
    autofree char *path = NULL;
    int rc = 0;

    for (int i = 0; i < c->cluster->nsubs; i++)
        hrun_buf_addf(out, "sub %d %d %s\n", i, c->cluster->subs[i].pus_per_pe, c->cluster->subs[i].name);
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "rank %d %d %d %s\n", r, l->ranks[r].sub, l->ranks[r].pe,
                      c->cluster->hosts[l->ranks[r].host].name);
    for (int r = 0; r < l->nranks; r++)
        if (!l->ranks[r].local_rank && c->cluster->hosts[l->ranks[r].host].cpu_quota > 0)
            hrun_buf_addf(out, "fact %d cpu_quota %.6g\n", r, c->cluster->hosts[l->ranks[r].host].cpu_quota);
    if (program) {
        path = hrun_program_find(program, c->set->job.wdir, err);
        rc = path ? hrun_program_libraries(path, &libraries, err) : -1;
    }
    for (size_t i = 0; i < libraries.n && !rc; i++)
        hrun_buf_addf(out, "library %s\n", libraries.v[i]);
    return rc;
}

static int measure_doctor_on(struct context *c, const struct calib_settings *s, const char *program,
                             struct hrun_buf *out, int *interrupted, struct hrun_error *err)
{
    const char *root = getenv("HRUN_DOCTOR_ROOT");
    int64_t times = s->repetitions ? s->repetitions : DOCTOR_REPETITIONS;
    struct hrun_config config = { 0 };
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    struct hrun_layout *l;
    int rc;

    if (hrun_check_count("--repetitions", times, 5, 10000, err) || context_cluster(c, &s->common, err) ||
        alone_find_tool(c, "hrun-probe", err))
        return -1;
    config.nsubs = c->cluster->nsubs;
    if (context_use(c->cluster, s->use, config.pes, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++)
        config.procs[i] = config.pes[i] > 0;
    hrun_strvec_add(&words, c->program, "--repetitions", NULL);
    hrun_strvec_pushf(&words, "%lld", (long long)times);
    if (root)
        hrun_strvec_add(&words, "--root", root, NULL);
    l = hrun_layout_create(c->cluster, &config, err);
    rc = !l || describe_cluster(c, l, program, out, err) ? -1 : 0;
    if (!rc && !s->common.quiet)
        fprintf(stderr, "hrun-calibrate: measuring %s; the machine should be as it is when programs run\n",
                hrun_counted(l->nranks, "PE").s);
    rc = rc ? rc : alone_run(c, &(struct alone_tool){ l, words.v, "PEs" }, out, interrupted, err);
    hrun_layout_destroy(l);
    return rc;
}

/* Measure, and set *out to the records. If a host differs from its remembered description, discover all hosts again and
 * repeat once. */
static int measure_doctor(const struct calib_settings *settings, const char *program, struct hrun_buf *out,
                          int *interrupted, struct hrun_error *err)
{
    struct calib_settings s = *settings;
    int rc, again = 0;

    if (s.common.machine.platform)
        return hrun_fail(err, HRUN_EINVAL, "simulated hosts are as predictable as their platform file; doctor looks at "
                         "real ones");
    do {
        autorelease(context_release) struct context c = { .set = &s.common };

        hrun_buf_reset(out);
        rc = measure_doctor_on(&c, &s, program, out, interrupted, err);
    } while (rc && !again++ && alone_asks_anew(&s, err));
    return rc;
}

/* words: at most one, a program. */
int calib_doctor(const struct calib_settings *s, char **words)
{
    struct doctor_limits limits = { .spread = DOCTOR_SPREAD, .clock_s = DOCTOR_CLOCK_S };
    autorelease(hrun_buf_release) struct hrun_buf records = HRUN_BUF_INIT, out = HRUN_BUF_INIT;
    autorelease(doctor_release) struct doctor_data d = { 0 };
    autorelease(findings_release) struct findings f = { 0 };
    struct hrun_error err = { 0 };
    int rc = 0, interrupted = 0, status;

    if (s->threshold > 0)
        limits.spread = s->threshold;
    limits.network = DOCTOR_NETWORK_FACTOR * limits.spread;
    if (words[0] && words[1])
        rc = hrun_fail(&err, HRUN_EINVAL, "doctor takes one program, whose libraries are looked at; it does not run "
                       "it");
    if (!rc)
        rc = s->from ? hrun_file_read(s->from, RECORDS_MAX, &records, &err)
                     : measure_doctor(s, words[0], &records, &interrupted, &err);
    if (!rc)
        rc = doctor_read(s->from ? s->from : "hrun-probe's output", records.data, &d, &err);
    if (!rc && s->keep)
        rc = hrun_file_replace(s->keep, records.data, records.len, 0666, &err);
    if (!rc) {
        doctor_judge(&d, &limits, &f);
        if (s->common.json)
            doctor_json(&d, &limits, &f, &out);
        else
            doctor_text(&d, &limits, &f, s->common.verbose, &out);
    }
    if (!rc && (s->common.json || !s->common.quiet))
        fputs(out.data, stdout);
    status = rc ? context_complain("hrun-calibrate", &err) : f.problems ? STATUS_UNPREDICTABLE : 0;
    return interrupted ? 128 + interrupted : status;
}
