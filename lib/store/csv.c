/* csv.c - measurements as comma-separated values, RFC 4180; see store.h */
#include "store/internal.h"

#include "base/alloc.h"
#include "base/units.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Columns that are not fields of a record. */
enum { APP_COLUMN = STORE_NFIELDS, SIGNATURE_COLUMN, NCOLUMNS };

static const char *column_name(int column)
{
    return column == APP_COLUMN ? "app" : column == SIGNATURE_COLUMN ? "signature" : store_fields[column].key;
}

/* ---------------------------------------------------------------- to text */

/* Quote a cell where RFC 4180 requires it, and where it begins or ends with a blank. */
static void add_text(struct hrun_buf *out, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    if (!len)
        return;
    if (!strpbrk(text, ",\"\r\n") && !strchr(" \t", text[0]) && !strchr(" \t", text[len - 1])) {
        hrun_buf_adds(out, text);
        return;
    }
    hrun_buf_addc(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            hrun_buf_addc(out, '"');
        hrun_buf_addc(out, *c);
    }
    hrun_buf_addc(out, '"');
}

static void add_field(struct hrun_buf *out, const struct hrun_sample *s, const struct store_field *f)
{
    const void *p = store_member(s, f);
    char number[EXCHANGE_NUMBER];

    switch (f->kind) {
    case STORE_COUNT:
        hrun_buf_addf(out, "%lld", (long long)*(const int64_t *)p);
        break;
    case STORE_SMALL:
    case STORE_FLAG:
        hrun_buf_addf(out, "%d", *(const int *)p);
        break;
    case STORE_SECONDS:
        exchange_number(*(const double *)p, 0, number);
        hrun_buf_adds(out, number);
        break;
    case STORE_TEXT:
        add_text(out, *(char *const *)p);
        break;
    }
}

int exchange_write_csv(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                       struct hrun_error *err)
{
    static const char end[] = "\r\n";

    (void)err;
    hrun_buf_adds(out, "app,signature");
    for (int i = 0; i < STORE_NFIELDS; i++)
        hrun_buf_addf(out, ",%s", store_fields[i].key);
    hrun_buf_adds(out, end);
    for (size_t k = 0; k < nsets; k++)
        for (size_t j = 0; j < sets[k].n; j++) {
            add_text(out, sets[k].app);
            hrun_buf_addc(out, ',');
            add_text(out, sets[k].signature);
            for (int i = 0; i < STORE_NFIELDS; i++) {
                hrun_buf_addc(out, ',');
                add_field(out, sets[k].v[j], &store_fields[i]);
            }
            hrun_buf_adds(out, end);
        }
    *left_out = 0;
    return 0;
}

/* ---------------------------------------------------------------- from text */

/* State of the libcsv callbacks. */
struct table {
    const char *name;           /* of the file */
    struct hrun_exchange *out;
    struct hrun_error *err;
    int columns[NCOLUMNS];      /* field index, APP_COLUMN or SIGNATURE_COLUMN of each column of the file */
    int ncolumns;               /* 0: the header is not read yet */
    int cell;                   /* column of the next cell */
    int line, ended;            /* line where the row begins; 1: the row has ended */
    int failed;
    struct hrun_exchanged x;    /* the row so far */
};

/* HRUN_EPARSE at a line. Result: -1. */
__attribute__((format(printf, 3, 4)))
static int fail_csv_line(const struct table *t, int line, const char *fmt, ...)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    hrun_fail_at(t->err, HRUN_EPARSE, t->name, line, 0, "%s", text.data);
    hrun_buf_release(&text);
    return -1;
}

/* HRUN_EPARSE with the message of `why`, at the present line. Result: -1. */
static int fail_here(const struct table *t, const struct hrun_error *why)
{
    return fail_csv_line(t, t->line, "%s", why->text);
}

/* A copy of text[len], which must be UTF-8 without NUL. what: its name in messages. */
static char *copy_text(const struct table *t, const char *what, const char *text, size_t len)
{
    char *copy = xstrndup(text, len);
    size_t at = 0;
    int n;

    while (copy[at] && (n = hrun_utf8_length((const unsigned char *)copy + at)))
        at += (size_t)n;
    if (at == len)
        return copy;
    fail_csv_line(t, t->line, "%s is not UTF-8 text", what);
    free(copy);
    return NULL;
}

