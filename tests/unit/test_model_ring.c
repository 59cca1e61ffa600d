/* Rings of virtual processes (paper 004): their time against events, their allocations against all others. */
#include "fixture.h"
#include "model/families/ring.h"
#include "ring_paper.h"

#include <stdlib.h>

enum { NODES = 7, PROCS = 64 };

/* ------------------------------------------------------------------ a ring, event by event */

/* A process computes, or waits for the data of its next step. */
struct process {
    int node;
    int step;               /* that it computes, or waits for */
    double left;            /* of its computation, in seconds of the reference node; 0: it waits, or has ended */
    double data[PROCS];     /* when those of each step are here */
};

struct events {
    const struct ring_node *nodes;
    struct process p[PROCS];
    int q, last;            /* processes; the last step that all do */
    double local_s, step_s, now;
};

/* Steps of process j: an even ring has a further one for its first half. */
static int steps_of(const struct events *e, int j)
{
    return e->last + (e->q % 2 == 0 && j < e->q / 2);
}

static void send(struct events *e, int from, int to, int step)
{
    const struct ring_node *n = &e->nodes[e->p[to].node];

    e->p[to].data[step] = e->now + (e->p[from].node != e->p[to].node ? n->wire_s : 0);
}

static void end_step(struct events *e, int j)
{
    struct process *p = &e->p[j];

    p->step++;
    if (p->step <= e->last)
        send(e, j, (j + 1) % e->q, p->step);
    else if (e->q % 2 == 0 && j >= e->q / 2)
        send(e, j, j - e->q / 2, p->step);
}

static double seconds_left(const struct events *e, int j)
{
    int k = 0;

    for (int i = 0; i < e->q; i++)
        k += e->p[i].node == e->p[j].node && e->p[i].left > 0;
    return e->p[j].left * k / e->nodes[e->p[j].node].speed;
}

/* To the next event: a computation ends, or data come that are waited for. 0: there is none. */
static int advance(struct events *e)
{
    double dt = INFINITY, took[PROCS];
    int who = -1;

    for (int j = 0; j < e->q; j++) {
        struct process *p = &e->p[j];
        double at = INFINITY;

        took[j] = p->left > 0 ? seconds_left(e, j) : 0;
        if (p->left > 0)
            at = took[j];
        else if (p->step <= steps_of(e, j))
            at = fmax(p->data[p->step] - e->now, 0);
        if (at < dt) {
            dt = at;
            who = j;
        }
    }
    if (who < 0)
        return 0;
    e->now += dt;
    for (int j = 0; j < e->q; j++)
        if (e->p[j].left > 0 && j != who)
            e->p[j].left = fmax(e->p[j].left * (1 - dt / took[j]), 1e-300);
    if (e->p[who].left > 0) {
        e->p[who].left = 0;
        end_step(e, who);
    } else {
        e->p[who].left = e->step_s;
    }
    return 1;
}

static double by_events(const struct ring_node *nodes, int n, const struct ring_costs *costs)
{
    struct events e = { .nodes = nodes, .step_s = costs->step_s };

    for (int i = 0; i < n; i++)
        for (int k = 0; k < nodes[i].procs; k++) {
            struct process *p = &e.p[e.q++];

            p->node = i;
            p->left = costs->local_s;
            for (int l = 0; l < PROCS; l++)
                p->data[l] = INFINITY;
        }
    e.last = hrun_ring_steps(e.q);
    while (advance(&e))
        ;
    return e.now;
}

/* ------------------------------------------------------------------ time */

static double play(const struct ring_node *nodes, int n, const struct ring_costs *costs,
                   enum hrun_ring_wait wait, double *idle)
{
    struct hrun_ring_stage stages[NODES];
    double elapsed[NODES];

    for (int i = 0; i < n; i++)
        stages[i] = rp_stage(&nodes[i], costs);
    return hrun_ring_play(stages, n, wait, elapsed, idle, NULL);
}

static int random_ring(uint64_t *seed, int most, double wire, struct ring_node *nodes)
{
    int n = 1 + rnd_int(seed, 0, NODES - 1);

    for (int i = 0; i < n; i++)
        nodes[i] = (struct ring_node){ rnd_int(seed, 0, most), 1 + 3 * rnd(seed), 0, 0,
                                            wire * rnd(seed) };
    nodes[0].procs += nodes[0].procs == 0;
    return n;
}

