/* yaml_check.c - schema against document; see yaml_tree.h for the contract */
#include "base/yaml_tree.h"

#include "base/units.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct check {
    const struct hrun_yaml *y;
    yaml_document_t *doc;
    struct hrun_buf path;      /* of the value looked at, "" for the file */
    struct hrun_error *err;
};

/* cyaml's flags of nullable pointers contain those of plain ones: the bits alone. */
enum {
    BIT_NULL = CYAML_FLAG_POINTER_NULL & ~CYAML_FLAG_POINTER,
    BIT_NULL_STR = CYAML_FLAG_POINTER_NULL_STR & ~CYAML_FLAG_POINTER_NULL
};

static int check_value(struct check *c, const cyaml_schema_value_t *s, yaml_node_t *node);

static const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static int is_plain(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static int same(const cyaml_schema_value_t *s, const char *a, const char *b)
{
    return (s->flags & CYAML_FLAG_CASE_INSENSITIVE ? strcasecmp(a, b) : strcmp(a, b)) == 0;
}

static void add_list(struct hrun_buf *b, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hrun_buf_addf(b, "%s%s", i ? ", " : "", words[i]);
}

/* The value's name as the messages write it. */
static void add_name(const struct check *c, struct hrun_buf *b)
{
    if (c->path.len)
        hrun_buf_addf(b, "'%s'", c->path.data);
    else
        hrun_buf_adds(b, "the file");
}

/* The key `key` of the mapping at c->path, or with key NULL an entry's number. */
static size_t path_push(struct check *c, const char *key, size_t i)
{
    size_t old = c->path.len;

    if (key)
        hrun_buf_addf(&c->path, "%s%s", old ? "." : "", key);
    else
        hrun_buf_addf(&c->path, "[%zu]", i);
    return old;
}

static void path_pop(struct check *c, size_t old)
{
    c->path.len = old;
    if (c->path.cap)
        c->path.data[old] = 0;
}

/* Report at node what text says, and free it. */
static int bad(const struct check *c, const yaml_node_t *node, struct hrun_buf *text)
{
    int rc;

    if (text->failed || c->path.failed)
        rc = hrun_fail_nomem(c->err);
    else
        rc = hrun_fail_at(c->err, HRUN_EPARSE, c->y->name, (int)node->start_mark.line + 1,
                          (int)node->start_mark.column + 1, "%s", text->data);
    hrun_buf_release(text);
    return rc;
}

static int bad_type(const struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node,
                    const char *hint)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    add_name(c, &b);
    hrun_buf_adds(&b, " must be ");
    hrun_yaml_add_wanted(s, &b);
    hrun_buf_adds(&b, ", found ");
    hrun_yaml_add_found(node, &b);
    hrun_buf_adds(&b, hint);
    return bad(c, node, &b);
}

static int bad_range(const struct check *c, const yaml_node_t *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int bad_range(const struct check *c, const yaml_node_t *node, const char *fmt, ...)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    add_name(c, &b);
    hrun_buf_addc(&b, ' ');
    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    return bad(c, node, &b);
}

/* Decimal only: libcyaml reads "010" as eight, "0x10" as sixteen and "12abc" as twelve. */
static int check_whole(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    const char *t = text_of(node), *digits = t + (*t == '-' || *t == '+');
    unsigned bits = s->data_size * 8;
    size_t len = strlen(digits);
    int saved = errno, out;

    if (!len || strspn(digits, "0123456789") != len)
        return bad_type(c, s, node, "");
    if (len > 1 && digits[0] == '0')
        return bad_type(c, s, node, " (write it without leading zeros)");
    errno = 0;
    if (s->type == CYAML_INT) {
        long long v = strtoll(t, NULL, 10), max = (long long)(UINT64_MAX >> (64 - bits) >> 1);
        out = errno == ERANGE || v > max || v < -max - 1;
        errno = saved;
        return out ? bad_range(c, node, "must be a whole number in %lld..%lld, found '%s'", -max - 1, max, t)
                   : 0;
    } else {
        unsigned long long v = strtoull(digits, NULL, 10), max = UINT64_MAX >> (64 - bits);
        out = errno == ERANGE || v > max || (*t == '-' && v);
        errno = saved;
        return out ? bad_range(c, node, "must be a whole number in 0..%llu, found '%s'", max, t) : 0;
    }
}

