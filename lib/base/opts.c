/* opts.c - parsing by the option table, finding a command's mode, refusing options without effect; see opts.h for the
 * contracts */
#include "base/opts.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hrun_opt_flag(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    (void)value;
    (void)err;
    *(int *)((char *)settings + opt->offset) = 1;
    return 0;
}

int hrun_opt_string(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    (void)err;
    *(const char **)((char *)settings + opt->offset) = value;
    return 0;
}

int hrun_opt_append(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct hrun_strvec *list = (struct hrun_strvec *)((char *)settings + opt->offset);
    const char *between = opt->meta ? strpbrk(opt->meta, "=:[") : NULL, *at;

    if (between && *between != '[' && (!(at = strchr(value, *between)) || at == value))
        return hrun_fail(err, HRUN_EINVAL, "--%s needs %s, not '%s'", opt->name, opt->meta, value);
    hrun_strvec_push(list, value);
    return 0;
}

/* ---------------------------------------------------------------- the table in getopt's form */

struct parser {
    const struct hrun_opt *table;
    size_t n;
    struct option *longs;   /* one per row with a name; val is LONG_BASE + row */
    char *shorts;
};

enum { LONG_BASE = 256 };   /* above every character: values from here on are long options */

static void parser_release(struct parser *p)
{
    free(p->longs);
    free(p->shorts);
}

static void parser_init(struct parser *p, const struct hrun_opt *table)
{
    size_t nlong = 0, nshort = 0;

    p->table = table;
    for (p->n = 0; p->n < HRUN_OPTS_MAX && (table[p->n].name || table[p->n].sym); p->n++)
        ;
    p->longs = xcalloc(p->n + 1, sizeof *p->longs);
    p->shorts = xmalloc(3 + 2 * p->n);
    p->shorts[nshort++] = '+'; /* stop at the first word that is not an option */
    p->shorts[nshort++] = ':'; /* getopt returns ':' for a missing value */
    for (size_t i = 0; i < p->n; i++) {
        int has_arg = table[i].arg == HRUN_OPT_NONE ? no_argument
                    : table[i].optional ? optional_argument : required_argument;
        if (table[i].name)
            p->longs[nlong++] = (struct option){ table[i].name, has_arg, NULL, LONG_BASE + (int)i };
        if (table[i].sym) {
            p->shorts[nshort++] = table[i].sym;
            if (has_arg == required_argument)
                p->shorts[nshort++] = ':';
        }
    }
    p->shorts[nshort] = 0;
}

static const struct hrun_opt *find_option_row(const struct parser *p, int val)
{
    if (val >= LONG_BASE)
        return &p->table[val - LONG_BASE];
    for (size_t i = 0; i < p->n; i++)
        if (p->table[i].sym && (unsigned char)p->table[i].sym == val)
            return &p->table[i];
    return NULL;
}

/* Append the option as messages name it: "--app", "-n". val: getopt's result for the form used. */
static void add_usage(const struct hrun_opt *opt, int val, struct hrun_buf *b)
{
    if (val >= LONG_BASE)
        hrun_buf_addf(b, "--%s", opt->name);
    else
        hrun_buf_addf(b, "-%c", opt->sym);
}

/* ---------------------------------------------------------------- messages */

/* Report an option that getopt refuses: an ambiguous prefix, or an unknown name. */
static int fail_unknown_option(const struct parser *p, const char *word, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT, name = HRUN_BUF_INIT;
    autofree const char **known = xcalloc(p->n + 1, sizeof *known);
    const char *near, *text = word;
    size_t nknown = 0, nmatch = 0;

    text += text[0] == '-';
    text += text[0] == '-';
    hrun_buf_add(&name, text, strcspn(text, "="));
    for (size_t i = 0; i < p->n; i++)
        if (p->table[i].name) {
            known[nknown++] = p->table[i].name;
            nmatch += strncmp(p->table[i].name, name.data, name.len) == 0;
        }
    if (name.len && nmatch > 1) {
        const char *sep = ": ";
        hrun_buf_addf(&b, "option '%s' could mean several", word);
        for (size_t i = 0; i < nknown; i++)
            if (strncmp(known[i], name.data, name.len) == 0) {
                hrun_buf_addf(&b, "%s--%s", sep, known[i]);
                sep = ", ";
            }
    } else {
        near = hrun_nearest(name.data, known, nknown);
        hrun_buf_addf(&b, "unknown option '%s'", word);
        if (near)
            hrun_buf_addf(&b, "; did you mean '--%s'?", near);
        else
            hrun_buf_adds(&b, "; --help lists all");
    }
    return hrun_fail(err, HRUN_EINVAL, "%s", b.data);
}

