/* test_coll.c - what libhrun-coll.so decides by: the text that hrun writes and it reads, trees, times, the choice */
#include "nomem.h"
#include "net_random.h"
#include "tap.h"

#include "../../hrun/coll/play.h"
#include "../../hrun/coll/ways.h"
#include "net/tune.h"

#include <stdlib.h>

enum { HOSTS = 9 };

static double between(uint64_t *rng, double low, double high)
{
    return low * pow(high / low, (double)(net_draw(rng) % 1000003) / 1000003);
}

/* HOSTS unlike hosts, each its own class, behind `groups` switches; nothing limits but hosts and wires. */
static struct hrun_net *unlike_net(uint64_t *rng, int groups, int alike)
{
    const char *const hosts[HOSTS] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
    struct hrun_net *net = hrun_net_create(hosts, HOSTS, NULL);
    double C = 1e-5, t = 1e-9, L = 1e-6, beta = 1e8;

    net->ngroups = groups;
    free(net->trunks);
    net->trunks = calloc((size_t)groups * (size_t)groups, sizeof *net->trunks);
    for (int i = 0; i < HOSTS; i++) {
        net->group_of[i] = i % groups;
        net->classes[i].C_s.v = alike ? C : between(rng, 1e-6, 1e-4);
        net->classes[i].t_s_per_byte.v = alike ? t : between(rng, 1e-10, 1e-8);
        net->classes[i].local_fixed_s[0].v = 1e-6;
        net->classes[i].local_s_per_byte[0].v = 1e-10;
        for (int j = 0; j < HOSTS; j++) {
            net->pairs[i * HOSTS + j].L_s.v = alike ? L : between(rng, 1e-5, 1e-4);
            net->pairs[i * HOSTS + j].beta_bytes_per_s.v = alike ? beta : between(rng, 1e7, 1e9);
        }
    }
    return net;
}

/* One rank on each of the first n hosts, in a shuffled order; host[n] and kind[n] are filled. */
static struct hrun_net_ranks shuffled(uint64_t *rng, int n, int *host, int *kind)
{
    for (int i = 0; i < n; i++) {
        int k = (int)(net_draw(rng) % (unsigned)(i + 1));

        host[i] = host[k];
        host[k] = i;
        kind[i] = 0;
    }
    return (struct hrun_net_ranks){ n, host, kind };
}

static struct coll_net *told(const struct hrun_net *net, const struct hrun_net_ranks *r)
{
    struct hrun_net_tune_options o = { 0.1, 5e-6, 0, 0 };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct coll_net *c = NULL;

    if (!hrun_net_tune(net, r, &o, &b, NULL))
        c = coll_net_read(b.data);
    hrun_buf_release(&b);
    return c;
}

static void test_text(void)
{
    uint64_t rng = 5;
    int host[HOSTS], kind[HOSTS], bad = 0, rules = 0;

    for (int round = 0; round < 50; round++) {
        struct hrun_net *net = unlike_net(&rng, 1 + round % 3, 0);
        struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
        struct coll_net *c = told(net, &r);

        for (int i = 0; c && i < HOSTS; i++)
            for (int j = 0; j < HOSTS; j++) {
                double bytes = between(&rng, 1, 1e6), want = hrun_net_p2p(net, host[i], 0, host[j], 0, bytes);

                bad += !(fabs(coll_p2p(c, c->host[i], 0, c->host[j], 0, bytes) - want) <= 2e-5 * want);
            }
        bad += !c;
        for (int n = 2; c && n <= HOSTS; n++)
            for (double bytes = 1; bytes < 1e7; bytes *= 2) {
                const struct coll_rule *rule = coll_rule(c, COLL_GATHER, n, bytes);

                rules += !rule || strcmp(rule->algorithm, hrun_net_selected("openmpi", HRUN_NET_GATHER, n, bytes));
                rule = coll_rule(c, COLL_BCAST, n, bytes);
                rules += !rule || strcmp(rule->algorithm, hrun_net_selected("openmpi", HRUN_NET_BCAST, n, bytes));
            }
        coll_net_free(c);
        hrun_net_destroy(net);
    }
    is_int(bad, 0, "messages take as long by what is told as by the network");
    is_int(rules, 0, "and the library takes the same algorithms");
}

