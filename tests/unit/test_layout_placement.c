/* test_layout_placement.c - where ranks go: brute force over all placements, messages counted rank by rank, switches,
 * the search beyond what can be tried out, what is refused, and each allocation failing in turn */
#include "nomem.h"
#include "tap.h"

#include "app/app.h"
#include "layout/layout.h"

#include <stdint.h>

enum { HOSTS_MAX = 64, PES_MAX = 128, SUBS_MAX = 3, RANKS_MAX = 256 };

/* A cluster of made-up hosts and its network. */
struct bed {
    struct hrun_cluster cluster;
    struct hrun_subcluster subs[SUBS_MAX];
    struct hrun_pe pes[SUBS_MAX][PES_MAX];
    struct hrun_host hosts[HOSTS_MAX];
    char names[HOSTS_MAX][16];
    struct hrun_net *net;
};

static unsigned draw(uint64_t *state, unsigned n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (unsigned)((*state * 2685821657736338717u) >> 33) % n;
}

/* nhosts hosts, host h of class class_of[h] behind switch group_of[h]; the network is filled in by the caller. */
static void make_bed(struct bed *b, int nhosts, int nsubs, int ngroups)
{
    const char *names[HOSTS_MAX];

    memset(b, 0, sizeof *b);
    for (int h = 0; h < nhosts; h++) {
        snprintf(b->names[h], sizeof b->names[h], "h%d", h);
        names[h] = b->names[h];
        b->hosts[h].name = b->names[h];
    }
    for (int i = 0; i < nsubs; i++)
        b->subs[i] = (struct hrun_subcluster){ .name = (char *)"s", .pes = b->pes[i] };
    b->cluster = (struct hrun_cluster){ .source = (char *)"test", .hosts = b->hosts, .nhosts = nhosts, .ngroups = 1,
                                        .subs = b->subs, .nsubs = nsubs };
    b->net = hrun_net_create(names, nhosts, NULL);
    if (!b->net)
        printf("Bail out! no memory\n"), exit(1);
    b->net->ngroups = ngroups;
    free(b->net->trunks);
    b->net->trunks = calloc((size_t)(ngroups * ngroups), sizeof *b->net->trunks);
}

static void add_pe(struct bed *b, int sub, int host)
{
    struct hrun_subcluster *s = &b->subs[sub];

    b->pes[sub][s->npes++] = (struct hrun_pe){ .host = host, .ncores = 1 };
}

/* Equal hosts of one class: C 10 us, L 20 us, 125 MB/s of ports and wires; inside a host 2 us and 2 GB/s. */
static void equal_hosts(struct bed *b)
{
    struct hrun_net *net = b->net;

    for (int h = 0; h < net->nhosts; h++) {
        net->class_of[h] = 0;
        if (h) {
            free(net->classes[h].local_fixed_s);
            free(net->classes[h].local_s_per_byte);
        }
    }
    net->nclasses = 1;
    net->classes[0].C_s.v = 1e-5;
    net->classes[0].out_bytes_per_s.v = net->classes[0].in_bytes_per_s.v = 125e6;
    net->classes[0].local_fixed_s[0].v = 2e-6;
    net->classes[0].local_s_per_byte[0].v = 0.5e-9;
    net->pairs[0] = (struct hrun_net_pair){ { 2e-5, 0 }, { 125e6, 0 } };
}

static void trunks(struct bed *b, double bytes_per_s)
{
    for (int g = 0; g < b->net->ngroups; g++)
        for (int h = 0; h < b->net->ngroups; h++)
            b->net->trunks[g * b->net->ngroups + h].v = g == h ? 0 : bytes_per_s;
}

/* ---------------------------------------------------------------- the cost, rank by rank */

static int sends(enum hrun_pattern pattern, int r, int s, int n)
{
    int columns = 1;

    if (r == s)
        return 0;
    if (pattern == HRUN_PATTERN_RING)
        return s == (r + 1) % n;
    if (pattern == HRUN_PATTERN_ALLTOALL)
        return 1;
    for (int d = 1; d * d <= n; d++)
        columns = n % d ? columns : d;
    return (r / columns == s / columns && abs(r - s) == 1) || abs(r - s) == columns;
}

static double at_least(double a, double n, double rate)
{
    return rate > 0 ? fmax(a, n / rate) : a;
}

