/* exchange.c - the formats, and what they share in reading; see store.h and internal.h */
#include "store/internal.h"

#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct format {
    const char *word, *suffix;
    int (*write)(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                 struct hrun_error *err);
    int (*read)(const struct exchange_reader *r, const char *text, size_t len);
} formats[] = {
    [HRUN_EXCHANGE_CSV]    = { "csv",    ".csv",   exchange_write_csv,    exchange_read_csv },
    [HRUN_EXCHANGE_EXTRAP] = { "extrap", ".txt",   exchange_write_extrap, exchange_read_extrap },
    [HRUN_EXCHANGE_JSONL]  = { "jsonl",  ".jsonl", exchange_write_jsonl,  exchange_read_jsonl },
};
enum { NFORMATS = sizeof formats / sizeof *formats };

int hrun_exchange_parse(const char *word, enum hrun_exchange_format *out, struct hrun_error *err)
{
    for (int i = 0; i < NFORMATS; i++)
        if (!strcmp(word, formats[i].word)) {
            *out = (enum hrun_exchange_format)i;
            return 0;
        }
    return hrun_fail(err, HRUN_EINVAL, "'%.100s' is no format: csv, extrap and jsonl are", word);
}

int hrun_exchange_guess(const char *path, enum hrun_exchange_format *out, struct hrun_error *err)
{
    size_t len = strlen(path);

    for (int i = 0; i < NFORMATS; i++) {
        size_t n = strlen(formats[i].suffix);

        if (len > n && !strcasecmp(path + len - n, formats[i].suffix)) {
            *out = (enum hrun_exchange_format)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "the name '%.200s' ends neither in .csv nor in .txt or .jsonl: say which format "
                     "it has with --format csv, extrap or jsonl", path);
}

int hrun_exchange_write(enum hrun_exchange_format format, const struct hrun_exchange_set *sets, size_t nsets,
                        struct hrun_buf *out, size_t *left_out, struct hrun_error *err)
{
    size_t left = 0;
    int saved = errno, rc = formats[format].write(sets, nsets, out, &left, err);

    if (!rc && out->failed)
        rc = hrun_fail_nomem(err);
    if (!rc)
        *left_out = left;
    errno = saved;
    return rc;
}

/* ---------------------------------------------------------------- what was read */

void exchange_drop(struct hrun_exchanged *x)
{
    free(x->app);
    free(x->signature);
    hrun_sample_release(&x->sample);
    x->app = x->signature = NULL;
}

void hrun_exchange_release(struct hrun_exchange *x)
{
    int saved = errno;

    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++)
        exchange_drop(&x->v[i]);
    free(x->v);
    memset(x, 0, sizeof *x);
    errno = saved;
}

/* Is a line longer than STORE_LINE_MAX? Then tell which. */
static int check_lines(const struct exchange_reader *r, const char *text, size_t len)
{
    const char *eol, *stop = text + len;
    int line = 1;

    for (; (eol = memchr(text, '\n', (size_t)(stop - text))) && eol - text <= STORE_LINE_MAX; text = eol + 1)
        line++;
    if ((eol ? eol : stop) - text <= STORE_LINE_MAX)
        return 0;
    return exchange_fail(r, line, "the line is longer than %d KiB", STORE_LINE_MAX >> 10);
}

int hrun_exchange_read(enum hrun_exchange_format format, const char *name, const char *text, size_t len,
                       struct hrun_exchange *out, struct hrun_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";      /* what some editors put before UTF-8 */
    struct hrun_error why = { 0 };
    struct exchange_reader r = { name, out, &why };
    size_t before = out->n, skip = len >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
    int saved = errno, rc = check_lines(&r, text, len);

    if (!rc)
        rc = formats[format].read(&r, text + skip, len - skip);
    if (!rc && out->n == before)
        rc = exchange_fail(&r, 0, "there is no measurement in it");
    while (rc && out->n > before)
        exchange_drop(&out->v[--out->n]);
    if (rc && err)
        *err = why;
    errno = saved;
    return rc;
}

int exchange_fail(const struct exchange_reader *r, int line, const char *fmt, ...)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    hrun_fail_at(r->err, HRUN_EPARSE, r->name, line, 0, "%s", text.data);
    hrun_buf_release(&text);
    return -1;
}

/* Give an error that another room has filled the place where it arose. */
static int fail_here(const struct exchange_reader *r, int line, const struct hrun_error *why)
{
    if (why->code == HRUN_ENOMEM)
        return hrun_fail_nomem(r->err);
    return exchange_fail(r, line, "%s", why->text);
}

const struct store_field *exchange_field(const char *key)
{
    for (int i = 0; i < STORE_NFIELDS; i++)
        if (!strcmp(store_fields[i].key, key))
            return &store_fields[i];
    return NULL;
}

