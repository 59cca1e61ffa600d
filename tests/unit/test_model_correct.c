/* Runs of a configuration correct its prediction: of one and of several N, glitches, whose configuration it is. */
#include "model.h"
#include "model/internal.h"

static const char *const terms[] = { "N^3/P", NULL };
static const double one[] = { 1e-6 };

/* The models say 1e-6 N^3/P, for P = M as well. */
static double model_time(int sub, double N, int P, int M)
{
    (void)sub;
    (void)M;
    return 1e-6 * N * N * N / P;
}

struct fixture {
    struct ma a;
    struct mr *m;
    struct hrun_models *models[MR_SUBS];
};

static void setup(struct fixture *f)
{
    static const char *const nt[] = { "N^3", NULL };

    ma_init(&f->a, terms, nt, NULL, 2);
    f->m = calloc(1, sizeof *f->m);
    f->m->time = model_time;
    for (int i = 0; i < MR_SUBS; i++) {
        f->models[i] = ma_models();
        ma_record(f->models[i], "npt", 1, 0, terms, one);
        ma_record(f->models[i], "npt", 2, 0, terms, one);
        ma_record(f->models[i], "single", 1, 0, nt, one);
    }
}

static void teardown(struct fixture *f)
{
    for (int i = 0; i < MR_SUBS; i++)
        hrun_models_destroy(f->models[i]);
    ma_release(&f->a);
    free(f->m);
}

static struct hrun_corrections *make(const struct fixture *f, struct hrun_error *err)
{
    struct hrun_joint_sub subs[MR_SUBS];
    struct hrun_corrections *c = NULL;

    mr_subs(f->m, subs);
    if (hrun_corrections_create(&(struct hrun_correction_source){ &f->a.app, subs, f->models, MR_SUBS, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_EQUAL }, &nnls, &c, err))
        return NULL;
    return c;
}

/* Of configuration 0 at N, after which the corrections are gone. */
static struct hrun_correction only(const struct fixture *f, int64_t N)
{
    struct hrun_correction r = { 0, 0, 0, 0 };
    struct hrun_error err = { 0 };
    struct hrun_corrections *c = make(f, &err);

    if (c && hrun_corrections_count(c))
        hrun_correction_at(c, 0, N, &r);
    hrun_corrections_destroy(c);
    return r;
}

static const struct hrun_config usual = { MR_SUBS, { 4, 2, 0 }, { 2, 1, 0 } };

static void test_one_run(void)
{
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_corrections *c;
    struct hrun_correction at, near, far;
    struct hrun_config another = { MR_SUBS, { 2, 1, 0 }, { 4, 2, 0 } };

    setup(&f);
    c = make(&f, &err);
    ok(c && hrun_corrections_count(c) == 0, "no runs: nothing to correct");
    is_num(hrun_corrections_sd(c), 0.05, 1e-12, "a prediction is taken to be right to 5 %%");
    hrun_corrections_destroy(c);
    mr_run(f.m, 1000, &usual, 1.04);
    c = make(&f, &err);
    ok(c && hrun_corrections_count(c) == 1, "a run of one configuration, in two logs, is one");
    is_int(hrun_corrections_find(c, &usual), 0, "the configuration is that of the run");
    is_int(hrun_corrections_find(c, &another), -1, "another is not among them");
    hrun_corrections_destroy(c);
    at = only(&f, 1000);
    near = only(&f, 1300);
    far = only(&f, 1000000);
    /* tau^2/(tau^2 + sigma^2) of ln 1.04; tau^2 by the prior's 4 values of 5 % and this one. */
    ok(at.factor > 1.025 && at.factor < 1.04, "of 4 %% more time than predicted most is believed: %.4f", at.factor);
    ok(near.factor > 1.01 && near.factor < at.factor, "at a N nearby a part of that: %.4f", near.factor);
    is_num(far.factor, 1, 1e-5, "far away nothing");
    ok(at.sd < near.sd && near.sd < far.sd, "and the less is known: %.4f, %.4f, %.4f", at.sd, near.sd, far.sd);
    ok(at.runs == 1 && at.others == 0 && near.runs == 0 && near.others == 1, "runs at this N and at others");
    teardown(&f);
}

/* What is told of a time of 100 s with a model's interval of +- `half` in its logarithm. */
static int tell(const struct hrun_corrections *c, const struct hrun_config *config, int64_t N, double half, double *t,
                double *low, double *high)
{
    struct hrun_correction at;

    *t = 100;
    *low = 100 * exp(-half);
    *high = 100 * exp(half);
    return corrections_tell(c, config, N, t, low, high, &at);
}

