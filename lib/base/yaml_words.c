/* yaml_words.c - how messages call what is wanted and what was found; see yaml_tree.h for the contracts */
#include "base/yaml_tree.h"

#include <string.h>

void hrun_yaml_add_found(const yaml_node_t *node, struct hrun_buf *b)
{
    enum { SHOWN = 40 }; /* bytes: enough to know a value again on an 80-column line */

    const char *text = (const char *)node->data.scalar.value; /* of a scalar only */

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

void hrun_yaml_add_choices(const cyaml_schema_value_t *s, struct hrun_buf *b)
{
    for (uint32_t i = 0; i < s->enumeration.count; i++)
        hrun_buf_addf(b, "%s%s", i ? ", " : "", s->enumeration.strings[i].str);
}

void hrun_yaml_add_wanted(const cyaml_schema_value_t *s, struct hrun_buf *b)
{
    static const char *const one[CYAML__TYPE_COUNT] = {
        [CYAML_INT] = "a whole number", [CYAML_UINT] = "a whole number, 0 or more",
        [CYAML_BOOL] = "true or false", [CYAML_FLOAT] = "a number", [CYAML_STRING] = "a text",
        [CYAML_MAPPING] = "a mapping (lines of 'key: value')", [CYAML_BITFIELD] = "a mapping",
        [CYAML_IGNORE] = "a value"
    };
    static const char *const many[CYAML__TYPE_COUNT] = {
        [CYAML_INT] = "whole numbers", [CYAML_UINT] = "whole numbers, 0 or more",
        [CYAML_BOOL] = "true or false", [CYAML_FLOAT] = "numbers", [CYAML_STRING] = "texts",
        [CYAML_MAPPING] = "mappings", [CYAML_BITFIELD] = "mappings", [CYAML_SEQUENCE] = "lists",
        [CYAML_SEQUENCE_FIXED] = "lists", [CYAML_FLAGS] = "lists", [CYAML_IGNORE] = "values"
    };

    switch (s->type) {
    case CYAML_ENUM:
        hrun_buf_adds(b, "one of ");
        hrun_yaml_add_choices(s, b);
        break;
    case CYAML_FLAGS:
        hrun_buf_adds(b, "a list of some of ");
        hrun_yaml_add_choices(s, b);
        break;
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
        if (s->sequence.entry->type == CYAML_ENUM) {
            hrun_buf_adds(b, "a list of some of ");
            hrun_yaml_add_choices(s->sequence.entry, b);
        } else
            hrun_buf_addf(b, "a list of %s", many[s->sequence.entry->type]);
        break;
    default:
        hrun_buf_adds(b, one[s->type]);
    }
}