static struct hrun_placement_cost cost_of(const struct hrun_net *net, enum hrun_pattern pattern, double M,
                                          const int *host, int n)
{
    const struct hrun_net_segment *s1 = &net->segments[0];
    struct hrun_placement_cost cost = { 0, 0, 0 };

    for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++) {
            const struct hrun_net_class *a = &net->classes[net->class_of[host[r]]];
            const struct hrun_net_class *b = &net->classes[net->class_of[host[s]]];
            int g = net->group_of[host[r]], h = net->group_of[host[s]], local = 0;
            double per_byte, t, out = 0, in = 0, trunk = 0, k = net->back_share;

            if (!sends(pattern, r, s, n))
                continue;
            for (int p = 0; p < n; p++)
                for (int q = 0; q < n; q++) {
                    int there = net->group_of[host[p]] == g && net->group_of[host[q]] == h;
                    int back = net->group_of[host[p]] == h && net->group_of[host[q]] == g;

                    if (!sends(pattern, p, q, n))
                        continue;
                    local += host[p] == host[q] && host[p] == host[r];
                    if (host[p] == host[q])
                        continue;
                    out += (host[p] == host[r]) + k * (host[q] == host[r]);
                    in += (host[q] == host[s]) + k * (host[p] == host[s]);
                    if (net->trunks_shared && g != h)
                        trunk += (1 + k) * (there + back);
                    else
                        trunk += there + k * back;
                }
            if (host[r] == host[s]) {
                per_byte = at_least(a->local_s_per_byte[0].v, local, a->local_bytes_per_s);
                t = a->local_fixed_s[0].v + M * per_byte;
            } else {
                const struct hrun_net_pair *p = &net->pairs[net->class_of[host[r]] * net->nclasses +
                                                            net->class_of[host[s]]];

                per_byte = at_least(1 / p->beta_bytes_per_s.v, out, a->out_bytes_per_s.v);
                per_byte = at_least(per_byte, in, b->in_bytes_per_s.v);
                per_byte = at_least(per_byte, trunk, net->trunks[g * net->ngroups + h].v);
                t = a->C_s.v + b->C_s.v + s1->a * p->L_s.v +
                    M * (a->t_s_per_byte.v + b->t_s_per_byte.v + s1->b * per_byte);
                cost.crossings += g != h;
            }
            cost.slowest_s = fmax(cost.slowest_s, t);
            cost.sum_s += t;
        }
    return cost;
}

/* ---------------------------------------------------------------- brute force */

struct brute {
    const struct bed *bed;
    const int *pes, *procs;
    enum hrun_pattern pattern;
    double bytes;
    int seen[SUBS_MAX][PES_MAX];
    int host[RANKS_MAX];
    struct hrun_placement_cost best;
};

static void try_rest(struct brute *b, int sub, int k, int nranks)
{
    struct hrun_placement_cost c;

    while (sub < b->bed->cluster.nsubs && k == b->pes[sub]) {
        sub++;
        k = 0;
    }
    if (sub == b->bed->cluster.nsubs) {
        c = cost_of(b->bed->net, b->pattern, b->bytes, b->host, nranks);
        if (c.slowest_s < b->best.slowest_s * (1 - 1e-12) ||
            (c.slowest_s <= b->best.slowest_s * (1 + 1e-12) && c.sum_s < b->best.sum_s))
            b->best = c;
        return;
    }
    for (int p = 0; p < b->bed->subs[sub].npes; p++) {
        if (b->seen[sub][p])
            continue;
        b->seen[sub][p] = 1;
        for (int m = 0; m < b->procs[sub]; m++)
            b->host[nranks + m] = b->bed->pes[sub][p].host;
        try_rest(b, sub, k + 1, nranks + b->procs[sub]);
        b->seen[sub][p] = 0;
    }
}

/* The hosts of the ranks of an order of PEs (NULL: the plain one); how many ranks. */
static int ranks_of(const struct bed *b, const int *pes, const int *procs, const int *order, int *host)
{
    int n = 0;

    for (int i = 0; i < b->cluster.nsubs; i++)
        for (int k = 0; k < pes[i]; k++) {
            int pe = order ? *order++ : k;

            for (int m = 0; m < procs[i]; m++)
                host[n++] = b->pes[i][pe].host;
        }
    return n;
}

static int near_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static int same_cost(const struct hrun_placement_cost *a, const struct hrun_placement_cost *b)
{
    return near_to(a->slowest_s, b->slowest_s) && near_to(a->sum_s, b->sum_s);
}

static int by_host(const void *a, const void *b)
{
    return ((const struct hrun_pe *)a)->host - ((const struct hrun_pe *)b)->host;
}