static int fail_missing(const struct hrun_opt *opt, int val, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_adds(&b, "option '");
    add_usage(opt, val, &b);
    hrun_buf_adds(&b, opt->arg == HRUN_OPT_PAIR ? "' needs two values: " : "' needs a value: ");
    add_usage(opt, val, &b);
    hrun_buf_addf(&b, " %s", opt->meta ? opt->meta : opt->arg == HRUN_OPT_PAIR ? "KEY VALUE" : "VALUE");
    if (opt->arg == HRUN_OPT_CHOICE)
        hrun_buf_addf(&b, " (one of %s)", opt->choices);
    return hrun_fail(err, HRUN_EINVAL, "%s", b.data);
}

/* Check that value is one of the blank-separated choices. 0, or -1 with *err. */
static int check_choice(const struct hrun_opt *opt, const char *as, const char *value, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree char *copy = xstrdup(opt->choices);
    char *save = NULL;
    const char *near;

    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (strcmp(w, value) == 0)
            return 0;
        hrun_strvec_push(&words, w);
    }
    hrun_buf_addf(&b, "option '%s' must be one of", as);
    for (size_t i = 0; i < words.n; i++)
        hrun_buf_addf(&b, "%s %s", i ? "," : "", words.v[i]);
    hrun_buf_addf(&b, ", found '%s'", value);
    near = hrun_nearest(value, (const char *const *)words.v, words.n);
    if (near)
        hrun_buf_addf(&b, "; did you mean '%s'?", near);
    return hrun_fail(err, HRUN_EINVAL, "%s", b.data);
}

/* ---------------------------------------------------------------- parsing */

int hrun_opt_apply(const struct hrun_opt *opt, const char *as, void *settings, const char *value,
                   struct hrun_error *err)
{
    void *member = (char *)settings + opt->offset;

    if (opt->optional && !value && opt->arg != HRUN_OPT_WORD) {
        if (opt->arg == HRUN_OPT_TIME)
            *(double *)member = INFINITY;
        else if (opt->arg == HRUN_OPT_COUNT)
            *(int64_t *)member = -1;
        else
            *(const char **)member = opt->choices;
        return 0;
    }
    switch (opt->arg) {
    case HRUN_OPT_COUNT:
        return hrun_parse_count(as, value, opt->min, opt->max, member, err);
    case HRUN_OPT_NUMBER:
        return hrun_parse_positive(as, value, member, err);
    case HRUN_OPT_PERCENT:
        if (opt->min < 0 && (!strcmp(value, "0") || !strcmp(value, "0%"))) {
            *(double *)member = -1;
            return 0;
        }
        return hrun_parse_percent(as, value, member, err);
    case HRUN_OPT_TIME:
        return hrun_parse_duration(as, value, member, err);
    case HRUN_OPT_CHOICE:
        if (check_choice(opt, as, value, err))
            return -1;
        /* fall through */
    default:
        return opt->apply(settings, opt, value, err);
    }
}

/* 1 if text is a value of this kind, else 0. */
static int is_value(const struct hrun_opt *opt, const char *text)
{
    double number;
    int64_t count;

    switch (opt->arg) {
    case HRUN_OPT_WORD:   /* an optional word is a number or a time */
    case HRUN_OPT_TIME: return !hrun_parse_duration("", text, &number, NULL);
    case HRUN_OPT_COUNT: return !hrun_parse_count("", text, opt->min, opt->max, &count, NULL);
    case HRUN_OPT_CHOICE: return !check_choice(opt, "", text, NULL);
    default: return 0;
    }
}

