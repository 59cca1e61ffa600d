/* draft.c - the text of an app definition; see draft.h for the contract */
#include "app/draft.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 80 };     /* largest number of characters of a text that a message quotes */

/* Append a YAML scalar in single quotes; single quotes in it are doubled. */
static int add_quoted(const char *text, struct hrun_buf *out, struct hrun_error *err)
{
    hrun_buf_addc(out, '\'');
    for (const char *s = text; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 127)
            return hrun_fail(err, HRUN_EINVAL, "a control character (code %d) behind \"%.*s\" has no place in an app "
                             "definition", *s, s - text < SHOWN ? (int)(s - text) : SHOWN, text);
        if (*s == '\'')
            hrun_buf_addc(out, '\'');
        hrun_buf_addc(out, *s);
    }
    hrun_buf_addc(out, '\'');
    return 0;
}

/* "KEY: 'text'" */
static int add_text_key(const char *key, const char *text, struct hrun_buf *out, struct hrun_error *err)
{
    int rc;

    hrun_buf_addf(out, "%s: ", key);
    rc = add_quoted(text, out, err);
    hrun_buf_addc(out, '\n');
    return rc;
}

static void add_comment(const char *text, struct hrun_buf *out)
{
    size_t len;

    for (; text && *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        hrun_buf_adds(out, len ? "# " : "#");
        hrun_buf_add(out, text, len);
        hrun_buf_addc(out, '\n');
    }
}

/* "KEY: ['a', 'b']" */
static int add_flow_list(const char *key, char *const *v, size_t n, struct hrun_buf *out, struct hrun_error *err)
{
    hrun_buf_addf(out, "%s: [", key);
    for (size_t i = 0; i < n; i++) {
        hrun_buf_adds(out, i ? ", " : "");
        if (add_quoted(v[i], out, err))
            return -1;
    }
    hrun_buf_adds(out, "]\n");
    return 0;
}

/* Convert a word of a command line to a template of args. Only {N}, {P} and {shares} are templates in the word, so
 * other braces are doubled. {{N}, {{P} and {{shares} are literal text in word and template. */
static void add_template(struct hrun_strvec *v, const char *word)
{
    static const char *const begin[] = { "{N}", "{P}", "{shares}", "{shares:", "{{N}", "{{P}", "{{shares}",
                                         "{{shares:" };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (const char *s = word; *s;) {
        size_t len = 0;

        for (size_t i = 0; i < sizeof begin / sizeof *begin && !len; i++)
            if (!strncmp(s, begin[i], strlen(begin[i])))
                len = strlen(begin[i]);
        hrun_buf_add(&b, *s == '{' && !len ? "{" : "", *s == '{' && !len);
        hrun_buf_add(&b, s, len ? len : 1);
        s += len ? len : 1;
    }
    hrun_strvec_push(v, b.data);
}

/* With `units`, "/P" at the end of a term becomes "*W", the share of a process. */
static int print_terms(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec shared = HRUN_STRVEC_INIT;
    const struct hrun_strvec *np = d->units ? &shared : d->np;

    for (size_t i = 0; i < d->np->n && d->units; i++) {
        const char *term = d->np->v[i];
        size_t len = strlen(term);

        if (!strcmp(term, "1/P"))
            hrun_strvec_push(&shared, "W");
        else if (len > 2 && !strcmp(term + len - 2, "/P"))
            hrun_strvec_pushf(&shared, "%.*s*W", (int)len - 2, term);
        else
            hrun_strvec_push(&shared, term);
    }
    if (d->units)
        hrun_buf_addf(out, "shares: {units: \"%s\"}\n", d->units);
    add_comment(d->terms_comment, out);
    hrun_buf_adds(out, "terms:\n");
    return add_flow_list("  np", np->v, np->n, out, err) || add_flow_list("  n", d->n->v, d->n->n, out, err) ||
           add_flow_list("  p", d->p->v, d->p->n, out, err) ? -1 : 0;
}

static void print_procs(const int *procs, int n, struct hrun_buf *out)
{
    hrun_buf_adds(out, "procs_per_pe: [");
    for (int i = 0; i < n; i++)
        hrun_buf_addf(out, "%s%d", i ? ", " : "", procs[i]);
    hrun_buf_adds(out, "]\n");
}

static int print_time(const char *match, const char *file, const char *value, struct hrun_buf *out,
                      struct hrun_error *err)
{
    const char *const keys[] = { "time: {match: ", ", file: ", ", value: " }, *const texts[] = { match, file, value };

    for (int i = 0; i < 3 && match; i++) {
        hrun_buf_adds(out, texts[i] ? keys[i] : "");
        if (texts[i] && add_quoted(texts[i], out, err))
            return -1;
    }
    hrun_buf_adds(out, match ? "}\n" : "");
    return 0;
}

int hrun_app_print_shared(const struct hrun_app *app, struct hrun_buf *out, struct hrun_error *err)
{
    if (add_text_key("rule", hrun_expr_text(app->rule), out, err))
        return -1;
    if (!app->suits_pes)
        print_procs(app->procs_per_pe, app->nprocs_per_pe, out);
    return print_time(app->time.match, app->time.file, app->time.value ? hrun_expr_text(app->time.value) : NULL, out,
                      err);
}

int hrun_app_draft_print(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec args = HRUN_STRVEC_INIT;
    char *program = (char *)d->program;

    add_comment(d->comment, out);
    hrun_buf_addf(out, "name: %s\n", d->name);
    if ((d->title && add_text_key("title", d->title, out, err)) ||
        (d->program && add_flow_list("programs", &program, 1, out, err)))
        return -1;
    add_comment(d->rule_comment, out);
    if (add_text_key("rule", d->rule, out, err))
        return -1;
    hrun_buf_adds(out, d->in_command ? "size: number\nscratch: copy\n" : "");
    if (d->nprocs)
        print_procs(d->procs_per_pe, d->nprocs, out);
    if (print_terms(d, out, err))
        return -1;
    for (char *const *word = d->args; word && *word; word++)
        add_template(&args, *word);
    if ((args.n && add_flow_list("args", args.v, args.n, out, err)) ||
        print_time(d->time_match, d->time_file, d->time_value, out, err))
        return -1;
    for (int i = 0; i < d->nsizes; i++)
        hrun_buf_addf(out, "%s%lld%s", i ? ", " : "sizes: [", (long long)d->sizes[i], i < d->nsizes - 1 ? "" : "]\n");
    return 0;
}