/* Random hosts, sub-clusters, networks and configurations, all small enough to try out. */
static void random_bed(struct bed *b, uint64_t *rng, int *pes, int *procs)
{
    int nhosts = 2 + (int)draw(rng, 4), nsubs = 1 + (int)draw(rng, 2), ngroups = 1 + (int)draw(rng, 3);
    struct hrun_net *net;

    if (ngroups > nhosts)
        ngroups = nhosts;
    make_bed(b, nhosts, nsubs, ngroups);
    net = b->net;
    for (int h = 0; h < nhosts; h++) {
        struct hrun_net_class *c = &net->classes[h];

        net->class_of[h] = (int)draw(rng, 2);
        net->group_of[h] = (int)draw(rng, (unsigned)ngroups);
        c->C_s.v = 1e-5 * draw(rng, 3);
        c->t_s_per_byte.v = 1e-9 * draw(rng, 3);
        c->out_bytes_per_s.v = 1e8 * draw(rng, 3);
        c->in_bytes_per_s.v = 1e8 * draw(rng, 3);
        c->local_bytes_per_s = 1e9 * draw(rng, 2);
        c->local_fixed_s[0].v = 1e-6 * (1 + draw(rng, 30));
        c->local_s_per_byte[0].v = 1e-9 * draw(rng, 9);
    }
    for (int i = 0; i < nhosts * nhosts; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 1e-5 * draw(rng, 4), 0 }, { 1e8 * (1 + draw(rng, 3)), 0 } };
    for (int g = 0; g < ngroups * ngroups; g++)
        net->trunks[g].v = 1e8 * draw(rng, 3);
    net->trunks_shared = (int)draw(rng, 2);
    net->back_share = 0.05 * draw(rng, 3);
    net->segments[0] = (struct hrun_net_segment){ 0, 0.5 * (1 + draw(rng, 4)), 0.5 * (1 + draw(rng, 4)) };
    for (int g = 0; g < ngroups && net->trunks_shared; g++)
        for (int h = 0; h < g; h++)
            net->trunks[g * ngroups + h] = net->trunks[h * ngroups + g];
    for (int i = 0; i < nsubs; i++) {
        int n = 2 + (int)draw(rng, nsubs == 1 ? 4 : 3);

        while (b->subs[i].npes < n)
            add_pe(b, i, (int)draw(rng, (unsigned)nhosts));
        qsort(b->pes[i], (size_t)n, sizeof b->pes[i][0], by_host);
        pes[i] = 1 + (int)draw(rng, (unsigned)n);
        procs[i] = 1 + (int)draw(rng, 2);
    }
}

static void test_brute(void)
{
    enum { ROUNDS = 300, SEED = 21 };
    uint64_t rng = SEED;
    int good = 0, exact = 0, changed = 0, orders = 0;
    struct bed *b = malloc(sizeof *b);

    for (int r = 0; r < ROUNDS; r++) {
        struct brute brute = { .bed = b, .bytes = 65536, .pattern = (enum hrun_pattern)(r % HRUN_NPATTERNS),
                               .best = { INFINITY, INFINITY, 0 } };
        struct hrun_placement p = { NULL };
        struct hrun_error err = { 0 };
        struct hrun_placement_cost plain, mine;
        struct hrun_layout *l;
        int pes[SUBS_MAX] = { 0 }, procs[SUBS_MAX] = { 0 }, host[RANKS_MAX], n;

        random_bed(b, &rng, pes, procs);
        brute.pes = pes;
        brute.procs = procs;
        try_rest(&brute, 0, 0, 0);
        if (hrun_placement_find(&(struct hrun_placement_request){ &b->cluster, pes, procs, brute.pattern, b->net, 65536,
                                                                  0, 1e9, NULL }, &p, &err)) {
            printf("#   round %d: %s\n", r, err.text);
            continue;
        }
        n = ranks_of(b, pes, procs, NULL, host);
        plain = cost_of(b->net, brute.pattern, 65536, host, n);
        ranks_of(b, pes, procs, p.order, host);
        mine = cost_of(b->net, brute.pattern, 65536, host, n);
        exact += p.exact;
        changed += p.changed;
        if (same_cost(&p.plain, &plain) && same_cost(&p.cost, &mine) && p.cost.crossings == mine.crossings &&
            same_cost(&p.cost, &brute.best))
            good++;
        else
            printf("#   round %d, pattern %d of %d: %.9g %.9g, want %.9g %.9g\n", r, (int)brute.pattern, n,
                   p.cost.slowest_s, p.cost.sum_s, brute.best.slowest_s, brute.best.sum_s);
        l = hrun_layout_create_placed(&b->cluster, pes, procs, p.order, &err);
        for (int i = 0; l && i < n; i++)
            orders += l->ranks[i].host != host[i];
        orders += !l || l->nranks != n;
        hrun_layout_destroy(l);
        hrun_placement_release(&p);
        hrun_net_destroy(b->net);
    }
    is_int(good, ROUNDS, "as cheap as brute force finds it, and costs as counted rank by rank (seed %d)", SEED);
    is_int(exact, ROUNDS, "and known to be");
    is_int(orders, 0, "the layout has the ranks where the placement says");
    ok(changed > ROUNDS / 4, "often it is not the plain order (%d)", changed);
    free(b);
}

