/* command_line.h - every option of a command, wrong in each way that it can be; for tests that link the command
 *
 * The command's main is linked as command_main (Makefile), and is called in this process: a crash ends the test.
 */
#ifndef HRUN_TESTS_COMMAND_LINE_H
#define HRUN_TESTS_COMMAND_LINE_H

#include "../../hrun/command/command.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int command_main(int argc, char **argv);

enum { WORDS = 8 };

struct line {
    const char *words[WORDS];
    int n;
};

static void add_word(struct line *l, const char *word)
{
    if (word && l->n < WORDS - 1)
        l->words[l->n++] = word;
}

/* A value that the option accepts, wherever it counts. */
static const char *good_value(const struct hrun_opt *o, char number[32])
{
    static const struct { const char *meta, *value; } words[] = {
        { "NAME=VALUE", "a=1" }, { "NAME:VALUE", "a:1" }, { "LIST", "1" }, { "LIMITS", "50" },
        { "LIMIT=VALUE,...", "pes=5" }, { "SIZE", "7" }, { "FORM", "units" },
    };

    switch (o->arg) {
    case HRUN_OPT_CHOICE:
        snprintf(number, 32, "%.*s", (int)strcspn(o->choices, " "), o->choices);
        return number;
    case HRUN_OPT_COUNT:
        snprintf(number, 32, "%lld", (long long)o->min);
        return number;
    case HRUN_OPT_NUMBER:
    case HRUN_OPT_PERCENT:
    case HRUN_OPT_TIME:
        return "5";
    default:
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (o->meta && !strcmp(o->meta, words[i].meta))
                return words[i].value;
        return "x";
    }
}

/* Does the option look at its value when it is applied? The other values are names, of which any may be right. */
static int checks_value(const struct hrun_opt *o)
{
    char number[32];

    return o->arg == HRUN_OPT_CHOICE || o->arg >= HRUN_OPT_COUNT ||
           (o->arg == HRUN_OPT_WORD && strcmp(good_value(o, number), "x"));
}

static void add_option(struct line *l, const struct hrun_opt *o, char text[96])
{
    char number[32];

    snprintf(text, 96, "--%s%s%s", o->name, o->arg == HRUN_OPT_NONE ? "" : "=",
             o->arg == HRUN_OPT_NONE ? "" : good_value(o, number));
    add_word(l, text);
    if (o->arg == HRUN_OPT_PAIR)
        add_word(l, "y");
}

/* What asks for a mode. */
static void begin(const struct context_command *cmd, const struct hrun_opt_mode *m, struct line *l, char text[96])
{
    *l = (struct line){ { cmd->name }, 1 };
    add_word(l, m->word);
    if (m->option && strchr(m->option, '=')) {
        snprintf(text, 96, "--%s", m->option);
        add_word(l, text);
    }
    for (const struct hrun_opt *o = cmd->options; m->option && o->name; o++)
        if (!strcmp(o->name, m->option))
            add_option(l, o, text);
}

/* What was written to a file in memory, up to its size; the file is closed. */
static const char *written(int fd, char text[4096])
{
    ssize_t n = pread(fd, text, 4095, 0);

    text[n > 0 ? n : 0] = 0;
    close(fd);
    return text;
}

/* Run the command: one error of one line that holds `want`, nothing else, status 125. Else the line is shown. The command
 * has streams of its own for standard output and error. */
static int is_refused(const struct context_command *cmd, const struct line *l, const char *want)
{
    FILE *real_out = stdout, *real_err = stderr;
    char *argv[WORDS], begins[64], out_text[4096], err_text[4096];
    int into[] = { memfd_create("out", 0), memfd_create("err", 0) }, before[] = { dup(1), dup(2) }, status, good;
    const char *out, *err;

    memcpy(argv, l->words, sizeof argv);
    argv[l->n] = NULL;
    snprintf(begins, sizeof begins, "%s: ", cmd->name);
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        dup2(into[i], i + 1);
    status = command_main(l->n, argv);
    for (int i = 0; i < 2; i++) {
        dup2(before[i], i + 1);
        close(before[i]);
    }
    if (stdout != real_out)
        fclose(stdout);
    if (stderr != real_err)
        fclose(stderr);
    stdout = real_out;
    stderr = real_err;
    out = written(into[0], out_text);
    err = written(into[1], err_text);
    good = status == STATUS_FAILED && !*out && !strncmp(err, begins, strlen(begins)) && strstr(err, want) &&
           strchr(err, '\n') == err + strlen(err) - 1;
    if (!good) {
        printf("# status %d, want '%s':", status, want);
        for (int i = 0; i < l->n; i++)
            printf(" %s", l->words[i]);
        printf("\n# out: %s\n# err: %s\n", out, err);
    }
    return good;
}