static void test_damage(void)
{
    uint64_t rng = 7;
    struct hrun_net *net = unlike_net(&rng, 2, 0);
    int host[HOSTS], kind[HOSTS], read = 0;
    struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
    struct hrun_buf b = HRUN_BUF_INIT;
    struct coll_net *c;

    hrun_net_tune(net, &r, NULL, &b, NULL);
    for (size_t len = 0; len < b.len; len++) {
        char *cut = hrun_strf("%.*s", (int)len, b.data);

        c = coll_net_read(cut);
        read += c != NULL;
        coll_net_free(c);
        free(cut);
    }
    is_int(read, 0, "a text that is cut anywhere is refused");
    for (int i = 0; i < 20000; i++) {
        size_t at = net_draw(&rng) % b.len;
        char was = b.data[at];

        b.data[at] = ",;-9e0.abcprst\x01"[net_draw(&rng) % 15];
        c = coll_net_read(b.data);
        for (int k = 0; c && k < c->nranks; k++)
            read += c->host[k] < 0 || c->host[k] >= c->nhosts || c->class_of[c->host[k]] >= c->nclasses;
        coll_net_free(c);
        b.data[at] = was;
    }
    is_int(read, 0, "whatever is read has its indices in range");
    kind[3] = 1;
    ok(hrun_net_tune(net, &r, NULL, &b, NULL) && hrun_net_tune(net, &(struct hrun_net_ranks){ 0 }, NULL, &b, NULL),
       "a kind that the host has not got is refused, and no rank");
    kind[3] = 0;
    hrun_buf_reset(&b);
    if (REPLACEABLE) {
        struct hrun_error err = { 0 };
        long n = 0;
        int rc = -1;

        for (; rc && n < 1000; n++) {
            fail_at = calls + n + 1;
            rc = hrun_net_tune(net, &r, NULL, &b, &err);
            fail_at = 0;
            if (rc && (err.code != HRUN_ENOMEM || b.len))
                break;
            if (rc)
                hrun_buf_release(&b);
        }
        ok(!rc && (n > 1 || !REPLACED), "each allocation may fail");
    }
    hrun_buf_release(&b);
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- trees */

static int is_tree(const struct coll_tree *t, int n, int root)
{
    int good = t && t->n == n && t->root == root && t->parent[root] == -1 && t->size[root] == n;

    for (int v = 0; good && v < n; v++) {
        int at = t->pos[v] + 1;

        good = t->order[t->pos[v]] == v && (v == root || (t->parent[v] >= 0 && t->parent[v] < n));
        for (int k = t->first[v]; good && k < t->first[v + 1]; k++) {
            good = t->parent[t->child[k]] == v && t->pos[t->child[k]] == at;
            at += t->size[t->child[k]];
        }
        good = good && at == t->pos[v] + t->size[v];
    }
    return good;
}

/* Edges of a tree between hosts (or groups) of ranks. */
static int crossings(const struct coll_tree *t, const int *of)
{
    int n = 0;

    for (int v = 0; v < t->n; v++)
        n += t->parent[v] >= 0 && of[v] != of[t->parent[v]];
    return n;
}

static void test_trees(void)
{
    static coll_build *const all[] = {
        coll_tree_linear, coll_tree_binomial, coll_tree_hosts, coll_tree_greedy, coll_tree_mpi_linear,
        coll_tree_mpi_binomial, coll_tree_mpi_in_order, coll_tree_mpi_chain, coll_tree_mpi_binary, coll_tree_mpi_knomial
    };
    uint64_t rng = 11;
    int bad = 0, crossed = 0;

    for (int round = 0; round < 300; round++) {
        int n = 2 + (int)(net_draw(&rng) % 30), host[32], kind[32] = { 0 }, group[32], hosts = 0, groups = 0;
        int root = (int)(net_draw(&rng) % (unsigned)n), seen_h[HOSTS] = { 0 }, seen_g[3] = { 0 };
        struct hrun_net *net = unlike_net(&rng, 3, 0);
        struct hrun_net_ranks r = { n, host, kind };
        struct coll_net *c;
        struct coll_ranks ranks = { n, NULL, kind };

        for (int i = 0; i < n; i++)
            host[i] = (int)(net_draw(&rng) % HOSTS);
        c = told(net, &r);
        ranks.host = c->host;
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            struct coll_tree *t = all[k](c, &ranks, root, 1000);

            bad += !is_tree(t, n, root);
            coll_tree_free(t);
        }
        for (int i = 0; i < n; i++) {
            hosts += !seen_h[c->host[i]]++;
            group[i] = c->group_of[c->host[i]];
            groups += !seen_g[group[i]]++;
        }
        {
            struct coll_tree *t = coll_tree_hosts(c, &ranks, root, 1000);

            crossed += crossings(t, c->host) != hosts - 1 || crossings(t, group) != groups - 1;
            coll_tree_free(t);
        }
        coll_net_free(c);
        hrun_net_destroy(net);
    }
    is_int(bad, 0, "trees span all ranks, with what is below a rank behind it");
    is_int(crossed, 0, "by hosts: each host and each switch is entered once");
}

