/* yaml.c - parsing, loading and printing; see yaml.h for the contracts */
#include "base/yaml.h"

#include "base/file.h"
#include "base/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Our largest files are profiles: some hundred models of a dozen terms with their covariances are below a
 * MiB. The limit keeps a device or a file of measurements given by mistake from filling the memory. */
#define FILE_MAX ((size_t)16 << 20)

static int syntax_error(const struct hrun_yaml *y, const yaml_parser_t *p, struct hrun_error *err)
{
    const char *problem = p->problem;
    int line = (int)p->problem_mark.line + 1, column = (int)p->problem_mark.column + 1;
    const char *hint = "";

    /* libyaml words every mistake, and some failed allocations without setting its code for them */
    if (p->error == YAML_MEMORY_ERROR || !problem)
        return hrun_fail_nomem(err);
    if (p->error == YAML_READER_ERROR) {
        hrun_yaml_byte_place(y, p->problem_offset, &line, &column);
        return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column, "not a text in UTF-8: %s", problem);
    }
    if (strstr(problem, "tab character"))
        hint = "; indent with blanks";
    else if (strstr(problem, "cannot start any token"))
        hint = "; indent with blanks, not tabs, and put texts that begin with @, ` or % into quotes";
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column,
                            "not valid YAML: %s (%s that began on line %d)%s", problem, p->context,
                            (int)p->context_mark.line + 1, hint);
    if (p->context)
        return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column, "not valid YAML: %s (%s)%s", problem,
                            p->context, hint);
    return hrun_fail_at(err, HRUN_EPARSE, y->name, line, column, "not valid YAML: %s%s", problem, hint);
}

/* Our schemas have eight levels at most; libyaml takes time by the square of the depth. */
enum { DEPTH_MAX = 32 };

/* Go once over the events: every syntax error, aliases, deep nesting and further documents are found here, with their
 * places, so that building the tree can only fail for lack of memory. Aliases are refused because libyaml's
 * tree does not tell them from their anchors, and because a few nested ones expand without bound. */
static int scan(const struct hrun_yaml *y, struct hrun_error *err)
{
    yaml_parser_t parser;
    yaml_event_t ev;
    int documents = 0, depth = 0, more = 1, rc = -1;

    if (!yaml_parser_initialize(&parser))
        return hrun_fail_nomem(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)y->text, y->len);
    while (more) {
        if (!yaml_parser_parse(&parser, &ev)) {
            syntax_error(y, &parser, err);
            goto out;
        }
        depth += ev.type == YAML_SEQUENCE_START_EVENT || ev.type == YAML_MAPPING_START_EVENT;
        depth -= ev.type == YAML_SEQUENCE_END_EVENT || ev.type == YAML_MAPPING_END_EVENT;
        if (depth > DEPTH_MAX) {
            hrun_fail_at(err, HRUN_EPARSE, y->name, (int)ev.start_mark.line + 1, (int)ev.start_mark.column + 1,
                         "lists and mappings are nested more than %d deep here", DEPTH_MAX);
            more = -1;
        } else if (ev.type == YAML_ALIAS_EVENT) {
            hrun_fail_at(err, HRUN_EPARSE, y->name, (int)ev.start_mark.line + 1,
                         (int)ev.start_mark.column + 1,
                         "alias '*%s' is not supported: write the value again, or put a text that begins "
                         "with * into quotes", (char *)ev.data.alias.anchor);
            more = -1;
        } else if (ev.type == YAML_DOCUMENT_START_EVENT && documents++ > 0) {
            hrun_fail_at(err, HRUN_EPARSE, y->name, (int)ev.start_mark.line + 1,
                         (int)ev.start_mark.column + 1,
                         "a second document begins here: a file holds one; remove the '---'");
            more = -1;
        } else if (ev.type == YAML_STREAM_END_EVENT)
            more = 0;
        yaml_event_delete(&ev);
        if (more < 0)
            goto out;
    }
    rc = 0;
out:
    yaml_parser_delete(&parser);
    return rc;
}

static int build(struct hrun_yaml *y, struct hrun_error *err)
{
    yaml_parser_t parser;
    int rc = 0;

    if (!yaml_parser_initialize(&parser))
        return hrun_fail_nomem(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)y->text, y->len);
    y->has_doc = yaml_parser_load(&parser, &y->doc);
    if (!y->has_doc)
        rc = syntax_error(y, &parser, err);
    yaml_parser_delete(&parser);
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

/* The document of text[len], checked by schema. NULL with *err. */
static struct hrun_yaml *tree_create(const char *name, const char *text, size_t len,
                                     const cyaml_schema_value_t *schema, struct hrun_error *err)
{
    struct hrun_yaml *y = calloc(1, sizeof *y);

    if (!y || !(y->name = strdup(name)) || !(y->text = malloc(len + 1))) {
        hrun_fail_nomem(err);
        goto fail;
    }
    if (len)
        memcpy(y->text, text, len);
    y->text[len] = 0;
    y->len = len;
    if (scan(y, err) || build(y, err) || hrun_yaml_check(y, schema, err))
        goto fail;
    return y;
fail:
    tree_destroy(y);
    return NULL;
}

/* libcyaml's first word on a failure, for the cases that our own walk does not know. */
static void keep_first(cyaml_log_t level, void *ctx, const char *fmt, va_list ap)
{
    struct hrun_buf *b = ctx;

    if (level == CYAML_LOG_ERROR && b->len == 0) {
        hrun_buf_vaddf(b, fmt, ap);
        while (b->len && b->data[b->len - 1] == '\n')
            b->data[--b->len] = 0;
    }
}

