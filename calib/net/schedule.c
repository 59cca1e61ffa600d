/* schedule.c - who tries with whom at the same time, and who is behind one switch */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- pairs */

int net_rounds(int n)
{
    return n < 2 ? 0 : n % 2 ? n : n - 1;
}

/* The circle method: m = n, or n + 1 for an odd n, whose last one then makes its partner rest. Of 0 .. m-2 the sum of
 * two partners is the round modulo m - 1; who would be its own partner has m - 1. */
int net_partner(int n, int round, int x)
{
    int m = n + n % 2, r = m - 1, y;

    if (x == m - 1) {
        for (y = 0; 2 * y % r != round; y++)
            ;
        return y;
    }
    y = ((round - x) % r + r) % r;
    y = y == x ? m - 1 : y;
    return y < n ? y : -1;
}

/* ---------------------------------------------------------------- triples */

enum { ALL_TRIPLES_MOST = 6, FANS_LEAST = 3 };

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* All triples of n <= 6, one a round. */
static void triple_of(int n, int index, int *out)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            for (int k = j + 1; k < n; k++)
                if (!index--) {
                    out[0] = i;
                    out[1] = j;
                    out[2] = k;
                }
}

int net_triple_rounds(int n)
{
    return n < 3 ? 0 : n <= ALL_TRIPLES_MOST ? n * (n - 1) * (n - 2) / 6 : FANS_LEAST + (n % 3 != 0);
}

/* The steps by which all of 0 .. n-1 are gone through, up to n / 2: the index-th of them, round again. */
static int step_of(int n, int index)
{
    int count = 0, step = 0;

    for (int k = 1; 2 * k <= n; k++)
        count += common_divisor(k, n) == 1;
    for (index %= count; index >= 0; index--)
        while (common_divisor(++step, n) != 1)
            ;
    return step;
}

/* Beyond six: one or two hosts rest in a round, others in each; the rest are put into a row by steps, of another length
 * each round, which is cut into triples. */
int net_triples(int n, int round, int *out)
{
    int rest = n % 3, m = n - rest, step;

    if (n < 3)
        return 0;
    if (n <= ALL_TRIPLES_MOST) {
        triple_of(n, round, out);
        return 1;
    }
    step = step_of(m, round);
    for (int q = 0; q < m; q++)
        out[q] = (int)(((long)q * step % m + (long)rest * (round + 1)) % n);
    return m / 3;
}

/* ---------------------------------------------------------------- groups */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(const double *s, int n)
{
    double *v = malloc((size_t)n * (size_t)n * sizeof *v), m;
    size_t count = 0;

    for (int i = 0; v && i < n * n; i++)
        if (s[i] > 0)
            v[count++] = s[i];
    if (count)
        qsort(v, count, sizeof *v, ascending);
    m = count ? v[count / 2] : 0;
    free(v);
    return m;
}

/* So many standard errors are not passed by chance, among the thousands of differences of 32 hosts. */
static const double BY_CHANCE = 4.5;

/* Do i and j see all others in the same way, but for what is their own? At least two others must tell. */
static int alike(const double *s, const double *error, int n, double slack, int i, int j)
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
    int *finer = calloc((size_t)n, sizeof *finer), count = 0, most = 0;
    double width = slack * median_of(s, n);

    for (int i = 0; i < n; i++)
        most = group_of[i] + 1 > most ? group_of[i] + 1 : most;
    if (!finer)
        return most;       /* no memory: they stay as they are */
    for (int i = 0; i < n; i++) {
        int k = 0;

        while (k < i && (group_of[k] != group_of[i] || !alike(s, error, n, width, k, i)))
            k++;
        finer[i] = k < i ? finer[k] : count++;
    }
    memcpy(group_of, finer, (size_t)n * sizeof *finer);
    free(finer);
    return count;
}