/* What machines differ by from one time to the next. */
static const double DAY = 0.07;

/* Half the interval of what was never run: what models miss, days, and the scatter of a run by Student's t. */
static double half_unknown(double t)
{
    return 1.959964 * hypot(0.05, hypot(t / 1.959964 * 0.02, DAY));
}

static void test_telling(void)
{
    static const double t2 = 4.302653, t4 = 2.776445;      /* of 2 degrees of freedom, and of two pairs more */
    const struct hrun_config alone = { MR_SUBS, { 3, 0, 0 }, { 1, 0, 0 } };
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_corrections *c;
    double t, low, high, none[2], wide[2], far_low, again;

    ok(!tell(NULL, &usual, 1000, 0.01, &t, &low, &high) && t == 100 && low == 100 * exp(-0.01),
       "without corrections nothing changes");
    setup(&f);
    c = make(&f, &err);
    ok(!tell(c, &usual, 1000, 0.01, &t, &low, &high) && t == 100, "what was never run keeps its time");
    none[0] = log(t / low);
    none[1] = log(high / t);
    is_num(none[0], half_unknown(t2), 1e-6, "and is not known to 1 %%, whatever the model says");
    is_num(none[1], none[0], 1e-6, "up as well as down");
    tell(c, &usual, 1000, 0.4, &t, &low, &high);
    ok(log(t / low) >= 0.4 && log(t / low) < 0.43, "a model's wider interval stays");
    hrun_corrections_destroy(c);
    for (int i = 0; i < 4; i++)
        mr_run(f.m, 1000, &usual, 1.04 + 1e-6 * i);
    c = make(&f, &err);
    again = only(&f, 1000).factor;
    ok(tell(c, &usual, 1000, 0.01, &t, &low, &high), "with runs of it");
    is_num(t, 100 * again, 1e-9, "the time is corrected");
    ok(low < t && t < high && log(t / low) < none[0] / 1.2 && log(t / low) > 1.959964 * hypot(0.02, DAY),
       "and known better, but for the scatter of one run and what differs from day to day: %.4f", log(t / low));
    tell(c, &usual, 1000, 0.4, &t, &low, &high);
    wide[0] = log(t / low);
    ok(wide[0] < 0.2 && wide[0] > 1.959964 * 0.02, "runs tell more than the model: %.4f of 0.4", wide[0]);
    tell(c, &usual, 1000000, 0.4, &t, &far_low, &high);
    ok(log(t / far_low) > 0.4, "but not at sizes far from theirs, where less is known the farther they are: %.2f",
       log(t / far_low));
    t = low = 1e-4;
    high = 2e-4;
    corrections_tell(c, &alone, 1000, &t, &low, &high, NULL);
    ok(low == 0 && high > t2 * 1e-3 && high < (t2 + 0.2) * 1e-3, "a run of 0.1 ms scatters by 1 ms, which nothing tells "
       "better: %g .. %g", low, high);
    tell(c, &alone, 1000, 0.01, &t, &low, &high);
    is_num(log(t / low), half_unknown(t4), 1e-3, "what mixed runs were missed by is no matter of one sub-cluster");
    hrun_corrections_destroy(c);
    teardown(&f);
}

static void test_several(void)
{
    struct fixture f;
    struct hrun_correction once, often, between;

    setup(&f);
    mr_run(f.m, 1000, &usual, 1.04);
    once = only(&f, 1000);
    for (int i = 0; i < 4; i++)
        mr_run(f.m, 1000, &usual, 1.040001 + 1e-6 * i);
    often = only(&f, 1000);
    ok(often.factor > once.factor && often.factor < 1.04, "five runs count for more than one: %.4f", often.factor);
    ok(often.sd < once.sd && often.runs == 5, "and leave less unknown");
    for (int i = 0; i < 5; i++)
        mr_run(f.m, 2000, &usual, 0.96 + 1e-6 * i);
    between = only(&f, 1414);
    ok(fabs(between.factor - 1) < 0.01, "half way between +4 %% and -4 %% lies nothing: %.4f", between.factor);
    is_int(between.others, 10, "from ten runs");
    ok(only(&f, 2000).factor < 0.97, "at the other end the other correction: %.4f", only(&f, 2000).factor);
    teardown(&f);
}

