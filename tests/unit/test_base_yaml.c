/* YAML by schema: data, every kind of mistake with its exact place and words, places inside scalars */
#include "fixture.h"

#include "base/file.h"
#include "base/list.h"
#include "base/yaml.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum level { LEVEL_NODE, LEVEL_CORE = 3 };

struct file {
    char *path, *content;
};

struct terms {
    char **np;
    unsigned np_count;
};

struct doc {
    char *name, *title;
    int *procs;
    unsigned procs_count;
    double cost, *power;
    int64_t size;
    int slots, *on, level, *colours;
    unsigned colours_count;
    struct terms terms, *more;
    struct file *files;
    unsigned files_count;
    double *pair;
    unsigned pair_count;
};

static const struct hrun_word levels[] = { { "node", LEVEL_NODE }, { "core", LEVEL_CORE }, { NULL } };
static const struct hrun_word colours[] = { { "red", 1 }, { "green", 2 }, { NULL } };
static const struct hrun_key file_keys[] = {
    { HRUN_KEY("path", struct file, path), .max = 8 },
    { HRUN_KEY("content", struct file, content), .empty = 1, .optional = 1 }, { NULL }
};
static const struct hrun_key terms_keys[] = { { HRUN_KEY_LIST("np", struct terms, np, np_count), .min = 1 }, { NULL } };
static const struct hrun_key keys[] = {
    { HRUN_KEY("name", struct doc, name) },
    { HRUN_KEY("title", struct doc, title), .empty = 1, .optional = 1 },
    { HRUN_KEY_LIST("procs_per_pe", struct doc, procs, procs_count), .min = 1, .max = 3, .optional = 1 },
    { HRUN_KEY("cost", struct doc, cost), .optional = 1 },
    { HRUN_KEY("power", struct doc, power), .optional = 1 },
    { HRUN_KEY("slots", struct doc, slots), .optional = 1 },
    { HRUN_KEY("size", struct doc, size), .optional = 1 },
    { HRUN_KEY("on", struct doc, on), .optional = 1 },
    { HRUN_KEY("level", struct doc, level), .words = levels, .optional = 1 },
    { HRUN_KEY_LIST("colours", struct doc, colours, colours_count), .words = colours, .optional = 1 },
    { HRUN_KEY("terms", struct doc, terms), .keys = terms_keys, .optional = 1 },
    { HRUN_KEY_PTR("more", struct doc, more), .keys = terms_keys, .optional = 1, .flow = 1 },
    { HRUN_KEY_LIST("files", struct doc, files, files_count), .keys = file_keys, .optional = 1 },
    { HRUN_KEY_LIST("pair", struct doc, pair, pair_count), .min = 2, .max = 2, .optional = 1 },
    { NULL }
};
static const struct hrun_schema schema = { keys, sizeof(struct doc) };

static const struct hrun_key loose_keys[] = { { HRUN_KEY("a", struct doc, slots), .optional = 1 }, { NULL } };
static const struct hrun_schema loose = { loose_keys, sizeof(struct doc) };

static const char good[] =
    "# a comment\n"
    "name: hpl\n"
    "title:\n"
    "power: 3\n"
    "procs_per_pe: [1, +2, -3]\n"
    "cost: 1.5e-3\n"
    "slots: 255\n"
    "size: -9223372036854775807\n"
    "on: 7\n"
    "level: core\n"
    "colours: [green, red]\n"
    "terms:\n"
    "  np: [\"N^3/P\", 'P', 1/P]\n"
    "files:\n"
    "  - path: a\n"
    "    content: |\n"
    "      line one\n"
    "\n"
    "        line three\n"
    "  - {path: b}\n"
    "pair: [.5, 2.]\n"
    "more: {np: [1]}\n";

static int parse(const char *s, void **data, struct hrun_yaml **marks, struct hrun_error *err)
{
    return hrun_yaml_parse("f.yaml", s, strlen(s), &schema, data, marks, err);
}

