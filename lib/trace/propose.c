/* propose.c - terms of a model from watched runs; see trace.h */
#include "trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a function's calls and bytes mean for its time. */
struct cost {
    const char *name;             /* without the I of the variant that does not wait */
    enum hrun_form_factor calls;  /* messages that follow each other in one call: 1, log(P) or P-1 */
    enum hrun_form_factor bytes;  /* how often a rank's own part passes through a rank */
};
static const struct cost costs[] = {
    /* messages from one to one */
    { "Send", HRUN_FORM_ONE, HRUN_FORM_ONE }, { "Bsend", HRUN_FORM_ONE, HRUN_FORM_ONE },
    { "Ssend", HRUN_FORM_ONE, HRUN_FORM_ONE }, { "Rsend", HRUN_FORM_ONE, HRUN_FORM_ONE },
    { "Sendrecv", HRUN_FORM_ONE, HRUN_FORM_ONE }, { "Sendrecv_replace", HRUN_FORM_ONE, HRUN_FORM_ONE },
    { "Start", HRUN_FORM_ONE, HRUN_FORM_ONE }, { "Startall", HRUN_FORM_ONE, HRUN_FORM_ONE },
    { "Neighbor_allgather", HRUN_FORM_ONE, HRUN_FORM_ONE }, { "Neighbor_alltoall", HRUN_FORM_ONE, HRUN_FORM_ONE },
    /* trees: small messages go log2(P) steps, large ones are cut so that each byte passes a few times */
    { "Barrier", HRUN_FORM_LOG, HRUN_FORM_ONE }, { "Bcast", HRUN_FORM_LOG, HRUN_FORM_LOG },
    { "Reduce", HRUN_FORM_LOG, HRUN_FORM_LOG }, { "Allreduce", HRUN_FORM_LOG, HRUN_FORM_LOG },
    { "Scan", HRUN_FORM_LOG, HRUN_FORM_LOG }, { "Exscan", HRUN_FORM_LOG, HRUN_FORM_LOG },
    { "Reduce_scatter", HRUN_FORM_LOG, HRUN_FORM_ONE }, { "Reduce_scatter_block", HRUN_FORM_LOG, HRUN_FORM_OTHERS },
    /* the parts of all meet in one rank, or in each */
    { "Gather", HRUN_FORM_LOG, HRUN_FORM_OTHERS }, { "Gatherv", HRUN_FORM_OTHERS, HRUN_FORM_OTHERS },
    { "Scatter", HRUN_FORM_LOG, HRUN_FORM_OTHERS }, { "Scatterv", HRUN_FORM_OTHERS, HRUN_FORM_OTHERS },
    { "Allgather", HRUN_FORM_LOG, HRUN_FORM_OTHERS }, { "Allgatherv", HRUN_FORM_LOG, HRUN_FORM_OTHERS },
    { "Alltoall", HRUN_FORM_OTHERS, HRUN_FORM_ONE }, { "Alltoallv", HRUN_FORM_OTHERS, HRUN_FORM_ONE },
};

/* The row of a function, NULL: it moves nothing of its own (MPI_Wait). */
static const struct cost *cost_of(const char *name)
{
    char plain[HRUN_TRACE_NAME];

    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        if (!strcmp(costs[i].name, name))
            return &costs[i];
        /* "Ibcast" is "Bcast". */
        if (name[0] == 'I' && name[1]) {
            memcpy(plain, name + 1, strlen(name));
            plain[0] = (char)(plain[0] - 'a' + 'A');
            if (!strcmp(costs[i].name, plain))
                return &costs[i];
        }
    }
    return NULL;
}

static const struct hrun_trace_call *find_call(const struct hrun_trace_sub *s, const char *name)
{
    for (int i = 0; i < s->ncalls; i++)
        if (!strcmp(s->calls[i].name, name))
            return &s->calls[i];
    return NULL;
}