/* Without its busy PEs a cluster is placed on as one that has not got them. */
static void test_busy(void)
{
    enum { ROUNDS = 200, SEED = 31 };
    uint64_t rng = SEED;
    int same = 0, tried = 0, refused = 0;
    struct bed *b = malloc(sizeof *b), *less = malloc(sizeof *less);

    for (int r = 0; r < ROUNDS; r++) {
        int pes[SUBS_MAX] = { 0 }, procs[SUBS_MAX] = { 0 }, left[SUBS_MAX][PES_MAX], k = 0, good = 1;
        char mask[SUBS_MAX][PES_MAX] = { { 0 } };
        const char *const busy[SUBS_MAX] = { mask[0], mask[1], mask[2] };
        struct hrun_placement p = { NULL }, q = { NULL };
        struct hrun_placement_request req = { &b->cluster, pes, procs, (enum hrun_pattern)(r % HRUN_NPATTERNS), NULL,
                                              65536, 0, 1e9, busy };
        struct hrun_error err;

        random_bed(b, &rng, pes, procs);
        *less = *b;
        less->cluster.subs = less->subs;
        for (int i = 0; i < b->cluster.nsubs; i++) {
            less->subs[i].pes = less->pes[i];
            less->subs[i].npes = 0;
            for (int n = 0; n < b->subs[i].npes; n++) {
                mask[i][n] = draw(&rng, 3) == 0;
                left[i][less->subs[i].npes] = n;
                if (!mask[i][n])
                    add_pe(less, i, b->subs[i].pes[n].host);
            }
            good &= case_holds(pes[i] <= less->subs[i].npes, r, i);
        }
        req.net = b->net;
        if (!good) {
            refused += hrun_placement_find(&req, &p, &err) && err.code == HRUN_EINVAL;
            hrun_net_destroy(b->net);
            continue;
        }
        tried++;
        good = !hrun_placement_find(&req, &p, &err);
        req.cluster = &less->cluster;
        req.busy = NULL;
        good &= case_holds(!hrun_placement_find(&req, &q, &err) && same_cost(&p.cost, &q.cost) &&
                           same_cost(&p.plain, &q.plain), r);
        for (int i = 0; i < b->cluster.nsubs && good; i++)
            for (int n = 0; n < pes[i]; n++, k++)
                good &= case_holds(p.order[k] == left[i][q.order[k]], r, i, n);
        same += good;
        hrun_placement_release(&p);
        hrun_placement_release(&q);
        hrun_net_destroy(b->net);
    }
    is_int(same, tried, "busy PEs are as none (seed %d)", SEED);
    ok(tried > ROUNDS / 4 && refused == ROUNDS - tried, "and where too few are left it is said");
    free(b);
    free(less);
}

/* ---------------------------------------------------------------- switches */

/* n equal hosts, alternately behind two switches, or three. */
static void alternate(struct bed *b, int n, int ngroups)
{
    make_bed(b, n, 1, ngroups);
    equal_hosts(b);
    trunks(b, 125e6);
    for (int h = 0; h < n; h++) {
        b->net->group_of[h] = h % ngroups;
        add_pe(b, 0, h);
    }
}

static void place(const struct bed *b, enum hrun_pattern pattern, int pes, int procs, double steps,
                  struct hrun_placement *p)
{
    struct hrun_error err = { 0 };
    int ok_ = !hrun_placement_find(&(struct hrun_placement_request){ &b->cluster, &pes, &procs, pattern, b->net,
                                                                     HRUN_PLACEMENT_BYTES, HRUN_PLACEMENT_WORTH,
                                                                     steps, NULL }, p, &err);

    if (!ok_)
        printf("Bail out! %s\n", err.text), exit(1);
}

