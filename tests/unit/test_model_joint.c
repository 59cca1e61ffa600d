/* Models of all sub-clusters together: who limits a mixed run, what it changes, what small sub-clusters take over. */
#include "model.h"

static const int64_t sizes[] = { 400, 800, 1600, 2400, 3200 };
enum { NSIZES = sizeof sizes / sizeof *sizes };
static const double speed[MR_SUBS] = { 2, 1, 0.5 };

/* Messages cost P^2, which is no term of HPL: runs at small P cannot tell what large P will take. */
static double contended(int sub, double N, int P, int M)
{
    return 1e-9 * N * N * N / P / speed[sub] * M + (P > M ? 1e-9 * N * N * P * P + 1e-3 * P : 0) + 0.01;
}

/* Only what HPL's terms can say. */
static double plain(int sub, double N, int P, int M)
{
    return 1e-9 * N * N * N / P / speed[sub] * M + (P > M ? 2e-8 * N * N + 1e-3 * P : 0) + 0.01;
}

static struct mr *fresh(double (*time)(int, double, int, int))
{
    struct mr *m = calloc(1, sizeof *m);

    m->time = time;
    return m;
}

static void destroy(struct hrun_models **m)
{
    for (int i = 0; i < MR_SUBS; i++) {
        hrun_models_destroy(m[i]);
        m[i] = NULL;
    }
}

static int fit(const struct ma *a, const struct mr *m, struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_joint_sub subs[MR_SUBS];

    mr_subs(m, subs);
    memset(out, 0, MR_SUBS * sizeof *out);
    return hrun_model_fit_joint(&a->app, subs, MR_SUBS, &nnls, out, NULL, err);
}

static const struct hrun_fit_record *npt(const struct hrun_models *m, int M)
{
    for (int i = 0; m && i < m->n; i++)
        if (!strcmp(m->v[i].family, "npt") && m->v[i].M == M)
            return &m->v[i];
    return NULL;
}

/* How many numbers of two models differ. */
static int differences(const struct hrun_models *a, const struct hrun_models *b)
{
    int d = a->n != b->n;

    for (int i = 0; i < a->n && i < b->n; i++) {
        size_t p = (size_t)a->v[i].nterms;

        d += strcmp(a->v[i].family, b->v[i].family) || strcmp(a->v[i].note, b->v[i].note) ||
             memcmp(a->v[i].k, b->v[i].k, p * sizeof(double)) ||
             memcmp(a->v[i].cov, b->v[i].cov, p * p * sizeof(double)) || a->v[i].s2 != b->v[i].s2 ||
             a->v[i].npoints != b->v[i].npoints || a->v[i].pmax != b->v[i].pmax;
    }
    return d;
}

/* One number of processes per PE of one sub-cluster: nothing is shared. */
static void test_alone(const struct ma *a)
{
    for (int i = 0; i < MR_SUBS; i++) {
        struct mr *m = fresh(contended);
        struct hrun_models *joint[MR_SUBS], *own;
        struct hrun_error err = { 0 };

        mr_alone(m, i, 4, 1, sizes, NSIZES);
        ok(!fit(a, m, joint, &err), "a fit without mixed runs: %s", err.text);
        ok(!hrun_model_fit(&a->app, m->log[i].v, m->log[i].n, &nnls, &own, NULL, &err), "and alone");
        is_int(differences(joint[i], own), 0, "gives the same models of %s to the last bit", mr_name[i]);
        is_str(joint[i]->signature, mr_signature[i], "with its signature");
        is_str(joint[i]->subcluster, mr_name[i], "and its name");
        hrun_models_destroy(own);
        destroy(joint);
        free(m);
    }
}

/* Runs that cannot tell by themselves: three of the quickest sub-cluster, two processes per PE, at one P. What a program
 * does is known from the others, so they need not tell more than how quick it is. */
