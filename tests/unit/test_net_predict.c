/* test_net_predict.c - predictions of operations: every algorithm ends for every number of ranks and root and moves the
 * bytes it must; laws; choices of algorithms; intervals; lower bounds never above; bad input */
#include "net/algorithms.h"

#include "net.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };
static const char *const selectors[] = { "openmpi", "ompi", "mpich" };

/* ---------------------------------------------------------------- schedules */

struct moved {
    double out[40], in[40];
};

static void add_up(const struct play_schedule *s, struct moved *m)
{
    *m = (struct moved){ { 0 }, { 0 } };
    for (int r = 0; r < s->nranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
            if (play_sends(&s->steps[i])) {
                m->out[r] += s->steps[i].bytes;
                m->in[s->steps[i].peer] += s->steps[i].bytes;
            }
}

/* What each rank must at least send and receive, whatever the algorithm (bytes of the operation: b each). */
static int moves_enough(enum hrun_net_op op, const struct moved *m, int n, int root, double b)
{
    double all = 0;

    for (int r = 0; r < n; r++) {
        double in = 0, out = 0;

        all += m->in[r];
        switch (op) {
        case HRUN_NET_SCATTER: in = r == root ? 0 : b; out = r == root ? (n - 1) * b : 0; break;
        case HRUN_NET_GATHER: out = r == root ? 0 : b; in = r == root ? (n - 1) * b : 0; break;
        case HRUN_NET_BCAST: in = r == root ? 0 : b; out = r == root ? b : 0; break;
        case HRUN_NET_REDUCE: out = r == root ? 0 : b; in = r == root ? b : 0; break;
        case HRUN_NET_ALLREDUCE: in = out = b; break;
        case HRUN_NET_ALLGATHER: in = (n - 1) * b; out = b; break;
        case HRUN_NET_ALLTOALL: in = out = (n - 1) * b; break;
        case HRUN_NET_RING: in = out = b; break;
        default: break;
        }
        if (m->in[r] < in * (1 - 1e-12) || m->out[r] < out * (1 - 1e-12))
            return 0;
    }
    return all < 1e3 * n * n * b || op == HRUN_NET_BARRIER;
}

static void test_algorithm(enum hrun_net_op op, const char *name)
{
    uint64_t seed = 7;
    int ended = 0, enough = 0, runs = 0;
    const struct net_algorithm *algorithm = net_algorithm_find(op, name);

    for (int n = 2; n <= 36; n++)
        for (int way = 0; way < 3; way++) {
            struct hrun_net *net = net_at_random(MOST, &seed);
            int host[40], root = rnd_int(&seed, 0, n - 1);
            struct hrun_net_ranks ranks = { n, host, NULL };
            struct net_hosts hosts;
            struct net_task task = { .n = n, .stride = 1, .root = root, .bytes = 4096, .selector = "mpich" };
            struct play_schedule s;
            struct moved moved;
            struct hrun_error err = { 0 };
            double t = -1;

            for (int r = 0; r < n; r++)
                host[r] = way == 0 ? r % MOST : way == 1 ? r / 2 % MOST : rnd_int(&seed, 0, MOST - 1);
            net_hosts_find(&ranks, &hosts);
            task.hosts = &hosts;
            play_begin(&s, n);
            for (int r = 0; r < n; r++) {
                play_rank(&s, r);
                net_add_steps(&s, &task, r, algorithm);
            }
            runs++;
            add_up(&s, &moved);
            ended += !play_run(&s, net, &ranks, &t, &err) && t > 0 && isfinite(t);
            enough += moves_enough(op, &moved, n, root, 4096);
            if (*err.text)
                printf("# n = %d, root %d: %s\n", n, root, err.text);
            play_release(&s);
            net_hosts_release(&hosts);
            hrun_net_destroy(net);
        }
    is_int(ended, runs, "%s %s ends, for 2 to 36 ranks wherever they are", hrun_net_op_name(op), name);
    is_int(enough, runs, "%s %s: each rank sends and receives what it must", hrun_net_op_name(op), name);
}

static void test_algorithms(void)
{
    for (const struct net_algorithm *a = net_algorithms; a->name; a++)
        if (a->program)
            test_algorithm(a->op, a->name);
}

/* Totals that the algorithms' descriptions give, in messages of `bytes`, n = 12 and 16. */
static void test_totals(void)
{
    const struct {
        enum hrun_net_op op;
        const char *name;
        int n;
        double total;
    } cases[] = {
        { HRUN_NET_BCAST, "binomial", 12, 11 }, { HRUN_NET_BCAST, "knomial", 16, 15 },
        { HRUN_NET_BCAST, "chain", 12, 11 }, { HRUN_NET_SCATTER, "binomial", 16, 32 },
        { HRUN_NET_GATHER, "binomial", 16, 32 }, { HRUN_NET_ALLGATHER, "ring", 12, 12 * 11 },
        { HRUN_NET_ALLGATHER, "bruck", 12, 12 * 11 }, { HRUN_NET_ALLGATHER, "recursive-doubling-mpich", 12, 12 * 11 },
        { HRUN_NET_ALLGATHER, "recursive-doubling", 16, 16 * 15 },
        { HRUN_NET_ALLGATHER, "neighbor", 12, 12 * 11 }, { HRUN_NET_ALLTOALL, "bruck", 16, 16 * 4 * 8 },
        { HRUN_NET_ALLTOALL, "linear", 12, 12 * 11 }, { HRUN_NET_ALLREDUCE, "ring", 12, 2 * 11 },
        { HRUN_NET_ALLREDUCE, "rabenseifner", 16, 2 * 15 },
        { HRUN_NET_ALLREDUCE, "recursive-doubling", 12, 4 + 8 * 3 + 4 },
        { HRUN_NET_REDUCE, "rabenseifner", 16, 15 + 2 }, { HRUN_NET_BCAST, "scatter-ring", 16, 2 + 15 }
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int host[MOST] = { 0 };
        struct hrun_net_ranks ranks = { cases[i].n, host, NULL };
        struct net_hosts hosts;
        struct net_task task = { .n = cases[i].n, .stride = 1, .bytes = 65536, .selector = "openmpi", .hosts = &hosts };
        struct play_schedule s;
        struct moved m;
        double all = 0;

        net_hosts_find(&ranks, &hosts);
        play_begin(&s, task.n);
        for (int r = 0; r < task.n; r++) {
            play_rank(&s, r);
            net_add_steps(&s, &task, r, net_algorithm_find(cases[i].op, cases[i].name));
        }
        add_up(&s, &m);
        for (int r = 0; r < task.n; r++)
            all += m.out[r] / task.bytes;
        is_num(all, cases[i].total, 1e-3, "%s %s of %d ranks: bytes in all", hrun_net_op_name(cases[i].op),
               cases[i].name, task.n);
        play_release(&s);
        net_hosts_release(&hosts);
    }
}

/* What Open MPI 4.1.4's rank 0 sends to rank n - 1, n - 2, n - 4, ... in an allgather of any size, as its own
 * counters say (--mca pml_monitoring_enable 2): recursive doubling takes powers of two only. */
static void test_openmpi_allgather(void)
{
    static const struct { int n; double blocks[4]; } counted[] = {
        { 6, { 1, 2, 2 } }, { 7, { 1, 2, 3 } }, { 12, { 1, 2, 4, 4 } },
    };

    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        for (double bytes = 8; bytes <= 1e5; bytes *= 12500) {
            int n = counted[i].n, like = 1;
            struct net_task task = { .n = n, .stride = 1, .bytes = bytes };
            struct play_schedule s;
            size_t sends = 0;
            const char *name = net_select("openmpi", HRUN_NET_ALLGATHER, n, bytes, 1);

            play_begin(&s, n);
            play_rank(&s, 0);
            net_add_steps(&s, &task, 0, net_algorithm_find(HRUN_NET_ALLGATHER, name));
            for (size_t k = 0; k < s.nsteps; k++)
                if (play_sends(&s.steps[k])) {
                    like &= case_holds(sends < 4 && s.steps[k].peer == n - (1 << sends) &&
                                       s.steps[k].bytes == counted[i].blocks[sends] * bytes, i, bytes, k);
                    sends++;
                }
            ok(like && (sends == 4 || counted[i].blocks[sends] == 0), "allgather of %.0f B among %d as in Open MPI",
               bytes, n);
            play_release(&s);
        }
}

/* ---------------------------------------------------------------- laws */

/* Does it go over to another algorithm at some size? Then the time may fall there. */
static int changes(enum hrun_net_op op, const char *name)
{
    return (op == HRUN_NET_ALLREDUCE && (!strcmp(name, "ring") || !strcmp(name, "rabenseifner")
                                         || !strcmp(name, "reduce-bcast")))
           || (op == HRUN_NET_ALLGATHER && !strcmp(name, "linear")) || !strcmp(name, "by-hosts");
}

/* Operations that are symmetric in the ranks take the same wherever these are, on hosts that are alike; more bytes
 * never take less; a slower wire never makes it faster, for a round is as long as its longest message. */
static void test_laws(void)
{
    struct hrun_net *net = net_of(8);
    const int one[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, other[] = { 3, 1, 7, 5, 0, 2, 6, 4 };
    int same = 1, rising = 1, slower = 1;

    for (int i = 0; i < 8; i++) {
        net->classes[i].C_s.v = 1e-6;
        net->classes[i].out_bytes_per_s.v = net->classes[i].in_bytes_per_s.v = 1e8;
    }
    for (int i = 0; i < 64; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 5e-5, NAN }, { 1e8, NAN } };
    for (int i = 0; net_algorithms[i].name; i++) {
        enum hrun_net_op op = net_algorithms[i].op;
        const char *name = net_algorithms[i].name;
        double last = 0;

        for (double bytes = 1; bytes <= 1 << 20 && net_algorithms[i].program; bytes *= 4) {
            double t = net_time_at(net, op, name, bytes, one, 8);
            double u = net_time_at(net, op, name, bytes, other, 8);
            int jumps = changes(op, name);

            if (!(t > 0) || fabs(t - u) > 1e-9 * t || (t < last * (1 - 1e-12) && !jumps))
                printf("# %s %s %g: %g and %g, before %g\n", hrun_net_op_name(op), name, bytes, t, u, last);
            same &= case_holds(t > 0 && fabs(t - u) <= 1e-9 * t, op, i, bytes);
            rising &= case_holds(t >= last * (1 - 1e-12) || jumps, op, i, bytes);
            last = t;
        }
    }
    ok(same, "on hosts that are alike it does not matter which rank is where");
    ok(rising, "more bytes never take less");
    for (double rate = 1e8; rate > 1e6; rate /= 2) {
        double t = net_time(net, HRUN_NET_ALLTOALL, "pairwise", 1e5, 8);

        for (int i = 0; i < 64; i++)
            net->pairs[i].beta_bytes_per_s.v = rate / 2;
        slower &= case_holds(net_time(net, HRUN_NET_ALLTOALL, "pairwise", 1e5, 8) > t, rate);
    }
    ok(slower, "slower wires take longer");
    is_num(net_time(net, HRUN_NET_ALLREDUCE, NULL, 1e6, 1), 0, 0, "one rank takes no time");
    hrun_net_destroy(net);
}

/* An all-to-all between like hosts whose ports carry all: each takes what the port takes. */
static void test_closed(void)
{
    struct hrun_net *net = net_of(MOST);
    double per_round;

    for (int i = 0; i < MOST; i++)
        net->classes[i].out_bytes_per_s.v = net->classes[i].in_bytes_per_s.v = 1e8;
    for (int i = 0; i < MOST * MOST; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 5e-5, NAN }, { 1e8, NAN } };
    net->back_share = 0.05;
    per_round = 5e-5 + 1e5 * 1.05 / 1e8;
    is_num(net_time(net, HRUN_NET_ALLTOALL, "pairwise", 1e5, MOST) * 1e3, 15 * per_round * 1e3, 1e-9,
           "pairwise: n - 1 rounds");
    is_num(net_time(net, HRUN_NET_ALLTOALL, "linear", 1e5, MOST) * 1e3, (5e-5 + 15 * 1e5 * 1.05 / 1e8) * 1e3, 1e-9,
           "linear: one latency, then the ports");
    is_num(net_time(net, HRUN_NET_ALLTOALL, "bruck", 1e5, MOST) * 1e3, 4 * (5e-5 + 8e5 * 1.05 / 1e8) * 1e3, 1e-9,
           "Bruck: log n rounds of half of all");
    is_num(net_time(net, HRUN_NET_ALLREDUCE, "recursive-doubling", 1e5, MOST) * 1e3, 4 * per_round * 1e3, 1e-9,
           "recursive doubling: log n rounds");
    is_num(net_time(net, HRUN_NET_BCAST, "chain", 1e5, MOST) * 1e3, 15 * (5e-5 + 1e-3) * 1e3, 1e-9, "a chain");
    is_num(net_time(net, HRUN_NET_BARRIER, "bruck", 1e5, 13) * 1e3, 4 * 0.05, 1e-9, "a barrier of 13: 4 latencies");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- choices */

static void test_selectors(void)
{
    const struct {
        const char *selector;
        enum hrun_net_op op;
        int n;
        double bytes;
        const char *want;
    } cases[] = {
        { "openmpi", HRUN_NET_ALLTOALL, 16, 3, "linear" }, { "openmpi", HRUN_NET_ALLTOALL, 16, 4, "bruck" },
        { "openmpi", HRUN_NET_ALLTOALL, 16, 511, "bruck" }, { "openmpi", HRUN_NET_ALLTOALL, 16, 512, "linear" },
        { "openmpi", HRUN_NET_BCAST, 16, 4095, "knomial" },
        { "openmpi", HRUN_NET_BCAST, 16, 1 << 20, "scatter-doubling" },
        { "openmpi", HRUN_NET_ALLREDUCE, 8, 8192, "rabenseifner" },
        { "openmpi", HRUN_NET_ALLGATHER, 48, 1024, "neighbor" },
        { "openmpi", HRUN_NET_ALLGATHER, 6, 1024, "recursive-doubling" },
        { "ompi", HRUN_NET_ALLGATHER, 6, 1024, "recursive-doubling-mpich" },
        { "ompi", HRUN_NET_REDUCE, 3, 16, "chain" }, { "ompi", HRUN_NET_ALLTOALL, 16, 4, "bruck" },
        { "openmpi", HRUN_NET_BARRIER, 6, 0, "linear" }, { "openmpi", HRUN_NET_BARRIER, 100000, 0, "bruck" },
        { "mpich", HRUN_NET_ALLTOALL, 8, 255, "bruck" }, { "mpich", HRUN_NET_ALLTOALL, 7, 255, "throttled" },
        { "mpich", HRUN_NET_ALLTOALL, 8, 32768, "pairwise" },
        { "mpich", HRUN_NET_ALLGATHER, 8, 65535, "recursive-doubling" },
        { "mpich", HRUN_NET_ALLGATHER, 8, 65536, "pairwise" }, { "mpich", HRUN_NET_ALLGATHER, 10, 8192, "bruck" },
        { "mpich", HRUN_NET_ALLGATHER, 10, 8193, "pairwise" }
    };
    int complete = 1, unknown = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(net_select(cases[i].selector, cases[i].op, cases[i].n, cases[i].bytes, 1), cases[i].want,
               "%s: %s of %.0f B among %d", cases[i].selector, hrun_net_op_name(cases[i].op), cases[i].bytes,
               cases[i].n);
    for (const char *const *s = selectors; s < selectors + 3; s++)
        for (int op = 0; op < HRUN_NET_NOPS; op++)
            for (int n = 1; n < 10000; n += 1 + n / 3)
                for (double bytes = 0; bytes < 1e8; bytes = 2 * bytes + 1) {
                    const char *name = net_select(*s, (enum hrun_net_op)op, n, bytes, 1);

                    complete &= case_holds(name != NULL, op, n, bytes);
                    unknown += name && !net_algorithm_find((enum hrun_net_op)op, name);
                }
    ok(complete, "each selector takes something for each operation, number of ranks and size");
    is_int(unknown, 0, "and nothing that there is not");
    ok(!net_select("lam", HRUN_NET_BCAST, 2, 1, 1), "no such selector");
    is_int(hrun_net_op_find("alltoall"), HRUN_NET_ALLTOALL, "an operation by its name");
    is_int(hrun_net_op_find("alltoal"), -1, "none of that name");
}

/* ---------------------------------------------------------------- irregular gathers */

static void test_irregular(void)
{
    struct hrun_net *net = net_of(3);
    struct hrun_net_ranks ranks = { 3, (const int[]){ 0, 1, 2 }, NULL };
    struct hrun_net_call call = { .op = HRUN_NET_GATHER, .algorithm = "linear" };
    const struct { double bytes, want_ms; int irregular; } cases[] = {
        { 1000, 0.01 + 0.002, 0 }, { 5000, 0.05 + 100, 1 }, { 20000, 2 * 0.2 - 0.02, 0 },
        { 50000, 2 * 0.5, 0 } };        /* which wait for the root: kappa2 is of those that do not */

    for (int i = 0; i < 9; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 0, NAN }, { 1e8, NAN } };
    net->thresholds = (struct hrun_net_thresholds){ 0, 4000, 16000, 2e-9, -1e-9, 0.1, 0.25 };
    net->sync_bytes = 40000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_net_time t = { .time_s = -1 };

        call.bytes = cases[i].bytes;
        if (!hrun_net_predict(net, &call, &ranks, &t, NULL)) {
            is_num(t.time_s * 1e3, cases[i].want_ms, 1e-9, "a gather of %.0f B", call.bytes);
            is_int(t.irregular, cases[i].irregular, "in the irregular region or not");
            is_int(hrun_net_irregular(net, &call, 3), cases[i].irregular, "the same without playing it");
        }
    }
    call = (struct hrun_net_call){ .op = HRUN_NET_GATHER, .bytes = 5000 };
    free(net->selector);
    net->selector = strdup("openmpi");
    ok(hrun_net_irregular(net, &call, 7), "Open MPI gathers 5000 B of 7 ranks straight to the root");
    ok(!hrun_net_irregular(net, &call, 1), "one rank gathers nothing");
    call.bytes = 10000;
    ok(!hrun_net_irregular(net, &call, 7), "10000 B by a tree");
    call = (struct hrun_net_call){ .op = HRUN_NET_BCAST, .bytes = 5000 };
    ok(!hrun_net_irregular(net, &call, 7), "and a broadcast is no gather");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- bounds */

