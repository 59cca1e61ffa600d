/* ways.c - choosing; see ways.h */
#include "ways.h"

#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCATTER = 1 << COLL_SCATTER, GATHER = 1 << COLL_GATHER, BCAST = 1 << COLL_BCAST };

/* Ours. */
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

/* The library's, by the names of lib/net's algorithms; what else it has is not compared with ours. */
static const struct {
    const char *name;
    int ops;
    int blocking;              /* beyond rendezvous one message after the other */
    coll_build *build;
} library[] = {
    { "linear", SCATTER | GATHER | BCAST, 1, coll_tree_mpi_linear },
    { "linear-posted", SCATTER | GATHER, 0, coll_tree_mpi_linear },
    { "linear-sync", GATHER, 1, coll_tree_mpi_linear },
    { "binomial", SCATTER | GATHER, 1, coll_tree_mpi_in_order },
    { "binomial", BCAST, 0, coll_tree_mpi_binomial },
    { "chain", BCAST, 0, coll_tree_mpi_chain },
    { "binary", BCAST, 0, coll_tree_mpi_binary },
    { "knomial", BCAST, 0, coll_tree_mpi_knomial },
};

/* Segments that are tried for broadcasts, bytes: those of Open MPI's own decisions. */
static const double segments[] = { 0, 8192, 32768, 131072 };

void coll_choice_release(struct coll_choice *c)
{
    coll_tree_free(c->tree);
    *c = (struct coll_choice){ .time_s = -1, .library_s = -1 };
}

double coll_round(const struct coll_net *net, double bytes)
{
    int exponent;
    double fraction = frexp(bytes, &exponent), round = ldexp(floor(fraction * 8) / 8, exponent);
    double edges[] = { net->M1, net->M2 + 1 };

    for (int i = 0; i < 2 && net->M2 > 0; i++)
        if (round < edges[i] && edges[i] <= bytes)
            round = edges[i];
    return round;
}

int coll_in_turn(const struct coll_net *net, double bytes)
{
    return net->M2 > 0 && bytes > net->M2;
}

static int is_irregular(const struct coll_net *net, double bytes)
{
    return net->M2 > 0 && bytes >= net->M1 && bytes <= net->M2;
}

/* Below M1 no gather of some 20 was irregular; of the many that an operation in pieces is made of some would be, where
 * the switch's memory is full to the brim. So pieces leave half of it free. */
static const double FULL = 0.5;

double coll_piece(const struct coll_net *net, double bytes)
{
    double most = floor(FULL * net->M1);

    return is_irregular(net, bytes) && most >= 1 ? ceil(bytes / ceil(bytes / most)) : 0;
}

/* Does a rank of the tree gather irregular messages from several at once? */
static int has_irregular(const struct coll_net *net, const struct coll_tree *t, double bytes)
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

/* blocking: messages that wait for their receiver are received one after the other. */
static double play_gather(const struct coll_net *net, const struct coll_ranks *r, const struct coll_tree *t,
                          double bytes, int blocking)
{
    double time_s = coll_play(net, r, t, &(struct coll_play){ COLL_GATHER, bytes, 0, blocking });

    return time_s < 0 ? -1 : time_s + (has_irregular(net, t, bytes) ? net->irregular_s : 0);
}

/* Ours. Where there is an irregular region, what is larger is received one after the other (move.c). */
static double play_ours(const struct coll_net *net, const struct coll_ranks *r, const struct coll_tree *t, double bytes)
{
    return play_gather(net, r, t, bytes, net->M2 > 0);
}

/* A linear gather in pieces: of all but the first one the root tells all by an empty message that it is wanted. */
static double play_pieces(const struct coll_net *net, const struct coll_ranks *r, const struct coll_tree *t,
                          double bytes, double piece)
{
    double rounds = ceil(bytes / piece), last = bytes - (rounds - 1) * piece;
    double call = coll_play(net, r, t, &(struct coll_play){ COLL_SCATTER, 0, 0, 0 });
    double one = play_ours(net, r, t, piece), end = play_ours(net, r, t, last);

    if (rounds <= 1)
        return play_ours(net, r, t, bytes);
    return call < 0 || one < 0 || end < 0 ? -1 : (rounds - 1) * (one + call) + end;
}

/* Open MPI's gather with synchronisation: the root asks each rank by an empty message and waits for its own. */
static double play_synced(const struct coll_net *net, const struct coll_ranks *r, int root, double bytes)
{
    double sum = 0;

    for (int v = 0; v < r->n; v++) {
        double call = coll_p2p(net, r->host[root], r->kind[root], r->host[v], r->kind[v], 0);
        double data = coll_p2p(net, r->host[v], r->kind[v], r->host[root], r->kind[root], bytes);

        if (v != root && (call < 0 || data < 0))
            return -1;
        sum += v == root ? 0 : call + data;
    }
    return sum;
}

