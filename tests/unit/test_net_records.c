/* test_net_records.c - records of the network benchmark: as text, those that contradict others, what should not be and
 * is told, and the thresholds of scatter and gather
 */
#include "net.h"

static const double M = 16384;

/* ---------------------------------------------------------------- what should not be, and is */

static size_t find(const struct hrun_net_records *r, enum hrun_net_kind kind, int i, int j, double m)
{
    size_t l = 0;

    while (r->v[l].kind != kind || r->v[l].i != i || r->v[l].j != j || r->v[l].bytes != m)
        l++;
    return l;
}

static int has_note(const struct hrun_net_quality *q, const char *what)
{
    for (size_t i = 0; i < q->notes.n; i++)
        if (strstr(q->notes.v[i], what))
            return 1;
    return 0;
}

static void test_odd(void)
{
    struct hrun_net_quality q = { 0 };
    struct truth u;
    struct log l;
    struct hrun_net *net;

    paper_network(&u, 6, 31);
    u.beta[1][4] /= 1000;
    u.beta[4][1] /= 1000;
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    net = estimate(&l, &q);
    ok(net && largest(compare(net, &u)) < 1e-6, "a link 1,000 times slower: all are right");
    ok(has_note(&q, "from h1 to h4 is 1") && has_note(&q, "times slower than the median"), "and it is told");
    hrun_net_quality_release(&q);
    hrun_net_destroy(net);
    log_end(&l);

    paper_network(&u, 6, 32);
    u.beta[2][5] *= 2;
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    net = estimate(&l, &q);
    ok(net && largest(compare(net, &u)) < 1e-6, "an asymmetric link: both directions are right");
    is_int(q.asymmetric, 1, "it is counted");
    ok(has_note(&q, "from h2 to h5 flow 2 times as fast as back"), "and told");
    hrun_net_quality_release(&q);
    hrun_net_destroy(net);
    log_end(&l);

    paper_network(&u, 6, 33);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    l.r.v[find(&l.r, HRUN_NET_TRIP, 0, 3, M)].time_s *= 500;
    l.r.v[find(&l.r, HRUN_NET_FAN, 4, 1, M)].time_s += 1;
    for (size_t i = 0; i < l.r.n; i++)
        l.r.v[i].max_s = fmax(l.r.v[i].max_s, l.r.v[i].time_s);
    net = estimate(&l, &q);
    ok(net && largest(compare(net, &u)) < 1e-6, "a clock that jumped: its times are left out");
    ok(has_note(&q, "between h0 and h3") && has_note(&q, "did a clock jump?"), "and told");
    hrun_net_quality_release(&q);
    hrun_net_destroy(net);
    log_end(&l);
}

/* ---------------------------------------------------------------- thresholds of scatter and gather */

static void test_thresholds(void)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;

    paper_network(&u, 5, 41);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    for (double m = 1024; m < 140000; m = floor(m * 1.4142)) {
        double each = 4 * (u.C[0] + u.t[0] * m), one = 0, sum = 0;
        struct hrun_net_record *v;

        for (int j = 1; j < 5; j++) {
            double x = u.C[j] + u.t[j] * m + m / u.beta[0][j];

            one = fmax(one, x);
            sum += x;
        }
        log_add(&l, HRUN_NET_SCATTERED, 0, -1, -1, 4, m, 0, each + (m <= 60000 ? one : sum));
        log_add(&l, HRUN_NET_GATHERED, 0, -1, -1, 4, m, 0, each + (m <= 30000 ? one : sum) + 1e-9 * m);
        v = &l.r.v[l.r.n - 1];
        v->repetitions = 20;
        if (m > 5000 && m < 30000)         /* one in ten takes 0.2 s */
            v->max_s = 0.2;
        v->sd_s = v->max_s > v->time_s ? sqrt(0.1 * 0.9) * (v->max_s - v->time_s) : 0.01 * v->time_s;
        v->mean_s = v->time_s + 0.1 * (v->max_s - v->time_s);
    }
    net = estimate(&l, NULL);
    ok(net && net->thresholds.scatter_S > 40000 && net->thresholds.scatter_S <= 60000,
       "scatter: S = %.0f, where it leaps", net ? net->thresholds.scatter_S : 0);
    ok(net && net->thresholds.gather_M1 <= 5000 && net->thresholds.gather_M1 > 5000 / 1.4143 &&
       net->thresholds.gather_M2 >= 29999 && net->thresholds.gather_M2 < 30000 * 1.4143,
       "gather: irregular from %.0f to %.0f", net ? net->thresholds.gather_M1 : 0, net ? net->thresholds.gather_M2 : 0);
    is_num(net ? net->thresholds.irregular_share : 0, 0.1, 1e-3, "in one of ten");
    ok(net && fabs(net->thresholds.irregular_s / 0.02 - 1) < 0.05, "by 20 ms in the mean");
    is_num(net ? net->thresholds.kappa2_s_per_byte * 1e9 : 0, 1, 0.02, "kappa2: what large messages take more");
    hrun_net_destroy(net);
    log_end(&l);
}

