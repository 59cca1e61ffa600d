/* yaml_read.c - a document into a struct, by the table of its keys; see yaml.h for the contracts */
#include "base/yaml.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    const struct hrun_yaml *y;
    yaml_document_t *doc;
    struct hrun_buf path;      /* path of the present value, "" for the file */
    struct hrun_error *err;
};

static int read_mapping(struct reader *r, const struct hrun_key *keys, const yaml_node_t *node, void *to);

static const char *scalar_text(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

/* ---------------------------------------------------------------- texts of messages */

/* Append a value as messages show it, a long one cut: "a list", "nothing", "'two'". */
static void add_found_value(const yaml_node_t *node, struct hrun_buf *b)
{
    enum { SHOWN = 40 }; /* bytes, enough to recognise a value on an 80-column line */

    const char *text = scalar_text(node); /* valid for a scalar only */

    if (node->type == YAML_SEQUENCE_NODE)
        hrun_buf_adds(b, "a list");
    else if (node->type == YAML_MAPPING_NODE)
        hrun_buf_adds(b, "a mapping");
    else if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !node->data.scalar.length)
        hrun_buf_adds(b, "nothing");
    else if (strchr(text, '\n'))
        hrun_buf_adds(b, "a text of several lines");
    else {
        size_t len = strlen(text), cut = len;
        if (len > SHOWN)
            for (cut = SHOWN; cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80; cut--)
                ;
        hrun_buf_addc(b, '\'');
        hrun_buf_add(b, text, cut);
        hrun_buf_adds(b, cut < len ? "...'" : "'");
    }
}

/* Append the type of a key, or of an entry of its list: "a whole number", "a list of texts". */
static void add_wanted_type(const struct hrun_key *k, int entry, struct hrun_buf *b)
{
    static const char *const one[] = {
        [HRUN_KEY_TEXT] = "a text", [HRUN_KEY_INT] = "a whole number", [HRUN_KEY_INT64] = "a whole number",
        [HRUN_KEY_NUMBER] = "a number", [HRUN_KEY_MAPPING] = "a mapping (lines of 'key: value')"
    };
    static const char *const many[] = {
        [HRUN_KEY_TEXT] = "texts", [HRUN_KEY_INT] = "whole numbers", [HRUN_KEY_INT64] = "whole numbers",
        [HRUN_KEY_NUMBER] = "numbers", [HRUN_KEY_MAPPING] = "mappings"
    };
    int list = k->list && !entry;

    if (k->words) {
        hrun_buf_adds(b, list ? "a list of some of " : "one of ");
        for (int i = 0; k->words[i].word; i++)
            hrun_buf_addf(b, "%s%s", i ? ", " : "", k->words[i].word);
    } else if (list)
        hrun_buf_addf(b, "a list of %s", many[k->type]);
    else
        hrun_buf_adds(b, one[k->type]);
}

/* Append the value's name as messages show it. */
static void add_key_path(const struct reader *r, struct hrun_buf *b)
{
    if (r->path.len)
        hrun_buf_addf(b, "'%s'", r->path.data);
    else
        hrun_buf_adds(b, "the file");
}

/* Append the key `key` of the mapping at r->path, or with key NULL an entry's number. Result: the length before. */
static size_t path_push(struct reader *r, const char *key, size_t i)
{
    size_t old = r->path.len;

    if (key)
        hrun_buf_addf(&r->path, "%s%s", old ? "." : "", key);
    else
        hrun_buf_addf(&r->path, "[%zu]", i);
    return old;
}

/* Fail with this text at the place of node. */
static int bad_node(const struct reader *r, const yaml_node_t *node, const struct hrun_buf *text)
{
    return hrun_fail_at(r->err, HRUN_EPARSE, r->y->name, (int)node->start_mark.line + 1,
                        (int)node->start_mark.column + 1, "%s", text->data);
}

static int bad_type(const struct reader *r, const struct hrun_key *k, int entry, const yaml_node_t *node,
                    const char *hint)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    add_key_path(r, &b);
    hrun_buf_adds(&b, " must be ");
    add_wanted_type(k, entry, &b);
    hrun_buf_adds(&b, ", found ");
    add_found_value(node, &b);
    hrun_buf_adds(&b, hint);
    return bad_node(r, node, &b);
}

__attribute__((format(printf, 3, 4)))
static int bad_value(const struct reader *r, const yaml_node_t *node, const char *fmt, ...)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    add_key_path(r, &b);
    hrun_buf_addc(&b, ' ');
    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    return bad_node(r, node, &b);
}

/* ---------------------------------------------------------------- scalars */

