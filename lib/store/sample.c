/* sample.c - one measurement: its invariants, and its text form; see store.h and internal.h */
#include "base/units.h"
#include "store/internal.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum kind { COUNT, SMALL, FLAG, SECONDS, TEXT };

/* The record's keys, apart from "v", "app" and "signature". */
static const struct field {
    const char *key;
    enum kind kind;
    size_t offset;
} fields[] = {
    { "N",       COUNT,   offsetof(struct hrun_sample, N) },
    { "P",       SMALL,   offsetof(struct hrun_sample, P) },
    { "M",       SMALL,   offsetof(struct hrun_sample, M) },
    { "pes",     SMALL,   offsetof(struct hrun_sample, pes) },
    { "time_s",  SECONDS, offsetof(struct hrun_sample, time_s) },
    { "wall_s",  SECONDS, offsetof(struct hrun_sample, wall_s) },
    { "ok",      FLAG,    offsetof(struct hrun_sample, ok) },
    { "mixed",   FLAG,    offsetof(struct hrun_sample, mixed) },
    { "status",  TEXT,    offsetof(struct hrun_sample, status) },
    { "origin",  TEXT,    offsetof(struct hrun_sample, origin) },
    { "config",  TEXT,    offsetof(struct hrun_sample, config) },
    { "cluster", TEXT,    offsetof(struct hrun_sample, cluster) },
    { "consts",  TEXT,    offsetof(struct hrun_sample, consts) },
    { "program", TEXT,    offsetof(struct hrun_sample, program) },
    { "host",    TEXT,    offsetof(struct hrun_sample, host) },
    { "mpi",     TEXT,    offsetof(struct hrun_sample, mpi) },
    { "engine",  TEXT,    offsetof(struct hrun_sample, engine) },
    { "version", TEXT,    offsetof(struct hrun_sample, version) },
    { "date",    TEXT,    offsetof(struct hrun_sample, date) },
};
enum { NFIELDS = sizeof fields / sizeof *fields };

static void *member(struct hrun_sample *s, const struct field *f)
{
    return (char *)s + f->offset;
}

static const void *const_member(const struct hrun_sample *s, const struct field *f)
{
    return (const char *)s + f->offset;
}

void hrun_sample_release(struct hrun_sample *s)
{
    int saved = errno;

    if (!s)
        return;
    for (int i = 0; i < NFIELDS; i++)
        if (fields[i].kind == TEXT)
            free(*(char **)member(s, &fields[i]));
    memset(s, 0, sizeof *s);
    errno = saved;
}

void hrun_samples_release(struct hrun_samples *s)
{
    int saved = errno;

    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        hrun_sample_release(&s->v[i]);
    free(s->v);
    free(s->first_bad);
    memset(s, 0, sizeof *s);
    errno = saved;
}

/* ---------------------------------------------------------------- dates */

void hrun_date_now(char out[21])
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(out, 21, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* The number in `digits` characters of s, or -1. */
static int digits_at(const char *s, int digits)
{
    int v = 0;

    for (int i = 0; i < digits; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        v = v * 10 + (s[i] - '0');
    }
    return v;
}

int hrun_date_age(const char *date, double *seconds)
{
    static const char form[] = "....-..-..T..:..:..Z";
    struct tm tm = { 0 }, back;
    time_t t;

    if (!date || strlen(date) != sizeof form - 1)
        return -1;
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] != '.' && form[i] != date[i])
            return -1;
    tm.tm_year = digits_at(date, 4);
    tm.tm_mon = digits_at(date + 5, 2);
    tm.tm_mday = digits_at(date + 8, 2);
    tm.tm_hour = digits_at(date + 11, 2);
    tm.tm_min = digits_at(date + 14, 2);
    tm.tm_sec = digits_at(date + 17, 2);
    if (tm.tm_year < 0 || tm.tm_mon < 1 || tm.tm_mday < 1 || tm.tm_hour < 0 || tm.tm_min < 0 || tm.tm_sec < 0)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    back = tm;
    t = timegm(&back);
    /* timegm makes 1 March of 30 February: a date that comes back changed does not exist. */
    if (back.tm_year != tm.tm_year || back.tm_mon != tm.tm_mon || back.tm_mday != tm.tm_mday
        || back.tm_hour != tm.tm_hour || back.tm_min != tm.tm_min || back.tm_sec != tm.tm_sec)
        return -1;
    *seconds = difftime(time(NULL), t);
    return 0;
}

/* ---------------------------------------------------------------- invariants */

