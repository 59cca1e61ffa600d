/* inputs.c - writing input files, and the ledger that tells hrun's own files from the user's
 *
 * The ledger has one JSON object on each line, the last one for a path counts:
 *   {"path": "/home/me/HPL.dat", "crc32": 305419896, "length": 870, "was_crc32": ..., "was_length": ...}
 * path is absolute, bytes outside printable ASCII and '%' as %XX. crc32 and length are of what hrun was about
 * to write; was_* of the content that hrun had written before and found there, if any. Both are hrun's: the
 * line is made durable before the file is replaced, and an interruption between the two leaves the former
 * content. A line that does not parse (torn by a crash) is skipped.
 */
#include "app/internal.h"

#include "base/file.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* The ledger grows by a line of some 150 bytes for each file written and is rewritten with the last line of
 * each path when COMPACT_LINES lines more than paths have come together; LEDGER_MAX is far above that. */
enum { COMPACT_LINES = 1000, LEDGER_MAX = 1 << 26 };

/* A path of PATH_MAX bytes, each written as '%2F', and the sums. */
enum { LINE_MAX_BYTES = 1 << 14 };

struct sum {
    uint32_t crc;
    int64_t length;         /* -1: there is none */
};

struct entry {              /* what the ledger says of a path */
    char *path;
    struct sum is, was;
};

struct input_record {
    struct entry *v;        /* one for each path, in the order of the file */
    size_t n, cap;
    size_t lines;
};

struct input {              /* a file to be written */
    char *path;             /* absolute */
    const char *below;      /* the part of path that is below the working directory */
    int folder;             /* the one that holds it, open; -1: there is none yet */
    struct hrun_buf content;
    struct sum was;         /* hrun's own former content */
    int write;              /* it has to be written */
};

static struct sum sum_of(const char *data, size_t len)
{
    uLong crc = crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)data, len);

    return (struct sum){ (uint32_t)crc, (int64_t)len };
}

static int same(struct sum a, struct sum b)
{
    return a.length >= 0 && a.length == b.length && a.crc == b.crc;
}

/* ------------------------------------------------------------------ the ledger */

static void ledger_release(struct input_record *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i].path);
    free(l->v);
}

static struct entry *ledger_find(const struct input_record *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->v[i].path, path))
            return &l->v[i];
    return NULL;
}

/* Enter a path, over what was known of it. Result: 0, or -1 when memory ran out. */
static int ledger_set(struct input_record *l, const char *path, struct sum is, struct sum was)
{
    struct entry *e = ledger_find(l, path);

    if (!e) {
        if (l->n == l->cap) {
            size_t cap = l->cap ? 2 * l->cap : 16;
            struct entry *v = realloc(l->v, cap * sizeof *v);
            if (!v)
                return -1;
            l->v = v;
            l->cap = cap;
        }
        e = &l->v[l->n];
        e->path = strdup(path);
        if (!e->path)
            return -1;
        l->n++;
    }
    e->is = is;
    e->was = was;
    return 0;
}

static void add_escaped(struct hrun_buf *out, const char *path)
{
    for (const char *s = path; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c > 0x7e || strchr("%\"\\", c))
            hrun_buf_addf(out, "%%%02X", c);
        else
            hrun_buf_addc(out, *s);
    }
}

static void add_line(struct hrun_buf *out, const char *path, struct sum is, struct sum was)
{
    hrun_buf_adds(out, "{\"path\": \"");
    add_escaped(out, path);
    hrun_buf_addf(out, "\", \"crc32\": %u, \"length\": %lld", is.crc, (long long)is.length);
    if (was.length >= 0)
        hrun_buf_addf(out, ", \"was_crc32\": %u, \"was_length\": %lld", was.crc, (long long)was.length);
    hrun_buf_adds(out, "}\n");
}

