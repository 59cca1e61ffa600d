/* fuzz_yaml.c - any text: refused with words and a place in it, or loaded, printed and loaded to the same;
 * places of values lie inside the text */
#include "fuzz.h"

#include "base/yaml.h"

#include <string.h>

struct file {
    char *path, *content;
};

struct doc {
    char *name, *note;
    int *procs;
    unsigned procs_count;
    double cost;
    unsigned char slots;
    int on;
    int level;
    struct file *files;
    unsigned files_count;
};

static const cyaml_strval_t levels[] = { { "node", 0 }, { "core", 3 } };
static const cyaml_schema_value_t whole = { CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int) };
static const cyaml_schema_field_t file_fields[] = {
    CYAML_FIELD_STRING_PTR("path", CYAML_FLAG_POINTER, struct file, path, 1, 100),
    CYAML_FIELD_STRING_PTR("content", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, content, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_END
};
static const cyaml_schema_value_t file = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct file,
                                                               file_fields) };
static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct doc, name, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("note", CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL, struct doc, note, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("procs", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct doc, procs, &whole, 1, 9),
    CYAML_FIELD_FLOAT("cost", CYAML_FLAG_OPTIONAL, struct doc, cost),
    CYAML_FIELD_UINT("slots", CYAML_FLAG_OPTIONAL, struct doc, slots),
    CYAML_FIELD_BOOL("on", CYAML_FLAG_OPTIONAL, struct doc, on),
    CYAML_FIELD_ENUM("level", CYAML_FLAG_OPTIONAL, struct doc, level, levels, 2),
    CYAML_FIELD_SEQUENCE("files", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct doc, files, &file, 0,
                         CYAML_UNLIMITED),
    { .key = "free", .value = { .type = CYAML_IGNORE, .flags = CYAML_FLAG_OPTIONAL } },
    CYAML_FIELD_END
};
static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct doc, fields) };

const char *const fuzz_seeds[] = {
    "name: hpl\nprocs: [1, 2]\ncost: 1.5e-3\nslots: 255\non: yes\nlevel: core\n",
    "name: \"a\\\n  b \\u00e4\\x41\n\n  c\"\nnote: 'it''s\n  so'\n",
    "name: |\n  line\n\n    more\n  last\nnote: >-\n  folded\n  text\n\n  end\n",
    "name: plain\n  over lines\nnote: ~\nfiles:\n  - path: a\n    content: |2-\n        x\n"
    "  - {path: b}\nfree: {x: [1, {y: z}]}\n",
    "---\nname: a # comment\n...\n", "\xEF\xBB\xBFname: \xC3\xA4\r\nnote: b\r\n", "? name\n: x\n",
    "name: &a x\nnote: *a\n", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = { "", "name", "note", "procs[1]", "files[0].content", "files[1].path",
                                         "free.x[1].y",
                                         "no.such[1]", "files[", "files[x]", ".name" };
    struct hrun_buf once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_yaml *marks = NULL;
    struct hrun_error err = { 0 };
    struct doc *d = NULL, *again = NULL;
    const char *key, *value;

    if (hrun_yaml_parse("f", (const char *)data, size, &schema, (void **)&d, &marks, &err)) {
        FUZZ_CHECK(!d && !marks && err.text[0]);
        FUZZ_CHECK(err.code == HRUN_EPARSE && err.line >= 1 && err.column >= 1);
        FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 1);
        return 0;
    }
    FUZZ_CHECK(d && marks && d->name && d->name[0]);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int offset = -1; offset < 40; offset++) {
            hrun_yaml_fail(marks, paths[i], offset, &err, HRUN_EINVAL, "x");
            FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 2);
            FUZZ_CHECK(!paths[i][0] || (err.line >= 1 && err.column >= 1));
        }
    for (size_t i = 0; hrun_yaml_pair(marks, "free", i, &key, &value); i++)
        FUZZ_CHECK(key && key[0]);
    if (hrun_yaml_print(&schema, d, &once, &err) == 0) {
        FUZZ_CHECK(hrun_yaml_parse("f", once.data, once.len, &schema, (void **)&again, NULL, &err) == 0);
        FUZZ_CHECK(strcmp(again->name, d->name) == 0 && again->cost == d->cost && again->slots == d->slots);
        FUZZ_CHECK(again->procs_count == d->procs_count && again->files_count == d->files_count);
        FUZZ_CHECK(hrun_yaml_print(&schema, again, &twice, &err) == 0 && strcmp(once.data, twice.data) == 0);
    } else
        FUZZ_CHECK(err.code == HRUN_EINVAL);
    hrun_yaml_free(&schema, d, marks);
    hrun_yaml_free(&schema, again, NULL);
    hrun_buf_release(&once);
    hrun_buf_release(&twice);
    return 0;
}
