/* yaml.h - schema-checked YAML with exact places of mistakes (libcyaml over libyaml)
 *
 * Purpose: load a file by a libcyaml schema, and be able to say afterwards where each value stood, so
 * that a mistake found later (a bad expression, say) names file, line and column.
 * Invariants:
 *   - the schema is the only description of a format: unknown, missing and duplicate keys, wrong types,
 *     empty files and several documents are found by walking schema and document together, each with
 *     its own line and column, and the message says what would be right (for an unknown key the nearest
 *     known one and the list of keys);
 *   - numbers that are NaN, infinite or out of range never pass.
 */
#ifndef HRUN_BASE_YAML_H
#define HRUN_BASE_YAML_H

#include "base/buf.h"
#include "base/error.h"
#include "base/nearest.h"

#include <cyaml/cyaml.h>

struct hrun_yaml; /* a loaded file: its name and the places of its values */

/* Load path by schema (a pointer to a mapping). Result: the data in *data (free with
 * hrun_yaml_free; never NULL, all zero when no key is set), the places in *marks (marks may be NULL).
 * Errors: HRUN_ENOENT, HRUN_EIO, HRUN_EINVAL (as hrun_file_read), HRUN_EPARSE, HRUN_ENOMEM.
 * Stricter than libcyaml: whole numbers are decimal without leading zeros, true/false/yes/no/on/off are the
 * only truth values, enumerations take no numbers, aliases (*name) are refused. A key without a value is
 * an empty text where the schema allows one, as libcyaml prints it. Fields of type CYAML_IGNORE hold
 * anything; see hrun_yaml_pair. */
int hrun_yaml_load(const char *path, const cyaml_schema_value_t *schema, void **data,
                   struct hrun_yaml **marks, struct hrun_error *err);

/* The same for text[len] in memory; name stands for the file in messages. */
int hrun_yaml_parse(const char *name, const char *text, size_t len, const cyaml_schema_value_t *schema,
                    void **data, struct hrun_yaml **marks, struct hrun_error *err);

/* Fill *err with the place of the value at path ("terms.np[3]", "" for the file itself) and a message.
 * offset: characters into the scalar's text (0 for its beginning, which for a quoted one is behind the
 * quote and for a block one the first line below; -1 for where the value itself begins). Where the path does
 * not exist, the place is that of its last part that does. Result: -1. */
int hrun_yaml_fail(const struct hrun_yaml *marks, const char *path, int offset, struct hrun_error *err,
                   enum hrun_code code, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The i-th pair (from 0, in the file's order) of the mapping at path: for mappings whose keys are free, which
 * the schema lets pass as CYAML_IGNORE (their keys are words and distinct all the same). *value is NULL
 * when it is no scalar. Result: 1, or 0 when there is no such pair. The strings live as long as marks. */
int hrun_yaml_pair(const struct hrun_yaml *marks, const char *path, size_t i, const char **key,
                   const char **value);

/* Serialise data by schema, appended to *out. Errors: HRUN_EINVAL, HRUN_ENOMEM. */
int hrun_yaml_print(const cyaml_schema_value_t *schema, const void *data, struct hrun_buf *out,
                    struct hrun_error *err);

/* Free what hrun_yaml_load gave; each may be NULL. */
void hrun_yaml_free(const cyaml_schema_value_t *schema, void *data, struct hrun_yaml *marks);

#endif
