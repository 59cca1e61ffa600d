/* yaml.c - parsing and loading; nodes, paths and offsets to places in the text; see yaml.h for the contracts */
#include "base/yaml.h"

#include "base/file.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest files are profiles: some hundred models of a dozen terms with their covariances are below 1 MiB. The
 * limit prevents that a device or a file of measurements, given by mistake, fills the memory. */
#define FILE_MAX ((size_t)16 << 20)

/* ---------------------------------------------------------------- places in the text */

static const char *text_start(const struct hrun_yaml *y)
{
    return y->text + (strncmp(y->text, "\xEF\xBB\xBF", 3) ? 0 : 3); /* column 1 is behind a byte order mark */
}

/* Line and column (from 1) of a byte of the text. */
static void byte_place(const struct hrun_yaml *y, size_t byte, int *line, int *column)
{
    const char *begin = text_start(y), *at = y->text + byte, *eol;

    for (*line = 1; begin < at && (eol = memchr(begin, '\n', (size_t)(at - begin))); ++*line)
        begin = eol + 1;
    *column = 1 + (begin < at ? (int)hrun_text_width(begin, (size_t)(at - begin)) : 0);
}

/* Place in a literal block (|), whose lines are the value's lines after some blanks. */
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

/* Place in a scalar of one line, which reaches from `begin` to `end` with its quotes. */
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

/* Line and column (from 1) of the character `offset` of a node's text; see hrun_yaml_fail. Offsets behind the end give
 * the end. Lists and mappings give their beginning. */
static void node_place(const struct hrun_yaml *y, const yaml_node_t *node, int offset, int *line, int *column)
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

/* The value of the key of map with which *path begins; *path then follows the key. NULL: no such key. */
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

/* The node at path (*whole = 1), or the deepest existing node on the way to it (*whole = 0). NULL: empty document. */
static yaml_node_t *find_node(const struct hrun_yaml *y, const char *path, int *whole)
{
    yaml_document_t *doc = (yaml_document_t *)&y->doc; /* libyaml's getters have no const argument */
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

/* ---------------------------------------------------------------- parsing */

static int syntax_error(const struct hrun_yaml *y, const yaml_parser_t *p, struct hrun_error *err)
{
    const char *problem = p->problem;
    int line = (int)p->problem_mark.line + 1, column = (int)p->problem_mark.column + 1;
    const char *hint = "";
    autofree char *context = NULL;

    /* libyaml has a text for every mistake, and reports some failed allocations without a text or code */
    if (p->error == YAML_MEMORY_ERROR || !problem)
        hrun_out_of_memory();
    if (p->error == YAML_READER_ERROR) {
        byte_place(y, p->problem_offset, &line, &column);
        return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column, "not a text in UTF-8: %s", problem);
    }
    if (strstr(problem, "tab character"))
        hint = "; indent with blanks";
    else if (strstr(problem, "cannot start any token"))
        hint = "; indent with blanks, not tabs, and put texts that begin with @, ` or % into quotes";
    if (p->context && p->context_mark.line != p->problem_mark.line)
        context = hrun_strf(" (%s that began on line %d)", p->context, (int)p->context_mark.line + 1);
    else if (p->context)
        context = hrun_strf(" (%s)", p->context);
    return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column, "not valid YAML: %s%s%s", problem,
                        context ? context : "", hint);
}

static void start_parser(yaml_parser_t *parser, const struct hrun_yaml *y)
{
    if (!yaml_parser_initialize(parser))
        hrun_out_of_memory();
    yaml_parser_set_input_string(parser, (const unsigned char *)y->text, y->len);
}

/* hrun's documents have eight levels at most; libyaml's time grows with the square of the depth. */
enum { DEPTH_MAX = 32 };

/* Refuse syntax errors, aliases, deep nesting and further documents, with their places, in one pass over the events.
 * Building the tree then fails only for lack of memory. Aliases are refused because libyaml's tree does not distinguish
 * them from their anchors, and because a few nested ones expand without bound. */