/* Read a decimal number. Leading zeros are refused: other YAML parsers read "010" as eight and "0x10" as sixteen. */
static int read_whole(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, void *to)
{
    const char *t = scalar_text(node), *digits = t + (*t == '-' || *t == '+');
    int64_t max = k->type == HRUN_KEY_INT ? INT_MAX : INT64_MAX;
    size_t len = strlen(digits);
    int out;
    long long v;

    if (!len || strspn(digits, "0123456789") != len)
        return bad_type(r, k, 1, node, "");
    if (len > 1 && digits[0] == '0')
        return bad_type(r, k, 1, node, " (write it without leading zeros)");
    errno = 0;
    v = strtoll(t, NULL, 10);
    out = errno == ERANGE || v > max || v < -max - 1;
    if (out)
        return bad_value(r, node, "must be a whole number in %lld..%lld, found '%s'", (long long)-max - 1,
                         (long long)max, t);
    if (k->type == HRUN_KEY_INT)
        *(int *)to = (int)v;
    else
        *(int64_t *)to = v;
    return 0;
}

static int read_double(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, double *to)
{
    static const char *const nonfinite[] = { "nan", "inf", "infinity" };
    const char *t = scalar_text(node), *digits = t + (*t == '-' || *t == '+'), *word = digits + (*digits == '.');
    size_t len = hrun_number_length(digits, 1);

    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++)
        if (strcasecmp(word, nonfinite[i]) == 0)
            return bad_value(r, node, "must be a finite number, found '%s'", t);
    if (!len || digits[len])
        return bad_type(r, k, 1, node, "");
    *to = strtod(t, NULL);
    return isfinite(*to) ? 0 : bad_value(r, node, "must be a number below %g, found '%s'", DBL_MAX, t);
}

static int read_word(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, int *to)
{
    enum { WORDS_MAX = 32 };

    const char *known[WORDS_MAX], *near = NULL;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    size_t n = 0;

    for (; node->type == YAML_SCALAR_NODE && n < WORDS_MAX && k->words[n].word; n++) {
        known[n] = k->words[n].word;
        if (strcmp(scalar_text(node), known[n]) == 0) {
            *to = k->words[n].value;
            return 0;
        }
    }
    if (n)
        near = hrun_nearest(scalar_text(node), known, n);
    if (near)
        hrun_buf_addf(&b, "; did you mean '%s'?", near);
    return bad_type(r, k, 1, node, b.data);
}

static int read_string(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, char **to)
{
    size_t len = strlen(scalar_text(node));

    if (len != node->data.scalar.length)
        return bad_value(r, node, "must not hold the character \\0");
    if (!len && !k->empty)
        return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? bad_type(r, k, 1, node, "")
                                                                  : bad_value(r, node, "must not be empty");
    if (k->max && !k->list && len > k->max)
        return bad_value(r, node, "must have at most %u bytes, found %zu", k->max, len);
    *to = xstrdup(scalar_text(node));
    return 0;
}

/* ---------------------------------------------------------------- values */

/* Read the value of a key, or one entry of its list, into `to`. */
static int read_value(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, void *to)
{
    if (k->words)
        return read_word(r, k, node, to);
    if (node->type != (k->type == HRUN_KEY_MAPPING ? YAML_MAPPING_NODE : YAML_SCALAR_NODE))
        return bad_type(r, k, 1, node, "");
    switch (k->type) {
    case HRUN_KEY_TEXT:
        return read_string(r, k, node, to);
    case HRUN_KEY_INT:
    case HRUN_KEY_INT64:
        return read_whole(r, k, node, to);
    case HRUN_KEY_NUMBER:
        return read_double(r, k, node, to);
    default:
        return read_mapping(r, k->keys, node, to);
    }
}

static int bad_count(struct reader *r, const yaml_node_t *node, const char *most, unsigned limit, size_t n)
{
    return bad_value(r, node, "must have at %s %u %s, found %zu", most, limit, limit == 1 ? "entry" : "entries", n);
}

static int read_list(struct reader *r, const struct hrun_key *k, const yaml_node_t *node, char *data)
{
    unsigned *count = (unsigned *)(void *)(data + k->count_at);
    yaml_node_item_t *items;
    char *entries;
    size_t n;

    if (node->type != YAML_SEQUENCE_NODE)
        return bad_type(r, k, 0, node, "");
    items = node->data.sequence.items.start;
    n = (size_t)(node->data.sequence.items.top - items);
    entries = xcalloc(n + 1, k->size);
    memcpy(data + k->at, &entries, sizeof entries);
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item = yaml_document_get_node(r->doc, items[i]);
        size_t old;

        if (k->max && i >= k->max)
            return bad_count(r, item, "most", k->max, n);
        old = path_push(r, NULL, i);
        ++*count;
        if (read_value(r, k, item, entries + i * k->size))
            return -1;
        r->path.data[r->path.len = old] = 0;
    }
    return n < k->min ? bad_count(r, node, "least", k->min, n) : 0;
}

/* ---------------------------------------------------------------- mappings */

