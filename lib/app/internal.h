/* internal.h - what the files of lib/app share
 *
 * raw.c knows the format (the libcyaml schema), load.h and its files what it means, template.c the braces.
 */
#ifndef HRUN_APP_INTERNAL_H
#define HRUN_APP_INTERNAL_H

#include "app/app.h"
#include "base/yaml.h"

/* A definition as it stands in the file. Pointers are NULL where the file has nothing. */
struct raw_terms {
    char **np, **n, **p;
    unsigned np_count, n_count, p_count;
};

struct raw_file {
    char *path, *content;
};

struct raw_time {
    char *match, *file, *value;
};

struct raw_const {
    char *name, *file;
    double value;
    int line;
};

struct raw_ring {
    char *local, *step, *bytes;
};

struct raw_step {
    char *name, *is;
};

struct raw_variant {        /* what stands here replaces what the definition says */
    char *name, *title, *rule, *memory, *formula;
    char **args;
    unsigned args_count;
    struct raw_const *constants;    /* values of some of the definition's */
    unsigned constants_count;
    struct raw_terms *terms;
    struct raw_step *where;
    unsigned where_count;
};

struct raw_weak {
    char *rows, *unit, *memory;
};

struct raw_app {
    char *name, *title, *rule, *memory, *threads, *pattern, *family, *stdin_text, *scratch;
    char **programs, **args;
    unsigned programs_count, args_count;
    int *procs_per_pe;
    unsigned procs_per_pe_count;
    struct raw_terms *terms;
    struct raw_ring *ring;
    char *formula;
    struct raw_step *where;
    unsigned where_count;
    struct raw_variant *variants;
    unsigned variants_count;
    struct raw_weak *weak;
    struct raw_file *files;
    unsigned files_count;
    struct raw_time *time;
    struct raw_const *constants;
    unsigned constants_count;
    struct raw_step *derived;
    unsigned derived_count;
    int64_t *sizes;
    unsigned sizes_count;
};

extern const cyaml_schema_value_t hrun_app_schema;

/* The constant or derived value whose name is name[len]; NULL: there is none, or app is NULL. */
struct hrun_const *hrun_app_find_const(const struct hrun_app *app, const char *name, size_t len);

/* Check a template of app, whose constants are known already. Result: 0, or -1 with the text of *err, and
 * *offset the place of the mistake (characters into text). */
int hrun_template_check(const struct hrun_app *app, const char *text, int *offset, struct hrun_error *err);

/* Compile what stands under `ring`, with the constants of app, which are known already. Result: 0, or -1 with the text
 * of *err, its column (0: not known), and *key the key of the mistake. */
int hrun_app_compile_ring(const struct raw_ring *raw, struct hrun_app *app, const char **key, struct hrun_error *err);

/* Compile what stands under `weak` (NULL: nothing does), with the constants of app, which are known already. Result: 0,
 * or -1 with the text of *err, its column (0: not known), and *key the key of the mistake. */
int hrun_app_compile_weak(const struct raw_weak *raw, struct hrun_app *app, const char **key, struct hrun_error *err);

/* The value of a constant as it is written in templates and measurements: 15 digits, 17 where needed. */
void hrun_app_add_value(struct hrun_buf *out, double value);

#endif