/* No hexadecimal, no words, nothing behind it. */
static int is_decimal(const char *t)
{
    size_t len;

    t += *t == '-' || *t == '+';
    len = hrun_number_length(t, 1);
    return len && !t[len];
}

static int check_float(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    static const char *const nonfinite[] = { "nan", "inf", "infinity" };
    const char *t = text_of(node), *word = t;
    int saved = errno;
    double v;

    word += *word == '-' || *word == '+';
    word += *word == '.';
    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++)
        if (strcasecmp(word, nonfinite[i]) == 0)
            return bad_range(c, node, "must be a finite number, found '%s'", t);
    if (!is_decimal(t))
        return bad_type(c, s, node, "");
    errno = 0;
    v = s->data_size == sizeof(float) ? (double)strtof(t, NULL) : strtod(t, NULL);
    if (!isfinite(v) || (errno == ERANGE && (s->flags & CYAML_FLAG_STRICT))) {
        errno = saved;
        return bad_range(c, node, "must be a number below %g and not too near 0, found '%s'",
                         s->data_size == sizeof(float) ? (double)FLT_MAX : DBL_MAX, t);
    }
    errno = saved;
    return 0;
}

static int check_bool(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    /* libcyaml takes any other word for true */
    static const char *const known[] = { "true", "false", "yes", "no", "on", "off" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(text_of(node), known[i]) == 0)
            return 0;
    return bad_type(c, s, node, "");
}

/* One word of an enumeration or a set of flags. */
static int check_word(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    const char **known, *near = NULL;

    if (node->type == YAML_SCALAR_NODE) {
        for (uint32_t i = 0; i < s->enumeration.count; i++)
            if (same(s, text_of(node), s->enumeration.strings[i].str))
                return 0;
        known = calloc(s->enumeration.count + 1, sizeof *known);
        if (!known)
            return hrun_fail_nomem(c->err);
        for (uint32_t i = 0; i < s->enumeration.count; i++)
            known[i] = s->enumeration.strings[i].str;
        near = hrun_nearest(text_of(node), known, s->enumeration.count);
        free(known);
    }
    add_name(c, &b);
    hrun_buf_adds(&b, " must be one of ");
    hrun_yaml_add_choices(s, &b);
    hrun_buf_adds(&b, ", found ");
    hrun_yaml_add_found(node, &b);
    if (near)
        hrun_buf_addf(&b, "; did you mean '%s'?", near);
    return bad(c, node, &b);
}

static int check_string(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    size_t len = strlen(text_of(node));

    if (len != node->data.scalar.length)
        return bad_range(c, node, "must not hold the character \\0");
    if (is_plain(node) && len < s->string.min && !len)
        return bad_type(c, s, node, "");
    if (len < s->string.min)
        return s->string.min == 1 ? bad_range(c, node, "must not be empty")
                                  : bad_range(c, node, "must have at least %u bytes, found %zu",
                                              (unsigned)s->string.min, len);
    if (len > s->string.max)
        return bad_range(c, node, "must have at most %u bytes, found %zu", (unsigned)s->string.max, len);
    return 0;
}

