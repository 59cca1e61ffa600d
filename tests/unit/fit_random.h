/* fit_random.h - seeded random numbers and matrices for the tests of lib/fit and lib/model */
#ifndef HRUN_TESTS_FIT_RANDOM_H
#define HRUN_TESTS_FIT_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): one word of state, any seed. */
__attribute__((unused)) static uint64_t rnd_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [0, 1). */
__attribute__((unused)) static double rnd(uint64_t *state)
{
    return (double)(rnd_u64(state) >> 11) * 0x1p-53;
}

/* A whole number in lo..hi. */
__attribute__((unused)) static int rnd_int(uint64_t *state, int lo, int hi)
{
    return lo + (int)(rnd_u64(state) % (uint64_t)(hi - lo + 1));
}

/* Standard normal (Box and Muller). */
__attribute__((unused)) static double rnd_normal(uint64_t *state)
{
    double u = 1 - rnd(state);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * rnd(state));
}

#endif