static int scan_events(const struct hrun_yaml *y, struct hrun_error *err)
{
    autorelease(yaml_parser_delete) yaml_parser_t parser;
    int documents = 0, depth = 0, ended = 0, rc = 0;

    start_parser(&parser, y);
    while (!ended && !rc) {
        yaml_event_t ev;
        int line, column;

        if (!yaml_parser_parse(&parser, &ev))
            return syntax_error(y, &parser, err);
        line = (int)ev.start_mark.line + 1;
        column = (int)ev.start_mark.column + 1;
        depth += ev.type == YAML_SEQUENCE_START_EVENT || ev.type == YAML_MAPPING_START_EVENT;
        depth -= ev.type == YAML_SEQUENCE_END_EVENT || ev.type == YAML_MAPPING_END_EVENT;
        ended = ev.type == YAML_STREAM_END_EVENT;
        if (depth > DEPTH_MAX)
            rc = hrun_fail_at(err, HRUN_EPARSE, y->name, line, column,
                              "lists and mappings are nested more than %d deep here", DEPTH_MAX);
        else if (ev.type == YAML_ALIAS_EVENT)
            rc = hrun_fail_at(err, HRUN_EPARSE, y->name, line, column,
                              "alias '*%s' is not supported: write the value again, or put a text that begins "
                              "with * into quotes", (char *)ev.data.alias.anchor);
        else if (ev.type == YAML_DOCUMENT_START_EVENT && documents++ > 0)
            rc = hrun_fail_at(err, HRUN_EPARSE, y->name, line, column,
                              "a second document begins here: a file holds one; remove the '---'");
        yaml_event_delete(&ev);
    }
    return rc;
}

static void tree_destroy(struct hrun_yaml *y)
{
    if (!y)
        return;
    if (y->has_doc)
        yaml_document_delete(&y->doc);
    free(y->name);
    free(y->text);
    free(y);
}

int hrun_yaml_parse(const char *name, const char *text, size_t len, const struct hrun_schema *schema, void **data,
                    struct hrun_yaml **marks, struct hrun_error *err)
{
    autorelease(yaml_parser_delete) yaml_parser_t parser;
    locale_t old, c = hrun_locale_enter(&old);
    struct hrun_yaml *y = xcalloc(1, sizeof *y);
    void *read = xcalloc(1, schema->size);
    int rc;

    y->name = xstrdup(name);
    y->text = xcalloc(len + 1, 1);
    memcpy(y->text, len ? text : "", len);
    y->len = len;
    start_parser(&parser, y);
    rc = scan_events(y, err);
    if (!rc && !(y->has_doc = yaml_parser_load(&parser, &y->doc)))
        rc = syntax_error(y, &parser, err);
    rc = rc || hrun_yaml_read(y, schema, read, err) ? -1 : 0;
    hrun_locale_leave(c, old);
    if (rc)
        hrun_yaml_free(schema, read, NULL);
    else
        *data = read;
    if (!rc && marks)
        *marks = y;
    else
        tree_destroy(y);
    return rc;
}

int hrun_yaml_load(const char *path, const struct hrun_schema *schema, void **data, struct hrun_yaml **marks,
                   struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    return hrun_file_read(path, FILE_MAX, &text, err) ? -1
           : hrun_yaml_parse(path, text.data, text.len, schema, data, marks, err);
}

int hrun_yaml_fail(const struct hrun_yaml *marks, const char *path, int offset, struct hrun_error *err,
                   enum hrun_code code, const char *fmt, ...)
{
    char text[HRUN_ERROR_TEXT];
    yaml_node_t *node;
    int line = 0, column = 0, whole;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (marks && path[0] && (node = find_node(marks, path, &whole)))
        node_place(marks, node, whole ? offset : -1, &line, &column);
    return hrun_fail_at(err, code, marks ? marks->name : NULL, line, column, "%s", text);
}

void hrun_yaml_free(const struct hrun_schema *schema, void *data, struct hrun_yaml *marks)
{
    if (data)
        hrun_yaml_release(schema->keys, data);
    free(data);
    tree_destroy(marks);
}

locale_t hrun_locale_enter(locale_t *old)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (!c)
        hrun_out_of_memory();
    *old = uselocale(c);
    return c;
}

void hrun_locale_leave(locale_t c, locale_t old)
{
    uselocale(old);
    freelocale(c);
}