static void test_events(void)
{
    uint64_t seed = 4;
    int same = 0, below = 0, above = 0, tried = 300;
    double loose = 0;

    for (int k = 0; k < tried; k++) {
        struct ring_node nodes[NODES];
        struct ring_costs costs = { 0.3 + rnd(&seed), 0.5 + rnd(&seed), 0, 0, 0 };
        int n = random_ring(&seed, 1, 0.5, nodes);
        double got = play(nodes, n, &costs, HRUN_RING_BEFORE, NULL), want = by_events(nodes, n, &costs);

        same += fabs(got - want) <= 1e-9 * want;
        if (fabs(got - want) > 1e-9 * want)
            printf("# n %d: %g, by events %g\n", n, got, want);
    }
    is_int(same, tried, "rings of single processes take what they take event by event, odd and even ones");
    for (int k = 0; k < tried; k++) {
        struct ring_node nodes[NODES];
        struct ring_costs costs = { 0.3 + rnd(&seed), 0.5 + rnd(&seed), 0, 0, 0 };
        int n = random_ring(&seed, 6, 0.5, nodes), q = 0;
        double got = play(nodes, n, &costs, HRUN_RING_BEFORE, NULL), want = by_events(nodes, n, &costs), least = 0;

        for (int i = 0; i < n; i++)
            q += nodes[i].procs;
        for (int i = 0; i < n; i++)
            least = fmax(least, nodes[i].procs / nodes[i].speed *
                                (costs.local_s + hrun_ring_steps(q) * costs.step_s));
        below += want <= got * (1 + 1e-9);
        above += got >= least * (1 - 1e-9);
        loose += (got / want - 1) / tried;
    }
    is_int(below, tried, "rings of several processes on a node take at most what is said");
    is_int(above, tried, "and that is at least the computation of the node that has most");
    ok(loose < 0.05, "events take %.1f %% less on average, with wires of up to half a step", 100 * loose);
}

static void test_printed(void)
{
    /* Two nodes, three processes, one step, by hand from eqs. 6 to 8. */
    const struct ring_node nodes[] = { { 2, 1, 0.5, 0.25, 0.125 }, { 1, 2, 0, 0, 4 } };
    const struct ring_costs costs = { 1, 2, 0.5, 0.25, 0.125 };
    double idle[2], before, printed;
    /* t_1 = 2 + 0.5; W_1 = 2 (2 + 0.25) + (0.5 + 0.125) + 0.25 = 5.375; t_2 = 0.5, W_2 = 1.125
     * idle of node 2: 2.5 + 5.375 + 4 - 0.5 - 1.125 = 10.25; T_2 = 0.5 + 1.125 + 0.0625 + 10.25 = 11.9375 */
    printed = play(nodes, 2, &costs, HRUN_RING_PRINTED, idle);
    is_num(printed, 11.9375, 1e-15, "eq. 8 as printed");
    is_num(idle[1], 10.25, 1e-15, "and its idle time");
    is_num(idle[0], 0, 0, "of the node that is late, none");
    /* Node 2 waits for what node 1 sends at 2.5: 2.5 + 4 + 0.0625 + 1.125; node 1 ends at 2.5 + 5.375 + 0.125. */
    before = play(nodes, 2, &costs, HRUN_RING_BEFORE, idle);
    is_num(before, 8, 1e-15, "the wait before a step");
    is_num(idle[1], 6, 1e-15, "is for the data that it computes on");
}

static void test_refusals(void)
{
    struct hrun_ring_stage s[2] = { { 0, 1, 1, 0, 0 }, { 0, 1, 1, 0, 0 } };
    double elapsed[2] = { 7, 7 };
    struct hrun_error err;

    ok(hrun_ring_play(s, 2, HRUN_RING_BEFORE, elapsed, NULL, &err) < 0, "a ring without processes");
    is_int(err.code, HRUN_EINVAL, "is refused: %s", err.text);
    s[1] = (struct hrun_ring_stage){ 1, NAN, 1, 0, 0 };
    ok(hrun_ring_play(s, 2, HRUN_RING_BEFORE, elapsed, NULL, &err) < 0, "a time that is no number");
    is_int(err.code, HRUN_ENONFINITE, "is refused: %s", err.text);
    s[1] = (struct hrun_ring_stage){ -1, 1, 1, 0, 0 };
    ok(hrun_ring_play(s, 2, HRUN_RING_BEFORE, elapsed, NULL, &err) < 0 && err.code == HRUN_EINVAL,
       "so are negative numbers of processes: %s", err.text);
    ok(elapsed[0] == 7 && elapsed[1] == 7, "and nothing is written");
}