static void test_common(const struct ma *a)
{
    static const int64_t few[] = { 400, 1600, 3200 };
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(plain);
    double worst = 0;

    mr_alone(r, 0, 2, 2, few, 3);
    mr_alone(r, 1, 4, 2, sizes, NSIZES);
    mr_alone(r, 2, 4, 2, sizes, NSIZES);
    ok(!fit(a, r, m, &err), "three sizes on two PEs, and two other sub-clusters: %s", err.text);
    for (int P = 4; P <= 8; P += 2)
        for (int k = 0; k < NSIZES; k++)
            worst = fmax(worst, fabs(mr_predict(&a->app, m, 0, sizes[k], P, 2, NULL, NULL) /
                                     plain(0, (double)sizes[k], P, 2) - 1));
    ok(worst < 0.05, "tell times at all sizes and four times the PEs to %.1f %%", 100 * worst);
    destroy(m);
    free(r);
}

/* Messages between a and c take three times as long as inside. */
static double thin(int sub, double N, int P, int M)
{
    double work = 1e-9 * N * N * N / P / speed[sub] * M;

    return work + (P > M ? 3 : 1) * 0.1 + (P > 8 ? 0.4 : 0);
}

static void test_span(const struct ma *a)
{
    const struct hrun_config mixed[2] = {
        { MR_SUBS, { 4, 0, 4 }, { 1, 0, 1 } }, { MR_SUBS, { 2, 0, 2 }, { 1, 0, 1 } },
    };
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(thin);

    mr_alone(r, 0, 4, 1, sizes, NSIZES);
    mr_alone(r, 2, 4, 1, sizes, NSIZES);
    for (int k = 0; k < NSIZES; k++)
        for (int c = 0; c < 2; c++)
            mr_run(r, sizes[k], &mixed[c], 2);
    ok(!fit(a, r, m, &err), "a thin link between two sub-clusters: %s", err.text);
    is_num(mr_predict(&a->app, m, 0, 3200, 3, 1, NULL, NULL) / thin(0, 3200, 3, 1), 1, 0.05,
           "leaves the times of the quick one alone as they were");
    destroy(m);
    free(r);
}

/* A sub-cluster that was never run alone, nor limited a run, is no slower than the quickest run it took part in. */
static void test_never_limits(const struct ma *a)
{
    const struct hrun_config mixed = { MR_SUBS, { 2, 0, 4 }, { 1, 0, 1 } };
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(plain);
    int slower = 0, quicker = 0;

    mr_alone(r, 1, 4, 1, sizes, NSIZES);
    mr_alone(r, 2, 4, 1, sizes, NSIZES);
    for (int k = 0; k < NSIZES; k++)
        mr_run(r, sizes[k], &mixed, 1);
    ok(!fit(a, r, m, &err) && m[0], "a sub-cluster has a model though it was never run alone: %s", err.text);
    for (int k = 0; k < NSIZES; k++) {
        double t = mr_predict(&a->app, m, 0, sizes[k], 6, 1, NULL, NULL);

        slower += t > 1.02 * plain(2, (double)sizes[k], 6, 1);
        quicker += t < plain(0, (double)sizes[k], 6, 1);
    }
    is_int(slower, 0, "by which it is no slower than what limited the runs");
    is_int(quicker, 0, "nor quicker than it is");
    destroy(m);
    free(r);
}

/* Whatever the times of mixed runs are, they are fitted: with nothing but noise for a law, and sub-clusters that only
 * took part in mixed runs, speeds must not run away. */
static void test_any_times(const struct ma *a)
{
    enum { TRIALS = 150, RUNS = 40 };
    unsigned seed = 4711;
    char why[sizeof ((struct hrun_error *)0)->text] = "";
    int bad = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        struct hrun_models *m[MR_SUBS];
        struct hrun_error err = { 0 };
        struct mr *r = fresh(plain);
        double spread = 1 + 2 * (trial % 5);

        for (int i = trial % MR_SUBS; i < MR_SUBS; i++)
            mr_alone(r, i, 1 + trial % 4, 1 + trial % 2, sizes, 2);
        for (int k = 0; k < RUNS; k++) {
            struct hrun_config any = { .nsubs = MR_SUBS };
            int64_t N;

            for (int i = 0; i < MR_SUBS; i++) {
                any.pes[i] = i == 2 ? 1 + rand_r(&seed) % 12 : rand_r(&seed) % (trial % 7 ? 3 : 12);
                any.procs[i] = any.pes[i] ? 1 + rand_r(&seed) % 2 : 0;
            }
            N = sizes[rand_r(&seed) % NSIZES];
            mr_run(r, N, &any, exp(spread * (rand_r(&seed) / (double)RAND_MAX - 0.5)));
        }
        bad += fit(a, r, m, &err) || !m[2];
        if (err.code)
            strcpy(why, err.text);
        destroy(m);
        free(r);
    }
    is_int(bad, 0, "runs of random times are fitted, however they contradict each other %s", why);
}