static void test_good(void)
{
    struct hrun_error err = { 0 };
    struct hrun_yaml *marks = NULL;
    struct doc *d = NULL;
    struct hrun_buf once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;

    if (!ok(parse(good, (void **)&d, &marks, &err) == 0, "a document with every type loads")) {
        printf("# %d:%d %s\n", err.line, err.column, err.text);
        return;
    }
    is_str(d->name, "hpl", "text");
    is_str(d->title, "", "a text without a value is empty where the schema allows it");
    ok(d->power && *d->power == 3 && d->on && *d->on == 7, "pointers to numbers");
    ok(d->procs_count == 3 && d->procs[0] == 1 && d->procs[1] == 2 && d->procs[2] == -3,
       "list of whole numbers");
    ok(d->cost == 1.5e-3 && d->slots == 255 && d->size == -INT64_MAX, "numbers");
    ok(d->level == LEVEL_CORE && d->colours_count == 2 && d->colours[0] == 2 && d->colours[1] == 1, "words");
    is_str(d->terms.np[0], "N^3/P", "nested list of texts");
    is_str(d->files[0].content, "line one\n\n  line three\n", "block text");
    ok(d->files_count == 2 && !d->files[1].content && d->pair[0] == .5 && d->pair[1] == 2,
       "mappings in a list");
    ok(d->more && d->more->np_count == 1 && !strcmp(d->more->np[0], "1"), "a pointer to a mapping");

    if (!ok(hrun_yaml_print(&schema, d, &once, &err) == 0, "prints"))
        printf("# %s\n", err.text);
    hrun_yaml_free(&schema, d, marks);
    d = NULL;
    if (ok(parse(once.data, (void **)&d, NULL, &err) == 0, "what was printed loads, marks may be NULL")) {
        ok(d->cost == 1.5e-3 && d->size == -INT64_MAX && d->colours[0] == 2, "with the same values");
        is_str(d->files[0].content, "line one\n\n  line three\n", "and the same text");
        ok(hrun_yaml_print(&schema, d, &twice, &err) == 0 && !strcmp(once.data, twice.data),
           "printing is a fixed point");
    }
    hrun_yaml_free(&schema, d, NULL);
    hrun_buf_release(&once);
    hrun_buf_release(&twice);

    d = NULL;
    ok(hrun_yaml_parse("f", "{}", 2, &loose, (void **)&d, NULL, &err) == 0 && d && d->slots == 0 && !d->on,
       "a mapping without keys gives a zeroed struct");
    hrun_yaml_free(&loose, d, NULL);
    hrun_yaml_free(&loose, NULL, NULL);
}