/* The children of Open MPI's trees of 8 ranks, as coll_base_topo.c (4.1) gives them. */
static void test_library_trees(void)
{
    static const struct { coll_build *build; int parent[8]; const char *what; } trees[] = {
        { coll_tree_mpi_binomial, { -1, 0, 0, 1, 0, 1, 2, 3 }, "binomial" },
        { coll_tree_mpi_in_order, { -1, 0, 0, 2, 0, 4, 4, 6 }, "binomial, in order" },
        { coll_tree_mpi_chain, { -1, 0, 1, 2, 3, 4, 5, 6 }, "chain" },
        { coll_tree_mpi_binary, { -1, 0, 0, 1, 2, 1, 2, 3 }, "binary" },
        { coll_tree_mpi_knomial, { -1, 0, 0, 0, 0, 4, 4, 4 }, "knomial, radix 4" },
    };
    struct coll_ranks ranks = { .n = 8 };

    for (size_t k = 0; k < sizeof trees / sizeof *trees; k++)
        for (int root = 0; root < 8; root += 3) {
            struct coll_tree *t = trees[k].build(NULL, &ranks, root, 1);
            int bad = 0;

            for (int v = 0; v < 8; v++)
                bad += t->parent[(v + root) % 8] != (v ? (trees[k].parent[v] + root) % 8 : -1);
            is_int(bad, 0, "Open MPI's tree: %s from %d", trees[k].what, root);
            coll_tree_free(t);
        }
}

/* ---------------------------------------------------------------- times and the choice */

/* Largest relative difference of our play from lib/net's prediction of one algorithm. */
static double difference(enum coll_op op, enum hrun_net_op net_op, const char *algorithm, coll_build *build,
                         uint64_t seed)
{
    uint64_t rng = seed;
    double worst = 0;

    for (int round = 0; round < 60; round++) {
        struct hrun_net *net = unlike_net(&rng, 1, 0);
        int host[HOSTS], kind[HOSTS], n = 2 + round % (HOSTS - 1), root = round % n;
        struct hrun_net_ranks r = shuffled(&rng, n, host, kind);
        struct coll_net *c = told(net, &r);
        struct coll_ranks ranks = { n, c->host, c->kind };
        double bytes = floor(between(&rng, 1, 1e5)), mine;
        struct coll_tree *t = build(c, &ranks, root, bytes);
        struct hrun_net_call call = { .op = net_op, .bytes = bytes, .root = root, .algorithm = algorithm, .quick = 1 };
        struct hrun_net_time want;

        mine = coll_play(c, &ranks, t, &(struct coll_play){ op, bytes, 0, 0 });
        if (hrun_net_predict(net, &call, &r, &want, NULL))
            worst = INFINITY;
        else
            worst = fmax(worst, fabs(mine - want.time_s) / want.time_s);
        coll_tree_free(t);
        coll_net_free(c);
        hrun_net_destroy(net);
    }
    return worst;
}