/* Gathers of `other` bytes and more are regular again; between 7000 and that every third size is mostly regular, of the
 * others most gathers wait for a timer, so that even their median is none of a regular one. mean_s: by how much gathers
 * of all sizes between take longer in the mean. */
static void test_common_escalations(double other, double mean_s, const char *what)
{
    struct truth u;
    struct log l;
    struct hrun_net *net;
    double first = 0, last = 0, below = 0, above = 0;
    int k = 0;

    paper_network(&u, 5, 43);
    log_begin(&l, &u, 0, 1);
    log_all(&l, &u, ALL & ~TRUNKS, M, 1);
    for (double m = 1024; m < 140000; m = floor(m * 1.4142)) {
        double regular = 4 * (u.C[0] + u.t[0] * m), one = 0, sum = 0;
        int irregular = m > 7000 && m < other;
        struct hrun_net_record *v;

        for (int j = 1; j < 5; j++) {
            double x = u.C[j] + u.t[j] * m + m / u.beta[0][j];

            one = fmax(one, x);
            sum += x;
        }
        regular += m < other ? one : sum;
        log_add(&l, HRUN_NET_GATHERED, 0, -1, -1, 4, m, 0, regular);
        v = &l.r.v[l.r.n - 1];
        v->repetitions = 20;
        v->time_s += irregular && k++ % 3 != 1 ? 0.21 : 0;
        /* An interruption of a small one is none of those. */
        v->max_s = irregular ? 0.26 : m < 1100 ? 4 * regular : 1.2 * regular;
        v->sd_s = irregular ? 0.05 : 0.01 * regular;
        v->mean_s = regular + (irregular ? mean_s : 0);
        first = irregular && !first ? m : first;
        last = irregular ? m : last;
        below = m < 7000 ? m : below;
        above = m >= other && !above ? m : above;
    }
    net = estimate(&l, NULL);
    if (!first) {
        ok(net && net->thresholds.gather_M2 == 0, "%s: no region", what);
        hrun_net_destroy(net);
        log_end(&l);
        return;
    }
    ok(net && net->thresholds.gather_M1 > below && net->thresholds.gather_M1 <= first, "%s: M1 = %.0f, %.0f .. %.0f",
       what, net ? net->thresholds.gather_M1 : 0, below, first);
    ok(net && net->thresholds.gather_M2 >= last && (!above || net->thresholds.gather_M2 < above),
       "%s: M2 = %.0f, %.0f .. %.0f", what, net ? net->thresholds.gather_M2 : 0, last, above);
    ok(net && net->thresholds.irregular_share > 0.4 && net->thresholds.irregular_s > 0.1 &&
       net->thresholds.irregular_s < 0.26, "%s: many, by some 0.2 s", what);
    ok(net && fabs(net->thresholds.irregular_s / mean_s - 1) < 0.05, "%s: by %g s in the mean", what, mean_s);
    hrun_net_destroy(net);
    log_end(&l);
}

/* ---------------------------------------------------------------- records as text */

static void parse_error(const char *text, enum hrun_code code, int line, const char *words, const char *name)
{
    struct hrun_net_records r = { 0 };
    struct hrun_error err = { 0 };

    ok(hrun_net_records_parse(text, &r, &err) && err.code == code && err.line == line && !r.hosts, "%s", name);
    has_str(err.text, words, "%s: %s", name, words);
}

