/* yaml.h - YAML documents read into structs, and written from them, by a table of their keys (over libyaml)
 *
 * Purpose: one table per document defines its keys, their types and the struct members that store them. The place of
 * each value is kept, so that later errors, for instance in an expression, name file, line and column.
 * Invariants:
 *   - unknown, missing and duplicate keys, wrong types, empty files without a required key and several documents are
 *     errors with line and column; the first in reading order is reported; the message contains the right form;
 *   - whole numbers are decimal without leading zeros; NaN, infinity and values out of range are refused;
 *   - aliases (*name) are refused;
 *   - printed documents can be read again, and give the same values.
 */
#ifndef HRUN_BASE_YAML_H
#define HRUN_BASE_YAML_H

#include "base/buf.h"
#include "base/error.h"

#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <yaml.h>

struct hrun_yaml; /* a document that was read: its name and the places of its values */

enum hrun_key_type { HRUN_KEY_TEXT, HRUN_KEY_INT, HRUN_KEY_INT64, HRUN_KEY_NUMBER, HRUN_KEY_MAPPING };

struct hrun_word {
    const char *word;               /* NULL ends the list */
    int value;
};

/* A key of a mapping. Write { HRUN_KEY("name", struct s, member), .optional = 1 }: the member's type gives the value's.
 * A member that is a pointer to a number or a mapping is NULL if the key is not given; other members are then 0.
 * A member of a member, and a number that may be missing:
 *     { HRUN_KEY("samples", struct models_file, m.nsamples) }           "samples: 12" is models_file.m.nsamples
 *     { HRUN_KEY("half", struct hrun_net_value, half), .sparse = 1 }    NAN is left out, and restored */
struct hrun_key {
    const char *name;               /* NULL ends the table */
    enum hrun_key_type type;        /* of a list: of its entries */
    size_t at;                      /* offset of the member */
    size_t size;                    /* size of the member's target in bytes; 0: the member is the value */
    size_t count_at;                /* list: offset of the number of entries, an unsigned */
    const struct hrun_key *keys;    /* of a mapping */
    const struct hrun_word *words;  /* the only values of an int */
    unsigned min, max;              /* list: entries; text: max bytes; 0: no limit */
    unsigned list : 1, optional : 1;
    unsigned empty : 1;             /* a text may be "" */
    unsigned sparse : 1;            /* an int 0 or a number NAN is left out; a missing key gives this value */
    unsigned flow : 1;              /* printed in one line: {a: 1} */
};

#define HRUN_KEY_TYPE(x) _Generic((x), char *: HRUN_KEY_TEXT, int: HRUN_KEY_INT, int *: HRUN_KEY_INT, \
    int64_t: HRUN_KEY_INT64, double: HRUN_KEY_NUMBER, double *: HRUN_KEY_NUMBER, default: HRUN_KEY_MAPPING)
/* Text, number, pointer to a number, or mapping. */
#define HRUN_KEY(key, s, m) .name = (key), .type = HRUN_KEY_TYPE(((s *)0)->m), .at = offsetof(s, m), \
    .size = _Generic(((s *)0)->m, int *: sizeof(int), double *: sizeof(double), default: 0)
/* A pointer to a mapping. */
#define HRUN_KEY_PTR(key, s, m) .name = (key), .type = HRUN_KEY_MAPPING, .at = offsetof(s, m), \
    .size = sizeof *((s *)0)->m
/* m points to the entries, whose number is member n. */
#define HRUN_KEY_LIST(key, s, m, n) .name = (key), .list = 1, .type = HRUN_KEY_TYPE(*((s *)0)->m), \
    .at = offsetof(s, m), .size = sizeof *((s *)0)->m, .count_at = offsetof(s, n)

struct hrun_schema {
    const struct hrun_key *keys;
    size_t size;                    /* of the struct, in bytes */
};

/* Read a file. Result: the struct in *data and the places in *marks (marks may be NULL), both freed by hrun_yaml_free;
 * on failure both are unchanged. A key without a value is an empty text if that is allowed.
 * Errors: HRUN_ENOENT, HRUN_EIO, HRUN_EINVAL (as hrun_file_read), HRUN_EPARSE. */
int hrun_yaml_load(const char *path, const struct hrun_schema *schema, void **data, struct hrun_yaml **marks,
                   struct hrun_error *err);

/* hrun_yaml_load for text[len] in memory; messages give name as the file. */
int hrun_yaml_parse(const char *name, const char *text, size_t len, const struct hrun_schema *schema, void **data,
                    struct hrun_yaml **marks, struct hrun_error *err);

/* Fill *err with the place of the value at path ("terms.np[3]", "" for the file itself) and a message.
 * offset: characters into the scalar's text (0: its first character, after a quote or on the line after "|"; -1: the
 * beginning of the value itself). Scalars of several lines without "|" always give the beginning of the value. If the
 * path does not exist, the place is that of its longest existing part. Result: -1. */
int hrun_yaml_fail(const struct hrun_yaml *marks, const char *path, int offset, struct hrun_error *err,
                   enum hrun_code code, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Append data as text. Optional keys without contents (NULL, "", no entries) are left out. Errors: HRUN_EINVAL
 * (the text could not be read again); *out is then unchanged. */
int hrun_yaml_print(const struct hrun_schema *schema, const void *data, struct hrun_buf *out, struct hrun_error *err);

/* Free a document that was read; each argument may be NULL. */
void hrun_yaml_free(const struct hrun_schema *schema, void *data, struct hrun_yaml *marks);

/* printf and strtod follow the locale, files must not: the calling thread's locale becomes "C" until
 * hrun_locale_leave. */
locale_t hrun_locale_enter(locale_t *old);
void hrun_locale_leave(locale_t c, locale_t old);

/* ---------------------------------------------------------------- yaml_tree
 *
 * The parsed document behind struct hrun_yaml; private to lib/base/yaml*.c
 *
 * Purpose: yaml.c parses, yaml_read.c fills structs by the table of keys.
 * Invariants: text[len] is the parsed text, text[len] == 0; the document contains no aliases, so it is a tree.
 */

struct hrun_yaml {
    char *name;            /* name of the file in messages */
    char *text;
    size_t len;
    yaml_document_t doc;
    int has_doc;           /* doc must be deleted */
};

/* Fill *data, which is zeroed, from the document. 0, or -1 with the first mistake in reading order (HRUN_EPARSE); the
 * caller releases the part filled until then. */
int hrun_yaml_read(struct hrun_yaml *y, const struct hrun_schema *schema, void *data, struct hrun_error *err);

/* The pointer stored in a member. */
static inline void *hrun_yaml_pointer(const char *member)
{
    void *p;

    memcpy(&p, member, sizeof p);
    return p;
}

/* Free what the members of a mapping own. */
void hrun_yaml_release(const struct hrun_key *keys, void *data);

#endif