int hrun_opts_parse(const struct hrun_opt *table, void *settings, int argc, char **argv,
                    struct hrun_opts_given *given, struct hrun_error *err)
{
    autorelease(parser_release) struct parser p;
    autorelease(hrun_buf_release) struct hrun_buf as = HRUN_BUF_INIT;
    const struct hrun_opt *last = NULL;
    char *pair;
    int val, at;

    parser_init(&p, table);
    optind = 0; /* 0: glibc starts anew, also after an unfinished parse */
    opterr = 0;
    for (;;) {
        at = optind ? optind : 1;
        val = getopt_long_only(argc, argv, p.shorts, p.longs, NULL);
        if (val == -1)
            break;
        if (val == ':')
            return fail_missing(find_option_row(&p, optopt), optopt, err);
        if (val == '?' && optopt >= LONG_BASE)
            return hrun_fail(err, HRUN_EINVAL, "option '--%s' takes no value, found '%s'",
                             find_option_row(&p, optopt)->name, argv[at]);
        if (val == '?') {
            /* for a word of several short options show the bad one, else the whole word */
            char one[3] = { '-', (char)optopt, 0 };
            int cluster = optopt && argv[at][1] != '-' && find_option_row(&p, (unsigned char)argv[at][1]);
            return fail_unknown_option(&p, cluster ? one : argv[at], err);
        }
        last = find_option_row(&p, val);
        if (last->arg == HRUN_OPT_PAIR && optind >= argc)
            return fail_missing(last, val, err);
        pair = last->arg == HRUN_OPT_PAIR ? hrun_strf("%s=%s", optarg, argv[optind++]) : NULL;
        hrun_buf_reset(&as);
        add_usage(last, val, &as);
        at = hrun_opt_apply(last, as.data, settings, pair ? pair : last->arg == HRUN_OPT_NONE ? NULL : optarg, err);
        free(pair);
        if (at)
            return -1;
        given->rows[last - table] = val < LONG_BASE ? HRUN_OPT_SHORT : HRUN_OPT_LONG;
        given->values[last - table] = optarg;
    }
    if (optind > at)    /* getopt has passed over a "--" */
        given->ended = 1;
    /* "--wait 5m ./x": an optional value in a separate word would be taken as the program. */
    if (optind == at && at > 1 && last && last->optional && argv[at] && argv[at - 1][0] == '-' &&
        !strchr(argv[at - 1], '=') && is_value(last, argv[at]))
        return hrun_fail(err, HRUN_EINVAL, "'%s' after %s would be taken as the program: write %s=%s, or -- before a "
                         "program of this name", argv[at], argv[at - 1], argv[at - 1], argv[at]);
    given->rest = optind;
    return 0;
}

/* ---------------------------------------------------------------- modes */

enum { MODES_MAX = 8 * sizeof ((struct hrun_opt *)0)->modes };

/* 1 if `word` is the option, without ("dry-run") or with a value ("dry-run=time"); else 0. */
static int is_option(const struct hrun_opt *o, const char *word)
{
    size_t len = o->name ? strlen(o->name) : 0;

    return len && !strncmp(word, o->name, len) && (!word[len] || word[len] == '=');
}

/* 1 if the option in word was given, and with its value if word has one ("dry-run=time"); else 0. */
static int was_given(const struct hrun_opt *table, const struct hrun_opts_given *given, const char *word)
{
    const char *value = strchr(word, '=');

    for (size_t i = 0; table[i].name || table[i].sym; i++)
        if (given->rows[i] && is_option(&table[i], word) &&
            (!value || (given->values[i] && !strcmp(given->values[i], value + 1))))
            return 1;
    return 0;
}

/* The first of the NULL-terminated names (NULL: none) whose option was given, or NULL. */
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

/* Report "--top does nothing without --dry-run or --verbose": `why` is "without", `before` "--". */
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

    /* Modes that the option itself selects need not be named. */
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