/* The same with a matrix that is inverted by hand: 2 x 2. */
static void test_kriging(void)
{
    struct fixture f;
    double x1 = log(1000), x2 = log(3000), x = log(1700), l = log(2), v = 0, s = 0.02 * 0.02, r1, r2, a, b, k1, k2;
    double det, want, var;
    struct hrun_correction got;
    struct hrun_error err = { 0 };
    struct hrun_corrections *c;

    setup(&f);
    f.m->time = model_time;
    mr_run(f.m, 1000, &usual, 0.97);    /* below: never a glitch */
    mr_run(f.m, 3000, &usual, 0.94);
    c = make(&f, &err);
    v = pow(hrun_corrections_sd(c), 2);
    hrun_correction_at(c, 0, 1700, &got);
    r1 = log(0.97);
    r2 = log(0.94);
    a = v + s;                                    /* sigma_abs is nothing beside these times */
    b = v * exp(-(x2 - x1) / l);
    k1 = v * exp(-(x - x1) / l);
    k2 = v * exp(-(x2 - x) / l);
    det = a * a - b * b;
    want = (k1 * (a * r1 - b * r2) + k2 * (a * r2 - b * r1)) / det;
    var = v - (k1 * (a * k1 - b * k2) + k2 * (a * k2 - b * k1)) / det;
    is_num(log(got.factor), want, 1e-6, "two points, solved by hand");
    is_num(got.sd, sqrt(var), 1e-6, "with what remains unknown");
    is_num(hrun_correction_doubt(c, &got), exp(sqrt(var) - sqrt(v)), 1e-6,
           "and it counts as so much less doubtful than what was never run");
    hrun_corrections_destroy(c);
    teardown(&f);
}

static void test_glitch(void)
{
    struct fixture f;
    struct hrun_correction r;

    setup(&f);
    mr_run(f.m, 1000, &usual, 2.1);
    r = only(&f, 1000);
    ok(r.factor < 1.03, "one run of twice the time is hardly believed: %.4f", r.factor);
    mr_run(f.m, 1000, &usual, 1.01);
    r = only(&f, 1000);
    ok(r.factor > 1 && r.factor < 1.01, "and not at all beside one as predicted: %.4f", r.factor);
    teardown(&f);
    setup(&f);
    for (int i = 0; i < 4; i++)
        mr_run(f.m, 1000, &usual, 2.8 + 0.1 * i);
    r = only(&f, 1000);
    ok(r.factor > 2.6 && r.factor < 3.1, "four runs of three times the time are, as the form may be wrong: %.4f",
       r.factor);
    teardown(&f);
    setup(&f);
    for (int i = 0; i < 4; i++)
        mr_run(f.m, 1000, &usual, 1.4 + 1e-3 * i);
    r = only(&f, 1000);
    ok(r.factor > 1.3, "four that agree on 40 %% more are: %.4f", r.factor);
    teardown(&f);
}

static void test_whose(void)
{
    const struct hrun_config alone = { MR_SUBS, { 0, 3, 0 }, { 0, 2, 0 } };
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_joint_sub subs[MR_SUBS];
    struct hrun_corrections *c = NULL;
    struct hrun_known known;

    setup(&f);
    mr_run(f.m, 1000, &alone, 1.04);
    c = make(&f, &err);
    ok(c && hrun_corrections_count(c) == 1, "a run on one sub-cluster");
    is_int(hrun_corrections_find(c, &alone), 0, "corrects its configuration as well");
    hrun_corrections_destroy(c);

    /* The cluster has changed: its sub-clusters have other places now, and one is gone. */
    mr_run(f.m, 1000, &usual, 1.04);
    subs[0] = (struct hrun_joint_sub) { "x", "sig-other", NULL, 0, 0 };
    subs[1] = (struct hrun_joint_sub) { "y", mr_signature[1], f.m->log[1].v, f.m->log[1].n, 0 };
    ok(!hrun_corrections_create(&(struct hrun_correction_source){ &f.a.app, subs, f.models, 2, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_EQUAL }, &nnls, &c, &err),
       "in another cluster");
    is_int(hrun_corrections_count(c), 1, "only the run that all sub-clusters can be found for counts");
    hrun_corrections_known(c, 1000, &known, NULL);
    ok(known.config.pes[0] == 0 && known.config.pes[1] == 3 && known.config.procs[1] == 2,
       "at its sub-cluster's place there");
    hrun_corrections_destroy(c);

    /* Failed runs and those with other constants. */
    for (size_t i = 0; i < f.m->log[1].n; i++)
        f.m->log[1].v[i].ok = 0;
    for (size_t i = 0; i < f.m->log[0].n; i++)
        f.m->log[0].v[i].consts = (char *)"nb=7";
    c = make(&f, &err);
    is_int(hrun_corrections_count(c), 0, "failed runs and those of other constants do not");
    hrun_corrections_destroy(c);
    teardown(&f);

    /* What the models do not predict. */
    setup(&f);
    mr_run(f.m, 1000, &usual, 1.04);
    hrun_models_destroy(f.models[1]);
    f.models[1] = NULL;
    c = make(&f, &err);
    is_int(hrun_corrections_count(c), 0, "nor runs on a sub-cluster without a model");
    hrun_corrections_destroy(c);
    teardown(&f);
}