/* Eq. 3, and its like for an even q: the steps meet every pair once. */
static void test_pairs(void)
{
    int good = 0;

    for (long q = 1; q <= 40; q++) {
        long n = 12, N = n * q, pairs = q * (n * (n - 1) / 2 + hrun_ring_steps((int)q) * n * n);

        pairs += q % 2 == 0 ? q / 2 * n * n : 0;
        good += pairs == N * (N - 1) / 2;
    }
    is_int(good, 40, "local pairs, steps and the further step of an even ring make N (N-1)/2 pairs (eq. 3)");
}

/* ------------------------------------------------------------------ balance */

static void test_table4(void)
{
    static const struct { double speed[4]; int q; double S; const char *kept; } rows[] = {
        { { 1.00, 1.20, 1.30, 1.80 }, 15, 5.30, "0.92" },
        { { 1.00, 1.30, 2.07, 3.59 }, 25, 7.96, "0.94" },
        { { 1.00, 2.07, 3.28, 3.59 }, 35, 9.94, "0.96" },
    };

    for (int i = 0; i < 3; i++) {
        char text[32];
        int procs[4];
        double rate;

        is_int(rp_allocate(rows[i].speed, 4, rows[i].q, procs, &rate), 0, "configuration %d of Table 4", i + 1);
        snprintf(text, sizeof text, "%.2f", rp_kept(rows[i].speed, 4, rows[i].q, rate));
        is_str(text, rows[i].kept, "has the printed 1 - gamma, with q = %d,%d,%d,%d", procs[0], procs[1], procs[2],
               procs[3]);
    }
}

static void test_groups(void)
{
    static const int m[] = { 1, 2, 4 };
    uint64_t seed = 5;
    int good = 0, tried = 0, sums = 0;

    for (int k = 0; k < 40; k++) {
        double rate[3][3];
        struct hrun_ring_group g[3];

        for (int i = 0; i < 3; i++) {
            double speed = 1 + 2 * rnd(&seed);

            for (int o = 0; o < 3; o++)
                rate[i][o] = m[o] / speed;
            if (k % 4 == i)
                rate[i][2] = INFINITY;
            g[i] = (struct hrun_ring_group){ rnd_int(&seed, 1, 3), rate[i], m, 3 };
        }
        for (int q = 1; q <= 20; q++) {
            int pes[3] = { -1, -1, -1 }, procs[3], status;
            double best = INFINITY, got = INFINITY;

            /* Every configuration: of each group nothing, or p PEs with option o. */
            for (int c = 0; c < 1000; c++) {
                const int pick[] = { c % 10, c / 10 % 10, c / 100 };
                double most = 0;
                int P = 0, bad = 0;

                for (int i = 0; i < 3; i++) {
                    int p = pick[i] ? (pick[i] - 1) / 3 + 1 : 0, o = pick[i] ? (pick[i] - 1) % 3 : 0;

                    bad |= case_breaks(p > g[i].pes, k, q, c, i);
                    P += p * m[o];
                    most = p ? fmax(most, rate[i][o]) : most;
                }
                if (!bad && P == q)
                    best = fmin(best, most);
            }
            status = hrun_ring_allocate_groups(g, 3, q, pes, procs, &got, NULL);
            good += status ? !isfinite(best) && pes[0] == -1 : fabs(got - best) < 1e-12;
            sums += status || pes[0] * procs[0] + pes[1] * procs[1] + pes[2] * procs[2] == q;
            tried++;
        }
    }
    is_int(good, tried, "groups: as good as the best of all configurations, or there is none");
    is_int(sums, tried, "and all processes are shared out");
}

int main(void)
{
    test_pairs();
    test_events();
    test_printed();
    test_refusals();
    test_table4();
    test_groups();
    return tap_done();
}