static void test_play(void)
{
    uint64_t rng = 3;
    struct hrun_net *net = unlike_net(&rng, 1, 0);
    int host[HOSTS], kind[HOSTS];
    struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
    struct coll_net *c = told(net, &r);
    struct coll_ranks ranks = { HOSTS, c->host, c->kind };
    struct coll_tree *t = coll_tree_linear(c, &ranks, 0, 1000);
    double M = 1000, root_s = c->classes[0].C_s + M * c->classes[0].t_s_per_byte, want = 0, all = (HOSTS - 1) * root_s;
    double d;

    /* Paper 002, section 3: with slow ranks first each but the first to be served is done before the last message has
     * left the root and reached the quickest, or the slowest limits; between these two bounds the play must lie. */
    for (int j = 1; j < HOSTS; j++)
        want = fmax(want, coll_p2p(c, c->host[0], 0, c->host[j], 0, M) - root_s);
    d = coll_play(c, &ranks, t, &(struct coll_play){ COLL_SCATTER, M, 0, 0 });
    ok(d <= (all + want) * (1 + 1e-12) && d >= fmax(all, want), "a linear scatter is within paper 002's formula");
    coll_tree_free(t);
    coll_net_free(c);
    hrun_net_destroy(net);
    d = difference(COLL_SCATTER, HRUN_NET_SCATTER, "linear-posted", coll_tree_mpi_linear, 17);
    ok(d < 1e-4, "linear scatter: as lib/net predicts (%.2g)", d);
    d = difference(COLL_SCATTER, HRUN_NET_SCATTER, "binomial", coll_tree_mpi_in_order, 19);
    ok(d < 0.01, "binomial scatter: as lib/net predicts (%.2g)", d);
    d = difference(COLL_BCAST, HRUN_NET_BCAST, "binomial", coll_tree_mpi_binomial, 23);
    ok(d < 1e-4, "binomial broadcast: as lib/net predicts (%.2g)", d);
    d = difference(COLL_BCAST, HRUN_NET_BCAST, "knomial", coll_tree_mpi_knomial, 29);
    ok(d < 1e-4, "knomial broadcast: as lib/net predicts (%.2g)", d);
    d = difference(COLL_BCAST, HRUN_NET_BCAST, "chain", coll_tree_mpi_chain, 31);
    ok(d < 1e-4, "chain: as lib/net predicts (%.2g)", d);
    d = difference(COLL_GATHER, HRUN_NET_GATHER, "binomial", coll_tree_mpi_in_order, 37);
    ok(d < 0.01, "binomial gather: as lib/net predicts (%.2g)", d);
}

static void test_sizes(void)
{
    struct coll_net net = { .M1 = 3000, .M2 = 70000 };
    int bad = 0;

    for (double bytes = 1; bytes < 1e6; bytes += floor(bytes / 50) + 1) {
        double round = coll_round(&net, bytes), piece = coll_piece(&net, bytes);

        bad += round > bytes || round < 0.8 * bytes - 1 || coll_round(&net, round) != round;
        bad += (bytes >= net.M1 && bytes <= net.M2) != (round >= net.M1 && round <= net.M2);
        bad += piece > 0 ? piece > net.M1 / 2 || bytes < net.M1 || bytes > net.M2 : bytes >= net.M1 && bytes <= net.M2;
    }
    is_int(bad, 0, "sizes are rounded down by a fifth at most, and within their region; pieces are half as large as what is below it");
}

/* Is every way that is taken quicker by the margin, and no other choice slower than what was there? */
static void test_choice(void)
{
    uint64_t rng = 41;
    int bad = 0, taken = 0, left = 0;
    struct coll_choice choice;

    for (int round = 0; round < 200; round++) {
        struct hrun_net *net = unlike_net(&rng, 1 + round % 3, 0);
        int host[16], kind[16] = { 0 }, n = 2 + (int)(net_draw(&rng) % 14);
        struct hrun_net_ranks r = { n, host, kind };
        struct coll_net *c;
        struct coll_ranks ranks;
        enum coll_op op = (enum coll_op)(round % COLL_OPS);

        for (int i = 0; i < n; i++)
            host[i] = (int)(net_draw(&rng) % HOSTS);
        net->thresholds.gather_M1 = 2000;
        net->thresholds.gather_M2 = round % 2 ? 50000 : 0;
        net->thresholds.irregular_s = 0.2;
        c = told(net, &r);
        ranks = (struct coll_ranks){ n, c->host, c->kind };
        coll_choose(c, &ranks, op, round % n, floor(between(&rng, 1, 1e6)), &choice);
        taken += choice.way != NULL;
        left += !choice.way;
        bad += choice.way && (!is_tree(choice.tree, n, round % n) || choice.library_s - choice.time_s <= 5e-6 ||
                              choice.time_s >= 0.9 * choice.library_s);
        coll_choice_release(&choice);
        coll_net_free(c);
        hrun_net_destroy(net);
    }
    is_int(bad, 0, "a way is taken only where it saves a tenth and 5 us");
    ok(taken > 20 && left > 20, "which is often, and often not (%d, %d)", taken, left);
}