/* What the library takes. -1: it is not known. */
static double library_time(const struct coll_net *net, const struct coll_ranks *r, enum coll_op op, int root,
                           double bytes)
{
    const struct coll_rule *rule = coll_rule(net, op, r->n, bytes);
    size_t i = 0, n = sizeof library / sizeof *library;
    struct coll_tree *t;
    double time_s;

    while (rule && i < n && (strcmp(library[i].name, rule->algorithm) || !(library[i].ops & 1 << op)))
        i++;
    if (!rule || i == n)
        return -1;
    if (!strcmp(rule->algorithm, "linear-sync"))
        return play_synced(net, r, root, bytes);
    t = library[i].build(net, r, root, bytes);
    time_s = !t ? -1 : op == COLL_GATHER ? play_gather(net, r, t, bytes, library[i].blocking)
             : coll_play(net, r, t, &(struct coll_play){ op, bytes, 0, library[i].blocking });
    coll_tree_free(t);
    return time_s;
}

static void take_if_better(struct coll_choice *best, const struct way *way, struct coll_tree *t, double segment,
                           double time_s)
{
    if (time_s < 0 || (best->way && time_s >= best->time_s)) {
        coll_tree_free(t);
        return;
    }
    coll_tree_free(best->tree);
    best->way = way->name;
    best->tree = t;
    best->segment = segment;
    best->time_s = time_s;
}

/* Try one way, with all segments. */
static void try_way(const struct coll_net *net, const struct coll_ranks *r, enum coll_op op, int root, double bytes,
                    const struct way *way, struct coll_choice *best)
{
    double piece = way->pieces ? coll_piece(net, bytes) : 0;

    if (way->pieces && piece <= 0)
        return;
    for (size_t k = 0; k < sizeof segments / sizeof *segments; k++) {
        struct coll_tree *t;
        double time_s;

        if (k && (op != COLL_BCAST || bytes <= segments[k]))
            break;
        t = way->build(net, r, root, segments[k] > 0 ? segments[k] : bytes);
        if (!t)
            return;
        time_s = way->pieces ? play_pieces(net, r, t, bytes, piece)
                 : op == COLL_GATHER ? play_ours(net, r, t, bytes)
                 : coll_play(net, r, t, &(struct coll_play){ op, bytes, segments[k], 0 });
        take_if_better(best, way, t, way->pieces ? piece : segments[k], time_s);
    }
}

static int saves(const struct coll_net *net, const struct coll_choice *c)
{
    double saved = c->library_s - c->time_s;

    return c->way && c->library_s >= 0 && saved > net->margin * c->library_s && saved > net->cost_s;
}

void coll_choose(const struct coll_net *net, const struct coll_ranks *ranks, enum coll_op op, int root, double bytes,
                 struct coll_choice *out)
{
    const char *forced = net->forced[op];
    struct coll_choice best = { .time_s = -1, .library_s = -1 };

    best.library_s = library_time(net, ranks, op, root, bytes);
    for (int w = 0; w < NWAYS; w++)
        if ((ways[w].ops & 1 << op) && (*forced ? !strcmp(forced, ways[w].name) : best.library_s >= 0))
            try_way(net, ranks, op, root, bytes, &ways[w], &best);
    if (!*forced && !saves(net, &best)) {
        double library_s = best.library_s;

        coll_choice_release(&best);
        best.library_s = library_s;
    }
    *out = best;
}

/* A linear gather of the library, or scatter. */
static double in_rank_order(const struct coll_net *net, const struct coll_ranks *r, enum coll_op op, int root,
                            double bytes)
{
    struct coll_tree *t = coll_tree_mpi_linear(net, r, root, bytes);
    double time_s = !t ? -1 : op == COLL_GATHER ? play_gather(net, r, t, bytes, 1)
                    : coll_play(net, r, t, &(struct coll_play){ op, bytes, 0, 1 });

    coll_tree_free(t);
    return time_s;
}

/* A part of a time by which two predictions do not differ: they are right within some hundredths at best. */
static const double SAME = 0.01;

int coll_choose_v(const struct coll_net *net, const struct coll_ranks *ranks, enum coll_op op, int root,
                  struct coll_choice *out)
{
    const char *forced = net->forced[op];
    int use = !strcmp(forced, "linear") || !strcmp(forced, "pieces");
    struct coll_choice c = { .way = "linear", .time_s = -1, .library_s = -1 };

    c.tree = coll_tree_linear(net, ranks, root, 1);
    /* From 1 B to 4 MiB, and never worse. */
    for (double bytes = 1; c.tree && !*forced && bytes <= 4 << 20; bytes *= 4) {
        double piece = op == COLL_GATHER ? coll_piece(net, bytes) : 0;

        c.library_s = in_rank_order(net, ranks, op, root, bytes);
        c.time_s = piece > 0 ? play_pieces(net, ranks, c.tree, bytes, piece)
                   : op == COLL_GATHER ? play_ours(net, ranks, c.tree, bytes)
                   : coll_play(net, ranks, c.tree, &(struct coll_play){ op, bytes, 0, 0 });
        if (c.library_s < 0 || c.time_s < 0 || c.time_s > c.library_s * (1 + SAME) + net->cost_s) {
            use = 0;
            break;
        }
        use |= saves(net, &c);
    }
    if (!use || !c.tree) {
        coll_choice_release(&c);
        return 0;
    }
    *out = c;
    return 1;
}
