/* exchange.c - hrun-calibrate export and import: exchange measurements with other programs */
#include "profiles.h"

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

/* Larger files of measurements are refused. A record has about 500 bytes, so this is enough for 100,000. */
static const size_t FILE_MAX = (size_t)64 << 20;

static const char *const STANDARD = "-";    /* standard input or output */

/* ------------------------------------------------------------------ export */

struct log {
    char *app, *signature;
    struct hrun_samples samples;
};

/* Measurements of one profile with the same constants, which go into one file as one set. */
struct part {
    const struct log *log;
    const char *consts;
    const struct hrun_sample **v;
    size_t n;
    char *path;
    struct hrun_buf text;           /* is_first: the contents of the file */
    int is_first;
};

struct exporting {
    const struct calib_settings *s;
    enum hrun_exchange_format format;
    struct log *logs;
    struct part *parts;
    size_t nlogs, logs_cap, nparts, parts_cap;
};

static void exporting_release(struct exporting *e)
{
    for (size_t i = 0; i < e->nlogs; i++) {
        free(e->logs[i].app);
        free(e->logs[i].signature);
        hrun_samples_release(&e->logs[i].samples);
    }
    for (size_t i = 0; i < e->nparts; i++) {
        free(e->parts[i].v);
        free(e->parts[i].path);
        hrun_buf_release(&e->parts[i].text);
    }
    free(e->logs);
    free(e->parts);
}

/* Collect the measurements of one profile that still count. */
static int visit_export(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err)
{
    struct exporting *e = ctx;
    struct log *one;

    if (e->s->signature && strcmp(e->s->signature, sig))
        return 0;
    hrun_grow(e->logs, e->nlogs + 1, e->logs_cap);
    one = &e->logs[e->nlogs++];
    *one = (struct log){ .app = xstrdup(app), .signature = xstrdup(sig) };
    if (hrun_store_samples(c->store, app, sig, &one->samples, err))
        return -1;
    if (one->samples.bad)
        fprintf(stderr, "hrun-calibrate: %s skipped (%s)\n", hrun_counted(one->samples.bad, "record").s,
                one->samples.first_bad);
    hrun_samples_current(&one->samples);
    return 0;
}

/* The path of -o with {app}, {signature} and {constants} replaced. Constants may come from a foreign file, so a '/' in
 * them is not kept. */
static char *export_path(const char *template, const struct log *log, const char *consts)
{
    const struct { const char *key, *value; } known[] = {
        { "{app}", log->app }, { "{signature}", log->signature }, { "{constants}", consts },
    };
    struct hrun_buf out = HRUN_BUF_INIT;

    while (*template) {
        size_t i = 0, n = sizeof known / sizeof *known, before = out.len;

        while (i < n && strncmp(template, known[i].key, strlen(known[i].key)))
            i++;
        if (i < n) {
            hrun_buf_adds(&out, known[i].value);
            for (; before < out.len; before++)
                if (out.data[before] == '/')
                    out.data[before] = '_';
            template += strlen(known[i].key);
        } else {
            hrun_buf_addc(&out, *template++);
        }
    }
    return hrun_buf_detach(&out);
}

/* Add a measurement of a log to the part with its constants. */
static void add_to_part(struct exporting *e, const struct log *log, const struct hrun_sample *s)
{
    struct part *p;
    size_t i = 0;

    while (i < e->nparts && (e->parts[i].log != log || strcmp(e->parts[i].consts, s->consts)))
        i++;
    hrun_grow(e->parts, i + 1, e->parts_cap);
    p = &e->parts[i];
    if (i == e->nparts) {
        *p = (struct part){ .log = log, .consts = s->consts, .text = HRUN_BUF_INIT, .is_first = 1 };
        p->v = xcalloc(log->samples.n, sizeof *p->v);
        p->path = export_path(e->s->output ? e->s->output : STANDARD, log, p->consts);
        for (size_t k = 0; k < e->nparts; k++)
            p->is_first &= strcmp(e->parts[k].path, p->path) != 0;
        e->nparts++;
    }
    p->v[p->n++] = s;
}

