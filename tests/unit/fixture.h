/* fixture.h - what unit tests share: a temporary folder, files as text, definitions from text, random numbers */
#ifndef HRUN_TESTS_FIXTURE_H
#define HRUN_TESTS_FIXTURE_H

#include "tap.h"

#include "app/app.h"
#include "base/file.h"

#include <dirent.h>
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noreturn)) static inline void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

/* ---------------------------------------------------------------- files */

static char temp_top[512];       /* holds the folders of this process */
static pid_t temp_owner;

static inline void temp_remove(void)
{
    if (getpid() == temp_owner)
        hrun_remove_tree(temp_top);
}

/* A fresh folder below TMPDIR or /tmp, removed at exit; the caller frees the name. */
static inline char *temp_dir(void)
{
    static int n;
    const char *base = getenv("TMPDIR");
    char *dir;

    if (!temp_owner) {
        snprintf(temp_top, sizeof temp_top, "%s/hrun-test.XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(temp_top) || chmod(temp_top, 0711))
            bail("no temporary folder");
        temp_owner = getpid();
        atexit(temp_remove);
    }
    dir = hrun_strf("%s/%d", temp_top, n++);
    if (!dir || mkdir(dir, 0700))
        bail("no temporary folder");
    return dir;
}

static inline void write_file(const char *path, const char *data, size_t len)
{
    FILE *f = fopen(path, "w");

    if (!f || fwrite(data, 1, len, f) != len || fclose(f)) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static inline void put(const char *dir, const char *name, const char *text)
{
    char *path = hrun_strf("%s/%s", dir, name);

    write_text(path, text);
    free(path);
}

/* The file's content; empty when there is none. */
static inline struct hrun_buf read_file(const char *path)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_file_read(path, (size_t)1 << 28, &b, NULL);
    return b;
}

/* The file's content, or "(none)"; valid until the next call. */
static inline const char *get(const char *dir, const char *name)
{
    static struct hrun_buf content = HRUN_BUF_INIT;
    char *path = hrun_strf("%s/%s", dir, name);

    hrun_buf_reset(&content);
    if (hrun_file_read(path, 1 << 20, &content, NULL))
        hrun_buf_adds(&content, "(none)");
    free(path);
    return content.data;
}

/* Entries of a folder that begin with prefix. */
static inline int entries(const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !strncmp(e->d_name, prefix, strlen(prefix));
    if (dir)
        closedir(dir);
    return n;
}

static inline const char *test_data(void)
{
    const char *data = getenv("HRUN_TEST_DATA");

    return data ? data : "tests/data";
}

/* The definition that text is, called name (app), in DIR/NAME.yaml; NULL and *err where it has a mistake. */
static inline struct hrun_app *load_named(const char *dir, const char *name, const char *text, struct hrun_error *err)
{
    char *path = hrun_strf("%s/%s.yaml", dir, name);
    struct hrun_app *app = NULL;

    memset(err, 0, sizeof *err);
    write_text(path, text);
    hrun_app_load(path, NULL, &app, err);
    free(path);
    return app;
}

static inline struct hrun_app *load_text(const char *dir, const char *text, struct hrun_error *err)
{
    return load_named(dir, "app", text, err);
}

/* ---------------------------------------------------------------- numbers */

/* splitmix64 (Steele, Lea, Flood 2014): one word of state, any seed. */
static inline uint64_t rnd_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [0, 1). */
static inline double rnd(uint64_t *state)
{
    return (double)(rnd_u64(state) >> 11) * 0x1p-53;
}

/* A whole number in lo..hi. */
static inline int rnd_int(uint64_t *state, int lo, int hi)
{
    return lo + (int)(rnd_u64(state) % (uint64_t)(hi - lo + 1));
}

/* Standard normal (Box and Muller). */
static inline double rnd_normal(uint64_t *state)
{
    double u = 1 - rnd(state);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * rnd(state));
}

/* xorshift64* (Vigna, arXiv 1402.6246): state not 0. */
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Do floating point operations leave their flags? Not under valgrind: what is found by these flags (a division by zero
 * behind a comparison) cannot be tested there. */
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
