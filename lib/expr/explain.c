/* explain.c - muParser's error codes and places -> a sentence and a column; see explain.h for the contract */
#include "expr/explain.h"

#include "base/buf.h"
#include "base/yaml.h"
#include "expr/lazy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Values of enum EErrorCodes in muParserDef.h, a C++ header; without those that lazy.c makes
 * impossible. */
enum {
    MU_UNEXPECTED_OPERATOR = 0,
    MU_UNASSIGNABLE_TOKEN = 1,
    MU_UNEXPECTED_EOF = 2,
    MU_UNEXPECTED_VAL = 5,
    MU_UNEXPECTED_VAR = 6,
    MU_UNEXPECTED_PARENS = 7,
    MU_UNEXPECTED_FUN = 12,
    MU_TOO_MANY_PARAMS = 14,
    MU_TOO_FEW_PARAMS = 15
};

static int is_in(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], word))
            return 1;
    return 0;
}

/* The name, the number or the character at pos, for a message. */
static size_t token_length(const char *text, size_t pos)
{
    size_t len = 0;

    while (hrun_expr_is_word(text[pos + len]) || (len > 0 && text[pos + len] == '.'))
        len++;
    return len ? len : text[pos] != 0;
}

static int fail_unknown(const struct hrun_words *words, const char *text, size_t pos, struct hrun_error *err)
{
    struct hrun_buf list = HRUN_BUF_INIT;
    const char *const *names = words->names;
    const char *hint = NULL;
    size_t len = token_length(text, pos), after = pos + len, n = words->nnames;
    char *word = strndup(text + pos, len);
    int call;

    while (text[after] == ' ')
        after++;
    call = text[after] == '(';
    if (call) {
        names = words->functions;
        n = words->nfunctions;
    }
    for (size_t i = 0; i < n; i++)
        hrun_buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    if (word && !list.failed) {
        for (size_t i = 0; i < n && !hint; i++)
            hint = strcasecmp(word, names[i]) ? NULL : names[i];
        if (!hint)
            hint = hrun_nearest(word, names, n);
        if (!call && is_in(words->functions, words->nfunctions, word))
            hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "function '%s' needs its arguments in "
                         "parentheses", word);
        else
            hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "unknown %s '%s'%s%s%s (known: %s)",
                         call ? "function" : "variable", word, hint ? ", did you mean '" : "",
                         hint ? hint : "", hint ? "'?" : "", n ? list.data : "none");
    } else {
        hrun_fail_nomem(err);
    }
    free(word);
    hrun_buf_release(&list);
    return -1;
}

/* Too many or too few arguments: muParser's place is the closing parenthesis or behind it; the name of the
 * function is the better one. */
static int fail_arguments(const char *text, size_t pos, const char *which, struct hrun_error *err)
{
    size_t start, end, at = pos < strlen(text) ? pos : strlen(text) - 1;
    int depth;

    for (;; at--) {
        while (at > 0 && text[at] != ')')
            at--;
        depth = 0;
        for (end = at; end > 0; end--) {
            depth += text[end] == ')' ? 1 : text[end] == '(' ? -1 : 0;
            if (depth == 0)
                break;
        }
        while (end > 0 && text[end - 1] == ' ')
            end--;
        for (start = end; start > 0 && hrun_expr_is_word(text[start - 1]); start--)
            ;
        if (start < end || at == 0)
            break;
    }
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)start + 1, "too %s arguments for '%.*s'", which,
                        (int)(end - start), text + start);
}

int hrun_expr_explain(const char *text, int code, int place, const struct hrun_words *words,
                      struct hrun_error *err)
{
    size_t end = strlen(text), pos = (size_t)place, before;
    int len;

    while (end > 0 && text[end - 1] == ' ')
        end--;
    if (place < 0 || pos > end || code == MU_UNEXPECTED_EOF)
        pos = end;
    if (code == MU_TOO_MANY_PARAMS || code == MU_TOO_FEW_PARAMS)
        return fail_arguments(text, pos, code == MU_TOO_MANY_PARAMS ? "many" : "few", err);
    /* For a sign that it does not want, muParser's place is behind it. */
    if (code == MU_UNEXPECTED_OPERATOR && pos > 0 &&
        (!text[pos] || !strchr("*/^%<>=&|", text[pos])) && strncmp(text + pos, "!=", 2))
        pos--;
    if (pos == end)
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)end + 1, "the expression ends where a value is "
                            "expected");
    len = (int)token_length(text, pos);
    for (before = pos; before > 0 && text[before - 1] == ' '; before--)
        ;
    if (code == MU_UNASSIGNABLE_TOKEN && (isalpha((unsigned char)text[pos]) || text[pos] == '_') &&
        !(pos > 0 && (isdigit((unsigned char)text[pos - 1]) || text[pos - 1] == '.')))
        return fail_unknown(words, text, pos, err);
    if (code == MU_UNASSIGNABLE_TOKEN && (isdigit((unsigned char)text[pos]) || text[pos] == '.'))
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "'%.*s' is not a number", len,
                            text + pos);
    if (code == MU_UNEXPECTED_PARENS && text[pos] == '(' && before > 0 && hrun_expr_is_word(text[before - 1])) {
        size_t name = before;

        while (name > 0 && hrun_expr_is_word(text[name - 1]))
            name--;
        if (!isdigit((unsigned char)text[name]))
            return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)name + 1, "'%.*s' is not a function",
                                (int)(before - name), text + name);
    }
    if (code == MU_UNEXPECTED_VAL || code == MU_UNEXPECTED_VAR || code == MU_UNEXPECTED_FUN ||
        (code == MU_UNEXPECTED_PARENS && text[pos] == '('))
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "an operator is missing before '%.*s'",
                            len, text + pos);
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "unexpected '%.*s'", len, text + pos);
}