/* Mean relative error at P = 12 to 20 of the sub-clusters that limit there. */
static double error_at_large(const struct ma *a, const struct mr *m, struct hrun_models **models)
{
    double sum = 0;
    int n = 0;

    for (int P = 12; P <= 20; P += 2)
        for (int k = 0; k < NSIZES; k++) {
            double t = mr_predict(&a->app, models, 2, sizes[k], P, 1, NULL, NULL);

            sum += fabs(t / m->time(2, (double)sizes[k], P, 1) - 1);
            n++;
        }
    return sum / n;
}

static void test_mixed(const struct ma *a)
{
    const struct hrun_config mixed[3] = {
        { MR_SUBS, { 4, 4, 4 }, { 2, 2, 1 } },
        { MR_SUBS, { 4, 4, 1 }, { 2, 1, 1 } },
        { MR_SUBS, { 4, 2, 2 }, { 1, 2, 1 } },
    };
    struct mr *m = fresh(contended);
    struct hrun_models *before[MR_SUBS], *after[MR_SUBS];
    struct hrun_error err = { 0 };
    double alone, joint;

    for (int i = 0; i < MR_SUBS; i++)
        mr_alone(m, i, 4, i == 2 ? 1 : 2, sizes, NSIZES);
    ok(!fit(a, m, before, &err), "models of runs with P <= 8");
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < NSIZES; k++)
            mr_run(m, sizes[k], &mixed[c], 1);
    ok(!fit(a, m, after, &err), "and with 15 mixed runs: %s", err.text);
    alone = error_at_large(a, m, before);
    joint = error_at_large(a, m, after);
    ok(alone > 0.1, "without mixed runs times at large P are wrong by %.1f %%", 100 * alone);
    ok(joint < alone / 2, "with them by %.1f %%", 100 * joint);
    ok(npt(after[2], 1) && npt(after[2], 1)->pmax > 8, "the slow one, which limits, knows P up to %d now",
       npt(after[2], 1) ? npt(after[2], 1)->pmax : 0);
    is_int(npt(after[0], 2)->pmax, 8, "the fast one, which waits, does not");
    is_int(npt(after[0], 1)->npoints, npt(before[0], 1)->npoints, "and has no more rows than before");
    destroy(before);
    destroy(after);
    free(m);
}

/* The time of a run is one that no sub-cluster exceeds. */
static void test_bound(const struct ma *a)
{
    const struct hrun_config mixed = { MR_SUBS, { 4, 1, 4 }, { 1, 1, 1 } };
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(plain);
    double before, after;

    mr_alone(r, 0, 4, 1, sizes, NSIZES);
    mr_alone(r, 2, 4, 1, sizes, NSIZES);
    ok(!fit(a, r, m, &err), "models");
    before = mr_predict(&a->app, m, 2, 3200, 9, 1, NULL, NULL);
    destroy(m);
    for (int k = 0; k < NSIZES; k++)
        for (int times = 0; times < 8; times++)
            mr_run(r, sizes[k], &mixed, 0.8);
    r->log[1].n = 0;
    ok(!fit(a, r, m, &err), "runs of which one part is not known, in less time than another is expected to take");
    after = mr_predict(&a->app, m, 2, 3200, 9, 1, NULL, NULL);
    ok(after < 0.95 * before, "bring its prediction down from %.2f to %.2f s", before, after);
    destroy(m);
    free(r);
}

