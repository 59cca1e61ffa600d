/* sample.c - measurements: obsolete ones, dates, conversion to and from text; see store.h and internal.h */
#include "store/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

const struct store_field store_fields[] = {
    { "N",       STORE_COUNT,   offsetof(struct hrun_sample, N), 1 },
    { "P",       STORE_SMALL,   offsetof(struct hrun_sample, P), 1 },
    { "M",       STORE_SMALL,   offsetof(struct hrun_sample, M), 1 },
    { "pes",     STORE_SMALL,   offsetof(struct hrun_sample, pes), 1 },
    { "time_s",  STORE_SECONDS, offsetof(struct hrun_sample, time_s), 1 },
    { "wall_s",  STORE_SECONDS, offsetof(struct hrun_sample, wall_s), 1 },
    { "ok",      STORE_FLAG,    offsetof(struct hrun_sample, ok), 1 },
    { "mixed",   STORE_FLAG,    offsetof(struct hrun_sample, mixed), 1 },
    { "status",  STORE_TEXT,    offsetof(struct hrun_sample, status), 1 },
    { "origin",  STORE_TEXT,    offsetof(struct hrun_sample, origin), 1 },
    { "config",  STORE_TEXT,    offsetof(struct hrun_sample, config), 1 },
    { "cluster", STORE_TEXT,    offsetof(struct hrun_sample, cluster), 1 },
    { "consts",  STORE_TEXT,    offsetof(struct hrun_sample, consts), 1 },
    { "program", STORE_TEXT,    offsetof(struct hrun_sample, program), 1 },
    { "host",    STORE_TEXT,    offsetof(struct hrun_sample, launcher.host), 1 },
    { "mpi",     STORE_TEXT,    offsetof(struct hrun_sample, launcher.mpi), 1 },
    { "engine",  STORE_TEXT,    offsetof(struct hrun_sample, launcher.engine), 1 },
    { "version", STORE_TEXT,    offsetof(struct hrun_sample, launcher.version), 1 },
    { "date",    STORE_TEXT,    offsetof(struct hrun_sample, date), 1 },
    { "signatures", STORE_TEXT,    offsetof(struct hrun_sample, signatures), 2 },
    { "limits",     STORE_TEXT,    offsetof(struct hrun_sample, limits), 2 },
    { "compute_s",  STORE_SECONDS, offsetof(struct hrun_sample, compute_s), 2 },
    { "mpi_s",      STORE_SECONDS, offsetof(struct hrun_sample, mpi_s), 2 },
    { "trace",      STORE_TEXT,    offsetof(struct hrun_sample, trace), 2 },
    { "work",       STORE_SECONDS, offsetof(struct hrun_sample, work), 3 },
    { "copies",     STORE_FLAG,    offsetof(struct hrun_sample, copies), 3 },
    { "settings",   STORE_TEXT,    offsetof(struct hrun_sample, settings), 4 },
    { "shares",     STORE_TEXT,    offsetof(struct hrun_sample, shares), 5 },
};

void *store_member(const struct hrun_sample *s, const struct store_field *f)
{
    return (char *)(uintptr_t)s + f->offset;
}

double hrun_sample_share(const struct hrun_sample *s, int place)
{
    size_t len;
    const char *own = hrun_list_item(s->shares, place, &len);

    return own ? strtod(own, NULL) : 0;
}

int hrun_sample_failed(const struct hrun_sample *s)
{
    static const char *const others[] = { "engine: ", "lost host ", "interrupted", "stopped for a while",
                                          "no time in output", HRUN_STATUS_TOO_SHORT };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strncmp(s->status, others[i], strlen(others[i])))
            return 0;
    return !s->ok;
}

