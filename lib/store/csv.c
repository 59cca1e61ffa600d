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

/* Append a cell, quoted if RFC 4180 requires it or if it begins or ends with a blank. */
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

void exchange_write_csv(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out)
{
    static const char end[] = "\r\n";

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
}

/* ---------------------------------------------------------------- from text */

/* State of the libcsv callbacks. */
struct table {
    struct hrun_exchange *out;
    struct hrun_error err;
    int columns[NCOLUMNS];      /* field index, APP_COLUMN or SIGNATURE_COLUMN of each column of the file */
    int ncolumns;               /* 0: the header has not been read */
    int cell;                   /* column of the next cell */
    int line;                   /* the line that is parsed */
    int row_line;               /* the line where the row begins */
    int failed;                 /* 1: err describes a mistake in the row at row_line */
    struct hrun_exchanged x;    /* the row so far */
};

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

/* Set a field of the row, and its bit in `given`. */
static int set_field(struct table *t, const struct store_field *f, const char *text, size_t len)
{
    autofree char *copy = xstrndup(text, len);
    size_t at = 0;
    int n;

    while (copy[at] && (n = hrun_utf8_length((const unsigned char *)copy + at)))
        at += (size_t)n;
    if (at != len)
        return hrun_fail(&t->err, HRUN_EPARSE, "%s is not UTF-8 text", f->key);
    if (f->kind == STORE_TEXT)
        replace_text(store_member(&t->x.sample, f), copy);
    else if (parse(f, copy, store_member(&t->x.sample, f), &t->err))
        return -1;
    t->x.given |= exchange_bit(f);
    return 0;
}

/* Set the fields that are missing in the file to their defaults. */
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

    t->x.line = t->row_line;
    complete(&t->x);
    if (store_check_sample(s, &t->err))
        return -1;
    if (!strcmp(s->status, HRUN_STATUS_ANEW) || !strcmp(s->status, HRUN_STATUS_ANEW_POINT))
        return hrun_fail(&t->err, HRUN_EPARSE, "status is '%s', which is not a run: runs before it would no longer "
                         "count", s->status);
    hrun_grow(out->v, out->n + 1, out->cap);
    out->v[out->n++] = t->x;
    memset(&t->x, 0, sizeof t->x);
    return 0;
}

static int read_column_name(struct table *t, const char *name, size_t len)
{
    int column = 0;

    while (column < NCOLUMNS && (strlen(column_name(column)) != len || memcmp(column_name(column), name, len)))
        column++;
    if (column == NCOLUMNS)
        return hrun_fail(&t->err, HRUN_EPARSE, "the column '%.*s' is unknown: import reads CSV with a header line of "
                         "'app', 'signature' and keys of a record, see hrun-profile(5)", len < 100 ? (int)len : 100,
                         name);
    for (int i = 0; i < t->cell; i++)
        if (t->columns[i] == column)
            return hrun_fail(&t->err, HRUN_EPARSE, "the column '%s' is there twice", column_name(column));
    t->columns[t->cell] = column;
    return 0;
}

static int read_owner(struct table *t, char **member, const char *what, const char *text, size_t len)
{
    *member = len ? xstrndup(text, len) : NULL;
    if (len && strlen(*member) != len)
        return hrun_fail(&t->err, HRUN_EPARSE, "a name holds a NUL character");
    return len ? store_check_name(what, *member, &t->err) : 0;
}

static int read_cell(struct table *t, const char *text, size_t len)
{
    const struct store_field *f;
    int column;

    if (!t->ncolumns)
        return read_column_name(t, text, len);
    if (t->cell >= t->ncolumns)
        return hrun_fail(&t->err, HRUN_EPARSE, "the row has more cells than the header, which has %d", t->ncolumns);
    column = t->columns[t->cell];
    if (column == APP_COLUMN)
        return read_owner(t, &t->x.app, "an application", text, len);
    if (column == SIGNATURE_COLUMN)
        return read_owner(t, &t->x.signature, "a sub-cluster signature", text, len);
    f = &store_fields[column];
    return !len && f->kind != STORE_TEXT ? 0 : set_field(t, f, text, len);
}

