/* coll_choice.c - choosing the algorithm of an operation; see coll_choice.h */
#include "coll_choice.h"

#include "base/alloc.h"
#include "net/replay.h"

#include <math.h>
#include <string.h>

enum { SCATTER = 1 << HRUN_NET_SCATTER, GATHER = 1 << HRUN_NET_GATHER, BCAST = 1 << HRUN_NET_BCAST };

static const struct way {
    const char *name;
    int ops;
    int pieces;
    coll_build *build;
} ways[] = {
    { "linear", SCATTER | GATHER, 0, coll_tree_linear },
    { "pieces", GATHER, 1, coll_tree_linear },
    { "binomial", SCATTER | GATHER | BCAST, 0, coll_tree_binomial },
    { "hosts", SCATTER | GATHER | BCAST, 0, coll_tree_hosts },
    { "greedy", BCAST, 0, coll_tree_greedy },
};
enum { NWAYS = sizeof ways / sizeof *ways };

/* Segments tried for broadcasts, bytes; Open MPI's decisions use the same. */
static const double segments[] = { 0, 8192, 32768, 131072 };

void coll_choice_release(struct coll_choice *c)
{
    coll_tree_free(c->tree);
    *c = (struct coll_choice){ .time_s = -1, .library_s = -1 };
}

/* ---------------------------------------------------------------- sizes */

double coll_round(const struct hrun_net *net, double bytes)
{
    const struct hrun_net_thresholds *th = &net->thresholds;
    int exponent;
    double fraction = frexp(bytes, &exponent), round = ldexp(floor(fraction * 8) / 8, exponent);
    double edges[] = { th->gather_M1, th->gather_M2 + 1 };

    for (int i = 0; i < 2 && th->gather_M2 > 0; i++)
        if (round < edges[i] && edges[i] <= bytes)
            round = edges[i];
    return round;
}

int coll_in_turn(const struct hrun_net *net, double bytes)
{
    return net->thresholds.gather_M2 > 0 && bytes > net->thresholds.gather_M2;
}

static int is_irregular(const struct hrun_net *net, double bytes)
{
    const struct hrun_net_thresholds *th = &net->thresholds;

    return th->gather_M2 > 0 && bytes >= th->gather_M1 && bytes <= th->gather_M2;
}

/* Of about 20 gathers below M1 bytes none was irregular. An operation in pieces makes many gathers; some would be
 * irregular if they filled the switch's memory. So a piece has at most half of M1. */
static const double FULL = 0.5;

double coll_piece(const struct hrun_net *net, double bytes)
{
    double most = floor(FULL * net->thresholds.gather_M1);

    return is_irregular(net, bytes) && most >= 1 ? ceil(bytes / ceil(bytes / most)) : 0;
}

/* ---------------------------------------------------------------- times of our ways */

/* Add the copy that rank v makes of its own data, to or from the memory of its subtree's data. */
static void add_copy(struct play_schedule *s, const struct coll_tree *t, enum hrun_net_op op, int v, double bytes)
{
    if (op != HRUN_NET_BCAST && v != t->root && t->size[v] > 1)
        play_copy(s, bytes);
}

/* Add the steps of rank v, as in move.c. */
static void add_gather(const struct hrun_net *net, struct play_schedule *s, const struct coll_tree *t, int v,
                       double bytes)
{
    for (int k = t->first[v]; k < t->first[v + 1]; k++)
        if (coll_in_turn(net, bytes * t->size[t->child[k]]))
            play_recv_wait(s, t->child[k]);
        else
            play_recv(s, t->child[k]);
    play_wait(s);
    add_copy(s, t, HRUN_NET_GATHER, v, bytes);
    if (v != t->root)
        play_send_wait(s, t->parent[v], bytes * t->size[v]);
}

static void add_from_root(struct play_schedule *s, const struct coll_tree *t, enum hrun_net_op op, int v, double bytes)
{
    if (v != t->root)
        play_recv_wait(s, t->parent[v]);
    add_copy(s, t, op, v, bytes);
    for (int k = t->first[v]; k < t->first[v + 1]; k++)
        play_send(s, t->child[k], op == HRUN_NET_BCAST ? bytes : bytes * t->size[t->child[k]]);
    play_wait(s);
}

static double play_tree(const struct hrun_net *net, const struct hrun_net_ranks *r, const struct coll_tree *t,
                        enum hrun_net_op op, double bytes)
{
    struct play_schedule s;
    double time_s = -1;