/* Two sub-clusters of one signature: the run tells by name which of them it was. */
static void test_twins(void)
{
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_joint_sub subs[2];
    struct hrun_corrections *c = NULL;
    struct hrun_sample s[2];
    struct hrun_known known;

    setup(&f);
    s[0] = (struct hrun_sample) { .N = 1000, .P = 3, .M = 1, .pes = 2, .time_s = 400, .wall_s = 400, .ok = 1,
                                  .mixed = 1, .config = (char *)"(1,1,2,1)", .cluster = (char *)"left,right",
                                  .signatures = (char *)"sig-a,sig-a" };
    s[1] = s[0];
    s[1].pes = 1;
    subs[0] = (struct hrun_joint_sub) { "right", "sig-a", s, 2, 0 };
    subs[1] = (struct hrun_joint_sub) { "left", "sig-a", s, 2, 0 };
    ok(!hrun_corrections_create(&(struct hrun_correction_source){ &f.a.app, subs, f.models, 2, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_EQUAL }, &nnls, &c, &err),
       "two alike");
    is_int(hrun_corrections_count(c), 1, "one run");
    hrun_corrections_known(c, 1000, &known, NULL);
    ok(known.config.pes[0] == 2 && known.config.pes[1] == 1, "of the one two PEs, of the other one");
    hrun_corrections_destroy(c);
    subs[0].name = "first";
    subs[1].name = "second";
    ok(!hrun_corrections_create(&(struct hrun_correction_source){ &f.a.app, subs, f.models, 2, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_EQUAL }, &nnls, &c, &err),
       "with other names");
    is_int(hrun_corrections_count(c), 0, "it cannot be told which was which");
    hrun_corrections_destroy(c);
    teardown(&f);
}

/* More sizes than are looked at, and texts that are no configuration. */
static void test_many(void)
{
    static const char *const odd[] = { "", "(", "(4,2", "(4,2,2)", "4,2,2,1", "(99999999999,1,2,1,0,0)", "(4,2,2,1,0,0",
                                       NULL };
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_corrections *c;
    struct hrun_correction r;

    setup(&f);
    for (int i = 0; i < 60; i++)
        mr_run(f.m, 1000 + 10 * i, &usual, 0.97);
    r = only(&f, 1300);
    ok(r.factor > 0.969 && r.factor < 0.975 && r.others + r.runs == 60, "60 sizes agree: %.4f", r.factor);
    for (int i = 0; odd[i]; i++)
        for (int l = 0; l < 2; l++)
            f.m->log[l].v[i].config = (char *)odd[i];
    c = make(&f, &err);
    hrun_correction_at(c, 0, 1300, &r);
    is_int(r.runs + r.others, 60 - 7, "records whose configuration cannot be read are left out");
    hrun_corrections_destroy(c);
    teardown(&f);
}

/* A job that runs every hour: thousands of runs that agree overflowed what was computed of them. */
static void test_thousands(void)
{
    struct fixture f;
    struct hrun_correction r;

    setup(&f);
    for (int i = 0; i < 2000; i++)
        mr_run(f.m, 1000, &usual, 0.96 + 1e-5 * i);
    r = only(&f, 1000);
    ok(r.runs == 2000 && fabs(r.factor - 0.97) < 0.001 && r.sd < 0.001, "2000 runs: %.4f", r.factor);
    teardown(&f);
}

/* Runs of a millisecond are assumed to scatter by as much; where repetitions show that they do not, these are
 * believed. */
static void test_short(void)
{
    struct fixture f;
    struct hrun_correction once, often;

    setup(&f);
    mr_run(f.m, 22, &usual, 0.9);
    once = only(&f, 22);
    ok(fabs(once.factor - 1) < 0.01, "one run of a millisecond tells next to nothing: %.4f", once.factor);
    for (int i = 0; i < 31; i++)
        mr_run(f.m, 22, &usual, 0.9 + 1e-5 * (i + 1));
    often = only(&f, 22);
    ok(fabs(often.factor - 0.9) < 0.01, "many that agree do: %.4f", often.factor);
    teardown(&f);
}

