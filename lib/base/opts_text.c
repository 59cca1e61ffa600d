/* opts_text.c - --help and the bash completion, made from the option table; see opts.h for the contracts */
#include "base/opts.h"
#include "base/units.h"

#include <ctype.h>
#include <string.h>

/* Kinds of values without suggestions in the completion. */
static const unsigned FREE = 1u << HRUN_OPT_WORD | 1u << HRUN_OPT_COUNT | 1u << HRUN_OPT_NUMBER | 1u << HRUN_OPT_PERCENT
                           | 1u << HRUN_OPT_TIME;

static int row_ends(const struct hrun_opt *o)
{
    return !o->name && !o->sym;
}

/* ---------------------------------------------------------------- --help */

enum {
    WIDTH = 80,
    LEFT_MOST = 30   /* a wider option gets a separate line; the text has 50 columns */
};

/* "  -N, --size NUM" */
static void add_option_forms(const struct hrun_opt *o, struct hrun_buf *out)
{
    if (o->sym)
        hrun_buf_addf(out, "  -%c%s", o->sym, o->name ? ", " : "");
    else
        hrun_buf_adds(out, "      ");
    if (o->name)
        hrun_buf_addf(out, "--%s", o->name);
    if (o->optional)
        hrun_buf_addf(out, "[=%s]", o->meta);
    else if (o->arg != HRUN_OPT_NONE)
        hrun_buf_addf(out, " %s", o->meta ? o->meta : o->arg == HRUN_OPT_PAIR ? "KEY VALUE" : "VALUE");
}

/* Append words from column `column` on, broken before WIDTH, further lines indented to `indent`. */
static void add_wrapped(const char *text, size_t column, size_t indent, struct hrun_buf *out)
{
    size_t at = column;

    while (*text) {
        size_t len = strcspn(text, " "), w = hrun_text_width(text, len);
        if (len == 0) {
            text++;
            continue;
        }
        if (at > indent && at + 1 + w > WIDTH) {
            hrun_buf_addc(out, '\n');
            hrun_buf_addn(out, ' ', indent);
            at = indent;
        } else if (at > indent) {
            hrun_buf_addc(out, ' ');
            at++;
        }
        hrun_buf_add(out, text, len);
        at += w;
        text += len;
    }
}

static void add_option_row(const struct hrun_opt *o, size_t indent, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf left = HRUN_BUF_INIT, text = HRUN_BUF_INIT;
    size_t w;

    add_option_forms(o, &left);
    hrun_buf_adds(&text, o->help);
    if (o->arg == HRUN_OPT_CHOICE) {
        hrun_buf_adds(&text, " (");
        for (const char *c = o->choices; *c; c++)
            if (*c == ' ')
                hrun_buf_adds(&text, ", ");
            else
                hrun_buf_addc(&text, *c);
        hrun_buf_addc(&text, ')');
    }
    w = hrun_text_width(left.data, left.len);
    hrun_buf_add(out, left.data, left.len);
    if (w + 2 > indent) {
        hrun_buf_addc(out, '\n');
        w = 0;
    }
    hrun_buf_addn(out, ' ', indent - w);
    add_wrapped(text.data, indent, indent, out);
    hrun_buf_addc(out, '\n');
}

static int same_group(const struct hrun_opt *a, const struct hrun_opt *b)
{
    return strcmp(a->group ? a->group : "", b->group ? b->group : "") == 0;
}

static int is_shown(const struct hrun_opt *o, unsigned modes)
{
    return o->help && (o->modes & modes || !o->modes);
}

void hrun_opts_help(const struct hrun_opt *table, unsigned modes, int often, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf left = HRUN_BUF_INIT;
    size_t indent = 0, w;

    for (const struct hrun_opt *o = table; !row_ends(o); o++) {
        if (!is_shown(o, modes) || (often && !o->often))
            continue;
        hrun_buf_reset(&left);
        add_option_forms(o, &left);
        w = hrun_text_width(left.data, left.len) + 2;
        if (w > indent && w <= LEFT_MOST)
            indent = w;
    }
    indent = indent ? indent : LEFT_MOST;
    if (often)
        hrun_buf_addc(out, '\n');
    for (const struct hrun_opt *o = table; !row_ends(o); o++) {
        const struct hrun_opt *e = table;

        if (!is_shown(o, modes))
            continue;
        if (often) {
            if (o->often)
                add_option_row(o, indent, out);
            continue;
        }
        /* a group is printed at its first visible row */
        while (e < o && !(is_shown(e, modes) && same_group(e, o)))
            e++;
        if (e < o)
            continue;
        if (out->len && out->data[out->len - 1] == '\n')
            hrun_buf_addc(out, '\n');
        if (o->group && o->group[0])
            hrun_buf_addf(out, "%s:\n", o->group);
        for (; !row_ends(e); e++)
            if (is_shown(e, modes) && same_group(e, o))
                add_option_row(e, indent, out);
    }
}

