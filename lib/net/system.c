/* system.c - the solution of the least squares system; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, HALVINGS = 8 };

void net_solution_release(struct net_solution *s)
{
    free(s->c.C);
    free(s->x);
    free(s->half);
    *s = (struct net_solution){ 0 };
}

double net_x_at(const struct net_solution *s, int column)
{
    return column >= 0 ? s->x[column] : 0;
}

double net_stage_s(const struct net_solution *s, int host, double bytes)
{
    int c = s->c.class_of[host];

    return net_x_at(s, s->c.C[c]) + bytes * net_x_at(s, s->c.t[c]);
}

struct net_wire net_wire(const struct net_work *w, const struct net_solution *s, int from, int to, double bytes)
{
    const struct hrun_net_segment *seg = net_segment(&w->given, bytes);
    int pair = s->c.class_of[from] * s->c.nclasses + s->c.class_of[to];

    return (struct net_wire){ seg->a * net_x_at(s, s->c.L[pair]), seg->b * net_x_at(s, s->c.g[pair]) };
}

double net_fitted(const struct net_work *w, const struct net_solution *s, size_t record)
{
    return net_trial(&s->c, &w->given, s->x, &w->r->v[record]);
}

/* ---------------------------------------------------------------- columns */

struct choice {
    int C, L, ports, bias;
    const int *t, *more_t;     /* of each class; 1 in either array: estimate its t; more_t may be NULL */
};

static size_t nparameters(int n)
{
    return 4 * (size_t)n + 2 * (size_t)n * (size_t)n;
}

/* Flags for each ordered pair of classes: 1: some message was longer than its reply; 2: messages were exchanged. */
static void find_exchanged(const struct net_work *w, const struct net_columns *c, char *way)
{
    memset(way, 0, (size_t)c->nclasses * (size_t)c->nclasses);
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        size_t a, b, n = (size_t)c->nclasses;

        if (v->kind != HRUN_NET_TRIP || w->out[l])
            continue;
        a = (size_t)c->class_of[v->i];
        b = (size_t)c->class_of[v->j];
        way[a * n + b] |= 2 | (v->bytes > v->back_bytes);
        way[b * n + a] |= 2 | (v->bytes < v->back_bytes);
    }
}

/* Number the columns, those of pairs first, as few rows have them (least_squares.c). */
static void number_columns(const struct choice *choice, const char *way, struct net_columns *c)
{
    int n = c->nclasses;

    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            size_t ab = (size_t)(a * n + b), ba = (size_t)(b * n + a);

            if (!way[ab])
                continue;
            c->g[ab] = c->g[ba] = (int)c->p++;
            if (a != b && (way[ab] & 1) && (way[ba] & 1))
                c->g[ba] = (int)c->p++;
            if (choice->L)
                c->L[ab] = c->L[ba] = (int)c->p++;
        }
    for (int a = 0; a < n && choice->C; a++)
        c->C[a] = (int)c->p++;
    for (int a = 0; a < n; a++)
        if (choice->t[a] || (choice->more_t && choice->more_t[a]))
            c->t[a] = (int)c->p++;
    for (int a = 0; a < n && choice->ports; a++) {
        c->out[a] = (int)c->p++;
        c->in[a] = (int)c->p++;
    }
    if (choice->bias)
        c->bias = (int)c->p++;
}

/* Allocate a solution with all values 0. The columns are one block that begins at C. */
static void solution_alloc(const struct net_work *w, const int *class_of, int n, const struct choice *choice,
                           struct net_solution *out)
{
    struct net_solution s = { 0 };
    size_t pairs = (size_t)n * (size_t)n, all = nparameters(n);
    autofree char *way = xmalloc(pairs + 1);
    int *columns = xmalloc(all * sizeof *columns);