static int get_sum(const json_t *o, const char *crc_key, const char *length_key, struct sum *out)
{
    const json_t *crc = json_object_get(o, crc_key), *length = json_object_get(o, length_key);

    if (!json_is_integer(crc) || !json_is_integer(length))
        return -1;
    if (json_integer_value(crc) < 0 || json_integer_value(crc) > UINT32_MAX || json_integer_value(length) < 0)
        return -1;
    out->crc = (uint32_t)json_integer_value(crc);
    out->length = json_integer_value(length);
    return 0;
}

/* One line. A torn or foreign one is skipped. Result: 0, or -1 when memory ran out. */
static int read_line(struct input_record *l, const char *line, size_t len)
{
    struct sum is = { 0, -1 }, was = { 0, -1 };
    json_t *o = len > LINE_MAX_BYTES ? NULL : json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    const char *s = json_string_value(json_object_get(o, "path"));
    struct hrun_buf path = HRUN_BUF_INIT;
    int rc = 0;

    if (!s || get_sum(o, "crc32", "length", &is))
        goto out;
    get_sum(o, "was_crc32", "was_length", &was);
    for (; *s; s++) {
        unsigned byte;
        if (*s == '%' && sscanf(s, "%%%2X", &byte) == 1 && strlen(s) > 2) {
            hrun_buf_addc(&path, (char)byte);
            s += 2;
        } else {
            hrun_buf_addc(&path, *s);
        }
    }
    rc = path.failed ? -1 : ledger_set(l, path.data, is, was);
out:
    hrun_buf_release(&path);
    json_decref(o);
    return rc;
}

static int ledger_read(const char *file, struct input_record *l, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error inner = { .code = HRUN_OK };
    const char *s, *end;
    int rc = -1;

    if (hrun_file_read(file, LEDGER_MAX, &text, &inner)) {
        rc = inner.code == HRUN_ENOENT ? 0 : hrun_fail(err, inner.code, "%s", inner.text);
        if (rc && err)
            err->sys = inner.sys;
        goto out;
    }
    for (s = text.data; s < text.data + text.len; s = end + 1) {
        end = memchr(s, '\n', (size_t)(text.data + text.len - s));
        if (!end)
            end = text.data + text.len;
        if (read_line(l, s, (size_t)(end - s))) {
            hrun_fail_nomem(err);
            goto out;
        }
        l->lines++;
        if (end == text.data + text.len)
            break; /* a torn line: hrun_file_append will end it */
    }
    rc = 0;
out:
    hrun_buf_release(&text);
    return rc;
}

/* Enter the files that will be written, durably. */
static int ledger_write(const char *file, struct input_record *l, const struct input *in, int n,
                        struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = -1;

    for (int i = 0; i < n; i++) {
        struct sum is = sum_of(in[i].content.data, in[i].content.len);

        if (!in[i].write)
            continue;
        add_line(&text, in[i].path, is, in[i].was);
        l->lines++;
        if (ledger_set(l, in[i].path, is, in[i].was)) {
            hrun_fail_nomem(err);
            goto out;
        }
    }
    if (l->lines > l->n + COMPACT_LINES) {
        hrun_buf_reset(&text);
        for (size_t i = 0; i < l->n; i++)
            add_line(&text, l->v[i].path, l->v[i].is, l->v[i].was);
    }
    if (text.failed)
        hrun_fail_nomem(err);
    else if (l->lines > l->n + COMPACT_LINES)
        rc = hrun_file_replace(file, text.data, text.len, 0666, err);
    else
        rc = hrun_file_append(file, text.data, text.len, 0666, 1, NULL, err);
out:
    hrun_buf_release(&text);
    return rc;
}

/* ------------------------------------------------------------------ the files */

static int fail_foreign(const struct input *in, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EEXISTS, "'%s' was changed, or was not written by hrun: it is kept and nothing "
                     "is written; move it away, or overwrite it with --force", in->path);
}

/* Open the folder that holds the file; make = 1: make it, too. A path that leads through a symbolic link is refused: it
 * could lead out of the working directory. */