/* ---------------------------------------------------------------- bash completion */

/* Append the case pattern of an option's words: "--app|-app|-a". */
static void add_pattern(const struct hrun_opt *o, const char *suffix, struct hrun_buf *out)
{
    if (o->name)
        hrun_buf_addf(out, "--%s%s|-%s%s", o->name, suffix, o->name, suffix);
    if (o->sym && !suffix[0])
        hrun_buf_addf(out, "%s-%c", o->name ? "|" : "", o->sym);
}

/* Append a case branch for all options of the kinds in `kinds` (bits by enum hrun_opt_arg), hidden aliases included;
 * nothing if there are none. */
static void add_branch(const struct hrun_opt *table, unsigned kinds, const char *suffix, const char *action,
                       struct hrun_buf *out)
{
    const char *sep = "            ";

    for (const struct hrun_opt *o = table; !row_ends(o); o++) {
        enum hrun_opt_arg arg = o->optional && !suffix[0] ? HRUN_OPT_NONE : o->arg;
        if (!(kinds >> arg & 1) || (suffix[0] && !o->name))
            continue;
        hrun_buf_adds(out, sep);
        add_pattern(o, suffix, out);
        sep = "|";
    }
    if (sep[0] == '|')
        hrun_buf_addf(out, ") %s ;;\n", action);
}

/* Append code that fills COMPREPLY from the first words of a command's output. variable: the text typed so far. */
static void add_names(const char *command, const char *variable, struct hrun_buf *out)
{
    hrun_buf_addf(out, "mapfile -t COMPREPLY < <(compgen -W \"$(%s 2>/dev/null | cut -d' ' -f1)\" -- \"$%s\")", command,
                  variable);
}

/* Append branches that complete the value of each option with a value. */
static void add_values(const struct hrun_opt *table, const char *suffix, struct hrun_buf *out)
{
    add_branch(table, 1u << HRUN_OPT_FILE, suffix, "compopt -o filenames; mapfile -t COMPREPLY < "
               "<(compgen -f -- \"$value\"); return", out);
    add_branch(table, 1u << HRUN_OPT_DIR, suffix, "compopt -o filenames; mapfile -t COMPREPLY < "
               "<(compgen -d -- \"$value\"); return", out);
    for (const struct hrun_opt *o = table; !row_ends(o); o++)
        if (o->arg == HRUN_OPT_CHOICE && (suffix[0] ? o->name != NULL : !o->optional)) {
            hrun_buf_adds(out, "            ");
            add_pattern(o, suffix, out);
            hrun_buf_addf(out, ") mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$value\"); return ;;\n",
                          o->choices);
        }
    for (const struct hrun_opt *o = table; !row_ends(o); o++)
        if (o->arg == HRUN_OPT_NAME && (o->name || !suffix[0])) {
            hrun_buf_adds(out, "            ");
            add_pattern(o, suffix, out);
            hrun_buf_adds(out, ") ");
            add_names(o->choices, "value", out);
            hrun_buf_adds(out, "; return ;;\n");
        }
    add_branch(table, FREE | 1u << HRUN_OPT_PAIR, suffix, "return", out);
}

/* Append the completion of further words: files after a program or a subcommand with ":" at its end, else names. */
static void add_rest(const struct hrun_opt *table, const char *subcommands, struct hrun_buf *out)
{
    const struct hrun_opt *o = table;

    while (!row_ends(o) && o->arg != HRUN_OPT_NAME)
        o++;
    if (!subcommands || row_ends(o))
        return;
    hrun_buf_addf(out, "        if [[ ' %s ' == *\" ${w[i]} \"* && $cur != -* ]]; then\n            ", subcommands);
    add_names(o->choices, "cur", out);
    hrun_buf_adds(out, "\n            return\n        fi\n");
}

/* Append the visible options as a word list: with two dashes (dashes = 2), or with one, short forms included. */
static void add_word_list(const struct hrun_opt *table, int dashes, struct hrun_buf *out)
{
    const char *sep = "";

    for (const struct hrun_opt *o = table; !row_ends(o); o++) {
        if (!o->help)
            continue;
        if (o->name) {
            hrun_buf_addf(out, "%s%s%s", sep, dashes == 2 ? "--" : "-", o->name);
            sep = " ";
        }
        if (o->sym && dashes == 1) {
            hrun_buf_addf(out, "%s-%c", sep, o->sym);
            sep = " ";
        }
    }
}

