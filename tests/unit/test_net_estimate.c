/* test_net_estimate.c - from timed exchanges of messages to the parameters of the network
 *
 * The oracle is net.h, and paper 002's own solution of triplets.
 */
#include "net.h"

#include <float.h>

static const double M = 16384;

/* ---------------------------------------------------------------- paper 002 as printed */

/* Of records: a trip i -> j -> i of m bytes, of which those with i > j are the same; a fan. */
static double trip_of(const struct hrun_net_records *r, int i, int j, double m)
{
    for (size_t l = 0; l < r->n; l++)
        if (r->v[l].kind == HRUN_NET_TRIP && r->v[l].bytes == m &&
            ((r->v[l].i == i && r->v[l].j == j) || (r->v[l].i == j && r->v[l].j == i)))
            return r->v[l].time_s;
    return NAN;
}

static double fan_of(const struct hrun_net_records *r, int i, int j, int k, double m)
{
    for (size_t l = 0; l < r->n; l++)
        if (r->v[l].kind == HRUN_NET_FAN && r->v[l].bytes == m && r->v[l].i == i && r->v[l].j == j && r->v[l].k == k)
            return r->v[l].time_s;
    return NAN;
}

/* Section 3: C_i from each triplet of empty trips, t_i from each fan of i, both averaged, then 1 / beta_ij. By the
 * stages of net.h the replies of a fan are taken in one after the other as they come, of which the printed 4 C_i +
 * ... counts one more: receiving is `receives` C_i besides what the trip that ends last has: 2 as printed, 1 by
 * the stages. That trip is the one to k but where j's is longer by more than k's waits. */
