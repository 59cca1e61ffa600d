/* yaml_tree.h - the parsed document behind struct hrun_yaml; private to lib/base/yaml*.c
 *
 * Purpose: yaml.c parses, yaml_read.c fills structs by the table of keys, yaml_place.c turns nodes and paths into
 * places in the text.
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

/* Fill *data, which is zeroed, from the document. 0, or -1 with the first mistake in reading order (HRUN_EPARSE;
 * HRUN_ENOMEM); what was filled until then is the caller's to release. */
int hrun_yaml_read(struct hrun_yaml *y, const struct hrun_schema *schema, void *data, struct hrun_error *err);

/* Free what the members of a mapping own. */
void hrun_yaml_release(const struct hrun_key *keys, void *data);

/* The node at path, or the deepest one on the way to it when the path does not exist (*whole = 0).
 * NULL only when the document is empty. */
yaml_node_t *hrun_yaml_find(const struct hrun_yaml *y, const char *path, int *whole);

/* Line and column (from 1) of the character `offset` of a node's text. Exact for every scalar style;
 * offsets behind the end mean the end. For lists and mappings: their beginning. */
void hrun_yaml_place(const struct hrun_yaml *y, const yaml_node_t *node, int offset, int *line, int *column);

/* Line and column (from 1) of a byte of the text. */
void hrun_yaml_byte_place(const struct hrun_yaml *y, size_t byte, int *line, int *column);

#endif