/* One wrong document each: place and words. */
static void test_mistakes(void)
{
    static const struct { const char *text; int line, column; const char *want; } t[] = {
        { "", 1, 1, "the file is empty; it needs at least: name" },
        { "# only a comment\n", 1, 1, "the file is empty; it needs at least: name" },
        { "---\n...\n", 1, 1, "the file is empty; it needs at least: name" },
        { "- a\n", 1, 1, "the file must be a mapping (lines of 'key: value'), found a list" },
        { "hpl\n", 1, 1, "the file must be a mapping (lines of 'key: value'), found 'hpl'" },
        { "title: x\n", 1, 1, "the file lacks the key 'name': add it; it is a text" },
        { "name: a\n---\nname: b\n", 2, 1,
          "a second document begins here: a file holds one; remove the '---'" },
        { "name: a\nnmae: b\n", 2, 1, "unknown key 'nmae'; did you mean 'name'? (known: name, title, "
          "procs_per_pe, cost, power, slots, size, on, level, colours, terms, more, files, pair)" },
        { "name: a\nterms:\n  np: [a]\n  zz: 1\n", 4, 3, "unknown key 'zz' in 'terms'; known: np" },
        { "name: a\ncost: 1\nname: b\n", 3, 1, "'name' is listed twice, first on line 1: keep one" },
        { "name: a\nterms: {np: [a],\n  np: [b]}\n", 3, 3,
          "'terms.np' is listed twice, first on line 2: keep one" },
        { "name: a\n? [x]\n: 1\n", 2, 3, "a key must be a word, found a list" },
        { "name: a\n'': 1\n", 2, 1, "a key must be a word, found ''" },
        { "name:\n", 1, 6, "'name' must be a text, found nothing" },
        { "name: ''\n", 1, 7, "'name' must not be empty" },
        { "name: [a]\n", 1, 7, "'name' must be a text, found a list" },
        { "name: \"a\\0b\"\n", 1, 7, "'name' must not hold the character \\0" },
        { "name: a\nprocs_per_pe: two\n", 2, 15,
          "'procs_per_pe' must be a list of whole numbers, found 'two'" },
        { "name: a\nprocs_per_pe:\n", 2, 14,
          "'procs_per_pe' must be a list of whole numbers, found nothing" },
        { "name: a\nprocs_per_pe: []\n", 2, 15, "'procs_per_pe' must have at least 1 entry, found 0" },
        { "name: a\nprocs_per_pe: [1,2,3,4]\n", 2, 22,
          "'procs_per_pe' must have at most 3 entries, found 4" },
        { "name: a\nprocs_per_pe:\n - 1\n - two\n", 4, 4,
          "'procs_per_pe[1]' must be a whole number, found 'two'" },
        { "name: a\nprocs_per_pe: [1.5]\n", 2, 16, "'procs_per_pe[0]' must be a whole number, found '1.5'" },
        { "name: a\nprocs_per_pe: [12abc]\n", 2, 16,
          "'procs_per_pe[0]' must be a whole number, found '12abc'" },
        { "name: a\nprocs_per_pe: [0x10]\n", 2, 16,
          "'procs_per_pe[0]' must be a whole number, found '0x10'" },
        { "name: a\nprocs_per_pe: [010]\n", 2, 16,
          "'procs_per_pe[0]' must be a whole number, found '010' (write it without leading zeros)" },
        { "name: a\nprocs_per_pe: [2147483648]\n", 2, 16,
          "'procs_per_pe[0]' must be a whole number in -2147483648..2147483647, found '2147483648'" },
        { "name: a\nsize: 9223372036854775808\n", 2, 7, "'size' must be a whole number in "
          "-9223372036854775808..9223372036854775807, found '9223372036854775808'" },
        { "name: a\nslots: -2147483649\n", 2, 8,
          "'slots' must be a whole number in -2147483648..2147483647, found '-2147483649'" },
        { "name: a\nslots: {a: b}\n", 2, 8, "'slots' must be a whole number, found a mapping" },
        { "name: a\ncost: .nan\n", 2, 7, "'cost' must be a finite number, found '.nan'" },
        { "name: a\ncost: nan\n", 2, 7, "'cost' must be a finite number, found 'nan'" },
        { "name: a\ncost: -Inf\n", 2, 7, "'cost' must be a finite number, found '-Inf'" },
        { "name: a\ncost: 1e999\n", 2, 7,
          "'cost' must be a number below 1.79769e+308, found '1e999'" },
        { "name: a\ncost: 1.5x\n", 2, 7, "'cost' must be a number, found '1.5x'" },
        { "name: a\ncost: 0x1p3\n", 2, 7, "'cost' must be a number, found '0x1p3'" },
        { "name: a\ncost: 1e\n", 2, 7, "'cost' must be a number, found '1e'" },
        { "name: a\ncost: .\n", 2, 7, "'cost' must be a number, found '.'" },
        { "name: a\npair: [1]\n", 2, 7, "'pair' must have at least 2 entries, found 1" },
        { "name: a\npair: [1,2,3]\n", 2, 12, "'pair' must have at most 2 entries, found 3" },
        { "name: a\npair: [1,1e999]\n", 2, 10,
          "'pair[1]' must be a number below 1.79769e+308, found '1e999'" },
        { "name: a\non: maybe\n", 2, 5, "'on' must be a whole number, found 'maybe'" },
        { "name: a\nlevel: coer\n", 2, 8,
          "'level' must be one of node, core, found 'coer'; did you mean 'core'?" },
        { "name: a\nlevel: 3\n", 2, 8, "'level' must be one of node, core, found '3'" },
        { "name: a\nlevel: [core]\n", 2, 8, "'level' must be one of node, core, found a list" },
        { "name: a\ncolours: red\n", 2, 10, "'colours' must be a list of some of red, green, found 'red'" },
        { "name: a\ncolours: [red, blue]\n", 2, 16, "'colours[1]' must be one of red, green, found 'blue'" },
        { "name: a\ncolours: [[red]]\n", 2, 11, "'colours[0]' must be one of red, green, found a list" },
        { "name: a\nterms: {}\n", 2, 8, "'terms' lacks the key 'np': add it; it is a list of texts" },
        { "name: a\nfiles: [a]\n", 2, 9, "'files[0]' must be a mapping (lines of 'key: value'), found 'a'" },
        { "name: a\nfiles:\n- path: x\n- content: y\n", 4, 3,
          "'files[1]' lacks the key 'path': add it; it is a text" },
        { "name: a\nfiles:\n- path: much/too/long\n", 3, 9,
          "'files[0].path' must have at most 8 bytes, found 13" },
        { "name: a\ncost: a text that is so long that nobody wants to see all of it\n", 2, 7,
          "'cost' must be a number, found 'a text that is so long that nobody wants...'" },
        { "name: a\ncost: |\n  two\n  lines\n", 2, 7,
          "'cost' must be a number, found a text of several lines" },
        { "name: &x a\ntitle: *x\n", 2, 8,
          "alias '*x' is not supported: write the value again, or put a text "
          "that begins with * into quotes" },
        { "name: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[a]]]]\n", 1, 38,
          "lists and mappings are nested more than 32 deep here" },
        { "name: [a\n", 2, 1,
          "not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence "
          "that began on line 1)" },
        { "name: a\n\ttitle: b\n", 2, 1,
          "not valid YAML: found a tab character that violates indentation (while "
          "scanning a plain scalar that began on line 1); indent with blanks" },
        { "name: a\ntitle: @b\n", 2, 8, "not valid YAML: found character that cannot start any token (while "
          "scanning for the next token); indent with blanks, not tabs, and put texts that begin with @, ` or "
          "% into quotes" },
        { "name: a: b\n", 1, 8, "not valid YAML: mapping values are not allowed in this context" },
        { "name: a\ntitle: b\xff\n", 2, 9, "not a text in UTF-8: invalid leading UTF-8 octet" },
        { "name: a\ntitle: \x01\n", 2, 8, "not a text in UTF-8: control characters are not allowed" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_error err = { 0 };
        void *data = &err;
        struct hrun_yaml *marks = (void *)&err;
        int rc = parse(t[i].text, &data, &marks, &err);
        if (!ok(rc == -1 && err.code == HRUN_EPARSE && err.line == t[i].line && err.column == t[i].column
                && !strcmp(err.file, "f.yaml") && data == &err && marks == (void *)&err,
                "mistake %zu: at %d:%d, outputs untouched", i, t[i].line, t[i].column))
            printf("#   got rc %d, %d:%d for: %s\n", rc, err.line, err.column, t[i].text);
        is_str(err.text, t[i].want, "mistake %zu: its words", i);
    }
}

/* Line `line` of s, from 1; NULL if there are fewer. */
static const char *line_of(const char *s, int line)
{
    while (--line > 0 && s)
        if ((s = strchr(s, '\n')))
            s++;
    return s;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u; /* C11 7.22.2.2 */
    return *seed >> 16;
}

/* Random scalars of one line, and literal blocks: each letter of the value must be found at the place given for it. */
static void test_places(void)
{
    enum { ROUNDS = 600 };
    static const char *const heads[] = { "name: ", "name: '", "name: \"", "name: |\n",
                                         "name: |2-\n", "name: |+ # why\n" };
    unsigned seed = 7;
    int wrong = 0, letters = 0, loaded = 0;

    for (int round = 0; round < ROUNDS; round++) {
        unsigned style = next_random(&seed) % 6, words = 1 + next_random(&seed) % 12;
        int block = style > 2;
        struct hrun_buf s = HRUN_BUF_INIT;
        struct hrun_yaml *marks = NULL;
        struct hrun_error err = { 0 };
        struct doc *d = NULL;

        hrun_buf_adds(&s, "title: \xC3\xA4\n");
        hrun_buf_adds(&s, heads[style]);
        if (block)
            hrun_buf_adds(&s, "  ");
        for (unsigned w = 0; w < words; w++) {
            for (unsigned n = 1 + next_random(&seed) % 4; n > 0; n--)
                hrun_buf_addc(&s, (char)('a' + next_random(&seed) % 26));
            switch (next_random(&seed) % 8) {
            case 0:
                hrun_buf_adds(&s, "\xC3\xB6");
                break;
            case 1:
            case 2:
                hrun_buf_addn(&s, '\n', block ? 1 + next_random(&seed) % 3 : 0);
                hrun_buf_addn(&s, ' ', 2 + next_random(&seed) % 2 * 2);
                break;
            case 3:
                if (style == 1)
                    hrun_buf_adds(&s, "''");
                if (style == 2)
                    hrun_buf_adds(&s, "\\t");
                break;
            case 4:
                if (style == 2)
                    hrun_buf_adds(&s, "\\\"");
                break;
            default:
                hrun_buf_addn(&s, ' ', 1 + next_random(&seed) % 2);
            }
        }
        hrun_buf_adds(&s, style == 1 ? "'\n" : style == 2 ? "\"\n" : "z\n");
        if (parse(s.data, (void **)&d, &marks, &err)) {
            printf("# not loaded: %s\n%s\n", err.text, s.data);
        } else {
            int offset = 0;
            loaded++;
            for (const char *v = d->name; *v; v++) {
                const char *line;
                if (((unsigned char)*v & 0xC0) == 0x80)
                    continue;
                hrun_yaml_fail(marks, "name", offset++, &err, HRUN_EINVAL, "x");
                if (*v < 'a' || *v > 'z')
                    continue;
                letters++;
                line = line_of(s.data, err.line);
                /* columns are characters: step over the UTF-8 ones */
                for (int c = 1; line && c < err.column && *line; c++)
                    do
                        line++;
                    while (((unsigned char)*line & 0xC0) == 0x80);
                if (!line || *line != *v) {
                    if (wrong++ < 3)
                        printf("# style %u offset %d: '%c' not at %d:%d of\n%s\n# value %s\n", style,
                               offset - 1,
                               *v, err.line, err.column, s.data, d->name);
                }
            }
        }
        hrun_yaml_free(&schema, d, marks);
        hrun_buf_release(&s);
    }
    is_int(loaded, ROUNDS, "all random scalars load");
    ok(letters > 2 * ROUNDS, "with enough letters (%d)", letters);
    is_int(wrong, 0, "each letter is where its place says");
}

static void test_fail(void)
{
    static const struct { const char *path; int offset, line, column; } t[] = {
        { "", 0, 0, 0 }, { "name", 0, 2, 7 }, { "name", 2, 2, 9 }, { "name", 99, 2, 10 },
        { "terms.np", 0, 13, 7 },
        { "terms.np[0]", 0, 13, 9 }, { "terms.np[0]", 4, 13, 13 }, { "terms.np[0]", -1, 13, 8 },
        { "terms.np[1]", 0, 13, 18 }, { "terms.np[2]", 0, 13, 22 }, { "terms.np[7]", 3, 13, 7 },
        { "files[0].content", 0, 17, 7 }, { "files[0].content", 10, 19, 7 },
        { "files[0].content", 12, 19, 9 },
        { "files[0].content", -1, 16, 14 }, { "files[1].path", 0, 20, 12 }, { "files[1].content", 0, 20, 5 },
        { "more.np[0]", 0, 22, 13 }, { "nowhere.at[3].all", 5, 2, 1 }
    };
    struct hrun_error err = { 0 };
    struct hrun_yaml *marks = NULL;
    void *d = NULL;

    if (!ok(parse(good, &d, &marks, &err) == 0, "the good document loads"))
        return;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int rc = hrun_yaml_fail(marks, t[i].path, t[i].offset, &err, HRUN_EINVAL, "bad %d", 7);
        if (!ok(rc == -1 && err.code == HRUN_EINVAL && err.line == t[i].line && err.column == t[i].column
                && !strcmp(err.text, "bad 7") && !strcmp(err.file, "f.yaml"),
                "place of '%s' + %d is %d:%d", t[i].path, t[i].offset, t[i].line, t[i].column))
            printf("#   got %d:%d\n", err.line, err.column);
    }
    ok(hrun_yaml_fail(marks, "name", 0, NULL, HRUN_EINVAL, "x") == -1, "err may be NULL");
    hrun_yaml_free(&schema, d, marks);
}

