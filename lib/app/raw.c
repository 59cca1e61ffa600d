/* raw.c - the format of app definitions as a libcyaml schema; hrun-app(5) describes it */
#include "app/internal.h"

/* Texts of any length (load.c checks empty ones), lists, lists that cannot be empty. The entries of a list are compared
 * with each other. */
enum { LIST_MAX = 1000, VARIANTS_MAX = 32 };
#define MUST CYAML_FLAG_POINTER
#define MAYBE (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, flags, type, member) CYAML_FIELD_STRING_PTR(key, flags, type, member, 0, CYAML_UNLIMITED)
#define LIST(key, flags, type, member, entry) \
    CYAML_FIELD_SEQUENCE(key, flags, type, member, entry, 0, LIST_MAX)
#define FULL_LIST(key, flags, type, member, entry) \
    CYAML_FIELD_SEQUENCE(key, flags, type, member, entry, 1, LIST_MAX)

static const cyaml_schema_value_t string_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)
};

static const cyaml_schema_value_t int_entry = {
    CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int)
};

static const cyaml_schema_value_t size_entry = {
    CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int64_t)
};

static const cyaml_schema_field_t terms_fields[] = {
    FULL_LIST("np", MUST, struct raw_terms, np, &string_entry),
    FULL_LIST("n", MUST, struct raw_terms, n, &string_entry),
    FULL_LIST("p", MAYBE, struct raw_terms, p, &string_entry),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t file_fields[] = {
    TEXT("path", MUST, struct raw_file, path),
    TEXT("content", MUST, struct raw_file, content),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t file_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_file, file_fields)
};

static const cyaml_schema_field_t time_fields[] = {
    TEXT("match", MUST, struct raw_time, match),
    TEXT("file", MAYBE, struct raw_time, file),
    TEXT("value", MAYBE, struct raw_time, value),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t const_fields[] = {
    TEXT("name", MUST, struct raw_const, name),
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct raw_const, value),
    TEXT("file", MAYBE, struct raw_const, file),
    CYAML_FIELD_INT("line", CYAML_FLAG_OPTIONAL, struct raw_const, line),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t const_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_const, const_fields)
};

static const cyaml_schema_field_t ring_fields[] = {
    TEXT("local", MUST, struct raw_ring, local),
    TEXT("step", MUST, struct raw_ring, step),
    TEXT("bytes", MUST, struct raw_ring, bytes),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t step_fields[] = {
    TEXT("name", MUST, struct raw_step, name),
    TEXT("is", MUST, struct raw_step, is),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t step_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_step, step_fields)
};

/* Of a variant: in place of the definition's. */
static const cyaml_schema_field_t value_fields[] = {
    TEXT("name", MUST, struct raw_const, name),
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct raw_const, value),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t value_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_const, value_fields)
};

static const cyaml_schema_field_t variant_fields[] = {
    TEXT("name", MUST, struct raw_variant, name),
    TEXT("title", MAYBE, struct raw_variant, title),
    TEXT("rule", MAYBE, struct raw_variant, rule),
    TEXT("memory", MAYBE, struct raw_variant, memory),
    LIST("args", MAYBE, struct raw_variant, args, &string_entry),
    LIST("constants", MAYBE, struct raw_variant, constants, &value_entry),
    CYAML_FIELD_MAPPING_PTR("terms", MAYBE, struct raw_variant, terms, terms_fields),
    LIST("where", MAYBE, struct raw_variant, where, &step_entry),
    TEXT("formula", MAYBE, struct raw_variant, formula),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t variant_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_variant, variant_fields)
};

static const cyaml_schema_field_t weak_fields[] = {
    TEXT("rows", MAYBE, struct raw_weak, rows),
    TEXT("unit", MAYBE, struct raw_weak, unit),
    TEXT("memory", MAYBE, struct raw_weak, memory),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t app_fields[] = {
    TEXT("name", MUST, struct raw_app, name),
    TEXT("title", MAYBE, struct raw_app, title),
    LIST("programs", MAYBE, struct raw_app, programs, &string_entry),
    TEXT("family", MAYBE, struct raw_app, family),
    TEXT("rule", MAYBE, struct raw_app, rule),
    FULL_LIST("procs_per_pe", MAYBE, struct raw_app, procs_per_pe, &int_entry),
    TEXT("memory", MAYBE, struct raw_app, memory),
    TEXT("threads", MAYBE, struct raw_app, threads),
    TEXT("pattern", MAYBE, struct raw_app, pattern),
    CYAML_FIELD_MAPPING_PTR("terms", MAYBE, struct raw_app, terms, terms_fields),
    CYAML_FIELD_MAPPING_PTR("ring", MAYBE, struct raw_app, ring, ring_fields),
    LIST("where", MAYBE, struct raw_app, where, &step_entry),
    TEXT("formula", MAYBE, struct raw_app, formula),
    CYAML_FIELD_SEQUENCE("variants", MAYBE, struct raw_app, variants, &variant_entry, 1, VARIANTS_MAX),
    CYAML_FIELD_MAPPING_PTR("weak", MAYBE, struct raw_app, weak, weak_fields),
    LIST("constants", MAYBE, struct raw_app, constants, &const_entry),
    LIST("derived", MAYBE, struct raw_app, derived, &step_entry),
    LIST("files", MAYBE, struct raw_app, files, &file_entry),
    LIST("args", MAYBE, struct raw_app, args, &string_entry),
    TEXT("stdin", MAYBE, struct raw_app, stdin_text),
    TEXT("scratch", MAYBE, struct raw_app, scratch),
    CYAML_FIELD_MAPPING_PTR("time", MAYBE, struct raw_app, time, time_fields),
    LIST("sizes", MAYBE, struct raw_app, sizes, &size_entry),
    CYAML_FIELD_END
};

const cyaml_schema_value_t hrun_app_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw_app, app_fields)
};
