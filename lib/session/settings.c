/* settings.c - notes to the user, exported variables; see settings.h */
#include "session/settings.h"

#include <stdlib.h>
#include <string.h>

void settings_say(const struct settings *set, const char *fmt, ...)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    va_list ap;

    if (!set->say || set->quiet)
        return;
    va_start(ap, fmt);
    hrun_buf_vaddf(&text, fmt, ap);
    va_end(ap);
    set->say(text.data);
}

/* The last NAME=VALUE wins, as in the processes; NAME alone counts only before the first NAME=VALUE. */
const char *settings_exported(const struct settings *set, const char *name)
{
    const struct hrun_strvec *env = &set->job.env;
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

void settings_export_threads(struct settings *set)
{
    static const char threads[] = "OMP_NUM_THREADS";

    if (getenv(threads) && !settings_exported(set, threads))
        hrun_strvec_push(&set->job.env, threads);
}

void settings_release(struct settings *set)
{
    hrun_strvec_release(&set->defines);
    hrun_strvec_release(&set->job.env);
    hrun_strvec_release(&set->job.mca);
    hrun_strvec_release(&set->job.smpi);
    hrun_strvec_release(&set->machine.host_lists);
    free(set->here);
}