static void test_bounds(void)
{
    uint64_t seed = 3;
    int above = 0, runs = 0;
    double share[HRUN_NET_NOPS] = { 0 };
    int counted[HRUN_NET_NOPS] = { 0 };

    for (int run = 0; run < 3000; run++) {
        struct hrun_net *net = net_at_random(MOST, &seed);
        int n = rnd_int(&seed, 2, 24), known = rnd_int(&seed, 1, n), per = rnd_int(&seed, 1, 3), beside = 0;
        int host[24], part[24], first = rnd_int(&seed, 0, n - known);
        enum hrun_net_op op = (enum hrun_net_op)(run % HRUN_NET_NOPS);
        struct hrun_net_call call = { .op = op, .bytes = pow(2, 20 * rnd(&seed)) };
        struct hrun_net_ranks some = { known, part, NULL };
        double bound = -1, time;

        free(net->selector);
        net->selector = strdup(selectors[run / HRUN_NET_NOPS % 3]);
        call.root = rnd_int(&seed, 0, n - 1);
        for (int r = 0; r < known; r++)
            part[r] = rnd(&seed) < 0.2 ? rnd_int(&seed, 0, 4) : r / per % 5;
        for (int r = 0; r < n; r++)
            host[r] = r >= first && r < first + known ? part[r - first] : rnd_int(&seed, run % 2 ? 5 : 0, MOST - 1);
        for (int h = 0; h < 5; h++) {
            int others = 0;

            for (int r = 0; r < n; r++)
                others += host[r] == h && !(r >= first && r < first + known);
            beside = others > beside ? others : beside;
        }
        time = net_on(net, op, NULL, call.bytes, host, n, call.root);
        bound = hrun_net_bound(net, &call, n, &some, beside, NULL);
        if (!(bound <= time)) {
            above++;
            printf("# %s of %g B, %d ranks, %d known, %s: bound %g, time %g\n", hrun_net_op_name(op), call.bytes, n,
                   known, net->selector, bound, time);
        }
        runs++;
        share[op] += bound / time;
        counted[op]++;
        hrun_net_destroy(net);
    }
    is_int(above, 0, "%d random cases: no bound is above the time", runs);
    for (int op = 0; op < HRUN_NET_NOPS; op++)
        printf("# %-10s bound / time on average: %.2f\n", hrun_net_op_name((enum hrun_net_op)op),
               share[op] / counted[op]);
}