static void paper_solution(const struct hrun_net_records *r, int receives, double *C, double *t, double *beta)
{
    int n = r->nhosts;

    for (int i = 0; i < n; i++) {
        int count = 0;

        C[i] = t[i] = 0;
        for (int j = 0; j < n; j++)
            for (int k = j + 1; k < n; k++) {
                if (i == j || i == k)
                    continue;
                C[i] += (trip_of(r, i, j, 0) + trip_of(r, i, k, 0) - trip_of(r, j, k, 0)) / 4;
                count++;
            }
        C[i] /= count;
        for (int j = 0; j < n; j++)
            for (int k = j + 1; k < n; k++) {
                double longest;

                if (i == j || i == k)
                    continue;
                longest = fmax(trip_of(r, i, j, M), trip_of(r, i, k, M));
                t[i] += (fan_of(r, i, j, k, M) - longest - receives * C[i]) / M / count;
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            beta[i * n + j] = i == j ? 0 : 1 / ((trip_of(r, i, j, M) - 2 * C[i] - 2 * C[j]) / M - t[i] - t[j]);
}

static double paper_off(const struct truth *u, const double *C, const double *t, const double *beta)
{
    double sum = 0;

    for (int i = 0; i < u->n; i++) {
        sum += pow(off(C[i], u->C[i]), 2) + pow(off(t[i], u->t[i]), 2);
        for (int j = 0; j < i; j++)
            sum += pow(off(beta[i * u->n + j], u->beta[i][j]), 2);
    }
    return sqrt(sum / (2 * u->n + u->n * (u->n - 1) / 2));
}

static double our_off(const struct truth *u, const struct hrun_net *net)
{
    double C[MOST_HOSTS], t[MOST_HOSTS], beta[MOST_HOSTS * MOST_HOSTS];

    for (int i = 0; i < u->n; i++) {
        C[i] = net->classes[i].C_s.v;
        t[i] = net->classes[i].t_s_per_byte.v;
        for (int j = 0; j < u->n; j++)
            beta[i * u->n + j] = net->pairs[i * u->n + j].beta_bytes_per_s.v;
    }
    return paper_off(u, C, t, beta);
}

/* A network of the paper's in which k's reply comes last of all fans i -> j, k with j < k, by more than it takes
 * to take in another, so that the paper's choice of the longest trip is the stages', too: later hosts are slower. */
static void ordered_network(struct truth *u, int n, uint64_t seed)
{
    paper_network(u, n, seed);
    for (int i = 0; i < n; i++) {
        u->C[i] = 20e-6 + 2e-6 * i;
        u->t[i] = 2e-9 + 2e-9 * i;
        for (int j = 0; j < n; j++)
            u->beta[i][j] = i == j ? 0 : 1e8;
    }
}

static void test_paper(void)
{
    double C[8], t[8], beta[64], theirs = 0, ours = 0;
    enum { SEEDS = 30 };
    struct hrun_net *net;
    struct truth u;
    struct log l;

    ordered_network(&u, 6, 1);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, EMPTY | THERE | FANS, M, 1);
    net = estimate(&l, NULL);
    paper_solution(&l.r, 1, C, t, beta);
    ok(net && paper_off(&u, C, t, beta) < 1e-9 && our_off(&u, net) < 1e-9,
       "noise-free data of paper 002's model: its triplets and our system give the truth");
    paper_solution(&l.r, 2, C, t, beta);
    printf("# with 4 C_i for the four messages of a fan, as printed, its mean error would be %.2g\n",
           paper_off(&u, C, t, beta));
    hrun_net_destroy(net);
    log_end(&l);
    for (int s = 0; s < SEEDS; s++) {
        ordered_network(&u, 6, 1);
        truth_state = 1000 + (uint64_t)s;
        log_begin(&l, &u, 0.01, 5);
        log_all(&l, &u, EMPTY | THERE | FANS, M, 1);
        net = estimate(&l, NULL);
        paper_solution(&l.r, 1, C, t, beta);
        theirs += paper_off(&u, C, t, beta) / SEEDS;
        ours += net ? our_off(&u, net) / SEEDS : 1;
        hrun_net_destroy(net);
        log_end(&l);
    }
    ok(ours < theirs, "with 1 %% of noise ours is nearer in the mean: off by %.2f %%, averaged triplets by %.2f %%",
       100 * ours, 100 * theirs);
}

/* ---------------------------------------------------------------- exact where there is no noise */

static void test_exact(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;

    for (int n = 4; n <= 8; n += 2) {
        paper_network(&u, n, 5);
        log_begin(&l, &u, 0, 1);
        log_all(&l, &u, EMPTY | THERE | FANS, M, 1);
        net = estimate(&l, NULL);
        ok(net && largest(compare(net, &u)) < 1e-9, "%d hosts, paper 002's experiments: C, t and beta are right", n);
        ok(net && isnan(net->pairs[1].L_s.half) && isnan(net->classes[0].out_bytes_per_s.half),
           "%d hosts: what they cannot tell has no interval", n);
        hrun_net_destroy(net);
        log_end(&l);

        wired_network(&u, n, 7);
        log_begin(&l, &u, 0, 1);
        log_all(&l, &u, ALL & ~TRUNKS, M, n > 4 ? 2 : 1);
        net = estimate(&l, NULL);
        ok(net && largest(compare(net, &u)) < 1e-9, "%d hosts behind ports: C, t, L, beta, out and in are right", n);
        hrun_net_destroy(net);
        log_end(&l);
    }
    wired_network(&u, 5, 8);
    u.back_share = 0.05;
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    net = estimate(&l, NULL);
    is_num(net ? net->back_share : 0, 0.05, 1e-6, "what comes back on the ports is found");
    hrun_net_destroy(net);
    log_end(&l);
}

/* A host whose port is faster than any other shows it only beside two that together are faster still; where these are
 * not equal, only in messages that take them equally long. */
static void test_hidden_ports(void)
{
    static const double rates[] = { 3.12e8, 2.5e8, 1.25e8, 1.1e8, 9e7 };
    const int n = sizeof rates / sizeof rates[0];
    struct hrun_net *net;
    struct truth u;
    struct log l;

    wired_network(&u, n, 17);
    u.nsegments = 2;
    memcpy(u.from, (double[]){ 0, 9000 }, 2 * sizeof(double));
    memcpy(u.a, (double[]){ 1, 2 }, 2 * sizeof(double));
    memcpy(u.b, (double[]){ 1.3, 1 }, 2 * sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u.out[i] = u.in[i] = rates[i];
            u.beta[i][j] = i == j ? 0 : fmin(rates[i], rates[j]);
        }
    for (int balanced = 0; balanced < 2; balanced++) {
        log_begin(&l, &u, 0, 1);
        log_all(&l, &u, balanced ? ALL | BALANCED : ALL & ~TRUNKS, M, 1);
        log_sweep(&l, &u, 0, 1);
        log_sweep(&l, &u, 2, 3);
        net = estimate(&l, NULL);
        is_num(net ? net->classes[0].out_bytes_per_s.v / 3.12e8 : 0, balanced, 1e-3, "a fast port %s",
               balanced ? "shows in messages that take equally long" : "hides behind the slower host's");
        if (balanced)
            ok(net && off(net->classes[0].in_bytes_per_s.v, 3.12e8) < 1e-3 && largest(compare(net, &u)) < 1e-2,
               "and so do all others, both ways");
        hrun_net_destroy(net);
        log_end(&l);
    }
}

/* What shares a port gets the more the shorter its way is; the ports fit nearly as well where all get the same. */
static void test_bias(void)
{
    static const double rates[] = { 1.25e8, 2.5e8, 9e7, 3.12e8, 1.1e8, 2e8, 1.25e8, 7.5e7 };
    const int n = sizeof rates / sizeof rates[0];
    struct hrun_net *net;
    struct truth u;
    struct log l;

    wired_network(&u, n, 19);
    for (int i = 0; i < n; i++)
        u.out[i] = u.in[i] = rates[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u.beta[i][j] = i == j ? 0 : fmin(rates[i], rates[j]);
    for (int biased = 0; biased < 2; biased++) {
        u.bias = biased ? 8775 : 0;
        log_begin(&l, &u, 0, 1);
        log_all(&l, &u, ALL | BALANCED, M, 2);
        net = estimate(&l, NULL);
        is_num(net ? net->bias_bytes : -1, u.bias, 0.02 * u.bias, "%s", biased ? "the bias of shorter ways is found"
                                                                             : "where there is none, it is not");
        ok(net && largest(compare(net, &u)) < 2e-3, "and the ports are right");
        hrun_net_destroy(net);
        log_end(&l);
    }
}

/* Two hosts alone: fans need three. */
static void test_two_hosts(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;

    wired_network(&u, 2, 9);
    u.out[0] = u.out[1] = u.in[0] = u.in[1] = 0;
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    net = estimate(&l, NULL);
    ok(net && largest(compare(net, &u)) < 1e-9, "two hosts: calls tell C and t from L and beta");
    hrun_net_destroy(net);
    log_end(&l);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, EMPTY | THERE | BACK, M, 1);
    net = estimate(&l, NULL);
    is_num(net ? hrun_net_p2p(net, 0, 0, 1, 0, M) + hrun_net_p2p(net, 1, 0, 0, 0, 0) : 0,
           truth_one_way(&u, 0, 1, M) + truth_one_way(&u, 1, 0, 0), 1e-9, "without calls their sum is right");
    ok(net && isnan(net->classes[0].C_s.half), "and C is not told");
    hrun_net_destroy(net);
    log_end(&l);
}

/* ---------------------------------------------------------------- noise */

static int covers(struct hrun_net_value v, double want)
{
    return fabs(v.v - want) <= v.half;
}

static void test_noise(void)
{
    enum { SEEDS = 25, N = 5 };
    struct offs sum = { 0 };
    int in = 0, all = 0;

    for (int s = 0; s < SEEDS; s++) {
        struct truth u;
        struct log l;
        struct hrun_net *net;
        struct offs o;

        wired_network(&u, N, 11);
        truth_state = 77 + (uint64_t)s;
        log_begin(&l, &u, 0.01, 10);
        log_all(&l, &u, ALL & ~TRUNKS, M, 1);
        net = estimate(&l, NULL);
        if (!net)
            continue;
        o = compare(net, &u);
        sum.C += o.C / SEEDS;
        sum.t += o.t / SEEDS;
        sum.L += o.L / SEEDS;
        sum.beta += o.beta / SEEDS;
        sum.out += o.out / SEEDS;
        sum.in += o.in / SEEDS;
        for (int i = 0; i < N; i++) {
            const struct hrun_net_class *c = &net->classes[i];

            in += covers(c->C_s, u.C[i]) + covers(c->t_s_per_byte, u.t[i]) + covers(c->out_bytes_per_s, u.out[i]) +
                  covers(c->in_bytes_per_s, u.in[i]);
            all += 4;
            for (int j = 0; j < N; j++)
                if (i != j) {
                    in += covers(net->pairs[i * N + j].L_s, u.L[i][j]) +
                          covers(net->pairs[i * N + j].beta_bytes_per_s, u.beta[i][j]);
                    all += 2;
                }
        }
        hrun_net_destroy(net);
        log_end(&l);
    }
    printf("# 1 %% of noise, 10 repetitions: the worst of each kind is off by %.2f (C), %.2f (t), %.2f (L), "
           "%.2f (beta), %.2f (out), %.2f %% (in) in the mean\n", 100 * sum.C, 100 * sum.t, 100 * sum.L,
           100 * sum.beta, 100 * sum.out, 100 * sum.in);
    ok(largest(sum) < 0.05, "with 1 %% of noise every parameter stays within 5 %%");
    ok(all && in >= 0.90 * all && in <= 0.99 * all, "95 %% intervals hold the truth in 90 to 99 %%: %.1f %% of %d",
       100.0 * in / all, all);
}

/* ---------------------------------------------------------------- order */

static int same(const struct hrun_net *a, const struct hrun_net *b)
{
    int good = a && b && a->nclasses == b->nclasses && a->ngroups == b->ngroups && a->nsegments == b->nsegments;

    for (int i = 0; good && i < a->nclasses; i++)
        good = off(a->classes[i].C_s.v, b->classes[i].C_s.v) < 1e-6 &&
               off(a->classes[i].out_bytes_per_s.v, b->classes[i].out_bytes_per_s.v) < 1e-6;
    for (int i = 0; good && i < a->nclasses * a->nclasses; i++)
        good = off(a->pairs[i].beta_bytes_per_s.v, b->pairs[i].beta_bytes_per_s.v) < 1e-6;
    return good;
}

static void shuffle(struct hrun_net_records *r)
{
    for (size_t i = r->n - 1; i > 0; i--) {
        size_t j = (size_t)(truth_uniform() * (double)(i + 1));
        struct hrun_net_record v = r->v[i];

        r->v[i] = r->v[j];
        r->v[j] = v;
    }
}

static void test_order(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *a, *b;

    wired_network(&u, 6, 3);
    log_begin(&l, &u, 0.01, 10);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    a = estimate(&l, NULL);
    shuffle(&l.r);
    b = estimate(&l, NULL);
    ok(same(a, b), "the order of the records does not matter");
    hrun_net_destroy(a);
    hrun_net_destroy(b);
    log_end(&l);
}

/* ---------------------------------------------------------------- classes, groups, trunks */

static void test_sharing(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;
    int kept = 0;
    enum { SEEDS = 20 };

    two_switches(&u, 8);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL, M, 1);
    net = estimate(&l, NULL);
    is_int(net ? net->nclasses : 0, 4, "two kinds behind two switches: four classes");
    is_int(net ? net->ngroups : 0, 2, "two groups");
    ok(net && largest(compare(net, &u)) < 1e-6, "whose parameters are right");
    is_num(net ? net->trunks[1].v / u.trunk : 0, 1, 1e-6, "and so is the trunk");
    hrun_net_destroy(net);
    log_end(&l);

    u.C[2] *= 1.5;             /* unlike the others of its kind */
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL, M, 1);
    net = estimate(&l, NULL);
    ok(net && net->class_of[2] != net->class_of[0] && net->class_of[1] == net->class_of[3] &&
       largest(compare(net, &u)) < 1e-6, "a host unlike the others of its kind leaves their class");
    hrun_net_destroy(net);
    log_end(&l);

    two_switches(&u, 6);
    for (int s = 0; s < SEEDS; s++) {
        truth_state = 500 + (uint64_t)s;
        log_begin(&l, &u, 0.01, 10);
        log_all(&l, &u, ALL, M, 1);
        net = estimate(&l, NULL);
        kept += net ? 4 - abs(net->nclasses - 4) : 0;
        hrun_net_destroy(net);
        log_end(&l);
    }
    ok(kept >= 4 * SEEDS * 8 / 10, "noise alone rarely parts what is alike: %d of %d", kept, 4 * SEEDS);
}

