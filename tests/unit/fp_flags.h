/* fp_flags.h - do floating point operations leave their flags?
 *
 * They do on every machine, but not under valgrind, which has no floating point exceptions. What is found by
 * these flags (a division by zero behind a comparison) cannot be tested there.
 */
#ifndef HRUN_TESTS_FP_FLAGS_H
#define HRUN_TESTS_FP_FLAGS_H

#include <fenv.h>

static inline int fp_flags_work(void)
{
    volatile double zero = 0, y;
    int set;

    feclearexcept(FE_DIVBYZERO);
    y = 1 / zero;
    (void)y;
    set = fetestexcept(FE_DIVBYZERO) != 0;
    feclearexcept(FE_DIVBYZERO);
    return set;
}

#endif