/* Write a file. An existing special file, such as /dev/null or a pipe, is written to, not replaced. */
static int write_export(const char *path, const struct hrun_buf *text, struct hrun_error *err)
{
    struct stat st;
    int fd, rc;

    if (!strcmp(path, STANDARD)) {
        context_print_data(text->data, text->len);      /* main reports a failure */
        return 0;
    }
    if (stat(path, &st) || S_ISREG(st.st_mode))
        return hrun_file_replace(path, text->data, text->len, 0644, err);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    rc = fd < 0 || hrun_write_all(fd, text->data, text->len) ? -1 : 0;
    if (rc)
        hrun_fail_errno(err, HRUN_EIO, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Make the texts of all files, then write them. *left: number of measurements that the format cannot represent. */
static int write_parts(struct exporting *e, size_t *left, struct hrun_error *err)
{
    autofree struct hrun_exchange_set *sets = xcalloc(e->nparts, sizeof *sets);

    for (struct part *p = e->parts, *end = p + e->nparts; p < end; p++) {
        size_t n = 0, left_here = 0;

        for (const struct part *q = p; p->is_first && q < end; q++)
            if (!strcmp(q->path, p->path))
                sets[n++] = (struct hrun_exchange_set) { q->log->app, q->log->signature, q->v, q->n };
        if (n && hrun_exchange_write(e->format, sets, n, &p->text, &left_here, err)) {
            const struct hrun_error why = *err;

            return why.code != HRUN_EINVAL ? -1
                   : hrun_fail(err, HRUN_EINVAL, "%s; export each to a file of its own, as with -o "
                               "'{app}-{signature}-{constants}.txt', or to csv", why.text);
        }
        *left += left_here;
    }
    for (const struct part *p = e->parts; p < e->parts + e->nparts; p++)
        if (p->is_first && write_export(p->path, &p->text, err))
            return -1;
    return 0;
}

/* 1 if the last component of a path has a suffix, else 0. */
static int has_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

    return dot && dot[1] && (!slash || dot > slash + 1) && dot > path;
}

/* The given format, else that of the file name's suffix, else CSV for standard output or a name without a suffix. */
static int find_format(const struct calib_settings *s, enum hrun_exchange_format *out, struct hrun_error *err)
{
    *out = HRUN_EXCHANGE_CSV;
    return s->format || (s->output && has_suffix(s->output))
           ? hrun_exchange_find_format(s->format, s->output, out, err) : 0;
}

int calib_export(const struct calib_settings *s, char **apps)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    autorelease(exporting_release) struct exporting e = { .s = s };
    struct hrun_error err = { 0 };
    size_t left = 0;
    int seen, status, rc = 0;

    if (find_format(s, &e.format, &err) || context_open_store(&c, &err))
        return context_complain("hrun-calibrate", &err);
    status = each_profile(&c, apps, visit_export, &e, &seen);
    if (status)
        return status;
    for (size_t i = 0; i < e.nlogs; i++)
        for (size_t k = 0; k < e.logs[i].samples.n; k++)
            add_to_part(&e, &e.logs[i], &e.logs[i].samples.v[k]);
    if (!e.nparts)
        rc = hrun_fail(&err, HRUN_ENODATA, "there is no measurement%s%s in %s", s->signature ? " of signature " : "",
                       s->signature ? s->signature : "", hrun_store_dir(c.store));
    if (rc || write_parts(&e, &left, &err))
        return context_complain("hrun-calibrate", &err);
    if (left && !s->common.quiet)
        fprintf(stderr, "hrun-calibrate: %zu measurement%s left out, of failed runs or of several sub-clusters; csv "
                "holds them too\n", left, left == 1 ? " is" : "s are");
    return 0;
}

