/* inputs.c - write input files with the mark of hrun, read constants; see inputs.h
 *
 * In the content of a definition's file, the zeros of "hrun:00000000" are replaced by the CRC-32 of the whole content
 * with the zeros. A file with a correct mark was written by hrun and has not changed.
 */
#include "app/inputs.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Larger files were not written by hrun. */
enum { INPUT_MAX = 1 << 20 };

struct input {              /* a file to be written */
    char *path;             /* absolute */
    const char *below;      /* the part of path that is below the working directory */
    int folder;             /* descriptor of its folder; -1: not open */
    struct hrun_buf content;
    int marked;             /* 1: the content has a mark */
    int write;              /* 1: the file must be written */
};

/* ------------------------------------------------------------------ the mark */

static const char ZERO_MARK[] = "hrun:00000000";
enum { MARK_NAME = 5, MARK_DIGITS = 8 };      /* lengths of "hrun:" and of the digits after it */

/* The correct form of the mark that begins at `mark` in a text. */
static void make_mark(const char *text, size_t len, const char *mark, char out[sizeof ZERO_MARK])
{
    size_t before = (size_t)(mark - text), after = before + sizeof ZERO_MARK - 1;
    uLong crc = crc32_z(0, (const unsigned char *)text, before);

    crc = crc32_z(crc, (const unsigned char *)ZERO_MARK, sizeof ZERO_MARK - 1);
    crc = crc32_z(crc, (const unsigned char *)text + after, len - after);
    snprintf(out, sizeof ZERO_MARK, "hrun:%08lx", crc & 0xffffffff);
}

/* 1 if the text has a mark with the right checksum, else 0. */
static int has_right_mark(const struct hrun_buf *text)
{
    char *mark = text->len ? memmem(text->data, text->len, ZERO_MARK, MARK_NAME) : NULL, right[sizeof ZERO_MARK];

    if (!mark || (size_t)(text->data + text->len - mark) < MARK_NAME + MARK_DIGITS)
        return 0;
    make_mark(text->data, text->len, mark, right);
    return !memcmp(mark, right, MARK_NAME + MARK_DIGITS);
}

/* ------------------------------------------------------------------ the files */

static int fail_foreign(const struct input *in, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EEXISTS, "'%s' was changed, or was not written by hrun: it is kept and nothing is "
                     "written; move it away, or overwrite it with --force%s", in->path, in->marked ? "" :
                     " (to have hrun overwrite its own, put hrun:00000000 into the definition's content: hrun-app(5))");
}

/* Open the folder of the file; make = 1: create it if needed. Symbolic links in the path are refused, as they may lead
 * out of the working directory. */
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

