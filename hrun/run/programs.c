/* programs.c - several programs separated by ':', as with mpirun; see options.h */

#include "mpirun_words.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

static int contains_all(const struct hrun_strvec *all, const struct hrun_strvec *some)
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

/* 1 if the option has the same value for all programs and for this one, else 0. */
static int is_same_option(const struct hrun_opt *o, const struct hrun_settings *all, const struct hrun_settings *own)
{
    const void *a = (const char *)all + o->offset, *b = (const char *)own + o->offset;

    if (o->apply == hrun_opt_string)
        return *(char *const *)a && !strcmp(*(char *const *)a, *(char *const *)b);
    if (o->apply == hrun_opt_append)
        return contains_all(a, b);
    return (!o->apply || o->apply == hrun_opt_flag) && !memcmp(a, b, o->apply ? sizeof(int) : sizeof(double));
}

/* Check that a further program has only options of single programs, or repeats options of all programs unchanged. */
static int check_program_options(const struct hrun_opts_given *given, const struct hrun_settings *all,
                                 const struct hrun_settings *own, struct hrun_error *err)
{
    static const char *const own_names[] = { "np", "export", "wdir", "wd", "host", NULL };

    for (const struct hrun_opt *o = hrun_options; o->name; o++) {
        int form = given->rows[o - hrun_options], known = 0;

        for (int i = 0; own_names[i] && form; i++)
            known |= !strcmp(o->name, own_names[i]);
        if (form && !known && !is_same_option(o, all, own))
            return hrun_fail(err, HRUN_EINVAL, "'%s%.*s' comes after a ':', but counts for all programs: write it "
                             "before the first one (of its own a further program has -n, -x, --wdir and --host)",
                             form == HRUN_OPT_SHORT ? "-" : "--", form == HRUN_OPT_SHORT ? 1 : 64,
                             form == HRUN_OPT_SHORT ? &o->sym : o->name);
    }
    return 0;
}

/* Add words for env(1) that set a program's working folder (NULL: that of all programs) and the variables env[n..]. */
static int add_env_words(const char *folder, const struct hrun_strvec *env, size_t n, struct work_program *p,
                         struct hrun_strvec *notes, struct hrun_error *err)
{
    autofree char *wdir = folder ? realpath(folder, NULL) : NULL;

    if (folder && !wdir)
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", folder);
    if (wdir) {
        hrun_strvec_push(&p->env, "-C");
        hrun_strvec_push(&p->env, wdir);
        hrun_strvec_pushf(&p->env, "PWD=%s", wdir);
    }
    for (; n < env->n; n++) {
        const char *word = env->v[n], *value = strchr(word, '=') ? NULL : getenv(word);

        if (*word == '=' || !*word)
            return hrun_fail(err, HRUN_EINVAL, "-x %s: a variable's name is missing: write -x NAME or -x NAME=VALUE",
                             word);
        if (strchr(word, '='))
            hrun_strvec_push(&p->env, word);
        else if (value)
            hrun_strvec_pushf(&p->env, "%s=%s", word, value);
        else
            hrun_strvec_pushf(notes, "-x %s: it is not set, so there is nothing to pass on", word);
    }
    p->wdir = folder ? p->env.v[1] : NULL;
    return 0;
}

/* Append the hosts of a list such as a:2,b,p4-[0-3], each once per slot. */
static int add_listed_hosts(const char *list, struct hrun_strvec *out, struct hrun_error *err)
{
    for (size_t len; *list; list += len + (list[len] == ',')) {
        autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
        autofree char *item = NULL;
        int64_t slots = 1;
        char *colon;

        for (len = 0; list[len] && list[len] != ','; )      /* a range may contain commas */
            len += list[len] == '[' ? strcspn(list + len, "]") : 1;
        item = xstrndup(list, len);
        colon = strrchr(item, ':');
        if (colon && !strchr(colon, ']')) {
            *colon = 0;
            if (hrun_parse_count("slots", colon + 1, 1, QUESTION_PROCS_MAX, &slots, NULL))
                slots = 1;
        }
        if (hrun_hostlist_parse(item, &names, err))
            return -1;
        for (size_t i = 0; i < names.n; i++)
            for (int64_t k = 0; k < slots; k++)
                hrun_strvec_push(out, names.v[i]);
    }
    return 0;
}

