/* test_calib_weak.c - the six runs of the family weak, by an engine of the test's own whose times are those of a model:
 * which they are, where they run, what is kept busy meanwhile, what is recorded; and what is predicted of them */
#include "calib.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ------------------------------------------------------------------ an engine */

enum { HOSTS = 8, CORES = 4, SLOW = 5 };

/* What all processes of the test see. */
struct seen {
    int runs, copies;             /* that ended */
    int hosts;                    /* bits: of the last run of several processes */
    int ranks[HOSTS];             /* of its ranks, on each host */
    int busy;                     /* copies that began while it ran */
    int together;                 /* it runs now */
    int fails;                    /* host whose copies fail, -1: none */
    int stops;                    /* host on which a copy sends SIGINT to who started it, -1: none */
};
static struct seen *seen;

/* b W + a, alpha = c + d log2(np), gamma W; twice as long where the slow host takes part. */
static double truth(int np, double rows, int slow)
{
    double t = 0.01 * rows + 0.5;

    if (np > 1)
        t += 0.25 + 0.125 * log2(np) + 0.002 * rows;
    return slow ? 2 * t : t;
}

static int fake_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    long count = 0, rows = 0;
    int slow = 0;

    (void)err;
    memset(out, 0, sizeof *out);
    out->failed_rank = -1;
    if (sscanf(job->argv[2], "%ld*%ld", &count, &rows) != 2 || count != l->nranks)
        out->status = 2;
    for (int i = 0; i < l->nranks; i++)
        slow |= l->ranks[i].host == SLOW;
    if (l->nranks == 1 && seen->fails == l->ranks[0].host)
        out->status = 3;
    if (l->nranks == 1 && seen->stops == l->ranks[0].host)
        kill(getppid(), SIGINT);
    if (l->nranks > 1) {
        seen->hosts = 0;
        memset(seen->ranks, 0, sizeof seen->ranks);
        for (int i = 0; i < l->nranks; i++) {
            seen->hosts |= 1 << l->ranks[i].host;
            seen->ranks[l->ranks[i].host]++;
        }
        seen->busy = 0;
        __atomic_store_n(&seen->together, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 500 && __atomic_load_n(&seen->busy, __ATOMIC_SEQ_CST) < 2; i++)
            usleep(10000);        /* until copies are there, 5 s at most */
        __atomic_store_n(&seen->together, 0, __ATOMIC_SEQ_CST);
    } else {
        if (__atomic_load_n(&seen->together, __ATOMIC_SEQ_CST))
            __atomic_add_fetch(&seen->busy, 1, __ATOMIC_SEQ_CST);
        usleep(1000);
    }
    __atomic_add_fetch(l->nranks > 1 ? &seen->runs : &seen->copies, 1, __ATOMIC_SEQ_CST);
    out->wall_s = out->job_s = truth(l->nranks, (double)rows, slow);
    return 0;
}

static const struct hrun_engine fake = { .name = "mpirun", .check = fake_check, .run = fake_run };

/* ------------------------------------------------------------------ a campaign */

static void set_up(struct fixture *f, const char *name, const char *more, const struct calib_settings *s)
{
    static const char cluster[] = "subclusters:\n"
                                  "  - {name: near, hosts: '127.0.0.[2-9]', cores: 4, cpu: Near, level: core}\n"
                                  "  - {name: far, hosts: 127.0.1.1, cores: 2, cpu: Far, level: core}\n";
    char *def = hrun_strf("%s/fake.yaml", folder);
    char *app = hrun_strf("name: fake\nfamily: weak\nprocs_per_pe: [1, 2]\nweak: {unit: \"4\"%s}\n"
                          "args: [\"{N}\", \"{shares}\"]\n", more);

    set_up_context(f, name, cluster, "{np: [\"N\"], n: [\"N\"]}", "far", &fake);
    hrun_app_destroy(f->c.app);
    f->c.app = NULL;
    write_text(def, app);
    f->argv[1] = NULL;
    memset(seen, 0, sizeof *seen);
    seen->fails = seen->stops = -1;
    if (hrun_app_load(def, NULL, &f->c.app, &f->err) || campaign_build(&f->c, s, &f->g, &f->err))
        stop(f);
    free(app);
    free(def);
}