/* Parse a number or a flag. */
static int parse(const struct store_field *f, const char *text, void *p, struct hrun_error *err)
{
    int64_t n;

    switch (f->kind) {
    case STORE_COUNT:
        return hrun_parse_count(f->key, text, 1, HRUN_COUNT_MAX, p, err);
    case STORE_SMALL:
        if (hrun_parse_count(f->key, text, 1, INT32_MAX, &n, err))
            return -1;
        *(int *)p = (int)n;
        return 0;
    case STORE_SECONDS:
        return hrun_parse_number(f->key, text, p, err);
    default:
        if (strcmp(text, "0") && strcmp(text, "1") && strcasecmp(text, "false") && strcasecmp(text, "true"))
            return hrun_fail(err, HRUN_EINVAL, "%s is '%.100s', neither 0 nor 1", f->key, text);
        *(int *)p = *text == '1' || *text == 't' || *text == 'T';
        return 0;
    }
}

static void replace_text(char **member, const char *text)
{
    free(*member);
    *member = xstrdup(text);
}

/* Set a field of the row, and its bit. */
static int set_field(struct table *t, const struct store_field *f, const char *text, size_t len)
{
    struct hrun_error why = { 0 };
    autofree char *copy = copy_text(t, f->key, text, len);

    if (!copy)
        return -1;
    if (f->kind != STORE_TEXT && parse(f, copy, store_member(&t->x.sample, f), &why))
        return fail_here(t, &why);
    if (f->kind == STORE_TEXT)
        replace_text(store_member(&t->x.sample, f), copy);
    t->x.given |= exchange_bit(f);
    return 0;
}

/* Set the fields that the file has not to their defaults. */
static void complete(struct hrun_exchanged *x)
{
    struct hrun_sample *s = &x->sample;
    unsigned given = x->given;
    char now[21];

#define GIVEN(key) (given & exchange_bit(exchange_field(key)))
    if (!GIVEN("M"))
        s->M = 1;
    if (!GIVEN("pes") && s->M > 0)
        s->pes = s->P / s->M;
    if (!GIVEN("ok"))
        s->ok = !GIVEN("status") || !strcmp(s->status, "ok");
    if (!GIVEN("status") && s->ok)
        replace_text(&s->status, "ok");
    if (!GIVEN("wall_s"))
        s->wall_s = s->time_s;
    if (!s->date || !*s->date) {
        hrun_date_now(now);
        x->given &= ~exchange_bit(exchange_field("date"));
        replace_text(&s->date, now);
    }
#undef GIVEN
    replace_text(&s->origin, "import");
}

/* Complete the row, check it and move it to the result. */
static int add_row(struct table *t)
{
    struct hrun_exchange *out = t->out;
    const struct hrun_sample *s = &t->x.sample;
    struct hrun_error why = { 0 };

    hrun_grow(out->v, out->n + 1, out->cap);
    complete(&t->x);
    if (store_check_sample(s, &why))
        return fail_here(t, &why);
    if (!strcmp(s->status, HRUN_STATUS_ANEW) || !strcmp(s->status, HRUN_STATUS_ANEW_POINT))
        return fail_csv_line(t, t->line, "status is '%s', which is no run: it would make those before it count "
                             "no longer", s->status);
    out->v[out->n++] = t->x;
    memset(&t->x, 0, sizeof t->x);
    return 0;
}

static int take_header(struct table *t, const char *name, size_t len)
{
    int column = 0;

    while (column < NCOLUMNS && (strlen(column_name(column)) != len || memcmp(column_name(column), name, len)))
        column++;
    if (column == NCOLUMNS)
        return fail_csv_line(t, t->line, "the column '%.*s' is unknown: import reads CSV with a header line of 'app', "
                             "'signature' and keys of a record, see hrun-profile(5)", len < 100 ? (int)len : 100, name);
    for (int i = 0; i < t->cell; i++)
        if (t->columns[i] == column)
            return fail_csv_line(t, t->line, "the column '%s' is there twice", column_name(column));
    t->columns[t->cell] = column;
    return 0;
}

static int take_name(struct table *t, char **member, const char *what, const char *text, size_t len)
{
    struct hrun_error why = { 0 };

    if (!len)
        return 0;
    *member = xstrndup(text, len);
    if (strlen(*member) != len || store_check_name(what, *member, &why))
        return fail_csv_line(t, t->line, "%s", *why.text ? why.text : "a name holds a NUL character");
    return 0;
}

