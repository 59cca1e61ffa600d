/* yaml_tree.h - the parsed document behind struct hrun_yaml; private to lib/base/yaml*.c
 *
 * Purpose: yaml.c parses, yaml_check.c walks schema and document together, yaml_place.c turns nodes and
 * paths into places in the text.
 * Invariants: text[len] is what was parsed, text[len] == 0; the document holds no aliases, so it is a tree.
 */
#ifndef HRUN_BASE_YAML_TREE_H
#define HRUN_BASE_YAML_TREE_H

#include "base/yaml.h"

#include <yaml.h>

struct hrun_yaml {
    char *name;            /* the file as messages call it */
    char *text;
    size_t len;
    yaml_document_t doc;
    int has_doc;           /* doc must be deleted */
};

/* Compare the whole document with the schema. 0, or -1 with the first mistake in reading order
 * (HRUN_EPARSE; HRUN_ENOMEM). */
int hrun_yaml_check(struct hrun_yaml *y, const cyaml_schema_value_t *schema, struct hrun_error *err);

/* The node at path, or the deepest one on the way to it when the path does not exist (*whole = 0).
 * NULL only when the document is empty. */
yaml_node_t *hrun_yaml_find(const struct hrun_yaml *y, const char *path, int *whole);

/* Line and column (from 1) of the character `offset` of a node's text. Exact for every scalar style;
 * offsets behind the end mean the end. For lists and mappings: their beginning. */
void hrun_yaml_place(const struct hrun_yaml *y, const yaml_node_t *node, int offset, int *line, int *column);

/* Line and column (from 1) of a byte of the text. */
void hrun_yaml_byte_place(const struct hrun_yaml *y, size_t byte, int *line, int *column);

/* Append "a list", "nothing", "'two'": a value as messages show it, long ones cut. */
void hrun_yaml_add_found(const yaml_node_t *node, struct hrun_buf *b);
/* Append "a whole number", "a list of texts": what a schema wants. */
void hrun_yaml_add_wanted(const cyaml_schema_value_t *s, struct hrun_buf *b);
/* Append the words of an enumeration or set of flags, comma-separated. */
void hrun_yaml_add_choices(const cyaml_schema_value_t *s, struct hrun_buf *b);

#endif
