/* presets.c - constants of a definition from the user's own input files; see context.h */
#include "session/context.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* Append to *to the entries "NAME=VALUE" of a list whose constants -D does not set. */
static void add_undefined(const struct settings *s, const struct hrun_strvec *list, struct hrun_strvec *to)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t len = strcspn(list->v[i], "=") + 1, k = 0;

        while (k < s->defines.n && strncmp(s->defines.v[k], list->v[i], len))
            k++;
        if (k == s->defines.n)
            hrun_strvec_push(to, list->v[i]);
    }
}

int presets_apply(struct context *c, const char *argv0, struct hrun_error *err)
{
    const struct settings *s = c->set;
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT, missed = HRUN_STRVEC_INIT;
    int rc;

    if (!c->app || !c->app->run.npresets || s->force)
        return 0;
    hrun_app_presets(c->app, settings_folder(s), &all, &missed);
    add_undefined(s, &all, &c->presets);
    add_undefined(s, &missed, &c->missed_presets);
    if (!c->presets.n)
        return 0;
    hrun_strvec_add_all(&all, s->defines.v);
    context_drop_app(c);
    hrun_strvec_release(&c->app_dirs);
    c->defines = &all;
    rc = context_find_app(c, argv0, err);
    c->defines = NULL;
    return rc;
}

/* 1 if hrun's input file for these values would have the user's NAME=VALUE, else 0 with hrun's value in *written. */
static int matches_preset(const struct context *c, const char *text, const struct hrun_app_values *values,
                          double *written)
{
    size_t len = strcspn(text, "=");

    for (int i = 0; i < c->app->run.npresets; i++)
        if (strlen(c->app->run.presets[i].name) == len && !strncmp(c->app->run.presets[i].name, text, len))
            return hrun_app_preset_holds(c->app, &c->app->run.presets[i], strtod(text + len + 1, NULL), values,
                                         written);
    return 1;
}

/* A size for the templates of input files. */
static int64_t any_size(const struct hrun_app *app)
{
    return app->sizes.n ? app->sizes.v[0] : 1;
}

void presets_say(const struct context *c, const struct hrun_app_values *values)
{
    enum { MOST = 16 };     /* a value equal for 1 to MOST processes counts as independent of their number */
    autorelease(hrun_buf_release) struct hrun_buf taken = HRUN_BUF_INIT, other = HRUN_BUF_INIT, missed = HRUN_BUF_INIT;
    const char *file = c->app && c->app->run.npresets ? c->app->run.presets[0].file : "";
    double written;

    for (size_t i = 0; i < c->presets.n; i++) {
        const char *text = c->presets.v[i];
        int all = !values || matches_preset(c, text, values, &written);

        for (int P = 1; P <= MOST && all && !values; P++)
            all = matches_preset(c, text, &(struct hrun_app_values){ any_size(c->app), P, NULL }, &written);
        hrun_buf_addf(all ? &taken : &other, "%s%s", (all ? &taken : &other)->len ? ", " : "", text);
        if (!all && values)
            hrun_buf_addf(&other, " (here %.12g)", written);
    }
    for (size_t i = 0; i < c->missed_presets.n; i++)
        hrun_buf_addf(&missed, "%s%s", missed.len ? ", " : "", c->missed_presets.v[i]);
    if (taken.len)
        settings_say(c->set, "taken over from your %s: %s (-D NAME=VALUE gives others)", file, taken.data);
    if (other.len && values)
        settings_say(c->set, "not taken over from your %s, as this run has %s: %s", file,
                     hrun_counted(values->P, "process").s, other.data);
    else if (other.len)
        settings_say(c->set, "taken over from your %s by runs with that number of processes: %s", file, other.data);
    if (missed.len)
        settings_say(c->set, "your %s has no single number for these, so the definition's count: %s "
                     "(-D NAME=VALUE gives others)", file, missed.data);
}

int presets_procs(const struct context *c)
{
    enum { MOST = 4096 };
    double written;
    int found = 0;

    for (int P = 1; P <= MOST && c->presets.n; P++) {
        const struct hrun_app_values values = { any_size(c->app), P, NULL };
        size_t i = 0;

        while (i < c->presets.n && matches_preset(c, c->presets.v[i], &values, &written))
            i++;
        if (i == c->presets.n && found)
            return 0;
        found = i == c->presets.n ? P : found;
    }
    return found;
}
