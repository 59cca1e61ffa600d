/* test_coll.c - what libhrun-coll.so decides by: the text that hrun writes and it reads, trees, times, the choice */
#include "net.h"

#include "../../hrun/preloaded/coll_choice.h"
#include "net/tune.h"

#include <stdlib.h>

enum { HOSTS = 9 };

static double between(uint64_t *rng, double low, double high)
{
    return low * pow(high / low, (double)(draw(rng) % 1000003) / 1000003);
}

/* HOSTS unlike hosts, each its own class, behind `groups` switches; nothing limits but hosts and wires. */
static struct hrun_net *unlike_net(uint64_t *rng, int groups, int alike)
{
    const char *const hosts[HOSTS] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
    struct hrun_net *net = net_blank(hosts, HOSTS);
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
        int k = (int)(draw(rng) % (unsigned)(i + 1));

        host[i] = host[k];
        host[k] = i;
        kind[i] = 0;
    }
    return (struct hrun_net_ranks){ n, host, kind };
}

static struct hrun_net_tuning *tuning_of(const struct hrun_net *net, const struct hrun_net_ranks *r)
{
    struct hrun_net_tune_options o = { 0.1, 5e-6, 0, 0 };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_net_tuning *c = NULL;

    if (!hrun_net_tune(net, r, &o, &b, NULL))
        c = hrun_net_tuning_read(b.data);
    hrun_buf_release(&b);
    return c;
}

static void test_text(void)
{
    uint64_t rng = 5;
    int host[HOSTS], kind[HOSTS], bad = 0;

    for (int round = 0; round < 50; round++) {
        struct hrun_net *net = unlike_net(&rng, 1 + round % 3, 0);
        struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
        struct hrun_net_tuning *c = tuning_of(net, &r);

        for (int i = 0; c && i < HOSTS; i++)
            for (int j = 0; j < HOSTS; j++) {
                double bytes = between(&rng, 1, 1e6), want = hrun_net_p2p(net, host[i], 0, host[j], 0, bytes);

                bad += !(fabs(hrun_net_p2p(c->net, c->world.host[i], 0, c->world.host[j], 0, bytes) - want) <=
                         2e-5 * want);
            }
        bad += !c || strcmp(c->net->selector, net->selector) || c->net->ngroups != net->ngroups;
        hrun_net_tuning_destroy(c);
        hrun_net_destroy(net);
    }
    is_int(bad, 0, "messages take as long by the text as by the network");
}

static void test_damage(void)
{
    uint64_t rng = 7;
    struct hrun_net *net = unlike_net(&rng, 2, 0);
    int host[HOSTS], kind[HOSTS], read = 0;
    struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_net_tuning *c;

    hrun_net_tune(net, &r, NULL, &b, NULL);
    for (size_t len = 0; len < b.len; len++) {
        char *cut = hrun_strf("%.*s", (int)len, b.data);

        c = hrun_net_tuning_read(cut);
        read += c != NULL;
        hrun_net_tuning_destroy(c);
        free(cut);
    }
    is_int(read, 0, "a text that is cut anywhere is refused");
    for (int i = 0; i < 20000; i++) {
        size_t at = draw(&rng) % b.len;
        char was = b.data[at];

        b.data[at] = ",;-9e0.abcprst\x01"[draw(&rng) % 15];
        c = hrun_net_tuning_read(b.data);
        for (int k = 0; c && k < c->world.n; k++)
            read += c->world.host[k] < 0 || c->world.host[k] >= c->net->nhosts ||
                    c->net->class_of[c->world.host[k]] >= c->net->nclasses;
        hrun_net_tuning_destroy(c);
        b.data[at] = was;
    }
    is_int(read, 0, "whatever is read has its indices in range");
    kind[3] = 1;
    ok(hrun_net_tune(net, &r, NULL, &b, NULL) && hrun_net_tune(net, &(struct hrun_net_ranks){ 0 }, NULL, &b, NULL),
       "a kind that the host has not got is refused, and no rank");
    kind[3] = 0;
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
        coll_tree_linear, coll_tree_binomial, coll_tree_hosts, coll_tree_greedy
    };
    uint64_t rng = 11;
    int bad = 0, crossed = 0;

    for (int round = 0; round < 300; round++) {
        int n = 2 + (int)(draw(&rng) % 30), host[32], kind[32] = { 0 }, group[32], hosts = 0, groups = 0;
        int root = (int)(draw(&rng) % (unsigned)n), seen_h[HOSTS] = { 0 }, seen_g[3] = { 0 };
        struct hrun_net *net = unlike_net(&rng, 3, 0);
        struct hrun_net_ranks r = { n, host, kind };
        struct hrun_net_tuning *c;
        const int *of;

        for (int i = 0; i < n; i++)
            host[i] = (int)(draw(&rng) % HOSTS);
        c = tuning_of(net, &r);
        of = c->world.host;
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            struct coll_tree *t = all[k](c->net, &c->world, root, 1000);

            bad += !is_tree(t, n, root);
            coll_tree_free(t);
        }
        for (int i = 0; i < n; i++) {
            hosts += !seen_h[of[i]]++;
            group[i] = c->net->group_of[of[i]];
            groups += !seen_g[group[i]]++;
        }
        {
            struct coll_tree *t = coll_tree_hosts(c->net, &c->world, root, 1000);

            crossed += crossings(t, of) != hosts - 1 || crossings(t, group) != groups - 1;
            coll_tree_free(t);
        }
        hrun_net_tuning_destroy(c);
        hrun_net_destroy(net);
    }
    is_int(bad, 0, "trees span all ranks, with what is below a rank behind it");
    is_int(crossed, 0, "by hosts: each host and each switch is entered once");
}

