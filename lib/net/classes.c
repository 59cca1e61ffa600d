/* classes.c - groups of hosts behind one switch, and classes of equal hosts; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least ratio of the distances of far and near pairs, relative to the hosts' own parts. Links of one kind differ by
 * less; a second switch on the way doubles a latency. */
static const double gap_least = 1.5;

/* The significance level of the test for differences between hosts. */
static const double share_level = 0.05;

/* ---------------------------------------------------------------- groups */

/* Number the groups by near[n by n]. Result: their number, 0 if near is not transitive. */
static int number_groups(const char *near, int n, int *group)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        group[i] = -1;
    for (int i = 0; i < n; i++) {
        if (group[i] < 0)
            group[i] = count++;
        for (int j = i + 1; j < n; j++)
            if (near[i * n + j]) {
                if (group[j] >= 0 && group[j] != group[i])
                    return 0;
                group[j] = group[i];
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && (group[i] == group[j]) != (near[i * n + j] != 0))
                return 0;
    return count;
}

/* Group n hosts by the widest gap among the distances d[n by n], of at least a ratio *gap; group[n] and *gap are set if
 * there is one. Result: number of groups; 0: there is none. */
static int group_by_gap(const double *d, int n, int *group, double *gap)
{
    size_t nn = (size_t)n * (size_t)n, m = 0;
    autofree double *sorted = xmalloc(nn * sizeof *sorted);
    autofree char *near = xmalloc(nn);
    autofree int *trial = xmalloc((size_t)n * sizeof *trial);
    int ngroups = 0;

    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            sorted[m++] = d[i * n + j];
    hrun_sort(sorted, m);
    for (size_t l = 0; l + 1 < m; l++) {
        double ratio = sorted[l + 1] / sorted[l];
        int count;

        if (!(sorted[l] > 0) || !(ratio >= gap_least) || ratio <= *gap)
            continue;
        for (int i = 0; i < n * n; i++)
            near[i] = d[i] <= sorted[l];
        count = number_groups(near, n, trial);
        if (count < 2 || count == n)
            continue;
        *gap = ratio;
        ngroups = count;
        memcpy(group, trial, (size_t)n * sizeof *trial);
    }
    return ngroups;
}

/* Divide latencies l[n by n] by the two hosts' own parts, into d. A host's own part is half of the least detour over it
 * between two other hosts, at least 0. own[2 n]: scratch. */
static void by_own_latency(const double *l, int n, double *d, double *own)
{
    for (int i = 0; i < n; i++) {
        own[i] = INFINITY;
        for (int j = 0; j < n; j++)
            for (int k = 0; k < j; k++)
                if (j != i && k != i)
                    own[i] = fmin(own[i], (l[i * n + j] + l[i * n + k] - l[j * n + k]) / 2);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double both = fmax(0, own[i]) + fmax(0, own[j]);

            d[i * n + j] = i != j && both > 0 && isfinite(both) ? l[i * n + j] / both : 0;
        }
}

/* Divide the times per byte of both ways, from g[n by n], by those of the hosts' ports, into d. The time of a port is
 * the least of its pairs. own[2 n]: scratch. */
