/* test_truth.c - tables of true times (tests/accuracy/truth.h): what is read, found and measured */
#include "accuracy/truth.h"
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

enum { DRAWS = 20000 };

static const char sets_text[] =
    "app,platform,subs,definition,train,other\n"
    "demo,two,a:2:2 b:1:1,tests/apps/lu.yaml,10 20,15\n";
static const char runs_text[] =
    "app,platform,N,config,time_s\n"
    "demo,two,20,\"(1,1,0,0)\",4\n"
    "demo,two,20,\"(0,0,1,1)\",8\n"
    "demo,two,20,\"(2,2,1,1)\",3\n"
    "demo,two,10,\"(1,1,0,0)\",1\n"
    "demo,two,10,\"(2,1,0,0)\",0.75\n"
    "demo,two,10,\"(0,0,1,1)\",2\n"
    "demo,two,15,\"(2,1,1,1)\",2.5\n"
    "demo,two,15,\"(0,0,1,1)\",2.5\n";

static char *folder;

static void test_reading(struct truth *t)
{
    const struct hrun_config key = { 2, { 2, 1 }, { 2, 1 } }, gone = { 2, { 1, 1 }, { 1, 1 } };
    const struct truth_run *run;
    size_t n;

    ok(t->nsubs == 2 && t->npes[0] == 2 && t->procs_max[0] == 2 && t->npes[1] == 1 && t->procs_max[1] == 1,
       "sub-clusters");
    is_str(t->names[1], "b", "their names");
    is_str(t->definition, "tests/apps/lu.yaml", "the definition");
    ok(t->ntrain == 2 && t->train[1] == 20 && t->nother == 1 && t->other[0] == 15, "sizes");
    ok(t->nruns == 8, "eight runs");
    run = truth_find(t, 20, &key);
    ok(run && run->time_s == 3 && run->P == 5, "a run is found, with its processes");
    ok(!truth_find(t, 10, &key) && !truth_find(t, 20, &gone), "what is absent is not");
    ok(truth_best(t, 10)->time_s == 0.75 && truth_best(t, 20) == run, "the best");
    ok(truth_best(t, 15)->pes[0] == 0, "of equals the first");
    ok(!truth_best(t, 11), "no best where there is nothing");
    ok(truth_at(t, 10, &n)->N == 10 && n == 3, "all at one size");
    ok(truth_alone(t, run) == -1 && truth_alone(t, truth_best(t, 10)) == 0 && truth_alone(t, truth_best(t, 15)) == 1,
       "mixed and homogeneous");
    ok(truth_cost(t, 0) == 4 + 8 + 1 + 0.75 + 2 && truth_cost(t, 1) == truth_cost(t, 0) + 3,
       "the cost counts the sizes to train from");
}

static void test_noise(const struct truth *t)
{
    struct truth_noise noise = TRUTH_NOISE_DEFAULT, none = TRUTH_NOISE_NONE, other = noise;
    const struct truth_run *run = truth_best(t, 20);
    double sum = 0.0, squares = 0.0, first = truth_measure(run, &noise, 0), x, least = INFINITY, most = 0.0;
    int glitches = 0, quiet = 0, equal = 0;

    for (int i = 0; i < DRAWS; i++) {
        x = truth_measure(run, &noise, i) / run->time_s;
        least = fmin(least, x);
        most = fmax(most, x);
        if (x > 1.12) {     /* six sigma above 1; of glitches as good as all lie beyond */
            glitches++;
            continue;
        }
        quiet++;
        sum += x;
        squares += (x - 1.0) * (x - 1.0);
    }
    /* Four standard errors: sigma / sqrt(n), sigma / sqrt(2 n), sqrt(p q / n). */
    ok(fabs(sum / quiet - 1.0) < 4 * 0.02 / sqrt(quiet), "noise has mean 0");
    ok(fabs(sqrt(squares / quiet) - 0.02) < 4 * 0.02 / sqrt(2.0 * quiet), "and sigma 2 %%");
    ok(fabs((double)glitches / DRAWS - 0.05) < 4 * sqrt(0.05 * 0.95 / DRAWS), "5 %% are glitches (%d)", glitches);
    ok(least > 0.88 && most > 2.5 && most < 3.0 * 1.12, "of up to three times");
    ok(truth_measure(run, &noise, 0) == first, "a measurement is the same whenever it is made");
    other.seed++;
    for (int i = 0; i < 100; i++)
        equal += truth_measure(run, &noise, i) == truth_measure(run, &other, i) ||
                 truth_measure(run, &noise, i) == truth_measure(run, &noise, i + 1) ||
                 truth_measure(run, &noise, i) / run->time_s ==
                     truth_measure(truth_best(t, 10), &noise, i) / truth_best(t, 10)->time_s;
    ok(equal == 0, "other seeds, repetitions and runs have other noise");
    ok(truth_measure(run, &none, 7) == run->time_s, "without noise it is the true time");
}

