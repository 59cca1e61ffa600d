/* yaml_place.c - nodes, paths and offsets to places in the text; see yaml.h for the contracts */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- walking over the text */

struct cursor {
    const char *p, *end;
    int line, column;     /* of p, from 1 */
};

/* Length of the line break at p, 0 if there is none. YAML 1.1 (section 4.1.2, as libyaml counts lines)
 * knows CR LF, CR, LF, NEL, LS and PS. */
static size_t break_at(const char *p, const char *end)
{
    size_t left = (size_t)(end - p);

    if (left >= 2 && p[0] == '\r' && p[1] == '\n')
        return 2;
    if (left >= 1 && (p[0] == '\r' || p[0] == '\n'))
        return 1;
    if (left >= 2 && !memcmp(p, "\xC2\x85", 2))
        return 2;
    if (left >= 3 && (!memcmp(p, "\xE2\x80\xA8", 3) || !memcmp(p, "\xE2\x80\xA9", 3)))
        return 3;
    return 0;
}

/* Bytes of the UTF-8 character at p, within end. */
static size_t char_at(const char *p, const char *end)
{
    unsigned char c = (unsigned char)*p;
    size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

    return n <= (size_t)(end - p) ? n : (size_t)(end - p);
}

static void step(struct cursor *c)
{
    size_t n = break_at(c->p, c->end);

    if (n) {
        c->line++;
        c->column = 1;
        c->p += n;
    } else {
        c->column++;
        c->p += char_at(c->p, c->end);
    }
}

static int is_blank(const struct cursor *c)
{
    return c->p < c->end && (*c->p == ' ' || *c->p == '\t');
}

static void skip_line(struct cursor *c)
{
    while (c->p < c->end && !break_at(c->p, c->end))
        step(c);
    if (c->p < c->end)
        step(c);
}

/* Nothing but blanks up to a break? */
static int blank_line(const struct cursor *c)
{
    struct cursor t = *c;

    while (is_blank(&t))
        step(&t);
    return t.p < t.end && break_at(t.p, t.end);
}

static struct cursor text_start(const struct hrun_yaml *y)
{
    struct cursor c = { y->text, y->text + y->len, 1, 1 };

    if (y->len >= 3 && !memcmp(y->text, "\xEF\xBB\xBF", 3))
        c.p += 3; /* a byte order mark is in front of the first column */
    return c;
}

void hrun_yaml_byte_place(const struct hrun_yaml *y, size_t byte, int *line, int *column)
{
    struct cursor c = text_start(y);

    while (c.p < c.end && (size_t)(c.p - y->text) < byte)
        step(&c);
    *line = c.line;
    *column = c.column;
}

/* ---------------------------------------------------------------- places inside scalars */

/* Source characters of the escape at c (a backslash that is not before a line break). */
static int escape_length(const struct cursor *c)
{
    char kind = c->end - c->p > 1 ? c->p[1] : 0;

    return kind == 'x' ? 4 : kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
}

/* Blanks and line breaks at c that YAML folds into one blank, or n breaks into n - 1: their value
 * characters, with *c behind them; 0 with *c unchanged when no break follows the blanks. */
static int fold(struct cursor *c)
{
    struct cursor t = *c;
    int breaks = 0;

    for (;;) {
        if (is_blank(&t))
            step(&t);
        else if (t.p < t.end && break_at(t.p, t.end)) {
            breaks++;
            step(&t);
        } else
            break;
    }
    if (!breaks)
        return 0;
    *c = t;
    return breaks == 1 ? 1 : breaks - 1;
}