    play_begin(&s, t->n);
    for (int v = 0; v < t->n; v++) {
        play_rank(&s, v);
        if (op == HRUN_NET_GATHER)
            add_gather(net, &s, t, v, bytes);
        else
            add_from_root(&s, t, op, v, bytes);
    }
    play_run(&s, net, r, &time_s, NULL);   /* cannot fail: messages match and pairs are measured */
    play_release(&s);
    return time_s;
}

/* Time of each further broadcast segment when the pipeline is full, s: the longest time for which a rank's processor, a
 * wire or a shared resource is busy with it. */
static double period_s(const struct hrun_net *net, const struct hrun_net_ranks *r, const struct coll_tree *t,
                       double bytes)
{
    size_t n = wire_resources(net);
    autofree struct share_resource *resources = xcalloc(n, sizeof *resources);
    autofree double *load = xcalloc(n, sizeof *load), *busy = xcalloc((size_t)t->n, sizeof *busy);
    double most_s = 0;

    for (int v = 0; v < t->n; v++) {
        int from = t->parent[v];
        struct share_flow flow;

        if (v == t->root)
            continue;
        busy[from] += wire_processor_s(net, r, from, v, bytes);
        busy[v] += wire_processor_s(net, r, v, from, bytes);
        flow = wire_flow(net, r, from, v, bytes, resources);
        most_s = fmax(most_s, bytes / flow.limit);
        for (int u = 0; u < flow.nuse; u++)
            load[flow.use[u]] += bytes * flow.weight[u];
    }
    for (int v = 0; v < t->n; v++)
        most_s = fmax(most_s, busy[v]);
    for (size_t i = 0; i < n; i++)
        if (load[i] > 0)
            most_s = fmax(most_s, load[i] / resources[i].capacity);
    return most_s;
}

/* 1 if a rank of the tree gathers messages of irregular size from several ranks at once, else 0. */
static int has_irregular(const struct hrun_net *net, const struct coll_tree *t, double bytes)
{
    for (int v = 0; v < t->n; v++) {
        int count = 0;

        for (int k = t->first[v]; k < t->first[v + 1]; k++)
            count += is_irregular(net, bytes * t->size[t->child[k]]);
        if (count > 1)
            return 1;
    }
    return 0;
}

double coll_tree_time(const struct hrun_net *net, const struct hrun_net_ranks *ranks, const struct coll_tree *tree,
                      enum hrun_net_op op, double bytes, double segment)
{
    double first = op == HRUN_NET_BCAST && segment > 0 && segment < bytes ? segment : bytes;
    double time_s = play_tree(net, ranks, tree, op, first);

    if (first < bytes)
        time_s += (bytes / segment - 1) * period_s(net, ranks, tree, segment);
    if (op == HRUN_NET_GATHER && has_irregular(net, tree, bytes))
        time_s += net->thresholds.irregular_s;
    return time_s;
}

/* Time of a linear gather in pieces. The root requests each piece but the first from all ranks by an empty message. */
static double pieces_time(const struct hrun_net *net, const struct hrun_net_ranks *r, const struct coll_tree *t,
                          double bytes, double piece)
{
    double rounds = ceil(bytes / piece), last = bytes - (rounds - 1) * piece;

    if (rounds <= 1)
        return coll_tree_time(net, r, t, HRUN_NET_GATHER, bytes, 0);
    return (rounds - 1) * (coll_tree_time(net, r, t, HRUN_NET_GATHER, piece, 0) +
                           coll_tree_time(net, r, t, HRUN_NET_SCATTER, 0, 0)) +
           coll_tree_time(net, r, t, HRUN_NET_GATHER, last, 0);
}

/* ---------------------------------------------------------------- times of the library */

/* 1 if the MPI library's binomial gather has irregular times, because the data of several subtrees have irregular
 * sizes, else 0. The prediction of lib/net considers this for linear gathers only. */
static int binomial_is_irregular(const struct hrun_net *net, int n, double bytes)
{
    int count = 0;

    for (int bit = 1; bit < n; bit *= 2)
        count += is_irregular(net, bytes * (bit < n - bit ? bit : n - bit));
    return count > 1;
}

/* One collective operation, for which an algorithm is chosen. */
struct way_call {
    const struct hrun_net *net;
    const struct hrun_net_ranks *ranks;
    enum hrun_net_op op;
    int root;
    double bytes;
};