static int push_new(struct hrun_strvec *v, const char *word)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->v[i], word))
            return 0;
    return hrun_strvec_push(v, word);
}

/* Append form times another factor as a term. Two logarithms or P-1 twice are left as one: terms that far out are
 * noise. */
static int push_term(struct hrun_strvec *v, const struct hrun_form *form, enum hrun_form_factor more)
{
    struct hrun_form f = *form;
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc;

    if (more != HRUN_FORM_ONE && f.g == HRUN_FORM_ONE)
        f.g = more;
    hrun_form_print(&f, &b);
    rc = b.failed || push_new(v, b.data);
    hrun_buf_release(&b);
    return rc ? -1 : 0;
}

/* ---------------------------------------------------------------- one function */

struct table {
    double *N, *P, *q;
    int n;
};

enum quantity { COUNT, BYTES, COMPUTE };

/* The M that most homogeneous runs have, of several the smallest. */
static int usual_m(const struct hrun_trace_point *points, int n)
{
    int best = 0, most = 0;

    for (int i = 0; i < n; i++) {
        int same = 0;

        for (int k = 0; k < n; k++)
            same += !points[k].mixed && points[k].M == points[i].M;
        if (same > most || (same == most && points[i].M < best)) {
            most = same;
            best = points[i].M;
        }
    }
    return best;
}

static void collect(const struct hrun_trace_point *points, int n, const char *name, enum quantity what, struct table *t)
{
    int m = what == COMPUTE ? usual_m(points, n) : 0;

    t->n = 0;
    for (int i = 0; i < n; i++) {
        const struct hrun_trace_call *c = what == COMPUTE ? NULL : find_call(points[i].seen, name);
        double q = what == COMPUTE ? (points[i].mixed || points[i].M != m ? 0 : points[i].seen->compute_s)
                 : !c ? 0 : what == COUNT ? c->count_max : c->bytes_max;

        if ((what != COMPUTE && points[i].P < 2) || points[i].P < 1 || points[i].N < 1 || !(q > 0))
            continue;
        t->N[t->n] = points[i].N;
        t->P[t->n] = points[i].P;
        t->q[t->n++] = q;
    }
}

static double share_of(const struct hrun_trace_point *points, int n, const char *name)
{
    double sum = 0;
    int used = 0;

    for (int i = 0; i < n; i++) {
        const struct hrun_trace_call *c = find_call(points[i].seen, name);
        double all = points[i].seen->elapsed_s;

        if (points[i].P < 2 || !(all > 0))
            continue;
        sum += (name[0] ? c ? c->time_s : 0 : points[i].seen->compute_mean_s) / all;
        used++;
    }
    return used ? sum / used : 0;
}

/* Fill *p for a function, "" for computing. 1: done; 0: it has no shape; -1: no memory. */
static int propose_one(const struct hrun_trace_point *points, int n, const char *name, struct table *t,
                       struct hrun_trace_proposal *p)
{
    const struct cost *cost = name[0] ? cost_of(name) : NULL;

    memset(p, 0, sizeof *p);
    if (name[0] && !cost)
        return 0;
    memcpy(p->name, name, strlen(name) + 1);
    collect(points, n, name, cost ? COUNT : COMPUTE, t);
    if (hrun_form_choose(t->N, t->P, t->q, t->n, !cost, &p->count, NULL))
        return 0;
    p->points = t->n;
    p->share = share_of(points, n, name);
    if (push_term(&p->terms, &p->count, cost ? cost->calls : HRUN_FORM_ONE))
        return -1;
    collect(points, n, name, BYTES, t);
    if (!cost || hrun_form_choose(t->N, t->P, t->q, t->n, 0, &p->bytes, NULL))
        return 1;
    p->has_bytes = 1;
    return (cost->bytes != HRUN_FORM_OTHERS && push_term(&p->terms, &p->bytes, HRUN_FORM_ONE)) ||
           (cost->bytes != HRUN_FORM_ONE && push_term(&p->terms, &p->bytes, cost->bytes)) ? -1 : 1;
}

