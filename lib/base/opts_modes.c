/* opts_modes.c - finding a command's mode, and refusing options without effect; see opts.h for the contracts */
#include "base/opts.h"

#include <stdio.h>
#include <string.h>

enum { MODES_MAX = 8 * sizeof ((struct hrun_opt *)0)->modes };

/* 1 if `word` is the option, alone ("dry-run") or with a value ("dry-run=time"); else 0. */
static int is_option(const struct hrun_opt *o, const char *word)
{
    size_t len = o->name ? strlen(o->name) : 0;

    return len && !strncmp(word, o->name, len) && (!word[len] || word[len] == '=');
}

/* 1 if the option was given, with the word's value if that has one; else 0. */
static int was_given(const struct hrun_opt *table, const struct hrun_opts_given *given, const char *word)
{
    const char *value = strchr(word, '=');

    for (size_t i = 0; table[i].name || table[i].sym; i++)
        if (given->rows[i] && is_option(&table[i], word) &&
            (!value || (given->values[i] && !strcmp(given->values[i], value + 1))))
            return 1;
    return 0;
}

/* The first of the names (NULL: there are none), up to a NULL, whose option was given, or NULL. */
static const char *first_given(const struct hrun_opt *table, const struct hrun_opts_given *given,
                               const char *const *names)
{
    while (names && *names && !was_given(table, given, *names))
        names++;
    return names ? *names : NULL;
}

int hrun_opts_mode(const struct hrun_opt *table, const struct hrun_opt_mode *modes,
                   const struct hrun_opts_given *given, const char *word)
{
    int i = 0;

    while ((modes[i].word && (!word || strcmp(modes[i].word, word))) ||
           (modes[i].option && !was_given(table, given, modes[i].option)))
        i++;
    return i;
}

/* "--top does nothing without --dry-run or --verbose": why, and `before` each of words[n]. */
static int fail_useless(const struct hrun_opt *o, const char *why, const char *before, const char *const *words,
                        size_t n, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;

    for (size_t i = 0; i < n; i++)
        hrun_buf_addf(&list, "%s%s%s", i ? i + 1 < n ? ", " : " or " : " ", before, words[i]);
    return hrun_fail(err, HRUN_EINVAL, "--%s does nothing %s%s", o->name, why, list.data);
}

static int fail_mode(const struct hrun_opt *o, const struct hrun_opt_mode *modes, int mode, struct hrun_error *err)
{
    const char *names[MODES_MAX];
    char why[128];
    size_t n = 0;

    /* Modes that the option alone asks for need not be named. */
    for (int i = 0; i < MODES_MAX; i++)
        if (o->modes >> i & 1 && (modes[i].word || !modes[i].option || !is_option(o, modes[i].option)))
            names[n++] = modes[i].name;
    snprintf(why, sizeof why, "for %s: leave it out%s", modes[mode].name, n ? "; it is for" : "");
    return fail_useless(o, why, "", names, n, err);
}

int hrun_opts_check(const struct hrun_opt *table, const struct hrun_opt_mode *modes, int mode,
                    const struct hrun_opts_given *given, struct hrun_error *err)
{
    const char *other;
    int rc = 0;

    for (const struct hrun_opt *o = table; (o->name || o->sym) && !rc; o++) {
        size_t n = 0;

        if (!given->rows[o - table])
            continue;
        if (!(o->modes >> mode & 1)) {
            rc = fail_mode(o, modes, mode, err);
        } else if ((other = first_given(table, given, o->against))) {
            rc = hrun_fail(err, HRUN_EINVAL, "--%s and --%s contradict each other: give one of them", o->name, other);
        } else if (o->needs && !first_given(table, given, o->needs)) {
            while (o->needs[n])
                n++;
            rc = fail_useless(o, "without", "--", o->needs, n, err);
        }
        if (rc && given->rows[o - table] == HRUN_OPT_SHORT)
            hrun_fail_prefix(err, "-%c", o->sym);
    }
    return rc;
}
