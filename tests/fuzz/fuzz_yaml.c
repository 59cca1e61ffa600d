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
    double cost, *power;
    int slots, level;
    struct file *files;
    unsigned files_count;
};

static const struct hrun_word levels[] = { { "node", 0 }, { "core", 3 }, { NULL } };
static const struct hrun_key file_keys[] = {
    { HRUN_KEY("path", struct file, path), .max = 100 },
    { HRUN_KEY("content", struct file, content), .empty = 1, .optional = 1 }, { NULL }
};
static const struct hrun_key keys[] = {
    { HRUN_KEY("name", struct doc, name) },
    { HRUN_KEY("note", struct doc, note), .empty = 1, .optional = 1 },
    { HRUN_KEY_LIST("procs", struct doc, procs, procs_count), .min = 1, .max = 9, .optional = 1 },
    { HRUN_KEY("cost", struct doc, cost), .optional = 1 },
    { HRUN_KEY("power", struct doc, power), .optional = 1 },
    { HRUN_KEY("slots", struct doc, slots), .optional = 1 },
    { HRUN_KEY("level", struct doc, level), .words = levels, .optional = 1 },
    { HRUN_KEY_LIST("files", struct doc, files, files_count), .keys = file_keys, .optional = 1, .flow = 1 },
    { NULL }
};
static const struct hrun_schema schema = { keys, sizeof(struct doc) };

const char *const fuzz_seeds[] = {
    "name: hpl\nprocs: [1, 2]\ncost: 1.5e-3\nslots: 255\npower: 2\nlevel: core\n",
    "name: \"a\\\n  b \\u00e4\\x41\n\n  c\"\nnote: 'it''s\n  so'\n",
    "name: |\n  line\n\n    more\n  last\nnote: >-\n  folded\n  text\n\n  end\n",
    "name: plain\n  over lines\nnote: ~\nfiles:\n  - path: a\n    content: |2-\n        x\n"
    "  - {path: b}\n",
    "---\nname: a # comment\n...\n", "\xEF\xBB\xBFname: \xC3\xA4\r\nnote: b\r\n", "? name\n: x\n",
    "name: &a x\nnote: *a\n", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = { "", "name", "note", "procs[1]", "files[0].content", "files[1].path",
                                         "no.such[1]", "files[", "files[x]", ".name" };
    struct hrun_buf once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_yaml *marks = NULL;
    struct hrun_error err = { 0 };
    struct doc *d = NULL, *again = NULL;

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
