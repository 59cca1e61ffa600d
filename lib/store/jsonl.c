/* jsonl.c - measurements as input of Extra-P, in its JSON Lines format; see store.h */
#include "store/internal.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

/* What Extra-P calls parameters, and its value. */
static const char *const parameters[] = { "N", "P", "M" };
enum { NPARAMETERS = sizeof parameters / sizeof *parameters };
static const char VALUE[] = "time_s", METRIC[] = "time", REST[] = "hrun";

static int is_parameter(const struct store_field *f)
{
    for (int i = 0; i < NPARAMETERS; i++)
        if (!strcmp(f->key, parameters[i]))
            return 1;
    return 0;
}

/* ---------------------------------------------------------------- to text */

static int add_chunk(const char *data, size_t len, void *out)
{
    struct hrun_buf *b = out;

    hrun_buf_add(b, data, len);
    return b->failed ? -1 : 0;
}

/* One line. json_object_set_new takes NULL for a failure, so one check at the end is enough. */
static int add_sample(struct hrun_buf *out, const char *callpath, const struct hrun_sample *s, int has_M)
{
    json_t *o = json_object(), *params = json_object(), *rest = json_object();
    int bad = 0;

    for (int i = 0; i < STORE_NFIELDS; i++) {
        const struct store_field *f = &store_fields[i];

        if (!is_parameter(f) && strcmp(f->key, VALUE))
            bad |= json_object_set_new(rest, f->key, store_field_value(s, f));
        else if (is_parameter(f) && (has_M || strcmp(f->key, "M")))
            bad |= json_object_set_new(params, f->key, store_field_value(s, f));
    }
    bad |= json_object_set_new(o, "params", params);
    bad |= json_object_set_new(o, "callpath", json_string(callpath));
    bad |= json_object_set_new(o, "metric", json_string(METRIC));
    bad |= json_object_set_new(o, "value", json_real(s->time_s));
    bad |= json_object_set_new(o, REST, rest);
    /* 17 digits give every double back exactly. */
    bad |= json_dump_callback(o, add_chunk, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    hrun_buf_addc(out, '\n');
    json_decref(o);
    return bad ? -1 : 0;
}

int exchange_write_jsonl(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                         struct hrun_error *err)
{
    struct exchange_regions regions = { 0 };
    int rc = 0;

    if (exchange_regions_make(sets, nsets, &regions, left_out, err))
        return -1;
    for (size_t k = 0; k < regions.n && !rc; k++)
        for (size_t i = 0; i < regions.v[k].n && !rc; i++)
            if (add_sample(out, regions.v[k].callpath, regions.v[k].v[i], regions.has_M))
                rc = hrun_fail_nomem(err);
    exchange_regions_release(&regions);
    return rc;
}

/* ---------------------------------------------------------------- from text */

/* The parameters, of which N and P must be there. */
static int take_params(const struct exchange_reader *r, json_t *params, struct hrun_exchanged *x)
{
    const char *key;
    json_t *value;

    json_object_foreach(params, key, value) {
        const struct store_field *f = NULL;

        for (int i = 0; i < NPARAMETERS; i++)
            if (!strcasecmp(key, parameters[i]))
                f = exchange_field(parameters[i]);
        if (!f)
            return exchange_fail(r, x->line, "the parameter '%.100s' is unknown: N, P and M can be imported", key);
        if (x->given & exchange_bit(f))
            return exchange_fail(r, x->line, "the parameter '%.100s' is there twice", key);
        if (!json_is_number(value))
            return exchange_fail(r, x->line, "the parameter '%.100s' is no number", key);
        if (exchange_set_number(r, x, f, key, json_number_value(value)))
            return -1;
    }
    for (int i = 0; i < 2; i++)
        if (!(x->given & exchange_bit(exchange_field(parameters[i]))))
            return exchange_fail(r, x->line, "the parameter %s is missing: N and P are needed", parameters[i]);
    return 0;
}

/* What stands under "hrun". */
static int take_rest(const struct exchange_reader *r, json_t *rest, struct hrun_exchanged *x)
{
    const char *key;
    json_t *value;

    json_object_foreach(rest, key, value) {
        const struct store_field *f = exchange_field(key);
        struct hrun_error why = { 0 };

        if (!f || is_parameter(f) || !strcmp(key, VALUE))
            return exchange_fail(r, x->line, "the key '%.100s' of '%s' is unknown", key, REST);
        if (f->kind == STORE_TEXT && json_is_string(value)) {
            if (exchange_set(r, x, f, json_string_value(value), json_string_length(value)))
                return -1;
        } else if (store_take_value(f, value, &x->sample, &why)) {
            return why.code == HRUN_ENOMEM ? hrun_fail_nomem(r->err) : exchange_fail(r, x->line, "%s", why.text);
        }
        x->given |= exchange_bit(f);
    }
    return 0;
}

static int take_value(const struct exchange_reader *r, json_t *o, json_t *value, int line)
{
    struct hrun_exchanged x = { .line = line };
    json_t *callpath = json_object_get(o, "callpath"), *rest = json_object_get(o, REST);
    int bad = take_params(r, json_object_get(o, "params"), &x);

    if (!bad && callpath)
        bad = exchange_set_callpath(r, &x, json_string_value(callpath), json_string_length(callpath));
    if (!bad && rest)
        bad = take_rest(r, rest, &x);
    if (!bad && !json_is_number(value))
        bad = exchange_fail(r, line, "the value is no number");
    if (bad) {
        exchange_drop(&x);
        return -1;
    }
    x.sample.time_s = json_number_value(value);
    x.given |= exchange_bit(exchange_field(VALUE));
    return exchange_add(r, &x);
}

/* One line: an object with "params", "value", and maybe "callpath", "metric" and what else somebody put there. */
static int take_object(const struct exchange_reader *r, json_t *o, int line)
{
    json_t *value = json_object_get(o, "value"), *one;
    const char *metric = json_string_value(json_object_get(o, "metric"));
    size_t i;

    if (!json_is_object(json_object_get(o, "params")))
        return exchange_fail(r, line, "there is no object 'params'");
    if (json_object_get(o, "metric") && (!metric || strcmp(metric, METRIC)))
        return exchange_fail(r, line, "the metric is not '%s': nothing else can be imported", METRIC);
    if (json_object_get(o, "callpath") && !json_is_string(json_object_get(o, "callpath")))
        return exchange_fail(r, line, "the callpath is no string");
    if (json_object_get(o, REST) && !json_is_object(json_object_get(o, REST)))
        return exchange_fail(r, line, "'%s' is no object", REST);
    if (!value)
        return exchange_fail(r, line, "there is no 'value'");
    if (!json_is_array(value))
        return take_value(r, o, value, line);
    json_array_foreach(value, i, one)
        if (take_value(r, o, one, line))
            return -1;
    return 0;
}

static int is_blank(const char *text, size_t len)
{
    while (len && strchr(" \t\r", text[len - 1]) && text[len - 1])
        len--;
    return !len;
}

static int take_line(const struct exchange_reader *r, const char *text, size_t len, int line)
{
    json_error_t why;
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    int rc;

    if (!o && json_error_code(&why) == json_error_out_of_memory)
        return hrun_fail_nomem(r->err);
    if (!o)
        return exchange_fail(r, line, "not JSON: %s at column %d", why.text, why.column);
    rc = json_is_object(o) ? take_object(r, o, line) : exchange_fail(r, line, "the line is no JSON object");
    json_decref(o);
    return rc;
}

int exchange_read_jsonl(const struct exchange_reader *r, const char *text, size_t len)
{
    int line = 0, rc = 0;

    for (const char *at = text, *stop = text + len; at < stop && !rc; ) {
        const char *eol = memchr(at, '\n', (size_t)(stop - at));
        size_t n = (size_t)((eol ? eol : stop) - at);

        line++;
        if (!is_blank(at, n))
            rc = take_line(r, at, n, line);
        at += n + (eol != NULL);
    }
    return rc;
}