static int open_folder(struct input *in, int root, int make, struct hrun_error *err)
{
    size_t len = 0;

    if (in->folder >= 0)
        return 0;
    in->folder = hrun_open_below(root, in->below, make, &len);
    if (in->folder >= 0 || (errno == ENOENT && !make))
        return 0;
    len += (size_t)(in->below - in->path);
    if (errno == ELOOP)
        return hrun_fail(err, HRUN_EEXISTS, "the input file '%s' is not written: '%.*s' is a symbolic link, which may "
                         "lead out of the working directory; put a folder in its place", in->path, (int)len, in->path);
    return hrun_fail_errno(err, HRUN_EIO, "cannot open the folder '%.*s'", (int)len, in->path);
}

/* What stands at the file's place. -1 with errno: nothing, or it is not known. */
static int stat_input(const struct input *in, struct stat *st)
{
    const char *name = strrchr(in->path, '/') + 1;

    errno = ENOENT;
    return in->folder < 0 ? -1 : fstatat(in->folder, name, st, AT_SYMLINK_NOFOLLOW);
}

/* 1 if a regular file holds just the wanted content, else 0. */
static int holds(const struct input *in)
{
    const struct hrun_buf *want = &in->content;
    struct hrun_buf content = HRUN_BUF_INIT;
    struct stat st;
    int yes = !stat_input(in, &st) && S_ISREG(st.st_mode) && st.st_size == (off_t)want->len
        && !hrun_file_read_in(in->folder, in->path, want->len, &content, NULL) && content.len == want->len
        && !memcmp(content.data, want->data, want->len);

    hrun_buf_release(&content);
    return yes;
}

static int all_right(const struct input *in, int n)
{
    for (int i = 0; i < n; i++)
        if (!holds(&in[i]))
            return 0;
    return 1;
}

/* Look at what is there now: does the file have to be written, and may it be? */
static int compare(struct input *in, const struct input_record *l, int force, struct hrun_error *err)
{
    struct sum want = sum_of(in->content.data, in->content.len), there;
    const struct entry *e = ledger_find(l, in->path);
    struct hrun_buf content = HRUN_BUF_INIT;
    struct hrun_error inner = { .code = HRUN_OK };
    struct stat st;

    in->was = (struct sum){ 0, -1 };
    in->write = 1;
    if (stat_input(in, &st))
        return errno == ENOENT ? 0 : hrun_fail_errno(err, HRUN_EIO, "cannot look at '%s'", in->path);
    if (!S_ISREG(st.st_mode))
        return hrun_fail(err, HRUN_EEXISTS, "'%s' is in the way: an input file is to be written there and it is %s; "
                         "move it away", in->path, S_ISLNK(st.st_mode)
                         ? "a symbolic link, which may lead out of the working directory" : "not a file");
    /* Larger than all that hrun would know again: no need to read it. */
    if (st.st_size > want.length && !(e && (st.st_size == e->is.length || st.st_size == e->was.length)))
        return force ? 0 : fail_foreign(in, err);
    if (hrun_file_read_in(in->folder, in->path, (size_t)st.st_size + 1, &content, &inner)) {
        hrun_buf_release(&content);
        return inner.code == HRUN_EINVAL ? (force ? 0 : fail_foreign(in, err))
                                         : hrun_fail(err, inner.code, "%s", inner.text);
    }
    there = sum_of(content.data, content.len);
    if (content.len == in->content.len && !memcmp(content.data, in->content.data, content.len))
        in->write = 0;
    hrun_buf_release(&content);
    if (!in->write)
        return 0;
    if (e && (same(there, e->is) || same(there, e->was)))
        in->was = there;
    else if (!force)
        return fail_foreign(in, err);
    return 0;
}