static int check_list(struct check *c, const cyaml_schema_value_t *s, yaml_node_t *node)
{
    yaml_node_item_t *items = node->data.sequence.items.start;
    size_t n = (size_t)(node->data.sequence.items.top - items);
    const cyaml_schema_value_t *entry = s->type == CYAML_FLAGS ? NULL : s->sequence.entry;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        yaml_node_t *item = yaml_document_get_node(c->doc, items[i]);
        size_t old;
        if (entry && i >= s->sequence.max)
            return bad_range(c, item, "must have %s%u %s, found %zu",
                             s->sequence.min == s->sequence.max ? "" : "at most ", (unsigned)s->sequence.max,
                             s->sequence.max == 1 ? "entry" : "entries", n);
        old = path_push(c, NULL, i);
        rc = entry ? check_value(c, entry, item) : check_word(c, s, item);
        path_pop(c, old);
    }
    if (!rc && entry && n < s->sequence.min)
        return bad_range(c, node, "must have %s%u %s, found %zu",
                         s->sequence.min == s->sequence.max ? "" : "at least ", (unsigned)s->sequence.min,
                         s->sequence.min == 1 ? "entry" : "entries", n);
    return rc;
}

struct key {
    const char *text;
    size_t at;
};

static int by_text(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Keys must be words, each once. Sorting keeps large free mappings quick. */
static int check_keys(struct check *c, const yaml_node_t *node)
{
    yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
    size_t n = (size_t)(node->data.mapping.pairs.top - pairs), dup = n, first = 0;
    struct hrun_buf b = HRUN_BUF_INIT;
    struct key *keys;

    for (size_t i = 0; i < n; i++) {
        yaml_node_t *key = yaml_document_get_node(c->doc, pairs[i].key);
        if (key->type != YAML_SCALAR_NODE || !key->data.scalar.length
            || strlen(text_of(key)) != key->data.scalar.length) {
            hrun_buf_adds(&b, "a key must be a word, found ");
            hrun_yaml_add_found(key, &b);
            return bad(c, key, &b);
        }
    }
    if (n < 2)
        return 0;
    keys = malloc(n * sizeof *keys);
    if (!keys)
        return hrun_fail_nomem(c->err);
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct key){ text_of(yaml_document_get_node(c->doc, pairs[i].key)), i };
    qsort(keys, n, sizeof *keys, by_text);
    for (size_t i = 1; i < n; i++)
        if (strcmp(keys[i].text, keys[i - 1].text) == 0 && keys[i].at < dup) {
            dup = keys[i].at;
            first = keys[i - 1].at;
        }
    free(keys);
    if (dup < n) {
        yaml_node_t *key = yaml_document_get_node(c->doc, pairs[dup].key);
        path_push(c, text_of(key), 0);
        return bad_range(c, key, "is listed twice, first on line %d: keep one",
                         (int)yaml_document_get_node(c->doc, pairs[first].key)->start_mark.line + 1);
    }
    return 0;
}

static int unknown_key(struct check *c, const cyaml_schema_value_t *s, const yaml_node_t *key,
                       size_t nfields)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    const char **known = calloc(nfields + 1, sizeof *known), *near;

    if (!known)
        return hrun_fail_nomem(c->err);
    for (size_t i = 0; i < nfields; i++)
        known[i] = s->mapping.fields[i].key;
    near = hrun_nearest(text_of(key), known, nfields);
    hrun_buf_addf(&b, "unknown key '%s'", text_of(key));
    if (c->path.len)
        hrun_buf_addf(&b, " in '%s'", c->path.data);
    if (near)
        hrun_buf_addf(&b, "; did you mean '%s'?", near);
    hrun_buf_adds(&b, near ? " (known: " : "; known: ");
    add_list(&b, known, nfields);
    if (near)
        hrun_buf_addc(&b, ')');
    free(known);
    return bad(c, key, &b);
}