static void test_text(void)
{
    struct hrun_buf a = HRUN_BUF_INIT, b = HRUN_BUF_INIT, noisy = HRUN_BUF_INIT;
    struct hrun_net_records back = { 0 };
    struct hrun_error err = { 0 };
    struct truth u;
    struct log l;

    two_switches(&u, 4);
    log_begin(&l, &u, 0.01, 7);
    log_all(&l, &u, ALL, M, 1);
    l.r.spent_s = 0.123;
    hrun_net_records_print(&l.r, &a);
    hrun_buf_addf(&noisy, "warning: of another\n%snot ours\n", a.data);
    ok(!hrun_net_records_parse(noisy.data, &back, &err), "records are read among other lines");
    hrun_net_records_print(&back, &b);
    is_str(b.data, a.data, "and printed again to the last digit");
    hrun_buf_release(&a);
    hrun_buf_release(&b);
    hrun_buf_release(&noisy);
    hrun_net_records_release(&back);
    log_end(&l);

#define TWO "network 1 2\nhost 0 a 0 1 0\nhost 1 b 0 1 0\n"
    parse_error("hello\n", HRUN_ENODATA, 0, "no `network` line", "nothing");
    parse_error(TWO, HRUN_ENODATA, 3, "interrupted", "no end");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 1", HRUN_ENODATA, 4, "or they were cut", "cut within a record");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 1\n", HRUN_EPARSE, 4, "is expected", "a record that is too short");
    parse_error("network 2 2\n", HRUN_EPARSE, 1, "network 1 HOSTS", "another version");
    parse_error("network 1 0\n", HRUN_EPARSE, 1, "network 1 HOSTS", "no hosts");
    parse_error("network 1 65537\n", HRUN_EPARSE, 1, "network 1 HOSTS", "more hosts than a list may name");
    parse_error(TWO TWO, HRUN_EPARSE, 4, "second `network`", "two networks");
    parse_error("network 1 2\nhost 0 a 0 1 0\nhost 0 a 0 1 0\n", HRUN_EPARSE, 3, "once for each", "a host twice");
    parse_error("network 1 2\nhost 0 a 0 1 0\ntrip 0 1 -1 0 0 0 1 1 0 1\n", HRUN_EPARSE, 3, "before",
                "a record too early");
    parse_error("network 1 2\nhost 0 a 0 1 1\nhost 1 b 0 1 1\nend\n", HRUN_EPARSE, 4, "a gap", "groups with a gap");
    parse_error(TWO "trip 0 2 -1 0 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "host out of range", "a host that is none");
    parse_error(TWO "trip 0 0 -1 0 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "one host where", "a trip to itself");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 0 0 0\n", HRUN_EPARSE, 4, "no time at all", "no time");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 nan 0 1\n", HRUN_EPARSE, 4, "finite", "not a number");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 -1 0 1\n", HRUN_EPARSE, 4, "not negative", "a time that is negative");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 2 0 1\n", HRUN_EPARSE, 4, "longest", "a longest that is not");
    parse_error(TWO "trip 0 1 -1 0 0 0 0 1 0 1\n", HRUN_EPARSE, 4, "is expected", "no repetitions");
    parse_error(TWO "trip 0 1 -1 0 0 0 1 1 0 1 1 9\n", HRUN_EPARSE, 4, "is expected", "a word too many");
    parse_error(TWO "local 0 0 1 0 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "kind of processing", "a kind out of range");
    parse_error(TWO "pairs 0 1 -1 1 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "a group out", "a group out of range");
    parse_error(TWO "gather 0 -1 -1 2 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "more hosts than", "more than there are");
    parse_error(TWO "sync 0 1 -1 2 0 0 1 1 0 1\n", HRUN_EPARSE, 4, "a count out", "neither waits nor not");
#undef TWO
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_odd();
    test_thresholds();
    test_common_escalations(65536, 0.12, "until rendezvous");
    test_common_escalations(1e9, 0.14, "as far as was measured");
    test_common_escalations(7000, 0, "nowhere");
    test_text();
    return tap_done();
}