static void test_tight_bound(void)
{
    struct hrun_net *net = net_of(8);
    struct hrun_net_call call = { .op = HRUN_NET_ALLTOALL, .bytes = 1e5, .algorithm = "pairwise" };
    struct hrun_net_ranks some = { 4, (const int[]){ 0, 1, 2, 3 }, NULL };
    double bound = 0, time;

    for (int i = 0; i < 8; i++)
        net->classes[i].out_bytes_per_s.v = net->classes[i].in_bytes_per_s.v = 1e8;
    for (int i = 0; i < 64; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 5e-5, NAN }, { 1e8, NAN } };
    net->wire_waits = 1;
    time = net_time(net, HRUN_NET_ALLTOALL, "pairwise", 1e5, 8);
    bound = hrun_net_bound(net, &call, 8, &some, 0, NULL);
    ok(bound > 0.998 * time && bound <= time,
       "an all-to-all of like hosts is bounded by itself");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- what is refused */

static void test_refused(void)
{
    struct hrun_net *net = net_of(3);
    struct hrun_net_time t = { .time_s = -1 };
    const struct {
        struct hrun_net_call call;
        int n, host[3], kind[3];
        enum hrun_code code;
        const char *words;
    } cases[] = {
        { { .op = HRUN_NET_BCAST, .bytes = 1 }, 0, { 0 }, { 0 }, HRUN_EINVAL, "at least one" },
        { { .op = HRUN_NET_BCAST, .bytes = 1 }, 2, { 0, 3 }, { 0 }, HRUN_EINVAL, "rank 1 is on host 3" },
        { { .op = HRUN_NET_BCAST, .bytes = 1 }, 2, { 0, -1 }, { 0 }, HRUN_EINVAL, "rank 1 is on host -1" },
        { { .op = HRUN_NET_BCAST, .bytes = 1 }, 2, { 0, 1 }, { 0, 1 }, HRUN_EINVAL, "PE of kind 1" },
        { { .op = HRUN_NET_BCAST, .bytes = -1 }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL, "bcast of -1 bytes" },
        { { .op = HRUN_NET_BCAST, .bytes = NAN }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL, "bytes" },
        { { .op = HRUN_NET_BCAST, .bytes = INFINITY }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL, "finite" },
        { { .op = HRUN_NET_BCAST, .bytes = 1, .root = 2 }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL, "root 2 of 2 ranks" },
        { { .op = HRUN_NET_BCAST, .bytes = 1, .algorithm = "bruck" }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL,
          "bcast has no algorithm 'bruck'" },
        { { .op = HRUN_NET_NOPS, .bytes = 1 }, 2, { 0, 1 }, { 0 }, HRUN_EINVAL, "operation" },
        { { .op = HRUN_NET_BCAST, .bytes = 1 }, 2, { 0, 2 }, { 0 }, HRUN_ENODATA, "between hosts h0 and h2" },
    };

    net->pairs[1].beta_bytes_per_s.v = net->pairs[3].beta_bytes_per_s.v = 1e8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_net_ranks ranks = { cases[i].n, cases[i].host, cases[i].kind };
        struct hrun_error err = { 0 };

        ok(hrun_net_predict(net, &cases[i].call, &ranks, &t, &err) == -1 && err.code == cases[i].code, "refused");
        has_str(err.text, cases[i].words, "says: %s", err.text);
    }
    free(net->selector);
    net->selector = strdup("lam");
    for (int i = 0; i < 2; i++) {
        struct hrun_net_call call = { .op = HRUN_NET_ALLREDUCE, .bytes = 1, .algorithm = i ? "reduce-bcast" : NULL };
        struct hrun_error err = { 0 };

        ok(hrun_net_predict(net, &call, &(struct hrun_net_ranks){ 2, (const int[]){ 0, 1 }, NULL }, &t, &err) == -1 &&
               err.code == HRUN_EINVAL, "an unknown selector, also for the parts of an algorithm that is given");
        has_str(err.text, "selector 'lam' is unknown", "says: %s", err.text);
    }
    is_num(t.time_s, -1, 0, "outputs are untouched");
    hrun_net_destroy(net);
}

int main(void)
{
    test_algorithms();
    test_totals();
    test_openmpi_allgather();
    test_laws();
    test_closed();
    test_selectors();
    test_irregular();
    test_bounds();
    test_tight_bound();
    test_refused();
    return tap_done();
}