static int add_hostfile(const char *path, struct hrun_strvec *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    char *save;

    if (hrun_file_read(path, HRUN_RANKFILE_MAX, &text, err))
        return -1;
    for (char *line = strtok_r(text.data, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        line += strspn(line, " \t");
        line[strcspn(line, " \t#")] = 0;
        if (add_listed_hosts(line, out, err))
            return -1;
    }
    return 0;
}

/* Add a program's hosts to those of the run, unless the same list is there already. */
static int join_host_list(struct hrun_settings *s, const char *hosts, struct hrun_error *err)
{
    for (size_t i = 0; i < s->common.machine.host_lists.n; i++)
        if (!strcmp(s->common.machine.host_lists.v[i], hosts))
            return 0;
    return context_add_hosts(&s->common, NULL, hosts, err);
}

/* Append the hosts of n ranks: the given hosts in turn. */
static void join_hosts(const struct hrun_strvec *hosts, size_t n, struct hrun_buf *out)
{
    for (size_t i = 0; i < n && hosts->n; i++)
        hrun_buf_addf(out, "%s%s", out->len ? "," : "", hosts->v[i % hosts->n]);
}

int programs_hosts(struct hrun_settings *s, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec listed = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_strvec *words = &s->mapping_words;
    int any = 0;

    for (int i = 1; i < s->programs.n; i++)
        any |= s->programs.v[i].hosts.n > 0;
    if (any && hrun_mapping_places(&s->mapping))
        return hrun_fail(err, HRUN_EINVAL, "--host after a ':' and --map-by or its like contradict each other: both "
                         "say where processes go; give one of them");
    if (any && !s->programs.v[0].hosts.n)
        return hrun_fail(err, HRUN_EINVAL, "--host comes after a ':', and the first program has none: give it its own "
                         "--host, too");
    for (int i = 0; i < s->programs.n && any; i++)
        join_hosts(&s->programs.v[s->programs.v[i].hosts.n ? i : 0].hosts, (size_t)s->programs.v[i].procs, &text);
    if (s->mapping.seq && !s->common.machine.hosts && !s->common.machine.host_file)
        return hrun_fail(err, HRUN_EINVAL, "--map-by seq needs a list with one host for each process: give --hostfile "
                         "FILE or --host a,b,a");
    if (s->mapping.seq && (s->common.machine.host_file ? add_hostfile(s->common.machine.host_file, &listed, err)
                           : add_listed_hosts(s->common.machine.hosts, &listed, err)))
        return -1;
    join_hosts(&listed, listed.n, &text);
    if (text.len) {
        hrun_strvec_push(words, text.data);
        s->mapping.hosts = words->v[words->n - 1];
    }
    return 0;
}

/* Read the options before a further program into s->programs.v[s->programs.n], whose `line` gets the words. Result: the
 * index of the program in `line`, or -1 with *err. *ended: 1 if "--" precedes the program, else 0. */
static int read_program_options(struct hrun_settings *s, char **words, int64_t *procs, int *ended,
                                struct hrun_error *err)
{
    struct work_program *next = &s->programs.v[s->programs.n];
    struct hrun_strvec *line = &next->line;
    struct hrun_settings own = { .notes = s->notes };
    struct hrun_opts_given given = { .rest = -1 };
    const char *folder;
    int rc = mpirun_words_replace(words, &own, line, err);

    s->notes = own.notes;
    rc = rc ||
         hrun_opts_parse(hrun_options, &own, (int)line->n, line->v, &given, err) ||
         check_program_options(&given, s, &own, err) ? -1 : 0;
    folder = own.common.job.wdir || !s->common.job.wdir ? own.common.job.wdir : s->gwdir ? s->gwdir : ".";
    rc = rc || add_env_words(folder, &own.common.job.env, 0, next, &s->notes, err) ||
         (own.common.machine.hosts && (add_listed_hosts(own.common.machine.hosts, &next->hosts, err) ||
                               join_host_list(s, own.common.machine.hosts, err)));
    if (!rc && !contains_all(&s->mapping_words, &own.mapping_words))
        rc = hrun_fail(err, HRUN_EINVAL, "--%s %s after a ':' places the processes of all programs: write it before "
                       "the first program", own.mapping_words.v[0], own.mapping_words.v[1]);
    *procs = own.ask.procs;
    s->hydra |= own.hydra;
    *ended = given.ended;
    settings_release(&own.common);
    hrun_strvec_release(&own.configs);
    hrun_strvec_release(&own.mapping_words);
    return rc ? -1 : given.rest;
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
                         "PROGRAM [ARGUMENT]...", s->programs.n ? "behind a" : "before the first");
    if (!procs)
        return hrun_fail(err, HRUN_EINVAL, "of several programs each needs its number of processes: say -n P in front "
                         "of %s", words[0]);
    s->programs.v[s->programs.n].words = words;
    s->programs.v[s->programs.n++].procs = (int)procs;
    return 0;
}

int programs_read(struct settings *settings, char **words, struct hrun_error *err)
{
    struct hrun_settings *s = (struct hrun_settings *)settings;   /* settings is its first member */
    char name[] = "hrun";          /* stands for argv[0] */
    char **colon = find_colon(words), *here;
    int64_t procs = s->ask.procs, total = procs;
    size_t most = 1;
    int ended = 0, rest;

    for (char **w = colon; w; w = find_colon(w + 1))
        most++;
    if (!colon)
        return 0;
    s->programs.v = xcalloc(most + 1, sizeof *s->programs.v);
    s->common.job.env_first[1] = s->common.job.env.n;
    if (add_env_words(NULL, &s->common.job.env, s->common.job.env_first[0], &s->programs.v[0], &s->notes, err) ||
        (s->common.machine.hosts && add_listed_hosts(s->common.machine.hosts, &s->programs.v[0].hosts, err)))
        return -1;
    while (colon) {
        struct hrun_strvec *line = &s->programs.v[s->programs.n + 1].line;

        if (s->programs.n)
            free(*colon);       /* it belongs to a `line` */
        *colon = NULL;
        if (add_program(s, words, procs, err))
            return -1;
        *colon = name;
        rest = read_program_options(s, colon, &procs, &ended, err);
        *colon = NULL;
        if (rest < 0)
            return -1;
        words = line->v + rest;
        if (words[0] && (here = context_program_here(s->programs.v[s->programs.n].wdir, words[0]))) {
            hrun_strvec_pushf(&s->notes, PROGRAM_HERE, words[0], here);
            free(words[0]);
            words[0] = here;
        }
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
    for (int i = 0; s->programs.v && i <= s->programs.n; i++) {      /* the last one may not have been added */
        hrun_strvec_release(&s->programs.v[i].env);
        hrun_strvec_release(&s->programs.v[i].hosts);
        hrun_strvec_release(&s->programs.v[i].line);
    }
    free(s->programs.v);
    hrun_strvec_release(&s->notes);
}
