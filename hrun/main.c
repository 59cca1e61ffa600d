/* main.c - hrun: start an MPI program in the configuration that its profile says is best */
#include "jobs.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

static int meta(const struct hrun_settings *s)
{
    return context_meta(&s->common, hrun_options, "hrun", hrun_usage, hrun_usage_after, "plan");
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
    status = rc ? context_complain("hrun", &err) : meta(s) ? 0 : run_plan(s, names.v, names.n);
    hrun_strvec_release(&names);
    return status;
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
    else if (s.show_cluster)
        status = run_show_cluster(&s, argv + rest);
    else if (s.list_apps)
        status = run_list_apps(&s);
    else if (s.who)
        status = run_who(&s);
    else if (argv[rest] && !strcmp(argv[rest], "plan"))
        status = plan(&s, argc - rest, argv + rest);
    else
        status = s.predict ? run_predict(&s, argv + rest) : run_program(&s, argv + rest);
    common_settings_release(&s.common);
    hrun_strvec_release(&s.configs);
    if (fflush(stdout) || ferror(stdout)) {
        perror("hrun: standard output");
        return status ? status : STATUS_FAILED;
    }
    return status;
}
