/* csv.c - measurements as comma-separated values, RFC 4180; see store.h */
#include "store/internal.h"

#include <csv.h>
#include <string.h>

/* Columns before those of the fields. */
enum { APP_COLUMN = STORE_NFIELDS, SIGNATURE_COLUMN, NCOLUMNS };

static const char *column_name(int column)
{
    return column == APP_COLUMN ? "app" : column == SIGNATURE_COLUMN ? "signature" : store_fields[column].key;
}

/* ---------------------------------------------------------------- to text */

/* A cell in quotes where RFC 4180 wants them, and where blanks at its ends would be taken for decoration. */
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
    const void *p = store_const_member(s, f);
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

/* What libcsv calls back with. */
struct table {
    const struct exchange_reader *r;
    int columns[NCOLUMNS];      /* what each column of the file holds */
    int ncolumns;               /* 0: the header is not read yet */
    int cell;                   /* of the present row */
    int line, ended;            /* where it begins; 1: and it has ended */
    int failed;
    struct hrun_exchanged x;    /* the row so far */
};

static int column_of(const char *name, size_t len)
{
    for (int i = 0; i < NCOLUMNS; i++)
        if (strlen(column_name(i)) == len && !memcmp(column_name(i), name, len))
            return i;
    return -1;
}

static int take_header(struct table *t, const char *name, size_t len)
{
    int column = column_of(name, len);

    if (column < 0)
        return exchange_fail(t->r, t->line, "the column '%.*s' is unknown: columns are 'app', 'signature', and the "
                             "keys of a record, see hrun-profile(5)", len < 100 ? (int)len : 100, name);
    for (int i = 0; i < t->cell; i++)
        if (t->columns[i] == column)
            return exchange_fail(t->r, t->line, "the column '%s' is there twice", column_name(column));
    t->columns[t->cell] = column;
    return 0;
}

static int take_name(struct table *t, char **member, const char *what, const char *text, size_t len)
{
    struct hrun_error why = { 0 };

    if (!len)
        return 0;
    *member = strndup(text, len);
    if (!*member)
        return hrun_fail_nomem(t->r->err);
    if (strlen(*member) != len || store_check_name(what, *member, &why))
        return exchange_fail(t->r, t->line, "%s", *why.text ? why.text : "a name holds a NUL character");
    return 0;
}

static int take_cell(struct table *t, const char *text, size_t len)
{
    const struct store_field *f;
    int column;

    if (!t->ncolumns)
        return take_header(t, text, len);
    if (t->cell >= t->ncolumns)
        return exchange_fail(t->r, t->line, "the row has more cells than the header, which has %d", t->ncolumns);
    column = t->columns[t->cell];
    if (column == APP_COLUMN)
        return take_name(t, &t->x.app, "an application", text, len);
    if (column == SIGNATURE_COLUMN)
        return take_name(t, &t->x.signature, "a sub-cluster signature", text, len);
    f = &store_fields[column];
    return !len && f->kind != STORE_TEXT ? 0 : exchange_set(t->r, &t->x, f, text, len);
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
        return exchange_fail(t->r, t->line, "the row has %d cell%s, the header %d", t->cell, t->cell == 1 ? "" : "s",
                             t->ncolumns);
    if (t->ncolumns)
        return exchange_add(t->r, &t->x);
    t->ncolumns = t->cell;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        int found = 0;

        for (int k = 0; k < t->ncolumns; k++)
            found |= !strcmp(column_name(t->columns[k]), needed[i]);
        if (!found)
            return exchange_fail(t->r, t->line, "there is no column '%s': N, P and time_s are needed", needed[i]);
    }
    return 0;
}

/* Called for every end of a line that is not in quotes, blank lines included. */
static void on_row(int ending, void *ctx)
{
    struct table *t = ctx;

    (void)ending;
    if (!t->failed && t->cell)
        t->failed = take_row(t) != 0;
    t->cell = 0;
    t->ended = 1;
}

int exchange_read_csv(const struct exchange_reader *r, const char *text, size_t len)
{
    const unsigned char options = CSV_STRICT | CSV_REPALL_NL | CSV_STRICT_FINI;
    struct table t = { .r = r, .line = 1 };
    struct csv_parser p;
    int line = 0, rc = -1;

    if (csv_init(&p, options))
        return exchange_fail(r, 0, "the CSV reader cannot be set up");
    /* Line by line, so that the place of what is wrong is known. */
    for (const char *at = text, *stop = text + len; at < stop && !t.failed; ) {
        const char *eol = memchr(at, '\n', (size_t)(stop - at));
        size_t n = (size_t)((eol ? eol + 1 : stop) - at);

        line++;
        t.ended = 0;
        if (csv_parse(&p, at, n, on_cell, on_row, &t) != n) {
            if (csv_error(&p) == CSV_EPARSE)
                exchange_fail(r, line, "a quote stands inside of a cell: RFC 4180 wants the cell in quotes, and each "
                              "of its quotes twice");
            else
                hrun_fail_nomem(r->err);
            goto out;
        }
        if (t.ended)
            t.line = line + 1;
        at += n;
    }
    if (!t.failed && csv_fini(&p, on_cell, on_row, &t)) {
        if (csv_error(&p) == CSV_EPARSE)
            exchange_fail(r, t.line, "a quote that opens in this row is not closed");
        else
            hrun_fail_nomem(r->err);
        goto out;
    }
    rc = t.failed ? -1 : 0;
out:
    csv_free(&p);
    exchange_drop(&t.x);
    return rc;
}
