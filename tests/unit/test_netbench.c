/* test_netbench.c - hrun-netbench's schedules, groups and statistics: what needs no messages */
#include "tap.h"

#include "../../calib/mpi/measure.h"

#include <stdlib.h>

enum { MOST = 65 };

/* A 1-factorisation: in a round partners have each other, over all rounds each pair meets once. */
static void test_rounds(void)
{
    static int met[MOST][MOST];

    for (int n = 2; n <= MOST; n++) {
        int bad = net_rounds(n) != (n % 2 ? n : n - 1);

        memset(met, 0, sizeof met);
        for (int r = 0; r < net_rounds(n); r++) {
            int resting = 0;

            for (int x = 0; x < n; x++) {
                int y = net_partner(n, r, x);

                resting += y < 0;
                bad |= case_breaks(y >= n || y == x || (y >= 0 && net_partner(n, r, y) != x), n, r, x);
                if (y >= 0 && y < n)
                    met[x][y]++;
            }
            bad |= case_breaks(resting != n % 2, n, r);
        }
        for (int x = 0; x < n; x++)
            for (int y = 0; y < n; y++)
                bad |= case_breaks(met[x][y] != (x != y), n, x, y);
        ok(!bad, "%d hosts: each pair meets once in %d rounds", n, net_rounds(n));
    }
    is_int(net_rounds(1), 0, "one host has nobody to meet");
}

static void test_triples(void)
{
    for (int n = 3; n <= MOST; n++) {
        int out[MOST], count[MOST] = { 0 }, bad = 0, least = MOST, want = n == 3 ? 1 : n == 8 || n == 14 ? 2 : 3;

        for (int r = 0; r < net_triple_rounds(n); r++) {
            int seen[MOST] = { 0 }, triples = net_triples(n, r, out);

            bad |= case_breaks(triples < 1, n, r);
            for (int q = 0; q < 3 * triples; q++) {
                bad |= case_breaks(out[q] < 0 || out[q] >= n || seen[out[q]]++, n, r, q);
                count[out[q]]++;
            }
        }
        for (int x = 0; x < n; x++)
            least = count[x] < least ? count[x] : least;
        ok(!bad && least >= want, "%d hosts: triples are disjoint, and each host is in %d", n, least);
    }
    is_int(net_triple_rounds(6), 20, "six hosts: all triples");
    is_int(net_triple_rounds(2), 0, "two hosts: none");
}

/* Hosts with what is their own behind ng switches, `hop` between these; known up to a standard error. */
static int grouped(int n, int ng, double hop, double noise, double certain, int *group_of)
{
    static double s[MOST * MOST], error[MOST * MOST], own[MOST];

    for (int i = 0; i < n; i++)
        own[i] = 10 + 40 * drand48();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            s[i * n + j] = s[j * n + i] = own[i] + own[j] + hop * (i % ng != j % ng) + noise * drand48();
    for (int i = 0; i < n; i++)
        s[i * n + i] = 0;
    for (int i = 0; i < n * n; i++)
        error[i] = certain;
    memset(group_of, 0, (size_t)n * sizeof *group_of);
    return net_groups(s, error, n, 0.25, group_of);
}

static void test_groups(void)
{
    int group_of[MOST], bad;

    srand48(1);
    for (int ng = 1; ng <= 3; ng++)
        for (int n = 2 * ng < 4 ? 4 : 2 * ng; n <= MOST; n += 7) {
            bad = grouped(n, ng, 40, 4, 0.1, group_of) != ng;
            for (int i = 0; i < n; i++)
                bad |= case_breaks(group_of[i] != i % ng, ng, n, i);
            ok(!bad, "%d hosts of all speeds behind %d switches", n, ng);
        }
    is_int(grouped(2, 1, 0, 0, 0, group_of), 1, "two hosts cannot be told apart");
    is_int(grouped(12, 3, 4, 2, 0, group_of), 1, "nor what noise hides");
    is_int(grouped(12, 3, 40, 4, 20, group_of), 1, "nor what the measurements do not tell");
}

/* A made-up network of hosts with rates of their own behind switches: group[n]; what leaves or enters a switch shares
 * `trunk` s/byte. */
struct made {
    int n, ng, group[MOST], asked;
    double own[MOST], trunk;
};

/* A factor around 1 with a standard deviation of 2 %. */
static double noisy(void)
{
    double sum = -6;

    for (int k = 0; k < 12; k++)
        sum += drand48();
    return 1 + 0.02 * sum;
}

/* The bytes of a message from i to j while `across` of them leave and enter their switches. */
static double bytes_of(const struct made *m, int i, int j, int across)
{
    double own = m->own[i] > m->own[j] ? m->own[i] : m->own[j], thin = across * m->trunk;

    return m->group[i] != m->group[j] && thin > own ? thin : own;
}

static double mean_of(const struct made *m, const int *a, const int *b, int n, int step)
{
    double sum = 0;

    for (int k = 0; k + (step > 1) < n; k += step) {
        int i = a[k], j = step > 1 ? a[k + 1] : b[k];

        sum += bytes_of(m, i, j, n) / (m->own[i] > m->own[j] ? m->own[i] : m->own[j]) * noisy();
    }
    return sum * step / n;
}

