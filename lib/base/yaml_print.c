/* yaml_print.c - a struct as a YAML document; see yaml.h for the contract */
#include "base/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Add a mapping to the document. Result, as of add_scalar and add_value: the node's number; 0: failure. */
static int add_mapping(yaml_document_t *doc, const struct hrun_key *keys, const char *data, int flow);

static int add_scalar(yaml_document_t *doc, const char *text)
{
    return yaml_document_add_scalar(doc, NULL, (const yaml_char_t *)text, (int)strlen(text), YAML_ANY_SCALAR_STYLE);
}

static int add_value(yaml_document_t *doc, const struct hrun_key *k, const char *value)
{
    const struct hrun_word *w = k->words;
    char text[40];
    const char *s;
    double number;
    int64_t whole;

    switch (k->type) {
    case HRUN_KEY_TEXT:
        s = hrun_yaml_pointer(value);
        return add_scalar(doc, s ? s : "");
    case HRUN_KEY_NUMBER:       /* the fewest digits that read as the same value */
        number = *(const double *)(const void *)value;
        snprintf(text, sizeof text, "%.15g", number);
        if (strtod(text, NULL) != number)
            snprintf(text, sizeof text, "%.17g", number);
        return add_scalar(doc, text);
    case HRUN_KEY_MAPPING:
        return add_mapping(doc, k->keys, value, k->flow);
    default:
        whole = k->type == HRUN_KEY_INT ? *(const int *)(const void *)value : *(const int64_t *)(const void *)value;
        while (w && w->word && w->value != whole)
            w++;
        snprintf(text, sizeof text, "%" PRId64, whole);
        return add_scalar(doc, w && w->word ? w->word : text);
    }
}

static int is_key_omitted(const struct hrun_key *k, const char *value, unsigned n)
{
    const char *text;

    if (k->sparse)
        return k->type == HRUN_KEY_INT ? !*(const int *)(const void *)value
                                       : isnan(*(const double *)(const void *)value);
    if (!k->optional || k->list || !value)
        return k->optional && !n;
    text = k->type == HRUN_KEY_TEXT ? hrun_yaml_pointer(value) : NULL;
    return k->type == HRUN_KEY_TEXT && (!text || !*text);
}

static int add_mapping(yaml_document_t *doc, const struct hrun_key *keys, const char *data, int flow)
{
    int map = yaml_document_add_mapping(doc, NULL, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);

    for (const struct hrun_key *k = keys; k->name && map; k++) {
        const char *member = data + k->at, *value = k->size ? hrun_yaml_pointer(member) : member;
        unsigned n = k->list ? *(const unsigned *)(const void *)(data + k->count_at) : 0;
        int name, node;

        if (is_key_omitted(k, value, n))
            continue;
        name = add_scalar(doc, k->name);
        node = k->list ? yaml_document_add_sequence(doc, NULL, YAML_BLOCK_SEQUENCE_STYLE) : add_value(doc, k, value);
        for (unsigned i = 0; i < n && node; i++) {
            int entry = add_value(doc, k, value + i * k->size);

            if (!entry || !yaml_document_append_sequence_item(doc, node, entry))
                return 0;
        }
        if (!name || !node || !yaml_document_append_mapping_pair(doc, map, name, node))
            return 0;
    }
    return map;
}

static int add_emitted(void *data, unsigned char *text, size_t len)
{
    hrun_buf_add(data, text, len);
    return 1;
}

int hrun_yaml_print(const struct hrun_schema *schema, const void *data, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(yaml_emitter_delete) yaml_emitter_t emitter;
    locale_t old, c = hrun_locale_enter(&old);
    struct hrun_error why = { .code = HRUN_OK };
    yaml_document_t doc;
    void *again = NULL;
    int rc;

    if (!yaml_emitter_initialize(&emitter) || !yaml_document_initialize(&doc, NULL, NULL, NULL, 1, 1))
        hrun_out_of_memory();
    yaml_emitter_set_output(&emitter, add_emitted, &text);
    yaml_emitter_set_unicode(&emitter, 1);
    /* libyaml fails alike for lack of memory and for a text that is not UTF-8; only malloc sets ENOMEM */
    errno = 0;
    if (!add_mapping(&doc, schema->keys, data, 0)) {
        yaml_document_delete(&doc);
        if (errno == ENOMEM)
            hrun_out_of_memory();
        rc = hrun_fail(err, HRUN_EINVAL, "the data cannot be written as YAML: a text is not UTF-8");
    } else if (!yaml_emitter_open(&emitter) || !yaml_emitter_dump(&emitter, &doc) || !yaml_emitter_close(&emitter)) {
        hrun_out_of_memory();
    } else if (hrun_yaml_parse("", text.data, text.len, schema, &again, NULL, &why)) {
        /* the data has a NaN, or breaks the table's rules */
        rc = hrun_fail(err, HRUN_EINVAL, "the data cannot be written as YAML: %s", why.text);
    } else {
        hrun_yaml_free(schema, again, NULL);
        rc = 0;
    }
    hrun_locale_leave(c, old);
    if (!rc)
        hrun_buf_add(out, text.data, text.len);
    return rc;
}
