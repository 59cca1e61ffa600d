/* test_calib_report.c - the numbers of a report: runs, choices and errors at each size, time against cost */
#include "tap.h"
#include "fixture.h"

#include "../../calib/report/calib_report.h"
#include "base/file.h"

static struct calib_settings settings = { CALIB_SETTINGS_DEFAULTS };
static struct context context = { .set = &settings.common };

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

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Is a configuration as quick and cheap as nothing else of the list? The prices are 4 and 1 an hour. */
static int is_on_front(const json_t *choices, const json_t *of)
{
    const json_t *other;
    size_t i;
    struct hrun_config c;
    double cost, time_s = number(of, "predicted_s");

    json_array_foreach(choices, i, other) {
        hrun_config_parse(json_string_value(json_object_get(other, "config")), 2, &c, NULL);
        cost = number(other, "predicted_s") * (4 * c.pes[0] + c.pes[1]) / 3600;
        if (cost < number(of, "value") * (1 - 1e-9) && number(other, "predicted_s") <= time_s)
            return 0;
    }
    return 1;
}

static void test_tradeoffs(const json_t *root)
{
    const json_t *tradeoffs = json_object_get(root, "tradeoffs"), *cost = json_object_get(tradeoffs, "cost"), *v;
    const json_t *choices = json_object_get(cost, "choices"), *front = json_object_get(cost, "front");
    size_t i, k, on = 0, wrong = 0;

    ok(json_is_null(json_object_get(tradeoffs, "energy")), "without powers nothing is known of energy");
    ok(json_array_size(choices) == 8 && json_array_size(front) > 1, "with prices there is a front of cost");
    json_array_foreach(choices, i, v) {
        const char *config = json_string_value(json_object_get(v, "config"));

        for (k = 0; k < json_array_size(front); k++)
            if (!strcmp(json_string_value(json_object_get(json_array_get(front, k), "config")), config))
                break;
        on += k < json_array_size(front);
        wrong += (k < json_array_size(front)) != is_on_front(choices, v);
    }
    ok(!wrong && on == json_array_size(front), "which is that of brute force");
}

int main(void)
{
    struct hrun_error err = { 0 };
    char *folder = temp_dir(), *file = hrun_strf("%s/toy.yaml", folder), *prices = hrun_strf("%s/c.yaml", folder);
    static const char cluster[] = "subclusters:\n  - {name: near, hosts: a1, cores: 1, cost_per_hour: 4}\n"
                                  "  - {name: far, hosts: b1, cores: 1, cost_per_hour: 1}\n";
    struct report r = { 0 };
    struct hrun_buf text = HRUN_BUF_INIT;
    const json_t *sizes, *last;
    json_t *root = json_object();

    context.store = hrun_store_open(folder, &err);
    if (!context.store || hrun_file_replace(file, app_text, strlen(app_text), 0600, &err) ||
        hrun_file_replace(prices, cluster, strlen(cluster), 0600, &err) ||
        hrun_app_load(file, NULL, &context.app, &err))
        stop(&err);
    add_runs(&err);
    add_models(&err);
    settings.common.machine.cluster_file = prices;
    if (report_gather(&context, &settings, &r, &err) || report_add_choices(&r, 0, root, &err))
        stop(&err);
    ok(r.nsubs == 2 && r.subs[0].npes == 2 && r.subs[1].npes == 2,
       "sub-clusters are those of the runs, with their PEs");
    is_int(r.nruns, 20, "a run on both, which stands in two logs, is one");
    is_int((int)json_array_size(json_object_get(root, "runs")), 20, "all runs are in the document");
    is_int((int)number(root, "N"), 40, "the largest size is shown");
    sizes = json_object_get(root, "sizes");
    last = json_array_get(sizes, 3);
    is_int((int)json_array_size(sizes), 4, "there is a choice for each size");
    ok(number(last, "recorded") == 5 && number(last, "valid") == 8, "5 of 8 configurations were run");
    ok(json_is_null(json_object_get(last, "epsilon")), "the best, all PEs, was never run: epsilon is not known");
    is_str(json_string_value(json_object_get(json_object_get(root, "plan"), "chosen")), "(2,1,2,1)",
           "hrun's choice is all PEs");
    is_int((int)json_array_size(json_object_get(root, "measured")), 5, "five were measured at this size");
    test_tradeoffs(root);
    report_text(root, "", &text);
    ok(strstr(text.data, "(2,1,2,1)") && !strstr(text.data, "nan"), "the tables of text show it");
    hrun_buf_release(&text);
    json_decref(root);
    report_release(&r);
    context_release(&context);
    free(file);
    free(prices);
    free(folder);
    return tap_done();
}
