/* test_calib_runs.c - a campaign's runs by an engine of the test's own: failures, retries, giving up */
#include "calib.h"

#include <signal.h>

/* ------------------------------------------------------------------ an engine */

/* How a run goes: on the host of rank 0, with the size that the program is given. */
typedef int behaviour(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err);
static behaviour *behave;
static double limit_s;        /* of the run that behaves now */

static int fake_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    int checked = checks;

    checks = 0;
    if (checked != 1)
        return hrun_fail(err, HRUN_EINVAL, "the job was checked %d times", checked);
    memset(out, 0, sizeof *out);
    out->failed_rank = -1;
    out->wall_s = out->job_s = 0.5;
    limit_s = job->timeout_s;
    return behave(l->cluster->hosts[l->ranks[0].host].name, strtol(job->argv[1], NULL, 10), out, err);
}

static const struct hrun_engine fake = { .name = "mpirun", .check = fake_check, .run = fake_run };

/* ------------------------------------------------------------------ a campaign */

/* Two sub-clusters of one host each, four sizes of one process, two runs of each; a data folder of its own. */
static void set_up(struct fixture *f, const char *name, behaviour *b)
{
    static const char cluster[] = "subclusters:\n"
                                  "  - {name: near, hosts: 127.0.0.2, cores: 1, cpu: Near}\n"
                                  "  - {name: far, hosts: 127.0.0.4, cores: 2, cpu: Far}\n";
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .sizes = { { 11, 12, 13, 14 }, 4 }, .repetitions = 2, .again = 1 };

    set_up_context(f, name, cluster, "{np: [\"N\"], n: [\"N\"]}", "far", &fake);
    behave = b;
    f->r.retries = 1;
    if (campaign_build(&f->c, &s, &f->g, &f->err))
        stop(f);
}

/* How many records of a sub-cluster have a status that begins so ("" is all). Good times that are no times: -1. */
static int records(const struct fixture *f, const char *sub, const char *status)
{
    struct hrun_samples s = { 0 };
    int n = 0;

    if (hrun_store_samples(f->c.store, "fake", sub, &s, NULL) || s.bad)
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.v[i].ok ? !(s.v[i].time_s > 0) : s.v[i].time_s != 0)
            return -1;
        n += !strncmp(s.v[i].status, status, strlen(status));
    }
    hrun_samples_release(&s);
    return n;
}

/* ------------------------------------------------------------------ behaviours */

static int far(const char *host)
{
    return !strcmp(host, "127.0.0.4");
}

static int all_well(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)host;
    (void)n;
    (void)out;
    (void)err;
    return 0;
}

static int far_is_down(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)n;
    (void)out;
    return far(host) ? hrun_fail(err, HRUN_EENGINE, "host %s did not answer; look at it", host) : 0;
}

static int far_goes_down(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    return n > 11 ? far_is_down(host, n, out, err) : 0;
}

static int far_is_lost(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)err;
    if (far(host) && n == 12) {
        out->status = 125;
        snprintf(out->lost_host, sizeof out->lost_host, "%s", host);
    }
    return 0;
}

static int trips_once(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    static int tripped;

    (void)out;
    if (far(host) && n == 13 && !tripped++)
        return hrun_fail(err, HRUN_EENGINE, "mpirun stumbled");
    return 0;
}

static int odd_fails(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)host;
    (void)err;
    out->status = n % 2 ? 7 : 0;
    return 0;
}

static int large_time_out(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)host;
    (void)err;
    out->timed_out = n > 11;
    out->status = out->timed_out ? 124 : 0;
    return 0;
}

/* Without a limit it would not end; with the user's own it gets all its time. */
static int far_hangs(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    if (!far(host) || n < 13)
        return 0;
    out->timed_out = limit_s > 0;
    out->status = 124;
    out->wall_s = limit_s;
    return limit_s > 0 ? 0 : hrun_fail(err, HRUN_EINVAL, "a run of size %ld without a limit", n);
}

static int far_fails(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)n;
    (void)err;
    out->status = far(host) ? 3 : 0;
    return 0;
}

static int changes(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)out;
    return far(host) && n == 12 ? hrun_fail(err, HRUN_ECHANGED, "host %s has changed", host) : 0;
}

static int interrupts(const char *host, long n, struct hrun_outcome *out, struct hrun_error *err)
{
    (void)host;
    (void)err;
    if (n == 12) {
        out->signalled = SIGINT;
        out->status = 0;      /* the program caught it */
    }
    return 0;
}

/* ------------------------------------------------------------------ tests */

