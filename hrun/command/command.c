/* command.c - the command line; see command.h */
#include "command.h"

#include "base/list.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char PLUGINS_VARIABLE[] = "HWLOC_PLUGINS_BLACKLIST";

int context_set_hostfile(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct settings *s = settings;

    if (s->machine.host_file)
        return hrun_fail(err, HRUN_EINVAL, "--%s: there is already a host file, %s: put the hosts of both into "
                         "one", opt->name, s->machine.host_file);
    s->machine.host_file = value;
    return 0;
}

int context_add_hosts(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct settings *s = settings;
    struct hrun_strvec *v = &s->machine.host_lists;

    (void)opt;
    (void)err;
    if (v->n)
        hrun_strvec_pushf(v, "%s,%s", s->machine.hosts, value);
    else
        hrun_strvec_push(v, value);
    s->machine.hosts = v->v[v->n - 1];
    return 0;
}

/* Hide hwloc's device plugins, which load graphics libraries and so take longer than reading the topology. Result: 1 if
 * they are hidden, else 0; the caller shows them again before it starts programs. */
static int hide_device_plugins(void)
{
    static const char plugins[] = "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,"
                                  "hwloc_pci.so,hwloc_rsmi.so";

    return !getenv(PLUGINS_VARIABLE) && !setenv(PLUGINS_VARIABLE, plugins, 1);
}

/* Print the hosts that were left out, and with -v the source of each host's description. */
static void say_discovery(const struct hrun_cluster *cl, const struct settings *s)
{
    for (size_t i = 0; i < cl->why_not.n; i++)
        settings_say(s, "%s; left out", cl->why_not.v[i]);
    if (s->verbose && cl->cache_note)
        settings_say(s, "%s", cl->cache_note);
}

int context_export(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    if (memchr(value, ',', strcspn(value, "=")))
        return hrun_fail(err, HRUN_EINVAL, "--export %s: this is not the name of a variable; give several one by one: "
                         "-x NAME -x NAME=VALUE", value);
    if (!strcmp(value, "NONE") && !getenv(value))
        return hrun_fail(err, HRUN_EINVAL, "--export NONE: processes on this host get the environment of hrun; for an "
                         "empty one write env -i NAME=VALUE... hrun");
    return hrun_opt_append(settings, opt, value, err);
}

static void print_note(const char *text)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
}

int context_cluster(struct context *c, const struct settings *s, struct hrun_error *err)
{
    int rc, hidden;

    c->set = s;
    hidden = hide_device_plugins();
    rc = context_discover(c, err);
    if (hidden)
        unsetenv(PLUGINS_VARIABLE);
    if (!rc)
        say_discovery(c->cluster, s);
    return rc;
}

int context_complain(const char *command, const struct hrun_error *err)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    fflush(stdout);
    fprintf(stderr, "%s: %s\n", command, hrun_error_format(err, text, sizeof text));
    switch (err->code) {
    case HRUN_ENOPROG: return STATUS_NOPROG;
    case HRUN_ENOEXEC: return STATUS_NOEXEC;
    default: return STATUS_FAILED;
    }
}

/* A bit for each mode with this first word (NULL: without a word). */
static unsigned modes_of_word(const struct hrun_opt_mode *modes, const char *word)
{
    unsigned same = 0;
    int last = 0;

    for (unsigned i = 0; !last; i++) {
        if (word && modes[i].word ? !strcmp(modes[i].word, word) : modes[i].word == word)
            same |= 1u << i;
        last = !modes[i].word && !modes[i].option;
    }
    return same;
}

/* The help of a subcommand lists the options of the subcommand. The help of the command lists all options, with -h the
 * frequent ones. */
static void add_help(const struct context_command *cmd, const struct hrun_opt_mode *mode, int all, struct hrun_buf *out)
{
    int often = !mode->word && !all;

    hrun_buf_adds(out, mode->word ? mode->usage : cmd->usage);
    hrun_opts_help(cmd->options, mode->word || often ? modes_of_word(cmd->modes, mode->word) : ~0u, often, out);
    if (often)
        hrun_buf_addf(out, "\n--help shows all options; manual: %s(1).\n", cmd->name);
    else if (!mode->word)
        hrun_buf_adds(out, cmd->after);
}

/* 1 if --help, --version or --completion is given, else 0. */
static int asks_for_text(const struct settings *s)
{
    return s->help || s->version || s->completion;
}

/* Answer -h, --help, --version and --completion: 1 if one of them was given and printed, else 0. */
static int answer_question(const struct context_command *cmd, const struct settings *s, int mode)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    if (!asks_for_text(s))
        return 0;
    if (s->help)
        add_help(cmd, &cmd->modes[mode], s->help == HRUN_OPT_LONG, &out);
    else if (s->version)
        hrun_buf_addf(&out, "%s %s\n", cmd->name, HRUN_VERSION);
    else
        hrun_opts_completion(cmd->options, cmd->name, cmd->subcommands, &out);
    fputs(out.data, stdout);
    return 1;
}