/* The points of sub-cluster `near` with one process per PE, in words. */
static void points(const struct fixture *f, struct hrun_buf *out)
{
    hrun_buf_reset(out);
    for (int i = 0; i < f->g.n; i++)
        if (f->g.v[i].sub == 0 && f->g.v[i].config.procs[0] == 1)
            hrun_buf_addf(out, "%s%lld:%d*%g%s", out->len ? " " : "", (long long)f->g.v[i].N, f->g.v[i].P,
                          f->g.v[i].work, f->g.v[i].copies ? "c" : "");
}

static void test_points(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .N = 1024, .repetitions = 1 };
    struct hrun_buf text = HRUN_BUF_INIT;
    struct fixture f;

    set_up(&f, "points", "", &s);
    points(&f, &text);
    /* 256 units over 32 processes; half of 32 rows in units of 4 */
    is_str(text.data, "1024:32*32c 1024:32*16c 1024:4*32 1024:4*16 1024:8*32 1024:8*16", "six runs");
    tear_down(&f);
    s.P = 16;
    set_up(&f, "points", "", &s);
    points(&f, &text);
    is_str(text.data, "1024:32*64c 1024:32*32c 1024:4*64 1024:4*32 1024:8*64 1024:8*32", "for 16 processes");
    tear_down(&f);
    s.N = 0;
    s.sizes = (struct number_list){ { 512, 1024 }, 2 };
    s.use = "near:6";
    set_up(&f, "points", ", rows: \"N/2\"", &s);
    points(&f, &text);
    /* (N/2)/4 units over 6 processes, rounded up: 11 and 22; half of them rounded down */
    is_str(text.data, "512:6*44c 512:6*20c 512:4*44 512:4*20 512:6*44 512:6*20 "
           "1024:6*88c 1024:6*44c 1024:4*88 1024:4*44 1024:6*88 1024:6*44", "two sizes, six PEs, half as many rows");
    tear_down(&f);
    hrun_buf_release(&text);
}

/* Good records of sub-cluster near, of copies or not; *slowest: their longest time. */
static int records(const struct fixture *f, int copies, double *longest)
{
    struct hrun_samples s = { 0 };
    int n = 0;

    *longest = 0;
    if (hrun_store_samples(f->c.store, "fake", "near", &s, NULL) || s.bad)
        return -1;
    for (size_t i = 0; i < s.n; i++)
        if (s.v[i].ok && s.v[i].copies == copies && s.v[i].work > 0) {
            *longest = fmax(*longest, s.v[i].time_s);
            n++;
        }
    hrun_samples_release(&s);
    return n;
}

static void test_runs(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .N = 1024, .repetitions = 1, .use = "near",
                                .procs = { { 1 }, 1 } };
    struct hrun_samples log = { 0 };
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_models *models[2] = { NULL, NULL };
    struct hrun_predictor *p = NULL;
    struct fixture f;
    struct hrun_interval time;
    double longest;
    int hosts = 0;

    set_up(&f, "runs", "", &s);
    is_int(runs_make(&f.r, &f.err), 0, "all runs: %s", f.err.text);
    is_int(seen->runs, 4, "four of several processes");
    is_int(records(&f, 1, &longest), 2, "two records of copies");
    is_num(longest, truth(1, 32, 1), 1e-12, "of which the slowest counts");
    is_int(records(&f, 0, &longest), 4, "four of several processes");
    is_num(longest, truth(8, 32, 1), 1e-12, "in which the slowest host took part");
    for (int i = 0; i < HOSTS; i++)
        hosts += seen->ranks[i] == 2;
    ok(hosts == 4 && seen->hosts >> SLOW & 1, "eight processes lie on four hosts, two on each, the slowest among them");
    ok(seen->busy >= 2, "whose other cores are busy meanwhile");
    is_int(f.g.good, 6, "all are told");
    tear_down(&f);

    /* Stopped after the copies: which host is slow is found again. */
    set_up(&f, "again", "", &s);
    for (int i = 2; i < f.g.n; i++)
        f.g.v[i].left_out = 1;
    is_int(runs_make(&f.r, &f.err), 0, "copies alone");
    tear_down(&f);
    set_up(&f, "again", "", &s);
    is_int(f.g.v[0].have + f.g.v[1].have, 2, "they are there");
    is_int(f.g.v[2].have, 0, "and not taken for others");
    is_int(runs_make(&f.r, &f.err), 0, "the rest");
    ok(seen->hosts >> SLOW & 1, "with the slow host");

    if (hrun_store_samples(f.c.store, "fake", "near", &log, &f.err) ||
        hrun_model_fit(f.c.app, log.v, log.n, &options, &models[0], NULL, &f.err) ||
        !(p = hrun_predictor_create(f.c.app, models, 2, HRUN_FORM_NPT, 1024, &f.err)))
        stop(&f);
    is_int(hrun_predictor_time(p, 0, 1, 32, &time, &f.err), 0, "32 processes are predicted");
    is_num(time.mid, truth(32, 32, 1), 1e-9, "as long as they take");
    hrun_predictor_destroy(p);
    hrun_models_destroy(models[0]);
    hrun_samples_release(&log);
    tear_down(&f);
}

