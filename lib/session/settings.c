/* settings.c - what was asked for; of a service, by name; see context.h */
#include "session/context.h"

#include "base/opts.h"
#include "session/decide.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, YES_NO, PAIRS, COLONS };   /* the last two: lists of them */

#define AT(member) offsetof(struct settings, member)
static const struct { const char *name; enum kind kind; size_t at; } known_settings[] = {
    { "app", TEXT, AT(app) }, { "variant", TEXT, AT(variant) }, { "profile-path", TEXT, AT(profile_path) },
    { "data", TEXT, AT(data) },
    { "define", PAIRS, AT(defines) }, { "cluster", TEXT, AT(cluster_file) }, { "hostfile", TEXT, AT(host_file) },
    { "host", TEXT, AT(hosts) }, { "platform", TEXT, AT(platform) }, { "level", TEXT, AT(level) },
    { "engine", TEXT, AT(engine) }, { "mpi", TEXT, AT(mpi) }, { "program", TEXT, AT(program) },
    { "mca", PAIRS, AT(mca) }, { "smpi", COLONS, AT(smpi) }, { "refresh", YES_NO, AT(refresh) },
    { "skip-unreachable", YES_NO, AT(skip_unreachable) }, { "hrun", TEXT, AT(hrun) },
};
enum { NSETTINGS = sizeof known_settings / sizeof *known_settings };

static int is_list(enum kind kind)
{
    return kind == PAIRS || kind == COLONS;
}

static int check_value(const char *name, enum kind kind, const char *value, struct hrun_error *err)
{
    if (kind == YES_NO && strcmp(value, "yes") && strcmp(value, "no"))
        return hrun_fail(err, HRUN_EINVAL, "%s: '%s' is neither yes nor no", name, value);
    if (kind == PAIRS && (!strchr(value, '=') || *value == '='))
        return hrun_fail(err, HRUN_EINVAL, "%s: '%s' is not NAME=VALUE", name, value);
    if (kind == COLONS && (!strchr(value, ':') || *value == ':'))
        return hrun_fail(err, HRUN_EINVAL, "%s: '%s' is not NAME:VALUE", name, value);
    return 0;
}

static int set_list(struct hrun_strvec *list, const char *value, struct hrun_error *err)
{
    if (value)
        return hrun_strvec_push(list, value) ? hrun_fail_nomem(err) : 0;
    hrun_strvec_release(list);
    return 0;
}

static int set_text(const char **text, const char *value, struct hrun_error *err)
{
    char *copy = value ? strdup(value) : NULL;

    if (value && !copy)
        return hrun_fail_nomem(err);
    free((void *)*text);
    *text = copy;
    return 0;
}

static int unknown_setting(const char *name, struct hrun_error *err)
{
    struct hrun_buf names = HRUN_BUF_INIT;

    for (int i = 0; i < NSETTINGS; i++)
        hrun_buf_addf(&names, "%s%s", i ? ", " : "", known_settings[i].name);
    hrun_fail(err, HRUN_EINVAL, "there is no setting '%s'; there are: %s", name ? name : "", names.data);
    hrun_buf_release(&names);
    return -1;
}

int settings_set(struct settings *set, const char *name, const char *value, struct hrun_error *err)
{
    void *at;
    int i = 0;

    while (i < NSETTINGS && (!name || strcmp(name, known_settings[i].name)))
        i++;
    if (i == NSETTINGS)
        return unknown_setting(name, err);
    if (value && check_value(name, known_settings[i].kind, value, err))
        return -1;
    at = (char *)set + known_settings[i].at;
    if (known_settings[i].kind == TEXT)
        return set_text(at, value, err);
    if (is_list(known_settings[i].kind))
        return set_list(at, value, err);
    *(int *)at = value && !strcmp(value, "yes");
    return 0;
}

/* The last one counts, as it does for the processes. */
void settings_say(const struct settings *set, const char *fmt, ...)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    va_list ap;

    if (!set->say || set->quiet)
        return;
    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    set->say(text.data);
    hrun_buf_release(&text);
}

const char *settings_exported(const struct settings *set, const char *name)
{
    const struct hrun_strvec *env = &set->env;
    const char *value = NULL;
    size_t len = strlen(name);

    for (size_t i = 0; i < env->n; i++) {
        if (!strncmp(env->v[i], name, len) && env->v[i][len] == '=')
            value = env->v[i] + len + 1;
        else if (!strcmp(env->v[i], name) && !value)
            value = getenv(name);
    }
    return value;
}

void settings_release(struct settings *set)
{
    hrun_strvec_release(&set->defines);
    hrun_strvec_release(&set->env);
    hrun_strvec_release(&set->mca);
    hrun_strvec_release(&set->smpi);
    hrun_strvec_release(&set->host_lists);
    free(set->here);
}

void settings_release_all(struct settings *set)
{
    for (int i = 0; i < NSETTINGS; i++)
        if (known_settings[i].kind == TEXT)
            set_text((void *)((char *)set + known_settings[i].at), NULL, NULL);
    settings_release(set);
}

#define WISH(member) offsetof(struct question, member)
static const struct hrun_opt known_wishes[] = {
    { .name = "objective", .arg = HRUN_OPT_CHOICE, .choices = "time cost energy", .apply = hrun_opt_string,
      .offset = WISH(objective) },
    { .name = "limit", .arg = HRUN_OPT_WORD, .apply = question_limit },
    { .name = "use", .arg = HRUN_OPT_WORD, .apply = hrun_opt_string, .offset = WISH(use) },
    { .name = "np", .arg = HRUN_OPT_COUNT, .offset = WISH(procs), .min = 1, .max = QUESTION_PROCS_MAX },
    { .name = "top", .arg = HRUN_OPT_COUNT, .offset = WISH(top), .min = 1, .max = QUESTION_TOP_MAX },
    { .name = "shares", .arg = HRUN_OPT_CHOICE, .choices = "best equal proportional", .apply = hrun_opt_string,
      .offset = WISH(shares) },
};
enum { NWISHES = sizeof known_wishes / sizeof *known_wishes };

/* One word, "NAME=VALUE", which is cut in two. */
static int read_wish(char *word, struct question *q, struct hrun_error *err)
{
    char *equals = strchr(word, '=');
    struct hrun_buf names = HRUN_BUF_INIT;
    int i = 0;

    if (equals)
        *equals = 0;
    while (i < NWISHES && strcmp(word, known_wishes[i].name))
        i++;
    if (equals && i < NWISHES)
        return hrun_opt_apply(&known_wishes[i], known_wishes[i].name, q, equals + 1, err);
    for (int k = 0; k < NWISHES; k++)
        hrun_buf_addf(&names, "%s%s", k ? ", " : "", known_wishes[k].name);
    hrun_fail(err, HRUN_EINVAL, "'%s' is no wish NAME=VALUE; names are: %s", word, names.data);
    hrun_buf_release(&names);
    return -1;
}

int wishes_read(char *words, struct question *q, struct hrun_error *err)
{
    static const char blanks[] = " \t\n";
    char *save = NULL;

    for (char *word = strtok_r(words, blanks, &save); word; word = strtok_r(NULL, blanks, &save))
        if (read_wish(word, q, err))
            return -1;
    return 0;
}
