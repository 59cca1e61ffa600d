/* user_options.c - default options from the environment and the user's file; see options.h */
#include "options.h"

#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

/* The values in the file as text, indexed by the rows of the table. */
struct texts {
    char *v[HRUN_OPTS_MAX];
};

/* 1 if the option was given on the command line, else 0. */
static int is_given(const struct hrun_settings *s, const struct hrun_opt *opt)
{
    const void *member = (const char *)s + opt->offset;
    int flag;
    double number;

    if (opt->arg == HRUN_OPT_NONE) {
        memcpy(&flag, member, sizeof flag);
        return flag != 0;
    }
    memcpy(&number, member, sizeof number);
    return number != 0;
}

static int apply_user_option(const struct hrun_opt *opt, const char *value, struct hrun_settings *s,
                             struct hrun_error *err)
{
    struct hrun_settings checked = *s;
    int off = opt->arg == HRUN_OPT_NONE && (!strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "0"));

    if (opt->arg == HRUN_OPT_NONE && !off && strcmp(value, "yes") && strcmp(value, "true") && strcmp(value, "1"))
        return hrun_fail(err, HRUN_EINVAL, "%s is yes or no, not %s", opt->name, value);
    return off ? 0 : hrun_opt_apply(opt, opt->name, is_given(s, opt) ? &checked : s,
                                    opt->arg == HRUN_OPT_NONE ? NULL : value, err);
}

static int apply_all(const struct texts *texts, const struct hrun_yaml *marks, struct hrun_settings *s,
                     struct hrun_error *err)
{
    int explores = s->ask.explore != 0;

    for (int i = 0; hrun_options[i].name; i++) {
        struct hrun_error why = { 0 };

        if (texts->v[i] && apply_user_option(&hrun_options[i], texts->v[i], s, &why))
            return hrun_yaml_fail(marks, hrun_options[i].name, 0, err, why.code, "%s", why.text);
    }
    s->explore_if_it_fits = !explores && s->ask.explore > 0;
    return 0;
}

int options_of_user(struct hrun_settings *s, struct hrun_error *err)
{
    struct hrun_key keys[HRUN_OPTS_MAX + 1] = { { 0 } };
    const struct hrun_schema schema = { keys, sizeof(struct texts) };
    autofree char *path = hrun_user_path("XDG_CONFIG_HOME", ".config", "hrun/options.yaml", NULL);
    struct hrun_yaml *marks = NULL;
    const char *always = getenv("HRUN_OVERSUBSCRIBE");
    struct hrun_error why = { 0 };
    void *texts = NULL;
    const char *limit = getenv("MPIEXEC_TIMEOUT");     /* as for mpiexec and mpirun; 0 or less: no limit */
    int n = 0, rc = 0, given = s->ask.oversubscribe;

    if (limit && *limit && *limit != '-' && strcmp(limit, "0") && !(s->common.job.timeout_s > 0) &&
        hrun_parse_duration("MPIEXEC_TIMEOUT", limit, &s->common.job.timeout_s, err))
        return -1;
    for (int i = 0; hrun_options[i].name; i++)
        if (hrun_options[i].of_user)
            keys[n++] = (struct hrun_key) { .name = hrun_options[i].name, .type = HRUN_KEY_TEXT, .optional = 1,
                                            .at = offsetof(struct texts, v) + (size_t)i * sizeof(char *) };
    if (path && hrun_yaml_load(path, &schema, &texts, &marks, &why)) {
        rc = why.code == HRUN_ENOENT ? 0 : -1;
        if (rc && err)
            *err = why;
    } else if (path) {
        rc = apply_all(texts, marks, s, err);
    }
    for (int i = 0; hrun_options[i].name && !rc && always && *always && !given; i++)
        if (!strcmp(hrun_options[i].name, "oversubscribe")) {
            s->ask.oversubscribe = 0;       /* the environment overrides the file */
            rc = apply_user_option(&hrun_options[i], always, s, err) ? hrun_fail_prefix(err, "HRUN_OVERSUBSCRIBE") : 0;
        }
    hrun_yaml_free(&schema, texts, marks);
    return rc;
}