static void on_cell(void *text, size_t len, void *ctx)
{
    struct table *t = ctx;

    if (!t->failed)
        t->failed = read_cell(t, text, len) != 0;
    t->cell++;
}

static int end_row(struct table *t)
{
    static const char *const needed[] = { "N", "P", "time_s" };

    if (t->ncolumns && t->cell < t->ncolumns)
        return hrun_fail(&t->err, HRUN_EPARSE, "the row has %s, the header %d", hrun_counted(t->cell, "cell").s,
                         t->ncolumns);
    if (t->ncolumns)
        return add_row(t);
    t->ncolumns = t->cell;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        int found = 0;

        for (int k = 0; k < t->ncolumns; k++)
            found |= !strcmp(column_name(t->columns[k]), needed[i]);
        if (!found)
            return hrun_fail(&t->err, HRUN_EPARSE, "there is no column '%s': N, P and time_s are needed", needed[i]);
    }
    return 0;
}

/* Called at each line end outside quotes, also for blank lines. */
static void on_row(int ending, void *ctx)
{
    struct table *t = ctx;

    (void)ending;
    if (!t->failed && t->cell)
        t->failed = end_row(t) != 0;
    t->cell = 0;
    if (!t->failed)
        t->row_line = t->line + 1;
}

/* Report a failure of libcsv: a syntax error, described by `why`, or lack of memory. Result: -1. */
static int fail_csv(struct table *t, struct csv_parser *p, const char *why)
{
    if (csv_error(p) != CSV_EPARSE)
        hrun_out_of_memory();
    return hrun_fail(&t->err, HRUN_EPARSE, "%s", why);
}

/* Parse line by line, so that errors have a line number. */
static int read_csv_lines(struct table *t, struct csv_parser *p, const char *text, const char *stop)
{
    for (const char *at = text, *eol; at < stop && !t->failed; at = eol) {
        eol = memchr(at, '\n', (size_t)(stop - at));
        eol = eol ? eol + 1 : stop;
        t->line++;
        if (eol - at <= STORE_LINE_MAX + 1 &&
            csv_parse(p, at, (size_t)(eol - at), on_cell, on_row, t) == (size_t)(eol - at))
            continue;
        t->row_line = t->line;
        return eol - at > STORE_LINE_MAX + 1
               ? hrun_fail(&t->err, HRUN_EPARSE, "the line is longer than %d KiB", STORE_LINE_MAX >> 10)
               : fail_csv(t, p, "a quote stands inside of a cell: RFC 4180 wants the cell in quotes, and each of its "
                          "quotes twice");
    }
    if (!t->failed && csv_fini(p, on_cell, on_row, t))
        return fail_csv(t, p, "a quote that opens in this row is not closed");
    return t->failed ? -1 : 0;
}

int hrun_exchange_read(const char *name, const char *text, size_t len, struct hrun_exchange *out,
                       struct hrun_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";      /* byte order mark */
    struct table t = { .out = out, .row_line = 1 };
    size_t before = out->n, skip = len >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
    int rc;
    struct csv_parser p;

    csv_init(&p, CSV_STRICT | CSV_REPALL_NL | CSV_STRICT_FINI);
    rc = read_csv_lines(&t, &p, text + skip, text + len);
    csv_free(&p);
    exchange_drop(&t.x);
    if (!rc && out->n == before) {
        rc = hrun_fail(&t.err, HRUN_EPARSE, "there is no measurement in it");
        t.row_line = 0;
    }
    while (rc && out->n > before)
        exchange_drop(&out->v[--out->n]);
    return rc ? hrun_fail_at(err, HRUN_EPARSE, name, t.row_line, 0, "%s", t.err.text) : 0;
}