/* Why the option, added to what asks for the mode, is a mistake; NULL: it is none, for all that the table says. */
static const char *mistake(const struct context_command *cmd, const struct hrun_opt *o, const struct hrun_opt_mode *m)
{
    struct hrun_opts_given given = { .ended = 0 };
    int both, useless = 0, needs = o->needs != NULL;
    char number[32];

    for (const struct hrun_opt *p = cmd->options; p->name; p++) {
        size_t len = strlen(p->name);
        int asks = m->option && !strncmp(p->name, m->option, len) && (!m->option[len] || m->option[len] == '=');

        given.rows[p - cmd->options] = p == o || asks;
        given.values[p - cmd->options] = p == o ? good_value(o, number)
                                       : asks && m->option[len] ? m->option + len + 1 : NULL;
    }
    both = hrun_opts_mode(cmd->options, cmd->modes, &given, m->word);
    for (const struct hrun_opt *p = cmd->options; p->name; p++)
        useless |= given.rows[p - cmd->options] && !(p->modes >> both & 1);
    for (int i = 0; o->needs && o->needs[i]; i++)
        needs &= !m->option || strncmp(m->option, o->needs[i], strlen(o->needs[i])) != 0;
    return useless ? "" : needs ? "does nothing without" : NULL;
}

/* One option in one mode. Result: lines that were not refused as they should be. */
static int try_option(const struct context_command *cmd, const struct hrun_opt *o, const struct hrun_opt_mode *m)
{
    char first[96], text[96];
    struct line l;
    int bad = 0;

    begin(cmd, m, &l, first);
    snprintf(text, sizeof text, "--%s", o->name);
    if (o->arg == HRUN_OPT_NONE)
        strcat(text, "=x");
    add_word(&l, text);
    if (!o->optional)
        bad += !is_refused(cmd, &l, o->arg == HRUN_OPT_NONE ? "takes no value" : o->arg == HRUN_OPT_PAIR
                           ? "needs two values" : "needs a value");
    if (o->sym) {
        begin(cmd, m, &l, first);
        snprintf(text, sizeof text, o->arg == HRUN_OPT_NONE ? "-%c=" : "-%c", o->sym);
        add_word(&l, text);
        bad += !is_refused(cmd, &l, o->arg == HRUN_OPT_NONE ? "option '" : "needs a value");
    }
    if (checks_value(o)) {
        begin(cmd, m, &l, first);
        snprintf(text, sizeof text, "--%s=@", o->name);
        add_word(&l, text);
        bad += !is_refused(cmd, &l, o->name);
    }
    begin(cmd, m, &l, first);
    add_option(&l, o, text);
    if (mistake(cmd, o, m))
        bad += !is_refused(cmd, &l, mistake(cmd, o, m));
    return bad;
}

/* How many of the names (NULL: none) the command has no option of. */
static int count_unknown(const struct context_command *cmd, const char *const *names)
{
    int unknown = 0;

    for (; names && *names; names++) {
        const struct hrun_opt *o = cmd->options;

        while (o->name && strcmp(o->name, *names))
            o++;
        unknown += !o->name;
    }
    return unknown;
}

/* The option with each that it contradicts, where both count and need no third. Result: as try_option. */
static int try_pairs(const struct context_command *cmd, const struct hrun_opt *o, const struct hrun_opt_mode *m)
{
    char first[96], texts[2][96], want[96];
    struct line l;
    int bad = 0;

    for (const struct hrun_opt *p = cmd->options; p->name; p++)
        for (int i = 0; o->against && o->against[i]; i++) {
            if (strcmp(p->name, o->against[i]) || mistake(cmd, o, m) || mistake(cmd, p, m))
                continue;
            begin(cmd, m, &l, first);
            add_option(&l, p, texts[0]);
            add_option(&l, o, texts[1]);
            snprintf(want, sizeof want, "--%s and --%s contradict each other", o->name, p->name);
            bad += !is_refused(cmd, &l, want);
        }
    return bad;
}

static void test_command_line(const struct context_command *cmd)
{
    int nmodes = 0, nrows = 0;
    struct line l;
    char first[96];

    while (cmd->modes[nmodes].word || cmd->modes[nmodes].option)
        nmodes++;
    nmodes++;
    for (const struct hrun_opt *o = cmd->options; o->name; o++, nrows++) {
        int bad = count_unknown(cmd, o->needs) + count_unknown(cmd, o->against);

        for (int m = 0; m < nmodes; m++)
            bad += try_option(cmd, o, &cmd->modes[m]) + try_pairs(cmd, o, &cmd->modes[m]);
        is_int(bad, 0, "%s --%s: each mistake has one message", cmd->name, o->name);
    }
    ok(nrows > 30 && nrows <= HRUN_OPTS_MAX, "%d options", nrows);
    for (int m = 0; m < nmodes; m++) {
        begin(cmd, &cmd->modes[m], &l, first);
        add_word(&l, "--nosuch");
        ok(is_refused(cmd, &l, "unknown option '--nosuch'"), "%s: an unknown option", cmd->modes[m].name);
        begin(cmd, &cmd->modes[m], &l, first);
        add_word(&l, "name");
        if (!cmd->modes[m].takes_words)
            ok(is_refused(cmd, &l, "takes no program or name: 'name'"), "%s: a word", cmd->modes[m].name);
    }
    l = (struct line){ { cmd->name, "x", ":", "y" }, 4 };
    ok(is_refused(cmd, &l,
                  cmd->read_programs ? "of several programs each needs" : "not measured together"), "several programs");
}

#endif