/* libcyaml passes libyaml's failed allocations on as failures of libyaml. Loading comes after our own scan
 * has found the text good, so that only memory is left as a reason. */
static int is_nomem(cyaml_err_t status, int loading)
{
    switch (status) {
    case CYAML_ERR_OOM:
    case CYAML_ERR_LIBYAML_EMITTER_INIT:
    case CYAML_ERR_LIBYAML_PARSER_INIT:
        return 1;
    case CYAML_ERR_LIBYAML_PARSER:
        return loading;
    default:
        return 0;
    }
}

static cyaml_config_t config(struct hrun_buf *log)
{
    cyaml_config_t cfg = {
        .log_fn = log ? keep_first : NULL, .log_ctx = log, .mem_fn = cyaml_mem,
        .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS
    };
    return cfg;
}

int hrun_yaml_parse(const char *name, const char *text, size_t len, const cyaml_schema_value_t *schema,
                    void **data, struct hrun_yaml **marks, struct hrun_error *err)
{
    struct hrun_buf log = HRUN_BUF_INIT;
    cyaml_config_t cfg = config(&log);
    struct hrun_yaml *y = tree_create(name, text, len, schema, err);
    void *loaded = NULL;
    cyaml_err_t status;
    int rc = -1;

    if (!y)
        return -1;
    status = cyaml_load_data((const uint8_t *)y->text, y->len, &cfg, schema, &loaded, NULL);
    if (status == CYAML_OK && !loaded)
        /* libcyaml gives no struct for a mapping without keys; cyaml_mem frees with free() */
        loaded = calloc(1, schema->data_size);
    if (is_nomem(status, 1) || (status == CYAML_OK && !loaded)) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (status != CYAML_OK) {
        hrun_fail_at(err, HRUN_EPARSE, name, 0, 0, "%s%s%s", cyaml_strerror(status), log.len ? ": " : "",
                     log.data);
        goto out;
    }
    *data = loaded;
    if (marks) {
        *marks = y;
        y = NULL;
    }
    rc = 0;
out:
    tree_destroy(y);
    hrun_buf_release(&log);
    return rc;
}

int hrun_yaml_load(const char *path, const cyaml_schema_value_t *schema, void **data,
                   struct hrun_yaml **marks, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = hrun_file_read(path, FILE_MAX, &text, err);

    if (!rc)
        rc = hrun_yaml_parse(path, text.data, text.len, schema, data, marks, err);
    hrun_buf_release(&text);
    return rc;
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
    if (marks && path[0] && (node = hrun_yaml_find(marks, path, &whole)))
        hrun_yaml_place(marks, node, whole ? offset : -1, &line, &column);
    return hrun_fail_at(err, code, marks ? marks->name : NULL, line, column, "%s", text);
}

int hrun_yaml_pair(const struct hrun_yaml *marks, const char *path, size_t i, const char **key,
                   const char **value)
{
    int whole;
    yaml_node_t *map = hrun_yaml_find(marks, path, &whole), *k, *v;
    yaml_document_t *doc = (yaml_document_t *)&marks->doc;
    yaml_node_pair_t *pair;

    if (!map || !whole || map->type != YAML_MAPPING_NODE)
        return 0;
    if (i >= (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start))
        return 0;
    pair = map->data.mapping.pairs.start + i;
    k = yaml_document_get_node(doc, pair->key);
    v = yaml_document_get_node(doc, pair->value);
    *key = (const char *)k->data.scalar.value;
    *value = v->type == YAML_SCALAR_NODE ? (const char *)v->data.scalar.value : NULL;
    return 1;
}

int hrun_yaml_print(const cyaml_schema_value_t *schema, const void *data, struct hrun_buf *out,
                    struct hrun_error *err)
{
    struct hrun_buf log = HRUN_BUF_INIT;
    cyaml_config_t cfg = config(&log);
    struct hrun_yaml *y = NULL;
    struct hrun_error why;
    char *text = NULL;
    size_t len = 0;
    cyaml_err_t status;
    int rc = -1, saved = errno, why_errno;

    /* libyaml fails alike for lack of memory and for texts that are not UTF-8; malloc leaves ENOMEM */
    errno = 0;
    status = cyaml_save_data(&text, &len, &cfg, schema, data, 0);
    why_errno = errno;
    errno = saved;
    if (is_nomem(status, 0) || (status != CYAML_OK && why_errno == ENOMEM)) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (status != CYAML_OK) {
        hrun_fail(err, HRUN_EINVAL, "the data cannot be written as YAML: %s%s%s", cyaml_strerror(status),
                  log.len ? ": " : "", log.data);
        goto out;
    }
    /* libcyaml writes NaN and infinity as readily as it reads them: what we could not load again is not
     * handed out. */
    y = tree_create("", text, len, schema, &why);
    if (!y) {
        hrun_fail(err, why.code == HRUN_ENOMEM ? HRUN_ENOMEM : HRUN_EINVAL, "%s%s",
                  why.code == HRUN_ENOMEM ? "" : "the data cannot be written as YAML: ", why.text);
        goto out;
    }
    hrun_buf_add(out, text, len);
    if (len && text[len - 1] != '\n')
        hrun_buf_addc(out, '\n');
    rc = out->failed ? hrun_fail_nomem(err) : 0;
out:
    tree_destroy(y);
    if (text)
        cyaml_mem(NULL, text, 0);
    hrun_buf_release(&log);
    return rc;
}

void hrun_yaml_free(const cyaml_schema_value_t *schema, void *data, struct hrun_yaml *marks)
{
    cyaml_config_t cfg = config(NULL);

    if (data)
        cyaml_free(&cfg, schema, data, 0);
    tree_destroy(marks);
}
