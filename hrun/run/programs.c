/* programs.c - several programs with ':' between them, as mpirun has it; see options.h */
#include "options.h"

#include "mpirun_words.h"

#include <stdlib.h>
#include <string.h>

static int holds(const struct hrun_strvec *all, const struct hrun_strvec *some)
{
    size_t found = 0;

    for (size_t i = 0; i < some->n; i++)
        for (size_t k = 0; k < all->n; k++)
            if (!strcmp(all->v[k], some->v[i])) {
                found++;
                break;
            }
    return found == some->n;
}

/* Is the option the same for all programs and for this one? */
static int is_same(const struct hrun_opt *o, const struct hrun_settings *all, const struct hrun_settings *own)
{
    const void *a = (const char *)all + o->offset, *b = (const char *)own + o->offset;

    if (o->apply == hrun_opt_string)
        return *(char *const *)a && !strcmp(*(char *const *)a, *(char *const *)b);
    if (o->apply == hrun_opt_append)
        return holds(a, b);
    return (!o->apply || o->apply == hrun_opt_flag) && !memcmp(a, b, o->apply ? sizeof(int) : sizeof(double));
}

/* What stands before a further program: what it has of its own, or what counts for all as well. */
static int check_options(const struct hrun_opts_given *given, const struct hrun_settings *all,
                         const struct hrun_settings *own, struct hrun_error *err)
{
    static const char *const own_names[] = { "np", "export", "wdir", "wd", NULL };

    for (const struct hrun_opt *o = hrun_options; o->name; o++) {
        int form = given->rows[o - hrun_options], known = 0;

        for (int i = 0; own_names[i] && form; i++)
            known |= !strcmp(o->name, own_names[i]);
        if (form && !known && !is_same(o, all, own))
            return hrun_fail(err, HRUN_EINVAL, "'%s%.*s' stands behind a ':': it counts for all programs, and belongs "
                             "in front of the first one; a further one has -n P, -x and --wdir of its own",
                             form == HRUN_OPT_SHORT ? "-" : "--", form == HRUN_OPT_SHORT ? 1 : 64,
                             form == HRUN_OPT_SHORT ? &o->sym : o->name);
    }
    return 0;
}

/* The words for env(1) that give a program its own environment and working folder. */
static int add_env(const struct settings *own, struct work_program *p, struct hrun_strvec *notes,
                   struct hrun_error *err)
{
    char *wdir = own->wdir ? realpath(own->wdir, NULL) : NULL;
    int bad = 0;

    if (own->wdir && !wdir)
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", own->wdir);
    if (wdir)
        bad = hrun_strvec_push(&p->env, "-C") || hrun_strvec_push(&p->env, wdir) ||
              hrun_strvec_pushf(&p->env, "PWD=%s", wdir);
    free(wdir);
    for (size_t i = 0; i < own->env.n && !bad; i++) {
        const char *word = own->env.v[i], *value = strchr(word, '=') ? NULL : getenv(word);

        if (*word == '=' || !*word)
            return hrun_fail(err, HRUN_EINVAL, "-x %s: a variable's name is missing: write -x NAME or -x NAME=VALUE",
                             word);
        if (strchr(word, '='))
            bad = hrun_strvec_push(&p->env, word);
        else if (value)
            bad = hrun_strvec_pushf(&p->env, "%s=%s", word, value);
        else
            bad = hrun_strvec_pushf(notes, "-x %s: it is not set, so there is nothing to pass on", word);
    }
    p->wdir = own->wdir && !bad ? p->env.v[1] : NULL;
    return bad ? hrun_fail_nomem(err) : 0;
}

/* Read the options in front of a further program, next, whose words are left in *line. Result: the index of its program
 * there, and in *ended whether "--" stood before it; -1 with *err. */
static int read_context(struct hrun_settings *s, char **words, struct hrun_strvec *line, struct work_program *next,
                        int64_t *procs, int *ended, struct hrun_error *err)
{
    struct hrun_settings own = { 0 };
    struct hrun_opts_given given = { 0 };
    int n = 0, rest = -1, rc;

    while (words[n])
        n++;
    rc = mpirun_words_replace(n, words, &own, line, &s->notes, err) ||
         hrun_opts_parse(hrun_options, &own, (int)line->n, line->v, &rest, &given, err) ||
         check_options(&given, s, &own, err) || add_env(&own.common, next, &s->notes, err);
    if (!rc && !holds(&s->mapping_words, &own.mapping_words))
        rc = hrun_fail(err, HRUN_EINVAL, "what says where processes go stands behind a ':' (--%s %s): it counts for "
                       "all programs, and belongs in front of the first one", own.mapping_words.v[0],
                       own.mapping_words.v[1]);
    *procs = own.ask.procs;
    *ended = given.ended;
    settings_release(&own.common);
    hrun_strvec_release(&own.configs);
    hrun_strvec_release(&own.mapping_words);
    return rc ? -1 : rest;
}

static char **find_colon(char **words)
{
    while (*words && strcmp(*words, ":"))
        words++;
    return *words ? words : NULL;
}

static int add_program(struct hrun_settings *s, char **words, int64_t procs, struct hrun_error *err)
{
    if (!words[0])
        return hrun_fail(err, HRUN_EINVAL, "there is no program %s ':': say hrun -n P PROGRAM [ARGUMENT]... : -n P "
                         "PROGRAM [ARGUMENT]...", s->nprograms ? "behind a" : "before the first");
    if (!procs)
        return hrun_fail(err, HRUN_EINVAL, "of several programs each needs its number of processes: say -n P in front "
                         "of %s", words[0]);
    s->programs[s->nprograms].words = words;
    s->programs[s->nprograms++].procs = (int)procs;
    return 0;
}

int programs_read(struct settings *settings, char **words, struct hrun_error *err)
{
    struct hrun_settings *s = (struct hrun_settings *)settings;   /* whose first member it is */
    char name[] = "hrun";          /* where a command has its name, before the options */
    char **colon = find_colon(words);
    int64_t procs = s->ask.procs, total = procs;
    size_t most = 1;
    int ended = 0, rest;

    for (char **w = colon; w; w = find_colon(w + 1))
        most++;
    if (!colon)
        return 0;
    s->programs = calloc(most + 1, sizeof *s->programs);
    s->lines = calloc(most, sizeof *s->lines);
    if (!s->programs || !s->lines)
        return hrun_fail_nomem(err);
    while (colon) {
        struct hrun_strvec *line = &s->lines[s->nprograms];

        if (s->nprograms)
            free(*colon);       /* a line's own */
        *colon = NULL;
        if (add_program(s, words, procs, err))
            return -1;
        *colon = name;
        rest = read_context(s, colon, line, &s->programs[s->nprograms], &procs, &ended, err);
        *colon = NULL;
        if (rest < 0)
            return -1;
        words = line->v + rest;
        colon = ended ? NULL : find_colon(words);
        total += procs;
        if (total > QUESTION_PROCS_MAX)
            return hrun_fail(err, HRUN_EINVAL, "the programs have more than %d processes together", QUESTION_PROCS_MAX);
    }
    s->ask.procs = total;
    return add_program(s, words, procs, err);
}

void programs_release(struct hrun_settings *s)
{
    for (int i = 0; i < s->nprograms; i++)
        hrun_strvec_release(&s->lines[i]);
    for (int i = 0; s->programs && i <= s->nprograms; i++)    /* also of one that could not be added */
        hrun_strvec_release(&s->programs[i].env);
    free(s->lines);
    free(s->programs);
    hrun_strvec_release(&s->notes);
}