/* Refuse words if the mode allows none; read several programs separated by ':', as mpirun does. */
static int check_mode_words(const struct context_command *cmd, const struct hrun_opt_mode *mode, int ended,
                       struct settings *s, char **words, struct hrun_error *err)
{
    if (words[0] && !mode->takes_words)
        return hrun_fail(err, HRUN_EINVAL, "%s takes no program or name: '%s'", mode->name, words[0]);
    if (mode->word || ended)
        return 0;
    if (cmd->read_programs)
        return cmd->read_programs(s, words, err);
    for (char **w = words; *w; w++)
        if (!strcmp(*w, ":"))
            return hrun_fail(err, HRUN_EINVAL, "several programs, with ':' between them, are not measured together: "
                             "name one; where ':' is an argument of the program, say -- before it: %s [OPTION]... -- "
                             "PROGRAM ARGUMENT...", cmd->name);
    return 0;
}

/* Refuse a word that users mistake for a subcommand, and the name of a missing program that resembles a subcommand. */
static int check_subcommand(const struct context_command *cmd, const char *word, struct hrun_error *err)
{
    const char *known[8 * sizeof(unsigned)], *near;
    size_t n = 0;
    autofree char *path = NULL;

    for (const struct context_not_program *no = cmd->not_programs; no && no->word && word; no++)
        if (!strcmp(no->word, word))
            return hrun_fail(err, HRUN_EINVAL, "'%s' reads like a subcommand, but there is none of this name: %s; to "
                             "calibrate a program of this name give its path", word, no->instead);
    if (!word || strchr(word, '/') || !access(word, F_OK))
        return 0;
    for (const struct hrun_opt_mode *m = cmd->modes; m->word || m->option; m++)
        if (m->word)
            known[n++] = m->word;
    near = hrun_nearest(word, known, n);
    path = near ? hrun_program_find(word, NULL, NULL) : NULL;
    if (!near || path)
        return 0;
    return hrun_fail(err, HRUN_ENOPROG, "'%s' is neither a program nor a subcommand; did you mean '%s'?", word, near);
}

/* The first word after the program, up to a "--", that is a long option of the command; NULL: none. An option whose
 * value is a template ("--size={N}") is taken for the program's. */
static const char *find_option_after(const struct hrun_opt *options, char *const *words)
{
    for (char *const *w = words; *w && *++w && strcmp(*w, "--");) {
        size_t dashes = strspn(*w, "-"), len = strcspn(*w + dashes, "=");
        int filled = strchr(*w, '{') || (w[1] && *w[1] == '{');

        for (int i = 0; !filled && (dashes == 1 || dashes == 2) && options[i].name; i++)
            if (strlen(options[i].name) == len && !strncmp(options[i].name, *w + dashes, len))
                return *w;
    }
    return NULL;
}

void context_begin(const struct context_command *cmd, struct settings *s, int mode, char **words)
{
    if (cmd->modes[mode].word || !words[0])
        return;
    s->here = context_program_here(s->job.wdir, words[0]);
    if (s->here) {
        settings_say(s, PROGRAM_HERE, words[0], s->here);
        words[0] = s->here;
    }
    if (s->option_after)
        settings_say(s, "'%s' comes after %s, so %s gets it; write %s's options before the program ('--' before the "
                     "program silences this line)", s->option_after, words[0], words[0], cmd->name);
}

static int read_command_line(const struct context_command *cmd, struct settings *s, int argc, char **argv,
                             char ***words, struct hrun_error *err)
{
    struct hrun_opts_given given = { .ended = 0 };
    char **names = argv;
    int rest, mode, n = 0;

    if (hrun_opts_parse(cmd->options, s, argc, argv, &given, err))
        return -1;
    rest = given.rest;
    *words = argv + rest;
    mode = hrun_opts_mode(cmd->options, cmd->modes, &given, argv[rest]);
    if (cmd->modes[mode].word) {
        const char *subcommand = argv[rest];

        while (rest < argc) {
            argc -= rest;
            argv += rest;
            if (hrun_opts_parse(cmd->options, s, argc, argv, &given, err))
                return -1;
            rest = given.rest;
            if (rest < argc)
                names[n++] = argv[rest];
        }
        names[n] = NULL;
        *words = names;
        mode = hrun_opts_mode(cmd->options, cmd->modes, &given, subcommand);
    }
    for (int i = 0; cmd->options[i].name; i++) {
        if (given.rows[i] && cmd->options[i].needs_app && !s->needs_app)
            s->needs_app = cmd->options[i].name;
        if (given.rows[i] && !strcmp(cmd->options[i].name, "help"))
            s->help = given.rows[i];
    }
    if (asks_for_text(s))
        return mode;
    if ((!cmd->modes[mode].word && !given.ended && check_subcommand(cmd, (*words)[0], err)) ||
        check_mode_words(cmd, &cmd->modes[mode], given.ended, s, *words, err) ||
        hrun_opts_check(cmd->options, cmd->modes, mode, &given, err))
        return -1;
    s->option_after = cmd->modes[mode].word || given.ended ? NULL : find_option_after(cmd->options, *words);
    return mode;
}

int context_command_line(const struct context_command *cmd, struct settings *s, int argc, char **argv,
                         char ***words, int *status)
{
    struct hrun_error err = { 0 };
    int mode = read_command_line(cmd, s, argc, argv, words, &err);

    if (mode >= 0)
        settings_export_threads(s);
    s->say = print_note;
    *status = mode < 0 ? context_complain(cmd->name, &err) : 0;
    return mode < 0 || answer_question(cmd, s, mode) ? -1 : mode;
}