/* Expand the definition's files. root: the absolute working directory. */
static int expand(const struct hrun_app *app, const struct hrun_app_values *values, const char *root,
                  struct input *in, struct hrun_error *err)
{
    for (int i = 0; i < app->nfiles; i++) {
        struct hrun_buf path = HRUN_BUF_INIT;

        size_t above;

        hrun_buf_addf(&path, "%s/", strcmp(root, "/") ? root : "");
        above = path.len;
        if (hrun_app_expand(app, app->files[i].path, values, &path, err) ||
            hrun_app_expand(app, app->files[i].content, values, &in[i].content, err)) {
            hrun_buf_release(&path);
            return hrun_fail_prefix(err, "file '%s' of %s", app->files[i].path, app->name);
        }
        in[i].path = hrun_buf_detach(&path);
        if (!in[i].path)
            return hrun_fail_nomem(err);
        in[i].below = in[i].path + above;
        for (int k = 0; k < i; k++)
            if (!strcmp(in[k].path, in[i].path))
                return hrun_fail(err, HRUN_EINVAL, "two files of %s have the path '%s'", app->name,
                                 in[i].path);
    }
    return 0;
}

static int mkdir_of(const char *file, struct hrun_error *err)
{
    char *dir = strdup(file), *slash = dir ? strrchr(dir, '/') : NULL;
    int rc = 0;

    if (!dir)
        return hrun_fail_nomem(err);
    if (slash && slash != dir) {
        *slash = 0;
        rc = hrun_mkdirs(dir, 0777, err);
    }
    free(dir);
    return rc;
}

/* Can files be made where this one is to be? */
static int check_folder(const struct input *in, int root, struct hrun_error *err)
{
    if (!faccessat(in->folder >= 0 ? in->folder : root, ".", W_OK | X_OK, AT_EACCESS))
        return 0;
    return hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", in->path);
}

/* check = 1: write nothing. */
static int write_all(struct input *in, int n, int root, const char *ledger, int force, int check,
                     struct hrun_error *err)
{
    struct input_record l = { NULL, 0, 0, 0 };
    int rc = -1, todo = 0;

    if (ledger && ledger_read(ledger, &l, err))
        goto out;
    for (int i = 0; i < n; i++) {
        if (compare(&in[i], &l, force, err) || (check && in[i].write && check_folder(&in[i], root, err)))
            goto out;
        todo += in[i].write;
    }
    if (check) {
        rc = 0;
        goto out;
    }
    if (ledger && todo > 0 && ledger_write(ledger, &l, in, n, err))
        goto out;
    for (int i = 0; i < n; i++)
        if (in[i].write && (open_folder(&in[i], root, 1, err) ||
                            hrun_file_replace_in(in[i].folder, in[i].path, in[i].content.data, in[i].content.len,
                                                 0666, err)))
            goto out;
    rc = 0;
out:
    ledger_release(&l);
    return rc;
}

static int put_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                     const char *ledger, int force, int check, struct hrun_error *err)
{
    struct input *in = calloc((size_t)app->nfiles + 1, sizeof *in);
    char *lock = ledger ? hrun_strf("%s.lock", ledger) : NULL, *root = NULL;
    int rc = -1, fd = -1, top = -1, saved = errno;

    for (int i = 0; in && i < app->nfiles; i++) {
        hrun_buf_init(&in[i].content);
        in[i].folder = -1;
    }
    if (!in || (ledger && !lock)) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (app->nfiles == 0) {
        rc = 0;
        goto out;
    }
    root = realpath(dir, NULL);
    top = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (top < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot find the working directory '%s'", dir);
        goto out;
    }
    if (expand(app, values, root, in, err))
        goto out;
    for (int i = 0; i < app->nfiles; i++)
        if (open_folder(&in[i], top, 0, err))
            goto out;
    /* Then no lock is needed, which a data folder that may only be read would not give. */
    if (all_right(in, app->nfiles)) {
        rc = 0;
        goto out;
    }
    if (ledger && !check && (mkdir_of(ledger, err) || (fd = hrun_lock(lock, err)) < 0))
        goto out;
    rc = write_all(in, app->nfiles, top, ledger, force, check, err);
    hrun_unlock(fd);
out:
    for (int i = 0; in && i < app->nfiles; i++) {
        hrun_buf_release(&in[i].content);
        free(in[i].path);
        if (in[i].folder >= 0)
            close(in[i].folder);
    }
    if (top >= 0)
        close(top);
    free(in);
    free(lock);
    free(root);
    errno = saved;
    return rc;
}