static void test_switches(void)
{
    struct hrun_placement p = { NULL }, q = { NULL };
    struct bed *b = malloc(sizeof *b);

    alternate(b, 8, 2);
    place(b, HRUN_PATTERN_RING, 8, 1, HRUN_PLACEMENT_STEPS, &p);
    ok(p.exact && p.changed && p.ngroups == 2 && p.messages == 8 && p.cost.crossings == 2 && p.plain.crossings == 8,
       "a ring of 8 over two switches: 2 crossings in place of 8");
    ok(p.order[0] == 0 && p.order[1] == 2, "host 0 stays the first, then the next behind its switch");
    hrun_placement_release(&p);
    place(b, HRUN_PATTERN_RING, 4, 2, HRUN_PLACEMENT_STEPS, &p);
    ok(p.cost.crossings == 0 && p.plain.crossings == 4, "4 of 8 hosts: all behind one switch");
    hrun_placement_release(&p);
    place(b, HRUN_PATTERN_GRID, 8, 1, HRUN_PLACEMENT_STEPS, &p);
    ok(p.cost.crossings == 4 && p.messages == 20, "a grid of 4 by 2, cut in halves: 2 wires, both ways (%lld)",
       p.cost.crossings);
    hrun_placement_release(&p);
    place(b, HRUN_PATTERN_ALLTOALL, 8, 1, HRUN_PLACEMENT_STEPS, &p);
    ok(!p.changed && p.cost.crossings == 32 && p.order[5] == 5, "each to each on all hosts: the order does not matter");
    hrun_placement_release(&p);
    trunks(b, 0);
    place(b, HRUN_PATTERN_RING, 8, 1, HRUN_PLACEMENT_STEPS, &p);
    ok(!p.changed && p.cost.crossings == 8, "trunks that limit nothing: the plain order stays");
    hrun_placement_release(&p);
    hrun_net_destroy(b->net);

    alternate(b, 36, 3);
    place(b, HRUN_PATTERN_RING, 36, 1, 1e6, &p);
    place(b, HRUN_PATTERN_RING, 36, 1, 1e6, &q);
    ok(!p.exact && p.cost.crossings == 3 && p.plain.crossings == 36, "36 hosts, too many to try: 3 crossings (%lld)",
       p.cost.crossings);
    ok(!memcmp(p.order, q.order, 36 * sizeof *p.order), "the same again");
    hrun_placement_release(&p);
    hrun_placement_release(&q);
    place(b, HRUN_PATTERN_GRID, 36, 1, HRUN_PLACEMENT_STEPS, &p);
    ok(p.cost.crossings <= 24 && p.plain.crossings >= 60, "a grid of 6 by 6 in three stripes or better: %lld in place "
       "of %lld", p.cost.crossings, p.plain.crossings);
    hrun_placement_release(&p);
    hrun_net_destroy(b->net);
    free(b);
}

/* Two sub-clusters, whose hosts are behind both switches: the second goes on where the first has ended. */
static void test_two_subs(void)
{
    int pes[] = { 4, 4 }, procs[] = { 2, 1 };
    struct hrun_placement p = { NULL };
    struct bed *b = malloc(sizeof *b);

    make_bed(b, 8, 2, 2);
    equal_hosts(b);
    trunks(b, 125e6);
    for (int h = 0; h < 8; h++) {
        b->net->group_of[h] = h % 2;
        add_pe(b, h / 4, h);
    }
    ok(!hrun_placement_find(&(struct hrun_placement_request){ &b->cluster, pes, procs, HRUN_PATTERN_RING, b->net, 65536,
                                                              0.01, 2e7, NULL }, &p, NULL) && p.exact,
       "two sub-clusters");
    ok(p.cost.crossings == 2, "2 crossings (%lld in place of %lld)", p.cost.crossings, p.plain.crossings);
    hrun_placement_release(&p);
    hrun_net_destroy(b->net);
    free(b);
}