    for (size_t i = 0; i < all; i++)
        columns[i] = -1;
    s.c = (struct net_columns){ n, class_of, columns, columns + n, columns + 2 * n, columns + 3 * n, columns + 4 * n,
                                columns + 4 * n + pairs, -1, 0 };
    find_exchanged(w, &s.c, way);
    number_columns(choice, way, &s.c);
    s.x = xcalloc(s.c.p + 1, sizeof *s.x);
    s.half = xcalloc(s.c.p + 1, sizeof *s.half);
    *out = s;
}

/* ---------------------------------------------------------------- rows */

static int is_branched(const struct hrun_net_record *v)
{
    return v->kind == HRUN_NET_FAN || v->kind == HRUN_NET_JOIN;
}

static void rows_release(struct net_rows *m)
{
    free(m->first);
    free(m->value);
    *m = (struct net_rows){ 0 };
}

static void rows_alloc(const struct net_work *w, size_t p, struct net_rows *m)
{
    size_t n = 0;

    for (size_t l = 0; l < w->r->n; l++)
        n += (size_t)net_in_use(w, l);
    m->n = 0;
    m->p = p;
    m->first = xmalloc((n * (NET_SLOTS + 1) + 1) * sizeof *m->first);
    m->value = xmalloc((n * (NET_SLOTS + 2) + 1) * sizeof *m->value);
    m->column = m->first + n + 1;
    m->y = m->value + n * NET_SLOTS;
    m->w = m->y + n;
}

/* The system of the branches at s->x. simple: 1: without the rows that have branches. */
static void rows_fill(const struct net_work *w, const struct net_solution *s, int simple, struct net_rows *m)
{
    struct net_gradient g;

    m->n = 0;
    m->first[0] = 0;
    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        size_t at = m->first[m->n];
        double fitted;

        if (!net_in_use(w, l) || (simple && is_branched(v)))
            continue;
        fitted = net_trial_slope(&s->c, &w->given, s->x, v, &g);
        m->y[m->n] = v->time_s - fitted;
        m->w[m->n] = 1 / w->se[l];
        for (int i = 0; i < g.n; i++) {
            if (g.d[i] == 0)
                continue;
            m->column[at] = (size_t)g.column[i];
            m->value[at++] = g.d[i];
            m->y[m->n] += g.d[i] * s->x[g.column[i]];
        }
        m->first[++m->n] = at;
    }
}

static double sum_of_squares(const struct net_work *w, const struct net_columns *c, const double *x, int simple)
{
    double sum = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        double e;

        if (!net_in_use(w, l) || (simple && is_branched(&w->r->v[l])))
            continue;
        e = (w->r->v[l].time_s - net_trial(c, &w->given, x, &w->r->v[l])) / w->se[l];
        sum += e * e;
    }
    return sum;
}

/* ---------------------------------------------------------------- iteration */

/* Iterate NNLS from s->x until the sum of squares no longer falls. */
static void descend(const struct net_work *w, struct net_solution *s, int simple)
{
    autorelease(rows_release) struct net_rows m = { 0 };
    autofree double *k = xmalloc((2 * s->c.p + 1) * sizeof *k);
    double *next = k + s->c.p, rss = sum_of_squares(w, &s->c, s->x, simple);

    rows_alloc(w, s->c.p, &m);
    for (int round = 0; round < ROUNDS; round++) {
        double step = 1, found = rss, before = rss;
        size_t rank;
        int exact;

        rows_fill(w, s, simple, &m);
        if (m.n == 0)
            break;
        net_nnls(&m, simple ? NULL : s->x, k, &rank, NULL);
        for (int i = 0; i < HALVINGS; i++, step /= 2) {
            for (size_t j = 0; j < s->c.p; j++)
                next[j] = s->x[j] + step * (k[j] - s->x[j]);
            found = sum_of_squares(w, &s->c, next, simple);
            if (found < rss)
                break;
        }
        if (!(found < rss))
            break;
        /* Residuals below a millionth of the standard errors are rounding errors. */
        exact = found <= 1e-12 * (double)m.n;
        memcpy(s->x, next, s->c.p * sizeof *next);
        rss = found;
        /* A smaller decrease is negligible in all intervals, and NNLS is exact while branches do not change. */
        if (simple || exact || before - rss <= 1e-5 * before)
            break;
    }
    s->rss = rss;
}