static int check_mapping(struct check *c, const cyaml_schema_value_t *s, yaml_node_t *node)
{
    const cyaml_schema_field_t *fields = s->mapping.fields;
    yaml_node_pair_t *pair, *top = node->data.mapping.pairs.top;
    struct hrun_buf b = HRUN_BUF_INIT;
    size_t nfields = 0, old;

    while (fields[nfields].key)
        nfields++;
    if (check_keys(c, node))
        return -1;
    for (pair = node->data.mapping.pairs.start; pair < top; pair++) {
        yaml_node_t *key = yaml_document_get_node(c->doc, pair->key);
        size_t f = 0;
        int rc;
        while (f < nfields && !same(s, fields[f].key, text_of(key)))
            f++;
        if (f == nfields)
            return unknown_key(c, s, key, nfields);
        old = path_push(c, text_of(key), 0);
        rc = check_value(c, &fields[f].value, yaml_document_get_node(c->doc, pair->value));
        path_pop(c, old);
        if (rc)
            return rc;
    }
    for (size_t f = 0; f < nfields; f++) {
        if (fields[f].value.flags & CYAML_FLAG_OPTIONAL)
            continue;
        for (pair = node->data.mapping.pairs.start; pair < top; pair++)
            if (same(s, fields[f].key, text_of(yaml_document_get_node(c->doc, pair->key))))
                break;
        if (pair < top)
            continue;
        add_name(c, &b);
        hrun_buf_addf(&b, " lacks the key '%s': add it; it is ", fields[f].key);
        hrun_yaml_add_wanted(&fields[f].value, &b);
        return bad(c, node, &b);
    }
    return 0;
}

static int is_null(const cyaml_schema_value_t *s, const yaml_node_t *node)
{
    static const char *const words[] = { "null", "Null", "NULL", "~" };

    if (node->type != YAML_SCALAR_NODE)
        return 0;
    if (!node->data.scalar.length)
        return 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((s->flags & BIT_NULL_STR) && strcmp(text_of(node), words[i]) == 0)
            return 1;
    return 0;
}

static int check_value(struct check *c, const cyaml_schema_value_t *s, yaml_node_t *node)
{
    if (c->path.failed)
        return hrun_fail_nomem(c->err);
    if ((s->flags & BIT_NULL) && is_null(s, node))
        return 0;
    switch (s->type) {
    case CYAML_MAPPING:
        return node->type == YAML_MAPPING_NODE ? check_mapping(c, s, node) : bad_type(c, s, node, "");
    case CYAML_BITFIELD:
        return node->type == YAML_MAPPING_NODE ? check_keys(c, node) : bad_type(c, s, node, "");
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
    case CYAML_FLAGS:
        return node->type == YAML_SEQUENCE_NODE ? check_list(c, s, node) : bad_type(c, s, node, "");
    case CYAML_IGNORE:
        return node->type == YAML_MAPPING_NODE ? check_keys(c, node) : 0;
    default:
        break;
    }
    if (node->type != YAML_SCALAR_NODE)
        return bad_type(c, s, node, "");
    switch (s->type) {
    case CYAML_INT:
    case CYAML_UINT:
        return check_whole(c, s, node);
    case CYAML_FLOAT:
        return check_float(c, s, node);
    case CYAML_BOOL:
        return check_bool(c, s, node);
    case CYAML_ENUM:
        return check_word(c, s, node);
    default:
        return check_string(c, s, node);
    }
}

static void add_required(const cyaml_schema_value_t *s, struct hrun_buf *b)
{
    const cyaml_schema_field_t *f = s->mapping.fields;
    const char *sep = "; it needs at least: ";

    for (; f->key; f++)
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL)) {
            hrun_buf_addf(b, "%s%s", sep, f->key);
            sep = ", ";
        }
}

int hrun_yaml_check(struct hrun_yaml *y, const cyaml_schema_value_t *schema, struct hrun_error *err)
{
    struct check c = { y, &y->doc, HRUN_BUF_INIT, err };
    yaml_node_t *root = yaml_document_get_root_node(&y->doc);
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc;

    if (!root || (is_plain(root) && !root->data.scalar.length)) {
        hrun_buf_adds(&b, "the file is empty");
        add_required(schema, &b);
        rc = b.failed ? hrun_fail_nomem(err)
                      : hrun_fail_at(err, HRUN_EPARSE, y->name, 1, 1, "%s", b.data);
        hrun_buf_release(&b);
        return rc;
    }
    rc = check_value(&c, schema, root);
    hrun_buf_release(&c.path);
    return rc;
}
