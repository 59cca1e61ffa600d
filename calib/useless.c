/* useless.c - options that do nothing for a subcommand; see options.h */
#include "options.h"

#include "base/buf.h"

#include <string.h>

#define AS_ALWAYS "help", "version", "completion"
#define AS_SHOWN "json", "quiet", "verbose"
#define OF_HOSTS "data", "hostfile", "machinefile", "host", "cluster", "platform", "level", "refresh", \
    "skip-unreachable", "engine", "mca", "smpi"

/* What each takes. */
static const struct {
    const char *command;
    const char *const options[48];
} used[] = {
    { "show", { "app", "define", "profile-path", "data", "plot", "terms", AS_SHOWN, AS_ALWAYS } },
    { "show --network", { "network", OF_HOSTS, AS_SHOWN, AS_ALWAYS } },
    { "show --speeds", { "speeds", "data", AS_SHOWN, AS_ALWAYS } },
    { "network", { OF_HOSTS, "ledger", "export", "wdir", "wd", "timeout", "redo", "again", "dry-run", "repetitions",
                   "precision",
                   "keep", AS_SHOWN, AS_ALWAYS } },
    { "network --from", { "from", AS_SHOWN, AS_ALWAYS } },
    { "speeds", { OF_HOSTS, "ledger", "app", "variant", "define", "profile-path", "procs", "use", "repetitions",
                  "export",
                  "wdir", "wd", "timeout", AS_SHOWN, AS_ALWAYS } },
};

/* Was the option given? By what its member of the settings has become. */
static int is_set(const struct hrun_opt *o, const struct calib_settings *s)
{
    const char *member = (const char *)s + o->offset;

    if (o->apply == hrun_opt_flag)
        return *(const int *)(const void *)member;
    if (o->apply == hrun_opt_string)
        return *(const char *const *)(const void *)member != NULL;
    return ((const struct hrun_strvec *)(const void *)member)->n > 0;
}

static int is_used(const char *name, const char *const *options)
{
    while (*options && strcmp(*options, name))
        options++;
    return *options != NULL;
}

int calib_refuse_useless(const char *command, const struct calib_settings *s, struct hrun_error *err)
{
    size_t c = 0;

    while (strcmp(used[c].command, command))
        c++;
    for (const struct hrun_opt *o = calib_options; o->name || o->sym; o++)
        if (is_set(o, s) && !is_used(o->name, used[c].options))
            return hrun_fail(err, HRUN_EINVAL, "--%s does nothing for `%s`: leave it out (hrun-calibrate(1) says what "
                             "it is for)", o->name, command);
    return 0;
}