static int is_ok_status(const char *status)
{
    return status && !strcmp(status, "ok");
}

int store_check_sample(const struct hrun_sample *s, struct hrun_error *err)
{
    int64_t here = (int64_t)s->M * s->pes;
    double age;

    if (s->N < 1 || s->N > HRUN_COUNT_MAX)
        return hrun_fail(err, HRUN_EINVAL, "N is %lld, not in 1..2^53", (long long)s->N);
    if (s->P < 1 || s->M < 1 || s->pes < 1)
        return hrun_fail(err, HRUN_EINVAL, "P, M and pes are %d, %d and %d: each must be 1 or more",
                         s->P, s->M, s->pes);
    if ((s->ok != 0 && s->ok != 1) || (s->mixed != 0 && s->mixed != 1))
        return hrun_fail(err, HRUN_EINVAL, "ok and mixed are %d and %d: each must be 0 or 1", s->ok,
                         s->mixed);
    if (!s->mixed && here != s->P)
        return hrun_fail(err, HRUN_EINVAL, "P is %d, but %d PEs with %d processes each hold %lld", s->P,
                         s->pes, s->M, (long long)here);
    if (s->mixed && here >= s->P)
        return hrun_fail(err, HRUN_EINVAL, "P is %d, but %lld processes are in this sub-cluster alone and "
                         "others took part", s->P, (long long)here);
    if (s->ok != is_ok_status(s->status))
        return hrun_fail(err, HRUN_EINVAL, "status is '%s' for a run that %s", s->status ? s->status : "",
                         s->ok ? "was good: it must be 'ok'" : "failed: it must say how");
    if (!s->ok && (!s->status || !*s->status))
        return hrun_fail(err, HRUN_EINVAL, "status is empty for a run that failed: it must say how");
    if (s->ok && !(isfinite(s->time_s) && s->time_s > 0))
        return hrun_fail(err, HRUN_EINVAL, "time_s is %g: a time is a positive, finite number of seconds",
                         s->time_s);
    if (s->ok && !(isfinite(s->wall_s) && s->wall_s > 0))
        return hrun_fail(err, HRUN_EINVAL, "wall_s is %g: a time is a positive, finite number of seconds",
                         s->wall_s);
    if (!s->ok && s->time_s != 0)
        return hrun_fail(err, HRUN_EINVAL, "time_s is %g for a run that failed: it must be 0", s->time_s);
    if (!s->ok && !(isfinite(s->wall_s) && s->wall_s >= 0))
        return hrun_fail(err, HRUN_EINVAL, "wall_s is %g: it must be finite and not negative", s->wall_s);
    if (hrun_date_age(s->date, &age))
        return hrun_fail(err, HRUN_EINVAL, "date is '%s', not of the form 2026-11-20T10:36:00Z",
                         s->date ? s->date : "");
    return 0;
}

/* ---------------------------------------------------------------- to text */

/* Length of the UTF-8 character at s (RFC 3629: no overlong forms, surrogates, or values over U+10FFFF),
 * 0 when there is none. */