/* Compare with the existing file: set in->write; fail if the file must not be replaced. */
static int compare_input(struct input *in, int force, struct hrun_error *err)
{
    const struct hrun_buf *want = &in->content;
    autorelease(hrun_buf_release) struct hrun_buf there = HRUN_BUF_INIT;
    struct stat st;

    in->write = 1;
    errno = ENOENT;
    if (in->folder < 0 || fstatat(in->folder, strrchr(in->path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : hrun_fail_errno(err, HRUN_EIO, "cannot look at '%s'", in->path);
    if (!S_ISREG(st.st_mode))
        return hrun_fail(err, HRUN_EEXISTS, "'%s' is in the way: an input file is to be written there and it is %s; "
                         "move it away", in->path, S_ISLNK(st.st_mode)
                         ? "a symbolic link, which may lead out of the working directory" : "not a file");
    if (st.st_size > INPUT_MAX)
        return force ? 0 : fail_foreign(in, err);
    if (hrun_file_read_in(in->folder, in->path, INPUT_MAX, &there, err))
        return -1;
    in->write = there.len != want->len || memcmp(there.data, want->data, want->len);
    return in->write && !has_right_mark(&there) && !force ? fail_foreign(in, err) : 0;
}

/* Expand the definition's files. root: the absolute working directory. */
static int expand_inputs(const struct hrun_app *app, const struct hrun_app_values *values, const char *root,
                  struct input *in, struct hrun_error *err)
{
    for (int i = 0; i < app->run.nfiles; i++) {
        autorelease(hrun_buf_release) struct hrun_buf path = HRUN_BUF_INIT;
        char *mark, right[sizeof ZERO_MARK];
        size_t above;

        hrun_buf_addf(&path, "%s/", strcmp(root, "/") ? root : "");
        above = path.len;
        if (hrun_app_expand(app, app->run.files[i].path, values, &path, err) ||
            hrun_app_expand(app, app->run.files[i].content, values, &in[i].content, err))
            return hrun_fail_prefix(err, "file '%s' of %s", app->run.files[i].path, app->name);
        mark = strstr(in[i].content.data, ZERO_MARK);
        in[i].marked = mark != NULL;
        if (mark) {
            make_mark(in[i].content.data, in[i].content.len, mark, right);
            memcpy(mark, right, sizeof right - 1);
        }
        in[i].path = hrun_buf_detach(&path);
        in[i].below = in[i].path + above;
        for (int k = 0; k < i; k++)
            if (!strcmp(in[k].path, in[i].path))
                return hrun_fail(err, HRUN_EINVAL, "two files of %s have the path '%s'", app->name,
                                 in[i].path);
    }
    return 0;
}

static int write_inputs(struct input *in, int n, int root, int force, int check, struct hrun_error *err)
{
    for (int i = 0; i < n; i++) {
        if (open_folder(&in[i], root, 0, err) || compare_input(&in[i], force, err))
            return -1;
        /* A folder that does not exist yet will be made below root. */
        if (check && in[i].write && faccessat(in[i].folder >= 0 ? in[i].folder : root, ".", W_OK | X_OK, AT_EACCESS))
            return hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", in[i].path);
    }
    for (int i = 0; i < n && !check; i++)
        if (in[i].write && (open_folder(&in[i], root, 1, err) ||
                            hrun_file_replace_in(in[i].folder, in[i].path, in[i].content.data, in[i].content.len,
                                                 0666, err)))
            return -1;
    return 0;
}

int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir, int force,
                         int check, struct hrun_error *err)
{
    struct input *in = xcalloc((size_t)app->run.nfiles + 1, sizeof *in);
    char *root = realpath(dir, NULL);
    int top = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, rc;

    for (int i = 0; i < app->run.nfiles; i++) {
        hrun_buf_init(&in[i].content);
        in[i].folder = -1;
    }
    if (!app->run.nfiles)
        rc = 0;
    else if (top < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot find the working directory '%s'", dir);
    else
        rc = expand_inputs(app, values, root, in, err) ||
             write_inputs(in, app->run.nfiles, top, force, check, err) ? -1 : 0;
    for (int i = 0; i < app->run.nfiles; i++) {
        hrun_buf_release(&in[i].content);
        free(in[i].path);
        if (in[i].folder >= 0)
            close(in[i].folder);
    }
    if (top >= 0)
        close(top);
    free(in);
    free(root);
    return rc;
}

/* ------------------------------------------------------------------ values in a user's file */

/* Parse the number at the beginning of a word, which ends at a blank, comma or semicolon ("192,"). Result: 1, or 0 and
 * *value is unchanged. */
static int number_of(const char *word, double *value)
{
    autofree char *text = xstrndup(word, strcspn(word, ",; \t\r\n"));

    return !hrun_parse_number("", text, value, NULL);
}

/* The number at the beginning of a line of text. Result: 1, or 0 if there is none or another number follows. */
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

static void push_value(struct hrun_strvec *list, const char *name, double value)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_addf(&text, "%s=", name);
    hrun_app_add_value(&text, value);
    hrun_strvec_push(list, text.data);
}

void hrun_app_presets(const struct hrun_app *app, const char *dir, struct hrun_strvec *defines,
                      struct hrun_strvec *missed)
{
    for (int i = 0; i < app->run.npresets; i++) {
        const struct hrun_app_preset *p = &app->run.presets[i];
        autofree char *path = hrun_strf("%s/%s", dir, p->file);
        autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
        struct stat st;
        double value;

        if (stat(path, &st))
            continue;
        if (!S_ISREG(st.st_mode) || hrun_file_read(path, INPUT_MAX, &text, NULL))
            push_value(missed, p->name, p->value);
        else if (has_right_mark(&text))
            continue;
        else if (text.len != strlen(text.data) || !lone_number(text.data, p->line, &value))
            push_value(missed, p->name, p->value);
        else if (value != p->value)
            push_value(defines, p->name, value);
    }
}

int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    int i = 0;

    while (strcmp(app->run.files[i].path, p->file))
        i++;
    return hrun_app_expand(app, app->run.files[i].content, values, &text, NULL) ||
           !lone_number(text.data, p->line, written) || *written == said;
}