static int made_slows(void *ctx, const int *a, int na, const int *b, int nb)
{
    struct made *m = ctx;

    m->asked++;
    return mean_of(m, a, b, na < nb ? na : nb, 1) > 1.2 * mean_of(m, a, NULL, na - na % 2, 2);
}

/* Does every pair of hosts have one group that has one switch? The rounds of all are played, with noise. */
static int finds(struct made *m, int n, int ng, double trunk, int unlike)
{
    double byte_s[MOST * MOST] = { 0 };
    int group_of[MOST] = { 0 }, bad, order = (int)(drand48() * 3);

    *m = (struct made){ .n = n, .ng = ng, .trunk = trunk };
    for (int i = 0; i < n; i++) {
        m->group[i] = order == 0 ? i % ng : order == 1 ? i * ng / n : (i / 2) % ng;
        m->own[i] = unlike ? 1 + 4 * drand48() : 1;
    }
    for (int r = 0; r < net_rounds(n); r++) {
        int across = 0;

        for (int i = 0; i < n; i++) {
            int j = net_partner(n, r, i);

            across += j > i && m->group[i] != m->group[j];
        }
        for (int i = 0; i < n; i++) {
            int j = net_partner(n, r, i);

            if (j >= 0)
                byte_s[i * n + j] = bytes_of(m, i, j, across) * noisy();
        }
    }
    bad = net_groups_loaded(byte_s, n, &(struct net_load){ made_slows, m }, group_of) != (trunk > 0 ? ng : 1);
    for (int i = 0; i < n && !bad; i++)
        for (int j = 0; j < n; j++)
            bad |= case_breaks((group_of[i] == group_of[j]) != (trunk == 0 || m->group[i] == m->group[j]), i, j);
    return !bad;
}

static void test_loaded(void)
{
    static const struct { int n, ng; double trunk; int unlike; const char *what; } cases[] = {
        { 4, 1, 0, 0, "four hosts on a switch" }, { 8, 1, 0, 1, "eight unlike hosts on a switch" },
        { 16, 1, 0, 0, "sixteen hosts on a switch" }, { 16, 1, 0, 1, "sixteen unlike hosts on a switch" },
        { 33, 1, 0, 1, "33 unlike hosts on a switch" },
        { 4, 2, 1, 0, "two pairs, a link as fast as they are" }, { 8, 2, 1, 0, "eight like hosts, the same" },
        { 16, 2, 1, 1, "sixteen unlike hosts on two switches" }, { 15, 3, 1.5, 0, "fifteen like hosts on three" },
        { 24, 3, 2, 1, "24 unlike hosts on three" }, { 8, 2, 20, 1, "a link thinner than any host" },
    };
    struct made m;

    srand48(2);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int right = 0;

        for (int seed = 0; seed < 100; seed++)
            right += finds(&m, cases[c].n, cases[c].ng, cases[c].trunk, cases[c].unlike);
        is_int(right, 100, "%s: seen of 100", cases[c].what);
    }
    finds(&m, 16, 1, 0, 1);
    ok(m.asked <= 1, "on one switch next to nothing is tried: %d", m.asked);
}

/* Of which hosts a triple is, whatever their order. */
static int triple_key(const int *v)
{
    int low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];

    low = v[2] < low ? v[2] : low;
    high = v[2] > high ? v[2] : high;
    return (low * MOST + high) * MOST + v[0] + v[1] + v[2] - low - high;
}

static void test_triples_differ(void)
{
    static int seen[MOST * MOST * MOST];           /* by the last n */

    for (int n = 7; n <= MOST; n++) {
        int out[MOST], again = 0;

        for (int r = 0; r < net_triple_rounds(n); r++)
            for (int q = net_triples(n, r, out); q-- > 0;) {
                int *key = &seen[triple_key(out + 3 * q)];

                again += *key == n;
                *key = n;
            }
        is_int(again, 0, "%d hosts: no triple comes twice", n);
    }
}

/* Abramowitz and Stegun, table 26.10. */
static void test_spread(void)
{
    static const struct { int df; double t; } known[] = {
        { 1, 12.706 }, { 2, 4.303 }, { 4, 2.776 }, { 5, 2.571 }, { 9, 2.262 }, { 30, 2.042 }, { 120, 1.980 },
    };
    double v[] = { 5, 1, 9, 3, 1000, 7, 4, 6, 2, 8, 10, 11 }, median, sd, max;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_num(net_student(known[i].df), known[i].t, 2e-3, "Student's t, %d degrees of freedom", known[i].df);
    is_num(net_summary(v, 3, &median, &sd, &max), 5, 1e-12, "the mean of three");
    is_num(median, 5, 1e-12, "their median");
    is_num(sd, 4, 1e-12, "their standard deviation");
    is_num(max, 9, 0, "their largest");
    net_summary(v, 12, &median, &sd, &max);
    is_num(median, 6.5, 1e-12, "an interruption does not move the median");
    ok(sd > 2 && sd < 8, "nor does it the scatter: %g", sd);
    is_num(max, 1000, 0, "but it is told");
    is_num(net_summary(v, 0, &median, &sd, &max), 0, 0, "of nothing, nothing");
}

int main(void)
{
    test_rounds();
    test_triples();
    test_triples_differ();
    test_groups();
    test_loaded();
    test_spread();
    return tap_done();
}
