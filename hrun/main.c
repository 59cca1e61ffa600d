/* main.c - hrun: start an MPI program in the configuration that its profile says is best */
#include "jobs.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

static int meta(const struct hrun_settings *s)
{
    return context_meta(&s->common, hrun_options, "hrun", hrun_usage, hrun_usage_after, "plan");
}

/* Where there is no place for data runs are not recorded, and that is told. */
static void find_data(struct hrun_settings *s)
{
    struct hrun_error err = { 0 };
    struct hrun_store *store = hrun_store_open(s->common.data, &err);

    if (!store && err.code == HRUN_ENOENT) {
        if (!s->common.quiet)
            context_complain("hrun: nothing is kept", &err);
        s->common.data = "/nonexistent";  /* Debian's name for a home folder that nobody has */
        s->ask.unrecorded = 1;
    }
    hrun_store_close(store);
}

/* argv[0] is "plan"; options may stand behind it, too. */
static int plan(struct hrun_settings *s, int argc, char **argv)
{
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    int rest, rc, status;

    while (!(rc = hrun_opts_parse(hrun_options, s, argc, argv, &rest, &err)) && rest < argc) {
        rc = hrun_strvec_push(&names, argv[rest]) ? hrun_fail_nomem(&err) : 0;
        argc -= rest;
        argv += rest;
    }
    if (rc) {
        status = context_complain("hrun", &err);
    } else if (meta(s)) {
        status = 0;
    } else {
        find_data(s);
        status = run_plan(s, names.v, names.n);
    }
    hrun_strvec_release(&names);
    return status;
}

static int act(struct hrun_settings *s, int argc, char **argv)
{
    if (s->list_apps)
        return run_list_apps(s);
    if (s->who)
        return run_who(s);
    if (*argv && !strcmp(*argv, "plan") && !s->show_cluster)
        return plan(s, argc, argv);
    find_data(s);
    if (s->show_cluster)
        return run_show_cluster(s, argv);
    return s->predict ? run_predict(s, argv) : run_program(s, argv);
}

int main(int argc, char **argv)
{
    struct hrun_settings s = { 0 };
    struct hrun_error err = { 0 };
    int rest, status;

    context_start();
    if (hrun_opts_parse(hrun_options, &s, argc, argv, &rest, &err))
        status = context_complain("hrun", &err);
    else if (meta(&s))
        status = 0;
    else
        status = act(&s, argc - rest, argv + rest);
    common_settings_release(&s.common);
    hrun_strvec_release(&s.configs);
    if (fflush(stdout) || ferror(stdout)) {
        perror("hrun: standard output");
        return status ? status : STATUS_FAILED;
    }
    return status;
}
