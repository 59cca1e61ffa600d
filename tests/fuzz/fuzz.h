/* fuzz.h - what a fuzz target offers
 *
 * A target is one function for libFuzzer (clang -fsanitize=fuzzer) and the inputs from which driver.c starts
 * where libFuzzer is missing. A broken invariant aborts.
 */
#ifndef HRUN_TESTS_FUZZ_H
#define HRUN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Typical inputs, ended by NULL. */
extern const char *const fuzz_seeds[];

#define FUZZ_CHECK(cond) do { \
    if (!(cond)) { \
        fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond); \
        abort(); \
    } \
} while (0)

#endif