static void test_refused(void)
{
    int pes[] = { 2 }, procs[] = { 1 }, order[] = { 1, 1 };
    struct hrun_placement p = { NULL };
    struct hrun_error err = { 0 };
    struct bed *b = malloc(sizeof *b);
    struct hrun_placement_request req;

    alternate(b, 3, 1);
    req = (struct hrun_placement_request){ &b->cluster, pes, procs, HRUN_PATTERN_RING, b->net, 65536, 0.01, 1e6, NULL };
    b->names[2][1] = 'x';
    ok(hrun_placement_find(&req, &p, &err) == -1 && err.code == HRUN_ENOENT && !p.order, "a host of no network");
    is_str(err.text, "host hx is not in the network that was measured", "is named");
    b->names[2][1] = '2';
    b->net->pairs[0].beta_bytes_per_s.v = 0;
    ok(hrun_placement_find(&req, &p, &err) == -1 && err.code == HRUN_ENODATA, "nothing known between two hosts");
    is_str(err.text, "the network knows nothing of messages from h0 to h1", "which are named");
    b->net->pairs[0].beta_bytes_per_s.v = 125e6;
    pes[0] = 4;
    ok(hrun_placement_find(&req, &p, &err) == -1 && err.code == HRUN_EINVAL, "more PEs than there are");
    pes[0] = 0;
    ok(hrun_placement_find(&req, &p, &err) == -1 && err.code == HRUN_EINVAL, "no PE at all");
    pes[0] = 2;
    ok(!hrun_layout_create_placed(&b->cluster, pes, procs, order, &err) && err.code == HRUN_EINVAL, "a PE twice");
    has_str(err.text, "PE 1 is named twice", "which is said");
    order[1] = 3;
    ok(!hrun_layout_create_placed(&b->cluster, pes, procs, order, &err), "a PE that there is not");
    pes[0] = 1;
    procs[0] = 1;
    ok(!hrun_placement_find(&req, &p, &err) && p.messages == 0 && p.n == 1 && !p.changed, "one process sends nothing");
    hrun_placement_release(&p);
    hrun_placement_release(NULL);
    pes[0] = 3;
    calls = 0;
    ok(!hrun_placement_find(&req, &p, &err), "in all memory");
    hrun_placement_release(&p);
    for (long i = 1, n = REPLACED ? calls : 0; i <= n; i++) {
        long before = live;
        int rc;

        memset(&err, 0, sizeof err);
        calls = 0;
        fail_at = i;
        rc = hrun_placement_find(&req, &p, &err);
        fail_at = 0;
        if (!rc)
            break;      /* what came after is not the search's own */
        ok(err.code == HRUN_ENOMEM && live == before && !p.order, "allocation %ld fails", i);
    }
    hrun_net_destroy(b->net);
    free(b);
}

/* One host tells two kinds of PEs apart, the other one does not. */
static void test_kinds(void)
{
    int pes[] = { 2 }, procs[] = { 2 };
    struct hrun_placement p = { NULL };
    struct bed *b = malloc(sizeof *b);
    struct hrun_net_class *c;

    make_bed(b, 2, 1, 1);
    for (int i = 0; i < 4; i++)
        b->net->pairs[i] = (struct hrun_net_pair){ { 0, 0 }, { 1e9, 0 } };
    for (int h = 0; h < 2; h++)
        add_pe(b, 0, h);
    b->subs[0].kind = 1;
    c = &b->net->classes[0];
    c->nkinds = 2;
    free(c->local_fixed_s);
    free(c->local_s_per_byte);
    c->local_fixed_s = calloc(4, sizeof *c->local_fixed_s);
    c->local_s_per_byte = calloc(4, sizeof *c->local_s_per_byte);
    c->local_fixed_s[3].v = 3e-3;
    b->net->classes[1].local_fixed_s[0].v = 1e-3;
    /* Of the ring two messages stay inside hosts, two take 1 ms of wire. */
    ok(!hrun_placement_find(&(struct hrun_placement_request){ &b->cluster, pes, procs, HRUN_PATTERN_RING, b->net, 1e6,
                                                              0.01, 1e6, NULL }, &p, NULL), "hosts of unlike kinds");
    ok(fabs(p.plain.slowest_s - 3e-3) < 1e-12, "slowest: from kind to kind on the first host (%g)", p.plain.slowest_s);
    ok(fabs(p.plain.sum_s - 6e-3) < 1e-12, "and in all (%g)", p.plain.sum_s);
    hrun_placement_release(&p);
    hrun_net_destroy(b->net);
    free(b);
}

static void test_names(void)
{
    int n = 0;

    while (hrun_app_patterns[n]) {
        is_int(hrun_pattern_find(hrun_app_patterns[n]), n, "definitions may say %s", hrun_app_patterns[n]);
        n++;
    }
    is_int(n, HRUN_NPATTERNS, "and no more");
    is_int(hrun_pattern_find("star"), -1, "no star");
}

int main(void)
{
    test_names();
    test_brute();
    test_busy();
    test_switches();
    test_two_subs();
    test_refused();
    test_kinds();
    return tap_done();
}