/* ---------------------------------------------------------------- intervals */

/* Compute rank, s2 and, if `intervals`, half widths at the present branches. */
static void find_half_widths(const struct net_work *w, struct net_solution *s, int intervals)
{
    autorelease(rows_release) struct net_rows m = { 0 };
    double dof, times;

    rows_alloc(w, s->c.p, &m);
    rows_fill(w, s, 0, &m);
    s->rows = m.n;
    s->rank = 0;
    for (size_t i = 0; i < s->c.p; i++)
        s->rank += s->x[i] > 0;
    if (intervals)
        net_nnls(&m, s->x, NULL, &s->rank, s->half);
    dof = (double)s->rows - (double)s->rank;
    s->s2 = dof >= 1 ? s->rss / dof : 1;
    if (w->scatter_known)
        s->s2 = fmax(1, s->s2);
    times = hrun_fit_t_quantile(0.975, w->scatter_known ? 1e9 : fmax(1, dof));
    for (size_t i = 0; i < s->c.p && intervals; i++)
        s->half[i] = times * sqrt(s->half[i] * s->s2);
}

/* ---------------------------------------------------------------- ports */

double net_search(double limit, double (*misfit)(void *ctx, double x), void *ctx, double *none)
{
    enum { GRID = 32, REFINEMENTS = 40 };
    double best = 0, least, low, high;

    least = *none = misfit(ctx, 0);
    for (int i = 1; i <= GRID && *none > 0; i++) {
        double f = misfit(ctx, limit * i / GRID);

        if (f < least) {
            least = f;
            best = limit * i / GRID;
        }
    }
    low = fmax(0, best - limit / GRID);
    high = fmin(limit, best + limit / GRID);
    for (int i = 0; i < REFINEMENTS && best > 0; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (misfit(ctx, a) < misfit(ctx, b))
            high = b;
        else
            low = a;
        best = (low + high) / 2;
    }
    return best;
}

double net_misfit(const struct net_work *w, const struct net_solution *s, int class, enum hrun_net_kind kind)
{
    double sum = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double e;

        if (v->kind != kind || v->bytes == 0 ||
            !(kind == HRUN_NET_BOTH ? !w->out[l] && !net_is_exchange(w, v) : net_in_use(w, l)) ||
            (class >= 0 && s->c.class_of[v->i] != class))
            continue;
        e = (v->time_s - net_fitted(w, s, l)) / w->se[l];
        sum += e * e;
    }
    return sum;
}

/* The upper limit of a port's time per byte: the least time per byte of a single message through it. */
static double port_limit(const struct net_solution *s, int class, int outward)
{
    double limit = INFINITY;
    int n = s->c.nclasses;

    for (int b = 0; b < n; b++) {
        int column = outward ? s->c.g[class * n + b] : s->c.g[b * n + class];

        if (column >= 0)
            limit = fmin(limit, s->x[column]);
    }
    return isfinite(limit) ? limit : 0;
}

struct port_search {
    const struct net_work *w;
    struct net_solution *s;
    int class, outward;
    double *x;                 /* of the port */
};

static double port_misfit(void *ctx, double x)
{
    struct port_search *p = ctx;

    *p->x = x;
    return net_misfit(p->w, p->s, p->class, p->outward ? HRUN_NET_FAN : HRUN_NET_JOIN);
}

/* Set one port of a class, out or in, to the value that explains its fans or joins best. */
static void port_begin(const struct net_work *w, struct net_solution *s, int class, int outward)
{
    struct port_search p = { w, s, class, outward, &s->x[outward ? s->c.out[class] : s->c.in[class]] };
    double none;

    *p.x = net_search(port_limit(s, class, outward), port_misfit, &p, &none);
}