int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                         const char *ledger, int force, struct hrun_error *err)
{
    return put_files(app, values, dir, ledger, force, 0, err);
}

int hrun_app_check_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                         const char *ledger, int force, struct hrun_error *err)
{
    return put_files(app, values, dir, ledger, force, 1, err);
}

/* ------------------------------------------------------------------ what a user's file says */

/* The number that a word begins with, as scanf and atoi read "192,": it ends at a blank, a comma or a semicolon.
 * Result: 1, or 0 and *value is as before. */
static int number_of(const char *word, double *value)
{
    char *text = strndup(word, strcspn(word, ",; \t\r\n"));
    int yes = text && !hrun_parse_number("", text, value, NULL);

    free(text);
    return yes;
}

/* The number at the beginning of a line of text, unless another one follows. */
static int lone_number(const char *text, int line, double *value)
{
    double other;

    while (--line > 0 && (text = strchr(text, '\n')))
        text++;
    if (!text)
        return 0;
    text += strspn(text, " \t");
    if (!number_of(text, value))
        return 0;
    text += strcspn(text, " \t\r\n");
    text += strspn(text, " \t");
    return !number_of(text, &other);
}

/* Append NAME=VALUE to a list. */
static int push_value(struct hrun_strvec *list, const char *name, double value, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc;

    hrun_buf_addf(&text, "%s=", name);
    hrun_app_add_value(&text, value);
    rc = text.failed || hrun_strvec_push(list, text.data) ? hrun_fail_nomem(err) : 0;
    hrun_buf_release(&text);
    return rc;
}

int hrun_app_presets(const struct hrun_app *app, const char *dir, const char *ledger, struct hrun_strvec *defines,
                     struct hrun_strvec *missed, struct hrun_error *err)
{
    enum { TEXT_MAX = 1 << 20 };
    struct input_record l = { NULL, 0, 0, 0 };
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = 0;

    if (app->npresets && ledger)
        ledger_read(ledger, &l, NULL);
    for (int i = 0; i < app->npresets && !rc; i++) {
        const struct hrun_app_preset *p = &app->presets[i];
        char *path = hrun_strf("%s/%s", dir, p->file), *full = path ? realpath(path, NULL) : NULL;
        const struct entry *e = full ? ledger_find(&l, full) : NULL;
        struct sum there = { 0, -1 };
        struct stat st;
        double value;

        hrun_buf_reset(&text);
        if (full && !stat(full, &st) && S_ISREG(st.st_mode) && !hrun_file_read(full, TEXT_MAX, &text, NULL))
            there = sum_of(text.data, text.len);
        if (full && !(e && (same(there, e->is) || same(there, e->was)))) {
            if (there.length < 0 || text.len != strlen(text.data) || !lone_number(text.data, p->line, &value))
                rc = push_value(missed, p->name, p->value, err);
            else if (value != p->value)
                rc = push_value(defines, p->name, value, err);
        }
        free(full);
        free(path);
    }
    ledger_release(&l);
    hrun_buf_release(&text);
    return rc;
}

int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int i = 0, differs;

    while (strcmp(app->files[i].path, p->file))
        i++;
    differs = !hrun_app_expand(app, app->files[i].content, values, &text, NULL) && !text.failed &&
              lone_number(text.data, p->line, written) && *written != said;
    hrun_buf_release(&text);
    return !differs;
}