static void test_failures(void)
{
    struct fixture f;

    set_up(&f, "well", all_well);
    is_int(runs_make(&f.r, &f.err), 0, "all goes well");
    is_int(records(&f, "near", "ok") + records(&f, "far", "ok"), 16, "16 records");
    is_int(campaign_left(&f.g, -1), 0, "and nothing is left");
    tear_down(&f);

    set_up(&f, "down", far_is_down);
    is_int(runs_make(&f.r, &f.err), 0, "a host is down: no error of the campaign");
    is_int(records(&f, "far", "engine: host 127.0.0.4 did not answer"), 6, "three points failed twice each");
    is_int(records(&f, "far", ""), 6, "and nothing else was tried there");
    is_int(records(&f, "near", "ok"), 8, "the other sub-cluster is measured in full");
    has_str(f.words, "given up: 3 points in a row could not be run", "it is told");
    is_int(f.g.failed_points, 3, "the points left out are counted");
    ok(f.g.hosts_failed > 0, "as failures of a host");
    tear_down(&f);

    set_up(&f, "goes", far_goes_down);
    is_int(runs_make(&f.r, &f.err), 0, "a host goes down later");
    is_int(records(&f, "far", "ok"), 1, "what was measured is kept");
    is_int(records(&f, "far", "engine: "), 6, "then it is given up");
    tear_down(&f);

    set_up(&f, "lost", far_is_lost);
    is_int(runs_make(&f.r, &f.err), 0, "a host is lost during one point");
    is_int(records(&f, "far", "lost host 127.0.0.4"), 2, "recorded by its name, tried again");
    is_int(records(&f, "far", "ok"), 6, "and the others go on");
    tear_down(&f);

    set_up(&f, "trips", trips_once);
    is_int(runs_make(&f.r, &f.err), 0, "the engine fails once");
    is_int(records(&f, "far", "engine: mpirun stumbled"), 1, "recorded");
    is_int(records(&f, "far", "ok"), 8, "and made up for");
    is_int(f.g.failed_points, 0, "no point is left out");
    tear_down(&f);

    set_up(&f, "odd", odd_fails);
    is_int(runs_make(&f.r, &f.err), 0, "some sizes fail");
    is_int(records(&f, "near", "exit 7"), 4, "twice each");
    is_int(records(&f, "near", "ok"), 4, "and the others go on");
    is_str(f.words, "", "no sub-cluster is given up");
    tear_down(&f);

    set_up(&f, "large", large_time_out);
    is_int(runs_make(&f.r, &f.err), 0, "all but the smallest time out");
    is_int(records(&f, "near", "timeout"), 6, "each of three is tried twice");
    is_int(records(&f, "near", "ok"), 2, "and the smallest has its repetitions");
    is_str(f.words, "", "the application's failures do not give up what has worked");
    tear_down(&f);

    set_up(&f, "fails", far_fails);
    is_int(runs_make(&f.r, &f.err), 0, "the program fails on one sub-cluster");
    is_int(records(&f, "far", "exit 3"), 6, "three points");
    has_str(f.words, "given up: its first 3 points all failed", "and it is given up");
    is_int(records(&f, "near", "ok"), 8, "not the other one");
    is_int(f.g.hosts_failed, 0, "no host is to blame");
    tear_down(&f);
}

static void test_limit(void)
{
    const struct hrun_config near = { 2, { 4, 0 }, { 1, 0 } }, far = { 2, { 0, 4 }, { 0, 1 } };
    const struct hrun_config one = { 2, { 1, 0 }, { 1, 0 } }, both = { 2, { 1, 1 }, { 1, 1 } };
    struct point points[] = {
        { .sub = 0, .N = 100, .config = near, .P = 4 },
        { .sub = 0, .N = 200, .config = near, .P = 4 },
        { .sub = 0, .N = 50, .config = near, .P = 4 },
        { .sub = 1, .N = 100, .config = far, .P = 4 },
        { .sub = 0, .N = 100, .config = one, .P = 1 },
        { .sub = -1, .N = 100, .config = both, .P = 2 },
    };
    struct campaign g = { .v = points, .n = 6, .nsubs = 2 };
    struct fixture f;

    is_int((int)campaign_limit(&g, 1), 0, "nothing known, no limit");
    points[0].wall_s = 2;
    is_int((int)campaign_limit(&g, 0), 20 * 2 + 60, "a limit for the known point");
    is_int((int)campaign_limit(&g, 1), 20 * 2 * 8 + 60, "eight times as much for twice the size");
    is_int((int)campaign_limit(&g, 2), 20 * 2 + 60, "not less for a smaller one");
    is_int((int)campaign_limit(&g, 3), 0, "none for another sub-cluster");
    is_int((int)campaign_limit(&g, 4), 20 * 2 * 4 + 60, "four times as much for one PE after four");
    is_int((int)campaign_limit(&g, 5), 0, "none for a mixed run while one of its sub-clusters is unknown");
    points[3].wall_s = 5;
    is_int((int)campaign_limit(&g, 5), 20 * 5 * 2 + 60, "then that of the slower one, with half of the work on its PE");
    points[3].wall_s = 0;
    points[2].wall_s = 1;
    is_int((int)campaign_limit(&g, 1), 20 * 1 * 64 + 60, "the longest of what may be expected counts");

    set_up(&f, "hangs", far_hangs);
    is_int(runs_make(&f.r, &f.err), 0, "two sizes hang: no error of the campaign (%s)", f.err.text);
    is_int(records(&f, "far", "timeout"), 4, "each is tried twice and recorded as ended");
    is_int(records(&f, "far", "ok"), 4, "the others are measured");
    is_int(records(&f, "near", "ok"), 8, "the other sub-cluster too");
    has_str(f.g.last_failure, "--timeout sets another limit", "and it is told");
    tear_down(&f);

    set_up(&f, "own", far_hangs);
    f.c.timeout_s = 7;
    is_int(runs_make(&f.r, &f.err), 0, "the same with a limit of the user's");
    is_int((int)limit_s, 7, "which is the only one");
    is_str(f.g.last_failure, "timeout", "and it needs no words");
    tear_down(&f);
}

static void test_ends(void)
{
    struct fixture f;

    set_up(&f, "changed", changes);
    is_int(runs_make(&f.r, &f.err), -1, "a host that has changed");
    is_int(f.err.code, HRUN_ECHANGED, "ends the campaign");
    is_int(records(&f, "far", ""), 1, "nothing is recorded of it");
    tear_down(&f);

    set_up(&f, "int", interrupts);
    is_int(runs_make(&f.r, &f.err), SIGINT, "a signal ends it, also when the program survives it");
    is_int(records(&f, "near", ""), 1, "and that run is no record");
    tear_down(&f);
}

int main(void)
{
    folder = temp_dir();
    test_failures();
    test_limit();
    test_ends();
    return tap_done();
}