/* Plain and quoted scalars: go over source and value together. */
static void place_flow(struct cursor *c, yaml_scalar_style_t style, int offset)
{
    int is_double = style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    int is_single = style == YAML_SINGLE_QUOTED_SCALAR_STYLE;

    if (is_double || is_single)
        step(c);
    for (int v = 0; c->p < c->end;) {
        int folded;
        if (is_double && *c->p == '\\' && c->end - c->p > 1 && break_at(c->p + 1, c->end)) {
            /* an escaped break joins the lines and the next line's indentation vanishes */
            step(c);
            step(c);
            while (is_blank(c))
                step(c);
            continue;
        }
        if (v >= offset)
            break;
        folded = is_blank(c) || break_at(c->p, c->end) ? fold(c) : 0;
        if (folded)
            v += folded;
        else {
            int n = 1;
            if (is_double && *c->p == '\\')
                n = escape_length(c);
            else if (is_single && c->end - c->p > 1 && c->p[0] == '\'' && c->p[1] == '\'')
                n = 2;
            for (; n > 0 && c->p < c->end; n--)
                step(c);
            v++;
        }
    }
}

/* Blanks in front of the first line of text that holds something else. */
static int first_indent(const char *p, const char *end)
{
    int indent = 0;

    for (; p < end && (*p == ' ' || *p == '\n' || *p == '\r'); p++)
        indent = *p == ' ' ? indent + 1 : 0;
    return indent;
}

/* Literal (|) and folded (>) scalars. */
static void place_block(struct cursor *c, const yaml_node_t *node, int offset)
{
    const char *v = (const char *)node->data.scalar.value, *vend = v + node->data.scalar.length;
    int folded = node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE, indent;

    skip_line(c);
    indent = first_indent(c->p, c->end) - first_indent(v, vend);
    if (indent < 0)
        indent = 0;
    for (int i = 0; i < indent && is_blank(c); i++)
        step(c);
    for (; offset > 0 && v < vend && c->p < c->end; offset--) {
        int at_break = break_at(c->p, c->end) != 0;
        if (at_break && folded) {
            /* one blank or some line feeds of the value stand for all breaks here */
            while (offset > 1 && *v == '\n' && v + 1 < vend && v[1] == '\n') {
                v++;
                offset--;
            }
            skip_line(c);
            while (blank_line(c))
                skip_line(c);
        } else
            step(c);
        if (at_break)
            for (int i = 0; i < indent && is_blank(c); i++)
                step(c);
        v += char_at(v, vend);
    }
}

void hrun_yaml_place(const struct hrun_yaml *y, const yaml_node_t *node, int offset, int *line, int *column)
{
    struct cursor c;
    size_t index = node->start_mark.index, stop;

    *line = (int)node->start_mark.line + 1;
    *column = (int)node->start_mark.column + 1;
    if (node->type != YAML_SCALAR_NODE || offset < 0)
        return;
    /* libyaml counts characters, CR LF being two */
    c = text_start(y);
    for (size_t i = 0; i < index && c.p < c.end; i++)
        c.p += char_at(c.p, c.end);
    stop = node->end_mark.index - index;
    c.line = *line;
    c.column = *column;
    if (node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE
        || node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE)
        place_block(&c, node, offset);
    else {
        const char *end = c.p;
        while (stop-- > 0 && end < c.end)
            end += char_at(end, c.end);
        c.end = end;
        place_flow(&c, node->data.scalar.style, offset);
    }
    *line = c.line;
    *column = c.column;
}

/* ---------------------------------------------------------------- paths */

/* The value of the longest key of map that begins path, with *path behind the key; NULL if none does. */
static yaml_node_t *follow_key(yaml_document_t *doc, yaml_node_t *map, const char **path)
{
    yaml_node_pair_t *pair;
    yaml_node_t *found = NULL;
    size_t best = 0;

    for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(doc, pair->key);
        const char *text;
        size_t len;
        if (key->type != YAML_SCALAR_NODE)
            continue;
        text = (const char *)key->data.scalar.value;
        len = strlen(text);
        if (len <= best || strncmp(*path, text, len) != 0 || !strchr(".[", (*path)[len]))
            continue; /* strchr finds the final NUL too */
        best = len;
        found = yaml_document_get_node(doc, pair->value);
    }
    *path += best;
    return found;
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