int hrun_text_same(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

int hrun_sample_dealt(const struct hrun_sample *s)
{
    return s->shares && *s->shares;
}

int hrun_samples_failed(const struct hrun_samples *s, size_t k)
{
    const struct hrun_sample *x = &s->v[k];
    int ran = !hrun_sample_failed(x);

    for (size_t i = 0; i < s->n && !ran; i++) {
        const struct hrun_sample *y = &s->v[i];

        ran = y->ok && y->N == x->N && hrun_text_same(y->config, x->config) && hrun_text_same(y->consts, x->consts) &&
              hrun_text_same(y->cluster, x->cluster) && hrun_sample_dealt(y) == hrun_sample_dealt(x);
    }
    return !ran;
}

void hrun_sample_release(struct hrun_sample *s)
{
    for (int i = 0; i < STORE_NFIELDS; i++)
        if (store_fields[i].kind == STORE_TEXT)
            free(*(char **)store_member(s, &store_fields[i]));
    memset(s, 0, sizeof *s);
}

void hrun_samples_release(struct hrun_samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        hrun_sample_release(&s->v[i]);
    free(s->v);
    free(s->first_bad);
    memset(s, 0, sizeof *s);
}

/* ---------------------------------------------------------------- obsolete measurements */

/* 1 if s is a mark with this status, else 0. */
static int is_mark_of(const struct hrun_sample *s, const char *status)
{
    return !s->ok && hrun_text_same(s->status, status);
}

static int is_mark(const struct hrun_sample *s)
{
    return is_mark_of(s, HRUN_STATUS_ANEW) || is_mark_of(s, HRUN_STATUS_ANEW_POINT);
}

size_t hrun_samples_current(struct hrun_samples *s)
{
    size_t kept = 0, old = 0;

    /* Logs are long and marks are few: the inner loop runs only for marks. */
    for (const struct hrun_sample *mark = s->v; mark < s->v + s->n; mark++)
        for (struct hrun_sample *v = s->v; v < mark && is_mark(mark); v++)
            if (v->N && !is_mark(v) && hrun_text_same(mark->consts, v->consts) &&
                (is_mark_of(mark, HRUN_STATUS_ANEW) ||
                 (!v->mixed && mark->N == v->N && mark->P == v->P && mark->M == v->M))) {
                hrun_sample_release(v);   /* sets N to 0 */
                old++;
            }
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].N == 0 || is_mark(&s->v[i])) {
            hrun_sample_release(&s->v[i]);
        } else {
            if (kept != i)
                s->v[kept] = s->v[i];
            kept++;
        }
    }
    if (s->n > kept)
        memset(s->v + kept, 0, (s->n - kept) * sizeof *s->v);
    s->n = kept;
    return old;
}

/* ---------------------------------------------------------------- dates */

#define DATE_FORM "%Y-%m-%dT%H:%M:%SZ"

void hrun_date_now(char out[21])
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(out, 21, DATE_FORM, &tm);
}

int hrun_date_age(const char *date, double *seconds)
{
    struct tm tm = { 0 };
    char back[21];
    time_t t;

    if (!date || !strptime(date, DATE_FORM, &tm))
        return -1;
    t = timegm(&tm);
    /* timegm turns 30 February into 1 March; a date that changes does not exist. */
    if (!strftime(back, sizeof back, DATE_FORM, &tm) || strcmp(back, date))
        return -1;
    *seconds = difftime(time(NULL), t);
    return 0;
}

/* ---------------------------------------------------------------- to text */

/* JSON is UTF-8, but a path may not be: each invalid byte becomes U+FFFD. */
static json_t *text_value(const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    while (*s) {
        int len = hrun_utf8_length(s);

        if (len)
            hrun_buf_add(&b, s, (size_t)len);
        else
            hrun_buf_adds(&b, "\xef\xbf\xbd");
        s += len ? len : 1;
    }
    return json_stringn(b.data, b.len);
}

static json_t *field_value(const struct hrun_sample *s, const struct store_field *f)
{
    const void *p = store_member(s, f);

    switch (f->kind) {
    case STORE_COUNT:
        return json_integer(*(const int64_t *)p);
    case STORE_SMALL:
        return json_integer(*(const int *)p);
    case STORE_FLAG:
        return json_boolean(*(const int *)p);
    case STORE_SECONDS:
        return json_real(*(const double *)p);
    case STORE_TEXT:
        return text_value(*(char *const *)p);
    }
    return NULL;
}

static int add_chunk(const char *data, size_t len, void *out)
{
    struct hrun_buf *b = out;

    hrun_buf_add(b, data, len);
    return 0;
}

