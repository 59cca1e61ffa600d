/* groups.c - groups of hosts behind one switch, by latency and by shared bottlenecks; see measure.h */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- by distance */

static double known_median(const double *s, int n)
{
    double *v = mpi_alloc((size_t)n * (size_t)n, sizeof *v), m;
    size_t count = 0;

    for (int i = 0; i < n * n; i++)
        if (s[i] > 0)
            v[count++] = s[i];
    if (count)
        qsort(v, count, sizeof *v, mpi_compare_doubles);
    m = count ? v[count / 2] : 0;
    free(v);
    return m;
}

/* In standard errors. None of the thousands of differences of 32 hosts exceeds this by chance. */
static const double BY_CHANCE = 4.5;

/* 1 if the times of i and j to each other host differ by the same amount, within slack and chance, else 0. Also 1 if
 * fewer than two other hosts can be compared. */
static int distances_match(const double *s, const double *error, int n, double slack, int i, int j)
{
    double least = 0, most = 0;
    int seen = 0;

    for (int k = 0; k < n; k++) {
        double d = s[i * n + k] - s[j * n + k];
        double chance = BY_CHANCE * hypot(error[i * n + k], error[j * n + k]);

        if (k == i || k == j || !(s[i * n + k] > 0) || !(s[j * n + k] > 0))
            continue;
        most = !seen || d - chance > most ? d - chance : most;
        least = !seen || d + chance < least ? d + chance : least;
        seen++;
    }
    return seen < 2 || most - least <= slack;
}

int net_groups(const double *s, const double *error, int n, double slack, int *group_of)
{
    int *finer = mpi_alloc((size_t)n, sizeof *finer), count = 0;
    double width = slack * known_median(s, n);

    for (int i = 0; i < n; i++) {
        int k = 0;

        while (k < i && (group_of[k] != group_of[i] || !distances_match(s, error, n, width, k, i)))
            k++;
        finer[i] = k < i ? finer[k] : count++;
    }
    memcpy(group_of, finer, (size_t)n * sizeof *finer);
    free(finer);
    return count;
}

/* ---------------------------------------------------------------- by load */

/* A split is tested if the time of bytes between its parts is more than this multiple of the time inside the parts. */
static const double LOOK = 1.1;
/* The search has at most STARTS initial splits, each a host with its nearest hosts. It moves hosts to the other side
 * until no move improves the split, in at most SWEEPS passes. */
enum { STARTS = 16, SWEEPS = 32 };

void net_own_rates(const double *byte_s, int n, double *out, double *in)
{
    for (int i = 0; i < n; i++) {
        out[i] = in[i] = INFINITY;
        for (int j = 0; j < n; j++) {
            if (byte_s[i * n + j] > 0)
                out[i] = fmin(out[i], byte_s[i * n + j]);
            if (byte_s[j * n + i] > 0)
                in[i] = fmin(in[i], byte_s[j * n + i]);
        }
    }
}

/* w[n by n]: logarithm of the time of bytes between two hosts, both ways, over the least times of the hosts; NAN if
 * unknown. */
static void find_excess(const double *byte_s, int n, double *w)
{
    double *out = mpi_alloc(2 * (size_t)n, sizeof *out), *in = out + n;

    net_own_rates(byte_s, n, out, in);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double there = byte_s[i * n + j], back = byte_s[j * n + i];

            w[i * n + j] = i != j && there > 0 && back > 0 ?
                log((there + back) / (fmax(out[i], in[j]) + fmax(out[j], in[i]))) : NAN;
        }
    free(out);
}

/* Sums and counts over the known pairs of member[m]: [0] both hosts on one side, [1] one host on each side. */
struct sides {
    double sum[2], count[2];
};

/* A group of hosts to split. */
struct split_hosts {
    const double *w;                               /* excess of each pair, n by n */
    int n;
    const int *member;
    int m;
};

static double excess_of(const struct split_hosts *h, int x, int k)
{
    return h->w[h->member[x] * h->n + h->member[k]];
}

/* Add (sign > 0) or remove (sign < 0) the pairs of host x. */
static void add_pairs_of(struct sides *s, const struct split_hosts *h, const char *side, int x, double sign)
{
    for (int k = 0; k < h->m; k++) {
        double v = excess_of(h, x, k);

        if (k == x || isnan(v))
            continue;
        s->sum[side[k] != side[x]] += sign * v;
        s->count[side[k] != side[x]] += sign;
    }
}

static double side_distance(const struct sides *s)
{
    return s->count[0] > 0 && s->count[1] > 0 ? s->sum[1] / s->count[1] - s->sum[0] / s->count[0] : 0;
}

/* The sum of squares that the split explains; 0 if bytes do not take longer between the sides than inside them. */
static double explained_squares(const struct sides *s)
{
    double d = side_distance(s);

    return d > 0 ? d * d * s->count[0] * s->count[1] / (s->count[0] + s->count[1]) : 0;
}

/* Move hosts to the other side as long as that explains more; at least two stay on each side. Result: the explained sum
 * of squares; *by: distance of the sides. */
