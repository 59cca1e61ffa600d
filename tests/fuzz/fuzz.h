/* fuzz.h - what a fuzz target offers
 *
 * A target is one function for libFuzzer (clang -fsanitize=fuzzer) and the inputs from which driver.c starts
 * where libFuzzer is missing. A broken invariant aborts.
 */
#ifndef HRUN_TESTS_FUZZ_H
#define HRUN_TESTS_FUZZ_H

#include "base/file.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static inline void fuzz_remove_folder(void);

/* A folder of this process, in memory where there is such a file system; removed at its end. */
static inline const char *fuzz_folder(void)
{
    static char path[4096];
    const char *base = access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";

    if (!path[0]) {
        snprintf(path, sizeof path, "%s/hrun-fuzz.XXXXXX", base ? base : "/tmp");
        FUZZ_CHECK(mkdtemp(path) && !atexit(fuzz_remove_folder));
    }
    return path;
}

static inline void fuzz_remove_folder(void)
{
    hrun_remove_tree(fuzz_folder());
}

/* Write a file of that folder; nothing has to last, so it is not synced. */
static inline void fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "w");

    FUZZ_CHECK(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

#endif