static void test_samples(const struct truth *t)
{
    struct truth_noise none = TRUTH_NOISE_NONE;
    struct hrun_samples samples = { 0 };
    struct hrun_sample s;
    struct hrun_error err;
    double cost = 1.0;

    ok(!truth_sample(t, truth_best(t, 20), 0, &none, 61, "nb=4", &s, &err), "a mixed run as sub-cluster a keeps it");
    ok(s.mixed && s.N == 20 && s.P == 5 && s.M == 2 && s.pes == 2 && s.time_s == 3 && s.ok, "its numbers");
    is_str(s.config, "(2,2,1,1)", "its configuration");
    is_str(s.cluster, "a,b", "its sub-clusters");
    is_str(s.date, "2026-01-01T00:01:01Z", "its date");
    hrun_sample_release(&s);
    ok(truth_sample(t, truth_best(t, 10), 1, &none, 0, NULL, &s, &err) == -1 && err.code == HRUN_EINVAL,
       "who takes no part keeps nothing");
    ok(!truth_train(t, 0, &none, 2, NULL, &samples, &cost, &err) && samples.n == 6, "three runs of a, twice");
    ok(cost == 1.0 + 2 * (4 + 1 + 0.75), "and what they cost");
    ok(!samples.v[0].mixed && samples.v[0].N == 10 && samples.v[0].P == samples.v[0].M * samples.v[0].pes,
       "all homogeneous");
    hrun_samples_release(&samples);
}

static void refused(const char *text, const char *want)
{
    struct truth *sets = NULL;
    struct hrun_error err = { 0 };
    size_t n = 0;

    put(folder, "demo-two.csv", text);
    if (truth_list(folder, &sets, &n, &err)) {
        ok(0, "%s", err.text);
        return;
    }
    ok(truth_load(folder, &sets[0], &err) == -1 && strstr(err.text, want) && !sets[0].runs, "refused: %s", err.text);
    free(sets);
}

int main(void)
{
    struct truth *sets = NULL;
    struct hrun_error err = { 0 };
    size_t n = 0;

    folder = temp_dir();
    ok(truth_list(folder, &sets, &n, &err) == -1 && err.code == HRUN_ENOENT, "no tables: %s", err.text);
    put(folder, "sets.csv", sets_text);
    put(folder, "demo-two.csv", runs_text);
    ok(!truth_list(folder, &sets, &n, &err) && n == 1, "one table is listed");
    ok(!truth_load(folder, &sets[0], &err), "and read");
    test_reading(&sets[0]);
    test_noise(&sets[0]);
    test_samples(&sets[0]);
    truth_release(&sets[0]);
    free(sets);
    refused("app,platform,N,config,time_s\ndemo,two,20,\"(1,1,0,0)\"\n", "fields");
    refused("app,platform,N,config,time_s\ndemo,two,20,\"(3,1,0,0)\",1\n", "none of the set's");
    refused("app,platform,N,config,time_s\ndemo,two,20,\"(1,1,0,0)\",0\n", "above 0");
    refused("app,platform,N,config,time_s\ndemo,two,20,\"(1,1,0,0)\",1\ndemo,two,20,\"(1,1,0,0)\",2\n", "twice");
    put(folder, "sets.csv", "app,platform,subs,definition,train,other\ndemo,two,a:2,x,10,\n");
    ok(truth_list(folder, &sets, &n, &err) == -1 && err.code == HRUN_EPARSE && err.line == 2, "a bad set: %s",
       err.text);
    free(folder);
    return tap_done();
}
