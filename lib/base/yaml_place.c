/* yaml_place.c - nodes, paths and offsets to places in the text; see yaml.h for the contracts */
#include "base/yaml.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- places in the text */

static const char *text_start(const struct hrun_yaml *y)
{
    return y->text + (strncmp(y->text, "\xEF\xBB\xBF", 3) ? 0 : 3); /* a byte order mark is in front of column 1 */
}

void hrun_yaml_byte_place(const struct hrun_yaml *y, size_t byte, int *line, int *column)
{
    const char *begin = text_start(y), *at = y->text + byte, *eol;

    for (*line = 1; begin < at && (eol = memchr(begin, '\n', (size_t)(at - begin))); ++*line)
        begin = eol + 1;
    *column = 1 + (begin < at ? (int)hrun_text_width(begin, (size_t)(at - begin)) : 0);
}

/* A line of a literal block (|) is its line of the value behind some blanks. */
static void place_literal(const char *source, const char *value, int offset, int *line, int *column)
{
    const char *at = hrun_skip_characters(value, (size_t)offset), *eol;

    for (;;) {
        source += strcspn(source, "\n");
        source += *source == '\n';
        ++*line;
        eol = memchr(value, '\n', (size_t)(at - value));
        if (!eol)
            break;
        value = eol + 1;
    }
    *column = 1 + (int)hrun_text_width(value, (size_t)(at - value))
              + (int)hrun_text_width(source, strcspn(source, "\r\n"))
              - (int)hrun_text_width(value, strcspn(value, "\n"));
}

/* From `begin` to `end` stand a scalar of one line and its quotes. */
static void place_in_line(const char *begin, const char *end, yaml_scalar_style_t style, int offset, int *column)
{
    const char *p = begin;

    if (style != YAML_PLAIN_SCALAR_STYLE) {
        p++;
        end--;
    }
    for (; offset > 0 && p < end; offset--) {
        if ((style == YAML_DOUBLE_QUOTED_SCALAR_STYLE && *p == '\\') ||
            (style == YAML_SINGLE_QUOTED_SCALAR_STYLE && *p == '\''))
            p++;
        p = hrun_skip_characters(p, 1);
    }
    *column += (int)hrun_text_width(begin, (size_t)(p - begin));
}

void hrun_yaml_place(const struct hrun_yaml *y, const yaml_node_t *node, int offset, int *line, int *column)
{
    const yaml_mark_t *start = &node->start_mark, *end = &node->end_mark;
    const char *source;

    *line = (int)start->line + 1;
    *column = (int)start->column + 1;
    if (node->type != YAML_SCALAR_NODE || offset < 0)
        return;
    source = hrun_skip_characters(text_start(y), start->index);
    if (node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE)
        place_literal(source, (const char *)node->data.scalar.value, offset, line, column);
    else if (start->line == end->line)
        place_in_line(source, hrun_skip_characters(source, end->index - start->index), node->data.scalar.style, offset,
                      column);
}

/* ---------------------------------------------------------------- paths */

/* The value of the key of map that begins path, with *path behind the key; NULL: there is none. */
static yaml_node_t *follow_key(yaml_document_t *doc, yaml_node_t *map, const char **path)
{
    size_t len = strcspn(*path, ".[");

    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(doc, pair->key);
        const char *text = (const char *)key->data.scalar.value;

        if (key->type == YAML_SCALAR_NODE && strlen(text) == len && !strncmp(*path, text, len)) {
            *path += len;
            return yaml_document_get_node(doc, pair->value);
        }
    }
    return NULL;
}

yaml_node_t *hrun_yaml_find(const struct hrun_yaml *y, const char *path, int *whole)
{
    yaml_document_t *doc = (yaml_document_t *)&y->doc; /* libyaml's getters take no const */
    yaml_node_t *node = yaml_document_get_root_node(doc), *next;

    *whole = 0;
    while (node && *path) {
        next = NULL;
        path += *path == '.';
        if (node->type == YAML_MAPPING_NODE)
            next = follow_key(doc, node, &path);
        else if (node->type == YAML_SEQUENCE_NODE && *path == '[') {
            char *rest;
            unsigned long i = strtoul(path + 1, &rest, 10);
            yaml_node_item_t *items = node->data.sequence.items.start;
            if (*rest == ']' && i < (unsigned long)(node->data.sequence.items.top - items)) {
                next = yaml_document_get_node(doc, items[i]);
                path = rest + 1;
            }
        }
        if (!next)
            return node;
        node = next;
    }
    *whole = node != NULL;
    return node;
}