void hrun_opts_completion(const struct hrun_opt *table, const char *command, const char *subcommands,
                          struct hrun_buf *out)
{
    struct hrun_buf fn = HRUN_BUF_INIT;
    const char *open = "            -[";
    const unsigned one = FREE | 1u << HRUN_OPT_FILE | 1u << HRUN_OPT_DIR | 1u << HRUN_OPT_CHOICE
                       | 1u << HRUN_OPT_NAME;

    hrun_buf_addc(&fn, '_');
    for (const char *c = command; *c; c++)
        hrun_buf_addc(&fn, isalnum((unsigned char)*c) ? *c : '_');
    hrun_buf_addf(out, "# bash completion for %s; source it, or put it into\n"
                  "# ${XDG_DATA_HOME:-~/.local/share}/bash-completion/completions/%s\n", command, command);
    hrun_buf_addf(out, "%s()\n{\n", fn.data);
    /* COMP_WORDS is split at '=' and ':', which values contain, so the line is split at blanks again */
    hrun_buf_adds(out,
        "    local line=${COMP_LINE:0:COMP_POINT} cur= value i=1 opt=\n"
        "    local -a w\n"
        "    COMPREPLY=()\n"
        "    read -ra w <<< \"$line\"\n"
        "    [[ $line == *[[:blank:]] ]] && w+=('')\n"
        "    cur=${w[${#w[@]}-1]}\n"
        "    value=$cur\n"
        "    # find the word that begins the program, or the option whose value is due\n"
        "    while [ $i -lt $((${#w[@]} - 1)) ]; do\n"
        "        opt=\n"
        "        case ${w[i]} in\n"
        "            --) i=$((i + 1)); break ;;\n");
    add_branch(table, one, "", "opt=${w[i]}; i=$((i + 2))", out);
    add_branch(table, 1u << HRUN_OPT_PAIR, "", "opt=${w[i]}; i=$((i + 3))", out);
    add_branch(table, 1u << HRUN_OPT_PAIR, "=*", "opt=${w[i]}; i=$((i + 2))", out);
    add_branch(table, 1u << HRUN_OPT_NONE, "", "i=$((i + 1))", out);
    hrun_buf_adds(out, "            -*=*) i=$((i + 1)) ;;\n");
    /* "-[DNn]?*": a short option with its value in the same word; nothing if no short option has a value. */
    for (const struct hrun_opt *o = table; !row_ends(o); o++)
        if (o->sym && o->arg != HRUN_OPT_NONE && o->arg != HRUN_OPT_PAIR) {
            hrun_buf_addf(out, "%s%c", open, o->sym);
            open = "";
        }
    hrun_buf_adds(out, *open ? "" : "]?*) i=$((i + 1)) ;;\n");
    hrun_buf_adds(out,
        "            -?*) i=$((i + 1)) ;;\n"
        "            *) break ;;\n"
        "        esac\n"
        "    done\n"
        "    if [ $i -ge ${#w[@]} ]; then\n"
        "        case $opt in\n");
    add_values(table, "", out);
    hrun_buf_adds(out,
        "        esac\n"
        "        return\n"
        "    fi\n"
        "    if [ $i -lt $((${#w[@]} - 1)) ]; then\n");
    add_rest(table, subcommands, out);
    hrun_buf_adds(out,
        "        compopt -o filenames\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
        "        return\n"
        "    fi\n"
        "    if [[ $cur == -*=* && ${w[i-1]} != -- ]]; then\n"
        "        value=${cur#*=}\n"
        "        case $cur in\n");
    add_values(table, "=*", out);
    hrun_buf_adds(out,
        "            *) return ;;\n"
        "        esac\n"
        "    fi\n"
        "    case $cur in\n"
        "        --*) mapfile -t COMPREPLY < <(compgen -W '");
    add_word_list(table, 2, out);
    hrun_buf_adds(out, "' -- \"$cur\") ;;\n        -*) mapfile -t COMPREPLY < <(compgen -W '");
    add_word_list(table, 1, out);
    hrun_buf_adds(out, "' -- \"$cur\") ;;\n"
                       "        *) compopt -o filenames\n"
                       "           mapfile -t COMPREPLY < <({ ");
    if (subcommands) {
        hrun_buf_adds(out, "compgen -W '");
        for (const char *c = subcommands; *c; c++)
            if (*c != ':')
                hrun_buf_addc(out, *c);
        hrun_buf_adds(out, "' -- \"$cur\"; ");
    }
    hrun_buf_adds(out, "compgen -c -f -- \"$cur\"; } | sort -u) ;;\n"
                       "    esac\n}\n");
    hrun_buf_addf(out, "complete -F %s %s\n", fn.data, command);
    hrun_buf_release(&fn);
}