static int utf8_length(const unsigned char *s)
{
    int len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

    for (int i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90)
        || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

/* JSON is UTF-8, a path need not be. A measurement is worth more than an odd byte of its program's path,
 * which becomes U+FFFD. NULL when memory ran out. */
static json_t *text_value(const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    struct hrun_buf b = HRUN_BUF_INIT;
    json_t *value = NULL;

    while (*s) {
        int len = utf8_length(s);

        if (len)
            hrun_buf_add(&b, s, (size_t)len);
        else
            hrun_buf_adds(&b, "\xef\xbf\xbd");
        s += len ? len : 1;
    }
    if (!b.failed)
        value = json_stringn(b.data, b.len);
    hrun_buf_release(&b);
    return value;
}

static json_t *field_value(const struct hrun_sample *s, const struct field *f)
{
    const void *p = const_member(s, f);

    switch (f->kind) {
    case COUNT:
        return json_integer(*(const int64_t *)p);
    case SMALL:
        return json_integer(*(const int *)p);
    case FLAG:
        return json_boolean(*(const int *)p);
    case SECONDS:
        return json_real(*(const double *)p);
    case TEXT:
        return text_value(*(char *const *)p);
    }
    return NULL;
}

static int add_chunk(const char *data, size_t len, void *out)
{
    struct hrun_buf *b = out;

    hrun_buf_add(b, data, len);
    return b->failed ? -1 : 0;
}

int store_encode(const char *app, const char *signature, const struct hrun_sample *sample,
                 struct hrun_buf *line, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    json_t *o;
    int bad, rc = -1;

    if (store_check_sample(sample, err))
        return -1;
    /* json_object_set_new takes NULL for a failure, so one check at the end is enough. */
    o = json_object();
    bad = json_object_set_new(o, "v", json_integer(STORE_RECORD_VERSION));
    bad |= json_object_set_new(o, "app", json_string(app));
    bad |= json_object_set_new(o, "signature", json_string(signature));
    for (int i = 0; i < NFIELDS; i++)
        bad |= json_object_set_new(o, fields[i].key, field_value(sample, &fields[i]));
    /* 17 digits give every double back exactly. */
    if (bad
        || json_dump_callback(o, add_chunk, &text, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)))
        goto out;
    hrun_buf_add(line, text.data, text.len);
    hrun_buf_addf(line, "\t%08lx\n", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    rc = line->failed ? -1 : 0;
out:
    if (rc)
        hrun_fail_nomem(err);
    json_decref(o);
    hrun_buf_release(&text);
    return rc;
}

/* ---------------------------------------------------------------- from text */

/* Store a key's value into its field. */
static int take_value(const struct field *f, const json_t *value, struct hrun_sample *s,
                      struct hrun_error *err)
{
    void *p = member(s, f);
    json_int_t n;

    switch (f->kind) {
    case COUNT:
    case SMALL:
        if (!json_is_integer(value))
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is no whole number", f->key);
        n = json_integer_value(value);
        if (f->kind == COUNT)
            *(int64_t *)p = n;
        else if (n < INT_MIN || n > INT_MAX)
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is out of range", f->key);
        else
            *(int *)p = (int)n;
        return 0;
    case FLAG:
        if (!json_is_boolean(value))
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is neither true nor false", f->key);
        *(int *)p = json_is_true(value);
        return 0;
    case SECONDS:
        if (!json_is_number(value))
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is no number", f->key);
        *(double *)p = json_number_value(value);
        return 0;
    case TEXT:
        if (!json_is_string(value))
            return hrun_fail(err, HRUN_ECORRUPT, "'%s' is no string", f->key);
        *(char **)p = strdup(json_string_value(value));
        return *(char **)p ? 0 : hrun_fail_nomem(err);
    }
    return 0;
}

/* The record must name the file it stands in: a log that was renamed tells of another machine. */
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

int store_decode(const char *json, size_t len, const char *app, const char *signature,
                 struct hrun_sample *out, struct hrun_error *err)
{
    struct hrun_sample s = { 0 };
    const json_t *v;
    json_error_t why;
    json_t *o;
    int rc = -1;

    o = json_loadb(json, len, JSON_REJECT_DUPLICATES, &why);
    if (!o && json_error_code(&why) == json_error_out_of_memory)
        return hrun_fail_nomem(err);
    if (!o)
        return hrun_fail(err, HRUN_ECORRUPT, "not JSON: %s at column %d", why.text, why.column);
    v = json_object_get(o, "v");
    if (!json_is_integer(v) || json_integer_value(v) < 1) {
        hrun_fail(err, HRUN_ECORRUPT, "not a measurement: no version 'v'");
        goto out;
    }
    if (json_integer_value(v) > STORE_RECORD_VERSION) {
        hrun_fail(err, HRUN_ECORRUPT,
                  "a newer hrun wrote this record (version %lld, this hrun reads up to %d)",
                  (long long)json_integer_value(v), STORE_RECORD_VERSION);
        goto out;
    }
    if (check_owner(o, "app", app, err) || check_owner(o, "signature", signature, err))
        goto out;
    for (int i = 0; i < NFIELDS; i++) {
        const json_t *value = json_object_get(o, fields[i].key);

        if (!value) {
            hrun_fail(err, HRUN_ECORRUPT, "'%s' is missing", fields[i].key);
            goto out;
        }
        if (take_value(&fields[i], value, &s, err))
            goto out;
    }
    if (json_object_size(o) != NFIELDS + 3) {
        hrun_fail(err, HRUN_ECORRUPT, "there are keys that version %d does not have", STORE_RECORD_VERSION);
        goto out;
    }
    if (store_check_sample(&s, err)) {
        if (err)
            err->code = HRUN_ECORRUPT;
        goto out;
    }
    *out = s;
    memset(&s, 0, sizeof s);
    rc = 0;
out:
    hrun_sample_release(&s);
    json_decref(o);
    return rc;
}
