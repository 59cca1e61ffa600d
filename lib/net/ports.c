/* ports.c - initial values and limits of ports, and removal of insignificant ones; see fitting.h */
#include "net/fitting.h"

#include <math.h>

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

/* The upper limit of a port's time per byte: the least of single messages through it. */
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

void net_port_begin(const struct net_work *w, struct net_solution *s, int class, int outward)
{
    struct port_search p = { w, s, class, outward, &s->x[outward ? s->c.out[class] : s->c.in[class]] };
    double none;

    *p.x = net_search(port_limit(s, class, outward), port_misfit, &p, &none);
}

void net_ports_limit(struct net_solution *s)
{
    for (int c = 0; c < s->c.nclasses; c++)
        for (int outward = 0; outward < 2; outward++) {
            int column = outward ? s->c.out[c] : s->c.in[c];

            if (column >= 0)
                s->x[column] = fmin(s->x[column], port_limit(s, c, outward));
        }
}

int net_ports_mend(const struct net_work *w, struct net_solution *s)
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
