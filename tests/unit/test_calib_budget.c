/* test_calib_budget.c - chosen runs by an engine of the test's own: budgets, mixed runs in the logs, going on, giving
 * up, options that contradict each other */
#include "calib.h"

#include "../../calib/measure/budget.h"
#include "../../calib/measure/progress.h"
#include "base/units.h"

#include <unistd.h>

/* ------------------------------------------------------------------ an engine */

static const char *broken;    /* a host on which every run fails, or NULL */
static int starts, stop_at;   /* runs started; the one that a signal interrupts, 0 none */
static double start_s;        /* what a start takes beside the run */
static const char *second = "far";   /* signature of the second sub-cluster */

/* Work that is divided, messages that are not; hosts from 127.0.0.4 on are half as fast. */
static int fake_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    double n = strtod(job->argv[1], NULL), slowest = 1;

    (void)err;
    memset(out, 0, sizeof *out);
    out->failed_rank = -1;
    for (int r = 0; r < l->nranks; r++) {
        const char *host = l->cluster->hosts[l->ranks[r].host].name;

        slowest = strcmp(host, "127.0.0.4") >= 0 ? 2 : slowest;
        if (broken && !strcmp(host, broken))
            out->status = 3;
    }
    if (++starts == stop_at)
        out->interrupted = 2;
    usleep((useconds_t)(1e6 * start_s));
    out->wall_s = out->job_s = 1e-6 * slowest * n * n / l->nranks + 1e-4 * n + 0.01;
    return 0;
}

static const struct hrun_engine fake = { .name = "mpirun", .check = fake_check, .run = fake_run };

/* ------------------------------------------------------------------ a campaign */

/* Two sub-clusters of two hosts each. Result of budget_build. */
static int set_up(struct fixture *f, const char *name, struct calib_settings *s)
{
    static const char cluster[] = "subclusters:\n"
                                  "  - {name: near, hosts: '127.0.0.[2-3]', cores: 1, cpu: Near}\n"
                                  "  - {name: far, hosts: '127.0.0.[4-5]', cores: 1, cpu: Far}\n";

    set_up_context(f, name, cluster, "{np: [\"N^2/P\", \"N\", \"1\"], n: [\"N^2\", \"N\", \"1\"]}", second, &fake);
    s->sizes = (struct number_list){ { 100, 200, 400, 800 }, 4 };
    starts = 0;
    return budget_build(&f->c, s, &f->g, &f->err);
}

/* Records of a sub-cluster: all (mixed < 0), or good ones that are mixed or not. */
static int records(const struct fixture *f, const char *sub, int mixed)
{
    struct hrun_samples s = { 0 };
    int n = 0;

    if (hrun_store_samples(f->c.store, "fake", sub, &s, NULL) || s.bad)
        return -1;
    for (size_t i = 0; i < s.n; i++)
        n += mixed < 0 || (s.v[i].ok && s.v[i].mixed == mixed);
    hrun_samples_release(&s);
    return n;
}

static const struct hrun_design_state *state(const struct fixture *f)
{
    return hrun_design_state(f->g.budget->design);
}

/* ------------------------------------------------------------------ */

static void makes_runs(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.runs = 30 };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct fixture f;
    int first, mixed, alone;

    is_int(set_up(&f, "runs", &s), 0, "a budget of runs");
    is_int(runs_make(&f.r, &f.err), 0, "is made");
    first = f.events;
    ok(first > 8 && first <= 30, "%d runs of at most 30", first);
    is_int(state(&f)->runs, first, "the design knows them all");
    mixed = records(&f, "near", 1);
    alone = records(&f, "near", 0) + records(&f, "far", 0);
    ok(mixed > 0 && mixed == records(&f, "far", 1), "%d mixed runs stand in both logs", mixed);
    is_int(alone + mixed, first, "and every other in the log of its sub-cluster");
    budget_verdict(&f.g, &out);
    has_str(out.data, "the choice", "the verdict tells of the choice");
    tear_down(&f);

    is_int(set_up(&f, "runs", &s), 0, "the same again");
    is_int(f.g.budget->known, first, "knows all runs of the log, each mixed one once");
    hrun_buf_reset(&out);
    ok(!budget_plan(&f.c, &f.g, &out, &f.err) && !strstr(out.data, "screen"), "and screens nothing anew");
    is_int(runs_make(&f.r, &f.err), 0, "it goes on");
    tear_down(&f);
    hrun_buf_release(&out);
}