static int take_cell(struct table *t, const char *text, size_t len)
{
    const struct store_field *f;
    int column;

    if (!t->ncolumns)
        return take_header(t, text, len);
    if (t->cell >= t->ncolumns)
        return fail_csv_line(t, t->line, "the row has more cells than the header, which has %d", t->ncolumns);
    column = t->columns[t->cell];
    if (column == APP_COLUMN)
        return take_name(t, &t->x.app, "an application", text, len);
    if (column == SIGNATURE_COLUMN)
        return take_name(t, &t->x.signature, "a sub-cluster signature", text, len);
    f = &store_fields[column];
    return !len && f->kind != STORE_TEXT ? 0 : set_field(t, f, text, len);
}

static void on_cell(void *text, size_t len, void *ctx)
{
    struct table *t = ctx;

    if (t->failed)
        return;
    t->x.line = t->line;
    t->failed = take_cell(t, text, len) != 0;
    t->cell++;
}

static int take_row(struct table *t)
{
    static const char *const needed[] = { "N", "P", "time_s" };

    if (t->ncolumns && t->cell < t->ncolumns)
        return fail_csv_line(t, t->line, "the row has %s, the header %d", hrun_counted(t->cell, "cell").s, t->ncolumns);
    if (t->ncolumns)
        return add_row(t);
    t->ncolumns = t->cell;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        int found = 0;

        for (int k = 0; k < t->ncolumns; k++)
            found |= !strcmp(column_name(t->columns[k]), needed[i]);
        if (!found)
            return fail_csv_line(t, t->line, "there is no column '%s': N, P and time_s are needed", needed[i]);
    }
    return 0;
}

/* Called at each line end outside of quotes, also of blank lines. */
static void on_row(int ending, void *ctx)
{
    struct table *t = ctx;

    (void)ending;
    if (!t->failed && t->cell)
        t->failed = take_row(t) != 0;
    t->cell = 0;
    t->ended = 1;
}

/* Report a failure of libcsv: a syntax error, described by `why`, or lack of memory. Result: -1. */
static int fail_csv(struct table *t, struct csv_parser *p, int line, const char *why)
{
    if (csv_error(p) != CSV_EPARSE)
        hrun_out_of_memory();
    return fail_csv_line(t, line, "%s", why);
}

/* Parse line by line, so that errors have a line number. */
static int read_csv_lines(struct table *t, struct csv_parser *p, const char *text, const char *stop)
{
    int line = 0;

    for (const char *at = text, *eol; at < stop && !t->failed; at = eol) {
        size_t n;

        eol = memchr(at, '\n', (size_t)(stop - at));
        eol = eol ? eol + 1 : stop;
        n = (size_t)(eol - at);
        line++;
        t->ended = 0;
        if (n > STORE_LINE_MAX + 1)
            return fail_csv_line(t, line, "the line is longer than %d KiB", STORE_LINE_MAX >> 10);
        if (csv_parse(p, at, n, on_cell, on_row, t) != n)
            return fail_csv(t, p, line, "a quote stands inside of a cell: RFC 4180 wants the cell in quotes, and each "
                            "of its quotes twice");
        if (t->ended)
            t->line = line + 1;
    }
    if (!t->failed && csv_fini(p, on_cell, on_row, t))
        return fail_csv(t, p, t->line, "a quote that opens in this row is not closed");
    return t->failed ? -1 : 0;
}

int hrun_exchange_read(const char *name, const char *text, size_t len, struct hrun_exchange *out,
                       struct hrun_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";      /* byte order mark */
    struct hrun_error why = { 0 };
    struct table t = { .name = name, .out = out, .err = &why, .line = 1 };
    size_t before = out->n, skip = len >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
    int rc;
    struct csv_parser p;

    if (csv_init(&p, CSV_STRICT | CSV_REPALL_NL | CSV_STRICT_FINI))
        return fail_csv_line(&t, 0, "the CSV reader cannot be set up");
    rc = read_csv_lines(&t, &p, text + skip, text + len);
    csv_free(&p);
    exchange_drop(&t.x);
    if (!rc && out->n == before)
        rc = fail_csv_line(&t, 0, "there is no measurement in it");
    while (rc && out->n > before)
        exchange_drop(&out->v[--out->n]);
    if (rc && err)
        *err = why;
    return rc;
}