/* ---------------------------------------------------------------- times and the choice */

static void test_times(void)
{
    uint64_t rng = 3;
    struct hrun_net *net = unlike_net(&rng, 1, 0);
    int host[HOSTS], kind[HOSTS];
    struct hrun_net_ranks r = shuffled(&rng, HOSTS, host, kind);
    struct hrun_net_tuning *c = tuning_of(net, &r);
    const struct hrun_net_class *root = &c->net->classes[0];
    struct coll_tree *t = coll_tree_linear(c->net, &c->world, 0, 1000);
    double M = 1000, root_s = root->C_s.v + M * root->t_s_per_byte.v, want = 0, all = (HOSTS - 1) * root_s, d, whole;

    /* Paper 002, section 3: with slow ranks first each but the first to be served is done before the last message has
     * left the root and reached the quickest, or the slowest limits; between these two bounds the play must lie. */
    for (int j = 1; j < HOSTS; j++)
        want = fmax(want, hrun_net_p2p(c->net, c->world.host[0], 0, c->world.host[j], 0, M) - root_s);
    d = coll_tree_time(c->net, &c->world, t, HRUN_NET_SCATTER, M, 0);
    ok(d <= (all + want) * (1 + 1e-12) && d >= fmax(all, want), "a linear scatter is within paper 002's formula");
    is_int(coll_tree_time(c->net, &c->world, t, HRUN_NET_BCAST, M, 0) == d, 1, "as a broadcast of as many bytes");
    coll_tree_free(t);
    t = coll_tree_hosts(c->net, &c->world, 0, 1e6);
    whole = coll_tree_time(c->net, &c->world, t, HRUN_NET_BCAST, 1e6, 0);
    d = coll_tree_time(c->net, &c->world, t, HRUN_NET_BCAST, 1e6, 65536);
    ok(d < whole && d > whole / 16, "a long broadcast gains by segments, as they are handed on at once");
    coll_tree_free(t);
    hrun_net_tuning_destroy(c);
    hrun_net_destroy(net);
}

/* A chain of equal hosts: n segments take what one takes, and then n - 1 times what a rank does with one. */
static void test_pipeline(void)
{
    uint64_t rng = 1;
    struct hrun_net *net = unlike_net(&rng, 1, 1);
    int host[] = { 0, 1 }, kind[] = { 0, 0 };
    struct hrun_net_ranks r = { 2, host, kind };
    struct coll_tree *t = coll_tree_linear(net, &r, 0, 1);
    double one = hrun_net_p2p(net, 0, 0, 1, 0, 1000), all = coll_tree_time(net, &r, t, HRUN_NET_BCAST, 10000, 1000);

    ok(fabs(all - one - 9 * 1.1e-5) < 1e-12, "a pipeline takes its first segment, then its slowest stage for each");
    coll_tree_free(t);
    hrun_net_destroy(net);
}

static void test_sizes(void)
{
    struct hrun_net net = { .thresholds = { .gather_M1 = 3000, .gather_M2 = 70000 } };
    double M1 = net.thresholds.gather_M1, M2 = net.thresholds.gather_M2;
    int bad = 0;

    for (double bytes = 1; bytes < 1e6; bytes += floor(bytes / 50) + 1) {
        double round = coll_round(&net, bytes), piece = coll_piece(&net, bytes);

        bad += round > bytes || round < 0.8 * bytes - 1 || coll_round(&net, round) != round;
        bad += (bytes >= M1 && bytes <= M2) != (round >= M1 && round <= M2);
        bad += piece > 0 ? piece > M1 / 2 || bytes < M1 || bytes > M2 : bytes >= M1 && bytes <= M2;
    }
    is_int(bad, 0, "sizes are rounded down by a fifth at most, and within their region; pieces are half as large as what is below it");
}

