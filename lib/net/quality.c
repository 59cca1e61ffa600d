/* quality.c - residuals of the records, and notes on oddities; see fitting.h */
#include "net/fitting.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* A host of a class. */
static const char *host_name(const struct net_work *w, const struct net_solution *s, int class)
{
    for (int i = 0; i < w->r->nhosts; i++)
        if (s->c.class_of[i] == class)
            return w->r->hosts[i];
    return "?";
}

/* Add a note on links that are 100 times slower than the median, which is rarely intended. */
static void note_slow_links(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes)
{
    int n = s->c.nclasses, m = 0;
    autofree double *g = xmalloc((size_t)n * (size_t)n * sizeof *g);
    double median;

    for (int i = 0; i < n * n; i++)
        if (s->c.g[i] >= 0)
            g[m++] = s->x[s->c.g[i]];
    hrun_sort(g, (size_t)m);
    median = m ? g[m / 2] : 0;
    for (int i = 0; i < n * n; i++) {
        double own = s->c.g[i] >= 0 ? s->x[s->c.g[i]] : 0;

        if (median > 0 && own > 100 * median)
            hrun_strvec_pushf(notes, "the link from %s to %s is %.0f times slower than the median: is it what it "
                              "should be?", host_name(w, s, i / n), host_name(w, s, i % n), own / median);
    }
}

/* Count the pairs of classes whose directions differ by more than their intervals, with a note on the worst. */
static void note_asymmetric(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
                            int *count)
{
    int n = s->c.nclasses, worst_a = 0, worst_b = 0;
    double worst = 0;

    *count = 0;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            int there = s->c.g[a * n + b], back = s->c.g[b * n + a];
            double low, high;

            if (there < 0 || there == back)
                continue;
            low = fmin(s->x[there], s->x[back]);
            high = fmax(s->x[there], s->x[back]);
            if (!(high - low > s->half[there] + s->half[back]) || high < low * (1 + NET_NOISE_REL))
                continue;
            ++*count;
            if (high / low > worst) {
                worst = high / low;
                worst_a = s->x[there] <= s->x[back] ? a : b;
                worst_b = worst_a == a ? b : a;
            }
        }
    if (*count)
        hrun_strvec_pushf(notes, "%d %s asymmetric: bytes from %s to %s flow %.3g times as fast as back", *count,
                          *count == 1 ? "link is" : "links are", host_name(w, s, worst_a), host_name(w, s, worst_b),
                          worst);
}

void net_assess(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
                struct hrun_net_quality *q)
{
    double sum = 0;
    size_t n = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];
        double off;

        if (!net_in_use(w, l) || v->kind == HRUN_NET_CALL || v->kind == HRUN_NET_BOTH)
            continue;
        off = fabs(v->time_s - net_fitted(w, s, l)) / v->time_s;
        sum += off * off;
        n++;
        if (off > q->worst_rel) {
            q->worst_rel = off;
            q->worst = l;
        }
    }
    q->residual_rel = n ? sqrt(sum / (double)n) : 0;
    if (s->c.L && s->c.L[s->c.nclasses > 1 ? 1 : 0] < 0)
        hrun_strvec_pushf(notes, "latency cannot be told from processing: it is counted as processing, as in paper "
                                 "002");
    note_slow_links(w, s, notes);
    note_asymmetric(w, s, notes, &q->asymmetric);
}