static void shares_a_log(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.runs = 30 };
    struct calib_settings one = { CALIB_SETTINGS_DEFAULTS, .budget.runs = 30, .use = "far:2" };
    int all, mixed;
    struct fixture f;

    second = "near";
    set_up(&f, "shared", &s);
    is_int(runs_make(&f.r, &f.err), 0, "sub-clusters of one kind are measured");
    all = f.events;
    mixed = records(&f, "near", 1);
    ok(mixed > 0, "each mixed run stands twice in their log: %d", mixed);
    is_int(records(&f, "near", 0) + mixed / 2, all, "every other once");
    tear_down(&f);
    set_up(&f, "shared", &s);
    is_int(f.g.budget->known, all, "each is known once");
    tear_down(&f);
    is_int(set_up(&f, "shared", &one), 0, "only the second is to be measured");
    is_int(f.g.budget->known, all, "the log that it shares is known, too");
    tear_down(&f);
    second = "far";
}

/* A log may hold what somebody else wrote. */
static void doubts_configurations(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.runs = 30 };
    struct hrun_sample odd = { .N = 100, .P = 3, .M = 1, .pes = 1, .time_s = 1, .wall_s = 1, .ok = 1, .mixed = 1,
                               .status = "ok", .origin = "import", .cluster = "near,far",
                               .config = "(2000000000,2000000000,1,1)", .date = "2026-11-20T10:36:00Z" };
    struct fixture f;

    set_up(&f, "odd", &s);
    is_int(hrun_store_append(f.c.store, "fake", "near", &odd, &f.err), 0, "a configuration that is not of P processes");
    tear_down(&f);
    is_int(set_up(&f, "odd", &s), 0, "is read");
    is_int(f.g.budget->known, 0, "and not taken");
    tear_down(&f);
}

static void stops_and_goes_on(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.limit_s = 20 };
    struct fixture f;

    set_up(&f, "stopped", &s);
    stop_at = 5;
    is_int(runs_make(&f.r, &f.err), 2, "a signal stops it");
    stop_at = 0;
    is_int(records(&f, "near", -1) + records(&f, "far", -1), 4, "the run that it interrupted is not recorded");
    tear_down(&f);
    set_up(&f, "stopped", &s);
    is_int(f.g.budget->known, 4, "what was made before is known");
    is_int(runs_make(&f.r, &f.err), 0, "it goes on to its end");
    ok(state(&f)->spent_s <= 20, "within its budget (%.1f s)", state(&f)->spent_s);
    tear_down(&f);
}

/* Time between runs counts, and no run begins for which it leaves no time. */
static void counts_pauses(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.limit_s = 1 };
    double begin_s = hrun_monotonic_s(), taken_s;
    struct progress p;
    struct fixture f;

    set_up(&f, "pauses", &s);
    f.set.quiet = 1;
    progress_start(&p, &f.c, &f.g);
    f.r.on_event = progress_show;
    f.r.ctx = &p;
    start_s = 0.1;
    is_int(runs_make(&f.r, &f.err), 0, "runs that start slowly");
    start_s = 0;
    taken_s = hrun_monotonic_s() - begin_s;
    ok(starts > 3 && starts <= 10 && state(&f)->spent_s <= 1.1, "%d of them take %.2f s of a budget of 1 s", starts,
       taken_s);
    ok(progress_left(&p) <= 1 - p.busy_s + 1e-9 || progress_left(&p) <= 0, "and no more than its rest is foretold");
    tear_down(&f);
}

static void gives_up(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .budget.runs = 60 };
    struct fixture f;

    set_up(&f, "broken", &s);
    broken = "127.0.0.4";
    is_int(runs_make(&f.r, &f.err), 0, "a host that fails every run does not stop the others");
    broken = NULL;
    ok(f.events < 60, "%d runs", f.events);
    ok(records(&f, "near", 0) > 4, "the healthy sub-cluster is measured");
    ok(state(&f)->failed > 0, "%d runs failed", state(&f)->failed);
    ok(f.given_up != 0, "what fails each time is given up");
    tear_down(&f);
}

