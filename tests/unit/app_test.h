/* app_test.h - folders and files for the tests of lib/app */
#ifndef HRUN_TESTS_APP_TEST_H
#define HRUN_TESTS_APP_TEST_H

#include "tap.h"

#include "app/app.h"
#include "base/file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of our own; remove it with hrun_remove_tree. */
static inline char *test_dir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = hrun_strf("%s/hrun-test-app.XXXXXX", base ? base : "/tmp");

    if (!dir || !mkdtemp(dir)) {
        printf("Bail out! no folder for the test\n");
        exit(1);
    }
    return dir;
}

static inline void put(const char *dir, const char *name, const char *text)
{
    char *path = hrun_strf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
    free(path);
}

/* The definition that text is, called app; NULL and *err where it has a mistake. */
static inline struct hrun_app *load_text(const char *dir, const char *text, struct hrun_error *err)
{
    char *path = hrun_strf("%s/app.yaml", dir);
    struct hrun_app *app = NULL;

    memset(err, 0, sizeof *err);
    put(dir, "app.yaml", text);
    hrun_app_load(path, NULL, 0, &app, err);
    free(path);
    return app;
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

static inline const char *test_data(void)
{
    const char *data = getenv("HRUN_TEST_DATA");

    return data ? data : "tests/data";
}

#endif
