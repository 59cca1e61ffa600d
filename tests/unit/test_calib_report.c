/* test_calib_report.c - a report's numbers, and its figures and tables when memory runs out: each allocation fails
 * once, in turn */
#include "nomem.h"
#include "fixture.h"

#include "../../calib/report/report.h"
#include "base/file.h"

#include <unistd.h>

static char *folder;
static struct settings settings;
static struct context context = { .set = &settings };

static const char app_text[] = "name: toy\nrule: \"P >= 1\"\nprocs_per_pe: [1]\n"
                               "terms: {np: [\"N^2/P\", \"1\"], n: [\"N^2\", \"1\"]}\nargs: [\"{N}\"]\n";
static char *const signatures[] = { "near.1c-1", "far.1c-2" };

static void stop(const struct hrun_error *err)
{
    printf("Bail out! %s\n", err->text);
    exit(1);
}

/* Runs of one PE and of two of each sub-cluster, and one of both. */
static void add_runs(struct hrun_error *err)
{
    static char *const alone[2][2] = { { "(1,1,0,0)", "(2,1,0,0)" }, { "(0,0,1,1)", "(0,0,2,1)" } };

    for (int sub = 0; sub < 2; sub++)
        for (int pes = 1; pes <= 3; pes++)
            for (int N = 10; N <= 40; N += 10) {
                int P = pes < 3 ? pes : 2;
                struct hrun_sample s = {
                    .N = N, .P = P, .M = 1, .pes = pes < 3 ? pes : 1, .time_s = 1e-3 * N * N / P + 0.01 * (sub + 1),
                    .wall_s = 1, .ok = 1, .mixed = pes == 3, .status = "ok", .origin = "calibration",
                    .config = pes < 3 ? alone[sub][pes - 1] : "(1,1,1,1)", .cluster = "near,far",
                    .signatures = "near.1c-1,far.1c-2", .date = "2026-11-20T10:36:00Z",
                };

                if (pes == 3)
                    s.time_s = 1e-3 * N * N / P + 0.02;
                if (hrun_store_append(context.store, "toy", signatures[sub], &s, err))
                    stop(err);
            }
}

static void add_models(struct hrun_error *err)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;

    for (int sub = 0; sub < 2; sub++) {
        struct hrun_samples samples = { 0 };
        struct hrun_models *m = NULL;

        if (hrun_store_samples(context.store, "toy", signatures[sub], &samples, err) ||
            hrun_model_fit(context.app, samples.v, samples.n, &options, &m, NULL, err))
            stop(err);
        free(m->signature);
        m->signature = strdup(signatures[sub]);
        if (hrun_store_put_models(context.store, m, err))
            stop(err);
        hrun_models_destroy(m);
        hrun_samples_release(&samples);
    }
}

/* Everything but gnuplot. */
static int make(struct hrun_error *err, int *figures, int *tables)
{
    struct report r = { 0 };
    struct plot **plots = NULL;
    struct report_table *t = NULL;
    int rc = report_gather(&context, 0, &r, err);

    *figures = *tables = 0;
    if (rc)
        return -1;
    r.subs[0].power_w = r.subs[1].power_w = 50;
    rc = report_tradeoffs(&r, err);
    plots = rc ? NULL : report_figures(&r, figures, err);
    if (plots)
        t = report_tables(&r, tables, err);
    rc = t ? 0 : -1;
    report_tables_free(t, *tables);
    for (int i = 0; plots && i < *figures; i++)
        plot_destroy(plots[i]);
    free(plots);
    report_release(&r);
    return rc;
}

/* Is v[at] of the plan, whose choices are all there are, as quick and cheap as nothing else? */
static int is_on_front(const struct report *r, int at)
{
    const struct hrun_choice *v = r->plan->v;
    double cost[2];

    for (int i = 0; i < r->plan->n; i++) {
        for (int k = 0; k < 2; k++) {
            const struct hrun_choice *c = &v[k ? i : at];

            cost[k] = c->time_s * (c->pes[0] * 4 + c->pes[1]) / 3600;
        }
        if (i != at && v[i].time_s <= v[at].time_s && cost[1] <= cost[0] &&
            (v[i].time_s < v[at].time_s || cost[1] < cost[0]))
            return 0;
    }
    return 1;
}

static int series_points(const struct plot *p, const char *title)
{
    for (int i = 0; i < p->n; i++)
        if (p->v[i].title && !strncmp(p->v[i].title, title, strlen(title)))
            return p->v[i].n;
    return -1;
}