int store_encode(const char *app, const char *signature, const struct hrun_sample *sample,
                 struct hrun_buf *line, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    static const double zero = 0;
    json_t *o;
    int bad, version = 1;

    if (store_check_sample(sample, err))
        return -1;
    /* The lowest version with keys for all values that differ from the default of a missing field. */
    for (const struct store_field *f = store_fields; f < store_fields + STORE_NFIELDS; f++) {
        const void *p = store_member(sample, f);

        if (f->since > version && (f->kind == STORE_TEXT ? !hrun_text_same(*(char *const *)p, "")
                                   : memcmp(p, &zero, f->kind == STORE_SECONDS ? sizeof zero : sizeof(int)) != 0))
            version = f->since;
    }
    /* json_object_set_new reports a NULL value as a failure, so one check at the end is enough. */
    o = json_object();
    bad = json_object_set_new(o, "v", json_integer(version));
    bad |= json_object_set_new(o, "app", json_string(app));
    bad |= json_object_set_new(o, "signature", json_string(signature));
    for (int i = 0; i < STORE_NFIELDS; i++)
        if (store_fields[i].since <= version)
            bad |= json_object_set_new(o, store_fields[i].key, field_value(sample, &store_fields[i]));
    /* 17 digits reproduce every double. */
    if (bad || json_dump_callback(o, add_chunk, &text, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)))
        hrun_out_of_memory();
    json_decref(o);
    if (text.len + 16 > STORE_LINE_MAX)
        return hrun_fail(err, HRUN_EINVAL, "the texts of the measurement are longer than %d KiB", STORE_LINE_MAX >> 10);
    hrun_buf_add(line, text.data, text.len);
    hrun_buf_addf(line, "\t%08lx\n", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    return 0;
}

/* ---------------------------------------------------------------- from text */

static int read_field(const struct store_field *f, const json_t *value, struct hrun_sample *s, struct hrun_error *err)
{
    void *p = store_member(s, f);
    json_int_t n = json_integer_value(value);

    if (f->kind == STORE_COUNT && json_is_integer(value))
        *(int64_t *)p = n;
    else if (f->kind == STORE_SMALL && json_is_integer(value) && n >= INT_MIN && n <= INT_MAX)
        *(int *)p = (int)n;
    else if (f->kind == STORE_FLAG && json_is_boolean(value))
        *(int *)p = json_is_true(value);
    else if (f->kind == STORE_SECONDS && json_is_number(value))
        *(double *)p = json_number_value(value);
    else if (f->kind == STORE_TEXT && json_is_string(value))
        *(char **)p = xstrdup(json_string_value(value));
    else
        return hrun_fail(err, HRUN_ECORRUPT, "'%s' is of the wrong type or out of range", f->key);
    return 0;
}

/* Check that the record names the application or signature of its file. A record in a renamed log does not. */
static int check_owner(const json_t *o, const char *key, const char *want, struct hrun_error *err)
{
    const char *have = json_string_value(json_object_get(o, key));

    if (!have)
        return hrun_fail(err, HRUN_ECORRUPT, "'%s' is missing", key);
    if (strcmp(have, want))
        return hrun_fail(err, HRUN_ECORRUPT, "the record is of %s '%s', the file of '%s'",
                         strcmp(key, "app") ? key : "application", have, want);
    return 0;
}

/* The version of a record, or -1 with *err. */
static int record_version(const json_t *o, struct hrun_error *err)
{
    const json_t *v = json_object_get(o, "v");

    if (!json_is_integer(v) || json_integer_value(v) < 1)
        return hrun_fail(err, HRUN_ECORRUPT, "not a measurement: no version 'v'");
    if (json_integer_value(v) > STORE_RECORD_VERSION)
        return hrun_fail(err, HRUN_ECORRUPT, "a newer hrun wrote this record (version %lld, this hrun reads up to %d)",
                         (long long)json_integer_value(v), STORE_RECORD_VERSION);
    return (int)json_integer_value(v);
}

int store_decode(const char *json, size_t len, const char *app, const char *signature,
                 struct hrun_sample *out, struct hrun_error *err)
{
    autorelease(hrun_sample_release) struct hrun_sample s = { 0 };
    json_error_t why;
    json_auto_t *o = json_loadb(json, len, JSON_REJECT_DUPLICATES, &why);
    size_t keys = 3;
    int version;

    if (!o && json_error_code(&why) == json_error_out_of_memory)
        hrun_out_of_memory();
    if (!o)
        return hrun_fail(err, HRUN_ECORRUPT, "not JSON: %s at column %d", why.text, why.column);
    version = record_version(o, err);
    if (version < 0 || check_owner(o, "app", app, err) || check_owner(o, "signature", signature, err))
        return -1;
    for (int i = 0; i < STORE_NFIELDS; i++) {
        const json_t *value = json_object_get(o, store_fields[i].key);

        if (store_fields[i].since > version)
            continue;
        keys++;
        if (!value)
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is missing", store_fields[i].key);
        if (read_field(&store_fields[i], value, &s, err))
            return -1;
    }
    if (json_object_size(o) != keys)
        return hrun_fail(err, HRUN_ECORRUPT, "there are keys that version %d does not have", version);
    if (store_check_sample(&s, err)) {
        if (err)
            err->code = HRUN_ECORRUPT;
        return -1;
    }
    *out = s;
    memset(&s, 0, sizeof s);
    return 0;
}