/* Beyond what is measured of each pair: classes carry them. */
static void test_many(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;
    size_t kept = 0;

    two_switches(&u, 40);
    log_begin(&l, &u, 0, 1);
    log_trips(&l, &u, ALL & ~TRUNKS, M);
    log_fans(&l, &u, ALL, M, 13);
    for (size_t i = 0; i < l.r.n; i++)     /* a quarter of the pairs */
        if (l.r.v[i].kind != HRUN_NET_TRIP || (l.r.v[i].i + l.r.v[i].j) % 4 == 1 || abs(l.r.v[i].i - l.r.v[i].j) == 2)
            l.r.v[kept++] = l.r.v[i];
    l.r.n = kept;
    net = estimate(&l, NULL);
    ok(net && net->nclasses == 4 && largest(compare(net, &u)) < 1e-6, "40 hosts, few pairs: classes carry the rest");
    hrun_net_destroy(net);
    log_end(&l);
}

/* ---------------------------------------------------------------- segments, rendezvous */

static void test_segments(void)
{
    double worst = 0;
    struct truth u;
    struct log l;
    struct hrun_net *net;

    wired_network(&u, 5, 21);
    u.nsegments = 3;
    memcpy(u.from, (double[]){ 0, 1500, 60000 }, 3 * sizeof(double));
    memcpy(u.a, (double[]){ 1, 2, 4 }, 3 * sizeof(double));
    memcpy(u.b, (double[]){ 1.6, 1, 1.2 }, 3 * sizeof(double));
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    log_sweep(&l, &u, 0, 1);
    log_sweep(&l, &u, 2, 3);
    net = estimate(&l, NULL);
    is_int(net ? net->nsegments : 0, 3, "three segments");
    ok(net && net->nsegments == 3 && off(net->segments[1].from_bytes, 1500) < 0.2 &&
       off(net->segments[2].from_bytes, 60000) < 0.2, "their sizes, as far as the sizes of trips tell");
    ok(net && net->nsegments == 3 && off(net->segments[1].a, 2) < 1e-2 && off(net->segments[2].a, 4) < 1e-2 &&
       off(net->segments[0].b, 1.6) < 1e-2 && off(net->segments[2].b, 1.2) < 1e-2, "their factors");
    for (double m = 64; net && m < 1 << 20; m *= 2)
        worst = fmax(worst, off(hrun_net_p2p(net, 3, 0, 4, 0, m), truth_one_way(&u, 3, 4, m)));
    ok(net && worst < 0.01, "a pair that was not swept: off by %.2g %% at most", 100 * worst);
    hrun_net_destroy(net);
    log_add(&l, HRUN_NET_SYNC, 0, 1, -1, 0, 50000, 0, 1e-6);
    log_add(&l, HRUN_NET_SYNC, 0, 1, -1, 0, 59999, 0, 1e-6);
    log_add(&l, HRUN_NET_SYNC, 0, 1, -1, 1, 60000, 0, 1e-6);
    log_add(&l, HRUN_NET_SYNC, 2, 1, -1, 1, 70000, 0, 1e-6);
    net = estimate(&l, NULL);
    is_num(net ? net->sync_bytes : 0, 60000, 0, "rendezvous begins where sends begin to wait");
    is_int(net ? net->wire_waits : 1, 0, "late receives take nothing: bytes do not wait");
    ok(net && net->nsegments == 3 && net->segments[2].from_bytes == 60000, "and so does the segment about there");
    hrun_net_destroy(net);
    for (size_t i = 0; i < l.r.n; i++)
        if (l.r.v[i].kind == HRUN_NET_SYNC)
            l.r.v[i].time_s = l.r.v[i].max_s = truth_one_way(&u, 0, 1, l.r.v[i].bytes);
    net = estimate(&l, NULL);
    is_int(net ? net->wire_waits : 0, 1, "late receives take as long as any: bytes wait");
    is_int(net ? net->exchange_waits : 1, 0, "of exchanges nothing was measured");
    hrun_net_destroy(net);
    for (int waits = 0; waits < 2; waits++) {
        double one = truth_one_way(&u, 0, 1, 1e5), other = truth_one_way(&u, 1, 0, 1e5);

        for (int k = 0; k <= waits; k++)
            log_add(&l, HRUN_NET_BOTH, 0, 1, -1, 0, 1e5, 1e5, waits ? one + other : fmax(one, other));
        net = estimate(&l, NULL);
        is_int(net ? net->exchange_waits : !waits, waits, "%s", waits ? "two exchanges of three wait" :
               "an exchange takes as long as one way: both at once");
        is_num(net ? net->back_share : -1, 0, 0, "and tell nothing of what comes back");
        hrun_net_destroy(net);
    }
    log_end(&l);
}