static void test_tradeoffs(struct report *r)
{
    struct hrun_error err = { 0 };
    struct plot *p;
    int failed = 0, wrong = 0, n = 0;

    ok(!report_tradeoffs(r, &err) && !r->tradeoffs[0].front && !report_tradeoff_figure(r, 0, &failed),
       "without prices there is no time against cost");
    r->subs[0].cost_per_hour = 4;
    ok(!report_tradeoffs(r, &err) && !r->tradeoffs[0].front, "nor with the price of one sub-cluster alone");
    r->subs[1].cost_per_hour = 1;
    is_int(report_tradeoffs(r, &err), 0, "with all prices");
    ok(r->tradeoffs[0].front && !r->tradeoffs[1].front, "there is a front of cost, and none of energy");
    for (int i = 0; i < r->plan->n; i++) {
        int on = 0;

        for (int k = 0; k < r->tradeoffs[0].front->n; k++)
            on |= !memcmp(r->tradeoffs[0].front->v[k].pes, r->plan->v[i].pes, 2 * sizeof(int));
        wrong += on != is_on_front(r, i);
        n += on;
    }
    ok(!wrong && n == r->tradeoffs[0].front->n && n > 1, "which is that of brute force, %d of %d", n, r->plan->n);
    p = report_tradeoff_figure(r, 0, &failed);
    ok(p && !failed && !p->failed, "it is drawn");
    is_int(series_points(p, "best in both"), n, "as a line");
    is_int(series_points(p, "configurations"), 2 * r->plan->n, "over all configurations, by time and by cost");
    is_int(series_points(p, "measured"), r->sizes[3].recorded, "and those that were run");
    ok(series_points(p, "quickest") == 1 && series_points(p, "cheapest within 10 %") == 1 &&
       series_points(p, "cheapest") == 1, "with the three that readers look for");
    has_str(p->caption, "The quickest is (2,1,2,1), the cheapest within 10 % of its time (", "which are told");
    plot_destroy(p);
}

static void test_numbers(void)
{
    struct report r;
    struct report_cost c;
    struct report_errors e;
    struct hrun_error err = { 0 };

    if (report_gather(&context, 0, &r, &err))
        stop(&err);
    ok(r.nsubs == 2 && r.subs[0].npes == 2 && r.subs[1].npes == 2,
       "sub-clusters are those of the runs, with their PEs");
    is_int(r.nruns, 20, "a run on both, which stands in two logs, is one");
    report_cost(&r, -1, &c);
    ok(c.runs == 4 && fabs(c.pe_s - 8) < 1e-9, "its cost is that of all its PEs");
    is_int(r.N, 40, "the largest size is shown");
    is_int(r.nsizes, 4, "there are errors for each size");
    ok(r.sizes[3].recorded == 5 && r.sizes[3].valid == 8, "5 of 8 configurations were run: %d of %g",
       r.sizes[3].recorded, r.sizes[3].valid);
    report_errors(&r, report_epsilon, &e);
    ok(!e.n, "the best, all PEs, was never run: epsilon is not known");
    report_errors(&r, report_ranked_epsilon, &e);
    test_tradeoffs(&r);
    ok(e.n == 4 && e.worst < 1e-3, "among those that were run the models choose the best");
    report_release(&r);
}

int main(void)
{
    struct hrun_error err = { 0 };
    char *file;
    long bad = 0, leaked = 0, failed = 0, k = 1, before;
    int figures, tables, rc;

    folder = temp_dir();
    file = hrun_strf("%s/toy.yaml", folder);
    context.store = hrun_store_open(folder, &err);
    if (!context.store || hrun_file_replace(file, app_text, strlen(app_text), 0600, &err) ||
        hrun_app_load(file, NULL, 0, &context.app, &err))
        stop(&err);
    add_runs(&err);
    add_models(&err);
    test_numbers();
    rc = make(&err, &figures, &tables);
    ok(rc == 0 && figures >= 9 && tables == 7, "%d figures and %d tables are made", figures, tables);
    /* Each allocation of the beginning, then some of all that follow. */
    for (;; k += k < 300 ? 1 : k / 100) {
        int f, t;

        before = live;
        calls = 0;
        fail_at = k;
        rc = make(&err, &f, &t);
        fail_at = 0;
        leaked += live != before;
        if (calls < k) {
            bad += rc != 0;
            break;
        }
        failed++;
        /* Without the memory for a stream a file cannot be read. */
        bad += rc ? err.code != HRUN_ENOMEM && err.code != HRUN_EIO : f != figures || t != tables;
    }
    ok(!bad && (!REPLACED || failed > 300), "each of %ld failing allocations is told, or does no harm (%ld)",
       failed, bad);
    is_int(leaked, 0, "and leaks nothing");
    free(file);
    hrun_app_destroy(context.app);
    hrun_store_close(context.store);
    free(folder);
    return tap_done();
}
