/* rounds.c - rounds of disjoint pairs and triples of hosts; see measure.h */
#include "measure.h"

/* ---------------------------------------------------------------- pairs */

int net_rounds(int n)
{
    return n < 2 ? 0 : n % 2 ? n : n - 1;
}

/* The circle method on m hosts. If n is even, m = n. Else m = n + 1: host n does not exist, and its partner rests.
 * Two hosts below m - 1 are partners if the sum of their numbers is `round` modulo m - 1. By this rule one host would
 * be its own partner: host m - 1 is its partner instead. */
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

/* out[3]: the triple with this index among all triples of n hosts. */
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

/* The step with this index, counted from 0, in the list of the numbers 1 .. n / 2 that are coprime to n. Adding such a
 * step again and again, modulo n, visits all numbers below n. The list repeats; *times: complete lists before this
 * step. */
static int row_step(int n, int index, int *times)
{
    int count = 0, step = 0;

    for (int k = 1; 2 * k <= n; k++)
        count += common_divisor(k, n) == 1;
    *times = index / count;
    for (index %= count; index >= 0; index--)
        while (common_divisor(++step, n) != 1)
            ;
    return step;
}

/* For n > 6: triple `index` of a round. n % 3 hosts rest, different ones in each round. The others form a row, in which
 * the number of a host is that of the one before it plus the round's step. The row is cut into triples. When the steps
 * begin again, the cuts shift by one. */
static void triple_in_row(int n, int round, int index, int *out)
{
    int rest = n % 3, m = n - rest, again, step = row_step(m, round, &again);

    for (int k = 0; k < 3; k++)
        out[k] = (int)(((long)(3 * index + k + again) * step % m + (long)rest * (round + 1)) % n);
}

static int is_in_triple(const int *triple, int host)
{
    return triple[0] == host || triple[1] == host || triple[2] == host;
}

/* 1 if an earlier round has this triple, else 0. */
static int in_earlier_round(int n, int round, const int *triple)
{
    int other[3];

    for (int r = 0; r < round; r++)
        for (int q = 0; q < n / 3; q++) {
            triple_in_row(n, r, q, other);
            if (is_in_triple(other, triple[0]) && is_in_triple(other, triple[1]) && is_in_triple(other, triple[2]))
                return 1;
        }
    return 0;
}

int net_triples(int n, int round, int *out)
{
    int count = 0;

    if (n < 3)
        return 0;
    if (n <= ALL_TRIPLES_MOST) {
        triple_of(n, round, out);
        return 1;
    }
    for (int q = 0; q < n / 3; q++) {
        triple_in_row(n, round, q, out + 3 * count);
        count += !in_earlier_round(n, round, out + 3 * count);
    }
    return count;
}