/* Fail for an unknown key. keys has n rows. */
static int unknown_key(struct reader *r, const struct hrun_key *keys, size_t n, const yaml_node_t *key)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree const char **known = xcalloc(n, sizeof *known);
    const char *near;

    for (size_t i = 0; i < n; i++)
        known[i] = keys[i].name;
    near = hrun_nearest(scalar_text(key), known, n);
    hrun_buf_addf(&b, "unknown key '%s'", scalar_text(key));
    if (r->path.len)
        hrun_buf_addf(&b, " in '%s'", r->path.data);
    if (near)
        hrun_buf_addf(&b, "; did you mean '%s'?", near);
    hrun_buf_adds(&b, near ? " (known: " : "; known: ");
    for (size_t i = 0; i < n; i++)
        hrun_buf_addf(&b, "%s%s", i ? ", " : "", known[i]);
    if (near)
        hrun_buf_addc(&b, ')');
    return bad_node(r, key, &b);
}

static int read_mapping(struct reader *r, const struct hrun_key *keys, const yaml_node_t *map, void *to)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree const yaml_node_t **given = NULL;  /* the key in the document for each row of keys */
    const struct hrun_key *k;
    size_t n = 0, at, old;

    while (keys[n].name)
        n++;
    given = xcalloc(n, sizeof *given);
    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->doc, pair->key);
        const yaml_node_t *value = yaml_document_get_node(r->doc, pair->value);
        void *member, *own;

        if (key->type != YAML_SCALAR_NODE || !key->data.scalar.length ||
            strlen(scalar_text(key)) != key->data.scalar.length) {
            hrun_buf_adds(&b, "a key must be a word, found ");
            add_found_value(key, &b);
            return bad_node(r, key, &b);
        }
        for (at = 0; at < n && strcmp(keys[at].name, scalar_text(key)); at++)
            continue;
        if (at == n)
            return unknown_key(r, keys, n, key);
        k = &keys[at];
        old = path_push(r, k->name, 0);
        if (given[at])
            return bad_value(r, key, "is listed twice, first on line %d: keep one",
                             (int)given[at]->start_mark.line + 1);
        given[at] = key;
        member = (char *)to + k->at;
        if (k->size && !k->list) {
            own = xcalloc(1, k->size);
            memcpy(member, &own, sizeof own);
            member = own;
        }
        if (k->list ? read_list(r, k, value, to) : read_value(r, k, value, member))
            return -1;
        r->path.data[r->path.len = old] = 0;
    }
    for (k = keys; k->name; k++)
        if (!given[k - keys] && k->sparse) {
            if (k->type == HRUN_KEY_NUMBER)
                *(double *)(void *)((char *)to + k->at) = NAN;
        } else if (!given[k - keys] && !k->optional) {
            add_key_path(r, &b);
            hrun_buf_addf(&b, " lacks the key '%s': add it; it is ", k->name);
            add_wanted_type(k, 0, &b);
            return bad_node(r, map, &b);
        }
    return 0;
}

/* ---------------------------------------------------------------- the whole */

int hrun_yaml_read(struct hrun_yaml *y, const struct hrun_schema *schema, void *data, struct hrun_error *err)
{
    static const struct hrun_key whole = { .type = HRUN_KEY_MAPPING };
    struct reader r = { y, &y->doc, HRUN_BUF_INIT, err };
    autorelease(hrun_buf_release) struct hrun_buf needed = HRUN_BUF_INIT;
    yaml_node_t *root = yaml_document_get_root_node(&y->doc);
    int rc;

    for (const struct hrun_key *k = schema->keys; k->name; k++)
        if (!k->optional)
            hrun_buf_addf(&needed, "%s%s", needed.len ? ", " : "", k->name);
    if (!root || (root->type == YAML_SCALAR_NODE && root->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                  !root->data.scalar.length))
        return !needed.len ? 0 : hrun_fail_at(err, HRUN_EPARSE, y->name, 1, 1, "the file is empty; it needs at least: "
                                              "%s", needed.data);
    rc = root->type == YAML_MAPPING_NODE ? read_mapping(&r, schema->keys, root, data)
                                         : bad_type(&r, &whole, 1, root, "");
    hrun_buf_release(&r.path);
    return rc;
}

void hrun_yaml_release(const struct hrun_key *keys, void *data)
{
    for (const struct hrun_key *k = keys; k->name; k++) {
        char *member = (char *)data + k->at, *values = k->size ? hrun_yaml_pointer(member) : member;
        unsigned n = k->list ? *(unsigned *)(void *)((char *)data + k->count_at) : values != NULL;
        size_t size = k->list ? k->size : 0;

        for (unsigned i = 0; i < n; i++)
            if (k->type == HRUN_KEY_TEXT)
                free(hrun_yaml_pointer(values + i * size));
            else if (k->type == HRUN_KEY_MAPPING)
                hrun_yaml_release(k->keys, values + i * size);
        if (k->size)
            free(values);
    }
}
