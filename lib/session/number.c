/* number.c - a number among the words of a command that gives its size; see number.h */
#include "session/number.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* Words after this many are taken for names of files. */
enum { WORDS_MAX = 500 };

int64_t number_value(const char *text)
{
    int64_t N;

    return *text < '1' || *text > '9' || text[strspn(text, "0123456789")] ||
           hrun_parse_count("", text, 1, HRUN_COUNT_MAX, &N, NULL) ? 0 : N;
}

const char *number_at(char *const *words, int i)
{
    const char *eq = strrchr(words[i], '=');

    if (i < 1 || i > WORDS_MAX)
        return NULL;
    if (number_value(words[i]))
        return number_value(words[i - 1]) ? NULL : words[i];
    return eq && eq > words[i] && number_value(eq + 1) ? eq + 1 : NULL;
}

int number_is_open(char *const *words)
{
    for (; *words; words++)
        if (strstr(*words, "{N}"))
            return 1;
    return 0;
}

/* 1 if name[len] is the name `asked`, else 0. Leading dashes of `name` are ignored unless `asked` has some. */
static int is_name(const char *name, size_t len, const char *asked)
{
    if (*asked != '-')
        while (len && *name == '-') {
            name++;
            len--;
        }
    return len && strlen(asked) == len && !strncmp(name, asked, len);
}

/* Append the number with its name, as "x 20" or "nx=48". */
static void add_number_text(char *const *words, int i, const char *digits, struct hrun_buf *out)
{
    if (digits == words[i])
        hrun_buf_addf(out, "%s ", i == 1 ? hrun_base_name(words[0]) : words[i - 1]);
    hrun_buf_adds(out, words[i]);
}

/* Append the numbers of the command to the message of err. Result: -1. */
static int fail_listing(char *const *words, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    const struct hrun_error what = *err;
    const char *digits;

    for (int i = 1; words[i]; i++)
        if ((digits = number_at(words, i))) {
            hrun_buf_adds(&list, list.len ? ", " : "");
            add_number_text(words, i, digits, &list);
        }
    if (list.len)
        return hrun_fail(err, what.code, "%s; its numbers are: %s", what.text, list.data);
    return hrun_fail(err, what.code, "%s, nor another number: one is a word behind its name (-var x 20), or "
                     "NAME=NUMBER", what.text);
}

struct number *number_create(char *const *words, int i, const char *digits)
{
    struct number *n = xcalloc(1, sizeof *n);
    struct hrun_buf text = HRUN_BUF_INIT;
    int count = 0;

    while (words[count])
        count++;
    add_number_text(words, i, digits, &text);
    n->at = i;
    n->N = strtoll(digits, NULL, 10);
    n->text = hrun_buf_detach(&text);
    n->words = xcalloc((size_t)count + 1, sizeof *n->words);
    memcpy(n->words, words, (size_t)count * sizeof *n->words);
    n->words[i] = hrun_strf("%.*s{N}", (int)(digits - words[i]), words[i]);
    return n;
}

int number_find(char *const *words, const char *name, struct number **out, struct hrun_error *err)
{
    const char *other = NULL;
    int at = 0, several = 0;

    for (int i = 1; words[0] && words[i]; i++) {
        const char *eq = strrchr(words[i], '='), *before = words[i - 1];

        if (!(eq && is_name(words[i], (size_t)(eq - words[i]), name)) && !is_name(before, strlen(before), name) &&
            !(i == 1 && is_name(hrun_base_name(before), strlen(hrun_base_name(before)), name)))
            continue;
        if (!number_at(words, i))
            other = words[i];
        several |= at && number_at(words, i);
        at = number_at(words, i) ? i : at;
    }
    if (several)
        hrun_fail(err, HRUN_EINVAL, "the command has several '%s' (write {N} in place of the one that is meant, with "
                  "--new)", name);
    else if (!at && other)
        hrun_fail(err, HRUN_ENOENT, "'%s' is '%s' in the command, which has no whole number there from 1, without "
                  "leading zeros", name, other);
    else if (!at)
        hrun_fail(err, HRUN_ENOENT, "the command has no '%s'", name);
    if (several || !at)
        return fail_listing(words, err);
    *out = number_create(words, at, number_at(words, at));
    return 0;
}

/* 1 if the definition's argument expands to the word at size N for P = 1 and 2, else 0. */
static int matches_arg(const struct hrun_app *app, const char *arg, const char *word, int64_t N)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int same = 1;

    for (int P = 1; P <= 2 && same && strcmp(arg, word); P++) {
        hrun_buf_reset(&b);
        same = !hrun_app_expand(app, arg, &(struct hrun_app_values){ .N = N, .P = P }, &b, NULL) &&
               !strcmp(b.data, word);
    }
    return same;
}

/* If the words are the definition's `args` with a number in place of {N}, set c->number. Its words are then the program
 * alone, as hrun adds the args of a definition. With several variants set nothing, as their args may differ. */
static void find_in_args(struct context *c, char *const *words)
{
    const struct hrun_app *app = c->app;
    const char *digits = "";
    int n = 0, at = 0, same;
    int64_t N;

    while (words[n + 1])
        n++;
    if (n != app->run.nargs || (c->variants_of && !c->set->variant))
        return;
    for (int i = 1; i <= n && !at; i++) {
        const char *open = strstr(app->run.args[i - 1], "{N}");
        size_t before = open ? (size_t)(open - app->run.args[i - 1]) : 0;

        if (open && !strncmp(app->run.args[i - 1], words[i], before)) {
            digits = words[i] + before;
            at = i;
        }
    }
    N = strtoll(digits, NULL, 10);
    same = N > 0 && N <= HRUN_COUNT_MAX;
    for (int i = 1; i <= n && same; i++)
        same = matches_arg(app, app->run.args[i - 1], words[i], N);
    if (!same)
        return;
    c->number = number_create(words, at, digits);
    free(c->number->words[at]);
    memset(c->number->words + 1, 0, (size_t)n * sizeof *words);
}

int number_from_args(struct context *c, char *const *words, int64_t N, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    struct hrun_error why = { 0 };
    int i = app->sizes.in_command - 1;
    autofree char *name = NULL;

    if (i < 0)
        find_in_args(c, words);
    else if (strlen(app->run.args[i]) > strlen("={N}"))
        name = xstrndup(app->run.args[i], strlen(app->run.args[i]) - strlen("={N}"));
    else
        name = xstrdup(i ? app->run.args[i - 1] : hrun_base_name(words[0]));
    if (name)
        number_find(words, name, &c->number, &why);
    if (c->number && N && N != c->number->N)
        return hrun_fail(err, HRUN_EINVAL, "-N gives the size %lld, but '%s' gives %lld (definition %s): leave -N out, "
                         "or write {N} in place of that number; mpirun's -N, processes per node, is -npernode here",
                         (long long)N, c->number->text, (long long)c->number->N, app->name);
    return 0;
}

char *const *number_words(const struct context *c, char *const *words)
{
    return c->number ? c->number->words : words;
}

void number_destroy(struct number *n)
{
    if (!n)
        return;
    if (n->words)
        free(n->words[n->at]);
    free(n->words);
    free(n->text);
    free(n);
}