/* Records of real hosts that others used meanwhile: single sizes of the sweep are off by a factor 2. */
static void test_busy(void)
{
    const char *data = getenv("HRUN_TEST_DATA");
    struct hrun_net_records r = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;
    static char text[1 << 16];
    char *path = hrun_strf("%s/net/busy.records", data ? data : "tests/data");
    FILE *f = fopen(path, "r");
    int good = 1;

    if (f)
        text[fread(text, 1, sizeof text - 1, f)] = 0;
    ok(f && !hrun_net_records_parse(text, &r, &err) && !hrun_net_estimate(&r, &net, NULL, &err), "%s %s", path,
       err.text);
    for (int i = 0; net && i < net->nsegments; i++)
        good = good && net->segments[i].b >= 0.5 && net->segments[i].b < 3 && net->segments[i].a > 0.01;
    ok(net && good, "what single sizes are off by makes no protocols");
    if (f)
        fclose(f);
    free(path);
    hrun_net_destroy(net);
    hrun_net_records_release(&r);
}

/* ---------------------------------------------------------------- local messages, one host */

static void test_local(void)
{
    struct truth u = { .n = 1 };
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;
    struct log l;

    log_begin(&l, &u, 0, 1);
    ok(hrun_net_estimate(&l.r, &net, NULL, &err) && err.code == HRUN_ENODATA,
       "one host, nothing measured: an error");
    has_str(err.text, "no message between hosts or inside a host", "in clear words");
    l.r.nkinds[0] = 2;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (double m = 0; m <= 65536; m = m ? 4 * m : 256)
                log_add(&l, HRUN_NET_LOCAL, 0, a, b, 0, m, 0, 2 * (1e-6 * (1 + a + b)) + m * 1e-10 * (1 + 2 * a + b));
    log_add(&l, HRUN_NET_LOCAL, 0, 0, 0, 4, 65536, 0, 2e-6 + 65536 * 4 / 2e10);
    net = estimate(&l, NULL);
    ok(net && net->nclasses == 1 && net->classes[0].nkinds == 2, "one host of two kinds of PEs");
    for (int a = 0; net && a < 2; a++)
        for (int b = 0; b < 2; b++)
            ok(off(net->classes[0].local_fixed_s[2 * a + b].v, 1e-6 * (1 + a + b)) < 1e-9 &&
               off(net->classes[0].local_s_per_byte[2 * a + b].v, 1e-10 * (1 + 2 * a + b)) < 1e-9,
               "messages from kind %d to kind %d", a, b);
    is_num(net ? net->classes[0].local_bytes_per_s / 2e10 : 0, 1, 1e-9, "and what they share");
    hrun_net_destroy(net);
    log_end(&l);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_exact();
    test_hidden_ports();
    test_bias();
    test_two_hosts();
    test_paper();
    test_noise();
    test_order();
    test_sharing();
    test_many();
    test_segments();
    test_busy();
    test_local();
    return tap_done();
}