/* What is predicted of a configuration of 9 processes at N once all is corrected: over the models. */
static double over_models(const struct fixture *f, const struct hrun_corrections *c,
                          const struct hrun_config *config, int64_t N)
{
    struct hrun_predictor *models = hrun_predictor_create(&f->a.app, f->models, MR_SUBS, HRUN_FORM_NPT, N, NULL);
    struct hrun_predictor *common = hrun_predictor_create_net(
        &(struct hrun_predictor_source){ &f->a.app, f->models, MR_SUBS, HRUN_FORM_NPT, N, .common = c }, NULL);
    double model_s, t = 0, low, high;

    if (!models || !common || predictor_time_whole(models, config, &model_s, &low, &high, NULL, NULL, NULL))
        return 0;
    predictor_time_whole(common, config, &t, &low, &high, NULL, NULL, NULL);
    ok(low <= t && t <= high, "within its interval");
    corrections_tell(c, config, N, &t, &low, &high, NULL);
    ok(low < t && t < high, "once corrected, too");
    hrun_predictor_destroy(models);
    hrun_predictor_destroy(common);
    return t / model_s;
}

/* What models miss at a size in all configurations alike counts for those that were never run. */
static void test_common(void)
{
    const struct hrun_config other[2] = {
        { MR_SUBS, { 3, 2, 0 }, { 2, 1, 0 } }, { MR_SUBS, { 4, 1, 0 }, { 2, 1, 0 } },
    };
    const struct hrun_config never = { MR_SUBS, { 3, 1, 0 }, { 2, 1, 0 } };
    const struct hrun_config alone = { MR_SUBS, { 3, 0, 0 }, { 2, 0, 0 } };
    const struct hrun_config one_pe = { MR_SUBS, { 1, 0, 0 }, { 1, 0, 0 } };
    struct fixture f;
    struct hrun_error err = { 0 };
    struct hrun_corrections *c;
    double v;

    setup(&f);
    mr_run(f.m, 1000, &usual, 1.5);
    mr_run(f.m, 1000, &other[0], 1.5);
    mr_run(f.m, 1000, &usual, 1.51);
    mr_run(f.m, 1000, &other[0], 1.49);
    c = make(&f, &err);
    is_num(over_models(&f, c, &never, 1000), 1, 1e-12, "two configurations tell of themselves alone");
    hrun_corrections_destroy(c);
    mr_run(f.m, 1000, &other[1], 1.5);
    mr_run(f.m, 1000, &other[1], 1.52);
    mr_run(f.m, 1000, &alone, 1.04);
    mr_run(f.m, 1000, &one_pe, 1);
    mr_run(f.m, 1000, &one_pe, 1);
    c = make(&f, &err);
    v = over_models(&f, c, &never, 1000);
    ok(v > 1.4 && v < 1.5, "three that take half as long again do of all others: %.4f", v);
    v = over_models(&f, c, &usual, 1000);
    ok(v > 1.48 && v < 1.51, "and count no less themselves: %.4f", v);
    v = over_models(&f, c, &alone, 1000);
    ok(v > 1.02 && v < 1.04, "a run on one sub-cluster has a part of its own alone: %.4f", v);
    is_num(over_models(&f, c, &one_pe, 1000), 1, 0.01, "so has one on one PE");
    v = over_models(&f, c, &never, 1300);
    ok(v > 1.1 && v < 1.4, "at a N nearby a part of it: %.4f", v);
    is_num(over_models(&f, c, &never, 1000000), 1, 1e-4, "far away nothing");
    ok(hrun_corrections_sd(c) < 0.05, "what they differ by is little: %.4f", hrun_corrections_sd(c));
    hrun_corrections_destroy(c);
    teardown(&f);

    setup(&f);
    mr_run(f.m, 1000, &usual, 2);
    mr_run(f.m, 1000, &other[0], 0.99);
    mr_run(f.m, 1000, &other[1], 1.01);
    c = make(&f, &err);
    v = over_models(&f, c, &never, 1000);
    ok(fabs(v - 1) < 0.02, "one of three that was disturbed does not: %.4f", v);
    hrun_corrections_destroy(c);
    teardown(&f);
}

int main(void)
{
    test_one_run();
    test_telling();
    test_several();
    test_kriging();
    test_glitch();
    test_common();
    test_whose();
    test_twins();
    test_many();
    test_thousands();
    test_short();
    return tap_done();
}
