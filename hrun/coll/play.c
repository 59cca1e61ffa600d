/* play.c - messages along a tree; see play.h */
#include "play.h"
#include "need.h"

/* A rank that can send its next message. */
struct event {
    double time_s;
    int rank;
};

struct state {
    const struct coll_net *net;
    const struct coll_ranks *ranks;
    const struct coll_tree *tree;
    const struct coll_play *what;
    int segments;
    double last;               /* bytes of the last segment */
    struct event *heap;        /* the earliest first */
    int nheap;
    int *turn;                 /* of each rank: messages sent */
    double *sending, *receiving;       /* of each rank: when its processor is free */
    double *out, *in, *memory; /* of each host */
    double *trunk;
    double *arrived;           /* n by segments; -1: not yet */
    double end;
    int unknown;
};

static int earlier(const struct event *a, const struct event *b)
{
    return a->time_s < b->time_s || (a->time_s == b->time_s && a->rank < b->rank);
}

static void push(struct state *s, struct event e)
{
    int i = s->nheap++;

    for (; i > 0 && earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static struct event pop(struct state *s)
{
    struct event first = s->heap[0], last = s->heap[--s->nheap];
    int i = 0, k;

    for (; (k = 2 * i + 1) < s->nheap; i = k) {
        k += k + 1 < s->nheap && earlier(&s->heap[k + 1], &s->heap[k]);
        if (!earlier(&s->heap[k], &last))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = last;
    return first;
}

/* Let a message pass a shared thing from `from` on: when its last byte has. */
static double share(double *is_free, double from, double bytes, double rate)
{
    if (rate <= 0)
        return 0;
    *is_free = (*is_free > from ? *is_free : from) + bytes / rate;
    return *is_free;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Between two hosts, when the sender has begun: when the bytes are there. */
static double wire(struct state *s, int from, int to, double bytes, double ready)
{
    const struct coll_net *net = s->net;
    const struct coll_segment *seg = coll_segment(net, bytes);
    int back = s->what->op == COLL_GATHER;
    int a = s->ranks->host[from], b = s->ranks->host[to], src = back ? b : a, dst = back ? a : b;
    const struct coll_pair *p = &net->pairs[net->class_of[src] * net->nclasses + net->class_of[dst]];
    int trunk = net->group_of[src] * net->ngroups + net->group_of[dst];
    double delay = seg->a * p->L_s, end;

    if (p->beta <= 0) {
        s->unknown = 1;
        return ready;
    }
    end = ready + delay + bytes * seg->b / p->beta;
    end = later(end, share(&s->out[src], ready, bytes, net->classes[net->class_of[src]].out) + delay);
    end = later(end, share(&s->trunk[trunk], ready, bytes, net->trunks[trunk]) + delay);
    return later(end, share(&s->in[dst], ready, bytes, net->classes[net->class_of[dst]].in) + delay);
}

/* Send one message at this time; result: when it has been received. */
static double message(struct state *s, int from, int to, double bytes, double time_s)
{
    const struct coll_net *net = s->net;
    int a = s->ranks->host[from], b = s->ranks->host[to];
    const struct coll_class *ca = &net->classes[net->class_of[a]], *cb = &net->classes[net->class_of[b]];
    double gone, there;

    if (a == b) {
        gone = time_s + coll_p2p(net, a, s->ranks->kind[from], b, s->ranks->kind[to], bytes);
        there = later(gone, share(&s->memory[a], time_s, bytes, ca->local));
        s->sending[from] = gone;
        return there;
    }
    gone = time_s + ca->C_s + ca->t_s_per_byte * bytes;
    there = wire(s, from, to, bytes, gone);
    s->sending[from] = s->what->blocking && net->sync > 0 && bytes >= net->sync ? later(gone, there) : gone;
    s->receiving[to] = later(there, s->receiving[to]) + cb->C_s + cb->t_s_per_byte * bytes;
    return s->receiving[to];
}

static double bytes_of(const struct state *s, int to, int segment)
{
    if (s->what->op != COLL_BCAST)
        return s->what->bytes * s->tree->size[to];
    if (s->segments == 1)
        return s->what->bytes;
    return segment == s->segments - 1 ? s->last : s->what->segment;
}

/* What a rank in the tree does besides: it copies what is for itself and for others, at most as long as a message
 * inside the host takes per byte. */
static double copying_s(const struct state *s, int rank)
{
    const struct coll_tree *t = s->tree;
    const struct coll_class *c = &s->net->classes[s->net->class_of[s->ranks->host[rank]]];
    int kind = s->ranks->kind[rank];

    if (s->what->op == COLL_BCAST || rank == t->root || t->size[rank] == 1)
        return 0;
    return s->what->bytes * c->per_byte[kind * c->nkinds + kind];
}

/* The rank has something to send when its next segment is there and its processor is free. */
static void ready(struct state *s, int rank)
{
    int children = s->tree->first[rank + 1] - s->tree->first[rank], segment;
    double there;

    if (!children || s->turn[rank] >= children * s->segments)
        return;
    segment = s->turn[rank] / children;
    there = s->arrived[rank * s->segments + segment];
    if (there >= 0)
        push(s, (struct event){ later(there, s->sending[rank]), rank });
}

static void run(struct state *s)
{
    while (s->nheap && !s->unknown) {
        struct event e = pop(s);
        int first = s->tree->first[e.rank], children = s->tree->first[e.rank + 1] - first;
        int turn = s->turn[e.rank]++, to = s->tree->child[first + turn % children], segment = turn / children;
        double there = message(s, e.rank, to, bytes_of(s, to, segment), e.time_s) + copying_s(s, to);

        s->end = later(s->end, there);
        s->arrived[to * s->segments + segment] = there;
        /* It waits for this very segment. */
        if (s->tree->first[to + 1] > s->tree->first[to] &&
            s->turn[to] == segment * (s->tree->first[to + 1] - s->tree->first[to]))
            ready(s, to);
        ready(s, e.rank);
    }
}

/* Of more segments than this so many are played, as choosing is to take less than a ms (see coll_play). */
enum { SEGMENTS_MAX = 16 };

static double play(struct state *s)
{
    const struct coll_net *net = s->net;
    size_t n = (size_t)s->tree->n, hosts = (size_t)net->nhosts, groups = (size_t)net->ngroups;
    double *work = coll_need(2 * n + 3 * hosts + groups * groups + n * (size_t)s->segments, sizeof *work);

    s->heap = coll_need(n, sizeof *s->heap);
    s->turn = coll_need(n, sizeof *s->turn);
    s->sending = work;
    s->receiving = s->sending + n;
    s->out = s->receiving + n;
    s->in = s->out + hosts;
    s->memory = s->in + hosts;
    s->trunk = s->memory + hosts;
    s->arrived = s->trunk + groups * groups;
    for (size_t i = 0; i < n * (size_t)s->segments; i++)
        s->arrived[i] = i / (size_t)s->segments == (size_t)s->tree->root ? 0 : -1;
    ready(s, s->tree->root);
    run(s);
    free(work);
    free(s->heap);
    free(s->turn);
    return s->unknown ? -1 : s->end;
}

double coll_play(const struct coll_net *net, const struct coll_ranks *ranks, const struct coll_tree *tree,
                 const struct coll_play *what)
{
    struct state s = { .net = net, .ranks = ranks, .tree = tree, .what = what, .segments = 1 }, fewer;
    struct coll_play part = *what;
    double all, some, count;

    if (what->op != COLL_BCAST || what->segment <= 0 || what->bytes <= what->segment)
        return play(&s);
    count = what->bytes / what->segment;
    if (count <= SEGMENTS_MAX) {
        s.segments = (int)count + (count > (int)count);
        s.last = what->bytes - what->segment * (s.segments - 1);
        return play(&s);
    }
    /* Once a pipeline is full each segment takes as long as the one before. */
    s.what = &part;
    s.segments = SEGMENTS_MAX;
    s.last = what->segment;
    fewer = s;
    fewer.segments = SEGMENTS_MAX / 2;
    all = play(&s);
    some = play(&fewer);
    return all < 0 || some < 0 ? -1 : all + (count - s.segments) * (all - some) / (s.segments - fewer.segments);
}