static double improve_split(const struct split_hosts *h, char *side, double *by)
{
    struct sides s = { { 0 }, { 0 } };
    int size[2] = { 0, 0 }, moved = 1, m = h->m;

    for (int x = 0; x < m; x++) {
        size[(int)side[x]]++;
        add_pairs_of(&s, h, side, x, 0.5);    /* each pair is added twice */
    }
    for (int sweep = 0; moved && sweep < SWEEPS; sweep++) {
        moved = 0;
        for (int x = 0; x < m; x++) {
            struct sides other = s;

            if (size[(int)side[x]] <= 2)
                continue;
            add_pairs_of(&other, h, side, x, -1);
            side[x] = !side[x];
            add_pairs_of(&other, h, side, x, 1);
            if (explained_squares(&other) > explained_squares(&s) * (1 + 1e-9)) {
                s = other;
                size[(int)side[x]]++;
                size[!side[x]]--;
                moved = 1;
            } else
                side[x] = !side[x];
        }
    }
    *by = side_distance(&s);
    return explained_squares(&s);
}

/* Make an initial split: x and the hosts nearer to it than average on side 0; at least two hosts on each side. */
static void begin_split(const struct split_hosts *h, int x, char *side)
{
    double mean = 0, least = INFINITY;
    int known = 0, here = 1, nearest = -1, m = h->m, left = m;

    for (int k = 0; k < m; k++) {
        double v = excess_of(h, x, k);

        if (k == x || isnan(v))
            continue;
        mean += v;
        known++;
        if (v < least) {
            least = v;
            nearest = k;
        }
    }
    mean /= known ? known : 1;
    for (int k = 0; k < m; k++) {
        double v = excess_of(h, x, k);

        side[k] = !(k == x || k == nearest || v < mean);
        here += !side[k] && k != x;
    }
    for (int k = 0; k < m && here < 2; k++)        /* if x is alone, add any host */
        if (side[k]) {
            side[k] = 0;
            here++;
        }
    left = m - here;
    for (int k = 0; k < m && left < 2; k++)
        if (!side[k] && k != x && k != nearest) {
            side[k] = 1;
            left++;
        }
}

/* The best split of member[m], m >= 4, into side[]. 1 if it is worth a test (LOOK), else 0. trial[m]: scratch. */
static int best_split(const struct split_hosts *h, char *side, char *trial)
{
    double most = 0, by = 0;
    int m = h->m;

    for (int s = 0; s < m && s < STARTS; s++) {
        double d, e;

        begin_split(h, s * m / (m < STARTS ? m : STARTS), trial);
        e = improve_split(h, trial, &d);
        if (e > most) {
            most = e;
            by = d;
            memcpy(side, trial, (size_t)m);
        }
    }
    return most > 0 && by > log(LOOK);
}

struct splitting {
    const double *w;                               /* n by n */
    int n;
    const struct net_load *load;
    int *member;                                   /* scratch: n */
    char *side;                                    /* scratch: 2 n */
};

/* Split one group, then its parts, as long as `slows` returns 1. New groups are numbered from count on. Result: the
 * number of groups. */
static int split_group(const struct splitting *s, int group, int count, int *group_of)
{
    int n = s->n, *member = s->member, m = 0, here = 0, sorted = 0;
    char *side = s->side;

    for (int i = 0; i < n; i++)
        if (group_of[i] == group)
            member[m++] = i;
    if (m < 4 || !best_split(&(struct split_hosts){ s->w, n, member, m }, side, side + n))
        return count;
    for (int k = 0; k < m; k++)                    /* reorder member: side 0 first */
        if (!side[k])
            group_of[member[k]] = -1;
    for (int i = 0; i < n; i++)
        if (group_of[i] == -1)
            member[here++] = i;
    for (int i = 0; i < n; i++) {
        if (group_of[i] == group)
            member[here + sorted++] = i;
        group_of[i] = group_of[i] == -1 ? group : group_of[i];
    }
    if (!s->load->slows(s->load->ctx, member, here, member + here, sorted))
        return count;
    for (int k = here; k < m; k++)
        group_of[member[k]] = count;
    count = split_group(s, count, count + 1, group_of);
    return split_group(s, group, count, group_of);
}

int net_groups_loaded(const double *byte_s, int n, const struct net_load *load, int *group_of)
{
    size_t size = (size_t)n;
    double *w = mpi_alloc(size * size, sizeof *w);
    int *room = mpi_alloc(2 * size, sizeof *room), count = 0, next = 0;
    char *side = mpi_alloc(2, size);
    const struct splitting s = { w, n, load, room, side };

    for (int i = 0; i < n; i++)
        count = group_of[i] + 1 > count ? group_of[i] + 1 : count;
    find_excess(byte_s, n, w);
    for (int g = 0, given = count; g < given; g++)
        count = split_group(&s, g, count, group_of);
    for (int g = 0; g < n; g++)
        room[g] = -1;
    for (int i = 0; i < n; i++) {                  /* renumber in the order of hosts */
        if (room[group_of[i]] < 0)
            room[group_of[i]] = next++;
        group_of[i] = room[group_of[i]];
    }
    free(w);
    free(room);
    free(side);
    return count;
}