/* ------------------------------------------------------------------ import */

static int read_standard(struct hrun_buf *out, struct hrun_error *err)
{
    char piece[1 << 16];
    size_t n;

    while (out->len <= FILE_MAX && (n = fread(piece, 1, sizeof piece, stdin)) > 0)
        hrun_buf_add(out, piece, n);
    if (out->len > FILE_MAX)
        return hrun_fail(err, HRUN_EINVAL, "standard input has more than %zu bytes", FILE_MAX);
    if (ferror(stdin))
        return hrun_fail_errno(err, HRUN_EIO, "cannot read standard input");
    return 0;
}

static int read_import(const char *path, struct hrun_exchange *x, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    return (strcmp(path, STANDARD) ? hrun_file_read(path, FILE_MAX, &text, err) : read_standard(&text, err)) ||
           hrun_exchange_read(path, text.data, text.len, x, err) ? -1 : 0;
}

/* 1 if measurement i is the first of its profile, else 0. */
static int begins_profile(const struct hrun_exchange *x, size_t i)
{
    for (size_t k = i; k-- > 0; )
        if (!strcmp(x->v[k].app, x->v[i].app) && !strcmp(x->v[k].signature, x->v[i].signature))
            return 0;
    return 1;
}

/* Fail for an application without a definition: its name may be a mistake, and its measurements could not be used. */
static int check_apps(struct context *c, const struct hrun_exchange *x, struct hrun_error *err)
{
    for (size_t i = 0; i < x->n; i++) {
        if (i && !strcmp(x->v[i - 1].app, x->v[i].app))
            continue;
        context_drop_app(c);
        if (context_load_app(c, x->v[i].app, err))
            return -1;
    }
    return 0;
}

static int store_file(struct context *c, const char *path, const struct hrun_exchange *x, struct hrun_error *err)
{
    if (!c->set->quiet && x->app && strcmp(x->app, x->v[0].app))
        printf("%s: its application '%s' becomes '%s', as -app says\n", path, x->app, x->v[0].app);
    if (!c->set->quiet && x->signature && strcmp(x->signature, x->v[0].signature))
        printf("%s: its signature '%s' becomes '%s', as --signature says\n", path, x->signature, x->v[0].signature);
    for (size_t i = 0; i < x->n; i++) {
        size_t added, known;

        if (!begins_profile(x, i))
            continue;
        if (hrun_exchange_store(c->store, x, i, &added, &known, err))
            return -1;
        if (!c->set->quiet)
            printf("%s: %s on %s: %s imported, %zu known already\n", path, x->v[i].app, x->v[i].signature,
                   hrun_counted(added, "measurement").s, known);
    }
    return 0;
}

int calib_import(const struct calib_settings *s, char **files)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    autofree struct hrun_exchange *x = NULL;
    struct hrun_error err = { 0 };
    int n = 0, rc, status = 0;

    while (files[n])
        n++;
    rc = n ? context_open_store(&c, &err) || context_app(&c, NULL, &err)
           : hrun_fail(&err, HRUN_EINVAL, "import needs the name of a file, or - for standard input");
    x = xcalloc((size_t)n + 1, sizeof *x);
    /* All files are read and checked before anything is stored. They are stored one after the other, so that records of
     * a later file are compared with those of earlier files. */
    for (int i = 0; i < n && !rc; i++)
        rc = read_import(files[i], &x[i], &err)
             || hrun_exchange_claim(&x[i], files[i], s->common.app, s->signature, &err) || check_apps(&c, &x[i], &err);
    for (int i = 0; i < n && !rc; i++)
        rc = store_file(&c, files[i], &x[i], &err);
    if (rc)
        status = context_complain("hrun-calibrate", &err);
    else if (!s->common.quiet)
        printf("The models know of them after: hrun-calibrate fit\n");
    for (int i = 0; i < n; i++)
        hrun_exchange_release(&x[i]);
    return status;
}