static void ports_limit(struct net_solution *s)
{
    for (int c = 0; c < s->c.nclasses; c++)
        for (int outward = 0; outward < 2; outward++) {
            int column = outward ? s->c.out[c] : s->c.in[c];

            if (column >= 0)
                s->x[column] = fmin(s->x[column], port_limit(s, c, outward));
        }
}

/* Limit ports as ports_limit, and drop columns of ports that explain no more than chance (chi-square of one parameter,
 * 95 %). Result: 1 if any was dropped, else 0. */
static int ports_mend(const struct net_work *w, struct net_solution *s)
{
    double chance = 3.841 * fmax(1, s->s2);
    int gone = 0;

    for (int c = 0; c < s->c.nclasses; c++)
        for (int outward = 0; outward < 2; outward++) {
            int *column = outward ? &s->c.out[c] : &s->c.in[c];
            enum hrun_net_kind kind = outward ? HRUN_NET_FAN : HRUN_NET_JOIN;
            double value, with;

            if (*column < 0)
                continue;
            value = fmin(s->x[*column], port_limit(s, c, outward));
            s->x[*column] = value;
            with = net_misfit(w, s, c, kind);
            s->x[*column] = 0;
            if (value > 0 && net_misfit(w, s, c, kind) - with > chance) {
                s->x[*column] = value;
                continue;
            }
            *column = -1;
            gone = 1;
        }
    return gone;
}

/* ---------------------------------------------------------------- the whole */

static struct net_solution solve_choice(const struct net_work *w, const int *class_of, int n,
                                        const struct choice *choice, const struct net_separable *separable,
                                        const struct net_solution *from)
{
    struct choice simple = { choice->C, choice->L, 0, 0, separable->call_t, NULL };
    autorelease(net_solution_release) struct net_solution start = { 0 };
    struct net_solution s;

    if (!from) {
        solution_alloc(w, class_of, n, &simple, &start);
        descend(w, &start, 1);
        from = &start;
    }
    solution_alloc(w, class_of, n, choice, &s);
    for (size_t i = 0; i < nparameters(n); i++)
        if (s.c.C[i] >= 0 && from->c.C[i] >= 0)
            s.x[s.c.C[i]] = from->x[from->c.C[i]];
    if (s.c.bias >= 0)
        s.x[s.c.bias] = w->given.bias_bytes;
    for (int c = 0; c < n && choice->ports; c++)
        for (int outward = 0; outward < 2; outward++)
            if (s.x[outward ? s.c.out[c] : s.c.in[c]] == 0)
                port_begin(w, &s, c, outward);
    descend(w, &s, 0);
    find_half_widths(w, &s, 0);
    if (choice->ports && ports_mend(w, &s))
        descend(w, &s, 0);
    ports_limit(&s);
    return s;
}

void net_solve(const struct net_work *w, const int *class_of, int nclasses, const struct net_solution *from,
               int intervals, struct net_solution *out)
{
    autorelease(net_separable_release) struct net_separable separable = { 0 };

    net_find_separable(w, class_of, nclasses, &separable);
    struct choice processor = { separable.C, separable.L || !separable.C, 0, 0, separable.call_t, separable.fan_t };
    struct choice port = { separable.C, separable.L || !separable.C, 1, w->given.bias_bytes > 0, separable.call_t,
                           NULL };

    *out = solve_choice(w, class_of, nclasses, &port, &separable, separable.calls ? from : NULL);
    if (!separable.calls) {
        struct net_solution by_t = solve_choice(w, class_of, nclasses, &processor, &separable, NULL);

        /* If t explains as much as ports, up to rounding and minimal scatter, use t: paper 002's simpler model. */
        if (by_t.rss <= out->rss * (1 + 1e-6) + 1e-12 * (double)by_t.rows) {
            struct net_solution by_ports = *out;

            *out = by_t;
            by_t = by_ports;
        }
        net_solution_release(&by_t);
    }
    find_half_widths(w, out, intervals);
}