static void test_failures(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .N = 1024, .repetitions = 1, .use = "near",
                                .procs = { { 1 }, 1 } };
    struct fixture f;
    double longest;

    set_up(&f, "failures", "", &s);
    seen->fails = 3;
    is_int(runs_make(&f.r, &f.err), 0, "copies that fail on one host");
    is_int(records(&f, 1, &longest), 0, "leave no measurement");
    ok(f.g.failed_points >= 2 && f.g.v[0].left_out, "and are left out");
    has_str(f.g.last_failure, "exit 3", "with the reason");
    ok(waitpid(-1, NULL, WNOHANG) < 0, "no process is left");
    tear_down(&f);
}

static void test_interrupt(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .N = 1024, .repetitions = 1, .use = "near",
                                .procs = { { 1 }, 1 } };
    struct copy_result r;
    const int pes[] = { 0, 4, 8, 12 };
    sigset_t ints, before;
    struct fixture f;

    set_up(&f, "interrupt", "", &s);
    seen->stops = 3;
    sigemptyset(&ints);
    sigaddset(&ints, SIGINT);
    sigprocmask(SIG_BLOCK, &ints, &before);   /* it waits for copies_run to wait for copies */
    is_int(copies_run(&f.r, &f.g.v[0], pes, 4, &r, &f.err), 0, "copies that are interrupted");
    sigprocmask(SIG_SETMASK, &before, NULL);
    ok(!r.result.ok && r.result.outcome.interrupted == SIGINT, "have no result, but a signal");
    ok(waitpid(-1, NULL, WNOHANG) < 0, "and no process is left");
    tear_down(&f);
}

static void test_spread(void)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .N = 1024, .repetitions = 1 };
    struct fixture f;
    int order[32], seen_pe[32] = { 0 }, twice = 0;

    set_up(&f, "spread", "", &s);
    loaded_spread(&f.c.cluster->subs[0], 4, -1, order);
    ok(order[0] == 0 && order[1] == 4 && order[2] == 8 && order[3] == 12, "four processes on four hosts");
    loaded_spread(&f.c.cluster->subs[0], 4, 7, order);
    ok(order[0] == 0 && order[1] == 4 && order[2] == 8 && order[3] == 28, "one of them the slow one");
    loaded_spread(&f.c.cluster->subs[0], 8, 0, order);
    ok(order[0] == 0 && order[1] == 1 && order[2] == 4 && order[7] == 13, "two on each");
    for (int n = 1; n <= 32; n++) {
        memset(seen_pe, 0, sizeof seen_pe);
        loaded_spread(&f.c.cluster->subs[0], n, 5, order);
        for (int i = 0; i < n; i++)
            twice += order[i] < 0 || order[i] >= 32 || seen_pe[order[i]]++ || (i && order[i] < order[i - 1]);
    }
    is_int(twice, 0, "any number of PEs: each once, in their order");
    loaded_spread(&f.c.cluster->subs[1], 2, -1, order);
    ok(order[0] == 0 && order[1] == 1, "a host alone");
    tear_down(&f);
}

int main(void)
{
    folder = temp_dir();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return 1;
    test_points();
    test_runs();
    test_failures();
    test_interrupt();
    test_spread();
    return tap_done();
}