static void test_one_pe(const struct ma *a)
{
    const struct hrun_config mixed = { MR_SUBS, { 4, 1, 0 }, { 1, 2, 0 } };
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(plain);
    double t, low, high, worst = 0, width, plain_low, plain_high;

    mr_alone(r, 0, 4, 2, sizes, NSIZES);
    mr_alone(r, 1, 1, 2, sizes, NSIZES);
    ok(!fit(a, r, m, &err), "a sub-cluster of one PE beside one of four: %s", err.text);
    for (int P = 3; P <= 6; P++)
        for (int k = 0; k < NSIZES; k++)
            for (int M = 1; M <= 2; M++) {
                t = mr_predict(&a->app, m, 1, sizes[k], P, M, NULL, NULL);
                /* but for what the fit expects runs to scatter by, 1 ms, and half as much */
                worst = fmax(worst, (fabs(t - plain(1, (double)sizes[k], P, M)) - 1.5e-3) /
                                    plain(1, (double)sizes[k], P, M));
            }
    ok(worst < 0.05, "has a time beyond its own P, right to %.1f %%", 100 * worst);
    has_str(npt(m[1], 2) ? npt(m[1], 2)->note : "", "shared with others", "its record says where from");
    is_int(npt(m[1], 2) ? npt(m[1], 2)->npoints : -1, 0, "no run of its own is in it");
    t = mr_predict(&a->app, m, 1, 1600, 6, 2, &low, &high);
    width = (high - low) / t;
    t = mr_predict(&a->app, m, 0, 1600, 6, 2, &plain_low, &plain_high);
    ok(width > 2 * (plain_high - plain_low) / t, "its interval is wider: %.0f %% and %.0f %% of the time", 100 * width,
       100 * (plain_high - plain_low) / t);
    destroy(m);
    for (int k = 0; k < NSIZES; k++)
        mr_run(r, sizes[k], &mixed, 1.3);
    ok(!fit(a, r, m, &err), "mixed runs that it limits");
    t = mr_predict(&a->app, m, 1, 3200, 6, 2, NULL, NULL) / plain(1, 3200, 6, 2);
    ok(t > 1.2 && t < 1.3, "of 1.3 times the time count for more than what is shared: %.3f times", t);
    is_int(npt(m[1], 2)->npoints, NSIZES, "as its only measurements");
    destroy(m);
    free(r);
}

/* M that nobody has measured at several P: what is not divided work is taken from another M. */
static void test_highest_m(void)
{
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct mr *r = fresh(plain);
    struct ma a;
    double worst = 0;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 4);
    mr_alone(r, 0, 1, 4, sizes, NSIZES);
    mr_alone(r, 1, 4, 1, sizes, NSIZES);
    ok(!fit(&a, r, m, &err), "four processes per PE were measured on one PE only: %s", err.text);
    for (int P = 5; P <= 8; P++)
        for (int k = 0; k < NSIZES; k++)
            worst = fmax(worst, fabs(mr_predict(&a.app, m, 0, sizes[k], P, 4, NULL, NULL) /
                                     plain(0, (double)sizes[k], P, 4) - 1));
    ok(worst < 0.15, "beside others they have a time, right to %.1f %%", 100 * worst);
    has_str(npt(m[0], 4) ? npt(m[0], 4)->note : "", "shared with others", "with the note");
    ok(npt(m[1], 1) && !npt(m[1], 4), "where their speed was never seen they have none");
    destroy(m);
    ma_release(&a);
    free(r);
}

static void test_nothing(const struct ma *a)
{
    struct hrun_models *m[MR_SUBS];
    struct hrun_error err = { 0 };
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_joint_sub subs[MR_SUBS];
    struct mr *r = fresh(plain);

    ok(fit(a, r, m, &err) && err.code == HRUN_ENODATA, "no measurements: %s", err.text);
    mr_alone(r, 1, 4, 1, sizes, NSIZES);
    mr_subs(r, subs);
    ok(!hrun_model_fit_joint(&a->app, subs, MR_SUBS, &nnls, m, &skipped, &err), "measurements of one of three");
    ok(!m[0] && m[1] && !m[2], "give models of that one");
    has_str(skipped.data, "a: no measurement of demo can be used", "the others are told");
    destroy(m);
    r->log[1].v[0].time_s = -1;
    ok(fit(a, r, m, &err) && err.code == HRUN_ENONFINITE, "a time that is none: %s", err.text);
    hrun_buf_release(&skipped);
    free(r);
}

int main(void)
{
    struct ma a;

    ma_init(&a, hpl_np, hpl_nt, hpl_pt, 2);
    test_alone(&a);
    test_common(&a);
    test_span(&a);
    test_never_limits(&a);
    test_any_times(&a);
    test_mixed(&a);
    test_bound(&a);
    test_one_pe(&a);
    test_highest_m();
    test_nothing(&a);
    ma_release(&a);
    return tap_done();
}