static void test_print(void)
{
    struct hrun_error err = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct doc d = { .name = (char *)"x", .cost = NAN };
    char *np[] = { (char *)"1" };
    double values[] = { 0.1, 1 / 3.0, 5e-300, -DBL_MAX, 1e22, 123456789012345678.0 };
    int same = 1;

    d.terms.np = np;
    d.terms.np_count = 1;
    ok(hrun_yaml_print(&schema, &d, &out, &err) == -1 && err.code == HRUN_EINVAL && out.len == 0,
       "NaN is not printed");
    has_str(err.text, "'cost' must be a finite number", "and the message says which");
    d.cost = 0;
    d.name = (char *)"\xff";
    ok(hrun_yaml_print(&schema, &d, &out, &err) == -1 && err.code == HRUN_EINVAL && out.len == 0,
       "nor is a text that is not UTF-8");
    d.name = (char *)"";
    ok(hrun_yaml_print(&schema, &d, &out, &err) == -1 && err.code == HRUN_EINVAL,
       "nor what breaks the schema");
    d.name = (char *)"a: b # 'c' \"d\" \t\n  e\n";
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct doc *back = NULL;
        d.cost = values[i];
        hrun_buf_reset(&out);
        same &= case_holds(hrun_yaml_print(&schema, &d, &out, &err) == 0
                       && parse(out.data, (void **)&back, NULL, &err) == 0 && back->cost == values[i]
                       && strcmp(back->name, d.name) == 0, i);
        hrun_yaml_free(&schema, back, NULL);
    }
    ok(same, "numbers and odd texts come back exactly");
    hrun_buf_release(&out);
}

