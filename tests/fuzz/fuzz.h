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
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Typical inputs, ended by NULL. */
extern const char *const fuzz_seeds[];

#define FUZZ_CHECK(cond) do { \
    if (!(cond)) { \
        fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond); \
        abort(); \
    } \
} while (0)

/* The path of a file in memory that holds data[size], for what reads files; the next call replaces its content. */
static inline const char *fuzz_file(const void *data, size_t size)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_CHECK(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

#endif