/* ---------------------------------------------------------------- all */

static int by_share(const void *a, const void *b)
{
    const struct hrun_trace_proposal *x = a, *y = b;

    if (!x->name[0] || !y->name[0])
        return !y->name[0] - !x->name[0];
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share) : strcmp(x->name, y->name);
}

/* The names of all functions, and "" for computing. */
static int list_names(const struct hrun_trace_point *points, int n, struct hrun_strvec *names)
{
    if (hrun_strvec_push(names, ""))
        return -1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < points[i].seen->ncalls; k++)
            if (push_new(names, points[i].seen->calls[k].name))
                return -1;
    return 0;
}

static int push_fixed_p(struct hrun_strvec *v, const struct hrun_form *form)
{
    struct hrun_form f = { .a = form->a };

    return push_term(v, &f, HRUN_FORM_ONE);
}

static int gather_terms(struct hrun_trace_terms *t)
{
    for (int i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->v[i].terms.n; k++)
            if (push_new(&t->np, t->v[i].terms.v[k]))
                return -1;
        if (push_fixed_p(&t->only_n, &t->v[i].count) || (t->v[i].has_bytes && push_fixed_p(&t->only_n, &t->v[i].bytes)))
            return -1;
    }
    return push_new(&t->np, "1") || push_new(&t->only_n, "1") ? -1 : 0;
}

int hrun_trace_propose(const struct hrun_trace_point *points, int n, struct hrun_trace_terms *out,
                       struct hrun_error *err)
{
    struct hrun_trace_terms t = { 0 };
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    size_t room = (size_t)n + 1;
    struct table tab = { .N = calloc(room, sizeof(double)), .P = calloc(room, sizeof(double)),
                         .q = calloc(room, sizeof(double)) };
    double first_n = 0, first_p = 0;
    int usable = 0, rc = -1;

    for (int i = 0; i < n; i++) {
        if (points[i].P < 2 || points[i].N < 1)
            continue;
        if (usable++) {
            t.varied_n |= points[i].N != first_n;
            t.varied_p |= points[i].P != first_p;
        } else {
            first_n = points[i].N;
            first_p = points[i].P;
        }
    }
    if (!tab.N || !tab.P || !tab.q)
        goto nomem;
    if (usable < 2) {
        hrun_fail(err, HRUN_ENODATA, "%d watched run%s on two or more processes: terms need several, at different N "
                  "and P (hrun-calibrate --trace)", usable, usable == 1 ? "" : "s");
        goto done;
    }
    if (list_names(points, n, &names) || !(t.v = calloc(names.n, sizeof *t.v)))
        goto nomem;
    for (size_t i = 0; i < names.n; i++) {
        int got = propose_one(points, n, names.v[i], &tab, &t.v[t.n]);

        if (got == 1) {
            t.n++;
            continue;
        }
        hrun_strvec_release(&t.v[t.n].terms);
        if (got < 0)
            goto nomem;
    }
    qsort(t.v, (size_t)t.n, sizeof *t.v, by_share);
    if (gather_terms(&t))
        goto nomem;
    *out = t;
    memset(&t, 0, sizeof t);
    rc = 0;
    goto done;
nomem:
    hrun_fail_nomem(err);
done:
    hrun_trace_terms_release(&t);
    hrun_strvec_release(&names);
    free(tab.N);
    free(tab.P);
    free(tab.q);
    return rc;
}

void hrun_trace_terms_release(struct hrun_trace_terms *t)
{
    int saved = errno;

    for (int i = 0; i < t->n; i++)
        hrun_strvec_release(&t->v[i].terms);
    free(t->v);
    hrun_strvec_release(&t->np);
    hrun_strvec_release(&t->only_n);
    memset(t, 0, sizeof *t);
    errno = saved;
}