/* A record of two PEs of far, or of all PEs, at N = 400, of this status. */
static void record(const struct fixture *f, int all, const char *status)
{
    struct hrun_buf cluster = HRUN_BUF_INIT;
    struct hrun_sample s = { .N = 400, .P = all ? 4 : 2, .M = 1, .pes = 2, .mixed = all, .wall_s = 1,
                             .ok = !strcmp(status, "ok"), .origin = (char *)"calibration",
                             .launcher.version = (char *)"0", .date = (char *)"2026-01-01T00:00:00Z" };

    hrun_cluster_names(f->c.cluster, &cluster);
    s.time_s = s.ok;
    s.cluster = cluster.data;
    s.config = (char *)(all ? "(2,1,2,1)" : "(0,0,2,1)");
    s.status = (char *)status;
    if (hrun_store_append(f->c.store, "fake", "far", &s, NULL))
        ok(0, "a record of the test's own");
    hrun_buf_release(&cluster);
}

/* Are all PEs run at N = 400 in a campaign that begins with these records? */
static int runs_it(const char *name, const char *first, const char *second_status)
{
    struct calib_settings s = { .budget.part = 1, .budget.runs = 40, .budget.seed = 1, .sizes = { { 400 }, 1 } };
    struct hrun_design_run run;
    struct fixture f;
    int found = 0;

    set_up(&f, name, &s);
    record(&f, strcmp(first, "ok") != 0, first);
    record(&f, strcmp(first, "ok") == 0, second_status);
    tear_down(&f);
    set_up(&f, name, &s);
    for (int n = 0; n < 40 && hrun_design_next(f.g.budget->design, &run, &f.err) > 0; n++) {
        found |= run.N == 400 && run.config.pes[0] == 2 && run.config.pes[1] == 2;
        hrun_design_add(f.g.budget->design,
                        &(struct hrun_design_result){ run.config, NULL, run.N, 1.0 / run.P, 1.0 / run.P, 1 }, &f.err);
    }
    tear_down(&f);
    return found;
}

static void knows_failures(void)
{
    ok(!runs_it("failed-later", "ok", "exit 3"), "what failed after something had worked is not run again");
    ok(runs_it("failed-first", "exit 3", "ok"), "what failed before anything worked is");
}

static void plans(void)
{
    struct calib_settings s = { .budget.part = 1, .budget.target = 0.05, .budget.seed = 9 };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct fixture f;

    set_up(&f, "dry", &s);
    is_int(budget_plan(&f.c, &f.g, &out, &f.err), 0, "what comes first can be shown");
    has_str(out.data, "4 first runs", "all of the first stage");
    has_str(out.data, "--seed 9", "in the order of the seed");
    has_str(out.data, "the later ones depend on the times of these", "and that the rest is not known");
    is_int(starts, 0, "nothing is started");
    hrun_buf_release(&out);
    tear_down(&f);
}

static void refuses(void)
{
    static const struct { struct calib_settings s; const char *words; } bad[] = {
        { { CALIB_SETTINGS_DEFAULTS, .repetitions = 3 }, "--repetitions belongs to --full-grid" },
        { { CALIB_SETTINGS_DEFAULTS, .budget.runs = 10, .redo = 1 }, "--redo belongs to --full-grid" },
    };
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ok(budget_wanted(&bad[i].s, &err) == -1 && strstr(err.text, bad[i].words), "refused: %s", err.text);
    }
    is_int(budget_wanted(&(struct calib_settings){ CALIB_SETTINGS_DEFAULTS }, &err), 1, "runs are chosen by default");
    is_int(budget_wanted(&(struct calib_settings){ .budget.part = 1, .full_grid = 1, .repetitions = 3, .redo = 1 }, &err), 0,
           "--full-grid is the grid, with all that belongs to it");
}

int main(void)
{
    folder = temp_dir();
    makes_runs();
    shares_a_log();
    doubts_configurations();
    stops_and_goes_on();
    counts_pauses();
    gives_up();
    knows_failures();
    plans();
    refuses();
    return tap_done();
}
