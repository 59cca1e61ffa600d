/* memory that runs out: every allocation of an operation fails once, in turn; the operation must then say
 * HRUN_ENOMEM, leave its outputs and lose nothing */
#include "fixture.h"

#include "base/file.h"
#include "base/list.h"
#include "base/opts.h"
#include "base/units.h"
#include "base/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__

int main(void)
{
    printf("1..0 # SKIP the address sanitizer has the allocator for itself\n");
    return 0;
}

#else

/* glibc's own allocator under its second name */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static long countdown = -1;     /* allocations until one fails; below 0: none does */
static long live;               /* allocated and not freed */

static int refuse(void)
{
    if (countdown < 0 || countdown-- > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    void *p = refuse() ? NULL : __libc_malloc(size);

    live += p != NULL;
    return p;
}

void *calloc(size_t n, size_t size)
{
    void *p = refuse() ? NULL : __libc_calloc(n, size);

    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t size)
{
    void *p = refuse() ? NULL : __libc_realloc(old, size);

    live += p && !old;
    return p;
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

/* ---------------------------------------------------------------- the operations: 0, -1 with *err, or
 * 1 when an output changed on failure */

static int op_hostlist(struct hrun_error *err)
{
    struct hrun_strvec v = HRUN_STRVEC_INIT;
    int rc = hrun_hostlist_parse("p4-[0-7,9]x[08-10],head,[::1]", &v, err);

    if (rc && v.n)
        rc = 1;
    hrun_strvec_release(&v);
    return rc;
}

struct item {
    char *path;
};

struct doc {
    char *name;
    int level;
    struct item *items;
    unsigned items_count;
};

static const struct hrun_word levels[] = { { "node", 0 }, { "core", 3 }, { NULL } };
static const struct hrun_key item_keys[] = { { HRUN_KEY("path", struct item, path) }, { NULL } };
static const struct hrun_key keys[] = {
    { HRUN_KEY("name", struct doc, name) },
    { HRUN_KEY("level", struct doc, level), .words = levels, .optional = 1 },
    { HRUN_KEY_LIST("items", struct doc, items, items_count), .keys = item_keys, .optional = 1, .max = 9 },
    { NULL }
};
static const struct hrun_schema schema = { keys, sizeof(struct doc) };

static const char text[] = "name: hpl\nlevel: core\nitems:\n  - path: a\n  - {path: \"b\"}\n";

static int op_yaml_load(struct hrun_error *err)
{
    void *data = NULL;
    struct hrun_yaml *marks = NULL;
    int rc = hrun_yaml_parse("f", text, strlen(text), &schema, &data, &marks, err);

    if (rc && (data || marks))
        return 1;
    hrun_yaml_free(&schema, data, marks);
    return rc;
}

/* A mistake is a mistake, or the memory ran out before it was found. */
static int op_yaml_mistake(struct hrun_error *err)
{
    static const char bad[] = "name: hpl\nlevel: croe\n";
    void *data = NULL;
    int rc = hrun_yaml_parse("f", bad, strlen(bad), &schema, &data, NULL, err);

    return rc == -1 && err->code == HRUN_EPARSE && err->line == 2 && !data ? 0 : rc == 0 ? 1 : rc;
}

static int op_yaml_print(struct hrun_error *err)
{
    struct item items[] = { { (char *)"a" }, { (char *)"b" } };
    struct doc d = { (char *)"hpl", 3, items, 2 };
    struct hrun_buf out = HRUN_BUF_INIT;
    int rc = hrun_yaml_print(&schema, &d, &out, err);

    if (rc && out.len)
        rc = 1;
    hrun_buf_release(&out);
    return rc;
}

static int op_file(struct hrun_error *err)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    int rc = hrun_file_read("/proc/self/status", 1 << 16, &out, err);

    if (rc && out.len)
        rc = 1;
    hrun_buf_release(&out);
    return rc;
}

static int op_rundir(struct hrun_error *err)
{
    char *path = hrun_rundir_create(NULL, err);
    int rc = path ? 0 : -1;
    long left = countdown;

    countdown = -1; /* reading a folder allocates too; the removal is not what is tried here */
    hrun_remove_tree(path);
    countdown = left;
    free(path);
    return rc;
}

struct settings {
    struct hrun_strvec pairs;
    const char *what;
};

static int op_opts(struct hrun_error *err)
{
    static const struct hrun_opt table[] = {
        { "mca", 0, HRUN_OPT_PAIR, NULL, NULL, "", NULL, hrun_opt_append, offsetof(struct settings, pairs),
          .modes = 1 },
        { "what", 'w', HRUN_OPT_CHOICE, NULL, "time cost", "", NULL, hrun_opt_string,
          offsetof(struct settings, what), .modes = 1 },
        { 0 }
    };
    char *argv[] = { (char *)"x", (char *)"-mca", (char *)"a", (char *)"b", (char *)"-w", (char *)"cost",
                     NULL };
    struct settings s = { HRUN_STRVEC_INIT, NULL };
    int rest = -1, rc = hrun_opts_parse(table, &s, 6, argv, &rest, NULL, err);

    if ((rc == 0) != (rest == 6))
        rc = 1;
    hrun_strvec_release(&s.pairs);
    return rc;
}

static int op_table(struct hrun_error *err)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_table *t = hrun_table_create("lr");
    int rc = -1;

    if (t) {
        hrun_table_row(t, "a", "b");
        hrun_table_cell(t, "%s", "c");
        rc = hrun_table_render(t, 0, &out);
    }
    if (rc)
        hrun_fail_nomem(err);
    if (rc && out.len)
        rc = 1;
    hrun_table_destroy(t);
    hrun_buf_release(&out);
    return rc;
}

static void exhaust(const char *name, int (*op)(struct hrun_error *))
{
    enum { MOST = 5000 };   /* no operation here allocates so often */
    struct hrun_error err;
    long before, n, lost = 0, wrong = 0;
    int rc = op(&err);      /* whatever libraries keep, they have it now */

    ok(rc == 0, "%s works", name);
    for (n = 0; n < MOST; n++) {
        memset(&err, 0, sizeof err);
        before = live;
        countdown = n;
        rc = op(&err);
        if (countdown >= 0) {
            countdown = -1;
            break;
        }
        countdown = -1;
        lost += live != before;
        wrong += !(rc == 0 || (rc == -1 && err.code == HRUN_ENOMEM));
        if (rc && err.code != HRUN_ENOMEM)
            printf("# allocation %ld: rc %d code %d %s\n", n, rc, (int)err.code, err.text);
    }
    ok(n > 0 && n < MOST && rc == 0, "%s makes %ld allocations", name, n);
    is_int(wrong, 0, "%s says so when one of them fails", name);
    is_int(lost, 0, "%s loses no memory then", name);
}

int main(void)
{
    char *dir = temp_dir();

    setenv("TMPDIR", dir, 1);
    exhaust("hostlist", op_hostlist);
    exhaust("loading YAML", op_yaml_load);
    exhaust("a mistake in YAML", op_yaml_mistake);
    exhaust("printing YAML", op_yaml_print);
    exhaust("reading a file", op_file);
    exhaust("a run folder", op_rundir);
    exhaust("options", op_opts);
    exhaust("a table", op_table);
    ok(rmdir(dir) == 0, "no run folder is left");
    free(dir);
    return tap_done();
}

#endif
