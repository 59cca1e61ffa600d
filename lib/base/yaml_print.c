/* yaml_print.c - a struct as a YAML document; see yaml.h for the contract */
#include "base/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct printer {
    yaml_emitter_t emitter;
    struct hrun_buf text;
};

static int print_mapping(struct printer *p, const struct hrun_key *keys, const char *data, int flow);

static int add_emitted(void *data, unsigned char *text, size_t len)
{
    hrun_buf_add(data, text, len);
    return 1;
}

/* Emit an event that was made; the emitter takes it. 1, or 0 as libyaml's functions. */
static int emit(struct printer *p, int made, yaml_event_t *event)
{
    return made && yaml_emitter_emit(&p->emitter, event);
}

static int print_scalar(struct printer *p, const char *text)
{
    yaml_event_t ev;

    return emit(p, yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
                                                YAML_ANY_SCALAR_STYLE), &ev);
}

/* The fewest digits that read as the same value. */
static int print_number(struct printer *p, double v)
{
    char text[40];

    snprintf(text, sizeof text, "%.15g", v);
    if (strtod(text, NULL) != v)
        snprintf(text, sizeof text, "%.17g", v);
    return print_scalar(p, text);
}

static int print_whole(struct printer *p, const struct hrun_key *k, const void *value)
{
    int64_t v = k->type == HRUN_KEY_INT ? *(const int *)value : *(const int64_t *)value;
    const struct hrun_word *w = k->words;
    char text[32];

    while (w && w->word && w->value != v)
        w++;
    snprintf(text, sizeof text, "%" PRId64, v);
    return print_scalar(p, w && w->word ? w->word : text);
}

static const void *member_pointer(const char *member)
{
    const void *v;

    memcpy(&v, member, sizeof v);
    return v;
}

static int print_value(struct printer *p, const struct hrun_key *k, const char *value)
{
    const char *text;

    switch (k->type) {
    case HRUN_KEY_TEXT:
        text = member_pointer(value);
        return print_scalar(p, text ? text : "");
    case HRUN_KEY_NUMBER:
        return print_number(p, *(const double *)(const void *)value);
    case HRUN_KEY_MAPPING:
        return print_mapping(p, k->keys, value, k->flow);
    default:
        return print_whole(p, k, value);
    }
}

static int print_list(struct printer *p, const struct hrun_key *k, const char *entries, unsigned n)
{
    yaml_event_t ev;

    if (!emit(p, yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE), &ev))
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (!print_value(p, k, entries + i * k->size))
            return 0;
    return emit(p, yaml_sequence_end_event_initialize(&ev), &ev);
}

static int is_key_omitted(const struct hrun_key *k, const char *value, unsigned n)
{
    const char *text;

    if (k->sparse)
        return k->type == HRUN_KEY_INT ? !*(const int *)(const void *)value
                                       : isnan(*(const double *)(const void *)value);
    if (!k->optional || k->list || !value)
        return k->optional && !n;
    text = k->type == HRUN_KEY_TEXT ? member_pointer(value) : NULL;
    return k->type == HRUN_KEY_TEXT && (!text || !*text);
}

static int print_key(struct printer *p, const struct hrun_key *k, const char *data)
{
    const char *member = data + k->at;
    const char *value = k->size ? member_pointer(member) : member;
    unsigned n = k->list ? *(const unsigned *)(const void *)(data + k->count_at) : 0;

    if (is_key_omitted(k, value, n))
        return 1;
    return print_scalar(p, k->name) && (k->list ? print_list(p, k, value, n) : print_value(p, k, value));
}

static int print_mapping(struct printer *p, const struct hrun_key *keys, const char *data, int flow)
{
    yaml_mapping_style_t style = flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
    yaml_event_t ev;

    if (!emit(p, yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1, style), &ev))
        return 0;
    for (; keys->name; keys++)
        if (!print_key(p, keys, data))
            return 0;
    return emit(p, yaml_mapping_end_event_initialize(&ev), &ev);
}

static int print_document(struct printer *p, const struct hrun_schema *schema, const void *data)
{
    yaml_event_t ev;

    return emit(p, yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING), &ev) &&
           emit(p, yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1), &ev) &&
           print_mapping(p, schema->keys, data, 0) &&
           emit(p, yaml_document_end_event_initialize(&ev, 1), &ev) &&
           emit(p, yaml_stream_end_event_initialize(&ev), &ev) && yaml_emitter_flush(&p->emitter);
}

/* The text, which a reader accepts: NaN and what breaks the table's rules are found so. 0 or -1. */
static int check_text(const struct hrun_schema *schema, const struct hrun_buf *text, struct hrun_error *err)
{
    struct hrun_error why = { .code = HRUN_OK };
    void *data = NULL;

    if (hrun_yaml_parse("", text->data, text->len, schema, &data, NULL, &why))
        return hrun_fail(err, HRUN_EINVAL, "the data cannot be written as YAML: %s", why.text);
    hrun_yaml_free(schema, data, NULL);
    return 0;
}

int hrun_yaml_print(const struct hrun_schema *schema, const void *data, struct hrun_buf *out, struct hrun_error *err)
{
    struct printer p = { .text = HRUN_BUF_INIT };
    locale_t old, c = hrun_locale_enter(&old);
    int rc;

    if (!yaml_emitter_initialize(&p.emitter))
        hrun_out_of_memory();
    yaml_emitter_set_output(&p.emitter, add_emitted, &p.text);
    yaml_emitter_set_unicode(&p.emitter, 1);
    /* libyaml fails alike for lack of memory and for texts that are not UTF-8; malloc leaves ENOMEM */
    errno = 0;
    if (print_document(&p, schema, data))
        rc = check_text(schema, &p.text, err);
    else if (errno == ENOMEM)
        hrun_out_of_memory();
    else
        rc = hrun_fail(err, HRUN_EINVAL, "the data cannot be written as YAML: a text is not UTF-8");
    yaml_emitter_delete(&p.emitter);
    hrun_locale_leave(c, old);
    if (!rc)
        hrun_buf_add(out, p.text.data, p.text.len);
    hrun_buf_release(&p.text);
    return rc;
}