unsigned exchange_bit(const struct store_field *f)
{
    return 1u << (f - store_fields);
}

/* A copy of text[len], which must be UTF-8 without NUL. what: its name. */
static char *copy_text(const struct exchange_reader *r, int line, const char *what, const char *text, size_t len)
{
    char *copy = strndup(text, len);
    size_t at = 0;
    int n;

    if (!copy) {
        hrun_fail_nomem(r->err);
        return NULL;
    }
    while (copy[at] && (n = store_utf8_length((const unsigned char *)copy + at)))
        at += (size_t)n;
    if (at == len)
        return copy;
    exchange_fail(r, line, "%s is not UTF-8 text", what);
    free(copy);
    return NULL;
}

/* A number or a flag from its text. */
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

int exchange_set(const struct exchange_reader *r, struct hrun_exchanged *x, const struct store_field *f,
                 const char *text, size_t len)
{
    struct hrun_error why = { 0 };
    char *copy = copy_text(r, x->line, f->key, text, len);
    int rc = 0;

    if (!copy)
        return -1;
    if (f->kind == STORE_TEXT) {
        char **member = store_member(&x->sample, f);

        free(*member);
        *member = copy;
    } else {
        rc = parse(f, copy, store_member(&x->sample, f), &why);
        free(copy);
    }
    if (rc)
        return fail_here(r, x->line, &why);
    x->given |= exchange_bit(f);
    return 0;
}

int exchange_set_number(const struct exchange_reader *r, struct hrun_exchanged *x, const struct store_field *f,
                        const char *what, double value)
{
    double max = f->kind == STORE_COUNT ? (double)HRUN_COUNT_MAX : INT32_MAX;

    if (!(value >= 1 && value <= max) || value != (double)(int64_t)value)
        return exchange_fail(r, x->line, "%s is %.17g, not a whole number from 1 on", what, value);
    if (f->kind == STORE_COUNT)
        *(int64_t *)store_member(&x->sample, f) = (int64_t)value;
    else
        *(int *)store_member(&x->sample, f) = (int)value;
    x->given |= exchange_bit(f);
    return 0;
}

int exchange_set_callpath(const struct exchange_reader *r, struct hrun_exchanged *x, const char *callpath, size_t len)
{
    static const char arrow[] = "->";
    char *copy = copy_text(r, x->line, "the region", callpath, len), *sig, *consts;
    int rc = 0;

    if (!copy)
        return -1;
    sig = strstr(copy, arrow);
    if (!sig)
        goto out;
    *sig = 0;
    sig += sizeof arrow - 1;
    consts = strstr(sig, arrow);
    if (consts) {
        *consts = 0;
        consts += sizeof arrow - 1;
    }
    if (store_check_name("an application", copy, NULL) || store_check_name("a signature", sig, NULL))
        goto out;
    x->app = strdup(copy);
    x->signature = strdup(sig);
    if (!x->app || !x->signature)
        rc = hrun_fail_nomem(r->err);
    else if (consts)
        rc = exchange_set(r, x, exchange_field("consts"), consts, strlen(consts));
out:
    free(copy);
    return rc;
}

static int set_text(char **member, const char *text)
{
    free(*member);
    *member = strdup(text);
    return *member ? 0 : -1;
}

/* What the file does not say. */
static int complete(struct hrun_exchanged *x)
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
    if (!GIVEN("status") && s->ok && set_text(&s->status, "ok"))
        return -1;
    if (!GIVEN("wall_s"))
        s->wall_s = s->time_s;
    if (!s->date || !*s->date) {
        hrun_date_now(now);
        x->given &= ~exchange_bit(exchange_field("date"));
        if (set_text(&s->date, now))
            return -1;
    }
#undef GIVEN
    return set_text(&s->origin, "import");
}

int exchange_add(const struct exchange_reader *r, struct hrun_exchanged *x)
{
    struct hrun_exchange *out = r->out;
    struct hrun_error why = { 0 };
    int rc = -1;

    if (out->n == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 64;
        struct hrun_exchanged *v = realloc(out->v, cap * sizeof *v);

        if (!v) {
            hrun_fail_nomem(r->err);
            goto out;
        }
        out->v = v;
        out->cap = cap;
    }
    if (complete(x)) {
        hrun_fail_nomem(r->err);
    } else if (store_check_sample(&x->sample, &why)) {
        fail_here(r, x->line, &why);
    } else if (!strcmp(x->sample.status, HRUN_STATUS_ANEW) || !strcmp(x->sample.status, HRUN_STATUS_ANEW_POINT)) {
        exchange_fail(r, x->line, "status is '%s', which is no run: it would make those before it count no longer",
                      x->sample.status);
    } else {
        out->v[out->n++] = *x;
        memset(x, 0, sizeof *x);
        rc = 0;
    }
out:
    exchange_drop(x);
    return rc;
}