/* Is every way that is taken quicker by the margin, and no other choice slower than what was there? */
static void test_choice(void)
{
    uint64_t rng = 41;
    static const enum hrun_net_op ops[] = { HRUN_NET_SCATTER, HRUN_NET_GATHER, HRUN_NET_BCAST };
    int bad = 0, taken = 0, left = 0;
    struct coll_choice choice;

    for (int round = 0; round < 200; round++) {
        struct hrun_net *net = unlike_net(&rng, 1 + round % 3, 0);
        int host[16], kind[16] = { 0 }, n = 2 + (int)(draw(&rng) % 14);
        struct hrun_net_ranks r = { n, host, kind };
        struct hrun_net_tuning *c;
        enum hrun_net_op op = ops[round % 3];

        for (int i = 0; i < n; i++)
            host[i] = (int)(draw(&rng) % HOSTS);
        net->thresholds.gather_M1 = 2000;
        net->thresholds.gather_M2 = round % 2 ? 50000 : 0;
        net->thresholds.irregular_s = 0.2;
        c = tuning_of(net, &r);
        coll_choose(c, &c->world, op, round % n, floor(between(&rng, 1, 1e6)), &choice);
        taken += choice.way != NULL;
        left += !choice.way;
        bad += choice.way && (!is_tree(choice.tree, n, round % n) || choice.library_s - choice.time_s <= 5e-6 ||
                              choice.time_s >= 0.9 * choice.library_s);
        coll_choice_release(&choice);
        hrun_net_tuning_destroy(c);
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
    struct hrun_net_tuning *c = tuning_of(net, &r);
    struct coll_choice choice, v;

    /* Open MPI's own is good where all is alike: 8 ranks, 64 bytes. */
    coll_choose(c, &c->world, HRUN_NET_GATHER, 0, 64, &choice);
    ok(!choice.way && choice.library_s > 0, "equal hosts on equal links are left to the library");
    coll_choice_release(&choice);
    hrun_net_tuning_destroy(c);
    /* Two switches, 1 MB/s between them. */
    net->trunks[1].v = net->trunks[2].v = 1e6;
    c = tuning_of(net, &r);
    coll_choose(c, &c->world, HRUN_NET_BCAST, 0, 1e6, &choice);
    ok(choice.way && choice.time_s < 0.5 * choice.library_s, "a broadcast crosses a thin link once: %s",
       choice.way ? choice.way : "-");
    coll_choice_release(&choice);
    c->net->selector[0] = 'x';
    coll_choose(c, &c->world, HRUN_NET_BCAST, 0, 1e6, &choice);
    ok(!choice.way && choice.library_s < 0, "where it is not known what the library takes nothing is compared");
    coll_choice_release(&choice);
    hrun_net_tuning_destroy(c);
    net->trunks[1].v = net->trunks[2].v = 0;
    /* Irregular gathers. */
    net->thresholds.gather_M1 = 4000;
    net->thresholds.gather_M2 = 64000;
    net->thresholds.irregular_s = 0.2;
    c = tuning_of(net, &r);
    coll_choose(c, &c->world, HRUN_NET_GATHER, 0, 20000, &choice);
    ok(choice.way && choice.time_s < 0.1 * choice.library_s, "an irregular gather goes another way: %s",
       choice.way ? choice.way : "-");
    ok(coll_choose_v(c, &c->world, HRUN_NET_GATHER, 0, &v) && is_tree(v.tree, 8, 0), "with counts too");
    ok(!coll_in_turn(c->net, 64000) && coll_in_turn(c->net, 64001), "beyond the region messages come one after the other");
    coll_choice_release(&v);
    coll_choice_release(&choice);
    snprintf(c->forced[HRUN_NET_GATHER], sizeof c->forced[HRUN_NET_GATHER], "pieces");
    coll_choose(c, &c->world, HRUN_NET_GATHER, 0, 20000, &choice);
    ok(choice.way && !strcmp(choice.way, "pieces") && choice.segment < 4000, "a way can be forced");
    coll_choice_release(&choice);
    coll_choose(c, &c->world, HRUN_NET_GATHER, 0, 100, &choice);
    ok(!choice.way, "where it can be gone");
    coll_choice_release(&choice);
    hrun_net_tuning_destroy(c);
    hrun_net_destroy(net);
}

int main(void)
{
    test_text();
    test_damage();
    test_trees();
    test_times();
    test_pipeline();
    test_sizes();
    test_choice();
    test_cases();
    return tap_done();
}