static void test_cases(void)
{
    uint64_t rng = 43;
    struct hrun_net *net = unlike_net(&rng, 2, 1);
    int host[8] = { 0, 2, 4, 6, 1, 3, 5, 7 }, kind[8] = { 0 };
    struct hrun_net_ranks r = { 8, host, kind };
    struct coll_net *c = told(net, &r);
    struct coll_ranks ranks = { 8, c->host, c->kind };
    struct coll_choice choice, v;

    /* Open MPI's own is good where all is alike: 8 ranks, 64 bytes. */
    coll_choose(c, &ranks, COLL_GATHER, 0, 64, &choice);
    ok(!choice.way && choice.library_s > 0, "equal hosts on equal links are left to the library");
    coll_choice_release(&choice);
    coll_net_free(c);
    /* Two switches, 1 MB/s between them. */
    net->trunks[1].v = net->trunks[2].v = 1e6;
    c = told(net, &r);
    ranks = (struct coll_ranks){ 8, c->host, c->kind };
    for (int i = 0; i < c->nrules; i++)
        snprintf(c->rules[i].algorithm, sizeof c->rules[i].algorithm, "binomial");
    coll_choose(c, &ranks, COLL_BCAST, 0, 1e6, &choice);
    ok(choice.way && choice.time_s < 0.5 * choice.library_s, "a broadcast crosses a thin link once: %s",
       choice.way ? choice.way : "-");
    coll_choice_release(&choice);
    for (int i = 0; i < c->nrules; i++)
        snprintf(c->rules[i].algorithm, sizeof c->rules[i].algorithm, "unheard-of");
    coll_choose(c, &ranks, COLL_BCAST, 0, 1e6, &choice);
    ok(!choice.way && choice.library_s < 0, "an algorithm that is not known is not compared");
    coll_choice_release(&choice);
    coll_net_free(c);
    net->trunks[1].v = net->trunks[2].v = 0;
    /* Irregular gathers. */
    net->thresholds.gather_M1 = 4000;
    net->thresholds.gather_M2 = 64000;
    net->thresholds.irregular_s = 0.2;
    c = told(net, &r);
    ranks = (struct coll_ranks){ 8, c->host, c->kind };
    for (int i = 0; i < c->nrules; i++)
        snprintf(c->rules[i].algorithm, sizeof c->rules[i].algorithm, "linear");
    coll_choose(c, &ranks, COLL_GATHER, 0, 20000, &choice);
    ok(choice.way && choice.time_s < 0.1 * choice.library_s, "an irregular gather goes another way: %s",
       choice.way ? choice.way : "-");
    ok(coll_choose_v(c, &ranks, COLL_GATHER, 0, &v) && is_tree(v.tree, 8, 0), "with counts too");
    ok(!coll_in_turn(c, 64000) && coll_in_turn(c, 64001), "beyond the region messages come one after the other");
    coll_choice_release(&v);
    coll_choice_release(&choice);
    snprintf(c->forced[COLL_GATHER], sizeof c->forced[COLL_GATHER], "pieces");
    coll_choose(c, &ranks, COLL_GATHER, 0, 20000, &choice);
    ok(choice.way && !strcmp(choice.way, "pieces") && choice.segment < 4000, "a way can be forced");
    coll_choice_release(&choice);
    coll_choose(c, &ranks, COLL_GATHER, 0, 100, &choice);
    ok(!choice.way, "where it can be gone");
    coll_choice_release(&choice);
    coll_net_free(c);
    hrun_net_destroy(net);
}

int main(void)
{
    test_text();
    test_damage();
    test_trees();
    test_library_trees();
    test_play();
    test_sizes();
    test_choice();
    test_cases();
    return tap_done();
}