static void test_load(void)
{
    char *dir = temp_dir(), *path = hrun_strf("%s/a.yaml", dir);
    struct hrun_error err = { 0 };
    struct hrun_yaml *marks = NULL;
    struct doc *d = NULL;
    char line[600];

    ok(hrun_file_replace(path, "name: a\ncosts: 1\n", 17, 0600, &err) == 0, "a file to load");
    ok(hrun_yaml_load(path, &schema, (void **)&d, &marks, &err) == -1, "its mistake is found");
    snprintf(line, sizeof line, "%s:2:1: unknown key 'costs'; did you mean 'cost'?", path);
    has_str(hrun_error_format(&err, (char[512]){ 0 }, 512), line, "with file, line and column");
    ok(truncate(path, 8) == 0 && hrun_yaml_load(path, &schema, (void **)&d, &marks, &err) == 0,
       "the rest loads");
    hrun_yaml_free(&schema, d, marks);
    unlink(path);
    ok(hrun_yaml_load(path, &schema, (void **)&d, &marks, &err) == -1 && err.code == HRUN_ENOENT,
       "no such file");
    free(path);
    free(dir);
}

static void test_nearest(void)
{
    static const char *const known[] = { "hostfile", "host", "app", "np", "timeout" };
    static const struct { const char *word, *want; } t[] = {
        { "hostflie", "hostfile" }, { "hots", "host" }, { "APP", "app" }, { "timeuot", "timeout" },
        { "time", NULL },
        { "xyz", NULL }, { "", NULL }, { "n", NULL }, { "apq", "app" }, { "hostfiles", "hostfile" },
    };
    char longest[4000];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *got = hrun_nearest(t[i].word, known, 5);
        ok(got == t[i].want || (got && t[i].want && !strcmp(got, t[i].want)), "nearest to '%s'", t[i].word);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ok(!hrun_nearest(longest, known, 5), "a word of 4,000 letters is near nothing");
    ok(!hrun_nearest("a", NULL, 0), "nothing known");
}