static void by_own_rate(const double *g, int n, double *d, double *own)
{
    double *in = own + n;

    for (int i = 0; i < n; i++) {
        own[i] = in[i] = INFINITY;
        for (int j = 0; j < n; j++)
            if (i != j) {
                own[i] = fmin(own[i], g[i * n + j]);
                in[i] = fmin(in[i], g[j * n + i]);
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double both = fmax(own[i], in[j]) + fmax(own[j], in[i]);

            d[i * n + j] = i != j && both > 0 ? (g[i * n + j] + g[j * n + i]) / both : 0;
        }
}

int net_groups_find(const struct net_work *w, const struct net_solution *s, int *group_of)
{
    int n = w->r->nhosts, ngroups = 1;
    size_t nn = (size_t)n * (size_t)n;
    autofree double *d = xcalloc(2 * nn + 2 * (size_t)n, sizeof *d);
    double *from = d + nn, *own = from + nn, gap = 0;

    for (int i = 0; i < n; i++)
        group_of[i] = 0;
    for (int k = 0; k < 2; k++) {
        const int *columns = k ? s->c.g : s->c.L;
        int found;

        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                from[i * n + j] = net_x_at(s, columns[i * n + j]) + (k ? 0 : net_x_at(s, columns[j * n + i]));
        (k ? by_own_rate : by_own_latency)(from, n, d, own);
        found = group_by_gap(d, n, group_of, &gap);
        ngroups = found ? found : ngroups;
    }
    return ngroups;
}

/* ---------------------------------------------------------------- classes */

int net_classes_alike(const struct hrun_net_records *r, const int *group_of, int *class_of)
{
    int n = 0;

    for (int i = 0; i < r->nhosts; i++) {
        int like = 0;

        while (like < i && !(r->kind_of[like] == r->kind_of[i] && r->nkinds[like] == r->nkinds[i] &&
                             group_of[like] == group_of[i]))
            like++;
        class_of[i] = like < i ? class_of[like] : n++;
    }
    return n;
}

/* Renumber classes from 0 without a gap, in order of hosts. Result: their number. */
static int renumber_classes(int *class_of, int n)
{
    autofree int *old = xmalloc((size_t)n * sizeof *old);
    int next = 0;

    memcpy(old, class_of, (size_t)n * sizeof *old);
    for (int i = 0; i < n; i++) {
        int like = 0;

        while (old[like] != old[i])
            like++;
        class_of[i] = like < i ? class_of[like] : next++;
    }
    return next;
}

int net_classes_measured(const struct net_work *w, const int *class_of, int nclasses, int *i, int *j)
{
    size_t n = (size_t)nclasses;
    autofree char *seen = xcalloc(n * n, 1);

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *v = &w->r->v[l];

        if (v->kind != HRUN_NET_TRIP || w->out[l])
            continue;
        seen[(size_t)class_of[v->i] * n + (size_t)class_of[v->j]] = 1;
        seen[(size_t)class_of[v->j] * n + (size_t)class_of[v->i]] = 1;
    }
    for (*i = 0; *i < w->r->nhosts; ++*i)
        for (*j = *i + 1; *j < w->r->nhosts; ++*j)
            if (!seen[(size_t)class_of[*i] * n + (size_t)class_of[*j]])
                return 0;
    return 1;
}

/* 1 if splitting class c into its hosts lowers the sum of squares significantly; 0 if not, or if it cannot be split.
 * apart[nhosts]: scratch. */
static int class_differs(const struct net_work *w, const struct net_solution *shared, const struct net_solution *own,
                         const int *class_of, int c, int *apart)
{
    int n = w->r->nhosts, i, j, count, members = 0;
    struct net_solution s;
    double more, s2, dof, f;

    for (int h = 0; h < n; h++) {
        apart[h] = class_of[h];
        if (class_of[h] == c && members++ > 0)
            apart[h] = n + h;
    }
    if (members < 2)
        return 0;
    count = renumber_classes(apart, n);
    if (!net_classes_measured(w, apart, count, &i, &j))
        return 0;
    net_solve(w, apart, count, NULL, 0, &s);
    more = (double)s.rank - (double)shared->rank;
    s2 = fmax(1, own ? own->s2 : s.s2);     /* a difference within the assumed scatter is not significant */
    dof = own ? (double)own->rows - (double)own->rank : (double)s.rows - (double)s.rank;
    f = (shared->rss - s.rss) / fmax(1, more) / s2;
    net_solution_release(&s);
    return hrun_fit_f_tail(f, fmax(1, more), fmax(1, dof)) < share_level;
}

int net_classes_share(const struct net_work *w, const struct net_solution *own, int *class_of,
                      struct hrun_strvec *notes)
{
    int n = w->r->nhosts, count, a, b;
    autofree int *apart = xmalloc(2 * (size_t)n * sizeof *apart);
    int *alike = apart + n;
    autorelease(net_solution_release) struct net_solution shared = { 0 };

    count = net_classes_alike(w->r, w->given.group_of, alike);
    memcpy(class_of, alike, (size_t)n * sizeof *class_of);
    net_solve(w, alike, count, NULL, 0, &shared);
    for (int c = 0, next = count; c < count; c++) {
        int first = 1;

        if (!class_differs(w, &shared, own, alike, c, apart))
            continue;
        for (int i = 0; i < n; i++)
            if (alike[i] == c) {
                class_of[i] = first ? c : next++;
                first = 0;
            }
    }
    count = renumber_classes(class_of, n);
    if (!net_classes_measured(w, class_of, count, &a, &b)) {
        hrun_strvec_push(notes, "hosts of one kind behind one switch differ by more than chance, but not every "
                                "pair of them was measured: each has the mean of all");
        memcpy(class_of, alike, (size_t)n * sizeof *class_of);
        count = renumber_classes(class_of, n);
    }
    return count;
}