/* The library's time, s; -1: unknown. algorithm NULL: the choice of the network's selector. */
static double library_time(const struct way_call *w, const char *algorithm)
{
    struct hrun_net_call call = { .op = w->op, .bytes = w->bytes, .root = w->root, .algorithm = algorithm };
    struct hrun_net_time time;

    if (hrun_net_predict(w->net, &call, w->ranks, &time, NULL))
        return -1;
    if (w->op == HRUN_NET_GATHER && !strcmp(time.algorithm, "binomial") &&
        binomial_is_irregular(w->net, w->ranks->n, w->bytes))
        time.time_s += w->net->thresholds.irregular_s;
    return time.time_s;
}

/* ---------------------------------------------------------------- the choice */

/* 1 if messages between all hosts of the ranks have been measured, else 0. */
static int are_pairs_measured(const struct hrun_net *net, const struct hrun_net_ranks *r)
{
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < r->n; j++)
            if (isnan(hrun_net_p2p(net, r->host[i], 0, r->host[j], 0, 0)))
                return 0;
    return 1;
}

/* Try one way with all segments, and keep it in *best if it is the quickest so far. */
static void try_way(const struct way_call *w, const struct way *way, struct coll_choice *best)
{
    double piece = way->pieces ? coll_piece(w->net, w->bytes) : 0;

    if (way->pieces && piece <= 0)
        return;
    for (size_t k = 0; k < sizeof segments / sizeof *segments; k++) {
        struct coll_choice c = { .way = way->name, .segment = way->pieces ? piece : segments[k],
                                 .library_s = best->library_s };

        if (k && (w->op != HRUN_NET_BCAST || w->bytes <= segments[k]))
            break;
        c.tree = way->build(w->net, w->ranks, w->root, segments[k] > 0 ? segments[k] : w->bytes);
        if (!c.tree)
            return;
        c.time_s = way->pieces ? pieces_time(w->net, w->ranks, c.tree, w->bytes, piece)
                   : coll_tree_time(w->net, w->ranks, c.tree, w->op, w->bytes, segments[k]);
        if (best->way && c.time_s >= best->time_s) {
            coll_tree_free(c.tree);
            continue;
        }
        coll_tree_free(best->tree);
        *best = c;
    }
}

static int saves(const struct hrun_net_tuning *t, const struct coll_choice *c)
{
    double saved = c->library_s - c->time_s;

    return c->way && c->library_s >= 0 && saved > t->options.margin * c->library_s && saved > t->options.cost_s;
}

void coll_choose(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                 double bytes, struct coll_choice *out)
{
    const struct way_call call = { t->net, ranks, op, root, bytes };
    const char *forced = t->forced[op];

    *out = (struct coll_choice){ .time_s = -1, .library_s = -1 };
    if (!are_pairs_measured(t->net, ranks))
        return;
    out->library_s = library_time(&call, NULL);
    for (int w = 0; w < NWAYS; w++)
        if ((ways[w].ops & 1 << op) && (*forced ? !strcmp(forced, ways[w].name) : out->library_s >= 0))
            try_way(&call, &ways[w], out);
    if (!*forced && !saves(t, out)) {
        double library_s = out->library_s;

        coll_choice_release(out);
        out->library_s = library_s;
    }
}

/* Relative difference below which two predictions count as equal; predictions are accurate to a few hundredths at
 * best. */
static const double SAME = 0.01;

int coll_choose_v(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                  struct coll_choice *out)
{
    const char *forced = t->forced[op];
    int use = !strcmp(forced, "linear") || !strcmp(forced, "pieces");
    struct coll_choice c = { .way = "linear", .time_s = -1, .library_s = -1 };

    if (!are_pairs_measured(t->net, ranks))
        return 0;
    c.tree = coll_tree_linear(t->net, ranks, root, 1);
    /* Compare from 1 B to 4 MiB. Our order is not used if it is slower at one size. */
    for (double bytes = 1; !*forced && bytes <= 4 << 20; bytes *= 4) {
        double piece = op == HRUN_NET_GATHER ? coll_piece(t->net, bytes) : 0;

        c.library_s = library_time(&(struct way_call){ t->net, ranks, op, root, bytes }, "linear");
        c.time_s = piece > 0 ? pieces_time(t->net, ranks, c.tree, bytes, piece)
                             : coll_tree_time(t->net, ranks, c.tree, op, bytes, 0);
        if (c.library_s < 0 || c.time_s > c.library_s * (1 + SAME) + t->options.cost_s) {
            use = 0;
            break;
        }
        use |= saves(t, &c);
    }
    if (!use) {
        coll_choice_release(&c);
        return 0;
    }
    *out = c;
    return 1;
}