/* Line ends and byte order mark of other systems. */
static void test_variants(void)
{
    static const struct { const char *text; int line, column; const char *want; } t[] = {
        { "\xEF\xBB\xBFname: [a]\r\n", 1, 7, "'name' must be a text, found a list" },
        { "name: ab\r\ncolours: [x]\r\n", 2, 11, "'colours[0]' must be one of red, green, found 'x'" },
        { "name: ab\rcolours: [x]\r", 2, 11, "'colours[0]' must be one of red, green, found 'x'" },
    };
    static const char crlf[] = "\xEF\xBB\xBFname:\r\n  \"a b\"\r\n",
    ls[] = "# \xE2\x80\xA8# \xC2\x85name: abc\n";
    struct hrun_error err = { 0 };
    struct hrun_yaml *marks = NULL;
    struct doc *d = NULL;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        void *none = NULL;
        ok(hrun_yaml_parse("f", t[i].text, strlen(t[i].text), &schema, &none, NULL, &err) == -1
           && err.line == t[i].line && err.column == t[i].column, "variant %zu: at %d:%d", i, t[i].line,
           t[i].column);
        is_str(err.text, t[i].want, "variant %zu: its words", i);
    }
    if (ok(hrun_yaml_parse("f", crlf, strlen(crlf), &schema, (void **)&d, &marks, &err) == 0,
           "mark and CR LF")) {
        is_str(d->name, "a b", "read well");
        hrun_yaml_fail(marks, "name", 2, &err, HRUN_EINVAL, "x");
        ok(err.line == 2 && err.column == 6, "with places");
    }
    hrun_yaml_free(&schema, d, marks);
    d = NULL;
    if (ok(hrun_yaml_parse("f", ls, strlen(ls), &schema, (void **)&d, &marks, &err) == 0, "LS and NEL")) {
        hrun_yaml_fail(marks, "name", 2, &err, HRUN_EINVAL, "x");
        ok(err.line == 3 && err.column == 9, "count as line breaks");
    }
    hrun_yaml_free(&schema, d, marks);
}

int main(void)
{
    test_variants();
    test_good();
    test_mistakes();
    test_fail();
    test_places();
    test_print();
    test_load();
    test_nearest();
    return tap_done();
}
