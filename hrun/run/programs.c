/* programs.c - several programs with ':' between them, as mpirun has it; see options.h */
#include "options.h"

#include "mpirun_words.h"

#include <stdlib.h>
#include <string.h>

/* What stands before a further program: its number of processes alone. */
static int check_options(const struct hrun_opts_given *given, struct hrun_error *err)
{
    for (const struct hrun_opt *o = hrun_options; o->name; o++) {
        int form = given->rows[o - hrun_options];

        if (form && strcmp(o->name, "np"))
            return hrun_fail(err, HRUN_EINVAL, "'%s%.*s' stands behind a ':': it counts for all programs, and belongs "
                             "in front of the first one; a further one has -n P alone", form == HRUN_OPT_SHORT ? "-"
                             : "--", form == HRUN_OPT_SHORT ? 1 : 64, form == HRUN_OPT_SHORT ? &o->sym : o->name);
    }
    return 0;
}

/* Read the options in front of a further program, whose words are left in *line. Result: the index of its program
 * there, and in *ended whether "--" stood before it; -1 with *err. */
static int read_context(char **words, struct hrun_strvec *line, struct hrun_strvec *notes, int64_t *procs, int *ended,
                        struct hrun_error *err)
{
    struct hrun_settings own = { 0 };
    struct hrun_opts_given given = { 0 };
    int n = 0, rest = -1, rc;

    while (words[n])
        n++;
    rc = mpirun_words_replace(n, words, &own, line, notes, err) ||
         hrun_opts_parse(hrun_options, &own, (int)line->n, line->v, &rest, &given, err) || check_options(&given, err);
    if (!rc && own.mapping_words.n)
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
    s->programs[s->nprograms++] = (struct work_program){ words, (int)procs };
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
    s->programs = calloc(most, sizeof *s->programs);
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
        rest = read_context(colon, line, &s->notes, &procs, &ended, err);
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
    free(s->lines);
    free(s->programs);
    hrun_strvec_release(&s->notes);
}
